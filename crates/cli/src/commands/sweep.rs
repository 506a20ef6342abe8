//! `gyrator sweep`: many runs of one model, on all processors, into one data set.
//!
//! The model is translated once; variants share its program (`programs`). Threads take variants from a counter, and what they find goes
//! to the journal at once, so that the same call goes on after whatever ended it. When all variants are there, the journal becomes
//! the table of the data set. Pictures and sensitivities are made from that, also by the same call later.

mod data_set;
mod design;
mod effects;
mod journal;
mod pictures;
mod programs;
mod sensitivity;
mod variant;
mod vary;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use results::Table;
use serde_json::json;
use session::Failed;

use super::beginning::Beginning;
use super::plot::check_ending;
use super::simulate::default_output;
use crate::arguments::{Sampling, Sweep, Switching};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::progress::CountProgress;
use crate::style::{Style, print, tell};
use crate::subject::Call;
use data_set::Places;
use journal::{Found, Journal};
use programs::Programs;
use variant::{Outcome, Plan, Status};
use vary::Vary;

/// Columns of the data set that are no parameters.
const COLUMNS: [&str; 5] = ["variant", "status", "message", "end_time", "seconds"];

pub fn run(arguments: &Sweep, style: Style) -> Result<(), Failure> {
    let mut arguments = arguments.clone();
    arguments.run.add_parameters(&mut arguments.subject)?;
    let arguments = &arguments;
    arguments.plot.iter().try_for_each(|(_, path)| check_ending(path))?;
    arguments.output.as_deref().map(check_output).transpose()?;
    let mut call = Call::new(&arguments.subject, style);
    let study = match prepare(arguments, &mut call) {
        Ok(study) => study,
        Err(failed) => return Err(call.failed(failed)),
    };
    call.tell();
    check_quantities(arguments, &study.plan).map_err(Failure::call)?;
    pictures::check(arguments, &study.plan).map_err(Failure::call)?;
    let table = study.table(arguments)?;
    let said = sensitivity::report(arguments, &study.plan, &table).map_err(Failure::call)?;
    pictures::draw(arguments, &study.plan, &table)?;
    study.end(arguments, &table, said)
}

/// What ends like a file of another kind is no folder.
fn check_output(output: &Path) -> Result<(), Failure> {
    let ending = output.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    if ["csv", "mat", "json", "xlsx"].contains(&ending.as_str()) {
        let shown = output.display();
        return Err(Failure::call(format!(
            "`{shown}`: a study writes into a folder or into a file that ends in `.parquet`"
        )));
    }
    Ok(())
}

/// A study that can run.
struct Study {
    plan: Plan,
    places: Places,
    /// Tells it apart from all others.
    identity: String,
}

fn prepare(arguments: &Sweep, call: &mut Call) -> Result<Study, Failed> {
    let asked: Vec<Vary> =
        arguments.vary.iter().map(|text| Vary::parse(text)).collect::<Result<_, _>>().map_err(Failed::Call)?;
    for (position, vary) in asked.iter().enumerate() {
        if asked[..position].iter().any(|other| other.name == vary.name) {
            return Err(Failed::Call(format!("`{}` varies twice", vary.name)));
        }
        if COLUMNS.contains(&vary.name.as_str()) {
            return Err(Failed::Call(format!(
                "`{}` is the name of a column of the data set, so it cannot vary",
                vary.name
            )));
        }
    }
    if arguments.run.switching == Switching::Difference {
        call.switching = transform::Switching::Difference;
    }
    let beginning = Beginning::read(&arguments.run)?;
    call.inputs = beginning.inputs();
    let flat = call.flatten()?;
    let options = arguments.run.options(arguments.run.settings(), &flat.experiment, &beginning)?;
    call.session.transform.inline_step = options.inline_step();
    let schedule = call.structure(flat.clone())?;
    let program = call.session.compile(schedule)?;
    let (request, sessions) = (call.request()?, call.sessions());
    let is_difference = |name: &str, unit: &str| is_difference(&request, &sessions, name, unit);
    let varied =
        asked.iter().map(|vary| design::resolve(vary, &program, &is_difference)).collect::<Result<Vec<_>, _>>();
    let varied = varied.map_err(Failed::Call)?;
    let variants = design::variants(arguments, &varied).map_err(Failed::Call)?;
    let kept = match &arguments.keep {
        Some(list) => design::kept(list, program.model()).map_err(Failed::Call)?,
        None => Vec::new(),
    };
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => default_output(&call.session.class, "study"),
    };
    let places = Places::of(&output);
    let identity = identity(arguments, call, &options);
    let (programs, warnings) =
        Programs::new((Arc::new(flat), program), request, sessions, options, beginning).map_err(Failed::Call)?;
    call.session.diagnostics.extend(warnings);
    let (model, trajectories) = (call.session.class.clone(), places.trajectories.clone());
    Ok(Study { plan: Plan { model, programs, varied, variants, kept, trajectories }, places, identity })
}

/// Whether values of a parameter in a unit with an offset are differences: found out by setting it to nothing.
fn is_difference(
    request: &session::Request,
    sessions: &dyn Fn() -> session::Session,
    name: &str,
    unit: &str,
) -> Result<bool, String> {
    let mut request = request.clone();
    request.set.retain(|(known, _)| known != name);
    request.set.push((name.to_owned(), format!("0 {unit}")));
    let mut session = sessions();
    let Ok(flat) = session.flatten(&request) else { return Err(programs::reason(&session.diagnostics)) };
    let id = flat.variables.ids().find(|&id| flat.variable_name(id) == name);
    let value = id.and_then(|id| flat.exprs.as_real(flat.variables[id].binding?));
    Ok(value == Some(0.0))
}

/// Everything that the outcomes of variants depend on.
fn identity(arguments: &Sweep, call: &Call, options: &session::RunOptions) -> String {
    let sources = call.session.sources();
    let texts = sources.ids().map(|id| sources.file(id).text.clone());
    let text_sum = texts.fold(0u64, |sum, text| sum ^ hash(text.as_bytes()));
    let file = |path: &Path| std::fs::read(path).map_or(0, |bytes| hash(&bytes));
    let start = arguments.run.start_from.as_deref().map(|text| session::split_start_from(text, Path::exists));
    let start = start.and_then(Result::ok).map(|(path, _)| file(&path));
    let subject = &arguments.subject;
    json!({
        "gyrator": env!("CARGO_PKG_VERSION"), "model": call.session.class, "texts": format!("{text_sum:016x}"),
        "set": subject.set, "vary": arguments.vary, "samples": arguments.samples,
        "sampling": arguments.sampling.map(|it| format!("{it:?}")), "seed": arguments.seed, "keep": arguments.keep,
        "index_reduction": format!("{:?}", subject.index_reduction), "strict": subject.strict,
        "keep_aliases": subject.keep_aliases, "switching": format!("{:?}", arguments.run.switching),
        "steady_state": arguments.run.steady_state, "solver": options.solver.name(),
        "times": [options.start_time, options.stop_time, options.interval, options.tolerance],
        "steps": [options.step, options.max_step],
        "input": arguments.run.input.as_deref().map(file), "start_from": (&arguments.run.start_from, start),
    })
    .to_string()
}

/// Fowler, Noll and Vo, 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Study {
    /// The table of all variants, those that were there and those that are run now.
    fn table(&self, arguments: &Sweep) -> Result<Table, Failure> {
        let quiet = arguments.subject.quiet;
        if let Some((table, identity)) = self.places.complete() {
            if identity == self.identity {
                if !quiet {
                    tell("all variants are there already\n");
                }
                return Ok(table);
            }
            self.refuse_unless_overwriting(arguments)?;
        } else if self.places.table.is_file() && !arguments.overwrite {
            let shown = self.places.table.display();
            return Err(Failure::call(format!("`{shown}` exists and is no data set of a study; name another output")));
        }
        self.places.create(!self.plan.kept.is_empty())?;
        let (mut journal, found) = Journal::open(&self.places.journal, &self.identity)?;
        let mut outcomes = match found {
            Found::Nothing => {
                self.places.clear_trajectories();
                Vec::new()
            }
            Found::Same(outcomes) => outcomes,
            Found::Other => {
                self.refuse_unless_overwriting(arguments)?;
                journal.begin(&self.identity)?;
                self.places.clear_trajectories();
                Vec::new()
            }
        };
        let count = self.plan.variants.len();
        outcomes.retain(|outcome| (1..=count).contains(&outcome.variant));
        if !outcomes.is_empty() && !quiet {
            tell(&format!("going on: {} of {count} variants are there\n", outcomes.len()));
        }
        self.compute(arguments, &mut journal, &mut outcomes)?;
        let table = data_set::table(&outcomes, &self.plan.varied, &self.plan.variants, &self.identity);
        table.write(&self.places.table).map_err(|error| Failure { exit: Exit::Stopped, message: error.to_string() })?;
        journal.remove();
        Ok(table)
    }

    fn refuse_unless_overwriting(&self, arguments: &Sweep) -> Result<(), Failure> {
        if arguments.overwrite {
            return Ok(());
        }
        let shown = self.places.table.display();
        Err(Failure::call(format!(
            "`{shown}` belongs to another study: the model, its files or the call have changed since; `--overwrite` replaces it"
        )))
    }

    /// Runs what is missing.
    fn compute(&self, arguments: &Sweep, journal: &mut Journal, outcomes: &mut Vec<Outcome>) -> Result<(), Failure> {
        let count = self.plan.variants.len();
        let mut missing = vec![true; count + 1];
        outcomes.iter().for_each(|outcome| missing[outcome.variant] = false);
        let missing: Vec<usize> = (1..=count).filter(|&variant| missing[variant]).collect();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = arguments.jobs.unwrap_or(processors).min(missing.len());
        let stop = interrupt::flag();
        let ended = AtomicBool::new(false);
        let next = AtomicUsize::new(0);
        let mut progress = CountProgress::new(count, outcomes.len(), arguments.subject.quiet);
        let mut failure = None;
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel::<Result<Outcome, Failure>>(2 * jobs.max(1));
            for _ in 0..jobs {
                let (sender, next, missing, ended) = (sender.clone(), &next, &missing, &ended);
                let work = move || {
                    let mut session = (self.plan.programs.sessions)();
                    while !stop.load(Ordering::Relaxed) && !ended.load(Ordering::Relaxed) {
                        let Some(&variant) = missing.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                        let sent = match self.plan.run(&mut session, variant, stop) {
                            Ok(Some(outcome)) => sender.send(Ok(outcome)),
                            Ok(None) => break,
                            Err(error) => sender.send(Err(Failure { exit: Exit::Stopped, message: error.to_string() })),
                        };
                        if sent.is_err() {
                            break;
                        }
                    }
                };
                // Models nest as deep as the parser lets them.
                let spawned = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
                if let Err(error) = spawned {
                    failure.get_or_insert(Failure::call(format!("cannot start a thread: {error}")));
                }
            }
            drop(sender);
            for found in receiver {
                let added = found.and_then(|outcome| journal.add(&outcome).map(|()| outcome));
                match added {
                    Ok(outcome) => {
                        outcomes.push(outcome);
                        progress.at(outcomes.len());
                    }
                    Err(error) => {
                        failure.get_or_insert(error);
                        ended.store(true, Ordering::Relaxed);
                    }
                }
            }
        });
        progress.end();
        if let Some(failure) = failure {
            return Err(failure);
        }
        if outcomes.len() < count {
            let done = outcomes.len();
            let message = format!("interrupted: {done} of {count} variants are done; the same call goes on");
            return Err(Failure { exit: Exit::Stopped, message });
        }
        Ok(())
    }

    /// Says how it ended.
    fn end(&self, arguments: &Sweep, table: &Table, sensitivities: Option<sensitivity::Report>) -> Result<(), Failure> {
        let (count, failed) = (table.rows(), data_set::failures(table));
        let result: &PathBuf = &self.places.table;
        if arguments.subject.json {
            let mut summary = json!({
                "model": self.plan.model, "status": if failed == count { "failed" } else { "ok" }, "stage": "done",
                "variants": count, "failed": failed, "result": result.display().to_string(),
            });
            if let (Some(report), Some(summary)) = (&sensitivities, summary.as_object_mut()) {
                summary.insert("sensitivities".to_owned(), report.json());
            }
            print(&format!("{summary:#}\n"))?;
        } else if let Some(report) = &sensitivities {
            print(&report.text())?;
        }
        if !arguments.subject.quiet {
            let failures = match failed {
                0 => String::new(),
                _ => format!(", {failed} of them failed; the column `message` says why"),
            };
            let counted = if count == 1 { "1 variant".to_owned() } else { format!("{count} variants") };
            tell(&format!("{}: {counted}{failures}\n", result.display()));
        }
        if failed == count && count > 0 {
            let first = match table.get("message") {
                Some(results::Values::Text(messages)) => messages.first().cloned().unwrap_or_default(),
                _ => String::new(),
            };
            return Err(Failure { exit: Exit::Stopped, message: format!("all variants failed; the first: {first}") });
        }
        Ok(())
    }
}

/// Only what is used of it takes memory.
const STACK: usize = 256 << 20;

/// Refuses quantities that the data set will not have, before anything runs.
fn check_quantities(arguments: &Sweep, plan: &Plan) -> Result<(), String> {
    let Some(list) = &arguments.of else {
        return match is_saltelli(arguments) && plan.kept.is_empty() {
            true => Err("name the quantities whose sensitivities you want, with --of or --keep".to_owned()),
            false => Ok(()),
        };
    };
    let model = plan.programs.model();
    let known: Vec<String> = model.variables.ids().map(|id| model.variable_name(id)).collect();
    for quantity in crate::names::split(list) {
        let name = pictures::variable_of(plan, &quantity);
        if !known.iter().any(|it| it == name) {
            return Err(crate::names::unknown(name, "the model", known.iter().map(String::as_str)).message);
        }
        let is_last = name == quantity || quantity.starts_with("final(");
        let is_there = if plan.kept.is_empty() { is_last } else { plan.kept.iter().any(|it| it == name) };
        if !is_there {
            return Err(format!("`{quantity}` will not be in the data set: name the variable with `--keep {name}`"));
        }
    }
    Ok(())
}

/// Whether a study samples for sensitivities.
fn is_saltelli(arguments: &Sweep) -> bool {
    arguments.sampling == Some(Sampling::Saltelli)
}

/// The columns that pictures and sensitivities are about: `x` means `final(x)`.
fn quantities(arguments: &Sweep, plan: &Plan, table: &Table) -> Result<Vec<String>, String> {
    let asked = match &arguments.of {
        Some(list) => crate::names::split(list),
        None => plan.kept.clone(),
    };
    let column = |name: String| {
        let last = format!("final({name})");
        let found = [name.clone(), last].into_iter().find(|it| table.numbers(it).is_some());
        found.ok_or_else(|| {
            let known = table.columns.iter().map(|(name, _)| name.as_str());
            let near = session::nearest(&name, known).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            format!("the data set has no column `{name}`{near}")
        })
    };
    asked.into_iter().map(column).collect()
}

/// Whether the results of a variant count.
fn succeeded(table: &Table) -> Vec<bool> {
    match table.get("status") {
        Some(results::Values::Text(status)) => status.iter().map(|it| it != Status::Failed.name()).collect(),
        _ => vec![true; table.rows()],
    }
}
