//! The listing of sorted and solved equations: what it prints is read back, as exact formulas and as numbers.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use algebra::{Field, Rational};
use expect_test::{Expect, expect};
use fastrand::Rng;
use session::{Disk, Document, Request, Session};
use transform::Aliases;

fn document(path: &str, text: Option<&str>, kind: Document) -> String {
    document_with(path, text, kind, Aliases::Eliminate)
}

fn document_with(path: &str, text: Option<&str>, document: Document, aliases: Aliases) -> String {
    let mut session = Session::new(Box::new(Disk));
    session.replace_text(path, text.map(Into::into));
    let transform = transform::Options { aliases, ..transform::Options::default() };
    let request = Request { target: path.to_owned(), transform, ..Request::default() };
    let schedule = session.flatten(&request).and_then(|model| session.structure(model));
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    document.of(&schedule.unwrap_or_else(|failed| panic!("{failed:?}: {said}\n{text:?}")))
}

fn path_of_example(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/dymola-1993").join(file).display().to_string()
}

fn example(file: &str, kind: Document) -> String {
    document(&path_of_example(file), None, kind)
}

/// The values that formulas are read into.
trait Number: Clone {
    fn literal(text: &str) -> Self;
    fn sum(&self, other: &Self, is_minus: bool) -> Self;
    fn product(&self, other: &Self, is_over: bool) -> Self;
    fn power(&self, exponent: i32) -> Self;
}

impl Number for f64 {
    fn literal(text: &str) -> Self {
        text.parse().unwrap()
    }
    fn sum(&self, other: &Self, is_minus: bool) -> Self {
        if is_minus { self - other } else { self + other }
    }
    fn product(&self, other: &Self, is_over: bool) -> Self {
        if is_over { self / other } else { self * other }
    }
    fn power(&self, exponent: i32) -> Self {
        self.powi(exponent)
    }
}

impl Number for Rational {
    fn literal(text: &str) -> Self {
        Rational::decimal(text).unwrap()
    }
    fn sum(&self, other: &Self, is_minus: bool) -> Self {
        self.add(&if is_minus { other.negate() } else { other.clone() })
    }
    fn product(&self, other: &Self, is_over: bool) -> Self {
        self.multiply(&if is_over { other.invert().unwrap() } else { other.clone() })
    }
    fn power(&self, exponent: i32) -> Self {
        Rational::power(self, exponent).unwrap()
    }
}

/// A formula of the listing: numbers, names, `+ - * / ^`, brackets, and alternatives on a condition that `truth` knows by its text.
struct Reader<'r, N> {
    rest: &'r str,
    value: &'r dyn Fn(&str) -> N,
    truth: &'r dyn Fn(&str) -> bool,
}

impl<N: Number> Reader<'_, N> {
    fn read(text: &str, value: &dyn Fn(&str) -> N, truth: &dyn Fn(&str) -> bool) -> N {
        let mut reader = Reader { rest: text, value, truth };
        let result = reader.sum();
        assert!(reader.rest.trim().is_empty(), "`{}` is left of `{text}`", reader.rest);
        result
    }

    fn takes(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> N {
        if self.takes("if ") {
            let (condition, rest) = self.rest.split_once(" then ").unwrap();
            self.rest = rest;
            let holds = (self.truth)(condition);
            let one = self.sum();
            assert!(self.takes("else "));
            let other = self.sum();
            return if holds { one } else { other };
        }
        let zero = N::literal("0");
        let mut result = if self.takes("-") { zero.sum(&self.product(), true) } else { self.product() };
        loop {
            let is_minus = match (self.takes("+"), self.rest.starts_with('-')) {
                (true, _) => false,
                (false, true) => self.takes("-"),
                (false, false) => return result,
            };
            result = result.sum(&self.product(), is_minus);
        }
    }

    fn product(&mut self) -> N {
        let mut result = self.power();
        loop {
            let is_over = match (self.takes("*"), self.rest.starts_with('/')) {
                (true, _) => false,
                (false, true) => self.takes("/"),
                (false, false) => return result,
            };
            result = result.product(&self.power(), is_over);
        }
    }

    fn power(&mut self) -> N {
        let base = self.primary();
        if !self.takes("^") {
            return base;
        }
        let word = self.word();
        base.power(word.parse().unwrap())
    }

    fn word(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let is_number = self.rest.starts_with(|c: char| c.is_ascii_digit());
        let mut end = 0;
        let bytes = self.rest.as_bytes();
        while end < bytes.len() {
            let is_sign = matches!(bytes[end], b'-' | b'+') && is_number && matches!(bytes[end - 1], b'e' | b'E');
            if !(bytes[end].is_ascii_alphanumeric() || matches!(bytes[end], b'.' | b'_') || is_sign) {
                break;
            }
            end += 1;
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn primary(&mut self) -> N {
        if self.takes("(") {
            let inner = self.sum();
            assert!(self.takes(")"));
            return inner;
        }
        let word = self.word();
        assert!(!word.is_empty(), "no formula: `{}`", self.rest);
        if word.starts_with(|c: char| c.is_ascii_digit()) { N::literal(&word) } else { (self.value)(&word) }
    }
}

/// The equations of the listing with full names, in order; the text between `SOLVED …` and `END …` has them already.
fn equations(listing: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut component = String::new();
    let mut in_system = false;
    for line in listing.lines() {
        if !line.starts_with(' ') {
            in_system = line.starts_with("SOLVED") || line.starts_with("ELIMINATED");
            continue;
        }
        let mut text = line.trim();
        if !in_system
            && let Some((head, rest)) = text.split_once(". ")
            && line.starts_with("  ")
            && !head.contains(' ')
        {
            component = head.to_owned();
            text = rest.trim();
        }
        let Some((name, value)) = text.split_once(" = ") else { continue };
        if name.starts_with("QRel") || name.starts_with("QZ") || name.starts_with("QL") {
            continue;
        }
        let scope = if in_system { "" } else { component.as_str() };
        found.push((format!("{scope}:{name}"), value.to_owned()));
    }
    found
}

/// Symbols by their names, so that equal texts are equal formulas.
#[derive(Default)]
struct Formulas {
    symbols: HashMap<String, u32>,
    known: HashMap<String, Rational>,
}

impl Formulas {
    /// Takes definitions in order; conditions are symbols by their texts.
    fn define(&mut self, name: &str, text: &str) {
        let value = if text.starts_with("if ") {
            self.symbol(text)
        } else {
            let mut names = Vec::new();
            Reader::read(text, &|name: &str| Rational::integer(name.len() as i64 + 1), &|_| true);
            let mut reader = Reader { rest: text, value: &|_: &str| Rational::integer(1), truth: &|_| true };
            while !reader.rest.is_empty() {
                let word = reader.word();
                names.push(word);
                reader.rest = reader.rest.trim_start_matches(|c: char| !c.is_alphanumeric());
            }
            for name in names {
                self.value(&name);
            }
            Reader::read(text, &|name: &str| self.known[name].clone(), &|_| true)
        };
        self.known.insert(name.to_owned(), value);
    }

    fn symbol(&mut self, name: &str) -> Rational {
        let next = self.symbols.len() as u32;
        Rational::variable(*self.symbols.entry(name.to_owned()).or_insert(next))
    }

    fn value(&mut self, name: &str) -> Rational {
        if !self.known.contains_key(name) {
            let symbol = self.symbol(name);
            self.known.insert(name.to_owned(), symbol);
        }
        self.known[name].clone()
    }
}

/// The formulas of a listing equal those of the paper, which are given with what the paper's names stand for.
fn agrees_with_paper(listing: &str, meaning: &[(&str, &str)], paper: &[(&str, &str)], unknowns: &[&str]) {
    let mut ours = Formulas::default();
    for (name, text) in equations(listing) {
        if let Some(name) = name.strip_prefix(':') {
            ours.define(name, &text);
        }
    }
    let mut theirs = Formulas { symbols: std::mem::take(&mut ours.symbols), known: HashMap::new() };
    for (name, text) in meaning.iter().chain(paper) {
        theirs.define(name, text);
    }
    for &unknown in unknowns {
        let (one, other) = (&ours.known[unknown], &theirs.known[unknown]);
        assert_eq!(one, other, "{unknown} in\n{listing}");
    }
}

const SWITCH_CIRCUIT: [(&str, &str); 9] = [
    ("Q105", "OpenSw - 1"),
    ("Q106", "R1.R * Q105"),
    ("Q107", "Q106 + OpenSw"),
    ("Q108", "R1.R * OpenSw"),
    ("R1.u", "(Q106 * C.Va - Q106 * C.Vb + Q108 * i)/Q107"),
    ("R1.i", "(Q105 * C.Va - Q105 * C.Vb + OpenSw * i)/Q107"),
    ("Sw.i", "(Q105 * C.Vb + Q106 * i - Q105 * C.Va)/Q107"),
    ("Sw.u", "(OpenSw * C.Vb + Q108 * i - OpenSw * C.Va)/Q107"),
    ("Sw.Va", "(OpenSw * C.Vb + Q108 * i + Q106 * C.Va)/Q107"),
];
const SWITCH_UNKNOWNS: [&str; 5] = ["R1.u", "R1.i", "Sw.i", "Sw.u", "Sw.Va"];

#[test]
fn the_switch_circuit_is_solved_as_in_the_paper() {
    let listing = example("switch_circuit.dym", Document::Dymola);
    // The potential of the reference point is zero.
    let meaning = [("OpenSw", "Sw.OpenSw"), ("C.Vb", "0"), ("C.Va", "C.u")];
    agrees_with_paper(&listing, &meaning, &SWITCH_CIRCUIT, &SWITCH_UNKNOWNS);
}

/// With all variables of the connections, potentials are relative to any reference.
#[test]
fn the_switch_circuit_with_all_its_potentials() {
    let listing = document_with(&path_of_example("switch_circuit.dym"), None, Document::Dymola, Aliases::Keep);
    let meaning = [("OpenSw", "Sw.OpenSw"), ("C.Vb", "R1.Vb"), ("C.Va", "Sw.Vb"), ("i", "n1.i - I0.A.i")];
    agrees_with_paper(&listing, &meaning, &SWITCH_CIRCUIT, &SWITCH_UNKNOWNS);
}

#[test]
fn the_rectifier_is_solved_as_in_the_paper() {
    let listing = example("rectifier.dym", Document::Dymola);
    let paper = [
        ("Q101", "if Diode.OpenSwitch then 1 else 0"),
        ("Q102", "if Diode.OpenSwitch then 0 else 1"),
        ("Q103", "Ri.R * Q102 - Q101"),
        ("Q104", "Ri.R * Q102"),
        ("Ri.u", "(Q104 * U0.Vb - Q104 * Diode.Vb)/Q103"),
        ("Ri.Vb", "(Q104 * Diode.Vb - Q101 * U0.Vb)/Q103"),
        ("Diode.u", "(Q101 * Diode.Vb - Q101 * U0.Vb)/Q103"),
        ("U0.i", "(Q102 * U0.Vb - Q102 * Diode.Vb)/Q103"),
    ];
    let meaning = [("Diode.Vb", "-C.u")];
    agrees_with_paper(&listing, &meaning, &paper, &["Ri.u", "Ri.Vb", "Diode.u", "U0.i"]);
}

const ELEMENTS: &str = "model class TwoPort
  cut A (Va / i), B (Vb / -i)
  main path P < A - B >
  local u
  u = Va - Vb
end
model class (TwoPort) Resistor
  parameter R
  R * i = u
end
model class (TwoPort) Capacitor
  parameter C
  C * der(u) = i
end
model class (TwoPort) Inductor
  parameter L
  L * der(i) = u
end
model class (TwoPort) Source
  parameter U, Ri
  u = U + Ri * i
end
model class (TwoPort) Switch
  terminal Open
  0 = if Open then i else u
end
model Common
  main cut A (V / i)
  V = 0
end
";

/// Class, first and second node (0 is the reference), parameter.
type Element = (&'static str, usize, usize, f64);

struct Circuit {
    elements: Vec<Element>,
    /// Whether each switch is open.
    open: Vec<bool>,
}

impl Circuit {
    /// A resistor leads from each node to the reference, and a switch has one of its own before it: no position is singular.
    fn random(rng: &mut Rng) -> Self {
        let mut nodes = rng.usize(2..5);
        let mut elements = Vec::new();
        let number = |rng: &mut Rng| f64::from(rng.u32(1..40)) / 4.0;
        for node in 1..=nodes {
            elements.push(("Resistor", node, rng.usize(..node), number(rng)));
        }
        for _ in 0..rng.usize(2..6) {
            let (one, other) = (rng.usize(..=nodes), rng.usize(..=nodes));
            if one == other {
                continue;
            }
            match rng.u8(..7) {
                0..3 => elements.push(("Resistor", one, other, number(rng))),
                3 => elements.push(("Inductor", one, other, number(rng))),
                4 => elements.push(("Source", one, other, number(rng))),
                kind => {
                    nodes += 1;
                    elements.push(("Resistor", one, nodes, number(rng)));
                    let class = if kind == 5 { "Switch" } else { "Capacitor" };
                    elements.push((class, nodes, other, number(rng)));
                }
            }
        }
        let open = elements.iter().map(|_| rng.bool()).collect();
        Self { elements, open }
    }

    fn text(&self) -> String {
        let mut text = format!("{ELEMENTS}model Circuit\n  submodel Common\n");
        let (mut nodes, mut connections) = (1, String::new());
        for (index, (class, from, to, value)) in self.elements.iter().enumerate() {
            let parameters = match *class {
                "Resistor" => format!("(R = {value})"),
                "Capacitor" => format!("(C = {value})"),
                "Inductor" => format!("(L = {value})"),
                "Source" => format!("(U = {value}, Ri = 0.5)"),
                _ => String::new(),
            };
            nodes = nodes.max(from + 1).max(to + 1);
            let _ = writeln!(text, "  submodel ({class}) E{index}{parameters}");
            let _ = writeln!(connections, "  connect E{index} from n{from} to n{to}");
            if *class == "Switch" {
                let _ = writeln!(connections, "  E{index}.Open = Time > {}", index + 1);
            }
        }
        let names: Vec<String> = (0..nodes).map(|node| format!("n{node}")).collect();
        let _ = writeln!(text, "  node {}\n{connections}  connect Common at n0\nend", names.join(", "));
        text
    }
}

/// Evaluates a listing line by line for given states and positions of switches.
fn evaluated(listing: &str, circuit: &Circuit, states: &HashMap<String, f64>) -> HashMap<String, f64> {
    let mut values = states.clone();
    for (index, (class, .., value)) in circuit.elements.iter().enumerate() {
        let name = match *class {
            "Resistor" => "R",
            "Capacitor" => "C",
            "Inductor" => "L",
            "Source" => "U",
            _ => continue,
        };
        values.insert(format!("E{index}.{name}"), *value);
        values.insert(format!("E{index}.Ri"), 0.5);
    }
    // A relation is named by its residue, `Time - 3` for the third element.
    let mut truths: HashMap<String, bool> = HashMap::new();
    for line in listing.lines().map(str::trim) {
        if let Some((number, index)) = line.strip_prefix("QRel(").and_then(|rest| rest.split_once(") = Time - ")) {
            let index: usize = index.parse().unwrap();
            truths.insert(format!("QL({number})"), circuit.open[index - 1]);
        }
    }
    for (name, text) in equations(listing) {
        let (component, name) = name.split_once(':').unwrap();
        let prefix =
            if component.is_empty() || component == "Circuit" { String::new() } else { format!("{component}.") };
        // A component may determine a variable of another one, which has its full name.
        let own = if name.contains('.') { "" } else { prefix.as_str() };
        let full = match name.strip_prefix("der(") {
            Some(inner) => format!("der({own}{inner}"),
            None => format!("{own}{name}"),
        };
        if let Some(&truth) = truths.get(text.trim()) {
            truths.insert(full, truth);
            continue;
        }
        let value = |name: &str| {
            let own = values.get(&format!("{prefix}{name}")).or_else(|| values.get(name));
            *own.unwrap_or_else(|| panic!("{name} is not known in {full} = {text}\n{listing}"))
        };
        let found = Reader::read(&text, &value, &|condition: &str| truths[condition]);
        values.insert(full, found);
    }
    values
}

#[test]
fn solved_circuits_satisfy_the_laws_of_their_elements() {
    let count = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, cases) = (count("GYRATOR_SEED", 0), count("CASES", 60));
    let mut solved = 0;
    for seed in first..first + cases {
        let mut rng = Rng::with_seed(seed);
        let circuit = Circuit::random(&mut rng);
        let text = circuit.text();
        let listing = document("circuit.dym", Some(&text), Document::Dymola);
        if listing.contains("its solution is too long to be written") {
            continue;
        }
        solved += usize::from(listing.contains("SOLVED SYSTEM"));
        assert!(!listing.contains("numerically"), "seed {seed}:\n{listing}");
        let mut states = HashMap::new();
        for (index, (class, ..)) in circuit.elements.iter().enumerate() {
            let name = match *class {
                "Capacitor" => "u",
                "Inductor" => "i",
                _ => continue,
            };
            states.insert(format!("E{index}.{name}"), f64::from(rng.u32(1..50)) / 8.0 - 3.0);
        }
        let values = evaluated(&listing, &circuit, &states);
        let of = |name: String| *values.get(&name).unwrap_or_else(|| panic!("seed {seed}: no {name}\n{listing}"));
        let nodes = circuit.elements.iter().map(|(_, from, to, _)| 1 + (*from).max(*to)).max().unwrap();
        let mut currents = vec![0.0; nodes];
        let mut potentials: Vec<Option<f64>> = vec![None; nodes];
        potentials[0] = Some(0.0);
        for (index, (class, from, to, value)) in circuit.elements.iter().enumerate() {
            let (u, i) = (of(format!("E{index}.u")), of(format!("E{index}.i")));
            let error = match *class {
                "Resistor" => value * i - u,
                "Source" => u - 0.5 * i - value,
                "Switch" if circuit.open[index] => i,
                "Switch" => u,
                "Capacitor" => value * of(format!("der(E{index}.u)")) - i,
                _ => value * of(format!("der(E{index}.i)")) - u,
            };
            let (va, vb) = (of(format!("E{index}.Va")), of(format!("E{index}.Vb")));
            assert!(error.abs() < 1e-9 && (va - vb - u).abs() < 1e-9, "seed {seed}: E{index}\n{text}\n{listing}");
            for (node, potential, current) in [(*from, va, i), (*to, vb, -i)] {
                currents[node] += current;
                let known = *potentials[node].get_or_insert(potential);
                assert!((known - potential).abs() < 1e-9, "seed {seed}: node {node}\n{text}\n{listing}");
            }
        }
        currents[0] += of("Common.i".to_owned());
        assert!(currents.iter().all(|current| current.abs() < 1e-9), "seed {seed}: {currents:?}\n{text}\n{listing}");
    }
    assert!(solved as u64 > cases / 2, "only {solved} of {cases} circuits have systems");
}

fn check(path: &str, text: &str, kind: Document, expected: Expect) {
    expected.assert_eq(&document(path, Some(text), kind));
}

/// The limiter of the paper, of which it shows a program for ACSL that is written by hand.
#[test]
fn a_program_with_schedule_statements() {
    let text = "model class Limiter
  terminal x, y
  parameter LowLimit, HighLimit
  y = if x > HighLimit then HighLimit
      else if x < LowLimit then LowLimit
      else x
end
model LimiterTest
  submodel (Limiter) L(LowLimit = -1.0, HighLimit = 1.0)
  L.x = 2 * sin(Time)
end
";
    check(
        "limiter.dym",
        text,
        Document::Acsl,
        expect![[r#"
        program LimiterTest
          constant L_LowLimit = -1.0
          constant L_HighLimit = 1.0
          array QRel(2), QM(2), Qp(2), Qn(2), QZp(2), QZn(2)
          logical Init, Event, AnyEvent, PrintEvent, QL(2)
          initial
            L_x = 2.0*SIN(t)
            If (L_x .GT. L_HighLimit) Then
              L_y = L_HighLimit
            Else If (L_x .LT. L_LowLimit) Then
              L_y = L_LowLimit
            Else
              L_y = L_x
            End If
            Init = .TRUE.
            Event = .FALSE.
          end ! of initial
          dynamic
            derivative
              L10: Continue
              AnyEvent = .FALSE.
              L_x = 2.0*SIN(t)
              QRel(1) = L_x - L_HighLimit
              If (Init .OR. Event) Then
                Call HandleEvent('L_x - L_HighLimit', QM(1), Qp(1), Qn(1), ...
                    QRel(1), Init, PrintEvent, t, AnyEvent)
              End If
              QZp(1) = QRel(1) - Qp(1)
              QZn(1) = QRel(1) - Qn(1)
              QL(1) = QM(1) .GT. 0
              QRel(2) = L_x - L_LowLimit
              If (Init .OR. Event) Then
                Call HandleEvent('L_x - L_LowLimit', QM(2), Qp(2), Qn(2), ...
                    QRel(2), Init, PrintEvent, t, AnyEvent)
              End If
              QZp(2) = QRel(2) - Qp(2)
              QZn(2) = QRel(2) - Qn(2)
              QL(2) = QM(2) .LT. 0
              If (QL(1)) Then
                L_y = L_HighLimit
              Else If (QL(2)) Then
                L_y = L_LowLimit
              Else
                L_y = L_x
              End If
              ! Iterating to find consistent restart conditions
              If (AnyEvent) Go To L10
              Init = .FALSE.
              Event = .FALSE.
              schedule QEvent1 .xp. QZp(1)
              schedule QEvent1 .xn. QZn(1)
              schedule QEvent2 .xp. QZp(2)
              schedule QEvent2 .xn. QZn(2)
            end ! of derivative
            ! L.x > L.HighLimit
            discrete QEvent1
              Event = .TRUE.
            end ! of discrete QEvent1
            ! L.x < L.LowLimit
            discrete QEvent2
              Event = .TRUE.
            end ! of discrete QEvent2
            termt (t .GE. 1.0)
          end ! of dynamic
        end ! of program
    "#]],
    );
}

const SWITCHED: &str = "model Switched \"A source charges a capacitor through a switch; a counter counts how often.\"
  parameter Real C = 0.5, R = 2, G = 1/R;
  parameter Integer most = 3;
  Real u(start = 1, fixed = true), i, v, I \"like i but for its case\";
  Boolean closed(start = true, fixed = true);
  Integer count(start = 0, fixed = true);
  output Real y = v;
  input Real drive;
equation
  C*der(u) = i;
  R*i = v - u;
  v + (if closed then 1 else 5)*i = drive;
  I^3 + I = u;
  when u > 2 and count < most then
    closed = not pre(closed);
    count = pre(count) + 1;
    reinit(u, 0.5*pre(u));
  end when;
  assert(u < 10, \"too much\");
end Switched;
";

#[test]
fn a_modelica_model_as_a_program_for_acsl() {
    check(
        "switched.mo",
        SWITCHED,
        Document::Acsl,
        expect![[r#"
            program Switched
              constant C = 0.5
              constant R = 2.0
              constant most = 3
              constant drive = 0.0 ! an input
              array QRel(2), QM(2), Qp(2), Qn(2), QZp(2), QZn(2)
              array QRes(1)
              integer new_count, count
              logical Init, Event, AnyEvent, PrintEvent, new_when1, when1, ...
                  new_closed, closed, Q106, QL(2), QMore
              initial
                G = 1.0/R
                closed = .TRUE.
                count = 0
                when1 = .FALSE.
                new_count = 0
                u_2 = 1.0
                new_when1 = u_2 .GT. 2.0 .AND. new_count .LT. most
                new_closed = .TRUE.
                ! System of 2 simultaneous equations, solved
                Q101 = 0.0
                If (new_closed) Q101 = 1.0
                Q102 = 1.0
                If (new_closed) Q102 = 0.0
                Q103 = 5.0*Q101 + Q102
                Q104 = 5.0*Q101*R + Q102*R + 5.0
                v = (R*Q103*drive + 5.0*u_2)/Q104
                i = (Q103*drive - Q103*u_2)/Q104
                ! End of system
                der_u = i/C
                ! Implicit equation, solved numerically for I_2
                L100: Continue
                QRes(1) = I_2**3 + I_2 - u_2
                Call Newton(1, QRes, QMore, I_2)
                If (QMore) Go To L100
                ! End of system
                closed = new_closed
                count = new_count
                when1 = new_when1
                u_2_0 = u_2
                Init = .TRUE.
                Event = .FALSE.
              end ! of initial
              dynamic
                derivative
                  L10: Continue
                  AnyEvent = .FALSE.
                  QRel(1) = u_2 - 2.0
                  If (Init .OR. Event) Then
                    Call HandleEvent('u_2 - 2.0', QM(1), Qp(1), Qn(1), QRel(1), ...
                        Init, PrintEvent, t, AnyEvent)
                  End If
                  QZp(1) = QRel(1) - Qp(1)
                  QZn(1) = QRel(1) - Qn(1)
                  QL(1) = QM(1) .GT. 0
                  If (Init .OR. Event) Then
                    ! System of 2 simultaneous equations, iterated until nothing changes
                    L200: Continue
                    Q105 = new_count
                    If (new_when1 .AND. .NOT.when1) Then
                      new_count = count + 1
                    Else
                      new_count = count
                    End If
                    Q106 = new_when1
                    new_when1 = QL(1) .AND. new_count .LT. most
                    If (new_count .NE. Q105 .OR. new_when1 .NEQV. Q106) Go To ...
                        L200
                    ! End of system
                    If (new_when1 .AND. .NOT.when1) Then
                      new_closed = .NOT.closed
                    Else
                      new_closed = closed
                    End If
                  End If
                  ! System of 2 simultaneous equations, solved
                  Q107 = 0.0
                  If (new_closed) Q107 = 1.0
                  Q108 = 1.0
                  If (new_closed) Q108 = 0.0
                  Q109 = 5.0*Q107 + Q108
                  Q110 = 5.0*Q107*R + Q108*R + 5.0
                  v = (R*Q109*drive + 5.0*u_2)/Q110
                  i = (Q109*drive - Q109*u_2)/Q110
                  ! End of system
                  der_u = i/C
                  ! Implicit equation, solved numerically for I_2
                  L300: Continue
                  QRes(1) = I_2**3 + I_2 - u_2
                  Call Newton(1, QRes, QMore, I_2)
                  If (QMore) Go To L300
                  ! End of system
                  If (Init .OR. Event) Then
                    If (new_when1 .AND. .NOT.when1) Then
                      u_2 = 0.5*u_2
                    End If
                  End If
                  QRel(2) = u_2 - 10.0
                  If (Init .OR. Event) Then
                    Call HandleEvent('u_2 - 10.0', QM(2), Qp(2), Qn(2), QRel(2), ...
                        Init, PrintEvent, t, AnyEvent)
                  End If
                  QZp(2) = QRel(2) - Qp(2)
                  QZn(2) = QRel(2) - Qn(2)
                  QL(2) = QM(2) .LT. 0
                  If (.NOT.(QL(2))) Call Assert('too much')
                  If (Init .OR. Event) Then
                    If (new_closed .NEQV. closed) AnyEvent = .TRUE.
                    closed = new_closed
                    If (new_count .NE. count) AnyEvent = .TRUE.
                    count = new_count
                    If (new_when1 .NEQV. when1) AnyEvent = .TRUE.
                    when1 = new_when1
                  End If
                  ! Iterating to find consistent restart conditions
                  If (AnyEvent) Go To L10
                  Init = .FALSE.
                  Event = .FALSE.
                  u_2 = integ(der_u, u_2_0)
                  schedule QEvent1 .xp. QZp(1)
                  schedule QEvent1 .xn. QZn(1)
                  schedule QEvent2 .xp. QZp(2)
                  schedule QEvent2 .xn. QZn(2)
                end ! of derivative
                ! u > 2
                discrete QEvent1
                  Event = .TRUE.
                end ! of discrete QEvent1
                ! u < 10
                discrete QEvent2
                  Event = .TRUE.
                end ! of discrete QEvent2
                termt (t .GE. 1.0)
              end ! of dynamic
            end ! of program
        "#]],
    );
}

#[test]
fn a_modelica_model_as_a_subroutine() {
    check(
        "switched.mo",
        SWITCHED,
        Document::Dsblock,
        expect![[r#"
                  Subroutine Switched(Init, Event, PrintEvent, Time, X, DerX, U, Y,
                 &    QM, Qp, Qn, QZp, QZn, AnyEvent)
            C     X(1): u
            C     U(1): drive
            C     Y(1): y
            C     Relation 1: u > 2
            C     Relation 2: u < 10
                  Logical Init, Event, PrintEvent, AnyEvent
                  Real Time, X(*), DerX(*), U(*), Y(*), Qp(*), Qn(*), QZp(*), QZn(*)
                  Integer QM(*)
                  Real QRel(2)
                  Logical QL(2)
                  Real QRes(1)
                  Logical QMore
                  Real u_2, drive, v, i, der_u, I_2, Q101, Q102, Q103, Q104, Q105,
                 &    Q107, Q108, Q109, Q110, C, R, G
                  Integer new_count, count, most
                  Logical new_when1, when1, new_closed, closed, Q106
                  Save
                  Data C /0.5/
                  Data R /2.0/
                  Data most /3/
                  drive = U(1)
                  If (Init) Then
                    G = 1.0/R
                    closed = .TRUE.
                    count = 0
                    when1 = .FALSE.
                    new_count = 0
                    u_2 = 1.0
                    new_when1 = u_2 .GT. 2.0 .AND. new_count .LT. most
                    new_closed = .TRUE.
            C       System of 2 simultaneous equations, solved
                    Q101 = 0.0
                    If (new_closed) Q101 = 1.0
                    Q102 = 1.0
                    If (new_closed) Q102 = 0.0
                    Q103 = 5.0*Q101 + Q102
                    Q104 = 5.0*Q101*R + Q102*R + 5.0
                    v = (R*Q103*drive + 5.0*u_2)/Q104
                    i = (Q103*drive - Q103*u_2)/Q104
            C       End of system
                    der_u = i/C
            C       Implicit equation, solved numerically for I_2
              100 Continue
                    QRes(1) = I_2**3 + I_2 - u_2
                    Call Newton(1, QRes, QMore, I_2)
                    If (QMore) Go To 100
            C       End of system
                    closed = new_closed
                    count = new_count
                    when1 = new_when1
                    X(1) = u_2
                  End If
                  AnyEvent = .FALSE.
                  u_2 = X(1)
                  QRel(1) = u_2 - 2.0
                  If (Init .OR. Event) Then
                    Call HandleEvent('u_2 - 2.0', QM(1), Qp(1), Qn(1), QRel(1),
                 &      Init, PrintEvent, Time, AnyEvent)
                  End If
                  QZp(1) = QRel(1) - Qp(1)
                  QZn(1) = QRel(1) - Qn(1)
                  QL(1) = QM(1) .GT. 0
                  If (Init .OR. Event) Then
            C       System of 2 simultaneous equations, iterated until nothing changes
              200 Continue
                    Q105 = new_count
                    If (new_when1 .AND. .NOT.when1) Then
                      new_count = count + 1
                    Else
                      new_count = count
                    End If
                    Q106 = new_when1
                    new_when1 = QL(1) .AND. new_count .LT. most
                    If (new_count .NE. Q105 .OR. new_when1 .NEQV. Q106) Go To 200
            C       End of system
                    If (new_when1 .AND. .NOT.when1) Then
                      new_closed = .NOT.closed
                    Else
                      new_closed = closed
                    End If
                  End If
            C     System of 2 simultaneous equations, solved
                  Q107 = 0.0
                  If (new_closed) Q107 = 1.0
                  Q108 = 1.0
                  If (new_closed) Q108 = 0.0
                  Q109 = 5.0*Q107 + Q108
                  Q110 = 5.0*Q107*R + Q108*R + 5.0
                  v = (R*Q109*drive + 5.0*u_2)/Q110
                  i = (Q109*drive - Q109*u_2)/Q110
            C     End of system
                  der_u = i/C
            C     Implicit equation, solved numerically for I_2
              300 Continue
                  QRes(1) = I_2**3 + I_2 - u_2
                  Call Newton(1, QRes, QMore, I_2)
                  If (QMore) Go To 300
            C     End of system
                  If (Init .OR. Event) Then
                    If (new_when1 .AND. .NOT.when1) Then
                      u_2 = 0.5*u_2
                    End If
                  End If
                  QRel(2) = u_2 - 10.0
                  If (Init .OR. Event) Then
                    Call HandleEvent('u_2 - 10.0', QM(2), Qp(2), Qn(2), QRel(2),
                 &      Init, PrintEvent, Time, AnyEvent)
                  End If
                  QZp(2) = QRel(2) - Qp(2)
                  QZn(2) = QRel(2) - Qn(2)
                  QL(2) = QM(2) .LT. 0
                  If (.NOT.(QL(2))) Call Assert('too much')
                  If (Init .OR. Event) Then
                    If (new_closed .NEQV. closed) AnyEvent = .TRUE.
                    closed = new_closed
                    If (new_count .NE. count) AnyEvent = .TRUE.
                    count = new_count
                    If (new_when1 .NEQV. when1) AnyEvent = .TRUE.
                    when1 = new_when1
                  End If
                  DerX(1) = der_u
                  If (Event) X(1) = u_2
                  Y(1) = v
                  Return
                  End
        "#]],
    );
}

#[test]
fn a_modelica_model_as_a_listing() {
    check(
        "switched.mo",
        SWITCHED,
        Document::Dymola,
        expect![[r#"
            PARAMETERS THAT ARE COMPUTED ONCE
              G = 1/R
            SORTED AND SOLVED EQUATIONS
                         QRel(1) = u - 2
                         If (Init .OR. Event) Then
                           Call HandleEvent('u - 2', QM(1), Qp(1),
                             Qn(1), QRel(1), Init, PrintEvent, Time, AnyEvent)
                         End If
                         QZp(1) = QRel(1) - Qp(1)
                         QZn(1) = QRel(1) - Qn(1)
                         QL(1) = QM(1).GT.0
            SYSTEM OF 2 SIMULTANEOUS EQUATIONS
            UNKNOWN VARIABLES
              new(count)
              new($when1)
            EQUATIONS
              Switched.  [new(count)] = if new($when1) and not $when1 then count + 1 else count
                         [new($when1)] = u > 2 and new(count) < most
            -- The system of equations is nonlinear.
            -- It is iterated until nothing changes.
            END OF SYSTEM OF SIMULTANEOUS EQUATIONS
              Switched.  when new($when1) and not $when1 then
                           new(closed) = not closed
                         endwhen
            SYSTEM OF 2 SIMULTANEOUS EQUATIONS
            SOLVED SYSTEM OF EQUATIONS
              Q101 = if new(closed) then 1 else 0
              Q102 = if new(closed) then 0 else 1
              Q103 = 5*Q101 + Q102
              Q104 = 5*Q101*R + Q102*R + 5
              v = (R*Q103*drive + 5*u)/Q104
              i = (Q103*drive - Q103*u)/Q104
            END OF SYSTEM OF SIMULTANEOUS EQUATIONS
              Switched.  der(u) = i/C
            IMPLICIT EQUATION
            UNKNOWN VARIABLES
              I
            EQUATIONS
              Switched.  [I]^3 + [I] = u
            -- The system of equations is nonlinear.
            -- It is solved numerically for I.
            END OF IMPLICIT EQUATION
              Switched.  when new($when1) and not $when1 then
                           new(u) = 0.5*u
                         endwhen
                         QRel(2) = u - 10
                         If (Init .OR. Event) Then
                           Call HandleEvent('u - 10', QM(2), Qp(2),
                             Qn(2), QRel(2), Init, PrintEvent, Time, AnyEvent)
                         End If
                         QZp(2) = QRel(2) - Qp(2)
                         QZn(2) = QRel(2) - Qn(2)
                         QL(2) = QM(2).LT.0
              Switched.  assert(QL(2), 'too much')
            END OF SORTED AND SOLVED EQUATIONS
            ELIMINATED STATE DERIVATIVES AND OUTPUTS
              y = v
        "#]],
    );
}

#[test]
fn what_cannot_be_solved_is_listed_with_its_unknowns() {
    let listing = example("diode_as_equation.dym", Document::Dymola);
    let system = listing.split("SYSTEM OF").nth(1).unwrap();
    expect![[r#"
        SYSTEM OF 5 SIMULTANEOUS EQUATIONS
        UNKNOWN VARIABLES
          Diode.u
          Ri.Vb
          Ri.u
          U0.i
          Diode.OpenSw
        EQUATIONS
          Diode.      u = [Ri.Vb] + C.u
          Ri.         [u] = U0.Vb - Vb
                      R*[U0.i] = u
          Diode.      [OpenSw] = if u <= 0 and not U0.i > 0 then 1 else 0
                      0 = OpenSw*U0.i + (1 - OpenSw)*[u]
        -- The system of equations is nonlinear.
        -- It is solved numerically for Diode.u.
        END OF "#]]
    .assert_eq(&format!("SYSTEM OF{system}"));
}

/// A variable of the component hides one of the model; the model's name tells them apart.
#[test]
fn names_in_components() {
    let text = "model class Tank
  terminal q, level
  parameter A = 2
  local h
  A * der(h) = q
  level = h * h
end
model Plant
  submodel (Tank) T
  local h, level
  T.q = sin(Time)
  h = T.level + 1
  level = exp(T.level)
end
";
    check(
        "plant.dym",
        text,
        Document::Dymola,
        expect![[r#"
        SORTED AND SOLVED EQUATIONS
          Plant.   T.q = sin(Time)
          T.       level = h*h
          Plant.   h = T.level + 1
                   level = exp(T.level)
          T.       der(h) = q/A
        END OF SORTED AND SOLVED EQUATIONS
    "#]],
    );
}
