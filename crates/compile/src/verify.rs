//! Checks that a program is well formed. The interpreter, machine code and `simulate` rely on these invariants:
//!
//! - Steps of sections, systems and crossing functions name code, systems and relations that exist.
//! - Every address that code reads or writes lies in memory; code writes no constant. Calls, functions and delays exist.
//! - Control flow is nested: an `If` has its `Else` and its `EndIf`, a `Loop` its `EndLoop`, and all jumps lead there.
//! - Code without loops writes a temporary before it reads it, whichever branches it takes.
//! - A section reads no variable that a later step of it computes. What a system is solved for is a guess before. The argument
//!   of a delay may be read before it is computed, as what is recorded there is computed again.
//! - A system has one address and one equation for each iteration variable, and its Jacobian has their number of rows and
//!   columns. So has the Jacobian of the derivatives with the states; each of its columns has one colour.

use base::{Id, IdVec};
use rustc_hash::FxHashSet;

use crate::code::{Address, CONSTANT, ChunkId, Code, Kernel, Op, REGION_MASK, TEMPORARY};
use crate::layout::{RelationId, SHIFT};
use crate::program::{JacobianCode, Program, SectionStep, System, SystemId};
use crate::sparsity::Pattern;

/// What is wrong with a program; empty if nothing is.
pub fn verify(program: &Program) -> Vec<String> {
    let mut verifier = Verifier { program, found: Vec::new() };
    verifier.ids();
    // What follows looks things up by their ids.
    if verifier.found.is_empty() {
        for (id, code) in program.chunks.iter() {
            verifier.code(id, code);
        }
        verifier.addresses();
        verifier.sizes();
    }
    if verifier.found.is_empty() && program.layout.delays.is_empty() && program.layout.transports.is_empty() {
        verifier.order();
    }
    verifier.found
}

struct Verifier<'a> {
    program: &'a Program,
    found: Vec<String>,
}

impl<'a> Verifier<'a> {
    fn wrong(&mut self, message: String) {
        // Enough to see what is going on.
        if self.found.len() < 100 {
            self.found.push(message);
        }
    }

    /// Sections whose steps compute variables from each other.
    fn sorted_sections(&self) -> [(&'static str, &'a [SectionStep]); 9] {
        let sections = &self.program.sections;
        [
            ("parameters", &sections.parameters.steps),
            ("initial", &sections.initial.steps),
            ("dynamics", &sections.dynamics.steps),
            ("dynamics in place", &sections.dynamics.in_place),
            ("events", &sections.events.steps),
            ("events in place", &sections.events.in_place),
            ("outputs", &sections.outputs.steps),
            ("outputs in place", &sections.outputs.in_place),
            ("inline", &sections.inline.steps),
        ]
    }

    fn other_sections(&self) -> [(&'static str, &'a [SectionStep]); 7] {
        let Program { sections, tangent_steps, .. } = self.program;
        [
            ("starts", &sections.starts.steps),
            ("samples", &sections.samples.steps),
            ("histories", &sections.histories.steps),
            ("actions", &sections.actions.steps),
            ("assertions", &sections.assertions.steps),
            ("initial actions", &sections.initial_actions.steps),
            ("tangents", tangent_steps),
        ]
    }

    fn ids(&mut self) {
        let program = self.program;
        let (chunks, systems, relations) =
            (program.chunks.len(), program.systems.len(), program.layout.relations.len());
        for (name, steps) in self.sorted_sections().into_iter().chain(self.other_sections()) {
            for step in steps {
                let exists = match *step {
                    SectionStep::Code(chunk) => chunk.index() < chunks,
                    SectionStep::Solve(system) => system.index() < systems,
                };
                if !exists {
                    self.wrong(format!("the section {name} has the step {step:?}, which does not exist"));
                }
            }
        }
        for (id, system) in program.systems.iter() {
            if chunks_of(system).any(|chunk| chunk.index() >= chunks) {
                self.wrong(format!("{id:?} has code that does not exist"));
            }
        }
        let codes = [
            program.roots_code,
            program.time_code,
            program.slope_code,
            program.update_code,
            program.exact_code,
            program.discrete_code,
        ];
        if codes.iter().any(|chunk| chunk.index() >= chunks) {
            self.wrong("the code of crossing functions does not exist".to_owned());
        }
        let named = (program.roots.iter().map(|root| root.relation))
            .chain(program.time_relations.iter().copied())
            .chain(program.systems.values().flat_map(|system| system.relations.iter().copied()))
            .chain(program.layout.relation_of.values().copied());
        let missing: FxHashSet<RelationId> = named.filter(|relation| relation.index() >= relations).collect();
        for relation in missing {
            self.wrong(format!("{relation:?} does not exist"));
        }
    }

    /// Addresses outside of code.
    fn addresses(&mut self) {
        let Program { layout, schedule, states, pre_pairs, .. } = self.program;
        let fixed = layout.fixed;
        for variable in schedule.model.variables.ids() {
            if layout.slot(variable) >= layout.tangible {
                self.wrong(format!("{} has no address", schedule.model.variable_name(variable)));
            }
        }
        for (id, relation) in layout.relations.iter().filter(|(_, relation)| relation.state + SHIFT >= fixed) {
            self.wrong(format!("the state of {id:?} lies outside of memory, at {}", relation.state));
        }
        for state in states.iter().filter(|state| state.value.max(state.derivative) >= layout.tangible) {
            self.wrong(format!("the state {} has no address", schedule.model.variable_name(state.variable)));
        }
        for (slot, pre) in pre_pairs.iter().filter(|(slot, pre)| *slot.max(pre) >= fixed) {
            self.wrong(format!("the left limit of {slot} lies outside of memory, at {pre}"));
        }
    }

    fn sizes(&mut self) {
        let Program { systems, states, ode_pattern, ode_varying, ode_colours, .. } = self.program;
        for (id, system) in systems.iter() {
            let size = system.iteration.len();
            if system.slots.len() != size || system.equations.len() != size || !is_square(&system.pattern, size) {
                self.wrong(format!("{id:?} has wrong sizes for {size} iteration variables"));
            }
        }
        let size = states.len();
        if !is_square(ode_pattern, size) || ode_varying.len() != size {
            self.wrong(format!("the Jacobian of the derivatives has wrong sizes for {size} states"));
        }
        let mut coloured = vec![0; size];
        for &column in ode_colours.iter().flatten() {
            coloured.get_mut(column as usize).into_iter().for_each(|count| *count += 1);
        }
        if coloured.iter().any(|&count| count > 1) {
            self.wrong("a column of the Jacobian of the derivatives has two colours".to_owned());
        }
    }

    fn code(&mut self, id: ChunkId, code: &Code) {
        match &code.kernel {
            Some(kernel) => self.kernel(id, code, kernel),
            None => {
                let before = self.found.len();
                self.operands(id, &code.ops);
                self.outputs(id, code);
                self.control_flow(id, &code.ops);
                // What a function leaves behind a loop that it may end early is read under the condition that it was written.
                let has_loops = code.ops.iter().any(|op| matches!(op, Op::Loop));
                if self.found.len() == before && !has_loops {
                    let mut flow = Flow::new(code, self);
                    let unwritten = flow.unwritten();
                    for (position, address) in unwritten {
                        self.wrong(format!("operation {position} of {id:?} reads {address} before it is written"));
                    }
                }
            }
        }
    }

    fn outputs(&mut self, id: ChunkId, code: &Code) {
        for output in code.outputs.iter().filter(|output| **output as usize >= self.program.length) {
            self.wrong(format!("{id:?} has a result outside of memory, at {output}"));
        }
    }

    fn operands(&mut self, id: ChunkId, ops: &[Op]) {
        let Program { layout, pool, regions, chunks, length, .. } = self.program;
        for (position, op) in ops.iter().enumerate() {
            let fault = |what: &str| format!("operation {position} of {id:?} {what}");
            let mut end = 0;
            op.map(|address| {
                end = end.max(address as usize + 1);
                address
            });
            let mut target = op.target();
            match *op {
                Op::LoadAt { base, length, .. } => end = end.max((base + length) as usize),
                Op::StoreAt { base, length, .. } => {
                    end = end.max((base + length) as usize);
                    target = Some(base);
                }
                Op::Relate { state, .. } | Op::Round { state, .. } => {
                    end = end.max((state + SHIFT) as usize + 1);
                    target = Some(state);
                }
                Op::Call { call, .. } if call as usize >= pool.calls.len() => {
                    self.wrong(fault("makes a call that does not exist"));
                    continue;
                }
                Op::Call { results, .. } => {
                    let (read, written) = self.call_ranges(op);
                    end = end.max(read.end.max(written.end) as usize);
                    target = Some(results);
                }
                Op::Invoke { chunk } if !(self.program.first_function..chunks.len()).contains(&(chunk as usize)) => {
                    self.wrong(fault("runs a function that does not exist"));
                }
                Op::Delay { delay, .. } if delay as usize >= layout.delays.len() + 2 * layout.transports.len() => {
                    self.wrong(fault("asks for a delay that does not exist"));
                }
                _ => {}
            }
            if end > *length {
                self.wrong(fault("uses an address outside of memory"));
            }
            if target.is_some_and(|target| target >= regions.constants) {
                self.wrong(fault("writes a constant"));
            }
        }
    }

    /// What a call reads and writes.
    fn call_ranges(&self, op: &Op) -> (std::ops::Range<Address>, std::ops::Range<Address>) {
        let Op::Call { call, arguments, results } = *op else { return (0..0, 0..0) };
        let entry = &self.program.pool.calls[call as usize];
        let factor = if entry.tangent { 2 } else { 1 };
        (arguments..arguments + factor * entry.arguments, results..results + factor * entry.results)
    }

    fn control_flow(&mut self, id: ChunkId, ops: &[Op]) {
        enum Open {
            If(usize),
            Else(usize),
            Loop(usize, Vec<usize>),
        }
        let mut open: Vec<Open> = Vec::new();
        let mut faults = Vec::new();
        for (position, op) in ops.iter().enumerate() {
            match *op {
                Op::If { .. } => open.push(Open::If(position)),
                Op::Else { .. } => match open.pop() {
                    Some(Open::If(start)) => {
                        if !matches!(ops[start], Op::If { otherwise, .. } if otherwise as usize == position + 1) {
                            faults.push(start);
                        }
                        open.push(Open::Else(position));
                    }
                    _ => faults.push(position),
                },
                Op::EndIf => match open.pop() {
                    Some(Open::Else(middle)) if matches!(ops[middle], Op::Else { end } if end as usize == position) => {
                    }
                    _ => faults.push(position),
                },
                Op::Loop => open.push(Open::Loop(position, Vec::new())),
                Op::Exit { levels, .. } => {
                    let mut loops = open.iter_mut().rev().filter_map(|open| match open {
                        Open::Loop(_, exits) => Some(exits),
                        _ => None,
                    });
                    match (levels as usize).checked_sub(1).and_then(|outer| loops.nth(outer)) {
                        Some(exits) => exits.push(position),
                        None => faults.push(position),
                    }
                }
                Op::EndLoop { start, .. } => match open.pop() {
                    Some(Open::Loop(begin, exits)) if begin == start as usize => {
                        let leads_here = |&exit: &usize| matches!(ops[exit], Op::Exit { target, .. } if target as usize == position + 1);
                        faults.extend(exits.into_iter().filter(|exit| !leads_here(exit)));
                    }
                    _ => faults.push(position),
                },
                _ => {}
            }
        }
        faults.extend(open.iter().map(|open| match open {
            Open::If(position) | Open::Else(position) | Open::Loop(position, _) => *position,
        }));
        for position in faults {
            self.wrong(format!("operation {position} of {id:?} jumps to a wrong place"));
        }
    }

    /// Operations of a kernel are straight; their addresses are holes, constants and temporaries.
    fn kernel(&mut self, id: ChunkId, code: &Code, kernel: &Kernel) {
        self.outputs(id, code);
        let Program { pool, length, .. } = self.program;
        if kernel.table.len() != (kernel.holes * kernel.members) as usize {
            self.wrong(format!("the table of {id:?} has a wrong size"));
        }
        if kernel.table.iter().any(|&address| address as usize >= *length) {
            self.wrong(format!("the table of {id:?} has an address outside of memory"));
        }
        let mut written = vec![false; kernel.temporaries as usize];
        for (position, op) in kernel.ops.iter().enumerate() {
            let mut fits = matches!(op, Op::Move { .. } | Op::Unary { .. } | Op::Binary { .. } | Op::Select { .. });
            op.for_each_source(|source| {
                let index = (source & !REGION_MASK) as usize;
                fits &= match source & REGION_MASK {
                    TEMPORARY => written.get(index) == Some(&true),
                    CONSTANT => index < pool.constants.values.len(),
                    0 => source < kernel.holes,
                    _ => false,
                };
            });
            let target = op.target().unwrap_or(CONSTANT);
            fits &= match target & REGION_MASK {
                TEMPORARY => written.get_mut((target & !REGION_MASK) as usize).map(|written| *written = true).is_some(),
                0 => target < kernel.holes,
                _ => false,
            };
            if !fits {
                self.wrong(format!("operation {position} of the kernel {id:?} has a wrong operand"));
            }
        }
    }

    /// No step of a section reads what a later one computes.
    fn order(&mut self) {
        let usage: IdVec<ChunkId, Usage> = self.program.chunks.values().map(|code| Usage::of(code, self)).collect();
        for (name, steps) in self.sorted_sections() {
            let mut computed: FxHashSet<Address> = FxHashSet::default();
            let mut open: Vec<(usize, Address)> = Vec::new();
            for (number, step) in steps.iter().enumerate() {
                match *step {
                    SectionStep::Code(chunk) => {
                        let Usage { read, written } = &usage[chunk];
                        open.extend(read.iter().filter(|read| !computed.contains(read)).map(|&read| (number, read)));
                        self.too_late(name, &open, written, &computed);
                        computed.extend(written);
                    }
                    SectionStep::Solve(system) => {
                        let unknowns = self.unknowns(system);
                        let system = &self.program.systems[system];
                        for chunk in [Some(system.residuals), system.discrete_code].into_iter().flatten() {
                            let read = usage[chunk].read.iter();
                            let outer = read.filter(|read| !computed.contains(read) && !unknowns.contains(*read));
                            open.extend(outer.map(|&read| (number, read)));
                        }
                        let written: Vec<Address> = unknowns.iter().copied().collect();
                        self.too_late(name, &open, &written, &computed);
                        computed.extend(written);
                    }
                }
            }
        }
    }

    fn unknowns(&self, system: SystemId) -> FxHashSet<Address> {
        let Program { layout, systems, .. } = self.program;
        systems[system].unknowns.iter().map(|&unknown| layout.slot(unknown)).collect()
    }

    fn too_late(
        &mut self,
        section: &str,
        open: &[(usize, Address)],
        written: &[Address],
        computed: &FxHashSet<Address>,
    ) {
        let written: FxHashSet<Address> =
            written.iter().copied().filter(|address| !computed.contains(address)).collect();
        if let Some((number, address)) = open.iter().find(|(_, address)| written.contains(address)) {
            self.wrong(format!("step {number} of the section {section} reads {address}, which a later step computes"));
        }
    }
}

/// Which variables a piece of code reads before it writes them, and which it writes.
#[derive(Default)]
struct Usage {
    read: Vec<Address>,
    written: Vec<Address>,
}

impl Usage {
    fn of(code: &Code, verifier: &Verifier<'_>) -> Self {
        let tangible = verifier.program.layout.tangible;
        let (mut read, mut written) = (FxHashSet::default(), FxHashSet::default());
        let mut see = |op: &Op| {
            op.for_each_source(|source| {
                if source < tangible && !written.contains(&source) {
                    read.insert(source);
                }
            });
            written.extend(op.target().filter(|target| *target < tangible));
        };
        match &code.kernel {
            Some(kernel) => {
                (0..kernel.members as usize).for_each(|member| kernel.member(member).ops.iter().for_each(&mut see));
            }
            None => code.ops.iter().for_each(&mut see),
        }
        Self { read: read.into_iter().collect(), written: written.into_iter().collect() }
    }
}

fn chunks_of(system: &System) -> impl Iterator<Item = ChunkId> {
    let (JacobianCode::Entries(jacobian) | JacobianCode::Directions(jacobian)) = system.jacobian;
    let others = [system.discrete_code, system.following_code, system.residues, system.tangent];
    [system.residuals, jacobian].into_iter().chain(others.into_iter().flatten())
}

fn is_square(pattern: &Pattern, size: usize) -> bool {
    let rows_exist = pattern.row_of.iter().all(|&row| (row as usize) < size);
    let is_empty = size == 0 && pattern.columns() == 0;
    is_empty || (pattern.rows as usize == size && pattern.columns() == size && rows_exist)
}

/// Which temporaries have been written, on every way to an operation.
struct Flow<'a> {
    code: &'a Code,
    /// What each call reads and writes.
    calls: Vec<(std::ops::Range<Address>, std::ops::Range<Address>)>,
    written: Vec<bool>,
    /// What was written, in order, so that a branch can be undone.
    log: Vec<Address>,
    open: Vec<Branch>,
    found: Vec<(usize, Address)>,
}

/// A branch: where its own part of the log begins, and what the first way through it has written once that has ended.
struct Branch {
    start: usize,
    others: Option<Vec<Address>>,
}

impl<'a> Flow<'a> {
    fn new(code: &'a Code, verifier: &Verifier<'_>) -> Self {
        Self {
            code,
            calls: code.ops.iter().map(|op| verifier.call_ranges(op)).collect(),
            written: vec![false; code.private.len()],
            log: Vec::new(),
            open: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Reads of temporaries that need not have been written.
    fn unwritten(&mut self) -> Vec<(usize, Address)> {
        for (position, op) in self.code.ops.iter().enumerate() {
            op.for_each_source(|source| self.read(position, source));
            let (read, written) = self.calls[position].clone();
            read.for_each(|source| self.read(position, source));
            written.chain(op.target()).for_each(|target| self.write(target));
            self.branch(op);
        }
        std::mem::take(&mut self.found)
    }

    fn index(&self, address: Address) -> Option<usize> {
        self.code.private.contains(&address).then(|| (address - self.code.private.start) as usize)
    }

    fn read(&mut self, position: usize, address: Address) {
        if self.index(address).is_some_and(|index| !self.written[index]) {
            self.found.push((position, address));
        }
    }

    fn write(&mut self, address: Address) {
        if let Some(index) = self.index(address)
            && !std::mem::replace(&mut self.written[index], true)
        {
            self.log.push(address);
        }
    }

    fn branch(&mut self, op: &Op) {
        match *op {
            Op::If { .. } => self.open.push(Branch { start: self.log.len(), others: None }),
            Op::Else { .. } => {
                self.end_way();
                self.undo();
            }
            Op::EndIf => self.join(),
            _ => {}
        }
    }

    /// A way through the innermost branch ends here.
    fn end_way(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        let own: FxHashSet<Address> = self.log[open.start..].iter().copied().collect();
        open.others = Some(match open.others.take() {
            Some(others) => others.into_iter().filter(|address| own.contains(address)).collect(),
            None => self.log[open.start..].to_vec(),
        });
    }

    fn undo(&mut self) {
        let Some(start) = self.open.last().map(|open| open.start) else { return };
        for address in self.log.split_off(start) {
            if let Some(index) = self.index(address) {
                self.written[index] = false;
            }
        }
    }

    /// Behind a branch: what both ways have written.
    fn join(&mut self) {
        self.end_way();
        self.undo();
        let Some(branch) = self.open.pop() else { return };
        branch.others.into_iter().flatten().for_each(|address| self.write(address));
    }
}

#[cfg(test)]
mod tests;
