//! Property tests on random expressions: machine code agrees with the interpreter, tangents with differences.

use dae::{Builtin, CompareOp, ExprId, Node, VarId};
use proptest::prelude::*;
use transform::{Role, Timing};

use crate::testing::ScheduleBuilder;
use crate::*;

/// One random node: an operation and two operands among the nodes before it.
type Choice = (u8, u16, u16, u16);

const STATES: usize = 3;

/// A program der(x_k) = a random expression, over bounded smooth functions and choices by time; rough ones also over
/// what jumps, fails or makes events.
fn program(choices: &[Choice], rough: bool) -> (Program, Vec<VarId>) {
    let mut m = ScheduleBuilder::new();
    let states = equations(&mut m, choices, rough);
    (Program::new(m.schedule).unwrap(), states)
}

fn equations(m: &mut ScheduleBuilder, choices: &[Choice], rough: bool) -> Vec<VarId> {
    let pairs: Vec<_> = (0..STATES).map(|k| m.state(&format!("x{k}"), 0.0)).collect();
    let mut pool: Vec<ExprId> = pairs.iter().map(|pair| m.var(pair.0)).collect();
    let p = m.real("p", Role::Parameter, 0.7);
    pool.extend([m.var(p), m.number(1.5), m.number(-0.25), m.node(Node::Time)]);
    let (one, half) = (m.number(1.0), m.number(0.5));
    for &(op, a, b, c) in choices {
        let pick = |index: u16| pool[index as usize % pool.len()];
        let (a, b, c) = (pick(a), pick(b), pick(c));
        let node = match op % if rough { 32 } else { 16 } {
            0 => m.add(a, b),
            1 => m.sub(a, b),
            2 => {
                let sine = m.builtin(Builtin::Sin, &[a]);
                m.mul(sine, b)
            }
            3 => {
                let square = m.mul(a, a);
                let below = m.add(one, square);
                m.node(Node::Div(b, below))
            }
            4 => m.builtin(Builtin::Tanh, &[a]),
            5 => m.builtin(Builtin::Cos, &[a]),
            6 => m.builtin(Builtin::Atan, &[a]),
            7 => {
                let square = m.mul(a, a);
                let positive = m.add(half, square);
                m.builtin(Builtin::Sqrt, &[positive])
            }
            8 => {
                let square = m.mul(a, a);
                let positive = m.add(one, square);
                let log = m.builtin(Builtin::Log, &[positive]);
                m.mul(log, b)
            }
            9 | 10 => {
                let time = m.node(Node::Time);
                let condition = m.compare(CompareOp::Less, false, time, if op % 16 == 9 { half } else { one });
                m.choice(condition, b, c)
            }
            11 => {
                // Dear branches with a shared part.
                let time = m.node(Node::Time);
                let condition = m.compare(CompareOp::Greater, false, time, half);
                let (x, y) = (m.builtin(Builtin::Sin, &[b]), m.builtin(Builtin::Cos, &[c]));
                let (then, otherwise) = (m.mul(x, a), m.add(x, y));
                m.choice(condition, then, otherwise)
            }
            12 => m.node(Node::Neg(a)),
            13 => {
                let square = m.mul(a, a);
                let base = m.add(half, square);
                let bounded = m.builtin(Builtin::Tanh, &[b]);
                m.node(Node::Pow(base, bounded))
            }
            14 => {
                let square = m.mul(b, b);
                let below = m.add(half, square);
                m.builtin(Builtin::Atan2, &[a, below])
            }
            15 => {
                let bounded = m.builtin(Builtin::Tanh, &[a]);
                m.builtin(Builtin::Exp, &[bounded])
            }
            16 => m.builtin(Builtin::Min, &[a, b]),
            17 => m.builtin(Builtin::Max, &[a, b]),
            18 => m.builtin(Builtin::Sign, &[a]),
            19 => m.builtin(Builtin::Abs, &[a]),
            20 => m.builtin(Builtin::Floor, &[a]),
            21 => m.builtin(Builtin::Mod, &[a, b]),
            22 => m.builtin(Builtin::FloorEvent, &[a]),
            23 => m.builtin(Builtin::RemEvent, &[a, b]),
            24 => m.compare(CompareOp::GreaterEqual, true, a, b),
            25 => m.compare(CompareOp::NotEqual, false, a, b),
            26 => m.node(Node::And(a, b)),
            27 => {
                let not = m.node(Node::Not(a));
                m.node(Node::Or(not, b))
            }
            28 => m.builtin(Builtin::Log, &[a]),
            29 => m.builtin(Builtin::SemiLinear, &[a, b, c]),
            30 => m.choice(a, b, c),
            _ => {
                let condition = m.compare(CompareOp::Less, true, a, b);
                let then = m.builtin(Builtin::Sqrt, &[c]);
                let otherwise = m.node(Node::Pow(a, c));
                m.choice(condition, then, otherwise)
            }
        };
        pool.push(node);
    }
    let end = pool.len();
    for (k, &(_, derivative)) in pairs.iter().enumerate() {
        m.assign(derivative, pool[end - 1 - k], Timing::Continuous);
    }
    pairs.iter().map(|pair| pair.0).collect()
}

fn derivatives(program: &Program, memory: &mut Memory, states: &[f64]) -> Option<Vec<f64>> {
    program.write_states(memory, states);
    let run = program.run(&program.sections.dynamics, memory, &mut |_, _| Ok::<(), Failure>(()));
    let mut out = vec![0.0; STATES];
    program.read_derivatives(memory, &mut out);
    run.ok().map(|()| out)
}

/// All NaNs are one.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| if value.is_nan() { 0x7ff8 << 48 } else { value.to_bits() }).collect()
}

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    proptest::collection::vec(any::<Choice>(), 3..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn machine_code_agrees_with_the_interpreter(
        choices in choices(),
        x in proptest::array::uniform3(-2.0..2.0f64),
        time in 0.0..1.5f64,
    ) {
        let (program, _) = program(&choices, true);
        let mut memory = program.memory();
        memory.set_time(time);
        memory.set_live(true);
        let mut solve = |_: SystemId, _: &mut Memory, _: &mut [f64]| Ok::<(), Failure>(());
        let mut evaluate = || {
            program.write_states(&mut memory, &x.map(|x| -x));
            let section = &program.sections.events;
            let _ = program.run(section, &mut memory, &mut |_, _| Ok::<(), Failure>(()));
            program.update_relations(&mut memory);
            let values = derivatives(&program, &mut memory, &x);
            let mut crossings = vec![0.0; program.roots.len()];
            program.crossings(&mut memory, &mut crossings);
            let mut entries = vec![0.0; program.ode_pattern.entries()];
            program.ode_jacobian(&mut memory, &mut entries, &mut solve).unwrap();
            (values.map(|v| bits(&v)), bits(&entries), bits(&crossings))
        };
        let interpreted = evaluate();
        program.compile();
        prop_assert!(program.is_compiled());
        prop_assert_eq!(interpreted, evaluate());
    }

    #[test]
    fn tangents_agree_with_differences(
        choices in choices(),
        x in proptest::array::uniform3(-1.0..1.0f64),
        time in 0.0..1.5f64,
    ) {
        let (program, _) = program(&choices, false);
        let mut memory = program.memory();
        memory.set_time(time);
        let Some(here) = derivatives(&program, &mut memory, &x) else { return Ok(()) };
        let mut entries = vec![0.0; program.ode_pattern.entries()];
        let mut solve = |_: SystemId, _: &mut Memory, _: &mut [f64]| Ok::<(), Failure>(());
        program.ode_jacobian(&mut memory, &mut entries, &mut solve).unwrap();
        // What does not change is the same elsewhere, at another time.
        memory.set_time(time + 0.7);
        if derivatives(&program, &mut memory, &x.map(|x| 0.9 - x)).is_some() {
            let (mut renewed, mut all) = (entries.clone(), entries.clone());
            program.ode_jacobian(&mut memory, &mut all, &mut solve).unwrap();
            program.renew_ode_jacobian(&mut memory, &mut renewed, &mut solve).unwrap();
            for (renewed, all) in renewed.iter().zip(&all) {
                prop_assert!((renewed - all).abs() <= 1e-12 * all.abs() || !all.is_finite(), "{renewed} {all}");
            }
        }
        memory.set_time(time);
        let mut full = [0.0; STATES * STATES];
        for column in 0..STATES {
            let start = program.ode_pattern.column_starts[column] as usize;
            for (k, &row) in program.ode_pattern.column(column).iter().enumerate() {
                full[column * STATES + row as usize] = entries[start + k];
            }
        }
        let h = 1e-5;
        for column in 0..STATES {
            let at = |shift: f64, memory: &mut Memory| {
                let mut y = x;
                y[column] += shift;
                derivatives(&program, memory, &y)
            };
            let (Some(a), Some(b)) = (at(-h, &mut memory), at(h, &mut memory)) else { continue };
            for row in 0..STATES {
                let (exact, difference) = (full[column * STATES + row], (b[row] - a[row]) / (2.0 * h));
                // Deep products grow; differences then say little.
                if here[row].abs() < 1e3 && exact.abs() < 1e3 {
                    let bound = 1e-3 * (1.0 + exact.abs() + here[row].abs());
                    prop_assert!((exact - difference).abs() < bound, "{row} {column}: {exact} {difference}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn members_of_a_family_are_evaluated_like_single_equations(
        choices in choices(),
        x in proptest::array::uniform3(-2.0..2.0f64),
        time in 0.0..1.5f64,
    ) {
        const COPIES: usize = 70;
        let (single, _) = program(&choices, true);
        let mut m = ScheduleBuilder::new();
        (0..COPIES).for_each(|_| drop(equations(&mut m, &choices, true)));
        let many = Program::new(m.schedule).unwrap();
        let mut solve = |_: SystemId, _: &mut Memory, _: &mut [f64]| Ok::<(), Failure>(());
        let mut evaluate = |program: &Program, copies: usize| {
            let mut memory = program.memory();
            memory.set_time(time);
            program.write_states(&mut memory, &x.repeat(copies));
            let run = program.run(&program.sections.dynamics, &mut memory, &mut |_, _| Ok::<(), Failure>(()));
            let mut values = vec![0.0; STATES * copies];
            program.read_derivatives(&memory, &mut values);
            let mut entries = vec![0.0; program.ode_pattern.entries()];
            program.ode_jacobian(&mut memory, &mut entries, &mut solve).unwrap();
            // What fails stops at the first bad result; which one that is depends on the order.
            run.ok().map(|()| (bits(&values), bits(&entries)))
        };
        let expected = evaluate(&single, 1).map(|(values, entries)| (values.repeat(COPIES), entries.repeat(COPIES)));
        prop_assert_eq!(&expected, &evaluate(&many, COPIES));
        many.compile();
        prop_assert!(many.is_compiled());
        prop_assert_eq!(&expected, &evaluate(&many, COPIES));
    }
}
