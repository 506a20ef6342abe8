//! The components of the library that comes with the program. Each file of the folder `library` is a package of models, a domain
//! each. A model has components around it and says what must hold all along its run: `balance` (power over all connectors minus what
//! is stored and lost) and `error` (the distance from a closed form) stay below `tolerance`, which is 1e-5 if not declared.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::path::Path;

use base::Severity;
use lang::MemoryFiles;
use results::{MemorySink, Trajectories};
use session::{Ending, EventLog, Request, Session, Settings};

const TOLERANCE: f64 = 1e-5;

/// Runs all models of a package and compares what each says of itself.
#[track_caller]
fn check(text: &str) {
    let package = text.strip_prefix("package ").unwrap().split_whitespace().next().unwrap();
    let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", text)));
    let models: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("  model ")?.split_whitespace().next()).collect();
    assert!(!models.is_empty());
    let wrong: Vec<String> = models.iter().filter_map(|model| distance(&mut session, package, model).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The error names what was too far from zero, and when.
fn distance(session: &mut Session, package: &str, model: &str) -> Result<(), String> {
    let result = run(session, &format!("{package}.{model}"))?;
    let tolerance = result.last("tolerance").unwrap_or(TOLERANCE);
    let judged: Vec<&str> = result.names().filter(|name| is_judged(name)).collect();
    if judged.is_empty() {
        return Err(format!("{model}: nothing says what must come out"));
    }
    for name in judged {
        let values = &result.get(name).unwrap().values;
        for row in (0..values.len()).filter(|&row| !is_event(&result.time, row)) {
            if values[row].is_nan() || values[row].abs() > tolerance {
                return Err(format!("{model}: `{name}` is {} at {}", values[row], result.time[row]));
            }
        }
    }
    Ok(())
}

fn is_judged(name: &str) -> bool {
    let name = name.split('[').next().unwrap();
    name == "balance" || name == "error"
}

/// At an event closed forms have one limit and the run has two.
fn is_event(time: &[f64], row: usize) -> bool {
    row > 0 && time[row - 1] == time[row] || time.get(row + 1) == Some(&time[row])
}

fn run(session: &mut Session, model: &str) -> Result<Trajectories, String> {
    let request = Request {
        target: "case.mo".to_owned(),
        model: Some(model.to_owned()),
        no_unit_check: true,
        ..Request::default()
    };
    session.diagnostics.clear();
    let settings = Settings { tolerance: Some(1e-8), intervals: Some(211), ..Settings::default() };
    let result = session.flatten(&request).and_then(|flat| {
        let options = settings.resolve(&flat.experiment).unwrap();
        let program = session.structure(flat).and_then(|schedule| session.compile(schedule))?;
        let mut sink = MemorySink::default();
        let keep = |name: &str| is_judged(name) || name == "tolerance";
        let outcome =
            session.simulate(&program, &options, &keep, &mut sink, &mut EventLog::none(), &mut |_: f64| true)?;
        Ok((outcome.ending, sink.trajectories))
    });
    session.diagnostics.retain(|said| said.severity > Severity::Note);
    let said = || session.diagnostics.iter().map(|said| said.render(session.sources())).collect::<String>();
    match result {
        Ok((Ending::Complete, trajectories)) if session.diagnostics.is_empty() => Ok(trajectories),
        Ok((ending, _)) => Err(format!("{model}: {ending:?}\n{}", said())),
        Err(failed) => Err(format!("{model}: {failed:?}\n{}", said())),
    }
}

#[test]
fn blocks() {
    check(include_str!("library/blocks.mo"));
}

#[test]
fn electrical() {
    check(include_str!("library/electrical.mo"));
}

#[test]
fn rotational() {
    check(include_str!("library/rotational.mo"));
}

#[test]
fn translational() {
    check(include_str!("library/translational.mo"));
}

#[test]
fn heat() {
    check(include_str!("library/heat.mo"));
}

#[test]
fn hydraulic() {
    check(include_str!("library/hydraulic.mo"));
}

#[test]
fn fluid() {
    check(include_str!("library/fluid.mo"));
}

#[test]
fn chemical() {
    check(include_str!("library/chemical.mo"));
}

#[test]
fn mechanics3d() {
    check(include_str!("library/mechanics3d.mo"));
}

#[test]
fn examples() {
    check(include_str!("library/examples.mo"));
}

/// What a class says when it is checked alone.
fn said_of(class: &str, strict: bool, left_to_use: &[&str]) -> String {
    let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", "package Empty end Empty;")));
    let transform = transform::Options { strict, ..transform::Options::default() };
    let request = Request { target: class.to_owned(), transform, ..Request::default() };
    let outcome = session.check(&request);
    let said =
        session.diagnostics.iter().filter(|said| said.severity > Severity::Note && !left_to_use.contains(&said.code));
    let said: String = said.map(|said| said.render(session.sources())).collect();
    if outcome.is_err() { format!("{class} is wrong\n{said}") } else { said }
}

/// All classes of the library, each alone. The world and the clock that a component or a state asks for come with its use.
#[test]
fn every_class_can_be_checked() {
    assert_eq!(said_of("Gyrator", false, &["implicit-inner", "default-clock"]), "");
}

#[test]
fn a_component_that_asks_for_an_inner_one_is_no_mistake() {
    assert_eq!(said_of("Gyrator.Mechanics3D.Parts.Body", true, &[]), "");
}

/// All that is meant to be run is decided by its equations alone.
#[test]
fn examples_need_no_decisions() {
    let examples = [
        "Circuits.Rectifier",
        "Circuits.ThyristorBridge",
        "Circuits.Chopper",
        "Drive.HeatedDrive",
        "DriveTrains.FourSpeedVehicle",
        "DriveTrains.IdealFourSpeedVehicle",
        "FrictionAndImpact.TwoBlocksCompared",
        "Robots.Arm",
        "Domains.AllConnectors",
    ];
    for example in examples {
        assert_eq!(said_of(&format!("Gyrator.Examples.{example}"), true, &[]), "");
    }
}

/// No component without a test: the name of every model and block stands in one of the files.
#[test]
fn every_component_has_a_test() {
    let tests = [
        include_str!("library/blocks.mo"),
        include_str!("library/electrical.mo"),
        include_str!("library/rotational.mo"),
        include_str!("library/translational.mo"),
        include_str!("library/heat.mo"),
        include_str!("library/hydraulic.mo"),
        include_str!("library/fluid.mo"),
        include_str!("library/chemical.mo"),
        include_str!("library/mechanics3d.mo"),
        include_str!("library/examples.mo"),
    ];
    let words = |text: &'static str| text.split(|character: char| !character.is_alphanumeric());
    let used: HashSet<&str> = tests.iter().flat_map(|text| words(text)).collect();
    let mut folders = vec![Path::new(library::FOLDER).join("Gyrator")];
    let mut without = Vec::new();
    while let Some(folder) = folders.pop() {
        for (name, is_folder) in library::list(&folder) {
            let path = folder.join(&name);
            match is_folder {
                // Bond graphs have tests of their own; examples are built of components.
                true if name != "Examples" => folders.push(path),
                false if name.ends_with(".mo") && name != "BondGraph.mo" => {
                    without.extend(components(library::read(&path).unwrap()).filter(|name| !used.contains(name)));
                }
                _ => {}
            }
        }
    }
    without.retain(|name| !["Count", "Integrate"].contains(name));
    assert!(without.is_empty(), "{without:?}");
}

/// The names of models and blocks that are not partial.
fn components(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start();
        rest.strip_prefix("model ").or_else(|| rest.strip_prefix("block "))?.split_whitespace().next()
    })
}

/// A rope limits its length in one direction; where it would be taut the other way round, it says so instead of letting go.
#[test]
fn a_rope_the_wrong_way_round_is_refused() {
    for (rope, hangs) in
        [("Ideal.Rope", true), ("Basic.ElasticRope", true), ("Ideal.Rope", false), ("Basic.ElasticRope", false)]
    {
        let (upper, lower) = if hangs { ("b", "a") } else { ("a", "b") };
        let text = format!(
            "model Hanging
  import Gyrator.Translational.*;
  Basic.Wall hook;
  {rope} rope(length = 2);
  Basic.Weight load(s(start = -1, fixed = true), v(start = 0, fixed = true));
  Real balance = load.s;
equation
  connect(hook.flange, rope.{upper});
  connect(rope.{lower}, load.a);
  annotation(experiment(StopTime = 1.5));
end Hanging;"
        );
        let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", text.as_str())));
        match (run(&mut session, "Hanging"), hangs) {
            // Free fall would end below -12.
            (Ok(result), true) => assert!(result.last("balance").unwrap() > -2.1),
            (Err(said), false) => assert!(said.contains("taut the other way round"), "{said}"),
            (result, _) => panic!("{rope}: {:?}", result.map(|_| ())),
        }
    }
}

/// What leaves the validity of a component is refused with the reason, instead of going on.
#[test]
fn what_cannot_be_is_refused() {
    let cases = [
        (
            "The tank is empty",
            "Gyrator.Fluid.Vessels.OpenTank tank(levelStart = 0.1);
  Gyrator.Fluid.Basic.MassFlowSource drain(m_flow = -100);
  Real balance = tank.level;
equation
  connect(tank.port, drain.port);",
        ),
        (
            "begins below the ground",
            "Gyrator.Translational.Basic.Wall ground;
  Gyrator.Translational.Ideal.Impact impact;
  Gyrator.Translational.Basic.Weight ball(s(start = 1, fixed = true), v(start = 0, fixed = true));
  Real balance = ball.s;
equation
  connect(ball.a, impact.a);
  connect(impact.b, ground.flange);",
        ),
        (
            "larger than sqrt(L1*L2)",
            "Gyrator.Electrical.Sources.ConstantVoltage source;
  Gyrator.Electrical.Basic.CoupledInductors coils(L1 = 1, L2 = 1, M = 2);
  Gyrator.Electrical.Basic.Resistor load;
  Gyrator.Electrical.Basic.Ground ground;
  Real balance = load.u;
equation
  connect(source.p, coils.p1);
  connect(coils.n1, source.n);
  connect(source.n, ground.p);
  connect(coils.p2, load.p);
  connect(coils.n2, load.n);
  connect(load.n, ground.p);",
        ),
        (
            "not symmetric",
            "inner Gyrator.Mechanics3D.World world;
  Gyrator.Mechanics3D.Joints.Spherical joint;
  Gyrator.Mechanics3D.Parts.Rod rod(J = [1, 0.5, 0; 0, 1, 0; 0, 0, 1]);
  Real balance = time;
equation
  connect(world.frame, joint.a);
  connect(joint.b, rod.a);",
        ),
        (
            "connected but not equal",
            "Gyrator.Fluid.Basic.Ambient water;
  Gyrator.Fluid.Basic.Ambient air(redeclare package Medium = Gyrator.Fluid.Media.Air);
  Gyrator.Fluid.Basic.TurbulentPipe pipe;
  Real balance = pipe.m_flow;
equation
  connect(water.port, pipe.a);
  connect(pipe.b, air.port);",
        ),
    ];
    let blocks = [
        ("no broken line", "Tables.Table1D part(table = [0, 0; 2, 1; 1, 5], u = time)"),
        ("no broken line", "Tables.Table1D part(table = [0, 7], u = time)"),
        ("no broken line", "Tables.Table2D part(x1 = {1, 0}, u1 = time, u2 = time)"),
        ("no broken line", "Tables.TimeTable part(table = [0, 1; 0, 2; 1, 3])"),
        ("not in ascending order", "Sources.BooleanTable part(instants = {0.5, 0.3})"),
        ("lower limit uMin", "Math.Limiter part(uMax = -1, uMin = 1, u = time)"),
        ("lower limit uMin", "Math.DeadZone part(uMax = -1, uMin = 1, u = time)"),
        ("lower limit low", "Logical.Hysteresis part(low = 1, high = -1, u = time)"),
        ("higher degree", "Continuous.TransferFunction part(b = {1, 2, 3}, a = {1, 1}, u = time)"),
        ("first coefficient", "Continuous.TransferFunction part(b = {1}, a = {0, 1, 1}, u = time)"),
        ("time constant T", "Continuous.FirstOrder part(T = 0, u = time)"),
        ("time constant T", "Continuous.PI part(T = -1, u = time)"),
        ("time constant Ti", "Continuous.PID part(Ti = -1, u = time)"),
        ("frequency w", "Continuous.SecondOrder part(w = 0, u = time)"),
        ("distance of the pulses", "Sources.Pulse part(period = 0)"),
        ("distance of the pulses", "Sources.BooleanPulse part(period = -1)"),
        ("duration of the ramp", "Sources.Ramp part(duration = -1)"),
        ("distance of the instants", "Discrete.Sampler part(period = 0, u = time)"),
    ];
    let taken_out = "Gyrator.Chemical.Substance a;
  Gyrator.Chemical.MolarFlowSource drain(n_flow = -2);
  Real balance = a.c;
equation
  connect(a.port, drain.port);";
    let rotational = [
        ("larger than z1", "Meshings.OuterInner part(z1 = 80, z2 = 60)"),
        ("larger than zs", "Gears.StandardPlanetary part(zs = 80, zr = 60)"),
        ("turns backward", "Vehicles.TorqueConverter part"),
        ("efficiency eta2", "Gears.LossyGear part(eta2 = 0)"),
    ];
    let shafts = |part: &str| match part.split('.').next() {
        Some("Meshings") => ["wheel1", "wheel2"],
        Some("Gears") if part.contains("Planetary") => ["sun", "ring"],
        _ => ["a", "b"],
    };
    let rotational = rotational.map(|(reason, part)| {
        let [first, second] = shafts(part);
        let text = format!(
            "Gyrator.Rotational.{part};
  Gyrator.Rotational.Basic.ConstantSpeed left(w = -20);
  Gyrator.Rotational.Basic.Inertia right;
  Real balance = right.w;
equation
  connect(left.flange, part.{first});
  connect(part.{second}, right.a);"
        );
        (reason, text)
    });
    let blocks = blocks.map(|(reason, block)| (reason, format!("Gyrator.Blocks.{block};\n  Real balance = time;")));
    let cases = cases.into_iter().map(|(reason, body)| (reason, body.to_owned())).chain(blocks).chain(rotational);
    for (reason, body) in cases.chain([("than there is", taken_out.to_owned())]) {
        let text = format!("model M\n  {body}\n  annotation(experiment(StopTime = 3));\nend M;");
        let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", text.as_str())));
        let said = run(&mut session, "M").map(|_| ()).expect_err(reason);
        assert!(said.contains(reason), "{said}");
    }
}
