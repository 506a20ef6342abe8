//! Difference formulas in place of derivatives: the start is that of every other run, jumps conserve, and what the formulas
//! cannot express is refused.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, messages_in_differences, run_in_differences};
use session::Ending;

#[track_caller]
fn complete(text: &str) -> common::Run {
    let run = run_in_differences(text, 1.0, 1e-3);
    assert_eq!(run.ending, Ending::Complete, "{}", run.said);
    run
}

#[test]
fn dependent_start_values_follow_from_the_fixed_ones() {
    let run = complete(
        "model Gear
          Real w1(start = 10, fixed = true), w2, t1, t2;
          Real r = if time < 0.3 then 1 elseif time < 0.6 then 2 else 0.5;
        equation
          2*der(w1) = -t1;
          3*der(w2) = t2;
          t1 = r*t2;
          w2 = r*w1;
        end Gear;",
    );
    assert_eq!((run.at("w1", 0.0), run.at("w2", 0.0)), (10.0, 10.0));
    // 2*w1 + 3*r*w2 is conserved by each shift: 50 = 14*w1, then 2*w1 + 1.5*w2 with the new ratio.
    let second = 2.0 * 10.0 + 3.0 * 2.0 * 10.0;
    let w1 = second / 14.0;
    let third = (2.0 * w1 + 0.5 * 3.0 * 2.0 * w1) / 2.75;
    assert_near(run.at("w1", 0.5), w1, 1e-9);
    assert_near(run.end("w1"), third, 1e-9);
}

#[test]
fn initial_equations_determine_states_and_parameters() {
    let product = complete(
        "model Product
          Real J = if time < 0.5 then 1 else 4;
          Real w, L;
        initial equation
          w = 8;
        equation
          L = J*w;
          der(L) = 0;
        end Product;",
    );
    assert_eq!((product.at("w", 0.0), product.end("w")), (8.0, 2.0));
    let rest = complete(
        "model Rest
          Real x, y;
        initial equation
          der(x) = 0;
        equation
          der(x) = -x + y;
          y = 2;
        end Rest;",
    );
    assert_near(rest.end("x"), 2.0, 1e-12);
    let parameter = complete(
        "model Parameter
          parameter Real k(fixed = false, start = 1);
          parameter Real twice = 2*k;
          Real x(start = 3, fixed = true), y = twice*x;
        initial equation
          der(x) = -6;
        equation
          der(x) = -k*x;
        end Parameter;",
    );
    assert_eq!(parameter.end("k"), 2.0);
    assert_near(parameter.end("x"), 3.0 * (-2.0f64).exp(), 2e-3);
    assert_near(parameter.end("y"), 4.0 * parameter.end("x"), 1e-12);
}

#[test]
fn discrete_variables_begin_as_initial_equations_say() {
    let run = complete(
        "model Counts
          Integer n;
          Integer m(start = 0, fixed = true);
          Real x(start = 0, fixed = true);
        initial equation
          pre(n) = 5;
        equation
          der(x) = 1;
          when x > 0.4505 then
            n = pre(n) + 1;
          end when;
          when sample(0, 0.1) then
            m = pre(m) + 1;
          end when;
        end Counts;",
    );
    assert_eq!((run.at("n", 0.0), run.end("n")), (5.0, 6.0));
    assert_eq!((run.at("m", 0.0), run.end("m")), (1.0, 11.0));
}

#[test]
fn reinit_is_a_jump_at_the_beginning_of_a_step() {
    let run = complete(
        "model Ball
          Real h(start = 1, fixed = true), v(start = 0, fixed = true);
          Integer n(start = 0, fixed = true);
        equation
          der(h) = v;
          der(v) = -9.81;
          when h < 0 then
            reinit(v, -0.8*pre(v));
            n = pre(n) + 1;
          end when;
        end Ball;",
    );
    let fall = (2.0f64 / 9.81).sqrt();
    let after = 1.0 - fall;
    let bounce = 0.8 * 9.81 * fall;
    assert_eq!(run.end("n"), 1.0);
    assert_near(run.end("v"), bounce - 9.81 * after, 2e-2);
    assert_near(run.end("h"), bounce * after - 4.905 * after * after, 2e-2);
    assert!(run.log.contains("v set from -4.42"), "{}", run.log);
}

#[test]
fn a_constraint_between_positions_holds() {
    let run = complete(
        "model Pendulum
          Real x(start = 0.6, fixed = true), y(start = -0.8), vx(start = 0, fixed = true), vy, F;
        equation
          der(x) = vx;
          der(y) = vy;
          der(vx) = -F*x;
          der(vy) = -F*y - 9.81;
          x^2 + y^2 = 1;
        end Pendulum;",
    );
    assert_near(run.at("F", 0.0), 7.848, 1e-9);
    // By a method of high order.
    assert_near(run.end("x"), -0.597_933, 5e-3);
    assert_near(run.end("x").hypot(run.end("y")), 1.0, 1e-9);
}

#[test]
fn what_needs_more_of_the_past_is_refused() {
    let delayed = "model Delayed
          Real x = delay(sin(5*time), 0.3), y(start = 0, fixed = true);
        equation
          der(y) = x;
        end Delayed;";
    let said = messages_in_differences(delayed);
    assert!(said.contains("`delay` needs the past of its argument"), "{said}");
    assert!(said.contains("case.mo:2:20"), "{said}");
    let often = "model Often
          Integer n(start = 0, fixed = true);
        equation
          when sample(0, 0.0003) then
            n = pre(n) + 1;
          end when;
        end Often;";
    let run = run_in_differences(often, 1.0, 1e-3);
    assert!(run.failure().contains("`sample(0, 0.0003)` ticks every 0.0003, within steps of 0.001"), "{}", run.said);
}

/// The formula is that of what was written, so that sums of charges stay: with v after the switch, `2·(v + v³)` is 10.625,
/// and with a saturating inductor and a linear one `atan(i) + 2·i` is atan(2) + 1.
#[test]
fn nonlinear_charge_and_flux_are_conserved() {
    for step in [1e-2, 1e-3] {
        let text = "model Charge
          Real v1(start = 2, fixed = true), v2(start = 0.5, fixed = true), i1, i2;
        equation
          der(v1 + v1^3) = i1;
          der(v2 + v2^3) = i2;
          i1 + i2 = 0;
          if time >= 0.5 then v1 = v2; else i1 = 0; end if;
        end Charge;";
        let run = run_in_differences(text, 1.0, step);
        assert_eq!(run.ending, Ending::Complete, "{}", run.said);
        let v = run.end("v1");
        assert_near(2.0 * (v + v.powi(3)), 10.625, 1e-6);
        assert_near(run.end("v2"), v, 1e-9);
        let text = "model Flux
          Real a(start = 2, fixed = true), b(start = 0.5, fixed = true), u;
        equation
          der(atan(a)) = u;
          der(2*b) = -u;
          if time >= 0.5 then a = b; else u = 0; end if;
        end Flux;";
        let run = run_in_differences(text, 1.0, step);
        assert_eq!(run.ending, Ending::Complete, "{}", run.said);
        let i = run.end("a");
        assert_near(i.atan() + 2.0 * i, 2f64.atan() + 1.0, 1e-6);
    }
}
