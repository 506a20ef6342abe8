//! Functions that read the environment, and with `--strict` those that change files, are refused before the run where the user
//! allowed nothing of the kind. Whether a path is among those that are allowed, the run decides.

use base::Diagnostic;
use dae::function::Body;
use dae::{ExprId, FunctionId, Model, Node};
use native::Effect;

use crate::elaborate::Elaborator;

pub fn refuse(elaborator: &mut Elaborator) {
    let model = &elaborator.flat.model;
    // Most models have no such function.
    if !model.functions.ids().any(|id| refused(model, id).is_some()) {
        return;
    }
    let mut problems: Vec<Diagnostic> = Vec::new();
    for call in dae::calls(model) {
        let problem = problem(model, call).filter(|problem| !problems.contains(problem));
        problems.extend(problem);
    }
    problems.into_iter().for_each(|problem| elaborator.report(problem));
}

/// The effect of an external function that is not allowed.
fn refused(model: &Model, id: FunctionId) -> Option<Effect> {
    let Body::External(external) = &model.functions.get(id)?.body else { return None };
    native::effect(external.symbol.as_str()).filter(|effect| match effect {
        Effect::Files(_) => model.access.refuses_all_writing(),
        Effect::Environment(_) => !model.access.allows_environment(),
    })
}

fn problem(model: &Model, call: ExprId) -> Option<Diagnostic> {
    let Node::Call { site, .. } = model.exprs.node(call) else { return None };
    let id = model.exprs.call_site(site).function;
    let reached = dae::reachable_functions(model, vec![id]);
    let effect = reached.into_iter().find_map(|id| refused(model, id))?;
    let function = model.functions.get(id)?;
    let (does, hint) = match effect {
        Effect::Files(does) => (does, "`--allow-write DIR` lets the model write, remove and read files in a folder"),
        Effect::Environment(does) => (does, "`--allow-env` lets the model read environment variables"),
    };
    let text = model.expression_text(call);
    let message = format!("`{text}` {does}, which the model may not do");
    Some(Diagnostic::error("not-allowed", message).at(function.span, "declared here").hint(hint))
}
