//! Algorithm sections as the program runs them.

mod common;

use common::{run, simulate};

#[test]
fn what_is_assigned_nowhere_that_is_reached_keeps_its_start_value() {
    let text = "model M
        parameter Integer n = 0;
        Real y;
        Integer k(start = 2);
        Integer l(start = 3);
        Real v[2](start = {4, 5});
      algorithm
        y := 5;
        if false then k := 7; end if;
        if 3 < 2 then y := 6; elseif true then y := 7; else l := 8; end if;
        for i in 1:n loop v[i] := i; end for;
      end M;";
    let result = simulate(text, 1.0);
    let last = |name: &str| result.last(name).unwrap_or(f64::NAN);
    assert_eq!(["y", "k", "l", "v[1]", "v[2]"].map(last), [7.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn loops_over_ranges_at_run_time_may_assign_nothing() {
    let model = |statements: &str| {
        format!(
            "model M Integer u = if time > 0.5 then 3 else 2; Real y(start = 0);
             algorithm y := 5; {statements} end M;"
        )
    };
    let harmless = [
        "for i in 1:u loop end for;",
        "if time < 0.3 then for i in 1:u loop assert(time < 0.4, \"no\"); end for; end if;",
    ];
    for statements in harmless {
        assert_eq!(run(&model(statements), 1.0).end("y"), 5.0, "{statements}");
    }
    // 3·t reaches 2.4 at 0.8.
    let failing = [
        "for i in 1:u loop assert(i*time < 2.4, \"too large\"); end for;",
        "for i in 1:u loop if i > 2 then assert(i*time < 2.4, \"too large\"); end if; end for;",
    ];
    for statements in failing {
        let run = run(&model(statements), 1.0);
        assert!(run.failure().contains("too large"), "{statements}: {}", run.said);
        let end = run.result.time.last().copied().unwrap_or(f64::NAN);
        assert!((0.79..0.81).contains(&end), "{end}");
    }
}
