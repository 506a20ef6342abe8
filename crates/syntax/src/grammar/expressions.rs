//! Expressions (specification, section A.2.7), by precedence climbing over the levels of section 3.2.

use base::Diagnostic;

use crate::kind::SyntaxKind::{self, *};
use crate::parser::{Mark, Parser};

// The levels of precedence, weakest first.
const OR: u8 = 2;
const AND: u8 = 3;
const NOT: u8 = 4;
const RELATION: u8 = 5;
const SUM: u8 = 6;
const PRODUCT: u8 = 7;
const POWER: u8 = 8;

/// `function f(a = function g(…))` may nest directly this often; no sensible text comes near.
const APPLICATION_LIMIT: u32 = 256;

pub(crate) fn expression(p: &mut Parser) {
    p.nested(|p| match p.current() {
        IfKw => if_expression(p),
        _ => simple_expression(p),
    });
}

/// Branches may follow each other without end, but each is one expression deep only.
fn if_expression(p: &mut Parser) {
    let mark = p.open();
    p.bump();
    expression(p);
    then(p);
    expression(p);
    while p.eat(ElseifKw) {
        expression(p);
        then(p);
        expression(p);
    }
    if p.eat(ElseKw) {
        expression(p);
    } else {
        let mut diagnostic = Diagnostic::error("missing-else", "an if-expression needs an `else`")
            .at(p.previous_end(), "expected `else` here");
        if p.at(Semicolon) || p.at_closing_end() {
            diagnostic =
                diagnostic.hint("every expression has a value; without one for the other case write an if-equation");
        }
        p.error(diagnostic.specification("3.6.5"));
    }
    p.close(mark, IfExpression);
}

fn then(p: &mut Parser) {
    if p.eat(ThenKw) {
        return;
    }
    let mut diagnostic =
        Diagnostic::error("unexpected-token", format!("expected `then`, found {}", p.found())).at(p.current_span(), "");
    if p.at(Equals) {
        diagnostic = diagnostic.hint("a comparison is written `==`");
    }
    p.error(diagnostic);
}

fn simple_expression(p: &mut Parser) {
    let mark = p.open();
    binary(p, OR);
    if !p.at(Colon) {
        return;
    }
    p.bump();
    binary(p, OR);
    if p.eat(Colon) {
        binary(p, OR);
    }
    p.close(mark, Range);
    if p.at(Colon) {
        let diagnostic = Diagnostic::error("unexpected-token", "a range has two or three parts: `start:step:stop`")
            .at(p.current_span(), "this is one `:` too many")
            .specification("10.4.3");
        p.error(diagnostic);
    }
}

fn operator_level(kind: SyntaxKind) -> u8 {
    match kind {
        OrKw | PipePipe => OR,
        AndKw | AmpAmp => AND,
        Less | LessEqual | Greater | GreaterEqual | EqualEqual | NotEqual | BangEqual => RELATION,
        Plus | Minus | DotPlus | DotMinus => SUM,
        Star | Slash | DotStar | DotSlash => PRODUCT,
        Caret | DotCaret => POWER,
        _ => 0,
    }
}

/// An operand and all operators behind it that bind at least as strongly as `minimum`.
fn binary(p: &mut Parser, minimum: u8) {
    let mark = p.open();
    let mut ceiling = prefix(p, minimum);
    loop {
        let level = operator_level(p.current());
        if level < minimum || level == 0 {
            return;
        }
        if level > ceiling {
            // `a < b < c`, `a^b^c`: an operator that does not take its own kind as left operand.
            chained(p, level);
        }
        foreign_operator(p);
        p.bump();
        binary(p, level + 1);
        p.close(mark, Binary);
        ceiling = match level {
            RELATION | POWER => level - 1,
            _ => ceiling.min(level),
        };
    }
}

fn chained(p: &mut Parser, level: u8) {
    let text = p.current_text();
    let hint = match level {
        RELATION => "write `a < b and b < c`",
        POWER => "write `(a^b)^c` or `a^(b^c)`",
        _ => "write parentheses around the first part",
    };
    let diagnostic = Diagnostic::error("needs-parentheses", format!("`{text}` cannot follow here without parentheses"))
        .at(p.current_span(), "")
        .hint(hint)
        .specification("3.2");
    p.report(diagnostic);
}

/// Names the Modelica operator for one of another language.
fn foreign_operator(p: &mut Parser) {
    let meant = match p.current() {
        BangEqual => "<>",
        AmpAmp => "and",
        PipePipe => "or",
        Bang => "not",
        _ => return,
    };
    let text = p.current_text();
    let diagnostic = Diagnostic::error("foreign-operator", format!("`{text}` is no Modelica operator"))
        .at(p.current_span(), "")
        .hint(format!("write `{meant}`"))
        .specification("3.2");
    p.report(diagnostic);
}

/// An operand with the sign or `not` before it. Returns the strongest level of an operator that may follow it.
fn prefix(p: &mut Parser, minimum: u8) -> u8 {
    let level = match p.current() {
        NotKw | Bang => NOT,
        Plus | Minus | DotPlus | DotMinus => SUM,
        IfKw => {
            let diagnostic = Diagnostic::error("needs-parentheses", "an if-expression as operand needs parentheses")
                .at(p.current_span(), "")
                .hint("write `(if … then … else …)`");
            p.report(diagnostic);
            p.nested(if_expression);
            return POWER;
        }
        _ => {
            primary(p);
            return POWER;
        }
    };
    if minimum > level {
        let text = p.current_text();
        let diagnostic = Diagnostic::error("needs-parentheses", format!("`{text}` directly behind an operator"))
            .at(p.current_span(), "")
            .hint(
                format!("write the operand in parentheses, as in `a*({text} b)`")
                    .replace("- b", "-b")
                    .replace("+ b", "+b"),
            )
            .specification("3.2");
        p.report(diagnostic);
    }
    let mark = p.open();
    foreign_operator(p);
    p.bump();
    p.nested(|p| binary(p, level + 1));
    p.close(mark, Unary);
    level
}

fn primary(p: &mut Parser) {
    match p.current() {
        Integer | Real | String | TrueKw | FalseKw => {
            let mark = p.open();
            p.bump();
            p.close(mark, Literal);
        }
        Ident | QuotedIdent | Dot => {
            let mark = p.open();
            component_reference(p);
            if p.at(LeftParen) {
                call(p, mark);
            }
        }
        DerKw | InitialKw | PureKw => {
            let mark = p.open();
            p.bump();
            p.close(mark, Reference);
            if p.at(LeftParen) {
                call(p, mark);
            } else {
                p.unexpected("`(`");
            }
        }
        LeftParen => parentheses(p),
        LeftBracket => matrix(p),
        LeftBrace => array(p),
        EndKw if p.subscript_nesting > 0 && !p.at_closing_end() => {
            let mark = p.open();
            p.bump();
            p.close(mark, EndExpression);
        }
        _ => {
            let mark = p.open();
            missing_expression(p);
            p.close(mark, MissingExpression);
        }
    }
}

fn missing_expression(p: &mut Parser) {
    let mut diagnostic =
        Diagnostic::error("expected-expression", format!("expected an expression, found {}", p.found()));
    diagnostic = match p.line_break_before(p.position()) && p.position() > 0 {
        true => diagnostic.at(p.previous_end(), "expected an expression here"),
        false => diagnostic.at(p.current_span(), ""),
    };
    match p.current() {
        EndKw if !p.at_closing_end() => {
            diagnostic = diagnostic.hint("`end` as an index stands inside of `[ ]`");
        }
        Assign | Equals => diagnostic = diagnostic.hint("is something missing before it?"),
        Star if p.position() > 0 && p.text_at(p.position() - 1) == "*" => {
            diagnostic = diagnostic.hint("a power is written `^`, as in `x^2`");
        }
        _ => {}
    }
    p.error(diagnostic);
}

/// A call whose function was parsed from `mark` on; stands on `(`.
fn call(p: &mut Parser, mark: Mark) {
    arguments(p);
    p.close(mark, Call);
    after_value(p, mark, "the result of a function call");
}

/// `f(x)[1]` and `f(x).y`, which Modelica does not have without parentheses.
fn after_value(p: &mut Parser, mark: Mark, what: &str) {
    while p.at(LeftBracket) {
        let diagnostic = Diagnostic::error("needs-parentheses", format!("{what} cannot have subscripts"))
            .at(p.current_span(), "")
            .hint("write parentheses around what is indexed, as in `(f(x))[1]`");
        p.report(diagnostic);
        subscripts(p);
        p.close(mark, Subscripted);
    }
    if p.at(Dot) && p.nth_is_name(1) {
        let diagnostic = Diagnostic::error("unexpected-token", format!("`.` behind {what}"))
            .at(p.current_span(), "")
            .hint("give the record a name of its own first");
        p.error(diagnostic);
    }
}

/// `( arguments )` of a call.
fn arguments(p: &mut Parser) {
    let mark = p.open();
    let open = p.position();
    p.bump();
    if !p.at(RightParen) {
        let mut named = false;
        loop {
            named |= function_argument(p, named, 0);
            if !p.eat(Comma) {
                break;
            }
        }
        if p.eat(ForKw) {
            for_indices(p);
        }
    }
    p.expect_closing(RightParen, open, "`,` or ");
    p.close(mark, Arguments);
}

/// One argument; returns whether it has a name.
fn function_argument(p: &mut Parser, behind_named: bool, applications: u32) -> bool {
    if p.at_name() && p.nth(1) == Equals {
        let mark = p.open();
        p.bump();
        p.bump();
        argument_value(p, applications);
        p.close(mark, NamedArgument);
        return true;
    }
    let start = p.current_span();
    argument_value(p, applications);
    if behind_named && !p.is_recovering() {
        let diagnostic = Diagnostic::error("argument-order", "an argument without a name behind one with a name")
            .at(start, "")
            .specification("12.4.1");
        p.report(diagnostic);
    }
    false
}

fn argument_value(p: &mut Parser, applications: u32) {
    if p.at(FunctionKw) {
        partial_application(p, applications + 1);
    } else {
        expression(p);
    }
}

/// `function f(a = 1)`.
fn partial_application(p: &mut Parser, applications: u32) {
    if applications == APPLICATION_LIMIT {
        let message = format!("`function` arguments nest more than {APPLICATION_LIMIT} levels deep");
        p.error(Diagnostic::error("nesting-too-deep", message).at(p.current_span(), ""));
        let mark = p.open();
        p.close(mark, MissingExpression);
        return;
    }
    let mark = p.open();
    p.bump();
    type_specifier(p, "the name of a function");
    let open = p.position();
    if p.expect(LeftParen, "`(`") {
        if !p.at(RightParen) {
            loop {
                if !p.at_name() || p.nth(1) != Equals {
                    p.unexpected("an argument with a name, `name = value`");
                    break;
                }
                function_argument(p, true, applications);
                if !p.eat(Comma) {
                    break;
                }
            }
        }
        p.expect_closing(RightParen, open, "`,` or ");
    }
    p.close(mark, PartialApplication);
}

/// `i in 1:n, j`.
pub(super) fn for_indices(p: &mut Parser) {
    loop {
        let mark = p.open();
        if p.expect_name("the name of an iterator") {
            if p.eat(InKw) {
                expression(p);
            } else if matches!(p.current(), Equals | Assign) {
                let text = p.current_text();
                let diagnostic = Diagnostic::error("unexpected-token", format!("`{text}` in a loop"))
                    .at(p.current_span(), "")
                    .hint("write `for i in 1:n loop`");
                p.report(diagnostic);
                p.bump();
                expression(p);
            }
        }
        p.close(mark, Iterator);
        if !p.eat(Comma) {
            break;
        }
    }
}

/// `(a)`, `(a, , b)`, and `(a)[i]` (3.7).
fn parentheses(p: &mut Parser) {
    let mark = p.open();
    let open = p.position();
    p.bump();
    loop {
        if !matches!(p.current(), Comma | RightParen) {
            expression(p);
        }
        if !p.eat(Comma) {
            break;
        }
    }
    p.expect_closing(RightParen, open, "`,` or ");
    p.close(mark, Parentheses);
    // `(e)[i]` and `(e).x` (3.7), also one behind the other.
    loop {
        if p.at(LeftBracket) {
            subscripts(p);
            p.close(mark, Subscripted);
        } else if p.at(Dot) && p.nth_is_name(1) {
            p.bump();
            p.bump();
            p.close(mark, FieldOf);
        } else {
            break;
        }
    }
}

/// `[a, b; c, d]`.
fn matrix(p: &mut Parser) {
    let mark = p.open();
    let open = p.position();
    p.bump();
    expression_list(p);
    while p.eat(Semicolon) {
        expression_list(p);
    }
    p.expect_closing(RightBracket, open, "`,`, `;` or ");
    p.close(mark, Matrix);
    after_value(p, mark, "a matrix");
}

/// `{a, b}` and `{e for i in r}`.
fn array(p: &mut Parser) {
    let mark = p.open();
    let open = p.position();
    p.bump();
    if !p.at(RightBrace) {
        expression_list(p);
        if p.eat(ForKw) {
            for_indices(p);
        }
    }
    p.expect_closing(RightBrace, open, "`,` or ");
    p.close(mark, Array);
    after_value(p, mark, "an array");
}

pub(super) fn expression_list(p: &mut Parser) {
    expression(p);
    while p.eat(Comma) {
        expression(p);
    }
}

/// `[1, :]`; stands on `[`.
pub(super) fn subscripts(p: &mut Parser) {
    let mark = p.open();
    let open = p.position();
    p.bump();
    p.subscript_nesting += 1;
    loop {
        if p.at(Colon) && matches!(p.nth(1), Comma | RightBracket) {
            let all = p.open();
            p.bump();
            p.close(all, AllSubscript);
        } else {
            expression(p);
        }
        if !p.eat(Comma) {
            break;
        }
    }
    p.subscript_nesting -= 1;
    p.expect_closing(RightBracket, open, "`,` or ");
    p.close(mark, Subscripts);
}

/// `.A.B.C`; `what` is what should be there when nothing is.
pub(crate) fn type_specifier(p: &mut Parser, what: &str) {
    let mark = p.open();
    p.eat(Dot);
    if p.expect_name(what) {
        while p.at(Dot) && p.nth_is_name(1) {
            p.bump();
            p.bump();
        }
    }
    p.close(mark, TypeName);
}

/// `.a[1].b.c[i, :]`.
pub(crate) fn component_reference(p: &mut Parser) {
    let mark = p.open();
    p.eat(Dot);
    if p.expect_name("the name of a component") {
        if p.at(LeftBracket) {
            subscripts(p);
        }
        while p.at(Dot) {
            p.bump();
            if !p.expect_name("a name behind `.`") {
                break;
            }
            if p.at(LeftBracket) {
                subscripts(p);
            }
        }
    }
    p.close(mark, Reference);
}
