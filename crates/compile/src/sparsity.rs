//! Which derivatives depend on which states, from the code alone, and which columns can share one evaluation.
//!
//! Every address has the set of states it depends on; sets are shared where an operation adds nothing. A model in
//! which long chains of sums make the sets large gives up and counts as dense. Columns without a common row get one
//! colour (Curtis, Powell, Reid 1974). A state that only takes part in sums and in products with parameters has a column that
//! never changes.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use transform::Matrix;

use crate::code::{Address, CONSTANT, Code, OUTPUT, Op, REGION_MASK, TEMPORARY};
use crate::lower::CallEntry;
use crate::math::{Binary, Unary};

type Set = Rc<[u32]>;

/// Elements that all sets together may have before the pattern counts as dense.
const BUDGET: usize = 50_000_000;

/// The places of the entries of a sparse matrix, by columns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pattern {
    /// How many rows there are.
    pub rows: u32,
    /// Where each column starts in `row_of`; one more than there are columns.
    pub column_starts: Vec<u32>,
    /// The row of each entry.
    pub row_of: Vec<u32>,
}

impl Pattern {
    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.column_starts.len().saturating_sub(1)
    }

    /// How many entries there are.
    pub fn entries(&self) -> usize {
        self.row_of.len()
    }

    /// The rows of a column.
    pub fn column(&self, column: usize) -> &[u32] {
        &self.row_of[self.column_starts[column] as usize..self.column_starts[column + 1] as usize]
    }

    /// The pattern with these rows in each column.
    pub fn from_columns(rows: usize, columns: &[Vec<u32>]) -> Self {
        let mut pattern = Pattern { rows: rows as u32, column_starts: vec![0], row_of: Vec::new() };
        for column in columns {
            pattern.row_of.extend(column);
            pattern.column_starts.push(pattern.row_of.len() as u32);
        }
        pattern
    }

    /// The pattern of a full matrix.
    pub fn dense(rows: usize, columns: usize) -> Self {
        let column: Vec<u32> = (0..rows as u32).collect();
        Self::from_columns(rows, &vec![column; columns])
    }
}

pub struct Dependencies {
    known: FxHashMap<Address, Set>,
    temporaries: FxHashMap<Address, Set>,
    spent: usize,
    /// Which addresses of variables hold parameters, and which temporaries follow from these alone.
    parameters: Vec<bool>,
    steady: FxHashSet<Address>,
    /// States whose derivatives may change, for one reason or another.
    pub varying: Vec<bool>,
}

impl Dependencies {
    /// `states` are the addresses of the columns.
    pub fn new(states: impl Iterator<Item = Address>, parameters: Vec<bool>) -> Self {
        let known: FxHashMap<Address, Set> =
            (0..).zip(states).map(|(k, state)| (state, Rc::from([k].as_slice()))).collect();
        let (temporaries, steady, varying) = (FxHashMap::default(), FxHashSet::default(), vec![false; known.len()]);
        Self { known, temporaries, spent: 0, parameters, steady, varying }
    }

    /// Follows code; false when the budget is spent.
    pub fn follow(&mut self, code: &Code, calls: &[CallEntry]) -> bool {
        match &code.kernel {
            Some(kernel) => {
                for member in 0..kernel.members as usize {
                    let resolve = |address: Address| match address & REGION_MASK {
                        0 => kernel.address(address, member),
                        _ => address,
                    };
                    self.follow_operations(&kernel.ops, calls, &resolve);
                }
            }
            None => self.follow_operations(&code.ops, calls, &|address| address),
        }
        self.spent < BUDGET
    }

    fn follow_operations(&mut self, ops: &[Op], calls: &[CallEntry], resolve: &dyn Fn(Address) -> Address) {
        self.temporaries.clear();
        self.steady.clear();
        let mut branches = 0;
        for op in ops {
            let op = op.map(resolve);
            self.judge(&op, branches > 0);
            match op {
                Op::If { .. } => branches += 1,
                Op::EndIf => branches -= 1,
                Op::Move { to, a } | Op::Unary { to, a, .. } => {
                    let set = self.get(a);
                    self.set(to, set);
                }
                Op::Binary { to, a, b, .. } | Op::Select { to, a, b, .. } => {
                    let set = self.union(&[a, b]);
                    self.set(to, set);
                }
                Op::Delay { to, a, b, .. } => {
                    let set = self.union(&[a, b]);
                    self.set(to, set);
                }
                Op::Call { call, arguments, results } => {
                    let entry = &calls[call as usize];
                    (arguments..arguments + entry.arguments).for_each(|argument| self.mark(argument));
                    let set = self.union(&(arguments..arguments + entry.arguments).collect::<Vec<_>>());
                    (results..results + entry.results).for_each(|result| self.set(result, set.clone()));
                }
                // Loops and subscripts occur in the code of functions only.
                _ => {}
            }
        }
    }

    /// Marks the states whose derivatives an operation makes change, and temporaries that do not.
    fn judge(&mut self, op: &Op, in_branch: bool) {
        let is_steady = |address: &Address| match address & REGION_MASK {
            CONSTANT => true,
            0 => self.parameters.get(*address as usize) == Some(&true),
            _ => self.steady.contains(address),
        };
        let (to, operands, linear) = match *op {
            Op::Move { to, a } => (to, [a, a], true),
            Op::Unary { function, to, a } => (to, [a, a], function == Unary::Neg),
            Op::Binary { function, to, a, b } => {
                let linear = match function {
                    Binary::Add | Binary::Sub => true,
                    Binary::Mul => is_steady(&a) || is_steady(&b),
                    Binary::Div => is_steady(&b),
                    _ => false,
                };
                (to, [a, b], linear)
            }
            Op::Select { to, a, b, .. } | Op::Delay { to, a, b, .. } => (to, [a, b], false),
            _ => return,
        };
        let all_steady = operands.iter().all(is_steady);
        if all_steady && !in_branch && matches!(op, Op::Move { .. } | Op::Unary { .. } | Op::Binary { .. }) {
            self.steady.insert(to);
        } else {
            self.steady.remove(&to);
        }
        if !linear || in_branch {
            operands.into_iter().for_each(|operand| self.mark(operand));
        }
    }

    fn mark(&mut self, address: Address) {
        for &state in self.get(address).iter().flat_map(|set| set.iter()) {
            self.varying[state as usize] = true;
        }
    }

    /// Follows a simultaneous system: every unknown depends on all that any residual depends on.
    pub fn follow_system(
        &mut self,
        code: &Code,
        calls: &[CallEntry],
        iteration: &[Address],
        residuals: u32,
        matrix: Option<Matrix>,
    ) -> bool {
        iteration.iter().for_each(|address| drop(self.known.remove(address)));
        if !self.follow(code, calls) {
            return false;
        }
        let outputs: Vec<Address> = (0..residuals).map(|k| OUTPUT | k).collect();
        if let Some(set) = self.union(&outputs) {
            if matrix != Some(Matrix::Constant) {
                set.iter().for_each(|&state| self.varying[state as usize] = true);
            }
            iteration.iter().for_each(|&address| drop(self.known.insert(address, set.clone())));
        }
        self.follow(code, calls)
    }

    pub fn rows(&self, address: Address) -> &[u32] {
        self.known.get(&address).map(|set| &set[..]).unwrap_or_default()
    }

    /// What an output of the code that was followed last depends on.
    pub fn output(&self, number: u32) -> &[u32] {
        self.temporaries.get(&(OUTPUT | number)).map(|set| &set[..]).unwrap_or_default()
    }

    fn get(&self, address: Address) -> Option<Set> {
        match address & REGION_MASK {
            TEMPORARY | OUTPUT => self.temporaries.get(&address).cloned(),
            _ => self.known.get(&address).cloned(),
        }
    }

    /// Temporaries that are assigned in both branches of an `If` depend on what either does.
    fn set(&mut self, address: Address, set: Option<Set>) {
        match address & REGION_MASK {
            TEMPORARY | OUTPUT => {
                let Some(set) = set else { return };
                let joined = match self.temporaries.get(&address) {
                    Some(old) => merge(old, &set).unwrap_or_else(|| old.clone()),
                    None => set,
                };
                self.temporaries.insert(address, joined);
            }
            _ => match set {
                Some(set) => drop(self.known.insert(address, set)),
                None => drop(self.known.remove(&address)),
            },
        }
    }

    fn union(&mut self, addresses: &[Address]) -> Option<Set> {
        let mut result: Option<Set> = None;
        for &address in addresses {
            let Some(set) = self.get(address) else { continue };
            result = Some(match result {
                None => set,
                Some(old) => match merge(&old, &set) {
                    Some(new) => {
                        self.spent += new.len();
                        new
                    }
                    None => old,
                },
            });
        }
        result
    }
}

/// The union, or `None` where it is the first set.
fn merge(a: &Set, b: &Set) -> Option<Set> {
    if Rc::ptr_eq(a, b) || b.iter().all(|element| a.binary_search(element).is_ok()) {
        return None;
    }
    if a.iter().all(|element| b.binary_search(element).is_ok()) {
        return Some(b.clone());
    }
    let mut all: Vec<u32> = a.iter().chain(b.iter()).copied().collect();
    all.sort_unstable();
    all.dedup();
    Some(all.into())
}

/// The pattern whose row k holds the columns `row(k)`.
pub fn from_rows<'a>(rows: usize, columns: usize, row: impl Fn(usize) -> &'a [u32]) -> Pattern {
    let mut lists = vec![Vec::new(); columns];
    for k in 0..rows {
        for &column in row(k) {
            lists[column as usize].push(k as u32);
        }
    }
    Pattern::from_columns(rows, &lists)
}

/// Groups of columns that have no row in common, greedily; those that change and those that do not keep to themselves.
pub fn colours(pattern: &Pattern, varying: &[bool]) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut colour_of = vec![u32::MAX; pattern.columns()];
    let mut columns_of_row = vec![Vec::new(); pattern.rows as usize];
    for column in 0..pattern.columns() {
        for &row in pattern.column(column) {
            columns_of_row[row as usize].push(column as u32);
        }
    }
    let mut taken: Vec<u32> = Vec::new();
    for column in 0..pattern.columns() {
        for &row in pattern.column(column) {
            for &other in &columns_of_row[row as usize] {
                let colour = colour_of[other as usize];
                if colour != u32::MAX {
                    taken[colour as usize] = column as u32 + 1;
                }
            }
        }
        let is_varying = |column: usize| varying.get(column) == Some(&true);
        let fits = |group: usize| {
            taken[group] != column as u32 + 1
                && groups[group].first().is_none_or(|&other| is_varying(other as usize) == is_varying(column))
        };
        let free = (0..taken.len()).find(|&group| fits(group)).unwrap_or(taken.len());
        if free == groups.len() {
            groups.push(Vec::new());
            taken.push(0);
        }
        groups[free].push(column as u32);
        colour_of[column] = free as u32;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_of_three_needs_three_colours() {
        let columns: Vec<Vec<u32>> =
            (0..10u32).map(|k| (k.saturating_sub(1)..=(k + 1).min(9)).collect::<Vec<_>>()).collect();
        assert_eq!(colours(&Pattern::from_columns(10, &columns), &[]).len(), 3);
    }
}
