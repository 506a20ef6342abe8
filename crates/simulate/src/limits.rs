//! Values outside of `min` and `max` (specification 4.9.1): each variable is reported once, with the time and in the unit that
//! its users read. A model may still be right, so it is a warning and the run goes on.

use base::{Decimal, Diagnostic};
use compile::{Address, Memory, Program};
use dae::{ExprId, Model, Node, VarId, Variability, VariableType};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::machine::Machine;

/// More messages than these nobody reads.
const MOST_TOLD: usize = 10;

/// A variable with the interval in which it is to stay.
#[derive(Clone)]
struct Watched {
    variable: VarId,
    low: f64,
    high: f64,
    /// How far outside it may be without a report.
    slack: f64,
}

/// A variable that left its interval.
#[derive(Clone)]
struct Broken {
    variable: VarId,
    time: f64,
    value: f64,
    bound: f64,
}

#[derive(Clone, Default)]
pub struct Limits {
    watched: Vec<Watched>,
    broken: Vec<Broken>,
}

impl Limits {
    /// What is to be watched in a model that is initialised. Parameters are looked at once.
    pub fn new(machine: &Machine, tolerance: f64) -> Self {
        let (program, model) = (&machine.program, machine.program.model());
        let mut limits = Self::default();
        // Variables that are aliases of each other and have the same limits count once.
        let mut seen = FxHashSet::default();
        for (variable, declared) in model.variables.iter() {
            let attributes = &declared.attributes;
            let number = matches!(declared.ty, VariableType::Real | VariableType::Integer);
            // Derivatives are not the same variables in all modes of a model.
            let usual = number && declared.derivative_of.is_none();
            if !usual || attributes.min.is_none() && attributes.max.is_none() {
                continue;
            }
            let (low, high) = interval(program, &machine.memory, variable);
            let place = program.layout.place(variable);
            if !seen.insert((place.slot, place.negated, low.to_bits(), high.to_bits())) {
                continue;
            }
            // What is wrong by less than the integration may be wrong is not wrong.
            let largest =
                [low, high].into_iter().filter(|bound| bound.is_finite()).fold(0.0, |a: f64, b| a.max(b.abs()));
            let slack = tolerance * largest.max(machine.nominal(variable));
            limits.watched.push(Watched { variable, low, high, slack });
        }
        limits.check(machine);
        limits.watched.retain(|watched| model.variables[watched.variable].variability > Variability::Parameter);
        limits
    }

    /// Looks at parameters that have got other values.
    pub fn check_parameters(&mut self, machine: &Machine, tolerance: f64) {
        let model = machine.program.model();
        let is_new = |one: &Broken| {
            model.variables[one.variable].variability <= Variability::Parameter
                && !self.broken.iter().any(|known| known.variable == one.variable && known.value == one.value)
        };
        let found: Vec<Broken> = Self::new(machine, tolerance).broken.into_iter().filter(is_new).collect();
        self.broken.extend(found);
    }

    /// Looks at the values in memory.
    pub fn check(&mut self, machine: &Machine) {
        let Self { watched, broken } = self;
        let variables = &machine.program.model().variables;
        watched.retain(|&Watched { variable, low, high, slack }| {
            let value = machine.value(variable);
            // A parameter that is zero has no error.
            let is_exact = value == 0.0 && variables[variable].variability <= Variability::Parameter;
            let slack = if is_exact { 0.0 } else { slack };
            let inside = !(value < low - slack || value > high + slack);
            if !inside {
                let bound = if value < low { low } else { high };
                broken.push(Broken { variable, time: machine.memory.time(), value, bound });
            }
            inside
        });
    }

    pub fn warnings(&self, program: &Program) -> Vec<Diagnostic> {
        let model = program.model();
        let mut warnings: Vec<Diagnostic> = self.broken.iter().take(MOST_TOLD).map(|one| one.warning(model)).collect();
        let more = self.broken.len().saturating_sub(MOST_TOLD);
        if more > 0
            && let Some(last) = warnings.pop()
        {
            warnings.push(last.note(format!("{more} more variables left their limits")));
        }
        warnings
    }
}

impl Broken {
    fn warning(&self, model: &Model) -> Diagnostic {
        let declared = &model.variables[self.variable];
        let text = |name: Option<base::Name>| name.map_or("", |name| name.as_str());
        let (unit, display) = (text(declared.attributes.unit), text(declared.attributes.display_unit));
        let (unit, conversion) = units::display(unit, display);
        let shown = |value: f64| format!("{} {unit}", Decimal(rounded(conversion.apply(value)))).trim_end().to_owned();
        let (side, limit) = if self.value < self.bound { ("below", "min") } else { ("above", "max") };
        let name = model.variable_name(self.variable);
        let when = match declared.variability {
            Variability::Constant | Variability::Parameter => String::new(),
            _ => format!(" at time {}", Decimal(rounded(self.time))),
        };
        let message = format!("`{name}` is {}{when}, {side} its {limit} {}", shown(self.value), shown(self.bound));
        let component = model.paths.parent(declared.path).map(|parent| model.paths.text(parent)).unwrap_or_default();
        let mut warning = Diagnostic::warning("outside-limits", message).in_component(component).specification("4.9.1");
        if let Some(span) = declared.span {
            warning = warning.at(span, "declared here");
        }
        warning
    }
}

/// Six digits are what a reader wants.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// The intervals in which numbers in memory are to stay: what at those addresses has several names has the limits of all of them.
pub fn intervals(program: &Program, memory: &Memory, addresses: &[Address]) -> Vec<(f64, f64)> {
    let mut intervals = vec![(f64::NEG_INFINITY, f64::INFINITY); addresses.len()];
    let positions: FxHashMap<Address, usize> = addresses.iter().enumerate().map(|(at, &slot)| (slot, at)).collect();
    for (variable, declared) in program.model().variables.iter() {
        if declared.attributes.min.is_none() && declared.attributes.max.is_none() {
            continue;
        }
        let place = program.layout.place(variable);
        let Some(&position) = positions.get(&place.slot) else { continue };
        let (low, high) = interval(program, memory, variable);
        let (low, high) = if place.negated { (-high, -low) } else { (low, high) };
        let known = &mut intervals[position];
        let common = (known.0.max(low), known.1.min(high));
        if common.0 < common.1 {
            *known = common;
        }
    }
    intervals
}

/// The limits of a variable.
fn interval(program: &Program, memory: &Memory, variable: VarId) -> (f64, f64) {
    let attributes = &program.model().variables[variable].attributes;
    let limit = |limit: Option<ExprId>| limit.and_then(|limit| bound(program, memory, limit));
    (limit(attributes.min).unwrap_or(f64::NEG_INFINITY), limit(attributes.max).unwrap_or(f64::INFINITY))
}

/// A limit that is a literal or a parameter.
fn bound(program: &Program, memory: &Memory, limit: ExprId) -> Option<f64> {
    let model = program.model();
    match model.exprs.node(limit) {
        Node::Var(parameter) if model.variables[parameter].variability <= Variability::Parameter => {
            Some(program.value(memory, parameter))
        }
        _ => model.exprs.as_real(limit),
    }
}
