//! Runs a model of a file and looks at what came out: `cargo run --example results -p gyrator -- examples/circuit.mo`.

use gyrator::{Error, Session};

fn main() -> Result<(), Error> {
    let target = std::env::args().nth(1).unwrap_or_else(|| "examples/circuit.mo".into());
    let mut session = Session::new();
    let model = session.model(&target)?;
    let run = model.simulate(&model.experiment())?;
    println!("{}: {} variables, {} rows", model.name(), run.variables.len(), run.time.len());
    for variable in run.variables.iter().filter(|variable| !variable.column.parameter) {
        let (least, most) = variable
            .values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &value| (least.min(value), most.max(value)));
        println!("{:<24} {least:>12.5} … {most:<12.5} {}", variable.column.name, variable.column.unit);
    }
    Ok(())
}
