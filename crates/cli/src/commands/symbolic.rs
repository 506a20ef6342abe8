//! `gyrator linearize --symbolic`: matrices and transfer functions with symbols for the parameters.

use std::fmt::Write as _;

use linear::Parameter;
use linear::export::{self, Cell};
use serde_json::{Map, Value, json};
use session::{EntryNotation, SymbolicSpace};

use crate::arguments::{LinearFormat, Linearize};
use crate::commands::linearize::{Lacking, last_name, roots_json, wanted, write};
use crate::exit::Failure;
use crate::style::Style;
use crate::subject::Call;

pub fn run(arguments: &Linearize, style: Style) -> Result<(), Failure> {
    for (given, name) in [(arguments.minimal, "--minimal"), (arguments.plot.is_some(), "--plot")] {
        if given {
            let message = format!("`{name}` needs numbers; leave out `--symbolic`");
            return Err(Failure::call(message));
        }
    }
    let mut call = Call::new(&arguments.subject, style);
    let found = wanted(arguments).and_then(|(wanted, options)| {
        let request = call.request()?;
        call.session.linearize_symbolic(&request, &wanted, options)
    });
    let space = match found {
        Ok(space) => space,
        Err(failed) => return Err(call.failed(failed)),
    };
    call.tell();
    let class = call.session.class.clone();
    let format = if arguments.subject.json { LinearFormat::Json } else { arguments.format };
    let mut lacking = Lacking::default();
    write(arguments, &text_of(&class, &space, format, &mut lacking)?)?;
    lacking.end(arguments)
}

fn text_of(class: &str, space: &SymbolicSpace, format: LinearFormat, lacking: &mut Lacking) -> Result<String, Failure> {
    let headed = |comment: &str, body: String| {
        let conditions = space.conditions.iter().map(|condition| format!("{comment} holds where {condition}\n"));
        let notes = space.notes.iter().map(|note| format!("{comment} note: {note}\n"));
        format!("{comment} {class}\n{}{body}", conditions.chain(notes).collect::<String>())
    };
    if space.rates.is_some() && matches!(format, LinearFormat::Matlab | LinearFormat::Python | LinearFormat::Modelica) {
        let message = "derivatives of inputs are needed, which this format has no place for; take text, json or latex";
        return Err(Failure::call(message.to_owned()));
    }
    Ok(match format {
        LinearFormat::Text => text(class, space),
        LinearFormat::Json => format!("{:#}\n", json_of(class, space, lacking)),
        LinearFormat::Latex => headed("%", latex(space)),
        LinearFormat::Matlab => headed("%", export::matlab(&space.entries(EntryNotation::Matlab))),
        LinearFormat::Python => headed("#", export::python(&space.entries(EntryNotation::Python))),
        LinearFormat::Modelica => {
            let name = format!("{}_linear", last_name(class));
            headed("//", export::modelica(&space.entries(EntryNotation::Modelica), &name))
        }
    })
}

/// Matrices, the values of the parameters in them, and transfer functions.
pub fn text(class: &str, space: &SymbolicSpace) -> String {
    let system = space.entries(EntryNotation::Plain);
    let mut text = format!("{class}\n\n{}", export::text(&system));
    if let Some(rates) = space.rate_entries() {
        text += &export::rates_text(&system, &rates);
    }
    text += &parameters_text(&system.parameters);
    for condition in &space.conditions {
        let _ = writeln!(text, "holds where {condition}");
    }
    for note in &space.notes {
        let _ = writeln!(text, "note: {note}");
    }
    let functions = match space.transfer_functions() {
        Ok(functions) => functions,
        Err(reason) => {
            let _ = writeln!(text, "\nno transfer functions: {reason}");
            Vec::new()
        }
    };
    if !functions.is_empty() {
        let laplace = space.laplace();
        let named = if laplace == "s" { String::new() } else { format!(" ({laplace} is the Laplace variable)") };
        let _ = writeln!(text, "\ntransfer functions{named}");
    }
    for (output, input, function) in functions {
        let (input, output) = (&system.inputs[input].name, &system.outputs[output].name);
        let _ = writeln!(text, "{input} → {output}: {}", function.exact());
    }
    text
}

fn parameters_text(parameters: &[Parameter]) -> String {
    if parameters.is_empty() {
        return String::new();
    }
    let values = parameters.iter().map(|parameter| match parameter.value {
        Some(value) => format!("{} = {}", parameter.name, value.short()),
        None => parameter.name.clone(),
    });
    format!("\nparameters: {}\n", values.collect::<Vec<_>>().join(", "))
}

fn latex(space: &SymbolicSpace) -> String {
    let system = space.entries(EntryNotation::Plain);
    let mut text = export::latex_with_rates(&system, space.rate_entries().as_ref());
    let laplace = space.laplace();
    let functions = match space.transfer_functions() {
        Ok(functions) => functions,
        Err(reason) => {
            let _ = writeln!(text, "% no transfer functions: {reason}");
            Vec::new()
        }
    };
    if !functions.is_empty() {
        text += "\\begin{align*}\n";
        let lines = functions.iter().map(|(output, input, function)| {
            let name = |name: &str| export::latex_name(name);
            let (input, output) = (name(&system.inputs[*input].name), name(&system.outputs[*output].name));
            format!("G_{{{output}, {input}}}({laplace}) &= {}", function.latex())
        });
        text += &lines.collect::<Vec<_>>().join(" \\\\\n");
        text += "\n\\end{align*}\n";
    }
    text
}

pub fn json_of(class: &str, space: &SymbolicSpace, lacking: &mut Lacking) -> Value {
    let system = space.entries(EntryNotation::Plain);
    let mut object = Map::new();
    object.insert("model".to_owned(), Value::from(class));
    object.extend(export::json(&system, &[], &[]));
    if let (Some(numbers), Some(with_zeros)) = (space.numbers(), space.numbers_for_zeros()) {
        roots_json(&mut object, &numbers, &with_zeros, lacking);
    }
    if let Some(rates) = space.rate_entries() {
        object.extend(export::rates_json(&rates));
    }
    let parameters = system.parameters.iter().map(|it| (it.name.clone(), it.value.map_or(Value::Null, Value::from)));
    object.insert("parameters".to_owned(), Value::Object(parameters.collect()));
    if !space.conditions.is_empty() {
        object.insert("conditions".to_owned(), json!(space.conditions));
    }
    if !space.notes.is_empty() {
        object.insert("notes".to_owned(), json!(space.notes));
    }
    object.insert("laplace_variable".to_owned(), Value::from(space.laplace()));
    let functions = match space.transfer_functions() {
        Ok(functions) => functions,
        Err(reason) => {
            object.insert("no_transfer_functions".to_owned(), Value::from(reason));
            Vec::new()
        }
    };
    let functions: Vec<Value> = functions
        .into_iter()
        .map(|(output, input, function)| {
            let (input, output) = (&system.inputs[input].name, &system.outputs[output].name);
            json!({ "input": input, "output": output, "function": function.exact() })
        })
        .collect();
    object.insert("transfer_functions".to_owned(), Value::Array(functions));
    Value::Object(object)
}
