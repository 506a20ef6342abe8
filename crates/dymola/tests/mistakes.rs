//! Mistakes of people who write models: the message names the place and the remedy, word for word.

use base::SourceMap;
use dymola::Dymola;
use expect_test::{Expect, expect};

/// What is said about a text, in the order of its places.
fn said(text: &str) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add("model.dym", text);
    let (_, diagnostics) = Dymola.translate(file, text);
    diagnostics.iter().map(|diagnostic| diagnostic.render(&sources)).collect()
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&said(text));
}

#[test]
fn a_misspelled_variable() {
    check(
        "model Tank
  parameter Inflow = 2
  local Level
  der(Level) = Inflw - Level
end
",
        expect![[r#"
            error[unknown-name]: there is no variable `Inflw` in `Tank`
              --> model.dym:4:16
               |
             4 |   der(Level) = Inflw - Level
               |                ^^^^^ not found
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: did you mean `Inflow`?
        "#]],
    );
}

#[test]
fn a_misspelled_class() {
    check(
        "model class Resistor
  terminal u, i
  u = 10 * i
end
model Circuit
  submodel (Resistr) R1
  R1.u = 1
end
",
        expect![[r#"
            error[unknown-class]: there is no class `Resistr`
              --> model.dym:6:13
               |
             6 |   submodel (Resistr) R1
               |             ^^^^^^^ not found
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Models”
               = help: did you mean `Resistor`?
        "#]],
    );
}

#[test]
fn a_variable_that_a_submodel_does_not_have() {
    check(
        "model class Resistor
  terminal u, current
  u = 10 * current
end
model Circuit
  submodel (Resistor) R1
  R1.u = 1
  R1.curent = 2
  R1 = 3
end
",
        expect![[r#"
            error[unknown-name]: the class `Resistor` has no variable `curent`
              --> model.dym:8:6
               |
             8 |   R1.curent = 2
               |      ^^^^^^ not found
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: did you mean `current`?
            error[no-variable]: `R1` is a submodel, not a variable
              --> model.dym:9:3
               |
             9 |   R1 = 3
               |   ^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: name one of its variables: `R1.u`
        "#]],
    );
}

#[test]
fn a_model_without_end() {
    check(
        "model class One
  local x
  der(x) = 1
model Two
  submodel (One) a
end
",
        expect![[r#"
            error[missing-end]: the model `One` has no `end`
              --> model.dym:1:13
               |
             1 | model class One
               |             ^^^ begins here
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Models”
               = help: write `end` before the next `model`
        "#]],
    );
}

#[test]
fn several_mistakes_in_one_file() {
    check(
        "model One
  local x, y
  der(x) = * 3
  y = (x + 1
  parameter 5
  der(y) = x
  y + = 2
end
",
        expect![[r#"
            error[expected]: an expression is missing before `*`
              --> model.dym:3:12
               |
             3 |   der(x) = * 3
               |            ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Equations”
               = help: an equation is `expression = expression`
            error[expected]: `)` is missing before `parameter`
              --> model.dym:5:3
               |
             5 |   parameter 5
               |   ^^^^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Equations”
               = help: every bracket is closed
            error[expected]: the name of a variable is missing before `5`
              --> model.dym:5:13
               |
             5 |   parameter 5
               |             ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: variables are declared by a list of names: `local u, i`
            error[expected]: an expression is missing before `=`
              --> model.dym:7:7
               |
             7 |   y + = 2
               |       ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Equations”
               = help: an equation is `expression = expression`
        "#]],
    );
}

#[test]
fn habits_of_modelica() {
    check(
        "model One
  Real x;
  local y
equation
  der(y) = 1;
  when y > 1 then
    new(y) = 0
  end when
end One;
",
        expect![[r#"
            error[modelica-word]: `Real` is a word of Modelica, not of the Dymola language
              --> model.dym:2:3
               |
             2 |   Real x;
               |   ^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Coming from Modelica”
               = help: variables are declared by `local`, `terminal`, `parameter`, `input` or `output`, without a type
            error[modelica-word]: `equation` is a word of Modelica, not of the Dymola language
              --> model.dym:4:1
               |
             4 | equation
               | ^^^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Coming from Modelica”
               = help: equations stand among the declarations, without a headline
            error[semicolon]: the Dymola language has no semicolons
              --> model.dym:5:13
               |
             5 |   der(y) = 1;
               |             ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Equations”
               = help: remove it: an equation ends where the next one begins
            error[modelica-word]: `end when` is Modelica
              --> model.dym:8:3
               |
             8 |   end when
               |   ^^^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Coming from Modelica”
               = help: write `endwhen`
            error[named-end]: `end` takes no name, but `One` follows
              --> model.dym:9:5
               |
             9 | end One;
               |     ^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Models”
               = help: write `end` alone
        "#]],
    );
}

#[test]
fn a_number_as_condition() {
    check(
        "model One
  local OpenSw, u
  OpenSw = if Time < 1 then 1 else 0
  u = if OpenSw then 1 else 2
end
",
        expect![[r#"
            error[number-or-truth]: true or false is needed here, but this is a number
              --> model.dym:4:10
               |
             4 |   u = if OpenSw then 1 else 2
               |          ^^^^^^
              ::: model.dym:3:29
               |
             3 |   OpenSw = if Time < 1 then 1 else 0
               |                             - this makes it a number
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: a condition becomes a number by `if condition then 1 else 0`, a number becomes a condition by `x > 0.5`
        "#]],
    );
}

#[test]
fn cuts_of_different_form() {
    check(
        "model class Pin
  main cut A (v / i)
  v = 0
end
model class Body
  main cut c (p v a / f)
  f = 0
end
model Both
  submodel (Pin) one
  submodel (Body) other
  connect one at other
end
",
        expect![[r#"
            error[different-cuts]: cuts of different form cannot be connected
               --> model.dym:12:11
                |
             12 |   connect one at other
                |           ^^^^^^^^^^^^
              ::: model.dym:2:12
               |
             2 |   main cut A (v / i)
               |            - 1 across and 1 through
              ::: model.dym:6:12
               |
             6 |   main cut c (p v a / f)
               |            - 3 across and 1 through
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Connections”
               = help: both need as many across and through variables, in the same order
        "#]],
    );
}

#[test]
fn no_main_cut() {
    check(
        "model class TwoPort
  cut A (Va / i), B (Vb / -i)
  main path P < A - B >
  Va = Vb
end
model class Box
  cut A (V / i)
  V = 0
end
model Circuit
  submodel (TwoPort) R
  submodel (Box) X
  node n
  connect R at n, X - R, R.B at m, R.C at n, R
end
",
        expect![[r#"
            error[no-main-cut]: `R` has no main cut
               --> model.dym:14:11
                |
             14 |   connect R at n, X - R, R.B at m, R.C at n, R
                |           ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Connections”
               = help: connect its path: `R from n1 to n2`, or name one of its cuts
            error[no-main-path]: `X` has neither a main path nor a main cut
               --> model.dym:14:19
                |
             14 |   connect R at n, X - R, R.B at m, R.C at n, R
                |                   ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Connections”
               = help: declare `main path P < A - B >` in its class, or name its cut here
            error[unknown-object]: there is no submodel, node or cut `m` in `Circuit`
               --> model.dym:14:33
                |
             14 |   connect R at n, X - R, R.B at m, R.C at n, R
                |                                 ^ not found
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Connections”
               = help: declare it: `node m` or `submodel (Class) m`
            error[unknown-cut]: `TwoPort` has no cut `C`
               --> model.dym:14:38
                |
             14 |   connect R at n, X - R, R.B at m, R.C at n, R
                |                                      ^ not found
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Cuts”
               = help: a cut is declared by `cut A (v / i)`
            error[lonely-object]: one object alone is not connected with anything
               --> model.dym:14:46
                |
             14 |   connect R at n, X - R, R.B at m, R.C at n, R
                |                                              ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Connections”
               = help: write `a - b`, `a // b`, `a at n` or `a from n1 to n2`
        "#]],
    );
}

#[test]
fn new_values_where_they_have_no_meaning() {
    check(
        "model One
  local x, n, y
  der(x) = 1
  new(x) = 2
  new(n) = n + 1
  when Time > 1 then
    sin(new(y)) = 0.5
  endwhen
end
",
        expect![[r#"
            error[new-outside-when]: `x` has a derivative, so it gets new values only in `when`
              --> model.dym:4:3
               |
             4 |   new(x) = 2
               |   ^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: write `when condition then new(x) = … endwhen`
            error[new-outside-when]: `n` is a number: outside of `when` it would change without end
              --> model.dym:5:3
               |
             5 |   new(n) = n + 1
               |   ^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: write `when condition then new(x) = … endwhen`, or use true and false
            error[unsolved-instant]: this equation cannot be solved for one new value
              --> model.dym:7:5
               |
             7 |     sin(new(y)) = 0.5
               |     ^^^^^^^^^^^^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: write it as `new(x) = …`, or as `y = …` for a variable that only changes here
        "#]],
    );
}

#[test]
fn a_parameter_that_changes() {
    check(
        "model One
  parameter x = 1, k = 2
  der(x) = -k * x
  when Time > 1 then
    k = 3
  endwhen
end
",
        expect![[r#"
            error[parameter-changes]: `x` is a parameter and does not change
              --> model.dym:3:3
               |
             3 |   der(x) = -k * x
               |   ^^^^^^
              ::: model.dym:2:13
               |
             2 |   parameter x = 1, k = 2
               |             - declared here
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: declare it by `local`
            error[parameter-changes]: `k` is a parameter and does not change
              --> model.dym:5:5
               |
             5 |     k = 3
               |     ^
              ::: model.dym:2:20
               |
             2 |   parameter x = 1, k = 2
               |                    - declared here
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: declare it by `local`
        "#]],
    );
}

#[test]
fn words_that_are_reserved() {
    check(
        "model One
  local at, x
  der(x) = Time
  x == 3
  local z
  z = if x <> 3 then 1 else 2
end
",
        expect![[r#"
            error[reserved-word]: `at` is a word of the language and cannot be the name of a variable
              --> model.dym:2:9
               |
             2 |   local at, x
               |         ^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: variables are declared by a list of names: `local u, i`
            error[no-relation]: `==` is no relation of the Dymola language
              --> model.dym:4:5
               |
             4 |   x == 3
               |     ^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Choices”
               = help: numbers are compared by `<`, `<=`, `>` and `>=`: equality cannot be met with finite precision
            error[no-relation]: `<>` is no relation of the Dymola language
              --> model.dym:6:12
               |
             6 |   z = if x <> 3 then 1 else 2
               |            ^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Choices”
               = help: numbers are compared by `<`, `<=`, `>` and `>=`: equality cannot be met with finite precision
        "#]],
    );
}

#[test]
fn functions_and_time() {
    check(
        "model One
  local x
  x = sinn(time) + sqrt(1, 2) + x(3)
end
",
        expect![[r#"
            error[unknown-function]: there is no function `sinn`
              --> model.dym:3:7
               |
             3 |   x = sinn(time) + sqrt(1, 2) + x(3)
               |       ^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Functions”
               = help: did you mean `sin`?
            error[unknown-name]: there is no variable `time` in `One`
              --> model.dym:3:12
               |
             3 |   x = sinn(time) + sqrt(1, 2) + x(3)
               |            ^^^^ not found
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: the time of the simulation is `Time`
            error[arguments]: `sqrt` has 2 arguments, but needs 1
              --> model.dym:3:20
               |
             3 |   x = sinn(time) + sqrt(1, 2) + x(3)
               |                    ^^^^^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Functions”
               = help: arguments are separated by commas
            error[unknown-function]: there is no function `x`
              --> model.dym:3:33
               |
             3 |   x = sinn(time) + sqrt(1, 2) + x(3)
               |                                 ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Functions”
               = help: `x` is a variable; a product needs `*`
        "#]],
    );
}

#[test]
fn characters_and_comments() {
    check(
        "model One
  local x, y
  x ≤ 3 # comment
  y = 2 $
end
{ the end
",
        expect![[r#"
            error[unknown-character]: the character `≤` has no meaning in the Dymola language
              --> model.dym:3:5
               |
             3 |   x ≤ 3 # comment
               |     ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Words and comments”
               = help: write `<=`
            error[unknown-character]: the character `#` has no meaning in the Dymola language
              --> model.dym:3:9
               |
             3 |   x ≤ 3 # comment
               |         ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Words and comments”
               = help: a comment is written `{ … }` or `-- …`
            error[unknown-character]: the character `$` has no meaning in the Dymola language
              --> model.dym:4:9
               |
             4 |   y = 2 $
               |         ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Words and comments”
               = help: remove it
            error[unclosed-comment]: this comment has no end
              --> model.dym:6:1
               |
             6 | { the end
               | ^ begins here
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Words and comments”
               = help: a comment is closed by `}`
        "#]],
    );
}

#[test]
fn a_class_that_extends_itself() {
    check(
        "model class (B) A
end
model class (A) B
end
",
        expect![[r#"
            error[extends-itself]: `B` extends itself
              --> model.dym:3:14
               |
             3 | model class (A) B
               |              ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Models”
               = help: a class may not be below itself
        "#]],
    );
}

#[test]
fn names_declared_twice() {
    check(
        "model One
  local x
  parameter x = 2
  cut A (v / i), A (w / j)
  main path P < A - D >
  x = v + w
end
model One
end
",
        expect![[r#"
            error[duplicate-name]: the name `x` is declared twice
              --> model.dym:3:13
               |
             3 |   parameter x = 2
               |             ^
              ::: model.dym:2:9
               |
             2 |   local x
               |         - declared here first
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: rename one of them
            error[duplicate-name]: the cut `A` is declared twice
              --> model.dym:4:18
               |
             4 |   cut A (v / i), A (w / j)
               |                  ^
               |       - declared here first
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Cuts”
               = help: rename one of them
            error[unknown-cut]: `One` has no cut `D`
              --> model.dym:5:21
               |
             5 |   main path P < A - D >
               |                     ^ not found
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Cuts”
               = help: a cut is declared by `cut A (v / i)`
            error[unknown-name]: there is no variable `w` in `One`
              --> model.dym:6:11
               |
             6 |   x = v + w
               |           ^ not found
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: declare it: `local w`
            error[duplicate-name]: there are two models `One`
              --> model.dym:8:7
               |
             8 | model One
               |       ^^^
              ::: model.dym:1:7
               |
             1 | model One
               |       --- the other one
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Models”
               = help: rename one of them
        "#]],
    );
}

#[test]
fn two_whens_for_one_variable() {
    check(
        "model class Base
  local x, v
  der(v) = 1
  when Time > 0.1 then
    new(x) = 1
  endwhen
end
model class (Base) Heir
  when Time > 0.2 then
    new(x) = 2
    new(v) = 0
  endwhen
  when Time > 0.3 then
    new(v) = 1
  endwhen
end
",
        expect![[r#"
            error[conflicting-whens]: `x` gets a value in two `when`s
               --> model.dym:10:5
                |
             10 |     new(x) = 2
                |     ^^^^^^^^^^ and again here
              ::: model.dym:5:5
               |
             5 |     new(x) = 1
               |     ---------- first here
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: both may become true at one instant: use two variables, or one `when` that becomes true at all those instants
            error[conflicting-whens]: `v` gets a value in two `when`s
               --> model.dym:14:5
                |
             14 |     new(v) = 1
                |     ^^^^^^^^^^ and again here
               ::: model.dym:11:5
                |
             11 |     new(v) = 0
                |     ---------- first here
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: both may become true at one instant: use two variables, or one `when` that becomes true at all those instants
        "#]],
    );
}

/// The variable is known although its value is not.
#[test]
fn a_sign_behind_an_operator() {
    check(
        "model M
  parameter f = 2^-1
  local x
  x = f * -2
end
",
        expect![[r#"
            error[expected]: an expression is missing before `-`
              --> model.dym:2:19
               |
             2 |   parameter f = 2^-1
               |                   ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Equations”
               = help: a sign behind an operator needs brackets: `2 * (-x)`, `x^(-1)`
            error[expected]: an expression is missing before `-`
              --> model.dym:4:11
               |
             4 |   x = f * -2
               |           ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Equations”
               = help: a sign behind an operator needs brackets: `2 * (-x)`, `x^(-1)`
        "#]],
    );
}

#[test]
fn numbers_that_would_change_without_end() {
    check(
        "model M
  local n = 0, k = 0, m = 0.5
  new(n) = n + 1
  new(k) = if Time > 1 then m else k
  new(m) = if Time > 1 then 1 else m
end
",
        expect![[r#"
            error[new-outside-when]: `n` is a number: outside of `when` it would change without end
              --> model.dym:3:3
               |
             3 |   new(n) = n + 1
               |   ^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: write `when condition then new(x) = … endwhen`, or use true and false
            error[new-outside-when]: `k` is a number: outside of `when` it would change without end
              --> model.dym:4:3
               |
             4 |   new(k) = if Time > 1 then m else k
               |   ^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: write `when condition then new(x) = … endwhen`, or use true and false
            error[new-outside-when]: `m` is a number: outside of `when` it would change without end
              --> model.dym:5:3
               |
             5 |   new(m) = if Time > 1 then 1 else m
               |   ^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: write `when condition then new(x) = … endwhen`, or use true and false
        "#]],
    );
}

/// What the language allows and what it refuses, where its words stand in unusual places.
#[test]
fn words_in_wrong_places() {
    check(
        "model A
  parameter Time = 5
  local x y, z
  lokal w
  x = 2z
  z = if Time > 1 then 1 else 2 endif
  x[1] = 1
  when Time > 1 then
    local v
    when x > 1 then
      new(z) = 2
    endwhen
  endwhen
  new(Time) = 1
  x - z
end
",
        expect![[r#"
            error[reserved-word]: `Time` is the time of the simulation and cannot be declared
              --> model.dym:2:13
               |
             2 |   parameter Time = 5
               |             ^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Words and comments”
               = help: give the variable another name
            error[expected]: something is missing before `y`
              --> model.dym:3:11
               |
             3 |   local x y, z
               |           ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Equations”
               = help: names in a list are separated by commas, a product needs `*`, and an equation has an `=`
            error[expected]: `lokal` is no word of the language
              --> model.dym:4:3
               |
             4 |   lokal w
               |   ^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Words and comments”
               = help: did you mean `local`?
            error[expected]: something is missing before `z`
              --> model.dym:5:8
               |
             5 |   x = 2z
               |        ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Equations”
               = help: names in a list are separated by commas, a product needs `*`, and an equation has an `=`
            error[unknown-name]: there is no variable `z` in `A`
              --> model.dym:6:3
               |
             6 |   z = if Time > 1 then 1 else 2 endif
               |   ^ not found
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: declare it: `local z`
            error[expected]: there is no `endif`
              --> model.dym:6:33
               |
             6 |   z = if Time > 1 then 1 else 2 endif
               |                                 ^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Equations”
               = help: a choice ends with its last value: `if condition then value else value`
            error[expected]: `=` is missing before `[`
              --> model.dym:7:4
               |
             7 |   x[1] = 1
               |    ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Equations”
               = help: the language has no arrays: declare a variable for each element
            error[item-in-when]: `local` cannot stand in `when`
              --> model.dym:9:5
               |
             9 |     local v
               |     ^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: only equations stand there: write it before `when`
            error[item-in-when]: `when` cannot stand in `when`
               --> model.dym:10:5
                |
             10 |     when x > 1 then
                |     ^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: write two of them, one behind the other; conditions are joined by `and`
            error[no-variable]: `Time` is the time of the simulation; it gets no value
               --> model.dym:14:7
                |
             14 |   new(Time) = 1
                |       ^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: declare a variable of your own
            error[expected]: this is no equation: it has no `=`
               --> model.dym:15:3
                |
             15 |   x - z
                |   ^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Equations”
               = help: an equation is `expression = expression`; connections begin with `connect`
        "#]],
    );
}

#[test]
fn submodels_without_brackets_and_commas() {
    check(
        "model class Resistor
  parameter R
  terminal u, i
  u = R * i
end
model class C(Resistor)
  i = 1
end
model A
  submodel Resistor R1(R = 1)
  submodel (Resistor) R2(R = 1) R3(R = 2)
  input k
  R1.i = 1
  R2.i = 1
  R3.i = 1
  R1.R = 5
  k = 3
end
",
        expect![[r#"
            error[expected]: the class that is extended stands before the name
              --> model.dym:6:14
               |
             6 | model class C(Resistor)
               |              ^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Models”
               = help: a model begins with `model Name` or `model class (Super) Name`
            error[expected]: the class of `R1` is not in brackets
               --> model.dym:10:21
                |
             10 |   submodel Resistor R1(R = 1)
                |                     ^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Submodels”
               = help: submodels are declared by `submodel (Class) a, b(R = 10)`
            error[expected]: a comma is missing before `R3`
               --> model.dym:11:33
                |
             11 |   submodel (Resistor) R2(R = 1) R3(R = 2)
                |                                 ^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Submodels”
               = help: submodels are declared by `submodel (Class) a, b(R = 10)`
            error[no-unknown]: this equation determines nothing: `R1.R` is a parameter
               --> model.dym:16:3
                |
             16 |   R1.R = 5
                |   ^^^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: its value stands with the submodel: `R1(R = …)`
            error[no-unknown]: this equation determines nothing: `k` is an input, which is given from outside
               --> model.dym:17:3
                |
             17 |   k = 3
                |   ^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Variables”
               = help: declare it by `local`: `local k`
        "#]],
    );
}

#[test]
fn two_values_at_one_instant() {
    check(
        "model A
  local b = 0
  when Time > 1 then
    new(b) = 1
    new(b) = 2
  endwhen
end
",
        expect![[r#"
            error[conflicting-whens]: `b` gets two values in one `when`
              --> model.dym:5:5
               |
             5 |     new(b) = 2
               |     ^^^^^^^^^^ and again here
              ::: model.dym:4:5
               |
             4 |     new(b) = 1
               |     ---------- first here
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: remove one of the equations
        "#]],
    );
}

#[test]
fn two_main_paths() {
    check(
        "model class A
  cut A (Va / i), B (Vb / -i)
  main path P < A - B >
  main path Q < B - A >
  Va - Vb = 2 * i
end
",
        expect![[r#"
            error[two-main]: a model has only one main path
              --> model.dym:4:13
               |
             4 |   main path Q < B - A >
               |             ^
              ::: model.dym:3:13
               |
             3 |   main path P < A - B >
               |             - the first one
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Paths”
               = help: declare the further ones by `path`
        "#]],
    );
}

#[test]
fn an_instant_that_never_comes() {
    check(
        "model A
  local NextTime, n = 0
  when Time >= NextTime then
    new(NextTime) = NextTime + 0.1
    new(n) = n + 1
  endwhen
end
",
        expect![[r#"
            warning[never-true]: `NextTime` begins at 0, so that this never becomes true
              --> model.dym:3:8
               |
             3 |   when Time >= NextTime then
               |        ^^^^^^^^^^^^^^^^ this is true when time begins
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: give it a value after the begin: `local NextTime = …`, or with the submodel
        "#]],
    );
}

#[test]
fn new_values_of_states_that_cannot_be_solved() {
    check(
        "model A
  local x = 1, y = 1, w = 0
  der(x) = 1
  der(y) = 1
  when x > 2 then
    new(x) * new(y) = 1
    new(x) = 2 * new(y)
  endwhen
  when Time > 3 then
    new(w) = new(x)
  endwhen
end
",
        expect![[r#"
            error[no-new]: these new values depend on each other in a way that cannot be solved
              --> model.dym:6:5
               |
             6 |     new(x) * new(y) = 1
               |     ^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: equations that have to be solved together are linear, and at most three where variables have derivatives
            error[no-new]: these new values depend on each other in a way that cannot be solved
              --> model.dym:7:18
               |
             7 |     new(x) = 2 * new(y)
               |                  ^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: equations that have to be solved together are linear, and at most three where variables have derivatives
            error[no-new]: the new value of a variable with derivative can be used only in the `when` that gives it
               --> model.dym:10:14
                |
             10 |     new(w) = new(x)
                |              ^^^^^^
               = see: the Dymola language of 1993, docs/dymola-1993.md, “Instantaneous equations”
               = help: use its expression instead
        "#]],
    );
}
