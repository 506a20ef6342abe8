//! `gyrator examples`: models to begin with, embedded in the program.

use std::path::Path;

use crate::arguments::Examples;
use crate::exit::Failure;
use crate::style::print;
use session::nearest;

/// File name and text.
const EXAMPLES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/examples.rs"));

pub fn run(arguments: &Examples) -> Result<(), Failure> {
    match &arguments.name {
        None => {
            let longest = EXAMPLES.iter().map(|(file, _)| stem(file).len()).max().unwrap_or(0);
            for (file, text) in EXAMPLES {
                let line = format!("{:longest$}  {}", stem(file), description(text));
                print(&format!("{}\n", line.trim_end()))?;
            }
            Ok(())
        }
        Some(name) => write(name),
    }
}

fn write(name: &str) -> Result<(), Failure> {
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

fn stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// The first description string of the text.
fn description(text: &str) -> &str {
    text.split('"').nth(1).unwrap_or("")
}
