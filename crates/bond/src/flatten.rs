//! Tree → graph: instances of subgraphs are dissolved, bonds joined at their ports, names resolved, structure checked.

use base::{Diagnostic, Id, IdVec, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::Expr;
use crate::graph::*;
use crate::kind::Kind;
use crate::near::did_you_mean;
use crate::scale::Scale;
use crate::syntax::tree::{self, Arrow, Definition, ElementValue, Reference, Statement, Tree, Value, Word};

/// Larger graphs are refused: nested subgraphs multiply.
const LARGEST: usize = 1_000_000;
const DEEPEST: usize = 50;

impl Graph {
    /// The graph of a tree; none where an error was found.
    pub fn new(tree: &Tree) -> (Option<Graph>, Vec<Diagnostic>) {
        let mut builder = Builder::new(tree);
        builder.scope(&tree.graph, String::new(), tree.graph.name.span, &[]);
        builder.join_ports();
        builder.attach_bonds();
        if !builder.failed() {
            builder.expressions();
        }
        let failed = builder.failed();
        let mut graph = builder.graph;
        let mut diagnostics = builder.diagnostics;
        if !failed {
            crate::domains::check(&mut graph, &mut diagnostics);
        }
        let usable = !failed && !diagnostics.iter().any(Diagnostic::is_error);
        (usable.then_some(graph), diagnostics)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entity {
    Parameter(ParameterId),
    Input(InputId),
    Signal(SignalId),
    Element(ElementId),
    Instance(usize),
    Port(usize),
    Bond(usize),
}

/// A definition at one place of the hierarchy.
struct Scope<'a> {
    prefix: String,
    names: FxHashMap<&'a str, (Entity, Span)>,
    definition: &'a Definition,
    parent: Option<usize>,
}

/// The end of a bond before ports are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Element(ElementId, Option<u32>),
    Port(usize, Side),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Inner,
    Outer,
}

struct RawBond {
    tail: End,
    head: End,
    active: bool,
    stroke: Option<Stroke>,
    name: Option<String>,
    span: Span,
    /// The bond it became part of.
    joined: Option<usize>,
    places: Vec<Span>,
}

struct PortOfScope {
    name: String,
    declared: Span,
    instance: Span,
    inner: Vec<usize>,
    outer: Vec<usize>,
}

/// An expression that waits until all names are known.
struct Pending<'a> {
    scope: usize,
    target: Target,
    value: &'a Value,
}

#[derive(Clone, Copy)]
enum Target {
    Parameter(ParameterId, Scale),
    Input(InputId, Scale),
    Signal(SignalId),
    Scalar(ElementId, Scale),
    Condition(ElementId),
}

struct Builder<'a> {
    tree: &'a Tree,
    graph: Graph,
    diagnostics: Vec<Diagnostic>,
    scopes: Vec<Scope<'a>>,
    bonds: Vec<RawBond>,
    ports: Vec<PortOfScope>,
    pending: Vec<Pending<'a>>,
    /// Elements with their declarations, for laws, matrices and start values.
    declarations: Vec<(ElementId, usize, &'a tree::Element)>,
    outputs: Vec<(usize, &'a tree::Output)>,
    field_ports: IdVec<ElementId, u32>,
    bond_ids: Vec<Option<BondId>>,
    open: Vec<&'a str>,
    /// Units in which arguments of subgraphs are.
    scales: FxHashMap<ParameterId, Scale>,
    /// Names whose declarations failed; that they are missing needs no message.
    lost: FxHashSet<&'a str>,
    missing: bool,
}

impl<'a> Builder<'a> {
    fn new(tree: &'a Tree) -> Self {
        let graph = Graph {
            name: tree.graph.name.text.clone(),
            description: tree.graph.description.clone(),
            elements: IdVec::new(),
            bonds: IdVec::new(),
            parameters: IdVec::new(),
            inputs: IdVec::new(),
            signals: IdVec::new(),
            outputs: Vec::new(),
            experiment: Vec::new(),
            instances: Vec::new(),
            omitted: Vec::new(),
        };
        let mut builder = Self {
            tree,
            graph,
            diagnostics: Vec::new(),
            scopes: Vec::new(),
            bonds: Vec::new(),
            ports: Vec::new(),
            pending: Vec::new(),
            declarations: Vec::new(),
            outputs: Vec::new(),
            field_ports: IdVec::new(),
            bond_ids: Vec::new(),
            open: Vec::new(),
            scales: FxHashMap::default(),
            lost: tree.lost.iter().map(String::as_str).collect(),
            missing: false,
        };
        builder.check_definitions();
        builder
    }

    fn failed(&self) -> bool {
        self.missing || self.diagnostics.iter().any(Diagnostic::is_error)
    }

    fn check_definitions(&mut self) {
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        for subgraph in &self.tree.subgraphs {
            let name = &subgraph.name;
            if let Some(first) = seen.insert(&name.text, name.span) {
                let what = format!("the subgraph `{}` is defined twice", name.text);
                let diagnostic = Diagnostic::error("duplicate-name", what);
                self.diagnostics.push(diagnostic.at(name.span, "again").at(first, "first"));
            }
        }
    }

    /// Declares everything of a definition; returns its scope.
    fn scope(
        &mut self,
        definition: &'a Definition,
        prefix: String,
        instance: Span,
        arguments: &'a [(Word, Value)],
    ) -> usize {
        let index = self.scopes.len();
        self.scopes.push(Scope { prefix, names: FxHashMap::default(), definition, parent: None });
        self.open.push(&definition.name.text);
        for parameter in &definition.parameters {
            self.parameter(index, parameter);
        }
        let mut raw_bonds = Vec::new();
        for statement in &definition.statements {
            if self.graph.elements.len() > LARGEST {
                break;
            }
            match statement {
                Statement::Parameter(parameter) => self.parameter(index, parameter),
                Statement::Input(input) => self.input(index, input),
                Statement::Signal(signal) => self.signal(index, signal),
                Statement::Element(element) => self.element(index, element),
                Statement::Instance(inner) => self.instance(index, inner),
                Statement::Ports(ports) => ports.iter().for_each(|port| self.port(index, port, instance)),
                Statement::Bonds(bonds) => raw_bonds.extend(bonds),
                Statement::Outputs(outputs) => self.outputs.extend(outputs.iter().map(|output| (index, output))),
                Statement::Experiment(settings) => self.experiment(settings),
            }
        }
        for bond in raw_bonds {
            self.bond(index, bond);
        }
        self.arguments(index, arguments);
        self.open.pop();
        index
    }

    fn full_name(&self, scope: usize, name: &str) -> String {
        format!("{}{name}", self.scopes[scope].prefix)
    }

    fn declare(&mut self, scope: usize, name: &'a Word, entity: Entity) {
        if name.text == "time" {
            let diagnostic = Diagnostic::error("reserved-name", "`time` is the time of the simulation");
            self.diagnostics.push(diagnostic.at(name.span, "give it another name"));
            return;
        }
        if let Some((_, first)) = self.scopes[scope].names.get(name.text.as_str()).copied() {
            let what = format!("`{}` is declared twice", name.text);
            self.diagnostics.push(Diagnostic::error("duplicate-name", what).at(name.span, "again").at(first, "first"));
            return;
        }
        self.scopes[scope].names.insert(&name.text, (entity, name.span));
    }

    /// The unit as the Modelica model has it and what takes values there: values are kept in SI units.
    fn unit(&mut self, unit: &Option<Word>) -> (Option<String>, Scale) {
        let Some(word) = unit else { return (None, Scale::NONE) };
        match word.text.parse::<units::Unit>() {
            Ok(unit) if unit.factor == 1.0 && unit.offset == 0.0 => (Some(word.text.clone()), Scale::NONE),
            Ok(unit) => (Some(crate::domains::unit_text(unit.dimension)), Scale::of(unit)),
            Err(error) => {
                let mut diagnostic =
                    Diagnostic::warning("unknown-unit", format!("`{}` is no unit: {error}", word.text))
                        .at(word.span, "taken as no unit");
                if let Some(near) = units::suggestion(&word.text) {
                    diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
                }
                self.diagnostics.push(diagnostic);
                (None, Scale::NONE)
            }
        }
    }

    fn parameter(&mut self, scope: usize, parameter: &'a tree::Parameter) {
        let name = self.full_name(scope, &parameter.name.text);
        let (unit, scale) = self.unit(&parameter.unit);
        let id = self.graph.parameters.push(Parameter {
            name,
            value: None,
            unit,
            description: parameter.description.clone(),
            element: None,
            span: parameter.name.span,
        });
        self.declare(scope, &parameter.name, Entity::Parameter(id));
        self.scales.insert(id, scale);
        if let Some(value) = &parameter.value {
            self.pending.push(Pending { scope, target: Target::Parameter(id, scale), value });
        }
    }

    fn input(&mut self, scope: usize, input: &'a tree::Parameter) {
        let name = self.full_name(scope, &input.name.text);
        let (unit, scale) = self.unit(&input.unit);
        let id = self.graph.inputs.push(Input { name, source: None, value: None, unit, span: input.name.span });
        self.declare(scope, &input.name, Entity::Input(id));
        if let Some(value) = &input.value {
            self.pending.push(Pending { scope, target: Target::Input(id, scale), value });
        }
    }

    fn signal(&mut self, scope: usize, signal: &'a tree::Parameter) {
        let name = self.full_name(scope, &signal.name.text);
        let (unit, _) = self.unit(&signal.unit);
        let id = self.graph.signals.push(Signal { name, value: Expr::number(0.0), unit, span: signal.name.span });
        self.declare(scope, &signal.name, Entity::Signal(id));
        match &signal.value {
            Some(value) => self.pending.push(Pending { scope, target: Target::Signal(id), value }),
            None => {
                let what = format!("the signal `{}` has no value", signal.name.text);
                let diagnostic = Diagnostic::error("no-value", what).at(signal.name.span, "");
                self.diagnostics.push(diagnostic.hint("a signal from outside is an `input`"));
            }
        }
    }

    fn element(&mut self, scope: usize, element: &'a tree::Element) {
        let Some(kind) = Kind::named(&element.kind.text) else { return };
        let modulated = element.kind.text.starts_with('M');
        let name = self.full_name(scope, &element.name.text);
        let (unit, scale) = self.unit(&element.unit);
        let id = self.graph.elements.next_id();
        let scalar = match &element.value {
            Some(ElementValue::Scalar(value)) => Some(value),
            _ => None,
        };
        let mut made = Element {
            name: name.clone(),
            kind,
            modulated,
            law: Law::None,
            input: None,
            condition: None,
            starts: Vec::new(),
            ports: Vec::new(),
            unit: unit.clone(),
            description: element.description.clone(),
            span: element.span,
        };
        let has_parameter = !modulated
            && (kind.is_passive() || kind.is_two_port())
            && element.laws.is_empty()
            && !matches!(element.value, Some(ElementValue::Matrix(..)));
        if has_parameter {
            let parameter = self.graph.parameters.push(Parameter {
                name: name.clone(),
                value: None,
                unit,
                description: String::new(),
                element: Some(id),
                span: element.span,
            });
            made.law = Law::Scalar(Expr::Leaf(Leaf::Parameter(parameter)));
            if let Some(value) = scalar {
                self.pending.push(Pending { scope, target: Target::Parameter(parameter, scale), value });
            }
        } else if kind.is_source() && !modulated {
            // Zero degrees Celsius are not zero.
            let is_zero = !scale.has_offset() && scalar.is_some_and(|value| value.expression.is_number(0.0));
            if is_zero {
                made.law = Law::Scalar(Expr::number(0.0));
            } else {
                let input = Input { name, source: Some(id), value: None, unit, span: element.span };
                let input = self.graph.inputs.push(input);
                made.input = Some(input);
                made.law = Law::Scalar(Expr::Leaf(Leaf::Input(input)));
                if let Some(value) = scalar {
                    self.pending.push(Pending { scope, target: Target::Input(input, scale), value });
                }
            }
        } else if let Some(value) = scalar {
            self.pending.push(Pending { scope, target: Target::Scalar(id, scale), value });
        } else if modulated && element.laws.is_empty() && element.value.is_none() {
            let what = format!("the modulated element `{}` has no value", element.name.text);
            let diagnostic = Diagnostic::error("no-value", what).at(element.span, "");
            self.diagnostics.push(diagnostic.hint("give the signal that modulates it: `MSe F = -k*v.f`"));
        }
        if let Some(condition) = &element.condition {
            self.pending.push(Pending { scope, target: Target::Condition(id), value: condition });
        }
        self.graph.elements.push(made);
        self.field_ports.push(element.ports.map_or(1, |(ports, _)| ports));
        self.declare(scope, &element.name, Entity::Element(id));
        self.declarations.push((id, scope, element));
        self.check_declaration(kind, element);
    }

    fn check_declaration(&mut self, kind: Kind, element: &'a tree::Element) {
        let refuse = |what: String, span: Span| Diagnostic::error("wrong-declaration", what).at(span, "");
        if kind.is_junction() || kind.is_sensor() {
            if let Some(ElementValue::Scalar(value)) = &element.value {
                self.diagnostics.push(refuse(format!("a {} has no value", described(kind)), value.span));
            }
        } else if let Some(condition) = &element.condition {
            let diagnostic = refuse("only junctions are switched".to_owned(), condition.span);
            self.diagnostics.push(diagnostic.hint("put a junction with `on when …` before the element"));
        }
        if let Some((_, span)) = element.ports
            && !kind.is_passive()
        {
            let what = format!("a {} is no field: it has no numbered ports", described(kind));
            self.diagnostics.push(refuse(what, span));
        }
        if let Some(law) = element.laws.first()
            && !kind.is_passive()
        {
            let what = format!("a {} has no law of its own", described(kind));
            self.diagnostics.push(refuse(what, law.variable.span));
        }
        if let Some(start) = element.starts.first()
            && !kind.is_storage()
        {
            let what = format!("a {} stores nothing, so it has no start value", described(kind));
            self.diagnostics.push(refuse(what, start.variable.span));
        }
    }

    fn instance(&mut self, scope: usize, instance: &'a tree::Instance) {
        let definition = &instance.definition;
        let Some(found) = self.tree.subgraphs.iter().find(|subgraph| subgraph.name.text == definition.text) else {
            let what = format!("there is no kind of element or subgraph `{}`", definition.text);
            let mut diagnostic = Diagnostic::error("unknown-kind", what).at(definition.span, "not known");
            let mut known: Vec<&str> = Kind::names().collect();
            known.extend(self.tree.subgraphs.iter().map(|subgraph| subgraph.name.text.as_str()));
            if let Some(near) = did_you_mean(&definition.text, known) {
                diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
            }
            self.diagnostics.push(diagnostic);
            self.lost.insert(&instance.name.text);
            return;
        };
        if self.open.contains(&definition.text.as_str()) && scope_is_inside(&self.open, &definition.text)
            || self.open.len() > DEEPEST
        {
            let what = format!("the subgraph `{}` contains itself", definition.text);
            self.lost.insert(&instance.name.text);
            let diagnostic = Diagnostic::error("recursive-subgraph", what).at(definition.span, "inside of itself");
            self.diagnostics.push(diagnostic);
            return;
        }
        if self.graph.elements.len() > LARGEST {
            return;
        }
        let name = self.full_name(scope, &instance.name.text);
        self.graph.instances.push((name.clone(), definition.text.clone()));
        // Declared before its inside, so that a second use of the name is reported there.
        let index = self.scopes.len();
        self.declare(scope, &instance.name, Entity::Instance(index));
        let made = self.scope(found, format!("{name}."), instance.name.span, &instance.arguments);
        self.scopes[made].parent = Some(scope);
        if self.graph.elements.len() > LARGEST {
            let diagnostic = Diagnostic::error("too-large", format!("the graph has more than {LARGEST} elements"));
            self.diagnostics.push(diagnostic.at(instance.name.span, "inside of this instance"));
        }
    }

    /// The arguments of an instance replace the values of its parameters; they are read in the scope outside.
    fn arguments(&mut self, inside: usize, arguments: &'a [(Word, Value)]) {
        for (name, value) in arguments {
            let definition = self.scopes[inside].definition;
            let Some((Entity::Parameter(id), _)) = self.scopes[inside].names.get(name.text.as_str()).copied() else {
                let what = format!("the subgraph `{}` has no parameter `{}`", definition.name.text, name.text);
                let mut diagnostic = Diagnostic::error("unknown-parameter", what).at(name.span, "not known");
                let names = definition.parameters.iter().map(|parameter| parameter.name.text.as_str());
                if let Some(near) = did_you_mean(&name.text, names) {
                    diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
                }
                self.diagnostics.push(diagnostic.at(definition.name.span, "its definition"));
                continue;
            };
            let is_same = |pending: &Pending| matches!(pending.target, Target::Parameter(other, _) if other == id);
            let scale = self.scales.get(&id).copied().unwrap_or(Scale::NONE);
            self.pending.retain(|pending| !is_same(pending));
            self.pending.push(Pending { scope: usize::MAX - inside, target: Target::Parameter(id, scale), value });
        }
    }

    fn port(&mut self, scope: usize, port: &'a Word, instance: Span) {
        if self.scopes[scope].prefix.is_empty() {
            let diagnostic = Diagnostic::error("port-outside", "only subgraphs have ports");
            let diagnostic = diagnostic.at(port.span, "a port of the whole graph leads nowhere");
            self.diagnostics
                .push(diagnostic.hint("signals from outside are `input`, a bond to the outside is a source"));
            return;
        }
        let name = self.full_name(scope, &port.text);
        self.declare(scope, port, Entity::Port(self.ports.len()));
        let (inner, outer) = (Vec::new(), Vec::new());
        self.ports.push(PortOfScope { name, declared: port.span, instance, inner, outer });
    }

    fn experiment(&mut self, settings: &[(Word, Value)]) {
        const SETTINGS: [&str; 4] = ["StartTime", "StopTime", "Interval", "Tolerance"];
        for (name, value) in settings {
            let number = value.expression.evaluate(&|_| f64::NAN);
            if !SETTINGS.contains(&name.text.as_str()) {
                let what = format!("an experiment has no `{}`", name.text);
                let mut diagnostic = Diagnostic::error("unknown-setting", what).at(name.span, "not known");
                diagnostic = match did_you_mean(&name.text, SETTINGS) {
                    Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
                    None => diagnostic.hint(format!("it has {}", SETTINGS.join(", "))),
                };
                self.diagnostics.push(diagnostic);
            } else if number.is_nan() {
                let diagnostic = Diagnostic::error("no-number", format!("`{}` is a number", name.text));
                self.diagnostics.push(diagnostic.at(value.span, "this is none"));
            } else {
                self.graph.experiment.push((name.text.clone(), number));
            }
        }
    }

    fn bond(&mut self, scope: usize, bond: &'a tree::Bond) {
        let tail = self.bond_end(scope, &bond.tail);
        let head = self.bond_end(scope, &bond.head);
        let (Some(tail), Some(head)) = (tail, head) else { return };
        let index = self.bonds.len();
        for end in [tail, head] {
            if let End::Port(port, side) = end {
                match side {
                    Side::Inner => self.ports[port].inner.push(index),
                    Side::Outer => self.ports[port].outer.push(index),
                }
            }
        }
        let stroke = match bond.arrow {
            Arrow::StrokeAtHead => Some(Stroke::Head),
            Arrow::StrokeAtTail => Some(Stroke::Tail),
            Arrow::Plain | Arrow::Active => None,
        };
        if let (End::Element(one, _), End::Element(other, _)) = (tail, head)
            && one == other
        {
            let what = format!("`{}` is bonded to itself", bond.tail.text);
            self.diagnostics.push(Diagnostic::error("bond-to-itself", what).at(bond.span, ""));
            return;
        }
        let name = bond.name.as_ref().map(|name| self.full_name(scope, &name.text));
        if let Some(name) = &bond.name {
            self.declare(scope, name, Entity::Bond(index));
        }
        let active = bond.arrow == Arrow::Active;
        let places = vec![bond.span];
        self.bonds.push(RawBond { tail, head, active, stroke, name, span: bond.span, joined: None, places });
    }

    fn bond_end(&mut self, scope: usize, reference: &Reference) -> Option<End> {
        let (path, port) = split_port(&reference.text);
        let mut current = scope;
        let mut segments = path.split('.').peekable();
        while let Some(segment) = segments.next() {
            let Some((entity, declared)) = self.scopes[current].names.get(segment).copied() else {
                self.unknown(current, segment, reference.span);
                return None;
            };
            match entity {
                Entity::Instance(inner) if segments.peek().is_some() => current = inner,
                Entity::Element(element) if segments.peek().is_none() => {
                    if let Some(port) = port
                        && self.graph.elements[element].kind.is_passive()
                        && port > self.field_ports[element]
                    {
                        let what = format!("`{path}` has {} ports", self.field_ports[element]);
                        let diagnostic = Diagnostic::error("no-such-port", what);
                        self.diagnostics
                            .push(diagnostic.at(reference.span, "not among them").at(declared, "declared here"));
                        return None;
                    }
                    if current != scope {
                        let what = format!("`{}` is inside of a subgraph", reference.text);
                        let diagnostic =
                            Diagnostic::error("inside-of-subgraph", what).at(reference.span, "not at a port");
                        self.diagnostics.push(diagnostic.hint("give the subgraph a port and bond that"));
                        return None;
                    }
                    return Some(End::Element(element, port));
                }
                Entity::Port(port) if segments.peek().is_none() => {
                    return Some(End::Port(port, if current == scope { Side::Inner } else { Side::Outer }));
                }
                Entity::Instance(inner) => {
                    let ports: Vec<&str> = self.scopes[inner]
                        .names
                        .iter()
                        .filter(|(_, (entity, _))| matches!(entity, Entity::Port(_)))
                        .map(|(name, _)| *name)
                        .collect();
                    let mut ports: Vec<String> = ports.iter().map(|port| format!("`{path}.{port}`")).collect();
                    ports.sort();
                    let what = format!("`{path}` is a subgraph: a bond ends at one of its ports");
                    let diagnostic = Diagnostic::error("no-port", what).at(reference.span, "which port?");
                    let hint = if ports.is_empty() {
                        "it has none".to_owned()
                    } else {
                        format!("one of {}", ports.join(", "))
                    };
                    self.diagnostics.push(diagnostic.hint(hint));
                    return None;
                }
                _ => {
                    let what = format!("`{}` is no element: a bond cannot end there", reference.text);
                    let diagnostic = Diagnostic::error("no-element", what).at(reference.span, "");
                    self.diagnostics.push(diagnostic.at(declared, "declared here"));
                    return None;
                }
            }
        }
        None
    }

    fn unknown(&mut self, scope: usize, name: &str, span: Span) {
        // Its declaration was not understood, or the same place is asked for once more.
        let reported =
            |known: &Diagnostic| known.code == "unknown-name" && known.labels.iter().any(|at| at.span == span);
        if self.lost.contains(name) || self.diagnostics.iter().any(reported) {
            self.missing = true;
            return;
        }
        let mut diagnostic =
            Diagnostic::error("unknown-name", format!("there is no `{name}`")).at(span, "not declared");
        let mut names: Vec<&str> = self.scopes[scope].names.keys().copied().collect();
        names.sort_unstable();
        if let Some(near) = did_you_mean(name, names) {
            diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
        }
        let prefix = self.scopes[scope].prefix.trim_end_matches('.').to_owned();
        self.diagnostics.push(diagnostic.in_component(prefix));
    }

    /// The bond inside and the bond outside of a port are one bond.
    fn join_ports(&mut self) {
        for index in 0..self.ports.len() {
            let port = &self.ports[index];
            let (inner, outer) = (port.inner.clone(), port.outer.clone());
            let refuse = |what: &str, code| Diagnostic::error(code, format!("the port `{}` {what}", port.name));
            let problem = if let [_, second, ..] = *inner {
                Some(refuse("has several bonds inside", "port-bonds").at(self.bonds[second].span, "a second one"))
            } else if let [_, second, ..] = *outer {
                Some(refuse("has several bonds", "port-bonds").at(self.bonds[second].span, "a second one"))
            } else if inner.is_empty() {
                Some(refuse("leads nowhere inside of its subgraph", "dangling-port").at(port.declared, "no bond"))
            } else if outer.is_empty() {
                let diagnostic = refuse("is not bonded", "dangling-port").at(port.instance, "of this instance");
                Some(diagnostic.at(port.declared, "the port"))
            } else {
                None
            };
            if let Some(problem) = problem {
                let hint = if problem.code == "port-bonds" {
                    "put a junction there"
                } else {
                    "bond it, or leave the port out"
                };
                self.diagnostics.push(problem.hint(hint));
                continue;
            }
            self.join(index, outer[0], inner[0]);
        }
    }

    fn join(&mut self, port: usize, outer: usize, inner: usize) {
        let (outer, inner) = (self.root(outer), self.root(inner));
        let into = |bond: &RawBond, side| bond.head == End::Port(port, side);
        let enters = into(&self.bonds[outer], Side::Outer);
        let goes_on = !into(&self.bonds[inner], Side::Inner);
        if enters != goes_on {
            let what = format!("the bonds at the port `{}` point against each other", self.ports[port].name);
            self.diagnostics.push(
                Diagnostic::error("power-direction", what)
                    .at(self.bonds[outer].span, "outside")
                    .at(self.bonds[inner].span, "inside")
                    .hint("power goes through a port one way: turn one of the arrows"),
            );
            return;
        }
        if outer == inner {
            return;
        }
        let (inner_stroke, inner_name, inner_active, inner_span) = {
            let bond = &self.bonds[inner];
            (bond.stroke, bond.name.clone(), bond.active, bond.span)
        };
        let far = if enters { self.bonds[inner].head } else { self.bonds[inner].tail };
        self.bonds[inner].joined = Some(outer);
        let bond = &mut self.bonds[outer];
        if enters {
            bond.head = far;
        } else {
            bond.tail = far;
        }
        bond.stroke = bond.stroke.or(inner_stroke);
        bond.name = bond.name.take().or(inner_name);
        bond.active |= inner_active;
        bond.places.push(inner_span);
    }

    fn root(&self, mut bond: usize) -> usize {
        while let Some(next) = self.bonds[bond].joined {
            bond = next;
        }
        bond
    }

    fn attach_bonds(&mut self) {
        self.bond_ids = vec![None; self.bonds.len()];
        let mut ends: IdVec<ElementId, Vec<(Option<u32>, Port)>> = IdVec::filled(Vec::new(), self.graph.elements.len());
        for index in 0..self.bonds.len() {
            let bond = &self.bonds[index];
            let (End::Element(tail, tail_port), End::Element(head, head_port)) = (bond.tail, bond.head) else {
                continue;
            };
            if bond.joined.is_some() {
                continue;
            }
            let (name, active, stroke, span) = (bond.name.clone(), bond.active, bond.stroke, bond.span);
            if tail == head {
                let what = format!("`{}` is bonded to itself", self.graph.elements[tail].name);
                self.diagnostics.push(Diagnostic::error("bond-to-itself", what).at(span, ""));
                continue;
            }
            if active && !self.graph.elements[tail].kind.is_junction() {
                let what = "an active bond carries the signal of a junction";
                let diagnostic = Diagnostic::error("active-bond", what).at(span, "begins at no junction");
                self.diagnostics.push(diagnostic.hint("begin it at the 0-junction (effort) or 1-junction (flow)"));
                continue;
            }
            let id = self.graph.bonds.push(Bond { name, tail, head, active, stroke, units: [None, None], span });
            self.bond_ids[index] = Some(id);
            ends[tail].push((tail_port, Port { bond: id, head: false }));
            ends[head].push((head_port, Port { bond: id, head: true }));
        }
        if self.failed() {
            return;
        }
        for element in self.graph.elements.ids() {
            let ports = std::mem::take(&mut ends[element]);
            self.attach(element, ports);
        }
    }

    fn attach(&mut self, id: ElementId, ends: Vec<(Option<u32>, Port)>) {
        let element = &self.graph.elements[id];
        let (kind, span, name) = (element.kind, element.span, element.name.clone());
        let bond_span = |port: &Port| self.graph.bonds[port.bond].span;
        let mut ports: Vec<Port> = ends.iter().map(|(_, port)| *port).collect();
        let problem = |what: String| Diagnostic::error("wrong-bonds", what).at(span, "declared here");
        let described = described(kind);
        if kind.is_junction() {
            if ports.is_empty() {
                let what = format!("the {described} `{name}` has no bonds");
                self.diagnostics.push(Diagnostic::warning("lone-junction", what).at(span, ""));
            }
        } else if kind.is_two_port() {
            let entering = ports.iter().filter(|port| port.head).count();
            if ports.len() != 2 {
                let what = format!("the {described} `{name}` has {} instead of two", bonds_text(ports.len()));
                let hint = "power comes in by one bond and leaves by the other: `a -> ".to_owned() + &name + " -> b`";
                let mut diagnostic = problem(what).hint(hint);
                if let Some(third) = ports.get(2) {
                    diagnostic = diagnostic.at(bond_span(third), "one too many");
                }
                self.diagnostics.push(diagnostic);
            } else if entering != 1 {
                let both = if entering == 2 { "both bring power in" } else { "both take power out" };
                self.diagnostics.push(
                    Diagnostic::error("power-direction", format!("the bonds of the {described} `{name}`: {both}"))
                        .at(bond_span(&ports[0]), "")
                        .at(bond_span(&ports[1]), "")
                        .hint(format!("power goes through it: `a -> {name} -> b`")),
                );
            } else if !ports[0].head {
                ports.swap(0, 1);
            }
        } else {
            let wanted = self.field_ports[id] as usize;
            let mut slots: Vec<Option<Port>> = vec![None; wanted];
            let mut superfluous = None;
            for (number, port) in &ends {
                let slot = match number {
                    Some(number) => slots.get_mut(*number as usize - 1),
                    None => slots.iter_mut().find(|slot| slot.is_none()),
                };
                match slot {
                    Some(slot) if slot.is_none() => *slot = Some(*port),
                    _ => superfluous = Some(*port),
                }
            }
            let missing = slots.iter().position(Option::is_none);
            if let Some(port) = superfluous {
                let what = if wanted == 1 {
                    format!("the {described} `{name}` has {} instead of one", bonds_text(ends.len()))
                } else {
                    format!("a port of `{name}` has two bonds")
                };
                let diagnostic = Diagnostic::error("wrong-bonds", what).at(bond_span(&port), "one too many");
                self.diagnostics.push(diagnostic.at(span, "declared here").hint("a junction joins several bonds"));
            } else if let Some(missing) = missing {
                let what = if wanted == 1 {
                    format!("the {described} `{name}` has no bond")
                } else {
                    format!("port {} of the {described} field `{name}` has no bond", missing + 1)
                };
                self.diagnostics.push(problem(what).hint(format!("bond it to a junction: `v -> {name}`")));
            }
            ports = slots.into_iter().flatten().collect();
            let outward = ports.iter().find(|port| !port.head).filter(|_| kind.is_passive());
            if let Some(port) = outward {
                let what = format!("the bond of `{name}` points away from it");
                self.diagnostics.push(
                    Diagnostic::warning("power-direction", what)
                        .at(bond_span(port), "power flows into it all the same")
                        .hint(format!("`{name}.f` counts what flows in; turn the arrow to say so")),
                );
            }
        }
        if ports.iter().any(|port| self.graph.bonds[port.bond].active && port.head) && kind.is_source() {
            let what = format!("an active bond ends at the source `{name}`");
            let diagnostic = Diagnostic::error("active-bond", what).at(span, "takes no signal");
            self.diagnostics.push(diagnostic.hint("use a modulated source and name the signal: `MSe F = k*v.f`"));
        }
        self.graph.elements[id].ports = ports;
    }

    fn expressions(&mut self) {
        let mut scaled = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            let scope = self.scope_of(pending.scope);
            let expression = self.resolve(scope, None, &pending.value.expression);
            match pending.target {
                Target::Parameter(id, scale) => {
                    self.no_signals(id, &expression, pending.value.span);
                    self.graph.parameters[id].value = Some(expression);
                    scaled.push((pending.target, scale, pending.value.span));
                }
                Target::Input(id, scale) => {
                    self.only_time(id, &expression, pending.value.span);
                    self.graph.inputs[id].value = Some(expression);
                    scaled.push((pending.target, scale, pending.value.span));
                }
                Target::Signal(id) => self.graph.signals[id].value = expression,
                Target::Scalar(id, scale) => {
                    self.graph.elements[id].law = Law::Scalar(expression);
                    scaled.push((pending.target, scale, pending.value.span));
                }
                Target::Condition(id) => {
                    self.condition(&expression, pending.value.span);
                    self.graph.elements[id].condition = Some(expression);
                }
            }
        }
        for (id, scope, declaration) in std::mem::take(&mut self.declarations) {
            self.laws(id, scope, declaration);
        }
        self.parameter_cycles();
        if !self.failed() {
            self.convert(&scaled);
        }
        for (scope, output) in std::mem::take(&mut self.outputs) {
            let value = self.resolve(scope, None, &output.value.expression);
            let name = match (&output.name, &output.value.expression) {
                (Some(name), _) => name.text.clone(),
                (None, Expr::Leaf(reference)) => reference.text.clone(),
                (None, _) => self.graph.print(&value),
            };
            let name = self.full_name(scope, &name);
            self.graph.outputs.push(Output { name, value, span: output.value.span });
        }
    }

    /// Values in other units become values in SI units. What names stand for is in SI units already.
    fn convert(&mut self, scaled: &[(Target, Scale, Span)]) {
        let mut converted = Vec::new();
        for (target, scale, span) in scaled.iter().filter(|(_, scale, _)| !scale.is_none()) {
            let value = match *target {
                Target::Parameter(id, _) => self.graph.parameters[id].value.as_ref(),
                Target::Input(id, _) => self.graph.inputs[id].value.as_ref(),
                Target::Scalar(id, _) => match &self.graph.elements[id].law {
                    Law::Scalar(value) => Some(value),
                    _ => None,
                },
                Target::Signal(_) | Target::Condition(_) => None,
            };
            match value.map(|value| scale.converted(&self.graph, value)) {
                Some(Ok(value)) => converted.push((*target, value)),
                Some(Err(diagnostic)) => self.diagnostics.push(diagnostic.at(*span, "names and numbers are mixed")),
                None => {}
            }
        }
        for (target, value) in converted {
            match target {
                Target::Parameter(id, _) => self.graph.parameters[id].value = Some(value),
                Target::Input(id, _) => self.graph.inputs[id].value = Some(value),
                Target::Scalar(id, _) => self.graph.elements[id].law = Law::Scalar(value),
                Target::Signal(_) | Target::Condition(_) => {}
            }
        }
    }

    /// Arguments are read where the instance is.
    fn scope_of(&self, scope: usize) -> usize {
        if scope < self.scopes.len() {
            return scope;
        }
        self.scopes[usize::MAX - scope].parent.unwrap_or(0)
    }

    fn condition(&mut self, expression: &Expression, span: Span) {
        let is_condition = matches!(expression, Expr::Boolean(_) | Expr::Not(_))
            || matches!(expression, Expr::Binary(operator, ..) if operator.is_condition());
        if !is_condition {
            let diagnostic = Diagnostic::error("no-condition", "a junction is on when a condition holds");
            self.diagnostics.push(diagnostic.at(span, "no condition").hint("compare: `on when v.f > 0`"));
        }
    }

    fn no_signals(&mut self, id: ParameterId, expression: &Expression, span: Span) {
        if !expression.any_leaf(|leaf| leaf.is_signal()) {
            return;
        }
        let parameter = &self.graph.parameters[id];
        let diagnostic = match parameter.element {
            Some(element) => {
                let kind = self.graph.elements[element].kind.symbol();
                Diagnostic::error("not-modulated", format!("the value of `{}` changes with a signal", parameter.name))
                    .hint(format!("a modulated element says so: `M{kind} {} = …`", parameter.name))
            }
            None => {
                Diagnostic::error("not-constant", format!("the parameter `{}` changes with a signal", parameter.name))
                    .hint("what changes is a `signal`")
            }
        };
        self.diagnostics.push(diagnostic.at(span, "not constant"));
    }

    fn only_time(&mut self, id: InputId, expression: &Expression, span: Span) {
        if !expression.any_leaf(|leaf| leaf.is_signal() && *leaf != Leaf::Time) {
            return;
        }
        let input = &self.graph.inputs[id];
        let name = &input.name;
        let diagnostic = match input.source {
            Some(source) => {
                let kind = self.graph.elements[source].kind.symbol();
                Diagnostic::error("not-modulated", format!("the value of `{name}` changes with a signal"))
                    .hint(format!("a controlled source says so: `M{kind} {name} = …`"))
            }
            None => Diagnostic::error("not-constant", format!("the input `{name}` changes with a signal"))
                .hint("what follows from others is a `signal`"),
        };
        self.diagnostics.push(diagnostic.at(span, "depends on the graph"));
    }

    fn laws(&mut self, id: ElementId, scope: usize, declaration: &'a tree::Element) {
        let ports = self.graph.elements[id].ports.len();
        if let Some(ElementValue::Matrix(rows, span)) = &declaration.value {
            if rows.len() != ports || rows.iter().any(|row| row.len() != ports) {
                let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
                let what = format!(
                    "`{}` has {ports} ports, its matrix {} rows and {columns} columns",
                    declaration.name.text,
                    rows.len()
                );
                self.diagnostics.push(Diagnostic::error("wrong-size", what).at(*span, "as many as ports"));
                return;
            }
            let mut matrix = rows
                .iter()
                .map(|row| row.iter().map(|value| self.resolve(scope, None, &value.expression)).collect::<Vec<_>>())
                .collect::<Vec<_>>();
            // A unit that is none was reported where the element was declared.
            let unit = declaration.unit.as_ref().and_then(|word| word.text.parse::<units::Unit>().ok());
            if let Some(scale) = unit.map(Scale::of).filter(|scale| !scale.is_none()) {
                for entry in matrix.iter_mut().flatten() {
                    match scale.converted(&self.graph, entry) {
                        Ok(value) => *entry = value,
                        Err(diagnostic) => {
                            self.diagnostics.push(diagnostic.at(*span, "names and numbers are mixed"));
                            return;
                        }
                    }
                }
            }
            if !declaration.kind.text.starts_with('M')
                && matrix.iter().flatten().any(|entry| entry.any_leaf(|leaf| leaf.is_signal()))
            {
                let what = format!("the matrix of `{}` changes with a signal", declaration.name.text);
                let hint = format!(
                    "a modulated field says so: `M{} {}[{ports}] = …`",
                    declaration.kind.text, declaration.name.text
                );
                self.diagnostics.push(Diagnostic::error("not-modulated", what).at(*span, "not constant").hint(hint));
            }
            self.graph.elements[id].law = Law::Matrix(matrix);
        } else if declaration.ports.is_some() && declaration.laws.is_empty() {
            let what = format!("the field `{}` has no law", declaration.name.text);
            let hint = "give a matrix, `= [a, b; c, d]`, or an equation for each port, `: e[1] = …, e[2] = …`";
            self.diagnostics.push(Diagnostic::error("no-law", what).at(declaration.span, "").hint(hint));
        }
        let mut equations: Vec<LawEquation> = Vec::new();
        for law in &declaration.laws {
            let Some((variable, port)) = self.law_variable(id, &law.variable, true) else { continue };
            if let Some(first) = equations.iter().find(|equation| equation.port == port) {
                let what = format!("port {} of `{}` has two laws", port + 1, declaration.name.text);
                let diagnostic = Diagnostic::error("duplicate-law", what).at(law.variable.span, "again");
                self.diagnostics.push(diagnostic.at(first.span, "first"));
                continue;
            }
            let left = self.port_variable(id, variable, port);
            let right = self.resolve(scope, Some(id), &law.value.expression);
            equations.push(LawEquation { left, variable, port, right, span: law.variable.span.to(law.value.span) });
        }
        if !declaration.laws.is_empty() && !self.failed() {
            if let Some(port) = (0..ports as u32).find(|port| !equations.iter().any(|law| law.port == *port)) {
                let what = format!("port {} of `{}` has no law", port + 1, declaration.name.text);
                self.diagnostics.push(Diagnostic::error("no-law", what).at(declaration.span, ""));
            }
            equations.sort_by_key(|law| law.port);
            self.graph.elements[id].law = Law::Equations(equations);
        }
        for start in &declaration.starts {
            let Some((variable, port)) = self.law_variable(id, &start.variable, false) else { continue };
            let value = self.resolve(scope, None, &start.value.expression);
            let span = start.variable.span.to(start.value.span);
            self.graph.elements[id].starts.push(Start { port, variable, value, span });
        }
    }

    /// `e[2]` on the left of a law or start value.
    fn law_variable(&mut self, id: ElementId, reference: &Reference, law: bool) -> Option<(Variable, u32)> {
        let element = &self.graph.elements[id];
        let (name, port) = split_port(&reference.text);
        let allowed: &[(&str, Variable)] = match (element.kind, law) {
            (Kind::Resistor, _) => &[("e", Variable::Effort), ("f", Variable::Flow)],
            (Kind::Capacitor, _) => &[("e", Variable::Effort), ("q", Variable::State)],
            (_, _) => &[("f", Variable::Flow), ("p", Variable::State)],
        };
        let found = allowed.iter().find(|(known, _)| *known == name).map(|(_, variable)| *variable);
        let port = port.unwrap_or(1);
        let Some(variable) = found else {
            let names: Vec<String> = allowed.iter().map(|(name, _)| format!("`{name}`")).collect();
            let which = if law { "a law" } else { "a start value" };
            let what = format!("{which} of a {} gives {}, not `{name}`", described(element.kind), names.join(" or "));
            self.diagnostics.push(Diagnostic::error("wrong-variable", what).at(reference.span, ""));
            return None;
        };
        if port as usize > element.ports.len() {
            let what = format!("`{}` has {} ports", element.name, element.ports.len());
            self.diagnostics.push(Diagnostic::error("no-such-port", what).at(reference.span, "not among them"));
            return None;
        }
        Some((variable, port - 1))
    }

    fn port_variable(&self, id: ElementId, variable: Variable, port: u32) -> Expression {
        match variable {
            Variable::Effort => self.graph.effort(id, port as usize),
            Variable::Flow => self.graph.flow(id, port as usize),
            Variable::State => Expr::Leaf(Leaf::State(id, port)),
        }
    }

    /// Names → what they mean. `own`: the element whose law it is, whose variables are `e`, `f`, `q`, `p`.
    fn resolve(&mut self, scope: usize, own: Option<ElementId>, expression: &tree::Expression) -> Expression {
        expression.replace(&mut |reference| self.reference(scope, own, reference).unwrap_or_else(|| Expr::number(0.0)))
    }

    fn reference(&mut self, scope: usize, own: Option<ElementId>, reference: &Reference) -> Option<Expression> {
        if reference.text == "time" {
            return Some(Expr::Leaf(Leaf::Time));
        }
        if let Some(id) = own {
            let (name, port) = split_port(&reference.text);
            let element = &self.graph.elements[id];
            let variable = match name {
                "e" => Some(Variable::Effort),
                "f" => Some(Variable::Flow),
                _ if name == element.kind.state() && element.kind.is_storage() => Some(Variable::State),
                _ => None,
            };
            if let Some(variable) = variable {
                let port = port.unwrap_or(1);
                if port as usize <= element.ports.len() {
                    return Some(self.port_variable(id, variable, port - 1));
                }
            }
        }
        let segments: Vec<&str> = reference.text.split('.').collect();
        let mut current = scope;
        for (index, segment) in segments.iter().enumerate() {
            let (name, port) = split_port(segment);
            let Some((entity, _)) = self.scopes[current].names.get(name).copied() else {
                self.unknown(current, name, reference.span);
                return None;
            };
            let rest = &segments[index + 1..];
            match entity {
                Entity::Instance(inner) if !rest.is_empty() => current = inner,
                Entity::Parameter(id) if rest.is_empty() => return Some(Expr::Leaf(Leaf::Parameter(id))),
                Entity::Input(id) if rest.is_empty() => return Some(Expr::Leaf(Leaf::Input(id))),
                Entity::Signal(id) if rest.is_empty() => return Some(Expr::Leaf(Leaf::Signal(id))),
                Entity::Element(id) => return self.element_variable(id, port, rest, reference),
                Entity::Bond(bond) => return self.named_bond_variable(bond, rest, reference),
                _ => {
                    let what = format!("`{}` is no variable", reference.text);
                    self.diagnostics.push(Diagnostic::error("no-variable", what).at(reference.span, ""));
                    return None;
                }
            }
        }
        None
    }

    fn named_bond_variable(&mut self, bond: usize, rest: &[&str], reference: &Reference) -> Option<Expression> {
        let id = self.bond_ids[self.root(bond)]?;
        match rest {
            ["e"] => Some(Expr::Leaf(Leaf::Effort(id))),
            ["f"] => Some(Expr::Leaf(Leaf::Flow(id))),
            _ => {
                let what = format!("`{}` is no variable of a bond", reference.text);
                let diagnostic = Diagnostic::error("no-variable", what).at(reference.span, "");
                self.diagnostics.push(diagnostic.hint("a bond has the effort `.e` and the flow `.f`"));
                None
            }
        }
    }

    fn element_variable(
        &mut self,
        id: ElementId,
        port: Option<u32>,
        rest: &[&str],
        reference: &Reference,
    ) -> Option<Expression> {
        let element = &self.graph.elements[id];
        let kind = element.kind;
        let index = port.unwrap_or(1) as usize - 1;
        let one_port = element.ports.len() == 1 || port.is_some();
        let exists = index < element.ports.len();
        let found = match rest {
            [] => match (&element.law, element.input) {
                (_, Some(input)) => Some(Expr::Leaf(Leaf::Input(input))),
                (Law::Scalar(value @ Expr::Leaf(Leaf::Parameter(_))), _) => Some(value.clone()),
                _ => None,
            },
            [name] if exists && kind.is_junction() => match (*name, kind) {
                ("e", Kind::Zero) => Some(self.graph.effort(id, 0)),
                ("f", Kind::One) => Some(self.graph.flow(id, 0)),
                _ => None,
            },
            ["e"] if exists && one_port => Some(self.graph.effort(id, index)),
            ["f"] if exists && one_port => Some(self.graph.flow(id, index)),
            [name] if exists && one_port && kind.is_storage() && *name == kind.state() => {
                Some(Expr::Leaf(Leaf::State(id, index as u32)))
            }
            [name] if *name == kind.parameter() => match &element.law {
                Law::Scalar(value @ Expr::Leaf(Leaf::Parameter(_))) => Some(value.clone()),
                _ => None,
            },
            _ => None,
        };
        if found.is_none() {
            let name = &element.name;
            let what = format!("the {} `{name}` has no variable `{}`", described(kind), rest.join("."));
            let what = if rest.is_empty() { format!("`{name}` alone is no variable") } else { what };
            let hint = match kind {
                Kind::One => format!("a 1-junction has one flow, `{name}.f`; efforts belong to its bonds"),
                Kind::Zero => format!("a 0-junction has one effort, `{name}.e`; flows belong to its bonds"),
                _ if element.ports.len() > 1 => format!("name the port: `{name}[1].e`"),
                Kind::Capacitor => format!("it has `{name}.e`, `{name}.f` and `{name}.q`"),
                Kind::Inertia => format!("it has `{name}.e`, `{name}.f` and `{name}.p`"),
                _ => format!("it has `{name}.e` and `{name}.f`"),
            };
            self.diagnostics.push(Diagnostic::error("no-variable", what).at(reference.span, "").hint(hint));
        }
        found
    }

    fn parameter_cycles(&mut self) {
        // 0: not seen, 1: on the way, 2: done.
        let mut state = vec![0u8; self.graph.parameters.len()];
        for start in self.graph.parameters.ids() {
            let mut stack = vec![(start, false)];
            while let Some((id, leave)) = stack.pop() {
                if leave {
                    state[id.index()] = 2;
                    continue;
                }
                if state[id.index()] != 0 {
                    continue;
                }
                state[id.index()] = 1;
                stack.push((id, true));
                let Some(value) = &self.graph.parameters[id].value else { continue };
                let mut cycle = false;
                value.leaves(&mut |leaf| {
                    if let Leaf::Parameter(other) = leaf {
                        cycle |= state[other.index()] == 1;
                        stack.push((*other, false));
                    }
                });
                if cycle {
                    let what = format!("the value of `{}` depends on itself", self.graph.parameters[id].name);
                    let diagnostic = Diagnostic::error("parameter-cycle", what);
                    self.diagnostics.push(diagnostic.at(self.graph.parameters[id].span, ""));
                    return;
                }
            }
        }
    }
}

/// `field[2]` → `field`, 2.
fn split_port(text: &str) -> (&str, Option<u32>) {
    match text.strip_suffix(']').and_then(|text| text.rsplit_once('[')) {
        Some((name, port)) => (name, port.parse().ok()),
        None => (text, None),
    }
}

/// The name of the whole graph may be the name of a subgraph.
fn scope_is_inside(open: &[&str], name: &str) -> bool {
    open.iter().skip(1).any(|other| *other == name)
}

fn bonds_text(count: usize) -> String {
    match count {
        0 => "no bond".to_owned(),
        1 => "one bond".to_owned(),
        2 => "two bonds".to_owned(),
        _ => format!("{count} bonds"),
    }
}

pub fn described(kind: Kind) -> &'static str {
    match kind {
        Kind::Zero => "0-junction",
        Kind::One => "1-junction",
        Kind::EffortSource => "source of effort",
        Kind::FlowSource => "source of flow",
        Kind::Resistor => "resistor",
        Kind::Capacitor => "capacitor",
        Kind::Inertia => "inertia",
        Kind::Transformer => "transformer",
        Kind::Gyrator => "gyrator",
        Kind::EffortSensor => "sensor of effort",
        Kind::FlowSensor => "sensor of flow",
        Kind::Component => "component",
    }
}
