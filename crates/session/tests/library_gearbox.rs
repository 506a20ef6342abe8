//! The four-speed automatic gearbox of the library: with fixed steps, and with ideal clutches and brakes in place of friction.
#![allow(clippy::unwrap_used)]

use base::Severity;
use lang::MemoryFiles;
use results::{MemorySink, Trajectories};
use session::{Ending, EventLog, Request, Session, Settings};

/// Runs a model of the package `Gyrator.Examples.DriveTrains`.
fn run(model: &str, settings: &Settings) -> Trajectories {
    let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", "package Empty end Empty;")));
    let request = Request { target: format!("Gyrator.Examples.DriveTrains.{model}"), ..Request::default() };
    let result = session.flatten(&request).and_then(|flat| {
        let options = settings.resolve(&flat.experiment).unwrap();
        let program = session.structure(flat).and_then(|schedule| session.compile(schedule))?;
        let mut sink = MemorySink::default();
        let keep = |name: &str| matches!(name, "vehicle.v" | "ratio");
        let outcome =
            session.simulate(&program, &options, &keep, &mut sink, &mut EventLog::none(), &mut |_: f64| true)?;
        assert_eq!(outcome.ending, Ending::Complete);
        Ok(sink.trajectories)
    });
    let warnings = session.diagnostics.iter().filter(|said| said.severity > Severity::Note);
    let said: String = warnings.map(|said| said.render(session.sources())).collect();
    assert!(said.is_empty(), "{said}");
    result.unwrap_or_else(|failed| panic!("{failed:?}"))
}

/// The largest distance of two trajectories of the speed, in metres a second.
fn distance(one: &Trajectories, other: &Trajectories) -> f64 {
    let difference = |k: i32| {
        let time = f64::from(k) / 2.0;
        (one.at("vehicle.v", time).unwrap() - other.at("vehicle.v", time).unwrap()).abs()
    };
    (0..64).map(difference).fold(0.0, f64::max)
}

#[test]
fn fixed_steps_and_ideal_clutches_agree_with_friction() {
    let friction = run("FourSpeedVehicle", &Settings::default());
    let fixed = run(
        "FourSpeedVehicle",
        &Settings { solver: Some("euler".to_owned()), step: Some(0.002), ..Settings::default() },
    );
    assert!(distance(&friction, &fixed) < 0.02);

    // Shifts take no time and heat no disks with ideal clutches; the rest of the drive is the same.
    let ideal = run("IdealFourSpeedVehicle", &Settings::default());
    assert!(distance(&friction, &ideal) < 0.45);
    let first = 73.0 / 35.0;
    let expected = [(4.5, (1.0 + 2.0 * first) / first), (8.5, 1.0 + 1.0 / first), (13.5, 1.0), (19.5, 91.0 / 125.0)];
    for (time, ratio) in expected {
        for result in [&friction, &fixed, &ideal] {
            assert!((result.at("ratio", time).unwrap() - ratio).abs() < 1e-3, "{time}");
        }
        // The lead that quicker shifts give.
        let (slow, quick) = (friction.at("vehicle.v", time).unwrap(), ideal.at("vehicle.v", time).unwrap());
        assert!(slow > 1.0 && (quick - slow).abs() < 0.012 * slow, "{slow} and {quick} at {time}");
    }
    assert!(friction.last("vehicle.v").unwrap().abs() < 1e-3 && ideal.last("vehicle.v").unwrap().abs() < 1e-3);
}
