//! What must hold for every text, sound or not. Shared by the tests and the fuzzer.

use base::{FileId, Id};
use syntax::SyntaxKind;
use syntax::tree::Tree;

/// Parses, prints, lowers and formats a text; says what is wrong.
pub fn problem(text: &str) -> Option<String> {
    let file = FileId::from_index(0);
    let parse = syntax::parse(file, text);
    if let Err(problem) = parse.tree.verify() {
        return Some(problem);
    }
    if parse.tree.print() != text {
        return Some("the tree lost something".to_owned());
    }
    for diagnostic in &parse.diagnostics {
        let sound = |span: &base::Span| {
            text.get(span.start as usize..span.end as usize).is_some() && span.end as usize <= text.len()
        };
        if diagnostic.labels.is_empty() || !diagnostic.labels.iter().all(|label| sound(&label.span)) {
            return Some(format!("a message without a sound place: {}", diagnostic.message));
        }
    }
    // Small texts are shown as well, which walks the whole abstract syntax; copies are made and dropped.
    let ast = parse.ast();
    let copy = ast.clone();
    if text.len() < 2_000 {
        let _ = format!("{copy:?}");
    }
    drop(copy);
    let formatted = parse.format()?;
    if text.len() < 4_000
        && let Some(problem) = printing_problem(&parse.tree)
    {
        return Some(problem);
    }
    let again = syntax::parse(file, &formatted);
    if again.has_errors() {
        return Some("what the formatter wrote cannot be read".to_owned());
    }
    if words(&again.tree) != words(&parse.tree) {
        return Some("the formatter changed a token or a comment".to_owned());
    }
    if again.format().as_ref() != Some(&formatted) {
        return Some("formatting twice gives something else".to_owned());
    }
    None
}

/// The sides of equations and assignments must come back from their printed form.
fn printing_problem(tree: &Tree) -> Option<String> {
    let holders = tree.nodes().filter(|&node| {
        matches!(tree.kind(node), SyntaxKind::Equation | SyntaxKind::Assignment | SyntaxKind::Modification)
    });
    let sides = holders.flat_map(|holder| tree.child_nodes(holder)).filter(|&node| {
        !matches!(tree.kind(node), SyntaxKind::Description | SyntaxKind::Annotation | SyntaxKind::ClassModification)
    });
    for side in sides {
        let Ok(expr) = syntax::parse_expression(tree.file(), tree.text(side)) else {
            return Some(format!("cannot be read alone: {}", tree.text(side)));
        };
        let printed = expr.to_string();
        match syntax::parse_expression(tree.file(), &printed) {
            Ok(again) if shape(&again) == shape(&expr) => {}
            _ => return Some(format!("printed wrongly: {} as {printed}", tree.text(side))),
        }
    }
    None
}

/// An expression without its places.
fn shape(expr: &syntax::ast::Expr) -> String {
    let shown = format!("{expr:?}");
    let mut pieces = shown.split("Span {");
    let mut shape = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        shape.push_str(piece.split_once('}').map_or(piece, |(_, rest)| rest));
    }
    shape
}

fn words(tree: &Tree) -> Vec<&str> {
    let kept = tree.tokens().filter(|&token| tree.token_kind(token) != SyntaxKind::Whitespace);
    kept.map(|token| match tree.token_kind(token) {
        SyntaxKind::LineComment => tree.token_text(token).trim_end(),
        _ => tree.token_text(token),
    })
    .collect()
}
