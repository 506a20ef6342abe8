//! Failures of the integrator in the names of the model.

use super::*;

impl Simulation {
    pub(super) fn last_trouble(&mut self) -> Trouble {
        self.runtime.machine.trouble.take().unwrap_or_else(|| {
            Trouble::Model(Box::new(Diagnostic::error("evaluation-failed", "the model could not be evaluated")))
        })
    }

    /// The integrator's failure in the names of the model.
    pub(super) fn step_trouble(&mut self, error: StepError) -> Trouble {
        let unknown = |component: usize| super::unknowns(&self.program).nth(component);
        let name =
            |component: usize| unknown(component).map_or_else(String::new, |id| self.program.model().variable_name(id));
        let at = |component: usize, diagnostic: Diagnostic| match unknown(component)
            .and_then(|id| self.program.model().variables[id].span)
        {
            Some(span) => diagnostic.at(span, "declared here"),
            None => diagnostic,
        };
        /// The distance of neighbouring times, relative to that of output points, that makes short steps impossible.
        const COARSE: f64 = 1e-6;
        let diagnostic = match error {
            StepError::Evaluation { .. } => return self.last_trouble(),
            StepError::StepTooSmall { t, component, .. } => {
                let (t_text, name) = (Decimal(t), name(component));
                let message =
                    format!("the step size became too small at time {t_text}; the error of {name} is largest");
                let next = t.abs().next_up() - t.abs();
                // A run that no step resolves is not to blame on its solution.
                let hint = match next > COARSE * self.options.interval {
                    true => format!(
                        "neighbouring numbers at this time are {} s apart; start the run nearer to time 0",
                        Decimal(next)
                    ),
                    false => "the solution may go to infinity or change abruptly here".to_owned(),
                };
                at(component, Diagnostic::error("step-too-small", message).hint(hint))
            }
            StepError::NoConvergence { t, component, .. } => at(
                component,
                Diagnostic::error(
                    "no-convergence",
                    format!(
                        "the integrator's equations have no solution at time {}; {} is furthest off",
                        Decimal(t),
                        name(component)
                    ),
                ),
            ),
            StepError::Singular { t, column } => at(
                column,
                Diagnostic::error(
                    "singular-jacobian",
                    format!(
                        "the iteration matrix is singular at time {}: {} is not determined",
                        Decimal(t),
                        name(column)
                    ),
                ),
            ),
            StepError::NotFinite { t, component } => at(
                component,
                Diagnostic::error(
                    "not-finite",
                    format!("the derivative of {} is not finite at time {}", name(component), Decimal(t)),
                ),
            ),
        };
        Trouble::Model(Box::new(diagnostic.names_time()))
    }
}
