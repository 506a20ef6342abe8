//! Collects the connections of a model: connect equations, also in loops and branches, and the statements about
//! overconstrained graphs and state machines, with every subscript evaluated.

use std::sync::Arc;

use base::{Diagnostic, Name, Span};
use dae::PathId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use syntax::ast;

use super::{Connection, Connector, Side};
use crate::elaborate::Elaborator;
use crate::flat::{Indices, for_each_index};
use crate::instance::{ClassId, CompId, ComponentType, Frame, Member, Outcome};
use crate::lookup::Resolved;
use crate::parts::{Part, frame_of};
use crate::state_machines;
use crate::substitute::{Iteration, substitute};
use crate::symbolic::{Symbolic, ragged};
use crate::typed::Base;

impl Collected {
    /// Leaves out what belongs to conditional components that are absent (4.4.5).
    pub fn remove_absent(&mut self, parts: &[Part]) {
        let by_component: FxHashMap<CompId, &Part> = parts.iter().map(|part| (part.component, part)).collect();
        let exists = |component: CompId, indices: &[u32]| match by_component.get(&component) {
            None => false,
            Some(part) => part.exists(indices),
        };
        self.connections.retain(|connection| {
            exists(connection.left.component, &connection.left.indices)
                && exists(connection.right.component, &connection.right.indices)
        });
        self.statements
            .retain(|statement| statement.nodes.iter().all(|(component, indices)| exists(*component, indices)));
        self.machines
            .retain(|statement| statement.states().iter().all(|state| exists(state.component, &state.indices)));
    }
}

/// What was found.
#[derive(Default)]
pub struct Collected {
    pub connections: Vec<Connection>,
    pub statements: Vec<GraphStatement>,
    /// Connections with an expandable connector that has no such element yet.
    pub to_expandable: Vec<Pending>,
    /// `initialState(a)`, `transition(a, b, condition)`.
    pub machines: Vec<state_machines::Statement>,
}

/// `Connections.branch(a, b)` and the like, with overdetermined records.
#[derive(Clone, Debug)]
pub struct GraphStatement {
    pub kind: GraphKind,
    pub nodes: SmallVec<[(CompId, Indices); 2]>,
    pub priority: i64,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GraphKind {
    Branch,
    Root,
    PotentialRoot,
    UniqueRoot,
}

/// A connect equation of which one side could not be found because its connector is to be extended by it.
#[derive(Clone, Debug)]
pub struct Pending {
    pub frame: Frame,
    pub iterators: Vec<Iteration>,
    pub left: ast::ComponentRef,
    pub right: ast::ComponentRef,
    pub path: PathId,
    pub span: Span,
}

/// A reference with its subscripts evaluated: the elements in row-major order of `sizes`.
#[derive(Clone, Debug)]
pub struct Elements {
    /// The components along the reference.
    pub steps: Vec<CompId>,
    /// The sizes that are left: those of `:` and vectors as subscripts, and of arrays that were not indexed.
    pub sizes: Vec<usize>,
    pub elements: Vec<Indices>,
    /// A component on the way is disabled by its condition: nothing below it has a size.
    pub is_disabled: bool,
}

/// All connections of the model with these parts.
pub fn collect(elaborator: &mut Elaborator, top: ClassId, parts: &[Part], paths: &[Vec<PathId>]) -> Collected {
    let mut collector = Collector { elaborator, out: Collected::default(), iterators: Vec::new() };
    let root = collector.elaborator.flat.model.paths.root();
    collector.class(top, &[], None, &[root]);
    for (part, paths) in parts.iter().zip(paths) {
        if let ComponentType::Class(class) = part.ty {
            collector.class(class, &part.sizes, part.present.as_deref(), paths);
        }
    }
    collector.out
}

struct Collector<'c> {
    elaborator: &'c mut Elaborator,
    out: Collected,
    iterators: Vec<Iteration>,
}

impl Collector<'_> {
    fn class(&mut self, class: ClassId, sizes: &[usize], present: Option<&[bool]>, paths: &[PathId]) {
        for base in self.elaborator.instances.with_bases(class) {
            let definition = self.elaborator.instances.definition(base).clone();
            let ast::ClassBody::Long(composition) = &definition.body else { continue };
            let sections: Vec<&ast::EquationSection> =
                composition.equations.iter().filter(|section| !section.initial).collect();
            if !sections.iter().any(|section| section.equations.iter().any(is_about_connections)) {
                continue;
            }
            let mut position = 0;
            for_each_index(sizes, |indices| {
                let here = present.is_none_or(|present| present.get(position).copied().unwrap_or(false));
                let path = paths.get(position).copied();
                position += 1;
                if let (true, Some(path)) = (here, path) {
                    let frame = Frame { class: base, indices: Indices::from_slice(indices) };
                    for section in &sections {
                        self.equations(&frame, &section.equations, path);
                    }
                }
            });
        }
    }

    fn equations(&mut self, frame: &Frame, equations: &[ast::Equation], path: PathId) {
        for equation in equations {
            if !is_about_connections(equation) {
                continue;
            }
            if let Err(mut diagnostic) = self.equation(frame, equation, path) {
                if diagnostic.component.is_none() && path != self.elaborator.flat.model.paths.root() {
                    diagnostic.component = Some(self.elaborator.flat.model.paths.text(path));
                }
                self.elaborator.instances.report(diagnostic);
            }
        }
    }

    fn equation(&mut self, frame: &Frame, equation: &ast::Equation, path: PathId) -> Outcome<()> {
        match &equation.kind {
            ast::EquationKind::Connect(left, right) => {
                if !self.elaborator.instances.is_deselected(frame.class, left, right) {
                    self.connect(frame, left, right, path, equation.span)?;
                }
            }
            ast::EquationKind::For { iterators, body } => self.loop_over(frame, iterators, body, path)?,
            ast::EquationKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    let condition = substitute(condition, &self.iterators, None);
                    let known = self.elaborator.evaluate_condition(frame, &condition);
                    if known.map_err(|why| unknown_condition(&condition, why))? {
                        self.equations(frame, body, path);
                        return Ok(());
                    }
                }
                self.equations(frame, otherwise, path);
            }
            ast::EquationKind::Call(call) => match state_machine_call(call) {
                Some(found) => {
                    let statement =
                        state_machines::read(self.elaborator, frame, &self.iterators, found, path, equation.span)?;
                    self.out.machines.push(statement);
                }
                None => self.statement(frame, call)?,
            },
            ast::EquationKind::When { .. } => {
                return Err(Box::new(
                    Diagnostic::error(
                        "connect-in-when",
                        "connections and transitions have no place in a when equation",
                    )
                    .at(equation.span, "in this equation")
                    .specification("8.3.5"),
                ));
            }
            ast::EquationKind::Equal(..) => {}
        }
        Ok(())
    }

    fn loop_over(
        &mut self,
        frame: &Frame,
        iterators: &[ast::Iterator],
        body: &[ast::Equation],
        path: PathId,
    ) -> Outcome<()> {
        let Some((first, rest)) = iterators.split_first() else {
            self.equations(frame, body, path);
            return Ok(());
        };
        let values = match &first.range {
            Some(range) => written_range(self.elaborator, frame, &substitute(range, &self.iterators, None))?,
            None => {
                let positions = implicit_range(self.elaborator, frame, first, body)?;
                positions.into_iter().map(|position| (position, ast::ExprKind::Integer(position))).collect()
            }
        };
        for (position, text) in values {
            self.iterators.push(Iteration { name: first.name.name, position, text });
            let outcome = self.loop_over(frame, rest, body, path);
            self.iterators.pop();
            outcome?;
        }
        Ok(())
    }

    fn connect(
        &mut self,
        frame: &Frame,
        left: &ast::ComponentRef,
        right: &ast::ComponentRef,
        path: PathId,
        span: Span,
    ) -> Outcome<()> {
        if super::expandable::needs_element(self.elaborator, frame.class, left)?
            || super::expandable::needs_element(self.elaborator, frame.class, right)?
        {
            self.out.to_expandable.push(Pending {
                frame: frame.clone(),
                iterators: self.iterators.clone(),
                left: left.clone(),
                right: right.clone(),
                path,
                span,
            });
            return Ok(());
        }
        connect(self.elaborator, frame, &self.iterators, (left, right), path, span, &mut self.out.connections)
    }

    /// `Connections.branch(a, b)` ….
    fn statement(&mut self, frame: &Frame, call: &ast::Expr) -> Outcome<()> {
        let ast::ExprKind::Call { function, arguments } = &call.kind else { return Ok(()) };
        let Some(kind) = graph_kind(function) else { return Ok(()) };
        let mut nodes: SmallVec<[(CompId, Vec<Indices>); 2]> = SmallVec::new();
        let mut priority = 0;
        let wanted = if kind == GraphKind::Branch { 2 } else { 1 };
        for (position, argument) in arguments.positional.iter().enumerate() {
            let ast::FunctionArgument::Expr(expr) = argument else { continue };
            if position >= wanted {
                // The message of a unique root is for tools that say why there is more than one.
                if kind == GraphKind::UniqueRoot {
                    continue;
                }
                let expr = substitute(expr, &self.iterators, None);
                priority = integers(self.elaborator, frame, &expr)?.0.first().copied().unwrap_or(0);
                continue;
            }
            let ast::ExprKind::Ref(reference) = &expr.kind else {
                return Err(Box::new(
                    Diagnostic::error("connections-argument", "an element of a connector is needed here")
                        .at(expr.span, "not a reference")
                        .specification("9.4.1"),
                ));
            };
            let found = resolve(self.elaborator, frame, &self.iterators, reference)?;
            if found.is_disabled {
                return Ok(());
            }
            if let Some(&component) = found.steps.last() {
                if !is_overdetermined(self.elaborator, component) {
                    let message = "an overdetermined record of a connector is needed here";
                    let diagnostic = Diagnostic::breach("connections-argument", message)
                        .at(expr.span, "its class has no function `equalityConstraint`")
                        .specification("9.4.1");
                    self.elaborator.instances.report(Box::new(diagnostic));
                }
                nodes.push((component, found.elements));
            }
        }
        for (name, argument) in &arguments.named {
            if let (true, ast::FunctionArgument::Expr(expr)) = (name.name == "priority", argument) {
                let expr = substitute(expr, &self.iterators, None);
                priority = integers(self.elaborator, frame, &expr)?.0.first().copied().unwrap_or(0);
            }
        }
        if nodes.len() < wanted {
            return Ok(());
        }
        // Each record of an array is a node; an array of an overdetermined type is one, which goes by its first element.
        let is_one = nodes.iter().any(|&(component, _)| {
            !matches!(self.elaborator.instances.component_type(component), Ok(ComponentType::Class(_)))
        });
        let counts = nodes.iter().map(|(_, elements)| elements.len());
        let count = counts.min().unwrap_or(0).min(if is_one { 1 } else { usize::MAX });
        for element in 0..count {
            let nodes = nodes.iter().map(|(component, elements)| (*component, elements[element].clone())).collect();
            self.out.statements.push(GraphStatement { kind, nodes, priority, span: call.span });
        }
        Ok(())
    }
}

/// Whether the class of a component, or its type, has a function `equalityConstraint` (9.4.1).
fn is_overdetermined(elaborator: &mut Elaborator, component: CompId) -> bool {
    let node = elaborator.instances.component(component);
    let (scope, type_name) = (node.type_scope, node.declaration.type_name.clone());
    let class = match elaborator.instances.component_type(component) {
        Ok(ComponentType::Class(class)) => Some(class),
        _ => elaborator.instances.lookup_type(scope, &type_name).ok(),
    };
    let name = Name::new("equalityConstraint");
    class.is_none_or(|class| matches!(elaborator.instances.member(class, name), Some(Member::Class(_))))
}

/// Adds the connections of `connect(left, right)`, element by element for arrays.
pub fn connect(
    elaborator: &mut Elaborator,
    frame: &Frame,
    iterators: &[Iteration],
    (left, right): (&ast::ComponentRef, &ast::ComponentRef),
    path: PathId,
    span: Span,
    out: &mut Vec<Connection>,
) -> Outcome<()> {
    let (a, b) = (resolve(elaborator, frame, iterators, left), resolve(elaborator, frame, iterators, right));
    let (a, b) = match (a, b) {
        // An element may be missing just because what it would be connected with is disabled.
        (Ok(found), Err(missing)) | (Err(missing), Ok(found))
            if found.is_disabled && missing.code == "out-of-bounds" =>
        {
            return Ok(());
        }
        (a, b) => (a?, b?),
    };
    let (Some(&last_a), Some(&last_b)) = (a.steps.last(), b.steps.last()) else { return Ok(()) };
    for (found, reference) in [(&a, left), (&b, right)] {
        // `connector…` or `component.connector…`; everything behind the first name is a connector.
        for &step in found.steps.iter().skip(1).chain(found.steps.last()) {
            check_connector(elaborator, step, found.steps.last() == Some(&step), reference)?;
        }
    }
    check_expandable(elaborator, (last_a, left), (last_b, right))?;
    // Connections to what does not exist vanish with it, whatever the sizes are (4.4.5).
    if a.is_disabled || b.is_disabled {
        return Ok(());
    }
    if a.sizes != b.sizes {
        return Err(Box::new(
            Diagnostic::error("connect-sizes", "the two sides of a connection have different sizes")
                .at(left.span, format!("sizes {:?}", a.sizes))
                .at(right.span, format!("sizes {:?}", b.sizes))
                .specification("9.2"),
        ));
    }
    let level = level(elaborator, frame.class, &a.steps, &b.steps);
    let side_a = side(elaborator, level, last_a);
    let side_b = side(elaborator, level, last_b);
    for (left, right) in a.elements.into_iter().zip(b.elements) {
        out.push(Connection {
            left: Connector { component: last_a, indices: left, side: side_a },
            right: Connector { component: last_b, indices: right, side: side_b },
            path,
            span,
        });
    }
    Ok(())
}

/// An expandable connector is only connected with an expandable one (9.1.3).
fn check_expandable(
    elaborator: &mut Elaborator,
    (a, left): (CompId, &ast::ComponentRef),
    (b, right): (CompId, &ast::ComponentRef),
) -> Outcome<()> {
    let mut is_expandable = |component| match elaborator.instances.component_type(component) {
        Ok(ComponentType::Class(class)) => super::expandable::is_expandable(elaborator, class),
        _ => false,
    };
    let (one, other) = match (is_expandable(a), is_expandable(b)) {
        (true, false) => (left, right),
        (false, true) => (right, left),
        _ => return Ok(()),
    };
    Err(Box::new(
        Diagnostic::error("connect-expandable", "an expandable connector is connected with one that is not")
            .at(one.span, "expandable")
            .at(other.span, "not expandable")
            .hint("connect an element of the expandable connector")
            .specification("9.1.3"),
    ))
}

fn check_connector(
    elaborator: &mut Elaborator,
    component: CompId,
    is_last: bool,
    reference: &ast::ComponentRef,
) -> Outcome<()> {
    if is_connector(elaborator, component)? {
        return Ok(());
    }
    if !is_last {
        // The connector is one of a component, seen from here, however deep that lies.
        let name = elaborator.instances.component(component).name;
        let diagnostic = Diagnostic::breach("connect-form", "a connection reaches too deep")
            .at(reference.span, format!("`{name}` is no connector, and what is in it belongs to its own class"))
            .hint("connect connectors of this class and of its components; make the connection in the class below")
            .specification("9.1");
        elaborator.instances.report(Box::new(diagnostic));
        return Ok(());
    }
    let diagnostic = Diagnostic::breach("connect-no-connector", "only connectors can be connected")
        .at(reference.span, "not a connector")
        .specification("9.1");
    if !is_plain_variable(elaborator, component)? {
        let hint = "connect an element of it that is declared with a connector class";
        return Err(Box::new(diagnostic.hint(hint).refused()));
    }
    elaborator.instances.report(Box::new(diagnostic.hint("write an equation: connected variables are equal")));
    Ok(())
}

/// Whether a component is a variable of a predefined type without `flow` or `stream`, so that a connection can only mean that
/// it is equal to another one.
fn is_plain_variable(elaborator: &mut Elaborator, component: CompId) -> Outcome<bool> {
    let is_simple = matches!(elaborator.instances.component_type(component)?, ComponentType::Builtin { .. });
    Ok(is_simple && elaborator.instances.component(component).type_prefixes.flow == ast::Flow::None)
}

/// Connections in an if-equation are there or not for the whole run.
fn unknown_condition(condition: &ast::Expr, why: Box<Diagnostic>) -> Box<Diagnostic> {
    if why.code != "not-constant" {
        return why;
    }
    Box::new(
        Diagnostic::error(
            "connect-condition",
            "the condition of connections and transitions must be known at translation",
        )
        .at(condition.span, "this may change during the run")
        .note(why.message)
        .hint("make the condition depend on parameters and constants only")
        .specification("9.3"),
    )
}

/// Whether the class of a component is a connector (directly, or by what a short definition stands for).
pub fn is_connector(elaborator: &mut Elaborator, component: CompId) -> Outcome<bool> {
    let parent = elaborator.instances.component(component).parent;
    if super::expandable::is_expandable(elaborator, parent) {
        return Ok(true);
    }
    let node = elaborator.instances.component(component);
    let (scope, type_name) = (node.type_scope, node.declaration.type_name.clone());
    let class = match elaborator.instances.component_type(component)? {
        ComponentType::Class(class) => class,
        _ => elaborator.instances.lookup_type(scope, &type_name)?,
    };
    let mut current = class;
    loop {
        let kind = elaborator.instances.kind(current);
        if matches!(kind, ast::ClassKind::Connector | ast::ClassKind::ExpandableConnector) {
            return Ok(true);
        }
        elaborator.instances.expand(current);
        let is_short = matches!(elaborator.instances.definition(current).body, ast::ClassBody::Short { .. });
        match elaborator.instances.class(current).bases.first() {
            Some(&base) if is_short => current = base,
            _ => return Ok(false),
        }
    }
}

/// The class instance at whose level the connection is made: that of the connect equation, or one above it when a side
/// is an outer component (5.4).
fn level(elaborator: &Elaborator, class: ClassId, a: &[CompId], b: &[CompId]) -> Option<CompId> {
    let instances = &elaborator.instances;
    let owners = [
        Some(class),
        a.first().map(|&id| instances.component(id).parent),
        b.first().map(|&id| instances.component(id).parent),
    ];
    let depth = |owner: Option<CompId>| owner.map_or(0, |owner| instances.chain(owner).len());
    owners.into_iter().flatten().map(|class| instances.class(class).owner).min_by_key(|&owner| depth(owner)).flatten()
}

fn side(elaborator: &mut Elaborator, level: Option<CompId>, connector: CompId) -> Side {
    let chain = elaborator.instances.chain(connector);
    let below = match level {
        Some(level) => chain.iter().position(|&id| id == level).map_or(0, |position| position + 1),
        None => 0,
    };
    match chain.get(below) {
        Some(&first) if is_connector(elaborator, first).unwrap_or(false) => Side::Outside,
        _ => Side::Inside,
    }
}

/// Finds a reference and evaluates its subscripts.
pub fn resolve(
    elaborator: &mut Elaborator,
    frame: &Frame,
    iterators: &[Iteration],
    reference: &ast::ComponentRef,
) -> Outcome<Elements> {
    let steps = match elaborator.instances.lookup_reference(frame.class, reference)? {
        Resolved::Component { steps } => steps,
        Resolved::Unknown(diagnostic) => return Err(diagnostic),
        _ => {
            return Err(Box::new(
                Diagnostic::error("not-a-component", "a component is needed here")
                    .at(reference.span, "not a component"),
            ));
        }
    };
    let first_part = reference.parts.len() - steps.len();
    let parent = elaborator.instances.component(steps[0]).parent;
    let above = frame_of(elaborator, parent, &frame.indices).indices;
    let mut found = Elements { steps: steps.clone(), sizes: Vec::new(), elements: vec![above], is_disabled: false };
    for (&component, part) in steps.iter().zip(&reference.parts[first_part..]) {
        if elaborator.is_disabled(component, &found.elements) {
            found.is_disabled = true;
            return Ok(found);
        }
        let own = sizes_below(elaborator, component, &found.elements)?;
        if part.subscripts.len() > own.len() {
            return Err(Box::new(
                Diagnostic::error("too-many-subscripts", format!("`{}` has {} dimensions", part.ident.name, own.len()))
                    .at(part.ident.span, format!("{} subscripts", part.subscripts.len()))
                    .specification("10.5"),
            ));
        }
        for (dimension, &size) in own.iter().enumerate() {
            let (numbers, is_scalar) = match part.subscripts.get(dimension) {
                None | Some(ast::Subscript::All(_)) => ((1..=size as i64).collect(), false),
                Some(ast::Subscript::Expr(expr)) => subscript(elaborator, frame, iterators, expr, size)?,
            };
            check_bounds(&numbers, size, part)?;
            if !is_scalar {
                found.sizes.push(numbers.len());
            }
            found.elements = found
                .elements
                .iter()
                .flat_map(|indices| {
                    numbers.iter().map(|&number| {
                        let mut indices = indices.clone();
                        indices.push(number as u32);
                        indices
                    })
                })
                .collect();
        }
    }
    Ok(found)
}

/// The sizes of a component below these elements, which must be the same for all of them.
fn sizes_below(elaborator: &mut Elaborator, component: CompId, elements: &[Indices]) -> Outcome<Arc<[usize]>> {
    let largest = elaborator.sizes(component)?;
    let (true, Some((first, others))) = (elaborator.is_ragged(component), elements.split_first()) else {
        return Ok(largest);
    };
    let sizes = elaborator.sizes_at(component, first)?;
    for other in others {
        let other = elaborator.sizes_at(component, other)?;
        if other != sizes {
            return Err(Box::new(ragged(elaborator, component, &sizes, &other)));
        }
    }
    Ok(sizes)
}

fn check_bounds(numbers: &[i64], size: usize, part: &ast::RefPart) -> Outcome<()> {
    match numbers.iter().find(|&&number| number < 1 || number > size as i64) {
        None => Ok(()),
        Some(number) => Err(Box::new(
            Diagnostic::error("out-of-bounds", format!("`{}` has no element {number}", part.ident.name))
                .at(part.ident.span, format!("its size is {size}"))
                .specification("10.5"),
        )),
    }
}

/// The element numbers of one subscript, and whether it is a scalar.
fn subscript(
    elaborator: &mut Elaborator,
    frame: &Frame,
    iterators: &[Iteration],
    expr: &ast::Expr,
    size: usize,
) -> Outcome<(Vec<i64>, bool)> {
    if let Some(number) = quick_integer(expr, iterators, size) {
        return Ok((vec![number], true));
    }
    integers(elaborator, frame, &substitute(expr, iterators, Some(size)))
}

/// The value of an Integer (or Boolean, or enumeration) expression: the numbers, and whether it is a scalar.
pub fn integers(elaborator: &mut Elaborator, frame: &Frame, expr: &ast::Expr) -> Outcome<(Vec<i64>, bool)> {
    let value = elaborator.evaluate(frame, expr)?.1;
    positions(elaborator, &value, expr)
}

/// The values of the range of an iterator: their positions as subscripts, and how they would be written.
fn written_range(elaborator: &mut Elaborator, frame: &Frame, range: &ast::Expr) -> Outcome<Vec<(i64, ast::ExprKind)>> {
    let (base, value) = elaborator.evaluate(frame, range)?;
    let (positions, _) = positions(elaborator, &value, range)?;
    let written = |position: i64| match &base {
        Base::Boolean => ast::ExprKind::Boolean(position == 2),
        Base::Enumeration(known) => {
            let name = usize::try_from(position - 1).ok().and_then(|at| known.literals.get(at));
            name.and_then(|&name| literal_of(range, name)).unwrap_or(ast::ExprKind::Integer(position))
        }
        _ => ast::ExprKind::Integer(position),
    };
    Ok(positions.into_iter().map(|position| (position, written(position))).collect())
}

/// A literal of the enumeration that a range is over: `E`, `E.a:E.c` or `{E.a, E.c}`.
fn literal_of(range: &ast::Expr, name: Name) -> Option<ast::ExprKind> {
    let (reference, kept) = match &range.kind {
        ast::ExprKind::Ref(class) => (class, class.parts.len()),
        ast::ExprKind::Range { start: first, .. } => literal_reference(first)?,
        ast::ExprKind::Array(items) => literal_reference(items.first()?)?,
        _ => return None,
    };
    let mut literal = reference.clone();
    literal.parts.truncate(kept);
    literal.parts.push(ast::RefPart { ident: ast::Ident { name, span: range.span }, subscripts: Vec::new() });
    Some(ast::ExprKind::Ref(literal))
}

/// A literal, and how many parts of it name the enumeration.
fn literal_reference(expr: &ast::Expr) -> Option<(&ast::ComponentRef, usize)> {
    match &expr.kind {
        ast::ExprKind::Ref(literal) => Some((literal, literal.parts.len().checked_sub(1)?)),
        _ => None,
    }
}

fn positions(elaborator: &Elaborator, value: &Symbolic, expr: &ast::Expr) -> Outcome<(Vec<i64>, bool)> {
    let exprs = &elaborator.flat.model.exprs;
    let number = |value: &Symbolic| {
        let id = value.scalar()?;
        exprs.as_integer(id).or_else(|| exprs.as_boolean(id).map(|value| i64::from(value) + 1))
    };
    let numbers: Option<Vec<i64>> = value.elements().iter().map(number).collect();
    match numbers {
        Some(numbers) => Ok((numbers, matches!(value, Symbolic::Scalar(_)))),
        None => Err(Box::new(
            Diagnostic::error("subscript-type", "an Integer that is known at translation is needed here")
                .at(expr.span, "not an Integer")
                .specification("10.5"),
        )),
    }
}

/// The range of an iterator without one: the size of an array that it indexes (11.2.2.1).
fn implicit_range(
    elaborator: &mut Elaborator,
    frame: &Frame,
    iterator: &ast::Iterator,
    body: &[ast::Equation],
) -> Outcome<Vec<i64>> {
    for equation in body {
        let ast::EquationKind::Connect(left, right) = &equation.kind else { continue };
        for reference in [left, right] {
            for (position, part) in reference.parts.iter().enumerate() {
                let dimension = part.subscripts.iter().position(|subscript| match subscript {
                    ast::Subscript::Expr(expr) => matches!(&expr.kind, ast::ExprKind::Ref(inner)
                        if inner.parts.len() == 1 && inner.parts[0].ident.name == iterator.name.name),
                    ast::Subscript::All(_) => false,
                });
                let Some(dimension) = dimension else { continue };
                let prefix = ast::ComponentRef { parts: reference.parts[..=position].to_vec(), ..reference.clone() };
                if let Resolved::Component { steps } = elaborator.instances.lookup_reference(frame.class, &prefix)?
                    && let Some(&component) = steps.last()
                    && let Some(&size) = elaborator.sizes(component)?.get(dimension)
                {
                    return Ok((1..=size as i64).collect());
                }
            }
        }
    }
    Err(Box::new(
        Diagnostic::error("no-range", format!("nothing tells the range of `{}`", iterator.name.name))
            .at(iterator.name.span, "an iterator without a range")
            .specification("11.2.2.1"),
    ))
}

/// Subscripts such as `2`, `i`, `i + 1`, `end`, without the machinery of typing.
fn quick_integer(expr: &ast::Expr, iterators: &[Iteration], end: usize) -> Option<i64> {
    match &expr.kind {
        ast::ExprKind::Integer(number) => Some(*number),
        ast::ExprKind::End => Some(end as i64),
        ast::ExprKind::Ref(reference) => match reference.parts.as_slice() {
            [part] if part.subscripts.is_empty() && !reference.global => {
                let iteration = iterators.iter().rev().find(|iteration| iteration.name == part.ident.name)?;
                Some(iteration.position)
            }
            _ => None,
        },
        ast::ExprKind::Binary(op, a, b) => {
            let (a, b) = (quick_integer(a, iterators, end)?, quick_integer(b, iterators, end)?);
            match op {
                ast::BinaryOp::Add => a.checked_add(b),
                ast::BinaryOp::Sub => a.checked_sub(b),
                ast::BinaryOp::Mul => a.checked_mul(b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a connect equation or a statement about connection graphs or state machines stands in it.
fn is_about_connections(equation: &ast::Equation) -> bool {
    match &equation.kind {
        ast::EquationKind::Connect(..) => true,
        ast::EquationKind::For { body, .. } => body.iter().any(is_about_connections),
        ast::EquationKind::If { branches, otherwise } => {
            otherwise.iter().any(is_about_connections)
                || branches.iter().any(|(_, body)| body.iter().any(is_about_connections))
        }
        ast::EquationKind::Call(call) => match &call.kind {
            ast::ExprKind::Call { function, .. } => {
                graph_kind(function).is_some() || state_machines::operator(function).is_some()
            }
            _ => false,
        },
        ast::EquationKind::When { branches } => branches.iter().any(|(_, body)| body.iter().any(is_about_connections)),
        ast::EquationKind::Equal(..) => false,
    }
}

fn state_machine_call(call: &ast::Expr) -> Option<(state_machines::Operator, &ast::Arguments)> {
    match &call.kind {
        ast::ExprKind::Call { function, arguments } => Some((state_machines::operator(function)?, arguments)),
        _ => None,
    }
}

fn graph_kind(function: &ast::ComponentRef) -> Option<GraphKind> {
    let [package, name] = function.parts.as_slice() else { return None };
    if package.ident.name != "Connections" {
        return None;
    }
    match name.ident.name.as_str() {
        "branch" => Some(GraphKind::Branch),
        "root" => Some(GraphKind::Root),
        "potentialRoot" => Some(GraphKind::PotentialRoot),
        "uniqueRoot" => Some(GraphKind::UniqueRoot),
        _ => None,
    }
}
