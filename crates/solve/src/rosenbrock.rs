//! The Rosenbrock method Rodas5P: linearly implicit, fifth order, stiffly accurate, no iteration that could fail; for
//! small stiff problems with a cheap Jacobian.
//!
//! G. Steinebach, *Construction of Rosenbrock–Wanner method Rodas5P and numerical benchmarks within the Julia
//! Differential Equations package*, BIT 63 (2023), with its fourth-order dense output. Each step needs the Jacobian at
//! its start and the partial derivative in time, which is taken by a difference.

use crate::error::StepError;
use crate::iteration_matrix::IterationMatrix;
use crate::ode::{DenseOutput, Integrator, OdeProblem, Options, Statistics, Step};
use crate::resume::{Point, Resume, SAME_END, SAME_SLOPE, is_same_state, slip};
use crate::step_control::{OneStep, StepControl, take_step};
use crate::vector::add_combination;
use crate::weights::{Failure, evaluate, initial_step, norm, set_weights, set_weights_of_both, worst_component};

/// How many stages a step has.
pub const STAGES: usize = 8;
const GAMMA: f64 = 0.21193756319429014;
const NODES: [f64; STAGES] =
    [0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0];
const TIME: [f64; 5] =
    [0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069];
/// Stages six to eight add the stage before to the point of the sixth.
const A: [[f64; 5]; 6] = [
    [0.0; 5],
    [3.0, 0.0, 0.0, 0.0, 0.0],
    [2.849394379747939, 0.45842242204463923, 0.0, 0.0, 0.0],
    [-6.954028509809101, 2.489845061869568, -10.358996098473584, 0.0, 0.0],
    [2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641, 0.0],
    [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946],
];
const C: [[f64; 7]; STAGES] = [
    [0.0; 7],
    [-14.155112264123755, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-17.97296035885952, -2.859693295451294, 0.0, 0.0, 0.0, 0.0, 0.0],
    [147.12150275711716, -1.41221402718213, 71.68940251302358, 0.0, 0.0, 0.0, 0.0],
    [165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306, 0.0, 0.0, 0.0],
    [24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471, 0.0, 0.0],
    [
        30.91273214028599,
        -3.1208243349937974,
        77.79954646070892,
        34.28646028294783,
        -19.097331116725623,
        -28.087943162872662,
        0.0,
    ],
    [
        37.80277123390563,
        -3.2571969029072276,
        112.26918849496327,
        66.9347231244047,
        -40.06618937091002,
        -54.66780262877968,
        -9.48861652309627,
    ],
];
const DENSE: [[f64; STAGES]; 3] = [
    [
        25.948786856663858,
        -2.5579724845846235,
        10.433815404888879,
        -2.3679251022685204,
        0.524948541321073,
        1.1241088310450404,
        0.4272876194431874,
        -0.17202221070155493,
    ],
    [
        -9.91568850695171,
        -0.9689944594115154,
        3.0438037242978453,
        -24.495224566215796,
        20.176138334709044,
        15.98066361424651,
        -6.789040303419874,
        -6.710236069923372,
    ],
    [
        11.419903575922262,
        2.8879645146136994,
        72.92137995996029,
        80.12511834622643,
        -52.072871366152654,
        -59.78993625266729,
        -0.15582684282751913,
        4.883087185713722,
    ],
];

/// A Rosenbrock method.
#[derive(Clone)]
pub struct Rosenbrock {
    options: Options,
    t: f64,
    t_old: f64,
    h_used: f64,
    x: Vec<f64>,
    x_old: Vec<f64>,
    slope: Vec<f64>,
    time_slope: Vec<f64>,
    stages: [Vec<f64>; STAGES],
    dense: [Vec<f64>; 3],
    point: Vec<f64>,
    middle: Vec<f64>,
    f: Vec<f64>,
    weights: Vec<f64>,
    matrix: Option<IterationMatrix>,
    has_slope: bool,
    has_derivatives: bool,
    jacobian_norm: f64,
    control: StepControl,
    statistics: Statistics,
    resume: Resume,
}

impl Rosenbrock {
    /// For so many states.
    pub fn new(size: usize, options: Options) -> Self {
        let zeros = || vec![0.0; size];
        Rosenbrock {
            options,
            t: 0.0,
            t_old: 0.0,
            h_used: 0.0,
            x: zeros(),
            x_old: zeros(),
            slope: zeros(),
            time_slope: zeros(),
            stages: std::array::from_fn(|_| zeros()),
            dense: std::array::from_fn(|_| zeros()),
            point: zeros(),
            middle: zeros(),
            f: zeros(),
            weights: zeros(),
            matrix: None,
            has_slope: false,
            has_derivatives: false,
            jacobian_norm: f64::INFINITY,
            control: StepControl::new(5),
            statistics: Statistics::default(),
            resume: Resume::new(size),
        }
    }

    /// The length of the next step.
    pub fn next_step(&self) -> f64 {
        self.control.h
    }

    /// A bound for the eigenvalues of the Jacobian evaluated last.
    pub fn jacobian_norm(&self) -> f64 {
        self.jacobian_norm
    }

    /// Slope, Jacobian and time derivative at the start of the step; kept while the step is repeated.
    fn differentiate(&mut self, problem: &mut dyn OdeProblem, h: f64) -> Result<(), Failure> {
        if self.has_derivatives {
            return Ok(());
        }
        if !self.has_slope {
            evaluate(problem, self.t, &self.x, &mut self.slope, &mut self.statistics)?;
            self.has_slope = true;
        }
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => IterationMatrix::new(problem).map_err(|s| Failure::Singular { column: s.column })?,
        };
        let outcome = matrix.evaluate(problem, self.t, &self.x, &self.slope, h, &self.options, &mut self.statistics);
        self.jacobian_norm = matrix.norm(&self.weights);
        self.matrix = Some(matrix);
        outcome?;
        let shift = (1e-5 * h).max(f64::EPSILON.sqrt() * self.t.abs()).min(h);
        let shifted = self.t + shift;
        evaluate(problem, shifted, &self.x, &mut self.time_slope, &mut self.statistics)?;
        for (d, f) in self.time_slope.iter_mut().zip(&self.slope) {
            *d = (*d - f) / (shifted - self.t);
        }
        self.has_derivatives = true;
        Ok(())
    }

    /// Begins a new step at `(t, x)`, or at the point kept for resuming, with the step size planned before.
    fn begin_again(&mut self, t: f64, x: Option<&[f64]>) {
        self.statistics.restarts += 1;
        self.t = t;
        self.t_old = t;
        self.h_used = 0.0;
        self.x.copy_from_slice(x.unwrap_or(self.resume.state()));
        self.resume.clear();
        self.control.restart(t);
        self.has_derivatives = false;
    }

    /// Whether `(t, x)` lies on the last step, so that its slope may say more.
    fn is_on_last_step(&mut self, t: f64, x: &[f64]) -> bool {
        if self.h_used == 0.0 || !(t >= self.t_old && t < self.t) {
            return false;
        }
        let mut scratch = std::mem::take(&mut self.point);
        self.interpolate(t, &mut scratch);
        self.point = scratch;
        is_same_state(&mut self.point, x, &self.weights)
    }

    /// Whether the right-hand side, which is in `slope` for a time of the last step, is still the one it was made with.
    fn step_remains_valid(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> bool {
        self.f.copy_from_slice(&self.slope);
        self.subtract_dense_slope(t);
        let Some(matrix) = &mut self.matrix else { return false };
        let (resume, weights, statistics) = (&mut self.resume, &self.weights, &mut self.statistics);
        let at = Point { t, x, f: &self.slope };
        if resume.displacement(problem, matrix, &at, &mut self.f, weights, statistics) > SAME_SLOPE
            || evaluate(problem, self.t, &self.x, &mut self.f, statistics).is_err()
        {
            return false;
        }
        self.point.copy_from_slice(&self.f);
        self.subtract_dense_slope(self.t);
        let Some(matrix) = &mut self.matrix else { return false };
        let (resume, weights, statistics) = (&mut self.resume, &self.weights, &mut self.statistics);
        let at = Point { t: self.t, x: &self.x, f: &self.point };
        // The slope of the dense output at the end is less exact than the solution there.
        resume.displacement(problem, matrix, &at, &mut self.f, weights, statistics) <= 10.0 * SAME_END
    }

    /// Error of the dense output in the middle of the attempted step: what its slope lacks there, as the matrix turns it into
    /// a displacement. On stiff components it is much larger than the error at the end.
    fn dense_error(&mut self, problem: &mut dyn OdeProblem, h: f64) -> Result<f64, Failure> {
        /// What an error between steps may be, in units of one of them.
        const SHARE: f64 = 0.1;
        for (dense, weights) in self.dense.iter_mut().zip(&DENSE) {
            dense.fill(0.0);
            add_combination(dense, 1.0, weights, &self.stages);
        }
        for i in 0..self.middle.len() {
            let [d0, d1, d2] = [self.dense[0][i], self.dense[1][i], self.dense[2][i]];
            self.middle[i] = 0.5 * (self.x[i] + self.point[i]) + 0.25 * (d0 + 0.5 * (d1 + 0.5 * d2));
        }
        evaluate(problem, self.t + 0.5 * h, &self.middle, &mut self.f, &mut self.statistics)?;
        for i in 0..self.middle.len() {
            let [d1, d2] = [self.dense[1][i], self.dense[2][i]];
            self.f[i] -= (self.point[i] - self.x[i] + 0.25 * (d1 + d2)) / h;
        }
        let Some(matrix) = &mut self.matrix else { return Err(Failure::Singular { column: 0 }) };
        matrix.solve(&mut self.f);
        Ok(SHARE * norm(&self.f, &self.weights))
    }

    fn subtract_dense_slope(&mut self, t: f64) {
        let s = (t - self.t_old) / self.h_used;
        let r = 1.0 - s;
        for i in 0..self.f.len() {
            let [d0, d1, d2] = [self.dense[0][i], self.dense[1][i], self.dense[2][i]];
            let inner = d0 + s * (d1 + s * d2);
            let slope = self.x[i] - self.x_old[i] + (r - s) * inner + s * r * (d1 + 2.0 * s * d2);
            self.f[i] -= slope / self.h_used;
        }
    }
}

impl OneStep for Rosenbrock {
    fn time(&self) -> f64 {
        self.t
    }

    fn attempt(&mut self, problem: &mut dyn OdeProblem, h: f64, t_new: f64) -> Result<f64, Failure> {
        self.differentiate(problem, h)?;
        let Some(matrix) = &mut self.matrix else { return Err(Failure::Singular { column: 0 }) };
        let factored = matrix.factor(1.0 / (h * GAMMA), &mut self.statistics);
        factored.map_err(|s| Failure::Singular { column: s.column })?;
        for s in 0..STAGES {
            let (known, rest) = self.stages.split_at_mut(s);
            if s == 0 {
                self.f.copy_from_slice(&self.slope);
            } else {
                if s < 6 {
                    self.point.copy_from_slice(&self.x);
                    add_combination(&mut self.point, 1.0, &A[s], known);
                } else if let Some(last) = known.last() {
                    self.point.iter_mut().zip(last).for_each(|(y, k)| *y += k);
                }
                let time = if s >= 5 { t_new } else { self.t + NODES[s] * h };
                evaluate(problem, time, &self.point, &mut self.f, &mut self.statistics)?;
            }
            let stage = &mut rest[0];
            stage.copy_from_slice(&self.f);
            add_combination(stage, 1.0 / h, &C[s], known);
            if let Some(d) = TIME.get(s) {
                let scaled = d * h;
                stage.iter_mut().zip(&self.time_slope).for_each(|(y, k)| *y += scaled * k);
            }
            matrix.solve(stage);
        }
        let last = &self.stages[STAGES - 1];
        self.point.iter_mut().zip(last).for_each(|(y, k)| *y += k);
        set_weights_of_both(&self.options, &self.x, &self.point, &mut self.weights);
        let error = norm(last, &self.weights);
        if error > 1.0 { Ok(error) } else { Ok(error.max(self.dense_error(problem, h)?)) }
    }

    fn accept(&mut self, h: f64, t_new: f64, error: f64) {
        self.t_old = self.t;
        self.t = t_new;
        self.h_used = h;
        std::mem::swap(&mut self.x_old, &mut self.x);
        self.x.copy_from_slice(&self.point);
        self.has_slope = false;
        self.has_derivatives = false;
        self.control.accepted(h, error, 1.0..1.0);
    }

    fn control(&mut self) -> (&mut StepControl, &mut Statistics) {
        (&mut self.control, &mut self.statistics)
    }

    fn max_step(&self) -> f64 {
        self.options.max_step
    }

    fn worst_component(&self) -> usize {
        worst_component(&self.stages[STAGES - 1], &self.weights)
    }
}

impl DenseOutput for Rosenbrock {
    fn time(&self) -> f64 {
        self.resume.time().unwrap_or(self.t)
    }

    fn interpolate(&self, t: f64, out: &mut [f64]) {
        if t >= self.t || self.h_used == 0.0 {
            out.copy_from_slice(&self.x);
            return;
        }
        let s = (t - self.t_old) / self.h_used;
        let r = 1.0 - s;
        for i in 0..out.len().min(self.x.len()) {
            let bend = self.dense[0][i] + s * (self.dense[1][i] + s * self.dense[2][i]);
            out[i] = r * self.x_old[i] + s * (self.x[i] + r * bend);
        }
    }

    fn interpolate_some(&self, t: f64, components: &[usize], out: &mut [f64]) {
        let is_end = t >= self.t || self.h_used == 0.0;
        let s = if is_end { 1.0 } else { (t - self.t_old) / self.h_used };
        let r = 1.0 - s;
        for (out, &i) in out.iter_mut().zip(components) {
            let bend = self.dense[0][i] + s * (self.dense[1][i] + s * self.dense[2][i]);
            *out = if is_end { self.x[i] } else { r * self.x_old[i] + s * (self.x[i] + r * bend) };
        }
    }

    fn degree(&self) -> usize {
        4
    }
}

impl Integrator for Rosenbrock {
    fn start(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64], h0: Option<f64>) -> Result<(), StepError> {
        self.t = t;
        self.t_old = t;
        self.h_used = 0.0;
        self.resume.clear();
        self.matrix = None;
        self.has_derivatives = false;
        self.x.copy_from_slice(x);
        self.has_slope = false;
        self.control.start(t);
        set_weights(&self.options, &self.x, &mut self.weights);
        if let Some(h) = h0.filter(|h| *h > 0.0) {
            self.control.h = h;
            return Ok(());
        }
        evaluate(problem, t, &self.x, &mut self.slope, &mut self.statistics).map_err(|failure| failure.at(t, 0.0))?;
        let (trial_x, trial_f) = (&mut self.point, &mut self.f);
        let statistics = &mut self.statistics;
        self.control.h = initial_step(problem, t, &self.x, &self.slope, 4, &self.weights, trial_x, trial_f, statistics);
        Ok(())
    }

    fn step(&mut self, problem: &mut dyn OdeProblem, t_limit: f64) -> Result<Step, StepError> {
        if let Some(t_old) = self.resume.take() {
            if self.t <= t_limit {
                return Ok(Step { t_old, t_new: self.t, at_limit: self.t == t_limit });
            }
            self.has_slope = false;
            self.begin_again(t_old, None);
        }
        take_step(self, problem, t_limit)
    }

    fn restart(&mut self, problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Result<(), StepError> {
        self.has_slope = false;
        if self.is_on_last_step(t, x) {
            let statistics = &mut self.statistics;
            evaluate(problem, t, x, &mut self.slope, statistics).map_err(|failure| failure.at(t, 0.0))?;
            if self.step_remains_valid(problem, t, x) {
                self.resume.set(t, x);
                return Ok(());
            }
            self.has_slope = true;
        }
        self.begin_again(t, Some(x));
        Ok(())
    }

    fn defect(&mut self, t: f64, slope: &[f64]) -> f64 {
        if self.h_used == 0.0 || t >= self.t {
            return 0.0;
        }
        self.f.copy_from_slice(slope);
        self.subtract_dense_slope(t);
        slip(self.matrix.as_mut(), &mut self.f, &self.weights, self.h_used, 1.0)
    }

    fn retake(&mut self, _problem: &mut dyn OdeProblem, t: f64, h: f64) -> Result<(), StepError> {
        let mut x = std::mem::take(&mut self.point);
        self.interpolate(t, &mut x);
        self.x.copy_from_slice(&x);
        self.point = x;
        (self.t, self.t_old, self.h_used) = (t, t, 0.0);
        self.resume.clear();
        (self.has_slope, self.has_derivatives) = (false, false);
        self.control.retake(h);
        Ok(())
    }

    fn set_absolute_tolerance(&mut self, component: usize, absolute: f64) {
        self.options.set_absolute(component, self.x.len(), absolute);
    }

    fn reset(&mut self, size: usize) {
        let statistics = self.statistics;
        *self = Rosenbrock::new(size, self.options.clone());
        self.statistics = statistics;
    }

    fn state(&self) -> &[f64] {
        if self.resume.time().is_some() { self.resume.state() } else { &self.x }
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn name(&self) -> &'static str {
        "rosenbrock"
    }
}
