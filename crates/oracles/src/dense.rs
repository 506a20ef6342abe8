//! A small linear system by Gaussian elimination with a choice of pivots.

/// The solution; `None` if the matrix, given row after row, is singular.
pub fn solve(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| matrix[a * n + k].abs().total_cmp(&matrix[b * n + k].abs()))?;
        if matrix[pivot * n + k].abs() < 1e-9 {
            return None;
        }
        if pivot != k {
            for column in 0..n {
                matrix.swap(k * n + column, pivot * n + column);
            }
            right.swap(k, pivot);
        }
        for row in k + 1..n {
            let factor = matrix[row * n + k] / matrix[k * n + k];
            if factor != 0.0 {
                for column in k..n {
                    matrix[row * n + column] -= factor * matrix[k * n + column];
                }
                right[row] -= factor * right[k];
            }
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|column| matrix[k * n + column] * right[column]).sum();
        right[k] = (right[k] - known) / matrix[k * n + k];
    }
    Some(right)
}
