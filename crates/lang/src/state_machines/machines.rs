//! States and the machines they make (17.1): instances that transitions couple are one machine, which has one initial
//! state; a machine whose states stand inside a state of another one belongs to that state.

use base::{Diagnostic, Name, Span};
use dae::{ExprId, PathId, VarId};
use rustc_hash::FxHashMap;
use syntax::ast;

use super::semantics;
use super::statements::{Named, Options, Statement, StatementKind};
use crate::elaborate::Elaborator;
use crate::flat::position;
use crate::instance::{CompId, Frame};
use crate::parts::Part;

/// The number of a state, over all machines.
pub(crate) type StateId = usize;

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub path: PathId,
    /// Where a statement names it first.
    pub span: Span,
    pub machine: usize,
    /// Whether it is the active state, and so are those around it.
    pub active: VarId,
    /// Made when they are asked for.
    pub reset: Option<VarId>,
    pub ticks: Option<VarId>,
    pub entry: Option<VarId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Transition {
    /// Positions in `Machine::states`.
    pub from: usize,
    pub to: usize,
    pub options: Options,
    pub condition: ast::Expr,
    /// The expanded condition.
    pub value: Option<ExprId>,
    pub frame: Frame,
    pub path: PathId,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// The initial state is the first.
    pub states: Vec<StateId>,
    /// Those of the lowest priority number last.
    pub transitions: Vec<Transition>,
    /// The state in which it stands.
    pub parent: Option<StateId>,
    pub variables: semantics::Variables,
}

#[derive(Default)]
pub(crate) struct Machines {
    pub states: Vec<State>,
    /// Machines inside states stand behind those of the states.
    pub machines: Vec<Machine>,
    pub by_path: FxHashMap<PathId, StateId>,
}

impl Machines {
    pub fn is_empty(&self) -> bool {
        self.machines.is_empty()
    }

    /// The innermost state that a path is inside of, or is.
    pub fn state_of(&self, paths: &dae::Paths, path: PathId) -> Option<StateId> {
        if self.by_path.is_empty() {
            return None;
        }
        let mut current = Some(path);
        while let Some(path) = current {
            if let Some(&state) = self.by_path.get(&path) {
                return Some(state);
            }
            current = paths.parent(path);
        }
        None
    }

    /// The state around a state.
    pub fn around(&self, state: StateId) -> Option<StateId> {
        self.machines[self.states[state].machine].parent
    }

    /// A state and those around it, innermost first.
    pub fn chain(&self, state: StateId) -> Vec<StateId> {
        std::iter::successors(Some(state), |&state| self.around(state)).collect()
    }

    pub fn is_inside(&self, state: StateId, of: StateId) -> bool {
        self.chain(state).contains(&of)
    }

    /// Whether two states are never active at the same tick: inside different states of one machine.
    pub fn are_exclusive(&self, a: StateId, b: StateId) -> bool {
        let (a, b) = (self.chain(a), self.chain(b));
        let differ = a.iter().rev().zip(b.iter().rev()).find(|(a, b)| a != b);
        differ.is_some_and(|(&a, &b)| self.states[a].machine == self.states[b].machine)
    }
}

/// Makes the machines of the model and the variables that tell which states are active.
pub(crate) fn declare(elaborator: &mut Elaborator, statements: &[Statement], parts: &[Part], paths: &[Vec<PathId>]) {
    if statements.is_empty() {
        return;
    }
    let by_component: FxHashMap<CompId, usize> =
        parts.iter().enumerate().map(|(number, part)| (part.component, number)).collect();
    let mut builder = Builder { elaborator, states: Vec::new(), by_path: FxHashMap::default(), cluster: Vec::new() };
    let mut named: Vec<(&Statement, Vec<StateId>)> = Vec::new();
    for statement in statements {
        let states: Option<Vec<StateId>> = statement
            .states()
            .into_iter()
            .map(|state| {
                let number = *by_component.get(&state.component)?;
                let path = paths[number].get(position(&parts[number].sizes, &state.indices)?).copied()?;
                Some(builder.state(state, path))
            })
            .collect();
        if let Some(states) = states {
            if let &[from, to] = states.as_slice() {
                builder.couple(from, to);
            }
            named.push((statement, states));
        }
    }
    builder.finish(&named);
}

struct Builder<'b> {
    elaborator: &'b mut Elaborator,
    states: Vec<State>,
    by_path: FxHashMap<PathId, StateId>,
    /// Union-find over states.
    cluster: Vec<usize>,
}

impl Builder<'_> {
    fn state(&mut self, named: &Named, path: PathId) -> StateId {
        if let Some(&known) = self.by_path.get(&path) {
            return known;
        }
        let number = self.states.len();
        let name = self.name_of_activity(path);
        let active = semantics::element(self.elaborator, path, name, dae::VariableType::Boolean, None);
        let declared = &mut self.elaborator.flat.model.variables[active];
        (declared.hidden, declared.protected, declared.span) = (false, false, Some(named.span));
        let key = (named.component, named.indices.clone());
        self.elaborator.connected.active.insert(key, active);
        self.states.push(State {
            path,
            span: named.span,
            machine: usize::MAX,
            active,
            reset: None,
            ticks: None,
            entry: None,
        });
        self.by_path.insert(path, number);
        self.cluster.push(number);
        number
    }

    /// The name of the variable that users see, unless the block has an element of that name.
    fn name_of_activity(&self, path: PathId) -> &'static str {
        let taken = self.elaborator.flat.model.paths.find_child(path, Name::new("active"), &[]).is_some();
        if taken { "$active" } else { "active" }
    }

    fn find(&mut self, mut state: StateId) -> StateId {
        while self.cluster[state] != state {
            self.cluster[state] = self.cluster[self.cluster[state]];
            state = self.cluster[state];
        }
        state
    }

    fn couple(&mut self, a: StateId, b: StateId) {
        let (a, b) = (self.find(a), self.find(b));
        self.cluster[b.max(a)] = a.min(b);
    }

    fn finish(mut self, named: &[(&Statement, Vec<StateId>)]) {
        let mut clusters: Vec<Vec<StateId>> = vec![Vec::new(); self.states.len()];
        for state in 0..self.states.len() {
            let cluster = self.find(state);
            clusters[cluster].push(state);
        }
        clusters.retain(|cluster| !cluster.is_empty());
        // A machine inside a state comes behind that of the state.
        clusters.sort_by_key(|cluster| self.depth(cluster[0]));
        let mut machines = Machines { states: self.states, machines: Vec::new(), by_path: self.by_path };
        for mut cluster in clusters {
            let number = machines.machines.len();
            let marked: Vec<(StateId, Span)> = named
                .iter()
                .filter(|(statement, states)| {
                    matches!(statement.kind, StatementKind::Initial(_)) && cluster.contains(&states[0])
                })
                .map(|(statement, states)| (states[0], statement.span))
                .collect();
            if let Err(diagnostic) = check_initial(self.elaborator, &machines, &cluster, &marked) {
                self.elaborator.instances.report(diagnostic);
            }
            if let Some(&(initial, _)) = marked.first() {
                cluster.retain(|&state| state != initial);
                cluster.insert(0, initial);
            }
            for &state in &cluster {
                machines.states[state].machine = number;
            }
            let mut parent = enclosing(self.elaborator, &machines, cluster[0]);
            if let Err(diagnostic) = check_level(self.elaborator, &machines, &cluster, parent) {
                self.elaborator.instances.report(diagnostic);
                // Otherwise it could stand inside itself.
                parent = None;
            }
            let transitions = transitions(&cluster, named);
            if let Err(diagnostic) = check_priorities(self.elaborator, &machines, &cluster, &transitions) {
                self.elaborator.instances.report(diagnostic);
            }
            let initial = machines.states[cluster[0]].path;
            let variables = semantics::Variables::new(self.elaborator, initial, parent, &transitions);
            machines.machines.push(Machine { states: cluster, transitions, parent, variables });
        }
        self.elaborator.machines = machines;
    }

    fn depth(&self, state: StateId) -> usize {
        let paths = &self.elaborator.flat.model.paths;
        std::iter::successors(Some(self.states[state].path), |&path| paths.parent(path)).count()
    }
}

/// The state around a state, before its machine is known.
fn enclosing(elaborator: &Elaborator, machines: &Machines, state: StateId) -> Option<StateId> {
    let paths = &elaborator.flat.model.paths;
    machines.state_of(paths, paths.parent(machines.states[state].path)?)
}

fn name(elaborator: &Elaborator, machines: &Machines, state: StateId) -> String {
    elaborator.flat.model.paths.text(machines.states[state].path)
}

type Checked = Result<(), Box<Diagnostic>>;

fn check_initial(
    elaborator: &Elaborator,
    machines: &Machines,
    cluster: &[StateId],
    marked: &[(StateId, Span)],
) -> Checked {
    let first = cluster[0];
    match marked {
        [_] => Ok(()),
        [] => {
            let names: Vec<String> =
                cluster.iter().map(|&state| format!("`{}`", name(elaborator, machines, state))).collect();
            Err(Box::new(
                Diagnostic::error("no-initial-state", format!("no state of {} is initial", names.join(", ")))
                    .at(machines.states[first].span, "a state of this machine")
                    .hint("say where it begins with `initialState(…)`")
                    .specification("17.1"),
            ))
        }
        [(a, first), (b, second), ..] => {
            let names = (name(elaborator, machines, *a), name(elaborator, machines, *b));
            let message = match a == b {
                true => format!("`{}` is made the initial state twice", names.0),
                false => format!("`{}` and `{}` are both initial states of one machine", names.0, names.1),
            };
            Err(Box::new(
                Diagnostic::error("two-initial-states", message)
                    .at(*second, "this one")
                    .at(*first, "and this one")
                    .hint("a machine, that is all states that transitions couple, has one initial state")
                    .specification("17.1"),
            ))
        }
    }
}

/// All states of a machine stand at one level.
fn check_level(elaborator: &Elaborator, machines: &Machines, cluster: &[StateId], parent: Option<StateId>) -> Checked {
    let odd = cluster.iter().find(|&&state| enclosing(elaborator, machines, state) != parent);
    let Some(&odd) = odd else { return Ok(()) };
    let other = cluster[0];
    let names = (name(elaborator, machines, odd), name(elaborator, machines, other));
    Err(Box::new(
        Diagnostic::error(
            "state-of-two-machines",
            format!("transitions couple `{}` with `{}`, which does not stand in the same state", names.0, names.1),
        )
        .at(machines.states[odd].span, "this one")
        .at(machines.states[other].span, "and this one")
        .hint("a state belongs to one machine, whose states all stand in the same block")
        .specification("17.1"),
    ))
}

fn transitions(cluster: &[StateId], named: &[(&Statement, Vec<StateId>)]) -> Vec<Transition> {
    let at: FxHashMap<StateId, usize> = cluster.iter().enumerate().map(|(at, &state)| (state, at)).collect();
    let mut transitions: Vec<Transition> = named
        .iter()
        .filter_map(|(statement, states)| match (&statement.kind, states.as_slice()) {
            (StatementKind::Transition { condition, options, .. }, [from, to]) => Some(Transition {
                from: *at.get(from)?,
                to: *at.get(to)?,
                options: *options,
                condition: condition.clone(),
                value: None,
                frame: statement.frame.clone(),
                path: statement.path,
                span: statement.span,
            }),
            _ => None,
        })
        .collect();
    transitions.sort_by_key(|transition| std::cmp::Reverse(transition.options.priority));
    transitions
}

fn check_priorities(
    elaborator: &Elaborator,
    machines: &Machines,
    cluster: &[StateId],
    transitions: &[Transition],
) -> Checked {
    let mut seen: FxHashMap<(usize, i64), Span> = FxHashMap::default();
    for transition in transitions {
        let priority = transition.options.priority;
        let Some(other) = seen.insert((transition.from, priority), transition.span) else { continue };
        let name = name(elaborator, machines, cluster[transition.from]);
        return Err(Box::new(
            Diagnostic::error(
                "equal-priorities",
                format!("two transitions leave `{name}` with the priority {priority}"),
            )
            .at(transition.span, "this one")
            .at(other, "and this one")
            .hint("give one of them another number with `priority = …`; the smallest fires first")
            .specification("17.1"),
        ));
    }
    Ok(())
}
