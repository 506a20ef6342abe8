//! Derivatives of trajectories: against closed forms, and against differences of runs, through events.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use gyrator::{Error, Model, Sensitivities, Session};

fn model(text: &str) -> Model {
    let mut session = Session::new();
    session.replace_text("m.mo", text);
    session.model("m.mo").unwrap_or_else(|error| panic!("{error}"))
}

fn sensitivities(model: &Model, stop: f64, of: &[&str], by: &[&str]) -> Result<Sensitivities, Error> {
    let find = |names: &[&str]| -> Vec<_> { names.iter().map(|name| model.variable(name).unwrap()).collect() };
    let experiment = model.experiment().stop(stop).tolerance(1e-9);
    model.sensitivities(&experiment, &find(of), &find(by))
}

/// The derivative at the end of the run, and a central difference of runs.
fn compare(text: &str, stop: f64, of: &[&str], by: &[&str], relative: f64) {
    let model = model(text);
    let found = sensitivities(&model, stop, of, by).unwrap_or_else(|error| panic!("{error}"));
    let values = model.parameter_values().unwrap();
    for parameter in by {
        let value = values.iter().find(|(known, _)| known.name == *parameter).unwrap().1;
        let distance = 1e-5 * value.abs().max(1e-3);
        let end = |value: f64| {
            let model = model.with(parameter, value).unwrap();
            model.simulate(&model.experiment().stop(stop).tolerance(1e-11)).unwrap()
        };
        let (low, high) = (end(value - distance), end(value + distance));
        for variable in of {
            let difference = (high.last(variable).unwrap() - low.last(variable).unwrap()) / (2.0 * distance);
            let exact = *found.get(variable, parameter).unwrap().last().unwrap();
            let allowed = relative * difference.abs().max(1e-3);
            assert!(
                (exact - difference).abs() <= allowed,
                "d{variable}/d{parameter}: {exact}, difference {difference}"
            );
        }
    }
}

const BALL: &str = "model Ball
  parameter Real g = 9.81;
  parameter Real e = 0.8;
  parameter Real h0 = 1;
  Real h(start = h0, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
end Ball;";

#[test]
fn a_ball_bounces_as_its_closed_form_says() {
    let (g, e, h0) = (9.81f64, 0.8, 1.0);
    let ball = model(BALL);
    let stop = 0.8;
    let found = sensitivities(&ball, stop, &["h", "v"], &["g", "e", "h0"]).unwrap();
    // Until the first impact at T: h = h0 - g t²/2. Then h = e w (t - T) - g (t - T)²/2 with w = g T = sqrt(2 g h0).
    let fall = (2.0 * h0 / g).sqrt();
    let w = (2.0 * g * h0).sqrt();
    for (row, &t) in found.run.time.iter().enumerate() {
        let at = |variable: &str, parameter: &str| found.get(variable, parameter).unwrap()[row];
        let near = |found: f64, exact: f64| {
            assert!((found - exact).abs() < 1e-6 * exact.abs().max(1.0), "{found} is not {exact} at {t}");
        };
        if t < fall - 1e-9 {
            near(at("h", "g"), -t * t / 2.0);
            near(at("h", "h0"), 1.0);
            near(at("v", "g"), -t);
            near(at("h", "e"), 0.0);
        } else if t > fall + 1e-9 {
            let s = t - fall;
            let (fall_g, fall_h) = (-fall / (2.0 * g), fall / (2.0 * h0));
            let (w_g, w_h) = (w / (2.0 * g), w / (2.0 * h0));
            near(at("h", "e"), w * s);
            near(at("v", "e"), w);
            near(at("h", "g"), e * w_g * s - e * w * fall_g - s * s / 2.0 + g * s * fall_g);
            near(at("v", "g"), e * w_g - s + g * fall_g);
            near(at("h", "h0"), e * w_h * s - e * w * fall_h + g * s * fall_h);
            near(at("v", "h0"), e * w_h + g * fall_h);
        }
    }
    // Both limits of the impact are rows.
    let impact = found.run.time.iter().position(|&t| (t - fall).abs() < 1e-7).unwrap();
    assert_eq!(found.run.time[impact], found.run.time[impact + 1]);
    let jump = found.get("v", "h0").unwrap();
    assert!((jump[impact] - 0.0).abs() < 1e-6 && (jump[impact + 1] - (e * w / 2.0 + g * fall / 2.0)).abs() < 1e-5);
}

#[test]
fn many_bounces_agree_with_differences() {
    compare(BALL, 2.5, &["h", "v"], &["g", "e", "h0"], 1e-4);
}

#[test]
fn a_switch_in_time_moves_with_its_parameter() {
    // x = a (t - T) behind T.
    let step = model(
        "model Step parameter Real T = 0.3; parameter Real a = 2; Real u = if time >= T then a else 0;
           Real x(start = 0, fixed = true); equation der(x) = u; end Step;",
    );
    let found = sensitivities(&step, 1.0, &["x", "u"], &["T", "a"]).unwrap();
    let last = |variable, parameter| *found.get(variable, parameter).unwrap().last().unwrap();
    assert!((last("x", "T") + 2.0).abs() < 1e-9, "{}", last("x", "T"));
    assert!((last("x", "a") - 0.7).abs() < 1e-9);
    assert_eq!((last("u", "T"), last("u", "a")), (0.0, 1.0));
}

#[test]
fn a_thermostat_agrees_with_differences() {
    let text = "model Thermostat
      parameter Real low = 19, high = 21, k = 0.5, P = 8, outside = 10;
      Real T(start = 18, fixed = true);
      discrete Boolean on(start = true, fixed = true);
    equation
      der(T) = -k*(T - outside) + (if on then P else 0);
      when T >= high then on = false; elsewhen T <= low then on = true; end when;
    end Thermostat;";
    compare(text, 5.0, &["T"], &["low", "high", "k", "P", "outside"], 1e-5);
}

#[test]
fn a_diode_agrees_with_differences() {
    let text = "model Rectifier
      parameter Real C = 1e-3, R = 100, Rs = 1, f = 50;
      Real v(start = 0, fixed = true), u, i, s;
      Boolean off = s < 0;
    equation
      u = 10*sin(2*3.141592653589793*f*time);
      u - v - Rs*i = if off then s else 0;
      i = if off then 0 else s;
      C*der(v) = i - v/R;
    end Rectifier;";
    compare(text, 0.05, &["v", "i"], &["C", "R", "Rs", "f"], 1e-4);
}

#[test]
fn what_a_sampled_controller_holds_has_derivatives() {
    let text = "model Sampled
      parameter Real T = 0.1, k = 2, w = 1;
      Real x(start = 0, fixed = true);
      discrete Real u(start = 0, fixed = true), z(start = 0, fixed = true);
    equation
      der(x) = -x + u;
      when sample(0, T) then
        z = pre(z) + T*(w - x);
        u = k*(w - x) + z;
      end when;
    end Sampled;";
    compare(text, 1.03, &["x", "u", "z"], &["T", "k", "w"], 1e-5);
}

#[test]
fn instants_that_a_when_clause_plans_move_with_their_parameters() {
    let text = "model Planned
      parameter Real T = 0.3, a = 2;
      discrete Real next(start = T, fixed = true), u(start = 0, fixed = true);
      Real x(start = 0, fixed = true);
    equation
      der(x) = u - x;
      when time >= pre(next) then
        next = pre(next) + T;
        u = pre(u) + a*x + 1;
      end when;
    end Planned;";
    compare(text, 1.0, &["x", "u", "next"], &["T", "a"], 1e-5);
    let pulses = "model Pulses
      parameter Real T = 0.3, d = 0.4;
      Real x(start = 0, fixed = true);
    equation
      der(x) = (if mod(time, T) < d*T then 1 else 0) - x;
    end Pulses;";
    compare(pulses, 1.0, &["x"], &["T", "d"], 1e-5);
    let stairs = "model Stairs
      parameter Real a = 1;
      Real x(start = 0, fixed = true), y(start = 0, fixed = true);
    equation
      der(x) = 1;
      der(y) = floor(3*a*x);
    end Stairs;";
    compare(stairs, 1.1, &["y"], &["a"], 1e-6);
}

#[test]
fn a_stationary_start_has_derivatives() {
    let text = "model Rest parameter Real a = 3; Real x(start = 1); initial equation der(x) = 0;
      equation der(x) = a - x^2 + time; end Rest;";
    compare(text, 1.0, &["x"], &["a"], 1e-6);
}

#[test]
fn the_first_point_has_derivatives_too() {
    // x³ = a at the start, then x' = -x: x = a^(1/3) exp(-t), and p = 2 a from the initial equations.
    let text = "model Start
      parameter Real a = 8;
      parameter Real p(fixed = false, start = 1);
      Real x(start = 1), y;
    initial equation
      x^3 = a;
      p = 2*a;
    equation
      der(x) = -x;
      der(y) = p;
    initial equation
      y = a^2;
    end Start;";
    let start = model(text);
    let found = sensitivities(&start, 1.0, &["x", "y"], &["a"]).unwrap();
    let (x, y) = (found.get("x", "a").unwrap(), found.get("y", "a").unwrap());
    assert!((x[0] - 1.0 / 12.0).abs() < 1e-10 && (y[0] - 16.0).abs() < 1e-9, "{} {}", x[0], y[0]);
    assert!((x.last().unwrap() - (-1f64).exp() / 12.0).abs() < 1e-7);
    assert!((y.last().unwrap() - 18.0).abs() < 1e-7);
}

#[test]
fn stiff_equations_and_simultaneous_systems() {
    let text = "model Stiff
      parameter Real k = 1e4, c = 3;
      Real x(start = 0, fixed = true), y(start = 1, fixed = true), z;
    equation
      der(x) = -k*(x - sin(time)) + y;
      der(y) = -c*y*z;
      z^3 + z = x^2 + 1;
    end Stiff;";
    compare(text, 2.0, &["x", "y", "z"], &["k", "c"], 1e-4);
}

#[test]
fn inputs_that_jump_and_move_states_through_events() {
    let text = "model Driven
      input Real u;
      parameter Real limit = 0.4, k = 1.5;
      Real x(start = 0, fixed = true), y(start = 0, fixed = true);
    equation
      der(x) = k*u - 0.1*x;
      der(y) = if u + x > limit then u else 0;
    end Driven;";
    let model = model(text);
    let run = |model: &Model| {
        model.experiment().input("u", &[0.0, 1.0, 1.0, 2.0], &[0.0, 1.0, 0.2, 0.5]).stop(2.0).tolerance(1e-10)
    };
    let find = |name| model.variable(name).unwrap();
    let found = model.sensitivities(&run(&model), &[find("x"), find("y")], &[find("limit"), find("k")]).unwrap();
    for (parameter, value) in [("limit", 0.4), ("k", 1.5)] {
        let end = |value| {
            let model = model.with(parameter, value).unwrap();
            model.simulate(&run(&model)).unwrap()
        };
        let (low, high) = (end(value - 1e-5), end(value + 1e-5));
        for variable in ["x", "y"] {
            let difference = (high.last(variable).unwrap() - low.last(variable).unwrap()) / 2e-5;
            let exact = *found.get(variable, parameter).unwrap().last().unwrap();
            assert!(
                (exact - difference).abs() < 1e-4 * difference.abs().max(0.1),
                "{variable} by {parameter}: {exact} {difference}"
            );
        }
    }
}

#[test]
fn what_has_no_derivative_is_refused() {
    let grazing = "model Grazing parameter Real a = 1; Real x = (time - a)^2; Real y(start = 0, fixed = true);
      equation der(y) = if x > 0 then 1 else 5; end Grazing;";
    let said = refusal(grazing, 2.0, "y", "a");
    assert!(said.contains("no-sensitivity") && said.contains("touches"), "{said}");
    let parting = "model Parting parameter Real a = 0.5, b = 0.5; Real x(start = 0, fixed = true);
      equation der(x) = (if time > a then 1 else 2)*(if time > b then 3 else 5); end Parting;";
    let said = refusal(parting, 1.0, "x", "a");
    assert!(said.contains("no-sensitivity") && said.contains("change together"), "{said}");
    let delayed = "model Delayed parameter Real k = 1; Real x(start = 1, fixed = true);
      equation der(x) = -k*delay(x, 0.1); end Delayed;";
    assert!(refusal(delayed, 1.0, "x", "k").contains("delays"));
    // A term with a parameter that is zero is not part of the code.
    let zero = "model Zero parameter Real k = 0; Real x(start = 1, fixed = true), y(start = 2, fixed = true);
      equation der(x) = -x + k*y; der(y) = -y; end Zero;";
    assert!(refusal(zero, 1.0, "x", "k").contains("structure beside it"));
    let count = "model Count parameter Integer n = 2; Real x(start = 0, fixed = true); equation der(x) = n; end Count;";
    assert!(refusal(count, 1.0, "x", "n").contains("`n`"));
    let whole = "model Whole parameter Real k = 1; Integer n = integer(k*time); end Whole;";
    assert!(refusal(whole, 1.0, "n", "k").contains("no Real"));
}

#[test]
fn states_that_are_exchanged_keep_their_derivatives() {
    // A pendulum in Cartesian coordinates; its angle as a state of its own is the reference.
    let text = "model Pendulum
      parameter Real L = 1, g = 9.81;
      Real x(start = 0.8, fixed = true), y(start = -0.6), vx(start = 0, fixed = true), vy, F;
    equation
      der(x) = vx;
      der(y) = vy;
      der(vx) = -F*x;
      der(vy) = -F*y - g;
      x^2 + y^2 = L^2;
    end Pendulum;";
    compare(text, 1.7, &["x", "y", "vx"], &["L", "g"], 1e-3);
}

/// A start value that a constraint is met with decides nothing: the states to begin with are a form.
#[test]
fn start_values_on_a_constraint_have_derivatives() {
    let text = "model Pendulum
      parameter Real L = 1, g = 9.81, x0 = 0.8;
      Real x(start = x0, fixed = true), y(start = -0.6), vx(start = 0, fixed = true), vy, F;
    equation
      der(x) = vx;
      der(y) = vy;
      der(vx) = -F*x;
      der(vy) = -F*y - g;
      x^2 + y^2 = L^2;
    end Pendulum;";
    compare(text, 1.7, &["x", "y", "vx"], &["x0", "L"], 1e-3);
    // The energy g*y0 stays, and the constraint holds: with y0 = -sqrt(L² - x0²), ∂y0/∂x0 = -x0/y0 and ∂y0/∂L = L/y0.
    let pendulum = model(text);
    let found = sensitivities(&pendulum, 1.7, &["x", "y", "vx", "vy"], &["x0", "L"]).unwrap();
    let (g, x0, y0) = (9.81, 0.8, -0.6);
    for (parameter, moved, constraint) in [("x0", -x0 / y0, 0.0), ("L", 1.0 / y0, 1.0)] {
        let of = |variable: &str| found.get(variable, parameter).unwrap();
        let run = |variable: &str| &found.run.get(variable).unwrap().values;
        for row in 0..found.run.time.len() {
            let energy = run("vx")[row] * of("vx")[row] + run("vy")[row] * of("vy")[row] + g * of("y")[row];
            let length = run("x")[row] * of("x")[row] + run("y")[row] * of("y")[row];
            assert!((energy - g * moved).abs() < 1e-5 * g, "{parameter}: {energy}, exact {}", g * moved);
            assert!((length - constraint).abs() < 1e-7, "{parameter}: {length}, exact {constraint}");
        }
    }
}

/// The voltages of a symmetrical grid add up to rounding errors, which small inductances make large slopes.
#[test]
fn sums_that_vanish_but_for_rounding_are_no_jumps() {
    let text = "model Grid parameter Real U = 325, L = 1e-4; Real u[3], i[3](each start = 0, each fixed = true), zero(start = 0, fixed = true);
      equation
        for k in 1:3 loop u[k] = U*cos(314*time - 2*3.141592653589793*(k - 1)/3); L*der(i[k]) = u[k] - i[k]; end for;
        1e-5*der(zero) = (u[1] + u[2] + u[3])/3 - 0.03*zero; end Grid;";
    compare(text, 0.05, &["i[1]"], &["U", "L"], 1e-4);
}

/// The message of sensitivities that are refused.
fn refusal(text: &str, stop: f64, of: &str, by: &str) -> String {
    match sensitivities(&model(text), stop, &[of], &[by]) {
        Ok(_) => panic!("sensitivities went through"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn jumps_without_event_are_refused() {
    let friction = |force: &str| {
        format!(
            "model F
               function s input Real x; output Real y; algorithm y := if x > 0 then 1 else -1; end s;
               parameter Real mu = 1, v0 = 1;
               Real v(start = v0, fixed = true);
             equation
               der(v) = -3 - mu*{force};
             end F;"
        )
    };
    for force in ["sign(v)", "s(v)", "noEvent(if v > 0 then 1 else -1)"] {
        let message = refusal(&friction(force), 1.0, "v", "v0");
        assert!(message.contains("jumps without an event") && message.contains("at time 0.2"), "{force}: {message}");
    }
    // With an event it is exact: v(1) = -(3 - mu)*(1 - v0/(3 + mu)).
    let model = model(&friction("(if v > 0 then 1 else -1)"));
    let found = sensitivities(&model, 1.0, &["v"], &["v0", "mu"]).unwrap();
    for (parameter, exact) in [("v0", 0.5), ("mu", 0.625)] {
        let last = *found.get("v", parameter).unwrap().last().unwrap();
        assert!((last - exact).abs() < 1e-6, "{parameter}: {last}");
    }
}

#[test]
fn corners_without_event_are_passed() {
    // The derivatives of integrals over 0..1.
    let k: f64 = 0.4;
    let corners = [
        ("abs(time - k)", 2.0 * k - 1.0),
        ("noEvent(if time < k then k - time else 0)", k),
        ("max(0, time - k)", k - 1.0),
        ("100*sin(20*(time - k))^3", 100.0 * ((-20.0 * k).sin().powi(3) - (20.0 * (1.0 - k)).sin().powi(3))),
    ];
    for (slope, exact) in corners {
        let text = format!(
            "model C parameter Real k = {k}; Real x(start = 0, fixed = true); equation der(x) = {slope}; end C;"
        );
        let found =
            sensitivities(&model(&text), 1.0, &["x"], &["k"]).unwrap_or_else(|error| panic!("{slope}: {error}"));
        let last = *found.get("x", "k").unwrap().last().unwrap();
        assert!((last - exact).abs() < 1e-3 * (1.0 + exact.abs()), "{slope}: {last}, exact {exact}");
    }
}

#[test]
fn small_jumps_without_event_are_refused() {
    for (jump, instant) in [(1e-3, "time > p"), (1e-4, "time > p"), (1e-5, "x < p"), (1e-4, "x < p")] {
        // A state that begins small is as large as it becomes.
        for size in [1.0, 1e-9] {
            let text = format!(
                "model Small parameter Real p = 0.5; Real y(start = {size}, fixed = true), x = y/{size};
                 equation der(y) = -y*(1 + noEvent(if {instant} then {jump} else 0)); end Small;"
            );
            let said = refusal(&text, 1.0, "y", "p");
            assert!(said.contains("jumps without an event"), "{jump} {instant} {size}: {said}");
        }
    }
}

/// An integrator may come to a jump by steps that are too short for a half.
#[test]
fn jumps_that_a_step_ends_at_are_refused() {
    for p in [0.5, 0.6, 0.37, 0.25, 0.71] {
        for tolerance in [1e-6, 1e-8, 1e-9, 1e-10] {
            let text = format!(
                "model Steps parameter Real p = {p}; Real x(start = 0, fixed = true); equation der(x) = sign(p - time); end Steps;"
            );
            let model = model(&text);
            let [x, p] = ["x", "p"].map(|name| model.variable(name).unwrap());
            let experiment = model.experiment().stop(1.0).tolerance(tolerance);
            let said = model.sensitivities(&experiment, &[x], &[p]).err().map(|error| error.to_string());
            assert!(said.is_some_and(|said| said.contains("jumps without an event")), "{tolerance}: {text}");
        }
    }
}

/// What heat has not reached yet has derivatives that are rounding errors, or nothing.
#[test]
fn smooth_models_whose_derivatives_vanish_have_no_jumps() {
    for tolerance in [1e-4, 1e-6, 1e-9] {
        let rod = model(
            "model Rod parameter Real k = 10; Real T[20](each start = 1, each fixed = true), q[20];
             equation
               q[1] = k*(0 - 2*T[1] + T[2]);
               for i in 2:19 loop q[i] = k*(T[i-1] - 2*T[i] + T[i+1]); end for;
               q[20] = k*(T[19] - T[20]);
               der(T) = q; end Rod;",
        );
        let names: Vec<String> = (1..=20).map(|i| format!("T[{i}]")).collect();
        let find = |name: &str| rod.variable(name).unwrap();
        let of: Vec<_> = names.iter().map(|name| find(name)).collect();
        let experiment = rod.experiment().stop(3.0).tolerance(tolerance);
        let found = rod.sensitivities(&experiment, &of, &[find("k")]).unwrap_or_else(|error| panic!("{error}"));
        // T depends on k*t alone, so that ∂T/∂k = t/k der(T).
        for i in 1..=20 {
            let (tangents, rates) =
                (found.get(&format!("T[{i}]"), "k").unwrap(), &found.run.get(&format!("q[{i}]")).unwrap().values);
            for ((tangent, rate), t) in tangents.iter().zip(rates).zip(&found.run.time) {
                assert!(
                    (tangent - t / 10.0 * rate).abs() < 200.0 * tolerance,
                    "T[{i}] at {t}: {tangent}, exact {}",
                    t / 10.0 * rate
                );
            }
        }
    }
}

#[test]
fn pulses_and_rounding_are_no_jumps() {
    let pulse = model(
        "model Pulse parameter Real p = 0.5; Real x(start = 0, fixed = true), y(start = 0, fixed = true);
         equation der(x) = exp(-((time - p)/0.01)^2); der(y) = 10*x*(1 - y); end Pulse;",
    );
    let found = sensitivities(&pulse, 1.0, &["x", "y"], &["p"]).unwrap_or_else(|error| panic!("{error}"));
    for (tangent, t) in found.get("x", "p").unwrap().iter().zip(&found.run.time) {
        let exact = -(-((t - 0.5) / 0.01).powi(2)).exp();
        assert!((tangent - exact).abs() < 1e-6, "{tangent} at {t}, exact {exact}");
    }
    // y = 1 - exp(-10 X) with X the integral of x, whose derivative by p is -x.
    let (x, y) = (found.run.last("x").unwrap(), found.run.last("y").unwrap());
    let last = *found.get("y", "p").unwrap().last().unwrap();
    assert!((last + 10.0 * x * (1.0 - y)).abs() < 1e-6, "{last}");
    for slope in [
        "sin(time)^2 + cos(time)^2 - 1",
        "p*(exp(time)*exp(-time) - 1)",
        "p*exp(-800*time)",
        "p*exp(-1e3*(time - 0.9)^2)",
    ] {
        let text = format!(
            "model Still parameter Real p = 1; Real x(start = 0, fixed = true); equation der(x) = {slope}; end Still;"
        );
        sensitivities(&model(&text), 1.0, &["x"], &["p"]).unwrap_or_else(|error| panic!("{slope}: {error}"));
    }
}

#[test]
fn an_event_that_only_touches_is_refused() {
    let text = |k: f64| {
        format!(
            "model G parameter Real k = {k}; Real q(start = 0, fixed = true);
             equation der(q) = if k*sin(time) >= 1 then 1 else 0; end G;"
        )
    };
    let message = refusal(&text(1.0), 3.0, "q", "k");
    assert!(message.contains("touches"), "{message}");
    // q = 2 acos(1/k).
    let k: f64 = 1.01;
    let found = sensitivities(&model(&text(k)), 3.0, &["q"], &["k"]).unwrap();
    let (last, exact) = (*found.get("q", "k").unwrap().last().unwrap(), 2.0 / (k * k * (1.0 - 1.0 / (k * k)).sqrt()));
    assert!((last - exact).abs() < 1e-5 * exact, "{last}, exact {exact}");
}

#[test]
fn conditions_on_their_edge_are_refused() {
    let when = |body: &str| {
        format!(
            "model Edge parameter Real a = 0.5, T = 1; discrete Real y(start = 0, fixed = true); Real z(start = 0, fixed = true);
               Real x(start = 0, fixed = true);
             equation der(x) = 0.5; der(z) = y + a; when time >= T then y = {body}; end when; end Edge;"
        )
    };
    // Exactly zero, and a moves it.
    for body in [
        "if a - 0.5*time > 0 then 3 else 4",
        "abs(a - 0.5)",
        "max(a, 0.5)",
        "floor(2*a)",
        "sign(a - 0.5)",
        "if x > a then 3 else 4",
        "max(a, x)",
        "floor(2*x + 2*a)",
    ] {
        let said = refusal(&when(body), 2.0, "z", "a");
        assert!(
            said.contains("no-sensitivity") && said.contains("exactly on its edge") && said.contains("`a`"),
            "{body}: {said}"
        );
    }
    // The instant moves, and the condition with it.
    let said = refusal(&when("if time > 1 then 3 else 4"), 2.0, "z", "T");
    assert!(said.contains("no-sensitivity"), "{said}");
    // Parameters alone.
    for body in [
        "if a > 0.5 then 1 else 2",
        "floor(4*a)",
        "abs(2*a - 1)",
        "max(a, 0.5)",
        "mod(a, 0.25)",
        "if noEvent(a < 0.5) then 1 else 2",
    ] {
        let text = format!(
            "model Fixed parameter Real a = 0.5; Real z(start = 0, fixed = true); equation der(z) = {body} + a; end Fixed;"
        );
        let said = refusal(&text, 1.0, "z", "a");
        assert!(
            said.contains("`a`") && (said.contains("edge") || said.contains("structure beside it")),
            "{body}: {said}"
        );
    }
    // At the start.
    let start = "model Start parameter Real a = 0; Real x(start = a, fixed = true); Real z(start = 0, fixed = true);
      equation der(x) = 0; der(z) = if x > 0 then 1 else 2; end Start;";
    assert!(refusal(start, 1.0, "z", "a").contains("exactly on its edge"));
    // In the initial problem.
    let initial = "model Initial parameter Real a = 2; Real x, y(start = a, fixed = true);
      initial equation x = if y > 2 then 1 else y; equation der(x) = 1; der(y) = 1; end Initial;";
    assert!(refusal(initial, 1.0, "x", "a").contains("exactly on its edge"));
    // Two conditions at one instant.
    let two = "model Two parameter Real a = 1, b = 1; Real x(start = 0, fixed = true);
      discrete Real y(start = 1, fixed = true); discrete Real u(start = 0, fixed = true);
      equation der(x) = b; when time >= 1 then u = y; end when; when x >= a then y = 5; end when; end Two;";
    assert!(refusal(two, 2.0, "u", "a").contains("no-sensitivity"));
}

#[test]
fn edges_that_change_nothing_are_passed() {
    // z' = x|x| has a derivative where x is zero.
    for square in ["x*abs(x)", "if x > 0 then x^2 else -x^2"] {
        let text = format!(
            "model Square parameter Real a = 0; Real x(start = a, fixed = true); Real z(start = 0, fixed = true);
             equation der(x) = 1; der(z) = {square}; end Square;"
        );
        // z = (1 + a)³/3 - …, so that dz/da = 1 at a = 0.
        let found = sensitivities(&model(&text), 1.0, &["z"], &["a"]).unwrap_or_else(|error| panic!("{error}"));
        let last = *found.get("z", "a").unwrap().last().unwrap();
        assert!((last - 1.0).abs() < 1e-6, "{last}");
    }
    // The condition is zero, and no parameter moves it; another one moves with the instant as the event does.
    let still = "model Still parameter Real a = 2, T = 1; discrete Real y(start = 0, fixed = true);
      Real z(start = 0, fixed = true);
      equation der(z) = y + a; when time >= T then y = a*(if 0*y + z - z > 0 then 1 else 3) + (if time > T then 1 else 2); end when;
      end Still;";
    let found = sensitivities(&model(still), 2.0, &["z"], &["a"]).unwrap_or_else(|error| panic!("{error}"));
    let last = *found.get("z", "a").unwrap().last().unwrap();
    assert!((last - 5.0).abs() < 1e-8, "{last}");
}

/// The flow rests at zero while both directions contradict themselves; when the other one begins is no crossing of a residue.
#[test]
fn a_relation_that_leaves_zero_ends_the_derivatives() {
    let text = "model M
      parameter Real u0 = 1;
      Real m(start = 1), h(start = 1), u = u0 - time;
      Real inflow = if m > 0 then 1 else h, outflow = if m > 0 then h else 2;
    equation
      m*inflow - m*outflow = 0;
      m = u + 0.1*h;
    end M;";
    let model = model(text);
    let before = sensitivities(&model, 1.05, &["m"], &["u0"]).unwrap();
    assert!((before.get("m", "u0").unwrap().last().unwrap() - 1.0).abs() < 1e-8);
    let error = sensitivities(&model, 1.6, &["m"], &["u0"]).unwrap_err().to_string();
    assert!(error.contains("leaves it: sensitivities do not go through that"), "{error}");
}

/// A model with the states x and y, which begin at zero, for a parameter p of this value.
fn at_rest(value: f64, declarations: &str, equations: &str) -> String {
    format!(
        "model Rest parameter Real p = {value}; Real x(start = 0, fixed = true), y(start = 0, fixed = true); {declarations}
         equation {equations} end Rest;"
    )
}

fn is_refused_at_edge(text: &str, stop: f64, of: &str) {
    let said = refusal(text, stop, of, "p");
    assert!(
        said.contains("no-sensitivity") && said.contains("exactly on its edge") && said.contains("`p`"),
        "{text}: {said}"
    );
}

#[test]
fn conditions_that_rest_on_their_edges_are_refused() {
    // x stays zero at p = 0, and goes to either side beside it.
    for slope in [
        "abs(x)",
        "max(x, -3*x)",
        "max(0, abs(x))",
        "if x >= 0 then x else 3*x",
        "if x > 0 then 2 else 1",
        "noEvent(if x > 0 then x else -x)",
        "semiLinear(x, 1, 2)",
        "sqrt(x^2)",
        "(x^2)^0.5",
        "atan2(x, -1)",
        "sign(x)",
    ] {
        is_refused_at_edge(&at_rest(0.0, "", &format!("der(x) = p; der(y) = {slope};")), 1.0, "y");
    }
    // The same behind an event, and of what is only looked at.
    is_refused_at_edge(&at_rest(0.0, "", "der(x) = if time > 0.5 then p else 0; der(y) = abs(x);"), 1.0, "y");
    is_refused_at_edge(&at_rest(0.0, "Real z = abs(x);", "der(x) = p; der(y) = 1;"), 1.0, "z");
    // In functions, and through conditions that are not on their edges themselves.
    let folded = "function folded input Real u; output Real r; algorithm r := 0; for k in 1:3 loop if u < 0 then r := r - u; end if;
        end for; annotation(Inline = false); end folded;";
    is_refused_at_edge(&at_rest(0.0, folded, "der(x) = p; der(y) = folded(x);"), 1.0, "y");
    is_refused_at_edge(&at_rest(0.0, "Real z = sign(x);", "der(x) = p; der(y) = if z > 0.9 then 2 else 1;"), 1.0, "y");
    let counted = "discrete Real n(start = 0, fixed = true);";
    let late = "der(x) = p; der(y) = n; when time > 0.5 + 0.1*abs(x) then n = 1; end when;";
    is_refused_at_edge(&at_rest(0.0, counted, late), 1.0, "y");
    let kept = "der(x) = p; der(y) = n; when time > 0.5 then n = abs(x); end when;";
    is_refused_at_edge(&at_rest(0.0, counted, kept), 1.0, "y");
    // Through simultaneous equations.
    is_refused_at_edge(&at_rest(0.0, "Real z;", "der(x) = p; der(y) = z; z^3 + z = abs(x) + x;"), 1.0, "y");
    let decay =
        "model Decay parameter Real p = 0; Real x(start = p, fixed = true); equation der(x) = -abs(x); end Decay;";
    is_refused_at_edge(decay, 1.0, "x");
    let equals = "model Equals parameter Real p = 0; Real a(start = 1, fixed = true), b(start = 1 + p, fixed = true);
        Real z(start = 0, fixed = true); equation der(a) = -a; der(b) = -b; der(z) = max(a, b); end Equals;";
    is_refused_at_edge(equals, 1.0, "z");
    let diode = "model Diode parameter Real p = 0; Real v(start = 0, fixed = true), u, i, s; Boolean off = s < 0;
        equation u = p*sin(50*time); u - v - i = if off then s else 0; i = if off then 0 else s; 0.01*der(v) = i - v/100; end Diode;";
    is_refused_at_edge(diode, 0.1, "v");
}

#[test]
fn what_rests_and_has_a_derivative_is_answered() {
    // The derivatives of y at 1 at p = 0.
    for (equations, exact) in [
        ("der(x) = 0; der(y) = abs(x) + p;", 1.0),
        ("der(x) = p; der(y) = x*abs(x) + p;", 1.0),
        ("der(x) = p; der(y) = if x > 0 then x + x^2 else x - x^2;", 0.5),
        ("der(x) = p; der(y) = abs(x)^1.5 + p;", 1.0),
        ("der(x) = p; der(y) = x*sqrt(abs(x)) + p;", 1.0),
        ("der(x) = p; der(y) = sqrt(x^4) + p;", 1.0),
        ("der(x) = 0; der(y) = sqrt(x) + p;", 1.0),
        ("der(x) = p; der(y) = max(x - 1, x);", 0.5),
        ("der(x) = 0; der(y) = if time > 0.5 + 0.1*abs(x) then p else 0;", 0.5),
        ("der(x) = p; der(y) = if time > 0.5 + 0.1*x*abs(x) then p else 0;", 0.5),
    ] {
        let found = sensitivities(&model(&at_rest(0.0, "", equations)), 1.0, &["y"], &["p"]);
        let found = found.unwrap_or_else(|error| panic!("{equations}: {error}"));
        let last = *found.get("y", "p").unwrap().last().unwrap();
        assert!((last - exact).abs() < 1e-6, "{equations}: {last} instead of {exact}");
    }
}

#[test]
fn conditions_that_discrete_variables_bring_to_their_edges_are_refused() {
    let discrete = |declarations: &str, equations: &str| {
        at_rest(
            1.0,
            &format!("discrete Real d(start = 0, fixed = true); {declarations}"),
            &format!("der(x) = 0; when time > 0.5 then d = p; end when; {equations}"),
        )
    };
    for slope in ["if d >= 1 then 5 else 1", "if pre(d) >= 1 then 5 else 1", "abs(d - 1)", "max(d, 1)", "floor(d)"] {
        is_refused_at_edge(&discrete("", &format!("der(y) = {slope};")), 1.0, "y");
    }
    let counted = "discrete Real e(start = 0, fixed = true);";
    is_refused_at_edge(&discrete(counted, "when d >= 1 then e = 3; end when; der(y) = e;"), 1.0, "y");
    is_refused_at_edge(&discrete("Boolean e = d >= 1;", "der(y) = if e then 1 else 2;"), 1.0, "y");
    is_refused_at_edge(&discrete("Integer e = integer(d);", "der(y) = e;"), 1.0, "y");
    let sampled = "model Sampled parameter Real p = 1; discrete Real d(start = 0, fixed = true); Real y(start = 0, fixed = true);
        equation when sample(0.2, 0.3) then d = 10*p*time - 2; end when; der(y) = if d >= 0 then 5 else 1; end Sampled;";
    is_refused_at_edge(sampled, 1.0, "y");
    for slope in ["if x >= 1 then 5 else 1", "max(x, 1)"] {
        let set =
            at_rest(1.0, "", &format!("der(x) = 0; when time > 0.5 then reinit(x, p); end when; der(y) = {slope};"));
        is_refused_at_edge(&set, 1.0, "y");
    }
    let begun =
        "model Begun parameter Real p = 1; discrete Real d(start = p, fixed = true); Real y(start = 0, fixed = true);
        equation when time > 0.5 then d = 2; end when; der(y) = if d >= 1 then 5 else 1; end Begun;";
    is_refused_at_edge(begun, 1.0, "y");
    // Beside the edge there is a derivative.
    let beside = discrete("", "der(y) = if d >= 1.5 then 5 else d;");
    compare(&beside, 1.0, &["y"], &["p"], 1e-5);
}

#[test]
fn slopes_of_parameters_that_are_none_are_refused() {
    for slope in ["sqrt(p^2)", "(p^2)^0.5", "atan2(p, -1)"] {
        is_refused_at_edge(&at_rest(0.0, "", &format!("der(x) = 1; der(y) = {slope};")), 1.0, "y");
    }
}

#[test]
fn initial_conditions_that_agree_for_one_value_alone_are_refused() {
    let text = |first: &str, second: &str, equations: &str| {
        format!(
            "model Redundant parameter Real p = 2; Real a(start = {first}, fixed = true), b(start = {second}, fixed = true), f;
             equation der(a) = 1 - f; der(b) = f; {equations} end Redundant;"
        )
    };
    for contradicting in [text("p", "2", "a = b;"), text("2", "p", "a = b;"), text("1", "2", "a = b + 1 - p;")] {
        let said = refusal(&contradicting, 1.0, "a", "p");
        assert!(said.contains("agrees with the others for this value of `p` alone"), "{contradicting}: {said}");
    }
    // a = b = p + t/2.
    let found =
        sensitivities(&model(&text("p", "p", "a = b;")), 1.0, &["a"], &["p"]).unwrap_or_else(|error| panic!("{error}"));
    assert!((found.get("a", "p").unwrap().last().unwrap() - 1.0).abs() < 1e-8);
}

#[test]
fn a_sample_that_begins_with_the_run_and_is_moved_is_refused() {
    let text = |s: f64| {
        format!(
            "model Ticks parameter Real s = {s}, T = 0.3; discrete Real n(start = 0, fixed = true); Real x(start = 0, fixed = true);
             equation when sample(s, T) then n = pre(n) + 1; end when; der(x) = n; end Ticks;"
        )
    };
    let said = refusal(&text(0.0), 0.9, "x", "s");
    assert!(said.contains("the start of the run, and `s` moves it"), "{said}");
    compare(&text(0.0), 1.0, &["x"], &["T"], 1e-6);
    compare(&text(0.05), 1.0, &["x"], &["s", "T"], 1e-6);
}

#[test]
fn roundings_of_time_move_with_their_period() {
    for slope in ["mod(time, T)", "rem(time, T)", "floor(time/T)", "div(time, T)", "ceil(time/T)", "mod(time + T, 2*T)"]
    {
        let text = format!(
            "model Saw parameter Real T = 0.3; Real x(start = 0, fixed = true); equation der(x) = {slope}; end Saw;"
        );
        compare(&text, 1.0, &["x"], &["T"], 1e-5);
    }
    let held =
        "model Held parameter Real T = 0.25; Real x(start = 0, fixed = true); discrete Real u(start = 0, fixed = true);
        equation der(x) = mod(time, T) + u; when time >= 2*T then u = floor(time/T + 0.5); end when; end Held;";
    compare(held, 1.1, &["x"], &["T"], 1e-5);
}

#[test]
fn conditions_on_quotients_are_differentiated() {
    // The residue of the relation is the quotient itself.
    let text =
        "model Quotient parameter Real a = 0.4, b = 2; Real x(start = 0, fixed = true), y(start = 0, fixed = true);
        equation der(x) = b; der(y) = if (x - a)/(1 + b*x) > 0 then 3 else 1 + x; end Quotient;";
    compare(text, 1.0, &["y"], &["a", "b"], 1e-5);
}
