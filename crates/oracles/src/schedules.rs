//! When something switches in a random model: a few instants, and Booleans that change at some of them, by time or by a
//! state, as relations or in when clauses.

use std::fmt::Write as _;

use fastrand::Rng;

/// The instants at which something may change, the stop time last.
pub struct Times {
    ends: Vec<f64>,
    /// Conditions are on a state that grows like time.
    by_state: bool,
}

/// A Boolean that is known in each phase.
pub struct Switch {
    on: Vec<bool>,
    ends: Vec<f64>,
    clock: &'static str,
    /// Assigned in when clauses.
    held: bool,
}

impl Times {
    pub fn random(random: &mut Rng) -> Self {
        let count = random.usize(1..4);
        let mut ends: Vec<f64> = (1..=count).map(|k| k as f64 - 0.5 * f64::from(random.u8(0..2)) + 0.25).collect();
        ends.push(count as f64 + 1.0);
        Self { ends, by_state: random.u8(0..3) == 0 }
    }

    pub fn count(&self) -> usize {
        self.ends.len()
    }

    pub fn end(&self, phase: usize) -> f64 {
        self.ends[phase]
    }

    pub fn stop(&self) -> f64 {
        self.ends[self.ends.len() - 1]
    }

    /// What conditions compare with the instants.
    pub fn clock(&self) -> &'static str {
        if self.by_state { "clock" } else { "time" }
    }

    pub fn switch(&self, random: &mut Rng) -> Switch {
        let on = (0..self.count()).map(|_| random.bool()).collect();
        Switch { on, ends: self.ends.clone(), clock: self.clock(), held: random.u8(0..3) == 0 }
    }

    /// Declares and defines the clock.
    pub fn write(&self, declarations: &mut String, equations: &mut String) {
        if self.by_state {
            *declarations += "  Real clock(start = 0, fixed = true);\n";
            *equations += "  der(clock) = 1;\n";
        }
    }
}

impl Switch {
    pub fn is_on(&self, phase: usize) -> bool {
        self.on[phase]
    }

    /// A position that moves with one speed or the other, beginning at zero.
    pub fn track(&self, speeds: [f64; 2]) -> String {
        let (mut position, mut begin) = (0.0, 0.0);
        let mut pieces = Vec::new();
        for (&on, &end) in self.on.iter().zip(&self.ends) {
            let speed = speeds[usize::from(!on)];
            pieces.push(format!("{position} + ({speed})*({} - {begin})", self.clock));
            position += speed * (end - begin);
            begin = end;
        }
        let last = pieces.pop().unwrap_or_default();
        let all = pieces.iter().zip(&self.ends).rev();
        all.fold(last, |otherwise, (piece, end)| format!("if {} < {end} then {piece} else {otherwise}", self.clock))
    }

    /// Declares and defines the Boolean `s{k}`.
    pub fn write(&self, k: usize, declarations: &mut String, equations: &mut String) {
        let changes: Vec<usize> = (1..self.on.len()).filter(|&phase| self.on[phase] != self.on[phase - 1]).collect();
        let clock = self.clock;
        if self.held && !changes.is_empty() {
            let _ = writeln!(declarations, "  Boolean s{k}(start = {}, fixed = true);", self.on[0]);
            for (place, &phase) in changes.iter().enumerate() {
                let keyword = if place == 0 { "when" } else { "elsewhen" };
                let _ = writeln!(
                    equations,
                    "  {keyword} {clock} >= {} then\n    s{k} = {};",
                    self.ends[phase - 1],
                    self.on[phase]
                );
            }
            *equations += "  end when;\n";
            return;
        }
        let expression = changes.iter().rev().fold(self.on[self.on.len() - 1].to_string(), |otherwise, &phase| {
            format!("if {clock} < {} then {} else {otherwise}", self.ends[phase - 1], self.on[phase - 1])
        });
        let _ = writeln!(declarations, "  Boolean s{k} = {expression};");
    }
}

/// The columns that rows leave free, by elimination.
pub fn free_columns(rows: &[Vec<f64>], size: usize) -> Vec<usize> {
    let mut rows = rows.to_vec();
    let mut taken = Vec::new();
    for k in 0..rows.len() {
        let Some(pivot) = (0..size).max_by(|&a, &b| rows[k][a].abs().total_cmp(&rows[k][b].abs())) else { break };
        if rows[k][pivot].abs() < 1e-9 {
            continue;
        }
        taken.push(pivot);
        let own = rows[k].clone();
        for row in rows.iter_mut().skip(k + 1) {
            let factor = row[pivot] / own[pivot];
            row.iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
        }
    }
    (0..size).filter(|column| !taken.contains(column)).collect()
}
