//! Coefficients that vanish for the given parameters, found before anything is matched: with R = 0 the equation
//! `R*i = u - v` is an alias and not one for `i`, with C = 0 the equation `i = C*der(u)` leaves `u` without a derivative. A
//! structure that holds for the values of parameters is the right one; which of them are zero is recorded (`decisions`).
//!
//! What multiplies a derivative may also be computed during the run by a function that returns zero whatever the state is,
//! because a parameter is zero: such a call is written out with the values of the parameters in place.

use base::Id;
use dae::evaluate::{Evaluator, NoExternals};
use dae::evaluate_expr::ExprValues;
use dae::inline::Inliner;
use dae::{EqId, ExprId, Exprs, Memo, Node, Value, VarId, VariableType};
use rustc_hash::FxHashMap;

use crate::decisions::Subject;
use crate::lost_checks::LostChecks;
use crate::work::Work;

pub fn fold(work: &mut Work) {
    let (parameters, computed) = coefficients(work);
    let definitions = definitions(work, &computed);
    evaluate(work, &parameters, &definitions);
    // A zero that makes nothing vanish decides nothing; the others are recorded with their equations.
    for &parameter in &parameters {
        if work.values[parameter].is_some_and(|value| !work.model.exprs.is_zero(value)) {
            let factor = work.model.exprs.var(parameter);
            work.note_zero(factor, false, Subject::Unknowns, None);
        }
    }
    let calls: Vec<ExprId> = definitions.values().copied().collect();
    work.note_values(&calls, Subject::Unknowns, None);
    let vanishing = vanishing_variables(work, &definitions);
    let zeros = Zeros::find(work, &vanishing);
    if zeros.any_product {
        replace(work, &zeros);
    }
}

/// Parameters in factors of what is unknown, and unknowns that multiply derivatives.
fn coefficients(work: &Work) -> (Vec<VarId>, Vec<VarId>) {
    let exprs = &work.model.exprs;
    let mut parametric = vec![false; exprs.len()];
    let unknowns = holding_unknowns(work);
    let mut differentiated = vec![false; exprs.len()];
    let (mut factors, mut computed) = (Vec::new(), Vec::new());
    // Operands come before what they are in.
    for id in exprs.ids() {
        let node = exprs.node(id);
        let (mut all_known, mut derivative) = (true, false);
        exprs.for_each_child(id, |child| {
            all_known &= parametric[child.index()];
            derivative |= differentiated[child.index()];
        });
        parametric[id.index()] = match node {
            Node::Var(v) => work.is_parameter(v) && !work.parameters.free[v],
            Node::Time | Node::Der(_) | Node::Pre(_) | Node::Previous(_) => false,
            _ => all_known,
        };
        differentiated[id.index()] = derivative || matches!(node, Node::Der(_));
        let Node::Mul(a, b) = node else { continue };
        for (factor, other) in [(a, b), (b, a)] {
            if parametric[factor.index()] && unknowns[other.index()] {
                factors.push(factor);
            }
            if let Node::Var(v) = exprs.node(factor)
                && work.is_unknown(v)
                && differentiated[other.index()]
            {
                computed.push(v);
            }
        }
    }
    (exprs.dependencies(&factors).variables, computed)
}

/// Which expressions hold something that equations determine. A signal, which follows time and parameters alone, holds nothing
/// of that kind, and whether it vanishes changes no structure.
fn holding_unknowns(work: &Work) -> Vec<bool> {
    let exprs = &work.model.exprs;
    let mut found: Vec<bool> = Vec::with_capacity(exprs.len());
    // Operands come before what they are in.
    for id in exprs.ids() {
        let mut holds = work.is_open(exprs.node(id));
        exprs.for_each_child(id, |child| holds |= found[child.index()]);
        found.push(holds);
    }
    found
}

/// The right sides of equations that give these variables by calls.
fn definitions(work: &Work, variables: &[VarId]) -> FxHashMap<VarId, ExprId> {
    let mut definitions = FxHashMap::default();
    if variables.is_empty() {
        return definitions;
    }
    let exprs = &work.model.exprs;
    let wanted = rustc_hash::FxHashSet::from_iter(variables.iter().copied());
    for &eq in &work.active {
        let equation = &work.model.equations[eq];
        for (variable, value) in [(equation.left, equation.right), (equation.right, equation.left)] {
            if let (Node::Var(v), Node::Call { .. }) = (exprs.node(variable), exprs.node(value))
                && wanted.contains(&v)
            {
                definitions.insert(v, value);
            }
        }
    }
    definitions
}

/// Gives values to parameters that are computed by calls, as far as they and the calls' arguments are needed here.
fn evaluate(work: &mut Work, parameters: &[VarId], definitions: &FxHashMap<VarId, ExprId>) {
    let mut needed = vec![false; work.model.variables.len()];
    let arguments: Vec<ExprId> = definitions.values().copied().collect();
    let arguments = work.model.exprs.dependencies(&arguments).variables;
    parameters.iter().chain(&arguments).for_each(|v| needed[v.index()] = true);
    for assignment in work.parameters.assignments.iter().rev() {
        if needed[assignment.variable.index()] && work.values[assignment.variable].is_none() {
            let dependencies = work.model.exprs.dependencies(&[assignment.value]).variables;
            dependencies.iter().for_each(|v| needed[v.index()] = true);
        }
    }
    let mut externals = NoExternals;
    let mut evaluator = Evaluator::new(&work.model.functions, &mut externals);
    let mut known = ExprValues::default();
    for assignment in &work.parameters.assignments {
        let variable = assignment.variable;
        if !needed[variable.index()] || work.values[variable].is_some() || work.parameters.free[variable] {
            continue;
        }
        let (exprs, values) = (&work.model.exprs, &work.values);
        let mut lookup = |node: Node| match node {
            Node::Var(v) => literal_value(exprs, values[v]?),
            _ => None,
        };
        let value = evaluator.expression_with(exprs, assignment.value, &mut known, &mut lookup);
        work.values[variable] = value.ok().and_then(|value| literal(&mut work.model.exprs, &value));
    }
    // Values of expressions with these parameters are known better now.
    work.value_memo.clear();
}

fn literal_value(exprs: &Exprs, id: ExprId) -> Option<Value> {
    Some(match exprs.node(id) {
        Node::Real(value) => Value::Real(value),
        Node::Integer(value) => Value::Integer(value),
        Node::Boolean(value) => Value::Boolean(value),
        Node::String(text) => Value::string(text.as_str()),
        _ => return None,
    })
}

fn literal(exprs: &mut Exprs, value: &Value) -> Option<ExprId> {
    Some(match value {
        Value::Real(value) if value.is_finite() => exprs.real(*value),
        Value::Integer(value) | Value::Enumeration(value) => exprs.int(*value),
        Value::Boolean(value) => exprs.boolean(*value),
        Value::String(text) => exprs.string(text),
        _ => return None,
    })
}

/// Those whose calls give zero for the given parameters, whatever their other arguments are.
fn vanishing_variables(work: &mut Work, definitions: &FxHashMap<VarId, ExprId>) -> Vec<VarId> {
    if definitions.is_empty() {
        return Vec::new();
    }
    // What is written out here serves this question only.
    let mut exprs = work.model.exprs.clone();
    let mut memo = Memo::default();
    let mut inliner = Inliner::at_any_size();
    let values = &work.values;
    let mut vanishing: Vec<VarId> = Vec::new();
    for (&variable, &call) in definitions {
        let call = exprs.substitute(&[call], &mut memo, |v| values[v])[0];
        let written_out = inliner.expand(&mut exprs, &work.model.functions, call);
        if exprs.is_zero(written_out) {
            vanishing.push(variable);
        }
    }
    vanishing
}

/// Which expressions are zero for the given parameters.
struct Zeros {
    zero: Vec<bool>,
    /// Products that are zero although neither factor is written so, and that hold unknowns.
    vanishing: Vec<bool>,
    any_product: bool,
}

impl Zeros {
    fn find(work: &mut Work, vanishing: &[VarId]) -> Self {
        let vanishing = rustc_hash::FxHashSet::from_iter(vanishing.iter().copied());
        let unknowns = holding_unknowns(work);
        let mut zero = vec![false; work.model.exprs.len()];
        let mut products = vec![false; work.model.exprs.len()];
        let mut any_product = false;
        for id in work.model.exprs.ids() {
            let exprs = &work.model.exprs;
            let of = |id: ExprId| zero[id.index()];
            let is_zero = match exprs.node(id) {
                Node::Real(value) => value == 0.0,
                Node::Var(v) if vanishing.contains(&v) => true,
                Node::Var(v) => {
                    work.model.variables[v].ty == VariableType::Real
                        && work.values[v].is_some_and(|value| exprs.is_zero(value))
                }
                Node::Neg(a) => of(a),
                Node::Add(a, b) | Node::Sub(a, b) => of(a) && of(b),
                Node::Mul(a, b) => of(a) || of(b),
                // Zero by zero is an error, not zero.
                Node::Div(a, b) if of(a) => {
                    let is_literal = exprs.is_zero(a);
                    let divisor = work.evaluate(b);
                    if let Some(divisor) = divisor {
                        work.note_zero(b, divisor == 0.0, Subject::Divisor, None);
                    }
                    divisor.map_or(!is_literal, |divisor| divisor != 0.0)
                }
                Node::If { then, otherwise, .. } => of(then) && of(otherwise),
                _ => false,
            };
            let is_product = matches!(work.model.exprs.node(id), Node::Mul(..) | Node::Div(..));
            products[id.index()] = is_zero && is_product && unknowns[id.index()];
            any_product |= products[id.index()];
            zero[id.index()] = is_zero;
        }
        Self { zero, vanishing: products, any_product }
    }

    fn is_zero(&self, id: ExprId) -> bool {
        self.zero.get(id.index()).copied().unwrap_or(false)
    }

    fn is_vanishing(&self, id: ExprId) -> bool {
        self.vanishing.get(id.index()).copied().unwrap_or(false)
    }

    /// The parameters that are the reason why some products are zero.
    fn reasons(&self, work: &Work, products: Vec<ExprId>) -> Vec<ExprId> {
        let exprs = &work.model.exprs;
        let mut seen = rustc_hash::FxHashSet::default();
        let (mut reasons, mut stack) = (Vec::new(), products);
        while let Some(id) = stack.pop() {
            if !seen.insert(id) || !self.is_zero(id) {
                continue;
            }
            match exprs.node(id) {
                Node::Var(v) if work.is_parameter(v) => reasons.push(id),
                Node::Neg(a) | Node::Div(a, _) => stack.push(a),
                // One factor is reason enough.
                Node::Mul(a, b) => stack.push(if self.is_zero(a) { a } else { b }),
                Node::Add(a, b) | Node::Sub(a, b) | Node::If { then: a, otherwise: b, .. } => stack.extend([a, b]),
                _ => {}
            }
        }
        reasons
    }
}

/// Records the parameters that are zero and so make terms of an equation vanish.
fn note_zeros(work: &mut Work, eq: EqId, sides: &[ExprId], zeros: &Zeros) {
    let span = work.model.equations[eq].origin.span;
    let inside = work.model.exprs.postorder(sides);
    let products: Vec<ExprId> = inside.into_iter().filter(|&id| zeros.is_vanishing(id)).collect();
    for reason in zeros.reasons(work, products) {
        work.note_zero(reason, true, Subject::Unknowns, span);
    }
}

/// Writes zero for the products that vanish, in all equations.
fn replace(work: &mut Work, zeros: &Zeros) {
    let mut memo = Memo::default();
    let without = |work: &mut Work, memo: &mut Memo, (left, right): (ExprId, ExprId)| {
        let new = work.model.exprs.rewrite(&[left, right], memo, |exprs, id, node| match node {
            Node::Mul(..) | Node::Div(..) if zeros.is_vanishing(id) => exprs.real(0.0),
            node => exprs.make(node),
        });
        (new[0], new[1])
    };
    let equations: Vec<EqId> = work.active.clone();
    let mut checks = LostChecks::default();
    for eq in equations {
        let (left, right) = (work.model.equations[eq].left, work.model.equations[eq].right);
        note_zeros(work, eq, &[left, right], zeros);
        let current = work.dynamic.get(eq).map_or([left, right], |&(left, right)| [left, right]);
        checks.keep(work, eq, current, &|id| zeros.is_vanishing(id));
        (work.model.equations[eq].left, work.model.equations[eq].right) = without(work, &mut memo, (left, right));
        // Before aliases are found, the sides are those of the initial problem too.
        if let Some(&sides) = work.dynamic.get(eq) {
            work.dynamic[eq] = without(work, &mut memo, sides);
        }
    }
}
