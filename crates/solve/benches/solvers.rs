//! Work and precision of the integrators, beside CVODE and IDA of SUNDIALS 7.1.1 built with `-O3`: several tolerances,
//! CPU time at equal achieved error.
//!
//! `cargo bench -p gyrator-solve --bench solvers [-- NAME] [--long]` runs the crate's own methods on the problems whose
//! name contains NAME; with `RUSTFLAGS="--cfg sundials"` (which needs cmake, a C compiler and libclang) SUNDIALS runs on
//! the same right-hand sides and Jacobians in the same process. `--long` prints every run.

#[path = "solvers/cases.rs"]
mod cases;
#[path = "solvers/measure.rs"]
mod measure;
#[path = "solvers/ours.rs"]
mod ours;
#[path = "../tests/problems/mod.rs"]
mod problems;
#[cfg(sundials)]
#[path = "solvers/sundials.rs"]
mod sundials;

use cases::{Ball, Case, Converter, Hybrid, RobertsonDae, diode_line, heat_case, robertson_case, van_der_pol_case};
use measure::{Run, at_equal_error, mean_ratio, sweep, time_at};
use solve::Method;

struct Table {
    wanted: Option<String>,
    long: bool,
    header: bool,
}

impl Table {
    fn wants(&self, name: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str()))
    }

    /// One line for each method of ours, compared with the one of SUNDIALS that comes last, if any.
    fn print(&mut self, problem: &str, names: &[&str], runs: &[Vec<Run>]) {
        if self.long {
            for (name, runs) in names.iter().zip(runs) {
                for run in runs {
                    let Run { tolerance, error, seconds, effort } = run;
                    println!("    {name:12} {tolerance:7.1e} error {error:8.1e} {:9.3} ms {effort}", seconds * 1e3);
                }
            }
        }
        if !std::mem::replace(&mut self.header, true) {
            println!("{:16} {:12} time in ms at an error of (ours | SUNDIALS | ratio)", "problem", "method");
        }
        let theirs = if cfg!(sundials) { runs.last() } else { None };
        let own = if theirs.is_some() { runs.len() - 1 } else { runs.len() };
        for (name, ours) in names.iter().zip(&runs[..own]) {
            print!("{problem:16} {name:12}");
            match theirs {
                Some(theirs) => {
                    let points = at_equal_error(ours, theirs);
                    for (error, ours, theirs) in points.iter().step_by(2) {
                        print!("  {error:.0e}: {:.3} | {:.3} | {:.2}", ours * 1e3, theirs * 1e3, ours / theirs);
                    }
                    let worst = points.iter().map(|(_, ours, theirs)| ours / theirs).fold(0.0, f64::max);
                    println!("  mean {:.2} worst {worst:.2}", mean_ratio(&points));
                }
                None => {
                    for error in [1e-2, 1e-4, 1e-6, 1e-8] {
                        if let Some(time) = time_at(ours, error) {
                            print!("  {error:.0e}: {:.3}", time * 1e3);
                        }
                    }
                    println!();
                }
            }
        }
    }

    fn smooth(&mut self, name: &str, make: impl Fn() -> Case, methods: &[Method], tolerances: &[f64]) {
        if !self.wants(name) {
            return;
        }
        let mut names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
        let cases: Vec<_> = methods.iter().map(|method| (make(), *method)).collect();
        let mut runs: Vec<Box<dyn FnMut(f64) -> Run>> = Vec::new();
        for (mut case, method) in cases {
            runs.push(Box::new(move |tolerance| ours::smooth(&mut case, method, tolerance)));
        }
        #[cfg(sundials)]
        {
            let mut case = make();
            names.push("cvode");
            runs.push(Box::new(move |tolerance| sundials::smooth(&mut case, tolerance)));
        }
        names.truncate(runs.len());
        self.compare(name, &names, &mut runs, tolerances);
    }

    fn hybrid(&mut self, problem: &dyn Hybrid, methods: &[Method], tolerances: &[f64]) {
        let mut names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
        let mut runs: Vec<Box<dyn FnMut(f64) -> Run + '_>> = Vec::new();
        for method in methods {
            runs.push(Box::new(move |tolerance| ours::hybrid(problem, *method, tolerance)));
        }
        #[cfg(sundials)]
        {
            let is_stiff = problem.jacobian_pattern().is_some();
            let formula = if is_stiff { sundials::Formula::Bdf } else { sundials::Formula::Adams };
            names.push("cvode");
            runs.push(Box::new(move |tolerance| sundials::hybrid(problem, formula, tolerance)));
        }
        names.truncate(runs.len());
        self.compare(problem.name(), &names, &mut runs, tolerances);
    }

    fn implicit(&mut self, tolerances: &[f64]) {
        let name = "robertson dae";
        if !self.wants(name) {
            return;
        }
        let mut problem = RobertsonDae::new();
        let mut runs: Vec<Box<dyn FnMut(f64) -> Run>> =
            vec![Box::new(move |tolerance| ours::implicit(&mut problem, tolerance))];
        #[cfg(sundials)]
        {
            let mut problem = RobertsonDae::new();
            runs.push(Box::new(move |tolerance| sundials::implicit(&mut problem, tolerance)));
        }
        self.compare(name, &["dae bdf", "ida"][..runs.len()], &mut runs, tolerances);
    }

    fn compare(
        &mut self,
        problem: &str,
        names: &[&str],
        runs: &mut [Box<dyn FnMut(f64) -> Run + '_>],
        tolerances: &[f64],
    ) {
        let mut contestants: Vec<&mut dyn FnMut(f64) -> Run> =
            runs.iter_mut().map(|run| &mut **run as &mut dyn FnMut(f64) -> Run).collect();
        let runs = sweep(tolerances, &mut contestants);
        self.print(problem, names, &runs);
    }
}

/// Powers of ten with fractions between, from the loosest to the tightest.
fn tolerances(first: i32, last: i32, parts: i32) -> Vec<f64> {
    (first * parts..=last * parts).map(|k| 10f64.powf(-f64::from(k) / f64::from(parts))).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-')).cloned();
    let long = arguments.iter().any(|argument| argument == "--long");
    let mut table = Table { wanted, long, header: false };
    use Method::{Auto, Bdf, Dop853, Esdirk, Rosenbrock, Tsit5};
    table.implicit(&tolerances(3, 9, 4));
    table.smooth("robertson", robertson_case, &[Bdf, Rosenbrock, Auto], &tolerances(3, 9, 4));
    table.smooth("van der pol", van_der_pol_case, &[Bdf, Rosenbrock, Auto], &tolerances(3, 9, 4));
    table.smooth("heat 1000", || heat_case(1000), &[Bdf, Auto], &tolerances(2, 8, 4));
    table.smooth("heat 10000", || heat_case(10_000), &[Bdf, Auto], &tolerances(2, 8, 2));
    table.smooth("diode line", || diode_line(2000), &[Bdf, Auto], &tolerances(3, 8, 2));
    if table.wants("bouncing ball") {
        table.hybrid(&Ball, &[Tsit5, Dop853, Bdf, Auto], &tolerances(3, 9, 2));
    }
    if table.wants("converter") {
        table.hybrid(&Converter::new(), &[Esdirk, Bdf, Rosenbrock, Auto], &tolerances(3, 8, 1));
    }
}
