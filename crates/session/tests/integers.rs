//! Integers are exact: what goes beyond 2^53 - 1 is an error, whatever the result would be.

mod common;

use common::{run, run_messages, simulate};

const TOO_LARGE: &str = "an Integer is beyond 2^53 - 1, up to which Integers are exact";

#[test]
fn numbers_that_are_not_exact_end_the_run() {
    // 94906267² is the first square above 2^53; its last digit is 9.
    let cases = [
        "Integer y = mod(a*a, 10)",
        "Real y = mod(a*a, 10)",
        "Integer y = div(a*a + 1, 1) - a*a",
        "Boolean y = a*a + 1 > a*a + 1 - a",
        "Integer y = if a*a > 10 then 1 else 0",
        "Boolean y(start = false, fixed = true); equation when time > 0.75 then y = a*a*a > 3 or a < 0; end when",
        "Integer y(start = 0, fixed = true); equation when a*a > 3 then y = 1; end when",
        "Integer y; algorithm y := mod(a*a, 10)",
        "Integer y(start = 0, fixed = true); equation when time > 0.75 then y = mod(a*a, 10); end when",
    ];
    for case in cases {
        let text = format!("model M Integer a = if time > 0.5 then 94906267 else 3; {case}; end M;");
        let said = run(&text, 1.0).failure();
        assert!(said.contains(TOO_LARGE), "{case}: {said}");
    }
    let said = run_messages("model M parameter Integer a = 94906267; parameter Integer y = mod(a*a, 10); end M;");
    assert!(said.contains(TOO_LARGE), "{said}");
}

#[test]
fn counting_ends_before_numbers_are_rounded() {
    let text = "model M Integer a(start = 9007199254740990, fixed = true); Integer y = a - 9007199254740989;
      equation when sample(0.25, 0.25) then a = pre(a) + 1; end when; end M;";
    let run = run(text, 1.0);
    assert!(run.failure().contains(TOO_LARGE), "{}", run.said);
    assert_eq!(run.end("y"), 2.0);
}

/// One bound for functions too, whether they are evaluated at translation, written out, compiled or interpreted.
#[test]
fn functions_count_no_further_than_variables() {
    let model = |declarations: &str| {
        format!(
            "model M
               function digit input Integer n; output Integer d; protected Integer x = 1;
               algorithm for i in 1:n loop x := 3*x; end for; d := mod(x, 10); end digit;
               function power input Integer n; output Integer x = if n == 0 then 1 else 3*power(n - 1); algorithm end power;
               function square input Integer n; output Real y; algorithm y := mod(n*n, 10); annotation(Inline = true); end square;
               function scalar input Integer n; output Integer y; protected Integer a[2] = {{n, n}}; algorithm
                 y := mod(a*a, 10); annotation(Inline = false); end scalar;
               Integer n = if time > 0.5 then 33 else 5; Integer m = if time > 0.5 then 94906267 else 3;
               {declarations}; end M;"
        )
    };
    let result = simulate(&model("Integer d = digit(n); Integer f = power(n); Integer s = scalar(n)"), 1.0);
    let last = |name: &str| result.last(name);
    assert_eq!([last("d"), last("f"), last("s")], [Some(3.0), Some(5_559_060_566_555_523.0), Some(8.0)]);
    let failing = [
        "Integer d = digit(n + 1)",
        "Integer d = power(n + 1)",
        "Real d = square(m)",
        "Integer d = scalar(m)",
        "parameter Integer d = digit(34)",
        "parameter Integer d = scalar(94906267)",
        "parameter Integer d = mod(94906267*94906267, 10)",
        "Integer d; algorithm when time > 0.7 then d := scalar(m); end when",
    ];
    for declarations in failing {
        let said = run_messages(&model(declarations));
        assert!(said.contains("is beyond 2^53 - 1"), "{declarations}: {said}");
    }
}

#[test]
fn literals_of_reals_may_be_larger() {
    let text = "model M Real x = 20000000000000000*time; Real y = 9007199254740993 + time; end M;";
    let result = simulate(text, 1.0);
    assert_eq!((result.last("x"), result.last("y")), (Some(2e16), Some(9_007_199_254_740_993.0)));
}
