//! Which systems are torn and which go whole to a solver.

mod show;

use std::fmt::Write as _;

use show::schedule;
use transform::{Block, EquationSystem, Schedule};

fn only_system(schedule: &Schedule) -> &EquationSystem {
    let mut systems = schedule.blocks.iter().filter_map(|block| match block {
        Block::System { system, .. } => Some(system),
        Block::Assign { .. } => None,
    });
    let system = systems.next().expect("a system");
    assert!(systems.next().is_none());
    system
}

/// The temperatures of a plate in balance: each is the mean of its neighbours.
fn plate(size: usize) -> String {
    let mut text = String::from("der(s) = -v[2,2]\n");
    for i in 1..=size {
        for j in 1..=size {
            let _ = writeln!(
                text,
                "4*v[{i},{j}] = v[{},{j}] + v[{},{j}] + v[{i},{}] + v[{i},{}] + {}",
                i - 1,
                i + 1,
                j - 1,
                j + 1,
                if i == j { "s" } else { "0" }
            );
        }
        for edge in [format!("0,{i}"), format!("{},{i}", size + 1), format!("{i},0"), format!("{i},{}", size + 1)] {
            let _ = writeln!(text, "v[{edge}] = 0");
        }
    }
    text
}

#[test]
fn errors_must_not_grow_on_the_way() {
    // Row by row, an error of a guess would be multiplied by nearly four: harmless over a few rows, not over thirty.
    let small = schedule(&plate(6));
    assert_eq!((only_system(&small).unknowns.len(), only_system(&small).iteration.len()), (36, 6));
    let large = schedule(&plate(30));
    let system = only_system(&large);
    assert_eq!((system.unknowns.len(), system.iteration.len(), system.inner.len()), (900, 900, 0));
    // Each unknown stands beside its own equation, in which its factor is four.
    for (&unknown, &equation) in system.iteration.iter().zip(&system.residual_equations) {
        let (name, text) = (large.model.variable_name(unknown), large.model.equation_text(equation));
        assert!(text.starts_with(&format!("4*{name} = ")), "{name} by {text}");
    }
}

#[test]
fn large_numbers_are_no_growth() {
    // Units far from one, but every value follows from the one guess by a constant factor.
    let mut text = String::from("der(x) = f[1]\np[0] = x - f[1]\n");
    for k in 1..=40 {
        let _ = writeln!(text, "q[{k}] = 1e9*p[{}]\np[{k}] = 1e-9*q[{k}] + x\nf[{k}] = f[{}]*0.9", k - 1, k + 1);
    }
    text.push_str("f[41] = 1e-6*p[40]\n");
    let schedule = schedule(&text);
    assert_eq!(only_system(&schedule).iteration.len(), 1);
}
