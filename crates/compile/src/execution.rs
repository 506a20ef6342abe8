//! Runs the code of a program on a memory.

use std::sync::{Arc, Mutex};

use dae::{ExprId, Exprs, Node, VarId, VariableType};
use native::Native;
use transform::Role;

use crate::code::{Address, ChunkId};
use crate::culprit;
use crate::failure::Failure;
use crate::layout::{CHECK, Class, LIVE, Relation, RelationKind};
use crate::memory::{History, Memory};
use crate::program::{Program, SectionStep, Side, SystemId, bounds};
use crate::quick::SharedQuick;
use crate::runtime::Runtime;
use crate::signals::{Driven, Signals};

impl Program {
    /// Takes note of how large continuous variables are.
    pub fn note_size(&self, memory: &mut Memory) {
        if memory.size >= 1.0 {
            return;
        }
        let is_continuous = |role: &Role| matches!(role, Role::State { .. } | Role::Algebraic | Role::Input);
        for (variable, role) in self.schedule.roles.iter() {
            // Derivatives are as large as time constants are short.
            if !is_continuous(role) || self.model().variables[variable].derivative_of.is_some() {
                continue;
            }
            let value = memory.values[self.layout.slot(variable) as usize].abs();
            if value > memory.size && value.is_finite() {
                memory.size = value.min(1.0);
            }
        }
    }

    /// Memory with literal values of parameters and start values in it.
    pub fn memory(&self) -> Memory {
        let mut memory = Memory {
            values: vec![0.0; self.length],
            strings: self.pool.strings.clone(),
            delays: History::of(&self.layout),
            driven: Driven::default(),
            native: Arc::new(Mutex::new(Native::for_model(&self.schedule.model))),
            size: 0.0,
            call_failure: None,
            quick: SharedQuick::default(),
            scratch: Vec::new(),
        };
        let constants = self.regions.constants as usize;
        memory.values[constants..constants + self.pool.constants.values.len()]
            .copy_from_slice(&self.pool.constants.values);
        memory.set_lambda(1.0);
        first_values(self, &mut memory);
        memory
    }

    /// From now on signals determine inputs in memory; jumps up to `start` are passed.
    pub fn drive(&self, memory: &mut Memory, signals: &Arc<Signals>, start: f64) {
        memory.driven = Driven::new(self.model(), &self.layout, signals, start);
    }

    /// Runs one piece of code; fails when a result is not finite.
    pub fn run_chunk(&self, chunk: ChunkId, memory: &mut Memory) -> Result<(), Failure> {
        if self.try_chunk(chunk, memory) {
            return Ok(());
        }
        culprit::run_again(self, &self.chunks[chunk], memory)
    }

    /// Why a section left something that is not finite at an address that is not checked, such as that of an action.
    pub fn explain(&self, section: &[SectionStep], address: Address, memory: &mut Memory) -> Failure {
        let writes = |step: &&SectionStep| match **step {
            SectionStep::Code(chunk) => self.chunks[chunk].ops.iter().any(|op| op.target() == Some(address)),
            SectionStep::Solve(_) => false,
        };
        match section.iter().find(writes) {
            Some(&SectionStep::Code(chunk)) => culprit::find_at(self, &self.chunks[chunk], memory, Some(address)),
            _ => Failure::unknown(),
        }
    }

    /// Whether a relation may have operands that are undefined although all variables are finite.
    pub fn has_partial_relations(&self) -> bool {
        self.layout.relations.values().any(|relation| self.is_partial(relation))
    }

    fn is_partial(&self, relation: &Relation) -> bool {
        relation.class != Class::Discrete && self.model().exprs.is_partial(relation.residue)
    }

    /// Whether an operand of a relation is undefined at the values in memory, in whatever branch it stands.
    pub fn has_undefined_relation(&self, memory: &mut Memory) -> bool {
        for (code, on_time) in [(self.roots_code, false), (self.time_code, true)] {
            self.execute(code, memory);
            let of_code =
                |relation: &&Relation| relation.class != Class::Discrete && (relation.class == Class::Time) == on_time;
            let relations = self.layout.relations.values().filter(of_code);
            let mut residues = relations.zip(&memory.values[self.regions.outputs as usize..]);
            if residues.any(|(relation, residue)| !residue.is_finite() && self.is_partial(relation)) {
                return true;
            }
        }
        false
    }

    /// Evaluates all that holds at an event with the relations as they are, at a point that is evaluated: fails where
    /// something that decides is undefined. Between events nobody looks at the operands of relations.
    pub fn check_conditions(&self, memory: &mut Memory) -> Result<(), Failure> {
        memory.set_live(false);
        let kept = memory.values.clone();
        let steps = self.sections.events.iter();
        let outcome = steps.into_iter().try_for_each(|step| match *step {
            SectionStep::Code(chunk) => self.run_chunk(chunk, memory),
            SectionStep::Solve(system) => self.run_chunk(self.systems[system].residuals, memory),
        });
        memory.values = kept;
        outcome
    }

    /// Whether all results are finite.
    fn try_chunk(&self, chunk: ChunkId, memory: &mut Memory) -> bool {
        let compiled = self.execute(chunk, memory);
        let code = &self.chunks[chunk];
        if compiled && code.kernel.is_none() && !code.outputs.is_empty() && memory.values[CHECK as usize] == 0.0 {
            return true;
        }
        if let Some(results) = &self.kernel_results[chunk] {
            return results.are_finite(&memory.values);
        }
        // Zero times what is not finite is not zero; without an early end the loop has no branches.
        code.outputs.iter().fold(0.0, |sum, &output| sum + 0.0 * memory.values[output as usize]) == 0.0
    }

    /// Runs a section; `solve` is called for each simultaneous system and has to leave its solution in memory (the
    /// last thing it does is an evaluation of `residuals`, so that inner variables fit).
    pub fn run<E: From<Failure>>(
        &self,
        section: &[SectionStep],
        memory: &mut Memory,
        solve: &mut dyn FnMut(SystemId, &mut Memory) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = section;
        loop {
            rest = &rest[self.run_machine_code(rest, memory)..];
            let Some((step, others)) = rest.split_first() else { return Ok(()) };
            match *step {
                SectionStep::Code(chunk) => self.run_chunk(chunk, memory)?,
                SectionStep::Solve(system) => solve(system, memory)?,
            }
            rest = others;
        }
    }

    /// Runs the first steps as long as they are machine code and give finite results; how many that are.
    fn run_machine_code(&self, steps: &[SectionStep], memory: &mut Memory) -> usize {
        let (values, mut runtime) = Runtime::new(self, &self.pool.calls, memory);
        if values.len() < self.length {
            return 0;
        }
        // Code without results leaves it as it is.
        values[CHECK as usize] = 0.0;
        let mut finite = |step: &SectionStep| match *step {
            // Kernels do not look at their results.
            SectionStep::Code(chunk) if self.chunks[chunk].kernel.is_none() && self.machine.is_ready(chunk) => {
                self.machine.run(chunk, values, &mut runtime) && values[CHECK as usize] == 0.0
            }
            _ => false,
        };
        steps.iter().take_while(|step| finite(step)).count()
    }

    /// Evaluates inner variables and residuals at the iteration variables in memory.
    pub fn residuals(&self, system: SystemId, memory: &mut Memory, out: &mut [f64]) -> Result<(), Failure> {
        self.run_chunk(self.systems[system].residuals, memory)?;
        self.read_outputs(memory, out);
        Ok(())
    }

    /// The same, without the reason where there is none: to find that takes far longer, and iterations try many points.
    pub fn try_residuals(&self, system: SystemId, memory: &mut Memory, out: &mut [f64]) -> bool {
        let evaluated = self.try_chunk(self.systems[system].residuals, memory);
        self.read_outputs(memory, out);
        evaluated
    }

    pub(crate) fn read_outputs(&self, memory: &Memory, out: &mut [f64]) {
        let start = self.regions.outputs as usize;
        out.copy_from_slice(&memory.values[start..start + out.len()]);
    }

    /// The residues of a system's relations, at the solution in memory. One in a branch that is not active may be NaN.
    pub fn system_residues(&self, system: SystemId, memory: &mut Memory, out: &mut [f64]) {
        if let Some(code) = self.systems[system].residues {
            self.execute(code, memory);
            self.read_outputs(memory, out);
        }
    }

    /// Evaluates every crossing function. One that cannot be evaluated now (NaN) stands in a branch that is not active.
    pub fn crossings(&self, memory: &mut Memory, out: &mut [f64]) {
        self.execute(self.roots_code, memory);
        let mut output = self.regions.outputs as usize;
        for (k, root) in self.roots.iter().enumerate() {
            let value = memory.values[output];
            let relation = &self.layout.relations[root.relation];
            let state = memory.values[relation.state as usize];
            out[k] = match relation.kind {
                RelationKind::Compare { .. } => value,
                RelationKind::Round { rounding, .. } => {
                    let (lower, upper) = bounds(rounding, state);
                    value - if root.side == Side::Lower { lower } else { upper }
                }
            };
            if root.side != Side::Lower {
                output += 1;
            }
        }
    }

    /// The residues of the comparisons that are not discrete, in the order of their ids. One that cannot be evaluated now (NaN)
    /// stands in a branch that is not active.
    pub fn comparison_residues(&self, memory: &mut Memory, out: &mut Vec<f64>) {
        let compares = |relation: &Relation| matches!(relation.kind, RelationKind::Compare { .. });
        let counts = |relation: &&Relation| relation.class != Class::Discrete && compares(relation);
        out.clear();
        out.resize(self.layout.relations.values().filter(counts).count(), f64::NAN);
        for (code, on_time) in [(self.roots_code, false), (self.time_code, true)] {
            self.execute(code, memory);
            let (mut place, mut output) = (0, self.regions.outputs as usize);
            for relation in self.layout.relations.values().filter(|relation| relation.class != Class::Discrete) {
                let is_here = (relation.class == Class::Time) == on_time;
                if is_here && compares(relation) {
                    out[place] = memory.values[output];
                }
                place += usize::from(compares(relation));
                output += usize::from(is_here);
            }
        }
    }

    /// Sets the state of every relation from its operands, whether or not the branch it stands in is active.
    pub fn update_relations(&self, memory: &mut Memory) {
        self.update(self.update_code, memory);
    }

    /// The same for relations between discrete values or on time alone, whose residues have no errors.
    pub fn update_exact_relations(&self, memory: &mut Memory) {
        self.update(self.exact_code, memory);
    }

    /// Sets the relations whose residues change at events only.
    pub fn update_discrete_relations(&self, memory: &mut Memory) {
        self.update(self.discrete_code, memory);
    }

    fn update(&self, code: ChunkId, memory: &mut Memory) {
        let live = memory.values[LIVE as usize];
        memory.set_live(true);
        self.execute(code, memory);
        memory.values[LIVE as usize] = live;
    }

    /// The value of a variable, aliases included.
    pub fn value(&self, memory: &Memory, variable: VarId) -> f64 {
        let place = self.layout.place(variable);
        let value = memory.values[place.slot as usize];
        if place.negated { self.negate(variable, value) } else { value }
    }

    /// Sets a variable, aliases included.
    pub fn set_value(&self, memory: &mut Memory, variable: VarId, value: f64) {
        let place = self.layout.place(variable);
        memory.values[place.slot as usize] = if place.negated { self.negate(variable, value) } else { value };
    }

    fn negate(&self, variable: VarId, value: f64) -> f64 {
        match self.model().variables[variable].ty {
            dae::VariableType::Boolean => crate::math::truth(value == 0.0),
            _ => -value,
        }
    }

    /// Copies the states from memory.
    pub fn read_states(&self, memory: &Memory, out: &mut [f64]) {
        self.state_places.read(&memory.values, out);
    }

    /// Copies the states to memory.
    pub fn write_states(&self, memory: &mut Memory, states: &[f64]) {
        self.state_places.write(&mut memory.values, states);
    }

    /// Whether the states in memory are these, to the last bit.
    pub fn has_states(&self, memory: &Memory, states: &[f64]) -> bool {
        let mut pairs = self.states.iter().zip(states);
        pairs.all(|(state, value)| memory.values[state.value as usize].to_bits() == value.to_bits())
    }

    /// Copies the derivatives from memory.
    pub fn read_derivatives(&self, memory: &Memory, out: &mut [f64]) {
        self.derivative_places.read(&memory.values, out);
    }

    /// Left limits become the present values.
    pub fn save_pre(&self, memory: &mut Memory) {
        for &(slot, pre) in &self.pre_pairs {
            memory.values[pre as usize] = memory.values[slot as usize];
        }
    }

    /// Addresses of variables that differ from their left limits: the event iteration goes on while there are any
    /// discrete ones.
    pub fn changed(&self, memory: &Memory) -> impl Iterator<Item = Address> {
        self.pre_pairs
            .iter()
            .filter(|&&(slot, pre)| memory.values[slot as usize].to_bits() != memory.values[pre as usize].to_bits())
            .map(|&(slot, _)| slot)
    }

    /// Runs one piece of code; whether that was machine code.
    pub(crate) fn execute(&self, chunk: ChunkId, memory: &mut Memory) -> bool {
        let (values, mut runtime) = Runtime::new(self, &self.pool.calls, memory);
        if values.len() >= self.length && self.machine.run(chunk, values, &mut runtime) {
            return true;
        }
        let code = &self.chunks[chunk];
        match &code.kernel {
            Some(kernel) => kernel.run(values, self.regions.constants, self.regions.temporaries),
            None => runtime.interpret(chunk, values),
        }
        false
    }
}

/// Literal bindings of parameters and literal start values.
fn first_values(program: &Program, memory: &mut Memory) {
    let model = program.model();
    for (id, variable) in model.variables.iter() {
        let value = match program.schedule.roles.get(id) {
            Some(Role::Alias { .. }) => continue,
            Some(Role::Constant | Role::Parameter) => variable.binding.or(variable.attributes.start),
            _ => variable.attributes.start,
        };
        let value = match value.and_then(|value| literal(&model.exprs, value)) {
            Some(Literal::Number(number)) => number,
            Some(Literal::Text(text)) => memory.strings.intern(text.as_str()),
            None => default_value(program, id, memory),
        };
        memory.values[program.layout.slot(id) as usize] = value;
    }
    for slots in program.layout.actions.iter().chain(&program.layout.initial_actions) {
        memory.values[slots.active as usize] = 1.0;
        memory.values[slots.value as usize] = 1.0;
    }
}

fn default_value(program: &Program, variable: VarId, memory: &mut Memory) -> f64 {
    match program.model().variables[variable].ty {
        VariableType::Enumeration(_) => 1.0,
        VariableType::String => memory.strings.intern(""),
        _ => 0.0,
    }
}

/// The value of an expression that is one.
pub enum Literal {
    Number(f64),
    Text(base::Name),
}

pub fn literal(exprs: &Exprs, expression: ExprId) -> Option<Literal> {
    let number = |node: Node| match node {
        Node::Real(value) => Some(value),
        Node::Integer(value) => Some(value as f64),
        Node::Boolean(value) => Some(crate::math::truth(value)),
        _ => None,
    };
    match exprs.node(expression) {
        Node::String(text) => Some(Literal::Text(text)),
        Node::Neg(a) => number(exprs.node(a)).map(|value| Literal::Number(-value)),
        node => number(node).map(Literal::Number),
    }
}
