//! Calls of functions: evaluated when all arguments are constant, written out where the function is small or asks for
//! it, and otherwise one `Call` node for each scalar result.

use std::sync::Arc;

use base::Span;
use dae::execute::Executor;
use dae::expr::{CallSite, Shape};
use dae::function::{Inline, LocalId};
use dae::inline::{Expressions, KeptCall, Stage, is_written_out_at_once};
use dae::value::Kind as ScalarKind;
use dae::{Evaluator, ExprId, Exprs, Node, Value, VarId, Variability};
use rustc_hash::FxHashSet;

use super::{Events, Expander, Mode, Positions, Sizes, Symbolic, arrays, sizes_text, stack};
use crate::functions::{SignatureKind, TypedFunction};
use crate::instance::{Frame, Outcome};
use crate::typed::{Base, Expr, FunctionKey, RecordType, Type};

/// Statements that one call may execute when it is written out.
const INLINE_BUDGET: u64 = 3_000;
const INLINE_DEPTH: usize = 40;
/// Operations that one call may take when it is written out.
const INLINE_OPERATIONS: usize = 20_000;
/// Statements that constant evaluation of one call may execute.
const EVALUATION_STEPS: u64 = 20_000_000;

impl Expander<'_> {
    pub(super) fn call(&mut self, function: FunctionKey, arguments: &[Expr], whole: &Expr) -> Outcome<Symbolic> {
        let values = arguments.iter().map(|argument| self.expand(argument)).collect::<Outcome<Vec<_>>>()?;
        let outputs = self.apply(function, values, Some(arguments), whole.span)?;
        Ok(self.results(outputs, &whole.ty))
    }

    /// The first output, or all of them where the type is a tuple.
    fn results(&self, mut outputs: Vec<Symbolic>, ty: &Type) -> Symbolic {
        match ty.base {
            Base::Tuple(_) => Symbolic::record(outputs),
            _ if outputs.is_empty() => Symbolic::record(outputs),
            _ => outputs.swap_remove(0),
        }
    }

    pub(super) fn call_local(&mut self, local: LocalId, arguments: &[Expr], whole: &Expr) -> Outcome<Symbolic> {
        let Symbolic::Function(function) = self.local(local, whole.span)? else {
            return Err(self.wrong_sizes(whole.span, "a function is needed here"));
        };
        let mut rest = arguments.iter().map(|argument| self.expand(argument)).collect::<Outcome<Vec<_>>>()?.into_iter();
        let signature = self.elaborator.function(function.function).signature.clone();
        let mut values = Vec::with_capacity(signature.inputs.len());
        for at in 0..signature.inputs.len() {
            let given = function.given.iter().find(|(position, _)| *position as usize == at);
            match given.map(|(_, value)| value.clone()).or_else(|| rest.next()) {
                Some(value) => values.push(value),
                None => return Err(self.wrong_sizes(whole.span, "the function lacks an argument")),
            }
        }
        let outputs = self.apply(function.function, values, None, whole.span)?;
        Ok(self.results(outputs, &whole.ty))
    }

    pub(super) fn apply_one(&mut self, function: FunctionKey, values: Vec<Symbolic>, span: Span) -> Outcome<Symbolic> {
        let mut outputs = self.apply(function, values, None, span)?;
        if outputs.is_empty() {
            return Err(self.wrong_sizes(span, "a function with a result is needed here"));
        }
        Ok(outputs.swap_remove(0))
    }

    /// A call for each element of the arguments marked in `over`.
    pub(super) fn vectorized(
        &mut self,
        function: FunctionKey,
        arguments: &[Expr],
        over: &[bool],
        whole: &Expr,
    ) -> Outcome<Symbolic> {
        let values = arguments.iter().map(|argument| self.expand(argument)).collect::<Outcome<Vec<_>>>()?;
        let signature = self.elaborator.function(function).signature.clone();
        let mut sizes: Option<Sizes> = None;
        for ((value, input), &over) in values.iter().zip(&signature.inputs).zip(over) {
            if !over {
                continue;
            }
            let extra = value.sizes().len().saturating_sub(input.ty.rank);
            let own = Sizes::from_slice(&value.sizes()[..extra]);
            match &sizes {
                Some(known) if *known != own => {
                    let message = format!("the arguments have sizes {} and {}", sizes_text(known), sizes_text(&own));
                    return Err(self.wrong_sizes(whole.span, message));
                }
                _ => sizes = Some(own),
            }
        }
        let sizes = sizes.unwrap_or_default();
        let mut results = Vec::new();
        let mut failed = None;
        crate::flat::for_each_index(&sizes, |at| {
            if failed.is_some() {
                return;
            }
            let positions: Vec<Positions> = at.iter().map(|&k| Positions::One(k as usize - 1)).collect();
            let chosen: Option<Vec<Symbolic>> = values
                .iter()
                .zip(over)
                .map(|(value, &over)| if over { value.index(&positions) } else { Some(value.clone()) })
                .collect();
            let Some(chosen) = chosen else { return };
            match self.apply_one(function, chosen, whole.span) {
                Ok(value) => results.push(value),
                Err(diagnostic) => failed = Some(diagnostic),
            }
        });
        match failed {
            Some(diagnostic) => Err(diagnostic),
            None => Ok(arrays::with_rank(stack(&sizes, results), whole.ty.rank)),
        }
    }

    /// All outputs of a call.
    pub(crate) fn apply(
        &mut self,
        function: FunctionKey,
        values: Vec<Symbolic>,
        arguments: Option<&[Expr]>,
        span: Span,
    ) -> Outcome<Vec<Symbolic>> {
        let signature = self.elaborator.function(function).signature.clone();
        if signature.kind == SignatureKind::Record {
            return self.construct_record(function, values);
        }
        if let Some(path) = self.resource(signature.name.as_str(), &values) {
            return Ok(vec![path]);
        }
        // In a flat text every call that is left is meant to be one.
        let as_written = self.elaborator.flat.model.is_from_flat_text && self.mode == Mode::Flat;
        if let (true, Some(instant)) = (as_written && signature.name.as_str().ends_with(dae::BEHIND), values.first()) {
            let instant = instant.scalar();
            return Ok(instant.into_iter().map(|instant| Symbolic::Scalar(self.just_behind(instant))).collect());
        }
        let constant = signature.kind == SignatureKind::Function
            && !as_written
            && (!signature.impure || self.mode == Mode::Evaluate)
            && self.mode != Mode::Shape
            && values.iter().all(|value| self.is_literal(value));
        let mut why = None;
        if constant {
            match self.evaluate_call(function, &values, span) {
                Ok(outputs) => return Ok(outputs),
                // What does not end now does not end later.
                Err(diagnostic) if diagnostic.code == "evaluation-limit" => return Err(diagnostic),
                Err(diagnostic) => why = Some(diagnostic),
            }
        }
        if self.mode == Mode::Evaluate {
            return Err(match why {
                Some(diagnostic) => diagnostic,
                None => self.not_constant(span, &format!("the call of `{}`", signature.name)),
            });
        }
        let typed = self.elaborator.typed_function(function)?;
        if !as_written
            && let Some(outputs) = self.written_out(&typed, &values, span)
            && (self.mode == Mode::Shape || self.keeps_operands(&typed, &values, &outputs))
        {
            return Ok(outputs);
        }
        let shapes = self.output_shapes(&typed, &values, arguments, span)?;
        if self.mode == Mode::Shape {
            let time = self.exprs().time();
            return Ok(shapes.iter().map(|shape| from_shape(shape, &mut || time)).collect());
        }
        self.call_node(function, &values, shapes, span)
    }

    /// The function of the library that finds files of libraries is the matter of the tool (13.5).
    fn resource(&mut self, function: &str, values: &[Symbolic]) -> Option<Symbolic> {
        if !matches!(
            function,
            "Modelica.Utilities.Files.loadResource" | "ModelicaServices.ExternalReferences.loadResource"
        ) {
            return None;
        }
        let uri = values.first()?.scalar().and_then(|id| self.exprs().as_string(id))?;
        let path = self.elaborator.instances.libraries.resource(uri)?;
        Some(Symbolic::Scalar(self.exprs().string(&path.to_string_lossy())))
    }

    fn is_literal(&mut self, value: &Symbolic) -> bool {
        let exprs = self.exprs();
        let mut all = true;
        value.for_each_scalar(&mut |id| all &= exprs.is_literal(id));
        all
    }

    /// A record from the inputs of its constructor.
    fn construct_record(&mut self, function: FunctionKey, values: Vec<Symbolic>) -> Outcome<Vec<Symbolic>> {
        let typed = self.elaborator.typed_function(function)?;
        let signature = typed.signature.clone();
        let mut inner = self.inside(&typed, values);
        let mut fields = Vec::with_capacity(signature.fields.len());
        for field in &signature.fields {
            fields.push(inner.local(field.local, field.span)?);
        }
        Ok(vec![Symbolic::record(fields)])
    }

    /// An expander for the body of a function, its inputs set.
    fn inside(&mut self, typed: &Arc<TypedFunction>, values: Vec<Symbolic>) -> Expander<'_> {
        let frame = Frame { class: typed.signature.class, indices: Default::default() };
        let mode = self.mode;
        let mut inner = Expander::new(self.elaborator, frame, mode);
        inner.events = Events::None;
        inner.function = Some(typed.clone());
        for (input, value) in typed.signature.inputs.iter().zip(values) {
            inner.set_local(input.local, Some(value));
        }
        inner
    }

    /// The outputs of a function that is written out now.
    fn written_out(&mut self, typed: &TypedFunction, values: &[Symbolic], span: Span) -> Option<Vec<Symbolic>> {
        let id = self.elaborator.flat_function(typed.signature.key).ok()?;
        if !is_written_out_at_once(&self.elaborator.flat.model.functions[id]) {
            return None;
        }
        let (outputs, kept) = self.inline(typed, values)?;
        for call in kept {
            self.check_call(call.first_result, call.condition, span);
        }
        Some(outputs)
    }

    /// The outputs by executing the body on expressions; `None` where that does not work out.
    fn inline(&mut self, typed: &TypedFunction, values: &[Symbolic]) -> Option<(Vec<Symbolic>, Vec<KeptCall>)> {
        let id = self.elaborator.flat_function(typed.signature.key).ok()?;
        let mut arguments = Vec::with_capacity(values.len());
        for (value, input) in values.iter().zip(&typed.signature.inputs) {
            arguments.push(to_scalars(self.elaborator, value, &input.ty).ok()?);
        }
        let dae::Model { functions, exprs, .. } = &mut self.elaborator.flat.model;
        // A function that is just being made has no body yet.
        if functions[id].inputs.len() != arguments.len() {
            return None;
        }
        let mut executor = Executor::over(functions, Expressions::new(exprs, Stage::Flattening, INLINE_OPERATIONS));
        executor.steps_left = INLINE_BUDGET;
        executor.max_depth = INLINE_DEPTH;
        let outputs = executor.body(id, arguments).ok()?;
        if executor.domain.loses_assertion(functions, &outputs) {
            return None;
        }
        if outputs.len() != typed.signature.output_locals.len() {
            return None;
        }
        let kept = executor.domain.kept_calls().to_vec();
        Some((outputs.iter().map(|output| from_scalars(exprs, output)).collect::<Option<_>>()?, kept))
    }

    /// Whether each output mentions every variable of the arguments, or need not: what asks to be written out is written out
    /// before clocks are inferred (16.7). See `Exprs::keep_operands`.
    fn keeps_operands(&mut self, typed: &TypedFunction, values: &[Symbolic], outputs: &[Symbolic]) -> bool {
        let model = &mut self.elaborator.flat.model;
        if typed.inline == Inline::Early || !model.exprs.must_keep_operands() {
            return true;
        }
        let variables = |roots: &[Symbolic]| {
            let scalars: Vec<ExprId> = roots.iter().flat_map(|value| value.scalars()).collect();
            let found = model.exprs.dependencies(&scalars);
            let mut all = [found.variables, found.derivatives, found.pre, found.previous].concat();
            all.retain(|&variable| model.variables[variable].variability > Variability::Parameter);
            all.into_iter().collect::<FxHashSet<VarId>>()
        };
        let needed = variables(values);
        outputs.iter().all(|output| needed.is_subset(&variables(std::slice::from_ref(output))))
    }

    fn evaluate_call(&mut self, function: FunctionKey, values: &[Symbolic], span: Span) -> Outcome<Vec<Symbolic>> {
        let id = self.elaborator.flat_function(function)?;
        let signature = self.elaborator.function(function).signature.clone();
        let mut arguments = Vec::with_capacity(values.len());
        for (value, input) in values.iter().zip(&signature.inputs) {
            match to_value(self.elaborator, value, &input.ty)? {
                Some(value) => arguments.push(value),
                None => return Err(self.not_constant(span, "an argument")),
            }
        }
        let elaborator = &mut *self.elaborator;
        let mut evaluator = Evaluator::new(&elaborator.flat.model.functions, &mut *elaborator.externals);
        evaluator.steps_left = EVALUATION_STEPS;
        match evaluator.call(id, arguments) {
            Ok(outputs) => {
                let outputs: Option<Vec<Symbolic>> =
                    outputs.iter().map(|output| from_value(&mut elaborator.flat.model.exprs, output)).collect();
                outputs.ok_or_else(|| self.not_constant(span, "the result"))
            }
            Err(error) => Err(self.located(error.diagnostic().at(span, "called here"))),
        }
    }

    /// The sizes of the outputs of a call, from the declarations, else by looking at what the body does.
    fn output_shapes(
        &mut self,
        typed: &Arc<TypedFunction>,
        values: &[Symbolic],
        arguments: Option<&[Expr]>,
        span: Span,
    ) -> Outcome<Vec<Shape>> {
        if let Ok(shapes) = self.declared_shapes(typed, values) {
            return Ok(shapes);
        }
        // Sizes may depend on the value of a parameter.
        let mut known = values.to_vec();
        if let Some(arguments) = arguments {
            for (value, argument) in known.iter_mut().zip(arguments) {
                if !self.is_literal(value)
                    && let Ok(evaluated) = self.evaluated(argument)
                {
                    *value = evaluated;
                }
            }
        }
        let declared = self.declared_shapes(typed, &known);
        let Err(diagnostic) = declared else { return declared };
        let literal = known.iter().all(|value| self.is_literal(value));
        if literal && let Ok(outputs) = self.evaluate_call(typed.signature.key, &known, span) {
            return Ok(outputs.iter().map(|output| value_shape(self.elaborator, output)).collect());
        }
        if let Some((outputs, _)) = self.inline(typed, &known) {
            return Ok(outputs.iter().map(|output| value_shape(self.elaborator, output)).collect());
        }
        Err(Box::new(diagnostic.at(span, "called here")))
    }

    fn declared_shapes(&mut self, typed: &Arc<TypedFunction>, values: &[Symbolic]) -> Outcome<Vec<Shape>> {
        let mut inner = self.inside(typed, values.to_vec());
        inner.mode = Mode::Evaluate;
        let mut shapes = Vec::new();
        for &local in &typed.signature.output_locals {
            let declared = &typed.locals[local];
            let mut sizes = Vec::with_capacity(declared.sizes.len());
            for size in &declared.sizes {
                let Some(size) = size else {
                    return Err(inner.not_constant(declared.span, "a size of this output"));
                };
                sizes.push(inner.size(size)? as u32);
            }
            let Some(element) = inner.element_shape(&declared.ty.base) else {
                return Err(inner.not_constant(declared.span, "a size of this output"));
            };
            shapes.push(if sizes.is_empty() { element } else { Shape::Array(sizes, Box::new(element)) });
        }
        Ok(shapes)
    }

    fn call_node(
        &mut self,
        function: FunctionKey,
        values: &[Symbolic],
        shapes: Vec<Shape>,
        span: Span,
    ) -> Outcome<Vec<Symbolic>> {
        let id = self.elaborator.flat_function(function)?;
        let inputs: Vec<Shape> = values.iter().map(|value| value_shape(self.elaborator, value)).collect();
        for value in values {
            self.flatten_function_values(value)?;
        }
        let mut scalars = Vec::new();
        values.iter().for_each(|value| value.for_each_scalar(&mut |id| scalars.push(id)));
        let exprs = self.exprs();
        let site = exprs.site(CallSite { function: id, inputs, outputs: shapes.clone() });
        let args = exprs.args(&scalars);
        let mut output = 0;
        let first = exprs.intern(Node::Call { site, args, output });
        self.check_call(first, None, span);
        if shapes.is_empty() {
            return Ok(vec![Symbolic::Scalar(first)]);
        }
        let exprs = self.exprs();
        let mut next = || {
            let node = exprs.intern(Node::Call { site, args, output });
            output += 1;
            node
        };
        Ok(shapes.iter().map(|shape| from_shape(shape, &mut next)).collect())
    }

    /// Functions passed as arguments must be functions of the flat model as well.
    fn flatten_function_values(&mut self, value: &Symbolic) -> Outcome<()> {
        if let Symbolic::Function(function) = value {
            self.elaborator.flat_function(function.function)?;
            for (_, given) in &function.given {
                self.flatten_function_values(given)?;
            }
        }
        Ok(())
    }
}

impl Expander<'_> {
    /// The shape of a value of a type whose sizes the type tells.
    fn element_shape(&mut self, base: &Base) -> Option<Shape> {
        match base {
            Base::Record(record) => self.record_shape(record),
            Base::Function(_) | Base::Component | Base::Tuple(_) => None,
            _ => Some(Shape::Scalar),
        }
    }

    fn record_shape(&mut self, record: &RecordType) -> Option<Shape> {
        let all = self.elaborator.field_sizes(record);
        let mut fields = Vec::with_capacity(record.fields.len());
        for (field, sizes) in record.fields.iter().zip(all.iter()) {
            let element = self.element_shape(&field.ty.base)?;
            if sizes.is_empty() {
                fields.push(element);
                continue;
            }
            let sizes: Option<Vec<u32>> = sizes.iter().map(|size| size.map(|size| size as u32)).collect();
            fields.push(Shape::Array(sizes?, Box::new(element)));
        }
        Some(Shape::Record(fields))
    }
}

/// The shape of a value; functions in it must have been made functions of the flat model.
pub fn value_shape(elaborator: &mut crate::elaborate::Elaborator, value: &Symbolic) -> Shape {
    match value {
        Symbolic::Scalar(_) => Shape::Scalar,
        Symbolic::Array(array) => {
            let sizes = array.sizes.iter().map(|&size| size as u32).collect();
            let element = match array.elements.first() {
                Some(first) => value_shape(elaborator, first),
                None => Shape::Scalar,
            };
            Shape::Array(sizes, Box::new(element))
        }
        Symbolic::Record(fields) => Shape::Record(fields.iter().map(|f| value_shape(elaborator, f)).collect()),
        Symbolic::Function(function) => match elaborator.flat_function(function.function) {
            Ok(id) => Shape::Function {
                function: id,
                given: function.given.iter().map(|(at, v)| (*at, value_shape(elaborator, v))).collect(),
            },
            Err(_) => Shape::Scalar,
        },
    }
}

/// A value of a shape, its scalars given in order.
pub fn from_shape(shape: &Shape, next: &mut dyn FnMut() -> ExprId) -> Symbolic {
    match shape {
        Shape::Scalar => Symbolic::Scalar(next()),
        Shape::Array(sizes, element) => {
            let sizes: Sizes = sizes.iter().map(|&size| size as usize).collect();
            let count: usize = sizes.iter().product();
            Symbolic::array(sizes, (0..count).map(|_| from_shape(element, next)).collect())
        }
        Shape::Record(fields) => Symbolic::record(fields.iter().map(|field| from_shape(field, next)).collect()),
        Shape::Function { .. } => Symbolic::record(Vec::new()),
    }
}

/// The value as the executor of functions takes it.
fn to_scalars(elaborator: &mut crate::elaborate::Elaborator, value: &Symbolic, ty: &Type) -> Outcome<Value<ExprId>> {
    Ok(match value {
        Symbolic::Scalar(id) => {
            let exprs = &elaborator.flat.model.exprs;
            let kind = match (&ty.base, exprs.node(*id)) {
                (Base::Real, _) => ScalarKind::Real,
                (Base::Integer, _) => ScalarKind::Integer,
                (Base::Boolean, _) => ScalarKind::Boolean,
                (Base::String, _) => ScalarKind::String,
                (Base::Enumeration(_), _) => ScalarKind::Enumeration,
                (Base::Object(_), _) => ScalarKind::Object,
                (_, Node::Integer(_)) => ScalarKind::Integer,
                (_, Node::Boolean(_)) => ScalarKind::Boolean,
                (_, Node::String(_)) => ScalarKind::String,
                _ => ScalarKind::Real,
            };
            dae::inline::scalar(exprs, *id, kind)
        }
        Symbolic::Array(array) => {
            let element = ty.with_rank(0);
            let elements = array.elements.iter().map(|item| to_scalars(elaborator, item, &element));
            Value::array(array.sizes.to_vec(), elements.collect::<Outcome<_>>()?)
        }
        Symbolic::Record(fields) => {
            let types: Vec<Type> = match &ty.base {
                Base::Record(record) => record.fields.iter().map(|field| field.ty.clone()).collect(),
                _ => Vec::new(),
            };
            let mut values = Vec::with_capacity(fields.len());
            for (k, field) in fields.iter().enumerate() {
                values.push(to_scalars(elaborator, field, types.get(k).unwrap_or(&Type::REAL))?);
            }
            Value::Record(values)
        }
        Symbolic::Function(function) => {
            let id = elaborator.flat_function(function.function)?;
            let signature = elaborator.function(function.function).signature.clone();
            let mut given = Vec::with_capacity(function.given.len());
            for (at, value) in &function.given {
                let ty = signature.inputs.get(*at as usize).map_or(Type::REAL, |input| input.ty.clone());
                given.push((*at, to_scalars(elaborator, value, &ty)?));
            }
            Value::Function { function: id, given }
        }
    })
}

/// What the executor of functions gave; `None` for what has no value, and for functions.
fn from_scalars(exprs: &mut Exprs, value: &Value<ExprId>) -> Option<Symbolic> {
    Some(match value {
        Value::Array(array) => {
            let elements = array.elements.iter().map(|element| from_scalars(exprs, element));
            Symbolic::array(Sizes::from_slice(&array.sizes), elements.collect::<Option<_>>()?)
        }
        Value::Record(fields) => {
            Symbolic::record(fields.iter().map(|field| from_scalars(exprs, field)).collect::<Option<_>>()?)
        }
        scalar => Symbolic::Scalar(dae::inline::expression(exprs, scalar)?),
    })
}

/// A constant as a value of the interpreter; `None` where a scalar is not constant.
pub fn to_value(elaborator: &mut crate::elaborate::Elaborator, value: &Symbolic, ty: &Type) -> Outcome<Option<Value>> {
    let known = to_scalars(elaborator, value, ty)?.try_map(&mut |scalar| {
        Ok(match scalar {
            Value::Real(value) => Value::Real(*value),
            Value::Integer(value) => Value::Integer(*value),
            Value::Boolean(value) => Value::Boolean(*value),
            Value::String(text) => Value::String(text.clone()),
            Value::Enumeration(value) => Value::Enumeration(*value),
            _ => return Err(()),
        })
    });
    Ok(known.ok())
}

/// A value of the interpreter as constants of the arena; `None` for objects, which have no text.
pub fn from_value(exprs: &mut Exprs, value: &Value) -> Option<Symbolic> {
    Some(match value {
        Value::Real(value) => Symbolic::Scalar(exprs.real(*value)),
        Value::Integer(value) | Value::Enumeration(value) => Symbolic::Scalar(exprs.int(*value)),
        Value::Boolean(value) => Symbolic::Scalar(exprs.boolean(*value)),
        Value::String(value) => Symbolic::Scalar(exprs.string(value)),
        Value::Array(array) => {
            let elements: Option<Vec<Symbolic>> =
                array.elements.iter().map(|element| from_value(exprs, element)).collect();
            Symbolic::array(Sizes::from_slice(&array.sizes), elements?)
        }
        Value::Record(fields) => {
            let fields: Option<Vec<Symbolic>> = fields.iter().map(|field| from_value(exprs, field)).collect();
            Symbolic::record(fields?)
        }
        Value::Object(_) | Value::Function { .. } | Value::Unset(_) => return None,
        Value::Open(never, _) => match *never {},
    })
}
