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

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VariableType {
    Real,
    Integer,
    Boolean,
    /// The index in `Model::enumerations`.
    Enumeration(u32),
    String,
    /// An external object; its binding is the call of the constructor.
    Object,
    Clock,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Variability {
    Constant,
    Parameter,
    Discrete,
    Continuous,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Causality {
    Local,
    /// Of the whole model: given from outside.
    Input,
    Output,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum StateSelect {
    Never,
    Avoid,
    #[default]
    Default,
    Prefer,
    Always,
}

#[derive(Clone, Debug)]
pub struct Variable {
    /// The full name.
    pub path: PathId,
    pub ty: VariableType,
    pub variability: Variability,
    pub causality: Causality,
    /// Of parameters and constants. The declaration equations of others are equations.
    pub binding: Option<ExprId>,
    /// Shared by all elements of an array where they are equal.
    pub attributes: Arc<Attributes>,
    pub protected: bool,
    /// `annotation(HideResult = true)`.
    pub hidden: bool,
    /// A flow variable of a connector.
    pub flow: bool,
    /// `annotation(Evaluate = true)`, final, or used in a size: its value is part of the structure.
    pub structural: bool,
    /// Where it is declared.
    pub span: Option<Span>,
    /// A derivative that `transform` made a variable of its own, and of what.
    pub derivative_of: Option<VarId>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Attributes {
    pub start: Option<ExprId>,
    /// At what depth of components the start value and the binding were written, 1 for the model itself: what is said
    /// further up is meant for this use of the component (specification 8.6.2). 0 where nobody said so.
    pub start_level: u16,
    pub binding_level: u16,
    /// True only where it was given: parameters default to fixed, others to not.
    pub fixed: Option<ExprId>,
    pub nominal: Option<ExprId>,
    pub min: Option<ExprId>,
    pub max: Option<ExprId>,
    pub state_select: StateSelect,
    pub unit: Option<Name>,
    pub display_unit: Option<Name>,
    pub quantity: Option<Name>,
    pub description: Option<Arc<str>>,
}

/// Where an equation comes from; `steps` tell what was made of it since.
#[derive(Clone, PartialEq, Debug)]
pub struct Origin {
    /// The component in whose class the text stands.
    pub component: PathId,
    pub span: Option<Span>,
    pub kind: OriginKind,
}

#[derive(Clone, PartialEq, Debug)]
pub enum OriginKind {
    Written,
    /// The declaration equation of a variable.
    Binding,
    /// Made from `connect`: the equality of potentials.
    Potential,
    /// Made from `connect`: the sum of flows, or a flow that is not connected.
    FlowSum,
    Stream,
    /// The state of a when condition and the like, made by `lang`.
    Auxiliary,
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
    pub left: ExprId,
    pub right: ExprId,
    pub role: EquationRole,
    pub origin: Origin,
}

/// What happens besides equations.
#[derive(Clone, Debug)]
pub struct Action {
    pub kind: ActionKind,
    /// Active when this Boolean expression is true; for those in a when clause it is `Exprs::rising` of the condition.
    /// `None`: always.
    pub condition: Option<ExprId>,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
pub enum ActionKind {
    Reinit {
        state: VarId,
        value: ExprId,
    },
    /// `holds` is the asserted condition; `message` a String expression.
    Assert {
        holds: ExprId,
        message: ExprId,
        warning: bool,
    },
    Terminate {
        message: ExprId,
    },
    /// A function called for its effect.
    Call(ExprId),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Enumeration {
    pub name: Name,
    pub literals: Vec<Name>,
}

/// `annotation(experiment(…))`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Experiment {
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub interval: Option<f64>,
    pub tolerance: Option<f64>,
}

/// A flat hybrid DAE.
#[derive(Clone, Default)]
pub struct Model {
    /// The class that was instantiated.
    pub name: String,
    pub description: Option<Arc<str>>,
    pub paths: Paths,
    pub exprs: Exprs,
    pub variables: IdVec<VarId, Variable>,
    pub equations: IdVec<EqId, Equation>,
    pub initial_equations: Vec<Equation>,
    pub actions: Vec<Action>,
    /// Actions of initial sections.
    pub initial_actions: Vec<Action>,
    pub functions: Functions,
    pub enumerations: Vec<Enumeration>,
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

/// A parameter whose value decided something at translation, such as a size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decided {
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
