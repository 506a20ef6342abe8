//! Ideal switches, diodes, thyristors and GTO thyristors (Elmqvist, Cellier and Otter 1993; Otter, part 8, table 10): blocks of
//! continuous and discrete unknowns that are solved at every event.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Run, assert_near, complete, zero_between};
use expect_test::expect;
use std::f64::consts::PI;

const PARTS: &str = "connector Pin
    Real v;
    flow Real i;
  end Pin;
  partial model TwoPin
    Pin p, n;
    Real u, i;
  equation
    u = p.v - n.v;
    i = p.i;
    0 = p.i + n.i;
  end TwoPin;
  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;
  model Resistor
    extends TwoPin;
    parameter Real R = 1;
  equation
    u = R*i;
  end Resistor;
  model Capacitor
    extends TwoPin;
    parameter Real C = 1;
  equation
    C*der(u) = i;
  end Capacitor;
  model Inductor
    extends TwoPin;
    parameter Real L = 1;
  equation
    L*der(i) = u;
  end Inductor;
  model Source
    extends TwoPin;
    parameter Real A = 1, f = 50, phase = 0;
  equation
    u = A*sin(2*3.141592653589793*f*time + phase);
  end Source;
  model Diode
    extends TwoPin;
    Real s;
    Boolean off(start = true);
  equation
    off = s < 0;
    u = if off then s else 0;
    i = if off then 0 else s;
  end Diode;
  model Thyristor
    extends TwoPin;
    Real s;
    Boolean fire, off(start = true, fixed = true);
  equation
    off = s < 0 or pre(off) and not fire;
    u = if off then s else 0;
    i = if off then 0 else s;
  end Thyristor;
  model GTO
    extends TwoPin;
    Real s;
    Boolean fire, off(start = true);
  equation
    off = s < 0 or not fire;
    u = if off then s else 0;
    i = if off then 0 else s;
  end GTO;";

fn package(model: &str) -> String {
    format!("package P {PARTS} {model} end P;")
}

/// Every row of a variable against a function of time; rows for which that is not a number are left out.
#[track_caller]
fn assert_rows(run: &Run, name: &str, function: impl Fn(f64) -> f64, tolerance: f64) {
    for (&time, &value) in run.result.time.iter().zip(run.column(name)) {
        let expected = function(time);
        assert!(
            expected.is_nan() || (value - expected).abs() <= tolerance,
            "{name} is {value} at {time}, not {expected}"
        );
    }
}

/// A state by the classical method of Runge and Kutta with small steps, given at the rows of a run.
#[track_caller]
fn assert_integral(run: &Run, name: &str, slope: impl Fn(f64, f64) -> f64, step: f64, tolerance: f64) {
    let (mut time, mut x) = (0.0, 0.0);
    for (&row, &value) in run.result.time.iter().zip(run.column(name)) {
        while time < row {
            let h = step.min(row - time);
            let k1 = slope(time, x);
            let k2 = slope(time + h / 2.0, x + h / 2.0 * k1);
            let k3 = slope(time + h / 2.0, x + h / 2.0 * k2);
            let k4 = slope(time + h, x + h * k3);
            x += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
            time = if h < step { row } else { time + h };
        }
        assert!((value - x).abs() <= tolerance, "{name} is {value} at {row}, not {x}");
    }
}

const RECTIFIER: &str = "model Rectifier
    Source U0(A = 1, f = 50);
    Resistor Ri(R = 10), RL(R = 50);
    Diode diode;
    Capacitor C(C = 0.001, u(start = 0, fixed = true));
    Ground ground;
  equation
    connect(U0.p, Ri.p);
    connect(Ri.n, diode.p);
    connect(diode.n, C.p);
    connect(C.p, RL.p);
    connect(RL.n, C.n);
    connect(C.n, U0.n);
    connect(U0.n, ground.p);
  end Rectifier;";

/// The instants at which the diode of the rectifier blocks and conducts, and the voltage at the end, by closed forms.
fn rectifier(a: f64, w: f64, ri: f64, rl: f64, c: f64, end: f64) -> (Vec<f64>, f64) {
    let g = 1.0 / ri + 1.0 / rl;
    // C·u' = (a·sin wt − u)/ri − u/rl: u = p·sin wt + q·cos wt + k·exp(−g·t/c).
    let denominator = g * g + c * c * w * w;
    let (p, q) = (a / ri * g / denominator, -a / ri * c * w / denominator);
    let steady = |t: f64| p * (w * t).sin() + q * (w * t).cos();
    let source = |t: f64| a * (w * t).sin();
    let (mut t, mut u, mut instants) = (0.0, 0.0, Vec::new());
    let period = 2.0 * PI / w;
    loop {
        let (t0, u0) = (t, u);
        let on = move |t: f64| steady(t) + (u0 - steady(t0)) * (-(t - t0) * g / c).exp();
        let peak = ((t0 / period).floor() + 0.25) * period;
        t = zero_between(peak.max(t0 + 1e-9 * period), peak + 0.5 * period, |t| source(t) - on(t));
        if t > end {
            return (instants, on(end));
        }
        u = on(t);
        instants.push(t);
        let (t0, u0) = (t, u);
        let blocked = move |t: f64| u0 * (-(t - t0) / (rl * c)).exp();
        let next = ((t / period).floor() + 1.0) * period;
        t = zero_between(next - 0.25 * period, next + 0.25 * period, |t| source(t) - blocked(t));
        if t > end {
            return (instants, blocked(end));
        }
        u = blocked(t);
        instants.push(t);
    }
}

#[test]
fn b12_rectifier_of_the_document() {
    let run = complete(&package(RECTIFIER), 0.1, 1e-10);
    let switches: Vec<f64> = run.jumps("diode.off").into_iter().filter(|&time| time > 1e-6).collect();
    let document = [8.7081397e-3, 2.0999157e-2, 2.8265191e-2, 4.1307834e-2];
    document.iter().zip(&switches).for_each(|(&expected, &switch)| assert_near(switch, expected, 1e-7));
    let (expected, last) = rectifier(1.0, 100.0 * PI, 10.0, 50.0, 0.001, 0.1);
    assert_eq!(switches.len(), expected.len());
    expected.iter().zip(&switches).for_each(|(&expected, &switch)| assert_near(switch, expected, 1e-8));
    assert_near(run.end("C.u"), 0.456011, 1e-6);
    assert_near(run.end("C.u"), last, 1e-8);
}

/// The parts with the diode of the document: a switch with its own discrete state, which follows the signs of voltage and
/// current.
fn parts_of_1993() -> String {
    let old = "model Diode
        extends TwoPin;
        Boolean off(start = true, fixed = true);
      equation
        0 = if pre(off) then i else u;
        off = u <= 0 and not i > 0;
      end Diode;";
    let (start, end) = (PARTS.find("model Diode").unwrap(), PARTS.find("  model Thyristor").unwrap());
    format!("{}{old}\n{}", &PARTS[..start], &PARTS[end..])
}

#[test]
fn b12_other_values_and_the_diode_of_1993() {
    let parts = parts_of_1993();
    for (a, f, ri, rl, c) in
        [(1.0, 50.0, 10.0, 50.0, 1e-3), (325.0, 60.0, 0.5, 1000.0, 47e-6), (5.0, 1e3, 1.0, 10.0, 1e-4)]
    {
        let values = RECTIFIER
            .replace("A = 1, f = 50", &format!("A = {a}, f = {f}"))
            .replace("R = 10", &format!("R = {ri}"))
            .replace("R = 50", &format!("R = {rl}"))
            .replace("C = 0.001", &format!("C = {c}"));
        let stop = 5.2 / f;
        let (expected, last) = rectifier(a, 2.0 * PI * f, ri, rl, c, stop);
        for text in [package(&values), format!("package P {parts} {values} end P;")] {
            let run = complete(&text, stop, 1e-10);
            let switches: Vec<f64> = run.jumps("diode.off").into_iter().filter(|&time| time > 1e-3 / f).collect();
            assert_eq!(switches.len(), expected.len(), "{a} {f}: {switches:?} {expected:?}");
            expected.iter().zip(&switches).for_each(|(&expected, &switch)| assert_near(switch, expected, 1e-7 / f));
            assert_near(run.end("C.u"), last, 1e-7 * a);
        }
    }
}

/// The lines of the log of a run to 22 ms.
fn log_of(text: &str) -> String {
    let run = complete(text, 0.022, 1e-10);
    // Digits that are rounding are left out, and those of the second instant are B12's.
    let number = |word: &str| word.trim_matches(['(', ')']).parse::<f64>().is_ok();
    let short = |word: &str| match word.trim_matches(['(', ')']).parse::<f64>() {
        Ok(value) if value.fract() != 0.0 && value.abs() < 1e-3 => "about 0".to_owned(),
        Ok(value) if value.fract() != 0.0 => format!("{value:.7}"),
        _ => word.to_owned(),
    };
    let line = |line: &str| {
        let words: Vec<String> =
            line.split_whitespace().map(|word| if number(word) { short(word) } else { word.into() }).collect();
        words.join(" ")
    };
    let lines: Vec<String> = run.log.lines().map(line).collect();
    lines.join("\n")
}

#[test]
fn b10_event_log() {
    expect![[r#"
        0 initialised
        expression diode.s < 0 is initially zero (0)
        diode.off is initially false
        about 0 expression diode.s < 0 became positive about 0
        restart after 1 iterations
        0.0087081 expression diode.s < 0 became negative about 0
        iteration 1: diode.off changed from false to true
        restart after 1 iterations
        0.0209991 expression diode.s < 0 became positive about 0
        iteration 1: diode.off changed from true to false
        restart after 1 iterations"#]]
    .assert_eq(&log_of(&package(RECTIFIER)));
}

/// The log of the document is that of this diode: two expressions, and a switch that changes after them.
#[test]
fn b10_event_log_of_the_diode_of_1993() {
    expect![[r#"
        0 initialised
        expression diode.u <= 0 is initially zero (0)
        expression -U0.i > 0 is initially zero (0)
        diode.off is initially true
        about 0 expression diode.u <= 0 became positive about 0
        iteration 1: diode.off changed from true to false
        iteration 2: expression diode.u <= 0 became zero
        iteration 2: expression -U0.i > 0 became positive
        restart after 2 iterations
        0.0087081 expression -U0.i > 0 became negative about 0
        iteration 1: diode.off changed from false to true
        iteration 2: expression diode.u <= 0 became negative
        iteration 2: expression -U0.i > 0 became zero
        restart after 2 iterations
        0.0209991 expression diode.u <= 0 became positive about 0
        iteration 1: diode.off changed from true to false
        iteration 2: expression diode.u <= 0 became zero
        iteration 2: expression -U0.i > 0 became positive
        restart after 2 iterations"#]]
    .assert_eq(&log_of(&format!("package P {} {RECTIFIER} end P;", parts_of_1993())));
}

#[test]
fn b11_switch_circuit() {
    for law in ["0 = openSw*i + (1 - openSw)*u;", "0 = if openSw > 0.5 then i else u;"] {
        let text = package(&format!(
            "model Switch
               extends TwoPin;
               input Real openSw;
             equation
               {law}
             end Switch;
             model Current
               extends TwoPin;
               parameter Real I = 0.05;
             equation
               i = -I;
             end Current;
             model Circuit
               Resistor R1(R = 100), R2(R = 20);
               Capacitor C(C = 0.1e-6, u(start = 0, fixed = true));
               Switch Sw;
               Current I0;
               Ground ground;
             equation
               connect(I0.p, R1.p);
               connect(R1.p, Sw.p);
               connect(I0.n, ground.p);
               connect(Sw.n, R2.p);
               connect(Sw.n, C.p);
               connect(R1.n, ground.p);
               connect(R2.n, ground.p);
               connect(C.n, ground.p);
               Sw.openSw = if time < 1e-6 then 1 else if time < 2.5e-6 then 0 else if time < 5e-6 then 1
                           else if time < 9e-6 then 0 else 1;
             end Circuit;"
        ));
        let run = complete(&text, 12e-6, 1e-9);
        // Closed: C·u' = i − u/R1 − u/R2; open: C·u' = −u/R2.
        let c = 0.1e-6;
        let (rate, goal) = ((1.0 / 100.0 + 1.0 / 20.0) / c, 0.05 / (1.0 / 100.0 + 1.0 / 20.0));
        let closed = |u: f64, span: f64| goal + (u - goal) * (-span * rate).exp();
        let open = |u: f64, span: f64| u * (-span / (20.0 * c)).exp();
        let second = closed(0.0, 1.5e-6);
        let third = open(second, 2.5e-6);
        let fourth = closed(third, 4e-6);
        for (time, expected) in
            [(0.96e-6, 0.0), (2.5e-6, second), (5e-6, third), (9e-6, fourth), (12e-6, open(fourth, 3e-6))]
        {
            assert_near(run.at("C.u", time), expected, 1e-8);
        }
        // Where the switch is open the current flows through R1 alone.
        assert_near(run.at("R1.u", 3e-6), 5.0, 1e-9);
        assert_eq!(
            (run.statistics.time_events, run.statistics.state_events, run.statistics.modes),
            (4, 0, 1),
            "{}",
            run.log
        );
        let listing = common::equations(&text);
        // One less than in the document, where the potential at the switch and the voltage of R1 are two unknowns.
        assert!(listing.contains("linear system of 4, iterating Sw.u"), "{listing}");
    }
}

fn bridge(valve: &str, load: &str, control: &str) -> String {
    package(&format!(
        "model Bridge
           Source v(A = 10);
           Resistor rs(R = 1), rl(R = 9);
           {valve} d[4];
           Ground g;
           {load}
           {control}
           connect(v.p, rs.p);
           connect(rs.n, d[1].p);
           connect(rs.n, d[2].n);
           connect(v.n, d[3].p);
           connect(v.n, d[4].n);
           connect(d[1].n, rl.p);
           connect(d[3].n, rl.p);
           connect(d[2].p, d[4].p);
           connect(d[4].p, g.p);
         end Bridge;"
    ))
}

const W: f64 = 100.0 * PI;

#[test]
fn b13_full_wave_bridge() {
    let resistive = complete(&bridge("Diode", "equation connect(rl.n, g.p);", ""), 0.06, 1e-9);
    assert_rows(&resistive, "rl.u", |t| 9.0 * (W * t).sin().abs(), 1e-10);

    let smooth = "Capacitor c(C = 1e-3, u(start = 0, fixed = true)); equation connect(rl.n, g.p); connect(c.p, rl.p); connect(c.n, rl.n);";
    let smoothed = complete(&bridge("Diode", smooth, ""), 0.06, 1e-9);
    let slope = |t: f64, u: f64| (((10.0 * (W * t).sin()).abs() - u).max(0.0) - u / 9.0) / 1e-3;
    assert_integral(&smoothed, "c.u", slope, 1e-6, 1e-6);

    // All four conduct while the source cannot drive the current of the choke.
    let choke = "Inductor l(L = 0.05, i(start = 0, fixed = true)); equation connect(rl.n, l.p); connect(l.n, g.p);";
    let inductive = complete(&bridge("Diode", choke, ""), 0.06, 1e-9);
    let slope = |t: f64, i: f64| {
        let v = (10.0 * (W * t).sin()).abs();
        (if v < i { 0.0 } else { v - i } - 9.0 * i) / 0.05
    };
    assert_integral(&inductive, "l.i", slope, 1e-6, 1e-6);
}

#[test]
fn b13_full_wave_bridge_with_thyristors() {
    for alpha in [0.5, 1.5, 2.5] {
        let fire = format!(
            "equation connect(rl.n, g.p);
             d[1].fire = mod(time - {}, 0.02) < 0.002; d[4].fire = d[1].fire;
             d[2].fire = mod(time - {} - 0.01, 0.02) < 0.002; d[3].fire = d[2].fire;",
            alpha / W,
            alpha / W
        );
        let run = complete(&bridge("Thyristor", "", &fire), 0.06, 1e-9);
        let expected = |t: f64| {
            let angle = (W * t) % PI;
            let near = [0.0, alpha, PI].iter().any(|edge| (angle - edge).abs() < 1e-6);
            if near {
                f64::NAN
            } else if angle > alpha {
                9.0 * (W * t).sin().abs()
            } else {
                0.0
            }
        };
        assert_rows(&run, "rl.u", expected, 1e-9);
    }
}

#[test]
fn b13_full_wave_bridge_with_gto_thyristors() {
    let fire = "equation connect(rl.n, g.p);
        for k in 1:4 loop d[k].fire = mod(time - 0.001, 0.0025) < 0.001; end for;";
    let run = complete(&bridge("GTO", "", fire), 0.06, 1e-9);
    let expected = |t: f64| {
        let phase = (t - 0.001).rem_euclid(0.0025);
        let near = [0.0, 0.001, 0.0025].iter().any(|edge| (phase - edge).abs() < 1e-9);
        if near {
            f64::NAN
        } else if phase < 0.001 {
            9.0 * (W * t).sin().abs()
        } else {
            0.0
        }
    };
    assert_rows(&run, "rl.u", expected, 1e-9);
}

fn three_phases(valve: &str, parts: &str, equations: &str) -> String {
    package(&format!(
        "model Bridge
           Source v[3](each A = 10, phase = {{0, -2.0943951023931953, 2.0943951023931953}});
           {valve} a[3], b[3];
           Ground g;
           {parts}
         equation
           for k in 1:3 loop
             connect(v[k].n, g.p);
             connect(a[k].n, a[1].n);
             connect(b[k].p, b[1].p);
             connect(a[k].p, b[k].n);
           end for;
           {equations}
         end Bridge;"
    ))
}

fn phases(t: f64) -> [f64; 3] {
    [0.0, -2.0, 2.0].map(|third| 10.0 * (W * t + third * PI / 3.0).sin())
}

/// The largest voltage between two phases.
fn widest(t: f64) -> f64 {
    let phases = phases(t);
    phases.iter().copied().fold(f64::MIN, f64::max) - phases.iter().copied().fold(f64::MAX, f64::min)
}

#[test]
fn b13_three_phase_bridge() {
    let direct = "for k in 1:3 loop connect(v[k].p, a[k].p); end for; connect(a[1].n, rl.p);";
    let parts = "Resistor rl(R = 8);";
    let stiff = complete(&three_phases("Diode", parts, &format!("{direct} connect(rl.n, b[1].p);")), 0.04, 1e-9);
    assert_rows(&stiff, "rl.u", widest, 1e-9);

    let choke = "Resistor rl(R = 8); Inductor l(L = 0.1, i(start = 0, fixed = true));";
    let equations = format!("{direct} connect(rl.n, l.p); connect(l.n, b[1].p);");
    let inductive = complete(&three_phases("Diode", choke, &equations), 0.04, 1e-9);
    assert_integral(&inductive, "l.i", |t, i| (widest(t) - 8.0 * i) / 0.1, 1e-6, 1e-6);

    // With resistances the diodes of one side share while they commutate: potentials by bisection.
    let parts = "Resistor rl(R = 8), rs[3](each R = 1);";
    let equations = "for k in 1:3 loop connect(v[k].p, rs[k].p); connect(rs[k].n, a[k].p); end for;
        connect(a[1].n, rl.p); connect(rl.n, b[1].p);";
    let soft = complete(&three_phases("Diode", parts, equations), 0.04, 1e-9);
    let load = |t: f64| {
        let v = phases(t);
        let side = |i: f64, sign: f64| {
            let current = |p: f64| v.iter().map(|v| (sign * (v - p)).max(0.0)).sum::<f64>();
            zero_between(-20.0, 20.0, |p| sign * (current(p) - i))
        };
        8.0 * zero_between(0.0, 5.0, |i| side(i, 1.0) - side(i, -1.0) - 8.0 * i)
    };
    for (&time, &value) in soft.result.time.iter().zip(soft.column("rl.u")).step_by(7) {
        assert_near(value, load(time), 1e-8);
    }
    assert_eq!(soft.statistics.state_events, 24);
}

#[test]
fn b13_three_phase_bridge_with_thyristors() {
    let alpha: f64 = 0.6;
    let delay = alpha / W;
    let equations = format!(
        "for k in 1:3 loop
           connect(v[k].p, a[k].p);
           a[k].fire = mod(time - {delay} - 0.02/12 - (k - 1)*0.02/3, 0.02) < 0.02/3;
           b[k].fire = mod(time - {delay} - 0.02/12 - 0.01 - (k - 1)*0.02/3, 0.02) < 0.02/3;
         end for;
         connect(a[1].n, rl.p); connect(rl.n, l.p); connect(l.n, b[1].p);"
    );
    let parts = "Resistor rl(R = 1); Inductor l(L = 0.1, i(start = 0, fixed = true));";
    let run = complete(&three_phases("Thyristor", parts, &equations), 0.5, 1e-9);
    // The current does not cease, so the load sees the phases that were fired last; its mean is 3·√3/π·10·cos α.
    let mean = 3.0 * 3f64.sqrt() / PI * 10.0 * alpha.cos();
    let last = run.result.time.iter().position(|&time| time >= 0.48).unwrap();
    let currents = &run.column("l.i")[last..];
    let average = currents.iter().sum::<f64>() / currents.len() as f64;
    // 0.5 s are five time constants.
    assert_near(average / (1.0 - (-4.9f64).exp()), mean, 0.03 * mean);
    // At every point one thyristor of each side conducts, and the load has the voltage between their phases.
    for row in (0..run.result.time.len()).filter(|&row| run.result.time[row] > 0.03) {
        let (time, u) = (run.result.time[row], run.column("rl.u")[row] + run.column("l.u")[row]);
        let on = |side: &str| -> Vec<usize> {
            (0..3).filter(|k| run.column(&format!("{side}[{}].off", k + 1))[row] == 0.0).collect()
        };
        let (upper, lower) = (on("a"), on("b"));
        assert_eq!((upper.len(), lower.len()), (1, 1), "at {time}");
        assert_near(u, phases(time)[upper[0]] - phases(time)[lower[0]], 1e-8);
    }
}

/// Both switches close at once; their equations constrain the capacitors, so they are differentiated. Charge is conserved, the
/// currents that keep the voltages equal are shared.
#[test]
fn parallel_switches_between_capacitors() {
    let run = complete(
        "model JoinedCapacitors
           Real v1(start = 6, fixed = true), v2(start = 0, fixed = true), w, i1, i2;
           Boolean first = time >= 1 and time < 2, second = time >= 1 and time < 3;
         equation
           der(v1) = 1 - i1 - i2;
           2*der(v2) = i1 + i2;
           w = v1 - v2;
           if first then w = 0; else i1 = 0; end if;
           if second then w = 0; else i2 = 0; end if;
         end JoinedCapacitors;",
        4.0,
        1e-8,
    );
    assert!(run.warnings.iter().any(|warning| warning.contains("i1, i2 are shared evenly")), "{:?}", run.warnings);
    let joined = |t: f64| (6.0 + t) / 3.0;
    run.assert_follows("v1", &[0.5], |t| 6.0 + t, 1e-6);
    run.assert_follows("v2", &[1.5, 2.5], joined, 1e-6);
    run.assert_follows("i1", &[1.5, 2.5], |t| if t < 2.0 { 1.0 / 3.0 } else { 0.0 }, 1e-9);
    run.assert_follows("i2", &[1.5, 2.5], |t| if t < 2.0 { 1.0 / 3.0 } else { 2.0 / 3.0 }, 1e-9);
    assert_near(run.end("v1"), joined(3.0) + 1.0, 1e-6);
    assert_near(run.end("v2"), joined(3.0), 1e-6);
}

/// A loop of two closed switches hangs on a third one. Of the three the pattern of the equations may leave over the one that
/// does not say anything twice.
#[test]
fn loop_of_switches_behind_another() {
    let text = package(
        "model Switch
           extends TwoPin;
           Boolean on;
         equation
           if on then u = 0; else i = 0; end if;
         end Switch;
         model Battery
           extends TwoPin;
         equation
           u = 10;
         end Battery;
         model Loop
           Battery battery;
           Ground ground;
           Resistor R(R = 2);
           Switch lead(on = time >= 0.5), one(on = time >= 0.5), two(on = time >= 1);
           Diode diode;
         equation
           connect(battery.n, ground.p);
           connect(battery.p, R.p);
           connect(R.n, diode.p);
           connect(diode.n, ground.p);
           connect(R.n, lead.n);
           connect(lead.p, one.p);
           connect(lead.p, two.n);
           connect(one.n, two.p);
         end Loop;",
    );
    let run = complete(&text, 2.0, 1e-6);
    assert!(run.warnings.iter().any(|warning| warning.contains("one.i are shared evenly")), "{:?}", run.warnings);
    assert_rows(&run, "diode.i", |_| 5.0, 1e-12);
    for current in ["lead.i", "one.i", "two.i"] {
        assert_rows(&run, current, |_| 0.0, 1e-12);
    }
    for (voltage, closed) in [("lead.u", 0.5), ("one.u", 0.5), ("two.u", 1.0)] {
        assert_rows(&run, voltage, |t| if t > closed { 0.0 } else { f64::NAN }, 1e-12);
    }
}

/// Three switches in parallel, one of them the other way round: two of them are redundant, but the pattern shows one only.
#[test]
fn three_parallel_switches_in_two_directions() {
    let text = package(
        "model Switch
           extends TwoPin;
           Boolean on;
         equation
           if on then u = 0; else i = 0; end if;
         end Switch;
         model Three
           Source source(A = 6, f = 0.25);
           Ground ground;
           Resistor R(R = 2);
           Switch one(on = time >= 0.5), two(on = time >= 1), back(on = time >= 1.5);
           Inductor L(i(start = 0, fixed = true));
           Resistor load;
         equation
           connect(source.n, ground.p);
           connect(source.p, R.p);
           connect(R.n, one.p);
           connect(R.n, two.p);
           connect(R.n, back.n);
           connect(R.n, L.p);
           connect(load.p, one.n);
           connect(load.p, two.n);
           connect(load.p, back.p);
           connect(load.p, L.n);
           connect(load.n, ground.p);
         end Three;",
    );
    let run = complete(&text, 2.0, 1e-8);
    let held = run.at("L.i", 0.5);
    let shared = |t: f64| 2.0 * (PI / 2.0 * t).sin() - held;
    assert_rows(&run, "L.i", |t| if t > 0.5 { held } else { f64::NAN }, 1e-12);
    run.assert_follows("one.i", &[0.75, 1.25, 1.75], |t| shared(t) / (1.0 + (2.0 * t - 1.0).floor()), 1e-9);
    run.assert_follows("two.i", &[1.25, 1.75], |t| shared(t) / (2.0 * t).floor(), 1e-9);
    run.assert_follows("back.i", &[1.75], |t| -shared(t) / 3.0, 1e-9);
}

/// A capacitor that a closed switch shorts, cut off from the rest by an open one: its node voltages are open, its charge is
/// not.
#[test]
fn a_shorted_capacitor_that_is_cut_off() {
    let run = complete(
        "model Island
          connector Pin Real v; flow Real i; end Pin;
          partial model TwoPin Pin p, n; Real v, i; equation v = p.v - n.v; i = p.i; p.i + n.i = 0; end TwoPin;
          model Switch
            extends TwoPin; input Boolean on; Real s;
          equation
            v = if on then 0 else s; i = if on then s else 0;
          end Switch;
          model Capacitor extends TwoPin(v(start = 3, fixed = true)); equation 1.5*der(v) = i; end Capacitor;
          Switch short(on = time >= 0.25 and time < 0.75), away(on = not (time >= 0.25 and time < 0.5));
          Capacitor c;
          model End Pin p; equation p.v = 1; end End;
          End rest;
        equation
          connect(short.p, c.p);
          connect(short.n, c.n);
          connect(short.n, away.p);
          connect(away.n, rest.p);
        end Island;",
        1.0,
        1e-6,
    );
    assert_near(run.at("c.v", 0.2), 3.0, 1e-9);
    assert_near(run.at("c.v", 0.4), 0.0, 1e-9);
    assert_near(run.end("c.v"), 0.0, 1e-9);
}

/// A branch of a coil behind a switch with a large resistance: what was stiff before the event is not stiff behind it, and the
/// Jacobian from before would let every iteration stand still. The current has a closed form.
#[test]
fn what_is_stiff_no_more_is_integrated_with_a_new_jacobian() {
    let (begin, end, resistance, inductance, w) = (0.004f64, 0.01f64, 10.0f64, 0.05f64, 100.0 * std::f64::consts::PI);
    let impedance = resistance.hypot(w * inductance);
    let lag = (w * inductance / resistance).atan();
    let forced = |t: f64| 100.0 / impedance * (w * t - lag).sin();
    let expected = forced(end) - forced(begin) * (-(end - begin) * resistance / inductance).exp();
    for turns in ["time < 0.004", "c < 0.004"] {
        let text = format!(
            "model M
              Real i(start = 0, fixed = true), c(start = 0, fixed = true), r;
            equation
              der(c) = 1;
              r = if {turns} then 1e8 else 10;
              0.05*der(i) = 100*sin({w}*time) - r*i;
            end M;"
        );
        for solver in ["auto", "esdirk", "bdf", "dae", "rosenbrock"] {
            for tolerance in [1e-4, 1e-6, 1e-8] {
                let settings = session::Settings {
                    stop_time: Some(end),
                    tolerance: Some(tolerance),
                    solver: Some(solver.to_owned()),
                    ..session::Settings::default()
                };
                let i = common::run_with(&text, settings).end("i");
                let error = (i - expected).abs() / expected;
                assert!(error <= 100.0 * tolerance, "{turns} {solver} {tolerance:e}: {i} instead of {expected}");
            }
        }
    }
}
