//! Whether the solution of a torn system fulfils its equations as well as their own rounding errors allow.
//!
//! Inner unknowns of a torn system fulfil their equations by the way they are computed, so the residuals carry all errors that
//! grew on that way. The size of the terms of a residual, as they are at the solution, says how small it could be: a
//! solution of the whole system with pivoting leaves no more than the rounding errors of these terms.

use compile::{Memory, Program, SystemId};
use dae::ExprId;

use crate::terms::Terms;

/// Residuals up to this fraction of their terms are no loss.
const MOST_LOSS: f64 = 1e-9;
/// With residuals beyond this fraction of their terms a point is no solution.
const ALL: f64 = 1e-4;
/// Where all terms nearly vanish for an instant, they count as this fraction of what they have been.
const VANISHING: f64 = 1e-6;

/// When to look at the residuals of a system, and how large they may be.
#[derive(Clone, Default)]
pub(super) struct Watch {
    solves: u64,
    /// The number of solves at which terms are looked at next.
    next: u64,
    /// How large the residuals may be.
    limits: Vec<f64>,
    /// How large their terms have been.
    largest: Vec<f64>,
    terms: Terms,
    /// What inner unknowns are computed from, and the residuals by that.
    definitions: Option<Box<[Terms; 2]>>,
    /// A form that is not torn does not help.
    pub is_over: bool,
}

/// What the residuals of a solution say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Loss {
    None,
    /// Digits are lost that the whole system would have.
    Digits,
    /// It is no solution.
    Solution,
}

impl Watch {
    /// Looks at residuals that a solution left, which is in memory.
    pub fn judge(&mut self, program: &Program, system: SystemId, memory: &Memory, residuals: &[f64]) -> Loss {
        self.solves += 1;
        let is_due = self.solves > self.next;
        if !is_due && self.loss(residuals) == Loss::None {
            return Loss::None;
        }
        self.look(program, system, memory, residuals.len(), is_due);
        match self.loss(residuals) {
            Loss::Solution if self.vanishes(program, system, memory, residuals) => Loss::Digits,
            loss => loss,
        }
    }

    /// The same of residuals that are asked about now and then only.
    pub fn inspect(&mut self, program: &Program, system: SystemId, memory: &Memory, residuals: &[f64]) -> Loss {
        self.look(program, system, memory, residuals.len(), true);
        self.loss(residuals)
    }

    fn loss(&self, residuals: &[f64]) -> Loss {
        // A residual that is not a number says nothing here.
        let is_beyond = |factor: f64| residuals.iter().zip(&self.limits).any(|(r, limit)| r.abs() > factor * *limit);
        if is_beyond(ALL / MOST_LOSS) {
            Loss::Solution
        } else if is_beyond(1.0) {
            Loss::Digits
        } else {
            Loss::None
        }
    }

    /// Whether the residuals are small beside the terms that the inner unknowns are made of. Derivatives at rest are the
    /// rounding errors of the flows that they balance, and an equation between them is fulfilled by nothing else.
    fn vanishes(&mut self, program: &Program, system: SystemId, memory: &Memory, residuals: &[f64]) -> bool {
        let Some(found) = program.equation_system(system) else { return false };
        let [definitions, terms] = &mut **self.definitions.get_or_insert_with(|| {
            let values: Vec<ExprId> = found.inner.iter().map(|assignment| assignment.value).collect();
            Box::new([Terms::of(program, &values), Terms::of(program, &found.residuals)])
        });
        definitions.evaluate(program, memory);
        for (place, assignment) in found.inner.iter().enumerate() {
            terms.give(program, assignment.variable, definitions.size(place));
        }
        terms.evaluate(program, memory);
        // Of what cannot be followed nothing is said.
        !residuals.iter().enumerate().any(|(place, r)| r.abs() > MOST_LOSS * terms.size(place))
    }

    fn look(&mut self, program: &Program, system: SystemId, memory: &Memory, count: usize, is_due: bool) {
        if is_due {
            self.next = 2 * self.solves;
        }
        self.limits.resize(count, 0.0);
        self.largest.resize(count, 0.0);
        if self.terms.is_empty()
            && let Some(found) = program.equation_system(system)
        {
            self.terms = Terms::of(program, &found.residuals);
        }
        self.terms.evaluate(program, memory);
        for (place, (limit, largest)) in self.limits.iter_mut().zip(&mut self.largest).enumerate() {
            // Of what cannot be followed nothing is said.
            let size = Some(self.terms.size(place)).filter(|size| !size.is_nan()).unwrap_or(f64::INFINITY);
            if size.is_finite() {
                *largest = largest.max(size);
            }
            let allowed = MOST_LOSS * size.max(VANISHING * *largest);
            *limit = if is_due { allowed } else { limit.max(allowed) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The solution is x = y = 2 with s = 0, which is computed as their difference.
    #[test]
    fn what_vanishes_is_measured_by_what_it_is_a_difference_of() {
        let text = "Real x(start = 2)\nx^3 + y = 10\ns = x - y\ns + x*sin(s) = 0";
        let model = dae::testing::model(text).expect("a model");
        let schedule = transform::transform(model, &transform::Options::default()).expect("a schedule");
        let program = Program::new(schedule).expect("a program");
        let (system, found) = program.systems.iter().next().expect("a system");
        let torn = program.equation_system(system).expect("the same in the schedule");
        let [difference] = torn.residuals[..] else { panic!("{} residuals", torn.residuals.len()) };
        assert_eq!(torn.inner.len(), 2);
        assert!(program.model().exprs.dependencies(&[difference]).variables.len() == 2, "s and x");
        let mut memory = program.memory();
        for &variable in &found.unknowns {
            let value = if program.model().variable_name(variable) == "s" { 1e-16 } else { 2.0 };
            memory.values[program.layout.slot(variable) as usize] = value;
        }
        let judge = |residual: f64| Watch::default().judge(&program, system, &memory, &[residual]);
        assert_eq!(judge(3e-16), Loss::Digits, "rounding errors");
        assert_eq!(judge(5.0), Loss::Solution, "more than these");
    }
}
