//! A session that lives: texts are replaced as an editor does, and each call sees what is there then.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use session::{Files, Request, Session};

/// A library in a folder, and the user's file.
struct Folder;

const FILES: [(&str, &str); 3] = [
    ("lib/Lib/package.mo", "package Lib end Lib;"),
    ("lib/Lib/Gain.mo", "within Lib; block Gain parameter Real k = 2; input Real u; output Real y = k*u; end Gain;"),
    ("case.mo", "model Case Lib.Gain gain(u = time); end Case;"),
];

impl Files for Folder {
    fn read(&self, path: &Path) -> std::io::Result<String> {
        let found = FILES.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    fn list(&self, path: &Path) -> Vec<(String, bool)> {
        let names: &[(&str, bool)] = match path.to_str() {
            Some("lib") => &[("Lib", true)],
            Some("lib/Lib") => &[("Gain.mo", false), ("package.mo", false)],
            _ => &[],
        };
        names.iter().map(|&(name, is_folder)| (name.to_owned(), is_folder)).collect()
    }

    fn exists(&self, path: &Path) -> bool {
        FILES.iter().any(|(name, _)| Path::new(name).starts_with(path))
    }
}

fn request(target: &str) -> Request {
    Request { target: target.to_owned(), libraries: vec!["lib".into()], ..Request::default() }
}

/// The equations and values of the flat model, or what is wrong with it.
fn flat(session: &mut Session, target: &str) -> String {
    match session.flatten(&request(target)) {
        Ok(model) => dae::modelica_text(&model, None),
        Err(_) => session.diagnostics.iter().map(|said| said.render(session.sources())).collect(),
    }
}

#[test]
fn every_call_sees_the_texts_of_its_time() {
    let mut session = Session::new(Box::new(Folder));
    assert!(flat(&mut session, "case.mo").contains("'gain.k' = 2"));

    // A mistake, with its place in the new text.
    session.replace_text("case.mo", Some("model Case\n  Lib.Gain gain(u = tim);\nend Case;".into()));
    let said = flat(&mut session, "case.mo");
    assert!(said.contains("case.mo:2:21") && said.contains("`tim`"), "{said}");
    assert_eq!(flat(&mut session, "case.mo"), said, "it is said each time");

    // Syntax errors too.
    session.replace_text("case.mo", Some("model Case Lib.Gain gain(u = ; end Case;".into()));
    let said = flat(&mut session, "case.mo");
    assert!(said.contains("case.mo:1:30"), "{said}");
    assert_eq!(flat(&mut session, "case.mo"), said);

    // A class of the library.
    session.replace_text("case.mo", Some("model Other Lib.Gain gain(u = 2*time); end Other;".into()));
    session.replace_text(
        "lib/Lib/Gain.mo",
        Some("within Lib; block Gain parameter Real k = 5; input Real u; output Real y = k*u; end Gain;".into()),
    );
    assert!(flat(&mut session, "case.mo").contains("'gain.k' = 5"));

    // The files as they are on disk.
    session.replace_text("case.mo", None);
    session.replace_text("lib/Lib/Gain.mo", None);
    assert!(flat(&mut session, "case.mo").contains("'gain.k' = 2"));
}

#[test]
fn a_text_needs_no_file() {
    let mut session = Session::new(Box::new(Folder));
    session.replace_text("new.mo", Some("model New Real x = time; end New;".into()));
    assert!(flat(&mut session, "new.mo").contains("x = time"));
}

/// Thousands of edits leave as many files behind as there are.
#[test]
fn edits_do_not_pile_up() {
    let mut session = Session::new(Box::new(Folder));
    flat(&mut session, "case.mo");
    let files = session.sources().len();
    for k in 0..100 {
        session.replace_text("case.mo", Some(format!("model Case Lib.Gain gain(u = {k}*time); end Case;").into()));
        let text = flat(&mut session, "case.mo");
        assert!(text.contains("'gain.k' = 2"), "{text}");
    }
    assert_eq!(session.sources().len(), files);
}
