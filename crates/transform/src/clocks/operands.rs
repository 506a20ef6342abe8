//! Operands of clock conversions as variables of their own (16.7.1): `superSample(subSample(a, 3), 3)` means `superSample(v, 3)`
//! with `v = subSample(a, 3)`, so that an operand has a clock, and keeps its value between the ticks of that clock.
//!
//! The specification wants the operands of `hold` and `backSample` to be components, since these are asked for before their
//! first tick. Here they may be expressions; before the first tick such an expression is computed from start values.

use std::sync::Arc;

use base::{Diagnostic, Name};
use dae::scalar_type::ScalarType;
use dae::{
    ActionKind, Attributes, Builtin, Equation, EquationRole, ExprId, Exprs, Memo, Model, Node, Origin, OriginKind,
    VarId, Variability, Variable, VariableType,
};
use rustc_hash::FxHashMap;

use super::partitions::Partitions;
use super::rates::{Base, Clocks};
use super::ratio::Ratio;

/// An operand that became a variable.
pub(super) struct Operand {
    variable: VarId,
    operator: Builtin,
    origin: Origin,
}

/// Gives the operands of conversions variables, in all equations and actions.
pub(super) fn name(model: &mut Model) -> Vec<Operand> {
    let mut found = Vec::new();
    for id in model.equations.ids().collect::<Vec<_>>() {
        let Equation { left, right, ref origin, .. } = model.equations[id];
        let origin = origin.clone();
        if let &[left, right] = named(model, &[left, right], &origin, &mut found).as_slice() {
            let equation = &mut model.equations[id];
            (equation.left, equation.right) = (left, right);
        }
    }
    for index in 0..model.actions.len() {
        let action = &model.actions[index];
        let origin = action.origin.clone();
        let (condition, kind) = (action.condition, action.kind.clone());
        let mut new = |id: ExprId| named(model, &[id], &origin, &mut found).first().copied().unwrap_or(id);
        let condition = condition.map(&mut new);
        let kind = match kind {
            ActionKind::Reinit { state, value } => ActionKind::Reinit { state, value: new(value) },
            ActionKind::Assert { holds, message, warning } => {
                ActionKind::Assert { holds: new(holds), message: new(message), warning }
            }
            ActionKind::Terminate { message } => ActionKind::Terminate { message: new(message) },
            ActionKind::Call(call) => ActionKind::Call(new(call)),
        };
        let action = &mut model.actions[index];
        (action.condition, action.kind) = (condition, kind);
    }
    found
}

/// Expressions of one equation with variables for the operands in them.
///
/// Equal operands of different equations stay apart: their clocks may be inferred, each from its own surroundings.
fn named(model: &mut Model, roots: &[ExprId], origin: &Origin, found: &mut Vec<Operand>) -> Vec<ExprId> {
    let mut operands = Vec::new();
    let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in model.exprs.postorder(roots) {
        let Node::Builtin(operator, args) = model.exprs.node(id) else { continue };
        if operator != Builtin::Hold && !operator.is_clock_conversion() {
            continue;
        }
        let mut args = model.exprs.arguments(args).to_vec();
        let Some(&operand) = args.first().filter(|&&operand| needs_variable(model, operand)) else { continue };
        let variable = add_variable(model, operator, operand, origin, found.len() as u32 + 1);
        found.push(Operand { variable, operator, origin: origin.clone() });
        args[0] = model.exprs.var(variable);
        operands.push((variable, operand));
        replaced.insert(id, model.exprs.builtin(operator, &args));
    }
    if operands.is_empty() {
        return roots.to_vec();
    }
    let mut memo = Memo::default();
    let mut rule = |exprs: &mut Exprs, old: ExprId, node: Node| match replaced.get(&old) {
        Some(&new) => new,
        None => exprs.make(node),
    };
    for (variable, operand) in operands {
        let left = model.exprs.var(variable);
        let right = model.exprs.rewrite(&[operand], &mut memo, &mut rule)[0];
        let origin = Origin { kind: OriginKind::Auxiliary, ..origin.clone() };
        model.equations.push(Equation { left, right, role: EquationRole::Plain, origin });
    }
    model.exprs.rewrite(roots, &mut memo, &mut rule)
}

/// Components, values that never change and clocks themselves need none.
fn needs_variable(model: &Model, operand: ExprId) -> bool {
    if matches!(model.exprs.node(operand), Node::Var(_)) || is_clock(model, operand) {
        return false;
    }
    model.exprs.any(operand, |node| match node {
        Node::Var(v) => model.variables[v].variability > Variability::Parameter,
        Node::Time | Node::Der(_) | Node::Pre(_) | Node::Previous(_) => true,
        Node::Builtin(op, _) => is_clocked(op) || matches!(op, Builtin::Sample | Builtin::Initial | Builtin::Terminal),
        _ => false,
    })
}

fn is_clocked(op: Builtin) -> bool {
    let is_question = matches!(op, Builtin::Interval | Builtin::FirstTick);
    is_question || matches!(op, Builtin::Hold | Builtin::SampleClocked) || op.is_clock_conversion()
}

/// Whether an expression is of type Clock.
fn is_clock(model: &Model, mut id: ExprId) -> bool {
    loop {
        id = match model.exprs.node(id) {
            Node::Var(v) => return model.variables[v].ty == VariableType::Clock,
            Node::If { then, .. } => then,
            Node::Builtin(op, _) if op.is_clock_constructor() => return true,
            Node::Builtin(op, args) if op.is_clock_conversion() => match model.exprs.arguments(args).first() {
                Some(&operand) => operand,
                None => return false,
            },
            _ => return false,
        };
    }
}

fn add_variable(model: &mut Model, operator: Builtin, operand: ExprId, origin: &Origin, number: u32) -> VarId {
    let ty = type_of(model, operand);
    let has_start = matches!(operator, Builtin::Hold | Builtin::BackSample);
    let start = has_start.then(|| before_first_tick(model, operand, ty)).flatten();
    let path = model.paths.child(origin.component, Name::new("operand"), &[number]);
    model.variables.push(Variable {
        attributes: Arc::new(Attributes { start, ..Attributes::default() }),
        span: origin.span,
        ..Variable::hidden(path, ty, Variability::Discrete)
    })
}

/// The type of an expression that may be clocked.
pub(super) fn type_of(model: &Model, expression: ExprId) -> VariableType {
    let mut id = expression;
    loop {
        id = match model.exprs.node(id) {
            Node::Boolean(_) | Node::Compare { .. } | Node::And(..) | Node::Or(..) | Node::Not(_) => {
                return VariableType::Boolean;
            }
            Node::String(_) => return VariableType::String,
            Node::Var(v) | Node::Pre(v) | Node::Previous(v) => return model.variables[v].ty,
            Node::If { then, .. } => match type_of_number(model, id) {
                VariableType::Boolean => then,
                known => return known,
            },
            Node::Builtin(op, args) if is_clocked(op) && op != Builtin::Interval && op != Builtin::FirstTick => {
                match model.exprs.arguments(args).first() {
                    Some(&operand) => operand,
                    None => return VariableType::Real,
                }
            }
            _ => return type_of_number(model, id),
        };
    }
}

/// What is not a number is a Boolean.
fn type_of_number(model: &Model, id: ExprId) -> VariableType {
    match model.scalar_type(id) {
        ScalarType::Real | ScalarType::Rounded => VariableType::Real,
        ScalarType::Integer => VariableType::Integer,
        ScalarType::Enumeration(known) => {
            let index = model.enumerations.iter().position(|other| std::ptr::eq(other, known));
            index.map_or(VariableType::Integer, |index| VariableType::Enumeration(index as u32))
        }
        ScalarType::Other => VariableType::Boolean,
    }
}

/// The value of an operand while its clock has not ticked, from start values; `None` for zero.
fn before_first_tick(model: &mut Model, operand: ExprId, ty: VariableType) -> Option<ExprId> {
    if ty == VariableType::String {
        return None;
    }
    let variables = &model.variables;
    let value = model.exprs.rewrite(&[operand], &mut Memo::default(), |exprs, _, node| match node {
        Node::Var(v) if variables[v].variability <= Variability::Parameter => exprs.make(node),
        Node::Var(v) | Node::Pre(v) | Node::Previous(v) => match variables[v].attributes.start {
            Some(start) => start,
            None if variables[v].ty == VariableType::Boolean => exprs.boolean(false),
            None => exprs.int(0),
        },
        Node::Der(_) | Node::Time | Node::Builtin(Builtin::Interval, _) => exprs.real(0.0),
        Node::Builtin(Builtin::FirstTick | Builtin::Initial | Builtin::Terminal | Builtin::Sample, _) => {
            exprs.boolean(false)
        }
        Node::Builtin(op, args) if is_clocked(op) => match exprs.arguments(args).first() {
            Some(&value) => value,
            None => exprs.make(node),
        },
        node => exprs.make(node),
    })[0];
    // Start values need not be in the domain of the expression; then its value at the ticks is not either, or it differs.
    (!model.exprs.is_partial(value)).then_some(value)
}

/// Tells where the value of an expression before its first tick can be seen.
pub(super) fn notices(operands: &[Operand], partitions: &mut Partitions, clocks: &mut Clocks) {
    for Operand { variable, operator, origin } in operands {
        let name = match operator {
            Builtin::Hold => "hold",
            Builtin::BackSample => "backSample",
            _ => continue,
        };
        let partition = partitions.find(base::Id::index(*variable));
        let Some(clock) = clocks.of.get(&partition) else { continue };
        let is_late = clock.shift != Ratio::ZERO || matches!(clock.base, Base::Event { .. });
        if !is_late {
            continue;
        }
        let message = format!("the operand of `{name}` is an expression, which has no start value");
        let notice = Diagnostic::warning("operand-without-start", message)
            .decides()
            .note("before the first tick of its clock, the expression of the start values of its variables is used")
            .hint("give the expression a variable with a start value")
            .specification("16.5");
        clocks.notices.push(match &origin.span {
            Some(span) => notice.at(*span, "here"),
            None => notice,
        });
    }
}
