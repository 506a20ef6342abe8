//! Runs in which the structure of the model changes.
//!
//! Each mode is a [`ModeRuntime`]: a program of its own, made when the mode is first tried and kept. `restart` finds the values
//! right of an instant from those left of it, `limits` what relations are there, `search` which mode confirms itself;
//! `instant` goes through an event with them, `quiet` through one that leaves the mode as it is.

mod instant;
mod left;
mod limits;
mod origins;
mod path;
mod quiet;
mod restart;
mod runtime;
mod search;
mod taken_back;
mod tangents;

use std::sync::Arc;

use base::{Diagnostic, Id};
use compile::Program;
use dae::{Model, VarId};
use rustc_hash::FxHashMap;
use solve::roots::Crossing;
use transform::modes::{Entry as ModeEntry, Key, MISSING_LAW, Modes};

pub use instant::Instant;
pub use left::{Carried, CarriedTangents, Left};
pub use limits::Horizon;
pub use restart::Jump;
pub use runtime::{ModeRuntime, Switch};
pub use search::Trial;
pub use tangents::{RestartTangents, distance};

use crate::clockwork::Clockwork;
use crate::conditions;
use crate::event_log::{Decision, Journal, ModeChange};
use crate::events::Aftermath;
use crate::initial;
use crate::machine::{Machine, Phase, Trouble};
use crate::options::Options;
use crate::sensitivities::Sensitivities;
use left::Sizes;
use limits::{Assumption, Found};
use restart::NoJump;
use runtime::RelationNumbers;
use search::{NoMode, Preference, search};

/// How often a jump is looked for again because discrete variables changed the constraints that it had met.
const MOST_ROUNDS: usize = 8;
/// How many times the drift of a step errors may reach that have added up.
const ERRORS: f64 = 10.0;

/// All modes of a run.
#[derive(Clone)]
pub struct Switching {
    modes: Arc<Modes>,
    /// Of the model in one structure; it keeps the programs of the modes.
    whole: Arc<Program>,
    options: Options,
    /// The place of the runtime in use is empty.
    runtimes: Vec<Option<Box<ModeRuntime>>>,
    active: usize,
    /// The runtime of each mode, or why it has none.
    known: FxHashMap<Key, Result<usize, String>>,
    /// What came of the last trial of each runtime.
    last: Vec<Outcome>,
    numbers: RelationNumbers,
    sizes: Sizes,
    history: History,
    scratch: InstantScratch,
    /// What the modes took.
    pub effort: Effort,
    findings: Findings,
}

/// What the run has seen of its modes.
#[derive(Clone, Default)]
struct History {
    /// The mode in which the search ended that began in this mode with this candidate.
    successors: FxHashMap<(usize, Key), Key>,
    /// What is known of transitions between two runtimes.
    transitions: FxHashMap<(usize, usize), TransitionRecord>,
    /// The runtimes in the order in which they were first entered.
    visited: Vec<usize>,
}

/// Working space of instants.
#[derive(Clone, Default)]
struct InstantScratch {
    left: Left,
    before: Vec<f64>,
    residues: Vec<f64>,
    /// The relations at zero that called for another mode in the last trial, and what they become.
    callers: Vec<(usize, f64)>,
    /// No mode agrees with itself as long as what stays at zero is zero, so that this may have either sign.
    may_choose: bool,
    /// Nor then: impulses decide nothing whose jumps are smaller than this part of what jumps.
    errors: f64,
}

/// How much work the modes were.
#[derive(Clone, Default)]
pub struct Effort {
    /// Seconds spent on making programs of modes.
    pub seconds: f64,
    /// How many programs were made.
    pub made: u64,
    /// How often a mode was tried after an event.
    pub trials: u64,
}

/// What is to be reported about the modes.
#[derive(Clone, Default)]
struct Findings {
    warnings: Vec<Diagnostic>,
    /// What other values of parameters than at translation change in a mode.
    violation: Option<Diagnostic>,
    /// A mode leaves open how something moves.
    motion_undetermined: bool,
    /// Start values that contradict each other in every mode.
    contradiction: Option<Diagnostic>,
    /// Discrete variables that contradict each other in a mode that was tried last.
    discrete_loop: Option<Diagnostic>,
}

/// A transition from one runtime to another.
#[derive(Clone, Default)]
struct TransitionRecord {
    /// How often it was right when it was looked at a second time, since it was wrong.
    times: u32,
    /// What the relations that left zero became then, by their numbers, and which relations stayed at zero.
    signs: Vec<(usize, f64)>,
    resting: Vec<usize>,
}

impl TransitionRecord {
    /// Relations that are at zero then can be expected to go the same way again. Should one not do so, it makes an event.
    fn is_proven(&self) -> bool {
        self.times >= 3
    }
}

/// What a trial left behind.
#[derive(Clone, Default)]
struct Outcome {
    jump: Jump,
    at_zero: Vec<(usize, f64)>,
    /// The numbers of the relations that stay at zero.
    open: Vec<usize>,
    /// The mode agrees with itself only if some of them are taken as it likes.
    chosen: bool,
    /// It was entered without a restart: states that were set explain everything.
    keeps_states: bool,
    /// Of a trial at the start of the run.
    start: Option<(Clockwork, Aftermath)>,
}

/// How a run begins.
pub enum Start {
    Found(Clockwork, Aftermath),
    /// The values before the start.
    Before(Left),
}

impl Switching {
    /// The runtime in use is none of the modes yet.
    pub fn new(modes: Arc<Modes>, whole: Arc<Program>, options: &Options) -> Self {
        let variables = modes.model().variables.len();
        Self {
            modes,
            whole,
            options: options.clone(),
            runtimes: Vec::new(),
            active: usize::MAX,
            known: FxHashMap::default(),
            last: Vec::new(),
            numbers: RelationNumbers::default(),
            sizes: Sizes::new(variables),
            history: History::default(),
            scratch: InstantScratch::default(),
            effort: Effort::default(),
            findings: Findings::default(),
        }
    }

    /// Makes the runtime in use, which was made for one mode, part of the others.
    pub fn adopt(&mut self, runtime: &mut ModeRuntime) -> Result<(), Trouble> {
        prepare(&mut runtime.machine, self.options.start_time)?;
        runtime.switch = Some(Switch::new(&mut runtime.machine, &mut self.numbers, self.options.tolerance)?);
        self.known.insert(runtime.key(), Ok(self.runtimes.len()));
        self.active = self.runtimes.len();
        self.runtimes.push(None);
        self.last.push(Outcome::default());
        Ok(())
    }

    /// Goes over from the structure for all modes, which has become singular, to the mode it is in. `left` are its values,
    /// the relations in `crossings` make the event; they are returned as the mode knows them, with the runtime that is left.
    pub fn enter(
        &mut self,
        runtime: &mut Box<ModeRuntime>,
        left: &Left,
        crossings: &[Crossing],
    ) -> Result<(Vec<Crossing>, Option<Box<ModeRuntime>>), Trouble> {
        let mut texts = Vec::new();
        let old = &runtime.machine.program.clone();
        for crossing in crossings {
            let relation = &old.layout.relations[old.roots[crossing.function].relation];
            texts.push(old.model().expression_text(relation.residue));
        }
        let mut left = left.clone();
        let key = self.decide_monitors(runtime, &mut left)?;
        let index = self.runtime(&key, ModeEntry::Running).map_err(|reason| {
            let message = format!("the mode {} cannot be sorted: {reason}", self.modes.describe(&key));
            Trouble::Model(Box::new(Diagnostic::error("singular-mode", message)))
        })?;
        let mut before = None;
        if let Some(new) = self.runtimes[index].take() {
            before = Some(std::mem::replace(runtime, new));
            self.active = index;
        }
        self.visit(runtime, index);
        left.number_relations(old, &self.numbers);
        left.put(runtime);
        if let Some(before) = &before {
            runtime.take_roundings(before);
        }
        self.sizes.note(runtime);
        let program = &runtime.machine.program;
        let known = |text: &String| {
            let same = |root: &compile::Root| {
                let residue = program.layout.relations[root.relation].residue;
                program.model().expression_text(residue) == *text
            };
            program.roots.iter().position(same)
        };
        let found = crossings.iter().zip(&texts);
        let crossings = found.filter_map(|(crossing, text)| Some(Crossing { function: known(text)?, ..*crossing }));
        Ok((crossings.collect(), before))
    }

    /// Whether the constraints of the mode that the structure for all modes has come to do not hold for the values at the
    /// left of the event.
    pub fn is_violated(&mut self, runtime: &mut ModeRuntime, left: &Left) -> Result<bool, Trouble> {
        let mut right = Left::of(runtime, self.sizes.len());
        let key = self.decide_monitors(runtime, &mut right)?;
        self.sizes.note(runtime);
        // Why there is no such mode comes out when it is entered.
        let Ok(index) = self.runtime(&key, ModeEntry::Running) else { return Ok(true) };
        let drift = self.drift();
        let Some(mode) = self.runtimes[index].as_deref_mut() else { return Ok(true) };
        right.number_relations(&runtime.machine.program, &self.numbers);
        right.put(mode);
        mode.take_roundings(runtime);
        left.put_smooth(mode);
        let found = jump(mode, &self.sizes, drift);
        Ok(found.map_or(true, |jump| jump.depth > 0))
    }

    /// How many modes the run has been in.
    pub fn visited(&self) -> u64 {
        self.history.visited.len() as u64
    }

    pub fn parked(&self) -> impl Iterator<Item = &ModeRuntime> {
        self.runtimes.iter().flatten().map(|runtime| &**runtime)
    }

    /// Takes note of how large the variables are, at the first events of a run and at some later on.
    fn note_sizes_at_times(&mut self, runtime: &mut ModeRuntime) {
        const FIRST: u64 = 64;
        const EACH: u64 = 16;
        if self.effort.trials < FIRST || self.effort.trials.is_multiple_of(EACH) {
            self.sizes.note(runtime);
        }
    }

    /// Takes note of how large the variables are.
    pub fn note_sizes(&mut self, runtime: &mut ModeRuntime) {
        self.sizes.note(runtime);
    }

    pub fn warnings(&self) -> &[Diagnostic] {
        &self.findings.warnings
    }

    /// How many variables there are in every mode.
    pub fn variables(&self) -> usize {
        self.sizes.len()
    }

    pub fn modes(&self) -> &Modes {
        &self.modes
    }

    /// What jumped when the mode in use was entered.
    pub fn jump(&self) -> &Jump {
        &self.last[self.active].jump
    }

    /// What the restart did that led to the mode in use; `None` where there was none.
    fn restarted(&self) -> Option<&Jump> {
        let outcome = &self.last[self.active];
        (!outcome.keeps_states).then_some(&outcome.jump)
    }

    /// The number of the mode in use, if it is one.
    pub fn number(&self) -> Option<usize> {
        self.history.visited.iter().position(|&index| index == self.active).map(|place| place + 1)
    }

    /// How the mode in use was entered, from the mode with a number.
    pub fn change(&self, runtime: &ModeRuntime, from: Option<usize>, left: &Left) -> ModeChange {
        let key = runtime.key();
        let before = from.and_then(|number| {
            let index = self.history.visited.get(number - 1)?;
            let same = |(_, known): &(&Key, &Result<usize, String>)| known.as_ref() == Ok(index);
            self.known.iter().find(same).map(|(key, _)| key)
        });
        let condition = |(k, &truth): (usize, &bool)| {
            let changed = before.is_some_and(|before| before.get(k) != Some(&truth));
            (self.modes.text(k), truth, changed)
        };
        let mut decided = Vec::new();
        for (k, &relation) in runtime.switch.iter().flat_map(|switch| switch.relations.iter().enumerate()) {
            let Some(switch) = &runtime.switch else { continue };
            let relation = &runtime.machine.program.layout.relations[relation];
            let state = runtime.machine.memory.values[relation.state as usize];
            if left.relation_before(switch.shared[k]).is_none_or(|before| before == state) {
                continue;
            }
            let relation = runtime.machine.program.model().expression_text(relation.expression);
            let by = switch.scratch.reasons.get(k).map_or("value", |reason| reason.name());
            decided.push(Decision { relation, sign: state as i8, by });
        }
        ModeChange {
            time: left.time,
            left: from,
            entered: self.number().unwrap_or(0),
            conditions: key.iter().enumerate().map(condition).collect(),
            decided,
        }
    }

    /// Whether all relations of the mode in use are away from zero, or the way from the runtime `before` is proven.
    pub fn is_decided(&self, before: usize) -> bool {
        let outcome = &self.last[self.active];
        let transition =
            || self.history.transitions.get(&(before, self.active)).filter(|transition| transition.is_proven());
        let knows =
            |transition: &TransitionRecord| outcome.open.iter().all(|relation| transition.resting.contains(relation));
        outcome.at_zero.is_empty() || transition().is_some_and(knows)
    }

    /// The transition between two runtimes was right, or not, when it was looked at a second time.
    pub fn note_proof(&mut self, runtimes: (usize, usize), runtime: &ModeRuntime, right: bool) {
        let transition = self.history.transitions.entry(runtimes).or_default();
        transition.times = if right { transition.times.saturating_add(1) } else { 0 };
        transition.signs.clear();
        let signs = runtime.switch.iter().flat_map(|switch| switch.at_zero(&runtime.machine));
        transition.signs.extend(signs);
        transition.resting.clone_from(&self.last[self.active].open);
    }

    /// Gives parameters other values in all modes but the one in use.
    pub fn change_parameters(&mut self, parameters: &Arc<[(VarId, f64)]>) -> Result<(), Trouble> {
        self.options.parameters = parameters.clone();
        let programs: Vec<_> = self.runtimes.iter().flatten().map(|runtime| runtime.machine.program.clone()).collect();
        if let Some(violated) = programs.iter().find_map(|program| self.violated(Some(program))) {
            return Err(Trouble::Model(Box::new(violated)));
        }
        self.runtimes.iter_mut().flatten().try_for_each(|runtime| runtime.machine.change_parameters(parameters))
    }

    /// What the values of parameters change about a mode that was asked for: nothing that was found without it counts.
    pub fn violation(&self) -> Option<&Diagnostic> {
        self.findings.violation.as_ref()
    }

    /// The place of the runtime in use.
    pub fn place(&self) -> usize {
        self.active
    }

    /// Finds the mode to begin with, and the first point. Start values that no mode agrees with are what was there before
    /// the start: they are returned, and an instant has to be gone through.
    pub fn start(&mut self, runtime: &mut Box<ModeRuntime>) -> Result<Start, Trouble> {
        let time = self.options.start_time;
        let first = self.first(runtime);
        let mut start = |this: &mut Self, may_choose: bool| {
            this.scratch.may_choose = may_choose;
            let attempt = |key: &Key| Ok::<_, Trouble>(this.try_start(runtime, key));
            search(first.clone(), Preference::Continuous, attempt, |_, _| Ok(true))
        };
        let mut outcome = start(self, false)?;
        if outcome.is_err() {
            outcome = start(self, true)?;
        }
        if let Ok(key) = outcome {
            self.activate(runtime, &key);
            self.sizes.note(runtime);
            if let Some((clockwork, aftermath)) = self.last[self.active].start.take() {
                return Ok(Start::Found(clockwork, aftermath));
            }
        }
        if let Some(contradiction) = self.findings.contradiction.take() {
            return Err(Trouble::Model(Box::new(contradiction)));
        }
        prepare(&mut runtime.machine, time)?;
        let mut left = Left::of(runtime, self.sizes.len());
        self.decide_monitors(runtime, &mut left)?;
        self.sizes.note(runtime);
        let message = "no mode agrees with all start values; they are taken for the values just before the start";
        self.add_warning(Diagnostic::warning("contradicting-start-values", message).decides());
        Ok(Start::Before(left))
    }

    /// The values in memory, which are those of another run, as the left of the instant at which a run begins.
    pub fn resume(&mut self, runtime: &mut ModeRuntime) -> Result<Left, Trouble> {
        let mut left = Left::of(runtime, self.sizes.len());
        self.decide_monitors(runtime, &mut left)?;
        self.sizes.note(runtime);
        Ok(left)
    }

    /// The conditions at the values on the left: the structure for all modes has no monitors that would tell.
    fn decide_monitors(&self, runtime: &ModeRuntime, left: &mut Left) -> Result<Key, Trouble> {
        let program = &runtime.machine.program;
        if program.schedule.mode.is_some() {
            return Ok(runtime.key());
        }
        let conditions: Vec<_> = self.modes.conditions().iter().map(|condition| condition.expression).collect();
        let truth = program.evaluate(&conditions, &mut left_memory(runtime, left));
        let truth = truth.map_err(|diagnostic| Trouble::Model(Box::new(diagnostic)))?;
        for (condition, &truth) in self.modes.conditions().iter().zip(&truth) {
            left.values[condition.monitor.index()] = truth;
        }
        Ok(truth.iter().map(|&truth| truth != 0.0).collect())
    }

    /// The mode to try first at the start.
    pub fn first(&self, runtime: &ModeRuntime) -> Key {
        match runtime.key() {
            key if key.is_empty() => self.modes.first(&self.options.parameters),
            key => key,
        }
    }

    fn try_start(&mut self, active: &mut ModeRuntime, key: &Key) -> Trial {
        let index = match self.runtime(key, ModeEntry::Start) {
            Ok(index) => index,
            Err(reason) => return Trial::Fails(reason),
        };
        let horizon = self.horizon(self.options.start_time, self.options.interval * 0.01);
        let Some(runtime) = self.runtimes[index].as_deref_mut().or((index == self.active).then_some(&mut *active))
        else {
            return Trial::Fails(String::new());
        };
        let program = &runtime.machine.program.clone();
        if program.schedule.mode.as_ref().is_none_or(|mode| mode.entry != ModeEntry::Start) {
            return Trial::Fails("the start values contradict the mode".into());
        }
        let fails = |trouble: Trouble| Trial::Fails(trouble.diagnostic(program.model()).message);
        let is_contradiction =
            |trouble: &Trouble| matches!(trouble, Trouble::Model(diagnostic) if diagnostic.code == conditions::CODE);
        let fresh = program.memory();
        (runtime.machine.memory.values, runtime.machine.memory.delays) = (fresh.values, fresh.delays);
        if let Some(request) = &self.options.sensitivities {
            // Why there are none is told where the run has begun.
            let made = Sensitivities::new(&runtime.machine, request, self.options.start_time);
            runtime.machine.sensitivities = made.ok().map(Box::new);
        }
        let start = (self.options.start_time, self.options.stop_time);
        let first = match initial::initialise(&mut runtime.machine, &runtime.names, start, &mut Journal::default()) {
            Ok(first) => first,
            Err(trouble) => {
                if is_contradiction(&trouble) && self.findings.contradiction.is_none() {
                    self.findings.contradiction = conditions::lasting(&runtime.machine);
                }
                return fails(trouble);
            }
        };
        let left = Left::of(runtime, self.sizes.len());
        let mut sizes = self.sizes.clone();
        sizes.note(runtime);
        let limits = match limits::settle(runtime, &left, Assumption::NONE, &Jump::default(), &sizes, horizon) {
            Ok(limits) => limits,
            Err(trouble) => return fails(trouble),
        };
        let confirms = runtime.agrees(key) || self.scratch.may_choose && confirm_open(runtime, key, &limits, horizon);
        let wanted = runtime.found_key();
        self.last[index] = Outcome { at_zero: limits.at_zero, start: Some(first), ..Outcome::default() };
        if confirms { Trial::Confirmed { jumps: false } } else { Trial::Calls(wanted) }
    }

    /// The mode that follows on the values at the left of an instant. `runtime` is then the one of that mode.
    pub fn choose(
        &mut self,
        runtime: &mut Box<ModeRuntime>,
        left: &Left,
        first: Key,
        last_step: f64,
    ) -> Result<(), Trouble> {
        let horizon = self.horizon(left.time, last_step);
        // Values may be as far from zero as the errors of integration are.
        let wide = Horizon { zero: self.drift(), ..horizon };
        self.findings.discrete_loop = None;
        self.scratch.may_choose = false;
        if self.repeat(runtime, left, &first, horizon) {
            return Ok(());
        }
        let from = (self.active, first.clone());
        let mut outcome = Err(NoMode::None(Vec::new()));
        // Positions jump only where the model asks for that and no other mode is consistent.
        'search: for may_move in [false, true] {
            let ways = [(horizon, false, 0.0), (horizon, true, 0.0), (wide, false, 0.0), (wide, true, 0.0)];
            // A velocity of this part of its size takes nothing further away than the drift before it comes back.
            let bounce = self.drift().sqrt();
            for (horizon, may_choose, errors) in
                ways.into_iter().chain([(wide, true, ERRORS * self.drift()), (wide, true, bounce)])
            {
                self.scratch.may_choose = may_choose;
                self.scratch.errors = errors;
                outcome = self.search_from(runtime, left, first.clone(), horizon, may_move)?;
                if !matches!(outcome, Err(NoMode::None(_))) {
                    break 'search;
                }
            }
        }
        self.scratch.errors = 0.0;
        let key = outcome.map_err(|none| self.no_mode(&none, left.time))?;
        if from.0 != usize::MAX && key != from.1 {
            self.history.successors.insert(from, key.clone());
        }
        self.settle_in(runtime, &key, left.time);
        Ok(())
    }

    /// Tries the mode that followed the last time; if there was none, the candidate. Whether that was it. A mode that nothing
    /// calls for leaving is left only if it contradicts itself, whatever followed the last time.
    fn repeat(&mut self, runtime: &mut Box<ModeRuntime>, left: &Left, first: &Key, horizon: Horizon) -> bool {
        let from = (self.active, first.clone());
        let stays = runtime.key() == *first;
        let known = self.history.successors.get(&from).filter(|_| !stays).cloned();
        let key = known.as_ref().unwrap_or(first);
        // A mode that is entered with a jump is compared with the others.
        let good = match self.attempt(runtime, key, left, horizon) {
            Trial::Confirmed { .. } if self.moves_positions(key) => false,
            Trial::Confirmed { jumps } => known.is_none() || !jumps && !self.is_chosen(key),
            _ => false,
        };
        if good {
            self.settle_in(runtime, key, left.time);
        }
        good
    }

    /// Whether a mode that was tried agrees with itself only by the choice of relations that stay at zero.
    fn is_chosen(&self, key: &Key) -> bool {
        matches!(self.known.get(key), Some(Ok(index)) if self.last[*index].chosen)
    }

    /// Whether what is differentiated more than once jumps where a mode is entered that was tried.
    fn moves_positions(&self, key: &Key) -> bool {
        matches!(self.known.get(key), Some(Ok(index)) if self.last[*index].jump.higher)
    }

    fn settle_in(&mut self, runtime: &mut Box<ModeRuntime>, key: &Key, time: f64) {
        let visited = self.history.visited.len();
        self.activate(runtime, key);
        if self.history.visited.len() > visited || self.jump().depth > 0 {
            self.sizes.note(runtime);
        }
        self.warn(runtime, time);
    }

    fn search_from(
        &mut self,
        runtime: &mut Box<ModeRuntime>,
        left: &Left,
        first: Key,
        horizon: Horizon,
        may_move: bool,
    ) -> Result<Result<Key, NoMode>, Trouble> {
        let this = std::cell::RefCell::new((self, runtime));
        let asked = first.clone();
        search(
            first,
            Preference::First,
            |key| {
                let (this, runtime) = &mut *this.borrow_mut();
                let trial = this.attempt(runtime, key, left, horizon);
                let moves = matches!(trial, Trial::Confirmed { .. }) && this.moves_positions(key);
                let is_refused = moves && !(may_move && *key == asked);
                let trial = if is_refused { Trial::Fails("positions would have to jump".into()) } else { trial };
                Ok::<_, Trouble>(trial)
            },
            |a, b| {
                let (this, runtime) = &mut *this.borrow_mut();
                Ok(this.is_same(runtime, a, b))
            },
        )
    }

    /// How far errors of integration reach, relative to values.
    fn drift(&self) -> f64 {
        10.0 * self.options.tolerance.clamp(1e-9, 1e-4)
    }

    /// Restart and right limits in one mode.
    fn attempt(&mut self, active: &mut ModeRuntime, key: &Key, left: &Left, horizon: Horizon) -> Trial {
        self.effort.trials += 1;
        let index = match self.runtime(key, ModeEntry::Running) {
            Ok(index) => index,
            Err(reason) => return Trial::Fails(reason),
        };
        let drift = self.drift();
        let Some(runtime) = self.runtimes[index].as_deref_mut().or((index == self.active).then_some(active)) else {
            return Trial::Fails(String::new());
        };
        let program = &runtime.machine.program.clone();
        if left.follows_reinit()
            && let Some(trial) =
                follow_reinit(runtime, key, left, &self.sizes, horizon, &mut self.last[index], self.scratch.may_choose)
        {
            return trial;
        }
        left.put(runtime);
        runtime.machine.systems.forget_factors(program);
        let mut jump = match jump(runtime, &self.sizes, drift) {
            Ok(jump) => jump,
            Err(reason) => return Trial::Fails(reason),
        };
        let is_error = moves_least(runtime, left, &self.sizes, self.scratch.errors);
        let mut outcome = Ok(Found::default());
        // What a relation became at the last transition is not what it is now if it has just crossed the other way.
        let turned = |&(number, sign): &(usize, f64)| left.crossed.iter().any(|&(n, to)| n == number && to != sign);
        let holds = |transition: &&TransitionRecord| transition.is_proven() && !transition.signs.iter().any(turned);
        let transition = self.history.transitions.get(&(self.active, index)).filter(holds);
        let as_before = transition.map(|transition| {
            let TransitionRecord { signs, resting, .. } = transition;
            Assumption { triggers: signs, resting, follow: true }
        });
        let others = assumptions(left, &self.scratch.callers, jump.depth > 0);
        for assumption in as_before.into_iter().chain(others.into_iter().flatten()) {
            let deciding = if is_error { &Jump::default() } else { &jump };
            outcome = limits::settle(runtime, left, assumption, deciding, &self.sizes, horizon);
            // Discrete variables may have changed the constraints that the jump has met.
            let mut rounds = 0;
            while outcome.is_ok() && (runtime.broken(&self.sizes).is_some() || jump.depth > 0 && runtime.is_overtaken())
            {
                rounds += 1;
                let again = match jump_again(runtime, left, &self.sizes, drift) {
                    Ok(again) => again,
                    Err(reason) => return Trial::Fails(reason),
                };
                outcome =
                    limits::settle(runtime, left, assumption, again.as_ref().unwrap_or(&jump), &self.sizes, horizon);
                match again {
                    Some(other) if rounds <= MOST_ROUNDS => jump = other,
                    Some(_) => {
                        return Trial::Fails("discrete variables and the jump change each other without end".into());
                    }
                    None => break,
                }
            }
            if outcome.is_ok() && runtime.agrees(key) {
                break;
            }
        }
        let found = match outcome {
            Ok(found) => found,
            Err(trouble) => {
                let diagnostic = trouble.diagnostic(program.model());
                let message = diagnostic.message.clone();
                if matches!(&trouble, Trouble::System(failure) if failure.is_discrete_loop()) {
                    self.findings.discrete_loop.get_or_insert(diagnostic);
                }
                return Trial::Fails(message);
            }
        };
        let jumps = jump.depth > 0;
        let agrees = runtime.agrees(key);
        let confirms = agrees || self.scratch.may_choose && confirm_open(runtime, key, &found, horizon);
        let trial = if confirms { Trial::Confirmed { jumps } } else { Trial::Calls(runtime.found_key()) };
        self.scratch.callers.clear();
        if !confirms && let Some(switch) = &runtime.switch {
            let changes = |&(number, state): &(usize, f64)| left.relation(number) != Some(state);
            self.scratch.callers.extend(switch.at_zero(&runtime.machine).filter(changes));
        }
        let number = |&place: &usize| runtime.switch.as_ref().map(|switch| switch.shared[place]);
        let open = found.open.iter().filter_map(number).collect();
        self.last[index] = Outcome { jump, open, at_zero: found.at_zero, chosen: !agrees, ..Outcome::default() };
        trial
    }

    /// Sets the relations of the mode in use to their right limits at the values in memory, from which nothing jumps.
    pub fn settle(&mut self, runtime: &mut ModeRuntime, left: &Left, last_step: f64) -> Result<(), Trouble> {
        let horizon = self.horizon(left.time, last_step);
        limits::settle(runtime, left, Assumption::NONE, &Jump::default(), &self.sizes, horizon).map(|_| ())
    }

    /// Whether two modes that were tried give the same values.
    fn is_same(&mut self, active: &ModeRuntime, a: &Key, b: &Key) -> bool {
        let find = |key: &Key| {
            let index = *self.known.get(key)?.as_ref().ok()?;
            self.runtimes[index].as_deref().or((index == self.active).then_some(active))
        };
        let (Some(a), Some(b)) = (find(a), find(b)) else { return false };
        let model = self.modes.model();
        let is_close =
            |x: f64, y: f64, size: f64| (x - y).abs() <= 1e-7 * (x.abs() + y.abs() + size) || x.is_nan() && y.is_nan();
        let is_real = |variable: &VarId| model.variables[*variable].ty == dae::VariableType::Real;
        let is_differentiated = |variable: &VarId| model.exprs.find(dae::Node::Der(*variable)).is_some();
        let least = 1e-4 * self.sizes.largest;
        let size = |variable: VarId| self.sizes.of(variable).max(least);
        let close = |variable: VarId| is_close(a.value(variable), b.value(variable), size(variable));
        // Modes that go on in the same way differ in how ideal elements share something, which means nothing.
        if model.variables.ids().any(|variable| is_differentiated(&variable)) {
            let rates = |runtime: &ModeRuntime| -> Vec<f64> {
                let derivatives =
                    runtime.carried.iter().flat_map(|carried| carried.derivatives(&runtime.machine.memory));
                let first = derivatives.filter(|((root, order), _)| *order == 1 && is_differentiated(root));
                first.map(|(_, value)| value).collect()
            };
            let (rates_a, rates_b) = (rates(a), rates(b));
            let same_rates =
                rates_a.len() == rates_b.len() && rates_a.iter().zip(&rates_b).all(|(x, y)| is_close(*x, *y, 1e-6));
            return same_rates && model.variables.ids().filter(is_real).filter(is_differentiated).all(close);
        }
        model.variables.ids().filter(is_real).all(close)
    }

    fn activate(&mut self, runtime: &mut Box<ModeRuntime>, key: &Key) {
        let Some(Ok(index)) = self.known.get(key) else { return };
        let index = *index;
        if index != self.active
            && let Some(new) = self.runtimes[index].take()
        {
            let old = std::mem::replace(runtime, new);
            // The structure for all modes is not needed any more once it is left.
            if let Some(place) = self.runtimes.get_mut(self.active) {
                *place = Some(old);
            }
            self.active = index;
        }
        self.visit(runtime, index);
        // Relations that were decided by where they go keep their states until their residues are clearly away from zero.
        let program = &runtime.machine.program;
        runtime.bands.narrow();
        if let Some(switch) = &runtime.switch {
            for &(place, size) in &self.last[index].at_zero {
                runtime.bands.widen(program, switch.relations[place], size);
            }
        }
    }

    /// The runtime of a mode, made where there is none yet.
    fn runtime(&mut self, key: &Key, entry: ModeEntry) -> Result<usize, String> {
        if let Some(known) = self.known.get(key) {
            return known.clone();
        }
        let begin = std::time::Instant::now();
        let made = self.make(key, entry);
        self.effort.made += 1;
        self.effort.seconds += begin.elapsed().as_secs_f64();
        let index = made.map(|runtime| {
            self.runtimes.push(Some(runtime));
            self.last.push(Outcome::default());
            self.runtimes.len() - 1
        });
        self.known.insert(key.clone(), index.clone());
        index
    }

    fn make(&mut self, key: &Key, entry: ModeEntry) -> Result<Box<ModeRuntime>, String> {
        let program = self.program(key, entry)?;
        let fails = |trouble: Trouble| trouble.diagnostic(program.model()).message;
        let mut runtime = ModeRuntime::new(Machine::new(program.clone()), &self.options);
        prepare(&mut runtime.machine, self.options.start_time).map_err(fails)?;
        runtime.switch =
            Some(Switch::new(&mut runtime.machine, &mut self.numbers, self.options.tolerance).map_err(fails)?);
        Ok(Box::new(runtime))
    }

    fn program(&mut self, key: &Key, entry: ModeEntry) -> Result<Arc<Program>, String> {
        let mut program = self.whole.modes.get(&self.modes, key, entry);
        if entry == ModeEntry::Start && program.is_err() {
            program = self.whole.modes.get(&self.modes, key, ModeEntry::Running);
        }
        if let Some(violated) = self.violated(program.as_ref().ok()) {
            self.findings.violation.get_or_insert(violated);
            return Err("parameters decide about the mode".to_owned());
        }
        program.map_err(|problems| {
            self.findings.motion_undetermined |= problems.iter().any(|problem| problem.code == MISSING_LAW);
            problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ")
        })
    }

    /// What the values of parameters change that was decided when the program of a mode was made, or when it was found that there
    /// is none.
    fn violated(&self, program: Option<&Arc<Program>>) -> Option<Diagnostic> {
        let &(first, _) = self.options.parameters.first()?;
        match program {
            Some(program) => {
                let mut memory = program.memory();
                // Where it fails, initialisation says why.
                program.run_parameters(&self.options.parameters, &mut memory).ok()?;
                let schedule = &program.schedule;
                let decision = program.violated(&schedule.decisions, &schedule.model, &memory)?;
                Some(decision.diagnostic(&schedule.model, first))
            }
            None => {
                let mut memory = self.whole.memory();
                self.whole.run_parameters(&self.options.parameters, &mut memory).ok()?;
                let violated = |decisions: &transform::Decisions, model: &Model| {
                    let decision = self.whole.violated(decisions, model, &memory)?;
                    Some(decision.diagnostic(model, first))
                };
                self.modes.with_decisions(violated).flatten()
            }
        }
    }

    /// How far residues at zero are followed.
    fn horizon(&self, time: f64, last_step: f64) -> Horizon {
        let span = (self.options.stop_time - self.options.start_time).abs();
        let first = (1e-10 * span).max(1e-11 * time.abs()).max(1e-300);
        Horizon { first, last: (0.1 * last_step).max(100.0 * first), zero: limits::ZERO }
    }

    fn warn(&mut self, runtime: &ModeRuntime, time: f64) {
        if self.last[self.active].jump.higher {
            let key = runtime.key();
            let entering =
                if key.is_empty() { String::new() } else { format!(" on entering {}", self.modes.describe(&key)) };
            let message = format!("values jump that are derived more than once{entering} at time {time}");
            self.add_warning(Diagnostic::warning("higher-impulse", message).decides().hint(
                "a position that has to jump means impulses of higher order; the constraint may be meant to hold before",
            ));
        }
    }

    /// Says what there is to say about a mode that is entered for the first time.
    fn visit(&mut self, runtime: &ModeRuntime, index: usize) {
        if !self.history.visited.contains(&index) {
            self.history.visited.push(index);
            let mode = runtime.machine.program.schedule.mode.as_ref();
            mode.into_iter().flat_map(|mode| mode.notices.iter().cloned()).for_each(|notice| self.add_warning(notice));
        }
    }

    fn add_warning(&mut self, warning: Diagnostic) {
        if !self.findings.warnings.contains(&warning) {
            self.findings.warnings.push(warning);
        }
    }

    fn no_mode(&self, none: &NoMode, time: f64) -> Trouble {
        const SHOWN: usize = 12;
        let diagnostic = match none {
            NoMode::None(tried) => {
                let message = match tried.as_slice() {
                    [(key, Trial::Fails(reason))] if key.is_empty() => format!("{reason}, at time {time}"),
                    _ => format!("no mode is consistent at time {time}; {} were tried", tried.len()),
                };
                let is_cycle = tried.iter().all(|(_, trial)| matches!(trial, Trial::Calls(_)));
                let (code, hint) = match (self.findings.motion_undetermined, is_cycle) {
                    (true, _) => (
                        MISSING_LAW,
                        "give the transition a law: an equation for what it leaves open, such as \
                         v = -e*pre(v) for the velocity after an impact",
                    ),
                    (_, true) => (
                        "no-consistent-mode",
                        "a condition depends on its own consequence; break the cycle with pre(…), or give it hysteresis \
                         or a delay",
                    ),
                    _ => (
                        "no-consistent-mode",
                        "each mode that was tried has no solution or calls for another one; an impact needs a law \
                         (what the velocity is afterwards), a source that ideal elements short-circuit or interrupt needs a resistance",
                    ),
                };
                let mut diagnostic = match &self.findings.discrete_loop {
                    Some(found) => found.clone().note(message),
                    None => Diagnostic::error(code, message).hint(hint),
                };
                for (key, trial) in tried.iter().filter(|(key, _)| !key.is_empty()).take(SHOWN) {
                    let what = match trial {
                        Trial::Confirmed { .. } => "is consistent".to_string(),
                        Trial::Calls(next) => format!("calls for {}", self.difference(key, next)),
                        Trial::Fails(reason) => format!("fails: {reason}"),
                    };
                    diagnostic = diagnostic.note(format!("{} {what}", self.modes.describe(key)));
                }
                diagnostic
            }
            NoMode::Several(keys) => {
                let message =
                    format!("{} modes are consistent at time {time}; the equations do not say which", keys.len());
                let mut diagnostic = Diagnostic::error("ambiguous-mode", message)
                    .hint("say which with `pre(…)` in the conditions, or with a law for the transition");
                for key in keys.iter().take(SHOWN) {
                    diagnostic = diagnostic.note(self.modes.describe(key));
                }
                diagnostic
            }
        };
        Trouble::Model(Box::new(self.with_places(diagnostic.names_time())))
    }

    /// Names the equations that the conditions decide about.
    fn with_places(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        const SHOWN: usize = 6;
        for condition in 0..self.modes.conditions().len().min(SHOWN) {
            let Some((span, component)) = self.modes.place(condition) else { continue };
            let mut text = format!("decided by {}", self.modes.text(condition));
            if !component.is_empty() {
                text = format!("{text}, in component `{component}`");
            }
            diagnostic = match span {
                Some(span) => diagnostic.at(span, text),
                None => diagnostic.note(text),
            };
        }
        diagnostic
    }

    fn difference(&self, from: &Key, to: &Key) -> String {
        let changed = (0..to.len()).filter(|&k| from.get(k) != to.get(k));
        changed.map(|k| format!("{} = {}", self.modes.text(k), to[k])).collect::<Vec<_>>().join(", ")
    }
}

/// Takes the left values in memory to the right of the instant; what went wrong, where something did.
fn jump(runtime: &mut ModeRuntime, sizes: &Sizes, drift: f64) -> Result<Jump, String> {
    let program = &runtime.machine.program;
    let Some(switch) = &mut runtime.switch else { return Err(String::new()) };
    let memory = &mut runtime.machine.memory;
    switch.origins.note(program, memory, sizes, true);
    let (origins, residues) = (&switch.origins, switch.relations.len());
    switch.restart.note_rounding(|place| origins.of_expression(residues + place));
    let outcome = switch.restart.pass(program, memory, sizes, drift);
    let jump = outcome.map_err(|reason| no_jump(program, &reason))?;
    runtime.choose_states();
    runtime.remember_constrained();
    runtime.remember_relations();
    Ok(jump)
}

/// Whether a jump moves nothing further than errors of integration reach: contacts that come to rest by ever smaller impacts
/// are as far apart at last.
fn moves_least(runtime: &ModeRuntime, left: &Left, sizes: &Sizes, errors: f64) -> bool {
    let Some(switch) = runtime.switch.as_ref().filter(|_| errors > 0.0) else { return false };
    let chains = switch.restart.chains().columns.iter().filter(|chain| chain.len() > 1);
    let mut smooth = chains.map(|chain| chain[0]).filter(|variable| variable.index() < left.values.len());
    smooth.all(|variable| {
        let (from, to) = (left.values[variable.index()], runtime.value(variable));
        (to - from).abs() <= errors * sizes.of(variable).max(from.abs())
    })
}

/// The same from the left values with discrete variables as they are now; `None` where that makes no difference.
fn jump_again(runtime: &mut ModeRuntime, left: &Left, sizes: &Sizes, drift: f64) -> Result<Option<Jump>, String> {
    let before = runtime.switch.as_ref().map(|switch| switch.continuity.left().to_vec()).unwrap_or_default();
    left.put_smooth(runtime);
    let jump = jump(runtime, sizes, drift)?;
    let is_same = runtime.switch.as_ref().is_none_or(|switch| switch.continuity.is_same(&before));
    Ok((!is_same).then_some(jump))
}

/// A trial of a mode after states were set: where those of the mode before keep their values in it, they explain all that
/// changes, and nothing is shared. `None` where some of them would have to jump.
fn follow_reinit(
    runtime: &mut ModeRuntime,
    key: &Key,
    left: &Left,
    sizes: &Sizes,
    horizon: Horizon,
    outcome: &mut Outcome,
    may_choose: bool,
) -> Option<Trial> {
    left.put(runtime);
    runtime.machine.systems.forget_factors(&runtime.machine.program);
    runtime.choose_states();
    let found = limits::settle(runtime, left, Assumption::NONE, &Jump::default(), sizes, horizon).ok()?;
    if !left.is_kept(runtime, sizes) {
        return None;
    }
    runtime.remember_constrained();
    runtime.remember_relations();
    let agrees = runtime.agrees(key);
    let confirms = agrees || may_choose && confirm_open(runtime, key, &found, horizon);
    if !confirms {
        return Some(Trial::Calls(runtime.found_key()));
    }
    let number = |&place: &usize| runtime.switch.as_ref().map(|switch| switch.shared[place]);
    let open = found.open.iter().filter_map(number).collect();
    *outcome = Outcome { open, at_zero: found.at_zero, chosen: !agrees, keeps_states: true, ..Outcome::default() };
    Some(Trial::Confirmed { jumps: false })
}

/// What relations at zero may be taken for in a trial. Those that made the event first: they may be wrong about what comes
/// after it. A jump that leads away from them, such as an impact, is done for their sake, or for the sake of those that
/// called for the mode; what it leads to comes next. The last one tells which mode is called for where none agrees.
fn assumptions<'a>(left: &'a Left, callers: &'a [(usize, f64)], jumps: bool) -> [Option<Assumption<'a>>; 5] {
    let made = (!left.triggers.is_empty()).then_some(left.triggers.as_slice());
    let called = Some(callers).filter(|callers| jumps && !callers.is_empty());
    [
        made.map(|triggers| Assumption { triggers, ..Assumption::NONE }),
        Some(Assumption::NONE),
        called.map(|triggers| Assumption { triggers, follow: false, ..Assumption::NONE }),
        made.filter(|_| jumps).map(|triggers| Assumption { triggers, follow: false, ..Assumption::NONE }),
        (called.is_some() || made.is_some() && jumps).then_some(Assumption::NONE),
    ]
}

/// The memory of a runtime with the values at the left of an instant.
fn left_memory(runtime: &ModeRuntime, left: &Left) -> compile::Memory {
    let program = &runtime.machine.program;
    let mut memory = runtime.machine.memory.clone();
    for (variable, &value) in program.model().variables.ids().zip(&left.values) {
        if !program.layout.place(variable).negated {
            program.set_value(&mut memory, variable, value);
        }
    }
    memory
}

/// Parameters, start values and the rhythm of samples.
fn prepare(machine: &mut Machine, time: f64) -> Result<(), Trouble> {
    let program = &machine.program.clone();
    let fresh = program.memory();
    (machine.memory.values, machine.memory.delays) = (fresh.values, fresh.delays);
    machine.memory.set_time(time);
    machine.run_parameters()?;
    machine.run(|sections| &sections.starts, Phase::Live)?;
    machine.memory.write_inputs();
    machine.systems.reset();
    machine.run(|sections| &sections.samples, Phase::Live)?;
    crate::clockwork::check_samples(program, &machine.memory)?;
    program.save_pre(&mut machine.memory);
    Ok(())
}

/// Relations that stay at zero may have either sign: is there a way that confirms the mode? What does not move at all has none:
/// it may be taken as it likes within the instant, such as in a when clause, or where both branches say the same. From then on it
/// is zero.
fn confirm_open(runtime: &mut ModeRuntime, key: &Key, found: &Found, horizon: Horizon) -> bool {
    const MOST_OPEN: usize = 5;
    let open = &found.open;
    if open.is_empty() || open.len() > MOST_OPEN {
        return false;
    }
    let Some(switch) = &runtime.switch else { return false };
    let layout = &runtime.machine.program.layout;
    let place = |&k: &usize| layout.relations[switch.relations[k]].state as usize;
    let places: Vec<usize> = open.iter().map(place).collect();
    let still: Vec<usize> = found.still.iter().map(place).collect();
    let before: Vec<f64> = places.iter().map(|&place| runtime.machine.memory.values[place]).collect();
    for combination in 0..1usize << places.len() {
        for (k, &place) in places.iter().enumerate() {
            runtime.machine.memory.values[place] = if combination >> k & 1 == 1 { 1.0 } else { -1.0 };
        }
        if runtime.run_events(Phase::Decided).is_ok() && runtime.agrees(key) && lasts(runtime, key, &still, horizon) {
            return true;
        }
    }
    for (&place, &value) in places.iter().zip(&before) {
        runtime.machine.memory.values[place] = value;
    }
    // As it was before.
    let _ = runtime.run_events(Phase::Decided);
    false
}

/// Whether the mode agrees with itself when the instant is over and relations at these places are zero: it calls for itself then,
/// or the branches that it calls for say the same as its own.
fn lasts(runtime: &mut ModeRuntime, key: &Key, still: &[usize], horizon: Horizon) -> bool {
    if still.is_empty() {
        return true;
    }
    let before = runtime.machine.memory.values.clone();
    runtime.machine.save_pre();
    still.iter().for_each(|&place| runtime.machine.memory.values[place] = 0.0);
    let outcome = runtime.run_events(Phase::Decided);
    let wanted = runtime.found_key();
    runtime.machine.memory.values.clone_from(&before);
    let lasts = outcome.is_ok() && (wanted == *key || branches_coincide(runtime, key, &wanted, horizon));
    runtime.machine.memory.values = before;
    runtime.machine.unsettle();
    runtime.machine.systems.forget_factors(&runtime.machine.program);
    lasts
}

/// Whether what stands behind the conditions in which two modes differ has the same values in both, a little later in the mode
/// of the runtime. Memory is left there.
fn branches_coincide(runtime: &mut ModeRuntime, key: &Key, wanted: &Key, horizon: Horizon) -> bool {
    const SAME: f64 = 1e-9;
    let machine = &mut runtime.machine;
    let program = &machine.program.clone();
    let Some(mode) = &program.schedule.mode else { return false };
    let differs = |k: &usize| key[*k] != wanted[*k];
    let conditions = mode.modes.conditions().iter().map(|condition| condition.expression).enumerate();
    let changed: Vec<_> = conditions.filter(|(k, _)| differs(k)).map(|(_, expression)| expression).collect();
    let exprs = &program.model().exprs;
    let branches = exprs.ids().filter_map(|id| match exprs.node(id) {
        dae::Node::If { condition, then, otherwise } if changed.contains(&condition) => Some([then, otherwise]),
        _ => None,
    });
    let branches: Vec<_> = branches.flatten().collect();
    let count = program.states.len();
    let (mut x, mut slope) = (vec![0.0; count], vec![0.0; count]);
    program.read_states(&machine.memory, &mut x);
    let time = machine.memory.time();
    machine.unsettle();
    let mut there = machine.evaluate(time, &x);
    // What begins with the square or the cube of time has moved after three steps.
    for step in 1..=3 {
        program.read_derivatives(&machine.memory, &mut slope);
        x.iter_mut().zip(&slope).for_each(|(x, slope)| *x += horizon.last * slope);
        there = there.and_then(|()| machine.evaluate(time + f64::from(step) * horizon.last, &x));
    }
    there = there.and_then(|()| machine.evaluate_outputs());
    let values = program.evaluate(&branches, &mut machine.memory);
    machine.memory.set_time(time);
    let is_same = |pair: &[f64]| (pair[0] - pair[1]).abs() <= SAME * (1.0 + pair[0].abs() + pair[1].abs());
    there.is_ok() && values.is_ok_and(|values| !values.is_empty() && values.chunks(2).all(is_same))
}

fn no_jump(program: &Program, reason: &NoJump) -> String {
    let name = |variable: &VarId| program.model().variable_name(*variable);
    match reason {
        NoJump::Singular(variable) => format!("the equations of the transition do not determine {}", name(variable)),
        NoJump::NoConvergence => "the equations of the transition have no solution near the values before".into(),
        NoJump::NotFinite(variable) => format!("the transition gives {} no finite value", name(variable)),
        NoJump::Ambiguous(variable) => format!(
            "where {} jumps to depends on the order in which constraints come to hold within the instant",
            name(variable)
        ),
        NoJump::Unbounded(variable) => format!(
            "the equations of the transition multiply something unbounded by {}, which has no value in the instant",
            name(variable)
        ),
    }
}
