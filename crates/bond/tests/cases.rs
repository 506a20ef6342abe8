//! The classical cases, by exact algebra: expected entries are parsed as rational functions and compared as such.

mod common;

use bond::{Rational, Simplification, StateSpace};
use common::{good, messages, numeric, symbolic, texts};

/// Entries equal as functions: both at several exact points of their own parser, so that no way of writing matters.
fn assert_matrix(space: &StateSpace<Rational>, matrix: &[Vec<Rational>], expected: &str) {
    let rows: Vec<Vec<&str>> = if expected.is_empty() {
        Vec::new()
    } else {
        expected
            .split(';')
            .map(|row| row.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect())
            .collect()
    };
    assert_eq!(matrix.len(), rows.len(), "{}", texts(space, matrix));
    for (row, expected) in matrix.iter().zip(&rows) {
        assert_eq!(row.len(), expected.len());
        for (entry, expected) in row.iter().zip(expected) {
            assert_eq!(*entry, function(space, expected), "{} is not {expected}", space.entry_text(entry));
        }
    }
}

/// A function of the same symbols, by way of a graph whose one output is it.
fn function(space: &StateSpace<Rational>, text: &str) -> Rational {
    let mut graph = String::new();
    for symbol in &space.symbols {
        graph += &format!("parameter {symbol}\n");
    }
    graph += &format!("input u__\noutput y = ({text})*u__\n");
    let made = symbolic(&graph);
    assert_eq!(made.symbols[..space.symbols.len()], space.symbols[..]);
    made.d[0][0].clone()
}

const MASS_SPRING_DAMPER: &str = "
bondgraph MassSpringDamper
Se F_E = 10 \"N\"
Se F_g = -19.62 \"N\"
1 v
C k = 0.5 \"m/N\"
I m = 2 \"kg\"
R d = 3 \"N.s/m\"
F_E, F_g -> v -> k, m, d
output m.e, m.f
";

#[test]
fn mass_spring_damper() {
    let space = symbolic(MASS_SPRING_DAMPER);
    assert_eq!(space.states, ["k.q", "m.p"]);
    assert_eq!(space.inputs, ["F_E", "F_g"]);
    assert_eq!(space.outputs, ["m.e", "m.f"]);
    assert_matrix(&space, &space.a, "0, 1/m; -1/k, -d/m");
    assert_matrix(&space, &space.b, "0, 0; 1, 1");
    assert_matrix(&space, &space.c, "-1/k, -d/m; 0, 1/m");
    assert_matrix(&space, &space.d, "1, 1; 0, 0");
    // As a person writes them.
    assert_eq!(texts(&space, &space.a), "0, 1/m; -1/k, -d/m");
    let numbers = numeric(MASS_SPRING_DAMPER);
    assert_eq!(numbers.a, [[0.0, 0.5], [-2.0, -1.5]]);
    assert_eq!(numbers.b, [[0.0, 0.0], [1.0, 1.0]]);
    assert_eq!(numbers.c, [[-2.0, -1.5], [0.0, 0.5]]);
    assert_eq!(numbers.d, [[1.0, 1.0], [0.0, 0.0]]);
}

/// The long form, with both velocities and a source of zero for the wall.
const INITIAL_GRAPH: &str = "
Sf v_ref = 0
1 ref, v
0 z_k, z_d
C k
I m
R d
Se F_E
Se F_g
v_ref -> ref
F_E, F_g -> v -> m
v -> z_k -> k
z_k -> ref
v -> z_d -> d
z_d -> ref
output m.e, m.f
";

#[test]
fn simplification_goes_step_by_step() {
    let (graph, _) = good(INITIAL_GRAPH);
    let simplified = Simplification::new(&graph);
    expect_test::expect![[r#"
        1. the source `v_ref` keeps the flow of `ref` at zero: removed (9 elements, 9 bonds)
        2. no flow at `ref`, so no power: removed with its bonds (8 elements, 7 bonds)
        3. the 0-junction `z_k` has two bonds: one bond `v -> k` instead (7 elements, 6 bonds)
        4. the 0-junction `z_d` has two bonds: one bond `v -> d` instead (6 elements, 5 bonds)
    "#]]
    .assert_eq(&simplified.print());
    // Every graph on the way is the same system.
    let wanted = symbolic(INITIAL_GRAPH);
    for step in &simplified.steps {
        let (causality, _) = bond::Causality::assign(&step.graph, &bond::Mode::default());
        let space = StateSpace::symbolic(&step.graph, &causality.unwrap()).unwrap();
        assert_eq!(
            (&space.a, &space.b, &space.c, &space.d),
            (&wanted.a, &wanted.b, &wanted.c, &wanted.d),
            "{}",
            step.text
        );
    }
    assert_matrix(&wanted, &wanted.a, "0, 1/m; -1/k, -d/m");
}

#[test]
fn zero_sources_that_add_up_are_removed() {
    let (graph, _) = good("Se U -> 1 i -> R r, C c\nSe ground = 0 -> i\noutput ground.f, ground.e, r.f");
    let simplified = Simplification::new(&graph);
    assert_eq!(simplified.steps.len(), 1);
    assert_eq!(simplified.graph.elements.len(), 4);
    let (causality, _) = bond::Causality::assign(&simplified.graph, &bond::Mode::default());
    let space = StateSpace::symbolic(&simplified.graph, &causality.unwrap()).unwrap();
    assert_matrix(&space, &space.c, "-1/(r*c); 0; -1/(r*c)");
}

const RLC: &str = "
Se U = 10 \"V\"
1 a, b
C c = 1 \"uF\"
I L = 1 \"mH\"
R r = 1 \"kOhm\"
U -> a -> c
a -> b -> L, r
output r.e, r.f
";

#[test]
fn series_resonant_circuit() {
    let space = symbolic(RLC);
    assert_eq!(space.states, ["c.q", "L.p"]);
    assert_matrix(&space, &space.a, "0, 1/L; -1/c, -r/L");
    assert_matrix(&space, &space.b, "0; 1");
    assert_matrix(&space, &space.c, "0, r/L; 0, 1/L");
    assert_matrix(&space, &space.d, "0; 0");
    let numbers = numeric(RLC);
    assert_eq!(numbers.a, [[0.0, 1e3], [-1e6, -1e6]]);
    assert_eq!(numbers.c, [[0.0, 1e6], [0.0, 1e3]]);
}

#[test]
fn two_inertias_at_one_junction_are_one_state() {
    let text = "Se E -> 1 v -> I I1, I I2\noutput I2.e, I2.p, v.f";
    let space = symbolic(text);
    assert_eq!(space.states, ["I1.p"]);
    assert_eq!(space.dependent[0].name, "I2.p");
    assert_eq!(space.dependent[0].of_states[0], function(&space, "I2/I1"));
    assert_matrix(&space, &space.a, "0");
    assert_matrix(&space, &space.b, "I1/(I1 + I2)");
    assert_matrix(&space, &space.c, "0; I2/I1; 1/I1");
    assert_matrix(&space, &space.d, "I2/(I1 + I2); 0; 0");
    let shown = messages(text);
    assert!(shown.contains("path: I I1 → 1 v → I I2"), "{shown}");
}

#[test]
fn resistors_alone_have_outputs_only() {
    let space = symbolic("Se U0 -> 1 i -> R R1, R R2\noutput R1.e, R1.f, R2.e, R2.f");
    assert!(space.states.is_empty() && space.a.is_empty() && space.b.is_empty());
    assert_matrix(&space, &space.d, "R1/(R1 + R2); 1/(R1 + R2); R2/(R1 + R2); 1/(R1 + R2)");
    assert_eq!(texts(&space, &space.d), "R1/(R1 + R2); 1/(R1 + R2); R2/(R1 + R2); 1/(R1 + R2)");
}

#[test]
fn chained_junctions_with_a_loop() {
    let text = "Se u0 -> 1 a -> R R1\na -> 1 b -> R R2, C C3";
    let space = symbolic(text);
    assert_matrix(&space, &space.a, "-1/(C3*(R1 + R2))");
    assert_matrix(&space, &space.b, "1/(R1 + R2)");
    assert_eq!(texts(&space, &space.a), "-1/((R1 + R2)*C3)".replace("(R1 + R2)*C3", "C3*(R1 + R2)"));
    assert!(messages(text).contains("algebraic-loop"));
    let (graph, _) = good(text);
    assert_eq!(
        Simplification::new(&graph).print(),
        "1. `a` and `b` are chained 1-junctions: one junction `a` (5 elements, 4 bonds)\n"
    );
}

#[test]
fn strokes_of_the_user_change_nothing() {
    let graph = |arrows: [&str; 4]| {
        format!(
            "Se U {} 1 i\ni {} I L\ni {} C c\ni {} R r\noutput r.e, c.e",
            arrows[0], arrows[1], arrows[2], arrows[3]
        )
    };
    let plain = symbolic(&graph(["->"; 4]));
    let choices = ["->", "->|", "|->"];
    for number in 0..81 {
        let arrows = [number / 27, number / 9 % 3, number / 3 % 3, number % 3].map(|choice| choices[choice]);
        let text = graph(arrows);
        let space = symbolic(&text);
        assert_eq!((&space.a, &space.b, &space.c, &space.d), (&plain.a, &plain.b, &plain.c, &plain.d), "{text}");
        // Right are: effort into the junction, out of it to L, into it from c and r.
        let right = ["->|", "->|", "|->", "|->"];
        let wrong = arrows.iter().zip(right).filter(|(given, right)| **given != "->" && *given != right).count();
        assert_eq!(messages(&text).matches("corrected-stroke").count(), wrong, "{text}");
    }
}

#[test]
fn sources_at_any_junction() {
    // An effort at a 0-junction and a flow at a 1-junction set the common variable.
    let space = symbolic("Se U -> 0 n -> R r, C c\noutput r.f, U.f");
    assert!(space.states.is_empty());
    assert_matrix(&space, &space.d, "1/r; 1/r");
    assert_matrix(&space, &space.d_rate, "0; c");
    assert_eq!(space.dependent[0].name, "c.q");
    let space = symbolic("Sf v -> 1 j -> R r, C c\noutput r.e");
    assert_eq!(space.states, ["c.q"]);
    assert_matrix(&space, &space.d, "r");
    assert_matrix(&space, &space.b, "1");
}

#[test]
fn sources_directly_at_sinks() {
    let space = symbolic("Se U -> R r\noutput r.f");
    assert_matrix(&space, &space.d, "1/r");
    let space = symbolic("Se U -> I L\noutput L.f");
    assert_matrix(&space, &space.b, "1");
    assert_matrix(&space, &space.c, "1/L");
    let space = symbolic("Se U -> TF n -> R r\noutput r.f, U.f");
    assert_matrix(&space, &space.d, "1/(n*r); 1/(n^2*r)");
}

#[test]
fn many_inputs_at_one_junction() {
    let space = symbolic("Se a -> 1 j\nSe b -> j\nSe c -> j\nj -> I m\nj -> R r\noutput m.f");
    assert_eq!(space.inputs, ["a", "b", "c"]);
    assert_matrix(&space, &space.b, "1, 1, 1");
}

#[test]
fn gyrator_of_a_motor() {
    let space = symbolic("Se U -> 1 i -> R Ra, I La\ni -> GY k -> 1 w -> I J, R b\noutput w.f, i.f");
    assert_eq!(space.states, ["La.p", "J.p"]);
    assert_matrix(&space, &space.a, "-Ra/La, -k/J; k/La, -b/J");
    assert_matrix(&space, &space.b, "1; 0");
    assert_matrix(&space, &space.c, "0, 1/J; 1/La, 0");
}

#[test]
fn controlled_sources_active_bonds_and_signals() {
    // An amplifier: the effort of the first junction drives the second circuit and takes nothing from it.
    let space = symbolic("Se U -> 1 i -> R R1\ni -> 0 n -> C c\nn => 1 out -> R R2\noutput R2.f, c.e, out.f");
    assert_matrix(&space, &space.a, "-1/(R1*c)");
    assert_matrix(&space, &space.c, "1/(c*R2); 1/c; 1/(c*R2)");
    // The same with a controlled source and a named signal.
    let space = symbolic("parameter g\nSe U -> 1 i -> R R1, C c\nsignal s = g*c.e\nMSe A = s\nA -> R R2\noutput R2.f");
    assert_matrix(&space, &space.c, "g/(c*R2)");
    // Feedback: u = -K*x.
    let space = symbolic("parameter K\nMSe F = -K*m.f\nF -> 1 v -> I m");
    assert_matrix(&space, &space.a, "-K/m");
}

#[test]
fn subgraphs_with_masks() {
    let space = symbolic(
        "subgraph Motor(R, L, k)
           port supply, shaft
           1 i
           supply -> i -> R Ra = R, I La = L
           i -> GY K = k -> shaft
         end Motor
         parameter r
         Se U -> 0 bus
         Motor left(R = 2*r)
         Motor right
         bus -> left.supply, right.supply
         left.shaft -> 1 w -> I J
         right.shaft -> w
         output w.f, left.La.f",
    );
    assert_eq!(space.states, ["left.La.p", "right.La.p", "J.p"]);
    let a = texts(&space, &space.a);
    assert_eq!(a, "-2*r/left.L, 0, -left.k/J; 0, -right.R/right.L, -right.k/J; left.k/left.L, right.k/right.L, 0");
}

#[test]
fn fields() {
    // A transformer with losses: two coupled inductors.
    let space = symbolic(
        "parameter L1\nparameter L2\nparameter M\nI T[2] = [L1, M; M, L2]\nSe U -> 1 a -> T[1]\n1 b -> T[2]\nb -> R r\noutput T[2].f",
    );
    assert_eq!(space.states, ["T[1].p", "T[2].p"]);
    assert_matrix(&space, &space.a, "0, 0; M*r/(L1*L2 - M^2), -L1*r/(L1*L2 - M^2)");
    // The same written as equations.
    let again = symbolic(
        "parameter L1\nparameter L2\nparameter M\nI T[2]: p[1] = L1*f[1] + M*f[2], p[2] = M*f[1] + L2*f[2]\nSe U -> 1 a -> T[1]\n1 b -> T[2]\nb -> R r\noutput T[2].f",
    );
    assert_eq!(space.a, again.a);
}

#[test]
fn switched_junctions_have_modes() {
    let (graph, _) = good("Se U -> 1 s on when U > 0\ns -> 0 n -> R r, C c\noutput s.f");
    let junction = graph.element_named("s").unwrap();
    for (off, expected) in [(false, "dependent"), (true, "state")] {
        let mode = bond::Mode { off: if off { vec![junction] } else { Vec::new() } };
        let (causality, _) = bond::Causality::assign(&graph, &mode);
        let causality = causality.unwrap();
        assert_eq!(causality.states.len(), usize::from(expected == "state"));
        let space = StateSpace::symbolic(&graph, &causality).unwrap();
        if off {
            assert_matrix(&space, &space.a, "-1/(r*c)");
            assert_matrix(&space, &space.b, "0");
        } else {
            assert_matrix(&space, &space.d, "1/r");
        }
    }
}

#[test]
fn nonlinear_laws() {
    let (graph, causality) =
        good("parameter k = 2\nSe F = 8 -> 1 v -> I m = 1\nR d: e = k*f*abs(f)\nv -> d\noutput v.f, P = d.e*d.f");
    let equations = bond::Equations::new(&graph, &causality).unwrap();
    expect_test::expect![[r#"
        der(m.p) = F - k*m.p/m*abs(m.p/m)
        v.f = m.p/m
        P = k*m.p/m*abs(m.p/m)*m.p/m"#]]
    .assert_eq(&equations.print(&graph));
    let numbers = bond::Numbers::new(&graph, &[]).unwrap();
    // At the steady speed 2.
    let at = equations.linearise(&graph, &numbers, &[2.0], &[8.0], 0.0).unwrap();
    assert_eq!((at.space.a[0][0], at.space.b[0][0], at.derivatives[0]), (-8.0, 1.0, 0.0));
    assert_eq!((at.outputs[0], at.outputs[1], at.space.c[1][0]), (2.0, 16.0, 24.0));
}

#[test]
fn implicit_laws_are_linearised_through() {
    // Flow through two valves in series: no law gives the pressure between them explicitly.
    let (graph, causality) =
        good("Se p = 2\n1 q\nR a: e = f + f^3\nR b: e = 2*f\nC c = 1\np -> q -> a, b, c\noutput q.f");
    let equations = bond::Equations::new(&graph, &causality).unwrap();
    assert_eq!(equations.implicit.len(), 1, "{}", equations.print(&graph));
    let numbers = bond::Numbers::new(&graph, &[]).unwrap();
    // f + f³ + 2f = 2 - q; at q = -2: f = 1, slope 3 + 3f² = 6.
    let at = equations.linearise(&graph, &numbers, &[-2.0], &[2.0], 0.0).unwrap();
    let close = |one: f64, other: f64| (one - other).abs() < 1e-10;
    assert!(close(at.derivatives[0], 1.0) && close(at.space.a[0][0], -1.0 / 6.0) && close(at.space.b[0][0], 1.0 / 6.0));
}

#[test]
fn dependent_storage_with_a_modulated_transformer() {
    // A crank: the inertia J drives the mass m by a ratio that the angle gives; their sum depends on it.
    let (graph, causality) = good(
        "Se M = 1 -> 1 w -> I J = 2\nC angle = 1e9\nw -> angle\nMTF crank = cos(angle.q)\nw -> crank -> 1 v -> I m = 3\noutput v.f",
    );
    let equations = bond::Equations::new(&graph, &causality).unwrap();
    let numbers = bond::Numbers::new(&graph, &[]).unwrap();
    // At angle 0 and rest: all of M accelerates J + m·cos²: ṗ = M·J/(J + m).
    let at = equations.linearise(&graph, &numbers, &[0.0, 0.0], &[1.0], 0.0).unwrap();
    assert_eq!(at.space.states, ["J.p", "angle.q"]);
    assert!((at.derivatives[0] - 0.4).abs() < 1e-12, "{}", equations.print(&graph));
}

/// A square mesh of resistors: its determinant counts spanning trees.
fn mesh(size: usize) -> String {
    let mut text = String::from("Se U -> 1 i -> R R0\ni -> C c\n");
    for row in 0..size {
        for column in 0..size {
            text += &format!("0 n{row}_{column}\n");
        }
    }
    text += "i -> n0_0\n";
    for row in 0..size {
        for column in 0..size {
            if column + 1 < size {
                text += &format!(
                    "n{row}_{column} -> 1 h{row}_{column} -> n{row}_{}\nh{row}_{column} -> R Rh{row}_{column}\n",
                    column + 1
                );
            }
            if row + 1 < size {
                text += &format!(
                    "n{row}_{column} -> 1 v{row}_{column} -> n{}_{column}\nv{row}_{column} -> R Rv{row}_{column}\n",
                    row + 1
                );
            }
        }
    }
    text + &format!("n{0}_{0} -> R load\noutput load.e", size - 1)
}

#[test]
fn meshes_of_resistors() {
    let space = symbolic(&mesh(2));
    // Two ways in parallel: (a + b)(c + d)/(a + b + c + d), in series with R0 and the load.
    let around = "((Rh0_0 + Rv0_1)*(Rv0_0 + Rh1_0)/(Rh0_0 + Rv0_1 + Rv0_0 + Rh1_0))";
    assert_matrix(&space, &space.a, &format!("-1/(c*(R0 + load + {around}))"));
    let (graph, causality) = good(&mesh(6));
    assert_eq!(StateSpace::symbolic(&graph, &causality).unwrap_err().code, "too-large");
}
