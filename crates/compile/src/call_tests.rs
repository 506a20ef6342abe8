//! Calls of functions: values and tangents.

use std::sync::Arc;

use base::{FileId, Id, IdVec, Name, Span};
use dae::expr::Shape;
use dae::function::{
    ArithmeticOp, Body, Expr, Function, Inline, Local, LocalId, Statement, StatementKind, Subscript, Target, Type,
};
use dae::{Builtin, CallSite, FunctionId, Node};
use transform::Timing;

use crate::testing::Maker;
use crate::*;

fn span() -> Span {
    Span::new(FileId::from_index(0), 0, 0)
}

fn local(name: &str, ty: Type, sizes: Vec<Option<Expr>>) -> Local {
    Local { name: Name::new(name), ty, sizes, default: None, span: span() }
}

fn statement(kind: StatementKind) -> Statement {
    Statement { kind, span: span() }
}

/// `function f input Real x[:]; output Real s, p; s := 0; p := 1; for i loop s := s + sin(x[i]); p := p·x[i]; end`
pub fn sums(m: &mut Maker) -> FunctionId {
    let id = LocalId::from_index;
    let locals: IdVec<LocalId, Local> = [
        local("x", Type::Real, vec![None]),
        local("s", Type::Real, vec![]),
        local("p", Type::Real, vec![]),
        local("i", Type::Integer, vec![]),
    ]
    .into_iter()
    .collect();
    let target = |local: usize| Target { local: id(local), steps: Vec::new() };
    let get = |local: usize| Box::new(Expr::Local(id(local)));
    let element = || Box::new(Expr::Index(get(0), vec![Subscript::Expr(*get(3))]));
    let size = Expr::Whole(dae::function::ArrayFunction::Size, vec![*get(0), Expr::Integer(1)]);
    let sine = Expr::Builtin(Builtin::Sin, vec![*element()]);
    let body = vec![
        statement(StatementKind::Assign(target(1), Expr::Arithmetic(ArithmeticOp::Add, get(1), Box::new(sine)))),
        statement(StatementKind::Assign(target(2), Expr::Arithmetic(ArithmeticOp::Mul, get(2), element()))),
    ];
    let statements = vec![
        statement(StatementKind::Assign(target(1), Expr::Real(0.0))),
        statement(StatementKind::Assign(target(2), Expr::Real(1.0))),
        statement(StatementKind::For {
            iterator: id(3),
            range: Expr::Range(Box::new(Expr::Integer(1)), None, Box::new(size)),
            body,
        }),
    ];
    m.schedule.model.functions.push(Arc::new(Function {
        name: Name::new("sums"),
        inputs: vec![id(0)],
        outputs: vec![id(1), id(2)],
        locals,
        body: Body::Algorithm(statements),
        pure: true,
        inline: Inline::Unstated,
        derivatives: Vec::new(),
        inverses: Vec::new(),
        span: span(),
    }))
}

#[test]
fn a_call_has_values_and_tangents() {
    let mut m = Maker::new();
    let (x, der_x) = m.state("x", 0.5);
    let (y, der_y) = m.state("y", 2.0);
    let function = sums(&mut m);
    let site = m.schedule.model.exprs.site(CallSite {
        function,
        inputs: vec![Shape::Array(vec![3], Box::new(Shape::Scalar))],
        outputs: vec![Shape::Scalar, Shape::Scalar],
    });
    let (ex, ey, three) = (m.var(x), m.var(y), m.number(3.0));
    let args = m.schedule.model.exprs.args(&[ex, ey, three]);
    let (sum, product) = (m.node(Node::Call { site, args, output: 0 }), m.node(Node::Call { site, args, output: 1 }));
    m.assign(der_x, sum, Timing::Continuous);
    m.assign(der_y, product, Timing::Continuous);
    let program = Program::new(m.schedule).unwrap();
    let text = program.print(&program.sections.dynamics);
    assert_eq!(text.matches("call").count(), 1, "{text}");
    let mut memory = program.memory();
    program.run(&program.sections.dynamics, &mut memory, &mut |_, _| Ok::<(), Failure>(())).unwrap();
    let (x, y) = (0.5f64, 2.0f64);
    assert_eq!(program.value(&memory, der_x), x.sin() + y.sin() + 3f64.sin());
    assert_eq!(program.value(&memory, der_y), 3.0);
    let mut jacobian = [0.0; 4];
    program.ode_jacobian(&mut memory, &mut jacobian, &mut |_, _, _| Ok::<(), Failure>(())).unwrap();
    let expected = [x.cos(), 3.0 * y, y.cos(), 3.0 * x];
    assert!(jacobian.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{jacobian:?}");
}
