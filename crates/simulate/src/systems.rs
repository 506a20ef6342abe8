//! Solving the simultaneous systems of a program.
//!
//! Between events relations are frozen: a linear system is one solve with a factorisation that is kept as long as its
//! matrix is, a nonlinear one a Newton iteration from the last solution. At an event relations and discrete unknowns
//! are found together with the continuous ones (`configuration`). A torn system whose residuals show that it loses digits
//! (`digits`) is solved whole from then on (`whole`).

mod configuration;
mod digits;
mod discrete_loop;
mod singular;
mod unfrozen;
mod whole;

use std::time::{Duration, Instant};

use base::IdVec;
use compile::{Memory, Program, RelationKind, SystemId};
use dae::expr::CompareOp;
use rustc_hash::FxHashSet;
use solve::dense::DenseLu;
use solve::newton::NewtonOptions;
use solve::{EvalError, LinearSolver, NewtonError, NewtonSolver, NonlinearSystem, Pattern};
use transform::{Matrix, SystemKind};

use crate::ambiguity::Ambiguity;
use crate::limits::intervals;
use crate::nominal::nominal;
use crate::system_failure::{Reason, SystemFailure};
use crate::trouble::Trouble;
use digits::{Loss, Watch};
pub use singular::{LeastNorm, least_errors, least_norm, null_space};
use whole::Whole;

/// Steps of one linear solve: two, unless it starts from unknowns that are so much larger than what is found.
const MOST_CORRECTIONS: usize = 30;
const ASTRAY: f64 = 1e12;

/// Rounding errors of residues relative to the largest unknown of the system, and at least, in models whose variables are as
/// large as one.
const ROUNDING: f64 = 1e-13;
const SMALLEST_NOISE: f64 = 1e-15;
/// The torn form of a system that is solved whole helps so often before it is the one that is solved again.
const MOST_HELP: u32 = 3;
/// Of what one linear solve leaves.
const LINEAR_ROUNDING: f64 = 1e-15;

#[derive(Clone)]
enum Method {
    Linear { solver: Box<LinearSolver>, factored: bool },
    Newton(Box<NewtonSolver>),
}

/// How simultaneous systems are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Between events: relations and discrete variables stay as they are.
    Frozen,
    /// At an event: relations were decided and stay; discrete variables follow from them, also those that belong to systems.
    Decided,
    /// At an event or at the start: relations and discrete unknowns are found together with the continuous ones.
    Live,
}

/// One entry of a configuration.
#[derive(Clone, Copy, Debug)]
struct ConfigurationEntry {
    address: usize,
    is_comparison: bool,
}

/// Solver and scratch space of one system, made when it is first needed.
#[derive(Clone)]
struct Workspace {
    method: Method,
    pattern: Pattern,
    /// What a configuration consists of: the states of relations, then the discrete unknowns.
    places: Vec<ConfigurationEntry>,
    /// Which relations have the rounding errors of the unknowns in their residues.
    rounded: Vec<bool>,
    residues: Vec<f64>,
    /// How far relations were from what the last solution asks for.
    violations: Vec<f64>,
    present: configuration::Present,
    x: Vec<f64>,
    /// Where the unknowns are that are computed from the iteration variables.
    inner: Vec<compile::Address>,
    inner_guesses: Vec<f64>,
    residuals: Vec<f64>,
    /// The rounding errors in the residuals of a linear system, relative to its unknowns.
    noise: f64,
    matrix: Vec<f64>,
    /// Residuals of a linear system have sizes that are orders of magnitude apart, so that they are not compared.
    is_uneven: bool,
    /// Of rows and columns.
    sizes: Vec<f64>,
    /// The factorisation for tangents of the right-hand side.
    tangent: Option<LinearSolver>,
    tangent_factored: bool,
    effort: Effort,
    /// It is torn. In a whole step derivatives of a stiff model lose digits whatever is guessed, so that says nothing there.
    is_watched: bool,
    watch: Watch,
    /// The system as it is solved once the torn form has lost digits, or has led nowhere.
    whole: Option<Box<Whole>>,
    /// How often the whole form was tried where the torn one led nowhere; that it is tried right now; and how often the torn
    /// one helped since.
    attempts: u32,
    is_on_trial: bool,
    torn_helped: u32,
    /// A configuration that was called for had no solution, and another one was taken.
    missed: bool,
    /// Two configurations that agree with themselves at the same instant, the first time that there were.
    ambiguity: Option<Ambiguity>,
    /// How often other configurations were looked for.
    comparisons: usize,
    /// The relative error that integration may make.
    tolerance: f64,
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
#[derive(Clone)]
pub struct Systems {
    workspaces: IdVec<SystemId, Option<Box<Workspace>>>,
    /// Evaluations of linear systems that were singular but solvable: the unknowns that were shared evenly.
    pub shared: Vec<SystemId>,
    /// So many of these are known to leave open nothing that is integrated.
    pub looked_at: usize,
    /// The relative error that integration may make.
    pub tolerance: f64,
    measured: bool,
}

impl Systems {
    pub fn new(program: &Program) -> Self {
        let workspaces = program.systems.ids().map(|_| None).collect();
        Self { workspaces, shared: Vec::new(), looked_at: 0, tolerance: 1e-6, measured: false }
    }

    /// Systems that are solved whole use the external objects of this memory.
    pub fn share_external_objects(&mut self, memory: &Memory) {
        let workspaces = self.workspaces.values_mut().flatten();
        workspaces
            .filter_map(|workspace| workspace.whole.as_mut())
            .for_each(|whole| whole.share_external_objects(memory));
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
            if let Some(workspace) = workspace {
                workspace.drop_factors(program.systems[system].kind);
            }
        }
    }

    /// The matrices of a section have to be factorised anew.
    pub fn forget_section(&mut self, section: &[compile::SectionStep]) {
        for step in section {
            let compile::SectionStep::Solve(system) = *step else { continue };
            if let Some(workspace) = &mut self.workspaces[system] {
                workspace.forget();
            }
        }
    }

    /// Looks at a system that was solved by straight code: whether it has to be solved whole from now on.
    pub fn goes_whole(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Result<bool, Trouble> {
        let workspace = self.workspace(program, system, memory)?;
        memory.set_live(false);
        if workspace.watch.is_over || !program.try_residuals(system, memory, &mut workspace.residuals) {
            return Ok(false);
        }
        let loss = workspace.watch.inspect(program, system, memory, &workspace.residuals);
        Ok(loss != Loss::None && workspace.go_whole(program, system, memory))
    }

    /// The sign of the determinant of the Jacobian of a nonlinear system at the solution found last, if it is known.
    pub fn orientation(&self, system: SystemId) -> Option<f64> {
        self.workspaces[system].as_ref()?.orientation()
    }

    /// The logarithm of the size of the determinant of the Jacobian of a system, at the solution in memory; `None` for systems that
    /// are too large to look at.
    pub fn determinant(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Option<f64> {
        const LARGEST: usize = 200;
        let workspace = self.workspaces[system].as_mut()?;
        let size = workspace.x.len();
        if size > LARGEST || !program.try_residuals(system, memory, &mut workspace.residuals) {
            return None;
        }
        program.jacobian(system, memory, &mut workspace.matrix).ok()?;
        let mut full = vec![0.0; size * size];
        for column in 0..size {
            for place in workspace.pattern.starts[column]..workspace.pattern.starts[column + 1] {
                full[column * size + workspace.pattern.indices[place] as usize] = workspace.matrix[place];
            }
        }
        let mut factors = DenseLu::new(size);
        Some(if factors.factor(&full).is_ok() { factors.logarithm() } else { f64::NEG_INFINITY })
    }

    /// After parameters changed nothing of the factorisations holds.
    pub fn reset(&mut self) {
        self.workspaces.values_mut().for_each(|workspace| *workspace = None);
    }

    /// Factorises the Jacobian of every system of the right-hand side, at the solution in memory.
    pub fn factor_all(&mut self, program: &Program, memory: &mut Memory) -> Result<(), Trouble> {
        for step in &program.sections.dynamics {
            let compile::SectionStep::Solve(system) = *step else { continue };
            let workspace = self.workspace(program, system, memory)?;
            // What the torn form computes is less exact than what is there.
            let inner = workspace.whole.as_ref().map(|_| read(memory, &workspace.inner));
            program.residuals(system, memory, &mut workspace.residuals)?;
            program.jacobian(system, memory, &mut workspace.matrix)?;
            if let Some(inner) = inner {
                write(memory, &workspace.inner, &inner);
            }
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
                let zeros = vec![0.0; rhs.len()];
                if found.kind.matrix().is_none() {
                    // At the root of x² = u the solution moves infinitely fast with u. No matrix of an integrator holds that;
                    // without it the integrator iterates longer, or steps over the point.
                    rhs.copy_from_slice(&least_errors(&workspace.pattern, &workspace.matrix, rhs, &zeros).0.x);
                    return Ok(());
                }
                let solution = least_norm(&workspace.pattern, &workspace.matrix, rhs, &zeros).map_err(|column| {
                    Trouble::System(Box::new(SystemFailure {
                        unknowns: found.unknowns.clone(),
                        equations: found.equations.clone(),
                        iteration: Vec::new(),
                        reason: Reason::Singular(found.iteration[column]),
                        time: memory.time(),
                    }))
                })?;
                rhs.copy_from_slice(&solution.x);
            }
        }
        Ok(())
    }

    /// The directions in which the unknowns of a linear system can move at the point in memory.
    pub fn open_directions(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Vec<Vec<f64>> {
        match &mut self.workspaces[system] {
            Some(workspace) if matches!(workspace.method, Method::Linear { .. }) => {
                let mut matrix = vec![0.0; workspace.matrix.len()];
                match program.jacobian(system, memory, &mut matrix) {
                    Ok(()) => null_space(&workspace.pattern, &matrix),
                    Err(_) => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    /// Solves a system from the values in memory with its relations as they are, if that is possible without detours.
    pub fn try_frozen(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> bool {
        let Ok(workspace) = self.workspace(program, system, memory) else { return false };
        workspace.note_guesses(memory);
        workspace.drop_factors(program.systems[system].kind);
        workspace.set_quick(true);
        let is_solved = workspace.solve_frozen(program, system, memory).is_ok();
        workspace.set_quick(false);
        is_solved
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
        let tolerance = self.tolerance;
        let workspace = self.workspace(program, system, memory)?;
        workspace.tolerance = tolerance;
        workspace.note_guesses(memory);
        let outcome = match phase {
            Phase::Frozen => workspace.solve_frozen(program, system, memory),
            Phase::Decided => workspace.solve_decided(program, system, memory),
            Phase::Live => {
                program.note_size(memory);
                workspace.solve_configuration(program, system, memory)
            }
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
        let inner = inner_slots(program, found);
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
            let shape = Shape { size, pattern: &pattern, dependents: inner.len() };
            Method::Newton(Box::new(NewtonSolver::new(&shape, options).map_err(structurally_singular)?))
        };
        let entries = pattern.entries();
        let takes_step = program.sections.inline.contains(&compile::SectionStep::Solve(system));
        let state = |&id: &compile::RelationId| {
            let relation = &program.layout.relations[id];
            let is_comparison = matches!(relation.kind, RelationKind::Compare { .. });
            ConfigurationEntry { address: relation.state as usize, is_comparison }
        };
        let unknown = |&variable: &dae::VarId| ConfigurationEntry {
            address: program.layout.slot(variable) as usize,
            is_comparison: false,
        };
        let places = found.relations.iter().map(state).chain(found.discrete.iter().map(unknown)).collect();
        let is_watched = !inner.is_empty() && !takes_step;
        Ok(Self {
            method,
            pattern,
            places,
            rounded: found.relations.iter().map(|&id| is_rounded(program, found, id)).collect(),
            residues: vec![0.0; found.relations.len()],
            violations: Vec::new(),
            present: configuration::Present::default(),
            x: vec![0.0; size],
            inner_guesses: vec![0.0; inner.len()],
            inner,
            residuals: vec![0.0; size],
            noise: 0.0,
            matrix: vec![0.0; entries],
            is_uneven: false,
            sizes: Vec::new(),
            tangent: None,
            tangent_factored: false,
            effort: Effort::default(),
            is_watched,
            watch: Watch::default(),
            whole: None,
            attempts: 0,
            is_on_trial: false,
            torn_helped: 0,
            missed: false,
            ambiguity: None,
            comparisons: 0,
            tolerance: 1e-6,
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

    fn orientation(&self) -> Option<f64> {
        match (&self.whole, &self.method) {
            (None, Method::Newton(newton)) => newton.orientation(),
            // Its determinant differs from that of the torn form by a factor.
            _ => None,
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
        if let Some(whole) = &mut self.whole {
            let solved = whole.solve(system, memory);
            if solved.is_ok() || self.is_on_trial {
                return solved;
            }
            // Few guesses are sometimes better ones.
            let solved = self.solve_torn(program, system, memory);
            self.torn_helped += u32::from(solved.is_ok());
            if self.torn_helped >= MOST_HELP {
                self.stay_torn();
            }
            return solved;
        }
        let torn = self.solve_torn(program, system, memory);
        let Ok(solved) = torn else {
            let solved = self.solve_whole_instead(program, system, memory);
            return solved.or_else(|| self.solve_within_limits(program, system, memory)).map_or(torn, Ok);
        };
        let is_linear = matches!(self.method, Method::Linear { .. });
        // Of a linear system that nothing else solves better the solution counts, whatever is lost.
        if !self.is_watched || solved != Solved::Uniquely || is_linear && self.watch.is_over {
            return Ok(solved);
        }
        let loss = self.loss(program, system, memory);
        let is_kept = loss == Loss::None || !self.watch.is_over && self.go_whole(program, system, memory);
        if is_kept || loss == Loss::Digits || is_linear {
            return Ok(solved);
        }
        let equations = &program.systems[system].equations;
        Err(Reason::NoConvergence(equations.iter().copied().zip(self.last_residuals().iter().copied()).collect()))
    }

    /// Whether Newton's method gives up early.
    fn set_quick(&mut self, is_quick: bool) {
        if let Some(whole) = &mut self.whole {
            whole.set_quick(is_quick);
        }
        if let Method::Newton(newton) = &mut self.method {
            newton.options_mut().is_quick = is_quick;
        }
    }

    fn is_quick(&self) -> bool {
        matches!(&self.method, Method::Newton(newton) if newton.options().is_quick)
    }

    fn stay_torn(&mut self) {
        self.whole = None;
        self.watch.is_over = true;
    }

    /// The torn form led nowhere: what it computes from a guess may be far off, though the guess is not.
    fn solve_whole_instead(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Option<Solved> {
        let Method::Newton(newton) = &self.method else { return None };
        if self.is_quick() || !self.may_go_whole() {
            return None;
        }
        write(memory, &program.systems[system].slots, newton.start());
        if !self.begin_whole(program, system, memory) {
            return None;
        }
        let solved = self.whole.as_mut().and_then(|whole| whole.solve(system, memory).ok());
        if solved.is_none() {
            self.whole = None;
        }
        solved
    }

    /// The iteration led nowhere, maybe across a limit of an unknown behind which the equations have no meaning: once more, with
    /// all unknowns kept inside of their `min` and `max`. Where there is a solution outside, it was looked for first.
    fn solve_within_limits(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Option<Solved> {
        if self.is_quick() {
            return None;
        }
        let bounds = intervals(program, memory, &program.systems[system].slots);
        if bounds.iter().all(|&(low, high)| low == f64::NEG_INFINITY && high == f64::INFINITY) {
            return None;
        }
        let Method::Newton(newton) = &mut self.method else { return None };
        // In memory it is where the iteration ended.
        write(memory, &program.systems[system].slots, newton.start());
        newton.options_mut().bounds = bounds;
        newton.forget();
        let solved = self.solve_torn(program, system, memory).ok();
        if let Method::Newton(newton) = &mut self.method {
            newton.options_mut().bounds.clear();
        }
        solved
    }

    /// Remembers what the inner unknowns are before anything is tried.
    fn note_guesses(&mut self, memory: &Memory) {
        if self.may_go_whole() {
            for (guess, &slot) in self.inner_guesses.iter_mut().zip(&self.inner) {
                let value = memory.values[slot as usize];
                *guess = if value.is_finite() { value } else { 0.0 };
            }
        }
    }

    fn may_go_whole(&self) -> bool {
        const MOST_ATTEMPTS: u32 = 4;
        self.is_watched && self.whole.is_none() && self.attempts < MOST_ATTEMPTS
    }

    /// Makes the whole form of a torn system, if there is one that was not tried too often.
    fn begin_whole(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> bool {
        if !self.may_go_whole() {
            return false;
        }
        self.attempts += 1;
        // In memory they are those of the last point that was tried.
        write(memory, &self.inner, &self.inner_guesses);
        self.whole = Whole::new(program, system, memory).map(Box::new);
        self.whole.is_some()
    }

    /// What the solution that is in memory shows of the torn form.
    fn loss(&mut self, program: &Program, system: SystemId, memory: &Memory) -> Loss {
        // The fields apart: the solvers lend what the watch looks at.
        let residuals = match &self.method {
            Method::Linear { .. } => &self.residuals,
            Method::Newton(newton) => newton.residuals(),
        };
        self.watch.judge(program, system, memory, residuals)
    }

    fn last_residuals(&self) -> &[f64] {
        match &self.method {
            Method::Linear { .. } => &self.residuals,
            Method::Newton(newton) => newton.residuals(),
        }
    }

    /// Solves the system whole, from the solution of the torn form, now and from now on. False where that is not possible.
    fn go_whole(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> bool {
        let whole = Whole::new(program, system, memory).and_then(|mut whole| {
            let solved = whole.solve(system, memory);
            solved.is_ok_and(|solved| solved == Solved::Uniquely).then_some(whole)
        });
        self.whole = whole.map(Box::new);
        self.watch.is_over = self.whole.is_none();
        self.whole.is_some()
    }

    fn solve_torn(&mut self, program: &Program, system: SystemId, memory: &mut Memory) -> Result<Solved, Reason> {
        let found = &program.systems[system];
        for (x, &slot) in self.x.iter_mut().zip(&found.slots) {
            *x = memory.values[slot as usize];
        }
        match &mut self.method {
            Method::Linear { .. } => self.solve_linear(program, system, memory),
            Method::Newton(newton) => {
                let (pattern, inner) = (&self.pattern, self.inner.as_slice());
                let mut evaluator = Evaluator { program, system, memory, pattern, inner, failed_at: None };
                match newton.solve(&mut evaluator, &mut self.x) {
                    Ok(()) => Ok(Solved::Uniquely),
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
            self.is_uneven = singular::is_uneven(&self.pattern, &self.matrix, &mut self.sizes);
            self.effort.factorisations += 1;
        }
        let larger = |most: f64, value: &f64| if value.abs() > most { value.abs() } else { most };
        let scale = |values: &[f64]| values.iter().fold(0.0f64, larger);
        let before = scale(&self.residuals);
        let mut start = scale(&self.x);
        for round in 0..MOST_CORRECTIONS {
            if *factored {
                solver.solve(&mut self.residuals);
            } else {
                let LeastNorm { x, is_unique } = least_norm(&self.pattern, &self.matrix, &self.residuals, &self.x)
                    .map_err(|column| Reason::Singular(found.iteration[column]))?;
                self.residuals = x;
                solved = if is_unique { Solved::Uniquely } else { Solved::ByLeastNorm };
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
            } else if !self.is_uneven && (left <= 1e-12 * before || left <= 2.0 * self.noise * size) {
                break;
            }
        }
        Ok(solved)
    }

    /// Nothing of the factorisations holds.
    fn forget(&mut self) {
        if let Some(whole) = &mut self.whole {
            whole.forget();
        }
        match &mut self.method {
            Method::Linear { factored, .. } => *factored = false,
            Method::Newton(newton) => newton.forget(),
        }
    }

    /// After an event only matrices that never change are what they were.
    fn drop_factors(&mut self, kind: SystemKind) {
        if let Some(whole) = &mut self.whole {
            whole.drop_factors(kind);
        }
        match &mut self.method {
            Method::Linear { factored, .. } => {
                *factored &= kind.matrix() == Some(Matrix::Constant);
            }
            Method::Newton(newton) => newton.forget(),
        }
    }
}

fn write(memory: &mut Memory, slots: &[compile::Address], x: &[f64]) {
    slots.iter().zip(x).for_each(|(&slot, &value)| memory.values[slot as usize] = value);
}

fn read(memory: &Memory, slots: &[compile::Address]) -> Vec<f64> {
    slots.iter().map(|&slot| memory.values[slot as usize]).collect()
}

/// How far rounding reaches in the residues of a system's relations.
pub fn noise(program: &Program, found: &compile::System, memory: &Memory) -> f64 {
    ROUNDING * largest(program, found, memory) + SMALLEST_NOISE * memory.size
}

/// The systems of a section that compare their unknowns, with the places of these comparisons among their relations.
pub fn compared(program: &Program, section: &[compile::SectionStep]) -> Vec<(SystemId, Vec<usize>)> {
    let compared = section.iter().filter_map(|&step| {
        let compile::SectionStep::Solve(system) = step else { return None };
        let found = &program.systems[system];
        let is_comparison = |id| matches!(program.layout.relations[id].kind, RelationKind::Compare { .. });
        let relations = found.relations.iter().enumerate();
        let counts = relations.filter(|&(_, &id)| is_comparison(id) && is_rounded(program, found, id));
        Some((system, counts.map(|(place, _)| place).collect::<Vec<usize>>()))
    });
    compared.filter(|(_, places)| !places.is_empty()).collect()
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
pub fn largest(program: &Program, found: &compile::System, memory: &Memory) -> f64 {
    let values = found.unknowns.iter().map(|&variable| program.value(memory, variable).abs());
    values.filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// How far rounding reaches in what is computed from the unknowns of a system.
pub fn rounding(program: &Program, found: &compile::System, memory: &Memory) -> f64 {
    // Switches that are nearly ideal make matrices that lose digits.
    let relative = if matches!(found.kind, SystemKind::Linear(_)) { LINEAR_ROUNDING } else { ROUNDING };
    relative * largest(program, found, memory)
}

pub fn pattern(found: &compile::Pattern) -> Pattern {
    let entries =
        (0..found.columns()).flat_map(|column| found.column(column).iter().map(move |&row| (row as usize, column)));
    Pattern::from_entries(found.rows as usize, found.columns(), entries)
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

/// The addresses of the unknowns that follow from the iteration variables.
fn inner_slots(program: &Program, found: &compile::System) -> Vec<compile::Address> {
    let others: FxHashSet<dae::VarId> = found.iteration.iter().chain(&found.discrete).copied().collect();
    let inner = found.unknowns.iter().filter(|variable| !others.contains(variable));
    inner.map(|&variable| program.layout.slot(variable)).collect()
}

/// Size and pattern alone, to create a solver with.
struct Shape<'a> {
    size: usize,
    pattern: &'a Pattern,
    dependents: usize,
}

impl NonlinearSystem for Shape<'_> {
    fn size(&self) -> usize {
        self.size
    }

    fn residual(&mut self, _: &[f64], _: &mut [f64]) -> Result<(), EvalError> {
        Err(EvalError::fatal(0))
    }

    fn dependents(&self) -> usize {
        self.dependents
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
    inner: &'a [compile::Address],
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

    fn dependents(&self) -> usize {
        self.inner.len()
    }

    fn read_dependents(&self, values: &mut [f64]) {
        values.iter_mut().zip(self.inner).for_each(|(value, &slot)| *value = self.memory.values[slot as usize]);
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        Some(self.pattern)
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        write(self.memory, &self.program.systems[self.system].slots, x);
        let outcome = self.program.jacobian(self.system, self.memory, values);
        outcome.map_err(|_| EvalError::recoverable(0))?;
        self.program.speed_up_system(self.system);
        Ok(true)
    }

    fn is_in_branch(&mut self, x: &[f64]) -> bool {
        let (program, found) = (self.program, &self.program.systems[self.system]);
        write(self.memory, &found.slots, x);
        let mut ignored = vec![0.0; found.slots.len()];
        let mut residues = vec![0.0; found.relations.len()];
        if !program.try_residuals(self.system, self.memory, &mut ignored) {
            return false;
        }
        program.system_residues(self.system, self.memory, &mut residues);
        found.relations.iter().zip(&residues).all(|(&id, residue)| {
            let relation = &program.layout.relations[id];
            let side = match self.memory.values[relation.state as usize] {
                0.0 => side_of_zero(program, id),
                state => state,
            };
            !matches!(relation.kind, RelationKind::Compare { .. }) || residue * side >= 0.0
        })
    }
}

/// The side on which a comparison is what it is at zero.
fn side_of_zero(program: &Program, relation: compile::RelationId) -> f64 {
    match program.model().exprs.node(program.layout.relations[relation].expression) {
        dae::Node::Compare { op: CompareOp::Greater | CompareOp::LessEqual, .. } => -1.0,
        dae::Node::Compare { op: CompareOp::GreaterEqual | CompareOp::Less, .. } => 1.0,
        _ => 0.0,
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
        let program = std::sync::Arc::new(Program::new(schedule).expect("a program"));
        assert!(program.systems.values().any(|system| system.slots.len() > 1));
        let mut machine = Machine::new(program.clone());
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
