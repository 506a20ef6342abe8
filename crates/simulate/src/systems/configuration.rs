//! Finding relations and discrete unknowns of a system together with its continuous unknowns, at an event.
//!
//! A configuration is the states of the relations and the values of the discrete unknowns inside the system: the last
//! configuration is tried first, then the one that its solution asks for, then one change at a time, then combinations (Otter,
//! *Objektorientierte Modellierung*, part 8); none is tried twice. Where no configuration agrees with itself, left limits of
//! the discrete unknowns are let follow, as in the iteration of an event. Where one is found that the last one did not ask for,
//! others are looked at: if they agree with themselves too, the model does not say which.

use std::collections::VecDeque;

use compile::{Memory, Program, RelationKind, SystemId};
use rustc_hash::FxHashSet;

use super::{ConfigurationEntry, Method, SMALLEST_NOISE, Solved, Workspace, largest, noise, write};
use crate::ambiguity::{Ambiguity, Difference};
use crate::system_failure::Reason;

/// Configurations tried before an event is given up.
const MOST_CONFIGURATIONS: usize = 4096;

/// Configurations that are asked for, tried before other ways.
const MOST_ASKED_FOR: usize = 64;

/// Configurations without a solution that is found quickly, before other ways are gone.
const MOST_FAILURES: usize = 12;

/// Configurations that are tried by every means.
const MOST_THOROUGH: usize = 32;

/// How far rounding errors of elements that are nearly ideal reach, relative to the largest unknown: they are far larger than
/// those of the unknowns.
const ROUNDING: f64 = 1e-9;

/// Errors of integration are larger still: a brake that holds behind a gear has a velocity of many times the tolerance, and
/// between the torques at which it lets go and at which it slides with that velocity nothing agrees with itself.
fn errors_of_integration(tolerance: f64) -> f64 {
    const TIMES: f64 = 100.0;
    const MOST: f64 = 1e-3;
    (TIMES * tolerance).clamp(ROUNDING, MOST)
}

impl Workspace {
    /// Finds relations, discrete unknowns and continuous unknowns that agree: the present configuration, those that
    /// solutions ask for, and where these lead nowhere every combination.
    pub(super) fn solve_configuration(
        &mut self,
        program: &Program,
        system: SystemId,
        memory: &mut Memory,
    ) -> Result<Solved, Reason> {
        let found = &program.systems[system];
        if self.places.is_empty() {
            self.drop_factors(found.kind);
            return self.solve_frozen(program, system, memory);
        }
        let solved = self.settle(program, system, memory)?;
        self.look_for_other_solutions(program, system, memory);
        Ok(solved)
    }

    /// Discrete unknowns follow from relations that stay as they are.
    pub(super) fn solve_decided(
        &mut self,
        program: &Program,
        system: SystemId,
        memory: &mut Memory,
    ) -> Result<Solved, Reason> {
        /// Discrete unknowns may depend on each other and, without relations, on continuous ones.
        const MOST_ROUNDS: usize = 8;
        let found = &program.systems[system];
        let Some(chunk) = found.discrete_code else {
            return self.solve_frozen(program, system, memory);
        };
        memory.set_live(false);
        program.run_chunk(chunk, memory).map_err(Reason::Evaluation)?;
        let mut outcome = None;
        for _ in 0..MOST_ROUNDS {
            let before = configuration(memory, &self.places);
            self.drop_factors(found.kind);
            let solved = self.solve_frozen(program, system, memory)?;
            program.run_chunk(chunk, memory).map_err(Reason::Evaluation)?;
            outcome = Some(solved);
            if key(&before) == key(&configuration(memory, &self.places)) {
                break;
            }
        }
        outcome.map_or_else(|| self.solve_frozen(program, system, memory), Ok)
    }

    fn settle(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Result<Solved, Reason> {
        self.decide_by_start_values(program, system, memory);
        self.decide_outside(program, system, memory);
        self.follow_others(program, system, memory);
        // Other ways to a solution are long: every configuration that is asked for has its first try before one has them all.
        let first = self.find_quickly(program, system, memory);
        let Err(reason) = first else { return first };
        if !matches!(self.method, Method::Linear { .. }) {
            if let Some(solved) = self.find_whole(program, system, memory, SearchEffort::Quick) {
                return Ok(solved);
            }
            if !matches!(reason, Reason::NoConfiguration { .. }) {
                let asked_for = self.find_configuration(program, system, memory, Reach::AskedFor);
                if asked_for.is_ok() {
                    return asked_for;
                }
            }
            if let Some(solved) = self.find_unfrozen(program, system, memory) {
                return Ok(solved);
            }
            if let Some(solved) = self.find_whole(program, system, memory, SearchEffort::Every) {
                return Ok(solved);
            }
        }
        if matches!(reason, Reason::NoConfiguration { .. })
            && let Some(solved) = self.follow_left_limits(program, system, memory)
        {
            return Ok(solved);
        }
        self.find_configuration(program, system, memory, Reach::All)
    }

    /// The configurations that are asked for, as far as they are found without detours, and the one of the solution that
    /// relations follow.
    fn find_quickly(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Result<Solved, Reason> {
        self.set_quick(true);
        let mut outcome = self.find_configuration(program, system, memory, Reach::AskedFor);
        if outcome.is_err() && self.solve_unfrozen(program, system, memory) {
            outcome = self.find_configuration(program, system, memory, Reach::AskedFor).or(outcome);
        }
        self.set_quick(false);
        outcome
    }

    /// The configuration of the solution that relations follow.
    fn find_unfrozen(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Option<Solved> {
        let is_solved = self.solve_unfrozen(program, system, memory);
        is_solved.then(|| self.find_configuration(program, system, memory, Reach::AskedFor).ok()).flatten()
    }

    /// The same of the whole form of a torn system; if it is found, the whole form stays.
    fn find_whole(
        &mut self,
        program: &Program,
        system: SystemId,
        memory: &mut Memory,
        effort: SearchEffort,
    ) -> Option<Solved> {
        if !self.begin_whole(program, system, memory) {
            return None;
        }
        self.is_on_trial = true;
        let outcome = match effort {
            SearchEffort::Quick => self.find_quickly(program, system, memory).ok(),
            SearchEffort::Every => self.find_unfrozen(program, system, memory),
        };
        self.is_on_trial = false;
        if outcome.is_none() {
            self.whole = None;
        }
        outcome
    }

    /// Relations that have no unknowns of the system in their residues are what these say, whatever is found here.
    fn decide_outside(&mut self, program: &Program, system: SystemId, memory: &mut Memory) {
        let found = &program.systems[system];
        if self.rounded.iter().all(|&rounded| rounded) {
            return;
        }
        program.system_residues(system, memory, &mut self.residues);
        let relations = found.relations.iter().zip(&self.residues).zip(&self.rounded);
        for ((&id, &residue), _) in relations.filter(|(_, rounded)| !**rounded) {
            let relation = &program.layout.relations[id];
            let residue = residue + memory.values[relation.shift() as usize];
            let noise = outside_noise(relation.class, memory);
            let state = &mut memory.values[relation.state as usize];
            *state = wanted_state(relation.kind, *state, residue, noise);
        }
    }

    /// Discrete unknowns that follow from others without a relation are what these say: at an event in which a sliding brake
    /// comes to rest, what its friction was compared with before says nothing about whether it sticks.
    fn follow_others(&mut self, program: &Program, system: SystemId, memory: &mut Memory) {
        if let Some(chunk) = program.systems[system].following_code.filter(|_| !memory.is_initial()) {
            // What cannot be evaluated fails with the others.
            let _ = program.run_chunk(chunk, memory);
        }
    }

    /// Relations that nothing has decided yet, as at the start, are what the guesses of the unknowns make them: where several
    /// branches hold, start values say which; and a nonlinear system may have no solution that is found from other branches.
    fn decide_by_start_values(&mut self, program: &Program, system: SystemId, memory: &mut Memory) {
        const ROUNDS: usize = 3;
        let undecided = |place: &ConfigurationEntry| !place.is_comparison || memory.values[place.address] == 0.0;
        if !self.places.iter().all(undecided) {
            return;
        }
        if let Method::Linear { .. } = self.method {
            if memory.is_initial() && self.effort.calls == 0 {
                // Its solution does not depend on guesses; only those that were given say something.
                let _ = self.consequences(program, system, memory);
            }
            return;
        }
        memory.set_live(false);
        let first = configuration(memory, &self.places);
        for _ in 0..ROUNDS {
            let before = configuration(memory, &self.places);
            if !program.try_residuals(system, memory, &mut self.residuals)
                || self.consequences(program, system, memory).is_err()
            {
                self.places.iter().zip(&first).for_each(|(place, &value)| memory.values[place.address] = value);
                return;
            }
            if key(&before) == key(&configuration(memory, &self.places)) {
                return;
            }
        }
    }

    /// Equations such as `start = a > peak or pre(start) and a > 0` may contradict themselves in one evaluation and agree
    /// in the next one, in which the left limit is what this one gave. Left limits in memory stay as they are: the event
    /// goes on until they agree too. An edge inside of the loop would be lost in that way: the left limit of a condition would
    /// say that it was true before, and what its when clause assigns would have a value that nothing gave it.
    fn follow_left_limits(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Option<Solved> {
        const MOST_ROUNDS: usize = 8;
        let found = &program.systems[system];
        if found.has_own_edge {
            return None;
        }
        let slots = found.discrete.iter().map(|&variable| program.layout.slot(variable));
        let pairs: Vec<(usize, usize)> =
            slots.filter_map(|slot| program.layout.pre(slot).map(|pre| (slot as usize, pre as usize))).collect();
        let left: Vec<f64> = pairs.iter().map(|&(_, pre)| memory.values[pre]).collect();
        let first = configuration(memory, &self.places);
        let start: Vec<f64> = found.slots.iter().map(|&slot| memory.values[slot as usize]).collect();
        let mut outcome = None;
        for _ in 0..MOST_ROUNDS {
            self.drop_factors(found.kind);
            if self.solve_frozen(program, system, memory).is_err()
                || self.consequences(program, system, memory).is_err()
                || pairs.iter().all(|&(slot, pre)| memory.values[pre] == memory.values[slot])
            {
                break;
            }
            pairs.iter().for_each(|&(slot, pre)| memory.values[pre] = memory.values[slot]);
            outcome = self.find_configuration(program, system, memory, Reach::AskedFor).ok();
            if outcome.is_some() {
                break;
            }
        }
        pairs.iter().zip(&left).for_each(|(&(_, pre), &value)| memory.values[pre] = value);
        if outcome.is_none() {
            self.places.iter().zip(&first).for_each(|(place, &value)| memory.values[place.address] = value);
            write(memory, &found.slots, &start);
        }
        outcome
    }

    fn find_configuration(
        &mut self,
        program: &Program,
        system: SystemId,
        memory: &mut Memory,
        reach: Reach,
    ) -> Result<Solved, Reason> {
        let found = &program.systems[system];
        let is_quick = self.is_quick();
        // At most events the present configuration agrees with itself: that takes no memory from the system.
        self.note_present(found, memory);
        self.drop_factors(found.kind);
        let outcome = self.solve_frozen(program, system, memory);
        if let Ok(solved) = outcome {
            self.consequences(program, system, memory)?;
            let mut pairs = self.places.iter().zip(&self.present.configuration);
            if pairs.all(|(place, present)| memory.values[place.address].to_bits() == present.to_bits()) {
                return Ok(solved);
            }
        }
        let mut search = Search::new(&self.present, &self.places, &self.rounded);
        if let Some(present) = search.next_queued() {
            self.judge(program, system, memory, &mut search, &present, outcome);
        }
        loop {
            let next = search.next_queued();
            let is_enough = search.seen.len() > MOST_ASKED_FOR || is_quick && search.failures > MOST_FAILURES;
            if reach == Reach::AskedFor && (next.is_none() || is_enough) {
                break;
            }
            // A few combinations are tried before one that contradicts itself is taken: where a branch ends, as that of a
            // trigger with feedback, both of its sides contradict themselves by rounding errors, and another one holds.
            let next = next.or_else(|| if search.is_small() { search.next() } else { None });
            if next.is_none()
                && let Some(solved) = self.take_nearest(program, system, memory, &mut search, ROUNDING)?
            {
                return Ok(solved);
            }
            let Some(mut candidate) = next.or_else(|| search.next()) else { break };
            search.take(memory, &self.places, &candidate);
            // A relation that was turned to see what comes of it turns what depends on it.
            if search.turned
                && let Some(chunk) = found.discrete_code
                && program.run_chunk(chunk, memory).is_ok()
            {
                candidate = configuration(memory, &self.places);
                search.seen.insert(key(&candidate));
            }
            self.drop_factors(found.kind);
            self.set_quick(is_quick || search.seen.len() > MOST_THOROUGH);
            let outcome = self.solve_frozen(program, system, memory);
            self.set_quick(is_quick);
            if let Ok(solved) = outcome {
                self.consequences(program, system, memory)?;
                if key(&configuration(memory, &self.places)) == key(&candidate) {
                    self.missed |= search.missed;
                    return if search.was_asked_for(&candidate) {
                        Ok(solved)
                    } else {
                        self.compare_with_others(program, system, memory, &search, &candidate, solved)
                    };
                }
            }
            self.judge(program, system, memory, &mut search, &candidate, outcome);
        }
        if reach == Reach::All
            && let Some(solved) =
                self.take_nearest(program, system, memory, &mut search, errors_of_integration(self.tolerance))?
        {
            return Ok(solved);
        }
        search.give_up(memory, &self.places, found)
    }

    /// The configuration and the unknowns to start from, as they are in memory.
    fn note_present(&mut self, found: &compile::System, memory: &Memory) {
        let Present { configuration, start } = &mut self.present;
        configuration.clear();
        configuration.extend(self.places.iter().map(|place| memory.values[place.address]));
        start.clear();
        start.extend(found.slots.iter().map(|&slot| memory.values[slot as usize]));
    }

    /// What a configuration that does not hold says about the next one. Memory has what its solution asks for, if there is one.
    fn judge(
        &mut self,
        program: &Program,
        system: SystemId,
        memory: &mut Memory,
        search: &mut Search,
        candidate: &[f64],
        outcome: Result<Solved, Reason>,
    ) {
        let found = &program.systems[system];
        match outcome {
            Ok(_) => {
                let wanted = configuration(memory, &self.places);
                let size = largest(program, found, memory);
                if search.is_nearer(&self.violations, size) {
                    let share = most(&self.violations) / size;
                    search.note_nearest(program, found, memory, &self.places, candidate, share);
                    search.take(memory, &self.places, &wanted);
                }
                search.follow(candidate, &wanted, &self.violations);
            }
            Err(reason) => {
                // The one that is called for has no solution in this structure; in its own it may have.
                search.missed |= matches!(reason, Reason::Singular(_)) && search.was_asked_for(candidate);
                search.fail(candidate, reason);
                // Where an iteration got lost is no start for another one.
                write(memory, &found.slots, &search.start);
            }
        }
    }

    /// Looks for a second configuration that agrees with itself and has other values, and takes note of it.
    fn compare_with_others(
        &mut self,
        program: &Program,
        system: SystemId,
        memory: &mut Memory,
        search: &Search,
        taken: &[f64],
        solved: Solved,
    ) -> Result<Solved, Reason> {
        /// A model that is not ambiguous is not searched for it forever.
        const MOST_COMPARISONS: usize = 16;
        const DIFFERENT: f64 = 1e-6;
        if self.ambiguity.is_some() || self.comparisons >= MOST_COMPARISONS || !search.is_small() || memory.is_initial()
        {
            return Ok(solved);
        }
        self.comparisons += 1;
        let found = &program.systems[system];
        let values = |memory: &Memory| -> Vec<f64> {
            found.unknowns.iter().map(|&variable| program.value(memory, variable)).collect()
        };
        let (own, own_x) = (values(memory), self.x.clone());
        let own_zeros = self.zeros(program, system, memory);
        let size = largest(program, found, memory);
        let mut others = Search { queue: VecDeque::new(), combination: 0, ..search.clone() };
        while let Some(other) = others.next() {
            others.take(memory, &self.places, &other);
            write(memory, &found.slots, &search.start);
            if found.discrete_code.is_some_and(|chunk| program.run_chunk(chunk, memory).is_err()) {
                continue;
            }
            let other = configuration(memory, &self.places);
            self.drop_factors(found.kind);
            let agrees = self.solve_frozen(program, system, memory).is_ok()
                && self.consequences(program, system, memory).is_ok()
                && key(&configuration(memory, &self.places)) == key(&other);
            let differs = |(a, b): (&f64, &f64)| (a - b).abs() > DIFFERENT * (size + 1.0);
            if agrees && key(&other) != key(taken) && own.iter().zip(&values(memory)).any(differs) {
                let zeros = self.zeros(program, system, memory);
                // What is zero in both is on its way from one to the other.
                let is_zero = |k: usize| own_zeros[k] && zeros[k];
                let signs = found.relations.iter().zip(taken).zip(&other).enumerate();
                let differs = signs.filter(|&(k, ((_, a), b))| a != b && !is_zero(k));
                let relations: Vec<_> = differs.map(|(_, ((&id, &a), &b))| (id, a, b)).collect();
                if !relations.is_empty() {
                    let difference = Difference::Relations(relations);
                    self.ambiguity = Some(Ambiguity { system, time: memory.time(), difference });
                    break;
                }
            }
        }
        search.take(memory, &self.places, taken);
        write(memory, &found.slots, &own_x);
        self.drop_factors(found.kind);
        self.solve_frozen(program, system, memory)
    }

    /// Which residues of relations are zero to rounding at the point in memory.
    fn zeros(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Vec<bool> {
        let found = &program.systems[system];
        program.system_residues(system, memory, &mut self.residues);
        let noise = noise(program, found, memory);
        let shift = |id: compile::RelationId| memory.values[program.layout.relations[id].shift() as usize];
        found.relations.iter().zip(&self.residues).map(|(&id, residue)| (residue + shift(id)).abs() <= noise).collect()
    }

    /// Takes the configuration that errors alone speak against.
    fn take_nearest(
        &mut self,
        program: &Program,
        system: SystemId,
        memory: &mut Memory,
        search: &mut Search,
        errors: f64,
    ) -> Result<Option<Solved>, Reason> {
        // Where a configuration has no solution it may be that one which is called for.
        let nearest = search.nearest.take_if(|(share, _)| *share < errors);
        let Some((_, candidate)) = nearest.filter(|_| search.first_failure.is_none()) else {
            return Ok(None);
        };
        search.take(memory, &self.places, &candidate);
        self.drop_factors(program.systems[system].kind);
        self.solve_frozen(program, system, memory).map(Some)
    }

    /// Sets relations and discrete unknowns to what the solution in memory asks for. A relation whose residue is zero to
    /// rounding stays as it is. `violations` says then how far each relation is from what it was.
    fn consequences(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Result<(), Reason> {
        let found = &program.systems[system];
        program.system_residues(system, memory, &mut self.residues);
        let noise = noise(program, found, memory);
        self.violations.clear();
        self.violations.resize(self.residues.len(), 0.0);
        let relations = found.relations.iter().zip(&self.residues).zip(&self.rounded);
        for (((&id, &residue), &rounded), violation) in relations.zip(&mut self.violations) {
            let relation = &program.layout.relations[id];
            let place = relation.state as usize;
            let is_exact = !rounded && relation.class <= compile::Class::Time;
            let noise = if rounded { noise } else { outside_noise(relation.class, memory) };
            let residue = residue + memory.values[relation.shift() as usize];
            let wanted = wanted_state(relation.kind, memory.values[place], residue, noise);
            if wanted != memory.values[place] {
                // Just after its instant, a relation on time is as far from zero as rounding, but not by rounding.
                *violation = if is_exact { f64::INFINITY } else { residue.abs() };
                memory.values[place] = wanted;
            }
        }
        if let Some(chunk) = found.discrete_code {
            program.run_chunk(chunk, memory).map_err(Reason::Evaluation)?;
        }
        Ok(())
    }
}

fn most(violations: &[f64]) -> f64 {
    violations.iter().fold(0.0f64, |most, &violation| most.max(violation))
}

fn configuration(memory: &Memory, places: &[ConfigurationEntry]) -> Vec<f64> {
    places.iter().map(|place| memory.values[place.address]).collect()
}

fn key(configuration: &[f64]) -> Vec<u64> {
    configuration.iter().map(|value| value.to_bits()).collect()
}

/// How far rounding reaches in a residue that has no unknowns of the system in it.
pub(super) fn outside_noise(class: compile::Class, memory: &Memory) -> f64 {
    if class == compile::Class::Time { 0.0 } else { SMALLEST_NOISE * memory.size }
}

/// The state a relation takes at a residue; the one it has where rounding alone speaks against it.
pub(super) fn wanted_state(kind: RelationKind, state: f64, residue: f64, noise: f64) -> f64 {
    if residue.is_nan() {
        return state;
    }
    match kind {
        RelationKind::Compare { .. } if residue.abs() <= noise => state,
        RelationKind::Compare { .. } => f64::from(solve::roots::sign_of(residue)),
        RelationKind::Round { rounding, .. } => {
            let (lower, upper) = compile::bounds(rounding, state);
            if residue > lower - noise && residue < upper + noise { state } else { rounding.apply(residue) }
        }
    }
}

/// How long to look for a solution of one configuration.
#[derive(Clone, Copy)]
enum SearchEffort {
    /// As long as Newton's method converges by itself.
    Quick,
    /// By every means.
    Every,
}

/// How far to look for a configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The present one and those that solutions ask for.
    AskedFor,
    /// Then the one that rounding alone speaks against, then every combination.
    All,
}

/// Where a search begins.
#[derive(Clone, Default)]
pub(super) struct Present {
    configuration: Vec<f64>,
    /// The values of the iteration variables.
    start: Vec<f64>,
}

/// The configurations of one system that were tried, and those to try next.
#[derive(Clone)]
struct Search {
    /// The values of the iteration variables to start from.
    start: Vec<f64>,
    queue: VecDeque<Vec<f64>>,
    seen: FxHashSet<Vec<u64>>,
    /// What the solution before asked for; at first the configuration as it was.
    asked_for: Vec<u64>,
    first_failure: Option<Reason>,
    failures: usize,
    /// One that was asked for has no solution.
    missed: bool,
    /// The configuration that is least violated, and by how much, relative to the largest unknown.
    nearest: Option<(f64, Vec<f64>)>,
    /// The entries of a configuration that are states of comparisons of unknowns; others are decided outside.
    comparisons: Vec<usize>,
    /// Those that were reached by turning relations, and whether the one at hand was.
    turns: FxHashSet<Vec<u64>>,
    turned: bool,
    /// The next combination of the systematic search, and the configuration it starts from.
    combination: u64,
    first: Vec<f64>,
}

impl Search {
    fn new(present: &Present, places: &[ConfigurationEntry], rounded: &[bool]) -> Self {
        let first = present.configuration.clone();
        Self {
            asked_for: key(&first),
            start: present.start.clone(),
            queue: VecDeque::from([first.clone()]),
            seen: FxHashSet::default(),
            first_failure: None,
            failures: 0,
            missed: false,
            nearest: None,
            turns: FxHashSet::default(),
            turned: false,
            comparisons: (0..rounded.len()).filter(|&k| rounded[k] && places[k].is_comparison).collect(),
            combination: 0,
            first,
        }
    }

    /// The next of those that solutions asked for.
    fn next_queued(&mut self) -> Option<Vec<f64>> {
        while self.seen.len() < MOST_CONFIGURATIONS {
            let candidate = self.queue.pop_front()?;
            if self.is_new(&candidate) {
                return Some(candidate);
            }
        }
        None
    }

    /// The next combination.
    fn next(&mut self) -> Option<Vec<f64>> {
        while self.seen.len() < MOST_CONFIGURATIONS {
            let candidate = self.next_combination()?;
            if self.is_new(&candidate) {
                return Some(candidate);
            }
        }
        None
    }

    /// Whether there are so few combinations that they are quicker than anything else.
    fn is_small(&self) -> bool {
        const FEW: usize = 6;
        self.comparisons.len() <= FEW
    }

    /// Whether one configuration after the other led to this one.
    fn was_asked_for(&self, candidate: &[f64]) -> bool {
        self.asked_for == key(candidate)
    }

    fn is_new(&mut self, candidate: &[f64]) -> bool {
        let key = key(candidate);
        self.turned = self.turns.contains(&key);
        self.seen.insert(key)
    }

    /// Whether a solution violates its configuration less than others.
    fn is_nearer(&self, violations: &[f64], largest: f64) -> bool {
        let least = self.nearest.as_ref().map_or(1.0, |(least, _)| *least);
        let most = most(violations);
        most > 0.0 && most < least * largest
    }

    /// Remembers a configuration if its discrete unknowns are what its relations say.
    fn note_nearest(
        &mut self,
        program: &Program,
        found: &compile::System,
        memory: &mut Memory,
        places: &[ConfigurationEntry],
        candidate: &[f64],
        share: f64,
    ) {
        self.take(memory, places, candidate);
        let evaluated = found.discrete_code.is_none_or(|chunk| program.run_chunk(chunk, memory).is_ok());
        if evaluated && key(&configuration(memory, places)) == key(candidate) {
            self.nearest = Some((share, candidate.to_vec()));
        }
    }

    /// Every combination of the comparisons, in the order of a binary counter.
    fn next_combination(&mut self) -> Option<Vec<f64>> {
        let bits = self.comparisons.len().min(63);
        if self.combination >= 1 << bits {
            return None;
        }
        let mut candidate = self.first.clone();
        for (bit, &k) in self.comparisons.iter().take(bits).enumerate() {
            candidate[k] = if self.combination >> bit & 1 == 1 { 1.0 } else { -1.0 };
        }
        self.combination += 1;
        self.turns.insert(key(&candidate));
        Some(candidate)
    }

    fn take(&self, memory: &mut Memory, places: &[ConfigurationEntry], candidate: &[f64]) {
        places.iter().zip(candidate).for_each(|(place, &value)| memory.values[place.address] = value);
    }

    /// First all that the solution asks for, then each change alone, the largest violation first.
    fn follow(&mut self, candidate: &[f64], wanted: &[f64], violations: &[f64]) {
        self.queue.push_front(wanted.to_vec());
        self.asked_for = key(wanted);
        let size = |k: usize| violations.get(k).copied().unwrap_or(0.0);
        let mut different: Vec<usize> =
            (0..candidate.len()).filter(|&k| candidate[k].to_bits() != wanted[k].to_bits()).collect();
        different.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
        if different.len() > 1 {
            for k in different {
                let mut single = candidate.to_vec();
                single[k] = wanted[k];
                self.queue.push_back(single);
            }
        }
    }

    /// A configuration without a solution says nothing about the next: every comparison turned, one at a time.
    fn fail(&mut self, candidate: &[f64], reason: Reason) {
        self.first_failure.get_or_insert(reason);
        self.failures += 1;
        for &k in &self.comparisons {
            let mut single = candidate.to_vec();
            single[k] = if candidate[k] > 0.0 { -1.0 } else { 1.0 };
            self.turns.insert(key(&single));
            self.queue.push_back(single);
        }
    }

    /// Leaves memory as it was found.
    fn give_up(
        self,
        memory: &mut Memory,
        places: &[ConfigurationEntry],
        found: &compile::System,
    ) -> Result<Solved, Reason> {
        self.take(memory, places, &self.first);
        write(memory, &found.slots, &self.start);
        Err(self.first_failure.unwrap_or_else(|| Reason::NoConfiguration {
            tried: self.seen.len(),
            discrete: found.discrete.clone(),
            equations: found.discrete_equations.clone(),
        }))
    }
}
