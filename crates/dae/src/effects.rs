//! What a call does beside giving results: it checks something, or it changes something.

use std::sync::Arc;

use base::{Id, IdVec, Name};
use rustc_hash::FxHashSet;

use crate::function::{
    Body, Expr, Function, FunctionId, Functions, Inline, Local, LocalId, Statement, StatementKind, Type,
    for_each_statement,
};

/// What calls of functions do besides giving results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// An assertion, or a function in another language, which may report an error.
    pub checks: bool,
    /// The result may differ from call to call.
    pub impure: bool,
}

/// The effects of some functions and of those that they call.
pub fn effects(functions: &Functions, roots: Vec<FunctionId>) -> Effects {
    let mut found = Effects::default();
    let mut seen = FxHashSet::default();
    let mut rest = roots;
    while let Some(id) = rest.pop() {
        let Some(function) = functions.get(id).filter(|_| seen.insert(id)) else { continue };
        found.impure |= !function.pure;
        let mut expressions = Vec::new();
        match &function.body {
            // What gives no results is called for what it changes, whatever it is declared to be.
            Body::External(_) if function.outputs.is_empty() => found.impure = true,
            Body::External(external) => found.checks |= external.language != "builtin",
            Body::RecordConstructor => {}
            Body::Algorithm(statements) => for_each_statement(statements, &mut |statement| {
                found.checks |= matches!(statement.kind, StatementKind::Assert { .. });
                statement.for_each_expression(&mut |expression| expressions.push(expression));
            }),
        }
        expressions.extend(function.locals.values().filter_map(|local| local.default.as_ref()));
        while let Some(expression) = expressions.pop() {
            match expression {
                Expr::Call(called, _) | Expr::FunctionValue(called, _) | Expr::Vectorized { function: called, .. } => {
                    rest.push(*called);
                }
                _ => {}
            }
            expression.for_each_operand(&mut |operand| expressions.push(operand));
        }
    }
    found
}

/// A function of the same inputs that calls the function and says that it came to its end.
pub fn checking(functions: &Functions, id: FunctionId) -> Option<Function> {
    let function = functions.get(id)?;
    let mut locals: IdVec<LocalId, Local> = IdVec::default();
    let mut arguments = Vec::with_capacity(function.inputs.len());
    for &input in &function.inputs {
        let declared = &function.locals[input];
        // What the sizes have to be, the function itself says.
        let sizes = vec![None; declared.sizes.len()];
        let local = locals.push(Local { sizes, default: None, ..declared.clone() });
        arguments.push(match declared.ty {
            Type::Function(_) => Expr::LocalValue(local, Vec::new()),
            _ => Expr::Local(local),
        });
    }
    let inputs = (0..locals.len()).map(LocalId::from_index).collect();
    let holds = locals.push(Local {
        name: Name::new("holds"),
        ty: Type::Boolean,
        sizes: Vec::new(),
        default: Some(Expr::Boolean(true)),
        span: function.span,
    });
    let call = Statement { kind: StatementKind::Call(Expr::Call(id, arguments)), span: function.span };
    Some(Function {
        name: Name::new(&format!("{}{HOLDS}", function.name)),
        inputs,
        outputs: vec![holds],
        locals,
        body: Body::Algorithm(vec![call]),
        pure: true,
        inline: Inline::Never,
        derivatives: Vec::new(),
        inverses: Vec::new(),
        span: function.span,
    })
}

/// Whether a function is one that `checking` makes; no message speaks of those.
pub(crate) fn is_checking(functions: &Functions, function: &Function) -> bool {
    let Body::Algorithm(statements) = &function.body else { return false };
    let [Statement { kind: StatementKind::Call(Expr::Call(called, _)), .. }] = &statements[..] else { return false };
    functions.get(*called).is_some_and(|called| {
        called.span == function.span && function.name.as_str().strip_suffix(HOLDS) == Some(called.name.as_str())
    })
}

/// How the names of functions end that `checking` makes.
const HOLDS: &str = ".holds";

/// Adds the function that `checking` makes.
pub fn add_checking(functions: &mut Functions, id: FunctionId) -> Option<FunctionId> {
    let function = checking(functions, id)?;
    Some(functions.push(Arc::new(function)))
}
