//! The abstract syntax of Modelica 3.6 (specification, appendix A): what a text says, without its blanks and comments.
//!
//! The lossless tree is the truth about a file; this is the form that `lang` reads. It is made from the tree of one
//! file at a time. Nodes that many instances refer to (classes, components, expressions of modifiers) are behind `Arc`, so
//! that instantiation shares instead of copying. Every node that a message may point at has a span.
//!
//! Types that contain themselves implement `Drop`, `Clone` and `Debug` in `deep.rs`, so that deep nesting cannot overflow the
//! stack; for that reason their fields cannot be moved out, only borrowed or replaced.

use std::sync::Arc;

use base::{Name, Span};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// A dotted class name, as in `Modelica.Units.SI.Angle` or `.Modelica`.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeName {
    /// Written with a leading dot: looked up from the top.
    pub global: bool,
    pub parts: Vec<Ident>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct StoredDefinition {
    /// `None` without a within clause; `Some` with an empty list for `within;`.
    pub within: Option<TypeName>,
    pub classes: Vec<Arc<ClassDef>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassKind {
    Class,
    Model,
    Record,
    OperatorRecord,
    Block,
    Connector,
    ExpandableConnector,
    Type,
    Package,
    Function,
    OperatorFunction,
    Operator,
}

/// `pure` and `impure` in front of `function`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Purity {
    #[default]
    Unstated,
    Pure,
    Impure,
}

/// The prefixes of an element in a class. A class or component of a redeclaration has them too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ElementPrefixes {
    pub redeclare: bool,
    pub is_final: bool,
    pub inner: bool,
    pub outer: bool,
    pub replaceable: bool,
    pub protected: bool,
}

#[derive(Clone)]
pub struct ClassDef {
    pub name: Ident,
    pub kind: ClassKind,
    pub purity: Purity,
    pub encapsulated: bool,
    pub partial: bool,
    pub prefixes: ElementPrefixes,
    pub body: ClassBody,
    /// `constrainedby` of a replaceable class.
    pub constraint: Option<Arc<Constraint>>,
    pub description: Option<Arc<str>>,
    pub annotation: Option<Arc<ClassModification>>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ClassBody {
    /// `model M … end M;`, also `model extends M(…) … end M;`.
    Long(Composition),
    /// `type A = B[3](…)`, with the prefixes of `connector C = input Real`.
    Short {
        base: Arc<TypeName>,
        prefixes: TypePrefixes,
        subscripts: Vec<Subscript>,
        modification: Option<Arc<ClassModification>>,
    },
    /// `type E = enumeration(…)`; `None` for `enumeration(:)`.
    Enumeration(Option<Vec<EnumerationLiteral>>),
    /// `function f_x = der(f, x)`.
    PartialDerivative { function: TypeName, variables: Vec<Ident> },
}

#[derive(Clone, Debug)]
pub struct EnumerationLiteral {
    pub name: Ident,
    pub description: Option<Arc<str>>,
    pub annotation: Option<Arc<ClassModification>>,
}

#[derive(Clone, Debug, Default)]
pub struct Composition {
    /// The modification of a class extension, `model extends M(…)`; the name is the class's own.
    pub extension: Option<Option<Arc<ClassModification>>>,
    /// In the order of the text.
    pub elements: Vec<Element>,
    pub equations: Vec<EquationSection>,
    pub algorithms: Vec<AlgorithmSection>,
    pub external: Option<External>,
}

#[derive(Clone, Debug)]
pub enum Element {
    Import(Import),
    Extends(Arc<Extends>),
    Class(Arc<ClassDef>),
    Component(Arc<Component>),
}

#[derive(Clone, Debug)]
pub struct Import {
    pub path: TypeName,
    pub kind: ImportKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ImportKind {
    /// `import A.B.C;`
    Qualified,
    /// `import D = A.B.C;`
    Renamed(Ident),
    /// `import A.B.*;`
    All,
    /// `import A.B.{C, D};`
    Several(Vec<Ident>),
}

#[derive(Clone, Debug)]
pub struct Extends {
    pub base: Arc<TypeName>,
    pub protected: bool,
    pub modification: Option<Arc<ClassModification>>,
    pub annotation: Option<Arc<ClassModification>>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Constraint {
    pub base: Arc<TypeName>,
    pub modification: Option<Arc<ClassModification>>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Flow {
    #[default]
    None,
    Flow,
    Stream,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Variability {
    #[default]
    Unstated,
    Discrete,
    Parameter,
    Constant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    #[default]
    None,
    Input,
    Output,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TypePrefixes {
    pub flow: Flow,
    pub variability: Variability,
    pub direction: Direction,
}

/// One declared component. A clause that declares several gives several of these.
#[derive(Clone, Debug)]
pub struct Component {
    pub name: Ident,
    pub prefixes: ElementPrefixes,
    pub type_prefixes: TypePrefixes,
    pub type_name: Arc<TypeName>,
    /// The subscripts at the name followed by those at the type: `Real[2] x[3]` has `[3, 2]`.
    pub subscripts: Vec<Subscript>,
    pub modification: Option<Arc<Modification>>,
    pub condition: Option<Arc<Expr>>,
    pub constraint: Option<Arc<Constraint>>,
    pub description: Option<Arc<str>>,
    pub annotation: Option<Arc<ClassModification>>,
    pub span: Span,
}

/// `(…)`, `= e`, `(…) = e` or `:= e` behind a name.
#[derive(Clone, Debug)]
pub struct Modification {
    pub arguments: Option<Arc<ClassModification>>,
    pub value: Option<ModificationValue>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ModificationValue {
    Expr(Arc<Expr>),
    /// `= break` (3.7): removes the binding.
    Break(Span),
}

#[derive(Clone)]
pub struct ClassModification {
    pub arguments: Vec<Argument>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Argument {
    Element(ElementModification),
    RedeclareClass {
        each: bool,
        class: Arc<ClassDef>,
    },
    RedeclareComponent {
        each: bool,
        component: Arc<Component>,
    },
    /// `break x` and `break connect(a, b)` in an extends clause (3.7).
    BreakElement(Ident),
    BreakConnect(ComponentRef, ComponentRef, Span),
}

#[derive(Clone, Debug)]
pub struct ElementModification {
    pub each: bool,
    pub is_final: bool,
    /// `a.b.c` as in `extends M(a.b.c = 1)`.
    pub path: Vec<Ident>,
    pub modification: Option<Arc<Modification>>,
    pub description: Option<Arc<str>>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct EquationSection {
    pub initial: bool,
    pub equations: Vec<Equation>,
}

#[derive(Clone, Debug)]
pub struct AlgorithmSection {
    pub initial: bool,
    pub statements: Vec<Statement>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct External {
    pub language: Option<Arc<str>>,
    pub output: Option<ComponentRef>,
    /// The name of the outside function; `None` when it is the class's own.
    pub function: Option<Ident>,
    pub arguments: Vec<Expr>,
    pub annotation: Option<Arc<ClassModification>>,
    pub span: Span,
}

pub struct Equation {
    pub kind: EquationKind,
    pub description: Option<Arc<str>>,
    pub annotation: Option<Arc<ClassModification>>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum EquationKind {
    Equal(Expr, Expr),
    Connect(ComponentRef, ComponentRef),
    If {
        branches: Vec<(Expr, Vec<Equation>)>,
        otherwise: Vec<Equation>,
    },
    For {
        iterators: Vec<Iterator>,
        body: Vec<Equation>,
    },
    /// The first branch is `when`, the others `elsewhen`.
    When {
        branches: Vec<(Expr, Vec<Equation>)>,
    },
    /// `assert(…)`, `reinit(…)`, `Connections.branch(…)`: a call that stands alone.
    Call(Expr),
}

pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StatementKind {
    Assign(ComponentRef, Expr),
    /// `(a, , b) := f(x)`.
    AssignSeveral(Vec<Option<ComponentRef>>, Expr),
    If {
        branches: Vec<(Expr, Vec<Statement>)>,
        otherwise: Vec<Statement>,
    },
    For {
        iterators: Vec<Iterator>,
        body: Vec<Statement>,
    },
    While {
        condition: Expr,
        body: Vec<Statement>,
    },
    When {
        branches: Vec<(Expr, Vec<Statement>)>,
    },
    Call(Expr),
    Break,
    Return,
}

/// `i in 1:n`, or `i` alone, whose range follows from the arrays that it indexes.
#[derive(Clone, Debug)]
pub struct Iterator {
    pub name: Ident,
    pub range: Option<Expr>,
}

pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Real(f64),
    Integer(i64),
    String(Arc<str>),
    Boolean(bool),
    Ref(ComponentRef),
    /// `end` inside a subscript.
    End,
    /// A call; `der`, `initial` and `pure` are names like any other here.
    Call {
        function: ComponentRef,
        arguments: Arguments,
    },
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    If {
        branches: Vec<(Expr, Expr)>,
        otherwise: Box<Expr>,
    },
    Range {
        start: Box<Expr>,
        step: Option<Box<Expr>>,
        stop: Box<Expr>,
    },
    /// `{a, b}`.
    Array(Vec<Expr>),
    /// `{e for i in r}`.
    ArrayFor {
        element: Box<Expr>,
        iterators: Vec<Iterator>,
    },
    /// `[a, b; c, d]`.
    Matrix(Vec<Vec<Expr>>),
    /// `(a, , b)`; one element stands for plain parentheses and is never produced.
    Tuple(Vec<Option<Expr>>),
    /// `(e)[i]`, an expression with subscripts (3.7).
    Subscripted(Box<Expr>, Vec<Subscript>),
    /// `(e).x`, a field of a record (3.7), or a result of a call with several by its name.
    Field(Box<Expr>, Ident),
    /// A part of the text that is not an expression; a diagnostic says why.
    Error,
}

#[derive(Clone, Debug, Default)]
pub struct Arguments {
    pub positional: Vec<FunctionArgument>,
    pub named: Vec<(Ident, FunctionArgument)>,
    /// `sum(e for i in r)`: the iterators of the single positional argument.
    pub iterators: Vec<Iterator>,
}

#[derive(Clone, Debug)]
pub enum FunctionArgument {
    Expr(Expr),
    /// `function f(a = 1)`, a function with some inputs already given.
    PartialApplication {
        function: TypeName,
        named: Vec<(Ident, FunctionArgument)>,
        span: Span,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    Plus,
    Minus,
    ElementPlus,
    ElementMinus,
    Not,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    ElementAdd,
    ElementSub,
    ElementMul,
    ElementDiv,
    ElementPow,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// `a.b[1].c`, possibly with a leading dot.
#[derive(Clone, Debug)]
pub struct ComponentRef {
    pub global: bool,
    pub parts: Vec<RefPart>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct RefPart {
    pub ident: Ident,
    pub subscripts: Vec<Subscript>,
}

#[derive(Clone, Debug)]
pub enum Subscript {
    /// `:`
    All(Span),
    Expr(Arc<Expr>),
}
