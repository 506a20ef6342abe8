//! Typed functions as functions of the flat model (`dae::function`).

use std::sync::Arc;

use base::{Diagnostic, IdVec, Name, Span};
use dae::function::{
    self as ir, Accessor, ArrayFunction, Body, DerivativeAnnotation, Function, Inline, LocalId, Target,
};
use dae::{FunctionId, Value};
use syntax::ast;

use crate::elaborate::Elaborator;
use crate::functions::{SignatureKind, TypedBody, TypedExternal, TypedFunction, flat_enumeration};
use crate::instance::{ClassId, Frame, Member, Outcome};
use crate::lookup::Resolved;
use crate::symbolic::{Expander, Mode, Symbolic, literal_value, to_value};
use crate::typed::{
    Base, Expr, FunctionKey, Iterator, Kind, Local, Locals, Operator, Reference, ReferencePart, Statement,
    StatementKind, Subscript, Type,
};
use crate::typing::walk;

impl Elaborator {
    /// The function of the flat model for a function class; made when it is first asked for.
    pub fn flat_function(&mut self, key: FunctionKey) -> Outcome<FunctionId> {
        if let Some(id) = self.functions.entries[key].id {
            return Ok(id);
        }
        let typed = self.typed_function(key)?;
        let span = self.instances.definition(typed.signature.class).name.span;
        // The id is known before the body, so that functions may call themselves.
        let placeholder = Function {
            name: typed.signature.name,
            inputs: Vec::new(),
            outputs: Vec::new(),
            locals: IdVec::new(),
            body: Body::Algorithm(Vec::new()),
            pure: true,
            inline: Inline::Unstated,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            span,
        };
        let id = self.flat.model.functions.push(Arc::new(placeholder));
        self.functions.entries[key].id = Some(id);
        let made = stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.lower_function(&typed, span));
        match made {
            Ok(function) => {
                self.flat.model.functions[id] = Arc::new(function);
                if typed.signature.kind == SignatureKind::Object {
                    let destructor = self.flat_destructor(typed.signature.class);
                    self.add_destructor(id, destructor);
                }
                Ok(id)
            }
            Err(diagnostic) => {
                self.functions.entries[key].id = None;
                self.functions.entries[key].typed = crate::functions::TypedState::Failed(diagnostic.clone());
                Err(diagnostic)
            }
        }
    }

    /// The destructor that belongs to the constructor of an external object.
    fn flat_destructor(&mut self, constructor: ClassId) -> Option<FunctionId> {
        let class = self.instances.class(constructor).scope?;
        let Some(Member::Class(member)) = self.instances.member(class, Name::new("destructor")) else { return None };
        let destructor = self.instances.class_of(member).ok()?;
        let signature = self.signature(destructor).ok()?;
        match self.flat_function(signature.key) {
            Ok(id) => Some(id),
            Err(diagnostic) => {
                self.report(*diagnostic);
                None
            }
        }
    }

    /// The constructor knows what frees the object that it makes.
    fn add_destructor(&mut self, constructor: FunctionId, destructor: Option<FunctionId>) {
        let functions = &mut self.flat.model.functions;
        let Some(destructor) = destructor.and_then(|id| functions.get(id)) else { return };
        let Body::External(freeing) = &destructor.body else { return };
        let freeing = Arc::new(freeing.clone());
        if let Body::External(making) = &mut Arc::make_mut(&mut functions[constructor]).body {
            making.destructor = Some(freeing);
        }
    }

    fn lower_function(&mut self, typed: &Arc<TypedFunction>, span: Span) -> Outcome<Function> {
        let class = typed.signature.class;
        let mut lowering = Lowering { elaborator: self, class };
        let inputs: Vec<LocalId> = typed.signature.inputs.iter().map(|input| input.local).collect();
        let mut locals = lowering.locals(&typed.locals, &inputs)?;
        let mut outputs = typed.signature.output_locals.clone();
        let body = match &typed.body {
            TypedBody::Algorithm(statements) => Body::Algorithm(lowering.statements(statements)?),
            TypedBody::External(external) => Body::External(lowering.external(external, &inputs)?),
            TypedBody::Record => {
                let (output, body) = lowering.record_body(typed, &mut locals, span)?;
                outputs = vec![output];
                body
            }
            TypedBody::PartialDerivative(of, positions) => {
                return self.partial_derivative(typed, *of, positions);
            }
        };
        // A record and its constructor are two classes in the flat model.
        let name = match typed.signature.kind {
            SignatureKind::Record => Name::new(&format!("{}.constructor", typed.signature.name)),
            _ => typed.signature.name,
        };
        let mut function = Function {
            name,
            inputs,
            outputs,
            locals,
            body,
            pure: !typed.signature.impure,
            inline: typed.inline,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            span,
        };
        let mut warnings = crate::unassigned_members::complete(&mut function);
        warnings.extend(crate::growing_arrays::complete(&mut function));
        warnings.extend(crate::read_before_assigned::complete(&mut function));
        warnings.into_iter().for_each(|warning| self.report(warning));
        if typed.signature.kind == SignatureKind::Function {
            function.derivatives = self.derivative_annotations(typed);
            function.inverses = self.inverse_annotations(typed);
        }
        Ok(function)
    }

    fn function_reference(&mut self, scope: ClassId, name: &ast::ComponentRef) -> Option<FunctionKey> {
        match self.instances.lookup_reference(scope, name) {
            Ok(Resolved::Class(class)) => self.signature(class).ok().map(|signature| signature.key),
            _ => None,
        }
    }

    fn derivative_annotations(&mut self, typed: &TypedFunction) -> Vec<DerivativeAnnotation> {
        let mut found = Vec::new();
        for text in self.derivative_texts(typed.signature.class) {
            let Some(key) = self.function_reference(text.scope, &text.function) else { continue };
            let Ok(function) = self.flat_function(key) else { continue };
            let positions = |names: &[Name]| -> Vec<u32> {
                names.iter().filter_map(|&name| typed.signature.input(name).map(|at| at as u32)).collect()
            };
            found.push(DerivativeAnnotation {
                order: text.order,
                function,
                zero_derivative: positions(&text.zero),
                no_derivative: positions(&text.none),
            });
        }
        found
    }

    /// `inverse(x = f(y, a, b))`: each argument is an input of ours or our output.
    fn inverse_annotations(&mut self, typed: &TypedFunction) -> Vec<(u32, FunctionId, Vec<Option<u32>>)> {
        let mut found = Vec::new();
        for text in self.inverse_texts(typed.signature.class) {
            let Some(input) = typed.signature.input(text.input.name) else { continue };
            let Some(key) = self.function_reference(text.scope, &text.function) else { continue };
            let signature = self.functions.entries[key].signature.clone();
            let mut slots: Vec<Option<Option<u32>>> = vec![None; signature.inputs.len()];
            let mut understood = true;
            let positional = text.arguments.positional.iter().enumerate().map(|(at, argument)| (Some(at), argument));
            let named = text.arguments.named.iter().map(|(name, argument)| (signature.input(name.name), argument));
            for (at, argument) in positional.chain(named) {
                let source = match argument {
                    ast::FunctionArgument::Expr(ast::Expr { kind: ast::ExprKind::Ref(name), .. }) => {
                        name.parts.first().map(|part| part.ident.name)
                    }
                    _ => None,
                };
                let source = source.and_then(|name| match typed.signature.input(name) {
                    Some(at) => Some(Some(at as u32)),
                    None => typed.signature.outputs.first().filter(|(output, _)| *output == name).map(|_| None),
                });
                match (at.and_then(|at| slots.get_mut(at)), source) {
                    (Some(slot), Some(source)) => *slot = Some(source),
                    _ => understood = false,
                }
            }
            let slots: Option<Vec<Option<u32>>> = slots.into_iter().collect();
            let (true, Some(slots)) = (understood, slots) else { continue };
            if let Ok(function) = self.flat_function(key) {
                found.push((input as u32, function, slots));
            }
        }
        found
    }

    /// `der(f, x, y)`: the derivative of each output by one input after the other (12.7.2).
    fn partial_derivative(&mut self, typed: &TypedFunction, of: FunctionKey, positions: &[u32]) -> Outcome<Function> {
        let mut current = self.flat_function(of)?;
        for &position in positions {
            current = self.derivative_by_input(current, position).map_err(|reason| {
                Box::new(
                    Diagnostic::error(
                        "no-derivative",
                        format!("`{}` cannot be differentiated: {reason}", typed.signature.name),
                    )
                    .at(self.instances.definition(typed.signature.class).name.span, "declared here")
                    .specification("12.7.2"),
                )
            })?;
        }
        let mut function = (*self.flat.model.functions[current]).clone();
        function.name = typed.signature.name;
        Ok(function)
    }
}

impl Elaborator {
    /// A function that gives the derivative of all outputs by one Real input: its tangent with the direction of that input.
    fn derivative_by_input(&mut self, of: FunctionId, position: u32) -> Result<FunctionId, String> {
        let functions = &mut self.flat.model.functions;
        let tangent = self.functions.differentiator.tangent(functions, of).map_err(|error| error.reason.to_string())?;
        let (base, tangent_function) = (functions[of].clone(), functions[tangent].clone());
        if base.inputs.iter().any(|&input| matches!(base.locals[input].ty, ir::Type::Function(_))) {
            return Err("an input is a function".to_owned());
        }
        let by = base.inputs.get(position as usize).map(|&input| &base.locals[input]);
        if !by.is_some_and(|by| dae::tangent::contains_reals(&by.ty)) {
            return Err("the input by which it is to be differentiated is not Real".to_owned());
        }
        let mut function = (*base).clone();
        let given = base.inputs.len();
        let mut arguments: Vec<ir::Expr> = base.inputs.iter().map(|&input| ir::Expr::Local(input)).collect();
        // The directions of the Real inputs follow the inputs, in their order.
        let real_inputs: Vec<usize> =
            (0..given).filter(|&at| dae::tangent::contains_reals(&base.locals[base.inputs[at]].ty)).collect();
        if tangent_function.inputs.len() != given + real_inputs.len() {
            return Err("its derivative has an unexpected form".to_owned());
        }
        for at in real_inputs {
            let local = &base.locals[base.inputs[at]];
            if !local.sizes.is_empty() || local.ty != ir::Type::Real {
                return Err("only scalar Real inputs are supported".to_owned());
            }
            arguments.push(ir::Expr::Real(if at as u32 == position { 1.0 } else { 0.0 }));
        }
        let targets: Vec<Option<Target>> =
            function.outputs.iter().map(|&local| Some(Target { local, steps: Vec::new() })).collect();
        let kind = ir::StatementKind::AssignSeveral(targets, ir::Expr::Call(tangent, arguments));
        function.body = Body::Algorithm(vec![ir::Statement { kind, span: base.span }]);
        function.derivatives.clear();
        function.inverses.clear();
        for &output in &function.outputs {
            function.locals[output].default = None;
        }
        Ok(functions.push(Arc::new(function)))
    }
}

impl Elaborator {
    /// An algorithm section as a function: its inputs and outputs among its variables.
    pub(crate) fn lower_section(
        &mut self,
        name: Name,
        class: ClassId,
        locals: &Locals,
        (inputs, outputs): (&[LocalId], &[LocalId]),
        body: &[Statement],
        span: Span,
    ) -> Outcome<FunctionId> {
        let mut lowering = Lowering { elaborator: self, class };
        let locals = lowering.locals(locals, inputs)?;
        let body = Body::Algorithm(lowering.statements(body)?);
        let function = Function {
            name,
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            locals,
            body,
            pure: true,
            inline: Inline::Never,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            span,
        };
        Ok(self.flat.model.functions.push(Arc::new(function)))
    }
}

struct Lowering<'e> {
    elaborator: &'e mut Elaborator,
    class: ClassId,
}

impl Lowering<'_> {
    fn locals(&mut self, locals: &Locals, inputs: &[LocalId]) -> Outcome<IdVec<LocalId, ir::Local>> {
        let mut made = IdVec::with_capacity(locals.len());
        for (id, Local { name, ty, sizes, default, span }) in locals.iter() {
            let mut lowered = Vec::with_capacity(sizes.len());
            for size in sizes {
                lowered.push(match size {
                    Some(size) => Some(self.expr(size)?),
                    None => None,
                });
            }
            while lowered.len() < ty.rank {
                lowered.push(None);
            }
            let default = match default {
                // Every call gives its arguments, and where it leaves one out, the default as it is outside of the function: that
                // may be a variable of the component in which the function is declared.
                Some(default) if inputs.contains(&id) => self.expr(default).ok(),
                Some(default) => Some(self.expr(default)?),
                None => None,
            };
            let flat = self.elaborator.flat_type(&ty.base);
            made.push(ir::Local { name: *name, ty: flat, sizes: lowered, default, span: *span });
        }
        Ok(made)
    }

    /// The constructor of a record as a function: its variables are the fields, its result the record.
    fn record_body(
        &mut self,
        typed: &TypedFunction,
        locals: &mut IdVec<LocalId, ir::Local>,
        span: Span,
    ) -> Outcome<(LocalId, Body)> {
        let Some(record) = &typed.signature.record else {
            return Err(self.elaborator.failed_above(span));
        };
        let flat = self.elaborator.flat_record(record);
        let output = locals.push(ir::Local {
            name: Name::new("result"),
            ty: ir::Type::Record(flat.clone()),
            sizes: Vec::new(),
            default: None,
            span,
        });
        let fields = typed.signature.fields.iter().map(|field| ir::Expr::Local(field.local)).collect();
        let value = ir::Expr::Record(flat, fields);
        let statement =
            ir::Statement { kind: ir::StatementKind::Assign(Target { local: output, steps: Vec::new() }, value), span };
        Ok((output, Body::Algorithm(vec![statement])))
    }

    fn external(&mut self, external: &TypedExternal, inputs: &[LocalId]) -> Outcome<ir::External> {
        let arguments = external.arguments.iter().map(|argument| self.expr(argument)).collect::<Outcome<Vec<_>>>()?;
        let result = match &external.result {
            Some(result) => Some(self.target(result)?),
            None => None,
        };
        let result_type = external.result.as_ref().map(|result| self.elaborator.flat_type(&result.ty.base));
        let argument_types = external.arguments.iter().map(|argument| ir::ArgumentType {
            ty: self.elaborator.flat_type(&argument.ty.base),
            rank: argument.ty.rank,
            is_size: matches!(argument.kind, Kind::SizeOf(..) | Kind::SizeOfPart(..)),
        });
        let argument_types = argument_types.collect();
        let is_output = |argument: &Expr| matches!(argument.kind, Kind::Local(local) if !inputs.contains(&local));
        Ok(ir::External {
            language: external.language,
            symbol: external.symbol,
            outputs: external.arguments.iter().map(is_output).collect(),
            arguments,
            result,
            result_type,
            argument_types,
            libraries: external.libraries.clone(),
            source: external.source.clone(),
            destructor: None,
        })
    }

    fn statements(&mut self, statements: &[Statement]) -> Outcome<Vec<ir::Statement>> {
        let mut made = Vec::with_capacity(statements.len());
        for statement in statements {
            stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.statement(statement, &mut made))?;
        }
        Ok(made)
    }

    fn statement(&mut self, statement: &Statement, out: &mut Vec<ir::Statement>) -> Outcome<()> {
        let span = statement.span;
        let kind = match &statement.kind {
            StatementKind::Assign(target, value) => ir::StatementKind::Assign(self.target(target)?, self.expr(value)?),
            StatementKind::AssignSeveral(targets, call) => {
                let mut lowered = Vec::with_capacity(targets.len());
                for target in targets {
                    lowered.push(match target {
                        Some(target) => Some(self.target(target)?),
                        None => None,
                    });
                }
                let call = self.call_with_all_results(call)?;
                match (lowered.as_mut_slice(), &call) {
                    ([Some(_)], call) if !matches!(call, ir::Expr::Call(..)) => {
                        let Some(Some(target)) = lowered.pop() else { return Ok(()) };
                        ir::StatementKind::Assign(target, call.clone())
                    }
                    _ => ir::StatementKind::AssignSeveral(lowered, call),
                }
            }
            StatementKind::If { branches, otherwise } => {
                let mut lowered = Vec::with_capacity(branches.len());
                for (condition, body) in branches {
                    lowered.push((self.expr(condition)?, self.statements(body)?));
                }
                ir::StatementKind::If { branches: lowered, otherwise: self.statements(otherwise)? }
            }
            StatementKind::For { iterators, body } => {
                let mut body = self.statements(body)?;
                // `for i in a, j in b` is a loop in a loop.
                for (position, iterator) in iterators.iter().enumerate().rev() {
                    let range = self.expr(&iterator.range)?;
                    let kind = ir::StatementKind::For { iterator: iterator.local, range, body };
                    if position == 0 {
                        out.push(ir::Statement { kind, span });
                        return Ok(());
                    }
                    body = vec![ir::Statement { kind, span }];
                }
                return Ok(());
            }
            StatementKind::While { condition, body } => {
                ir::StatementKind::While { condition: self.expr(condition)?, body: self.statements(body)? }
            }
            StatementKind::Break => ir::StatementKind::Break,
            StatementKind::Return => ir::StatementKind::Return,
            StatementKind::Assert { condition, message, level } => {
                let warning = match level {
                    Some(level) => matches!(level.kind, Kind::Enumeration(1)),
                    None => false,
                };
                ir::StatementKind::Assert { condition: self.expr(condition)?, message: self.expr(message)?, warning }
            }
            StatementKind::Call(call) => ir::StatementKind::Call(self.call_with_all_results(call)?),
            StatementKind::When { .. } | StatementKind::Terminate(_) | StatementKind::Reinit(..) => {
                return Err(Box::new(
                    Diagnostic::error("not-in-function", "this statement cannot stand in a function")
                        .at(span, "")
                        .specification("12.2"),
                ));
            }
        };
        out.push(ir::Statement { kind, span });
        Ok(())
    }

    fn call_with_all_results(&mut self, call: &Expr) -> Outcome<ir::Expr> {
        self.expr(call)
    }

    fn target(&mut self, target: &Expr) -> Outcome<Target> {
        let mut steps = Vec::new();
        let mut current = target;
        let local = loop {
            match &current.kind {
                Kind::Local(local) => break *local,
                Kind::Index(base, subscripts) => {
                    // Each record of an array is assigned by itself.
                    let outer = if let Kind::Field(records, _) = &base.kind { records.ty.rank } else { 0 };
                    steps.push(Accessor::Index(self.subscripts(&subscripts[outer..])?));
                    current = base;
                }
                Kind::Field(base, position) => {
                    steps.push(Accessor::Field(*position));
                    current = base;
                }
                _ => return Err(self.elaborator.failed_above(target.span)),
            }
        };
        steps.reverse();
        Ok(Target { local, steps })
    }

    fn subscripts(&mut self, subscripts: &[Subscript]) -> Outcome<Vec<ir::Subscript>> {
        subscripts
            .iter()
            .map(|subscript| {
                Ok(match subscript {
                    Subscript::All => ir::Subscript::All,
                    Subscript::Expr(expr) => ir::Subscript::Expr(self.expr(expr)?),
                })
            })
            .collect()
    }

    fn boxed(&mut self, expr: &Expr) -> Outcome<Box<ir::Expr>> {
        Ok(Box::new(self.expr(expr)?))
    }

    fn list(&mut self, exprs: &[Expr]) -> Outcome<Vec<ir::Expr>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn iterators(&mut self, iterators: &[Iterator]) -> Outcome<Vec<(LocalId, ir::Expr)>> {
        iterators.iter().map(|iterator| Ok((iterator.local, self.expr(&iterator.range)?))).collect()
    }

    fn expr(&mut self, expr: &Expr) -> Outcome<ir::Expr> {
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.expr_inner(expr))
    }

    fn expr_inner(&mut self, expr: &Expr) -> Outcome<ir::Expr> {
        Ok(match &expr.kind {
            Kind::Real(value) => ir::Expr::Real(*value),
            Kind::Integer(value) => ir::Expr::Integer(*value),
            Kind::Boolean(value) => ir::Expr::Boolean(*value),
            Kind::String(value) => ir::Expr::String(value.clone()),
            Kind::Enumeration(value) => match &expr.ty.base {
                Base::Enumeration(known) => ir::Expr::Enumeration(flat_enumeration(known), *value),
                _ => ir::Expr::Integer(*value),
            },
            Kind::Unset => ir::Expr::Unset(self.elaborator.flat_type(&expr.ty.base)),
            Kind::Local(local) => ir::Expr::Local(*local),
            Kind::Component(reference) => match depends_on_locals(reference) {
                true => self.element_of_constant(reference, expr)?,
                false => match self.constant(expr) {
                    // An element that does not exist is a mistake where it is asked for, which a branch or the left side of
                    // `and` and `or` may prevent.
                    Err(diagnostic) if diagnostic.code == "subscript-range" => {
                        self.element_of_constant(reference, expr)?
                    }
                    value => value?,
                },
            },
            Kind::SizeOfPart(..) => self.constant(expr)?,
            Kind::Index(value, subscripts) => {
                // One element of a constant table stays one element where the subscripts are known.
                ir::Expr::Index(self.boxed(value)?, self.subscripts(subscripts)?)
            }
            Kind::Field(value, position) => ir::Expr::Field(self.boxed(value)?, *position),
            Kind::SizeOf(value, dimension) => {
                let dimension = ir::Expr::Integer(*dimension as i64 + 1);
                ir::Expr::Whole(ArrayFunction::Size, vec![self.expr(value)?, dimension])
            }
            Kind::ToReal(value) => self.expr(value)?,
            Kind::Reorder(value, order) => {
                let Base::Record(record) = &expr.ty.base else { return Err(self.elaborator.failed_above(expr.span)) };
                let value = self.expr(value)?;
                let fields = order.iter().map(|&at| ir::Expr::Field(Box::new(value.clone()), at)).collect();
                ir::Expr::Record(self.elaborator.flat_record(record), fields)
            }
            Kind::Neg(value) => ir::Expr::Neg(self.boxed(value)?),
            Kind::Not(value) => ir::Expr::Not(self.boxed(value)?),
            Kind::Arithmetic(op, left, right) => ir::Expr::Arithmetic(*op, self.boxed(left)?, self.boxed(right)?),
            Kind::Elementwise(op, left, right) => ir::Expr::Elementwise(*op, self.boxed(left)?, self.boxed(right)?),
            Kind::And(left, right) => ir::Expr::And(self.boxed(left)?, self.boxed(right)?),
            Kind::Or(left, right) => ir::Expr::Or(self.boxed(left)?, self.boxed(right)?),
            Kind::Compare(op, left, right) => ir::Expr::Compare(*op, self.boxed(left)?, self.boxed(right)?),
            Kind::If(condition, then, otherwise) => {
                ir::Expr::If(self.boxed(condition)?, self.boxed(then)?, self.boxed(otherwise)?)
            }
            Kind::Array(items) => ir::Expr::Array(self.list(items)?),
            Kind::Matrix(rows) => self.matrix(rows, expr.ty.rank)?,
            Kind::Range(start, step, stop) => {
                let step = match step {
                    Some(step) => Some(self.boxed(step)?),
                    None => None,
                };
                ir::Expr::Range(self.boxed(start)?, step, self.boxed(stop)?)
            }
            Kind::ArrayFor { element, iterators } => {
                ir::Expr::ArrayFor { element: self.boxed(element)?, iterators: self.iterators(iterators)? }
            }
            Kind::Reduction { op, element, iterators } => {
                ir::Expr::Reduction { op: *op, element: self.boxed(element)?, iterators: self.iterators(iterators)? }
            }
            Kind::Record(record, fields) => ir::Expr::Record(self.elaborator.flat_record(record), self.list(fields)?),
            Kind::Builtin(op, arguments) => ir::Expr::Builtin(*op, self.list(arguments)?),
            Kind::Whole(op, arguments) => {
                let mut arguments = self.list(arguments)?;
                if let (ArrayFunction::Enumeration, Base::Enumeration(known)) = (op, &expr.ty.base) {
                    arguments.push(ir::Expr::Enumeration(flat_enumeration(known), 1));
                }
                ir::Expr::Whole(*op, arguments)
            }
            Kind::Call(function, arguments) => {
                let arguments = self.list(arguments)?;
                ir::Expr::Call(self.elaborator.flat_function(*function)?, arguments)
            }
            Kind::CallLocal(local, arguments) => ir::Expr::CallLocal(*local, self.list(arguments)?),
            Kind::FunctionValue(function, given) => {
                let mut lowered = Vec::with_capacity(given.len());
                for (at, value) in given {
                    lowered.push((*at, self.expr(value)?));
                }
                ir::Expr::FunctionValue(self.elaborator.flat_function(*function)?, lowered)
            }
            Kind::LocalValue(local, given) => {
                let mut lowered = Vec::with_capacity(given.len());
                for (at, value) in given {
                    lowered.push((*at, self.expr(value)?));
                }
                ir::Expr::LocalValue(*local, lowered)
            }
            Kind::Vectorized { function, arguments, over } => {
                let arguments = self.list(arguments)?;
                let function = self.elaborator.flat_function(*function)?;
                ir::Expr::Vectorized { function, arguments, over: over.clone() }
            }
            Kind::Output(value, 0) => self.expr(value)?,
            Kind::Operator(Operator::NoEvent, arguments) => self.expr(&arguments[0])?,
            Kind::Operator(Operator::Smooth, arguments) => self.expr(&arguments[1])?,
            Kind::Operator(Operator::InstanceName, _) => {
                ir::Expr::String(Arc::from(self.elaborator.flat.model.name.as_str()))
            }
            Kind::Product { times, plus, left, right } => {
                let record = self.elaborator.flat_type(&expr.ty.base);
                let ranks = (left.ty.rank, right.ty.rank);
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                let function = self.elaborator.record_product_function((*times, *plus), ranks, &record, expr.span)?;
                ir::Expr::Call(function, vec![left, right])
            }
            Kind::RecordSum { plus, zero, array } => {
                let record = self.elaborator.flat_type(&expr.ty.base);
                let zero = match zero {
                    Some(zero) => Some(self.expr(zero)?),
                    None => None,
                };
                let value = self.expr(array)?;
                let value = match array.ty.rank {
                    1 => value,
                    _ => ir::Expr::Whole(ArrayFunction::Vector, vec![value]),
                };
                let function = self.elaborator.record_sum_function(*plus, zero, &record, expr.span)?;
                ir::Expr::Call(function, vec![value])
            }
            Kind::Output(..) | Kind::Operator(..) | Kind::Time => {
                return Err(Box::new(
                    Diagnostic::error("not-in-function", "this cannot be used in a function")
                        .at(expr.span, "")
                        .specification("12.2"),
                ));
            }
            Kind::Error => return Err(self.elaborator.failed_above(expr.span)),
        })
    }

    /// `[a, b; c, d]` as joined rows.
    fn matrix(&mut self, rows: &[Vec<Expr>], rank: usize) -> Outcome<ir::Expr> {
        let mut joined = Vec::with_capacity(rows.len());
        for row in rows {
            let mut parts = Vec::with_capacity(row.len());
            for element in row {
                let lowered = self.expr(element)?;
                let rank = ir::Expr::Integer(rank as i64);
                parts.push(if element.ty.rank as i64 == expr_integer(&rank) {
                    lowered
                } else {
                    ir::Expr::Whole(ArrayFunction::Promote, vec![lowered, rank])
                });
            }
            joined.push(cat(2, parts));
        }
        Ok(cat(1, joined))
    }

    /// A constant of a package, put in as its value.
    fn constant(&mut self, expr: &Expr) -> Outcome<ir::Expr> {
        let frame = Frame { class: self.class, indices: Default::default() };
        let value = Expander::new(self.elaborator, frame, Mode::Evaluate).expand(expr)?;
        self.literal(&value, &expr.ty, expr.span)
    }

    /// A part of a constant that is chosen by variables: the whole constant, then the subscripts and fields.
    fn element_of_constant(&mut self, reference: &Reference, whole: &Expr) -> Outcome<ir::Expr> {
        let mut made: Option<ir::Expr> = None;
        let mut ty = Type::UNKNOWN;
        for step in &reference.steps {
            let own = self.elaborator.component_type(step.component)?;
            let value = match made {
                None => {
                    let first =
                        Reference { steps: vec![ReferencePart { component: step.component, subscripts: Vec::new() }] };
                    ty = own.clone();
                    let expr = Expr {
                        kind: Kind::Component(Box::new(first)),
                        ty: own,
                        variability: whole.variability,
                        span: whole.span,
                    };
                    self.constant(&expr)?
                }
                Some(value) => {
                    let name = self.elaborator.instances.component(step.component).name;
                    let Base::Record(record) = &ty.base else { return Err(self.elaborator.failed_above(whole.span)) };
                    let Some(at) = record.field(name) else { return Err(self.elaborator.failed_above(whole.span)) };
                    ty = own;
                    ir::Expr::Field(Box::new(value), at as u32)
                }
            };
            made = Some(if step.subscripts.is_empty() {
                value
            } else {
                ir::Expr::Index(Box::new(value), self.subscripts(&step.subscripts)?)
            });
        }
        made.ok_or_else(|| self.elaborator.failed_above(whole.span))
    }

    fn literal(&mut self, value: &Symbolic, ty: &Type, span: Span) -> Outcome<ir::Expr> {
        Ok(match value {
            Symbolic::Array(array) if array.elements.is_empty() => {
                let sizes = array.sizes.iter().map(|&size| ir::Expr::Integer(size as i64));
                let zero = match ty.base {
                    Base::Boolean => ir::Expr::Boolean(false),
                    Base::String => ir::Expr::String(Arc::from("")),
                    Base::Integer => ir::Expr::Integer(0),
                    _ => ir::Expr::Real(0.0),
                };
                ir::Expr::Whole(ArrayFunction::Fill, std::iter::once(zero).chain(sizes).collect())
            }
            Symbolic::Array(array) => {
                let element = ty.with_rank(0);
                let mut items = Vec::with_capacity(array.elements.len());
                for item in &array.elements {
                    items.push(self.literal(item, &element, span)?);
                }
                nested(&array.sizes, items)
            }
            Symbolic::Record(fields) => {
                let Base::Record(record) = &ty.base else { return Err(self.elaborator.failed_above(span)) };
                let mut items = Vec::with_capacity(fields.len());
                for (field, declared) in fields.iter().zip(&record.fields) {
                    items.push(self.literal(field, &declared.ty, span)?);
                }
                ir::Expr::Record(self.elaborator.flat_record(record), items)
            }
            _ => match to_value(self.elaborator, value, ty)? {
                Some(Value::Function { function, given }) => ir::Expr::FunctionValue(
                    function,
                    given.iter().map(|(at, value)| (*at, literal_value(value, None))).collect(),
                ),
                Some(value) => {
                    let known = match &ty.base {
                        Base::Enumeration(known) => Some(flat_enumeration(known)),
                        _ => None,
                    };
                    literal_value(&value, known.as_ref())
                }
                None => {
                    return Err(Box::new(
                        Diagnostic::error("not-constant", "a function may use constants only, and this is none")
                            .at(span, "")
                            .specification("12.2"),
                    ));
                }
            },
        })
    }
}

fn depends_on_locals(reference: &Reference) -> bool {
    let mut found = false;
    for subscript in reference.steps.iter().flat_map(|step| &step.subscripts) {
        if let Subscript::Expr(expr) = subscript {
            walk(expr, &mut |expr| found |= matches!(expr.kind, Kind::Local(_) | Kind::SizeOf(..)));
        }
    }
    found
}

fn expr_integer(expr: &ir::Expr) -> i64 {
    match expr {
        ir::Expr::Integer(value) => *value,
        _ => 0,
    }
}

fn cat(dimension: i64, mut parts: Vec<ir::Expr>) -> ir::Expr {
    if parts.len() == 1 {
        return parts.swap_remove(0);
    }
    parts.insert(0, ir::Expr::Integer(dimension));
    ir::Expr::Whole(ArrayFunction::Cat, parts)
}

/// Elements in row-major order as arrays of arrays.
fn nested(sizes: &[usize], items: Vec<ir::Expr>) -> ir::Expr {
    let mut items = items;
    for &size in sizes.iter().skip(1).rev() {
        let mut rows = Vec::with_capacity(items.len() / size.max(1));
        let mut rest = items.into_iter();
        loop {
            let row: Vec<ir::Expr> = rest.by_ref().take(size).collect();
            if row.is_empty() {
                break;
            }
            rows.push(ir::Expr::Array(row));
        }
        items = rows;
    }
    ir::Expr::Array(items)
}
