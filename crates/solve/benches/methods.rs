//! Effort and time of the integrators on standard problems at several tolerances.
//!
//! Run with `cargo bench -p gyrator-solve --bench methods`.

#[path = "../tests/problems/mod.rs"]
mod problems;

use problems::{Problem, run, smooth_problems, stiff_problems};
use solve::{Integrator, Options, bdf::Bdf, esdirk::Esdirk, tsit5::Tsit5};
use std::time::Instant;

type Maker = fn(usize, Options) -> Box<dyn Integrator>;

fn table(problems: Vec<Problem>, methods: &[Maker], tolerances: &[f64]) {
    for mut problem in problems {
        for tolerance in tolerances {
            for make in methods {
                let mut integrator = make(problem.start.len(), problem.options(*tolerance));
                let begin = Instant::now();
                let (error, effort) = run(&mut problem, &mut *integrator);
                println!(
                    "{:18} {:7.0e} {:10} error {:8.1e} steps {:6} rejected {:4} failed {:3} rhs {:7} jac {:4} lu {:5} {:9.1} µs",
                    problem.name,
                    tolerance,
                    integrator.name(),
                    error,
                    effort.steps,
                    effort.rejected,
                    effort.failed,
                    effort.rhs,
                    effort.jacobians,
                    effort.factorisations,
                    begin.elapsed().as_secs_f64() * 1e6
                );
            }
        }
    }
}

fn main() {
    let stiff: [Maker; 2] = [|n, o| Box::new(Bdf::new(n, o)), |n, o| Box::new(Esdirk::new(n, o))];
    let explicit: [Maker; 2] = [|n, o| Box::new(Tsit5::new(n, o)), |n, o| Box::new(Bdf::new(n, o))];
    table(stiff_problems(), &stiff, &[1e-4, 1e-6, 1e-8]);
    table(smooth_problems(), &explicit, &[1e-4, 1e-6, 1e-8]);
}
