//! Exact derivatives at a point of a run: of states' derivatives and of any other Real variable, with respect to states, inputs
//! and parameters.
//!
//! The tangents come from the code of the model (`compile::LinearForm`). Through simultaneous equations they follow by the
//! implicit function theorem, with the Jacobian of each system factorised once at the point. Relations and discrete variables
//! stay as they are. Of a singular system the tangent of least norm is taken, but only where nothing that is asked for depends on
//! what the system leaves open.

use std::sync::Arc;

use base::{Decimal, Diagnostic};
use compile::{Address, LinearForm, Memory, Misfit, Program, RelationId, SectionStep, SystemId};
use dae::{VarId, VariableType};
use solve::equilibrate::equilibrate;
use solve::{LinearSolver, Pattern};
use transform::{Role, SystemKind};

use crate::machine::{Machine, Trouble};
use crate::system_failure::{Reason, SystemFailure};
use crate::systems::{self, LeastNorm, least_norm, null_space};

/// Tangents at vertical slopes are huge in place of infinite.
pub(crate) const VERTICAL: f64 = 1e80;

/// A matrix of derivatives.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Jacobian {
    /// How many variables are differentiated.
    pub rows: usize,
    /// With respect to how many variables.
    pub columns: usize,
    /// The entries, row after row.
    pub values: Vec<f64>,
    /// The structural conditions that hold, in a model whose structure changes.
    pub mode: Option<String>,
    /// Functions without a derivative that the model calls: entries that depend on them are differences.
    pub differenced: Vec<String>,
}

impl Jacobian {
    /// The derivative of the variable `row` with respect to the variable `column`.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    /// The derivatives of one variable.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }
}

/// One simultaneous system at the point.
#[derive(Clone)]
struct Factors {
    pattern: Pattern,
    matrix: Vec<f64>,
    solver: Option<LinearSolver>,
    is_regular: bool,
    /// Factors of rows and columns, where their sizes are orders of magnitude apart.
    rows: Vec<f64>,
    columns: Vec<f64>,
    scaled: Vec<f64>,
}

/// Differentiates one program.
#[derive(Clone)]
pub(crate) struct Linearizer {
    program: Arc<Program>,
    form: Arc<LinearForm>,
    memory: Memory,
    /// By the number of the system in the program of the tangents.
    factors: Vec<Factors>,
}

impl Linearizer {
    /// For points between events.
    pub fn new(program: &Arc<Program>) -> Result<Self, Box<Diagnostic>> {
        Ok(Self::of(program, program.linear_form()?))
    }

    /// With tangents of left limits, for events.
    pub fn within_events(program: &Arc<Program>) -> Result<Self, Box<Diagnostic>> {
        Ok(Self::of(program, program.event_form()?))
    }

    /// Of the initial problem.
    pub fn of_start(program: &Arc<Program>) -> Result<Self, Box<Diagnostic>> {
        Ok(Self::of(program, program.initial_form()?))
    }

    fn of(program: &Arc<Program>, form: &Arc<LinearForm>) -> Self {
        let factors = form.program.systems.values().map(|system| {
            let pattern = systems::pattern(&system.pattern);
            let solver = LinearSolver::new(system.slots.len(), Some(&pattern)).ok();
            let (size, entries) = (system.slots.len(), pattern.entries());
            let [rows, columns] = [vec![1.0; size], vec![1.0; size]];
            let [matrix, scaled] = [vec![0.0; entries], vec![0.0; entries]];
            Factors { matrix, pattern, solver, is_regular: false, rows, columns, scaled }
        });
        let factors = factors.collect();
        Self { program: program.clone(), memory: form.memory(), form: form.clone(), factors }
    }

    /// Whether it is made for a program.
    pub fn is_of(&self, program: &Arc<Program>) -> bool {
        Arc::ptr_eq(&self.program, program)
    }

    /// The program that it differentiates.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What it is made from.
    pub fn form(&self) -> &LinearForm {
        &self.form
    }

    /// Does some work at the point that a machine has evaluated, outputs included.
    pub fn at_point<T>(
        &mut self,
        machine: &mut Machine,
        work: impl FnOnce(&mut Self) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let form = &self.form.clone();
        form.borrow(&mut machine.memory, &mut self.memory);
        let outcome = self.factor(form).and_then(|()| work(self));
        form.give_back(&mut machine.memory, &mut self.memory);
        outcome
    }

    /// Does some more work at the point of the last call of [`at_point`](Self::at_point), wherever the machine stands now.
    pub fn at_same_point<T>(
        &mut self,
        machine: &mut Machine,
        work: impl FnOnce(&mut Self) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let form = &self.form.clone();
        form.lend(&mut machine.memory, &mut self.memory);
        let outcome = work(self);
        form.give_back(&mut machine.memory, &mut self.memory);
        outcome
    }

    /// Makes machine code of what runs often.
    pub fn speed_up(&self) {
        self.form.program.compile_hot_in_background();
    }

    /// Factorises the Jacobians of all systems.
    fn factor(&mut self, form: &LinearForm) -> Result<(), Trouble> {
        for step in &form.program.sections.dynamics {
            let SectionStep::Solve(system) = *step else { continue };
            let factors = &mut self.factors[base::Id::index(system)];
            form.program.jacobian(system, &mut self.memory, &mut factors.matrix)?;
            factors.factor();
        }
        Ok(())
    }

    /// Tangents of all variables along a direction.
    pub fn follow(&mut self, direction: &[(VarId, f64)]) -> Result<(), Trouble> {
        let Self { form, factors, memory, .. } = self;
        let mut solve = |system: SystemId, memory: &mut Memory, right: &mut [f64]| {
            factors[base::Id::index(system)].solve(form, system, memory, right)
        };
        form.tangents(memory, direction, &mut solve)
    }

    /// The same along a direction that is given by addresses, with or without what parameters are computed from others.
    pub fn follow_from(&mut self, seeds: &[(Address, f64)], has_parameters: bool) -> Result<(), Trouble> {
        let Self { form, factors, memory, .. } = self;
        let mut solve = |system: SystemId, memory: &mut Memory, right: &mut [f64]| {
            factors[base::Id::index(system)].solve(form, system, memory, right)
        };
        form.tangents_from(memory, seeds, has_parameters, &mut solve)
    }

    /// The tangent of what lies at an address, along the direction followed last.
    pub fn tangent_at(&self, address: Address) -> f64 {
        self.form.tangent_at(&self.memory, address)
    }

    /// The tangent of the residue of a relation, within events.
    pub fn residue(&self, relation: RelationId) -> f64 {
        self.form.residue_tangent(&self.memory, relation)
    }

    /// The residue of a relation at the point, within events.
    pub fn residue_value(&self, relation: RelationId) -> f64 {
        self.form.residue(&self.memory, relation)
    }

    /// Tangents of all variables along one of several variables, the others of which stay as they are.
    pub fn follow_one(&mut self, variables: &[VarId], place: usize) -> Result<(), Trouble> {
        let component = |(k, &variable)| (variable, if k == place { 1.0 } else { 0.0 });
        let direction: Vec<(VarId, f64)> = variables.iter().enumerate().map(component).collect();
        self.follow(&direction)
    }

    /// The tangent of a variable along the direction followed last.
    pub fn tangent(&self, variable: VarId) -> Result<f64, Trouble> {
        let tangent = self.form.tangent(&self.memory, variable);
        if tangent.is_finite() { Ok(tangent) } else { Err(self.undefined(variable)) }
    }

    /// The same, where a vertical slope is none. Tangents of roots at zero are huge in place of infinite, so that products with
    /// what vanishes faster are right.
    pub fn slope(&self, variable: VarId) -> Result<f64, Trouble> {
        let tangent = self.tangent(variable)?;
        if tangent.abs() < VERTICAL { Ok(tangent) } else { Err(self.undefined(variable)) }
    }

    /// An error if one of these variables depends on what the equations at the point leave open: any choice of it, also the one
    /// of least norm, is an invention.
    pub fn check_determined(&mut self, of: &[VarId]) -> Result<(), Trouble> {
        let program = self.program.clone();
        let form = program.linear_form().map_err(|diagnostic| Trouble::Model(Box::new(diagnostic)))?;
        for step in &form.program.sections.dynamics {
            let SectionStep::Solve(system) = *step else { continue };
            let Factors { pattern, matrix, is_regular, .. } = &self.factors[base::Id::index(system)];
            if *is_regular || pattern.columns == 0 {
                continue;
            }
            for open in null_space(pattern, matrix) {
                if !self.leads_on(form, system, &open) {
                    continue;
                }
                if let Some(variable) = self.moved(form, system, &open, of)? {
                    let found = &form.program.systems[system];
                    return Err(Trouble::System(Box::new(SystemFailure {
                        unknowns: found.unknowns.clone(),
                        equations: found.equations.clone(),
                        iteration: Vec::new(),
                        reason: Reason::Singular(variable),
                        time: self.memory.time(),
                    })));
                }
            }
        }
        Ok(())
    }

    /// Whether solutions of a system go on along a direction that its Jacobian leaves open. `x³ = 0` has none there.
    fn leads_on(&mut self, form: &LinearForm, system: SystemId, open: &[f64]) -> bool {
        const ROUNDING: f64 = 1e-6;
        let found = &form.program.systems[system];
        if matches!(found.kind, SystemKind::Linear(_) | SystemKind::Mixed { linear: Some(_) }) {
            return true;
        }
        let values = self.memory.values.clone();
        let scale = found.slots.iter().fold(1.0f64, |most, &slot| most.max(values[slot as usize].abs()));
        for (&slot, share) in found.slots.iter().zip(open) {
            self.memory.values[slot as usize] += scale * share;
        }
        let mut residuals = vec![0.0; found.slots.len()];
        let is_evaluated = form.program.residuals(system, &mut self.memory, &mut residuals).is_ok();
        self.memory.values.copy_from_slice(&values);
        is_evaluated && residuals.iter().all(|residual| residual.abs() <= ROUNDING * scale)
    }

    /// The first of these variables that moves with the unknowns of a system along a direction.
    fn moved(
        &mut self,
        form: &LinearForm,
        system: SystemId,
        open: &[f64],
        of: &[VarId],
    ) -> Result<Option<VarId>, Trouble> {
        /// Relative to the terms of the sum that a variable moves by.
        const ROUNDING: f64 = 1e-6;
        self.follow_unknowns(form, system, open)?;
        let total: Vec<f64> = of.iter().map(|&variable| form.tangent(&self.memory, variable)).collect();
        if total.iter().all(|&tangent| tangent == 0.0) {
            return Ok(None);
        }
        let mut terms = vec![0.0; of.len()];
        for (place, &share) in open.iter().enumerate().filter(|(_, share)| **share != 0.0) {
            let mut alone = vec![0.0; open.len()];
            alone[place] = share;
            // Behind it, one unknown that moves alone may contradict equations; then it counts as much as it moves itself.
            let is_possible = self.follow_unknowns(form, system, &alone).is_ok();
            for (term, &variable) in terms.iter_mut().zip(of) {
                *term += if is_possible { form.tangent(&self.memory, variable).abs() } else { share.abs() };
            }
        }
        let is_moved = |(total, term): (&f64, &f64)| total.abs() > ROUNDING * term;
        Ok(total.iter().zip(&terms).position(is_moved).map(|place| of[place]))
    }

    /// Tangents of all variables where the unknowns of a system move in a given way and nothing else does.
    fn follow_unknowns(&mut self, form: &LinearForm, system: SystemId, given: &[f64]) -> Result<(), Trouble> {
        let factors = &mut self.factors;
        let mut solve = |own: SystemId, memory: &mut Memory, right: &mut [f64]| match own == system {
            true => {
                right.copy_from_slice(given);
                Ok(())
            }
            false => factors[base::Id::index(own)].solve(form, own, memory, right),
        };
        form.tangents(&mut self.memory, &[], &mut solve)
    }

    pub fn undefined(&self, variable: VarId) -> Trouble {
        let model = self.program.model();
        let time = Decimal(self.memory.time());
        let name = model.variable_name(variable);
        let message = format!("`{name}` has no derivative in this direction at time {time}");
        let hint = "it goes through a point at which an expression has no finite slope, through a delay whose length changes \
                    in this direction, or through a table or another external object that does; where that is what is \
                    asked for, take differences of runs with other values of the parameter";
        let mut diagnostic = Diagnostic::error("no-derivative", message).names_time().hint(hint);
        if let Some(span) = model.variables[variable].span {
            diagnostic = diagnostic.at(span, "declared here");
        }
        Trouble::Model(Box::new(diagnostic))
    }
}

impl Factors {
    /// Factorises the matrix in units that make rows and columns alike.
    fn factor(&mut self) {
        let Self { pattern, matrix, rows, columns, scaled, .. } = self;
        let column_of = |column: usize| pattern.starts[column]..pattern.starts[column + 1];
        let each = |visit: &mut dyn FnMut(usize, usize, f64)| {
            for column in 0..pattern.columns {
                for (&row, &entry) in pattern.indices[column_of(column)].iter().zip(&matrix[column_of(column)]) {
                    visit(row as usize, column, entry);
                }
            }
        };
        equilibrate(rows, columns, each);
        for (column, &scale) in columns.iter().enumerate().take(pattern.columns) {
            let part = column_of(column);
            let entries = pattern.indices[part.clone()].iter().zip(&matrix[part.clone()]);
            for (scaled, (&row, &entry)) in scaled[part].iter_mut().zip(entries) {
                *scaled = entry * rows[row as usize] * scale;
            }
        }
        self.is_regular = self.solver.as_mut().is_some_and(|solver| solver.factor(scaled).is_ok());
    }

    /// Replaces `right` by the solution, with a matrix that is regular.
    fn solve_regular(&mut self, right: &mut [f64]) {
        right.iter_mut().zip(&self.rows).for_each(|(right, row)| *right *= row);
        if let Some(solver) = &mut self.solver {
            solver.solve(right);
        }
        right.iter_mut().zip(&self.columns).for_each(|(right, column)| *right *= column);
    }

    fn solve(
        &mut self,
        form: &LinearForm,
        system: SystemId,
        memory: &mut Memory,
        right: &mut [f64],
    ) -> Result<(), Trouble> {
        match self.is_regular {
            // One with discrete unknowns alone.
            _ if right.is_empty() => {}
            true => {
                // What elimination loses comes back by corrections.
                const CORRECTIONS: usize = 2;
                let given = right.to_vec();
                self.solve_regular(right);
                for _ in 0..CORRECTIONS.min(right.len() - 1) {
                    let mut left = given.clone();
                    subtract_product(&self.pattern, &self.matrix, right, &mut left);
                    self.solve_regular(&mut left);
                    right.iter_mut().zip(&left).for_each(|(x, correction)| *x += correction);
                }
            }
            false => {
                let zeros = vec![0.0; right.len()];
                let LeastNorm { x, .. } = least_norm(&self.pattern, &self.matrix, right, &zeros).map_err(|column| {
                    let found = &form.program.systems[system];
                    Trouble::System(Box::new(SystemFailure {
                        unknowns: found.unknowns.clone(),
                        equations: found.equations.clone(),
                        iteration: Vec::new(),
                        reason: Reason::Singular(found.iteration[column]),
                        time: memory.time(),
                    }))
                })?;
                right.copy_from_slice(&x);
            }
        }
        Ok(())
    }
}

/// Subtracts the product of a sparse matrix with `x`.
fn subtract_product(pattern: &Pattern, values: &[f64], x: &[f64], from: &mut [f64]) {
    for (column, x) in x.iter().enumerate() {
        for place in pattern.starts[column]..pattern.starts[column + 1] {
            from[pattern.indices[place] as usize] -= values[place] * x;
        }
    }
}

/// The state, input or parameter that a variable stands for as a direction: of candidates for a state, the state that it is now.
pub(crate) fn direction(machine: &Machine, variable: VarId) -> Result<VarId, Box<Diagnostic>> {
    let program = &machine.program;
    let role = |variable: VarId| program.schedule.roles.get(variable).copied();
    check_real(program, variable)?;
    let mut target = variable;
    // A chain of aliases cannot be longer than the list of variables.
    for _ in 0..program.model().variables.len() {
        let Some(Role::Alias { of, .. }) = role(target) else { break };
        target = of;
    }
    match role(target) {
        Some(Role::State { .. } | Role::Input) => return Ok(variable),
        Some(Role::Parameter) if program.has_parameter_tangent(variable) => {
            return check_neighbours(machine, variable).map(|()| variable);
        }
        Some(Role::Parameter) if program.has_parameter_tangent(target) => {
            return check_neighbours(machine, target).map(|()| variable);
        }
        _ => {}
    }
    for set in &program.schedule.state_sets {
        for (row, &state) in set.selection.iter().zip(&set.states) {
            let chosen = row.iter().position(|&factor| machine.value(factor) != 0.0);
            if chosen.is_some_and(|place| set.candidates[place] == target) {
                return Ok(state);
            }
        }
    }
    let model = program.model();
    let what = match role(target) {
        Some(Role::Constant) => "it is a constant",
        Some(Role::Parameter) => "it is a parameter that cannot be set, or no Real",
        Some(Role::Discrete) => "it is discrete",
        _ => "it is computed; states, top-level inputs and parameters are independent",
    };
    let message = format!("there is no derivative with respect to `{}`: {what}", model.variable_name(variable));
    let mut diagnostic = Diagnostic::error("no-direction", message);
    if let Some(span) = model.variables[variable].span {
        diagnostic = diagnostic.at(span, "declared here");
    }
    Err(Box::new(diagnostic))
}

/// The code has to hold beside the value of a parameter: where it is zero, terms with it may have been left out.
fn check_neighbours(machine: &Machine, parameter: VarId) -> Result<(), Box<Diagnostic>> {
    /// Relative to the value.
    const BESIDE: f64 = 1e-7;
    let (program, values) = (&machine.program, machine.parameters());
    let mut memory = program.memory();
    let told = |failure: compile::Failure| Box::new(failure.diagnostic(program.model()));
    program.run_parameters(values, &mut memory).map_err(told)?;
    let value = program.value(&memory, parameter);
    let distance = if value == 0.0 { BESIDE } else { BESIDE * value.abs() };
    let mut refused = 0;
    for beside in [value - distance, value + distance] {
        let mut moved: Vec<(VarId, f64)> = values.iter().copied().filter(|(known, _)| *known != parameter).collect();
        moved.push((parameter, beside));
        let said = match program.fit(&moved) {
            Ok(()) => continue,
            Err(Misfit::Structure(said)) => said,
            // A limit of the values lies on one side.
            Err(Misfit::Refused(said)) => {
                refused += 1;
                if refused < 2 {
                    continue;
                }
                said
            }
        };
        let name = program.model().variable_name(parameter);
        let message = format!(
            "there is no derivative with respect to `{name}`: the equations were made for its value {} alone and have another \
             structure beside it",
            Decimal(value)
        );
        let diagnostic = Diagnostic::error("no-direction", message).note(said.message);
        return Err(Box::new(diagnostic.hint("choose a value a little beside it")));
    }
    Ok(())
}

/// Only Real variables have derivatives.
pub(crate) fn check_real(program: &Program, variable: VarId) -> Result<(), Box<Diagnostic>> {
    let model = program.model();
    if model.variables[variable].ty == VariableType::Real {
        return Ok(());
    }
    let message = format!("`{}` has no derivatives: it is no Real", model.variable_name(variable));
    Err(Box::new(Diagnostic::error("no-derivative", message)))
}
