//! Cost of an event: a converter under hysteresis control that feeds a ladder of resistors and capacitors, 20 000
//! switchings located as roots. Leaving the band on its way back is an event, too, but not counted.
//!
//! Run with `cargo bench -p gyrator-solve --bench events`.

#![allow(clippy::needless_range_loop)]

use solve::{CrossingFunctions, EvalError, Method, OdeProblem, Options, Pattern, RootFinder};
use std::time::Instant;

const CELLS: usize = 49;
const EVENTS: usize = 20_000;

struct Converter {
    on: bool,
    pattern: Pattern,
}

impl Converter {
    fn new() -> Self {
        let n = CELLS + 1;
        let entries = (0..n).flat_map(|j: usize| (j.saturating_sub(1)..(j + 2).min(n)).map(move |i| (i, j)));
        Converter { on: true, pattern: Pattern::from_entries(n, n, entries) }
    }
}

impl OdeProblem for Converter {
    fn size(&self) -> usize {
        CELLS + 1
    }
    fn rhs(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        let source = if self.on { 24.0 } else { 0.0 };
        dx[0] = (source - x[1] - 0.05 * x[0]) / 1e-4;
        let mut inflow = x[0];
        for k in 1..=CELLS {
            let outflow = if k < CELLS { (x[k] - x[k + 1]) / 0.01 } else { x[k] / 5.0 };
            dx[k] = (inflow - outflow) / 2e-6;
            inflow = outflow;
        }
        Ok(())
    }
    fn jacobian_pattern(&self) -> Option<&Pattern> {
        Some(&self.pattern)
    }
    fn jacobian(&mut self, _: f64, _: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        let n = CELLS + 1;
        for j in 0..n {
            for p in self.pattern.starts[j]..self.pattern.starts[j + 1] {
                let i = self.pattern.indices[p] as usize;
                values[p] = match (i, j) {
                    (0, 0) => -0.05 / 1e-4,
                    (0, 1) => -1.0 / 1e-4,
                    (1, 0) => 1.0 / 2e-6,
                    _ if i == j => {
                        let left = if i > 1 { 100.0 } else { 0.0 };
                        let right = if i < CELLS { 100.0 } else { 0.2 };
                        -(left + right) / 2e-6
                    }
                    _ => 100.0 / 2e-6,
                };
            }
        }
        Ok(true)
    }
}

struct Band;

impl CrossingFunctions for Band {
    fn count(&self) -> usize {
        2
    }
    fn evaluate(&mut self, _: f64, x: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        values[0] = x[0] - 2.6;
        values[1] = x[0] - 2.2;
        Ok(())
    }
}

fn run(method: Method, tolerance: f64) -> Result<(), Box<dyn std::error::Error>> {
    let n = CELLS + 1;
    let mut converter = Converter::new();
    let mut integrator = method.integrator(n, Options::with_tolerances(tolerance, tolerance));
    let mut finder = RootFinder::new(2, n);
    let mut x = vec![0.0; n];
    let begin = Instant::now();
    integrator.start(&mut converter, 0.0, &x, None)?;
    finder.restart(&mut Band, 0.0, &x)?;
    let mut events = 0;
    while events < EVENTS {
        let step = integrator.step(&mut converter, 1e3)?;
        if let Some(event) = finder.search(&mut Band, &*integrator, step.t_old, step.t_new)? {
            integrator.interpolate(event.t, &mut x);
            let before = converter.on;
            for crossing in finder.crossings() {
                match (crossing.function, crossing.to) {
                    (0, 1) => converter.on = false,
                    (1, -1) => converter.on = true,
                    _ => {}
                }
            }
            events += usize::from(converter.on != before);
            integrator.restart(&mut converter, event.t, &x)?;
            finder.restart(&mut Band, event.t, &x)?;
        }
    }
    let time = begin.elapsed().as_secs_f64();
    let effort = integrator.statistics();
    let per_event = |count: u64| count as f64 / EVENTS as f64;
    println!(
        "{:8} {tolerance:6.0e} end {:.9} s, {:6.2} µs for each event: steps {:5.2} rhs {:5.2} roots {:5.2} jacobians {:5.3} factorisations {:5.2} rejected {:5.2} failed {:5.2}",
        method.name(),
        integrator.time(),
        time * 1e6 / EVENTS as f64,
        per_event(effort.steps),
        per_event(effort.rhs),
        per_event(finder.evaluations()),
        per_event(effort.jacobians),
        per_event(effort.factorisations),
        per_event(effort.rejected),
        per_event(effort.failed),
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for tolerance in [1e-4, 1e-6] {
        for method in [Method::Esdirk, Method::Bdf, Method::Rosenbrock, Method::Auto] {
            run(method, tolerance)?;
        }
    }
    Ok(())
}
