//! `check` of any class: what can be said about a model, a component, a partial class, a function, a package.
//!
//! A model that is complete is checked up to its sorted equations. Of everything else the text, the types and the sizes are
//! checked; a component with open connectors, a partial class or one that waits for an `inner` element is sound as far as that goes.
//! A package is checked class by class, and so is a file with several classes. A class with a syntax error in it is left out, so that it does not hide what is
//! wrong in others.

use std::path::Path;

use base::{Diagnostic, Span};
use lang::{DefId, Libraries, OpenEnds, Overrides, Purpose};
use serde::Serialize;
use transform::Schedule;

use crate::pipeline::{Failed, Request, Session};
use crate::stage::Stage;
use crate::summary::Flat;
use crate::target::{Choice, can_be_simulated, lookup};

/// What came out.
pub enum Checked {
    /// A model that can be simulated.
    Model(Flat, Box<Schedule>),
    /// Other classes, one after the other.
    Classes(Vec<Inspected>),
}

/// What can be said about a class.
#[derive(Clone, Serialize, Debug)]
pub struct Inspected {
    /// The full name.
    pub class: String,
    /// `function`, `partial model` and so on.
    pub kind: String,
    /// What came out.
    pub verdict: Verdict,
}

/// What came out of a check.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A model that can be simulated.
    Complete,
    /// Nothing is wrong as far as the class can be checked alone.
    Sound,
    /// `Session::diagnostics` say what is wrong.
    Wrong,
}

/// What a class that is no model by itself may lack, because its use will give it.
const LEFT_TO_USE: [&str; 8] = [
    "assertion",
    "derivative-of-input",
    "implicit-inner",
    "missing-inner",
    "no-value",
    "partial-class",
    "partial-function",
    "unknown-size",
];
/// What a class may lack whose replacement or heir will give it.
const LEFT_TO_HEIRS: [&str; 4] = ["constant-without-value", "not-constant", "over-determined", "under-determined"];

impl Session {
    /// Checks the class that a call means, of whatever kind it is.
    pub fn check(&mut self, request: &Request) -> Result<Checked, Failed> {
        // Who names a folder means the package.
        let path = Path::new(&request.target);
        let is_package = path.ends_with("package.mo") || self.libraries.exists(&path.join("package.mo"));
        let overrides = self.open(request, if is_package { Choice::Whole } else { Choice::ModelFirst })?;
        let name = self.class.clone();
        let Some(class) = lookup(&mut self.libraries, &name) else { return self.check_model(&overrides) };
        let errors = self.libraries.diagnostics.iter().filter(|said| said.is_error());
        let misspelled: Vec<Span> = errors.filter_map(|said| said.labels.first()).map(|label| label.span).collect();
        let in_file = self.in_file.clone();
        let mut tops: Vec<DefId> = in_file.iter().filter_map(|name| lookup(&mut self.libraries, name)).collect();
        if tops.is_empty() {
            tops.push(class);
        }
        let is_alone = in_file.is_empty() || tops == [class] && self.libraries.get(class).class_names.is_empty();
        let is_hidden = !misspelled.is_empty() && !has_one_of(&self.libraries, class, &[], &misspelled);
        if can_be_simulated(&self.libraries, class) && is_alone && !is_hidden {
            return self.check_model(&overrides);
        }
        if can_be_simulated(&self.libraries, class) && misspelled.is_empty() {
            return self.check_with_others(class, tops, &overrides);
        }
        let said = std::mem::take(&mut self.libraries.diagnostics);
        self.keep(said);
        let inspected = self.inspect_all(tops, None, &overrides, &misspelled);
        self.class = name;
        // A mistake in another class of the files counts too.
        let is_sound = inspected.iter().all(|one| one.verdict != Verdict::Wrong)
            && !self.diagnostics.iter().any(Diagnostic::is_error);
        self.stage = if is_sound { Stage::Done } else { Stage::Flatten };
        Ok(Checked::Classes(inspected))
    }

    /// The class that a file is about, and all others in it: where nothing is wrong with these, what the first came to.
    fn check_with_others(&mut self, class: DefId, tops: Vec<DefId>, overrides: &Overrides) -> Result<Checked, Failed> {
        let first = self.check_model(overrides);
        let (name, stage) = (self.class.clone(), self.stage);
        let mut inspected = self.inspect_all(tops, Some(class), overrides, &[]);
        (self.class, self.stage) = (name.clone(), stage);
        let verdict = match &first {
            Err(_) => return first,
            Ok(_) if inspected.iter().all(|one| one.verdict != Verdict::Wrong) => return first,
            Ok(Checked::Model(..)) => Verdict::Complete,
            Ok(Checked::Classes(_)) => Verdict::Sound,
        };
        inspected.insert(0, Inspected { class: name, kind: kind_text(&self.libraries, class), verdict });
        self.stage = Stage::Flatten;
        Ok(Checked::Classes(inspected))
    }

    /// Checks classes and those inside of them, but for one that is known already.
    fn inspect_all(
        &mut self,
        tops: Vec<DefId>,
        known: Option<DefId>,
        overrides: &Overrides,
        misspelled: &[Span],
    ) -> Vec<Inspected> {
        let mut inspected = Vec::new();
        let has_users = known.is_some() || tops.len() > 1;
        let mut rest: Vec<DefId> = tops.into_iter().rev().collect();
        while let Some(class) = rest.pop() {
            let names = self.libraries.get(class).class_names.clone();
            let inner: Vec<DefId> = names.into_iter().filter_map(|name| self.libraries.class(class, name)).collect();
            if known != Some(class) {
                inspected.push(self.inspect(class, &inner, overrides, misspelled, has_users));
            }
            rest.extend(inner.into_iter().rev());
        }
        inspected
    }

    /// A model or a component, up to its sorted equations.
    fn check_model(&mut self, overrides: &Overrides) -> Result<Checked, Failed> {
        self.check_counted(overrides).0
    }

    /// The same, and whether it has fewer equations than unknowns.
    fn check_counted(&mut self, overrides: &Overrides) -> (Result<Checked, Failed>, bool) {
        let before = self.diagnostics.len();
        let mut flat = None;
        let outcome = self.flatten_class(overrides).and_then(|model| {
            flat = Some(Flat::of(&model));
            self.structure(model)
        });
        self.stage = if outcome.is_ok() { Stage::Done } else { self.stage };
        let is_short = flat.as_ref().is_some_and(|flat| flat.equations < flat.unknowns);
        let checked = match (outcome, flat) {
            (Ok(schedule), Some(flat)) => Ok(Checked::Model(flat, Box::new(schedule))),
            (Err(Failed::Model), flat) if self.lacks_only_its_use(before, flat) => Ok(self.sound(before)),
            (Err(failed), _) => Err(failed),
            (Ok(_), None) => Err(Failed::Model),
        };
        (checked, is_short)
    }

    /// Whether all that was said since `before` is no mistake of the class at hand.
    fn lacks_only_its_use(&mut self, before: usize, flat: Option<Flat>) -> bool {
        let name = self.class.clone();
        let Some(class) = lookup(&mut self.libraries, &name) else { return false };
        let is_unfinished = is_left_to_heirs(&self.libraries, class);
        // The equations of a component that is connected to nothing need not have a solution, but they are as many as
        // unknowns.
        let is_balanced = match self.open_ends {
            OpenEnds::None => false,
            OpenEnds::Balanced => flat.is_some_and(|flat| flat.equations == flat.unknowns),
            OpenEnds::Overdetermined => true,
        };
        let is_component = self.open_ends != OpenEnds::None || !can_be_simulated(&self.libraries, class);
        self.diagnostics[before..].iter().filter(|said| said.is_error()).all(|said| {
            let is_structural = matches!(said.code, "over-determined" | "under-determined");
            is_structural && is_balanced
                || (is_component || is_unfinished) && LEFT_TO_USE.contains(&said.code)
                || is_unfinished && LEFT_TO_HEIRS.contains(&said.code)
        })
    }

    /// Whether all that was said since `before` is that equations are missing, which the use of the class may have. Connectors that are
    /// connected to nothing can have equations that contradict each other as long as others are missing.
    fn lacks_only_equations(&self, before: usize, is_short: bool) -> bool {
        let is_open = is_short && self.open_ends != OpenEnds::None;
        let mut errors = self.diagnostics[before..].iter().filter(|said| said.is_error());
        errors.all(|said| said.code == "under-determined" || is_open && said.code == "over-determined")
    }

    /// The class at hand is sound; errors from `before` on are what its use will mend.
    fn sound(&mut self, before: usize) -> Checked {
        let mut position = 0;
        self.diagnostics.retain(|said| {
            position += 1;
            position <= before || !said.is_error()
        });
        self.stage = Stage::Done;
        let class = self.class.clone();
        let kind =
            lookup(&mut self.libraries, &class).map_or_else(String::new, |class| kind_text(&self.libraries, class));
        Checked::Classes(vec![Inspected { class, kind, verdict: Verdict::Sound }])
    }

    /// Checks one class of several, without those inside of it. A class that others beside it may use can leave equations to
    /// them.
    fn inspect(
        &mut self,
        class: DefId,
        inner: &[DefId],
        overrides: &Overrides,
        misspelled: &[Span],
        has_users: bool,
    ) -> Inspected {
        let definition = self.libraries.get(class);
        self.class = definition.name.to_string();
        let (kind, name) = (kind_text(&self.libraries, class), self.class.clone());
        let mut verdict = Verdict::Wrong;
        if !has_one_of(&self.libraries, class, inner, misspelled) {
            let before = self.diagnostics.len();
            verdict = match can_be_simulated(&self.libraries, class) {
                true => match self.check_counted(overrides) {
                    (Ok(Checked::Model(..)), _) => Verdict::Complete,
                    (Ok(Checked::Classes(_)), _) => Verdict::Sound,
                    (Err(_), is_short) if has_users && self.lacks_only_equations(before, is_short) => {
                        self.sound(before);
                        Verdict::Sound
                    }
                    (Err(_), _) => Verdict::Wrong,
                },
                false => self.inspect_unfinished(overrides),
            };
            self.say_once(before);
        }
        Inspected { class: name, kind, verdict }
    }

    /// A class that cannot be simulated: its types, sizes and equations as they are written.
    fn inspect_unfinished(&mut self, overrides: &Overrides) -> Verdict {
        let before = self.diagnostics.len();
        let overrides = Overrides { purpose: Purpose::Inspection, ..overrides.clone() };
        match self.flatten_class(&overrides) {
            Ok(_) => Verdict::Sound,
            Err(_) if self.lacks_only_its_use(before, None) => {
                self.sound(before);
                Verdict::Sound
            }
            Err(_) => Verdict::Wrong,
        }
    }

    /// What several classes meet, such as a mistake in their common base, is said once.
    fn say_once(&mut self, before: usize) {
        let new = self.diagnostics.split_off(before);
        for said in new {
            let place = |said: &Diagnostic| (said.code, said.labels.first().map(|label| label.span));
            if !self.diagnostics.iter().any(|known| place(known) == place(&said)) {
                self.diagnostics.push(said);
            }
        }
    }
}

/// Whether the text of a class has one of these places outside of the classes inside of it.
fn has_one_of(libraries: &Libraries, class: DefId, inner: &[DefId], places: &[Span]) -> bool {
    let contains = |class: DefId, place: Span| libraries.get(class).class.span.contains(place);
    places.iter().any(|&place| contains(class, place) && !inner.iter().any(|&inner| contains(inner, place)))
}

/// Whether the class, or one that it is in, is partial or to be replaced.
fn is_left_to_heirs(libraries: &Libraries, class: DefId) -> bool {
    let mut next = Some(class);
    while let Some(class) = next {
        let definition = libraries.get(class);
        if definition.class.partial || definition.class.prefixes.replaceable {
            return true;
        }
        next = definition.parent;
    }
    false
}

/// `partial model`, `function`.
fn kind_text(libraries: &Libraries, class: DefId) -> String {
    let class = &libraries.get(class).class;
    if class.partial { format!("partial {}", class.kind) } else { class.kind.to_string() }
}
