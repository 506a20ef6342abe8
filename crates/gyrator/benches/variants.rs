//! Variants of one model by its parameters, from one program, on one thread and on two, beside calls of the command.
//!
//! `cargo bench -p gyrator --bench variants -- [DIR]`, where DIR holds the Modelica Standard Library; without it only the converter
//! of `examples/` is measured. What a call of the command costs is measured where `GYRATOR` names the program.
//!
//! Batches on one thread and on two take turns, and time that a thread waits for a processor, which other programs have, does not
//! count (Linux, `schedstat`). What is left is computing and waiting for each other.

mod clock;

use std::process::{Command, Stdio};
use std::time::Instant;

use clock::{Clock, Took};
use gyrator::{Error, Model, Session};

const VARIANTS: u32 = 1000;
const BATCHES: u32 = 10;
const CALLS: u32 = 10;
const BUCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/buck.mo");

struct Case {
    model: &'static str,
    needs_library: bool,
    /// Parameters with their value in a variant, of which the argument is the number between 0 and 1.
    parameters: [(&'static str, fn(f64) -> f64); 2],
    shown: &'static str,
}

const CASES: [Case; 2] = [
    Case {
        model: "Buck.Converter",
        needs_library: false,
        parameters: [("duty", |k| 0.2 + 0.6 * k), ("load.R", |k| 4.0 + 7.0 * k)],
        shown: "store.v",
    },
    Case {
        model: "Modelica.Mechanics.Rotational.Examples.CoupledClutches",
        needs_library: true,
        parameters: [("J1.J", |k| 0.8 + 0.4 * k), ("sin1.amplitude", |k| 9.0 + 2.0 * k)],
        shown: "J3.w",
    },
];

impl Case {
    /// The last value of a variable in a variant.
    fn variant(&self, model: &Model, number: u32) -> Result<f64, Error> {
        let share = f64::from(number) / f64::from(VARIANTS);
        let tuned = model.with_all(&self.parameters.map(|(name, value)| (name, value(share))))?;
        let run = tuned.simulate_only(&model.experiment(), &|name| name == self.shown)?;
        Ok(run.last(self.shown).unwrap_or(f64::NAN))
    }

    /// A batch of variants on a number of threads: what the longest of the threads took, and the sum of what the variants give.
    fn batch(&self, model: &Model, batch: u32, threads: u32) -> Result<(Took, f64), Error> {
        let share = |thread: u32| {
            move || {
                let clock = Clock::start();
                let numbers =
                    (batch..VARIANTS).step_by(BATCHES as usize).skip(thread as usize).step_by(threads as usize);
                let sum = numbers.map(|number| self.variant(model, number)).sum::<Result<f64, Error>>()?;
                Ok((clock.took(), sum))
            }
        };
        let done: Vec<Result<(Took, f64), Error>> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|thread| scope.spawn(share(thread))).collect();
            running.into_iter().filter_map(|run| run.join().ok()).collect()
        });
        done.into_iter().try_fold((Took::default(), 0.0), |(took, sum), done| {
            let (other, other_sum) = done?;
            Ok((took.longest(other), sum + other_sum))
        })
    }

    fn measure(&self, session: &mut Session, library: Option<&str>) -> Result<(), Error> {
        let begin = Instant::now();
        let model = session.model(self.model)?;
        println!("{}: translated in {:.1} ms", self.model, 1e3 * begin.elapsed().as_secs_f64());
        self.variant(&model, 0)?;
        let (mut one, mut two) = ((Took::default(), 0.0), (Took::default(), 0.0));
        for batch in 0..BATCHES {
            for (threads, total) in [(1, &mut one), (2, &mut two)] {
                let (took, sum) = self.batch(&model, batch, threads)?;
                *total = (total.0.and(took), total.1 + sum);
            }
        }
        let each = 1e3 * one.0.running / f64::from(VARIANTS);
        println!(
            "  one thread:  {each:.3} ms a variant, {:.3} of them computing",
            1e3 * one.0.computing / f64::from(VARIANTS)
        );
        let (running, elapsed) = (one.0.running / two.0.running, one.0.elapsed / two.0.elapsed);
        println!("  two threads: {running:.2} times as many variants ({elapsed:.2} by the clock on the wall)");
        println!("  sums of the results: {} and {}", one.1, two.1);
        if let Ok(command) = std::env::var("GYRATOR") {
            let mut call = Command::new(command);
            let result = std::env::temp_dir().join("gyrator-variant.csv");
            call.args(["simulate", "--model", self.model, "--quiet", BUCK, "--output"])
                .arg(result)
                .stdout(Stdio::null());
            library.iter().for_each(|folder| {
                call.args(["-L", folder]);
            });
            let begin = children();
            let succeeded = (0..CALLS).all(|_| call.status().is_ok_and(|status| status.success()));
            let took = 1e3 * (children() - begin) / f64::from(CALLS);
            println!("  a call:      {took:.1} ms, {:.1} times a variant; succeeded: {succeeded}", took / each);
        }
        Ok(())
    }
}

/// Processor seconds of the processes that this one has started and that have ended.
fn children() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may hold blanks, the times in hundredths of a second are the 14th and 15th field.
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or_default().split_whitespace().collect();
    [13, 14].iter().filter_map(|&field| fields.get(field)?.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn main() -> Result<(), Error> {
    let library = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for case in CASES.iter().filter(|case| library.is_some() || !case.needs_library) {
        let mut session = Session::new();
        session.add_file(BUCK);
        library.iter().for_each(|folder| session.add_library(folder));
        case.measure(&mut session, library.as_deref())?;
    }
    Ok(())
}
