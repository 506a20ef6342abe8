//! Which equations tick together: variables that equations join without a conversion operator between them belong to one
//! sub-clock partition (16.7.4).

use base::Id;
use dae::{Builtin, EqId, EquationRole, ExprId, Model, Node, VarId, Variability, VariableType};
use rustc_hash::{FxHashMap, FxHashSet};

/// A place whose expressions tick together: an equation, an action, or the operand of a conversion.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) variables: Vec<VarId>,
    /// Something in it only makes sense on a clock.
    pub(super) is_clocked: bool,
    pub(super) constructors: Vec<ExprId>,
    /// Conversions from another group to this one: operator, group, and the arguments behind the operand.
    pub(super) conversions: Vec<(Builtin, usize, Vec<ExprId>)>,
}

pub(super) struct Partitions {
    pub(super) groups: Vec<Group>,
    /// Union-find over variables, then groups.
    parent: Vec<usize>,
    pub(super) variables: usize,
    /// How many of the variables stand in the text; operands that became variables follow.
    pub(super) declared: usize,
    pub(super) group_of_equation: FxHashMap<EqId, usize>,
    pub(super) group_of_action: Vec<usize>,
    /// What `sample` takes from continuous time, and the group of it.
    pub(super) sampled: Vec<(ExprId, usize)>,
    /// What `hold` gives to continuous time, and the group in which that stands.
    pub(super) held: Vec<(ExprId, usize)>,
    /// The first group of each clocked when clause.
    clauses: FxHashMap<ExprId, usize>,
}

impl Partitions {
    pub(super) fn of(model: &Model, declared: usize) -> Self {
        let mut this = Partitions {
            groups: Vec::new(),
            parent: (0..model.variables.len()).collect(),
            variables: model.variables.len(),
            declared,
            group_of_equation: FxHashMap::default(),
            group_of_action: Vec::new(),
            sampled: Vec::new(),
            held: Vec::new(),
            clauses: FxHashMap::default(),
        };
        // An algorithm is one equation of all that stands in it.
        let mut sections: FxHashMap<u32, usize> = FxHashMap::default();
        for (id, equation) in model.equations.iter() {
            let group = this.group(model, &[equation.left, equation.right], false);
            this.group_of_equation.insert(id, group);
            if let EquationRole::Algorithm(section) = equation.role {
                let first = *sections.entry(section).or_insert(group);
                this.union(this.variables + first, this.variables + group);
            }
        }
        for action in &model.actions {
            let roots: Vec<ExprId> = action.condition.into_iter().chain(action_values(action)).collect();
            let group = this.group(model, &roots, false);
            this.group_of_action.push(group);
        }
        for group in 0..this.groups.len() {
            let node = this.variables + group;
            for variable in this.groups[group].variables.clone() {
                this.union(node, variable.index());
            }
        }
        this
    }

    /// Adds the group of some expressions, and those of the operands of conversions inside.
    pub(super) fn group(&mut self, model: &Model, roots: &[ExprId], is_clocked: bool) -> usize {
        let first = self.groups.len();
        let mut pending: Vec<(usize, Vec<ExprId>)> = vec![(first, roots.to_vec())];
        self.add_group(is_clocked);
        while let Some((group, mut stack)) = pending.pop() {
            let mut seen = FxHashSet::default();
            while let Some(id) = stack.pop() {
                if !seen.insert(id) {
                    continue;
                }
                match model.exprs.node(id) {
                    Node::Var(v) | Node::Der(v) | Node::Pre(v) => self.join(model, group, v),
                    Node::Previous(v) => {
                        self.join(model, group, v);
                        self.groups[group].is_clocked = true;
                    }
                    Node::Builtin(op, args) => {
                        let args = model.exprs.arguments(args);
                        if let Some(inner) = self.operator(group, id, op, args, &mut stack) {
                            pending.push(inner);
                        }
                    }
                    _ => model.exprs.for_each_child(id, |child| stack.push(child)),
                }
            }
        }
        first
    }

    /// Looks at an operator; returns the group behind it that is still to be walked through.
    pub(super) fn operator(
        &mut self,
        group: usize,
        id: ExprId,
        op: Builtin,
        args: &[ExprId],
        stack: &mut Vec<ExprId>,
    ) -> Option<(usize, Vec<ExprId>)> {
        use Builtin::*;
        match (op, args) {
            (SampleClocked, &[value, ..]) => {
                self.groups[group].is_clocked = true;
                stack.extend(args.get(1));
                // With a third argument it is an equation of a clocked when clause: the value is on the clock itself.
                if let Some(&clause) = args.get(2) {
                    let first = *self.clauses.entry(clause).or_insert(group);
                    self.union(self.variables + first, self.variables + group);
                    stack.push(value);
                    return None;
                }
                let inner = self.add_group(false);
                self.sampled.push((value, inner));
                Some((inner, vec![value]))
            }
            (Hold, &[value, ..]) => {
                self.held.push((value, group));
                Some((self.add_group(true), vec![value]))
            }
            (SubSample | SuperSample | ShiftSample | BackSample | NoClock | ClockSolver, &[value, ref rest @ ..]) => {
                self.groups[group].is_clocked = true;
                let inner = self.add_group(true);
                self.groups[group].conversions.push((op, inner, rest.to_vec()));
                Some((inner, vec![value]))
            }
            (Interval | FirstTick, _) => {
                self.groups[group].is_clocked = true;
                stack.extend_from_slice(args);
                None
            }
            (ClockEvent, &[condition, ..]) => {
                self.groups[group].is_clocked = true;
                self.groups[group].constructors.push(id);
                Some((self.add_group(false), vec![condition]))
            }
            (ClockInferred, _) => {
                self.groups[group].is_clocked = true;
                None
            }
            (ClockRational | ClockReal, _) => {
                self.groups[group].is_clocked = true;
                self.groups[group].constructors.push(id);
                stack.extend_from_slice(args);
                None
            }
            _ => {
                stack.extend_from_slice(args);
                None
            }
        }
    }

    fn add_group(&mut self, is_clocked: bool) -> usize {
        self.groups.push(Group { is_clocked, ..Group::default() });
        self.parent.push(self.parent.len());
        self.groups.len() - 1
    }

    pub(super) fn join(&mut self, model: &Model, group: usize, variable: VarId) {
        let declared = &model.variables[variable];
        if declared.variability > Variability::Parameter {
            self.groups[group].is_clocked |= declared.ty == VariableType::Clock;
            self.groups[group].variables.push(variable);
        }
    }

    pub(super) fn find(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    fn union(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a] = b;
    }

    pub(super) fn of_group(&mut self, group: usize) -> usize {
        self.find(self.variables + group)
    }
}

fn action_values(action: &dae::Action) -> Vec<ExprId> {
    match action.kind {
        dae::ActionKind::Reinit { value, .. } => vec![value],
        dae::ActionKind::Assert { holds, message, .. } => vec![holds, message],
        dae::ActionKind::Terminate { message } => vec![message],
        dae::ActionKind::Call(call) => vec![call],
    }
}
