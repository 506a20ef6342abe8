//! Random discrete systems: Boolean, Integer and discrete Real variables, when clauses and algorithms with `pre`, `edge`,
//! `change`, `sample`, `initial()`, `terminal()`, `reinit` and `terminate`, against an interpreter of the specification.

mod interpreter;
mod language;

use fastrand::Rng;
use session::{Ending, Settings};

use crate::case::{Case, Verdict};
use crate::run::Run;
use interpreter::{Course, interpret};
use language::{Action, Branch, Expr, Model, Part, Statement, Type, Variable};

pub fn case(random: &mut Rng) -> Case {
    loop {
        let model = Generator::new(random).model();
        if let Some(course) = interpret(&model) {
            let settings = Settings { stop_time: Some(model.stop), ..Settings::default() };
            let text = model.text();
            return Case::judged(text, settings, move |run| judge(run, &model, &course));
        }
    }
}

fn judge(run: &Run, model: &Model, course: &Course) -> Verdict {
    let ended = match run.outcome.as_ref().map(|outcome| &outcome.ending) {
        Some(Ending::Complete) => !course.terminated,
        Some(Ending::Terminated { .. }) => course.terminated,
        _ => return Err(format!("it stopped: {}", run.ending())),
    };
    if !ended {
        return Err("it ended in another way than by the specification".into());
    }
    let Some(((end, last, _), instants)) = course.instants.split_last() else { return Ok(()) };
    for (k, (time, values, _)) in instants.iter().enumerate() {
        let until = instants.get(k + 1).map_or(*end, |next| next.0);
        let between = 0.5 * (time + until);
        // What is terminated at once has no course.
        if until > time + 1e-6 {
            for (v, &expected) in values.iter().enumerate() {
                same(v, between, run.at(&format!("v{v}"), between)?, expected)?;
            }
        }
        if k == 0 && instants.len() > 1 {
            for (v, &expected) in values.iter().enumerate() {
                same(v, 0.0, run.at(&format!("v{v}"), 0.0)?, expected)?;
            }
        }
    }
    for (v, &expected) in last.iter().enumerate() {
        same(v, *end, run.end(&format!("v{v}"))?, expected)?;
    }
    for (k, &expected) in course.instants.last().map_or(&[][..], |(_, _, states)| states).iter().enumerate() {
        let value = run.end(&format!("x{k}"))?;
        if (value - expected).abs() > 1e-6 {
            return Err(format!("x{k} is {value} instead of {expected} at the end"));
        }
    }
    let _ = model;
    Ok(())
}

fn same(variable: usize, time: f64, value: f64, expected: f64) -> Verdict {
    if value == expected { Ok(()) } else { Err(format!("v{variable} is {value} instead of {expected} at {time}")) }
}

struct Generator<'r> {
    random: &'r mut Rng,
    model: Model,
    /// Every start value is fixed: two variables that are equal have one value between them otherwise.
    all_fixed: bool,
    /// States whose `reinit` is spoken for.
    reinitialised: Vec<bool>,
}

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq)]
enum Context {
    /// Its relations make events.
    Outside,
    Body,
}

impl<'r> Generator<'r> {
    fn new(random: &'r mut Rng) -> Self {
        let model = Model {
            variables: Vec::new(),
            parameters: Vec::new(),
            states: Vec::new(),
            thresholds: Vec::new(),
            crossings: Vec::new(),
            samples: Vec::new(),
            parts: Vec::new(),
            order: Vec::new(),
            stop: 2.0,
        };
        Self { random, model, all_fixed: true, reinitialised: Vec::new() }
    }

    fn model(mut self) -> Model {
        self.all_fixed = self.random.u8(..10) > 0;
        for _ in 0..self.random.usize(1..8) {
            let ty = *self.pick(&[Type::Boolean, Type::Boolean, Type::Integer, Type::Integer, Type::Real]);
            let start = self.start(ty);
            let fixed = self.all_fixed || self.random.bool();
            self.model.variables.push(Variable { ty, start, fixed });
        }
        for _ in 0..self.random.usize(..3) {
            let ty = *self.pick(&[Type::Boolean, Type::Integer]);
            let value = self.start(ty);
            self.model.parameters.push((ty, value));
        }
        for _ in 0..self.random.usize(..3) {
            let rate = *self.pick(&[1.0, -1.0, 0.5, 2.0, -0.7]);
            self.model.states.push((self.random.f64(), rate, true));
        }
        self.reinitialised = vec![false; self.model.states.len()];
        for _ in 0..self.random.usize(..3) {
            let threshold = f64::from(self.random.u8(0..30)) / 16.0 - 0.0625;
            self.model.thresholds.push(threshold);
        }
        if !self.model.states.is_empty() {
            for _ in 0..self.random.usize(..3) {
                let state = self.random.usize(..self.model.states.len());
                let threshold = 3.0 * self.random.f64() - 1.0;
                self.model.crossings.push((state, threshold));
            }
        }
        for _ in 0..self.random.usize(..3) {
            let (start, interval) = (f64::from(self.random.u8(..8)) / 8.0, f64::from(self.random.u8(1..8)) / 8.0);
            let computed = self.random.u8(..4) == 0;
            self.model.samples.push((start, interval, computed));
        }
        let mut first = 0;
        while first < self.model.variables.len() {
            let count = self.random.usize(1..=3).min(self.model.variables.len() - first);
            first = self.part(first, count);
        }
        if self.random.u8(..12) == 0 {
            let elements = self.elements(first);
            if !elements.iter().any(|element| matches!(element, Expr::Terminal)) {
                self.model.parts.push(Part::When(vec![Branch { elements, body: vec![Action::Terminate] }]));
            }
        }
        self.model.order = (0..self.model.parts.len()).collect();
        self.random.shuffle(&mut self.model.order);
        self.model
    }

    /// A part that determines some of the variables from `first` on; the first that is left.
    fn part(&mut self, first: usize, count: usize) -> usize {
        match self.random.u8(..6) {
            0 | 1 if self.all_fixed => {
                let ty = self.model.variables[first].ty;
                let value = self.expr(ty, first, Context::Outside, 3);
                self.model.parts.push(Part::Equation(first, value));
                first + 1
            }
            2 | 3 => {
                let statements = self.algorithm(first, count);
                self.model.parts.push(Part::Algorithm(statements));
                first + count
            }
            _ => {
                let mut branches = Vec::new();
                let state = self.free_state();
                for k in 0..self.random.usize(1..=3) {
                    let elements = self.elements(first);
                    let mut body = Vec::new();
                    for target in first..first + count {
                        if k == 0 || self.random.u8(..3) > 0 {
                            let value = self.expr(self.model.variables[target].ty, target, Context::Body, 3);
                            body.push(Action::Assign(target, value));
                        }
                    }
                    self.reinit(state, &elements, &branches, &mut body);
                    branches.push(Branch { elements, body });
                }
                self.model.parts.push(Part::When(branches));
                first + count
            }
        }
    }

    fn free_state(&mut self) -> Option<usize> {
        let state = self.reinitialised.iter().position(|&taken| !taken)?;
        (self.random.u8(..3) == 0).then(|| {
            self.reinitialised[state] = true;
            state
        })
    }

    /// At initialisation the new value is an initial equation, so there must be no other.
    fn reinit(&mut self, state: Option<usize>, elements: &[Expr], earlier: &[Branch], body: &mut Vec<Action>) {
        let Some(state) = state else { return };
        let is_initial = |element: &Expr| matches!(element, Expr::Initial);
        let mut value = Expr::Number(2.0 * self.random.f64() - 0.5);
        if elements.iter().any(is_initial) {
            if !earlier.iter().any(|branch| branch.elements.iter().any(is_initial)) {
                self.model.states[state].2 = false;
            }
        } else if self.random.bool() {
            value = Expr::Add(Box::new(Expr::State(state)), Box::new(value));
        }
        body.push(Action::Reinit(state, value));
    }

    fn algorithm(&mut self, first: usize, count: usize) -> Vec<Statement> {
        let mut statements = Vec::new();
        let last = first + count;
        // Each variable of the section is assigned somewhere.
        for target in first..last {
            let ty = self.model.variables[target].ty;
            if self.all_fixed && self.random.u8(..4) == 0 {
                statements.push(Statement::Assign(target, self.expr(ty, target, Context::Outside, 2)));
            } else {
                let mut branches = Vec::new();
                for _ in 0..self.random.usize(1..=2) {
                    let elements = self.elements(last);
                    let value = self.expr(ty, last, Context::Body, 3);
                    let mut body = vec![Action::Assign(target, value)];
                    if self.random.u8(..3) == 0 {
                        let other = self.random.usize(first..last);
                        let value = self.expr(self.model.variables[other].ty, last, Context::Body, 2);
                        body.push(Action::Assign(other, value));
                    }
                    if self.random.u8(..3) == 0 {
                        let condition = self.expr(Type::Boolean, last, Context::Body, 2);
                        let otherwise = if self.random.bool() { body.clone() } else { Vec::new() };
                        body.push(Action::If(condition, std::mem::take(&mut body.clone()), otherwise));
                    }
                    branches.push(Branch { elements, body });
                }
                statements.push(Statement::When(branches));
            }
        }
        statements
    }

    /// The elements of a when condition, which may use the variables before `limit`.
    fn elements(&mut self, limit: usize) -> Vec<Expr> {
        let count = *self.pick(&[1, 1, 1, 2, 3]);
        (0..count)
            .map(|_| match self.random.u8(..8) {
                0 => Expr::Initial,
                1 if self.random.bool() => Expr::Terminal,
                1..=3 if !self.model.samples.is_empty() => Expr::Sample(self.random.usize(..self.model.samples.len())),
                4 => self.leaf(Type::Boolean, limit, Context::Outside),
                _ => self.expr(Type::Boolean, limit, Context::Outside, 2),
            })
            .collect()
    }

    fn expr(&mut self, ty: Type, limit: usize, context: Context, depth: u32) -> Expr {
        if depth == 0 || self.random.u8(..4) == 0 {
            return self.leaf(ty, limit, context);
        }
        let less = depth - 1;
        let both = |this: &mut Self, ty| {
            (Box::new(this.expr(ty, limit, context, less)), Box::new(this.expr(ty, limit, context, less)))
        };
        match (ty, self.random.u8(..5)) {
            (Type::Boolean, 0) => Expr::Not(Box::new(self.expr(ty, limit, context, less))),
            (Type::Boolean, 1) => {
                let (a, b) = both(self, ty);
                Expr::And(a, b)
            }
            (Type::Boolean, 2) => {
                let (a, b) = both(self, ty);
                Expr::Or(a, b)
            }
            (Type::Boolean, 3) => {
                let (a, b) = both(self, Type::Integer);
                if self.random.bool() { Expr::Equal(a, b) } else { Expr::Less(a, b) }
            }
            (Type::Integer | Type::Real, 0 | 1) => {
                let (a, b) = both(self, ty);
                Expr::Add(a, b)
            }
            _ => {
                let condition = Box::new(self.expr(Type::Boolean, limit, context, less));
                let (a, b) = both(self, ty);
                Expr::If(condition, a, b)
            }
        }
    }

    fn leaf(&mut self, ty: Type, limit: usize, context: Context) -> Expr {
        let fits = |variable: &Variable| variable.ty == ty || (ty == Type::Real && variable.ty == Type::Integer);
        let all: Vec<usize> = (0..self.model.variables.len()).filter(|&v| fits(&self.model.variables[v])).collect();
        let known: Vec<usize> = all.iter().copied().filter(|&v| v < limit).collect();
        for _ in 0..8 {
            match self.random.u8(..9) {
                0 | 1 if !known.is_empty() => return Expr::Var(*self.pick(&known)),
                2 | 3 if !all.is_empty() => return Expr::Pre(*self.pick(&all)),
                4 if ty == Type::Boolean && !known.is_empty() => {
                    let v = *self.pick(&known);
                    return if self.random.bool() { Expr::Edge(v) } else { Expr::Change(v) };
                }
                5 if ty == Type::Boolean && !self.model.thresholds.is_empty() => {
                    return Expr::Late(self.random.usize(..self.model.thresholds.len()));
                }
                6 if ty == Type::Boolean && context == Context::Outside && !self.model.crossings.is_empty() => {
                    return Expr::Above(self.random.usize(..self.model.crossings.len()));
                }
                7 => {
                    let own: Vec<usize> =
                        (0..self.model.parameters.len()).filter(|&p| self.model.parameters[p].0 == ty).collect();
                    if !own.is_empty() {
                        return Expr::Parameter(*self.pick(&own));
                    }
                }
                8 if ty == Type::Boolean && self.random.u8(..3) == 0 => return Expr::Initial,
                _ => {}
            }
        }
        match ty {
            Type::Boolean => Expr::Truth(self.random.bool()),
            Type::Integer => Expr::Number(f64::from(self.random.i8(-2..=2))),
            Type::Real => Expr::Number(f64::from(self.random.i8(-4..=4)) / 2.0),
        }
    }

    fn start(&mut self, ty: Type) -> f64 {
        match ty {
            Type::Boolean => f64::from(u8::from(self.random.bool())),
            Type::Integer => f64::from(self.random.i8(-2..=2)),
            Type::Real => f64::from(self.random.i8(-4..=4)) / 2.0,
        }
    }

    fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.random.usize(..list.len())]
    }
}
