//! Derivatives replaced by difference formulas before anything is sorted, so that a switch never changes the structure
//! (Krebs, *Modeling of Conditional Index Changes*, 1997): with the backward Euler formula every storage element behaves
//! like a resistor, and one algebraic system serves all modes. The price is the accuracy of the formula, and that
//! impulses are spread over a step.
//!
//! A formula needs values one step before, and the start has none: the model as it was written is initialised, as in every
//! other run, and the steps begin at the point found. `reinit` sets the value one step before, as if the jump were at the
//! beginning of the step.

use std::sync::Arc;

use base::{Diagnostic, Name};
use dae::{
    ActionKind, Attributes, Builtin, Causality, Memo, Model, Node, Origin, VarId, Variability, Variable, VariableType,
};
use rustc_hash::FxHashMap;

use crate::schedule::Schedule;

/// What has to be set before the first step and before each one.
#[derive(Clone)]
pub struct Difference {
    /// The model with its derivatives, for the start.
    pub written: Arc<Schedule>,
    /// How many variables both forms of the model have: the first ones.
    pub common: usize,
    /// The length of the step.
    pub step: VarId,
    /// Each variable that is differentiated, and the variable that holds its value one step before.
    pub last: Vec<(VarId, VarId)>,
}

impl Difference {
    /// The variable that `last` holds a value of.
    pub fn variable_of(&self, last: VarId) -> Option<VarId> {
        self.last.iter().find(|pair| pair.1 == last).map(|pair| pair.0)
    }
}

/// What difference formulas cannot express.
pub fn check(model: &Model) -> Result<(), Vec<Diagnostic>> {
    let mut problems = Vec::new();
    for equation in model.equations.values() {
        let has =
            |test: fn(Node) -> bool| [equation.left, equation.right].iter().any(|&side| model.exprs.any(side, test));
        let what = if has(|node| matches!(node, Node::Builtin(Builtin::Delay, _))) {
            "delay"
        } else if has(|node| matches!(node, Node::Builtin(Builtin::SpatialFirst | Builtin::SpatialSecond, _))) {
            "spatialDistribution"
        } else {
            continue;
        };
        let message = format!("`{what}` needs the past of its argument, and difference formulas keep one step of it");
        problems.push(refused(model, message, &equation.origin));
    }
    let differentiated = differentiated(model);
    for action in &model.actions {
        let ActionKind::Reinit { state, .. } = action.kind else { continue };
        if !differentiated.contains(&state) {
            let name = model.variable_name(state);
            let message = format!("`reinit` sets `{name}`, but no difference formula stands for its derivative");
            problems.push(refused(model, message, &action.origin));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn refused(model: &Model, message: String, origin: &Origin) -> Diagnostic {
    let problem = Diagnostic::error("difference-formula", message)
        .in_component(model.paths.text(origin.component))
        .hint("`--switching modes`, the default, integrates this model");
    origin.span.into_iter().fold(problem, |problem, span| problem.at(span, "here"))
}

fn differentiated(model: &Model) -> Vec<VarId> {
    let derivative = |id| match model.exprs.node(id) {
        Node::Der(variable) => Some(variable),
        _ => None,
    };
    let mut differentiated: Vec<VarId> = model.exprs.ids().filter_map(derivative).collect();
    differentiated.sort_unstable();
    differentiated
}

/// Replaces every `der(x)` by `(x - last)/step`.
pub fn discretise(model: &mut Model, written: Schedule) -> Difference {
    let (common, differentiated) = (model.variables.len(), differentiated(model));
    let root = model.paths.root();
    let path = model.paths.child(root, Name::new("step"), &[]);
    let step = model.variables.push(input(path, VariableType::Real));
    let one = model.exprs.real(1.0);
    model.variables[step].attributes = Arc::new(Attributes { start: Some(one), ..Attributes::default() });
    let mut quotient = FxHashMap::default();
    let mut difference = Difference { written: Arc::new(written), common, step, last: Vec::new() };
    for (number, &variable) in differentiated.iter().enumerate() {
        let path = model.paths.child(root, Name::new("last"), &[number as u32 + 1]);
        let last = model.variables.push(input(path, VariableType::Real));
        let exprs = &mut model.exprs;
        let (x, before, h) = (exprs.var(variable), exprs.var(last), exprs.var(step));
        let change = exprs.sub(x, before);
        quotient.insert(variable, exprs.div(change, h));
        difference.last.push((variable, last));
    }
    release(model);
    replace(model, &quotient);
    for action in &mut model.actions {
        if let ActionKind::Reinit { state, .. } = &mut action.kind
            && let Some(&(_, last)) = difference.last.iter().find(|pair| pair.0 == *state)
        {
            *state = last;
        }
    }
    difference
}

fn input(path: dae::PathId, ty: VariableType) -> dae::Variable {
    let mut variable = Variable::hidden(path, ty, Variability::Discrete);
    variable.causality = Causality::Input;
    variable
}

/// Conditions for the start belong to the model as it was written.
fn release(model: &mut Model) {
    model.initial_equations.clear();
    model.initial_actions.clear();
    for variable in model.variables.values_mut() {
        let continuous = variable.variability == Variability::Continuous && variable.ty == VariableType::Real;
        if continuous && variable.attributes.fixed.is_some() {
            let attributes = Attributes { fixed: None, ..(*variable.attributes).clone() };
            variable.attributes = Arc::new(attributes);
        }
    }
}

fn replace(model: &mut Model, quotient: &FxHashMap<VarId, dae::ExprId>) {
    let mut memo = Memo::default();
    let mut rewrite = |model: &mut Model, expr: dae::ExprId| {
        model.exprs.rewrite(&[expr], &mut memo, |exprs, _, node| match node {
            Node::Der(v) => quotient.get(&v).copied().unwrap_or_else(|| exprs.real(0.0)),
            node => exprs.make(node),
        })[0]
    };
    for index in 0..model.equations.len() {
        let eq = base::Id::from_index(index);
        let (left, right) = (model.equations[eq].left, model.equations[eq].right);
        let (left, right) = (rewrite(model, left), rewrite(model, right));
        let equation = &mut model.equations[eq];
        (equation.left, equation.right) = (left, right);
    }
    let mut actions = std::mem::take(&mut model.actions);
    for action in &mut actions {
        action.condition = action.condition.map(|condition| rewrite(model, condition));
        match &mut action.kind {
            ActionKind::Reinit { value, .. } => *value = rewrite(model, *value),
            ActionKind::Assert { holds, .. } => *holds = rewrite(model, *holds),
            ActionKind::Call(call) => *call = rewrite(model, *call),
            ActionKind::Terminate { .. } => {}
        }
    }
    model.actions = actions;
}
