//! The symbolic state space of a model: its sorted equations are solved one after the other for sums of states and inputs with
//! rational functions of the parameters as coefficients. Systems are solved for their iteration variables with exact algebra.
//!
//! A variable that is no such sum is only an obstacle where derivatives of states or outputs depend on it.

use algebra::sparse::{System, row};
use algebra::{Field, Rational};
use base::{Diagnostic, Id as _, IdVec};
use dae::{EqId, ExprId, Node, VarId};
use linear::{Matrix, Signal, State, StateSpace};
use rustc_hash::FxHashMap;
use transform::{Assignment, Block, Decision, EquationSystem, Question, Role, Schedule, Subject};

use crate::affine::{Affine, ONE, Obstacle, Symbols};
use crate::symbolic::SymbolicSpace;

/// Unknowns of a system have lower columns.
const FIRST: u32 = 1 << 24;
/// Products of terms, some seconds of work.
const BUDGET: u64 = 2_000_000;

/// Why a variable is no sum of states and inputs.
#[derive(Clone, Debug)]
struct Refusal {
    equation: Option<EqId>,
    obstacle: Reason,
}

#[derive(Clone, Debug)]
enum Reason {
    Expression(Obstacle),
    /// A system does not determine its unknowns.
    Singular,
    /// Nothing in the sorted equations computes it.
    NotSorted(VarId),
}

type Found = Result<Affine, Refusal>;

/// The state space of a model with these inputs and outputs.
pub(crate) fn state_space(
    schedule: &Schedule,
    inputs: &[VarId],
    outputs: &[VarId],
    value: &dyn Fn(VarId) -> Option<f64>,
) -> Result<SymbolicSpace, Box<Diagnostic>> {
    if !schedule.state_sets.is_empty() {
        let message = "states are exchanged during the run, so there is no state space that holds everywhere";
        return Err(Box::new(Diagnostic::error("no-symbolic-form", message).hint(NUMBERS)));
    }
    let work = || Elimination::new(schedule, inputs, value).run(inputs, outputs);
    algebra::budget::within(BUDGET, work).unwrap_or_else(|| {
        let message = "the symbolic state space has too many terms to be of use";
        Err(Box::new(Diagnostic::error("too-large", message).hint(NUMBERS)))
    })
}

const NUMBERS: &str = "without `--symbolic` the matrices are numbers at the operating point";

struct Elimination<'a> {
    schedule: &'a Schedule,
    symbols: Symbols<'a>,
    /// States and inputs first.
    known: FxHashMap<VarId, Found>,
}

impl<'a> Elimination<'a> {
    fn new(schedule: &'a Schedule, inputs: &[VarId], value: &'a dyn Fn(VarId) -> Option<f64>) -> Self {
        let states = schedule.states.iter().map(|state| state.variable);
        let known = states.chain(inputs.iter().copied()).zip(FIRST..);
        Self {
            schedule,
            symbols: Symbols::new(&schedule.model, value).in_order(),
            known: known.map(|(variable, column)| (variable, Ok(Affine::column(column)))).collect(),
        }
    }

    fn run(mut self, inputs: &[VarId], outputs: &[VarId]) -> Result<SymbolicSpace, Box<Diagnostic>> {
        for block in &self.schedule.blocks {
            match block {
                Block::Assign { assignment, .. } => self.assign(assignment),
                Block::System { system, .. } => self.system(system),
            }
        }
        let mut rows = Vec::new();
        let derivatives = self.schedule.states.iter().map(|state| (state.derivative, "the derivative of a state"));
        for (variable, what) in derivatives.chain(outputs.iter().map(|&output| (output, "an output"))) {
            let found = self.variable(variable);
            rows.push(found.map_err(|refusal| Box::new(self.refused(variable, what, &refusal)))?);
        }
        Ok(self.assemble(&rows, inputs, outputs))
    }

    fn assemble(self, rows: &[Affine], inputs: &[VarId], outputs: &[VarId]) -> SymbolicSpace {
        let (n, m, p) = (self.schedule.states.len(), inputs.len(), outputs.len());
        let part = |first_row: usize, first_column: usize, height: usize, width: usize| {
            Matrix::from_fn(height, width, |i, j| {
                let column = FIRST + (first_column + j) as u32;
                let found = rows[first_row + i].row.iter().find(|(it, _)| *it == column);
                found.map_or_else(Rational::zero, |(_, value)| value.clone())
            })
        };
        let model = &self.schedule.model;
        let unit =
            |id: VarId| model.variables[id].attributes.unit.map_or(String::new(), |unit| unit.as_str().to_owned());
        let signal = |&id: &VarId| Signal::new(model.variable_name(id), unit(id));
        let state = |state: &transform::State| {
            let name = model.variable_name(state.variable);
            let component = name.rsplit_once('.').map_or(String::new(), |(component, _)| component.to_owned());
            State::new(name, unit(state.variable), component)
        };
        let system = StateSpace {
            a: part(0, 0, n, n),
            b: part(0, n, n, m),
            c: part(n, 0, p, n),
            d: part(n, n, p, m),
            states: self.schedule.states.iter().map(state).collect(),
            inputs: inputs.iter().map(signal).collect(),
            outputs: outputs.iter().map(signal).collect(),
            parameters: Vec::new(),
        };
        let mut conditions = self.symbols.conditions;
        for condition in decided(self.schedule) {
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        SymbolicSpace { system, rates: None, symbols: self.symbols.list, conditions, notes: Vec::new() }
    }

    /// A derivative or an output. A parameter, a discrete variable or an input that is not asked for adds nothing.
    fn variable(&self, variable: VarId) -> Found {
        let (known, roles) = (&self.known, &self.schedule.roles);
        match (lookup(known, roles, variable), roles.get(variable)) {
            (Some(found), _) => found,
            (None, Some(Role::Algebraic | Role::State { .. })) => {
                Err(Refusal { equation: None, obstacle: Reason::NotSorted(variable) })
            }
            (None, _) => Ok(Affine::default()),
        }
    }

    /// An expression; `unknown` has the sums of unknowns of the system at hand.
    fn value(&mut self, id: ExprId, equation: Option<EqId>, unknown: &FxHashMap<VarId, Affine>) -> Found {
        let mut inherited: Option<Refusal> = None;
        let (known, roles) = (&self.known, &self.schedule.roles);
        let found = self.symbols.expression(id, &mut |_, node| {
            let Node::Var(variable) = node else { return None };
            if let Some(value) = unknown.get(&variable) {
                return Some(value.clone());
            }
            let refusal = match (lookup(known, roles, variable), roles.get(variable)) {
                (Some(Ok(value)), _) => return Some(value),
                (Some(Err(refusal)), _) => refusal,
                (None, Some(Role::Algebraic | Role::State { .. } | Role::Alias { .. })) => {
                    Refusal { equation, obstacle: Reason::NotSorted(variable) }
                }
                // Parameters, discrete variables, and inputs that are not asked for.
                (None, _) => return None,
            };
            inherited.get_or_insert(refusal);
            // A column of its own, so that different ones do not cancel: what depends on it is refused below.
            let (of, negated) = resolved(roles, variable);
            let sign = Rational::integer(if negated { -1 } else { 1 });
            Some(Affine::column(REFUSED + of.index() as u32).scaled(&sign))
        });
        match (found, inherited) {
            (Ok(value), Some(refusal)) if value.row.iter().any(|(column, _)| (REFUSED..ONE).contains(column)) => {
                Err(refusal)
            }
            (Err(_), Some(refusal)) => Err(refusal),
            (Ok(value), _) => Ok(value),
            (Err(obstacle), None) => Err(Refusal { equation, obstacle: Reason::Expression(obstacle) }),
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        let found = match self.schedule.roles.get(assignment.variable) {
            Some(Role::Discrete) => Ok(Affine::moving()),
            _ => self.value(assignment.value, assignment.equation, &FxHashMap::default()),
        };
        self.known.insert(assignment.variable, found);
    }

    fn system(&mut self, system: &EquationSystem) {
        for assignment in &system.discrete {
            self.known.insert(assignment.variable, Ok(Affine::moving()));
        }
        match self.solved(system) {
            Ok(values) => self.known.extend(values.into_iter().map(|(variable, value)| (variable, Ok(value)))),
            Err(refusal) => {
                for variable in &system.unknowns {
                    self.known.entry(*variable).or_insert_with(|| Err(refusal.clone()));
                }
            }
        }
    }

    fn solved(&mut self, system: &EquationSystem) -> Result<Vec<(VarId, Affine)>, Refusal> {
        let count = system.iteration.len();
        let mut unknown: FxHashMap<VarId, Affine> =
            system.iteration.iter().enumerate().map(|(index, &id)| (id, Affine::column(index as u32))).collect();
        for assignment in &system.inner {
            let value = self.value(assignment.value, assignment.equation, &unknown)?;
            unknown.insert(assignment.variable, value);
        }
        let mut rows = Vec::with_capacity(count);
        for (index, &residual) in system.residuals.iter().enumerate() {
            let equation = system.residual_equations.get(index).copied();
            let mut value = self.value(residual, equation, &unknown)?;
            if value.moving {
                value.row.push((MOVING + index as u32, Rational::one()));
            }
            rows.push(row(value.row));
        }
        let singular = || Refusal { equation: system.residual_equations.first().copied(), obstacle: Reason::Singular };
        let solution = System { unknowns: count, rows }.solve().map_err(|_| singular())?;
        let solved = |column: u32| {
            let value = solution.get(column as usize)?;
            let (moving, row): (Vec<_>, Vec<_>) =
                value.iter().cloned().partition(|(column, _)| (MOVING..REFUSED).contains(column));
            Some(Affine { row, moving: !moving.is_empty() })
        };
        let variables = system.iteration.iter().copied().chain(system.inner.iter().map(|inner| inner.variable));
        Ok(variables.map(|variable| (variable, unknown[&variable].substituted(solved))).collect())
    }

    fn refused(&self, variable: VarId, what: &str, refusal: &Refusal) -> Diagnostic {
        let model = &self.schedule.model;
        let text = |id: &ExprId| model.expression_text(*id);
        let reason = match &refusal.obstacle {
            Reason::Expression(Obstacle::Product(id)) => format!("`{}` multiplies or divides what changes", text(id)),
            Reason::Expression(Obstacle::Function(id)) => format!("`{}` is no linear function", text(id)),
            Reason::Expression(Obstacle::Condition(id)) => format!("`{}` changes with a condition", text(id)),
            Reason::Expression(Obstacle::Varying(id)) => {
                format!("`{}` has a coefficient that changes with time or at events", text(id))
            }
            Reason::Expression(Obstacle::Undefined(id)) => format!("`{}` has no value", text(id)),
            Reason::NotSorted(id) => format!("`{}` is not computed by equations", model.variable_name(*id)),
            Reason::Singular => "its system of equations has no unique solution for all values".to_owned(),
        };
        let message = format!("the model is not linear with constant coefficients: {reason}");
        let mut diagnostic = Diagnostic::error("not-linear", message);
        if let Some(id) = refusal.equation
            && let Some(equation) = model.equations.get(id)
        {
            if let Some(span) = equation.origin.span {
                diagnostic = diagnostic.at(span, "this equation");
            }
            let component = model.paths.text(equation.origin.component);
            if !component.is_empty() {
                diagnostic = diagnostic.in_component(component);
            }
            diagnostic = diagnostic.note(format!("equation: {}", model.equation_text(id)));
        }
        diagnostic.note(format!("{what}, `{}`, depends on it", model.variable_name(variable))).hint(NUMBERS)
    }
}

/// What the values of parameters decided before the equations were sorted: branches, and terms that vanish.
fn decided(schedule: &Schedule) -> Vec<String> {
    let model = &schedule.model;
    let truth = |id: ExprId, truth: bool| match (truth, model.exprs.node(id)) {
        (true, _) => model.expression_text(id),
        (false, Node::Var(_)) => format!("not {}", model.expression_text(id)),
        (false, _) => format!("not ({})", model.expression_text(id)),
    };
    let condition = |decision: &Decision| match (&decision.question, decision.subject) {
        (&Question::IsTrue(id, outcome), Subject::Branch) => Some(truth(id, outcome)),
        (&Question::IsZero(id, true), Subject::Unknowns | Subject::Constraints) => {
            Some(format!("{} = 0", model.expression_text(id)))
        }
        // A Boolean of the model itself. Those of components say mostly which connectors they have, and are a crowd.
        (&Question::Is(id, value), Subject::Translation) => match (model.exprs.node(id), model.exprs.node(value)) {
            (Node::Var(variable), Node::Boolean(value)) if is_of_model(model, variable) => Some(truth(id, value)),
            _ => None,
        },
        _ => None,
    };
    schedule.decisions.iter().filter_map(condition).collect()
}

fn is_of_model(model: &dae::Model, variable: VarId) -> bool {
    model.paths.parent(model.variables[variable].path) == Some(model.paths.root())
}

fn lookup(known: &FxHashMap<VarId, Found>, roles: &IdVec<VarId, Role>, variable: VarId) -> Option<Found> {
    let (of, negated) = resolved(roles, variable);
    let found = known.get(&of)?.clone();
    Some(if negated { found.map(|value| value.scaled(&Rational::integer(-1))) } else { found })
}

/// The variable that an alias stands for, and whether with the opposite sign.
fn resolved(roles: &IdVec<VarId, Role>, variable: VarId) -> (VarId, bool) {
    match roles.get(variable) {
        Some(Role::Alias { of, negated }) => (*of, *negated),
        _ => (variable, false),
    }
}

/// What moves in an equation of a system, a column for each equation.
const MOVING: u32 = 1 << 28;
/// Variables that are no sums, a column for each.
const REFUSED: u32 = 1 << 30;
