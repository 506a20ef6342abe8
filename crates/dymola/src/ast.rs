//! What a file says. Every node has its place; chains of equal precedence are lists, so that depth is bounded by brackets.

use base::{Name, Span};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// `R1.u`.
#[derive(Clone, PartialEq, Debug)]
pub struct Reference {
    /// At least one.
    pub parts: Vec<Ident>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Model {
    /// `model class`: a type of objects, not an object itself.
    pub is_class: bool,
    pub supers: Vec<Reference>,
    pub name: Ident,
    /// The name that the user gave it.
    pub called: Name,
    pub items: Vec<Item>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Item {
    pub kind: ItemKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ItemKind {
    /// Without a class it is that of the same name.
    Submodels {
        class: Option<Reference>,
        submodels: Vec<Submodel>,
    },
    Variables {
        role: Role,
        variables: Vec<Declared>,
    },
    Cuts {
        main: bool,
        cuts: Vec<Cut>,
    },
    Paths {
        main: bool,
        paths: Vec<Path>,
    },
    Nodes(Vec<Ident>),
    Connect(Vec<Connection>),
    Equation(Equation),
    When(When),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Parameter,
    Constant,
    Local,
    Terminal,
    Input,
    Output,
    /// Declared by a cut.
    Cut,
}

#[derive(Clone, Debug)]
pub struct Submodel {
    pub name: Ident,
    pub values: Vec<(Ident, Expr)>,
}

#[derive(Clone, Debug)]
pub struct Declared {
    pub name: Ident,
    pub value: Option<Expr>,
}

#[derive(Clone, Debug)]
pub struct Cut {
    pub name: Ident,
    pub content: CutContent,
}

#[derive(Clone, Debug)]
pub enum CutContent {
    /// `(p v a / f)`.
    Variables { across: Vec<Slot>, through: Vec<Slot> },
    /// `[A B]`.
    Cuts(Vec<Ident>),
}

/// A variable in a cut, perhaps with a minus.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub negative: bool,
    pub name: Ident,
}

/// `P < A - B >`.
#[derive(Clone, Debug)]
pub struct Path {
    pub name: Ident,
    pub from: Ident,
    pub to: Ident,
}

#[derive(Clone, Debug)]
pub struct Connection {
    pub kind: ConnectionKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ConnectionKind {
    /// Series and parallel only.
    Chain(Chain),
    At(Chain, Chain),
    FromTo {
        object: Chain,
        from: Option<Chain>,
        to: Option<Chain>,
    },
}

/// Objects in series, in parallel, or one of them.
#[derive(Clone, Debug)]
pub struct Chain {
    pub kind: ChainKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ChainKind {
    Object(Reference),
    Series(Vec<Chain>),
    Parallel(Vec<Chain>),
    /// The end of the chain is connected with its begin.
    Loop(Box<Chain>),
}

#[derive(Clone, Debug)]
pub struct Equation {
    pub left: Expr,
    pub right: Expr,
    /// The place of `=`.
    pub equals: Span,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct When {
    pub condition: Expr,
    pub equations: Vec<Equation>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// Whether it is whole: written with digits only.
    Number(bool),
    /// A number that nobody wrote: what remains of `new(x)` where it is a coefficient's place.
    One,
    Truth(bool),
    Time,
    Reference(Reference),
    /// The derivative of this order.
    Derivative(Box<Expr>, u32),
    /// The value after the event.
    New(Reference),
    Call(Ident, Vec<Expr>),
    Parentheses(Box<Expr>),
    Negative(Box<Expr>),
    Not(Box<Expr>),
    /// `a + b - c`, `a * b / c`, `a and b`, `a or b`, `a ^ b`: operators of one precedence.
    Operators(Box<Expr>, Vec<(Operator, Span, Expr)>),
    /// Conditions with their values, and the last value.
    If(Vec<(Expr, Expr)>, Box<Expr>),
    /// Something was wrong here and has been reported.
    Missing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    Or,
    And,
    Relation,
    Plus,
    Minus,
    Times,
    Over,
    Power,
}

impl Expr {
    /// Calls `visit` with every node, parents first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        match &self.kind {
            ExprKind::Number(_) | ExprKind::One | ExprKind::Truth(_) | ExprKind::Time | ExprKind::Missing => {}
            ExprKind::Reference(_) | ExprKind::New(_) => {}
            ExprKind::Derivative(inner, _)
            | ExprKind::Parentheses(inner)
            | ExprKind::Negative(inner)
            | ExprKind::Not(inner) => inner.walk(visit),
            ExprKind::Call(_, arguments) => arguments.iter().for_each(|argument| argument.walk(visit)),
            ExprKind::Operators(first, rest) => {
                first.walk(visit);
                rest.iter().for_each(|(_, _, operand)| operand.walk(visit));
            }
            ExprKind::If(branches, last) => {
                for (condition, value) in branches {
                    condition.walk(visit);
                    value.walk(visit);
                }
                last.walk(visit);
            }
        }
    }
}
