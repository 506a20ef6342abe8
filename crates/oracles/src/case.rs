//! One random model and what must come out of it.

use session::Settings;

use crate::run::{Run, run};

/// The methods that choose their own steps.
pub const SOLVERS: [&str; 7] = ["auto", "tsit5", "dop853", "esdirk", "bdf", "dae", "rosenbrock"];

/// What is wrong with a run, in one line.
pub type Verdict = Result<(), String>;

/// A model as text, how to run it, and the judge of its run.
pub struct Case {
    /// The model.
    pub text: String,
    /// How to run it.
    pub settings: Settings,
    /// Compares the run with the oracle.
    pub judge: Box<dyn Fn(&Run) -> Verdict>,
    /// The rows that inputs follow.
    pub inputs: Vec<Input>,
}

/// The name of an input, and its values at times.
pub type Input = (String, Vec<(f64, f64)>);

impl Case {
    /// A case that is judged only if the run reaches its stop time; everything else is a failure.
    pub fn complete(text: String, settings: Settings, judge: impl Fn(&Run) -> Verdict + 'static) -> Self {
        let judge = move |run: &Run| {
            if run.is_complete() { judge(run) } else { Err(format!("it stopped: {}", run.ending())) }
        };
        Self::judged(text, settings, judge)
    }

    /// A case whose judge sees every run.
    pub fn judged(text: String, settings: Settings, judge: impl Fn(&Run) -> Verdict + 'static) -> Self {
        Self { text, settings, judge: Box::new(judge), inputs: Vec::new() }
    }

    /// With signals for inputs.
    pub fn with_inputs(self, inputs: Vec<Input>) -> Self {
        Self { inputs, ..self }
    }

    /// Runs the model and judges it.
    pub fn check(&self) -> Verdict {
        (self.judge)(&run(&self.text, &self.settings, &self.inputs)?)
    }
}

/// Whether `x` ends where it should.
pub fn near(found: f64, expected: f64, allowed: f64) -> Verdict {
    // What is not a number is not near.
    let is_near = (found - expected).abs() <= allowed;
    if is_near { Ok(()) } else { Err(format!("x ends at {found} instead of {expected} (± {allowed:e})")) }
}

/// The declaration of a state with a fixed start value.
pub fn state(name: &str, start: f64) -> String {
    format!("  Real {name}(start = {start:e}, fixed = true);\n")
}
