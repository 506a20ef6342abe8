//! Points without a slope: a square root, or a power below one, of zero, and equations that are singular there.
//!
//! Tangents of generated code stay finite there, because Newton's method needs them. So the expressions that hold at the point are
//! looked through for such places before a linear form is handed out, if a derivative of a state or an output depends on them.
//! What counts is the whole: `x*sqrt(x)` has the slope 0 at 0. Where there is such a place, or an entry is beyond all measure, the
//! entries are compared with those close by, which they have to be the limit of.

use base::{Decimal, Diagnostic};
use dae::{Builtin, EqId, ExprId, Model, Node, VarId, Variability};
use rustc_hash::{FxHashMap, FxHashSet};
use simulate::{Jacobian, Simulation};
use transform::{Block, Role, Schedule};

/// Smaller arguments are zero: the slope is beyond all measure.
const SMALLEST: f64 = 1e-150;
/// Larger slopes are looked at.
const LARGEST: f64 = 1e20;
/// Distances from the point, relative to the size of what is moved.
const DISTANCES: [f64; 3] = [1e-6, 1e-8, 1e-10];

/// A place with an infinite slope.
struct Place {
    expression: ExprId,
    equation: Option<EqId>,
    block: usize,
}

/// Refuses a point at which derivatives of states or outputs have no slope.
pub(crate) fn check(
    simulation: &mut Simulation,
    inputs: &[VarId],
    outputs: &[VarId],
    form: &Jacobian,
) -> Result<(), Box<Diagnostic>> {
    let place = {
        let schedule = &simulation.program().schedule;
        let places = places(schedule, simulation);
        let blocks =
            if places.is_empty() { FxHashSet::default() } else { needed_blocks(schedule, simulation, outputs) };
        places.into_iter().find(|place| blocks.contains(&place.block))
    };
    if place.is_none() && form.values.iter().all(|entry| entry.abs() <= LARGEST) {
        return Ok(());
    }
    let Some((row, column, slope)) = astray(simulation, inputs, outputs, form) else { return Ok(()) };
    let model = &simulation.program().schedule.model;
    let what = match &place {
        Some(place) => format!("`{}`", model.expression_text(place.expression)),
        None => {
            let [dependent, moved] = [(row, outputs, true), (column, inputs, false)].map(|it| name(simulation, it));
            format!("`{dependent}` as a function of `{moved}`")
        }
    };
    let has = if slope == Slope::Infinite { "an infinite slope" } else { "no slope that can be computed" };
    let message = format!("{what} has {has} at time {}, so there is no linear form", Decimal(simulation.time()));
    let hint = "linearise at another point (`--at`), or give the law a finite slope there";
    let diagnostic = Diagnostic::error("no-derivative", message).hint(hint);
    Err(Box::new(placed(model, diagnostic, place.and_then(|place| place.equation))))
}

/// What a row or a column of the linear form belongs to: a state, or its derivative, and then signals.
fn name(simulation: &Simulation, (place, signals, by_rate): (usize, &[VarId], bool)) -> String {
    let program = simulation.program();
    match program.schedule.states.get(place) {
        Some(state) if by_rate => program.model().variable_name(state.derivative),
        Some(state) => program.model().variable_name(simulation.state_now(state.variable)),
        None => {
            let signal = signals.get(place - program.schedule.states.len());
            let in_use = signal.and_then(|&id| simulation.in_mode(id));
            in_use.map_or(String::new(), |id| program.model().variable_name(id))
        }
    }
}

/// What is wrong with a slope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slope {
    Infinite,
    None,
}

/// The first entry, by row and column, that is not the limit of those close by.
fn astray(
    simulation: &mut Simulation,
    inputs: &[VarId],
    outputs: &[VarId],
    form: &Jacobian,
) -> Option<(usize, usize, Slope)> {
    // What rounding errors leave of zero.
    let noise = |row: usize| {
        let sizes = form.row(row).iter().map(|entry| entry.abs()).filter(|&size| size <= LARGEST);
        1e-12 + 1e-9 * sizes.fold(0.0, f64::max)
    };
    for column in 0..form.columns {
        let mut agrees = vec![false; form.rows];
        let mut was_evaluated = false;
        let mut grows = vec![false; form.rows];
        for side in [1.0, -1.0] {
            let beside = |simulation: &mut Simulation, distance: f64| {
                simulation.linear_form_beside(
                    inputs,
                    outputs,
                    column,
                    side * distance * size_of(simulation, inputs, column),
                )
            };
            let columns: Option<Vec<Vec<f64>>> = DISTANCES.iter().map(|&it| beside(simulation, it)).collect();
            let Some(columns) = columns else { continue };
            was_evaluated = true;
            for row in 0..form.rows {
                let [far, near, nearest] = [0, 1, 2].map(|place: usize| columns[place][row]);
                let entry = form.at(row, column);
                let (before, after) = ((near - entry).abs(), (nearest - entry).abs());
                let is_limit = after <= (0.7 * before).max(1e-3 * entry.abs()).max(noise(row));
                agrees[row] |= is_limit;
                grows[row] |= !is_limit && nearest.abs() > 1.2 * near.abs() && near.abs() > 1.2 * far.abs();
            }
        }
        let wrong = (0..form.rows).find(|&row| grows[row] || !agrees[row]);
        if let Some(row) = wrong {
            let is_infinite = grows[row] || !was_evaluated;
            return Some((row, column, if is_infinite { Slope::Infinite } else { Slope::None }));
        }
    }
    None
}

/// The size of what is moved: its value, or one.
pub(crate) fn size_of(simulation: &Simulation, inputs: &[VarId], column: usize) -> f64 {
    let states = &simulation.program().schedule.states;
    let moved = match states.get(column) {
        Some(state) => Some(state.variable),
        None => inputs.get(column - states.len()).and_then(|&input| simulation.in_mode(input)),
    };
    moved.map_or(1.0, |variable| simulation.value_in_use(variable).abs().max(1.0))
}

/// Names the equation that a message is about.
pub(crate) fn placed(model: &Model, diagnostic: Diagnostic, equation: Option<EqId>) -> Diagnostic {
    let mut diagnostic = diagnostic;
    if let Some(equation) = equation.and_then(|id| model.equations.get(id)) {
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
pub(crate) fn expressions(block: &Block) -> Vec<(ExprId, Option<EqId>)> {
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

/// Whether continuous variables take part.
pub(crate) fn varies(model: &Model, expressions: &[ExprId]) -> bool {
    let varies = |&id: &VarId| model.variables[id].variability == Variability::Continuous;
    model.exprs.dependencies(expressions).variables.iter().any(varies)
}

/// Zero, and not by parameters alone.
fn vanishes(model: &Model, simulation: &Simulation, id: ExprId) -> bool {
    varies(model, &[id]) && value(model, simulation, id).is_some_and(|value| value.abs() < SMALLEST)
}

/// The number of an expression at the point; `None` where it cannot be evaluated.
pub(crate) fn value(model: &Model, simulation: &Simulation, id: ExprId) -> Option<f64> {
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
pub(crate) fn needed_blocks(schedule: &Schedule, simulation: &Simulation, outputs: &[VarId]) -> FxHashSet<usize> {
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
    open.extend(outputs.iter().filter_map(|&output| simulation.in_mode(output)));
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
