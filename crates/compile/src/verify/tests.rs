use std::sync::Arc;

use dae::{CompareOp, Node};
use transform::{Role, SystemKind, Timing};

use super::*;
use crate::testing::ScheduleBuilder;

/// A state, a branch with a relation, and a system of one unknown.
fn program() -> Program {
    let mut m = ScheduleBuilder::new();
    let (x, der_x) = m.state("x", 1.0);
    let y = m.real("y", Role::Algebraic, 0.0);
    let z = m.real("z", Role::Algebraic, 0.0);
    let (ex, ey, ez, zero) = (m.var(x), m.var(y), m.var(z), m.number(0.0));
    let cube = m.mul(ex, ex);
    m.assign(y, cube, Timing::Continuous);
    let square = m.mul(ez, ez);
    let residual = m.node(Node::Sub(square, ey));
    m.system(SystemKind::Nonlinear, &[z], &[], &[residual]);
    let positive = m.compare(CompareOp::Greater, true, ex, zero);
    let (long, longer) = (m.mul(ez, ey), m.mul(ez, ez));
    let value = m.choice(positive, long, longer);
    m.assign(der_x, value, Timing::Continuous);
    let program = Program::new(m.schedule).unwrap();
    assert_eq!(verify(&program), Vec::<String>::new());
    program
}

/// What is found after one change of a good program.
#[track_caller]
fn check(change: impl FnOnce(&mut Program), expected: &str) {
    let mut program = program();
    change(&mut program);
    let found = verify(&program);
    assert!(found.iter().any(|message| message.contains(expected)), "{expected:?} is not in {found:#?}");
}

fn chunks(program: &mut Program) -> &mut IdVec<ChunkId, Code> {
    Arc::make_mut(&mut program.chunks)
}

/// The first code that has such an operation, and where.
fn operation(program: &mut Program, is_it: fn(&Op) -> bool) -> (&mut Code, usize) {
    let mut all = chunks(program).iter_mut().map(|(_, code)| code);
    let code = all.find(|code| code.ops.iter().any(is_it)).unwrap();
    let position = code.ops.iter().position(is_it).unwrap();
    (code, position)
}

#[test]
fn steps_exist() {
    check(|p| p.sections.events.steps.push(SectionStep::Code(Id::from_index(999))), "which does not exist");
    check(|p| p.sections.dynamics.steps.push(SectionStep::Solve(Id::from_index(9))), "which does not exist");
    check(|p| p.systems[Id::from_index(0)].residuals = Id::from_index(999), "has code that does not exist");
    check(|p| p.exact_code = Id::from_index(999), "the code of crossing functions does not exist");
}

#[test]
fn relations_exist() {
    check(|p| p.roots[0].relation = Id::from_index(9), "relation9 does not exist");
    check(|p| p.time_relations.push(Id::from_index(8)), "relation8 does not exist");
    check(|p| p.systems[Id::from_index(0)].relations.push(Id::from_index(7)), "relation7 does not exist");
    check(|p| p.layout.relations[Id::from_index(0)].state = 1 << 20, "the state of relation0 lies outside of memory");
}

#[test]
fn addresses_lie_in_memory() {
    let is_product = |op: &Op| matches!(op, Op::Binary { .. });
    check(
        |p| {
            let (code, position) = operation(p, is_product);
            code.ops[position] = code.ops[position].map(|address| address + (1 << 20));
        },
        "uses an address outside of memory",
    );
    check(
        |p| {
            let constant = p.regions.constants;
            let (code, position) = operation(p, is_product);
            if let Op::Binary { to, .. } = &mut code.ops[position] {
                *to = constant;
            }
        },
        "writes a constant",
    );
    check(|p| operation(p, is_product).0.outputs.push(1 << 20), "has a result outside of memory");
    check(|p| p.states[0].derivative = 1 << 20, "the state x has no address");
    check(|p| p.pre_pairs.push((0, 1 << 20)), "the left limit of 0 lies outside of memory");
}

#[test]
fn calls_functions_and_delays_exist() {
    for (op, expected) in [
        (Op::Call { call: 3, arguments: 0, results: 0 }, "makes a call that does not exist"),
        (Op::Invoke { chunk: 0 }, "runs a function that does not exist"),
        (Op::Delay { delay: 0, to: 6, a: 6, b: 6 }, "asks for a delay that does not exist"),
    ] {
        check(|p| chunks(p)[ChunkId::from_index(0)].ops.push(op), expected);
    }
}

#[test]
fn jumps_lead_to_the_end_of_their_branch() {
    let broken = [
        vec![Op::Loop],
        vec![Op::If { condition: 0, otherwise: 1 }, Op::Else { end: 2 }, Op::EndIf],
        vec![Op::If { condition: 0, otherwise: 2 }, Op::Else { end: 1 }, Op::EndIf],
        vec![Op::If { condition: 0, otherwise: 1 }, Op::EndIf],
        vec![Op::EndIf],
        vec![Op::Loop, Op::EndLoop { start: 1, failed: 0 }],
        vec![Op::Exit { levels: 1, target: 1 }],
        vec![Op::Loop, Op::Exit { levels: 1, target: 1 }, Op::EndLoop { start: 0, failed: 0 }],
        vec![Op::Loop, Op::Exit { levels: 2, target: 3 }, Op::EndLoop { start: 0, failed: 0 }],
    ];
    for ops in broken {
        check(|p| chunks(p)[ChunkId::from_index(0)].ops = ops, "jumps to a wrong place");
    }
}

/// Whether reads of temporaries are reported that need not have been written, for code over the temporaries 0 to 2.
fn is_reported(ops: Vec<Op>) -> bool {
    let mut program = program();
    let start = program.regions.temporaries;
    let code = &mut chunks(&mut program)[ChunkId::from_index(0)];
    let place = |address: Address| if address >= TEMPORARY { start + (address & !REGION_MASK) } else { address };
    code.ops = ops.into_iter().map(|op| op.map(place)).collect();
    code.private = start..start + 3;
    code.outputs.clear();
    let found = verify(&program);
    assert!(found.iter().all(|message| message.contains("before it is written")), "{found:#?}");
    !found.is_empty()
}

#[test]
fn temporaries_are_written_before_they_are_read() {
    const T: Address = TEMPORARY;
    let write = Op::Move { to: T, a: 0 };
    let read = Op::Move { to: T + 1, a: T };
    let branch = |then: &[Op], otherwise: &[Op]| -> Vec<Op> {
        let middle = 1 + then.len() as u32;
        let end = middle + 1 + otherwise.len() as u32;
        let begin = [Op::If { condition: 0, otherwise: middle + 1 }];
        [&begin[..], then, &[Op::Else { end }], otherwise, &[Op::EndIf]].concat()
    };
    assert!(!is_reported(vec![write, read]));
    assert!(is_reported(vec![read]));
    assert!(!is_reported([branch(&[write], &[write]), vec![read]].concat()));
    assert!(is_reported([branch(&[write], &[]), vec![read]].concat()));
    assert!(is_reported([branch(&[], &[write]), vec![read]].concat()));
    assert!(is_reported(branch(&[write], &[read])));
    assert!(!is_reported(branch(&[write, read], &[])));
}

#[test]
fn steps_read_what_is_computed_before() {
    check(|p| p.sections.dynamics.steps.reverse(), "which a later step computes");
    check(|p| p.sections.events.steps.reverse(), "which a later step computes");
}

#[test]
fn sizes_agree() {
    check(|p| p.systems[Id::from_index(0)].slots.clear(), "has wrong sizes for 1 iteration variables");
    check(|p| p.systems[Id::from_index(0)].pattern = Pattern::dense(2, 1), "has wrong sizes for 1 iteration variables");
    check(|p| p.ode_varying.clear(), "has wrong sizes for 1 states");
    check(|p| p.ode_colours = vec![vec![0], vec![0]], "has two colours");
}
