//! How often each equation has to be differentiated: Pantelides' algorithm (SIAM J. Sci. Stat. Comput. 9, 1988) and
//! Pryce's Σ-method (BIT 41, 2001), two ways to the same offsets that check each other in tests.
//!
//! The signature matrix σ holds, for each equation and variable in it, the highest order of the variable's derivative.
//! Offsets c (equations) and d (variables) satisfy d_j − c_i ≥ σ_ij, with equality on a transversal. Pantelides is
//! written here in terms of offsets: an edge is usable if it is tight, and a set of equations that cannot be matched
//! over tight edges is differentiated as a whole. The system must have a perfect matching when orders are ignored;
//! otherwise neither method ends, so both refuse.

use super::{Incidence, Matching, NONE};

/// σ: an incidence with an order beside each entry.
#[derive(Clone, Debug)]
pub struct Signature {
    pub incidence: Incidence,
    pub orders: Vec<u32>,
    /// A lower bound for the highest derivative of each variable: it may be needed where it determines nothing.
    pub lowest: Vec<u32>,
}

impl Signature {
    /// The entries at which a differentiated equation holds a highest derivative: the pattern of the leading Jacobian.
    pub fn tight(&self, equations: &[u32], variables: &[u32]) -> Incidence {
        let incidence = &self.incidence;
        let mut builder = super::IncidenceBuilder::with_capacity(incidence.rows(), incidence.len());
        for (row, times) in equations.iter().enumerate() {
            builder.push_row(incidence.range(row).filter_map(|entry| {
                let column = incidence.column_of(entry);
                (self.orders[entry] + times == variables[column as usize]).then_some(column)
            }));
        }
        builder.finish(incidence.columns())
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offsets {
    /// How often each equation is differentiated.
    pub equations: Vec<u32>,
    /// The highest derivative of each variable that occurs then.
    pub variables: Vec<u32>,
    /// Matches each equation, differentiated as often as its offset says, with a highest derivative.
    pub matching: Matching,
}

/// One way to find the offsets. `None` if the system is structurally singular.
pub trait OffsetMethod {
    fn offsets(&self, signature: &Signature) -> Option<Offsets>;
}

pub struct Pantelides;

impl OffsetMethod for Pantelides {
    fn offsets(&self, signature: &Signature) -> Option<Offsets> {
        let incidence = &signature.incidence;
        let regular = Matching::maximum(incidence);
        if !regular.is_perfect() {
            return None;
        }
        let mut run = PantelidesRun::new(signature);
        run.start();
        let open: Vec<u32> = run.matching.unmatched_rows().collect();
        for row in open {
            run.match_row(row);
        }
        Some(Offsets { equations: run.c, variables: run.d, matching: run.matching })
    }
}

struct PantelidesRun<'a> {
    signature: &'a Signature,
    c: Vec<u32>,
    d: Vec<u32>,
    matching: Matching,
    row_mark: Vec<u32>,
    column_mark: Vec<u32>,
    mark: u32,
    cursor: Vec<u32>,
    coloured_rows: Vec<u32>,
    coloured_columns: Vec<u32>,
}

impl<'a> PantelidesRun<'a> {
    fn new(signature: &'a Signature) -> Self {
        let incidence = &signature.incidence;
        let mut d = signature.lowest.clone();
        for (entry, &order) in signature.orders.iter().enumerate() {
            let highest = &mut d[incidence.column_of(entry) as usize];
            *highest = order.max(*highest);
        }
        Self {
            signature,
            c: vec![0; incidence.rows()],
            d,
            matching: Matching::empty(incidence.rows(), incidence.columns()),
            row_mark: vec![0; incidence.rows()],
            column_mark: vec![0; incidence.columns()],
            mark: 0,
            cursor: vec![0; incidence.rows()],
            coloured_rows: Vec::new(),
            coloured_columns: Vec::new(),
        }
    }

    /// A maximum matching over what is tight before anything is differentiated.
    fn start(&mut self) {
        let tight = self.signature.tight(&self.c, &self.d);
        self.matching.extend(&tight);
    }

    fn is_tight(&self, row: usize, entry: usize) -> bool {
        let column = self.signature.incidence.column_of(entry) as usize;
        self.signature.orders[entry] + self.c[row] == self.d[column]
    }

    fn match_row(&mut self, row: u32) {
        while !self.augment(row) {
            for &row in &self.coloured_rows {
                self.c[row as usize] += 1;
            }
            for &column in &self.coloured_columns {
                self.d[column as usize] += 1;
            }
        }
    }

    fn augment(&mut self, root: u32) -> bool {
        self.mark += 1;
        self.coloured_rows.clear();
        self.coloured_columns.clear();
        let mut stack = vec![root];
        self.colour_row(root);
        while let Some(&row) = stack.last() {
            match self.next_column(row) {
                None => {
                    stack.pop();
                }
                Some(column) => {
                    let owner = self.matching.row_of_column[column as usize];
                    if owner == NONE {
                        self.apply(stack, column);
                        return true;
                    }
                    if self.row_mark[owner as usize] != self.mark {
                        self.colour_row(owner);
                        stack.push(owner);
                    }
                }
            }
        }
        false
    }

    fn colour_row(&mut self, row: u32) {
        self.row_mark[row as usize] = self.mark;
        self.cursor[row as usize] = 0;
        self.coloured_rows.push(row);
    }

    /// The next tight column of the row that this search has not seen.
    fn next_column(&mut self, row: u32) -> Option<u32> {
        let range = self.signature.incidence.range(row as usize);
        while (self.cursor[row as usize] as usize) < range.len() {
            let entry = range.start + self.cursor[row as usize] as usize;
            self.cursor[row as usize] += 1;
            let column = self.signature.incidence.column_of(entry);
            if self.column_mark[column as usize] != self.mark && self.is_tight(row as usize, entry) {
                self.column_mark[column as usize] = self.mark;
                self.coloured_columns.push(column);
                return Some(column);
            }
        }
        None
    }

    fn apply(&mut self, mut stack: Vec<u32>, free: u32) {
        let mut column = free;
        while let Some(row) = stack.pop() {
            let released = self.matching.column_of_row[row as usize];
            self.matching.assign(row, column);
            column = released;
        }
    }
}

/// Pryce: a transversal of highest value, then the smallest offsets that make it tight.
pub struct SigmaMethod;

impl OffsetMethod for SigmaMethod {
    fn offsets(&self, signature: &Signature) -> Option<Offsets> {
        let matching = highest_value_transversal(signature)?;
        let incidence = &signature.incidence;
        let mut c = vec![0u32; incidence.rows()];
        let mut d = signature.lowest.clone();
        let mut own_order = vec![0u32; incidence.rows()];
        for (row, own) in own_order.iter_mut().enumerate() {
            for entry in incidence.range(row) {
                if incidence.column_of(entry) == matching.column_of_row[row] {
                    *own = signature.orders[entry].max(*own);
                }
            }
        }
        loop {
            let mut changed = false;
            for (row, times) in c.iter().enumerate() {
                for entry in incidence.range(row) {
                    let highest = &mut d[incidence.column_of(entry) as usize];
                    *highest = (signature.orders[entry] + times).max(*highest);
                }
            }
            for (row, times) in c.iter_mut().enumerate() {
                let needed = d[matching.column_of_row[row] as usize] - own_order[row];
                changed |= needed != *times;
                *times = needed;
            }
            if !changed {
                return Some(Offsets { equations: c, variables: d, matching });
            }
        }
    }
}

/// Successive best augmenting paths (Bellman–Ford with a queue): quadratic, meant for the yardstick and small modes.
fn highest_value_transversal(signature: &Signature) -> Option<Matching> {
    let incidence = &signature.incidence;
    let (rows, columns) = (incidence.rows(), incidence.columns());
    if rows != columns {
        return None;
    }
    let mut matching = Matching::empty(rows, columns);
    let value = |row: usize, column: u32| -> i64 {
        incidence
            .range(row)
            .filter(|&entry| incidence.column_of(entry) == column)
            .map(|entry| i64::from(signature.orders[entry]))
            .max()
            .unwrap_or(0)
    };
    for root in 0..rows {
        // The gain of the best alternating path from the root that ends in each column.
        let mut gain = vec![i64::MIN; columns];
        let mut from = vec![NONE; columns];
        let mut queue = std::collections::VecDeque::from([(root, 0i64)]);
        while let Some((row, base)) = queue.pop_front() {
            for entry in incidence.range(row) {
                let column = incidence.column_of(entry) as usize;
                let reached = base + i64::from(signature.orders[entry]);
                if reached <= gain[column] {
                    continue;
                }
                gain[column] = reached;
                from[column] = row as u32;
                let owner = matching.row_of_column[column];
                if owner != NONE {
                    queue.push_back((owner as usize, reached - value(owner as usize, column as u32)));
                }
            }
        }
        let best = (0..columns)
            .filter(|&column| gain[column] > i64::MIN && matching.row_of_column[column] == NONE)
            .max_by_key(|&column| gain[column])?;
        let mut column = best as u32;
        loop {
            let row = from[column as usize];
            let released = matching.column_of_row[row as usize];
            matching.assign(row, column);
            if row as usize == root {
                break;
            }
            column = released;
        }
    }
    Some(matching)
}
