//! Sparse systems of linear equations over a field, for numbers and for rational functions alike.
//!
//! Elimination takes the shortest row first and of it the pivot whose column is shortest (after Markowitz); numbers
//! must not be small beside their row, rational functions should be simple. Networks are almost trees, so little fills
//! in, and the work is about linear.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What elimination needs of coefficients.
pub trait Field: Clone {
    /// Whether there is no rounding.
    const EXACT: bool;
    /// Zero.
    fn zero() -> Self;
    /// One.
    fn one() -> Self;
    /// Whether it is zero.
    fn is_zero(&self) -> bool;
    /// The sum.
    fn add(&self, other: &Self) -> Self;
    /// The product.
    fn multiply(&self, other: &Self) -> Self;
    /// The negative.
    fn negate(&self) -> Self;
    /// The reciprocal, where there is one.
    fn invert(&self) -> Option<Self>;
    /// Of numbers, to compare pivots.
    fn size(&self) -> f64;
    /// How much work it makes as a pivot.
    fn cost(&self) -> u32;
}

/// What cancels to less than this part of its terms is zero.
const ROUNDING: f64 = 1e-13;
/// A pivot is at least this part of the largest entry of its row.
const SMALLEST_PIVOT: f64 = 1e-3;

impl Field for f64 {
    const EXACT: bool = false;

    fn zero() -> Self {
        0.0
    }

    fn one() -> Self {
        1.0
    }

    fn is_zero(&self) -> bool {
        *self == 0.0
    }

    fn add(&self, other: &Self) -> Self {
        let sum = self + other;
        if sum.abs() <= ROUNDING * self.abs().max(other.abs()) { 0.0 } else { sum }
    }

    fn multiply(&self, other: &Self) -> Self {
        self * other
    }

    fn negate(&self) -> Self {
        -self
    }

    fn invert(&self) -> Option<Self> {
        (*self != 0.0 && self.is_finite()).then(|| 1.0 / self)
    }

    fn size(&self) -> f64 {
        self.abs()
    }

    fn cost(&self) -> u32 {
        0
    }
}

/// A sum of columns with coefficients, columns in increasing order, that is zero (as an equation) or a value.
pub type Row<F> = Vec<(u32, F)>;

/// `Σ coefficient·column = 0` for each row; the first `unknowns` columns are sought as functions of the others.
pub struct System<F> {
    /// How many columns are sought.
    pub unknowns: usize,
    /// The equations.
    pub rows: Vec<Row<F>>,
}

/// The rows that determine no unknown, what they say about the other columns, and the unknowns left open.
#[derive(Clone, Debug)]
pub struct Singular<F> {
    /// Rows that determine no unknown.
    pub rows: Vec<usize>,
    /// What they say about the other columns.
    pub constraints: Vec<Row<F>>,
    /// Unknowns that are left open.
    pub unknowns: Vec<usize>,
}

/// The sum of entries with equal columns, sorted, without zeros.
pub fn row<F: Field>(mut entries: Vec<(u32, F)>) -> Row<F> {
    entries.sort_by_key(|(column, _)| *column);
    let mut result: Row<F> = Vec::with_capacity(entries.len());
    for (column, value) in entries {
        match result.last_mut() {
            Some((last, sum)) if *last == column => *sum = sum.add(&value),
            _ => result.push((column, value)),
        }
    }
    result.retain(|(_, value)| !value.is_zero());
    result
}

/// `one + factor·other`.
pub fn combined<F: Field>(one: &[(u32, F)], factor: &F, other: &[(u32, F)]) -> Row<F> {
    let mut result = Vec::with_capacity(one.len() + other.len());
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    loop {
        let column = match (left.peek(), right.peek()) {
            (None, None) => return result,
            (Some((one, _)), None) => *one,
            (None, Some((other, _))) => *other,
            (Some((one, _)), Some((other, _))) => *one.min(other),
        };
        let first = left.next_if(|(it, _)| *it == column);
        let second = right.next_if(|(it, _)| *it == column);
        let value = match (first, second) {
            (Some((_, first)), Some((_, second))) => first.add(&factor.multiply(second)),
            (Some((_, first)), None) => first.clone(),
            (None, Some((_, second))) => factor.multiply(second),
            (None, None) => continue,
        };
        if !value.is_zero() {
            result.push((column, value));
        }
    }
}

impl<F: Field> System<F> {
    /// Each unknown as a sum of the columns behind the unknowns.
    pub fn solve(mut self) -> Result<Vec<Row<F>>, Singular<F>> {
        let unknowns = self.unknowns;
        let is_unknown = |column: u32| (column as usize) < unknowns;
        let mut in_rows: Vec<Vec<u32>> = vec![Vec::new(); unknowns];
        let mut heap = BinaryHeap::new();
        let open = |row: &Row<F>| row.iter().take_while(|(column, _)| is_unknown(*column)).count();
        for (index, row) in self.rows.iter().enumerate() {
            for (column, _) in row.iter().take_while(|(column, _)| is_unknown(*column)) {
                in_rows[*column as usize].push(index as u32);
            }
            heap.push(Reverse((open(row), index)));
        }
        let mut done = vec![false; self.rows.len()];
        let mut pivots: Vec<(usize, u32)> = Vec::new();
        let mut left_over = Vec::new();
        while let Some(Reverse((length, index))) = heap.pop() {
            if done[index] || open(&self.rows[index]) != length {
                continue;
            }
            done[index] = true;
            let Some(column) = pivot(&self.rows[index][..length], &in_rows) else {
                left_over.push(index);
                continue;
            };
            let pivot_row = std::mem::take(&mut self.rows[index]);
            let value = pivot_row.iter().find(|(other, _)| *other == column).map(|(_, value)| value.clone());
            let Some(inverse) = value.and_then(|value| value.invert()) else {
                left_over.push(index);
                continue;
            };
            for other in std::mem::take(&mut in_rows[column as usize]) {
                let other = other as usize;
                if done[other] {
                    continue;
                }
                let entry = self.rows[other].binary_search_by_key(&column, |(it, _)| *it);
                let Ok(entry) = entry else { continue };
                let factor = self.rows[other][entry].1.multiply(&inverse).negate();
                let mut made = combined(&self.rows[other], &factor, &pivot_row);
                // Rounding must not leave the pivot's column behind.
                made.retain(|(it, _)| *it != column);
                for (it, _) in made.iter().take_while(|(it, _)| is_unknown(*it)) {
                    if self.rows[other].binary_search_by_key(it, |(old, _)| *old).is_err() {
                        in_rows[*it as usize].push(other as u32);
                    }
                }
                self.rows[other] = made;
                heap.push(Reverse((open(&self.rows[other]), other)));
            }
            self.rows[index] = pivot_row;
            pivots.push((index, column));
        }
        if pivots.len() < unknowns {
            let mut solved = vec![false; unknowns];
            pivots.iter().for_each(|(_, column)| solved[*column as usize] = true);
            let unknowns = (0..unknowns).filter(|column| !solved[*column]).collect();
            let constraints = left_over.iter().map(|row| std::mem::take(&mut self.rows[*row])).collect();
            return Err(Singular { rows: left_over, constraints, unknowns });
        }
        Ok(self.substitute(&pivots))
    }

    fn substitute(&self, pivots: &[(usize, u32)]) -> Vec<Row<F>> {
        let mut solution: Vec<Row<F>> = vec![Vec::new(); self.unknowns];
        for (index, pivot) in pivots.iter().rev() {
            let row = &self.rows[*index];
            let inverse = row.iter().find(|(column, _)| column == pivot).and_then(|(_, value)| value.invert());
            let Some(factor) = inverse.map(|inverse| inverse.negate()) else { continue };
            let known = row.partition_point(|(column, _)| (*column as usize) < self.unknowns);
            let mut sum: Row<F> = row[known..].to_vec();
            for (column, value) in &row[..known] {
                if column != pivot {
                    sum = combined(&sum, value, &solution[*column as usize]);
                }
            }
            solution[*pivot as usize] =
                sum.into_iter().map(|(column, value)| (column, value.multiply(&factor))).collect();
        }
        solution
    }
}

fn pivot<F: Field>(row: &[(u32, F)], in_rows: &[Vec<u32>]) -> Option<u32> {
    let largest = row.iter().map(|(_, value)| value.size()).fold(0.0, f64::max);
    row.iter()
        .filter(|(_, value)| value.size() >= SMALLEST_PIVOT * largest)
        .min_by_key(|(column, value)| (value.cost(), in_rows[*column as usize].len()))
        .map(|(column, _)| *column)
}
