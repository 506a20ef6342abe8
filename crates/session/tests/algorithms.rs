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

/// Loops at run time read and write members of the elements of arrays of records and components, and what stands in `noEvent`
/// sees what the loop assigned.
#[test]
fn loops_at_run_time_reach_members_of_arrays() {
    const TYPES: &str = "record R Real b[2]; Real c; end R; model C Real u = 2*time; Real v[2] = {1, 2}; end C;";
    let model = |declarations: &str, statements: &str| {
        format!(
            "{TYPES} model M Integer n = if time > 0.5 then 2 else 1; Real y; R r[2] = {{R({{1, 2}}, 3), R({{4, 5}}, 6)}};
               C c[2]; {declarations} algorithm y := 0; {statements} end M;"
        )
    };
    let cases = [
        ("", "for i in 1:n loop y := y + r[i].b[1] + r[i].c; end for;", 14.0),
        ("", "for i in 1:n loop y := y + sum(r[i].b) + sum(r.b[i]); end for;", 24.0),
        ("", "for i in 1:n loop y := y + c[i].u + c[i].v[i]; end for;", 7.0),
        (
            "R q[2];",
            "q := r; for i in 1:n loop q[i].b[2] := 10*i; end for; y := q[1].b[2] + q[2].b[2] + q[1].b[1];",
            31.0,
        ),
        ("R q[2];", "q := r; for i in 1:n loop q[i].b := {i, i}; end for; y := sum(q[2].b) + q[2].c;", 10.0),
        ("", "for i in 1:n loop y := y + (if noEvent(y < 0.5) then 1 else 10); end for;", 11.0),
    ];
    for (declarations, statements, expected) in cases {
        assert_eq!(run(&model(declarations, statements), 1.0).end("y"), expected, "{statements}");
    }
}

/// Relations in loops that run as often as values say make events, as those of loops that are written out.
#[test]
fn relations_in_loops_at_run_time_make_events() {
    let model = |statements: &str| {
        format!(
            "model M
               Integer n(start = 3, fixed = true), k(start = 0), c(start = 0, fixed = true);
               parameter Real v[3] = {{0.2137, 0.4551, 0.8013}};
               Real x(start = 0, fixed = true), z(start = 0, fixed = true), s, w;
             equation
               der(x) = 1; der(z) = w;
               when time > 5 then n = 1; end when;
               when change(k) then c = pre(c) + 1; end when;
             algorithm
               k := 0; s := x; {statements} w := k;
             end M;"
        )
    };
    let count = 3.0 - 0.2137 - 0.4551 - 0.8013;
    let cases = [
        ("for i in 1:n loop if x > v[i] then k := k + 1; end if; end for;", 3.0, count),
        ("for i in 1:n loop k := k + (if x > v[i] and x < v[i] + 1e-4 then 1 else 0); end for;", 6.0, 3e-4),
        ("k := sum(if x > v[i] then 1 else 0 for i in 1:n);", 3.0, count),
        ("for i in 1:n loop if x < v[i] then break; end if; k := i; end for;", 3.0, count),
        ("while s > 0.3 loop s := s - 0.3; k := k + 1; end while;", 3.0, 3.0 - 0.3 - 0.6 - 0.9),
        ("for i in 1:n loop k := k + integer(x + v[i]); end for;", 3.0, 0.2137 + 0.4551 + 0.8013),
        ("if x > 0.1 then for i in 1:n loop if x > v[i] then k := k + 1; end if; end for; end if;", 3.0, count),
        // Where one pair changes its order, the pair the other way round does so too.
        (
            "for i in 1:n loop for j in 1:n loop if i < 3 and j < 3 and i*x - i*i*0.2 > j*x - j*j*0.2 then k := i; end if;
             end for; end for;",
            1.0,
            0.6 + 2.0 * 0.4,
        ),
    ];
    for (statements, changes, integral) in cases {
        let run = run(&model(statements), 1.0);
        assert_eq!(run.end("c"), changes, "{statements}");
        let z = run.end("z");
        assert!((z - integral).abs() < 1e-7, "{statements}: {z} instead of {integral}");
    }
}

/// Relations of several loops that change at one instant change together: neither `x > c` nor `x < c` holds at it, and nobody
/// sees that.
#[test]
fn relations_of_several_loops_change_together() {
    for turns in ["Integer n = 1 + integer(time/7)", "constant Integer n = 1"] {
        let model = format!(
            "model M {turns}; Real x(start = 0, fixed = true); Integer m, c(start = 0, fixed = true);
             equation der(x) = 1; when change(m) then c = pre(c) + 1; end when;
             algorithm m := 0; for i in 1:n loop m := m + (if x > 0.581 then 1 else 0); end for;
               for i in 1:n loop m := m + (if x < 0.581 then 1 else 0); end for; end M;"
        );
        assert_eq!(run(&model, 1.0).end("c"), 0.0, "{turns}");
    }
}

/// What a loop computes is not frozen: no step that ends at an event of another kind looks behind a crossing that follows it.
#[test]
fn what_a_loop_computes_does_not_count_before_its_event() {
    for turns in ["Integer n = 1 + integer(time/7)", "constant Integer n = 1"] {
        let model = format!(
            "model M {turns}; Real x(start = 0, fixed = true), z(start = 0, fixed = true), w; Integer c(start = 0, fixed = true);
             equation der(x) = 1; der(z) = w; when x > 0.525 then c = pre(c) + 1; end when;
             algorithm w := 0; for i in 1:n loop w := w + (if x > 0.5251*i then 1000 else 0); end for; end M;"
        );
        let z = run(&model, 1.0).end("z");
        assert!((z - 474.9).abs() < 1e-7, "{turns}: {z}");
    }
}

/// A loop without an end stops with the place of the algorithm, wherever it stands.
#[test]
fn loops_without_an_end_are_refused_with_their_place() {
    let endless = "while y > 0 loop y := y + 1; end while;";
    let models = [
        format!("model M Real y; algorithm y := 1 + time; {endless} end M;"),
        format!("model M discrete Real y(start = 0, fixed = true); algorithm when time > 0.5 then y := 1 + time; {endless} end when; end M;"),
        format!("model M parameter Real y(fixed = false); initial algorithm y := 1 + time; {endless} end M;"),
        "model M Real y; Integer n = integer(time) + 2000000000; algorithm y := 0; for i in 1:n loop y := y + i; end for; end M;".to_owned(),
        format!("model M function f input Real x; output Real y; algorithm y := x; {endless} end f; Real y = f(1 + time); end M;"),
        "model M function f input Real x; output Real y; algorithm y := x;
           for i in 1:100000 loop for j in 1:100000 loop y := y + 1; end for; end for; end f; Real y = f(time); end M;".to_owned(),
    ];
    for text in models {
        let said = run(&text, 1.0).failure();
        assert!(said.contains("the evaluation takes too many steps"), "{text}: {said}");
        assert!(!said.contains('$') && !said.contains("relations"), "{said}");
        assert!(said.contains("case.mo:"), "there is no place: {said}");
    }
}

/// The interpreter hands a long loop over to machine code; the sum is that of all turns.
#[test]
fn long_loops_are_finished() {
    let text = "model M Real y; Integer n = integer(time) + 3000000;
        algorithm y := 0; for i in 1:n loop y := y + i; end for; end M;";
    assert_eq!(run(text, 1e-3).end("y"), 3_000_000.0 * 3_000_001.0 / 2.0);
}
