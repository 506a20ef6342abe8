//! Where an expression stands in the model, for messages.

use base::Diagnostic;
use compile::Program;
use dae::{ExprId, Model, Origin, VarId};

use crate::machine::Trouble;

/// Adds the place of the equation or action that holds the expression.
pub fn with_place(model: &Model, expression: ExprId, label: &str, diagnostic: Diagnostic) -> Diagnostic {
    match origin_of(model, expression) {
        Some(origin) => at_origin(model, origin, label, diagnostic),
        None => diagnostic,
    }
}

pub fn at_origin(model: &Model, origin: &Origin, label: &str, diagnostic: Diagnostic) -> Diagnostic {
    let diagnostic = diagnostic.in_component(model.paths.text(origin.component));
    match origin.span {
        Some(span) => diagnostic.at(span, label),
        None => diagnostic,
    }
}

fn origin_of(model: &Model, expression: ExprId) -> Option<&Origin> {
    let holds = |roots: &[ExprId]| model.exprs.postorder(roots).contains(&expression);
    let equations = model.equations.values().map(|equation| (vec![equation.left, equation.right], &equation.origin));
    let actions = model.actions.iter().chain(&model.initial_actions);
    let actions = actions.map(|action| (action.condition.into_iter().collect(), &action.origin));
    equations.chain(actions).find(|(roots, _)| holds(roots)).map(|(_, origin)| origin)
}

/// Something of a variable, such as its value, is no finite number.
pub fn not_finite(program: &Program, variable: VarId, what: &str) -> Trouble {
    let model = program.model();
    let message = format!("{what} of {} is not finite", model.variable_name(variable));
    about_variable(model, variable, Diagnostic::error("not-finite", message))
}

/// The diagnostic with the component and the declaration of a variable.
pub fn about_variable(model: &Model, variable: VarId, diagnostic: Diagnostic) -> Trouble {
    let declared = &model.variables[variable];
    let component = model.paths.parent(declared.path).map(|parent| model.paths.text(parent)).unwrap_or_default();
    let diagnostic = diagnostic.in_component(component);
    Trouble::Model(Box::new(match declared.span {
        Some(span) => diagnostic.at(span, "declared here"),
        None => diagnostic,
    }))
}
