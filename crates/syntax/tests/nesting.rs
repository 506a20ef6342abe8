//! Deep nesting: parsed, printed, lowered, copied, shown and dropped on a thread with an ordinary stack.

use base::{FileId, Id};
use syntax::parse;

fn survives(text: &str) -> usize {
    let parsed = parse(FileId::from_index(0), text);
    assert_eq!(parsed.tree.verify(), Ok(()));
    assert!(parsed.tree.print() == text);
    let ast = parsed.ast();
    let copy = ast.clone();
    drop(ast);
    drop(copy);
    parsed.diagnostics.len()
}

fn expression(expression: &str) -> String {
    format!("model M\n  Real x = {expression};\nend M;\n")
}

#[test]
fn parentheses() {
    let depth = 3_000;
    assert_eq!(survives(&expression(&format!("{}1{}", "(".repeat(depth), ")".repeat(depth)))), 0);
}

#[test]
fn classes() {
    let depth = 3_000;
    let text = "model M\n".repeat(depth) + &"end M;\n".repeat(depth);
    assert_eq!(survives(&text), 0);
}

#[test]
fn signs() {
    // Two signs in a row are no Modelica, but must not harm; the messages are limited.
    assert_eq!(survives(&expression(&format!("{}1", "- ".repeat(3_000)))), 200);
    let depth = 3_000;
    assert_eq!(survives(&expression(&format!("{}1{}", "-(".repeat(depth), ")".repeat(depth)))), 0);
}

#[test]
fn arrays() {
    let depth = 3_000;
    assert_eq!(survives(&expression(&format!("{}1{}", "{".repeat(depth), "}".repeat(depth)))), 0);
    let depth = 3_000;
    assert_eq!(survives(&expression(&format!("{}1{}", "[".repeat(depth), "]".repeat(depth)))), 0);
    assert_eq!(survives(&expression(&format!("{}1{}", "x[".repeat(depth), "]".repeat(depth)))), 0);
}

#[test]
fn conditions() {
    assert_eq!(survives(&expression(&format!("{}1", "if a then b else ".repeat(3_000)))), 0);
    assert_eq!(survives(&expression(&format!("if a then b {} else 1", "elseif a then b ".repeat(100_000)))), 0);
}

#[test]
fn long_sums_and_calls() {
    assert_eq!(survives(&expression(&vec!["x"; 200_000].join(" + "))), 0);
    let depth = 3_000;
    assert_eq!(survives(&expression(&format!("{}1{}", "f(".repeat(depth), ")".repeat(depth)))), 0);
    assert_eq!(survives(&expression(&format!("{}1{}", "f(a = ".repeat(depth), ")".repeat(depth)))), 0);
}

#[test]
fn partial_applications() {
    let text = |depth: usize| expression(&format!("f({}1{})", "function g(a = ".repeat(depth), ")".repeat(depth)));
    assert_eq!(survives(&text(200)), 0);
    assert_eq!(survives(&text(3_000)), 1);
}

#[test]
fn modifications() {
    let depth = 3_000;
    let text = format!("model M\n  A x{}{};\nend M;\n", "(a".repeat(depth), ")".repeat(depth));
    assert_eq!(survives(&text), 0);
    let text = format!("model M\n  A x{}{};\nend M;\n", "(redeclare model B = C".repeat(depth), ")".repeat(depth));
    assert_eq!(survives(&text), 0);
}

#[test]
fn blocks() {
    let depth = 3_000;
    for section in ["equation", "algorithm"] {
        let body = "if a then\n".repeat(depth) + &"end if;\n".repeat(depth);
        assert_eq!(survives(&format!("model M\n{section}\n{body}end M;\n")), 0);
    }
}

#[test]
fn unclosed_brackets_and_classes() {
    for part in ["(", "[", "{", "f(", "x[", "A x(a(", "model M\n", "if a then\n", "if a then b else ", "a + (", "not "]
    {
        let text = format!("model M\nequation\n x = {}", part.repeat(4_000));
        assert!(survives(&text) > 0);
        survives(&part.repeat(4_000));
    }
}

#[test]
fn more_than_the_limit_is_refused_with_one_message() {
    let text = expression(&"(".repeat(300_000));
    let parsed = parse(FileId::from_index(0), &text);
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["nesting-too-deep"]);
    assert!(parsed.tree.print() == text);
}

#[test]
fn deep_expressions_are_copied_shown_and_printed() {
    let text = format!("{}1{}", "-(".repeat(3_000), ")".repeat(3_000));
    let expr = syntax::parse_expression(FileId::from_index(0), &text).expect("it is sound");
    assert_eq!(expr.clone().to_string().len(), text.len() - 2);
    assert!(format!("{expr:?}").len() > text.len());
}
