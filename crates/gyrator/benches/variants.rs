//! Variants of one model by its parameters, from one program, on one thread and on two: `cargo bench -p gyrator`.
//!
//! What a call of the command costs is measured where `GYRATOR` names it.

use std::process::{Command, Stdio};
use std::time::Instant;

use gyrator::{Error, Model, Session};

const VARIANTS: u32 = 1000;
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/buck.mo");

/// The last output voltage of a variant.
fn variant(model: &Model, number: u32) -> Result<f64, Error> {
    let duty = 0.2 + 0.6 * f64::from(number) / f64::from(VARIANTS);
    let tuned = model.with_all(&[("duty", duty), ("load.R", 4.0 + f64::from(number % 7))])?;
    let run = tuned.simulate_only(&model.experiment(), &|name| name == "store.v")?;
    Ok(run.last("store.v").unwrap_or(f64::NAN))
}

/// Seconds for all variants, and the sum of what they give.
fn all(model: &Model, threads: u32) -> Result<(f64, f64), Error> {
    let begin = Instant::now();
    let sums: Vec<Result<f64, Error>> = std::thread::scope(|scope| {
        let work = |thread: u32| move || (thread..VARIANTS).step_by(threads as usize).map(|k| variant(model, k)).sum();
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(work(thread))).collect();
        running.into_iter().filter_map(|run| run.join().ok()).collect()
    });
    let sum = sums.into_iter().sum::<Result<f64, Error>>()?;
    Ok((begin.elapsed().as_secs_f64(), sum))
}

fn main() -> Result<(), Error> {
    let mut session = Session::new();
    session.add_file(FILE);
    let begin = Instant::now();
    let model = session.model("Buck.Converter")?;
    println!("translation: {:.1} ms", 1e3 * begin.elapsed().as_secs_f64());
    variant(&model, 0)?;
    let (one, sum) = all(&model, 1)?;
    let (two, other) = all(&model, 2)?;
    let each = 1e3 * one / f64::from(VARIANTS);
    println!("one thread:  {each:.3} ms a variant, two threads: {:.2} times as many", one / two);
    println!("sums of the results: {sum} and {other}");
    if let Ok(command) = std::env::var("GYRATOR") {
        let begin = Instant::now();
        const CALLS: u32 = 10;
        let mut call = Command::new(command);
        call.args(["simulate", FILE, "--model", "Buck.Converter", "--quiet"]).stdout(Stdio::null());
        let succeeded = (0..CALLS).all(|_| call.status().is_ok_and(|status| status.success()));
        let call = 1e3 * begin.elapsed().as_secs_f64() / f64::from(CALLS);
        println!("a call of the command: {call:.1} ms, {:.1} times a variant; succeeded: {succeeded}", call / each);
    }
    Ok(())
}
