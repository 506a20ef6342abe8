//! Derivatives in a clocked partition, replaced by the rule of its solver method (16.8).

use dae::{EqId, EquationRole, ExprId, Memo, Node, VariableType};
use rustc_hash::FxHashMap;

use super::translation::Translation;

impl Translation<'_> {
    /// Replaces derivatives by the rule of the partition's solver method (16.8).
    pub(super) fn discretise(&mut self, partition: usize, rows: &mut Vec<(EqId, ExprId, ExprId)>) {
        let roots: Vec<ExprId> = rows.iter().flat_map(|&(_, left, right)| [left, right]).collect();
        let states = self.model.exprs.dependencies(&roots).derivatives;
        if states.is_empty() {
            return;
        }
        let method = self.clocks.solvers.get(&partition).cloned().unwrap_or_default();
        let (interval, first) = (self.interval(partition), self.first_tick(partition));
        let mut slopes = FxHashMap::default();
        for &state in &states {
            let slope = self.variable("slope", VariableType::Real, None);
            slopes.insert(state, slope);
            let exprs = &mut self.model.exprs;
            let (now, before) = (exprs.var(slope), exprs.pre(slope));
            let rate = match method.as_str() {
                "ImplicitEuler" => now,
                "ImplicitTrapezoid" => {
                    let (sum, half) = (exprs.add(now, before), exprs.real(0.5));
                    exprs.mul(half, sum)
                }
                _ => before,
            };
            let (step, last) = (exprs.mul(interval, rate), exprs.pre(state));
            let next = exprs.add(last, step);
            let zero = exprs.real(0.0);
            let start = self.model.variables[state].attributes.start.unwrap_or(zero);
            let value = self.model.exprs.if_(first, start, next);
            let left = self.model.exprs.var(state);
            let id = self.auxiliary(left, value, EquationRole::Plain);
            rows.push((id, left, value));
        }
        let mut memo = Memo::default();
        for (_, left, right) in rows {
            let rule = |exprs: &mut dae::Exprs, _: ExprId, node: Node| match node {
                Node::Der(v) => match slopes.get(&v) {
                    Some(&slope) => exprs.var(slope),
                    None => exprs.make(node),
                },
                node => exprs.make(node),
            };
            let new = self.model.exprs.rewrite(&[*left, *right], &mut memo, rule);
            (*left, *right) = (new[0], new[1]);
        }
    }
}
