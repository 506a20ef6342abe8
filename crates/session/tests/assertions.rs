//! Assertions see the values of their own instant, also where nothing but results needs those values.

mod common;

use common::ending;
use simulate::Ending;

const NEAR: &str = "function near
    input Real a;
    input Real b;
    output Boolean y;
  protected
    Real difference;
  algorithm
    difference := abs(a - b);
    y := difference < 1e-10 or difference <= max(abs(a), abs(b))*1e-5;
  end near;";

#[test]
fn an_assertion_sees_what_is_computed_for_results_only() {
    let model = "model M
        Real x;
        Real z(start = 0, fixed = true);
      equation
        x = 2*time;
        der(z) = cos(50*time);
        assert(near(x, 2*time), \"x lags behind\");
      end M;";
    assert_eq!(ending(&format!("{NEAR}\n{model}")), Ending::Complete);
}

#[test]
fn an_assertion_of_a_function_fails_when_it_should() {
    let model = "model M
        Real x;
        Real z(start = 0, fixed = true);
      equation
        x = 2*time;
        der(z) = cos(50*time);
        assert(near(min(x, 1), x), \"x passes 1\");
      end M;";
    let Ending::Failed { time, diagnostic } = ending(&format!("{NEAR}\n{model}")) else { panic!("it should fail") };
    assert_eq!(diagnostic.code, "assertion");
    assert!((0.5..=1.0).contains(&time), "{time}");
}

/// What makes no event is looked at after each step, inside of an `if` as outside; in a when clause at its event only.
#[test]
fn an_assertion_in_a_branch_counts_between_events() {
    let failing = [
        "equation if y > -1 then assert(noEvent(y < 0.5), \"late\"); end if;",
        "algorithm if b then assert(noEvent(y < 0.5), \"late\"); end if;",
    ];
    let model = |section: &str| {
        format!(
            "model M parameter Boolean b = true; Real y(start = 0, fixed = true); equation der(y) = 1; {section} end M;"
        )
    };
    for section in failing {
        let Ending::Failed { time, diagnostic } = common::ending(&model(section)) else { panic!("{section}") };
        assert!((0.5..=1.0).contains(&time) && diagnostic.message.contains("late"), "{time}: {diagnostic:?}");
    }
    let passing = [
        "equation if y > 2 then assert(noEvent(y < 0.5), \"late\"); end if;",
        "algorithm when time > 0.3 then assert(noEvent(y < 0.5), \"late\"); end when;",
        "algorithm when sample(0, 0.4) then assert(noEvent(y < 0.9), \"late\"); end when;",
    ];
    for section in passing {
        assert_eq!(common::ending(&model(section)), Ending::Complete, "{section}");
    }
}
