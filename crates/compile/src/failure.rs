//! An evaluation that gave no finite value, and what to say about it.

use base::{Decimal, Diagnostic};
use dae::{EqId, ExprId, Model, OriginKind, VarId};

/// Why and where an evaluation failed. The caller may try again from other values.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// Apart, since outcomes of evaluations are passed on often.
    pub reason: Box<Reason>,
    /// The expression whose value is not finite though its operands are.
    pub expression: Option<ExprId>,
    /// What was to be computed.
    pub variable: Option<VarId>,
    /// The equation that was evaluated.
    pub equation: Option<EqId>,
}

/// Why something is not finite.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "the variants say what their fields are")]
pub enum Reason {
    /// An operation and its operands.
    Operation { name: &'static str, operands: Vec<f64> },
    /// A function call failed, or gave no finite value.
    Call { message: String },
    /// An Integer came out larger than Integers are exact.
    Integer,
    /// Something that had to be known before is not finite.
    Input { variable: Option<VarId> },
}

impl Failure {
    pub(crate) fn unknown() -> Self {
        let reason = Box::new(Reason::Input { variable: None });
        Self { reason, expression: None, variable: None, equation: None }
    }

    /// One line, such as `log(0) has no finite value`.
    pub fn message(&self, model: &Model) -> String {
        match &*self.reason {
            Reason::Operation { name, operands } => format!("{} has no finite value", operation(name, operands)),
            Reason::Call { message } => message.clone(),
            Reason::Integer => "an Integer is beyond 2^53 - 1, up to which Integers are exact".to_string(),
            Reason::Input { variable: Some(variable) } => {
                format!("the value of {} is not finite", model.variable_name(*variable))
            }
            Reason::Input { variable: None } => "a value that has to be known is not finite".to_string(),
        }
    }

    /// The failure in the terms of the model.
    pub fn diagnostic(&self, model: &Model) -> Diagnostic {
        let mut message = self.message(model);
        // What is hidden has no name that the user knows; the place says enough.
        if let Some(variable) = self.variable.filter(|&variable| !is_hidden(model, variable)) {
            message = format!("{message}, when {} was computed", model.variable_name(variable));
        }
        let mut diagnostic = Diagnostic::error("evaluation-failed", message);
        if let Some(equation) = self.equation.and_then(|equation| model.equations.get(equation)) {
            if let Some(span) = equation.origin.span {
                let label = match equation.origin.kind {
                    OriginKind::Algorithm | OriginKind::Auxiliary => "here",
                    _ => "in this equation",
                };
                diagnostic = diagnostic.at(span, label);
            }
            diagnostic = diagnostic.in_component(model.paths.text(equation.origin.component));
        } else if let Some(declared) = self.variable.and_then(|variable| model.variables.get(variable)) {
            if let Some(span) = declared.span {
                diagnostic = diagnostic.at(span, "declared here");
            }
            let component = model.paths.parent(declared.path).map(|parent| model.paths.text(parent));
            diagnostic = diagnostic.in_component(component.unwrap_or_default());
        }
        match self.advice() {
            Some(advice) => diagnostic.hint(advice),
            None => diagnostic,
        }
    }
}

impl Failure {
    /// What to do about it.
    fn advice(&self) -> Option<&'static str> {
        let name = match &*self.reason {
            Reason::Operation { name, .. } => *name,
            Reason::Integer => return Some("a Real holds larger numbers, with 16 digits"),
            Reason::Call { .. } | Reason::Input { .. } => return None,
        };
        Some(match name {
            "div" | "pow" => "look at what becomes zero; guard it, such as `noEvent(if abs(x) > 0 then 1/x else …)`",
            "log" | "log10" | "sqrt" | "asin" | "acos" => {
                "look at what leaves the domain of the function; guard it, such as `noEvent(if x > 0 then log(x) else …)`"
            }
            "exp" | "sinh" | "cosh" | "mul" | "add" | "sub" => "the result is too large for a number",
            _ => return None,
        })
    }
}

fn is_hidden(model: &Model, variable: VarId) -> bool {
    model.variables.get(variable).is_some_and(|variable| variable.hidden)
}

fn operation(name: &str, operands: &[f64]) -> String {
    let shown: Vec<String> = operands.iter().map(|&operand| Decimal(operand).to_string()).collect();
    match (name, &shown[..]) {
        ("div", [a, b]) => format!("{a} / {b}"),
        ("mul", [a, b]) => format!("{a} * {b}"),
        ("add", [a, b]) => format!("{a} + {b}"),
        ("sub", [a, b]) => format!("{a} - {b}"),
        ("pow", [a, b]) => format!("({a}) ^ ({b})"),
        _ => format!("{name}({})", shown.join(", ")),
    }
}
