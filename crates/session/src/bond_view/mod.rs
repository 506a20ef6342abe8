//! The bond graph of a Modelica model. Connected connectors with one potential and one flow variable are junctions. Components are
//! elements, recognised by what their equations say about their ports: with the Laplace variable `s` in place of derivatives a
//! resistor is `e = R·f`, a capacitor `e = f/(C·s)`, an inertia `e = I·s·f`. What is none of the elements is drawn with its name.

mod component;
mod ports;
mod relation;

use algebra::sparse::Row;
use algebra::{Field, Rational, Variable};
use base::{Diagnostic, FileId, Id as _, Span};
use bond::{Bond, BondId, Element, ElementId, Expr, Graph, Input, Kind, Law, Leaf, Parameter};
use dae::{EqId, Model, Node, OriginKind, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::affine::{ONE, Symbols};
use component::{Component, Found};
use ports::{Across, Port, ports};
use relation::{Relation, Tree, across, at, has_source, parts, through};

/// The Laplace variable. No parameter has this name.
const LAPLACE: &str = "der()";

/// The bond graph of a flat model; values of parameters are numbers of elements.
pub(crate) fn view(
    model: &Model,
    value: &dyn Fn(VarId) -> Option<f64>,
) -> Result<(Graph, Vec<Diagnostic>), Diagnostic> {
    let (ports, others) = ports(model);
    if ports.is_empty() {
        let message = "there is nothing to draw: no connector has one potential and one flow variable";
        let diagnostic = Diagnostic::error("no-bond-graph", message);
        return Err(match others.first() {
            Some(other) => diagnostic.note(format!("`{other}` has several")),
            None => diagnostic.hint("electric, thermal and one-dimensional mechanical connectors have them"),
        });
    }
    let mut notes = Vec::new();
    let mut omitted = Vec::new();
    if let Some(other) = others.first() {
        let message = format!("{} connectors with several variables are not drawn, `{other}` first", others.len());
        notes.push(Diagnostic::new(base::Severity::Note, "not-drawn", message.clone()));
        omitted.push(message);
    }
    let mut symbols = Symbols::new(model, value).at_values();
    let laplace = symbols.symbol(LAPLACE.to_owned(), None);
    let structure = Structure::new(model, &ports);
    let mut builder = Builder::new(model, &ports, structure.spans(model, &ports));
    omitted.extend(structure.left_out(model, &ports));
    builder.graph.omitted = omitted;
    builder.junctions(&structure);
    let components = structure.components(&ports);
    builder.names.extend(components.iter().map(|(name, _)| name.clone()));
    let mut analysed = Vec::new();
    for (name, own) in components {
        let component = Component {
            model,
            name: &name,
            ports: own.iter().map(|&number| (number, &ports[number])).collect(),
            equations: structure.equations_of(model, &name),
            visible: &structure.visible,
        };
        let found = component.analysed(&mut symbols, &laplace, 0);
        analysed.push((name, own, found));
    }
    // Drawings begin with what comes first.
    analysed.sort_by_key(|(_, _, found)| !found.as_ref().is_some_and(is_source));
    for (name, own, found) in analysed {
        builder.names.remove(&name);
        builder.component(&name, &own, found, &symbols, 0);
    }
    Ok((builder.finished(), notes))
}

/// Which equations are junctions, and which components they belong to.
struct Structure {
    /// Components with equations of their own about power.
    elements: Vec<String>,
    /// Ports with the sign of their flow.
    sums: Vec<(EqId, Vec<(usize, bool)>)>,
    /// The component whose part an equation is.
    owner: FxHashMap<EqId, String>,
    /// Variables of components that equations elsewhere name, and whether those seem to determine it.
    visible: FxHashMap<VarId, bool>,
}

impl Structure {
    fn new(model: &Model, ports: &[Port]) -> Self {
        let mut by_variable: FxHashMap<VarId, usize> = FxHashMap::default();
        for (number, port) in ports.iter().enumerate() {
            by_variable.insert(port.across, number);
            by_variable.insert(port.through, number);
        }
        let is_connection = |kind: &OriginKind| matches!(kind, OriginKind::Potential | OriginKind::FlowSum);
        let component = |id: EqId| model.paths.text(model.equations[id].origin.component);
        let mut own: FxHashSet<String> = FxHashSet::default();
        for (id, equation) in model.equations.iter().filter(|(_, equation)| !is_connection(&equation.origin.kind)) {
            let name = component(id);
            if name.is_empty() || own.contains(&name) {
                continue;
            }
            let needed = model.exprs.dependencies(&[equation.left, equation.right]);
            let mut all = needed.variables.iter().chain(&needed.derivatives);
            if all.any(|id| by_variable.get(id).is_some_and(|&port| is_within(&ports[port].connector, &name))) {
                own.insert(name);
            }
        }
        // Only the outermost: what is inside belongs to them.
        let mut elements: Vec<String> =
            own.iter().filter(|name| !own.iter().any(|outer| is_within(name, outer))).cloned().collect();
        elements.sort();
        let mut structure =
            Self { elements, sums: Vec::new(), owner: FxHashMap::default(), visible: FxHashMap::default() };
        for (id, equation) in model.equations.iter() {
            let owner = structure.element_of(&component(id)).cloned();
            let terms = match equation.origin.kind {
                OriginKind::FlowSum => flow_terms(model, equation, ports, &by_variable),
                _ => None,
            };
            let is_open_end = terms.as_ref().is_some_and(|terms| match terms.as_slice() {
                [(port, _)] => structure.is_direct(&ports[*port].connector),
                _ => false,
            });
            match (owner, terms) {
                (Some(owner), _) if !is_open_end => {
                    structure.owner.insert(id, owner);
                }
                (_, Some(terms)) => structure.sums.push((id, terms)),
                _ => {}
            }
        }
        structure.find_visible(model, &by_variable);
        structure
    }

    fn find_visible(&mut self, model: &Model, by_variable: &FxHashMap<VarId, usize>) {
        for (id, equation) in model.equations.iter() {
            let owner = self.owner.get(&id);
            let needed = model.exprs.dependencies(&[equation.left, equation.right]);
            for variable in needed.variables.into_iter().chain(needed.derivatives) {
                if by_variable.contains_key(&variable) {
                    continue;
                }
                let name = model.variable_name(variable);
                let Some(element) = self.element_of(&name) else { continue };
                if Some(element) == owner {
                    continue;
                }
                let alone = [equation.left, equation.right]
                    .iter()
                    .any(|&side| matches!(model.exprs.node(side), Node::Var(id) if id == variable));
                let determines = alone
                    && (equation.origin.kind == OriginKind::Potential || {
                        matches!(model.exprs.node(equation.left), Node::Var(id) if id == variable)
                    });
                let known = self.visible.entry(variable).or_insert(false);
                *known |= determines;
            }
        }
    }

    /// The element that a name is at or in.
    fn element_of(&self, name: &str) -> Option<&String> {
        self.elements.iter().find(|element| name == *element || is_within(name, element))
    }

    /// Whether a connector is one of an element itself.
    fn is_direct(&self, connector: &str) -> bool {
        let Some((component, _)) = connector.rsplit_once('.') else { return false };
        self.elements.iter().any(|element| element == component) || self.is_in_array(connector)
    }

    /// A connector in an array or record of an element counts as one of its own.
    fn is_in_array(&self, connector: &str) -> bool {
        self.element_of(connector).is_some_and(|element| {
            connector.strip_prefix(element.as_str()).is_some_and(|rest| rest.matches('.').count() == 1)
        })
    }

    /// Elements with the ports that take part in junctions.
    fn components(&self, ports: &[Port]) -> Vec<(String, Vec<usize>)> {
        let joined: FxHashSet<usize> = self.sums.iter().flat_map(|(_, terms)| terms).map(|(port, _)| *port).collect();
        let own = |element: &String| -> Vec<usize> {
            let is_own = |&number: &usize| {
                let connector = &ports[number].connector;
                joined.contains(&number) && is_within(connector, element) && self.is_direct(connector)
            };
            (0..ports.len()).filter(is_own).collect()
        };
        let mut found: Vec<(String, Vec<usize>)> = self
            .elements
            .iter()
            .map(|element| (element.clone(), own(element)))
            .filter(|(_, own)| !own.is_empty())
            .collect();
        // In the order of declaration.
        found.sort_by_key(|(_, own)| own.first().copied());
        found
    }

    /// What no junction and no component of the graph stands for.
    fn left_out(&self, model: &Model, ports: &[Port]) -> Vec<String> {
        let drawn: FxHashSet<String> = self.components(ports).into_iter().map(|(name, _)| name).collect();
        let lacking = self.elements.iter().filter(|element| !drawn.contains(*element));
        let mut found: Vec<String> = lacking.map(|element| format!("`{element}` is not drawn")).collect();
        let is_port = |id: &VarId| ports.iter().any(|port| port.across == *id || port.through == *id);
        for (id, equation) in model.equations.iter() {
            let is_connection = matches!(equation.origin.kind, OriginKind::Potential | OriginKind::FlowSum);
            if is_connection || self.owner.contains_key(&id) {
                continue;
            }
            // What is only computed from ports changes nothing there.
            let is_result = [equation.left, equation.right]
                .iter()
                .any(|&side| matches!(model.exprs.node(side), Node::Var(variable) if !is_port(&variable)));
            let needed = model.exprs.dependencies(&[equation.left, equation.right]);
            if let Some(port) = needed.variables.iter().chain(&needed.derivatives).find(|id| is_port(id))
                && !is_result
            {
                found.push(format!("an equation of no component is about `{}`", model.variable_name(*port)));
            }
        }
        found
    }

    fn equations_of(&self, model: &Model, name: &str) -> Vec<EqId> {
        model.equations.ids().filter(|id| self.owner.get(id).is_some_and(|owner| owner == name)).collect()
    }

    /// Where each port is connected.
    fn spans(&self, model: &Model, ports: &[Port]) -> Vec<Span> {
        let nowhere = Span::new(FileId::from_index(0), 0, 0);
        let mut spans = vec![nowhere; ports.len()];
        for (id, terms) in &self.sums {
            for (port, _) in terms {
                spans[*port] = model.equations[*id].origin.span.unwrap_or(nowhere);
            }
        }
        spans
    }
}

/// Strictly inside of a component.
fn is_within(name: &str, component: &str) -> bool {
    name.strip_prefix(component).is_some_and(|rest| rest.starts_with('.'))
}

/// The ports of a sum of flows, and whether each counts as it is.
fn flow_terms(
    model: &Model,
    equation: &dae::Equation,
    ports: &[Port],
    by_variable: &FxHashMap<VarId, usize>,
) -> Option<Vec<(usize, bool)>> {
    let mut terms = Vec::new();
    let mut open = vec![(equation.left, true), (equation.right, false)];
    while let Some((id, positive)) = open.pop() {
        match model.exprs.node(id) {
            Node::Var(variable) => terms.push((*by_variable.get(&variable)?, positive)),
            Node::Neg(inner) => open.push((inner, !positive)),
            Node::Add(a, b) => open.extend([(a, positive), (b, positive)]),
            Node::Sub(a, b) => open.extend([(a, positive), (b, !positive)]),
            Node::Real(0.0) | Node::Integer(0) => {}
            _ => return None,
        }
    }
    terms.sort_unstable();
    // A sum and its negative are the same: connectors of inner components count as they are.
    let depth = |port: usize| model.variable_name(ports[port].through).matches('.').count();
    let innermost = terms.iter().max_by_key(|(port, _)| depth(*port));
    if innermost.is_some_and(|(_, positive)| !positive) {
        terms.iter_mut().for_each(|(_, positive)| *positive = !*positive);
    }
    Some(terms)
}

struct Builder<'a> {
    graph: Graph,
    ports: &'a [Port],
    spans: Vec<Span>,
    /// The junction at which the component of a port is.
    junction: FxHashMap<usize, ElementId>,
    names: FxHashSet<String>,
}

impl<'a> Builder<'a> {
    fn new(model: &Model, ports: &'a [Port], spans: Vec<Span>) -> Self {
        let graph = Graph {
            name: model.name.clone(),
            description: model.description.as_deref().unwrap_or_default().to_owned(),
            elements: base::IdVec::new(),
            bonds: base::IdVec::new(),
            parameters: base::IdVec::new(),
            inputs: base::IdVec::new(),
            signals: base::IdVec::new(),
            outputs: Vec::new(),
            experiment: Vec::new(),
            instances: Vec::new(),
            omitted: Vec::new(),
        };
        Self { graph, ports, spans, junction: FxHashMap::default(), names: FxHashSet::default() }
    }

    fn finished(self) -> Graph {
        self.graph
    }

    /// One junction for each connection set; connectors between the inside and the outside of a component are bonds.
    fn junctions(&mut self, structure: &Structure) {
        let mut sides: FxHashMap<usize, Vec<(ElementId, bool)>> = FxHashMap::default();
        for (_, terms) in &structure.sums {
            let Some((first, _)) = terms.first() else { continue };
            // An open end of a part that is taken apart has nothing in it.
            if terms.len() == 1 && !structure.is_direct(&self.ports[*first].connector) {
                continue;
            }
            let kind = if self.ports[*first].kind == Across::Effort { Kind::Zero } else { Kind::One };
            let at = terms.iter().map(|(port, _)| *port).find(|port| structure.is_direct(&self.ports[*port].connector));
            let at = at.unwrap_or(*first);
            let junction = self.element(&self.ports[at].connector.clone(), kind, self.spans[at]);
            for (port, positive) in terms {
                sides.entry(*port).or_default().push((junction, *positive));
            }
        }
        let mut all: Vec<(usize, Vec<(ElementId, bool)>)> = sides.into_iter().collect();
        all.sort_by_key(|(port, _)| *port);
        for (port, sides) in all {
            match sides.as_slice() {
                [(one, _)] => {
                    self.junction.insert(port, *one);
                }
                [(one, outside), (other, _)] => {
                    let (from, to) = if *outside { (*one, *other) } else { (*other, *one) };
                    self.bond(from, to, self.spans[port]);
                }
                _ => {}
            }
        }
    }

    fn element(&mut self, wanted: &str, kind: Kind, span: Span) -> ElementId {
        let mut name = wanted.to_owned();
        while !self.names.insert(name.clone()) {
            name.push('\'');
        }
        self.graph.elements.push(Element {
            name,
            kind,
            modulated: false,
            law: Law::None,
            input: None,
            condition: None,
            starts: Vec::new(),
            ports: Vec::new(),
            unit: None,
            description: String::new(),
            span,
        })
    }

    fn bond(&mut self, tail: ElementId, head: ElementId, span: Span) -> BondId {
        let bond = Bond { name: None, tail, head, active: false, stroke: None, units: [None, None], span };
        let id = self.graph.bonds.push(bond);
        self.graph.elements[tail].ports.push(bond::Port { bond: id, head: false });
        self.graph.elements[head].ports.push(bond::Port { bond: id, head: true });
        id
    }

    /// The junction of a port; power counts into the component, or out of it.
    fn attach(&mut self, tree: &Tree, mechanical: bool, name: &str, out: bool) -> Option<ElementId> {
        let (one, other, kind, is_branch) = match tree {
            Tree::Connector(port) => return self.junction.get(port).copied(),
            Tree::Branch(one, other) => (one, other, if mechanical { Kind::Zero } else { Kind::One }, true),
            Tree::Shared(one, other) => (one, other, if mechanical { Kind::One } else { Kind::Zero }, false),
        };
        let (first, second) = (self.attach(one, mechanical, name, out)?, self.attach(other, mechanical, name, out)?);
        let span = self.graph.elements[first].span;
        let junction = self.element(&format!("{name}.{}", kind.symbol()), kind, span);
        let inwards = |builder: &mut Self, from| builder.bond(from, junction, span);
        let outwards = |builder: &mut Self, to| builder.bond(junction, to, span);
        match (is_branch, out) {
            (true, false) => (inwards(self, first), outwards(self, second)),
            (true, true) => (inwards(self, second), outwards(self, first)),
            (false, false) => (inwards(self, first), inwards(self, second)),
            (false, true) => (outwards(self, first), outwards(self, second)),
        };
        Some(junction)
    }

    fn component(&mut self, name: &str, own: &[usize], found: Option<Found>, symbols: &Symbols, s: Variable) {
        let span = own.first().map_or(Span::new(FileId::from_index(0), 0, 0), |port| self.spans[*port]);
        let Some(found) = found else {
            let trees: Vec<(Tree, bool)> =
                own.iter().map(|&port| (Tree::Connector(port), self.ports[port].kind.is_mechanical())).collect();
            return self.multiport(name, &trees, span);
        };
        let relation = &found.relation;
        let done = match relation.count() {
            1 => self.one_port(name, &found, symbols, s, span),
            2 => self.two_port(name, relation, symbols, s, span) || self.field(name, relation, symbols, s, span),
            _ => self.field(name, relation, symbols, s, span),
        };
        if !done && !self.linear_multiport(name, relation, symbols, s, span) {
            let trees: Vec<(Tree, bool)> =
                relation.trees.iter().cloned().zip(relation.mechanical.iter().copied()).collect();
            self.multiport(name, &trees, span);
        }
    }

    /// A component by its name.
    fn multiport(&mut self, name: &str, trees: &[(Tree, bool)], span: Span) {
        let junctions: Vec<Option<ElementId>> =
            trees.iter().map(|(tree, mechanical)| self.attach(tree, *mechanical, name, false)).collect();
        if junctions.contains(&None) {
            self.omit(name);
        }
        let element = self.element(name, Kind::Component, span);
        for junction in junctions.into_iter().flatten() {
            self.bond(junction, element, span);
        }
    }

    /// Notes that the graph lacks something of a component.
    fn omit(&mut self, name: &str) -> bool {
        self.graph.omitted.push(format!("a connector of `{name}` is not drawn"));
        true
    }

    /// A component whose law is linear without derivatives, such as a planetary gear: the law is kept as it is.
    fn linear_multiport(
        &mut self,
        name: &str,
        relation: &Relation,
        symbols: &Symbols,
        s: Variable,
        span: Span,
    ) -> bool {
        let count = relation.count();
        let is_plain = |(column, value): &(u32, Rational)| {
            (*column < relation::SOURCES || *column == ONE) && !value.variables().any(|it| it == s)
        };
        let has_law = relation.nonlinear.is_empty()
            && relation.rows.len() == count
            && relation.rows.iter().flatten().all(is_plain);
        if !has_law {
            return false;
        }
        let junctions: Option<Vec<ElementId>> = (0..count)
            .map(|port| self.attach(&relation.trees[port].clone(), relation.mechanical[port], name, false))
            .collect();
        let Some(junctions) = junctions else { return self.omit(name) };
        let element = self.element(name, Kind::Component, span);
        let bonds: Vec<BondId> = junctions.into_iter().map(|junction| self.bond(junction, element, span)).collect();
        let mut residuals = Vec::with_capacity(count);
        for row in &relation.rows {
            let mut sum: Option<bond::Expression> = None;
            for (column, value) in row {
                let factor = self.formula(value, symbols, span);
                let term = match *column {
                    ONE => factor,
                    column => {
                        let port = (column / 2) as usize;
                        let is_effort = (column == across(port)) != relation.mechanical[port];
                        let leaf = if is_effort { Leaf::Effort(bonds[port]) } else { Leaf::Flow(bonds[port]) };
                        bond::product(factor, Expr::Leaf(leaf))
                    }
                };
                sum = Some(sum.map_or(term.clone(), |sum| bond::sum(sum, term)));
            }
            residuals.extend(sum);
        }
        self.graph.elements[element].law = Law::Residuals(residuals);
        true
    }

    /// A rational function of parameters of the model as an expression of parameters of the graph.
    fn formula(&mut self, value: &Rational, symbols: &Symbols, span: Span) -> bond::Expression {
        let above = self.polynomial(&value.numerator, symbols, span);
        let below = self.polynomial(&value.denominator, symbols, span);
        bond::quotient(above, below)
    }

    fn polynomial(&mut self, value: &algebra::Polynomial, symbols: &Symbols, span: Span) -> bond::Expression {
        let mut sum = Expr::Number(0.0, "0".to_owned());
        for (monomial, factor) in &value.terms {
            let text = factor.to_string();
            let (sign, digits) = match text.strip_prefix('-') {
                Some(digits) => (-1.0, digits),
                None => (1.0, text.as_str()),
            };
            let mut term = Expr::Number(digits.parse().unwrap_or(f64::NAN), digits.to_owned());
            for (variable, power) in &monomial.0 {
                let symbol = &symbols.list[*variable as usize];
                let leaf = self.named_parameter(&symbol.name, symbol.value, span);
                for _ in 0..*power {
                    term = bond::product(term, leaf.clone());
                }
            }
            sum = if sign < 0.0 { bond::difference(sum, term) } else { bond::sum(sum, term) };
        }
        sum
    }

    /// A parameter with the name that it has in the model.
    fn named_parameter(&mut self, name: &str, value: Option<f64>, span: Span) -> bond::Expression {
        let known = self.graph.parameters.iter().find(|(_, it)| it.name == name && it.element.is_none());
        if let Some((id, _)) = known {
            return Expr::Leaf(Leaf::Parameter(id));
        }
        let value = value.map(|value| Expr::Number(value, base::Decimal(value).to_string()));
        let name = name.to_owned();
        let parameter = Parameter { name, value, unit: None, description: String::new(), element: None, span };
        Expr::Leaf(Leaf::Parameter(self.graph.parameters.push(parameter)))
    }

    fn one_port(&mut self, name: &str, found: &Found, symbols: &Symbols, s: Variable, span: Span) -> bool {
        let relation = &found.relation;
        let mechanical = relation.mechanical[0];
        let tree = relation.trees[0].clone();
        let (effort, flow) = if mechanical { (through(0), across(0)) } else { (across(0), through(0)) };
        if !relation.nonlinear.is_empty() {
            let Some(kind) = nonlinear_kind(found, effort, flow, s) else { return false };
            let Some(junction) = self.attach(&tree, mechanical, name, false) else { return self.omit(name) };
            let element = self.element(name, kind, span);
            self.graph.elements[element].modulated = relation.nonlinear.iter().flatten().any(has_outer_signal);
            self.bond(junction, element, span);
            return true;
        }
        let [row] = relation.rows.as_slice() else { return false };
        let (of_effort, of_flow) = (at(row, effort), at(row, flow));
        let is_branch = matches!(tree, Tree::Branch(..));
        let is_given = |factor: &Rational, other: &Rational| !factor.is_zero() && other.is_zero();
        if is_given(&of_effort, &of_flow) || is_given(&of_flow, &of_effort) {
            let sets_effort = of_flow.is_zero();
            let is_zero = !has_source(row);
            // Where the other variable is the potential, it is a sensor, which takes no power.
            let sets_potential = sets_effort != mechanical;
            let kind = match (sets_effort, is_zero && (!sets_potential || is_branch)) {
                (true, false) => Kind::EffortSource,
                (false, false) => Kind::FlowSource,
                (true, true) => Kind::FlowSensor,
                (false, true) => Kind::EffortSensor,
            };
            let is_source = matches!(kind, Kind::EffortSource | Kind::FlowSource);
            // What only joins three or more connectors is a junction.
            if !is_source && tree.connectors() > 2 {
                return self.attach(&tree, mechanical, name, false).is_some() || self.omit(name);
            }
            // Sources give power. Flow variables count into the component, so a source of flow between two connectors gives what
            // goes in at the first one to the second one, and one at a single connector gives the opposite of its flow.
            let is_through_branch = is_branch && !sets_potential;
            let out = is_source && !is_through_branch;
            let Some(junction) = self.attach(&tree, mechanical, name, out) else { return self.omit(name) };
            let factor = if sets_effort { &of_effort } else { &of_flow };
            let sign = Rational::integer(if sets_potential || is_through_branch { -1 } else { 1 });
            let scale = factor.invert().map(|inverse| inverse.multiply(&sign));
            let element = self.source(name, kind, row, scale.as_ref(), symbols, s, span);
            match is_source {
                true => self.bond(element, junction, span),
                false => self.bond(junction, element, span),
            };
            return true;
        }
        let Some(impedance) = of_effort.invert().map(|inverse| of_flow.negate().multiply(&inverse)) else {
            return false;
        };
        let Some(admittance) = impedance.invert() else { return false };
        let by_effort = parts(&impedance, s).map(|parts| ([Kind::Capacitor, Kind::Resistor, Kind::Inertia], parts));
        let by_flow = parts(&admittance, s).map(|parts| ([Kind::Inertia, Kind::Resistor, Kind::Capacitor], parts));
        let is_series = by_effort.is_some();
        let Some((kinds, parts)) = by_effort.or(by_flow) else { return false };
        let mut elements: Vec<(Kind, Rational)> = Vec::new();
        for (kind, part) in kinds.into_iter().zip(parts).filter(|(_, part)| !part.is_zero()) {
            // `e = f/(C·s)`, `f = e/(I·s)`, `f = e/R`.
            let is_inverse =
                matches!((is_series, kind), (true, Kind::Capacitor) | (false, Kind::Inertia | Kind::Resistor));
            let Some(value) = (if is_inverse { part.invert() } else { Some(part) }) else { return false };
            elements.push((kind, value));
        }
        // A constant beside a storage is where the stored quantity begins, such as the length of a spring without force.
        let storing = if is_series { Kind::Capacitor } else { Kind::Inertia };
        let is_stored = is_constant(row) && elements.iter().any(|(kind, _)| *kind == storing);
        let has_offset = has_source(row) && !is_stored;
        let Some(mut at_junction) = self.attach(&tree, mechanical, name, false) else { return self.omit(name) };
        if elements.len() > 1 || has_offset {
            let kind = if is_series { Kind::One } else { Kind::Zero };
            let inner = self.element(&format!("{name}.{}", kind.symbol()), kind, span);
            self.bond(at_junction, inner, span);
            at_junction = inner;
        }
        let is_alone = elements.len() == 1 && !has_offset;
        for (kind, value) in elements {
            let own = if is_alone { name.to_owned() } else { format!("{name}.{}", kind.symbol()) };
            let element = self.element(&own, kind, span);
            self.parameter(element, &value, symbols, span);
            self.bond(at_junction, element, span);
        }
        if has_offset {
            let kind = if is_series { Kind::EffortSource } else { Kind::FlowSource };
            let factor = if is_series { &of_effort } else { &of_flow };
            let name = format!("{name}.{}", kind.symbol());
            let element = self.source(&name, kind, row, factor.invert().as_ref(), symbols, s, span);
            self.bond(element, at_junction, span);
        }
        true
    }

    /// A source whose value is what the row holds besides the port, times a scale.
    #[allow(clippy::too_many_arguments, reason = "what an element is made from")]
    fn source(
        &mut self,
        name: &str,
        kind: Kind,
        row: &Row<Rational>,
        scale: Option<&Rational>,
        symbols: &Symbols,
        s: Variable,
        span: Span,
    ) -> ElementId {
        let element = self.element(name, kind, span);
        if matches!(kind, Kind::EffortSensor | Kind::FlowSensor) {
            return element;
        }
        self.graph.elements[element].modulated = has_signal(row);
        if !has_source(row) {
            self.graph.elements[element].law = Law::Scalar(Expr::Number(0.0, "0".to_owned()));
            return element;
        }
        let name = self.graph.elements[element].name.clone();
        let scaled = |column: u32| scale.map(|scale| at(row, column).multiply(scale));
        // The input is the signal where there is one; else it is the value of the source.
        let factor = lone_signal(row).and_then(scaled).and_then(|factor| lone_part(&factor, s));
        if let Some(factor) = factor.filter(|factor| *factor != Rational::integer(1)) {
            let input = self.graph.inputs.push(Input { name, source: None, value: None, unit: None, span });
            let factor = self.formula(&factor, symbols, span);
            self.graph.elements[element].input = Some(input);
            self.graph.elements[element].law = Law::Scalar(bond::product(factor, Expr::Leaf(Leaf::Input(input))));
            return element;
        }
        let value = scaled(ONE).filter(|_| is_constant(row)).and_then(|value| symbols.number(&value));
        let value = value.map(|value| Expr::Number(value, base::Decimal(value).to_string()));
        let input = self.graph.inputs.push(Input { name, source: Some(element), value, unit: None, span });
        self.graph.elements[element].input = Some(input);
        self.graph.elements[element].law = Law::Scalar(Expr::Leaf(Leaf::Input(input)));
        element
    }

    /// The value of an element as a parameter with the name of the element.
    fn parameter(&mut self, element: ElementId, value: &Rational, symbols: &Symbols, span: Span) {
        let law = self.new_parameter(self.graph.elements[element].name.clone(), Some(element), value, symbols, span);
        self.graph.elements[element].law = Law::Scalar(law);
    }

    fn new_parameter(
        &mut self,
        name: String,
        element: Option<ElementId>,
        value: &Rational,
        symbols: &Symbols,
        span: Span,
    ) -> bond::Expression {
        let number = symbols.number(value).map(|value| Expr::Number(value, base::Decimal(value).to_string()));
        let parameter = Parameter { name, value: number, unit: None, description: String::new(), element, span };
        Expr::Leaf(Leaf::Parameter(self.graph.parameters.push(parameter)))
    }

    /// A transformer or a gyrator.
    fn two_port(&mut self, name: &str, relation: &Relation, symbols: &Symbols, s: Variable, span: Span) -> bool {
        let columns = |port: usize| match relation.mechanical[port] {
            true => (through(port), across(port)),
            false => (across(port), through(port)),
        };
        let ((e1, f1), (e2, f2)) = (columns(0), columns(1));
        // Power goes out at the second port: the flow variable of that connector counts outwards.
        let (flip_effort, flip_flow) = if relation.mechanical[1] { (-1, 1) } else { (1, -1) };
        let signed = |value: &Rational, sign: i64| value.multiply(&Rational::integer(sign));
        let is_ratio = |value: &Rational| !value.is_zero() && !value.variables().any(|it| it == s);
        let transformer = relation.solved(&[e1, f2], &[e2, f1]).and_then(|found| {
            // e₁ = n·e₂, f₂ = n·f₁
            let (one, other) = (signed(&found[0][0], flip_effort), signed(&found[1][1], flip_flow));
            (found[0][1].is_zero() && found[1][0].is_zero() && one == other && is_ratio(&one)).then_some(one)
        });
        let gyrator = || {
            relation.solved(&[e1, e2], &[f2, f1]).and_then(|found| {
                // e₁ = r·f₂, e₂ = r·f₁
                let (one, other) = (signed(&found[0][0], flip_flow), signed(&found[1][1], flip_effort));
                (found[0][1].is_zero() && found[1][0].is_zero() && one == other && is_ratio(&one)).then_some(one)
            })
        };
        let (kind, ratio) = match transformer {
            Some(ratio) => (Kind::Transformer, ratio),
            None => match gyrator() {
                Some(ratio) => (Kind::Gyrator, ratio),
                None => return false,
            },
        };
        let trees = (relation.trees[0].clone(), relation.trees[1].clone());
        let from = self.attach(&trees.0, relation.mechanical[0], name, false);
        let to = self.attach(&trees.1, relation.mechanical[1], name, true);
        let (Some(from), Some(to)) = (from, to) else { return self.omit(name) };
        let element = self.element(name, kind, span);
        self.parameter(element, &ratio, symbols, span);
        self.bond(from, element, span);
        self.bond(element, to, span);
        true
    }

    /// A field of resistors, capacitors or inertias.
    fn field(&mut self, name: &str, relation: &Relation, symbols: &Symbols, s: Variable, span: Span) -> bool {
        let count = relation.count();
        let columns = |port: usize| match relation.mechanical[port] {
            true => (through(port), across(port)),
            false => (across(port), through(port)),
        };
        let (efforts, flows): (Vec<u32>, Vec<u32>) = (0..count).map(columns).unzip();
        let by_flow = relation.solved(&efforts, &flows);
        let by_effort = relation.solved(&flows, &efforts);
        let matrix = |found: &Option<Vec<Vec<Rational>>>, place: usize| -> Option<Vec<Vec<Rational>>> {
            let entry = |value: &Rational| {
                let parts = parts(value, s)?;
                let others = (0..3).filter(|other| *other != place);
                others.into_iter().all(|other| parts[other].is_zero()).then(|| parts[place].clone())
            };
            found.as_ref()?.iter().map(|row| row.iter().map(entry).collect()).collect()
        };
        let choices = [(Kind::Resistor, &by_flow, 1), (Kind::Inertia, &by_flow, 2), (Kind::Capacitor, &by_effort, 2)];
        let found = choices.into_iter().find_map(|(kind, found, place)| Some((kind, matrix(found, place)?)));
        let Some((kind, values)) = found else { return false };
        // A resistor field gives efforts or flows, whatever is given; a controlled source does not.
        if kind == Kind::Resistor && by_effort.is_none() {
            return false;
        }
        let junctions: Option<Vec<ElementId>> = (0..count)
            .map(|port| self.attach(&relation.trees[port].clone(), relation.mechanical[port], name, false))
            .collect();
        let Some(junctions) = junctions else { return self.omit(name) };
        let element = self.element(name, kind, span);
        let mut rows = Vec::new();
        for (i, row) in values.iter().enumerate() {
            let mut entries = Vec::new();
            for (j, value) in row.iter().enumerate() {
                // What is a number for all values of the parameters must not look as if it could be another one.
                entries.push(match value.is_zero() || value.as_number().is_some() {
                    true => self.formula(value, symbols, span),
                    false => self.new_parameter(format!("{name}[{},{}]", i + 1, j + 1), None, value, symbols, span),
                });
            }
            rows.push(entries);
        }
        self.graph.elements[element].law = Law::Matrix(rows);
        for junction in junctions {
            self.bond(junction, element, span);
        }
        true
    }
}

/// What an equation that is not linear makes of a port: a resistor relates effort and flow, a capacitor effort and the integral of
/// the flow, an inertia flow and the integral of the effort.
fn nonlinear_kind(found: &Found, effort: u32, flow: u32, s: Variable) -> Option<Kind> {
    let relation = &found.relation;
    if found.has_nonlinear_rates || !relation.rows.is_empty() {
        return None;
    }
    // Whether it is integrated; none where that is mixed.
    let is_integrated = |column: u32| -> Option<Option<bool>> {
        let mut known = None;
        for value in relation.nonlinear.iter().flatten().map(|row| at(row, column)).filter(|value| !value.is_zero()) {
            let parts = parts(&value, s)?;
            let integrated = match (parts[0].is_zero(), parts[1].is_zero(), parts[2].is_zero()) {
                (true, false, true) => false,
                (false, true, true) => true,
                _ => return None,
            };
            if known.is_some_and(|known| known != integrated) {
                return None;
            }
            known = Some(integrated);
        }
        Some(known)
    };
    match (is_integrated(effort)?.unwrap_or(false), is_integrated(flow)?.unwrap_or(false)) {
        (false, false) => Some(Kind::Resistor),
        (false, true) => Some(Kind::Capacitor),
        (true, false) => Some(Kind::Inertia),
        (true, true) => None,
    }
}

/// Whether signals or constants set one variable of the port.
fn is_source(found: &Found) -> bool {
    let [row] = found.relation.rows.as_slice() else { return false };
    found.relation.count() == 1
        && has_source(row)
        && row.iter().filter(|(column, _)| *column < relation::SOURCES).count() == 1
}

/// Whether nothing but parameters takes part besides the port.
fn is_constant(row: &Row<Rational>) -> bool {
    row.iter().all(|(column, _)| *column < relation::SOURCES || *column == ONE)
}

/// The column of the signal that alone makes the value of a source.
fn lone_signal(row: &Row<Rational>) -> Option<u32> {
    let mut outside = row.iter().map(|(column, _)| *column).filter(|column| *column >= relation::SOURCES);
    let first = outside.next()?;
    (first < component::MOVING && outside.next().is_none()).then_some(first)
}

/// The factor of a signal, of its derivative or of its integral, where it is one of them alone.
fn lone_part(factor: &Rational, s: Variable) -> Option<Rational> {
    let mut own = parts(factor, s)?.into_iter().filter(|part| !part.is_zero());
    let first = own.next()?;
    own.next().is_none().then_some(first)
}

/// Whether a signal takes part, and not only constants and time.
fn has_signal(row: &Row<Rational>) -> bool {
    row.iter().any(|(column, _)| *column >= relation::SOURCES && *column < component::MOVING)
}

/// Whether a variable of another component takes part.
fn has_outer_signal(row: &Row<Rational>) -> bool {
    row.iter().any(|(column, _)| (relation::SOURCES..component::INNER).contains(column))
}
