//! Features of the Dymola language of 1993 in unusual places, each with an answer that is known without a simulation.
#![allow(clippy::unwrap_used)]

use std::f64::consts::FRAC_1_SQRT_2;

use results::MemorySink;
use session::{Disk, Ending, EventLog, Request, Session, Settings};

const ELEMENTS: &str = "model class TwoPort
  cut A (Va / i), B (Vb / -i)
  main path P < A - B >
  local u
  u = Va - Vb
end
model class (TwoPort) Resistor
  parameter R = 1
  R * i = u
end
model class (TwoPort) Capacitor
  parameter C = 1
  C * der(u) = i
end
model class (TwoPort) Battery
  parameter E = 1
  { raises the potential from A to B }
  Vb = Va + E
end
model Common
  main cut A (V / i)
  V = 0
end
";

/// Simulates the last model and compares the values at the end.
fn ends(text: &str, stop_time: f64, expected: &[(&str, f64)]) {
    let mut session = Session::new(Box::new(Disk));
    session.replace_text("model.dym", Some(format!("{ELEMENTS}{text}").into()));
    let request = Request { target: "model.dym".to_owned(), ..Request::default() };
    let settings = Settings { stop_time: Some(stop_time), tolerance: Some(1e-9), ..Settings::default() };
    let mut sink = MemorySink::default();
    let outcome = session.flatten(&request).and_then(|model| {
        let options = settings.resolve(&model.experiment).unwrap();
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut |_: f64| true)
    });
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    let outcome = outcome.unwrap_or_else(|failed| panic!("{failed:?}\n{said}"));
    assert_eq!(outcome.ending, Ending::Complete, "{said}");
    for &(name, expected) in expected {
        let value = sink.trajectories.last(name).unwrap_or_else(|| panic!("there is no {name}"));
        assert!((value - expected).abs() < 1e-6 * expected.abs().max(1.0), "{name} is {value} instead of {expected}");
    }
}

#[test]
fn cuts_of_cuts_and_nodes_of_their_form() {
    let text = "model class Load
  cut a (Va / ia), b (Vb / ib), c (Vc / ic)
  main cut P [a b c]
  parameter Ra = 1, Rb = 2, Rc = 4
  Va = Ra * ia
  Vb = Rb * ib
  Vc = Rc * ic
end
model class Mains
  cut x (Vx / ix), y (Vy / iy), z (Vz / iz)
  main cut P [x y z]
  Vx = 10
  Vy = 20
  Vz = 40
end
model Plant
  submodel (Load) one, two(Rc = 8)
  submodel (Mains) m
  node n
  connect one at n, two at n, m at n
end
";
    ends(
        text,
        1.0,
        &[("one.ia", 10.0), ("one.ib", 10.0), ("one.ic", 10.0), ("two.ic", 5.0), ("m.ix", -20.0), ("m.iz", -15.0)],
    );
}

#[test]
fn parallel_binds_more_tightly_than_series() {
    let text = "model M
  submodel (Resistor) a(R = 1), b(R = 2), c(R = 2), d(R = 3)
  submodel (Battery) s(E = 10)
  submodel Common
  connect Common - (s // (a - b // c - d))
end
";
    ends(text, 1.0, &[("a.i", -2.0), ("b.i", -1.0), ("d.i", -2.0), ("s.i", 2.0)]);
}

#[test]
fn loops() {
    let text = "model M
  submodel (Resistor) a(R = 1), b(R = 4)
  submodel (Battery) s(E = 10)
  submodel Common
  connect loop(s - a - b), Common at s.A
end
";
    ends(text, 1.0, &[("a.i", 2.0), ("b.u", 8.0), ("s.Vb", 10.0)]);
}

#[test]
fn paths_through_submodels_of_submodels() {
    let text = "model class Pair
  submodel (Resistor) x(R = 1), y(R = 2)
  cut A (Va / ia), B (Vb / -ib)
  main path P < A - B >
  connect A - x - y - B
end
model class Quad
  submodel (Pair) p, q
  cut C (Vc / ic), D (Vd / -id)
  main path W < C - D >
  connect C - (p // q) - D
end
model M
  submodel (Quad) k
  submodel (Battery) s(E = 3)
  submodel Common
  connect loop(s - k), Common at s.A
end
";
    ends(text, 1.0, &[("k.p.x.i", 1.0), ("k.q.y.i", 1.0), ("k.ic", 2.0), ("s.i", 2.0), ("k.p.ia", 1.0)]);
}

#[test]
fn counters_read_new_values_of_the_same_instant() {
    let text = "model M
  local n, next = 0.1, k = 10
  when Time >= next then
    new(next) = next + 0.1
    new(n) = n + 1
    new(k) = k - new(n)
  endwhen
end
";
    ends(text, 0.95, &[("n", 9.0), ("k", -35.0)]);
}

#[test]
fn new_values_come_from_values_before_the_event() {
    let text = "model M
  local a = 1, b = 2, next = 0.1
  when Time >= next then
    new(next) = next + 0.1
    new(a) = b
    new(b) = a + b
  endwhen
end
";
    ends(text, 0.55, &[("a", 13.0), ("b", 21.0)]);
}

#[test]
fn second_derivatives() {
    let text = "model M
  local x = 1, v
  x'' = -4 * x
  v = x'
end
";
    ends(text, 1.0, &[("x", 2.0_f64.cos()), ("v", -2.0 * 2.0_f64.sin())]);
}

#[test]
fn main_cuts_inside_of_a_series() {
    let text = "model class Mass
  main cut c (x / f)
  parameter m = 1
  local v
  v = der(x)
  m * der(v) = f
end
model class Spring
  cut a (xa / f), b (xb / -f)
  main path P < a - b >
  parameter k = 1
  f = k * (xa - xb)
end
model class Wall
  main cut c (x / f)
  x = 0
end
model M
  submodel (Mass) m(x = 1)
  submodel (Spring) s1(k = 2), s2(k = 7)
  submodel (Wall) w1, w2
  connect w1 - s1 - m - s2 - w2
end
";
    ends(text, 1.0, &[("m.x", 3.0_f64.cos())]);
}

#[test]
fn several_super_classes() {
    let text = "model class (Resistor) Hot
  parameter T = 20
  local loss
  loss = u * i
end
model class Meter
  local seen
  terminal what
  seen = 2 * what
end
model class (Hot, Meter) Instrument
  what = loss
end
model M
  submodel (Instrument) x(R = 2, T = 30)
  submodel (Battery) s(E = 6)
  submodel Common
  connect loop(s - x), Common at s.A
end
";
    ends(text, 1.0, &[("x.i", 3.0), ("x.loss", 18.0), ("x.seen", 36.0), ("x.T", 30.0)]);
}

#[test]
fn nodes_joined_with_nodes() {
    let text = "model M
  submodel (Resistor) a(R = 1), b(R = 1), c(R = 1)
  submodel (Battery) s(E = 6)
  submodel Common
  node p, q, r
  connect s from r to p, a from p to q, b from q to r, c from p to q
  connect p - q
  connect Common at r
end
";
    ends(text, 1.0, &[("a.i", 0.0), ("b.i", 6.0), ("s.i", 6.0)]);
}

#[test]
fn a_chain_from_one_node_to_another() {
    let text = "model M
  submodel (Resistor) a(R = 1), b(R = 2)
  submodel (Battery) s(E = 6)
  submodel Common
  node p, q
  connect a - b from p to q
  connect s from q to p
  connect Common at q
end
";
    ends(text, 1.0, &[("a.i", 2.0), ("b.u", 4.0)]);
}

#[test]
fn a_path_against_the_order_of_cuts() {
    let text = "model class Back
  cut A (Va / i), B (Vb / -i)
  main path P < B - A >
  parameter R = 1
  Va - Vb = R * i
end
model M
  submodel (Back) a(R = 3)
  submodel (Battery) s(E = 6)
  submodel Common
  connect loop(s - a), Common at s.A
end
";
    ends(text, 1.0, &[("a.i", -2.0)]);
}

#[test]
fn a_path_besides_the_main_one() {
    let text = "model class Four
  cut A (Va / ia), B (Vb / -ia), C (Vc / ic), D (Vd / -ic)
  main path P < A - B >
  path Q < C - D >
  parameter n = 2
  { an ideal transformer }
  Va - Vb = n * (Vc - Vd)
  ic = -n * ia
end
model M
  submodel (Four) t(n = 4)
  submodel (Battery) s(E = 8)
  submodel (Resistor) r(R = 2)
  submodel Common
  connect loop(s - t), loop(t.Q - r), Common at s.A, Common at r.B
end
";
    ends(text, 1.0, &[("r.u", -2.0), ("t.ia", 0.25), ("s.i", 0.25)]);
}

#[test]
fn choices_inside_of_sums() {
    let text = "model M
  local a, b, c, d, y, z
  a = Time > 0.5
  b = Time > 2
  c = not a and b or a
  d = a and not b or b and not a
  y = 2 * (if c then 3 else 4) + (if Time < 0.25 then 1 else if Time < 0.75 then 2 else 3)
  z = if d and y > 8 then -y else y
end
";
    ends(text, 1.0, &[("c", 1.0), ("d", 1.0), ("y", 9.0), ("z", -9.0)]);
}

#[test]
fn two_states_exchange_their_values() {
    let text = "model M
  local x = 1, y = 2, next = 0.5
  der(x) = 0
  der(y) = 0
  when Time >= next then
    new(next) = next + 10
    new(x) = y
    new(y) = x + y
  endwhen
end
";
    ends(text, 1.0, &[("x", 2.0), ("y", 3.0)]);
}

#[test]
fn a_when_on_a_condition_of_a_submodel() {
    let text = "model class Alarm
  terminal on, level
  parameter limit = 1
  on = level > limit
end
model M
  submodel (Alarm) A(limit = 0.5)
  local count, t0
  A.level = Time * Time
  when A.on then
    new(count) = count + 1
    t0 = Time
  endwhen
end
";
    ends(text, 1.0, &[("count", 1.0), ("t0", FRAC_1_SQRT_2)]);
}

#[test]
fn conditions_that_become_true_again() {
    let text = "model M
  local n, m
  when sin(10 * Time) > 0.5 then
    new(n) = n + 1
  endwhen
  when not sin(10 * Time) > 0.5 then
    new(m) = m + 1
  endwhen
end
";
    ends(text, 1.0, &[("n", 2.0), ("m", 2.0)]);
}

#[test]
fn a_new_value_with_a_coefficient() {
    let text = "model M
  local x = 1, next = 0.1
  parameter a = 3
  when Time >= next then
    new(next) = next + 0.1
    a * new(x) - x = 2
  endwhen
end
";
    ends(text, 0.95, &[("x", 1.0)]);
}

#[test]
fn a_discrete_state_of_a_submodel() {
    let text = "model class Counter
  local n = 0, next = 0.1
  when Time >= next then
    new(next) = next + 0.1
    new(n) = n + 1
  endwhen
end
model M
  submodel (Counter) c
  local y, z
  y = 2 * c.n
  der(z) = c.n
end
";
    ends(text, 0.95, &[("c.n", 9.0), ("y", 18.0), ("z", 4.05)]);
}

#[test]
fn inputs_and_outputs_of_submodels() {
    let text = "model class Gain
  input u
  output y
  parameter k = 2
  y = k * u
end
model class Integ
  input u
  output y
  der(y) = u
end
model M
  submodel (Gain) g(k = -3)
  submodel (Integ) i(y = 2)
  g.u = i.y
  i.u = g.y
end
";
    ends(text, 1.0, &[("i.y", 2.0 * (-3.0_f64).exp())]);
}

#[test]
fn cuts_of_signals() {
    let text = "model class Src
  main cut o (y)
  y = 3 * Time
end
model class Sink
  main cut i (u)
  local x
  der(x) = u
end
model M
  submodel (Src) s
  submodel (Sink) a, b
  connect s - a, s - b
end
";
    ends(text, 1.0, &[("a.x", 1.5), ("b.x", 1.5)]);
}

#[test]
fn cuts_of_through_variables_alone() {
    let text = "model class Src
  main cut o ( / q)
  q = -3
end
model class Tank
  main cut i ( / q)
  local h
  der(h) = q
end
model M
  submodel (Src) s, s2
  submodel (Tank) t
  node n
  connect s at n, s2 at n, t at n
end
";
    ends(text, 1.0, &[("t.h", 6.0)]);
}

#[test]
fn a_trigger_with_memory() {
    let text = "model M
  local on = False, n, u
  u = 2 * sin(6 * Time)
  new(on) = u > 1 or on and not u < -1
  when on then
    new(n) = n + 1
  endwhen
end
";
    ends(text, 1.2, &[("n", 2.0), ("on", 1.0)]);
}

#[test]
fn new_values_read_outside_of_when() {
    let text = "model M
  local x = 1, next = 0.25, y, z
  y = new(x) + x
  z = if new(x) > 1 then 10 else 20
  when Time >= next then
    new(next) = next + 0.25
    new(x) = 2 * x
  endwhen
end
";
    ends(text, 0.9, &[("x", 8.0), ("y", 16.0), ("z", 10.0)]);
}

#[test]
fn truth_values_in_cuts() {
    let text = "model class Sender
  main cut c (on)
  on = Time > 0.3
end
model class Receiver
  main cut c (flag)
  local n
  n = if flag then 1 else 0
end
model class Relay
  cut i (a), o (b)
  main path P < i - o >
  b = not a
end
model M
  submodel (Sender) s
  submodel (Receiver) r
  submodel (Relay) k
  connect s - k - r
end
";
    ends(text, 1.0, &[("r.n", 0.0), ("k.b", 0.0)]);
}

#[test]
fn a_machine_with_numbers_as_states() {
    let text = "model M
  local state = 1, t
  der(t) = 1
  new(state) = if state < 1.5 and t > 0.2 then 2 else if state > 1.5 and t > 0.7 then 3 else state
end
";
    ends(text, 1.0, &[("state", 3.0)]);
}

#[test]
fn a_start_value_from_a_parameter() {
    let text = "model class (TwoPort) Cap
  parameter C = 1, u0 = 3
  C * der(u) = i
end

model M
  parameter v = 2
  submodel (Cap) c(u = 2 * v)
  submodel (Resistor) r
  connect loop(c - r)
  submodel Common
  connect Common at r.A
end
";
    ends(text, 1.0, &[("c.u", 4.0 * (-1.0_f64).exp())]);
}

#[test]
fn variables_named_like_functions() {
    let text = "model M
  local sin, pre, reinit, sample, noEvent, exp = 1, abs, initial, terminal1
  sin = 2
  pre = sin(sin)
  reinit = pre + 1
  sample = abs(-reinit)
  noEvent = sample
  der(exp) = exp
  abs = exp(0)
  initial = abs
  terminal1 = min(3, max(1, 2))
end
";
    ends(text, 1.0, &[("terminal1", 2.0)]);
}

#[test]
fn classes_named_like_types_of_modelica() {
    let text = "model class Real
  terminal x
  x = 3
end
model class Integer
  terminal y
  y = 4
end
model M
  submodel (Real) Real
  submodel (Integer) i
  local s
  s = Real.x + i.y
end
";
    ends(text, 1.0, &[("s", 7.0)]);
}

#[test]
fn equations_over_several_lines() {
    let text = "model M
  local x, y, z, w
  x = 3
    - 1
  (y + 1) * 2 = 6
  - z + 1 = 4
  w =
    x
    + y
    * 2
end
";
    ends(text, 1.0, &[("x", 2.0), ("y", 2.0), ("z", -3.0), ("w", 6.0)]);
}

/// Neither equation says by itself which of the two it determines.
#[test]
fn new_values_from_simultaneous_equations() {
    let text = "model M
  local a, b = 1, next = 0.5
  when Time >= next then
    new(next) = next + 1
    new(a) + new(b) = 4 + b
    2 * new(a) - new(b) = 1
  endwhen
end
";
    ends(text, 1.0, &[("a", 2.0), ("b", 3.0)]);
}

/// The variables of two submodels of one class are different ones.
#[test]
fn new_values_of_submodels() {
    let text = "model class Tank
  local level
  der(level) = 1
end
model M
  submodel (Tank) one, two
  when one.level > 0.5 then
    new(one.level) = two.level - 0.25
    2 * new(two.level) = one.level
  endwhen
end
";
    ends(text, 0.75, &[("one.level", 0.5), ("two.level", 0.5)]);
}

/// Momentum and restitution of an impact: two states get new values that depend on each other.
#[test]
fn new_values_of_states_that_depend_on_each_other() {
    let text = "model M
  parameter m1 = 1, m2 = 3, e = 0.8
  local x1 = 0, x2 = 1, v1 = 2, v2 = -1, p = 0
  der(x1) = v1
  der(x2) = v2
  der(v1) = 0
  der(v2) = 0
  when x2 - x1 <= 0 then
    m1 * new(v1) + m2 * new(v2) = m1 * v1 + m2 * v2
    new(v2) - new(v1) = -e * (v2 - v1)
    new(p) = m1 * new(v1)
  endwhen
end
";
    ends(text, 1.0, &[("v1", -2.05), ("v2", 0.35), ("p", -2.05)]);
    let text = "model M
  local x = 0, y = 0, z = 1
  der(x) = 1
  der(y) = 0
  der(z) = 0
  when x > 0.5 then
    3 * new(x) - new(y) + new(z) = 2 + z
    new(x) + 2 * new(y) = 5 * z
    new(y) - (new(z) - new(x)) / 2 = 1.5
  endwhen
end
";
    // x + 2 y = 5, 3 x - y + z = 3, y - (z - x)/2 = 1.5
    ends(text, 0.75, &[("x", 1.25), ("y", 2.0), ("z", 2.0)]);
}

/// A new value that another `when` gives is read, not determined once more.
#[test]
fn new_values_of_another_when() {
    let text = "model M
  local n = 0, next = 0.1, w, s = 0
  when Time >= next then
    new(n) = n + 1
    new(next) = next + 0.1
  endwhen
  when Time > 0.55 then
    w = new(n)
    new(s) - 2 * s = new(n)
  endwhen
end
";
    ends(text, 1.0, &[("w", 5.0), ("s", 5.0)]);
}

/// Paths and cuts of cuts may stand before what they name.
#[test]
fn items_in_any_order() {
    let text = "model Q
  connect Common - loop(U - R)
  submodel (Source) U(E = 5)
  submodel (Load) R
  submodel Common
end
model class Load
  main path P < A - B >
  Va - Vb = 2 * i
  cut A (Va / i), B (Vb / -i)
end
model class Source
  main path P < a - b >
  Wb = Wa + E
  cut all [a b]
  parameter E
  cut a (Wa / j), b (Wb / -j)
end
";
    ends(text, 1.0, &[("R.i", 2.5)]);
}

/// `v` is the first derivative of what has a second one: its value when time begins is the one that was given.
#[test]
fn values_of_rates() {
    let text = "model class Oscillator
  local x = 1, v = 2
  x'' = -x
  v = x'
end
model M
  submodel (Oscillator) a, b(v = 0), c(x = 0, v = 1)
end
";
    let (sine, cosine) = 1.0f64.sin_cos();
    ends(text, 1.0, &[("a.x", cosine + 2.0 * sine), ("b.x", cosine), ("c.x", sine), ("c.v", cosine)]);
}

/// What another class differentiates is only guessed here.
#[test]
fn values_of_what_another_class_differentiates() {
    let text = "model M
  submodel (Resistor) R(R = 2, u = 7)
  submodel (Battery) U(E = 4)
  submodel Common
  connect Common - loop(U - R)
end
";
    ends(text, 1.0, &[("R.u", 4.0)]);
}

#[test]
fn derivatives_of_expressions() {
    let text = "model M
  local x = 1, y, q = 2
  der(x) = -x
  y = der(x * x)
  (q^2)' = -1
end
";
    ends(text, 1.0, &[("y", -2.0 * (-2.0f64).exp()), ("q", 3.0f64.sqrt())]);
}
