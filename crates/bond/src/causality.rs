//! The sequential causality assignment procedure (SCAP; Karnopp, Margolis, Rosenberg, *System Dynamics*, ch. 5):
//! sources first, then storages with integral causality where that is possible, then the rest; after each choice
//! everything that follows is assigned. Each bond is assigned once and remembers why, so that conflicts, derivative
//! causality and corrected strokes are explained with the path through the graph. Propagation is linear: junctions
//! count their bonds.
//!
//! Strokes that the user set decide only what is free (the causality of resistors): which storages are states must
//! not depend on them. Those that cannot stand are corrected and reported.

use base::{Diagnostic, Id, IdVec, Severity};

use crate::expr::Expr;
use crate::graph::*;
use crate::kind::Kind;
use crate::patterns::{Pattern, patterns};

/// Choices that lead to conflicts are changed so often.
const MOST_ATTEMPTS: usize = 10_000;

/// Which switched junctions are on; those not named are.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Mode {
    /// The junctions that are off.
    pub off: Vec<ElementId>,
}

impl Mode {
    /// With the junctions whose condition never holds.
    fn completed(&self, graph: &Graph) -> Mode {
        let mut mode = self.clone();
        let never = |id: &ElementId| matches!(graph.elements[*id].condition, Some(Expr::Boolean(false)));
        mode.off.extend(graph.switched().filter(never));
        mode
    }

    pub(crate) fn is_off(&self, element: ElementId) -> bool {
        self.off.contains(&element)
    }
}

/// The causality of a graph in one mode.
#[derive(Clone, Debug)]
pub struct Causality {
    /// The stroke of each bond.
    pub strokes: IdVec<BondId, Stroke>,
    /// Ports of storages with integral causality: the states, in the order of declaration.
    pub states: Vec<(ElementId, u32)>,
    /// Ports of storages with derivative causality, whose stored quantities follow from the states and inputs.
    pub dependent: Vec<(ElementId, u32)>,
    /// Algebraic loops that are left.
    pub loops: Vec<AlgebraicLoop>,
    /// Bonds whose stroke the user had set otherwise.
    pub corrected: Vec<BondId>,
    /// The mode for which it holds.
    pub mode: Mode,
}

/// Variables that depend on each other at an instant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlgebraicLoop {
    /// A way around through the graph, without its first element again.
    pub path: Vec<ElementId>,
    /// How many efforts, flows and signals depend on each other.
    pub size: usize,
}

impl Causality {
    /// A port of a storage with integral causality.
    pub fn integral(&self, graph: &Graph, element: ElementId, port: u32) -> bool {
        let element = &graph.elements[element];
        self.gives_effort(element.ports[port as usize]) == (element.kind == Kind::Capacitor)
    }

    /// The effort of the bond comes from this end.
    pub fn gives_effort(&self, port: Port) -> bool {
        self.strokes[port.bond] != Stroke::at(port.head)
    }

    /// Assigns causality to all bonds; none where the graph contradicts itself.
    pub fn assign(graph: &Graph, mode: &Mode) -> (Option<Causality>, Vec<Diagnostic>) {
        let mode = &mode.completed(graph);
        let mut assignment = Assignment::new(graph, mode);
        if let Err(diagnostic) = assignment.run() {
            assignment.diagnostics.push(*diagnostic);
            return (None, assignment.diagnostics);
        }
        let strokes = assignment.strokes.values().map(|stroke| stroke.unwrap_or(Stroke::Head)).collect::<Vec<_>>();
        let mut causality = Causality {
            strokes: IdVec::from(strokes),
            states: Vec::new(),
            dependent: Vec::new(),
            loops: Vec::new(),
            corrected: Vec::new(),
            mode: mode.clone(),
        };
        for (element, port) in graph.storages() {
            if causality.integral(graph, element, port) {
                causality.states.push((element, port));
            } else {
                causality.dependent.push((element, port));
                let diagnostic = assignment.dependence(element, port);
                assignment.diagnostics.push(diagnostic);
            }
        }
        for (id, bond) in graph.bonds.iter() {
            if bond.stroke.is_some_and(|stroke| stroke != causality.strokes[id]) {
                causality.corrected.push(id);
                let diagnostic = assignment.correction(id);
                assignment.diagnostics.push(diagnostic);
            }
        }
        causality.loops = crate::loops::algebraic_loops(graph, &causality);
        let mut diagnostics = assignment.diagnostics;
        diagnostics.extend(causality.loops.iter().map(|found| loop_diagnostic(graph, found)));
        (Some(causality), diagnostics)
    }
}

fn loop_diagnostic(graph: &Graph, found: &AlgebraicLoop) -> Diagnostic {
    let path: Vec<String> = found.path.iter().map(|element| graph.element_text(*element)).collect();
    let what = format!("an algebraic loop of {} variables is solved as a system", found.size);
    let mut diagnostic = Diagnostic::new(Severity::Note, "algebraic-loop", what);
    let mut seen: Vec<ElementId> = Vec::new();
    for element in found.path.iter().filter(|element| !graph.elements[**element].kind.is_junction()) {
        if !seen.contains(element) && seen.len() < 4 {
            seen.push(*element);
            diagnostic = diagnostic.at(graph.elements[*element].span, "");
        }
    }
    diagnostic.note(format!("around: {} → {}", path.join(" → "), path.first().map_or("", String::as_str)))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    /// A source, a sensor, an active bond or a junction that is off gives it.
    Fixed(ElementId),
    /// Integral causality of a storage.
    Integral(ElementId),
    /// A storage that could not have integral causality.
    Derivative(ElementId),
    /// A choice that was free.
    Free(ElementId),
    /// An element passes it on from another bond.
    Passed(ElementId, BondId),
}

struct Conflict {
    at: ElementId,
    bonds: Vec<BondId>,
    /// A bond that would need the other stroke, and why it would.
    wanted: Option<(BondId, Reason)>,
}

/// A bond whose stroke is not given.
#[derive(Clone, Copy)]
struct Choice {
    bond: BondId,
    wanted: Stroke,
    element: ElementId,
    /// The stroke is wanted for integral causality.
    is_storage: bool,
}

impl Choice {
    fn tried(&self, second: bool) -> (Stroke, Reason) {
        let stroke = if second { self.wanted.other() } else { self.wanted };
        let reason = match (self.is_storage, second) {
            (true, false) => Reason::Integral(self.element),
            (true, true) => Reason::Derivative(self.element),
            (false, _) => Reason::Free(self.element),
        };
        (stroke, reason)
    }
}

/// A choice that stands for now, and what to go back to.
#[derive(Clone, Copy)]
struct Made {
    place: usize,
    mark: usize,
    refused: usize,
    second: bool,
}

struct Assignment<'a> {
    graph: &'a Graph,
    mode: &'a Mode,
    strokes: IdVec<BondId, Option<Stroke>>,
    reasons: IdVec<BondId, Option<Reason>>,
    /// Of junctions: bonds that supply the common variable, and bonds that are not assigned.
    supplied: IdVec<ElementId, u32>,
    open: IdVec<ElementId, u32>,
    /// What the laws of elements with several ports allow; empty: everything.
    patterns: IdVec<ElementId, Vec<Pattern>>,
    trail: Vec<BondId>,
    queue: Vec<BondId>,
    diagnostics: Vec<Diagnostic>,
    /// Why a storage has derivative causality although nothing had set its bond.
    refused: Vec<(ElementId, Vec<String>)>,
}

impl<'a> Assignment<'a> {
    fn new(graph: &'a Graph, mode: &'a Mode) -> Self {
        let mut open = IdVec::filled(0, graph.elements.len());
        for (id, element) in graph.elements.iter() {
            open[id] = element.ports.iter().filter(|port| counts(graph, **port)).count() as u32;
        }
        Self {
            graph,
            mode,
            strokes: IdVec::filled(None, graph.bonds.len()),
            reasons: IdVec::filled(None, graph.bonds.len()),
            supplied: IdVec::filled(0, graph.elements.len()),
            open,
            patterns: patterns(graph),
            trail: Vec::new(),
            queue: Vec::new(),
            diagnostics: Vec::new(),
            refused: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), Box<Diagnostic>> {
        let fixed = self.fixed().and_then(|()| self.laws()).and_then(|()| self.lone_junctions());
        fixed.map_err(|conflict| Box::new(self.conflict(&conflict)))?;
        self.choices()
    }

    fn fixed(&mut self) -> Result<(), Conflict> {
        for (id, element) in self.graph.elements.iter() {
            let off = self.mode.is_off(id);
            for port in &element.ports {
                let here = match element.kind {
                    Kind::EffortSource | Kind::FlowSensor => false,
                    Kind::FlowSource | Kind::EffortSensor => true,
                    Kind::One if off => true,
                    Kind::Zero if off => false,
                    // An active bond takes the common variable of its junction along.
                    Kind::One if !port.head && self.graph.bonds[port.bond].active => true,
                    Kind::Zero if !port.head && self.graph.bonds[port.bond].active => false,
                    _ => continue,
                };
                let stroke = if here { Stroke::at(port.head) } else { Stroke::at(port.head).other() };
                self.assign(port.bond, stroke, Reason::Fixed(id))?;
                self.propagate()?;
            }
        }
        Ok(())
    }

    /// What laws of elements with several ports leave no choice about.
    fn laws(&mut self) -> Result<(), Conflict> {
        for id in self.graph.elements.ids() {
            if !self.patterns[id].is_empty() {
                self.visit_patterns(id, Reason::Fixed(id))?;
                self.propagate()?;
            }
        }
        Ok(())
    }

    /// A junction with one bond has nothing to choose.
    fn lone_junctions(&mut self) -> Result<(), Conflict> {
        for (id, element) in self.graph.elements.iter() {
            if element.kind.is_junction() && self.open[id] == 1 && self.supplied[id] == 0 && !self.mode.is_off(id) {
                self.visit(id, None)?;
                self.propagate()?;
            }
        }
        Ok(())
    }

    /// Storages, each with integral causality where that is possible.
    fn storage_choices(&self) -> Vec<Choice> {
        let choice = |(element, port): (ElementId, u32)| {
            let of = &self.graph.elements[element];
            let port = of.ports[port as usize];
            let at = Stroke::at(port.head);
            let wanted = if of.kind == Kind::Capacitor { at.other() } else { at };
            Choice { bond: port.bond, wanted, element, is_storage: true }
        };
        self.graph.storages().map(choice).collect()
    }

    /// What is free: resistors first, then whatever is left, each with the stroke it should have.
    fn free_choices(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        let free = |bond, wanted, element| Choice { bond, wanted, element, is_storage: false };
        for (id, element) in self.graph.elements.iter().filter(|(_, element)| element.kind == Kind::Resistor) {
            for (index, port) in element.ports.iter().enumerate() {
                // A law in the form `f = …` takes the effort.
                let takes_effort = match &element.law {
                    Law::Equations(laws) => laws.get(index).is_some_and(|law| law.variable == Variable::Flow),
                    _ => false,
                };
                let at = Stroke::at(port.head);
                let by_law = if takes_effort { at } else { at.other() };
                choices.push(free(port.bond, self.graph.bonds[port.bond].stroke.unwrap_or(by_law), id));
            }
        }
        for (id, bond) in self.graph.bonds.iter() {
            choices.push(free(id, bond.stroke.unwrap_or(Stroke::Head), bond.tail));
        }
        choices
    }

    /// Storages, then what is free, in their order. Where a choice leads to a conflict the other is taken, and where both do, the
    /// last choice before them is changed: so a storage has derivative causality where the rest of the graph has no causality
    /// otherwise.
    fn choices(&mut self) -> Result<(), Box<Diagnostic>> {
        let mut choices = self.storage_choices();
        choices.extend(self.free_choices());
        choices.retain(|choice| self.strokes[choice.bond].is_none());
        let mut made: Vec<Made> = Vec::new();
        let mut attempts = 0;
        let mut next = (0, false);
        let mut first_conflict = None;
        while let Some(choice) = choices.get(next.0).copied() {
            let (place, second) = next;
            if self.strokes[choice.bond].is_some() {
                next = (place + 1, false);
                continue;
            }
            let (mark, refused) = (self.trail.len(), self.refused.len());
            let (stroke, reason) = choice.tried(second);
            let tried = self.assign(choice.bond, stroke, reason).and_then(|()| self.propagate());
            let Err(conflict) = tried else {
                made.push(Made { place, mark, refused, second });
                next = (place + 1, false);
                continue;
            };
            attempts += 1;
            if !second {
                if choice.is_storage {
                    self.refused.push((choice.element, self.paths(&conflict)));
                }
                self.undo(mark);
                next = (place, true);
                continue;
            }
            let report = first_conflict.get_or_insert_with(|| Box::new(self.conflict(&conflict)));
            let earlier = made.iter().rposition(|made| !made.second).filter(|_| attempts < MOST_ATTEMPTS);
            let Some(earlier) = earlier else { return Err(report.clone()) };
            let Made { place, mark, refused, .. } = made[earlier];
            made.truncate(earlier);
            self.undo(mark);
            self.refused.truncate(refused);
            if choices[place].is_storage {
                let reason = "the rest of the graph has no causality then".to_owned();
                self.refused.push((choices[place].element, vec![reason]));
            }
            next = (place, true);
        }
        Ok(())
    }

    fn undo(&mut self, mark: usize) {
        self.queue.clear();
        while self.trail.len() > mark {
            let Some(bond) = self.trail.pop() else { return };
            let stroke = self.strokes[bond].take();
            self.reasons[bond] = None;
            for (element, port) in self.ends(bond) {
                if counts(self.graph, port) {
                    self.open[element] += 1;
                    if stroke.is_some_and(|stroke| self.supplies(element, port, stroke)) {
                        self.supplied[element] -= 1;
                    }
                }
            }
        }
    }

    fn ends(&self, bond: BondId) -> [(ElementId, Port); 2] {
        let Bond { tail, head, .. } = self.graph.bonds[bond];
        [(tail, Port { bond, head: false }), (head, Port { bond, head: true })]
    }

    /// Gives the junction its common variable.
    fn supplies(&self, element: ElementId, port: Port, stroke: Stroke) -> bool {
        let here = stroke == Stroke::at(port.head);
        match self.graph.elements[element].kind {
            Kind::Zero => here,
            Kind::One => !here,
            _ => false,
        }
    }

    fn assign(&mut self, bond: BondId, stroke: Stroke, reason: Reason) -> Result<(), Conflict> {
        match self.strokes[bond] {
            Some(before) if before == stroke => return Ok(()),
            Some(_) => {
                let at = match reason {
                    Reason::Fixed(at) | Reason::Integral(at) | Reason::Derivative(at) | Reason::Free(at) => at,
                    Reason::Passed(at, _) => at,
                };
                return Err(Conflict { at, bonds: vec![bond], wanted: Some((bond, reason)) });
            }
            None => {}
        }
        self.strokes[bond] = Some(stroke);
        self.reasons[bond] = Some(reason);
        self.trail.push(bond);
        for (element, port) in self.ends(bond) {
            if counts(self.graph, port) {
                self.open[element] -= 1;
                if self.supplies(element, port, stroke) {
                    self.supplied[element] += 1;
                }
            }
        }
        self.queue.push(bond);
        Ok(())
    }

    fn propagate(&mut self) -> Result<(), Conflict> {
        while let Some(bond) = self.queue.pop() {
            for (element, port) in self.ends(bond) {
                if !self.graph.bonds[bond].active || port.head {
                    self.visit(element, Some(port))?;
                }
            }
        }
        Ok(())
    }

    /// What follows at an element from a bond that was assigned.
    fn visit(&mut self, id: ElementId, port: Option<Port>) -> Result<(), Conflict> {
        let element = &self.graph.elements[id];
        match element.kind {
            Kind::Zero | Kind::One if self.mode.is_off(id) => Ok(()),
            Kind::Zero | Kind::One => self.visit_junction(id, port),
            Kind::Transformer | Kind::Gyrator => {
                let Some(port) = port else { return Ok(()) };
                let Some(other) = element.ports.iter().find(|other| other.bond != port.bond) else { return Ok(()) };
                let here = self.strokes[port.bond] == Some(Stroke::at(port.head));
                let there = here == (element.kind == Kind::Gyrator);
                let at = Stroke::at(other.head);
                let stroke = if there { at } else { at.other() };
                self.assign(other.bond, stroke, Reason::Passed(id, port.bond))
            }
            _ if !self.patterns[id].is_empty() => {
                self.visit_patterns(id, port.map_or(Reason::Fixed(id), |port| Reason::Passed(id, port.bond)))
            }
            _ => Ok(()),
        }
    }

    /// What all strokes that the law still allows have in common.
    fn visit_patterns(&mut self, id: ElementId, reason: Reason) -> Result<(), Conflict> {
        let graph = self.graph;
        let ports = &graph.elements[id].ports;
        let given: Vec<Option<bool>> =
            ports.iter().map(|port| self.strokes[port.bond].map(|stroke| stroke != Stroke::at(port.head))).collect();
        let fits =
            |pattern: &&Pattern| pattern.iter().zip(&given).all(|(one, other)| other.is_none_or(|it| it == *one));
        let left: Vec<&Pattern> = self.patterns[id].iter().filter(fits).collect();
        let Some(first) = left.first() else {
            let bonds = ports.iter().map(|port| port.bond).filter(|bond| self.strokes[*bond].is_some()).collect();
            return Err(Conflict { at: id, bonds, wanted: None });
        };
        let is_common = |place: usize| left.iter().all(|pattern| pattern[place] == first[place]);
        let forced: Vec<(BondId, Stroke)> = ports
            .iter()
            .enumerate()
            .filter(|(place, _)| given[*place].is_none() && is_common(*place))
            .map(|(place, port)| {
                let at = Stroke::at(port.head);
                (port.bond, if first[place] { at.other() } else { at })
            })
            .collect();
        for (bond, stroke) in forced {
            self.assign(bond, stroke, reason)?;
        }
        Ok(())
    }

    fn visit_junction(&mut self, id: ElementId, port: Option<Port>) -> Result<(), Conflict> {
        let graph = self.graph;
        let ports = &graph.elements[id].ports;
        if self.supplied[id] > 1 {
            let supplies = |port: &&Port| {
                counts(graph, **port) && self.strokes[port.bond].is_some_and(|stroke| self.supplies(id, **port, stroke))
            };
            let bonds = ports.iter().filter(supplies).map(|port| port.bond).collect();
            return Err(Conflict { at: id, bonds, wanted: None });
        }
        let zero = graph.elements[id].kind == Kind::Zero;
        if self.supplied[id] == 1 && self.open[id] > 0 {
            let is_supplier = |port: &&Port| {
                counts(graph, **port) && self.strokes[port.bond].is_some_and(|stroke| self.supplies(id, **port, stroke))
            };
            let Some(supplier) = ports.iter().find(is_supplier).map(|port| port.bond) else { return Ok(()) };
            for port in ports.iter().filter(|port| counts(graph, **port)) {
                if self.strokes[port.bond].is_none() {
                    let at = Stroke::at(port.head);
                    let stroke = if zero { at.other() } else { at };
                    self.assign(port.bond, stroke, Reason::Passed(id, supplier))?;
                }
            }
            return Ok(());
        }
        if self.supplied[id] == 0 && self.open[id] == 1 {
            let last = ports.iter().find(|port| counts(graph, **port) && self.strokes[port.bond].is_none());
            let Some(last) = last.copied() else { return Ok(()) };
            let at = Stroke::at(last.head);
            let stroke = if zero { at } else { at.other() };
            let reason = match port {
                Some(port) => Reason::Passed(id, port.bond),
                None => Reason::Fixed(id),
            };
            return self.assign(last.bond, stroke, reason);
        }
        if self.supplied[id] == 0 && self.open[id] == 0 && ports.iter().any(|port| counts(graph, *port)) {
            let bonds = ports.iter().filter(|port| counts(graph, **port)).map(|port| port.bond).collect();
            return Err(Conflict { at: id, bonds, wanted: None });
        }
        Ok(())
    }

    /// The way from where a choice was made to the bond: elements, the last one is the far end of the bond.
    fn path(&self, bond: BondId, end: ElementId) -> (Option<Reason>, Vec<ElementId>) {
        let mut path = vec![end];
        let mut current = bond;
        let mut reason = self.reasons[current];
        for _ in 0..self.graph.bonds.len() {
            match reason {
                Some(Reason::Passed(through, before)) => {
                    if path.last() != Some(&through) {
                        path.push(through);
                    }
                    current = before;
                    reason = self.reasons[current];
                }
                Some(
                    Reason::Fixed(start) | Reason::Integral(start) | Reason::Derivative(start) | Reason::Free(start),
                ) => {
                    if path.last() != Some(&start) {
                        path.push(start);
                    }
                    break;
                }
                None => break,
            }
        }
        path.reverse();
        (reason, path)
    }

    fn path_text(&self, path: &[ElementId]) -> String {
        let texts: Vec<String> = path.iter().map(|element| self.graph.element_text(*element)).collect();
        texts.join(" → ")
    }

    fn origin_text(&self, reason: Option<Reason>) -> &'static str {
        match reason {
            Some(Reason::Fixed(element)) => match self.graph.elements[element].kind {
                Kind::EffortSource => "its effort is given",
                Kind::FlowSource => "its flow is given",
                Kind::One | Kind::Zero if self.mode.is_off(element) => "it is off",
                _ => "its causality is fixed",
            },
            Some(Reason::Integral(_)) => "integral causality",
            Some(Reason::Derivative(_)) => "derivative causality",
            _ => "a free choice",
        }
    }

    fn paths(&self, conflict: &Conflict) -> Vec<String> {
        let mut lines = Vec::new();
        for bond in &conflict.bonds {
            let (reason, path) = self.path(*bond, conflict.at);
            lines.push(format!("{} ({})", self.path_text(&path), self.origin_text(reason)));
        }
        if let Some((bond, reason)) = conflict.wanted {
            let (origin, path) = match reason {
                Reason::Passed(through, before) => {
                    let (origin, mut path) = self.path(before, through);
                    let bond = &self.graph.bonds[bond];
                    path.push(if bond.tail == through { bond.head } else { bond.tail });
                    (origin, path)
                }
                Reason::Fixed(at) | Reason::Integral(at) | Reason::Derivative(at) | Reason::Free(at) => {
                    let bond = &self.graph.bonds[bond];
                    (Some(reason), vec![at, if bond.tail == at { bond.head } else { bond.tail }])
                }
            };
            lines.push(format!("{} ({})", self.path_text(&path), self.origin_text(origin)));
        }
        lines
    }

    fn conflict(&self, conflict: &Conflict) -> Diagnostic {
        let element = &self.graph.elements[conflict.at];
        let variable = if element.kind == Kind::Zero { "effort" } else { "flow" };
        let mut starts: Vec<ElementId> =
            conflict.bonds.iter().filter_map(|bond| self.path(*bond, conflict.at).1.first().copied()).collect();
        if let Some((bond, Reason::Fixed(source))) = conflict.wanted
            && let Some(Reason::Passed(junction, _)) = self.reasons[bond]
            && self.graph.elements[junction].kind.is_junction()
        {
            starts.push(source);
            return self.two_sources(conflict, junction, &starts);
        }
        let what = if element.kind.is_junction() && self.supplied[conflict.at] > 1 {
            let names: Vec<String> =
                starts.iter().map(|start| format!("`{}`", self.graph.elements[*start].name)).collect();
            let kind = crate::flatten::described(element.kind);
            format!("{} both set the {variable} of the {kind} `{}`", names.join(" and "), element.name)
        } else if element.kind.is_junction() && conflict.wanted.is_none() {
            let kind = crate::flatten::described(element.kind);
            format!("nothing sets the {variable} of the {kind} `{}`", element.name)
        } else {
            let bond = conflict.wanted.map_or(conflict.bonds[0], |(bond, _)| bond);
            format!("the causality of the bond `{}` contradicts itself", self.graph.bond_text(bond))
        };
        let mut diagnostic = Diagnostic::error("causal-conflict", what).at(element.span, "here");
        for start in &starts {
            if *start != conflict.at {
                diagnostic = diagnostic.at(self.graph.elements[*start].span, self.origin_text(self.reason_at(*start)));
            }
        }
        for line in self.paths(conflict) {
            diagnostic = diagnostic.note(format!("path: {line}"));
        }
        diagnostic.hint(match element.kind {
            Kind::Zero if self.supplied[conflict.at] > 1 => {
                "two efforts cannot hold at one junction: leave one out, or put a 1-junction with a resistor between"
            }
            Kind::One if self.supplied[conflict.at] > 1 => {
                "two flows cannot hold at one junction: leave one out, or put a 0-junction with a resistor between"
            }
            _ => "a resistor or storage between the sources takes up the difference",
        })
    }

    /// A source at a junction whose variable is set already.
    fn two_sources(&self, conflict: &Conflict, junction: ElementId, starts: &[ElementId]) -> Diagnostic {
        let element = &self.graph.elements[junction];
        let zero = element.kind == Kind::Zero;
        let (variable, other) = if zero { ("effort", "1-junction") } else { ("flow", "0-junction") };
        let names: Vec<String> = starts.iter().map(|start| format!("`{}`", self.graph.elements[*start].name)).collect();
        let kind = crate::flatten::described(element.kind);
        let what = format!("{} both set the {variable} of the {kind} `{}`", names.join(" and "), element.name);
        let mut diagnostic = Diagnostic::error("causal-conflict", what).at(element.span, "two at once");
        for start in starts {
            diagnostic = diagnostic.at(self.graph.elements[*start].span, self.origin_text(Some(Reason::Fixed(*start))));
        }
        for line in self.paths(conflict) {
            diagnostic = diagnostic.note(format!("path: {line}"));
        }
        diagnostic.hint(format!("leave one out, or put a {other} with a resistor between"))
    }

    fn reason_at(&self, element: ElementId) -> Option<Reason> {
        self.graph.elements[element].ports.first().and_then(|port| self.reasons[port.bond])
    }

    fn dependence(&self, id: ElementId, index: u32) -> Diagnostic {
        let element = &self.graph.elements[id];
        let port = element.ports[index as usize];
        let (reason, path) = self.path(port.bond, id);
        let state = self.graph.state_name(id, index);
        let capacitor = element.kind == Kind::Capacitor;
        let variable = if capacitor { "effort" } else { "flow" };
        let start = path.first().copied().unwrap_or(id);
        let origin = &self.graph.elements[start].name;
        let (what, hint) = match reason {
            Some(Reason::Fixed(_)) => (
                format!("`{}` has derivative causality: `{origin}` sets its {variable}", element.name),
                format!("`{state}` is no state; what flows there follows the derivative of `{origin}`"),
            ),
            _ if start == id => (
                format!("`{}` has derivative causality", element.name),
                format!("`{state}` is no state: it follows from the others"),
            ),
            _ => (
                format!("`{}` has derivative causality: its {variable} follows from `{origin}`", element.name),
                format!("`{state}` is no state: it follows from that of `{origin}`"),
            ),
        };
        let mut diagnostic =
            Diagnostic::new(Severity::Note, "derivative-causality", what).at(element.span, "dependent storage");
        if start != id {
            diagnostic = diagnostic.at(self.graph.elements[start].span, self.origin_text(reason));
            diagnostic = diagnostic.note(format!("path: {}", self.path_text(&path)));
        }
        if let Some(start) = element.starts.iter().find(|start| start.port == index) {
            diagnostic = diagnostic.at(start.span, "this start value is a guess only");
        }
        for (_, lines) in self.refused.iter().filter(|(refused, _)| *refused == id) {
            for line in lines {
                diagnostic = diagnostic.note(format!("integral causality fails: {line}"));
            }
        }
        diagnostic.note(hint)
    }

    fn correction(&self, id: BondId) -> Diagnostic {
        let bond = &self.graph.bonds[id];
        let given = bond.stroke.unwrap_or(Stroke::Head);
        let at = |stroke| if stroke == Stroke::Head { bond.head } else { bond.tail };
        let name = |element| format!("`{}`", self.graph.elements[element].name);
        let right = if given == Stroke::Head { "|->" } else { "->|" };
        let what = format!("the stroke of `{}` belongs at {}", self.graph.bond_text(id), name(at(given.other())));
        let (reason, path) = self.path(id, at(given.other()));
        Diagnostic::warning("corrected-stroke", what)
            .at(bond.span, format!("set at {}", name(at(given))))
            .note(format!("because: {} ({})", self.path_text(&path), self.origin_text(reason)))
            .hint(format!("write `{right}`, or leave the stroke to the assignment: `->`"))
    }
}

/// The tail of an active bond takes no part in its junction.
fn counts(graph: &Graph, port: Port) -> bool {
    port.head || !graph.bonds[port.bond].active
}

/// The index of an id as a number, for tables over all variables.
pub fn effort_index(bond: BondId) -> usize {
    2 * bond.index()
}

pub fn flow_index(bond: BondId) -> usize {
    2 * bond.index() + 1
}
