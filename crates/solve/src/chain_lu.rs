//! LU factorisation of matrices whose unknowns form chains: rods, ladders and lines, which couple each unknown with two
//! neighbours.
//!
//! Twisted factorisation (van der Vorst, *Large tridiagonal and block tridiagonal linear systems on vector and parallel
//! computers*, Parallel Computing 5, 1987): elimination runs from both ends to the middle without pivoting, so that the
//! processor works on two recurrences at once, each in registers. A diagonal that loses digits is reported, and the
//! general method takes over.

use crate::dense::alternating;
use crate::sparse::Pattern;

/// How far an update may exceed the diagonal it goes to. Both scale alike, whatever the units of rows and columns.
const GROWTH_LIMIT: f64 = 1e3;
const NONE: u32 = u32::MAX;

/// The unknowns from one end to the middle, and the factors.
#[derive(Clone, Debug, Default)]
struct Half {
    /// The unknown at each place; `NONE` for a place that only makes both halves equally long.
    unknowns: Vec<u32>,
    /// Where the values are: the diagonal, the entry in the row of the next unknown, the entry in its column.
    diagonal: Vec<u32>,
    down: Vec<u32>,
    up: Vec<u32>,
    /// What a place subtracts from the next, the inverse pivot, and what the next subtracts from it on the way back.
    multiplier: Vec<f64>,
    inverse: Vec<f64>,
    back: Vec<f64>,
    x: Vec<f64>,
}

impl Half {
    fn new(pattern: &Pattern, unknowns: Vec<u32>, middle: u32) -> Self {
        let place = |row: u32, column: u32| match row == NONE || column == NONE {
            true => NONE,
            false => pattern.position(row as usize, column as usize).map_or(NONE, |position| position as u32),
        };
        let next: Vec<u32> = unknowns.iter().skip(1).copied().chain([middle]).collect();
        let pairs = || unknowns.iter().copied().zip(next.iter().copied());
        let zeros = vec![0.0; unknowns.len()];
        Half {
            diagonal: unknowns.iter().map(|i| place(*i, *i)).collect(),
            down: pairs().map(|(this, next)| place(next, this)).collect(),
            up: pairs().map(|(this, next)| place(this, next)).collect(),
            multiplier: zeros.clone(),
            inverse: zeros.clone(),
            back: zeros.clone(),
            x: zeros,
            unknowns,
        }
    }

    /// Eliminates one place; returns what it subtracts from the diagonal of the next.
    fn eliminate(&mut self, place: usize, update: f64, values: &[f64], growth: &mut f64) -> f64 {
        let value = |index: u32| values.get(index as usize).copied().unwrap_or(0.0);
        let diagonal = if self.unknowns[place] == NONE { 1.0 } else { value(self.diagonal[place]) };
        let inverse = 1.0 / (diagonal - update);
        *growth = growth.max((update / diagonal).abs());
        let (down, up) = (value(self.down[place]), value(self.up[place]));
        self.inverse[place] = inverse;
        self.multiplier[place] = down * inverse;
        self.back[place] = up * inverse;
        self.multiplier[place] * up
    }

    fn load(&mut self, b: &[f64]) {
        for (x, unknown) in self.x.iter_mut().zip(&self.unknowns) {
            *x = b.get(*unknown as usize).copied().unwrap_or(0.0);
        }
    }

    fn store(&self, b: &mut [f64]) {
        for (x, unknown) in self.x.iter().zip(&self.unknowns) {
            if let Some(b) = b.get_mut(*unknown as usize) {
                *b = *x;
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct ChainLu {
    first: Half,
    last: Half,
    middle: u32,
    middle_place: u32,
    middle_inverse: f64,
}

impl ChainLu {
    /// None unless the unknowns form chains when directions are disregarded. Several chains count as one with gaps.
    pub fn new(pattern: &Pattern) -> Option<Self> {
        let mut order = chain_order(pattern)?;
        if order.is_empty() {
            return None;
        }
        if order.len().is_multiple_of(2) {
            order.push(NONE);
        }
        let half = order.len() / 2;
        let middle = order[half];
        let mut last = order.split_off(half + 1);
        last.reverse();
        order.truncate(half);
        Some(ChainLu {
            first: Half::new(pattern, order, middle),
            last: Half::new(pattern, last, middle),
            middle,
            middle_place: pattern.position(middle as usize, middle as usize)? as u32,
            middle_inverse: 0.0,
        })
    }

    /// Factorises the matrix with these values. False when that loses too many digits without pivoting.
    pub fn factor(&mut self, values: &[f64]) -> bool {
        let (mut update, mut other, mut growth) = (0.0, 0.0, 0.0_f64);
        for place in 0..self.first.unknowns.len() {
            update = self.first.eliminate(place, update, values, &mut growth);
            other = self.last.eliminate(place, other, values, &mut growth);
        }
        let diagonal = values.get(self.middle_place as usize).copied().unwrap_or(0.0);
        growth = growth.max((update / diagonal).abs()).max((other / diagonal).abs());
        self.middle_inverse = 1.0 / (diagonal - update - other);
        // The inverses are finite unless a pivot vanished, which one infinite value carries to the middle or to `growth`.
        growth <= GROWTH_LIMIT && self.middle_inverse.is_finite()
    }

    /// The sign of the determinant: rows and columns have one order.
    pub fn orientation(&self) -> f64 {
        let inverses = self.first.inverse.iter().chain(&self.last.inverse).chain([&self.middle_inverse]);
        alternating(inverses.filter(|inverse| **inverse < 0.0).count())
    }

    /// Overwrites `b` by the solution.
    pub fn solve(&mut self, b: &mut [f64]) {
        let (first, last) = (&mut self.first, &mut self.last);
        first.load(b);
        last.load(b);
        let (mut carried, mut other) = (0.0, 0.0);
        let multipliers = first.multiplier.iter().zip(&last.multiplier);
        for ((x, y), (m, n)) in first.x.iter_mut().zip(&mut last.x).zip(multipliers) {
            *x -= carried;
            *y -= other;
            (carried, other) = (m * *x, n * *y);
        }
        let Some(middle) = b.get_mut(self.middle as usize) else { return };
        *middle = (*middle - carried - other) * self.middle_inverse;
        let (mut x_next, mut y_next) = (*middle, *middle);
        let inverses = first.inverse.iter().zip(&last.inverse).rev();
        let backs = first.back.iter().zip(&last.back).rev();
        for (((x, y), (i, j)), (u, v)) in first.x.iter_mut().zip(&mut last.x).rev().zip(inverses).zip(backs) {
            x_next = *x * i - u * x_next;
            y_next = *y * j - v * y_next;
            (*x, *y) = (x_next, y_next);
        }
        first.store(b);
        last.store(b);
    }
}

/// The unknowns in the order of their chains, if no one has more than two neighbours and no chain is closed.
fn chain_order(pattern: &Pattern) -> Option<Vec<u32>> {
    let n = pattern.columns;
    let mut neighbours = vec![[NONE; 2]; n];
    let mut join = |i: usize, j: u32| -> Option<()> {
        let places = &mut neighbours[i];
        if !places.contains(&j) {
            *places.iter_mut().find(|place| **place == NONE)? = j;
        }
        Some(())
    };
    for j in 0..n {
        for i in pattern.column(j).iter().filter(|i| **i as usize != j) {
            join(*i as usize, j as u32)?;
            join(j, *i)?;
        }
    }
    let mut order = Vec::with_capacity(n + 1);
    let mut seen = vec![false; n];
    for end in 0..n {
        if seen[end] || neighbours[end][1] != NONE {
            continue;
        }
        let mut at = end as u32;
        while at != NONE {
            seen[at as usize] = true;
            order.push(at);
            let next = neighbours[at as usize].into_iter().find(|next| *next != NONE && !seen[*next as usize]);
            at = next.unwrap_or(NONE);
        }
    }
    (order.len() == n).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::SparseMatrix;
    use crate::sparse_lu::SparseLu;
    use proptest::prelude::*;

    #[test]
    fn only_open_chains_qualify() {
        let pattern = |entries: &[(usize, usize)], n: usize| {
            Pattern::from_entries(n, n, entries.iter().copied().chain((0..n).map(|i| (i, i))))
        };
        assert_eq!(chain_order(&pattern(&[(3, 1), (1, 0), (0, 2)], 4)), Some(vec![2, 0, 1, 3]));
        assert_eq!(chain_order(&pattern(&[(0, 1), (2, 3)], 5)), Some(vec![0, 1, 2, 3, 4]));
        assert_eq!(chain_order(&pattern(&[(0, 1), (1, 2), (2, 0)], 3)), None);
        assert_eq!(chain_order(&pattern(&[(0, 1), (0, 2), (0, 3)], 4)), None);
    }

    #[test]
    fn lost_digits_are_reported() {
        let pattern = Pattern::from_entries(3, 3, [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (2, 2)]);
        let mut lu = ChainLu::new(&pattern).unwrap();
        assert!(lu.factor(&[2.0, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0]));
        for hopeless in [0.0, 1e-9, f64::NAN] {
            assert!(!lu.factor(&[hopeless, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0]), "{hopeless}");
        }
        // Singular in the middle.
        assert!(!lu.factor(&[1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]));
    }

    proptest! {
        #[test]
        fn agrees_with_the_general_method(
            n in 1usize..40,
            couplings in proptest::collection::vec((-1.0f64..1.0, -1.0f64..1.0, any::<bool>()), 40),
            diagonal in proptest::collection::vec(prop_oneof![1.5f64..3.0, -3.0f64..-1.5], 40),
            shuffle in any::<u64>(),
        ) {
            let mut names: Vec<usize> = (0..n).collect();
            names.sort_by_key(|i| (*i as u64 + 1).wrapping_mul(shuffle | 1));
            let mut triplets: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, diagonal[i])).collect();
            for (pair, (down, up, joined)) in names.windows(2).zip(&couplings) {
                if *joined {
                    triplets.extend([(pair[0], pair[1], *up), (pair[1], pair[0], *down)]);
                }
            }
            let matrix = SparseMatrix::from_triplets(n, n, &triplets);
            let mut chain = ChainLu::new(&matrix.pattern).unwrap();
            let mut general = SparseLu::new(&matrix.pattern).unwrap();
            general.factor(&matrix.values).unwrap();
            prop_assert!(chain.factor(&matrix.values));
            prop_assert_eq!(chain.orientation(), general.orientation());
            let mut x: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            let mut y = x.clone();
            chain.solve(&mut x);
            general.solve(&mut y);
            for (x, y) in x.iter().zip(&y) {
                prop_assert!((x - y).abs() < 1e-12 * (1.0 + y.abs()), "{} {}", x, y);
            }
        }
    }
}
