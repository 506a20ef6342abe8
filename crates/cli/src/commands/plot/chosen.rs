//! Which variables and expressions of which files are drawn.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use regex_lite::Regex;
use results::expression::{Expression, expanded};
use results::{Trajectories, Trajectory};

use crate::exit::Failure;
use crate::names;

/// As many curves as one can still tell apart when nobody said which to draw.
const UNASKED: usize = 6;

/// A result file and the names of its variables.
pub struct File {
    path: PathBuf,
    /// How a legend calls it.
    pub label: String,
    names: Vec<String>,
}

impl File {
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let names = RefCell::new(Vec::new());
        let listed = |name: &str| {
            names.borrow_mut().push(name.to_owned());
            false
        };
        results::read_selected(path, &listed).map_err(|error| Failure::call(error.to_string()))?;
        let label = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { path: path.to_owned(), label, names: names.into_inner() })
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Whether a text can be computed from its variables.
    fn offers(&self, text: &str) -> bool {
        let is_known = |name: &str| self.has(name) || name == "time";
        self.has(text) || Expression::new(text).is_ok_and(|it| it.names().into_iter().all(is_known))
    }

    fn read(&self, wanted: &dyn Fn(&str) -> bool) -> Result<Trajectories, Failure> {
        results::read_described(&self.path, wanted).map_err(|error| Failure::call(error.to_string()))
    }
}

/// What is drawn, a run for each file.
pub struct Chosen {
    pub runs: Vec<Run>,
    /// How many variables there would be, and how many are drawn of them.
    pub limited: Option<(usize, usize)>,
}

pub struct Run {
    pub time: Vec<f64>,
    /// In place of time.
    pub x: Option<Trajectory>,
    pub variables: Vec<Trajectory>,
}

pub fn choose(files: &[File], asked: &[String], pattern: Option<&Regex>, x: Option<&str>) -> Result<Chosen, Failure> {
    let all = asked.is_empty() && pattern.is_none();
    let mut texts: Vec<String> = Vec::new();
    for text in asked {
        let names = files.iter().flat_map(|file| file.names.iter().map(String::as_str));
        let is_name = files.iter().any(|file| file.has(text));
        texts.extend(if is_name { vec![text.clone()] } else { expanded(text, names).map_err(Failure::call)? });
    }
    for text in texts.iter().map(String::as_str).chain(x) {
        if !files.iter().any(|file| file.offers(text)) {
            return Err(not_there(text, files));
        }
    }
    let mut limited = None;
    let mut runs = Vec::new();
    for file in files {
        let mut run = read(file, &texts, pattern, x, all)?;
        if all {
            run.variables.retain(changes);
            if run.variables.len() > UNASKED {
                limited = Some((run.variables.len(), UNASKED));
                run.variables.truncate(UNASKED);
            }
        }
        runs.push(run);
    }
    if runs.iter().all(|run| run.variables.is_empty()) {
        let places: Vec<String> = files.iter().map(|file| format!("`{}`", file.path.display())).collect();
        return Err(Failure::call(format!("nothing to draw in {}", places.join(", "))));
    }
    Ok(Chosen { runs, limited })
}

fn read(file: &File, texts: &[String], pattern: Option<&Regex>, x: Option<&str>, all: bool) -> Result<Run, Failure> {
    let expressions = texts.iter().map(String::as_str).chain(x);
    let used: Vec<String> = expressions
        .filter(|text| file.offers(text))
        .flat_map(|text| match file.has(text) {
            true => vec![text.to_owned()],
            false => Expression::new(text).map_or(Vec::new(), |it| it.names().into_iter().map(str::to_owned).collect()),
        })
        .collect();
    let matches = |name: &str| pattern.is_some_and(|pattern| pattern.is_match(name));
    let table = file.read(&|name| all || matches(name) || used.iter().any(|known| known == name))?;
    let value = |text: &str| match table.get(text) {
        Some(variable) => Ok(variable.clone()),
        None => Expression::new(text).and_then(|it| it.evaluate(&table)).map_err(Failure::call),
    };
    let mut variables: Vec<Trajectory> =
        texts.iter().filter(|text| file.offers(text)).map(|text| value(text)).collect::<Result<_, _>>()?;
    if all {
        variables = table.variables.clone();
    } else {
        let further = table.variables.iter().filter(|it| matches(&it.column.name) && !texts.contains(&it.column.name));
        variables.extend(further.cloned());
    }
    let x = match x {
        Some(text) if file.offers(text) => Some(value(text)?),
        Some(text) => return Err(not_there(text, std::slice::from_ref(file))),
        None => None,
    };
    Ok(Run { time: table.time, x, variables })
}

fn changes(variable: &Trajectory) -> bool {
    variable.values.windows(2).any(|pair| pair[0] != pair[1])
}

/// What is wrong with a text that no file can give.
fn not_there(text: &str, files: &[File]) -> Failure {
    let place = match files {
        [file] => format!("`{}`", file.path.display()),
        _ => "the result files".to_owned(),
    };
    let known = || files.iter().flat_map(|file| file.names.iter().map(String::as_str));
    match Expression::new(text) {
        Err(message) => Failure::call(message),
        Ok(expression) => {
            let names = expression.names();
            let missing = names.iter().find(|name| **name != "time" && !known().any(|it| it == **name));
            match missing {
                Some(missing) => names::unknown(missing, &place, known()),
                None => Failure::call(format!("no result file holds all variables of `{text}`")),
            }
        }
    }
}
