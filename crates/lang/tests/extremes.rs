//! Texts of absurd depth and size: each becomes a model or a message with a place, in reasonable time and memory.

use lang::{Libraries, Overrides, flatten, last_model};

/// What comes out: `None` for a model, else the code of the first message, which must name a place.
fn outcome(text: &str) -> Option<&'static str> {
    // Deep trees are also released on the stack of the caller.
    stacker::maybe_grow(1 << 28, 1 << 30, || {
        let mut libraries = Libraries::default();
        let names = libraries.add_text("case.mo", text);
        let model = last_model(&mut libraries, &names);
        let diagnostics = match model {
            Some(model) => {
                let result = flatten(&mut libraries, model.as_str(), &Overrides::default());
                if result.model.is_some() {
                    return None;
                }
                result.diagnostics
            }
            None => libraries.diagnostics.clone(),
        };
        let error = diagnostics.into_iter().find(|diagnostic| diagnostic.is_error()).expect("a reason");
        assert!(!error.labels.is_empty(), "{} has no place", error.message);
        Some(error.code)
    })
}

fn model(declarations: &str, rest: &str) -> String {
    format!("model M\n{declarations}\n{rest}\nend M;\n")
}

fn chain(term: &str, operator: &str, count: usize) -> String {
    vec![term; count].join(operator)
}

fn nest(open: &str, inside: &str, close: &str, depth: usize) -> String {
    format!("{}{inside}{}", open.repeat(depth), close.repeat(depth))
}

const FUNCTION: &str = "function f input Real x; output Real y; algorithm y := ";

#[test]
fn long_chains_of_operators() {
    let count = 100_000;
    for operator in [" - ", " * "] {
        let sum = chain("x", operator, count);
        assert_eq!(outcome(&model("Real x = time; Real y;", &format!("equation y = {sum};"))), None);
    }
    let sum = chain("x", " + ", count);
    assert_eq!(outcome(&model("Real x = time; Real y;", &format!("algorithm y := {sum};"))), None);
    assert_eq!(outcome(&format!("{FUNCTION} {sum}; end f; model M Real y = f(time); end M;")), None);
    assert_eq!(outcome(&model(&format!("parameter Real x = 1; parameter Real y(min = {sum}) = 1;"), "")), None);
    assert_eq!(outcome(&model(&format!("parameter String s = {};", chain("\"a\"", " + ", count)), "")), None);
    assert_eq!(outcome(&model(&format!("Real y[{}];", chain("1", " - ", 4)), "")), Some("wrong-size"));
    let longer = chain("x", " + ", 200_002);
    assert_eq!(outcome(&model("Real x = time; Real y;", &format!("equation y = {longer};"))), Some("too-large"));
}

#[test]
fn deep_nesting() {
    for (depth, refused) in [(1_000, false), (100_000, true)] {
        let expressions = [
            nest("(", "x", ")", depth),
            nest("sin(", "x", ")", depth),
            nest("-(", "x", ")", depth),
            nest("(1 + ", "x", ")", depth),
            nest("if x > 1 then 1 else ", "x", "", depth),
            nest("max(1, ", "x", ")", depth),
        ];
        for expression in expressions {
            let expected = refused.then_some("nesting-too-deep");
            assert_eq!(outcome(&model("Real x = time; Real y;", &format!("equation y = {expression};"))), expected);
            assert_eq!(outcome(&model("Real x = time; Real y;", &format!("algorithm y := {expression};"))), expected);
        }
        let blocks = [
            ("equation ", "if true then ", "y = 1;", " end if;"),
            ("equation ", "for i in 1:1 loop ", "y = 1;", " end for;"),
            ("algorithm ", "if time > 0 then ", "y := 1;", " end if;"),
        ];
        for (section, open, inside, close) in blocks {
            let text = model("Real y;", &format!("{section}{}", nest(open, inside, close, depth)));
            let found = outcome(&text);
            assert_eq!(found == Some("nesting-too-deep"), refused, "{found:?}");
        }
    }
    assert_eq!(
        outcome(&model(&format!("Real y = sum({});", nest("{", "1", "}", 100_000)), "")),
        Some("nesting-too-deep")
    );
    let packages: String = (0..20_000).map(|level| format!("package P{level} ")).collect();
    let ends: String = (0..20_000).rev().map(|level| format!(" end P{level};")).collect();
    assert_eq!(outcome(&format!("{packages}model M end M;{ends}")), Some("nesting-too-deep"));
}

#[test]
fn inheritance_and_components() {
    let levels = |count: usize, text: &dyn Fn(usize) -> String| -> String {
        (0..count).map(|level| format!("model P{level} {} end P{level};\n", text(level))).collect()
    };
    let below = |level: usize, text: &str| match level {
        0 => "parameter Real x = 1;".to_owned(),
        _ => text.replace('#', &(level - 1).to_string()),
    };
    assert_eq!(outcome(&levels(5_000, &|level| below(level, "extends P#;"))), None);
    assert_eq!(outcome(&levels(11_000, &|level| below(level, "extends P#;"))), Some("inheritance-too-large"));
    assert_eq!(outcome(&levels(60, &|level| below(level, "extends P#; extends P#;"))), None);
    let twice = levels(60, &|level| below(level, "extends P#(x = 1); extends P#(x = 1);"));
    assert_eq!(outcome(&twice), Some("inheritance-too-large"));
    assert_eq!(outcome(&levels(9, &|level| below(level, "P# a[1000];"))), Some("too-large"));
    let shorts: String = (1..5_000).map(|level| format!("model P{level} = P{};\n", level - 1)).collect();
    assert_eq!(outcome(&format!("model P0 Real x = time; end P0; {shorts} model M P4999 p; end M;")), None);
    assert_eq!(outcome("model M Real x = time; M m; end M;"), Some("recursive-component"));
    assert_eq!(outcome("record R R r; end R; model M R r; end M;"), Some("recursive-component"));
    assert_eq!(
        outcome("model A extends B; end A; model B extends A; end B; model M A a; end M;"),
        Some("extends-itself")
    );
}

#[test]
fn enormous_arrays() {
    for sizes in ["10000000000", "100000, 100000", "1000, 1000, 1000, 1000, 1000, 1000, 1000"] {
        assert!(outcome(&model(&format!("Real x[{sizes}];"), "")).is_some());
        assert!(outcome(&model(&format!("parameter Real x[{sizes}] = fill(1, {sizes});"), "")).is_some());
    }
    let values = [
        "fill(1, 100000, 100000)",
        "zeros(100000, 100000)",
        "identity(1000000)",
        "diagonal(ones(100000))",
        "1:10000000000",
        "0:1e-12:1",
        "linspace(0, 1, 10000000000)",
        "{i*j for i in 1:100000, j in 1:100000}",
        "ones(100000, 1)*ones(1, 100000)",
        "outerProduct(ones(100000), ones(100000))",
        "fill(fill(1, 100000), 100000)",
    ];
    for value in values {
        assert!(outcome(&model(&format!("constant Real s = sum({value});"), "")).is_some(), "{value}");
        assert!(outcome(&model(&format!("Real s = time*sum({value});"), "")).is_some(), "{value}");
        assert!(outcome(&model(&format!("parameter Integer n = size({value}, 1);"), "")).is_some(), "{value}");
    }
}

#[test]
fn many_elements() {
    let count = 20_000;
    let components: String = (0..count).map(|at| format!("Real x{at} = time;\n")).collect();
    assert_eq!(outcome(&model(&components, "")), None);
    let backwards: String = (0..count).map(|at| format!("parameter Real x{at} = x{} + 1;\n", at + 1)).collect();
    assert_eq!(outcome(&model(&format!("{backwards} parameter Real x{count} = 1;"), "")), None);
    let doubling: String = (0..60).map(|at| format!("input Real x{at} = x{0} + x{0};\n", at + 1)).collect();
    let function = format!("function f {doubling} input Real x60 = 1; output Real y; algorithm y := x0; end f;");
    assert_eq!(outcome(&format!("{function} model M Real y = f(); end M;")), Some("too-large"));
}
