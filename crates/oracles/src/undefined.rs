//! Expressions that become undefined at a known instant, wherever they stand, or never because something guards them. A run
//! must stop at that instant and name the line, or complete with the values of the closed form.

use fastrand::Rng;
use session::{Ending, Outcome, Settings};

use crate::case::{Case, Verdict};
use crate::run::Run;

const INTERVAL: f64 = 0.01;

/// A function that is defined for positive arguments only; the argument is written `#`.
const FUNCTIONS: &[(&str, fn(f64) -> f64)] = &[
    ("log(#)", f64::ln),
    ("log10(#)", f64::log10),
    ("sqrt(#)", f64::sqrt),
    ("(#)^0.5", f64::sqrt),
    ("(#)^1.5", |u| u.powf(1.5)),
    ("asin(1 - #)", |u| (1.0 - u).asin()),
    ("acos(1 - #)", |u| (1.0 - u).acos()),
    ("sqrt(#)/(1 + (#)^2)", |u| u.sqrt() / (1.0 + u * u)),
];

/// Where the function stands: `@` is its value, `#` its argument, `%` a number to compare with. The line with `//!` is named.
const PLACES: &[&str] = &[
    // What is computed.
    "Real y;\nequation\n  y = @; //!",
    "Real y(start = 0, fixed = true);\nequation\n  der(y) = @; //!",
    "Real y;\nequation\n  y = abs(@); //!",
    "Real y;\nequation\n  y = sign(@); //!",
    "Real y;\nequation\n  y = max(@, %); //!",
    "Real y;\nequation\n  y = min(%, @); //!",
    "Real y;\nequation\n  y = floor(3*atan(@)); //!",
    "Integer y;\nequation\n  y = integer(3*atan(@)); //!",
    "Real y;\nequation\n  y + 0.1*y^3 = @; //!",
    "Real y;\nequation\n  y = f(#); //!",
    // What decides.
    "Real y;\nequation\n  y = if @ > % then 1 else 2; //!",
    "Real y;\nequation\n  y = noEvent(if @ > % then 1 else 2); //!",
    "Real y(start = 0, fixed = true);\nequation\n  der(y) = if @ > % then 1 else -1; //!",
    "Boolean y;\nequation\n  y = @ > %; //!",
    "Boolean y;\nequation\n  y = not @ > % or time > 2; //!",
    "Boolean y;\nequation\n  y = @ > % and time < 2; //!",
    "Real y;\nequation\n  y = g(#, %); //!",
    "Real y;\nequation\n  y = h(#, %); //!",
    "equation\n  assert(@ > -1e6, \"never\"); //!",
    "equation\n  assert(not @ > 1e6, \"never\"); //!",
    "Real y;\nequation\n  y = smooth(0, if @ > % then @ else 2*@ - %); //!",
    "Real y;\nalgorithm //!\n  y := 0;\n  if @ > % then y := 1; end if;",
];

/// Where a guard keeps it from being undefined: the value is `&`, which is 5 where the function is not defined. A relation
/// guards only under `noEvent`: without, it keeps its value up to the event, which lies a rounding error behind.
const GUARDED: &[&str] = &[
    "Real y;\nequation\n  y = noEvent(if # > 0 then @ else 5);",
    "Real y;\nequation\n  y = if noEvent(# <= 0) then 5 else @;",
    "Real y;\nequation\n  y = smooth(0, noEvent(if # > 0 then @ else 5));",
    "Real y;\nequation\n  y = guarded(#);",
    "Real y;\nequation\n  y = noEvent(if # > 0 then (if @ > % then @ else @ + 0) else 5);",
    "Real y;\nequation\n  y = noEvent(if # > 0 then @ else 5);\n  assert(noEvent(# <= 0 or @ > -1e6), \"never\");",
];

pub fn case(random: &mut Rng) -> Case {
    let slope = 0.5 + random.f64();
    let instant = 0.2 + 0.6 * random.f64();
    let first = slope * instant;
    let (function, course) = FUNCTIONS[random.usize(..FUNCTIONS.len())];
    let argument = match random.bool() {
        true => "x".to_owned(),
        false => format!("({first} - {slope}*time)"),
    };
    let is_guarded = random.u8(..3) == 0;
    let places = if is_guarded { GUARDED } else { PLACES };
    let place = places[random.usize(..places.len())];
    let value = function.replace('#', &argument);
    let level = course(first * random.f64());
    let body = place.replace('@', &format!("({value})")).replace('#', &argument).replace('%', &format!("({level})"));
    let text = format!("{}{}", functions(function), model(first, slope, &body));
    let interval = Some(INTERVAL);
    let solver = ["auto", "bdf", "tsit5", "esdirk"][random.usize(..4)].to_owned();
    let settings = Settings { stop_time: Some(1.0), interval, solver: Some(solver), ..Settings::default() };
    if is_guarded {
        let expected = move |t: f64| {
            let u = first - slope * t;
            if u > 0.0 { course(u) } else { 5.0 }
        };
        return Case::complete(text, settings, move |run| follows(run, instant, expected));
    }
    let line = 1 + text.lines().position(|line| line.ends_with("//!")).unwrap_or(0);
    Case::judged(text, settings, move |run| stops(run, instant, line))
}

fn model(first: f64, slope: f64, body: &str) -> String {
    let (declarations, equations) = body.split_once("\n").unwrap_or((body, ""));
    let (declarations, equations) = match declarations {
        "equation" => ("", body),
        _ => (declarations, equations),
    };
    format!(
        "model M
  Real x(start = {first}, fixed = true);
  {declarations}
{equations}
equation
  der(x) = -{slope};
end M;
"
    )
}

/// Functions around the function of the case: its value, conditions over it, and it with a guard.
fn functions(function: &str) -> String {
    let value = function.replace('#', "u");
    format!(
        "function f
  input Real u;
  output Real y;
algorithm
  y := {value};
end f;
function g
  input Real u;
  input Real level;
  output Real y;
algorithm
  if {value} > level then
    y := 1;
  else
    y := 2;
  end if;
end g;
function h
  input Real u;
  input Real level;
  output Real y;
protected
  Real v;
algorithm
  v := {value};
  y := 0;
  while v > level and y < 5 loop
    y := y + 1;
  end while;
end h;
function guarded
  input Real u;
  output Real y;
algorithm
  y := 5;
  if u > 0 then
    y := {value};
  end if;
end guarded;
"
    )
}

/// The values of the closed form. Near the instant they may be very steep.
fn follows(run: &Run, instant: f64, expected: impl Fn(f64) -> f64) -> Verdict {
    for (&time, &value) in run.result.time.iter().zip(run.column("y")?) {
        let wanted = expected(time);
        let is_near = (value - wanted).abs() <= 1e-4 * (1.0 + wanted.abs());
        if !is_near && (time - instant).abs() > 1e-4 {
            return Err(format!("y is {value} instead of {wanted} at {time}"));
        }
    }
    Ok(())
}

/// An error at the instant, with the line.
fn stops(run: &Run, instant: f64, line: usize) -> Verdict {
    let Some(Outcome { ending: Ending::Failed { time, .. }, .. }) = &run.outcome else {
        return Err(format!("it should stop at {instant}: {}", run.ending()));
    };
    if *time < instant - 1e-6 || *time > instant + 2.0 * INTERVAL {
        return Err(format!("it should stop at {instant}, not {time}: {}", run.ending()));
    }
    match run.messages.contains(&format!("case.mo:{line}:")) {
        true => Ok(()),
        false => Err(format!("line {line} should be named: {}", run.ending())),
    }
}
