//! Runs the examples of a library with every adaptive solver and compares:
//! `cargo run --release -p gyrator-session --example differential -- -L FOLDER [--seconds S] CLASSES`. Each model below the
//! classes that has an experiment annotation is run at its own tolerance with every solver, and at 1e-9; models whose signals
//! differ from those of the run at 1e-9 by more than a hundred times their tolerance, relative to the range of each signal, are
//! listed. Events may come late by the same fraction of the duration.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::Name;
use compile::Program;
use lang::{DefId, Disk, Libraries};
use results::compare::{Tolerance, compare};
use results::{MemorySink, Trajectories};
use session::{Failed, Request, Session, Settings};
use simulate::{Ending, EventLog, Method, Options};
use syntax::ast;

const SOLVERS: [Method; 7] =
    [Method::Auto, Method::Tsit5, Method::Dop853, Method::Esdirk, Method::Bdf, Method::Dae, Method::Rosenbrock];
const REFERENCE: f64 = 1e-9;

struct Call {
    folders: Vec<PathBuf>,
    classes: Vec<String>,
    /// The limit of one run.
    limit: Duration,
}

fn main() {
    let call = read_call();
    let mut libraries = Libraries::default();
    call.folders.iter().for_each(|folder| libraries.add_search_path(folder));
    let mut models = Vec::new();
    for class in &call.classes {
        let mut path = class.split('.');
        let found = path.try_fold(Libraries::ROOT, |class, part| libraries.class(class, Name::new(part)));
        match found {
            Some(found) => find(&mut libraries, found, &mut models),
            None => eprintln!("there is no class {class}"),
        }
    }
    let (mut agreeing, mut differing) = (0, 0);
    for name in models {
        match examine(&name, &call) {
            Ok(lines) if lines.is_empty() => agreeing += 1,
            Ok(lines) => {
                differing += 1;
                println!("{name}");
                lines.iter().for_each(|line| println!("    {line}"));
            }
            Err(why) => println!("{name}\n    not compared: {why}"),
        }
    }
    println!("{agreeing} models agree, {differing} differ");
}

fn read_call() -> Call {
    let mut call = Call { folders: Vec::new(), classes: Vec::new(), limit: Duration::from_secs(20) };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-L" => call.folders.extend(words.next().map(PathBuf::from)),
            "--seconds" => {
                let seconds = words.next().and_then(|text| text.parse().ok());
                call.limit = Duration::from_secs(seconds.unwrap_or(20));
            }
            class => call.classes.push(class.to_owned()),
        }
    }
    if call.classes.is_empty() {
        call.classes.push("Modelica".to_owned());
    }
    call
}

/// All models with an experiment.
fn find(libraries: &mut Libraries, class: DefId, out: &mut Vec<String>) {
    let definition = libraries.get(class);
    let has_experiment = definition.class.annotation.as_ref().is_some_and(|annotation| {
        annotation.arguments.iter().any(|argument| {
            matches!(argument, ast::Argument::Element(element) if element.path.first().is_some_and(|first| first.name == "experiment"))
        })
    });
    if has_experiment && !definition.class.partial {
        out.push(definition.name.as_str().to_owned());
    }
    for name in definition.class_names.clone() {
        if let Some(inner) = libraries.class(class, name) {
            find(libraries, inner, out);
        }
    }
}

/// What each run differs in from the one at the tightest tolerance.
fn examine(name: &str, call: &Call) -> Result<Vec<String>, String> {
    let mut session = Session::new(Box::new(Disk));
    let request = Request { target: name.to_owned(), libraries: call.folders.clone(), ..Request::default() };
    let failed = |session: &Session, failed: Failed| match failed {
        Failed::Call(message) => message,
        _ => session.diagnostics.last().map_or_else(String::new, |last| last.message.clone()),
    };
    let model = session.flatten(&request).map_err(|error| failed(&session, error))?;
    let options = Settings::default().resolve(&model.experiment)?;
    let translated = session.structure(model).and_then(|schedule| session.compile(schedule));
    let program = translated.map_err(|error| failed(&session, error))?;
    let exact = Options { tolerance: REFERENCE, ..options.clone() };
    let reference = run(&mut session, &program, &exact, call.limit)?;
    let allowed = 100.0 * options.tolerance;
    let tolerance = Tolerance { time: allowed, value: allowed, nominal: 1e-3 };
    let mut lines = Vec::new();
    for solver in SOLVERS {
        let options = Options { solver, ..options.clone() };
        match run(&mut session, &program, &options, call.limit) {
            Ok(result) => {
                if let Some(worst) = compare(&reference, &result, tolerance).first() {
                    lines.push(format!(
                        "{}: {} by {:.1e} at {}",
                        solver.name(),
                        worst.name,
                        worst.distance,
                        worst.time
                    ));
                }
            }
            Err(why) => lines.push(format!("{}: {why}", solver.name())),
        }
    }
    Ok(lines)
}

fn run(
    session: &mut Session,
    program: &Arc<Program>,
    options: &Options,
    limit: Duration,
) -> Result<Trajectories, String> {
    let (mut sink, started) = (MemorySink::default(), Instant::now());
    let mut watcher = |_: f64| started.elapsed() < limit;
    let outcome = session.simulate(program, options, &|_| true, &mut sink, &mut EventLog::none(), &mut watcher);
    match outcome.map(|outcome| outcome.ending) {
        Ok(Ending::Complete | Ending::Terminated { .. }) => Ok(sink.trajectories),
        Ok(Ending::Interrupted { time }) => Err(format!("no end, at time {time} after {} s", limit.as_secs())),
        Ok(Ending::Failed { diagnostic, .. } | Ending::NotInitialised(diagnostic)) => Err(diagnostic.message),
        Ok(_) | Err(_) => Err("it failed".to_owned()),
    }
}
