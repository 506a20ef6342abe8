//! Exact derivatives of a model at a point of a run.
#![allow(clippy::unwrap_used)]

use gyrator::{Error, Jacobian, Model, Session};

fn model(text: &str) -> Model {
    let mut session = Session::new();
    session.replace_text("case.mo", text);
    session.model("case.mo").unwrap_or_else(|error| panic!("{error}"))
}

fn at(model: &Model, time: f64, of: &[&str], with_respect_to: &[&str]) -> Result<Jacobian, Error> {
    let mut simulation = model.start(&model.experiment().tolerance(1e-9))?;
    simulation.step_to(time)?;
    let variables = |names: &[&str]| -> Vec<_> {
        names.iter().map(|name| model.variable(name).unwrap_or_else(|| panic!("no {name}"))).collect()
    };
    simulation.jacobian(&variables(of), &variables(with_respect_to))
}

fn check(found: &Jacobian, expected: &[f64]) {
    assert_eq!(found.values.len(), expected.len());
    for (found, expected) in found.values.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-7 * (1.0 + expected.abs()), "{found} in place of {expected}");
    }
}

#[test]
fn matrices_of_a_state_space() -> Result<(), Error> {
    let model = model(
        "model M
           parameter Real a = 2, b = 2*a, m = 5;
           input Real u(start = 1);
           Real p(start = 1, fixed = true), v(start = 0, fixed = true), y, z;
         equation
           der(p) = v;
           m*der(v) = u - a*v - b*p;
           y = p + 3*u;
           z = sin(p)*der(v);
         end M;",
    );
    // u = 1, p = 1, v = 0 at the start: der(v) = (1 - 4)/5.
    let found = at(&model, 0.0, &["der(p)", "der(v)", "y", "z"], &["p", "v", "u"])?;
    let (sine, cosine) = 1f64.sin_cos();
    check(
        &found,
        &[
            0.0,
            1.0,
            0.0, //
            -0.8,
            -0.4,
            0.2, //
            1.0,
            0.0,
            3.0, //
            cosine * -0.6 - 0.8 * sine,
            -0.4 * sine,
            0.2 * sine,
        ],
    );
    // b follows a, unless b itself is among what changes.
    let found = at(&model, 0.0, &["der(v)", "z"], &["a", "m"])?;
    check(&found, &[-0.4, 0.12, -0.4 * sine, 0.12 * sine]);
    let found = at(&model, 0.0, &["der(v)", "z"], &["a", "b", "m"])?;
    check(&found, &[0.0, -0.2, 0.12, 0.0, -0.2 * sine, 0.12 * sine]);
    assert!(found.differenced.is_empty() && found.mode.is_none());
    Ok(())
}

#[test]
fn through_algebraic_loops() -> Result<(), Error> {
    let model = model(
        "model M
           parameter Real k = 2;
           input Real u(start = 1);
           Real x(start = 1, fixed = true), z(start = 1), w, r;
         equation
           der(x) = -z;
           z^3 + z*w = k*x + u;
           w + z = 3*x;
           r = z*w;
         end M;",
    );
    let mut simulation = model.start(&model.experiment())?;
    let variable = |name: &str| model.variable(name).unwrap();
    let [z, w, x] = ["z", "w", "x"].map(|name| simulation.get(variable(name)));
    // F = z^3 + z*w - k*x - u with w = 3*x - z.
    let slope = 3.0 * z * z + w - z;
    let (by_x, by_u, by_k) = ((2.0 - 3.0 * z) / slope, 1.0 / slope, x / slope);
    let of = ["der(x)", "z", "w", "r"].map(variable);
    let found = simulation.jacobian(&of, &["x", "u", "k"].map(variable))?;
    check(
        &found,
        &[
            -by_x,
            -by_u,
            -by_k, //
            by_x,
            by_u,
            by_k, //
            3.0 - by_x,
            -by_u,
            -by_k, //
            by_x * w + z * (3.0 - by_x),
            by_u * (w - z),
            by_k * (w - z),
        ],
    );
    Ok(())
}

/// The pendulum in Cartesian coordinates: what is integrated is one angle's worth of states.
#[test]
fn in_the_space_of_the_selected_states() -> Result<(), Error> {
    let model = model(
        "model M
           parameter Real L = 2, g = 9.81;
           Real x(start = 1.2, fixed = true, stateSelect = StateSelect.always), y(start = -1.6);
           Real vx(start = 0.5, fixed = true, stateSelect = StateSelect.always), vy, f;
         equation
           der(x) = vx;
           der(y) = vy;
           der(vx) = -f*x;
           der(vy) = -f*y - g;
           x^2 + y^2 = L^2;
         end M;",
    );
    let found = at(&model, 0.0, &["der(vx)", "y", "f"], &["x", "vx", "g"])?;
    // vy = -x*vx/y; f = (vx^2 + vy^2 - g*y)/L^2; der(vx) = -f*x, with y = -sqrt(L^2 - x^2).
    let parts = |x: f64, v: f64, g: f64| {
        let y = -(4.0 - x * x).sqrt();
        let w = -x * v / y;
        let f = (v * v + w * w - g * y) / 4.0;
        [-f * x, y, f]
    };
    let h = 1e-5;
    let mut expected = [0.0; 9];
    for (column, [dx, dv, dg]) in [[h, 0.0, 0.0], [0.0, h, 0.0], [0.0, 0.0, h]].into_iter().enumerate() {
        let [up, down] = [1.0, -1.0].map(|s| parts(1.2 + s * dx, 0.5 + s * dv, 9.81 + s * dg));
        (0..3).for_each(|row| expected[3 * row + column] = (up[row] - down[row]) / (2.0 * h));
    }
    check(&found, &expected);
    assert!(at(&model, 0.0, &["x"], &["y"]).is_err(), "y is no state");
    Ok(())
}

#[test]
fn discrete_variables_stay_and_sources_follow_their_parameters() -> Result<(), Error> {
    let model = model(
        "model M
           parameter Real height = 3, k = 2;
           Real step = if time < 0.5 then 0 else height;
           discrete Real held(start = 0, fixed = true);
           Real x(start = 1, fixed = true), y;
         equation
           when sample(0, 0.2) then
             held = k*x;
           end when;
           der(x) = step + held - x;
           y = k*held*(if x > 0 then x else -x);
         end M;",
    );
    let found = at(&model, 0.75, &["der(x)", "y", "held"], &["x", "height", "k"])?;
    let mut simulation = model.start(&model.experiment().tolerance(1e-9))?;
    simulation.step_to(0.75)?;
    let [held, x] = ["held", "x"].map(|name| simulation.get(model.variable(name).unwrap()));
    check(&found, &[-1.0, 1.0, 0.0, 2.0 * held, 0.0, held * x, 0.0, 0.0, 0.0]);
    check(&at(&model, 0.25, &["der(x)"], &["height"])?, &[0.0]);
    Ok(())
}

#[test]
fn through_functions() -> Result<(), Error> {
    let model = model(
        "model M
           function f
             input Real a, b;
             output Real c;
           protected
             Real s = 0;
           algorithm
             for i in 1:3 loop s := s + a^i*b; end for;
             c := if s > 100 then s else exp(-s);
           end f;
           parameter Real b = 0.5;
           Real x(start = 0.5, fixed = true), y = f(x, b);
         equation
           der(x) = -f(x, 2*b);
         end M;",
    );
    let (sum, slope) = (0.5 + 0.25 + 0.125, 1.0 + 1.0 + 0.75);
    let value = |b: f64| (-sum * b).exp();
    let found = at(&model, 0.0, &["der(x)", "y"], &["x", "b"])?;
    check(&found, &[slope * value(1.0), 2.0 * sum * value(1.0), -0.5 * slope * value(0.5), -sum * value(0.5)]);
    Ok(())
}

/// A clutch: in one mode two inertias are one.
#[test]
fn the_mode_is_stated() -> Result<(), Error> {
    let model = model(
        "model M
           parameter Real C1 = 1, C2 = 3, R = 2;
           Real v1(start = 1, fixed = true), v2(start = 0, fixed = true), i;
           Boolean closed = time > 0.5;
         equation
           C1*der(v1) = -i - v1/R;
           C2*der(v2) = i;
           if closed then v1 = v2; else i = 0; end if;
         end M;",
    );
    let before = at(&model, 0.25, &["der(v1)", "der(v2)"], &["v1"])?;
    check(&before, &[-0.5, 0.0]);
    let after =
        at(&model, 0.75, &["der(v1)", "i"], &["v1"]).or_else(|_| at(&model, 0.75, &["der(v1)", "i"], &["v2"]))?;
    check(&after, &[-0.125, -0.375]);
    assert!(before.mode.is_some() && after.mode.is_some() && before.mode != after.mode, "{before:?} {after:?}");
    Ok(())
}

#[test]
fn what_has_no_derivative_is_refused() -> Result<(), Error> {
    let model = model(
        "model M
           parameter Integer n = 2;
           parameter Real T = 0.25;
           final parameter Real q = 4;
           Real x(start = 1, fixed = true), y = n*q*x, z = delay(x, T);
           Boolean b = x > 0.5;
         equation
           der(x) = -x;
         end M;",
    );
    for (of, by, words) in [
        ("b", "x", "it is no Real"),
        ("y", "z", "it is computed"),
        ("y", "n", "it is no Real"),
        ("y", "q", "cannot be set"),
        ("z", "T", "has no derivative in this direction"),
    ] {
        let error = at(&model, 0.5, &[of], &[by]).err().unwrap_or_else(|| panic!("d{of}/d{by}")).to_string();
        assert!(error.contains(words), "{error}");
    }
    check(&at(&model, 0.5, &["z", "y"], &["x"])?, &[0.0, 8.0]);
    Ok(())
}

#[test]
fn values_are_those_of_the_point_that_was_reached() -> Result<(), Error> {
    let model = model(
        "model M
           input Real u(start = 1);
           Real x(start = 1, fixed = true), y = x + time + u;
         equation
           der(x) = x;
           when x > 1.5 then end when;
         end M;",
    );
    let [u, x, y] = ["u", "x", "y"].map(|name| model.variable(name).unwrap());
    let mut simulation = model.start(&model.experiment())?;
    assert_eq!((simulation.get(x), simulation.get(y)), (1.0, 2.0));
    simulation.set(u, 2.0)?;
    simulation.step_to_event(1.0)?;
    assert_eq!((simulation.time(), simulation.get(x), simulation.get(y)), (0.0, 1.0, 3.0));
    Ok(())
}

const TABLE: &str = "
  class Table
    extends ExternalObject;
    function constructor
      input Real points[:, 2];
      output Table table;
    external \"C\" table = ModelicaStandardTables_CombiTable1D_init2(\"NoName\", \"NoName\", points, size(points, 1), 2, {2}, 1, 1, 1, true);
    end constructor;
    function destructor
      input Table table;
    external \"C\" ModelicaStandardTables_CombiTable1D_close(table);
    end destructor;
  end Table;
  function value
    input Table table;
    input Real u;
    output Real y;
  external \"C\" y = ModelicaStandardTables_CombiTable1D_getValue(table, 1, u);
    annotation(derivative(noDerivative = table) = slope);
  end value;
  function slope
    input Table table;
    input Real u;
    input Real du;
    output Real dy;
  external \"C\" dy = ModelicaStandardTables_CombiTable1D_getDerValue(table, 1, u, du);
  end slope;";

/// What a table gives is known along its argument. Along what the table is made from there is no derivative, and zero would be
/// wrong.
#[test]
fn there_is_no_derivative_along_what_a_table_is_made_from() -> Result<(), Error> {
    let model = model(&format!(
        "model M {TABLE}
           parameter Real top = 3, k = 2;
           Table table = Table([0, 0; 1, top; 2, 4]);
           Real x(start = 0.5, fixed = true), y = k*value(table, x), free = k*x;
         equation
           der(x) = -x + top;
         end M;"
    ));
    check(&at(&model, 0.0, &["y"], &["x", "k"])?, &[6.0, 1.5]);
    check(&at(&model, 0.0, &["free", "der(x)"], &["top"])?, &[0.0, 1.0]);
    let refused = at(&model, 0.0, &["y"], &["top"]).unwrap_err();
    assert_eq!(refused.diagnostics[0].code, "no-derivative");
    let refused = at(&model, 0.0, &["y", "free"], &["x", "top"]).unwrap_err();
    assert_eq!(refused.diagnostics[0].code, "no-derivative");
    Ok(())
}

/// A vertical slope is no large number; along what does not change its argument it does not count.
#[test]
fn a_vertical_slope_is_refused() -> Result<(), Error> {
    let model = model(
        "model M
           parameter Real k = 2;
           Real x(start = 0, fixed = true), y = k*sqrt(x), z = asin(1 - x) + k;
         equation
           der(x) = 1;
         end M;",
    );
    assert_eq!(at(&model, 0.0, &["y"], &["x"]).unwrap_err().diagnostics[0].code, "no-derivative");
    assert_eq!(at(&model, 0.0, &["z"], &["x"]).unwrap_err().diagnostics[0].code, "no-derivative");
    check(&at(&model, 0.0, &["y", "z"], &["k"])?, &[0.0, 1.0]);
    check(&at(&model, 0.25, &["y"], &["x"])?, &[2.0]);
    Ok(())
}
