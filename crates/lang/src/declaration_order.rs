//! The order in which the variables of a function get their sizes and first values (12.4.4): what a declaration reads
//! comes before it, wherever it stands in the text. What depends on itself stays as it was written.

use base::Id;
use dae::function::LocalId;

use crate::typed::{Expr, Kind, Local, Locals};
use crate::typing::walk;

/// An order of the first `declared` locals (iterators follow them) in which each stands behind those it reads; `None`
/// where that of the text is one. Inputs have their values from the call and read nothing.
pub(crate) fn declaration_order(
    locals: &Locals,
    declared: usize,
    is_input: impl Fn(LocalId) -> bool,
) -> Option<Vec<LocalId>> {
    let reads_of = |(id, local): (LocalId, &Local)| match is_input(id) {
        true => Vec::new(),
        false => reads(local).into_iter().filter(|read| read.index() < declared).collect(),
    };
    let reads: Vec<Vec<LocalId>> = locals.iter().take(declared).map(reads_of).collect();
    let behind = |(at, read): (usize, &Vec<LocalId>)| read.iter().any(|read| read.index() > at);
    if !reads.iter().enumerate().any(behind) {
        return None;
    }
    let mut order = Vec::with_capacity(declared);
    let mut seen = vec![false; declared];
    // An explicit stack: chains of declarations may be long. The number is how many of its reads were looked at.
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for start in 0..declared {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        stack.push((start, 0));
        while let Some((at, next)) = stack.pop() {
            match reads[at].get(next) {
                Some(read) => {
                    stack.push((at, next + 1));
                    if !std::mem::replace(&mut seen[read.index()], true) {
                        stack.push((read.index(), 0));
                    }
                }
                None => order.push(LocalId::from_index(at)),
            }
        }
    }
    Some(order)
}

/// A variable whose first value reads, perhaps by way of other first values, itself.
pub(crate) fn cyclic_default(locals: &Locals, declared: usize, is_input: impl Fn(LocalId) -> bool) -> Option<LocalId> {
    let reads_of = |(id, local): (LocalId, &Local)| {
        let mut found = Vec::new();
        if let Some(default) = local.default.as_ref().filter(|_| !is_input(id)) {
            walk(default, &mut |expr| match expr.kind {
                Kind::Local(read) if read.index() < declared => found.push(read.index()),
                _ => {}
            });
        }
        found
    };
    let reads: Vec<Vec<usize>> = locals.iter().take(declared).map(reads_of).collect();
    // What reads nothing that is left is no part of a cycle.
    let mut left: Vec<bool> = reads.iter().map(|read| !read.is_empty()).collect();
    loop {
        let ends = |at: usize| left[at] && !reads[at].iter().any(|&read| left[read]);
        let gone: Vec<usize> = (0..declared).filter(|&at| ends(at)).collect();
        if gone.is_empty() {
            break;
        }
        gone.into_iter().for_each(|at| left[at] = false);
    }
    left.iter().position(|&is_left| is_left).map(LocalId::from_index)
}

fn reads(local: &Local) -> Vec<LocalId> {
    let mut found = Vec::new();
    let mut visit = |expr: &Expr| {
        if let Kind::Local(read) = &expr.kind {
            found.push(*read);
        }
    };
    local.sizes.iter().flatten().for_each(|size| walk(size, &mut visit));
    local.default.iter().for_each(|default| walk(default, &mut visit));
    found
}
