//! Assertions of level warning (specification 8.3.7): the run goes on, and each is reported once, with the first time at which it
//! did not hold and how often it began to fail.

use base::{Decimal, Diagnostic, Span};
use dae::{Action, Model, PathId};

use crate::places::at_origin;

#[derive(Clone, Debug, Default)]
pub struct AssertionWarnings {
    list: Vec<Failing>,
}

/// An assertion that failed.
#[derive(Clone, Debug)]
struct Failing {
    component: PathId,
    span: Option<Span>,
    first: f64,
    text: String,
    /// As it was found first, without the count.
    diagnostic: Diagnostic,
    /// How often it began to fail.
    times: u64,
    fails: bool,
}

impl AssertionWarnings {
    /// The assertion holds.
    pub fn holds(&mut self, action: &Action) {
        if let Some(known) = self.find(action) {
            known.fails = false;
        }
    }

    /// The assertion fails; `text` makes its message.
    pub fn fails<E>(
        &mut self,
        model: &Model,
        action: &Action,
        time: f64,
        text: impl FnOnce() -> Result<String, E>,
    ) -> Result<(), E> {
        if let Some(known) = self.find(action) {
            known.times += u64::from(!known.fails);
            known.fails = true;
            return Ok(());
        }
        let diagnostic = Diagnostic::warning("assertion-warning", "").specification("8.3.7");
        self.list.push(Failing {
            component: action.origin.component,
            span: action.origin.span,
            first: time,
            text: text()?,
            diagnostic: at_origin(model, &action.origin, "this does not hold", diagnostic),
            times: 1,
            fails: true,
        });
        Ok(())
    }

    fn find(&mut self, action: &Action) -> Option<&mut Failing> {
        let origin = &action.origin;
        self.list.iter_mut().find(|known| known.component == origin.component && known.span == origin.span)
    }

    /// How often assertions began to fail.
    pub fn count(&self) -> u64 {
        self.list.iter().map(|failing| failing.times).sum()
    }

    pub fn diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        self.list.iter().map(|failing| {
            let (text, first) = (&failing.text, Decimal(failing.first));
            let again = match failing.times {
                1 => String::new(),
                times => format!(", {times} times in all"),
            };
            let message = format!("{text} (an assertion of level warning fails at time {first}{again})");
            Diagnostic { message, ..failing.diagnostic.clone() }
        })
    }
}
