//! What decides about something discrete makes events (specification 3.8.5): the equations of Boolean, Integer and enumeration
//! variables, and relations.

use base::{Diagnostic, Id};
use dae::event_free::Follower;
use dae::{ActionKind, EqId, EquationRole, ExprId, Exprs, Memo, Model, Node, VariableType};
use rustc_hash::FxHashSet;

use crate::elaborate::Elaborator;

/// Lets such equations follow what varies between events, such as the result of a function. What somebody wants to be without
/// events cannot be followed.
pub fn follow(elaborator: &mut Elaborator) {
    let follower = Follower::new(&elaborator.flat.model);
    follow_relations(&mut elaborator.flat.model, &follower);
    for index in 0..elaborator.flat.model.equations.len() {
        let id: EqId = Id::from_index(index);
        let equation = &elaborator.flat.model.equations[id];
        let (left, right) = (equation.left, equation.right);
        // The values of when clauses are taken at instants.
        if matches!(equation.role, EquationRole::When(_))
            || !is_discrete(elaborator, left) && !is_discrete(elaborator, right)
        {
            continue;
        }
        for (side, is_left) in [(left, true), (right, false)] {
            let without_events = std::mem::take(&mut elaborator.expansion.without_events);
            let model = &mut elaborator.flat.model;
            let followed = follower.followed(model, side, |id| without_events.contains(&id));
            elaborator.expansion.without_events = without_events;
            match followed {
                Ok(new) if is_left => elaborator.flat.model.equations[id].left = new,
                Ok(new) => elaborator.flat.model.equations[id].right = new,
                Err(without) => {
                    let diagnostic = refusal(elaborator, id, without);
                    elaborator.report(diagnostic);
                }
            }
        }
    }
}

/// Refuses `pre` of what varies continuously where it stands outside of when clauses: there it would be the value at the event
/// before, whichever that is.
pub fn refuse_left_limits(elaborator: &mut Elaborator) {
    let asked = std::mem::take(&mut elaborator.expansion.left_limits);
    // A text that was printed from a flat model has no when clauses where they could not be found again.
    if asked.is_empty() || elaborator.flat.model.is_from_flat_text {
        return;
    }
    let follower = Follower::new(&elaborator.flat.model).with_steps(&elaborator.flat.model);
    let mut said = FxHashSet::default();
    for (variable, span, path) in asked {
        let model = &elaborator.flat.model;
        let is_clocked = elaborator.machines.state_of(&model.paths, path).is_some();
        if follower.changes_at_events(variable) || is_clocked || !said.insert(span) {
            continue;
        }
        let name = model.variable_name(variable);
        let message = format!("`{name}` varies continuously, and its value before an event has no meaning here");
        let component = model.paths.text(path);
        let diagnostic = Diagnostic::error("variability", message)
            .at(span, "")
            .hint("it has one in when clauses: the value just before their instant; `delay` looks back in time")
            .specification("3.7.5");
        let diagnostic = if component.is_empty() { diagnostic } else { diagnostic.in_component(component) };
        elaborator.report(diagnostic);
    }
}

/// Where the operands of a relation change in steps, these make the events.
fn follow_relations(model: &mut Model, follower: &Follower) {
    let followed = follower.relations_between_steps(model);
    if followed.is_empty() {
        return;
    }
    let mut memo = Memo::default();
    let Model { exprs, equations, initial_equations, actions, initial_actions, .. } = model;
    let mut replace = |side: &mut ExprId| {
        let rule = |exprs: &mut Exprs, id: ExprId, node: Node| match followed.get(&id) {
            Some(&new) => new,
            None => exprs.make(node),
        };
        *side = exprs.rewrite(&[*side], &mut memo, rule)[0];
    };
    for equation in equations.values_mut().chain(initial_equations.iter_mut()) {
        replace(&mut equation.left);
        replace(&mut equation.right);
    }
    for action in actions.iter_mut().chain(initial_actions.iter_mut()) {
        action.condition.iter_mut().for_each(&mut replace);
        match &mut action.kind {
            ActionKind::Reinit { value, .. } => replace(value),
            ActionKind::Assert { holds, .. } => replace(holds),
            ActionKind::Terminate { .. } | ActionKind::Call(_) => {}
        }
    }
}

fn is_discrete(elaborator: &Elaborator, side: dae::ExprId) -> bool {
    let model = &elaborator.flat.model;
    let Node::Var(variable) = model.exprs.node(side) else { return false };
    matches!(model.variables[variable].ty, VariableType::Boolean | VariableType::Integer | VariableType::Enumeration(_))
}

fn refusal(elaborator: &Elaborator, id: EqId, without: dae::ExprId) -> Diagnostic {
    let model = &elaborator.flat.model;
    let equation = &model.equations[id];
    let variable = [equation.left, equation.right].into_iter().find_map(|side| match model.exprs.node(side) {
        Node::Var(variable) => Some(model.variable_name(variable)),
        _ => None,
    });
    let message = format!(
        "`{}` changes at events only, but {} makes none",
        variable.unwrap_or_default(),
        model.expression_text(without)
    );
    let diagnostic = Diagnostic::error("variability", message)
        .hint("leave out noEvent(…), so that the change is an event; or use the condition where a Real is computed")
        .specification("3.8.5");
    let component = model.paths.text(equation.origin.component);
    let diagnostic = match equation.origin.span {
        Some(span) => diagnostic.at(span, "this varies continuously"),
        None => diagnostic,
    };
    if component.is_empty() { diagnostic } else { diagnostic.in_component(component) }
}
