//! Solving the simultaneous systems of a program.
//!
//! Between events relations are frozen: a linear system is one solve with a factorisation that is kept as long as its
//! matrix is, a nonlinear one a Newton iteration from the last solution. At an event the configuration, that is
//! the states of the relations and the values of the discrete unknowns inside the system, is found with the continuous
//! unknowns: the last configuration first, then the one that its solution asks for, then one change at a time, then
//! combinations (Otter, *Objektorientierte Modellierung*, part 8); none is tried twice. Where no configuration agrees with
//! itself, left limits of the discrete unknowns are let follow, as in the iteration of an event. Where one is found that
//! the last one did not ask for, others are looked at: if they agree with themselves too, the model does not say which.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use base::IdVec;
use compile::{Memory, Program, RelationKind, SystemId};
use rustc_hash::FxHashSet;
use solve::newton::NewtonOptions;
use solve::{EvalError, LinearSolver, NewtonError, NewtonSolver, NonlinearSystem, Pattern};
use transform::{Matrix, SystemKind};

use crate::ambiguity::Ambiguity;
use crate::machine::{Phase, Trouble, nominal};
use crate::system_failure::{Reason, SystemFailure};

/// Configurations tried before an event is given up.
const MOST_CONFIGURATIONS: usize = 4096;

/// Steps of one linear solve: two, unless it starts from unknowns that are so much larger than what is found.
const MOST_CORRECTIONS: usize = 30;
const ASTRAY: f64 = 1e12;

/// Configurations that are asked for, tried before other ways.
const MOST_ASKED_FOR: usize = 64;

/// Rounding errors of residues relative to the largest unknown of the system, and at least.
const ROUNDING: f64 = 1e-13;
const SMALLEST_NOISE: f64 = 1e-15;
/// Of what one linear solve leaves.
const LINEAR_ROUNDING: f64 = 1e-15;

enum Method {
    Linear { solver: Box<LinearSolver>, factored: bool },
    Newton(Box<NewtonSolver>),
}

/// One entry of a configuration.
#[derive(Clone, Copy, Debug)]
struct Place {
    address: usize,
    is_comparison: bool,
}

/// Solver and scratch space of one system, made when it is first needed.
struct Workspace {
    method: Method,
    pattern: Pattern,
    /// What a configuration consists of: the states of relations, then the discrete unknowns.
    places: Vec<Place>,
    /// Which relations have the rounding errors of the unknowns in their residues.
    rounded: Vec<bool>,
    residues: Vec<f64>,
    x: Vec<f64>,
    residuals: Vec<f64>,
    /// The rounding errors in the residuals of a linear system, relative to its unknowns.
    noise: f64,
    matrix: Vec<f64>,
    /// The factorisation for tangents of the right-hand side.
    tangent: Option<LinearSolver>,
    tangent_factored: bool,
    effort: Effort,
    /// A configuration that was called for had no solution, and another one was taken.
    missed: bool,
    /// Two configurations that agree with themselves at the same instant, the first time that there were.
    ambiguity: Option<Ambiguity>,
    /// How often other configurations were looked for.
    comparisons: usize,
}

/// What one system has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    pub calls: u64,
    /// Only where it is measured.
    pub time: Duration,
    pub iterations: u64,
    pub factorisations: u64,
}

/// The solvers of all systems of a program.
pub struct Systems {
    workspaces: IdVec<SystemId, Option<Box<Workspace>>>,
    /// Evaluations of linear systems that were singular but solvable: the unknowns that were shared evenly.
    pub shared: Vec<SystemId>,
    measured: bool,
}

impl Systems {
    pub fn new(program: &Program) -> Self {
        Self { workspaces: program.systems.ids().map(|_| None).collect(), shared: Vec::new(), measured: false }
    }

    /// Measures the time of every system from now on.
    pub fn measure(&mut self) {
        self.measured = true;
    }

    /// What the systems that were solved took.
    pub fn efforts(&self) -> impl Iterator<Item = (SystemId, Effort)> {
        self.workspaces.iter().filter_map(|(system, workspace)| Some((system, workspace.as_ref()?.effort())))
    }

    /// Whether a configuration that was called for had no solution since this was asked last, so that another was taken.
    pub fn take_missed(&mut self) -> bool {
        let mut any = false;
        for workspace in self.workspaces.values_mut().flatten() {
            any |= std::mem::take(&mut workspace.missed);
        }
        any
    }

    /// Events that had more than one consistent outcome.
    pub fn ambiguities(&self) -> impl Iterator<Item = &Ambiguity> {
        self.workspaces.values().flatten().filter_map(|workspace| workspace.ambiguity.as_ref())
    }

    /// Matrices that change at events only have to be factorised anew.
    pub fn forget_factors(&mut self, program: &Program) {
        for (system, workspace) in self.workspaces.iter_mut() {
            let constant = program.systems[system].kind.matrix() == Some(Matrix::Constant);
            match workspace.as_deref_mut().map(|workspace| &mut workspace.method) {
                Some(Method::Linear { factored, .. }) if !constant => *factored = false,
                Some(Method::Newton(newton)) => newton.forget(),
                _ => {}
            }
        }
    }

    /// The matrices of a section have to be factorised anew.
    pub fn forget_section(&mut self, section: &[compile::Step]) {
        for step in section {
            let compile::Step::Solve(system) = *step else { continue };
            match self.workspaces[system].as_deref_mut().map(|workspace| &mut workspace.method) {
                Some(Method::Linear { factored, .. }) => *factored = false,
                Some(Method::Newton(newton)) => newton.forget(),
                None => {}
            }
        }
    }

    /// After parameters changed nothing of the factorisations holds.
    pub fn reset(&mut self) {
        self.workspaces.values_mut().for_each(|workspace| *workspace = None);
    }

    /// Factorises the Jacobian of every system of the right-hand side, at the solution in memory.
    pub fn factor_all(&mut self, program: &Program, memory: &mut Memory) -> Result<(), Trouble> {
        for step in &program.sections.dynamics {
            let compile::Step::Solve(system) = *step else { continue };
            let workspace = self.workspace(program, system, memory)?;
            program.residuals(system, memory, &mut workspace.residuals)?;
            program.jacobian(system, memory, &mut workspace.matrix)?;
            if workspace.tangent.is_none() {
                let size = workspace.x.len();
                workspace.tangent = LinearSolver::new(size, Some(&workspace.pattern)).ok();
            }
            workspace.tangent_factored =
                workspace.tangent.as_mut().is_some_and(|solver| solver.factor(&workspace.matrix).is_ok());
        }
        Ok(())
    }

    /// Replaces `rhs` by the solution with the matrix of `factor_all`.
    pub fn solve_tangent(
        &mut self,
        program: &Program,
        system: SystemId,
        memory: &mut Memory,
        rhs: &mut [f64],
    ) -> Result<(), Trouble> {
        let Some(workspace) = &mut self.workspaces[system] else { return Ok(()) };
        match &mut workspace.tangent {
            Some(solver) if workspace.tangent_factored => solver.solve(rhs),
            _ => {
                let found = &program.systems[system];
                let solution = least_norm(&workspace.pattern, &workspace.matrix, rhs).map_err(|column| {
                    Trouble::System(Box::new(SystemFailure {
                        unknowns: found.unknowns.clone(),
                        equations: found.equations.clone(),
                        iteration: Vec::new(),
                        reason: Reason::Singular(found.iteration[column]),
                        time: memory.time(),
                    }))
                })?;
                rhs.copy_from_slice(&solution);
            }
        }
        Ok(())
    }

    fn workspace(&mut self, program: &Program, system: SystemId, memory: &Memory) -> Result<&mut Workspace, Trouble> {
        let slot = &mut self.workspaces[system];
        Ok(match slot {
            Some(workspace) => workspace,
            None => slot.insert(Box::new(Workspace::new(program, system, memory)?)),
        })
    }

    pub fn solve(
        &mut self,
        program: &Program,
        system: SystemId,
        memory: &mut Memory,
        phase: Phase,
    ) -> Result<(), Trouble> {
        let begun = self.measured.then(Instant::now);
        let workspace = self.workspace(program, system, memory)?;
        let outcome = match phase {
            Phase::Frozen => workspace.solve_frozen(program, system, memory),
            Phase::Live => workspace.solve_configuration(program, system, memory),
        };
        workspace.effort.calls += 1;
        workspace.effort.time += begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        memory.set_live(phase == Phase::Live);
        match outcome {
            Ok(Solved::Uniquely) => Ok(()),
            Ok(Solved::ByLeastNorm) => {
                if !self.shared.contains(&system) {
                    self.shared.push(system);
                }
                Ok(())
            }
            Err(reason) => {
                let found = &program.systems[system];
                Err(Trouble::System(Box::new(SystemFailure {
                    unknowns: found.unknowns.clone(),
                    equations: found.equations.clone(),
                    iteration: workspace.last_guesses(found),
                    reason,
                    time: memory.time(),
                })))
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Solved {
    Uniquely,
    ByLeastNorm,
}

impl Workspace {
    fn new(program: &Program, system: SystemId, memory: &Memory) -> Result<Self, Trouble> {
        let found = &program.systems[system];
        let size = found.slots.len();
        let pattern = pattern(&found.pattern);
        let structurally_singular = |singular: solve::Singular| {
            Trouble::System(Box::new(SystemFailure {
                unknowns: found.unknowns.clone(),
                equations: found.equations.clone(),
                iteration: Vec::new(),
                reason: Reason::Singular(found.iteration[singular.column]),
                time: memory.time(),
            }))
        };
        let method = if found.kind.matrix().is_some() {
            let solver = Box::new(LinearSolver::new(size, Some(&pattern)).map_err(structurally_singular)?);
            Method::Linear { solver, factored: false }
        } else {
            let nominals = found.iteration.iter().map(|&variable| nominal(program, memory, variable)).collect();
            let options = NewtonOptions { nominals, ..NewtonOptions::default() };
            let shape = Shape { size, pattern: &pattern };
            Method::Newton(Box::new(NewtonSolver::new(&shape, options).map_err(structurally_singular)?))
        };
        let entries = pattern.entries();
        let state = |&id: &compile::RelationId| {
            let relation = &program.layout.relations[id];
            let is_comparison = matches!(relation.kind, RelationKind::Compare { .. });
            Place { address: relation.state as usize, is_comparison }
        };
        let unknown =
            |&variable: &dae::VarId| Place { address: program.layout.slot(variable) as usize, is_comparison: false };
        let places = found.relations.iter().map(state).chain(found.discrete.iter().map(unknown)).collect();
        Ok(Self {
            method,
            pattern,
            places,
            rounded: found.relations.iter().map(|&id| is_rounded(program, found, id)).collect(),
            residues: vec![0.0; found.relations.len()],
            x: vec![0.0; size],
            residuals: vec![0.0; size],
            noise: 0.0,
            matrix: vec![0.0; entries],
            tangent: None,
            tangent_factored: false,
            effort: Effort::default(),
            missed: false,
            ambiguity: None,
            comparisons: 0,
        })
    }

    fn effort(&self) -> Effort {
        match &self.method {
            Method::Linear { .. } => self.effort,
            Method::Newton(newton) => {
                let statistics = newton.statistics();
                let (iterations, factorisations) = (statistics.iterations, statistics.factorisations);
                Effort { iterations, factorisations, ..self.effort }
            }
        }
    }

    /// Where Newton's method ended.
    fn last_guesses(&self, found: &compile::System) -> Vec<(dae::VarId, f64)> {
        match self.method {
            Method::Linear { .. } => Vec::new(),
            Method::Newton(_) => found.iteration.iter().copied().zip(self.x.iter().copied()).collect(),
        }
    }

    /// Relations and discrete unknowns stay as they are.
    fn solve_frozen(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Result<Solved, Reason> {
        memory.set_live(false);
        let found = &program.systems[system];
        for (x, &slot) in self.x.iter_mut().zip(&found.slots) {
            *x = memory.values[slot as usize];
        }
        match &mut self.method {
            Method::Linear { .. } => self.solve_linear(program, system, memory),
            Method::Newton(newton) => {
                let mut evaluator = Evaluator { program, system, memory, pattern: &self.pattern, failed_at: None };
                match newton.solve(&mut evaluator, &mut self.x) {
                    Ok(()) => {
                        let outcome = evaluator.residual(&self.x, &mut self.residuals);
                        outcome.map_err(|_| evaluator.reason(&mut self.residuals))?;
                        Ok(Solved::Uniquely)
                    }
                    Err(NewtonError::Evaluation(_)) => Err(evaluator.reason(&mut self.residuals)),
                    Err(error) => Err(newton_reason(found, newton, error)),
                }
            }
        }
    }

    fn solve_linear(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Result<Solved, Reason> {
        let found = &program.systems[system];
        let Method::Linear { solver, factored } = &mut self.method else { return Ok(Solved::Uniquely) };
        // A residual at a point far away loses digits, and one that is not finite says nothing: start from zero then.
        if self.x.iter().any(|x| !x.is_finite()) {
            self.x.fill(0.0);
            write(memory, &found.slots, &self.x);
        }
        program.residuals(system, memory, &mut self.residuals).map_err(Reason::Evaluation)?;
        let mut solved = Solved::Uniquely;
        if !*factored || found.kind.matrix() == Some(Matrix::Varying) {
            program.jacobian(system, memory, &mut self.matrix).map_err(Reason::Evaluation)?;
            *factored = solver.factor(&self.matrix).is_ok();
            self.effort.factorisations += 1;
        }
        let scale = |values: &[f64]| values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let before = scale(&self.residuals);
        let mut start = scale(&self.x);
        for round in 0..MOST_CORRECTIONS {
            if *factored {
                solver.solve(&mut self.residuals);
            } else {
                self.residuals = least_norm(&self.pattern, &self.matrix, &self.residuals)
                    .map_err(|column| Reason::Singular(found.iteration[column]))?;
                solved = Solved::ByLeastNorm;
            }
            self.x.iter_mut().zip(&self.residuals).for_each(|(x, step)| *x -= step);
            write(memory, &found.slots, &self.x);
            program.residuals(system, memory, &mut self.residuals).map_err(Reason::Evaluation)?;
            // A first step over a long distance leaves rounding errors of the old point; one more removes them, unless
            // they are those that the last one left.
            let (left, size) = (scale(&self.residuals), scale(&self.x));
            // A trial of the integrator that went astray may have left unknowns so large that one more is not enough.
            let was_astray = std::mem::replace(&mut start, size) > ASTRAY * size.max(1.0);
            if was_astray {
                continue;
            }
            if round > 0 {
                self.noise = left / size.max(f64::MIN_POSITIVE);
                break;
            } else if left <= 1e-12 * before || left <= 2.0 * self.noise * size {
                break;
            }
        }
        Ok(solved)
    }

    /// Finds relations, discrete unknowns and continuous unknowns that agree: the present configuration, those that
    /// solutions ask for, and where these lead nowhere every combination.
    fn solve_configuration(
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
        self.decide_by_start_values(program, system, memory);
        let asked_for = self.find_configuration(program, system, memory, Reach::AskedFor);
        match asked_for {
            Ok(solved) => return Ok(solved),
            Err(Reason::NoConfiguration { .. }) => {
                if let Some(solved) = self.follow_left_limits(program, system, memory) {
                    return Ok(solved);
                }
            }
            Err(_) => {}
        }
        self.find_configuration(program, system, memory, Reach::All)
    }

    /// Relations that nothing has decided yet, as at the start, are what the guesses of the unknowns make them: where several
    /// branches hold, start values say which; and a nonlinear system may have no solution that is found from other branches.
    fn decide_by_start_values(&mut self, program: &Program, system: SystemId, memory: &mut Memory) {
        const ROUNDS: usize = 3;
        let undecided = |place: &Place| !place.is_comparison || memory.values[place.address] == 0.0;
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
    /// goes on until they agree too.
    fn follow_left_limits(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Option<Solved> {
        const MOST_ROUNDS: usize = 8;
        let found = &program.systems[system];
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
        let mut search = Search::new(memory, &self.places, found);
        let mut missed = false;
        loop {
            let next = search.next_queued();
            if reach == Reach::AskedFor && (next.is_none() || search.seen.len() > MOST_ASKED_FOR) {
                break;
            }
            // A few combinations are tried before one that contradicts itself is taken: where a branch ends, as that of a
            // trigger with feedback, both of its sides contradict themselves by rounding errors, and another one holds.
            let next = next.or_else(|| if search.is_small() { search.next() } else { None });
            if next.is_none()
                && let Some(solved) = self.take_nearest(program, system, memory, &mut search)?
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
            match self.solve_frozen(program, system, memory) {
                Ok(solved) => {
                    let violations = self.consequences(program, system, memory)?;
                    let wanted = configuration(memory, &self.places);
                    if key(&wanted) == key(&candidate) {
                        self.missed |= missed;
                        return if search.was_asked_for(&candidate) {
                            Ok(solved)
                        } else {
                            self.compare_with_others(program, system, memory, &search, &candidate, solved)
                        };
                    }
                    if search.is_nearer(&violations, largest(program, found, memory)) {
                        search.note_nearest(program, found, memory, &self.places, &candidate, &violations);
                        search.take(memory, &self.places, &wanted);
                    }
                    search.follow(&candidate, &wanted, &violations);
                }
                Err(reason) => {
                    // The one that is called for has no solution in this structure; in its own it may have.
                    missed |= matches!(reason, Reason::Singular(_)) && search.was_asked_for(&candidate);
                    search.fail(&candidate, reason);
                    // Where an iteration got lost is no start for another one.
                    write(memory, &found.slots, &search.start);
                }
            }
        }
        search.give_up(memory, &self.places, found)
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
                let signs = found.relations.iter().zip(taken).zip(&other);
                let relations = signs.filter(|((_, a), b)| a != b).map(|((&id, &a), &b)| (id, a, b)).collect();
                self.ambiguity = Some(Ambiguity { system, time: memory.time(), relations });
                break;
            }
        }
        search.take(memory, &self.places, taken);
        write(memory, &found.slots, &own_x);
        self.drop_factors(found.kind);
        self.solve_frozen(program, system, memory)
    }

    /// Takes the configuration that rounding errors alone speak against: those of elements that are nearly ideal are far
    /// larger than the rounding errors of the unknowns.
    fn take_nearest(
        &mut self,
        program: &Program,
        system: SystemId,
        memory: &mut Memory,
        search: &mut Search,
    ) -> Result<Option<Solved>, Reason> {
        // Where a configuration has no solution it may be that one which is called for.
        let Some((_, candidate)) = search.nearest.take().filter(|_| search.first_failure.is_none()) else {
            return Ok(None);
        };
        search.take(memory, &self.places, &candidate);
        self.drop_factors(program.systems[system].kind);
        self.solve_frozen(program, system, memory).map(Some)
    }

    /// Sets relations and discrete unknowns to what the solution in memory asks for. A relation whose residue is zero to
    /// rounding stays as it is. Returns how far each relation is from what it was.
    fn consequences(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Result<Vec<f64>, Reason> {
        let found = &program.systems[system];
        program.system_residues(system, memory, &mut self.residues);
        let noise = noise(program, found, memory);
        let mut violations = vec![0.0; self.residues.len()];
        let relations = found.relations.iter().zip(&self.residues).zip(&self.rounded);
        for (((&id, &residue), &rounded), violation) in relations.zip(&mut violations) {
            let relation = &program.layout.relations[id];
            let place = relation.state as usize;
            let noise = match relation.class {
                _ if rounded => noise,
                compile::Class::Time => 0.0,
                _ => SMALLEST_NOISE,
            };
            let residue = residue + memory.values[relation.shift() as usize];
            let wanted = wanted_state(relation.kind, memory.values[place], residue, noise);
            if wanted != memory.values[place] {
                *violation = residue.abs();
                memory.values[place] = wanted;
            }
        }
        if let Some(chunk) = found.discrete_code {
            program.run_chunk(chunk, memory).map_err(Reason::Evaluation)?;
        }
        Ok(violations)
    }

    fn drop_factors(&mut self, kind: SystemKind) {
        match &mut self.method {
            Method::Linear { factored, .. } => {
                *factored &= kind.matrix() == Some(Matrix::Constant);
            }
            Method::Newton(newton) => newton.forget(),
        }
    }
}

fn most(violations: &[f64]) -> f64 {
    violations.iter().fold(0.0f64, |most, &violation| most.max(violation))
}

fn write(memory: &mut Memory, slots: &[compile::Address], x: &[f64]) {
    slots.iter().zip(x).for_each(|(&slot, &value)| memory.values[slot as usize] = value);
}

fn configuration(memory: &Memory, places: &[Place]) -> Vec<f64> {
    places.iter().map(|place| memory.values[place.address]).collect()
}

fn key(configuration: &[f64]) -> Vec<u64> {
    configuration.iter().map(|value| value.to_bits()).collect()
}

/// How far rounding reaches in the residues of a system's relations.
pub fn noise(program: &Program, found: &compile::System, memory: &Memory) -> f64 {
    ROUNDING * largest(program, found, memory) + SMALLEST_NOISE
}

/// Whether a relation of a system has its unknowns in the residue. Others, such as those on time or on states, have none of
/// its rounding errors.
pub fn is_rounded(program: &Program, found: &compile::System, relation: compile::RelationId) -> bool {
    let residue = program.layout.relations[relation].residue;
    let slots: FxHashSet<compile::Address> = found.unknowns.iter().map(|&v| program.layout.slot(v)).collect();
    let variables = program.model().exprs.dependencies(&[residue]).variables;
    variables.iter().any(|&variable| slots.contains(&program.layout.slot(variable)))
}

/// The magnitude of the largest unknown of a system.
fn largest(program: &Program, found: &compile::System, memory: &Memory) -> f64 {
    let values = found.unknowns.iter().map(|&variable| program.value(memory, variable).abs());
    values.filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// How far rounding reaches in what is computed from the unknowns of a system.
pub fn rounding(program: &Program, found: &compile::System, memory: &Memory) -> f64 {
    // Switches that are nearly ideal make matrices that lose digits.
    let relative = if matches!(found.kind, SystemKind::Linear(_)) { LINEAR_ROUNDING } else { ROUNDING };
    relative * largest(program, found, memory)
}

/// The state a relation takes at a residue; the one it has where rounding alone speaks against it.
fn wanted_state(kind: RelationKind, state: f64, residue: f64, noise: f64) -> f64 {
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

/// How far to look for a configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The present one and those that solutions ask for.
    AskedFor,
    /// Then the one that rounding alone speaks against, then every combination.
    All,
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
    /// The configuration that is least violated, and by how much, if that may be rounding.
    nearest: Option<(f64, Vec<f64>)>,
    /// How many of the entries of a configuration are states of comparisons.
    comparisons: Vec<usize>,
    /// Those that were reached by turning relations, and whether the one at hand was.
    turns: FxHashSet<Vec<u64>>,
    turned: bool,
    /// The next combination of the systematic search, and the configuration it starts from.
    combination: u64,
    first: Vec<f64>,
}

impl Search {
    fn new(memory: &Memory, places: &[Place], found: &compile::System) -> Self {
        let first = configuration(memory, places);
        Self {
            asked_for: key(&first),
            start: found.slots.iter().map(|&slot| memory.values[slot as usize]).collect(),
            queue: VecDeque::from([first.clone()]),
            seen: FxHashSet::default(),
            first_failure: None,
            nearest: None,
            turns: FxHashSet::default(),
            turned: false,
            comparisons: (0..places.len()).filter(|&k| places[k].is_comparison).collect(),
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

    /// Whether a solution violates its configuration so little that rounding may be why, and less than others.
    fn is_nearer(&self, violations: &[f64], largest: f64) -> bool {
        /// Relative to the largest unknown.
        const NEARLY: f64 = 1e-9;
        let least = self.nearest.as_ref().map_or(NEARLY * largest, |(least, _)| *least);
        let most = most(violations);
        most > 0.0 && most < least
    }

    /// Remembers a configuration if its discrete unknowns are what its relations say.
    fn note_nearest(
        &mut self,
        program: &Program,
        found: &compile::System,
        memory: &mut Memory,
        places: &[Place],
        candidate: &[f64],
        violations: &[f64],
    ) {
        self.take(memory, places, candidate);
        let evaluated = found.discrete_code.is_none_or(|chunk| program.run_chunk(chunk, memory).is_ok());
        if evaluated && key(&configuration(memory, places)) == key(candidate) {
            self.nearest = Some((most(violations), candidate.to_vec()));
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

    fn take(&self, memory: &mut Memory, places: &[Place], candidate: &[f64]) {
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
        for &k in &self.comparisons {
            let mut single = candidate.to_vec();
            single[k] = if candidate[k] > 0.0 { -1.0 } else { 1.0 };
            self.turns.insert(key(&single));
            self.queue.push_back(single);
        }
    }

    /// Leaves memory as it was found.
    fn give_up(self, memory: &mut Memory, places: &[Place], found: &compile::System) -> Result<Solved, Reason> {
        self.take(memory, places, &self.first);
        write(memory, &found.slots, &self.start);
        Err(self.first_failure.unwrap_or(Reason::NoConfiguration { tried: self.seen.len() }))
    }
}

pub fn pattern(found: &compile::Pattern) -> Pattern {
    let entries =
        (0..found.columns()).flat_map(|column| found.column(column).iter().map(move |&row| (row as usize, column)));
    Pattern::from_entries(found.rows as usize, found.columns(), entries)
}

/// The solution of least norm of a singular system, or the column without a pivot if there is none.
fn least_norm(pattern: &Pattern, values: &[f64], b: &[f64]) -> Result<Vec<f64>, usize> {
    let size = b.len();
    let mut matrix = solve::dense::DenseMatrix::zeros(size, size);
    let mut position = 0;
    for column in 0..size {
        for &row in pattern.column(column) {
            matrix.set(row as usize, column, values[position]);
            position += 1;
        }
    }
    let mut x = vec![0.0; size];
    solve::dense::least_squares(&matrix, b, 1e-12, &mut x);
    let mut product = vec![0.0; size];
    matrix.multiply(&x, &mut product);
    let scale = b.iter().chain(values).fold(0.0f64, |most, value| most.max(value.abs()));
    let off = product.iter().zip(b).fold(0.0f64, |most, (p, b)| most.max((p - b).abs()));
    if off <= 1e-9 * scale {
        return Ok(x);
    }
    let mut solver = solve::dense::DenseLu::new(size);
    let flat: Vec<f64> = (0..size).flat_map(|column| matrix.column(column).to_vec()).collect();
    Err(solver.factor(&flat).err().map_or(0, |singular| singular.column))
}

fn newton_reason(found: &compile::System, newton: &NewtonSolver, error: NewtonError) -> Reason {
    match error {
        NewtonError::Singular { column } => Reason::Singular(found.iteration[column]),
        _ => {
            let worst = newton.worst_residuals().iter();
            Reason::NoConvergence(worst.map(|&(residual, value)| (found.equations[residual], value)).collect())
        }
    }
}

/// Size and pattern alone, to create a solver with.
struct Shape<'a> {
    size: usize,
    pattern: &'a Pattern,
}

impl NonlinearSystem for Shape<'_> {
    fn size(&self) -> usize {
        self.size
    }

    fn residual(&mut self, _: &[f64], _: &mut [f64]) -> Result<(), EvalError> {
        Err(EvalError::fatal(0))
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        Some(self.pattern)
    }
}

/// A system of the program as Newton's method sees it.
struct Evaluator<'a> {
    program: &'a Program,
    system: SystemId,
    memory: &'a mut Memory,
    pattern: &'a Pattern,
    /// The last point without residuals.
    failed_at: Option<Vec<f64>>,
}

impl Evaluator<'_> {
    /// Why there are no residuals at the last point without any; memory is there afterwards.
    fn reason(&mut self, residuals: &mut [f64]) -> Reason {
        let Some(x) = &self.failed_at else { return Reason::NoConvergence(Vec::new()) };
        write(self.memory, &self.program.systems[self.system].slots, x);
        match self.program.residuals(self.system, self.memory, residuals) {
            Err(failure) => Reason::Evaluation(failure),
            Ok(()) => Reason::NoConvergence(Vec::new()),
        }
    }
}

impl NonlinearSystem for Evaluator<'_> {
    fn size(&self) -> usize {
        self.program.systems[self.system].slots.len()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        write(self.memory, &self.program.systems[self.system].slots, x);
        if self.program.try_residuals(self.system, self.memory, r) {
            return Ok(());
        }
        self.failed_at = Some(x.to_vec());
        Err(EvalError::recoverable(0))
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        Some(self.pattern)
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        write(self.memory, &self.program.systems[self.system].slots, x);
        let outcome = self.program.jacobian(self.system, self.memory, values);
        outcome.map_err(|_| EvalError::recoverable(0))?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    /// An integrator tries a state far away and comes back: the solution there is no start for the one here.
    #[test]
    fn what_a_trial_left_far_away_is_forgotten() {
        let text = "Real x(start = 1, fixed = true)\nder(x) = p1\np1 + 2*p2 + p3 = x\n2*p1 - p2 + p3 = 3*x\np1 + p2 - 3*p3 = 1";
        let model = dae::testing::model(text).expect("a model");
        let schedule = transform::transform(model, &transform::Options::default()).expect("a schedule");
        let program = Program::new(schedule).expect("a program");
        assert!(program.systems.values().any(|system| system.slots.len() > 1));
        let mut machine = Machine::new(&program);
        let mut at = |time: f64, x: f64| {
            machine.evaluate(time, &[x]).expect("a solution");
            let mut slope = [0.0];
            program.read_derivatives(&machine.memory, &mut slope);
            slope[0]
        };
        // Cramer's rule: 19·p1 = 23·x + 3.
        for (time, far) in [(1.0, 1e20), (2.0, -1e60), (3.0, 1e250)] {
            at(time, far);
            let found = at(time + 0.5, 1.0);
            assert!((found - 26.0 / 19.0).abs() < 1e-14, "{found} after {far}");
        }
    }
}
