//! Infinite slopes: a square root, or a power below one, of zero has no linear form.
//!
//! Tangents of generated code stay finite there, because Newton's method needs them. So the expressions that hold at the point are
//! looked through for such places before a linear form is handed out. A place counts if a derivative of a state or an output
//! depends on it.

use base::{Decimal, Diagnostic};
use dae::{Builtin, EqId, ExprId, Model, Node, VarId, Variability};
use rustc_hash::{FxHashMap, FxHashSet};
use simulate::Simulation;
use transform::{Block, Role, Schedule};

/// Smaller arguments are zero: the slope is beyond all measure.
const SMALLEST: f64 = 1e-150;

/// A place with an infinite slope.
struct Place {
    expression: ExprId,
    equation: Option<EqId>,
    block: usize,
}

/// Refuses a point at which derivatives of states or outputs have an infinite slope. Outputs are given by their names.
pub(crate) fn check(simulation: &Simulation, outputs: &[String]) -> Result<(), Box<Diagnostic>> {
    let schedule = &simulation.program().schedule;
    let places = places(schedule, simulation);
    if places.is_empty() {
        return Ok(());
    }
    let blocks = needed_blocks(schedule, outputs);
    match places.iter().find(|place| blocks.contains(&place.block)) {
        Some(place) => Err(Box::new(refusal(&schedule.model, place, simulation.time()))),
        None => Ok(()),
    }
}

fn refusal(model: &Model, place: &Place, time: f64) -> Diagnostic {
    let text = model.expression_text(place.expression);
    let message = format!("`{text}` has an infinite slope at time {}, so there is no linear form", Decimal(time));
    let hint = "linearise at another point (`--at`), or give the law a finite slope around zero";
    let mut diagnostic = Diagnostic::error("no-derivative", message).hint(hint);
    if let Some(equation) = place.equation.and_then(|id| model.equations.get(id)) {
        if let Some(span) = equation.origin.span {
            diagnostic = diagnostic.at(span, "this equation");
        }
        let component = model.paths.text(equation.origin.component);
        if !component.is_empty() {
            diagnostic = diagnostic.in_component(component);
        }
    }
    diagnostic
}

/// The expressions of a block with the equations that they come from.
fn expressions(block: &Block) -> Vec<(ExprId, Option<EqId>)> {
    match block {
        Block::Assign { assignment, .. } => vec![(assignment.value, assignment.equation)],
        Block::System { system, .. } => {
            let inner = system.inner.iter().map(|inner| (inner.value, inner.equation));
            let origin = |place: usize| system.residual_equations.get(place).copied();
            let residuals = system.residuals.iter().enumerate().map(|(place, &id)| (id, origin(place)));
            inner.chain(residuals).collect()
        }
    }
}

fn may_be_steep(node: Node) -> bool {
    matches!(node, Node::Builtin(Builtin::Sqrt, _) | Node::Pow(..))
}

fn places(schedule: &Schedule, simulation: &Simulation) -> Vec<Place> {
    let model = &schedule.model;
    let mut places = Vec::new();
    for (block, found) in schedule.blocks.iter().enumerate() {
        for (root, equation) in expressions(found) {
            if model.exprs.postorder(&[root]).into_iter().any(|id| may_be_steep(model.exprs.node(id))) {
                let steep = steep(model, simulation, root);
                places.extend(steep.map(|expression| Place { expression, equation, block }));
            }
        }
    }
    places
}

/// The first infinite slope in what holds of an expression: branches that are not taken do not count.
fn steep(model: &Model, simulation: &Simulation, root: ExprId) -> Option<ExprId> {
    let mut stack = vec![root];
    let mut seen = FxHashSet::default();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        match model.exprs.node(id) {
            Node::If { condition, then, otherwise } => {
                let holds = value(model, simulation, condition).map(|value| value != 0.0);
                stack.push(condition);
                stack.push(if holds? { then } else { otherwise });
                continue;
            }
            Node::Builtin(Builtin::Sqrt, args) => {
                let argument = model.exprs.arguments(args).first().copied();
                if argument.is_some_and(|argument| vanishes(model, simulation, argument)) {
                    return Some(id);
                }
            }
            Node::Pow(base, exponent) => {
                let is_root = value(model, simulation, exponent).is_some_and(|it| it > 0.0 && it < 1.0);
                if is_root && vanishes(model, simulation, base) {
                    return Some(id);
                }
            }
            _ => {}
        }
        model.exprs.for_each_child(id, |child| stack.push(child));
    }
    None
}

/// Zero, and not by parameters alone.
fn vanishes(model: &Model, simulation: &Simulation, id: ExprId) -> bool {
    let varies = |&id: &VarId| model.variables[id].variability == Variability::Continuous;
    model.exprs.dependencies(&[id]).variables.iter().any(varies)
        && value(model, simulation, id).is_some_and(|value| value.abs() < SMALLEST)
}

fn value(model: &Model, simulation: &Simulation, id: ExprId) -> Option<f64> {
    let mut externals = dae::NoExternals;
    let mut evaluator = dae::Evaluator::new(&model.functions, &mut externals);
    let time = simulation.time();
    let mut lookup = |node: Node| match node {
        Node::Var(variable) => Some(crate::affine::number_of(model, variable, simulation.value_in_use(variable))),
        Node::Time => Some(dae::Value::Real(time)),
        _ => None,
    };
    let found = evaluator.expression(&model.exprs, id, &mut lookup).ok()?;
    match found {
        dae::Value::Boolean(value) => Some(f64::from(u8::from(value))),
        other => other.as_real(),
    }
}

/// The blocks that derivatives of states and outputs depend on.
fn needed_blocks(schedule: &Schedule, outputs: &[String]) -> FxHashSet<usize> {
    let model = &schedule.model;
    let mut writer: FxHashMap<VarId, usize> = FxHashMap::default();
    for (index, block) in schedule.blocks.iter().enumerate() {
        match block {
            Block::Assign { assignment, .. } => {
                writer.insert(assignment.variable, index);
            }
            Block::System { system, .. } => writer.extend(system.unknowns.iter().map(|&id| (id, index))),
        }
    }
    let mut open: Vec<VarId> = schedule.states.iter().map(|state| state.derivative).collect();
    open.extend(model.variables.ids().filter(|&id| outputs.contains(&model.variable_name(id))));
    let (mut known, mut needed): (FxHashSet<VarId>, FxHashSet<usize>) = Default::default();
    while let Some(variable) = open.pop() {
        let variable = match schedule.roles.get(variable) {
            Some(Role::Alias { of, .. }) => *of,
            _ => variable,
        };
        let Some(&block) = writer.get(&variable).filter(|_| known.insert(variable)) else { continue };
        if needed.insert(block) {
            let roots: Vec<ExprId> = expressions(&schedule.blocks[block]).into_iter().map(|(id, _)| id).collect();
            let read = model.exprs.dependencies(&roots);
            open.extend(read.variables);
            open.extend(read.derivatives);
        }
    }
    needed
}
