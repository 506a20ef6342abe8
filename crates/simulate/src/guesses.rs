//! Guesses for the nonlinear systems of inline integration: the straight line through the solutions of the last two steps.

use compile::{Address, Memory, Program, SectionStep};
use transform::SystemKind;

#[derive(Clone)]
pub struct Guesses {
    /// The iteration variables of all nonlinear systems of a step.
    slots: Vec<Address>,
    last: Vec<f64>,
    before: Vec<f64>,
    /// How many steps of one length follow each other without anything between them.
    count: u32,
    step: f64,
}

impl Guesses {
    pub fn new(program: &Program) -> Self {
        let nonlinear = |step: &SectionStep| match *step {
            SectionStep::Solve(system) => {
                let system = &program.systems[system];
                matches!(system.kind, SystemKind::Nonlinear).then_some(&system.slots)
            }
            SectionStep::Code(_) => None,
        };
        let slots: Vec<Address> = program.sections.inline.iter().filter_map(nonlinear).flatten().copied().collect();
        let zeros = vec![0.0; slots.len()];
        Self { slots, last: zeros.clone(), before: zeros, count: 0, step: 0.0 }
    }

    /// An event may have changed everything.
    pub fn forget(&mut self) {
        self.count = 0;
    }

    /// Writes guesses for a step of this length; `false` when there is nothing to guess from.
    pub fn write(&self, memory: &mut Memory, step: f64) -> bool {
        if self.count < 2 || self.step != step {
            return false;
        }
        for ((&slot, last), before) in self.slots.iter().zip(&self.last).zip(&self.before) {
            memory.values[slot as usize] = 2.0 * last - before;
        }
        true
    }

    /// Goes back to the last solution.
    pub fn write_last(&self, memory: &mut Memory) {
        self.slots.iter().zip(&self.last).for_each(|(&slot, &last)| memory.values[slot as usize] = last);
    }

    /// Takes the solution of a step from memory.
    pub fn note(&mut self, memory: &Memory, step: f64) {
        self.count = if self.step == step { self.count + 1 } else { 1 };
        self.step = step;
        std::mem::swap(&mut self.last, &mut self.before);
        self.slots.iter().zip(&mut self.last).for_each(|(&slot, last)| *last = memory.values[slot as usize]);
    }
}
