//! Functions that read the environment, and those that change files, are refused before the run where that is known to be forbidden:
//! where the user allowed nothing of the kind, or where a call names a file elsewhere. Whether any other path is among those that
//! are allowed, the run decides.

use std::path::Path;

use base::Diagnostic;
use dae::function::Body;
use dae::{ExprId, FunctionId, Model, Node};
use native::Effect;

use crate::elaborate::Elaborator;

pub fn refuse(elaborator: &mut Elaborator) {
    let model = &elaborator.flat.model;
    // Most models have no such function.
    if !model.functions.ids().any(|id| effect(model, id).is_some()) {
        return;
    }
    let mut problems: Vec<Diagnostic> = Vec::new();
    for call in dae::calls(model) {
        let problem = problem(model, call).filter(|problem| !problems.contains(problem));
        problems.extend(problem);
    }
    problems.into_iter().for_each(|problem| elaborator.report(problem));
}

/// What an external function does outside of the model.
fn effect(model: &Model, id: FunctionId) -> Option<Effect> {
    let Body::External(external) = &model.functions.get(id)?.body else { return None };
    native::effect(external.symbol.as_str())
}

fn problem(model: &Model, call: ExprId) -> Option<Diagnostic> {
    let Node::Call { site, args, .. } = model.exprs.node(call) else { return None };
    let id = model.exprs.call_site(site).function;
    let is_elsewhere = |&argument: &ExprId| match model.exprs.node(argument) {
        Node::String(name) => !model.access.may_change(Path::new(name.as_str())),
        _ => false,
    };
    let is_refused = |effect: &Effect| match effect {
        Effect::Files(_) => model.access.refuses_all_writing() || model.exprs.arguments(args).iter().any(is_elsewhere),
        Effect::Environment(_) => !model.access.allows_environment(),
    };
    let reached = dae::reachable_functions(model, vec![id]);
    let effect = reached.into_iter().filter_map(|id| effect(model, id)).find(is_refused)?;
    let function = model.functions.get(id)?;
    let (does, hint) = match effect {
        Effect::Files(does) => (does, "`--allow-write DIR` lets the model write, remove and read files in a folder"),
        Effect::Environment(does) => (does, "`--allow-env` lets the model read environment variables"),
    };
    let text = model.expression_text(call);
    let message = format!("`{text}` {does}, which the model may not do");
    Some(Diagnostic::error("not-allowed", message).at(function.span, "declared here").hint(hint))
}
