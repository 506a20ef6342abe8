//! Which rows of a sparse matrix of numbers are combinations of each other.
//!
//! A row that alone holds some column takes part in no dependency and is peeled off, as long as there are such; of
//! ordinary models nothing remains. The core is eliminated with the pivot that promises the least fill (shortest row, in it
//! the rarest column; Markowitz 1957), each row with the combination of given rows that it is by then. The work is
//! bounded: a core that fills up too much keeps its dependencies to itself.
//!
//! Rows of fractions are multiplied by their common denominator and eliminated without fractions, so their numbers stay
//! whole and exact. Of other numbers each carries the size of what it was computed from: a sum that is smaller than that by
//! as much as rounding reaches is zero, whatever the scale of its row. Where there are such numbers, no pivot is small beside
//! the others of its row, in units that make the largest numbers of all rows and columns alike (Ruiz, *A scaling algorithm to
//! equilibrate both rows and columns norms in matrices*, 2001): numbers that had grown would make sums of all others vanish.

use rustc_hash::FxHashMap;

/// Numbers with what they belong to, ascending, none of them zero.
pub type Terms = Vec<(u32, f64)>;

/// Entries touched for each entry given, and in any case.
const WORK_PER_ENTRY: usize = 60;
const LEAST_WORK: usize = 20_000;

/// A sum that is smaller than its terms by this factor is a rounding error.
const ROUNDING: f64 = 1e-12;

/// A pivot is at least this fraction of the largest number of its row.
const SMALLEST_PIVOT: f64 = 0.1;

/// What is found to vanish does so, column by column, up to this fraction of its terms.
const VANISHING: f64 = 1e-10;

/// Whole numbers below this one are exact.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Independent combinations of rows that vanish: the rows in each with their factors.
pub fn dependencies(rows: &[Terms]) -> Vec<Terms> {
    let core = core(rows);
    if core.is_empty() {
        return Vec::new();
    }
    let mut found = Elimination::new(rows, core).run();
    found.retain(|combination| vanishes(rows, combination));
    found
}

/// Whether a combination of given rows is zero in each column, compared with its terms there.
fn vanishes(rows: &[Terms], combination: &Terms) -> bool {
    let mut sums: FxHashMap<u32, (f64, f64)> = FxHashMap::default();
    for &(row, factor) in combination {
        for &(column, value) in &rows[row as usize] {
            let (sum, size) = sums.entry(column).or_default();
            *sum += factor * value;
            *size = size.max((factor * value).abs());
        }
    }
    sums.values().all(|(sum, size)| sum.abs() <= VANISHING * size)
}

/// Units of the columns in which, with suitable units of the rows, the largest number of each row and column is about one.
fn column_units(rows: &[&Terms]) -> FxHashMap<u32, f64> {
    const ROUNDS: usize = 12;
    let mut units: FxHashMap<u32, f64> = FxHashMap::default();
    rows.iter().for_each(|terms| units.extend(terms.iter().map(|&(column, _)| (column, 1.0))));
    let mut row_units = vec![1.0; rows.len()];
    let mut largest: FxHashMap<u32, f64> = FxHashMap::default();
    for _ in 0..ROUNDS {
        largest.clear();
        for (terms, unit) in rows.iter().zip(&mut row_units) {
            let mut most = 0.0f64;
            for (column, value) in *terms {
                let size = value.abs() * *unit * units.get(column).copied().unwrap_or(1.0);
                most = most.max(size);
                let of_column = largest.entry(*column).or_default();
                *of_column = of_column.max(size);
            }
            *unit /= positive_root(most);
        }
        units.iter_mut().for_each(|(column, unit)| *unit /= positive_root(largest.get(column).copied().unwrap_or(1.0)));
    }
    units
}

/// The square root of a number, or one where that says nothing.
fn positive_root(size: f64) -> f64 {
    if size > 0.0 && size.is_finite() { size.sqrt() } else { 1.0 }
}

/// The rows that are left when those that alone hold a column are taken away again and again.
fn core(rows: &[Terms]) -> Vec<u32> {
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

/// A number and the size of the largest term it was computed from.
#[derive(Clone, Copy)]
struct Number {
    value: f64,
    size: f64,
}

impl Number {
    const ZERO: Number = Number { value: 0.0, size: 0.0 };

    fn new(value: f64) -> Self {
        Self { value, size: value.abs() }
    }

    /// `up·self − down·other`.
    fn combined(self, up: f64, other: Number, down: f64) -> Number {
        let value = up * self.value - down * other.value;
        let size = (up.abs() * self.size).max(down.abs() * other.size);
        Number { value: if value.abs() <= ROUNDING * size { 0.0 } else { value }, size }
    }
}

type Numbers = Vec<(u32, Number)>;

/// A row as it stands, and the combination of given rows it is.
struct Row {
    terms: Numbers,
    combination: Numbers,
    /// All its numbers are whole.
    whole: bool,
}

impl Row {
    fn given(row: u32, terms: &Terms) -> Self {
        let values: Vec<f64> = terms.iter().map(|(_, value)| *value).collect();
        let (values, scale, is_whole) = match whole(&values) {
            Some((values, scale)) => (values.into_iter().map(|value| value as f64).collect(), scale as f64, true),
            None => (values, 1.0, false),
        };
        let mut terms: Numbers = terms.iter().zip(values).map(|((key, _), value)| (*key, Number::new(value))).collect();
        terms.sort_unstable_by_key(|(key, _)| *key);
        Self { terms, combination: vec![(row, Number::new(scale))], whole: is_whole }
    }

    fn numbers(&mut self) -> impl Iterator<Item = &mut Number> {
        self.terms.iter_mut().chain(&mut self.combination).map(|(_, number)| number)
    }

    /// Divides by the common divisor of whole numbers.
    fn shorten(&mut self) {
        let common = self.numbers().fold(0.0, |divisor, number| greatest_common_divisor(divisor, number.value));
        if common > 1.0 {
            self.numbers().for_each(|number| *number = Number::new(number.value / common));
        }
    }
}

struct Elimination {
    rows: Vec<Option<Row>>,
    /// Rows that hold a column, some perhaps no longer.
    holders: FxHashMap<u32, Vec<usize>>,
    /// Rows by length, some perhaps of another length by now.
    by_length: std::collections::BinaryHeap<std::cmp::Reverse<(usize, usize)>>,
    /// In which numbers of different columns are compared; none where all numbers are whole, and any pivot does.
    column_units: Option<FxHashMap<u32, f64>>,
    budget: usize,
}

impl Elimination {
    fn new(given: &[Terms], core: Vec<u32>) -> Self {
        let mut this = Self {
            rows: Vec::new(),
            holders: FxHashMap::default(),
            by_length: std::collections::BinaryHeap::new(),
            column_units: None,
            budget: LEAST_WORK,
        };
        let terms: Vec<&Terms> = core.iter().map(|&row| &given[row as usize]).collect();
        for row in core {
            let row = Row::given(row, &given[row as usize]);
            this.budget += WORK_PER_ENTRY * row.terms.len();
            for &(column, _) in &row.terms {
                this.holders.entry(column).or_default().push(this.rows.len());
            }
            this.by_length.push(std::cmp::Reverse((row.terms.len(), this.rows.len())));
            this.rows.push(Some(row));
        }
        if !this.rows.iter().flatten().all(|row| row.whole) {
            this.column_units = Some(column_units(&terms));
        }
        this
    }

    /// The column to eliminate: the rarest one of those with a pivot that is not small.
    fn pivot_column(&self, pivot: &Row) -> Option<u32> {
        let rarity = |column: &u32| self.holders.get(column).map_or(0, Vec::len);
        let columns = pivot.terms.iter();
        let Some(units) = &self.column_units else {
            return columns.map(|(column, _)| *column).min_by_key(rarity);
        };
        let size = |(column, number): &(u32, Number)| number.value.abs() * units.get(column).copied().unwrap_or(1.0);
        let least = SMALLEST_PIVOT * pivot.terms.iter().map(size).fold(0.0, f64::max);
        columns.filter(|term| size(term) >= least).map(|(column, _)| *column).min_by_key(rarity)
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
                found.push(pivot.combination.iter().map(|&(row, number)| (row, number.value)).collect());
            } else if self.remove(&pivot).is_none() {
                break;
            }
        }
        found
    }

    /// Eliminates the rarest column of the pivot from all other rows; `None` when that has become too much work.
    fn remove(&mut self, pivot: &Row) -> Option<()> {
        let column = self.pivot_column(pivot)?;
        for index in self.holders.remove(&column)? {
            let Some(row) = &self.rows[index] else { continue };
            let Some(next) = reduced(row, pivot, column)? else { continue };
            let cost = row.terms.len() + row.combination.len() + pivot.terms.len() + pivot.combination.len();
            self.budget = self.budget.checked_sub(cost)?;
            for &(new, _) in &next.terms {
                if value(&row.terms, new) == 0.0 {
                    self.holders.entry(new).or_default().push(index);
                }
            }
            self.by_length.push(std::cmp::Reverse((next.terms.len(), index)));
            self.rows[index] = Some(next);
        }
        Some(())
    }
}

fn value(terms: &Numbers, key: u32) -> f64 {
    terms.binary_search_by_key(&key, |(own, _)| *own).map_or(0.0, |place| terms[place].1.value)
}

/// `row` without `column`: `Some(None)` if it does not hold it, `None` if numbers grow too large.
fn reduced(row: &Row, pivot: &Row, column: u32) -> Option<Option<Row>> {
    let (a, b) = (value(&row.terms, column), value(&pivot.terms, column));
    if a == 0.0 {
        return Some(None);
    }
    let is_whole = row.whole && pivot.whole;
    let (up, down) = if is_whole {
        let divisor = greatest_common_divisor(a, b);
        (b / divisor, a / divisor)
    } else {
        (1.0, a / b)
    };
    let mut next = Row {
        terms: combined(&row.terms, up, &pivot.terms, down, Some(column)),
        combination: combined(&row.combination, up, &pivot.combination, down, None),
        whole: is_whole,
    };
    if !next.numbers().all(|number| number.value.is_finite()) {
        return None;
    }
    if is_whole {
        if next.numbers().any(|number| number.value.abs() >= LARGEST_WHOLE) {
            next.whole = false;
        } else {
            next.shorten();
        }
    }
    Some(Some(next))
}

/// `up·a − down·b` without what is eliminated.
fn combined(a: &Numbers, up: f64, b: &Numbers, down: f64, eliminated: Option<u32>) -> Numbers {
    let mut result = Vec::with_capacity(a.len() + b.len());
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let key = match (left.peek(), right.peek()) {
            (None, None) => return result,
            (Some((a, _)), None) => *a,
            (None, Some((b, _))) => *b,
            (Some((a, _)), Some((b, _))) => *a.min(b),
        };
        let x = left.next_if(|(own, _)| *own == key).map_or(Number::ZERO, |(_, number)| *number);
        let y = right.next_if(|(own, _)| *own == key).map_or(Number::ZERO, |(_, number)| *number);
        let sum = x.combined(up, y, down);
        if sum.value != 0.0 && eliminated != Some(key) {
            result.push((key, sum));
        }
    }
}

/// Of whole numbers that are exact.
fn greatest_common_divisor(a: f64, b: f64) -> f64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0.0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Numbers multiplied by their least common denominator, and that denominator: `0.5` and `0.1` become 5 and 1 by 10.
pub fn whole(values: &[f64]) -> Option<(Vec<i64>, i64)> {
    let fractions: Option<Vec<(i64, i64)>> = values.iter().map(|&value| fraction(value)).collect();
    let fractions = fractions?;
    let mut common: i64 = 1;
    for &(_, denominator) in &fractions {
        let divisor = greatest_common_divisor(common as f64, denominator as f64) as i64;
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
