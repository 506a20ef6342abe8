//! Derivatives of random expressions and functions against differences.

use std::sync::Arc;

use base::{FileId, Id, IdVec, Name, Span};
use dae::evaluate::Evaluator;
use dae::expr::Shape;
use dae::function::{
    Accessor, ArithmeticOp, ArrayFunction, Body, DerivativeAnnotation, Expr, Inline, Local, LocalId, Statement,
    StatementKind, Subscript, Target, Type,
};
use dae::{
    Builtin, CallSite, CompareOp, Differentiator, ExprId, Exprs, Function, FunctionId, Functions, NoExternals, Node,
    Value, VarId,
};
use proptest::prelude::*;

/// A formula in x (0) and y (1).
#[derive(Clone, Debug)]
enum Formula {
    Leaf(usize),
    Number(f64),
    Unary(Builtin, Box<Formula>),
    Arithmetic(ArithmeticOp, Box<Formula>, Box<Formula>),
    Power(Box<Formula>, i64),
    Binary(Builtin, Box<Formula>, Box<Formula>),
    If(Box<Formula>, Box<Formula>, Box<Formula>),
}

fn formula() -> impl Strategy<Value = Formula> {
    let leaf = prop_oneof![
        (0..2usize).prop_map(Formula::Leaf),
        (-20i32..20).prop_map(|k| Formula::Number(f64::from(k) / 4.0)),
    ];
    let unary = prop::sample::select(vec![
        Builtin::Sin,
        Builtin::Cos,
        Builtin::Tan,
        Builtin::Asin,
        Builtin::Acos,
        Builtin::Atan,
        Builtin::Sinh,
        Builtin::Cosh,
        Builtin::Tanh,
        Builtin::Exp,
        Builtin::Log,
        Builtin::Log10,
        Builtin::Sqrt,
        Builtin::Abs,
    ]);
    let binary = prop::sample::select(vec![Builtin::Atan2, Builtin::Min, Builtin::Max, Builtin::Mod, Builtin::Rem]);
    let op = prop::sample::select(vec![
        ArithmeticOp::Add,
        ArithmeticOp::Sub,
        ArithmeticOp::Mul,
        ArithmeticOp::Div,
        ArithmeticOp::Pow,
    ]);
    leaf.prop_recursive(5, 40, 3, move |inner| {
        let boxed = inner.prop_map(Box::new).boxed();
        prop_oneof![
            (unary.clone(), boxed.clone()).prop_map(|(op, a)| Formula::Unary(op, a)),
            (op.clone(), boxed.clone(), boxed.clone()).prop_map(|(op, a, b)| Formula::Arithmetic(op, a, b)),
            (boxed.clone(), -3..4i64).prop_map(|(a, n)| Formula::Power(a, n)),
            (binary.clone(), boxed.clone(), boxed.clone()).prop_map(|(op, a, b)| Formula::Binary(op, a, b)),
            (boxed.clone(), boxed.clone(), boxed).prop_map(|(c, a, b)| Formula::If(c, a, b)),
        ]
    })
}

fn in_arena(e: &mut Exprs, formula: &Formula) -> ExprId {
    match formula {
        Formula::Leaf(k) => e.var(VarId::from_index(*k)),
        Formula::Number(value) => e.real(*value),
        Formula::Unary(op, a) => {
            let a = in_arena(e, a);
            e.builtin(*op, &[a])
        }
        Formula::Arithmetic(op, a, b) => {
            let (a, b) = (in_arena(e, a), in_arena(e, b));
            match op {
                ArithmeticOp::Add => e.add(a, b),
                ArithmeticOp::Sub => e.sub(a, b),
                ArithmeticOp::Mul => e.mul(a, b),
                ArithmeticOp::Div => e.div(a, b),
                ArithmeticOp::Pow => e.pow(a, b),
            }
        }
        Formula::Power(a, n) => {
            let (a, n) = (in_arena(e, a), e.int(*n));
            e.pow(a, n)
        }
        Formula::Binary(op, a, b) => {
            let (a, b) = (in_arena(e, a), in_arena(e, b));
            e.builtin(*op, &[a, b])
        }
        Formula::If(c, a, b) => {
            let (c, a, b) = (in_arena(e, c), in_arena(e, a), in_arena(e, b));
            let zero = e.int(0);
            let condition = e.compare(CompareOp::Greater, false, c, zero);
            e.if_(condition, a, b)
        }
    }
}

fn in_function(formula: &Formula) -> Expr {
    let boxed = |formula: &Formula| Box::new(in_function(formula));
    match formula {
        Formula::Leaf(k) => Expr::Local(LocalId::from_index(*k)),
        Formula::Number(value) => Expr::Real(*value),
        Formula::Unary(op, a) => Expr::Builtin(*op, vec![in_function(a)]),
        Formula::Arithmetic(op, a, b) => Expr::Arithmetic(*op, boxed(a), boxed(b)),
        Formula::Power(a, n) => Expr::Arithmetic(ArithmeticOp::Pow, boxed(a), Box::new(Expr::Integer(*n))),
        Formula::Binary(op, a, b) => Expr::Builtin(*op, vec![in_function(a), in_function(b)]),
        Formula::If(c, a, b) => {
            let condition = Expr::Compare(CompareOp::Greater, boxed(c), Box::new(Expr::Integer(0)));
            Expr::If(Box::new(condition), boxed(a), boxed(b))
        }
    }
}

fn span() -> Span {
    Span::new(FileId::from_index(0), 0, 0)
}

fn local(name: &str, ty: Type) -> Local {
    Local { name: Name::new(name), ty, sizes: Vec::new(), default: None, span: span() }
}

fn id(k: usize) -> LocalId {
    LocalId::from_index(k)
}

fn assign(k: usize, value: Expr) -> Statement {
    let target = Target { local: id(k), steps: Vec::new() };
    Statement { kind: StatementKind::Assign(target, value), span: span() }
}

fn function(name: &str, inputs: usize, outputs: usize, locals: Vec<Local>, body: Vec<Statement>) -> Arc<Function> {
    Arc::new(Function {
        name: Name::new(name),
        inputs: (0..inputs).map(id).collect(),
        outputs: (inputs..inputs + outputs).map(id).collect(),
        locals: IdVec::from(locals),
        body: Body::Algorithm(body),
        pure: true,
        inline: Inline::Unstated,
        derivatives: Vec::new(),
        inverses: Vec::new(),
        span: span(),
    })
}

fn value_at(e: &Exprs, functions: &Functions, root: ExprId, point: [f64; 2]) -> Option<f64> {
    let mut externals = NoExternals;
    let mut evaluator = Evaluator::new(functions, &mut externals);
    let mut lookup = |node: Node| match node {
        Node::Var(v) => Some(Value::Real(point[v.index()])),
        _ => None,
    };
    evaluator.expression(e, root, &mut lookup).ok()?.as_real().filter(|value| value.is_finite())
}

fn called(functions: &Functions, function: FunctionId, arguments: &[f64]) -> Option<f64> {
    let mut externals = NoExternals;
    let arguments = arguments.iter().map(|&x| Value::Real(x)).collect();
    Evaluator::new(functions, &mut externals).call(function, arguments).ok()?.first()?.as_real()
}

/// The derivative of `f` at 0 by differences, if two step widths agree, so that there is one.
fn difference(f: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    let central = |h: f64| Some((8.0 * (f(h)? - f(-h)?) - (f(2.0 * h)? - f(-2.0 * h)?)) / (12.0 * h));
    let (coarse, fine) = (central(2e-4)?, central(1e-4)?);
    let noise = 1e-11 * f(0.0)?.abs() / 1e-4;
    ((coarse - fine).abs() <= 1e-7 * (1.0 + fine.abs()) && noise < 1e-7 && fine.abs() < 1e6).then_some(fine)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn partial_derivatives_are_limits_of_differences(formula in formula(), x in 0.1..2.0f64, y in -2.0..2.0f64) {
        let mut e = Exprs::new();
        let root = in_arena(&mut e, &formula);
        let unknown = e.var(VarId::from_index(0));
        let mut functions = Functions::default();
        let derivative = Differentiator::new().partial(&mut e, &mut functions, root, unknown).unwrap();
        let at = |h: f64| value_at(&e, &functions, root, [x + h, y]);
        if let (Some(expected), Some(actual)) = (difference(at), value_at(&e, &functions, derivative, [x, y])) {
            prop_assert!(close(expected, actual), "{expected} {actual}");
        }
    }

    #[test]
    fn tangents_are_limits_of_differences(formula in formula(), x in 0.1..2.0f64, y in -2.0..2.0f64) {
        // z := formula; x := x*z (through a local); result := z + x
        let locals = ["x", "y", "r", "z"].map(|name| local(name, Type::Real)).to_vec();
        let product = |a, b| Expr::Arithmetic(ArithmeticOp::Mul, Box::new(a), Box::new(b));
        let body = vec![
            assign(3, in_function(&formula)),
            assign(3, product(Expr::Local(id(3)), Expr::Local(id(1)))),
            assign(2, product(Expr::Local(id(3)), Expr::Local(id(0)))),
        ];
        let mut functions = Functions::from(vec![function("f", 2, 1, locals, body)]);
        let f = FunctionId::from_index(0);
        let tangent = Differentiator::new().tangent(&mut functions, f).unwrap();
        let along = |h: f64| called(&functions, f, &[x + 2.0 * h, y - h]);
        if let (Some(expected), Some(actual)) = (difference(along), called(&functions, tangent, &[x, y, 2.0, -1.0])) {
            prop_assert!(close(expected, actual), "{expected} {actual}");
        }
    }

    #[test]
    fn folding_keeps_values(formula in formula(), x in 0.1..2.0f64, y in -2.0..2.0f64) {
        let mut e = Exprs::new();
        let root = in_arena(&mut e, &formula);
        let locals = ["x", "y", "r"].map(|name| local(name, Type::Real)).to_vec();
        let functions = Functions::from(vec![function("f", 2, 1, locals, vec![assign(2, in_function(&formula))])]);
        let written = called(&functions, FunctionId::from_index(0), &[x, y]).filter(|value| value.abs() < 1e6);
        if let (Some(expected), Some(actual)) = (written, value_at(&e, &functions, root, [x, y])) {
            // Rounding before a jump of mod or if may differ.
            let smooth = difference(|h| called(&functions, FunctionId::from_index(0), &[x + h, y])).is_some();
            prop_assert!(!smooth || close(expected, actual), "{expected} {actual}");
        }
    }

    #[test]
    fn solutions_satisfy_their_equations(formula in formula(), a in 0.5..2.0f64, y in -2.0..2.0f64) {
        // (formula of y)·x + a = exp(y), solved for x.
        let mut e = Exprs::new();
        let (x, factor_y) = (e.var(VarId::from_index(0)), e.var(VarId::from_index(1)));
        let formula = in_arena(&mut e, &formula);
        let one = e.real(1.0);
        let formula = e.substitute(&[formula], &mut Default::default(), |v| (v.index() == 0).then_some(one))[0];
        let product = e.mul(formula, x);
        let a = e.real(a);
        let left = e.add(product, a);
        let right = e.builtin(Builtin::Exp, &[factor_y]);
        let functions = Functions::default();
        if let Some(solution) = e.solve_for(left, right, x, &functions, |_| false)
            && let Some(value) = value_at(&e, &functions, solution.value, [0.0, y])
            && value.abs() < 1e6
            && let (Some(l), Some(r)) =
                (value_at(&e, &functions, left, [value, y]), value_at(&e, &functions, right, [value, y]))
        {
            prop_assert!(close(l, r), "{l} {r}");
        }
    }
}

#[test]
fn loops_and_arrays() {
    // z := zeros(3); for i in 1:3 loop z[i] := x^i; end for; r := z*z;
    let vector = Local { sizes: vec![Some(Expr::Integer(3))], ..local("z", Type::Real) };
    let locals = vec![local("x", Type::Real), local("r", Type::Real), vector, local("i", Type::Integer)];
    let element = Target { local: id(2), steps: vec![Accessor::Index(vec![Subscript::Expr(Expr::Local(id(3)))])] };
    let power = Expr::Arithmetic(ArithmeticOp::Pow, Box::new(Expr::Local(id(0))), Box::new(Expr::Local(id(3))));
    let loop_body = vec![Statement { kind: StatementKind::Assign(element, power), span: span() }];
    let range = Expr::Range(Box::new(Expr::Integer(1)), None, Box::new(Expr::Integer(3)));
    let body = vec![
        assign(2, Expr::Whole(ArrayFunction::Zeros, vec![Expr::Integer(3)])),
        Statement { kind: StatementKind::For { iterator: id(3), range, body: loop_body }, span: span() },
        assign(1, Expr::Arithmetic(ArithmeticOp::Mul, Box::new(Expr::Local(id(2))), Box::new(Expr::Local(id(2))))),
    ];
    let mut functions = Functions::from(vec![function("f", 1, 1, locals, body)]);
    let mut differentiator = Differentiator::new();
    let first = differentiator.tangent(&mut functions, FunctionId::from_index(0)).unwrap();
    let second = differentiator.tangent(&mut functions, first).unwrap();
    // r = x² + x⁴ + x⁶
    let x = 1.5f64;
    let expected = 2.0 * x + 4.0 * x.powi(3) + 6.0 * x.powi(5);
    assert!(close(called(&functions, first, &[x, 1.0]).unwrap(), expected));
    let expected = 2.0 + 12.0 * x.powi(2) + 30.0 * x.powi(4);
    assert!(close(called(&functions, second, &[x, 1.0, 1.0, 0.0]).unwrap(), expected));
}

fn annotation(function: usize, order: u32, zero: &[u32], no: &[u32]) -> DerivativeAnnotation {
    DerivativeAnnotation {
        order,
        function: FunctionId::from_index(function),
        zero_derivative: zero.to_vec(),
        no_derivative: no.to_vec(),
    }
}

#[test]
fn annotations_name_the_derivative() {
    // f(x, k) with derivative(zeroDerivative = k) = g, derivative = h; g has derivative(order = 2) = i.
    let reals = |n: usize| (0..n).map(|k| local(&format!("x{k}"), Type::Real)).collect::<Vec<_>>();
    let mut f = (*function("f", 2, 1, reals(3), Vec::new())).clone();
    f.derivatives = vec![annotation(1, 1, &[1], &[]), annotation(2, 1, &[], &[])];
    let mut g = (*function("g", 3, 1, reals(4), Vec::new())).clone();
    g.derivatives = vec![annotation(3, 2, &[1], &[])];
    let h = function("h", 4, 1, reals(5), Vec::new());
    let i = function("i", 4, 1, reals(5), Vec::new());
    let mut functions = Functions::from(vec![Arc::new(f), Arc::new(g), h, i]);
    let mut e = Exprs::new();
    let site = e.site(CallSite {
        function: FunctionId::from_index(0),
        inputs: vec![Shape::Scalar, Shape::Scalar],
        outputs: vec![Shape::Scalar],
    });
    let (x, k) = (e.var(VarId::from_index(0)), e.var(VarId::from_index(1)));
    let call = e.call(site, &[x, k], 0);
    let mut differentiator = Differentiator::new();
    // k constant: g(x, k, x'), then i(x, k, x', x'').
    let mut differentiate = |e: &mut Exprs, functions: &mut Functions, root, constant: bool| {
        let mut leaf = |e: &mut Exprs, node: Node| {
            Ok(match node {
                Node::Var(v) if v.index() == 1 && constant => None,
                Node::Var(v) => Some(e.var(VarId::from_index(v.index() + 10))),
                _ => None,
            })
        };
        differentiator.total(e, functions, root, &mut Default::default(), &mut leaf).unwrap()
    };
    let called_function = |e: &Exprs, id: ExprId| match e.node(id) {
        Node::Call { site, args, .. } => (e.call_site(site).function.index(), e.arguments(args).to_vec()),
        other => panic!("{other:?}"),
    };
    let dx = e.var(VarId::from_index(10));
    let ddx = e.var(VarId::from_index(20));
    let dk = e.var(VarId::from_index(11));
    let first = differentiate(&mut e, &mut functions, call, true);
    assert_eq!(called_function(&e, first), (1, vec![x, k, dx]));
    let second = differentiate(&mut e, &mut functions, first, true);
    assert_eq!(called_function(&e, second), (3, vec![x, k, dx, ddx]));
    let general = differentiate(&mut e, &mut functions, call, false);
    assert_eq!(called_function(&e, general), (2, vec![x, k, dx, dk]));
}

fn external_function() -> Arc<Function> {
    let mut f = (*function("outside", 1, 1, vec![local("x", Type::Real), local("y", Type::Real)], Vec::new())).clone();
    f.body = Body::External(dae::function::External {
        language: Name::new("C"),
        symbol: Name::new("outside"),
        arguments: Vec::new(),
        result: None,
        result_type: Some(dae::function::Type::Real),
        outputs: vec![false],
        argument_types: Vec::new(),
        libraries: Vec::new(),
        source: Arc::default(),
        destructor: None,
    });
    Arc::new(f)
}

#[test]
fn external_functions_need_an_annotation() {
    let mut functions = Functions::from(vec![external_function()]);
    let error = Differentiator::new().tangent(&mut functions, FunctionId::from_index(0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "function `outside` cannot be differentiated: it is external and has no annotation `derivative`"
    );
}

/// `f` calls `g`, which has a derivative, and an external function, which has none.
#[test]
fn a_failure_is_remembered_and_what_was_made_before_it_kept() {
    let locals = || vec![local("x", Type::Real), local("y", Type::Real)];
    let call = |f: usize| Expr::Call(FunctionId::from_index(f), vec![Expr::Local(id(0))]);
    let sum = Expr::Arithmetic(ArithmeticOp::Add, Box::new(call(1)), Box::new(call(0)));
    let g = function("g", 1, 1, locals(), vec![assign(1, Expr::Builtin(Builtin::Sin, vec![Expr::Local(id(0))]))]);
    let f = function("f", 1, 1, locals(), vec![assign(1, sum)]);
    let mut functions = Functions::from(vec![external_function(), g, f]);
    let mut differentiator = Differentiator::new();
    let first = differentiator.tangent(&mut functions, FunctionId::from_index(2)).unwrap_err();
    let made = functions.len();
    let again = differentiator.tangent(&mut functions, FunctionId::from_index(2)).unwrap_err();
    let of_g = differentiator.tangent(&mut functions, FunctionId::from_index(1)).unwrap();
    assert_eq!((first, functions.len()), (again, made));
    assert_eq!(called(&functions, of_g, &[0.5, 1.0]), Some(0.5f64.cos()));
}
