//! The time derivative of an expression.

use dae::{Builtin, ExprId, Exprs, Node};
use rustc_hash::FxHashMap;

use crate::schedule::Role;
use crate::work::Work;

/// `None` if a part of it has no derivative. Derivatives of variables are `Der` nodes.
pub fn time_derivative(work: &mut Work, root: ExprId) -> Option<ExprId> {
    let roles = &work.roles;
    let exprs = &mut work.model.exprs;
    let zero = exprs.real(0.0);
    let mut done: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in exprs.postorder(&[root]) {
        let of = |id: ExprId| done.get(&id).copied().unwrap_or(zero);
        let result = match exprs.node(id) {
            Node::Var(v) => match roles[v] {
                Role::Constant | Role::Parameter | Role::Discrete => zero,
                _ => exprs.der(v),
            },
            Node::Time => exprs.real(1.0),
            Node::Der(_) => return None,
            Node::Neg(a) => exprs.neg(of(a)),
            Node::Add(a, b) => exprs.add(of(a), of(b)),
            Node::Sub(a, b) => exprs.sub(of(a), of(b)),
            Node::Mul(a, b) => {
                let (first, second) = (exprs.mul(of(a), b), exprs.mul(a, of(b)));
                exprs.add(first, second)
            }
            Node::Div(a, b) => {
                // (a' - (a/b)·b')/b
                let change = exprs.mul(id, of(b));
                let top = exprs.sub(of(a), change);
                exprs.div(top, b)
            }
            Node::Pow(a, b) => power(exprs, id, (a, of(a)), (b, of(b))),
            Node::If { condition, then, otherwise } => exprs.if_(condition, of(then), of(otherwise)),
            Node::Builtin(op, args) => {
                let args = exprs.arguments(args).to_vec();
                if args.iter().all(|&arg| exprs.is_zero(of(arg))) {
                    zero
                } else if let [argument] = args[..] {
                    let outer = slope(exprs, op, id, argument)?;
                    exprs.mul(outer, of(argument))
                } else {
                    return None;
                }
            }
            Node::Call { args, .. } => {
                if exprs.arguments(args).iter().all(|&arg| exprs.is_zero(of(arg))) {
                    zero
                } else {
                    return None;
                }
            }
            _ => zero,
        };
        done.insert(id, result);
    }
    done.get(&root).copied()
}

fn power(exprs: &mut Exprs, id: ExprId, (a, da): (ExprId, ExprId), (b, db): (ExprId, ExprId)) -> ExprId {
    let one = exprs.int(1);
    let less = exprs.sub(b, one);
    let lower = exprs.pow(a, less);
    let factor = exprs.mul(b, lower);
    let first = exprs.mul(factor, da);
    if exprs.is_zero(db) {
        return first;
    }
    let log = exprs.builtin(Builtin::Log, &[a]);
    let growth = exprs.mul(id, log);
    let second = exprs.mul(growth, db);
    exprs.add(first, second)
}

/// The derivative of a function of one argument; `id` is the function's value.
fn slope(exprs: &mut Exprs, op: Builtin, id: ExprId, x: ExprId) -> Option<ExprId> {
    let one = exprs.int(1);
    let two = exprs.int(2);
    Some(match op {
        Builtin::Sin => exprs.builtin(Builtin::Cos, &[x]),
        Builtin::Cos => {
            let sine = exprs.builtin(Builtin::Sin, &[x]);
            exprs.neg(sine)
        }
        Builtin::Exp => id,
        Builtin::Log => exprs.div(one, x),
        Builtin::Sqrt => {
            let double = exprs.mul(two, id);
            exprs.div(one, double)
        }
        Builtin::Tan => {
            let square = exprs.pow(id, two);
            exprs.add(one, square)
        }
        _ => return None,
    })
}
