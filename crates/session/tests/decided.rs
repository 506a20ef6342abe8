//! What is decided for the user is said, and refused where that was asked for; warnings of assertions are reported once.

mod common;

use common::run;
use session::{Failed, Request, Session};
use simulate::Ending;

#[test]
fn a_parameter_without_a_value_is_reported_with_the_value_it_gets() {
    let run = run(
        "model R parameter Real k(start = 2); Real y = k*time; end R;
         model M parameter Real a; parameter Integer n; parameter Real unused; R r;
           parameter Real free(fixed = false); Real x(start = 1, fixed = true);
         initial equation free = 3*a;
         equation der(x) = -a*x + n + free; end M;",
        1.0,
    );
    assert_eq!(run.ending, Ending::Complete);
    for expected in
        ["`a` has no value; the default 0", "`n` has no value; the default 0", "`r.k` has no value; its start value 2"]
    {
        assert!(run.said.contains(expected), "{}", run.said);
    }
    assert_eq!(run.said.matches("has no value").count(), 3, "{}", run.said);
}

#[test]
fn strict_refuses_parameters_without_value() {
    let text = "model M parameter Real a; Real y = a*time; end M;";
    let mut session = common::session(text);
    let mut request = Request { target: "case.mo".to_owned(), ..Request::default() };
    request.transform.strict = true;
    let refused = refusal(&mut session, &request);
    assert!(refused.contains("error[parameter-without-value]"), "{refused}");
}

fn refusal(session: &mut Session, request: &Request) -> String {
    let outcome = session.flatten(request).and_then(|model| session.structure(model).map(|_| ()));
    assert!(matches!(outcome, Err(Failed::Model)), "{outcome:?}");
    session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect()
}

#[test]
fn an_assertion_of_level_warning_is_reported_once_with_its_first_time_and_its_count() {
    let run = run(
        "model M Real x = sin(2*3.14159265358979*3*time);
         equation assert(x < 0.5, \"x is large\", AssertionLevel.warning); end M;",
        1.0,
    );
    assert_eq!(run.ending, Ending::Complete);
    assert_eq!(run.said.matches("x is large (an").count(), 1, "{}", run.said);
    assert!(run.said.contains("fails at time 0.027"), "{}", run.said);
    assert!(run.said.contains("3 times in all"), "{}", run.said);
    assert_eq!(run.statistics.assertion_warnings, 3);
}

#[test]
fn assertions_in_when_clauses_and_at_the_start_warn_too() {
    let run = run(
        "model M parameter Real p = 2; Real x = time;
         equation assert(p < 1, \"p is large\", AssertionLevel.warning);
           when time > 0.5 then assert(x < 0.2, \"x is large\", AssertionLevel.warning); end when; end M;",
        1.0,
    );
    assert_eq!(run.ending, Ending::Complete);
    assert!(run.said.contains("p is large") && run.said.contains("fails at time 0)"), "{}", run.said);
    assert!(run.said.contains("x is large") && run.said.contains("fails at time 0.5)"), "{}", run.said);
}

#[test]
fn a_boolean_loop_with_several_solutions_is_reported() {
    // Two cross-coupled gates without memory; set and reset decide, between them nothing does.
    let gates = |s: &str| {
        run(
            &format!(
                "model M
  Boolean s = {s};
  Boolean r = time > 0.6;
  Boolean q, qn;
equation
  q = not (r or qn);
  qn = not (s or q);
end M;
"
            ),
            1.0,
        )
    };
    let said = gates("time > 0.2 and time < 0.4").said;
    assert!(said.contains("warning[ambiguous-loop]: `qn`, `q` depend on each other"), "{said}");
    assert!(said.contains("at time 0; the first one found was taken"), "{said}");
    assert!(
        said.contains("taken: qn = true, q = false") && said.contains("as consistent: qn = false, q = true"),
        "{said}"
    );
    assert!(said.contains("case.mo:6:3") && said.contains("case.mo:7:3") && said.contains("`pre(…)`"), "{said}");
    assert_eq!(said.matches("ambiguous-loop").count(), 1, "{said}");
    // From 0.4 on neither is asked for.
    let said = gates("time < 0.4").said;
    assert!(said.contains("at time 0.4; the first one found was taken"), "{said}");
    // One of them always is.
    assert_eq!(gates("time < 0.7").said, "");
    // With memory there is nothing to decide.
    let memory =
        run("model M Boolean a(start = false, fixed = true), b; equation a = not b; b = not pre(a); end M;", 1.0);
    assert_eq!(memory.said, "");
    let said = run("model M Boolean a, b; equation a = not b; b = not a; end M;", 1.0).said;
    assert!(said.contains("warning[ambiguous-loop]: `a` depends on itself"), "{said}");
}

#[test]
fn a_parameter_that_initial_equations_leave_open_is_reported() {
    let said = |text: &str| run(text, 1.0).said;
    let open = said(
        "model M parameter Real k(fixed = false, start = 2); Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;",
    );
    assert!(
        open.contains("warning[parameter-without-value]: the parameter `k` has no value; its start value 2"),
        "{open}"
    );
    assert!(open.contains("no initial equation is left for it"), "{open}");
    // The fixed start value determines the discrete variable, not the parameter in it.
    let run = run(
        "model M parameter Real k(fixed = false, start = 3); discrete Real e(start = 2*k, fixed = true);
           Real x(start = 1, fixed = true);
         equation der(x) = -e; when time > 10 then e = 0; end when; end M;",
        1.0,
    );
    assert!(run.said.contains("the parameter `k` has no value; its start value 3"), "{}", run.said);
    assert_eq!((run.at("k", 0.5), run.at("e", 0.5)), (3.0, 6.0));
    // One that is determined is not.
    let determined = said(
        "model M parameter Real k(fixed = false); Real x(start = 1, fixed = true);
         initial equation der(x) = -2; equation der(x) = -k*x; end M;",
    );
    assert_eq!(determined, "");
}
