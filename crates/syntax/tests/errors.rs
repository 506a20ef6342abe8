//! Each mistake gives one message that names the place and, where possible, what to do.

use base::SourceMap;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let mut sources = SourceMap::default();
    let file = sources.add("a.mo", text);
    let parse = syntax::parse(file, text);
    assert_eq!(parse.tree.print(), text);
    assert_eq!(parse.tree.verify(), Ok(()));
    parse.ast();
    let messages: Vec<String> = parse.diagnostics.iter().map(|diagnostic| diagnostic.render(&sources)).collect();
    expected.assert_eq(&messages.join("\n"));
}

#[test]
fn a_missing_semicolon_is_pointed_at_where_it_belongs() {
    check(
        r#"model M
  Real x
  Real y;
equation
  x = 1
  y = 2;
end M;
"#,
        expect![[r#"
            error[missing-semicolon]: missing `;` after the declaration
              --> a.mo:2:9
               |
             2 |   Real x
               |         ^ expected `;` here

            error[missing-semicolon]: missing `;` after the equation
              --> a.mo:5:8
               |
             5 |   x = 1
               |        ^ expected `;` here
        "#]],
    );
}

#[test]
fn a_missing_semicolon_before_end() {
    check(
        r#"model M
  Real x;
equation
  x = 1
end M
"#,
        expect![[r#"
            error[missing-semicolon]: missing `;` after the equation
              --> a.mo:4:8
               |
             4 |   x = 1
               |        ^ expected `;` here

            error[missing-semicolon]: missing `;` after the class definition
              --> a.mo:5:6
               |
             5 | end M
               |      ^ expected `;` here
        "#]],
    );
}

#[test]
fn a_missing_operator() {
    check(
        r#"model M
  Real x = 2 y;
  Real z;
equation
  x = 3 z;
  z = 1;
end M;
"#,
        expect![[r#"
            error[unexpected-token]: unexpected `y` after the declaration
              --> a.mo:2:14
               |
             2 |   Real x = 2 y;
               |              ^
               = help: is there an operator or a `;` missing before it?

            error[unexpected-token]: unexpected `z` after the equation
              --> a.mo:5:9
               |
             5 |   x = 3 z;
               |         ^
               = help: is there an operator or a `;` missing before it?
        "#]],
    );
}

#[test]
fn unclosed_brackets() {
    check(
        r#"model M
  Real x(start = 1;
  Real y = (1 + 2*(3 + 4);
  Real z[3] = {1, 2, 3;
  Real a = z[1;
equation
  connect(a, b;
  x = f(1, 2;
  x = 1;
end M;
"#,
        expect![[r#"
            error[unclosed-delimiter]: missing `)`
              --> a.mo:2:19
               |
             2 |   Real x(start = 1;
               |                   ^ expected `)` here
               |         - this `(` is not closed

            error[unclosed-delimiter]: missing `)`
              --> a.mo:3:26
               |
             3 |   Real y = (1 + 2*(3 + 4);
               |                          ^ expected `)` here
               |            - this `(` is not closed

            error[unclosed-delimiter]: missing `}`
              --> a.mo:4:23
               |
             4 |   Real z[3] = {1, 2, 3;
               |                       ^ expected `}` here
               |               - this `{` is not closed

            error[unclosed-delimiter]: missing `]`
              --> a.mo:5:15
               |
             5 |   Real a = z[1;
               |               ^ expected `]` here
               |             - this `[` is not closed

            error[unclosed-delimiter]: missing `)`
              --> a.mo:7:15
               |
             7 |   connect(a, b;
               |               ^ expected `)` here
               |          - this `(` is not closed

            error[unclosed-delimiter]: missing `)`
              --> a.mo:8:13
               |
             8 |   x = f(1, 2;
               |             ^ expected `)` here
               |        - this `(` is not closed
        "#]],
    );
}

#[test]
fn one_bracket_too_many() {
    check(
        r#"model M
  Real x = (1 + 2));
  Real y(start = 1));
equation
  x = y];
end M;
"#,
        expect![[r#"
            error[unmatched-delimiter]: `)` closes nothing
              --> a.mo:2:19
               |
             2 |   Real x = (1 + 2));
               |                   ^ there is no bracket open here

            error[unmatched-delimiter]: `)` closes nothing
              --> a.mo:3:20
               |
             3 |   Real y(start = 1));
               |                    ^ there is no bracket open here

            error[unmatched-delimiter]: `]` closes nothing
              --> a.mo:5:8
               |
             5 |   x = y];
               |        ^ there is no bracket open here
        "#]],
    );
}

#[test]
fn another_name_behind_end() {
    check(
        r#"model Pump
  model Inner
  end Iner;
end Pumpe;
"#,
        expect![[r#"
            error[end-name-mismatch]: `end Iner` does not match the name of the class, `Inner`
              --> a.mo:3:7
               |
             3 |   end Iner;
               |       ^^^^ expected `Inner`
              ::: a.mo:2:9
               |
             2 |   model Inner
               |         ----- `Inner` begins here
               = see: Modelica specification, section 4.6

            error[end-name-mismatch]: `end Pumpe` does not match the name of the class, `Pump`
              --> a.mo:4:5
               |
             4 | end Pumpe;
               |     ^^^^^ expected `Pump`
              ::: a.mo:1:7
               |
             1 | model Pump
               |       ---- `Pump` begins here
               = see: Modelica specification, section 4.6
        "#]],
    );
}

#[test]
fn a_class_that_is_not_closed() {
    check(
        r#"package P
  model A
    Real x;
  model B
    Real y;
  end B;
end P;
"#,
        expect![[r#"
            error[missing-end]: the class `A` is not closed before `end P`
              --> a.mo:7:5
               |
             7 | end P;
               |     ^ closes `P`
              ::: a.mo:2:9
               |
             2 |   model A
               |         - `A` begins here
               = help: write `end A;` before it
        "#]],
    );
}

#[test]
fn the_text_ends_too_early() {
    check(
        r#"package P
  model A
    Real x;
  equation
    if x > 1 then
      x = 1;
"#,
        expect![[r#"
            error[missing-end]: missing `end if`
              --> a.mo:6:13
               |
             6 |       x = 1;
               |             ^ expected `end if;` here
              ::: a.mo:5:5
               |
             5 |     if x > 1 then
               |     -- this `if` is not closed
        "#]],
    );
}

#[test]
fn end_without_a_name() {
    check(
        r#"model M
  Real x;
end;
"#,
        expect![[r#"
            error[missing-end-name]: `end` must name the class that it closes
              --> a.mo:3:4
               |
             3 | end;
               |    ^ expected `M` here
               = see: Modelica specification, section 4.6
        "#]],
    );
}

#[test]
fn one_end_too_many() {
    check(
        r#"model M
end M;
end M;
model N
end N;
"#,
        expect![[r#"
            error[unmatched-end]: `end M` closes nothing
              --> a.mo:3:1
               |
             3 | end M;
               | ^^^ no class is open here
               = help: is there one `end` too many before it?
        "#]],
    );
}

#[test]
fn assignment_in_an_equation_section() {
    check(
        r#"model M
  Real x;
equation
  x := 1;
end M;
"#,
        expect![[r#"
            error[assignment-in-equation]: `:=` in an equation
              --> a.mo:4:5
               |
             4 |   x := 1;
               |     ^^
               = help: an equation is written with `=`; assignments belong in an `algorithm` section
               = see: Modelica specification, section 8.2
        "#]],
    );
}

#[test]
fn equation_in_an_algorithm() {
    check(
        r#"model M
  Real x;
algorithm
  x = 1;
  x == 2;
  f(x) := 3;
  connect(a, b);
end M;
"#,
        expect![[r#"
            error[equation-in-algorithm]: `=` in an algorithm
              --> a.mo:4:5
               |
             4 |   x = 1;
               |     ^
               = help: an assignment is written `:=`
               = see: Modelica specification, section 11.2.1

            error[comparison-as-equation]: an assignment is written with `:=`, not `==`
              --> a.mo:5:5
               |
             5 |   x == 2;
               |     ^^
               = help: write `:=`

            error[invalid-target]: this cannot be assigned to
              --> a.mo:6:3
               |
             6 |   f(x) := 3;
               |   ^^^^
               = help: the left side of `:=` is a variable, or `(a, b)` for several results
               = see: Modelica specification, section 11.2.1

            error[equation-in-algorithm]: `connect` in an algorithm
              --> a.mo:7:3
               |
             7 |   connect(a, b);
               |   ^^^^^^^
               = help: connections belong in an `equation` section
        "#]],
    );
}

#[test]
fn comparison_instead_of_equation() {
    check(
        r#"model M
  Real x == 1;
equation
  x == 1;
  if x = 1 then
    x = 2;
  end if;
  when x = 1 then
    x = 3;
  end when;
end M;
"#,
        expect![[r#"
            error[comparison-as-binding]: a value is given with `=`, not `==`
              --> a.mo:2:10
               |
             2 |   Real x == 1;
               |          ^^
               = help: write `=`

            error[comparison-as-equation]: an equation is written with `=`, not `==`
              --> a.mo:4:5
               |
             4 |   x == 1;
               |     ^^
               = help: write `=`

            error[unexpected-token]: expected `then`, found `=`
              --> a.mo:5:8
               |
             5 |   if x = 1 then
               |        ^
               = help: a comparison is written `==`

            error[unexpected-token]: expected `then`, found `=`
              --> a.mo:8:10
               |
             8 |   when x = 1 then
               |          ^
               = help: a comparison is written `==`
        "#]],
    );
}

#[test]
fn misspelled_keywords() {
    check(
        r#"pakage P
  modle M
    paramter Real x = 1;
    final inptu Real u;
    improt A.B;
    Real y;
  equatoin
    der(x) = y;
    connect(a, b);
  end M;
  fucntion f "with a description"
    input Real x;
  end f;
  partial modell N
  end N;
end P;
"#,
        expect![[r#"
            error[misspelled-keyword]: unknown keyword `pakage`
              --> a.mo:1:1
               |
             1 | pakage P
               | ^^^^^^
               = help: did you mean `package`?

            error[misspelled-keyword]: unknown keyword `modle`
              --> a.mo:2:3
               |
             2 |   modle M
               |   ^^^^^
               = help: did you mean `model`?

            error[misspelled-keyword]: unknown keyword `paramter`
              --> a.mo:3:5
               |
             3 |     paramter Real x = 1;
               |     ^^^^^^^^
               = help: did you mean `parameter`?

            error[misspelled-keyword]: unknown keyword `inptu`
              --> a.mo:4:11
               |
             4 |     final inptu Real u;
               |           ^^^^^
               = help: did you mean `input`?

            error[misspelled-keyword]: unknown keyword `improt`
              --> a.mo:5:5
               |
             5 |     improt A.B;
               |     ^^^^^^
               = help: did you mean `import`?

            error[misspelled-keyword]: unknown keyword `equatoin`
              --> a.mo:7:3
               |
             7 |   equatoin
               |   ^^^^^^^^
               = help: did you mean `equation`?

            error[misspelled-keyword]: unknown keyword `fucntion`
               --> a.mo:11:3
                |
             11 |   fucntion f "with a description"
                |   ^^^^^^^^
               = help: did you mean `function`?

            error[misspelled-keyword]: unknown keyword `modell`
               --> a.mo:14:11
                |
             14 |   partial modell N
                |           ^^^^^^
               = help: did you mean `model`?
        "#]],
    );
}

#[test]
fn equations_among_the_declarations() {
    check(
        r#"model M
  Real x;
  x = 1;
  der(x) = 2;
end M;
"#,
        expect![[r#"
            error[equation-outside-section]: an equation among the declarations
              --> a.mo:3:3
               |
             3 |   x = 1;
               |   ^
               = help: equations stand behind the keyword `equation`, assignments behind `algorithm`
               = see: Modelica specification, section 4.5
        "#]],
    );
}

#[test]
fn declarations_among_the_equations() {
    check(
        r#"model M
equation
  x = 1;
  Real x;
  parameter Real y = 1;
  y = x;
end M;
"#,
        expect![[r#"
            error[misplaced-declaration]: a declaration inside of an equation section
              --> a.mo:4:3
               |
             4 |   Real x;
               |   ^^^^
               = help: declare it before the section, or write `public` or `protected` before it
               = see: Modelica specification, section 4.5

            error[misplaced-declaration]: a declaration inside of an equation section
              --> a.mo:5:3
               |
             5 |   parameter Real y = 1;
               |   ^^^^^^^^^
               = help: declare it before the section, or write `public` or `protected` before it
               = see: Modelica specification, section 4.5
        "#]],
    );
}

#[test]
fn unterminated_string_and_comment() {
    check(
        r#"model M "a model
  parameter String s = "text";
  Real x;
end M;
/* and so on
"#,
        expect![[r#"
            error[unterminated-string]: this string has no closing `"`
              --> a.mo:1:9
               |
             1 | model M "a model
               |         ^ it begins here
               = help: a `"` inside of a string is written `\"`

            error[unterminated-comment]: this comment has no closing `*/`
              --> a.mo:5:1
               |
             5 | /* and so on
               | ^^ it begins here
        "#]],
    );
}

#[test]
fn foreign_operators() {
    check(
        r#"model M
  Boolean b = x != 1 && !c || d;
  Real y = x % 2;
end M;
"#,
        expect![[r#"
            error[foreign-operator]: `!=` is no Modelica operator
              --> a.mo:2:17
               |
             2 |   Boolean b = x != 1 && !c || d;
               |                 ^^
               = help: write `<>`
               = see: Modelica specification, section 3.2

            error[foreign-operator]: `&&` is no Modelica operator
              --> a.mo:2:22
               |
             2 |   Boolean b = x != 1 && !c || d;
               |                      ^^
               = help: write `and`
               = see: Modelica specification, section 3.2

            error[foreign-operator]: `!` is no Modelica operator
              --> a.mo:2:25
               |
             2 |   Boolean b = x != 1 && !c || d;
               |                         ^
               = help: write `not`
               = see: Modelica specification, section 3.2

            error[foreign-operator]: `||` is no Modelica operator
              --> a.mo:2:28
               |
             2 |   Boolean b = x != 1 && !c || d;
               |                            ^^
               = help: write `or`
               = see: Modelica specification, section 3.2

            error[invalid-character]: the character `%` has no place in Modelica
              --> a.mo:3:14
               |
             3 |   Real y = x % 2;
               |              ^
               = help: write `mod(a, b)` for the remainder, `//` for a comment
        "#]],
    );
}

#[test]
fn blocks_that_are_not_closed() {
    check(
        r#"model M
equation
  if a then
    x = 1;
  else
    x = 2;
  for i in 1:3 loop
    y[i] = 1;
  end for;
end M;
"#,
        expect![[r#"
            error[missing-end]: missing `end if`
              --> a.mo:9:11
               |
             9 |   end for;
               |           ^ expected `end if;` here
              ::: a.mo:3:3
               |
             3 |   if a then
               |   -- this `if` is not closed
        "#]],
    );
}

#[test]
fn blocks_closed_by_another_word() {
    check(
        r#"model M
algorithm
  for i in 1:3 loop
    x := 1;
  end if;
  while x > 1 loop
    x := 2;
  end;
  when x > 1 then
    x := 3;
  else
    x := 4;
  end when;
end M;
"#,
        expect![[r#"
            error[end-name-mismatch]: `end if` where `for` is open
              --> a.mo:5:7
               |
             5 |   end if;
               |       ^^ expected `for`
              ::: a.mo:3:3
               |
             3 |   for i in 1:3 loop
               |   --- this `for` is not closed

            error[missing-end]: missing `end while`
              --> a.mo:7:12
               |
             7 |     x := 2;
               |            ^ expected `end while;` here
              ::: a.mo:6:3
               |
             6 |   while x > 1 loop
               |   ----- this `while` is not closed

            error[unexpected-token]: `else` inside of a `when`
               --> a.mo:11:3
                |
             11 |   else
                |   ^^^^
               = help: a `when` has `elsewhen` branches only
        "#]],
    );
}

#[test]
fn heads_of_blocks() {
    check(
        r#"model M
algorithm
  for i = 1:3 loop
    x := 1;
  end for;
  for i in 1:3 do
    x := 1;
  end for;
  for i in 1:3
    x := 1;
  end for;
  if x > 1
    x := 2;
  end if;
  while x > 1 do
    x := 2;
  end while;
end M;
"#,
        expect![[r#"
            error[unexpected-token]: `=` in a loop
              --> a.mo:3:9
               |
             3 |   for i = 1:3 loop
               |         ^
               = help: write `for i in 1:n loop`

            error[unexpected-token]: expected `loop`, found `do`
              --> a.mo:6:16
               |
             6 |   for i in 1:3 do
               |                ^^

            error[missing-keyword]: missing `loop`
              --> a.mo:9:15
               |
             9 |   for i in 1:3
               |               ^ expected `loop` here

            error[missing-keyword]: missing `then`
               --> a.mo:12:11
                |
             12 |   if x > 1
                |           ^ expected `then` here

            error[unexpected-token]: expected `loop`, found `do`
               --> a.mo:15:15
                |
             15 |   while x > 1 do
                |               ^^
        "#]],
    );
}

#[test]
fn statements_among_equations() {
    check(
        r#"model M
equation
  while x > 1 loop
    x = 1;
  end while;
  return;
  x + y;
  x;
  f(x) = 1 = 2;
end M;
"#,
        expect![[r#"
            error[statement-in-equations]: `while` in an equation section
              --> a.mo:3:3
               |
             3 |   while x > 1 loop
               |   ^^^^^
               = help: it belongs in an `algorithm` section; equations can use `for`

            error[statement-in-equations]: `return` in an equation section
              --> a.mo:6:3
               |
             6 |   return;
               |   ^^^^^^
               = help: it belongs in an `algorithm` section

            error[incomplete-equation]: this is no equation
              --> a.mo:7:3
               |
             7 |   x + y;
               |   ^^^^^
               = help: an equation has the form `a = b`

            error[incomplete-equation]: this is no equation
              --> a.mo:8:3
               |
             8 |   x;
               |   ^
               = help: an equation has the form `a = b`

            error[unexpected-token]: an equation has one `=`
              --> a.mo:9:12
               |
             9 |   f(x) = 1 = 2;
               |            ^ this is the second one
               = help: a comparison is written `==`; two equations need two lines
        "#]],
    );
}

#[test]
fn keywords_as_names() {
    check(
        r#"model M
  Real end;
  Real model = 1;
  parameter Real
equation
  der = 1;
end M;
"#,
        expect![[r#"
            error[keyword-as-name]: expected the name of a component, found the keyword `end`
              --> a.mo:2:8
               |
             2 |   Real end;
               |        ^^^
               = help: a keyword cannot be a name; `'end'` with quotes can
               = see: Modelica specification, section 2.3.3

            error[keyword-as-name]: expected the name of a component, found the keyword `model`
              --> a.mo:3:8
               |
             3 |   Real model = 1;
               |        ^^^^^
               = help: a keyword cannot be a name; `'model'` with quotes can
               = see: Modelica specification, section 2.3.3

            error[unexpected-token]: expected the name of a component
              --> a.mo:4:17
               |
             4 |   parameter Real
               |                 ^ expected here

            error[unexpected-token]: expected `(`, found `=`
              --> a.mo:6:7
               |
             6 |   der = 1;
               |       ^
        "#]],
    );
}

#[test]
fn prefixes_in_the_wrong_order() {
    check(
        r#"model M
  parameter final Real x = 1;
  replaceable redeclare model A = B;
  input parameter Real y;
  final final Real z;
  Real w(final each start = 1);
end M;
"#,
        expect![[r#"
            error[prefix-order]: `final` must stand before `parameter`, `input` and the like
              --> a.mo:2:13
               |
             2 |   parameter final Real x = 1;
               |             ^^^^^

            error[prefix-order]: `redeclare` must stand before `replaceable`
              --> a.mo:3:15
               |
             3 |   replaceable redeclare model A = B;
               |               ^^^^^^^^^

            error[prefix-order]: the prefix `parameter` cannot stand here
              --> a.mo:4:9
               |
             4 |   input parameter Real y;
               |         ^^^^^^^^^
               = help: the order is `flow`/`stream`, then `discrete`/`parameter`/`constant`, then `input`/`output`, one of each
               = see: Modelica specification, section A.2.4

            error[prefix-order]: `final` stands here twice
              --> a.mo:5:9
               |
             5 |   final final Real z;
               |         ^^^^^

            error[prefix-order]: `each` must stand before `final`
              --> a.mo:6:16
               |
             6 |   Real w(final each start = 1);
               |                ^^^^
        "#]],
    );
}

#[test]
fn what_is_no_class() {
    check(
        r#"within A.B
x = 1;
model M
end M;
within C;
;
"#,
        expect![[r#"
            error[missing-semicolon]: missing `;` after the `within` clause
              --> a.mo:1:11
               |
             1 | within A.B
               |           ^ expected `;` here

            error[unexpected-token]: expected a class definition such as `model M … end M;`, found `x`
              --> a.mo:2:1
               |
             2 | x = 1;
               | ^

            error[misplaced-within]: `within` must be the first line of a file
              --> a.mo:5:1
               |
             5 | within C;
               | ^^^^^^
               = see: Modelica specification, section 13.4.3

            warning[stray-semicolon]: there is nothing before this `;`
              --> a.mo:6:1
               |
             6 | ;
               | ^
               = help: remove it
        "#]],
    );
}

#[test]
fn an_if_expression_without_else() {
    check(
        r#"model M
  Real x = if time > 1 then 2;
equation
  x = 2*-3;
  y = a < b < c;
end M;
"#,
        expect![[r#"
            error[missing-else]: an if-expression needs an `else`
              --> a.mo:2:30
               |
             2 |   Real x = if time > 1 then 2;
               |                              ^ expected `else` here
               = help: every expression has a value; without one for the other case write an if-equation
               = see: Modelica specification, section 3.6.5

            error[needs-parentheses]: `-` directly behind an operator
              --> a.mo:4:9
               |
             4 |   x = 2*-3;
               |         ^
               = help: write the operand in parentheses, as in `a*(-b)`
               = see: Modelica specification, section 3.2

            error[needs-parentheses]: `<` cannot follow here without parentheses
              --> a.mo:5:13
               |
             5 |   y = a < b < c;
               |             ^
               = help: write `a < b and b < c`
               = see: Modelica specification, section 3.2
        "#]],
    );
}

#[test]
fn several_mistakes_in_one_file() {
    check(
        r#"model M
  Real x = ;
  Real (y);
  Real z = {1, 2, };
equation
  x = = 1;
  + ;
  der() = ;
  y = 2;
end M;
"#,
        expect![[r#"
            error[expected-expression]: expected an expression, found `;`
              --> a.mo:2:12
               |
             2 |   Real x = ;
               |            ^

            error[equation-outside-section]: an equation among the declarations
              --> a.mo:3:3
               |
             3 |   Real (y);
               |   ^^^^
               = help: equations stand behind the keyword `equation`, assignments behind `algorithm`
               = see: Modelica specification, section 4.5

            error[expected-expression]: expected an expression, found `}`
              --> a.mo:4:19
               |
             4 |   Real z = {1, 2, };
               |                   ^

            error[expected-expression]: expected an expression, found `=`
              --> a.mo:6:7
               |
             6 |   x = = 1;
               |       ^
               = help: is something missing before it?

            error[expected-expression]: expected an expression, found `;`
              --> a.mo:7:5
               |
             7 |   + ;
               |     ^

            error[expected-expression]: expected an expression, found `;`
              --> a.mo:8:11
               |
             8 |   der() = ;
               |           ^
        "#]],
    );
}

#[test]
fn references() {
    check(
        r#"model M
equation
  a. = 1;
  x[1 = 2;
  x[] = 2;
  connect(a b);
  connect(a, 3);
  y = end;
end M;
"#,
        expect![[r#"
            error[unexpected-token]: expected a name behind `.`, found `=`
              --> a.mo:3:6
               |
             3 |   a. = 1;
               |      ^

            error[unclosed-delimiter]: missing `]`
              --> a.mo:4:6
               |
             4 |   x[1 = 2;
               |      ^ expected `]` here
               |    - this `[` is not closed

            error[expected-expression]: expected an expression, found `]`
              --> a.mo:5:5
               |
             5 |   x[] = 2;
               |     ^

            error[unexpected-token]: expected `,` and the second connector, found `b`
              --> a.mo:6:13
               |
             6 |   connect(a b);
               |             ^

            error[unexpected-token]: expected the name of a component, found `3`
              --> a.mo:7:14
               |
             7 |   connect(a, 3);
               |              ^

            error[expected-expression]: expected an expression, found the keyword `end`
              --> a.mo:8:7
               |
             8 |   y = end;
               |       ^^^
               = help: `end` as an index stands inside of `[ ]`
        "#]],
    );
}

#[test]
fn modifications_and_annotations() {
    check(
        r#"model M
  extends A(x = 1, y = 2 z = 3);
  extends B "text";
  import A.;
  import A.{b c};
  A a(redeclare b);
  A c(3 = 4);
  A d(redeclare model B end B);
  annotation Icon();
  type E = enumeration(a, b c);
  annotation(Icon(graphics = {Line(points = {{1, 2}, {3, 4}})));
end M;
"#,
        expect![[r#"
            error[unexpected-token]: expected `,` or `)`, found `z`
              --> a.mo:2:26
               |
             2 |   extends A(x = 1, y = 2 z = 3);
               |                          ^
               |            - inside of this `(`

            error[unexpected-token]: an extends clause has no description
              --> a.mo:3:13
               |
             3 |   extends B "text";
               |             ^^^^^^
               = see: Modelica specification, section A.2.3

            error[unexpected-token]: expected a name, `*` or `{`, found `;`
              --> a.mo:4:12
               |
             4 |   import A.;
               |            ^

            error[unexpected-token]: expected `,` or `}`, found `c`
              --> a.mo:5:15
               |
             5 |   import A.{b c};
               |               ^
               |            - inside of this `{`

            error[unexpected-token]: expected the name of a component, found `)`
              --> a.mo:6:18
               |
             6 |   A a(redeclare b);
               |                  ^

            error[unexpected-token]: expected the name of an element to modify, found `3`
              --> a.mo:7:7
               |
             7 |   A c(3 = 4);
               |       ^

            error[long-class-in-modification]: a class with a body inside of a modification
              --> a.mo:8:17
               |
             8 |   A d(redeclare model B end B);
               |                 ^^^^^
               = help: define the class elsewhere and write `redeclare model A = B` here
               = see: Modelica specification, section A.2.5

            error[unexpected-token]: expected `(` behind `annotation`, found `Icon`
              --> a.mo:9:14
               |
             9 |   annotation Icon();
               |              ^^^^

            error[unexpected-token]: expected `,` or `)`, found `c`
               --> a.mo:10:29
                |
             10 |   type E = enumeration(a, b c);
                |                             ^
                |                       - inside of this `(`

            error[unclosed-delimiter]: missing `}`
               --> a.mo:11:62
                |
             11 |   annotation(Icon(graphics = {Line(points = {{1, 2}, {3, 4}})));
                |                                                              ^ expected `}` here
                |                              - this `{` is not closed
        "#]],
    );
}

#[test]
fn numbers_and_characters() {
    check(
        r#"model M
  Real x = 1e;
  Real y = 2x;
  Real größe = 3 § 4;
end M;
"#,
        expect![[r#"
            error[malformed-number]: `1e` is neither a number nor a name
              --> a.mo:2:12
               |
             2 |   Real x = 1e;
               |            ^^
               = help: the exponent needs digits, as in `1e3`

            error[malformed-number]: `2x` is neither a number nor a name
              --> a.mo:3:12
               |
             3 |   Real y = 2x;
               |            ^^
               = help: a name begins with a letter or `_`; a product needs `*`

            error[non-ascii-identifier]: `größe` has letters other than a to z in a name
              --> a.mo:4:8
               |
             4 |   Real größe = 3 § 4;
               |        ^^^^^
               = help: Modelica names are made of the letters a to z, A to Z, digits and `_`
               = see: Modelica specification, section 2.3.1

            error[invalid-character]: the character `§` has no place in Modelica
              --> a.mo:4:18
               |
             4 |   Real größe = 3 § 4;
               |                  ^
        "#]],
    );
}

#[test]
fn an_import_of_a_file_is_left_out() {
    check(
        r#"import "Other/Other.mo";
package P
end P;
"#,
        expect![[r#"
            warning[import-of-file]: the file "Other/Other.mo" is not read here
              --> a.mo:1:1
               |
             1 | import "Other/Other.mo";
               | ^^^^^^ not part of the language
               = help: remove it, and give the folder of the library with --library, or in MODELICAPATH
               = see: Modelica specification, section 13.2
        "#]],
    );
}
