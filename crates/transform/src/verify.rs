//! Checks that a schedule is well formed. `compile` and `simulate` rely on these invariants:
//!
//! - Ids of variables, equations and expressions exist.
//! - Roles: only parameters and constants have a binding; the representative of an alias set is no alias; a state has the derivative that the list of states names, and
//!   every state is listed once.
//! - A differentiated equation or variable has its original, which is older.
//! - Parameters are computed once, each from parameters before it.
//! - Blocks at run time compute every algebraic and discrete variable once and nothing else, and use an equation once; only
//!   variables that the initial problem adds are left to it. Its blocks compute no variable twice.
//! - A block reads what blocks before it compute, and nothing else but what is known. It reads neither aliases nor `der`. The
//!   past of a variable, inside of `delay`, may be read anywhere.
//! - A simultaneous system computes its unknowns: each is an iteration variable, an inner or a discrete unknown. It has as
//!   many residuals as iteration variables; inner assignments read only inner unknowns before them. The equations are its own.
//! - Families are disjoint, in ascending order, and their members do not read each other.
//! - The residuals of initial checks are computed in the initial problem; sets of states and constraints between states have
//!   the sizes that they declare.

use base::{Id, IdVec};
use dae::{EqId, ExprId, OriginKind, VarId, VariableType};
use rustc_hash::FxHashSet;

use crate::occurrences::{Leaf, Occurrence, Scanner};
use crate::parts::{Assignment, Block, EquationSystem, Family, Role};
use crate::schedule::Schedule;

/// What is wrong with a schedule; empty if nothing is.
pub fn verify(schedule: &Schedule) -> Vec<String> {
    let mut verifier = Verifier { schedule, scanner: Scanner::for_model(&schedule.model), found: Vec::new() };
    verifier.ids();
    // What follows looks things up by their ids.
    if verifier.found.is_empty() {
        verifier.roles();
        verifier.originals();
        verifier.parameters();
        verifier.blocks(Problem::Run, &schedule.blocks, &schedule.families);
        verifier.blocks(Problem::Initial, &schedule.initial, &schedule.initial_families);
        if let Some(inline) = &schedule.inline {
            verifier.blocks(Problem::Step, &inline.blocks, &inline.families);
        }
        verifier.sizes();
    }
    verifier.found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Problem {
    Run,
    Initial,
    /// A step of inline integration, in which everything discrete is known.
    Step,
}

impl Problem {
    fn name(self) -> &'static str {
        match self {
            Problem::Run => "block",
            Problem::Initial => "initial block",
            Problem::Step => "block of a step",
        }
    }
}

/// Which block computes each variable.
type Positions = IdVec<VarId, Option<u32>>;

struct Verifier<'a> {
    schedule: &'a Schedule,
    scanner: Scanner,
    found: Vec<String>,
}

impl Verifier<'_> {
    fn wrong(&mut self, message: String) {
        // Enough to see what is going on.
        if self.found.len() < 100 {
            self.found.push(message);
        }
    }

    fn name(&self, variable: VarId) -> String {
        self.schedule.model.variable_name(variable)
    }

    fn ids(&mut self) {
        let Schedule { model, roles, .. } = self.schedule;
        let (variables, equations, expressions) = (model.variables.len(), model.equations.len(), model.exprs.len());
        if roles.len() != variables {
            self.wrong(format!("{} roles for {variables} variables", roles.len()));
        }
        let mut used = Used::default();
        used.schedule(self.schedule);
        for variable in used.variables.into_iter().filter(|variable| variable.index() >= variables) {
            self.wrong(format!("{variable:?} does not exist"));
        }
        for equation in used.equations.into_iter().filter(|equation| equation.index() >= equations) {
            self.wrong(format!("{equation:?} does not exist"));
        }
        for expression in used.expressions.into_iter().filter(|expression| expression.index() >= expressions) {
            self.wrong(format!("{expression:?} does not exist"));
        }
    }

    fn roles(&mut self) {
        let Schedule { roles, states, .. } = self.schedule;
        let mut listed: IdVec<VarId, Option<VarId>> = IdVec::filled(None, roles.len());
        for state in states {
            if listed[state.variable].replace(state.derivative).is_some() {
                self.wrong(format!("the state {} is listed twice", self.name(state.variable)));
            }
        }
        for (variable, role) in roles.iter() {
            let is_known = matches!(role, Role::Constant | Role::Parameter | Role::Alias { .. });
            if !is_known && self.schedule.model.variables[variable].binding.is_some() {
                self.wrong(format!("{} is no parameter, but has a binding", self.name(variable)));
            }
            match *role {
                Role::Alias { of, .. } if matches!(roles[of], Role::Alias { .. }) => {
                    self.wrong(format!("{} is an alias of {}, which is an alias", self.name(variable), self.name(of)));
                }
                Role::State { derivative } if listed[variable] != Some(derivative) => {
                    self.wrong(format!("the state {} is not listed with its derivative", self.name(variable)));
                }
                Role::State { .. } => {}
                _ if listed[variable].is_some() => {
                    self.wrong(format!("{} is listed as a state, but is none", self.name(variable)));
                }
                _ => {}
            }
        }
    }

    fn originals(&mut self) {
        let model = &self.schedule.model;
        for (id, equation) in model.equations.iter() {
            match &equation.origin.kind {
                OriginKind::Derivative(of) if *of >= id => {
                    self.wrong(format!("{id:?} is the derivative of {of:?}, which is no older equation"));
                }
                OriginKind::Combined(of) if of.iter().any(|of| *of >= id) => {
                    self.wrong(format!("{id:?} is made from an equation that is not older"));
                }
                _ => {}
            }
        }
        for (id, variable) in model.variables.iter() {
            if let Some(of) = variable.derivative_of
                && (of >= id || model.variables[of].ty != VariableType::Real)
            {
                self.wrong(format!("{id:?} is the derivative of {of:?}, which is no older Real variable"));
            }
        }
    }

    fn parameters(&mut self) {
        let Schedule { model, roles, parameters, .. } = self.schedule;
        let mut position: Positions = IdVec::filled(None, model.variables.len());
        for (number, assignment) in (0..).zip(parameters) {
            if position[assignment.variable].replace(number).is_some() {
                self.wrong(format!("the parameter {} is computed twice", self.name(assignment.variable)));
            }
        }
        for (number, assignment) in (0..).zip(parameters) {
            for variable in self.reads(&[assignment.value]) {
                let is_known = position[variable].is_none_or(|position| position < number);
                if !is_known || !matches!(roles[variable], Role::Constant | Role::Parameter) {
                    let (reader, read) = (self.name(assignment.variable), self.name(variable));
                    self.wrong(format!("the parameter {reader} reads {read}, which is not known before it"));
                }
            }
        }
    }

    /// Variables whose present values are read; `der` is reported.
    fn reads(&mut self, expressions: &[ExprId]) -> Vec<VarId> {
        let (mut variables, mut derivatives) = (Vec::new(), Vec::new());
        self.scanner.scan(&self.schedule.model.exprs, expressions, |leaf, occurrence| match leaf {
            Leaf::Variable(variable) if occurrence > Occurrence::History => variables.push(variable),
            Leaf::Derivative(variable) => derivatives.push(variable),
            _ => {}
        });
        for variable in derivatives {
            self.wrong(format!("der({}) is no variable of its own", self.name(variable)));
        }
        variables
    }

    fn blocks(&mut self, problem: Problem, blocks: &[Block], families: &[Family]) {
        let positions = self.positions(problem, blocks);
        for (number, block) in (0..).zip(blocks) {
            match block {
                Block::Assign { assignment, .. } => {
                    self.order(problem, &positions, number, &[assignment.value], |_| false);
                }
                Block::System { system, .. } => self.system(problem, &positions, number, system),
            }
        }
        self.families(problem, &positions, blocks, families);
    }

    /// Every unknown is computed once, from an equation of its own.
    fn positions(&mut self, problem: Problem, blocks: &[Block]) -> Positions {
        let Schedule { model, roles, initial, .. } = self.schedule;
        let mut positions: Positions = IdVec::filled(None, model.variables.len());
        let mut equations = FxHashSet::default();
        for (number, block) in (0..).zip(blocks) {
            let (unknowns, used): (Vec<VarId>, Vec<EqId>) = match block {
                Block::Assign { assignment, .. } => {
                    (vec![assignment.variable], assignment.equation.into_iter().collect())
                }
                Block::System { system, .. } => (system.unknowns.clone(), system.equations.clone()),
            };
            for unknown in unknowns {
                if positions[unknown].replace(number).is_some() {
                    self.wrong(format!("{} {number} computes {} again", problem.name(), self.name(unknown)));
                }
                if problem == Problem::Run && !matches!(roles[unknown], Role::Algebraic | Role::Discrete) {
                    self.wrong(format!("block {number} computes {}, which is known", self.name(unknown)));
                }
            }
            // Conditions of the initial problem, and rows that check them, may say the same.
            for equation in used.into_iter().filter(|_| problem == Problem::Run) {
                if !equations.insert(equation) {
                    self.wrong(format!("block {number} uses {equation:?} again"));
                }
            }
        }
        if problem == Problem::Run {
            // The initial problem has variables of its own.
            let of_start: FxHashSet<VarId> = initial.iter().flat_map(unknowns).collect();
            let is_of_start = |variable| model.variables[variable].hidden && of_start.contains(&variable);
            for (variable, role) in roles.iter() {
                let is_unknown = matches!(role, Role::Algebraic | Role::Discrete);
                if is_unknown && positions[variable].is_none() && !is_of_start(variable) {
                    self.wrong(format!("no block computes {}", self.name(variable)));
                }
            }
        }
        positions
    }

    /// What a block reads is known, or computed before it, or `own`.
    fn order(
        &mut self,
        problem: Problem,
        positions: &Positions,
        number: u32,
        expressions: &[ExprId],
        own: impl Fn(VarId) -> bool,
    ) {
        for variable in self.reads(expressions) {
            let role = self.schedule.roles[variable];
            let fault = match positions[variable] {
                _ if matches!(role, Role::Alias { .. }) => "is an alias",
                Some(position) if position < number || own(variable) => continue,
                Some(_) => "is not computed before it",
                None if self.is_known(problem, variable, role) => continue,
                None => "nothing computes",
            };
            self.wrong(format!("{} {number} reads {}, which {fault}", problem.name(), self.name(variable)));
        }
    }

    fn is_known(&self, problem: Problem, variable: VarId, role: Role) -> bool {
        match problem {
            Problem::Run => !matches!(role, Role::Algebraic | Role::Discrete),
            Problem::Initial => match role {
                Role::Constant | Role::Parameter => !self.schedule.free[variable],
                Role::Input => true,
                _ => false,
            },
            Problem::Step => true,
        }
    }

    fn system(&mut self, problem: Problem, positions: &Positions, number: u32, system: &EquationSystem) {
        let name = problem.name();
        let EquationSystem { unknowns, equations, iteration, inner, residuals, residual_equations, discrete, .. } =
            system;
        let targets =
            |assignments: &[Assignment]| -> Vec<VarId> { assignments.iter().map(|own| own.variable).collect() };
        let mut parts = [iteration.clone(), targets(inner), targets(discrete)].concat();
        let mut all = unknowns.clone();
        parts.sort_unstable();
        all.sort_unstable();
        if parts != all {
            self.wrong(format!("{name} {number} does not compute its unknowns, each once"));
        }
        if residuals.len() != iteration.len() || residual_equations.len() != residuals.len() {
            let (residuals, iteration) = (residuals.len(), iteration.len());
            self.wrong(format!("{name} {number} has {residuals} residuals for {iteration} iteration variables"));
        }
        let used =
            inner.iter().chain(discrete).filter_map(|own| own.equation).chain(residual_equations.iter().copied());
        let own: FxHashSet<EqId> = equations.iter().copied().collect();
        for equation in used.filter(|equation| !own.contains(equation)) {
            self.wrong(format!("{name} {number} uses {equation:?}, which is none of its own"));
        }
        let mut solved: FxHashSet<VarId> = iteration.iter().chain(&targets(discrete)).copied().collect();
        for assignment in inner {
            self.order(problem, positions, number, &[assignment.value], |variable| solved.contains(&variable));
            solved.insert(assignment.variable);
        }
        let rest: Vec<ExprId> = residuals.iter().copied().chain(discrete.iter().map(|own| own.value)).collect();
        self.order(problem, positions, number, &rest, |variable| solved.contains(&variable));
    }

    fn families(&mut self, problem: Problem, positions: &Positions, blocks: &[Block], families: &[Family]) {
        let mut end = 0;
        for family in families {
            let members = family.first..family.first + family.count;
            if family.first < end || members.end > blocks.len() {
                self.wrong(format!("the family at {} {} overlaps another", problem.name(), family.first));
                continue;
            }
            end = members.end;
            for block in &blocks[members.clone()] {
                let Block::Assign { assignment, .. } = block else { continue };
                for read in self.reads(&[assignment.value]) {
                    if positions[read].is_some_and(|position| members.contains(&(position as usize))) {
                        self.wrong(format!(
                            "{} reads {}, a member of its family",
                            self.name(assignment.variable),
                            self.name(read)
                        ));
                    }
                }
            }
        }
    }

    fn sizes(&mut self) {
        let Schedule { states, state_sets, projection, initial, initial_checks, inline, .. } = self.schedule;
        let computed: FxHashSet<VarId> = initial.iter().flat_map(unknowns).collect();
        for check in initial_checks.iter().filter(|check| !computed.contains(&check.residual)) {
            self.wrong(format!("the initial check of {:?} is not computed", check.equation));
        }
        for set in state_sets {
            let width = set.dependent + set.candidates.len();
            let is_listed = |variable: &VarId| states.iter().any(|state| state.variable == *variable);
            let fits = set.states.iter().all(is_listed)
                && set.states.len() <= set.candidates.len()
                && set.selection.len() == set.states.len()
                && set.selection.iter().all(|row| row.len() == set.candidates.len())
                && set.jacobian.len() + set.states.len() == width
                && set.jacobian.iter().all(|row| row.len() == width)
                && set.asked.iter().all(|&index| index < set.candidates.len());
            if !fits {
                self.wrong("a set of exchangeable states has wrong sizes".to_owned());
            }
        }
        if let Some(projection) = projection {
            let (rows, columns) = (projection.residuals.len(), states.len());
            let inside = |&(row, column, _): &(u32, u32, VarId)| (row as usize) < rows && (column as usize) < columns;
            let has_levels = projection.constraint_levels.len() == rows && projection.state_levels.len() == columns;
            if !has_levels || !projection.jacobian.iter().all(inside) {
                self.wrong("the constraints between states have wrong sizes".to_owned());
            }
        }
        if inline.as_ref().is_some_and(|inline| inline.base.len() != states.len()) {
            self.wrong("inline integration has not one base for each state".to_owned());
        }
    }
}

fn unknowns(block: &Block) -> Vec<VarId> {
    match block {
        Block::Assign { assignment, .. } => vec![assignment.variable],
        Block::System { system, .. } => system.unknowns.clone(),
    }
}

/// All ids of a schedule beside those of its model.
#[derive(Default)]
struct Used {
    variables: Vec<VarId>,
    equations: Vec<EqId>,
    expressions: Vec<ExprId>,
}

impl Used {
    fn schedule(&mut self, schedule: &Schedule) {
        for role in schedule.roles.values() {
            match *role {
                Role::Alias { of, .. } => self.variables.push(of),
                Role::State { derivative } => self.variables.push(derivative),
                _ => {}
            }
        }
        self.variables.extend(schedule.states.iter().flat_map(|state| [state.variable, state.derivative]));
        for set in &schedule.state_sets {
            self.variables.extend(set.candidates.iter().chain(&set.states).chain(set.selection.iter().flatten()));
            self.variables.extend(set.jacobian.iter().flatten().flatten());
        }
        if let Some(projection) = &schedule.projection {
            self.variables.extend(&projection.residuals);
            self.variables.extend(projection.jacobian.iter().map(|entry| entry.2));
        }
        self.assignments(&schedule.parameters);
        self.blocks(&schedule.blocks);
        self.blocks(&schedule.initial);
        if let Some(inline) = &schedule.inline {
            self.variables.push(inline.step);
            self.variables.extend(&inline.base);
            self.blocks(&inline.blocks);
        }
        for check in &schedule.initial_checks {
            self.variables.push(check.residual);
            self.equations.extend(check.implied_by.iter().chain([&check.equation]));
        }
        self.variables.extend(schedule.constrained.iter().chain(&schedule.summary.dummy_states));
        self.equations.extend(schedule.summary.differentiated.iter().map(|&(equation, _)| equation));
        self.expressions.extend(schedule.written.iter().flat_map(|&(left, right)| [left, right]));
        for (_, equation) in schedule.model.equations.iter() {
            match &equation.origin.kind {
                OriginKind::Derivative(of) => self.equations.push(*of),
                OriginKind::Combined(of) => self.equations.extend(of.iter()),
                OriginKind::StartValue(of) => self.variables.push(*of),
                _ => {}
            }
        }
        self.variables.extend(schedule.model.variables.values().filter_map(|variable| variable.derivative_of));
    }

    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Assign { assignment, .. } => self.assignments(std::slice::from_ref(assignment)),
                Block::System { system, .. } => {
                    self.variables.extend(system.unknowns.iter().chain(&system.iteration));
                    self.equations.extend(system.equations.iter().chain(&system.residual_equations));
                    self.expressions.extend(&system.residuals);
                    self.assignments(&system.inner);
                    self.assignments(&system.discrete);
                }
            }
        }
    }

    fn assignments(&mut self, assignments: &[Assignment]) {
        self.variables.extend(assignments.iter().map(|assignment| assignment.variable));
        self.equations.extend(assignments.iter().filter_map(|assignment| assignment.equation));
        self.expressions.extend(assignments.iter().map(|assignment| assignment.value));
    }
}

#[cfg(test)]
mod tests;
