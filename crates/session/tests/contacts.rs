//! Rigid stops, ropes and clamps in modes: positions never jump to another stop, ever smaller impacts come to rest, and the size of
//! currents does not decide whether a diode opens.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, complete};

/// A mass that rests at one stop and is pushed away leaves it, although its curve parameter says “left” for an instant.
#[test]
fn a_mass_between_two_stops_leaves_the_one_it_rests_at() {
    let text = "model M
  Real x(start = 0, fixed = true), v(start = 0, fixed = true), f, s;
  Boolean right = s > 0.3, left = s < -0.3;
equation
  der(x) = v;
  der(v) = (if time < 2 then 1 else -3) - f;
  x = if right then 0.3 else if left then -0.3 else s;
  f = if right then s - 0.3 else if left then s + 0.3 else 0;
end M;";
    for tolerance in [1e-4, 1e-6, 1e-9] {
        let run = complete(text, 2.5, tolerance);
        assert_near(run.end("x"), 0.3 - 1.5 * 0.25, 1e-4);
        assert_near(run.end("v"), -1.5, 1e-4);
    }
}

/// A mass is pulled by a rope and pushes another: the impacts halve their distances and end at 3 s, after which all move together.
#[test]
fn ever_smaller_impacts_come_to_rest() {
    let text = "model M
  Real x0(start = 0, fixed = true), v0(start = 0, fixed = true), x1(start = 1, fixed = true), v1(start = 0, fixed = true);
  Real x2(start = 2, fixed = true), v2(start = 0, fixed = true), s0, f0, s1, f1, s2, f2;
  Boolean stop = s0 > 0, rope = s1 > 0, contact = s2 > 0;
equation
  der(x0) = v0; der(x1) = v1; der(x2) = v2;
  f0 = if stop then s0 else 0; x1 - x0 - 0.4 = if stop then 0 else -s0;
  f1 = if rope then s1 else 0; 1.3 - (x1 - x0) = if rope then 0 else -s1;
  f2 = if contact then s2 else 0; x2 - x1 - 0.6 = if contact then 0 else -s2;
  der(v0) = f1 - f0;
  der(v1) = 1 + f0 - f1 - f2;
  der(v2) = f2;
end M;";
    let run = complete(text, 4.0, 1e-6);
    for (position, expected) in [("x0", 2.6), ("x1", 3.9), ("x2", 4.5)] {
        assert_near(run.end(position), expected, 1e-4);
    }
    for force in ["f1", "f2"] {
        assert_near(run.end(force), 1.0 / 3.0, 1e-6);
    }
}

/// A clamp over a capacitor: 0.96 u' = 10 sin 7t - u with u ≥ 0, for currents from amperes to picoamperes.
#[test]
fn a_diode_opens_whatever_the_size_of_its_current() {
    for resistance in [8.0, 8e3, 8e6, 8e9, 8e11] {
        let capacitance = 0.96 / resistance;
        let text = format!(
            "model M
  Real u(start = 0, fixed = true), i, i1, id, s;
  Boolean off = s < 0;
equation
  10*sin(7*time) = {resistance:e}*i + u;
  i = i1 + id;
  {capacitance:e}*der(u) = i1;
  -u = if off then s else 0;
  -id = if off then 0 else s;
end M;"
        );
        let run = complete(&text, 2.0, 1e-8);
        assert_near(run.end("u"), 1.19170, 1e-4);
    }
}
