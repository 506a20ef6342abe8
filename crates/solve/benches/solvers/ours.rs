//! Runs of the crate's own integrators.

use crate::cases::{Case, Hybrid, RobertsonDae};
use crate::measure::{Run, cpu_time};
use crate::problems::Problem;
use solve::{DaeBdf, DenseOutput, Integrator, Method, RootFinder, Statistics};

/// The solution at the times of output, as far as the integrator comes.
pub fn outputs(problem: &mut Problem, integrator: &mut dyn Integrator, times: &[f64]) -> Vec<Vec<f64>> {
    let (start, t0) = (problem.start.clone(), problem.t0);
    let mut results = Vec::with_capacity(times.len());
    let Some(end) = times.last() else { return results };
    if integrator.start(problem, t0, &start, None).is_err() {
        return results;
    }
    for t in times {
        while integrator.time() < *t {
            if integrator.step(problem, *end).is_err() {
                return results;
            }
        }
        let mut x = vec![0.0; start.len()];
        integrator.interpolate(*t, &mut x);
        results.push(x);
    }
    results
}

fn effort(statistics: &Statistics) -> String {
    format!(
        "steps {:6} rejected {:5} failed {:3} rhs {:7} jacobians {:5} factorisations {:6}",
        statistics.steps,
        statistics.rejected,
        statistics.failed,
        statistics.rhs,
        statistics.jacobians,
        statistics.factorisations
    )
}

pub fn smooth(case: &mut Case, method: Method, tolerance: f64) -> Run {
    let begin = cpu_time();
    let mut integrator = method.integrator(case.problem.start.len(), case.problem.options(tolerance));
    let results = outputs(&mut case.problem, &mut *integrator, &case.outputs);
    let seconds = cpu_time() - begin;
    let error = if results.len() == case.outputs.len() { case.error(&results) } else { f64::INFINITY };
    Run { tolerance, error, seconds, effort: effort(&integrator.statistics()) }
}

pub fn implicit(problem: &mut RobertsonDae, tolerance: f64) -> Run {
    let begin = cpu_time();
    let mut dae = DaeBdf::new(3, RobertsonDae::options(tolerance));
    let mut results = Vec::new();
    let outputs = problem.outputs.clone();
    let end = outputs.last().copied().unwrap_or(0.0);
    let mut error = f64::INFINITY;
    if dae.start(problem, 0.0, &[1.0, 0.0, 0.0], &[-0.04, 0.04, 0.0], None).is_ok() {
        'all: for t in &outputs {
            while dae.time() < *t {
                if dae.step(problem, end).is_err() {
                    break 'all;
                }
            }
            let mut x = vec![0.0; 3];
            dae.interpolate(*t, &mut x);
            results.push(x);
        }
    }
    let seconds = cpu_time() - begin;
    if results.len() == outputs.len() {
        error = problem.error(&results);
    }
    Run { tolerance, error, seconds, effort: effort(&dae.statistics()) }
}

/// Time of the last event, the state there, and what it took.
pub fn last_event(problem: &mut dyn Hybrid, method: Method, tolerance: f64) -> (f64, Vec<f64>, String) {
    let mut x = problem.start();
    let mut integrator = method.integrator(x.len(), problem.tolerance_options(tolerance));
    let mut finder = RootFinder::new(problem.count(), x.len());
    let mut values = vec![0.0; problem.count()];
    let mut status = vec![0_i8; problem.count()];
    // Within this distance the event has said which side a function is on.
    let bands = vec![1e-9; problem.count()];
    let (directions, horizon) = (problem.directions(), problem.horizon());
    let mut count = 0;
    let mut run = || -> Result<f64, Box<dyn std::error::Error>> {
        integrator.start(problem, 0.0, &x, None)?;
        finder.restart(problem, 0.0, &x)?;
        loop {
            let step = integrator.step(problem, horizon)?;
            let Some(event) = finder.search(problem, &*integrator, step.t_old, step.t_new)? else { continue };
            integrator.interpolate(event.t, &mut x);
            problem.evaluate(event.t, &x, &mut values)?;
            status.iter_mut().zip(&values).for_each(|(status, value)| *status = if *value > 0.0 { 1 } else { -1 });
            for crossing in finder.crossings() {
                status[crossing.function] = crossing.to;
                if i32::from(crossing.to) == directions[crossing.function] {
                    problem.handle(crossing.function, &mut x, &mut status);
                    count += 1;
                }
            }
            if count == problem.events() {
                return Ok(event.t);
            }
            integrator.restart(problem, event.t, &x)?;
            problem.evaluate(event.t, &x, &mut values)?;
            finder.restart_in_bands(&values, &status, &bands);
        }
    };
    let t = run().unwrap_or(f64::NAN);
    (t, x, effort(&integrator.statistics()) + &format!(" roots {}", finder.evaluations()))
}

pub fn hybrid(problem: &dyn Hybrid, method: Method, tolerance: f64) -> Run {
    let mut fresh = problem.again();
    let begin = cpu_time();
    let (t, x, effort) = last_event(&mut *fresh, method, tolerance);
    let seconds = cpu_time() - begin;
    Run { tolerance, error: problem.error(t, &x), seconds, effort }
}
