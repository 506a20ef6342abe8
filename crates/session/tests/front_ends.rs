//! Files of other languages: which front end reads a file is decided by its ending, their classes and Modelica's use each
//! other, and messages name the file that the user wrote.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use base::{Diagnostic, FileId, Span, Translated};
use results::MemorySink;
use session::{Disk, EventLog, Failed, FrontEnd, Request, Session, Settings};

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

const OSCILLATOR: &str = "bondgraph Oscillator
Se F = 3 \"N\"
1 v
I m = 0.5 \"kg\"
C k = 0.25 \"m/N\"
F -> v -> m, k
output k.q
";

/// A bond graph is a model as any other: the position of an undamped oscillator under a constant force.
#[test]
fn bond_graphs_run() {
    let mut session = session(&[("oscillator.bond", OSCILLATOR)]);
    let request = Request { target: "oscillator.bond".to_owned(), ..Request::default() };
    let model = session.flatten(&request).unwrap();
    let settings = Settings { stop_time: Some(1.0), ..Settings::default() };
    let options = settings.resolve(&model.experiment).unwrap();
    let program = session.structure(model).and_then(|schedule| session.compile(schedule)).unwrap();
    let mut sink = MemorySink::default();
    let (log, all) = (&mut EventLog::none(), &|_: &str| true);
    session.simulate(&program, &options, all, &mut sink, log, &mut |_: f64| true).unwrap();
    let expected = 0.75 * (1.0 - (8.0f64.sqrt() * 1.0).cos());
    let found = sink.trajectories.last("k.q").unwrap();
    assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
}

#[test]
fn mistakes_in_bond_graphs_show_their_place() {
    let mut session = session(&[("two.bond", &OSCILLATOR.replace("F -> v", "F -> v -> Sf w = 2, Sf u = 1\nv"))]);
    let said = flat(&mut session, "two.bond", &[]);
    assert!(said.contains("causal-conflict") && said.contains("two.bond:6:") && said.contains("path:"), "{said}");
}

#[test]
fn bond_graphs_become_modelica() {
    let mut session = session(&[("oscillator.bond", OSCILLATOR)]);
    let text = session.translate("oscillator.bond").unwrap();
    session.replace_text("copy.mo", Some(text.as_str().into()));
    let (there, here) = (flat(&mut session, "copy.mo", &[]), flat(&mut session, "oscillator.bond", &[]));
    let equations = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains(" = ") && line.ends_with(';'));
        lines.map(|line| line.trim().to_owned()).collect()
    };
    assert_eq!(equations(&there), equations(&here));
    assert!(equations(&here).len() > 6, "{here}");
    assert!(matches!(session.translate("copy.mo"), Err(Failed::Call(message)) if message.contains("`.bond`")));
}
