//! Files of other languages: which front end reads a file is decided by its ending, their classes and Modelica's use each
//! other, and messages name the file that the user wrote.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use base::{Diagnostic, FileId, Span, Translated};
use session::{Disk, FrontEnd, Request, Session};

/// A language of laws: each line `x' = EXPRESSION` is the derivative of a variable that begins at zero. The class has the
/// name of the file.
struct Laws;

impl FrontEnd for Laws {
    fn ending(&self) -> &'static str {
        "laws"
    }

    fn translate(&self, file: FileId, path: &Path, text: &str) -> (Translated, Vec<Diagnostic>) {
        let span = |part: &str| {
            let start = part.as_ptr() as usize - text.as_ptr() as usize;
            Span::new(file, start as u32, (start + part.len()) as u32)
        };
        let name = path.file_stem().unwrap().to_string_lossy();
        let (mut diagnostics, mut laws) = (Vec::new(), Vec::new());
        for line in text.lines() {
            match line.split_once("' = ") {
                Some(law) => laws.push(law),
                None => diagnostics.push(Diagnostic::error("no-law", "this is no law").at(span(line), "")),
            }
        }
        let mut made = Translated::new(span(text));
        made.write(&format!("model {name}"));
        for (variable, _) in &laws {
            made.write("\n  Real ");
            made.copy(span(variable), variable);
            made.write("(start = 0, fixed = true);");
        }
        made.write("\nequation");
        for (variable, value) in &laws {
            made.write_for(span(variable), &format!("\n  der({variable}) = "));
            made.copy(span(value), value);
            made.write(";");
        }
        made.write(&format!("\nend {name};\n"));
        (made, diagnostics)
    }
}

fn session(files: &[(&str, &str)]) -> Session {
    let mut session = Session::new(Box::new(Disk));
    session.add_front_end(Box::new(Laws));
    for (path, text) in files {
        session.replace_text(path, Some((*text).into()));
    }
    session
}

fn flat(session: &mut Session, target: &str, more: &[&str]) -> String {
    let more = more.iter().map(|path| path.into()).collect();
    let request = Request { target: target.to_owned(), more, ..Request::default() };
    match session.flatten(&request) {
        Ok(model) => dae::modelica_text(&model, None),
        Err(_) => session.diagnostics.iter().map(|said| said.render(session.sources())).collect(),
    }
}

#[test]
fn the_ending_decides_about_the_language() {
    let mut session = session(&[("Fall.laws", "v' = -9.81\nx' = v")]);
    let text = flat(&mut session, "Fall.laws", &[]);
    assert!(text.contains("der(v) = -9.81") && text.contains("der(x) = v"), "{text}");
}

#[test]
fn mistakes_are_reported_in_the_file_that_was_written() {
    let mut session = session(&[("Fall.laws", "v' = -9.81\nx' = 2*w")]);
    let said = flat(&mut session, "Fall.laws", &[]);
    assert!(said.contains("Fall.laws:2:8") && said.contains("x' = 2*w") && said.contains("`w`"), "{said}");

    session.replace_text("Fall.laws", Some("v' = -9.81\nx = v".into()));
    let said = flat(&mut session, "Fall.laws", &[]);
    assert!(said.contains("Fall.laws:2:1") && said.contains("this is no law"), "{said}");
}

#[test]
fn classes_of_several_languages_use_each_other() {
    let mut session = session(&[
        ("Fall.laws", "v' = -9.81\nx' = v"),
        ("two.mo", "model Two Fall a; Fall b; Real distance = a.x - b.x; end Two;"),
    ]);
    let text = flat(&mut session, "two.mo", &["Fall.laws"]);
    assert!(text.contains("der('b.x') = 'b.v'"), "{text}");
}
