//! What the location of events needs when integration begins anew: the frozen state of every relation, and the band
//! around zero in which rounding alone decides the sign of its residue.
//!
//! A relation inside its band keeps its state until the residue leaves the band on the other side; this is the rule of two
//! shifted crossing functions (Elmqvist, Cellier and Otter 1993) with the width of the rounding errors.

use compile::{Address, Memory, Program, RelationKind, Side};
use rustc_hash::{FxHashMap, FxHashSet};
use solve::RootFinder;
use solve::roots::Crossing;
use transform::Role;

use crate::machine::Machine;
use crate::signals::{Signals, follows_loop};
use crate::systems;

/// The band of residues that no simultaneous system is involved in.
const PLAIN_BAND: f64 = 1e-15;
/// Of residues that were never as large as this it is less in proportion: in what is small altogether, rounding is too.
const PLAIN_SIZE: f64 = 1e-3;
/// The same of residues that are integrated, where errors are larger than rounding.
const INTEGRATED_SIZE: f64 = 1e-9;
/// What is integrated and was never larger than this, in nominal values, is nothing but errors: a brake that never moved.
const NOTHING: f64 = 1e-13;
/// Bands are wider than what the systems take for rounding, so that a relation that stayed as it was lies inside.
const MARGIN: f64 = 2.0;

/// Variables between a comparison and the systems it is computed from.
const FURTHEST: usize = 64;

#[derive(Clone)]
pub struct Bands {
    residues: Vec<f64>,
    given: Vec<i8>,
    bands: Vec<f64>,
    /// The least bands of crossing functions, as they were asked for.
    least: Vec<f64>,
    /// The bands of rounding alone.
    plain: Vec<f64>,
    /// The bands of relations that change without an effect.
    idle: Vec<f64>,
    /// The bands of residues that do not move but for rounding errors.
    drift: Vec<f64>,
    /// The largest nominal value in a residue that is integrated; zero for others.
    nominals: Vec<f64>,
    /// The crossing functions of the relations of each system.
    of_system: Vec<(compile::SystemId, Vec<usize>)>,
    /// Comparisons outside of systems that are computed from unknowns of systems, these systems, and how far rounding reaches
    /// in what is computed from each.
    behind: Vec<Behind>,
    systems: Vec<compile::SystemId>,
    widths: Vec<f64>,
}

/// A comparison and the systems whose rounding errors it has.
#[derive(Clone)]
struct Behind {
    relation: compile::RelationId,
    function: usize,
    /// By their places in the list.
    systems: Vec<usize>,
    /// Whether it tells that relations of a loop have changed: not any more when the event has noted that, or found that rounding
    /// made the change.
    follows_loop: bool,
}

/// The crossing functions of comparisons outside of systems that are computed from unknowns of systems, with these.
pub fn comparisons_behind_systems(program: &Program) -> Vec<(usize, Vec<compile::SystemId>)> {
    let (behind, systems) = behind(program, &inside(program));
    let of = |behind: &Behind| behind.systems.iter().map(|&system| systems[system]).collect();
    behind.iter().filter(|behind| !behind.follows_loop).map(|behind| (behind.function, of(behind))).collect()
}

/// The crossing functions of the relations of each system.
fn inside(program: &Program) -> Vec<(compile::SystemId, Vec<usize>)> {
    let count = program.roots.len();
    let mut of_system = Vec::new();
    for &step in &program.sections.events {
        let compile::SectionStep::Solve(system) = step else { continue };
        let relations = &program.systems[system].relations;
        let inside = |k: &usize| {
            let relation = program.roots[*k].relation;
            let is_inside = relations.binary_search(&relation).is_ok();
            is_inside && systems::is_rounded(program, &program.systems[system], relation)
        };
        if !relations.is_empty() {
            of_system.push((system, (0..count).filter(inside).collect()));
        }
    }
    of_system
}

impl Bands {
    pub fn new(program: &Program) -> Self {
        let count = program.roots.len();
        let of_system = inside(program);
        let (behind, systems) = behind(program, &of_system);
        Self {
            residues: vec![0.0; count],
            given: vec![0; count],
            bands: vec![0.0; count],
            least: vec![PLAIN_BAND; count],
            plain: vec![0.0; count],
            idle: vec![0.0; count],
            drift: vec![0.0; count],
            nominals: Vec::new(),
            widths: vec![0.0; systems.len()],
            behind,
            systems,
            of_system,
        }
    }

    /// Writes how far rounding reaches in residues outside of systems. Those that made the event keep their signs within it;
    /// for the others that has no effect (a negative band) before the iteration does not come to rest without it.
    pub fn prepare(&mut self, memory: &mut Memory, program: &Program, signals: &mut Signals, crossings: &[Crossing]) {
        self.measure(program, memory);
        for behind in &self.behind {
            let triggered =
                !behind.follows_loop && crossings.iter().any(|crossing| crossing.function == behind.function);
            let band = behind.band(&self.widths, memory, program, signals).max(self.plain[behind.function]);
            let place = program.layout.relations[behind.relation].band() as usize;
            memory.values[place] = if triggered { band } else { -band };
        }
    }

    /// Finds out how far rounding reaches in what is computed from systems.
    fn measure(&mut self, program: &Program, memory: &Memory) {
        for (width, &system) in self.widths.iter_mut().zip(&self.systems) {
            *width = systems::rounding(program, &program.systems[system], memory);
        }
    }

    /// The relations that triggered an event take the signs they have there.
    pub fn enter(&self, memory: &mut Memory, program: &Program, crossings: &[Crossing]) {
        for crossing in crossings {
            let relation = &program.layout.relations[program.roots[crossing.function].relation];
            if let RelationKind::Compare { .. } = relation.kind {
                memory.values[relation.state as usize] = f64::from(crossing.to);
            }
        }
    }

    /// The residue of a crossing function at the point at which [`restart`](Self::restart) looked, and its frozen sign.
    pub fn frozen(&self, function: usize) -> (f64, i8) {
        (self.residues[function], self.given[function])
    }

    /// How far rounding reaches in a crossing function, at the point at which [`restart`](Self::restart) looked.
    pub fn width(&self, function: usize) -> f64 {
        self.bands[function]
    }

    /// Bands as narrow as rounding.
    pub fn narrow(&mut self) {
        self.least.fill(PLAIN_BAND);
    }

    /// Lets a relation keep its state while its residue is not larger than `width`.
    pub fn widen(&mut self, program: &Program, relation: compile::RelationId, width: f64) {
        for (least, root) in self.least.iter_mut().zip(&program.roots) {
            if root.relation == relation {
                *least = least.max(width);
            }
        }
    }

    /// The band of a relation that changes without an effect.
    pub fn set_idle(&mut self, function: usize, width: f64) {
        self.idle[function] = width;
    }

    /// The band of a residue that does not move but for rounding errors.
    pub fn set_drift(&mut self, function: usize, width: f64) {
        self.drift[function] = width;
    }

    /// Freezes the states of all relations at the point in memory.
    pub fn restart(&mut self, machine: &mut Machine, roots: &mut RootFinder, signals: &mut Signals) {
        if self.residues.is_empty() {
            return;
        }
        let program = &machine.program;
        program.crossings(&mut machine.memory, &mut self.residues);
        if self.nominals.is_empty() {
            self.nominals = nominals(machine);
        }
        for (function, (band, least)) in self.bands.iter_mut().zip(&self.least).enumerate() {
            let size = roots.sizes(function).0.max(self.residues[function].abs());
            let is_plain = *least == PLAIN_BAND && size > 0.0;
            self.plain[function] = plain_band(size, self.nominals[function]);
            *band = if is_plain { self.plain[function] } else { *least };
        }
        for ((band, idle), drift) in self.bands.iter_mut().zip(&self.idle).zip(&self.drift) {
            *band = band.max(*idle).max(*drift);
        }
        for (system, functions) in &self.of_system {
            let noise = MARGIN * systems::noise(program, &program.systems[*system], &machine.memory);
            functions.iter().for_each(|&k| self.bands[k] = self.bands[k].max(noise));
        }
        self.measure(program, &machine.memory);
        for behind in &self.behind {
            let width = behind.band(&self.widths, &machine.memory, program, signals);
            self.bands[behind.function] = self.bands[behind.function].max(width);
        }
        for (given, root) in self.given.iter_mut().zip(&program.roots) {
            let relation = &program.layout.relations[root.relation];
            *given = match root.side {
                Side::Residue => machine.memory.values[relation.state as usize] as i8,
                // Inside, the argument is above the lower bound and below the upper one.
                Side::Lower => 1,
                Side::Upper => -1,
            };
        }
        roots.restart_in_bands(&self.residues, &self.given, &self.bands);
    }
}

/// The band of a residue that no system is involved in, by the largest value that it had.
fn plain_band(size: f64, nominal: f64) -> f64 {
    if nominal == 0.0 {
        return PLAIN_BAND * (size / PLAIN_SIZE).min(1.0);
    }
    let share = size / nominal;
    let share = if share < NOTHING { 1.0 } else { (share / INTEGRATED_SIZE).min(1.0) };
    PLAIN_BAND * nominal.min(1.0) * share
}

/// The size of the constant or parameter that something is compared with; zero where there is none.
pub fn threshold(program: &Program, memory: &Memory, kind: RelationKind) -> f64 {
    let RelationKind::Compare { left, right, .. } = kind else { return 0.0 };
    let exprs = &program.model().exprs;
    let is_parameter =
        |variable: dae::VarId| matches!(program.schedule.roles[variable], Role::Constant | Role::Parameter);
    let given = |side: dae::ExprId| match exprs.node(side) {
        dae::Node::Real(value) => value.abs(),
        dae::Node::Var(variable) if is_parameter(variable) => program.value(memory, variable).abs(),
        _ => 0.0,
    };
    given(left).max(given(right))
}

/// For each crossing function what is a large residue, if that is integrated: the value that something is compared with, else the
/// largest nominal value.
fn nominals(machine: &Machine) -> Vec<f64> {
    let program = &machine.program;
    let exprs = &program.model().exprs;
    let is_parameter =
        |variable: dae::VarId| matches!(program.schedule.roles[variable], Role::Constant | Role::Parameter);
    let nominal = |root: &compile::Root| {
        let relation = &program.layout.relations[root.relation];
        if relation.class < compile::Class::Continuous {
            return 0.0;
        }
        let given = threshold(program, &machine.memory, relation.kind);
        if given > 0.0 {
            return given;
        }
        let variables = exprs.dependencies(&[relation.residue]).variables;
        let changing = variables.iter().filter(|&&variable| !is_parameter(variable));
        let largest = changing.map(|&variable| machine.nominal(variable)).fold(0.0, f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    };
    program.roots.iter().map(nominal).collect()
}

impl Behind {
    /// How far rounding reaches in the residue: where it is no linear function of unknowns, as far as it changes with them.
    fn band(&self, widths: &[f64], memory: &Memory, program: &Program, signals: &mut Signals) -> f64 {
        let width = MARGIN * self.systems.iter().map(|&system| widths[system]).fold(0.0, f64::max);
        let width = signals.spread(self.function, program, memory, width).unwrap_or(width);
        width.min(widest(program, memory, self.relation))
    }
}

/// The widest band of a comparison. Who compares with a small number says that it means something, however large the unknowns are
/// that the rest is computed from. A number next to the rounding errors of 1, as `Modelica.Constants.eps`, stands for zero.
pub fn widest(program: &Program, memory: &Memory, relation: compile::RelationId) -> f64 {
    const PART: f64 = 1e-3;
    const LEAST: f64 = 1e4 * f64::EPSILON;
    let given = threshold(program, memory, program.layout.relations[relation].kind);
    if given > LEAST { PART * given } else { f64::INFINITY }
}

/// Follows the residues of comparisons back to the systems that they are computed from; a list of these, too.
fn behind(program: &Program, of_system: &[(compile::SystemId, Vec<usize>)]) -> (Vec<Behind>, Vec<compile::SystemId>) {
    let inside: FxHashSet<usize> = of_system.iter().flat_map(|(_, functions)| functions.iter().copied()).collect();
    let (model, layout) = (program.model(), &program.layout);
    let mut system_of: FxHashMap<Address, compile::SystemId> = FxHashMap::default();
    for &step in [&program.sections.dynamics, &program.sections.events, &program.sections.outputs].into_iter().flatten()
    {
        let compile::SectionStep::Solve(system) = step else { continue };
        system_of.extend(program.systems[system].unknowns.iter().map(|&variable| (layout.slot(variable), system)));
    }
    if system_of.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let assignments = program.schedule.blocks.iter().filter_map(|block| match block {
        transform::Block::Assign { assignment, .. } => Some((layout.slot(assignment.variable), assignment.value)),
        transform::Block::System { .. } => None,
    });
    let assigned: FxHashMap<Address, dae::ExprId> = assignments.collect();
    let systems_behind = |residue: dae::ExprId| {
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut open = vec![residue];
        while let Some(expression) = open.pop().filter(|_| seen.len() < FURTHEST) {
            for variable in model.exprs.dependencies(&[expression]).variables {
                let slot = layout.slot(variable);
                match system_of.get(&slot) {
                    Some(&system) if !found.contains(&system) => found.push(system),
                    Some(_) => {}
                    None if seen.insert(slot) => open.extend(assigned.get(&slot)),
                    None => {}
                }
            }
        }
        found
    };
    let (mut list, mut all) = (Vec::new(), Vec::new());
    for (function, root) in program.roots.iter().enumerate().filter(|(function, _)| !inside.contains(function)) {
        let relation = &layout.relations[root.relation];
        if let RelationKind::Compare { .. } = relation.kind {
            let systems = systems_behind(relation.residue);
            let mut place = |&system: &compile::SystemId| {
                let known = all.iter().position(|&other| other == system);
                known.unwrap_or_else(|| {
                    all.push(system);
                    all.len() - 1
                })
            };
            let systems: Vec<usize> = systems.iter().map(&mut place).collect();
            if !systems.is_empty() {
                let follows_loop = follows_loop(program, relation);
                list.push(Behind { relation: root.relation, function, systems, follows_loop });
            }
        }
    }
    (list, all)
}
