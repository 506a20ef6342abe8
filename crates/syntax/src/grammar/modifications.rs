//! Modifications, redeclarations, descriptions and annotations (specification, section A.2.5).

use base::Diagnostic;

use super::classes::{ClassForm, class_definition};
use super::elements::{component_clause, constraining_clause, declaration_tail, element_prefixes, type_prefixes};
use super::equations::connect_arguments;
use super::expressions::{expression, type_specifier};
use crate::kind::SyntaxKind::*;
use crate::parser::Parser;

/// `(…)`, `(…) = e`, `= e` or `:= e`; stands on the first token of it.
pub(super) fn modification(p: &mut Parser) {
    let mark = p.open();
    if p.at(LeftParen) {
        class_modification(p);
    }
    if matches!(p.current(), Equals | Assign | EqualEqual) {
        p.bump();
        if p.at(BreakKw) {
            p.bump();
        } else {
            expression(p);
        }
    }
    p.close(mark, Modification);
}

/// `( arguments )`, also the arguments of an annotation.
pub(super) fn class_modification(p: &mut Parser) {
    arguments(p, false);
}

/// `( arguments )` of an extends clause, among them deselections such as `break x`.
pub(super) fn inheritance_modification(p: &mut Parser) {
    arguments(p, true);
}

fn arguments(p: &mut Parser, deselects: bool) {
    p.nested(|p| {
        let mark = p.open();
        let open = p.position();
        p.bump();
        if !p.at(RightParen) {
            argument(p, deselects);
            while p.eat(Comma) {
                argument(p, deselects);
            }
        }
        p.expect_closing(RightParen, open, "`,` or ");
        p.close(mark, ClassModification);
    });
}

fn argument(p: &mut Parser, deselects: bool) {
    match p.current() {
        RedeclareKw | ReplaceableKw => redeclaration(p),
        EachKw | FinalKw if has_replaceable(p) => redeclaration(p),
        BreakKw => {
            if !deselects {
                let diagnostic =
                    Diagnostic::error("misplaced-break", "elements can only be deselected in an extends clause")
                        .at(p.current_span(), "not directly in an extends clause")
                        .hint("extend the class with `extends M(break x)`")
                        .specification("7.4");
                p.report(diagnostic);
            }
            break_modification(p);
        }
        _ => element_modification(p),
    }
}

fn has_replaceable(p: &Parser) -> bool {
    let mut ahead = 0;
    while matches!(p.nth(ahead), EachKw | FinalKw) && ahead < 4 {
        ahead += 1;
    }
    p.nth(ahead) == ReplaceableKw
}

fn redeclaration(p: &mut Parser) {
    let mark = p.open();
    element_prefixes(p, &[RedeclareKw, EachKw, FinalKw, ReplaceableKw]);
    if p.current().starts_class() {
        let start = p.current_span();
        if class_definition(p, mark) == ClassForm::Long {
            let diagnostic =
                Diagnostic::error("long-class-in-modification", "a class with a body inside of a modification")
                    .at(start, "")
                    .hint("define the class elsewhere and write `redeclare model A = B` here")
                    .specification("A.2.5");
            p.report(diagnostic);
        }
        return;
    }
    type_prefixes(p);
    if p.current().is_element_prefix() {
        // The wrong order is reported where component clauses are read.
        component_clause(p, mark, false);
        return;
    }
    type_specifier(p, "a type");
    if p.at(LeftBracket) {
        super::expressions::subscripts(p);
    }
    let declaration = p.open();
    if p.expect_name("the name of a component") || !p.is_recovering() {
        declaration_tail(p);
    }
    p.close(declaration, Declaration);
    if p.at(ConstrainedbyKw) {
        constraining_clause(p);
        description(p);
    }
    p.close(mark, ComponentClause);
}

/// `break x` and `break connect(a, b)` of an extends clause (3.7).
fn break_modification(p: &mut Parser) {
    let mark = p.open();
    p.bump();
    if p.at(ConnectKw) {
        connect_arguments(p);
    } else {
        p.expect_name("the name of a component or `connect`");
    }
    p.close(mark, BreakModification);
}

fn element_modification(p: &mut Parser) {
    let mark = p.open();
    element_prefixes(p, &[EachKw, FinalKw]);
    type_specifier(p, "the name of an element to modify");
    if matches!(p.current(), LeftParen | Equals | Assign) {
        modification(p);
    }
    description_string(p);
    p.close(mark, ElementModification);
}

/// `"…" + "…"`.
pub(super) fn description_string(p: &mut Parser) {
    if !p.at(String) {
        return;
    }
    let mark = p.open();
    p.bump();
    while p.at(Plus) {
        p.bump();
        p.expect(String, "a string");
    }
    p.close(mark, Description);
}

/// A description with the annotation that belongs to it.
pub(super) fn description(p: &mut Parser) {
    description_string(p);
    if p.at(AnnotationKw) {
        annotation(p);
    }
}

pub(super) fn annotation(p: &mut Parser) {
    let mark = p.open();
    p.bump();
    if p.at(LeftParen) {
        class_modification(p);
    } else {
        p.unexpected("`(` behind `annotation`");
    }
    p.close(mark, Annotation);
}
