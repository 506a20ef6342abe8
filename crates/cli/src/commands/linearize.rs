//! `gyrator linearize`: the linear state space of a model at points of its run, its analysis and its diagrams.

use std::fmt::Write as _;

use base::Decimal;
use linear::{Excitation, RANK_TOLERANCE, StateSpace, export};
use results::plot::{Figure, terminal};
use serde_json::{Map, Value, json};
use session::{Failed, LinearRequest, Linearization, RunOptions, Settings};

use crate::arguments::{Diagram, LinearFormat, Linearize};
use crate::commands::{plot, symbolic};
use crate::exit::{Exit, Failure};
use crate::names;
use crate::style::{Style, print};
use crate::subject::Call;

pub fn run(arguments: &Linearize, style: Style) -> Result<(), Failure> {
    if arguments.symbolic {
        return symbolic::run(arguments, style);
    }
    let mut call = Call::new(&arguments.subject, style);
    let points = match linearized(arguments, &mut call) {
        Ok(points) => points,
        Err(failed) => return Err(call.failed(failed)),
    };
    call.tell();
    let points = match arguments.minimal {
        true => {
            let found = points.into_iter().map(|point| minimal(arguments, point));
            found.collect::<Result<Vec<_>, _>>()?
        }
        false => points,
    };
    match arguments.plot {
        Some(diagram) => draw(arguments, diagram, &points, style),
        None => {
            let mut lacking = Lacking::default();
            let text = text_of(arguments, &call.session.class, &points, &mut lacking)?;
            write(arguments, &text)?;
            lacking.end(arguments)
        }
    }
}

/// What could not be computed of a report; the rest of it is written all the same.
#[derive(Default)]
pub struct Lacking(Vec<String>);

impl Lacking {
    /// Remembers what failed.
    pub fn note<T>(&mut self, what: &str, found: Result<T, linear::Error>) -> Result<T, linear::Error> {
        if let Err(error) = &found {
            let message = format!("{what} cannot be computed: {error}");
            if !self.0.contains(&message) {
                self.0.push(message);
            }
        }
        found
    }

    /// How the call ends.
    pub fn end(self, arguments: &Linearize) -> Result<(), Failure> {
        if self.0.is_empty() { Ok(()) } else { Err(model_failure(arguments, &self.0.join("; "))) }
    }
}

/// The analysis of the model fails, not the call.
fn model_failure(arguments: &Linearize, message: &str) -> Failure {
    let model = arguments.subject.target.as_deref().unwrap_or_default();
    Failure { exit: Exit::Model, message: format!("{model}: {message}") }
}

fn linearized(arguments: &Linearize, call: &mut Call) -> Result<Vec<Linearization>, Failed> {
    let (wanted, options) = wanted(arguments)?;
    let request = call.request()?;
    call.session.linearize(&request, &wanted, options)
}

/// How the run to the points is to be made, once the experiment of the model is known.
type MadeOptions = Result<RunOptions, String>;

/// What the call asks for.
pub fn wanted(arguments: &Linearize) -> Result<(LinearRequest, impl Fn(&dae::Experiment) -> MadeOptions), Failed> {
    let mut times = arguments.at.clone();
    times.sort_by(f64::total_cmp);
    if times.iter().any(|time| !time.is_finite()) {
        return Err(Failed::Call("a time to linearise at has to be a number".to_owned()));
    }
    let settings = Settings {
        start_time: arguments.start_time,
        tolerance: arguments.tolerance,
        solver: arguments.solver.clone(),
        ..Settings::default()
    };
    let wanted = LinearRequest {
        inputs: arguments.inputs.as_deref().map(names::split),
        outputs: arguments.outputs.as_deref().map(names::split),
        times: times.clone(),
    };
    let steady_state = arguments.steady_state;
    let options = move |experiment: &dae::Experiment| {
        let start = settings.start_time.or(experiment.start_time).unwrap_or(0.0);
        if let Some(early) = times.first().filter(|&&time| time < start) {
            return Err(format!("the run begins at {}, so there is nothing at {}", Decimal(start), Decimal(*early)));
        }
        // The stop time bounds the steps only.
        let last = times.last().copied();
        let stop_time = last.filter(|&last| last > start).or(experiment.stop_time.filter(|&stop| stop > start));
        let settings = Settings { stop_time: Some(stop_time.unwrap_or(start + 1.0)), ..settings.clone() };
        Ok(RunOptions { steady_state, ..settings.resolve(experiment)? })
    };
    Ok((wanted, options))
}

fn minimal(arguments: &Linearize, point: Linearization) -> Result<Linearization, Failure> {
    let system = match &point.rates {
        None => &point.system,
        Some(_) => return Err(Failure::call(format!("`--minimal` has no place for {RATES}"))),
    };
    let system = linear::minimal(system, RANK_TOLERANCE).map_err(|error| failure(arguments, &error))?;
    Ok(Linearization { system, ..point })
}

const RATES: &str = "the derivatives of inputs that this model needs";

fn failure(arguments: &Linearize, error: &linear::Error) -> Failure {
    model_failure(arguments, &error.to_string())
}

fn text_of(
    arguments: &Linearize,
    class: &str,
    points: &[Linearization],
    lacking: &mut Lacking,
) -> Result<String, Failure> {
    let format = if arguments.subject.json { LinearFormat::Json } else { arguments.format };
    if format == LinearFormat::Json {
        return Ok(format!("{:#}\n", json_of(class, points, lacking)));
    }
    let has_rates = points.iter().any(|point| point.rates.is_some());
    if has_rates && matches!(format, LinearFormat::Matlab | LinearFormat::Python | LinearFormat::Modelica) {
        return Err(Failure::call(format!("this format has no place for {RATES}; take text, json or latex")));
    }
    let mut text = String::new();
    for point in points {
        let headed = |comment: &str, body: String| {
            let remarks = remarks(point);
            let remarks = remarks.lines().map(|line| format!("{comment} {line}\n")).collect::<String>();
            format!("{comment} {}\n{remarks}{body}", headline(class, point))
        };
        text += &match format {
            LinearFormat::Text | LinearFormat::Json => report(class, point, lacking),
            LinearFormat::Latex => headed("%", export::latex_with_rates(&point.system, point.rates.as_ref())),
            LinearFormat::Matlab => headed("%", export::matlab(&point.system)),
            LinearFormat::Python => headed("#", export::python(&point.system)),
            LinearFormat::Modelica => {
                headed("//", export::modelica(&point.system, &format!("{}_linear", last_name(class))))
            }
        };
    }
    Ok(text)
}

pub fn last_name(class: &str) -> String {
    let name = class.rsplit('.').next().unwrap_or(class);
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn headline(class: &str, point: &Linearization) -> String {
    let mode = point.mode.as_ref().map_or(String::new(), |mode| format!(", mode {mode}"));
    let place = if point.is_steady { "at a steady state, time" } else { "at time" };
    format!("{class} {place} {}{mode}", Decimal(point.time))
}

/// The values of a steady state, which the call did not name, and what the matrices do not show.
fn remarks(point: &Linearization) -> String {
    let mut text = String::new();
    if point.is_steady {
        let states = point.system.states.iter().map(|state| &state.name).zip(&point.state_values);
        let inputs = point.system.inputs.iter().map(|input| &input.name).zip(&point.input_values);
        let values = states.chain(inputs).map(|(name, value)| format!("{name} = {}", export::short_number(*value)));
        let _ = writeln!(text, "found: {}; others may exist", values.collect::<Vec<_>>().join(", "));
    }
    for note in &point.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn json_of(class: &str, points: &[Linearization], lacking: &mut Lacking) -> Value {
    let mut objects: Vec<Value> = points.iter().map(|point| object(class, point, lacking)).collect();
    // One point is the object itself, several are a list.
    if objects.len() == 1 { objects.remove(0) } else { Value::from(objects) }
}

fn object(class: &str, point: &Linearization, lacking: &mut Lacking) -> Value {
    let system = &point.system;
    let mut object = Map::new();
    object.insert("model".to_owned(), Value::from(class));
    object.insert("time".to_owned(), Value::from(point.time));
    object.insert("steady_state".to_owned(), Value::from(point.is_steady));
    if let Some(mode) = &point.mode {
        object.insert("mode".to_owned(), Value::from(mode.as_str()));
    }
    object.extend(export::json(system, &[], &[]));
    roots_json(&mut object, system, &for_zeros(point), lacking);
    if let Some(rates) = &point.rates {
        object.extend(export::rates_json(rates));
    }
    let values = json!({ "states": point.state_values, "inputs": point.input_values });
    object.insert("operating_point".to_owned(), values);
    object.insert("transfer_functions".to_owned(), export::transfer_json(system, point.rates.as_ref()));
    match lacking.note("controllability and observability", export::reach_json(&for_reach(point))) {
        Ok(found) => object.extend(found),
        Err(error) => drop(object.insert("reach_error".to_owned(), Value::from(error.to_string()))),
    }
    if !point.notes.is_empty() {
        object.insert("notes".to_owned(), json!(point.notes));
    }
    Value::Object(object)
}

/// `poles` and `zeros`; null with the reason where they cannot be computed.
pub fn roots_json(
    object: &mut Map<String, Value>,
    system: &StateSpace,
    with_zeros: &StateSpace,
    lacking: &mut Lacking,
) {
    let poles = lacking.note("poles", linear::poles(system));
    let zeros = lacking.note("zeros", zeros(with_zeros));
    for (key, found) in [("poles", poles), ("zeros", zeros)] {
        match found {
            Ok(found) => drop(object.insert(key.to_owned(), export::roots_json(&found))),
            Err(error) => {
                object.insert(key.to_owned(), Value::Null);
                object.insert(format!("{key}_error"), Value::from(error.to_string()));
            }
        }
    }
}

/// A system without derivatives of inputs that has the same zeros.
fn for_zeros(point: &Linearization) -> StateSpace {
    point.rates.as_ref().map_or_else(|| point.system.clone(), |rates| rates.integrated(&point.system))
}

/// A system without derivatives of inputs that is as controllable and observable.
fn for_reach(point: &Linearization) -> StateSpace {
    point.rates.as_ref().map_or_else(|| point.system.clone(), |rates| rates.shifted(&point.system))
}

/// None without inputs and outputs.
fn zeros(system: &StateSpace) -> Result<Vec<linear::Complex>, linear::Error> {
    let has_both = !system.inputs.is_empty() && !system.outputs.is_empty();
    if has_both { linear::zeros(system, RANK_TOLERANCE) } else { Ok(Vec::new()) }
}

/// Matrices, modes, zeros, transfer functions, and what inputs and outputs do not reach.
fn report(class: &str, point: &Linearization, lacking: &mut Lacking) -> String {
    let system = &point.system;
    let mut text = format!("{}\n{}\n{}", headline(class, point), remarks(point), export::text(system));
    if let Some(rates) = &point.rates {
        text += &export::rates_text(system, rates);
    }
    if system.order() > 0 {
        text += &match lacking.note("poles", linear::modes(system)) {
            Ok(modes) => format!("\nmodes\n{}", export::modes_text(system, &modes)),
            Err(error) => format!("\nmodes: cannot be computed ({error})\n"),
        };
    }
    let has_both = !system.inputs.is_empty() && !system.outputs.is_empty();
    if has_both {
        text += &match lacking.note("zeros", zeros(&for_zeros(point))) {
            Ok(zeros) => export::zeros_text(&zeros),
            Err(error) => format!("\nzeros: cannot be computed ({error})\n"),
        };
        text += &export::transfer_text(system, point.rates.as_ref());
    }
    text += &match lacking.note("controllability and observability", export::reach_text(&for_reach(point))) {
        Ok(reach) => reach,
        Err(error) => format!("\ncontrollability and observability: cannot be computed ({error})\n"),
    };
    text
}

fn draw(arguments: &Linearize, diagram: Diagram, points: &[Linearization], style: Style) -> Result<(), Failure> {
    let [point] = points else {
        return Err(Failure::call("a diagram shows one point; give --at a single time".to_owned()));
    };
    let system = match &point.rates {
        None => point.system.clone(),
        Some(rates) if diagram == Diagram::PoleZero || rates.is_proper() => rates.shifted(&point.system),
        Some(_) => {
            let message = "an output follows the derivative of an input, so the response has no finite size at high frequencies; take other outputs";
            return Err(Failure::call(message.to_owned()));
        }
    };
    let needs_signals = diagram != Diagram::PoleZero;
    if needs_signals && (system.inputs.is_empty() || system.outputs.is_empty()) {
        let message = "a diagram needs an input and an output; name them with --inputs and --outputs";
        return Err(Failure::call(message.to_owned()));
    }
    let figure = figure(&system, diagram, &for_zeros(point)).map_err(|error| failure(arguments, &error))?;
    match &arguments.output {
        Some(path) => plot::write(&figure, path),
        None => print(&terminal(&figure, plot::screen(style))),
    }
}

fn figure(system: &StateSpace, diagram: Diagram, with_zeros: &StateSpace) -> Result<Figure, linear::Error> {
    let response = || linear::frequency_response(system, None);
    let time =
        |excitation, title| Ok(linear::plot::time(system, &linear::time_response(system, excitation, None)?, title));
    let is_single = system.inputs.len() == 1 && system.outputs.len() == 1;
    match diagram {
        Diagram::Bode if is_single => {
            let margins = linear::margins(system, 0, 0)?;
            // Every margin is in the picture.
            let crossings =
                margins.gain.iter().map(|it| it.frequency).chain(margins.phase.iter().map(|it| it.frequency));
            let range = linear::range_with(system, crossings)?;
            let response = linear::frequency_response(system, Some(range))?;
            Ok(linear::plot::bode_with_margins(system, &response, &margins))
        }
        Diagram::Bode => Ok(linear::plot::bode(system, &response()?)),
        Diagram::Nyquist => Ok(linear::plot::nyquist(system, &response()?)),
        Diagram::Nichols => Ok(linear::plot::nichols(system, &response()?)),
        Diagram::PoleZero => {
            let zeros = zeros(with_zeros)?;
            Ok(linear::plot::pole_zero(system, &linear::poles(system)?, &zeros))
        }
        Diagram::RootLocus => Ok(linear::plot::locus(system, &linear::root_locus(system, 0, 0, None)?)),
        Diagram::Step => time(Excitation::Step, "Step response"),
        Diagram::Impulse => time(Excitation::Impulse, "Impulse response"),
    }
}

pub fn write(arguments: &Linearize, text: &str) -> Result<(), Failure> {
    match &arguments.output {
        None => print(text),
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Failure::call(format!("cannot write `{}`: {error}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::{Arguments, Command};

    /// The report is written, and then the call ends as one about a model, with its name.
    #[test]
    fn what_cannot_be_computed_is_the_model_s_fault() {
        let arguments = Arguments::parse_from(["gyrator", "linearize", "ladder.bond"]);
        let Command::Linearize(arguments) = arguments.command else { return };
        let mut lacking = Lacking::default();
        assert!(lacking.note::<()>("poles", Err(linear::Error::NoConvergence)).is_err());
        let failure = lacking.end(&arguments).unwrap_err();
        assert_eq!(failure.exit, Exit::Model);
        assert!(failure.message.starts_with("ladder.bond: poles cannot be computed: "), "{}", failure.message);
        assert!(Lacking::default().end(&arguments).is_ok());
    }
}
