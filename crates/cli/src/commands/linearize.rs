//! `gyrator linearize`: the linear state space of a model at points of its run, its analysis and its diagrams.

use std::fmt::Write as _;

use base::Decimal;
use linear::{Excitation, RANK_TOLERANCE, StateSpace, export};
use results::plot::{Figure, terminal};
use serde_json::{Map, Value};
use session::{Failed, LinearRequest, Linearization, RunOptions, Settings};

use crate::arguments::{Diagram, LinearFormat, Linearize};
use crate::commands::{plot, symbolic};
use crate::exit::Failure;
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
        true => points.into_iter().map(minimal).collect::<Result<Vec<_>, _>>()?,
        false => points,
    };
    match arguments.plot {
        Some(diagram) => draw(arguments, diagram, &points, style),
        None => write(arguments, &text_of(arguments, &call.session.class, &points)?),
    }
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

fn minimal(point: Linearization) -> Result<Linearization, Failure> {
    Ok(Linearization { system: linear::minimal(&point.system, RANK_TOLERANCE).map_err(failure)?, ..point })
}

pub fn failure(error: linear::Error) -> Failure {
    Failure::call(error.to_string())
}

fn text_of(arguments: &Linearize, class: &str, points: &[Linearization]) -> Result<String, Failure> {
    let format = if arguments.subject.json { LinearFormat::Json } else { arguments.format };
    if format == LinearFormat::Json {
        return Ok(format!("{:#}\n", json(class, points)?));
    }
    let mut text = String::new();
    for point in points {
        let headed = |comment: &str, body: String| format!("{comment} {}\n{body}", headline(class, point));
        text += &match format {
            LinearFormat::Text | LinearFormat::Json => report(class, point)?,
            LinearFormat::Latex => headed("%", export::latex(&point.system)),
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
    format!("{class} at time {}{mode}", Decimal(point.time))
}

fn json(class: &str, points: &[Linearization]) -> Result<Value, Failure> {
    let mut objects = points.iter().map(|point| object(class, point)).collect::<Result<Vec<Value>, _>>()?;
    // One point is the object itself, several are a list.
    Ok(if objects.len() == 1 { objects.remove(0) } else { Value::from(objects) })
}

fn object(class: &str, point: &Linearization) -> Result<Value, Failure> {
    let (poles, zeros) = poles_and_zeros(&point.system)?;
    let mut object = Map::new();
    object.insert("model".to_owned(), Value::from(class));
    object.insert("time".to_owned(), Value::from(point.time));
    if let Some(mode) = &point.mode {
        object.insert("mode".to_owned(), Value::from(mode.as_str()));
    }
    object.extend(export::json(&point.system, &poles, &zeros));
    Ok(Value::Object(object))
}

pub type Roots = Vec<linear::Complex>;

pub fn poles_and_zeros(system: &StateSpace) -> Result<(Roots, Roots), Failure> {
    let poles = linear::poles(system).map_err(failure)?;
    let has_both = !system.inputs.is_empty() && !system.outputs.is_empty();
    let zeros = if has_both { linear::zeros(system, RANK_TOLERANCE).map_err(failure)? } else { Vec::new() };
    Ok((poles, zeros))
}

/// Matrices, modes, zeros, transfer functions, and what inputs and outputs do not reach.
fn report(class: &str, point: &Linearization) -> Result<String, Failure> {
    let system = &point.system;
    let mut text = format!("{}\n\n{}", headline(class, point), export::text(system));
    if system.order() > 0 {
        let modes = linear::modes(system).map_err(failure)?;
        let _ = write!(text, "\nmodes\n{}", export::modes_text(system, &modes));
    }
    let has_both = !system.inputs.is_empty() && !system.outputs.is_empty();
    if has_both {
        text += &export::zeros_text(&poles_and_zeros(system)?.1);
        text += &export::transfer_text(system).map_err(failure)?;
    }
    text += &export::reach_text(system).map_err(failure)?;
    Ok(text)
}

fn draw(arguments: &Linearize, diagram: Diagram, points: &[Linearization], style: Style) -> Result<(), Failure> {
    let [point] = points else {
        return Err(Failure::call("a diagram shows one point; give --at a single time".to_owned()));
    };
    let system = &point.system;
    if system.inputs.is_empty() || system.outputs.is_empty() {
        let message = "a diagram needs an input and an output; name them with --inputs and --outputs";
        return Err(Failure::call(message.to_owned()));
    }
    let figure = figure(system, diagram).map_err(failure)?;
    match &arguments.output {
        Some(path) => plot::write(&figure, path),
        None => print(&terminal(&figure, plot::screen(style))),
    }
}

fn figure(system: &StateSpace, diagram: Diagram) -> Result<Figure, linear::Error> {
    let response = || linear::frequency_response(system, None);
    let time =
        |excitation, title| Ok(linear::plot::time(system, &linear::time_response(system, excitation, None)?, title));
    let is_single = system.inputs.len() == 1 && system.outputs.len() == 1;
    match diagram {
        Diagram::Bode if is_single => {
            Ok(linear::plot::bode_with_margins(system, &response()?, &linear::margins(system, 0, 0)?))
        }
        Diagram::Bode => Ok(linear::plot::bode(system, &response()?)),
        Diagram::Nyquist => Ok(linear::plot::nyquist(system, &response()?)),
        Diagram::Nichols => Ok(linear::plot::nichols(system, &response()?)),
        Diagram::PoleZero => {
            let zeros = linear::zeros(system, RANK_TOLERANCE)?;
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
