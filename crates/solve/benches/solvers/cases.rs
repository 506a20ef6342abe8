//! The problems, each with exact Jacobian, times of output and reference values there.
#![allow(clippy::needless_range_loop)]

use crate::problems::{Problem, heat, robertson, van_der_pol};
use solve::{CrossingFunctions, DaeProblem, EvalError, Method, OdeProblem, Options, Pattern};

/// A smooth problem: the error is looked at where output is asked for.
pub struct Case {
    pub problem: Problem,
    pub outputs: Vec<f64>,
    pub reference: Vec<Vec<f64>>,
}

impl Case {
    /// With the linearly implicit method at a tight tolerance as reference, which shares no formula with the contestants.
    fn with_computed_reference(mut problem: Problem, outputs: Vec<f64>) -> Case {
        let mut method = Method::Rosenbrock.integrator(problem.start.len(), problem.options(1e-12));
        let reference = crate::ours::outputs(&mut problem, &mut *method, &outputs);
        Case { problem, outputs, reference }
    }

    pub fn error(&self, results: &[Vec<f64>]) -> f64 {
        let nominal = &self.problem.nominal;
        let relative = |x: &[f64], reference: &[f64]| {
            let squares = x.iter().zip(reference).zip(nominal).map(|((x, r), n)| ((x - r) / r.abs().max(*n)).powi(2));
            (squares.sum::<f64>() / x.len() as f64).sqrt()
        };
        results.iter().zip(&self.reference).map(|(x, r)| relative(x, r)).fold(0.0, f64::max)
    }
}

pub fn heat_case(n: usize) -> Case {
    let problem = heat(n);
    let cells = (n + 1) as f64;
    let mode = |k: f64, i: usize| (k * std::f64::consts::PI * (i + 1) as f64 / cells).sin();
    let rate = |k: f64| 4.0 * cells * cells * (0.5 * k * std::f64::consts::PI / cells).sin().powi(2);
    let outputs: Vec<f64> = (1..=10).map(|k| 0.01 * f64::from(k)).collect();
    let at = |t: f64| -> Vec<f64> {
        let weights = [1.0, 7.0].map(|k| (-rate(k) * t).exp());
        (0..n).map(|i| mode(1.0, i) * weights[0] + 0.5 * mode(7.0, i) * weights[1]).collect()
    };
    let reference = outputs.iter().map(|t| at(*t)).collect();
    Case { problem, outputs, reference }
}

pub fn van_der_pol_case() -> Case {
    Case::with_computed_reference(van_der_pol(), (1..=20).map(|k| 0.1 * f64::from(k)).collect())
}

pub fn robertson_case() -> Case {
    Case::with_computed_reference(robertson(1e11), (0..=11).map(|k| 10f64.powi(k)).collect())
}

/// Nodes joined by resistors with diodes beside them, capacitors to ground and a current into the first: the ladder of
/// Chen and White, *A quadratic method for nonlinear model order reduction* (2000).
pub fn diode_line(n: usize) -> Case {
    let pattern =
        Pattern::from_entries(n, n, (0..n).flat_map(|j| (j.saturating_sub(1)..(j + 2).min(n)).map(move |i| (i, j))));
    let indices = pattern.clone();
    let problem = Problem {
        name: "diode line 2000",
        start: vec![0.0; n],
        t0: 0.0,
        end: 10.0,
        reference: Vec::new(),
        rhs: Box::new(move |t, v, d| {
            let mut inflow = 0.5 * (1.0 - (0.2 * std::f64::consts::PI * t).cos());
            for k in 0..n {
                let next = if k + 1 < n { v[k + 1] } else { 0.0 };
                let drop = v[k] - next;
                let outflow = drop + (40.0 * drop).exp() - 1.0;
                d[k] = inflow - outflow;
                inflow = outflow;
            }
        }),
        jacobian: Some(Box::new(move |_, v, values| {
            let slope = |k: usize| {
                let next = if k + 1 < n { v[k + 1] } else { 0.0 };
                1.0 + 40.0 * (40.0 * (v[k] - next)).exp()
            };
            let mut before = 0.0;
            for j in 0..n {
                let after = slope(j);
                for p in indices.starts[j]..indices.starts[j + 1] {
                    let i = indices.indices[p] as usize;
                    values[p] = match i.cmp(&j) {
                        std::cmp::Ordering::Less => before,
                        std::cmp::Ordering::Equal => -before - after,
                        std::cmp::Ordering::Greater => after,
                    };
                }
                before = after;
            }
        })),
        pattern: Some(pattern),
        nominal: vec![0.1; n],
    };
    Case::with_computed_reference(problem, (1..=10).map(f64::from).collect())
}

/// Robertson's kinetics with the conservation of mass in place of the third rate.
pub struct RobertsonDae {
    pub outputs: Vec<f64>,
    pub reference: Vec<Vec<f64>>,
}

impl RobertsonDae {
    pub fn new() -> Self {
        let Case { outputs, reference, .. } = robertson_case();
        RobertsonDae { outputs, reference }
    }

    pub fn options(tolerance: f64) -> Options {
        let absolute = [1e-4, 1e-10, 1.0].map(|nominal| nominal * tolerance);
        Options { relative_tolerance: tolerance, absolute_tolerance: absolute.to_vec(), ..Options::default() }
    }

    pub fn error(&self, results: &[Vec<f64>]) -> f64 {
        let relative = |x: &[f64], reference: &[f64]| {
            let squares = x.iter().zip(reference).zip([1e-4, 1e-10, 1.0]);
            let sum: f64 = squares.map(|((x, r), n)| ((x - r) / r.abs().max(n)).powi(2)).sum();
            (sum / 3.0).sqrt()
        };
        results.iter().zip(&self.reference).map(|(x, r)| relative(x, r)).fold(0.0, f64::max)
    }
}

impl DaeProblem for RobertsonDae {
    fn size(&self) -> usize {
        3
    }
    fn residual(&mut self, _: f64, x: &[f64], dx: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        r[0] = -0.04 * x[0] + 1e4 * x[1] * x[2] - dx[0];
        r[1] = 0.04 * x[0] - 1e4 * x[1] * x[2] - 3e7 * x[1] * x[1] - dx[1];
        r[2] = x[0] + x[1] + x[2] - 1.0;
        Ok(())
    }
    fn jacobian(&mut self, _: f64, x: &[f64], _: &[f64], c: f64, values: &mut [f64]) -> Result<bool, EvalError> {
        values.copy_from_slice(&[
            -0.04 - c,
            0.04,
            1.0,
            1e4 * x[2],
            -1e4 * x[2] - 6e7 * x[1] - c,
            1.0,
            1e4 * x[1],
            -1e4 * x[1],
            1.0,
        ]);
        Ok(true)
    }
    fn is_differential(&self, component: usize) -> bool {
        component < 2
    }
}

/// A problem with events: right-hand side, crossing functions, and what happens at a crossing.
pub trait Hybrid: OdeProblem + CrossingFunctions {
    fn name(&self) -> &'static str;
    fn start(&self) -> Vec<f64>;
    /// The direction that counts, by function: 1 rising, −1 falling.
    fn directions(&self) -> Vec<i32>;
    fn tolerance_options(&self, tolerance: f64) -> Options;
    /// Changes mode or state. The sign each function has afterwards, where its value says nothing, is written to `status`.
    fn handle(&mut self, function: usize, x: &mut [f64], status: &mut [i8]);
    fn events(&self) -> usize;
    /// A time soon after the last event, which no step may pass.
    fn horizon(&self) -> f64;
    /// Error of the time of the last event.
    fn error(&self, t: f64, x: &[f64]) -> f64;
    fn again(&self) -> Box<dyn Hybrid>;
}

/// No error at all would be no use in a logarithm.
fn relative(t: f64, exact: f64) -> f64 {
    if t.is_finite() { (t / exact - 1.0).abs().max(1e-16) } else { f64::INFINITY }
}

/// Falls by gravity and loses a thousandth of its speed at each impact.
#[derive(Clone)]
pub struct Ball;

const GRAVITY: f64 = 9.81;
const RESTITUTION: f64 = 0.999;
const IMPACTS: usize = 2000;

impl OdeProblem for Ball {
    fn size(&self) -> usize {
        2
    }
    fn rhs(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        dx[0] = x[1];
        dx[1] = -GRAVITY;
        Ok(())
    }
    fn jacobian(&mut self, _: f64, _: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        values.copy_from_slice(&[0.0, 0.0, 1.0, 0.0]);
        Ok(true)
    }
}

impl CrossingFunctions for Ball {
    fn count(&self) -> usize {
        1
    }
    fn evaluate(&mut self, _: f64, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        values[0] = x[0];
        Ok(())
    }
}

impl Hybrid for Ball {
    fn name(&self) -> &'static str {
        "bouncing ball"
    }
    fn start(&self) -> Vec<f64> {
        vec![1.0, 0.0]
    }
    fn directions(&self) -> Vec<i32> {
        vec![-1]
    }
    fn tolerance_options(&self, tolerance: f64) -> Options {
        Options::with_tolerances(tolerance, tolerance)
    }
    fn handle(&mut self, _: usize, x: &mut [f64], status: &mut [i8]) {
        x[0] = 0.0;
        x[1] *= -RESTITUTION;
        status[0] = 1;
    }
    fn events(&self) -> usize {
        IMPACTS
    }
    fn horizon(&self) -> f64 {
        1000.0
    }
    fn error(&self, t: f64, _: &[f64]) -> f64 {
        let first = (2.0 / GRAVITY).sqrt();
        let flights: f64 = (1..IMPACTS).map(|k| 2.0 * first * RESTITUTION.powi(k as i32)).sum();
        relative(t, first + flights)
    }
    fn again(&self) -> Box<dyn Hybrid> {
        Box::new(self.clone())
    }
}

/// A converter under hysteresis control that feeds a ladder of resistors and capacitors.
#[derive(Clone)]
pub struct Converter {
    on: bool,
    pattern: Pattern,
    /// When the last event happens.
    pub reference: f64,
}

const CELLS: usize = 49;
const SWITCHINGS: usize = 20_000;

impl Converter {
    pub fn unreferenced() -> Self {
        let n = CELLS + 1;
        let entries = (0..n).flat_map(|j: usize| (j.saturating_sub(1)..(j + 2).min(n)).map(move |i| (i, j)));
        Converter { on: true, pattern: Pattern::from_entries(n, n, entries), reference: 1.0 }
    }

    pub fn new() -> Self {
        let mut converter = Converter::unreferenced();
        converter.reference = crate::ours::last_event(&mut *converter.again(), Method::Rosenbrock, 1e-12).0;
        converter
    }
}

impl OdeProblem for Converter {
    fn size(&self) -> usize {
        CELLS + 1
    }
    fn rhs(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        let source = if self.on { 24.0 } else { 0.0 };
        dx[0] = (source - x[1] - 0.05 * x[0]) * 1e4;
        let mut inflow = x[0];
        for k in 1..=CELLS {
            let outflow = if k < CELLS { (x[k] - x[k + 1]) * 100.0 } else { x[k] * 0.2 };
            dx[k] = (inflow - outflow) * 5e5;
            inflow = outflow;
        }
        Ok(())
    }
    fn jacobian_pattern(&self) -> Option<&Pattern> {
        Some(&self.pattern)
    }
    fn jacobian(&mut self, _: f64, _: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        for j in 0..=CELLS {
            for p in self.pattern.starts[j]..self.pattern.starts[j + 1] {
                let i = self.pattern.indices[p] as usize;
                values[p] = match (i, j) {
                    (0, 0) => -0.05 * 1e4,
                    (0, 1) => -1e4,
                    (1, 0) => 5e5,
                    _ if i == j => {
                        let left = if i > 1 { 100.0 } else { 0.0 };
                        let right = if i < CELLS { 100.0 } else { 0.2 };
                        -(left + right) * 5e5
                    }
                    _ => 100.0 * 5e5,
                };
            }
        }
        Ok(true)
    }
}

impl CrossingFunctions for Converter {
    fn count(&self) -> usize {
        2
    }
    fn evaluate(&mut self, _: f64, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        values[0] = x[0] - 2.6;
        values[1] = x[0] - 2.2;
        Ok(())
    }
}

impl Hybrid for Converter {
    fn name(&self) -> &'static str {
        "converter"
    }
    fn start(&self) -> Vec<f64> {
        vec![0.0; CELLS + 1]
    }
    fn directions(&self) -> Vec<i32> {
        vec![1, -1]
    }
    fn tolerance_options(&self, tolerance: f64) -> Options {
        Options::with_tolerances(tolerance, tolerance)
    }
    fn handle(&mut self, function: usize, _: &mut [f64], status: &mut [i8]) {
        self.on = function == 1;
        // The current turns round at the edge of the band and leaves it on the side it came from.
        status[function] = -status[function];
    }
    fn events(&self) -> usize {
        SWITCHINGS
    }
    fn horizon(&self) -> f64 {
        1.0
    }
    fn error(&self, t: f64, _: &[f64]) -> f64 {
        relative(t, self.reference)
    }
    fn again(&self) -> Box<dyn Hybrid> {
        Box::new(Converter { on: true, ..self.clone() })
    }
}
