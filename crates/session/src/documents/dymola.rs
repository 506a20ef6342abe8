//! The listing of sorted and solved equations, as the paper of 1993 prints it.

use std::fmt::Write as _;

use dae::{ActionKind, Causality, EqId, ExprId, Model, Node, PathId, VarId};
use rustc_hash::FxHashSet;
use transform::{Assignment, EquationSystem, Role, Schedule};

use super::formula::Formula;
use super::names::{Names, kept};
use super::quotients::{self, Writing};
use super::solved::{self, Solved, Symbol, Unsolved};
use super::steps::{Step, Steps, roots_of_action};

pub fn write(schedule: &Schedule, names: &Names<'_>, steps: &Steps<'_>) -> String {
    let mut listing = Listing {
        schedule,
        model: &schedule.model,
        names,
        steps,
        out: String::new(),
        heading: None,
        column: column(schedule, steps),
        count: 100,
    };
    listing.parameters();
    listing.out.push_str("SORTED AND SOLVED EQUATIONS\n");
    for step in &steps.list {
        listing.step(step);
    }
    listing.out.push_str("END OF SORTED AND SOLVED EQUATIONS\n");
    listing.eliminated();
    listing.out
}

struct Listing<'l> {
    schedule: &'l Schedule,
    model: &'l Model,
    names: &'l Names<'l>,
    steps: &'l Steps<'l>,
    out: String,
    /// The component whose equations are being written.
    heading: Option<PathId>,
    column: usize,
    /// Of common subexpressions.
    count: usize,
}

/// Where equations begin: behind the longest name of a component, within limits.
fn column(schedule: &Schedule, steps: &Steps<'_>) -> usize {
    let equations = steps.list.iter().filter_map(|step| match step {
        Step::Assign { assignment, .. } => assignment.equation,
        _ => None,
    });
    let components: FxHashSet<PathId> =
        equations.map(|equation| schedule.model.equations[equation].origin.component).collect();
    let length = |path: &PathId| schedule.model.paths.text(*path).chars().count();
    let longest = components.iter().map(length).chain([schedule.model.name.chars().count()]).max().unwrap_or(0);
    longest.clamp(6, 20) + 5
}

impl<'l> Listing<'l> {
    fn fresh(&mut self) -> String {
        loop {
            self.count += 1;
            let name = format!("Q{}", self.count);
            if !self.names.is_taken(&name) {
                return name;
            }
        }
    }

    fn component(&self, equation: Option<EqId>) -> PathId {
        let equation = equation.and_then(|equation| self.model.equations.get(equation));
        equation.map_or(self.model.paths.root(), |equation| equation.origin.component)
    }

    fn formula(&self, component: PathId) -> Formula<'l> {
        Formula { relations: Some(&self.steps.numbers), ..Formula::new(self.names, component) }
    }

    /// A line below the name of its component.
    fn line(&mut self, component: PathId, text: &str) {
        let column = self.column;
        let head = match self.heading == Some(component) {
            true => String::new(),
            false if component == self.model.paths.root() => format!("{}.", self.model.name),
            false => format!("{}.", self.model.paths.text(component)),
        };
        self.heading = Some(component);
        if head.chars().count() + 3 > column {
            let _ = writeln!(self.out, "  {head}\n{:column$}{text}", "");
        } else {
            let _ = writeln!(self.out, "{:<column$}{text}", format!("  {head}"));
        }
    }

    fn plain(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    fn parameters(&mut self) {
        let root = self.model.paths.root();
        let is_computed = |assignment: &&Assignment| {
            let node = self.model.exprs.node(assignment.value);
            !matches!(node, Node::Real(_) | Node::Integer(_) | Node::Boolean(_) | Node::String(_))
                && !matches!(self.schedule.roles[assignment.variable], Role::Constant)
        };
        let computed: Vec<&Assignment> = self.schedule.parameters.iter().filter(is_computed).collect();
        if computed.is_empty() {
            return;
        }
        self.out.push_str("PARAMETERS THAT ARE COMPUTED ONCE\n");
        for assignment in computed {
            let formula = self.write_long_parts(Formula::new(self.names, root), &[assignment.value]);
            let text = formula.text(assignment.value);
            let name = self.names.now(assignment.variable, root);
            self.plain(2, &format!("{name} = {text}"));
        }
    }

    fn step(&mut self, step: &Step<'_>) {
        match step {
            Step::Assign { assignment, .. } => self.assign(assignment),
            Step::System { system, joined, .. } => self.system(system, joined),
            Step::Relation(number) => self.relation(*number),
            Step::Action(action) => {
                let component = action.origin.component;
                let formula = self.write_long_parts(self.formula(component), &roots_of_action(action));
                let text = match &action.kind {
                    ActionKind::Reinit { state, value } => {
                        let name = self.names.now(*state, component);
                        format!("new({name}) = {}", formula.text(*value))
                    }
                    ActionKind::Assert { holds, message, .. } => {
                        format!("assert({}, {})", formula.text(*holds), formula.text(*message))
                    }
                    ActionKind::Terminate { message } => format!("terminate({})", formula.text(*message)),
                    ActionKind::Call(call) => formula.text(*call),
                };
                let condition = action.condition.map(|condition| formula.text(condition));
                self.conditional(component, condition, &text);
            }
        }
    }

    fn conditional(&mut self, component: PathId, condition: Option<String>, text: &str) {
        match condition {
            Some(condition) => {
                self.line(component, &format!("when {condition} then"));
                self.line(component, &format!("  {text}"));
                self.line(component, "endwhen");
            }
            None => self.line(component, text),
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        let component = self.component(assignment.equation);
        let name = self.names.now(assignment.variable, component);
        let parts = kept(self.schedule, assignment.variable, assignment.value);
        let roots: Vec<ExprId> = parts.map_or(vec![assignment.value], |(condition, value)| vec![condition, value]);
        let formula = self.write_long_parts(self.formula(component), &roots);
        match parts {
            Some((condition, value)) => {
                let (condition, value) = (formula.text(condition), formula.text(value));
                self.conditional(component, Some(condition), &format!("{name} = {value}"));
            }
            None => {
                let value = formula.text(assignment.value);
                self.line(component, &format!("{name} = {value}"));
            }
        }
    }

    /// Writes parts that are too long to stand inside of others; the formula knows them from then on.
    fn write_long_parts(&mut self, mut formula: Formula<'l>, roots: &[ExprId]) -> Formula<'l> {
        for part in formula.long_parts(roots) {
            let name = self.fresh();
            let line = format!("{name} = {}", formula.text(part));
            self.line(formula.component, &line);
            formula.replaced.insert(part, name);
        }
        formula
    }

    fn relation(&mut self, number: usize) {
        let Some(&id) = self.steps.relations.get(number - 1) else { return };
        let Node::Compare { op, left, right, .. } = self.model.exprs.node(id) else { return };
        let indent = self.column;
        let formula = self.write_long_parts(self.formula(self.model.paths.root()), &[left, right]);
        let residue = formula.difference(left, right);
        self.heading = None;
        let time = self.names.time();
        self.plain(indent, &format!("QRel({number}) = {residue}"));
        self.plain(indent, "If (Init .OR. Event) Then");
        self.plain(
            indent + 2,
            &format!("Call HandleEvent('{}', QM({number}), Qp({number}),", residue.replace('\'', "''")),
        );
        self.plain(indent + 4, &format!("Qn({number}), QRel({number}), Init, PrintEvent, {time}, AnyEvent)"));
        self.plain(indent, "End If");
        self.plain(indent, &format!("QZp({number}) = QRel({number}) - Qp({number})"));
        self.plain(indent, &format!("QZn({number}) = QRel({number}) - Qn({number})"));
        self.plain(indent, &format!("QL({number}) = QM({number}).{}.0", super::central::operator(op)));
    }

    fn system(&mut self, system: &EquationSystem, joined: &[&Assignment]) {
        self.heading = None;
        let size = system.unknowns.len() + joined.len();
        let _ = match size {
            1 => writeln!(self.out, "IMPLICIT EQUATION"),
            _ => writeln!(self.out, "SYSTEM OF {size} SIMULTANEOUS EQUATIONS"),
        };
        let solved = match joined.is_empty() {
            true => solved::solve(&self.model.exprs, system, &self.steps.named),
            false => Err(Unsolved::Nonlinear),
        };
        match solved {
            Ok(solved) => self.solved(&solved),
            Err(reason) => self.unsolved(system, joined, reason),
        }
        self.out.push_str(match size {
            1 => "END OF IMPLICIT EQUATION\n",
            _ => "END OF SYSTEM OF SIMULTANEOUS EQUATIONS\n",
        });
        self.heading = None;
    }

    fn solved(&mut self, solved: &Solved) {
        self.out.push_str("SOLVED SYSTEM OF EQUATIONS\n");
        let root = self.model.paths.root();
        let mut symbols = Vec::new();
        let used = solved.used();
        for (place, symbol) in solved.symbols.iter().enumerate() {
            if !used.contains(&(place as u32)) {
                symbols.push(String::new());
                continue;
            }
            let (Symbol::Expression(id) | Symbol::Holds(id) | Symbol::Fails(id)) = *symbol;
            let formula = Formula { named: Some(&self.steps.named), ..self.formula(root) };
            let formula = self.write_long_parts(formula, &[id]);
            let text = match *symbol {
                Symbol::Expression(id) => {
                    let is_short = matches!(self.model.exprs.node(id), Node::Var(_) | Node::Pre(_) | Node::Time)
                        || self.steps.named.contains_key(&id);
                    if is_short {
                        symbols.push(formula.text(id));
                        continue;
                    }
                    formula.text(id)
                }
                Symbol::Holds(condition) => format!("if {} then 1 else 0", formula.text(condition)),
                Symbol::Fails(condition) => format!("if {} then 0 else 1", formula.text(condition)),
            };
            let name = self.fresh();
            self.plain(2, &format!("{name} = {text}"));
            symbols.push(name);
        }
        let name = |variable: u32| symbols.get(variable as usize).cloned().unwrap_or_default();
        let writing = Writing { symbol: &name, power: "^", has_points: false };
        let functions: Vec<algebra::Rational> = solved.unknowns.iter().map(|(_, value)| value.clone()).collect();
        let (definitions, texts) = quotients::write(&functions, &writing, &mut || self.fresh());
        for (name, text) in definitions {
            self.plain(2, &format!("{name} = {text}"));
        }
        for ((variable, _), text) in solved.unknowns.iter().zip(texts) {
            let name = self.names.now(*variable, root);
            self.plain(2, &format!("{name} = {text}"));
        }
    }

    fn unsolved(&mut self, system: &EquationSystem, joined: &[&Assignment], reason: Unsolved) {
        let root = self.model.paths.root();
        self.out.push_str("UNKNOWN VARIABLES\n");
        let all = system.unknowns.iter().copied().chain(joined.iter().map(|assignment| assignment.variable));
        for variable in all {
            let name = self.names.now(variable, root);
            self.plain(2, &name);
        }
        self.out.push_str("EQUATIONS\n");
        for assignment in &system.inner {
            self.equation(assignment.equation, Some(assignment.variable), Some(assignment.value), false);
        }
        for assignment in &system.discrete {
            let component = self.component(assignment.equation);
            let formula = Formula { relations: None, ..self.formula(component) };
            let text = self.write_long_parts(formula, &[assignment.value]).text(assignment.value);
            let name = self.names.now(assignment.variable, component);
            self.line(component, &format!("[{name}] = {text}"));
        }
        for assignment in joined {
            self.equation(assignment.equation, Some(assignment.variable), Some(assignment.value), true);
        }
        let mut open: Vec<VarId> = system.iteration.clone();
        for (place, &residual) in system.residuals.iter().enumerate() {
            let within = self.model.exprs.dependencies(&[residual]).variables;
            let found = open.iter().position(|variable| within.contains(variable));
            let marked = found.map(|place| open.remove(place));
            self.equation(system.residual_equations.get(place).copied(), marked, Some(residual), false);
        }
        self.out.push_str(match reason {
            Unsolved::Nonlinear => "-- The system of equations is nonlinear.\n",
            Unsolved::TooLong => "-- The system of equations is linear; its solution is too long to be written.\n",
            Unsolved::Singular => "-- The system of equations is linear; no solution holds for all values.\n",
        });
        let names: Vec<String> = system.iteration.iter().map(|&variable| self.names.now(variable, root)).collect();
        let _ = match names.is_empty() {
            true => writeln!(self.out, "-- It is iterated until nothing changes."),
            false => writeln!(self.out, "-- It is solved numerically for {}.", names.join(", ")),
        };
        self.heading = None;
    }

    /// An equation of a system as it stands in the model, its unknown in brackets.
    fn equation(&mut self, equation: Option<EqId>, marked: Option<VarId>, value: Option<ExprId>, is_own: bool) {
        let component = self.component(equation);
        let named = if is_own { None } else { Some(&self.steps.named) };
        let formula = Formula { named, relations: None, marked, ..self.formula(component) };
        let sides = equation.and_then(|equation| self.model.equations.get(equation)).map(|it| [it.left, it.right]);
        let roots: Vec<ExprId> = sides.map_or(value.into_iter().collect(), |sides| sides.to_vec());
        let formula = self.write_long_parts(formula, &roots);
        let text = match sides {
            Some([left, right]) => format!("{} = {}", formula.text(left), formula.text(right)),
            None => match (marked, value) {
                (Some(variable), Some(value)) => {
                    format!("[{}] = {}", self.names.now(variable, component), formula.text(value))
                }
                (None, Some(value)) => format!("0 = {}", formula.text(value)),
                _ => return,
            },
        };
        self.line(component, &text);
    }

    fn eliminated(&mut self) {
        let root = self.model.paths.root();
        let derivatives: FxHashSet<VarId> = self.schedule.states.iter().map(|state| state.derivative).collect();
        let eliminated = self.schedule.roles.iter().filter(|(_, role)| super::is_eliminated(role));
        let is_first = |variable: VarId| {
            derivatives.contains(&variable) || self.model.variables[variable].causality == Causality::Output
        };
        let declared_to_vary =
            |variable: VarId| self.model.variables[variable].variability > dae::Variability::Parameter;
        let (mut first, mut others) = (Vec::new(), Vec::new());
        for (variable, role) in eliminated {
            let value = match *role {
                Role::Alias { of, negated } => {
                    let sign = match (negated, self.names.is_logical(of)) {
                        (false, _) => "",
                        (true, true) => "not ",
                        (true, false) => "-",
                    };
                    Some(format!("{sign}{}", self.names.now(of, root)))
                }
                _ if declared_to_vary(variable) => {
                    let binding = self.model.variables[variable].binding;
                    binding.map(|binding| Formula::new(self.names, root).text(binding))
                }
                _ => None,
            };
            let Some(value) = value else { continue };
            let line = format!("{} = {value}", self.names.now(variable, root));
            if is_first(variable) { first.push(line) } else { others.push(line) }
        }
        for (head, lines) in [("ELIMINATED STATE DERIVATIVES AND OUTPUTS", first), ("ELIMINATED VARIABLES", others)] {
            if !lines.is_empty() {
                let _ = writeln!(self.out, "{head}");
            }
            lines.iter().for_each(|line| self.plain(2, line));
        }
    }
}
