//! Other values of parameters than those that a program was made with.
//!
//! Parameters are numbers in memory, so most can be set without a new translation: what depends on them is computed by the
//! section `parameters`, and start values after it. What the translation decided by their values (`transform::Decisions`) has to
//! come out the same.

use base::{Diagnostic, Id};
use dae::{ExprId, Node, Value, VarId, Variability, VariableType};
use transform::{Decision, Decisions, Role, Subject};

use crate::code::StatementOrigin;
use crate::failure::{Failure, Reason};
use crate::lower::{Mode, Statement};
use crate::memory::Memory;
use crate::probe::Probe;
use crate::program::Program;

/// Whole numbers beyond this are not exact.
const LARGEST_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Why a program does not hold for other values of its parameters.
#[derive(Clone, PartialEq, Debug)]
pub enum Misfit {
    /// The model cannot have them without being read anew.
    Refused(Box<Diagnostic>),
    /// The equations have another structure for them: the same flat model has to be sorted anew.
    Structure(Box<Diagnostic>),
}

impl Program {
    /// Whether a parameter has a value that can be replaced. Whether each value will do is another question:
    /// [`check_parameters`](Self::check_parameters).
    pub fn is_tunable(&self, variable: VarId) -> bool {
        self.why_not_tunable(variable).is_none()
    }

    fn why_not_tunable(&self, variable: VarId) -> Option<&'static str> {
        let declared = &self.model().variables[variable];
        match declared.ty {
            VariableType::Real | VariableType::Integer | VariableType::Boolean | VariableType::Enumeration(_) => {}
            VariableType::String | VariableType::Object | VariableType::Clock => return Some("it is no number"),
        }
        if declared.variability != Variability::Parameter || self.schedule.roles.get(variable) != Some(&Role::Parameter)
        {
            return Some("it is no parameter");
        }
        if self.schedule.free.get(variable) == Some(&true) {
            return Some("the initial equations determine it");
        }
        // Those of the model itself are set in its text as well.
        let is_at_top = self.model().paths.parent(declared.path).is_none_or(|it| it == self.model().paths.root());
        if declared.protected && !is_at_top {
            return Some("it is protected");
        }
        if declared.is_final {
            return Some("it is final");
        }
        declared.structural.then_some("its value is part of the structure")
    }

    /// Whether the program holds for these values of its parameters; else which of them decides what.
    pub fn check_parameters(&self, set: &[(VarId, f64)]) -> Result<(), Diagnostic> {
        self.fit(set).map_err(|misfit| match misfit {
            Misfit::Refused(said) | Misfit::Structure(said) => *said,
        })
    }

    /// Whether the program holds for these values of its parameters, or at least the flat model that it was made from.
    pub fn fit(&self, set: &[(VarId, f64)]) -> Result<(), Misfit> {
        let refused = |said: Diagnostic| Misfit::Refused(Box::new(said));
        for &(variable, value) in set {
            self.check_value(variable, value).map_err(refused)?;
        }
        let Some(&(first, _)) = set.first() else { return Ok(()) };
        let mut memory = self.memory();
        self.run_parameters(set, &mut memory).map_err(|failure| refused(failure.diagnostic(self.model())))?;
        let cause = |decision: &Decision, schedule: &transform::Schedule| {
            // Of several, the first that alone changes the decision.
            let alone = |&&(variable, value): &&(VarId, f64)| {
                let mut memory = self.memory();
                self.run_parameters(&[(variable, value)], &mut memory).is_ok()
                    && self.violated(&schedule.decisions, &schedule.model, &memory).is_some()
            };
            let culprit = set.iter().find(alone).map_or(first, |&(variable, _)| variable);
            decision.diagnostic(&schedule.model, culprit)
        };
        let written = self.schedule.difference.as_ref().map(|difference| &*difference.written);
        for (is_of_language, misfit) in [(true, Misfit::Refused as fn(_) -> _), (false, Misfit::Structure)] {
            for schedule in std::iter::once(&self.schedule).chain(written) {
                let decisions = schedule.decisions.about(|subject| (subject == Subject::Translation) == is_of_language);
                if let Some(decision) = self.violated(&decisions, &schedule.model, &memory) {
                    return Err(misfit(Box::new(cause(decision, schedule))));
                }
            }
        }
        let schedule = written.unwrap_or(&self.schedule);
        if let Some(mode) = &schedule.mode
            && mode.modes.first(set) != mode.modes.first(&[])
        {
            let name = self.model().variable_name(first);
            let message = format!("`{name}` cannot have another value without a new translation");
            let said = Diagnostic::error("structural-parameter", message)
                .note("it decides in which mode the model begins")
                .hint("translate the model again with this value");
            return Err(Misfit::Structure(Box::new(said)));
        }
        Ok(())
    }

    fn check_value(&self, variable: VarId, value: f64) -> Result<(), Diagnostic> {
        let name = self.model().variable_name(variable);
        if let Some(reason) = self.why_not_tunable(variable) {
            let message = format!("`{name}` cannot be set: {reason}");
            let said = Diagnostic::error("structural-parameter", message);
            let mut decided = self.model().decided.iter().filter(|decided| decided.variable == variable);
            return Err(match decided.find_map(|decided| decided.span) {
                Some(span) => said.at(span, "its value is used here, at translation"),
                None => said,
            });
        }
        let is_whole = value.fract() == 0.0 && value.abs() <= LARGEST_INTEGER;
        let is_value = match self.model().variables[variable].ty {
            VariableType::Integer => is_whole,
            VariableType::Boolean => value == 0.0 || value == 1.0,
            VariableType::Enumeration(of) => {
                let literals = self.model().enumerations.get(of as usize).map_or(0, |found| found.literals.len());
                is_whole && value >= 1.0 && value <= literals as f64
            }
            _ => value.is_finite(),
        };
        match is_value {
            true => Ok(()),
            false => Err(Diagnostic::error("wrong-value", format!("{value} is no value of `{name}`"))),
        }
    }

    /// Whether a run that has begun can go on with other values of parameters; `after` holds them, `before` those so far. What is
    /// decided at the start cannot change: what initial equations determine, the instants of samples, how far delays reach back.
    pub fn check_change(&self, before: &Memory, after: &Memory, cause: VarId) -> Result<(), Diagnostic> {
        let model = self.model();
        let changed = |variable: VarId| {
            self.schedule.roles.get(variable) == Some(&Role::Parameter)
                && self.constant(before, variable) != self.constant(after, variable)
        };
        let depends = |expressions: &[ExprId]| model.exprs.dependencies(expressions).variables.into_iter().any(changed);
        let free = self.schedule.free.iter().filter(|(_, free)| **free).map(|(variable, _)| variable);
        let bindings: Vec<ExprId> = free.filter_map(|variable| model.variables.get(variable)?.binding).collect();
        let samples: Vec<ExprId> =
            self.layout.samples.iter().flat_map(|sample| [sample.start, sample.interval]).collect();
        let spans: Vec<ExprId> = (self.layout.delays.iter())
            .filter_map(|delay| match model.exprs.node(delay.expression) {
                Node::Builtin(_, arguments) => model.exprs.arguments(arguments).get(1..),
                _ => None,
            })
            .flatten()
            .copied()
            .collect();
        let decided = [
            (bindings, "the start determined what depends on it"),
            (samples, "the instants of samples depend on it"),
            (spans, "how far a delay reaches back depends on it"),
        ];
        match decided.iter().find(|(expressions, _)| depends(expressions)) {
            Some((_, reason)) => {
                let message = format!("`{}` cannot change during a run: {reason}", model.variable_name(cause));
                Err(Diagnostic::error("structural-parameter", message).hint("begin a new run with this value"))
            }
            None => Ok(()),
        }
    }

    /// The first decision of this program, or of one of its modes, that the parameters in memory change.
    pub fn violated<'d>(&self, decisions: &'d Decisions, model: &dae::Model, memory: &Memory) -> Option<&'d Decision> {
        let before = self.defaults.get_or_init(|| {
            let mut memory = self.memory();
            self.run_parameters(&[], &mut memory).is_ok().then(|| Box::new(memory))
        });
        let known = |variable: VarId| variable.index() < self.model().variables.len();
        let changed = |variable: VarId| {
            // Where there are no values to compare with, all may have changed.
            let Some(before) = before else { return true };
            known(variable) && self.constant(before, variable) != self.constant(memory, variable)
        };
        decisions.violated(model, &changed, &mut |variable| {
            if known(variable) { self.constant(memory, variable) } else { None }
        })
    }

    fn constant(&self, memory: &Memory, variable: VarId) -> Option<Value> {
        let value = self.value(memory, variable);
        Some(match self.model().variables[variable].ty {
            VariableType::Real => Value::Real(value),
            VariableType::Integer | VariableType::Enumeration(_) => Value::Integer(value as i64),
            VariableType::Boolean => Value::Boolean(value != 0.0),
            VariableType::String => Value::string(memory.strings.get(value)?.as_ref()),
            VariableType::Object | VariableType::Clock => return None,
        })
    }

    /// Puts values of parameters into memory.
    pub fn set_parameters(&self, set: &[(VarId, f64)], memory: &mut Memory) {
        for &(variable, value) in set {
            self.set_value(memory, variable, value);
        }
    }

    /// Whether the section `parameters` would compute one of these parameters.
    pub fn computes_any(&self, set: &[(VarId, f64)]) -> bool {
        self.schedule.parameters.iter().any(|assignment| is_set(set, assignment.variable))
    }

    /// Computes all parameters but for those that are set.
    pub fn run_parameters(&self, set: &[(VarId, f64)], memory: &mut Memory) -> Result<(), Failure> {
        self.set_parameters(set, memory);
        memory.set_live(true);
        let outcome = match self.computes_any(set) {
            true => self.run_others(set, memory),
            false => self.run(&self.sections.parameters, memory, &mut |_, _| Ok::<(), Failure>(())),
        };
        memory.set_live(false);
        outcome
    }

    /// The section without the assignments to what is set. Its code shares parts between assignments, so other code is made.
    fn run_others(&self, set: &[(VarId, f64)], memory: &mut Memory) -> Result<(), Failure> {
        let others = self.schedule.parameters.iter().filter(|assignment| !is_set(set, assignment.variable));
        let statements: Vec<Statement> = others
            .map(|assignment| Statement {
                target: self.layout.place(assignment.variable),
                value: assignment.value,
                origin: StatementOrigin { variable: Some(assignment.variable), equation: assignment.equation },
                checked: true,
            })
            .collect();
        let mode = Mode { live: true, ..Mode::default() };
        let failed = |message: Option<String>, variable: Option<VarId>| {
            let reason = match message {
                Some(message) => Reason::Call { message },
                None => Reason::Input { variable },
            };
            Failure { reason: Box::new(reason), expression: None, variable, equation: None }
        };
        let probe = Probe::of_statements(self, &statements, 0, mode, memory)
            .map_err(|diagnostic| failed(Some(diagnostic.message), None))?;
        memory.call_failure = None;
        probe.run(self, memory, &mut Vec::new());
        let is_finite = |statement: &&Statement| memory.values[statement.target.slot as usize].is_finite();
        match statements.iter().find(|statement| !is_finite(statement)) {
            Some(statement) => Err(failed(memory.call_failure.take(), statement.origin.variable)),
            None => Ok(()),
        }
    }
}

fn is_set(set: &[(VarId, f64)], variable: VarId) -> bool {
    set.iter().any(|&(own, _)| own == variable)
}
