//! Index reduction: which equations have to be differentiated, the derivatives as variables of their own, and the
//! differentiated equations (Pantelides 1988; Mattsson and Söderlind 1993).
//!
//! Calls are differentiated as calls, by their annotations, but what an equation holds is seen with calls written out.

use base::Diagnostic;
use dae::{EqId, Equation, EquationRole, ExprId, Memo, Origin, OriginKind, StateSelect, VarId, VariableType};
use rustc_hash::FxHashMap;

use crate::cancellation;
use crate::modes::redundancy;
use crate::occurrences::{Leaf, Occurrence, Scanner};
use crate::parts::{Problem, Role, Sides};
use crate::structure::offsets::{Entries, Offsets, Pantelides, Refusal, Signature};
use crate::structure::{Matching, NONE};
use crate::system::System;
use crate::work::{Work, map_actions};

/// How often hidden constraints are looked for; each round can reveal those of the next level.
const ATTEMPTS: usize = 30;

/// The chains of derivatives that index reduction made.
pub struct Reduced {
    /// Each equation and its derivatives.
    pub equations: Vec<Vec<EqId>>,
    /// Each unknown and its derivatives.
    pub variables: Vec<Vec<VarId>>,
    /// The order of the highest derivative of each unknown in the equations as they were written.
    pub written: Vec<u32>,
    pub offsets: Offsets,
}

/// Makes the system one in which every derivative that is left follows from states: no `der` is left in the equations,
/// `work.active` holds the differentiated ones too, and calls are written out. The states are still to be chosen.
pub fn reduce(work: &mut Work) -> Result<Reduced, Vec<Diagnostic>> {
    name_derivatives(work, &work.active.clone())?;
    name_other_derivatives(work);
    reduce_named(work)
}

/// The same where derivatives have been named already.
pub fn reduce_named(work: &mut Work) -> Result<Reduced, Vec<Diagnostic>> {
    let before = work.active.clone();
    let wanted = |least| work.model.variables.ids().any(|variable| work.wanted_as_state(variable) >= least);
    let mut wishes = vec![None];
    // What is asked for as a state has to be differentiated even if the text does not; not all equations can be.
    wishes.extend(wanted(StateSelect::Always).then_some(Some(StateSelect::Always)));
    wishes.extend(wanted(StateSelect::Prefer).then_some(Some(StateSelect::Prefer)));
    let (system, equations, offsets) = loop {
        let wish = wishes.pop().flatten();
        match find_offsets(work, wish) {
            Err(_) if wish.is_some() => work.active.clone_from(&before),
            outcome => break outcome?,
        }
    };
    let mut reduced = Reduced {
        equations,
        variables: system.columns.iter().map(|&variable| vec![variable]).collect(),
        written: written_orders(work, &system),
        offsets,
    };
    finish_chains(work, &mut reduced);
    inline_all(work);
    Ok(reduced)
}

/// Makes the derivatives in equations variables.
pub fn name_derivatives(work: &mut Work, equations: &[EqId]) -> Result<(), Vec<Diagnostic>> {
    let mut memo = Memo::default();
    let mut problems = Vec::new();
    for &eq in equations {
        let (left, right) = work.dynamic[eq];
        let Equation { left: first, right: second, .. } = work.model.equations[eq];
        match work.name_derivatives(&mut memo, &[left, right, first, second]) {
            Ok(new) => {
                work.dynamic[eq] = (new[0], new[1]);
                let equation = &mut work.model.equations[eq];
                (equation.left, equation.right) = (new[2], new[3]);
            }
            Err(input) => {
                let name = work.model.variable_name(input);
                let message = format!("the derivative of `{name}`, an input of the model, is not known");
                let problem = Diagnostic::error("derivative-of-input", message)
                    .hint("give the input a value inside the model, or filter it");
                problems.push(work.at_equation(problem, eq, ""));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Makes the derivatives in initial equations and actions variables.
pub fn name_other_derivatives(work: &mut Work) {
    let mut memo = Memo::default();
    let mut initial_equations = std::mem::take(&mut work.model.initial_equations);
    for equation in &mut initial_equations {
        if let Ok(new) = work.name_derivatives(&mut memo, &[equation.left, equation.right]) {
            (equation.left, equation.right) = (new[0], new[1]);
        }
    }
    work.model.initial_equations = initial_equations;
    map_actions(work, |work, expr| work.name_derivatives(&mut memo, &[expr]).map_or(expr, |new| new[0]));
}

/// The orders of the derivatives that the text itself names, by column.
fn written_orders(work: &Work, system: &System) -> Vec<u32> {
    let order = |&column: &VarId| {
        let mut order = 0;
        let mut variable = column;
        while let Some(next) = work.derivatives.of[variable]
            && work.derivatives.named[next]
        {
            order += 1;
            variable = next;
        }
        order
    };
    system.columns.iter().map(order).collect()
}

/// The offsets, with the derivatives of equations made on the way; they are not active yet.
fn find_offsets(
    work: &mut Work,
    wish: Option<StateSelect>,
) -> Result<(System, Vec<Vec<EqId>>, Offsets), Vec<Diagnostic>> {
    let mut attempts = 0;
    let mut delayed = FxHashMap::default();
    loop {
        let mut sides = Vec::with_capacity(work.active.len());
        for index in 0..work.active.len() {
            let pair = work.dynamic[work.active[index]];
            sides.push(work.inlined(pair));
        }
        let system = System::new(work, Problem::Reduction, work.active.clone(), sides, |v| work.is_unknown(v));
        let mut lowest = written_orders(work, &system);
        for (order, &column) in lowest.iter_mut().zip(&system.columns) {
            let is_asked = wish.is_some_and(|least| work.wanted_as_state(column) >= least);
            if is_asked && work.model.variables[column].ty == VariableType::Real && !work.is_discrete(column) {
                *order = 1.max(*order);
            }
            *order = delayed.get(&column).copied().unwrap_or(0).max(*order);
        }
        let signature = Signature { incidence: system.matchable.clone(), orders: system.orders.clone(), lowest };
        let wanted = system.partners(work);
        let mut chains = Chains::new(&system);
        let offsets = Pantelides.run(&signature, &wanted, &mut |row, times| chains.entries(work, &system, row, times));
        chains.scanner.take().into_iter().for_each(|scanner| work.give_back(scanner));
        let offsets = match offsets {
            Ok(offsets) => offsets,
            Err(Refusal::NotDifferentiable) => return Err(chains.problems),
            Err(Refusal::Singular) => {
                if attempts < ATTEMPTS && redundancy::share(work, &system)? {
                    attempts += 1;
                    continue;
                }
                let matching = Matching::maximum(&system.matchable);
                return Err(crate::singular::report(work, &system, &matching));
            }
            Err(Refusal::Endless) => {
                let message = "the equations have to be differentiated without end; some of them depend on each other";
                return Err(vec![Diagnostic::error("endless-differentiation", message)]);
            }
        };
        attempts += 1;
        if attempts <= ATTEMPTS && wants_delayed(work, &system, &chains.equations, &offsets, &mut delayed) {
            continue;
        }
        system.remember(work, &offsets.matching);
        if attempts > ATTEMPTS || !cancellation::reveal(work, &system, &offsets, &chains.equations) {
            return Ok((system, chains.equations, offsets));
        }
    }
}

/// Collects derivatives that only delayed expressions of differentiated equations hold. Such an occurrence matches nothing, but
/// what is delayed has to be there. Whether there are new ones.
fn wants_delayed(
    work: &mut Work,
    system: &System,
    equations: &[Vec<EqId>],
    offsets: &Offsets,
    delayed: &mut FxHashMap<VarId, u32>,
) -> bool {
    let mut scanner = work.scanner();
    let mut is_new = false;
    for (chain, &times) in equations.iter().zip(&offsets.equations) {
        for &eq in chain.iter().take(times as usize + 1).skip(1) {
            let sides = work.inlined(work.dynamic[eq]);
            scanner.scan_sides(&work.model.exprs, sides, |leaf, occurrence| {
                let (Leaf::Variable(variable), Occurrence::History) = (leaf, occurrence) else { return };
                let (base, order) = root_of(work, variable);
                let column = system.column_of[base];
                if column != NONE && order > offsets.variables[column as usize] {
                    let known = delayed.entry(base).or_insert(0);
                    is_new |= order > *known;
                    *known = order.max(*known);
                }
            });
        }
    }
    work.give_back(scanner);
    is_new
}

/// The offsets of equations that leave unknowns open, with their derivatives; none where they cannot be differentiated.
/// All equations must be matchable when orders are ignored.
pub fn offsets_of_rows(work: &mut Work, system: &System) -> Option<(Vec<Vec<EqId>>, Offsets)> {
    let (incidence, orders) = (system.matchable.clone(), system.orders.clone());
    let signature = Signature { incidence, orders, lowest: written_orders(work, system) };
    let mut chains = Chains::new(system);
    let offsets = Pantelides.run_rows(&signature, &[], &mut |row, times| chains.entries(work, system, row, times));
    chains.scanner.take().into_iter().for_each(|scanner| work.give_back(scanner));
    Some((chains.equations, offsets.ok()?))
}

/// Differentiates equations and returns what they hold then.
struct Chains {
    equations: Vec<Vec<EqId>>,
    scanner: Option<Scanner>,
    problems: Vec<Diagnostic>,
}

impl Chains {
    fn new(system: &System) -> Self {
        let equations = system.rows.iter().map(|&eq| vec![eq]).collect();
        Self { equations, scanner: None, problems: Vec::new() }
    }

    fn entries(&mut self, work: &mut Work, system: &System, row: u32, times: u32) -> Option<Entries> {
        let chain = &mut self.equations[row as usize];
        while chain.len() <= times as usize {
            match differentiated(work, chain[chain.len() - 1]) {
                Ok(new) => chain.push(new),
                Err(problem) => {
                    self.problems.push(*problem);
                    return None;
                }
            }
        }
        let (left, right) = work.inlined(work.dynamic[chain[times as usize]]);
        let scanner = self.scanner.get_or_insert_with(|| work.scanner());
        let mut entries: Entries = Vec::new();
        scanner.scan_sides(&work.model.exprs, (left, right), |leaf, occurrence| {
            let (Leaf::Variable(variable), Occurrence::Smooth) = (leaf, occurrence) else { return };
            let (base, order) = root_of(work, variable);
            let column = system.column_of[base];
            let declared = &work.model.variables[base];
            if column == NONE || declared.ty != VariableType::Real || work.is_discrete(base) {
                return;
            }
            match entries.iter_mut().find(|(known, _)| *known == column) {
                Some((_, highest)) => *highest = order.max(*highest),
                None => entries.push((column, order)),
            }
        });
        Some(entries)
    }
}

/// What a variable is a derivative of, and of which order.
fn root_of(work: &Work, mut variable: VarId) -> (VarId, u32) {
    let mut order = 0;
    while let Some(of) = work.model.variables[variable].derivative_of {
        order += 1;
        variable = of;
    }
    (variable, order)
}

/// Adds the time derivative of an equation to the model.
fn differentiated(work: &mut Work, eq: EqId) -> Result<EqId, Box<Diagnostic>> {
    let (left, right) = work.dynamic[eq];
    let sides = work.time_derivative(left).and_then(|left| Ok((left, work.time_derivative(right)?)));
    let (left, right) = match sides {
        Ok(sides) => sides,
        Err(reason) => {
            let equation = work.sides_text((left, right));
            let problem = Diagnostic::error(
                "not-differentiable",
                format!("`{equation}` has to be differentiated (it constrains states), but cannot be"),
            )
            .note(reason.to_string())
            .hint("functions in it need a `derivative` annotation; what changes in steps has no derivative");
            let problem = work.at_equation(problem, eq, "");
            return Err(Box::new(match reason.iteration {
                Some(span) => problem.at(span, "this iterates"),
                None => problem,
            }));
        }
    };
    let Origin { component, span, .. } = work.model.equations[eq].origin.clone();
    let origin = Origin { component, span, kind: OriginKind::Derivative(eq) };
    work.dynamic.push((left, right));
    Ok(work.model.equations.push(Equation { left, right, role: EquationRole::Plain, origin }))
}

/// Makes the derivatives that are needed part of the system, and the others not.
fn finish_chains(work: &mut Work, reduced: &mut Reduced) {
    for (column, chain) in reduced.variables.iter_mut().enumerate() {
        for order in 0..reduced.offsets.variables[column] {
            let next = work.derivative_variable(chain[order as usize]);
            chain.push(next);
        }
        let mut last = chain[chain.len() - 1];
        while let Some(unused) = work.derivatives.of[last] {
            work.roles[unused] = Role::Constant;
            let zero = work.model.exprs.real(0.0);
            let variable = &mut work.model.variables[unused];
            variable.binding = Some(zero);
            variable.hidden = true;
            last = unused;
        }
    }
    for (row, chain) in reduced.equations.iter_mut().enumerate() {
        let times = reduced.offsets.equations[row];
        chain.truncate(times as usize + 1);
        if times > 0 {
            work.summary.differentiated.push((chain[0], times));
            work.active.extend_from_slice(&chain[1..]);
        }
    }
}

/// Writes calls out in all equations.
pub fn inline_all(work: &mut Work) {
    let sides_of = |equation: &Equation| (equation.left, equation.right);
    for index in 0..work.active.len() {
        let eq = work.active[index];
        work.dynamic[eq] = work.inlined(work.dynamic[eq]);
        let (left, right): Sides = work.inlined(sides_of(&work.model.equations[eq]));
        let equation = &mut work.model.equations[eq];
        (equation.left, equation.right) = (left, right);
    }
    let mut initial_equations = std::mem::take(&mut work.model.initial_equations);
    for equation in &mut initial_equations {
        (equation.left, equation.right) = work.inlined(sides_of(equation));
    }
    work.model.initial_equations = initial_equations;
}

/// The unknown at an order of its chain of derivatives.
pub fn at_order(work: &Work, variable: VarId, order: u32) -> Option<VarId> {
    (0..order).try_fold(variable, |variable, _| work.derivatives.of[variable])
}

/// `left - right`.
pub fn residual(work: &mut Work, (left, right): Sides) -> ExprId {
    work.model.exprs.sub(left, right)
}
