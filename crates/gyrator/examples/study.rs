//! A parameter study on threads: `cargo run --release --example study -p gyrator`.
//!
//! One translation; the simulations of all stiffnesses and pushes share it.

use gyrator::{Error, Model, Session};

const OSCILLATOR: &str = "
model Oscillator
  parameter Real k = 100;
  input Real push(start = 0);
  Real x(start = 0, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = push - k*x - 0.5*v;
end Oscillator;";

/// The largest excursion after a push.
fn excursion(model: &Model, push: f64) -> Result<f64, Error> {
    let (input, x) = (model.variable("push"), model.variable("x"));
    let (Some(input), Some(x)) = (input, x) else { return Ok(f64::NAN) };
    let mut simulation = model.start(&model.experiment().stop(5.0))?;
    simulation.set(input, push)?;
    let mut largest = 0.0f64;
    for k in 1..=500 {
        simulation.step_to(0.01 * f64::from(k))?;
        largest = largest.max(simulation.get(x));
    }
    Ok(largest)
}

fn main() -> Result<(), Error> {
    let mut session = Session::new();
    session.replace_text("oscillator.mo", OSCILLATOR);
    let model = session.model("oscillator.mo")?;
    for k in [50.0, 100.0, 200.0] {
        let model = model.with("k", k)?;
        let pushes = [1.0, 2.0, 4.0, 8.0];
        let largest: Vec<_> = std::thread::scope(|scope| {
            let runs: Vec<_> = pushes
                .map(|push| {
                    scope.spawn({
                        let model = &model;
                        move || excursion(model, push)
                    })
                })
                .into();
            runs.into_iter().filter_map(|run| run.join().ok()).collect()
        });
        let largest = largest.into_iter().collect::<Result<Vec<f64>, Error>>()?;
        println!("k = {k:>3}: {largest:.4?}");
    }
    Ok(())
}
