//! Random networks of clocked variables: several base clocks, conversions with and without names for their operands, `previous`,
//! clocked when clauses, loops through continuous states, against an interpreter with exact tick times.

mod interpreter;
mod language;
mod ratio;

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, Verdict};
use crate::run::Run;
use interpreter::{Instant, at_start, interpret};
use language::{Base, Clock, ClockConversion, Expr, Network, Source, State, Variable, converted};
use ratio::Ratio;

pub fn case(random: &mut Rng) -> Case {
    loop {
        let network = Generator::new(random).network();
        if let Some(course) = interpret(&network) {
            let settings = Settings { stop_time: Some(network.stop), ..Settings::default() };
            let text = network.text();
            return Case::complete(text, settings, move |run| judge(run, &network, &course));
        }
    }
}

fn judge(run: &Run, network: &Network, course: &[Instant]) -> Verdict {
    for (number, instant) in course.iter().enumerate() {
        let until = course.get(number + 1).map_or(network.stop, |next| next.time);
        let between = 0.5 * (instant.time + until);
        for (v, _) in network.named() {
            near(&format!("v{v}"), between, run, instant.values[v])?;
        }
        for (x, (state, slope)) in instant.states.iter().zip(&instant.slopes).enumerate() {
            near(&format!("x{x}"), between, run, state + slope * (between - instant.time))?;
        }
    }
    Ok(())
}

fn near(name: &str, time: f64, run: &Run, expected: f64) -> Verdict {
    let value = run.at(name, time)?;
    let is_near = (value - expected).abs() <= 1e-6 * expected.abs().max(1.0);
    if is_near { Ok(()) } else { Err(format!("{name} is {value} instead of {expected} at {time}")) }
}

struct Generator<'r> {
    random: &'r mut Rng,
    network: Network,
}

impl<'r> Generator<'r> {
    fn new(random: &'r mut Rng) -> Self {
        let network = Network { bases: Vec::new(), variables: Vec::new(), states: Vec::new(), stop: 2.0 };
        Self { random, network }
    }

    fn network(mut self) -> Network {
        self.network.stop = 1.0 + 2.0 * self.random.f64();
        for _ in 0..self.random.usize(1..=3) {
            let base = self.base();
            self.network.bases.push(base);
        }
        for _ in 0..self.random.usize(..3) {
            let (start, slope) = (self.number(), self.number());
            // What is held follows when there is something to hold.
            self.network.states.push(State { start, held: 0, slope });
        }
        for base in 0..self.network.bases.len() {
            self.variable(Clock { base, factor: Ratio::ONE, shift: Ratio::ZERO });
        }
        for _ in 0..self.random.usize(1..=8) {
            let clock = self.clock();
            self.variable(clock);
        }
        for x in 0..self.network.states.len() {
            let v = loop {
                if let Some(v) = self.named_variable(|variable| !variable.is_boolean) {
                    break v;
                }
                self.variable(Clock { base: 0, factor: Ratio::ONE, shift: Ratio::ZERO });
            };
            let clock = self.network.variables[v].clock;
            let held = if self.random.u8(..3) == 0 { v } else { self.operand(clock, v, true) };
            self.network.states[x].held = held;
        }
        self.network
    }

    fn base(&mut self) -> Base {
        match self.random.u8(..8) {
            0..=3 => Base::Rational(Ratio::new(self.random.i64(1..=6), *self.pick(&[7, 10, 12, 20]))),
            4 | 5 => Base::Decimal(Ratio::new(self.random.i64(1..=6), 10)),
            6 => {
                let mut rises = Vec::new();
                let mut time = Ratio::ZERO;
                for _ in 0..self.random.usize(3..=8) {
                    time = time + Ratio::new(self.random.i64(3..40), 97);
                    rises.push(time);
                }
                Base::Event { rises, first: f64::from(self.random.u8(..4)) / 4.0 }
            }
            _ => Base::Varying { start: self.random.i64(1..=4), resolution: *self.pick(&[8, 10, 15]) },
        }
    }

    /// A clock that is used already, or one made from it.
    fn clock(&mut self) -> Clock {
        let known = self.random.usize(..self.network.variables.len());
        let mut clock = self.network.variables[known].clock;
        for _ in 0..self.random.usize(..3) {
            let step = self.step();
            if let Some(next) = self.after(clock, step) {
                clock = next;
            }
        }
        clock
    }

    fn step(&mut self) -> ClockConversion {
        let (by, of) = (self.random.i128(1..=4), self.random.i128(1..=3));
        match self.random.u8(..4) {
            0 => ClockConversion::Sub(by),
            1 => ClockConversion::Super(by),
            2 => ClockConversion::Shift(by - 1, of),
            _ => ClockConversion::Back(by - 1, of),
        }
    }

    /// The clock behind a conversion, if there is one.
    fn after(&self, clock: Clock, step: ClockConversion) -> Option<Clock> {
        let Clock { base, factor, shift } = clock;
        let next = match step {
            ClockConversion::Sub(by) => Clock { factor: factor * Ratio::of(by, 1), ..clock },
            ClockConversion::Super(by) => Clock { factor: factor / Ratio::of(by, 1), ..clock },
            ClockConversion::Shift(by, of) => Clock { shift: shift + factor * Ratio::of(by, of), ..clock },
            ClockConversion::Back(by, of) => Clock { shift: shift - factor * Ratio::of(by, of), ..clock },
            ClockConversion::NoClock => return None,
        };
        let is_possible = self.network.bases[base].is_periodic() || (next.factor.is_whole() && next.shift.is_whole());
        // A shift by parts is one of a faster clock.
        let has_parts = matches!(step, ClockConversion::Shift(_, of) | ClockConversion::Back(_, of) if of > 1);
        let is_fast = has_parts && !self.network.bases[base].is_periodic();
        let is_bounded = next.factor.value() > 0.2 && next.factor.value() < 20.0 && next.shift.value() < 20.0;
        (is_possible && !is_fast && is_bounded && next.shift >= Ratio::ZERO).then_some(next)
    }

    /// Conversions from one clock to another of its base.
    fn route(&mut self, from: Clock, to: Clock) -> Option<Vec<ClockConversion>> {
        for _ in 0..10 {
            let ratio = to.factor / from.factor;
            let mut factors = Vec::new();
            if ratio.numerator > 1 {
                factors.push(ClockConversion::Sub(ratio.numerator));
            }
            if ratio.denominator > 1 {
                factors.push(ClockConversion::Super(ratio.denominator));
            }
            if self.random.u8(..3) == 0 {
                let by = self.random.i128(2..=3);
                factors.extend([ClockConversion::Sub(by), ClockConversion::Super(by)]);
            }
            self.random.shuffle(&mut factors);
            let at = self.random.usize(..=factors.len());
            let mut clock = from;
            let mut steps = Vec::new();
            let mut is_possible = true;
            for number in 0..=factors.len() {
                if number == at {
                    let by = (to.shift - from.shift) / clock.factor;
                    let shift = match by >= Ratio::ZERO {
                        true => ClockConversion::Shift(by.numerator, by.denominator),
                        false => ClockConversion::Back(-by.numerator, by.denominator),
                    };
                    if by != Ratio::ZERO {
                        steps.push(shift);
                        is_possible &= self.after(clock, shift).map(|next| clock = next).is_some();
                    }
                }
                if let Some(&step) = factors.get(number) {
                    steps.push(step);
                    is_possible &= self.after(clock, step).map(|next| clock = next).is_some();
                }
            }
            if is_possible && clock == to && !steps.is_empty() {
                return Some(steps);
            }
        }
        None
    }

    /// Adds a named variable of a clock.
    fn variable(&mut self, clock: Clock) {
        let text = self.clock_text(clock);
        let when = (self.random.u8(..4) == 0).then(|| text.clone());
        let anchor = match when {
            Some(_) => Expr::Number(self.number()),
            None => self.anchor(clock, text),
        };
        let start = self.number();
        let number = self.network.variables.len();
        let is_boolean = self.random.u8(..6) == 0;
        let mut value = self.grown(clock, anchor, 2);
        let number = number.max(self.network.variables.len());
        if self.random.bool() && !is_boolean {
            let before = Expr::Previous(number);
            value = Expr::Add(Box::new(Expr::Scale(*self.pick(&[0.5, -0.5, 0.75]), Box::new(before))), Box::new(value));
        }
        if is_boolean {
            value = Expr::Less(Box::new(value), Box::new(Expr::Number(self.number())));
        }
        let start = if is_boolean { f64::from(u8::from(start > 0.0)) } else { start };
        self.network.variables.push(Variable { clock, start, value, is_boolean, is_inline: false, when });
    }

    /// What tells the clock of an equation.
    fn anchor(&mut self, clock: Clock, text: String) -> Expr {
        if self.random.u8(..3) > 0 {
            let from = self.named_variable(|variable| variable.clock.base == clock.base && !variable.is_boolean);
            if let Some(expr) = from.and_then(|from| self.converted(from, clock)) {
                return expr;
            }
        }
        Expr::Sample { source: self.source(), clock: Some(text) }
    }

    /// A variable of the same base on a clock.
    fn converted(&mut self, from: usize, clock: Clock) -> Option<Expr> {
        let known = self.network.variables[from].clock;
        if known == clock && self.random.bool() {
            return Some(Expr::Var(from));
        }
        let steps = self.route(known, clock)?;
        let mut at = known;
        let mut operand = from;
        if self.random.bool() {
            operand = self.operand(at, from, matches!(steps.first(), Some(ClockConversion::Back(..))));
        }
        let last = steps.len() - 1;
        for (number, &step) in steps.iter().enumerate() {
            let mut operands = vec![operand];
            if self.random.u8(..6) == 0 {
                let other = self.network.variables[from].clock == at;
                if other {
                    operands.push(self.operand(at, from, matches!(step, ClockConversion::Back(..))));
                }
            }
            let value = Expr::Convert { step, operands, has_factor: true };
            if number == last {
                return Some(value);
            }
            at = self.after(at, step)?;
            let is_inline = self.random.u8(..3) > 0;
            let value = if self.random.bool() { self.wrapped(value) } else { value };
            let has_start = matches!(steps.get(number + 1), Some(ClockConversion::Back(..)));
            let start = match (is_inline, has_start) {
                (true, true) => at_start(&self.network, &value),
                (true, false) => 0.0,
                _ => self.number(),
            };
            operand = self.network.variables.len();
            self.network.variables.push(Variable { clock: at, start, value, is_boolean: false, is_inline, when: None });
        }
        None
    }

    /// An expression of a variable as an operand without name.
    fn operand(&mut self, clock: Clock, of: usize, has_start: bool) -> usize {
        let value = match self.random.u8(..4) {
            0 => Expr::Previous(of),
            1 => Expr::Add(Box::new(Expr::Var(of)), Box::new(self.interval(of))),
            2 => {
                Expr::If(Box::new(Expr::FirstTick(of)), Box::new(Expr::Number(self.number())), Box::new(Expr::Var(of)))
            }
            _ => self.wrapped(Expr::Var(of)),
        };
        let start = if has_start { at_start(&self.network, &value) } else { 0.0 };
        self.network.variables.push(Variable { clock, start, value, is_boolean: false, is_inline: true, when: None });
        self.network.variables.len() - 1
    }

    /// The interval; at the first tick of a clock made from one that is not periodic, the specification leaves it open.
    fn interval(&self, of: usize) -> Expr {
        let Clock { base, factor, shift } = self.network.variables[of].clock;
        let is_base = factor == Ratio::ONE && shift == Ratio::ZERO;
        match is_base || self.network.bases[base].is_periodic() {
            true => Expr::Interval(of),
            false => {
                Expr::If(Box::new(Expr::FirstTick(of)), Box::new(Expr::Number(0.25)), Box::new(Expr::Interval(of)))
            }
        }
    }

    fn wrapped(&mut self, expr: Expr) -> Expr {
        match self.random.u8(..3) {
            0 => Expr::Call(Box::new(expr)),
            1 => Expr::Scale(-0.5, Box::new(expr)),
            _ => Expr::Add(Box::new(expr), Box::new(Expr::Number(self.number()))),
        }
    }

    /// An expression with more operands of its clock.
    fn grown(&mut self, clock: Clock, expr: Expr, depth: u32) -> Expr {
        if depth == 0 {
            return expr;
        }
        let other = self.leaf(clock);
        let grown = match self.random.u8(..5) {
            0 => return expr,
            1 => Expr::Add(Box::new(expr), Box::new(Expr::Scale(0.5, Box::new(other)))),
            2 => Expr::Scale(0.5, Box::new(Expr::Add(Box::new(expr), Box::new(other)))),
            // A branch that is known to be dead would tell no clock.
            3 => Expr::If(
                Box::new(Expr::Less(Box::new(expr), Box::new(Expr::Number(self.number())))),
                Box::new(other),
                Box::new(Expr::Number(self.number())),
            ),
            _ => Expr::Add(Box::new(self.wrapped(expr)), Box::new(other)),
        };
        self.grown(clock, grown, depth - 1)
    }

    fn leaf(&mut self, clock: Clock) -> Expr {
        let same = self.named_variable(|variable| variable.clock == clock && !variable.is_boolean);
        let base = self.named_variable(|variable| variable.clock.base == clock.base && !variable.is_boolean);
        let flag = self.named_variable(|variable| variable.clock == clock && variable.is_boolean);
        match (self.random.u8(..9), same, base, flag) {
            (0, Some(v), ..) => Expr::Var(v),
            (1, Some(v), ..) => Expr::Previous(v),
            (2, Some(v), ..) => self.interval(v),
            (3, _, Some(v), _) => {
                let operand =
                    if self.random.bool() { v } else { self.operand(self.network.variables[v].clock, v, false) };
                Expr::Convert { step: ClockConversion::NoClock, operands: vec![operand], has_factor: true }
            }
            (4 | 5, _, Some(v), _) => self.converted(v, clock).unwrap_or(Expr::Number(1.25)),
            (6, _, _, Some(flag)) => {
                Expr::If(Box::new(Expr::Var(flag)), Box::new(Expr::Number(self.number())), Box::new(Expr::Number(0.5)))
            }
            (7, ..) => Expr::Sample { source: self.source(), clock: None },
            _ => Expr::Number(self.number()),
        }
    }

    fn source(&mut self) -> Source {
        match self.random.u8(..5) {
            0 if !self.network.states.is_empty() => Source::State(self.random.usize(..self.network.states.len())),
            1 | 2 => match self.named_variable(|variable| !variable.is_boolean) {
                Some(v) if self.random.bool() => Source::Hold(v),
                Some(v) => Source::Hold(self.operand(self.network.variables[v].clock, v, true)),
                None => Source::Time,
            },
            3 => Source::Sum(Box::new(self.source()), Box::new(self.source())),
            _ => Source::Time,
        }
    }

    fn named_variable(&mut self, test: impl Fn(&Variable) -> bool) -> Option<usize> {
        let known = self.network.named().filter(|(_, variable)| test(variable)).map(|(number, _)| number);
        let known: Vec<usize> = known.collect();
        (!known.is_empty()).then(|| *self.pick(&known))
    }

    /// A clock as an expression over its base.
    fn clock_text(&mut self, clock: Clock) -> String {
        let base = Clock { base: clock.base, factor: Ratio::ONE, shift: Ratio::ZERO };
        let is_written = matches!(self.network.bases[clock.base], Base::Rational(_)) && self.random.u8(..3) == 0;
        let name = match is_written {
            true => self.network.constructor(clock.base),
            false => format!("c{}", clock.base),
        };
        if clock == base {
            return name;
        }
        let steps = self.route(base, clock).unwrap_or_else(|| self.detour(clock));
        steps.into_iter().fold(name, |text, step| converted(step, &text, true))
    }

    /// The way that always leads to a clock: the shift in ticks of the base, then the factors.
    fn detour(&self, clock: Clock) -> Vec<ClockConversion> {
        let Clock { factor, shift, .. } = clock;
        vec![
            ClockConversion::Shift(shift.numerator, shift.denominator),
            ClockConversion::Sub(factor.numerator),
            ClockConversion::Super(factor.denominator),
        ]
    }

    fn number(&mut self) -> f64 {
        f64::from(self.random.i16(-2000..2000)) / 1000.0 + 0.000_37
    }

    fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.random.usize(..list.len())]
    }
}
