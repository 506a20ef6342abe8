//! `gyrator plot`: pictures of result files.

mod chosen;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use regex_lite::Regex;
use results::plot::{Axis, Curve, Figure, Scale, Terminal, html, pdf, png, svg, terminal};

use crate::arguments::Plot;
use crate::exit::Failure;
use crate::names;
use crate::style::{Style, print, tell};
use chosen::{Chosen, File};

pub fn run(arguments: &Plot, style: Style) -> Result<(), Failure> {
    let pattern = arguments.variables.as_deref().map(pattern).transpose()?;
    let (paths, names) = split(&arguments.what)?;
    let files = paths.iter().map(|path| File::open(path)).collect::<Result<Vec<_>, _>>()?;
    let mut drawn = chosen::choose(&files, &names, pattern.as_ref(), arguments.x.as_deref())?;
    if let Some((count, shown)) = drawn.limited.take().filter(|_| !arguments.quiet) {
        tell(&format!("drawing {shown} of {count} variables; name those that you want\n"));
    }
    let mut figure = figure(arguments, &files, drawn);
    apply_axes(arguments, &mut figure)?;
    match &arguments.output {
        Some(path) => write(&figure, path),
        None => print(&terminal(&figure, screen(style))),
    }
}

/// What exists as a file is one, and so is what ends like one; the rest are names.
fn split(what: &[String]) -> Result<(Vec<PathBuf>, Vec<String>), Failure> {
    let ends_like_a_file = |text: &str| {
        let ending = text.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        matches!(ending.as_deref(), Some("csv" | "mat" | "parquet"))
    };
    let (mut files, mut names) = (Vec::new(), Vec::new());
    for (position, text) in what.iter().enumerate() {
        // The first one cannot be anything else.
        let is_file = Path::new(text).is_file() || ends_like_a_file(text) || (position == 0 && what.len() == 1);
        if is_file {
            files.push(PathBuf::from(text));
        } else {
            names.extend(names::split(text));
        }
    }
    match (files.is_empty(), what.first()) {
        (true, Some(first)) => Err(Failure::call(format!(
            "there is no file `{first}`; name a result file to draw from: .csv, .mat or .parquet"
        ))),
        _ => Ok((files, names)),
    }
}

fn figure(arguments: &Plot, files: &[File], drawn: Chosen) -> Figure {
    let title = match &arguments.title {
        Some(title) => title.clone(),
        None => files.iter().map(|file| file.label.as_str()).collect::<Vec<_>>().join(", "),
    };
    let mut x = Axis::new("time", "s");
    let mut curves = Vec::new();
    for (position, (runs, file)) in drawn.runs.into_iter().zip(files).enumerate() {
        let across: Arc<[f64]> = match &runs.x {
            None => runs.time.into(),
            Some(over) => {
                let (unit, convert) = units::display(&over.column.unit, &over.column.display_unit);
                if position == 0 {
                    x = Axis::new(over.column.name.clone(), unit);
                }
                over.values.iter().map(|&value| convert.apply(value)).collect()
            }
        };
        for variable in runs.variables {
            let (unit, convert) = units::display(&variable.column.unit, &variable.column.display_unit);
            let y = variable.values.iter().map(|&value| convert.apply(value)).collect();
            let name = match files {
                [_] => variable.column.name.clone(),
                _ => format!("{} ({})", variable.column.name, file.label),
            };
            curves.push((unit.to_owned(), Curve::new(name, across.clone(), y)));
        }
    }
    Figure::grouped(title, x, curves)
}

/// What the call says about the axes.
fn apply_axes(arguments: &Plot, figure: &mut Figure) -> Result<(), Failure> {
    let positive = |limits: Option<(f64, f64)>, logarithmic: bool, option: &str| match limits {
        Some((low, _)) if logarithmic && low <= 0.0 => {
            Err(Failure::call(format!("`{option}` of a logarithmic axis has to be greater than zero")))
        }
        _ => Ok(limits),
    };
    figure.x.limits = positive(arguments.range, arguments.log_x, "--range")?;
    if arguments.log_x {
        figure.x.scale = Scale::Logarithmic;
    }
    for panel in &mut figure.panels {
        panel.y.limits = positive(arguments.y_range, arguments.log_y, "--y-range")?;
        if arguments.log_y {
            panel.y.scale = Scale::Logarithmic;
        }
    }
    let has_positive = |values: &[f64]| values.iter().any(|&value| value > 0.0);
    let curves = || figure.panels.iter().flat_map(|panel| &panel.curves);
    for (axis, asked, shown) in [
        ("--log-x", arguments.log_x, curves().any(|curve| has_positive(&curve.x))),
        ("--log-y", arguments.log_y, curves().any(|curve| has_positive(&curve.y))),
    ] {
        if asked && !shown {
            return Err(Failure::call(format!("`{axis}`: no value is greater than zero")));
        }
    }
    Ok(())
}

/// A regular expression that has to match a whole name.
pub fn pattern(text: &str) -> Result<Regex, Failure> {
    Regex::new(&format!("^(?:{text})$"))
        .map_err(|error| Failure::call(format!("`{text}` is no regular expression: {error}")))
}

/// Writes a picture in the format of the file's ending.
pub fn write(figure: &Figure, path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    let undrawn =
        |error: results::plot::DrawingError| Failure::call(format!("cannot draw `{}`: {error}", path.display()));
    let bytes = match ending.as_str() {
        "svg" => svg(figure).into_bytes(),
        "html" | "htm" => html(figure).into_bytes(),
        "png" => png(figure).map_err(undrawn)?,
        "pdf" => pdf(figure).map_err(undrawn)?,
        _ => return Err(no_picture(path)),
    };
    std::fs::write(path, bytes).map_err(|error| Failure::call(format!("cannot write `{}`: {error}", path.display())))
}

/// Refuses a file that cannot become a picture, before anything is computed for it.
pub fn check_ending(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    if matches!(ending.as_str(), "svg" | "html" | "htm" | "png" | "pdf") { Ok(()) } else { Err(no_picture(path)) }
}

fn no_picture(path: &Path) -> Failure {
    Failure::call(format!("`{}`: a picture ends in `.svg`, `.png`, `.pdf` or `.html`", path.display()))
}

/// The terminal that the picture is for.
pub fn screen(style: Style) -> Terminal {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns = said.or_else(crate::style::window_width).unwrap_or(80);
    Terminal { columns: columns.clamp(20, 400), colour: style.out, ..Terminal::default() }
}
