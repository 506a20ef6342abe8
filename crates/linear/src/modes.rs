//! Poles as an engineer reads them: natural frequency, damping, time constant, and the states that take part.
//!
//! The participation of state k in a mode is |w_k v_k| with the left and right eigenvectors (Pérez-Arriaga, Verghese and
//! Schweppe 1982); it does not depend on the units of the states. Eigenvalues that rounding errors cannot tell apart are one
//! mode with a multiplicity: its value is their mean, which is accurate where the single ones of a defective eigenvalue are
//! not, and the participations are the diagonal of the projector onto their invariant subspace.

use faer::Mat;
use faer::linalg::solvers::{DenseSolveCore, Solve};

use crate::balance::balance;
use crate::eigen::{Eigen, real_eigen, sort};
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
    let mut a = system.a.dense();
    balance(&mut a, None, None);
    let eigen = real_eigen(a.as_ref(), true)?;
    let mut modes: Vec<Mode> = Vec::new();
    for group in groups(&a, &eigen) {
        let value = mean(&eigen, &group, &a);
        if value.im < 0.0 {
            continue;
        }
        let shares = projector_diagonal(&a, &eigen, &group);
        modes.push(Mode { pole: value, multiplicity: group.len(), participations: ranked(&shares) });
    }
    modes.sort_by(|x, y| x.pole.re.total_cmp(&y.pole.re).then(x.pole.im.total_cmp(&y.pole.im)));
    Ok(modes)
}

/// The eigenvalues of a matrix, those that rounding errors cannot tell apart by their mean.
pub(crate) fn grouped_eigenvalues(mut a: Mat<f64>) -> Result<Vec<Complex>, Error> {
    if a.nrows() == 0 {
        return Ok(Vec::new());
    }
    balance(&mut a, None, None);
    let eigen = real_eigen(a.as_ref(), true)?;
    let mut values = Vec::new();
    for group in groups(&a, &eigen) {
        let value = mean(&eigen, &group, &a);
        values.extend(group.iter().map(|_| value));
    }
    sort(&mut values);
    Ok(values)
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

/// Indices of eigenvalues that cannot be told apart: their distance is within what rounding errors of A do to them.
fn groups(a: &Mat<f64>, eigen: &Eigen) -> Vec<Vec<usize>> {
    let n = eigen.values.len();
    let norm = a.norm_l2();
    // The reciprocal condition number of each eigenvalue.
    let conditions: Vec<f64> = (0..n)
        .map(|j| (0..n).map(|i| eigen.left[(i, j)].conj() * eigen.right[(i, j)]).sum::<Complex>().norm())
        .collect();
    let uncertainty = |j: usize| {
        let bound = 10.0 * f64::EPSILON * norm / conditions[j].max(f64::MIN_POSITIVE);
        // Beyond this the poles are told apart even if A hardly determines them.
        bound.min(0.02 * eigen.values[j].norm().max(1e-3 * norm)).max(4.0 * f64::EPSILON * norm)
    };
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
    if group.len() > 1 && mean.norm() <= noise {
        return Complex::ZERO;
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
