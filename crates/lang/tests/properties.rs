//! Random expressions and operations on arrays against a plain evaluation, and random models whose flat text must read
//! as the same model.

use lang::{Libraries, Overrides, flatten, last_model};
use proptest::prelude::*;

/// An expression over numbers, as a tree that both sides read.
#[derive(Clone, Debug)]
enum Term {
    Number(i32),
    Parameter(usize),
    Unary(&'static str, Box<Term>),
    Binary(&'static str, Box<Term>, Box<Term>),
    If(Box<Term>, &'static str, Box<Term>, Box<Term>, Box<Term>),
}

const PARAMETERS: [(&str, f64); 3] = [("a", 1.5), ("b", -2.0), ("c", 0.25)];

fn term() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![(-3..4).prop_map(Term::Number), (0..PARAMETERS.len()).prop_map(Term::Parameter)];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let unary = prop::sample::select(vec!["-", "sin", "abs", "floor", "exp"]);
        let binary = prop::sample::select(vec!["+", "-", "*", "/", "^", "min", "max", "mod", "div"]);
        let relation = prop::sample::select(vec!["<", "<=", ">", ">="]);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(op, a)| Term::Unary(op, Box::new(a))),
            (binary, inner.clone(), inner.clone()).prop_map(|(op, a, b)| Term::Binary(op, Box::new(a), Box::new(b))),
            (inner.clone(), relation, inner.clone(), inner.clone(), inner).prop_map(|(a, op, b, c, d)| Term::If(
                Box::new(a),
                op,
                Box::new(b),
                Box::new(c),
                Box::new(d)
            )),
        ]
    })
}

impl Term {
    /// Modelica text; every operand in parentheses, so that the tree is the same.
    fn text(&self) -> String {
        match self {
            Term::Number(value) => format!("({value}.0)"),
            Term::Parameter(at) => PARAMETERS[*at].0.to_owned(),
            Term::Unary("-", a) => format!("(-{})", a.text()),
            Term::Unary(name, a) => format!("{name}({})", a.text()),
            Term::Binary(name @ ("min" | "max" | "mod" | "div"), a, b) => format!("{name}({}, {})", a.text(), b.text()),
            Term::Binary(op, a, b) => format!("({} {op} {})", a.text(), b.text()),
            Term::If(a, op, b, c, d) => {
                format!("(if {} {op} {} then {} else {})", a.text(), b.text(), c.text(), d.text())
            }
        }
    }

    fn value(&self) -> f64 {
        match self {
            Term::Number(value) => f64::from(*value),
            Term::Parameter(at) => PARAMETERS[*at].1,
            Term::Unary(op, a) => {
                let a = a.value();
                match *op {
                    "-" => -a,
                    "sin" => a.sin(),
                    "abs" => a.abs(),
                    "floor" => a.floor(),
                    _ => a.exp(),
                }
            }
            Term::Binary(op, a, b) => {
                let (a, b) = (a.value(), b.value());
                match *op {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "/" => a / b,
                    "^" => a.powf(b),
                    "min" => a.min(b),
                    "max" => a.max(b),
                    "mod" => a - (a / b).floor() * b,
                    _ => (a / b).trunc(),
                }
            }
            Term::If(a, op, b, c, d) => {
                let (a, b) = (a.value(), b.value());
                let holds = match *op {
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    _ => a >= b,
                };
                if holds { c.value() } else { d.value() }
            }
        }
    }

    /// Whether all parts have ordinary values; elsewhere folding may do other things.
    fn is_ordinary(&self) -> bool {
        let own = self.value();
        own.is_finite()
            && own.abs() < 1e6
            && match self {
                Term::Number(_) | Term::Parameter(_) => true,
                Term::Unary(_, a) => a.is_ordinary(),
                Term::Binary("^", a, b) => a.is_ordinary() && b.is_ordinary() && a.value() > 0.0,
                Term::Binary(_, a, b) => a.is_ordinary() && b.is_ordinary(),
                Term::If(a, _, b, c, d) => [a, b, c, d].iter().all(|part| part.is_ordinary()),
            }
    }
}

/// The flat model of a program, or what is wrong with it.
fn flat(program: &str) -> Result<(dae::Model, String), String> {
    let mut libraries = Libraries::default();
    let names = libraries.add_text("case.mo", program);
    let name = last_model(&mut libraries, &names).ok_or("no model")?;
    let result = flatten(&mut libraries, name.as_str(), &Overrides::default());
    match result.model {
        Some(model) => {
            let text = dae::modelica_text(&model, Some(&libraries.sources));
            Ok((model, text))
        }
        None => Err(result.diagnostics.iter().map(|one| one.render(&libraries.sources)).collect()),
    }
}

/// The values of the constants whose names begin with `y`, in order.
fn constants(program: &str) -> Result<Vec<f64>, String> {
    let (model, _) = flat(program)?;
    let mut values = Vec::new();
    for (id, variable) in model.variables.iter() {
        if model.variable_name(id).starts_with('y') {
            let value = variable.binding.and_then(|binding| model.exprs.as_real(binding));
            values.push(value.ok_or_else(|| format!("{} has no number", model.variable_name(id)))?);
        }
    }
    Ok(values)
}

type Matrix = Vec<Vec<f64>>;

fn matrix(rows: usize, columns: usize) -> impl Strategy<Value = Matrix> {
    let number = (-8..9).prop_map(|value| f64::from(value) / 4.0);
    prop::collection::vec(prop::collection::vec(number, columns), rows)
}

fn matrix_text(a: &Matrix) -> String {
    let rows =
        a.iter().map(|row| format!("{{{}}}", row.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ")));
    format!("{{{}}}", rows.collect::<Vec<_>>().join(", "))
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let columns = b.first().map_or(0, Vec::len);
    a.iter().map(|row| (0..columns).map(|j| row.iter().zip(b).map(|(x, other)| x * other[j]).sum()).collect()).collect()
}

fn transposed(a: &Matrix) -> Matrix {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

fn each(a: &Matrix, b: &Matrix, op: impl Fn(f64, f64) -> f64) -> Matrix {
    a.iter().zip(b).map(|(x, y)| x.iter().zip(y).map(|(x, y)| op(*x, *y)).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn constant_expressions_have_their_value(term in term().prop_filter("ordinary", Term::is_ordinary)) {
        let constants_text: String =
            PARAMETERS.iter().map(|(name, value)| format!("  constant Real {name} = {value:?};\n")).collect();
        let program = format!("model M\n{constants_text}  constant Real y = {};\nend M;\n", term.text());
        let values = constants(&program).map_err(TestCaseError::fail)?;
        let expected = term.value();
        prop_assert!((values[0] - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{} is {} and not {}", term.text(), values[0], expected);
    }

    #[test]
    fn operations_on_arrays(
        (a, b, c) in (1usize..4, 1usize..4, 1usize..4)
            .prop_flat_map(|(n, m, k)| (matrix(n, m), matrix(m, k), matrix(n, m))),
        at in 0usize..3,
    ) {
        let row = at % a.len();
        let column = at % a[0].len();
        let columns: Vec<f64> = a.iter().map(|own| own[column]).collect();
        let cases: Vec<(&str, String, Matrix)> = vec![
            ("A*B", "[size(A, 1), size(B, 2)]".into(), product(&a, &b)),
            ("A + C", "[size(A, 1), size(A, 2)]".into(), each(&a, &c, |x, y| x + y)),
            ("A .* C - 2*C", "[size(A, 1), size(A, 2)]".into(), each(&a, &c, |x, y| x * y - 2.0 * y)),
            ("transpose(A)", "[size(A, 2), size(A, 1)]".into(), transposed(&a)),
            ("[A; C]", "[2*size(A, 1), size(A, 2)]".into(), a.iter().chain(&c).cloned().collect()),
            ("cat(2, A, C)", "[size(A, 1), 2*size(A, 2)]".into(),
                a.iter().zip(&c).map(|(x, y)| x.iter().chain(y).copied().collect()).collect()),
            ("A[end:-1:1, :]", "[size(A, 1), size(A, 2)]".into(), a.iter().rev().cloned().collect()),
            ("{max(A[i, j], C[i, j]) for j in 1:size(A, 2), i in 1:size(A, 1)}", "[size(A, 1), size(A, 2)]".into(),
                each(&a, &c, f64::max)),
            ("outerProduct(A[row, :], A[:, column])", "[size(A, 2), size(A, 1)]".into(),
                a[row].iter().map(|x| columns.iter().map(|y| x * y).collect()).collect()),
            ("{{sum(A), product(C), max(A), min(A[row, :]), A[row, :]*C[row, :], sum(x^2 for x in A[:, column])}}", "[1, 6]".into(), vec![vec![
                a.iter().flatten().sum(),
                c.iter().flatten().product(),
                a.iter().flatten().copied().fold(f64::MIN, f64::max),
                a[row].iter().copied().fold(f64::MAX, f64::min),
                a[row].iter().zip(&c[row]).map(|(x, y)| x * y).sum(),
                columns.iter().map(|x| x * x).sum(),
            ]]),
        ];
        for (text, sizes, expected) in cases {
            let program = format!(
                "model M\n  constant Integer row = {};\n  constant Integer column = {};\n  constant Real A[:, :] = {};\n  \
                 constant Real B[:, :] = {};\n  constant Real C[:, :] = {};\n  constant Real y{sizes} = {text};\nend M;\n",
                row + 1, column + 1, matrix_text(&a), matrix_text(&b), matrix_text(&c)
            );
            let values = constants(&program).map_err(TestCaseError::fail)?;
            let expected: Vec<f64> = expected.into_iter().flatten().collect();
            prop_assert_eq!(values.len(), expected.len(), "{}", text);
            for (value, expected) in values.iter().zip(&expected) {
                prop_assert!((value - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{}: {:?} and not {:?}", text, values, expected);
            }
        }
    }

    #[test]
    fn flat_text_reads_as_the_same_model(terms in prop::collection::vec(term(), 1..5), start in -3i32..4) {
        let mut program = String::from("model M\n  parameter Real a = 1.5;\n  parameter Real b(fixed = false);\n  Real c;\n");
        let mut equations = format!("initial equation\n  b = {start};\nequation\n  der(c) = -a*c;\n");
        for (at, term) in terms.iter().enumerate() {
            program.push_str(&format!("  Real x{at};\n  Integer n{at}(start = {start});\n"));
            equations.push_str(&format!(
                "  x{at} = {0} + time;\n  when x{at} > {start} then\n    n{at} = pre(n{at}) + integer(x{at});\n  end when;\n",
                term.text()
            ));
        }
        // What divides by zero or takes the root of a negative number has no flat model.
        if let Ok((_, first)) = flat(&format!("{program}{equations}end M;\n")) {
            let (_, second) = flat(&first).map_err(|message| TestCaseError::fail(format!("{first}{message}")))?;
            prop_assert_eq!(first, second);
        }
    }
}
