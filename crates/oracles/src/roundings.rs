//! Roundings of sums of time or a state with other roundings, from start times at which some of them are about to change.

use std::rc::Rc;

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, Verdict};
use crate::run::Run;
use crate::signal::settings;

/// An expression and its value at a time. Between jumps it is linear.
struct Rounded {
    text: String,
    value: Rc<dyn Fn(f64) -> f64>,
    slope: f64,
}

pub fn case(random: &mut Rng) -> Case {
    let starts = [0.0, 0.0, 0.0, 1.0, -1.0, -2.5, 0.1, 0.75, 1e3, 1e6];
    let start = starts[random.usize(0..starts.len())];
    let stop = start + f64::from(random.u8(1..4));
    let clock = if random.u8(0..4) == 0 { "clock" } else { "time" };
    let depth = random.usize(0..3);
    let rounded = level(random, clock, depth);
    let text = format!(
        "model M\n  Real clock(start = {start:e}, fixed = true);\n  Real y = {};\n  Real z(start = 0, fixed = true);\nequation\n  \
         der(clock) = 1;\n  der(z) = y;\nend M;\n",
        rounded.text
    );
    let (settings, tolerance) = settings(random, stop);
    let settings = Settings { start_time: Some(start), intervals: Some(random.usize(60..300)), ..settings };
    // How far the clock may be off: a state has the rounding errors of its steps.
    let blur = 1e-9 * start.abs().max(1.0).sqrt();
    Case::complete(text, settings, move |run: &Run| {
        ordered(run, start, stop)?;
        follows(run, &*rounded.value, blur)?;
        integrates(run, tolerance)
    })
}

/// A rounding of a line, to which an inner rounding may be added. The sum always moves, so that no rounding error lasts.
fn level(random: &mut Rng, clock: &str, depth: usize) -> Rounded {
    let slopes = [1.0, 2.0, 3.0, 10.0, 12.0, 0.5, 0.25, -1.0, -2.0, -3.0, -12.0, -0.5];
    let offset = 0.25 * f64::from(random.i8(-12..13));
    let inner = (depth > 0).then(|| level(random, clock, depth - 1));
    let inner_slope = inner.as_ref().map_or(0.0, |inner| inner.slope);
    let mut slope = slopes[random.usize(0..slopes.len())];
    if slope + inner_slope == 0.0 {
        slope *= 2.0;
    }
    let line = format!("({slope})*{clock} + ({offset})");
    let (text, sum): (String, Rc<dyn Fn(f64) -> f64>) = match inner {
        Some(inner) => {
            let value = inner.value;
            (format!("{} + {line}", inner.text), Rc::new(move |t| value(t) + slope * t + offset))
        }
        None => (line, Rc::new(move |t| slope * t + offset)),
    };
    round(random, &text, sum, slope + inner_slope)
}

fn round(random: &mut Rng, text: &str, sum: Rc<dyn Fn(f64) -> f64>, slope: f64) -> Rounded {
    let units = [0.25, 0.5, 1.0, 1.5, -1.0, -0.5];
    let unit = units[random.usize(0..units.len())];
    let (text, value, slope): (String, Rc<dyn Fn(f64) -> f64>, f64) = match random.u8(0..6) {
        0 => (format!("floor({text})"), Rc::new(move |t| sum(t).floor()), 0.0),
        1 => (format!("ceil({text})"), Rc::new(move |t| sum(t).ceil()), 0.0),
        2 => (format!("integer({text})"), Rc::new(move |t| sum(t).floor()), 0.0),
        3 => (format!("div({text}, {unit})"), Rc::new(move |t| (sum(t) / unit).trunc()), 0.0),
        4 => (format!("mod({text}, {unit})"), Rc::new(move |t| sum(t) - unit * (sum(t) / unit).floor()), slope),
        _ => (format!("rem({text}, {unit})"), Rc::new(move |t| sum(t) - unit * (sum(t) / unit).trunc()), slope),
    };
    Rounded { text, value, slope }
}

/// Time never runs backwards, and not beyond its ends.
fn ordered(run: &Run, start: f64, stop: f64) -> Verdict {
    let time = &run.result.time;
    match time.windows(2).find(|pair| pair[1] < pair[0]) {
        Some(pair) => Err(format!("time goes from {:e} back to {:e}", pair[0], pair[1])),
        None if time.first() != Some(&start) || time.last() != Some(&stop) => Err("time has other ends".to_owned()),
        None => Ok(()),
    }
}

/// Compares every row; next to a jump either side of it will do. Roundings that change together may do so one after the other, a
/// few rounding errors apart: what they leave counts.
fn follows(run: &Run, expected: &dyn Fn(f64) -> f64, blur: f64) -> Verdict {
    let times = &run.result.time;
    for (k, (&time, &value)) in times.iter().zip(run.column("y")?).enumerate() {
        if times.get(k + 1).is_some_and(|next| next - time < blur) {
            continue;
        }
        let near = [0.0, -blur, blur].map(|shift| expected(time + shift));
        if !near.iter().any(|expected| (value - expected).abs() <= 1e-6 + 40.0 * blur) {
            return Err(format!("y is {value} instead of {} at {time}", near[0]));
        }
    }
    Ok(())
}

/// Between events y is linear, so trapezia between rows are its integral. Each event begins the integration anew.
fn integrates(run: &Run, tolerance: f64) -> Verdict {
    let (time, values) = (&run.result.time, run.column("y")?);
    let area = |k: usize| 0.5 * (values[k] + values[k - 1]) * (time[k] - time[k - 1]);
    let (area, size) = (1..time.len()).fold((0.0, 1.0), |(sum, size), k| (sum + area(k), size + area(k).abs()));
    let z = run.end("z")?;
    let events = time.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
    match (z - area).abs() <= (10.0 * tolerance * (1.0 + events) + 1e-7) * size {
        true => Ok(()),
        false => Err(format!("z ends at {z} instead of {area}")),
    }
}
