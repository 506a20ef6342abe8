//! Pulses in loops whose number of turns is known at run time only, much shorter than the distance of output points: windows
//! that a state, a function of time or the unknown of an equation passes quickly. Each passage is counted by a when clause, and
//! found here from where the closed form passes the middle of a window.

use std::fmt::Write;

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, SOLVERS, Verdict};
use crate::run::Run;
use crate::signal::{between, magnitude};

/// The variable `x` and its closed form.
struct Motion {
    declared: String,
    equations: String,
    position: fn(f64, f64) -> f64,
    rate: f64,
    /// Whether methods of a fixed step give it without error.
    is_exact: bool,
}

fn motion(random: &mut Rng) -> Motion {
    let rate = magnitude(random, 0.5, 6.0);
    let plain = |declared: &str, equations: String, position, is_exact| Motion {
        declared: declared.to_owned(),
        equations,
        position,
        rate,
        is_exact,
    };
    let swing = format!("  der(q) = {rate:e}*p;\n  der(p) = -{rate:e}*q;\n");
    match random.u8(0..8) {
        0 | 1 => plain("Real x(start = 0, fixed = true)", format!("  der(x) = {rate:e};\n"), |t, w| w * t, true),
        2 => plain(
            "Real x(start = 0, fixed = true), p(start = 1, fixed = true)",
            format!("  der(x) = {rate:e}*p;\n  der(p) = -{rate:e}*x;\n"),
            |t, w| (w * t).sin(),
            false,
        ),
        3 => {
            plain("Real x(start = 1, fixed = true)", format!("  der(x) = -{rate:e}*x;\n"), |t, w| (-w * t).exp(), false)
        }
        4 => plain("Real x", format!("  x = {rate:e}*time;\n"), |t, w| w * t, true),
        5 => plain("Real x", format!("  x = sin({rate:e}*time) + 0.2*time;\n"), |t, w| (w * t).sin() + 0.2 * t, true),
        6 => plain(
            "Real x, q(start = 0, fixed = true), p(start = 1, fixed = true)",
            format!("{swing}  x = q*(1 + p);\n"),
            |t, w| (w * t).sin() * (1.0 + (w * t).cos()),
            false,
        ),
        _ => plain(
            "Real x, q(start = 0, fixed = true), p(start = 1, fixed = true)",
            format!("{swing}  x + 0.3*x^3 = q + 0.3*q^3;\n"),
            |t, w| (w * t).sin(),
            false,
        ),
    }
}

/// The windows are this many values of `x` around places, or begin there.
struct Window {
    statements: String,
    functions: &'static str,
    /// The second place of each turn, if there is one, behind the first.
    second: Option<f64>,
}

const NEAR: &str = "  function near
    input Real x, place, width;
    output Boolean y;
  algorithm
    y := abs(x - place) < width;
  end near;
";

const DISTANCE: &str = "  function distance
    input Real x, place;
    output Real y;
  algorithm
    y := x - place;
    while y < 0 loop
      y := -y;
    end while;
  end distance;
";

fn window(random: &mut Rng, width: f64) -> Window {
    let w = format!("{width:e}");
    let plain = |statements: String| Window { statements, functions: "", second: None };
    let turns = |body: String| format!("  for i in 1:n loop\n    {body}\n  end for;\n");
    let found = |condition: String| turns(format!("if {condition} then\n      b := true;\n    end if;"));
    match random.u8(0..14) {
        0 => plain(found(format!("abs(x - v[i]) < {w}"))),
        1 => plain(found(format!("x > v[i] - {w} and x < v[i] + {w}"))),
        2 => plain(found(format!("not (x <= v[i] - {w} or x >= v[i] + {w})"))),
        3 => plain(format!(
            "  k := 1;\n  while k <= n loop\n    if abs(x - v[k]) < {w} then\n      b := true;\n    end if;\n    k := k + 1;\n  \
             end while;\n"
        )),
        4 => {
            let apart = between(random, 0.05, 0.1);
            let body = format!(
                "for j in 1:2 loop\n      if abs(x - v[i] - (j - 1)*{apart:e}) < {w} then\n        b := true;\n      end \
                 if;\n    end for;"
            );
            Window { second: Some(apart), ..plain(turns(body)) }
        }
        5 => Window { functions: NEAR, ..plain(found(format!("near(x, v[i], {w})"))) },
        6 => Window { functions: DISTANCE, ..plain(found(format!("distance(x, v[i]) < {w}"))) },
        7 => plain(format!("  b := sum(if abs(x - v[i]) < {w} then 1 else 0 for i in 1:n) > 0;\n")),
        8 => plain(turns(format!(
            "if x > v[i] - {w} then\n      if x < v[i] + {w} then\n        b := true;\n      end if;\n    end if;"
        ))),
        9 => plain(turns(format!("b := abs(x - v[i]) < {w};\n    if b then\n      break;\n    end if;"))),
        10 => plain(found(format!("(if noEvent(x > v[i]) then x - v[i] else v[i] - x) < {w}"))),
        11 => plain(turns(format!(
            "if integer((x - v[i])/100 + 1) > integer((x - v[i] - {w})/100 + 1) then\n      b := true;\n    end if;"
        ))),
        12 => plain(format!(
            "  k := n;\n  while k > 0 and not b loop\n    b := abs(x - v[k]) < {w};\n    k := k - 1;\n  end while;\n"
        )),
        _ => plain(found(format!("(x - v[i] - {w})*(x - v[i] + {w}) < 0"))),
    }
}

pub fn case(random: &mut Rng) -> Case {
    loop {
        if let Some(case) = clear_case(random) {
            return case;
        }
    }
}

/// A case, unless the passages are not clear.
fn clear_case(random: &mut Rng) -> Option<Case> {
    let motion = motion(random);
    let stop = between(random, 0.5, 3.0);
    let width = magnitude(random, 1e-6, 1e-3) * stop * motion.rate.min(1.0);
    let window = window(random, width);
    let at = |t: f64| (motion.position)(t, motion.rate);
    let turns = random.usize(1..7);
    // A turn more from some time on.
    let later = random.bool().then(|| between(random, 0.2, 0.8) * stop);
    let places = places(random, turns, &at, stop);
    let passages = passages(&places, window.second, &at, stop, later)?;
    let number = match later {
        Some(time) => format!("{} + (if time > {time:e} then 1 else 0)", turns - 1),
        None => match random.u8(0..3) {
            0 => format!("{turns} + integer(time/1000)"),
            1 => format!("integer({turns}.5 + 0.1*sin(3*time))"),
            _ => format!("{turns} - pre(m)"),
        },
    };
    let mut levels = String::new();
    for (k, place) in places.iter().enumerate() {
        let _ = write!(levels, "{}{place:e}", if k > 0 { ", " } else { "" });
    }
    let Motion { declared, equations, position, rate, is_exact } = motion;
    let Window { statements, functions, .. } = window;
    let text = format!(
        "model M
{functions}  {declared};
  Integer m(start = 0, fixed = true), n = {number};
  parameter Real v[{turns}] = {{{levels}}};
  Boolean b;
  Integer k, c(start = 0, fixed = true);
  discrete Real last(start = 0, fixed = true);
equation
{equations}  when time > 1000 then
    m = 1;
  end when;
  when b then
    c = pre(c) + 1;
    last = time;
  end when;
algorithm
  b := false;
  k := 0;
{statements}end M;
"
    );
    let tolerance = magnitude(random, 1e-9, 1e-5);
    let grids = [1, 2, 3, 5, 10, 11, 50, 100, 500];
    let fixed = ["euler", "rk4", "implicit-euler", "linearly-implicit-euler"];
    let (solver, step) = match is_exact && random.u8(0..3) == 0 {
        true => (fixed[random.usize(0..fixed.len())], Some(stop / random.usize(3..50) as f64)),
        false => (SOLVERS[random.usize(0..SOLVERS.len())], None),
    };
    let settings = Settings {
        stop_time: Some(stop),
        tolerance: Some(tolerance),
        intervals: Some(grids[random.usize(0..grids.len())]),
        solver: Some(solver.to_owned()),
        step,
        ..Settings::default()
    };
    let allowed = 1e4 * tolerance + 4.0 * width;
    Some(Case::complete(text, settings, move |run| judge(run, &passages, &|t| position(t, rate), allowed)))
}

/// Places that `x` passes, and some that it does not.
fn places(random: &mut Rng, count: usize, position: &dyn Fn(f64) -> f64, stop: f64) -> Vec<f64> {
    (0..count)
        .map(|_| match random.u8(0..5) {
            0 => between(random, -1.0, 1.5),
            _ => position(between(random, 0.0, stop)),
        })
        .collect()
}

/// When `x` passes the windows, in order; `None` where it comes so near to one that it is not clear, or two are passed together.
fn passages(
    places: &[f64],
    second: Option<f64>,
    position: &dyn Fn(f64) -> f64,
    stop: f64,
    later: Option<f64>,
) -> Option<Vec<f64>> {
    const POINTS: u32 = 4000;
    /// In terms of `x`.
    const CLEAR: f64 = 0.02;
    let time = |k: u32| stop * f64::from(k) / f64::from(POINTS);
    let mut found: Vec<f64> = Vec::new();
    for (turn, &place) in places.iter().enumerate() {
        let is_last = turn + 1 == places.len();
        for place in std::iter::once(place).chain(second.map(|apart| place + apart)) {
            let distance = |t: f64| position(t) - place;
            let ends = [0.0, stop].into_iter().chain(later);
            if ends.into_iter().any(|t| distance(t).abs() < CLEAR) {
                return None;
            }
            for k in 1..=POINTS {
                let (mut low, mut high) = (time(k - 1), time(k));
                let (before, after) = (distance(low), distance(high));
                if k < POINTS {
                    // Near a turning point.
                    let next = distance(time(k + 1));
                    if (after - before) * (next - after) <= 0.0 && after.abs() < CLEAR {
                        return None;
                    }
                }
                if before * after > 0.0 {
                    continue;
                }
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    *(if distance(middle) * before > 0.0 { &mut low } else { &mut high }) = middle;
                }
                if !is_last || later.is_none_or(|time| high > time) {
                    found.push(high);
                }
            }
        }
    }
    found.sort_by(f64::total_cmp);
    // They must be apart by more than the windows are wide.
    found.windows(2).all(|pair| pair[1] - pair[0] > 0.02 * stop).then_some(found)
}

/// All passages were seen, the last one where `x` is in its window.
fn judge(run: &Run, passages: &[f64], position: &dyn Fn(f64) -> f64, allowed: f64) -> Verdict {
    let count = run.end("c")?;
    if count != passages.len() as f64 {
        return Err(format!("{count} pulses were seen, there are {}: {passages:?}", passages.len()));
    }
    let (last, expected) = (run.end("last")?, passages.last().copied().unwrap_or(0.0));
    match (position(last) - position(expected)).abs() <= allowed {
        true => Ok(()),
        false => Err(format!("the last pulse was at {last} instead of {expected} (± {allowed:e})")),
    }
}
