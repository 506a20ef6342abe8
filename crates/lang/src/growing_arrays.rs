//! Arrays of functions whose size is open (`:`) and that are assigned element by element (12.4.5).
//!
//! Such an array has no elements when the function begins and gets others only as a whole, so the first assignment to an element
//! is outside of it. Where no statement assigns the whole, what is meant is plain: the element behind the last one is added.

use base::Diagnostic;
use dae::CompareOp;
use dae::function::{
    Accessor, ArithmeticOp, ArrayFunction, Body, Expr, Function, LocalId, Statement, StatementKind, Subscript, Target,
    Type, for_each_statement,
};

use crate::unassigned_members::targets;

/// Rewrites such assignments; the warnings name the arrays.
pub(crate) fn complete(function: &mut Function) -> Vec<Diagnostic> {
    let Body::Algorithm(statements) = &function.body else { return Vec::new() };
    let growing: Vec<LocalId> = function
        .locals
        .iter()
        .filter(|(id, local)| {
            matches!(local.sizes[..], [None]) && local.default.is_none() && !function.inputs.contains(id)
        })
        .map(|(id, _)| id)
        .filter(|&id| grows(function, statements, id))
        .collect();
    let Body::Algorithm(statements) = &mut function.body else { return Vec::new() };
    let mut warnings = Vec::with_capacity(growing.len());
    for array in growing {
        each_statement(statements, &mut |statement| grow(statement, array));
        let name = function.locals[array].name;
        let message = format!("elements of `{name}` are assigned, which has none");
        let diagnostic = Diagnostic::breach("growing-array", message)
            .at(function.locals[array].span, "grows with each element that is assigned behind the last one")
            .hint(format!("declare `{name}` with its size"))
            .specification("12.4.5");
        warnings.push(diagnostic);
    }
    warnings
}

/// Whether all assignments to an array are to single elements of it.
fn grows(function: &Function, statements: &[Statement], array: LocalId) -> bool {
    let (mut elements, mut others) = (false, false);
    for_each_statement(statements, &mut |statement| {
        let single = element(statement, array).is_some_and(|at| is_scalar(function, at));
        elements |= single;
        others |= !single && targets(statement).any(|target| target.local == array);
    });
    elements && !others
}

/// The subscript of an assignment `array[at] := …`.
fn element(statement: &Statement, array: LocalId) -> Option<&Expr> {
    let StatementKind::Assign(Target { local, steps }, _) = &statement.kind else { return None };
    let [Accessor::Index(subscripts)] = &steps[..] else { return None };
    match &subscripts[..] {
        [Subscript::Expr(at)] if *local == array => Some(at),
        _ => None,
    }
}

fn is_scalar(function: &Function, expr: &Expr) -> bool {
    match expr {
        Expr::Integer(_) => true,
        Expr::Local(local) => {
            let local = &function.locals[*local];
            local.sizes.is_empty() && matches!(local.ty, Type::Integer)
        }
        Expr::Arithmetic(_, a, b) => is_scalar(function, a) && is_scalar(function, b),
        _ => false,
    }
}

/// `a[k] := v` becomes `if k == size(a, 1) + 1 then a := cat(1, a, {v}); else a[k] := v; end if`.
fn grow(statement: &mut Statement, array: LocalId) {
    let Some(at) = element(statement, array).cloned() else { return };
    let StatementKind::Assign(_, value) = &statement.kind else { return };
    let whole = || Expr::Local(array);
    let size = Expr::Whole(ArrayFunction::Size, vec![whole(), Expr::Integer(1)]);
    let behind = Expr::Arithmetic(ArithmeticOp::Add, Box::new(size), Box::new(Expr::Integer(1)));
    let longer = Expr::Whole(ArrayFunction::Cat, vec![Expr::Integer(1), whole(), Expr::Array(vec![value.clone()])]);
    let added = Statement {
        kind: StatementKind::Assign(Target { local: array, steps: Vec::new() }, longer),
        span: statement.span,
    };
    statement.kind = StatementKind::If {
        branches: vec![(Expr::Compare(CompareOp::Equal, Box::new(at), Box::new(behind)), vec![added])],
        otherwise: vec![statement.clone()],
    };
}

/// Calls `change` for each statement, inner ones first.
fn each_statement(statements: &mut [Statement], change: &mut dyn FnMut(&mut Statement)) {
    for statement in statements {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match &mut statement.kind {
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => each_statement(body, change),
            StatementKind::If { branches, otherwise } => {
                branches.iter_mut().for_each(|(_, body)| each_statement(body, change));
                each_statement(otherwise, change);
            }
            _ => {}
        });
        change(statement);
    }
}
