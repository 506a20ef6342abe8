//! Programs from schedules made by hand, run by the interpreter.

use dae::{Builtin, CompareOp, Node, VariableType};
use transform::{Role, Timing};

use crate::testing::ScheduleBuilder;
use crate::*;

fn no_systems(_: SystemId, _: &mut Memory) -> Result<(), Failure> {
    Ok(())
}

#[test]
fn right_hand_side_of_an_oscillator() {
    let mut m = ScheduleBuilder::new();
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
    let mut m = ScheduleBuilder::new();
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
    let mut m = ScheduleBuilder::new();
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
    let mut m = ScheduleBuilder::new();
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
    let SectionStep::Code(chunk) = program.sections.dynamics[0] else { panic!() };
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
    let mut m = ScheduleBuilder::new();
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

/// Solves the system by Newton steps with the full matrix.
fn newton(program: &Program, system: SystemId, memory: &mut Memory) -> Result<(), Failure> {
    let slots = &program.systems[system].slots;
    let n = slots.len();
    let (mut residuals, mut matrix) = (vec![0.0; n], vec![0.0; n * n]);
    for _ in 0..50 {
        program.residuals(system, memory, &mut residuals)?;
        if residuals.iter().all(|r| r.abs() < 1e-14) {
            break;
        }
        program.dense_jacobian(system, memory, &mut matrix)?;
        solve_dense(&mut matrix, &mut residuals);
        for (slot, step) in slots.iter().zip(&residuals) {
            memory.values[*slot as usize] -= step;
        }
    }
    program.residuals(system, memory, &mut residuals)
}

/// Gauss elimination with pivoting, column after column.
fn solve_dense(matrix: &mut [f64], rhs: &mut [f64]) {
    let n = rhs.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| matrix[k * n + a].abs().total_cmp(&matrix[k * n + b].abs())).unwrap();
        (0..n).for_each(|column| matrix.swap(column * n + k, column * n + pivot));
        rhs.swap(k, pivot);
        for row in k + 1..n {
            let factor = matrix[k * n + row] / matrix[k * n + k];
            (k..n).for_each(|column| matrix[column * n + row] -= factor * matrix[column * n + k]);
            rhs[row] -= factor * rhs[k];
        }
    }
    for k in (0..n).rev() {
        rhs[k] /= matrix[k * n + k];
        (0..k).for_each(|row| rhs[row] -= matrix[k * n + row] * rhs[k]);
    }
}

/// der(x) = y, where z = y·y and z·y + y = x·time: an implicit function with one inner variable.
fn implicit() -> (Program, [dae::VarId; 3]) {
    let mut m = ScheduleBuilder::new();
    let (x, der_x) = m.state("x", 1.0);
    let (y, z) = (m.real("y", Role::Algebraic, 1.0), m.real("z", Role::Algebraic, 1.0));
    let (ex, ey, ez, time) = (m.var(x), m.var(y), m.var(z), m.node(Node::Time));
    let square = m.mul(ey, ey);
    let cube = m.mul(ez, ey);
    let sum = m.add(cube, ey);
    let right = m.mul(ex, time);
    let residual = m.sub(sum, right);
    m.system(transform::SystemKind::Nonlinear, &[y], &[(z, square)], &[residual]);
    m.assign(der_x, ey, Timing::Continuous);
    (Program::new(m.schedule).unwrap(), [x, y, z])
}

#[test]
fn tangents_go_through_implicit_systems() {
    let (program, [x, y, z]) = implicit();
    let mut memory = program.memory();
    memory.set_time(2.0);
    program.set_value(&mut memory, x, 5.0);
    program.run(&program.sections.dynamics, &mut memory, &mut |s, m| newton(&program, s, m)).unwrap();
    let value = program.value(&memory, y);
    assert!((value - 2.0).abs() < 1e-14 && program.value(&memory, z) == value * value);
    let mut jacobian = [0.0];
    let mut solve = |system: SystemId, memory: &mut Memory, rhs: &mut [f64]| {
        let mut matrix = [0.0];
        program.dense_jacobian(system, memory, &mut matrix)?;
        solve_dense(&mut matrix, rhs);
        Ok::<(), Failure>(())
    };
    program.ode_jacobian(&mut memory, &mut jacobian, &mut solve).unwrap();
    // (3y² + 1)·dy = time·dx
    assert!((jacobian[0] - 2.0 / 13.0).abs() < 1e-15, "{jacobian:?}");
    program.set_tangent(&mut memory, TIME, 1.0);
    program.tangents(&mut memory, &mut solve).unwrap();
    assert!((program.tangent_value(&memory, z) - 2.0 * 2.0 * 5.0 / 13.0).abs() < 1e-14);
}

#[test]
fn a_linear_system_with_constant_coefficients_has_a_constant_matrix() {
    let mut m = ScheduleBuilder::new();
    let (a, b) = (m.real("a", Role::Algebraic, 0.0), m.real("b", Role::Algebraic, 0.0));
    let (ea, eb, two, three) = (m.var(a), m.var(b), m.number(2.0), m.number(3.0));
    let (sum, scaled) = (m.add(ea, eb), m.mul(two, ea));
    let (first, second) = (m.sub(sum, three), m.sub(scaled, eb));
    let kind = transform::SystemKind::Linear(transform::Matrix::Constant);
    m.system(kind, &[a, b], &[], &[first, second]);
    let program = Program::new(m.schedule).unwrap();
    let mut memory = program.memory();
    program.run(&program.sections.dynamics, &mut memory, &mut |s, m| newton(&program, s, m)).unwrap();
    assert_eq!((program.value(&memory, a), program.value(&memory, b)), (1.0, 2.0));
    let system = program.systems.values().next().unwrap();
    let crate::program::JacobianCode::Entries(chunk) = system.jacobian else { panic!() };
    assert!(program.chunks[chunk].ops.iter().all(|op| matches!(op, crate::code::Op::Move { .. })));
}

#[test]
fn relations_in_time_know_their_next_instant() {
    let mut m = ScheduleBuilder::new();
    let period = m.real("T", Role::Parameter, 0.1);
    let (on, count) = (m.real("on", Role::Discrete, 0.0), m.real("count", Role::Discrete, 0.0));
    let (time, start, two, period) = (m.node(Node::Time), m.number(0.3), m.number(2.0), m.var(period));
    let scaled = m.mul(two, time);
    let later = m.compare(CompareOp::GreaterEqual, true, scaled, start);
    let ratio = m.node(Node::Div(time, period));
    let floor = m.builtin(Builtin::FloorEvent, &[ratio]);
    m.assign(on, later, Timing::Event);
    m.assign(count, floor, Timing::Event);
    let program = Program::new(m.schedule).unwrap();
    assert_eq!((program.roots.len(), program.time_relations.len()), (0, 2));
    let mut memory = program.memory();
    memory.set_live(true);
    let mut next = [0.0; 2];
    let mut steps = Vec::new();
    for _ in 0..4 {
        program.run(&program.sections.events, &mut memory, &mut no_systems).unwrap();
        program.time_events(&mut memory, &mut next);
        let time = next[0].min(next[1]);
        memory.set_time(time);
        steps.push((time, program.value(&memory, on), program.value(&memory, count)));
    }
    assert_eq!(steps.iter().map(|s| (s.1, s.2)).collect::<Vec<_>>(), [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 2.0)]);
    assert!(steps.iter().zip([0.1, 0.15, 0.2, 0.3]).all(|(s, t)| (s.0 - t).abs() < 1e-15), "{steps:?}");
}

#[test]
fn equations_of_one_shape_become_one_kernel() {
    let mut m = ScheduleBuilder::new();
    let n = 100;
    let pairs: Vec<_> = (0..n).map(|k| m.state(&format!("x{k}"), k as f64)).collect();
    let (a, two) = (m.real("a", Role::Parameter, 3.0), m.number(2.0));
    let a = m.var(a);
    for k in 0..n {
        let x = m.var(pairs[k].0);
        let left = m.var(pairs[k.saturating_sub(1)].0);
        let right = m.var(pairs[(k + 1).min(n - 1)].0);
        let twice = m.mul(two, x);
        let sum = m.add(left, right);
        let difference = m.sub(sum, twice);
        let value = m.mul(a, difference);
        let value = if k == 50 { m.builtin(Builtin::Log, &[value]) } else { value };
        m.assign(pairs[k].1, value, Timing::Continuous);
    }
    let program = Program::new(m.schedule).unwrap();
    let text = program.print(&program.sections.dynamics);
    assert!(text.contains("kernel of 97"), "{text}");
    let mut memory = program.memory();
    let squares: Vec<f64> = (0..n).map(|k| (k * k) as f64).collect();
    program.write_states(&mut memory, &squares);
    program.run(&program.sections.dynamics, &mut memory, &mut no_systems).unwrap();
    assert_eq!(program.value(&memory, pairs[20].1), 6.0);
    let mut entries = vec![0.0; program.ode_pattern.entries()];
    program.ode_jacobian(&mut memory, &mut entries, &mut |_, _, _| Ok::<(), Failure>(())).unwrap();
    let start = program.ode_pattern.column_starts[20] as usize;
    assert_eq!(program.ode_pattern.column(20), [19, 20, 21]);
    assert_eq!(entries[start..start + 3], [3.0, -6.0, 3.0]);
    // Three colours for the columns that never change and three for those inside of the logarithm.
    assert_eq!(program.ode_colours.len(), 6);
    let varying: Vec<usize> = (0..n).filter(|&column| program.ode_varying[column]).collect();
    assert_eq!(varying, [49, 50, 51]);
    // A member that fails is named.
    memory.values[program.layout.slot(pairs[7].0) as usize] = f64::INFINITY;
    let failure = program.run(&program.sections.dynamics, &mut memory, &mut no_systems).unwrap_err();
    assert_eq!(failure.message(program.model()), "the value of x7 is not finite");
}
