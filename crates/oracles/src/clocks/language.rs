//! Networks of clocked variables and their text.

use std::fmt::Write;

use super::ratio::Ratio;

/// What ticks, and when.
#[derive(Clone, Debug)]
pub enum Base {
    /// `Clock(n, d)`.
    Rational(Ratio),
    /// `Clock(0.3)`.
    Decimal(Ratio),
    /// Rises at these instants; the interval of the first tick.
    Event { rises: Vec<Ratio>, first: f64 },
    /// `Clock(n, resolution)`, where n is computed at the ticks from its value before.
    Varying { start: i64, resolution: i64 },
}

impl Base {
    pub fn is_periodic(&self) -> bool {
        matches!(self, Base::Rational(_) | Base::Decimal(_))
    }

    /// The rule of a varying interval.
    pub fn next_count(before: i64) -> i64 {
        1 + (3 * before + 1) % 4
    }
}

/// Every `factor`-th tick of a base, from tick number `shift` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    pub base: usize,
    pub factor: Ratio,
    pub shift: Ratio,
}

/// One conversion.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ClockConversion {
    Sub(i128),
    Super(i128),
    Shift(i128, i128),
    Back(i128, i128),
    /// To any clock of the base.
    NoClock,
}

#[derive(Clone, Debug)]
pub enum Expr {
    Number(f64),
    Var(usize),
    Previous(usize),
    Add(Box<Expr>, Box<Expr>),
    Scale(f64, Box<Expr>),
    Less(Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `f(u)`, see `function`.
    Call(Box<Expr>),
    /// Of the clock of the equation, with a variable of that clock where one is needed to tell.
    Interval(usize),
    FirstTick(usize),
    /// The sum of converted operands, which are variables of another clock; without a factor where it is inferred.
    Convert {
        step: ClockConversion,
        operands: Vec<usize>,
        has_factor: bool,
    },
    /// What is sampled, and the clock where it is told.
    Sample {
        source: Source,
        clock: Option<String>,
    },
}

/// An expression of continuous time.
#[derive(Clone, Debug)]
pub enum Source {
    Time,
    State(usize),
    Hold(usize),
    Sum(Box<Source>, Box<Source>),
}

pub struct Variable {
    pub clock: Clock,
    pub start: f64,
    pub value: Expr,
    pub is_boolean: bool,
    /// It has no name: its text stands where it is used, once.
    pub is_inline: bool,
    /// Stands in `when clock then`.
    pub when: Option<String>,
}

pub struct State {
    pub start: f64,
    /// `der(x)` is what is held, and a number.
    pub held: usize,
    pub slope: f64,
}

pub struct Network {
    pub bases: Vec<Base>,
    /// In the order in which they can be computed at an instant.
    pub variables: Vec<Variable>,
    pub states: Vec<State>,
    pub stop: f64,
}

pub fn function(u: f64) -> f64 {
    if u < 0.37 { 1.0 - 0.5 * u } else { 0.25 * u }
}

impl Network {
    pub fn text(&self) -> String {
        let mut text = String::from(
            "function f input Real u; output Real y; algorithm y := if u < 0.37 then 1 - 0.5*u else 0.25*u; end f;\nmodel M\n",
        );
        for (number, base) in self.bases.iter().enumerate() {
            let _ = writeln!(text, "  Clock c{number} = {};", self.constructor(number));
            if let Base::Varying { start, .. } = base {
                let _ = writeln!(text, "  Integer n{number}(start = {start});");
            }
        }
        for (number, state) in self.states.iter().enumerate() {
            let _ = writeln!(text, "  Real x{number}(start = {:?}, fixed = true);", state.start);
        }
        for (number, variable) in self.named() {
            let (ty, start) = match variable.is_boolean {
                true => ("Boolean", format!("{}", variable.start != 0.0)),
                false => ("Real", format!("{:?}", variable.start)),
            };
            let _ = writeln!(text, "  {ty} v{number}(start = {start});");
        }
        text += "equation\n";
        for (number, base) in self.bases.iter().enumerate() {
            if let Base::Varying { .. } = base {
                let rule = format!("1 + mod(3*previous(n{number}) + 1, 4)");
                let _ = writeln!(text, "  when c{number} then n{number} = {rule}; end when;");
            }
        }
        for (number, state) in self.states.iter().enumerate() {
            let held = self.operand(state.held);
            let _ = writeln!(text, "  der(x{number}) = hold({held}) + ({:?});", state.slope);
        }
        for (number, variable) in self.named() {
            let equation = format!("v{number} = {};", self.expr(&variable.value));
            match &variable.when {
                Some(clock) => {
                    let _ = writeln!(text, "  when {clock} then {equation} end when;");
                }
                None => {
                    let _ = writeln!(text, "  {equation}");
                }
            }
        }
        text + "end M;\n"
    }

    pub fn named(&self) -> impl Iterator<Item = (usize, &Variable)> {
        self.variables.iter().enumerate().filter(|(_, variable)| !variable.is_inline)
    }

    pub fn constructor(&self, base: usize) -> String {
        match &self.bases[base] {
            Base::Rational(interval) => format!("Clock({}, {})", interval.numerator, interval.denominator),
            Base::Decimal(interval) => format!("Clock({:?})", interval.value()),
            Base::Event { rises, first } => {
                let window = |rise: &Ratio| {
                    let begin = format!("{}/{}", rise.numerator, rise.denominator);
                    format!("(time > {begin} and time < {begin} + 0.01)")
                };
                let windows: Vec<String> = rises.iter().map(window).collect();
                format!("Clock({}, startInterval = {first:?})", windows.join(" or "))
            }
            Base::Varying { resolution, .. } => format!("Clock(n{base}, {resolution})"),
        }
    }

    fn operand(&self, number: usize) -> String {
        let variable = &self.variables[number];
        if variable.is_inline { self.expr(&variable.value) } else { format!("v{number}") }
    }

    fn expr(&self, expr: &Expr) -> String {
        let text = |e: &Expr| self.expr(e);
        match expr {
            Expr::Number(value) => format!("({value:?})"),
            Expr::Var(v) => format!("v{v}"),
            Expr::Previous(v) => format!("previous(v{v})"),
            Expr::Add(a, b) => format!("({} + {})", text(a), text(b)),
            Expr::Scale(factor, a) => format!("({factor:?})*{}", text(a)),
            Expr::Less(a, b) => format!("({} < {})", text(a), text(b)),
            Expr::If(c, a, b) => format!("(if {} then {} else {})", text(c), text(a), text(b)),
            Expr::Call(u) => format!("f({})", text(u)),
            Expr::Interval(v) => format!("interval(v{v})"),
            Expr::FirstTick(v) => format!("firstTick(v{v})"),
            Expr::Convert { step, operands, has_factor } => {
                let operands: Vec<String> = operands.iter().map(|&v| self.operand(v)).collect();
                match operands.as_slice() {
                    [one] => converted(*step, one, *has_factor),
                    several => {
                        format!("sum({})", converted(*step, &format!("{{{}}}", several.join(", ")), *has_factor))
                    }
                }
            }
            Expr::Sample { source, clock } => match clock {
                Some(clock) => format!("sample({}, {clock})", self.source(source)),
                None => format!("sample({})", self.source(source)),
            },
        }
    }

    fn source(&self, source: &Source) -> String {
        match source {
            Source::Time => "time".to_owned(),
            Source::State(x) => format!("x{x}"),
            Source::Hold(v) => format!("hold({})", self.operand(*v)),
            Source::Sum(a, b) => format!("({} + {})", self.source(a), self.source(b)),
        }
    }
}

/// A conversion of clocks or of clocked expressions.
pub fn converted(step: ClockConversion, operand: &str, has_factor: bool) -> String {
    match step {
        ClockConversion::Sub(_) if !has_factor => format!("subSample({operand})"),
        ClockConversion::Super(_) if !has_factor => format!("superSample({operand})"),
        ClockConversion::Sub(by) => format!("subSample({operand}, {by})"),
        ClockConversion::Super(by) => format!("superSample({operand}, {by})"),
        ClockConversion::Shift(by, 1) => format!("shiftSample({operand}, {by})"),
        ClockConversion::Shift(by, of) => format!("shiftSample({operand}, {by}, {of})"),
        ClockConversion::Back(by, 1) => format!("backSample({operand}, {by})"),
        ClockConversion::Back(by, of) => format!("backSample({operand}, {by}, resolution = {of})"),
        ClockConversion::NoClock => format!("noClock({operand})"),
    }
}
