//! Removes operations whose results nobody reads, and branches that became empty.

use crate::code::{Address, Code, Op, REGION_MASK, TEMPORARY};
use crate::lower::CallEntry;

/// Only temporaries can be dead; whatever is written elsewhere is a result.
pub fn eliminate(code: Code, calls: &[CallEntry]) -> Code {
    let mut needed = vec![false; code.temporaries as usize];
    let temporary =
        |address: Address| (address & REGION_MASK == TEMPORARY).then_some((address & !REGION_MASK) as usize);
    let mut keep = vec![false; code.ops.len()];
    // Backwards: a reader stands behind its writers, also across branches.
    for (position, op) in code.ops.iter().enumerate().rev() {
        let wanted = match *op {
            Op::Call { call, results, .. } => {
                let entry = &calls[call as usize];
                let count = entry.results * if entry.tangent { 2 } else { 1 };
                (results..results + count).any(|result| temporary(result).is_none_or(|index| needed[index]))
            }
            _ => op.target().is_none_or(|target| temporary(target).is_none_or(|index| needed[index])),
        };
        if !wanted {
            continue;
        }
        keep[position] = true;
        let mut need = |address: Address| {
            if let Some(index) = temporary(address) {
                needed[index] = true;
            }
        };
        op.for_each_source(&mut need);
        if let Op::Call { call, arguments, .. } = *op {
            let entry = &calls[call as usize];
            let count = entry.arguments * if entry.tangent { 2 } else { 1 };
            (arguments..arguments + count).for_each(need);
        }
    }
    let mut result = Code { ops: Vec::new(), origins: Vec::new(), ..code };
    for ((op, origin), _) in code.ops.iter().zip(&code.origins).zip(&keep).filter(|(_, keep)| **keep) {
        result.ops.push(*op);
        result.origins.push(*origin);
        let length = result.ops.len();
        let empty = matches!(op, Op::EndIf)
            && length >= 3
            && matches!(result.ops[length - 2], Op::Else { .. })
            && matches!(result.ops[length - 3], Op::If { .. });
        if empty {
            result.ops.truncate(length - 3);
            result.origins.truncate(length - 3);
        }
    }
    result
}
