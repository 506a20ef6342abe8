//! `gyrator plot`: pictures of a result file.

use std::path::Path;

use regex_lite::Regex;
use results::plot::{Figure, Terminal, html, png, svg, terminal};
use results::{Trajectories, Trajectory};

use crate::arguments::Plot;
use crate::exit::Failure;
use crate::names;
use crate::style::{Style, print, tell};

/// As many curves as one can still tell apart when nobody said which to draw.
const UNASKED: usize = 6;

pub fn run(arguments: &Plot, style: Style) -> Result<(), Failure> {
    let pattern = arguments.variables.as_deref().map(pattern).transpose()?;
    let wanted = wanted_names(&arguments.names);
    let all = wanted.is_empty() && pattern.is_none();
    let is_wanted = |name: &str| {
        all || wanted.iter().any(|wanted| wanted == name) || pattern.as_ref().is_some_and(|p| p.is_match(name))
    };
    let result =
        results::read_selected(&arguments.result, &is_wanted).map_err(|error| Failure::call(error.to_string()))?;
    let place = format!("`{}`", arguments.result.display());
    let variables = if all {
        first_that_change(&result, arguments.quiet)
    } else {
        chosen(&result, &wanted, &arguments.result, &place)?
    };
    if variables.is_empty() {
        return Err(Failure::call(format!("nothing to draw in {place}")));
    }
    let title = match &arguments.title {
        Some(title) => title.clone(),
        None => arguments.result.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let figure = Figure::new(title, &result, &variables);
    match &arguments.output {
        Some(path) => write(&figure, path),
        None => print(&terminal(&figure, screen(style))),
    }
}

/// A regular expression that has to match a whole name.
pub fn pattern(text: &str) -> Result<Regex, Failure> {
    Regex::new(&format!("^(?:{text})$"))
        .map_err(|error| Failure::call(format!("`{text}` is no regular expression: {error}")))
}

/// Writes a picture in the format of the file's ending.
pub fn write(figure: &Figure, path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    let bytes = match ending.as_str() {
        "svg" => svg(figure).into_bytes(),
        "html" | "htm" => html(figure).into_bytes(),
        "png" => png(figure),
        _ => return Err(Failure::call(format!("`{}`: a picture ends in `.svg`, `.png` or `.html`", path.display()))),
    };
    std::fs::write(path, bytes).map_err(|error| Failure::call(format!("cannot write `{}`: {error}", path.display())))
}

/// The terminal that the picture is for.
pub fn screen(style: Style) -> Terminal {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(80);
    Terminal { columns: columns.clamp(20, 400), colour: style.out, ..Terminal::default() }
}

fn wanted_names(given: &[String]) -> Vec<String> {
    given.iter().flat_map(|list| names::split(list)).collect()
}

fn chosen<'a>(
    result: &'a Trajectories,
    wanted: &[String],
    path: &Path,
    place: &str,
) -> Result<Vec<&'a Trajectory>, Failure> {
    for name in wanted {
        if result.get(name).is_none() {
            let all = results::read(path).map_err(|error| Failure::call(error.to_string()))?;
            return Err(names::unknown(name, place, all.names()));
        }
    }
    let named = wanted.iter().filter_map(|name| result.get(name));
    let matched = result.variables.iter().filter(|variable| !wanted.contains(&variable.column.name));
    Ok(named.chain(matched).collect())
}

fn first_that_change(result: &Trajectories, quiet: bool) -> Vec<&Trajectory> {
    let changes = |variable: &&Trajectory| variable.values.windows(2).any(|pair| pair[0] != pair[1]);
    let changing: Vec<_> = result.variables.iter().filter(changes).collect();
    if changing.len() > UNASKED && !quiet {
        let count = changing.len();
        tell(&format!("drawing {UNASKED} of {count} variables; name those that you want\n"));
    }
    changing.into_iter().take(UNASKED).collect()
}
