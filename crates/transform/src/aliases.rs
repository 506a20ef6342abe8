//! Variables that are always equal, or equal up to sign, become one: `a = b`, `a = -b`, `a = not b`, `a = 3`, `a = p`.
//!
//! A union–find with parity collects the groups in one pass over the equations; then one member stands for the group and
//! takes over what the others said about start, fixed, nominal, min, max and stateSelect. Replacing variables can make
//! further equations trivial (`a = b + c` with `c = 0`), so this repeats on the equations that changed.

use std::sync::Arc;

use base::{Diagnostic, Id, IdVec, Severity};
use dae::{
    ActionKind, Attributes, Builtin, EqId, Equation, EquationRole, ExprId, Exprs, Memo, Model, Node, StateSelect,
    VarId, VariableType,
};

use crate::attributes;
use crate::cancellation::without_cancelled;
use crate::decisions::Subject;
use crate::initial;
use crate::options::Aliases;
use crate::parameters::start_value;
use crate::parts::Role;
use crate::work::{Work, map_action, map_actions};

/// Later rounds find next to nothing; the equations that remain are solved like others.
const ROUNDS: usize = 8;

pub fn eliminate(work: &mut Work, aliases: Aliases) -> Result<(), Vec<Diagnostic>> {
    let mut groups = Groups::new(work);
    let (mut candidates, rounds) = match aliases {
        Aliases::Eliminate => (work.active.iter().copied().filter(|&eq| work.is_steady(eq)).collect(), ROUNDS),
        // One round without candidates replaces constants by their values.
        Aliases::Keep => (Vec::new(), 1),
    };
    let mut first = true;
    for _ in 0..rounds {
        candidates.iter().for_each(|&eq| cancel(work, eq));
        let removed: Vec<EqId> = candidates.iter().copied().filter(|&eq| groups.absorb(work, eq)).collect();
        if removed.is_empty() && !first {
            break;
        }
        first = false;
        let removed = rustc_hash::FxHashSet::from_iter(removed);
        work.active.retain(|eq| !removed.contains(eq));
        let targets = groups.choose(work);
        candidates = replace(work, &targets);
        candidates.retain(|&eq| work.is_steady(eq));
    }
    let targets = groups.choose(work);
    let problems = tell_differing(work, &mut groups);
    if !problems.is_empty() {
        return Err(problems);
    }
    finish(work, &targets);
    work.dynamic = dynamic_sides(work);
    Ok(())
}

/// Equal variables with different left limits at the start are two, which is hardly what was meant.
fn tell_differing(work: &mut Work, groups: &mut Groups) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut told = rustc_hash::FxHashSet::default();
    for (one, other, negated) in std::mem::take(&mut groups.differing) {
        if !told.insert((one, other)) {
            continue;
        }
        let warning = attributes::contradiction(work, one, other, negated);
        match work.strict {
            true => problems.push(Diagnostic { severity: Severity::Error, ..warning }),
            false => work.summary.notices.push(warning),
        }
    }
    problems
}

/// Variables that initial equations give a value to and that hold it, since no when clause assigns them at the start: their left
/// limits are that value, and not what is said about the left limit of a variable that is equal to them.
fn begun_by_equations(work: &mut Work) -> Vec<VarId> {
    let held = initial::held(work);
    let exprs = &work.model.exprs;
    let sides = work.model.initial_equations.iter().flat_map(|equation| [equation.left, equation.right]);
    sides.filter_map(|side| alone(exprs, side)).filter(|variable| held.contains_key(variable)).collect()
}

/// The variable that an expression is, or is the negation of.
fn alone(exprs: &Exprs, expr: ExprId) -> Option<VarId> {
    match exprs.node(expr) {
        Node::Var(variable) => Some(variable),
        Node::Not(inner) | Node::Neg(inner) => match exprs.node(inner) {
            Node::Var(variable) => Some(variable),
            _ => None,
        },
        _ => None,
    }
}

/// Takes unknowns out of an equation that are in it only for the eye.
fn cancel(work: &mut Work, eq: EqId) {
    let Equation { left, right, role, .. } = &work.model.equations[eq];
    if matches!(role, EquationRole::Plain)
        && let Some(sides) = without_cancelled(&mut work.model.exprs, *left, *right)
    {
        let equation = &mut work.model.equations[eq];
        (equation.left, equation.right) = sides;
    }
}

/// What stands for a variable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Target {
    Itself,
    Literal(ExprId),
    Alias { of: VarId, negated: bool },
}

/// What an equation says.
enum Finding {
    Equal { a: VarId, b: VarId, negated: bool },
    Value { variable: VarId, value: ExprId },
}

struct Groups {
    parent: Vec<u32>,
    /// Negated against the parent.
    flipped: Vec<bool>,
    size: Vec<u32>,
    /// A parameter, constant or input in the group, with its parity; at most one.
    known: Vec<Option<(VarId, bool)>>,
    literal: Vec<Option<ExprId>>,
    /// Of the group, at its root.
    differentiated: Vec<bool>,
    discrete: Vec<bool>,
    pinned: Vec<bool>,
    /// What is said about its left limit at the start: two such variables may be equal and begin with different ones.
    left_limit: Vec<LeftLimit>,
    /// A discrete variable whose left limit at the start decides something: it need not be the value, also where that never
    /// changes.
    needs_left_limit: Vec<bool>,
    /// Pairs of variables that are equal, or opposite (true), although their fixed start values are not.
    differing: Vec<(VarId, VarId, bool)>,
    /// Of each variable itself.
    own: Vec<Own>,
}

/// What is said about a left limit at the start.
#[derive(Clone, Copy, PartialEq)]
enum LeftLimit {
    Open,
    /// The fixed start value of a discrete variable of the group, as the root would have it.
    Start {
        of: VarId,
        negated: bool,
        value: ExprId,
    },
    /// By an initial equation, for the left limit or for a value that no when clause assigns at the start.
    Equation,
}

#[derive(Clone, Copy, Default)]
struct Own {
    differentiated: bool,
    pinned: bool,
}

impl Groups {
    fn new(work: &mut Work) -> Self {
        let count = work.model.variables.len();
        let mut groups = Self {
            parent: (0..count as u32).collect(),
            flipped: vec![false; count],
            size: vec![1; count],
            known: vec![None; count],
            literal: vec![None; count],
            differentiated: vec![false; count],
            discrete: vec![false; count],
            pinned: vec![false; count],
            left_limit: vec![LeftLimit::Open; count],
            needs_left_limit: vec![false; count],
            differing: Vec::new(),
            own: vec![Own::default(); count],
        };
        for variable in work.model.variables.ids() {
            if work.is_unknown(variable) {
                groups.discrete[variable.index()] = work.is_discrete(variable);
            } else {
                groups.known[variable.index()] = Some((variable, false));
            }
        }
        for id in work.model.exprs.ids() {
            if let Node::Der(variable) = work.model.exprs.node(id) {
                groups.differentiated[variable.index()] = true;
            }
        }
        for equation in work.model.equations.values() {
            if let EquationRole::When(clause) = &equation.role {
                for condition in &clause.conditions {
                    groups.pinned[condition.index()] = true;
                }
            }
        }
        groups.find_left_limits(work);
        for (index, own) in groups.own.iter_mut().enumerate() {
            *own = Own { differentiated: groups.differentiated[index], pinned: groups.pinned[index] };
        }
        groups
    }

    fn find_left_limits(&mut self, work: &mut Work) {
        if !work.model.exprs.ids().any(|id| matches!(work.model.exprs.node(id), Node::Pre(_))) {
            return;
        }
        for variable in work.model.variables.ids() {
            if work.is_discrete(variable)
                && attributes::is_fixed(&work.model.exprs, &work.model.variables[variable].attributes)
            {
                let start = start_value(work, variable);
                let values = &work.values;
                let start = work.model.exprs.substitute(&[start], &mut work.value_memo, |v| values[v])[0];
                self.left_limit[variable.index()] = LeftLimit::Start { of: variable, negated: false, value: start };
            }
        }
        for equation in &work.model.initial_equations {
            for variable in work.model.exprs.dependencies(&[equation.left, equation.right]).pre {
                self.left_limit[variable.index()] = LeftLimit::Equation;
                self.needs_left_limit[variable.index()] = work.is_discrete(variable);
            }
        }
        for variable in begun_by_equations(work) {
            self.left_limit[variable.index()] = LeftLimit::Equation;
        }
        let mut memo = Memo::default();
        for index in 0..work.active.len() {
            let Equation { left, right, .. } = work.model.equations[work.active[index]];
            self.note_left_limits(work, &[left, right], &mut memo);
        }
        let mut actions = std::mem::take(&mut work.model.initial_actions);
        for action in &mut actions {
            map_action(work, action, |work, expr| {
                self.note_left_limits(work, &[expr], &mut memo);
                expr
            });
        }
        work.model.initial_actions = actions;
    }

    /// Notes whose left limits expressions ask for at initialisation. Later they are the values of the instant before.
    fn note_left_limits(&mut self, work: &mut Work, roots: &[ExprId], memo: &mut Memo) {
        if work.model.exprs.dependencies(roots).pre.is_empty() {
            return;
        }
        for &root in roots {
            let at_start = initial::at_start(&mut work.model.exprs, root, memo);
            for variable in work.model.exprs.dependencies(&[at_start]).pre {
                self.needs_left_limit[variable.index()] |= work.is_discrete(variable);
            }
        }
    }

    /// What is said about the left limit of two groups together; `None` if that cannot be one value.
    fn joined_left_limit(&mut self, work: &mut Work, a: usize, b: usize, flip: bool) -> Option<LeftLimit> {
        let other = match self.left_limit[b] {
            LeftLimit::Start { of, negated, value } => {
                let value = opposite(&mut work.model.exprs, value, flip);
                LeftLimit::Start { of, negated: negated ^ flip, value }
            }
            other => other,
        };
        match (self.left_limit[a], other) {
            (limit, LeftLimit::Open) | (LeftLimit::Open, limit) => Some(limit),
            (LeftLimit::Start { of: a, value: x, .. }, LeftLimit::Start { of: b, value: y, .. }) if x == y => {
                note_starts(work, [a, b]);
                Some(other)
            }
            (LeftLimit::Start { of: a, negated: na, .. }, LeftLimit::Start { of: b, negated: nb, .. }) => {
                note_starts(work, [a, b]);
                self.differing.push((a, b, na ^ nb));
                None
            }
            _ => None,
        }
    }

    /// The root and whether the variable is the negative of it. Halves the path.
    fn find(&mut self, variable: VarId) -> (usize, bool) {
        let mut index = variable.index();
        let mut negated = false;
        while self.parent[index] as usize != index {
            let up = self.parent[index] as usize;
            if self.parent[up] as usize != up {
                self.flipped[index] ^= self.flipped[up];
                self.parent[index] = self.parent[up];
            }
            negated ^= self.flipped[index];
            index = self.parent[index] as usize;
        }
        (index, negated)
    }

    /// True if the equation is expressed by the groups from now on.
    fn absorb(&mut self, work: &mut Work, equation: EqId) -> bool {
        match classify(work, equation) {
            None => false,
            Some(Finding::Equal { a, b, negated }) => self.union(work, a, b, negated),
            Some(Finding::Value { variable, value }) => self.give_value(work, variable, value),
        }
    }

    fn union(&mut self, work: &mut Work, a: VarId, b: VarId, negated: bool) -> bool {
        let ((ra, na), (rb, nb)) = (self.find(a), self.find(b));
        let flip = na ^ nb ^ negated;
        if ra == rb || self.literal[ra].is_some() || self.literal[rb].is_some() {
            return false;
        }
        if self.known[ra].is_some() && self.known[rb].is_some() {
            return false;
        }
        let (differentiated, discrete) =
            (self.differentiated[ra] || self.differentiated[rb], self.discrete[ra] || self.discrete[rb]);
        let input = |root: usize| self.known[root].is_some_and(|(v, _)| matches!(work.roles[v], Role::Input));
        if differentiated && (discrete || input(ra) || input(rb)) || flip && (self.pinned[ra] || self.pinned[rb]) {
            return false;
        }
        let any_known = self.known[ra].is_some() || self.known[rb].is_some();
        if any_known && (self.needs_left_limit[ra] || self.needs_left_limit[rb]) {
            return false;
        }
        let (root, child) = if self.size[ra] >= self.size[rb] { (ra, rb) } else { (rb, ra) };
        let Some(left_limit) = self.joined_left_limit(work, root, child, flip) else { return false };
        self.parent[child] = root as u32;
        self.flipped[child] = flip;
        self.size[root] += self.size[child];
        self.differentiated[root] = differentiated;
        self.discrete[root] = discrete;
        self.pinned[root] |= self.pinned[child];
        self.left_limit[root] = left_limit;
        self.needs_left_limit[root] |= self.needs_left_limit[child];
        if let Some((variable, parity)) = self.known[child] {
            self.known[root] = Some((variable, parity ^ flip));
        }
        true
    }

    fn give_value(&mut self, work: &mut Work, variable: VarId, value: ExprId) -> bool {
        let (root, negated) = self.find(variable);
        if self.known[root].is_some()
            || self.literal[root].is_some()
            || self.pinned[root]
            || self.needs_left_limit[root]
        {
            return false;
        }
        self.literal[root] = Some(opposite(&mut work.model.exprs, value, negated));
        true
    }

    /// One member of each group that stands for it.
    fn choose(&mut self, work: &mut Work) -> IdVec<VarId, Target> {
        let mut best: Vec<Option<(Score, VarId, bool)>> = vec![None; self.parent.len()];
        for variable in work.model.variables.ids() {
            let (root, negated) = self.find(variable);
            if self.size[root] > 1 {
                let score = self.score(work, variable);
                if best[root].as_ref().is_none_or(|(known, ..)| score > *known) {
                    best[root] = Some((score, variable, negated));
                }
            }
        }
        let mut targets = IdVec::filled(Target::Itself, self.parent.len());
        for variable in work.model.variables.ids() {
            let (root, negated) = self.find(variable);
            if let Some(value) = self.literal[root] {
                targets[variable] = Target::Literal(opposite(&mut work.model.exprs, value, negated));
            } else if let Some((_, of, parity)) = best[root]
                && of != variable
            {
                targets[variable] = Target::Alias { of, negated: parity ^ negated };
            }
        }
        targets
    }

    fn score(&self, work: &Work, variable: VarId) -> Score {
        let declared = &work.model.variables[variable];
        let attributes = &declared.attributes;
        let mut depth = 0u32;
        let mut path = declared.path;
        while let Some(parent) = work.model.paths.parent(path) {
            path = parent;
            depth += 1;
        }
        Score {
            known: !work.is_unknown(variable),
            pinned: self.own[variable.index()].pinned,
            discrete: work.is_discrete(variable),
            differentiated: self.own[variable.index()].differentiated,
            state_select: attributes.state_select,
            fixed: attributes.fixed.is_some(),
            start: attributes.start.is_some(),
            public: !declared.protected,
            depth: std::cmp::Reverse(depth),
            order: std::cmp::Reverse(variable.index()),
        }
    }
}

/// Who stands for a group: compared field by field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    known: bool,
    pinned: bool,
    discrete: bool,
    differentiated: bool,
    state_select: StateSelect,
    fixed: bool,
    start: bool,
    public: bool,
    depth: std::cmp::Reverse<u32>,
    order: std::cmp::Reverse<usize>,
}

fn opposite(exprs: &mut Exprs, value: ExprId, negated: bool) -> ExprId {
    match (negated, exprs.as_boolean(value)) {
        (false, _) => value,
        (true, Some(value)) => exprs.boolean(!value),
        (true, None) => exprs.neg(value),
    }
}

fn classify(work: &mut Work, equation: EqId) -> Option<Finding> {
    let Equation { left, right, role, .. } = &work.model.equations[equation];
    let (left, right) = (*left, *right);
    if !matches!(role, EquationRole::Plain) {
        return None;
    }
    match (work.model.exprs.node(left), work.model.exprs.node(right)) {
        (Node::Var(a), Node::Var(b)) => return equal(work, a, b, false),
        (Node::Var(a), Node::Not(inner)) | (Node::Not(inner), Node::Var(a)) => {
            return match work.model.exprs.node(inner) {
                Node::Var(b) => equal(work, a, b, true),
                _ => None,
            };
        }
        (Node::Var(variable), Node::Boolean(_)) => return Some(Finding::Value { variable, value: right }),
        (Node::Boolean(_), Node::Var(variable)) => return Some(Finding::Value { variable, value: left }),
        _ => {}
    }
    let terms = Terms::of(&work.model.exprs, left, right)?;
    match terms.variables[..] {
        [Some((a, ca)), Some((b, cb))] if terms.constant == 0.0 && ca.abs() == cb.abs() => {
            equal(work, a, b, ca * cb > 0.0)
        }
        [Some((variable, coefficient)), None] if work.is_unknown(variable) => {
            // The quotient would be negative zero, which `atan2` and divisions tell from zero.
            let value = if terms.constant == 0.0 { 0.0 } else { -terms.constant / coefficient };
            let value = match work.model.variables[variable].ty {
                VariableType::Real => work.model.exprs.real(value),
                _ if value.fract() == 0.0 => work.model.exprs.int(value as i64),
                _ => return None,
            };
            Some(Finding::Value { variable, value })
        }
        _ => None,
    }
}

fn equal(work: &Work, a: VarId, b: VarId, negated: bool) -> Option<Finding> {
    let ty = work.model.variables[a].ty;
    let fits = ty == work.model.variables[b].ty && !matches!(ty, VariableType::Clock | VariableType::Object);
    (fits && a != b).then_some(Finding::Equal { a, b, negated })
}

/// `left - right` as a sum of at most two variables with literal factors and a constant.
struct Terms {
    variables: [Option<(VarId, f64)>; 2],
    constant: f64,
}

impl Terms {
    fn of(exprs: &Exprs, left: ExprId, right: ExprId) -> Option<Terms> {
        let mut terms = Terms { variables: [None; 2], constant: 0.0 };
        let mut stack: smallvec::SmallVec<[(ExprId, f64); 8]> = smallvec::smallvec![(left, 1.0), (right, -1.0)];
        let mut steps = 0;
        while let Some((id, factor)) = stack.pop() {
            steps += 1;
            if steps > 12 {
                return None;
            }
            match exprs.node(id) {
                Node::Neg(a) => stack.push((a, -factor)),
                Node::Add(a, b) => stack.extend([(a, factor), (b, factor)]),
                Node::Sub(a, b) => stack.extend([(a, factor), (b, -factor)]),
                Node::Mul(a, b) => stack.push((b, factor * exprs.as_real(a)?)),
                Node::Var(variable) => terms.add(variable, factor)?,
                _ => terms.constant += factor * exprs.as_real(id)?,
            }
        }
        if terms.variables[0].is_none() {
            terms.variables.swap(0, 1);
        }
        Some(terms)
    }

    fn add(&mut self, variable: VarId, factor: f64) -> Option<()> {
        for slot in &mut self.variables {
            match slot {
                Some((known, sum)) if *known == variable => {
                    *sum += factor;
                    // What cancels may hide that the equation says nothing.
                    return (*sum != 0.0).then_some(());
                }
                Some(_) => {}
                None => {
                    *slot = Some((variable, factor));
                    return Some(());
                }
            }
        }
        None
    }
}

/// Replaces what has a target everywhere; gives the equations that changed.
fn replace(work: &mut Work, targets: &IdVec<VarId, Target>) -> Vec<EqId> {
    let mut memo = Memo::default();
    let mut changed = Vec::new();
    for index in 0..work.active.len() {
        let eq = work.active[index];
        let (left, right) = (work.model.equations[eq].left, work.model.equations[eq].right);
        let new = rewrite(work, targets, &mut memo, &[left, right]);
        if (new[0], new[1]) != (left, right) {
            let equation = &mut work.model.equations[eq];
            (equation.left, equation.right) = (new[0], new[1]);
            changed.push(eq);
        }
    }
    changed
}

fn rewrite(work: &mut Work, targets: &IdVec<VarId, Target>, memo: &mut Memo, roots: &[ExprId]) -> Vec<ExprId> {
    let (folded, roles, variables) = (&work.parameters.folded, &work.roles, &work.model.variables);
    let is_boolean = |v: VarId| variables[v].ty == VariableType::Boolean;
    let is_known = |v: VarId| matches!(roles[v], Role::Constant | Role::Parameter);
    work.model.exprs.rewrite(roots, memo, |exprs, id, node| match node {
        Node::Var(v) => match targets[v] {
            Target::Itself => folded[v].unwrap_or(id),
            Target::Literal(value) => value,
            Target::Alias { of, negated } => {
                let of_value = folded[of].unwrap_or_else(|| exprs.var(of));
                signed(exprs, of_value, negated, is_boolean(v))
            }
        },
        Node::Der(v) => match targets[v] {
            Target::Itself => id,
            Target::Literal(_) => exprs.real(0.0),
            Target::Alias { of, .. } if is_known(of) => exprs.real(0.0),
            Target::Alias { of, negated } => {
                let of_value = exprs.der(of);
                signed(exprs, of_value, negated, false)
            }
        },
        Node::Pre(v) | Node::Previous(v) => match targets[v] {
            Target::Itself => id,
            Target::Literal(value) => value,
            Target::Alias { of, negated } => {
                let of_value = match node {
                    _ if is_known(of) => exprs.var(of),
                    Node::Pre(_) => exprs.pre(of),
                    _ => exprs.previous(of),
                };
                signed(exprs, of_value, negated, is_boolean(v))
            }
        },
        node => exprs.make(node),
    })
}

/// Records that the start values of two variables decided whether one can stand for the other.
fn note_starts(work: &mut Work, pair: [VarId; 2]) {
    for variable in pair {
        let (start, span) = (start_value(work, variable), work.model.variables[variable].span);
        work.note_values(&[start], Subject::Start, span);
    }
}

pub fn signed(exprs: &mut Exprs, value: ExprId, negated: bool, boolean: bool) -> ExprId {
    match (negated, boolean) {
        (false, _) => value,
        (true, true) => exprs.not(value),
        (true, false) => exprs.neg(value),
    }
}

/// Everything beside the equations: initial equations, actions, attributes, roles.
fn finish(work: &mut Work, targets: &IdVec<VarId, Target>) {
    let mut memo = Memo::default();
    let mut initial_equations = std::mem::take(&mut work.model.initial_equations);
    for equation in &mut initial_equations {
        let new = rewrite(work, targets, &mut memo, &[equation.left, equation.right]);
        (equation.left, equation.right) = (new[0], new[1]);
    }
    work.model.initial_equations = initial_equations;
    map_actions(work, |work, expr| rewrite(work, targets, &mut memo, &[expr])[0]);
    let Model { actions, initial_actions, exprs, .. } = &mut work.model;
    for action in actions.iter_mut().chain(initial_actions) {
        if let ActionKind::Reinit { state, value } = &mut action.kind
            && let Target::Alias { of, negated } = targets[*state]
        {
            *state = of;
            *value = signed(exprs, *value, negated, false);
        }
    }
    for &eq in &work.active {
        if let EquationRole::When(clause) = &mut work.model.equations[eq].role {
            for condition in &mut clause.conditions {
                if let Target::Alias { of, .. } = targets[*condition] {
                    *condition = of;
                }
            }
        }
    }
    replace_in_attributes(work, targets, &mut memo);
    attributes::merge_all(work, targets);
    for variable in work.model.variables.ids() {
        match targets[variable] {
            Target::Itself => {}
            Target::Literal(value) => {
                work.roles[variable] = Role::Constant;
                work.model.variables[variable].binding = Some(value);
                work.values[variable] = Some(value);
                work.summary.aliases += 1;
            }
            Target::Alias { of, negated } => {
                work.roles[variable] = Role::Alias { of, negated };
                work.summary.aliases += 1;
            }
        }
    }
}

fn replace_in_attributes(work: &mut Work, targets: &IdVec<VarId, Target>, memo: &mut Memo) {
    // Arrays share their attributes; so does what is made of them.
    let mut done: rustc_hash::FxHashMap<*const Attributes, Arc<Attributes>> = rustc_hash::FxHashMap::default();
    let mut keep = Vec::new();
    for variable in work.model.variables.ids() {
        let old = work.model.variables[variable].attributes.clone();
        let new = match done.get(&Arc::as_ptr(&old)) {
            Some(known) => known.clone(),
            None => {
                let mut attributes = (*old).clone();
                for expr in [
                    &mut attributes.start,
                    &mut attributes.fixed,
                    &mut attributes.nominal,
                    &mut attributes.min,
                    &mut attributes.max,
                ]
                .into_iter()
                .flatten()
                {
                    *expr = rewrite(work, targets, memo, &[*expr])[0];
                }
                let new = if attributes == *old { old.clone() } else { Arc::new(attributes) };
                done.insert(Arc::as_ptr(&old), new.clone());
                keep.push(old);
                new
            }
        };
        work.model.variables[variable].attributes = new;
    }
}

/// What holds after initialisation.
fn dynamic_sides(work: &mut Work) -> IdVec<EqId, (ExprId, ExprId)> {
    let special = |node: Node| matches!(node, Node::Builtin(Builtin::Initial | Builtin::Homotopy, _));
    let any = work.model.exprs.ids().any(|id| special(work.model.exprs.node(id)));
    let mut memo = Memo::default();
    let model = &mut work.model;
    let (equations, exprs) = (&model.equations, &mut model.exprs);
    equations
        .values()
        .map(|equation| {
            if !any {
                return (equation.left, equation.right);
            }
            let new = exprs.rewrite(&[equation.left, equation.right], &mut memo, |exprs, _, node| match node {
                Node::Builtin(Builtin::Initial, _) => exprs.boolean(false),
                Node::Builtin(Builtin::Homotopy, args) => exprs.arguments(args)[0],
                node => exprs.make(node),
            });
            (new[0], new[1])
        })
        .collect()
}
