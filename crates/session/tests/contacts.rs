//! Rigid stops, ropes and clamps in modes: positions never jump to another stop, ever smaller impacts come to rest, and the size of
//! currents does not decide whether a diode opens.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, complete, run_with};
use session::{Ending, Settings};

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
    for tolerance in [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9] {
        let run = complete(text, 4.0, tolerance);
        for (position, expected) in [("x0", 2.6), ("x1", 3.9), ("x2", 4.5)] {
            assert_near(run.end(position), expected, 1e-4);
        }
        for force in ["f1", "f2"] {
            assert_near(run.end(force), 1.0 / 3.0, 1e-6);
        }
    }
}

/// A mass that swings between two ropes loses speed with every impact and comes to rest between them.
#[test]
fn a_mass_on_two_ropes_comes_to_rest() {
    let text = "model M
  Real x(start = 0.1, fixed = true), y(start = 0, fixed = true), vx(start = 1, fixed = true), vy(start = 0, fixed = true);
  Real s0, F0, s1, F1;
  Boolean c0 = s0 > 0, c1 = s1 > 0;
equation
  der(x) = vx; der(y) = vy;
  der(vx) = -F0*(x + 1) - F1*(x - 1);
  der(vy) = -F0*y - F1*y - 9.81;
  F0 = if c0 then s0 else 0; 1.5 - sqrt((x + 1)^2 + y^2) = if c0 then 0 else -s0;
  F1 = if c1 then s1 else 0; 1.5 - sqrt((x - 1)^2 + y^2) = if c1 then 0 else -s1;
end M;";
    for tolerance in [1e-5, 1e-6, 1e-7] {
        let run = complete(text, 4.0, tolerance);
        assert_near(run.end("x"), 0.0, 1e-4);
        assert_near(run.end("y"), -1.25f64.sqrt(), 1e-4);
        assert_near(run.end("F0"), 9.81 / (2.0 * 1.25f64.sqrt()), 1e-3);
    }
}

/// An ideal diode that reads its own past conducts forwards only, beside any resistance.
#[test]
fn a_diode_with_memory_never_conducts_backwards() {
    for (voltage, resistance) in [(1e3, 1.0), (1e3, 1e8), (1e3, 1e12), (1e-6, 1e3), (1e-9, 1e-3)] {
        let text = format!(
            "model M
  Real u = {voltage}*sin(6.283185307179586*time), v, i, q(start = 0, fixed = true);
  Boolean off(start = true, fixed = true);
equation
  u = {resistance}*i + v;
  off = if pre(off) then not v > 0 else i < 0;
  0 = if off then i else v;
  der(q) = {resistance}/{voltage}*i;
end M;"
        );
        // Each half wave adds 1/π.
        assert_near(complete(&text, 3.0, 1e-6).end("q"), 3.0 / std::f64::consts::PI, 1e-5);
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

/// A bridge of four ideal diodes: the current through the load is that of the source, rectified, whatever its size.
#[test]
fn a_bridge_rectifies_whatever_the_size_of_its_voltage() {
    for amplitude in [1.0, 1e-9, 1e-12] {
        let text = format!(
            "model M
  Real u[4], i[4], s[4], a, b, vl, is;
  Boolean off[4];
equation
  for k in 1:4 loop
    off[k] = s[k] < 0;
    u[k] = if off[k] then s[k] else 0;
    i[k] = if off[k] then 0 else s[k];
  end for;
  a = 1000*is + {amplitude}*sin(3*time);
  vl = 50*(i[1] + i[2]);
  u[1] = a + b - vl; u[2] = b - vl; u[3] = -b - a; u[4] = -b;
  i[1] + i[2] = i[3] + i[4];
  -is = i[1] - i[3];
end M;"
        );
        let run = complete(&text, 2.0, 1e-6);
        assert_near(run.end("vl") / amplitude, 50.0 / 1050.0 * 6f64.sin().abs(), 1e-9);
    }
}

/// A mass under a force and dry friction: it breaks loose where 3 sin 2t = 1.
#[test]
fn friction_breaks_loose_whatever_the_size_of_its_force() {
    for size in [1.0, 1e-6, 1e-12] {
        let text = format!(
            "model M
  Real v(start = 0, fixed = true, nominal = {size}), f, s;
  Boolean fw = s > {size}, bw = s < -{size};
equation
  der(v) = {size}*3*sin(2*time) - f;
  v = if fw then s - {size} elseif bw then s + {size} else 0;
  f = if fw then {size} elseif bw then -{size} else s;
end M;"
        );
        let loose = (1f64 / 3.0).asin() / 2.0;
        let expected = 1.5 * ((2.0 * loose).cos() - 4f64.cos()) - (2.0 - loose);
        assert_near(complete(&text, 2.0, 1e-6).end("v") / size, expected, 1e-4);
    }
}

/// Two capacitors of 1 F share a charge of 0.05 C, and a large value that follows from one of them does not hide that.
#[test]
fn a_large_value_beside_it_hides_no_jump() {
    for large in [1.0, 1e6, 1e12, 1e15] {
        let text = format!(
            "model M
  Real v1(start = 0.05, fixed = true), v2(start = 0, fixed = true), v3(start = 0, fixed = true), i1, i2, i3;
  Boolean right = time > 0.5;
  Real z = {large}*(1 + v1);
equation
  der(v1) = i1; 2*der(v2) = i2; der(v3) = i3;
  i1 + i2 + i3 = 0;
  if right then v1 = v3; i2 = 0; else i1 = 0; v2 = v3; end if;
end M;"
        );
        assert_near(complete(&text, 1.0, 1e-6).end("v1"), 0.025, 1e-9);
    }
}

/// A clutch locks where the speeds meet, whatever method finds the instant: 0.01·100 = (0.01 + 10)·w.
#[test]
fn a_clutch_locks_within_rounding() {
    let text = "model M
  Real w1(start = 100, fixed = true), w2(start = 0, fixed = true), wr, t;
  Boolean locked(start = false, fixed = true);
equation
  0.01*der(w1) = -t;
  10*der(w2) = t;
  wr = w1 - w2;
  locked = if pre(locked) then abs(t) <= 1e-3 else wr <= 0;
  0 = if locked then wr else t - 1e-3;
end M;";
    for intervals in [50, 100, 333, 500, 1777] {
        let settings = Settings { stop_time: Some(2000.0), intervals: Some(intervals), ..Settings::default() };
        let run = run_with(text, settings);
        assert_eq!(run.ending, Ending::Complete, "{}", run.said);
        assert_near(run.end("w2"), 1.0 / 10.01, 1e-9);
    }
}

/// Two equal capacitors share a charge: half of it passes in an instant, however small they are.
#[test]
fn impulses_have_their_size_in_any_unit() {
    for capacitance in [1.0, 1e-9, 1e-12, 1e-15] {
        let text = format!(
            "model M
  Real v1(start = 1, fixed = true), v2(start = 0, fixed = true), i;
  Boolean closed = time >= 0.5;
equation
  {capacitance}*der(v1) = -i; {capacitance}*der(v2) = i;
  if closed then v1 = v2; else i = 0; end if;
end M;"
        );
        let run = complete(&text, 1.0, 1e-6);
        let passed: f64 = run.column("impulse(i)").iter().sum();
        assert_near(passed / capacitance, 0.5, 1e-9);
    }
}
