//! Changes from outside of single elements of arrays: `m[1,2] = 9`, `pipe[3].d = 0.1`, `x[2].start = 1`.
//!
//! A modifier gives the elements of an array their values together (7.2.5), so these are set in the flat model, where each is
//! a variable. What was looked at to make that model, such as a size, cannot be changed there any more.

use std::sync::Arc;

use base::Diagnostic;
use dae::{ExprId, Model, VarId, Variability, VariableType};
use syntax::ast;

use crate::elaborate::Elaborator;
use crate::instance::{ClassId, Instances, Outcome};
use crate::library::name_parts;
use crate::overrides::{Overrides, SET, converted, is_element, with_unit, without_quotes};

pub(crate) fn set_elements(elaborator: &mut Elaborator, top: ClassId, overrides: &Overrides) {
    for (position, (path, text)) in overrides.set.iter().enumerate() {
        // The last value counts.
        if !is_element(path) || overrides.set[position + 1..].iter().any(|(later, _)| later == path) {
            continue;
        }
        if let Err(diagnostic) = set_element(elaborator, top, path, text) {
            elaborator.instances.report(overrides.with_file(path, diagnostic));
        }
    }
}

fn set_element(elaborator: &mut Elaborator, top: ClassId, path: &str, text: &str) -> Outcome<()> {
    let text = without_quotes(&mut elaborator.instances, top, path, text)?;
    let text = match with_unit(&text) {
        Some((value, unit)) => converted(&mut elaborator.instances, top, path, value, unit)?,
        None => text.trim().to_owned(),
    };
    let text = Value { quoted: quoted(&mut elaborator.instances, path, &text), text };
    let name: String = path.chars().filter(|character| !character.is_whitespace()).collect();
    let model = &mut elaborator.flat.model;
    let find = |model: &Model, name: &str| model.variables.ids().find(|&id| model.variable_name(id) == name);
    if let Some(variable) = find(model, &name) {
        return set_value(model, variable, path, &text);
    }
    let start = name.strip_suffix(".start").and_then(|owner| find(model, owner));
    let Some(variable) = start else {
        let names: Vec<&str> = name_parts(path).iter().map(|part| part.split('[').next().unwrap_or(part)).collect();
        let message = format!("the model has no scalar variable `{path}`");
        let hint = format!("name one number, or set all elements at once: --set '{}={{…}}'", names.join("."));
        return Err(Box::new(Diagnostic::error("wrong-value", message).hint(hint)));
    };
    let value = literal(model, variable, path, &text)?;
    let attributes = Arc::make_mut(&mut model.variables[variable].attributes);
    (attributes.start, attributes.start_level) = (Some(value), 1);
    Ok(())
}

/// The text of a value, and of that what stands between quotes where all of it does.
struct Value {
    text: String,
    quoted: Option<Arc<str>>,
}

fn quoted(instances: &mut Instances, path: &str, text: &str) -> Option<Arc<str>> {
    text.starts_with('"').then_some(())?;
    let file = instances.libraries.sources.add(format!("{SET}{path}"), text);
    match &syntax::parse_expression(file, text).ok()?.kind {
        ast::ExprKind::String(inner) => Some(inner.clone()),
        _ => None,
    }
}

fn set_value(model: &mut Model, variable: VarId, path: &str, text: &Value) -> Outcome<()> {
    let declared = &model.variables[variable];
    let refused = match declared.variability {
        Variability::Constant => Some(format!("`{path}` is a constant, which cannot be set")),
        Variability::Parameter if declared.structural || declared.is_final => Some(format!(
            "`{path}` is final, or part of the structure of the model, and cannot be set as a single element"
        )),
        Variability::Parameter => None,
        _ => Some(format!("`{path}` is not a parameter")),
    };
    if let Some(message) = refused {
        let mut diagnostic = Diagnostic::error("wrong-value", message);
        if declared.variability > Variability::Parameter {
            diagnostic = diagnostic.hint(format!("to begin with another value, set `{path}.start`"));
        }
        if let Some(span) = declared.span {
            diagnostic = diagnostic.at(span, "declared here");
        }
        return Err(Box::new(diagnostic));
    }
    let value = literal(model, variable, path, text)?;
    model.variables[variable].binding = Some(value);
    Ok(())
}

/// A text as a literal of the type of a variable.
fn literal(model: &mut Model, variable: VarId, path: &str, value: &Value) -> Outcome<ExprId> {
    let text = value.text.as_str();
    let ty = model.variables[variable].ty;
    let exprs = &mut model.exprs;
    let (value, what) = match ty {
        VariableType::Real => {
            (text.parse::<f64>().ok().filter(|x| x.is_finite()).map(|x| exprs.real(x)), "a number".to_owned())
        }
        VariableType::Integer => {
            let fits = |number: &i64| number.unsigned_abs() < 1 << 53;
            (text.parse().ok().filter(fits).map(|number| exprs.int(number)), "an Integer".to_owned())
        }
        VariableType::Boolean => (text.parse().ok().map(|value| exprs.boolean(value)), "`true` or `false`".to_owned()),
        VariableType::Enumeration(index) => {
            let literals = model.enumerations.get(index as usize).map_or(&[][..], |known| &known.literals);
            let last = name_parts(text).last().copied().unwrap_or(text);
            let position = literals.iter().position(|literal| *literal == last);
            let names: Vec<String> = literals.iter().map(|literal| format!("`{literal}`")).collect();
            (position.map(|position| exprs.int(position as i64 + 1)), names.join(" or "))
        }
        VariableType::String => {
            (value.quoted.as_deref().map(|inner| exprs.string(inner)), "a text in quotes".to_owned())
        }
        VariableType::Clock | VariableType::Object => (None, "something else".to_owned()),
    };
    value.ok_or_else(|| {
        let message = format!("`{text}` is no value of `{path}`: {what} is needed");
        Box::new(Diagnostic::error("wrong-value", message))
    })
}
