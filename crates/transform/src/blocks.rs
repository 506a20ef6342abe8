//! From sorted components to blocks: an equation solved for its unknown where nothing is divided by what may vanish,
//! else a simultaneous system, torn, with its kind.

use base::{Diagnostic, IdVec};
use dae::{EqId, EquationRole, ExprId, Exprs, Node, Pivot, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cache::{ComponentKey, KnownComponent};
use crate::growth::Growth;
use crate::guesses;
use crate::linearity::{Degree, Dependence, Level, dependence};
use crate::occurrences::{Leaf, Occurrence, Scanner};
use crate::parts::{Assignment, Block, EquationSystem, Matrix, Problem, Sides, SystemKind, Timing};
use crate::sizes::{Sizes, Slopes};
use crate::structure::tearing::tear;
use crate::structure::{IncidenceBuilder, Matching, NONE, strong_components};
use crate::system::System;
use crate::work::Work;

/// Larger systems go to the sparse solver as they are.
const LARGEST_TO_TEAR: usize = 30_000;
/// So many guesses are never too many.
const FEW_GUESSES: usize = 50;
/// Systems up to this size are solved whole at the start where a tearing contradicts start values.
const FEW_TO_START_WHOLE: usize = 40;
/// Rounding errors of a torn system may grow by this factor. What one equation lets grow, nonlinear ones bend.
const MOST_LOSS: f64 = 1e3;
const MOST_NONLINEAR_LOSS: f64 = 1e2;
/// In systems with more inner unknowns than this, which are costly to solve whole, the scales are less certain: errors may seem
/// to grow by this factor more.
const MANY_INNER: usize = 16;
const IN_LARGE_SYSTEMS: f64 = 1e6;
/// The same, where unknowns have no values yet from which all could be guessed.
const AT_THE_START: f64 = 1e4;
/// Derivatives of a stiff model lose digits in a long step whatever is guessed, and states stay guesses.
const MOST_LOSS_IN_STEPS: f64 = f64::INFINITY;
/// The smallest pivot beside the other terms of its equation, where errors would grow too much otherwise.
const SMALLEST_PIVOT: f64 = 1e-2;

/// Sorts a system with a perfect matching. `levels` says when variables change; the unknowns' entries are filled in.
/// Nothing counts as constant in the initial problem, which is solved once.
pub fn make(
    work: &mut Work,
    problem: Problem,
    system: &System,
    matching: &Matching,
    levels: &mut IdVec<VarId, Level>,
) -> Result<Vec<Block>, Vec<Diagnostic>> {
    let components = strong_components(&system.depends, matching);
    let mut builder = BlockBuilder {
        problem,
        system,
        matching,
        local: vec![NONE; system.columns.len()],
        scanner: work.scanner(),
        blocks: Vec::with_capacity(components.len()),
        growth: Growth::default(),
        slopes: Slopes::default(),
        guesses: guesses::Guesses::new(system),
        problems: Vec::new(),
    };
    for group in components.iter() {
        builder.component(work, group, levels);
    }
    work.give_back(std::mem::take(&mut builder.scanner));
    if builder.problems.is_empty() { Ok(builder.blocks) } else { Err(builder.problems) }
}

struct BlockBuilder<'a> {
    problem: Problem,
    system: &'a System,
    matching: &'a Matching,
    /// The position of a column in the component at hand.
    local: Vec<u32>,
    scanner: Scanner,
    blocks: Vec<Block>,
    growth: Growth,
    slopes: Slopes,
    guesses: guesses::Guesses<'a>,
    problems: Vec<Diagnostic>,
}

/// What is guessed in a torn system.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guesses {
    /// As few unknowns as possible.
    Fewest,
    /// All states, and what does not follow from them.
    States,
}

/// One equation of a component and the unknown it is matched with.
#[derive(Clone, Copy)]
struct Pair {
    row: u32,
    column: u32,
    equation: EqId,
    sides: Sides,
    variable: VarId,
}

/// How the equations of a component are solved.
struct Torn {
    iteration: Vec<VarId>,
    inner: Vec<Assignment>,
    residual_pairs: Vec<Pair>,
    /// How what is computed depends on the unknowns.
    found: Dependence,
}

impl KnownComponent {
    fn new(torn: &Torn, pairs: &[Pair]) -> Option<Self> {
        let places: FxHashMap<EqId, u32> = pairs.iter().map(|pair| pair.equation).zip(0..).collect();
        let place = |equation: EqId| places.get(&equation).copied();
        let inner = torn.inner.iter().map(|inner| Some((inner.variable, inner.value, place(inner.equation?)?)));
        Some(Self {
            iteration: torn.iteration.clone(),
            inner: inner.collect::<Option<_>>()?,
            residual: torn.residual_pairs.iter().map(|pair| place(pair.equation)).collect::<Option<_>>()?,
            found: torn.found,
        })
    }

    fn of(&self, pairs: &[Pair]) -> Torn {
        let pair = |place: u32| pairs.get(place as usize).copied();
        let inner = |&(variable, value, place): &(VarId, ExprId, u32)| {
            Some(Assignment { variable, value, equation: Some(pair(place)?.equation) })
        };
        Torn {
            iteration: self.iteration.clone(),
            inner: self.inner.iter().filter_map(inner).collect(),
            residual_pairs: self.residual.iter().filter_map(|&place| pair(place)).collect(),
            found: self.found,
        }
    }
}

impl BlockBuilder<'_> {
    fn component(&mut self, work: &mut Work, group: &[u32], levels: &mut IdVec<VarId, Level>) {
        let system = self.system;
        let pairs: Vec<Pair> = group
            .iter()
            .map(|&row| {
                let column = self.matching.column_of_row[row as usize];
                Pair {
                    row,
                    column,
                    equation: system.rows[row as usize],
                    sides: system.sides[row as usize],
                    variable: system.columns[column as usize],
                }
            })
            .collect();
        let level = match self.problem {
            Problem::Initial => Level::Continuous,
            _ => self.level(work, &pairs, levels),
        };
        for pair in &pairs {
            // What is declared discrete changes at events only, whatever it is computed from.
            levels[pair.variable] = if work.is_discrete(pair.variable) { level.min(Level::Discrete) } else { level };
        }
        let continuous = pairs.iter().any(|pair| levels[pair.variable] == Level::Continuous);
        let timing = if continuous { Timing::Continuous } else { Timing::Event };
        if let [pair] = pairs[..]
            && let Some(value) = solve(work, pair.equation, pair.sides, pair.variable)
        {
            let assignment = Assignment { variable: pair.variable, value, equation: Some(pair.equation) };
            self.blocks.push(Block::Assign { assignment, timing });
            return;
        }
        if let Some(system) = self.simultaneous(work, &pairs, levels) {
            self.blocks.push(Block::System { system: Box::new(system), timing });
        }
    }

    /// When the values of a component can change.
    fn level(&mut self, work: &Work, pairs: &[Pair], levels: &IdVec<VarId, Level>) -> Level {
        for pair in pairs {
            self.local[pair.column as usize] = 0;
        }
        let (local, column_of) = (&self.local, &self.system.column_of);
        let mut level = Level::Parameter;
        let mut visit = |leaf: Leaf, occurrence: Occurrence| {
            let own = match leaf {
                Leaf::Variable(v) | Leaf::Derivative(v) => {
                    let column = column_of[v];
                    if column != NONE && local[column as usize] != NONE {
                        return;
                    }
                    levels[v]
                }
                Leaf::Pre(_) | Leaf::Instant => Level::Discrete,
                Leaf::Time => Level::Continuous,
            };
            level = level.max(if occurrence <= Occurrence::Frozen { own.min(Level::Discrete) } else { own });
        };
        pairs.iter().for_each(|pair| self.scanner.scan_sides(&work.model.exprs, pair.sides, &mut visit));
        for pair in pairs {
            self.local[pair.column as usize] = NONE;
        }
        level
    }

    fn simultaneous(
        &mut self,
        work: &mut Work,
        pairs: &[Pair],
        levels: &IdVec<VarId, Level>,
    ) -> Option<EquationSystem> {
        let is_discrete = |work: &Work, pair: &Pair| {
            // Discrete Reals of one when clause can be solved simultaneously like any Reals.
            work.is_discrete(pair.variable) && work.model.variables[pair.variable].ty != dae::VariableType::Real
        };
        let (events, smooth): (Vec<Pair>, Vec<Pair>) = pairs.iter().partition(|pair| is_discrete(work, pair));
        let mut discrete = Vec::new();
        for pair in &events {
            match alone(work, pair.sides, pair.variable) {
                Some(value) => {
                    discrete.push(Assignment { variable: pair.variable, value, equation: Some(pair.equation) });
                }
                None => {
                    let problem = self.not_explicit(work, pair);
                    self.problems.push(problem);
                }
            }
        }
        if !self.problems.is_empty() {
            return None;
        }
        if let Some(problem) = crate::discrete::loop_across_whens(work, pairs.iter().map(|pair| pair.equation)) {
            self.problems.push(problem);
            return None;
        }
        let Torn { iteration, inner, residual_pairs, found } = self.solution(work, &smooth, levels);
        let residuals: Vec<ExprId> =
            residual_pairs.iter().map(|pair| work.model.exprs.sub(pair.sides.0, pair.sides.1)).collect();
        let linear = (found.degree <= Degree::Linear).then_some(match found.factor {
            Level::Parameter => Matrix::Constant,
            factor if factor <= Level::Discrete => Matrix::Frozen,
            _ => Matrix::Varying,
        });
        let kind = match linear {
            linear if !events.is_empty() => SystemKind::Mixed { linear },
            Some(matrix) => SystemKind::Linear(matrix),
            None => SystemKind::Nonlinear,
        };
        if self.problem == Problem::Initial && linear.is_none() {
            self.guesses.complete(work, &iteration);
        }
        Some(EquationSystem {
            kind,
            unknowns: pairs.iter().map(|pair| pair.variable).collect(),
            equations: pairs.iter().map(|pair| pair.equation).collect(),
            iteration,
            inner,
            residuals,
            residual_equations: residual_pairs.iter().map(|pair| pair.equation).collect(),
            discrete,
        })
    }

    /// How equations are solved for their unknowns; where another mode has them too, as there.
    fn solution(&mut self, work: &mut Work, pairs: &[Pair], levels: &IdVec<VarId, Level>) -> Torn {
        if work.modes.cache.is_none() {
            return self.new_solution(work, pairs, levels);
        }
        let key = ComponentKey {
            problem: self.problem,
            pairs: pairs.iter().map(|pair| (pair.sides, pair.variable)).collect(),
            levels: self.levels_around(work, pairs, levels),
        };
        if let Some(known) = work.modes.cache.as_ref().and_then(|cache| cache.components.get(&key)) {
            return known.of(pairs);
        }
        let torn = self.new_solution(work, pairs, levels);
        if let (Some(cache), Some(known)) = (&mut work.modes.cache, KnownComponent::new(&torn, pairs)) {
            cache.components.insert(key, known);
        }
        torn
    }

    /// When the variables change that equations hold besides their own unknowns.
    fn levels_around(&mut self, work: &Work, pairs: &[Pair], levels: &IdVec<VarId, Level>) -> Vec<(VarId, Level)> {
        let mut around = Vec::new();
        for pair in pairs {
            self.scanner.scan_sides(&work.model.exprs, pair.sides, |leaf, _| {
                if let Leaf::Variable(v) | Leaf::Derivative(v) = leaf {
                    around.push((v, levels[v]));
                }
            });
        }
        around.sort_unstable_by_key(|&(variable, _)| variable);
        around.dedup();
        around
    }

    fn new_solution(&mut self, work: &mut Work, smooth: &[Pair], levels: &IdVec<VarId, Level>) -> Torn {
        let linear = self.is_linear(work, smooth, levels);
        let most_loss = match self.problem {
            Problem::Step => MOST_LOSS_IN_STEPS,
            _ if linear => MOST_LOSS,
            _ => MOST_NONLINEAR_LOSS,
        };
        let mut torn = self.torn(work, smooth, Guesses::Fewest, most_loss);
        if self.problem == Problem::Step
            && !states_are_near_guesses(work, &torn.0, &torn.1)
            && !self.is_linear(work, smooth, levels)
        {
            torn = self.torn(work, smooth, Guesses::States, most_loss);
        }
        let is_first = self.problem == Problem::Initial && !linear && smooth.len() <= FEW_TO_START_WHOLE;
        if self.goes_whole(work, smooth, &torn.0, &torn.1, levels)
            || is_first && self.guesses.contradict(work, &torn.0, &torn.1)
        {
            torn = self.whole(work, smooth);
        }
        let (iteration, inner, residual_pairs) = torn;
        let mut roots: Vec<ExprId> = inner.iter().map(|assignment| assignment.value).collect();
        roots.extend(residual_pairs.iter().map(|pair| work.model.exprs.sub(pair.sides.0, pair.sides.1)));
        let found = self.dependence_on(work, smooth, &roots, levels);
        Torn { iteration, inner, residual_pairs, found }
    }

    fn is_linear(&mut self, work: &mut Work, pairs: &[Pair], levels: &IdVec<VarId, Level>) -> bool {
        let residuals: Vec<ExprId> =
            pairs.iter().map(|pair| work.model.exprs.sub(pair.sides.0, pair.sides.1)).collect();
        self.dependence_on(work, pairs, &residuals, levels).degree <= Degree::Linear
    }

    /// How expressions depend on the unknowns of some equations.
    fn dependence_on(
        &mut self,
        work: &Work,
        pairs: &[Pair],
        roots: &[ExprId],
        levels: &IdVec<VarId, Level>,
    ) -> Dependence {
        for pair in pairs {
            self.local[pair.column as usize] = 0;
        }
        let (local, column_of) = (&self.local, &self.system.column_of);
        let found = dependence(
            &work.model.exprs,
            roots,
            |v| column_of.get(v).is_some_and(|&column| column != NONE && local[column as usize] != NONE),
            levels,
        );
        for pair in pairs {
            self.local[pair.column as usize] = NONE;
        }
        found
    }

    /// Nothing follows from guesses: all unknowns are. Each stands beside the equation in which it has the largest factor, as
    /// far as possible: with such a diagonal elimination fills in little.
    fn whole(&mut self, work: &mut Work, pairs: &[Pair]) -> (Vec<VarId>, Vec<Assignment>, Vec<Pair>) {
        for (index, pair) in pairs.iter().enumerate() {
            self.local[pair.column as usize] = index as u32;
        }
        let mut builder = IncidenceBuilder::default();
        let mut matching = Matching::empty(pairs.len(), pairs.len());
        for (row, pair) in (0u32..).zip(pairs) {
            let columns = self.system.matchable.row(pair.row as usize).iter();
            let columns: Vec<u32> =
                columns.map(|&column| self.local[column as usize]).filter(|&place| place != NONE).collect();
            let residual = work.model.exprs.sub(pair.sides.0, pair.sides.1);
            let size = |&place: &u32| factor(work, residual, pairs[place as usize].variable);
            let sizes: Vec<f64> = columns.iter().map(size).collect();
            let largest = (0..columns.len()).max_by(|&a, &b| sizes[a].total_cmp(&sizes[b]));
            if let Some(place) = largest.map(|largest| columns[largest])
                && matching.row_of_column[place as usize] == NONE
            {
                matching.assign(row, place);
            }
            builder.push_row(columns);
        }
        for pair in pairs {
            self.local[pair.column as usize] = NONE;
        }
        matching.extend(&builder.finish(pairs.len()));
        let unknown = |(pair, &column): (&Pair, &u32)| pairs.get(column as usize).unwrap_or(pair).variable;
        let unknowns = match matching.is_perfect() {
            true => pairs.iter().zip(&matching.column_of_row).map(unknown).collect(),
            false => pairs.iter().map(|pair| pair.variable).collect(),
        };
        (unknowns, Vec::new(), pairs.to_vec())
    }

    /// Whether a torn system is better left as it was, for the sparse solver.
    fn goes_whole(
        &mut self,
        work: &mut Work,
        pairs: &[Pair],
        iteration: &[VarId],
        inner: &[Assignment],
        levels: &IdVec<VarId, Level>,
    ) -> bool {
        let costly = !self.is_worth_tearing(pairs, iteration.len());
        let linear = self.is_linear(work, pairs, levels);
        let distance = if linear { 1e-3 } else { 1.0 };
        let unstable = self.growth.is_too_much(work, &self.blocks, (iteration, inner), distance);
        // Where a nonlinear system is solved for the first time depends on the guesses, and those of what follows are seldom
        // good ones. Later on everything is near to what it was.
        match linear || self.problem != Problem::Initial {
            true => costly || unstable,
            false => costly && unstable,
        }
    }

    /// Whether a dense matrix of what is guessed, each column of which takes an evaluation of everything, is less work than a
    /// sparse matrix of all, or not much more: few guesses are safer than many.
    fn is_worth_tearing(&self, pairs: &[Pair], guessed: usize) -> bool {
        /// Operations of a sparse factorisation for each entry.
        const SPARSE: usize = 30;
        const NOT_MUCH: usize = 20;
        let entries: usize = pairs.iter().map(|pair| self.system.depends.row(pair.row as usize).len()).sum();
        guessed <= FEW_GUESSES || guessed.pow(3) / 3 + guessed * entries <= NOT_MUCH * SPARSE * entries
    }

    /// `most_loss`: rounding errors may grow by this factor.
    fn torn(
        &mut self,
        work: &mut Work,
        pairs: &[Pair],
        guesses: Guesses,
        most_loss: f64,
    ) -> (Vec<VarId>, Vec<Assignment>, Vec<Pair>) {
        if pairs.len() > LARGEST_TO_TEAR {
            return self.whole(work, pairs);
        }
        for (index, pair) in pairs.iter().enumerate() {
            self.local[pair.column as usize] = index as u32;
        }
        let mut builder = IncidenceBuilder::default();
        let mut solutions: Vec<Option<ExprId>> = Vec::new();
        for pair in pairs {
            let mut columns = Vec::new();
            for &column in self.system.depends.row(pair.row as usize) {
                let place = self.local[column as usize];
                if place != NONE {
                    columns.push(place);
                    let variable = self.system.columns[column as usize];
                    let matchable = self.system.matchable.row(pair.row as usize).contains(&column);
                    let follows = matchable && !(guesses == Guesses::States && is_state(work, variable));
                    let solution = if follows { solve(work, pair.equation, pair.sides, variable) } else { None };
                    // In a step, a tearing over logarithms is given up for one that guesses the states.
                    let as_it_is = self.problem == Problem::Step;
                    solutions.push(solution.filter(|&value| as_it_is || !inverts_exponential(work, pair.sides, value)));
                }
            }
            builder.push_row(columns);
        }
        let sizes = self.sizes(work, pairs);
        for pair in pairs {
            self.local[pair.column as usize] = NONE;
        }
        let incidence = builder.finish(pairs.len());
        let mut solvable: Vec<bool> = solutions.iter().map(Option::is_some).collect();
        // A guess with a start value is a better guess; in a step, what does not jump at events is an even better one.
        let jumps = |variable: VarId| self.problem == Problem::Step && !is_state(work, variable);
        let reluctance = |pair: &Pair| {
            let without_start = work.model.variables[pair.variable].attributes.start.is_none();
            u32::from(without_start) + 2 * u32::from(jumps(pair.variable))
        };
        let reluctance: Vec<u32> = pairs.iter().map(reluctance).collect();
        // Some guesses may be taken back.
        let mut most = FEW_GUESSES;
        while most < pairs.len() && self.is_worth_tearing(pairs, most) {
            most *= 2;
        }
        let loss = |torn: &crate::structure::tearing::Torn| {
            let factor = if torn.inner.len() > MANY_INNER { IN_LARGE_SYSTEMS } else { 1.0 };
            if torn.inner.is_empty() { 0.0 } else { sizes.loss(&torn.inner, &torn.residual) / factor }
        };
        let mut torn = tear(&incidence, &solvable, &reluctance, 2 * most);
        if torn.as_ref().is_some_and(|torn| loss(torn) > most_loss) {
            // Once more without the pivots that are small beside the other terms of their equations.
            for row in 0..pairs.len() {
                for entry in incidence.range(row) {
                    let size = sizes.relative(row as u32, incidence.column_of(entry));
                    solvable[entry] &= size.is_none_or(|size| size >= SMALLEST_PIVOT);
                }
            }
            // Where the first solution is looked for, all unknowns are seldom good guesses.
            let most_loss = if self.problem == Problem::Initial { AT_THE_START * most_loss } else { most_loss };
            torn = tear(&incidence, &solvable, &reluctance, 2 * most).filter(|torn| loss(torn) <= most_loss);
        }
        let Some(torn) = torn else { return self.whole(work, pairs) };
        let inner = torn
            .inner
            .iter()
            .filter_map(|&(row, column)| {
                let entry = incidence.range(row as usize).find(|&entry| incidence.column_of(entry) == column)?;
                let value = solutions[entry]?;
                let equation = Some(pairs[row as usize].equation);
                Some(Assignment { variable: pairs[column as usize].variable, value, equation })
            })
            .collect();
        let iteration = torn.iteration.iter().map(|&column| pairs[column as usize].variable).collect();
        let residual = torn.residual.iter().map(|&row| pairs[row as usize]).collect();
        (iteration, inner, residual)
    }

    /// The sizes of the coefficients of equations whose unknowns have places.
    fn sizes(&mut self, work: &Work, pairs: &[Pair]) -> Sizes {
        let (local, column_of) = (&self.local, &self.system.column_of);
        let place = |v: VarId| {
            let column = column_of.get(v).copied().filter(|&column| column != NONE)?;
            Some(local[column as usize]).filter(|&place| place != NONE)
        };
        Sizes::new(&mut self.slopes, work, pairs.iter().map(|pair| pair.sides), pairs.len(), place)
    }

    fn not_explicit(&self, work: &Work, pair: &Pair) -> Diagnostic {
        let name = work.model.variable_name(pair.variable);
        let diagnostic = Diagnostic::error(
            "discrete-not-solvable",
            format!("the equation for the discrete variable `{name}` cannot be solved for it"),
        )
        .hint(format!("write it as `{name} = …`"));
        work.at_equation(diagnostic, pair.equation, "")
    }
}

fn is_state(work: &Work, variable: VarId) -> bool {
    matches!(work.roles[variable], crate::parts::Role::State { .. })
}

/// Whether every state is guessed or follows from a guess by the formula of inline integration. Last values are good
/// guesses of what does not jump; a state that follows in another way may be anywhere while the iteration has not
/// converged, and nonlinear equations may not be defined there.
fn states_are_near_guesses(work: &Work, iteration: &[VarId], inner: &[Assignment]) -> bool {
    let mut near: FxHashSet<VarId> = iteration.iter().copied().collect();
    for assignment in inner {
        let found = work.model.exprs.dependencies(&[assignment.value]).variables;
        let is_formula = work.step.is_some_and(|step| found.contains(&step));
        let is_copy = matches!(work.model.exprs.node(assignment.value), Node::Var(_) | Node::Neg(_));
        let follows = found.iter().all(|&v| near.contains(&v) || !work.is_unknown(v) && !is_state(work, v));
        if follows && (is_formula || is_copy) {
            near.insert(assignment.variable);
        } else if is_state(work, assignment.variable) {
            return false;
        }
    }
    true
}

/// The size of the factor of a variable; zero where it is not a number.
fn factor(work: &mut Work, residual: ExprId, variable: VarId) -> f64 {
    let unknown = work.model.exprs.var(variable);
    let factor = work.linear_coefficient(residual, unknown).map(|(factor, _)| factor);
    factor.and_then(|factor| work.evaluate(factor)).map_or(0.0, f64::abs)
}

/// The value of `variable` by the equation, if nothing is divided by what may vanish.
pub fn solve(work: &mut Work, equation: EqId, sides: Sides, variable: VarId) -> Option<ExprId> {
    let assigned_by_when = matches!(work.model.equations[equation].role, EquationRole::When(_));
    let cache = work.modes.cache.as_ref().filter(|_| !assigned_by_when);
    if let Some(&known) = cache.and_then(|cache| cache.solved.get(&(sides, variable))) {
        return known;
    }
    let unknown = work.model.exprs.var(variable);
    let alone = alone(work, sides, variable).filter(|&value| !work.model.exprs.contains(value, unknown));
    let value = match alone {
        None if !assigned_by_when => by_elimination(work, sides, variable),
        alone => alone,
    };
    if let Some(cache) = work.modes.cache.as_mut().filter(|_| !assigned_by_when) {
        cache.solved.insert((sides, variable), value);
    }
    value
}

fn by_elimination(work: &mut Work, sides: Sides, variable: VarId) -> Option<ExprId> {
    let unknown = work.model.exprs.var(variable);
    let (roles, free) = (&work.roles, &work.parameters.free);
    let is_parameter =
        |v: VarId| matches!(roles[v], crate::parts::Role::Constant | crate::parts::Role::Parameter) && !free[v];
    let functions = &work.model.functions;
    let solution = work.model.exprs.solve_for(sides.0, sides.1, unknown, functions, is_parameter)?;
    match solution.pivot {
        Pivot::NonZero => Some(solution.value),
        Pivot::Parameter(divisor) => work.is_safe_divisor(divisor).then_some(solution.value),
        Pivot::MayVanish(_) => None,
    }
}

/// Whether an equation was solved by a logarithm. It has no value for most guesses, and none of the digits of its argument
/// where the exponential function is flat, so that it is no way to compute what guesses lead to.
fn inverts_exponential(work: &Work, sides: Sides, value: ExprId) -> bool {
    let is_logarithm = |node: Node| matches!(node, Node::Builtin(dae::Builtin::Log | dae::Builtin::Log10, _));
    let exprs = &work.model.exprs;
    exprs.any(value, is_logarithm) && !exprs.any(sides.0, is_logarithm) && !exprs.any(sides.1, is_logarithm)
}

/// The other side, where the variable stands alone on one, perhaps negated.
fn alone(work: &mut Work, (left, right): Sides, variable: VarId) -> Option<ExprId> {
    let exprs = &mut work.model.exprs;
    let is_it = |exprs: &Exprs, expr: ExprId| matches!(exprs.node(expr), Node::Var(v) if v == variable);
    for (own, other) in [(left, right), (right, left)] {
        match exprs.node(own) {
            Node::Var(v) if v == variable => return Some(other),
            Node::Not(inner) if is_it(exprs, inner) => return Some(exprs.not(other)),
            Node::Neg(inner) if is_it(exprs, inner) => return Some(exprs.neg(other)),
            _ => {}
        }
    }
    None
}
