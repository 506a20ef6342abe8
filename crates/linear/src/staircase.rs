//! The staircase form that separates what inputs reach from what they do not (Van Dooren 1981), and what follows from it:
//! controllability, observability, minimal realisations. Ranks are decided entry by entry (`graded`), so that slow parts of a system
//! do not drown in the rounding errors of fast ones.

use faer::Mat;

use crate::balance::{balance, scale_signals};
use crate::eigen::real_eigen;
use crate::graded::{Graded, row_sizes};
use crate::modes::ranked;
use crate::{Complex, Error, Matrix, Participation, State, StateSpace};

/// Entries below this part of the norm of a (balanced) matrix count as zero in decisions about ranks.
pub const RANK_TOLERANCE: f64 = 1e-12;

/// The largest order for which each hidden mode gets a singular value decomposition of its own.
const LARGEST_PBH: usize = 100;

/// What the inputs can move, or what the outputs show.
#[derive(Clone, PartialEq, Debug)]
pub struct Reach {
    /// How many states of the staircase form are controllable (observable).
    pub rank: usize,
    /// The ranks of the steps: states that the inputs reach directly, through one integrator more, and so on.
    pub steps: Vec<usize>,
    /// The modes that stay out of reach.
    pub hidden: Vec<HiddenMode>,
}

/// A mode that inputs do not move, or that outputs do not show.
#[derive(Clone, PartialEq, Debug)]
pub struct HiddenMode {
    /// Its pole.
    pub pole: Complex,
    /// The distance of the pencil [A - λI, B] (or [A - λI; C]), balanced, from losing rank there, relative to its norm: about
    /// zero, by the test of Popov, Belevitch and Hautus.
    pub distance: f64,
    /// The states that the mode consists of.
    pub participations: Vec<Participation>,
}

impl Reach {
    /// No mode is hidden.
    pub fn is_complete(&self) -> bool {
        self.hidden.is_empty()
    }
}

pub(crate) struct Staircase {
    pub a: Mat<f64>,
    pub b: Mat<f64>,
    pub c: Mat<f64>,
    /// z = T x.
    pub t: Mat<f64>,
    pub steps: Vec<usize>,
}

impl Staircase {
    pub fn rank(&self) -> usize {
        self.steps.iter().sum()
    }
}

/// Of a balanced system.
pub(crate) fn staircase(a: Mat<f64>, b: Mat<f64>, c: Mat<f64>, tolerance: f64) -> Staircase {
    let n = a.nrows();
    let tolerance = tolerance.max(10.0 * n as f64 * f64::EPSILON);
    let sizes = row_sizes(&[&a, &b]);
    let outputs = row_sizes(&[&c]);
    let mut system = Transformed {
        a: Graded::new(a, &sizes, tolerance),
        b: Graded::new(b, &sizes, tolerance),
        c: Graded::new(c, &outputs, tolerance),
        t: Graded::new(Mat::identity(n, n), &[], tolerance),
    };
    let mut steps = Vec::new();
    // The columns whose rows below `done` are the next step: those of B, then those of the states of the last step.
    let mut columns: Option<std::ops::Range<usize>> = None;
    let mut done = 0;
    while done < n {
        let rank = system.compress(columns.clone(), done, tolerance);
        if rank == 0 {
            break;
        }
        steps.push(rank);
        columns = Some(done..done + rank);
        done += rank;
    }
    let Transformed { a, b, c, t } = system;
    Staircase { a: a.value, b: b.value, c: c.value, t: t.value, steps }
}

/// A system in states z = T x.
struct Transformed {
    a: Graded,
    b: Graded,
    c: Graded,
    t: Graded,
}

impl Transformed {
    /// Brings the rows from `first` on of some columns, of B or of A, to as many rows that are not zero as the rank of that part.
    fn compress(&mut self, of_a: Option<std::ops::Range<usize>>, first: usize, tolerance: f64) -> usize {
        let n = self.a.rows();
        let columns = of_a.clone().unwrap_or(0..self.b.columns());
        let mut free: Vec<usize> = columns.collect();
        let mut top = first;
        while top < n {
            let block = if of_a.is_some() { &self.a } else { &self.b };
            let found = free.iter().filter_map(|&column| block.pivot(top..n, column..column + 1, tolerance));
            let found =
                found.max_by(|&(i, j), &(k, l)| block.size(i, j, tolerance).total_cmp(&block.size(k, l, tolerance)));
            let Some((row, column)) = found else { break };
            self.swap(top, row);
            free.retain(|&it| it != column);
            for row in top + 1..n {
                let block = if of_a.is_some() { &self.a } else { &self.b };
                if block.value[(row, column)] == 0.0 {
                    continue;
                }
                let is_zero = block.size(row, column, tolerance) == 0.0;
                if !is_zero {
                    let factor = block.value[(row, column)] / block.value[(top, column)];
                    self.subtract(row, factor, top);
                }
                let block = if of_a.is_some() { &mut self.a } else { &mut self.b };
                block.clear(row, column);
            }
            top += 1;
        }
        // What is left is zero.
        let block = if of_a.is_some() { &mut self.a } else { &mut self.b };
        for column in of_a.unwrap_or(0..block.columns()) {
            for row in top..n {
                block.clear(row, column);
            }
        }
        top - first
    }

    fn swap(&mut self, one: usize, other: usize) {
        if one == other {
            return;
        }
        self.a.swap_rows(one, other);
        self.a.swap_columns(one, other);
        self.b.swap_rows(one, other);
        self.c.swap_columns(one, other);
        self.t.swap_rows(one, other);
    }

    /// z_to becomes z_to - factor·z_from.
    fn subtract(&mut self, to: usize, factor: f64, from: usize) {
        self.a.add_row(to, -factor, from);
        self.b.add_row(to, -factor, from);
        self.t.add_row(to, -factor, from);
        self.a.add_column(from, factor, to);
        self.c.add_column(from, factor, to);
    }
}

/// What the inputs can move.
pub fn controllability(system: &StateSpace, tolerance: f64) -> Result<Reach, Error> {
    system.check()?;
    reach(system.a.dense(), system.b.dense(), tolerance)
}

/// What the outputs show.
pub fn observability(system: &StateSpace, tolerance: f64) -> Result<Reach, Error> {
    system.check()?;
    let (a, c) = (system.a.dense(), system.c.dense());
    reach(a.transpose().to_owned(), c.transpose().to_owned(), tolerance)
}

fn reach(mut a: Mat<f64>, mut b: Mat<f64>, tolerance: f64) -> Result<Reach, Error> {
    let (n, inputs) = (a.nrows(), b.ncols());
    balance(&mut a, Some(&mut b), None);
    scale_signals(a.norm_l2(), &mut b, &mut Mat::zeros(0, n), &mut Mat::zeros(0, inputs));
    let stairs = staircase(a.clone(), b.clone(), Mat::zeros(0, n), tolerance);
    let rank = stairs.rank();
    let mut hidden = Vec::new();
    if rank < n {
        // Left eigenvectors of the lower block, in the coordinates of the balanced states.
        let rest = stairs.a.as_ref().submatrix(rank, rank, n - rank, n - rank);
        let eigen = real_eigen(rest, true)?;
        for (j, &pole) in eigen.values.iter().enumerate() {
            if pole.im < 0.0 {
                continue;
            }
            let weight =
                |i: usize| (0..n - rank).map(|k| eigen.left[(k, j)] * stairs.t[(rank + k, i)]).sum::<Complex>();
            let weights: Vec<f64> = (0..n).map(|i| weight(i).norm_sqr()).collect();
            let distance = if n <= LARGEST_PBH {
                pbh_distance(&a, &b, pole)?
            } else {
                let left: Vec<Complex> = (0..n).map(weight).collect();
                pbh_bound(&a, &b, pole, &left)
            };
            hidden.push(HiddenMode { pole, distance, participations: ranked(&weights) });
        }
        hidden.sort_by(|x, y| x.pole.re.total_cmp(&y.pole.re).then(x.pole.im.total_cmp(&y.pole.im)));
    }
    Ok(Reach { rank, steps: stairs.steps, hidden })
}

/// How far the rows of [A - λI, B], combined by a left vector, are from zero: never less than the smallest singular value.
fn pbh_bound(a: &Mat<f64>, b: &Mat<f64>, pole: Complex, left: &[Complex]) -> f64 {
    let length = |values: &[Complex]| values.iter().map(|value| value.norm_sqr()).sum::<f64>().sqrt();
    let product = |column: &[f64]| column.iter().zip(left).map(|(x, w)| w.conj() * x).sum::<Complex>();
    let from_states = (0..a.ncols()).map(|j| product(a.col_as_slice(j)) - pole * left[j].conj());
    let rest: Vec<Complex> = from_states.chain((0..b.ncols()).map(|j| product(b.col_as_slice(j)))).collect();
    let size = length(left) * a.norm_l2().hypot(b.norm_l2()).max(pole.norm());
    if size > 0.0 { length(&rest) / size } else { 0.0 }
}

fn pbh_distance(a: &Mat<f64>, b: &Mat<f64>, pole: Complex) -> Result<f64, Error> {
    let (n, m) = (a.nrows(), b.ncols());
    let pencil = Mat::from_fn(n, n + m, |i, j| match j {
        _ if j >= n => Complex::new(b[(i, j - n)], 0.0),
        _ if i == j => a[(i, j)] - pole,
        _ => Complex::new(a[(i, j)], 0.0),
    });
    let values = pencil.singular_values().map_err(|_| Error::NoConvergence)?;
    let (largest, smallest) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
    Ok(if largest > 0.0 { smallest / largest } else { 0.0 })
}

/// The smallest singular value of [A - λI, B] over the largest, after balancing: zero where the inputs cannot move the
/// mode of λ. For outputs ask the [`dual`] system.
pub fn pbh(system: &StateSpace, pole: Complex) -> Result<f64, Error> {
    system.check()?;
    let (mut a, mut b) = (system.a.dense(), system.b.dense());
    balance(&mut a, Some(&mut b), None);
    pbh_distance(&a, &b, pole)
}

/// The system with inputs and outputs exchanged.
pub fn dual(system: &StateSpace) -> StateSpace {
    let transposed = |matrix: &Matrix| Matrix::from_fn(matrix.columns(), matrix.rows(), |i, j| matrix[(j, i)]);
    StateSpace {
        a: transposed(&system.a),
        b: transposed(&system.c),
        c: transposed(&system.b),
        d: transposed(&system.d),
        states: system.states.clone(),
        inputs: system.outputs.clone(),
        outputs: system.inputs.clone(),
        parameters: Vec::new(),
    }
}

/// The controllable and observable part. Its states are combinations of the given ones, unless nothing was to remove.
pub fn minimal(system: &StateSpace, tolerance: f64) -> Result<StateSpace, Error> {
    system.check()?;
    let (mut a, mut b, mut c) = (system.a.dense(), system.b.dense(), system.c.dense());
    let mut d = system.d.dense();
    balance(&mut a, Some(&mut b), Some(&mut c));
    let size = a.norm_l2();
    let (inputs, outputs) = scale_signals(size, &mut b, &mut c, &mut d);
    let (a, b, c) = reduce(a, b, c, tolerance);
    let n = a.nrows();
    if n == system.order() {
        return Ok(system.clone());
    }
    let states = (1..=n).map(|i| State::new(format!("z{i}"), "", "")).collect();
    let b = Matrix::from_fn(n, b.ncols(), |i, j| b[(i, j)] / inputs[j]);
    let c = Matrix::from_fn(c.nrows(), n, |i, j| c[(i, j)] / outputs[i]);
    let matrices = [Matrix::from_dense(a.as_ref()), b, c, system.d.clone()];
    StateSpace::new(matrices, states, system.inputs.clone(), system.outputs.clone())
}

/// Removes the uncontrollable, then the unobservable part.
fn reduce(a: Mat<f64>, b: Mat<f64>, c: Mat<f64>, tolerance: f64) -> (Mat<f64>, Mat<f64>, Mat<f64>) {
    let (a, b, c) = controllable_part(a, b, c, tolerance);
    let transposed = |matrix: &Mat<f64>| matrix.transpose().to_owned();
    let (a, c, b) = controllable_part(transposed(&a), transposed(&c), transposed(&b), tolerance);
    (transposed(&a), transposed(&b), transposed(&c))
}

fn controllable_part(a: Mat<f64>, b: Mat<f64>, c: Mat<f64>, tolerance: f64) -> (Mat<f64>, Mat<f64>, Mat<f64>) {
    let stairs = staircase(a.clone(), b.clone(), c.clone(), tolerance);
    let rank = stairs.rank();
    if rank == a.nrows() {
        // The form of the staircase is not needed, and the given one has fewer rounding errors.
        return (a, b, c);
    }
    let part =
        |matrix: &Mat<f64>, rows: usize, columns: usize| matrix.as_ref().submatrix(0, 0, rows, columns).to_owned();
    (part(&stairs.a, rank, rank), part(&stairs.b, rank, b.ncols()), part(&stairs.c, c.nrows(), rank))
}
