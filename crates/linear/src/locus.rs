//! Root locus: the poles of the loop closed by a gain k, for k from 0 upwards.
//!
//! Gains are chosen so that no pole moves by more than a small part of the picture between neighbours; branches are followed
//! by extrapolation. Breakaway points solve d/ds L(s) = 0 with 1 + k L(s) = 0 for a real positive k: roots of the
//! derivative's numerator, improved by Newton's method on the form with poles and zeros.

use crate::eigen::eigenvalues;
use crate::margins::closed_loop;
use crate::transfer::{polynomial, product, transfer_function};
use crate::{Complex, Error, Matrix, RANK_TOLERANCE, StateSpace, TransferFunction, minimal};

/// The poles of the closed loop over its gain.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RootLocus {
    /// Ascending, from zero.
    pub gains: Vec<f64>,
    /// For each branch its pole at each gain.
    pub branches: Vec<Vec<Complex>>,
    /// The poles of the open loop, where branches begin.
    pub poles: Vec<Complex>,
    /// The zeros of the open loop, where branches end.
    pub zeros: Vec<Complex>,
    /// Where branches meet.
    pub breakaways: Vec<LocusPoint>,
    /// Where branches cross the imaginary axis, with positive or zero imaginary part.
    pub crossings: Vec<LocusPoint>,
}

/// A point of the locus and its gain.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LocusPoint {
    /// A pole of the closed loop.
    pub point: Complex,
    /// The gain that it belongs to.
    pub gain: f64,
}

/// Gains times poles, which bounds the time for large systems.
const MOST_POLES: usize = 60_000;
/// The largest order for which coefficients of polynomials are good enough to start from.
const LARGEST_POLYNOMIAL: usize = 40;

/// With the given gains (ascending), or automatic ones.
pub fn root_locus(system: &StateSpace, output: usize, input: usize, gains: Option<&[f64]>) -> Result<RootLocus, Error> {
    let pair = minimal(&system.pair(output, input)?, RANK_TOLERANCE)?;
    let function = transfer_function(&pair, 0, 0, RANK_TOLERANCE)?;
    let breakaways = breakaways(&function)?;
    let extent = extent(&function);
    let mut steps = match gains {
        Some(gains) => at_gains(&pair, gains)?,
        None => automatic(&pair, &function, &breakaways, extent)?,
    };
    steps.retain(|step| step.poles.len() == function.poles.len());
    let branches = follow(&steps);
    let gains: Vec<f64> = steps.iter().map(|step| step.gain).collect();
    let crossings = crossings(&pair, &gains, &branches, extent)?;
    Ok(RootLocus { gains, branches, poles: function.poles, zeros: function.zeros, breakaways, crossings })
}

struct Step {
    gain: f64,
    poles: Vec<Complex>,
}

fn step(pair: &StateSpace, gain: f64) -> Result<Step, Error> {
    Ok(Step { gain, poles: eigenvalues(closed_loop(pair, gain)?.dense().as_ref())? })
}

fn at_gains(pair: &StateSpace, gains: &[f64]) -> Result<Vec<Step>, Error> {
    gains.iter().map(|&gain| step(pair, gain)).collect()
}

/// The size of the part of the plane where something happens.
fn extent(function: &TransferFunction) -> f64 {
    let roots = function.poles.iter().chain(&function.zeros);
    let largest = roots.map(|root| root.norm()).fold(0.0, f64::max);
    if largest > 0.0 { 2.0 * largest } else { 1.0 }
}

fn automatic(
    pair: &StateSpace,
    function: &TransferFunction,
    breakaways: &[LocusPoint],
    extent: f64,
) -> Result<Vec<Step>, Error> {
    let mut gains: Vec<f64> = vec![0.0];
    gains.extend(breakaways.iter().map(|breakaway| breakaway.gain));
    // At |s| = extent the asymptotes leave the picture; where all branches end in zeros, they are near them long before.
    let outermost = |angle: f64| 1.0 / function.evaluate(Complex::from_polar(2.0 * extent, angle)).norm();
    let far = [0.2, 1.0, 2.0, 3.0].map(outermost).into_iter().filter(|gain| gain.is_finite()).fold(0.0, f64::max);
    let near = 1.0 / function.evaluate(Complex::from_polar(0.01 * extent, 1.0)).norm();
    let top = far.max(breakaways.iter().map(|breakaway| 3.0 * breakaway.gain).fold(0.0, f64::max)).max(near);
    let top = if top > 0.0 && top.is_finite() { top } else { 1.0 };
    gains.extend((0..=40).map(|i| top * 10f64.powf(-6.0 + 6.0 * f64::from(i) / 40.0)));
    let direct = pair.d[(0, 0)];
    gains.retain(|&gain| gain >= 0.0 && gain.is_finite() && (1.0 + gain * direct).abs() > 1e-9);
    gains.sort_by(f64::total_cmp);
    gains.dedup_by(|x, y| (*x - *y).abs() <= 1e-12 * y.abs());
    let mut steps = at_gains(pair, &gains)?;
    let limit = extent / 60.0;
    let most = (MOST_POLES / pair.order().max(1)).clamp(100, 3000);
    for _ in 0..12 {
        let mut refined: Vec<Step> = Vec::new();
        let mut added = 0;
        let count = steps.len();
        let mut rest = steps.into_iter().peekable();
        while let Some(left) = rest.next() {
            let middle = match rest.peek() {
                Some(right) if count + added < most && moved(&left, right, extent) > limit => {
                    let gain = if left.gain > 0.0 { (left.gain * right.gain).sqrt() } else { 0.5 * right.gain };
                    let distinct = gain > left.gain * (1.0 + 1e-9) && gain < right.gain;
                    (distinct && (1.0 + gain * direct).abs() > 1e-9).then(|| step(pair, gain)).transpose()?
                }
                _ => None,
            };
            refined.push(left);
            added += usize::from(middle.is_some());
            refined.extend(middle);
        }
        steps = refined;
        if added == 0 {
            break;
        }
    }
    Ok(steps)
}

/// How far the poles inside the picture move at most.
fn moved(left: &Step, right: &Step, extent: f64) -> f64 {
    let order = assignment(&left.poles, &right.poles);
    let pairs = left.poles.iter().zip(&order).map(|(from, &to)| (from, &right.poles[to]));
    let inside = pairs.filter(|(from, to)| from.norm() < 1.5 * extent || to.norm() < 1.5 * extent);
    inside.map(|(from, to)| (from - to).norm().min(extent)).fold(0.0, f64::max)
}

/// For each expected place the index of its pole: nearest pairs first.
fn assignment(expected: &[Complex], poles: &[Complex]) -> Vec<usize> {
    let n = expected.len();
    let mut pairs: Vec<(f64, usize, usize)> = Vec::with_capacity(n * n);
    for (i, place) in expected.iter().enumerate() {
        pairs.extend(poles.iter().enumerate().map(|(j, pole)| ((place - pole).norm_sqr(), i, j)));
    }
    pairs.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut order = vec![usize::MAX; n];
    let mut taken = vec![false; poles.len()];
    for (_, i, j) in pairs {
        if order[i] == usize::MAX && !taken[j] {
            order[i] = j;
            taken[j] = true;
        }
    }
    order
}

fn follow(steps: &[Step]) -> Vec<Vec<Complex>> {
    let Some(first) = steps.first() else { return Vec::new() };
    let mut branches: Vec<Vec<Complex>> = first.poles.iter().map(|&pole| vec![pole]).collect();
    for step in &steps[1..] {
        let expected: Vec<Complex> = branches.iter().map(|branch| branch[branch.len() - 1]).collect();
        let order = assignment(&expected, &step.poles);
        for (branch, to) in branches.iter_mut().zip(order) {
            branch.push(step.poles[to]);
        }
    }
    branches
}

fn breakaways(function: &TransferFunction) -> Result<Vec<LocusPoint>, Error> {
    if function.poles.len() > LARGEST_POLYNOMIAL || function.gain == 0.0 || function.poles.is_empty() {
        return Ok(Vec::new());
    }
    // Scaling the roots to the unit circle keeps the coefficients in range.
    let scale = 0.5 * extent(function);
    let scaled = |roots: &[Complex]| roots.iter().map(|root| root / scale).collect::<Vec<_>>();
    let (zeros, poles) = (scaled(&function.zeros), scaled(&function.poles));
    let (n, d) = (polynomial(&zeros), polynomial(&poles));
    let left = product(&n, &derivative(&d));
    let right = product(&derivative(&n), &d);
    let length = left.len().max(right.len());
    let at = |list: &[f64], k: usize| if k + list.len() >= length { list[k + list.len() - length] } else { 0.0 };
    let numerator: Vec<f64> = (0..length).map(|k| at(&left, k) - at(&right, k)).collect();
    let mut found: Vec<LocusPoint> = Vec::new();
    for start in roots_of(&numerator)? {
        let point = improve(&zeros, &poles, start) * scale;
        let gain = -function.evaluate(point).inv();
        let known = found.iter().any(|other| (other.point - point).norm() <= 1e-6 * scale);
        let on_locus = gain.is_finite() && gain.re > 0.0 && gain.im.abs() <= 1e-6 * gain.re;
        let at_pole = function.poles.iter().any(|pole| (pole - point).norm() <= 1e-6 * scale);
        if on_locus && !known && !at_pole {
            found.push(LocusPoint { point, gain: gain.re });
        }
    }
    // Poles that are multiple from the start leave each other at gain zero.
    for (k, &pole) in function.poles.iter().enumerate() {
        if function.poles[..k].contains(&pole) && !found.iter().any(|other| other.point == pole) {
            found.push(LocusPoint { point: pole, gain: 0.0 });
        }
    }
    found.sort_by(|x, y| x.gain.total_cmp(&y.gain).then(x.point.im.total_cmp(&y.point.im)));
    Ok(found)
}

fn derivative(coefficients: &[f64]) -> Vec<f64> {
    let degree = coefficients.len() - 1;
    let terms = coefficients[..degree].iter().enumerate();
    let derived: Vec<f64> = terms.map(|(k, coefficient)| coefficient * (degree - k) as f64).collect();
    if derived.is_empty() { vec![0.0] } else { derived }
}

/// The eigenvalues of the companion matrix.
fn roots_of(coefficients: &[f64]) -> Result<Vec<Complex>, Error> {
    let largest = coefficients.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let Some(first) = coefficients.iter().position(|value| value.abs() > 1e-14 * largest) else {
        return Ok(Vec::new());
    };
    let coefficients = &coefficients[first..];
    let n = coefficients.len() - 1;
    let companion = Matrix::from_fn(n, n, |i, j| match i {
        0 => -coefficients[j + 1] / coefficients[0],
        _ if i == j + 1 => 1.0,
        _ => 0.0,
    });
    eigenvalues(companion.dense().as_ref())
}

/// Newton's method on Σ 1/(s - zero) - Σ 1/(s - pole) = 0, as far as it converges.
fn improve(zeros: &[Complex], poles: &[Complex], start: Complex) -> Complex {
    let mut s = start;
    for _ in 0..20 {
        let (mut value, mut slope) = (Complex::ZERO, Complex::ZERO);
        for (roots, sign) in [(zeros, 1.0), (poles, -1.0)] {
            for root in roots {
                let inverse = (s - root).inv();
                value += inverse * sign;
                slope -= inverse * inverse * sign;
            }
        }
        let change = value / slope;
        if !change.is_finite() || change.norm() > 1e-2 {
            return start;
        }
        s -= change;
        if change.norm() <= 1e-14 {
            break;
        }
    }
    // A real start stays real.
    if s.im.abs() <= 1e-9 { Complex::new(s.re, 0.0) } else { s }
}

fn crossings(
    pair: &StateSpace,
    gains: &[f64],
    branches: &[Vec<Complex>],
    extent: f64,
) -> Result<Vec<LocusPoint>, Error> {
    let mut found: Vec<LocusPoint> = Vec::new();
    // A pole that starts on the axis is there by rounding errors only.
    let on_axis = |pole: Complex| pole.re.abs() <= 1e-9 * extent;
    for branch in branches {
        for k in 0..gains.len().saturating_sub(1) {
            let (left, right) = (branch[k], branch[k + 1]);
            if left.re * right.re >= 0.0 || left.im + right.im < 0.0 || (k == 0 && on_axis(left)) {
                continue;
            }
            let mut ends = ((gains[k], left), (gains[k + 1], right));
            for _ in 0..60 {
                let gain = 0.5 * (ends.0.0 + ends.1.0);
                if gain <= ends.0.0 || gain >= ends.1.0 {
                    break;
                }
                let expected = 0.5 * (ends.0.1 + ends.1.1);
                let poles = step(pair, gain)?.poles;
                let nearest = |x: &&Complex, y: &&Complex| (**x - expected).norm().total_cmp(&(**y - expected).norm());
                let Some(&pole) = poles.iter().min_by(nearest) else { break };
                if pole.re * ends.0.1.re > 0.0 { ends.0 = (gain, pole) } else { ends.1 = (gain, pole) }
            }
            let point = Complex::new(0.0, 0.5 * (ends.0.1.im + ends.1.1.im));
            found.push(LocusPoint { point, gain: 0.5 * (ends.0.0 + ends.1.0) });
        }
    }
    found.sort_by(|x, y| x.gain.total_cmp(&y.gain));
    found.dedup_by(|x, y| {
        (x.point - y.point).norm() <= 1e-9 * y.point.norm() && (x.gain - y.gain).abs() <= 1e-9 * y.gain
    });
    Ok(found)
}
