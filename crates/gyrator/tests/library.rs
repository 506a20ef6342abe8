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
