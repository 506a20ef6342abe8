//! Tearing: which unknowns of a simultaneous system to guess so that the others follow one after the other.
//!
//! Greedy in the line of Carpanzano (2000), Elmqvist and Otter (1994) and Cellier's rules: propagate what follows; where
//! nothing follows, guess the unknown from which most follows. An equation is solved for an unknown only over an entry
//! marked solvable, whose pivot cannot vanish. Small systems try every open unknown and look one step ahead; large
//! ones try the most promising only. A last pass takes back guesses that turned out to follow from the others. Very small
//! systems get the minimum, by branch and bound with the greedy result as the first bound.

use super::{Incidence, NONE};

/// What to guess (columns), what follows in which order (row solved for column), and which rows remain to be satisfied.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Torn {
    /// The unknowns that are guessed.
    pub iteration: Vec<u32>,
    /// Equations and the unknowns that they determine, in order.
    pub inner: Vec<(u32, u32)>,
    /// The equations that are left.
    pub residual: Vec<u32>,
}

/// How many unknowns are tried as the next guess in large systems.
const CANDIDATES: usize = 24;
/// Guesses times entries up to which guesses are tried to be taken back.
const WORK: usize = 100_000_000;
/// Up to this size the minimum is found.
const EXACT: usize = 12;
/// Up to this size every open unknown is tried.
const SMALL: usize = 150;

/// `solvable` stands beside the entries of `system`, which is square. `reluctance` of a column: the smaller, the rather
/// it is guessed, where the structure leaves the choice. `None`: more than `most` had to be guessed.
pub fn tear(system: &Incidence, solvable: &[bool], reluctance: &[u32], most: usize) -> Option<Torn> {
    let mut front = Front::new(system, solvable);
    front.propagate();
    let mut guesses = Vec::new();
    while let Some(guess) = choose(&mut front, reluctance) {
        front.know(guess);
        front.propagate();
        guesses.push(guess);
        if guesses.len() > most {
            return None;
        }
    }
    if guesses.len() > 1 && guesses.len() * system.len() <= WORK {
        take_back(&mut front, &mut guesses);
    }
    if guesses.len() > 1 && system.rows() <= EXACT {
        front.undo(0);
        front.propagate();
        branch(&mut front, &mut Vec::new(), 0, &mut guesses);
        front.undo(0);
        front.propagate();
        for &guess in &guesses {
            front.know(guess);
            front.propagate();
        }
    }
    Some(finish(&front, guesses))
}

/// Looks for fewer guesses than `best`, all behind `from`.
fn branch(front: &mut Front, guesses: &mut Vec<u32>, from: u32, best: &mut Vec<u32>) {
    if front.open_columns == 0 {
        if guesses.len() < best.len() {
            best.clone_from(guesses);
        }
        return;
    }
    if guesses.len() + 1 >= best.len() {
        return;
    }
    for column in from..front.known.len() as u32 {
        if !front.known[column as usize] {
            let mark = front.trail.len();
            front.know(column);
            front.propagate();
            guesses.push(column);
            branch(front, guesses, column + 1, best);
            guesses.pop();
            front.undo(mark);
        }
    }
}

fn choose(front: &mut Front, reluctance: &[u32]) -> Option<u32> {
    if front.open_columns == 0 {
        return None;
    }
    let mut candidates: Vec<u32> = (0..front.known.len() as u32).filter(|&c| !front.known[c as usize]).collect();
    if front.known.len() > SMALL && candidates.len() > CANDIDATES {
        candidates = most_promising(front, candidates, reluctance);
    }
    let mut best = None;
    for column in candidates {
        let mark = front.trail.len();
        front.know(column);
        front.propagate();
        let follows = front.trail.len() - mark;
        let near = front.near_rows;
        front.undo(mark);
        let score = (follows, near, std::cmp::Reverse(reluctance[column as usize]));
        if best.as_ref().is_none_or(|&(_, known)| score > known) {
            best = Some((column, score));
        }
    }
    best.map(|(column, _)| column)
}

/// Cheap score: rows where only one further unknown would be left, then rows at all.
fn most_promising(front: &Front, mut candidates: Vec<u32>, reluctance: &[u32]) -> Vec<u32> {
    let score = |column: u32| {
        let mut nearly = 0;
        let mut degree = 0;
        for &entry in front.column_entries(column) {
            let row = front.row_of_entry[entry as usize] as usize;
            if !front.used[row] {
                degree += 1;
                let other = front.open_sum[row].wrapping_sub(u64::from(entry));
                if front.open[row] == 2 && front.solvable[other as usize] {
                    nearly += 1;
                }
            }
        }
        std::cmp::Reverse((nearly, degree, std::cmp::Reverse(reluctance[column as usize])))
    };
    candidates.select_nth_unstable_by_key(CANDIDATES, |&column| score(column));
    candidates.truncate(CANDIDATES);
    candidates
}

/// Drops guesses, oldest first, that follow once all the others are known.
fn take_back(front: &mut Front, guesses: &mut Vec<u32>) {
    let mut index = 0;
    while index < guesses.len() && guesses.len() > 1 {
        let dropped = guesses.remove(index);
        front.undo(0);
        front.propagate();
        for &guess in guesses.iter() {
            if !front.known[guess as usize] {
                front.know(guess);
                front.propagate();
            }
        }
        if front.open_columns > 0 {
            guesses.insert(index, dropped);
            index += 1;
        }
    }
    front.undo(0);
    front.propagate();
    guesses.retain(|&guess| {
        let needed = !front.known[guess as usize];
        if needed {
            front.know(guess);
            front.propagate();
        }
        needed
    });
}

fn finish(front: &Front, iteration: Vec<u32>) -> Torn {
    let inner = front.trail.iter().filter(|step| step.row != NONE).map(|step| (step.row, step.column)).collect();
    let residual = (0..front.used.len() as u32).filter(|&row| !front.used[row as usize]).collect();
    Torn { iteration, inner, residual }
}

#[derive(Clone, Copy)]
struct TrailEntry {
    /// `NONE` for a guess.
    row: u32,
    column: u32,
}

/// What is known so far. Every step can be undone.
struct Front<'a> {
    system: &'a Incidence,
    solvable: &'a [bool],
    row_of_entry: Vec<u32>,
    column_starts: Vec<u32>,
    by_column: Vec<u32>,
    known: Vec<bool>,
    used: Vec<bool>,
    /// Unknown columns left in each row, and the sum of their entries: with one left it is that entry.
    open: Vec<u32>,
    open_sum: Vec<u64>,
    /// Rows not used yet with two unknowns left.
    near_rows: usize,
    open_columns: usize,
    trail: Vec<TrailEntry>,
    ready: Vec<u32>,
}

impl<'a> Front<'a> {
    fn new(system: &'a Incidence, solvable: &'a [bool]) -> Self {
        let rows = system.rows();
        let mut row_of_entry = vec![0; system.len()];
        let mut column_starts = vec![0u32; system.columns() + 1];
        for row in 0..rows {
            for entry in system.range(row) {
                row_of_entry[entry] = row as u32;
                column_starts[system.column_of(entry) as usize + 1] += 1;
            }
        }
        for column in 0..system.columns() {
            column_starts[column + 1] += column_starts[column];
        }
        let mut fill = column_starts.clone();
        let mut by_column = vec![0; system.len()];
        for entry in 0..system.len() {
            let place = &mut fill[system.column_of(entry) as usize];
            by_column[*place as usize] = entry as u32;
            *place += 1;
        }
        let open: Vec<u32> = (0..rows).map(|row| system.range(row).len() as u32).collect();
        Self {
            system,
            solvable,
            row_of_entry,
            column_starts,
            by_column,
            known: vec![false; system.columns()],
            used: vec![false; rows],
            open_sum: (0..rows).map(|row| system.range(row).map(|entry| entry as u64).sum()).collect(),
            near_rows: open.iter().filter(|&&count| count == 2).count(),
            ready: (0..rows as u32).filter(|&row| open[row as usize] == 1).collect(),
            open,
            open_columns: system.columns(),
            trail: Vec::new(),
        }
    }

    fn column_entries(&self, column: u32) -> &[u32] {
        let column = column as usize;
        &self.by_column[self.column_starts[column] as usize..self.column_starts[column + 1] as usize]
    }

    fn know(&mut self, column: u32) {
        self.step(TrailEntry { row: NONE, column });
    }

    fn step(&mut self, step: TrailEntry) {
        if step.row != NONE {
            self.used[step.row as usize] = true;
        }
        self.known[step.column as usize] = true;
        self.open_columns -= 1;
        let range =
            self.column_starts[step.column as usize] as usize..self.column_starts[step.column as usize + 1] as usize;
        for position in range {
            let entry = self.by_column[position];
            let row = self.row_of_entry[entry as usize] as usize;
            self.near_rows -= usize::from(self.open[row] == 2);
            self.open[row] -= 1;
            self.open_sum[row] -= u64::from(entry);
            self.near_rows += usize::from(self.open[row] == 2);
            if self.open[row] == 1 && !self.used[row] {
                self.ready.push(row as u32);
            }
        }
        self.trail.push(step);
    }

    /// Solves everything that follows from what is known.
    fn propagate(&mut self) {
        while let Some(row) = self.ready.pop() {
            if self.used[row as usize] || self.open[row as usize] != 1 {
                continue;
            }
            let entry = self.open_sum[row as usize] as usize;
            if self.solvable[entry] {
                self.step(TrailEntry { row, column: self.system.column_of(entry) });
            }
        }
    }

    /// Takes back every step after the first `length`.
    fn undo(&mut self, length: usize) {
        self.ready.clear();
        while self.trail.len() > length {
            let Some(step) = self.trail.pop() else { break };
            let range = self.column_starts[step.column as usize] as usize
                ..self.column_starts[step.column as usize + 1] as usize;
            for position in range {
                let entry = self.by_column[position];
                let row = self.row_of_entry[entry as usize] as usize;
                self.near_rows -= usize::from(self.open[row] == 2);
                self.open[row] += 1;
                self.open_sum[row] += u64::from(entry);
                self.near_rows += usize::from(self.open[row] == 2);
            }
            self.known[step.column as usize] = false;
            self.open_columns += 1;
            if step.row != NONE {
                self.used[step.row as usize] = false;
            }
        }
        if length == 0 {
            let open = &self.open;
            self.ready.extend((0..open.len() as u32).filter(|&row| open[row as usize] == 1));
        }
    }
}
