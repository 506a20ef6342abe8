//! Modelica text ⇄ lossless tree → abstract syntax.
//!
//! [`parse`] never fails: it returns a [`tree::Tree`] that holds every byte of the text, and the diagnostics. [`Parse::ast`]
//! makes the abstract syntax from it.

use std::sync::Arc;

use base::{Diagnostic, FileId, Translated};

#[allow(missing_docs, reason = "the names are those of the grammar")]
pub mod ast;
mod deep;
mod format;
mod grammar;
mod kind;
mod lexer;
mod literal;
mod lower;
mod parser;
mod print;
pub mod tree;

pub use deep::deep;
pub use kind::SyntaxKind;

use parser::Parser;
use tree::Tree;

/// What became of a text.
#[derive(Clone, Debug)]
pub struct Parse {
    /// Every byte of the text.
    pub tree: Tree,
    /// In the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parse {
    /// The abstract syntax of the file. What the diagnostics complain about is left out or `ExprKind::Error`.
    pub fn ast(&self) -> ast::StoredDefinition {
        lower::stored_definition(&self.tree)
    }

    /// The text in its normal layout; `None` when there are errors.
    pub fn format(&self) -> Option<String> {
        format::format(self)
    }

    /// Whether there is an error among the diagnostics.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Parses the text of a file.
pub fn parse(file: FileId, text: &str) -> Parse {
    parse_shared(file, Arc::from(text))
}

/// As [`parse`], without copying the text.
pub fn parse_shared(file: FileId, text: Arc<str>) -> Parse {
    run(file, text, grammar::stored_definition)
}

/// Parses text that was made from a file in another language. All places are those of that file.
pub fn parse_translated(file: FileId, translated: Translated) -> Parse {
    let mut parse = parse(file, translated.text());
    for label in parse.diagnostics.iter_mut().flat_map(|said| &mut said.labels) {
        label.span = translated.origin(label.span.start, label.span.end);
    }
    parse.tree = parse.tree.translated_by(Arc::new(translated));
    parse
}

/// Parses an expression, such as the value of a command line option.
pub fn parse_expression(file: FileId, text: &str) -> Result<ast::Expr, Vec<Diagnostic>> {
    parse_part(file, text, grammar::expression, lower::expression)
}

/// Parses the name of a class: `Modelica.Blocks.Examples.PID_Controller`.
pub fn parse_type_name(file: FileId, text: &str) -> Result<ast::TypeName, Vec<Diagnostic>> {
    parse_part(file, text, |p| grammar::type_specifier(p, "the name of a class"), lower::type_name)
}

/// Parses the name of a variable: `motor.winding[2].R`.
pub fn parse_component_ref(file: FileId, text: &str) -> Result<ast::ComponentRef, Vec<Diagnostic>> {
    parse_part(file, text, grammar::component_reference, lower::component_reference)
}

fn parse_part<T>(
    file: FileId,
    text: &str,
    production: impl FnOnce(&mut Parser),
    lower: impl FnOnce(&Tree) -> Option<T>,
) -> Result<T, Vec<Diagnostic>> {
    let whole = |p: &mut Parser| {
        production(p);
        if !p.at_end() {
            p.unexpected("the end of the text");
        }
    };
    let parse = run(file, Arc::from(text), whole);
    match lower(&parse.tree) {
        Some(value) if !parse.has_errors() => Ok(value),
        _ => Err(parse.diagnostics),
    }
}

fn run(file: FileId, text: Arc<str>, production: impl FnOnce(&mut Parser)) -> Parse {
    let too_large = u32::try_from(text.len()).is_err();
    let text = if too_large { Arc::from("") } else { text };
    let (tokens, mut diagnostics) = lexer::lex(file, &text);
    let mut parser = Parser::new(file, &text, &tokens);
    production(&mut parser);
    let (nodes, mistakes) = parser.finish();
    diagnostics.extend(mistakes);
    if too_large {
        diagnostics.push(Diagnostic::error("file-too-large", "a file of more than 4 GB cannot be read"));
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| label.span.start));
    Parse { tree: Tree::new(file, text, tokens, &nodes), diagnostics }
}
