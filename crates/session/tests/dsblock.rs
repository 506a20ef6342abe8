//! The subroutine that `Document::Dsblock` writes computes what the simulator computes: it is read by a small interpreter and called by an
//! integrator of fixed steps that locates events by bisection, as DSblock was meant.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use compile::Signals;
use results::MemorySink;
use session::{Disk, Document, Ending, EventLog, Request, Session, Settings};

enum Expr {
    Number(f64),
    Slot(usize),
    Call(fn(f64) -> f64, Box<Expr>),
    Unary(fn(f64) -> f64, Box<Expr>),
    Binary(fn(f64, f64) -> f64, Box<Expr>, Box<Expr>),
}

enum Statement {
    Assign(usize, Expr),
    /// Branches with their conditions; the last one may have none.
    If(Vec<(Option<Expr>, Vec<Statement>)>),
    HandleEvent(usize),
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// Values have places by their names; elements of arrays are names such as `QM(2)`.
#[derive(Default)]
struct Names {
    slots: HashMap<String, usize>,
}

impl Names {
    fn slot(&mut self, name: &str) -> usize {
        let next = self.slots.len();
        *self.slots.entry(name.to_owned()).or_insert(next)
    }
}

struct Parser<'t, 'n> {
    rest: &'t str,
    names: &'n mut Names,
}

type Operators = [(&'static str, fn(f64, f64) -> f64)];

impl Parser<'_, '_> {
    fn expression(text: &str, names: &mut Names) -> Expr {
        let mut parser = Parser { rest: text, names };
        let expression = parser.level(0);
        assert!(parser.rest.trim().is_empty(), "`{}` is left of `{text}`", parser.rest);
        expression
    }

    fn takes(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        // `*` is no half of `**`.
        let found = rest.strip_prefix(token).filter(|behind| token != "*" || !behind.starts_with('*'));
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    fn level(&mut self, level: usize) -> Expr {
        let levels: [&Operators; 5] = [
            &[(".OR.", |a, b| truth(a != 0.0 || b != 0.0))],
            &[(".AND.", |a, b| truth(a != 0.0 && b != 0.0))],
            &[
                (".LT.", |a, b| truth(a < b)),
                (".LE.", |a, b| truth(a <= b)),
                (".GT.", |a, b| truth(a > b)),
                (".GE.", |a, b| truth(a >= b)),
                (".NEQV.", |a, b| truth(a != b)),
                (".EQV.", |a, b| truth(a == b)),
                (".NE.", |a, b| truth(a != b)),
                (".EQ.", |a, b| truth(a == b)),
            ],
            &[("+", |a, b| a + b), ("-", |a, b| a - b)],
            &[("*", |a, b| a * b), ("/", |a, b| a / b)],
        ];
        if level == 2 && self.takes(".NOT.") {
            return Expr::Unary(|a| truth(a == 0.0), Box::new(self.level(2)));
        }
        if level == 3 && self.takes("-") {
            let first = Expr::Unary(|a| -a, Box::new(self.level(4)));
            return self.chain(first, 3, levels[3]);
        }
        match levels.get(level) {
            Some(operators) => {
                let first = self.level(level + 1);
                self.chain(first, level, operators)
            }
            None => self.power(),
        }
    }

    fn chain(&mut self, mut left: Expr, level: usize, operators: &Operators) -> Expr {
        while let Some((_, operator)) = operators.iter().find(|(token, _)| self.takes(token)) {
            left = Expr::Binary(*operator, Box::new(left), Box::new(self.level(level + 1)));
        }
        left
    }

    fn power(&mut self) -> Expr {
        let base = self.primary();
        match self.takes("**") {
            true => Expr::Binary(f64::powf, Box::new(base), Box::new(self.primary())),
            false => base,
        }
    }

    fn primary(&mut self) -> Expr {
        if self.takes("(") {
            let inner = self.level(0);
            assert!(self.takes(")"), "{}", self.rest);
            return inner;
        }
        for (token, value) in [(".TRUE.", 1.0), (".FALSE.", 0.0)] {
            if self.takes(token) {
                return Expr::Number(value);
            }
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let bytes = self.rest.as_bytes();
            let is_part = |at: usize| match bytes[at] {
                b'.' | b'E' | b'0'..=b'9' => true,
                b'-' | b'+' => bytes[at - 1] == b'E',
                _ => false,
            };
            let end = (0..bytes.len()).find(|&at| !is_part(at)).unwrap_or(bytes.len());
            let (number, rest) = self.rest.split_at(end);
            self.rest = rest;
            return Expr::Number(number.parse().unwrap());
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let function: Option<fn(f64) -> f64> = match name {
            "SIN" => Some(f64::sin),
            "COS" => Some(f64::cos),
            _ => None,
        };
        if let Some(function) = function {
            return Expr::Call(function, Box::new(self.primary()));
        }
        let Some(index) = self.rest.strip_prefix('(') else { return Expr::Slot(self.names.slot(name)) };
        let (index, rest) = index.split_once(')').unwrap();
        self.rest = rest;
        Expr::Slot(self.names.slot(&format!("{name}({index})")))
    }
}

/// Statements up to the end of their block.
fn block(lines: &mut std::iter::Peekable<std::vec::IntoIter<String>>, names: &mut Names) -> Vec<Statement> {
    let mut found = Vec::new();
    while let Some(line) = lines.next_if(|line| !line.starts_with("Else") && line != "End If") {
        if let Some(condition) = line.strip_prefix("If (").and_then(|rest| rest.strip_suffix(") Then")) {
            let mut branches = vec![(Some(Parser::expression(condition, names)), block(lines, names))];
            while let Some(line) = lines.next().filter(|line| line != "End If") {
                let condition = line.strip_prefix("Else If (").and_then(|rest| rest.strip_suffix(") Then"));
                let condition = condition.map(|condition| Parser::expression(condition, names));
                branches.push((condition, block(lines, names)));
            }
            found.push(Statement::If(branches));
        } else if let Some(rest) = line.strip_prefix("If (") {
            let mut parser = Parser { rest, names };
            let condition = parser.level(0);
            assert!(parser.takes(")"));
            let (target, value) = parser.rest.split_once(" = ").unwrap();
            let assign = Statement::Assign(names.slot(target.trim()), Parser::expression(value, names));
            found.push(Statement::If(vec![(Some(condition), vec![assign])]));
        } else if let Some((_, rest)) = line.split_once("', QM(") {
            found.push(Statement::HandleEvent(rest.split_once(')').unwrap().0.parse().unwrap()));
        } else if let Some((target, value)) = line.split_once(" = ") {
            found.push(Statement::Assign(names.slot(target), Parser::expression(value, names)));
        } else {
            assert!(line == "Return" || line == "End", "{line}");
        }
    }
    found
}

/// A residue nearer to zero is zero: the order of the smallest machine number, as the paper wants it.
const ZERO: f64 = 1e-38;

struct Subroutine<'i> {
    names: Names,
    statements: Vec<Statement>,
    values: Vec<f64>,
    states: usize,
    relations: usize,
    inputs: &'i dyn Fn(f64) -> Vec<f64>,
}

impl<'i> Subroutine<'i> {
    fn new(text: &str, inputs: &'i dyn Fn(f64) -> Vec<f64>) -> Self {
        let joined = text.replace("\n     &", " ");
        let count = |what: &str| joined.lines().filter(|line| line.starts_with(&format!("C     {what}"))).count();
        let (states, relations) = (count("X("), count("Relation "));
        let (_, body) = joined.split_once("      Save\n").unwrap();
        let mut names = Names::default();
        let (mut lines, mut data) = (Vec::new(), Vec::new());
        for line in body.lines().filter(|line| !line.starts_with('C')) {
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            match line.strip_prefix("Data ").and_then(|rest| rest.split_once(" /")) {
                Some((name, value)) => data.push((names.slot(name), value.trim_end_matches('/').parse().unwrap())),
                None => lines.push(line),
            }
        }
        let statements = block(&mut lines.into_iter().peekable(), &mut names);
        for name in ["Init", "Event", "AnyEvent", "Time"] {
            names.slot(name);
        }
        for place in 1..=states.max(relations).max(4) {
            for array in ["X", "DerX", "U", "QM", "QRel", "Qp", "Qn"] {
                names.slot(&format!("{array}({place})"));
            }
        }
        let mut values = vec![0.0; names.slots.len()];
        data.into_iter().for_each(|(slot, value): (usize, f64)| values[slot] = value);
        Self { names, statements, values, states, relations, inputs }
    }

    fn get(&self, name: &str) -> f64 {
        self.values[self.names.slots[name]]
    }

    fn set(&mut self, name: &str, value: f64) {
        let slot = self.names.slots[name];
        self.values[slot] = value;
    }

    fn state(&self) -> Vec<f64> {
        (1..=self.states).map(|place| self.get(&format!("X({place})"))).collect()
    }

    fn call(&mut self, time: f64, state: &[f64], is_event: bool) -> Vec<f64> {
        self.set("Time", time);
        self.set("Event", truth(is_event));
        for (place, value) in state.iter().enumerate() {
            self.set(&format!("X({})", place + 1), *value);
        }
        for (place, value) in (self.inputs)(time).into_iter().enumerate() {
            self.set(&format!("U({})", place + 1), value);
        }
        let statements = std::mem::take(&mut self.statements);
        self.run(&statements);
        self.statements = statements;
        (1..=self.states).map(|place| self.get(&format!("DerX({place})"))).collect()
    }

    fn run(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Assign(target, value) => self.values[*target] = self.value(value),
                Statement::If(branches) => {
                    let holds = |condition: &Option<Expr>| condition.as_ref().is_none_or(|it| self.value(it) != 0.0);
                    if let Some((_, branch)) = branches.iter().find(|(condition, _)| holds(condition)) {
                        self.run(branch);
                    }
                }
                Statement::HandleEvent(number) => {
                    let residue = self.get(&format!("QRel({number})"));
                    let sign = if residue.abs() < ZERO { 0.0 } else { residue.signum() };
                    if sign != self.get(&format!("QM({number})")) {
                        self.set("AnyEvent", 1.0);
                    }
                    self.set(&format!("QM({number})"), sign);
                }
            }
        }
    }

    fn value(&self, expression: &Expr) -> f64 {
        match expression {
            Expr::Number(value) => *value,
            Expr::Slot(slot) => self.values[*slot],
            Expr::Call(function, a) | Expr::Unary(function, a) => function(self.value(a)),
            Expr::Binary(function, a, b) => function(self.value(a), self.value(b)),
        }
    }

    /// Whether a residue left the sign it had at the last event.
    fn crosses(&self) -> bool {
        (1..=self.relations).any(|number| {
            let (sign, residue) = (self.get(&format!("QM({number})")), self.get(&format!("QRel({number})")));
            if sign == 0.0 { residue.abs() > ZERO } else { sign * residue < 0.0 }
        })
    }

    fn event(&mut self, time: f64) {
        for _ in 0..100 {
            let state = self.state();
            self.call(time, &state, true);
            if self.get("AnyEvent") == 0.0 {
                break;
            }
        }
        let state = self.state();
        self.call(time, &state, false);
    }

    /// A step of the classical method of Runge and Kutta.
    fn step(&mut self, time: f64, state: &[f64], step: f64) -> Vec<f64> {
        let ahead = |slope: &[f64], part: f64| -> Vec<f64> {
            state.iter().zip(slope).map(|(value, slope)| value + part * step * slope).collect()
        };
        let k1 = self.call(time, state, false);
        let k2 = self.call(time + 0.5 * step, &ahead(&k1, 0.5), false);
        let k3 = self.call(time + 0.5 * step, &ahead(&k2, 0.5), false);
        let k4 = self.call(time + step, &ahead(&k3, 1.0), false);
        let sum = |place: usize| k1[place] + 2.0 * k2[place] + 2.0 * k3[place] + k4[place];
        let next: Vec<f64> = (0..state.len()).map(|place| state[place] + step / 6.0 * sum(place)).collect();
        self.call(time + step, &next, false);
        next
    }

    fn simulate(&mut self, stop_time: f64, step: f64) {
        self.set("Init", 1.0);
        self.call(0.0, &[], false);
        self.set("Init", 0.0);
        self.event(0.0);
        let (mut time, mut state, mut events) = (0.0, self.state(), 0);
        while time < stop_time - 1e-12 * stop_time {
            let length = step.min(stop_time - time);
            let next = self.step(time, &state, length);
            if !self.crosses() {
                (time, state) = (time + length, next);
                continue;
            }
            let (mut before, mut behind) = (0.0, length);
            for _ in 0..60 {
                let middle = 0.5 * (before + behind);
                self.step(time, &state, middle);
                if self.crosses() { behind = middle } else { before = middle }
            }
            self.step(time, &state, behind);
            time += behind;
            events += 1;
            assert!(events < 1000, "there is no end of events at {time}");
            self.event(time);
            state = self.state();
        }
    }
}

/// Compares the states at the end.
fn agrees(listing: &str, stop_time: f64, step: f64, inputs: &[(&str, fn(f64) -> f64)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/dymola-1993").join(listing);
    let request = Request { target: path.display().to_string(), ..Request::default() };
    let mut session = Session::new(Box::new(Disk));
    let model = session.flatten(&request).unwrap();
    let settings = Settings { stop_time: Some(stop_time), tolerance: Some(1e-9), ..Settings::default() };
    let mut options = settings.resolve(&model.experiment).unwrap();
    let schedule = session.structure(model).unwrap();
    let text = Document::Dsblock.of(&schedule);
    let values = |time: f64| inputs.iter().map(|(_, value)| value(time)).collect::<Vec<f64>>();
    let mut subroutine = Subroutine::new(&text, &values);
    subroutine.simulate(stop_time, step);

    let program = session.compile(schedule).unwrap();
    let known = session::inputs_of(&program);
    let time: Vec<f64> = (0..=20_000).map(|point| stop_time * f64::from(point) / 20_000.0).collect();
    let signal = |(name, value): &(&str, fn(f64) -> f64)| {
        let (_, variable) = known.iter().find(|(known, _)| known == name).unwrap();
        let values: Vec<f64> = time.iter().map(|&time| value(time)).collect();
        session::signal(&program, *variable, &time, &values).unwrap()
    };
    options.inputs = Arc::new(Signals::new(inputs.iter().map(signal).collect()));
    let mut sink = MemorySink::default();
    let (log, watcher) = (&mut EventLog::none(), &mut |_: f64| true);
    let outcome = session.simulate(&program, &options, &|_| true, &mut sink, log, watcher).unwrap();
    assert_eq!(outcome.ending, Ending::Complete);
    let mut compared = 0;
    for line in text.lines() {
        let Some((place, name)) = line.strip_prefix("C     X(").and_then(|rest| rest.split_once("): ")) else {
            continue;
        };
        let found = subroutine.get(&format!("X({place})"));
        let expected = sink.trajectories.last(name).unwrap();
        let is_near = (found - expected).abs() < 1e-5 * expected.abs().max(0.01);
        assert!(is_near, "{listing}: {name} is {found} in the subroutine, {expected} in the simulation\n{text}");
        compared += 1;
    }
    assert!(compared > 0, "{listing} has no states");
}

#[test]
fn restarts() {
    agrees("bouncing_ball.dym", 1.5, 1e-2, &[]);
}

#[test]
fn values_that_are_held() {
    agrees("hysteresis.dym", 7.0, 1e-2, &[]);
}

#[test]
fn a_solved_system_with_a_discrete_state() {
    agrees("rectifier.dym", 0.05, 2e-5, &[]);
}

#[test]
fn a_solved_system_with_a_switch() {
    for listing in ["switch_circuit.dym", "boolean_switch.dym"] {
        agrees(listing, 12e-6, 2e-8, &[("i", |time| 1e-3 * (1.0 + 1e5 * time))]);
    }
}

#[test]
fn two_coupled_machines() {
    let forces: [(&str, fn(f64) -> f64); 2] =
        [("u1", |time| 1.5 * (1.3 * time).sin()), ("u2", |time| 1.2 * (2.6 * time).sin())];
    agrees("two_blocks.dym", 6.0, 4e-3, &forces);
}
