//! What is said about models that no assignment of equations to unknowns can solve: in terms of the text, also where
//! aliases and constants have swallowed one of the equations.

mod show;

use expect_test::expect;
use show::problems;

#[test]
fn two_values_for_one_variable() {
    expect![[r#"
        error[over-determined]: 2 equations for the one unknown `y2`; the counts agree (3 equations, 3 unknowns)
          --> test.mo:2:10
           |
         2 |          y2 = 1
           |          ^^^^^^
          ::: test.mo:3:10
           |
         3 |          y2 = 2
           |          ------
           = y2 = 1
           = y2 = 2
           = help: remove one of these equations, or make something in them an unknown
        error[under-determined]: no equation determines `y1`; the counts agree (3 equations, 3 unknowns)
           = it shares its equations with `x`
           = der(x) = x + y1
           = help: an equation or a connection is missing; an input needs a connection or a value
    "#]]
    .assert_eq(&problems(
        "der(x) = x + y1
         y2 = 1
         y2 = 2",
    ));
}

#[test]
fn a_value_through_an_alias() {
    expect![[r#"
        error[over-determined]: 3 equations for 2 unknowns: `y`, `z`; the counts agree (4 equations, 4 unknowns)
          --> test.mo:2:10
           |
         2 |          y = z
           |          ^^^^^
          ::: test.mo:3:10
           |
         3 |          z = 1
           |          -----
          ::: test.mo:4:10
           |
         4 |          y = sin(time)
           |          -------------
           = y = z
           = z = 1
           = y = sin(time)
           = help: remove one of these equations, or make something in them an unknown
        error[under-determined]: no equation determines `w`; the counts agree (4 equations, 4 unknowns)
           = it shares its equations with `x`
           = der(x) = x + w
           = help: an equation or a connection is missing; an input needs a connection or a value
    "#]]
    .assert_eq(&problems(
        "der(x) = x + w
         y = z
         z = 1
         y = sin(time)",
    ));
}

#[test]
fn a_circle_of_equal_variables() {
    expect![[r#"
        error[over-determined]: each of these equations follows from the others or contradicts them; the counts agree (4 equations, 4 unknowns)
          --> test.mo:2:10
           |
         2 |          a = b
           |          ^^^^^
          ::: test.mo:3:10
           |
         3 |          b = c
           |          -----
          ::: test.mo:4:10
           |
         4 |          c = a + 1
           |          ---------
           = a = b
           = b = c
           = c = a + 1
           = help: remove one of these equations, or make something in them an unknown
        error[under-determined]: no equation determines `a`; the counts agree (4 equations, 4 unknowns)
           = it shares its equations with `x`, `b`, `c`
           = der(x) = a
           = a = b
           = b = c
           = help: an equation or a connection is missing; an input needs a connection or a value
    "#]]
    .assert_eq(&problems(
        "der(x) = a
         a = b
         b = c
         c = a + 1",
    ));
}

#[test]
fn sums_that_repeat_each_other() {
    expect![[r#"
        error[over-determined]: each of these equations follows from the others or contradicts them; the counts agree (4 equations, 4 unknowns)
          --> test.mo:1:1
           |
         1 | 0.5*i1 + 0.5*i2 = 0
           | ^^^^^^^^^^^^^^^^^^^
          ::: test.mo:2:10
           |
         2 |          i2 + i3 = 0
           |          -----------
          ::: test.mo:3:10
           |
         3 |          i1 - i3 = 0
           |          -----------
           = 0.5*i1 + 0.5*i2 = 0
           = i2 + i3 = 0
           = i1 - i3 = 0
           = help: remove one of these equations, or make something in them an unknown
        error[under-determined]: no equation determines `i1`; the counts agree (4 equations, 4 unknowns)
           = it shares its equations with `i2`, `i3`, `x`
           = 0.5*i1 + 0.5*i2 = 0
           = i2 + i3 = 0
           = der(x) = i1
           = help: an equation or a connection is missing; an input needs a connection or a value
    "#]].assert_eq(&problems(
        "0.5*i1 + 0.5*i2 = 0
         i2 + i3 = 0
         i1 - i3 = 0
         der(x) = i1",
    ));
}

#[test]
fn too_few_equations_for_a_state() {
    expect![[r#"
        error[under-determined]: no equation determines `z`; one equation too few (2 equations, 3 unknowns)
          --> test.mo:4:10
           |
         4 |          Real z
           |          ^^^^^^
           = it shares its equations with `y`
           = z = y + x
           = help: an equation or a connection is missing; an input needs a connection or a value
    "#]]
    .assert_eq(&problems(
        "der(x) = -x
         z = y + x
         Real y
         Real z",
    ));
}
