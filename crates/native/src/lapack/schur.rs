//! The real Schur form `A = Z·T·Zᵀ`, eigenvalues and eigenvectors from it, and its reordering (Golub and Van Loan, *Matrix
//! Computations*, chapter 7).

use nalgebra::{Complex, DMatrix, Schur};

use super::Dense;

pub type ComplexMatrix = DMatrix<Complex<f64>>;

/// Z and T; T has blocks of size 2 on its diagonal for pairs of complex eigenvalues.
#[derive(Clone)]
pub struct RealSchur {
    pub z: Dense,
    pub t: Dense,
}

impl RealSchur {
    pub fn new(a: &Dense) -> Option<Self> {
        let n = a.nrows();
        if n == 0 || a.iter().any(|x| !x.is_finite()) {
            return (n == 0).then(|| Self { z: a.clone(), t: a.clone() });
        }
        let (z, mut t) = Schur::try_new(a.clone(), f64::EPSILON, 1000 + 100 * n)?.unpack();
        for column in 0..n {
            for row in column + 1..n {
                if row > column + 1 || !is_coupled(&t, column) {
                    t[(row, column)] = 0.0;
                }
            }
        }
        Some(Self { z, t })
    }

    /// The first rows of the diagonal blocks with their sizes.
    pub fn blocks(&self) -> Vec<(usize, usize)> {
        let n = self.t.nrows();
        let mut found = Vec::new();
        let mut k = 0;
        while k < n {
            let size = if k + 1 < n && self.t[(k + 1, k)] != 0.0 { 2 } else { 1 };
            found.push((k, size));
            k += size;
        }
        found
    }

    /// The eigenvalues along the diagonal; of a pair the one with positive imaginary part first.
    pub fn eigenvalues(&self) -> Vec<Complex<f64>> {
        let mut all = Vec::with_capacity(self.t.nrows());
        for (k, size) in self.blocks() {
            if size == 1 {
                all.push(Complex::new(self.t[(k, k)], 0.0));
            } else {
                all.extend(pair(&self.t, k));
            }
        }
        all
    }

    /// A triangular complex form with the same eigenvalues on the diagonal.
    fn complex(&self) -> (ComplexMatrix, ComplexMatrix) {
        let mut t = self.t.map(|x| Complex::new(x, 0.0));
        let mut z = self.z.map(|x| Complex::new(x, 0.0));
        let n = t.nrows();
        for (k, size) in self.blocks() {
            if size == 1 {
                continue;
            }
            let [first, _] = pair(&self.t, k);
            // The eigenvector of the block becomes the first column of a rotation.
            let (x, y) = (first - self.t[(k + 1, k + 1)], Complex::new(self.t[(k + 1, k)], 0.0));
            let norm = (x.norm_sqr() + y.norm_sqr()).sqrt();
            let (c, s) = (x / norm, y / norm);
            for j in 0..n {
                let (a, b) = (t[(k, j)], t[(k + 1, j)]);
                t[(k, j)] = c.conj() * a + s.conj() * b;
                t[(k + 1, j)] = -s * a + c * b;
            }
            for matrix in [&mut t, &mut z] {
                for i in 0..n {
                    let (a, b) = (matrix[(i, k)], matrix[(i, k + 1)]);
                    matrix[(i, k)] = a * c + b * s;
                    matrix[(i, k + 1)] = -a * s.conj() + b * c.conj();
                }
            }
            t[(k + 1, k)] = Complex::new(0.0, 0.0);
        }
        (z, t)
    }

    /// The eigenvectors as columns: right ones `A·x = λ·x`, or left ones `yᴴ·A = λ·yᴴ`.
    pub fn eigenvectors(&self, left: bool) -> ComplexMatrix {
        let (z, t) = self.complex();
        let n = t.nrows();
        let zero = Complex::new(0.0, 0.0);
        let mut all = ComplexMatrix::zeros(n, n);
        let small = f64::EPSILON * t.iter().map(|x| x.norm()).fold(f64::MIN_POSITIVE, f64::max);
        for k in 0..n {
            let lambda = t[(k, k)];
            let mut x = vec![zero; n];
            x[k] = Complex::new(1.0, 0.0);
            let divided = |sum: Complex<f64>, i: usize| {
                let gap = t[(i, i)] - lambda;
                // Equal eigenvalues: a tiny gap gives one of their vectors, or repeats it if there is no other.
                -sum / if gap.norm() < small { Complex::new(small, 0.0) } else { gap }
            };
            if left {
                for j in k + 1..n {
                    let sum = (k..j).map(|i| x[i] * t[(i, j)]).sum();
                    x[j] = divided(sum, j);
                }
                x.iter_mut().for_each(|x| *x = x.conj());
            } else {
                for i in (0..k).rev() {
                    let sum = (i + 1..=k).map(|j| t[(i, j)] * x[j]).sum();
                    x[i] = divided(sum, i);
                }
            }
            for i in 0..n {
                all[(i, k)] = (0..n).map(|j| z[(i, j)] * x[j]).sum();
            }
        }
        all
    }

    /// Moves the blocks with selected rows to the top; gives the size of what was moved.
    pub fn reorder(&mut self, selected: &[bool]) -> Option<usize> {
        let mut wanted: Vec<bool> =
            self.blocks().iter().map(|&(k, size)| (k..k + size).any(|row| selected.get(row) == Some(&true))).collect();
        let mut top = 0;
        for position in 0..wanted.len() {
            if !wanted[position] {
                continue;
            }
            for upper in (top..position).rev() {
                self.swap(upper)?;
                wanted.swap(upper, upper + 1);
            }
            top += 1;
        }
        Some(self.blocks().iter().take(top).map(|(_, size)| size).sum())
    }

    /// Exchanges two neighbouring diagonal blocks (Z. Bai, J. Demmel, *On Swapping Diagonal Blocks in Real Schur Form*,
    /// 1993).
    fn swap(&mut self, upper: usize) -> Option<()> {
        let blocks = self.blocks();
        let ((k, p), (_, q)) = (*blocks.get(upper)?, *blocks.get(upper + 1)?);
        let a = self.t.view((k, k), (p, p)).into_owned();
        let b = self.t.view((k + p, k + p), (q, q)).into_owned();
        let c = self.t.view((k, k + p), (p, q)).into_owned();
        // a·x − x·b = c
        let system = Dense::identity(q, q).kronecker(&a) - b.transpose().kronecker(&Dense::identity(p, p));
        let right = Dense::from_column_slice(p * q, 1, c.as_slice());
        let x = Dense::from_column_slice(p, q, system.lu().solve(&right)?.as_slice());
        // The columns of [−x; I] span what belongs to b.
        let mut span = Dense::zeros(p + q, p + q);
        span.view_mut((0, 0), (p, q)).copy_from(&-x);
        span.view_mut((p, 0), (q, q)).fill_with_identity();
        for j in 0..p {
            span[(j, q + j)] = 1.0;
        }
        let rotation = span.qr().q();
        let size = p + q;
        let rows = rotation.transpose() * self.t.rows(k, size);
        self.t.rows_mut(k, size).copy_from(&rows);
        for matrix in [&mut self.t, &mut self.z] {
            let columns = matrix.columns(k, size) * &rotation;
            matrix.columns_mut(k, size).copy_from(&columns);
        }
        self.t.view_mut((k + q, k), (p, q)).fill(0.0);
        if q == 1 && p == 1 {
            self.t[(k + 1, k)] = 0.0;
        }
        Some(())
    }
}

/// Whether the element below the diagonal belongs to a pair of complex eigenvalues.
fn is_coupled(t: &Dense, k: usize) -> bool {
    let (a, b, c, d) = (t[(k, k)], t[(k, k + 1)], t[(k + 1, k)], t[(k + 1, k + 1)]);
    let negligible = c.abs() <= f64::EPSILON * (a.abs() + d.abs());
    !negligible && (a - d) * (a - d) / 4.0 + b * c < 0.0
}

/// The eigenvalues of a block of size 2.
fn pair(t: &Dense, k: usize) -> [Complex<f64>; 2] {
    let (a, b, c, d) = (t[(k, k)], t[(k, k + 1)], t[(k + 1, k)], t[(k + 1, k + 1)]);
    let (middle, square) = ((a + d) / 2.0, (a - d) * (a - d) / 4.0 + b * c);
    let root = (-square).max(0.0).sqrt();
    [Complex::new(middle, root), Complex::new(middle, -root)]
}

/// Complex columns as LAPACK packs them: real part and imaginary part of a pair next to each other.
pub fn packed(vectors: &ComplexMatrix, eigenvalues: &[Complex<f64>]) -> Dense {
    let n = vectors.nrows();
    let mut all = Dense::zeros(n, vectors.ncols());
    for (k, eigenvalue) in eigenvalues.iter().enumerate() {
        for i in 0..n {
            all[(i, k)] = match eigenvalue.im {
                im if im < 0.0 && k > 0 => vectors[(i, k - 1)].im,
                _ => vectors[(i, k)].re,
            };
        }
    }
    all
}

/// Scales columns to length 1 (or to a largest element of 1), with a real largest element.
pub fn normalize(vectors: &mut ComplexMatrix, by_largest: bool) {
    for mut column in vectors.column_iter_mut() {
        let largest = column.iter().copied().max_by(|a, b| a.norm().total_cmp(&b.norm()));
        let Some(largest) = largest.filter(|x| x.norm() > 0.0) else { continue };
        let length = column.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        let scale = if by_largest { largest.norm() } else { length };
        let phase = largest / largest.norm() * scale;
        column.iter_mut().for_each(|x| *x /= phase);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn complex(a: &Dense) -> ComplexMatrix {
        a.map(|x| Complex::new(x, 0.0))
    }

    #[test]
    fn eigenvectors_satisfy_their_equations() {
        for n in 1..7 {
            let a = example(n, n);
            let schur = RealSchur::new(&a).unwrap();
            assert_close(&(&schur.z * &schur.t * schur.z.transpose()), &a);
            let values = ComplexMatrix::from_diagonal(&nalgebra::DVector::from_vec(schur.eigenvalues()));
            let mut right = schur.eigenvectors(false);
            normalize(&mut right, false);
            let residual = complex(&a) * &right - &right * &values;
            assert!(residual.iter().all(|x| x.norm() < 1e-9), "{residual}");
            let mut left = schur.eigenvectors(true);
            normalize(&mut left, false);
            let residual = left.adjoint() * complex(&a) - &values * left.adjoint();
            assert!(residual.iter().all(|x| x.norm() < 1e-9), "{residual}");
        }
    }

    #[test]
    fn reordering_keeps_the_matrix() {
        let a = example(6, 6);
        let schur = RealSchur::new(&a).unwrap();
        for pattern in 0..64u32 {
            let selected: Vec<bool> = (0..6).map(|k| pattern >> k & 1 == 1).collect();
            let mut moved = schur.clone();
            let size = moved.reorder(&selected).unwrap();
            assert!((&moved.z * &moved.t * moved.z.transpose() - &a).amax() < 1e-8);
            let mut expected: Vec<f64> = schur
                .blocks()
                .iter()
                .filter(|&&(k, s)| (k..k + s).any(|row| selected[row]))
                .flat_map(|&(k, s)| schur.eigenvalues()[k..k + s].to_vec())
                .map(|x| x.re)
                .collect();
            let mut actual: Vec<f64> = moved.eigenvalues()[..size].iter().map(|x| x.re).collect();
            expected.sort_by(f64::total_cmp);
            actual.sort_by(f64::total_cmp);
            assert_eq!(expected.len(), actual.len());
            assert!(expected.iter().zip(&actual).all(|(a, b)| (a - b).abs() < 1e-8), "{expected:?} {actual:?}");
        }
    }
}
