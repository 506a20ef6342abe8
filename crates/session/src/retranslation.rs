//! A flat model with other values of parameters, sorted and compiled anew: for values that change the structure of the equations.

use std::sync::Arc;

use base::Diagnostic;
use compile::Program;
use dae::{Model, VarId, VariableType};

/// The program of a flat model whose parameters have these values. What the language decided by the values of parameters must not
/// depend on them: [`Program::fit`] tells.
pub fn retranslated(
    flat: &Model,
    set: &[(VarId, f64)],
    options: &transform::Options,
) -> Result<(Arc<Program>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut model = flat.clone();
    for &(variable, value) in set {
        let value = match model.variables[variable].ty {
            VariableType::Real => model.exprs.real(value),
            VariableType::Boolean => model.exprs.boolean(value != 0.0),
            _ => model.exprs.int(value as i64),
        };
        model.variables[variable].binding = Some(value);
    }
    let schedule = transform::transform(model, options)?;
    let notices = schedule.summary.notices.clone();
    let program = Program::new(schedule).map_err(|diagnostic| vec![diagnostic])?;
    Ok((Arc::new(program), notices))
}
