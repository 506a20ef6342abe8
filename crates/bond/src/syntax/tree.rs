//! The tree of a bond graph's text: what was written, with the place of everything.

use base::Span;

use crate::expr::Expr;
use crate::syntax::lexer::Token;

/// A text and what it says. The tokens cover it: what lies between them is blank or comment.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) graph: Definition,
    pub(crate) subgraphs: Vec<Definition>,
    /// All tokens, in order.
    pub tokens: Vec<Token>,
    /// Words in statements that were not understood: they may declare what seems to be missing elsewhere.
    pub lost: Vec<String>,
}

/// The graph of the file, or a subgraph.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Empty where the file names its graph not.
    pub name: Word,
    pub description: String,
    pub parameters: Vec<Parameter>,
    pub statements: Vec<Statement>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    pub text: String,
    pub span: Span,
}

/// A name as written in an expression: `k`, `v.f`, `motor.R1.e`, `field[2].q`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    pub text: String,
    pub span: Span,
}

pub type Expression = Expr<Reference>;

#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: Word,
    pub value: Option<Value>,
    pub unit: Option<Word>,
    pub description: String,
}

#[derive(Clone, Debug)]
pub struct Value {
    pub expression: Expression,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Statement {
    Parameter(Parameter),
    Input(Parameter),
    Signal(Parameter),
    Element(Element),
    Instance(Instance),
    Ports(Vec<Word>),
    Bonds(Vec<Bond>),
    Outputs(Vec<Output>),
    Experiment(Vec<(Word, Value)>),
}

#[derive(Clone, Debug)]
pub struct Element {
    pub kind: Word,
    pub name: Word,
    /// The number of ports of a field: `C field[2]`.
    pub ports: Option<(u32, Span)>,
    pub value: Option<ElementValue>,
    pub unit: Option<Word>,
    pub description: String,
    pub laws: Vec<Law>,
    pub starts: Vec<Law>,
    /// Of a switched junction: `on when …`.
    pub condition: Option<Value>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ElementValue {
    Scalar(Value),
    Matrix(Vec<Vec<Value>>, Span),
}

/// `e[1] = k*q[1]`, as a law or as a start value.
#[derive(Clone, Debug)]
pub struct Law {
    pub variable: Reference,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub struct Instance {
    pub definition: Word,
    pub name: Word,
    pub arguments: Vec<(Word, Value)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrow {
    Plain,
    /// `->|`: the stroke is at the head, so the effort comes from the tail.
    StrokeAtHead,
    /// `|->`: the stroke is at the tail.
    StrokeAtTail,
    /// `=>`: an active bond, which carries a signal and no power.
    Active,
}

#[derive(Clone, Debug)]
pub struct Bond {
    pub name: Option<Word>,
    pub tail: Reference,
    pub arrow: Arrow,
    pub head: Reference,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Output {
    pub name: Option<Word>,
    pub value: Value,
}
