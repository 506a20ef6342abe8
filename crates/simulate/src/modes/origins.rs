//! What values are computed from, and how large that is: it says how far rounding may take a value that should be zero.
//!
//! A sum of large terms that cancel has the rounding errors of its terms, and so has all that is computed from it. What is
//! not among the origins of a value says nothing about it, however large it is. States are origins: their errors are those
//! of integration, which go with their own size, and those of jumps, which all share that take part in them.

use base::Id;
use compile::{Memory, Program};
use dae::{ExprId, VarId};
use rustc_hash::FxHashMap;
use transform::modes::chains::Chains;
use transform::{Block, Role};

use super::left::Sizes;
use crate::terms::Terms;

/// Time is exact; what is computed from it has rounding errors of its last digits only.
const TIME: f64 = 1e-3;

/// The way from states to some expressions.
#[derive(Clone)]
pub struct Origins {
    steps: Vec<Step>,
    /// What the steps assign, and then the expressions.
    terms: Terms,
    /// What can jump together.
    jumping: Vec<Vec<VarId>>,
    /// By the variables of the mode: how large the values are that their rounding errors come from.
    sizes: Vec<f64>,
    /// The variables in each of the expressions, and the same of them.
    read: Vec<Vec<VarId>>,
    found: Vec<f64>,
}

#[derive(Clone)]
struct Step {
    computed: Vec<VarId>,
    read: Vec<VarId>,
    /// It is an assignment: its place among the terms.
    assigned: Option<usize>,
}

impl Origins {
    pub fn new(program: &Program, chains: &Chains, expressions: &[ExprId]) -> Self {
        let read: Vec<Vec<VarId>> = expressions.iter().map(|&expression| varying(program, &[expression])).collect();
        let variables = program.model().variables.len();
        let mut is_needed = vec![false; variables];
        read.iter().flatten().for_each(|variable| is_needed[variable.index()] = true);
        let (mut steps, mut roots) = (Vec::new(), Vec::new());
        for block in program.schedule.blocks.iter().rev() {
            let (computed, expressions, is_assigned) = match block {
                Block::Assign { assignment, .. } => (vec![assignment.variable], vec![assignment.value], true),
                Block::System { system, .. } => {
                    let inner = system.inner.iter().chain(&system.discrete).map(|assignment| assignment.value);
                    (system.unknowns.clone(), system.residuals.iter().copied().chain(inner).collect(), false)
                }
            };
            if !computed.iter().any(|variable| is_needed[variable.index()]) {
                continue;
            }
            let read = varying(program, &expressions);
            read.iter().for_each(|variable| is_needed[variable.index()] = true);
            if is_assigned {
                roots.extend(&expressions);
            }
            steps.push(Step { computed, read, assigned: is_assigned.then_some(roots.len()) });
        }
        // They were found from the last to the first.
        let assigned = roots.len();
        steps.reverse();
        roots.reverse();
        steps.iter_mut().for_each(|step| step.assigned = step.assigned.map(|number| assigned - number));
        roots.extend(expressions);
        Self {
            steps,
            terms: Terms::of(program, &roots).with_time(TIME),
            jumping: jumping(chains),
            sizes: vec![0.0; variables],
            found: vec![0.0; expressions.len()],
            read,
        }
    }

    /// Takes note of how large values are now and have been; states have the errors of jumps where they `jumped`.
    pub fn note(&mut self, program: &Program, memory: &Memory, sizes: &Sizes, jumped: bool) {
        for (variable, size) in program.model().variables.ids().zip(&mut self.sizes) {
            *size = magnitude(program, memory, sizes, variable);
        }
        let largest = |of: &[f64], group: &[VarId]| group.iter().fold(0.0f64, |most, v| most.max(of[v.index()]));
        if jumped {
            for group in &self.jumping {
                let most = largest(&self.sizes, group);
                group.iter().for_each(|variable| self.sizes[variable.index()] = most);
            }
        }
        self.terms.begin();
        for step in &self.steps {
            step.read.iter().for_each(|&v| self.terms.give(program, v, self.sizes[v.index()]));
            let terms = step.assigned.map(|place| self.terms.evaluate_to(place, program, memory));
            let size = match terms.filter(|size| size.is_finite()) {
                Some(size) => size,
                None => largest(&self.sizes, &step.read).max(largest(&self.sizes, &step.computed)),
            };
            step.computed.iter().for_each(|variable| self.sizes[variable.index()] = size);
        }
        let first = self.steps.iter().filter(|step| step.assigned.is_some()).count();
        for (place, read) in self.read.iter().enumerate() {
            read.iter().for_each(|&v| self.terms.give(program, v, self.sizes[v.index()]));
            let size = self.terms.evaluate_to(first + place, program, memory);
            self.found[place] = if size.is_finite() { size } else { largest(&self.sizes, read) };
        }
    }

    /// How large the values are that the rounding errors of a variable come from.
    pub fn of(&self, variable: VarId) -> f64 {
        self.sizes.get(variable.index()).copied().unwrap_or(0.0)
    }

    /// The same of one of the expressions.
    pub fn of_expression(&self, place: usize) -> f64 {
        self.found.get(place).copied().unwrap_or(0.0)
    }
}

/// The largest value that a variable has or has had.
fn magnitude(program: &Program, memory: &Memory, sizes: &Sizes, variable: VarId) -> f64 {
    let value = program.value(memory, variable).abs();
    if value.is_finite() { value.max(sizes.of(variable)) } else { sizes.of(variable) }
}

/// The differentiated variables in groups: an impulse reaches all of a group, and nothing else.
fn jumping(chains: &Chains) -> Vec<Vec<VarId>> {
    let columns = chains.columns.len();
    let mut leader: Vec<usize> = (0..columns).collect();
    fn find(leader: &mut [usize], mut column: usize) -> usize {
        while leader[column] != column {
            leader[column] = leader[leader[column]];
            column = leader[column];
        }
        column
    }
    let mut first_of_row: FxHashMap<u32, usize> = FxHashMap::default();
    for &(row, column, _) in &chains.jacobian {
        let first = *first_of_row.entry(row).or_insert(column as usize);
        let (one, other) = (find(&mut leader, first), find(&mut leader, column as usize));
        leader[one] = other;
    }
    let mut groups: FxHashMap<usize, Vec<VarId>> = FxHashMap::default();
    for (column, chain) in chains.columns.iter().enumerate() {
        let below_highest = &chain[..chain.len().saturating_sub(1)];
        groups.entry(find(&mut leader, column)).or_default().extend(below_highest);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// Residues, and how large what they are made of is.
///
/// An algebraic variable stands for what it is computed from in the mode: the parameter of the curve of a diode is a voltage
/// in one mode and a current in the other.
#[derive(Clone)]
pub struct Residues {
    terms: Terms,
    read: Vec<Vec<VarId>>,
    defined: Vec<(VarId, Vec<VarId>)>,
    definitions: Terms,
}

impl Residues {
    /// What crosses zero with time does so to its last digits.
    const TIME: f64 = 1e-4;

    pub fn new(program: &Program, residues: &[ExprId]) -> Self {
        let read: Vec<Vec<VarId>> = residues.iter().map(|&residue| varying(program, &[residue])).collect();
        let mut wanted: FxHashMap<VarId, ()> = read.iter().flatten().map(|&variable| (variable, ())).collect();
        let (mut defined, mut values) = (Vec::new(), Vec::new());
        for block in &program.schedule.blocks {
            let Block::Assign { assignment, .. } = block else { continue };
            let is_algebraic = matches!(program.schedule.roles[assignment.variable], Role::Algebraic);
            if !is_algebraic || wanted.remove(&assignment.variable).is_none() {
                continue;
            }
            // What follows from time alone is as large as it was.
            let origins = varying(program, &[assignment.value]);
            if !origins.is_empty() {
                defined.push((assignment.variable, origins));
                values.push(assignment.value);
            }
        }
        let terms = |expressions: &[ExprId]| Terms::of(program, expressions).with_time(Self::TIME);
        Self { terms: terms(residues), read, defined, definitions: terms(&values) }
    }

    /// The size of each residue.
    pub fn sizes(&mut self, program: &Program, memory: &Memory, sizes: &Sizes, found: &mut Vec<f64>) {
        let of = |variable: VarId| magnitude(program, memory, sizes, variable);
        let largest = |read: &[VarId]| read.iter().fold(0.0f64, |most, &variable| most.max(of(variable)));
        for &variable in self.defined.iter().flat_map(|(_, read)| read) {
            self.definitions.give(program, variable, of(variable));
        }
        for &variable in self.read.iter().flatten() {
            self.terms.give(program, variable, of(variable));
        }
        self.definitions.evaluate(program, memory);
        for (place, (variable, read)) in self.defined.iter().enumerate() {
            let size = self.definitions.size(place);
            self.terms.give(program, *variable, if size.is_finite() { size } else { largest(read) });
        }
        self.terms.evaluate(program, memory);
        let known = |(place, read): (usize, &Vec<VarId>)| match self.terms.size(place) {
            size if size.is_finite() => size,
            _ => largest(read),
        };
        found.clear();
        found.extend(self.read.iter().enumerate().map(known));
    }
}

/// The variables in expressions. Parameters are factors as well, which say nothing about the size of a product.
fn varying(program: &Program, expressions: &[ExprId]) -> Vec<VarId> {
    let mut found = program.model().exprs.dependencies(expressions).variables;
    found.retain(|&variable| !matches!(program.schedule.roles[variable], Role::Constant | Role::Parameter));
    found
}
