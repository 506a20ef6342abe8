//! Declarations: imports, extends clauses, components (specification, sections A.2.2 to A.2.4).

use base::Diagnostic;

use super::classes::{CLASS_KEYWORDS, class_definition, misspelled_class_definition};
use super::expressions::{expression, subscripts, type_specifier};
use super::modifications::{annotation, class_modification, description, inheritance_modification, modification};
use crate::kind::SyntaxKind::{self, *};
use crate::parser::{Mark, Parser};

pub(super) fn starts_element(p: &Parser) -> bool {
    let kind = p.current();
    matches!(kind, Ident | QuotedIdent | Dot | ImportKw | ExtendsKw)
        || kind.starts_class()
        || kind.is_type_prefix()
        || kind.is_element_prefix()
}

/// An element with its `;`.
pub(super) fn element(p: &mut Parser) {
    match p.current() {
        ImportKw => {
            import_clause(p);
            p.finish_item("the import");
            return;
        }
        ExtendsKw => {
            extends_clause(p);
            p.finish_item("the extends clause");
            return;
        }
        _ => {}
    }
    let mark = p.open();
    element_prefixes(p, &[RedeclareKw, FinalKw, InnerKw, OuterKw, ReplaceableKw]);
    if p.current().starts_class() {
        class_definition(p, mark);
        p.finish_item("the class definition");
    } else if let Some(kind) = misspelled_class(p) {
        misspelled_class_definition(p, mark, kind);
        p.finish_item("the class definition");
    } else {
        if let Some(kind) = misspelled_prefix(p) {
            p.report_misspelled(p.position(), kind);
            if matches!(kind, ImportKw | ExtendsKw) {
                p.skip_to_semicolon();
                return;
            }
            p.bump();
        }
        component_clause(p, mark);
        p.finish_item("the declaration");
    }
}

/// `paramter Real x`: a name too many in front of a declaration, close to a keyword that can stand there.
fn misspelled_prefix(p: &Parser) -> Option<SyntaxKind> {
    const PREFIXES: &[SyntaxKind] = &[
        ParameterKw,
        ConstantKw,
        DiscreteKw,
        InputKw,
        OutputKw,
        FlowKw,
        StreamKw,
        FinalKw,
        InnerKw,
        OuterKw,
        ReplaceableKw,
        RedeclareKw,
        ImportKw,
        ExtendsKw,
    ];
    let follows = (p.nth_is_name(1) && (p.nth_is_name(2) || p.nth(2) == Dot)) || p.nth(1).is_type_prefix();
    if !follows || p.line_break_before(p.position() + 1) {
        return None;
    }
    p.misspelled(p.position(), PREFIXES)
}

/// Takes the prefixes among `order`, which must come in that order and once each.
pub(super) fn element_prefixes(p: &mut Parser, order: &[SyntaxKind]) {
    let mut next = 0;
    while let Some(rank) = order.iter().position(|&kind| p.at(kind)) {
        if rank < next {
            let text = p.current_text();
            let message = match rank + 1 == next {
                true => format!("`{text}` stands here twice"),
                false => {
                    let before = order.get(next - 1).and_then(|kind| kind.fixed_text()).unwrap_or_default();
                    format!("`{text}` must stand before `{before}`")
                }
            };
            p.report(Diagnostic::error("prefix-order", message).at(p.current_span(), ""));
        }
        next = next.max(rank + 1);
        p.bump();
    }
}

/// `modle M` at the place of a declaration: a name close to a keyword, and behind the second name no declaration goes on.
fn misspelled_class(p: &Parser) -> Option<SyntaxKind> {
    if !p.nth_is_name(1) && !p.nth(1).starts_class() {
        return None;
    }
    let mut next = 2;
    while p.nth(next) == String || (next > 2 && p.nth(next) == Plus) {
        next += 1;
    }
    let declares = matches!(
        p.nth(next),
        Semicolon
            | Comma
            | LeftBracket
            | LeftParen
            | Equals
            | Assign
            | IfKw
            | AnnotationKw
            | ConstrainedbyKw
            | EndOfFile
    );
    if declares && !p.nth(1).starts_class() {
        return None;
    }
    p.misspelled(p.position(), CLASS_KEYWORDS)
}

fn import_clause(p: &mut Parser) {
    let mark = p.open();
    p.bump();
    if p.at_name() && p.nth(1) == Equals {
        p.bump();
        p.bump();
        type_specifier(p, "the name of a class");
    } else {
        type_specifier(p, "the name of a class");
        match p.current() {
            DotStar => p.bump(),
            Dot => {
                p.bump();
                let open = p.position();
                if !p.eat(Star) && p.expect(LeftBrace, "a name, `*` or `{`") {
                    p.expect_name("a class name");
                    while p.eat(Comma) {
                        p.expect_name("a class name");
                    }
                    p.expect_closing(RightBrace, open, "`,` or ");
                }
            }
            _ => {}
        }
    }
    description(p);
    p.close(mark, ImportClause);
}

fn extends_clause(p: &mut Parser) {
    let mark = p.open();
    p.bump();
    type_specifier(p, "the name of a class");
    if p.at(LeftParen) {
        inheritance_modification(p);
    }
    if p.at(String) {
        let diagnostic = Diagnostic::error("unexpected-token", "an extends clause has no description")
            .at(p.current_span(), "")
            .specification("A.2.3");
        p.report(diagnostic);
        super::modifications::description_string(p);
    }
    if p.at(AnnotationKw) {
        annotation(p);
    }
    p.close(mark, ExtendsClause);
}

/// Whether a constraint of what is replaceable follows. Modelica 2 writes it with `extends`.
pub(super) fn at_constraint(p: &Parser) -> bool {
    p.at(ConstrainedbyKw) || (p.at(ExtendsKw) && p.is_behind(ReplaceableKw))
}

/// `constrainedby T(…)`, or `extends T(…)` as in Modelica 2.
pub(super) fn constraining_clause(p: &mut Parser) {
    if p.at(ExtendsKw) {
        let diagnostic = Diagnostic::breach("old-constraint", "a constraint is written with `constrainedby`")
            .at(p.current_span(), "this is the form of Modelica 2")
            .hint("write `constrainedby`")
            .specification("7.3.2");
        p.report(diagnostic);
    }
    let mark = p.open();
    p.bump();
    type_specifier(p, "the name of a class");
    if p.at(LeftParen) {
        class_modification(p);
    }
    p.close(mark, ConstrainingClause);
}

pub(super) fn type_prefixes(p: &mut Parser) {
    let mut next = 0;
    while p.current().is_type_prefix() {
        let rank = match p.current() {
            FlowKw | StreamKw => 1,
            DiscreteKw | ParameterKw | ConstantKw => 2,
            _ => 3,
        };
        if rank <= next {
            let text = p.current_text();
            let diagnostic = Diagnostic::error("prefix-order", format!("the prefix `{text}` cannot stand here"))
                .at(p.current_span(), "")
                .hint("the order is `flow`/`stream`, then `discrete`/`parameter`/`constant`, then `input`/`output`, one of each")
                .specification("A.2.4");
            p.report(diagnostic);
        }
        next = next.max(rank);
        p.bump();
    }
}

/// A component clause behind its element prefixes, up to but without the `;`.
pub(super) fn component_clause(p: &mut Parser, mark: Mark) {
    type_prefixes(p);
    misplaced_element_prefixes(p);
    type_specifier(p, "a type");
    if p.at(LeftBracket) {
        subscripts(p);
    }
    declaration(p);
    while p.eat(Comma) {
        declaration(p);
    }
    // On a line of its own, `extends` is a clause before which a semicolon is missing.
    if at_constraint(p) && (p.at(ConstrainedbyKw) || !p.line_break_before(p.position())) {
        constraining_clause(p);
        description(p);
    }
    p.close(mark, ComponentClause);
}

/// `parameter final Real x`: the prefixes in the wrong order.
fn misplaced_element_prefixes(p: &mut Parser) {
    while p.current().is_element_prefix() {
        let text = p.current_text();
        let message = format!("`{text}` must stand before `parameter`, `input` and the like");
        p.report(Diagnostic::error("prefix-order", message).at(p.current_span(), ""));
        p.bump();
        type_prefixes(p);
    }
}

fn declaration(p: &mut Parser) {
    let mark = p.open();
    if p.expect_name("the name of a component") || !p.is_recovering() {
        declaration_tail(p);
    }
    p.close(mark, Declaration);
}

/// What stands behind the name of a component.
pub(super) fn declaration_tail(p: &mut Parser) {
    if p.at(LeftBracket) {
        subscripts(p);
    }
    if matches!(p.current(), LeftParen | Equals | Assign) {
        modification(p);
    }
    if p.at(EqualEqual) {
        let diagnostic = Diagnostic::error("comparison-as-binding", "a value is given with `=`, not `==`")
            .at(p.current_span(), "")
            .hint("write `=`");
        p.report(diagnostic);
        modification(p);
    }
    if p.at(IfKw) {
        let mark = p.open();
        p.bump();
        expression(p);
        p.close(mark, Condition);
    }
    description(p);
}
