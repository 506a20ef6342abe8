//! The library as another program uses it.
#![allow(clippy::unwrap_used)]

use gyrator::{Error, Reached, Role, Session, Verdict};

fn session(text: &str) -> Session {
    let mut session = Session::new();
    session.replace_text("case.mo", text);
    session
}

#[test]
fn failures_have_their_place() {
    let error = session("model M\n  Real x = y;\nend M;").model("case.mo").err().unwrap();
    assert_eq!(error.diagnostics[0].code, "unknown-name");
    assert!(error.to_string().contains("case.mo:2:12"), "{error}");

    let model = session("model M\n  Real x = log(0.5 - time);\nend M;").model("case.mo").unwrap();
    let error = model.simulate(&model.experiment()).err().unwrap();
    assert!(error.to_string().contains("case.mo:2"), "{error}");

    let missing = Session::new().model("nowhere.mo").err().unwrap();
    assert!(missing.diagnostics.is_empty() && missing.to_string().contains("nowhere.mo"), "{missing}");
}

#[test]
fn calls_that_make_no_sense_are_refused() -> Result<(), Error> {
    let model = session("model M input Real u; Real x = u; end M;").model("case.mo")?;
    let experiment = model.experiment();
    for wrong in [
        experiment.clone().tolerance(0.0),
        experiment.clone().interval(-1.0),
        experiment.clone().stop(-1.0),
        experiment.clone().step(0.1),
        experiment.clone().stop(f64::NAN),
    ] {
        assert!(model.simulate(&wrong).is_err() && model.start(&wrong).is_err(), "{wrong:?}");
    }
    let mut simulation = model.start(&experiment)?;
    let (u, x) = (model.variable("u").unwrap(), model.variable("x").unwrap());
    assert_eq!((u.role, x.role), (Role::Input, Role::Local));
    assert!(simulation.set(x, 1.0).is_err() && simulation.set(u, f64::NAN).is_err());
    simulation.set(u, 3.0)?;
    assert_eq!(simulation.step_to_event(0.5)?, Reached::Event);
    assert_eq!(simulation.step_to_event(0.5)?, Reached::Time);
    assert_eq!(simulation.get(x), 3.0);
    assert!(simulation.step_to(0.25).is_err() && simulation.step_to(f64::NAN).is_err());
    Ok(())
}

#[test]
fn reports_tell_about_every_kind_of_class() -> Result<(), Error> {
    let text = "package P model Good Real x = time; end Good; model Bad Real x = 1 + true; end Bad; end P;";
    let mut session = session(text);
    assert!(!session.check("P")?.is_sound(), "nobody knows where it is");
    session.add_file("case.mo");
    let report = session.check("P")?;
    let verdicts: Vec<_> = report.classes.iter().map(|class| (class.class.as_str(), class.verdict)).collect();
    let expected = [("P", Verdict::Sound), ("P.Good", Verdict::Complete), ("P.Bad", Verdict::Wrong)];
    assert_eq!(verdicts, expected);
    assert!(report.text.contains("case.mo:1:66"), "{}", report.text);
    assert!(session.check("P.Good")?.is_sound());
    Ok(())
}

/// What is due behind the end of a step is due in the next one.
#[test]
fn events_do_not_depend_on_how_a_run_is_stepped() -> Result<(), Error> {
    let text = "model M
                  Real x(start = 0, fixed = true);
                  Boolean on = mod(time, 0.25) < 0.1;
                equation
                  der(x) = (if on then 1 else 0) + (if time < 0.52 then 0 else 10);
                end M;";
    let model = session(text).model("case.mo")?;
    let x = model.variable("x").unwrap();
    let mut simulation = model.start(&model.experiment())?;
    for (time, expected) in [(0.05, 0.05), (0.2, 0.1), (0.24, 0.1), (0.3, 0.15), (0.51, 0.21), (0.55, 0.55), (1.0, 5.2)]
    {
        simulation.step_to(time)?;
        assert!((simulation.get(x) - expected).abs() < 1e-9, "{} in place of {expected}", simulation.get(x));
    }
    Ok(())
}

#[test]
fn warnings_of_runs_are_part_of_them() -> Result<(), Error> {
    let text = "model M
                  final parameter Real f = 2;
                  parameter Real p = 1;
                  Real x(start = 0, fixed = true);
                equation
                  der(x) = f*p;
                  assert(x < 1, \"x is large\", AssertionLevel.warning);
                end M;";
    let model = session(text).model("case.mo")?;
    let run = model.simulate(&model.experiment())?;
    assert!(run.warnings.iter().any(|said| said.message.contains("x is large")), "{:?}", run.warnings);
    assert!(run.terminated.is_none() && run.statistics.steps > 0);
    let mut simulation = model.start(&model.experiment())?;
    simulation.step_to(0.25)?;
    assert!(simulation.warnings().is_empty());
    simulation.step_to(1.0)?;
    assert_eq!(simulation.warnings().len(), 1);
    assert!(model.variable("p").unwrap().tunable && !model.variable("f").unwrap().tunable);
    assert!(model.with("f", 3.0).err().unwrap().to_string().contains("final"));
    Ok(())
}
