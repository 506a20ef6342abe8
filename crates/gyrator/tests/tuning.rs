//! Parameters that are set on a translated model.
#![allow(clippy::unwrap_used)]

use gyrator::{Error, Model, Session};

fn model(text: &str) -> Model {
    let mut session = Session::new();
    session.replace_text("case.mo", text);
    session.model("case.mo").unwrap()
}

/// The last value of a variable where parameters are set, which must be that of a new translation.
fn last(text: &str, set: &[(&str, f64)], name: &str) -> Result<f64, Error> {
    let model = model(text);
    let tuned = model.with_all(set)?;
    let found = tuned.simulate(&model.experiment())?.last(name).unwrap();
    let texts: Vec<(&str, String)> = set.iter().map(|(name, value)| (*name, format!("{value:?}"))).collect();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut session = Session::new();
    session.replace_text("case.mo", text);
    let anew = session.model_with("case.mo", &texts)?;
    let expected = anew.simulate(&anew.experiment())?.last(name).unwrap();
    assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{found} instead of {expected}");
    Ok(found)
}

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

const DEPENDENT: &str = "model M
  parameter Real a = 1;
  parameter Real b = 2*a;
  parameter Real c = 2*a + b;
  Real x(start = c, fixed = true);
equation
  der(x) = b;
end M;";

#[test]
fn dependent_parameters_and_start_values_follow() -> Result<(), Error> {
    assert!(is_near(last(DEPENDENT, &[], "x")?, 6.0));
    assert!(is_near(last(DEPENDENT, &[("a", 3.0)], "x")?, 18.0));
    let run = model(DEPENDENT).with("a", 3.0)?.simulate(&model(DEPENDENT).experiment())?;
    assert_eq!(run.last("b"), Some(6.0));
    Ok(())
}

#[test]
fn a_dependent_parameter_that_is_set_keeps_its_value() -> Result<(), Error> {
    // `c` shares `2*a` with the binding that is replaced.
    assert!(is_near(last(DEPENDENT, &[("b", 10.0)], "x")?, 22.0));
    assert!(is_near(last(DEPENDENT, &[("a", 3.0), ("b", 10.0)], "x")?, 26.0));
    Ok(())
}

#[test]
fn tables_and_samples_follow() -> Result<(), Error> {
    let text = "model M
      parameter Real top = 4;
      parameter Real T = 0.3;
      parameter Real table[:, 2] = [0, 0; 1, top];
      discrete Integer n(start = 0, fixed = true);
      Real y = table[2, 2]*time;
    equation
      when sample(T, T) then n = pre(n) + 1; end when;
    end M;";
    assert!(is_near(last(text, &[("top", 7.0)], "y")?, 7.0));
    assert!(is_near(last(text, &[("T", 0.15)], "n")?, 6.0));
    Ok(())
}

#[test]
fn what_decides_a_size_says_so() {
    let text = "model M
  parameter Integer n = 2;
  parameter Integer m = n + 1;
  Real x[m] = fill(time, m);
end M;";
    let model = model(text);
    assert!(!model.variable("n").unwrap().tunable && !model.variable("m").unwrap().tunable);
    let said = model.with("n", 4.0).err().unwrap();
    assert_eq!(said.diagnostics[0].code, "structural-parameter");
    assert!(said.to_string().contains("case.mo:3"), "{said}");
}

#[test]
fn a_coefficient_that_vanishes_is_another_structure() -> Result<(), Error> {
    let text = "model M
      parameter Real R = 2;
      Real u = 1 + time, v(start = 0), i;
    equation
      R*i = u - v;
      der(v) = i;
    end M;";
    last(text, &[("R", 5.0)], "v")?;
    // Without the resistance the voltage is that of the source: v(1) = 2.
    assert!(is_near(last(text, &[("R", 0.0)], "v")?, 2.0));
    let model = model(text);
    let without = model.with("R", 0.0)?;
    assert!(!model.is_same_translation(&without) && model.is_same_translation(&model.with("R", 3.0)?));
    assert!(is_near(without.with("R", 2.0)?.simulate(&model.experiment())?.last("v").unwrap(), last(text, &[], "v")?));
    let mut simulation = model.start(&model.experiment())?;
    let said = simulation.set_parameter(model.variable("R").unwrap(), 0.0).err().unwrap();
    assert!(said.to_string().contains("whether it is zero decides which unknowns equations have"), "{said}");
    Ok(())
}

/// A zero that decides nothing can be left without a new translation.
#[test]
fn zeros_are_numbers_like_others() -> Result<(), Error> {
    let text = "model M
      parameter Real offset = 0, phase = 0, start = 0, gain = 0, amplitude = 0, slope = 0;
      parameter Real c = 1;
      Real u = offset + (if time < start then 0 else amplitude*sin(6*time + phase)) + slope*time;
      Real x(start = 0, fixed = true), y = gain*x;
    equation
      c*der(x) = 1 + u;
    end M;";
    let model = model(text);
    for (name, expected) in [("offset", 1.5), ("phase", 1.0), ("start", 1.0), ("slope", 1.25)] {
        let tuned = model.with(name, 0.5)?;
        assert!(model.is_same_translation(&tuned), "{name}");
        assert!((tuned.simulate(&model.experiment())?.last("x").unwrap() - expected).abs() < 1e-6, "{name}");
    }
    // x(1) = 1 + (1 - cos(6))/6 with the sine alone.
    let tuned = model.with("amplitude", 1.0)?;
    assert!((tuned.simulate(&model.experiment())?.last("x").unwrap() - 1.006638285).abs() < 1e-5);
    assert!(is_near(last(text, &[("gain", 3.0)], "y")?, 3.0));
    Ok(())
}

#[test]
fn final_parameters_are_final_however_they_became_so() -> Result<(), Error> {
    let text = "model M
      model A parameter Real p = 1, q = 2; protected parameter Real hidden = 3; public Real y = p*q*hidden; end A;
      model Pair A a; end Pair;
      parameter Real k = 3;
      A one(final p = k);
      final A two;
      Pair pair(final a(q = 5));
      A free;
      protected parameter Real own = 2;
      public Real z = own*free.y;
    end M;";
    let mut session = Session::new();
    session.replace_text("case.mo", text);
    let model = session.model("case.mo")?;
    for name in ["one.p", "two.p", "two.q", "pair.a.p", "pair.a.q"] {
        assert!(!model.variable(name).unwrap().tunable, "{name}");
        let said = model.with(name, 7.0).err().unwrap();
        assert!(said.to_string().contains("it is final"), "{said}");
        let said = session.model_with("case.mo", &[(name, "7")]).err().unwrap();
        assert_eq!(said.diagnostics[0].code, "final-modified", "{said}");
    }
    assert!(is_near(last(text, &[("k", 4.0)], "one.y")?, 24.0));
    assert!(is_near(last(text, &[("one.q", 4.0)], "one.y")?, 36.0));
    // What is protected in a component cannot be tuned; what the model itself protects can. A modifier reaches it with a warning.
    assert!(model.with("free.hidden", 4.0).err().unwrap().to_string().contains("it is protected"));
    assert!(session.model_with("case.mo", &[("free.hidden", "4")]).is_ok());
    assert!(is_near(last(text, &[("own", 4.0)], "z")?, 24.0));
    Ok(())
}

#[test]
fn conditions_of_the_start_are_decided() {
    let text = "model M
      parameter Boolean known = true;
      Real x(start = 3, fixed = known);
    initial equation
      if not known then der(x) = 0; end if;
    equation
      der(x) = 1 - x;
    end M;";
    assert!(model(text).with("known", 0.0).is_err());
}

#[test]
fn modes_are_shared_and_follow() -> Result<(), Error> {
    let text = "model M
      parameter Real C = 1;
      parameter Real G = 0.5;
      Boolean closed = time < 0.5;
      Real v(start = 1, fixed = true), i;
    equation
      0 = if closed then i else v - 2;
      C*der(v) = i - G*v;
    end M;";
    for value in [0.5, 3.0, -1.0] {
        last(text, &[("G", value)], "i")?;
        last(text, &[("C", value)], "i")?;
    }
    let model = model(text);
    let runs = [1.0, 2.0].map(|value| model.with("G", value).and_then(|tuned| tuned.simulate(&model.experiment())));
    let [one, two] = runs.map(|run| run.unwrap().last("i").unwrap());
    assert!((one - 2.0).abs() < 1e-9 && (two - 4.0).abs() < 1e-9, "{one} {two}");
    Ok(())
}

#[test]
fn only_values_of_the_type_are_taken() {
    let text = "model M
      parameter Integer k = 1;
      parameter Boolean b = true;
      final parameter Real f = 1;
      Real x = if b then k*time else f;
    end M;";
    let model = model(text);
    assert!(model.with("k", 1.5).is_err() && model.with("b", 2.0).is_err() && model.with("x", 1.0).is_err());
    assert!(model.with("f", 2.0).is_err() && model.with("k", f64::NAN).is_err() && model.with("none", 1.0).is_err());
    assert!(model.with("k", 3.0).is_ok());
}

#[test]
fn parameters_change_during_a_run() -> Result<(), Error> {
    let text = "model M
      parameter Real C = 1;
      parameter Real G = 0.5;
      parameter Real g = 2*G;
      parameter Real T = 0.1;
      Boolean open = time < 0.5;
      Real v(start = 1, fixed = true), w(start = 0, fixed = true), i;
    equation
      0 = if open then i else v - 2;
      C*der(v) = i - g*v;
      der(w) = G;
      when sample(T, T) then reinit(w, w); end when;
    end M;";
    let model = model(text);
    let variable = |name: &str| model.variable(name).unwrap();
    let mut simulation = model.start(&model.experiment())?;
    simulation.step_to(0.25)?;
    simulation.set_parameter(variable("G"), 1.0)?;
    simulation.step_to(0.45)?;
    assert!((simulation.get(variable("w")) - (0.125 + 0.2)).abs() < 1e-9);
    let expected = (-0.25f64 - 2.0 * 0.2).exp();
    assert!((simulation.get(variable("v")) - expected).abs() < 1e-5, "{expected}");
    // The switch is closed now, and the mode with a constraint has the new value.
    simulation.step_to(0.75)?;
    assert!((simulation.get(variable("i")) - 4.0).abs() < 1e-9);
    simulation.set_parameter(variable("G"), 3.0)?;
    simulation.step_to(0.8)?;
    assert!((simulation.get(variable("i")) - 12.0).abs() < 1e-9);
    let said = simulation.set_parameter(variable("T"), 0.2).err().unwrap();
    assert!(said.to_string().contains("the instants of samples depend on it"), "{said}");
    Ok(())
}
