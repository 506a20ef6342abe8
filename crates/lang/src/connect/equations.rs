//! The equations of connections: equal potentials, sums of flows, stream variables, broken overdetermined records.

use base::{Diagnostic, Name, Span};
use dae::{Equation, EquationRole, ExprId, Origin, OriginKind, PathId, VarId};
use rustc_hash::FxHashMap;
use syntax::ast;

use super::collect::Collected;
use super::overconstrained::{Edge, Graph, Record};
use super::sets::{Face, Sets};
use super::stream::Streams;
use super::{Connector, Side};
use crate::elaborate::Elaborator;
use crate::flat::{Indices, for_each_index};
use crate::instance::{ClassId, CompId, ComponentType, Frame, Member, Outcome};
use crate::parts::Part;

/// Two scalar connectors or elements of connectors that a connect equation joins.
struct Pair {
    left: (CompId, Indices),
    right: (CompId, Indices),
    connection: usize,
}

struct Maker<'m> {
    elaborator: &'m mut Elaborator,
    collected: &'m Collected,
    potentials: Sets,
    flows: Sets,
    streams: Sets,
    stream_sets: Streams,
    /// The connection that first named a variable, for the origin of its equations.
    first_connection: FxHashMap<VarId, usize>,
    constraints: Vec<Pair>,
    cardinality: FxHashMap<(CompId, Indices), i64>,
}

/// Makes the connection sets, keeps what `inStream`, `isRoot` and `cardinality` need, and adds the equations.
pub fn make(elaborator: &mut Elaborator, collected: &Collected, top: ClassId, parts: &[Part]) {
    let mut maker = Maker {
        elaborator,
        collected,
        potentials: Sets::default(),
        flows: Sets::default(),
        streams: Sets::default(),
        stream_sets: Streams::default(),
        first_connection: FxHashMap::default(),
        constraints: Vec::new(),
        cardinality: FxHashMap::default(),
    };
    maker.add_connector_variables(parts);
    let broken = maker.solve_graph();
    for (number, connection) in collected.connections.iter().enumerate() {
        let (left, right) = (&connection.left, &connection.right);
        for connector in [left, right] {
            *maker.cardinality.entry((connector.component, connector.indices.clone())).or_default() += 1;
        }
        let is_broken = |a: &Record, b: &Record| broken.contains_key(&(number, a.clone(), b.clone()));
        if let Err(diagnostic) = maker.join(left, right, number, &is_broken) {
            maker.report(diagnostic, connection.path);
        }
    }
    maker.finish(top);
}

type BrokenEdges = FxHashMap<(usize, Record, Record), ()>;

impl Maker<'_> {
    fn report(&mut self, mut diagnostic: Box<Diagnostic>, path: PathId) {
        if diagnostic.component.is_none() && path != self.elaborator.flat.model.paths.root() {
            diagnostic.component = Some(self.elaborator.flat.model.paths.text(path));
        }
        self.elaborator.instances.report(diagnostic);
    }

    /// Every flow variable is in a set of its own as seen from outside its component; alone it is zero.
    fn add_connector_variables(&mut self, parts: &[Part]) {
        for part in parts {
            let ComponentType::Builtin { .. } = part.ty else { continue };
            match self.elaborator.instances.flow(part.component) {
                ast::Flow::Flow => {
                    let Some(scalars) = self.elaborator.flat.scalars.get(&part.component) else { continue };
                    for &variable in scalars.variables.iter().flatten() {
                        self.flows.add(Face { variable, side: Side::Inside });
                    }
                }
                ast::Flow::Stream => self.add_stream(part),
                ast::Flow::None => {}
            }
        }
    }

    /// Finds the flow variable next to a stream variable.
    fn add_stream(&mut self, part: &Part) {
        let parent = self.elaborator.instances.component(part.component).parent;
        let flow = self
            .elaborator
            .instances
            .components_of(parent)
            .into_iter()
            .find(|&sibling| self.elaborator.instances.component(sibling).type_prefixes.flow == ast::Flow::Flow);
        let Some(flow) = flow else {
            let path = self.elaborator.instances.path(part.component);
            let span = self.elaborator.instances.span(part.component);
            let diagnostic =
                Diagnostic::error("stream-without-flow", format!("`{path}` has no flow variable beside it"))
                    .at(span, "a stream variable")
                    .hint("a connector with stream variables has exactly one flow variable")
                    .specification("15.1");
            self.elaborator.instances.report(Box::new(diagnostic));
            return;
        };
        let own = part.rank;
        let flat = &self.elaborator.flat;
        let mut found = Vec::new();
        if let Some(scalars) = flat.scalars.get(&part.component) {
            let mut position = 0;
            for_each_index(&part.sizes, |indices| {
                let above = &indices[..indices.len() - own];
                if let (Some(Some(stream)), Some(flow)) = (scalars.variables.get(position), flat.variable(flow, above))
                {
                    found.push((*stream, flow));
                }
                position += 1;
            });
        }
        self.stream_sets.flows.extend(found);
    }

    /// The connections of overdetermined records to break.
    fn solve_graph(&mut self) -> BrokenEdges {
        let mut edges = Vec::new();
        let mut owners = Vec::new();
        let mut memo: FxHashMap<ClassId, bool> = FxHashMap::default();
        for (number, connection) in self.collected.connections.iter().enumerate() {
            let mut found = Vec::new();
            let (left, right) = (&connection.left, &connection.right);
            self.find_records(
                (left.component, left.indices.clone()),
                (right.component, right.indices.clone()),
                &mut memo,
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
    fn find_records(&mut self, left: Record, right: Record, memo: &mut FxHashMap<ClassId, bool>, out: &mut Vec<Edge>) {
        let types =
            (self.elaborator.instances.component_type(left.0), self.elaborator.instances.component_type(right.0));
        let (Ok(ComponentType::Class(a)), Ok(ComponentType::Class(b))) = types else { return };
        if self.is_overdetermined(a) {
            out.push(Edge { left, right });
            return;
        }
        for component in self.elaborator.instances.components_of(a) {
            if !matches!(self.elaborator.instances.component_type(component), Ok(ComponentType::Class(_))) {
                continue;
            }
            let name = self.elaborator.instances.component(component).name;
            let Some(Member::Component(other)) = self.elaborator.instances.member(b, name) else { continue };
            let sizes = self.elaborator.sizes(component).unwrap_or_else(|_| Vec::new().into());
            let mut all = Vec::new();
            for_each_index(&sizes, |indices| all.push(Indices::from_slice(indices)));
            for indices in all {
                let extend = |above: &Indices| above.iter().chain(&indices).copied().collect::<Indices>();
                self.find_records((component, extend(&left.1)), (other, extend(&right.1)), memo, out);
            }
        }
    }

    fn is_overdetermined(&mut self, class: ClassId) -> bool {
        matches!(self.elaborator.instances.member(class, Name::new("equalityConstraint")), Some(Member::Class(_)))
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
                self.join_variables(a, side_a, b, side_b, connection);
                Ok(())
            }
            (ComponentType::Object(_), ComponentType::Object(_)) => Ok(()),
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
            let own = self.elaborator.sizes(component)?;
            let others = self.elaborator.sizes(other)?;
            if own != others {
                let text = format!("the sizes of `{name}` are {own:?} and {others:?}");
                return Err(self.incompatible(&a, &b, connection, &text));
            }
            let mut all = Vec::new();
            for_each_index(&own, |indices| all.push(Indices::from_slice(indices)));
            for indices in all {
                let extend = |above: &Indices| above.iter().chain(&indices).copied().collect::<Indices>();
                let (next_a, next_b) = ((component, extend(&a.1)), (other, extend(&b.1)));
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

    fn join_variables(&mut self, a: Record, side_a: Side, b: Record, side_b: Side, connection: usize) {
        let flat = &self.elaborator.flat;
        let (Some(left), Some(right)) = (flat.variable(a.0, &a.1), flat.variable(b.0, &b.1)) else { return };
        for variable in [left, right] {
            self.first_connection.entry(variable).or_insert(connection);
        }
        let variables = &flat.model.variables;
        if variables[left].variability <= dae::Variability::Parameter
            || variables[right].variability <= dae::Variability::Parameter
        {
            return;
        }
        let (x, y) = (Face { variable: left, side: side_a }, Face { variable: right, side: side_b });
        let (kind_a, kind_b) = (self.elaborator.instances.flow(a.0), self.elaborator.instances.flow(b.0));
        if kind_a != kind_b {
            let diagnostic = self.incompatible(&a, &b, connection, "only one is a flow or stream variable");
            self.elaborator.instances.report(diagnostic);
            return;
        }
        match kind_a {
            ast::Flow::None => self.potentials.connect(x, y),
            ast::Flow::Flow => self.flows.connect(x, y),
            ast::Flow::Stream => self.streams.connect(x, y),
        }
    }

    fn finish(mut self, top: ClassId) {
        for set in self.potentials.all() {
            self.equate(&set);
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

    fn origin(&self, variable: VarId, kind: OriginKind) -> Origin {
        let model = &self.elaborator.flat.model;
        match self.first_connection.get(&variable).map(|&number| &self.collected.connections[number]) {
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
        let mut variables: Vec<VarId> = set.iter().map(|face| face.variable).collect();
        variables.dedup();
        let Some((&first, rest)) = variables.split_first() else { return };
        for &other in rest {
            let left = self.elaborator.flat.model.exprs.var(first);
            let right = self.elaborator.flat.model.exprs.var(other);
            self.push(left, right, other, OriginKind::Potential);
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
        let left = self.reference(&pair.left, span);
        let right = self.reference(&pair.right, span);
        let mut function = left.clone();
        let name = ast::Ident { name: Name::new("equalityConstraint"), span };
        function.parts.push(ast::RefPart { ident: name, subscripts: Vec::new() });
        let argument = |reference| ast::FunctionArgument::Expr(ast::Expr { kind: ast::ExprKind::Ref(reference), span });
        let arguments =
            ast::Arguments { positional: vec![argument(left), argument(right)], ..ast::Arguments::default() };
        let call = ast::Expr { kind: ast::ExprKind::Call { function: function.clone(), arguments }, span };
        let size = self.constraint_size(top, &function)?;
        let zeros = ast::Expr { kind: ast::ExprKind::Integer(0), span };
        let zeros = ast::Expr { kind: ast::ExprKind::Array(vec![zeros; size]), span };
        let equation =
            ast::Equation { kind: ast::EquationKind::Equal(call, zeros), description: None, annotation: None, span };
        if size > 0 {
            let frame = Frame { class: top, indices: Indices::new() };
            self.elaborator.instances.ignore_protection = true;
            self.elaborator.expand_equations(&frame, &[equation], connection.path, false);
            self.elaborator.instances.ignore_protection = false;
        }
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
