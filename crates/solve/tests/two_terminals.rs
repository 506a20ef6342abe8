//! Random networks of two-terminal elements with potentials, flows and differences as unknowns of their own, as a translator of
//! models leaves them: balances of flows at nodes, `flow = law(difference)` for each element. Potentials and flows have units
//! from 1e-12 to 1e6, of which Newton's method knows nothing. The sources are made from a known solution, which is the only one.

use fastrand::Rng;
use solve::newton::NewtonOptions;
use solve::{EvalError, NewtonSolver, NonlinearSystem};

#[derive(Clone, Copy, Debug)]
enum Law {
    Linear,
    Cubic,
    Sinh,
    Diode,
}

impl Law {
    fn value(self, x: f64) -> f64 {
        match self {
            Law::Linear => x,
            Law::Cubic => x * x * x,
            Law::Sinh => x.sinh(),
            Law::Diode => x.exp_m1(),
        }
    }

    fn slope(self, x: f64) -> f64 {
        match self {
            Law::Linear => 1.0,
            Law::Cubic => 3.0 * x * x,
            Law::Sinh => x.cosh(),
            Law::Diode => x.exp(),
        }
    }
}

#[derive(Debug)]
struct Element {
    law: Law,
    from: usize,
    /// `None` is ground.
    to: Option<usize>,
    flow: f64,
    width: f64,
    /// Its difference is an unknown.
    has_difference: bool,
}

/// Unknowns are potentials, then flows, then differences.
#[derive(Debug)]
struct Network {
    solution: Vec<f64>,
    elements: Vec<Element>,
    sources: Vec<f64>,
    start: f64,
}

impl Network {
    fn any(random: &mut Rng) -> Self {
        let nodes = random.usize(1..6);
        let (potential, size) = (10f64.powi(random.i32(-12..7)), 10f64.powi(random.i32(-12..7)));
        let level: Vec<f64> = (0..nodes).map(|_| 3.0 * (2.0 * random.f64() - 1.0)).collect();
        let style = random.u32(0..2);
        let ground = |from| (Law::Linear, from, None, 1.0, 1.0);
        let mut elements: Vec<_> = (0..nodes).map(ground).collect();
        for _ in 0..random.usize(1..2 * nodes + 2) {
            let law = *random.choice(&[Law::Linear, Law::Cubic, Law::Sinh, Law::Diode]).unwrap_or(&Law::Linear);
            let from = random.usize(0..nodes);
            let to = Some(random.usize(0..nodes)).filter(|&to| to != from && random.bool());
            let width = match law {
                Law::Diode => 0.05 + 0.3 * random.f64(),
                Law::Sinh => 0.2 + random.f64(),
                _ => 1.0,
            };
            // Steep elements have small factors, as diodes have.
            let steepest = match law {
                Law::Diode | Law::Sinh => (-8.0f64 / width).exp().max(1e-14),
                _ => 1.0,
            };
            let difference = level[from] - to.map_or(0.0, |to| level[to]);
            let damping = steepest.min(100.0 / law.value(difference / width).abs());
            elements.push((law, from, to, damping, width));
        }
        let elements: Vec<Element> = elements
            .into_iter()
            .map(|(law, from, to, damping, width)| Element {
                law,
                from,
                to,
                flow: size * damping * (0.1 + random.f64()),
                width: width * potential,
                has_difference: style == 1,
            })
            .collect();
        let start = if random.f64() < 0.3 { potential * 20.0 * (random.f64() - 0.5) } else { 0.0 };
        let solution = level.iter().map(|level| level * potential).collect();
        let mut network = Network { solution, elements, sources: vec![0.0; nodes], start };
        for element in &network.elements {
            let flow = element.at(element.difference(&network.solution));
            network.sources[element.from] += flow;
            if let Some(to) = element.to {
                network.sources[to] -= flow;
            }
        }
        network
    }

    fn nodes(&self) -> usize {
        self.solution.len()
    }
}

impl Element {
    fn difference(&self, x: &[f64]) -> f64 {
        x[self.from] - self.to.map_or(0.0, |to| x[to])
    }

    fn at(&self, difference: f64) -> f64 {
        self.flow * self.law.value(difference / self.width)
    }
}

impl NonlinearSystem for Network {
    fn size(&self) -> usize {
        let differences = self.elements.iter().filter(|element| element.has_difference).count();
        self.nodes() + self.elements.len() + differences
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        let (nodes, count) = (self.nodes(), self.elements.len());
        r[..nodes].iter_mut().zip(&self.sources).for_each(|(r, source)| *r = -source);
        for (k, element) in self.elements.iter().enumerate() {
            let flow = x[nodes + k];
            r[element.from] += flow;
            if let Some(to) = element.to {
                r[to] -= flow;
            }
            let mut difference = element.difference(x);
            if element.has_difference {
                let unknown = x[nodes + count + k];
                r[nodes + count + k] = unknown - difference;
                difference = unknown;
            }
            r[nodes + k] = flow - element.at(difference);
        }
        if r.iter().all(|r| r.is_finite()) { Ok(()) } else { Err(EvalError::recoverable(0)) }
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        let (size, nodes, count) = (self.size(), self.nodes(), self.elements.len());
        values.fill(0.0);
        let mut set = |row: usize, column: usize, value: f64| values[column * size + row] += value;
        for (k, element) in self.elements.iter().enumerate() {
            set(element.from, nodes + k, 1.0);
            element.to.into_iter().for_each(|to| set(to, nodes + k, -1.0));
            set(nodes + k, nodes + k, 1.0);
            let difference = if element.has_difference { x[nodes + count + k] } else { element.difference(x) };
            let slope = element.flow / element.width * element.law.slope(difference / element.width);
            let (row, factor) = match element.has_difference {
                true => {
                    set(nodes + count + k, nodes + count + k, 1.0);
                    set(nodes + k, nodes + count + k, -slope);
                    (nodes + count + k, 1.0)
                }
                false => (nodes + k, slope),
            };
            set(row, element.from, -factor);
            element.to.into_iter().for_each(|to| set(row, to, factor));
        }
        Ok(true)
    }
}

#[test]
fn networks_are_solved_in_any_units() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, cases) = (number("GYRATOR_SEED", 0), number("CASES", 1000));
    let (mut failed, mut iterations, mut most) = (Vec::new(), 0, 0);
    for case in first..first + cases {
        let mut random = Rng::with_seed(case);
        let mut network = Network::any(&mut random);
        let mut x = vec![0.0; network.size()];
        x[..network.solution.len()].fill(network.start);
        let mut solver = NewtonSolver::new(&network, NewtonOptions::default()).expect("a solver");
        let outcome = solver.solve(&mut network, &mut x);
        iterations += solver.statistics().iterations;
        most = most.max(solver.statistics().iterations);
        let unit = network.solution.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let off = network.solution.iter().zip(&x).fold(0.0f64, |most, (a, b)| most.max((a - b).abs() / unit));
        if outcome.is_err() || off.is_nan() || off > 1e-7 {
            failed.push(format!("{case}: {outcome:?} off by {off} {x:?} {network:?}"));
        }
    }
    println!("{iterations} iterations, at most {most}");
    assert!(failed.is_empty(), "{} failed, such as\n{}", failed.len(), failed[..failed.len().min(8)].join("\n"));
}
