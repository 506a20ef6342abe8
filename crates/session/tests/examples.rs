//! The examples that come with the program: their counts and their numbers.
#![allow(clippy::unwrap_used)]

use std::f64::consts::PI;
use std::path::Path;

use results::{MemorySink, Trajectories};
use session::{
    Disk, Ending, EventLog, Failed, Flat, Listing, Notation, Request, Session, Settings, Statistics, Structure,
};

struct Checked {
    flat: Flat,
    structure: Structure,
    listing: Listing,
}

impl Checked {
    /// The number of blocks that the right-hand side needs.
    fn at_run_time(&self) -> usize {
        let listing = serde_json::to_value(&self.listing).unwrap();
        let blocks = listing["blocks"].as_array().unwrap();
        blocks.iter().filter(|block| block["timing"] != "output").count()
    }
}

struct Run {
    result: Trajectories,
    statistics: Statistics,
}

impl Run {
    fn at(&self, name: &str, time: f64) -> f64 {
        self.result.at(name, time).unwrap_or_else(|| panic!("no `{name}` at {time}"))
    }

    /// The times that have two rows, at which something jumped.
    fn jumps(&self, name: &str) -> Vec<f64> {
        let values = &self.result.get(name).unwrap().values;
        let time = &self.result.time;
        let pairs = time.windows(2).zip(values.windows(2));
        pairs.filter(|(t, v)| t[0] == t[1] && v[0] != v[1]).map(|(t, _)| t[0]).collect()
    }
}

fn request(example: &str) -> Request {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    Request { target: path.display().to_string(), ..Request::default() }
}

fn explain<T>(session: &Session, result: Result<T, Failed>) -> T {
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    result.unwrap_or_else(|failed| panic!("{failed:?}\n{said}"))
}

fn check(example: &str) -> Checked {
    let mut session = Session::new(Box::new(Disk));
    let model = session.flatten(&request(example));
    let model = explain(&session, model);
    let flat = Flat::of(&model);
    let schedule = session.structure(model);
    let schedule = explain(&session, schedule);
    let listing = Listing::new(&schedule, session.sources(), Notation::Modelica);
    Checked { flat, structure: Structure::of(&schedule), listing }
}

fn run(example: &str, settings: Settings) -> Run {
    let mut session = Session::new(Box::new(Disk));
    let model = session.flatten(&request(example));
    let model = explain(&session, model);
    finish(&mut session, model, settings)
}

fn finish(session: &mut Session, model: dae::Model, settings: Settings) -> Run {
    let options = settings.resolve(&model.experiment).unwrap();
    let schedule = session.structure(model);
    let schedule = explain(session, schedule);
    let program = session.compile(schedule);
    let program = explain(session, program);
    let mut sink = MemorySink::default();
    let mut watcher = |_: f64| true;
    let outcome = session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut watcher);
    let outcome = explain(session, outcome);
    assert_eq!(outcome.ending, Ending::Complete);
    Run { result: sink.trajectories, statistics: Statistics::of(&outcome, session.sources()) }
}

fn sizes(checked: &Checked) -> Vec<(&'static str, usize, usize)> {
    let systems = checked.structure.blocks.iter().filter(|block| block.kind != "explicit");
    systems.map(|block| (block.kind, block.size, block.torn)).collect()
}

#[track_caller]
fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} instead of {expected}");
}

#[test]
fn circuit() {
    let checked = check("circuit.mo");
    assert_eq!((checked.flat.equations, checked.flat.unknowns), (27, 27));
    assert_eq!(checked.structure.states, ["C.u", "L.p.i"]);
    assert_eq!(sizes(&checked), []);
    // Two more are computed for output only: the currents of the source and into the ground.
    assert_eq!(checked.at_run_time(), 7);

    let run = run("circuit.mo", Settings { tolerance: Some(1e-9), ..Settings::default() });
    let (a, w, r1, r2, c, l) = (220.0, 314.0, 10.0, 100.0, 0.01, 0.1f64);
    for time in [0.01f64, 0.05, 0.1] {
        let q = w * r1 * c;
        let voltage = a / (1.0 + q * q) * ((w * time).sin() - q * (w * time).cos() + q * (-time / (r1 * c)).exp());
        let current = a / (r2 * r2 + w * w * l * l)
            * (r2 * (w * time).sin() - w * l * (w * time).cos() + w * l * (-r2 * time / l).exp());
        assert_near(run.at("C.u", time), voltage, 1e-6);
        assert_near(run.at("L.p.i", time), current, 1e-6);
    }
}

#[test]
fn mass_and_spring() {
    let checked = check("mass_spring.mo");
    assert_eq!((checked.flat.equations, checked.flat.unknowns), (11, 11));
    assert_eq!(checked.structure.states.len(), 2);
    assert_eq!(sizes(&checked), []);
    let run = run("mass_spring.mo", Settings::default());
    for time in [1.0f64, 5.0, 10.0] {
        assert_near(run.at("mass.b.s", time), (2.0 * time).cos(), 1e-5);
        assert_near(run.at("mass.v", time), -2.0 * (2.0 * time).sin(), 2e-5);
    }
}

#[test]
fn two_springs_in_series() {
    let checked = check("two_springs.mo");
    assert_eq!((checked.flat.equations, checked.flat.unknowns), (15, 15));
    assert_eq!(checked.structure.states.len(), 2);
    let run = run("two_springs.mo", Settings::default());
    for time in [1.0f64, 5.0, 10.0] {
        assert_near(run.at("mass.b.s", time), (2f64.sqrt() * time).cos(), 1e-5);
        assert_near(run.at("spring1.b.s", time), 0.5 * (2f64.sqrt() * time).cos(), 1e-5);
    }
}

#[test]
fn sorting_by_hand() {
    let run = run("sorting.mo", Settings::default());
    let solution = [("z1", 1.0), ("z2", 2.0), ("z3", 3.0), ("z4", 4.0), ("z5", 5.0)];
    for (name, value) in solution {
        assert_near(run.at(name, 1.0), value, 1e-12);
    }
}

#[test]
fn tearing_by_hand() {
    let checked = check("tearing.mo");
    assert_eq!(sizes(&checked), [("nonlinear", 5, 1)]);
    let run = run("tearing.mo", Settings::default());
    for time in [0.0, 0.3, 1.0] {
        let z = |name: &str| run.at(name, time);
        assert_near(z("z1"), 0.5 * z("z5").cos() + 0.1 * time, 1e-8);
        assert_near(z("z2"), z("z1").sin(), 1e-12);
        assert_near(z("z3"), z("z1") + z("z2").powi(2), 1e-12);
        assert_near(z("z4"), z("z2") * z("z3"), 1e-12);
        assert_near(z("z5"), (-z("z4")).exp() + z("z1"), 1e-8);
    }
}

#[test]
fn tearing_never_divides_by_what_may_vanish() {
    let checked = check("safe_tearing.mo");
    let text = checked.listing.text();
    assert!(!text.contains("/z1"), "{text}");
    let run = run("safe_tearing.mo", Settings { stop_time: Some(4.0), ..Settings::default() });
    for &time in &run.result.time {
        let (z1, z2, z3) = (run.at("z1", time), run.at("z2", time), run.at("z3", time));
        assert_near(z1, (2.0 * time).sin(), 1e-12);
        assert_near(z1 * z2, z3.sin(), 1e-6);
        assert_near(z2 * z2, z3, 1e-6);
    }
}

#[test]
fn two_point_controller_and_limiter() {
    let run = run("limiter.mo", Settings::default());
    let half = 4.0 * (1.0 - (PI / 6.0).cos()) + 4.0 * PI / 6.0;
    assert_near(run.at("x", PI), half, 1e-6);
    assert_near(run.at("x", 2.0 * PI), 0.0, 1e-6);
    assert_near(run.at("w", PI), PI, 1e-6);
    assert_near(run.at("w", 2.0 * PI), 0.0, 1e-6);
    let jumps = run.jumps("controller.y");
    assert_near(*jumps.last().unwrap(), PI, 1e-9);
    // Four crossings of the limits and the sign; at the start the sine leaves zero.
    assert!((5..=7).contains(&run.statistics.state_events), "{}", run.statistics.state_events);
}

#[test]
fn bouncing_ball() {
    let run = run("bouncing_ball.mo", Settings::default());
    let (g, e) = (9.81, 0.7);
    let first: f64 = (2.0f64 / g).sqrt();
    let mut expected = vec![first];
    let mut flight = 2.0 * first * e;
    while expected[expected.len() - 1] + flight < 2.0 {
        expected.push(expected[expected.len() - 1] + flight);
        flight *= e;
    }
    let bounces = run.jumps("v");
    assert_eq!(bounces.len(), expected.len());
    for (bounce, expected) in bounces.iter().zip(&expected) {
        assert!((bounce / expected - 1.0).abs() < 1e-8, "{bounce} instead of {expected}");
    }
}

#[test]
fn rectifier() {
    let run = run("rectifier.mo", Settings::default());
    let switches = run.jumps("diode.off");
    let expected = [8.7081397e-3, 2.0999157e-2, 2.8265191e-2, 4.1307834e-2];
    // The first change is at the very start, when the source rises from zero.
    let switches: Vec<f64> = switches.into_iter().filter(|&time| time > 1e-6).collect();
    assert!(switches.len() >= expected.len(), "{switches:?}");
    for (switch, expected) in switches.iter().zip(expected) {
        assert_near(*switch, expected, 1e-7);
    }
    assert_near(run.at("C.u", 0.1), 0.456011, 1e-6);
}

#[test]
fn a11_chain_of_thirty_bodies() {
    let checked = check("body_chain.mo");
    assert_eq!(checked.flat.equations, 3747);
    assert_eq!(checked.structure.states.len(), 60);
    let systems: Vec<_> = checked.structure.blocks.iter().filter(|block| block.size > 1).collect();
    assert_eq!(systems.len(), 1);
    assert_eq!((systems[0].kind, systems[0].torn), ("linear", 30));
    assert!(checked.structure.entries < checked.structure.blocks.len());
    let text = checked.listing.text();
    assert!(
        text.contains("30 of one shape, the last for der(joint[30].q):\n    der(joint[1].q) := joint[1].qd "),
        "{text}"
    );
}

/// The schedule of the equations as they were written, as a page and as a document too.
fn as_written(example: &str) -> (transform::Schedule, String, String) {
    let mut session = Session::new(Box::new(Disk));
    let mut request = request(example);
    request.transform.aliases = transform::Aliases::Keep;
    let model = session.flatten(&request);
    let model = explain(&session, model);
    let schedule = session.structure(model);
    let schedule = explain(&session, schedule);
    let page = session::page(&schedule, session.sources());
    let latex = Listing::new(&schedule, session.sources(), Notation::Latex).latex();
    (schedule, page, latex)
}

#[test]
fn a4_spring_damper_and_wall() {
    let (schedule, page, latex) = as_written("spring_damper.mo");
    assert_eq!((schedule.summary.equations, schedule.summary.unknowns), (12, 12));
    let differentiated: Vec<String> =
        schedule.summary.differentiated.iter().map(|&(eq, _)| schedule.model.equation_text(eq)).collect();
    assert_eq!(differentiated, ["damper.b.s = wall.a.s", "wall.a.s = 0"]);
    assert_eq!(schedule.states.len(), 1);
    // The page tells the same story and needs nothing else.
    assert!(page.contains("determines nothing: it is a constraint between states"));
    assert!(page.contains("<code>der(damper.b.s) = der(wall.a.s)</code>"));
    assert!(page.contains("spring_damper.mo:27") && page.contains("href=\"#f0l27\""));
    assert!(page.contains("id=\"f0l27\""));
    assert_eq!(page.matches("http").count(), page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count());
    assert_eq!(page.matches("<line ").count(), 24 - 2);

    assert!(latex.contains(r"\section*{Differentiated equations}") && latex.contains(r"\section*{At the start}"));

    let run = run("spring_damper.mo", Settings { tolerance: Some(1e-8), ..Settings::default() });
    for time in [1.0f64, 5.0, 10.0] {
        let damper = (1.0 - time.cos()) / 0.5;
        assert_near(run.at("damper.a.s", time), damper, 1e-6);
        assert_near(run.at("spring.a.s", time), damper + time.sin() / 2.0, 1e-6);
        assert_eq!(run.at("damper.b.s", time), 0.0);
    }
}

#[test]
fn a11_as_written() {
    let (schedule, ..) = as_written("body_chain.mo");
    let structure = Structure::of(&schedule);
    let systems: Vec<_> = structure.blocks.iter().filter(|block| block.size > 1).map(|b| (b.size, b.torn)).collect();
    assert!(matches!(systems[..], [(1200.., 30)]), "{systems:?}");
}

#[test]
fn one_body_is_a_physical_pendulum() {
    let mut session = Session::new(Box::new(Disk));
    let mut request = request("body_chain.mo");
    request.set = vec![("bodies".into(), "1".into()), ("d".into(), "0".into())];
    let model = session.flatten(&request);
    let model = explain(&session, model);
    let settings = Settings { tolerance: Some(1e-8), ..Settings::default() };
    let run = finish(&mut session, model, settings);
    // About the joint: J + m·l²/4; from the horizontal the energy stays zero.
    let inertia = 0.1 + 0.25;
    let (q, qd) = (&run.result.get("joint[1].q").unwrap().values, &run.result.get("joint[1].qd").unwrap().values);
    for (q, qd) in q.iter().zip(qd.iter()) {
        let energy = inertia * qd * qd / 2.0 + 9.81 * 0.5 * q.sin();
        assert!(energy.abs() < 1e-5, "{energy}");
    }
    assert!(q.iter().any(|&q| q < -1.0));
}

#[test]
fn buck_converter() {
    let run = run("buck.mo", Settings { interval: Some(1e-7), ..Settings::default() });
    assert_eq!(run.statistics.time_events, 400);
    let voltage = &run.result.get("store.v").unwrap().values;
    let last: Vec<f64> =
        run.result.time.iter().zip(voltage.iter()).filter(|row| *row.0 > 0.00198).map(|row| *row.1).collect();
    // The periodic solution, from the exponential of the circuit's matrix; the extremes lie up to half an interval away.
    assert_near(last.iter().copied().fold(f64::NEG_INFINITY, f64::max), 9.633678422, 3e-5);
    assert_near(last.iter().copied().fold(f64::INFINITY, f64::min), 9.561522577, 3e-5);
}
