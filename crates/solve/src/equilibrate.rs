//! Units of rows and columns in which the largest entry of each is about one.
//!
//! Pivots are compared within a column, and what is left of one after elimination with what it was: both mean nothing where
//! equations or unknowns have units that are orders of magnitude apart. The iteration is that of Ruiz, *A scaling algorithm to
//! equilibrate both rows and columns norms in matrices* (2001), with powers of two, which change no digit.

/// Sizes within this factor of each other need no scaling.
const ALIKE: f64 = 1e6;
const MOST_ROUNDS: usize = 20;

/// Finds factors of rows and columns from the entries that `visit` shows. Rows and columns of zeros keep the factor one.
pub fn equilibrate(rows: &mut [f64], columns: &mut [f64], for_each_entry: impl Fn(&mut dyn FnMut(usize, usize, f64))) {
    rows.fill(1.0);
    columns.fill(1.0);
    let (mut of_row, mut of_column) = (vec![0.0f64; rows.len()], vec![0.0f64; columns.len()]);
    for _ in 0..MOST_ROUNDS {
        of_row.fill(0.0);
        of_column.fill(0.0);
        for_each_entry(&mut |row, column, value| {
            // In this order nothing overflows that does not have to.
            let size = (value * rows[row]).abs() * columns[column];
            of_row[row] = of_row[row].max(size);
            of_column[column] = of_column[column].max(size);
        });
        let mut changes = false;
        for (factor, size) in rows.iter_mut().zip(&of_row).chain(columns.iter_mut().zip(&of_column)) {
            let change = inverse_root(*size);
            changes |= change != 1.0;
            *factor *= change;
        }
        if !changes {
            return;
        }
    }
}

/// Whether positive sizes differ by orders of magnitude.
pub fn sizes_are_uneven(sizes: &[f64]) -> bool {
    let positive = sizes.iter().copied().filter(|&size| size > 0.0);
    let (least, most) = positive.fold((f64::INFINITY, 0.0f64), |(least, most), size| (least.min(size), most.max(size)));
    most > ALIKE * least
}

/// The power of two next to `1/√size`.
fn inverse_root(size: f64) -> f64 {
    if size > 0.0 && size.is_finite() { (-0.5 * size.log2()).round().exp2() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_do_not_matter() {
        let units = [1e-15, 1e9, 1e3];
        let entries: Vec<(usize, usize, f64)> = (0..9)
            .map(|k| (k / 3, k % 3))
            .map(|(i, j)| (i, j, units[2 - i] / units[j] * if i == j { 3.0 } else { 0.5 }))
            .collect();
        let (mut rows, mut columns) = ([0.0; 3], [0.0; 3]);
        equilibrate(&mut rows, &mut columns, |visit| entries.iter().for_each(|&(i, j, value)| visit(i, j, value)));
        for &(i, j, value) in &entries {
            let scaled = value * rows[i] * columns[j];
            assert!(scaled < 4.0 && (i != j || scaled > 0.25), "{i} {j} {scaled}");
        }
        assert!(sizes_are_uneven(&[1.0, 0.0, 1e7]) && !sizes_are_uneven(&[1.0, 0.0, 1e5]) && !sizes_are_uneven(&[]));
    }
}
