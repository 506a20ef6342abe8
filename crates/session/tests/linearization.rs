//! Linear state spaces of models, against closed forms.
#![allow(clippy::unwrap_used)]

use session::{Disk, LinearRequest, Linearization, Request, RunOptions, Session, Settings};

fn linearized(text: &str, wanted: &LinearRequest, steady: bool) -> Result<Vec<Linearization>, String> {
    let mut session = Session::new(Box::new(Disk));
    session.replace_text("case.mo", Some(text.into()));
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let options = |experiment: &dae::Experiment| {
        let settings =
            Settings { tolerance: Some(1e-9), stop_time: wanted.times.last().copied(), ..Settings::default() };
        Ok(RunOptions { steady_state: steady, ..settings.resolve(experiment)? })
    };
    let found = session.linearize(&request, wanted, options);
    let said: String = session.diagnostics.iter().map(|said| said.render(session.sources())).collect();
    found.map_err(|failed| format!("{failed:?}\n{said}"))
}

fn names(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|&name| name.to_owned()).collect())
}

#[track_caller]
fn assert_rows(matrix: &linear::Matrix, rows: &[&[f64]]) {
    assert_eq!(matrix.rows(), rows.len());
    for (i, row) in rows.iter().enumerate() {
        for (found, expected) in matrix.row(i).iter().zip(*row) {
            assert!((found - expected).abs() <= 1e-6 * (1.0 + expected.abs()), "row {i}: {:?}", matrix.row(i));
        }
    }
}

#[test]
fn inputs_and_outputs_of_the_top_level() {
    let text = "model Plant
          parameter Real k = 4, d = 0.4, m = 2;
          input Real f(unit = \"N\");
          output Real y(unit = \"m\") = 3*x + 0.5*f;
          Real x(unit = \"m\", start = 0, fixed = true), v(start = 0, fixed = true);
        equation
          der(x) = v;
          m*der(v) = f - k*x - d*v;
        end Plant;";
    let points = linearized(text, &LinearRequest::default(), false).unwrap();
    let system = &points[0].system;
    assert_eq!(system.states.iter().map(|state| state.name.as_str()).collect::<Vec<_>>(), ["x", "v"]);
    assert_eq!((system.inputs[0].unit.as_str(), system.outputs[0].name.as_str()), ("N", "y"));
    assert_rows(&system.a, &[&[0.0, 1.0], &[-2.0, -0.2]]);
    assert_rows(&system.b, &[&[0.0], &[0.5]]);
    assert_rows(&system.c, &[&[3.0, 0.0]]);
    assert_rows(&system.d, &[&[0.5]]);
}

const LOOP: &str = "model Loop
      connector In = input Real;
      connector Out = output Real;
      block PI In e; Out y; Real i(start = 0, fixed = true); equation der(i) = 2*e; y = 3*e + i; end PI;
      block Plant In u; Out y(start = 0, fixed = true); equation der(y) = -0.5*y + u - 0.1*y^3; end Plant;
      block Difference In a, b; Out y; equation y = a - b; end Difference;
      PI controller;
      Plant plant;
      Difference difference;
      Out seen = plant.u;
    equation
      difference.a = 1;
      connect(plant.y, difference.b);
      connect(difference.y, controller.e);
      connect(controller.y, plant.u);
    end Loop;";

/// The loop is cut at the input of the plant. The operating point is that of the closed loop: y = 1, where the plant has the
/// slope -0.5 - 0.3.
#[test]
fn a_loop_is_opened_at_a_connection() {
    let wanted =
        LinearRequest { inputs: names(&["plant.u"]), outputs: names(&["controller.y", "plant.y"]), times: vec![40.0] };
    let system = &linearized(LOOP, &wanted, false).unwrap()[0].system;
    assert_rows(&system.a, &[&[0.0, -2.0], &[0.0, -0.8]]);
    assert_rows(&system.b, &[&[0.0], &[1.0]]);
    assert_rows(&system.c, &[&[1.0, -3.0], &[0.0, 1.0]]);
    assert_rows(&system.d, &[&[0.0], &[0.0]]);
}

/// Closed, at the start and at the stationary state.
#[test]
fn points_of_a_run_and_the_stationary_state() {
    let closed = LinearRequest { inputs: None, outputs: names(&["plant.y"]), times: vec![0.0, 40.0] };
    let points = linearized(LOOP, &closed, false).unwrap();
    assert_eq!(points.iter().map(|point| point.time).collect::<Vec<_>>(), [0.0, 40.0]);
    assert_rows(&points[0].system.a, &[&[0.0, -2.0], &[1.0, -3.5]]);
    assert_rows(&points[1].system.a, &[&[0.0, -2.0], &[1.0, -3.8]]);
    let steady = linearized(LOOP, &LinearRequest { times: Vec::new(), ..closed }, true).unwrap();
    assert_rows(&steady[0].system.a, &[&[0.0, -2.0], &[1.0, -3.8]]);
}

/// An inverted pendulum on a cart, as constraint equations: the poles are 0, 0 and ±sqrt(g/l (1 + m/M)).
#[test]
fn poles_of_an_inverted_pendulum() {
    let text = "model Inverted
          parameter Real g = 9.81, l = 0.5, m = 0.2, M = 1;
          input Real f;
          Real s(start = 0, fixed = true), v(start = 0, fixed = true);
          Real phi(start = 0, fixed = true), w(start = 0, fixed = true);
          Real x, y, force;
        equation
          der(s) = v;
          der(phi) = w;
          x = s + l*sin(phi);
          y = l*cos(phi);
          m*der(der(x)) = force*sin(phi);
          m*der(der(y)) = force*cos(phi) - m*g;
          M*der(v) = f - force*sin(phi);
        end Inverted;";
    let wanted = LinearRequest { outputs: names(&["phi"]), ..LinearRequest::default() };
    let system = &linearized(
        &text
            .replace("der(der(x))", "ax")
            .replace("der(der(y))", "ay")
            .replace("Real x, y, force;", "Real x, y, force, vx = der(x), vy = der(y), ax = der(vx), ay = der(vy);"),
        &wanted,
        false,
    )
    .unwrap()[0]
        .system;
    let poles = linear::poles(system).unwrap();
    let expected = (9.81f64 / 0.5 * 1.2).sqrt();
    assert_eq!(poles.len(), 4);
    assert!((poles[0].re + expected).abs() < 1e-5 && (poles[3].re - expected).abs() < 1e-5, "{poles:?}");
    assert!(poles[1].norm() < 1e-5 && poles[2].norm() < 1e-5, "{poles:?}");
}

/// A buck converter with an ideal switch in each of its modes: the choke and the capacitor, fed or not.
#[test]
fn a_converter_in_each_of_its_modes() {
    let text = "model Converter
          input Real supply(start = 12);
          parameter Real L = 1e-3, C = 1e-4, R = 5;
          Real i(start = 0, fixed = true), v(start = 0, fixed = true), node, fed;
          Boolean on = time < 1e-3;
        equation
          if on then node = supply; else node = 0; end if;
          fed = if on then i else 0;
          L*der(i) = node - v;
          C*der(v) = i - v/R;
        end Converter;";
    let wanted = LinearRequest { outputs: names(&["v"]), times: vec![5e-4, 1.5e-3], ..LinearRequest::default() };
    let points = linearized(text, &wanted, false).unwrap();
    for point in &points {
        assert_rows(&point.system.a, &[&[0.0, -1e3], &[1e4, -2e3]]);
    }
    assert_rows(&points[0].system.b, &[&[1e3], &[0.0]]);
    assert_rows(&points[1].system.b, &[&[0.0], &[0.0]]);
}

#[test]
fn what_cannot_be_linearised_is_refused() {
    let unknown = LinearRequest { inputs: names(&["plant.w"]), ..LinearRequest::default() };
    assert!(linearized(LOOP, &unknown, false).unwrap_err().contains("did you mean `plant.u`"));
    let state = LinearRequest { inputs: names(&["controller.i"]), ..LinearRequest::default() };
    assert!(linearized(LOOP, &state, false).unwrap_err().contains("no equation determines it alone"));
}
