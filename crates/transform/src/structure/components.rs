//! Strong components by Tarjan's algorithm (1972), iterative, in the order in which they can be evaluated.

use super::{Incidence, Matching, NONE};

/// Groups of rows; each group needs only groups before it and itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Components {
    rows: Vec<u32>,
    starts: Vec<u32>,
}

impl Components {
    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of a group.
    pub fn group(&self, index: usize) -> &[u32] {
        &self.rows[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// All groups, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> + '_ {
        (0..self.len()).map(|index| self.group(index))
    }
}

/// Row `a` needs row `b` if a column of `a` is matched with `b`. `depends` may have more entries than the incidence that
/// was matched. Rows without a column take part as rows that nobody needs.
pub fn strong_components(depends: &Incidence, matching: &Matching) -> Components {
    let rows = depends.rows();
    let mut tarjan = Tarjan {
        depends,
        matching,
        number: vec![0; rows],
        low: vec![0; rows],
        cursor: vec![0; rows],
        on_stack: vec![false; rows],
        stack: Vec::new(),
        path: Vec::new(),
        next: 1,
        result: Components { rows: Vec::with_capacity(rows), starts: vec![0] },
    };
    for row in 0..rows as u32 {
        if tarjan.number[row as usize] == 0 {
            tarjan.search(row);
        }
    }
    tarjan.result
}

struct Tarjan<'a> {
    depends: &'a Incidence,
    matching: &'a Matching,
    /// Order of discovery, from 1.
    number: Vec<u32>,
    low: Vec<u32>,
    cursor: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<u32>,
    path: Vec<u32>,
    next: u32,
    result: Components,
}

impl Tarjan<'_> {
    fn search(&mut self, root: u32) {
        self.enter(root);
        while let Some(&row) = self.path.last() {
            let range = self.depends.range(row as usize);
            let entry = range.start + self.cursor[row as usize] as usize;
            if entry < range.end {
                self.cursor[row as usize] += 1;
                let needed = self.matching.row_of_column[self.depends.column_of(entry) as usize];
                self.follow(row, needed);
            } else {
                self.path.pop();
                self.leave(row);
            }
        }
    }

    fn enter(&mut self, row: u32) {
        self.number[row as usize] = self.next;
        self.low[row as usize] = self.next;
        self.next += 1;
        self.stack.push(row);
        self.on_stack[row as usize] = true;
        self.path.push(row);
    }

    fn follow(&mut self, row: u32, needed: u32) {
        if needed == NONE {
            return;
        }
        if self.number[needed as usize] == 0 {
            self.enter(needed);
        } else if self.on_stack[needed as usize] {
            self.low[row as usize] = self.low[row as usize].min(self.number[needed as usize]);
        }
    }

    fn leave(&mut self, row: u32) {
        if let Some(&parent) = self.path.last() {
            self.low[parent as usize] = self.low[parent as usize].min(self.low[row as usize]);
        }
        if self.low[row as usize] != self.number[row as usize] {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.on_stack[member as usize] = false;
            self.result.rows.push(member);
            if member == row {
                break;
            }
        }
        self.result.starts.push(self.result.rows.len() as u32);
    }
}
