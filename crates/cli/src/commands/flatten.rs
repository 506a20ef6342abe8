//! `gyrator flatten`: the flat hybrid DAE as Modelica text or JSON.

use base::SourceMap;
use dae::{Equation, Model, Variability, VariableType};
use serde_json::{Value, json};

use crate::arguments::{Flatten, FlattenFormat};
use crate::exit::Failure;
use crate::style::{Style, print};
use crate::subject::Call;

pub fn run(arguments: &Flatten, style: Style) -> Result<(), Failure> {
    let mut call = Call::new(&arguments.subject, style);
    let model = match call.flatten() {
        Ok(model) => model,
        Err(failed) => return Err(call.failed(failed)),
    };
    call.tell();
    let sources = call.session.sources();
    match arguments.format {
        FlattenFormat::Text if !arguments.subject.json => print(&dae::modelica_text(&model, Some(sources))),
        _ => print(&format!("{:#}\n", as_json(&model, sources))),
    }
    call.tell_times();
    Ok(())
}

fn as_json(model: &Model, sources: &SourceMap) -> Value {
    let variables: Vec<Value> = model.variables.ids().map(|id| variable(model, id)).collect();
    let equations: Vec<Value> = model.equations.values().map(|item| equation(model, item, sources)).collect();
    let initial: Vec<Value> = model.initial_equations.iter().map(|item| equation(model, item, sources)).collect();
    json!({ "model": model.name, "variables": variables, "equations": equations, "initial_equations": initial })
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
    let text = |expression: Option<dae::ExprId>| expression.map(|expression| model.expression_text(expression));
    for (key, known) in [
        ("binding", text(variable.binding)),
        ("start", text(attributes.start)),
        ("fixed", text(attributes.fixed)),
        ("unit", attributes.unit.map(|unit| unit.to_string())),
        ("displayUnit", attributes.display_unit.map(|unit| unit.to_string())),
        ("description", attributes.description.as_ref().map(|text| text.to_string())),
    ] {
        if let Some(known) = known {
            value[key] = Value::String(known);
        }
    }
    value
}

fn equation(model: &Model, equation: &Equation, sources: &SourceMap) -> Value {
    let text = format!("{} = {}", model.expression_text(equation.left), model.expression_text(equation.right));
    let mut value = json!({ "equation": text });
    let component = model.paths.text(equation.origin.component);
    if !component.is_empty() {
        value["component"] = Value::String(component);
    }
    if let Some(span) = equation.origin.span {
        value["place"] = Value::String(sources.place(span));
    }
    value
}
