//! Rank-revealing elimination by Householder reflections, in columns that are chosen by their length.

use faer::Mat;

/// A reflection I - β v vᵀ of the rows from `start` on.
pub(crate) struct Reflection {
    pub start: usize,
    pub vector: Vec<f64>,
    pub beta: f64,
}

impl Reflection {
    /// Maps `values` onto a multiple of the first unit vector.
    fn of(start: usize, values: Vec<f64>) -> Self {
        let mut vector = values;
        let norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
        let first = vector.first().copied().unwrap_or(0.0);
        let head = first + if first >= 0.0 { norm } else { -norm };
        if let Some(value) = vector.first_mut() {
            *value = head;
        }
        let square: f64 = vector.iter().map(|value| value * value).sum();
        let beta = if square > 0.0 { 2.0 / square } else { 0.0 };
        Self { start, vector, beta }
    }

    pub fn apply_left(&self, matrix: &mut Mat<f64>) {
        for j in 0..matrix.ncols() {
            let column = &mut matrix.col_as_slice_mut(j)[self.start..];
            let product: f64 = column.iter().zip(&self.vector).map(|(x, v)| x * v).sum();
            let factor = self.beta * product;
            column.iter_mut().zip(&self.vector).for_each(|(x, v)| *x -= factor * v);
        }
    }

    pub fn apply_right(&self, matrix: &mut Mat<f64>) {
        let mut product = vec![0.0; matrix.nrows()];
        for (k, v) in self.vector.iter().enumerate() {
            let column = matrix.col_as_slice(self.start + k);
            product.iter_mut().zip(column).for_each(|(p, x)| *p += v * x);
        }
        for (k, v) in self.vector.iter().enumerate() {
            let factor = self.beta * v;
            let column = matrix.col_as_slice_mut(self.start + k);
            column.iter_mut().zip(&product).for_each(|(x, p)| *x -= factor * p);
        }
    }
}

/// The reflections that bring `block` to a form with nonzero rows on top only, as many as its rank; they start at row
/// `offset` of the matrices that they are for. A column counts as zero when its rest is no longer than `tolerance`.
pub(crate) fn compress_rows(mut block: Mat<f64>, offset: usize, tolerance: f64) -> Vec<Reflection> {
    let (rows, columns) = (block.nrows(), block.ncols());
    let mut reflections = Vec::new();
    while reflections.len() < rows.min(columns) {
        let top = reflections.len();
        let length = |j: usize| block.col_as_slice(j)[top..].iter().map(|x| x * x).sum::<f64>().sqrt();
        let longest = (0..columns).map(|j| (j, length(j))).max_by(|x, y| x.1.total_cmp(&y.1));
        let Some((pivot, norm)) = longest else { break };
        if norm.is_nan() || norm <= tolerance {
            break;
        }
        let reflection = Reflection::of(top, block.col_as_slice(pivot)[top..].to_vec());
        reflection.apply_left(&mut block);
        reflections.push(Reflection { start: offset + top, ..reflection });
    }
    reflections
}
