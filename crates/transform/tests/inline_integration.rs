//! Inline integration: what sorting makes of the equations and the formula of a method together.

mod show;

use expect_test::expect;
use show::{blocks, schedule_with};
use transform::{Block, Matrix, Options, SystemKind};

fn inline(text: &str) -> String {
    let options = Options { inline_step: Some(0.01), ..Options::default() };
    let schedule = schedule_with(text, &options);
    let inline = schedule.inline.as_ref().expect("inline integration");
    blocks(&schedule, &inline.blocks)
}

#[test]
fn a_linear_circuit_is_torn_to_one_unknown() {
    expect![[r#"
        u := sin(time)
        linear constant 5 torn to uC
            i := (u - uC)/R
            der(iL) := uC/L
            iL := base[2] + step*der(iL)
            der(uC) := (i - iL)/C
            0 = uC - (base[1] + step*der(uC))
    "#]]
    .assert_eq(&inline(
        "parameter R = 10
         parameter C = 0.01
         parameter L = 0.1
         R*i = u - uC
         C*der(uC) = i - iL
         L*der(iL) = uC
         u = sin(time)",
    ));
}

#[test]
fn what_is_not_coupled_back_follows_without_iteration() {
    expect![[r#"
        nonlinear 2 torn to x
            der(x) := -x*x
            0 = x - (base[1] + step*der(x))
        der(y) := x
        y := base[2] + step*der(y)
        der(z) := y + time
        z := base[3] + step*der(z)
    "#]]
    .assert_eq(&inline(
        "der(x) = -x*x
         der(y) = x
         der(z) = y + time",
    ));
}

/// Two elastic shafts between three inertias with friction linear in the speed.
#[test]
fn a_drive_train_is_torn_to_few_unknowns() {
    expect![[r#"
        u := sin(time)
        linear constant 14 torn to der(w3) der(w2)
            w3 := base[6] + step*der(w3)
            t2 := J*der(w3) - (-0.1)*w3
            der(phi3) := w3
            phi3 := base[5] + step*der(phi3)
            t1 := J*der(w2) + t2
            der(w1) := (u - t1)/J
            w1 := base[2] + step*der(w1)
            der(phi1) := w1
            phi1 := base[1] + step*der(phi1)
            w2 := base[4] + step*der(w2)
            phi2 := (c*phi1 + d*(w1 - w2) - t1)/c
            der(phi2) := w2
            0 = phi2 - (base[3] + step*der(phi2))
            0 = t2 - (c*(phi2 - phi3) + d*(w2 - w3))
    "#]]
    .assert_eq(&inline(
        "parameter J = 0.1
         parameter c = 1e5
         parameter d = 2
         der(phi1) = w1
         der(phi2) = w2
         der(phi3) = w3
         J*der(w1) = u - t1
         J*der(w2) = t1 - t2
         J*der(w3) = t2 - 0.1*w3
         t1 = c*(phi1 - phi2) + d*(w1 - w2)
         t2 = c*(phi2 - phi3) + d*(w2 - w3)
         u = sin(time)",
    ));
}

/// The factor 1 - step·a of the unknown is zero for a step of 1/a: nothing is divided by it before the run.
#[test]
fn nothing_is_divided_by_the_step() {
    expect![[r#"
        linear constant 2 torn to x
            der(x) := a*x
            0 = x - (base[1] + step*der(x))
    "#]]
    .assert_eq(&inline("parameter a = 200\nder(x) = a*x"));
}

#[test]
fn discrete_unknowns_stay_during_a_step() {
    expect![[r#"
        nonlinear 3 torn to der(x) x
            y := (if on then 3 else 0) - der(x)
            0 = x - (base[1] + step*der(x))
            0 = y + y^3 - x
        w := base[2] + step*der(w)
    "#]]
    .assert_eq(&inline(
        "Boolean on
         on = x < 1
         der(x) = if on then 3 - y else -y
         y + y^3 = x
         discrete Real n
         when sample(0, 1) then n = pre(n) + x
         der(w) = n",
    ));
}

/// Not torn to one unknown, as errors of a guess at one end would grow on the way to the other; and a sparse matrix of all is less
/// work than a full one of many guesses.
#[test]
fn a_long_ladder_goes_whole_to_the_sparse_solver() {
    let mut text = String::from("parameter R = 1\nparameter C = 1\nv[0] = 1\ni[201] = 0\n");
    for k in 1..=200 {
        text += &format!("R*i[{k}] = v[{}] - v[{k}]\nC*der(v[{k}]) = i[{k}] - i[{}]\n", k - 1, k + 1);
    }
    let text = text.replace(['['], ".v").replace([']'], "");
    let options = Options { inline_step: Some(0.01), ..Options::default() };
    let schedule = schedule_with(&text, &options);
    let inline = schedule.inline.as_ref().expect("inline integration");
    let [Block::System { system, .. }] = &inline.blocks[..] else { panic!("{}", blocks(&schedule, &inline.blocks)) };
    assert_eq!(system.kind, SystemKind::Linear(Matrix::Constant));
    assert_eq!(system.unknowns.len(), 600);
    assert_eq!(system.iteration.len(), 600);
}

/// A diode's voltage as the logarithm of its current would not exist for all that an iteration tries.
#[test]
fn nonlinear_equations_are_evaluated_near_the_last_states() {
    expect![[r#"
        nonlinear 6 torn to v1 v2
            i1 := 10*(sin(time) - v1)
            i2 := 0.001*(exp((v1 - v2)/0.1) - 1)
            der(v2) := (i2 - v2/100)/0.0001
            der(v1) := (i1 - i2)/0.0001
            0 = v2 - (base[2] + step*der(v2))
            0 = v1 - (base[1] + step*der(v1))
    "#]]
    .assert_eq(&inline(
        "i1 = 10*(sin(time) - v1)
         i2 = 1e-3*(exp((v1 - v2)/0.1) - 1)
         1e-4*der(v1) = i1 - i2
         1e-4*der(v2) = i2 - v2/100",
    ));
}

/// Two pendulums in a plane: an unknown for each, from which their states follow by the formula.
#[test]
fn a_chain_of_bodies_is_torn_to_one_unknown_for_each() {
    expect![[r#"
        nonlinear 8 torn to der(w1) w2
            w1 := base[2] + step*der(w1)
            der(p1) := w1
            p1 := base[1] + step*der(p1)
            der(p2) := w2
            p2 := base[3] + step*der(p2)
            der(w2) := (-10)*sin(p2) - (cos(p1 - p2)*der(w1) - w1^2*sin(p1 - p2))
            0 = w2 - (base[4] + step*der(w2))
            0 = 2*der(w1) + cos(p1 - p2)*der(w2) + w2^2*sin(p1 - p2) - (-20)*sin(p1)
    "#]]
    .assert_eq(&inline(
        "der(p1) = w1
         der(p2) = w2
         2*der(w1) + cos(p1 - p2)*der(w2) + w2^2*sin(p1 - p2) = -20*sin(p1)
         cos(p1 - p2)*der(w1) + der(w2) - w1^2*sin(p1 - p2) = -10*sin(p2)",
    ));
}
