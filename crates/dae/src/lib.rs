//! The flat hybrid DAE: scalar variables and equations over one arena of shared expressions, every entity with its
//! origin. `lang` makes it, `transform` sorts it, `compile` turns it into code.

pub mod access;
pub mod arrays;
mod class_text;
pub mod differentiate;
mod domain;
pub mod effects;
mod elementary;
pub mod evaluate;
pub mod evaluate_expr;
pub mod event_free;
pub mod execute;
pub mod expr;
#[allow(missing_docs, reason = "the names are those of Modelica")]
pub mod function;
mod function_text;
pub mod inline;
pub mod known;
mod latex;
pub mod model;
mod modelica;
mod path;
pub mod print;
mod rewrite;
pub mod scalar;
pub mod scalar_type;
mod simplify;
mod solve_for;
mod string_format;
pub mod tangent;
pub mod testing;
pub mod value;
mod verify;

pub use access::{Access, Allowed};
pub use class_text::{calls, reachable_functions, used_functions};
pub use differentiate::{Differentiator, NotDifferentiable};
pub use elementary::Elementary;
pub use evaluate::{EvalError, Evaluator, Externals, NoExternals, OutsideFunctions};
pub use evaluate_expr::ExprValues;
pub use expr::{ArgsId, Builtin, CallSite, CallSiteId, CompareOp, ExprId, Exprs, Node};
pub use function::{Function, FunctionId, Functions};
pub use function_text::function_text;
pub use model::{
    Action, ActionKind, Attributes, Causality, Decided, EqId, Equation, EquationRole, Experiment, Model, Origin,
    OriginKind, StateSelect, VarId, Variability, Variable, VariableType, WhenClause,
};
pub use modelica::{BEHIND, modelica_text, text_terms};
pub use path::{PathId, Paths};
pub use rewrite::{Dependencies, Memo};
pub use solve_for::{Pivot, Solution};
pub use value::Value;
pub use verify::{verify, verify_transformed};
