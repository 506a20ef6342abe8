//! Expansion: a typed expression in a frame of the instance tree becomes scalars of the flat model.
//!
//! This is an interpreter whose values are expressions. With all operands constant it computes (`Mode::Evaluate`); with
//! variables it builds the arena with folding constructors, so that what is constant folds away by itself.

pub mod arrays;
mod call_checks;
mod calls;
mod operators;
mod references;
mod statements;
mod text;
mod value;

use std::sync::Arc;

use base::{Diagnostic, Span};
use dae::expr::CompareOp;
use dae::function::{ArrayFunction, LocalId, ReductionOp};
use dae::{Builtin, ExprId, Exprs, Node, PathId, VarId, Variability};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use call_checks::{CallChecks, keep_lost as keep_lost_checks};
pub use calls::{from_shape, to_value, value_shape};
pub(crate) use references::ragged;
pub use text::{TextFunction, literal as literal_value};
pub use value::{Positions, Sizes, Symbolic, SymbolicArray, SymbolicFunction, sizes_text, stack};

use crate::elaborate::Elaborator;
use crate::functions::TypedFunction;
use crate::instance::{Frame, Outcome};
use crate::typed::{Base, Expr, Iterator, Kind, Subscript};

/// What variables stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Variables of the flat model.
    Flat,
    /// Parameters and constants give their values; anything else is an error.
    Evaluate,
    /// Only the sizes count; variables need not exist yet.
    Shape,
}

/// Which relations make events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Events {
    All,
    /// In the bodies of when clauses: at their instants everything has the value that it has, but relations on time are
    /// those just behind an event that relations on time make (`right_limits`).
    OnTime,
    /// In `noEvent` and in functions.
    None,
}

pub struct Expander<'e> {
    pub elaborator: &'e mut Elaborator,
    pub frame: Frame,
    pub mode: Mode,
    pub events: Events,
    pub locals: Vec<Option<Symbolic>>,
    /// The function whose body is executed.
    pub(crate) function: Option<Arc<TypedFunction>>,
    /// The algorithm section that is executed.
    pub(crate) section: Option<Arc<(Vec<crate::typed::Statement>, crate::typed::Locals)>>,
    /// In an algorithm section: what the variables have been assigned so far.
    pub assigned: Option<FxHashMap<VarId, ExprId>>,
    /// Statements that may still be executed symbolically.
    pub budget: usize,
    /// Actions that statements asked for, with the condition under which they are reached.
    pub actions: Vec<(Option<ExprId>, dae::ActionKind, Span)>,
    pub(crate) path_condition: Option<ExprId>,
    /// The component in whose class the text stands.
    pub path: PathId,
    /// Under which condition the innermost loop, or the function, has been left.
    pub(crate) broken: Option<ExprId>,
    pub(crate) returned: Option<ExprId>,
    pub(crate) in_when: bool,
    /// In an initial section.
    pub(crate) initial: bool,
    pub(crate) assigned_in_when: FxHashSet<VarId>,
    /// What is assigned is looked for, also in branches that are never taken.
    pub(crate) finds_targets: bool,
    /// Relations in loops at run time are followed: the section holds at all times, and what it assigns is known.
    pub(crate) watches: bool,
    /// Conditions of when clauses met in an algorithm: the expression, and what asks whether it became true.
    pub(crate) when: Option<WhenBuilder>,
}

/// Makes the Boolean variable of a when condition; given by the elaboration of algorithm sections.
pub(crate) type WhenBuilder = fn(&mut Expander<'_>, Symbolic, &Expr) -> Outcome<ExprId>;

impl<'e> Expander<'e> {
    pub fn new(elaborator: &'e mut Elaborator, frame: Frame, mode: Mode) -> Self {
        Self {
            elaborator,
            frame,
            mode,
            events: Events::All,
            locals: Vec::new(),
            function: None,
            section: None,
            assigned: None,
            budget: 1_000_000,
            actions: Vec::new(),
            path_condition: None,
            path: base::Id::from_index(0),
            broken: None,
            returned: None,
            in_when: false,
            initial: false,
            assigned_in_when: FxHashSet::default(),
            finds_targets: false,
            watches: false,
            when: None,
        }
    }

    pub fn exprs(&mut self) -> &mut Exprs {
        &mut self.elaborator.flat.model.exprs
    }

    pub fn expand(&mut self, expr: &Expr) -> Outcome<Symbolic> {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.expand_inner(expr))
    }

    /// The only scalar of an expression.
    pub fn scalar(&mut self, expr: &Expr) -> Outcome<ExprId> {
        let value = self.expand(expr)?;
        match value.scalar() {
            Some(id) => Ok(id),
            None => Err(self.wrong_sizes(
                expr.span,
                format!("a scalar is needed, and this has sizes {}", sizes_text(value.sizes())),
            )),
        }
    }

    pub(crate) fn wrong_sizes(&self, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
        self.located(Diagnostic::error("size-mismatch", message).at(span, "").specification("10.6"))
    }

    /// The message with the component in whose text it happened.
    pub(crate) fn located(&self, mut diagnostic: Diagnostic) -> Box<Diagnostic> {
        if diagnostic.component.is_none() {
            diagnostic.component = self.elaborator.instances.owner_path(self.frame.class);
        }
        Box::new(diagnostic)
    }

    fn shaped(&self, result: Result<Symbolic, String>, span: Span, operands: &[&Expr]) -> Outcome<Symbolic> {
        result.map_err(|message| {
            let mut diagnostic = Diagnostic::error("size-mismatch", message).at(span, "").specification("10.6");
            for operand in operands {
                if operand.span != span {
                    diagnostic = diagnostic.at(operand.span, "an operand");
                }
            }
            self.located(diagnostic)
        })
    }

    fn expand_inner(&mut self, expr: &Expr) -> Outcome<Symbolic> {
        let span = expr.span;
        Ok(match &expr.kind {
            Kind::Real(value) => Symbolic::Scalar(self.exprs().real(*value)),
            Kind::Integer(value) | Kind::Enumeration(value) => Symbolic::Scalar(self.exprs().int(*value)),
            Kind::Boolean(value) => Symbolic::Scalar(self.exprs().boolean(*value)),
            Kind::String(value) => Symbolic::Scalar(self.exprs().string(value)),
            Kind::Time => {
                if self.mode == Mode::Evaluate {
                    return Err(self.not_constant(span, "`time`"));
                }
                Symbolic::Scalar(self.exprs().time())
            }
            Kind::Local(local) => self.local(*local, span)?,
            Kind::Component(reference) => self.reference(reference, expr)?,
            Kind::Index(value, subscripts) => {
                let value = self.expand(value)?;
                self.index(&value, subscripts, span)?
            }
            Kind::Field(value, position) => {
                let value = self.expand(value)?;
                match value.field(*position as usize) {
                    Some(field) => arrays::with_rank(field, expr.ty.rank),
                    None => return Err(self.wrong_sizes(span, "a record is needed here")),
                }
            }
            Kind::SizeOf(value, dimension) if self.size_found(value, *dimension).is_some() => {
                let size = self.size_found(value, *dimension).unwrap_or(0);
                Symbolic::Scalar(self.exprs().int(size as i64))
            }
            Kind::SizeOf(value, dimension) => {
                let sizes = self.sizes_of(value)?;
                let size = sizes.get(*dimension as usize).copied().unwrap_or(0);
                Symbolic::Scalar(self.exprs().int(size as i64))
            }
            Kind::SizeOfPart(reference, dimension) => {
                let Some(sizes) = self.sizes_of_last(reference)? else {
                    return Err(self.wrong_sizes(span, "an array is needed here"));
                };
                let size = sizes.get(*dimension as usize).copied().unwrap_or(0);
                Symbolic::Scalar(self.exprs().int(size as i64))
            }
            Kind::ToReal(value) => {
                let value = self.expand(value)?;
                let exprs = self.exprs();
                value.map(&mut |id| to_real(exprs, id))
            }
            Kind::Reorder(value, order) => {
                let value = self.expand(value)?;
                self.reorder(&value, order, span)?
            }
            Kind::Neg(value) => {
                let value = self.expand(value)?;
                let exprs = self.exprs();
                value.map(&mut |id| exprs.neg(id))
            }
            Kind::Not(value) => {
                let value = self.expand(value)?;
                let exprs = self.exprs();
                value.map(&mut |id| exprs.not(id))
            }
            Kind::Arithmetic(op, left, right) => {
                let (a, b) = (self.expand(left)?, self.expand(right)?);
                let result = arrays::arithmetic(self.exprs(), *op, &a, &b);
                self.shaped(result, span, &[left, right])?
            }
            Kind::Elementwise(op, left, right) => {
                let (a, b) = (self.expand(left)?, self.expand(right)?);
                let result = arrays::elementwise(self.exprs(), *op, &a, &b);
                self.shaped(result, span, &[left, right])?
            }
            Kind::Product { times, plus, left, right } => {
                let (a, b) = (self.expand(left)?, self.expand(right)?);
                self.record_product(*times, *plus, &a, &b, span)?
            }
            Kind::RecordSum { plus, zero, array } => {
                let value = self.expand(array)?;
                self.record_sum(*plus, zero.as_deref(), &value, span)?
            }
            Kind::And(left, right) => self.logic(left, right, true)?,
            Kind::Or(left, right) => self.logic(left, right, false)?,
            Kind::Compare(op, left, right) => Symbolic::Scalar(self.compare(*op, left, right)?),
            Kind::If(condition, then, otherwise) => self.choose(condition, then, otherwise, expr)?,
            Kind::Array(items) => {
                let values = items.iter().map(|item| self.expand(item)).collect::<Outcome<Vec<_>>>()?;
                let result = arrays::construct(values, expr.ty.rank);
                self.shaped(result, span, &[])?
            }
            Kind::Matrix(rows) => self.matrix(rows, expr.ty.rank, span)?,
            Kind::Range(start, step, stop) => self.range(start, step.as_deref(), stop, expr)?,
            Kind::ArrayFor { element, iterators } => self.array_for(element, iterators, expr)?,
            Kind::Reduction { op, element, iterators } => self.reduction(*op, element, iterators, expr)?,
            Kind::Record(_, fields) => {
                Symbolic::record(fields.iter().map(|field| self.expand(field)).collect::<Outcome<Vec<_>>>()?)
            }
            Kind::Builtin(op, arguments) => self.builtin(*op, arguments, span)?,
            Kind::Whole(op, arguments) => self.whole(*op, arguments, expr)?,
            Kind::Call(function, arguments) => self.call(*function, arguments, expr)?,
            Kind::CallLocal(local, arguments) => self.call_local(*local, arguments, expr)?,
            Kind::FunctionValue(function, given) => {
                let given =
                    given.iter().map(|(at, value)| Ok((*at, self.expand(value)?))).collect::<Outcome<Vec<_>>>()?;
                Symbolic::Function(std::rc::Rc::new(SymbolicFunction { function: *function, given }))
            }
            Kind::LocalValue(local, given) => {
                let more =
                    given.iter().map(|(at, value)| Ok((*at, self.expand(value)?))).collect::<Outcome<Vec<_>>>()?;
                let Symbolic::Function(known) = self.local(*local, span)? else {
                    return Err(self.wrong_sizes(span, "a function is needed here"));
                };
                let inputs = self.elaborator.function(known.function).signature.inputs.len();
                let given = dae::function::give(inputs, known.given.clone(), more);
                Symbolic::Function(std::rc::Rc::new(SymbolicFunction { function: known.function, given }))
            }
            Kind::Vectorized { function, arguments, over } => self.vectorized(*function, arguments, over, expr)?,
            Kind::Output(value, position) => {
                let value = self.expand(value)?;
                match value.field(*position as usize) {
                    Some(field) => field,
                    None => return Err(self.wrong_sizes(span, "a call with several results is needed here")),
                }
            }
            Kind::Operator(operator, arguments) => self.operator(*operator, arguments, expr)?,
            // First values of variables of functions are no part of equations.
            Kind::Unset | Kind::Error => return Err(self.elaborator.failed_above(span)),
        })
    }

    fn local(&mut self, local: LocalId, span: Span) -> Outcome<Symbolic> {
        if let Some(Some(value)) = self.locals.get(base::Id::index(local)) {
            return Ok(value.clone());
        }
        // The binding of a variable of a function is its first value.
        let function = self.function.clone();
        match function.as_ref().and_then(|function| function.locals.get(local)).and_then(|own| own.default.as_ref()) {
            Some(default) => {
                let value = self.expand(default)?;
                self.set_local(local, Some(value.clone()));
                Ok(value)
            }
            None => match self.without_elements(local) {
                Some(empty) => Ok(empty),
                None => Err(self.located(Diagnostic::error("no-value", "this has no value yet").at(span, ""))),
            },
        }
    }

    /// An array of a function with sizes given by `:` begins without elements (12.4.5).
    fn without_elements(&mut self, local: LocalId) -> Option<Symbolic> {
        let function = self.function.clone()?;
        let sizes = &function.locals.get(local)?.sizes;
        if sizes.iter().all(Option::is_some) {
            return None;
        }
        let mut known = Sizes::new();
        for size in sizes {
            known.push(match size {
                Some(size) => self.size(size).ok()?,
                None => 0,
            });
        }
        Some(Symbolic::array(known, Vec::new()))
    }

    /// Arguments that are known now must lie where the function is defined.
    fn check_domain(&mut self, op: Builtin, scalars: &[ExprId], span: Span) -> Outcome<()> {
        let Some(&first) = scalars.first() else { return Ok(()) };
        if let (Builtin::Delay, &[_, delay, longest]) = (op, scalars)
            && let (Some(delay), Some(longest)) = (self.exprs().as_real(delay), self.exprs().as_real(longest))
            && !(0.0..=longest).contains(&delay)
        {
            let message = format!("the delay {delay} is not between 0 and the longest delay {longest}");
            let diagnostic = Diagnostic::error("outside-domain", message).at(span, "").specification("3.7.4.1");
            return Err(self.located(diagnostic));
        }
        let Some(value) = self.exprs().as_real(first) else { return Ok(()) };
        let Some(known) = op.elementary() else { return Ok(()) };
        let Some(domain) = known.domain else { return Ok(()) };
        if domain(value) || self.mode == Mode::Shape || self.path_condition.is_some() {
            return Ok(());
        }
        let diagnostic = Diagnostic::error("outside-domain", format!("`{}` is not defined for {value}", known.name))
            .at(span, "")
            .specification("3.7.3");
        Err(self.located(diagnostic))
    }

    pub fn set_local(&mut self, local: LocalId, value: Option<Symbolic>) {
        let at = base::Id::index(local);
        if self.locals.len() <= at {
            self.locals.resize(at + 1, None);
        }
        self.locals[at] = value;
    }

    pub(crate) fn not_constant(&self, span: Span, what: &str) -> Box<Diagnostic> {
        self.located(
            Diagnostic::error(
                "not-constant",
                format!("a value is needed at translation, and {what} is not known then"),
            )
            .at(span, "")
            .specification("3.8"),
        )
    }

    /// The sizes of a value without more work than needed.
    fn sizes_of(&mut self, value: &Expr) -> Outcome<Vec<usize>> {
        if let Kind::Component(reference) = &value.kind
            && let [step] = reference.steps.as_slice()
            && step.subscripts.is_empty()
            && let Some(sizes) = self.sizes_of_last(reference)?
        {
            return Ok(sizes.to_vec());
        }
        if self.mode == Mode::Flat && matches!(value.ty.base, Base::Component) {
            return self.reference_sizes(value);
        }
        // What only tells a size need not be constant.
        let outer = self.mode;
        if outer == Mode::Evaluate {
            self.mode = Mode::Shape;
        }
        let value = self.expand(value);
        self.mode = outer;
        Ok(value?.sizes().to_vec())
    }

    /// A size of a component whose other sizes are being found: `Real A[:, size(A, 1)]`.
    fn size_found(&self, value: &Expr, dimension: u32) -> Option<usize> {
        let Kind::Component(reference) = &value.kind else { return None };
        let [step] = reference.steps.as_slice() else { return None };
        if !step.subscripts.is_empty() {
            return None;
        }
        self.elaborator.sizes.so_far.get(&step.component)?.get(dimension as usize).copied().flatten()
    }

    fn reorder(&mut self, value: &Symbolic, order: &[u32], span: Span) -> Outcome<Symbolic> {
        match value {
            Symbolic::Array(array) => {
                let elements = array
                    .elements
                    .iter()
                    .map(|element| self.reorder(element, order, span))
                    .collect::<Outcome<Vec<_>>>()?;
                Ok(Symbolic::array(array.sizes.clone(), elements))
            }
            _ => {
                let fields: Option<Vec<Symbolic>> = order.iter().map(|&at| value.field(at as usize)).collect();
                fields.map(Symbolic::record).ok_or_else(|| self.wrong_sizes(span, "a record is needed here"))
            }
        }
    }

    /// The second operand is left out where the first one decides, so that `n > 0 and x[n] > 1` is safe.
    fn logic(&mut self, left: &Expr, right: &Expr, and: bool) -> Outcome<Symbolic> {
        let a = self.expand(left)?;
        if let Some(id) = a.scalar()
            && let Some(known) = self.exprs().as_boolean(id)
        {
            return if known == and { self.expand(right) } else { Ok(a) };
        }
        let reached = match a.scalar() {
            Some(id) if and => Some(id),
            Some(id) => Some(self.exprs().not(id)),
            None => None,
        };
        let b = self.expand_where(reached, right)?;
        let exprs = self.exprs();
        let result = arrays::broadcast(&a, &b, &mut |x, y| if and { exprs.and(x, y) } else { exprs.or(x, y) });
        self.shaped(result, right.span, &[left, right])
    }

    fn compare(&mut self, op: CompareOp, left: &Expr, right: &Expr) -> Outcome<ExprId> {
        let (a, b) = (self.scalar(left)?, self.scalar(right)?);
        if let (Some(x), Some(y)) = (self.exprs().as_string(a), self.exprs().as_string(b)) {
            let holds = match op {
                CompareOp::Less => x < y,
                CompareOp::LessEqual => x <= y,
                CompareOp::Greater => x > y,
                CompareOp::GreaterEqual => x >= y,
                CompareOp::Equal => x == y,
                CompareOp::NotEqual => x != y,
            };
            return Ok(self.exprs().boolean(holds));
        }
        // Texts that are known later are numbers then, which tell whether they are equal and no more.
        if left.ty.base == Base::String && !matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            return match self.mode {
                Mode::Evaluate => Err(self.not_constant(left.span, "this text")),
                _ => Ok(self.order(op, [left, right], [a, b])),
            };
        }
        // Also without a Real: `sign(x)` is an Integer, and changes between events.
        let continuous = left.variability.max(right.variability) == Variability::Continuous;
        let event = continuous && self.mode == Mode::Flat && self.events == Events::All;
        let is_order = !matches!(op, CompareOp::Equal | CompareOp::NotEqual) && left.ty.is_numeric();
        if continuous && is_order && self.mode == Mode::Flat && self.events == Events::OnTime {
            let [a, b] = [a, b].map(|side| self.just_behind(side));
            return Ok(self.exprs().compare(op, false, a, b));
        }
        Ok(self.exprs().compare(op, event, a, b))
    }

    /// An operand of a relation in a when clause, as it is just behind the instant if it follows time (`right_limits`).
    pub(crate) fn just_behind(&mut self, operand: ExprId) -> ExprId {
        let is_number = |node: Node| matches!(node, Node::Real(_) | Node::Integer(_) | Node::Boolean(_));
        if is_number(self.exprs().node(operand)) {
            return operand;
        }
        self.elaborator.expansion.has_right_limits = true;
        self.exprs().builtin(Builtin::JustBehind, &[operand])
    }

    fn choose(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, whole: &Expr) -> Outcome<Symbolic> {
        if self.mode == Mode::Shape {
            // The size of a value may depend on a parameter.
            let known = if condition.variability <= Variability::Parameter || self.function.is_some() {
                self.evaluated_condition(condition).ok().flatten()
            } else {
                None
            };
            return match known {
                Some(known) => self.expand(if known { then } else { otherwise }),
                None => self.expand(then),
            };
        }
        let test = self.scalar(condition)?;
        if let Some(known) = self.exprs().as_boolean(test) {
            return self.expand(if known { then } else { otherwise });
        }
        let structural = condition.variability <= Variability::Parameter
            && self.mode == Mode::Flat
            && !self.elaborator.flat.model.is_from_flat_text;
        // Options of the model (not its numbers) are taken as they are now, so that the branch not taken leaves no trace.
        if structural
            && self.function.is_none()
            && is_option(condition)
            && let Ok(Some(known)) = self.evaluated_condition(condition)
        {
            return self.expand(if known { then } else { otherwise });
        }
        let actions = self.actions.len();
        let joined = self.join(test, then, otherwise, whole);
        if joined.is_err() && structural {
            self.actions.truncate(actions);
            // One branch makes no sense for the sizes of this instance: the condition chooses now.
            if let Ok(Some(known)) = self.evaluated_condition(condition) {
                return self.expand(if known { then } else { otherwise });
            }
        }
        joined
    }

    /// What is evaluated only where a condition holds.
    fn expand_where(&mut self, condition: Option<ExprId>, expr: &Expr) -> Outcome<Symbolic> {
        let outer = self.path_condition;
        self.path_condition = match (outer, condition) {
            (Some(outer), Some(condition)) => Some(self.exprs().and(outer, condition)),
            (outer, condition) => outer.or(condition),
        };
        let value = self.expand(expr);
        self.path_condition = outer;
        value
    }

    fn join(&mut self, test: ExprId, then: &Expr, otherwise: &Expr, whole: &Expr) -> Outcome<Symbolic> {
        let a = self.expand_where(Some(test), then)?;
        let not = self.exprs().not(test);
        let b = self.expand_where(Some(not), otherwise)?;
        let exprs = self.exprs();
        match a.zip(&b, &mut |x, y| exprs.if_(test, x, y)) {
            Some(value) => Ok(value),
            None if arrays::is_empty(&a) && arrays::is_empty(&b) => Ok(a),
            None => {
                let diagnostic = Diagnostic::error(
                    "size-mismatch",
                    format!("the branches have sizes {} and {}", sizes_text(a.sizes()), sizes_text(b.sizes())),
                )
                .at(whole.span, "")
                .at(then.span, format!("sizes {}", sizes_text(a.sizes())))
                .at(otherwise.span, format!("sizes {}", sizes_text(b.sizes())))
                .specification("3.6.5");
                Err(self.located(diagnostic))
            }
        }
    }

    /// The value of a condition over parameters at translation.
    pub fn evaluated_condition(&mut self, condition: &Expr) -> Outcome<Option<bool>> {
        let value = self.evaluated(condition)?;
        Ok(value.scalar().and_then(|id| self.exprs().as_boolean(id)))
    }

    /// The expression with the values of parameters.
    pub fn evaluated(&mut self, expr: &Expr) -> Outcome<Symbolic> {
        let outer = std::mem::replace(&mut self.mode, Mode::Evaluate);
        let value = self.expand(expr);
        self.mode = outer;
        value
    }

    /// A whole number that must be known now.
    pub fn integer(&mut self, expr: &Expr) -> Outcome<i64> {
        if self.mode == Mode::Flat {
            let value = self.expand(expr)?;
            if let Some(known) = value.scalar().and_then(|id| arrays::integer(self.exprs(), id)) {
                return Ok(known);
            }
        }
        let value = self.evaluated(expr)?;
        match value.scalar().and_then(|id| arrays::integer(self.exprs(), id)) {
            Some(known) => Ok(known),
            None => Err(self.not_constant(expr.span, "this number")),
        }
    }

    fn size(&mut self, expr: &Expr) -> Outcome<usize> {
        let size = self.integer(expr)?;
        match usize::try_from(size) {
            Ok(size) if size <= crate::flat::MOST_ELEMENTS => Ok(size),
            Ok(size) => Err(self.wrong_sizes(expr.span, arrays::too_large(&[size]))),
            // In functions, too, a negative size is an empty array.
            _ => {
                let diagnostic = Diagnostic::breach("negative-size", format!("{size} is no size"))
                    .at(expr.span, "counts as zero")
                    .specification("10.6");
                self.elaborator.report(diagnostic);
                Ok(0)
            }
        }
    }

    fn matrix(&mut self, rows: &[Vec<Expr>], rank: usize, span: Span) -> Outcome<Symbolic> {
        let mut joined = Vec::with_capacity(rows.len());
        for row in rows {
            let mut parts = Vec::with_capacity(row.len());
            for element in row {
                parts.push(arrays::promote(&self.expand(element)?, rank));
            }
            let result = arrays::cat(1, &parts);
            joined.push(self.shaped(result, span, &[])?);
        }
        let result = arrays::cat(0, &joined);
        self.shaped(result, span, &[])
    }

    fn range(&mut self, start: &Expr, step: Option<&Expr>, stop: &Expr, whole: &Expr) -> Outcome<Symbolic> {
        if matches!(whole.ty.base, Base::Real) {
            return self.real_range(start, step, stop);
        }
        if matches!(whole.ty.base, Base::Boolean) {
            let ends = [self.evaluated(start)?, self.evaluated(stop)?];
            let ends = ends.map(|end| end.scalar().and_then(|id| self.exprs().as_boolean(id)));
            let [Some(first), Some(last)] = ends else { return Err(self.not_constant(whole.span, "this range")) };
            let values = [false, true].into_iter().filter(|value| (first..=last).contains(value));
            let values: Vec<bool> = values.collect();
            let elements = values.into_iter().map(|value| Symbolic::Scalar(self.exprs().boolean(value))).collect();
            return Ok(Symbolic::vector(elements));
        }
        let first = self.integer(start)?;
        let step = match step {
            Some(step) => self.integer(step)?,
            None => 1,
        };
        let last = self.integer(stop)?;
        if step == 0 {
            return Err(self.wrong_sizes(whole.span, "the step of a range must not be zero"));
        }
        let length = (i128::from(last) - i128::from(first)) / i128::from(step) + 1;
        if length > crate::flat::MOST_ELEMENTS as i128 {
            let message =
                format!("this range has {length} elements, and at most {} are supported", crate::flat::MOST_ELEMENTS);
            return Err(self.wrong_sizes(whole.span, message));
        }
        let mut elements = Vec::new();
        let mut current = first;
        while (step > 0 && current <= last) || (step < 0 && current >= last) {
            elements.push(Symbolic::Scalar(self.exprs().int(current)));
            current = match current.checked_add(step) {
                Some(next) => next,
                None => break,
            };
        }
        Ok(Symbolic::vector(elements))
    }

    fn real_range(&mut self, start: &Expr, step: Option<&Expr>, stop: &Expr) -> Outcome<Symbolic> {
        let mut number = |expr: &Expr| -> Outcome<f64> {
            let value = self.evaluated(expr)?;
            match value.scalar().and_then(|id| self.exprs().as_real(id)) {
                Some(value) => Ok(value),
                None => Err(self.not_constant(expr.span, "this number")),
            }
        };
        let first = number(start)?;
        let step = step.map_or(Ok(1.0), &mut number)?;
        let last = number(stop)?;
        let count = ((last - first) / step + 1e-10).floor();
        if !count.is_finite() || count > crate::flat::MOST_ELEMENTS as f64 {
            return Err(self.wrong_sizes(start.span, "this range is too long"));
        }
        let count = if count < 0.0 { 0 } else { count as usize + 1 };
        let elements = (0..count).map(|k| Symbolic::Scalar(self.exprs().real(first + k as f64 * step))).collect();
        Ok(Symbolic::vector(elements))
    }

    /// Runs `body` for every combination of the iterators; the last iterator is the outermost loop.
    pub fn for_each_iteration(
        &mut self,
        iterators: &[Iterator],
        body: &mut dyn FnMut(&mut Self) -> Outcome<()>,
    ) -> Outcome<Vec<usize>> {
        let Some((last, rest)) = iterators.split_last() else {
            body(self)?;
            return Ok(Vec::new());
        };
        let range = self.expand(&last.range)?;
        let mut sizes = vec![range.elements().len()];
        let mut inner = Vec::new();
        for element in range.elements() {
            self.set_local(last.local, Some(element.clone()));
            inner = self.for_each_iteration(rest, body)?;
        }
        if range.elements().is_empty() {
            inner = vec![0; rest.len()];
        }
        sizes.extend(inner);
        Ok(sizes)
    }

    fn array_for(&mut self, element: &Expr, iterators: &[Iterator], whole: &Expr) -> Outcome<Symbolic> {
        self.check_iterations(iterators, whole)?;
        let mut values = Vec::new();
        let mut count = 0;
        let sizes = self.for_each_iteration(iterators, &mut |expander| {
            let value = expander.expand(element)?;
            count += value.elements().len().max(1);
            if count > crate::flat::MOST_ELEMENTS {
                return Err(expander.wrong_sizes(whole.span, "this array has too many elements"));
            }
            values.push(value);
            Ok(())
        })?;
        if values.is_empty() {
            return Ok(self.without_iterations(element, iterators));
        }
        if let Some(first) = values.first()
            && let Some(odd) = values.iter().find(|value| value.sizes() != first.sizes())
        {
            let message = format!("elements with sizes {} and {}", sizes_text(first.sizes()), sizes_text(odd.sizes()));
            return Err(self.wrong_sizes(element.span, message));
        }
        Ok(arrays::with_rank(stack(&sizes, values), whole.ty.rank))
    }

    /// Refuses an array with too many elements before any of them is made, as far as the ranges are known.
    fn check_iterations(&mut self, iterators: &[Iterator], whole: &Expr) -> Outcome<()> {
        if iterators.len() < 2 {
            return Ok(());
        }
        let mut sizes = Vec::with_capacity(iterators.len());
        for iterator in iterators {
            match self.expand(&iterator.range) {
                Ok(range) => sizes.push(range.elements().len()),
                // It depends on another iterator, or what is wrong with it is found later.
                Err(_) => return Ok(()),
            }
        }
        match crate::flat::element_count(&sizes) {
            Some(_) => Ok(()),
            None => Err(self.wrong_sizes(whole.span, arrays::too_large(&sizes))),
        }
    }

    /// An array whose iterators run over nothing still has the sizes of its elements (10.4.1): those with the first value
    /// of each iterator, or with one where it has none.
    fn without_iterations(&mut self, element: &Expr, iterators: &[Iterator]) -> Symbolic {
        let before = self.elaborator.instances.diagnostics.len();
        let outer = self.mode;
        let mut sizes = Sizes::new();
        for iterator in iterators.iter().rev() {
            let range = self.expand(&iterator.range).ok();
            let first = range.as_ref().and_then(|range| range.elements().first().cloned());
            sizes.push(range.map_or(0, |range| range.elements().len()));
            let first = first.unwrap_or_else(|| match iterator.range.ty.base {
                Base::Real => Symbolic::Scalar(self.exprs().real(1.0)),
                Base::Boolean => Symbolic::Scalar(self.exprs().boolean(false)),
                _ => Symbolic::Scalar(self.exprs().int(1)),
            });
            self.set_local(iterator.local, Some(first));
        }
        if element.ty.rank > 0 {
            self.mode = Mode::Shape;
            match self.expand(element) {
                Ok(value) if value.sizes().len() == element.ty.rank => sizes.extend_from_slice(value.sizes()),
                _ => sizes.resize(sizes.len() + element.ty.rank, 0),
            }
            self.mode = outer;
        }
        self.elaborator.instances.diagnostics.truncate(before);
        Symbolic::Array(std::rc::Rc::new(SymbolicArray { sizes, elements: Vec::new() }))
    }

    fn reduction(
        &mut self,
        op: ReductionOp,
        element: &Expr,
        iterators: &[Iterator],
        whole: &Expr,
    ) -> Outcome<Symbolic> {
        self.check_iterations(iterators, whole)?;
        let mut values: Vec<Symbolic> = Vec::new();
        self.for_each_iteration(iterators, &mut |expander| {
            if values.len() == crate::flat::MOST_ELEMENTS {
                return Err(expander.wrong_sizes(whole.span, "this has too many terms"));
            }
            values.push(expander.expand(element)?);
            Ok(())
        })?;
        if whole.ty.rank > 0 {
            let mut total: Option<Symbolic> = None;
            for value in values {
                total = Some(match total {
                    None => value,
                    Some(total) => {
                        let result =
                            arrays::elementwise(self.exprs(), dae::function::ArithmeticOp::Add, &total, &value);
                        self.shaped(result, whole.span, &[])?
                    }
                });
            }
            if let Some(total) = total {
                return Ok(total);
            }
            let none = self.without_iterations(element, iterators);
            let zero = Symbolic::Scalar(match whole.ty.base {
                Base::Real => self.exprs().real(0.0),
                _ => self.exprs().int(0),
            });
            return self.shaped(arrays::filled(&zero, &none.sizes()[iterators.len()..]), whole.span, &[]);
        }
        let scalars: Vec<ExprId> = values.iter().filter_map(Symbolic::scalar).collect();
        Ok(Symbolic::Scalar(arrays::reduce(self.exprs(), op, &scalars, &whole.ty.base)))
    }

    fn builtin(&mut self, op: Builtin, arguments: &[Expr], span: Span) -> Outcome<Symbolic> {
        let values = arguments.iter().map(|argument| self.expand(argument)).collect::<Outcome<Vec<_>>>()?;
        let events = self.events == Events::All
            && self.mode == Mode::Flat
            && arguments.iter().any(|argument| {
                argument.variability == Variability::Continuous && matches!(argument.ty.base, Base::Real)
            });
        let op = match op {
            Builtin::Floor if events => Builtin::FloorEvent,
            Builtin::Ceil if events => Builtin::CeilEvent,
            Builtin::Div if events => Builtin::DivEvent,
            Builtin::Mod if events => Builtin::ModEvent,
            Builtin::Rem if events => Builtin::RemEvent,
            op => op,
        };
        self.map_builtin(op, &values, span)
    }

    /// A function of scalars applied to each element.
    pub(crate) fn map_builtin(&mut self, op: Builtin, values: &[Symbolic], span: Span) -> Outcome<Symbolic> {
        let shape = values.iter().find(|value| !value.sizes().is_empty());
        let Some(shape) = shape else {
            let scalars: Vec<ExprId> = values.iter().filter_map(Symbolic::scalar).collect();
            self.check_domain(op, &scalars, span)?;
            return Ok(Symbolic::Scalar(self.exprs().builtin(op, &scalars)));
        };
        if let Some(odd) = values.iter().find(|v| !v.sizes().is_empty() && v.sizes() != shape.sizes()) {
            let message =
                format!("the arguments have sizes {} and {}", sizes_text(shape.sizes()), sizes_text(odd.sizes()));
            return Err(self.wrong_sizes(span, message));
        }
        let count = shape.elements().len();
        let mut elements = Vec::with_capacity(count);
        for at in 0..count {
            let scalars: Vec<ExprId> = values
                .iter()
                .filter_map(
                    |value| if value.sizes().is_empty() { value.scalar() } else { value.elements()[at].scalar() },
                )
                .collect();
            elements.push(Symbolic::Scalar(self.exprs().builtin(op, &scalars)));
        }
        Ok(Symbolic::array(Sizes::from_slice(shape.sizes()), elements))
    }

    fn whole(&mut self, op: ArrayFunction, arguments: &[Expr], whole: &Expr) -> Outcome<Symbolic> {
        let span = whole.span;
        let Some(first) = arguments.first() else { return Err(self.wrong_sizes(span, "an argument is missing")) };
        match op {
            ArrayFunction::Size => {
                let sizes = self.sizes_of(first)?;
                return match arguments.get(1) {
                    None => {
                        let elements =
                            sizes.iter().map(|&size| Symbolic::Scalar(self.exprs().int(size as i64))).collect();
                        Ok(Symbolic::vector(elements))
                    }
                    Some(dimension) => {
                        let at = self.integer(dimension)?;
                        match usize::try_from(at - 1).ok().and_then(|at| sizes.get(at)) {
                            Some(&size) => Ok(Symbolic::Scalar(self.exprs().int(size as i64))),
                            None => Err(self.wrong_sizes(dimension.span, format!("there is no dimension {at}"))),
                        }
                    }
                };
            }
            ArrayFunction::Ndims => return Ok(Symbolic::Scalar(self.exprs().int(first.ty.rank as i64))),
            ArrayFunction::Zeros | ArrayFunction::Ones => {
                let sizes = arguments.iter().map(|size| self.size(size)).collect::<Outcome<Vec<_>>>()?;
                let value = Symbolic::Scalar(self.exprs().int(if op == ArrayFunction::Ones { 1 } else { 0 }));
                return self.shaped(arrays::filled(&value, &sizes), span, &[]);
            }
            ArrayFunction::Identity => {
                let size = self.size(first)?;
                let result = arrays::identity(self.exprs(), size);
                return self.shaped(result, span, &[]);
            }
            ArrayFunction::Fill => {
                let value = self.expand(first)?;
                let sizes = arguments[1..].iter().map(|size| self.size(size)).collect::<Outcome<Vec<_>>>()?;
                return self.shaped(arrays::filled(&value, &sizes), span, &[]);
            }
            ArrayFunction::Linspace => {
                let [from, to, points] = arguments else {
                    return Err(self.wrong_sizes(span, "`linspace` takes three arguments"));
                };
                let (from, to, points) = (self.scalar(from)?, self.scalar(to)?, self.size(points)?);
                let result = arrays::linspace(self.exprs(), from, to, points);
                return self.shaped(result, span, &[]);
            }
            ArrayFunction::Cat => {
                let dimension = self.integer(first)?;
                let parts = arguments[1..].iter().map(|part| self.expand(part)).collect::<Outcome<Vec<_>>>()?;
                let Ok(dimension) = usize::try_from(dimension - 1) else {
                    return Err(self.wrong_sizes(first.span, "the dimension of `cat` counts from 1"));
                };
                return self.shaped(arrays::cat(dimension, &parts), span, &[]);
            }
            ArrayFunction::Promote => {
                return Ok(arrays::promote(&self.expand(first)?, whole.ty.rank));
            }
            _ => {}
        }
        if op == ArrayFunction::Concat {
            return self.concatenation(whole);
        }
        let values = arguments.iter().map(|argument| self.expand(argument)).collect::<Outcome<Vec<_>>>()?;
        let value = &values[0];
        let reduce = |expander: &mut Self, op| -> Outcome<Symbolic> {
            let scalars = value.scalars();
            Ok(Symbolic::Scalar(arrays::reduce(expander.exprs(), op, &scalars, &whole.ty.base)))
        };
        let result = match op {
            ArrayFunction::Min => return reduce(self, ReductionOp::Min),
            ArrayFunction::Max => return reduce(self, ReductionOp::Max),
            ArrayFunction::Sum => return reduce(self, ReductionOp::Sum),
            ArrayFunction::Product => return reduce(self, ReductionOp::Product),
            ArrayFunction::Scalar => arrays::scalar(value),
            ArrayFunction::Vector => arrays::vector(value),
            ArrayFunction::Matrix => arrays::matrix(value),
            ArrayFunction::Diagonal => arrays::diagonal(self.exprs(), value),
            ArrayFunction::Transpose => arrays::transpose(value),
            ArrayFunction::Symmetric => arrays::symmetric(value),
            ArrayFunction::Skew => arrays::skew(self.exprs(), value),
            ArrayFunction::Cross if values.len() == 2 => arrays::cross(self.exprs(), value, &values[1]),
            ArrayFunction::OuterProduct if values.len() == 2 => arrays::outer_product(self.exprs(), value, &values[1]),
            ArrayFunction::Integer => {
                let exprs = self.exprs();
                return Ok(value.map(&mut |id| to_integer(exprs, id)));
            }
            ArrayFunction::Enumeration => return self.enumeration_value(value, whole),
            _ => return self.text(op, arguments, &values, whole),
        };
        let operands: Vec<&Expr> = arguments.iter().collect();
        self.shaped(result, span, &operands)
    }

    /// `E(i)`: a number that no literal has is an error. What is not known yet is checked where it is the value of a
    /// variable (`variables::check_enumerations`).
    fn enumeration_value(&mut self, value: &Symbolic, whole: &Expr) -> Outcome<Symbolic> {
        let Base::Enumeration(enumeration) = &whole.ty.base else { return Ok(value.clone()) };
        let last = enumeration.literals.len() as i64;
        let numbers = value.scalars().into_iter().filter_map(|id| self.exprs().as_integer(id));
        let outside = numbers.into_iter().find(|number| !(1..=last).contains(number));
        match outside {
            Some(number) if self.path_condition.is_none() => {
                let message = format!("`{}` has {last} values, none with the number {number}", enumeration.name);
                let diagnostic = Diagnostic::error("enumeration-range", message).at(whole.span, "");
                Err(self.located(diagnostic.specification("4.9.5.2")))
            }
            _ => Ok(value.clone()),
        }
    }

    /// Subscripts on a value.
    pub(crate) fn index(&mut self, value: &Symbolic, subscripts: &[Subscript], span: Span) -> Outcome<Symbolic> {
        let sizes: Vec<usize> = value.sizes().to_vec();
        let mut chosen = Vec::with_capacity(subscripts.len());
        for (dimension, subscript) in subscripts.iter().enumerate() {
            let size = sizes.get(dimension).copied().unwrap_or(0);
            chosen.push(self.subscript(subscript, size)?);
        }
        self.select(value, &chosen, span)
    }
}

/// A condition over Boolean, Integer, enumeration and String parameters alone.
fn is_option(condition: &Expr) -> bool {
    let mut only = true;
    crate::typing::walk(condition, &mut |expr| {
        only &= !matches!(expr.ty.base, Base::Real | Base::Record(_) | Base::Component | Base::Object(_));
    });
    only
}

/// Integer to Real: only literals look different.
pub fn to_real(exprs: &mut Exprs, id: ExprId) -> ExprId {
    match exprs.node(id) {
        Node::Integer(value) => exprs.real(value as f64),
        _ => id,
    }
}

/// Real (whole already), Boolean or enumeration to Integer: only literals look different.
fn to_integer(exprs: &mut Exprs, id: ExprId) -> ExprId {
    match exprs.node(id) {
        Node::Real(value) if value.abs() < 9e15 => exprs.int(value.floor() as i64),
        Node::Boolean(value) => exprs.int(value as i64 + 1),
        _ => id,
    }
}
