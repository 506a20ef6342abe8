//! Calls that make no sense are errors, not wrong values.
#![allow(clippy::unwrap_used)]

use gyrator::{Model, Reached, Session};

fn model(text: &str) -> Model {
    let mut session = Session::new();
    session.replace_text("m.mo", text);
    session.model("m.mo").unwrap()
}

#[test]
fn a_failed_simulation_stays_failed_until_it_is_restored() {
    let ball = model(
        "model Ball
           Real h(start = 1, fixed = true), v(start = 0, fixed = true);
         equation
           der(h) = v;
           der(v) = -9.81;
           when h <= 0 then
             reinit(v, -0.5*pre(v));
           end when;
         end Ball;",
    );
    let mut simulation = ball.start(&ball.experiment().stop(5.0)).unwrap();
    simulation.step_to(0.3).unwrap();
    let snapshot = simulation.snapshot();
    let first = simulation.step_to(5.0).unwrap_err().to_string();
    let (time, h) = (simulation.time(), simulation.get(ball.variable("h").unwrap()));
    assert!(h.abs() < 1e-3, "{h}");
    assert_eq!(simulation.step_to(5.0).unwrap_err().to_string(), first);
    assert_eq!((simulation.time(), simulation.get(ball.variable("h").unwrap())), (time, h));
    simulation.restore(&snapshot).unwrap();
    assert_eq!(simulation.step_to(0.4).unwrap(), Reached::Time);
}

#[test]
fn a_terminated_simulation_is_restored_as_it_was() {
    let text = "model M Real x = time; equation when time > 0.5 then terminate(\"over\"); end when; end M;";
    let model = model(text);
    let mut simulation = model.start(&model.experiment()).unwrap();
    let over = Reached::Terminated("over".to_owned());
    assert_eq!(simulation.step_to(1.0).unwrap(), over);
    let snapshot = simulation.snapshot();
    let mut other = model.start(&model.experiment()).unwrap();
    for simulation in [&mut simulation, &mut other] {
        simulation.restore(&snapshot).unwrap();
        assert_eq!(simulation.step_to(1.0).unwrap(), over);
    }
}

#[test]
fn a_snapshot_of_another_model_is_refused() {
    let one = model("model A Real x(start = 1, fixed = true); equation der(x) = -x; end A;");
    let two = model("model B Real x(start = 1, fixed = true), y = 2*x; equation der(x) = -x; end B;");
    let snapshot = two.start(&two.experiment()).unwrap().snapshot();
    let refused = one.start(&one.experiment()).unwrap().restore(&snapshot).unwrap_err();
    assert_eq!(refused.to_string(), "the snapshot belongs to another translation (`B`) than the simulation (`A`)");
}

#[test]
fn a_variable_of_another_translation_goes_by_its_name() {
    let text = "model M parameter Integer n = 2; Real a[n] = fill(1, n); Real b = 10; input Real u; end M;";
    let mut session = Session::new();
    session.replace_text("m.mo", text);
    let small = session.model("m.mo").unwrap();
    let large = session.model_with("m.mo", &[("n", "3")]).unwrap();
    let mut simulation = large.start(&large.experiment()).unwrap();
    assert_eq!(simulation.get(small.variable("b").unwrap()), 10.0);
    simulation.set(small.variable("u").unwrap(), 3.0).unwrap();
    simulation.step_to(0.1).unwrap();
    assert_eq!(simulation.get(large.variable("u").unwrap()), 3.0);
    let mut simulation = small.start(&small.experiment()).unwrap();
    let missing = large.variable("a[3]").unwrap();
    assert!(simulation.get(missing).is_nan());
    assert_eq!(simulation.set(missing, 1.0).unwrap_err().to_string(), "`a[3]` is a variable of another model");
    assert!(simulation.jacobian(&[missing], &[]).is_err());
}

#[test]
fn inputs_take_values_of_their_types_only() {
    let model = model(
        "model M
           type E = enumeration(a, b);
           input Integer k(start = 1);
           input Boolean p;
           input E e;
           parameter Real a[3] = {1, 2, 3};
           Real y = a[k];
         end M;",
    );
    let mut simulation = model.start(&model.experiment()).unwrap();
    let mut system = model.system(&model.experiment()).unwrap();
    for (name, value) in [("k", 1.5), ("k", 1e300), ("p", 0.5), ("p", -1.0), ("e", 0.0), ("e", 3.0), ("e", 1.5)] {
        let input = model.variable(name).unwrap();
        assert!(simulation.set(input, value).is_err(), "{name} = {value}");
        assert!(system.set(input, value).is_err(), "{name} = {value}");
    }
    simulation.set(model.variable("k").unwrap(), 2.0).unwrap();
    simulation.step_to(0.1).unwrap();
    assert_eq!(simulation.get(model.variable("y").unwrap()), 2.0);
}

#[test]
fn a_system_has_values_after_its_initialisation_and_lists_of_its_sizes() {
    let model = model("model M Real x(start = 1, fixed = true); equation der(x) = if x > 2 then 0 else -x; end M;");
    let mut system = model.system(&model.experiment()).unwrap();
    assert_eq!(system.derivatives().unwrap_err().diagnostics[0].message, "it has no values before its initialisation");
    system.initialise().unwrap();
    let message = |error: gyrator::Error| error.diagnostics[0].message.clone();
    assert_eq!(message(system.derivatives_into(&mut [0.0; 3]).unwrap_err()), "there are 1 states, not 3");
    let count = system.event_indicator_count();
    assert!(system.event_indicators(&mut vec![0.0; count + 1]).is_err());
    system.set_time(f64::NAN);
    assert_eq!(message(system.accepted_step().unwrap_err()), "the time that was set is not finite");
}

#[test]
fn a_time_that_was_reached_is_the_time() {
    let model = model("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;");
    let mut simulation = model.start(&model.experiment()).unwrap();
    simulation.step_to(0.2).unwrap();
    let next = simulation.time().next_up().next_up();
    assert_eq!(simulation.step_to(next).unwrap(), Reached::Time);
    assert_eq!(simulation.time(), next);
}

#[test]
fn an_input_with_a_value_needs_another_translation() {
    let mut session = Session::new();
    session.replace_text("m.mo", "model M input Real u = 3*time; Real y = 2*u; end M;");
    let plain = session.model("m.mo").unwrap();
    assert_eq!(plain.simulate(&plain.experiment()).unwrap().last("y"), Some(6.0));
    let mut simulation = plain.start(&plain.experiment()).unwrap();
    let refused = simulation.set(plain.variable("u").unwrap(), 1.0).unwrap_err().to_string();
    assert!(refused.contains("has a value in the model") && refused.contains("model_with_inputs"), "{refused}");
    let given = plain.experiment().input("u", &[0.0], &[1.0]);
    assert_eq!(plain.simulate(&given).unwrap_err().to_string(), refused);
    let opened = session.model_with_inputs("m.mo", &[], &["u"]).unwrap();
    assert_eq!(opened.simulate(&given).unwrap().last("y"), Some(2.0));
    let mut simulation = opened.start(&opened.experiment()).unwrap();
    simulation.set(opened.variable("u").unwrap(), 4.0).unwrap();
    simulation.step_to(0.5).unwrap();
    assert_eq!(simulation.get(opened.variable("y").unwrap()), 8.0);
}

#[test]
fn an_interval_that_was_asked_for_stays() {
    let model = model("model M Real x = time; end M;");
    let rows = |experiment| model.simulate(&experiment).unwrap().time.len();
    assert_eq!(rows(model.experiment().interval(0.5).stop(10.0)), 21);
    assert_eq!(rows(model.experiment().stop(10.0).interval(0.5)), 21);
    assert_eq!(rows(model.experiment().stop(10.0)), 501);
}

#[test]
fn a_failure_keeps_the_rows_before_it() {
    let model = model("model M Real x(start = 1, fixed = true); equation der(x) = x^2; end M;");
    let failed = model.simulate(&model.experiment().stop(2.0)).unwrap_err();
    let partial = failed.partial.unwrap();
    // x = 1/(1 - t)
    assert!((partial.at("x", 0.5).unwrap() - 2.0).abs() < 1e-3 && partial.at("x", 1.5).is_none());
    let stopped = model.simulate_while(&model.experiment().stop(0.9), &|_| true, &mut |time| time < 0.5).unwrap();
    assert!(stopped.interrupted.unwrap() >= 0.5 && stopped.time.last().unwrap() < &0.9);
}

#[test]
fn a_parameter_that_leaves_its_limits_is_reported() {
    let model =
        model("model M parameter Real k(min = 0) = 1; Real x(start = 0, fixed = true); equation der(x) = k; end M;");
    let mut simulation = model.start(&model.experiment()).unwrap();
    simulation.step_to(0.5).unwrap();
    assert!(simulation.warnings().is_empty());
    simulation.set_parameter(model.variable("k").unwrap(), -1.0).unwrap();
    simulation.step_to(1.0).unwrap();
    let warnings = simulation.warnings();
    assert_eq!(warnings.iter().map(|said| said.code).collect::<Vec<_>>(), ["outside-limits"]);
    assert!(simulation.get(model.variable("x").unwrap()).abs() < 1e-9);
}

#[test]
fn what_no_time_resolves_cannot_be_delayed() {
    let model = model("model M Real u = sin(1e300*time), y = delay(u, 0.1); end M;");
    let failed = model.simulate(&model.experiment()).unwrap_err();
    assert_eq!(failed.diagnostics[0].code, "restless-delay", "{failed}");
}

/// Steps behind the stop time are as long as the solution allows.
#[test]
fn a_run_goes_on_far_behind_its_stop_time() {
    let model = model("model M Real x(start = 1, fixed = true); equation der(x) = 2 - x; end M;");
    let mut simulation = model.start(&model.experiment()).unwrap();
    simulation.step_to(0.5).unwrap();
    for time in [1e3, 1e9, 1e15] {
        assert_eq!(simulation.step_to(time).unwrap(), Reached::Time);
        assert!((simulation.get(model.variable("x").unwrap()) - 2.0).abs() < 1e-5);
    }
}
