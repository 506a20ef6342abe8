//! What the families of linear systems have in common: numbers, text and the comparison with the descriptor system.

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, Verdict};
use crate::pencil::{Descriptor, Solution};
use crate::run::Run;

const STOP: f64 = 2.0;
/// Rows of the result that are compared.
const COMPARED: usize = 9;

/// A positive number, short or with all digits.
pub fn positive(random: &mut Rng) -> f64 {
    match random.u32(0..4) {
        0 => f64::from(random.u32(1..5)),
        1 => f64::from(random.u32(2..40)) / 10.0,
        _ => 0.3 + 3.0 * random.f64(),
    }
}

pub fn pick<'a, T>(random: &mut Rng, values: &'a [T]) -> &'a T {
    &values[random.usize(0..values.len())]
}

/// A number as Modelica text.
pub fn text(value: f64) -> String {
    format!("{value:?}")
}

/// The case of a model that is to follow the solution in all unknowns that have a name.
pub fn case(text: String, descriptor: Descriptor, solution: Solution, random: &mut Rng) -> Case {
    let solver = pick(random, &["auto", "auto", "tsit5", "bdf", "esdirk", "dae", "rosenbrock", "dop853"]);
    let settings = Settings {
        stop_time: Some(STOP),
        intervals: Some(64),
        tolerance: Some(1e-8),
        solver: Some((*solver).to_owned()),
        ..Settings::default()
    };
    let text = format!("// solver {solver}\n{text}");
    Case::complete(text, settings, move |run| follows(run, &descriptor, &solution))
}

fn follows(run: &Run, descriptor: &Descriptor, solution: &Solution) -> Verdict {
    let times = &run.result.time;
    let places: Vec<usize> = (0..COMPARED).map(|k| k * (times.len() - 1) / (COMPARED - 1)).collect();
    let expected: Vec<_> = places.iter().map(|&place| solution.at(times[place])).collect();
    for (unknown, name) in descriptor.names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let column = run.column(name)?;
        let size = expected.iter().fold(1.0f64, |size, x| size.max(x[unknown].abs()));
        for (&place, x) in places.iter().zip(&expected) {
            // NaN is not near to anything.
            let is_near = (column[place] - x[unknown]).abs() <= 1e-5 * size;
            if !is_near {
                let (found, time) = (column[place], times[place]);
                return Err(format!("{name} is {found} instead of {} at {time}", x[unknown]));
            }
        }
    }
    Ok(())
}
