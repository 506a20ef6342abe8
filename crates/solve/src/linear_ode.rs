//! Steps of linear differential equations ṡ = A(t) s + b(t) with several right-hand sides at once, by the three-stage Radau IIA
//! method of order 5 with its embedded estimate (Hairer and Wanner, *Solving Ordinary Differential Equations II*, IV.8).
//!
//! Sensitivities are such equations along a trajectory that is known. A(t) s + b(t) costs one evaluation in one direction
//! whatever the size of A is, so that is what the equations of a step are made of. A itself is only needed to solve them by
//! iteration: one matrix, evaluated rarely and factorised when the step changes, serves all right-hand sides. It is split as in
//! RADAU5 into a real system and a complex one of the size of A, which is written in real numbers.

use crate::error::Singular;
use crate::linear::LinearSolver;
use crate::sparse::Pattern;

const STAGES: usize = 3;

/// The real eigenvalue of the inverse of the weights, and its complex pair.
const REAL: f64 = 3.637_834_252_744_495_7;
const PAIR: (f64, f64) = (2.681_082_873_627_752, 3.050_430_199_247_411);
/// Its eigenvectors by columns (real, and real and imaginary part of the pair), and their inverse.
const BASIS: [[f64; STAGES]; STAGES] = [
    [9.123_239_487_089_294e-2, -0.141_255_295_020_954_2, -3.002_919_410_514_742_4e-2],
    [0.241_717_932_707_107_02, 0.204_129_352_293_799_93, 0.382_942_112_757_261_94],
    [0.966_048_182_615_092_9, 1.0, 0.0],
];
const INVERSE: [[f64; STAGES]; STAGES] = [
    [4.325_579_890_063_155, 0.339_199_251_815_809_87, 0.541_770_539_935_874_9],
    [-4.178_718_591_551_905, -0.327_682_820_761_062_4, 0.476_623_554_500_550_45],
    [-0.502_872_634_945_786_9, 2.571_926_949_855_605_4, -0.596_039_204_828_224_9],
];

/// Iterations of a step; one that needs more has a matrix that does not suit it.
const MOST_ITERATIONS: u32 = 8;
/// What may be left of the iteration, relative to the error that is allowed.
const LEFT: f64 = 0.01;
/// What counts as rounding, relative to the solution.
const ROUNDING: f64 = 1e-13;
/// Factors of steps that differ by less serve as they are, where factorising costs many solves.
const NEARLY_EQUAL: f64 = 0.4;
const MANY_SOLVES: f64 = 10.0;
/// The same step but for rounding.
const EQUAL: f64 = 1e-9;
/// Iterations that a step takes anyway.
const FEW_ITERATIONS: u32 = 2;
/// No step before promises a faster one, unless the matrix is constant.
const FASTEST: f64 = 1e-3;

/// The instants at which a step evaluates the equation, in parts of its length; the last is its end.
pub fn nodes() -> [f64; STAGES] {
    let root = 6f64.sqrt();
    [(4.0 - root) / 10.0, (4.0 + root) / 10.0, 1.0]
}

/// How what is evaluated at the nodes counts in an integral over the step, in parts of its length.
pub fn quadrature() -> [f64; STAGES] {
    let root = 6f64.sqrt();
    [(16.0 - root) / 36.0, (16.0 + root) / 36.0, 1.0 / 9.0]
}

/// The slopes at the nodes of the polynomial through values at the beginning and the nodes, as weights of these.
pub fn slopes_at_nodes() -> [[f64; STAGES + 1]; STAGES] {
    let [one, two, three] = nodes();
    let places = [0.0, one, two, three];
    std::array::from_fn(|node| {
        let i = node + 1;
        std::array::from_fn(|j| {
            let others = |left_out: usize| (0..=STAGES).filter(move |&k| k != j && k != left_out);
            match i == j {
                true => others(j).map(|k| 1.0 / (places[j] - places[k])).sum(),
                false => others(i).fold(1.0 / (places[j] - places[i]), |weight, k| {
                    weight * (places[i] - places[k]) / (places[j] - places[k])
                }),
            }
        })
    })
}

/// The solutions over a step, as polynomials.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Piece {
    /// Where the step begins.
    pub begin: f64,
    /// Where it ends.
    pub end: f64,
    /// The solutions at its beginning.
    s: Vec<Vec<f64>>,
    /// What the stages differ from that by, one after another.
    z: Vec<Vec<f64>>,
}

impl Piece {
    /// The solutions at a time.
    pub fn at(&self, time: f64, out: &mut [Vec<f64>]) {
        let weights = stage_weights((time - self.begin) / (self.end - self.begin));
        for ((s, z), out) in self.s.iter().zip(&self.z).zip(out) {
            let size = s.len();
            for (k, (out, s)) in out.iter_mut().zip(s).enumerate() {
                *out = s + weights[0] * z[k] + weights[1] * z[size + k] + weights[2] * z[2 * size + k];
            }
        }
    }

    /// The solutions at its end.
    pub fn end_into(&self, out: &mut [Vec<f64>]) {
        for ((s, z), out) in self.s.iter().zip(&self.z).zip(out) {
            let last = &z[(STAGES - 1) * s.len()..];
            out.iter_mut().zip(s).zip(last).for_each(|((out, s), z)| *out = s + z);
        }
    }
}

/// How the stages count in the polynomial through zero and them.
fn stage_weights(part: f64) -> [f64; STAGES] {
    let nodes = nodes();
    std::array::from_fn(|i| {
        let others = (0..STAGES).filter(|&j| j != i);
        others.fold(part / nodes[i], |weight, j| weight * (part - nodes[j]) / (nodes[i] - nodes[j]))
    })
}

/// What the errors of a step may be: the tolerance, and by right-hand side and component what is asked for beside the size of
/// the solution itself.
#[derive(Clone, Copy)]
pub struct Allowed<'a> {
    /// Relative to the sizes.
    pub tolerance: f64,
    /// The sizes.
    pub sizes: &'a [Vec<f64>],
}

/// How a step ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Outcome {
    /// The estimated error relative to what is allowed; above 1 the step does not count.
    Done(f64),
    /// The iteration did not converge, or the matrix is singular.
    NoConvergence,
}

/// A(t) s + b(t): the stage, the right-hand side, s, and where the result goes.
pub type Slope<'a, E> = &'a mut dyn FnMut(usize, usize, &[f64], &mut [f64]) -> Result<(), E>;

/// Takes the steps.
#[derive(Clone, Debug)]
pub struct LinearOde {
    size: usize,
    /// Where A has entries.
    pattern: Pattern,
    a: Vec<f64>,
    /// A and the diagonal, and A and the diagonal for both parts of complex numbers, which alternate.
    single: Matrix,
    double: Matrix,
    /// The step of the factors.
    factored: Option<f64>,
    is_constant: bool,
    /// What evaluating the matrix costs, in evaluations of a slope, and what iterations have cost since because it is not exact.
    price: usize,
    paid: usize,
    /// How fast the last iteration was, as θ/(1 − θ).
    speed: f64,
    wants_matrix: bool,
    /// The solutions of the step before, where this one goes on with them.
    pub piece: Piece,
    /// The slopes at the end of the step before by right-hand side.
    pub slopes: Vec<Vec<f64>>,
    next: Piece,
    w: Vec<f64>,
    f: Vec<f64>,
    right: Vec<f64>,
    stage: Vec<f64>,
}

/// A sparse matrix with its solver.
#[derive(Clone, Debug)]
struct Matrix {
    values: Vec<f64>,
    /// Where entries of A go, as often as they are there.
    places: Vec<Vec<u32>>,
    diagonal: Vec<u32>,
    /// Where the imaginary part goes, with its sign.
    imaginary: Vec<(u32, f64)>,
    solver: LinearSolver,
}

impl Matrix {
    fn single(pattern: &Pattern) -> Result<Self, Singular> {
        let whole = pattern.with_diagonal();
        let place = |row: usize, column: usize| whole.position(row, column).unwrap_or(0) as u32;
        Ok(Self {
            values: vec![0.0; whole.entries()],
            places: vec![pattern.positions_in(&whole)],
            diagonal: (0..pattern.columns).map(|k| place(k, k)).collect(),
            imaginary: Vec::new(),
            solver: LinearSolver::new(pattern.columns, Some(&whole))?,
        })
    }

    fn double(pattern: &Pattern) -> Result<Self, Singular> {
        let size = pattern.columns;
        let own = (0..size).flat_map(|column| pattern.column(column).iter().map(move |&row| (row as usize, column)));
        let own: Vec<(usize, usize)> = own.collect();
        let diagonal =
            (0..size).flat_map(|k| [(2 * k, 2 * k), (2 * k + 1, 2 * k + 1), (2 * k, 2 * k + 1), (2 * k + 1, 2 * k)]);
        let parts = own.iter().flat_map(|&(i, j)| [(2 * i, 2 * j), (2 * i + 1, 2 * j + 1)]);
        let whole = Pattern::from_entries(2 * size, 2 * size, parts.chain(diagonal));
        let place = |row: usize, column: usize| whole.position(row, column).unwrap_or(0) as u32;
        let part = |part: usize| own.iter().map(|&(i, j)| place(2 * i + part, 2 * j + part)).collect();
        Ok(Self {
            values: vec![0.0; whole.entries()],
            places: vec![part(0), part(1)],
            diagonal: (0..2 * size).map(|k| place(k, k)).collect(),
            imaginary: (0..size)
                .flat_map(|k| [(place(2 * k + 1, 2 * k), 1.0), (place(2 * k, 2 * k + 1), -1.0)])
                .collect(),
            solver: LinearSolver::new(2 * size, Some(&whole))?,
        })
    }

    /// Factorises c − A with a complex c.
    fn factor(&mut self, a: &[f64], c: (f64, f64)) -> Result<(), Singular> {
        self.values.fill(0.0);
        for places in &self.places {
            places.iter().zip(a).for_each(|(&place, a)| self.values[place as usize] = -a);
        }
        self.diagonal.iter().for_each(|&place| self.values[place as usize] += c.0);
        self.imaginary.iter().for_each(|&(place, sign)| self.values[place as usize] += sign * c.1);
        self.solver.factor(&self.values)
    }
}

impl LinearOde {
    /// For so many right-hand sides, with a matrix A of this pattern, which costs `price` evaluations of a slope; `is_constant` promises
    /// that it does not change.
    pub fn new(pattern: &Pattern, columns: usize, price: usize, is_constant: bool) -> Result<Self, Singular> {
        let size = pattern.columns;
        Ok(Self {
            size,
            a: vec![0.0; pattern.entries()],
            single: Matrix::single(pattern)?,
            double: Matrix::double(pattern)?,
            pattern: pattern.clone(),
            factored: None,
            is_constant,
            price,
            paid: 0,
            speed: 1.0,
            wants_matrix: true,
            piece: Piece::default(),
            slopes: vec![vec![0.0; size]; columns],
            next: Piece {
                begin: 0.0,
                end: 0.0,
                s: vec![vec![0.0; size]; columns],
                z: vec![vec![0.0; STAGES * size]; columns],
            },
            w: vec![0.0; STAGES * size],
            f: vec![0.0; STAGES * size],
            right: vec![0.0; 2 * size],
            stage: vec![0.0; size],
        })
    }

    /// Where the matrix has entries.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Whether the matrix does not suit the steps any more, or is not known.
    pub fn wants_matrix(&self) -> bool {
        self.wants_matrix
    }

    /// Takes the entries of A at some time near the next step.
    pub fn set_matrix(&mut self, a: &[f64]) {
        self.a.copy_from_slice(a);
        (self.factored, self.wants_matrix, self.speed) = (None, false, 1.0);
    }

    /// The next step does not go on where the last one ended.
    pub fn forget(&mut self) {
        self.piece.z.clear();
        (self.wants_matrix, self.speed) = (true, 1.0);
    }

    /// Entries of A times the sizes of a vector, row by row: what that vector contributes to slopes at most.
    pub fn add_reach(&self, sizes: &[f64], reach: &mut [f64]) {
        for (column, size) in sizes.iter().enumerate() {
            for place in self.pattern.starts[column]..self.pattern.starts[column + 1] {
                reach[self.pattern.indices[place] as usize] += self.a[place].abs() * size;
            }
        }
    }

    /// How fast each component changes by itself.
    pub fn own_rates(&self) -> Vec<f64> {
        let own = |k: usize| self.pattern.position(k, k).map_or(0.0, |place| self.a[place].abs());
        (0..self.size).map(own).collect()
    }

    /// Tries a step from the solutions `s` at `begin`, where they have the `slopes`. It counts once it is accepted.
    pub fn step<E>(
        &mut self,
        begin: f64,
        end: f64,
        s: &[Vec<f64>],
        allowed: Allowed<'_>,
        slope: Slope<'_, E>,
    ) -> Result<Outcome, E> {
        let h = end - begin;
        (self.next.begin, self.next.end) = (begin, end);
        if self.size == 0 {
            return Ok(Outcome::Done(0.0));
        }
        if !self.factor(h) {
            return Ok(Outcome::NoConvergence);
        }
        let mut worst = 0.0f64;
        for (column, s) in s.iter().enumerate() {
            self.guess(column, s);
            if !self.solve(h, column, s, allowed, slope)? {
                self.renew(h);
                return Ok(Outcome::NoConvergence);
            }
            let error = self.estimate(h, column, s, allowed);
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
            self.next.s[column].copy_from_slice(s);
        }
        Ok(Outcome::Done(worst))
    }

    /// The step that was tried last counts.
    pub fn accept(&mut self) {
        let h = self.next.end - self.next.begin;
        for column in 0..self.slopes.len() {
            self.note_slope(h, column);
        }
        std::mem::swap(&mut self.piece, &mut self.next);
        let (columns, size) = (self.slopes.len(), self.size);
        self.next.s.resize(columns, vec![0.0; size]);
        self.next.z.resize(columns, vec![0.0; STAGES * size]);
    }

    /// Factorises for a step of the length `h`, unless factors are there that do.
    fn factor(&mut self, h: f64) -> bool {
        let is_dear = self.double.solver.solves_per_factorisation() > MANY_SOLVES;
        let difference = if is_dear { NEARLY_EQUAL } else { EQUAL };
        if self.factored.is_some_and(|known| (known - h).abs() <= difference * h) {
            return true;
        }
        self.factored = None;
        let factored = self.single.factor(&self.a, (REAL / h, 0.0)).is_ok()
            && self.double.factor(&self.a, (PAIR.0 / h, PAIR.1 / h)).is_ok();
        self.factored = factored.then_some(h);
        factored
    }

    /// Whether the factors are those of a step of the length `h`.
    fn is_factored_for(&self, h: f64) -> bool {
        self.factored.is_some_and(|known| (known - h).abs() <= EQUAL * h)
    }

    /// The factors did not suit a step of the length `h`: either they were made for another one, or the matrix is too old.
    fn renew(&mut self, h: f64) {
        self.paid = 0;
        match self.is_factored_for(h) {
            true => self.wants_matrix = true,
            false => self.factored = None,
        }
    }

    /// The stages that the polynomial of the step before leads to.
    fn guess(&mut self, column: usize, s: &[f64]) {
        let Piece { begin, end, z, .. } = &mut self.next;
        let z = &mut z[column];
        let (old, size) = (&self.piece, self.size);
        let Some(known) = old.z.get(column).filter(|_| old.end == *begin) else {
            z.fill(0.0);
            return;
        };
        for (i, node) in nodes().into_iter().enumerate() {
            let time = *begin + node * (*end - *begin);
            let weights = stage_weights((time - old.begin) / (old.end - old.begin));
            for k in 0..size {
                let moved = (0..STAGES).map(|j| weights[j] * known[j * size + k]).sum::<f64>();
                z[i * size + k] = old.s[column][k] + moved - s[k];
            }
        }
    }

    /// Solves the equations of the stages of one right-hand side; `false` if that does not converge.
    fn solve<E>(
        &mut self,
        h: f64,
        column: usize,
        s: &[f64],
        allowed: Allowed<'_>,
        slope: Slope<'_, E>,
    ) -> Result<bool, E> {
        let size = self.size;
        // Of factors for another step the iteration is not exact, whatever A is.
        let is_exact = self.is_constant && self.is_factored_for(h);
        let mut speed = if is_exact { 0.0 } else { self.speed.max(FASTEST).powf(0.8) };
        let mut before = None;
        for iteration in 1..=MOST_ITERATIONS {
            let z = &self.next.z[column];
            for i in 0..STAGES {
                let stages = self.stage.iter_mut().zip(s).zip(&z[i * size..]);
                stages.for_each(|((stage, s), z)| *stage = s + z);
                slope(i, column, &self.stage, &mut self.f[i * size..(i + 1) * size])?;
            }
            self.correct(h, column);
            let z = &mut self.next.z[column];
            let mut change = 0.0f64;
            for k in 0..size {
                let w = [self.w[k], self.w[size + k], self.w[2 * size + k]];
                let weight = (LEFT * allowed.tolerance).max(ROUNDING) * (s[k].abs() + allowed.sizes[column][k]);
                for (i, row) in BASIS.iter().enumerate() {
                    let step = row[0] * w[0] + row[1] * w[1] + row[2] * w[2];
                    z[i * size + k] += step;
                    let relative = step.abs() / weight;
                    change = if relative.is_nan() { f64::INFINITY } else { change.max(relative) };
                }
            }
            if let Some(before) = before {
                let rate: f64 = change / before;
                // What is left is rounding, or nothing leads on.
                if rate >= 1.0 && change > 1.0 {
                    return Ok(false);
                }
                speed = rate / (1.0 - rate.min(0.999));
            }
            if !change.is_finite() {
                return Ok(false);
            }
            if speed * change <= 1.0 {
                self.speed = speed;
                self.paid += STAGES * iteration.saturating_sub(FEW_ITERATIONS) as usize;
                if self.paid > self.price {
                    self.renew(h);
                }
                return Ok(true);
            }
            before = Some(change);
        }
        Ok(false)
    }

    /// The correction of the stages from their slopes in `f`, in terms of the basis: left in `w`.
    fn correct(&mut self, h: f64, column: usize) {
        let size = self.size;
        let z = &self.next.z[column];
        let terms =
            |of: &[f64], k: usize, row: usize| -> f64 { (0..STAGES).map(|i| INVERSE[row][i] * of[i * size + k]).sum() };
        for k in 0..size {
            let w: [f64; STAGES] = std::array::from_fn(|row| terms(z, k, row));
            let f: [f64; STAGES] = std::array::from_fn(|row| terms(&self.f, k, row));
            self.w[k] = f[0] - REAL / h * w[0];
            self.right[2 * k] = f[1] - (PAIR.0 * w[1] - PAIR.1 * w[2]) / h;
            self.right[2 * k + 1] = f[2] - (PAIR.0 * w[2] + PAIR.1 * w[1]) / h;
        }
        self.single.solver.solve(&mut self.w[..size]);
        self.double.solver.solve(&mut self.right);
        // With factors of another step what is stiff would be corrected wholly, and what is not by the ratio of the steps: this makes
        // both errors equal.
        let ratio = h / self.factored.unwrap_or(h);
        let part = 2.0 * ratio / (1.0 + ratio);
        self.w[..size].iter_mut().for_each(|w| *w *= part);
        for k in 0..size {
            (self.w[size + k], self.w[2 * size + k]) = (part * self.right[2 * k], part * self.right[2 * k + 1]);
        }
    }

    /// The estimated error of one right-hand side, relative to what is allowed.
    fn estimate(&mut self, h: f64, column: usize, s: &[f64], allowed: Allowed<'_>) -> f64 {
        let root = 6f64.sqrt();
        let factors = [-(13.0 + 7.0 * root) / 3.0, (-13.0 + 7.0 * root) / 3.0, -1.0 / 3.0];
        let (size, z) = (self.size, &self.next.z[column]);
        let error = &mut self.w[..size];
        for (k, (error, slope)) in error.iter_mut().zip(&self.slopes[column]).enumerate() {
            *error = slope + (0..STAGES).map(|i| factors[i] * z[i * size + k]).sum::<f64>() / h;
        }
        self.single.solver.solve(error);
        let mut worst = 0.0f64;
        for (k, error) in error.iter().enumerate() {
            let last = s[k] + z[(STAGES - 1) * size + k];
            let size = last.abs().max(s[k].abs()) + allowed.sizes[column][k];
            let relative = error.abs() / (allowed.tolerance * size);
            worst = if relative.is_nan() { f64::INFINITY } else { worst.max(relative) };
        }
        worst
    }

    /// The slope at the end, which the equations of the stages say.
    fn note_slope(&mut self, h: f64, column: usize) {
        let (size, z) = (self.size, &self.next.z[column]);
        for (k, slope) in self.slopes[column].iter_mut().enumerate() {
            let w: [f64; STAGES] =
                std::array::from_fn(|row| (0..STAGES).map(|i| INVERSE[row][i] * z[i * size + k]).sum());
            let last = BASIS[STAGES - 1];
            let turned = [REAL * w[0], PAIR.0 * w[1] - PAIR.1 * w[2], PAIR.0 * w[2] + PAIR.1 * w[1]];
            *slope = (0..STAGES).map(|row| last[row] * turned[row]).sum::<f64>() / h;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a run of equal steps over 0..1 comes to.
    struct Run {
        end: [f64; 2],
        middle: [f64; 2],
        /// The largest estimated error.
        estimate: f64,
    }

    /// ṡ = −2 t s from 1 has s = exp(−t²), ṡ = 2 t (1 − s) from 0 has s = 1 − exp(−t²). The matrix is that of the
    /// beginning of each step.
    fn integrate(steps: usize, tolerance: f64) -> Run {
        let slope = |t: f64, column: usize, s: f64| -2.0 * t * s + [0.0, 2.0 * t][column];
        let h = 1.0 / steps as f64;
        let mut ode = LinearOde::new(&Pattern::full(1, 1), 2, 1, false).unwrap();
        let mut s = vec![vec![1.0], vec![0.0]];
        let sizes = vec![vec![1.0]; 2];
        let mut estimate = 0.0f64;
        for k in 0..steps {
            let t = k as f64 * h;
            ode.set_matrix(&[-2.0 * t]);
            let mut evaluate = |stage: usize, column: usize, s: &[f64], out: &mut [f64]| -> Result<(), ()> {
                out[0] = slope(t + nodes()[stage] * h, column, s[0]);
                Ok(())
            };
            let allowed = Allowed { tolerance, sizes: &sizes };
            let Ok(Outcome::Done(error)) = ode.step(t, t + h, &s, allowed, &mut evaluate) else { panic!("step {k}") };
            estimate = estimate.max(error * tolerance * 2.0);
            ode.accept();
            ode.piece.end_into(&mut s);
            for (column, s) in s.iter().enumerate() {
                assert!((ode.slopes[column][0] - slope(t + h, column, s[0])).abs() < tolerance.max(1e-9), "{k}");
            }
        }
        let mut middle = s.clone();
        ode.piece.at(1.0 - 0.5 * h, &mut middle);
        Run { end: [s[0][0], s[1][0]], middle: [middle[0][0], middle[1][0]], estimate }
    }

    #[test]
    fn slopes_of_a_cubic_are_exact() {
        let [one, two, three] = nodes();
        let cubic = |x: f64| 2.0 - x + 3.0 * x * x - 5.0 * x * x * x;
        let values = [0.0, one, two, three].map(cubic);
        for (weights, x) in slopes_at_nodes().iter().zip(nodes()) {
            let slope: f64 = weights.iter().zip(values).map(|(weight, value)| weight * value).sum();
            assert!((slope - (-1.0 + 6.0 * x - 15.0 * x * x)).abs() < 1e-12, "{slope} at {x}");
        }
        let integral: f64 = quadrature().iter().zip(nodes()).map(|(weight, x)| weight * x.powi(4)).sum();
        assert!((integral - 0.2).abs() < 1e-14);
    }

    fn error(found: [f64; 2], t: f64) -> f64 {
        let exact = (-t * t).exp();
        (found[0] - exact).abs().max((found[1] - 1.0 + exact).abs())
    }

    #[test]
    fn the_order_is_five_and_that_between_four() {
        let errors = |steps: usize| {
            let run = integrate(steps, 1e-12);
            (error(run.end, 1.0), error(run.middle, 1.0 - 0.5 / steps as f64), run.estimate)
        };
        let (coarse, fine) = (errors(4), errors(8));
        assert!(coarse.0 < 2e-6, "{coarse:?}");
        assert!((20.0..50.0).contains(&(coarse.0 / fine.0)), "{coarse:?} {fine:?}");
        assert!((8.0..50.0).contains(&(coarse.1 / fine.1)), "{coarse:?} {fine:?}");
        // The estimate is that of a lower order.
        assert!(coarse.0 <= coarse.2 && coarse.1 <= coarse.2 && coarse.2 < 1e-2, "{coarse:?}");
    }

    #[test]
    fn the_iteration_ends_below_the_tolerance() {
        for tolerance in [1e-4, 1e-6, 1e-8] {
            let (exact, found) = (integrate(16, 1e-12), integrate(16, tolerance));
            assert!((exact.end[0] - found.end[0]).abs() < 0.1 * tolerance);
        }
    }

    /// A chain of 50 cells that is heated at its ends, −s″ = 2 at rest, in one long step; the matrix is constant.
    #[test]
    fn stiffness_is_no_matter() {
        let n = 50;
        let pattern = Pattern::from_entries(
            n,
            n,
            (0..n).flat_map(|j| (j.saturating_sub(1)..(j + 2).min(n)).map(move |i| (i, j))),
        );
        let k = 1e6;
        let entries: Vec<f64> = (0..n)
            .flat_map(|j| pattern.column(j).iter().map(move |&i| if i as usize == j { -2.0 * k } else { k }))
            .collect();
        let mut ode = LinearOde::new(&pattern, 1, 3, true).unwrap();
        ode.set_matrix(&entries);
        let mut count = 0;
        let mut evaluate = |_: usize, _: usize, s: &[f64], out: &mut [f64]| -> Result<(), ()> {
            count += 1;
            for i in 0..n {
                let next = |i: Option<usize>| i.and_then(|i| s.get(i)).copied().unwrap_or(0.0);
                out[i] = k * (next(i.checked_sub(1)) - 2.0 * s[i] + next(Some(i + 1)) + 2.0);
            }
            Ok(())
        };
        let s = vec![vec![0.0; n]];
        ode.slopes[0].fill(2.0 * k);
        let allowed = Allowed { tolerance: 1e-6, sizes: &[vec![1.0; 50]] };
        let outcome = ode.step(0.0, 1e3, &s, allowed, &mut evaluate).unwrap();
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
        assert_eq!(count, 3);
        ode.accept();
        let mut end = s;
        ode.piece.end_into(&mut end);
        for (i, s) in end[0].iter().enumerate() {
            let exact = ((i + 1) * (n - i)) as f64;
            assert!((s - exact).abs() < 1e-6 * exact, "{i}: {s}, not {exact}");
        }
    }
}
