//! `gyrator compare`: differences of two results, in a tube around the first.

use std::path::Path;
use std::sync::Arc;

use results::Trajectories;
use results::compare::{Deviation, Tolerance, compare, tube};
use results::plot::{Axis, Band, Curve, Figure, Panel};
use serde_json::json;

use super::plot::{check_ending, pattern, write};
use crate::arguments::Compare;
use crate::exit::{Exit, Failure};
use crate::style::{Style, print};

/// As many deviations are listed.
const LISTED: usize = 10;

pub fn run(arguments: &Compare, _: Style) -> Result<(), Failure> {
    arguments.output.as_deref().map(check_ending).transpose()?;
    for (name, value) in [("--tolerance", arguments.tolerance), ("--time-tolerance", arguments.time_tolerance)] {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(Failure::call(format!("`{name}` has to be a number from 0 on")));
        }
    }
    let wanted = arguments.variables.as_deref().map(pattern).transpose()?;
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|pattern| pattern.is_match(name));
    let read = |path| results::read_described(path, &is_wanted).map_err(|error| Failure::call(error.to_string()));
    let (mut reference, result) = (read(&arguments.reference)?, read(&arguments.result)?);
    for (run, path) in [(&reference, &arguments.reference), (&result, &arguments.result)] {
        check_rows(run, path)?;
    }
    if arguments.common {
        let known: std::collections::HashSet<String> = result.names().map(str::to_owned).collect();
        reference.variables.retain(|variable| known.contains(&variable.column.name));
    }
    if reference.variables.is_empty() {
        return Err(Failure::call("there is no variable to compare".to_owned()));
    }
    let tolerance =
        Tolerance { time: arguments.time_tolerance, value: arguments.tolerance, nominal: arguments.nominal };
    let deviations = compare(&reference, &result, tolerance);
    if let Some(path) = &arguments.output {
        let drawable = || deviations.iter().filter(|it| result.get(&it.name).is_some());
        // Two parallel lines show less than what follows from the parameters that they are.
        let moving = drawable().find(|it| moves(&reference, &it.name) || moves(&result, &it.name));
        let name = match moving.or_else(|| drawable().next()) {
            Some(worst) => worst.name.clone(),
            None => nearest_to_its_edge(&reference, &result, tolerance),
        };
        write(&picture(arguments, &reference, &result, &name, tolerance), path)?;
    }
    report(arguments, reference.variables.len(), &deviations)?;
    if deviations.is_empty() { Ok(()) } else { Err(Failure { exit: Exit::Model, message: String::new() }) }
}

/// A tube needs times that go on, and names that say which variable is meant.
fn check_rows(run: &Trajectories, path: &Path) -> Result<(), Failure> {
    let wrong = |what: String| Err(Failure::call(format!("`{}` cannot be compared: {what}", path.display())));
    if run.time.is_empty() {
        return wrong("it has no rows".to_owned());
    }
    if let Some(row) = (1..run.time.len()).find(|&row| run.time[row] < run.time[row - 1]) {
        return wrong(format!(
            "its times fall at row {} of values, from {} to {}",
            row + 1,
            run.time[row - 1],
            run.time[row]
        ));
    }
    let mut names = std::collections::HashSet::new();
    match run.names().find(|name| !names.insert(*name)) {
        Some(twice) => wrong(format!("it has two columns `{twice}`")),
        None => Ok(()),
    }
}

/// Whether a variable has several values.
fn moves(run: &Trajectories, name: &str) -> bool {
    run.get(name).is_some_and(|found| found.values.iter().any(|value| *value != found.values[0]))
}

/// Where no variable leaves its tube: the one that a narrower tube would lose first.
fn nearest_to_its_edge(reference: &Trajectories, result: &Trajectories, tolerance: Tolerance) -> String {
    let narrow = Tolerance { value: 0.0, ..tolerance };
    let first = reference.variables.first().map(|variable| variable.column.name.clone()).unwrap_or_default();
    compare(reference, result, narrow).into_iter().next().map_or(first, |it| it.name)
}

fn report(arguments: &Compare, count: usize, deviations: &[Deviation]) -> Result<(), Failure> {
    if arguments.json {
        let number = |value: f64| value.is_finite().then_some(value);
        let listed: Vec<_> = (deviations.iter())
            .map(|it| json!({ "name": it.name, "distance": number(it.distance), "time": number(it.time) }))
            .collect();
        let inside = deviations.is_empty();
        return print(&format!("{:#}\n", json!({ "inside": inside, "compared": count, "deviations": listed })));
    }
    if arguments.quiet {
        return Ok(());
    }
    let mut text = match deviations.len() {
        0 if count == 1 => "1 variable agrees\n".to_owned(),
        0 => format!("{count} variables agree\n"),
        _ if count == 1 => "the variable differs\n".to_owned(),
        outside => format!("{outside} of {count} variables differ\n"),
    };
    for it in deviations.iter().take(LISTED) {
        text += &match (it.distance.is_finite(), it.time.is_finite()) {
            (true, _) => {
                let share = units::number(it.distance * 100.0, 3);
                format!("  {}: {share} % outside of the tube at time {}\n", it.name, units::number(it.time, 6))
            }
            (false, true) => format!("  {}: ends or is not finite at time {}\n", it.name, units::number(it.time, 6)),
            (false, false) => format!("  {}: not in `{}`\n", it.name, arguments.result.display()),
        };
    }
    if deviations.len() > LISTED {
        text += &format!("  and {} more\n", deviations.len() - LISTED);
    }
    print(&text)
}

/// Both signals and the tube, in displayUnit.
fn picture(
    arguments: &Compare,
    reference: &Trajectories,
    result: &Trajectories,
    name: &str,
    tolerance: Tolerance,
) -> Figure {
    let label = |path: &std::path::Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut panel = Panel::default();
    if let (Some(expected), Some(found)) = (reference.get(name), result.get(name)) {
        let known = if expected.column.unit.is_empty() { &found.column } else { &expected.column };
        let (unit, convert) = units::display(&known.unit, &known.display_unit);
        let shown = |values: &[f64]| -> Vec<f64> { values.iter().map(|&value| convert.apply(value)).collect() };
        let time: Arc<[f64]> = reference.time.as_slice().into();
        let (lower, upper) = tube((&reference.time, &expected.values), tolerance);
        panel.y = Axis::new("", unit);
        panel.bands.push(Band {
            name: "tube".to_owned(),
            x: time.clone(),
            lower: shown(&lower),
            upper: shown(&upper),
            colour: (0, 0.22),
        });
        panel.curves.push(Curve::new(label(&arguments.reference), time, shown(&expected.values)));
        panel.curves.push(Curve::new(label(&arguments.result), result.time.as_slice().into(), shown(&found.values)));
    }
    Figure { title: name.to_owned(), x: Axis::new("time", "s"), panels: vec![panel], equal: false }
}
