//! Balancing: a diagonal change of the states' units that makes rows and columns of equal size.
//!
//! The iteration is that of Parlett and Reinsch (1969) with its norms, sums of absolute values; with inputs and
//! outputs it is that of the SLICOT routine `TB01ID`, which takes the rows of B and the columns of C into the norms.
//! Factors are powers of two, so that nothing is rounded.

use faer::Mat;

/// Scales `a` (and the rows of `b` and columns of `c`) in place; returns `t` with x = diag(t) x̃.
pub(crate) fn balance(a: &mut Mat<f64>, mut b: Option<&mut Mat<f64>>, mut c: Option<&mut Mat<f64>>) -> Vec<f64> {
    let n = a.nrows();
    let mut scale = vec![1.0; n];
    // The iteration converges in a handful of sweeps; the limit is there for matrices of denormal numbers.
    for _ in 0..100 {
        let mut changed = false;
        for i in 0..n {
            // Without the diagonal, which may be so large that nothing of the others would be left of a difference.
            let (mut column, mut row) = (0.0f64, 0.0f64);
            for k in (0..n).filter(|&k| k != i) {
                column += a[(k, i)].abs();
                row += a[(i, k)].abs();
            }
            if let Some(b) = &b {
                row += b.row(i).norm_l1();
            }
            if let Some(c) = &c {
                column += c.col(i).norm_l1();
            }
            let Some(factor) = factor(column, row) else { continue };
            changed = true;
            scale[i] *= factor;
            for k in 0..n {
                a[(k, i)] *= factor;
                a[(i, k)] /= factor;
            }
            if let Some(b) = &mut b {
                (0..b.ncols()).for_each(|k| b[(i, k)] /= factor);
            }
            if let Some(c) = &mut c {
                (0..c.nrows()).for_each(|k| c[(k, i)] *= factor);
            }
        }
        if !changed {
            break;
        }
    }
    scale
}

/// The power of two that brings the norms of a column and of a row together, if that is worth it.
fn factor(column: f64, row: f64) -> Option<f64> {
    let usable = |norm: f64| norm.is_finite() && norm > 0.0;
    if !usable(column) || !usable(row) {
        return None;
    }
    let exponent = (0.5 * (row.log2() - column.log2())).round().clamp(-500.0, 500.0);
    let factor = exponent.exp2();
    ((column * factor + row / factor) < 0.95 * (column + row)).then_some(factor)
}

/// Scales the columns of B (with D) and the rows of C (with D) to the size of A: units of inputs and outputs must not
/// decide about ranks. Returns the factors of inputs and outputs.
pub(crate) fn scale_signals(size: f64, b: &mut Mat<f64>, c: &mut Mat<f64>, d: &mut Mat<f64>) -> (Vec<f64>, Vec<f64>) {
    // Integrators alone have no size.
    let size = if size > 0.0 { size } else { 1.0 };
    let towards = |norm: f64| {
        let factor = (size / norm).log2().round().clamp(-900.0, 900.0).exp2();
        if norm > 0.0 && factor.is_finite() { factor } else { 1.0 }
    };
    let mut inputs = Vec::new();
    for j in 0..b.ncols() {
        let factor = towards(b.col(j).norm_l2().hypot(d.col(j).norm_l2()));
        (0..b.nrows()).for_each(|i| b[(i, j)] *= factor);
        (0..d.nrows()).for_each(|i| d[(i, j)] *= factor);
        inputs.push(factor);
    }
    let mut outputs = Vec::new();
    for i in 0..c.nrows() {
        let factor = towards(c.row(i).norm_l2().hypot(d.row(i).norm_l2()));
        (0..c.ncols()).for_each(|j| c[(i, j)] *= factor);
        (0..d.ncols()).for_each(|j| d[(i, j)] *= factor);
        outputs.push(factor);
    }
    (inputs, outputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badly_scaled_matrix_becomes_even() {
        let mut a = Mat::from_fn(3, 3, |i, j| [[1.0, 1e6, 1e12], [1e-6, 2.0, 1e6], [1e-12, 1e-6, 3.0]][i][j]);
        let scale = balance(&mut a, None, None);
        assert!((0..9).all(|k| (0.2..5.0).contains(&a[(k / 3, k % 3)])), "{a:?}");
        assert!(scale.iter().all(|factor| factor.log2().fract() == 0.0));
    }
}
