//! The equations of connections: equal potentials, sums of flows, stream variables, broken overdetermined records.

use base::{Diagnostic, IdVec, Name, Span};
use dae::{Equation, EquationRole, ExprId, Origin, OriginKind, PathId, VarId, Variability, VariableType};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::ast;

use super::collect::Collected;
use super::overconstrained::{Edge, Graph, Record};
use super::sets::{Face, Sets};
use super::stream::Streams;
use super::{Connection, Connector, Side};
use crate::elaborate::Elaborator;
use crate::flat::{Indices, for_each_index};
use crate::instance::{ClassId, CompId, ComponentType, Frame, Member, Outcome};
use crate::parts::Part;
use crate::variables::is_at_top;

/// Two scalar connectors or elements of connectors that a connect equation joins.
struct Pair {
    left: (CompId, Indices),
    right: (CompId, Indices),
    connection: usize,
}

struct ConnectionEquationBuilder<'m> {
    elaborator: &'m mut Elaborator,
    collected: &'m Collected,
    potentials: Sets,
    flows: Sets,
    streams: Sets,
    stream_sets: Streams,
    /// The connections that first named a variable, from inside and from outside, for the origin of its equations.
    first_connection: IdVec<VarId, [Option<u32>; 2]>,
    constraints: Vec<Pair>,
    cardinality: FxHashMap<(CompId, Indices), i64>,
    overdetermined: FxHashMap<CompId, Option<ClassId>>,
    /// Outputs of components and inputs of the class itself.
    sources: FxHashSet<Face>,
    /// Inputs of components.
    sinks: FxHashSet<Face>,
    /// Elements of expandable connectors.
    in_bus: FxHashSet<VarId>,
    /// Those of them that are public elements of the model as a whole.
    in_top_bus: FxHashSet<VarId>,
    /// Why connections are wrong: different types first, since what else is wrong often follows from them.
    mismatches: Vec<(Mismatch, Box<Diagnostic>, PathId)>,
}

/// Why two variables cannot be connected, the most telling reason first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mismatch {
    Type,
    Flow,
    Variability,
    Direction,
    Constant,
}

impl Mismatch {
    fn text(self) -> &'static str {
        match self {
            Mismatch::Type => "they have different types",
            Mismatch::Flow => "only one is a flow or stream variable",
            Mismatch::Variability => "one varies and the other does not",
            Mismatch::Direction => "only one is an input or output",
            Mismatch::Constant => "only one is a constant",
        }
    }

    /// Whether what the connection means is plain all the same: the two are equal.
    fn is_plain(self) -> bool {
        matches!(self, Mismatch::Variability | Mismatch::Direction | Mismatch::Constant)
    }
}

/// Makes the connection sets, keeps what `inStream`, `isRoot` and `cardinality` need, and adds the equations.
pub fn make(elaborator: &mut Elaborator, collected: &Collected, top: ClassId, parts: &[Part]) {
    let variables = elaborator.flat.model.variables.len();
    let mut builder = ConnectionEquationBuilder {
        elaborator,
        collected,
        potentials: Sets::default(),
        flows: Sets::default(),
        streams: Sets::default(),
        stream_sets: Streams::default(),
        first_connection: IdVec::filled([None; 2], variables),
        constraints: Vec::new(),
        cardinality: FxHashMap::default(),
        overdetermined: FxHashMap::default(),
        sources: FxHashSet::default(),
        sinks: FxHashSet::default(),
        in_bus: FxHashSet::default(),
        in_top_bus: FxHashSet::default(),
        mismatches: Vec::new(),
    };
    builder.add_connector_variables(parts);
    let broken = builder.solve_graph();
    for (number, connection) in collected.connections.iter().enumerate() {
        let (left, right) = (&connection.left, &connection.right);
        for connector in [left, right] {
            *builder.cardinality.entry((connector.component, connector.indices.clone())).or_default() += 1;
        }
        let is_broken = |a: &Record, b: &Record| broken.contains_key(&(number, a.clone(), b.clone()));
        if let Err(diagnostic) = builder.join(left, right, number, &is_broken) {
            builder.report(diagnostic, connection.path);
        }
    }
    builder.report_mismatches();
    builder.finish(top);
}

/// The element numbers `above` and the first element of an array below.
fn first_element(above: &Indices, rank: usize) -> Indices {
    above.iter().copied().chain(std::iter::repeat_n(1, rank)).collect()
}

fn all_indices(sizes: &[usize]) -> Vec<Indices> {
    let mut all = Vec::new();
    for_each_index(sizes, |indices| all.push(Indices::from_slice(indices)));
    all
}

fn extended(above: &Indices, own: &Indices) -> Indices {
    above.iter().chain(own).copied().collect()
}

type BrokenEdges = FxHashMap<(usize, Record, Record), ()>;

impl ConnectionEquationBuilder<'_> {
    fn report(&mut self, mut diagnostic: Box<Diagnostic>, path: PathId) {
        if diagnostic.component.is_none() && path != self.elaborator.flat.model.paths.root() {
            diagnostic.component = Some(self.elaborator.flat.model.paths.text(path));
        }
        self.elaborator.instances.report(diagnostic);
    }

    fn report_mismatches(&mut self) {
        let mut mismatches = std::mem::take(&mut self.mismatches);
        mismatches.sort_by_key(|(mismatch, _, _)| *mismatch);
        for (_, diagnostic, path) in mismatches {
            self.report(diagnostic, path);
        }
    }

    /// Every flow variable is in a set of its own as seen from outside its component; alone it is zero.
    fn add_connector_variables(&mut self, parts: &[Part]) {
        for part in parts {
            let ComponentType::Builtin { .. } = part.ty else { continue };
            match self.elaborator.instances.flow(part.component) {
                ast::Flow::Flow => {
                    if self.connector_above(part.component).is_none() {
                        continue;
                    }
                    let Some(scalars) = self.elaborator.flat.scalars.get(&part.component) else { continue };
                    let is_added = self.elaborator.instances.is_added(part.component);
                    for &variable in scalars.variables.iter().flatten() {
                        self.flows.add(Face { variable, side: Side::Inside });
                        // No equation of a component can name what connections added to its connector.
                        if is_added {
                            self.flows.add(Face { variable, side: Side::Outside });
                        }
                    }
                }
                ast::Flow::Stream => self.add_stream(part),
                ast::Flow::None => {}
            }
        }
    }

    /// The connector that a variable is an element of, perhaps through records.
    fn connector_above(&mut self, component: CompId) -> Option<CompId> {
        let chain = self.elaborator.instances.chain(component);
        let mut is_connector = |id| super::collect::is_connector(self.elaborator, id).unwrap_or(false);
        chain.into_iter().rev().find(|&id| is_connector(id))
    }

    /// Finds the flow variable that carries a stream variable: the one of its connector.
    fn add_stream(&mut self, part: &Part) {
        let connector = self.connector_above(part.component);
        let Some(connector) = connector.filter(|&connector| connector != part.component) else { return };
        let Ok(ComponentType::Class(class)) = self.elaborator.instances.component_type(connector) else { return };
        let flows: Vec<CompId> = self
            .elaborator
            .instances
            .components_of(class)
            .into_iter()
            .filter(|&sibling| self.elaborator.instances.component(sibling).type_prefixes.flow == ast::Flow::Flow)
            .collect();
        let mut is_scalar = |id: CompId| {
            let is_builtin = matches!(self.elaborator.instances.component_type(id), Ok(ComponentType::Builtin { .. }));
            is_builtin && self.elaborator.instances.component(id).dimensions.is_empty()
        };
        let &[flow] = flows.as_slice() else { return self.report_stream(part.component) };
        if !is_scalar(flow) {
            return self.report_stream(part.component);
        }
        let rank_of_connector = self.elaborator.instances.rank_above(class);
        let flat = &self.elaborator.flat;
        let mut found = Vec::new();
        if let Some(scalars) = flat.scalars.get(&part.component) {
            let mut position = 0;
            for_each_index(&part.sizes, |indices| {
                let above = &indices[..rank_of_connector.min(indices.len())];
                if let (Some(Some(stream)), Some(flow)) = (scalars.variables.get(position), flat.variable(flow, above))
                {
                    found.push((*stream, flow));
                }
                position += 1;
            });
        }
        self.stream_sets.flows.extend(found);
    }

    fn report_stream(&mut self, component: CompId) {
        let (path, span) = (self.elaborator.instances.path(component), self.elaborator.instances.span(component));
        let diagnostic =
            Diagnostic::error("stream-without-flow", format!("`{path}` has no single flow variable beside it"))
                .at(span, "a stream variable")
                .hint("a connector with stream variables has exactly one flow variable, a scalar")
                .specification("15.1");
        self.elaborator.instances.report(Box::new(diagnostic));
    }

    /// The connections of overdetermined records to break.
    fn solve_graph(&mut self) -> BrokenEdges {
        let mut edges = Vec::new();
        let mut owners = Vec::new();
        for (number, connection) in self.collected.connections.iter().enumerate() {
            let mut found = Vec::new();
            let (left, right) = (&connection.left, &connection.right);
            self.find_records(
                (left.component, left.indices.clone()),
                (right.component, right.indices.clone()),
                &mut found,
            );
            for edge in found {
                edges.push(edge);
                owners.push(number);
            }
        }
        if edges.is_empty() && self.collected.statements.is_empty() {
            return BrokenEdges::default();
        }
        let Elaborator { instances, .. } = &mut *self.elaborator;
        let mut diagnostics = Vec::new();
        let mut name = |record: &Record| instances.path(record.0);
        let (graph, broken) = Graph::solve(&self.collected.statements, &edges, &mut name, &mut diagnostics);
        for diagnostic in diagnostics {
            self.elaborator.instances.report(Box::new(diagnostic));
        }
        self.elaborator.connected.rooted = graph.rooted();
        self.elaborator.connected.roots = graph.roots;
        edges
            .into_iter()
            .zip(owners)
            .zip(broken)
            .filter(|(_, broken)| *broken)
            .map(|((edge, owner), _)| ((owner, edge.left, edge.right), ()))
            .collect()
    }

    /// The overdetermined records of two connectors, pairwise.
    fn find_records(&mut self, left: Record, right: Record, out: &mut Vec<Edge>) {
        let types =
            (self.elaborator.instances.component_type(left.0), self.elaborator.instances.component_type(right.0));
        if let (Ok(ComponentType::Builtin { .. }), Ok(ComponentType::Builtin { .. })) = types {
            // A connector that is a predefined type itself.
            if self.overdetermined_type(left.0).is_some() && self.takes_elements(left.0) {
                out.push(Edge { left, right });
            }
            return;
        }
        let (Ok(ComponentType::Class(a)), Ok(ComponentType::Class(b))) = types else { return };
        if self.is_overdetermined(a) {
            out.push(Edge { left, right });
            return;
        }
        for component in self.elaborator.instances.components_of(a) {
            let is_class = matches!(self.elaborator.instances.component_type(component), Ok(ComponentType::Class(_)));
            if !is_class && self.overdetermined_type(component).is_none() {
                continue;
            }
            let name = self.elaborator.instances.component(component).name;
            let Some(Member::Component(other)) = self.elaborator.instances.member(b, name) else { continue };
            let sizes = self.elaborator.sizes_at(component, &left.1).unwrap_or_else(|_| Vec::new().into());
            if !is_class {
                // An array of an overdetermined type is one node; it goes by its first element.
                let first = |above: &Indices| first_element(above, sizes.len());
                out.push(Edge { left: (component, first(&left.1)), right: (other, first(&right.1)) });
                continue;
            }
            for indices in all_indices(&sizes) {
                let (left, right) = (extended(&left.1, &indices), extended(&right.1, &indices));
                self.find_records((component, left), (other, right), out);
            }
        }
    }

    fn is_overdetermined(&mut self, class: ClassId) -> bool {
        matches!(self.elaborator.instances.member(class, Name::new("equalityConstraint")), Some(Member::Class(_)))
    }

    /// The class with `equalityConstraint` that a component of a predefined type is declared with.
    fn overdetermined_type(&mut self, component: CompId) -> Option<ClassId> {
        if let Some(&known) = self.overdetermined.get(&component) {
            return known;
        }
        let node = self.elaborator.instances.component(component);
        let (scope, type_name) = (node.type_scope, node.declaration.type_name.clone());
        let class = self.elaborator.instances.lookup_type(scope, &type_name).ok();
        let found = class.filter(|&class| self.is_overdetermined(class));
        self.overdetermined.insert(component, found);
        found
    }

    /// Whether the function of the overdetermined type of a component compares two single values.
    fn takes_elements(&mut self, component: CompId) -> bool {
        let Some(class) = self.overdetermined_type(component) else { return false };
        let instances = &mut self.elaborator.instances;
        let Some(Member::Class(function)) = instances.member(class, Name::new("equalityConstraint")) else {
            return false;
        };
        let Ok(function) = instances.class_of(function) else { return false };
        let inputs = instances.components_of(function).into_iter();
        let mut inputs = inputs.filter(|&id| instances.component(id).type_prefixes.direction == ast::Direction::Input);
        let Some(first) = inputs.next() else { return false };
        instances.dimensions(first).is_ok_and(|dimensions| dimensions.is_empty())
    }

    fn join(
        &mut self,
        left: &Connector,
        right: &Connector,
        connection: usize,
        is_broken: &dyn Fn(&Record, &Record) -> bool,
    ) -> Outcome<()> {
        let a = (left.component, left.indices.clone());
        let b = (right.component, right.indices.clone());
        self.join_elements(a, left.side, b, right.side, connection, is_broken)
    }

    fn join_elements(
        &mut self,
        a: Record,
        side_a: Side,
        b: Record,
        side_b: Side,
        connection: usize,
        is_broken: &dyn Fn(&Record, &Record) -> bool,
    ) -> Outcome<()> {
        let type_a = self.elaborator.instances.component_type(a.0)?;
        let type_b = self.elaborator.instances.component_type(b.0)?;
        match (type_a, type_b) {
            (ComponentType::Class(class_a), ComponentType::Class(class_b)) => {
                if is_broken(&a, &b) {
                    self.constraints.push(Pair { left: a, right: b, connection });
                    return Ok(());
                }
                self.join_classes((a, side_a, class_a), (b, side_b, class_b), connection, is_broken)
            }
            (ComponentType::Builtin { .. }, ComponentType::Builtin { .. }) => {
                if is_broken(&a, &b) {
                    self.constraints.push(Pair { left: a, right: b, connection });
                    return Ok(());
                }
                self.join_variables(a, side_a, b, side_b, connection);
                Ok(())
            }
            (ComponentType::Object(_), ComponentType::Object(_)) => {
                let flat = &self.elaborator.flat;
                if let (Some(left), Some(right)) = (flat.variable(a.0, &a.1), flat.variable(b.0, &b.1)) {
                    let span = self.collected.connections[connection].span;
                    self.elaborator.connected.equal_objects.push((left, right, span));
                }
                Ok(())
            }
            _ => Err(self.incompatible(&a, &b, connection, "one is a connector with elements, the other is not")),
        }
    }

    fn join_classes(
        &mut self,
        (a, side_a, class_a): (Record, Side, ClassId),
        (b, side_b, class_b): (Record, Side, ClassId),
        connection: usize,
        is_broken: &dyn Fn(&Record, &Record) -> bool,
    ) -> Outcome<()> {
        let components = self.elaborator.instances.components_of(class_a);
        let count = components.len();
        for component in components {
            let name = self.elaborator.instances.component(component).name;
            let Some(Member::Component(other)) = self.elaborator.instances.member(class_b, name) else {
                if super::expandable::is_expandable(self.elaborator, class_a) {
                    continue;
                }
                return Err(self.incompatible(&a, &b, connection, &format!("only one has an element `{name}`")));
            };
            let own = self.elaborator.sizes_at(component, &a.1)?;
            let others = self.elaborator.sizes_at(other, &b.1)?;
            if own != others {
                let text = format!("the sizes of `{name}` are {own:?} and {others:?}");
                return Err(self.incompatible(&a, &b, connection, &text));
            }
            let first = |above: &Indices| first_element(above, own.len());
            if is_broken(&(component, first(&a.1)), &(other, first(&b.1))) && !self.is_record(component) {
                // A function of single values says nothing about the array as a whole, but about each element.
                let parts: &[usize] = if self.takes_elements(component) { &own } else { &[] };
                for indices in all_indices(parts) {
                    let (left, right) = ((component, extended(&a.1, &indices)), (other, extended(&b.1, &indices)));
                    self.constraints.push(Pair { left, right, connection });
                }
                continue;
            }
            for indices in all_indices(&own) {
                let (next_a, next_b) = ((component, extended(&a.1, &indices)), (other, extended(&b.1, &indices)));
                self.join_elements(next_a, side_a, next_b, side_b, connection, is_broken)?;
            }
        }
        let others = self.elaborator.instances.components_of(class_b);
        if others.len() != count && !super::expandable::is_expandable(self.elaborator, class_b) {
            for other in others {
                let name = self.elaborator.instances.component(other).name;
                if self.elaborator.instances.member(class_a, name).is_none() {
                    return Err(self.incompatible(&a, &b, connection, &format!("only one has an element `{name}`")));
                }
            }
        }
        Ok(())
    }

    fn incompatible(&self, a: &Record, b: &Record, connection: usize, why: &str) -> Box<Diagnostic> {
        let span = self.collected.connections[connection].span;
        let (left, right) = (self.elaborator.instances.path(a.0), self.elaborator.instances.path(b.0));
        Box::new(
            Diagnostic::error("connect-types", format!("`{left}` and `{right}` cannot be connected: {why}"))
                .at(span, "connected here")
                .at(self.elaborator.instances.span(a.0), "declared here")
                .at(self.elaborator.instances.span(b.0), "and here")
                .specification("9.3"),
        )
    }

    /// Two variables are connected against a rule, and are equal all the same.
    fn report_plain_mismatch(&mut self, a: &Record, b: &Record, connection: usize, why: &str) {
        let (left, right) = (self.elaborator.instances.path(a.0), self.elaborator.instances.path(b.0));
        let diagnostic = Diagnostic::breach("connect-types", format!("`{left}` and `{right}` are connected: {why}"))
            .at(self.collected.connections[connection].span, "connected here")
            .specification("9.3");
        self.elaborator.instances.report(Box::new(diagnostic));
    }

    fn join_variables(&mut self, a: Record, side_a: Side, b: Record, side_b: Side, connection: usize) {
        let flat = &self.elaborator.flat;
        let (Some(left), Some(right)) = (flat.variable(a.0, &a.1), flat.variable(b.0, &b.1)) else { return };
        if let Some(why) = self.mismatch(a.0, b.0, left, right) {
            if !why.is_plain() {
                let diagnostic = self.incompatible(&a, &b, connection, why.text());
                let path = self.collected.connections[connection].path;
                return self.mismatches.push((why, diagnostic, path));
            }
            self.report_plain_mismatch(&a, &b, connection, why.text());
        }
        for (variable, side) in [(left, side_a), (right, side_b)] {
            self.first_connection[variable][side as usize].get_or_insert(connection as u32);
        }
        let variables = &self.elaborator.flat.model.variables;
        let is_fixed = |variable: VarId| variables[variable].variability <= Variability::Parameter;
        if is_fixed(left) && is_fixed(right) {
            self.elaborator.connected.equal_parameters.push((left, right, self.collected.connections[connection].span));
            return;
        }
        let (x, y) = (Face { variable: left, side: side_a }, Face { variable: right, side: side_b });
        for (face, component) in [(x, a.0), (y, b.0)] {
            let parent = self.elaborator.instances.component(component).parent;
            if super::expandable::is_expandable(self.elaborator, parent) {
                self.in_bus.insert(face.variable);
                let chain = self.elaborator.instances.chain(component);
                let is_protected = self.elaborator.flat.model.variables[face.variable].protected;
                if !is_protected && is_at_top(self.elaborator, &chain) {
                    self.in_top_bus.insert(face.variable);
                }
                continue;
            }
            let direction = self.elaborator.instances.direction(component);
            let is_source = match face.side {
                Side::Inside => direction == ast::Direction::Output,
                Side::Outside => {
                    direction == ast::Direction::Input && !self.elaborator.flat.model.variables[face.variable].protected
                }
            };
            if is_source {
                self.sources.insert(face);
            } else if face.side == Side::Inside && direction == ast::Direction::Input {
                self.sinks.insert(face);
            }
        }
        match self.elaborator.instances.flow(a.0) {
            ast::Flow::None => self.potentials.connect(x, y),
            ast::Flow::Flow => self.flows.connect(x, y),
            ast::Flow::Stream => self.streams.connect(x, y),
        }
    }

    /// Why two variables cannot be connected (9.3).
    fn mismatch(&mut self, a: CompId, b: CompId, left: VarId, right: VarId) -> Option<Mismatch> {
        let instances = &self.elaborator.instances;
        if instances.flow(a) != instances.flow(b) {
            return Some(Mismatch::Flow);
        }
        let (directed, other) = (instances.direction(a), instances.direction(b));
        let model = &self.elaborator.flat.model;
        let (one, two) = (&model.variables[left], &model.variables[right]);
        let same = match (one.ty, two.ty) {
            (VariableType::Enumeration(a), VariableType::Enumeration(b)) => {
                let literals = |number: u32| model.enumerations.get(number as usize).map(|known| &known.literals);
                literals(a) == literals(b)
            }
            (a, b) => a == b,
        };
        if !same {
            return Some(Mismatch::Type);
        }
        let fixed = |variability| variability <= Variability::Parameter;
        if fixed(one.variability) != fixed(two.variability) {
            return Some(Mismatch::Variability);
        }
        if fixed(one.variability) && one.variability != two.variability {
            return Some(Mismatch::Constant);
        }
        let in_expandable = |this: &mut Self, id: CompId| {
            let parent = this.elaborator.instances.component(id).parent;
            super::expandable::is_expandable(this.elaborator, parent)
        };
        if (directed == ast::Direction::None) != (other == ast::Direction::None)
            && !fixed(one.variability)
            && !in_expandable(self, a)
            && !in_expandable(self, b)
        {
            return Some(Mismatch::Direction);
        }
        None
    }

    /// A set of signals has one source (9.3).
    fn check_sources(&mut self, set: &[Face]) {
        let mut sources = set.iter().filter(|face| self.sources.contains(face));
        let (Some(first), Some(second)) = (sources.next(), sources.next()) else { return };
        let model = &self.elaborator.flat.model;
        let names = (model.variable_name(first.variable), model.variable_name(second.variable));
        let connection = self.connection_of(second.variable);
        // The equation of the connection holds all the same; whether it is one too many, the structure says.
        let mut diagnostic = Diagnostic::breach(
            "two-sources",
            format!("the signals `{}` and `{}` are both sources and are connected", names.0, names.1),
        )
        .specification("9.3");
        if let Some(connection) = connection {
            diagnostic = diagnostic.at(connection.span, "connected here");
        }
        self.elaborator.instances.report(Box::new(diagnostic));
    }

    /// Outputs of states that exclude each other are one source (17.3.6): that of the active state, or the last value.
    fn merge_outputs_of_states(&mut self, set: &[Face]) -> bool {
        let (sources, others): (Vec<Face>, Vec<Face>) = set.iter().partition(|face| self.sources.contains(face));
        if sources.len() < 2 || self.elaborator.machines.is_empty() {
            return false;
        }
        let (machines, model) = (&self.elaborator.machines, &mut self.elaborator.flat.model);
        let states: Option<Vec<usize>> =
            sources.iter().map(|face| machines.state_of(&model.paths, model.variables[face.variable].path)).collect();
        let Some(states) = states else { return false };
        let exclude = |(number, &a): (usize, &usize)| states[..number].iter().all(|&b| machines.are_exclusive(a, b));
        if !states.iter().enumerate().all(exclude) {
            return false;
        }
        // Where nothing else is connected, nobody asks.
        let Some(first) = others.first() else { return true };
        let mut value = model.exprs.previous(first.variable);
        for (face, &state) in sources.iter().zip(&states).rev() {
            let (active, output) = (model.exprs.var(machines.states[state].active), model.exprs.var(face.variable));
            value = model.exprs.if_(active, output, value);
        }
        let left = model.exprs.var(first.variable);
        self.push(left, value, first.variable, OriginKind::Potential);
        self.equate(&others);
        true
    }

    /// A signal that only leads into inputs must come from somewhere: an element of an expandable connector that is read
    /// is written by another connection, perhaps on another level of the hierarchy (9.1.3).
    fn check_bus_signals(&mut self, sets: &[Vec<Face>]) {
        let mut signals = Sets::default();
        for set in sets.iter().filter(|set| set.iter().any(|face| self.in_bus.contains(&face.variable))) {
            // Seen from both sides a variable is one and the same signal.
            for face in set {
                let other = Face { variable: face.variable, side: Side::Inside };
                signals.connect(*face, other);
                signals.connect(set[0], *face);
            }
        }
        for signal in signals.all() {
            self.check_bus_signal(&signal);
        }
    }

    fn check_bus_signal(&mut self, signal: &[Face]) {
        let is_bus = |face: &&Face| self.in_bus.contains(&face.variable);
        let is_read = |face: &Face| self.sinks.contains(&Face { side: Side::Inside, ..*face });
        if signal.iter().any(|face| self.sources.contains(face))
            || !signal.iter().filter(|face| !is_bus(face)).all(is_read)
        {
            return;
        }
        let (Some(element), Some(reader)) = (signal.iter().find(is_bus), signal.iter().find(|face| is_read(face)))
        else {
            return;
        };
        let at_top = signal.iter().find(|face| self.in_top_bus.contains(&face.variable));
        let model = &self.elaborator.flat.model;
        let (name, reader_name) = (model.variable_name(element.variable), model.variable_name(reader.variable));
        let text = format!("nothing writes the signal `{name}` of an expandable connector");
        // A public connector of the model as a whole is written from outside.
        let mut diagnostic = match at_top {
            Some(_) => Diagnostic::breach("no-source", format!("{text}: it is an input of the model")),
            None => Diagnostic::error("no-source", text),
        };
        diagnostic = diagnostic.hint("connect an output to it").specification("9.1.3");
        if let Some(&Face { variable, .. }) = at_top {
            self.elaborator.flat.model.variables[variable].causality = dae::Causality::Input;
        }
        if let Some(connection) = self.connection_of(reader.variable) {
            diagnostic = diagnostic.at(connection.span, format!("`{reader_name}` reads it"));
        }
        self.elaborator.instances.report(Box::new(diagnostic));
    }

    fn finish(mut self, top: ClassId) {
        let potentials = self.potentials.all();
        self.check_bus_signals(&potentials);
        for set in potentials {
            if !self.merge_outputs_of_states(&set) {
                self.check_sources(&set);
                self.equate(&set);
            }
        }
        for set in self.flows.all() {
            self.sum(&set);
        }
        for set in self.streams.all() {
            self.stream_sets.add_set(set);
        }
        let streams = std::mem::take(&mut self.stream_sets);
        for (variable, value) in streams.outside_equations(&mut self.elaborator.flat.model) {
            let left = self.elaborator.flat.model.exprs.var(variable);
            self.push(left, value, variable, OriginKind::Stream);
        }
        let mut variables: Vec<VarId> = streams.flows.keys().copied().collect();
        variables.sort();
        for variable in variables {
            let inflow = streams.in_stream(&mut self.elaborator.flat.model, variable);
            self.elaborator.connected.in_stream.insert(variable, inflow);
        }
        self.elaborator.connected.flow_of_stream = streams.flows;
        self.elaborator.connected.cardinality = std::mem::take(&mut self.cardinality);
        for pair in std::mem::take(&mut self.constraints) {
            if let Err(diagnostic) = self.constrain(top, &pair) {
                let path = self.collected.connections[pair.connection].path;
                self.report(diagnostic, path);
            }
        }
    }

    /// The first connect equation that names a connector with this variable.
    fn connection_of(&self, variable: VarId) -> Option<&Connection> {
        let number = self.first_connection.get(variable)?.iter().flatten().min()?;
        self.collected.connections.get(*number as usize)
    }

    /// The first connect equation that names a connector with this variable on this side.
    fn connection_at(&self, face: Face) -> Option<&Connection> {
        let number = self.first_connection.get(face.variable)?[face.side as usize]?;
        self.collected.connections.get(number as usize)
    }

    fn origin(&self, variable: VarId, kind: OriginKind) -> Origin {
        self.origin_in(self.connection_of(variable), variable, kind)
    }

    fn origin_in(&self, connection: Option<&Connection>, variable: VarId, kind: OriginKind) -> Origin {
        let model = &self.elaborator.flat.model;
        match connection {
            Some(connection) => Origin { component: connection.path, span: Some(connection.span), kind },
            None => {
                let path = model.variables[variable].path;
                let component = model.paths.parent(path).unwrap_or(path);
                Origin { component, span: model.variables[variable].span, kind }
            }
        }
    }

    fn push(&mut self, left: ExprId, right: ExprId, variable: VarId, kind: OriginKind) {
        let origin = self.origin(variable, kind);
        self.elaborator.flat.model.equations.push(Equation { left, right, role: EquationRole::Plain, origin });
    }

    /// Potentials: all equal the first.
    fn equate(&mut self, set: &[Face]) {
        let mut faces: Vec<Face> = set.to_vec();
        faces.dedup_by_key(|face| face.variable);
        let Some((&first, rest)) = faces.split_first() else { return };
        for &other in rest {
            let left = self.elaborator.flat.model.exprs.var(first.variable);
            let right = self.elaborator.flat.model.exprs.var(other.variable);
            // A connector may be connected on both sides; the set belongs to one of them.
            let connection = self.connection_at(other).or_else(|| self.connection_of(other.variable));
            let origin = self.origin_in(connection, other.variable, OriginKind::Potential);
            self.elaborator.flat.model.equations.push(Equation { left, right, role: EquationRole::Plain, origin });
        }
    }

    /// Flows: the sum over the set is zero, inside ones counted positive.
    fn sum(&mut self, set: &[Face]) {
        let Some(first) = set.first() else { return };
        let exprs = &mut self.elaborator.flat.model.exprs;
        let zero = exprs.real(0.0);
        let mut sum = zero;
        for face in set {
            let term = exprs.var(face.variable);
            sum = match face.side {
                Side::Inside => exprs.add(sum, term),
                Side::Outside => exprs.sub(sum, term),
            };
        }
        self.push(sum, zero, first.variable, OriginKind::FlowSum);
    }

    /// A broken connection of overdetermined records: `equalityConstraint(a, b) = zeros(n)`.
    fn constrain(&mut self, top: ClassId, pair: &Pair) -> Outcome<()> {
        let connection = &self.collected.connections[pair.connection];
        let span = connection.span;
        let mut left = self.reference(&pair.left, span);
        let mut right = self.reference(&pair.right, span);
        let is_record = self.is_record(pair.left.0);
        let name = ast::Ident { name: Name::new("equalityConstraint"), span };
        let mut function = match self.overdetermined_type(pair.left.0) {
            Some(class) if !is_record => self.class_reference(class, span),
            _ => left.clone(),
        };
        function.parts.push(ast::RefPart { ident: name, subscripts: Vec::new() });
        let size = self.constraint_size(top, &function)?;
        if size == 0 && !is_record && !self.takes_elements(pair.left.0) {
            // The array of a predefined type as a whole, which goes by its first element.
            let ends = [&mut left, &mut right].into_iter().filter_map(|end| end.parts.last_mut());
            ends.for_each(|part| part.subscripts.clear());
        }
        let argument = |reference| ast::FunctionArgument::Expr(ast::Expr { kind: ast::ExprKind::Ref(reference), span });
        let arguments =
            ast::Arguments { positional: vec![argument(left), argument(right)], ..ast::Arguments::default() };
        let call = ast::Expr { kind: ast::ExprKind::Call { function, arguments }, span };
        // What has no result counts by the assertions of the function.
        let kind = if size == 0 {
            ast::EquationKind::Call(call)
        } else {
            let zeros = ast::Expr { kind: ast::ExprKind::Integer(0), span };
            ast::EquationKind::Equal(call, ast::Expr { kind: ast::ExprKind::Array(vec![zeros; size]), span })
        };
        let equation = ast::Equation { kind, description: None, annotation: None, span };
        let frame = Frame { class: top, indices: Indices::new() };
        self.elaborator.instances.ignore_protection = true;
        self.elaborator.expand_generated(&frame, equation, connection.path);
        self.elaborator.instances.ignore_protection = false;
        Ok(())
    }

    /// The size of the result of an `equalityConstraint` function.
    fn constraint_size(&mut self, top: ClassId, function: &ast::ComponentRef) -> Outcome<usize> {
        self.elaborator.instances.ignore_protection = true;
        let found = self.elaborator.instances.lookup_reference(top, function);
        self.elaborator.instances.ignore_protection = false;
        let crate::lookup::Resolved::Class(class) = found? else { return Ok(0) };
        for component in self.elaborator.instances.components_of(class) {
            if self.elaborator.instances.component(component).type_prefixes.direction == ast::Direction::Output {
                let sizes = self.elaborator.sizes(component)?;
                return Ok(sizes.iter().product());
            }
        }
        Ok(0)
    }

    fn is_record(&mut self, component: CompId) -> bool {
        matches!(self.elaborator.instances.component_type(component), Ok(ComponentType::Class(_)))
    }

    /// The full name of a class as a reference.
    fn class_reference(&self, class: ClassId, span: Span) -> ast::ComponentRef {
        let name = self.elaborator.instances.class_name(class);
        let parts = name
            .as_str()
            .split('.')
            .map(|part| ast::RefPart { ident: ast::Ident { name: Name::new(part), span }, subscripts: Vec::new() });
        ast::ComponentRef { global: true, parts: parts.collect(), span }
    }

    /// The reference from the top of the model.
    fn reference(&self, (component, indices): &Record, span: Span) -> ast::ComponentRef {
        let instances = &self.elaborator.instances;
        let mut rest: &[u32] = indices;
        let mut parts = Vec::new();
        for id in instances.chain(*component) {
            let node = instances.component(id);
            let (own, others) = rest.split_at(node.dimensions.len().min(rest.len()));
            rest = others;
            let subscripts = own
                .iter()
                .map(|&number| {
                    let expr = ast::Expr { kind: ast::ExprKind::Integer(i64::from(number)), span };
                    ast::Subscript::Expr(std::sync::Arc::new(expr))
                })
                .collect();
            parts.push(ast::RefPart { ident: ast::Ident { name: node.name, span }, subscripts });
        }
        ast::ComponentRef { global: false, parts, span }
    }
}
