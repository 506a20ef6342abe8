//! Jumps of nonlinear storage: what is stored is conserved, however its balance is written; power adds up along the way of
//! the values; and what equations leave open is refused.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, run};
use session::Ending;

#[track_caller]
fn assert_close(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-8 * (1.0 + expected.abs()), "{value} is not {expected}");
}

/// Two stores that a lock joins at 0.5, and more declarations and equations.
fn joined(balance: &str, more: &str, equations: &str) -> String {
    format!(
        "model Joined
          {more}
          Real v1(start = 2, fixed = true), v2(start = 0, fixed = true), i;
        equation
          {balance}
          2*der(v2) = i;
          if time > 0.5 then v1 = v2; else i = 0; end if;
          {equations}
        end Joined;"
    )
}

/// `v + v^3 + 2*v = 10`.
const SHARED: f64 = 1.698_885_489_846_33;

#[test]
fn charge_is_conserved_however_it_is_written() {
    let function = "function q input Real v; output Real y; algorithm y := v + v^3;
        annotation(derivative = dq, Inline = false); end q;
        function dq input Real v; input Real dv; output Real y; algorithm y := (1 + 3*v^2)*dv; end dq;";
    let forms = [
        joined("der(v1 + v1^3) = -i;", "", ""),
        joined("(1 + 3*v1^2)*der(v1) = -i;", "", ""),
        joined("c*der(v1) = -i;", "Real c;", "c = 1 + 3*v1^2;"),
        joined("der(q1) = -i;", "Real q1;", "q1 = v1 + v1^3;"),
        joined("der(q(v1)) = -i;", function, ""),
    ];
    for text in forms {
        let run = run(&text, 1.0);
        assert_eq!(run.ending, Ending::Complete, "{text}");
        assert_close(run.end("v1"), SHARED);
        assert_close(run.end("v2"), SHARED);
    }
}

/// The capacity changes at an edge that the jump passes: 3*2 - 2 = v + 2*v.
#[test]
fn an_edge_on_the_way_is_seen() {
    let text = |edge: f64| format!("(if v1 > {edge} then 3 else 1)*der(v1) = -i;");
    let conserved = |edge: f64, v: f64| if v > edge { 3.0 * v - 2.0 * edge } else { v };
    for edge in [0.25, 1.5, 1.9] {
        let plain = run(&joined(&text(edge), "", ""), 1.0);
        let held = joined("(if above then 3 else 1)*der(v1) = -i;", &format!("Boolean above = v1 > {edge};"), "");
        let held = run(&held, 1.0);
        for run in [plain, held] {
            let v = run.end("v1");
            assert_close(conserved(edge, v) + 2.0 * v, conserved(edge, 2.0));
        }
    }
}

#[test]
fn momentum_near_the_speed_of_light() {
    let run = run(
        "model Bodies
          Real v1(start = 0.9, fixed = true), v2(start = 0, fixed = true), f;
          Real p = v1/sqrt(1 - v1^2) + v2/sqrt(1 - v2^2);
        equation
          der(v1/sqrt(1 - v1^2)) = -f;
          der(v2/sqrt(1 - v2^2)) = f;
          if time > 0.5 then v1 = v2; else f = 0; end if;
        end Bodies;",
        1.0,
    );
    let p = 0.9 / (1.0f64 - 0.81).sqrt();
    assert_close(run.end("p"), p);
    assert_close(run.end("v1"), 0.5 * p / (1.0 + 0.25 * p * p).sqrt());
}

/// At right limits of the coefficients there is no solution at all.
#[test]
fn a_coil_that_saturates() {
    let run = run(
        "model Coils
          Real i1(start = 2, fixed = true), i2(start = 0, fixed = true), v, flux = atan(i1) - i2;
        equation
          1/(1 + i1^2)*der(i1) = v;
          der(i2) = v;
          if time > 0.5 then i1 + i2 = 0; else v = 0; end if;
        end Coils;",
        1.0,
    );
    assert_close(run.end("flux"), 2.0f64.atan());
    assert_close(run.end("i1"), -run.end("i2"));
}

#[test]
fn a_source_that_steps_onto_nonlinear_capacitors() {
    let run = run(
        "model Series
          Real u = if time > 0.5 then 3 else 2;
          Real v1(start = 1, fixed = true), v2, i, q = v1 + v1^3 - v2;
        equation
          u = v1 + v2;
          (1 + 3*v1^2)*der(v1) = i;
          der(v2) = i;
        end Series;",
        1.0,
    );
    assert_close(run.end("q"), 1.0);
    assert_close(run.end("v1") + run.end("v2"), 3.0);
}

/// Momentum stays, whether the mass is a variable, an alternative or discrete.
#[test]
fn a_mass_that_steps() {
    let masses = [
        "Real m = if time > 0.5 then 3 else 1; equation der(m*v) = 0;",
        "Real m = if time > 0.5 then 4 else 2; equation der(m*v) = 0;",
        "equation der((if time > 0.5 then 3 else 1)*v) = 0;",
        "discrete Real m(start = 1, fixed = true); equation der(m*v) = 0; when time > 0.5 then m = 3; end when;",
        "Real m = if time > 0.5 then 3 else 1; Real p; equation p = m*v; der(p) = 0;",
    ];
    for (mass, expected) in masses.iter().zip([2.0, 3.0, 2.0, 2.0, 2.0]) {
        let run = run(&format!("model Mass Real v(start = 6, fixed = true); {mass} end Mass;"), 1.0);
        assert_eq!(run.ending, Ending::Complete, "{mass}");
        assert_close(run.end("v"), expected);
    }
}

/// A ratio that steps has its new value when the shafts are brought to it: 2*1 + 3*0.5*2 = (1 + 3*0.5^2)*w1.
#[test]
fn a_ratio_that_steps_is_no_storage() {
    let run = run(
        "model Gear
          Real w1(start = 1, fixed = true), w2, t, r = if time > 0.5 then 0.5 else 2, p = w1*w2;
        equation
          der(w1) = -r*t;
          3*der(w2) = t;
          w2 = r*w1;
        end Gear;",
        1.0,
    );
    assert_close(run.end("w1"), (1.0 + 3.0 * 0.5 * 2.0) / (1.0 + 3.0 * 0.25));
}

/// What a clutch loses, what a capacitor takes up.
#[test]
fn power_adds_up_along_the_way() {
    let meters = ["der(e) = i*(v1 - v2);", "der(e) = p; p = i*u; u = v1 - v2;"];
    for (meter, more) in meters.iter().zip(["", "Real p, u;"]) {
        let text = joined("der(v1) = -i;", &format!("Real e(start = 0, fixed = true); {more}"), meter);
        let run = run(&text, 1.0);
        assert_close(run.end("v1"), 2.0 / 3.0);
        assert_close(run.end("e"), 0.5 * 4.0 - 0.5 * 3.0 * 4.0 / 9.0);
    }
}

#[test]
fn heat_of_an_impulse_of_current_is_refused() {
    let text = joined("der(v1) = -i;", "Real e(start = 0, fixed = true);", "der(e) = i^2;");
    let Ending::Failed { diagnostic, .. } = run(&text, 1.0).ending else { panic!("it runs") };
    let said = diagnostic.notes.join("\n");
    assert!(said.contains("multiply something unbounded by i, which has no value in the instant"), "{said}");
    // What is only shown decides nothing.
    let shown = joined("der(v1) = -i;", "Real p;", "p = i^2;");
    assert_close(run(&shown, 1.0).end("v1"), 2.0 / 3.0);
}

#[test]
fn what_depends_on_the_order_of_jumps_is_refused() {
    let Ending::Failed { diagnostic, .. } = run(
        "model Order
          Real a = if time > 0.5 then 1 else 0, b = if time > 0.5 then 2 else 0, z(start = 0, fixed = true);
        equation
          der(z) = a*der(b) + der(a);
        end Order;",
        1.0,
    )
    .ending
    else {
        panic!("it runs")
    };
    let said = diagnostic.notes.join("\n");
    assert!(said.contains("where z jumps to depends on the order in which constraints come to hold"), "{said}");
}

/// What is differentiated goes on without a jump, so that what is in it jumps: from 1 to 3.
#[test]
fn an_expression_under_der_that_steps_at_a_state_event() {
    let text = "model Steps
          Real v(start = 0, fixed = true);
        equation
          der((if v > 1 then 1 else 3)*v) = 2;
        end Steps;";
    let run = run(text, 3.0);
    assert_eq!(run.ending, Ending::Complete, "{}", run.said);
    assert_close(run.end("v"), 6.0);
    assert_eq!(run.jumps("v").len(), 1);
}

/// The other way round both values contradict themselves.
#[test]
fn an_expression_under_der_that_has_no_value_behind_its_step() {
    let text = "model Steps
          Real v(start = 0, fixed = true);
        equation
          der((if v > 1 then 3 else 1)*v) = 2;
        end Steps;";
    run(text, 1.0).failure();
}

/// A variable that a when clause holds may stand alone on the left of a constraint.
#[test]
fn a_held_variable_in_a_constraint() {
    let when = ("u(start = 0, fixed = true)", "when sample(0.1, 0.1) then u = 1; end when;");
    let clocked = ("u", "u = hold(sample(if time > 0.05 then 1.0 else 0.0, Clock(0.1)));");
    for (declared, held) in [when, clocked] {
        let text = format!(
            "model Held
              Real {declared}, v1, v2(start = 0.25, fixed = true), i;
            equation
              {held}
              u = v1 + v2;
              der(v1) = i;
              3*der(v2) = i;
            end Held;"
        );
        let run = run(&text, 1.0);
        assert_eq!(run.ending, Ending::Complete, "{}", run.said);
        assert_close(run.result.get("v1").unwrap().values[0], -0.25);
        // v1 - 3*v2 = -1 is conserved.
        assert_close(run.end("v1"), 0.5);
        assert_close(run.end("v2"), 0.5);
    }
}

#[test]
fn a_charge_in_pieces_whose_corner_is_passed_in_the_jump() {
    // q(a) + b = −1 before and after; behind the corner q(a) = a.
    for law in [
        "der(if a > 0 then a + a^2 else a) = ia;",
        "(if a > 0 then 1 + 2*a else 1)*der(a) = ia;",
        "der(a) = ia/(if a > 0 then 1 + 2*a else 1);",
    ] {
        let text = format!(
            "model M
               Real a(start = 1, fixed = true), b(start = -3, fixed = true), ia, ib;
               Boolean closed = time >= 0.5;
             equation
               {law}
               der(b) = ib;
               ia + ib = 0;
               if closed then a = b; else ia = 0; end if;
             end M;"
        );
        assert_near(run(&text, 1.0).end("a"), -0.5, 1e-8);
    }
}
