//! What causality assignment found, as text: every bond with its stroke, the states, what is dependent, the loops.

use std::fmt::Write as _;

use crate::causality::Causality;
use crate::graph::*;

impl Causality {
    /// A bond with its stroke, in the notation of bond graphs, and who sets what.
    pub fn bond_text(&self, graph: &Graph, id: BondId) -> String {
        let bond = &graph.bonds[id];
        let (tail, head) = (&graph.elements[bond.tail].name, &graph.elements[bond.head].name);
        let arrow = match (bond.active, self.strokes[id]) {
            (true, _) => "=>",
            (false, Stroke::Head) => "->|",
            (false, Stroke::Tail) => "|->",
        };
        format!("{tail} {arrow} {head}")
    }

    /// The ends of a bond: the one that sets the effort, then the one that sets the flow.
    pub fn setters(&self, graph: &Graph, id: BondId) -> (ElementId, ElementId) {
        let bond = &graph.bonds[id];
        match self.strokes[id] {
            Stroke::Head => (bond.tail, bond.head),
            Stroke::Tail => (bond.head, bond.tail),
        }
    }

    /// The whole report.
    pub fn report(&self, graph: &Graph) -> String {
        let mut text = String::from("bonds\n");
        let lines: Vec<(String, String)> = graph
            .bonds
            .ids()
            .map(|id| {
                let (effort, flow) = self.setters(graph, id);
                let name = |element: ElementId| graph.elements[element].name.as_str();
                let setters = format!("effort from {}, flow from {}", name(effort), name(flow));
                (self.bond_text(graph, id), setters)
            })
            .collect();
        let width = lines.iter().map(|(bond, _)| bond.chars().count()).max().unwrap_or(0);
        for (bond, setters) in lines {
            let _ = writeln!(text, "  {bond:<width$}   {setters}");
        }
        let names = |storages: &[(ElementId, u32)]| {
            let names: Vec<String> = storages.iter().map(|(element, port)| graph.state_name(*element, *port)).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let _ = writeln!(text, "states (integral causality): {}", names(&self.states));
        let _ = writeln!(text, "dependent (derivative causality): {}", names(&self.dependent));
        let _ = writeln!(
            text,
            "algebraic loops: {}",
            if self.loops.is_empty() { "none".to_owned() } else { self.loops.len().to_string() }
        );
        for found in &self.loops {
            let path: Vec<String> = found.path.iter().map(|element| graph.element_text(*element)).collect();
            let first = path.first().cloned().unwrap_or_default();
            let _ = writeln!(text, "  {} → {first} ({} variables)", path.join(" → "), found.size);
        }
        text
    }
}
