//! Relations inside of loops whose number of turns is known at run time only: thresholds that are counted, windows, subtraction
//! until little is left, the first one that fails, sums and ranks. Their integral and the number of their changes are found
//! here by dense evaluation of the closed form, with bisection where it changes.

use std::rc::Rc;

use fastrand::Rng;

use crate::case::{Case, Verdict};
use crate::run::Run;
use crate::signal::{between, magnitude, settings};

type Signal = Rc<dyn Fn(f64) -> f64>;
type Count = Rc<dyn Fn(f64) -> i64>;

/// A loop that computes the Integer `k` from `x`, and the same in closed form.
struct Loop {
    statements: String,
    value: Count,
    /// Its changes are counted: not where relations are differences of rounded terms, whose sign rounding decides for a while.
    is_counted: bool,
}

pub fn case(random: &mut Rng) -> Case {
    let (declared, equations, signal) = signal(random);
    let turns = random.usize(1..6);
    let levels = levels(random, turns);
    let Loop { statements, value, is_counted } = body(random, &levels, signal);
    let texts: Vec<String> = levels.iter().map(|level| format!("{level:e}")).collect();
    let turns_text = match random.u8(0..3) {
        0 => format!("Integer n(start = {turns}, fixed = true)"),
        1 => format!("Integer n = {turns} + integer(time/1000)"),
        _ => format!("Integer n = integer({turns}.5 + 0.1*sin(3*time))"),
    };
    let held = if turns_text.contains("fixed") { "  when time > 1000 then\n    n = 1;\n  end when;\n" } else { "" };
    let text = format!(
        "model M
{declared}  {turns_text};
  parameter Real v[{turns}] = {{{}}};
  Integer k, c(start = 0, fixed = true);
  Real w, s, z(start = 0, fixed = true);
equation
{equations}{held}  der(z) = w;
  when change(k) then
    c = pre(c) + 1;
  end when;
algorithm
  k := 0;
  s := x;
{statements}  w := k;
end M;
",
        texts.join(", ")
    );
    let stop = between(random, 0.5, 2.0);
    let (settings, tolerance) = settings(random, stop);
    Case::complete(text, settings, move |run| judge(run, &*value, is_counted, stop, tolerance))
}

/// The variable `x` and its closed form.
fn signal(random: &mut Rng) -> (String, String, Signal) {
    let rate = magnitude(random, 0.5, 12.0);
    match random.u8(0..4) {
        0 => {
            let text = "  Real x(start = 0, fixed = true);\n".to_owned();
            (text, format!("  der(x) = {rate:e};\n"), Rc::new(move |t| rate * t))
        }
        1 => {
            let text = "  Real x(start = 0, fixed = true), speed(start = 1, fixed = true);\n".to_owned();
            let equations = format!("  der(x) = {rate:e}*speed;\n  der(speed) = -{rate:e}*x;\n");
            (text, equations, Rc::new(move |t| (rate * t).sin()))
        }
        2 => (
            format!("  Real x = sin({rate:e}*time) + 0.2*time;\n"),
            String::new(),
            Rc::new(move |t| (rate * t).sin() + 0.2 * t),
        ),
        _ => {
            let text = "  Real x(start = 1, fixed = true);\n".to_owned();
            (text, format!("  der(x) = -{rate:e}*x;\n"), Rc::new(move |t| (-rate * t).exp()))
        }
    }
}

/// Thresholds that are apart, in any order.
fn levels(random: &mut Rng, count: usize) -> Vec<f64> {
    let mut levels: Vec<f64> = Vec::new();
    while levels.len() < count {
        let level = between(random, -0.9, 0.9);
        if levels.iter().all(|other| (other - level).abs() > 5e-3) && level.abs() > 1e-2 {
            levels.push(level);
        }
    }
    levels
}

fn body(random: &mut Rng, levels: &[f64], signal: Signal) -> Loop {
    let v: Vec<f64> = levels.to_vec();
    let width = magnitude(random, 3e-3, 0.3);
    let step = between(random, 0.11, 0.4);
    let offset = between(random, 0.01, 0.99);
    let kind = random.u8(0..10);
    let (statements, of): (String, Rc<dyn Fn(f64) -> i64>) = match kind {
        0 => (
            "  for i in 1:n loop\n    if x > v[i] then\n      k := k + i;\n    end if;\n  end for;\n".to_owned(),
            Rc::new(move |x| (1..).zip(&v).filter(|(_, level)| x > **level).map(|(i, _)| i).sum()),
        ),
        1 => (
            format!(
                "  for i in 1:n loop\n    k := k + (if x > v[i] and x < v[i] + {width:e} then 1 else 0);\n  end for;\n"
            ),
            Rc::new(move |x| v.iter().filter(|&&level| x > level && x < level + width).count() as i64),
        ),
        2 => (
            format!("  while s > {step:e} loop\n    s := s - {step:e};\n    k := k + 1;\n  end while;\n"),
            Rc::new(move |x| ((x / step).ceil() as i64 - 1).max(0)),
        ),
        3 => (
            "  for i in 1:n loop\n    if x < v[i] then\n      break;\n    end if;\n    k := i;\n  end for;\n"
                .to_owned(),
            Rc::new(move |x| v.iter().take_while(|&&level| x >= level).count() as i64),
        ),
        4 => (
            "  k := sum(if x > v[i] then i*i else 0 for i in 1:n);\n".to_owned(),
            Rc::new(move |x| (1..).zip(&v).filter(|(_, level)| x > **level).map(|(i, _): (i64, _)| i * i).sum()),
        ),
        5 => (
            format!("  for i in 1:n loop\n    k := k + integer(x/{step:e} + i*{offset:e});\n  end for;\n"),
            Rc::new(move |x| (1..=v.len()).map(|i| (x / step + i as f64 * offset).floor() as i64).sum()),
        ),
        6 => (
            // Wherever one pair changes its order, the pair the other way round does so too.
            "  for i in 1:n loop\n    for j in 1:n loop\n      if v[i]*x + v[j]^2 > v[j]*x + v[i]^2 then\n        \
             k := k + i;\n      end if;\n    end for;\n  end for;\n"
                .to_owned(),
            Rc::new(move |x| {
                let pairs = v.iter().enumerate().flat_map(|(i, a)| v.iter().map(move |b| (i as i64 + 1, *a, *b)));
                pairs.filter(|(_, a, b)| a * x + b * b > b * x + a * a).map(|(i, ..)| i).sum()
            }),
        ),
        7 => (
            // Relations of two loops that change together.
            "  for i in 1:n loop\n    k := k + (if x > v[i] then i else 0);\n  end for;\n  for i in 1:n loop\n    k := k + (if \
             x < v[i] then i else 0);\n  end for;\n"
                .to_owned(),
            Rc::new(move |_| (1..=v.len() as i64).sum()),
        ),
        8 => (
            "  for i in 1:n loop\n    k := k + (if x > v[i] then i else 0);\n  end for;\n  for i in 1:n loop\n    k := k + (if \
             2*x < 2*v[i] then 1 else 0);\n  end for;\n"
                .to_owned(),
            Rc::new(move |x| (1..).zip(&v).map(|(i, &level)| if x > level { i } else { 1 }).sum()),
        ),
        _ => (
            "  for i in 1:n loop\n    if not x <= v[i] or noEvent(i == 0) then\n      k := k + 1;\n    elseif x + 1 < \
             v[i] then\n      k := k + 2;\n    end if;\n  end for;\n"
                .to_owned(),
            Rc::new(move |x| {
                v.iter()
                    .map(|&level| {
                        if x > level {
                            1
                        } else if x + 1.0 < level {
                            2
                        } else {
                            0
                        }
                    })
                    .sum()
            }),
        ),
    };
    Loop { statements, value: Rc::new(move |t| of(signal(t))), is_counted: kind != 6 }
}

/// The changes up to the end, and the integral.
fn history(value: &dyn Fn(f64) -> i64, stop: f64) -> (Vec<f64>, f64) {
    const POINTS: u32 = 100_000;
    let (mut changes, mut integral, mut begin) = (Vec::new(), 0.0, 0.0);
    let mut now = value(0.0);
    for k in 1..=POINTS {
        let mut high = stop * f64::from(k) / f64::from(POINTS);
        let next = value(high);
        if next == now {
            continue;
        }
        let mut low = stop * f64::from(k - 1) / f64::from(POINTS);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            *(if value(middle) == now { &mut low } else { &mut high }) = middle;
        }
        integral += now as f64 * (high - begin);
        changes.push(high);
        (begin, now) = (high, next);
    }
    (changes, integral + now as f64 * (stop - begin))
}

fn judge(run: &Run, value: &dyn Fn(f64) -> i64, is_counted: bool, stop: f64, tolerance: f64) -> Verdict {
    let (changes, integral) = history(value, stop);
    let mut close = changes.windows(2).map(|pair| pair[1] - pair[0]);
    // What changes together, and at the ends, may be counted either way.
    let is_clear = close.all(|gap| gap > 1e-3 * stop)
        && changes.iter().all(|&change| change > 1e-4 * stop && stop - change > 1e-3 * stop);
    let count = run.end("c")?;
    if is_counted && is_clear && count != changes.len() as f64 {
        return Err(format!("{count} changes were seen, there are {}", changes.len()));
    }
    let z = run.end("z")?;
    let largest = 1.0 + integral.abs();
    match (z - integral).abs() <= (20.0 * tolerance * (1.0 + changes.len() as f64) + 1e-6) * largest {
        true => Ok(()),
        false => Err(format!("z ends at {z} instead of {integral}, tolerance {tolerance:e}")),
    }
}
