//! A check of a file checks every class in it.

use gyrator::Session;

/// The codes of the errors in a file.
fn errors(text: &str) -> Vec<&'static str> {
    let mut session = Session::new();
    session.replace_text("m.mo", text);
    let report = session.check("m.mo").unwrap_or_else(|error| panic!("{error}"));
    report.diagnostics.iter().filter(|said| said.is_error()).map(|said| said.code).collect()
}

#[test]
fn no_class_hides_another() {
    let nested =
        "package P model Bad Real x; equation x = 1; x = 2; end Bad; model Good Real x = time; end Good; end P;";
    assert_eq!(errors(nested), ["over-determined"]);
    assert_eq!(errors("model B Real y = nope; end B; model D Real w = time; end D;"), ["unknown-name"]);
    let misspelled = "model A Real x = ; end A; model B Real y = nope; end B; model D Real w = time; end D;";
    assert_eq!(errors(misspelled).last(), Some(&"unknown-name"));
    assert!(errors(misspelled).len() > 1);
}

#[test]
fn sound_files_are_sound() {
    let parts = "connector Pin Real v; flow Real i; end Pin;
                 model Load Real u, i; equation u = 2*i; end Load;
                 partial model Base Real z; end Base;
                 function f input Real x; output Real y = 2*x; end f;
                 model Whole Load a; equation a.u = f(time); end Whole;";
    assert_eq!(errors(parts), Vec::<&str>::new());
}
