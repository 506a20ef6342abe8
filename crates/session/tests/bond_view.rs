//! The bond graph of a Modelica model: which elements are recognised, and whether the graph is the same system as the model.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use bond::StateSpace;
use expect_test::expect;
use session::{BondGraph, LinearRequest, MemoryFiles, Request, Session, Settings};

const COMPONENTS: &str = "
  connector Pin Real v(unit = \"V\"); flow Real i(unit = \"A\"); end Pin;
  partial model TwoPin Pin p, n; Real v = p.v - n.v; Real i = p.i; equation p.i + n.i = 0; end TwoPin;
  model Resistor extends TwoPin; parameter Real R = 1; Real power = v*i; equation v = R*i; end Resistor;
  model Capacitor extends TwoPin(v(start = 0)); parameter Real C = 1; equation i = C*der(v); end Capacitor;
  model Inductor extends TwoPin(i(start = 0)); parameter Real L = 1; equation v = L*der(i); end Inductor;
  model Source extends TwoPin; parameter Real U = 1; equation v = U; end Source;
  model Current extends TwoPin; parameter Real I = 1; equation i = I; end Current;
  model Signal extends TwoPin; input Real u; equation v = u; end Signal;
  model Ground Pin p; equation p.v = 0; end Ground;
  model Diode extends TwoPin; equation i = 1e-9*(exp(v/0.025) - 1); end Diode;
  model Coils Pin p1, n1, p2, n2; parameter Real L1 = 2, L2 = 3, M = 1; Real i1(start = 0) = p1.i, i2(start = 0) = p2.i;
  equation p1.i + n1.i = 0; p2.i + n2.i = 0;
    p1.v - n1.v = L1*der(i1) + M*der(i2); p2.v - n2.v = M*der(i1) + L2*der(i2); end Coils;
  model Ideal Pin p1, n1, p2, n2; parameter Real n = 2;
  equation p1.i + n1.i = 0; p2.i + n2.i = 0; p1.v - n1.v = n*(p2.v - n2.v); p2.i = -n*p1.i; end Ideal;
  connector Flange Real phi(unit = \"rad\"); flow Real tau(unit = \"N.m\"); end Flange;
  model Inertia Flange a, b; parameter Real J = 1; Real w(start = 0), phi(start = 0);
  equation phi = a.phi; phi = b.phi; w = der(phi); J*der(w) = a.tau + b.tau; end Inertia;
  model Spring Flange a, b; parameter Real c = 1, rest = 0.3; equation a.tau + b.tau = 0; b.tau = c*(b.phi - a.phi - rest); end Spring;
  model Damper Flange a, b; parameter Real d = 1; Real rel(start = 0) = b.phi - a.phi;
  equation a.tau + b.tau = 0; b.tau = d*der(rel); end Damper;
  model Gear Flange a, b; parameter Real n = 3; equation a.phi = n*b.phi; n*a.tau + b.tau = 0; end Gear;
  model Fixed Flange a; parameter Real phi0 = 0.5; equation a.phi = phi0; end Fixed;
  model Torque Flange a; parameter Real tau = 1; equation a.tau = -tau; end Torque;
  model Machine Pin p, n; Flange a; parameter Real k = 0.5; Real phi(start = 0) = a.phi;
  equation p.i + n.i = 0; p.v - n.v = k*der(phi); a.tau = -k*p.i; end Machine;
  connector Port Real T(unit = \"K\"); flow Real Q(unit = \"W\"); end Port;
  model Mass Port a; parameter Real C = 1; Real T(start = 300) = a.T; equation C*der(T) = a.Q; end Mass;
  model Conductor Port a, b; parameter Real G = 1; equation a.Q + b.Q = 0; a.Q = G*(a.T - b.T); end Conductor;
  model Heater Port a; parameter Real Q = 1; equation a.Q = -Q; end Heater;
";

fn opened(text: &str) -> (Session, Request) {
    let session = Session::new(Box::new(MemoryFiles::one("case.mo", text)));
    (session, Request { target: "case.mo".to_owned(), ..Request::default() })
}

fn model(declarations: &str, equations: &str) -> String {
    format!("model Case {COMPONENTS} {declarations} equation {equations} end Case;")
}

fn graph(text: &str) -> BondGraph {
    let (mut session, request) = opened(text);
    let found = session.bond_graph(&request, None);
    let said: String = session.diagnostics.iter().map(|said| said.render(session.sources())).collect();
    found.unwrap_or_else(|failed| panic!("{failed:?}\n{said}\n{text}"))
}

/// The simplified graph, one bond a line.
fn drawn(text: &str) -> String {
    let graph = bond::Simplification::new(&graph(text).graph).graph;
    let mut text = String::new();
    for bond in graph.bonds.values() {
        let name = |id| {
            let element: &bond::Element = &graph.elements[id];
            let kind = format!("{}{}", if element.modulated { "M" } else { "" }, element.kind.symbol());
            if kind == "0" || kind == "1" { kind } else { format!("{kind}:{}", element.name) }
        };
        let _ = writeln!(text, "{} -> {}", name(bond.tail), name(bond.head));
    }
    text
}

#[test]
fn a_motor_is_a_gyrator_between_two_domains() {
    let text = model(
        "Source U; Resistor R; Inductor L; Machine M; Ground g; Inertia J; Damper d; Fixed f; Spring s;",
        "connect(U.p, R.p); connect(R.n, L.p); connect(L.n, M.p); connect(M.n, U.n); connect(U.n, g.p);
         connect(M.a, J.a); connect(J.b, d.a); connect(d.b, f.a); connect(J.b, s.a); connect(s.b, f.a);",
    );
    expect![[r#"
        Se:U -> 1
        1 -> R:R
        1 -> GY:M
        1 -> I:L
        GY:M -> 1
        1 -> I:J
        1 -> R:d
        1 -> C:s
    "#]]
    .assert_eq(&drawn(&text));
}

#[test]
fn elements_are_recognised_by_their_equations() {
    let text = model(
        "Signal u(u = time); Resistor R; Ideal T; Coils K; Capacitor C; Diode D; Current I; Ground g;",
        "connect(u.p, R.p); connect(R.n, T.p1); connect(u.n, g.p); connect(T.n1, g.p); connect(T.p2, K.p1); connect(T.n2, g.p);
         connect(K.n1, g.p); connect(K.n2, g.p); connect(K.p2, C.p); connect(C.n, g.p); connect(D.p, C.p); connect(D.n, g.p);
         connect(I.p, g.p); connect(I.n, C.p);",
    );
    expect![[r#"
        Se:u -> 1
        Sf:I -> 0
        1 -> TF:T
        1 -> R:R
        TF:T -> I:K
        0 -> I:K
        0 -> C:C
        0 -> R:D
    "#]]
    .assert_eq(&drawn(&text));
}

#[test]
fn heat_flows_through_conductors() {
    let text =
        model("Heater Q; Mass m1, m2; Conductor G;", "connect(Q.a, m1.a); connect(m1.a, G.a); connect(G.b, m2.a);");
    expect![[r#"
        Sf:Q -> 0
        0 -> C:m1
        0 -> 1
        1 -> C:m2
        1 -> R:G
    "#]]
    .assert_eq(&drawn(&text));
}

#[test]
fn composed_components_are_taken_apart_and_unknown_ones_keep_their_names() {
    let text = model(
        "model RC Pin p, n; Resistor R; Capacitor C; equation connect(p, R.p); connect(R.n, C.p); connect(C.n, n); end RC;
         model Odd Pin a, b, c; equation a.v = 2*b.i; b.v = 3*c.i; c.v = a.i; end Odd;
         Source U; RC rc; Odd odd; Ground g;",
        "connect(U.p, rc.p); connect(U.n, g.p); connect(rc.n, odd.a); connect(odd.b, g.p); connect(odd.c, g.p);",
    );
    let found = drawn(&text);
    assert!(found.contains("R:rc.R") && found.contains("C:rc.C") && found.contains(":odd"), "{found}");
}

#[test]
fn a_model_without_connectors_has_no_graph() {
    let (mut session, request) =
        opened("model Plain Real x(start = 1, fixed = true); equation der(x) = -x; end Plain;");
    assert!(session.bond_graph(&request, None).is_err());
    assert_eq!(session.diagnostics.last().unwrap().code, "no-bond-graph");
}

/// The eigenvalues that are not zero, sorted: positions that nothing depends on are no states of a graph.
fn poles(a: &linear::Matrix) -> Vec<(f64, f64)> {
    let n = a.rows();
    let empty = |rows, columns| linear::Matrix::zeros(rows, columns);
    let system = linear::StateSpace::unnamed([a.clone(), empty(n, 0), empty(0, n), empty(0, 0)]).unwrap();
    let mut poles: Vec<(f64, f64)> = linear::poles(&system).unwrap().iter().map(|pole| (pole.re, pole.im)).collect();
    let largest = poles.iter().fold(1.0_f64, |size, pole| size.max(pole.0.hypot(pole.1)));
    poles.retain(|pole| pole.0.hypot(pole.1) > 1e-5 * largest);
    let rounded = |value: f64| (value / largest * 1e6).round();
    poles.sort_by(|one, other| {
        let key = |pole: &(f64, f64)| (rounded(pole.0), rounded(pole.1));
        key(one).partial_cmp(&key(other)).unwrap()
    });
    poles
}

#[test]
fn random_models_have_the_poles_of_their_graphs() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..40 {
        let (mut declarations, mut equations) = ("Source U; Ground g; Resistor R0; ".to_owned(), String::new());
        let value = |random: &mut fastrand::Rng| (1 + random.u32(..400)) as f64 / 100.0;
        let _ = write!(equations, "connect(U.n, g.p); connect(U.p, R0.p); ");
        let mut nodes = vec!["g.p".to_owned(), "R0.n".to_owned()];
        for index in 1..2 + random.usize(..5) {
            let (class, parameter) = [("Resistor", "R"), ("Capacitor", "C"), ("Inductor", "L")][random.usize(..3)];
            let _ = write!(declarations, "{class} E{index}({parameter} = {}); ", value(&mut random));
            let from = nodes[random.usize(..nodes.len())].clone();
            let _ = write!(equations, "connect(E{index}.p, {from}); ");
            // A node of its own gets a resistor to ground, so that nothing floats.
            if random.bool() {
                let _ = write!(declarations, "Resistor G{index}(R = {}); ", value(&mut random));
                let _ = write!(equations, "connect(E{index}.n, G{index}.p); connect(G{index}.n, g.p); ");
                nodes.push(format!("E{index}.n"));
            } else {
                let to = nodes.iter().filter(|node| **node != from).nth(random.usize(..nodes.len() - 1)).unwrap();
                let _ = write!(equations, "connect(E{index}.n, {to}); ");
            }
        }
        if random.bool() {
            let node = nodes[random.usize(1..nodes.len())].clone();
            let _ = write!(
                declarations,
                "Machine M(k = {}); Inertia J(J = {}); Damper d(d = {}); Fixed f; Spring s(c = {}); Gear n; Inertia K; ",
                value(&mut random),
                value(&mut random),
                value(&mut random),
                value(&mut random)
            );
            let _ = write!(
                equations,
                "connect(M.p, {node}); connect(M.n, g.p); connect(M.a, J.a); connect(J.b, s.a); connect(s.b, n.a); connect(n.b, K.a); connect(K.b, d.a); connect(d.b, f.a); "
            );
        }
        let text = model(&declarations, &equations);
        let (mut session, request) = opened(&text);
        let options = |experiment: &dae::Experiment| Settings::default().resolve(experiment);
        let points = session.linearize(&request, &LinearRequest::default(), options).unwrap();
        let BondGraph { graph, causality, .. } = graph(&text);
        let space = StateSpace::numeric(&graph, &causality.unwrap()).unwrap();
        let n = space.a.len();
        let (found, expected) =
            (poles(&linear::Matrix::from_fn(n, n, |i, j| space.a[i][j])), poles(&points[0].system.a));
        assert_eq!(found.len(), expected.len(), "{found:?}\n{expected:?}\n{text}");
        for (one, other) in found.iter().zip(&expected) {
            let size = 1.0 + other.0.hypot(other.1);
            assert!((one.0 - other.0).hypot(one.1 - other.1) <= 1e-4 * size, "{found:?}\n{expected:?}\n{text}");
        }
    }
}

const MULTIPORTS: &str = "
  model Supported Flange a, b, support; parameter Real n = 10;
  equation a.phi - support.phi = n*(b.phi - support.phi); b.tau = -n*a.tau; a.tau + b.tau + support.tau = 0; end Supported;
  model Planetary Flange sun, carrier, ring; parameter Real n = 3;
  equation (1 + n)*carrier.phi = sun.phi + n*ring.phi; ring.tau = n*sun.tau; carrier.tau = -(1 + n)*sun.tau; end Planetary;
  partial model FourPin Pin p1, n1, p2, n2; Real v1 = p1.v - n1.v, v2 = p2.v - n2.v, i1 = p1.i, i2 = p2.i; parameter Real k = 2;
  equation p1.i + n1.i = 0; p2.i + n2.i = 0; end FourPin;
  model VCC extends FourPin; equation i1 = 0; i2 = k*v1; end VCC;
  model VCV extends FourPin; equation i1 = 0; v2 = k*v1; end VCV;
  model CCC extends FourPin; equation v1 = 0; i2 = k*i1; end CCC;
  model CCV extends FourPin; equation v1 = 0; v2 = k*i1; end CCV;
  model Gyrator2 extends FourPin; parameter Real l = 3; equation i1 = k*v2; i2 = -l*v1; end Gyrator2;
";

/// The poles of the graph and of the model, without those at zero.
fn compared(declarations: &str, equations: &str) {
    let text = format!("model Case {COMPONENTS} {MULTIPORTS} {declarations} equation {equations} end Case;");
    let (mut session, request) = opened(&text);
    let options = |experiment: &dae::Experiment| Settings::default().resolve(experiment);
    let points = session.linearize(&request, &LinearRequest::default(), options).unwrap();
    let BondGraph { graph, causality, .. } = graph(&text);
    let causality = causality.unwrap();
    let space = StateSpace::numeric(&graph, &causality)
        .unwrap_or_else(|obstacle| panic!("{}\n{text}", obstacle.render(session.sources())));
    let n = space.a.len();
    let (found, expected) = (poles(&linear::Matrix::from_fn(n, n, |i, j| space.a[i][j])), poles(&points[0].system.a));
    assert_eq!(found.len(), expected.len(), "{found:?}\n{expected:?}\n{text}");
    for (one, other) in found.iter().zip(&expected) {
        let size = 1.0 + other.0.hypot(other.1);
        assert!((one.0 - other.0).hypot(one.1 - other.1) <= 1e-6 * size, "{found:?}\n{expected:?}\n{text}");
    }
}

#[test]
fn gears_with_three_flanges_couple_what_is_at_them() {
    compared(
        "Torque t; Inertia J1(J = 2), J2(J = 3); Supported g; Damper d(d = 0.5); Spring c; Fixed f;",
        "connect(t.a, J1.a); connect(J1.b, g.a); connect(g.b, J2.a); connect(J2.b, d.a); connect(d.b, f.a); connect(g.support, f.a);
         connect(c.a, J1.a); connect(c.b, f.a);",
    );
    compared(
        "Torque t; Inertia J1(J = 2), J2(J = 3), J3(J = 4); Supported g(n = 2.5); Damper d(d = 0.5); Spring c; Fixed f;",
        "connect(t.a, J1.a); connect(J1.b, g.a); connect(g.b, J2.a); connect(J2.b, d.a); connect(d.b, f.a); connect(g.support, J3.a);
         connect(c.a, J3.b); connect(c.b, f.a);",
    );
    compared(
        "Torque t; Inertia s(J = 1), c(J = 2), r(J = 3); Planetary p; Damper d(d = 0.5); Spring k; Fixed f;",
        "connect(t.a, s.a); connect(s.b, p.sun); connect(p.carrier, c.a); connect(p.ring, r.a); connect(r.b, d.a); connect(d.b, f.a);
         connect(k.a, c.b); connect(k.b, f.a);",
    );
}

#[test]
fn controlled_sources_and_gyrators_keep_their_laws() {
    for class in ["VCC", "VCV", "CCC", "CCV", "Gyrator2"] {
        compared(
            &format!(
                "Source U; Resistor R0(R = 5), R1(R = 4), R2(R = 1.5); Capacitor C0(C = 3), C1(C = 2); Inductor L(L = 0.7); Ground g; {class} x;"
            ),
            "connect(U.n, g.p); connect(U.p, R0.p); connect(R0.n, C0.p); connect(C0.n, g.p); connect(C0.p, R2.p); connect(R2.n, x.p1);
             connect(x.n1, g.p); connect(x.p2, L.p); connect(L.n, C1.p); connect(x.n2, g.p); connect(C1.n, g.p); connect(R1.p, C1.p);
             connect(R1.n, g.p);",
        );
    }
}

#[test]
fn a_capacitor_in_a_short_circuit_is_no_state() {
    let text = format!(
        "model Case {COMPONENTS} {MULTIPORTS}
           Source U; Resistor R0(R = 5), R1(R = 4); Capacitor C0(C = 3), C1(C = 2); Ground g; CCV x;
         equation
           connect(U.n, g.p); connect(U.p, R0.p); connect(R0.n, C0.p); connect(C0.n, g.p); connect(C0.p, x.p1); connect(x.n1, g.p);
           connect(x.p2, C1.p); connect(x.n2, g.p); connect(C1.n, g.p); connect(R1.p, C1.p); connect(R1.n, g.p);
         end Case;"
    );
    let space = session::SymbolicSpace::of_graph(&graph(&text)).unwrap();
    assert_eq!(space.system.order(), 0);
}

#[test]
fn a_component_without_a_law_in_the_graph_is_drawn_without_equations() {
    let text = model(
        "Source U; Resistor R; Diode D; Capacitor C; Ground g;",
        "connect(U.n, g.p); connect(U.p, R.p); connect(R.n, D.p); connect(D.n, C.p); connect(C.n, g.p);",
    );
    let found = graph(&text);
    let expected = "the graph has no equations: it does not hold the law of `D`, which is no linear law of an element";
    let obstacle = session::SymbolicSpace::of_graph(&found).unwrap_err();
    assert_eq!((obstacle.code, obstacle.message.as_str()), ("incomplete-graph", expected));
    let obstacle = bond::Equations::new(&found.graph, found.assigned().unwrap()).unwrap_err();
    assert_eq!((obstacle.code, obstacle.message.as_str()), ("incomplete-graph", expected));
}

#[test]
fn an_equation_outside_of_components_is_not_left_out_silently() {
    let text = model(
        "Source U; Resistor R; Capacitor C; Pin open; Ground g;",
        "connect(U.n, g.p); connect(U.p, R.p); connect(R.n, C.p); connect(C.n, g.p); connect(open, C.p); open.i = 0.5*open.v;",
    );
    let obstacle = session::SymbolicSpace::of_graph(&graph(&text)).unwrap_err();
    assert_eq!(obstacle.code, "incomplete-graph", "{}", obstacle.message);
}

const SOURCES: &str = "
  model Flow2 Pin p, n; parameter Real k = 1; input Real u; equation p.i = k*u; p.i + n.i = 0; end Flow2;
  model Potential2 Pin p, n; parameter Real k = 1; input Real u; equation p.v - n.v = k*u; p.i + n.i = 0; end Potential2;
  model Flow1 Pin p; parameter Real k = 1; input Real u; equation p.i = k*u; end Flow1;
  model Potential1 Pin p; parameter Real k = 1; input Real u; equation p.v = k*u; end Potential1;
  model Lossy Pin p, n; parameter Real R = 1, k = 1; input Real u; equation p.v - n.v = R*p.i + k*u; p.i + n.i = 0; end Lossy;
  model Torque2 Flange a, b; parameter Real k = 1; input Real u; equation a.tau = k*u; a.tau + b.tau = 0; end Torque2;
  model Speed2 Flange a, b; parameter Real k = 1; input Real u; Real rel = b.phi - a.phi;
  equation der(rel) = k*u; a.tau + b.tau = 0; end Speed2;
  model Torque1 Flange a; parameter Real k = 1; input Real u; equation a.tau = k*u; end Torque1;
  model Speed1 Flange a; parameter Real k = 1; input Real u; Real phi(start = 0) = a.phi; equation der(phi) = k*u; end Speed1;
  model Store Pin p; parameter Real m = 1; Real x(start = 0, stateSelect = StateSelect.prefer) = p.v; equation m*der(x) = p.i; end Store;
  model Rotor Flange a; parameter Real m = 1; Real phi(start = 0) = a.phi; Real x(start = 0, stateSelect = StateSelect.prefer) = der(phi);
  equation m*der(x) = a.tau; end Rotor;
";

/// Stores at nodes with losses, and sources between them. The state `x` of a store is the one of the graph through `m`.
fn with_sources(random: &mut fastrand::Rng, mechanical: bool) -> (String, Vec<(String, f64)>, Vec<String>) {
    let number = |random: &mut fastrand::Rng| (1 + random.u32(..400)) as f64 / 100.0;
    let (store, loss, [value, first, second]) = match mechanical {
        true => ("Rotor", "Damper", ["d", "a", "b"]),
        false => ("Store", "Resistor", ["R", "p", "n"]),
    };
    let reference = if mechanical { "Fixed g;" } else { "Ground g;" };
    let (mut declarations, mut equations) = (reference.to_owned(), String::new());
    let mut nodes = vec![format!("g.{first}")];
    let (mut stores, mut sources) = (Vec::new(), Vec::new());
    for index in 1..2 + random.usize(1..4) {
        let m = number(random);
        let _ = write!(declarations, "{store} s{index}(m = {m}); {loss} l{index}({value} = {}); ", number(random));
        let to = nodes[random.usize(..nodes.len())].clone();
        let _ = write!(equations, "connect(s{index}.{first}, l{index}.{first}); connect(l{index}.{second}, {to}); ");
        nodes.push(format!("s{index}.{first}"));
        stores.push((format!("s{index}"), m));
    }
    for index in 1..2 + random.usize(1..4) {
        let kinds: &[&str] = match mechanical {
            true => &["Torque2", "Speed2", "Torque1", "Speed1"],
            false => &["Flow2", "Potential2", "Flow1", "Potential1", "Lossy"],
        };
        let kind = kinds[random.usize(..kinds.len())];
        let k = [1.0, -1.0, 2.5, -0.5][random.usize(..4)];
        let _ = write!(declarations, "input Real u{index}; {kind} e{index}(k = {k}, u = u{index}); ");
        sources.push(format!("e{index}"));
        let mut ends = nodes.clone();
        random.shuffle(&mut ends);
        let mut at = format!("e{index}.{first}");
        // A source of potential sets no store directly.
        if kind.starts_with("Potential") || kind.starts_with("Speed") {
            let _ = write!(declarations, "{loss} r{index}({value} = {}); ", number(random));
            let _ = write!(equations, "connect({at}, r{index}.{second}); ");
            at = format!("r{index}.{first}");
        }
        let _ = write!(equations, "connect({at}, {}); ", ends[0]);
        if !kind.ends_with('1') {
            let _ = write!(equations, "connect(e{index}.{second}, {}); ", ends[1]);
        }
    }
    let text = format!("model Case {COMPONENTS} {SOURCES} {declarations} equation {equations} end Case;");
    (text, stores, sources)
}

#[test]
fn sources_act_in_the_graph_as_in_the_model() {
    let mut random = fastrand::Rng::with_seed(11);
    for round in 0..60 {
        let (text, stores, sources) = with_sources(&mut random, round % 2 == 0);
        let (mut session, request) = opened(&text);
        let options = |experiment: &dae::Experiment| Settings::default().resolve(experiment);
        let space = session.linearize_symbolic(&request, &LinearRequest::default(), options);
        let said: String = session.diagnostics.iter().map(|said| said.render(session.sources())).collect();
        let model = space.unwrap_or_else(|failed| panic!("{failed:?}\n{said}\n{text}")).numbers().unwrap();
        let BondGraph { graph, causality, .. } = graph(&text);
        let found = StateSpace::numeric(&graph, &causality.unwrap()).unwrap();
        let of_model = |store: &str| model.states.iter().position(|state| state.name == format!("{store}.x")).unwrap();
        let of_graph =
            |store: &str| found.states.iter().position(|state| state.starts_with(&format!("{store}."))).unwrap();
        let close =
            |one: f64, other: f64| assert!((one - other).abs() <= 1e-9 * (1.0 + other.abs()), "{one} {other}\n{text}");
        for (row, m) in &stores {
            for (column, other) in &stores {
                let expected = m * model.a[(of_model(row), of_model(column))] / other;
                close(found.a[of_graph(row)][of_graph(column)], expected);
            }
            for source in &sources {
                // A source with a resistance is taken apart: its own source is named behind it.
                let is_it = |input: &String| input == source || input.starts_with(&format!("{source}."));
                let input = found.inputs.iter().position(is_it).unwrap();
                let signal = format!("u{}", &source[1..]);
                let own = model.inputs.iter().position(|input| input.name == signal).unwrap();
                close(found.b[of_graph(row)][input], m * model.b[(of_model(row), own)]);
            }
        }
    }
}

/// The current goes out of the node of the capacitor: der(q) = -J - q/(C·R).
#[test]
fn a_current_source_draws_from_its_first_connector() {
    let text = model(
        "model I Pin p, n; input Real J; equation p.i = J; p.i + n.i = 0; end I;
         input Real J; I i(J = J); Current k(I = 0.25); Capacitor c(C = 0.5); Resistor r(R = 3); Ground g;",
        "connect(i.p, c.p); connect(k.p, c.p); connect(k.n, g.p); connect(c.p, r.p); connect(c.n, g.p); connect(r.n, g.p); connect(i.n, g.p);",
    );
    let BondGraph { graph, causality, .. } = graph(&text);
    let space = StateSpace::numeric(&graph, &causality.unwrap()).unwrap();
    assert_eq!(space.inputs, ["i", "k"]);
    assert_eq!(space.b, [[-1.0, -1.0]]);
    assert!((space.a[0][0] + 1.0 / 1.5).abs() < 1e-12);
    // What a constant source gives is what its parameter says.
    let value = graph.inputs.values().find(|input| input.name == "k").unwrap().value.clone();
    assert!(matches!(value, Some(bond::Expr::Number(value, _)) if value == 0.25), "{value:?}");
}

/// The model cannot be run as it is: the signal sets what the capacitor stores.
#[test]
fn values_of_parameters_are_known_where_a_signal_sets_a_store() {
    let text = model(
        "input Real u; parameter Real base = 2, twice = 2*base;
         Signal s(u = u); Capacitor c(C = 0.5); Resistor r(R = twice); Inductor l(L = 3); Ground g;",
        "connect(s.p, c.p); connect(s.n, g.p); connect(c.n, g.p); connect(c.p, r.p); connect(r.n, l.p); connect(l.n, g.p);",
    );
    let space = session::SymbolicSpace::of_graph(&graph(&text)).unwrap();
    let values: Vec<(String, Option<f64>)> =
        space.symbols.iter().map(|symbol| (symbol.name.clone(), symbol.value)).collect();
    for (name, value) in [("c", 0.5), ("r", 4.0), ("l", 3.0)] {
        let found = values.iter().find(|(known, _)| known == name);
        assert!(found.is_none_or(|(_, found)| *found == Some(value)), "{values:?}");
    }
    assert!(values.iter().any(|(name, _)| name == "r"), "{values:?}");
}

/// `v = g·v` says nothing for g = 1: the formulas hold for other values, and that is said.
#[test]
fn formulas_that_do_not_hold_at_the_values_are_noted() {
    let text = format!(
        "model Case {COMPONENTS} {MULTIPORTS}
           input Real u; Signal s(u = u); Capacitor c(C = 0.5); Resistor R0(R = 2), R1(R = 4); Ground g; VCV x(k = 1); Inductor l(L = 2);
         equation
           connect(s.p, c.p); connect(s.n, g.p); connect(c.n, g.p); connect(c.p, R0.p); connect(R0.n, x.p1); connect(x.p2, x.p1);
           connect(x.n1, g.p); connect(x.n2, g.p); connect(x.p1, l.p); connect(l.n, R1.p); connect(R1.n, g.p);
         end Case;"
    );
    let found = graph(&text);
    let lacking: Vec<&str> =
        found.graph.parameters.values().filter(|it| it.value.is_none()).map(|it| it.name.as_str()).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
    let space = session::SymbolicSpace::of_graph(&found).unwrap();
    assert!(space.notes.iter().any(|note| note.contains("the formulas hold for others")), "{:?}", space.notes);
    let other = session::SymbolicSpace::of_graph(&graph(&text.replace("x(k = 1)", "x(k = 2)"))).unwrap();
    assert!(other.notes.is_empty(), "{:?}", other.notes);
}
