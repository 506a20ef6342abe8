//! Relations on functions of time alone, such as the voltage of a source against a threshold. No integrator chooses its steps
//! by them, so that a crossing and its return may lie inside of one step.
//!
//! Interval arithmetic gives bounds of such a function and of its slope over a whole piece of time (Moore, *Interval Analysis*,
//! 1966). A piece in which zero lies outside of the bounds has no crossing, one in which the function is monotone has at
//! most one, and any other piece is halved. So the first crossing of a step is certain, however many there are.

use compile::{Address, Class, Memory, Program, RelationKind, Rounding, Side};
use dae::{Builtin, CompareOp, ExprId, Node, VarId};
use rustc_hash::FxHashMap;

/// Pieces that are looked at in one step; a step with more is searched like any other.
const MOST_PIECES: u32 = 20_000;
/// A piece is not halved any more when it is as short as this, relative to the step and to the time.
const SHORTEST: f64 = 1e-9;
const RESOLUTION: f64 = 1e-14;
/// Operations of one function.
const LONGEST: usize = 256;

/// The functions of time alone among the crossing functions of a program.
#[derive(Clone, Default)]
pub struct Signals {
    signals: Vec<Signal>,
    values: Vec<Bounds>,
    open: Vec<(f64, f64)>,
}

#[derive(Clone)]
struct Signal {
    function: usize,
    code: Vec<Operation>,
    /// What is subtracted from the result: the bound of a rounding, by its state.
    bound: Option<(Rounding, Side, Address)>,
}

/// An operation on results of earlier ones.
#[derive(Clone, Copy)]
enum Operation {
    Constant(f64),
    Time,
    /// What does not change between events.
    Kept {
        address: Address,
        negated: bool,
    },
    /// A comparison by its frozen state.
    Decided(CompareOp, Address),
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    Choose {
        condition: u32,
        then: u32,
        otherwise: u32,
    },
    Negate(u32),
    Add(u32, u32),
    Subtract(u32, u32),
    Multiply(u32, u32),
    Divide(u32, u32),
    Power(u32, u32),
    Function(Builtin, u32),
}

impl Signals {
    pub fn new(program: &Program) -> Self {
        let layout = &program.layout;
        let is_signal = |function: &usize| layout.relations[program.roots[*function].relation].class == Class::Signal;
        let functions: Vec<usize> = (0..program.roots.len()).filter(is_signal).collect();
        if functions.is_empty() {
            return Self::default();
        }
        let assignments = program.schedule.blocks.iter().filter_map(|block| match block {
            transform::Block::Assign { assignment, .. } => Some((layout.slot(assignment.variable), assignment)),
            transform::Block::System { .. } => None,
        });
        let assigned = assignments.map(|(slot, found)| (slot, (found.variable, found.value))).collect();
        let signal = |function: usize| {
            let root = &program.roots[function];
            let relation = &layout.relations[root.relation];
            let mut translation =
                Translation { program, assigned: &assigned, code: Vec::new(), known: FxHashMap::default() };
            translation.expression(relation.residue)?;
            let bound = match relation.kind {
                RelationKind::Compare { .. } => None,
                RelationKind::Round { rounding, .. } => Some((rounding, root.side, relation.state)),
            };
            Some(Signal { function, code: translation.code, bound })
        };
        Self { signals: functions.into_iter().filter_map(signal).collect(), ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.signals.is_empty()
    }

    /// A time behind the first crossing of any of the functions in a piece of time and before its next one. `status` are
    /// the signs that all crossing functions have between events.
    pub fn first(&mut self, memory: &Memory, status: &[i8], begin: f64, end: f64) -> Option<f64> {
        let mut first = None;
        for signal in &self.signals {
            let sign = f64::from(status[signal.function]);
            if sign != 0.0 {
                let search = Search { signal, memory, sign, values: &mut self.values, open: &mut self.open };
                first = search.first(begin, first.unwrap_or(end)).or(first);
            }
        }
        first
    }
}

/// The search for the first crossing of one function.
struct Search<'a> {
    signal: &'a Signal,
    memory: &'a Memory,
    sign: f64,
    values: &'a mut Vec<Bounds>,
    open: &'a mut Vec<(f64, f64)>,
}

impl Search<'_> {
    fn first(mut self, begin: f64, end: f64) -> Option<f64> {
        let shortest = (SHORTEST * (end - begin)).max(RESOLUTION * end.abs());
        self.open.clear();
        self.open.push((begin, end));
        for _ in 0..MOST_PIECES {
            let (a, b) = self.open.pop()?;
            let bounds = self.bounds(a, b);
            if bounds.value.low > 0.0 {
                continue;
            }
            let middle = 0.5 * (a + b);
            let is_short = b - a <= shortest;
            if !is_short && bounds.slope.contains(0.0) {
                self.open.push((middle, b));
                self.open.push((a, middle));
                continue;
            }
            // Where the function is monotone, its end tells; what is too short to be halved has its middle besides.
            let mut places = [middle, b].into_iter().skip(usize::from(!is_short));
            if let Some(place) = places.find(|&place| self.bounds(place, place).value.high <= 0.0) {
                return Some(place);
            }
        }
        None
    }

    /// The bounds over a piece of time, positive where nothing is triggered.
    fn bounds(&mut self, a: f64, b: f64) -> Bounds {
        self.values.clear();
        for operation in &self.signal.code {
            let bounds = operation.bounds(self.values, self.memory, Interval { low: a, high: b });
            self.values.push(bounds);
        }
        let mut result = self.values.last().copied().unwrap_or(Bounds::UNKNOWN);
        if let Some((rounding, side, state)) = self.signal.bound {
            let (lower, upper) = compile::bounds(rounding, self.memory.values[state as usize]);
            let bound = if side == Side::Lower { lower } else { upper };
            result.value = result.value.minus(Interval::point(bound));
        }
        if self.sign > 0.0 { result } else { result.negative() }
    }
}

/// Writes the operations of a function.
struct Translation<'a> {
    program: &'a Program,
    assigned: &'a FxHashMap<Address, (VarId, ExprId)>,
    code: Vec<Operation>,
    known: FxHashMap<ExprId, u32>,
}

impl Translation<'_> {
    /// The place of a value; `None` where bounds of it are not known.
    fn expression(&mut self, root: ExprId) -> Option<u32> {
        let exprs = &self.program.model().exprs;
        for id in exprs.postorder(&[root]) {
            if !self.known.contains_key(&id) {
                let place = self.operation(id)?;
                self.known.insert(id, place);
            }
        }
        self.known.get(&root).copied()
    }

    fn operation(&mut self, id: ExprId) -> Option<u32> {
        let exprs = &self.program.model().exprs;
        let of = |id: ExprId| self.known.get(&id).copied();
        let operation = match exprs.node(id) {
            Node::Real(value) => Operation::Constant(value),
            Node::Integer(value) => Operation::Constant(value as f64),
            Node::Boolean(value) => Operation::Constant(f64::from(u8::from(value))),
            Node::Time => Operation::Time,
            Node::Var(variable) => return self.variable(variable),
            Node::Neg(a) => Operation::Negate(of(a)?),
            Node::Add(a, b) => Operation::Add(of(a)?, of(b)?),
            Node::Sub(a, b) => Operation::Subtract(of(a)?, of(b)?),
            Node::Mul(a, b) => Operation::Multiply(of(a)?, of(b)?),
            Node::Div(a, b) => Operation::Divide(of(a)?, of(b)?),
            Node::Pow(a, b) => Operation::Power(of(a)?, of(b)?),
            Node::Not(a) => Operation::Not(of(a)?),
            Node::And(a, b) => Operation::And(of(a)?, of(b)?),
            Node::Or(a, b) => Operation::Or(of(a)?, of(b)?),
            Node::Compare { op, event: true, .. } => Operation::Decided(op, self.program.layout.relation(id)?.state),
            Node::If { condition, then, otherwise } => {
                Operation::Choose { condition: of(condition)?, then: of(then)?, otherwise: of(otherwise)? }
            }
            Node::Builtin(Builtin::FloorEvent | Builtin::CeilEvent, _) => {
                Operation::Kept { address: self.program.layout.relation(id)?.state, negated: false }
            }
            Node::Builtin(function, args) => match exprs.arguments(args) {
                &[x] if has_bounds(function) => Operation::Function(function, of(x)?),
                _ => return None,
            },
            _ => return None,
        };
        self.push(operation)
    }

    fn push(&mut self, operation: Operation) -> Option<u32> {
        self.code.push(operation);
        (self.code.len() <= LONGEST).then(|| self.code.len() as u32 - 1)
    }

    /// A variable that is assigned a function of time is that function; what changes at events only is kept in memory.
    fn variable(&mut self, variable: VarId) -> Option<u32> {
        let place = self.program.layout.place(variable);
        let role = self.program.schedule.roles.get(variable).copied()?;
        let of = match role {
            transform::Role::Alias { of, .. } => of,
            _ => variable,
        };
        let declared = &self.program.model().variables[of];
        let role = self.program.schedule.roles.get(of).copied()?;
        let is_kept = declared.ty != dae::VariableType::Real
            || declared.variability <= dae::Variability::Discrete
            || matches!(role, transform::Role::Constant | transform::Role::Parameter | transform::Role::Discrete);
        if is_kept {
            return self.push(Operation::Kept { address: place.slot, negated: place.negated });
        }
        let &(assigned, value) = self.assigned.get(&place.slot)?;
        let mut result = self.expression(value)?;
        if self.program.layout.place(assigned).negated != place.negated {
            result = self.push(Operation::Negate(result))?;
        }
        Some(result)
    }
}

fn has_bounds(function: Builtin) -> bool {
    use Builtin::*;
    matches!(function, Sin | Cos | Sinh | Cosh | Tanh | Atan | Exp | Log | Log10 | Sqrt | Abs)
}

impl Operation {
    fn bounds(self, values: &[Bounds], memory: &Memory, time: Interval) -> Bounds {
        let of = |place: u32| values[place as usize];
        let truth = |place: u32| of(place).value.low != 0.0;
        let logical = |value: bool| Bounds::constant(f64::from(u8::from(value)));
        match self {
            Operation::Constant(value) => Bounds::constant(value),
            Operation::Time => Bounds { value: time, slope: Interval::point(1.0) },
            Operation::Kept { address, negated } => {
                let value = memory.values[address as usize];
                Bounds::constant(if negated { -value } else { value })
            }
            Operation::Decided(op, state) => logical(decided(op, memory.values[state as usize])),
            Operation::Not(a) => logical(!truth(a)),
            Operation::And(a, b) => logical(truth(a) && truth(b)),
            Operation::Or(a, b) => logical(truth(a) || truth(b)),
            Operation::Choose { condition, then, otherwise } => of(if truth(condition) { then } else { otherwise }),
            Operation::Negate(a) => of(a).negative(),
            Operation::Add(a, b) => {
                Bounds { value: of(a).value.plus(of(b).value), slope: of(a).slope.plus(of(b).slope) }
            }
            Operation::Subtract(a, b) => {
                Bounds { value: of(a).value.minus(of(b).value), slope: of(a).slope.minus(of(b).slope) }
            }
            Operation::Multiply(a, b) if a == b => of(a).power(2.0),
            Operation::Multiply(a, b) => of(a).times(of(b)),
            Operation::Divide(a, b) => of(a).times(of(b).inverse()),
            Operation::Power(a, b) => match of(b).value {
                exponent if exponent.low == exponent.high => of(a).power(exponent.low),
                _ => Bounds::UNKNOWN,
            },
            Operation::Function(function, a) => of(a).function(function),
        }
    }
}

/// What a comparison gives, by the sign of its residue.
fn decided(op: CompareOp, state: f64) -> bool {
    match op {
        CompareOp::Less => state < 0.0,
        CompareOp::LessEqual => state <= 0.0,
        CompareOp::Greater => state > 0.0,
        CompareOp::GreaterEqual => state >= 0.0,
        CompareOp::Equal => state == 0.0,
        CompareOp::NotEqual => state != 0.0,
    }
}

/// Bounds of a function of time and of its slope.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    value: Interval,
    slope: Interval,
}

impl Bounds {
    const UNKNOWN: Bounds = Bounds { value: Interval::ALL, slope: Interval::ALL };

    fn constant(value: f64) -> Self {
        Bounds { value: Interval::point(value), slope: Interval::point(0.0) }
    }

    fn negative(self) -> Self {
        Bounds { value: self.value.negative(), slope: self.slope.negative() }
    }

    fn times(self, other: Self) -> Self {
        let slope = self.slope.times(other.value).plus(self.value.times(other.slope));
        Bounds { value: self.value.times(other.value), slope }
    }

    fn inverse(self) -> Self {
        let value = self.value.inverse();
        Bounds { value, slope: self.slope.times(value.power(2).negative()) }
    }

    fn power(self, exponent: f64) -> Self {
        /// Powers by multiplication.
        const LARGEST: f64 = 64.0;
        if exponent.fract() == 0.0 && exponent.abs() <= LARGEST {
            let positive = exponent.abs() as u32;
            let derivative = match positive {
                0 => Interval::point(0.0),
                _ => self.value.power(positive - 1).times(Interval::point(f64::from(positive))),
            };
            let result = Bounds { value: self.value.power(positive), slope: derivative.times(self.slope) };
            return if exponent < 0.0 { result.inverse() } else { result };
        }
        let logarithm = self.function(Builtin::Log);
        logarithm.times(Bounds::constant(exponent)).function(Builtin::Exp)
    }

    /// A function of a function: its own bounds, and those of its derivative times the slope inside.
    fn function(self, function: Builtin) -> Self {
        let x = self.value;
        let one = Interval::point(1.0);
        let (value, derivative) = match function {
            Builtin::Sin => (x.sine(), x.cosine()),
            Builtin::Cos => (x.cosine(), x.sine().negative()),
            Builtin::Sinh => (x.rising(f64::sinh), x.hyperbolic_cosine()),
            Builtin::Cosh => (x.hyperbolic_cosine(), x.rising(f64::sinh)),
            Builtin::Tanh => {
                let value = x.rising(f64::tanh);
                (value, one.minus(value.power(2)))
            }
            Builtin::Atan => (x.rising(f64::atan), one.plus(x.power(2)).inverse()),
            Builtin::Exp => (x.rising(f64::exp), x.rising(f64::exp)),
            Builtin::Log if x.low > 0.0 => (x.rising(f64::ln), x.inverse()),
            Builtin::Log10 if x.low > 0.0 => {
                (x.rising(f64::log10), x.times(Interval::point(std::f64::consts::LN_10)).inverse())
            }
            Builtin::Sqrt if x.low >= 0.0 => {
                let value = x.rising(f64::sqrt);
                (value, value.times(Interval::point(2.0)).inverse())
            }
            Builtin::Abs if x.low >= 0.0 => return self,
            Builtin::Abs if x.high <= 0.0 => return self.negative(),
            Builtin::Abs => (Interval { low: 0.0, high: x.high.max(-x.low) }, Interval { low: -1.0, high: 1.0 }),
            _ => (Interval::ALL, Interval::ALL),
        };
        Bounds { value, slope: derivative.times(self.slope) }
    }
}

/// All numbers from `low` to `high`; results are rounded outwards.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    const ALL: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn point(value: f64) -> Self {
        Interval { low: value, high: value }
    }

    /// Rounded outwards, for an operation with a relative error of some units in the last place.
    fn wider(low: f64, high: f64) -> Self {
        const ROUNDING: f64 = 4.0 * f64::EPSILON;
        let (low, high) = (low - ROUNDING * low.abs(), high + ROUNDING * high.abs());
        if low.is_nan() || high.is_nan() { Interval::ALL } else { Interval { low, high } }
    }

    fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    fn negative(self) -> Self {
        Interval { low: -self.high, high: -self.low }
    }

    fn plus(self, other: Self) -> Self {
        Interval::wider(self.low + other.low, self.high + other.high)
    }

    fn minus(self, other: Self) -> Self {
        self.plus(other.negative())
    }

    fn times(self, other: Self) -> Self {
        let is_zero = |x: Self| x.low == 0.0 && x.high == 0.0;
        if is_zero(self) || is_zero(other) {
            return Interval::point(0.0);
        }
        let products = [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        if products.iter().any(|product| product.is_nan()) {
            return Interval::ALL;
        }
        let low = products.iter().copied().fold(f64::INFINITY, f64::min);
        Interval::wider(low, products.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }

    fn inverse(self) -> Self {
        if self.contains(0.0) { Interval::ALL } else { Interval::wider(1.0 / self.high, 1.0 / self.low) }
    }

    fn power(self, exponent: u32) -> Self {
        let mut result = Interval::point(1.0);
        let is_even = exponent.is_multiple_of(2);
        // The power of an even exponent is that of the absolute value.
        let base = match () {
            () if !is_even || self.low >= 0.0 => self,
            () if self.high <= 0.0 => self.negative(),
            () => Interval { low: 0.0, high: self.high.max(-self.low) },
        };
        if is_even || base.low >= 0.0 {
            (0..exponent).for_each(|_| result = result.times(base));
            return result;
        }
        let odd = |x: f64| {
            let power = Interval::point(x.abs()).power(exponent);
            if x < 0.0 { power.negative() } else { power }
        };
        Interval { low: odd(self.low).low, high: odd(self.high).high }
    }

    /// Of a function that rises everywhere.
    fn rising(self, function: impl Fn(f64) -> f64) -> Self {
        Interval::wider(function(self.low), function(self.high))
    }

    fn hyperbolic_cosine(self) -> Self {
        let highest = self.low.abs().max(self.high.abs());
        let lowest = if self.contains(0.0) { 0.0 } else { self.low.abs().min(self.high.abs()) };
        Interval::wider(lowest.cosh(), highest.cosh())
    }

    fn sine(self) -> Self {
        self.wave(f64::sin, 0.25)
    }

    fn cosine(self) -> Self {
        self.wave(f64::cos, 0.0)
    }

    /// Of sine or cosine, which has its crest at this part of its period.
    fn wave(self, function: impl Fn(f64) -> f64, crest: f64) -> Self {
        use std::f64::consts::TAU;
        let (low, high) = (self.low / TAU, self.high / TAU);
        let is_part = high - low < 1.0;
        if !is_part {
            return Interval { low: -1.0, high: 1.0 };
        }
        // Rounding may take a crest out of the piece that it is in.
        let slack = 4.0 * f64::EPSILON * (1.0 + low.abs().max(high.abs()));
        let reaches = |place: f64| ((low - place - slack).ceil() + place) <= high + slack;
        let (at_low, at_high) = (function(self.low), function(self.high));
        let lowest = if reaches(crest + 0.5) { -1.0 } else { at_low.min(at_high) };
        let highest = if reaches(crest) { 1.0 } else { at_low.max(at_high) };
        let wider = Interval::wider(lowest, highest);
        Interval { low: wider.low.max(-1.0), high: wider.high.min(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds hold at all points of a piece, for values and for slopes.
    #[test]
    fn bounds_hold_inside() {
        type Function = (&'static str, fn(Bounds) -> Bounds, fn(f64) -> f64, fn(f64) -> f64);
        let functions: &[Function] = &[
            ("sin", |x| x.function(Builtin::Sin), f64::sin, f64::cos),
            ("cos", |x| x.function(Builtin::Cos), f64::cos, |x| -x.sin()),
            ("exp", |x| x.function(Builtin::Exp), f64::exp, f64::exp),
            ("cosh", |x| x.function(Builtin::Cosh), f64::cosh, f64::sinh),
            ("tanh", |x| x.function(Builtin::Tanh), f64::tanh, |x| 1.0 - x.tanh().powi(2)),
            ("atan", |x| x.function(Builtin::Atan), f64::atan, |x| 1.0 / (1.0 + x * x)),
            ("square", |x| x.power(2.0), |x| x * x, |x| 2.0 * x),
            ("cube", |x| x.power(3.0), |x| x * x * x, |x| 3.0 * x * x),
            ("inverse square", |x| x.power(-2.0), |x| x.powi(-2), |x| -2.0 * x.powi(-3)),
            ("root", |x| x.power(2.0).function(Builtin::Sqrt), f64::abs, f64::signum),
            ("product", |x| x.function(Builtin::Sin).times(x), |x| x * x.sin(), |x| x.sin() + x * x.cos()),
        ];
        for &(name, bounds, value, slope) in functions {
            for place in 0..60 {
                let low = -7.03 + 0.23 * f64::from(place);
                let high = low + 0.01 + 0.17 * f64::from(place % 9);
                let found = bounds(Bounds { value: Interval { low, high }, slope: Interval::point(1.0) });
                for step in 0..=20 {
                    let x = low + (high - low) * f64::from(step) / 20.0;
                    assert!(found.value.contains(value(x)), "{name} at {x} in {low}..{high}: {found:?}");
                    assert!(found.slope.contains(slope(x)), "slope of {name} at {x} in {low}..{high}: {found:?}");
                }
            }
        }
    }

    /// Over short pieces bounds are narrow.
    #[test]
    fn bounds_are_narrow() {
        let x = Bounds { value: Interval { low: 1.0, high: 1.001 }, slope: Interval::point(1.0) };
        let found = x.function(Builtin::Sin).times(x.function(Builtin::Exp));
        assert!(found.value.high - found.value.low < 0.005, "{found:?}");
        assert!(found.slope.low > 3.7 && found.slope.high < 3.8, "{found:?}");
    }
}
