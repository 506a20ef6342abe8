//! What the attribute `stateSelect` asks for (specification 4.9.7.1) beyond the order in which states are tried: variables
//! that the text does not differentiate become states in place of those it does, and wishes that cannot be met are reported.

use base::Diagnostic;
use dae::{StateSelect, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::derivatives::Reduced;
use crate::work::Work;

/// Groups of rows whose states have to be chosen together so that columns asked for can be among them, and those columns.
///
/// `der(m)` and `der(U)` are written, p and T are asked for: m and U follow from p and T by differentiated equations, which
/// are components of their own. Such a component is joined with all those whose unknowns it needs.
///
/// `differentiated`: columns that the text does differentiate, such as the angle of a spring between parts that have angles of
/// their own.
pub fn joined(work: &Work, reduced: &Reduced, groups: &[&[u32]], differentiated: bool) -> Vec<(Vec<usize>, Vec<u32>)> {
    let matching = &reduced.offsets.matching;
    let is_wanted = |column: u32| {
        let variable = reduced.variables[column as usize][0];
        work.wanted_as_state(variable) >= StateSelect::Prefer
            && (reduced.written[column as usize] > 0) == differentiated
            && reduced.offsets.variables[column as usize] > 0
    };
    let wanted: Vec<u32> = (0..reduced.variables.len() as u32).filter(|&column| is_wanted(column)).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut group_of = vec![usize::MAX; reduced.equations.len()];
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|&row| group_of[row as usize] = number);
    }
    let group_of_column = |column: u32| group_of[matching.row_of_column[column as usize] as usize];
    let mut owner: FxHashMap<usize, usize> = FxHashMap::default();
    let mut sets: Vec<(Vec<usize>, Vec<u32>)> = Vec::new();
    for column in wanted {
        let mut number = sets.len();
        sets.push((Vec::new(), vec![column]));
        let mut stack = vec![group_of_column(column)];
        while let Some(group) = stack.pop() {
            match owner.insert(group, number) {
                Some(other) if other == number => continue,
                Some(other) => {
                    // Two wishes need the same group: they are one choice.
                    let (members, columns) = std::mem::take(&mut sets[number]);
                    members.iter().for_each(|&member| {
                        owner.insert(member, other);
                    });
                    owner.insert(group, other);
                    sets[other].0.extend(members);
                    sets[other].1.extend(columns);
                    number = other;
                    continue;
                }
                None => sets[number].0.push(group),
            }
            // What an equation needs that is not differentiated stays as it is.
            for &row in groups[group].iter().filter(|&&row| reduced.offsets.equations[row as usize] > 0) {
                let needed = reduced.offsets.tight.row(row as usize).iter();
                stack.extend(needed.map(|&column| group_of_column(column)).filter(|&other| other != group));
            }
        }
    }
    sets.retain(|(members, _)| members.len() > 1);
    sets
}

/// Tells where a state is not what the model demands.
pub fn tell(work: &mut Work, reduced: &Reduced, integrated: &[u32], open: &FxHashSet<VarId>) {
    for (column, chain) in reduced.variables.iter().enumerate() {
        let variable = chain[0];
        let is_state = integrated[column] > 0 || open.contains(&variable);
        let message = match work.model.variables[variable].attributes.state_select {
            StateSelect::Never if is_state => "must not be a state (StateSelect.never), but nothing else can be one",
            StateSelect::Always if !is_state => {
                "must be a state (StateSelect.always), but the equations leave no choice"
            }
            _ => continue,
        };
        let message = format!("`{}` {message}", work.model.variable_name(variable));
        let mut warning = Diagnostic::warning("state-select", message).specification("4.9.7.1").decides();
        if let Some(span) = work.model.variables[variable].span {
            warning = warning.at(span, "");
        }
        work.summary.notices.push(warning);
    }
}
