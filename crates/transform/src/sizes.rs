//! The sizes of the coefficients of a simultaneous system, and how many digits a torn form of it loses.
//!
//! A pivot that cannot vanish may still be tiny beside the other terms of its equation: `4·x + 1e-14·y = 4` solved for y leaves
//! nothing of y. What counts as tiny does not depend on units: equations and unknowns are scaled first so that the logarithms
//! of the coefficients are near to zero (Curtis and Reid, *On the automatic scaling of matrices for Gaussian
//! elimination*, 1972). Then one rounding error in each term is followed through the torn form.
//!
//! Coefficients are slopes of the equations at two points: near the start values, and some way from them with the other
//! branches of conditions. One that differs much between the points says nothing about sizes.

use dae::{ExprId, Exprs, Node, VarId, scalar};

use crate::parts::Sides;
use crate::work::Work;

/// Coefficients at the two points may differ by this factor.
const STEADY: f64 = 1e3;
/// Iterations for the logarithms of the scales, and their mean squares that are near enough.
const MOST_ITERATIONS: usize = 300;
const NEARLY: f64 = 1e-4;
/// Rounding errors are followed with so many sets of signs.
const TRIALS: u64 = 3;

/// One coefficient of an equation.
#[derive(Clone, Copy, Debug)]
struct Entry {
    column: u32,
    value: f64,
    /// It has about this size wherever the system is solved.
    is_steady: bool,
}

/// The coefficients of a system and the scales of its unknowns.
pub struct Sizes {
    rows: Vec<Vec<Entry>>,
    /// Typical sizes of the unknowns relative to each other.
    scale: Vec<f64>,
}

impl Sizes {
    /// `column` tells the place of an unknown among those of the system.
    pub fn new(
        slopes: &mut Slopes,
        work: &Work,
        equations: impl Iterator<Item = Sides>,
        unknowns: usize,
        column: impl Fn(VarId) -> Option<u32>,
    ) -> Self {
        let rows: Vec<Vec<Entry>> = equations.map(|sides| slopes.entries(work, sides, &column)).collect();
        let scale = scales(&rows, unknowns);
        Self { rows, scale }
    }

    /// The size of a term relative to the largest of its equation; `None` where it is not known.
    pub fn relative(&self, row: u32, column: u32) -> Option<f64> {
        let row = self.rows.get(row as usize)?;
        let own = row.iter().find(|entry| entry.column == column && entry.is_steady)?;
        Some(self.term(own) / self.largest(row))
    }

    /// The largest error, in units of the rounding of the largest term, when the unknowns `inner` are computed from their
    /// equations in this order, and in the equations that remain.
    pub fn loss(&self, inner: &[(u32, u32)], residual: &[u32]) -> f64 {
        (1..=TRIALS).map(|trial| self.loss_with(Signs(trial), inner, residual)).fold(0.0, f64::max)
    }

    fn loss_with(&self, mut signs: Signs, inner: &[(u32, u32)], residual: &[u32]) -> f64 {
        // What is guessed is rounded.
        let mut errors: Vec<f64> = self.scale.iter().map(|scale| scale * signs.next()).collect();
        let mut most = 0.0f64;
        for &(row, column) in inner {
            let Some(entries) = self.rows.get(row as usize) else { continue };
            let pivot = entries.iter().find(|entry| entry.column == column);
            let Some(pivot) = pivot.filter(|pivot| pivot.value != 0.0) else { continue };
            let sum = self.error(entries, Some(column), &errors, &mut signs);
            let error = sum / pivot.value;
            errors[column as usize] = error;
            if pivot.is_steady {
                most = most.max(error.abs() / self.scale[column as usize]);
            }
        }
        for &row in residual {
            let Some(entries) = self.rows.get(row as usize) else { continue };
            let largest = self.largest(entries);
            if largest > 0.0 {
                most = most.max(self.error(entries, None, &errors, &mut signs).abs() / largest);
            }
        }
        if most.is_nan() { f64::INFINITY } else { most }
    }

    /// The error of a sum of terms without one of them.
    fn error(&self, entries: &[Entry], without: Option<u32>, errors: &[f64], signs: &mut Signs) -> f64 {
        let others = entries.iter().filter(|entry| Some(entry.column) != without);
        others
            .map(|entry| {
                let place = entry.column as usize;
                entry.value * (errors[place] + self.scale[place] * signs.next())
            })
            .sum()
    }

    fn term(&self, entry: &Entry) -> f64 {
        entry.value.abs() * self.scale[entry.column as usize]
    }

    fn largest(&self, row: &[Entry]) -> f64 {
        row.iter().filter(|entry| entry.is_steady).map(|entry| self.term(entry)).fold(0.0, f64::max)
    }
}

/// Scales of the unknowns such that, with suitable scales of the equations, all coefficients are as near to one as possible.
fn scales(rows: &[Vec<Entry>], unknowns: usize) -> Vec<f64> {
    let steady = |row: &[Entry]| -> Vec<Term> {
        let terms = row.iter().filter(|entry| entry.is_steady);
        terms.map(|entry| Term { column: entry.column as usize, size: entry.value.abs().ln() }).collect()
    };
    let rows: Vec<Vec<Term>> = rows.iter().map(|row| steady(row)).filter(|row| row.len() > 1).collect();
    let mut scale = vec![0.0; unknowns];
    fit(&rows, &mut scale);
    scale.into_iter().map(|scale: f64| scale.clamp(-300.0, 300.0).exp()).collect()
}

/// The logarithm of a coefficient.
struct Term {
    column: usize,
    size: f64,
}

/// How far values are from the mean of each equation they are in, summed up.
fn deviations(rows: &[Vec<Term>], unknowns: usize, value: impl Fn(&Term) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; unknowns];
    for row in rows {
        let mean = row.iter().map(&value).sum::<f64>() / row.len() as f64;
        row.iter().for_each(|term| sums[term.column] += value(term) - mean);
    }
    sums
}

/// Linear least squares by conjugate gradients, from the scales at hand.
fn fit(rows: &[Vec<Term>], scale: &mut [f64]) {
    let mut weights = vec![0.0; scale.len()];
    rows.iter().flatten().for_each(|term| weights[term.column] += 1.0);
    let preconditioned = |residual: &[f64]| -> Vec<f64> {
        residual.iter().zip(&weights).map(|(r, &weight)| if weight > 0.0 { r / weight } else { 0.0 }).collect()
    };
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut residual = deviations(rows, scale.len(), |term| term.size + scale[term.column]);
    residual.iter_mut().for_each(|r| *r = -*r);
    let mut direction = preconditioned(&residual);
    let mut size = product(&residual, &direction);
    for _ in 0..MOST_ITERATIONS {
        let is_near = size.is_nan() || size <= NEARLY * scale.len() as f64;
        let image = deviations(rows, scale.len(), |term| direction[term.column]);
        let length = size / product(&direction, &image);
        if is_near || !length.is_finite() {
            break;
        }
        scale.iter_mut().zip(&direction).for_each(|(scale, d)| *scale += length * d);
        residual.iter_mut().zip(&image).for_each(|(r, image)| *r -= length * image);
        let next = preconditioned(&residual);
        let next_size = product(&residual, &next);
        let ratio = next_size / size;
        direction.iter_mut().zip(&next).for_each(|(d, next)| *d = next + ratio * *d);
        size = next_size;
    }
}

/// Numbers between −1 and 1 that follow no pattern, none of them near zero.
struct Signs(u64);

impl Signs {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        let size = 0.5 + 0.5 * (bits >> 11) as f64 / (1u64 << 53) as f64;
        if bits & 1 == 0 { size } else { -size }
    }
}

/// Slopes of expressions by backward differentiation; scratch space for all expressions of a model.
#[derive(Default)]
pub struct Slopes {
    value: Vec<f64>,
    varies: Vec<bool>,
    adjoint: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Point {
    NearStart,
    Away,
}

impl Slopes {
    fn entries(&mut self, work: &Work, sides: Sides, column: &impl Fn(VarId) -> Option<u32>) -> Vec<Entry> {
        let exprs = &work.model.exprs;
        let order = exprs.postorder(&[sides.0, sides.1]);
        let count = exprs.len();
        self.value.resize(count, 0.0);
        self.varies.resize(count, false);
        self.adjoint.resize(count, 0.0);
        let near = self.slopes(work, &order, sides, Point::NearStart, column);
        let away = self.slopes(work, &order, sides, Point::Away, column);
        let is_number = |value: f64| value.is_finite() && value != 0.0;
        near.iter()
            .zip(&away)
            .filter_map(|(&(column, a), &(_, b))| {
                let ratio = (a / b).abs();
                let is_steady = is_number(a) && is_number(b) && (1.0 / STEADY..=STEADY).contains(&ratio);
                let value = match is_steady {
                    true => a.signum() * (a * b).abs().sqrt(),
                    false if is_number(a) => a,
                    false => b,
                };
                is_number(value).then_some(Entry { column, value, is_steady })
            })
            .collect()
    }

    /// The slope of `left - right` by each unknown in it.
    fn slopes(
        &mut self,
        work: &Work,
        order: &[ExprId],
        (left, right): Sides,
        point: Point,
        column: &impl Fn(VarId) -> Option<u32>,
    ) -> Vec<(u32, f64)> {
        let exprs = &work.model.exprs;
        for &id in order {
            let place = base::Id::index(id);
            self.adjoint[place] = 0.0;
            let mut varies = match exprs.node(id) {
                Node::Var(v) => work.values[v].is_none(),
                Node::Time | Node::Der(_) | Node::Pre(_) | Node::Previous(_) => true,
                _ => false,
            };
            exprs.for_each_child(id, |child| varies |= self.varies[base::Id::index(child)]);
            self.varies[place] = varies;
            self.value[place] = self.evaluate(work, id, point);
        }
        self.adjoint[base::Id::index(left)] += 1.0;
        self.adjoint[base::Id::index(right)] -= 1.0;
        let mut found = Vec::new();
        for &id in order.iter().rev() {
            let adjoint = self.adjoint[base::Id::index(id)];
            if let Node::Var(v) = exprs.node(id) {
                if let Some(column) = column(v) {
                    found.push((column, adjoint));
                }
            } else if adjoint != 0.0 && self.varies[base::Id::index(id)] {
                self.hand_down(exprs, id, adjoint, point);
            }
        }
        found
    }

    fn of(&self, id: ExprId) -> f64 {
        self.value[base::Id::index(id)]
    }

    fn evaluate(&self, work: &Work, id: ExprId, point: Point) -> f64 {
        let exprs = &work.model.exprs;
        let logical = |truth: bool| f64::from(u8::from(truth));
        match exprs.node(id) {
            Node::Var(v) | Node::Pre(v) | Node::Previous(v) => variable(work, v, point),
            Node::Der(v) => arbitrary(base::Id::index(v)),
            Node::Time => arbitrary(0),
            Node::Real(value) => value,
            Node::Integer(value) => value as f64,
            Node::Boolean(value) => logical(value),
            Node::Neg(a) => -self.of(a),
            Node::Add(a, b) => self.of(a) + self.of(b),
            Node::Sub(a, b) => self.of(a) - self.of(b),
            Node::Mul(a, b) => self.of(a) * self.of(b),
            Node::Div(a, b) => self.of(a) / self.of(b),
            Node::Pow(a, b) => self.of(a).powf(self.of(b)),
            Node::Not(a) => logical(self.of(a) == 0.0),
            Node::And(a, b) => logical(self.of(a) != 0.0 && self.of(b) != 0.0),
            Node::Or(a, b) => logical(self.of(a) != 0.0 || self.of(b) != 0.0),
            Node::Compare { op, left, right, .. } => logical(scalar::compare_reals(op, self.of(left), self.of(right))),
            Node::If { condition, then, otherwise } => {
                self.of(if self.takes(condition, point) { then } else { otherwise })
            }
            Node::Builtin(op, args) => {
                let args = exprs.arguments(args);
                let at = |place: usize| args.get(place).map_or(f64::NAN, |&arg| self.of(arg));
                scalar::builtin(op, [at(0), at(1), at(2)])
            }
            _ => f64::NAN,
        }
    }

    /// Which branch is looked at: both, where the condition can change.
    fn takes(&self, condition: ExprId, point: Point) -> bool {
        let other = point == Point::Away && self.varies[base::Id::index(condition)];
        (self.of(condition) != 0.0) != other
    }

    fn hand_down(&mut self, exprs: &Exprs, id: ExprId, adjoint: f64, point: Point) {
        let add = |this: &mut Self, child: ExprId, factor: f64| {
            this.adjoint[base::Id::index(child)] += adjoint * factor;
        };
        match exprs.node(id) {
            Node::Neg(a) => add(self, a, -1.0),
            Node::Add(a, b) => {
                add(self, a, 1.0);
                add(self, b, 1.0);
            }
            Node::Sub(a, b) => {
                add(self, a, 1.0);
                add(self, b, -1.0);
            }
            Node::Mul(a, b) => {
                let (x, y) = (self.of(a), self.of(b));
                add(self, a, y);
                add(self, b, x);
            }
            Node::Div(a, b) => {
                let (x, y) = (self.of(a), self.of(b));
                add(self, a, 1.0 / y);
                add(self, b, -x / (y * y));
            }
            Node::Pow(a, b) => {
                let (x, y) = (self.of(a), self.of(b));
                add(self, a, y * x.powf(y - 1.0));
                if self.varies[base::Id::index(b)] {
                    add(self, b, x.powf(y) * x.ln());
                }
            }
            Node::If { condition, then, otherwise } => {
                let taken = if self.takes(condition, point) { then } else { otherwise };
                add(self, taken, 1.0);
            }
            Node::Builtin(op, args) => {
                let args = exprs.arguments(args);
                let at = |place: usize| args.get(place).map_or(f64::NAN, |&arg| self.of(arg));
                let values = [at(0), at(1), at(2)];
                for (place, &arg) in args.iter().enumerate().take(3) {
                    add(self, arg, scalar::slope(op, values, place));
                }
            }
            _ => exprs.for_each_child(id, |child| self.adjoint[base::Id::index(child)] = f64::NAN),
        }
    }
}

/// The value of a variable at a point: of a parameter its own.
fn variable(work: &Work, variable: VarId, point: Point) -> f64 {
    let exprs = &work.model.exprs;
    let number =
        |id: ExprId| exprs.as_real(id).or_else(|| exprs.as_boolean(id).map(|truth| f64::from(u8::from(truth))));
    if let Some(known) = work.values[variable].and_then(number) {
        return known;
    }
    let start = work.model.variables[variable].attributes.start.and_then(number).unwrap_or(0.0);
    let some = arbitrary(base::Id::index(variable) + 1);
    match point {
        Point::NearStart if start != 0.0 => start,
        // What is zero at the start hides the slopes of products.
        Point::NearStart => 0.01 * some,
        Point::Away => start + some * start.abs().max(1.0),
    }
}

/// Between 0.5 and 1.5, always the same.
fn arbitrary(index: usize) -> f64 {
    0.5 + Signs(index as u64).next().abs()
}
