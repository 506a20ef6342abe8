//! Algebraic loops: strong components (Tarjan) of "is computed from" between efforts, flows and signals, once causality
//! says which element computes what. Storages with integral causality compute from their state and end every way;
//! those with derivative causality are left out, since derivatives do not belong to the same instant.

use base::Id;

use crate::causality::{AlgebraicLoop, Causality, effort_index, flow_index};
use crate::graph::*;
use crate::kind::Kind;

pub fn algebraic_loops(graph: &Graph, causality: &Causality) -> Vec<AlgebraicLoop> {
    let network = Dependencies::new(graph, causality);
    components(&network.on)
        .into_iter()
        .filter(|component| component.len() > 1 || network.on[component[0]].contains(&(component[0] as u32)))
        .map(|component| AlgebraicLoop { path: network.way_around(&component), size: component.len() })
        .collect()
}

/// For each variable (efforts and flows of bonds, then signals) the variables it is computed from and the element that
/// computes it.
struct Dependencies {
    on: Vec<Vec<u32>>,
    by: Vec<Option<ElementId>>,
}

impl Dependencies {
    fn new(graph: &Graph, causality: &Causality) -> Self {
        let count = 2 * graph.bonds.len() + graph.signals.len();
        let mut made = Self { on: vec![Vec::new(); count], by: vec![None; count] };
        for (id, element) in graph.elements.iter() {
            made.element(graph, causality, id, element);
        }
        for (id, signal) in graph.signals.iter() {
            let index = 2 * graph.bonds.len() + id.index();
            made.expression(graph, index, &signal.value);
        }
        made
    }

    fn element(&mut self, graph: &Graph, causality: &Causality, id: ElementId, element: &Element) {
        if causality.mode.is_off(id) {
            return;
        }
        let output = |port: &Port| {
            if causality.gives_effort(*port) { effort_index(port.bond) } else { flow_index(port.bond) }
        };
        let taken = |port: &Port| {
            if causality.gives_effort(*port) { flow_index(port.bond) } else { effort_index(port.bond) }
        };
        let is_tail = |port: &Port| graph.bonds[port.bond].active && !port.head;
        match element.kind {
            Kind::Zero | Kind::One => {
                let zero = element.kind == Kind::Zero;
                let supplier =
                    element.ports.iter().find(|port| !is_tail(port) && causality.gives_effort(**port) != zero);
                let Some(supplier) = supplier else { return };
                for port in &element.ports {
                    if port.bond == supplier.bond {
                        continue;
                    }
                    self.depends(id, output(port), taken(supplier));
                    if !is_tail(port) {
                        self.depends(id, output(supplier), taken(port));
                    }
                }
            }
            Kind::Transformer | Kind::Gyrator => {
                // A transformer turns effort into effort, a gyrator effort into flow: either way the output of a
                // port comes from what the other port takes.
                if let [one, other] = element.ports.as_slice() {
                    self.depends(id, output(one), taken(other));
                    self.depends(id, output(other), taken(one));
                    if let Law::Scalar(ratio) = &element.law {
                        self.expression_of(graph, id, output(one), ratio);
                        self.expression_of(graph, id, output(other), ratio);
                    }
                }
            }
            Kind::Resistor => {
                for port in &element.ports {
                    for other in &element.ports {
                        if !matches!(element.law, Law::Scalar(_)) || port.bond == other.bond {
                            self.depends(id, output(port), taken(other));
                        }
                    }
                    self.law(graph, id, output(port), &element.law, &element.ports);
                }
            }
            Kind::Capacitor | Kind::Inertia => {
                for (index, port) in element.ports.iter().enumerate() {
                    if causality.integral(graph, id, index as u32) {
                        for (other_index, other) in element.ports.iter().enumerate() {
                            if !causality.integral(graph, id, other_index as u32) {
                                self.depends(id, output(port), taken(other));
                            }
                        }
                        self.law(graph, id, output(port), &element.law, &element.ports);
                    }
                }
            }
            Kind::EffortSource | Kind::FlowSource => {
                if let ([port], Law::Scalar(value)) = (element.ports.as_slice(), &element.law) {
                    self.expression_of(graph, id, output(port), value);
                }
            }
            Kind::EffortSensor | Kind::FlowSensor => {}
            Kind::Component => {
                let residuals = crate::equations::residuals(graph, id).unwrap_or_default();
                let leaf = |port: &Port| match causality.gives_effort(*port) {
                    true => Leaf::Effort(port.bond),
                    false => Leaf::Flow(port.bond),
                };
                let unknowns: Vec<Leaf> = element.ports.iter().map(leaf).collect();
                let Some(values) = crate::calculus::solve_linear(&residuals, &unknowns) else { return };
                for (port, value) in element.ports.iter().zip(&values) {
                    self.expression_of(graph, id, output(port), value);
                }
            }
        }
    }

    fn depends(&mut self, by: ElementId, variable: usize, on: usize) {
        self.by[variable] = Some(by);
        self.on[variable].push(on as u32);
    }

    /// Signals in a law, apart from the element's own variables.
    fn law(&mut self, graph: &Graph, id: ElementId, variable: usize, law: &Law, own: &[Port]) {
        let mut add = |expression: &Expression| {
            expression.leaves(&mut |leaf| {
                let is_own = |bond: &BondId| own.iter().any(|port| port.bond == *bond);
                if !matches!(leaf, Leaf::Effort(bond) | Leaf::Flow(bond) if is_own(bond))
                    && let Some(index) = index_of(graph, *leaf)
                {
                    self.by[variable] = Some(id);
                    self.on[variable].push(index as u32);
                }
            });
        };
        match law {
            Law::None => {}
            Law::Scalar(value) => add(value),
            Law::Matrix(rows) => rows.iter().flatten().for_each(add),
            Law::Equations(laws) => laws.iter().for_each(|law| add(&law.right)),
            Law::Residuals(residuals) => residuals.iter().for_each(add),
        }
    }

    fn expression_of(&mut self, graph: &Graph, by: ElementId, variable: usize, expression: &Expression) {
        self.by[variable] = Some(by);
        self.expression(graph, variable, expression);
    }

    fn expression(&mut self, graph: &Graph, variable: usize, expression: &Expression) {
        expression.leaves(&mut |leaf| {
            if let Some(index) = index_of(graph, *leaf) {
                self.on[variable].push(index as u32);
            }
        });
    }

    /// A shortest cycle through the first variable of a component, as elements.
    fn way_around(&self, component: &[usize]) -> Vec<ElementId> {
        let start = component[0];
        let mut before: rustc_hash::FxHashMap<usize, usize> = rustc_hash::FxHashMap::default();
        let inside: rustc_hash::FxHashSet<usize> = component.iter().copied().collect();
        let mut queue = std::collections::VecDeque::from([start]);
        let mut last = start;
        'search: while let Some(variable) = queue.pop_front() {
            for next in self.on[variable].iter().map(|next| *next as usize) {
                if next == start {
                    last = variable;
                    break 'search;
                }
                if inside.contains(&next) && !before.contains_key(&next) {
                    before.insert(next, variable);
                    queue.push_back(next);
                }
            }
        }
        let mut path = Vec::new();
        let mut current = last;
        loop {
            if let Some(element) = self.by[current]
                && path.last() != Some(&element)
            {
                path.push(element);
            }
            match before.get(&current) {
                Some(previous) => current = *previous,
                None => break,
            }
        }
        if path.len() > 1 && path.first() == path.last() {
            path.pop();
        }
        path
    }
}

fn index_of(graph: &Graph, leaf: Leaf) -> Option<usize> {
    match leaf {
        Leaf::Effort(bond) => Some(effort_index(bond)),
        Leaf::Flow(bond) => Some(flow_index(bond)),
        Leaf::Signal(signal) => Some(2 * graph.bonds.len() + signal.index()),
        _ => None,
    }
}

/// Strong components, each with its members in increasing order (Tarjan's algorithm without recursion).
pub fn components(on: &[Vec<u32>]) -> Vec<Vec<usize>> {
    const NEW: u32 = u32::MAX;
    let count = on.len();
    let (mut number, mut low) = (vec![NEW; count], vec![0u32; count]);
    let mut on_stack = vec![false; count];
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0u32);
    for root in 0..count {
        if number[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0usize)];
        while let Some((node, edge)) = calls.pop() {
            if edge == 0 {
                number[node] = next;
                low[node] = next;
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            } else {
                let child = on[node][edge - 1] as usize;
                low[node] = low[node].min(low[child]);
            }
            let mut resumed = false;
            for (index, child) in on[node].iter().enumerate().skip(edge) {
                let child = *child as usize;
                if number[child] == NEW {
                    calls.push((node, index + 1));
                    calls.push((child, 0));
                    resumed = true;
                    break;
                }
                if on_stack[child] {
                    low[node] = low[node].min(number[child]);
                }
            }
            if !resumed && low[node] == number[node] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                component.sort_unstable();
                found.push(component);
            }
        }
    }
    found
}
