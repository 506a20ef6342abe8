//! Calls: arguments by position and by name, defaults, calls of records and enumerations, functions as arguments,
//! calls applied to each element of an array (12.4).

use base::{Diagnostic, Name, Span};
use dae::Variability;
use dae::function::LocalId;
use syntax::ast;

use super::defaults::{Known, reads_spread_inputs};
use super::names::ValueOrClass;
use super::{Typer, convert, fits, highest, literal, wrong};
use crate::functions::{Signature, SignatureInput, SignatureKind};
use crate::instance::ClassId;
use crate::lookup::{Found, Resolved};
use crate::typed::{Base, Expr, FunctionKey, FunctionType, Iterator, Kind, Reference, ReferencePart, Subscript, Type};

/// An argument with its name, if it has one.
pub struct Argument {
    pub name: Option<ast::Ident>,
    pub value: Expr,
}

impl Typer<'_> {
    /// The value of an expression with all its results, for `(a, b) = f(x)`.
    pub fn expr_with_all_results(&mut self, text: &ast::Expr) -> Expr {
        match &text.kind {
            ast::ExprKind::Call { function, arguments } => self.call_with_all_results(function, arguments, text.span),
            _ => self.expr(text),
        }
    }

    pub(super) fn call(&mut self, function: &ast::ComponentRef, arguments: &ast::Arguments, span: Span) -> Expr {
        let value = self.call_with_all_results(function, arguments, span);
        if matches!(&value.ty.base, Base::Tuple(results) if results.is_empty()) {
            let message = format!("the function `{}` has no output and gives no value", text_of(function));
            let diagnostic = Diagnostic::error("no-result", message)
                .at(span, "a value is needed here")
                .hint("declare an output of the function")
                .specification("12.4.3");
            self.report(diagnostic);
            return wrong(span);
        }
        super::first_output(value)
    }

    fn call_with_all_results(&mut self, function: &ast::ComponentRef, arguments: &ast::Arguments, span: Span) -> Expr {
        let single = match function.parts.as_slice() {
            [only] if !function.global => Some(only.ident.name),
            _ => None,
        };
        if let Some(name) = single {
            if let Some(local) = self.visible(name) {
                return self.call_local(local, arguments, span);
            }
            if super::builtins::is_reserved(name) {
                return self.builtin(name, arguments, span);
            }
        }
        if let [first, second] = function.parts.as_slice()
            && first.ident.name == "Connections"
            && super::builtins::is_connections(second.ident.name)
        {
            return self.connections_operator(second.ident.name, arguments, span);
        }
        // `.sin(x)` names the function of the language where a class hides it.
        let operator = match function.parts.as_slice() {
            [only] if super::builtins::is_builtin(only.ident.name) => Some(only.ident.name),
            _ => None,
        };
        if let Some(name) = operator {
            let root = self.elaborator.instances.root();
            let scope = if function.global { root } else { self.scope };
            let is_hidden = match self.elaborator.instances.find(scope, name) {
                Ok(None) => false,
                // The predefined type itself: its constructor.
                Ok(Some(Found::Class(class))) => self.elaborator.instances.class(class).builtin.is_none(),
                Ok(Some(Found::Member(_) | Found::Literal { .. })) | Err(_) => true,
            };
            if !is_hidden {
                return self.builtin(name, arguments, span);
            }
        }
        match self.elaborator.instances.lookup_reference(self.scope, function) {
            Ok(Resolved::Class(class)) => self.call_class(class, arguments, span),
            Ok(Resolved::Unknown(diagnostic)) | Err(diagnostic) => {
                self.report(*diagnostic);
                wrong(span)
            }
            Ok(Resolved::Component { steps }) if steps.len() == 1 && self.components.contains_key(&steps[0]) => {
                let local = self.components[&steps[0]];
                self.call_local(local, arguments, span)
            }
            Ok(_) => {
                let message = format!("`{}` is not a function", text_of(function));
                self.error(function.span, "not-a-function", message)
            }
        }
    }

    fn call_class(&mut self, class: ClassId, arguments: &ast::Arguments, span: Span) -> Expr {
        if let Some(enumeration) = self.elaborator.enumeration(class) {
            return self.enumeration_of(Type::new(Base::Enumeration(enumeration), 0), arguments, span);
        }
        if let Some(name) = self.elaborator.builtin_function(class) {
            return self.builtin(name, arguments, span);
        }
        if self.elaborator.has_constructors(class) {
            let arguments = self.arguments(arguments, None);
            return self.overloaded_constructor(class, arguments, span);
        }
        let signature = match self.elaborator.signature(class) {
            Ok(signature) => signature,
            Err(diagnostic) => {
                let mut diagnostic = *diagnostic;
                if diagnostic.labels.is_empty() {
                    diagnostic = diagnostic.at(span, "");
                }
                self.report(diagnostic);
                return wrong(span);
            }
        };
        if !arguments.iterators.is_empty() {
            return self.call_over_iterators(&signature, arguments, span);
        }
        let arguments = self.arguments(arguments, Some(&signature));
        self.call_signature(&signature, arguments, span)
    }

    /// `f(e for i in r)`: the argument is an array made by the iterators.
    fn call_over_iterators(&mut self, signature: &Signature, arguments: &ast::Arguments, span: Span) -> Expr {
        let Some(ast::FunctionArgument::Expr(element)) = arguments.positional.first() else { return wrong(span) };
        let value = self.array_for(element, &arguments.iterators, span);
        self.call_signature(signature, vec![Argument { name: None, value }], span)
    }

    pub fn arguments(&mut self, arguments: &ast::Arguments, signature: Option<&Signature>) -> Vec<Argument> {
        let mut typed = Vec::with_capacity(arguments.positional.len() + arguments.named.len());
        for argument in &arguments.positional {
            typed.push(Argument { name: None, value: self.argument(argument, signature.is_some()) });
        }
        for (name, argument) in &arguments.named {
            typed.push(Argument { name: Some(*name), value: self.argument(argument, signature.is_some()) });
        }
        typed
    }

    fn argument(&mut self, argument: &ast::FunctionArgument, functions: bool) -> Expr {
        match argument {
            ast::FunctionArgument::Expr(text) => {
                if functions && let ast::ExprKind::Ref(reference) = &text.kind {
                    return self.reference_or_function(reference);
                }
                self.expr(text)
            }
            ast::FunctionArgument::PartialApplication { function, named, span } => {
                self.partial_application(function, named, *span)
            }
        }
    }

    /// An argument that is a name: a value, or a function where a function is wanted.
    pub(crate) fn reference_or_function(&mut self, reference: &ast::ComponentRef) -> Expr {
        let class = match self.value_or_class(reference) {
            ValueOrClass::Value(value) => return value,
            ValueOrClass::Class(class) => class,
        };
        match self.elaborator.signature(class) {
            Ok(signature) => self.function_expr(&signature, Vec::new(), reference.span),
            Err(_) => self.class_as_value(class, reference.span),
        }
    }

    fn function_expr(&mut self, signature: &Signature, given: Vec<(u32, Expr)>, span: Span) -> Expr {
        let inputs = signature
            .inputs
            .iter()
            .enumerate()
            .filter(|(at, _)| !given.iter().any(|(k, _)| *k as usize == *at))
            .map(|(_, input)| (input.name, input.ty.clone()))
            .collect();
        let ty = FunctionType { inputs, outputs: signature.outputs.clone() };
        let variability = given.iter().map(|(_, e)| e.variability).max().unwrap_or(Variability::Constant);
        let kind = Kind::FunctionValue(signature.key, given);
        Expr { kind, ty: Type::new(Base::Function(std::sync::Arc::new(ty)), 0), variability, span }
    }

    /// `function f(a = 1)`.
    fn partial_application(
        &mut self,
        function: &ast::TypeName,
        named: &[(ast::Ident, ast::FunctionArgument)],
        span: Span,
    ) -> Expr {
        let reference = ast::ComponentRef {
            global: function.global,
            parts: function.parts.iter().map(|&ident| ast::RefPart { ident, subscripts: Vec::new() }).collect(),
            span: function.span,
        };
        let class = match self.value_or_class(&reference) {
            ValueOrClass::Class(class) => class,
            ValueOrClass::Value(value) if value.ty.is_unknown() => return value,
            ValueOrClass::Value(Expr {
                kind: Kind::Local(local), ty: Type { base: Base::Function(ty), .. }, ..
            }) => {
                return self.partial_application_of_input(local, &ty, named, span);
            }
            ValueOrClass::Value(_) => return self.error(function.span, "not-a-function", "this is not a function"),
        };
        let signature = match self.elaborator.signature(class) {
            Ok(signature) => signature,
            Err(diagnostic) => {
                self.report(*diagnostic);
                return wrong(span);
            }
        };
        let mut given = Vec::new();
        for (name, argument) in named {
            let value = self.argument(argument, true);
            let Some(at) = signature.input(name.name) else {
                let message = format!("`{}` has no input `{}`", signature.name, name.name);
                return self.error(name.span, "unknown-argument", message);
            };
            let value = self.expect(value, &signature.inputs[at].ty, &format!("the argument `{}`", name.name));
            given.push((at as u32, value));
        }
        given.sort_by_key(|(at, _)| *at);
        self.function_expr(&signature, given, span)
    }

    /// `function f(a = 1)` where `f` is itself an input: the result takes what is left (12.4.2.1, case d).
    fn partial_application_of_input(
        &mut self,
        local: LocalId,
        function: &FunctionType,
        named: &[(ast::Ident, ast::FunctionArgument)],
        span: Span,
    ) -> Expr {
        let mut given: Vec<(u32, Expr)> = Vec::new();
        for (name, argument) in named {
            let value = self.argument(argument, true);
            let Some(at) = function.inputs.iter().position(|(input, _)| *input == name.name) else {
                let message = format!("`{}` has no input `{}`", self.locals[local].name, name.name);
                return self.error(name.span, "unknown-argument", message);
            };
            let value = self.expect(value, &function.inputs[at].1, &format!("the argument `{}`", name.name));
            given.push((at as u32, value));
        }
        given.sort_by_key(|(at, _)| *at);
        let is_open = |at: usize| !given.iter().any(|(known, _)| *known as usize == at);
        let inputs = function.inputs.iter().enumerate().filter(|(at, _)| is_open(*at)).map(|(_, input)| input.clone());
        let ty = FunctionType { inputs: inputs.collect(), outputs: function.outputs.clone() };
        let ty = Type::new(Base::Function(std::sync::Arc::new(ty)), 0);
        Expr { kind: Kind::LocalValue(local, given), ty, variability: Variability::Continuous, span }
    }

    fn call_local(&mut self, local: LocalId, arguments: &ast::Arguments, span: Span) -> Expr {
        let name = self.locals[local].name;
        let Base::Function(function) = self.locals[local].ty.base.clone() else {
            let message = format!("`{name}` is a variable, not a function");
            return self.error(span, "not-a-function", message);
        };
        let typed = self.arguments(arguments, None);
        let mut slots: Vec<Option<Expr>> = vec![None; function.inputs.len()];
        for (position, argument) in typed.into_iter().enumerate() {
            let at = match argument.name {
                Some(ident) => function.inputs.iter().position(|(input, _)| *input == ident.name),
                None => Some(position),
            };
            let Some(at) = at.filter(|&at| at < slots.len()) else {
                let message = format!("`{name}` takes {} arguments", function.inputs.len());
                return self.error(argument.value.span, "unknown-argument", message);
            };
            let ty = &function.inputs[at].1;
            slots[at] = Some(self.expect(argument.value, ty, &format!("argument {} of `{name}`", at + 1)));
        }
        let Some(values) = slots.into_iter().collect::<Option<Vec<Expr>>>() else {
            let message = format!("`{name}` needs {} arguments", function.inputs.len());
            return self.error(span, "missing-argument", message);
        };
        let ty = result_type(&function.outputs);
        Expr { kind: Kind::CallLocal(local, values), ty, variability: Variability::Continuous, span }
    }

    /// Arguments to inputs, defaults filled in, arrays spread over elements where the inputs are of lower rank.
    pub fn call_signature(&mut self, signature: &Signature, arguments: Vec<Argument>, span: Span) -> Expr {
        let Some(slots) = self.slots(signature, arguments, span) else { return wrong(span) };
        let Some((given, over)) = self.fit_arguments(signature, slots, span) else { return wrong(span) };
        let missing: Vec<&str> = signature
            .inputs
            .iter()
            .zip(&given)
            .filter(|(input, value)| value.is_none() && input.default.is_none())
            .map(|(input, _)| input.name.as_str())
            .collect();
        if !missing.is_empty() {
            let message = format!("the call of `{}` lacks {}", signature.name, quoted(&missing));
            return self.error(span, "missing-argument", message);
        }
        if over.iter().any(|&extra| extra > 0) && reads_spread_inputs(signature, &given, &over) {
            return self.call_for_each_element(signature, given, &over, span);
        }
        self.call_with(signature, given, &over, span)
    }

    /// A call with arguments that fit; those that are missing get their defaults.
    /// Impure functions may be called in when clauses, at the start and for parameters (12.3).
    fn note_impure_call(&mut self, name: Name, span: Span) {
        // In a flat model `pure(…)` has done its work.
        if self.declared_pure || self.elaborator.flat.model.is_from_flat_text {
            return;
        }
        if self.always && !self.in_when {
            self.refuse_impure_call(name, span);
        }
        self.impure_call = Some((name, span));
    }

    fn refuse_impure_call(&mut self, name: Name, span: Span) {
        let message = format!("the impure function `{name}` is called where something holds at all times");
        self.report(
            Diagnostic::error("impure-call", message)
                .at(span, "how often it is evaluated here is not defined")
                .hint("call it in a when clause or for a parameter; `pure(…)` around the call says that it does not matter")
                .specification("12.3"),
        );
    }

    /// A function that calls an impure one is impure itself and has to say so; `pure` says the opposite (12.3). Functions that
    /// say nothing are old.
    fn check_impure_in_function(&mut self, name: Name, span: Span) {
        let instances = &mut self.elaborator.instances;
        let caller = instances.class(self.scope).instance;
        let parts = instances.with_bases(caller);
        let has = |purity: ast::Purity| parts.iter().any(|&part| instances.definition(part).purity == purity);
        if self.declared_pure || has(ast::Purity::Impure) {
            return;
        }
        let is_pure = has(ast::Purity::Pure);
        let (caller, declared) = (instances.class_name(caller), instances.definition(caller).name.span);
        let what = if is_pure { "the pure function" } else { "the function" };
        let message = format!("{what} `{caller}` calls the impure function `{name}`");
        let diagnostic = Diagnostic::breach("impure-call", message)
            .at(span, "called here")
            .at(declared, if is_pure { "declared `pure`" } else { "declared without `impure`" })
            .hint("declare the function `impure`; `pure(…)` around the call says that it does not matter")
            .specification("12.3");
        self.report(if is_pure { diagnostic.refused() } else { diagnostic });
    }

    /// A variable that is no parameter may not get its value from an impure function.
    pub(crate) fn check_pure_value(&mut self, declared: Variability) {
        if let Some((name, span)) = self.impure_call.take()
            && declared > Variability::Parameter
        {
            self.refuse_impure_call(name, span);
        }
    }

    pub(super) fn call_with(
        &mut self,
        signature: &Signature,
        given: Vec<Option<Expr>>,
        over: &[usize],
        span: Span,
    ) -> Expr {
        let mut known = Known::new(signature, given);
        let mut values = Vec::with_capacity(signature.inputs.len());
        for input in &signature.inputs {
            let Some(value) = self.value_of(signature, input.local, &mut known) else { return wrong(span) };
            values.push(if known.is_given(input.local) { value } else { Expr { span, ..value } });
        }
        if signature.kind == SignatureKind::Object && self.context == super::Context::Model {
            self.warn_of_varying_arguments(signature, &values, span);
        }
        let extra = over.iter().max().copied().unwrap_or(0);
        if signature.impure && self.context == super::Context::Function && !signature.outputs.is_empty() {
            self.check_impure_in_function(signature.name, span);
        }
        let variability = if signature.impure && self.context == super::Context::Model {
            // What gives nothing, such as `print`, is called for its effect: nothing in the model depends on how often.
            if !signature.outputs.is_empty() {
                self.note_impure_call(signature.name, span);
            }
            highest(&values).max(Variability::Parameter)
        } else if signature.generates_events && values.iter().all(may_make_events) {
            highest(&values).min(Variability::Discrete)
        } else {
            highest(&values)
        };
        if let Some(record) = &signature.record
            && extra == 0
        {
            let mut fields = Vec::with_capacity(signature.fields.len());
            for field in &signature.fields {
                fields.push(self.value_of(signature, field.local, &mut known).unwrap_or_else(|| wrong(field.span)));
            }
            let ty = Type::new(Base::Record(record.clone()), 0);
            return Expr { kind: Kind::Record(record.clone(), fields), ty, variability, span };
        }
        let ty = result_type(&signature.outputs);
        if extra == 0 {
            return Expr { kind: Kind::Call(signature.key, values), ty, variability, span };
        }
        let ty = match ty.base {
            // Only the first result of a call that is spread over elements can be used.
            Base::Tuple(items) => items.first().cloned().unwrap_or(Type::UNKNOWN),
            base => Type::new(base, ty.rank),
        };
        let ty = ty.with_rank(ty.rank + extra);
        let over: Vec<bool> = over.iter().map(|&extra| extra > 0).collect();
        values.shrink_to_fit();
        Expr { kind: Kind::Vectorized { function: signature.key, arguments: values, over }, ty, variability, span }
    }

    /// An external object is made once, so it does not follow arguments that change during the run (12.9.7).
    fn warn_of_varying_arguments(&mut self, signature: &Signature, values: &[Expr], span: Span) {
        let Some(varying) = values.iter().find(|value| value.variability > Variability::Parameter) else { return };
        let message = format!("an argument of `{}` may change, and the external object is made once", signature.name);
        let diagnostic = Diagnostic::warning("varying-constructor", message)
            .at(varying.span, "the value at the start counts")
            .at(span, "made here")
            .hint("give the constructor parameters, and what changes to the functions that use the object")
            .specification("12.9.7")
            .decides();
        self.elaborator.instances.report(Box::new(diagnostic));
    }

    /// Whether a modifier gave an input of a function its last value.
    fn is_final(&self, signature: &Signature, at: usize) -> bool {
        let local = signature.inputs[at].local;
        let component = signature.components.iter().find(|(_, known)| **known == local);
        component.is_some_and(|(&component, _)| {
            let node = self.elaborator.instances.component(component);
            (node.modifier.is_final || node.prefixes.is_final) && node.modifier.binding.is_some()
        })
    }

    fn slots(&mut self, signature: &Signature, arguments: Vec<Argument>, span: Span) -> Option<Vec<Option<Expr>>> {
        let mut slots: Vec<Option<Expr>> = vec![None; signature.inputs.len()];
        for (position, argument) in arguments.into_iter().enumerate() {
            let at = match argument.name {
                Some(ident) => signature.input(ident.name),
                None => Some(position).filter(|&at| at < slots.len()),
            };
            let Some(at) = at else {
                let (place, message) = match argument.name {
                    Some(ident) => (ident.span, format!("`{}` has no input `{}`", signature.name, ident.name)),
                    None => (
                        argument.value.span,
                        format!("`{}` takes {} arguments, and this is one more", signature.name, slots.len()),
                    ),
                };
                let names: Vec<&str> = signature.inputs.iter().map(|input| input.name.as_str()).collect();
                let diagnostic = Diagnostic::error("unknown-argument", message)
                    .at(place, "")
                    .note(format!("its inputs are: {}", names.join(", ")))
                    .specification("12.4.1");
                self.report(diagnostic);
                return None;
            };
            if slots[at].is_some() {
                let message =
                    format!("the input `{}` of `{}` is given twice", signature.inputs[at].name, signature.name);
                self.error(argument.value.span, "duplicate-argument", message);
                return None;
            }
            if self.is_final(signature, at) {
                let message = format!("the input `{}` of `{}` is final", signature.inputs[at].name, signature.name);
                self.error(argument.value.span, "final-modified", message);
                return None;
            }
            slots[at] = Some(argument.value);
        }
        let _ = span;
        Some(slots)
    }

    /// The arguments as values of the types of the inputs, and over how many dimensions each is spread.
    fn fit_arguments(
        &mut self,
        signature: &Signature,
        slots: Vec<Option<Expr>>,
        span: Span,
    ) -> Option<(Vec<Option<Expr>>, Vec<usize>)> {
        let mut values: Vec<Option<Expr>> = Vec::with_capacity(slots.len());
        let mut over = vec![0; slots.len()];
        for (at, slot) in slots.into_iter().enumerate() {
            let input = &signature.inputs[at];
            let Some(value) = slot else {
                values.push(None);
                continue;
            };
            if fits(&value.ty, &input.ty) {
                values.push(Some(convert(value, &input.ty)));
                continue;
            }
            let element = value.ty.with_rank(input.ty.rank);
            if value.ty.rank > input.ty.rank && fits(&element, &input.ty) && signature.kind != SignatureKind::Object {
                over[at] = value.ty.rank - input.ty.rank;
                let ty = input.ty.with_rank(value.ty.rank);
                values.push(Some(convert(value, &ty)));
                continue;
            }
            if let Some(converted) = self.converted_to_record(&value, input) {
                values.push(Some(converted));
                continue;
            }
            let diagnostic = Diagnostic::error(
                "type-mismatch",
                format!(
                    "the input `{}` of `{}` is of type `{}`, and the argument of type `{}`",
                    input.name,
                    signature.name,
                    input.ty.text(),
                    value.ty.text()
                ),
            )
            .at(value.span, format!("this is `{}`", value.ty.text()))
            .at(input.span, "the input is declared here")
            .specification("12.4");
            self.report(diagnostic);
            return None;
        }
        let extra = over.iter().max().copied().unwrap_or(0);
        if over.iter().any(|&n| n > 0 && n != extra) {
            let message = format!("the arguments over which `{}` is spread have different dimensions", signature.name);
            self.error(span, "type-mismatch", message);
            return None;
        }
        Some((values, over))
    }

    /// A number where an operator record is wanted becomes one by its constructor (14.3).
    fn converted_to_record(&mut self, value: &Expr, input: &SignatureInput) -> Option<Expr> {
        match &input.ty.base {
            Base::Record(record) if record.operator.is_some() && value.ty.rank == input.ty.rank => {
                self.implicit_constructor(record.class, value.clone())
            }
            _ => None,
        }
    }

    /// `E(i)`.
    fn enumeration_of(&mut self, ty: Type, arguments: &ast::Arguments, span: Span) -> Expr {
        let mut typed = self.arguments(arguments, None);
        let (Some(argument), true) = (typed.pop(), typed.is_empty()) else {
            return self.error(span, "wrong-arguments", format!("`{}` takes one Integer", ty.text()));
        };
        let wanted = Type::INTEGER.with_rank(argument.value.ty.rank);
        let value = self.expect(argument.value, &wanted, &format!("the argument of `{}`", ty.text()));
        let Base::Enumeration(enumeration) = &ty.base else { return wrong(span) };
        if let Kind::Integer(number) = value.kind
            && !(1..=enumeration.literals.len() as i64).contains(&number)
        {
            let message = format!(
                "`{}` has {} values, none with the number {number}",
                enumeration.name,
                enumeration.literals.len()
            );
            return self.error(span, "enumeration-range", message);
        }
        let (rank, variability) = (value.ty.rank, value.variability);
        let kind = match value.kind {
            Kind::Integer(number) => Kind::Enumeration(number),
            _ => {
                let (name, literals) = (enumeration.name, enumeration.literals.clone());
                let number = self.elaborator.flat.enumeration(name, literals);
                self.elaborator.types.converted.insert(number);
                Kind::Whole(dae::function::ArrayFunction::Enumeration, vec![value])
            }
        };
        Expr { kind, ty: ty.with_rank(rank), variability, span }
    }
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

pub fn text_of(reference: &ast::ComponentRef) -> String {
    let parts: Vec<&str> = reference.parts.iter().map(|part| part.ident.name.as_str()).collect();
    parts.join(".")
}

/// The type of a call: the only result, or all of them.
pub fn result_type(outputs: &[(Name, Type)]) -> Type {
    match outputs {
        [(_, only)] => only.clone(),
        _ => Type::new(Base::Tuple(outputs.iter().map(|(_, ty)| ty.clone()).collect()), 0),
    }
}

/// The expression with variables of a function replaced.
pub fn substitute(expr: &Expr, value: &dyn Fn(LocalId) -> Option<Expr>) -> Expr {
    rewrite(expr, &mut |expr| match expr.kind {
        Kind::Local(local) => value(local),
        _ => None,
    })
}

/// The expression with parts replaced: `change` gives what stands for a part, or `None` to look inside it.
pub fn rewrite(expr: &Expr, change: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Expr {
    if let Some(new) = change(expr) {
        return new;
    }
    let mut rewriting = Rewriting { change };
    let kind = rewriting.kind(expr);
    Expr { kind, ty: expr.ty.clone(), variability: expr.variability, span: expr.span }
}

struct Rewriting<'a> {
    change: &'a mut dyn FnMut(&Expr) -> Option<Expr>,
}

impl Rewriting<'_> {
    fn sub(&mut self, expr: &Expr) -> Expr {
        rewrite(expr, self.change)
    }

    fn boxed(&mut self, expr: &Expr) -> Box<Expr> {
        Box::new(self.sub(expr))
    }

    fn list(&mut self, items: &[Expr]) -> Vec<Expr> {
        items.iter().map(|item| self.sub(item)).collect()
    }

    fn subscripts(&mut self, items: &[Subscript]) -> Vec<Subscript> {
        items
            .iter()
            .map(|item| match item {
                Subscript::All => Subscript::All,
                Subscript::Expr(expr) => Subscript::Expr(self.sub(expr)),
            })
            .collect()
    }

    fn reference(&mut self, reference: &Reference) -> Box<Reference> {
        let steps = reference
            .steps
            .iter()
            .map(|step| ReferencePart { component: step.component, subscripts: self.subscripts(&step.subscripts) })
            .collect();
        Box::new(Reference { steps })
    }

    /// An iterator that stands for another one is renamed where it is declared as well.
    fn iterators(&mut self, items: &[Iterator]) -> Vec<Iterator> {
        items
            .iter()
            .map(|iterator| {
                let range = self.sub(&iterator.range);
                let own = Expr { kind: Kind::Local(iterator.local), ..range.clone() };
                let local = match (self.change)(&own) {
                    Some(Expr { kind: Kind::Local(new), .. }) => new,
                    _ => iterator.local,
                };
                Iterator { local, range }
            })
            .collect()
    }

    fn kind(&mut self, expr: &Expr) -> Kind {
        match &expr.kind {
            Kind::Component(r) => Kind::Component(self.reference(r)),
            Kind::Index(a, s) => Kind::Index(self.boxed(a), self.subscripts(s)),
            Kind::Field(a, at) => Kind::Field(self.boxed(a), *at),
            Kind::SizeOf(a, at) => Kind::SizeOf(self.boxed(a), *at),
            Kind::SizeOfPart(r, at) => Kind::SizeOfPart(self.reference(r), *at),
            Kind::ToReal(a) => Kind::ToReal(self.boxed(a)),
            Kind::Reorder(a, order) => Kind::Reorder(self.boxed(a), order.clone()),
            Kind::Neg(a) => Kind::Neg(self.boxed(a)),
            Kind::Not(a) => Kind::Not(self.boxed(a)),
            Kind::Arithmetic(op, a, b) => Kind::Arithmetic(*op, self.boxed(a), self.boxed(b)),
            Kind::Elementwise(op, a, b) => Kind::Elementwise(*op, self.boxed(a), self.boxed(b)),
            Kind::Product { times, plus, left, right } => {
                Kind::Product { times: *times, plus: *plus, left: self.boxed(left), right: self.boxed(right) }
            }
            Kind::RecordSum { plus, zero, array } => {
                Kind::RecordSum { plus: *plus, zero: zero.as_ref().map(|z| self.boxed(z)), array: self.boxed(array) }
            }
            Kind::And(a, b) => Kind::And(self.boxed(a), self.boxed(b)),
            Kind::Or(a, b) => Kind::Or(self.boxed(a), self.boxed(b)),
            Kind::Compare(op, a, b) => Kind::Compare(*op, self.boxed(a), self.boxed(b)),
            Kind::If(c, a, b) => Kind::If(self.boxed(c), self.boxed(a), self.boxed(b)),
            Kind::Array(items) => Kind::Array(self.list(items)),
            Kind::Matrix(rows) => Kind::Matrix(rows.iter().map(|row| self.list(row)).collect()),
            Kind::Range(a, step, b) => Kind::Range(self.boxed(a), step.as_ref().map(|s| self.boxed(s)), self.boxed(b)),
            Kind::ArrayFor { element, iterators: i } => {
                Kind::ArrayFor { element: self.boxed(element), iterators: self.iterators(i) }
            }
            Kind::Reduction { op, element, iterators: i } => {
                Kind::Reduction { op: *op, element: self.boxed(element), iterators: self.iterators(i) }
            }
            Kind::Record(record, fields) => Kind::Record(record.clone(), self.list(fields)),
            Kind::Builtin(op, items) => Kind::Builtin(*op, self.list(items)),
            Kind::Whole(op, items) => Kind::Whole(*op, self.list(items)),
            Kind::Call(key, items) => Kind::Call(*key, self.list(items)),
            Kind::CallLocal(local, items) => Kind::CallLocal(*local, self.list(items)),
            Kind::FunctionValue(key, given) => {
                Kind::FunctionValue(*key, given.iter().map(|(at, e)| (*at, self.sub(e))).collect())
            }
            Kind::LocalValue(local, given) => {
                Kind::LocalValue(*local, given.iter().map(|(at, e)| (*at, self.sub(e))).collect())
            }
            Kind::Vectorized { function, arguments, over } => {
                Kind::Vectorized { function: *function, arguments: self.list(arguments), over: over.clone() }
            }
            Kind::Output(a, at) => Kind::Output(self.boxed(a), *at),
            Kind::Operator(op, items) => Kind::Operator(*op, self.list(items)),
            Kind::Real(_)
            | Kind::Integer(_)
            | Kind::Boolean(_)
            | Kind::String(_)
            | Kind::Enumeration(_)
            | Kind::Unset
            | Kind::Time
            | Kind::Local(_)
            | Kind::Error => expr.kind.clone(),
        }
    }
}

/// Calls `visit` for the expression and all below it, those above first.
pub fn walk(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    let subscripts = |items: &[Subscript], visit: &mut dyn FnMut(&Expr)| {
        for item in items {
            if let Subscript::Expr(e) = item {
                walk(e, visit);
            }
        }
    };
    match &expr.kind {
        Kind::Component(r) | Kind::SizeOfPart(r, _) => {
            for step in &r.steps {
                subscripts(&step.subscripts, visit);
            }
        }
        Kind::Index(a, items) => {
            walk(a, visit);
            subscripts(items, visit);
        }
        Kind::Field(a, _)
        | Kind::SizeOf(a, _)
        | Kind::ToReal(a)
        | Kind::Reorder(a, _)
        | Kind::Neg(a)
        | Kind::Not(a)
        | Kind::RecordSum { array: a, .. }
        | Kind::Output(a, _) => walk(a, visit),
        Kind::Arithmetic(_, a, b)
        | Kind::Elementwise(_, a, b)
        | Kind::Product { left: a, right: b, .. }
        | Kind::And(a, b)
        | Kind::Or(a, b)
        | Kind::Compare(_, a, b) => {
            walk(a, visit);
            walk(b, visit);
        }
        Kind::If(c, a, b) => {
            walk(c, visit);
            walk(a, visit);
            walk(b, visit);
        }
        Kind::Range(a, step, b) => {
            walk(a, visit);
            if let Some(step) = step {
                walk(step, visit);
            }
            walk(b, visit);
        }
        Kind::ArrayFor { element, iterators } | Kind::Reduction { element, iterators, .. } => {
            iterators.iter().for_each(|iterator| walk(&iterator.range, visit));
            walk(element, visit);
        }
        Kind::Matrix(rows) => rows.iter().flatten().for_each(|item| walk(item, visit)),
        Kind::Array(items)
        | Kind::Record(_, items)
        | Kind::Builtin(_, items)
        | Kind::Whole(_, items)
        | Kind::Call(_, items)
        | Kind::CallLocal(_, items)
        | Kind::Operator(_, items)
        | Kind::Vectorized { arguments: items, .. } => items.iter().for_each(|item| walk(item, visit)),
        Kind::FunctionValue(_, given) | Kind::LocalValue(_, given) => {
            given.iter().for_each(|(_, item)| walk(item, visit));
        }
        Kind::Real(_)
        | Kind::Integer(_)
        | Kind::Boolean(_)
        | Kind::String(_)
        | Kind::Enumeration(_)
        | Kind::Unset
        | Kind::Time
        | Kind::Local(_)
        | Kind::Error => {}
    }
}

/// A literal `true` or `false`.
pub fn boolean(value: bool, span: Span) -> Expr {
    literal(Kind::Boolean(value), Type::BOOLEAN, span)
}

/// Used by operators that call a function of the library on values that are typed already.
pub fn plain_call(key: FunctionKey, ty: Type, arguments: Vec<Expr>, span: Span) -> Expr {
    let variability = highest(&arguments);
    Expr { kind: Kind::Call(key, arguments), ty, variability, span }
}

/// Whether an argument of a function with `GenerateEvents = true` leaves its result one that changes at events only (3.8.4).
fn may_make_events(argument: &Expr) -> bool {
    matches!(argument.ty.base, Base::Real) || argument.variability <= Variability::Discrete
}
