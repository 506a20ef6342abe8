//! Typed expressions and statements: what the text says once names are found and operators, defaults and conversions
//! are settled (specification chapters 3, 10, 11, 12, 14).
//!
//! A type knows its rank, not its sizes: sizes belong to an instance (or to a call at run time) and are checked where
//! the expression is expanded. Every node has its span, so that a mismatch of sizes points at both operands.

use std::sync::Arc;

use base::{IdVec, Name, Span};
use dae::Variability;
use dae::expr::{Builtin, CompareOp};
use dae::function::{ArithmeticOp, ArrayFunction, LocalId, ReductionOp};

use crate::instance::{ClassId, CompId};
use crate::library::DefId;

/// The type of a value without its array dimensions.
#[derive(Clone, PartialEq, Debug)]
pub enum Base {
    Real,
    Integer,
    Boolean,
    String,
    Enumeration(Arc<EnumerationType>),
    Record(Arc<RecordType>),
    Clock,
    /// An external object, by the full name of the class that extends `ExternalObject` (6.3).
    Object(Name),
    /// A function as a value.
    Function(Arc<FunctionType>),
    /// A component that is not a value: a model, a block, a connector with such parts.
    Component,
    /// Several results, or none.
    Tuple(Arc<[Type]>),
    /// The type of what was reported as wrong: fits everything, so that one mistake gives one message.
    Unknown,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Type {
    pub base: Base,
    pub rank: usize,
}

#[derive(Debug)]
pub struct EnumerationType {
    pub name: Name,
    pub literals: Vec<Name>,
}

impl PartialEq for EnumerationType {
    fn eq(&self, other: &Self) -> bool {
        // Enumerations are equal by their literals (6.4), whatever the class is called.
        self.literals == other.literals
    }
}

#[derive(Debug)]
pub struct RecordType {
    pub name: Name,
    pub class: ClassId,
    /// The operator record that it is, or is another name for: the one with the operations. Its name is the type (6.3).
    pub operator: Option<DefId>,
    pub fields: Vec<RecordField>,
}

#[derive(Clone, Debug)]
pub struct RecordField {
    pub name: Name,
    pub ty: Type,
}

impl PartialEq for RecordType {
    fn eq(&self, other: &Self) -> bool {
        self.class == other.class
            || (self.operator == other.operator
                && self.fields.len() == other.fields.len()
                && self.fields.iter().zip(&other.fields).all(|(a, b)| a.name == b.name && a.ty == b.ty))
    }
}

impl RecordType {
    pub fn field(&self, name: Name) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

/// What a function takes and gives, for functions as arguments (12.4.2).
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionType {
    pub inputs: Vec<(Name, Type)>,
    pub outputs: Vec<(Name, Type)>,
}

impl Type {
    pub const REAL: Type = Type { base: Base::Real, rank: 0 };
    pub const INTEGER: Type = Type { base: Base::Integer, rank: 0 };
    pub const BOOLEAN: Type = Type { base: Base::Boolean, rank: 0 };
    pub const STRING: Type = Type { base: Base::String, rank: 0 };
    pub const CLOCK: Type = Type { base: Base::Clock, rank: 0 };
    pub const UNKNOWN: Type = Type { base: Base::Unknown, rank: 0 };

    pub fn new(base: Base, rank: usize) -> Self {
        Self { base, rank }
    }

    pub fn with_rank(&self, rank: usize) -> Self {
        Self { base: self.base.clone(), rank }
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self.base, Base::Unknown)
    }

    pub fn is_numeric(&self) -> bool {
        matches!(self.base, Base::Real | Base::Integer | Base::Unknown)
    }

    pub fn is_scalar(&self) -> bool {
        self.rank == 0
    }

    /// As a reader would write it: `Real`, `Integer[:,:]`, `Complex[:]`.
    pub fn text(&self) -> String {
        let base = match &self.base {
            Base::Real => "Real".to_owned(),
            Base::Integer => "Integer".to_owned(),
            Base::Boolean => "Boolean".to_owned(),
            Base::String => "String".to_owned(),
            Base::Enumeration(e) => e.name.as_str().to_owned(),
            Base::Record(r) => r.name.as_str().to_owned(),
            Base::Clock => "Clock".to_owned(),
            Base::Object(name) => name.as_str().to_owned(),
            Base::Function(function) => {
                let list = |items: &[(Name, Type)]| -> String {
                    items.iter().map(|(_, ty)| ty.text()).collect::<Vec<_>>().join(", ")
                };
                format!("function({}) of {}", list(&function.inputs), list(&function.outputs))
            }
            Base::Component => "component".to_owned(),
            Base::Tuple(items) => {
                let items: Vec<String> = items.iter().map(Type::text).collect();
                format!("({})", items.join(", "))
            }
            Base::Unknown => "unknown".to_owned(),
        };
        if self.rank == 0 { base } else { format!("{base}[{}]", vec![":"; self.rank].join(",")) }
    }
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: Kind,
    pub ty: Type,
    pub variability: Variability,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    String(Arc<str>),
    /// The ordinal, from 1.
    Enumeration(i64),
    /// What a field of a record in a function holds before it is assigned, where other fields have first values.
    Unset,
    Time,
    /// A variable of a function, or an iterator.
    Local(LocalId),
    /// A component of the instance tree, with the subscripts along its path.
    Component(Box<Reference>),
    /// `a[…]` on a value.
    Index(Box<Expr>, Vec<Subscript>),
    Field(Box<Expr>, u32),
    /// `end` was replaced by this: the size of a value in one dimension, from 0.
    SizeOf(Box<Expr>, u32),
    /// The size of a component's own dimension, from 0, for `end` inside a path.
    SizeOfPart(Box<Reference>, u32),
    /// Integer to Real, elementwise.
    ToReal(Box<Expr>),
    /// A record with the same fields in another order: for each field of the result the position in the operand.
    Reorder(Box<Expr>, Vec<u32>),
    Neg(Box<Expr>),
    Not(Box<Expr>),
    /// `+ - * / ^`, by the rules of arrays (10.6).
    Arithmetic(ArithmeticOp, Box<Expr>, Box<Expr>),
    /// `.+ .- .* ./ .^`.
    Elementwise(ArithmeticOp, Box<Expr>, Box<Expr>),
    /// The product of vectors and matrices of operator records, by their own `*` and `+` (14.4).
    Product {
        times: FunctionKey,
        plus: FunctionKey,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// The sum of an array of operator records by their own `+`; of none, their zero.
    RecordSum {
        plus: FunctionKey,
        zero: Option<Box<Expr>>,
        array: Box<Expr>,
    },
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Array(Vec<Expr>),
    /// `[a, b; c, d]`.
    Matrix(Vec<Vec<Expr>>),
    Range(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    /// `{e for i in r, j in s}`: the last iterator is the outermost dimension (10.4.1.1).
    ArrayFor {
        element: Box<Expr>,
        iterators: Vec<Iterator>,
    },
    Reduction {
        op: ReductionOp,
        element: Box<Expr>,
        iterators: Vec<Iterator>,
    },
    /// A record from its fields.
    Record(Arc<RecordType>, Vec<Expr>),
    /// Elementwise where the arguments are arrays.
    Builtin(Builtin, Vec<Expr>),
    Whole(ArrayFunction, Vec<Expr>),
    /// All inputs given. The value is the first output, or the tuple of them where the type says so.
    Call(FunctionKey, Vec<Expr>),
    /// A call of a function that is itself an input.
    CallLocal(LocalId, Vec<Expr>),
    FunctionValue(FunctionKey, Vec<(u32, Expr)>),
    /// A function that is itself an input, with some more inputs given: by position among those that are still open.
    LocalValue(LocalId, Vec<(u32, Expr)>),
    /// A call applied to each element of the arguments marked (12.4.6).
    Vectorized {
        function: FunctionKey,
        arguments: Vec<Expr>,
        over: Vec<bool>,
    },
    /// One result of a call with several.
    Output(Box<Expr>, u32),
    /// An operator of the simulator on variables or expressions.
    Operator(Operator, Vec<Expr>),
    /// What was reported as wrong.
    Error,
}

#[derive(Clone, Debug)]
pub struct Iterator {
    pub local: LocalId,
    pub range: Expr,
}

base::id_type!(
    /// A function class that was found, in the table of `functions`.
    pub FunctionKey, "function"
);

/// Operators that look at variables, at the simulator or at the connections, not at values alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    Der,
    Pre,
    Previous,
    Edge,
    Change,
    NoEvent,
    /// `smooth(p, e)`.
    Smooth,
    Initial,
    Terminal,
    /// `sample(start, interval)`.
    Sample,
    /// `Clock(…)` and the conversions; see `dae::Builtin`.
    Clocked(Builtin),
    InStream,
    ActualStream,
    Cardinality,
    /// `Connections.isRoot(r)`, `Connections.rooted(r)`.
    IsRoot,
    Rooted,
    /// The name of the instance in which the text stands.
    InstanceName,
    /// `spatialDistribution(…)`, both results.
    Spatial,
}

/// A component with the subscripts that were written along its path. The element numbers of the arrays above the first
/// step are those of the frame in which the reference stands.
#[derive(Clone, Debug)]
pub struct Reference {
    pub steps: Vec<ReferencePart>,
}

#[derive(Clone, Debug)]
pub struct ReferencePart {
    pub component: CompId,
    /// Fewer than the dimensions leave the last ones whole.
    pub subscripts: Vec<Subscript>,
}

#[derive(Clone, Debug)]
pub enum Subscript {
    All,
    Expr(Expr),
}

#[derive(Clone, Debug)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StatementKind {
    Assign(Expr, Expr),
    AssignSeveral(Vec<Option<Expr>>, Expr),
    If { branches: Vec<(Expr, Vec<Statement>)>, otherwise: Vec<Statement> },
    For { iterators: Vec<Iterator>, body: Vec<Statement> },
    While { condition: Expr, body: Vec<Statement> },
    When { branches: Vec<(Expr, Vec<Statement>)> },
    Break,
    Return,
    Assert { condition: Expr, message: Expr, level: Option<Expr> },
    Terminate(Expr),
    Reinit(Expr, Expr),
    Call(Expr),
}

#[derive(Clone, Debug)]
pub struct Local {
    pub name: Name,
    pub ty: Type,
    /// `None` for `:`; one for each dimension.
    pub sizes: Vec<Option<Expr>>,
    pub default: Option<Expr>,
    pub span: Span,
}

pub type Locals = IdVec<LocalId, Local>;
