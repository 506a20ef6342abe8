//! The interpreter of functions: the executor on values that are all known. It evaluates constants at translation time, runs what
//! is not compiled, and tells why compiled code failed.

use std::sync::Arc;

use base::Span;

use crate::execute::{Domain, Executor};
pub use crate::execute::{EvalError, FailureKind, Result};
use crate::function::{External, FunctionId, Functions};
use crate::known::Outcome;
use crate::value::{Never, Value};

/// Where functions in other languages are called.
pub trait Externals {
    /// Calls `external.symbol`. Arguments that are outputs of the Modelica function hold a value of the right sizes on
    /// entry and are changed in place. The result is what the outside function returns, if it returns anything.
    fn call(&mut self, external: &External, arguments: &mut [Value]) -> Result<Option<Value>, String>;

    /// A mark for `free_objects_since`.
    fn mark_objects(&self) -> u64 {
        0
    }

    /// Frees the external objects that were made since the mark: those of a function end when it returns (specification 12.9.7).
    fn free_objects_since(&mut self, mark: u64) {
        let _ = mark;
    }
}

/// Functions of shared libraries that the user allowed to be called.
pub trait OutsideFunctions: Send + Sync {
    /// Whether the function can be called as far as is known without trying.
    fn has(&self, external: &External) -> bool;

    /// Makes ready what a model calls during its run, together. What fails is told by the position of the function.
    fn prepare(&self, externals: &[Arc<External>]) -> Vec<(usize, String)>;

    /// As `Externals::call`. Objects are addresses here. `say` takes what the function prints.
    fn call(
        &self,
        external: &External,
        arguments: &mut [Value],
        say: &mut dyn FnMut(&str),
    ) -> Result<Option<Value>, String>;
}

/// Functions that are run as code where the interpreter calls them.
pub trait Compiled {
    /// The outputs of a call; `None` where the interpreter is to execute it.
    fn call(&mut self, functions: &Functions, id: FunctionId, arguments: &[Value]) -> Option<Vec<Value>>;
}

/// No outside functions at all.
pub struct NoExternals;

impl Externals for NoExternals {
    fn call(&mut self, external: &External, _: &mut [Value]) -> Result<Option<Value>, String> {
        Err(format!("the external function `{}` cannot be called here", external.symbol))
    }
}

/// Everything is known.
pub struct Constants<'a> {
    externals: &'a mut dyn Externals,
    compiled: Option<&'a mut dyn Compiled>,
    /// Assertions at level warning that failed.
    pub warnings: Vec<(String, Option<Span>)>,
}

impl<'a> Constants<'a> {
    /// All functions in other languages are called there.
    pub fn new(externals: &'a mut dyn Externals) -> Self {
        Self { externals, compiled: None, warnings: Vec::new() }
    }
}

impl Domain for Constants<'_> {
    type Open = Never;

    fn fails_at_once(&self) -> bool {
        true
    }

    fn warn(&mut self, message: Option<String>, span: Span) -> Outcome<()> {
        self.warnings.extend(message.map(|message| (message, Some(span))));
        Ok(())
    }

    fn call(&mut self, functions: &Functions, id: FunctionId, arguments: &[Value]) -> Outcome<Option<Vec<Value>>> {
        Ok(self.compiled.as_mut().and_then(|compiled| compiled.call(functions, id, arguments)))
    }

    fn external(&mut self, external: &External, arguments: &mut [Value]) -> Outcome<Option<Value>> {
        self.externals.call(external, arguments)
    }
}

/// Runs functions on values.
pub type Evaluator<'a> = Executor<'a, Constants<'a>>;

impl<'a> Evaluator<'a> {
    /// Runs functions on values.
    pub fn new(functions: &'a Functions, externals: &'a mut dyn Externals) -> Self {
        Executor::over(functions, Constants::new(externals))
    }

    /// The same, where functions that are called may be code.
    pub fn with_code(
        functions: &'a Functions,
        externals: &'a mut dyn Externals,
        compiled: Option<&'a mut dyn Compiled>,
    ) -> Self {
        Executor::over(functions, Constants { compiled, ..Constants::new(externals) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::{FileId, Id, IdVec, Name};

    use super::*;
    use crate::expr::CompareOp;
    use crate::function::*;

    fn span() -> Span {
        Span::new(FileId::from_index(0), 0, 1)
    }

    fn local(name: &str, ty: Type) -> Local {
        Local { name: Name::new(name), ty, sizes: Vec::new(), default: None, span: span() }
    }

    fn id(index: usize) -> LocalId {
        LocalId::from_index(index)
    }

    fn get(index: usize) -> Expr {
        Expr::Local(id(index))
    }

    fn arithmetic(op: ArithmeticOp, a: Expr, b: Expr) -> Expr {
        Expr::Arithmetic(op, Box::new(a), Box::new(b))
    }

    fn assign(index: usize, value: Expr) -> Statement {
        statement(StatementKind::Assign(Target { local: id(index), steps: Vec::new() }, value))
    }

    fn statement(kind: StatementKind) -> Statement {
        Statement { kind, span: span() }
    }

    /// Inputs first, then outputs, then the rest.
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

    fn run(functions: Vec<Arc<Function>>, arguments: Vec<Value>) -> Result<Vec<Value>> {
        let functions = Functions::from(functions);
        let mut externals = NoExternals;
        Evaluator::new(&functions, &mut externals).call(FunctionId::from_index(0), arguments)
    }

    fn factorial() -> Arc<Function> {
        let smaller = arithmetic(ArithmeticOp::Sub, get(0), Expr::Integer(1));
        let next = arithmetic(ArithmeticOp::Mul, get(0), Expr::Call(FunctionId::from_index(0), vec![smaller]));
        let small = Expr::Compare(CompareOp::LessEqual, Box::new(get(0)), Box::new(Expr::Integer(1)));
        let body = vec![assign(1, Expr::If(Box::new(small), Box::new(Expr::Integer(1)), Box::new(next)))];
        function("factorial", 1, 1, vec![local("n", Type::Integer), local("y", Type::Integer)], body)
    }

    #[test]
    fn recursion_has_a_bottom_and_a_limit() {
        assert_eq!(run(vec![factorial()], vec![Value::Integer(10)]), Ok(vec![Value::Integer(3_628_800)]));
        let error = run(vec![factorial()], vec![Value::Integer(1_000_000)]).unwrap_err();
        assert_eq!(error.kind, FailureKind::Limit);
        assert_eq!(error.calls.len(), 10);
        let error = run(vec![factorial()], vec![Value::Integer(50)]).unwrap_err();
        assert!(error.message.contains("is beyond 2^53 - 1"), "{error}");
        assert!(error.span.is_some());
    }

    #[test]
    fn loops_fill_arrays() {
        // y := zeros(n); for i in 1:n loop if i > 3 then break; end if; y[i] := i; end for;
        let size = Some(get(0));
        let y = Local { sizes: vec![size], ..local("y", Type::Real) };
        let exit = statement(StatementKind::If {
            branches: vec![(
                Expr::Compare(CompareOp::Greater, Box::new(get(2)), Box::new(Expr::Integer(3))),
                vec![statement(StatementKind::Break)],
            )],
            otherwise: Vec::new(),
        });
        let element = Target { local: id(1), steps: vec![Accessor::Index(vec![Subscript::Expr(get(2))])] };
        let loops = statement(StatementKind::For {
            iterator: id(2),
            range: Expr::Range(Box::new(Expr::Integer(1)), None, Box::new(get(0))),
            body: vec![exit, statement(StatementKind::Assign(element, get(2)))],
        });
        let body = vec![assign(1, Expr::Whole(ArrayFunction::Zeros, vec![get(0)])), loops];
        let locals = vec![local("n", Type::Integer), y, local("i", Type::Integer)];
        let f = function("f", 1, 1, locals, body);
        assert_eq!(run(vec![f], vec![Value::Integer(5)]), Ok(vec![Value::reals([1.0, 2.0, 3.0, 0.0, 0.0])]));
    }

    #[test]
    fn records_and_slices() {
        let point = Arc::new(RecordType {
            name: Name::new("Point"),
            fields: vec![
                Field { name: Name::new("x"), ty: Type::Real, sizes: vec![Some(2)] },
                Field { name: Name::new("n"), ty: Type::Integer, sizes: vec![] },
            ],
        });
        // points[1].x[:] := {0, 0}; points[2].x[:] := {1, 2}; points[:].n := {7, 8};
        let index = |k| Accessor::Index(vec![Subscript::Expr(Expr::Integer(k))]);
        let all = || Accessor::Index(vec![Subscript::All]);
        let position = |k| Target { local: id(0), steps: vec![index(k), Accessor::Field(0), all()] };
        let second = Target { local: id(0), steps: vec![all(), Accessor::Field(1)] };
        let pair = |a, b| Expr::Array(vec![Expr::Integer(a), Expr::Integer(b)]);
        let body = vec![
            statement(StatementKind::Assign(position(1), pair(0, 0))),
            statement(StatementKind::Assign(position(2), pair(1, 2))),
            statement(StatementKind::Assign(second, pair(7, 8))),
        ];
        let points = Local { sizes: vec![Some(Expr::Integer(2))], ..local("points", Type::Record(point)) };
        let f = function("f", 0, 1, vec![points], body);
        let result = run(vec![f], vec![]).unwrap();
        assert_eq!(result[0].to_string(), "{({0.0, 0.0}, 7), ({1.0, 2.0}, 8)}");
    }

    #[test]
    fn comprehensions_nest_as_written() {
        // {10*i + j for i in 1:2, j in 1:3} has three rows.
        let value = arithmetic(ArithmeticOp::Add, arithmetic(ArithmeticOp::Mul, Expr::Integer(10), get(1)), get(2));
        let range = |n| Expr::Range(Box::new(Expr::Integer(1)), None, Box::new(Expr::Integer(n)));
        let array = Expr::ArrayFor { element: Box::new(value), iterators: vec![(id(1), range(2)), (id(2), range(3))] };
        let y = Local { sizes: vec![None, None], ..local("y", Type::Integer) };
        let f =
            function("f", 0, 1, vec![y, local("i", Type::Integer), local("j", Type::Integer)], vec![assign(0, array)]);
        assert_eq!(run(vec![f], vec![]).unwrap()[0].to_string(), "{{11, 21}, {12, 22}, {13, 23}}");
    }

    #[test]
    fn functions_are_arguments() {
        // apply(f, x) = f(x) with f = power(n = 3).
        let power = function(
            "power",
            2,
            1,
            vec![local("x", Type::Real), local("n", Type::Integer), local("y", Type::Real)],
            vec![assign(2, arithmetic(ArithmeticOp::Pow, get(0), get(1)))],
        );
        let apply = function(
            "apply",
            2,
            1,
            vec![
                local("f", Type::Function(Arc::new(crate::function::FunctionType { inputs: vec![], outputs: vec![] }))),
                local("x", Type::Real),
                local("y", Type::Real),
            ],
            vec![assign(2, Expr::CallLocal(id(0), vec![get(1)]))],
        );
        let argument = Value::Function { function: FunctionId::from_index(1), given: vec![(1, Value::Integer(3))] };
        assert_eq!(run(vec![apply, power], vec![argument, Value::Real(2.0)]), Ok(vec![Value::Real(8.0)]));
    }

    #[test]
    fn functions_that_are_arguments_get_more_inputs() {
        // late(f, n) = twice(f with its first open input n), twice(g) = g(2); f = power(x, n) with nothing given.
        let power = function(
            "power",
            2,
            1,
            vec![local("x", Type::Real), local("n", Type::Real), local("y", Type::Real)],
            vec![assign(2, arithmetic(ArithmeticOp::Pow, get(0), get(1)))],
        );
        let any = Type::Function(Arc::new(crate::function::FunctionType { inputs: vec![], outputs: vec![] }));
        let late = |given: u32| {
            let call = Expr::Call(FunctionId::from_index(1), vec![Expr::LocalValue(id(0), vec![(given, get(1))])]);
            let locals = vec![local("f", any.clone()), local("n", Type::Real), local("y", Type::Real)];
            function("late", 2, 1, locals, vec![assign(2, call)])
        };
        let twice = function(
            "twice",
            1,
            1,
            vec![local("g", any.clone()), local("y", Type::Real)],
            vec![assign(1, Expr::CallLocal(id(0), vec![Expr::Real(2.0)]))],
        );
        let argument = || Value::Function { function: FunctionId::from_index(2), given: vec![] };
        let result = |given| run(vec![late(given), twice.clone(), power.clone()], vec![argument(), Value::Real(3.0)]);
        assert_eq!(result(1), Ok(vec![Value::Real(8.0)]));
        assert_eq!(result(0), Ok(vec![Value::Real(9.0)]));
    }

    #[test]
    fn endless_loops_end_at_the_limit() {
        let body = vec![statement(StatementKind::While { condition: Expr::Boolean(true), body: vec![] })];
        let functions = Functions::from(vec![function("f", 0, 0, vec![], body)]);
        let mut externals = NoExternals;
        let mut evaluator = Evaluator::new(&functions, &mut externals);
        evaluator.steps_left = 1000;
        assert_eq!(evaluator.call(FunctionId::from_index(0), vec![]).unwrap_err().kind, FailureKind::Limit);
    }

    #[test]
    fn assertions_are_errors_or_warnings() {
        let assertion = |warning| {
            let message = Expr::String("x must be positive".into());
            let positive = Expr::Compare(CompareOp::Greater, Box::new(get(0)), Box::new(Expr::Integer(0)));
            let body = vec![statement(StatementKind::Assert { condition: positive, message, warning })];
            function("f", 1, 0, vec![local("x", Type::Real)], body)
        };
        let error = run(vec![assertion(false)], vec![Value::Real(-1.0)]).unwrap_err();
        assert_eq!((error.kind, error.to_string()), (FailureKind::Assertion, "x must be positive (in f)".into()));
        assert_eq!(run(vec![assertion(true)], vec![Value::Real(-1.0)]), Ok(vec![]));
    }
}
