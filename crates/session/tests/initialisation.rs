//! The initial problem (specification 8.6; source document 000, parts 5.4 and 5.6): what is given too often, too seldom, or
//! in contradiction, and which start values count.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_near, complete, run, run_messages, simulate};
use expect_test::expect;

/// The first value of a variable.
fn first(text: &str, name: &str) -> f64 {
    simulate(text, 0.1).at(name, 0.0).unwrap()
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} instead of {expected}");
}

const STARTS: &str = "
  model Direct
    Real x(start = 4.0);
    Real y(start = 5.0);
  equation
    der(x) = 0;
    x = y;
  end Direct;
  model ByParameter
    parameter Real first = 4.0, second = 5.0;
    Real x(start = first);
    Real y(start = second);
  equation
    der(x) = 0;
    x = y;
  end ByParameter;
  model Single
    parameter Real given = 4.0;
    Real x(start = given);
  end Single;
  model Wrapped
    parameter Real given = 4.0;
    Single inside(given = given);
  end Wrapped;
";

/// The start value that was written nearest to the top counts, also through parameters (8.6.2).
#[test]
fn start_values_set_further_up_count_more() {
    let top = |text: &str| format!("model Top {STARTS} {text} end Top;");
    near(first(&top("Direct m(x(start = 3.0));"), "m.x"), 3.0);
    near(first(&top("Direct m(y(start = 3.0));"), "m.x"), 3.0);
    near(first(&top("ByParameter m(first = 3.0);"), "m.x"), 3.0);
    near(first(&top("ByParameter m(second = 3.0);"), "m.x"), 3.0);
    let joined = |first: &str, second: &str| top(&format!("{first} {second} equation der(a.x) = 0; a.x = b.inside.x;"));
    near(first(&joined("Single a;", "Wrapped b(given = 3.0);"), "a.x"), 3.0);
    near(first(&joined("Single a(given = 2.0);", "Wrapped b;"), "a.x"), 2.0);
}

#[test]
fn a_fixed_start_value_counts_more_than_any_other() {
    let text = "model Top
      model Inner Real x(start = 4, fixed = true); equation der(x) = 0; end Inner;
      Inner a;
      Real y(start = 7) = a.x;
    end Top;";
    near(first(text, "y"), 4.0);
}

#[test]
fn conditions_that_follow_from_others_are_accepted() {
    // Both speeds are given although the gear leaves one free.
    let text = "model Gear
      Real w1(start = 6, fixed = true), w2(start = 3, fixed = true), tau;
    equation
      w1 = 2*w2;
      der(w1) = 1 - tau;
      4*der(w2) = 2*tau;
    end Gear;";
    near(first(text, "w2"), 3.0);
    near(first(text, "tau"), 0.5);
}

#[test]
fn a_constant_contradicts_its_fixed_start_value() {
    expect![[r#"
        error[inconsistent-initial-conditions]: the initial condition `x = 1` contradicts the others: it is violated by 1
          --> case.mo:3:12
           |
         3 |       Real x(start = 1, fixed = true), y;
           |            ^ a fixed start value
           = x = 1, a fixed start value of `x`
           = `x` is 2 by the equations
           = help: leave one of the values open (`fixed = false`); it is then computed from the others
    "#]]
    .assert_eq(&run_messages(
        "model Held
      parameter Real p = 2;
      Real x(start = 1, fixed = true), y;
    equation
      der(x) = y;
      x = p;
    end Held;",
    ));
    // The value that follows from the equations may be given as well.
    near(first("model Held Real x(start = 2, fixed = true); equation x = 2; end Held;", "x"), 2.0);
}

#[test]
fn parameters_found_from_the_initial_state() {
    // The resting position of a spring under load: the parameter that is not fixed is found from it.
    let text = "model Load
      parameter Real m(fixed = false, start = 1), g = 10, c = 50;
      Real x(start = 0.4, fixed = true), v(start = 0, fixed = true);
    initial equation
      der(v) = 0;
    equation
      der(x) = v;
      m*der(v) = m*g - c*x;
    end Load;";
    near(first(text, "m"), 2.0);
}

#[test]
fn homotopy_leads_to_the_solution_meant() {
    // Newton's method from the start value alone diverges: atan is nearly flat there.
    let text = "model Flat
      Real x(start = 30);
    equation
      homotopy(atan(x - 1), x - 1) = 0.5*time;
    end Flat;";
    near(first(text, "x"), 1.0);
}

/// Both branches have a solution in their own half; the guess says which one is meant.
#[test]
fn branches_of_a_nonlinear_system_are_first_those_of_the_start_value() {
    let root = |start: f64| {
        let text = format!("model M Real x(start = {start}); equation x ^ 3 = if x > 0 then 8 else -27; end M;");
        first(&text, "x")
    };
    near(root(1.0), 2.0);
    near(root(-1.0), -3.0);
}

/// The default of a type suits no unknown in particular: which solution is meant, the start value of the temperature says, also
/// where the density is what the iteration guesses. `(rho - 980)*(T - 1290) = 0` with `rho = 1300 - T` has two solutions.
#[test]
fn guesses_follow_from_start_values_of_the_model() {
    let package = |start: &str, component: &str| {
        format!(
            "package Media
               type Density = Real(start = 1);
               model Properties
                 Density rho;
                 Real T{start};
               equation
                 (rho - 980)*(T - 1290) = 0;
                 rho = 1300 - T;
               end Properties;
               model Volume
                 {component};
               end Volume;
             end Media;"
        )
    };
    let solution = |start: &str, component: &str| first(&package(start, component), "medium.rho");
    near(solution("(start = 310)", "Properties medium"), 980.0);
    near(solution("(start = 310)", "Properties medium(T(start = 1285))"), 10.0);
    near(solution("", "Properties medium(T(start = 330))"), 980.0);
    // What the model says about the density itself counts as well.
    near(solution("(start = 310)", "Properties medium(rho(start = 15))"), 10.0);
}

/// An unknown that is guessed begins where the equations put it for the start values of the others, however it is tied to them.
#[test]
fn guesses_follow_through_equations() {
    let near_start = |declarations: &str, equations: &str, name: &str, expected: f64| {
        let text = format!("model M {declarations} equation {equations} end M;");
        let found = first(&text, name);
        assert!((found - expected).abs() < 1e-8 * expected.abs(), "{equations}: {found} instead of {expected}");
    };
    near_start("Real T(start = 300); Real Tc;", "Tc = T - 273.15; (Tc - 26.85)*(Tc - 2) = 0;", "T", 300.0);
    near_start("parameter Real k = 2; Real x(start = -4.2), z;", "z = k*x; (z + 8)*(z + 7) = 0;", "x", -4.0);
    near_start("Real v(start = 4.2), i;", "v = 10 - 2*i; (v - 4)*(i - 1) = 0;", "v", 4.0);
    near_start(
        "Real w(start = 0, fixed = true), x(start = -4.2), z;",
        "der(w) = 1; z = x + w; (z + 4)*(z + 3.5) = 0;",
        "x",
        -4.0,
    );
    // Two equations lie between the unknown and the start value.
    near_start("Real x(start = 6.1), y, z;", "x = 2*y; y = z + 1; (z - 2)*(z - 0.5) = 0;", "x", 6.0);
    // A logarithm has no value where guesses begin with zero.
    let log = "Tc = T - 273.15; sqrt(Tc - 10) + log(Tc) = sqrt(16.85) + log(26.85);";
    near_start("Real T(start = 300); Real Tc;", log, "T", 300.0);
}

/// What a tearing solves for has a start value, too. By the second equation `x0` begins far away, since its factor is small:
/// -0.03 in place of 1.46. Newton's method for both unknowns leads from (1.4566, 1.3508) to the solution at (1.3910, 1.3809).
#[test]
fn a_tearing_does_not_contradict_start_values() {
    let text = "model M
      Real x0(start = 1.4566442154127255);
      Real x1(start = 1.3508282865924994);
    equation
      2.5*x1 + 0.95*exp(0.5*x0) - 1.85*x0*x0 - 0.89*sqrt(abs(x0) + x1^2) = 0.1610536084233496;
      2.5*x0 - 2.78*x0 + 2.44*x1^3 - 2.11*sin(x1) = 3.9641332372778235;
    end M;";
    let (x0, x1) = (first(text, "x0"), first(text, "x1"));
    let one = 2.5 * x1 + 0.95 * (0.5 * x0).exp() - 1.85 * x0 * x0 - 0.89 * (x0.abs() + x1 * x1).sqrt();
    assert!((one - 0.1610536084233496).abs() < 1e-8);
    assert!((-0.28 * x0 + 2.44 * x1.powi(3) - 2.11 * x1.sin() - 3.9641332372778235).abs() < 1e-8);
    assert!((x0 - 1.391).abs() < 1e-3 && (x1 - 1.381).abs() < 1e-3, "({x0}, {x1})");
}

#[test]
fn missing_conditions_are_taken_from_start_values_with_a_notice() {
    let text = "model Free
      Real x(start = 3), v;
    equation
      der(x) = v;
      der(v) = -x;
    end Free;";
    near(first(text, "x"), 3.0);
    expect![[r#"
        note[start-value-used]: initial conditions are missing; the start values of `x`, `v` are used
           = help: set `fixed = true` or write initial equations
           = see: Modelica specification, section 8.6
    "#]]
    .assert_eq(&run_messages(text));
}

/// Fixed start values of capacitors that are always in parallel contradict each other in every mode, whatever is switched
/// beside them: none of them is dropped.
#[test]
fn start_values_that_contradict_each_other_in_every_mode() {
    let text = |start: f64, beside: &str| {
        format!(
            "model M
              Real a(start = -0.5, fixed = true), b(start = {start}, fixed = true), c(start = 2, fixed = true), i, j, k, s;
            equation
              a = b;
              der(a) = i - k;
              2*der(b) = -i;
              4*der(c) = j;
              {beside}
            end M;"
        )
    };
    let switch = "j = k; s = 0; 0 = if time < 1 then c - a else j;";
    let diode = "j = 0; -a = if s < 0 then s else 0; -k = if s < 0 then 0 else s;";
    for beside in [switch, diode] {
        let run = run(&text(0.25, beside), 0.5);
        for part in ["error[inconsistent-initial-conditions]", "`a`", "`b`"] {
            assert!(run.said.contains(part), "{}", run.said);
        }
    }
    // What only the switch contradicts are values just before the start: 3·(-0.5) + 4·2 is shared by 7.
    let run = complete(&text(-0.5, switch), 0.5, 1e-6);
    assert_near(run.end("a"), 6.5 / 7.0, 1e-12);
    assert!(run.warnings.iter().any(|warning| warning.contains("just before the start")), "{:?}", run.warnings);
}

/// What is constant after initialisation need not be so during it.
#[test]
fn a_constant_that_begins_with_another_value() {
    let text = "model M
          parameter Real p(fixed = false), q(fixed = false), r(fixed = false);
          Real x = if initial() then 5 else 1;
          Real alias = x, sum = x + alias;
          Real i = if initial() then 1 else 0;
          Real a[2] = if initial() then {2, 3} else {0, 1};
          Integer n = if initial() then 7 else 2;
          Boolean b = initial();
          Real s;
          Real y(start = 0, fixed = true);
          Integer k(start = 0, fixed = true), m(start = 0, fixed = true);
        algorithm
          s := 1;
          if initial() then
            s := 4;
          end if;
        equation
          der(y) = i + 1;
          when initial() then
            k = integer(x);
            m = n + (if b then 10 else 0) + integer(s);
          end when;
        initial equation
          p = sum;
          q = der(y);
          r = a[1]*a[2];
        end M;";
    let result = common::simulate(text, 1.0);
    let end = |name: &str| result.last(name).unwrap();
    assert_eq!((end("k"), end("p"), end("q"), end("r"), end("m")), (5.0, 10.0, 2.0, 6.0, 21.0));
    assert_eq!((end("x"), end("sum"), end("a[2]"), end("n"), end("s")), (1.0, 2.0, 1.0, 2.0, 1.0));
    assert!((end("y") - 1.0).abs() < 1e-9);
}

/// No start values, and no residuals at zero nor beside it: the limits of the unknowns say where to look.
#[test]
fn limits_lead_to_where_equations_have_a_meaning() {
    let text = "model M Real p(min = 10), q(max = -6); equation
        log(p - 9) + 0.1*q = log(3) - 0.8; log(-5 - q) + 0.1*p = log(3) + 1.2; end M;";
    near(first(text, "p"), 12.0);
    near(first(text, "q"), -8.0);
    let without = text.replace("(min = 10)", "").replace("(max = -6)", "");
    assert!(run_messages(&without).contains("has no finite value"));
}

/// Roots and powers are vertical at zero, where unknowns begin that have no start value: that is no solution.
#[test]
fn a_vertical_slope_at_the_start_is_no_solution() {
    let solved = [
        ("3 + time = 2*sqrt(x)", 4.0),
        ("sqrt(x) + x = 2 + time", 1.6972243622680054),
        ("x^0.8 = 2 + time", 3.948222038857477),
        ("sqrt(1 - x) = 0.5 + time", -1.25),
        ("sqrt(sqrt(x)) = 2 + time", 81.0),
        ("x^(1/3) = 2", 8.0),
    ];
    for (equation, expected) in solved {
        let run = common::complete(&format!("model M Real x; equation {equation}; end M;"), 1.0, 1e-6);
        let found = run.end("x");
        assert!((found - expected).abs() < 1e-8 * expected.abs(), "{equation}: {found}");
    }
    for equation in ["sqrt(x) = -1", "x^0.5 = -1", "sqrt(x) = 1 - 2*time", "1/x = 0"] {
        let run = common::run(&format!("model M Real x; equation {equation}; end M;"), 1.0);
        assert_ne!(run.ending, session::Ending::Complete, "{equation} has no solution");
    }
}
