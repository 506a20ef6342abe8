//! Simultaneous equations without a solution, reported in the terms of the model: which equations are violated most, where they
//! come from, and what to change.

use base::{Decimal, Diagnostic};
use compile::Failure;
use dae::{EqId, Model, VarId};

/// How many equations of a system a message shows.
const SHOWN: usize = 4;
/// How many unknowns it names.
const NAMED: usize = 8;

/// Why a system has no solution, by name.
#[derive(Clone, Debug)]
pub struct SystemFailure {
    pub unknowns: Vec<VarId>,
    pub equations: Vec<EqId>,
    /// What Newton's method iterated over, and where that ended.
    pub iteration: Vec<(VarId, f64)>,
    pub reason: Reason,
    pub time: f64,
}

#[derive(Clone, Debug)]
pub enum Reason {
    /// No equation is left for this unknown.
    Singular(VarId),
    /// The residuals that are still largest.
    NoConvergence(Vec<(EqId, f64)>),
    Evaluation(Failure),
    /// No configuration of relations and discrete unknowns agrees with itself.
    NoConfiguration {
        tried: usize,
        /// The discrete unknowns, which depend on each other at one instant, and their equations.
        discrete: Vec<VarId>,
        equations: Vec<EqId>,
    },
}

impl SystemFailure {
    pub fn is_singular(&self) -> bool {
        matches!(self.reason, Reason::Singular(_) | Reason::NoConfiguration { .. })
    }

    /// Whether discrete unknowns contradict each other.
    pub fn is_discrete_loop(&self) -> bool {
        matches!(&self.reason, Reason::NoConfiguration { discrete, .. } if !discrete.is_empty())
    }

    /// Whether it may be another structure that is needed, and not other numbers.
    pub fn is_structural(&self) -> bool {
        self.is_singular() || matches!(self.reason, Reason::NoConvergence(_))
    }

    pub fn diagnostic(&self, model: &Model) -> Diagnostic {
        let size = self.unknowns.len();
        let names = names(model, &self.unknowns);
        let time = Decimal(self.time);
        match &self.reason {
            Reason::Singular(unknown) if !self.iteration.is_empty() => {
                let unknown = model.variable_name(*unknown);
                let message = match size {
                    1 => format!("the nonlinear equation for {names} does not determine it near time {time}"),
                    _ => format!(
                        "the {size} nonlinear equations for {names} do not determine {unknown} near time {time}"
                    ),
                };
                let hint = "the solution may end or branch here, such as at the top of a characteristic; other start \
                            values may lead to another branch";
                let diagnostic = self.with_iteration(model, Diagnostic::error("singular-system", message).names_time());
                self.with_equations(model, diagnostic).hint(hint)
            }
            Reason::Singular(unknown) => {
                let unknown = model.variable_name(*unknown);
                let message = match size {
                    1 => format!("the equation for {names} does not determine it at time {time}"),
                    _ => format!(
                        "the {size} simultaneous equations for {names} do not determine {unknown} at time {time}"
                    ),
                };
                let hint = "look for a part without a reference (a missing ground), or for ideal elements in a loop";
                self.with_equations(model, Diagnostic::error("singular-system", message).names_time().hint(hint))
            }
            Reason::NoConfiguration { tried, discrete, .. } if discrete.is_empty() => {
                let message = format!(
                    "no combination of conditions is consistent for {names} at time {time} ({tried} were tried)"
                );
                self.with_equations(model, Diagnostic::error("no-consistent-configuration", message).names_time())
            }
            Reason::NoConfiguration { tried, discrete, equations } => {
                self.discrete_loop(model, *tried, discrete, equations)
            }
            Reason::NoConvergence(worst) => {
                let equations = if size == 1 { "the equation".into() } else { format!("the {size} equations") };
                let message = format!("no solution was found for {equations} for {names} at time {time}");
                let diagnostic = Diagnostic::error("no-convergence", message).names_time();
                self.with_guesses(model, with_residuals(model, diagnostic, worst))
            }
            Reason::Evaluation(failure) => self.with_guesses(model, failure.diagnostic(model)),
        }
    }

    /// Discrete unknowns that depend on each other at one instant, and no values of which agree.
    fn discrete_loop(&self, model: &Model, tried: usize, discrete: &[VarId], equations: &[EqId]) -> Diagnostic {
        let (count, loop_names) = shown_names(model, discrete);
        let (depend, them) = if count == 1 { ("depends on itself", "it") } else { ("depend on each other", "them") };
        let message = format!(
            "{loop_names} {depend} at time {}, and no value of {them} agrees with the equations ({tried} combinations \
             were tried)",
            Decimal(self.time)
        );
        let visible = discrete.iter().find(|&&variable| !model.variables[variable].hidden);
        let name = visible.or(discrete.first()).map_or_else(String::new, |&variable| model.variable_name(variable));
        let hint = format!(
            "break the loop with a value from before the event: write pre({name}) where {name} decides about its own \
             new value"
        );
        let mut diagnostic = Diagnostic::error("no-consistent-configuration", message).names_time().hint(hint);
        for (&equation, place) in equations.iter().zip(0..) {
            let Some(found) = model.equations.get(equation) else { continue };
            if place == 0 {
                diagnostic = diagnostic.in_component(model.paths.text(found.origin.component));
            }
            let text = format!("in the loop: {}", model.equation_text(equation));
            diagnostic = match found.origin.span {
                Some(span) if place < SHOWN => diagnostic.at(span, text),
                _ => diagnostic.note(text),
            };
        }
        diagnostic
    }

    fn with_equations(&self, model: &Model, mut diagnostic: Diagnostic) -> Diagnostic {
        let equations = self.equations.iter().filter_map(|&equation| model.equations.get(equation));
        if let Some(equation) = equations.clone().next() {
            diagnostic = diagnostic.in_component(model.paths.text(equation.origin.component));
        }
        for span in equations.take(SHOWN).filter_map(|equation| equation.origin.span) {
            diagnostic = diagnostic.at(span, "one of these equations");
        }
        if self.equations.len() > SHOWN {
            diagnostic = diagnostic.note(format!("and {} more equations", self.equations.len() - SHOWN));
        }
        diagnostic
    }

    fn with_iteration(&self, model: &Model, mut diagnostic: Diagnostic) -> Diagnostic {
        for &(variable, value) in self.iteration.iter().take(SHOWN) {
            let start = match model.variables[variable].attributes.start {
                Some(start) => format!("start = {}", model.expression_text(start)),
                None => "no start value".to_owned(),
            };
            let name = model.variable_name(variable);
            diagnostic = diagnostic.note(format!("the iteration ended at {name} = {} ({start})", shown(value)));
        }
        diagnostic
    }

    /// Where the iteration ended, and which start values to change.
    fn with_guesses(&self, model: &Model, diagnostic: Diagnostic) -> Diagnostic {
        if self.iteration.is_empty() {
            return diagnostic;
        }
        let diagnostic = self.with_iteration(model, diagnostic);
        let guesses: Vec<VarId> = self.iteration.iter().map(|&(variable, _)| variable).collect();
        let guesses = names(model, &guesses);
        diagnostic.hint(format!(
            "if there is a solution, start values near it help: give `start = …` to {guesses}; if there is none, look for \
             a wrong parameter or sign in the equations"
        ))
    }
}

/// The equations that are violated most, with what they say for this component.
fn with_residuals(model: &Model, mut diagnostic: Diagnostic, worst: &[(EqId, f64)]) -> Diagnostic {
    for &(id, residual) in worst.iter().take(SHOWN) {
        let Some(equation) = model.equations.get(id) else { continue };
        let component = model.paths.text(equation.origin.component);
        let component = if component.is_empty() { String::new() } else { format!(" in component `{component}`") };
        let text = format!("off by {}{component}: {}", shown(residual), model.equation_text(id));
        diagnostic = match equation.origin.span {
            Some(span) => diagnostic.at(span, text),
            None => diagnostic.note(text),
        };
    }
    diagnostic
}

/// The variables that a user gave names, all where there are none; and how many they are.
fn shown_names(model: &Model, variables: &[VarId]) -> (usize, String) {
    let visible: Vec<VarId> = variables.iter().copied().filter(|&id| !model.variables[id].hidden).collect();
    let shown = if visible.is_empty() { variables } else { &visible };
    (shown.len(), names(model, shown))
}

fn names(model: &Model, variables: &[VarId]) -> String {
    let shown: Vec<String> = variables.iter().take(NAMED).map(|&id| model.variable_name(id)).collect();
    let more = if variables.len() > NAMED { format!(" and {} more", variables.len() - NAMED) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// A number with as many digits as matter in a message.
fn shown(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    Decimal(rounded).to_string()
}
