//! Writes one system in every format, with our own results, for `scripts/compare.py`: `exports FOLDER`.

use std::path::Path;

use linear::{
    Excitation, Matrix, RANK_TOLERANCE, Signal, State, StateSpace, export, frequency_response_at, modes, poles,
    time_response, zeros,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = Path::new(&folder);
    let system = car()?;
    let (poles, zeros) = (poles(&system)?, zeros(&system, RANK_TOLERANCE)?);
    let mut json = export::json(&system, &poles, &zeros);
    let response = time_response(&system, Excitation::Step, Some(5.0))?;
    json.insert("time".to_owned(), response.time.clone().into());
    let curves = (0..2).flat_map(|output| (0..2).map(move |input| (output, input)));
    let steps: Vec<Vec<f64>> = curves.map(|(output, input)| response.curve(output, input)).collect();
    json.insert("step".to_owned(), steps.into());
    let mut pair_zeros = Vec::new();
    for pair in 0..4 {
        let found = linear::zeros(&system.pair(pair / 2, pair % 2)?, RANK_TOLERANCE)?;
        pair_zeros.push(found.iter().map(|zero| vec![zero.re, zero.im]).collect::<Vec<_>>());
    }
    json.insert("pair zeros".to_owned(), pair_zeros.into());
    let frequency = frequency_response_at(&system, &[0.1, 1.0, 7.0, 60.0])?;
    let values: Vec<Vec<f64>> = frequency
        .values
        .iter()
        .map(|matrix| matrix.entries().iter().flat_map(|value| [value.re, value.im]).collect())
        .collect();
    json.insert("response".to_owned(), values.into());
    let modes = export::modes_text(&system, &modes(&system)?);
    let files = [
        ("car.json", serde_json::to_string(&json)?),
        ("car.m", export::matlab(&system)),
        ("car.py", export::python(&system)),
        ("car.tex", export::latex(&system)),
        ("car.mo", export::modelica(&system, "Car")),
        ("car.txt", export::text(&system) + "\n" + &modes),
    ];
    for (name, text) in files {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// A quarter of a car on a road: body and wheel with springs and dampers, the road and a force between them as inputs.
fn car() -> Result<StateSpace, linear::Error> {
    let (body, wheel, spring, damper, tyre) = (300.0, 40.0, 16_000.0, 1_000.0, 190_000.0);
    let a = Matrix::from([
        [0.0, 1.0, 0.0, 0.0],
        [-spring / body, -damper / body, spring / body, damper / body],
        [0.0, 0.0, 0.0, 1.0],
        [spring / wheel, damper / wheel, -(spring + tyre) / wheel, -damper / wheel],
    ]);
    let b = Matrix::from([[0.0, 0.0], [0.0, 1.0 / body], [0.0, 0.0], [tyre / wheel, -1.0 / wheel]]);
    let c = Matrix::from([[1.0, 0.0, 0.0, 0.0], [-spring / body, -damper / body, spring / body, damper / body]]);
    let d = Matrix::from([[0.0, 0.0], [0.0, 1.0 / body]]);
    let states = ["body", "wheel"].iter().flat_map(|component| {
        [("s", "m"), ("v", "m/s")].map(|(name, unit)| State::new(format!("{component}.{name}"), unit, *component))
    });
    let inputs = vec![Signal::new("road.s", "m"), Signal::new("actuator.f", "N")];
    let outputs = vec![Signal::new("body.s", "m"), Signal::new("body.a", "m/s2")];
    StateSpace::new([a, b, c, d], states.collect(), inputs, outputs)
}
