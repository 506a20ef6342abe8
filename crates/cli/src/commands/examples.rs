//! `gyrator examples`: models to begin with, embedded in the program.

use std::path::Path;

use crate::arguments::Examples;
use crate::exit::Failure;
use crate::style::print;
use session::nearest;

/// File name and text.
const EXAMPLES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// Name and description of the models of the library that can be run.
const OF_LIBRARY: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/library_examples.rs"));

pub fn run(arguments: &Examples) -> Result<(), Failure> {
    match &arguments.name {
        None => list(),
        Some(name) => write(name),
    }
}

fn list() -> Result<(), Failure> {
    let files = EXAMPLES.iter().map(|(file, text)| (stem(file), description(text)));
    let all: Vec<(&str, &str)> = files.chain(OF_LIBRARY.iter().copied()).collect();
    let longest = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut lines = String::new();
    for (name, description) in all {
        lines.push_str(format!("{name:longest$}  {description}").trim_end());
        lines.push('\n');
    }
    print(&lines)
}

fn write(name: &str) -> Result<(), Failure> {
    if OF_LIBRARY.iter().any(|(known, _)| *known == name) {
        return Err(Failure::call(format!(
            "`{name}` is a model of the library that comes with the program: `gyrator simulate {name}` runs it"
        )));
    }
    let Some((file, text)) = EXAMPLES.iter().find(|(file, _)| stem(file) == name || *file == name) else {
        let hint = match nearest(name, EXAMPLES.iter().map(|(file, _)| stem(file))) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`gyrator examples` lists them".to_owned(),
        };
        return Err(Failure::call(format!("there is no example `{name}`; {hint}")));
    };
    // Never overwrite what somebody may have changed.
    if Path::new(file).exists() {
        return Err(Failure::call(format!("`{file}` exists already and is left as it is")));
    }
    std::fs::write(file, text).map_err(|error| Failure::call(format!("cannot write `{file}`: {error}")))?;
    print(&format!("{file}\n"))
}

/// The name without its ending. Files of the language of 1993 keep theirs: their models have the names of others.
fn stem(file: &str) -> &str {
    match file.rsplit_once('.') {
        Some((_, "dym")) | None => file,
        Some((stem, _)) => stem,
    }
}

/// The first description string of the text, or the comment that it begins with.
fn description(text: &str) -> &str {
    let first = match text.strip_prefix('{') {
        Some(comment) => comment.split('}').next(),
        None => text.split('"').nth(1),
    };
    first.unwrap_or("").trim().trim_end_matches('.')
}
