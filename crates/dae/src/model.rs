//! The flat model itself.

use std::path::PathBuf;
use std::sync::Arc;

use base::{IdVec, Name, Span};
use smallvec::SmallVec;

use crate::access::Access;
use crate::evaluate::OutsideFunctions;
use crate::expr::{Builtin, ExprId, Exprs, Node};
use crate::function::Functions;
use crate::path::{PathId, Paths};

base::id_type!(
    /// A scalar variable, parameters and constants included.
    pub VarId, "v"
);
base::id_type!(
    /// A scalar equation.
    pub EqId, "eq"
);

/// The type of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VariableType {
    /// Floating-point numbers.
    Real,
    /// Whole numbers.
    Integer,
    /// Truth values.
    Boolean,
    /// The index in `Model::enumerations`.
    Enumeration(u32),
    /// Texts.
    String,
    /// An external object; its binding is the call of the constructor.
    Object,
    /// Clocks (16).
    Clock,
}

/// When a value may change, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Variability {
    /// Never.
    Constant,
    /// Not during a run.
    Parameter,
    /// At events.
    Discrete,
    /// Always.
    Continuous,
}

/// What a variable is for the outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Causality {
    /// Neither an input nor an output.
    Local,
    /// Of the whole model: given from outside.
    Input,
    /// Read from outside.
    Output,
}

/// How much a variable is wanted as a state (4.9.7.1), in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum StateSelect {
    /// Under no circumstances.
    Never,
    /// If nothing else can be one.
    Avoid,
    /// If it is differentiated.
    #[default]
    Default,
    /// Rather than others.
    Prefer,
    /// Under all circumstances.
    Always,
}

/// A scalar variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The full name.
    pub path: PathId,
    /// The type.
    pub ty: VariableType,
    /// When it may change.
    pub variability: Variability,
    /// What it is for the outside.
    pub causality: Causality,
    /// `input` or `output` as declared, in components too: which side of it gives the value.
    pub prefix: Causality,
    /// Of parameters and constants. The declaration equations of others are equations.
    pub binding: Option<ExprId>,
    /// Shared by all elements of an array where they are equal.
    pub attributes: Arc<Attributes>,
    /// Declared in a protected section.
    pub protected: bool,
    /// `annotation(HideResult = true)`.
    pub hidden: bool,
    /// A flow variable of a connector.
    pub flow: bool,
    /// `annotation(Evaluate = true)`, declared final, or used in a size: its value is part of the structure.
    pub structural: bool,
    /// Declared final, made so by a modifier, or an element of something final: nothing from outside changes its value (7.2.6).
    pub is_final: bool,
    /// Where it is declared.
    pub span: Option<Span>,
    /// A derivative that `transform` made a variable of its own, and of what.
    pub derivative_of: Option<VarId>,
}

impl Variable {
    /// A variable that nobody wrote.
    pub fn hidden(path: PathId, ty: VariableType, variability: Variability) -> Self {
        Self {
            path,
            ty,
            variability,
            causality: Causality::Local,
            prefix: Causality::Local,
            binding: None,
            attributes: Arc::default(),
            protected: true,
            hidden: true,
            flow: false,
            structural: false,
            is_final: false,
            span: None,
            derivative_of: None,
        }
    }
}

/// The attributes of a variable (4.9).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Attributes {
    /// The start value.
    pub start: Option<ExprId>,
    /// At what depth of components the start value and the binding were written, 1 for the model itself: what is said
    /// further up is meant for this use of the component (specification 8.6.2). 0 where nobody said so.
    pub start_level: u16,
    /// The depth at which the binding was written.
    pub binding_level: u16,
    /// True only where it was given: parameters default to fixed, others to not.
    pub fixed: Option<ExprId>,
    /// The usual size.
    pub nominal: Option<ExprId>,
    /// The smallest value.
    pub min: Option<ExprId>,
    /// The largest value.
    pub max: Option<ExprId>,
    /// How much it is wanted as a state.
    pub state_select: StateSelect,
    /// The unit of its values.
    pub unit: Option<Name>,
    /// The unit to show values in.
    pub display_unit: Option<Name>,
    /// The kind of quantity.
    pub quantity: Option<Name>,
    /// The comment of the declaration.
    pub description: Option<Arc<str>>,
}

/// Where an equation comes from.
#[derive(Clone, PartialEq, Debug)]
pub struct Origin {
    /// The component in whose class the text stands.
    pub component: PathId,
    /// Where the text stands.
    pub span: Option<Span>,
    /// How the equation was made.
    pub kind: OriginKind,
}

/// How an equation was made.
#[derive(Clone, PartialEq, Debug)]
pub enum OriginKind {
    /// The text is an equation.
    Written,
    /// The declaration equation of a variable.
    Binding,
    /// Made from `connect`: the equality of potentials.
    Potential,
    /// Made from `connect`: the sum of flows, or a flow that is not connected.
    FlowSum,
    /// Made from `connect`: the value of a stream variable.
    Stream,
    /// The state of a when condition and the like, made by `lang`.
    Auxiliary,
    /// The result of an algorithm section.
    Algorithm,
    /// The derivative of another equation.
    Derivative(EqId),
    /// Made from others by elimination.
    Combined(Arc<[EqId]>),
    /// A start value with `fixed = true`, or a notice's choice, in the initial problem.
    StartValue(VarId),
}

/// How the equation is to be read.
#[derive(Clone, PartialEq, Debug)]
pub enum EquationRole {
    /// Holds at all times.
    Plain,
    /// `left` is a variable that keeps its value between the instants of `when`; `right` is
    /// `if rising(c1) then e1 elseif rising(c2) then e2 else pre(v)` already, with `Exprs::rising` or `initial()`.
    When(WhenClause),
    /// From an algorithm; the number joins the equations of one section.
    Algorithm(u32),
}

/// The when clause of an equation.
#[derive(Clone, PartialEq, Debug)]
pub struct WhenClause {
    /// The when statement it belongs to, and its branches: two equations of one clause have the same number.
    pub clause: u32,
    /// The Boolean variables (made by `lang`, `OriginKind::Auxiliary`) whose rising edges make the branches active; the
    /// condition `initial()` is none of them.
    pub conditions: SmallVec<[VarId; 1]>,
}

/// `left = right`.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The left side.
    pub left: ExprId,
    /// The right side.
    pub right: ExprId,
    /// How it is to be read.
    pub role: EquationRole,
    /// Where it comes from.
    pub origin: Origin,
}

/// What happens besides equations.
#[derive(Clone, Debug)]
pub struct Action {
    /// What happens.
    pub kind: ActionKind,
    /// Active when this Boolean expression is true; for those in a when clause it is `Exprs::rising` of the condition.
    /// `None`: always.
    pub condition: Option<ExprId>,
    /// Where it comes from.
    pub origin: Origin,
}

/// What happens besides equations.
#[derive(Clone, Debug)]
pub enum ActionKind {
    /// A state gets a value.
    Reinit {
        /// The state.
        state: VarId,
        /// Its value.
        value: ExprId,
    },
    /// `holds` is the asserted condition; `message` a String expression.
    Assert {
        /// What has to hold.
        holds: ExprId,
        /// What to say if it does not.
        message: ExprId,
        /// The run goes on all the same.
        warning: bool,
    },
    /// The run ends.
    Terminate {
        /// What to say about it.
        message: ExprId,
    },
    /// A function called for its effect.
    Call(ExprId),
}

/// An enumeration type.
#[derive(Clone, PartialEq, Debug)]
pub struct Enumeration {
    /// The full name.
    pub name: Name,
    /// The literals, in order.
    pub literals: Vec<Name>,
}

/// `annotation(experiment(…))`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Experiment {
    /// When a run starts.
    pub start_time: Option<f64>,
    /// When a run ends.
    pub stop_time: Option<f64>,
    /// The distance of output points.
    pub interval: Option<f64>,
    /// The relative tolerance.
    pub tolerance: Option<f64>,
}

/// A flat hybrid DAE.
#[derive(Clone, Default)]
pub struct Model {
    /// The class that was instantiated.
    pub name: String,
    /// The comment of the class.
    pub description: Option<Arc<str>>,
    /// The names of variables and components.
    pub paths: Paths,
    /// The arena of all expressions.
    pub exprs: Exprs,
    /// The scalar variables.
    pub variables: IdVec<VarId, Variable>,
    /// What holds at all times.
    pub equations: IdVec<EqId, Equation>,
    /// What holds at the start.
    pub initial_equations: Vec<Equation>,
    /// What happens besides equations.
    pub actions: Vec<Action>,
    /// Actions of initial sections.
    pub initial_actions: Vec<Action>,
    /// The functions that are called.
    pub functions: Functions,
    /// The enumeration types.
    pub enumerations: Vec<Enumeration>,
    /// What the model says about its simulation.
    pub experiment: Experiment,
    /// Read from a text that was printed from a flat model: the comments of the text tell the origins.
    pub is_from_flat_text: bool,
    /// What may be called in shared libraries.
    pub outside: Option<Arc<dyn OutsideFunctions>>,
    /// The folders of top-level packages, where `modelica://Package/…` addresses lead at run time.
    pub package_folders: Vec<(Name, PathBuf)>,
    /// What the functions that the model calls may touch.
    pub access: Arc<Access>,
    /// Parameters whose values were used when the model was made.
    pub decided: Vec<Decided>,
    /// Variables that change where relations do that no variable freezes: those in loops at run time.
    pub outcomes: Vec<VarId>,
}

/// A variable of [`Model::outcomes`] is the outcome times this, plus how many relations are zero.
pub const MOST_TOUCHING: f64 = 4096.0;

/// A parameter whose value decided something at translation, such as a size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decided {
    /// The parameter.
    pub variable: VarId,
    /// The text that asked for the value.
    pub span: Option<Span>,
}

impl Model {
    /// Whether there are clocked partitions (specification 16).
    pub fn has_clocks(&self) -> bool {
        let has_operator = self.exprs.ids().any(|id| match self.exprs.node(id) {
            Node::Previous(_) | Node::Builtin(Builtin::Hold | Builtin::SampleClocked, _) => true,
            Node::Builtin(op, _) => op.is_clock_conversion() || op.is_clock_constructor(),
            _ => false,
        });
        has_operator || self.variables.values().any(|variable| variable.ty == VariableType::Clock)
    }

    /// The full name of a variable, `der(x)` for one that is a derivative.
    pub fn variable_name(&self, variable: VarId) -> String {
        match self.variables[variable].derivative_of {
            Some(of) => format!("der({})", self.variable_name(of)),
            None => self.paths.text(self.variables[variable].path),
        }
    }
}
