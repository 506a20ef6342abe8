//! What `gyrator equations` shows.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};
use expect_test::{Expect, expect};

fn shown(name: &str, model: &str, expected: Expect) {
    let folder = Folder::new(name);
    folder.write("model.mo", model);
    let run = gyrator(&folder, &["equations", "--no-unit-check", "model.mo"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    expected.assert_eq(&run.stdout);
}

#[test]
fn how_often_the_matrix_of_a_linear_system_changes() {
    shown(
        "matrices",
        "model Systems
  parameter Real a = 2;
  Real x(start = 1, fixed = true), c1, c2, f1, f2, v1, v2, n1, n2, m1, m2;
  Boolean late = time > 0.5, positive;
equation
  der(x) = c1 + f1 + v1 + n1 + m1;
  c1 + a*c2 = x;
  c1 - a*c2 + sin(time) = c2*3;
  f1 + (if late then 1 else 2)*f2 = x;
  f1 - f2 = time;
  v1 + x*v2 = 1;
  v1 - (1 + x^2)*v2 = 2;
  n1 + n2^3 = x;
  n1 - n2 = 1;
  positive = m1 > 0;
  m1 + a*m2 = x;
  m1 - m2 = if positive then 1 - m1 else m1 + m2;
end Systems;
",
        expect![[r#"
            Systems

            states: x

            at the start
              late := time > 0.5                                        // model.mo:4:18
              x := 1                                                    // model.mo:3:8
              mixed system of 3, iterating m2, matrix constant between events
                m1 := x - a*m2                                          // model.mo:16:3
                0 = m1 - m2 - (if positive then 1 - m1 else m1 + m2)    // model.mo:17:3
                positive := m1 > 0                                      // model.mo:15:3
              nonlinear system of 2, iterating n2
                n1 := 1 + n2                                            // model.mo:14:3
                0 = n1 + n2^3 - x                                       // model.mo:13:3
              linear system of 2, iterating v2, matrix varying
                v1 := 2 + (1 + x^2)*v2                                  // model.mo:12:3
                0 = v1 + x*v2 - 1                                       // model.mo:11:3
              linear system of 2, iterating f2, matrix constant between events
                f1 := time + f2                                         // model.mo:10:3
                0 = f1 + (if late then 1 else 2)*f2 - x                 // model.mo:9:3
              linear system of 2, iterating c2, matrix constant
                c1 := x - a*c2                                          // model.mo:7:3
                0 = c1 - a*c2 + sin(time) - 3*c2                        // model.mo:8:3
              der(x) := c1 + f1 + v1 + n1 + m1                          // model.mo:6:3

            sorted equations
              late := time > 0.5  [at events]                           // model.mo:4:18
              mixed system of 3, iterating m2, matrix constant between events
                m1 := x - a*m2                                          // model.mo:16:3
                0 = m1 - m2 - (if positive then 1 - m1 else m1 + m2)    // model.mo:17:3
                positive := m1 > 0                                      // model.mo:15:3
              nonlinear system of 2, iterating n2
                n1 := 1 + n2                                            // model.mo:14:3
                0 = n1 + n2^3 - x                                       // model.mo:13:3
              linear system of 2, iterating v2, matrix varying
                v1 := 2 + (1 + x^2)*v2                                  // model.mo:12:3
                0 = v1 + x*v2 - 1                                       // model.mo:11:3
              linear system of 2, iterating f2, matrix constant between events
                f1 := time + f2                                         // model.mo:10:3
                0 = f1 + (if late then 1 else 2)*f2 - x                 // model.mo:9:3
              linear system of 2, iterating c2, matrix constant
                c1 := 3*c2 - (sin(time) - a*c2)                         // model.mo:8:3
                0 = c1 + a*c2 - x                                       // model.mo:7:3
              der(x) := c1 + f1 + v1 + n1 + m1                          // model.mo:6:3
        "#]],
    );
}
