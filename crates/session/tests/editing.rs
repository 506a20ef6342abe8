//! A session that lives: texts are replaced as an editor does, and each call sees what is there then.
#![allow(clippy::unwrap_used)]

use session::{MemoryFiles, Request, Session};

/// A library in a folder, and the user's file.
const FILES: [(&str, &str); 3] = [
    ("lib/Lib/package.mo", "package Lib end Lib;"),
    ("lib/Lib/Gain.mo", "within Lib; block Gain parameter Real k = 2; input Real u; output Real y = k*u; end Gain;"),
    ("case.mo", "model Case Lib.Gain gain(u = time); end Case;"),
];

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
    let mut session = Session::new(Box::new(MemoryFiles::from_iter(FILES)));
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
    let mut session = Session::new(Box::new(MemoryFiles::from_iter(FILES)));
    session.replace_text("new.mo", Some("model New Real x = time; end New;".into()));
    assert!(flat(&mut session, "new.mo").contains("x = time"));
}

/// Thousands of edits leave as many files behind as there are.
#[test]
fn edits_do_not_pile_up() {
    let mut session = Session::new(Box::new(MemoryFiles::from_iter(FILES)));
    flat(&mut session, "case.mo");
    let files = session.sources().len();
    for k in 0..100 {
        session.replace_text("case.mo", Some(format!("model Case Lib.Gain gain(u = {k}*time); end Case;").into()));
        let text = flat(&mut session, "case.mo");
        assert!(text.contains("'gain.k' = 2"), "{text}");
    }
    assert_eq!(session.sources().len(), files);
}
