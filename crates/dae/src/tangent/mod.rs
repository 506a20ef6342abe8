//! The derivative of a function from its body, by forward differentiation of the statements (Griewank and Walther,
//! *Evaluating Derivatives*, chapter 3; specification 12.7.1 for the interface).
//!
//! The tangent function has the inputs of the original followed by one derivative for each input that holds Reals; its
//! outputs are the derivatives of the outputs that hold Reals. A record's derivative has the same type; its fields that
//! are not Reals repeat the original's. An input that is a function has a derivative too: the tangent of what is passed.

mod annotation;
mod calls;
mod expressions;
mod helpers;
mod iteration;
mod substitute;
mod types;

use std::sync::Arc;

use base::{Id, Name};

pub use self::annotation::{misfit, real_inputs};
pub use self::helpers::Helpers;
use self::helpers::{size, up_to};
pub use self::iteration::iteration;
use self::iteration::{Iteration, Kind};
use self::types::Scope;
use crate::differentiate::{Differentiator, NotDifferentiable};
use crate::function::{
    Accessor, Body, Expr, Field, Function, FunctionId, FunctionType, Functions, Local, LocalId, Statement,
    StatementKind, Subscript, Target, Type,
};

/// Whether values of this type hold Reals.
pub fn contains_reals(ty: &Type) -> bool {
    match ty {
        Type::Real => true,
        Type::Record(record) => record.fields.iter().any(|field| contains_reals(&field.ty)),
        _ => false,
    }
}

/// Whether there is a derivative of values of this type: of what holds Reals, and of functions that give Reals.
pub fn has_derivative(ty: &Type) -> bool {
    match ty {
        Type::Function(function) => function.outputs.iter().any(|output| contains_reals(&output.ty)),
        other => contains_reals(other),
    }
}

/// The type of a derivative.
fn derived_type(ty: &Type) -> Type {
    let Type::Function(function) = ty else { return ty.clone() };
    let derived = |field: &Field| Field {
        name: Name::new(&format!("der_{}", field.name)),
        ty: derived_type(&field.ty),
        sizes: field.sizes.clone(),
    };
    let derivatives = function.inputs.iter().filter(|input| has_derivative(&input.ty)).map(derived);
    let inputs = function.inputs.iter().cloned().chain(derivatives).collect();
    let outputs = function.outputs.iter().filter(|output| contains_reals(&output.ty)).map(derived).collect();
    Type::Function(Arc::new(FunctionType { inputs, outputs }))
}

impl Differentiator {
    /// The tangent of a function, made once.
    pub fn tangent(&mut self, functions: &mut Functions, id: FunctionId) -> Made<FunctionId> {
        self.tangent_with(functions, id, &[])
    }

    /// The same where the inputs at some positions do not change. Their derivatives are inputs of the tangent nevertheless.
    /// A function as an input does not count: what it gives changes with what it is called with.
    pub fn tangent_with(&mut self, functions: &mut Functions, id: FunctionId, constant: &[usize]) -> Made<FunctionId> {
        let ty_of = |position: usize| {
            let function = functions.get(id)?;
            Some(&function.locals.get(*function.inputs.get(position)?)?.ty)
        };
        let is_function = |position: &usize| matches!(ty_of(*position), Some(Type::Function(_)));
        let constant: Vec<usize> = constant.iter().copied().filter(|position| !is_function(position)).collect();
        // What does not change has no derivative, also where that of what is done with it would not be defined.
        let narrows = constant.iter().any(|&position| ty_of(position).is_some_and(contains_reals));
        if narrows && let Ok(made) = self.tangent_of(functions, id, &constant) {
            return Ok(made);
        }
        match self.tangent_of(functions, id, &[]) {
            Err(NotDifferentiable { iteration: Some(_), .. }) if !constant.is_empty() => {
                self.tangent_of(functions, id, &constant)
            }
            made => made,
        }
    }

    fn tangent_of(&mut self, functions: &mut Functions, id: FunctionId, constant: &[usize]) -> Made<FunctionId> {
        let key = (id, constant.to_vec());
        if let Some(known) = self.tangents.get(&key) {
            self.recursive.extend(known.as_ref().ok().filter(|known| self.unfinished.contains(known)));
            return known.clone();
        }
        let Some(original) = functions.get(id).cloned() else {
            return Err(NotDifferentiable::because("it does not exist"));
        };
        let constant: Vec<LocalId> = constant.iter().filter_map(|&k| original.inputs.get(k).copied()).collect();
        let approximates = |found: &Iteration| self.is_approximate && found.kind != Kind::Comparisons;
        if let Some(found) = iteration(&original, Some(id), &constant).filter(|found| !approximates(found)) {
            let error = iterates(&original, found);
            self.tangents.insert(key, Err(error.clone()));
            return Err(error);
        }
        // The id is known before the body, for functions that call themselves.
        let tangent = functions.push(original.clone());
        self.tangents.insert(key.clone(), Ok(tangent));
        self.unfinished.push(tangent);
        let made: Made<Function> = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut builder = TangentBuilder::new(self, functions, &original);
            let body = builder.with_constants(&constant, TangentBuilder::body)?;
            Ok(builder.function(body))
        });
        self.unfinished.pop();
        match made {
            Ok(function) => {
                functions[tangent] = Arc::new(function);
                Ok(tangent)
            }
            Err(error) => {
                if self.recursive.contains(&tangent) {
                    // Those made on the way may call it.
                    self.tangents.retain(|_, made| made.as_ref().map_or(true, |made| *made < tangent));
                }
                self.tangents.insert(key, Err(error.clone()));
                Err(error)
            }
        }
    }
}

/// Why there is no derivative of a function with such a loop.
fn iterates(function: &Function, found: Iteration) -> NotDifferentiable {
    let name = function.locals.get(found.local).map_or("", |local| local.name.as_str());
    let reason = match found.kind {
        Kind::Loop => format!(
            "a loop in it improves `{name}` until a condition is met, so that the derivative of its last turn need not be that of the result"
        ),
        Kind::Comparisons => {
            format!("a loop in it improves `{name}` by comparisons alone, so that its statements have no derivative")
        }
        Kind::Recursion => format!(
            "it calls itself with other values of `{name}` until a condition is met, so that the derivative of the last call need not be that of the result"
        ),
    };
    NotDifferentiable { function: Some(function.name), reason, iteration: Some(found.at) }
}

struct TangentBuilder<'a> {
    differentiator: &'a mut Differentiator,
    functions: &'a mut Functions,
    original: &'a Function,
    /// The derivative of each local; `None` for those without.
    derivative: Vec<Option<LocalId>>,
    locals: base::IdVec<LocalId, Local>,
}

type Made<T> = Result<T, NotDifferentiable>;

impl<'a> TangentBuilder<'a> {
    fn new(differentiator: &'a mut Differentiator, functions: &'a mut Functions, original: &'a Function) -> Self {
        // Originals keep their ids; derivatives come behind them.
        let mut locals = original.locals.clone();
        let mut derivative = Vec::with_capacity(locals.len());
        for (_, local) in original.locals.iter() {
            derivative.push(has_derivative(&local.ty).then(|| {
                locals.push(Local {
                    name: Name::new(&format!("der_{}", local.name)),
                    ty: derived_type(&local.ty),
                    sizes: local.sizes.clone(),
                    default: None,
                    span: local.span,
                })
            }));
        }
        Self { differentiator, functions, original, derivative, locals }
    }

    fn fail<T>(&self, reason: impl Into<String>) -> Made<T> {
        Err(NotDifferentiable { function: Some(self.original.name), ..NotDifferentiable::because(reason) })
    }

    fn body(&mut self) -> Made<Vec<Statement>> {
        let written;
        let statements = match &self.original.body {
            Body::Algorithm(statements) => statements,
            other => {
                written = self.written(other)?;
                &written
            }
        };
        for (id, local) in self.original.locals.iter() {
            let Some(derivative) = self.derivative[id.index()] else { continue };
            if self.original.inputs.contains(&id) {
                continue;
            }
            if let Some(default) = &local.default {
                self.locals[derivative].default = Some(self.full_derivative(default)?);
            }
        }
        self.statements(statements)
    }

    fn function(self, body: Vec<Statement>) -> Function {
        let of = |id: &LocalId| self.derivative.get(id.index()).copied().flatten();
        let inputs = self.original.inputs.iter().copied().chain(self.original.inputs.iter().filter_map(of)).collect();
        let outputs = self.original.outputs.iter().filter_map(of).collect();
        Function {
            name: Name::new(&format!("{}_der", self.original.name)),
            inputs,
            outputs,
            locals: self.locals,
            body: Body::Algorithm(body),
            pure: self.original.pure,
            inline: self.original.inline,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            span: self.original.span,
        }
    }

    /// The statement that a body without statements stands for.
    fn written(&self, body: &Body) -> Made<Vec<Statement>> {
        let [output] = self.original.outputs[..] else {
            return self.fail("it is external and has no annotation `derivative`");
        };
        let value = match body {
            Body::RecordConstructor => match &self.original.locals[output].ty {
                Type::Record(record) => {
                    let fields = self.original.inputs.iter().map(|&input| Expr::Local(input)).collect();
                    Some(Expr::Record(record.clone(), fields))
                }
                _ => None,
            },
            Body::External(external) if external.language == "builtin" => {
                let op = crate::Elementary::named(external.symbol.as_str()).map(|known| known.builtin);
                op.map(|op| Expr::Builtin(op, external.arguments.clone()))
            }
            _ => None,
        };
        let Some(value) = value else {
            return self.fail("it is external and has no annotation `derivative`");
        };
        let kind = StatementKind::Assign(Target { local: output, steps: Vec::new() }, value);
        Ok(vec![Statement { kind, span: self.original.span }])
    }

    fn scope(&self) -> Scope<'_> {
        Scope { functions: self.functions, locals: &self.locals }
    }

    /// The local that holds the derivative of another one.
    fn derivative_local(&self, local: LocalId) -> Option<LocalId> {
        self.derivative.get(local.index()).copied().flatten()
    }

    fn new_local(&mut self, name: &str, ty: Type, dimensions: usize) -> LocalId {
        let (name, sizes) = (Name::new(&format!("{name}_{}", self.locals.len())), vec![None; dimensions]);
        self.locals.push(Local { name, ty, sizes, default: None, span: self.original.span })
    }

    fn statements(&mut self, statements: &[Statement]) -> Made<Vec<Statement>> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut made = Vec::with_capacity(statements.len() * 2);
            for statement in statements {
                self.statement(statement, &mut made)?;
            }
            Ok(made)
        })
    }

    /// The derivative of an assignment stands before it: it needs the old values.
    fn statement(&mut self, statement: &Statement, made: &mut Vec<Statement>) -> Made<()> {
        let span = statement.span;
        let mut push = |kind: StatementKind| made.push(Statement { kind, span });
        match &statement.kind {
            StatementKind::Assign(target, value) => {
                if let Some(derivative) = self.derived_target(target) {
                    push(StatementKind::Assign(derivative, self.full_derivative(value)?));
                }
                push(statement.kind.clone());
            }
            StatementKind::AssignSeveral(targets, value) => {
                if let Some(derivative) = self.several(targets, value)? {
                    push(derivative);
                }
                push(statement.kind.clone());
            }
            StatementKind::If { branches, otherwise } => {
                let branches = branches
                    .iter()
                    .map(|(condition, body)| Ok((condition.clone(), self.statements(body)?)))
                    .collect::<Made<_>>()?;
                push(StatementKind::If { branches, otherwise: self.statements(otherwise)? });
            }
            StatementKind::For { iterator, range, body } => self.for_loop(*iterator, range, body, statement, made)?,
            StatementKind::While { condition, body } => {
                let body = self.statements(body)?;
                push(StatementKind::While { condition: condition.clone(), body });
            }
            StatementKind::Break | StatementKind::Return | StatementKind::Assert { .. } | StatementKind::Call(_) => {
                push(statement.kind.clone());
            }
        }
        Ok(())
    }

    /// A loop over Reals that have a derivative takes them and their derivatives by position from arrays, which are made
    /// once: the body may change what they are made of.
    fn for_loop(
        &mut self,
        iterator: LocalId,
        range: &Expr,
        body: &[Statement],
        statement: &Statement,
        made: &mut Vec<Statement>,
    ) -> Made<()> {
        let derivative = self.derivative_of(range)?;
        let known = self.derivative_local(iterator);
        let (Some(derivative), Some(derived_iterator)) = (derivative, known) else {
            let body = self.with_constants(&[iterator], |builder| builder.statements(body))?;
            made.push(Statement {
                kind: StatementKind::For { iterator, range: range.clone(), body },
                span: statement.span,
            });
            return Ok(());
        };
        let (ty, inner) = (self.locals[iterator].ty.clone(), self.locals[iterator].sizes.len());
        let values = self.new_local("range", ty.clone(), inner + 1);
        let derivatives = self.new_local("der_range", ty, inner + 1);
        let position = self.new_local("position", Type::Integer, 0);
        let assign = |local: LocalId, value: Expr| Statement {
            kind: StatementKind::Assign(Target { local, steps: Vec::new() }, value),
            span: statement.span,
        };
        made.push(assign(derivatives, derivative));
        made.push(assign(values, range.clone()));
        let mut turn = vec![
            assign(iterator, element(Expr::Local(values), position, inner)),
            assign(derived_iterator, element(Expr::Local(derivatives), position, inner)),
        ];
        turn.extend(self.statements(body)?);
        let range = up_to(size(Expr::Local(values), 1));
        let kind = StatementKind::For { iterator: position, range, body: turn };
        made.push(Statement { kind, span: statement.span });
        Ok(())
    }

    /// What is made while these locals count as constant.
    fn with_constants<T>(&mut self, locals: &[LocalId], make: impl FnOnce(&mut Self) -> Made<T>) -> Made<T> {
        let kept = self.derivative.clone();
        for local in locals {
            if let Some(derivative) = self.derivative.get_mut(local.index()) {
                *derivative = None;
            }
        }
        let result = make(self);
        self.derivative = kept;
        result
    }

    /// The derivative of what is assigned; `None` if that is no Real.
    fn derived_target(&self, target: &Target) -> Option<Target> {
        let local = self.derivative_local(target.local)?;
        let mut ty = &self.original.locals.get(target.local)?.ty;
        for step in &target.steps {
            if let (Accessor::Field(index), Type::Record(record)) = (step, ty) {
                ty = &record.fields.get(*index as usize)?.ty;
            }
        }
        contains_reals(ty).then(|| Target { local, steps: target.steps.clone() })
    }

    fn several(&mut self, targets: &[Option<Target>], value: &Expr) -> Made<Option<StatementKind>> {
        let types: Vec<Type> = match value {
            Expr::Call(id, _) => {
                let Some(function) = self.functions.get(*id) else { return self.fail("a function is missing") };
                function.outputs.iter().map(|&output| function.locals[output].ty.clone()).collect()
            }
            Expr::CallLocal(local, _) => match self.locals.get(*local).map(|local| &local.ty) {
                Some(Type::Function(function)) => function.outputs.iter().map(|output| output.ty.clone()).collect(),
                _ => return self.fail("what is called is no function"),
            },
            _ => return self.fail("several variables are assigned what is no call"),
        };
        let mut derived = Vec::new();
        for (k, ty) in types.iter().enumerate() {
            if contains_reals(ty) {
                derived.push(targets.get(k).and_then(Option::as_ref).and_then(|target| self.derived_target(target)));
            }
        }
        if derived.iter().all(Option::is_none) {
            return Ok(None);
        }
        // Constant arguments need the call too: their zeros must reach the targets.
        let call = match value {
            Expr::Call(id, arguments) => self.derived_call(*id, arguments, true)?,
            Expr::CallLocal(local, arguments) => self.derived_local_call(*local, arguments)?,
            _ => None,
        };
        Ok(call.map(|call| StatementKind::AssignSeveral(derived, call)))
    }

    /// The derivative, zeros of the right size where it vanishes.
    fn full_derivative(&mut self, expr: &Expr) -> Made<Expr> {
        match self.derivative_of(expr)? {
            Some(derivative) => Ok(derivative),
            None => self.zero(expr),
        }
    }
}

/// The element of an array, which itself has that many dimensions.
fn element(array: Expr, position: LocalId, dimensions: usize) -> Expr {
    let mut subscripts = vec![Subscript::Expr(Expr::Local(position))];
    subscripts.resize(1 + dimensions, Subscript::All);
    Expr::Index(Box::new(array), subscripts)
}
