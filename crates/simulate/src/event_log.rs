//! The log of a run's events: what triggered, which discrete variables changed to what in which iteration, and the
//! restart, as in the rectifier run of Elmqvist, Cellier and Otter (1993). As text for people or as JSON lines.

use std::io::{self, Write};

use base::Decimal;

use crate::assertion_warnings::AssertionWarnings;

/// One thing that happened.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "the fields have the names that the log has")]
pub enum Entry<'a> {
    Initialised {
        time: f64,
    },
    /// The sign that a relation's residue has at the beginning.
    Initially {
        time: f64,
        expression: &'a str,
        sign: i8,
        residue: f64,
    },
    /// The value with which a discrete variable begins.
    Begins {
        time: f64,
        variable: &'a str,
        value: &'a str,
    },
    /// A relation's residue became positive, negative or zero and made the event.
    Crossing {
        time: f64,
        expression: &'a str,
        sign: i8,
        residue: f64,
    },
    /// A relation's residue got another sign in an iteration of the event.
    Flip {
        time: f64,
        iteration: u32,
        expression: &'a str,
        sign: i8,
    },
    /// A `sample` or another event known in advance.
    TimeEvent {
        time: f64,
        expression: &'a str,
    },
    /// A discrete variable changed in an iteration of the event.
    Change {
        time: f64,
        iteration: u32,
        variable: &'a str,
        from: &'a str,
        to: &'a str,
    },
    Reinit {
        time: f64,
        state: &'a str,
        from: f64,
        to: f64,
    },
    /// A variable was unbounded for an instant.
    Impulse {
        time: f64,
        variable: &'a str,
        value: f64,
    },
    /// A variable jumped in a transition to another mode.
    Jump {
        time: f64,
        variable: &'a str,
        from: f64,
        to: f64,
    },
    /// The model goes over to another mode, or begins in one.
    Mode(&'a ModeChange),
    Message {
        time: f64,
        text: &'a str,
    },
    /// Integration goes on.
    Restart {
        time: f64,
        iterations: u32,
    },
}

/// Modes have numbers in the order in which they are first entered.
#[derive(Clone, PartialEq, Debug)]
pub struct ModeChange {
    pub time: f64,
    /// The mode before; `None` at the start.
    pub left: Option<usize>,
    pub entered: usize,
    /// The conditions of the mode that is entered, and whether they are others than before.
    pub conditions: Vec<(String, bool, bool)>,
    pub decided: Vec<Decision>,
}

/// A relation that changed on the way from one mode to another, and why.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    pub relation: String,
    /// The sign of its residue.
    pub sign: i8,
    /// `impulse`, `value`, `crossing`, `direction` (where a residue at zero goes) or `past` (it stays at zero).
    pub by: &'static str,
}

/// The form of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    JsonLines,
}

/// Takes entries as lines, until somebody fetches them.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// Assertions of level warning that failed.
    pub(crate) assertions: AssertionWarnings,
    format: Option<Format>,
    lines: String,
    /// The time that the last line with one shows.
    shown: Option<f64>,
}

impl Journal {
    /// Whether entries are worth being made.
    pub fn is_active(&self) -> bool {
        self.format.is_some()
    }

    pub fn write(&mut self, entry: &Entry) {
        let Some(format) = self.format else { return };
        let line = match format {
            Format::Text => self.text(entry),
            Format::JsonLines => json(entry),
        };
        self.lines.push_str(&line);
        self.lines.push('\n');
    }

    /// A line for people; the first one of an event begins with its time.
    fn text(&mut self, entry: &Entry) -> String {
        let time = time(entry);
        let is_first = begins_event(entry) || self.shown != Some(time);
        self.shown = Some(time);
        let at = if is_first { Decimal(time).to_string() } else { String::new() };
        format!("{at:<22} {}", text(entry))
    }
}

/// Where the entries of a run go. The first error of the writer is kept and reported at the end.
pub struct EventLog<'w> {
    out: Option<Box<dyn Write + 'w>>,
    format: Format,
    error: Option<io::Error>,
}

impl<'w> EventLog<'w> {
    /// A log that is written to `out`.
    pub fn new(out: impl Write + 'w, format: Format) -> Self {
        Self { out: Some(Box::new(out)), format, error: None }
    }

    /// A log that nobody reads.
    pub fn none() -> Self {
        Self { out: None, format: Format::Text, error: None }
    }

    /// Whether a line is the first of such a log.
    pub fn is_line(line: &str) -> bool {
        line.starts_with("{\"event\":\"")
            || line.ends_with(" initialised")
            || line.contains(" is initially ")
            || (line.contains(" mode ") && line.contains(" entered: "))
    }

    /// A journal for this log.
    pub(crate) fn journal(&self) -> Journal {
        Journal { format: self.out.as_ref().map(|_| self.format), ..Journal::default() }
    }

    /// Writes what the journal holds, and empties it.
    pub(crate) fn append(&mut self, journal: &mut Journal) {
        let Some(out) = self.out.as_mut().filter(|_| self.error.is_none()) else { return };
        if !journal.lines.is_empty() {
            self.error = out.write_all(journal.lines.as_bytes()).err();
            journal.lines.clear();
        }
        if self.error.is_some() {
            journal.format = None;
        }
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.out.as_mut().map_or(Ok(()), |out| out.flush())
    }
}

/// Whether an entry is written with its time, also where the line before has the same one.
fn begins_event(entry: &Entry) -> bool {
    use Entry::*;
    matches!(entry, Initialised { .. } | Crossing { .. } | TimeEvent { .. } | Mode(_) | Message { .. })
}

fn time(entry: &Entry) -> f64 {
    match entry {
        Entry::Mode(change) => change.time,
        Entry::Initialised { time }
        | Entry::Initially { time, .. }
        | Entry::Begins { time, .. }
        | Entry::Crossing { time, .. }
        | Entry::Flip { time, .. }
        | Entry::TimeEvent { time, .. }
        | Entry::Change { time, .. }
        | Entry::Reinit { time, .. }
        | Entry::Impulse { time, .. }
        | Entry::Jump { time, .. }
        | Entry::Message { time, .. }
        | Entry::Restart { time, .. } => *time,
    }
}

fn text(entry: &Entry) -> String {
    match entry {
        Entry::Initialised { .. } => "initialised".to_owned(),
        Entry::Initially { expression, sign, residue, .. } => {
            format!("expression {expression} is initially {} ({})", adjective(*sign), short(*residue))
        }
        Entry::Begins { variable, value, .. } => format!("{variable} is initially {value}"),
        Entry::Crossing { expression, sign, residue, .. } => {
            format!("expression {expression} became {} ({})", adjective(*sign), short(*residue))
        }
        Entry::Flip { iteration, expression, sign, .. } => {
            format!("iteration {iteration}: expression {expression} became {}", adjective(*sign))
        }
        Entry::TimeEvent { expression, .. } => format!("time event {expression}"),
        Entry::Change { iteration, variable, from, to, .. } => {
            format!("iteration {iteration}: {variable} changed from {from} to {to}")
        }
        Entry::Reinit { state, from, to, .. } => format!("{state} set from {from} to {to}"),
        Entry::Impulse { variable, value, .. } => format!("impulse of {value} in {variable}"),
        Entry::Jump { variable, from, to, .. } => format!("{variable} jumps from {from} to {to}"),
        Entry::Mode(change) => mode_text(change),
        Entry::Message { text, .. } => (*text).to_owned(),
        Entry::Restart { iterations, .. } => format!("restart after {iterations} iterations"),
    }
}

fn adjective(sign: i8) -> &'static str {
    ["negative", "zero", "positive"][(sign.signum() + 1) as usize]
}

/// A number whose size is all that matters.
fn short(value: f64) -> String {
    let rounded = format!("{value:.3e}").parse().unwrap_or(value);
    Decimal(rounded).to_string()
}

fn json(entry: &Entry) -> String {
    match entry {
        Entry::Initialised { time } => format!(r#"{{"event":"initialised","time":{time}}}"#),
        Entry::Initially { time, expression, sign, residue } | Entry::Crossing { time, expression, sign, residue } => {
            let event = if matches!(entry, Entry::Crossing { .. }) { "crossing" } else { "initially" };
            let (expression, residue) = (quoted(expression), number(*residue));
            format!(
                r#"{{"event":"{event}","time":{time},"expression":{expression},"sign":{sign},"residue":{residue}}}"#
            )
        }
        Entry::Begins { time, variable, value } => {
            format!(r#"{{"event":"begins","time":{time},"variable":{},"value":{}}}"#, quoted(variable), quoted(value))
        }
        Entry::Flip { time, iteration, expression, sign } => {
            let expression = quoted(expression);
            format!(
                r#"{{"event":"flip","time":{time},"iteration":{iteration},"expression":{expression},"sign":{sign}}}"#
            )
        }
        Entry::TimeEvent { time, expression } => {
            format!(r#"{{"event":"time","time":{time},"expression":{}}}"#, quoted(expression))
        }
        Entry::Change { time, iteration, variable, from, to } => format!(
            r#"{{"event":"change","time":{time},"iteration":{iteration},"variable":{},"from":{},"to":{}}}"#,
            quoted(variable),
            quoted(from),
            quoted(to)
        ),
        Entry::Reinit { time, state, from, to } => format!(
            r#"{{"event":"reinit","time":{time},"state":{},"from":{},"to":{}}}"#,
            quoted(state),
            number(*from),
            number(*to)
        ),
        Entry::Impulse { time, variable, value } => {
            format!(r#"{{"event":"impulse","time":{time},"variable":{},"value":{}}}"#, quoted(variable), number(*value))
        }
        Entry::Jump { time, variable, from, to } => format!(
            r#"{{"event":"jump","time":{time},"variable":{},"from":{},"to":{}}}"#,
            quoted(variable),
            number(*from),
            number(*to)
        ),
        Entry::Mode(change) => mode_json(change),
        Entry::Message { time, text } => {
            format!(r#"{{"event":"message","time":{time},"text":{}}}"#, quoted(text))
        }
        Entry::Restart { time, iterations } => {
            format!(r#"{{"event":"restart","time":{time},"iterations":{iterations}}}"#)
        }
    }
}

/// The conditions that changed; all of them at the start.
fn mode_text(change: &ModeChange) -> String {
    let is_start = change.left.is_none();
    let shown = change.conditions.iter().filter(|(_, _, changed)| is_start || *changed);
    let conditions: Vec<String> = shown.map(|(text, truth, _)| format!("{text} is {truth}")).collect();
    let from = change.left.map_or_else(String::new, |left| format!("mode {left} left, "));
    let mut line = format!("{from}mode {} entered: {}", change.entered, conditions.join(", "));
    if !change.decided.is_empty() {
        let one = |decision: &Decision| format!("{} by its {}", decision.relation, decision.by);
        let decided: Vec<String> = change.decided.iter().map(one).collect();
        line = format!("{line}; decided: {}", decided.join(", "));
    }
    line
}

fn mode_json(change: &ModeChange) -> String {
    let list = |items: Vec<String>| items.join(",");
    let left = change.left.map_or_else(|| "null".to_string(), |left| left.to_string());
    let conditions =
        list(change.conditions.iter().map(|(text, truth, _)| format!("{}:{truth}", quoted(text))).collect());
    let changed =
        list(change.conditions.iter().filter(|condition| condition.2).map(|(text, ..)| quoted(text)).collect());
    let decision = |decision: &Decision| {
        let Decision { relation, sign, by } = decision;
        format!(r#"{{"relation":{},"sign":{sign},"by":"{by}"}}"#, quoted(relation))
    };
    let decided = list(change.decided.iter().map(decision).collect());
    format!(
        r#"{{"event":"mode","time":{},"left":{left},"entered":{},"conditions":{{{conditions}}},"changed":[{changed}],"decided":[{decided}]}}"#,
        change.time, change.entered
    )
}

fn number(value: f64) -> String {
    if value.is_finite() { format!("{value}") } else { "null".into() }
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn log(format: Format) -> String {
        let mut bytes = Vec::new();
        let mut log = EventLog::new(&mut bytes, format);
        let mut journal = log.journal();
        journal.write(&Entry::Crossing { time: 0.5, expression: "diode.s", sign: -1, residue: -1.23456e-12 });
        journal.write(&Entry::Flip { time: 0.5, iteration: 1, expression: "diode.i", sign: 0 });
        journal.write(&Entry::Change { time: 0.5, iteration: 1, variable: "diode.off", from: "false", to: "true" });
        journal.write(&Entry::Reinit { time: 0.5, state: "v", from: -2.0, to: 1.0 });
        journal.write(&Entry::Mode(&ModeChange {
            time: 0.5,
            left: Some(1),
            entered: 3,
            conditions: vec![("diode.off".into(), true, true), ("switch.open".into(), false, false)],
            decided: vec![Decision { relation: "diode.s < 0".into(), sign: -1, by: "impulse" }],
        }));
        journal.write(&Entry::Restart { time: 0.5, iterations: 2 });
        journal.write(&Entry::Change { time: 2.0, iteration: 1, variable: "on", from: "false", to: "true" });
        journal.write(&Entry::Restart { time: 2.0, iterations: 1 });
        log.append(&mut journal);
        log.finish().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn for_people() {
        expect![[r#"
            0.5                    expression diode.s became negative (-1.235e-12)
                                   iteration 1: expression diode.i became zero
                                   iteration 1: diode.off changed from false to true
                                   v set from -2 to 1
            0.5                    mode 1 left, mode 3 entered: diode.off is true; decided: diode.s < 0 by its impulse
                                   restart after 2 iterations
            2                      iteration 1: on changed from false to true
                                   restart after 1 iterations
        "#]]
        .assert_eq(&log(Format::Text));
    }

    #[test]
    fn for_programs() {
        expect![[r#"
            {"event":"crossing","time":0.5,"expression":"diode.s","sign":-1,"residue":-0.00000000000123456}
            {"event":"flip","time":0.5,"iteration":1,"expression":"diode.i","sign":0}
            {"event":"change","time":0.5,"iteration":1,"variable":"diode.off","from":"false","to":"true"}
            {"event":"reinit","time":0.5,"state":"v","from":-2,"to":1}
            {"event":"mode","time":0.5,"left":1,"entered":3,"conditions":{"diode.off":true,"switch.open":false},"changed":["diode.off"],"decided":[{"relation":"diode.s < 0","sign":-1,"by":"impulse"}]}
            {"event":"restart","time":0.5,"iterations":2}
            {"event":"change","time":2,"iteration":1,"variable":"on","from":"false","to":"true"}
            {"event":"restart","time":2,"iterations":1}
        "#]]
        .assert_eq(&log(Format::JsonLines));
    }
}
