//! Inputs of a model from the columns of a file, or from rows that a program has.

use std::path::Path;

use base::{Decimal, Diagnostic};
use compile::{Program, Signal};
use dae::{Causality, VarId, Variability, VariableType};
use results::{Trajectories, Trajectory};

use crate::names::{list, nearest};

/// The top-level inputs of a model, by name.
pub fn inputs_of(program: &Program) -> Vec<(String, VarId)> {
    let model = program.model();
    let is_input = |variable: &VarId| {
        let declared = &model.variables[*variable];
        declared.causality == Causality::Input && !declared.hidden && declared.derivative_of.is_none()
    };
    model.variables.ids().filter(is_input).map(|variable| (model.variable_name(variable), variable)).collect()
}

/// The inputs of a model that are columns of a file. Warnings name the columns that are none; the error says what is wrong
/// with the file.
pub fn signals_of_file(
    program: &Program,
    path: &Path,
    table: &Trajectories,
) -> Result<(Vec<Signal>, Vec<Diagnostic>), String> {
    let inputs = inputs_of(program);
    let file = path.display();
    let mut signals = Vec::new();
    let mut others: Vec<&str> = Vec::new();
    if inputs.iter().any(|(name, _)| *name == table.time_name) {
        let name = &table.time_name;
        return Err(format!("`{file}` has no column `time`, and its first column, `{name}`, is an input of the model"));
    }
    for (position, column) in table.variables.iter().enumerate() {
        let is_same = |other: &Trajectory| other.column.name == column.column.name;
        match inputs.iter().find(|(name, _)| *name == column.column.name) {
            Some((name, _)) if table.variables[..position].iter().any(is_same) => {
                return Err(format!("`{file}` has more than one column `{name}`"));
            }
            Some(&(_, variable)) => {
                let signal = signal_of_column(program, variable, &table.time, column);
                signals.push(signal.map_err(|message| format!("`{file}`: {message}"))?);
            }
            None => others.push(&column.column.name),
        }
    }
    let known = || inputs.iter().map(|(name, _)| name.as_str());
    if signals.is_empty() {
        let inputs = match inputs.as_slice() {
            [] => "the model has no inputs at its top level".to_owned(),
            _ => format!("the inputs of the model are {}", list(known())),
        };
        return Err(format!("no column of `{file}` is an input: {inputs}"));
    }
    let mut warnings = Vec::new();
    if !others.is_empty() {
        let (verb, noun) = if others.len() == 1 { ("is", "input") } else { ("are", "inputs") };
        let message =
            format!("{} of `{file}` {verb} no {noun} of the model and not used", list(others.iter().copied()));
        let mut warning = Diagnostic::warning("unused-column", message);
        let is_driven = |name: &str| table.get(name).is_some();
        let free = || known().filter(|name| !is_driven(name));
        if let Some((column, input)) = others.iter().find_map(|&name| Some((name, nearest(name, free())?))) {
            warning = warning.hint(format!("does `{column}` mean the input `{input}`?"));
        }
        warnings.push(warning);
    }
    Ok((signals, warnings))
}

fn signal_of_column(program: &Program, variable: VarId, time: &[f64], column: &Trajectory) -> Result<Signal, String> {
    let attributes = &program.model().variables[variable].attributes;
    let (from, to) = (column.column.unit.as_str(), attributes.unit.map_or("", |unit| unit.as_str()));
    let name = &column.column.name;
    if from.is_empty() || to.is_empty() || from == to {
        return signal(program, variable, time, &column.values);
    }
    let conversion = units::Conversion::between(from, to);
    let conversion = conversion.ok_or_else(|| {
        format!("the column `{name}` has the unit `{from}`, and the input the unit `{to}`, to which there is no way")
    })?;
    let values: Vec<f64> = column.values.iter().map(|&value| conversion.apply(value)).collect();
    signal(program, variable, time, &values)
}

/// An input from rows: linear between them where it is continuous, else held. The error says which row is wrong.
pub fn signal(program: &Program, variable: VarId, time: &[f64], values: &[f64]) -> Result<Signal, String> {
    let model = program.model();
    let declared = &model.variables[variable];
    let name = model.variable_name(variable);
    if time.len() != values.len() {
        return Err(format!("`{name}` has {} values for {} times", values.len(), time.len()));
    }
    if time.is_empty() {
        return Err(format!("`{name}` has no rows"));
    }
    for (row, (&at, &value)) in (1usize..).zip(time.iter().zip(values)) {
        if !at.is_finite() {
            return Err(format!("row {row}: the time {at} is not finite"));
        }
        if let Some(&before) = time.get(row.wrapping_sub(2)).filter(|&&before| at < before) {
            return Err(format!("row {row}: the time {} is before {} in the row above", Decimal(at), Decimal(before)));
        }
        if let Some(wrong) = what_is_wrong(program, declared.ty, value) {
            return Err(format!("row {row}, column `{name}`: {} {wrong}", Decimal(value)));
        }
    }
    let rows = time.iter().copied().zip(values.iter().copied());
    let is_continuous = declared.ty == VariableType::Real && declared.variability == Variability::Continuous;
    Ok(if is_continuous { Signal::linear(variable, rows) } else { Signal::held(variable, rows) })
}

/// Why a number is no value of a variable, such as `is no Integer`.
pub fn value_problem(program: &Program, variable: VarId, value: f64) -> Option<String> {
    what_is_wrong(program, program.model().variables[variable].ty, value)
}

/// Why a number is no value of a variable of some type.
fn what_is_wrong(program: &Program, ty: VariableType, value: f64) -> Option<String> {
    /// Integers are exact up to here.
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    let is_whole = value.fract() == 0.0;
    let wrong = match ty {
        _ if !value.is_finite() => "is not finite".to_owned(),
        VariableType::Integer if !is_whole || value.abs() > LARGEST => "is no Integer".to_owned(),
        VariableType::Boolean if value != 0.0 && value != 1.0 => "is no Boolean: 0 is false, 1 is true".to_owned(),
        VariableType::Enumeration(enumeration) => {
            let literals = program.model().enumerations[enumeration as usize].literals.len();
            if is_whole && value >= 1.0 && value <= literals as f64 {
                return None;
            }
            format!("is no literal of the enumeration: these are numbered from 1 to {literals}")
        }
        VariableType::String | VariableType::Object | VariableType::Clock => {
            "cannot be the value of an input that is no number".to_owned()
        }
        _ => return None,
    };
    Some(wrong)
}
