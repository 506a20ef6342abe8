//! The programs of a study: one for all variants as a rule, more where values change the structure of the model.
//!
//! A value that only tunes is given to the program at the start of a run. Where it changes the structure of the equations, they are
//! sorted and compiled once more; where it is part of the text, such as the size of an array, the model is translated anew. What was
//! made is kept for the variants that follow.

use std::sync::{Arc, Mutex, PoisonError};

use base::Diagnostic;
use compile::{Misfit, Program};
use dae::VarId;
use session::{Failed, Request, RunOptions, Session};

use super::super::beginning::Beginning;

/// As many programs of each kind are kept.
const KEPT: usize = 16;

/// A translated model with the options of its runs.
pub struct Translation {
    flat: Arc<dae::Model>,
    /// What the transformations did.
    transform: transform::Options,
    /// For the equations in each of their structures.
    programs: Mutex<Vec<Arc<Ready>>>,
}

/// A program that can run.
pub struct Ready {
    pub program: Arc<Program>,
    pub options: RunOptions,
}

/// Why there is no program: one line.
pub type Reason = String;

/// A translation with the texts that it was made with.
type Made = (Vec<(String, String)>, Arc<Translation>);

pub struct Programs {
    base: Arc<Translation>,
    others: Mutex<Vec<Made>>,
    pub request: Request,
    pub sessions: Box<dyn Fn() -> Session + Send + Sync>,
    pub options: RunOptions,
    pub beginning: Beginning,
}

impl Programs {
    pub fn new(
        (flat, program): (Arc<dae::Model>, Arc<Program>),
        request: Request,
        sessions: impl Fn() -> Session + Send + Sync + 'static,
        options: RunOptions,
        beginning: Beginning,
    ) -> Result<(Self, Vec<Diagnostic>), Reason> {
        let mut first = options.clone();
        let warnings = beginning.apply(&program, &mut first)?;
        let transform = transform::Options { inline_step: options.inline_step(), ..request.transform.clone() };
        let ready = Arc::new(Ready { program, options: first });
        let base = Arc::new(Translation { flat, transform, programs: Mutex::new(vec![ready]) });
        let sessions = Box::new(sessions);
        Ok((Self { base, others: Mutex::default(), request, sessions, options, beginning }, warnings))
    }

    /// The model as it is.
    pub fn model(&self) -> &dae::Model {
        &self.base.flat
    }

    /// The program of the model as it is.
    pub fn first(&self) -> Arc<Program> {
        locked(&self.base.programs)[0].program.clone()
    }

    /// The program for values that tune and texts that are translated.
    pub fn ready(&self, tuned: &[(VarId, String, f64)], texts: &[(String, String)]) -> Result<Run, Reason> {
        if texts.is_empty() {
            let parameters = tuned.iter().map(|(id, _, value)| (*id, *value)).collect();
            return self.fitting(&self.base, parameters);
        }
        let translation = self.translated(texts)?;
        // Another translation has other numbers for its variables.
        let model = &translation.flat;
        let renumbered = |(_, name, value): &(VarId, String, f64)| {
            let id = model.variables.ids().find(|&id| model.variable_name(id) == *name);
            id.map(|id| (id, *value)).ok_or_else(|| format!("there is no parameter `{name}` in this variant"))
        };
        let parameters = tuned.iter().map(renumbered).collect::<Result<_, _>>()?;
        self.fitting(&translation, parameters)
    }

    fn fitting(&self, translation: &Translation, parameters: Vec<(VarId, f64)>) -> Result<Run, Reason> {
        let known: Vec<Arc<Ready>> = locked(&translation.programs).clone();
        for ready in &known {
            match ready.program.fit(&parameters) {
                Ok(()) => return Ok(Run { ready: ready.clone(), parameters: parameters.into() }),
                Err(Misfit::Refused(said)) => return Err(first_line(&said.message)),
                Err(Misfit::Structure(_)) => {}
            }
        }
        let made = session::retranslated(&translation.flat, &parameters, &translation.transform);
        let (program, _) = made.map_err(|said| reason(&said))?;
        let mut options = self.options.clone();
        self.beginning.apply(&program, &mut options)?;
        let ready = Arc::new(Ready { program, options });
        let mut programs = locked(&translation.programs);
        // The first one serves most variants.
        if programs.len() >= KEPT {
            programs.remove(1);
        }
        programs.push(ready.clone());
        Ok(Run { ready, parameters: parameters.into() })
    }

    fn translated(&self, texts: &[(String, String)]) -> Result<Arc<Translation>, Reason> {
        if let Some((_, found)) = locked(&self.others).iter().find(|(known, _)| known == texts) {
            return Ok(found.clone());
        }
        let mut request = self.request.clone();
        request.set.retain(|(name, _)| !texts.iter().any(|(other, _)| other == name));
        request.set.extend(texts.iter().cloned());
        let mut session = (self.sessions)();
        let failed = |failed: Failed, session: &Session| match failed {
            Failed::Call(message) => message,
            Failed::Model => reason(&session.diagnostics),
            Failed::Result(error) => error.to_string(),
        };
        let flat = session.flatten(&request).map_err(|it| failed(it, &session))?;
        session.transform.inline_step = self.options.inline_step();
        let schedule = session.structure(flat.clone()).map_err(|it| failed(it, &session))?;
        let program = session.compile(schedule).map_err(|it| failed(it, &session))?;
        let mut options = self.options.clone();
        self.beginning.apply(&program, &mut options)?;
        let made = Arc::new(Translation {
            flat: Arc::new(flat),
            transform: session.transform.clone(),
            programs: Mutex::new(vec![Arc::new(Ready { program, options })]),
        });
        let mut others = locked(&self.others);
        if others.len() >= KEPT {
            others.remove(0);
        }
        others.push((texts.to_vec(), made.clone()));
        Ok(made)
    }
}

/// A program and the values that its parameters have in a variant.
pub struct Run {
    ready: Arc<Ready>,
    parameters: Arc<[(VarId, f64)]>,
}

impl Run {
    pub fn program(&self) -> &Arc<Program> {
        &self.ready.program
    }

    pub fn parameters(&self) -> &[(VarId, f64)] {
        &self.parameters
    }

    pub fn options(&self) -> RunOptions {
        RunOptions { parameters: self.parameters.clone(), ..self.ready.options.clone() }
    }
}

/// What a thread that panicked left behind is whole: only complete values are stored.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first error among what was said.
pub fn reason(said: &[Diagnostic]) -> Reason {
    said.iter().find(|it| it.is_error()).map_or_else(|| "the model is wrong".to_owned(), |it| first_line(&it.message))
}

pub fn first_line(message: &str) -> Reason {
    message.lines().next().unwrap_or_default().to_owned()
}
