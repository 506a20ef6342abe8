//! What the program has to say about a model: a code, a headline, the places, and what to do.
//!
//! Every stage reports with this one type, so that every message names the component, the file and the line.

use std::fmt::Write as _;

use crate::{Decimal, SourceMap, Span};

/// How serious a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Something to know; nothing is wrong.
    Note,
    /// The result may not be what the user wants.
    Warning,
    /// There is no result.
    Error,
}

impl Severity {
    /// The word in messages.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A place with what is to be said about it. The first label of a diagnostic is the primary one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is to be said about it; may be empty.
    pub text: String,
}

/// One message about a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// A stable short name such as `unknown-name`, to search for and to silence by.
    pub code: &'static str,
    /// One line that stands alone.
    pub message: String,
    /// The places, the primary one first.
    pub labels: Vec<Label>,
    /// The component path in which it happened (`motor.R1`), where there is one.
    pub component: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// Further lines, such as the list of equations of a singular system.
    pub notes: Vec<String>,
    /// The section of the Modelica specification that says so, such as `5.3.1`.
    pub specification: Option<&'static str>,
    /// A warning that something was decided which the model leaves open: `--strict` makes an error of it.
    pub decides: bool,
    /// The message names the simulated time at which it happened.
    pub names_time: bool,
}

impl Diagnostic {
    /// A diagnostic without places.
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity,
            code,
            message: message.into(),
            labels: Vec::new(),
            component: None,
            hint: None,
            notes: Vec::new(),
            specification: None,
            decides: false,
            names_time: false,
        }
    }

    /// An error without places.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning without places.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// A rule of the language is broken, and what is meant is plain all the same: a warning, which `--strict` refuses.
    pub fn breach(code: &'static str, message: impl Into<String>) -> Self {
        Self::warning(code, message).decides()
    }

    /// Adds a place; the first one added is the primary place.
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// The empty path is the model itself and needs no mention.
    pub fn in_component(mut self, path: impl Into<String>) -> Self {
        self.component = Some(path.into()).filter(|path| !path.is_empty());
        self
    }

    /// Says what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a further line.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Names the section of the Modelica specification that says so.
    pub fn specification(mut self, section: &'static str) -> Self {
        self.specification = Some(section);
        self
    }

    /// Something was decided which the model leaves open.
    pub fn decides(mut self) -> Self {
        self.decides = true;
        self
    }

    /// The message names the simulated time at which it happened.
    pub fn names_time(mut self) -> Self {
        self.names_time = true;
        self
    }

    /// Adds the simulated time to the message, unless it names one.
    pub fn with_time(mut self, time: f64) -> Self {
        if !std::mem::replace(&mut self.names_time, true) {
            self.message = format!("{} at time {}", self.message, Decimal(time));
        }
        self
    }

    /// What was decided with a warning, refused.
    pub fn refused(mut self) -> Self {
        self.severity = Severity::Error;
        self
    }

    /// A rule whose breach leaves the meaning plain in this case, though not in all.
    pub fn tolerated(mut self) -> Self {
        self.severity = Severity::Warning;
        self.decides()
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The message with its places as text for a terminal, without colour:
    ///
    /// ```text
    /// error[unknown-name]: there is no `Resistr` in scope
    ///   --> circuit.mo:4:3 (in component `motor`)
    ///    |
    ///  4 |   Resistr R1;
    ///    |   ^^^^^^^ not found
    ///    = help: did you mean `Resistor`?
    /// ```
    pub fn render(&self, sources: &SourceMap) -> String {
        let severity = self.severity.name();
        let mut out = format!("{severity}[{}]: {}\n", self.code, self.message);
        for (index, label) in self.labels.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| &self.labels[before]);
            let same_line = before.is_some_and(|before| {
                let line = |label: &Label| sources.file(label.span.file).position(label.span.start).line;
                before.span.file == label.span.file && line(before) == line(label)
            });
            let says_nothing_new = before.is_some_and(|before| before.span == label.span && label.text.is_empty());
            if !says_nothing_new {
                self.render_label(&mut out, sources, label, index == 0, same_line);
            }
        }
        if self.labels.is_empty()
            && let Some(component) = &self.component
        {
            let _ = writeln!(out, "  in component `{component}`");
        }
        for note in &self.notes {
            let _ = writeln!(out, "   = {}", note.replace('\n', "\n     "));
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(out, "   = help: {hint}");
        }
        if let Some(section) = self.specification.filter(|_| self.concerns_modelica(sources)) {
            let _ = writeln!(out, "   = see: Modelica specification, section {section}");
        }
        out
    }

    /// Whether the text is Modelica that the user wrote: other languages have definitions of their own.
    pub fn concerns_modelica(&self, sources: &SourceMap) -> bool {
        let ending = self.labels.first().and_then(|label| sources.file(label.span.file).path.extension());
        ending.is_none_or(|ending| ending == "mo")
    }

    /// A label on the line of the one before is a further mark below that line.
    fn render_label(&self, out: &mut String, sources: &SourceMap, label: &Label, primary: bool, same_line: bool) {
        let file = sources.file(label.span.file);
        let start = file.position(label.span.start);
        let end = file.position(label.span.end);
        let arrow = if primary { "-->" } else { ":::" };
        let component = match &self.component {
            Some(component) if primary => format!(" (in component `{component}`)"),
            _ => String::new(),
        };
        let line = file.line(start.line);
        let last = if end.line == start.line { end.column } else { line.chars().count() as u32 + 1 };
        let width = last.saturating_sub(start.column).max(1) as usize;
        let number = start.line.to_string();
        let margin = " ".repeat(number.len());
        let indent: String =
            line.chars().take(start.column as usize - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let mark = if primary { "^" } else { "-" }.repeat(width);
        if !same_line {
            let path = file.path.display();
            let _ = writeln!(
                out,
                " {margin}{arrow} {path}:{}:{}{component}\n {margin} |\n {number} | {line}",
                start.line, start.column
            );
        }
        let _ = writeln!(out, " {margin} | {indent}{mark} {}", label.text);
        while out.ends_with(" \n") {
            out.truncate(out.len() - 2);
            out.push('\n');
        }
    }
}
