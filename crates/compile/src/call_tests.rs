//! Calls of functions: values and tangents.

use std::sync::Arc;

use base::{FileId, Id, IdVec, Name, Span};
use dae::expr::Shape;
use dae::function::{
    Accessor, ArithmeticOp, Body, Expr, Function, Inline, Local, LocalId, Statement, StatementKind, Subscript, Target,
    Type,
};
use dae::{Builtin, CallSite, CompareOp, FunctionId, Node, VarId};
use transform::{Role, Timing};

use crate::testing::ScheduleBuilder;
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
pub fn sums(m: &mut ScheduleBuilder) -> FunctionId {
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

fn index(array: usize, by: usize) -> Expr {
    Expr::Index(get(array), vec![Subscript::Expr(*get(by))])
}

fn get(local: usize) -> Box<Expr> {
    Box::new(Expr::Local(LocalId::from_index(local)))
}

fn set(local: usize, value: Expr) -> Statement {
    statement(StatementKind::Assign(Target { local: LocalId::from_index(local), steps: Vec::new() }, value))
}

fn arithmetic(op: ArithmeticOp, a: Expr, b: Expr) -> Expr {
    Expr::Arithmetic(op, Box::new(a), Box::new(b))
}

/// Fibonacci-like numbers in an array, a search that is left early, a nested call, an assertion:
/// ```text
/// function g input Real x[n]; input Integer k; output Real y; protected Real f[n]; Integer i;
///   assert(x[k] < 100); f := x; for i in 3:n loop f[i] := f[i - 1]/2 + f[i - 2] end;
///   i := 1; while true loop if f[i] > 3 then break; end if; i := i + 1; if i > n then y := -1; return; end if; end while;
///   y := f[i]*i + sums(f[1:k])
/// ```
fn search(m: &mut ScheduleBuilder, n: usize, inner: FunctionId) -> FunctionId {
    let id = LocalId::from_index;
    let size = || vec![Some(Expr::Integer(n as i64))];
    let locals: IdVec<LocalId, Local> = [
        local("x", Type::Real, size()),
        local("k", Type::Integer, vec![]),
        local("y", Type::Real, vec![]),
        local("f", Type::Real, size()),
        local("i", Type::Integer, vec![]),
        local("j", Type::Integer, vec![]),
    ]
    .into_iter()
    .collect();
    let compare = |op: CompareOp, a: Expr, b: Expr| Expr::Compare(op, Box::new(a), Box::new(b));
    let minus = |by: i64| {
        let at = arithmetic(ArithmeticOp::Sub, *get(5), Expr::Integer(by));
        Expr::Index(get(3), vec![Subscript::Expr(at)])
    };
    let element = Target { local: id(3), steps: vec![Accessor::Index(vec![Subscript::Expr(*get(5))])] };
    let next = arithmetic(ArithmeticOp::Add, arithmetic(ArithmeticOp::Div, minus(1), Expr::Real(2.0)), minus(2));
    let when = |condition: Expr, body: Vec<Statement>| {
        statement(StatementKind::If { branches: vec![(condition, body)], otherwise: Vec::new() })
    };
    let part = Expr::Index(
        get(3),
        vec![Subscript::Expr(Expr::Range(Box::new(Expr::Integer(1)), None, Box::new(Expr::Integer(2))))],
    );
    let statements = vec![
        statement(StatementKind::Assert {
            condition: compare(CompareOp::Less, index(0, 1), Expr::Real(100.0)),
            message: Expr::String("too large".into()),
            warning: false,
        }),
        set(3, *get(0)),
        statement(StatementKind::For {
            iterator: id(5),
            range: Expr::Range(Box::new(Expr::Integer(3)), None, Box::new(Expr::Integer(n as i64))),
            body: vec![statement(StatementKind::Assign(element, next))],
        }),
        set(4, Expr::Integer(1)),
        statement(StatementKind::While {
            condition: Expr::Boolean(true),
            body: vec![
                when(compare(CompareOp::Greater, index(3, 4), Expr::Real(3.0)), vec![statement(StatementKind::Break)]),
                set(4, arithmetic(ArithmeticOp::Add, *get(4), Expr::Integer(1))),
                when(
                    compare(CompareOp::Greater, *get(4), Expr::Integer(n as i64)),
                    vec![set(2, Expr::Real(-1.0)), statement(StatementKind::Return)],
                ),
            ],
        }),
        set(
            2,
            arithmetic(
                ArithmeticOp::Add,
                arithmetic(ArithmeticOp::Mul, index(3, 4), *get(4)),
                Expr::Call(inner, vec![part]),
            ),
        ),
    ];
    m.schedule.model.functions.push(Arc::new(Function {
        name: Name::new("search"),
        inputs: vec![id(0), id(1)],
        outputs: vec![id(2)],
        locals,
        body: Body::Algorithm(statements),
        pure: true,
        inline: Inline::Unstated,
        derivatives: Vec::new(),
        inverses: Vec::new(),
        span: span(),
    }))
}

/// der(x_k) = search(x, k) with n states.
fn searching(n: usize) -> Program {
    let mut m = ScheduleBuilder::new();
    let pairs: Vec<_> = (0..n).map(|k| m.state(&format!("x{k}"), 0.0)).collect();
    let inner = sums(&mut m);
    let function = search(&mut m, n, inner);
    let site = m.schedule.model.exprs.site(CallSite {
        function,
        inputs: vec![Shape::Array(vec![n as u32], Box::new(Shape::Scalar)), Shape::Scalar],
        outputs: vec![Shape::Scalar],
    });
    let count = m.real("count", Role::Parameter, 1.0);
    for (k, &(_, derivative)) in pairs.iter().enumerate() {
        let mut args: Vec<_> = pairs.iter().map(|pair| m.var(pair.0)).collect();
        let position = m.node(Node::Integer(k as i64 % 3 + 1));
        let position = if k % 2 == 0 { position } else { m.var(count) };
        args.push(position);
        let args = m.schedule.model.exprs.args(&args);
        let call = m.node(Node::Call { site, args, output: 0 });
        m.assign(derivative, call, Timing::Continuous);
    }
    Program::new(m.schedule).unwrap()
}

#[test]
fn specialised_functions_agree_with_the_evaluator() {
    for n in [3, 40] {
        let mut program = searching(n);
        assert!(program.pool.calls.iter().all(|entry| entry.native.is_some()));
        let evaluate = |program: &Program, scale: f64| {
            let mut memory = program.memory();
            let states: Vec<f64> = (0..n).map(|k| scale * (k as f64 + 1.0).sin()).collect();
            program.write_states(&mut memory, &states);
            let none = |_: SystemId, _: &mut Memory| Ok::<(), Failure>(());
            let run = program.run(&program.sections.dynamics, &mut memory, &mut { none });
            let mut values = vec![0.0; n];
            program.read_derivatives(&memory, &mut values);
            let mut entries = vec![0.0; program.ode_pattern.entries()];
            program.ode_jacobian(&mut memory, &mut entries, &mut |_, _, _| Ok::<(), Failure>(())).unwrap();
            run.map(|()| (values, entries)).map_err(|failure| failure.message(program.model()))
        };
        let scales = [0.1, 1.0, 2.5, 20.0, 1e4];
        let native: Vec<_> = scales.iter().map(|&scale| evaluate(&program, scale)).collect();
        assert_eq!(native[4], Err("too large (in search)".to_string()));
        program.compile();
        let machine: Vec<_> = scales.iter().map(|&scale| evaluate(&program, scale)).collect();
        assert_eq!(native, machine);
        program = searching(n);
        program.pool.calls.iter_mut().for_each(|entry| entry.native = None);
        let evaluated: Vec<_> = scales.iter().map(|&scale| evaluate(&program, scale)).collect();
        assert_eq!(native, evaluated);
    }
}

#[test]
fn a_call_has_values_and_tangents() {
    let mut m = ScheduleBuilder::new();
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

/// `function f input Real x; output Real y; Integer i; i := 0; y := x; y := y/2 + x … (length times);
/// while i < 5 loop y := y + 1; i := i + 1; end while;`
fn long_before_a_loop(m: &mut ScheduleBuilder, length: usize) -> FunctionId {
    let locals = [("x", Type::Real), ("y", Type::Real), ("i", Type::Integer)];
    let locals = locals.into_iter().map(|(name, ty)| local(name, ty, vec![])).collect();
    let add = |a: Expr, b: Expr| arithmetic(ArithmeticOp::Add, a, b);
    let half = || add(arithmetic(ArithmeticOp::Div, *get(1), Expr::Real(2.0)), *get(0));
    let mut statements = vec![set(2, Expr::Integer(0)), set(1, *get(0))];
    statements.extend((0..length).map(|_| set(1, half())));
    statements.push(statement(StatementKind::While {
        condition: Expr::Compare(CompareOp::Less, get(2), Box::new(Expr::Integer(5))),
        body: vec![set(1, add(*get(1), Expr::Real(1.0))), set(2, add(*get(2), Expr::Integer(1)))],
    }));
    function(m, "long", 1, 1, locals, statements)
}

#[test]
fn a_loop_in_a_later_piece_of_the_machine_code_changes_what_an_earlier_one_set() {
    let mut m = ScheduleBuilder::new();
    let (x, der_x) = m.state("x", 3.0);
    let function = long_before_a_loop(&mut m, 3000);
    let (inputs, outputs) = (vec![Shape::Scalar], vec![Shape::Scalar]);
    let site = m.schedule.model.exprs.site(CallSite { function, inputs, outputs });
    let argument = m.var(x);
    let args = m.schedule.model.exprs.args(&[argument]);
    let call = m.node(Node::Call { site, args, output: 0 });
    m.assign(der_x, call, Timing::Continuous);
    let program = Program::new(m.schedule).unwrap();
    assert!(program.pool.calls.iter().all(|entry| entry.native.is_some()));
    program.compile();
    let mut memory = program.memory();
    program.run(&program.sections.dynamics, &mut memory, &mut |_, _| Ok::<(), Failure>(())).unwrap();
    // The halving converges to 2·x, the loop adds 5.
    assert_eq!(program.value(&memory, der_x), 11.0);
}

fn function(
    m: &mut ScheduleBuilder,
    name: &str,
    inputs: usize,
    outputs: usize,
    locals: Vec<Local>,
    body: Vec<Statement>,
) -> FunctionId {
    let ids = |range: std::ops::Range<usize>| range.map(LocalId::from_index).collect();
    m.schedule.model.functions.push(Arc::new(Function {
        name: Name::new(name),
        inputs: ids(0..inputs),
        outputs: ids(inputs..inputs + outputs),
        locals: locals.into_iter().collect(),
        body: Body::Algorithm(body),
        pure: true,
        inline: Inline::Unstated,
        derivatives: Vec::new(),
        inverses: Vec::new(),
        span: span(),
    }))
}

/// `target = function(argument)`, all of them single numbers.
fn assign_call(m: &mut ScheduleBuilder, target: VarId, function: FunctionId, argument: VarId) {
    let (inputs, outputs) = (vec![Shape::Scalar], vec![Shape::Scalar]);
    let site = m.schedule.model.exprs.site(CallSite { function, inputs, outputs });
    let argument = m.var(argument);
    let args = m.schedule.model.exprs.args(&[argument]);
    let call = m.node(Node::Call { site, args, output: 0 });
    m.assign(target, call, Timing::Continuous);
}

#[test]
fn a_function_that_may_report_an_error_is_code_too() {
    let mut m = ScheduleBuilder::new();
    let (x, der_x) = m.state("x", 4.0);
    let failing = StatementKind::Assert { condition: Expr::Boolean(false), message: *get(0), warning: false };
    let error = function(&mut m, "error", 1, 0, vec![local("text", Type::String, vec![])], vec![statement(failing)]);
    let negative = Expr::Compare(CompareOp::Less, get(0), Box::new(Expr::Real(0.0)));
    let report = statement(StatementKind::Call(Expr::Call(error, vec![Expr::String("negative".into())])));
    let check = StatementKind::If { branches: vec![(negative, vec![report])], otherwise: Vec::new() };
    let small = Expr::Compare(CompareOp::Less, get(0), Box::new(Expr::Real(100.0)));
    let guarding = StatementKind::Assert { condition: small, message: Expr::String("large".into()), warning: false };
    let guard = function(&mut m, "guard", 1, 0, vec![local("x", Type::Real, vec![])], vec![statement(guarding)]);
    let guarded = statement(StatementKind::Call(Expr::Call(guard, vec![*get(0)])));
    let root = Expr::Builtin(Builtin::Sqrt, vec![*get(0)]);
    let locals = vec![local("x", Type::Real, vec![]), local("y", Type::Real, vec![])];
    let root = function(&mut m, "root", 1, 1, locals, vec![guarded, statement(check), set(1, root)]);
    assign_call(&mut m, der_x, root, x);
    let program = Program::new(m.schedule).unwrap();
    assert!(program.pool.calls.iter().all(|entry| entry.native.is_some()));
    let root_of = |x: f64| {
        let mut memory = program.memory();
        program.write_states(&mut memory, &[x]);
        let run = program.run(&program.sections.dynamics, &mut memory, &mut |_, _| Ok::<(), Failure>(()));
        run.map(|()| program.value(&memory, der_x)).map_err(|failure| failure.message(program.model()))
    };
    assert_eq!(root_of(4.0), Ok(2.0));
    assert_eq!(root_of(-1.0), Err("negative (in error <- root)".to_string()));
    assert_eq!(root_of(1e4), Err("large (in guard <- root)".to_string()));
}

/// `square(x) = x²`, `at(f, x) = f(x)`, `outer(x) = at(square, x)`: what takes a function has no derivative of its own.
#[test]
fn tangents_by_differences_run_as_code() {
    let mut m = ScheduleBuilder::new();
    let (x, der_x) = m.state("x", 9.0);
    let real = |name: &str| local(name, Type::Real, vec![]);
    // The root of x by halving an interval: y := 8; d := 4; for k in 1:60 loop y := y ± d; d := d/2; end for;
    let square = arithmetic(ArithmeticOp::Mul, *get(1), *get(1));
    let is_larger = Expr::Compare(CompareOp::Greater, Box::new(square), get(0));
    let step = |op| Box::new(arithmetic(op, *get(1), *get(2)));
    let next = Expr::If(Box::new(is_larger), step(ArithmeticOp::Sub), step(ArithmeticOp::Add));
    let half = arithmetic(ArithmeticOp::Mul, Expr::Real(0.5), *get(2));
    let range = Expr::Range(Box::new(Expr::Integer(1)), None, Box::new(Expr::Integer(60)));
    let turns = StatementKind::For { iterator: LocalId::from_index(3), range, body: vec![set(1, next), set(2, half)] };
    let turns = statement(turns);
    let locals = vec![real("x"), real("y"), real("d"), local("k", Type::Integer, vec![])];
    let body = vec![set(1, Expr::Real(8.0)), set(2, Expr::Real(4.0)), turns];
    let root = function(&mut m, "root", 1, 1, locals, body);
    assign_call(&mut m, der_x, root, x);
    let program = Program::new(m.schedule).unwrap();
    let tangents: Vec<_> = program.pool.calls.iter().filter(|entry| entry.tangent).collect();
    assert!(!tangents.is_empty() && tangents.iter().all(|entry| entry.differenced.is_some()));
    let mut memory = program.memory();
    program.run(&program.sections.dynamics, &mut memory, &mut |_, _| Ok::<(), Failure>(())).unwrap();
    assert!((program.value(&memory, der_x) - 3.0).abs() < 1e-14);
    let mut jacobian = [0.0];
    program.ode_jacobian(&mut memory, &mut jacobian, &mut |_, _, _| Ok::<(), Failure>(())).unwrap();
    assert!((jacobian[0] - 1.0 / 6.0).abs() < 1e-7, "{jacobian:?}");
}

/// `f(u) = u²`, its derivative `g(u, v) = 2·u·v`, the second one `h(u, v, a) = 2·v² + 2·u·a`: ∂g/∂v is 2·u, which `h` gives
/// only where `v` is the derivative of `u`.
#[test]
fn a_second_derivative_is_no_partial_one() {
    let mut m = ScheduleBuilder::new();
    let (x, der_x) = m.state("x", 5.0);
    let real = |name: &str| local(name, Type::Real, vec![]);
    let twice = |a: usize, b: usize| {
        let product = arithmetic(ArithmeticOp::Mul, *get(a), *get(b));
        arithmetic(ArithmeticOp::Mul, Expr::Real(2.0), product)
    };
    let sum = arithmetic(ArithmeticOp::Add, twice(1, 1), twice(0, 2));
    let h = function(&mut m, "h", 3, 1, vec![real("u"), real("v"), real("a"), real("y")], vec![set(3, sum)]);
    let g = function(&mut m, "g", 2, 1, vec![real("u"), real("v"), real("y")], vec![set(2, twice(0, 1))]);
    let square = arithmetic(ArithmeticOp::Mul, *get(0), *get(0));
    let f = function(&mut m, "f", 1, 1, vec![real("u"), real("y")], vec![set(1, square)]);
    for (function, order, derivative) in [(g, 2, h), (f, 1, g)] {
        let annotation = dae::function::DerivativeAnnotation {
            order,
            function: derivative,
            zero_derivative: Vec::new(),
            no_derivative: Vec::new(),
        };
        Arc::make_mut(&mut m.schedule.model.functions[function]).derivatives.push(annotation);
    }
    let (inputs, outputs) = (vec![Shape::Scalar, Shape::Scalar], vec![Shape::Scalar]);
    let site = m.schedule.model.exprs.site(CallSite { function: g, inputs, outputs });
    let (three, argument) = (m.number(3.0), m.var(x));
    let args = m.schedule.model.exprs.args(&[three, argument]);
    let call = m.node(Node::Call { site, args, output: 0 });
    m.assign(der_x, call, Timing::Continuous);
    let program = Program::new(m.schedule).unwrap();
    let mut memory = program.memory();
    program.run(&program.sections.dynamics, &mut memory, &mut |_, _| Ok::<(), Failure>(())).unwrap();
    assert_eq!(program.value(&memory, der_x), 30.0);
    let mut jacobian = [0.0];
    program.ode_jacobian(&mut memory, &mut jacobian, &mut |_, _, _| Ok::<(), Failure>(())).unwrap();
    assert_eq!(jacobian, [6.0]);
}

/// `function endless input Real x; output Real y; y := x; while y < 1 loop y := y - 1; end`
fn endless() -> Program {
    let mut m = ScheduleBuilder::new();
    let id = LocalId::from_index;
    let locals: IdVec<LocalId, Local> =
        [local("x", Type::Real, vec![]), local("y", Type::Real, vec![])].into_iter().collect();
    let condition = Expr::Compare(CompareOp::Less, get(1), Box::new(Expr::Real(1.0)));
    let body = vec![set(1, arithmetic(ArithmeticOp::Sub, *get(1), Expr::Real(1.0)))];
    let statements = vec![set(1, *get(0)), statement(StatementKind::While { condition, body })];
    let function = m.schedule.model.functions.push(Arc::new(Function {
        name: Name::new("endless"),
        inputs: vec![id(0)],
        outputs: vec![id(1)],
        locals,
        body: Body::Algorithm(statements),
        pure: true,
        inline: Inline::Unstated,
        derivatives: Vec::new(),
        inverses: Vec::new(),
        span: span(),
    }));
    let site = CallSite { function, inputs: vec![Shape::Scalar], outputs: vec![Shape::Scalar] };
    let site = m.schedule.model.exprs.site(site);
    let (state, derivative) = m.state("x", 0.0);
    let argument = m.var(state);
    let args = m.schedule.model.exprs.args(&[argument]);
    let call = m.node(Node::Call { site, args, output: 0 });
    m.assign(derivative, call, Timing::Continuous);
    Program::new(m.schedule).unwrap()
}

/// Interpreted, compiled and evaluated: a loop without end is an error that names the function; others are not touched by it.
#[test]
fn loops_without_end_fail() {
    let evaluate = |program: &Program, x: f64| {
        let mut memory = program.memory();
        memory.values[crate::layout::IMPATIENCE as usize] = crate::code::IMPATIENT;
        program.write_states(&mut memory, &[x]);
        let none = |_: SystemId, _: &mut Memory| Ok::<(), Failure>(());
        let run = program.run(&program.sections.dynamics, &mut memory, &mut { none });
        let mut values = [0.0];
        program.read_derivatives(&memory, &mut values);
        run.map(|()| values[0]).map_err(|failure| failure.message(program.model()))
    };
    let expected =
        [Ok(3.0), Err("the evaluation takes too many steps; does a loop or a recursion end? (in endless)".to_string())];
    let mut program = endless();
    assert!(program.pool.calls.iter().all(|entry| entry.native.is_some()));
    assert_eq!([3.0, 0.0].map(|x| evaluate(&program, x)), expected);
    program.compile();
    assert_eq!([3.0, 0.0].map(|x| evaluate(&program, x)), expected);
    program = endless();
    program.pool.calls.iter_mut().for_each(|entry| entry.native = None);
    assert_eq!([3.0, 0.0].map(|x| evaluate(&program, x)), expected);
}
