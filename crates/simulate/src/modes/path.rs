//! The way of the values through an instant.
//!
//! An equation that is not differentiated is integrated over the instant. Where its coefficients change with what jumps
//! (`C(v)*der(v)`, the derivative of a nonlinear expression, power), neither the left nor the right values of the
//! coefficients give that integral. What is violated is led to zero, as a small resistance or compliance would do it, and the
//! equations hold all the way: the highest derivatives follow from the matrix of each point. With one violated constraint there
//! is one way only. With several, a second way, on which they come to hold one after another, has to lead to the same place;
//! it does for balances of charge, flux and momentum. Otherwise the equations leave open what happens.

use compile::{Address, Memory, Probe, Program, RelationKind};
use dae::{ExprId, Node, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use solve::dop853::Dop853;
use solve::{EvalError, Integrator, OdeProblem};
use transform::modes::chains::Chains;

use super::left::Sizes;
use super::restart::{NoJump, Restart, Solver};

/// The accuracy of the way: nearly that of rounding, because it is what balances are met to.
const TOLERANCE: f64 = 1e-11;
/// Two ways that lead to values that differ by more lead to different places.
const SAME: f64 = 1e-7;
/// Rounding errors relative to the largest values of the model.
const ROUNDING: f64 = 1e-13;
const MOST_STEPS: usize = 20_000;
const MOST_ITERATIONS: usize = 30;

/// What a way depends on.
#[derive(Clone)]
pub struct Path {
    /// By level, from 1: coefficients change with the values of that level.
    varies: Vec<bool>,
    /// The variables in coefficients that are no part of a chain, with their rows.
    finite: Option<Finite>,
    /// Relations in coefficients between values that jump: their states, and what gives them.
    relations: Option<(Vec<Address>, Probe)>,
    /// Discrete variables that follow from them, and what each is, in this order.
    decided: Vec<(VarId, Probe)>,
    /// The columns with coefficients that depend on a variable which may be unbounded.
    open: Vec<(usize, VarId)>,
    /// Rows and columns of variables that discrete variables and time determine; each follows from those before it.
    signals: Vec<(usize, usize)>,
}

/// Where variables stand in chains.
struct ChainPositions {
    /// Column and order.
    of: FxHashMap<VarId, (usize, usize)>,
    /// The columns that depend on highest derivatives at each point.
    unbounded: Vec<bool>,
}

/// Variables that follow from others at each point of the way.
#[derive(Clone)]
struct Finite {
    columns: Vec<usize>,
    residuals: Probe,
    /// The entries of the chains' matrix between them.
    entries: Vec<usize>,
    solver: Solver,
}

/// What a way leads through.
pub struct Leg<'a> {
    pub level: usize,
    /// Rows that do not hold, and by how much.
    pub violated: &'a [(usize, f64)],
    pub passed_on: &'a [(usize, f64)],
    /// What has jumped before, by column.
    pub signals: &'a [(usize, f64)],
    pub sizes: &'a Sizes,
}

impl Path {
    pub fn new(program: &Program, chains: &Chains, memory: &mut Memory) -> Result<Self, NoJump> {
        let exprs = &program.model().exprs;
        let (rows, places) = (relevant_rows(chains), ChainPositions::new(program, chains));
        let mut coefficients: Vec<Vec<ExprId>> = vec![Vec::new(); chains.rows.len()];
        let mut open = Vec::new();
        for &(row, column, entry) in &chains.jacobian {
            let (row, column) = (row as usize, column as usize);
            // What is finite adds nothing.
            let is_number = matches!(exprs.node(entry), Node::Real(_) | Node::Integer(_));
            if is_number || !rows[row] || chains.columns[column].len() == 1 && !places.unbounded[column] {
                continue;
            }
            coefficients[row].push(entry);
            let variables = exprs.dependencies(&[entry]).variables;
            open.extend(variables.into_iter().filter(|v| places.is_unbounded(chains, *v)).map(|v| (column, v)));
        }
        let of_rows = |times: std::ops::Range<usize>| -> Vec<ExprId> {
            let rows = (0..chains.rows.len()).filter(|&row| times.contains(&chains.rows[row].times()));
            rows.flat_map(|row| coefficients[row].iter().copied()).collect()
        };
        let mut expressions = of_rows(0..1);
        let finite = places.finite(program, chains, &mut expressions);
        decided(program, &mut expressions, |v| places.of.contains_key(v));
        let found = exprs.dependencies(&expressions).variables;
        let depth = chains.rows.iter().map(|row| row.times()).max().unwrap_or(0);
        let signals = signals(chains, &rows);
        // A constraint that bends has its right values behind the bend, and Newton's method may not find the way there.
        let of_constraints = of_rows(1..usize::MAX);
        expressions.extend(&of_constraints);
        let decided = decided(program, &mut expressions, |v| places.of.contains_key(v));
        let relations = live_relations(program, &expressions, |v| places.of.contains_key(v));
        let bends: Vec<ExprId> = relations.iter().map(|&(_, residue)| residue).collect();
        let bends = exprs.dependencies(&bends).variables;
        let varies = (1..=depth).map(|level| {
            let others = exprs.dependencies(&of_rows(1..level)).variables;
            let changing = found.iter().chain(&others).chain(&bends);
            changing.into_iter().any(|&variable| places.is_moved(chains, variable, level, &signals))
        });
        let varies = varies.collect();
        let finite = match finite.is_empty() {
            true => None,
            false => Some(Finite::new(program, chains, memory, finite)?),
        };
        let relations = match relations.is_empty() {
            true => None,
            false => {
                let (states, residues): (Vec<Address>, Vec<ExprId>) = relations.into_iter().unzip();
                Some((states, Probe::new(program, &residues, memory).map_err(|_| NoJump::NoConvergence)?))
            }
        };
        let decided = decided.into_iter().map(|(variable, value)| {
            let probe = Probe::new(program, &[value], memory).map_err(|_| NoJump::NoConvergence)?;
            Ok((variable, probe))
        });
        let decided = decided.collect::<Result<_, NoJump>>()?;
        Ok(Self { varies, finite, relations, decided, open, signals })
    }

    /// Whether coefficients change with the values of a level.
    pub fn varies(&self, level: usize) -> bool {
        self.varies.get(level - 1).is_some_and(|varies| *varies)
    }

    /// Gives the signals their new values; their jumps by column.
    pub fn set_signals(
        &self,
        restart: &mut Restart,
        program: &Program,
        memory: &mut Memory,
        level: usize,
    ) -> Result<Vec<(usize, f64)>, NoJump> {
        let mut jumps = Vec::new();
        let mut residuals = Vec::new();
        for &(row, column) in &self.signals {
            let Some(variable) = place(&restart.chains.columns[column], level) else { continue };
            let Ok(at) = restart.levels[level - 1].0.binary_search(&row) else { continue };
            let before = program.value(memory, variable);
            for _ in 0..MOST_ITERATIONS {
                restart.levels[level - 1].1.run(program, memory, &mut residuals);
                restart.evaluate_jacobian(program, memory)?;
                let entries = restart.chains.jacobian.iter().zip(&restart.values);
                let own = entries.filter(|((r, c, _), _)| (*r as usize, *c as usize) == (row, column));
                let slope: f64 = own.map(|(_, value)| value).sum();
                let step = residuals[at] / slope;
                if !step.is_finite() {
                    return Err(NoJump::Singular(variable));
                }
                let value = program.value(memory, variable) - step;
                program.set_value(memory, variable, value);
                if step.abs() <= 1e-14 * value.abs() {
                    break;
                }
            }
            jumps.push((column, program.value(memory, variable) - before));
        }
        Ok(jumps)
    }

    /// The jumps by column. Memory has the values at the end of the way.
    pub fn walk(
        &mut self,
        restart: &mut Restart,
        program: &Program,
        memory: &mut Memory,
        leg: &Leg,
    ) -> Result<Vec<f64>, NoJump> {
        let left = memory.values.clone();
        let together = vec![1; leg.violated.len()];
        let (mut jumps, size) = self.go(restart, program, memory, leg, &together)?;
        if leg.violated.len() + usize::from(!leg.passed_on.is_empty()) > 1 {
            let right = std::mem::replace(&mut memory.values, left);
            let one_after_another: Vec<i32> = (0..leg.violated.len()).map(|k| 2 + k.min(4) as i32).collect();
            let (others, _) = self.go(restart, program, memory, leg, &one_after_another)?;
            memory.values = right;
            let values = |column: &usize| restart.chains.columns[*column].len() > leg.level;
            // What comes back to where it was has the errors of the way.
            let noise = 100.0 * TOLERANCE * (0..jumps.len()).filter(values).fold(0.0, |most, k| size[k].max(most));
            let differs = |column: &usize| {
                let distance = (jumps[*column] - others[*column]).abs();
                distance > noise && distance > SAME * size[*column]
            };
            if let Some(column) = (0..jumps.len()).filter(values).find(differs) {
                return Err(NoJump::Ambiguous(restart.chains.columns[column][0]));
            }
        }
        leg.signals.iter().for_each(|&(column, jump)| jumps[column] += jump);
        Ok(jumps)
    }

    /// The variable without a value in the instant by which something unbounded is multiplied.
    pub fn open(&self, jumps: &[f64]) -> Option<VarId> {
        let noise = ROUNDING * jumps.iter().fold(0.0f64, |most, jump| most.max(jump.abs()));
        let multiplied = self.open.iter().find(|(column, _)| jumps[*column].abs() > noise);
        multiplied.map(|(_, variable)| *variable)
    }

    /// One way; each violation falls with this power of what is left of the way. The jumps and the magnitudes, by column.
    fn go(
        &mut self,
        restart: &mut Restart,
        program: &Program,
        memory: &mut Memory,
        leg: &Leg,
        powers: &[i32],
    ) -> Result<(Vec<f64>, Vec<f64>), NoJump> {
        let count = restart.chains.columns.len();
        let places: Vec<Option<VarId>> = restart.chains.columns.iter().map(|chain| place(chain, leg.level)).collect();
        let value = |memory: &Memory, place: &Option<VarId>| place.map_or(0.0, |v| program.value(memory, v));
        let start: Vec<f64> = places.iter().map(|place| value(memory, place)).collect();
        let mut walk =
            Walk { path: self, restart, program, memory, leg, powers, places: &places, failure: NoJump::NoConvergence };
        let mut slope = vec![0.0; count];
        if walk.rhs(0.0, &start, &mut slope).is_err() {
            return Err(walk.failure);
        }
        let sizes = magnitudes(&places, &start, &slope, leg.sizes);
        let options = solve::Options {
            relative_tolerance: TOLERANCE,
            absolute_tolerance: sizes.iter().map(|size| TOLERANCE * size).collect(),
            ..solve::Options::default()
        };
        let mut integrator = Dop853::new(count, options);
        let mut outcome = integrator.start(&mut walk, 0.0, &start, None).map(|()| false);
        let mut steps = 0;
        while let Ok(false) = outcome {
            outcome = integrator.step(&mut walk, 1.0).map(|step| step.at_limit);
            steps += 1;
            if steps > MOST_STEPS {
                return Err(NoJump::NoConvergence);
            }
        }
        let end = integrator.state().to_vec();
        if outcome.is_err() || walk.rhs(1.0, &end, &mut slope).is_err() {
            return Err(walk.failure);
        }
        Ok((end.iter().zip(&start).map(|(end, start)| end - start).collect(), sizes))
    }

    /// Brings variables in coefficients up to date.
    pub fn refresh(&mut self, restart: &mut Restart, program: &Program, memory: &mut Memory) -> Result<(), NoJump> {
        match &mut self.finite {
            Some(finite) => finite.solve(restart, program, memory),
            None => Ok(()),
        }
    }

    /// Brings everything that follows from the values in memory up to date.
    pub fn settle(&mut self, restart: &mut Restart, program: &Program, memory: &mut Memory) -> Result<(), NoJump> {
        if let Some((states, probe)) = &self.relations {
            let mut residues = Vec::new();
            probe.run(program, memory, &mut residues);
            for (&state, residue) in states.iter().zip(&residues).filter(|(_, residue)| **residue != 0.0) {
                memory.values[state as usize] = residue.signum();
            }
        }
        let mut value = Vec::new();
        for (variable, probe) in &self.decided {
            probe.run(program, memory, &mut value);
            value.iter().for_each(|&value| program.set_value(memory, *variable, value));
        }
        self.refresh(restart, program, memory)
    }
}

/// How large values are on a way that begins like this. Impulses change nothing on it, and what has always been zero, but for
/// rounding errors, may have a slope of such errors.
fn magnitudes(places: &[Option<VarId>], start: &[f64], slope: &[f64], sizes: &Sizes) -> Vec<f64> {
    const NOISE: f64 = 1e-5;
    const ANY: f64 = 1e200;
    let values = || places.iter().zip(slope).filter(|(place, _)| place.is_some());
    let fastest = values().fold(f64::MIN_POSITIVE, |most, (_, slope)| most.max(slope.abs()));
    let size = |(place, (start, slope)): (&Option<VarId>, (&f64, &f64))| {
        let Some(variable) = *place else { return ANY };
        match start.abs().max(sizes.of(variable)) {
            known if known <= ROUNDING * sizes.largest => slope.abs().max(NOISE * fastest),
            known => known + slope.abs(),
        }
    };
    places.iter().zip(start.iter().zip(slope)).map(size).collect()
}

/// The variable of a chain whose jump is looked for, so many levels below the highest derivative.
fn place(chain: &[VarId], level: usize) -> Option<VarId> {
    chain.len().checked_sub(1 + level).map(|order| chain[order])
}

/// The rows and columns of variables that constraints determine one after another, beginning with what is discrete, and whose
/// derivatives are in no other equation: a ratio that steps has its new value when constraints come to hold. A derivative in
/// an equation that is not differentiated adds up on the way.
fn signals(chains: &Chains, relevant: &[bool]) -> Vec<(usize, usize)> {
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); chains.rows.len()];
    let mut adds_up = vec![false; chains.columns.len()];
    for &(row, column, _) in &chains.jacobian {
        columns[row as usize].push(column as usize);
        adds_up[column as usize] |= relevant[row as usize] && chains.rows[row as usize].times() == 0;
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut is_signal = vec![false; chains.columns.len()];
    loop {
        let before = found.len();
        for row in (0..chains.rows.len()).filter(|&row| chains.rows[row].times() > 0) {
            let mut open = columns[row].iter().filter(|&&column| !is_signal[column]);
            if let (Some(&column), None) = (open.next(), open.next())
                && !adds_up[column]
            {
                is_signal[column] = true;
                found.push((row, column));
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The rows that the jump of anything depends on. Impulses that are shown, but lead to nothing, are not looked at.
fn relevant_rows(chains: &Chains) -> Vec<bool> {
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); chains.rows.len()];
    chains.jacobian.iter().for_each(|&(row, column, _)| columns[row as usize].push(column));
    let mut relevant = vec![false; chains.rows.len()];
    let is_differentiated = |column: &usize| chains.columns[*column].len() > 1;
    let mut next: Vec<usize> = (0..chains.columns.len()).filter(is_differentiated).collect();
    while let Some(column) = next.pop() {
        let row = chains.row_of_column[column] as usize;
        if !std::mem::replace(&mut relevant[row], true) {
            next.extend(columns[row].iter().map(|&column| column as usize));
        }
    }
    relevant
}

impl ChainPositions {
    fn new(program: &Program, chains: &Chains) -> Self {
        let exprs = &program.model().exprs;
        let columns = chains.columns.iter().enumerate();
        let of: FxHashMap<VarId, (usize, usize)> = columns
            .flat_map(|(column, chain)| chain.iter().enumerate().map(move |(order, &v)| (v, (column, order))))
            .collect();
        // From highest derivatives on to all that follows from them.
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); chains.columns.len()];
        let mut next: Vec<usize> = Vec::new();
        for column in (0..chains.columns.len()).filter(|&column| chains.columns[column].len() == 1) {
            for variable in exprs.dependencies(&definition(chains, column)).variables {
                match of.get(&variable) {
                    Some(&(used, 0)) if chains.columns[used].len() == 1 => users[used].push(column),
                    Some(&(used, order)) if order + 1 == chains.columns[used].len() => next.push(column),
                    _ => {}
                }
            }
        }
        let mut unbounded = vec![false; chains.columns.len()];
        while let Some(column) = next.pop() {
            if !std::mem::replace(&mut unbounded[column], true) {
                next.extend(&users[column]);
            }
        }
        Self { of, unbounded }
    }

    /// Whether a variable is a highest derivative, or follows from some.
    fn is_unbounded(&self, chains: &Chains, variable: VarId) -> bool {
        self.of.get(&variable).is_some_and(|&(column, order)| match chains.columns[column].len() {
            1 => self.unbounded[column],
            length => order + 1 == length,
        })
    }

    /// Whether a variable is one of those that jump at a level, and no signal.
    fn is_moved(&self, chains: &Chains, variable: VarId, level: usize, signals: &[(usize, usize)]) -> bool {
        self.of.get(&variable).is_some_and(|&(column, order)| {
            chains.columns[column].len().checked_sub(1 + level) == Some(order)
                && signals.iter().all(|&(_, signal)| signal != column)
        })
    }

    /// The columns of one variable each that expressions depend on, also through each other; their definitions are added to
    /// the expressions.
    fn finite(&self, program: &Program, chains: &Chains, expressions: &mut Vec<ExprId>) -> Vec<usize> {
        let exprs = &program.model().exprs;
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut next = exprs.dependencies(expressions).variables;
        while let Some(variable) = next.pop() {
            let Some(&(column, 0)) = self.of.get(&variable) else { continue };
            if chains.columns[column].len() > 1 || self.unbounded[column] || !seen.insert(column) {
                continue;
            }
            found.push(column);
            expressions.extend(definition(chains, column));
            next.extend(exprs.dependencies(&definition(chains, column)).variables);
        }
        found
    }
}

/// What has to vanish for the last variable of a column.
fn definition(chains: &Chains, column: usize) -> Vec<ExprId> {
    chains.rows[chains.row_of_column[column] as usize].residuals.last().copied().into_iter().collect()
}

/// The discrete variables in expressions that follow from something continuous by nothing but relations, each behind those it
/// depends on, and what they are. That is added to the expressions.
fn decided(
    program: &Program,
    expressions: &mut Vec<ExprId>,
    is_continuous: impl Fn(&VarId) -> bool,
) -> Vec<(VarId, ExprId)> {
    let exprs = &program.model().exprs;
    let is_discrete = |variable: &VarId| matches!(program.schedule.roles[*variable], transform::Role::Discrete);
    let mut found = Vec::new();
    let mut next: Vec<VarId> = exprs.dependencies(expressions).variables.into_iter().filter(is_discrete).collect();
    if next.is_empty() {
        return found;
    }
    let assignments: FxHashMap<VarId, ExprId> = (program.schedule.blocks.iter())
        .filter_map(|block| match block {
            transform::Block::Assign { assignment, .. } => Some((assignment.variable, assignment.value)),
            transform::Block::System { .. } => None,
        })
        .collect();
    let mut seen = FxHashSet::default();
    while let Some(variable) = next.pop() {
        let Some(&value) = assignments.get(&variable).filter(|_| seen.insert(variable)) else { continue };
        let needed = exprs.dependencies(&[value]);
        if needed.pre.is_empty() && needed.previous.is_empty() {
            next.extend(needed.variables.iter().copied().filter(is_discrete));
            found.push((variable, value));
        }
    }
    // Blocks are in the order of computation.
    let order: FxHashMap<VarId, usize> = (program.schedule.blocks.iter().enumerate())
        .filter_map(|(place, block)| match block {
            transform::Block::Assign { assignment, .. } => Some((assignment.variable, place)),
            transform::Block::System { .. } => None,
        })
        .collect();
    found.sort_by_key(|(variable, _)| order.get(variable).copied());
    let mut follows = FxHashSet::default();
    found.retain(|&(variable, value)| {
        let needed = exprs.dependencies(&[value]).variables;
        let keeps = needed.iter().any(|v| is_continuous(v) || follows.contains(v));
        if keeps {
            follows.insert(variable);
        }
        keeps
    });
    expressions.extend(found.iter().map(|(_, value)| *value));
    found
}

/// The relations in expressions that depend on something continuous: their states and residues.
fn live_relations(
    program: &Program,
    expressions: &[ExprId],
    is_continuous: impl Fn(&VarId) -> bool,
) -> Vec<(Address, ExprId)> {
    let exprs = &program.model().exprs;
    let sides: FxHashSet<(ExprId, ExprId)> = (exprs.postorder(expressions).into_iter())
        .filter_map(|id| match exprs.node(id) {
            Node::Compare { event: true, left, right, .. } => Some((left, right)),
            _ => None,
        })
        .collect();
    if sides.is_empty() {
        return Vec::new();
    }
    let is_live = |relation: &&compile::Relation| match relation.kind {
        RelationKind::Compare { left, right } => {
            (sides.contains(&(left, right)) || sides.contains(&(right, left)))
                && exprs.dependencies(&[relation.residue]).variables.iter().any(&is_continuous)
        }
        RelationKind::Round { .. } => false,
    };
    program.layout.relations.values().filter(is_live).map(|relation| (relation.state, relation.residue)).collect()
}

impl Finite {
    fn new(program: &Program, chains: &Chains, memory: &mut Memory, columns: Vec<usize>) -> Result<Self, NoJump> {
        let rows = columns.iter().map(|&column| chains.row_of_column[column] as usize);
        let residuals: Vec<ExprId> =
            rows.clone().filter_map(|row| chains.rows[row].residuals.last().copied()).collect();
        let residuals = Probe::new(program, &residuals, memory).map_err(|_| NoJump::NoConvergence)?;
        let row_places: FxHashMap<usize, usize> = rows.enumerate().map(|(place, row)| (row, place)).collect();
        let column_places: FxHashMap<usize, usize> =
            columns.iter().enumerate().map(|(place, &column)| (column, place)).collect();
        let (mut entries, mut at) = (Vec::new(), Vec::new());
        for (entry, &(row, column, _)) in chains.jacobian.iter().enumerate() {
            if let (Some(&row), Some(&column)) =
                (row_places.get(&(row as usize)), column_places.get(&(column as usize)))
            {
                entries.push(entry);
                at.push((row, column));
            }
        }
        let solver = Solver::new(columns.len(), at.into_iter());
        Ok(Self { columns, residuals, entries, solver })
    }

    /// Newton's method from the values in memory.
    fn solve(&mut self, restart: &mut Restart, program: &Program, memory: &mut Memory) -> Result<(), NoJump> {
        let mut right = Vec::new();
        let mut last = f64::INFINITY;
        for _ in 0..MOST_ITERATIONS {
            self.residuals.run(program, memory, &mut right);
            if right.iter().all(|&residual| residual == 0.0) {
                return Ok(());
            }
            restart.evaluate_jacobian(program, memory)?;
            let values: Vec<f64> = self.entries.iter().map(|&entry| restart.values[entry]).collect();
            self.solver.forget();
            let root = |column: usize| restart.chains.columns[column][0];
            self.solver.solve(&values, &mut right).map_err(|place| NoJump::Singular(root(self.columns[place])))?;
            let mut change = 0.0f64;
            for (&column, step) in self.columns.iter().zip(&right) {
                if !step.is_finite() {
                    return Err(NoJump::NotFinite(root(column)));
                }
                let value = program.value(memory, root(column)) - step;
                program.set_value(memory, root(column), value);
                change = change.max(step.abs() / (value.abs() + f64::MIN_POSITIVE));
            }
            if change <= 1e-14 || change <= 1e-9 && change >= 0.5 * last {
                return Ok(());
            }
            last = change;
        }
        Err(NoJump::NoConvergence)
    }
}

/// The equations of a way as those of an integrator, from 0 to 1.
struct Walk<'a> {
    path: &'a mut Path,
    restart: &'a mut Restart,
    program: &'a Program,
    memory: &'a mut Memory,
    leg: &'a Leg<'a>,
    powers: &'a [i32],
    places: &'a [Option<VarId>],
    /// What went wrong last.
    failure: NoJump,
}

impl Walk<'_> {
    fn slope(&mut self, s: f64, y: &[f64], dy: &mut [f64]) -> Result<(), NoJump> {
        for (place, &value) in self.places.iter().zip(y) {
            if let Some(variable) = *place {
                self.program.set_value(self.memory, variable, value);
            }
        }
        self.path.settle(self.restart, self.program, self.memory)?;
        self.restart.evaluate_jacobian(self.program, self.memory)?;
        dy.fill(0.0);
        self.leg.passed_on.iter().for_each(|&(row, sum)| dy[row] -= sum);
        for (&(row, violation), &power) in self.leg.violated.iter().zip(self.powers) {
            dy[row] = -violation * f64::from(power) * (1.0 - s).max(0.0).powi(power - 1);
        }
        self.restart.solve(dy, &mut false)?;
        match dy.iter().position(|slope| !slope.is_finite()) {
            Some(column) => Err(NoJump::NotFinite(self.restart.chains.columns[column][0])),
            None => Ok(()),
        }
    }
}

impl OdeProblem for Walk<'_> {
    fn size(&self) -> usize {
        self.places.len()
    }

    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        self.slope(t, x, dx).map_err(|failure| {
            self.failure = failure;
            EvalError::recoverable(0)
        })
    }
}
