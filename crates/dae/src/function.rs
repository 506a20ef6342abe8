//! Functions of the flat model: an imperative form with arrays and records of any size, names resolved and types
//! checked. The same form is evaluated at translation time and at run time, compiled, and differentiated.

use std::path::PathBuf;
use std::sync::Arc;

use base::{IdVec, Name, Span};

use crate::expr::{Builtin, CompareOp};
use crate::model::Enumeration;

base::id_type!(
    /// A function of the model.
    pub FunctionId, "fn"
);
base::id_type!(
    /// An input, output or protected variable of a function, or an iterator.
    pub LocalId, "local"
);

pub type Functions = IdVec<FunctionId, Arc<Function>>;

#[derive(Clone, Debug)]
pub struct Function {
    /// The full class name.
    pub name: Name,
    pub inputs: Vec<LocalId>,
    pub outputs: Vec<LocalId>,
    pub locals: IdVec<LocalId, Local>,
    pub body: Body,
    pub pure: bool,
    pub inline: Inline,
    /// Annotations `derivative(order=…, zeroDerivative=…, noDerivative=…) = f`, in the order of the text.
    pub derivatives: Vec<DerivativeAnnotation>,
    /// `inverse(x = f_inv(y, …))`: the input, the function, and its inputs as positions among ours (`None`: our output).
    pub inverses: Vec<(u32, FunctionId, Vec<Option<u32>>)>,
    pub span: Span,
}

/// How the name of a function ends that follows the relations of an algorithm along, and is no text of the user.
pub const RELATIONS: &str = ".relations";

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Inline {
    #[default]
    Unstated,
    Never,
    Early,
    Late,
}

#[derive(Clone, Debug)]
pub struct DerivativeAnnotation {
    pub order: u32,
    pub function: FunctionId,
    /// Inputs, by position.
    pub zero_derivative: Vec<u32>,
    pub no_derivative: Vec<u32>,
}

#[derive(Clone, Debug)]
pub struct Local {
    pub name: Name,
    pub ty: Type,
    /// `None` for `:`. Evaluated when the function is entered, in the order of the locals.
    pub sizes: Vec<Option<Expr>>,
    /// The binding: the default of an input, the first value of another.
    pub default: Option<Expr>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Type {
    Real,
    Integer,
    Boolean,
    String,
    Enumeration(Arc<Enumeration>),
    /// Fields with their names, types and sizes. Two records are the same type when this is equal.
    Record(Arc<RecordType>),
    /// An external object of the class of that name.
    Object(Name),
    Function(Arc<FunctionType>),
}

/// What a function that is an argument takes and gives.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionType {
    pub inputs: Vec<Field>,
    pub outputs: Vec<Field>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct RecordType {
    pub name: Name,
    pub fields: Vec<Field>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    pub name: Name,
    pub ty: Type,
    /// `None` where the size is not constant.
    pub sizes: Vec<Option<usize>>,
}

#[derive(Clone, Debug)]
pub enum Body {
    Algorithm(Vec<Statement>),
    External(External),
    /// The constructor of a record: the inputs become its fields; the one output is the record.
    RecordConstructor,
}

#[derive(Clone, Debug)]
pub struct External {
    pub language: Name,
    /// The outside name, such as `dgesv`.
    pub symbol: Name,
    /// Locals that are outputs are written by the outside function.
    pub arguments: Vec<Expr>,
    pub result: Option<Target>,
    /// The type of what the outside function returns.
    pub result_type: Option<Type>,
    /// For each argument whether the outside function writes it.
    pub outputs: Vec<bool>,
    /// The types of the arguments.
    pub argument_types: Vec<ArgumentType>,
    /// From the annotation `Library`.
    pub libraries: Vec<Arc<str>>,
    /// Where its code is.
    pub source: Arc<ExternalSource>,
    /// Of the constructor of an external object: what frees it.
    pub destructor: Option<Arc<External>>,
}

/// The type of an argument of an outside function.
#[derive(Clone, PartialEq, Debug)]
pub struct ArgumentType {
    pub ty: Type,
    /// How many dimensions it has.
    pub rank: usize,
    /// Whether it is written as `size(…)`, which is a `size_t` in C.
    pub is_size: bool,
}

/// What the annotations of an external clause say about its code (specification 12.9.4), with all addresses resolved.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ExternalSource {
    /// The top-level class whose text has the clause. The code of one library is compiled together.
    pub package: Arc<str>,
    /// The texts of `Include`.
    pub includes: Vec<Arc<str>>,
    pub include_directories: Vec<PathBuf>,
    pub library_directories: Vec<PathBuf>,
    pub source_directories: Vec<PathBuf>,
}

#[derive(Clone, Debug)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StatementKind {
    Assign(Target, Expr),
    /// `(a, , b) := f(…)`; the expression is `Expr::Call`.
    AssignSeveral(Vec<Option<Target>>, Expr),
    If {
        branches: Vec<(Expr, Vec<Statement>)>,
        otherwise: Vec<Statement>,
    },
    /// `for iterator in range`, the range an expression with an array value.
    For {
        iterator: LocalId,
        range: Expr,
        body: Vec<Statement>,
    },
    While {
        condition: Expr,
        body: Vec<Statement>,
    },
    Break,
    Return,
    Assert {
        condition: Expr,
        message: Expr,
        warning: bool,
    },
    /// A call for its effect alone.
    Call(Expr),
}

/// What is assigned: `x`, `x[i, :]`, `r.a[2].b`.
#[derive(Clone, Debug)]
pub struct Target {
    pub local: LocalId,
    pub steps: Vec<Accessor>,
}

#[derive(Clone, Debug)]
pub enum Accessor {
    /// One for each dimension.
    Index(Vec<Subscript>),
    /// The position of a record's field.
    Field(u32),
}

#[derive(Clone, Debug)]
pub enum Subscript {
    All,
    /// A scalar or a vector of indices; Boolean and enumeration indices count from 1 (`false`, `true`) too.
    Expr(Expr),
}

#[derive(Clone, Debug)]
pub enum Expr {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    String(Arc<str>),
    /// An enumeration literal by its ordinal.
    Enumeration(Arc<Enumeration>, i64),
    /// What a field of a record holds before it is assigned, where other fields have first values.
    Unset(Type),
    Local(LocalId),
    /// `a[…]`; `end` was replaced by `size(a, k)`.
    Index(Box<Expr>, Vec<Subscript>),
    Field(Box<Expr>, u32),
    Neg(Box<Expr>),
    Not(Box<Expr>),
    /// `+ - * / ^` by the rules for scalars, vectors and matrices (10.6).
    Arithmetic(ArithmeticOp, Box<Expr>, Box<Expr>),
    /// `.+ .- .* ./ .^`.
    Elementwise(ArithmeticOp, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `{a, b}` of equal shapes.
    Array(Vec<Expr>),
    Range(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    /// `{e for i in r, j in s}`; the last iterator is the outermost dimension's innermost loop as in 10.4.1.
    ArrayFor {
        element: Box<Expr>,
        iterators: Vec<(LocalId, Expr)>,
    },
    /// `sum(e for i in r)`.
    Reduction {
        op: ReductionOp,
        element: Box<Expr>,
        iterators: Vec<(LocalId, Expr)>,
    },
    /// A record from its fields.
    Record(Arc<RecordType>, Vec<Expr>),
    /// Elementwise where the arguments are arrays.
    Builtin(Builtin, Vec<Expr>),
    /// A function on whole values.
    Whole(ArrayFunction, Vec<Expr>),
    /// All inputs given, defaults filled in. The value is the first output.
    Call(FunctionId, Vec<Expr>),
    /// A call of a function that is itself an input.
    CallLocal(LocalId, Vec<Expr>),
    /// A function as a value, with some inputs given by position.
    FunctionValue(FunctionId, Vec<(u32, Expr)>),
    /// A function that is itself an input, with some more inputs given: by position among those that are still open.
    LocalValue(LocalId, Vec<(u32, Expr)>),
    /// A call that is applied to each element of the arguments marked (12.4.6).
    Vectorized {
        function: FunctionId,
        arguments: Vec<Expr>,
        over: Vec<bool>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArithmeticOp {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReductionOp {
    Sum,
    Product,
    Min,
    Max,
}

/// Functions on whole values (3.7 and 10.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayFunction {
    /// `size(A)` and `size(A, i)`.
    Size,
    Ndims,
    Scalar,
    Vector,
    Matrix,
    Identity,
    Diagonal,
    Zeros,
    Ones,
    Fill,
    Linspace,
    Min,
    Max,
    Sum,
    Product,
    Transpose,
    OuterProduct,
    Symmetric,
    Cross,
    Skew,
    /// `cat(k, A, B, …)`; matrix brackets are promoted and joined with it.
    Cat,
    /// `promote(A, n)`.
    Promote,
    /// `Integer(e)`, `String(v, …)`, `abs`-like conversions that depend on the type of the argument.
    Integer,
    /// `E(i)`: the enumeration value with that ordinal. A literal of `E` is the second argument.
    Enumeration,
    /// `String(x, significantDigits, minimumLength, leftJustified)` for Real.
    StringReal,
    /// `String(x, format)`.
    StringFormat,
    /// `String(i, minimumLength, leftJustified)`.
    StringInteger,
    StringBoolean,
    /// The literals' names follow as String arguments behind (value, minimumLength, leftJustified).
    StringEnumeration,
    /// `+` of strings.
    Concat,
}

impl Function {
    /// Whether a variable has any part in what the function computes.
    pub fn reads(&self, local: LocalId) -> bool {
        let Body::Algorithm(statements) = &self.body else { return true };
        let mut open: Vec<&Expr> = Vec::new();
        for_each_statement(statements, &mut |statement| statement.for_each_expression(&mut |expr| open.push(expr)));
        for (id, other) in self.locals.iter() {
            open.extend(other.sizes.iter().flatten().filter(|_| id != local));
            open.extend(&other.default);
        }
        while let Some(expr) = open.pop() {
            if matches!(expr, Expr::Local(read) if *read == local) {
                return true;
            }
            expr.for_each_operand(&mut |operand| open.push(operand));
        }
        self.outputs.contains(&local)
    }
}

/// Calls `visit` for each statement and those inside it.
pub fn for_each_statement<'s>(statements: &'s [Statement], visit: &mut dyn FnMut(&'s Statement)) {
    let mut stack: Vec<&Statement> = statements.iter().rev().collect();
    while let Some(statement) = stack.pop() {
        visit(statement);
        match &statement.kind {
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => stack.extend(body.iter().rev()),
            StatementKind::If { branches, otherwise } => {
                stack.extend(otherwise.iter().rev());
                branches.iter().rev().for_each(|(_, body)| stack.extend(body.iter().rev()));
            }
            _ => {}
        }
    }
}

impl Statement {
    /// Calls `visit` for each expression of the statement itself, subscripts of targets included.
    pub fn for_each_expression<'s>(&'s self, visit: &mut dyn FnMut(&'s Expr)) {
        match &self.kind {
            StatementKind::Assign(target, value) => {
                target.for_each_expression(visit);
                visit(value);
            }
            StatementKind::AssignSeveral(targets, value) => {
                targets.iter().flatten().for_each(|target| target.for_each_expression(visit));
                visit(value);
            }
            StatementKind::If { branches, .. } => branches.iter().for_each(|(condition, _)| visit(condition)),
            StatementKind::For { range: value, .. }
            | StatementKind::While { condition: value, .. }
            | StatementKind::Call(value) => visit(value),
            StatementKind::Assert { condition, message, .. } => {
                visit(condition);
                visit(message);
            }
            StatementKind::Break | StatementKind::Return => {}
        }
    }
}

impl Target {
    fn for_each_expression<'s>(&'s self, visit: &mut dyn FnMut(&'s Expr)) {
        for step in &self.steps {
            if let Accessor::Index(subscripts) = step {
                for subscript in subscripts {
                    if let Subscript::Expr(expr) = subscript {
                        visit(expr);
                    }
                }
            }
        }
    }
}

impl Expr {
    /// Calls `visit` for each direct operand, subscripts included.
    pub fn for_each_operand<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Expr::Real(_)
            | Expr::Integer(_)
            | Expr::Boolean(_)
            | Expr::String(_)
            | Expr::Enumeration(..)
            | Expr::Unset(_)
            | Expr::Local(_) => {}
            Expr::Index(base, subscripts) => {
                visit(base);
                for subscript in subscripts {
                    if let Subscript::Expr(expr) = subscript {
                        visit(expr);
                    }
                }
            }
            Expr::Field(a, _) | Expr::Neg(a) | Expr::Not(a) => visit(a),
            Expr::Arithmetic(_, a, b)
            | Expr::Elementwise(_, a, b)
            | Expr::And(a, b)
            | Expr::Or(a, b)
            | Expr::Compare(_, a, b) => {
                visit(a);
                visit(b);
            }
            Expr::If(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
            Expr::Range(a, b, c) => {
                visit(a);
                if let Some(b) = b {
                    visit(b);
                }
                visit(c);
            }
            Expr::ArrayFor { element, iterators } | Expr::Reduction { element, iterators, .. } => {
                visit(element);
                iterators.iter().for_each(|(_, range)| visit(range));
            }
            Expr::Array(items)
            | Expr::Record(_, items)
            | Expr::Builtin(_, items)
            | Expr::Whole(_, items)
            | Expr::Call(_, items)
            | Expr::CallLocal(_, items)
            | Expr::Vectorized { arguments: items, .. } => items.iter().for_each(visit),
            Expr::FunctionValue(_, given) | Expr::LocalValue(_, given) => {
                given.iter().for_each(|(_, expr)| visit(expr));
            }
        }
    }
}

/// The inputs of a function that are given once more are, by position among those that were open: all that are given then.
pub fn give<V>(inputs: usize, given: Vec<(u32, V)>, more: Vec<(u32, V)>) -> Vec<(u32, V)> {
    let open: Vec<u32> = (0..inputs as u32).filter(|at| !given.iter().any(|(known, _)| known == at)).collect();
    let more = more.into_iter().filter_map(|(at, value)| Some((*open.get(at as usize)?, value)));
    let mut all: Vec<(u32, V)> = given.into_iter().chain(more).collect();
    all.sort_by_key(|(at, _)| *at);
    all
}
