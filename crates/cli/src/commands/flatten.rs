//! `gyrator flatten`: the flat hybrid DAE as Modelica text or JSON.

use base::SourceMap;
use dae::{Action, ActionKind, Causality, Equation, Model, Origin, StateSelect, Variability, VariableType};
use serde_json::{Value, json};

use crate::arguments::{Flatten, FlattenFormat};
use crate::exit::{Exit, Failure};
use crate::style::{Style, print};
use crate::subject::Call;

pub fn run(arguments: &Flatten, style: Style) -> Result<(), Failure> {
    let mut call = Call::new(&arguments.subject, style);
    let model = match call.flatten() {
        Ok(model) => model,
        Err(failed) => return Err(call.failed(failed)),
    };
    call.tell();
    let terms = dae::text_terms(&model);
    if terms > MOST_TERMS {
        let message = format!(
            "the text would have {terms:.0e} terms, since algorithms share expressions and equations repeat them; \
             `gyrator simulate` and `gyrator equations` work without the text"
        );
        return Err(Failure { exit: Exit::Model, message });
    }
    let sources = call.session.sources();
    let text = match arguments.format {
        FlattenFormat::Text if !arguments.subject.json => dae::modelica_text(&model, Some(sources)),
        _ => format!("{:#}\n", as_json(&model, sources)),
    };
    print(&text)?;
    call.tell_times();
    Ok(())
}

/// Some hundred megabytes of text.
const MOST_TERMS: f64 = 2e7;

/// Expressions are written out in full.
const WHOLE: dae::print::Style = dae::print::Style { exact: false, limit: usize::MAX };

fn as_json(model: &Model, sources: &SourceMap) -> Value {
    let variables: Vec<Value> = model.variables.ids().map(|id| variable(model, id)).collect();
    let equations: Vec<Value> = model.equations.values().map(|item| equation(model, item, sources)).collect();
    let initial: Vec<Value> = model.initial_equations.iter().map(|item| equation(model, item, sources)).collect();
    let actions = |all: &[Action]| -> Vec<Value> { all.iter().map(|item| action(model, item, sources)).collect() };
    let enumerations: Vec<Value> = model
        .enumerations
        .iter()
        .map(|known| {
            let literals: Vec<&str> = known.literals.iter().map(|literal| literal.as_str()).collect();
            json!({ "name": known.name.as_str(), "literals": literals })
        })
        .collect();
    let functions: Vec<Value> = model
        .functions
        .values()
        .map(|function| json!({ "name": function.name.as_str(), "text": dae::function_text(model, function) }))
        .collect();
    let mut value = json!({
        "model": model.name,
        "variables": variables,
        "equations": equations,
        "initial_equations": initial,
        "actions": actions(&model.actions),
        "initial_actions": actions(&model.initial_actions),
        "enumerations": enumerations,
        "functions": functions,
    });
    if let Some(description) = &model.description {
        value["description"] = Value::String(description.to_string());
    }
    value["experiment"] = experiment(model);
    value
}

fn experiment(model: &Model) -> Value {
    let mut value = json!({});
    let experiment = &model.experiment;
    for (key, known) in [
        ("start_time", experiment.start_time),
        ("stop_time", experiment.stop_time),
        ("interval", experiment.interval),
        ("tolerance", experiment.tolerance),
    ] {
        if let Some(known) = known {
            value[key] = json!(known);
        }
    }
    value
}

fn variable(model: &Model, id: dae::VarId) -> Value {
    let variable = &model.variables[id];
    let ty = match variable.ty {
        VariableType::Real => "Real",
        VariableType::Integer => "Integer",
        VariableType::Boolean => "Boolean",
        VariableType::Enumeration(_) => "enumeration",
        VariableType::String => "String",
        VariableType::Object => "ExternalObject",
        VariableType::Clock => "Clock",
    };
    let variability = match variable.variability {
        Variability::Constant => "constant",
        Variability::Parameter => "parameter",
        Variability::Discrete => "discrete",
        Variability::Continuous => "continuous",
    };
    let mut value = json!({ "name": model.variable_name(id), "type": ty, "variability": variability });
    let attributes = &variable.attributes;
    let expected = model.expected_by(variable.ty);
    let text = |expression: Option<dae::ExprId>| expression.map(|id| model.typed_in(id, expected, WHOLE));
    let enumeration = match variable.ty {
        VariableType::Enumeration(index) => model.enumerations.get(index as usize),
        _ => None,
    };
    let causality = match variable.causality {
        Causality::Local => None,
        Causality::Input => Some("input"),
        Causality::Output => Some("output"),
    };
    let state_select = match attributes.state_select {
        StateSelect::Default => None,
        StateSelect::Never => Some("never"),
        StateSelect::Avoid => Some("avoid"),
        StateSelect::Prefer => Some("prefer"),
        StateSelect::Always => Some("always"),
    };
    for (key, known) in [
        ("enumeration", enumeration.map(|known| known.name.to_string())),
        ("causality", causality.map(str::to_owned)),
        ("binding", text(variable.binding)),
        ("start", text(attributes.start)),
        ("fixed", attributes.fixed.map(|id| model.expression_in(id, WHOLE))),
        ("min", text(attributes.min)),
        ("max", text(attributes.max)),
        ("nominal", text(attributes.nominal)),
        ("stateSelect", state_select.map(str::to_owned)),
        ("quantity", attributes.quantity.map(|name| name.to_string())),
        ("unit", attributes.unit.map(|unit| unit.to_string())),
        ("displayUnit", attributes.display_unit.map(|unit| unit.to_string())),
        ("description", attributes.description.as_ref().map(|text| text.to_string())),
    ] {
        if let Some(known) = known {
            value[key] = Value::String(known);
        }
    }
    for (key, set) in [("protected", variable.protected), ("hidden", variable.hidden), ("flow", variable.flow)] {
        if set {
            value[key] = Value::Bool(true);
        }
    }
    value
}

fn equation(model: &Model, equation: &Equation, sources: &SourceMap) -> Value {
    let mut value = json!({ "equation": model.equation_in(equation, WHOLE) });
    origin(model, &equation.origin, sources, &mut value);
    value
}

fn action(model: &Model, action: &Action, sources: &SourceMap) -> Value {
    let text = |id| model.expression_in(id, WHOLE);
    let mut value = match &action.kind {
        ActionKind::Reinit { state, value } => {
            json!({ "reinit": model.variable_name(*state), "value": text(*value) })
        }
        ActionKind::Assert { holds, message, warning } => {
            let level = if *warning { "warning" } else { "error" };
            json!({ "assert": text(*holds), "message": text(*message), "level": level })
        }
        ActionKind::Terminate { message } => json!({ "terminate": text(*message) }),
        ActionKind::Call(call) => json!({ "call": text(*call) }),
    };
    if let Some(condition) = action.condition {
        value["condition"] = Value::String(text(condition));
    }
    origin(model, &action.origin, sources, &mut value);
    value
}

fn origin(model: &Model, origin: &Origin, sources: &SourceMap, value: &mut Value) {
    let component = model.paths.text(origin.component);
    if !component.is_empty() {
        value["component"] = Value::String(component);
    }
    if let Some(span) = origin.span {
        value["place"] = Value::String(sources.place(span));
    }
}
