//! Simplification, step by step; each step gives an equivalent graph. What is asked for (outputs, signals, laws that name
//! variables) is rewritten where a bond vanishes, so the state space stays what it was.
//!
//! 1. Sources of zero vanish: one whose variable adds up at its junction (a zero effort at a 1-junction, a zero flow at a
//!    0-junction) leaves the junction behind; one that sets the variable of its junction takes the junction and its
//!    bonds along, which carry no power.
//! 2. Junctions with two bonds are replaced by one bond, where both bonds point the same way.
//! 3. Chained junctions of one kind are one junction.

use base::{Id, IdVec};

use crate::expr::{Expr, Operator, negated};
use crate::graph::*;
use crate::kind::Kind;

/// The simplification of a graph, step by step.
#[derive(Clone, Debug)]
pub struct Simplification {
    /// What was done, in order.
    pub steps: Vec<Step>,
    /// The graph after the last step.
    pub graph: Graph,
}

/// One rule, applied once.
#[derive(Clone, Debug)]
pub struct Step {
    /// What was done, in words.
    pub text: String,
    /// The graph after this step.
    pub graph: Graph,
}

impl Simplification {
    /// Applies the rules as long as one applies.
    pub fn new(graph: &Graph) -> Self {
        let mut current = graph.clone();
        let mut steps = Vec::new();
        while let Some(edit) = next(&current) {
            let text = edit.text.clone();
            current = edit.apply(&current);
            steps.push(Step { text, graph: current.clone() });
        }
        Self { steps, graph: current }
    }

    /// The steps as numbered lines.
    pub fn print(&self) -> String {
        let count = |graph: &Graph| format!("{} elements, {} bonds", graph.elements.len(), graph.bonds.len());
        let line = |(index, step): (usize, &Step)| format!("{}. {} ({})\n", index + 1, step.text, count(&step.graph));
        self.steps.iter().enumerate().map(line).collect()
    }
}

/// What one step changes.
struct Edit {
    text: String,
    elements: Vec<ElementId>,
    bonds: Vec<BondId>,
    /// What stands for variables of bonds that vanish.
    replaced: Vec<(Leaf, Expression)>,
    /// Ends of bonds that move to another element: bond, whether its head moves, the element.
    moved: Vec<(BondId, bool, ElementId)>,
    switched_off: Option<ElementId>,
}

impl Edit {
    fn new(text: String) -> Self {
        let (elements, bonds, replaced, moved) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { text, elements, bonds, replaced, moved, switched_off: None }
    }
}

fn next(graph: &Graph) -> Option<Edit> {
    let elements = || graph.elements.ids();
    elements()
        .find_map(|id| zero_source(graph, id))
        .or_else(|| elements().find_map(|id| grounding_source(graph, id)))
        .or_else(|| elements().find_map(|id| grounded(graph, id)))
        .or_else(|| elements().find_map(|id| contracted(graph, id)))
        .or_else(|| graph.bonds.ids().find_map(|bond| merged(graph, bond)))
}

fn is_zero_source(element: &Element) -> bool {
    element.kind.is_source() && matches!(&element.law, Law::Scalar(value) if value.is_number(0.0))
}

/// A source of zero whose variable adds up at its junction.
fn zero_source(graph: &Graph, id: ElementId) -> Option<Edit> {
    let element = &graph.elements[id];
    let [port] = element.ports.as_slice() else { return None };
    if !is_zero_source(element) || graph.bonds[port.bond].active {
        return None;
    }
    let junction = graph.opposite(*port);
    let effort = element.kind == Kind::EffortSource;
    let fitting = if effort { Kind::One } else { Kind::Zero };
    if graph.elements[junction].kind != fitting {
        return None;
    }
    let rest = graph.elements[junction].ports.iter().find(|other| other.bond != port.bond && counts(graph, other))?;
    let what = if effort { "effort" } else { "flow" };
    let name = &graph.elements[junction].name;
    let mut edit = Edit::new(format!("the source `{}` of zero {what} adds nothing at `{name}`: removed", element.name));
    edit.elements.push(id);
    edit.bonds.push(port.bond);
    let zero = Expr::number(0.0);
    edit.replaced = if effort {
        vec![(Leaf::Effort(port.bond), zero), (Leaf::Flow(port.bond), Expr::Leaf(Leaf::Flow(rest.bond)))]
    } else {
        vec![(Leaf::Flow(port.bond), zero), (Leaf::Effort(port.bond), Expr::Leaf(Leaf::Effort(rest.bond)))]
    };
    Some(edit)
}

/// A source of zero that sets the variable of its junction: without it the junction is off for ever.
fn grounding_source(graph: &Graph, id: ElementId) -> Option<Edit> {
    let element = &graph.elements[id];
    let [port] = element.ports.as_slice() else { return None };
    if !is_zero_source(element) || graph.bonds[port.bond].active {
        return None;
    }
    let junction = graph.opposite(*port);
    let flow = element.kind == Kind::FlowSource;
    let at = &graph.elements[junction];
    let (known, taken_up) = variables(flow, port.bond);
    // What the source takes up is not known without it.
    if at.kind != (if flow { Kind::One } else { Kind::Zero }) || at.condition.is_some() || mentions(graph, taken_up) {
        return None;
    }
    let what = if flow { "flow" } else { "effort" };
    let mut edit =
        Edit::new(format!("the source `{}` keeps the {what} of `{}` at zero: removed", element.name, at.name));
    edit.elements.push(id);
    edit.bonds.push(port.bond);
    edit.replaced.push((known, Expr::number(0.0)));
    edit.switched_off = Some(junction);
    Some(edit)
}

/// The common variable of the bonds at a 1-junction (`flow`) or 0-junction, and the other one.
fn variables(flow: bool, bond: BondId) -> (Leaf, Leaf) {
    if flow { (Leaf::Flow(bond), Leaf::Effort(bond)) } else { (Leaf::Effort(bond), Leaf::Flow(bond)) }
}

/// A junction that is off for ever: nothing passes there. Only where all neighbours are junctions that go on without it;
/// elements at such a junction keep what they store.
fn grounded(graph: &Graph, id: ElementId) -> Option<Edit> {
    let at = &graph.elements[id];
    if !at.kind.is_junction() || !matches!(at.condition, Some(Expr::Boolean(false))) {
        return None;
    }
    let flow = at.kind == Kind::One;
    let what = if flow { "flow" } else { "effort" };
    let mut edit = Edit::new(format!("no {what} at `{}`, so no power: removed with its bonds", at.name));
    edit.elements.push(id);
    edit.bonds = at.ports.iter().map(|port| port.bond).collect();
    for port in &at.ports {
        let beyond = &graph.elements[graph.opposite(*port)];
        let opposite_kind = beyond.kind == if flow { Kind::Zero } else { Kind::One };
        if !opposite_kind || graph.bonds[port.bond].active || beyond.condition.is_some() {
            return None;
        }
        // The neighbour gives its common variable to this bond too.
        let instead = beyond.ports.iter().find(|other| !edit.bonds.contains(&other.bond) && counts(graph, other))?;
        let (known, given) = variables(flow, port.bond);
        edit.replaced.push((known, Expr::number(0.0)));
        edit.replaced.push((given, Expr::Leaf(variables(flow, instead.bond).1)));
    }
    Some(edit)
}

fn mentions(graph: &Graph, wanted: Leaf) -> bool {
    let mut found = false;
    visit(graph, &mut |expression| found |= expression.any_leaf(|leaf| *leaf == wanted));
    found
}

/// A junction with one bond in and one out.
fn contracted(graph: &Graph, id: ElementId) -> Option<Edit> {
    let element = &graph.elements[id];
    let [one, other] = element.ports.as_slice() else { return None };
    if !element.kind.is_junction() || element.condition.is_some() || one.head == other.head {
        return None;
    }
    let (enters, leaves) = if one.head { (one, other) } else { (other, one) };
    let (first, second) = (&graph.bonds[enters.bond], &graph.bonds[leaves.bond]);
    if first.active || second.active || first.tail == second.head {
        return None;
    }
    let (from, to) = (&graph.elements[first.tail], &graph.elements[second.head]);
    let mut edit = Edit::new(format!(
        "the {} `{}` has two bonds: one bond `{} -> {}` instead",
        crate::flatten::described(element.kind),
        element.name,
        from.name,
        to.name
    ));
    edit.elements.push(id);
    edit.bonds.push(leaves.bond);
    edit.moved.push((enters.bond, true, second.head));
    edit.replaced = vec![
        (Leaf::Effort(leaves.bond), Expr::Leaf(Leaf::Effort(enters.bond))),
        (Leaf::Flow(leaves.bond), Expr::Leaf(Leaf::Flow(enters.bond))),
    ];
    Some(edit)
}

/// Two junctions of one kind with a bond between.
fn merged(graph: &Graph, id: BondId) -> Option<Edit> {
    let bond = &graph.bonds[id];
    let (tail, head) = (&graph.elements[bond.tail], &graph.elements[bond.head]);
    let fits = tail.kind.is_junction() && tail.kind == head.kind && !bond.active;
    if !fits || tail.condition.is_some() || head.condition.is_some() {
        return None;
    }
    let zero = tail.kind == Kind::Zero;
    let others: Vec<Port> = head.ports.iter().copied().filter(|port| port.bond != id).collect();
    let another = others.iter().chain(&tail.ports).find(|port| port.bond != id && counts(graph, port))?;
    let mut edit = Edit::new(format!(
        "`{}` and `{}` are chained {}s: one junction `{}`",
        tail.name,
        head.name,
        crate::flatten::described(tail.kind),
        tail.name
    ));
    // A second bond between the two has its balance with itself.
    if others.iter().any(|port| graph.opposite(*port) == bond.tail) {
        return None;
    }
    edit.elements.push(bond.head);
    edit.bonds.push(id);
    for port in &others {
        edit.moved.push((port.bond, port.head, bond.tail));
    }
    let of = |bond| if zero { (Leaf::Effort(bond), Leaf::Flow(bond)) } else { (Leaf::Flow(bond), Leaf::Effort(bond)) };
    let (common, balanced) = of(id);
    edit.replaced.push((common, Expr::Leaf(of(another.bond).0)));
    // What the bond carried goes out of the second junction again.
    let mut sum: Option<Expression> = None;
    for port in others.iter().filter(|port| counts(graph, port)) {
        let term = Expr::Leaf(of(port.bond).1);
        sum = Some(match sum {
            None if port.head => negated(term),
            None => term,
            Some(sum) => Expr::binary(if port.head { Operator::Subtract } else { Operator::Add }, sum, term),
        });
    }
    edit.replaced.push((balanced, sum.unwrap_or_else(|| Expr::number(0.0))));
    Some(edit)
}

fn counts(graph: &Graph, port: &Port) -> bool {
    port.head || !graph.bonds[port.bond].active
}

/// All expressions that name variables.
fn visit(graph: &Graph, look: &mut impl FnMut(&Expression)) {
    for element in graph.elements.values() {
        element.condition.iter().for_each(&mut *look);
        match &element.law {
            Law::None => {}
            Law::Scalar(value) => look(value),
            Law::Matrix(rows) => rows.iter().flatten().for_each(&mut *look),
            Law::Equations(laws) => laws.iter().for_each(|law| look(&law.right)),
            Law::Residuals(residuals) => residuals.iter().for_each(&mut *look),
        }
    }
    graph.signals.values().for_each(|signal| look(&signal.value));
    graph.outputs.iter().for_each(|output| look(&output.value));
}

impl Edit {
    fn apply(self, graph: &Graph) -> Graph {
        let mut edited = graph.clone();
        if let Some(junction) = self.switched_off {
            edited.elements[junction].condition = Some(Expr::Boolean(false));
        }
        for (bond, head, to) in &self.moved {
            let bond = &mut edited.bonds[*bond];
            *(if *head { &mut bond.head } else { &mut bond.tail }) = *to;
            // A stroke that the user set at a vanished junction says nothing about the new end.
            bond.stroke = None;
        }
        let mut attached: IdVec<ElementId, Vec<Port>> = IdVec::filled(Vec::new(), graph.elements.len());
        for (id, element) in graph.elements.iter() {
            let replaced = |port: &Port| {
                self.moved.iter().any(|(bond, head, to)| *bond == port.bond && *head == port.head && *to != id)
            };
            attached[id] = element
                .ports
                .iter()
                .map(|port| {
                    // The bond that vanishes at an element gives its place to the one that takes over.
                    let taken_over = self.bonds.contains(&port.bond).then(|| {
                        self.moved.iter().find(|(bond, head, to)| {
                            *to == id && *head == port.head && !element.kind.is_junction() && *bond != port.bond
                        })
                    });
                    match taken_over.flatten() {
                        Some((bond, head, _)) => Port { bond: *bond, head: *head },
                        None => *port,
                    }
                })
                .filter(|port| !self.bonds.contains(&port.bond) && !replaced(port))
                .collect();
        }
        for (bond, head, to) in &self.moved {
            let port = Port { bond: *bond, head: *head };
            if !attached[*to].contains(&port) {
                attached[*to].push(port);
            }
        }
        for (id, ports) in attached.iter() {
            edited.elements[id].ports.clone_from(ports);
        }
        self.compact(&edited)
    }

    fn compact(&self, edited: &Graph) -> Graph {
        let mut element_ids: IdVec<ElementId, ElementId> = IdVec::new();
        let mut kept = 0;
        for id in edited.elements.ids() {
            element_ids.push(ElementId::from_index(kept));
            kept += usize::from(!self.elements.contains(&id));
        }
        let mut bond_ids: IdVec<BondId, BondId> = IdVec::new();
        kept = 0;
        for id in edited.bonds.ids() {
            bond_ids.push(BondId::from_index(kept));
            kept += usize::from(!self.bonds.contains(&id));
        }
        let renamed = |leaf: &Leaf| {
            Expr::Leaf(match leaf {
                Leaf::Effort(bond) => Leaf::Effort(bond_ids[*bond]),
                Leaf::Flow(bond) => Leaf::Flow(bond_ids[*bond]),
                Leaf::State(element, port) => Leaf::State(element_ids[*element], *port),
                other => *other,
            })
        };
        let rewritten = |expression: &Expression| {
            let replaced = expression.replace(&mut |leaf| {
                let found = self.replaced.iter().find(|(old, _)| old == leaf);
                found.map_or(Expr::Leaf(*leaf), |(_, instead)| instead.clone())
            });
            replaced.replace(&mut |leaf| renamed(leaf))
        };
        let mut graph = Graph { elements: IdVec::new(), bonds: IdVec::new(), ..edited.clone() };
        for (id, element) in edited.elements.iter() {
            if self.elements.contains(&id) {
                continue;
            }
            let mut element = element.clone();
            for port in &mut element.ports {
                port.bond = bond_ids[port.bond];
            }
            element.condition = element.condition.as_ref().map(&rewritten);
            element.law = match &element.law {
                Law::None => Law::None,
                Law::Scalar(value) => Law::Scalar(rewritten(value)),
                Law::Matrix(rows) => Law::Matrix(rows.iter().map(|row| row.iter().map(&rewritten).collect()).collect()),
                Law::Residuals(residuals) => Law::Residuals(residuals.iter().map(&rewritten).collect()),
                Law::Equations(laws) => Law::Equations(
                    laws.iter()
                        .map(|law| LawEquation {
                            left: rewritten(&law.left),
                            right: rewritten(&law.right),
                            ..law.clone()
                        })
                        .collect(),
                ),
            };
            graph.elements.push(element);
        }
        for (id, bond) in edited.bonds.iter() {
            if !self.bonds.contains(&id) {
                let (tail, head) = (element_ids[bond.tail], element_ids[bond.head]);
                graph.bonds.push(Bond { tail, head, ..bond.clone() });
            }
        }
        for signal in graph.signals.values_mut() {
            signal.value = rewritten(&signal.value);
        }
        for output in &mut graph.outputs {
            output.value = rewritten(&output.value);
        }
        for parameter in graph.parameters.values_mut() {
            parameter.element = parameter.element.map(|element| element_ids[element]);
        }
        for input in graph.inputs.values_mut() {
            input.source = input.source.map(|element| element_ids[element]);
        }
        graph
    }
}
