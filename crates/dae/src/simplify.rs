//! Constructors of expressions that fold: constants, neutral elements, double negation, Boolean algebra, `if` with a
//! known condition (specification 3.4 to 3.7).
//!
//! The arena does not distinguish Integer from Real variables, only their literals, so a rule must hold for both.
//! `/` and `^` of two Integer literals give a Real (10.6.5, 10.6.7). What would be an error at run time, such as `1/0` or
//! `log(-1)`, stays as it is and fails where it is evaluated. `0*x` is 0 for every x.
//!
//! Rules that leave out an operand ask `may_leave_out` first, except where a known condition selects: `if false then x else
//! y` and `false and x` do without `x`, because parameters switch parts of a model off in this way.
//!
//! Sums and products keep the order in which they were first written; a later one with the operands exchanged is the
//! same node.

use base::Name;

use crate::expr::{Builtin, CallSiteId, CompareOp, ExprId, Exprs, Node};
use crate::model::VarId;
use crate::scalar;

/// The value of a literal that is a number; Booleans are none.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Number {
    Integer(i64),
    Real(f64),
}

impl Number {
    fn real(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Real(value) => value,
        }
    }
}

impl Exprs {
    /// A Real literal.
    pub fn real(&mut self, value: f64) -> ExprId {
        self.intern(Node::Real(value))
    }

    /// An Integer literal.
    pub fn int(&mut self, value: i64) -> ExprId {
        self.intern(Node::Integer(value))
    }

    /// A Boolean literal.
    pub fn boolean(&mut self, value: bool) -> ExprId {
        self.intern(Node::Boolean(value))
    }

    /// A String literal.
    pub fn string(&mut self, text: &str) -> ExprId {
        self.intern(Node::String(Name::new(text)))
    }

    /// The time.
    pub fn time(&mut self) -> ExprId {
        self.intern(Node::Time)
    }

    /// A variable.
    pub fn var(&mut self, variable: VarId) -> ExprId {
        self.intern(Node::Var(variable))
    }

    /// The derivative of a variable.
    pub fn der(&mut self, variable: VarId) -> ExprId {
        self.intern(Node::Der(variable))
    }

    /// The left limit of a variable.
    pub fn pre(&mut self, variable: VarId) -> ExprId {
        self.intern(Node::Pre(variable))
    }

    /// The previous value of a clocked variable.
    pub fn previous(&mut self, variable: VarId) -> ExprId {
        self.intern(Node::Previous(variable))
    }

    /// The value of a Real or Integer literal.
    pub fn as_real(&self, id: ExprId) -> Option<f64> {
        self.number(id).map(Number::real)
    }

    /// The value of an Integer literal.
    pub fn as_integer(&self, id: ExprId) -> Option<i64> {
        match self.node(id) {
            Node::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a Boolean literal.
    pub fn as_boolean(&self, id: ExprId) -> Option<bool> {
        match self.node(id) {
            Node::Boolean(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a String literal.
    pub fn as_string(&self, id: ExprId) -> Option<&'static str> {
        match self.node(id) {
            Node::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Whether it is a literal.
    pub fn is_literal(&self, id: ExprId) -> bool {
        matches!(self.node(id), Node::Real(_) | Node::Integer(_) | Node::Boolean(_) | Node::String(_))
    }

    /// Whether it is the number 0.
    pub fn is_zero(&self, id: ExprId) -> bool {
        self.as_real(id) == Some(0.0)
    }

    /// Whether it is the number 1.
    pub fn is_one(&self, id: ExprId) -> bool {
        self.as_real(id) == Some(1.0)
    }

    fn number(&self, id: ExprId) -> Option<Number> {
        match self.node(id) {
            Node::Integer(value) => Some(Number::Integer(value)),
            Node::Real(value) => Some(Number::Real(value)),
            _ => None,
        }
    }

    fn literal(&mut self, number: Number) -> ExprId {
        match number {
            Number::Integer(value) => self.int(value),
            Number::Real(value) => self.real(value),
        }
    }

    /// Both as literals, folded: Integers as long as they are exact, Reals as long as they are finite.
    fn fold(
        &mut self,
        left: ExprId,
        right: ExprId,
        integer: fn(i64, i64) -> Option<i64>,
        real: fn(f64, f64) -> f64,
    ) -> Option<ExprId> {
        let folded = match (self.number(left)?, self.number(right)?) {
            (Number::Integer(a), Number::Integer(b)) => {
                Number::Integer(integer(a, b).filter(|&value| crate::known::is_exact(value))?)
            }
            (a, b) => Number::Real(Some(real(a.real(), b.real())).filter(|value| value.is_finite())?),
        };
        Some(self.literal(folded))
    }

    /// Whether the value may do without an operand that it does not depend on; see `keep_operands`.
    fn may_leave_out(&mut self, id: ExprId) -> bool {
        self.is_literal(id) || matches!(self.node(id), Node::Time) || !self.must_keep_operands()
    }

    /// A commutative node: the one with the operands exchanged if that exists already.
    fn commutative(&mut self, node: Node, exchanged: Node) -> ExprId {
        match self.find(exchanged) {
            Some(known) => known,
            None => self.intern(node),
        }
    }

    /// The negative, simplified.
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        match self.node(a) {
            Node::Integer(value) if value != i64::MIN => self.int(-value),
            Node::Real(value) => self.real(-value),
            Node::Neg(inner) => inner,
            Node::Sub(x, y) => self.sub(y, x),
            Node::Mul(c, x) if self.number(c).is_some() => {
                let c = self.neg(c);
                self.mul(c, x)
            }
            _ => self.intern(Node::Neg(a)),
        }
    }

    /// The sum, simplified.
    pub fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if let Some(folded) = self.fold(a, b, i64::checked_add, |x, y| x + y) {
            return folded;
        }
        if self.is_zero(a) {
            return b;
        }
        if self.is_zero(b) {
            return a;
        }
        match (self.node(a), self.node(b)) {
            (Node::Neg(x), Node::Neg(y)) => {
                let sum = self.add(x, y);
                self.neg(sum)
            }
            (_, Node::Neg(y)) => self.sub(a, y),
            (Node::Neg(x), _) => self.sub(b, x),
            (Node::Sub(x, y), _) if y == b && self.may_leave_out(y) => x,
            (_, Node::Sub(x, y)) if y == a && self.may_leave_out(y) => x,
            _ => self.commutative(Node::Add(a, b), Node::Add(b, a)),
        }
    }

    /// The difference, simplified.
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if let Some(folded) = self.fold(a, b, i64::checked_sub, |x, y| x - y) {
            return folded;
        }
        if a == b && self.may_leave_out(a) {
            return self.int(0);
        }
        if self.is_zero(b) {
            return a;
        }
        if self.is_zero(a) {
            return self.neg(b);
        }
        match (self.node(a), self.node(b)) {
            (Node::Neg(x), Node::Neg(y)) => self.sub(y, x),
            (_, Node::Neg(y)) => self.add(a, y),
            (Node::Neg(x), _) => {
                let sum = self.add(x, b);
                self.neg(sum)
            }
            (Node::Add(x, y), _) if y == b && self.may_leave_out(b) => x,
            (Node::Add(x, y), _) if x == b && self.may_leave_out(b) => y,
            (_, Node::Add(x, y)) if x == a && self.may_leave_out(a) => self.neg(y),
            (_, Node::Add(x, y)) if y == a && self.may_leave_out(a) => self.neg(x),
            (_, Node::Sub(x, y)) if x == a && self.may_leave_out(a) => y,
            _ => self.intern(Node::Sub(a, b)),
        }
    }

    /// The product, simplified.
    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if let Some(folded) = self.fold(a, b, i64::checked_mul, |x, y| x * y) {
            return folded;
        }
        // Literals stand on the left.
        let (a, b) = if self.number(b).is_some() { (b, a) } else { (a, b) };
        if let Some(factor) = self.as_real(a) {
            if factor == 0.0 && self.may_leave_out(b) {
                return a;
            }
            if factor == 1.0 {
                return b;
            }
            if factor == -1.0 {
                return self.neg(b);
            }
            match self.node(b) {
                Node::Neg(x) => {
                    let a = self.neg(a);
                    return self.mul(a, x);
                }
                Node::Mul(c, x) => {
                    if let Some(folded) = self.fold(a, c, i64::checked_mul, |x, y| x * y) {
                        return self.mul(folded, x);
                    }
                }
                _ => {}
            }
        }
        match (self.node(a), self.node(b)) {
            (Node::Neg(x), Node::Neg(y)) => self.mul(x, y),
            (Node::Neg(x), _) => {
                let product = self.mul(x, b);
                self.neg(product)
            }
            (_, Node::Neg(y)) => {
                let product = self.mul(a, y);
                self.neg(product)
            }
            _ => self.commutative(Node::Mul(a, b), Node::Mul(b, a)),
        }
    }

    /// The quotient, simplified.
    pub fn div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let divisor = self.as_real(b);
        if divisor == Some(0.0) {
            return self.intern(Node::Div(a, b));
        }
        if let (Some(x), Some(y)) = (self.as_real(a), divisor)
            && (x / y).is_finite()
        {
            return self.real(x / y);
        }
        if divisor == Some(1.0) || (self.is_zero(a) && self.may_leave_out(b)) {
            return a;
        }
        if divisor == Some(-1.0) {
            return self.neg(a);
        }
        match (self.node(a), self.node(b)) {
            (Node::Neg(x), Node::Neg(y)) => self.div(x, y),
            (Node::Neg(x), _) => {
                let quotient = self.div(x, b);
                self.neg(quotient)
            }
            (_, Node::Neg(y)) => {
                let quotient = self.div(a, y);
                self.neg(quotient)
            }
            _ => self.intern(Node::Div(a, b)),
        }
    }

    /// `a / b` as a model says it. Unlike in `div`, which rearranges quotients that are defined, `0 / b` stays where b may be
    /// zero: that is an error, not zero.
    pub fn written_div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let is_decided = !self.is_zero(a) || self.as_real(b).is_some();
        if is_decided { self.div(a, b) } else { self.intern(Node::Div(a, b)) }
    }

    /// The power, simplified.
    pub fn pow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        if let (Some(x), Some(y)) = (self.as_real(a), self.as_real(b))
            && let Some(value) = scalar::power(x, y)
        {
            return self.real(value);
        }
        // One form of whole exponents.
        let b = match self.node(b) {
            Node::Real(value) if value.fract() == 0.0 && value.abs() < 1e9 => self.int(value as i64),
            _ => b,
        };
        match self.as_integer(b) {
            Some(0) if self.may_leave_out(a) => self.real(1.0),
            Some(1) => a,
            _ if self.is_one(a) && self.may_leave_out(b) => a,
            _ => self.intern(Node::Pow(a, b)),
        }
    }

    /// The sum as a balanced tree, so that its depth stays small; 0 for none.
    pub fn sum(&mut self, terms: &[ExprId]) -> ExprId {
        self.balanced(terms, 0, Self::add)
    }

    /// The product as a balanced tree; 1 for none.
    pub fn product(&mut self, factors: &[ExprId]) -> ExprId {
        self.balanced(factors, 1, Self::mul)
    }

    fn balanced(&mut self, items: &[ExprId], empty: i64, join: fn(&mut Self, ExprId, ExprId) -> ExprId) -> ExprId {
        match items.len() {
            // The few that a text writes stand as it wrote them.
            0 => self.int(empty),
            1..=8 => items[1..].iter().fold(items[0], |left, &right| join(self, left, right)),
            length => {
                let left = self.balanced(&items[..length / 2], empty, join);
                let right = self.balanced(&items[length / 2..], empty, join);
                join(self, left, right)
            }
        }
    }

    /// The negation, simplified.
    pub fn not(&mut self, a: ExprId) -> ExprId {
        match self.node(a) {
            Node::Boolean(value) => self.boolean(!value),
            Node::Not(inner) => inner,
            _ => self.intern(Node::Not(a)),
        }
    }

    fn is_negation(&self, a: ExprId, b: ExprId) -> bool {
        matches!(self.node(a), Node::Not(x) if x == b) || matches!(self.node(b), Node::Not(x) if x == a)
    }

    /// The conjunction, simplified.
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_boolean(a), self.as_boolean(b)) {
            (Some(true), _) => b,
            (_, Some(true)) => a,
            (Some(false), _) | (_, Some(false)) => self.boolean(false),
            _ if a == b => a,
            _ if self.is_negation(a, b) && self.may_leave_out(a) => self.boolean(false),
            _ => self.commutative(Node::And(a, b), Node::And(b, a)),
        }
    }

    /// The disjunction, simplified.
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_boolean(a), self.as_boolean(b)) {
            (Some(false), _) => b,
            (_, Some(false)) => a,
            (Some(true), _) | (_, Some(true)) => self.boolean(true),
            _ if a == b => a,
            _ if self.is_negation(a, b) && self.may_leave_out(a) => self.boolean(true),
            _ => self.commutative(Node::Or(a, b), Node::Or(b, a)),
        }
    }

    /// The comparison, simplified.
    pub fn compare(&mut self, op: CompareOp, event: bool, left: ExprId, right: ExprId) -> ExprId {
        let order = match (self.node(left), self.node(right)) {
            (Node::Integer(a), Node::Integer(b)) => Some(a.cmp(&b)),
            (Node::Boolean(a), Node::Boolean(b)) => Some(a.cmp(&b)),
            (Node::String(a), Node::String(b)) => Some(a.as_str().cmp(b.as_str())),
            _ if left == right && self.may_leave_out(left) => Some(std::cmp::Ordering::Equal),
            _ => match (self.as_real(left), self.as_real(right)) {
                (Some(a), Some(b)) => a.partial_cmp(&b),
                _ => None,
            },
        };
        if let Some(order) = order {
            return self.boolean(scalar::compare(op, order));
        }
        // `b == true` and the like.
        if let CompareOp::Equal | CompareOp::NotEqual = op {
            let known = match (self.as_boolean(left), self.as_boolean(right)) {
                (Some(value), None) => Some((value, right)),
                (None, Some(value)) => Some((value, left)),
                _ => None,
            };
            if let Some((value, other)) = known {
                return if value == (op == CompareOp::Equal) { other } else { self.not(other) };
            }
        }
        self.intern(Node::Compare { op, event, left, right })
    }

    /// The choice, simplified.
    pub fn if_(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        match self.node(condition) {
            Node::Boolean(true) => return then,
            Node::Boolean(false) => return otherwise,
            _ if then == otherwise && self.may_leave_out(condition) => return then,
            Node::Not(inner) => return self.if_(inner, otherwise, then),
            _ => {}
        }
        match (self.as_boolean(then), self.as_boolean(otherwise)) {
            (Some(true), Some(false)) => return condition,
            (Some(false), Some(true)) => return self.not(condition),
            _ => {}
        }
        let then = match self.node(then) {
            Node::If { condition: inner, then, otherwise } if inner == condition && self.may_leave_out(otherwise) => {
                then
            }
            _ => then,
        };
        let otherwise = match self.node(otherwise) {
            Node::If { condition: inner, then, otherwise } if inner == condition && self.may_leave_out(then) => {
                otherwise
            }
            _ => otherwise,
        };
        if then == otherwise && self.may_leave_out(condition) {
            return then;
        }
        self.intern(Node::If { condition, then, otherwise })
    }

    /// The function of some arguments, simplified.
    pub fn builtin(&mut self, op: Builtin, arguments: &[ExprId]) -> ExprId {
        if let Some(folded) = self.fold_builtin(op, arguments) {
            return folded;
        }
        let args = self.args(arguments);
        self.intern(Node::Builtin(op, args))
    }

    fn fold_builtin(&mut self, op: Builtin, arguments: &[ExprId]) -> Option<ExprId> {
        match (op, arguments) {
            (Builtin::Abs, &[x]) => match self.node(x) {
                Node::Integer(value) => return value.checked_abs().map(|value| self.int(value)),
                Node::Neg(inner) => return Some(self.builtin(Builtin::Abs, &[inner])),
                Node::Builtin(Builtin::Abs, _) => return Some(x),
                _ => {}
            },
            (Builtin::Sign, &[x]) => return self.as_real(x).map(|value| self.int(scalar::sign(value))),
            (Builtin::Min | Builtin::Max, &[x, y]) => {
                if x == y {
                    return Some(x);
                }
                let (a, b) = (self.as_real(x)?, self.as_real(y)?);
                return Some(if (a < b) == (op == Builtin::Min) { x } else { y });
            }
            (Builtin::Homotopy, &[actual, simplified]) => {
                let is_known = actual == simplified || (self.is_literal(actual) && self.may_leave_out(simplified));
                return is_known.then_some(actual);
            }
            (Builtin::SemiLinear, &[x, positive, negative]) if positive == negative => {
                return Some(self.mul(positive, x));
            }
            (Builtin::Delay, &[x, ref times @ ..])
                if self.is_literal(x)
                    && (times.len() < 3 || self.is_zero(x))
                    && times.iter().all(|&time| self.may_leave_out(time)) =>
            {
                return Some(x);
            }
            _ => {}
        }
        match *arguments {
            [x] => {
                let value = scalar::unary(op, self.as_real(x)?)?;
                Some(self.real(value))
            }
            [x, y] => match (self.number(x)?, self.number(y)?) {
                (Number::Integer(a), Number::Integer(b)) if scalar::is_quotient(op) => {
                    let value = scalar::integer_quotient(op, a, b)?;
                    Some(self.int(value))
                }
                (a, b) => {
                    let value = scalar::binary(op, a.real(), b.real())?;
                    Some(self.real(value))
                }
            },
            _ => None,
        }
    }

    /// One scalar of the results of a call.
    pub fn call(&mut self, site: CallSiteId, arguments: &[ExprId], output: u32) -> ExprId {
        let args = self.args(arguments);
        self.intern(Node::Call { site, args, output })
    }

    /// `edge(v)`: true at the instant at which a Boolean variable became true.
    pub fn edge(&mut self, variable: VarId) -> ExprId {
        let (now, before) = (self.var(variable), self.pre(variable));
        let was_false = self.not(before);
        self.and(now, was_false)
    }

    /// Whether a when clause with this condition is active: at an edge, but not at initialisation, where only clauses with
    /// the condition `initial()` are (specification 8.6).
    pub fn rising(&mut self, condition: VarId) -> ExprId {
        let edge = self.edge(condition);
        let initial = self.builtin(Builtin::Initial, &[]);
        let running = self.not(initial);
        self.and(edge, running)
    }

    /// The node through the folding constructor of its kind.
    pub fn make(&mut self, node: Node) -> ExprId {
        match node {
            Node::Real(_)
            | Node::Integer(_)
            | Node::Boolean(_)
            | Node::String(_)
            | Node::Time
            | Node::Var(_)
            | Node::Der(_)
            | Node::Pre(_)
            | Node::Previous(_)
            | Node::Call { .. } => self.intern(node),
            Node::Neg(a) => self.neg(a),
            Node::Add(a, b) => self.add(a, b),
            Node::Sub(a, b) => self.sub(a, b),
            Node::Mul(a, b) => self.mul(a, b),
            Node::Div(a, b) => self.written_div(a, b),
            Node::Pow(a, b) => self.pow(a, b),
            Node::Not(a) => self.not(a),
            Node::And(a, b) => self.and(a, b),
            Node::Or(a, b) => self.or(a, b),
            Node::Compare { op, event, left, right } => self.compare(op, event, left, right),
            Node::If { condition, then, otherwise } => self.if_(condition, then, otherwise),
            Node::Builtin(op, args) => {
                let items = self.arguments(args).to_vec();
                self.builtin(op, &items)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Id;

    use super::*;

    #[test]
    fn literals_fold_by_their_types() {
        let mut e = Exprs::new();
        let (two, three, half) = (e.int(2), e.int(3), e.real(0.5));
        let sum = e.add(two, three);
        assert_eq!(e.node(sum), Node::Integer(5));
        let quotient = e.div(three, two);
        assert_eq!(e.node(quotient), Node::Real(1.5));
        let power = e.pow(two, three);
        assert_eq!(e.node(power), Node::Real(8.0));
        let product = e.mul(two, half);
        assert_eq!(e.node(product), Node::Real(1.0));
        let large = e.int(i64::MAX);
        let overflow = e.add(large, two);
        assert_eq!(e.node(overflow), Node::Add(large, two));
    }

    #[test]
    fn errors_stay() {
        let mut e = Exprs::new();
        let (zero, one, minus) = (e.int(0), e.int(1), e.int(-1));
        let quotient = e.div(one, zero);
        assert_eq!(e.node(quotient), Node::Div(one, zero));
        let log = e.builtin(Builtin::Log, &[minus]);
        assert!(matches!(e.node(log), Node::Builtin(Builtin::Log, _)));
        let modulo = e.builtin(Builtin::Mod, &[one, zero]);
        assert!(matches!(e.node(modulo), Node::Builtin(Builtin::Mod, _)));
    }

    #[test]
    fn neutral_elements_vanish() {
        let mut e = Exprs::new();
        let x = e.var(VarId::from_index(0));
        let y = e.var(VarId::from_index(1));
        let (zero, one) = (e.real(0.0), e.int(1));
        assert_eq!(e.add(x, zero), x);
        assert_eq!(e.mul(one, x), x);
        assert_eq!(e.div(x, one), x);
        assert_eq!(e.mul(x, zero), zero);
        let difference = e.sub(x, x);
        assert!(e.is_zero(difference));
        let negative = e.neg(x);
        assert_eq!(e.neg(negative), x);
        let a = e.add(x, y);
        assert_eq!(e.add(y, x), a);
        assert_eq!(e.sub(a, y), x);
        let back = e.sub(x, negative);
        assert_eq!(e.node(back), Node::Add(x, x));
    }

    #[test]
    fn conditions_fold() {
        let mut e = Exprs::new();
        let b = e.var(VarId::from_index(0));
        let (yes, no) = (e.boolean(true), e.boolean(false));
        let (x, y) = (e.var(VarId::from_index(1)), e.var(VarId::from_index(2)));
        assert_eq!(e.if_(yes, x, y), x);
        assert_eq!(e.if_(b, x, x), x);
        let not = e.not(b);
        assert_eq!(e.if_(b, no, yes), not);
        let swapped = e.if_(not, x, y);
        assert_eq!(swapped, e.if_(b, y, x));
        assert_eq!(e.and(b, not), no);
        assert_eq!(e.or(b, not), yes);
        let equal = e.compare(CompareOp::Equal, false, b, no);
        assert_eq!(equal, not);
        let nested = e.if_(b, swapped, x);
        assert_eq!(nested, e.if_(b, y, x));
    }

    #[test]
    fn a_long_sum_is_shallow() {
        let mut e = Exprs::new();
        let terms: Vec<ExprId> = (0..1000).map(|k| e.var(VarId::from_index(k))).collect();
        let root = e.sum(&terms);
        let mut depth = rustc_hash::FxHashMap::default();
        for id in e.postorder(&[root]) {
            let mut below = 0;
            e.for_each_child(id, |child| below = below.max(depth[&child]));
            depth.insert(id, below + 1);
        }
        assert!(depth[&root] < 20, "{}", depth[&root]);
    }

    #[test]
    fn operands_without_influence_stay_where_they_are_kept() {
        let mut e = Exprs::new();
        let (x, y) = (e.var(VarId::from_index(0)), e.var(VarId::from_index(1)));
        let (zero, one, time) = (e.int(0), e.int(1), e.time());
        let sum = e.add(y, x);
        let condition = e.compare(CompareOp::Less, true, x, zero);
        let opposite = e.not(condition);
        let rules: [&dyn Fn(&mut Exprs) -> ExprId; 9] = [
            &|e| e.mul(zero, x),
            &|e| e.sub(x, x),
            &|e| e.sub(sum, x),
            &|e| e.pow(x, zero),
            &|e| e.pow(one, x),
            &|e| e.if_(condition, y, y),
            &|e| e.and(condition, opposite),
            &|e| e.compare(CompareOp::Equal, false, x, x),
            &|e| e.div(zero, x),
        ];
        e.keep_operands(true);
        let kept = rules.map(|rule| rule(&mut e));
        assert!(kept.iter().all(|&id| e.contains(id, x)));
        assert_eq!(e.mul(zero, time), zero);
        assert!(!e.lacks_operands());
        e.keep_operands(false);
        let folded = e.rewrite(&kept, &mut crate::Memo::default(), |e, _, node| e.make(node));
        // A quotient that is written stays.
        assert!(folded[..8].iter().all(|&id| !e.contains(id, x)));
        assert!(e.lacks_operands());
    }
}
