//! The value of expressions of the arena when the values of their leaves are known: the reference for compiled code, and
//! the evaluation of parameters at translation time. Only the chosen branch of an `if` is evaluated. No recursion.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::evaluate::{Evaluator, Result};
use crate::expr::{ArgsId, CallSiteId, ExprId, Exprs, Node};
use crate::function::ArithmeticOp;
use crate::known as scalars;
use crate::solve_for::is_function_of_arguments;
use crate::value::Value;

/// Values already known; keep it as long as the leaves keep theirs.
#[derive(Default)]
pub struct ExprValues {
    values: FxHashMap<ExprId, Value>,
    /// All scalars of the results of calls.
    calls: FxHashMap<(CallSiteId, ArgsId), Vec<Value>>,
}

impl Evaluator<'_> {
    /// The value of one expression. `lookup` gives the values of leaves: variables, derivatives, `pre`, `previous`, time,
    /// and of the operators that need the simulator (`initial()`, `sample`, `delay` …).
    pub fn expression(&mut self, exprs: &Exprs, id: ExprId, lookup: &mut dyn FnMut(Node) -> Option<Value>) -> Result {
        self.expression_with(exprs, id, &mut ExprValues::default(), lookup)
    }

    /// The same for many expressions that share parts.
    pub fn expression_with(
        &mut self,
        exprs: &Exprs,
        root: ExprId,
        known: &mut ExprValues,
        lookup: &mut dyn FnMut(Node) -> Option<Value>,
    ) -> Result {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if known.values.contains_key(&id) {
                stack.pop();
                continue;
            }
            let missing = |part: ExprId| !known.values.contains_key(&part);
            let node = exprs.node(id);
            // The operand that decides which others are needed comes first.
            let (first, next) = match node {
                Node::If { condition, then, otherwise } => (condition, (then, otherwise)),
                Node::And(a, b) | Node::Or(a, b) => (a, (b, b)),
                _ => {
                    let depth = stack.len();
                    exprs.for_each_child(id, |child| {
                        if missing(child) {
                            stack.push(child);
                        }
                    });
                    if stack.len() == depth {
                        let value = self.operation(exprs, node, known, lookup)?;
                        known.values.insert(id, value);
                        stack.pop();
                    }
                    continue;
                }
            };
            if missing(first) {
                stack.push(first);
                continue;
            }
            let decision = scalars::boolean_of(&known.values[&first])?;
            let chosen = match node {
                Node::And(..) if !decision => first,
                Node::Or(..) if decision => first,
                _ if decision => next.0,
                _ => next.1,
            };
            if missing(chosen) {
                stack.push(chosen);
                continue;
            }
            let value = known.values[&chosen].clone();
            known.values.insert(id, value);
            stack.pop();
        }
        Ok(known.values[&root].clone())
    }

    /// A node whose operands are known.
    fn operation(
        &mut self,
        exprs: &Exprs,
        node: Node,
        known: &mut ExprValues,
        lookup: &mut dyn FnMut(Node) -> Option<Value>,
    ) -> Result {
        let of = |id: ExprId| &known.values[&id];
        let arithmetic =
            |op: ArithmeticOp, a: ExprId, b: ExprId| Ok(scalars::arithmetic(op, &number(of(a)), &number(of(b)))?);
        match node {
            Node::Real(value) => Ok(Value::Real(value)),
            Node::Integer(value) => Ok(Value::Integer(value)),
            Node::Boolean(value) => Ok(Value::Boolean(value)),
            Node::String(text) => Ok(Value::string(text.as_str())),
            Node::Time | Node::Var(_) | Node::Der(_) | Node::Pre(_) | Node::Previous(_) => {
                lookup(node).ok_or_else(|| format!("the value of {node:?} is not known").into())
            }
            Node::Neg(a) => Ok(scalars::negate(&number(of(a)))?),
            Node::Not(a) => Ok(scalars::not(of(a))?),
            Node::Add(a, b) => arithmetic(ArithmeticOp::Add, a, b),
            Node::Sub(a, b) => arithmetic(ArithmeticOp::Sub, a, b),
            Node::Mul(a, b) => arithmetic(ArithmeticOp::Mul, a, b),
            Node::Div(a, b) => arithmetic(ArithmeticOp::Div, a, b),
            Node::Pow(a, b) => arithmetic(ArithmeticOp::Pow, a, b),
            Node::Compare { op, left, right, .. } => Ok(scalars::compare(op, of(left), of(right))?),
            Node::And(..) | Node::Or(..) | Node::If { .. } => Err("the operands are not decided yet".into()),
            Node::Builtin(op, args) if is_function_of_arguments(op) => {
                let arguments: Vec<Value> =
                    exprs.arguments(args).iter().map(|&argument| of(argument).clone()).collect();
                Ok(scalars::builtin(op, &arguments)?)
            }
            Node::Builtin(op, _) => lookup(node).ok_or_else(|| format!("{op:?} has no value here").into()),
            Node::Call { site, args, output } => {
                if let Entry::Vacant(entry) = known.calls.entry((site, args)) {
                    let scalars = exprs.arguments(args).iter().map(|&argument| of(argument).clone()).collect();
                    let outputs = self.call_site(exprs, site, scalars)?;
                    entry.insert(outputs);
                }
                let outputs = &known.calls[&(site, args)];
                outputs
                    .get(output as usize)
                    .cloned()
                    .ok_or_else(|| "a function gives fewer results than are used".into())
            }
        }
    }

    /// Calls a function by its scalars and gives all scalars of its outputs.
    pub fn call_site(&mut self, exprs: &Exprs, site: CallSiteId, scalars: Vec<Value>) -> Result<Vec<Value>> {
        let site = exprs.call_site(site);
        let mut rest = scalars.into_iter();
        let arguments: Option<Vec<Value>> =
            site.inputs.iter().map(|shape| Value::from_scalars(shape, &mut rest)).collect();
        let outputs = self.call(site.function, arguments.ok_or("a call has too few arguments")?)?;
        let mut flat = Vec::new();
        for (value, shape) in outputs.into_iter().zip(&site.outputs) {
            let start = flat.len();
            value.flatten_into(&mut flat);
            if flat.len() - start != shape.scalars() {
                return Err(format!(
                    "a function gives {} scalars where {} are expected",
                    flat.len() - start,
                    shape.scalars()
                )
                .into());
            }
        }
        Ok(flat)
    }
}

/// Arithmetic on ordinals is arithmetic on Integers.
fn number(value: &Value) -> Value {
    match *value {
        Value::Boolean(value) => Value::Integer(i64::from(value)),
        Value::Enumeration(value) => Value::Integer(value),
        ref other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use base::Id;

    use super::*;
    use crate::evaluate::NoExternals;
    use crate::expr::{Builtin, CompareOp};
    use crate::function::Functions;
    use crate::model::VarId;

    #[test]
    fn only_the_chosen_branch_is_evaluated() {
        let mut e = Exprs::new();
        let x = e.var(VarId::from_index(0));
        let (zero, one) = (e.int(0), e.int(1));
        let inverse = e.div(one, x);
        let nonzero = e.compare(CompareOp::NotEqual, false, x, zero);
        let safe = e.if_(nonzero, inverse, zero);
        let functions = Functions::default();
        let mut externals = NoExternals;
        let mut evaluator = Evaluator::new(&functions, &mut externals);
        let mut at = |id, value: f64| evaluator.expression(&e, id, &mut |_| Some(Value::Real(value)));
        assert_eq!(at(safe, 0.0), Ok(Value::Integer(0)));
        assert_eq!(at(safe, 4.0), Ok(Value::Real(0.25)));
        assert_eq!(at(inverse, 0.0).unwrap_err().message, "division by zero: 1/0");
    }

    #[test]
    fn deep_expressions_need_no_stack() {
        let mut e = Exprs::new();
        let x = e.var(VarId::from_index(0));
        let mut root = x;
        for _ in 0..100_000 {
            let condition = e.compare(CompareOp::Less, false, root, x);
            let sine = e.builtin(Builtin::Sin, &[root]);
            root = e.if_(condition, sine, x);
            root = e.add(root, x);
        }
        let functions = Functions::default();
        let mut externals = NoExternals;
        let mut evaluator = Evaluator::new(&functions, &mut externals);
        assert!(evaluator.expression(&e, root, &mut |_| Some(Value::Real(0.5))).is_ok());
    }
}
