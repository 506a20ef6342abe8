//! Everything that is differentiated is integrated and moved back to the constraints, against the choice of states.

mod common;

use common::{assert_close, run, run_with};
use simulate::{Ending, Options};

fn projection() -> transform::Options {
    transform::Options { index_reduction: transform::IndexReduction::Projection, ..transform::Options::default() }
}

const PENDULUM: &str = "Real x(start = 1)
    Real y(start = 0, fixed = true)
    der(x) = vx
    der(y) = vy
    der(vx) = -f*x
    der(vy) = -f*y - 9.81
    x^2 + y^2 = 1
    e = (vx^2 + vy^2)/2 + 9.81*y";

#[test]
fn a20_pendulum_stays_on_its_circle() {
    let period = 4.0 * 1.8540746773013719 / 9.81f64.sqrt();
    for solver in ["auto", "tsit5", "bdf"] {
        let options = Options {
            stop_time: 5.0 * period,
            interval: period / 4.0,
            tolerance: 1e-8,
            solver: solver.parse().unwrap(),
            ..Options::default()
        };
        let projected = run_with(PENDULUM, &projection(), &options);
        assert_eq!(projected.outcome.ending, Ending::Complete, "{solver}");
        let (x, y, vx, vy) =
            (projected.column("x"), projected.column("y"), projected.column("vx"), projected.column("vy"));
        for k in 0..x.len() {
            assert!((x[k] * x[k] + y[k] * y[k] - 1.0).abs() < 1e-11, "{solver} off the circle at {k}");
            assert!((x[k] * vx[k] + y[k] * vy[k]).abs() < 1e-9, "{solver} off the tangent at {k}");
        }
        for e in projected.column("e") {
            assert!(e.abs() < 2e-5 * 9.81, "{solver} energy {e}");
        }
        let chosen = run(PENDULUM, &options);
        assert!(projected.outcome.statistics.steps < 2 * chosen.outcome.statistics.steps, "{solver} takes short steps");
        for (name, tolerance) in [("x", 1e-4), ("y", 1e-4), ("f", 1e-3)] {
            for (a, b) in projected.column(name).iter().zip(chosen.column(name)) {
                assert_close(*a, b, tolerance);
            }
        }
    }
}

#[test]
fn a20_drive_train_with_gear() {
    let text = "Real w1(start = 2, fixed = true)
        der(phi1) = w1
        1*der(w1) = sin(3*time) - tau1
        phi1 = 4*phi2
        tau2 = 4*tau1
        der(phi2) = w2
        2*der(w2) = tau2 - tau3
        tau3 = 100*(phi2 - phi3)
        der(phi3) = w3
        3*der(w3) = tau3";
    let options = Options { stop_time: 10.0, interval: 0.1, tolerance: 1e-8, ..Options::default() };
    let (projected, chosen) = (run_with(text, &projection(), &options), run(text, &options));
    assert_eq!(projected.outcome.ending, Ending::Complete);
    for name in ["phi1", "phi2", "phi3", "w1", "w2", "w3", "tau1"] {
        for (a, b) in projected.column(name).iter().zip(chosen.column(name)) {
            assert_close(*a, b, 2e-6);
        }
    }
    for (phi1, phi2) in projected.column("phi1").iter().zip(projected.column("phi2")) {
        assert_close(*phi1, 4.0 * phi2, 1e-13);
    }
}

#[test]
fn a_state_that_is_set_anew_takes_the_others_with_it() {
    let text = "Real a(start = 1, fixed = true)
        der(a) = f
        der(b) = -f - a
        a = 2*b
        Boolean late
        late = time > 1
        when late then reinit(a, 4)";
    let run = run_with(text, &projection(), &Options { stop_time: 2.0, ..Options::default() });
    assert_eq!(run.outcome.ending, Ending::Complete);
    for (a, b) in run.column("a").iter().zip(run.column("b")) {
        assert_close(*a, 2.0 * b, 1e-12);
    }
    let after = run.column("a").into_iter().zip(run.time()).filter(|(_, t)| **t >= 1.0).map(|(a, _)| a);
    assert_close(after.fold(0.0, f64::max), 4.0, 1e-12);
}

/// A velocity that is set moves the other velocity, and no position.
#[test]
fn a_velocity_that_is_set_leaves_positions_where_they_are() {
    let laws = [("s1 + s1^3", "1 + 3*s1^2"), ("2*s1", "2"), ("sin(s1)", "cos(s1)")];
    for (law, slope) in laws {
        let text = format!(
            "Real s1(start = 0, fixed = true)
            Real v1(start = 1, fixed = true)
            s2 = {law}
            der(s1) = v1
            der(s2) = v2
            der(v1) = -({slope})*f
            3*der(v2) = f
            k = {slope}
            Boolean far
            far = s1 >= 0.3
            when far then reinit(v1, -1)"
        );
        for solver in ["auto", "tsit5", "bdf"] {
            let options = Options { stop_time: 0.6, solver: solver.parse().unwrap(), ..Options::default() };
            let run = run_with(&text, &projection(), &options);
            assert_eq!(run.outcome.ending, Ending::Complete);
            let event = run.column("v1").iter().position(|v| *v < 0.0).unwrap_or_default();
            for name in ["s1", "s2"] {
                let column = run.column(name);
                assert_close(column[event], column[event - 1], 1e-9);
            }
            assert_close(run.column("v1")[event], -1.0, 1e-12);
            assert_close(run.column("v2")[event], -run.column("k")[event], 1e-9);
        }
    }
}

#[test]
fn values_that_contradict_a_constraint_cannot_be_set() {
    let text = "Real a(start = 1, fixed = true)
        der(a) = f
        der(b) = -f - a
        a = 2*b
        Boolean late
        late = time > 1
        when late then reinit(a, 4)
        when late then reinit(b, 3)";
    let run = run_with(text, &projection(), &Options { stop_time: 2.0, ..Options::default() });
    let Ending::Failed { diagnostic, .. } = &run.outcome.ending else { panic!("{:?}", run.outcome.ending) };
    assert_eq!(diagnostic.code, "contradicting-reinit");
    assert!(diagnostic.message.contains("`a`, `b`"), "{}", diagnostic.message);
}
