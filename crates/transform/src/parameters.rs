//! Constants and parameters: their bindings in order, literals for those that are part of the structure, and which of
//! them the initial problem has to determine (`fixed = false`, specification 8.6).

use base::{Diagnostic, Id};
use dae::{ActionKind, ExprId, Memo, Model, Node, VarId, Variability, VariableType};
use rustc_hash::FxHashSet;

use crate::decisions::Subject;
use crate::parts::{Assignment, Role};
use crate::work::Work;

pub fn order(work: &mut Work) -> Result<(), Vec<Diagnostic>> {
    give_bindings(work);
    let order = sorted(work)?;
    let mut folding = Memo::default();
    let mut valuing = Memo::default();
    for variable in order {
        let Some(binding) = work.model.variables[variable].binding else { continue };
        let folded = &work.parameters.folded;
        let binding = work.model.exprs.substitute(&[binding], &mut folding, |v| folded[v])[0];
        work.model.variables[variable].binding = Some(binding);
        if depends_on_free(work, binding) {
            work.parameters.free[variable] = true;
        }
        if work.parameters.free[variable] {
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
            work.parameters.folded[variable] = Some(binding);
        }
        if !work.model.exprs.is_literal(binding) {
            work.parameters.assignments.push(Assignment { variable, value: binding, equation: None });
        }
    }
    work.value_memo = valuing;
    work.note_translation();
    Ok(())
}

/// A parameter without a binding has its start value (specification 8.6), else the default of its type.
fn give_bindings(work: &mut Work) {
    let mut without = Vec::new();
    for variable in work.model.variables.ids() {
        if !matches!(work.roles[variable], Role::Constant | Role::Parameter) {
            continue;
        }
        // Whether a parameter is fixed may itself depend on parameters.
        let not_fixed = work.model.variables[variable].attributes.fixed.is_some_and(|fixed| {
            let value = value_of(work, fixed).unwrap_or(fixed);
            let truth = work.model.exprs.as_boolean(value);
            if let Some(truth) = truth {
                let span = work.model.variables[variable].span;
                work.note_truth(fixed, truth, Subject::Start, span);
            }
            truth == Some(false)
        });
        let declared = &work.model.variables[variable];
        if not_fixed {
            work.parameters.free[variable] = true;
        }
        if declared.binding.is_some() || not_fixed || declared.ty == VariableType::Object {
            continue;
        }
        without.push(variable);
    }
    let notices = without_value(work, &without);
    for variable in without {
        let value = start_value(work, variable);
        work.model.variables[variable].binding = Some(value);
    }
    work.summary.notices.extend(notices);
}

/// Says which value parameters have that got none, as far as anything depends on them.
fn without_value(work: &mut Work, without: &[VarId]) -> Vec<Diagnostic> {
    told(work, without, no_value)
}

/// The same for parameters with `fixed = false` that no condition of the initial problem determines.
pub fn without_condition(work: &mut Work, open: &[VarId]) -> Vec<Diagnostic> {
    told(work, open, |work, variable| {
        let warning = no_value(work, variable);
        let hint = "write an initial equation that determines it, or give it a value without `fixed = false`";
        Diagnostic { hint: None, ..warning }
            .note("it is `fixed = false`, and no initial equation is left for it")
            .hint(hint)
    })
}

/// Messages about those of some parameters that something depends on.
fn told(work: &mut Work, without: &[VarId], say: impl Fn(&mut Work, VarId) -> Diagnostic) -> Vec<Diagnostic> {
    /// More messages than these nobody reads.
    const MOST: usize = 10;
    if without.is_empty() {
        return Vec::new();
    }
    let used = used(&work.model);
    let mut told: Vec<VarId> = without.iter().copied().filter(|variable| used.contains(variable)).collect();
    // Hidden ones are made by the translation.
    told.retain(|&variable| !work.model.variables[variable].hidden);
    let mut notices: Vec<Diagnostic> = told.iter().take(MOST).map(|&variable| say(work, variable)).collect();
    let more = told.len().saturating_sub(MOST);
    if let Some(last) = notices.last_mut().filter(|_| more > 0) {
        last.notes.push(format!("{more} more parameters have no value"));
    }
    notices
}

/// The variables that equations, actions and the bindings and attributes of others read.
fn used(model: &Model) -> FxHashSet<VarId> {
    let mut roots: Vec<ExprId> = Vec::new();
    let equations = model.equations.values().chain(&model.initial_equations);
    roots.extend(equations.flat_map(|equation| [equation.left, equation.right]));
    for variable in model.variables.values() {
        let attributes = &variable.attributes;
        roots.extend([variable.binding, attributes.start].into_iter().flatten());
    }
    for action in model.actions.iter().chain(&model.initial_actions) {
        roots.extend(action.condition);
        match action.kind {
            ActionKind::Reinit { value, .. } => roots.push(value),
            ActionKind::Assert { holds, .. } => roots.push(holds),
            ActionKind::Call(call) => roots.push(call),
            ActionKind::Terminate { .. } => {}
        }
    }
    model.exprs.dependencies(&roots).variables.into_iter().collect()
}

fn no_value(work: &mut Work, variable: VarId) -> Diagnostic {
    let has_start = work.model.variables[variable].attributes.start.is_some();
    let value = start_value(work, variable);
    let (model, declared) = (&work.model, &work.model.variables[variable]);
    let (name, value) = (model.variable_name(variable), model.expression_text(value));
    let which = if has_start { "its start value" } else { "the default" };
    let message = format!("the parameter `{name}` has no value; {which} {value} is used");
    let component = model.paths.parent(declared.path).map(|parent| model.paths.text(parent)).unwrap_or_default();
    let warning = Diagnostic::warning("parameter-without-value", message)
        .in_component(component)
        .hint(format!("give it one in the model, or with `--set {name}=…`; --strict refuses such models"))
        .specification("8.6")
        .decides();
    match declared.span {
        Some(span) => warning.at(span, "declared without a value"),
        None => warning,
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
    work.model.exprs.any(expr, |node| matches!(node, Node::Var(v) if work.parameters.free[v]))
}

/// The parameters in the order in which they can be computed. `a = if c then b else 1; b = if c then 2 else a` is no cycle once
/// the value of c is known: where parameters seem to depend on each other, such alternatives are decided first.
fn sorted(work: &mut Work) -> Result<Vec<VarId>, Vec<Diagnostic>> {
    loop {
        let cycles = match sort(work) {
            Ok(order) => return Ok(order),
            Err(cycles) => cycles,
        };
        let mut decided = false;
        for variable in cycles.iter().flatten() {
            decided |= decide_alternatives(work, *variable);
        }
        if !decided {
            return Err(cycles.iter().map(|path| cycle(work, path)).collect());
        }
    }
}

/// Takes the branch of every `if` in the binding whose condition has a value.
fn decide_alternatives(work: &mut Work, variable: VarId) -> bool {
    let Some(binding) = work.model.variables[variable].binding else { return false };
    let conditions: Vec<ExprId> = work.model.exprs.postorder(&[binding]);
    let conditions: Vec<ExprId> = conditions
        .into_iter()
        .filter_map(|id| match work.model.exprs.node(id) {
            Node::If { condition, .. } => Some(condition),
            _ => None,
        })
        .collect();
    let mut known = Memo::default();
    for condition in conditions {
        if let Some(value) = value_of(work, condition) {
            if let Some(truth) = work.model.exprs.as_boolean(value) {
                let span = work.model.variables[variable].span;
                work.note_truth(condition, truth, Subject::Branch, span);
            }
            known.insert(condition, value);
        }
    }
    let new = work.model.exprs.rewrite(&[binding], &mut known, |exprs, _, node| exprs.make(node))[0];
    work.model.variables[variable].binding = Some(new);
    new != binding
}

/// The literal that an expression of parameters comes to, found from the bindings of what it needs.
fn value_of(work: &mut Work, expr: ExprId) -> Option<ExprId> {
    let mut values = Memo::default();
    let mut stack = vec![expr];
    let mut seen = rustc_hash::FxHashSet::default();
    let mut order = Vec::new();
    while let Some(id) = stack.pop() {
        for variable in work.model.exprs.dependencies(&[id]).variables {
            if work.is_parameter(variable) && !work.parameters.free[variable] && seen.insert(variable) {
                order.push(variable);
                stack.extend(work.model.variables[variable].binding);
            }
        }
    }
    // What is needed was found after what needs it, so going back meets it first, but for cycles, which stay open.
    for &variable in order.iter().rev() {
        let Some(binding) = work.model.variables[variable].binding else { continue };
        let value = work.model.exprs.rewrite(&[binding], &mut values.clone(), |exprs, _, node| exprs.make(node))[0];
        if work.model.exprs.is_literal(value) {
            let leaf = work.model.exprs.var(variable);
            values.insert(leaf, value);
        }
    }
    let value = work.model.exprs.rewrite(&[expr], &mut values, |exprs, _, node| exprs.make(node))[0];
    work.model.exprs.is_literal(value).then_some(value)
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
    let mut cycles = Vec::new();
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
                        cycles.push(path);
                    }
                },
            }
        }
    }
    if cycles.is_empty() { Ok(order) } else { Err(cycles) }
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
