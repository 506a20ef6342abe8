//! The meaning of the models, by the specification alone: initialisation with inactive when clauses (8.6), event iteration
//! until `pre(v) = v` (8.5, appendix B), when clauses on rising conditions (8.3.5, 11.2.7), `reinit` at the end of an
//! iteration (8.3.6), `terminal()` at the end (3.7.5).

use super::language::{Action, Branch, Expr, Model, Part, Statement};

/// Events settle within this many iterations, or the model means nothing.
const MOST_ITERATIONS: usize = 40;

/// The values of the discrete variables from a time on.
pub struct Course {
    /// After each instant: its time, the variables, the states.
    pub instants: Vec<(f64, Vec<f64>, Vec<f64>)>,
    pub terminated: bool,
}

struct Interpreter<'a> {
    model: &'a Model,
    time: f64,
    values: Vec<f64>,
    before: Vec<f64>,
    states: Vec<f64>,
    /// Whether each crossing function is above; each time threshold is passed; each sample is due.
    above: Vec<bool>,
    late: Vec<bool>,
    due: Vec<bool>,
    initial: bool,
    terminal: bool,
    /// The elements of when conditions in the order of the text, now and before.
    conditions: Vec<bool>,
    conditions_before: Vec<bool>,
    next_condition: usize,
    reinits: Vec<(usize, f64)>,
    terminated: bool,
}

/// `None` for a model without a meaning: an event that never settles, or events too close to tell apart.
pub fn interpret(model: &Model) -> Option<Course> {
    let mut run = Interpreter::new(model);
    run.initialise();
    let mut course = Course { instants: Vec::new(), terminated: false };
    run.pass(true)?;
    let mut ticks = vec![0u32; model.samples.len()];
    for (tick, &(start, ..)) in ticks.iter_mut().zip(&model.samples) {
        if start == 0.0 {
            *tick = 1;
        }
    }
    course.instants.push((0.0, run.values.clone(), run.states.clone()));
    while !run.terminated {
        let tick_time = |k: usize, ticks: &[u32]| model.samples[k].0 + f64::from(ticks[k]) * model.samples[k].1;
        let sampled = (0..ticks.len()).map(|k| tick_time(k, &ticks));
        let passing =
            model.thresholds.iter().zip(&run.late).filter(|(_, late)| !**late).map(|(&threshold, _)| threshold);
        let crossing = |k: usize| {
            let (state, threshold) = model.crossings[k];
            let rate = model.states[state].1;
            let ahead = (threshold - run.states[state]) / rate;
            let heads = if run.above[k] { rate < 0.0 } else { rate > 0.0 };
            if heads { run.time + ahead.max(0.0) } else { f64::INFINITY }
        };
        let crossings: Vec<f64> = (0..model.crossings.len()).map(crossing).collect();
        let next = sampled.chain(passing).chain(crossings.iter().copied()).fold(f64::INFINITY, f64::min);
        // Events that rounding could put in another order are no test.
        let close = |time: f64| (time - next).abs() < 1e-6 && time != next;
        if crossings.iter().any(|&time| close(time)) || next < run.time + 1e-6 {
            return None;
        }
        let is_crossing = crossings.contains(&next);
        let other = (0..ticks.len()).map(|k| tick_time(k, &ticks)).chain(model.thresholds.iter().copied());
        if is_crossing && other.into_iter().any(|time| (time - next).abs() < 1e-6) {
            return None;
        }
        if next > model.stop - 1e-6 {
            if next < model.stop + 1e-6 {
                return None;
            }
            run.move_to(model.stop);
            break;
        }
        run.move_to(next);
        for (k, &time) in crossings.iter().enumerate() {
            if time == next {
                run.above[k] = !run.above[k];
            }
        }
        for (late, &threshold) in run.late.iter_mut().zip(&model.thresholds) {
            *late = next >= threshold;
        }
        for k in 0..ticks.len() {
            if tick_time(k, &ticks) == next {
                run.due[k] = true;
                ticks[k] += 1;
            }
        }
        run.pass(false)?;
        course.instants.push((next, run.values.clone(), run.states.clone()));
    }
    course.terminated = run.terminated;
    run.terminal = true;
    run.pass(false)?;
    course.instants.push((run.time, run.values.clone(), run.states.clone()));
    Some(course)
}

impl<'a> Interpreter<'a> {
    fn new(model: &'a Model) -> Self {
        let values: Vec<f64> = model.variables.iter().map(|variable| variable.start).collect();
        let states: Vec<f64> = model.states.iter().map(|state| state.0).collect();
        Self {
            model,
            time: 0.0,
            before: values.clone(),
            values,
            states,
            above: vec![false; model.crossings.len()],
            late: model.thresholds.iter().map(|&threshold| threshold <= 0.0).collect(),
            due: vec![false; model.samples.len()],
            initial: true,
            terminal: false,
            conditions: Vec::new(),
            conditions_before: Vec::new(),
            next_condition: 0,
            reinits: Vec::new(),
            terminated: false,
        }
    }

    /// The initial problem: `reinit` under `initial()` has literals only, so it is known before the rest.
    fn initialise(&mut self) {
        let model = self.model;
        for part in &model.parts {
            let Part::When(branches) = part else { continue };
            if let Some(branch) = branches.iter().find(|branch| branch.elements.iter().any(is_initial)) {
                for action in &branch.body {
                    if let Action::Reinit(state, Expr::Number(value)) = action {
                        self.states[*state] = *value;
                    }
                }
            }
        }
        self.see_crossings();
        self.evaluate();
        self.reinits.clear();
    }

    fn see_crossings(&mut self) {
        for (above, &(state, threshold)) in self.above.iter_mut().zip(&self.model.crossings) {
            *above = self.states[state] > threshold;
        }
    }

    fn move_to(&mut self, time: f64) {
        for (state, &(_, rate, _)) in self.states.iter_mut().zip(&self.model.states) {
            *state += rate * (time - self.time);
        }
        self.time = time;
    }

    /// An event: with the samples that are due, then without.
    fn pass(&mut self, first: bool) -> Option<()> {
        if first {
            self.initial = false;
            for (due, &(start, ..)) in self.due.iter_mut().zip(&self.model.samples) {
                *due = start == 0.0;
            }
        }
        self.iterate()?;
        if self.due.contains(&true) {
            self.due.fill(false);
            self.iterate()?;
        }
        Some(())
    }

    fn iterate(&mut self) -> Option<()> {
        for _ in 0..MOST_ITERATIONS {
            self.before.clone_from(&self.values);
            self.conditions_before.clone_from(&self.conditions);
            self.evaluate();
            let reinits = std::mem::take(&mut self.reinits);
            let jumps = reinits.iter().any(|&(state, value)| self.states[state] != value);
            for (state, value) in reinits {
                self.states[state] = value;
                for (above, &(of, threshold)) in self.above.iter_mut().zip(&self.model.crossings) {
                    if of == state {
                        *above = value > threshold;
                    }
                }
            }
            if self.values == self.before && self.conditions == self.conditions_before && !jumps {
                return Some(());
            }
        }
        None
    }

    /// All parts once, each after what it needs.
    fn evaluate(&mut self) {
        let model = self.model;
        self.next_condition = 0;
        for part in &model.parts {
            match part {
                Part::Equation(target, value) => self.values[*target] = self.value(value),
                Part::When(branches) => {
                    for branch in branches {
                        for target in targets(&branch.body) {
                            self.values[target] = self.before[target];
                        }
                    }
                    self.when(branches);
                }
                Part::Algorithm(statements) => {
                    for target in section_targets(statements) {
                        self.values[target] = self.before[target];
                    }
                    for statement in statements {
                        match statement {
                            Statement::Assign(target, value) => self.values[*target] = self.value(value),
                            Statement::When(branches) => self.when(branches),
                        }
                    }
                }
            }
        }
    }

    fn when(&mut self, branches: &[Branch]) {
        let mut active = None;
        for (k, branch) in branches.iter().enumerate() {
            let mut rises = false;
            for element in &branch.elements {
                let holds = self.value(element) != 0.0;
                let at = self.next_condition;
                self.next_condition += 1;
                let held = self.conditions_before.get(at).copied().unwrap_or(false);
                if at < self.conditions.len() {
                    self.conditions[at] = holds;
                } else {
                    self.conditions.push(holds);
                }
                // At initialisation `initial()` alone makes a clause active.
                rises |= if self.initial { is_initial(element) } else { holds && !held };
            }
            if rises && active.is_none() {
                active = Some(k);
            }
        }
        if let Some(k) = active {
            self.perform(&branches[k].body);
        }
    }

    fn perform(&mut self, body: &[Action]) {
        for action in body {
            match action {
                Action::Assign(target, value) => self.values[*target] = self.value(value),
                Action::Reinit(state, value) => {
                    let value = self.value(value);
                    self.reinits.push((*state, value));
                }
                Action::Terminate => self.terminated = true,
                Action::If(condition, then, otherwise) => {
                    let body = if self.value(condition) != 0.0 { then } else { otherwise };
                    self.perform(body);
                }
            }
        }
    }

    fn value(&self, expr: &Expr) -> f64 {
        let truth = |value: bool| f64::from(u8::from(value));
        let holds = |expr: &Expr| self.value(expr) != 0.0;
        match expr {
            Expr::Number(value) => *value,
            Expr::Truth(value) => truth(*value),
            Expr::Var(v) => self.values[*v],
            Expr::Pre(v) => self.before[*v],
            Expr::Parameter(p) => self.model.parameters[*p].1,
            Expr::Edge(v) => truth(self.values[*v] != 0.0 && self.before[*v] == 0.0),
            Expr::Change(v) => truth(self.values[*v] != self.before[*v]),
            Expr::Not(a) => truth(!holds(a)),
            Expr::And(a, b) => truth(holds(a) && holds(b)),
            Expr::Or(a, b) => truth(holds(a) || holds(b)),
            Expr::Equal(a, b) => truth(self.value(a) == self.value(b)),
            Expr::Less(a, b) => truth(self.value(a) < self.value(b)),
            Expr::Add(a, b) => self.value(a) + self.value(b),
            Expr::If(a, b, c) => {
                if holds(a) {
                    self.value(b)
                } else {
                    self.value(c)
                }
            }
            Expr::Initial => truth(self.initial),
            Expr::Terminal => truth(self.terminal),
            Expr::Late(k) => truth(self.late[*k]),
            Expr::Above(k) => truth(self.above[*k]),
            Expr::Sample(k) => truth(self.due[*k]),
            Expr::State(k) => self.states[*k],
        }
    }
}

fn is_initial(element: &Expr) -> bool {
    matches!(element, Expr::Initial)
}

/// The variables that actions assign.
pub fn targets(body: &[Action]) -> Vec<usize> {
    let mut found = Vec::new();
    for action in body {
        match action {
            Action::Assign(target, _) => found.push(*target),
            Action::If(_, then, otherwise) => {
                found.extend(targets(then));
                found.extend(targets(otherwise));
            }
            Action::Reinit(..) | Action::Terminate => {}
        }
    }
    found
}

fn section_targets(statements: &[Statement]) -> Vec<usize> {
    let mut found = Vec::new();
    for statement in statements {
        match statement {
            Statement::Assign(target, _) => found.push(*target),
            Statement::When(branches) => found.extend(branches.iter().flat_map(|branch| targets(&branch.body))),
        }
    }
    found
}
