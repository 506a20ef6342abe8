//! Programs from schedules made by hand, run by the interpreter.

use dae::{Builtin, CompareOp, Node, VariableType};
use transform::{Role, Timing};

use crate::testing::Maker;
use crate::*;

fn no_systems(_: SystemId, _: &mut Memory) -> Result<(), Failure> {
    Ok(())
}

#[test]
fn right_hand_side_of_an_oscillator() {
    let mut m = Maker::new();
    let (x, der_x) = m.state("x", 1.0);
    let (v, der_v) = m.state("v", 0.5);
    let k = m.real("k", Role::Parameter, 4.0);
    let (ev, ex, ek) = (m.var(v), m.var(x), m.var(k));
    m.assign(der_x, ev, Timing::Continuous);
    let product = m.mul(ek, ex);
    let force = m.node(Node::Neg(product));
    m.assign(der_v, force, Timing::Continuous);
    let program = Program::new(m.schedule).unwrap();
    let mut memory = program.memory();
    program.write_states(&mut memory, &[2.0, 3.0]);
    program.run(&program.sections.dynamics, &mut memory, &mut no_systems).unwrap();
    let mut derivatives = [0.0; 2];
    program.read_derivatives(&memory, &mut derivatives);
    assert_eq!(derivatives, [3.0, -8.0]);
}

#[test]
fn relations_are_frozen_between_events() {
    let mut m = Maker::new();
    let (x, der_x) = m.state("x", 1.0);
    let (ex, zero, one, minus) = (m.var(x), m.number(0.0), m.number(1.0), m.number(-1.0));
    let positive = m.compare(CompareOp::Greater, true, ex, zero);
    let value = m.choice(positive, minus, one);
    m.assign(der_x, value, Timing::Continuous);
    let program = Program::new(m.schedule).unwrap();
    let mut memory = program.memory();
    let mut derivative = [0.0];
    let mut evaluate = |x: f64, live: bool, memory: &mut Memory| {
        memory.set_live(live);
        program.write_states(memory, &[x]);
        let section = if live { &program.sections.events } else { &program.sections.dynamics };
        program.run(section, memory, &mut no_systems).unwrap();
        program.read_derivatives(memory, &mut derivative);
        derivative[0]
    };
    assert_eq!(evaluate(1.0, true, &mut memory), -1.0);
    assert_eq!(evaluate(-1.0, false, &mut memory), -1.0);
    let mut crossings = [0.0];
    program.crossings(&mut memory, &mut crossings);
    assert_eq!(crossings, [-1.0]);
    assert_eq!(evaluate(-1.0, true, &mut memory), 1.0);
    assert_eq!(memory.values[program.layout.relations.values().next().unwrap().state as usize], -1.0);
}

#[test]
fn a_failing_operation_is_named() {
    let mut m = Maker::new();
    let (x, der_x) = m.state("x", -4.0);
    let (ex, one) = (m.var(x), m.number(1.0));
    let root = m.builtin(Builtin::Sqrt, &[ex]);
    let value = m.add(root, one);
    m.assign(der_x, value, Timing::Continuous);
    let program = Program::new(m.schedule).unwrap();
    let mut memory = program.memory();
    let failure = program.run(&program.sections.dynamics, &mut memory, &mut no_systems).unwrap_err();
    assert_eq!(failure.diagnostic(program.model()).message, "sqrt(-4) has no finite value, when der_x was computed");
}

#[test]
fn dear_branches_are_lazy_and_shared_parts_are_computed_once() {
    let mut m = Maker::new();
    let (x, der_x) = m.state("x", -4.0);
    let (ex, one, zero) = (m.var(x), m.number(1.0), m.number(0.0));
    let condition = m.compare(CompareOp::Greater, false, ex, zero);
    let logarithm = m.builtin(Builtin::Log, &[ex]);
    let sine = m.builtin(Builtin::Sin, &[ex]);
    let then = m.mul(logarithm, sine);
    let otherwise = m.add(sine, one);
    let value = m.choice(condition, then, otherwise);
    m.assign(der_x, value, Timing::Continuous);
    let program = Program::new(m.schedule).unwrap();
    let Step::Code(chunk) = program.sections.dynamics[0] else { panic!() };
    let text = program.chunks[chunk].print();
    assert_eq!(text.matches("sin").count(), 1, "{text}");
    assert!(text.find("sin").unwrap() < text.find("if").unwrap(), "{text}");
    assert!(text.find("log").unwrap() > text.find("if").unwrap(), "{text}");
    let mut memory = program.memory();
    program.run(&program.sections.dynamics, &mut memory, &mut no_systems).unwrap();
    assert_eq!(program.value(&memory, der_x), (-4f64).sin() + 1.0);
}

#[test]
fn a_negated_alias_reads_and_writes_through_its_target() {
    let mut m = Maker::new();
    let y = m.real("y", Role::Algebraic, 0.0);
    let z = m.variable("z", VariableType::Real, Role::Alias { of: y, negated: true }, None);
    let w = m.real("w", Role::Algebraic, 0.0);
    let (time, ez) = (m.node(Node::Time), m.var(z));
    m.assign(y, time, Timing::Continuous);
    m.assign(w, ez, Timing::Continuous);
    let program = Program::new(m.schedule).unwrap();
    let mut memory = program.memory();
    memory.set_time(2.0);
    program.run(&program.sections.dynamics, &mut memory, &mut no_systems).unwrap();
    assert_eq!((program.value(&memory, z), program.value(&memory, w)), (-2.0, -2.0));
}
