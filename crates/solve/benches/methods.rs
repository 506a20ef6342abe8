//! Effort and time of the integrators on standard problems at several tolerances.
//!
//! Run with `cargo bench -p gyrator-solve --bench methods [-- NAME]`, where NAME selects problems.

#[path = "../tests/problems/mod.rs"]
mod problems;

use problems::{Problem, heat, run, smooth_problems, stiff_problems};
use solve::Method;
use std::time::Instant;

fn table(problems: Vec<Problem>, methods: &[Method], tolerances: &[f64]) {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for mut problem in problems {
        if wanted.as_ref().is_some_and(|name| !problem.name.contains(name.as_str())) {
            continue;
        }
        for tolerance in tolerances {
            for method in methods {
                let mut integrator = method.integrator(problem.start.len(), problem.options(*tolerance));
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
    let tolerances = [1e-4, 1e-6, 1e-8];
    let mut stiff = stiff_problems();
    stiff.extend([heat(1000), heat(10_000)]);
    table(stiff, &[Method::Bdf, Method::Esdirk, Method::Rosenbrock, Method::Auto], &tolerances);
    table(smooth_problems(), &[Method::Tsit5, Method::Dop853, Method::Bdf, Method::Auto], &[1e-4, 1e-6, 1e-8, 1e-10]);
}
