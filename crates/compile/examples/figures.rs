//! Times of making and running code: `cargo run --release --example figures -p gyrator-compile [cells]`.

use std::fmt::Write as _;
use std::time::Instant;

use compile::{Failure, Memory, Program, SystemId};

fn heat(cells: usize) -> String {
    let mut text = String::from("parameter a = 100\n");
    for k in 1..=cells {
        let _ = writeln!(text, "Real x{k}(start = {})", k as f64 / cells as f64);
    }
    for k in 1..=cells {
        let left = if k > 1 { format!("x{}", k - 1) } else { "1".into() };
        let right = if k < cells { format!("x{}", k + 1) } else { "0".into() };
        let _ = writeln!(text, "der(x{k}) = a*({left} - 2*x{k} + {right})");
    }
    text
}

fn diodes(cells: usize) -> String {
    let mut text = String::from("parameter R = 1000\nparameter C = 1e-9\nparameter Is = 1e-12\nparameter Vt = 0.025\n");
    for k in 1..=cells {
        let left = if k > 1 { format!("v{}", k - 1) } else { "sin(time)".into() };
        let _ = writeln!(text, "i{k} = ({left} - v{k})/R");
        let _ = writeln!(text, "d{k} = Is*(exp(v{k}/Vt) - 1)");
        let next = if k < cells { format!("i{}", k + 1) } else { "0".into() };
        let _ = writeln!(text, "C*der(v{k}) = i{k} - d{k} - {next}");
    }
    text
}

fn none(_: SystemId, _: &mut Memory) -> Result<(), Failure> {
    Ok(())
}

fn time_of(repetitions: usize, mut action: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..repetitions).for_each(|_| action());
    start.elapsed().as_secs_f64() / repetitions as f64
}

fn figures(name: &str, text: &str) {
    let model = match dae::testing::model(text) {
        Ok(model) => model,
        Err(message) => return println!("{name}: {message}"),
    };
    let start = Instant::now();
    let schedule = match transform::transform(model, &transform::Options::default()) {
        Ok(schedule) => schedule,
        Err(diagnostics) => return println!("{name}: {diagnostics:?}"),
    };
    let transformed = start.elapsed();
    let start = Instant::now();
    let program = match Program::new(schedule) {
        Ok(program) => program,
        Err(diagnostic) => return println!("{name}: {diagnostic:?}"),
    };
    let built = start.elapsed();
    let mut memory = program.memory();
    let repetitions = 1 + 20_000_000 / text.len();
    let run = |memory: &mut Memory| {
        let _ = program.run(&program.sections.dynamics, memory, &mut none);
    };
    run(&mut memory);
    let interpreted = time_of(repetitions, || run(&mut memory));
    let start = Instant::now();
    program.compile();
    let compiled = start.elapsed();
    let machine = time_of(repetitions, || run(&mut memory));
    let mut entries = vec![0.0; program.ode_pattern.entries()];
    let jacobian = time_of(repetitions, || {
        let _ = program.ode_jacobian(&mut memory, &mut entries, &mut |_, _, _| Ok::<(), Failure>(()));
    });
    println!(
        "{name}: {} states, transform {transformed:.1?}, build {built:.1?}, machine code {compiled:.1?}; evaluation \
         interpreted {:.1} µs, compiled {:.1} µs, Jacobian ({} colours) {:.1} µs",
        program.states.len(),
        interpreted * 1e6,
        machine * 1e6,
        program.ode_colours.len(),
        jacobian * 1e6,
    );
}

fn main() {
    let cells = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    figures("heat", &heat(cells));
    figures("diodes", &diodes(cells));
}
