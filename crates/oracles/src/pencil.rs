//! Linear descriptor systems `E x' = A x` and their solutions, whatever the index.
//!
//! With a number σ for which σE − A is regular, T = (σE − A)⁻¹E turns the system into `T x' = (σT − 1) x`. T is nilpotent on
//! what has no motion of its own; the rest is the range V of its powers, found by orthogonalisation. On it T acts as a
//! regular matrix S, and `x = V z` with `z' = (σ − S⁻¹) z` is a matrix exponential.
//!
//! Sources are part of the system: the first unknowns are 1, sin(ωt) and cos(ωt), which follow equations of their own.

use fastrand::Rng;
use nalgebra::{DMatrix, DVector};

/// The unknowns that are there from the beginning.
pub const ONE: usize = 0;
pub const SINE: usize = 1;
pub const COSINE: usize = 2;

/// Below this fraction of the largest column a direction is lost, above the other it is there. What lies between
/// is not judged.
const LOST: f64 = 1e-10;
const THERE: f64 = 1e-5;

pub struct Descriptor {
    /// What the model calls the unknowns; empty for those it has no name for.
    pub names: Vec<String>,
    pub omega: f64,
    /// Row, column, factor.
    values: Vec<(usize, usize, f64)>,
    slopes: Vec<(usize, usize, f64)>,
    rows: usize,
}

impl Descriptor {
    pub fn new(omega: f64) -> Self {
        let names = vec![String::new(); 3];
        let mut new = Self { names, omega, values: Vec::new(), slopes: Vec::new(), rows: 0 };
        new.equation(&[], &[(ONE, 1.0)]);
        new.equation(&[(COSINE, omega)], &[(SINE, -1.0)]);
        new.equation(&[(SINE, omega)], &[(COSINE, 1.0)]);
        new
    }

    pub fn unknown(&mut self, name: impl Into<String>) -> usize {
        self.names.push(name.into());
        self.names.len() - 1
    }

    /// The sum of unknowns and derivatives, each with a factor, is zero.
    pub fn equation(&mut self, values: &[(usize, f64)], slopes: &[(usize, f64)]) {
        let row = self.rows;
        self.rows += 1;
        self.values.extend(values.iter().map(|&(column, factor)| (row, column, factor)));
        self.slopes.extend(slopes.iter().map(|&(column, factor)| (row, column, factor)));
    }

    /// A solution with arbitrary initial values; `None` unless the system is regular beyond doubt.
    pub fn solution(&self, random: &mut Rng) -> Option<Solution> {
        let size = self.names.len();
        if self.rows != size {
            return None;
        }
        let (mut e, mut a) = (DMatrix::zeros(size, size), DMatrix::zeros(size, size));
        self.slopes.iter().for_each(|&(row, column, factor)| e[(row, column)] += factor);
        self.values.iter().for_each(|&(row, column, factor)| a[(row, column)] -= factor);
        let sigma = 1.3 + random.f64();
        let pencil = &e * sigma - &a;
        if range(&pencil)?.ncols() < size {
            return None;
        }
        let t = pencil.lu().solve(&e)?;
        let mut v = DMatrix::<f64>::identity(size, size);
        loop {
            let next = range(&(&t * &v))?;
            let is_same = next.ncols() == v.ncols();
            v = next;
            if is_same {
                break;
            }
        }
        let s = v.transpose() * &t * &v;
        let rate = DMatrix::identity(v.ncols(), v.ncols()) * sigma - s.try_inverse()?;
        let z = start(&v, random)?;
        Some(Solution { v, rate, z })
    }
}

/// An orthonormal basis of the range of a matrix, by Gram and Schmidt with the largest column first; `None` if its rank is
/// in doubt.
fn range(matrix: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let mut rest = matrix.clone();
    let mut basis: Vec<DVector<f64>> = Vec::new();
    let mut largest = None;
    while basis.len() < matrix.ncols().min(matrix.nrows()) {
        let norms: Vec<f64> = rest.column_iter().map(|column| column.norm()).collect();
        let best = (0..norms.len()).max_by(|&a, &b| norms[a].total_cmp(&norms[b]))?;
        let scale = *largest.get_or_insert(norms[best]);
        if norms[best] <= LOST * scale {
            break;
        }
        if norms[best] < THERE * scale {
            return None;
        }
        let mut direction: DVector<f64> = rest.column(best) / norms[best];
        basis.iter().for_each(|known| direction -= known * known.dot(&direction));
        direction /= direction.norm();
        // Twice is enough.
        for _ in 0..2 {
            let shares = direction.transpose() * &rest;
            rest -= &direction * shares;
        }
        basis.push(direction);
    }
    if basis.is_empty() { None } else { Some(DMatrix::from_columns(&basis)) }
}

/// Arbitrary initial values with which the first unknowns are 1, sin 0 and cos 0.
fn start(v: &DMatrix<f64>, random: &mut Rng) -> Option<DVector<f64>> {
    let free = DVector::from_fn(v.ncols(), |_, _| 2.0 * random.f64() - 1.0);
    let sources = v.rows(0, 3).into_owned();
    let wanted = DVector::from_vec(vec![1.0, 0.0, 1.0]) - &sources * &free;
    let gram = (&sources * sources.transpose()).try_inverse()?;
    Some(free + sources.transpose() * gram * wanted)
}

pub struct Solution {
    v: DMatrix<f64>,
    rate: DMatrix<f64>,
    z: DVector<f64>,
}

impl Solution {
    pub fn at(&self, time: f64) -> DVector<f64> {
        &self.v * ((&self.rate * time).exp() * &self.z)
    }

    /// Those of the candidates whose initial values determine the solution; `None` if they do not.
    pub fn determining(&self, candidates: &[usize]) -> Option<Vec<usize>> {
        let mut basis: Vec<DVector<f64>> = Vec::new();
        let mut chosen = Vec::new();
        for (place, &unknown) in [ONE, SINE, COSINE].iter().chain(candidates).enumerate() {
            let mut row = self.v.row(unknown).transpose();
            let size = row.norm();
            for _ in 0..2 {
                basis.iter().for_each(|known| row -= known * known.dot(&row));
            }
            // What cannot move has nothing but rounding errors in its row.
            if basis.len() < self.v.ncols() && row.norm() > 1e-3 * size.max(1e-3) {
                row /= row.norm();
                basis.push(row);
                chosen.extend((place >= 3).then_some(unknown));
            }
        }
        (basis.len() == self.v.ncols()).then_some(chosen)
    }
}
