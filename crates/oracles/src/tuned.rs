//! Parameters set on a finished program, against a new translation with the same values. The models are those of the other
//! families, with numbers of their text moved into parameters. A value that decides about the structure may be refused; what is
//! not refused has to give the same trajectories.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use dae::VariableType;
use fastrand::Rng;
use results::{MemorySink, Trajectories};
use session::{Ending, EventLog, Failed, MemoryFiles, Request, RunOptions, Session, Settings};

use crate::case::{Case, Verdict};
use crate::family::FAMILIES;
use crate::run::LIMIT;

/// Relative to the largest value of a variable: the two programs may be torn in different ways, and steps are chosen by errors.
const TOLERANCE: f64 = 1e-3;

/// What takes too long says nothing.
const NO_END: &str = "no end";

pub fn case(rng: &mut Rng) -> Case {
    let others: Vec<_> =
        FAMILIES.iter().filter(|family| !["tuned", "jacobians", "trajectories"].contains(&family.name)).collect();
    let Case { text, settings, inputs, .. } = (others[rng.usize(..others.len())].case)(rng);
    let text = with_parameters(&text, rng);
    let seed = rng.u64(..);
    let (own, given) = (text.clone(), settings.clone());
    let judge = Box::new(move |_: &_| guarded(&own, &given, seed));
    Case { text, settings, inputs, judge }
}

fn guarded(text: &str, settings: &Settings, seed: u64) -> Verdict {
    catch_unwind(AssertUnwindSafe(|| agrees(text, settings, seed))).unwrap_or_else(|_| Err("panic".into()))
}

/// Tries some values of some parameters.
fn agrees(text: &str, settings: &Settings, seed: u64) -> Verdict {
    const TRIED: usize = 3;
    let mut rng = Rng::with_seed(seed);
    let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", text)));
    let request = |set: Vec<(String, String)>| Request { target: "case.mo".into(), set, ..Request::default() };
    let translate = |session: &mut Session, set| {
        let model = session.flatten(&request(set))?;
        let options = settings.resolve(&model.experiment).map_err(Failed::Call)?;
        let schedule = session.structure(model)?;
        Ok::<_, Failed>((session.compile(schedule)?, options))
    };
    // What is refused as it is says nothing about its parameters.
    let Ok((program, options)) = translate(&mut session, Vec::new()) else { return Ok(()) };
    let model = program.model();
    let is_number = |ty: VariableType| !matches!(ty, VariableType::Enumeration(_));
    // Elements of arrays cannot be set by their names before a translation.
    let can_be_set = |&variable: &_| {
        program.is_tunable(variable)
            && is_number(model.variables[variable].ty)
            && !model.variable_name(variable).contains('[')
    };
    let parameters: Vec<_> = model.variables.ids().filter(can_be_set).collect();
    if parameters.is_empty() {
        return Ok(());
    }
    let mut memory = program.memory();
    if program.run_parameters(&[], &mut memory).is_err() {
        return Ok(());
    }
    let values: Vec<f64> = parameters.iter().map(|&variable| program.value(&memory, variable)).collect();
    for _ in 0..TRIED {
        let mut set = Vec::new();
        for _ in 0..rng.usize(1..3) {
            let place = rng.usize(..parameters.len());
            let value = other_value(&mut rng, values[place], &values);
            if !set.iter().any(|&(known, _)| known == parameters[place]) && value != values[place] {
                set.push((parameters[place], value));
            }
        }
        if set.is_empty() || program.check_parameters(&set).is_err() {
            continue;
        }
        let text_of = |&(variable, value): &(dae::VarId, f64)| {
            (model.variable_name(variable), literal(model.variables[variable].ty, value))
        };
        let texts: Vec<(String, String)> = set.iter().map(text_of).collect();
        let said = format!("with {texts:?}");
        let tuned = simulate(&mut session, |session, sink, watcher| {
            let options = RunOptions { parameters: set.clone().into(), ..options.clone() };
            session.simulate(&program, &options, &|_| true, sink, &mut EventLog::none(), watcher)
        });
        let mut other = Session::new(Box::new(MemoryFiles::one("case.mo", text)));
        let anew = match translate(&mut other, texts) {
            Ok((program, options)) => simulate(&mut other, |session, sink, watcher| {
                session.simulate(&program, &options, &|_| true, sink, &mut EventLog::none(), watcher)
            }),
            Err(_) => Err(messages(&other, 0)),
        };
        match (tuned, anew) {
            (Ok(tuned), Ok(anew)) => differ(&tuned, &anew).map_or(Ok(()), |how| Err(format!("{said}: {how}")))?,
            (Err(_), Err(_)) => {}
            (Err(why), _) | (_, Err(why)) if why.starts_with(NO_END) => {}
            (Err(why), Ok(_)) if why.contains("structural-parameter") => {}
            (Err(why), Ok(_)) => return Err(format!("{said}: it fails only where it is set: {why}")),
            (Ok(_), Err(why)) => return Err(format!("{said}: it fails only where it is translated anew: {why}")),
        }
    }
    Ok(())
}

fn other_value(rng: &mut Rng, value: f64, all: &[f64]) -> f64 {
    match rng.u32(..10) {
        0 => 0.0,
        1 => -value,
        2 => all[rng.usize(..all.len())],
        3 => 1.0,
        4 => value + 1.0,
        5 => (value * 2.0).round(),
        _ => value * (0.5 + rng.f64()),
    }
}

fn literal(ty: VariableType, value: f64) -> String {
    match ty {
        VariableType::Boolean => (value != 0.0).to_string(),
        VariableType::Integer => format!("{}", value as i64),
        _ => format!("{value:?}"),
    }
}

/// The trajectories of a run that is complete, else why it is not.
fn simulate(
    session: &mut Session,
    run: impl FnOnce(&mut Session, &mut MemorySink, &mut dyn session::Watcher) -> Result<session::Outcome, Failed>,
) -> Result<Trajectories, String> {
    let (started, before) = (Instant::now(), session.diagnostics.len());
    let mut sink = MemorySink::default();
    let outcome = run(session, &mut sink, &mut |_: f64| started.elapsed() < LIMIT);
    match outcome.map(|outcome| outcome.ending) {
        Ok(Ending::Complete | Ending::Terminated { .. }) => Ok(sink.trajectories),
        Ok(Ending::Interrupted { time }) => Err(format!("{NO_END} at time {time}")),
        _ => Err(messages(session, before)),
    }
}

fn messages(session: &Session, from: usize) -> String {
    let said = session.diagnostics.get(from..).unwrap_or_default().iter().filter(|said| said.is_error());
    said.map(|said| format!("[{}] {}", said.code, said.message)).collect::<Vec<_>>().join(" / ")
}

/// Where two runs differ by more than the solvers' errors, at their ends and on the way there.
fn differ(tuned: &Trajectories, anew: &Trajectories) -> Option<String> {
    let (Some(&end), Some(&other_end)) = (tuned.time.last(), anew.time.last()) else {
        return (tuned.time.is_empty() != anew.time.is_empty()).then(|| "one of them has no rows".to_owned());
    };
    if (end - other_end).abs() > TOLERANCE * end.abs() {
        return Some(format!("one ends at {end}, the other at {other_end}"));
    }
    for variable in &tuned.variables {
        let name = variable.column.name.as_str();
        let (Some(mine), Some(others)) = (tuned.get(name), anew.get(name)) else { continue };
        let size = mine.values.iter().chain(&others.values).fold(1e-6, |most: f64, value| most.max(value.abs()));
        // Between the first row, at which all is decided, and the last, values near events are not compared.
        let mut wrong = 0;
        for step in 0..=20 {
            let time = tuned.time[0] + (end - tuned.time[0]) * f64::from(step) / 20.0;
            let (a, b) = (tuned.at(name, time), anew.at(name, time));
            let is_near = a.zip(b).is_none_or(|(a, b)| (a - b).abs() <= TOLERANCE * size || a.is_nan() && b.is_nan());
            wrong += u32::from(!is_near);
        }
        if wrong > 2 {
            return Some(format!("{name} is {:?} instead of {:?}", mine.values.last(), others.values.last()));
        }
    }
    None
}

/// The text with some numbers of its last model moved into parameters.
pub fn with_parameters(text: &str, rng: &mut Rng) -> String {
    let Some((head, body)) = split(text) else { return text.to_owned() };
    let mut declared: Vec<(String, f64)> = Vec::new();
    let mut declarations = String::new();
    let mut out = String::new();
    let mut rest = body;
    let mut depth = 0;
    let mut is_quoted = false;
    while let Some(next) = rest.chars().next() {
        let length = number_length(rest);
        let follows_name = out.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        if length > 0 && depth == 0 && !is_quoted && !follows_name {
            let literal = &rest[..length];
            let is_real = literal.contains(['.', 'e', 'E']);
            let chosen = declared.len() < 8 && rng.u32(..10) < if is_real { 4 } else { 1 };
            match literal.parse::<f64>() {
                Ok(value) if chosen => {
                    let name = format!("tuned{}", declared.len() + 1);
                    let ty = if is_real { "Real" } else { "Integer" };
                    let binding = match declared.last() {
                        Some((last, of)) if is_real && *of != 0.0 && rng.u32(..4) == 0 => {
                            format!("{:?}*{last}", value / of)
                        }
                        _ => literal.to_owned(),
                    };
                    declarations += &format!("  parameter {ty} {name} = {binding};\n");
                    out += &name;
                    declared.push((name, value));
                }
                _ => out += literal,
            }
            rest = &rest[length..];
            continue;
        }
        // Names that hold digits, subscripts and texts stay.
        match next {
            '"' => is_quoted = !is_quoted,
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        out.push(next);
        rest = &rest[next.len_utf8()..];
    }
    format!("{head}{declarations}{out}")
}

/// The text up to the end of the line on which the last model begins, and the rest.
fn split(text: &str) -> Option<(&str, &str)> {
    let begin = if text.starts_with("model ") { 0 } else { text.rfind("\nmodel ")? + 1 };
    let line = begin + text[begin..].find('\n')? + 1;
    Some(text.split_at(line))
}

/// The length of the number at the beginning.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if length == 0 {
        return 0;
    }
    if bytes.get(length) == Some(&b'.') && bytes.get(length + 1).is_some_and(u8::is_ascii_digit) {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}
