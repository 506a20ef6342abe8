//! A stiff problem with an explicit method runs, and the run says that another method would suit.

mod common;

use common::{run, until};
use simulate::Options;

#[test]
fn an_explicit_method_on_a_stiff_problem_is_noted() {
    let stiff = "Real x(start = 0, fixed = true)\nder(x) = -2000*(x - sin(time))";
    let mild = "Real x(start = 0, fixed = true)\nder(x) = -2*(x - sin(time))";
    for (text, solver, noted) in [
        (stiff, "tsit5", true),
        (stiff, "dop853", true),
        (stiff, "auto", false),
        (stiff, "bdf", false),
        (mild, "tsit5", false),
        (mild, "dop853", false),
    ] {
        let result = run(text, &Options { solver: solver.parse().unwrap(), ..until(2.0, 1e-6) });
        let found = result.outcome.warnings.iter().any(|warning| warning.code == "stiff-problem");
        assert_eq!(found, noted, "{solver} on {text}");
    }
}
