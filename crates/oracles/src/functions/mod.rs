//! Functions and algorithms wherever they stand, against an interpreter of their own: declared values, records, arrays, branches,
//! loops that are known now or at run time, `break`, `return`, subscripts that are computed, recursion, functions as arguments.
//!
//! Each statement is made twice, as text and as a closure on an environment; what a function means must not depend on whether it is
//! evaluated at translation, written out, interpreted or compiled. Derivatives are judged by differences of the closure.

mod derivatives;
mod program;

use fastrand::Rng;
use session::Settings;

pub use self::derivatives::case as derivative_case;
use self::program::{Environment, Exits, Program};
use crate::case::Case;

/// Where a function is called, at a time at which its arguments are known: a declaration and a section; `@` is the call.
const CONTEXTS: &[(&str, f64, &str, &str)] = &[
    ("p", 0.3, "parameter Real p = @;", ""),
    ("e", 1.0, "Real e = @;", ""),
    ("a", 1.0, "Real a;", "algorithm a := @;"),
    ("w", 0.5, "discrete Real w(start = 0, fixed = true);", "equation when time >= 0.5 then w = @; end when;"),
    ("i", 0.3, "parameter Real i(fixed = false);", "initial equation i = @;"),
    ("k", 1.0, "Real k;", "algorithm k := 0; for j in 1:2 loop k := k + @; end for;"),
];

/// The arguments as texts and values, at an instant.
fn arguments(rng: &mut Rng, time: Option<f64>) -> (String, Environment) {
    let (x, n) = (rng.i32(-20..=20) as f64 / 8.0, rng.i64(0..=4));
    let v: Vec<f64> = (0..3).map(|_| rng.i32(-8..=8) as f64 / 4.0).collect();
    let (a, k, w) = (rng.i32(-8..=8) as f64 / 4.0, rng.i64(1..=3), [0.5, rng.i32(-8..=8) as f64 / 4.0]);
    let mut environment = Environment::default();
    let numbers = v.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let record = format!("R(a = {a}, k = {k}, w = {{{}, {}}})", w[0], w[1]);
    let text = match time {
        // What is known at translation.
        None => {
            environment.set_inputs(x, n, v, (a, k, w.to_vec()));
            format!("{x}, {n}, {{{numbers}}}, {record}")
        }
        Some(time) => {
            let n_now = if time > 0.25 { n } else { 0 };
            environment.set_inputs(x + time, n_now, v.iter().map(|v| v * time).collect(), (a, k, w.to_vec()));
            format!("{x} + time, if time > 0.25 then {n} else 0, time*{{{numbers}}}, {record}")
        }
    };
    (text, environment)
}

pub fn case(rng: &mut Rng) -> Case {
    let program = Program::random(rng, Exits::Any);
    let (mut declarations, mut sections) = (String::new(), String::new());
    let mut expected: Vec<(&'static str, f64)> = Vec::new();
    for &(name, time, declaration, section) in CONTEXTS {
        let is_constant = name == "p" || name == "i";
        let (text, environment) = arguments(rng, (!is_constant).then_some(time));
        let Some(value) = program.call(environment) else { continue };
        let call = format!("f({text})");
        declarations += &format!("  {}\n", declaration.replace('@', &call));
        sections += &format!("{}\n", section.replace('@', &call));
        expected.push((name, if name == "k" { 2.0 * value } else { value }));
    }
    let text = format!("model Case\n{}{declarations}{sections}end Case;\n", program.text);
    let settings = Settings { stop_time: Some(1.0), ..Settings::default() };
    Case::complete(text, settings, move |run| {
        for &(name, value) in &expected {
            let found = run.end(name)?;
            let is_near = (found - value).abs() <= 1e-9 * value.abs().max(1.0);
            if !is_near {
                return Err(format!("{name} is {found} instead of {value}"));
            }
        }
        Ok(())
    })
}
