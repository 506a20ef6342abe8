//! Operators that look at variables or at the simulator (3.7.4, 3.7.5, 15.2, 16), and sums and products of records.

use base::{Diagnostic, Id, Span};
use dae::expr::CompareOp;
use dae::{Builtin, ExprId, Node, VarId, Variability};

use super::{Events, Expander, Mode, Sizes, Symbolic, sizes_text};
use crate::flat::Indices;
use crate::instance::{CompId, ComponentType, Outcome};
use crate::typed::{Base, Expr, FunctionKey, Operator};

/// Operators whose value has the sizes of their argument.
fn same_shape(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Der
            | Operator::Pre
            | Operator::Previous
            | Operator::Edge
            | Operator::Change
            | Operator::InStream
            | Operator::ActualStream
    )
}

impl Expander<'_> {
    pub(super) fn operator(&mut self, operator: Operator, arguments: &[Expr], whole: &Expr) -> Outcome<Symbolic> {
        let span = whole.span;
        match operator {
            Operator::NoEvent => {
                let value = self.expand_without_events(&arguments[0]);
                if let Ok(value) = &value
                    && !matches!(whole.ty.base, Base::Real)
                    && self.function.is_none()
                {
                    self.elaborator.expansion.without_events.extend(value.scalars());
                }
                return value;
            }
            Operator::Smooth => {
                let order = self.integer(&arguments[0])?;
                let outer = self.events;
                if order >= 1 {
                    self.events = Events::None;
                }
                let value = self.expand(&arguments[1]);
                self.events = outer;
                return value;
            }
            Operator::InstanceName => {
                let name = self.instance_name();
                return Ok(Symbolic::Scalar(self.exprs().string(&name)));
            }
            Operator::Cardinality => {
                let count = self.cardinality(&arguments[0])?;
                return Ok(Symbolic::Scalar(self.exprs().int(count)));
            }
            Operator::IsRoot | Operator::Rooted => {
                let key = self.graph_node(&arguments[0])?;
                let connected = &self.elaborator.connected;
                let nodes = if operator == Operator::IsRoot { &connected.roots } else { &connected.rooted };
                let holds = key.is_some_and(|key| nodes.contains(&key));
                return Ok(Symbolic::Scalar(self.exprs().boolean(holds)));
            }
            _ => {}
        }
        if self.mode == Mode::Shape
            && let Some(argument) = same_shape(operator).then(|| arguments.first()).flatten()
        {
            // Variables stand for no more than their sizes.
            return self.expand(argument);
        }
        if self.mode == Mode::Evaluate {
            return self.constant_operator(operator, arguments, span);
        }
        match operator {
            Operator::Der => {
                let value = self.expand(&arguments[0])?;
                self.map_fallible(&value, &mut |expander, id| expander.derivative(id, span))
            }
            Operator::Pre | Operator::Previous => {
                let value = self.unassigned(&arguments[0])?;
                self.map_fallible(&value, &mut |expander, id| expander.left_limit(operator, id, span))
            }
            Operator::Edge => {
                let (now, plain) = (self.expand(&arguments[0])?, self.unassigned(&arguments[0])?);
                let before = self.map_fallible(&plain, &mut |e, id| e.left_limit(Operator::Pre, id, span))?;
                let exprs = self.exprs();
                let joined = now.zip(&before, &mut |now, before| {
                    let not = exprs.not(before);
                    exprs.and(now, not)
                });
                joined.ok_or_else(|| self.wrong_sizes(span, "a Boolean variable is needed here"))
            }
            Operator::Change => {
                let (now, plain) = (self.expand(&arguments[0])?, self.unassigned(&arguments[0])?);
                let before = self.map_fallible(&plain, &mut |e, id| e.left_limit(Operator::Pre, id, span))?;
                let exprs = self.exprs();
                let joined =
                    now.zip(&before, &mut |now, before| exprs.compare(CompareOp::NotEqual, false, now, before));
                joined.ok_or_else(|| self.wrong_sizes(span, "a variable is needed here"))
            }
            Operator::Initial => Ok(Symbolic::Scalar(self.exprs().builtin(Builtin::Initial, &[]))),
            Operator::Terminal => Ok(Symbolic::Scalar(self.exprs().builtin(Builtin::Terminal, &[]))),
            Operator::Sample => {
                let (start, interval) = (self.scalar(&arguments[0])?, self.scalar(&arguments[1])?);
                Ok(Symbolic::Scalar(self.exprs().builtin(Builtin::Sample, &[start, interval])))
            }
            Operator::Clocked(Builtin::ActiveState) => {
                let (component, indices) = self.one_element(&arguments[0])?;
                self.active_state(component, &indices, span)
            }
            Operator::Clocked(op) => self.clocked(op, arguments, span),
            Operator::InStream => {
                let value = self.expand(&arguments[0])?;
                self.map_fallible(&value, &mut |expander, id| expander.in_stream(id, span))
            }
            Operator::ActualStream => {
                let value = self.expand(&arguments[0])?;
                self.map_fallible(&value, &mut |expander, id| expander.actual_stream(id, span))
            }
            Operator::Spatial => {
                let mut scalars = Vec::new();
                for argument in arguments {
                    self.expand(argument)?.for_each_scalar(&mut |id| scalars.push(id));
                }
                let first = Symbolic::Scalar(self.exprs().builtin(Builtin::SpatialFirst, &scalars));
                let second = Symbolic::Scalar(self.exprs().builtin(Builtin::SpatialSecond, &scalars));
                Ok(Symbolic::record(vec![first, second]))
            }
            _ => Err(self.not_constant(span, "this operator")),
        }
    }

    /// The last name of the simulated class and the path of the instance, with its element numbers (3.7.4.4).
    fn instance_name(&mut self) -> String {
        let model = &self.elaborator.flat.model.name;
        let mut name = model.rsplit('.').next().unwrap_or_default().to_owned();
        let instances = &mut self.elaborator.instances;
        let Some(owner) = instances.class(self.frame.class).owner else { return name };
        let mut indices = self.frame.indices.iter();
        for component in instances.chain(owner) {
            let rank = instances.dimensions(component).map_or(0, |dimensions| dimensions.len());
            name.push('.');
            name.push_str(instances.component(component).name.as_str());
            let own: Vec<String> = indices.by_ref().take(rank).map(u32::to_string).collect();
            if !own.is_empty() {
                name.push_str(&format!("[{}]", own.join(",")));
            }
        }
        name
    }

    /// At translation nothing moves.
    fn constant_operator(&mut self, operator: Operator, arguments: &[Expr], span: Span) -> Outcome<Symbolic> {
        match operator {
            Operator::Der => {
                let value = self.expand(&arguments[0])?;
                let zero = self.exprs().real(0.0);
                Ok(value.map(&mut |_| zero))
            }
            Operator::Pre | Operator::Previous => self.expand(&arguments[0]),
            Operator::Edge | Operator::Change => {
                let value = self.expand(&arguments[0])?;
                let no = self.exprs().boolean(false);
                Ok(value.map(&mut |_| no))
            }
            _ => Err(self.not_constant(span, "this operator")),
        }
    }

    fn map_fallible(
        &mut self,
        value: &Symbolic,
        change: &mut dyn FnMut(&mut Self, ExprId) -> Outcome<ExprId>,
    ) -> Outcome<Symbolic> {
        let mut failed = None;
        let zero: ExprId = Id::from_index(0);
        let result = value.map(&mut |id| match change(self, id) {
            Ok(id) => id,
            Err(diagnostic) => {
                failed.get_or_insert(diagnostic);
                zero
            }
        });
        match failed {
            Some(diagnostic) => Err(diagnostic),
            None => Ok(result),
        }
    }

    /// The variables themselves, whatever an algorithm has assigned to them.
    fn unassigned(&mut self, expr: &Expr) -> Outcome<Symbolic> {
        let assigned = self.assigned.take();
        let value = self.expand(expr);
        self.assigned = assigned;
        value
    }

    /// How many connections a connector has. An array, for which the language has no answer, has the number that all of its
    /// elements have.
    fn cardinality(&mut self, expr: &Expr) -> Outcome<i64> {
        let (component, sizes, all) = self.elements_of(expr)?;
        let counts = &self.elaborator.connected.cardinality;
        let mut counts = all.into_iter().map(|indices| counts.get(&(component, indices)).copied().unwrap_or(0));
        let count = counts.next().unwrap_or(0);
        if counts.any(|other| other != count) {
            return Err(self.wrong_sizes(expr.span, "the elements of this array have different numbers of connections"));
        }
        if !sizes.is_empty() {
            let diagnostic = Diagnostic::breach("cardinality-of-array", "`cardinality` takes a single connector")
                .at(expr.span, "an array, of which all elements have as many connections")
                .specification("3.7.4.3");
            self.elaborator.instances.report(Box::new(diagnostic));
        }
        Ok(count)
    }

    fn one_element(&mut self, expr: &Expr) -> Outcome<(CompId, Indices)> {
        let (component, sizes, mut all) = self.elements_of(expr)?;
        match (sizes.is_empty(), all.pop()) {
            (true, Some(indices)) => Ok((component, indices)),
            _ => Err(self.wrong_sizes(expr.span, "a single component is needed here")),
        }
    }

    /// A node of the graph of connections: a record, or an array of an overdetermined type, which its first element stands for.
    /// An array without elements is none.
    fn graph_node(&mut self, expr: &Expr) -> Outcome<Option<(CompId, Indices)>> {
        let (component, sizes, mut all) = self.elements_of(expr)?;
        let is_type = matches!(self.elaborator.instances.component_type(component), Ok(ComponentType::Builtin { .. }));
        match all.first_mut() {
            Some(indices) if sizes.is_empty() || is_type => Ok(Some((component, std::mem::take(indices)))),
            None if is_type => Ok(None),
            _ => Err(self.wrong_sizes(expr.span, "a single component is needed here")),
        }
    }

    fn variability(&self, variable: VarId) -> Variability {
        self.elaborator.flat.model.variables[variable].variability
    }

    /// The time derivative of a scalar; an expression without a derivative rule gets a variable of its own. So does one that
    /// steps at events: what is differentiated does not jump, so that its parts do, which a rule would not know.
    fn derivative(&mut self, id: ExprId, span: Span) -> Outcome<ExprId> {
        if let Node::Var(variable) = self.exprs().node(id) {
            return Ok(match self.variability(variable) {
                Variability::Continuous => self.exprs().der(variable),
                _ => self.exprs().real(0.0),
            });
        }
        if self.steps_at_events(id) {
            let variable = self.elaborator.auxiliary_real(id, span, self.path);
            return Ok(self.exprs().der(variable));
        }
        let elaborator = &mut *self.elaborator;
        let model = &mut elaborator.flat.model;
        let found = elaborator.functions.differentiator.total_by_kind(
            &mut model.exprs,
            &mut model.functions,
            &model.variables,
            id,
        );
        // A difference of a product of slope and value is not that of what was written.
        let is_varying =
            |node: Node| matches!(node, Node::Var(v) if model.variables[v].variability == Variability::Continuous);
        Ok(match found {
            Ok(derivative) if !elaborator.name_differentiated || !model.exprs.any(derivative, is_varying) => derivative,
            _ => {
                let variable = elaborator.auxiliary_real(id, span, self.path);
                self.exprs().der(variable)
            }
        })
    }

    /// Whether something continuous is put together with what changes at events only: discrete variables, relations, quotients
    /// and remainders.
    fn steps_at_events(&self, id: ExprId) -> bool {
        let model = &self.elaborator.flat.model;
        let is_a = |variability: Variability| move |node: Node| matches!(node, Node::Var(v) if model.variables[v].variability == variability);
        let is_at_events = |node: Node| match node {
            Node::Compare { event, .. } => event,
            Node::Builtin(operator, _) => matches!(
                operator,
                Builtin::FloorEvent | Builtin::CeilEvent | Builtin::DivEvent | Builtin::ModEvent | Builtin::RemEvent
            ),
            _ => false,
        };
        let varies = |node: Node| matches!(node, Node::Time) || is_a(Variability::Continuous)(node);
        let steps = |part: ExprId| match model.exprs.node(part) {
            node if is_at_events(node) => model.exprs.any(part, varies),
            node => is_a(Variability::Discrete)(node),
        };
        model.exprs.any(id, is_a(Variability::Continuous)) && model.exprs.postorder(&[id]).into_iter().any(steps)
    }

    fn left_limit(&mut self, operator: Operator, id: ExprId, span: Span) -> Outcome<ExprId> {
        match self.exprs().node(id) {
            Node::Var(variable) if self.variability(variable) <= Variability::Parameter => Ok(id),
            Node::Var(variable) if operator == Operator::Previous => Ok(self.exprs().previous(variable)),
            Node::Var(variable) => {
                if !self.in_when && !self.initial && self.mode == Mode::Flat {
                    self.elaborator.expansion.left_limits.push((variable, span, self.path));
                }
                Ok(self.exprs().pre(variable))
            }
            Node::Real(_) | Node::Integer(_) | Node::Boolean(_) | Node::String(_) => Ok(id),
            _ => Err(self.located(
                Diagnostic::error("not-a-variable", "`pre` needs a variable").at(span, "").specification("3.7.5"),
            )),
        }
    }

    /// Operators of clocks act on each element of their first argument.
    fn clocked(&mut self, op: Builtin, arguments: &[Expr], span: Span) -> Outcome<Symbolic> {
        let Some((first, rest)) = arguments.split_first() else {
            return Ok(Symbolic::Scalar(self.exprs().builtin(op, &[])));
        };
        let value = self.expand(first)?;
        let mut others = Vec::with_capacity(rest.len());
        for other in rest {
            // Factors and counters are part of the structure of the clocks.
            let constant =
                matches!(op, Builtin::SubSample | Builtin::SuperSample | Builtin::ShiftSample | Builtin::BackSample)
                    || op == Builtin::ClockSolver;
            let id = if constant {
                let value = self.evaluated(other)?;
                value.scalar().ok_or_else(|| self.wrong_sizes(span, "a scalar is needed here"))?
            } else {
                self.scalar(other)?
            };
            others.push(id);
        }
        if matches!(op, Builtin::Interval | Builtin::FirstTick) {
            let scalars: Vec<ExprId> = value.scalars().into_iter().take(1).collect();
            return Ok(Symbolic::Scalar(self.exprs().builtin(op, &scalars)));
        }
        let exprs = self.exprs();
        Ok(value.map(&mut |id| {
            let mut all = vec![id];
            all.extend_from_slice(&others);
            exprs.builtin(op, &all)
        }))
    }

    fn active_state(&mut self, component: CompId, indices: &Indices, span: Span) -> Outcome<Symbolic> {
        let found = self.elaborator.connected.active.get(&(component, indices.clone())).copied();
        match found {
            Some(variable) => Ok(Symbolic::Scalar(self.exprs().var(variable))),
            None => Err(self.located(
                Diagnostic::error("not-a-state", "`activeState` needs a block that is a state of a state machine")
                    .at(span, "")
                    .specification("17.1"),
            )),
        }
    }

    fn in_stream(&mut self, id: ExprId, span: Span) -> Outcome<ExprId> {
        let variable = match self.exprs().node(id) {
            Node::Var(variable) => variable,
            _ => return Err(self.not_stream(span)),
        };
        match self.elaborator.connected.in_stream.get(&variable) {
            Some(&value) => Ok(value),
            None => Err(self.not_stream(span)),
        }
    }

    fn not_stream(&self, span: Span) -> Box<Diagnostic> {
        self.located(
            Diagnostic::error("not-a-stream", "`inStream` needs a stream variable of a connector")
                .at(span, "")
                .specification("15.2"),
        )
    }

    /// `smooth(0, if m_flow > 0 then inStream(h) else h)` (15.3).
    fn actual_stream(&mut self, id: ExprId, span: Span) -> Outcome<ExprId> {
        let inside = self.in_stream(id, span)?;
        let Node::Var(variable) = self.exprs().node(id) else { return Err(self.not_stream(span)) };
        let Some(&flow) = self.elaborator.connected.flow_of_stream.get(&variable) else {
            return Err(self.not_stream(span));
        };
        let (flow, events) = (self.exprs().var(flow), self.events == Events::All);
        let zero = self.exprs().real(0.0);
        let into = self.exprs().compare(CompareOp::Greater, events, flow, zero);
        Ok(self.exprs().if_(into, inside, id))
    }

    fn expand_without_events(&mut self, expr: &Expr) -> Outcome<Symbolic> {
        let outer = std::mem::replace(&mut self.events, Events::None);
        let value = self.expand(expr);
        self.events = outer;
        value
    }

    /// The product of vectors and matrices of records.
    pub(super) fn record_product(
        &mut self,
        times: FunctionKey,
        plus: FunctionKey,
        a: &Symbolic,
        b: &Symbolic,
        span: Span,
    ) -> Outcome<Symbolic> {
        let (rows, inner, columns) = match (a.sizes(), b.sizes()) {
            (&[n], &[m]) if n == m => (None, n, None),
            (&[n, k], &[m]) if k == m => (Some(n), k, None),
            (&[n], &[m, k]) if n == m => (None, n, Some(k)),
            (&[n, k], &[l, m]) if k == l => (Some(n), k, Some(m)),
            (x, y) => {
                let message = format!(
                    "the product needs equal inner sizes, and the operands have sizes {} and {}",
                    sizes_text(x),
                    sizes_text(y)
                );
                return Err(self.wrong_sizes(span, message));
            }
        };
        let (row_count, column_count) = (rows.unwrap_or(1), columns.unwrap_or(1));
        let mut elements = Vec::with_capacity(row_count * column_count);
        for row in 0..row_count {
            for column in 0..column_count {
                let mut total: Option<Symbolic> = None;
                for k in 0..inner {
                    let x = a.elements()[row * inner + k].clone();
                    let y = b.elements()[k * column_count + column].clone();
                    let term = self.apply_one(times, vec![x, y], span)?;
                    total = Some(match total {
                        None => term,
                        Some(total) => self.apply_one(plus, vec![total, term], span)?,
                    });
                }
                let Some(total) = total else {
                    return Err(self.wrong_sizes(span, "the product of records over no elements"));
                };
                elements.push(total);
            }
        }
        Ok(Symbolic::array(rows.into_iter().chain(columns).collect::<Sizes>(), elements))
    }

    pub(super) fn record_sum(
        &mut self,
        plus: FunctionKey,
        zero: Option<&Expr>,
        array: &Symbolic,
        span: Span,
    ) -> Outcome<Symbolic> {
        let mut total: Option<Symbolic> = None;
        for element in array.elements() {
            total = Some(match total {
                None => element.clone(),
                Some(total) => self.apply_one(plus, vec![total, element.clone()], span)?,
            });
        }
        match (total, zero) {
            (Some(total), _) => Ok(total),
            (None, Some(zero)) => self.expand(zero),
            (None, None) => Err(self.wrong_sizes(span, "the sum of no records")),
        }
    }
}
