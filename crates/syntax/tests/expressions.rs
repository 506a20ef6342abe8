//! Expressions: what is read, printed back with the least parentheses, and shown with all of them.

use base::{FileId, Id};
use expect_test::{Expect, expect};
use syntax::ast::{Expr, ExprKind};
use syntax::parse_expression;

fn file() -> FileId {
    FileId::from_index(0)
}

/// The expression with parentheses around every operation.
fn structure(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Unary(operator, inner) => format!("({operator}{})", structure(inner)),
        ExprKind::Binary(operator, left, right) => format!("({} {operator} {})", structure(left), structure(right)),
        ExprKind::Range { start, step, stop } => {
            let step = step.as_ref().map_or(String::new(), |step| structure(step) + ":");
            format!("({}:{step}{})", structure(start), structure(stop))
        }
        ExprKind::If { branches, otherwise } => {
            let branches: Vec<String> = branches
                .iter()
                .map(|(condition, value)| format!("{}→{}", structure(condition), structure(value)))
                .collect();
            format!("if[{}; {}]", branches.join(", "), structure(otherwise))
        }
        _ => expr.to_string(),
    }
}

fn check(texts: &[&str], expected: Expect) {
    let mut out = String::new();
    for text in texts {
        match parse_expression(file(), text) {
            Ok(expr) => {
                let printed = expr.to_string();
                out += &format!("{text}  ⇒  {printed}  ⇒  {}\n", structure(&expr));
                let again = parse_expression(file(), &printed).expect("what is printed can be read");
                assert_eq!(structure(&again), structure(&expr));
                assert_eq!(again.to_string(), printed);
            }
            Err(diagnostics) => {
                let messages: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
                out += &format!("{text}  ✗  {}\n", messages.join(" / "));
            }
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn precedence() {
    check(
        &[
            "-a*b",
            "(-a)*b",
            "-a^2",
            "(-a)^2",
            "a - b - c",
            "a - (b - c)",
            "a/b/c*d",
            "a/(b*c)",
            "not a == b and c or d",
            "not (a and b)",
            "a < b + 1",
            "(a < b) == c",
            "1:2:n + 1",
            "a .* b .^ c ./ d .+ e .- f",
            "(a^b)^c",
            "a^(-b)",
            "2*(if a then b else c)",
            "if a then b elseif c then d else e + 1",
        ],
        expect![[r#"
            -a*b  ⇒  -a*b  ⇒  (-(a * b))
            (-a)*b  ⇒  (-a)*b  ⇒  ((-a) * b)
            -a^2  ⇒  -a^2  ⇒  (-(a ^ 2))
            (-a)^2  ⇒  (-a)^2  ⇒  ((-a) ^ 2)
            a - b - c  ⇒  a - b - c  ⇒  ((a - b) - c)
            a - (b - c)  ⇒  a - (b - c)  ⇒  (a - (b - c))
            a/b/c*d  ⇒  a/b/c*d  ⇒  (((a / b) / c) * d)
            a/(b*c)  ⇒  a/(b*c)  ⇒  (a / (b * c))
            not a == b and c or d  ⇒  not a == b and c or d  ⇒  (((not (a == b)) and c) or d)
            not (a and b)  ⇒  not (a and b)  ⇒  (not (a and b))
            a < b + 1  ⇒  a < b + 1  ⇒  (a < (b + 1))
            (a < b) == c  ⇒  (a < b) == c  ⇒  ((a < b) == c)
            1:2:n + 1  ⇒  1:2:n + 1  ⇒  (1:2:(n + 1))
            a .* b .^ c ./ d .+ e .- f  ⇒  a .* b .^ c ./ d .+ e .- f  ⇒  ((((a .* (b .^ c)) ./ d) .+ e) .- f)
            (a^b)^c  ⇒  (a^b)^c  ⇒  ((a ^ b) ^ c)
            a^(-b)  ⇒  a^(-b)  ⇒  (a ^ (-b))
            2*(if a then b else c)  ⇒  2*(if a then b else c)  ⇒  (2 * if[a→b; c])
            if a then b elseif c then d else e + 1  ⇒  if a then b elseif c then d else e + 1  ⇒  if[a→b, c→d; (e + 1)]
        "#]],
    );
}

#[test]
fn primaries() {
    check(
        &[
            "1",
            "1.5",
            "1e-5",
            "1e20",
            ".5",
            "\"a\\\"b\"",
            "true",
            "a.b[1, :].c[end]",
            ".A.b",
            "'quoted name'.x",
            "der(x)",
            "initial()",
            "pure(f(x))",
            "f()",
            "f(1, b = 2)",
            "f(function g(a = 1), x)",
            "sum(x[i] for i in 1:n, j)",
            "{1, 2}",
            "{i for i in 1:3}",
            "{}",
            "[1, 2; 3, 4]",
            "[1]",
            "(a, , b)",
            "(, a)",
            "(f(x))[2]",
            "({1, 2})[1]",
            "(a)",
            "x[{1, 2}]",
            "x[1:end - 1]",
            "transition(a, b, x > 1, immediate = false)",
        ],
        expect![[r#"
            1  ⇒  1  ⇒  1
            1.5  ⇒  1.5  ⇒  1.5
            1e-5  ⇒  1e-5  ⇒  1e-5
            1e20  ⇒  1e20  ⇒  1e20
            .5  ⇒  0.5  ⇒  0.5
            "a\"b"  ⇒  "a\"b"  ⇒  "a\"b"
            true  ⇒  true  ⇒  true
            a.b[1, :].c[end]  ⇒  a.b[1, :].c[end]  ⇒  a.b[1, :].c[end]
            .A.b  ⇒  .A.b  ⇒  .A.b
            'quoted name'.x  ⇒  'quoted name'.x  ⇒  'quoted name'.x
            der(x)  ⇒  der(x)  ⇒  der(x)
            initial()  ⇒  initial()  ⇒  initial()
            pure(f(x))  ⇒  pure(f(x))  ⇒  pure(f(x))
            f()  ⇒  f()  ⇒  f()
            f(1, b = 2)  ⇒  f(1, b=2)  ⇒  f(1, b=2)
            f(function g(a = 1), x)  ⇒  f(function g(a=1), x)  ⇒  f(function g(a=1), x)
            sum(x[i] for i in 1:n, j)  ⇒  sum(x[i] for i in 1:n, j)  ⇒  sum(x[i] for i in 1:n, j)
            {1, 2}  ⇒  {1, 2}  ⇒  {1, 2}
            {i for i in 1:3}  ⇒  {i for i in 1:3}  ⇒  {i for i in 1:3}
            {}  ⇒  {}  ⇒  {}
            [1, 2; 3, 4]  ⇒  [1, 2; 3, 4]  ⇒  [1, 2; 3, 4]
            [1]  ⇒  [1]  ⇒  [1]
            (a, , b)  ⇒  (a, , b)  ⇒  (a, , b)
            (, a)  ⇒  (, a)  ⇒  (, a)
            (f(x))[2]  ⇒  (f(x))[2]  ⇒  (f(x))[2]
            ({1, 2})[1]  ⇒  ({1, 2})[1]  ⇒  ({1, 2})[1]
            (a)  ⇒  a  ⇒  a
            x[{1, 2}]  ⇒  x[{1, 2}]  ⇒  x[{1, 2}]
            x[1:end - 1]  ⇒  x[1:end - 1]  ⇒  x[1:end - 1]
            transition(a, b, x > 1, immediate = false)  ⇒  transition(a, b, x > 1, immediate=false)  ⇒  transition(a, b, x > 1, immediate=false)
        "#]],
    );
}

#[test]
fn mistakes() {
    check(
        &[
            "",
            "1 +",
            "a b",
            "(a",
            "a)",
            "{1, 2",
            "f(a",
            "a < b < c",
            "a^b^c",
            "2*-a",
            "a != b",
            "a && b || !c",
            "a == not b",
            "1:2:3:4",
            "end",
            "if a then b",
            "if a = b then c else d",
            "f(a = 1, 2)",
            "f(x)[1]",
            "f(x).y",
            "1 + if a then b else c",
            "a.",
            "x[",
            "x[1",
            "[1, 2; ]",
            "f(,)",
            "der x",
            "model",
        ],
        expect![[r#"
              ✗  expected an expression, found the end of the text
            1 +  ✗  expected an expression, found the end of the text
            a b  ✗  expected the end of the text, found `b`
            (a  ✗  missing `)`
            a)  ✗  expected the end of the text, found `)`
            {1, 2  ✗  missing `}`
            f(a  ✗  missing `)`
            a < b < c  ✗  `<` cannot follow here without parentheses
            a^b^c  ✗  `^` cannot follow here without parentheses
            2*-a  ✗  `-` directly behind an operator
            a != b  ✗  `!=` is no Modelica operator
            a && b || !c  ✗  `&&` is no Modelica operator / `||` is no Modelica operator / `!` is no Modelica operator
            a == not b  ✗  `not` directly behind an operator
            1:2:3:4  ✗  a range has two or three parts: `start:step:stop`
            end  ✗  expected an expression, found the keyword `end`
            if a then b  ✗  an if-expression needs an `else`
            if a = b then c else d  ✗  expected `then`, found `=`
            f(a = 1, 2)  ✗  an argument without a name behind one with a name
            f(x)[1]  ✗  the result of a function call cannot have subscripts
            f(x).y  ✗  `.` behind the result of a function call
            1 + if a then b else c  ✗  an if-expression as operand needs parentheses
            a.  ✗  expected a name behind `.`, found the end of the text
            x[  ✗  expected an expression, found the end of the text
            x[1  ✗  missing `]`
            [1, 2; ]  ✗  expected an expression, found `]`
            f(,)  ✗  expected an expression, found `,`
            der x  ✗  expected `(`, found `x`
            model  ✗  expected an expression, found the keyword `model`
        "#]],
    );
}
