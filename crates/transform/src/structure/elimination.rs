//! Which rows of a sparse matrix of whole numbers are combinations of each other: elimination without fractions.
//!
//! A row that alone holds some column takes part in no dependency and is peeled off, as long as there are such; of
//! ordinary models nothing remains. The core is eliminated with the pivot that promises the least fill (shortest row, in it
//! the rarest column; Markowitz 1957), each row with the combination of given rows that it is by then, divided by the
//! common divisor. The work is bounded: a core that fills up too much keeps its dependencies to itself.

use rustc_hash::FxHashMap;

/// Numbers with what they belong to, ascending, none of them zero.
pub type Terms = Vec<(u32, i128)>;

/// Entries touched for each entry given, and in any case.
const WORK_PER_ENTRY: usize = 60;
const LEAST_WORK: usize = 20_000;

/// Independent combinations of rows that vanish: the rows in each with their factors.
pub fn dependencies(rows: &[Vec<(u32, i64)>]) -> Vec<Terms> {
    let core = core(rows);
    if core.is_empty() { Vec::new() } else { Elimination::new(rows, core).run() }
}

/// The rows that are left when those that alone hold a column are taken away again and again.
fn core(rows: &[Vec<(u32, i64)>]) -> Vec<u32> {
    let mut holders: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (row, terms) in rows.iter().enumerate() {
        for &(column, _) in terms {
            holders.entry(column).or_default().push(row as u32);
        }
    }
    let mut count: FxHashMap<u32, usize> = holders.iter().map(|(&column, rows)| (column, rows.len())).collect();
    let mut single: Vec<u32> = count.iter().filter(|(_, count)| **count == 1).map(|(&column, _)| column).collect();
    let mut peeled = vec![false; rows.len()];
    while let Some(column) = single.pop() {
        let Some(&row) = holders.get(&column).and_then(|rows| rows.iter().find(|&&row| !peeled[row as usize])) else {
            continue;
        };
        peeled[row as usize] = true;
        for (other, _) in &rows[row as usize] {
            if let Some(left) = count.get_mut(other) {
                *left -= 1;
                if *left == 1 {
                    single.push(*other);
                }
            }
        }
    }
    (0..rows.len() as u32).filter(|&row| !peeled[row as usize]).collect()
}

/// A row as it stands, and the combination of given rows it is.
struct Row {
    terms: Terms,
    combination: Terms,
}

struct Elimination {
    rows: Vec<Option<Row>>,
    /// Rows that hold a column, some perhaps no longer.
    holders: FxHashMap<u32, Vec<usize>>,
    /// Rows by length, some perhaps of another length by now.
    by_length: std::collections::BinaryHeap<std::cmp::Reverse<(usize, usize)>>,
    budget: usize,
}

impl Elimination {
    fn new(given: &[Vec<(u32, i64)>], core: Vec<u32>) -> Self {
        let mut this = Self {
            rows: Vec::new(),
            holders: FxHashMap::default(),
            by_length: std::collections::BinaryHeap::new(),
            budget: LEAST_WORK,
        };
        for row in core {
            let mut terms: Terms = given[row as usize].iter().map(|&(column, value)| (column, value.into())).collect();
            terms.sort_unstable();
            this.budget += WORK_PER_ENTRY * terms.len();
            for &(column, _) in &terms {
                this.holders.entry(column).or_default().push(this.rows.len());
            }
            this.by_length.push(std::cmp::Reverse((terms.len(), this.rows.len())));
            this.rows.push(Some(Row { terms, combination: vec![(row, 1)] }));
        }
        this
    }

    fn run(mut self) -> Vec<Terms> {
        let mut found = Vec::new();
        while let Some(std::cmp::Reverse((length, index))) = self.by_length.pop() {
            match &self.rows[index] {
                Some(row) if row.terms.len() == length => {}
                _ => continue,
            }
            let Some(pivot) = self.rows[index].take() else { continue };
            if pivot.terms.is_empty() {
                found.push(pivot.combination);
            } else if self.remove(&pivot).is_none() {
                break;
            }
        }
        found
    }

    /// Eliminates the rarest column of the pivot from all other rows; `None` when that has become too much work.
    fn remove(&mut self, pivot: &Row) -> Option<()> {
        let rarity = |column: &u32| self.holders.get(column).map_or(0, Vec::len);
        let column = pivot.terms.iter().map(|(column, _)| *column).min_by_key(rarity)?;
        for index in self.holders.remove(&column)? {
            let Some(row) = &self.rows[index] else { continue };
            let Some(next) = reduced(row, pivot, column)? else { continue };
            let cost = row.terms.len() + row.combination.len() + pivot.terms.len() + pivot.combination.len();
            self.budget = self.budget.checked_sub(cost)?;
            for &(new, _) in &next.terms {
                if value(&row.terms, new) == 0 {
                    self.holders.entry(new).or_default().push(index);
                }
            }
            self.by_length.push(std::cmp::Reverse((next.terms.len(), index)));
            self.rows[index] = Some(next);
        }
        Some(())
    }
}

fn value(terms: &Terms, key: u32) -> i128 {
    terms.binary_search_by_key(&key, |(own, _)| *own).map_or(0, |place| terms[place].1)
}

/// `row` without `column`: `Some(None)` if it does not hold it, `None` if numbers grow too large.
fn reduced(row: &Row, pivot: &Row, column: u32) -> Option<Option<Row>> {
    let (a, b) = (value(&row.terms, column), value(&pivot.terms, column));
    if a == 0 {
        return Some(None);
    }
    let divisor = greatest_common_divisor(a, b);
    let (up, down) = (b / divisor, a / divisor);
    let mut next = Row {
        terms: combined(&row.terms, up, &pivot.terms, down)?,
        combination: combined(&row.combination, up, &pivot.combination, down)?,
    };
    let numbers = next.terms.iter().chain(&next.combination).map(|(_, value)| *value);
    let common = numbers.fold(0, greatest_common_divisor).max(1);
    if common > 1 {
        next.terms.iter_mut().chain(&mut next.combination).for_each(|(_, value)| *value /= common);
    }
    Some(Some(next))
}

/// `up·a − down·b`.
fn combined(a: &Terms, up: i128, b: &Terms, down: i128) -> Option<Terms> {
    let mut result = Vec::with_capacity(a.len() + b.len());
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let key = match (left.peek(), right.peek()) {
            (None, None) => return Some(result),
            (Some((a, _)), None) => *a,
            (None, Some((b, _))) => *b,
            (Some((a, _)), Some((b, _))) => *a.min(b),
        };
        let x = left.next_if(|(own, _)| *own == key).map_or(0, |(_, value)| *value);
        let y = right.next_if(|(own, _)| *own == key).map_or(0, |(_, value)| *value);
        let sum = up.checked_mul(x)?.checked_sub(down.checked_mul(y)?)?;
        if sum != 0 {
            result.push((key, sum));
        }
    }
}

fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

/// Numbers multiplied by their least common denominator, and that denominator: `0.5` and `0.1` become 5 and 1 by 10.
pub fn whole(values: &[f64]) -> Option<(Vec<i64>, i64)> {
    let fractions: Option<Vec<(i64, i64)>> = values.iter().map(|&value| fraction(value)).collect();
    let fractions = fractions?;
    let mut common: i64 = 1;
    for &(_, denominator) in &fractions {
        let divisor = greatest_common_divisor(common.into(), denominator.into()) as i64;
        common = common.checked_mul(denominator / divisor).filter(|&common| common <= 1_000_000_000)?;
    }
    let scaled = fractions.iter().map(|&(numerator, denominator)| numerator.checked_mul(common / denominator));
    Some((scaled.collect::<Option<_>>()?, common))
}

/// The fraction with the smallest denominator that is this number to the last bit, by its continued fraction.
fn fraction(value: f64) -> Option<(i64, i64)> {
    const LARGEST: f64 = 1e6;
    if !value.is_finite() || value.abs() > 1e9 {
        return None;
    }
    let (mut p, mut q) = ((1.0, 0.0), (0.0, 1.0));
    let mut rest = value;
    for _ in 0..32 {
        let whole = rest.floor();
        p = (whole * p.0 + p.1, p.0);
        q = (whole * q.0 + q.1, q.0);
        if q.0.abs() > LARGEST || p.0.abs() > 1e15 {
            return None;
        }
        if p.0 / q.0 == value {
            return Some((p.0 as i64, q.0 as i64));
        }
        rest = 1.0 / (rest - whole);
        if !rest.is_finite() {
            return None;
        }
    }
    None
}
