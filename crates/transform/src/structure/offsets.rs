//! How often each equation has to be differentiated: Pantelides' algorithm (SIAM J. Sci. Stat. Comput. 9, 1988) and
//! Pryce's Σ-method (BIT 41, 2001), two ways to the same offsets that check each other in tests.
//!
//! The signature matrix σ holds, for each equation and variable in it, the highest order of the variable's derivative.
//! Offsets c (equations) and d (variables) satisfy d_j − c_i ≥ σ_ij, with equality on a transversal. Pantelides is
//! written here in terms of offsets: an edge is usable if it is tight, and a set of equations that cannot be matched
//! over tight edges is differentiated as a whole. The system must have a perfect matching when orders are ignored;
//! otherwise neither method ends, so both refuse.
//!
//! Formally a differentiated equation holds what the equation held, one order higher. Derivatives given by annotations may
//! hold less or more (a rotation's derivative holds the angular velocity instead of the matrix), so `Pantelides::run` can
//! be told what each differentiated equation really holds.

use super::{Incidence, Matching, NONE};

/// σ: an incidence with an order beside each entry.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Which unknowns are in which equations.
    pub incidence: Incidence,
    /// The highest derivative of each entry.
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

/// How often equations and unknowns are differentiated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offsets {
    /// How often each equation is differentiated.
    pub equations: Vec<u32>,
    /// The highest derivative of each variable that occurs then.
    pub variables: Vec<u32>,
    /// Matches each equation, differentiated as often as its offset says, with a highest derivative.
    pub matching: Matching,
    /// The highest derivatives in each equation, differentiated as often as its offset says.
    pub tight: Incidence,
}

/// Why there are no offsets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No equations and unknowns can be matched.
    Singular,
    /// An equation could not be differentiated.
    NotDifferentiable,
    /// Differentiation does not come to an end.
    Endless,
}

/// More differentiations of one equation than any sensible model needs.
const MOST_DIFFERENTIATIONS: u32 = 20;

/// What an equation holds after so many differentiations: columns with the order of their highest derivatives.
pub type Entries = Vec<(u32, u32)>;

/// One way to find the offsets. `None` if the system is structurally singular.
pub trait OffsetMethod {
    /// The smallest offsets; `None` if the structure is singular.
    fn offsets(&self, signature: &Signature) -> Option<Offsets>;
}

/// The method of Pantelides.
pub struct Pantelides;

impl OffsetMethod for Pantelides {
    fn offsets(&self, signature: &Signature) -> Option<Offsets> {
        self.run(signature, &[], &mut |row, times| {
            let range = signature.incidence.range(row as usize);
            Some(range.map(|entry| (signature.incidence.column_of(entry), signature.orders[entry] + times)).collect())
        })
        .ok()
    }
}

impl Pantelides {
    /// `wanted` are columns to begin the matching with, `differentiate` gives what an equation holds after so many
    /// differentiations.
    pub fn run(
        &self,
        signature: &Signature,
        wanted: &[u32],
        differentiate: &mut dyn FnMut(u32, u32) -> Option<Entries>,
    ) -> Result<Offsets, Refusal> {
        if !Matching::near(&signature.incidence, wanted).is_perfect() {
            return Err(Refusal::Singular);
        }
        self.run_rows(signature, wanted, differentiate)
    }

    /// The same for a system that may have fewer equations than variables. When orders are ignored, there must be a
    /// matching of all equations; variables may be left over.
    pub fn run_rows(
        &self,
        signature: &Signature,
        wanted: &[u32],
        differentiate: &mut dyn FnMut(u32, u32) -> Option<Entries>,
    ) -> Result<Offsets, Refusal> {
        let mut run = PantelidesRun::new(signature);
        run.start(wanted);
        run.open = run.matching.unmatched_rows().collect();
        run.open.reverse();
        while let Some(row) = run.open.pop() {
            run.match_row(row, differentiate)?;
        }
        let tight = run.tight();
        Ok(Offsets { equations: run.c, variables: run.d, matching: run.matching, tight })
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
    /// What differentiated equations hold.
    actual: Vec<Option<Entries>>,
    /// Rows to be matched.
    open: Vec<u32>,
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
            actual: vec![None; incidence.rows()],
            open: Vec::new(),
        }
    }

    /// A maximum matching over what is tight before anything is differentiated.
    fn start(&mut self, wanted: &[u32]) {
        let tight = self.signature.tight(&self.c, &self.d);
        self.matching = Matching::near(&tight, wanted);
    }

    /// The entry of a row at a position, if it is tight; the outer `None` behind the last.
    fn entry(&self, row: usize, position: usize) -> Option<Option<u32>> {
        let (column, order) = match &self.actual[row] {
            Some(entries) => *entries.get(position)?,
            None => {
                let entry = self.signature.incidence.range(row).nth(position)?;
                (self.signature.incidence.column_of(entry), self.signature.orders[entry])
            }
        };
        Some((order == self.d[column as usize]).then_some(column))
    }

    fn tight(&self) -> Incidence {
        let mut builder = super::IncidenceBuilder::with_capacity(self.c.len(), self.signature.incidence.len());
        for row in 0..self.c.len() {
            builder.push_row((0..).map_while(|position| self.entry(row, position)).flatten());
        }
        builder.finish(self.d.len())
    }

    fn match_row(
        &mut self,
        row: u32,
        differentiate: &mut dyn FnMut(u32, u32) -> Option<Entries>,
    ) -> Result<(), Refusal> {
        while self.matching.column_of_row[row as usize] == NONE && !self.augment(row) {
            for index in 0..self.coloured_columns.len() {
                self.d[self.coloured_columns[index] as usize] += 1;
            }
            let rows = self.coloured_rows.clone();
            for &coloured in &rows {
                self.c[coloured as usize] += 1;
                let times = self.c[coloured as usize];
                if times > MOST_DIFFERENTIATIONS {
                    return Err(Refusal::Endless);
                }
                let entries = differentiate(coloured, times).ok_or(Refusal::NotDifferentiable)?;
                for &(column, order) in &entries {
                    if order > self.d[column as usize] {
                        self.d[column as usize] = order;
                        self.release(self.matching.row_of_column[column as usize]);
                    }
                }
                self.actual[coloured as usize] = Some(entries);
            }
            for coloured in rows {
                let column = self.matching.column_of_row[coloured as usize];
                let holds =
                    (0..).map_while(|position| self.entry(coloured as usize, position)).flatten().any(|c| c == column);
                if column != NONE && !holds {
                    self.release(coloured);
                }
            }
        }
        Ok(())
    }

    /// Takes a row's column away; it has to be matched again.
    fn release(&mut self, row: u32) {
        if row == NONE {
            return;
        }
        let column = std::mem::replace(&mut self.matching.column_of_row[row as usize], NONE);
        if column != NONE {
            self.matching.row_of_column[column as usize] = NONE;
            self.open.push(row);
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
        loop {
            let position = self.cursor[row as usize] as usize;
            let entry = self.entry(row as usize, position)?;
            self.cursor[row as usize] += 1;
            if let Some(column) = entry
                && self.column_mark[column as usize] != self.mark
            {
                self.column_mark[column as usize] = self.mark;
                self.coloured_columns.push(column);
                return Some(column);
            }
        }
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
                let tight = signature.tight(&c, &d);
                return Some(Offsets { equations: c, variables: d, matching, tight });
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
