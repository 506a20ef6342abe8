//! Relations on time in when clauses.
//!
//! An event of `time > 1` lies just behind the instant: the relation is true there, although `time` is 1. All relations of the
//! clause that follow time alone see the same, however they are written, and those in loops at run time too. One that makes an
//! event elsewhere is that relation; any other one is evaluated with a time just behind the instant. At an event of another
//! kind, also of `time >= 1`, that is `time` itself.

use dae::event_free::Follower;
use dae::{ActionKind, Builtin, CompareOp, EquationRole, ExprId, Exprs, Memo, Model, Node, VarId, VariableType};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::elaborate::Elaborator;

/// Gives `JustBehind` its meaning: it stands around operands of relations, and around arguments that relations in loops read,
/// and then around `time` only.
pub fn resolve(elaborator: &mut Elaborator) {
    if !std::mem::take(&mut elaborator.expansion.has_right_limits) {
        return;
    }
    let model = &mut elaborator.flat.model;
    let mut limits = RightLimits::new(model);
    let mut memo = Memo::default();
    let Model { exprs, equations, actions, .. } = model;
    let mut replace = |side: &mut ExprId| {
        *side = exprs.rewrite(&[*side], &mut memo, |exprs, id, node| limits.resolved(exprs, id, node))[0];
    };
    for equation in equations.values_mut() {
        replace(&mut equation.left);
        replace(&mut equation.right);
    }
    for action in actions.iter_mut() {
        action.condition.iter_mut().for_each(&mut replace);
        match &mut action.kind {
            ActionKind::Reinit { value, .. } => replace(value),
            ActionKind::Assert { holds, message, .. } => {
                replace(holds);
                replace(message);
            }
            ActionKind::Terminate { message } => replace(message),
            ActionKind::Call(call) => replace(call),
        }
    }
}

struct RightLimits {
    follower: Follower,
    /// The relations that make events.
    events: FxHashSet<ExprId>,
    /// Variables that follow time alone, and what they are just behind the instant.
    followers_of_time: FxHashMap<VarId, ExprId>,
    /// What is known about expressions just behind the instant.
    behind: Memo,
}

impl RightLimits {
    fn new(model: &mut Model) -> Self {
        let mut roots: Vec<ExprId> =
            model.equations.values().flat_map(|equation| [equation.left, equation.right]).collect();
        roots.extend(model.actions.iter().filter_map(|action| action.condition));
        let is_event = |id: &ExprId| matches!(model.exprs.node(*id), Node::Compare { event: true, .. });
        let used = model.exprs.postorder(&roots);
        let reads_variables = used.iter().any(|&id| is_behind_variables(model, id));
        let events = used.into_iter().filter(is_event).collect();
        let follower = Follower::new(model);
        let mut limits = Self { follower, events, followers_of_time: FxHashMap::default(), behind: Memo::default() };
        if reads_variables {
            limits.follow_variables(model);
        }
        limits
    }

    /// Finds variables that equations set to functions of time; a chain of them is followed as far as anybody writes one.
    fn follow_variables(&mut self, model: &mut Model) {
        const LONGEST_CHAIN: usize = 8;
        let Model { exprs, equations, variables, .. } = model;
        for _ in 0..LONGEST_CHAIN {
            let mut found = Vec::new();
            for equation in equations.values().filter(|equation| matches!(equation.role, EquationRole::Plain)) {
                for (side, other) in [(equation.left, equation.right), (equation.right, equation.left)] {
                    if let Node::Var(variable) = exprs.node(side)
                        && variables[variable].ty == VariableType::Real
                        && !self.follower.changes_at_events(variable)
                        && !self.followers_of_time.contains_key(&variable)
                        && self.follows_time(exprs, other) == Some(true)
                    {
                        found.push((variable, other));
                        break;
                    }
                }
            }
            if found.is_empty() {
                return;
            }
            for (variable, value) in found {
                let value = self.behind(exprs, value);
                self.followers_of_time.insert(variable, value);
            }
            self.behind = Memo::default();
        }
    }

    /// A node whose operands are resolved.
    fn resolved(&mut self, exprs: &mut Exprs, id: ExprId, node: Node) -> ExprId {
        match node {
            // The operands of relations are resolved together.
            Node::Compare { op, event: false, left, right }
                if [left, right].iter().any(|&side| is_open(exprs, side)) =>
            {
                let [left, right] = [left, right].map(|side| argument(exprs, side).unwrap_or(side));
                self.relation(exprs, op, left, right)
            }
            Node::Call { site, args, output } if exprs.arguments(args).iter().any(|&side| is_open(exprs, side)) => {
                let arguments = exprs.arguments(args).to_vec();
                let arguments: Vec<ExprId> = arguments.into_iter().map(|id| self.alone(exprs, id)).collect();
                let args = exprs.args(&arguments);
                exprs.intern(Node::Call { site, args, output })
            }
            node if node == exprs.node(id) => id,
            node => exprs.make(node),
        }
    }

    fn relation(&mut self, exprs: &mut Exprs, op: CompareOp, left: ExprId, right: ExprId) -> ExprId {
        let sides = [left, right].map(|side| self.follows_time(exprs, side));
        if !sides.contains(&Some(true)) || sides.contains(&None) {
            return exprs.compare(op, false, left, right);
        }
        if let Some(shared) = self.shared(exprs, op, left, right) {
            return shared;
        }
        let [left, right] = [left, right].map(|side| self.behind(exprs, side));
        exprs.compare(op, false, left, right)
    }

    /// The same relation, or its negation, that makes events.
    fn shared(&self, exprs: &mut Exprs, op: CompareOp, left: ExprId, right: ExprId) -> Option<ExprId> {
        let same = [(op, left, right), (mirrored(op), right, left)];
        let negated = same.map(|(op, left, right)| (negation(op), left, right));
        let found = |exprs: &mut Exprs, forms: [(CompareOp, ExprId, ExprId); 2]| {
            let mut made = forms.map(|(op, left, right)| exprs.compare(op, true, left, right)).into_iter();
            made.find(|made| self.events.contains(made))
        };
        if let Some(relation) = found(exprs, same) {
            return Some(relation);
        }
        found(exprs, negated).map(|relation| exprs.not(relation))
    }

    /// An argument that relations in a loop read.
    fn alone(&mut self, exprs: &mut Exprs, id: ExprId) -> ExprId {
        match argument(exprs, id) {
            Some(value) if self.follows_time(exprs, value) == Some(true) => self.behind(exprs, value),
            Some(value) => value,
            None => id,
        }
    }

    /// Whether an expression changes with time; `None` for what depends on more than time and what changes at events, is no
    /// continuous function of them, or may be undefined just behind the instant.
    fn follows_time(&self, exprs: &Exprs, root: ExprId) -> Option<bool> {
        let mut open = vec![root];
        let mut seen = FxHashSet::default();
        let mut found = false;
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match exprs.node(id) {
                Node::Time | Node::Builtin(Builtin::JustBehind, _) => found = true,
                Node::Var(variable) if self.followers_of_time.contains_key(&variable) => found = true,
                Node::Compare { event: true, .. } => {}
                Node::Neg(_)
                | Node::Add(..)
                | Node::Sub(..)
                | Node::Mul(..)
                | Node::Not(_)
                | Node::And(..)
                | Node::Or(..)
                | Node::Compare { .. }
                | Node::If { .. } => exprs.for_each_child(id, |child| open.push(child)),
                Node::Div(a, b) if !self.follower.varies(exprs, b) => open.push(a),
                Node::Pow(a, b) if matches!(exprs.as_real(b), Some(power) if power >= 0.0 && power.fract() == 0.0) => {
                    open.push(a);
                }
                Node::Builtin(op, args) if is_continuous(op) => open.extend(exprs.arguments(args)),
                _ if self.follower.varies(exprs, id) => return None,
                _ => {}
            }
        }
        Some(found)
    }

    /// What follows time just behind the instant.
    fn behind(&mut self, exprs: &mut Exprs, root: ExprId) -> ExprId {
        let followers = &self.followers_of_time;
        exprs.rewrite(&[root], &mut self.behind, |exprs, id, node| match node {
            Node::Time => exprs.builtin(Builtin::JustBehind, &[id]),
            Node::Var(variable) => followers.get(&variable).copied().unwrap_or(id),
            // These have right limits by themselves, or stay.
            Node::Compare { event: true, .. } => id,
            Node::Builtin(op, _) if !is_continuous(op) => id,
            node if node == exprs.node(id) => id,
            node => exprs.make(node),
        })[0]
    }
}

/// Whether it is a continuous function of its arguments, and defined for all of them.
fn is_continuous(op: Builtin) -> bool {
    use Builtin::*;
    matches!(op, Abs | Min | Max | Sin | Cos | Atan | Sinh | Cosh | Tanh | Exp)
}

/// The argument of `JustBehind`.
fn argument(exprs: &Exprs, id: ExprId) -> Option<ExprId> {
    match exprs.node(id) {
        Node::Builtin(Builtin::JustBehind, args) => exprs.arguments(args).first().copied(),
        _ => None,
    }
}

fn is_open(exprs: &Exprs, id: ExprId) -> bool {
    argument(exprs, id).is_some()
}

fn is_behind_variables(model: &Model, id: ExprId) -> bool {
    argument(&model.exprs, id).is_some_and(|value| model.exprs.postorder(&[value]).iter().any(|&part| {
        matches!(model.exprs.node(part), Node::Var(variable) if model.variables[variable].variability == dae::Variability::Continuous)
    }))
}

/// The relation between the operands the other way round.
fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        CompareOp::Equal | CompareOp::NotEqual => op,
    }
}

fn negation(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::GreaterEqual,
        CompareOp::LessEqual => CompareOp::Greater,
        CompareOp::Greater => CompareOp::LessEqual,
        CompareOp::GreaterEqual => CompareOp::Less,
        CompareOp::Equal => CompareOp::NotEqual,
        CompareOp::NotEqual => CompareOp::Equal,
    }
}
