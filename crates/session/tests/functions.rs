//! Functions as the program computes them while it runs.

mod common;

use common::{assert_near, complete, ending};
use simulate::Ending;

#[test]
fn functions_that_are_inputs_get_some_of_their_inputs() {
    // ∫∫ x·y over the unit square by the rectangle rule at the middles: exact for what is linear in each.
    let text = "partial function Curve input Real x; output Real z; end Curve;
      partial function Surface input Real x; input Real y; output Real z; end Surface;
      function middle
        input Curve f;
        input Integer n;
        output Real area = 0;
      algorithm
        for i in 1:n loop
          area := area + f((i - 0.5)/n)/n;
        end for;
      end middle;
      function once
        input Real x;
        input Surface f;
        input Integer n;
        output Real area;
      algorithm
        area := middle(function f(y = x), n);
      end once;
      function volume
        input Surface f;
        input Integer n;
        output Real y;
      algorithm
        y := middle(function once(f = f, n = n), n);
      end volume;
      function saddle
        extends Surface;
        input Real k;
      algorithm
        z := k*x*y;
      end saddle;
      model M
        Real v = volume(function saddle(k = 8*time), 10);
        Real z(start = 0, fixed = true);
      equation
        der(z) = v;
        assert(abs(v - 2*time) < 1e-12, \"the volume is wrong\");
      end M;";
    assert_eq!(ending(text), Ending::Complete);
}

/// The last values of variables of a run over one second.
fn ends(text: &str, names: &[&str]) -> Vec<f64> {
    let result = common::simulate(text, 1.0);
    names.iter().map(|name| result.last(name).unwrap_or(f64::NAN)).collect()
}

#[test]
fn declared_values_are_taken_on_entry_and_kept_where_nothing_is_assigned() {
    let text = "model M
        function f
          input Real x;
          output Real y[2] = {5, 6};
          output Real z;
        protected
          Real s = sum(y);
        algorithm
          y[2] := x;
          z := s;
        end f;
        Real y[2];
        Real z;
        parameter Real p[2] = f(4);
      equation
        (y, z) = f(time);
      end M;";
    assert_eq!(ends(text, &["y[1]", "y[2]", "z", "p[1]", "p[2]"]), [5.0, 1.0, 11.0, 5.0, 4.0]);
}

#[test]
fn functions_call_themselves_and_each_other() {
    let text = "package P
      function deep input Integer n; output Integer r = if n < 2 then n else deep(n - 1) + deep(n - 2); algorithm end deep;
      function wide input Integer n; output Integer r;
      protected Real w[if n <= 0 then 0 else wide(n - 1)]; algorithm r := size(w, 1) + 1; end wide;
      function fib input Integer n; output Integer r; algorithm r := if n < 2 then n else fib(n - 1) + fib(n - 2); end fib;
      function even input Integer n; output Boolean r; algorithm r := if n == 0 then true else odd(n - 1); end even;
      function odd input Integer n; output Boolean r; algorithm r := if n == 0 then false else even(n - 1); end odd;
      model M
        Integer n = if time > 0.5 then 10 else 3;
        Integer r = fib(n);
        Boolean e = even(n);
        parameter Integer p = fib(12);
        // Billions of calls, if each were made.
        parameter Integer q = fib(50);
        Integer d = deep(5*n);
        Integer w = wide(n);
      end M;
      end P;";
    let expected = [55.0, 1.0, 144.0, 12_586_269_025.0, 12_586_269_025.0, 11.0];
    assert_eq!(ends(text, &["r", "e", "p", "q", "d", "w"]), expected);
}

#[test]
fn loops_at_run_time_are_left_and_returned_from() {
    // The first k from 1 whose square is not below x*n, found by break; the sum up to it, by return.
    let text = "model M
        function first
          input Real x;
          input Integer n;
          output Integer k = 0;
        algorithm
          while true loop
            k := k + 1;
            if k^2 >= x*n then
              break;
            end if;
          end while;
        end first;
        function total
          input Real x[:];
          input Integer n;
          output Real s = 0;
        algorithm
          for i in 1:n loop
            for j in i:size(x, 1) loop
              if s > 10 then
                return;
              end if;
              s := s + x[j];
            end for;
          end for;
          s := -s;
        end total;
        Integer n = integer(4*time + 0.5);
        Integer k = first(10, n);
        Real s = total({1, 2, 3, 4}, n);
        Real t = total({1, 2, 3, 4}, 1);
      end M;";
    // 4 turns: 1+2+3+4 = 10, then 2 more.
    assert_eq!(ends(text, &["k", "s", "t"]), [7.0, 12.0, -10.0]);
}

#[test]
fn what_is_wrong_in_a_function_ends_the_run() {
    let wrong = |function: &str, call: &str| {
        let text =
            format!("model M function f {function} end f; Integer n = integer(5*time + 1); Real y = {call}; end M;");
        ending(&text)
    };
    let cases = [
        ("input Integer i; input Real v[:]; output Real y; algorithm y := v[i];", "f(n, {1, 2, 3})"),
        ("input Integer i; input Real v[:, :]; output Real y; algorithm y := v[1, i];", "f(n, {{1, 2, 3}, {4, 5, 6}})"),
        (
            "input Integer i; output Real y; protected Real v[3]; algorithm v := {1, 2, 3}; v[i] := 9; y := v[1];",
            "f(n)",
        ),
        ("input Real v[n]; input Integer n; output Real y; algorithm y := v[1];", "f({1, 2, 3}, n + 2)"),
        ("input Real x; output Real y; protected Real t; algorithm y := if x > 0.5 then t else x;", "f(time)"),
        ("input Integer i; output Real y; algorithm assert(i < 4, \"too large\"); y := 1;", "f(n)"),
        (
            "input Integer i; output Integer y; algorithm y := 4503599627370; for k in 1:i loop y := y*1000; end for;",
            "f(n)",
        ),
    ];
    for (function, call) in cases {
        assert!(matches!(wrong(function, call), Ending::Failed { .. }), "{function}");
    }
}

#[test]
fn a_statement_that_loops_at_run_time_leaves_the_others_as_they_are() {
    let text = "model M
        record R Real a; Real w; end R;
        R r;
        Integer m = integer(3*time + 0.5);
        Real z;
        Boolean b;
        discrete Real t0(start = -1, fixed = true);
        discrete Real s(start = 0, fixed = true);
      algorithm
        z := sum(1:m);
        r := R(2*time, z);
        r := R(a = r.w, w = r.a);
        b := time > 0.3;
        when sample(0.25, 0.25) then
          s := sum(k^2 for k in 1:m);
        end when;
      equation
        when b then
          t0 = time;
        end when;
      end M;";
    let found = ends(text, &["z", "r.a", "r.w", "t0", "s"]);
    let expected = [6.0, 6.0, 2.0, 0.3, 14.0];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }
}

#[test]
fn a_subscript_outside_of_its_array_ends_the_run() {
    let text = |index: &str| {
        format!("model M Integer n = integer(5*time + 1); Real v[3] = {{1, 2, time}}; Real y = {index}; end M;")
    };
    assert!(matches!(ending(&text("v[n]")), Ending::Failed { .. }));
    assert_eq!(ending(&text("if n <= 3 then v[n] else 0")), Ending::Complete);
    assert_eq!(ending(&text("if n <= 3 and v[n] > 0 then 1 else 0")), Ending::Complete);
    assert_eq!(ending(&text("v[min(n, 3)]")), Ending::Complete);
}

#[test]
fn inputs_that_a_partial_application_leaves_out_have_their_defaults() {
    let text = "model M
        partial function P input Real x; output Real y; end P;
        function g
          extends P;
          input Real a = x;
          input Real b = 1;
        algorithm
          y := a*100 + x*10 + b;
        end g;
        function ap input P f; input Real u; output Real y; algorithm y := f(u); end ap;
        Real y = ap(function g(b = 5), 2*time);
        parameter Real p = ap(function g(b = 5), 2);
      end M;";
    assert_eq!(ends(text, &["y", "p"]), [225.0, 225.0]);
}

#[test]
fn a_small_function_keeps_the_branch_around_a_call_that_is_not_written_out() {
    // `slow` loops at run time; the branch in it must not become the one in `f`.
    let text = "model M
        function slow
          input Real x;
          input Integer n;
          output Real y = 0;
        algorithm
          for i in 1:n loop
            y := if x > 0.1 then y + x else y - x;
          end for;
        end slow;
        function f
          input Real x;
          input Integer n;
          output Real y;
        algorithm
          y := if n > 2 then 100 else slow(x, n);
        end f;
        Integer n = if time > 0.5 then 3 else 2;
        Real y = f(time, n);
      end M;";
    let result = common::simulate(text, 1.0);
    assert_eq!(result.last("y"), Some(100.0));
    assert_eq!(result.at("y", 0.25), Some(0.5));
}

#[test]
fn a_boolean_subscript_counts_from_false() {
    let text = "model M
        function pick input Real x[Boolean]; input Boolean b; output Real y; algorithm y := x[b]; end pick;
        Real x[Boolean] = {1, 2};
        Boolean b = time > 0.5;
        Real y = x[b];
        Real z = pick({3, 4}, b);
        Real w[Boolean];
      algorithm
        w := {5, 6};
        w[b] := 7;
      end M;";
    let result = common::simulate(text, 1.0);
    let at = |name: &str, time: f64| result.at(name, time).unwrap_or(f64::NAN);
    assert_eq!([at("y", 0.25), at("y", 1.0), at("z", 0.25), at("z", 1.0)], [1.0, 2.0, 3.0, 4.0]);
    assert_eq!([at("w[1]", 0.25), at("w[2]", 0.25), at("w[1]", 1.0), at("w[2]", 1.0)], [7.0, 6.0, 5.0, 7.0]);
}

/// x^3 + 3*x = 2 by Cardano's formula, which the annotation gives.
#[test]
fn a_function_is_solved_by_its_inverse() {
    let text = "model M
        function f
          input Real u;
          input Real a;
          output Real y;
        algorithm
          y := u^3 + a*u;
          annotation(inverse(u = g(y, a)));
        end f;
        function g
          input Real y;
          input Real a;
          output Real u;
        protected
          Real d;
        algorithm
          d := sqrt((y/2)^2 + (a/3)^3);
          u := (y/2 + d)^(1/3) - (d - y/2)^(1/3);
          annotation(inverse(y = f(u, a)));
        end g;
        Real x;
      equation
        f(x, 3) = 1 + time;
      end M;";
    let listing = common::equations(text);
    assert!(listing.contains("x := M.g(1 + time, 3)"), "{listing}");
    assert!((ends(text, &["x"])[0] - 0.596_071_637_983_321_5).abs() < 1e-14);
}

/// A fit that is off by some 1e-4 is no inverse: the equation is solved, so that the result is exact.
#[test]
fn an_inexact_inverse_is_not_used() {
    let text = "model M
        function f
          input Real u;
          input Real a;
          output Real y;
        algorithm
          y := u^3 + a*u;
          annotation(inverse(u = fit(y, a)), Inline = false);
        end f;
        function fit
          input Real y;
          input Real a;
          output Real u;
        algorithm
          u := 1.0001*y/(a + (y/a)^2);
        end fit;
        Real x;
      equation
        f(x, 3) = 1 + time;
      end M;";
    let listing = common::equations(text);
    assert!(!listing.contains("M.fit("), "{listing}");
    // The root of x^3 + 3*x = 2.
    assert!((ends(text, &["x"])[0] - 0.596_071_637_983_321_5).abs() < 1e-9);
}

#[test]
fn a_rounding_of_what_turns_out_to_be_constant() {
    let text = "model M
        function f input Real u; output Real y; algorithm
          y := 3.3;
          for i in 1:2 loop if u > 100 then break; end if; end for;
        end f;
        Integer y = integer(f(1.5*time + 0.01));
        Integer z;
      algorithm
        z := integer(10*f(time));
      end M;";
    assert_eq!(ends(text, &["y", "z"]), [3.0, 33.0]);
}

/// The call whose result nobody needs is executed all the same, also where its caller would be written out.
#[test]
fn an_assertion_counts_where_the_result_is_not_needed() {
    for body in [
        "protected Real t; algorithm t := f(x); y := 2;",
        "protected Real t = f(x); algorithm y := 2;",
        "algorithm y := 0*f(x);",
    ] {
        let text = format!(
            "model M
               function f input Real x; output Real y; algorithm assert(x < 0.5, \"too big\"); y := x; end f;
               function g input Real x; output Real y; {body} end g;
               Real z = g(time);
             end M;"
        );
        let Ending::Failed { time, diagnostic } = ending(&text) else { panic!("{text}") };
        assert!((time - 0.5).abs() < 0.01, "{time}");
        assert!(diagnostic.message.contains("too big"), "{}", diagnostic.message);
    }
}

/// A term that vanishes because a parameter is zero is left out of its equation, but not what it asserts.
#[test]
fn an_assertion_counts_where_its_term_vanishes() {
    let model = |rest: &str| {
        format!(
            "model M
               function f input Real x; output Real y; algorithm assert(x < 0.5, \"too big\"); y := x; end f;
               function twice input Real x; output Real y; algorithm y := 2*f(x); end twice;
               parameter Real p = 0; {rest} end M;"
        )
    };
    for rest in [
        "Real x, y; equation x + p*f(y) = 1; y = time;",
        "Real x(start = 0, fixed = true); equation der(x) = 1 + p*f(x);",
        "Real x, y; equation x + p*twice(y)/2 = 1; y = time;",
        "Real x; equation p*f(time)*x = x - 1;",
        "Real x, y; equation x = y + (if y > 0.2 then p*f(y) else 0); y = time;",
    ] {
        let Ending::Failed { time, diagnostic } = ending(&model(rest)) else { panic!("{rest}") };
        // Assertions are looked at where steps end.
        assert!((0.5..=1.0).contains(&time), "{rest} {time}");
        assert!(diagnostic.message.contains("too big"), "{}", diagnostic.message);
    }
    for rest in [
        "Real x, y; equation x = y + (if y < 0.2 then p*f(y) else 0); y = time;",
        "Real x, y; equation x + p*f(y) = 1; y = time/4;",
        "Real x, y; equation p*f(x - y) = x - y; y = time;",
    ] {
        assert_eq!(ending(&model(rest)), Ending::Complete, "{rest}");
    }
}

/// `r.b[1]` is the first of each `b` (10.5), whether it is read or assigned.
#[test]
fn subscripts_at_a_field_of_an_array_of_records_belong_to_the_field() {
    let text = "model M
        record R Real a; Real b[2]; end R;
        function f
          input R r[3];
          input Integer k;
          output Real s[4];
        protected
          R own[3] = r;
        algorithm
          s[1] := sum(r.b[1]);
          s[2] := sum(r.b[end]);
          s[3] := sum(r[2:3].b[k]);
          own.b[2] := {7, 8, 9};
          s[4] := own[3].b[2] + sum(own.b[1]);
        end f;
        parameter R r[3] = {R(1, {2, 3}), R(2, {0, 5}), R(4, {1, 10})};
        Real s[4] = f(r, if time < 2 then 2 else 1);
      end M;";
    assert_eq!(ends(text, &["s[1]", "s[2]", "s[3]", "s[4]"]), [3.0, 18.0, 15.0, 12.0]);
}

/// `{e for i in …, j in …}` is `{{e for i in …} for j in …}`, so that the range of `i` may use `j` (10.4.1.1).
#[test]
fn the_last_iterator_of_an_array_is_the_outermost() {
    let text = "model M
        constant Integer j = 5;
        Real x[2,1] = {i for i in j:j, j in 1:2};
        Real y = sum(i*k for i in 1:k, k in 1:3) + time;
      end M;";
    assert_eq!(ends(text, &["x[1,1]", "x[2,1]", "y"]), [1.0, 2.0, 1.0 + 6.0 + 18.0 + 1.0]);
}

/// Iterators, constants and parameters keep their values (11.2.2, 3.8), final inputs theirs, and what sums takes an array.
#[test]
fn what_must_not_change_is_not_assigned() {
    let cases = [
        ("function f input Real u; output Real y = 0; algorithm for i in 1:2 loop i := i + 1; end for; end f;", "loop variable"),
        ("function f input Real u; output Real y; protected constant Real c = 1; algorithm c := 2; y := c; end f;", "constant"),
        ("function f input Real u; output Real y; protected parameter Real c = 1; algorithm c := u; y := c; end f;", "parameter"),
        ("function g input Real u; input Real k = 2; output Real y = k*u; algorithm end g; function f = g(final k = 3);
          Real z = f(time, 4);", "is final"),
        ("function f input Real u; output Real y; algorithm y := sum(u); end f;", "needs an array"),
    ];
    for (text, expected) in cases {
        let said = common::messages(&format!("model M {text} Real y = f(time); end M;"));
        assert!(said.contains(expected), "{text}: {said}");
    }
}

/// What has no value is an error where it is read (12.4.4), also as an element of an array or a member of a record of which
/// other parts have one. Members that a function leaves out of a record that it returns are zero, unless it reads them.
#[test]
fn parts_without_value_are_not_read() {
    let model = |function: &str, declaration: &str| {
        format!("model M record R Real a; Real b; Real v[2]; end R; {function} {declaration} end M;")
    };
    let part =
        "function f input Real x; output Real s; protected Real y[3]; algorithm for i in 1:2 loop y[i] := x; end for;";
    let failing = [
        (format!("{part} s := sum(y); end f;"), "Real y = f(time);"),
        (format!("{part} s := y[3]; end f;"), "parameter Real y = f(2);"),
        (format!("{part} s := y[3]; end f;"), "discrete Real y; algorithm when time > 0.3 then y := f(time); end when;"),
        ("function f input Real x; output Real y[2]; algorithm y[1] := x; end f;".into(), "Real y[2] = f(time);"),
        ("function f input Real x; output Real y[2]; algorithm y[1] := x; end f;".into(), "parameter Real y[2] = f(2);"),
        (
            "function f input Real x; output Real y; protected R r; algorithm r.a := x; y := r.a + r.b; end f;".into(),
            "Real y = f(time);",
        ),
        (
            "function f input Real x; input Integer n; output Real y; protected Real v[3]; algorithm v[n] := x; y := v[2]; end f;"
                .into(),
            "Real y = f(time, if time > 0.5 then 1 else 2);",
        ),
        (
            "function f input Real x; output R r; algorithm r.a := x; r.v[1] := x; r.b := 1; end f;".into(),
            "R r = f(time); Real y = r.v[1];",
        ),
        (
            "function f input Real x; output R r; algorithm r.a := x; r.v := {1, 2}; if x > 2 then r.b := 1; end if;
               r.a := r.a + r.b; end f;"
                .into(),
            "R r = f(time); Real y = r.a;",
        ),
        (
            "function f input Integer n; output Integer y = 0; protected Integer v[9]; algorithm
               for i in 1:n loop v[i] := i; end for; for i in 1:9 loop y := if v[i] > 0 then y + 1 else y; end for; end f;"
                .into(),
            "Integer y = f(if time > 0.5 then 9 else 8);",
        ),
        (
            "function g input Real a; input Real b; output Real y; algorithm y := if a > 0.5 then a + b else a; end g;
             function f input Real x; output Real y; protected R r; algorithm r.a := x; y := g(r.a, r.b); end f;"
                .into(),
            "Real y = f(time);",
        ),
        (
            "function g input Real a; input Real b; output Real y; algorithm y := if b > 0.5 then 1 else a; end g;
             function f input Real x; output Real y; protected Real v[2]; algorithm v[1] := x; y := g(x, v[2]); end f;"
                .into(),
            "Real y = f(time);",
        ),
    ];
    for (function, declaration) in &failing {
        let said = common::run_messages(&model(function, declaration));
        assert!(said.contains("value"), "{function} {declaration}: {said}");
    }
    let passing = [
        (format!("{part} s := y[2]; end f;"), "Real y = f(time);", 1.0),
        (
            "function f input Real x; output R r; algorithm r.a := x; r.v[1] := x; r.v[2] := 3; end f;".into(),
            "R r = f(time); Real y = r.a + r.b + r.v[2];",
            4.0,
        ),
        (
            "function f input Real x; output R r; algorithm r.a := x; if x > 2 then r.b := 1; end if; r.v := {1, 3}; end f;"
                .into(),
            "R r = f(time); Real y = r.a + r.b + r.v[2];",
            4.0,
        ),
        (
            "function f input Real x; input Integer n; output Real y; protected Real v[3]; algorithm v[n] := x; y := v[n]; end f;"
                .into(),
            "Real y = f(time, if time > 0.5 then 1 else 2);",
            1.0,
        ),
        // Handed on to a function that does not read it.
        (
            "function g input Real a; input Real b; input Integer n; output Real y; algorithm
               if n > 1 then y := a + b; else y := 2*a; end if; end g;
             function f input Real x; output Real y; protected R r; Real v[2]; algorithm
               r.a := x; v[1] := x; y := g(r.a, r.b, 1) + g(x, v[2], 1); end f;"
                .into(),
            "parameter Real p = f(1); Real y = f(time) + p;",
            8.0,
        ),
    ];
    for (function, declaration, expected) in &passing {
        assert_eq!(common::run(&model(function, declaration), 1.0).end("y"), *expected, "{function}");
    }
}

/// It says so where nothing ever assigns such a member.
#[test]
fn members_that_are_never_assigned_are_named() {
    let text = "model M record R Real a; Real b; Real c; end R;
        function f input Real x; output R r; algorithm r.a := x; if x > 2 then r.c := 1; end if; end f;
        R r = f(time); end M;";
    let said = common::messages(text);
    assert!(said.contains("`M.f` returns `r` without a value of `b`"), "{said}");
    assert!(!said.contains("`c`"), "{said}");
}

/// First values of some fields of a record give the others none.
#[test]
fn fields_without_first_value_are_not_read() {
    let model = |function: &str, declaration: &str| {
        format!(
            "model M
               record R Real a = 1; Real b; end R;
               record S R r; Real c = 2; Real d[2]; end S;
               record V parameter Integer n = 2; Real v[n]; Real w[n] = {{1, 2}}; end V;
               {function} {declaration} end M;"
        )
    };
    let failing = [
        ("output Real y; protected R r; algorithm y := r.b + r.a;", "Real y = f(time);"),
        (
            "output Real y; protected R r; algorithm if x > 2 then r.b := 3; end if; y := r.b + r.a;",
            "Real y = f(time);",
        ),
        ("output Real y; protected S s; algorithm s.d[1] := x; y := s.d[2] + s.c;", "Real y = f(time);"),
        ("output Real y; protected S s; algorithm y := s.r.a + s.r.b;", "Real y = f(time);"),
        ("output Real y; protected R r[2]; algorithm r[1].b := x; y := r[2].b + r[2].a;", "Real y = f(time);"),
        ("output Real y; protected R r[2](a = {1, 2}); algorithm r[1].b := x; y := r[2].b;", "Real y = f(time);"),
        ("output Real y; protected V v; algorithm v.v[1] := x; y := v.v[2] + v.w[2];", "Real y = f(time);"),
        ("output R r; algorithm r.a := r.b + x;", "R r = f(time); Real y = r.a;"),
        ("output R r[2]; algorithm r[1].a := x;", "R r[2] = f(time); Real y = r[1].a;"),
        ("output Real y; protected R r; Real z = r.b + 1; algorithm y := z;", "Real y = f(time);"),
        ("output Real y; protected R r; algorithm y := r.b + r.a;", "parameter Real p = f(1); Real y = p;"),
    ];
    for (body, declaration) in failing {
        let said = common::run_messages(&model(&format!("function f input Real x; {body} end f;"), declaration));
        assert!(said.contains("value"), "{body} {declaration}: {said}");
    }
    let passing = [
        ("output Real y; protected R r; algorithm if x > -1 then r.b := 3; end if; y := r.b + r.a;", "", 4.0),
        ("output Real y; protected S s; algorithm s.d[1] := x; y := s.d[1] + s.c + s.r.a;", "", 4.0),
        ("output Real y; protected R r[2](a = {4, 5}); algorithm r[1].b := x; y := r[1].b + r[2].a;", "", 6.0),
        ("output Real y; protected S s; R q; algorithm q.b := x; s.r := q; y := s.r.b*x + s.c;", "", 3.0),
        ("output Real y; protected R r; R q; algorithm q := r; q.b := x; y := q.b + r.a;", "", 2.0),
        ("output Real y; protected V v; algorithm v.v[1] := x; y := v.v[1] + v.w[2];", "", 3.0),
    ];
    for (body, declaration, expected) in passing {
        let text =
            model(&format!("function f input Real x; {body} end f;"), &format!("Real y = f(time); {declaration}"));
        assert_eq!(common::run(&text, 1.0).end("y"), expected, "{body}");
    }
    // The derivative of such a function, by index reduction.
    let squared = "function f input Real x; output Real y; protected S s; R q[2](a = {4, 5}); algorithm q[2].b := x*x;
        s.r := q[2]; y := s.r.b + s.c; end f;";
    let text = model(squared, "Real x = time + 1; Real z = f(x); Real y = der(z);");
    assert_near(common::run(&text, 1.0).end("y"), 4.0, 1e-9);
    // What a returned record leaves out is zero, and named.
    let left_out = "function f input Real x; output S s; algorithm s.c := 5*x; end f;";
    let text = model(left_out, "S s = f(time); Real y = s.r.a + s.r.b + s.c + s.d[1] + s.d[2];");
    assert_eq!(common::run(&text, 1.0).end("y"), 6.0);
    let said = common::messages(&text);
    assert!(said.contains("`M.f` returns `s` without a value of `r.b`, `d`"), "{said}");
}

/// Products of operator records are chains of `'*'`, and a constructor that takes an array as it is comes before one that would
/// be applied to its elements.
#[test]
fn products_and_constructors_of_operator_records() {
    const COMPLEX: &str = "operator record C Real re; Real im;
        encapsulated operator 'constructor'
          function fromReal import C; input Real re; input Real im = 0; output C r(re = re, im = im); algorithm end fromReal;
          function fromVector import C; input Real v[2]; output C r(re = v[1], im = v[2]); algorithm end fromVector;
        end 'constructor';
        encapsulated operator '*'
          function times import C; input C a; input C b; output C r;
            algorithm r := C(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re); end times;
        end '*';
      end C;
      function power input C c; input Integer n; output C y; algorithm y := product(fill(c, n)); end power;";
    let run = common::run(
        &format!(
            "{COMPLEX} model M C a = C({{5, 6}}); C b = product({{C(1, 2), C(3, 4), C(time)}}); C c = power(C(1, time), 3);
               C d = product(C(i, time) for i in 1:2); end M;"
        ),
        1.0,
    );
    let value = |name: &str| (run.end(&format!("{name}.re")), run.end(&format!("{name}.im")));
    assert_eq!(value("a"), (5.0, 6.0));
    assert_eq!(value("b"), (-5.0, 10.0));
    assert_eq!(value("c"), (-2.0, 2.0));
    assert_eq!(value("d"), (1.0, 3.0));
}

/// Flow through three restrictions in series, as a library writes it: each direction has its own polynomial in the laminar region, so
/// that the annotation is true in the turbulent one only.
fn series(declaration: &str, equation: &str, drop: f64) -> String {
    format!(
        "function rate input Real dp; input Real k; output Real m;
         protected Real r = abs(dp)*k^2;
         algorithm m := if r > 1 then sign(dp)*sqrt(r) else (1.40625 + (0.15625*r^2 - 0.5625)*r^2)*dp*k^2;
         annotation(Inline = false, inverse(dp = fall(m, k))); end rate;
         function fall input Real m; input Real k; output Real dp;
         algorithm dp := if abs(m) > 1 then m*abs(m)/k^2 else (0.375 + (0.75 - 0.125*m^2)*m^2)*m/k^2;
         annotation(Inline = false, inverse(m = rate(dp, k))); end fall;
         model M {declaration} Real m, dp[3]; equation {equation}
           m = rate(dp[1], k[1]); m = rate(dp[2], k[2]); m = rate(dp[3], k[3]); sum(dp) = {drop}; end M;"
    )
}

#[test]
fn an_inverse_that_is_not_true_is_not_used() {
    // All restrictions have the same rate, so that r = dp·k² is the same in all of them: r·(1 + 1/4 + 1/9) = drop.
    let sum = 1.0 + 0.25 + 1.0 / 9.0;
    let coefficients = [("parameter Real k[3] = {1, 2, 3};", ""), ("Real k[3];", "k = {1, 2, 3}*(1 + time);")];
    for (declaration, equation) in coefficients {
        let grows = if equation.is_empty() { 1.0 } else { 4.0 };
        for (r, m) in [(0.5, (1.40625 + (0.15625 * 0.25 - 0.5625) * 0.25) * 0.5), (4.0, 2.0)] {
            let run = complete(&series(declaration, equation, r * sum / grows), 1.0, 1e-8);
            assert_near(run.end("m"), m, 1e-9);
            assert_near(run.end("dp[3]"), r / 9.0 / grows, 1e-9);
        }
    }
}

/// An inverse is tried, too, where a record is among its arguments.
#[test]
fn an_inverse_with_a_record_that_is_not_true_is_not_used() {
    let text = "model M
        record Shape Real k; Integer n; Boolean rough; end Shape;
        function rate input Real dp; input Shape shape; output Real m;
        algorithm m := shape.k*sign(dp)*abs(dp)^0.5; annotation(Inline = false, inverse(dp = fall(m, shape))); end rate;
        function fall input Real m; input Shape shape; output Real dp;
        algorithm dp := (if shape.rough then 0.9 else 1.0)*m*abs(m)/shape.k^2;
        annotation(Inline = false, inverse(m = rate(dp, shape))); end fall;
        parameter Shape smooth = Shape(k = 2, n = 1, rough = false), rough = Shape(k = 2, n = 1, rough = true);
        Real m = 1 + time, dp(start = 1);
      equation
        m = rate(dp, SHAPE);
      end M;";
    let smooth = text.replace("SHAPE", "smooth");
    assert!(common::equations(&smooth).contains("dp := M.fall("), "{}", common::equations(&smooth));
    for shape in ["smooth", "rough"] {
        assert_near(complete(&text.replace("SHAPE", shape), 1.0, 1e-6).end("dp"), 1.0, 1e-9);
    }
}

/// Nor where the equation has one unknown that follows from parameters: x = 3, where the annotation says 2.
#[test]
fn an_inverse_that_is_not_true_for_a_constant_is_not_used() {
    let model = |inverse: &str, equations: &str| {
        format!(
            "function f input Real x; input Real a = 2; output Real y; algorithm y := a*x; annotation(inverse(x = g(y, a))); end f;
             function g input Real y; input Real a = 2; output Real x; algorithm x := {inverse}; end g;
             model M parameter Real p = 6; Real x, z; equation {equations} end M;"
        )
    };
    let cases = [
        ("f(x) = 6; z = x;", [3.0, 3.0]),
        ("f(x) = p; z = x;", [3.0, 3.0]),
        ("f(x) - p = 0; f(z, 3) + f(1) = x + 2;", [3.0, 1.0]),
        ("f(f(x)) = 12; f(z, x) = x;", [3.0, 1.0]),
        ("f(x) = 0; f(z) = f(x) - p;", [0.0, -3.0]),
    ];
    for (equations, [x, z]) in cases {
        for inverse in ["y/3", "y/a", "y/a + (if abs(y) > 5 then 1 else 0)"] {
            let run = complete(&model(inverse, equations), 1.0, 1e-8);
            assert_near(run.end("x"), x, 1e-9);
            assert_near(run.end("z"), z, 1e-9);
        }
    }
    let listing = common::equations(&model("y/a", cases[1].0));
    assert!(listing.contains("g(p, 2)"), "{listing}");
}

/// A function that is called with more texts and numbers than there are versions of it.
#[test]
fn many_texts_as_arguments() {
    let calls: Vec<String> = (1..=20).map(|k| format!("part(\"n{k}\", {k}, x)")).collect();
    let names: Vec<String> = (1..=20).map(|k| format!("\"n{k}\"")).collect();
    let text = format!(
        "function place input String name; output Integer at = 0; protected String names[20] = {{{}}};
         algorithm for k in 1:20 loop if names[k] == name then at := k; end if; end for; end place;
         function part input String name; input Integer factor; input Real x; output Real y;
         protected Real z = x; algorithm for k in 1:100 loop z := z + x*factor; end for; y := z + place(name); end part;
         function all20 input Real x; output Real y; algorithm y := {}; end all20;
         model M Real y; equation y = all20(1 + time); end M;",
        names.join(", "),
        calls.join(" + ")
    );
    // Σ (x + 100·k·x + k) over k = 1 … 20, at x = 2.
    assert_near(complete(&text, 1.0, 1e-6).end("y"), 20.0 * 2.0 + 100.0 * 210.0 * 2.0 + 210.0, 1e-9);
}

/// A function that calls itself is interpreted; what it calls in its innermost turns is code after a while. Both give the same, and
/// numbers that are too large on the way are infinite in both.
#[test]
fn what_a_recursion_calls_often_is_the_same_as_code() {
    let text = "model M
        function half
          input Curve f;
          input Real a;
          input Real b;
          input Integer depth;
          output Real area;
        protected
          Real middle = (a + b)/2;
        algorithm
          if depth == 0 then
            area := (b - a)*f(middle);
          else
            area := half(f, a, middle, depth - 1) + half(f, middle, b, depth - 1);
          end if;
        end half;
        partial function Curve
          input Real x;
          output Real y;
        end Curve;
        function parabola
          extends Curve;
          input Real k;
          input Boolean guarded;
        algorithm
          y := if guarded then k/exp(1000*(1 + x)) else k*x^2;
        end parabola;
        function area
          input Real k;
          input Boolean guarded;
          output Real y;
        algorithm
          y := half(function parabola(k = k, guarded = guarded), 0, 1, 8);
        end area;
        Real y = area(time, false);
        Real z = area(time, true);
      end M;";
    let run = complete(text, 1.0, 1e-6);
    // The rule of the middle misses the integral of a parabola by h²/12.
    let expected = 1.0 / 3.0 - 1.0 / (12.0 * 256.0 * 256.0);
    assert_near(run.end("y"), expected, 1e-14);
    assert_near(run.at("y", 0.5), expected / 2.0, 1e-14);
    assert_eq!(run.end("z"), 0.0);
}
