//! Responses over time to a step and to an impulse, exact at each point: the matrix exponential over one interval, then
//! products.
//!
//! The exponential is the scaled Padé approximation of order 13 (Higham 2005).

use faer::Mat;
use faer::linalg::solvers::Solve;

use crate::balance::balance;
use crate::{Complex, Error, Matrix, RANK_TOLERANCE, StateSpace, minimal, poles};

/// What an input does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excitation {
    /// The input jumps from 0 to 1 at time 0.
    Step,
    /// An impulse of area one at time 0; a direct feedthrough passes it on, which no curve shows.
    Impulse,
}

/// The response of all outputs to each input over time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TimeResponse {
    /// The instants, in s.
    pub time: Vec<f64>,
    /// For each input the outputs over time: one row for each instant, one column for each output.
    pub outputs: Vec<Matrix>,
}

impl TimeResponse {
    /// One output, excited by one input.
    pub fn curve(&self, output: usize, input: usize) -> Vec<f64> {
        let matrix = &self.outputs[input];
        (0..matrix.rows()).map(|row| matrix[(row, output)]).collect()
    }
}

/// Poles below this part of the largest one are rounding errors of poles at the origin.
const ROUNDING: f64 = 1e-14;
const POINTS: usize = 400;
const MOST_POINTS: usize = 20_000;

/// Until `horizon` or until nothing happens any more.
pub fn time_response(system: &StateSpace, excitation: Excitation, horizon: Option<f64>) -> Result<TimeResponse, Error> {
    let visible = if system.order() <= 300 { minimal(system, RANK_TOLERANCE)? } else { system.clone() };
    let poles = poles(&visible)?;
    if let Some(horizon) = horizon.filter(|horizon| *horizon > 0.0 && horizon.is_finite()) {
        return simulate(&visible, excitation, horizon, points(&poles, horizon));
    }
    let horizon = longest(&poles);
    let response = simulate(&visible, excitation, horizon, points(&poles, horizon))?;
    if poles.iter().any(|pole| pole.re >= -1e-9 * pole.norm()) {
        return Ok(response);
    }
    // The slowest modes may hardly show, by many orders of magnitude.
    let (mut horizon, mut response) = (horizon, response);
    for _ in 0..20 {
        let settled = 1.5 * settling_time(&response);
        if settled <= 0.0 || settled >= 0.7 * horizon {
            break;
        }
        horizon = round_up(settled);
        response = simulate(&visible, excitation, horizon, points(&poles, horizon))?;
    }
    Ok(response)
}

fn longest(poles: &[Complex]) -> f64 {
    let largest = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    let moving: Vec<&Complex> = poles.iter().filter(|pole| pole.norm() > ROUNDING * largest).collect();
    if moving.is_empty() {
        return 10.0;
    }
    let growth = moving.iter().map(|pole| pole.re).filter(|&re| re > ROUNDING * largest).fold(0.0, f64::max);
    if growth > 0.0 {
        return round_up(5.0 / growth);
    }
    let slowest = |pole: &&Complex| {
        // Something that hardly decays is shown for thirty periods.
        let decay = (-pole.re).max(pole.im.abs() / 30.0 / std::f64::consts::TAU * 7.0);
        7.0 / decay
    };
    round_up(moving.iter().map(slowest).fold(0.0, f64::max))
}

/// To two digits, so that axes end on round numbers.
fn round_up(time: f64) -> f64 {
    let power = 10f64.powf(time.log10().floor() - 1.0);
    if power > 0.0 && power.is_finite() { (time / power - 1e-9).ceil() * power } else { time }
}

/// Twenty points for each period of the fastest oscillation that lives long enough to be seen.
fn points(poles: &[Complex], horizon: f64) -> usize {
    let visible =
        poles.iter().filter(|pole| pole.im != 0.0 && -pole.re * horizon < 700.0 && pole.re.abs() < 3.0 * pole.im.abs());
    let fastest = visible.map(|pole| pole.im.abs()).fold(0.0, f64::max);
    let wanted = (20.0 * horizon * fastest / std::f64::consts::TAU).ceil();
    (wanted as usize).clamp(POINTS, MOST_POINTS)
}

/// When all curves stay within half a percent of their last value.
fn settling_time(response: &TimeResponse) -> f64 {
    let mut settled: f64 = 0.0;
    for matrix in &response.outputs {
        for output in 0..matrix.columns() {
            let Some(last) = matrix.rows().checked_sub(1).map(|row| matrix[(row, output)]) else { continue };
            let deviation = |row: usize| (matrix[(row, output)] - last).abs();
            let span = (0..matrix.rows()).map(deviation).fold(last.abs(), f64::max);
            if let Some(row) = (0..matrix.rows()).rev().find(|&row| deviation(row) > 0.005 * span) {
                settled = settled.max(response.time[(row + 1).min(response.time.len() - 1)]);
            }
        }
    }
    settled
}

fn simulate(system: &StateSpace, excitation: Excitation, horizon: f64, points: usize) -> Result<TimeResponse, Error> {
    system.check()?;
    let (n, m) = (system.order(), system.inputs.len());
    let (mut a, mut b, mut c) = (system.a.dense(), system.b.dense(), system.c.dense());
    balance(&mut a, Some(&mut b), Some(&mut c));
    let step = horizon / points as f64;
    // The last rows hold the constant inputs.
    let generator = Mat::from_fn(n + m, n + m, |i, j| match (i < n, j < n) {
        (true, true) => a[(i, j)] * step,
        (true, false) => b[(i, j - n)] * step,
        _ => 0.0,
    });
    let transition = exponential(&generator)?;
    let (phi, gamma) = (transition.as_ref().submatrix(0, 0, n, n), transition.as_ref().submatrix(0, n, n, m));
    let is_step = excitation == Excitation::Step;
    let mut x = if is_step { Mat::zeros(n, m) } else { b.clone() };
    let mut outputs = vec![Matrix::zeros(points + 1, system.outputs.len()); m];
    for row in 0..=points {
        let y = &c * &x;
        for (input, matrix) in outputs.iter_mut().enumerate() {
            for output in 0..system.outputs.len() {
                let direct = if is_step { system.d[(output, input)] } else { 0.0 };
                matrix[(row, output)] = y[(output, input)] + direct;
            }
        }
        x = if is_step { phi * &x + gamma } else { phi * &x };
    }
    let time = (0..=points).map(|row| horizon * row as f64 / points as f64).collect();
    Ok(TimeResponse { time, outputs })
}

pub(crate) fn exponential(a: &Mat<f64>) -> Result<Mat<f64>, Error> {
    const COEFFICIENTS: [f64; 14] = [
        64_764_752_532_480_000.0,
        32_382_376_266_240_000.0,
        7_771_770_303_897_600.0,
        1_187_353_796_428_800.0,
        129_060_195_264_000.0,
        10_559_470_521_600.0,
        670_442_572_800.0,
        33_522_128_640.0,
        1_323_241_920.0,
        40_840_800.0,
        960_960.0,
        16_380.0,
        182.0,
        1.0,
    ];
    let n = a.nrows();
    let norm = (0..n).map(|j| a.col(j).norm_l1()).fold(0.0, f64::max);
    let halvings = if norm > 5.37 { (norm / 5.37).log2().ceil() } else { 0.0 };
    if halvings.is_nan() || halvings >= 1000.0 {
        return Err(Error::Inaccurate { what: "the matrix exponential", residual: f64::INFINITY });
    }
    let scale = (-halvings).exp2();
    let a = Mat::from_fn(n, n, |i, j| a[(i, j)] * scale);
    let identity = Mat::<f64>::identity(n, n);
    let a2 = &a * &a;
    let a4 = &a2 * &a2;
    let a6 = &a4 * &a2;
    let b = COEFFICIENTS;
    let sum = |x: f64, y: f64, z: f64, w: f64| {
        Mat::from_fn(n, n, |i, j| x * a6[(i, j)] + y * a4[(i, j)] + z * a2[(i, j)] + w * identity[(i, j)])
    };
    let odd = &a * (&a6 * sum(b[13], b[11], b[9], 0.0) + sum(b[7], b[5], b[3], b[1]));
    let even = &a6 * sum(b[12], b[10], b[8], 0.0) + sum(b[6], b[4], b[2], b[0]);
    let mut result = (&even - &odd).partial_piv_lu().solve(&even + &odd);
    for _ in 0..halvings as usize {
        result = &result * &result;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_of_a_rotation_and_of_a_nilpotent_matrix() {
        let rotation = exponential(&Mat::from_fn(2, 2, |i, j| [[0.0, -30.0], [30.0, 0.0]][i][j])).unwrap();
        assert!((rotation[(0, 0)] - 30f64.cos()).abs() < 1e-13 && (rotation[(1, 0)] - 30f64.sin()).abs() < 1e-13);
        let shift = exponential(&Mat::from_fn(3, 3, |i, j| if j == i + 1 { 2.0 } else { 0.0 })).unwrap();
        assert!((shift[(0, 2)] - 2.0).abs() < 1e-14 && (shift[(0, 1)] - 2.0).abs() < 1e-14);
    }
}
