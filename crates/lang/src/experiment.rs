//! `annotation(experiment(StopTime = 10, …))` (specification 18.4), and what is wrong with its settings.

use std::sync::Arc;

use base::{Diagnostic, Span};
use dae::Experiment;
use syntax::ast;

use crate::flatten::annotation;

/// The settings of a class, and warnings about those that are left out.
pub fn read(definition: &ast::ClassDef) -> (Experiment, Vec<Diagnostic>) {
    let (mut result, mut warnings) = (Experiment::default(), Vec::new());
    let Some(settings) = annotation(definition, "experiment") else { return (result, warnings) };
    let mut stop_span = None;
    for argument in &settings.arguments {
        let ast::Argument::Element(setting) = argument else { continue };
        let [name] = setting.path.as_slice() else { continue };
        let (place, limit, possible): (_, _, fn(f64) -> bool) = match name.name.as_str() {
            "StartTime" => (&mut result.start_time, "finite", f64::is_finite),
            "StopTime" => {
                stop_span = Some(name.span);
                (&mut result.stop_time, "finite", f64::is_finite)
            }
            "Interval" => (&mut result.interval, "greater than zero", |value| value > 0.0 && value.is_finite()),
            "Tolerance" => (&mut result.tolerance, "between 0 and 1", |value| value > 0.0 && value < 1.0),
            // Settings of other tools.
            other if other.starts_with("__") => continue,
            other => {
                let message = format!("`{other}` is no setting of an experiment and is left out");
                let hint = "the settings are StartTime, StopTime, Interval and Tolerance";
                warnings.push(warning(message, name.span).hint(hint).specification("18.4"));
                continue;
            }
        };
        match setting.modification.as_ref().and_then(number) {
            Some(value) if possible(value) => *place = Some(value),
            Some(value) => warnings.push(impossible(name.name.as_str(), value, limit, name.span)),
            None => {
                let message =
                    format!("`{}` of the experiment is no number that is known; the default is used", name.name);
                let hint = "write a number, or a sum or product of numbers";
                warnings.push(warning(message, name.span).hint(hint).decides());
            }
        }
    }
    if let (Some(stop), Some(span)) = (result.stop_time, stop_span)
        && stop < result.start_time.unwrap_or(0.0)
    {
        warnings.push(impossible("StopTime", stop, "after StartTime", span));
        result.stop_time = None;
    }
    (result, warnings)
}

fn warning(message: String, span: Span) -> Diagnostic {
    Diagnostic::warning("experiment-setting", message).at(span, "")
}

fn impossible(name: &str, value: f64, limit: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` of the experiment is {value} and must be {limit}; the default is used");
    warning(message, span).decides()
}

fn number(modification: &Arc<ast::Modification>) -> Option<f64> {
    let Some(ast::ModificationValue::Expr(expr)) = &modification.value else { return None };
    literal(expr)
}

fn literal(expr: &ast::Expr) -> Option<f64> {
    match &expr.kind {
        ast::ExprKind::Real(value) => Some(*value),
        ast::ExprKind::Integer(value) => Some(*value as f64),
        ast::ExprKind::Unary(ast::UnaryOp::Minus, operand) => Some(-literal(operand)?),
        ast::ExprKind::Binary(op, a, b) => {
            let (a, b) = (literal(a)?, literal(b)?);
            match op {
                ast::BinaryOp::Add => Some(a + b),
                ast::BinaryOp::Sub => Some(a - b),
                ast::BinaryOp::Mul => Some(a * b),
                ast::BinaryOp::Div => Some(a / b),
                ast::BinaryOp::Pow => Some(a.powf(b)),
                _ => None,
            }
        }
        _ => None,
    }
}
