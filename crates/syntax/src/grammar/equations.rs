//! Equations and statements (specification, section A.2.6). The blocks `if`, `for`, `when` and `while` have one shape for both;
//! what stands in them is told apart by [`Section`].

use base::Diagnostic;

use super::elements::{element, starts_element};
use super::expressions::{component_reference, expression, for_indices};
use super::modifications::description;
use crate::kind::SyntaxKind::{self, *};
use crate::parser::Parser;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Equations,
    Statements,
}

impl Section {
    fn item(self) -> &'static str {
        match self {
            Self::Equations => "the equation",
            Self::Statements => "the statement",
        }
    }
}

pub(super) fn equation_items(p: &mut Parser) {
    items(p, Section::Equations, true);
}

/// Equations among declarations, up to the next declaration.
pub(super) fn misplaced_equations(p: &mut Parser) {
    while looks_like_equation(p) {
        let start = p.position();
        item(p, Section::Equations);
        p.finish_item(Section::Equations.item());
        if p.position() == start {
            return;
        }
    }
}

pub(super) fn statement_items(p: &mut Parser) {
    items(p, Section::Statements, true);
}

/// Equations or statements up to the end of the section (`top`) or of the block around them.
fn items(p: &mut Parser, section: Section, top: bool) {
    loop {
        let start = p.position();
        match p.current() {
            EndOfFile | EquationKw | AlgorithmKw | PublicKw | ProtectedKw | ExternalKw | WithinKw => return,
            InitialKw if matches!(p.nth(1), EquationKw | AlgorithmKw) => return,
            EndKw if p.nth_is_name(1) || !top => return,
            EndKw if !matches!(p.nth(1), IfKw | ForKw | WhenKw | WhileKw) => return,
            ElseKw | ElseifKw | ElsewhenKw if !top => return,
            AnnotationKw if top => return,
            EndKw => stray_end(p),
            Semicolon => {
                let diagnostic = Diagnostic::breach("stray-semicolon", "there is nothing before this `;`")
                    .at(p.current_span(), "")
                    .hint("remove it");
                p.report(diagnostic);
                p.bump();
            }
            _ if declares(p) => misplaced_declaration(p, section),
            _ => {
                item(p, section);
                p.finish_item(section.item());
            }
        }
        if p.position() == start {
            p.skip_unexpected(match section {
                Section::Equations => "an equation",
                Section::Statements => "a statement",
            });
        }
    }
}

fn stray_end(p: &mut Parser) {
    let word = p.text_at(p.position() + 1);
    let diagnostic = Diagnostic::error("unmatched-end", format!("`end {word}` closes nothing"))
        .at(p.current_span(), format!("there is no `{word}` open here"));
    p.report(diagnostic);
    p.bump();
    p.bump();
    p.eat(Semicolon);
}

/// A declaration where an equation should be: a keyword of declarations, or two names on one line.
fn declares(p: &Parser) -> bool {
    let kind = p.current();
    if p.at_name() {
        return p.nth_is_name(1)
            && !p.line_break_before(p.position() + 1)
            // `x' = 1; y' = 2;` holds derivatives as others write them.
            && p.span_at(p.position() + 1).start != p.current_span().end
            && matches!(p.nth(2), Semicolon | Equals | LeftParen | Comma | LeftBracket | String);
    }
    kind != PureKw && kind != Dot && starts_element(p)
}

fn misplaced_declaration(p: &mut Parser, section: Section) {
    let place = match section {
        Section::Equations => "an equation section",
        Section::Statements => "an algorithm",
    };
    let diagnostic = Diagnostic::error("misplaced-declaration", format!("a declaration inside of {place}"))
        .at(p.current_span(), "")
        .hint("declare it before the section, or write `public` or `protected` before it")
        .specification("4.5");
    p.report(diagnostic);
    element(p);
}

/// Whether an equation stands where declarations are expected: an expression follows, not a type and a name.
pub(super) fn looks_like_equation(p: &Parser) -> bool {
    match p.current() {
        DerKw | ConnectKw | WhenKw | WhileKw | ForKw | IfKw | LeftParen | Minus => true,
        Ident | QuotedIdent => {
            let mut ahead = 1;
            while p.nth(ahead) == Dot && p.nth_is_name(ahead + 1) {
                ahead += 2;
            }
            match p.nth(ahead) {
                Equals | EqualEqual | Assign | Plus | Minus | Star | Slash | LeftParen => true,
                // `Real[3] x` and `x[3] = 1` differ behind the bracket.
                LeftBracket => {
                    let mut brackets = 0usize;
                    loop {
                        match p.nth(ahead) {
                            LeftBracket => brackets += 1,
                            RightBracket => brackets -= 1,
                            Semicolon | EndOfFile => return false,
                            _ => {}
                        }
                        ahead += 1;
                        if brackets == 0 {
                            break;
                        }
                    }
                    matches!(p.nth(ahead), Equals | EqualEqual | Assign | Plus | Minus | Star | Slash | Dot)
                }
                _ => false,
            }
        }
        _ => false,
    }
}

fn item(p: &mut Parser, section: Section) {
    p.nested(|p| match p.current() {
        IfKw => if_block(p, section),
        ForKw => for_block(p, section),
        WhenKw => when_block(p, section),
        WhileKw => while_block(p, section),
        ConnectKw => connect_equation(p, section),
        BreakKw | ReturnKw => jump(p, section),
        _ => match section {
            Section::Equations => simple_equation(p),
            Section::Statements => simple_statement(p),
        },
    });
}

/// `a = b` or a call.
fn simple_equation(p: &mut Parser) {
    let mark = p.open();
    expression(p);
    if p.at(Assign) {
        let diagnostic = Diagnostic::error("assignment-in-equation", "`:=` in an equation")
            .at(p.current_span(), "")
            .hint("an equation is written with `=`; assignments belong in an `algorithm` section")
            .specification("8.2");
        p.report(diagnostic);
        p.bump();
        expression(p);
        description(p);
        p.close(mark, Equation);
    } else if p.eat(Equals) {
        expression(p);
        if p.at(Equals) && !p.is_recovering() {
            let diagnostic = Diagnostic::error("unexpected-token", "an equation has one `=`")
                .at(p.current_span(), "this is the second one")
                .hint("a comparison is written `==`; two equations need two lines");
            p.error(diagnostic);
        }
        description(p);
        p.close(mark, Equation);
    } else if p.last_kind() == Some(Call) || p.is_recovering() {
        description(p);
        p.close(mark, CallStatement);
    } else if let Some(operator) = p.last_equality() {
        let diagnostic = Diagnostic::error("comparison-as-equation", "an equation is written with `=`, not `==`")
            .at(operator, "")
            .hint("write `=`");
        p.report(diagnostic);
        description(p);
        p.close(mark, Equation);
    } else {
        incomplete(p, "this is no equation", "an equation has the form `a = b`");
        p.close(mark, CallStatement);
    }
}

/// `x := e`, `(a, b) := f(x)` or a call.
fn simple_statement(p: &mut Parser) {
    let mark = p.open();
    expression(p);
    let target = p.last_kind();
    let target_span = p.last_span();
    if p.at(Equals) {
        let diagnostic = Diagnostic::error("equation-in-algorithm", "`=` in an algorithm")
            .at(p.current_span(), "")
            .hint("an assignment is written `:=`")
            .specification("11.2.1");
        p.report(diagnostic);
    }
    if matches!(p.current(), Assign | Equals) {
        if !matches!(target, Some(Reference | Parentheses)) {
            let diagnostic = Diagnostic::error("invalid-target", "this cannot be assigned to")
                .at(target_span, "")
                .hint("the left side of `:=` is a variable, or `(a, b)` for several results")
                .specification("11.2.1");
            p.report(diagnostic);
        }
        p.bump();
        expression(p);
        description(p);
        p.close(mark, Assignment);
    } else if target == Some(Call) || p.is_recovering() {
        description(p);
        p.close(mark, CallStatement);
    } else if let Some(operator) = p.last_equality() {
        let diagnostic = Diagnostic::error("comparison-as-equation", "an assignment is written with `:=`, not `==`")
            .at(operator, "")
            .hint("write `:=`");
        p.report(diagnostic);
        description(p);
        p.close(mark, Assignment);
    } else {
        incomplete(p, "this is no statement", "an assignment has the form `x := e`");
        p.close(mark, CallStatement);
    }
}

fn incomplete(p: &mut Parser, message: &str, hint: &str) {
    let span = p.last_span();
    if matches!(p.current(), Semicolon | EndOfFile) || p.line_break_before(p.position()) {
        p.error(Diagnostic::error("incomplete-equation", message).at(span, "").hint(hint));
    } else {
        let message = format!("{message}: unexpected {} behind it", p.found());
        let mut diagnostic = Diagnostic::error("unexpected-token", message).at(p.current_span(), "").hint(hint);
        // `x' = …; y' = …;` looks like a name in quotes.
        if p.at(QuotedIdent) && p.current_span().start == span.end {
            let name = p.text_at(p.position() - 1);
            diagnostic = diagnostic.hint(format!("a derivative is written `der({name})`"));
        }
        p.error(diagnostic);
    }
}

fn jump(p: &mut Parser, section: Section) {
    let mark = p.open();
    let kind = if p.at(BreakKw) { BreakStatement } else { ReturnStatement };
    if section == Section::Equations {
        let message = format!("`{}` in an equation section", p.current_text());
        p.report(
            Diagnostic::error("statement-in-equations", message)
                .at(p.current_span(), "")
                .hint("it belongs in an `algorithm` section"),
        );
    }
    p.bump();
    description(p);
    p.close(mark, kind);
}

fn connect_equation(p: &mut Parser, section: Section) {
    let mark = p.open();
    if section == Section::Statements {
        let diagnostic = Diagnostic::error("equation-in-algorithm", "`connect` in an algorithm")
            .at(p.current_span(), "")
            .hint("connections belong in an `equation` section");
        p.report(diagnostic);
    }
    connect_arguments(p);
    description(p);
    p.close(mark, ConnectEquation);
}

/// `connect(a, b)`; stands on `connect`.
pub(super) fn connect_arguments(p: &mut Parser) {
    p.bump();
    let open = p.position();
    if p.expect(LeftParen, "`(` behind `connect`") {
        component_reference(p);
        if p.expect(Comma, "`,` and the second connector") {
            component_reference(p);
        }
        p.expect_closing(RightParen, open, "");
    }
}

fn block_expression(p: &mut Parser, keyword: SyntaxKind) {
    expression(p);
    if p.eat(keyword) {
        p.recovered();
        return;
    }
    let word = keyword.fixed_text().unwrap_or_default();
    let mut diagnostic = Diagnostic::error("unexpected-token", format!("expected `{word}`, found {}", p.found()));
    if p.line_break_before(p.position()) {
        diagnostic = Diagnostic::error("missing-keyword", format!("missing `{word}`"))
            .at(p.previous_end(), format!("expected `{word}` here"));
    } else {
        diagnostic = diagnostic.at(p.current_span(), "");
    }
    if p.at(Equals) {
        diagnostic = diagnostic.hint("a comparison is written `==`");
    }
    p.error(diagnostic);
    // The keyword may still come on this line.
    let mut ahead = 0;
    while p.nth(ahead) != keyword {
        if matches!(p.nth(ahead), Semicolon | EndOfFile) || p.line_break_before(p.position() + ahead) {
            p.recovered();
            return;
        }
        ahead += 1;
    }
    let mark = p.open();
    for _ in 0..ahead {
        p.bump();
    }
    p.close(mark, Skipped);
    p.bump();
    p.recovered();
}

fn end_of_block(p: &mut Parser, keyword: SyntaxKind, start: usize) {
    let word = keyword.fixed_text().unwrap_or_default();
    if p.at(EndKw) && p.nth(1) == keyword {
        p.bump();
        p.bump();
        p.recovered();
        return;
    }
    if p.at(EndKw) && matches!(p.nth(1), IfKw | ForKw | WhenKw | WhileKw) {
        let found = p.text_at(p.position() + 1);
        let diagnostic = Diagnostic::error("end-name-mismatch", format!("`end {found}` where `{word}` is open"))
            .at(p.span_at(p.position() + 1), format!("expected `{word}`"))
            .at(p.span_at(start), format!("this `{word}` is not closed"));
        p.report(diagnostic);
        p.bump();
        p.bump();
        return;
    }
    let diagnostic = Diagnostic::error("missing-end", format!("missing `end {word}`"))
        .at(p.previous_end(), format!("expected `end {word};` here"))
        .at(p.span_at(start), format!("this `{word}` is not closed"));
    if p.at(EndKw) && !p.nth_is_name(1) {
        p.report(diagnostic);
        p.bump();
        return;
    }
    p.error(diagnostic);
}

fn if_block(p: &mut Parser, section: Section) {
    let mark = p.open();
    let start = p.position();
    p.bump();
    block_expression(p, ThenKw);
    items(p, section, false);
    loop {
        if p.eat(ElseifKw) {
            block_expression(p, ThenKw);
            items(p, section, false);
        } else if p.eat(ElseKw) {
            items(p, section, false);
        } else if p.at(ElsewhenKw) {
            p.report(
                Diagnostic::error("unexpected-token", "`elsewhen` inside of an `if`")
                    .at(p.current_span(), "")
                    .hint("write `elseif`"),
            );
            p.bump();
            block_expression(p, ThenKw);
            items(p, section, false);
        } else {
            break;
        }
    }
    end_of_block(p, IfKw, start);
    description(p);
    p.close(mark, IfBlock);
}

fn for_block(p: &mut Parser, section: Section) {
    let mark = p.open();
    let start = p.position();
    p.bump();
    for_indices(p);
    loop_body(p, section);
    end_of_block(p, ForKw, start);
    description(p);
    p.close(mark, ForBlock);
}

fn loop_body(p: &mut Parser, section: Section) {
    if !p.eat(LoopKw) {
        if p.line_break_before(p.position()) {
            let diagnostic =
                Diagnostic::error("missing-keyword", "missing `loop`").at(p.previous_end(), "expected `loop` here");
            p.error(diagnostic);
        } else {
            p.unexpected("`loop`");
            let mark = p.open();
            let line_start = p.position();
            while !matches!(p.current(), LoopKw | Semicolon | EndOfFile)
                && (p.position() == line_start || !p.line_break_before(p.position()))
            {
                p.bump();
            }
            if p.position() > line_start {
                p.close(mark, Skipped);
            }
            p.eat(LoopKw);
        }
    }
    p.recovered();
    items(p, section, false);
    stray_branches(p, section);
}

/// `else` in a loop or `elseif` in a `when`: reported, read and left out.
fn stray_branches(p: &mut Parser, section: Section) {
    while matches!(p.current(), ElseKw | ElseifKw | ElsewhenKw) {
        let mark = p.open();
        let message = format!("`{}` has no `if` or `when` to belong to", p.current_text());
        p.report(Diagnostic::error("unexpected-token", message).at(p.current_span(), ""));
        if p.at(ElseKw) {
            p.bump();
        } else {
            p.bump();
            block_expression(p, ThenKw);
        }
        items(p, section, false);
        p.close(mark, Skipped);
    }
}

fn while_block(p: &mut Parser, section: Section) {
    let mark = p.open();
    let start = p.position();
    if section == Section::Equations {
        let diagnostic = Diagnostic::error("statement-in-equations", "`while` in an equation section")
            .at(p.current_span(), "")
            .hint("it belongs in an `algorithm` section; equations can use `for`");
        p.report(diagnostic);
    }
    p.bump();
    expression(p);
    loop_body(p, section);
    end_of_block(p, WhileKw, start);
    description(p);
    p.close(mark, WhileBlock);
}

fn when_block(p: &mut Parser, section: Section) {
    let mark = p.open();
    let start = p.position();
    p.bump();
    block_expression(p, ThenKw);
    items(p, section, false);
    while p.eat(ElsewhenKw) {
        block_expression(p, ThenKw);
        items(p, section, false);
    }
    if p.at(ElseKw) || p.at(ElseifKw) {
        let text = p.current_text();
        let diagnostic = Diagnostic::error("unexpected-token", format!("`{text}` inside of a `when`"))
            .at(p.current_span(), "")
            .hint("a `when` has `elsewhen` branches only");
        p.report(diagnostic);
        let skipped = p.open();
        if p.at(ElseKw) {
            p.bump();
        } else {
            p.bump();
            block_expression(p, ThenKw);
        }
        items(p, section, false);
        p.close(skipped, Skipped);
        stray_branches(p, section);
    }
    end_of_block(p, WhenKw, start);
    description(p);
    p.close(mark, WhenBlock);
}
