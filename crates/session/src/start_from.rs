//! The values of a result at a time, as the beginning of another run.

use std::path::{Path, PathBuf};

use base::{Decimal, Diagnostic};
use compile::Program;
use dae::{VarId, Variability, VariableType};
use results::{Trajectories, Trajectory};
use rustc_hash::FxHashMap;
use simulate::{Past, StartPoint};

use crate::names::list;

/// Splits `RESULT@TIME`; a file whose name has an `@` in it is taken as a whole.
pub fn split_start_from(text: &str, exists: impl Fn(&Path) -> bool) -> Result<(PathBuf, Option<f64>), String> {
    match text.rsplit_once('@') {
        Some((path, time)) if !exists(Path::new(text)) => match time.trim().parse::<f64>() {
            Ok(time) if time.is_finite() => Ok((PathBuf::from(path), Some(time))),
            _ => Err(format!("`{time}` in `{text}` is no time; write RESULT or RESULT@TIME, for example `M.csv@0.5`")),
        },
        _ => Ok((PathBuf::from(text), None)),
    }
}

/// The time that a run begins at which continues a result: the last one, unless another is asked for.
pub fn start_from_time(table: &Trajectories, file: &str, at: Option<f64>) -> Result<f64, String> {
    let (Some(&first), Some(&last)) = (table.time.first(), table.time.last()) else {
        return Err(format!("{file} has no rows to begin from"));
    };
    let time = at.unwrap_or(last);
    if time < first || time > last {
        let (time, first, last) = (Decimal(time), Decimal(first), Decimal(last));
        return Err(format!("{file} goes from {first} to {last}, and there is nothing in it at {time}"));
    }
    Ok(time)
}

/// The point of a result at a time. `start_time` is that of the new run. Warnings say what a result does not hold; the error
/// names variables that are missing.
pub fn start_point(
    program: &Program,
    table: &Trajectories,
    file: &str,
    time: f64,
    start_time: f64,
) -> Result<(StartPoint, Vec<Diagnostic>), String> {
    let model = program.model();
    let columns: FxHashMap<&str, &Trajectory> =
        table.variables.iter().map(|variable| (variable.column.name.as_str(), variable)).collect();
    let row = table.time.partition_point(|&known| known <= time);
    let Some(row) = row.checked_sub(1) else { return Err(format!("{file} has no row before {}", Decimal(time))) };
    let value = |variable: VarId| {
        let declared = &model.variables[variable];
        let name = model.variable_name(variable);
        let column = columns.get(name.as_str())?;
        let smooth = declared.ty == VariableType::Real && declared.variability == Variability::Continuous;
        let value = match smooth {
            true => {
                let slope = columns.get(format!("der({name})").as_str()).map(|slope| slope.values.as_slice());
                between(&table.time, &column.values, slope, row, time)
            }
            false => column.values.get(row).copied()?,
        };
        value.is_finite().then_some(value)
    };
    let begun = (time == start_time).then(|| table.time.first().copied()).flatten();
    let in_row = |row: usize, variable: VarId| {
        let column = columns.get(model.variable_name(variable).as_str())?;
        column.values.get(row).or(column.values.first()).copied().filter(|value| value.is_finite())
    };
    let times = table.time[..=row].iter().map(|&known| known + (start_time - time)).collect();
    let past = Past { times, value: &in_row };
    StartPoint::new(program, value, begun, &past).map_err(|lacking| {
        let names: Vec<String> = lacking.variables.iter().map(|&variable| model.variable_name(variable)).collect();
        let names = list(names.iter().map(String::as_str));
        format!("{file} lacks {names}, without which the model cannot begin there; write a result with all variables")
    })
}

/// The value at a time from `row` on, where it is that of the row or lies before the next one: cubic where slopes are known.
fn between(times: &[f64], values: &[f64], slopes: Option<&[f64]>, row: usize, time: f64) -> f64 {
    let (t0, y0) = (times[row], values[row]);
    let (Some(&t1), Some(&y1)) = (times.get(row + 1), values.get(row + 1)) else { return y0 };
    if time <= t0 {
        return y0;
    }
    let (width, s) = (t1 - t0, (time - t0) / (t1 - t0));
    let slopes = slopes.and_then(|slopes| Some((*slopes.get(row)?, *slopes.get(row + 1)?)));
    match slopes.filter(|(d0, d1)| d0.is_finite() && d1.is_finite()) {
        Some((d0, d1)) => {
            let cubic = s * (s - 1.0) * ((1.0 - 2.0 * s) * (y1 - y0) + width * ((s - 1.0) * d0 + s * d1));
            (1.0 - s) * y0 + s * y1 + cubic
        }
        None => y0 + s * (y1 - y0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubics_are_exact() {
        let (times, cubic) = ([1.0, 3.0], |t: f64| t * t * t - 2.0 * t);
        let slopes = times.map(|t: f64| 3.0 * t * t - 2.0);
        let values = times.map(cubic);
        for time in [1.0, 1.5, 2.5] {
            let found = between(&times, &values, Some(&slopes), 0, time);
            assert!((found - cubic(time)).abs() < 1e-12, "{found} at {time}");
        }
        assert_eq!(between(&times, &[0.0, 4.0], None, 0, 1.5), 1.0);
        assert_eq!(between(&times, &[0.0, 4.0], None, 1, 3.0), 4.0);
    }

    #[test]
    fn a_time_follows_the_name() {
        let nothing = |_: &Path| false;
        assert_eq!(split_start_from("a.csv", nothing), Ok(("a.csv".into(), None)));
        assert_eq!(split_start_from("a.csv@-1.5e-3", nothing), Ok(("a.csv".into(), Some(-1.5e-3))));
        assert_eq!(split_start_from("a@1", |_| true), Ok(("a@1".into(), None)));
        assert!(split_start_from("a.csv@x", nothing).is_err());
    }
}
