//! Frequency responses: C (sI - A)⁻¹ B + D at many points.
//!
//! A large A is brought to Hessenberg form once; each point then costs one elimination of order n² (Laub 1981). A small one is
//! left as it is, because reflections mix slow parts with the rounding errors of fast ones. The automatic range
//! reaches one decade beyond the poles and zeros; intervals are halved until straight lines in the Bode diagram fit.

use faer::Mat;

use crate::balance::balance;
use crate::eigen::hessenberg;
use crate::zeros::zeros;
use crate::{Complex, Error, Matrix, RANK_TOLERANCE, StateSpace, minimal, poles};

/// Beyond this order hidden modes are not removed and zeros are not sought for the choice of frequencies.
const SMALL: usize = 300;
/// Up to this order the elimination of the whole matrix is fast enough.
const SMALL_WHOLE: usize = 40;
const POINTS_A_DECADE: f64 = 16.0;
const MOST_POINTS: usize = 4000;

/// A system prepared for evaluation at many points.
pub struct Evaluator {
    order: usize,
    /// Row by row.
    h: Vec<f64>,
    b: Mat<f64>,
    c: Mat<f64>,
    d: Matrix,
    work: Vec<Complex>,
    right: Vec<Complex>,
}

impl Evaluator {
    /// Brings the system into Hessenberg form.
    pub fn new(system: &StateSpace) -> Result<Self, Error> {
        system.check()?;
        let (mut a, mut b, mut c) = (system.a.dense(), system.b.dense(), system.c.dense());
        balance(&mut a, Some(&mut b), Some(&mut c));
        let n = a.nrows();
        if n > SMALL_WHOLE {
            let q;
            (a, q) = hessenberg(a.as_ref());
            b = q.transpose() * &b;
            c = &c * &q;
        }
        let h = (0..n * n).map(|at| a[(at / n, at % n)]).collect();
        Ok(Self { order: n, h, b, c, d: system.d.clone(), work: Vec::new(), right: Vec::new() })
    }

    /// One row for each output, one column for each input; infinite or no number at a pole.
    pub fn at(&mut self, s: Complex) -> Matrix<Complex> {
        let (n, m) = (self.order, self.b.ncols());
        self.work.clear();
        self.work.extend(self.h.iter().map(|&value| Complex::new(-value, 0.0)));
        (0..n).for_each(|i| self.work[i * n + i] += s);
        self.right.clear();
        self.right.extend((0..n * m).map(|at| Complex::new(self.b[(at / m, at % m)], 0.0)));
        if n <= SMALL_WHOLE {
            triangularise(&mut self.work, &mut self.right, n, m);
        }
        let singular = !eliminate(&mut self.work, &mut self.right, n, m);
        Matrix::from_fn(self.c.nrows(), m, |i, j| {
            if singular {
                return Complex::new(f64::INFINITY, 0.0);
            }
            (0..n).map(|k| self.right[k * m + j] * self.c[(i, k)]).sum::<Complex>() + self.d[(i, j)]
        })
    }
}

/// Eliminates below the diagonal, with pivots that are large in their rows.
fn triangularise(work: &mut [Complex], right: &mut [Complex], n: usize, m: usize) {
    let mut sizes: Vec<f64> =
        work.chunks(n.max(1)).map(|row| row.iter().map(|it| it.l1_norm()).fold(0.0, f64::max)).collect();
    for k in 0..n {
        let size = |row: usize| if sizes[row] > 0.0 { work[row * n + k].l1_norm() / sizes[row] } else { 0.0 };
        let pivot = (k..n).max_by(|&i, &j| size(i).total_cmp(&size(j))).unwrap_or(k);
        if pivot != k {
            sizes.swap(k, pivot);
            (0..n).for_each(|j| work.swap(k * n + j, pivot * n + j));
            (0..m).for_each(|j| right.swap(k * m + j, pivot * m + j));
        }
        let divisor = work[k * n + k];
        if divisor == Complex::ZERO {
            continue;
        }
        for row in k + 1..n {
            if work[row * n + k] == Complex::ZERO {
                continue;
            }
            let factor = work[row * n + k] / divisor;
            work[row * n + k] = Complex::ZERO;
            for j in k + 1..n {
                let known = work[k * n + j];
                work[row * n + j] -= factor * known;
            }
            for j in 0..m {
                let known = right[k * m + j];
                right[row * m + j] -= factor * known;
            }
        }
    }
}

/// Solves a Hessenberg system in place; false where it is exactly singular.
fn eliminate(work: &mut [Complex], right: &mut [Complex], n: usize, m: usize) -> bool {
    for k in 0..n.saturating_sub(1) {
        let (upper, lower) = work.split_at_mut((k + 1) * n);
        let (upper, lower) = (&mut upper[k * n..], &mut lower[..n]);
        let (right_upper, right_lower) = right.split_at_mut((k + 1) * m);
        let (right_upper, right_lower) = (&mut right_upper[k * m..], &mut right_lower[..m]);
        if lower[k].l1_norm() > upper[k].l1_norm() {
            upper[k..].swap_with_slice(&mut lower[k..]);
            right_upper.swap_with_slice(right_lower);
        }
        if lower[k] == Complex::ZERO {
            continue;
        }
        let factor = lower[k] / upper[k];
        lower[k + 1..].iter_mut().zip(&upper[k + 1..]).for_each(|(x, y)| *x -= factor * y);
        right_lower.iter_mut().zip(right_upper).for_each(|(x, y)| *x -= factor * *y);
    }
    for k in (0..n).rev() {
        let pivot = work[k * n + k];
        if pivot == Complex::ZERO {
            return false;
        }
        for j in 0..m {
            let known: Complex = (k + 1..n).map(|i| work[k * n + i] * right[i * m + j]).sum();
            right[k * m + j] = (right[k * m + j] - known) / pivot;
        }
    }
    true
}

/// The response of all outputs to all inputs over frequency.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FrequencyResponse {
    /// In rad/s, ascending.
    pub frequencies: Vec<f64>,
    /// For each frequency one row for each output, one column for each input.
    pub values: Vec<Matrix<Complex>>,
}

impl FrequencyResponse {
    /// One output over one input.
    pub fn curve(&self, output: usize, input: usize) -> Vec<Complex> {
        self.values.iter().map(|matrix| matrix[(output, input)]).collect()
    }

    /// In decibels.
    pub fn magnitude(&self, output: usize, input: usize) -> Vec<f64> {
        self.curve(output, input).iter().map(|value| decibel(value.norm())).collect()
    }

    /// In degrees, without jumps of a full turn; the first one between -180 (exclusive) and 180.
    pub fn phase(&self, output: usize, input: usize) -> Vec<f64> {
        let mut turns = 0.0;
        let mut last: Option<f64> = None;
        let unwrap = |value: Complex| {
            if !value.is_finite() || value == Complex::ZERO {
                return f64::NAN;
            }
            // A negative real number has +180° also with an imaginary part of -0.
            let phase = (value.im + 0.0).atan2(value.re).to_degrees();
            if let Some(last) = last {
                turns -= ((phase + turns - last) / 360.0).round() * 360.0;
            }
            last = Some(phase + turns);
            phase + turns
        };
        self.curve(output, input).into_iter().map(unwrap).collect()
    }
}

pub(crate) fn decibel(magnitude: f64) -> f64 {
    20.0 * magnitude.log10()
}

/// At the given frequencies in rad/s.
pub fn frequency_response_at(system: &StateSpace, frequencies: &[f64]) -> Result<FrequencyResponse, Error> {
    let mut evaluator = Evaluator::new(system)?;
    let values = frequencies.iter().map(|&frequency| evaluator.at(Complex::new(0.0, frequency))).collect();
    Ok(FrequencyResponse { frequencies: frequencies.to_vec(), values })
}

/// With as many points as a smooth picture needs, within `range` or where something happens.
pub fn frequency_response(system: &StateSpace, range: Option<(f64, f64)>) -> Result<FrequencyResponse, Error> {
    let roots = roots(system)?;
    let range = range.filter(|&(low, high)| low > 0.0 && high > low && high.is_finite());
    let range = range.unwrap_or_else(|| automatic_range(&roots));
    let mut evaluator = Evaluator::new(system)?;
    let mut points: Vec<(f64, Matrix<Complex>)> =
        first_points(range, &roots).into_iter().map(|w| (w, evaluator.at(Complex::new(0.0, w)))).collect();
    let budget = if system.order() > SMALL { points.len() + 500 } else { MOST_POINTS };
    refine(&mut points, &mut evaluator, budget);
    let (frequencies, values) = points.into_iter().unzip();
    Ok(FrequencyResponse { frequencies, values })
}

/// The automatic range, widened so that these frequencies are in it too.
pub fn range_with(system: &StateSpace, frequencies: impl Iterator<Item = f64>) -> Result<(f64, f64), Error> {
    let (low, high) = automatic_range(&roots(system)?);
    let usable = frequencies.filter(|&frequency| frequency > 1e-30 && frequency.is_finite());
    Ok(usable.fold((low, high), |(low, high), frequency| (low.min(0.5 * frequency), high.max(2.0 * frequency))))
}

/// Poles and zeros that are seen from the inputs and outputs.
pub(crate) fn roots(system: &StateSpace) -> Result<Vec<Complex>, Error> {
    if system.order() > SMALL {
        return crate::eigen::eigenvalues(system.a.dense().as_ref());
    }
    let mut roots = Vec::new();
    let visible = minimal(system, RANK_TOLERANCE)?;
    roots.extend(poles(&visible)?);
    for output in 0..system.outputs.len() {
        for input in 0..system.inputs.len() {
            let zeros =
                if system.order() <= 60 { zeros(&visible.pair(output, input)?, RANK_TOLERANCE) } else { Ok(vec![]) };
            roots.extend(zeros.unwrap_or_default());
        }
    }
    Ok(roots)
}

pub(crate) fn automatic_range(roots: &[Complex]) -> (f64, f64) {
    let largest = roots.iter().map(|root| root.norm()).fold(0.0, f64::max);
    let visible = roots.iter().map(|root| root.norm()).filter(|&size| size > 1e-14 * largest && size > 1e-30);
    let (low, high) = visible.fold((f64::INFINITY, 0.0f64), |(low, high), size| (low.min(size), high.max(size)));
    if high == 0.0 {
        return (0.01, 100.0);
    }
    // The logarithm of a power of ten must not round to the next one.
    let (low, high) = ((low.log10() + 1e-9).floor() - 1.0, (high.log10() - 1e-9).ceil() + 1.0);
    (10f64.powf(low), 10f64.powf(high))
}

fn first_points((low, high): (f64, f64), roots: &[Complex]) -> Vec<f64> {
    let decades = (high / low).log10();
    let count = (decades * POINTS_A_DECADE).ceil().clamp(2.0, 800.0);
    let mut points: Vec<f64> = (0..=count as usize).map(|i| low * (high / low).powf(i as f64 / count)).collect();
    // Neighbours of a resonance, at distances of its width.
    for root in roots.iter().filter(|root| root.im > 0.0) {
        let width = (root.re.abs() / root.norm()).clamp(1e-6, 1.0);
        if width > 0.3 {
            continue;
        }
        let peak = (root.im * root.im - root.re * root.re).max(0.25 * root.im * root.im).sqrt();
        let shifts = [-10.0, -3.0, -1.0, -0.3, 0.3, 1.0, 3.0, 10.0];
        points.extend(shifts.map(|shift| peak * (1.0 + shift * width)));
        if width > 1e-6 {
            points.push(peak);
        }
    }
    points.retain(|point| (low..=high).contains(point));
    points.sort_by(f64::total_cmp);
    points.dedup_by(|x, y| (*x / *y - 1.0).abs() < 1e-9);
    points
}

/// Halves intervals until the middle lies on the line between the ends.
fn refine(points: &mut Vec<(f64, Matrix<Complex>)>, evaluator: &mut Evaluator, budget: usize) {
    let mut open: Vec<bool> = vec![true; points.len()];
    while open.iter().any(|&open| open) && points.len() < budget {
        let mut next = Vec::with_capacity(points.len() * 2);
        let mut next_open = Vec::with_capacity(points.len() * 2);
        let room = budget - points.len();
        let mut added = 0;
        for (at, point) in points.iter().enumerate() {
            next.push(point.clone());
            next_open.push(false);
            let Some(after) = points.get(at + 1) else { continue };
            let narrow = after.0 / point.0 < 1.0 + 1e-7;
            if !open[at] || narrow || added >= room {
                continue;
            }
            let frequency = (point.0 * after.0).sqrt();
            let middle = evaluator.at(Complex::new(0.0, frequency));
            let bent = !fits(&point.1, &middle, &after.1);
            let last = next_open.len() - 1;
            next_open[last] = bent;
            next.push((frequency, middle));
            next_open.push(bent);
            added += 1;
        }
        *points = next;
        open = next_open;
    }
}

/// Within 0.2 dB and one degree.
fn fits(left: &Matrix<Complex>, middle: &Matrix<Complex>, right: &Matrix<Complex>) -> bool {
    let triples = left.entries().iter().zip(middle.entries()).zip(right.entries());
    triples.into_iter().all(|((left, middle), right)| {
        if ![left, middle, right].iter().all(|value| value.is_finite() && **value != Complex::ZERO) {
            return true;
        }
        // The geometric mean of the ends is where a straight line of the diagram passes.
        let bend = (middle / left) / (right / middle);
        bend.norm().ln().abs() < 2.0 * 0.023 && bend.arg().abs() < 2.0 * 0.0175
    })
}

/// D - C A⁻¹ B of what inputs and outputs see; infinite, with the sign of the response to a rising input, where there is an
/// integrator in between.
pub fn dc_gain(system: &StateSpace) -> Result<Matrix, Error> {
    let mut gains = Matrix::zeros(system.outputs.len(), system.inputs.len());
    for output in 0..system.outputs.len() {
        for input in 0..system.inputs.len() {
            let pair = minimal(&system.pair(output, input)?, RANK_TOLERANCE)?;
            let mut a = pair.a.dense();
            balance(&mut a, None, None);
            // What rounding errors leave of a pole at the origin is zero already.
            let integrates = poles(&pair)?.contains(&Complex::ZERO);
            let mut evaluator = Evaluator::new(&pair)?;
            gains[(output, input)] = if integrates {
                let near = evaluator.at(Complex::new(1e-6 * a.norm_l2().max(1.0), 0.0))[(0, 0)].re;
                f64::INFINITY.copysign(near)
            } else {
                evaluator.at(Complex::ZERO)[(0, 0)].re
            };
        }
    }
    Ok(gains)
}
