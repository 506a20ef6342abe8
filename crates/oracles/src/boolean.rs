//! Boolean expressions over relations, in every place where something is decided by them: as the value of a variable, as the
//! condition of an expression, of equations that change the structure, and of when clauses.
//!
//! The relations compare states with a known course, functions of time and time itself. The oracle evaluates the expression
//! densely, finds the instants at which it changes by bisection, and knows from them how long it is true and how often
//! it becomes true. Cases in which an instant is not well determined are not used.

use std::rc::Rc;

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, Verdict};
use crate::run::Run;

const END: f64 = 2.0;
const SAMPLES: usize = 8000;
/// Changes of one relation are at least this far apart, and those of different ones.
const APART: f64 = 0.05;
const DISTINCT: f64 = 2e-3;
/// How far a signal is moved to see whether the instants depend on it too much.
const MOVED: f64 = 1e-4;

pub fn case(random: &mut Rng) -> Case {
    loop {
        let signals = Signals::new(random);
        let mut expression = Expression::new(random, &signals, 3);
        if random.bool() {
            let other = Expression::new(random, &signals, 1);
            expression = expression.join(random, other);
        }
        if let Some(truth) = expression.course() {
            return make(random, &signals, &expression, truth);
        }
    }
}

/// When the expression changes, and its truth at the start.
#[derive(Clone)]
struct Truth {
    first: bool,
    changes: Vec<f64>,
}

impl Truth {
    fn duration(&self) -> f64 {
        let ends: Vec<f64> = self.changes.iter().copied().chain([END]).collect();
        let starts = std::iter::once(0.0).chain(self.changes.iter().copied());
        let parts = starts.zip(ends).enumerate();
        parts.filter(|(k, _)| self.first ^ (k % 2 == 1)).map(|(_, (start, end))| end - start).sum()
    }

    fn rises(&self) -> usize {
        let is_rise = |k: &usize| self.first != k.is_multiple_of(2);
        (0..self.changes.len()).filter(is_rise).count()
    }

    /// The truth at a time that is not near to a change.
    fn at(&self, time: f64) -> Option<bool> {
        let is_near = self.changes.iter().any(|change| (change - time).abs() < 1e-3);
        let passed = self.changes.iter().filter(|&&change| change < time).count();
        (!is_near).then_some(self.first ^ (passed % 2 == 1))
    }
}

fn make(random: &mut Rng, signals: &Signals, expression: &Expression, truth: Truth) -> Case {
    let condition = &expression.text;
    // What functions decide is followed where it is the value of a variable; the condition of `when` has to make events.
    let is_direct = !expression.has_function && random.bool();
    let used = if is_direct { condition.as_str() } else { "d" };
    let structural = random.bool();
    let (capacitors, switch) = if structural {
        (
            "  Real v1(start = 1, fixed = true), v2(start = 0, fixed = true), i;\n",
            format!("  der(v1) = -i - v1 + 1;\n  der(v2) = i - v2;\n  if {used} then v1 = v2; else i = 0; end if;\n"),
        )
    } else {
        ("", String::new())
    };
    let text = format!(
        "{FUNCTIONS}
model M
{}  Real z(start = 0, fixed = true);
  Boolean d;
  Integer n(start = 0, fixed = true);
{capacitors}equation
{}  d = {condition};
  der(z) = if {used} then 1 else 0;
{switch}  when {used} then
    n = pre(n) + 1;
  end when;
end M;
",
        signals.declarations(),
        signals.equations(),
    );
    let settings = Settings { stop_time: Some(END), tolerance: Some(1e-7), ..Settings::default() };
    Case::complete(text, settings, move |run| judge(run, &truth))
}

fn judge(run: &Run, truth: &Truth) -> Verdict {
    let (expected, found) = (truth.duration(), run.end("z")?);
    let is_near = (found - expected).abs() <= 1e-4 * (1.0 + truth.changes.len() as f64);
    if !is_near {
        return Err(format!("z is {found} instead of {expected}; changes at {:?}", truth.changes));
    }
    let (rises, counted) = (truth.rises() as f64, run.end("n")?);
    if rises != counted {
        return Err(format!("n is {counted} instead of {rises}; changes at {:?}", truth.changes));
    }
    for (&time, &value) in run.result.time.iter().zip(run.column("d")?) {
        if truth.at(time).is_some_and(|truth| truth != (value != 0.0)) {
            return Err(format!("d is {value} at {time}; changes at {:?}", truth.changes));
        }
    }
    Ok(())
}

const FUNCTIONS: &str = "function above
  input Real u, c;
  output Boolean y;
algorithm
  y := u > c;
end above;

function steps
  input Real u, c;
  output Integer k;
algorithm
  k := 0;
  for i in 0:2 loop
    if u > c + 0.3*i then
      k := k + 1;
    end if;
  end for;
end steps;

function banded
  input Real u, c;
  output Boolean y;
protected
  Integer k;
algorithm
  k := 0;
  while u > c + 0.3*k and k < 4 loop
    k := k + 1;
  end while;
  y := k == 1 or k == 3;
end banded;
";

/// What relations compare: two states and a function of time.
#[derive(Clone, Copy)]
struct Signals {
    oscillation: [f64; 4],
    decay: [f64; 2],
    wave: [f64; 3],
}

impl Signals {
    fn new(random: &mut Rng) -> Self {
        let mut number = |low: f64, high: f64| low + (high - low) * random.f64();
        Self {
            oscillation: [number(0.5, 1.5), number(1.0, 6.0), number(0.0, 6.0), number(-0.3, 0.3)],
            decay: [number(0.5, 2.0), number(0.3, 2.0)],
            wave: [number(0.5, 1.5), number(1.0, 7.0), number(0.0, 6.0)],
        }
    }

    fn declarations(&self) -> String {
        let [a, _, p, c] = self.oscillation;
        let x = a * p.sin() + c;
        let [y, _] = self.decay;
        format!("  Real x(start = {x}, fixed = true), y(start = {y}, fixed = true), s;\n")
    }

    fn equations(&self) -> String {
        let [a, w, p, _] = self.oscillation;
        let [_, k] = self.decay;
        let [b, v, q] = self.wave;
        format!("  der(x) = {}*cos({w}*time + {p});\n  der(y) = -{k}*y;\n  s = {b}*sin({v}*time + {q});\n", a * w)
    }

    fn value(&self, signal: Signal, time: f64) -> f64 {
        let [a, w, p, c] = self.oscillation;
        let [y, k] = self.decay;
        let [b, v, q] = self.wave;
        match signal {
            Signal::X => a * (w * time + p).sin() + c,
            Signal::Y => y * (-k * time).exp(),
            Signal::S => b * (v * time + q).sin(),
            Signal::Time => time,
            Signal::Tooth => time.rem_euclid(0.7),
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Signal {
    X,
    Y,
    S,
    Time,
    Tooth,
}

impl Signal {
    fn text(self) -> &'static str {
        match self {
            Signal::X => "x",
            Signal::Y => "y",
            Signal::S => "s",
            Signal::Time => "time",
            Signal::Tooth => "mod(time, 0.7)",
        }
    }
}

/// The truth at a time, with signals moved by a little.
type Evaluation = Box<dyn Fn(f64, f64) -> bool>;

struct Expression {
    text: String,
    truth: Evaluation,
    /// The relations in it.
    atoms: Vec<(String, Rc<Evaluation>)>,
    has_function: bool,
}

impl Expression {
    fn new(random: &mut Rng, signals: &Signals, depth: u32) -> Self {
        if depth == 0 || random.u32(0..6) == 0 {
            return atom(random, signals);
        }
        let first = Self::new(random, signals, depth - 1);
        match random.u32(0..8) {
            0 => {
                let truth = first.truth;
                let text = format!("not {}", bracketed(&first.text));
                Self { text, truth: Box::new(move |t, e| !truth(t, e)), ..first }
            }
            1 => {
                let (second, third) = (Self::new(random, signals, depth - 1), Self::new(random, signals, depth - 1));
                let text =
                    format!("if {} then {} else {}", first.text, bracketed(&second.text), bracketed(&third.text));
                let has_function = first.has_function || second.has_function || third.has_function;
                let atoms = [first.atoms, second.atoms, third.atoms].concat();
                let (a, b, c) = (first.truth, second.truth, third.truth);
                let truth = Box::new(move |t, e| if a(t, e) { b(t, e) } else { c(t, e) });
                Self { text, truth, atoms, has_function }
            }
            _ => {
                let second = Self::new(random, signals, depth - 1);
                first.join(random, second)
            }
        }
    }

    fn join(self, random: &mut Rng, other: Self) -> Self {
        type Join = (&'static str, fn(bool, bool) -> bool);
        let joins: [Join; 6] = [
            ("and", |a, b| a && b),
            ("or", |a, b| a || b),
            ("and", |a, b| a && b),
            ("or", |a, b| a || b),
            ("==", |a, b| a == b),
            ("<>", |a, b| a != b),
        ];
        let (operator, join) = joins[random.usize(0..joins.len())];
        let text = format!("{} {operator} {}", bracketed(&self.text), bracketed(&other.text));
        let (a, b) = (self.truth, other.truth);
        let atoms = [self.atoms, other.atoms].concat();
        let has_function = self.has_function || other.has_function;
        Self { text, truth: Box::new(move |t, e| join(a(t, e), b(t, e))), atoms, has_function }
    }

    /// When it changes; `None` where that is not well determined.
    fn course(&self) -> Option<Truth> {
        let mut all = Vec::new();
        let mut atoms = self.atoms.clone();
        atoms.sort_by(|a, b| a.0.cmp(&b.0));
        // One relation may stand in several places.
        atoms.dedup_by(|a, b| a.0 == b.0);
        for (_, atom) in &atoms {
            let changes = changes(&|t| atom(t, 0.0));
            for moved in [-MOVED, MOVED] {
                let other = self::changes(&|t| atom(t, moved));
                let is_same = other.len() == changes.len()
                    && other.iter().zip(&changes).all(|(a, b)| (a - b).abs() < 20.0 * MOVED);
                if !is_same {
                    return None;
                }
            }
            if changes.windows(2).any(|pair| pair[1] - pair[0] < APART) {
                return None;
            }
            all.extend(changes);
        }
        all.sort_by(f64::total_cmp);
        let ends = [0.0, END];
        let is_near = |time: &f64| ends.iter().any(|end| (time - end).abs() < DISTINCT);
        if all.windows(2).any(|pair| pair[1] - pair[0] < DISTINCT) || all.iter().any(is_near) {
            return None;
        }
        let truth = |t: f64| (self.truth)(t, 0.0);
        let mut changes = changes(&truth);
        changes.retain(|&change| change < END);
        Some(Truth { first: truth(1e-9), changes })
    }
}

fn bracketed(text: &str) -> String {
    format!("({text})")
}

/// Where a function of time changes.
fn changes(truth: &dyn Fn(f64) -> bool) -> Vec<f64> {
    // A change just behind the end may be found before it.
    let step = (END + 4.0 * DISTINCT) / SAMPLES as f64;
    // Not at the grid points themselves: rounded numbers of the model lie on them.
    let time = |k: usize| if k == 0 { 0.0 } else { (k as f64 - 0.37) * step };
    let mut found = Vec::new();
    for k in 0..SAMPLES {
        let (mut low, mut high) = (time(k), time(k + 1));
        let before = truth(low);
        if truth(high) == before {
            continue;
        }
        while high - low > 1e-14 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            *(if truth(middle) == before { &mut low } else { &mut high }) = middle;
        }
        found.push(high);
    }
    found
}

/// A number with few digits.
fn short(random: &mut Rng, low: f64, high: f64) -> f64 {
    // Without a negative zero.
    ((low + (high - low) * random.f64()) * 100.0).round() / 100.0 + 0.0
}

fn atom(random: &mut Rng, signals: &Signals) -> Expression {
    let signals = *signals;
    let signal = [Signal::X, Signal::X, Signal::Y, Signal::S, Signal::Time, Signal::Tooth][random.usize(0..6)];
    let (low, high) = match signal {
        Signal::X | Signal::S => (-1.0, 1.0),
        Signal::Y => (0.1, 1.5),
        Signal::Time => (0.1, 1.9),
        Signal::Tooth => (0.05, 0.65),
    };
    let c = short(random, low, high);
    let number = if c < 0.0 { format!("({c})") } else { c.to_string() };
    let name = signal.text();
    // Time itself has no error.
    let exact = matches!(signal, Signal::Time | Signal::Tooth);
    let value = move |t: f64, e: f64| signals.value(signal, t) + if exact { 0.0 } else { e };
    let kind = random.u32(0..12);
    let (text, truth, has_function): (String, Evaluation, bool) = match kind {
        0..=3 => {
            let greater = random.bool();
            let operator = [["<", "<="], [">", ">="]][usize::from(greater)][random.usize(0..2)];
            let truth = move |t: f64, e: f64| if greater { value(t, e) > c } else { value(t, e) < c };
            (format!("{name} {operator} {c}"), Box::new(truth), false)
        }
        4 => (format!("sign({name} - {number}) > 0"), Box::new(move |t, e| value(t, e) > c), false),
        5 => {
            let d = short(random, 0.1, 0.5);
            (format!("abs({name} - {number}) < {d}"), Box::new(move |t, e| (value(t, e) - c).abs() < d), false)
        }
        6 => {
            let text = format!("(if noEvent({name} > {c}) then 1 else 0) > 0.5");
            (text, Box::new(move |t, e| value(t, e) > c), false)
        }
        // A relation whose operand is dear, so that it is not evaluated in a branch that is not active.
        7 => {
            let text = format!("sin({name})*exp(0.1*{name}) - sin({number})*exp(0.1*{number}) > 0");
            let dear = |u: f64| u.sin() * (0.1 * u).exp();
            (text, Box::new(move |t, e| dear(value(t, e)) > dear(c)), false)
        }
        8 => {
            let bound = c + 0.1 + 0.5 * (short(random, low, high) - low);
            let text = format!("(if {name} > {c} then {name} else 2*{number} - {name}) > {bound}");
            let folded = move |u: f64| if u > c { u } else { 2.0 * c - u };
            (text, Box::new(move |t, e| folded(value(t, e)) > bound), false)
        }
        // Not the number of a relation in `noEvent`, which would be the same expression.
        9 => {
            let c = c + 0.005;
            (format!("above({name}, {c})"), Box::new(move |t, e| value(t, e) > c), true)
        }
        10 => {
            let least = random.u32(1..4);
            let bound = c + 0.3 * f64::from(least - 1);
            (format!("steps({name}, {c}) >= {least}"), Box::new(move |t, e| value(t, e) > bound), false)
        }
        _ => {
            let level = move |u: f64| (0..4).find(|&k| u <= c + 0.3 * f64::from(k)).unwrap_or(4);
            let truth = move |t: f64, e: f64| matches!(level(value(t, e)), 1 | 3);
            (format!("banded({name}, {c})"), Box::new(truth), true)
        }
    };
    let shared = Rc::new(truth);
    let own = shared.clone();
    let atoms = vec![(text.clone(), shared)];
    Expression { text, truth: Box::new(move |t, e| own(t, e)), atoms, has_function }
}
