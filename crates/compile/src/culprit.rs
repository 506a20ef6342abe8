//! Finds the operation that made a result not finite, by running the code again in the interpreter.
//!
//! Evaluation is repeatable: code reads nothing that it writes later. From the bad result the search goes back along
//! operands that are not finite, to an operation all of whose operands are.

use rustc_hash::FxHashSet;

use crate::code::{Address, Code, Kernel, Op};
use crate::failure::{Failure, Reason};
use crate::interpret::run_traced;
use crate::lower::LARGEST_INTEGER;
use crate::math::Binary;
use crate::memory::Memory;
use crate::program::Program;
use crate::runtime::Runtime;

/// Runs code, some result of which is not finite, once more with all functions interpreted. What the interpreter finds is
/// right: it counts further than machine code.
pub fn run_again(program: &Program, code: &Code, memory: &mut Memory) -> Result<(), Failure> {
    let Some(kernel) = &code.kernel else {
        let failure = find_at(program, code, memory, None);
        let is_finite = |&output: &Address| memory.values[output as usize].is_finite();
        return if code.outputs.iter().all(is_finite) { Ok(()) } else { Err(failure) };
    };
    let checked: FxHashSet<Address> = code.outputs.iter().copied().collect();
    for member in 0..kernel.members as usize {
        let mut single = member_code(program, code, kernel, member);
        single.outputs.retain(|output| checked.contains(output));
        if single.outputs.iter().any(|&output| !memory.values[output as usize].is_finite()) {
            run_again(program, &single, memory)?;
        }
    }
    Ok(())
}

/// Why what the code writes to an address is not finite.
pub fn find_at(program: &Program, code: &Code, memory: &mut Memory, address: Option<Address>) -> Failure {
    if let Some(kernel) = &code.kernel {
        let (_, written) = kernel.usage();
        let bad = |&member: &usize| {
            written.iter().any(|&hole| !memory.values[kernel.address(hole, member) as usize].is_finite())
        };
        let member = (0..kernel.members as usize).find(bad).unwrap_or(0);
        return find_at(program, &member_code(program, code, kernel, member), memory, address);
    }
    memory.call_failure = None;
    let (values, mut runtime) = Runtime::new(program, &program.pool.calls, memory);
    runtime.diagnose = true;
    let trace = run_traced(&code.ops, values, &mut runtime);
    let bad = |address: Address| !memory.values[address as usize].is_finite();
    let writes = |op: &Op, address: Address| match *op {
        Op::Call { call, results, .. } => {
            address >= results && address < results + program.pool.calls[call as usize].results
        }
        _ => op.target() == Some(address),
    };
    let mut wanted = address.or(code.outputs.iter().copied().find(|&output| bad(output))).unwrap_or(0);
    let mut end = trace.len();
    let mut statement = None;
    while let Some(at) = trace[..end].iter().rposition(|&op| writes(&code.ops[op as usize], wanted)) {
        let position = trace[at] as usize;
        let origin = *statement.get_or_insert_with(|| code.statement_of(position));
        let op = &code.ops[position];
        let mut sources = Vec::new();
        op.for_each_source(|source| sources.push(source));
        if let Op::Call { call, arguments, .. } = *op {
            sources.extend(arguments..arguments + program.pool.calls[call as usize].arguments);
        }
        if let Op::Select { condition, a, b, .. } = *op {
            let taken = if memory.values[condition as usize] != 0.0 { a } else { b };
            sources = vec![condition, taken];
            // NaN stands for what was found to be undefined: that is what the condition looks at.
            if taken == a && bad(a) && is_size_check(code, &trace[..at], condition, memory) {
                let reason = Box::new(Reason::Integer);
                let expression = code.origins.get(position).copied();
                return Failure { reason, expression, variable: origin.variable, equation: origin.equation };
            }
            if let Some(undefined) =
                bad(taken).then(|| undefined_operand(code, &trace[..at], condition, &bad)).flatten()
            {
                sources = vec![undefined];
            }
        }
        if let Some(&source) = sources.iter().find(|&&source| bad(source)) {
            wanted = source;
            end = at;
            continue;
        }
        let reason = match op {
            Op::Call { .. } => Reason::Call {
                message: memory.call_failure.take().unwrap_or_else(|| "a function gave no finite value".to_string()),
            },
            _ => Reason::Operation {
                name: name(op),
                operands: sources.iter().map(|&source| memory.values[source as usize]).collect(),
            },
        };
        return Failure {
            reason: Box::new(reason),
            expression: code.origins.get(position).copied(),
            variable: origin.variable,
            equation: origin.equation,
        };
    }
    let origin = statement.unwrap_or_default();
    let variable = program.model().variables.ids().find(|&variable| program.layout.slot(variable) == wanted);
    Failure {
        reason: Box::new(Reason::Input { variable }),
        expression: None,
        variable: origin.variable,
        equation: origin.equation,
    }
}

/// Whether a condition is that an Integer is too large to be exact.
fn is_size_check(code: &Code, trace: &[u32], condition: Address, memory: &Memory) -> bool {
    let producer = trace.iter().rev().map(|&op| &code.ops[op as usize]).find(|op| op.target() == Some(condition));
    matches!(producer, Some(&Op::Binary { function: Binary::Less, a, .. }) if memory.values[a as usize] == LARGEST_INTEGER)
}

/// The code of one member of a family, all of whose results count.
fn member_code(program: &Program, code: &Code, kernel: &Kernel, member: usize) -> Code {
    let (_, written) = kernel.usage();
    let mut single = kernel.member(member);
    single.outputs = written.iter().map(|&hole| kernel.address(hole, member)).collect();
    single.relocate(&program.regions);
    single.statements = code.statements.get(member).map(|&(_, origin)| (0, origin)).into_iter().collect();
    single
}

/// The operand, not finite, of the operation that made a condition.
fn undefined_operand(code: &Code, trace: &[u32], condition: Address, bad: &dyn Fn(Address) -> bool) -> Option<Address> {
    let producer = trace.iter().rev().map(|&op| &code.ops[op as usize]).find(|op| op.target() == Some(condition))?;
    let mut found = None;
    producer.for_each_source(|source| found = found.or(bad(source).then_some(source)));
    found
}

fn name(op: &Op) -> &'static str {
    match op {
        Op::Unary { function, .. } => function.name(),
        Op::Binary { function, .. } => function.name(),
        Op::Delay { .. } => "delay",
        _ => "value",
    }
}
