//! Names of variables in the documents.
//!
//! In the language Dymola `x` is the value before an event and `new(x)` the value after it. Only discrete variables whose value
//! before the event is asked for have both names.

use base::IdVec;
use dae::{Model, Node, PathId, VarId, VariableType};
use rustc_hash::FxHashSet;
use transform::{Block, Role, Schedule};

/// How formulas and names are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    Dymola,
    Acsl,
    Fortran,
}

pub struct Names<'s> {
    pub schedule: &'s Schedule,
    pub model: &'s Model,
    pub dialect: Dialect,
    /// The full name of each variable in the dialect.
    names: IdVec<VarId, String>,
    taken: FxHashSet<String>,
    /// Discrete variables with a value before and a value after the event.
    has_both: FxHashSet<VarId>,
    /// Continuous variables that are no states and whose left limit at events is asked for.
    pub left_limits: Vec<VarId>,
}

/// Names that the programs use themselves, in lower case.
const RESERVED: [&str; 34] = [
    "t",
    "time",
    "init",
    "event",
    "printevent",
    "anyevent",
    "x",
    "derx",
    "u",
    "y",
    "p",
    "qrel",
    "qm",
    "qp",
    "qn",
    "ql",
    "qzp",
    "qzn",
    "qres",
    "qmore",
    "if",
    "then",
    "else",
    "end",
    "call",
    "real",
    "logical",
    "integ",
    "schedule",
    "constant",
    "handleevent",
    "initial",
    "dynamic",
    "derivative",
];

impl<'s> Names<'s> {
    pub fn new(schedule: &'s Schedule, dialect: Dialect) -> Self {
        let model = &schedule.model;
        let mut taken: FxHashSet<String> = FxHashSet::default();
        let mut names = IdVec::default();
        if dialect != Dialect::Dymola {
            taken.extend(RESERVED.iter().map(|&name| name.to_owned()));
        }
        for variable in model.variables.ids() {
            let full = model.variable_name(variable);
            let name = match dialect {
                Dialect::Dymola => full,
                Dialect::Acsl | Dialect::Fortran => identifier(&full, &mut taken),
            };
            if dialect == Dialect::Dymola {
                taken.insert(name.clone());
            }
            names.push(name);
        }
        let before = read_before_events(schedule);
        let is_discrete = |variable: &VarId| matches!(schedule.roles[*variable], Role::Discrete);
        let is_algebraic = |variable: &VarId| matches!(schedule.roles[*variable], Role::Algebraic);
        let has_both = before.iter().copied().filter(is_discrete).collect();
        let left_limits = before.iter().copied().filter(is_algebraic).collect();
        Self { schedule, model, dialect, names, taken, has_both, left_limits }
    }

    /// Whether a name is that of a variable.
    pub fn is_taken(&self, name: &str) -> bool {
        match self.dialect {
            Dialect::Dymola => self.taken.contains(name),
            Dialect::Acsl | Dialect::Fortran => self.taken.contains(&name.to_ascii_lowercase()),
        }
    }

    pub fn is_logical(&self, variable: VarId) -> bool {
        self.model.variables[variable].ty == VariableType::Boolean
    }

    pub fn is_whole(&self, variable: VarId) -> bool {
        matches!(self.model.variables[variable].ty, VariableType::Integer | VariableType::Enumeration(_))
    }

    pub fn has_both(&self, variable: VarId) -> bool {
        self.has_both.contains(&variable)
    }

    pub fn time(&self) -> &'static str {
        match self.dialect {
            Dialect::Acsl => "t",
            Dialect::Dymola | Dialect::Fortran => "Time",
        }
    }

    /// The name alone.
    pub fn plain(&self, variable: VarId) -> &str {
        &self.names[variable]
    }

    /// A variable as it is now: after the event where there are two values.
    pub fn now(&self, variable: VarId, component: PathId) -> String {
        let name = self.relative(variable, component);
        match (self.has_both(variable), self.dialect) {
            (false, _) => name,
            (true, Dialect::Dymola) => format!("new({name})"),
            (true, Dialect::Acsl | Dialect::Fortran) => format!("new_{name}"),
        }
    }

    /// The value before the event.
    pub fn before(&self, variable: VarId, component: PathId) -> String {
        let name = self.relative(variable, component);
        let has_other_name = self.has_both(variable) || matches!(self.schedule.roles[variable], Role::State { .. });
        match (has_other_name, self.dialect) {
            (true, _) => name,
            (false, Dialect::Dymola) => format!("pre({name})"),
            (false, Dialect::Acsl | Dialect::Fortran) => format!("pre_{name}"),
        }
    }

    /// In the listing, variables of the component itself have no prefix. What is named like one of them gets the name of
    /// the model as its prefix.
    fn relative(&self, variable: VarId, component: PathId) -> String {
        let own = &self.model.variables[variable];
        if self.dialect != Dialect::Dymola {
            return self.names[variable].clone();
        }
        if let Some(of) = own.derivative_of {
            return format!("der({})", self.relative(of, component));
        }
        let name = &self.names[variable];
        let prefix = self.model.paths.text(component);
        if prefix.is_empty() {
            return name.clone();
        }
        let rest = name.strip_prefix(prefix.as_str()).and_then(|rest| rest.strip_prefix('.'));
        match rest {
            Some(rest) => rest.to_owned(),
            None if self.taken.contains(&format!("{prefix}.{name}")) => format!("{}.{name}", self.model.name),
            None => name.clone(),
        }
    }
}

/// Letters, digits and underscores; upper and lower case are one.
fn identifier(name: &str, taken: &mut FxHashSet<String>) -> String {
    let mut plain = String::new();
    for character in name.chars() {
        match character.is_ascii_alphanumeric() {
            true => plain.push(character),
            false if plain.ends_with('_') || plain.is_empty() => {}
            false => plain.push('_'),
        }
    }
    let plain = plain.trim_end_matches('_');
    let is_auxiliary = |text: &str| {
        let rest = text.strip_prefix(['q', 'Q']).unwrap_or("x");
        !rest.is_empty() && rest.chars().all(|character| character.is_ascii_digit())
    };
    let plain = match plain.chars().next() {
        Some(first) if first.is_ascii_alphabetic() && !is_auxiliary(plain) => plain.to_owned(),
        _ => format!("v_{plain}"),
    };
    let mut unique = plain.clone();
    let mut count = 1;
    // `new_x` and `pre_x` are other values of `x`.
    while ["", "new_", "pre_"].iter().any(|prefix| taken.contains(&format!("{prefix}{unique}").to_ascii_lowercase())) {
        count += 1;
        unique = format!("{plain}_{count}");
    }
    taken.extend(["", "new_", "pre_"].iter().map(|prefix| format!("{prefix}{unique}").to_ascii_lowercase()));
    unique
}

/// Variables whose value before the event is asked for, other than to keep it.
fn read_before_events(schedule: &Schedule) -> Vec<VarId> {
    let exprs = &schedule.model.exprs;
    let mut roots = Vec::new();
    for block in &schedule.blocks {
        match block {
            Block::Assign { assignment, .. } => match kept(schedule, assignment.variable, assignment.value) {
                Some((condition, value)) => roots.extend([condition, value]),
                None => roots.push(assignment.value),
            },
            Block::System { system, .. } => {
                roots.extend(&system.residuals);
                roots.extend(system.inner.iter().chain(&system.discrete).map(|assignment| assignment.value));
            }
        }
    }
    for action in &schedule.model.actions {
        roots.extend(action.condition);
        if let dae::ActionKind::Reinit { value, .. } = action.kind {
            roots.push(value);
        }
    }
    let mut before = exprs.dependencies(&roots).pre;
    before.sort();
    before.dedup();
    before
}

/// `if condition then value else pre(variable)`: the condition and the value.
pub fn kept(schedule: &Schedule, variable: VarId, value: dae::ExprId) -> Option<(dae::ExprId, dae::ExprId)> {
    let exprs = &schedule.model.exprs;
    match exprs.node(value) {
        Node::If { condition, then, otherwise } if exprs.node(otherwise) == Node::Pre(variable) => {
            Some((condition, then))
        }
        _ => None,
    }
}
