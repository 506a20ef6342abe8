//! Runs the literate cases under `tests/suite`: each `## title` has a program and the flat model or the diagnostics that it
//! must give, and is a test of its own. With `UPDATE_EXPECT=1` the expected text is written anew.
//!
//! A block that begins with a path (```` ```modelica lib/P/package.mo ````) is a file of that name; the block without one is
//! the file that is loaded; without such a block it is the package `lib/Lib`. Folders `lib` and `more` are searched for libraries, in that order.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use lang::{Libraries, MemoryFiles, Overrides, flatten, last_model};

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of cases")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    files.sort();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        files.iter().for_each(|file| update(file));
        return ExitCode::SUCCESS;
    }
    let trials = files.iter().flat_map(|file| trials(file)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Two tests for each case of a file: what comes out, and whether a flat model reads as itself.
fn trials(file: &Path) -> Vec<Trial> {
    let chapter = file.file_stem().unwrap_or_default().to_string_lossy();
    let text = std::fs::read_to_string(file).expect("a readable file");
    let mut trials = Vec::new();
    for case in text.split("\n## ").skip(1) {
        let title = case.lines().next().unwrap_or_default();
        let (same, flat) = (case.to_owned(), case.to_owned());
        trials.push(Trial::test(format!("{chapter}: {title}"), move || gives_what_is_expected(&same)));
        if block(case, "modelica").is_some() && block(case, "flat").is_some() {
            trials.push(Trial::test(format!("{chapter}: {title} (read again)"), move || flattens_to_itself(&flat)));
        }
    }
    trials
}

fn gives_what_is_expected(case: &str) -> Result<(), Failed> {
    let expected = block(case, "flat").map(|text| ("flat", text)).or(block(case, "error").map(|text| ("error", text)));
    let (kind, actual) = run(block(case, "modelica").unwrap_or_default(), files(case));
    match expected.map(|(kind, text)| (kind, text.trim_end())) == Some((kind, actual.trim_end())) {
        true => Ok(()),
        false => Err(format!("gives {kind}\n{actual}\nrun with UPDATE_EXPECT=1 to accept it").into()),
    }
}

/// A flat model, printed with its origins, reads as the same model.
fn flattens_to_itself(case: &str) -> Result<(), Failed> {
    // What needs further files is not read alone.
    let Ok(first) = flat_text(block(case, "modelica").unwrap_or_default()) else { return Ok(()) };
    let second = flat_text(&first).unwrap_or_else(|message| message);
    if first == second { Ok(()) } else { Err(format!("{first}--- gives\n{second}").into()) }
}

/// The functions of a shared library that has everything whose name begins with `outside_`.
struct Outside;

impl dae::OutsideFunctions for Outside {
    fn has(&self, external: &dae::function::External) -> bool {
        let symbol = external.symbol.as_str();
        symbol.starts_with("outside_")
    }

    fn prepare(&self, _: &[std::sync::Arc<dae::function::External>]) -> Vec<(usize, String)> {
        Vec::new()
    }

    fn call(
        &self,
        _: &dae::function::External,
        _: &mut [dae::Value],
        _: &mut dyn FnMut(&str),
    ) -> Result<Option<dae::Value>, String> {
        Err("nothing is called at translation".to_owned())
    }
}

fn overrides() -> Overrides {
    Overrides { outside: Some(std::sync::Arc::new(Outside)), ..Overrides::default() }
}

/// The flat model of a program with its origins, or the messages.
fn flat_text(program: &str) -> Result<String, String> {
    let mut libraries = Libraries::default();
    let names = libraries.add_text("case.mo", program);
    let model = last_model(&mut libraries, &names).ok_or("nothing to flatten")?;
    let result = flatten(&mut libraries, model.as_str(), &overrides());
    match result.model {
        Some(model) => Ok(dae::modelica_text(&model, Some(&libraries.sources))),
        None => Err(result.diagnostics.iter().map(|one| one.render(&libraries.sources)).collect()),
    }
}

/// Writes what comes out in place of what is expected.
fn update(file: &Path) {
    let text = std::fs::read_to_string(file).expect("a readable file");
    let mut cases = text.split("\n## ");
    let mut written = cases.next().unwrap_or_default().to_owned();
    for case in cases {
        let (kind, actual) = run(block(case, "modelica").unwrap_or_default(), files(case));
        // What is expected stands behind the last block of the program.
        let end = case.rfind("```modelica").and_then(|start| case[start + 3..].find("```").map(|at| start + at + 6));
        let head = &case[..end.unwrap_or(case.len())];
        let _ = write!(written, "\n## {}\n\n```{kind}\n{}\n```\n", head.trim_end(), actual.trim_end());
    }
    if written != text {
        std::fs::write(file, written).expect("a writable file");
    }
}

fn block<'a>(case: &'a str, kind: &str) -> Option<&'a str> {
    let start = case.find(&format!("```{kind}\n"))? + kind.len() + 4;
    let end = case[start..].find("```")?;
    Some(&case[start..start + end])
}

/// The blocks that are files, by their paths.
fn files(case: &str) -> MemoryFiles {
    let blocks = case.split("```modelica ").skip(1).filter_map(|block| block.split("```").next());
    let files = blocks.filter_map(|block| block.split_once('\n'));
    files.map(|(path, text)| (path.trim(), text)).collect()
}

fn run(program: &str, files: MemoryFiles) -> (&'static str, String) {
    let mut libraries = Libraries::new(Box::new(files));
    for folder in ["lib", "more"] {
        libraries.add_search_path(folder);
    }
    let names = match program {
        "" => libraries.add_file("lib/Lib"),
        program => libraries.add_text("case.mo", program),
    };
    let Some(model) = last_model(&mut libraries, &names) else {
        let text: String = libraries.diagnostics.iter().map(|one| one.render(&libraries.sources)).collect();
        return ("error", if text.is_empty() { "nothing to flatten\n".to_owned() } else { text });
    };
    let result = flatten(&mut libraries, model.as_str(), &overrides());
    let messages: String = result.diagnostics.iter().map(|one| one.render(&libraries.sources)).collect();
    match result.model {
        Some(model) => ("flat", format!("{messages}{}", dae::modelica_text(&model, None))),
        None => ("error", messages),
    }
}
