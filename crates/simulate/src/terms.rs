//! How large the terms of expressions are: what their rounding errors go with.
//!
//! A difference of large values has the rounding errors of these values. The sizes follow from those of variables and numbers by
//! the derivatives of each operation, so that a voltage over a large resistance is as small as the current it stands for.

use compile::{Address, Memory, Program};
use dae::{Builtin, ExprId, Exprs, Node, VarId, scalar};
use rustc_hash::FxHashMap;

/// Expressions and the sizes of their terms.
#[derive(Clone, Default)]
pub struct Terms {
    /// Operands before what they are in.
    order: Vec<ExprId>,
    place: FxHashMap<ExprId, u32>,
    numbers: Vec<Number>,
    /// The places of the expressions.
    roots: Vec<u32>,
    /// The sizes of variables, where it is not their values that count.
    given: FxHashMap<Address, f64>,
    /// The size of time, as a part of its value.
    time: f64,
}

impl Terms {
    pub fn of(program: &Program, expressions: &[ExprId]) -> Self {
        let order = program.model().exprs.postorder(expressions);
        let place: FxHashMap<ExprId, u32> = order.iter().copied().zip(0..).collect();
        let roots = expressions.iter().filter_map(|expression| place.get(expression).copied()).collect();
        Self { order, place, roots, time: 1.0, ..Self::default() }
    }

    /// The value of one expression; NaN where it cannot be followed.
    pub fn value_of(program: &Program, expression: ExprId, memory: &Memory) -> f64 {
        let mut terms = Self::of(program, &[expression]);
        terms.evaluate(program, memory);
        terms.numbers.last().map_or(f64::NAN, |number| number.value)
    }

    /// The same, where less of time counts than its value.
    pub fn with_time(self, part: f64) -> Self {
        Self { time: part, ..self }
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Says how large a variable is, where it is not its value that counts.
    pub fn give(&mut self, program: &Program, variable: VarId, size: f64) {
        self.given.insert(program.layout.slot(variable), size);
    }

    pub fn evaluate(&mut self, program: &Program, memory: &Memory) {
        self.begin();
        while self.numbers.len() < self.order.len() {
            self.next(program, memory);
        }
    }

    /// Forgets what was evaluated.
    pub fn begin(&mut self) {
        self.numbers.clear();
    }

    /// Evaluates up to an expression and says how large its terms are.
    pub fn evaluate_to(&mut self, root: usize, program: &Program, memory: &Memory) -> f64 {
        let end = self.roots.get(root).map_or(self.order.len(), |&place| place as usize + 1);
        while self.numbers.len() < end {
            self.next(program, memory);
        }
        self.size(root)
    }

    fn next(&mut self, program: &Program, memory: &Memory) {
        let (exprs, id) = (&program.model().exprs, self.order[self.numbers.len()]);
        let number = Sizes { program, memory, exprs, terms: self }.number(id);
        self.numbers.push(number);
    }

    /// The sum of the sizes of the terms of an expression; NaN where it is not known.
    pub fn size(&self, root: usize) -> f64 {
        let number = self.roots.get(root).and_then(|&place| self.numbers.get(place as usize));
        number.map_or(f64::NAN, |number| number.size)
    }
}

/// A value and how much it changes, at most, when every number it is computed from changes by its own size: what a rounding
/// error is multiplied by.
#[derive(Clone, Copy)]
struct Number {
    value: f64,
    size: f64,
}

const UNKNOWN: Number = Number { value: f64::NAN, size: f64::NAN };

struct Sizes<'a> {
    program: &'a Program,
    memory: &'a Memory,
    exprs: &'a Exprs,
    terms: &'a Terms,
}

impl Sizes<'_> {
    fn of(&self, id: ExprId) -> Number {
        let place = self.terms.place.get(&id);
        place.and_then(|&place| self.terms.numbers.get(place as usize)).copied().unwrap_or(UNKNOWN)
    }

    fn number(&self, id: ExprId) -> Number {
        let exact = |value: f64| Number { value, size: value.abs() };
        let logical = |truth: bool| Number { value: f64::from(u8::from(truth)), size: 0.0 };
        // Between events, and for each configuration that is tried at one, relations are what they were taken for.
        if let Some(value) = self.program.frozen_value(self.memory, id) {
            return Number { value, size: 0.0 };
        }
        match self.exprs.node(id) {
            Node::Var(v) => {
                let value = self.program.value(self.memory, v);
                let given = self.terms.given.get(&self.program.layout.slot(v)).copied();
                Number { value, size: given.map_or(value.abs(), |given| value.abs().max(given)) }
            }
            Node::Time => {
                let value = self.memory.time();
                Number { value, size: self.terms.time * value.abs() }
            }
            Node::Real(value) => exact(value),
            Node::Integer(value) => exact(value as f64),
            Node::Boolean(value) => logical(value),
            Node::Neg(a) => {
                let a = self.of(a);
                Number { value: -a.value, ..a }
            }
            Node::Add(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                Number { value: a.value + b.value, size: a.size + b.size }
            }
            Node::Sub(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                Number { value: a.value - b.value, size: a.size + b.size }
            }
            Node::Mul(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                Number { value: a.value * b.value, size: a.value.abs() * b.size + b.value.abs() * a.size }
            }
            Node::Div(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                let value = a.value / b.value;
                Number { value, size: (a.size + value.abs() * b.size) / b.value.abs() }
            }
            Node::Pow(a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                let value = scalar::power(a.value, b.value).unwrap_or(f64::NAN);
                let by_base = if value == 0.0 { 0.0 } else { (b.value * value / a.value).abs() * a.size };
                let by_exponent = if a.value > 0.0 { (value * a.value.ln()).abs() * b.size } else { 0.0 };
                Number { value, size: value.abs() + by_base + by_exponent }
            }
            Node::Not(a) => logical(self.of(a).value == 0.0),
            Node::And(a, b) => logical(self.of(a).value != 0.0 && self.of(b).value != 0.0),
            Node::Or(a, b) => logical(self.of(a).value != 0.0 || self.of(b).value != 0.0),
            Node::Compare { op, left, right, .. } => {
                logical(scalar::compare_reals(op, self.of(left).value, self.of(right).value))
            }
            Node::If { condition, then, otherwise } => {
                self.of(if self.of(condition).value != 0.0 { then } else { otherwise })
            }
            Node::Builtin(op, args) => self.builtin(op, self.exprs.arguments(args)),
            _ => UNKNOWN,
        }
    }

    fn builtin(&self, op: Builtin, args: &[ExprId]) -> Number {
        let at = |place: usize| args.get(place).map_or(f64::NAN, |&arg| self.of(arg).value);
        let values = [at(0), at(1), at(2)];
        let value = scalar::builtin(op, values);
        let mut size = value.abs();
        for (place, &arg) in args.iter().enumerate().take(values.len()) {
            size += scalar::slope(op, values, place).abs() * self.of(arg).size;
        }
        Number { value, size }
    }
}
