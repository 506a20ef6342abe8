//! Inertias with gears that shift, sleeves, clutches, brakes and drives that step: the balances of angular momentum with the
//! constraints of each phase (`descriptor`). Masses on ropes: closed form.

use std::fmt::Write as _;

use fastrand::Rng;
use session::Settings;

use crate::case::Case;
use crate::descriptor::{Descriptor, Phase};
use crate::schedules::{Switch, Times};

/// What stands between inertias. The switch says which of two ways holds.
enum Coupling {
    /// `w_a = r·w_b` with one ratio or the other.
    Gear { a: usize, b: usize, ratios: [f64; 2] },
    /// `w_a = w_b`, or nothing.
    Clutch { a: usize, b: usize },
    /// `w_a = w_b` or `w_a = w_c`.
    Sleeve { a: usize, b: usize, c: usize },
    /// `w_a = 0`, or nothing.
    Brake { a: usize },
    /// `w_a` is one speed or the other.
    Drive { a: usize, speeds: [f64; 2] },
}

impl Coupling {
    fn random(random: &mut Rng, a: usize, b: usize, c: usize) -> Self {
        let ratio = |random: &mut Rng| [-2.0, -0.5, 0.5, 1.0, 1.5, 3.0][random.usize(0..6)];
        match random.u8(0..9) {
            0..3 => Self::Gear { a, b, ratios: [ratio(random), ratio(random)] },
            3..5 => Self::Clutch { a, b },
            5..7 if c != a && c != b => Self::Sleeve { a, b, c },
            7 => Self::Brake { a },
            8 => Self::Drive { a, speeds: [random.f64(), 2.0 * random.f64() - 1.0] },
            _ => Self::Clutch { a, b },
        }
    }

    /// The constraint in one of the two ways, as coefficients and right side.
    fn row(&self, first: bool, size: usize) -> Option<(Vec<f64>, f64)> {
        let mut row = vec![0.0; size];
        let mut right = 0.0;
        match *self {
            Self::Gear { a, b, ratios } => (row[a], row[b]) = (1.0, -ratios[usize::from(!first)]),
            Self::Clutch { a, b } if first => (row[a], row[b]) = (1.0, -1.0),
            Self::Sleeve { a, b, c } => (row[a], row[if first { b } else { c }]) = (1.0, -1.0),
            Self::Brake { a } if first => row[a] = 1.0,
            Self::Drive { a, speeds } => (row[a], right) = (1.0, speeds[usize::from(!first)]),
            _ => return None,
        }
        Some((row, right))
    }

    /// The equations, and the torques on inertias: place and expression.
    fn text(&self, k: usize, switch: &Switch, random: &mut Rng) -> (String, Vec<(usize, String)>) {
        let s = format!("s{k}");
        let w = |i: usize| format!("w[{}]", i + 1);
        match *self {
            Self::Gear { a, b, ratios: [r, q] } => {
                let (wa, wb) = (w(a), w(b));
                let torques = vec![(a, format!("t{k}")), (b, format!("u{k}"))];
                let text = match random.u8(0..3) {
                    0 => format!(
                        "  if {s} then {wa} = {r}*{wb}; u{k} = -({r})*t{k}; else {wa} = {q}*{wb}; u{k} = -({q})*t{k}; end if;\n"
                    ),
                    1 => format!(
                        "  {wa} = (if {s} then {r} else {q})*{wb};\n  u{k} = -(if {s} then {r} else {q})*t{k};\n"
                    ),
                    _ => format!("  r{k} = if {s} then {r} else {q};\n  {wa} = r{k}*{wb};\n  u{k} = -r{k}*t{k};\n"),
                };
                (text, torques)
            }
            Self::Clutch { a, b } => {
                let text = match random.bool() {
                    true => format!("  if {s} then {} = {}; else t{k} = 0; end if;\n", w(a), w(b)),
                    false => format!("  0 = if {s} then {} - {} else t{k};\n", w(a), w(b)),
                };
                (text + &format!("  u{k} = -t{k};\n"), vec![(a, format!("t{k}")), (b, format!("u{k}"))])
            }
            Self::Sleeve { a, b, c } => {
                let (wa, wb, wc) = (w(a), w(b), w(c));
                let text = format!("  if {s} then {wa} = {wb}; u{k} = 0; else {wa} = {wc}; t{k} = 0; end if;\n");
                let torques = vec![(a, format!("(t{k} + u{k})")), (b, format!("(-t{k})")), (c, format!("(-u{k})"))];
                (text, torques)
            }
            Self::Brake { a } => {
                let text = format!("  if {s} then {} = 0; else t{k} = 0; end if;\n  u{k} = 0;\n", w(a));
                (text, vec![(a, format!("t{k}"))])
            }
            Self::Drive { a, speeds: [v, u] } => {
                let text = match random.u8(0..4) {
                    0 => format!("  {} = if {s} then {v} else {u};\n", w(a)),
                    1 => format!("  r{k} = if {s} then {v} else {u};\n  {} = r{k};\n", w(a)),
                    // By its position, which turns corners.
                    _ => format!("  r{k} = {};\n  der(r{k}) = {};\n", switch.track([v, u]), w(a)),
                };
                (text + &format!("  u{k} = 0;\n"), vec![(a, format!("t{k}"))])
            }
        }
    }
}

pub fn case(random: &mut Rng) -> Case {
    if random.u8(0..4) == 0 {
        return rope(random);
    }
    loop {
        if let Some(case) = train(random) {
            return case;
        }
    }
}

fn train(random: &mut Rng) -> Option<Case> {
    let size = random.usize(2..5);
    let inertia: Vec<f64> = (0..size).map(|_| (random.u8(1..20) as f64) / 4.0).collect();
    let damping: Vec<f64> = (0..size).map(|_| if random.bool() { 0.0 } else { 0.3 * random.f64() }).collect();
    let load: Vec<f64> = (0..size).map(|_| if random.bool() { 0.0 } else { random.f64() - 0.5 }).collect();
    let times = Times::random(random);
    let count = random.usize(1..size.max(2));
    let couplings: Vec<(Coupling, Switch)> = (0..count)
        .map(|_| {
            let (a, step) = (random.usize(0..size), random.usize(1..size));
            let (b, c) = ((a + step) % size, random.usize(0..size));
            (Coupling::random(random, a, b, c), times.switch(random))
        })
        .collect();
    let diagonal =
        |values: &[f64]| (0..size).map(|i| (0..size).map(|j| if i == j { values[i] } else { 0.0 }).collect()).collect();
    let system = Descriptor { mass: diagonal(&inertia), damping: diagonal(&damping) };
    let phases: Vec<Phase> = (0..times.count())
        .map(|phase| {
            let (rows, right) = couplings.iter().filter_map(|(c, s)| c.row(s.is_on(phase), size)).unzip();
            Phase { until: times.end(phase), rows, right, force: load.clone() }
        })
        .collect();
    let guess: Vec<f64> = (0..size).map(|_| 4.0 * random.f64() - 2.0).collect();
    let (start, _) = system.jump(&guess, &phases[0].rows, &phases[0].right)?;
    let free = crate::schedules::free_columns(&phases[0].rows, size);
    let (points, _) = system.run(&start, &phases)?;

    let mut text = format!("model M\n  Real w[{size}](start = {{{}}}", list(&start));
    let fixed: Vec<String> = (0..size).map(|i| free.contains(&i).to_string()).collect();
    let _ = writeln!(text, ", fixed = {{{}}});", fixed.join(", "));
    let mut equations = String::new();
    let mut torque: Vec<String> = (0..size).map(|i| format!("{} - {}*w[{}]", load[i], damping[i], i + 1)).collect();
    for (k, (coupling, switch)) in couplings.iter().enumerate() {
        let (lines, torques) = coupling.text(k, switch, random);
        let _ = writeln!(text, "  Real t{k}, u{k};");
        if lines.contains(&format!("  r{k} =")) {
            let _ = writeln!(text, "  Real r{k};");
        }
        switch.write(k, &mut text, &mut equations);
        equations += &lines;
        torques.into_iter().for_each(|(i, expression)| torque[i] += &format!(" + {expression}"));
    }
    times.write(&mut text, &mut equations);
    for i in 0..size {
        let _ = writeln!(equations, "  {}*der(w[{}]) = {};", inertia[i], i + 1, torque[i]);
    }
    let text = format!("{text}equation\n{equations}end M;\n");
    let settings = Settings {
        stop_time: Some(times.stop()),
        interval: Some(0.0125),
        tolerance: Some(1e-9),
        ..Settings::default()
    };
    Some(Case::complete(text, settings, move |run| {
        for point in points.iter().step_by(2).chain(points.last()) {
            for (i, expected) in point.x.iter().enumerate() {
                let value = run.at(&format!("w[{}]", i + 1), point.time)?;
                if (value - expected).abs() > 1e-5 * (1.0 + expected.abs()) {
                    return Err(format!("w[{}] is {value} instead of {expected} at {}", i + 1, point.time));
                }
            }
        }
        Ok(())
    }))
}

fn list(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

/// A mass on a rope behind an anchor whose speed steps, with a constant drag: the rope pulls but does not push.
fn rope(random: &mut Rng) -> Case {
    let (mass, drag, length) = (0.5 + 2.0 * random.f64(), 0.2 + random.f64(), 1.0);
    let times = Times::random(random);
    let speeds: Vec<f64> = (0..times.count()).map(|_| [0.0, 0.5, 1.0, 2.0][random.usize(0..4)]).collect();
    let speed = (0..times.count() - 1).rev().fold(speeds[times.count() - 1].to_string(), |otherwise, k| {
        format!("if {} < {} then {} else {otherwise}", times.clock(), times.end(k), speeds[k])
    });
    let mut declarations = String::new();
    let mut equations = String::new();
    times.write(&mut declarations, &mut equations);
    let law = match random.bool() {
        true => "  if taut then xa - x = 1; F = s; else F = 0; xa - x - 1 = s; end if;\n",
        false => "  xa - x - 1 = if taut then 0 else s;\n  F = if taut then s else 0;\n",
    };
    let text = format!(
        "model M
  Real xa(start = 0, fixed = true), x(start = {}, fixed = true), v(start = {}, fixed = true), F, s;
  Real va = {speed};
  Boolean taut = s > 0;
{declarations}equation
  der(xa) = va;
  der(x) = v;
  {mass}*der(v) = F - {drag};
{law}{equations}end M;
",
        -length, speeds[0]
    );
    let stop = times.stop();
    let course = move |time: f64| towed(&times, &speeds, drag / mass, time);
    let settings =
        Settings { stop_time: Some(stop), interval: Some(0.0125), tolerance: Some(1e-9), ..Settings::default() };
    Case::complete(text, settings, move |run| {
        for k in 1..40 {
            let time = stop * f64::from(k) / 40.0 + 1e-4;
            let Some((x, v)) = course(time) else { continue };
            for (name, expected) in [("x", x), ("v", v)] {
                let value = run.at(name, time)?;
                if (value - expected).abs() > 2e-3 {
                    return Err(format!("{name} is {value} instead of {expected} at {time}"));
                }
            }
        }
        Ok(())
    })
}

/// Position and speed of the towed mass; `None` close to an impact, where an interpolated row says nothing.
fn towed(times: &Times, speeds: &[f64], braking: f64, time: f64) -> Option<(f64, f64)> {
    let (mut now, mut anchor, mut x, mut v): (f64, f64, f64, f64) = (0.0, 0.0, -1.0, speeds[0]);
    for (phase, &va) in speeds.iter().enumerate() {
        let end = times.end(phase).min(time);
        if anchor - x >= 1.0 - 1e-12 && v <= va {
            (x, v) = (anchor - 1.0, va);
        }
        let taut = anchor - x >= 1.0 - 1e-12 && v <= va;
        let mut left = end - now;
        if !taut && left > 0.0 {
            // The gap 1 - (xa - x) closes where gap + (v - va)·t - braking·t²/2 = 0.
            let (gap, closing): (f64, f64) = (1.0 - (anchor - x), v - va);
            let impact = (closing + (closing * closing + 2.0 * braking * gap.max(0.0)).sqrt()) / braking;
            if (impact - left).abs() < 1e-2 && end == time {
                return None;
            }
            let free = left.min(impact);
            x += v * free - 0.5 * braking * free * free;
            v -= braking * free;
            anchor += va * free;
            left -= free;
            if impact <= end - now {
                (x, v) = (anchor - 1.0, va);
            }
        }
        anchor += va * left;
        x += if left > 0.0 { va * left } else { 0.0 };
        now = end;
        if now >= time {
            break;
        }
    }
    // An interpolated row next to a step says nothing either.
    let near = (0..times.count() - 1).any(|phase| (times.end(phase) - time).abs() < 1e-2);
    (!near).then_some((x, v))
}
