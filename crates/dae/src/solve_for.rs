//! Linearity of expressions and the symbolic solution of an equation for one unknown.
//!
//! An unknown is a leaf of the arena, `Var(v)` or `Der(v)`, given by its id. A solution says what it divides by, because
//! nothing may be divided by what may vanish: the caller decides whether a `Pivot` is good enough.

use rustc_hash::FxHashMap;

use crate::expr::{Builtin, CallSite, ExprId, Exprs, Node, Shape};
use crate::function::Functions;
use crate::model::VarId;

/// What a symbolic solution divides by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pivot {
    /// Nothing, or what is never zero: a literal, `exp(x)`, `1 + x^2` …
    NonZero,
    /// An expression of parameters and constants that may be zero for some values of them.
    Parameter(ExprId),
    /// Anything else: it may vanish during the run.
    MayVanish(ExprId),
}

/// `unknown = value`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Solution {
    /// The value of the unknown.
    pub value: ExprId,
    /// What it is divided by.
    pub pivot: Pivot,
}

/// How an expression depends on unknowns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Degree {
    Independent,
    Linear,
    Nonlinear,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sign {
    Positive,
    Negative,
    NotNegative,
    NotPositive,
    NonZero,
    Unknown,
}

impl Exprs {
    /// The degree in the leaves for which `unknown` is true. With `frozen`, relations that make events count as constant,
    /// as they are between events.
    pub fn degree(&self, expr: ExprId, frozen: bool, unknown: impl Fn(Node) -> bool) -> Degree {
        let mut degrees: FxHashMap<ExprId, Degree> = FxHashMap::default();
        for id in self.postorder(&[expr]) {
            let of = |id: ExprId| degrees.get(&id).copied().unwrap_or(Degree::Independent);
            let multiplied = |a: Degree, b: Degree| match (a, b) {
                (Degree::Independent, other) | (other, Degree::Independent) => other,
                _ => Degree::Nonlinear,
            };
            let degree = match self.node(id) {
                node @ (Node::Var(_) | Node::Der(_) | Node::Pre(_) | Node::Previous(_) | Node::Time) => {
                    if unknown(node) { Degree::Linear } else { Degree::Independent }
                }
                Node::Neg(a) => of(a),
                Node::Add(a, b) | Node::Sub(a, b) => of(a).max(of(b)),
                Node::Mul(a, b) => multiplied(of(a), of(b)),
                Node::Div(a, b) if of(b) == Degree::Independent => of(a),
                Node::Compare { event: true, .. } if frozen => Degree::Independent,
                Node::Builtin(op, _) if frozen && freezes(op) => Degree::Independent,
                Node::If { condition, then, otherwise } if of(condition) == Degree::Independent => {
                    of(then).max(of(otherwise))
                }
                Node::Builtin(Builtin::Homotopy, args) => {
                    self.arguments(args).iter().map(|&item| of(item)).max().unwrap_or(Degree::Independent)
                }
                _ => {
                    let mut any = false;
                    self.for_each_child(id, |child| any |= of(child) != Degree::Independent);
                    if any { Degree::Nonlinear } else { Degree::Independent }
                }
            };
            degrees.insert(id, degree);
        }
        degrees.get(&expr).copied().unwrap_or(Degree::Independent)
    }

    /// Whether `expr` is at most linear in the variables for which `unknown` is true; see [`Exprs::degree`].
    pub fn is_linear_in(&self, expr: ExprId, frozen: bool, unknown: impl Fn(VarId) -> bool) -> bool {
        self.degree(expr, frozen, |node| matches!(node, Node::Var(v) if unknown(v))) <= Degree::Linear
    }

    /// `(a, b)` with `expr = a·unknown + b`, both free of the unknown; `None` if it is not linear in it.
    pub fn linear_coefficient(&mut self, expr: ExprId, unknown: ExprId) -> Option<(ExprId, ExprId)> {
        let zero = self.int(0);
        // Parts that are absent do not depend on the unknown.
        let mut parts: FxHashMap<ExprId, (ExprId, ExprId)> = FxHashMap::default();
        for id in self.postorder(&[expr]) {
            if id < unknown {
                continue;
            }
            if id == unknown {
                let one = self.int(1);
                parts.insert(id, (one, zero));
                continue;
            }
            let mut depends = false;
            self.for_each_child(id, |child| depends |= parts.contains_key(&child));
            if !depends {
                continue;
            }
            let of = |id: ExprId| parts.get(&id).copied().unwrap_or((zero, id));
            let free = |id: ExprId| !parts.contains_key(&id);
            let result = match self.node(id) {
                Node::Neg(x) => {
                    let (a, b) = of(x);
                    (self.neg(a), self.neg(b))
                }
                Node::Add(x, y) => {
                    let ((a, b), (c, d)) = (of(x), of(y));
                    (self.add(a, c), self.add(b, d))
                }
                Node::Sub(x, y) => {
                    let ((a, b), (c, d)) = (of(x), of(y));
                    (self.sub(a, c), self.sub(b, d))
                }
                Node::Mul(x, y) if free(x) => {
                    let (a, b) = of(y);
                    (self.mul(x, a), self.mul(x, b))
                }
                Node::Mul(x, y) if free(y) => {
                    let (a, b) = of(x);
                    (self.mul(a, y), self.mul(b, y))
                }
                Node::Div(x, y) if free(y) => {
                    let (a, b) = of(x);
                    (self.div(a, y), self.div(b, y))
                }
                Node::If { condition, then, otherwise } if free(condition) => {
                    let ((a, b), (c, d)) = (of(then), of(otherwise));
                    (self.if_(condition, a, c), self.if_(condition, b, d))
                }
                _ => return None,
            };
            parts.insert(id, result);
        }
        Some(parts.get(&expr).copied().unwrap_or((zero, expr)))
    }

    /// Solves `left = right` for `unknown` where that is possible in closed form and the solution is unique.
    /// `is_parameter` selects the variables that do not change during the run.
    pub fn solve_for(
        &mut self,
        left: ExprId,
        right: ExprId,
        unknown: ExprId,
        functions: &Functions,
        is_parameter: impl Fn(VarId) -> bool,
    ) -> Option<Solution> {
        let in_left = self.contains(left, unknown);
        let in_right = self.contains(right, unknown);
        if let (Some((a, b)), Some((c, d))) =
            (self.linear_coefficient(left, unknown), self.linear_coefficient(right, unknown))
        {
            // The side with the unknown gives the sign, so that solutions read as they were written.
            let (coefficient, rest) = match self.is_zero(a) {
                true => (c, self.sub(b, d)),
                false => (self.sub(a, c), self.sub(d, b)),
            };
            return self.divided(rest, coefficient, &is_parameter);
        }
        match (in_left, in_right) {
            (true, false) => self.peel(left, right, unknown, functions, &is_parameter),
            (false, true) => self.peel(right, left, unknown, functions, &is_parameter),
            _ => None,
        }
    }

    fn divided(
        &mut self,
        rest: ExprId,
        coefficient: ExprId,
        is_parameter: &impl Fn(VarId) -> bool,
    ) -> Option<Solution> {
        if self.is_zero(coefficient) {
            return None;
        }
        let pivot = self.pivot(coefficient, is_parameter);
        let value = self.quotient(rest, coefficient, 0);
        Some(Solution { value, pivot })
    }

    /// What dividing by `divisor` means.
    pub fn pivot(&self, divisor: ExprId, is_parameter: impl Fn(VarId) -> bool) -> Pivot {
        if self.is_never_zero(divisor) {
            return Pivot::NonZero;
        }
        let varies = self.any(divisor, |node| match node {
            Node::Var(v) => !is_parameter(v),
            Node::Time | Node::Der(_) | Node::Pre(_) | Node::Previous(_) => true,
            Node::Builtin(op, _) => !is_function_of_arguments(op),
            _ => false,
        });
        if varies { Pivot::MayVanish(divisor) } else { Pivot::Parameter(divisor) }
    }

    /// `a/b`, with the division taken into quotients and alternatives.
    fn quotient(&mut self, a: ExprId, b: ExprId, depth: usize) -> ExprId {
        const DEPTH: usize = 8;
        match (self.node(a), self.node(b)) {
            (_, Node::Div(n, d)) => {
                let product = self.mul(a, d);
                if depth < DEPTH { self.quotient(product, n, depth + 1) } else { self.div(product, n) }
            }
            (_, Node::If { condition, then, otherwise }) if depth < DEPTH => {
                let (x, y) = match self.node(a) {
                    Node::If { condition: same, then, otherwise } if same == condition => (then, otherwise),
                    _ => (a, a),
                };
                let then = self.quotient(x, then, depth + 1);
                let otherwise = self.quotient(y, otherwise, depth + 1);
                self.if_(condition, then, otherwise)
            }
            (_, Node::Neg(b)) if depth < DEPTH => {
                let a = self.neg(a);
                self.quotient(a, b, depth + 1)
            }
            _ => self.div(a, b),
        }
    }

    /// Undoes the operations around the unknown, which occurs in one operand of each only.
    fn peel(
        &mut self,
        mut expr: ExprId,
        mut value: ExprId,
        unknown: ExprId,
        functions: &Functions,
        is_parameter: &impl Fn(VarId) -> bool,
    ) -> Option<Solution> {
        let mut pivot = Pivot::NonZero;
        while expr != unknown {
            if let Some((a, b)) = self.linear_coefficient(expr, unknown) {
                let rest = self.sub(value, b);
                let last = self.divided(rest, a, is_parameter)?;
                return Some(Solution { value: last.value, pivot: worst(pivot, last.pivot) });
            }
            let (inner, inverse) = match self.node(expr) {
                Node::Neg(a) => (a, self.neg(value)),
                Node::Add(a, b) if !self.contains(b, unknown) => (a, self.sub(value, b)),
                Node::Add(a, b) if !self.contains(a, unknown) => (b, self.sub(value, a)),
                Node::Sub(a, b) if !self.contains(b, unknown) => (a, self.add(value, b)),
                Node::Sub(a, b) if !self.contains(a, unknown) => (b, self.sub(a, value)),
                Node::Mul(a, b) => {
                    let (inner, factor) = match (self.contains(a, unknown), self.contains(b, unknown)) {
                        (true, false) => (a, b),
                        (false, true) => (b, a),
                        _ => return None,
                    };
                    let step = self.divided(value, factor, is_parameter)?;
                    pivot = worst(pivot, step.pivot);
                    (inner, step.value)
                }
                Node::Div(a, b) if !self.contains(b, unknown) => (a, self.mul(value, b)),
                Node::Builtin(op, args) => {
                    let inner = match *self.arguments(args) {
                        [inner] => inner,
                        _ => return None,
                    };
                    (inner, self.inverse_function(op, value)?)
                }
                Node::Call { .. } => self.inverse_call(expr, value, unknown, functions)?,
                _ => return None,
            };
            expr = inner;
            value = inverse;
        }
        Some(Solution { value, pivot })
    }

    /// The inverse of the functions that have exactly one for every value they take.
    fn inverse_function(&mut self, op: Builtin, value: ExprId) -> Option<ExprId> {
        match op {
            Builtin::Exp => Some(self.builtin(Builtin::Log, &[value])),
            Builtin::Log => Some(self.builtin(Builtin::Exp, &[value])),
            Builtin::Log10 => {
                let ten = self.real(10.0);
                Some(self.pow(ten, value))
            }
            _ => None,
        }
    }

    /// `y = f(…, x, …)` by the annotation `inverse(x = g(…, y, …))` of f (12.8).
    fn inverse_call(
        &mut self,
        call: ExprId,
        value: ExprId,
        unknown: ExprId,
        functions: &Functions,
    ) -> Option<(ExprId, ExprId)> {
        let Node::Call { site, args, output: 0 } = self.node(call) else { return None };
        let site = self.call_site(site).clone();
        let arguments = self.arguments(args).to_vec();
        let mut ranges = Vec::with_capacity(site.inputs.len());
        let mut start = 0;
        for shape in &site.inputs {
            let end = start + shape.scalars();
            ranges.push(start..end);
            start = end;
        }
        let function = functions.get(site.function)?;
        for (input, inverse, positions) in &function.inverses {
            let range = ranges.get(*input as usize)?.clone();
            if site.inputs.get(*input as usize) != Some(&Shape::Scalar) {
                continue;
            }
            let others = arguments.iter().enumerate().filter(|(k, _)| *k != range.start);
            if others.into_iter().any(|(_, &argument)| self.contains(argument, unknown)) {
                continue;
            }
            let mut inputs = Vec::new();
            let mut scalars = Vec::new();
            for position in positions {
                match position {
                    None => {
                        inputs.push(Shape::Scalar);
                        scalars.push(value);
                    }
                    Some(position) => {
                        inputs.push(site.inputs.get(*position as usize)?.clone());
                        scalars.extend_from_slice(arguments.get(ranges.get(*position as usize)?.clone())?);
                    }
                }
            }
            let site = self.site(CallSite { function: *inverse, inputs, outputs: vec![Shape::Scalar] });
            let solved = self.call(site, &scalars, 0);
            return Some((*arguments.get(range.start)?, solved));
        }
        None
    }

    /// Whether an expression is not zero whatever its variables are, as long as it is defined.
    pub fn is_never_zero(&self, expr: ExprId) -> bool {
        matches!(self.sign_of(expr), Sign::Positive | Sign::Negative | Sign::NonZero)
    }

    fn sign_of(&self, expr: ExprId) -> Sign {
        use Sign::*;
        let mut signs: FxHashMap<ExprId, Sign> = FxHashMap::default();
        for id in self.postorder(&[expr]) {
            let of = |id: ExprId| signs.get(&id).copied().unwrap_or(Unknown);
            let sign = match self.node(id) {
                Node::Real(_) | Node::Integer(_) => match self.as_real(id) {
                    Some(value) if value > 0.0 => Positive,
                    Some(value) if value < 0.0 => Negative,
                    Some(0.0) => NotNegative,
                    _ => Unknown,
                },
                Node::Neg(a) => of(a).negated(),
                Node::Add(a, b) => of(a).plus(of(b)),
                Node::Sub(a, b) => of(a).plus(of(b).negated()),
                Node::Mul(a, b) if a == b => match of(a) {
                    Positive | Negative | NonZero => Positive,
                    _ => NotNegative,
                },
                Node::Mul(a, b) => of(a).times(of(b)),
                // A quotient is zero with its numerator only.
                Node::Div(a, b) => match of(b) {
                    Positive | NotNegative => of(a),
                    Negative | NotPositive => of(a).negated(),
                    _ => match of(a) {
                        Positive | Negative | NonZero => NonZero,
                        _ => Unknown,
                    },
                },
                Node::Pow(a, b) => match (of(a), self.as_integer(b)) {
                    (Positive, _) => Positive,
                    (Negative | NonZero, Some(n)) if n % 2 == 0 => Positive,
                    (_, Some(n)) if n % 2 == 0 => NotNegative,
                    _ => Unknown,
                },
                Node::If { then, otherwise, .. } => of(then).either(of(otherwise)),
                Node::Builtin(op, args) => {
                    let first = self.arguments(args).first().map_or(Unknown, |&item| of(item));
                    match op {
                        Builtin::Exp | Builtin::Cosh => Positive,
                        Builtin::Abs => match first {
                            Positive | Negative | NonZero => Positive,
                            _ => NotNegative,
                        },
                        Builtin::Sqrt => match first {
                            Positive => Positive,
                            _ => NotNegative,
                        },
                        Builtin::Max | Builtin::Min => {
                            let second = self.arguments(args).get(1).map_or(Unknown, |&item| of(item));
                            extremum(op == Builtin::Max, first, second)
                        }
                        _ => Unknown,
                    }
                }
                _ => Unknown,
            };
            signs.insert(id, sign);
        }
        signs.get(&expr).copied().unwrap_or(Unknown)
    }
}

impl Sign {
    fn negated(self) -> Self {
        match self {
            Sign::Positive => Sign::Negative,
            Sign::Negative => Sign::Positive,
            Sign::NotNegative => Sign::NotPositive,
            Sign::NotPositive => Sign::NotNegative,
            other => other,
        }
    }

    fn plus(self, other: Self) -> Self {
        use Sign::*;
        match (self, other) {
            (Positive, Positive | NotNegative) | (NotNegative, Positive) => Positive,
            (Negative, Negative | NotPositive) | (NotPositive, Negative) => Negative,
            (NotNegative, NotNegative) => NotNegative,
            (NotPositive, NotPositive) => NotPositive,
            _ => Unknown,
        }
    }

    fn times(self, other: Self) -> Self {
        use Sign::*;
        match (self, other) {
            (Unknown, _) | (_, Unknown) => Unknown,
            (Positive, x) | (x, Positive) => x,
            (Negative, x) | (x, Negative) => x.negated(),
            (NonZero, NonZero) => NonZero,
            (NonZero, _) | (_, NonZero) => Unknown,
            (a, b) if a == b => NotNegative,
            _ => NotPositive,
        }
    }

    /// What holds for both.
    fn either(self, other: Self) -> Self {
        use Sign::*;
        match (self, other) {
            (a, b) if a == b => a,
            (Positive | Negative | NonZero, Positive | Negative | NonZero) => NonZero,
            (Positive | NotNegative, Positive | NotNegative) => NotNegative,
            (Negative | NotPositive, Negative | NotPositive) => NotPositive,
            _ => Unknown,
        }
    }
}

fn extremum(maximum: bool, a: Sign, b: Sign) -> Sign {
    let (a, b) = if maximum { (a, b) } else { (a.negated(), b.negated()) };
    let result = match (a, b) {
        (Sign::Positive, _) | (_, Sign::Positive) => Sign::Positive,
        (Sign::NotNegative, _) | (_, Sign::NotNegative) => Sign::NotNegative,
        (a, b) => a.either(b),
    };
    if maximum { result } else { result.negated() }
}

fn worst(a: Pivot, b: Pivot) -> Pivot {
    match (a, b) {
        (Pivot::MayVanish(_), _) => a,
        (_, Pivot::MayVanish(_)) => b,
        (Pivot::Parameter(_), _) => a,
        _ => b,
    }
}

/// Whether its value stays between events.
fn freezes(op: Builtin) -> bool {
    matches!(
        op,
        Builtin::FloorEvent
            | Builtin::CeilEvent
            | Builtin::DivEvent
            | Builtin::Sample
            | Builtin::Initial
            | Builtin::Terminal
    )
}

/// Whether its value depends on nothing but its arguments.
pub(crate) fn is_function_of_arguments(op: Builtin) -> bool {
    op.elementary().is_some() || matches!(op, Builtin::Homotopy | Builtin::SemiLinear)
}

#[cfg(test)]
mod tests {
    use base::Id;

    use super::*;
    use crate::expr::CompareOp;

    struct Bench {
        e: Exprs,
        x: ExprId,
        y: ExprId,
        /// A parameter.
        p: ExprId,
    }

    fn bench() -> Bench {
        let mut e = Exprs::new();
        let p = e.var(VarId::from_index(0));
        let y = e.var(VarId::from_index(1));
        let x = e.var(VarId::from_index(2));
        Bench { e, x, y, p }
    }

    impl Bench {
        fn solve(&mut self, left: ExprId, right: ExprId) -> Option<Solution> {
            self.e.solve_for(left, right, self.x, &Functions::default(), |v| v.index() == 0)
        }
    }

    #[test]
    fn ohms_law() {
        let mut b = bench();
        let product = b.e.mul(b.p, b.x);
        let value = b.e.div(b.y, b.p);
        assert_eq!(b.solve(product, b.y), Some(Solution { value, pivot: Pivot::Parameter(b.p) }));
        let product = b.e.mul(b.y, b.x);
        let value = b.e.div(b.p, b.y);
        assert_eq!(b.solve(product, b.p), Some(Solution { value, pivot: Pivot::MayVanish(b.y) }));
        let quotient = b.e.div(b.x, b.y);
        let value = b.e.mul(b.p, b.y);
        assert_eq!(b.solve(b.p, quotient), Some(Solution { value, pivot: Pivot::NonZero }));
    }

    #[test]
    fn both_sides_and_twice() {
        // 3x + y = x - 1
        let mut b = bench();
        let (three, one) = (b.e.int(3), b.e.int(1));
        let left = b.e.mul(three, b.x);
        let left = b.e.add(left, b.y);
        let right = b.e.sub(b.x, one);
        let solution = b.solve(left, right).unwrap();
        assert_eq!(solution.pivot, Pivot::NonZero);
        let minus_one = b.e.int(-1);
        let numerator = b.e.sub(minus_one, b.y);
        let two = b.e.int(2);
        assert_eq!(solution.value, b.e.div(numerator, two));
        // x = x + y has no solution for x.
        let right = b.e.add(b.x, b.y);
        assert_eq!(b.solve(b.x, right), None);
    }

    #[test]
    fn alternatives() {
        // if y > 0 then 2x else x + 1 = p
        let mut b = bench();
        let (zero, one, two) = (b.e.int(0), b.e.int(1), b.e.int(2));
        let condition = b.e.compare(CompareOp::Greater, true, b.y, zero);
        let (then, otherwise) = (b.e.mul(two, b.x), b.e.add(b.x, one));
        let left = b.e.if_(condition, then, otherwise);
        let solution = b.solve(left, b.p).unwrap();
        assert_eq!(solution.pivot, Pivot::NonZero);
        // The ideal switch: the unknown vanishes in one branch.
        let left = b.e.if_(condition, b.x, b.y);
        assert!(matches!(b.solve(left, zero).unwrap().pivot, Pivot::MayVanish(_)));
        // A condition on the unknown is not linear, unless frozen.
        let condition = b.e.compare(CompareOp::Greater, true, b.x, zero);
        let left = b.e.if_(condition, b.x, then);
        assert_eq!(b.solve(left, b.p), None);
        let x = VarId::from_index(2);
        assert!(b.e.is_linear_in(left, true, |v| v == x));
        assert!(!b.e.is_linear_in(left, false, |v| v == x));
    }

    #[test]
    fn invertible_functions() {
        let mut b = bench();
        let two = b.e.int(2);
        let scaled = b.e.div(b.x, b.p);
        let exponential = b.e.builtin(Builtin::Exp, &[scaled]);
        let left = b.e.mul(two, exponential);
        let solution = b.solve(left, b.y).unwrap();
        let half = b.e.div(b.y, two);
        let log = b.e.builtin(Builtin::Log, &[half]);
        assert_eq!(solution, Solution { value: b.e.mul(log, b.p), pivot: Pivot::NonZero });
        let square = b.e.mul(b.x, b.x);
        assert_eq!(b.solve(square, b.y), None);
        let sine = b.e.builtin(Builtin::Sin, &[b.x]);
        assert_eq!(b.solve(sine, b.y), None);
    }

    #[test]
    fn signs_prove_pivots() {
        let mut b = bench();
        let one = b.e.int(1);
        let square = b.e.mul(b.y, b.y);
        let positive = b.e.add(one, square);
        assert!(b.e.is_never_zero(positive));
        assert!(!b.e.is_never_zero(square));
        let inverse = b.e.div(one, b.y);
        assert!(b.e.is_never_zero(inverse));
        let difference = b.e.sub(one, square);
        assert!(!b.e.is_never_zero(difference));
    }
}
