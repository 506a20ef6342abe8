//! How long an engineer waits in a process that stays: from an edit to its diagnostics and from an edit to a new curve.
//!
//! `cargo bench -p gyrator --bench edit_loop -- DIR`, where DIR holds the Modelica Standard Library. Without it only the circuit
//! of `examples/` is measured, which needs no library.

use std::time::{Duration, Instant};

use gyrator::{Error, Session};

const ROUNDS: u32 = 20;

/// A file of the user, in which a number changes with each edit.
struct Case {
    name: &'static str,
    needs_library: bool,
    text: fn(u32) -> String,
}

const CASES: [Case; 3] = [
    Case {
        name: "circuit",
        needs_library: false,
        text: |k| {
            let circuit = include_str!("../../../examples/circuit.mo");
            format!("{circuit}\n// edit {k}\n")
        },
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
    },
    Case {
        name: "FullRobot",
        needs_library: true,
        text: |k| {
            let mass = 15.0 + 0.001 * f64::from(k);
            format!(
                "model Mine extends Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot(mLoad = {mass}); \
                 annotation(experiment(StopTime = 2)); end Mine;"
            )
        },
    },
];

fn main() -> Result<(), Error> {
    let library = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!("{:<18} {:>12} {:>12} {:>12}", "edit →", "first check", "diagnostics", "curve");
    for case in CASES.iter().filter(|case| library.is_some() || !case.needs_library) {
        let mut session = Session::new();
        library.iter().for_each(|folder| session.add_library(folder));
        let mut edits = 0;
        let mut edited = |work: &mut dyn FnMut(&mut Session) -> Result<(), Error>| -> Result<Duration, Error> {
            edits += 1;
            session.replace_text("mine.mo", &(case.text)(edits));
            let begun = Instant::now();
            work(&mut session)?;
            Ok(begun.elapsed())
        };
        let mut check = |session: &mut Session| session.check("mine.mo").map(|report| assert!(report.is_sound()));
        let mut curve = |session: &mut Session| {
            let model = session.model("mine.mo")?;
            model.simulate(&model.experiment()).map(|run| assert!(run.time.len() > 1))
        };
        let first = edited(&mut check)?;
        let mut least = |work: &mut dyn FnMut(&mut Session) -> Result<(), Error>| -> Result<Duration, Error> {
            (0..ROUNDS).map(|_| edited(work)).try_fold(Duration::MAX, |least, took| Ok(least.min(took?)))
        };
        let (diagnostics, curve) = (least(&mut check)?, least(&mut curve)?);
        println!("{:<18} {first:>12.2?} {diagnostics:>12.2?} {curve:>12.2?}", case.name);
    }
    Ok(())
}
