//! Stability margins of a loop L(s) that is closed by negative feedback.
//!
//! Crossings are found on the refined frequency response, then located by bisection of the response itself.

use crate::eigen::eigenvalues;
use crate::frequency::{Evaluator, FrequencyResponse, automatic_range, frequency_response, roots};
use crate::{Complex, Error, Matrix, StateSpace};

/// All margins of a loop.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Margins {
    /// Where L is real and negative, in order of frequency (0 and infinity included).
    pub gain: Vec<GainMargin>,
    /// Where |L| is one, in order of frequency.
    pub phase: Vec<PhaseMargin>,
    /// Whether the closed loop is stable. Margins of an unstable one say how far it is from stability.
    pub stable: bool,
}

/// How far the gain is from the limit of stability.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GainMargin {
    /// In rad/s.
    pub frequency: f64,
    /// The factor that brings L to -1; below one, the gain has to fall.
    pub factor: f64,
}

/// How far the phase is from the limit of stability.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PhaseMargin {
    /// In rad/s.
    pub frequency: f64,
    /// By how much the phase is above -180°, between -180 and 180.
    pub degrees: f64,
}

impl PhaseMargin {
    /// The delay in s that brings L to -1.
    pub fn delay(&self) -> f64 {
        let degrees = if self.degrees < 0.0 { self.degrees + 360.0 } else { self.degrees };
        degrees.to_radians() / self.frequency
    }
}

impl Margins {
    /// The gain margin nearest to one, on a logarithmic scale.
    pub fn smallest_gain(&self) -> Option<GainMargin> {
        self.gain.iter().copied().min_by(|x, y| x.factor.ln().abs().total_cmp(&y.factor.ln().abs()))
    }

    /// The phase margin nearest to zero.
    pub fn smallest_phase(&self) -> Option<PhaseMargin> {
        self.phase.iter().copied().min_by(|x, y| x.degrees.abs().total_cmp(&y.degrees.abs()))
    }
}

/// The margins of the loop from an input to an output.
pub fn margins(system: &StateSpace, output: usize, input: usize) -> Result<Margins, Error> {
    let pair = system.pair(output, input)?;
    let closed = eigenvalues(closed_loop(&pair, 1.0)?.dense().as_ref())?;
    let stable = closed.iter().all(|pole| pole.re < 0.0);
    // A loop of high gain has its magnitude of one near the poles of the closed loop, far beyond those of the open one.
    let mut interesting = roots(&pair)?;
    interesting.extend(closed);
    let mut response = frequency_response(&pair, Some(automatic_range(&interesting)))?;
    let mut evaluator = Evaluator::new(&pair)?;
    lengthen(&mut response, &mut evaluator);
    let mut search = Search { evaluator, response: &response };
    let gain = search.gain_margins(pair.d[(0, 0)]);
    let phase = search.phase_margins();
    Ok(Margins { gain, phase, stable })
}

/// Beyond all poles and zeros the response has no more bends, but it may still cross: a static gain of 1.001 falls to one
/// long before its first pole.
fn lengthen(response: &mut FrequencyResponse, evaluator: &mut Evaluator) {
    let (Some(&low), Some(&high)) = (response.frequencies.first(), response.frequencies.last()) else { return };
    let (low, high) = (1e-4 * low, 1e3 * high);
    response.frequencies.insert(0, low);
    response.values.insert(0, evaluator.at(Complex::new(0.0, low)));
    response.frequencies.push(high);
    response.values.push(evaluator.at(Complex::new(0.0, high)));
}

/// A - b k c / (1 + k d).
pub(crate) fn closed_loop(pair: &StateSpace, k: f64) -> Result<Matrix, Error> {
    let loop_gain = 1.0 + k * pair.d[(0, 0)];
    if loop_gain == 0.0 {
        return Err(Error::AlgebraicLoop);
    }
    let n = pair.order();
    Ok(Matrix::from_fn(n, n, |i, j| pair.a[(i, j)] - k / loop_gain * pair.b[(i, 0)] * pair.c[(0, j)]))
}

struct Search<'a> {
    evaluator: Evaluator,
    response: &'a FrequencyResponse,
}

impl Search<'_> {
    fn value(&mut self, frequency: f64) -> Complex {
        self.evaluator.at(Complex::new(0.0, frequency))[(0, 0)]
    }

    fn gain_margins(&mut self, direct: f64) -> Vec<GainMargin> {
        let mut found = Vec::new();
        let mut add = |frequency: f64, value: Complex| {
            if value.is_finite() && value.re < 0.0 && value.im.abs() <= 1e-6 * value.re.abs() {
                found.push(GainMargin { frequency, factor: -1.0 / value.re });
            }
        };
        add(0.0, self.value(0.0));
        // Where the response is real over a whole range, nothing crosses.
        let imaginary = |value: Complex| if value.im.abs() <= 1e-12 * value.norm() { 0.0 } else { value.im };
        let crossings = self.crossings(imaginary);
        for frequency in crossings {
            add(frequency, self.value(frequency));
        }
        add(f64::INFINITY, Complex::new(direct, 0.0));
        found
    }

    fn phase_margins(&mut self) -> Vec<PhaseMargin> {
        let mut found = Vec::new();
        for frequency in self.crossings(|value| value.norm().ln()) {
            let value = self.value(frequency);
            // The angle from the negative real axis to L.
            let degrees = (-value).arg().to_degrees();
            if value.is_finite() {
                found.push(PhaseMargin { frequency, degrees });
            }
        }
        found
    }

    /// Where the function of the response changes its sign, without jumps over a pole.
    fn crossings(&mut self, f: impl Fn(Complex) -> f64) -> Vec<f64> {
        let mut found = Vec::new();
        let curve = self.response.curve(0, 0);
        let values: Vec<f64> = curve.iter().map(|&value| f(value)).collect();
        // The last point that is not zero.
        let mut last: Option<usize> = None;
        for k in 0..values.len() {
            let right = values[k];
            if right == 0.0 || right.is_nan() {
                continue;
            }
            let before = last.replace(k);
            let Some(left) = before.filter(|&left| values[left] * right < 0.0) else { continue };
            let (mut low, mut high) = (self.response.frequencies[left], self.response.frequencies[k]);
            for _ in 0..80 {
                let middle = (low * high).sqrt();
                let value = f(self.value(middle));
                if value * values[left] > 0.0 { low = middle } else { high = middle }
            }
            let size = curve[left].norm().max(curve[k].norm());
            let at = (low * high).sqrt();
            if self.value(at).norm() <= 1e3 * size {
                found.push(at);
            }
        }
        found
    }
}
