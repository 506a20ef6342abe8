//! Numbers for expressions whose variables are not known yet: parameters have their values, everything else arbitrary
//! ones, so that terms that cancel are seen and others hardly ever vanish.

use dae::{Builtin, CompareOp, ExprId, Exprs, Node};
use rustc_hash::FxHashMap;

use crate::work::Work;

/// The numbers of expressions, given with all their parts in the order of evaluation.
pub fn numbers(work: &Work, order: &[ExprId]) -> FxHashMap<ExprId, f64> {
    let exprs = &work.model.exprs;
    let mut values: FxHashMap<ExprId, f64> = FxHashMap::default();
    for &id in order {
        let of = |child: ExprId| values.get(&child).copied().unwrap_or(f64::NAN);
        let logical = |truth: bool| f64::from(u8::from(truth));
        let value = match exprs.node(id) {
            Node::Var(v) => {
                let known = work.values[v].and_then(|value| literal(exprs, value));
                known.unwrap_or_else(|| unknown_value(base::Id::index(v)))
            }
            Node::Real(value) => value,
            Node::Integer(value) => value as f64,
            Node::Boolean(value) => logical(value),
            Node::Neg(a) => -of(a),
            Node::Add(a, b) => of(a) + of(b),
            Node::Sub(a, b) => of(a) - of(b),
            Node::Mul(a, b) => of(a) * of(b),
            Node::Div(a, b) => of(a) / of(b),
            Node::Pow(a, b) => of(a).powf(of(b)),
            Node::Not(a) => logical(of(a) == 0.0),
            Node::And(a, b) => logical(of(a) != 0.0 && of(b) != 0.0),
            Node::Or(a, b) => logical(of(a) != 0.0 || of(b) != 0.0),
            Node::Compare { op, left, right, .. } => logical(compare(op, of(left), of(right))),
            Node::If { condition, then, otherwise } => of(if of(condition) != 0.0 { then } else { otherwise }),
            Node::Builtin(op, args) => {
                let args: Vec<f64> = exprs.arguments(args).iter().map(|&arg| of(arg)).collect();
                builtin(op, &args)
            }
            _ => f64::NAN,
        };
        let value = if value.is_finite() { value } else { unknown_value(base::Id::index(id)) };
        values.insert(id, value);
    }
    values
}

/// Arbitrary, but the same whenever it is asked for; between 0.5 and 1.5.
fn unknown_value(index: usize) -> f64 {
    let mut seed = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..3).fold(0.0, |_, _| 0.5 + arbitrary(&mut seed))
}

fn literal(exprs: &Exprs, id: ExprId) -> Option<f64> {
    exprs.as_real(id).or_else(|| exprs.as_boolean(id).map(|truth| f64::from(u8::from(truth))))
}

fn compare(op: CompareOp, a: f64, b: f64) -> bool {
    match op {
        CompareOp::Less => a < b,
        CompareOp::LessEqual => a <= b,
        CompareOp::Greater => a > b,
        CompareOp::GreaterEqual => a >= b,
        CompareOp::Equal => a == b,
        CompareOp::NotEqual => a != b,
    }
}

fn builtin(op: Builtin, args: &[f64]) -> f64 {
    match (op, args) {
        (Builtin::Sin, [x]) => x.sin(),
        (Builtin::Cos, [x]) => x.cos(),
        (Builtin::Tan, [x]) => x.tan(),
        (Builtin::Exp, [x]) => x.exp(),
        (Builtin::Log, [x]) => x.ln(),
        (Builtin::Sqrt, [x]) => x.sqrt(),
        (Builtin::Abs, [x]) => x.abs(),
        (Builtin::Sign, [x]) => x.signum(),
        (Builtin::Homotopy, [x, _]) => *x,
        _ => f64::NAN,
    }
}

/// A number between 0 and 1 that has nothing to do with any other.
fn arbitrary(seed: &mut u64) -> f64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 11) as f64 / (1u64 << 53) as f64
}
