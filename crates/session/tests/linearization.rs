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
    // A current in a circuit is determined by all of it: no equation is the one to remove.
    let circuit = "model Circuit
          Real i, v1, v2; output Real y = v2;
        equation
          v1 = 2*i; v2 = 3*i; v1 + v2 = 10 + sin(time);
        end Circuit;";
    let current = LinearRequest { inputs: names(&["i"]), ..LinearRequest::default() };
    assert!(linearized(circuit, &current, false).unwrap_err().contains("no equation determines it alone"));
}

/// A chain `s → e → c → p → d → y` with an algebraic loop from the output of `c` through `f` back to `e`: e = s - 0.25·c, c = 3·e,
/// p = 1/(0.5·s + 1), d = 2. The composite block `w` repeats the chain's end inside itself.
const CHAIN: &str = "model Chain
      connector In = input Real;
      connector Out = output Real;
      block Gain parameter Real k = 1; In u; Out y; equation y = k*u; end Gain;
      block Pass In u; Out y; equation u = y; end Pass;
      block Lag parameter Real T = 1; In u; Out y(start = 0, fixed = true); equation T*der(y) + y = u; end Lag;
      block Source Out y; equation y = sin(time); end Source;
      block Difference In u1, u2; Out y; equation y = u1 - u2; end Difference;
      block Whole In u; Out y; Gain a(k = 5), b(k = 7); equation connect(u, a.u); connect(a.y, b.u); connect(b.y, y); end Whole;
      Source s; Gain c(k = 3); Lag p(T = 0.5); Gain d(k = 2); Difference e; Gain f(k = 0.25); Pass h; Whole w; Whole o;
      Out y, z;
    equation
      connect(s.y, e.u1); connect(f.y, e.u2); connect(e.y, c.u); connect(h.u, c.y); connect(h.y, p.u); connect(c.y, f.u);
      connect(p.y, d.u); connect(d.y, y); connect(p.y, w.u); connect(w.y, z); connect(z, o.u);
    end Chain;";

/// The value of the transfer function at a point of the real axis.
fn response(text: &str, input: &str, output: &str, s: f64) -> f64 {
    let wanted = LinearRequest { inputs: names(&[input]), outputs: names(&[output]), ..LinearRequest::default() };
    let points = linearized(text, &wanted, false).unwrap_or_else(|message| panic!("{input}: {message}"));
    let mut evaluator = linear::Evaluator::new(&points[0].system).unwrap();
    evaluator.at(linear::Complex::new(s, 0.0))[(0, 0)].re
}

#[test]
fn what_follows_an_opened_signal_is_driven_by_it() {
    let s = 1.5;
    let lag = 1.0 / (0.5 * s + 1.0);
    for (input, output, expected) in [
        ("c.y", "y", 2.0 * lag),
        ("h.u", "y", 2.0 * lag),
        ("h.y", "y", 2.0 * lag),
        ("f.u", "y", -0.25 * 3.0 * 2.0 * lag),
        ("f.y", "y", -3.0 * 2.0 * lag),
        ("e.u2", "y", -3.0 * 2.0 * lag),
        ("e.y", "y", 3.0 * 2.0 * lag),
        ("c.u", "y", 3.0 * 2.0 * lag),
        ("s.y", "y", 3.0 / 1.75 * 2.0 * lag),
        ("p.u", "y", 2.0 * lag),
        ("p.y", "y", 2.0),
        ("d.y", "y", 1.0),
        // The loop that was opened, round once.
        ("c.u", "e.y", -0.75),
        ("f.u", "c.y", -0.75),
        // Composite blocks: what is inside follows an input, what is outside an output.
        ("w.u", "z", 35.0),
        ("w.u", "w.a.u", 1.0),
        ("w.u", "d.u", 0.0),
        ("w.a.y", "z", 7.0),
        ("w.y", "z", 1.0),
        ("w.y", "o.y", 35.0),
        ("w.y", "w.b.y", 0.0),
        ("w.b.y", "w.y", 1.0),
        ("p.y", "z", 35.0),
        ("o.u", "o.y", 35.0),
        ("o.u", "z", 0.0),
    ] {
        let found = response(CHAIN, input, output, s);
        assert!((found - expected).abs() < 1e-12, "{input} → {output}: {found} instead of {expected}");
    }
}

/// An integrator behind a lag under proportional control: k = 3, T = 0.5. Outputs of blocks that are states, the loop, the
/// output of a block that is fed back to its own input, and an initial equation of the block that is cut off.
#[test]
fn loops_are_opened_at_outputs_of_blocks() {
    let text = "model Loop
      connector In = input Real;
      connector Out = output Real;
      block Gain parameter Real k = 1; In u; Out y; equation y = k*u; end Gain;
      block Lag In u; Out y; initial equation der(y) = 0; equation 0.5*der(y) + y = u; end Lag;
      block Integrator In u; Out y; initial equation y = 2; equation der(y) = u; end Integrator;
      block Difference In u1, u2; Out y; equation y = u1 - u2; end Difference;
      Gain c(k = 3); Lag p; Integrator q; Difference e; In r; Out y; Integrator g;
    equation
      connect(r, e.u1); connect(e.y, c.u); connect(c.y, p.u); connect(p.y, q.u); connect(q.y, e.u2); connect(q.y, y);
      connect(g.y, g.u);
    end Loop;";
    let s = 0.7;
    let lag = 1.0 / (0.5 * s + 1.0);
    for (input, output, expected) in [
        ("c.y", "y", lag / s),
        ("c.y", "c.u", -lag / s),
        ("p.y", "y", 1.0 / s),
        ("p.y", "p.u", -3.0 / s),
        ("q.y", "y", 1.0),
        ("q.y", "q.u", -3.0 * lag),
        ("q.u", "p.y", -3.0 * lag / s),
        ("e.y", "y", 3.0 * lag / s),
        ("e.u2", "q.y", -3.0 * lag / s),
        ("r", "y", 3.0 * lag / s / (1.0 + 3.0 * lag / s)),
        ("g.u", "g.y", 1.0 / s),
        ("g.y", "g.u", 1.0),
    ] {
        let found = response(text, input, output, s);
        assert!((found - expected).abs() < 1e-12, "{input} → {output}: {found} instead of {expected}");
    }
}

#[test]
fn infinite_slopes_are_refused_with_their_place() {
    let model = |output: &str| {
        format!(
            "model Tank\n  Real x(start = 0, fixed = true);\n  output Real y = {output};\nequation\n  der(x) = 1 - x;\nend Tank;"
        )
    };
    for law in ["sqrt(x)", "2*sqrt(abs(x))*sign(x)", "x^0.5 + x"] {
        let said = linearized(&model(law), &LinearRequest::default(), false).unwrap_err();
        assert!(said.contains("infinite slope at time 0") && said.contains("case.mo:3"), "{law}: {said}");
        let later = LinearRequest { times: vec![0.1], ..LinearRequest::default() };
        assert!(linearized(&model(law), &later, false).is_ok(), "{law}");
    }
    // A branch that does not hold has no slope.
    let guarded = model("noEvent(if x > 1e-3 then sqrt(x) else 1000*x)");
    let system = &linearized(&guarded, &LinearRequest::default(), false).unwrap()[0].system;
    assert_rows(&system.c, &[&[1000.0]]);
}

#[test]
fn what_the_matrices_hold_fixed_is_stated() {
    let delayed = "model D Real x(start = 1, fixed = true); output Real y = x; equation der(x) = -delay(x, 1); end D;";
    let notes = &linearized(delayed, &LinearRequest::default(), false).unwrap()[0].notes;
    assert!(notes.len() == 1 && notes[0].contains("has no delay"), "{notes:?}");
    let sampled =
        "model S Real x(start = 1, fixed = true); discrete Real k(start = 0, fixed = true); output Real y = x;
        equation der(x) = -x + k; when sample(0, 0.1) then k = pre(k) - x; end when; end S;";
    let notes = &linearized(sampled, &LinearRequest::default(), false).unwrap()[0].notes;
    assert!(notes.len() == 1 && notes[0].contains('k') && notes[0].contains("between events"), "{notes:?}");
    let clocked = "model C Real x(start = 1, fixed = true), xd, k(start = 0); output Real y = x;
        equation der(x) = -x + hold(k); xd = sample(x, Clock(0.1)); k = previous(k) + xd; end C;";
    let notes = &linearized(clocked, &LinearRequest::default(), false).unwrap()[0].notes;
    assert!(notes.iter().any(|note| note.contains("between ticks")), "{notes:?}");
    let plain = "model P Real x(start = 1, fixed = true); output Real y = x; equation der(x) = -x; end P;";
    assert!(linearized(plain, &LinearRequest::default(), false).unwrap()[0].notes.is_empty());
}

/// What counts is the whole: x*sqrt(x) has the slope 0 at 0. A kink has none, nor has an equation that is singular there.
#[test]
fn slopes_at_roots_of_zero() {
    let model = |law: &str| {
        format!(
            "model Tank
               function f input Real x; output Real y; algorithm y := sqrt(x); annotation(Inline = false); end f;
               Real x(start = 0, fixed = true), z(start = 0.1); output Real y;
             equation
               der(x) = 1 - x;
               {law};
             end Tank;"
        )
    };
    let slope = |law: &str| linearized(&model(law), &LinearRequest::default(), false);
    for (law, expected) in [("z = 0; y = 3*x + x*sqrt(x)", 3.0), ("z = x^1.5; y = 2*z - 5*x", -5.0)] {
        assert_rows(&slope(law).unwrap()[0].system.c, &[&[expected]]);
    }
    for law in ["z = 0; y = sqrt(x)", "z^2 = x; y = z", "z = 0; y = x + sqrt(abs(x))", "z = sqrt(x); y = sin(z)"] {
        let said = slope(law).unwrap_err();
        assert!(said.contains("infinite slope at time 0"), "{law}: {said}");
    }
    for law in ["z = 0; y = sqrt(x*x)", "z = sqrt(x); y = z*sin(z)"] {
        let said = slope(law).unwrap_err();
        assert!(said.contains("no slope that can be computed at time 0"), "{law}: {said}");
    }
    let said = slope("z = 0; y = f(x)").unwrap_err();
    assert!(said.contains("`y` has no derivative"), "{said}");
}

/// A voltage at a capacitor beside R and L: the current follows the derivative of the voltage. The input is one of the top level,
/// or a source that is opened.
#[test]
fn derivatives_of_inputs_have_matrices_of_their_own() {
    let model = |source: &str| {
        format!(
            "model Source
               {source}
               parameter Real C = 2, R = 3, L = 0.5;
               Real v(start = 0), q, j(start = 0, fixed = true), g;
               output Real i, w;
             equation
               v = u; q = C*v; g = der(q);
               L*der(j) = v - R*j;
               i = g + j; w = j;
             end Source;"
        )
    };
    let opened = LinearRequest { inputs: names(&["u"]), ..LinearRequest::default() };
    for (source, wanted) in
        [("input Real u;", LinearRequest::default()), ("Real u = 1;", opened.clone()), ("Real u = sin(time);", opened)]
    {
        let point = &linearized(&model(source), &wanted, false).unwrap()[0];
        let names: Vec<&str> = point.system.states.iter().map(|state| state.name.as_str()).collect();
        assert_eq!((names.as_slice(), point.system.inputs[0].name.as_str()), (["j"].as_slice(), "u"), "{source}");
        assert_rows(&point.system.a, &[&[-6.0]]);
        assert_rows(&point.system.b, &[&[2.0]]);
        assert_rows(&point.system.c, &[&[1.0], &[1.0]]);
        assert_rows(&point.system.d, &[&[0.0], &[0.0]]);
        let rates = point.rates.as_ref().unwrap();
        assert_rows(&rates.b, &[&[0.0]]);
        assert_rows(&rates.d, &[&[2.0], &[0.0]]);
        assert_eq!((point.state_values.len(), point.input_values.len()), (1, 1));
    }
    // Other inputs; a second derivative has no place.
    let two = model("input Real u; input Real p;").replace("w = j;", "w = j + 7*p;");
    let point = &linearized(&two, &LinearRequest::default(), false).unwrap()[0];
    assert_rows(&point.system.d, &[&[0.0, 0.0], &[0.0, 7.0]]);
    assert_rows(&point.rates.as_ref().unwrap().d, &[&[2.0, 0.0], &[0.0, 0.0]]);
    let one = LinearRequest { inputs: names(&["p"]), ..LinearRequest::default() };
    let point = &linearized(&two, &one, false).unwrap()[0];
    assert_rows(&point.system.a, &[&[-6.0]]);
    assert_rows(&point.system.d, &[&[0.0], &[7.0]]);
    let twice = model("input Real u;").replace("w = j;", "w = j + der(g);");
    assert!(linearized(&twice, &LinearRequest::default(), false).unwrap_err().contains("the derivative of `u`"));
}

const BOOST: &str = "model Boost
          Real L(start = 0, fixed = true), c(start = 0, fixed = true), n, i, d;
          output Real v = c;
          Boolean on = time > 1;
        equation
          1e-3*der(L) = 12 - 0.1*L - n;
          1e-4*der(c) = d - c/10;
          L = i + d;
          if on then n = 0.01*i; else i = 0; end if;
          if on then d = 0; else n = c; end if;
        end Boost;";

/// Several points of a run over modes are those of runs to each of them.
#[test]
fn points_in_several_modes_of_one_run() {
    let text = BOOST;
    let at = |times: &[f64]| {
        let wanted = LinearRequest { times: times.to_vec(), ..LinearRequest::default() };
        linearized(text, &wanted, false).unwrap()
    };
    let points = at(&[0.5, 0.9, 1.05, 1.5]);
    assert_eq!(points.len(), 4);
    for point in &points {
        let alone = &at(&[point.time])[0];
        assert_eq!((&alone.mode, &alone.system.states), (&point.mode, &point.system.states));
        let rows: Vec<&[f64]> = (0..2).map(|i| alone.system.a.row(i)).collect();
        assert_rows(&point.system.a, &rows);
    }
    assert_rows(&points[0].system.a, &[&[-100.0, -1000.0], &[10000.0, -1000.0]]);
    assert_rows(&points[3].system.a, &[&[-110.0, 0.0], &[0.0, -1000.0]]);
}

/// States that are exchanged during the run have the names of the variables that they are at the point.
#[test]
fn exchanged_states_have_names_of_the_model() {
    let text = "model Pendulum
          parameter Real L = 1, g = 9.81;
          Real x(start = 0.6, fixed = true), y(start = -0.8), vx(start = 0, fixed = true), vy, F;
          input Real u; output Real o = x;
        equation
          x^2 + y^2 = L^2; der(x) = vx; der(y) = vy;
          der(vx) = -F*x + u; der(vy) = -F*y - g;
        end Pendulum;";
    let system = &linearized(text, &LinearRequest::default(), false).unwrap()[0].system;
    let mut states: Vec<&str> = system.states.iter().map(|state| state.name.as_str()).collect();
    states.sort_unstable();
    assert!(states == ["vx", "x"] || states == ["vy", "y"], "{states:?}");
}

/// The values of a steady state are part of the result.
#[test]
fn steady_states_have_their_values() {
    let text = "model Steady input Real u(start = 0.1); output Real y = x; Real x(start = 0.9);
        equation der(x) = x - x^3 + u; end Steady;";
    let point = &linearized(text, &LinearRequest::default(), true).unwrap()[0];
    assert!(point.is_steady);
    let x = point.state_values[0];
    assert!((x - x.powi(3) + 0.1).abs() < 1e-9 && point.input_values == [0.1], "{x}");
    assert_rows(&point.system.a, &[&[1.0 - 3.0 * x * x]]);
}

/// A run that is differentiated on its way goes on as if it had not been.
#[test]
fn derivatives_leave_the_run_as_it_is() {
    let mut session = Session::new(Box::new(Disk));
    session.replace_text("case.mo", Some(BOOST.into()));
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let model = session.flatten(&request).unwrap();
    let settings = Settings { tolerance: Some(1e-9), stop_time: Some(1.5), ..Settings::default() };
    let options = settings.resolve(&model.experiment).unwrap();
    let program = session.structure(model).and_then(|schedule| session.compile(schedule)).unwrap();
    let by_name = |name: &str| {
        let model = program.model();
        model.variables.ids().find(|&id| model.variable_name(id) == name).unwrap()
    };
    let (current, voltage) = (by_name("L"), by_name("c"));
    let end = |differentiate: bool| {
        let mut simulation = simulate::Simulation::of(&program, &options);
        simulation.initialise().unwrap();
        for time in [0.5, 0.9, 1.05, 1.5] {
            simulation.step_to(time, false).unwrap();
            if differentiate {
                simulation.jacobian(&[voltage], &[current]).unwrap();
            }
        }
        (simulation.value(current), simulation.value(voltage))
    };
    let (one, other) = (end(false), end(true));
    assert!((one.0 - other.0).abs() < 1e-6 && (one.1 - other.1).abs() < 1e-6, "{one:?} {other:?}");
}

/// Two signals are opened at once. A block may have no equation left, both inputs of a component may come from one signal,
/// and a component may feed itself.
#[test]
fn several_signals_are_opened_at_once() {
    let text = "model Opened
          connector In = input Real;
          connector Out = output Real;
          block Sum parameter Real k = 1; In u, v; Out y; equation y = k*u + 2*v; end Sum;
          block Lag In u; Out y(start = 0, fixed = true); equation der(y) = u - y; end Lag;
          block Both In u, v; Out y; Sum s(k = 5); equation connect(u, s.u); connect(v, s.v); connect(s.y, y); end Both;
          block Back In u; Out y; Lag l; equation connect(u, l.u); connect(l.y, y); end Back;
          In r; Sum a(k = 3); Both b; Back c;
        equation
          connect(r, a.u);
          connect(r, a.v);
          connect(a.y, b.u);
          connect(a.y, b.v);
          connect(c.y, c.u);
        end Opened;";
    let matrices = |inputs: &[&str], outputs: &[&str]| {
        let wanted = LinearRequest { inputs: names(inputs), outputs: names(outputs), times: Vec::new() };
        linearized(text, &wanted, false).unwrap()[0].system.clone()
    };
    assert_rows(&matrices(&["a.y", "a.u"], &["a.v", "b.y"]).d, &[&[0.0, 0.0], &[7.0, 0.0]]);
    assert_rows(&matrices(&["b.u", "r"], &["b.y", "b.s.v"]).d, &[&[5.0, 10.0], &[0.0, 5.0]]);
    assert_rows(&matrices(&["b.v", "b.u"], &["b.y"]).d, &[&[2.0, 5.0]]);
    assert_rows(&matrices(&["b.s.u", "r"], &["b.y"]).d, &[&[5.0, 10.0]]);
    // The lag within stays where its way back is cut, and goes where its own output is given.
    let cut = matrices(&["c.y"], &["c.l.u"]);
    assert_rows(&cut.a, &[&[-1.0]]);
    assert_rows(&cut.d, &[&[1.0]]);
    assert_eq!(matrices(&["c.l.y"], &["c.u"]).order(), 0);
}

/// What the equations leave open is no answer, at the start as little as later.
#[test]
fn singular_systems_are_refused_where_something_asked_for_depends_on_them() {
    let refused = [
        // The derivative depends on it.
        "parameter Real g = 1; input Real u(start = 1); output Real y = x; Real x(start = 0, fixed = true), a, b;
         equation a - g*b = 0; b - a = 0; der(x) = a + u;",
        // By a small factor.
        "parameter Real g = 1; input Real u(start = 1); output Real y = x; Real x(start = 0, fixed = true), a, b;
         equation a - g*b = 0; b - a = 0; der(x) = 1e-9*a + u;",
        // The output alone depends on it.
        "parameter Real g = 1; input Real u; output Real y = a; Real x(start = 0, fixed = true), a, b;
         equation a - g*b = x - x*g; b - a = 0; der(x) = u - x;",
    ];
    for body in refused {
        let said = linearized(&format!("model M {body} end M;"), &LinearRequest::default(), false).unwrap_err();
        assert!(said.contains("error[singular-system]"), "{said}\n{body}");
    }
    // How `a` and `b` share what only their sum s determines changes nothing that is asked for: s + 0.1·sin(s/2) = 3·u.
    let text = "model M parameter Real g = 1; input Real u; output Real y = x; Real x(start = 0, fixed = true), a, b, c;
                equation a + b + 0.1*sin(c) = 3*u; g*a + b + 0.1*sin(c) = 3*u; c = 0.5*(a + b); der(x) = a + b - x; end M;";
    let points = linearized(text, &LinearRequest::default(), false).unwrap();
    assert_rows(&points[0].system.a, &[&[-1.0]]);
    assert_rows(&points[0].system.b, &[&[3.0 / 1.05]]);
    // The third power of what is zero determines it.
    let text = "model M parameter Real g = 1; input Real u; output Real y = x; Real x(start = 0, fixed = true), a;
                equation g*a^3 = 0; der(x) = a + u - x; end M;";
    let points = linearized(text, &LinearRequest::default(), false).unwrap();
    assert_rows(&points[0].system.a, &[&[-1.0]]);
}

fn with_law(law: &str) -> String {
    format!(
        "model M input Real u; output Real y = x; Real x(start = 0, fixed = true), z; equation z = {law}; der(x) = u - z; end M;"
    )
}

/// The matrices at a kink are those of one side, which is said; `strict` refuses them.
#[test]
fn kinks_are_reported_with_their_expression() {
    let said = |text: &str, strict: bool| {
        let mut session = Session::new(Box::new(Disk));
        session.replace_text("case.mo", Some(text.into()));
        let mut request = Request { target: "case.mo".to_owned(), ..Request::default() };
        request.transform.strict = strict;
        let options = |experiment: &dae::Experiment| Settings::default().resolve(experiment);
        let found = session.linearize(&request, &LinearRequest::default(), options);
        let said: String = session.diagnostics.iter().map(|said| said.render(session.sources())).collect();
        (found.is_ok(), said)
    };
    let bent = [
        ("abs(x)", "`abs(x)`"),
        ("max(x, 2*x)", "`max(x, 2*x)`"),
        ("min(3*x, -x)", "`min("),
        ("abs(u)", "`abs(u)`"),
        ("if x > 0 then x else 4*x", "`x > 0"),
        ("noEvent(if x > 0 then x else 4*x)", "`x > 0"),
        ("sin(x) + 3*abs(x - u)", "`abs(x - u)`"),
        ("semiLinear(x, 2, 5)", "semiLinear"),
    ];
    for (law, name) in bent {
        let (ok, text) = said(&with_law(law), false);
        assert!(ok && text.contains("warning[kink]") && text.contains(name), "{law}: {text}");
        let (ok, text) = said(&with_law(law), true);
        assert!(!ok && text.contains("error[kink]"), "{law}: {text}");
    }
    // Slopes of both sides are the same, or the kink is elsewhere.
    for law in [
        "x*abs(x)",
        "abs(x + 1)",
        "max(x, x + 1)",
        "if x > 0 then x + x^2 else x",
        "if x > -1 then x else 4*x",
        "0*abs(x) + x",
    ] {
        let (ok, text) = said(&with_law(law), true);
        assert!(ok && text.is_empty(), "{law}: {text}");
    }
}
