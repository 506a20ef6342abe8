//! Models composed of models (source document 000, parts 2 and 3): parts exchanged by one modifier, blocks of matrices of any
//! size, connectors of every domain.
#![allow(clippy::unwrap_used)]

mod common;

use common::{messages, simulate};
use expect_test::expect;
use results::Trajectories;

const DRIVE: &str = "
package Parts
  connector Pin Real v; flow Real i; end Pin;
  connector Flange Real w; flow Real tau; end Flange;
  partial model TwoPin
    Pin p, n;
    Real u;
  equation
    u = p.v - n.v;
    p.i + n.i = 0;
  end TwoPin;
  model Resistor
    extends TwoPin;
    parameter Real R = 1;
  equation
    u = R*p.i;
  end Resistor;
  model TempResistor
    extends TwoPin;
    parameter Real R = 1, RT = 0, Tref = 20, Tactual = 30;
  equation
    u = R*(1 + RT*(Tactual - Tref))*p.i;
  end TempResistor;
  model Inductor
    extends TwoPin;
    parameter Real L = 1;
  equation
    L*der(p.i) = u;
  end Inductor;
  model EMF
    extends TwoPin;
    parameter Real k = 1;
    Flange b;
  equation
    u = k*b.w;
    b.tau = -k*p.i;
  end EMF;
  model Ground Pin p; equation p.v = 0; end Ground;
  model Source
    extends TwoPin;
    parameter Real U = 10;
  equation
    u = U;
  end Source;
  model Inertia
    Flange a, b;
    parameter Real J = 1;
  equation
    a.w = b.w;
    J*der(a.w) = a.tau + b.tau;
  end Inertia;
  model Gear
    Flange a, b;
    parameter Real n = 1;
  equation
    a.w = n*b.w;
    0 = n*a.tau + b.tau;
  end Gear;
  model Brake Flange a; parameter Real d = 1; equation a.tau = d*a.w; end Brake;
  model Motor
    replaceable Resistor R(R = 0.5);
    replaceable model Resistor2 = Resistor constrainedby TwoPin;
    Resistor2 wire;
    Inductor L(L = 0.01);
    EMF emf(k = 0.8);
    Inertia rotor(J = 0.02);
    Source source;
    Ground ground;
    Flange shaft;
  equation
    connect(source.p, R.p);
    connect(R.n, wire.p);
    connect(wire.n, L.p);
    connect(L.n, emf.p);
    connect(emf.n, ground.p);
    connect(source.n, ground.p);
    connect(emf.b, rotor.a);
    connect(rotor.b, shaft);
  end Motor;
  model Train
    replaceable Motor motor;
    Gear gear(n = 4);
    Inertia load(J = 0.5);
    Brake brake(d = 0.3);
  equation
    connect(motor.shaft, gear.a);
    connect(gear.b, load.a);
    connect(load.b, brake.a);
  end Train;
end Parts;
";

/// The speed of the motor when it has settled: u = R·i + k·w and k·i = d·w/n².
fn settled(resistance: f64) -> f64 {
    let (u, k, d, n) = (10.0, 0.8, 0.3, 4.0f64);
    u * k / (k * k + resistance * d / (n * n))
}

fn end(result: &Trajectories, name: &str) -> f64 {
    *result.get(name).unwrap().values.last().unwrap()
}

#[track_caller]
fn drive(class: &str, resistance: f64) {
    let result = simulate(&format!("{DRIVE}{class}"), 10.0);
    let (speed, expected) = (end(&result, "motor.rotor.a.w"), settled(resistance));
    assert!((speed - expected).abs() < 1e-4 * expected, "{speed} instead of {expected}");
    assert!((end(&result, "load.a.w") - expected / 4.0).abs() < 1e-4);
}

#[test]
fn a5_the_drive_train_as_it_is() {
    drive("model Case extends Parts.Train; end Case;", 1.5);
}

#[test]
fn a5_one_resistor_is_exchanged() {
    // 0.5·(1 + 0.1·10) and the wire
    drive("model Case extends Parts.Train(motor(redeclare Parts.TempResistor R(R = 0.5, RT = 0.1))); end Case;", 2.0);
}

#[test]
fn a5_a_class_of_resistors_is_exchanged() {
    drive(
        "model Case extends Parts.Train(motor(redeclare model Resistor2 = Parts.TempResistor(RT = 0.05))); end Case;",
        2.0,
    );
}

const STATE_SPACE: &str = "
block StateSpace
  parameter Real A[:, size(A, 1)], B[size(A, 1), :], C[:, size(A, 1)], D[size(C, 1), size(B, 2)];
  input Real u[size(B, 2)];
  output Real y[size(C, 1)];
  Real x[size(A, 1)](each start = 0, each fixed = true);
equation
  der(x) = A*x + B*u;
  y = C*x + D*u;
end StateSpace;
";

#[test]
fn a6_matrices_of_any_size() {
    let one = "model Case StateSpace s(A = [-2], B = [1, 3], C = [1; 4], D = [0, 0; 1, 0], u = {1, 1}); end Case;";
    let result = simulate(&format!("{STATE_SPACE}{one}"), 1.0);
    let x = 2.0 * (1.0 - (-2.0f64).exp());
    assert!((end(&result, "s.y[1]") - x).abs() < 1e-5);
    assert!((end(&result, "s.y[2]") - (4.0 * x + 1.0)).abs() < 1e-5);
    let two = "model Case StateSpace s(A = [0, 1; -9, 0], B = [0; 9], C = [1, 0], D = [0], u = {1}); end Case;";
    let result = simulate(&format!("{STATE_SPACE}{two}"), 1.0);
    assert!((end(&result, "s.y[1]") - (1.0 - 3.0f64.cos())).abs() < 1e-5);
}

#[test]
fn a6_wrong_sizes_name_both() {
    let wrong = "model Case StateSpace s(A = [0, 1; -9, 0], B = [0; 9; 1], C = [1, 0], D = [0], u = {1}); end Case;";
    let said = messages(&format!("{STATE_SPACE}{wrong}"));
    expect![[r#"
        error[size-mismatch]: `s.B` has the sizes [2, 1], and its value [3, 1]
          --> case.mo:3:36 (in component `s`)
           |
         3 |   parameter Real A[:, size(A, 1)], B[size(A, 1), :], C[:, size(A, 1)], D[size(C, 1), size(B, 2)];
           |                                    ^ declared with sizes [2, 1]
           ::: case.mo:11:48
            |
         11 | model Case StateSpace s(A = [0, 1; -9, 0], B = [0; 9; 1], C = [1, 0], D = [0], u = {1}); end Case;
            |                                                --------- this has sizes [3, 1]
           = see: Modelica specification, section 10.6.1
    "#]]
    .assert_eq(&said);
}

const DOMAINS: &str = "
package Domains
  connector Electrical Real v; flow Real i; end Electrical;
  connector Translational Real v; flow Real f; end Translational;
  connector Rotational Real w; flow Real tau; end Rotational;
  connector Hydraulic Real p; flow Real q; end Hydraulic;
  connector Thermal Real T; flow Real S; end Thermal;
  connector Chemical Real mu; flow Real n; end Chemical;
  connector Port
    Electrical electrical;
    Translational translational;
    Rotational rotational;
    Hydraulic hydraulic;
    Thermal thermal;
    Chemical chemical;
  end Port;
  model Load \"Dissipates in every domain\"
    Port a;
    parameter Real k;
  equation
    {a.electrical.i, a.translational.f, a.rotational.tau, a.hydraulic.q, a.thermal.S, a.chemical.n} =
      k*({a.electrical.v, a.translational.v, a.rotational.w, a.hydraulic.p, a.thermal.T, a.chemical.mu} - (1:6));
  end Load;
  model Store
    Port a;
    Real e[6](each start = 0, each fixed = true) = {a.electrical.v, a.translational.v, a.rotational.w, a.hydraulic.p,
      a.thermal.T, a.chemical.mu};
  equation
    der(e) = {a.electrical.i, a.translational.f, a.rotational.tau, a.hydraulic.q, a.thermal.S, a.chemical.n};
  end Store;
  model Case
    Load first(k = 1), second(k = 2);
    Store store;
    Real power[6];
  equation
    connect(first.a, second.a);
    connect(first.a, store.a);
    power = {
      first.a.electrical.v*first.a.electrical.i + second.a.electrical.v*second.a.electrical.i + store.a.electrical.v*store.a.electrical.i,
      first.a.translational.v*first.a.translational.f + second.a.translational.v*second.a.translational.f + store.a.translational.v*store.a.translational.f,
      first.a.rotational.w*first.a.rotational.tau + second.a.rotational.w*second.a.rotational.tau + store.a.rotational.w*store.a.rotational.tau,
      first.a.hydraulic.p*first.a.hydraulic.q + second.a.hydraulic.p*second.a.hydraulic.q + store.a.hydraulic.p*store.a.hydraulic.q,
      first.a.thermal.T*first.a.thermal.S + second.a.thermal.T*second.a.thermal.S + store.a.thermal.T*store.a.thermal.S,
      first.a.chemical.mu*first.a.chemical.n + second.a.chemical.mu*second.a.chemical.n + store.a.chemical.mu*store.a.chemical.n};
  end Case;
end Domains;
model Case
  extends Domains.Case;
end Case;
";

#[test]
fn a7_power_balances_in_every_domain() {
    let result = simulate(DOMAINS, 1.0);
    for domain in 1..=6 {
        let power = &result.get(&format!("power[{domain}]")).unwrap().values;
        assert!(power.iter().all(|power| power.abs() < 1e-12), "domain {domain}");
        // Both loads pull the store to the number of the domain: e' = 3·(domain - e).
        let expected = f64::from(domain) * (1.0 - (-3.0f64).exp());
        let level = end(&result, &format!("store.e[{domain}]"));
        assert!((level - expected).abs() < 1e-5 * expected, "{level} instead of {expected}");
    }
}

/// The modifiers of a constraining clause hold for the redeclaration that has it, wherever it is written, and are overridden by
/// those of the redeclaration itself (7.3.2).
#[test]
fn modifiers_of_a_constraining_clause_hold_for_its_own_redeclaration() {
    let classes = "model A parameter Real p = 1; Real y = p; end A;
      model B extends A(p = 5); end B;
      model C replaceable model X = A; X sub; end C;
      model E replaceable model X = A constrainedby A(p = 3); X sub; end E;";
    let cases = [
        ("model D extends C; redeclare replaceable model X = B constrainedby A(p = 7); end D; D m;", 7.0),
        ("model D extends C(redeclare replaceable model X = B constrainedby A(p = 7)); end D; D m;", 7.0),
        ("C m(redeclare replaceable model X = B constrainedby A(p = 7));", 7.0),
        ("C m(redeclare replaceable model X = B(p = 8) constrainedby A(p = 7));", 8.0),
        ("E m(redeclare replaceable model X = B constrainedby A(p = 7));", 7.0),
        ("E m(redeclare model X = B);", 3.0),
    ];
    for (text, expected) in cases {
        let result = simulate(&format!("model Case {classes} {text} end Case;"), 1.0);
        assert_eq!(end(&result, "m.sub.y"), expected, "{text}");
    }
}
