//! Initial value problems with known solutions, shared by tests and benchmarks.
//!
//! HIRES, Robertson, Oregonator and Van der Pol are problems of the Bari *Test Set for Initial Value Problem Solvers*
//! (Mazzia and Magherini 2008), whose reference solutions are used; the others have closed forms or were solved with
//! tolerance 1e-13 beforehand.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::excessive_precision,
    clippy::type_complexity,
    clippy::needless_range_loop
)]

use solve::{EvalError, Integrator, OdeProblem, Options, Pattern, Statistics};

pub type Rhs = fn(f64, &[f64], &mut [f64]);
pub type Jacobian = fn(f64, &[f64], &mut [f64]);

/// A problem with its initial values, end and reference solution.
pub struct Problem {
    pub name: &'static str,
    pub start: Vec<f64>,
    pub t0: f64,
    pub end: f64,
    pub reference: Vec<f64>,
    pub rhs: Box<dyn Fn(f64, &[f64], &mut [f64])>,
    pub jacobian: Option<Box<dyn Fn(f64, &[f64], &mut [f64])>>,
    pub pattern: Option<Pattern>,
    /// Typical size of each component for the absolute tolerance.
    pub nominal: Vec<f64>,
}

impl OdeProblem for Problem {
    fn size(&self) -> usize {
        self.start.len()
    }
    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        (self.rhs)(t, x, dx);
        Ok(())
    }
    fn jacobian_pattern(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }
    fn jacobian(&mut self, t: f64, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        match &self.jacobian {
            Some(jacobian) => {
                jacobian(t, x, values);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

impl Problem {
    pub fn options(&self, relative: f64) -> Options {
        Options {
            relative_tolerance: relative,
            absolute_tolerance: self.nominal.iter().map(|nominal| relative * nominal).collect(),
            ..Options::default()
        }
    }

    /// Largest error at the end relative to `max(|reference|, nominal)`.
    pub fn error(&self, x: &[f64]) -> f64 {
        let relative = |((x, r), n): ((&f64, &f64), &f64)| (x - r).abs() / r.abs().max(*n);
        x.iter().zip(&self.reference).zip(&self.nominal).map(relative).fold(0.0, f64::max)
    }
}

/// Runs to the end; returns the error there and the effort.
pub fn run(problem: &mut Problem, integrator: &mut dyn Integrator) -> (f64, Statistics) {
    let (start, t0, end) = (problem.start.clone(), problem.t0, problem.end);
    integrator.start(problem, t0, &start, None).unwrap();
    while integrator.time() < end {
        integrator.step(problem, end).unwrap();
    }
    (problem.error(integrator.state()), integrator.statistics())
}

fn problem(name: &'static str, start: &[f64], end: f64, reference: &[f64], rhs: Rhs) -> Problem {
    Problem {
        name,
        start: start.to_vec(),
        t0: 0.0,
        end,
        reference: reference.to_vec(),
        rhs: Box::new(rhs),
        jacobian: None,
        pattern: None,
        nominal: vec![1.0; start.len()],
    }
}

pub fn robertson(end: f64) -> Problem {
    let reference: &[f64] = if end == 1e11 {
        &[0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]
    } else {
        &[0.7158270687193941, 0.9185534764557338e-5, 0.2841637457458413]
    };
    let mut p = problem("robertson", &[1.0, 0.0, 0.0], end, reference, |_, x, dx| {
        let (a, b, c) = (0.04 * x[0], 1e4 * x[1] * x[2], 3e7 * x[1] * x[1]);
        dx[0] = -a + b;
        dx[1] = a - b - c;
        dx[2] = c;
    });
    p.jacobian = Some(Box::new(|_, x, j| {
        j.copy_from_slice(&[
            -0.04,
            0.04,
            0.0,
            1e4 * x[2],
            -1e4 * x[2] - 6e7 * x[1],
            6e7 * x[1],
            1e4 * x[1],
            -1e4 * x[1],
            0.0,
        ]);
    }));
    p.nominal = vec![1e-4, 1e-10, 1.0];
    p
}

/// Van der Pol with μ = 1000 in the time of the Test Set (ε = 10⁻⁶), to t = 2.
pub fn van_der_pol() -> Problem {
    let reference = [0.1706167732170483e1, -0.8928097010247975];
    let mut p = problem("van der Pol", &[2.0, 0.0], 2.0, &reference, |_, x, dx| {
        dx[0] = x[1];
        dx[1] = ((1.0 - x[0] * x[0]) * x[1] - x[0]) * 1e6;
    });
    p.jacobian = Some(Box::new(|_, x, j| {
        j.copy_from_slice(&[0.0, (-2.0 * x[0] * x[1] - 1.0) * 1e6, 1.0, (1.0 - x[0] * x[0]) * 1e6]);
    }));
    p
}

pub fn hires() -> Problem {
    let reference = [
        0.7371312573325668e-3,
        0.1442485726316185e-3,
        0.5888729740967575e-4,
        0.1175651343283149e-2,
        0.2386356198831331e-2,
        0.6238968252742796e-2,
        0.2849998395185769e-2,
        0.2850001604814231e-2,
    ];
    let start = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057];
    let mut p = problem("hires", &start, 321.8122, &reference, |_, y, d| {
        d[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
        d[1] = 1.71 * y[0] - 8.75 * y[1];
        d[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
        d[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3];
        d[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6];
        d[5] = -280.0 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6];
        d[6] = 280.0 * y[5] * y[7] - 1.81 * y[6];
        d[7] = -d[6];
    });
    p.nominal = vec![1e-2; 8];
    p
}

pub fn oregonator() -> Problem {
    let reference = [0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3];
    problem("oregonator", &[1.0, 2.0, 3.0], 360.0, &reference, |_, y, d| {
        d[0] = 77.27 * (y[1] + y[0] * (1.0 - 8.375e-6 * y[0] - y[1]));
        d[1] = (y[2] - (1.0 + y[0]) * y[1]) / 77.27;
        d[2] = 0.161 * (y[0] - y[2]);
    })
}

/// Two bodies on an ellipse of eccentricity 0.6 (DETEST D3), after one period.
pub fn two_bodies() -> Problem {
    let start = [0.4, 0.0, 0.0, 2.0];
    problem("two bodies", &start, 2.0 * std::f64::consts::PI, &start, |_, x, d| {
        let cube = (x[0] * x[0] + x[1] * x[1]).powf(1.5);
        d.copy_from_slice(&[x[2], x[3], -x[0] / cube, -x[1] / cube]);
    })
}

/// A linear oscillator far from stiff, 20 periods.
pub fn oscillator() -> Problem {
    problem("oscillator", &[1.0, 0.0], 40.0 * std::f64::consts::PI, &[1.0, 0.0], |_, x, d| {
        d.copy_from_slice(&[x[1], -x[0]]);
    })
}

/// Prothero and Robinson: x' = −10⁶ (x − cos t) − sin t, with solution cos t.
pub fn prothero_robinson() -> Problem {
    problem("prothero-robinson", &[1.0], 10.0, &[10.0_f64.cos()], |t, x, d| {
        d[0] = -1e6 * (x[0] - t.cos()) - t.sin();
    })
}

/// A linear stiff system with eigenvalues −1, −100 and −10⁴ ± 10⁴ i coupled by a rotation.
pub fn linear_stiff() -> Problem {
    let reference = [(-5.0_f64).exp(); 4].map(|v| v * 0.5);
    problem("linear stiff", &[0.5, 0.5, 0.5, 0.5], 5.0, &reference, |_, x, d| {
        // In the orthogonal basis of Hadamard vectors.
        let m = [
            x[0] + x[1] + x[2] + x[3],
            x[0] - x[1] + x[2] - x[3],
            x[0] + x[1] - x[2] - x[3],
            x[0] - x[1] - x[2] + x[3],
        ]
        .map(|v| 0.5 * v);
        let r = [-m[0], -100.0 * m[1], -1e4 * m[2] + 1e4 * m[3], -1e4 * m[2] - 1e4 * m[3]];
        d.copy_from_slice(
            &[
                r[0] + r[1] + r[2] + r[3],
                r[0] - r[1] + r[2] - r[3],
                r[0] + r[1] - r[2] - r[3],
                r[0] - r[1] - r[2] + r[3],
            ]
            .map(|v| 0.5 * v),
        );
    })
}

/// Heat conduction in a rod of n cells, both ends at zero, starting from the first two modes; exact for the discretised system.
pub fn heat(n: usize) -> Problem {
    let cells = (n + 1) as f64;
    let mode = |k: f64, i: usize| (k * std::f64::consts::PI * (i + 1) as f64 / cells).sin();
    let rate = |k: f64| 4.0 * cells * cells * (0.5 * k * std::f64::consts::PI / cells).sin().powi(2);
    let end = 0.1;
    let start: Vec<f64> = (0..n).map(|i| mode(1.0, i) + 0.5 * mode(7.0, i)).collect();
    let reference = (0..n)
        .map(|i| mode(1.0, i) * (-rate(1.0) * end).exp() + 0.5 * mode(7.0, i) * (-rate(7.0) * end).exp())
        .collect();
    let scale = cells * cells;
    let pattern =
        Pattern::from_entries(n, n, (0..n).flat_map(|j| (j.saturating_sub(1)..(j + 2).min(n)).map(move |i| (i, j))));
    let indices = pattern.clone();
    Problem {
        name: if n < 1000 {
            "heat"
        } else if n < 10_000 {
            "heat 1000"
        } else {
            "heat 10000"
        },
        start,
        t0: 0.0,
        end,
        reference,
        rhs: Box::new(move |_, x, d| {
            for i in 0..n {
                let left = if i > 0 { x[i - 1] } else { 0.0 };
                let right = if i + 1 < n { x[i + 1] } else { 0.0 };
                d[i] = scale * (left - 2.0 * x[i] + right);
            }
        }),
        jacobian: Some(Box::new(move |_, _, values| {
            for j in 0..n {
                for p in indices.starts[j]..indices.starts[j + 1] {
                    values[p] = if indices.indices[p] as usize == j { -2.0 * scale } else { scale };
                }
            }
        })),
        pattern: Some(pattern),
        nominal: vec![1.0; n],
    }
}

pub fn stiff_problems() -> Vec<Problem> {
    vec![robertson(1e11), van_der_pol(), hires(), oregonator(), prothero_robinson(), linear_stiff(), heat(100)]
}

pub fn smooth_problems() -> Vec<Problem> {
    vec![two_bodies(), oscillator()]
}

/// Problems of DETEST (Hull, Enright, Fellen and Sedgwick 1972) with closed forms: one for each class.
pub fn detest() -> Vec<Problem> {
    let exponential = problem("A1", &[1.0], 20.0, &[(-20.0_f64).exp()], |_, x, d| d[0] = -x[0]);
    let cubic = problem("A2", &[1.0], 20.0, &[1.0 / 21.0_f64.sqrt()], |_, x, d| d[0] = -0.5 * x[0].powi(3));
    let oscillatory = problem("A3", &[1.0], 20.0, &[20.0_f64.sin().exp()], |t, x, d| d[0] = x[0] * t.cos());
    let logistic = 20.0 / (1.0 + 19.0 * (-5.0_f64).exp());
    let logistic = problem("A4", &[1.0], 20.0, &[logistic], |_, x, d| d[0] = 0.25 * x[0] * (1.0 - x[0] / 20.0));
    // A decay chain of ten members, whose closed form is that of Poisson's distribution.
    let mut poisson = vec![0.0; 10];
    let mut term = (-20.0_f64).exp();
    for (k, value) in poisson.iter_mut().enumerate().take(9) {
        *value = term;
        term *= 20.0 / (k + 1) as f64;
    }
    poisson[9] = 1.0 - poisson.iter().sum::<f64>();
    let mut start = vec![0.0; 10];
    start[0] = 1.0;
    let chain = problem("C1", &start, 20.0, &poisson, |_, x, d| {
        d[0] = -x[0];
        for k in 1..9 {
            d[k] = x[k - 1] - x[k];
        }
        d[9] = x[8];
    });
    // Orbits after one period.
    let orbit = |name, eccentricity: f64| {
        let start = [1.0 - eccentricity, 0.0, 0.0, ((1.0 + eccentricity) / (1.0 - eccentricity)).sqrt()];
        problem(name, &start, 2.0 * std::f64::consts::PI, &start, |_, x, d| {
            let cube = (x[0] * x[0] + x[1] * x[1]).powf(1.5);
            d.copy_from_slice(&[x[2], x[3], -x[0] / cube, -x[1] / cube]);
        })
    };
    // Duffing's oscillator without damping on its separatrix: x = √2 / cosh t.
    let separatrix = 2.0_f64.sqrt();
    let (cosh, sinh) = (4.0_f64.cosh(), 4.0_f64.sinh());
    let reference = [separatrix / cosh, -separatrix * sinh / (cosh * cosh)];
    let second_order = problem("E", &[separatrix, 0.0], 4.0, &reference, |_, x, d| {
        d.copy_from_slice(&[x[1], x[0] - x[0].powi(3)]);
    });
    vec![exponential, cubic, oscillatory, logistic, chain, orbit("D1", 0.1), orbit("D3", 0.5), second_order]
}

/// Stiff problems after the classes of stiff DETEST (Enright, Hull and Lindberg 1975), changed so that closed forms are known.
pub fn stiff_detest() -> Vec<Problem> {
    // A: linear with real eigenvalues from −1 to −10⁶.
    let rates = [1.0_f64, 10.0, 1e3, 1e6];
    let reference: Vec<f64> = rates.iter().map(|rate| (-2.0 * rate).exp()).collect();
    let real = problem("stiff A", &[1.0; 4], 2.0, &reference, |_, x, d| {
        for (k, rate) in [1.0, 10.0, 1e3, 1e6].into_iter().enumerate() {
            d[k] = -rate * x[k];
        }
    });
    // B: eigenvalues −10 ± 100 i, with a slow one beside.
    let complex = problem("stiff B", &[1.0, 0.0, 1.0], 5.0, &[0.0, 0.0, (-0.5_f64).exp()], |_, x, d| {
        d.copy_from_slice(&[-10.0 * x[0] + 100.0 * x[1], -100.0 * x[0] - 10.0 * x[1], -0.1 * x[2]]);
    });
    // C: a fast component that follows a function of a slow one. x = exp(−t), y = x².
    let slow = (-3.0_f64).exp();
    let coupled = problem("stiff C", &[1.0, 1.0], 3.0, &[slow, slow * slow], |_, x, d| {
        d[0] = -x[0];
        d[1] = -1e4 * (x[1] - x[0] * x[0]) - 2.0 * x[0] * x[0];
    });
    // D: Kaps, nonlinear in the stiff part. x = exp(−2t), y = exp(−t).
    let kaps = problem("stiff D", &[1.0, 1.0], 2.0, &[(-4.0_f64).exp(), (-2.0_f64).exp()], |_, x, d| {
        d[0] = -(1e4 + 2.0) * x[0] + 1e4 * x[1] * x[1];
        d[1] = x[0] - x[1] - x[1] * x[1];
    });
    // E: forced, with the fast part on a slow manifold. x = sin t, y = cos t.
    let forced = problem("stiff E", &[0.0, 1.0], 10.0, &[10.0_f64.sin(), 10.0_f64.cos()], |t, x, d| {
        d[0] = x[1];
        d[1] = -1e5 * (x[1] - t.cos()) - x[0];
    });
    vec![real, complex, coupled, kaps, forced]
}
