//! State spaces with symbols: closed forms, refusals, and agreement with numbers at the values of the parameters and at others.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use expect_test::expect;
use linear::export::Cell;
use session::{EntryNotation, LinearRequest, MemoryFiles, Request, Session, Settings, SymbolicSpace};

fn session(file: &str, text: &str) -> (Session, Request) {
    let session = Session::new(Box::new(MemoryFiles::one(file, text)));
    (session, Request { target: file.to_owned(), ..Request::default() })
}

fn rendered(session: &Session) -> String {
    session.diagnostics.iter().map(|said| said.render(session.sources())).collect()
}

fn symbolic_in(file: &str, text: &str, wanted: &LinearRequest) -> Result<SymbolicSpace, String> {
    let (mut session, request) = session(file, text);
    let found = session.linearize_symbolic(&request, wanted, |experiment| Settings::default().resolve(experiment));
    found.map_err(|_| rendered(&session))
}

fn symbolic(text: &str) -> Result<SymbolicSpace, String> {
    symbolic_in("case.mo", text, &LinearRequest::default())
}

fn numeric_in(file: &str, text: &str, wanted: &LinearRequest) -> Result<linear::StateSpace, String> {
    let (mut session, request) = session(file, text);
    let found = session.linearize(&request, wanted, |experiment| Settings::default().resolve(experiment));
    found.map(|mut points| points.remove(0).system).map_err(|_| rendered(&session))
}

/// Matrices as rows of texts, and transfer functions.
fn text(space: &SymbolicSpace) -> String {
    let system = space.entries(EntryNotation::Plain);
    let names = |list: Vec<&str>| list.join(", ");
    let mut text = format!("x = ({})\n", names(system.states.iter().map(|state| state.name.as_str()).collect()));
    for (name, matrix) in [("A", &system.a), ("B", &system.b), ("C", &system.c), ("D", &system.d)] {
        for i in 0..matrix.rows() {
            let row: Vec<String> = matrix.row(i).iter().map(Cell::exact).collect();
            let _ = writeln!(text, "{name} | {}", row.join("   "));
        }
    }
    for (output, input, function) in space.transfer_functions().unwrap() {
        let (input, output) = (&system.inputs[input].name, &system.outputs[output].name);
        let _ = writeln!(text, "{input} → {output}: {}", function.exact());
    }
    text
}

const COMPONENTS: &str = "
  connector Pin Real v; flow Real i; end Pin;
  partial model TwoPin Pin p, n; Real v = p.v - n.v; Real i = p.i; equation p.i + n.i = 0; end TwoPin;
  model Resistor extends TwoPin; parameter Real R = 1; equation v = R*i; end Resistor;
  model Capacitor extends TwoPin(v(start = 0)); parameter Real C = 1; equation i = C*der(v); end Capacitor;
  model Inductor extends TwoPin(i(start = 0)); parameter Real L = 1; equation v = L*der(i); end Inductor;
  model Source extends TwoPin; input Real u; equation v = u; end Source;
  model Ground Pin p; equation p.v = 0; end Ground;
  connector Flange Real s; flow Real f; end Flange;
  model Mass Flange a; parameter Real m = 1; Real v(start = 0), s(start = 0);
  equation s = a.s; v = der(s); m*der(v) = a.f; end Mass;
  model SpringDamper Flange a, b; parameter Real c = 1, d = 1; Real s_rel = b.s - a.s, f = b.f;
  equation a.f + b.f = 0; f = c*s_rel + d*der(s_rel); end SpringDamper;
  model Lever Flange a, b; parameter Real r = 2; equation a.s = r*b.s; r*a.f + b.f = 0; end Lever;
  model Wall Flange a; equation a.s = 0; end Wall;
  model Push Flange a; input Real u; equation a.f = -u; end Push;
";

#[test]
fn a_filter_has_its_textbook_form() {
    let model = format!(
        "model Filter {COMPONENTS}
           input Real u; output Real y = C1.v;
           Source V(u = u); Ground g; Resistor R1(R = 100); Inductor L1(L = 1e-3); Capacitor C1(C = 1e-6);
         equation
           connect(V.n, g.p); connect(V.p, R1.p); connect(R1.n, L1.p); connect(L1.n, C1.p); connect(C1.n, g.p);
         end Filter;"
    );
    expect![[r#"
        x = (L1.i, C1.v)
        A | -R1.R/L1.L   -1/L1.L
        A | 1/C1.C   0
        B | 1/L1.L
        B | 0
        C | 0   1
        D | 0
        u → y: 1/(L1.L*C1.C*s^2 + R1.R*C1.C*s + 1)
    "#]]
    .assert_eq(&text(&symbolic(&model).unwrap()));
}

#[test]
fn dependent_storages_and_loops_of_resistors_are_resolved() {
    let model = format!(
        "model Parallel {COMPONENTS}
           input Real u; output Real y = C1.v;
           Source V(u = u); Ground g; Resistor R1, R2; Capacitor C1, C2;
         equation
           connect(V.n, g.p); connect(V.p, R1.p); connect(R1.n, R2.p); connect(R2.n, g.p);
           connect(R1.n, C1.p); connect(C1.n, g.p); connect(R1.n, C2.p); connect(C2.n, g.p);
         end Parallel;"
    );
    let found = text(&symbolic(&model).unwrap());
    assert!(
        found.contains("u → y: R2.R/((R1.R*R2.R*C1.C + R1.R*R2.R*C2.C)*s + R1.R + R2.R)")
            || found.contains("u → y: R2.R/(R1.R*R2.R*(C1.C + C2.C)*s + R1.R + R2.R)"),
        "{found}"
    );
}

#[test]
fn parameters_keep_their_names_and_what_follows_from_them_is_written_in_them() {
    let model = "model Oscillator
          parameter Real m = 2, f0 = 3, damping = 0.1;
          final parameter Real k = m*(2*f0)^2;
          parameter Real d = 2*damping*sqrt(m*k);
          constant Real half = 0.5;
          input Real u; output Real y = x + half*u;
          Real x(start = 0, fixed = true), v(start = 0, fixed = true), power = v*u;
        equation
          der(x) = v;
          m*der(v) = u - k*x - d*v + sin(time);
        end Oscillator;";
    let space = symbolic(model).unwrap();
    expect![[r#"
        x = (x, v)
        A | 0   1
        A | -4*f0^2   -2*damping*sqrt(m*k)/m
        B | 0
        B | 1/m
        C | 1   0
        D | 1/2
        u → y: (m*s^2 + 2*damping*sqrt(m*k)*s + 2*(2*m*f0^2 + 1))/(2*m*s^2 + 4*damping*sqrt(m*k)*s + 8*m*f0^2)
    "#]]
    .assert_eq(&text(&space));
    let numbers = space.numbers().unwrap();
    let k: f64 = 2.0 * 36.0;
    assert!((numbers.a[(1, 1)] + 0.2 * (2.0 * k).sqrt() / 2.0).abs() < 1e-12, "{numbers:?}");
}

/// Also those that decided about the equations before they were sorted: a branch, and a term that vanishes.
#[test]
fn what_parameters_decided_is_reported() {
    let model = |on: &str| {
        format!(
            "model Decided
               parameter Real a = 4, b = 2; parameter Boolean on = {on};
               input Real u; output Real y = x;
               Real x(start = 0, fixed = true);
             equation
               der(x) = if on then u - a*x else u - b*x;
             end Decided;"
        )
    };
    assert_eq!(symbolic(&model("true")).unwrap().conditions, ["on"]);
    assert_eq!(symbolic(&model("false")).unwrap().conditions, ["not on"]);
}

#[test]
fn a_condition_on_parameters_is_decided_and_reported() {
    let model = "model Choice
          parameter Real k = 2, limit = 1;
          input Real u; output Real y = x;
          Real x(start = 0, fixed = true);
        equation
          der(x) = if k > limit then u - k*x else u*x;
        end Choice;";
    let space = symbolic(model).unwrap();
    assert_eq!(space.conditions, ["k > limit"]);
    assert!(text(&space).contains("A | -k\n"), "{}", text(&space));
}

#[test]
fn what_is_not_linear_is_refused_with_its_place() {
    let model = |law: &str| {
        format!(
            "model Case\n  parameter Real k = 2;\n  input Real u;\n  output Real y = x;\n  Real x(start = 1, fixed = true);\n  Real z;\nequation\n  z = {law};\n  der(x) = u - z;\nend Case;\n"
        )
    };
    for (law, reason) in [
        ("k*x^2", "`x^2` is no linear function"),
        ("x*u", "`x*u` multiplies or divides what changes"),
        ("sin(x)", "`sin(x)` is no linear function"),
        ("time*x", "has a coefficient that changes with time or at events"),
        ("if x > 0 then x else 2*x", "changes with a condition"),
        ("k/x", "`k/x` multiplies or divides what changes"),
    ] {
        let said = symbolic(&model(law)).unwrap_err();
        assert!(said.contains("error[not-linear]") && said.contains(reason), "{law}: {said}");
        assert!(said.contains("case.mo:8:3"), "{law}: {said}");
    }
    // What nothing depends on may be anything.
    let free = "model Free input Real u; output Real y = x; Real x(start = 0, fixed = true), p = x*u; equation der(x) = u; end Free;";
    assert!(symbolic(free).is_ok());
}

/// Two terms that are not linear are not equal because neither is: only one and the same variable cancels.
#[test]
fn different_terms_do_not_cancel() {
    let model = |f: &str, g: &str, right: &str| {
        format!(
            "model Case input Real u; output Real y = x; Real x(start = 2, fixed = true), f, g, h; equation f = {f}; g = {g}; h = f; der(x) = {right}; end Case;"
        )
    };
    for (f, g, right) in [
        ("x^2", "x^3", "f - g"),
        ("x^2", "x^3", "u + 2*f - 2*g"),
        ("sin(time)*x", "cos(time)*x", "f - g"),
        ("if x > 1 then x else 2*x", "x*u", "(f - g)/3 - x"),
        ("x^2", "x^3", "if u > 0 then f else g"),
    ] {
        let said = symbolic(&model(f, g, right)).unwrap_err();
        assert!(said.contains("error[not-linear]"), "{f}, {g}, {right}: {said}");
    }
    let space = symbolic(&model("x^2", "x^3", "h - f - 3*x + u")).unwrap();
    assert_eq!(space.numbers().unwrap().a[(0, 0)], -3.0);
}

#[test]
fn a_bond_graph_has_its_sources_as_inputs_and_its_own_outputs() {
    let graph = "Se F = 10\nSe w = -m*g\nparameter g = 9.81\n1 v\nC k = 0.5\nI m = 2\nR d = 3\nF, w -> v -> k, m, d\noutput m.e, m.f\n";
    let space = symbolic_in("msd.bond", graph, &LinearRequest::default()).unwrap();
    expect![[r#"
        x = (k.q, m.p)
        A | 0   1/m
        A | -1/k   -d/m
        B | 0   0
        B | 1   1
        C | -1/k   -d/m
        C | 0   1/m
        D | 1   1
        D | 0   0
        F → m.e: k*m*s^2/(k*m*s^2 + k*d*s + 1)
        w → m.e: k*m*s^2/(k*m*s^2 + k*d*s + 1)
        F → m.f: k*s/(k*m*s^2 + k*d*s + 1)
        w → m.f: k*s/(k*m*s^2 + k*d*s + 1)
    "#]]
    .assert_eq(&text(&space));
    let numbers = numeric_in("msd.bond", graph, &LinearRequest::default()).unwrap();
    assert_equal(&space.numbers().unwrap(), &numbers, "the graph");
    assert_eq!(numbers.inputs.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["F", "w"]);
    assert_eq!(numbers.outputs.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["m.e", "m.f"]);
}

#[track_caller]
fn assert_equal(one: &linear::StateSpace, other: &linear::StateSpace, what: &str) {
    let names = |system: &linear::StateSpace| system.states.iter().map(|state| state.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(one), names(other), "{what}");
    for (name, a, b) in
        [("A", &one.a, &other.a), ("B", &one.b, &other.b), ("C", &one.c, &other.c), ("D", &one.d, &other.d)]
    {
        let size = a.entries().iter().chain(b.entries()).fold(0.0_f64, |size, value| size.max(value.abs()));
        for (a, b) in a.entries().iter().zip(b.entries()) {
            assert!((a - b).abs() <= 1e-9 * size, "{name}: {a} and {b} in {what}");
        }
    }
}

/// A random network of resistors, capacitors and inductors, fed over a resistor.
fn circuit(random: &mut fastrand::Rng) -> (String, String, Vec<String>) {
    let nodes = 2 + random.usize(..4);
    let (mut declarations, mut equations, mut parameters) = (String::new(), String::new(), Vec::new());
    let mut outputs = Vec::new();
    let pin = |node: usize| if node == 0 { "g.p".to_owned() } else { format!("R{node}.n") };
    let _ = writeln!(declarations, "Source V(u = u); Ground g; Resistor R1;");
    let _ = writeln!(equations, "connect(V.n, g.p); connect(V.p, R1.p);");
    parameters.push("R1.R".to_owned());
    for node in 2..nodes {
        let _ = writeln!(declarations, "Resistor R{node};");
        let _ = writeln!(equations, "connect({}, R{node}.p);", pin(random.usize(..node)));
        parameters.push(format!("R{node}.R"));
    }
    for index in 0..2 + random.usize(..4) {
        let (class, parameter) = [("Resistor", "R"), ("Capacitor", "C"), ("Inductor", "L")][random.usize(..3)];
        let one = random.usize(..nodes);
        let other = (one + 1 + random.usize(..nodes - 1)) % nodes;
        let _ = writeln!(declarations, "{class} E{index};");
        let _ = writeln!(equations, "connect(E{index}.p, {}); connect(E{index}.n, {});", pin(one), pin(other));
        parameters.push(format!("E{index}.{parameter}"));
        outputs.push(format!("E{index}.{}", if random.bool() { "v" } else { "i" }));
    }
    let output = outputs.swap_remove(random.usize(..outputs.len()));
    (format!("input Real u; output Real y = {output};\n{declarations}"), equations, parameters)
}

/// A random chain of masses with springs, dampers and levers, pushed at its beginning.
fn chain(random: &mut fastrand::Rng) -> (String, String, Vec<String>) {
    let count = 1 + random.usize(..4);
    let (mut declarations, mut equations) =
        ("Push push(u = u); Mass m0;\n".to_owned(), "connect(push.a, m0.a);\n".to_owned());
    let mut parameters = vec!["m0.m".to_owned()];
    for index in 1..count {
        let before = format!("m{}.a", index - 1);
        let _ = writeln!(declarations, "Mass m{index};");
        parameters.push(format!("m{index}.m"));
        match random.usize(..4) {
            0 => {
                let _ = writeln!(declarations, "Lever l{index};");
                let _ = writeln!(equations, "connect({before}, l{index}.a); connect(l{index}.b, m{index}.a);");
                parameters.push(format!("l{index}.r"));
            }
            _ => {
                let _ = writeln!(declarations, "SpringDamper s{index};");
                let _ = writeln!(equations, "connect({before}, s{index}.a); connect(s{index}.b, m{index}.a);");
                parameters.extend([format!("s{index}.c"), format!("s{index}.d")]);
            }
        }
    }
    if random.bool() {
        let _ = writeln!(declarations, "SpringDamper s; Wall wall;");
        let _ = writeln!(equations, "connect(s.a, m{}.a); connect(s.b, wall.a);", count - 1);
        parameters.extend(["s.c".to_owned(), "s.d".to_owned()]);
    }
    let output = format!("m{}.{}", random.usize(..count), ["s", "v"][random.usize(..2)]);
    (format!("input Real u; output Real y = {output};\n{declarations}"), equations, parameters)
}

fn with_values(parts: &(String, String, Vec<String>), values: &[f64]) -> String {
    let mut text = format!("model Random {COMPONENTS} extends Plain(");
    let list: Vec<String> = parts
        .2
        .iter()
        .zip(values)
        .map(|(name, value)| {
            let (component, parameter) = name.split_once('.').unwrap();
            format!("{component}({parameter} = {value})")
        })
        .collect();
    // Several parameters of one component are one modifier.
    let mut merged: Vec<String> = Vec::new();
    for item in list {
        let component = item.split('(').next().unwrap().to_owned();
        match merged.iter_mut().find(|known| known.starts_with(&format!("{component}("))) {
            Some(known) => *known = format!("{}, {}", known.trim_end_matches(')'), &item[component.len() + 1..]),
            None => merged.push(item),
        }
    }
    let _ =
        writeln!(text, "{}); model Plain {} equation {} end Plain; end Random;", merged.join(", "), parts.0, parts.1);
    text
}

/// Symbols at the values of the parameters are the numbers there, and at other values the numbers of that model.
fn agree(random: &mut fastrand::Rng, make: fn(&mut fastrand::Rng) -> (String, String, Vec<String>)) -> bool {
    let parts = make(random);
    let mut values = || -> Vec<f64> { parts.2.iter().map(|_| (1 + random.u32(..400)) as f64 / 100.0).collect() };
    let (here, elsewhere) = (values(), values());
    let model = with_values(&parts, &here);
    let wanted = LinearRequest::default();
    let space = match (symbolic(&model), numeric_in("case.mo", &model, &wanted)) {
        (Ok(space), Ok(numbers)) => {
            assert_equal(&space.numbers().unwrap(), &numbers, &model);
            space
        }
        // A floating part of a circuit has no numbers either.
        (Err(_), Err(_)) => return false,
        (Ok(_), Err(said)) => panic!("symbols, but no numbers: {said}\n{model}"),
        (Err(said), Ok(_)) => panic!("numbers, but no symbols: {said}\n{model}"),
    };
    let other = with_values(&parts, &elsewhere);
    let numbers = numeric_in("case.mo", &other, &wanted).unwrap();
    let mut moved = space;
    for (name, value) in parts.2.iter().zip(&elsewhere) {
        for symbol in moved.symbols.iter_mut().filter(|symbol| symbol.name == *name) {
            symbol.value = Some(*value);
        }
    }
    let same_states = moved.system.states.iter().zip(&numbers.states).all(|(one, other)| one.name == other.name);
    if same_states {
        assert_equal(&moved.numbers().unwrap(), &numbers, &other);
    }
    same_states
}

#[test]
fn symbols_of_random_circuits_agree_with_numbers() {
    let mut random = fastrand::Rng::with_seed(1);
    let agreed = (0..40).filter(|_| agree(&mut random, circuit)).count();
    assert!(agreed >= 20, "{agreed}");
}

#[test]
fn symbols_of_random_mechanics_agree_with_numbers() {
    let mut random = fastrand::Rng::with_seed(2);
    let agreed = (0..40).filter(|_| agree(&mut random, chain)).count();
    assert!(agreed >= 30, "{agreed}");
}

/// z = u/(1 - g): for g = 1 there is no such number, and the formulas are those of other values.
#[test]
fn formulas_that_do_not_hold_at_the_values_are_noted() {
    let model = |g: f64| {
        format!(
            "model M parameter Real g = {g}; input Real u(start = 0); output Real y = z; Real x(start = 0, fixed = true), z, w;
             equation z = g*w + u; w = z; der(x) = z - x; end M;"
        )
    };
    let note = "the equations have no unique solution at the values of the parameters: the formulas hold for others";
    let space = symbolic(&model(1.0)).unwrap();
    assert_eq!(space.notes, [note]);
    assert_eq!(space.entries(EntryNotation::Plain).d[(0, 0)].exact(), "-1/(g - 1)");
    assert!(numeric_in("case.mo", &model(1.0), &LinearRequest::default()).unwrap_err().contains("singular-system"));
    assert!(symbolic(&model(3.0)).unwrap().notes.is_empty());
}

/// A controlled source with gain 1 across its own terminals says nothing, though the factor that vanishes cancels in the formulas.
#[test]
fn a_factor_that_cancels_is_noted_where_it_vanishes() {
    let model = |g: f64| {
        format!(
            "model M parameter Real g = {g}, L = 2; input Real u; Real v, i(start = 0, fixed = true); output Real y = i;
             equation v = g*v; L*der(i) = u - v - i; end M;"
        )
    };
    let space = symbolic(&model(1.0)).unwrap();
    assert_eq!(space.notes.len(), 1, "{:?}", space.notes);
    assert!(numeric_in("case.mo", &model(1.0), &LinearRequest::default()).unwrap_err().contains("singular-system"));
    let numbers = numeric_in("case.mo", &model(3.0), &LinearRequest::default()).unwrap();
    assert_eq!((numbers.a[(0, 0)], numbers.b[(0, 0)]), (-0.5, 0.5));
    assert!(symbolic(&model(3.0)).unwrap().notes.is_empty());
}

/// Names that differ in quotes alone stay two names.
#[test]
fn modelica_text_keeps_quoted_names_apart() {
    let text = "model M input Real u; output Real y = 'x__y'; parameter Real 'k k' = 2, 'k_k' = 3;
          Real 'x\\'y'(start = 0, fixed = true), 'x__y'(start = 0, fixed = true);
        equation der('x\\'y') = 'k k'*u - 'x\\'y'; der('x__y') = 'k_k'*'x\\'y'; end M;";
    let space = symbolic(text).unwrap();
    let written = linear::export::modelica(&space.entries(EntryNotation::Modelica), "M2");
    let again =
        numeric_in("case.mo", &written, &LinearRequest::default()).unwrap_or_else(|said| panic!("{said}\n{written}"));
    assert_eq!(again.a.entries(), [-1.0, 0.0, 3.0, 0.0], "{written}");
    assert_eq!(again.b.entries(), [2.0, 0.0], "{written}");
}
