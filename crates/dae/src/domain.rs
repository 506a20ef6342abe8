//! Where expressions may be undefined: division by zero, roots and logarithms of negative numbers, calls of functions.
//!
//! Variables are finite at every accepted point, since what computes them is checked. A condition is not: `log(x) > 0` would
//! be false for negative x and decide something. Code for conditions over partial expressions therefore carries the lack of a
//! value on (see `compile::lower`); all others need no more than a comparison. Overflow is left to the check of results.

use crate::expr::{Builtin, Exprs, Node};

impl Exprs {
    /// Whether a node over operands that are in the arena may be undefined.
    pub(crate) fn may_be_undefined(&self, node: Node) -> bool {
        let own = match node {
            Node::Real(value) => !value.is_finite(),
            Node::Div(_, divisor) => !self.as_real(divisor).is_some_and(|value| value != 0.0),
            Node::Pow(base, exponent) => match (self.as_real(base), self.as_real(exponent)) {
                (_, Some(exponent)) if exponent >= 0.0 && exponent.fract() == 0.0 => false,
                (Some(base), _) => base <= 0.0,
                _ => true,
            },
            Node::Call { .. } => true,
            Node::Builtin(op, args) => match op {
                _ if op.elementary().is_some_and(|known| known.domain.is_some()) => true,
                Builtin::Div
                | Builtin::DivEvent
                | Builtin::Mod
                | Builtin::ModEvent
                | Builtin::Rem
                | Builtin::RemEvent => {
                    let divisor = self.arguments(args).get(1).and_then(|&divisor| self.as_real(divisor));
                    !divisor.is_some_and(|value| value != 0.0)
                }
                _ => false,
            },
            _ => false,
        };
        own || self.has_partial_operand(node)
    }

    fn has_partial_operand(&self, node: Node) -> bool {
        use Node::*;
        match node {
            Real(_) | Integer(_) | Boolean(_) | String(_) | Time | Var(_) | Der(_) | Pre(_) | Previous(_) => false,
            Neg(a) | Not(a) => self.is_partial(a),
            Add(a, b) | Sub(a, b) | Mul(a, b) | Div(a, b) | Pow(a, b) | And(a, b) | Or(a, b) => {
                self.is_partial(a) || self.is_partial(b)
            }
            Compare { left, right, .. } => self.is_partial(left) || self.is_partial(right),
            If { condition, then, otherwise } => {
                self.is_partial(condition) || self.is_partial(then) || self.is_partial(otherwise)
            }
            Builtin(_, args) | Call { args, .. } => self.arguments(args).iter().any(|&item| self.is_partial(item)),
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Id;

    use super::*;
    use crate::expr::CompareOp;
    use crate::model::VarId;

    #[test]
    fn quotients_roots_and_what_they_are_in_are_partial() {
        let mut e = Exprs::new();
        let (x, two, half) = (e.var(VarId::from_index(0)), e.int(2), e.real(0.5));
        let (square, root, scaled, inverse) = (e.pow(x, two), e.pow(x, half), e.div(x, two), e.div(two, x));
        let (exponential, log) = (e.builtin(Builtin::Exp, &[x]), e.builtin(Builtin::Log, &[x]));
        let total = [x, square, scaled, exponential];
        assert!(total.iter().all(|&id| !e.is_partial(id)));
        let positive = e.compare(CompareOp::Greater, true, log, two);
        let not = e.not(positive);
        let partial = [root, inverse, log, positive, not];
        assert!(partial.iter().all(|&id| e.is_partial(id)));
    }
}
