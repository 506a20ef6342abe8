//! Transfer functions of single pairs: poles, zeros and gain, and the coefficients that follow from them.
//!
//! Hidden modes are removed first, so that poles and zeros do not cancel. The gain comes from evaluations of the state space
//! at points among the poles and zeros; where these disagree the transfer function is not accurate, and that is reported
//! instead of a wrong one. Coefficients are products of the roots, never the way to them.

use crate::frequency::Evaluator;
use crate::zeros::zeros;
use crate::{Complex, Error, StateSpace, minimal, poles};

/// gain · Π (s - zero) / Π (s - pole).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TransferFunction {
    /// Roots of the numerator.
    pub zeros: Vec<Complex>,
    /// Roots of the denominator.
    pub poles: Vec<Complex>,
    /// The factor before the products.
    pub gain: f64,
}

impl TransferFunction {
    /// From the highest power to the constant.
    pub fn numerator(&self) -> Vec<f64> {
        polynomial(&self.zeros).into_iter().map(|coefficient| coefficient * self.gain).collect()
    }

    /// From the highest power, whose coefficient is one, to the constant.
    pub fn denominator(&self) -> Vec<f64> {
        polynomial(&self.poles)
    }

    /// The value at a point of the complex plane.
    pub fn evaluate(&self, s: Complex) -> Complex {
        ratio(&self.zeros, &self.poles, s) * self.gain
    }

    /// The phase of s = iω in degrees, continuous in ω: at low frequencies -90° for each integrator and 90° for each differentiator,
    /// with -180° more where the gain is negative there; from there on each root adds its angle.
    pub fn natural_phase(&self, frequency: f64) -> f64 {
        let s = Complex::new(0.0, frequency);
        let angle = |root: &Complex| match *root == Complex::ZERO {
            true => std::f64::consts::FRAC_PI_2,
            // The ray 1 - s/root begins at one and does not cross the negative real axis.
            false => (Complex::ONE - s / root).arg(),
        };
        let sum: f64 = self.zeros.iter().map(angle).sum::<f64>() - self.poles.iter().map(angle).sum::<f64>();
        let positive = self.zeros.iter().chain(&self.poles).filter(|root| root.im == 0.0 && root.re > 0.0).count();
        let is_negative = (self.gain < 0.0) != (positive % 2 == 1);
        sum.to_degrees() - if is_negative { 180.0 } else { 0.0 }
    }
}

/// From one input to one output, without hidden modes.
pub fn transfer_function(
    system: &StateSpace,
    output: usize,
    input: usize,
    tolerance: f64,
) -> Result<TransferFunction, Error> {
    let pair = minimal(&system.pair(output, input)?, tolerance)?;
    let poles = poles(&pair)?;
    if poles.is_empty() {
        return Ok(TransferFunction { gain: pair.d[(0, 0)], ..TransferFunction::default() });
    }
    let reduced = Candidate::new(&pair, zeros(&pair, tolerance)?, &poles)?;
    // Taking hidden modes away mixes slow parts with fast ones, so that zeros close to each other may be lost. Where the roots do
    // not agree with the state space, zeros of the whole pair may, without those of its hidden modes.
    let best = match reduced.error > ACCURATE {
        true => [whole(&system.pair(output, input)?, &pair, &poles, tolerance), Some(reduced)]
            .into_iter()
            .flatten()
            .min_by(|x, y| x.error.total_cmp(&y.error)),
        false => Some(reduced),
    };
    let Some(Candidate { zeros, gain, .. }) = best else { return Err(Error::NoConvergence) };
    Ok(TransferFunction { zeros, poles, gain: gain? })
}

/// Errors of roots that are no loss.
const ACCURATE: f64 = 1e-6;

/// Zeros with the gain that goes with them.
struct Candidate {
    zeros: Vec<Complex>,
    gain: Result<f64, Error>,
    /// The largest relative error at points that are as large as the roots are.
    error: f64,
}

impl Candidate {
    fn new(pair: &StateSpace, zeros: Vec<Complex>, poles: &[Complex]) -> Result<Self, Error> {
        let gain = gain(pair, &zeros, poles);
        let mut error = f64::INFINITY;
        if let Ok(gain) = gain {
            let mut evaluator = Evaluator::new(pair)?;
            let sizes = zeros.iter().map(|root| root.norm()).filter(|&size| size > 0.0);
            let errors =
                sizes.flat_map(|size| [(0.4, 0.7), (1.7, 1.1)].map(|(part, at)| (part * size, at))).map(|(r, at)| {
                    let s = Complex::from_polar(r, at);
                    let (found, exact) = (ratio(&zeros, poles, s) * gain, evaluator.at(s)[(0, 0)]);
                    (found - exact).norm() / exact.norm()
                });
            error = errors.filter(|error| !error.is_nan()).fold(0.0, f64::max);
        }
        Ok(Self { zeros, gain, error })
    }
}

/// The zeros of a pair with hidden modes, without those that its hidden poles cancel.
fn whole(whole: &StateSpace, pair: &StateSpace, visible: &[Complex], tolerance: f64) -> Option<Candidate> {
    let mut hidden = poles(whole).ok()?;
    visible.iter().for_each(|pole| take_nearest(&mut hidden, *pole));
    let mut zeros = zeros(whole, tolerance).ok()?;
    hidden.iter().for_each(|pole| take_nearest(&mut zeros, *pole));
    Candidate::new(pair, zeros, visible).ok()
}

fn take_nearest(roots: &mut Vec<Complex>, of: Complex) {
    let distance = |place: &usize| (roots[*place] - of).norm();
    let nearest = (0..roots.len()).min_by(|x, y| distance(x).total_cmp(&distance(y)));
    if let Some(place) = nearest {
        roots.swap_remove(place);
    }
}

fn gain(pair: &StateSpace, zeros: &[Complex], poles: &[Complex]) -> Result<f64, Error> {
    let mut evaluator = Evaluator::new(pair)?;
    let sizes: Vec<f64> = zeros.iter().chain(poles).map(|root| root.norm()).filter(|&size| size > 0.0).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let size = if sizes.is_empty() {
        1.0
    } else {
        (sizes.iter().map(|size| size.max(1e-12 * largest).ln()).sum::<f64>() / sizes.len() as f64).exp()
    };
    // Away from the roots: in the right half plane, at angles that are no one's damping.
    let mut estimates = Vec::new();
    for (radius, angle) in [(0.3, 0.3), (0.7, 0.9), (1.0, 0.1), (1.3, 1.2), (1.9, 0.6), (3.1, 0.4), (7.0, 0.0)] {
        let s = Complex::from_polar(radius * size, angle);
        let estimate = evaluator.at(s)[(0, 0)] / ratio(zeros, poles, s);
        if estimate.is_finite() {
            estimates.push(estimate);
        }
    }
    estimates.sort_by(|x, y| x.re.total_cmp(&y.re));
    let Some(&middle) = estimates.get(estimates.len() / 2) else { return Err(Error::NoConvergence) };
    let mut errors: Vec<f64> = estimates.iter().map(|estimate| (estimate - middle.re).norm() / middle.norm()).collect();
    errors.sort_by(f64::total_cmp);
    let typical = errors[errors.len() / 2];
    if typical.is_nan() || typical > 1e-4 {
        return Err(Error::Inaccurate { what: "the transfer function", residual: typical });
    }
    Ok(middle.re)
}

/// Π (s - zero) / Π (s - pole) in an order that keeps partial products from overflowing.
fn ratio(zeros: &[Complex], poles: &[Complex], s: Complex) -> Complex {
    let mut result = Complex::ONE;
    for k in 0..zeros.len().max(poles.len()) {
        if let Some(zero) = zeros.get(k) {
            result *= s - zero;
        }
        if let Some(pole) = poles.get(k) {
            result /= s - pole;
        }
    }
    result
}

/// The monic polynomial with these roots, which come in conjugate pairs; from the highest power down.
pub fn polynomial(roots: &[Complex]) -> Vec<f64> {
    let mut coefficients = vec![1.0];
    // What is added up in each coefficient, without signs.
    let mut terms = vec![1.0];
    // From small to large roots the intermediate polynomials are the best conditioned.
    let mut roots = roots.to_vec();
    roots.sort_by(|x, y| x.norm().total_cmp(&y.norm()));
    for root in roots.iter().filter(|root| root.im >= 0.0) {
        let factor: &[f64] = if root.im == 0.0 { &[1.0, -root.re] } else { &[1.0, -2.0 * root.re, root.norm_sqr()] };
        coefficients = product(&coefficients, factor);
        let sizes: Vec<f64> = factor.iter().map(|value| value.abs()).collect();
        terms = product(&terms, &sizes);
    }
    // Rounding errors are no coefficients.
    let noise = 4.0 * f64::EPSILON * coefficients.len() as f64;
    coefficients
        .iter()
        .zip(&terms)
        .map(|(&value, size)| if value.abs() <= noise * size { 0.0 } else { value })
        .collect()
}

pub(crate) fn product(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut result = vec![0.0; left.len() + right.len() - 1];
    for (i, x) in left.iter().enumerate() {
        for (j, y) in right.iter().enumerate() {
            result[i + j] += x * y;
        }
    }
    result
}
