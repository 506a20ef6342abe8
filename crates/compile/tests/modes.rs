//! A mode that is made after others, with what is known from them, is the one that is made from nothing.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::sync::Arc;

use compile::{Commons, Failure, Memory, Program, SystemId};
use proptest::prelude::*;
use transform::modes::{Entry, Modes};

/// A resistor, inductor, capacitor, source or switch between two nodes.
#[derive(Clone, Debug)]
struct Element {
    kind: char,
    from: usize,
    to: usize,
}

fn element(kinds: &'static [char]) -> impl Strategy<Value = Element> {
    let ends = (0..4usize, 1..4usize).prop_map(|(from, distance)| (from, (from + distance) % 4));
    (proptest::sample::select(kinds), ends).prop_map(|(kind, (from, to))| Element { kind, from, to })
}

fn networks() -> impl Strategy<Value = Vec<Element>> {
    let others = proptest::collection::vec(element(&['R', 'R', 'L', 'C', 'V']), 4..8);
    let switches = proptest::collection::vec(element(&['S']), 2..4);
    (others, switches).prop_map(|(others, switches)| others.into_iter().chain(switches).collect())
}

fn text(network: &[Element]) -> String {
    let mut text = String::new();
    let potential = |node: usize| if node == 0 { "0".to_string() } else { format!("u{node}") };
    for (k, Element { kind, from, to }) in network.iter().enumerate() {
        let size = k + 2;
        let _ = match kind {
            'R' => writeln!(text, "v{k} = {size}*i{k}"),
            'L' => writeln!(text, "v{k} = {size}*der(i{k})"),
            'C' => writeln!(text, "i{k} = {size}*der(v{k})"),
            'V' => writeln!(text, "v{k} = sin({size}*time)"),
            _ => writeln!(text, "Boolean closed{k}\nclosed{k} = time > {size}\n0 = if closed{k} then v{k} else i{k}"),
        };
        let _ = writeln!(text, "v{k} = {} - {}", potential(*from), potential(*to));
    }
    for node in 1..4 {
        let _ = write!(text, "0 = 0");
        for (k, element) in network.iter().enumerate() {
            let _ = match node {
                _ if node == element.from => write!(text, " + i{k}"),
                _ if node == element.to => write!(text, " - i{k}"),
                _ => Ok(()),
            };
        }
        text.push('\n');
    }
    text
}

fn modes(text: &str) -> Option<Arc<Modes>> {
    let model = dae::testing::model(text).unwrap();
    let schedule = transform::transform(model, &transform::Options::default()).ok()?;
    schedule.modes.clone().or(schedule.mode.map(|mode| mode.modes.clone()))
}

/// The values of all variables where each state has the value that belongs to its name; `None` where there are none.
fn values(program: &Program) -> Option<Vec<(String, f64)>> {
    let mut memory = program.memory();
    memory.set_time(0.4);
    memory.set_live(true);
    let mut solve = |system: SystemId, memory: &mut Memory| solve_linear(program, system, memory);
    program.run(&program.sections.parameters, &mut memory, &mut solve).ok()?;
    let model = program.model();
    for state in &program.states {
        let name = model.variable_name(state.variable);
        let value = name.bytes().fold(0.3, |sum, byte| (sum * 1.7 + f64::from(byte)) % 3.0);
        program.set_value(&mut memory, state.variable, value);
    }
    program.run(&program.sections.events, &mut memory, &mut solve).ok()?;
    let in_use = model.variables.iter().filter(|(_, variable)| !variable.hidden);
    let values: Vec<(String, f64)> =
        in_use.map(|(id, _)| (model.variable_name(id), program.value(&memory, id))).collect();
    values.iter().all(|(_, value)| value.is_finite() && value.abs() < 1e6).then_some(values)
}

/// Elimination with pivoting over residuals at zero and at unit vectors.
fn solve_linear(program: &Program, system: SystemId, memory: &mut Memory) -> Result<(), Failure> {
    let slots = program.systems[system].slots.clone();
    let size = slots.len();
    let mut residuals = vec![0.0; size];
    slots.iter().for_each(|&slot| memory.values[slot as usize] = 0.0);
    program.residuals(system, memory, &mut residuals)?;
    let offset = residuals.clone();
    let mut rows = vec![vec![0.0; size + 1]; size];
    for (column, &slot) in slots.iter().enumerate() {
        memory.values[slot as usize] = 1.0;
        program.residuals(system, memory, &mut residuals)?;
        memory.values[slot as usize] = 0.0;
        (0..size).for_each(|row| rows[row][column] = residuals[row] - offset[row]);
    }
    (0..size).for_each(|row| rows[row][size] = -offset[row]);
    for column in 0..size {
        let best = (column..size).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs())).unwrap();
        rows.swap(column, best);
        let pivot = rows[column].clone();
        for row in (0..size).filter(|&row| row != column) {
            let factor = rows[row][column] / pivot[column];
            rows[row].iter_mut().zip(&pivot).for_each(|(x, y)| *x -= factor * y);
        }
    }
    for (row, &slot) in slots.iter().enumerate() {
        memory.values[slot as usize] = rows[row][size] / rows[row][row];
    }
    program.residuals(system, memory, &mut residuals)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn modes_made_after_others_are_those_made_from_nothing(
        network in networks(),
        visits in proptest::collection::vec(any::<[bool; 4]>(), 4),
    ) {
        let text = text(&network);
        let Some(shared) = modes(&text) else { return Ok(()) };
        let commons = Commons::default();
        for visit in visits {
            let key = &visit[..shared.conditions().len()];
            let known = shared.schedule(key, Entry::Running);
            let fresh = modes(&text).unwrap().schedule(key, Entry::Running);
            prop_assert_eq!(known.is_ok(), fresh.is_ok(), "{} in {:?}", &text, key);
            let (Ok(known), Ok(fresh)) = (known, fresh) else { continue };
            prop_assert_eq!(known.summary.differentiated.len(), fresh.summary.differentiated.len());
            let (known, fresh) = (Program::of_mode(known, &commons).unwrap(), Program::new(fresh).unwrap());
            prop_assert_eq!(known.states.len(), fresh.states.len());
            let (Some(expected), Some(found)) = (values(&fresh), values(&known)) else { continue };
            for (name, value) in &found {
                let Some((_, other)) = expected.iter().find(|(known, _)| known == name) else { continue };
                let close = (value - other).abs() <= 1e-8 * (1.0 + other.abs());
                prop_assert!(close, "{name} is {value}, not {other} in {key:?} of\n{text}");
            }
            known.compile();
            prop_assert_eq!(values(&known), Some(found), "machine code");
        }
    }
}

/// Two modes that differ in one of two separate circuits: the code of the other one is there already.
#[test]
fn machine_code_of_what_is_equal_is_made_once() {
    let circuit = |k: usize| {
        format!(
            "Boolean open{k}\nopen{k} = time > {k}\nv{k} = sin({k}*time)\n0.1*der(i{k}) = v{k} - u{k} - i{k}\n\
             w{k} = if open{k} then i{k} else u{k}\nw{k} = 0\n"
        )
    };
    let text: String = (1..=2).map(circuit).collect();
    let modes = modes(&text).unwrap();
    let commons = Commons::default();
    let made = |key: &[bool]| Program::of_mode(modes.schedule(key, Entry::Running).unwrap(), &commons).unwrap();
    let first = made(&[false, false]);
    first.compile();
    assert!(first.is_compiled());
    assert!(made(&[false, false]).is_compiled());
    assert!(!made(&[true, false]).is_compiled());
}
