//! Runs the cases of the Modelica-Compliance library through the whole pipeline:
//! `cargo run --release -p gyrator-session --example compliance -- FOLDER [-v]`. A case says in an annotation whether it must
//! pass. One that must pass must be translated; whether it also runs is counted. One that must not must be refused, at
//! translation or by an error of its run, such as an assertion that fails. `-v` prints every error of every refused case.
//! The cases ask for the rules of the specification, so they are translated as with `--strict`.
//!
//! Some cases bring C text in their annotations. It is compiled where there is a C compiler, as for a user who says
//! `--allow-external build`.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use base::Name;
use lang::{DefId, Disk, Libraries};
use results::NullSink;
use session::{Failed, Request, Session, Settings, Stage};
use simulate::{Ending, EventLog};
use syntax::ast;

/// A run that takes longer than this is stopped; all cases are small.
const LONGEST_RUN: Duration = Duration::from_secs(5);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_default());
    let verbose = arguments.next().is_some();
    let (mut passed, mut ran, mut refused) = ((0, 0), 0, (0, 0));
    let has_compiler = Command::new("cc").arg("--version").output().is_ok();
    let mut libraries = Libraries::default();
    libraries.add_search_path(&folder);
    for (name, must_pass) in all_cases(&mut libraries) {
        let mut session = Session::new(Box::new(Disk));
        let request = Request {
            target: name.clone(),
            libraries: vec![folder.clone()],
            allow_external: compile::ExternalCode { build: has_compiler, ..Default::default() },
            transform: transform::Options { strict: true, ..transform::Options::default() },
            ..Request::default()
        };
        let outcome = run(&mut session, &request);
        let is_right = if must_pass { session.stage > Stage::Structure } else { outcome.is_err() };
        let count = if must_pass { &mut passed } else { &mut refused };
        count.0 += usize::from(is_right);
        count.1 += 1;
        ran += usize::from(must_pass && outcome.is_ok());
        if is_right && (!verbose || outcome.is_ok()) {
            continue;
        }
        println!("{} {name} ({})", if is_right { "right" } else { "WRONG" }, session.stage.name());
        for error in session.diagnostics.iter().filter(|one| one.is_error()) {
            println!("    {}: {}", error.code, error.message);
        }
    }
    println!("must pass: {} of {} translated, {ran} of them run to the end", passed.0, passed.1);
    println!("must not pass: {} of {} refused", refused.0, refused.1);
}

/// Translates a case and runs it as its experiment says.
fn run(session: &mut Session, request: &Request) -> Result<(), Failed> {
    let model = session.flatten(request)?;
    let options = Settings::default().resolve(&model.experiment).map_err(Failed::Call)?;
    let schedule = session.structure(model)?;
    let program = session.compile(schedule)?;
    let start = Instant::now();
    let mut watcher = |_: f64| start.elapsed() < LONGEST_RUN;
    let (mut sink, mut log) = (NullSink, EventLog::none());
    let outcome = session.simulate(&program, &options, &|_| false, &mut sink, &mut log, &mut watcher)?;
    match outcome.ending {
        Ending::Complete | Ending::Terminated { .. } => Ok(()),
        _ => Err(Failed::Model),
    }
}

/// The names of the cases, and whether each must pass.
fn all_cases(libraries: &mut Libraries) -> Vec<(String, bool)> {
    let mut cases = Vec::new();
    if let Some(top) = libraries.class(Libraries::ROOT, Name::new("ModelicaCompliance")) {
        find(libraries, top, &mut cases);
    }
    cases
}

fn find(libraries: &mut Libraries, class: DefId, out: &mut Vec<(String, bool)>) {
    let definition = libraries.get(class);
    let is_model =
        matches!(definition.class.kind, ast::ClassKind::Model | ast::ClassKind::Block | ast::ClassKind::Class);
    if let (true, Some(annotation)) = (is_model, &definition.class.annotation)
        && let Some(must_pass) = should_pass(annotation)
    {
        out.push((definition.name.as_str().to_owned(), must_pass));
    }
    for name in definition.class_names.clone() {
        if let Some(inner) = libraries.class(class, name) {
            find(libraries, inner, out);
        }
    }
}

/// `shouldPass = …` anywhere in an annotation.
fn should_pass(modification: &ast::ClassModification) -> Option<bool> {
    modification.arguments.iter().find_map(|argument| {
        let ast::Argument::Element(element) = argument else { return None };
        let inner = element.modification.as_ref()?;
        if element.path.last()?.name == "shouldPass"
            && let Some(ast::ModificationValue::Expr(expr)) = &inner.value
        {
            return match expr.kind {
                ast::ExprKind::Boolean(value) => Some(value),
                _ => None,
            };
        }
        should_pass(inner.arguments.as_ref()?)
    })
}
