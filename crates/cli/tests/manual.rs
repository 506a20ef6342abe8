//! The manual cannot become untrue: commands that a page shows are run and their outputs compared, links lead somewhere, every page
//! is in the table of contents, and every code of a message is explained.
//!
//! `GYRATOR_BLESS=1 cargo test -p gyrator-cli --test manual` writes the outputs, models and pictures into the pages instead.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use common::{Folder, gyrator};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All files below a folder with this ending, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn pages() -> Vec<PathBuf> {
    files(&repository().join("docs"), "md")
}

// The codes of messages.

/// Words with hyphens in the source that are no codes.
const OTHER_WORDS: [&str; 7] = [
    "implicit-euler",
    "inline-bdf2",
    "inline-euler",
    "inline-trapezoid",
    "linearly-implicit-euler",
    "sans-serif",
    "utf-8",
];

/// What stands before a code of one word.
const BEFORE_CODES: [&str; 4] = ["error(", "warning(", "breach(", "Severity::Note,"];

/// Codes that the source of the program has, with a file of each, and all words in quotes.
fn codes_of_source() -> (BTreeMap<String, PathBuf>, BTreeSet<String>) {
    let (mut codes, mut words) = (BTreeMap::new(), BTreeSet::new());
    for crate_folder in std::fs::read_dir(repository().join("crates")).unwrap() {
        let folder = crate_folder.unwrap().path();
        // Its words are names of families of random models.
        if folder.ends_with("oracles") || !folder.join("src").exists() {
            continue;
        }
        for file in files(&folder.join("src"), "rs") {
            let text = std::fs::read_to_string(&file).unwrap();
            let program = text.split("#[cfg(test)]\nmod").next().unwrap_or("");
            let mut parts = program.split('"');
            let mut before = parts.next().unwrap_or("");
            // Quotation marks inside of texts shift the pairs, so that each piece counts as a possible word.
            for part in parts {
                if is_word(part) {
                    words.insert(part.to_owned());
                    let is_code = match part.contains('-') {
                        true => !OTHER_WORDS.contains(&part),
                        false => BEFORE_CODES.iter().any(|word| before.trim_end().ends_with(word)),
                    };
                    if is_code {
                        codes.insert(part.to_owned(), file.clone());
                    }
                }
                before = part;
            }
        }
    }
    (codes, words)
}

/// `unknown-name`
fn is_word(text: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    !text.is_empty() && text.split('-').all(is_part)
}

/// The sections of the page: code and text.
fn entries() -> Vec<(String, String)> {
    let page = std::fs::read_to_string(repository().join("docs/errors.md")).unwrap();
    let sections = page.split("\n## ").skip(1);
    sections
        .filter_map(|section| section.split_once('\n'))
        .map(|(code, text)| (code.to_owned(), text.to_owned()))
        .collect()
}

#[test]
fn every_code_is_explained() {
    let (codes, words) = codes_of_source();
    let explained: BTreeSet<String> = entries().into_iter().map(|(code, _)| code).collect();
    let missing: Vec<_> = codes.iter().filter(|(code, _)| !explained.contains(*code)).collect();
    assert!(
        missing.is_empty(),
        "docs/errors.md has no section for {missing:#?}; what is no code belongs in OTHER_WORDS"
    );
    let unused: Vec<_> = explained.iter().filter(|code| !words.contains(*code)).collect();
    assert!(unused.is_empty(), "docs/errors.md explains codes that do not exist: {unused:?}");
}

#[test]
fn the_models_of_the_page_give_their_codes() {
    let folder = Folder::new("explained");
    let mut count = 0;
    for (code, text) in entries() {
        for block in text.split("```modelica\n").skip(1) {
            let model = block.split("```").next().unwrap();
            folder.write("model.mo", model);
            let run = gyrator(&folder, &["simulate", "model.mo", "--verbose", "--output", "model.csv"]);
            let marked = format!("[{code}]");
            assert!(run.stderr.contains(&marked), "{code}:\n{model}\n{}{}", run.stdout, run.stderr);
            count += 1;
        }
    }
    assert!(count >= 60, "{count} models");
}

#[test]
fn explain_prints_lists_and_suggests() {
    let folder = Folder::new("explain");
    let one = gyrator(&folder, &["explain", "over-determined"]);
    assert!(one.stdout.starts_with("over-determined\n\nThere are more equations than unknowns."), "{}", one.stdout);
    assert!(one.stdout.contains("\n    model M\n"), "{}", one.stdout);
    let as_shown = gyrator(&folder, &["explain", "error[over-determined]"]);
    assert_eq!(as_shown.stdout, one.stdout);
    let all = gyrator(&folder, &["explain"]);
    assert_eq!(all.stdout.lines().count(), entries().len());
    let unknown = gyrator(&folder, &["explain", "unkown-name"]);
    assert_ne!(unknown.status, 0);
    assert!(unknown.stderr.contains("did you mean `unknown-name`?"), "{}", unknown.stderr);
}

// The pages.

/// A folder with the examples and the models of a page.
fn workplace(page: &str, name: &str) -> Folder {
    let folder = Folder::new(name);
    copy(&repository().join("examples"), &folder.path("examples"));
    for (file, text) in models(page) {
        if !file.contains('/') {
            folder.write(&file, &text);
        }
    }
    folder
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let goal = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &goal),
            false => _ = std::fs::copy(&path, goal).unwrap(),
        }
    }
}

/// Blocks that begin with a line such as "```modelica cup.mo".
fn models(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for block in page.split("\n```").skip(1) {
        let Some((head, body)) = block.split_once('\n') else { continue };
        if let Some((_, file)) = head.split_once(' ') {
            found.push((file.trim().to_owned(), body.split("\n```").next().unwrap().to_owned() + "\n"));
        }
    }
    found
}

/// The words of a command line: blanks separate, single quotes group.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// What a command line such as `gyrator explain | head -n 3` prints.
fn output_of(folder: &Folder, line: &str) -> String {
    let mut stages = line.split(" | ");
    let command = words(stages.next().unwrap());
    let (program, arguments) = command.split_first().unwrap();
    assert_eq!(program, "gyrator", "{line}");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = gyrator(folder, &arguments);
    assert!(!run.stderr.contains("panicked"), "{line}: {}", run.stderr);
    let mut text = run.stdout + &run.stderr;
    for stage in stages {
        let stage = words(stage);
        let number = |at: usize| stage.get(at).and_then(|word| word.parse::<usize>().ok()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let kept: Vec<&str> = match stage[0].as_str() {
            "head" => lines.iter().take(number(2)).copied().collect(),
            "tail" => lines.iter().rev().take(number(2)).rev().copied().collect(),
            "grep" => lines.iter().filter(|line| line.contains(&stage[1])).copied().collect(),
            other => panic!("no `{other}` in pages"),
        };
        text = kept.iter().map(|line| format!("{line}\n")).collect();
    }
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The page with the outputs of this program and the models of this repository.
fn regenerated(page: &str, folder: &Folder) -> String {
    let mut made = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        made.push_str(line);
        made.push('\n');
        let file = line.strip_prefix("```").and_then(|rest| rest.split_once(" examples/")).map(|(_, file)| file);
        let is_console = line == "```console";
        if file.is_none() && !is_console {
            continue;
        }
        if let Some(file) = file {
            made.push_str(&std::fs::read_to_string(repository().join("examples").join(file)).unwrap());
        }
        for line in lines.by_ref() {
            if line == "```" {
                made.push_str("```\n");
                break;
            }
            if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
                made.push_str(&format!("{line}\n{}", output_of(folder, command)));
            }
        }
    }
    made
}

#[test]
fn pages_show_what_the_program_prints() {
    let bless = std::env::var_os("GYRATOR_BLESS").is_some();
    let mut differing = Vec::new();
    for path in pages().into_iter().chain([repository().join("README.md")]) {
        let page = std::fs::read_to_string(&path).unwrap();
        if !page.contains("\n```console\n") && !page.contains("\n```modelica examples/") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let folder = workplace(&page, &format!("page-{name}"));
        let made = regenerated(&page, &folder);
        for picture in links(&page).into_iter().filter(|link| link.ends_with(".svg")) {
            let drawn = folder.path(picture.rsplit('/').next().unwrap());
            if bless && drawn.exists() {
                std::fs::copy(drawn, path.parent().unwrap().join(&picture)).unwrap();
            }
        }
        if rounded(&made) != rounded(&page) {
            if bless {
                std::fs::write(&path, &made).unwrap();
            } else {
                differing.push(format!("{}:\n{}", path.display(), difference(&page, &made)));
            }
        }
    }
    let all = differing.join("\n");
    assert!(differing.is_empty(), "pages are not up to date (GYRATOR_BLESS=1 writes them):\n{all}");
}

/// Numbers with six digits: the last ones depend on the computer.
fn rounded(text: &str) -> String {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_of_number) {
        made.push_str(&rest[..start]);
        let length = rest[start..].find(|c| !is_of_number(c)).unwrap_or(rest.len() - start);
        let number = &rest[start..start + length];
        match number.parse::<f64>() {
            Ok(value) if number.len() > 7 => made.push_str(&format!("{value:.5e}")),
            _ => made.push_str(number),
        }
        rest = &rest[start + length..];
    }
    made + rest
}

/// The first lines that differ.
fn difference(old: &str, new: &str) -> String {
    let (old, new) = (rounded(old), rounded(new));
    let mut pairs = old.lines().zip(new.lines()).filter(|(old, new)| old != new);
    pairs.next().map_or("lengths differ".to_owned(), |(old, new)| format!("- {old}\n+ {new}\n"))
}

/// The goals of links and pictures.
fn links(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        // Code in a line is no link.
        let text: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
        for part in text.split("](").skip(1) {
            found.push(part.split(')').next().unwrap().to_owned());
        }
    }
    found
}

#[test]
fn links_lead_somewhere() {
    let root = repository();
    let others = ["README.md", "SECURITY.md", "CONTRIBUTING.md"].map(|file| root.join(file));
    let mut broken = Vec::new();
    for page in pages().into_iter().chain(others) {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            if file.contains("://") {
                continue;
            }
            let goal = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let is_there = goal.exists() && (anchor.is_empty() || has_anchor(&goal, anchor));
            if !is_there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Whether a page has a heading with this anchor.
fn has_anchor(page: &Path, anchor: &str) -> bool {
    let text = std::fs::read_to_string(page).unwrap();
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    headings.any(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().replace(' ', "-") == anchor
    })
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let folder = repository().join("docs");
    let summary = std::fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> = links(&summary).into_iter().map(|link| folder.join(link)).collect();
    let missing: Vec<_> =
        pages().into_iter().filter(|page| !page.ends_with("SUMMARY.md") && !listed.contains(page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:#?}");
}
