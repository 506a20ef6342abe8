//! How long an engineer waits in a process that stays: from an edit to its diagnostics, from an edit to a new curve, and from
//! another value of a parameter to a new curve, for which nothing is translated again.
//!
//! `cargo bench -p gyrator --bench edit_loop -- DIR`, where DIR holds the Modelica Standard Library. Without it only the circuit
//! of `examples/` is measured, which needs no library.

mod clock;

use clock::Clock;
use gyrator::{Error, Session};

const ROUNDS: u32 = 20;

/// A file of the user, in which a number changes with each edit.
struct Case {
    name: &'static str,
    needs_library: bool,
    text: fn(u32) -> String,
    /// The parameter that changes, and a value of it.
    parameter: (&'static str, f64),
}

const CASES: [Case; 3] = [
    Case {
        name: "circuit",
        needs_library: false,
        text: |k| {
            let circuit = include_str!("../../../examples/circuit.mo");
            format!("{circuit}\n// edit {k}\n")
        },
        parameter: ("R1.R", 10.0),
    },
    Case {
        name: "CoupledClutches",
        needs_library: true,
        text: |k| {
            let stop = 1.2 + 0.001 * f64::from(k);
            format!(
                "model Mine extends Modelica.Mechanics.Rotational.Examples.CoupledClutches(J1(J = {stop})); \
                 annotation(experiment(StopTime = 1.2)); end Mine;"
            )
        },
        parameter: ("J2.J", 1.0),
    },
    Case {
        name: "FullRobot",
        needs_library: true,
        text: |k| {
            let mass = 15.0 + 0.001 * f64::from(k);
            format!(
                "model Mine extends Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot(mLoad = {mass}); \
                 annotation(experiment(StopTime = 1)); end Mine;"
            )
        },
        parameter: ("mLoad", 15.0),
    },
];

fn main() -> Result<(), Error> {
    let library = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!("{:<18} {:>12} {:>12} {:>12} {:>12}", "ms", "first check", "diagnostics", "curve", "parameter");
    for case in CASES.iter().filter(|case| library.is_some() || !case.needs_library) {
        let mut session = Session::new();
        library.iter().for_each(|folder| session.add_library(folder));
        let mut edits = 0;
        let mut edited = |work: &mut dyn FnMut(&mut Session) -> Result<(), Error>| -> Result<f64, Error> {
            edits += 1;
            session.replace_text("mine.mo", &(case.text)(edits));
            let clock = Clock::start();
            work(&mut session)?;
            Ok(1e3 * clock.took().running)
        };
        let mut check = |session: &mut Session| session.check("mine.mo").map(|report| assert!(report.is_sound()));
        let mut curve = |session: &mut Session| {
            let model = session.model("mine.mo")?;
            model.simulate(&model.experiment()).map(|run| assert!(run.time.len() > 1))
        };
        let first = edited(&mut check)?;
        let mut least = |work: &mut dyn FnMut(&mut Session) -> Result<(), Error>| -> Result<f64, Error> {
            (0..ROUNDS).map(|_| edited(work)).try_fold(f64::INFINITY, |least, took| Ok(least.min(took?)))
        };
        let (diagnostics, curve) = (least(&mut check)?, least(&mut curve)?);
        let model = session.model("mine.mo")?;
        let (name, value) = case.parameter;
        let mut parameter = f64::INFINITY;
        for k in 0..ROUNDS {
            let clock = Clock::start();
            let tuned = model.with(name, value * (1.0 + 1e-3 * f64::from(k)))?;
            assert!(tuned.simulate(&model.experiment())?.time.len() > 1);
            parameter = parameter.min(1e3 * clock.took().running);
        }
        println!("{:<18} {first:>12.2} {diagnostics:>12.2} {curve:>12.2} {parameter:>12.2}", case.name);
    }
    Ok(())
}
