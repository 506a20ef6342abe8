//! Continuous systems: the cases that the literature poses, from text to sorted blocks.

mod show;

use expect_test::expect;
use show::{all, blocks, problems, schedule, schedule_with, states};
use transform::{Aliases, Block, Matrix, Options, SystemKind};

#[test]
fn a1_circuit() {
    let schedule = schedule(
        "parameter R1.R = 10
         parameter C.C = 0.01
         parameter R2.R = 100
         parameter L.L = 0.1
         parameter A = 1
         parameter w = 1
         R1.u = R1.v1 - R1.v2
         0 = R1.i1 + R1.i2
         R1.u = R1.R*R1.i1
         C.u = C.v1 - C.v2
         0 = C.i1 + C.i2
         C.C*der(C.u) = C.i1
         R2.u = R2.v1 - R2.v2
         0 = R2.i1 + R2.i2
         R2.u = R2.R*R2.i1
         L.u = L.v1 - L.v2
         0 = L.i1 + L.i2
         L.L*der(L.i1) = L.u
         AC.u = AC.v1 - AC.v2
         0 = AC.i1 + AC.i2
         AC.u = A*sin(w*time)
         G.v = 0
         AC.v1 = R1.v1
         AC.v1 = R2.v1
         AC.i1 + R1.i1 + R2.i1 = 0
         R1.v2 = C.v1
         R1.i2 + C.i1 = 0
         R2.v2 = L.v1
         R2.i2 + L.i1 = 0
         C.v2 = L.v2
         C.v2 = AC.v2
         C.v2 = G.v
         C.i2 + L.i2 + AC.i2 + G.i = 0",
    );
    assert_eq!((schedule.summary.equations, schedule.summary.unknowns), (27, 27));
    expect![[r#"
        18states: C.u L.i1
        R1.v1 := A*sin(w*time)
        R1.u := R1.v1 - C.u
        R1.i1 := R1.u/R1.R
        der(C.u) := R1.i1/C.C
        R2.u := R2.R*L.i1
        R2.v2 := R1.v1 - R2.u
        der(L.i1) := R2.v2/L.L
        output: AC.i1 := -(R1.i1 + L.i1)
        output: G.i := R1.i1 + L.i1 + AC.i1
        initially
        C.u := 0
        R1.v1 := A*sin(w*time)
        R1.u := R1.v1 - C.u
        R1.i1 := R1.u/R1.R
        der(C.u) := R1.i1/C.C
        L.i1 := 0
        R2.u := R2.R*L.i1
        R2.v2 := R1.v1 - R2.u
        der(L.i1) := R2.v2/L.L
        AC.i1 := -(R1.i1 + L.i1)
        G.i := R1.i1 + L.i1 + AC.i1
    "#]]
    .assert_eq(&format!("{}{}", schedule.summary.aliases, all(&schedule)));
}

#[test]
fn a2_mass_and_spring() {
    let schedule = schedule(
        "parameter m = 1
         parameter c = 100
         Real s(start = 0.5, fixed = true)
         Real v(start = 0, fixed = true)
         s = M.s
         der(s) = v
         m*der(v) = M.f
         Sp.f = c*(Sp.s2 - Sp.s1)
         Sp.f1 = -Sp.f
         Sp.f2 = Sp.f
         W.s = 0
         M.s = Sp.s2
         M.f + Sp.f2 = 0
         W.s = Sp.s1
         W.f + Sp.f1 = 0",
    );
    assert_eq!(schedule.summary.equations, 11);
    expect![[r#"
        states: s v
        der(s) := v
        M.f := -c*s
        der(v) := M.f/m
        initially
        v := 0
        der(s) := v
        s := 0.5
        M.f := -c*s
        der(v) := M.f/m
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn a3_two_springs_in_series() {
    let schedule = schedule(
        "parameter m = 1
         parameter c1 = 100
         parameter c2 = 50
         der(s) = v
         m*der(v) = -f2
         f1 = c1*d1
         f2 = c2*d2
         d1 = p - 0
         d2 = s - p
         f1 = f2",
    );
    expect![[r#"
        states: s v
        der(s) := v
        linear constant 3 torn to d2
            d1 := s - d2
            f2 := c1*d1
            0 = f2 - c2*d2
        der(v) := -f2/m
        initially
        v := 0
        der(s) := v
        s := 0
        linear constant 3 torn to d2
            d1 := s - d2
            f2 := c1*d1
            0 = f2 - c2*d2
        der(v) := -f2/m
    "#]]
    .assert_eq(&all(&schedule));
}

/// The equations as they were written, nothing eliminated.
fn as_written() -> Options {
    Options { aliases: Aliases::Keep, ..Options::default() }
}

#[test]
fn a2_as_written() {
    let schedule = schedule_with(
        "parameter m = 1
         parameter c = 100
         s1 = s2
         vm = der(s2)
         m*der(vm) = f1 + f2
         f3 + f4 = 0
         f4 = c*(s4 - s3)
         s5 = 0
         f1 = 0
         s2 = s3
         f2 + f3 = 0
         s4 = s5
         f4 + f5 = 0",
        &as_written(),
    );
    expect![[r#"
        s2 vm
        output: s1 := s2
        der(s2) := vm
        s3 := s2
        event: s5 := 0
        event: s4 := s5
        f4 := c*(s4 - s3)
        f3 := -f4
        f2 := -f3
        event: f1 := 0
        der(vm) := (f1 + f2)/m
        output: f5 := -f4
    "#]]
    .assert_eq(&format!("{}\n{}", states(&schedule), blocks(&schedule, &schedule.blocks)));
}

#[test]
fn a3_as_written() {
    let schedule = schedule_with(
        "parameter m = 1
         parameter c = 100
         s1 = s2
         vm = der(s2)
         m*der(vm) = f1 + f2
         f3 + f4 = 0
         f4 = c*(s4 - s3)
         f5 + f6 = 0
         f6 = c*(s6 - s5)
         s7 = 0
         f1 = 0
         s2 = s3
         f2 + f3 = 0
         s4 = s5
         f4 + f5 = 0
         s6 = s7
         f6 + f7 = 0",
        &as_written(),
    );
    expect![[r#"
        s2 vm
        output: s1 := s2
        der(s2) := vm
        s3 := s2
        event: s7 := 0
        event: s6 := s7
        linear constant 5 torn to s4
            s5 := s4
            f6 := c*(s6 - s5)
            f5 := -f6
            f4 := -f5
            0 = f4 - c*(s4 - s3)
        f3 := -f4
        f2 := -f3
        event: f1 := 0
        der(vm) := (f1 + f2)/m
        output: f7 := -f6
    "#]]
    .assert_eq(&format!("{}\n{}", states(&schedule), blocks(&schedule, &schedule.blocks)));
}

const SPRING_AND_DAMPER: &str = "parameter c = 2
     parameter b = 0.5
     f1 = -sin(time)
     f2 + f3 = 0
     f3 = c*(s3 - s2)
     f4 + f5 = 0
     f5 = b*(der(s5) - der(s4))
     s6 = 0
     f1 + f2 = 0
     s1 = s2
     f3 + f4 = 0
     s3 = s4
     f5 + f6 = 0
     s5 = s6";

#[test]
fn a4_spring_damper_and_wall() {
    let schedule = schedule_with(SPRING_AND_DAMPER, &as_written());
    assert_eq!((schedule.summary.equations, schedule.summary.unknowns), (12, 12));
    let differentiated = schedule.summary.differentiated.iter();
    let differentiated: Vec<String> =
        differentiated.map(|&(eq, times)| format!("{} ({times})", schedule.model.equation_text(eq))).collect();
    expect!["s6 = 0 (1), s5 = s6 (1)"].assert_eq(&differentiated.join(", "));
    expect![[r#"
        s4
        f1 := -sin(time)
        f2 := -f1
        f3 := -f2
        output: s3 := s4
        output: s2 := (c*s3 - f3)/c
        f4 := -f3
        f5 := -f4
        event: der(s6) := 0
        event: der(s5) := der(s6)
        der(s4) := (b*der(s5) - f5)/b
        event: s6 := 0
        output: s1 := s2
        output: f6 := -f5
        event: s5 := s6
    "#]]
    .assert_eq(&format!("{}\n{}", states(&schedule), blocks(&schedule, &schedule.blocks)));
}

#[test]
fn a4_without_aliases() {
    let schedule = schedule(SPRING_AND_DAMPER);
    expect![[r#"
        s4
        f1 := -sin(time)
        output: s2 := (c*s4 - f1)/c
        der(s4) := -f1/b
    "#]]
    .assert_eq(&format!("{}\n{}", states(&schedule), blocks(&schedule, &schedule.blocks)));
}

#[test]
fn a8_sorting_by_hand() {
    let schedule = schedule(
        "sin(z3) + z4 = 1
         z2 = time
         z2 + sin(z3) + z5 = 0
         z1 = z2 + 1
         z1*exp(z3) + cos(z5) = 1",
    );
    expect![[r#"
        output: z2 := time
        output: z1 := z2 + 1
        output: nonlinear 2 torn to z3
            z5 := -(z2 + sin(z3))
            0 = z1*exp(z3) + cos(z5) - 1
        output: z4 := 1 - sin(z3)
    "#]]
    .assert_eq(&blocks(&schedule, &schedule.blocks));
}

#[test]
fn a9_tearing_by_hand() {
    let schedule = schedule(
        "z1 = sin(z5)
         z2 = cos(z1)
         z3 = exp(z1)*z2
         z4 = cos(z2*z3)
         z5 = sin(z4*z1)",
    );
    expect![[r#"
        event: nonlinear 5 torn to z1
            z2 := cos(z1)
            z3 := exp(z1)*z2
            z4 := cos(z2*z3)
            z5 := sin(z4*z1)
            0 = z1 - sin(z5)
    "#]]
    .assert_eq(&blocks(&schedule, &schedule.blocks));
}

#[test]
fn a10_no_division_by_what_may_vanish() {
    let schedule = schedule(
        "parameter w = 1
         z1 = sin(w*time)
         z1*z2 = sin(z3)
         0 = z2^2 - z3",
    );
    expect![[r#"
        output: z1 := sin(w*time)
        output: nonlinear 2 torn to z2
            z3 := z2^2
            0 = z1*z2 - sin(z3)
    "#]]
    .assert_eq(&blocks(&schedule, &schedule.blocks));
}

#[test]
fn a12_index_definitions() {
    let reduced = schedule(
        "der(x) = y
         0 = x + y",
    );
    assert!(reduced.summary.differentiated.is_empty());
    expect![[r#"
        states: x
        der(x) := -x
        initially
        x := 0
        der(x) := -x
    "#]]
    .assert_eq(&all(&reduced));
    let higher = schedule(
        "der(x1) = y
         0 = x1 + x2
         der(x2) = x1 - 0*y",
    );
    expect![[r#"
        states: x1
        der(x1) := -x1
        output: y := der(x1)
        initially
        x1 := 0
        der(x1) := -x1
        y := der(x1)
    "#]]
    .assert_eq(&all(&higher));
}

const DRIVE_TRAIN: &str = "parameter J1 = 1
     parameter J2 = 2
     parameter J3 = 3
     parameter i = 4
     parameter c = 100
     der(phi1) = w1
     J1*der(w1) = u - tau1
     phi1 = i*phi2
     tau2 = i*tau1
     der(phi2) = w2
     J2*der(w2) = tau2 - tau3
     tau3 = c*(phi2 - phi3)
     der(phi3) = w3
     J3*der(w3) = tau3
     input u
";

#[test]
fn a13_drive_train_with_gear() {
    let schedule = schedule(DRIVE_TRAIN);
    let differentiated: u32 = schedule.summary.differentiated.iter().map(|(_, times)| times).sum();
    assert_eq!(differentiated, 4);
    expect![[r#"
        states: phi1 w1 phi3 w3
        der(phi1) := w1
        phi2 := phi1/i
        tau3 := c*(phi2 - phi3)
        linear constant 6 torn to der(der(phi1))
            der(der(phi2)) := der(der(phi1))/i
            der(w2) := der(der(phi2))
            tau2 := J2*der(w2) + tau3
            tau1 := tau2/i
            der(w1) := (u - tau1)/J1
            0 = der(der(phi1)) - der(w1)
        output: der(phi2) := der(phi1)/i
        output: w2 := der(phi2)
        der(phi3) := w3
        der(w3) := tau3/J3
        initially
        w1 := 0
        der(phi1) := w1
        phi3 := 0
        phi1 := 0
        phi2 := phi1/i
        tau3 := c*(phi2 - phi3)
        linear constant 6 torn to der(der(phi1))
            der(der(phi2)) := der(der(phi1))/i
            der(w2) := der(der(phi2))
            tau2 := J2*der(w2) + tau3
            tau1 := tau2/i
            der(w1) := (u - tau1)/J1
            0 = der(der(phi1)) - der(w1)
        der(phi2) := der(phi1)/i
        w2 := der(phi2)
        w3 := 0
        der(phi3) := w3
        der(w3) := tau3/J3
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn a14_contradicting_start_values_are_checked() {
    let text = format!(
        "{DRIVE_TRAIN}
         Real w1(start = 1, fixed = true)
         Real w2(start = 0, fixed = true)"
    );
    let schedule = schedule(&text);
    let check = &schedule.initial_checks[0];
    let implied: Vec<String> = check.implied_by.iter().map(|&eq| schedule.model.equation_text(eq)).collect();
    expect!["w2 = 0 | der(phi1) = w1 | der(phi2) = w2 | der(phi1) = i*der(phi2) | w1 = 1"].assert_eq(&format!(
        "{} | {}",
        schedule.model.equation_text(check.equation),
        implied.join(" | ")
    ));
}

#[test]
fn a15_structurally_inconsistent() {
    expect![[r#"
        error[over-determined]: 2 equations for the one unknown `y2`; the counts agree (3 equations, 3 unknowns)
          --> test.mo:2:10
           |
         2 |          0 = sin(y2)
           |          ^^^^^^^^^^^
          ::: test.mo:3:10
           |
         3 |          0 = y2^2 - 1
           |          ------------
           = 0 = sin(y2)
           = 0 = y2^2 - 1
           = help: remove one of these equations, or make something in them an unknown
        error[under-determined]: no equation determines `y1`; the counts agree (3 equations, 3 unknowns)
           = it shares its equations with `x`
           = der(x) = x + y1
           = help: an equation or a connection is missing; an input needs a connection or a value
    "#]]
    .assert_eq(&problems(
        "der(x) = x + y1
         0 = sin(y2)
         0 = y2^2 - 1",
    ));
}

#[test]
fn a19_singular_connections() {
    let capacitors = schedule(
        "parameter C1 = 1
         parameter C2 = 2
         C1*der(v1) = i1
         C2*der(v2) = i2
         v1 = v2
         i1 + i2 = sin(time)",
    );
    assert_eq!(capacitors.states.len(), 1);
    let gear = schedule(
        "der(phi1) = w1
         der(w1) = -t1
         der(phi2) = w2
         2*der(w2) = t2
         phi1 = 3*phi2
         t2 = 3*t1",
    );
    assert_eq!(states(&gear), "phi1 w1");
    let damper = schedule(
        "der(phi1) = w1
         der(w1) = -t
         der(phi2) = w2
         2*der(w2) = t
         t = 0.1*(w1 - w2)",
    );
    assert_eq!(damper.states.len(), 4);
}

#[test]
fn a16_singular_but_structurally_regular() {
    let schedule = schedule(
        "der(x1) = y1
         der(x2) = y2
         0 = y1 + y2 + 2*x1
         0 = y1 + y2 + x1 + 2*x2",
    );
    expect![[r#"
        states: x1
        linear constant 4 torn to y2
            der(x2) := y2
            der(x1) := 2*der(x2)
            y1 := der(x1)
            0 = -(y1 + y2 + 2*x1)
        output: x2 := x1/2
        initially
        x1 := 0
        linear constant 4 torn to y2
            der(x2) := y2
            der(x1) := 2*der(x2)
            y1 := der(x1)
            0 = -(y1 + y2 + 2*x1)
        x2 := x1/2
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn a16_with_parameters() {
    let schedule = schedule(
        "parameter p = 3
         parameter q = 3
         der(x1) = y1
         der(x2) = y2
         0 = y1 + p*y2 + 2*x1
         0 = y1 + q*y2 + x1 + 2*x2",
    );
    assert_eq!(states(&schedule), "x1");
}

#[test]
fn a16_across_levels_of_differentiation() {
    // The derivative of the first equation and the second one hide y = -cos(time), and that hides x1 = sin(time).
    let schedule = schedule(
        "x1 + x2 = sin(time)
         der(x1) + der(x2) + y = 0
         der(y) = x1",
    );
    expect![[r#"
        states: 
        output: der(y) := sin(time)
        output: x1 := der(y)
        output: x2 := sin(time) - x1
        output: y := -cos(time)
        output: der(der(y)) := cos(time)
        output: der(x1) := der(der(y))
        output: der(x2) := cos(time) - der(x1)
        initially
        der(y) := sin(time)
        x1 := der(y)
        x2 := sin(time) - x1
        y := -cos(time)
        der(der(y)) := cos(time)
        der(x1) := der(der(y))
        der(x2) := cos(time) - der(x1)
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn a16_equations_that_repeat_each_other() {
    expect![[r#"
        error[over-determined]: each of these equations follows from the others or contradicts them; the counts agree (3 equations, 3 unknowns)
          --> test.mo:1:1
           |
         1 | a + b + c = time
           | ^^^^^^^^^^^^^^^^
          ::: test.mo:2:10
           |
         2 |          a - b = 1
           |          ---------
          ::: test.mo:3:10
           |
         3 |          2*b + c = time - 1
           |          ------------------
           = a + b + c = time
           = a - b = 1
           = 2*b + c = time - 1
           = help: remove one of these equations, or make something in them an unknown
        error[under-determined]: no equation determines `a`; the counts agree (3 equations, 3 unknowns)
           = it shares its equations with `b`, `c`
           = a + b + c = time
           = a - b = 1
           = help: an equation or a connection is missing; an input needs a connection or a value
    "#]]
    .assert_eq(&problems(
        "a + b + c = time
         a - b = 1
         2*b + c = time - 1",
    ));
}

#[test]
fn a17_state_under_a_vanishing_factor() {
    let schedule = schedule(
        "u = cos(time)
         0 = y + x1
         0 = y + x2
         0 = y + x3*u
         0 = der(x1) + der(x2) + der(x3)",
    );
    expect![[r#"
        states: x3
        u := cos(time)
        output: x1 := x3*u
        der(u) := -sin(time)
        linear 2 torn to der(x1)
            der(x3) := -(der(x1) + der(x1))
            0 = der(x1) - (der(x3)*u + x3*der(u))
        initially
        u := cos(time)
        x3 := 0
        x1 := x3*u
        der(u) := -sin(time)
        linear 2 torn to der(x1)
            der(x3) := -(der(x1) + der(x1))
            0 = der(x1) - (der(x3)*u + x3*der(u))
    "#]]
    .assert_eq(&all(&schedule));
}

#[test]
fn a18_pendulum_exchanges_states() {
    let schedule = schedule(
        "parameter L = 1
         Real x(start = 1)
         Real y(start = 0)
         der(x) = vx
         der(y) = vy
         der(vx) = -f*x
         der(vy) = -f*y - 9.81
         x^2 + y^2 = L^2",
    );
    assert_eq!(schedule.state_sets.len(), 2);
    expect![[r#"
        states: stateSet[1].x[1] stateSet[2].x[1]
        nonlinear 2 torn to x y
            0 = stateSet[2].x[1] - (stateSet[2].A[1,1]*y + stateSet[2].A[1,2]*x)
            0 = x^2 + y^2 - L^2
        linear 4 torn to der(y) vx
            vy := der(y)
            der(x) := vx
            0 = 2*x*der(x) + 2*y*der(y)
            0 = stateSet[1].x[1] - (stateSet[1].A[1,1]*vy + stateSet[1].A[1,2]*vx)
        linear 5 torn to f
            der(vx) := -f*x
            der(der(x)) := der(vx)
            der(vy) := -(f*y + 9.81)
            der(der(y)) := der(vy)
            0 = 2*der(x)*der(x) + 2*x*der(der(x)) + (2*der(y)*der(y) + 2*y*der(der(y)))
        output: stateSet[1].J[1,1] := 2*y
        output: stateSet[1].J[1,2] := 2*x
        der(stateSet[1].x[1]) := stateSet[1].A[1,1]*der(vy) + stateSet[1].A[1,2]*der(vx)
        output: stateSet[2].J[1,1] := 2*y
        output: stateSet[2].J[1,2] := 2*x
        der(stateSet[2].x[1]) := stateSet[2].A[1,1]*der(y) + stateSet[2].A[1,2]*der(x)
        initially
        vy := 0
        der(y) := vy
        y := 0
        nonlinear 1 torn to x
            0 = x^2 + y^2 - L^2
        linear 1 torn to der(x)
            0 = 2*x*der(x) + 2*y*der(y)
        vx := der(x)
        linear 5 torn to f
            der(vx) := -f*x
            der(der(x)) := der(vx)
            der(vy) := -(f*y + 9.81)
            der(der(y)) := der(vy)
            0 = 2*der(x)*der(x) + 2*x*der(der(x)) + (2*der(y)*der(y) + 2*y*der(der(y)))
        stateSet[1].J[1,1] := 2*y
        stateSet[1].J[1,2] := 2*x
        stateSet[1].x[1] := stateSet[1].A[1,1]*vy + stateSet[1].A[1,2]*vx
        der(stateSet[1].x[1]) := stateSet[1].A[1,1]*der(vy) + stateSet[1].A[1,2]*der(vx)
        stateSet[2].J[1,1] := 2*y
        stateSet[2].J[1,2] := 2*x
        stateSet[2].x[1] := stateSet[2].A[1,1]*y + stateSet[2].A[1,2]*x
        der(stateSet[2].x[1]) := stateSet[2].A[1,1]*der(y) + stateSet[2].A[1,2]*der(x)
    "#]]
    .assert_eq(&all(&schedule));
    let set = &schedule.state_sets[1];
    let names: Vec<String> = set.candidates.iter().map(|&v| schedule.model.variable_name(v)).collect();
    assert_eq!(names, ["y", "x"]);
    // Hanging straight down, x has to be the state; held out horizontally, y.
    assert_eq!(set.choose(&[-2.0, 0.0]), Some(vec![1]));
    assert_eq!(set.choose(&[0.0, 2.0]), Some(vec![0]));
}

#[test]
fn parameters_that_depend_on_each_other() {
    let schedule = schedule(
        "parameter Boolean use = flag
         parameter Boolean flag = true
         parameter T = if use then 300 else h/4
         parameter h = if use then 4*T else 1000
         der(x) = h - T*x",
    );
    let computed: Vec<String> = schedule.parameters.iter().map(|p| schedule.model.variable_name(p.variable)).collect();
    assert_eq!(computed, ["use", "h"]);
    expect![[r#"
        error[cyclic-parameters]: parameters depend on each other: b → a → b
          --> test.mo:2:10
           |
         2 |          parameter b = a + 1
           |          ^^^^^^^^^^^^^^^^^^^
          ::: test.mo:1:1
           |
         1 | parameter a = 2*b
           | -----------------
           = see: Modelica specification, section 4.4.4
    "#]]
    .assert_eq(&problems(
        "parameter a = 2*b
         parameter b = a + 1
         der(x) = a",
    ));
}

#[test]
fn the_model_may_choose_its_states() {
    let schedule = schedule(
        "parameter L = 1
         Real x(start = 0.6, stateSelect = always)
         Real vx(stateSelect = always)
         Real y(start = -0.8)
         der(x) = vx
         der(y) = vy
         der(vx) = -f*x
         der(vy) = -f*y - 9.81
         x^2 + y^2 = L^2",
    );
    // What is demanded stays a state; that it determines the rest is followed during the run.
    let mut asked = Vec::new();
    for set in &schedule.state_sets {
        assert!(set.demanded);
        asked.extend(set.asked.iter().map(|&place| schedule.model.variable_name(set.candidates[place])));
    }
    asked.sort();
    assert_eq!(asked, ["vx", "x"]);
}

#[test]
fn enthalpy_flows_are_linear_in_the_enthalpies() {
    let schedule = schedule(
        "m = sin(time)
         H = semiLinear(m, h, 4)
         -H = semiLinear(-m, h, k)
         k = 2*h - 1 + H",
    );
    let kinds: Vec<SystemKind> = schedule
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::System { system, .. } => Some(system.kind),
            Block::Assign { .. } => None,
        })
        .collect();
    assert!(matches!(kinds[..], [SystemKind::Linear(Matrix::Frozen | Matrix::Varying)]), "{kinds:?}");
}
