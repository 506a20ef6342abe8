//! Poles as an engineer reads them: natural frequency, damping, time constant, and the states that take part.
//!
//! The participation of state k in a mode is |w_k v_k| with the left and right eigenvectors (Pérez-Arriaga, Verghese and
//! Schweppe 1982); it does not depend on the units of the states. Eigenvalues that rounding errors cannot tell apart are one
//! mode with a multiplicity: its value is their mean, which is accurate where the single ones of a defective eigenvalue are
//! not, and the participations are the diagonal of the projector onto their invariant subspace.

use faer::Mat;
use faer::linalg::solvers::{DenseSolveCore, Solve};

use crate::balance::balance;
use crate::eigen::{Eigen, coupled_blocks, real_eigen, sort};
use crate::{Complex, Error, StateSpace};

/// A real pole or a pair of conjugate poles.
#[derive(Clone, PartialEq, Debug)]
pub struct Mode {
    /// Of a pair the one with positive imaginary part.
    pub pole: Complex,
    /// How often the pole (or the pair) occurs.
    pub multiplicity: usize,
    /// The states that take part, the most important first; the shares of all states add up to one.
    pub participations: Vec<Participation>,
}

/// The part that a state takes in a mode.
#[derive(Clone, PartialEq, Debug)]
pub struct Participation {
    /// The index of the state.
    pub state: usize,
    /// Between 0 and 1.
    pub share: f64,
}

impl Mode {
    /// |λ| in rad/s.
    pub fn natural_frequency(&self) -> f64 {
        natural_frequency(self.pole)
    }

    /// -Re λ / |λ|; for a pole at the origin there is none.
    pub fn damping(&self) -> Option<f64> {
        damping(self.pole)
    }

    /// -1 / Re λ in s; negative for a mode that grows, none for one that does neither.
    pub fn time_constant(&self) -> Option<f64> {
        time_constant(self.pole)
    }

    /// The poles are a conjugate pair.
    pub fn oscillates(&self) -> bool {
        self.pole.im != 0.0
    }

    /// The shares of components instead of states, the most important first.
    pub fn components<'a>(&self, system: &'a StateSpace) -> Vec<(&'a str, f64)> {
        let mut shares: Vec<(&str, f64)> = Vec::new();
        for participation in &self.participations {
            let Some(state) = system.states.get(participation.state) else { continue };
            match shares.iter_mut().find(|(name, _)| *name == state.component) {
                Some((_, share)) => *share += participation.share,
                None => shares.push((&state.component, participation.share)),
            }
        }
        shares.sort_by(|x, y| y.1.total_cmp(&x.1));
        shares
    }
}

pub(crate) fn natural_frequency(pole: Complex) -> f64 {
    pole.norm()
}

pub(crate) fn damping(pole: Complex) -> Option<f64> {
    (pole != Complex::ZERO).then(|| (-pole.re / pole.norm()).clamp(-1.0, 1.0))
}

pub(crate) fn time_constant(pole: Complex) -> Option<f64> {
    (pole.re != 0.0).then(|| -1.0 / pole.re)
}

/// The eigenvalues of A, those of one mode with the same value, sorted by their real parts.
pub fn poles(system: &StateSpace) -> Result<Vec<Complex>, Error> {
    let mut poles = Vec::new();
    for mode in modes(system)? {
        for _ in 0..mode.multiplicity {
            poles.push(mode.pole);
            if mode.oscillates() {
                poles.push(mode.pole.conj());
            }
        }
    }
    sort(&mut poles);
    Ok(poles)
}

/// The slowest decay last.
pub fn modes(system: &StateSpace) -> Result<Vec<Mode>, Error> {
    system.check()?;
    if system.order() == 0 {
        return Ok(Vec::new());
    }
    let mut modes: Vec<Mode> = Vec::new();
    for found in spectrum(&system.a.dense())? {
        if found.value.im >= 0.0 {
            modes.push(Mode {
                pole: found.value,
                multiplicity: found.multiplicity,
                participations: ranked(&found.weights),
            });
        }
    }
    modes.sort_by(|x, y| x.pole.re.total_cmp(&y.pole.re).then(x.pole.im.total_cmp(&y.pole.im)));
    Ok(modes)
}

/// The eigenvalues of a matrix, those that rounding errors cannot tell apart by their mean.
pub(crate) fn grouped_eigenvalues(a: Mat<f64>) -> Result<Vec<Complex>, Error> {
    let mut values = Vec::new();
    for found in spectrum(&a)? {
        values.extend(std::iter::repeat_n(found.value, found.multiplicity));
    }
    sort(&mut values);
    Ok(values)
}

/// An eigenvalue, or several that rounding errors cannot tell apart.
struct Eigenvalue {
    value: Complex,
    multiplicity: usize,
    uncertainty: f64,
    /// The parts that the states take.
    weights: Vec<f64>,
}

/// All eigenvalues, by the groups of states that depend on each other. Left and right eigenvectors of a group have entries of other
/// groups, but not of the same ones, so the participations are those within the group.
fn spectrum(a: &Mat<f64>) -> Result<Vec<Eigenvalue>, Error> {
    let n = a.nrows();
    let mut all: Vec<Eigenvalue> = Vec::new();
    for block in coupled_blocks(a.as_ref()) {
        let mut part = Mat::from_fn(block.len(), block.len(), |i, j| a[(block[i], block[j])]);
        balance(&mut part, None, None);
        let mut eigen = real_eigen(part.as_ref(), true)?;
        let uncertainties = uncertainties(&part, &eigen);
        let groups = groups(&eigen, &uncertainties);
        correct(&part, &mut eigen, &groups);
        for group in groups {
            let value = mean(&eigen, &group, &part);
            let mut weights = vec![0.0; n];
            for (&state, weight) in block.iter().zip(projector_diagonal(&part, &eigen, &group)) {
                weights[state] = weight;
            }
            let uncertainty = group.iter().map(|&i| uncertainties[i]).fold(0.0, f64::max);
            all.push(Eigenvalue { value, multiplicity: group.len(), uncertainty, weights });
        }
    }
    all.sort_by(|x, y| x.value.re.total_cmp(&y.value.re));
    Ok(joined(all))
}

/// Equal eigenvalues of several groups of states are one.
fn joined(all: Vec<Eigenvalue>) -> Vec<Eigenvalue> {
    let mut joined: Vec<Eigenvalue> = Vec::new();
    for found in all {
        let is_equal = |known: &Eigenvalue| (known.value - found.value).norm() <= known.uncertainty + found.uncertainty;
        // They are sorted by their real parts.
        let near = joined
            .iter()
            .rev()
            .take_while(|known| found.value.re - known.value.re <= 2.0 * (known.uncertainty + found.uncertainty));
        match near.into_iter().position(is_equal) {
            Some(back) => {
                let place = joined.len() - 1 - back;
                let known = &mut joined[place];
                let (one, other) = (known.multiplicity as f64, found.multiplicity as f64);
                // The better known value holds; equally good ones have a mean.
                known.value = match known.uncertainty.total_cmp(&found.uncertainty) {
                    std::cmp::Ordering::Less => known.value,
                    std::cmp::Ordering::Greater => found.value,
                    std::cmp::Ordering::Equal => (known.value * one + found.value * other) / (one + other),
                };
                known.multiplicity += found.multiplicity;
                let share = |weights: &[f64], count: f64| count / weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
                let (own, new) = (share(&known.weights, one), share(&found.weights, other));
                for (weight, added) in known.weights.iter_mut().zip(&found.weights) {
                    *weight = *weight * own + added * new;
                }
            }
            None => joined.push(found),
        }
    }
    joined
}

/// Shares that matter, in descending order.
pub(crate) fn ranked(weights: &[f64]) -> Vec<Participation> {
    let total: f64 = weights.iter().sum();
    let share = |weight: f64| if total > 0.0 { weight / total } else { 0.0 };
    let all = weights.iter().enumerate().map(|(state, &weight)| Participation { state, share: share(weight) });
    let mut ranked: Vec<_> = all.filter(|participation| participation.share > 1e-9).collect();
    ranked.sort_by(|x, y| y.share.total_cmp(&x.share).then(x.state.cmp(&y.state)));
    ranked
}

/// The largest number of states of which errors are found one by one.
const AFFORDABLE: usize = 300;

/// What rounding errors do to eigenvalues: those of all entries of A alike, as the computation makes them in the worst case. In a
/// matrix whose entries are of very different sizes that is far too much for the small eigenvalues. Where it is affordable, the
/// error that the computation did make, yᴴ(A x - λ x) / yᴴx, and relative errors of each entry tell more.
fn uncertainties(a: &Mat<f64>, eigen: &Eigen) -> Vec<f64> {
    let n = eigen.values.len();
    let norm = a.norm_l2();
    if n == 1 {
        return vec![4.0 * f64::EPSILON * norm];
    }
    let uncertainty = |j: usize| {
        // The reciprocal condition number of the eigenvalue.
        let condition = (0..n).map(|i| eigen.left[(i, j)].conj() * eigen.right[(i, j)]).sum::<Complex>().norm();
        let condition = condition.max(f64::MIN_POSITIVE);
        let bound = 10.0 * f64::EPSILON * norm / condition;
        // Beyond this the poles are told apart even if A hardly determines them.
        let bound = bound.min(0.02 * eigen.values[j].norm().max(1e-3 * norm)).max(4.0 * f64::EPSILON * norm);
        if n > AFFORDABLE {
            return bound;
        }
        let relative = |i: usize| {
            let terms: f64 = (0..n).map(|k| eigen.right[(k, j)].norm() * a[(i, k)].abs()).sum();
            eigen.left[(i, j)].norm() * (terms + (eigen.values[j] * eigen.right[(i, j)]).norm())
        };
        let relative: f64 = (0..n).map(relative).sum();
        bound.min(2.0 * error_made(a, eigen, j).norm() + 10.0 * f64::EPSILON * relative / condition)
    };
    (0..n).map(uncertainty).collect()
}

/// Takes the error that was made from eigenvalues that can be told from all others. Those of a group are exact in the mean.
fn correct(a: &Mat<f64>, eigen: &mut Eigen, groups: &[Vec<usize>]) {
    if eigen.values.len() > AFFORDABLE {
        return;
    }
    let single = groups.iter().filter(|group| group.len() == 1).map(|group| group[0]);
    let errors: Vec<(usize, Complex)> = single.map(|j| (j, error_made(a, eigen, j))).collect();
    for (j, error) in errors.into_iter().filter(|(_, error)| error.is_finite()) {
        eigen.values[j] += error;
    }
}

/// The error of an eigenvalue to first order, yᴴ(A x - λ x) / yᴴx.
fn error_made(a: &Mat<f64>, eigen: &Eigen, j: usize) -> Complex {
    let n = eigen.values.len();
    let (mut made, mut condition) = (Complex::ZERO, Complex::ZERO);
    for i in 0..n {
        let (left, right) = (eigen.left[(i, j)].conj(), eigen.right[(i, j)]);
        let row: Complex = (0..n).map(|k| eigen.right[(k, j)] * a[(i, k)]).sum();
        made += left * (row - eigen.values[j] * right);
        condition += left * right;
    }
    if condition == Complex::ZERO { Complex::new(f64::INFINITY, 0.0) } else { made / condition }
}

/// Indices of eigenvalues that cannot be told apart: their distance is within what rounding errors of A do to them.
fn groups(eigen: &Eigen, uncertainties: &[f64]) -> Vec<Vec<usize>> {
    let n = eigen.values.len();
    let uncertainty = |j: usize| uncertainties[j];
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| eigen.values[i].re.total_cmp(&eigen.values[j].re));
    let widest = (0..n).map(uncertainty).fold(0.0, f64::max);
    let mut leader: Vec<usize> = (0..n).collect();
    for (at, &i) in order.iter().enumerate() {
        for &j in &order[at + 1..] {
            if eigen.values[j].re - eigen.values[i].re > 2.0 * widest {
                break;
            }
            let distance = (eigen.values[i] - eigen.values[j]).norm();
            if distance <= uncertainty(i) + uncertainty(j) {
                let (from, to) = (root(&leader, i), root(&leader, j));
                leader[from] = to;
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); n];
    (0..n).for_each(|i| groups[root(&leader, i)].push(i));
    groups.retain(|group| !group.is_empty());
    groups
}

fn root(leader: &[usize], mut at: usize) -> usize {
    while leader[at] != at {
        at = leader[at];
    }
    at
}

fn mean(eigen: &Eigen, group: &[usize], a: &Mat<f64>) -> Complex {
    let mut mean = group.iter().map(|&i| eigen.values[i]).sum::<Complex>() / group.len() as f64;
    // A group that holds its own conjugates is real.
    if group.len() > 1 && mean.im.abs() <= 1e-12 * mean.re.abs() {
        mean.im = 0.0;
    }
    let closed = group.iter().all(|&i| {
        let conjugate = eigen.values[i].conj();
        group.iter().any(|&j| eigen.values[j] == conjugate)
    });
    if closed {
        mean.im = 0.0;
    }
    // Rounding errors around the origin are not dynamics.
    let noise = 4.0 * f64::EPSILON * a.norm_l2();
    if a.nrows() > 1 && mean.norm() <= noise {
        return Complex::ZERO;
    }
    if mean.im != 0.0 && mean.re.abs() <= noise.min(1e-14 * mean.norm()) {
        mean.re = 0.0;
    }
    mean
}

fn projector_diagonal(a: &Mat<f64>, eigen: &Eigen, group: &[usize]) -> Vec<f64> {
    let n = eigen.values.len();
    if let &[only] = group {
        return (0..n).map(|i| eigen.left[(i, only)].norm() * eigen.right[(i, only)].norm()).collect();
    }
    let k = group.len();
    let right = Mat::from_fn(n, k, |i, j| eigen.right[(i, group[j])]);
    let left = Mat::from_fn(k, n, |i, j| eigen.left[(j, group[i])].conj());
    let product = &left * &right;
    let solved = product.partial_piv_lu().solve(&left);
    let diagonal: Vec<Complex> = (0..n).map(|i| (0..k).map(|j| right[(i, j)] * solved[(j, i)]).sum()).collect();
    // The trace of a projector is its rank.
    let trace: Complex = diagonal.iter().sum();
    if (trace - k as f64).norm() < 1e-3 && diagonal.iter().all(|value| value.norm() < 1e6) {
        return diagonal.iter().map(|value| value.norm()).collect();
    }
    contour_diagonal(a, eigen, group)
}

/// The projector as the integral of (s I - A)⁻¹ along a circle around the group; the trapezoidal rule converges
/// exponentially. For exactly defective eigenvalues, whose computed eigenvectors are parallel.
fn contour_diagonal(a: &Mat<f64>, eigen: &Eigen, group: &[usize]) -> Vec<f64> {
    let n = eigen.values.len();
    let centre = group.iter().map(|&i| eigen.values[i]).sum::<Complex>() / group.len() as f64;
    let distance = |i: usize| (eigen.values[i] - centre).norm();
    let inner = group.iter().map(|&i| distance(i)).fold(0.0, f64::max);
    let outer = (0..n).filter(|i| !group.contains(i)).map(distance).fold(f64::INFINITY, f64::min);
    let size = a.norm_l2().max(f64::MIN_POSITIVE);
    let radius = if outer.is_finite() { (inner.max(1e-3 * outer) * outer).sqrt() } else { (2.0 * inner).max(size) };
    let points = 32;
    let mut diagonal = vec![Complex::ZERO; n];
    for k in 0..points {
        let turn = Complex::from_polar(radius, std::f64::consts::TAU * (f64::from(k) + 0.5) / f64::from(points));
        let shifted =
            Mat::from_fn(n, n, |i, j| if i == j { centre + turn - a[(i, j)] } else { Complex::new(-a[(i, j)], 0.0) });
        let inverse = shifted.partial_piv_lu().inverse();
        (0..n).for_each(|i| diagonal[i] += inverse[(i, i)] * turn / f64::from(points));
    }
    diagonal.iter().map(|value| value.norm()).collect()
}
