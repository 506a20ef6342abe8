//! Calls about bond graphs: settings, modes of switched junctions, names of inputs and outputs, derivatives of inputs.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use expect_test::expect;
use linear::export::Cell;
use session::{EntryNotation, Failed, LinearRequest, MemoryFiles, Request, Session, Settings, SymbolicSpace};

fn opened(text: &str, set: &[(&str, &str)]) -> (Session, Request) {
    let session = Session::new(Box::new(MemoryFiles::one("case.bond", text)));
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    (session, Request { target: "case.bond".to_owned(), set, ..Request::default() })
}

fn said(session: &Session, failed: Failed) -> String {
    match failed {
        Failed::Call(message) => message,
        _ => session.diagnostics.iter().map(|said| said.render(session.sources())).collect(),
    }
}

fn symbolic(text: &str, set: &[(&str, &str)], wanted: &LinearRequest) -> Result<SymbolicSpace, String> {
    let (mut session, request) = opened(text, set);
    let options = |experiment: &dae::Experiment| {
        let last = wanted.times.last().copied();
        Settings { stop_time: last, ..Settings::default() }.resolve(experiment)
    };
    let found = session.linearize_symbolic(&request, wanted, options);
    found.map_err(|failed| said(&session, failed))
}

fn numeric(text: &str, set: &[(&str, &str)], wanted: &LinearRequest) -> Result<linear::StateSpace, String> {
    let (mut session, request) = opened(text, set);
    let found = session.linearize(&request, wanted, |experiment| Settings::default().resolve(experiment));
    found.map(|mut points| points.remove(0).system).map_err(|failed| said(&session, failed))
}

fn text(space: &SymbolicSpace) -> String {
    let system = space.entries(EntryNotation::Plain);
    let states: Vec<&str> = system.states.iter().map(|state| state.name.as_str()).collect();
    let mut text = format!("x = ({})\n", states.join(", "));
    for (name, matrix) in [("A", &system.a), ("B", &system.b), ("C", &system.c), ("D", &system.d)] {
        for i in 0..matrix.rows() {
            let row: Vec<String> = matrix.row(i).iter().map(Cell::exact).collect();
            let _ = writeln!(text, "{name} | {}", row.join("   "));
        }
    }
    for condition in &space.conditions {
        let _ = writeln!(text, "{condition}");
    }
    for (output, input, function) in space.transfer_functions().unwrap() {
        let (input, output) = (&system.inputs[input].name, &system.outputs[output].name);
        let _ = writeln!(text, "{input} → {output}: {}", function.exact());
    }
    text
}

const CIRCUIT: &str =
    "bondgraph RC\nparameter R0 = 2 \"kOhm\"\nSe U = 1\n1 i\nR r = R0\nC c = 1 \"uF\"\nU -> i -> r, c\noutput c.e";

#[test]
fn settings_count_in_formulas_and_in_numbers() {
    for (set, pole) in [
        (&[][..], -500.0),
        (&[("R0", "1000")][..], -1000.0),
        (&[("r", "4000")][..], -250.0),
        (&[("r.R", "4000")][..], -250.0),
        (&[("c", "2e-6")][..], -250.0),
        (&[("c.C", "2e-6")][..], -250.0),
        (&[("U", "3")][..], -500.0),
        (&[("c.q.start", "1")][..], -500.0),
    ] {
        let formulas = symbolic(CIRCUIT, set, &LinearRequest::default()).unwrap().numbers().unwrap();
        let numbers = numeric(CIRCUIT, set, &LinearRequest::default()).unwrap();
        assert!((formulas.a[(0, 0)] - pole).abs() < 1e-6, "{set:?}: {}", formulas.a[(0, 0)]);
        assert!((numbers.a[(0, 0)] - pole).abs() < 1e-6, "{set:?}: {}", numbers.a[(0, 0)]);
    }
}

#[test]
fn unknown_settings_are_errors() {
    let said = symbolic(CIRCUIT, &[("R1", "5")], &LinearRequest::default()).unwrap_err();
    assert_eq!(said, "the graph has no parameter and no source `R1`; did you mean `R0`?");
    let said = symbolic(CIRCUIT, &[("R0", "x")], &LinearRequest::default()).unwrap_err();
    assert_eq!(said, "`x` is no number that `R0` could have");
    assert!(numeric(CIRCUIT, &[("R1", "5")], &LinearRequest::default()).is_err());
}

const BOOST: &str = "bondgraph Boost\nSe U = 12\n1 i\nI L = 1e-3\nR rl = 0.1\n1 sw on when time > 1\n0 n\n1 dio on when time <= 1\n\
    C c = 1e-4\n0 o\nR load = 10\nR rs = 0.01\nU -> i -> L, rl\ni -> n -> sw -> rs\nn -> dio -> o -> c, load\noutput o.e";

fn at(time: f64) -> LinearRequest {
    LinearRequest { times: vec![time], ..LinearRequest::default() }
}

#[test]
fn formulas_of_a_switched_graph_are_those_of_the_mode_at_the_time() {
    expect![[r#"
        x = (L.p, c.q)
        A | -rl/L   -1/c
        A | 1/L   -1/(c*load)
        B | 1
        B | 0
        C | 0   1/c
        D | 0
        sw is off, dio is on (as at time 0)
        U → o.e: load/(L*c*load*s^2 + (L + rl*c*load)*s + rl + load)
    "#]]
    .assert_eq(&text(&symbolic(BOOST, &[], &LinearRequest::default()).unwrap()));
    expect![[r#"
        x = (L.p, c.q)
        A | -(rl + rs)/L   0
        A | 0   -1/(c*load)
        B | 1
        B | 0
        C | 0   1/c
        D | 0
        sw is on, dio is off (as at time 1.5)
        U → o.e: 0
    "#]]
    .assert_eq(&text(&symbolic(BOOST, &[], &at(1.5)).unwrap()));
    for time in [0.5, 1.5] {
        let formulas = symbolic(BOOST, &[], &at(time)).unwrap().numbers().unwrap();
        let numbers = numeric(BOOST, &[], &at(time)).unwrap();
        for (one, other) in formulas.a.entries().iter().zip(numbers.a.entries()) {
            assert!((one - other).abs() <= 1e-9 * (1.0 + other.abs()), "{one} and {other} at {time}");
        }
    }
    let two = LinearRequest { times: vec![0.5, 1.5], ..LinearRequest::default() };
    let said = symbolic(BOOST, &[], &two).unwrap_err();
    assert_eq!(said, "formulas describe one mode of the graph; give `--at` a single time");
}

#[test]
fn inputs_and_outputs_have_the_names_of_the_graph() {
    let graph = "Se u = 1\n1 a\n1 b\nR r = 1\nR s = 2\nI T[2] = [2, 0.5; 0.5, 3]\nu -> a -> r, T[1]\nb -> s, T[2]\n\
                 output u.e, 2*T[1].f, y = 2+T[1].f";
    let space = numeric(graph, &[], &LinearRequest::default()).unwrap();
    let names: Vec<&str> = space.outputs.iter().map(|signal| signal.name.as_str()).collect();
    assert_eq!(names, ["u.e", "2*T[1].f", "y"]);
    let list = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let wanted = LinearRequest { inputs: list(&["u"]), outputs: list(&["T[1].f", "y"]), times: Vec::new() };
    let named = numeric(graph, &[], &wanted).unwrap();
    assert_eq!(named.c.row(1), space.c.row(2));
    assert_eq!(named.inputs[0].name, "u");
    assert_eq!(named.outputs[0].name, "T[1].f");
}

#[test]
fn derivatives_of_inputs_are_in_transfer_functions_and_zeros() {
    let graph = "Se U = 1\n0 n\nC c = 2\nR r = 3\n1 j\nI l = 0.5\nU -> n -> c, j\nj -> l, r\noutput U.f";
    let space = symbolic(graph, &[], &LinearRequest::default()).unwrap();
    let functions = space.transfer_functions().unwrap();
    assert_eq!(functions[0].2.exact(), "(c*l*s^2 + c*r*s + 1)/(l*s + r)");
    // c*l*s² + c*r*s + 1 = s² + 6*s + 1
    let mut zeros: Vec<f64> =
        linear::zeros(&space.numbers_for_zeros().unwrap(), 1e-9).unwrap().iter().map(|zero| zero.re).collect();
    zeros.sort_by(f64::total_cmp);
    let expected = [-3.0 - 8.0_f64.sqrt(), -3.0 + 8.0_f64.sqrt()];
    assert!(zeros.len() == 2 && zeros.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-9), "{zeros:?}");
}

#[test]
fn a_parameter_named_s_leaves_the_laplace_variable_another_name() {
    let space = symbolic("Se U = 1\n1 i\nR s = 2\nC k = 3\nU -> i -> s, k\noutput k.e", &[], &LinearRequest::default())
        .unwrap();
    assert_eq!(space.laplace(), "p");
    assert_eq!(space.transfer_functions().unwrap()[0].2.exact(), "1/(s*k*p + 1)");
}

#[test]
fn what_lacks_a_value_is_reported_at_its_line() {
    let graph = "Se u\n1 j\nR r\nI l = 2\nu -> j -> r, l\noutput l.f";
    let (mut session, request) = opened(graph, &[]);
    let options = |experiment: &dae::Experiment| Settings::default().resolve(experiment);
    session.linearize(&request, &LinearRequest::default(), options).unwrap();
    let warning = session.diagnostics.iter().find(|said| said.code == "parameter-without-value").unwrap();
    assert!(warning.render(session.sources()).contains("case.bond:3:1"), "{}", warning.render(session.sources()));
}

/// q = 0.5·e and e = 2·q: any effort fits at these values, and none but zero at others.
#[test]
fn formulas_that_do_not_hold_at_the_values_say_so() {
    let graph = |value: &str| {
        format!(
            "bondgraph B\nSf u = 1\n0 n\nC c = {value}\nMSe w = 2*c.q\nR r = 1\n1 j\nu -> n -> c\nn -> j -> r\nw -> n\noutput n.e"
        )
    };
    let notes = |value: &str| symbolic(&graph(value), &[], &LinearRequest::default()).unwrap().notes;
    assert_eq!(notes("0.3"), [] as [&str; 0]);
    let said = notes("0.5");
    assert!(said.len() == 1 && said[0].contains("no unique solution at the values"), "{said:?}");
}

/// A source at a capacitor beside R and L, with numbers: i = C·u̇ + j.
#[test]
fn derivatives_of_sources_with_numbers() {
    let text =
        "bondgraph D\nSe U = 1\n0 n\nC c = 2\nR r = 3\n1 j\nI l = 0.5\nU -> n -> c, j\nj -> l, r\noutput i = U.f, l.f";
    let (mut session, request) = opened(text, &[]);
    let options = |experiment: &dae::Experiment| Settings::default().resolve(experiment);
    let point = session.linearize(&request, &LinearRequest::default(), options).unwrap().remove(0);
    let rates = point.rates.unwrap();
    let rows = |matrix: &linear::Matrix| (0..matrix.rows()).map(|i| matrix.row(i).to_vec()).collect::<Vec<_>>();
    assert_eq!(rows(&point.system.a), [[-6.0]]);
    assert_eq!(rows(&point.system.b), [[1.0]]);
    assert_eq!(rows(&point.system.c), [[2.0], [2.0]]);
    assert_eq!(rows(&point.system.d), [[0.0], [0.0]]);
    assert_eq!((rows(&rates.b), rows(&rates.d)), (vec![vec![0.0]], vec![vec![2.0], vec![0.0]]));
    assert_eq!((point.system.inputs[0].name.as_str(), point.input_values.as_slice()), ("U", [1.0].as_slice()));
}
