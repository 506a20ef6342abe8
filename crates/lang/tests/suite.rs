//! Runs the literate cases under `tests/suite`: each `## title` has a program and the flat model or the diagnostics that it
//! must give. With `UPDATE_EXPECT=1` the expected text is written anew.
//!
//! A block that begins with a path (```` ```modelica lib/P/package.mo ````) is a file of that name; the block without one is
//! the file that is loaded; without such a block it is the package `lib/Lib`. Folders `lib` and `more` are searched for libraries, in that order.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lang::{Files, Libraries, Overrides, flatten, last_model};

#[test]
fn suite() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of cases")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    files.sort();
    let mut failures = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let (written, wrong) = run_file(&text);
        if update && written != text {
            std::fs::write(&file, written).expect("a writable file");
        } else if !wrong.is_empty() {
            let _ = write!(failures, "{}:\n{wrong}", file.display());
        }
    }
    assert!(failures.is_empty(), "{failures}\nrun with UPDATE_EXPECT=1 to accept what comes out");
}

/// Every flat model of the cases, printed with its origins, reads as the same model.
#[test]
fn what_is_flat_flattens_to_itself() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let mut failures = String::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder of cases").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("a readable file");
        for case in text.split("\n## ").skip(1) {
            let program = block(case, "modelica").unwrap_or_default();
            let Ok(first) = flat_text(program) else { continue };
            count += 1;
            let second = flat_text(&first).unwrap_or_else(|message| message);
            if first != second {
                let title = case.lines().next().unwrap_or_default();
                let _ = writeln!(failures, "## {title}\n{first}--- gives\n{second}");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(count > 40, "{count}");
}

/// The functions of a shared library that has everything whose name begins with `outside_`.
struct Outside;

impl dae::OutsideFunctions for Outside {
    fn has(&self, symbol: &str) -> bool {
        symbol.starts_with("outside_")
    }

    fn call(&self, _: &dae::function::External, _: &mut [dae::Value]) -> Result<Option<dae::Value>, String> {
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

/// The file with what comes out in place of what is expected, and the differences.
fn run_file(text: &str) -> (String, String) {
    let mut written = String::new();
    let mut wrong = String::new();
    for (number, case) in text.split("\n## ").enumerate() {
        if number == 0 {
            written.push_str(case);
            continue;
        }
        let title = case.lines().next().unwrap_or_default();
        let program = block(case, "modelica").unwrap_or_default();
        let expected =
            block(case, "flat").map(|text| ("flat", text)).or(block(case, "error").map(|text| ("error", text)));
        let (kind, actual) = run(program, files(case));
        if expected.map(|(kind, text)| (kind, text.trim_end())) != Some((kind, actual.trim_end())) {
            let _ = writeln!(wrong, "  ## {title}\n--- gives {kind}\n{actual}---");
        }
        // What is expected stands behind the last block of the program.
        let end = case.rfind("```modelica").and_then(|start| case[start + 3..].find("```").map(|at| start + at + 6));
        let head = &case[..end.unwrap_or(case.len())];
        let _ = write!(written, "\n## {}\n\n```{kind}\n{}\n```\n", head.trim_end(), actual.trim_end());
    }
    (written, wrong)
}

fn block<'a>(case: &'a str, kind: &str) -> Option<&'a str> {
    let start = case.find(&format!("```{kind}\n"))? + kind.len() + 4;
    let end = case[start..].find("```")?;
    Some(&case[start..start + end])
}

/// The blocks that are files, by their paths.
fn files(case: &str) -> BTreeMap<PathBuf, String> {
    let blocks = case.split("```modelica ").skip(1).filter_map(|block| block.split("```").next());
    let files = blocks.filter_map(|block| block.split_once('\n'));
    files.map(|(path, text)| (PathBuf::from(path.trim()), text.to_owned())).collect()
}

/// The files of a case.
struct Texts(BTreeMap<PathBuf, String>);

impl Files for Texts {
    fn read(&self, path: &Path) -> std::io::Result<String> {
        self.0.get(path).cloned().ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))
    }

    fn list(&self, path: &Path) -> Vec<(String, bool)> {
        let below = self.0.keys().filter_map(|file| file.strip_prefix(path).ok());
        let mut names: Vec<(String, bool)> = below
            .filter_map(|rest| {
                let mut parts = rest.iter();
                let first = parts.next()?.to_string_lossy().into_owned();
                Some((first, parts.next().is_some()))
            })
            .collect();
        names.dedup();
        names
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.keys().any(|file| file.starts_with(path))
    }
}

fn run(program: &str, files: BTreeMap<PathBuf, String>) -> (&'static str, String) {
    let mut libraries = Libraries::new(Box::new(Texts(files)));
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
