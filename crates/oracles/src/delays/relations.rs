//! What relations and roundings of delayed signals decide, and when: the operator stands inside of the relation, in conditions
//! of equations, when clauses and modes. Against a dense evaluation of the signal.

use fastrand::Rng;

use crate::case::Case;
use crate::signal::{Signal, between, company, magnitude, settings};

/// What is decided by the delayed value.
#[derive(Clone, Copy)]
enum Decision {
    Above(f64),
    Below(f64),
    /// Nearer to a level than a width.
    Near(f64, f64),
    /// The fractional part of a multiple is large.
    Upper(f64),
    /// The largest whole number below a multiple.
    Whole(f64),
}

impl Decision {
    fn random(random: &mut Rng, size: f64) -> Self {
        let level = size * between(random, -0.9, 0.9);
        let width = size * between(random, 0.1, 0.5);
        match random.u32(0..6) {
            0 | 1 => Decision::Above(level),
            2 => Decision::Below(level),
            3 => Decision::Near(level, width),
            4 => Decision::Upper(1.0 / width),
            _ => Decision::Whole(1.0 / width),
        }
    }

    fn text(self, delayed: &str) -> String {
        match self {
            Decision::Above(level) => format!("{delayed} > {level:e}"),
            Decision::Below(level) => format!("{delayed} < {level:e}"),
            Decision::Near(level, width) => format!("abs({delayed} - ({level:e})) < {width:e}"),
            Decision::Upper(factor) => format!("mod({factor:e}*{delayed}, 1) > 0.6"),
            Decision::Whole(factor) => format!("floor({factor:e}*{delayed})"),
        }
    }

    fn at(self, value: f64) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self {
            Decision::Above(level) => truth(value > level),
            Decision::Below(level) => truth(value < level),
            Decision::Near(level, width) => truth((value - level).abs() < width),
            Decision::Upper(factor) => truth((factor * value).rem_euclid(1.0) > 0.6),
            Decision::Whole(factor) => (factor * value).floor(),
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Decision::Whole(_))
    }
}

/// A signal behind a delay.
struct Delayed {
    /// `None`: time itself, or a state that grows as it does.
    signal: Option<Signal>,
    delay: f64,
}

impl Delayed {
    fn at(&self, t: f64) -> f64 {
        let past = (t - self.delay).max(0.0);
        self.signal.as_ref().map_or(past, |signal| signal.at(past))
    }
}

/// The instants at which a decision changes, and what holds from there on.
struct Course {
    first: f64,
    changes: Vec<(f64, f64)>,
    /// How much the integral may be off, for an error of one of the value.
    sensitivity: f64,
}

impl Course {
    const POINTS: usize = 40_000;

    /// `None` where the value comes so close to what decides that `margin` matters.
    fn new(delayed: &Delayed, decision: Decision, margin: f64) -> Option<Self> {
        let time = |k: usize| k as f64 / Self::POINTS as f64;
        let now = |t: f64| decision.at(delayed.at(t));
        let clear = |value: f64| decision.at(value - margin) == decision.at(value + margin);
        let mut course = Self { first: now(0.0), changes: Vec::new(), sensitivity: 0.0 };
        if delayed.signal.is_some() && !clear(delayed.at(0.0)) {
            return None;
        }
        // An instant at the very end lies on neither side of it.
        if !clear(delayed.at(1.0)) {
            return None;
        }
        let mut last = course.first;
        for k in 1..=Self::POINTS {
            let [before, here, after] = [k - 1, k, k + 1].map(|k| delayed.at(time(k)));
            let is_extreme = (here - before) * (after - here) <= 0.0;
            if delayed.signal.is_some() && is_extreme && !clear(here) {
                return None;
            }
            let next = now(time(k));
            if next == last {
                continue;
            }
            let (mut low, mut high) = (time(k - 1), time(k));
            for _ in 0..50 {
                let middle = 0.5 * (low + high);
                if now(middle) == last { low = middle } else { high = middle }
            }
            // More than one change between two points.
            if now(high) != next {
                return None;
            }
            let slope = (delayed.at(high + 1e-6) - delayed.at(high - 1e-6)).abs() / 2e-6;
            course.sensitivity += (next - last).abs() / slope.max(1e-9);
            course.changes.push((high, next));
            last = next;
        }
        Some(course)
    }

    fn integral(&self, t: f64) -> f64 {
        let (mut from, mut value, mut sum) = (0.0, self.first, 0.0);
        for &(time, next) in self.changes.iter().take_while(|change| change.0 < t) {
            sum += value * (time - from);
            (from, value) = (time, next);
        }
        sum + value * (t - from)
    }

    fn rises(&self) -> usize {
        let mut last = self.first;
        self.changes.iter().filter(|change| std::mem::replace(&mut last, change.1) < change.1).count()
    }
}

pub fn case(random: &mut Rng) -> Case {
    loop {
        if let Some(case) = attempt(random) {
            return case;
        }
    }
}

fn attempt(random: &mut Rng) -> Option<Case> {
    let kind = random.u32(0..5);
    let signal = (kind > 1).then(|| {
        let jumps = random.bool();
        Signal::random(random, 60.0, jumps)
    });
    let (of, declared_state, state_equation) = match (kind, &signal) {
        (_, Some(signal)) if random.bool() => (format!("({})", signal.text), String::new(), ""),
        (_, Some(signal)) => ("u".into(), format!("  Real u = {};\n", signal.text), ""),
        (0, None) => ("time".into(), String::new(), ""),
        _ => ("s".into(), "  Real s(start = 0, fixed = true);\n".into(), "  der(s) = 1;\n"),
    };
    let delay = if random.bool() { magnitude(random, 1e-3, 0.6) } else { 0.05 * f64::from(random.u32(1..12)) };
    let size = signal.as_ref().map_or(1.0, Signal::size);
    let delayed = Delayed { signal, delay };
    let decision = match Decision::random(random, size) {
        // Equal steps meet events of the delay.
        _ if kind < 2 && random.bool() => Decision::Above(0.05 * f64::from(random.u32(1..12))),
        decision => decision,
    };
    let (settings, tolerance) = settings(random, 1.0);
    let error = 20.0 * tolerance * size + 1e-9 * size;
    let course = Course::new(&delayed, decision, 10.0 * error)?;
    let relation = decision.text(&format!("delay({of}, {delay:e})"));
    let (declared, equations) = company(random);
    let (decided, rate) = match (decision.is_number(), random.u32(0..3)) {
        (true, 0) => ("", relation.clone()),
        (true, _) => ("  Real f;\n", "f".into()),
        (false, 0) => ("", format!("if {relation} then 1 else 0")),
        (false, _) => ("  Boolean c;\n", "if c then 1 else 0".into()),
    };
    let assigned = match decided {
        "" => String::new(),
        _ if decision.is_number() => format!("  f = {relation};\n"),
        _ => format!("  c = {relation};\n"),
    };
    // The condition of the when clause is a relation of its own, or the variable.
    let counts = !decision.is_number() && random.bool();
    let condition = if decided.is_empty() || random.bool() { relation.as_str() } else { "c" };
    let counter = if counts { format!("  when {condition} then n = pre(n) + 1; end when;\n") } else { String::new() };
    // Two flywheels that run free until the condition joins them.
    let joins = !decision.is_number() && course.first < 0.5 && random.u32(0..3) == 0;
    let (wheels, clutch) = match joins {
        true => (
            "  Real w1(start = 6, fixed = true), w2(start = 0, fixed = true), torque;\n  Boolean joined;\n",
            format!(
                "  der(w1) = -torque;\n  2*der(w2) = torque;\n  joined = {relation};\n  if joined then w1 = w2; else torque = 0; end if;\n"
            ),
        ),
        false => ("", String::new()),
    };
    let declared_count = if counts { "  Integer n(start = 0, fixed = true);\n" } else { "" };
    let text = format!(
        "model M\n{declared}{declared_state}{decided}{declared_count}{wheels}  Real x(start = 0, fixed = true);\nequation\n{equations}{state_equation}{assigned}{counter}{clutch}  der(x) = {rate};\nend M;\n"
    );
    let allowed = error * course.sensitivity + 100.0 * tolerance;
    Some(Case::complete(text, settings, move |run| {
        run.follows("x", |t| course.integral(t), allowed)?;
        if counts && (run.end("n")? - course.rises() as f64).abs() > 0.5 {
            return Err(format!("it rises {} times instead of {}", run.end("n")?, course.rises()));
        }
        if joins {
            let expected = if course.rises() > 0 { [2.0, 2.0] } else { [6.0, 0.0] };
            for (name, expected) in ["w1", "w2"].into_iter().zip(expected) {
                let found = run.end(name)?;
                if (found - expected).abs() > 1e-6 + tolerance {
                    return Err(format!("{name} ends at {found} instead of {expected}"));
                }
            }
        }
        Ok(())
    }))
}
