//! Whether errors of the guesses of a torn system grow on the way to the residuals.
//!
//! Guessing one row of a heat-conducting plate lets all other temperatures follow row by row, but each row multiplies an
//! error by nearly four: after forty rows nothing is left of the solution. Such systems go whole to the sparse solver. The
//! growth is measured: what follows is computed for two sets of guesses, and the differences of unknowns of one shape, which
//! have one unit, are compared with each other. Where equations are not linear, guesses may be wrong by as much as they are: a
//! chain of diodes lets an error of the first voltage overflow after a few.

use base::IdVec;
use dae::evaluate::{Evaluator, NoExternals};
use dae::evaluate_expr::ExprValues;
use dae::{Node, Value, VarId, VariableType};
use rustc_hash::FxHashMap;

use crate::families::{Shapes, assignment_shape};
use crate::parts::{Assignment, Block};
use crate::work::Work;

/// Shorter chains cannot lose many digits.
const SHORTEST: usize = 16;
/// A loss of half of the digits.
const TOO_MUCH: f64 = 1e8;

/// Values of variables as far as they can be known before the run: those that blocks compute, else start values.
#[derive(Default)]
pub struct Growth {
    computed: IdVec<VarId, Option<f64>>,
    /// So many blocks have been evaluated.
    done: usize,
}

impl Growth {
    /// `blocks` are those before the system, `distance` says how wrong guesses may be relative to their size.
    pub fn is_too_much(
        &mut self,
        work: &Work,
        blocks: &[Block],
        (iteration, inner): (&[VarId], &[Assignment]),
        distance: f64,
    ) -> bool {
        if inner.len() < SHORTEST {
            return false;
        }
        self.computed.resize(work.model.variables.len(), None);
        for block in &blocks[self.done..] {
            if let Block::Assign { assignment, .. } = block {
                self.computed[assignment.variable] = self.value(work, assignment);
            }
        }
        self.done = blocks.len();
        let first = self.follow(work, iteration, inner, 0.0);
        let second = self.follow(work, iteration, inner, distance);
        let mut shapes = Shapes::default();
        // The smallest and the largest difference of each shape.
        let mut ranges: FxHashMap<u32, (f64, f64)> = FxHashMap::default();
        for (assignment, (a, b)) in inner.iter().zip(first.iter().zip(&second)) {
            if a.is_finite() && !b.is_finite() {
                return true;
            }
            // What is not finite from the beginning could not be computed.
            let difference = (b - a).abs();
            if difference == 0.0 || difference.is_nan() {
                continue;
            }
            if let Some(shape) = assignment_shape(&work.model, &mut shapes, assignment) {
                let range = ranges.entry(shape).or_insert((difference, difference));
                *range = (range.0.min(difference), range.1.max(difference));
            }
        }
        ranges.values().any(|(smallest, largest)| *largest > TOO_MUCH * smallest)
    }

    /// The values of what follows from guesses moved by `step` in different directions.
    fn follow(&mut self, work: &Work, iteration: &[VarId], inner: &[Assignment], step: f64) -> Vec<f64> {
        for (index, &guess) in (1u64..).zip(iteration) {
            let start = number(work, guess).unwrap_or(0.0);
            let direction = direction(index);
            self.computed[guess] = Some(start + step * direction * (1.0 + start.abs()));
        }
        let mut values = Vec::with_capacity(inner.len());
        for assignment in inner {
            let value = self.value(work, assignment);
            self.computed[assignment.variable] = value;
            values.push(value.unwrap_or(f64::NAN));
        }
        values
    }

    fn value(&self, work: &Work, assignment: &Assignment) -> Option<f64> {
        let mut externals = NoExternals;
        let mut evaluator = Evaluator::new(&work.model.functions, &mut externals);
        let mut lookup = |node: Node| match node {
            Node::Var(v) | Node::Pre(v) | Node::Previous(v) => {
                let value = self.computed.get(v).copied().flatten().or_else(|| number(work, v)).unwrap_or(0.0);
                Some(match work.model.variables[v].ty {
                    VariableType::Boolean => Value::Boolean(value != 0.0),
                    VariableType::Integer => Value::Integer(value as i64),
                    VariableType::Real => Value::Real(value),
                    _ => return None,
                })
            }
            Node::Time => Some(Value::Real(0.0)),
            _ => None,
        };
        let mut known = ExprValues::default();
        let value = evaluator.expression_with(&work.model.exprs, assignment.value, &mut known, &mut lookup).ok()?;
        match value {
            Value::Real(value) => Some(value),
            Value::Integer(value) => Some(value as f64),
            Value::Boolean(value) => Some(f64::from(u8::from(value))),
            _ => None,
        }
    }
}

/// Between 0.5 and 1.5, without any pattern that differences of neighbours could cancel (the finaliser of SplitMix64).
fn direction(index: u64) -> f64 {
    let mut bits = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    0.5 + ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// The value of a parameter or the start value of a variable, where it is a number.
fn number(work: &Work, variable: VarId) -> Option<f64> {
    let exprs = &work.model.exprs;
    let literal = work.values[variable].or(work.model.variables[variable].attributes.start)?;
    exprs.as_real(literal).or_else(|| exprs.as_boolean(literal).map(|value| f64::from(u8::from(value))))
}
