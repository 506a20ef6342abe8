//! Index reduction with everything integrated and the constraints told apart.

mod show;

use expect_test::expect;
use show::{all, schedule_with};
use transform::{IndexReduction, Options};

#[test]
fn a20_pendulum_with_constraints() {
    let options = Options { index_reduction: IndexReduction::Projection, ..Options::default() };
    let schedule = schedule_with(
        "parameter L = 1
         Real x(start = 1)
         Real y(start = 0)
         der(x) = vx
         der(y) = vy
         der(vx) = -f*x
         der(vy) = -f*y - 9.81
         x^2 + y^2 = L^2",
        &options,
    );
    expect![[r#"
        states: x der(x) y der(y) vx vy
        linear 5 torn to f
            der(vx) := -f*x
            der(der(x)) := der(vx)
            der(vy) := -(f*y + 9.81)
            der(der(y)) := der(vy)
            0 = 2*der(x)*der(x) + 2*x*der(der(x)) + (2*der(y)*der(y) + 2*y*der(der(y)))
        output: projection.g[1] := der(x) - vx
        output: projection.g[2] := der(y) - vy
        output: projection.g[3] := x^2 + y^2 - L^2
        output: projection.J[3,1] := 2*x
        output: projection.J[3,3] := 2*y
        output: projection.g[4] := 2*x*der(x) + 2*y*der(y)
        output: projection.J[4,1] := 2*der(x)
        output: projection.J[4,3] := 2*der(y)
        output: projection.J[4,2] := 2*x
        output: projection.J[4,4] := 2*y
        initially
        x := 1
        nonlinear 1 torn to y
            0 = x^2 + y^2 - L^2
        vx := 0
        der(x) := vx
        linear 1 torn to der(y)
            0 = 2*x*der(x) + 2*y*der(y)
        linear 5 torn to f
            der(vx) := -f*x
            der(der(x)) := der(vx)
            der(vy) := -(f*y + 9.81)
            der(der(y)) := der(vy)
            0 = 2*der(x)*der(x) + 2*x*der(der(x)) + (2*der(y)*der(y) + 2*y*der(der(y)))
        projection.g[1] := der(x) - vx
        vy := der(y)
        projection.g[2] := der(y) - vy
        projection.g[3] := x^2 + y^2 - L^2
        projection.J[3,1] := 2*x
        projection.J[3,3] := 2*y
        projection.g[4] := 2*x*der(x) + 2*y*der(y)
        projection.J[4,1] := 2*der(x)
        projection.J[4,3] := 2*der(y)
        projection.J[4,2] := 2*x
        projection.J[4,4] := 2*y
    "#]]
    .assert_eq(&all(&schedule));
    let projection = schedule.projection.expect("constraints");
    assert_eq!((projection.residuals.len(), projection.jacobian.len()), (4, 10));
}

#[test]
fn nothing_to_project() {
    let options = Options { index_reduction: IndexReduction::Projection, ..Options::default() };
    let schedule = schedule_with("der(x) = -x\ny = 2*x", &options);
    assert!(schedule.projection.is_none());
    assert_eq!(schedule.states.len(), 1);
}
