//! One random model and what must come out of it.

use session::Settings;

use crate::run::{Run, run};

/// What is wrong with a run, in one line.
pub type Verdict = Result<(), String>;

/// A model as text, how to run it, and the judge of its run.
pub struct Case {
    pub text: String,
    pub settings: Settings,
    pub judge: Box<dyn Fn(&Run) -> Verdict>,
}

impl Case {
    /// A case that is judged only if the run reaches its stop time; everything else is a failure.
    pub fn complete(text: String, settings: Settings, judge: impl Fn(&Run) -> Verdict + 'static) -> Self {
        let judge = move |run: &Run| {
            if run.is_complete() { judge(run) } else { Err(format!("it stopped: {}", run.ending())) }
        };
        Self { text, settings, judge: Box::new(judge) }
    }

    /// Runs the model and judges it.
    pub fn check(&self) -> Verdict {
        (self.judge)(&run(&self.text, &self.settings)?)
    }
}
