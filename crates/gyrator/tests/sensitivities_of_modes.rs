//! Derivatives of trajectories through changes of structure: against closed forms, and against differences of runs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use gyrator::{Error, Model, Sensitivities, Session};

fn model(text: &str) -> Model {
    let mut session = Session::new();
    session.replace_text("m.mo", text);
    session.model("m.mo").unwrap_or_else(|error| panic!("{error}"))
}

fn sensitivities(model: &Model, stop: f64, of: &[&str], by: &[&str]) -> Result<Sensitivities, Error> {
    let find = |names: &[&str]| -> Vec<_> { names.iter().map(|name| model.variable(name).unwrap()).collect() };
    let experiment = model.experiment().stop(stop).tolerance(1e-10);
    model.sensitivities(&experiment, &find(of), &find(by))
}

/// The derivatives at the end of the run against central differences of fourth order.
fn compare(text: &str, stop: f64, of: &[&str], by: &[&str]) {
    const RELATIVE: f64 = 1e-6;
    let model = model(text);
    let found = sensitivities(&model, stop, of, by).unwrap_or_else(|error| panic!("{error}"));
    let values = model.parameter_values().unwrap();
    for parameter in by {
        let value = values.iter().find(|(known, _)| known.name == *parameter).unwrap().1;
        let scale = if value == 0.0 { 1e-3 } else { value.abs() };
        let distance = 3e-4 * scale;
        let end = |steps: f64| {
            let model = model.with(parameter, value + steps * distance).unwrap();
            model.simulate(&model.experiment().stop(stop).tolerance(1e-12)).unwrap()
        };
        let [far, low, high, beyond] = [-2.0, -1.0, 1.0, 2.0].map(end);
        for variable in of {
            let [far, low, high, beyond] = [&far, &low, &high, &beyond].map(|run| run.last(variable).unwrap());
            let difference = (8.0 * (high - low) - (beyond - far)) / (12.0 * distance);
            let exact = *found.get(variable, parameter).unwrap().last().unwrap();
            let size = difference.abs().max(1e-2 * (high.abs() / scale)).max(1e-4);
            assert!(
                (exact - difference).abs() <= RELATIVE * size,
                "d{variable}/d{parameter}: {exact}, difference {difference}"
            );
        }
    }
}

fn refusal(text: &str, stop: f64, of: &str, by: &str) -> String {
    match sensitivities(&model(text), stop, &[of], &[by]) {
        Ok(found) => panic!("sensitivities went through: {:?}", found.get(of, by).unwrap().last()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn two_inertias_that_a_clutch_joins() {
    let text = "model Clutch
      parameter Real J1 = 1, J2 = 2, M = 0.5, T = 1.3, w1_0 = 1, w2_0 = 1.5;
      Real phi(start = 0, fixed = true), w1(start = w1_0, fixed = true), w2(start = w2_0, fixed = true), tau1, tau2;
      Boolean engaged = time >= T;
    equation
      der(phi) = w1;
      J1*der(w1) = M + tau1;
      J2*der(w2) = tau2;
      tau1 + tau2 = 0;
      if engaged then w1 = w2; else tau1 = 0; end if;
    end Clutch;";
    let model = model(text);
    let found = sensitivities(&model, 2.0, &["w1", "w2", "phi", "tau1"], &["J1", "J2", "M", "T", "w2_0"]).unwrap();
    let (j1, j2, m, t1, a, b, t) = (1.0, 2.0, 0.5, 1.3, 1.0, 1.5, 2.0);
    let j = j1 + j2;
    // w = (J1 a + J2 b + M t)/(J1 + J2) behind T, whenever that is.
    let w = |t: f64| (j1 * a + j2 * b + m * t) / j;
    let last = |variable: &str, parameter: &str| *found.get(variable, parameter).unwrap().last().unwrap();
    let near = |found: f64, exact: f64, what: &str| {
        assert!((found - exact).abs() <= 1e-8 * exact.abs().max(1.0), "{what}: {found} is not {exact}");
    };
    for shaft in ["w1", "w2"] {
        near(last(shaft, "J1"), (a - w(t)) / j, "w by J1");
        near(last(shaft, "J2"), (b - w(t)) / j, "w by J2");
        near(last(shaft, "M"), t / j, "w by M");
        near(last(shaft, "T"), 0.0, "w by T");
        near(last(shaft, "w2_0"), j2 / j, "w by w2_0");
    }
    // phi = a T + M T²/(2 J1) + ∫ w.
    near(last("phi", "T"), a + m * t1 / j1 - w(t1), "phi by T");
    near(last("phi", "M"), t1 * t1 / (2.0 * j1) + (t * t - t1 * t1) / (2.0 * j), "phi by M");
    let behind = |by: f64| by * (t - t1) - m * (t * t - t1 * t1) / (2.0 * j * j);
    near(
        last("phi", "J1"),
        -m * t1 * t1 / (2.0 * j1 * j1) + behind((a * j - (j1 * a + j2 * b)) / (j * j)),
        "phi by J1",
    );
    // tau1 = J1 M/J - M.
    near(last("tau1", "J1"), m / j - j1 * m / (j * j), "tau1 by J1");
    near(last("tau1", "T"), 0.0, "tau1 by T");
}

#[test]
fn a_clutch_that_angles_close_and_open() {
    compare(
        "model Start
           parameter Real J1 = 1, J2 = 2, M = 3, k = 0.4, closes = 0.3, opens = 1.2;
           Real p1(start = 0, fixed = true), p2(start = 0, fixed = true), w1(start = 0, fixed = true), w2(start = 0.1, fixed = true), tau1, tau2;
           Boolean engaged(start = false, fixed = true);
         equation
           der(p1) = w1;
           der(p2) = w2;
           J1*der(w1) = M - k*w1^2 + tau1;
           J2*der(w2) = tau2 - k*w2;
           tau1 + tau2 = 0;
           when p1 > closes then engaged = true; elsewhen p2 > opens then engaged = false; end when;
           if engaged then w1 = w2; else tau1 = 0; end if;
         end Start;",
        4.0,
        &["p1", "w1", "w2"],
        &["J1", "J2", "M", "k", "closes", "opens"],
    );
}

#[test]
fn a_buck_converter_with_ideal_elements() {
    compare(
        "model Buck
           parameter Real V = 24, L = 1e-3, C = 1e-4, R = 5, T = 1e-3, d = 0.4;
           Real i(start = 0, fixed = true), v(start = 0, fixed = true), u, iS, iD, s;
           Boolean on = mod(time, T) < d*T;
           Boolean off = s < 0;
         equation
           L*der(i) = u - v;
           C*der(v) = i - v/R;
           i = iS + iD;
           if on then u = V; else iS = 0; end if;
           -u = if off then s else 0;
           iD = if off then 0 else s;
         end Buck;",
        0.0105,
        &["i", "v"],
        &["V", "L", "C", "R", "T", "d"],
    );
}

#[test]
fn capacitors_that_are_switched_together() {
    let text = "model Share
      parameter Real C1 = 1, C2 = 3, a = 5, b = 1, R = 2, T = 0.5;
      Real v1(start = a, fixed = true), v2(start = b, fixed = true), i, vS;
    equation
      C1*der(v1) = -v1/R - i;
      C2*der(v2) = i;
      vS = v1 - v2;
      if time >= T then vS = 0; else i = 0; end if;
    end Share;";
    let found = sensitivities(&model(text), 0.6, &["v1"], &["C1", "C2", "a", "b", "R", "T"]).unwrap();
    let behind = found.run.time.iter().rposition(|&time| time == 0.5).unwrap();
    let (c1, c2, a, b, r, t) = (1.0, 3.0, 5.0, 1.0, 2.0, 0.5f64);
    let e = (-t / (r * c1)).exp();
    let v = (c1 * a * e + c2 * b) / (c1 + c2);
    // Just behind the instant, at a fixed time: the shared charge leaks through R.
    let leak = -v / (r * (c1 + c2));
    let c1_e = a * e * (1.0 + t / (r * c1));
    for (parameter, exact) in [
        ("a", c1 * e / (c1 + c2)),
        ("b", c2 / (c1 + c2)),
        ("C1", (c1_e - v) / (c1 + c2)),
        ("C2", (b - v) / (c1 + c2)),
        ("R", c1 * a * e * t / (r * r * c1) / (c1 + c2)),
        ("T", -a * e / r / (c1 + c2) - leak),
    ] {
        let found = found.get("v1", parameter).unwrap()[behind];
        assert!((found - exact).abs() < 1e-8, "v1 by {parameter}: {found} is not {exact}");
    }
    compare(text, 1.5, &["v1", "v2", "i"], &["C1", "C2", "a", "b", "R", "T"]);
}

#[test]
fn an_ideal_rectifier() {
    // While the diode conducts the capacitor follows the source, and there is no state.
    compare(
        "model Rectifier
           parameter Real C = 2e-3, R = 10, f = 50, V = 10;
           Real u, v(start = 0, fixed = true), i, s;
           Boolean off = s < 0;
         equation
           u = V*sin(2*3.141592653589793*f*time);
           u - v = if off then s else 0;
           i = if off then 0 else s;
           C*der(v) = i - v/R;
         end Rectifier;",
        0.0465,
        &["v"],
        &["C", "R", "f", "V"],
    );
    compare(
        "model Choke
           parameter Real L = 0.05, R = 10, f = 50, V = 10;
           Real u, q(start = 0, fixed = true), i(start = 0, fixed = true), s;
           Boolean off = s < 0;
         equation
           u = V*sin(2*3.141592653589793*f*time);
           L*der(i) = u - R*i - (if off then s else 0);
           i = if off then 0 else s;
           der(q) = i;
         end Choke;",
        0.0465,
        &["q"],
        &["L", "R", "f", "V"],
    );
}

#[test]
fn a_ball_with_a_law_of_impact() {
    let text = "model Impact
      parameter Real g = 9.81, e = 0.7, h0 = 1;
      Real h(start = h0, fixed = true), v(start = 0, fixed = true), f;
      Boolean down = h < 0;
      Boolean impact = edge(down);
    equation
      der(h) = v;
      der(v) = f - g;
      if impact then v = -e*pre(v); else f = 0; end if;
    end Impact;";
    let found = sensitivities(&model(text), 0.8, &["h", "v"], &["g", "e", "h0"]).unwrap();
    let (g, e, h0) = (9.81f64, 0.7, 1.0);
    let (fall, w) = ((2.0 * h0 / g).sqrt(), (2.0 * g * h0).sqrt());
    let s = 0.8 - fall;
    let last = |variable: &str, parameter: &str| *found.get(variable, parameter).unwrap().last().unwrap();
    for (variable, parameter, exact) in [
        ("h", "e", w * s),
        ("v", "e", w),
        ("v", "g", e * w / (2.0 * g) - s + g * -fall / (2.0 * g)),
        ("h", "h0", e * w / (2.0 * h0) * s - e * w * fall / (2.0 * h0) + g * s * fall / (2.0 * h0)),
    ] {
        let found = last(variable, parameter);
        assert!((found - exact).abs() < 1e-7, "{variable} by {parameter}: {found} is not {exact}");
    }
    compare(text, 1.9, &["h", "v"], &["g", "e", "h0"]);
}

#[test]
fn a_rope_that_becomes_taut() {
    // A stone on a rope: it flies until the rope is taut, loses its radial velocity and swings from there.
    compare(
        "model Rope
           parameter Real L = 1, g = 9.81, m = 0.5, vx0 = 1.5;
           Real x(start = 0.1, fixed = true), y(start = 0, fixed = true), vx(start = vx0, fixed = true),
             vy(start = 0.5, fixed = true), r2, F;
           Boolean taut(start = false, fixed = true);
         equation
           der(x) = vx;
           der(y) = vy;
           m*der(vx) = -F*x;
           m*der(vy) = -F*y - m*g;
           r2 = x^2 + y^2;
           when r2 > L^2 then taut = true; end when;
           if taut then r2 = L^2; else F = 0; end if;
         end Rope;",
        0.9,
        &["x", "y", "F"],
        &["L", "g", "m", "vx0"],
    );
}

#[test]
fn a_block_that_sticks_and_slides() {
    compare(
        "model Friction
           parameter Real m = 2, f0 = 3, f1 = 0.5, a = 6, w = 2;
           Real x(start = 0, fixed = true), v, f, u, s;
           Boolean forward, backward;
         equation
           u = a*sin(w*time);
           der(x) = v;
           m*der(v) = u - f;
           forward = s > 1;
           backward = s < -1;
           v = if forward then s - 1 else if backward then s + 1 else 0;
           f = if forward then f0 + f1*(s - 1) else if backward then -f0 + f1*(s + 1) else f0*s;
         end Friction;",
        2.9,
        &["x"],
        &["m", "f0", "f1", "a", "w"],
    );
}

#[test]
fn states_that_are_set_where_the_structure_changes() {
    compare(
        "model Kick
           parameter Real J1 = 1, J2 = 2, k = 0.3, kick = 0.6, closes = 0.9;
           Real w1(start = 1, fixed = true), w2(start = 0.2, fixed = true), tau, p(start = 0, fixed = true);
           Boolean engaged(start = false, fixed = true);
         equation
           J1*der(w1) = -k*w1 - tau;
           J2*der(w2) = tau;
           der(p) = w2;
           if engaged then w1 = w2; else tau = 0; end if;
           when time > 0.5 then reinit(w2, pre(w2) + kick*w1); end when;
           when p > closes then engaged = true; end when;
         end Kick;",
        2.5,
        &["w1", "w2", "p"],
        &["J1", "J2", "k", "kick", "closes"],
    );
}

#[test]
fn a_bridge_of_four_diodes() {
    compare(
        "model Bridge
           parameter Real V = 10, f = 50, Ls = 1e-3, Rs = 0.5, C = 1e-3, R = 20;
           Real u, i(start = 0, fixed = true), v(start = 0, fixed = true), va, vb, i1, i2, i3, i4, s1, s2, s3, s4;
           Boolean off1 = s1 < 0, off2 = s2 < 0, off3 = s3 < 0, off4 = s4 < 0;
         equation
           u = V*sin(2*3.141592653589793*f*time);
           Ls*der(i) = u - Rs*i - (va - vb);
           i = i1 - i2;
           -i = i3 - i4;
           C*der(v) = i1 + i3 - v/R;
           va - v = if off1 then s1 else 0;
           i1 = if off1 then 0 else s1;
           -va = if off2 then s2 else 0;
           i2 = if off2 then 0 else s2;
           vb - v = if off3 then s3 else 0;
           i3 = if off3 then 0 else s3;
           -vb = if off4 then s4 else 0;
           i4 = if off4 then 0 else s4;
         end Bridge;",
        0.0373,
        &["v"],
        &["V", "f", "Ls", "Rs", "C", "R"],
    );
}

#[test]
fn masses_that_a_lever_joins_by_their_position() {
    compare(
        "model Joined
           parameter Real m1 = 1, m2 = 2, d = 1, k = 3, r = 0.7, g = 0.5;
           Real x1(start = 0, fixed = true), v1(start = 2, fixed = true), x2(start = 0.2, fixed = true),
             v2(start = 0, fixed = true), F;
           Boolean joined(start = false, fixed = true);
         equation
           der(x1) = v1;
           der(x2) = v2;
           m1*der(v1) = -g*v1 - F;
           m2*der(v2) = r*F - k*x2;
           when x1 > d then joined = true; end when;
           if joined then v1 = r*v2; else F = 0; end if;
         end Joined;",
        2.3,
        &["x1", "v1", "x2"],
        &["m1", "m2", "d", "k", "r", "g"],
    );
}

/// What is sampled beside modes: the instants are those of the clock, which moves with its own parameters.
/// The ratio r of a lossless transformer steps from -2 to p. With w3 = r w1 and J1 Δw1 + r J3 Δw3 = 0, behind the step
/// w1 = (J1 + r J3 (-2)) w1⁻/(J1 + r² J3): the ratio is in the constraint and in what is conserved.
#[test]
fn a_transformer_whose_ratio_steps() {
    let text = |ratio: &str| {
        format!(
            "model Transformer
               parameter Real p = 0.5;
               Real w1(start = 0.8, fixed = true), w3, t0, u0;
               {ratio}
             equation
               u0 = -r*t0;
               w3 = r*w1;
               4.5*der(w1) = u0;
               4.75*der(w3) = t0;
             end Transformer;"
        )
    };
    let behind = |p: f64| (4.5 - 2.0 * 4.75 * p) * 0.8 / (4.5 + 4.75 * p * p);
    let (p, h) = (0.5, 1e-4);
    let exact = (8.0 * (behind(p + h) - behind(p - h)) - behind(p + 2.0 * h) + behind(p - 2.0 * h)) / (12.0 * h);
    for ratio in
        ["Real r = if time >= 0.75 then p else -2;", "Real r = s + (if time >= 0.75 then p else -2); Real s = 0*p;"]
    {
        let model = model(&text(ratio));
        let found = sensitivities(&model, 1.0, &["w1", "w3"], &["p"]).unwrap_or_else(|error| panic!("{error}"));
        let last = |name: &str| *found.get(name, "p").unwrap().last().unwrap();
        assert!((last("w1") - exact).abs() < 1e-8, "{} is not {exact}", last("w1"));
        let by_ratio = behind(p) + p * exact;
        assert!((last("w3") - by_ratio).abs() < 1e-8, "{} is not {by_ratio}", last("w3"));
    }
}

#[test]
fn samples_beside_modes() {
    let text = |sample: &str| {
        format!(
            "model Sampled
               parameter Real c = 0.5, s = 0.1, T = 0.3, w = 0.65;
               Real a(start = 1, fixed = true), b(start = 2, fixed = true), i;
               discrete Real u(start = 0, fixed = true);
             equation
               der(a) = -c*a + u + i;
               der(b) = -b - i;
               if time > w then a = b; else i = 0; end if;
               when {sample} then u = 0.5*a; end when;
             end Sampled;"
        )
    };
    compare(&text("sample(0.1, 0.3)"), 2.0, &["a", "b", "u"], &["c", "w"]);
    compare(&text("sample(s, T)"), 2.0, &["a", "b", "u"], &["c", "s", "T", "w"]);
    // At one instant with the change of structure, which a parameter moves and the sample does not.
    let said = refusal(&text("sample(0.05, 0.3)"), 2.0, "a", "w");
    assert!(said.contains("no-sensitivity") && said.contains("apart"), "{said}");
}

#[test]
fn what_has_no_derivative_is_refused() {
    // Coefficients change with the jump: charge is conserved along a way.
    let bent = refusal(
        "model Bent
           parameter Real a = 5, T = 0.5;
           Real v1(start = a, fixed = true), v2(start = 1, fixed = true), i;
         equation
           (1 + v1^2)*der(v1) = -i;
           3*der(v2) = i;
           if time >= T then v1 = v2; else i = 0; end if;
         end Bent;",
        1.0,
        "v1",
        "a",
    );
    assert!(bent.contains("no-sensitivity") && bent.contains("along the way"), "{bent}");
    // The start values contradict each other, so that charge is shared before anything begins.
    let start = refusal(
        "model Contradicting
           parameter Real a = 3;
           Real v1(start = a, fixed = true), v2(start = 1, fixed = true), i;
         equation
           der(v1) = -i - v1;
           2*der(v2) = i;
           if time < 5 then v1 = v2; else i = 0; end if;
         end Contradicting;",
        1.0,
        "v1",
        "a",
    );
    assert!(start.contains("no-sensitivity") && start.contains("start"), "{start}");
    // Two switches act at one instant, and a parameter moves one of them.
    let parting = refusal(
        "model Parting
           parameter Real T = 0.5, S = 0.5;
           Real v1(start = 5, fixed = true), v2(start = 1, fixed = true), i;
         equation
           der(v1) = -i - (if time >= S then v1 else 0);
           3*der(v2) = i;
           if time >= T then v1 = v2; else i = 0; end if;
         end Parting;",
        1.0,
        "v1",
        "T",
    );
    assert!(parting.contains("no-sensitivity") && parting.contains("apart"), "{parting}");
}

/// A when clause reads what `reinit` sets at the same instant.
#[test]
fn what_is_read_and_set_at_one_instant_is_refused() {
    let text = "model M
      parameter Real p = 2;
      Real a(start = p, fixed = true), b(start = 0, fixed = true), f, q(start = p, fixed = true);
      discrete Real d(start = 0, fixed = true);
    equation
      der(a) = -f; der(b) = f; der(q) = 0;
      if time > 0.5 then a = b; else f = 0; end if;
      when time > 0.5 then d = q; reinit(q, 7); end when;
    end M;";
    let message = refusal(text, 1.0, "d", "p");
    assert!(message.contains("`reinit` and equations of when clauses"), "{message}");
}

/// Start values that hold a clutch closed as long as they agree: beside them the speeds jump at the start.
#[test]
fn speeds_that_agree_for_one_value_alone_are_refused() {
    let text = |first: &str, second: &str| {
        format!(
            "model Closed parameter Real p = 2; Real w1(start = {first}, fixed = true), w2(start = {second}, fixed = true), tau;
             equation der(w1) = 1 - tau; der(w2) = tau; if time < 0.5 then w1 = w2; else tau = 0; end if; end Closed;"
        )
    };
    for (first, second) in [("p", "2"), ("2", "p")] {
        let said = refusal(&text(first, second), 1.0, "w1", "p");
        assert!(said.contains("agrees with the others for this value of `p` alone"), "{said}");
    }
    // w1 = p + t/2 until 0.5, and t behind that.
    let found = sensitivities(&model(&text("p", "p")), 1.0, &["w1"], &["p"]).unwrap();
    assert!((found.get("w1", "p").unwrap().last().unwrap() - 1.0).abs() < 1e-8);
}
