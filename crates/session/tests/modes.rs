//! Models whose structure changes during the run, against closed forms: what jumps, by which impulse, and which mode follows.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use expect_test::expect;
use results::{MemorySink, Trajectories};
use session::{Disk, Ending, EventLog, EventLogFormat, Request, Session, Settings, Statistics};

struct Run {
    result: Trajectories,
    statistics: Statistics,
    warnings: Vec<String>,
    log: String,
}

impl Run {
    fn left(&self, name: &str, time: f64) -> f64 {
        let row = self.result.time.iter().position(|&t| (t - time).abs() < 1e-6).unwrap();
        self.result.get(name).unwrap().values[row]
    }

    fn right(&self, name: &str, time: f64) -> f64 {
        let row = self.result.time.iter().rposition(|&t| (t - time).abs() < 1e-6).unwrap();
        self.result.get(name).unwrap().values[row]
    }
}

fn run(example: &str, model: Option<&str>) -> Run {
    run_with(example, model, transform::Switching::Modes, &Settings::default(), &[])
}

fn run_with(
    example: &str,
    model: Option<&str>,
    switching: transform::Switching,
    settings: &Settings,
    set: &[(&str, &str)],
) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let set = set.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let request =
        Request { target: path.display().to_string(), model: model.map(str::to_owned), set, ..Request::default() };
    let mut session = Session::new(Box::new(Disk));
    let model = session.flatten(&request).unwrap();
    let options = settings.resolve(&model.experiment).unwrap();
    session.transform.switching = switching;
    let schedule = session.structure(model).unwrap_or_else(|_| panic!("{:#?}", session.diagnostics));
    let program = session.compile(schedule).unwrap();
    let mut sink = MemorySink::default();
    let mut bytes = Vec::new();
    let mut log = EventLog::new(&mut bytes, EventLogFormat::Text);
    let outcome = session.simulate(&program, &options, &|_| true, &mut sink, &mut log, &mut |_| true).unwrap();
    drop(log);
    assert_eq!(outcome.ending, Ending::Complete);
    let warnings = outcome.warnings.iter().map(|warning| warning.message.clone()).collect();
    let statistics = Statistics::of(&outcome, session.sources());
    Run { result: sink.trajectories, statistics, warnings, log: String::from_utf8(bytes).unwrap() }
}

#[track_caller]
fn assert_close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}

#[test]
fn a_clutch_conserves_angular_momentum() {
    let run = run("clutch.mo", None);
    let (w1, w2) = (run.left("w1", 5.0), run.left("w2", 5.0));
    assert_close(w1, (-0.05f64).exp(), 1e-6);
    assert_close(w2, 1.5 * (-0.03125f64).exp(), 1e-6);
    // To rounding, whatever the error of integration before.
    let joined = (w1 + 2.0 * w2) / 3.0;
    assert_close(run.right("w1", 5.0), joined, 1e-14);
    assert_close(run.right("w2", 5.0), joined, 1e-14);
    assert_close(joined, 1.286310, 1e-6);
    assert_close(run.right("impulse(tau1)", 5.0), 0.335080, 1e-6);
    assert_close(run.right("w1", 7.0), 1.267159, 1e-6);
    assert_close(run.right("w1", 10.0), 1.229709, 1e-6);
    assert_close(run.right("w2", 10.0), 1.243621, 1e-6);
    assert_eq!(run.statistics.modes, 2);
}

#[test]
fn joined_capacitors_conserve_charge() {
    let run = run("two_capacitors.mo", None);
    assert_close(run.right("v1", 0.5), 6.4, 1e-14);
    assert_close(run.right("v2", 0.5), 6.4, 1e-14);
    assert_close(run.right("impulse(i)", 0.5), 7.2, 1e-14);
    let energy = |v1: f64, v2: f64| 0.5 * (2.0 * v1 * v1 + 3.0 * v2 * v2);
    assert_close(energy(10.0, 4.0) - energy(6.4, 6.4), 0.5 * (2.0 * 3.0 / 5.0) * 36.0, 1e-12);
    expect![[r#"
        0                      initialised
                               closed is initially false
        0.5                    mode 1 left, mode 2 entered: closed is true; decided: time >= 0.5 by its value
                               v1 jumps from 10 to 6.4
                               v2 jumps from 4 to 6.4
                               impulse of 7.2 in i
                               restart after 2 iterations
    "#]]
    .assert_eq(&run.log);
}

#[test]
fn an_interrupted_inductor_has_an_impulse_of_voltage() {
    let run = run("freewheeling.mo", Some("Freewheeling.Interrupted"));
    let current = 3.0 * (1.0 - (-6.0f64).exp());
    assert_close(run.left("inductor.i", 0.03), current, 1e-5);
    assert_eq!(run.right("inductor.i", 0.03), 0.0);
    let impulse = run.right("impulse(switch.v)", 0.03);
    assert_close(impulse, 0.02 * run.left("inductor.i", 0.03), 1e-14);
}

#[test]
fn a_freewheeling_diode_takes_the_current_over() {
    let run = run("freewheeling.mo", None);
    let current = run.left("inductor.i", 0.03);
    assert_close(run.right("inductor.i", 0.03), current, 1e-12);
    assert_close(run.right("diode.i", 0.03), current, 1e-12);
    assert_eq!((run.left("diode.off", 0.03), run.right("diode.off", 0.03)), (1.0, 0.0));
    assert_close(run.right("inductor.i", 0.06), current * (-6.0f64).exp(), 1e-5);
    assert_eq!(run.right("impulse(switch.v)", 0.03), 0.0);
}

#[test]
fn a_diode_bridge_on_an_oscillating_circuit() {
    let run = run("diode_bridge.mo", None);
    assert_close(run.right("capacitor.v", 0.001), -4.968109, 1e-6);
    assert_close(run.right("capacitor.v", 0.005), 0.790323, 1e-6);
    assert_eq!(run.warnings, Vec::<String>::new());
}

#[test]
fn a_rope_becomes_taut() {
    let run = run("rope.mo", None);
    let taut = (1.6f64 / 9.81).sqrt();
    assert_close(taut, 0.403855, 1e-6);
    assert_close(run.right("vx", taut), -1.901673, 1e-6);
    assert_close(run.right("vy", taut), -1.426254, 1e-6);
    // The velocity along the rope is gone, the one across it stays.
    assert_close(0.6 * run.right("vx", taut) - 0.8 * run.right("vy", taut), 0.0, 1e-12);
    let fall = 9.81 * taut;
    assert_close(0.8 * run.right("vx", taut) + 0.6 * run.right("vy", taut), -0.6 * fall, 1e-9);
    let (x, y) = (run.right("x", 1.0), run.right("y", 1.0));
    assert_close(x * x + y * y, 1.0, 1e-9);
}

#[test]
fn a_pendulum_breaks_without_a_jump() {
    let run = run("breaking_pendulum.mo", None);
    for name in ["x", "y", "vx", "vy"] {
        assert_close(run.right(name, 5.0), run.left(name, 5.0), 1e-9);
    }
    assert_eq!(run.right("lambda", 5.0), 0.0);
    let (x, y, vx, vy) = (run.right("x", 5.0), run.right("y", 5.0), run.right("vx", 5.0), run.right("vy", 5.0));
    assert_close(x * x + y * y, 200.0, 1e-6);
    assert_close(0.5 * (vx * vx + vy * vy) + 9.81 * y, -9.81 * 200f64.sqrt() * 1f64.cos(), 1e-5);
    assert_close(run.right("x", 10.0), x + 5.0 * vx, 1e-7);
    assert_close(run.right("y", 10.0), y + 5.0 * vy - 0.5 * 9.81 * 25.0, 1e-6);
}

#[test]
fn friction_by_its_characteristic_alone() {
    let run = run("dry_friction.mo", None);
    // It begins to slide when the force is larger than that of friction: 6·sin(2t) = 3.
    let begins = 0.5f64.asin() / 2.0;
    assert_eq!(run.right("v", 0.2), 0.0);
    assert_close(run.right("f", 0.2), 6.0 * 0.4f64.sin(), 1e-12);
    // 2·v' = 6·sin(2t) − 3 − v/2, from rest: the particular solution and what decays with time constant 4.
    let particular = |t: f64| {
        let (a, b) = (12.0 / 65.0, -96.0 / 65.0);
        a * (2.0 * t).sin() + b * (2.0 * t).cos() - 6.0
    };
    let v = |t: f64| particular(t) - particular(begins) * (-(t - begins) / 4.0).exp();
    for t in [0.5, 1.0, 1.5] {
        assert_close(run.right("v", t), v(t), 1e-7);
    }
    assert!(v(1.8455).abs() < 1e-3 && run.right("v", 1.9) < 0.0);
}

#[test]
fn backlash_with_rigid_stops() {
    let run = run("ideal_backlash.mo", None);
    // The first inertia reaches the stop at 0.5, and both go on together.
    assert_close(run.right("w1", 0.5), 1.0 / 3.0, 1e-9);
    assert_close(run.right("w2", 0.5), 1.0 / 3.0, 1e-9);
    // From 2 on it is braked and leaves the stop; after √2 more it has crossed the backlash.
    let impact = 2.0 + 2f64.sqrt();
    let together = (1.0 / 3.0 - 2f64.sqrt() + 2.0 / 3.0) / 3.0;
    assert_close(run.right("w1", impact), together, 1e-6);
    assert_close(run.right("w2", impact), together, 1e-6);
    assert_close(run.right("impulse(tau)", impact), 2.0 * (together - 1.0 / 3.0), 1e-6);
    assert_close(run.right("w1", 10.0), together - (10.0 - impact) / 3.0, 1e-6);
}

/// In every impact the sum of the angular momenta stays as it is, though both of them jump.
#[test]
fn b17_rigid_stops_conserve_momentum() {
    let run = run("ideal_backlash.mo", None);
    let column = |name: &str| &run.result.get(name).unwrap().values;
    let (w1, w2) = (column("w1"), column("w2"));
    let mut impacts = 0;
    for (row, pair) in run.result.time.windows(2).enumerate() {
        if pair[0] == pair[1] && (w1[row + 1] - w1[row]).abs() > 1e-6 {
            impacts += 1;
            let momentum = |row: usize| w1[row] + 2.0 * w2[row];
            assert_close(momentum(row + 1), momentum(row), 1e-13);
            assert_close(w1[row + 1], w2[row + 1], 1e-13);
        }
    }
    assert_eq!(impacts, 2);
}

#[test]
fn an_impact_with_a_law_between_velocities() {
    let run = run("impact.mo", None);
    let first = (2.0f64 / 9.81).sqrt();
    assert_close(run.right("v", first), 0.5 * 9.81 * first, 1e-6);
    assert_close(run.right("impulse(f)", first), 1.5 * 9.81 * first, 1e-6);
    assert_close(run.right("v", 2.0 * first), 0.25 * 9.81 * first, 1e-6);
}

#[test]
fn redundant_switches_share_evenly() {
    let closed = run("parallel_switches.mo", Some("ParallelSwitches.Closed"));
    assert_close(closed.right("i1", 1.0), 1.0, 1e-12);
    assert_close(closed.right("i2", 1.0), 1.0, 1e-12);
    let open = run("parallel_switches.mo", Some("ParallelSwitches.Open"));
    assert_close(open.right("u", 1.0), 5.0, 1e-12);
    let voltages = (open.right("v1", 1.0), open.right("v2", 1.0));
    assert_close(voltages.0, 5.0, 1e-12);
    assert_close(voltages.1, 5.0, 1e-12);
    expect![[r#"
        [
            "ideal elements say the same thing twice; v1, v2 are shared evenly (solution of least norm)",
        ]
    "#]]
    .assert_debug_eq(&open.warnings);
    expect![[r#"
        [
            "ideal elements say the same thing twice; i1, i2 are shared evenly (solution of least norm)",
        ]
    "#]]
    .assert_debug_eq(&closed.warnings);
}

#[test]
fn strict_refuses_redundant_switches() {
    for (model, named) in [("ParallelSwitches.Closed", "i1, i2 are"), ("ParallelSwitches.Open", "v1, v2 are")] {
        refuses_strictly(model, named);
    }
}

fn refuses_strictly(model: &str, named: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/parallel_switches.mo");
    let mut request = Request { target: path.display().to_string(), ..Request::default() };
    request.model = Some(model.into());
    request.transform.strict = true;
    let mut session = Session::new(Box::new(Disk));
    let model = session.flatten(&request).unwrap();
    let options = Settings::default().resolve(&model.experiment).unwrap();
    let schedule = session.structure(model).unwrap();
    let program = session.compile(schedule).unwrap();
    let (mut sink, mut log) = (MemorySink::default(), EventLog::none());
    let outcome = session.simulate(&program, &options, &|_| true, &mut sink, &mut log, &mut |_| true).unwrap();
    let Ending::Failed { time, diagnostic } = outcome.ending else { panic!("{:?}", outcome.ending) };
    assert_close(time, 0.5, 1e-9);
    assert!(diagnostic.notes.iter().any(|note| note.contains(&format!("{named} shared evenly"))), "{diagnostic:#?}");
}

#[test]
fn difference_formulas_serve_all_modes() {
    let settings = Settings { solver: Some("implicit-euler".into()), intervals: Some(5000), ..Settings::default() };
    let difference =
        |example: &str, model: Option<&str>| run_with(example, model, transform::Switching::Difference, &settings, &[]);
    let clutch = difference("clutch.mo", None);
    assert_close(clutch.right("w1", 5.01), 1.286310, 2e-4);
    assert_close(clutch.right("w2", 10.0), 1.243621, 1e-4);
    let diode = difference("freewheeling.mo", None);
    assert_eq!((diode.right("diode.off", 0.02), diode.right("diode.off", 0.04)), (1.0, 0.0));
    assert_close(diode.right("inductor.i", 0.04), 3.0 * (-2.0f64).exp(), 1e-2);
    // Half the step, half the error; with short steps terms of very different sizes meet where the rope becomes taut.
    let short = Settings { stop_time: Some(0.41), intervals: Some(4100), ..settings.clone() };
    run_with("rope.mo", None, transform::Switching::Difference, &short, &[]);
    let exact = run("rope.mo", None).right("x", 1.0);
    let error = |intervals: usize| {
        let settings = Settings { intervals: Some(intervals), ..settings.clone() };
        let rope = run_with("rope.mo", None, transform::Switching::Difference, &settings, &[]);
        (rope.right("x", 1.0) - exact).abs()
    };
    assert_close(error(1000) / error(2000), 2.0, 0.05);
    // The impulse is spread over a step.
    let interrupted = difference("freewheeling.mo", Some("Freewheeling.Interrupted"));
    assert!(interrupted.right("switch.v", 0.03) > 1000.0);
    assert_close(interrupted.right("inductor.i", 0.06), 0.0, 1e-12);
}

#[test]
fn a_thyristor_bridge_with_its_commutations() {
    let ideal = run("thyristor_bridge.mo", None);
    // With resistance and conductance ε the speed is 41.2723 for ε = 10⁻³ and 41.3728 for 10⁻⁴: 41.3840 for none.
    assert_close(ideal.right("motor.w", 0.2), 41.3840, 2e-3);
    assert!(ideal.statistics.state_events > 100 && ideal.statistics.modes < 20, "{:?}", ideal.statistics);
    let short = Settings { stop_time: Some(0.05), ..Settings::default() };
    let with = |epsilon: &str| {
        run_with("thyristor_bridge.mo", None, transform::Switching::Modes, &short, &[("epsilon", epsilon)])
    };
    let (ideal, near) = (with("0"), with("1e-4"));
    assert_close(ideal.right("choke.i", 0.05), near.right("choke.i", 0.05), 0.2);
    // Ideal elements are not stiff; near-ideal ones are, even for the method that suits them best.
    assert!(near.statistics.rhs > 4 * ideal.statistics.rhs, "{} {}", near.statistics.rhs, ideal.statistics.rhs);
}

/// The relations of nearly ideal elements have rounding errors that are far larger than those of the unknowns.
#[test]
fn nearly_ideal_thyristors_run() {
    let settings = Settings { stop_time: Some(0.4), ..Settings::default() };
    let near = run_with("thyristor_bridge.mo", None, transform::Switching::Modes, &settings, &[("epsilon", "1e-5")]);
    let ideal = run_with("thyristor_bridge.mo", None, transform::Switching::Modes, &settings, &[]);
    assert_close(near.right("motor.w", 0.4), ideal.right("motor.w", 0.4), 0.2);
    assert_eq!((near.statistics.modes, ideal.statistics.modes), (1, 12));
}

#[test]
fn a_chopper_turns_its_thyristor_off_by_a_capacitor() {
    let run = run("train_chopper.mo", None);
    // The load current reverses the capacitor, and the inductor turns it back without loss.
    assert_close(run.right("commutation.v", 0.0024), -600.0, 1e-4);
    assert_close(run.right("commutation.v", 0.003), 600.0, 1e-4);
    let reversed = 0.0025 + std::f64::consts::PI * 1e-4;
    assert_eq!((run.left("reversing.off", reversed), run.right("reversing.off", reversed)), (0.0, 1.0));
    let main = run.result.get("main.off").unwrap();
    let fired = main.values.windows(2).filter(|pair| pair[0] == 1.0 && pair[1] == 0.0).count();
    assert_eq!(fired, 20);
    assert!(run.right("motor.w", 0.05) > 19.0);
}

/// How often main thyristor, auxiliary thyristor, reversing diode and freewheeling diode of the chopper begin to conduct after
/// the start, and the speed at the end: small steps with the conditions written out by hand, as the circuit goes through them.
fn chopper_by_hand(inertia: f64, stop: f64) -> ([usize; 4], f64) {
    const STEP: f64 = 5e-7;
    let (period, pulse, delay) = (5000, 400, 2000);
    let (supply, c, l) = (600.0, 1e-4, 1e-4);
    // Voltage of the capacitor, currents of the reversing path and of the motor, speed.
    let mut x = [600.0, 0.0, 0.0, 0.0];
    let (mut main, mut auxiliary, mut reversing) = (false, false, false);
    let mut counts = [0; 4];
    for step in 0..(stop / STEP).round() as usize {
        if step % period < pulse && !main && (!auxiliary || x[0] < 0.0) {
            (main, auxiliary) = (true, false);
            counts[0] += usize::from(step > 0);
        }
        if step >= delay && (step - delay) % period < pulse && !auxiliary && (!main || x[0] > 0.0) && x[0] > -supply {
            (main, auxiliary) = (false, true);
            counts[1] += 1;
        }
        if auxiliary && x[0] <= -supply {
            (auxiliary, x[0]) = (false, -supply);
            counts[3] += 1;
        }
        if main && !reversing && x[0] < -1e-6 {
            reversing = true;
            counts[2] += 1;
        }
        let slope = |[v, reversal, i, w]: [f64; 4]| {
            let motor = if main {
                supply
            } else if auxiliary {
                supply + v
            } else {
                0.0
            };
            let capacitor = if auxiliary { -i } else { 0.0 } + if reversing { reversal } else { 0.0 };
            let reversal = if reversing { (motor - supply - v) / l } else { 0.0 };
            [capacitor / c, reversal, (motor - 0.2 * i - 0.05 * i * w) / 0.01, (0.05 * i * i - 0.5 * w) / inertia]
        };
        let first = slope(x);
        let middle = slope(std::array::from_fn(|k| x[k] + STEP / 2.0 * first[k]));
        x = std::array::from_fn(|k| x[k] + STEP * middle[k]);
        if reversing && x[1] < 0.0 {
            (reversing, x[1]) = (false, 0.0);
        }
    }
    (counts, x[3])
}

/// A light motor soon draws so little current that the capacitor is not reversed within a period, and the freewheeling diode
/// is not needed any more: every commutation is found, and none is found that is not there.
#[test]
fn b19_every_commutation_of_the_chopper_is_found() {
    let settings = Settings { stop_time: Some(0.999), tolerance: Some(1e-8), ..Settings::default() };
    let run = run_with("train_chopper.mo", None, transform::Switching::Modes, &settings, &[("motor.J", "2")]);
    // The reversing diode has neither voltage nor current while the auxiliary thyristor conducts, and so no state worth
    // counting: its current tells.
    let begins = |name: &str, level: f64, sign: f64| {
        let values = &run.result.get(name).unwrap().values;
        let pairs = run.result.time.iter().zip(values.windows(2));
        let rises = |pair: &[f64]| sign * pair[0] <= sign * level && sign * pair[1] > sign * level;
        pairs.filter(|(time, pair)| **time > 1e-9 && rises(pair)).count()
    };
    let found = [
        begins("main.off", 0.5, -1.0),
        begins("auxiliary.off", 0.5, -1.0),
        begins("reversal.i", 1.0, 1.0),
        begins("freewheeling.off", 0.5, -1.0),
    ];
    let (expected, speed) = chopper_by_hand(2.0, 0.999);
    assert_eq!(found, expected);
    assert_eq!(expected, [399, 400, 399, 229]);
    assert_close(run.right("motor.w", 0.999), speed, 1e-3);
}
