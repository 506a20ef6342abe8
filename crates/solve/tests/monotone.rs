//! Random networks of monotone elements: `G·x + φ(x) = b` with a diagonally dominant symmetric G and increasing φ has one
//! solution, and its Jacobian is regular everywhere. Newton's method has to find it, wherever it starts and whatever the units
//! are, of which it knows nothing; with the flows φ(x) as further unknowns too.

use fastrand::Rng;
use solve::newton::NewtonOptions;
use solve::{EvalError, NewtonSolver, NonlinearSystem};

#[derive(Clone, Copy, Debug)]
enum Law {
    Diode,
    Sinh(f64),
    Cubic(f64),
    Saturation(f64),
    Quadratic(f64),
    Bent(f64),
}

impl Law {
    fn any(random: &mut Rng) -> Self {
        let a = 10f64.powi(random.i32(-6..3));
        match random.u32(0..6) {
            0 => Law::Diode,
            1 => Law::Sinh(a),
            2 => Law::Cubic(a),
            3 => Law::Saturation(a),
            4 => Law::Quadratic(a),
            _ => Law::Bent(a),
        }
    }

    fn value(self, x: f64) -> f64 {
        match self {
            Law::Diode => 1e-12 * (x / 0.025).exp_m1(),
            Law::Sinh(a) => a * (3.0 * x).sinh(),
            Law::Cubic(a) => a * x * x * x,
            Law::Saturation(a) => a * (100.0 * x).atan(),
            Law::Quadratic(a) => a * x * x.abs(),
            Law::Bent(a) if x > 0.5 => a * (10.0 * (x - 0.5) + 0.1),
            Law::Bent(a) => a * 0.2 * x,
        }
    }

    fn slope(self, x: f64) -> f64 {
        match self {
            Law::Diode => 1e-12 / 0.025 * (x / 0.025).exp(),
            Law::Sinh(a) => 3.0 * a * (3.0 * x).cosh(),
            Law::Cubic(a) => 3.0 * a * x * x,
            Law::Saturation(a) => 100.0 * a / (1.0 + 1e4 * x * x),
            Law::Quadratic(a) => 2.0 * a * x.abs(),
            Law::Bent(a) => a * if x > 0.5 { 10.0 } else { 0.2 },
        }
    }
}

#[derive(Debug)]
struct Network {
    matrix: Vec<Vec<f64>>,
    laws: Vec<Law>,
    sources: Vec<f64>,
    /// The units of potentials and of flows.
    units: (f64, f64),
    /// Flows of the laws are unknowns behind the potentials.
    has_flows: bool,
}

impl Network {
    fn any(random: &mut Rng) -> Self {
        let size = random.usize(1..7);
        let mut matrix = vec![vec![0.0; size]; size];
        for i in 0..size {
            for j in 0..i {
                if random.f64() < 0.7 {
                    let g = 10f64.powi(random.i32(-4..4));
                    matrix[i][i] += g;
                    matrix[j][j] += g;
                    matrix[i][j] -= g;
                    matrix[j][i] -= g;
                }
            }
            matrix[i][i] += *random.choice(&[1e-6, 1e-3, 1.0]).unwrap_or(&1.0);
        }
        let source = |random: &mut Rng| {
            let sizes = [0.0, 1.0, -1.0, 10.0, 1e-3, 5.0, -20.0, 1e-2, 100.0];
            *random.choice(&sizes).unwrap_or(&1.0)
        };
        let sources = (0..size).map(|_| source(random)).collect();
        let laws = (0..size).map(|_| Law::any(random)).collect();
        let units = match random.bool() {
            true => (1.0, 1.0),
            false => (10f64.powi(random.i32(-12..7)), 10f64.powi(random.i32(-12..7))),
        };
        Network { matrix, laws, sources, units, has_flows: random.bool() }
    }

    fn nodes(&self) -> usize {
        self.laws.len()
    }

    /// The terms of the balance of a node, in their own unit, at potentials and flows in theirs.
    fn terms(&self, node: usize, x: &[f64]) -> impl Iterator<Item = f64> {
        let linear = self.matrix[node].iter().zip(x).map(|(g, x)| g * (x / self.units.0));
        let flow = match self.has_flows {
            true => x[self.nodes() + node] / self.units.1,
            false => self.laws[node].value(x[node] / self.units.0),
        };
        linear.chain([flow, -self.sources[node]])
    }

    /// How far each equation is from being fulfilled, relative to its terms.
    fn error(&self, x: &[f64]) -> f64 {
        let mut most = 0.0f64;
        for node in 0..self.nodes() {
            let (sum, size): (f64, f64) = (self.terms(node, x).sum(), self.terms(node, x).map(f64::abs).sum());
            most = most.max(sum.abs() / size.max(1e-30));
            if self.has_flows {
                let (flow, law) =
                    (x[self.nodes() + node] / self.units.1, self.laws[node].value(x[node] / self.units.0));
                most = most.max((flow - law).abs() / (flow.abs() + law.abs()).max(1e-30).max(1e-10 * size));
            }
        }
        most
    }
}

impl NonlinearSystem for Network {
    fn size(&self) -> usize {
        self.nodes() * if self.has_flows { 2 } else { 1 }
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        let (nodes, (potential, unit)) = (self.nodes(), self.units);
        for node in 0..nodes {
            r[node] = unit * self.terms(node, x).sum::<f64>();
            if self.has_flows {
                r[nodes + node] = x[nodes + node] - unit * self.laws[node].value(x[node] / potential);
            }
        }
        if r.iter().all(|r| r.is_finite()) { Ok(()) } else { Err(EvalError::recoverable(0)) }
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        let (size, nodes, (potential, unit)) = (self.size(), self.nodes(), self.units);
        values.fill(0.0);
        for j in 0..nodes {
            let slope = unit / potential * self.laws[j].slope(x[j] / potential);
            for i in 0..nodes {
                values[j * size + i] = self.matrix[i][j] * unit / potential;
            }
            if self.has_flows {
                values[j * size + nodes + j] = -slope;
                values[(nodes + j) * size + j] = 1.0;
                values[(nodes + j) * size + nodes + j] = 1.0;
            } else {
                values[j * size + j] += slope;
            }
        }
        Ok(true)
    }
}

#[test]
fn monotone_networks_are_solved_from_anywhere() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, cases) = (number("GYRATOR_SEED", 0), number("CASES", 1500));
    let (mut failed, mut iterations, mut most) = (Vec::new(), 0, 0);
    for case in first..first + cases {
        let mut random = Rng::with_seed(case);
        let mut network = Network::any(&mut random);
        let start = *random.choice(&[0.0, 0.0, 1.0, -3.0, 50.0]).unwrap_or(&0.0);
        let mut x = vec![0.0; network.size()];
        x[..network.nodes()].fill(start * network.units.0);
        let mut solver = NewtonSolver::new(&network, NewtonOptions::default()).expect("a solver");
        let outcome = solver.solve(&mut network, &mut x);
        iterations += solver.statistics().iterations;
        most = most.max(solver.statistics().iterations);
        if outcome.is_err() || network.error(&x) > 1e-8 {
            failed.push(format!("{case} from {start}: {outcome:?} {} {x:?} {network:?}", network.error(&x)));
        }
    }
    println!("{iterations} iterations, at most {most}");
    assert!(failed.is_empty(), "{} failed, such as\n{}", failed.len(), failed[..failed.len().min(12)].join("\n"));
}
