//! Constants and parameters: their bindings in order, literals for those that are part of the structure, and which of
//! them the initial problem has to determine (`fixed = false`, specification 8.6).

use base::{Diagnostic, Id};
use dae::{ExprId, Memo, Node, VarId, Variability, VariableType};

use crate::schedule::{Assignment, Role};
use crate::work::Work;

pub fn order(work: &mut Work) -> Result<(), Vec<Diagnostic>> {
    give_bindings(work);
    let order = loop {
        match sort(work) {
            Ok(order) => break order,
            Err(cycles) => {
                // A choice such as `if use_T then f(h) else g` is a cycle only as long as it is open.
                let closed = cycles.iter().map(|path| close_choices(work, path)).filter(|&closed| closed).count();
                if closed == 0 {
                    return Err(cycles.iter().map(|path| cycle(work, path)).collect());
                }
            }
        }
    };
    let mut folding = Memo::default();
    let mut valuing = Memo::default();
    for variable in order {
        let Some(binding) = work.model.variables[variable].binding else { continue };
        let folded = &work.folded;
        let binding = work.model.exprs.substitute(&[binding], &mut folding, |v| folded[v])[0];
        work.model.variables[variable].binding = Some(binding);
        if depends_on_free(work, binding) {
            work.free[variable] = true;
        }
        if work.free[variable] {
            continue;
        }
        let values = &work.values;
        let value = work.model.exprs.substitute(&[binding], &mut valuing, |v| values[v])[0];
        if work.model.exprs.is_literal(value) {
            work.values[variable] = Some(value);
        }
        let declared = &work.model.variables[variable];
        if work.model.exprs.is_literal(binding)
            && (declared.variability == Variability::Constant || declared.structural)
        {
            work.folded[variable] = Some(binding);
        }
        if !work.model.exprs.is_literal(binding) {
            work.parameters.push(Assignment { variable, value: binding, equation: None });
        }
    }
    work.value_memo = valuing;
    Ok(())
}

/// A parameter without a binding has its start value (specification 8.6), else the default of its type.
fn give_bindings(work: &mut Work) {
    for variable in work.model.variables.ids() {
        if !matches!(work.roles[variable], Role::Constant | Role::Parameter) {
            continue;
        }
        let declared = &work.model.variables[variable];
        let not_fixed =
            declared.attributes.fixed.is_some_and(|fixed| work.model.exprs.as_boolean(fixed) == Some(false));
        if not_fixed {
            work.free[variable] = true;
        }
        if declared.binding.is_some() || not_fixed || declared.ty == VariableType::Object {
            continue;
        }
        let value = start_value(work, variable);
        work.model.variables[variable].binding = Some(value);
    }
}

/// The start attribute or the default of the type.
pub fn start_value(work: &mut Work, variable: VarId) -> ExprId {
    let declared = &work.model.variables[variable];
    if let Some(start) = declared.attributes.start {
        return start;
    }
    let exprs = &mut work.model.exprs;
    match declared.ty {
        VariableType::Real => exprs.real(0.0),
        VariableType::Integer | VariableType::Object | VariableType::Clock => exprs.int(0),
        VariableType::Boolean => exprs.boolean(false),
        VariableType::Enumeration(_) => exprs.int(1),
        VariableType::String => exprs.string(""),
    }
}

fn depends_on_free(work: &Work, expr: ExprId) -> bool {
    work.model.exprs.any(expr, |node| matches!(node, Node::Var(v) if work.free[v]))
}

/// Depth first over the bindings, without recursion; a parameter that is met again on its own path is a cycle.
fn sort(work: &Work) -> Result<Vec<VarId>, Vec<Vec<VarId>>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let count = work.model.variables.len();
    let mut state = vec![State::New; count];
    let mut order = Vec::new();
    let mut problems = Vec::new();
    let mut stack: Vec<(VarId, Vec<VarId>)> = Vec::new();
    for root in work.model.variables.ids() {
        if !work.is_parameter(root) || state[root.index()] != State::New {
            continue;
        }
        state[root.index()] = State::Open;
        stack.push((root, needs(work, root)));
        while let Some((variable, open)) = stack.last_mut() {
            let variable = *variable;
            match open.pop() {
                None => {
                    stack.pop();
                    state[variable.index()] = State::Done;
                    order.push(variable);
                }
                Some(next) => match state[next.index()] {
                    State::Done => {}
                    State::New => {
                        state[next.index()] = State::Open;
                        stack.push((next, needs(work, next)));
                    }
                    State::Open => {
                        let path: Vec<VarId> = stack.iter().map(|(v, _)| *v).skip_while(|v| *v != next).collect();
                        problems.push(path);
                    }
                },
            }
        }
    }
    if problems.is_empty() { Ok(order) } else { Err(problems) }
}

/// Puts the values of parameters that are not Real, where they are known, into the bindings of a cycle; tells whether
/// that changed any. The values become part of the structure.
fn close_choices(work: &mut Work, path: &[VarId]) -> bool {
    let mut changed = false;
    for &variable in path {
        let Some(binding) = work.model.variables[variable].binding else { continue };
        let needed = work.model.exprs.dependencies(&[binding]).variables;
        let known: Vec<(VarId, ExprId)> = needed.into_iter().filter_map(|v| Some((v, choice(work, v)?))).collect();
        let value = |v: VarId| known.iter().find(|(known, _)| *known == v).map(|(_, value)| *value);
        let closed = work.model.exprs.substitute(&[binding], &mut Memo::default(), value)[0];
        if closed != binding {
            work.model.variables[variable].binding = Some(closed);
            known.iter().for_each(|&(v, _)| work.model.variables[v].structural = true);
            changed = true;
        }
    }
    changed
}

/// The literal value of a parameter that is not Real, through parameters that are bound to others.
fn choice(work: &Work, mut variable: VarId) -> Option<ExprId> {
    // A chain of bindings cannot be longer than the list of variables.
    for _ in 0..work.model.variables.len() {
        let declared = &work.model.variables[variable];
        if declared.ty == VariableType::Real || !work.is_parameter(variable) || work.free[variable] {
            return None;
        }
        let binding = declared.binding?;
        if work.model.exprs.is_literal(binding) {
            return Some(binding);
        }
        let Node::Var(next) = work.model.exprs.node(binding) else { return None };
        variable = next;
    }
    None
}

fn needs(work: &Work, variable: VarId) -> Vec<VarId> {
    let Some(binding) = work.model.variables[variable].binding else { return Vec::new() };
    let mut needed = work.model.exprs.dependencies(&[binding]).variables;
    needed.retain(|&v| work.is_parameter(v));
    needed.reverse();
    needed
}

fn cycle(work: &Work, path: &[VarId]) -> Diagnostic {
    let mut names: Vec<String> = path.iter().map(|&v| work.model.variable_name(v)).collect();
    names.extend(names.first().cloned());
    let mut diagnostic =
        Diagnostic::error("cyclic-parameters", format!("parameters depend on each other: {}", names.join(" → ")))
            .specification("4.4.4");
    for &variable in path {
        if let Some(span) = work.model.variables[variable].span {
            diagnostic = diagnostic.at(span, "");
        }
    }
    diagnostic
}
