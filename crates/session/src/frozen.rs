//! What a linear state space does not show of a model: delays, and variables that change at events only.

use dae::{Builtin, EquationRole, Model, Node, VariableType};

use crate::names::list;

/// One sentence for each kind.
pub(crate) fn notes(model: &Model) -> Vec<String> {
    let (mut delays, mut held) = (Vec::new(), Vec::new());
    let sides: Vec<_> = model.equations.values().flat_map(|equation| [equation.left, equation.right]).collect();
    for id in model.exprs.postorder(&sides) {
        match model.exprs.node(id) {
            Node::Builtin(Builtin::Delay, _) => delays.push(model.expression_text(id)),
            Node::Builtin(Builtin::SpatialFirst | Builtin::SpatialSecond, _) => {
                delays.push("spatialDistribution(…)".to_owned());
            }
            Node::Builtin(Builtin::Hold, args) => {
                held.extend(model.exprs.arguments(args).first().map(|&held| model.expression_text(held)));
            }
            _ => {}
        }
    }
    let mut changing: Vec<String> = Vec::new();
    for equation in model.equations.values() {
        if let (EquationRole::When(_), Node::Var(id)) = (&equation.role, model.exprs.node(equation.left)) {
            let variable = &model.variables[id];
            if variable.ty == VariableType::Real && !variable.hidden {
                changing.push(model.variable_name(id));
            }
        }
    }
    let sentence = |mut names: Vec<String>, text: &str| {
        names.dedup();
        let all = list(names.iter().map(String::as_str));
        (!names.is_empty()).then(|| format!("{all}: {text}"))
    };
    let delayed = "the matrices hold the delayed values fixed; the state space has no delay";
    let sampled = "changes at events only, and the matrices hold it fixed: they describe the model between events, not a sampled controller";
    let clocked =
        "clocked, and the matrices hold it fixed: they describe the model between ticks, not the clocked part";
    [sentence(delays, delayed), sentence(changing, sampled), sentence(held, clocked)].into_iter().flatten().collect()
}
