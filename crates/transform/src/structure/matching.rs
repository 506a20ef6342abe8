//! Maximum bipartite matching: Pothen and Fan's depth-first search with look-ahead (ACM TOMS 16, 1990), with the
//! direction of the search turned in every phase as Duff, Kaya and Uçar found best (ACM TOMS 38, 2011).
//!
//! A phase touches every edge at most once; the look-ahead pointers never move back because a matched column stays
//! matched. A matching that is given is extended, so the caller may begin with the pairs it would like best.

use super::{Incidence, NONE};

/// Which column each row has and the other way round; `NONE` where it has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matching {
    /// `NONE` for a row without a column.
    pub column_of_row: Vec<u32>,
    /// `NONE` for a column without a row.
    pub row_of_column: Vec<u32>,
}

impl Matching {
    /// Nothing is matched.
    pub fn empty(rows: usize, columns: usize) -> Self {
        Self { column_of_row: vec![NONE; rows], row_of_column: vec![NONE; columns] }
    }

    /// A matching of the largest size.
    pub fn maximum(incidence: &Incidence) -> Self {
        let mut matching = Self::empty(incidence.rows(), incidence.columns());
        matching.extend(incidence);
        matching
    }

    /// A maximum matching with as many of the wanted columns as possible; `NONE` where a row wants none.
    pub fn near(incidence: &Incidence, wanted: &[u32]) -> Self {
        let mut matching = Self::empty(incidence.rows(), incidence.columns());
        for (row, &column) in wanted.iter().enumerate().take(incidence.rows()) {
            if column != NONE && matching.row_of_column[column as usize] == NONE && incidence.row(row).contains(&column)
            {
                matching.assign(row as u32, column);
            }
        }
        matching.extend(incidence);
        matching
    }

    /// Matches a row with a column.
    pub fn assign(&mut self, row: u32, column: u32) {
        self.column_of_row[row as usize] = column;
        self.row_of_column[column as usize] = row;
    }

    /// How many rows are matched.
    pub fn size(&self) -> usize {
        self.column_of_row.iter().filter(|&&column| column != NONE).count()
    }

    /// Whether every row and every column is matched.
    pub fn is_perfect(&self) -> bool {
        !self.column_of_row.contains(&NONE) && !self.row_of_column.contains(&NONE)
    }

    /// The rows without a column.
    pub fn unmatched_rows(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.column_of_row.len() as u32).filter(|&row| self.column_of_row[row as usize] == NONE)
    }

    /// The columns without a row.
    pub fn unmatched_columns(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.row_of_column.len() as u32).filter(|&column| self.row_of_column[column as usize] == NONE)
    }

    /// Makes it a maximum matching of `incidence`; rows that have a column keep one.
    pub fn extend(&mut self, incidence: &Incidence) {
        let open = self.unmatched_rows().collect();
        self.extend_rows(&mut Search::new(incidence), open);
    }

    /// Matches as many of the given unmatched rows as possible; gives the others back.
    pub fn extend_rows(&mut self, search: &mut Search, mut open: Vec<u32>) -> Vec<u32> {
        while !open.is_empty() {
            let before = open.len();
            search.next_phase();
            open.retain(|&row| !search.augment(self, row));
            if open.len() == before {
                break;
            }
        }
        open
    }
}

/// The search state of one run of `extend`; also used to add single rows.
pub struct Search<'a> {
    incidence: &'a Incidence,
    /// The next entry to look at for a free column.
    look: Vec<u32>,
    cursor: Vec<u32>,
    visited: Vec<u32>,
    phase: u32,
    stack: Vec<u32>,
}

impl<'a> Search<'a> {
    /// A search in an incidence.
    pub fn new(incidence: &'a Incidence) -> Self {
        let starts: Vec<u32> = (0..incidence.rows()).map(|row| incidence.range(row).start as u32).collect();
        Self {
            incidence,
            cursor: starts.clone(),
            look: starts,
            visited: vec![0; incidence.rows()],
            phase: 0,
            stack: Vec::new(),
        }
    }

    /// Forgets what was visited.
    pub fn next_phase(&mut self) {
        self.phase += 1;
    }

    /// Rows that the failed searches of this phase went through.
    pub fn was_visited(&self, row: u32) -> bool {
        self.visited[row as usize] == self.phase
    }

    /// Looks for an augmenting path from an unmatched row and applies it.
    pub fn augment(&mut self, matching: &mut Matching, root: u32) -> bool {
        if self.visited[root as usize] == self.phase {
            return false;
        }
        self.visit(root);
        while let Some(&row) = self.stack.last() {
            if let Some(free) = self.free_column(matching, row) {
                self.apply(matching, free);
                return true;
            }
            if !self.descend(matching, row) {
                self.stack.pop();
            }
        }
        false
    }

    fn visit(&mut self, row: u32) {
        self.visited[row as usize] = self.phase;
        self.cursor[row as usize] = 0;
        self.stack.push(row);
    }

    fn free_column(&mut self, matching: &Matching, row: u32) -> Option<u32> {
        let end = self.incidence.range(row as usize).end;
        let look = &mut self.look[row as usize];
        while (*look as usize) < end {
            let column = self.incidence.column_of(*look as usize);
            *look += 1;
            if matching.row_of_column[column as usize] == NONE {
                return Some(column);
            }
        }
        None
    }

    fn descend(&mut self, matching: &Matching, row: u32) -> bool {
        let range = self.incidence.range(row as usize);
        while (self.cursor[row as usize] as usize) < range.len() {
            let step = self.cursor[row as usize] as usize;
            self.cursor[row as usize] += 1;
            let entry = if self.phase.is_multiple_of(2) { range.start + step } else { range.end - 1 - step };
            let next = matching.row_of_column[self.incidence.column_of(entry) as usize];
            if next != NONE && self.visited[next as usize] != self.phase {
                self.visit(next);
                return true;
            }
        }
        false
    }

    /// Each row on the stack was reached through its own column, which the row before takes over.
    fn apply(&mut self, matching: &mut Matching, free: u32) {
        let mut column = free;
        while let Some(row) = self.stack.pop() {
            let released = matching.column_of_row[row as usize];
            matching.assign(row, column);
            column = released;
        }
    }
}
