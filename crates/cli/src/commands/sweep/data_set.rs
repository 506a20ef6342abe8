//! The data set of a study: a row a variant.

use std::path::{Path, PathBuf};

use results::{Table, Values};

use super::design::Varied;
use super::variant::{Outcome, Status};
use crate::exit::Failure;

/// The fact of a table that tells which study it is of.
const STUDY: &str = "study";

/// Where the parts of a data set are.
pub struct Places {
    /// The table.
    pub table: PathBuf,
    pub journal: PathBuf,
    /// The folder of the trajectories.
    pub trajectories: PathBuf,
}

impl Places {
    /// A file that ends in `.parquet` with its trajectories beside it, or a folder.
    pub fn of(output: &Path) -> Self {
        if output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet")) {
            let beside = |ending: &str| output.with_extension(ending);
            Self { table: output.to_owned(), journal: beside("journal"), trajectories: beside("trajectories") }
        } else {
            Self {
                table: output.join("variants.parquet"),
                journal: output.join("journal"),
                trajectories: output.join("trajectories"),
            }
        }
    }

    /// Makes the folders.
    pub fn create(&self, with_trajectories: bool) -> Result<(), Failure> {
        let folders = [self.table.parent(), with_trajectories.then_some(self.trajectories.as_path())];
        for folder in folders.into_iter().flatten().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::call(format!("cannot create `{}`: {error}", folder.display())))?;
        }
        Ok(())
    }

    /// Removes the trajectories of another study.
    pub fn clear_trajectories(&self) {
        let files = std::fs::read_dir(&self.trajectories).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_numbered = |path: &PathBuf| {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
            stem.len() >= 6 && stem.bytes().all(|byte| byte.is_ascii_digit())
        };
        for file in files.filter(|path| path.extension().is_some_and(|it| it == "parquet")).filter(is_numbered) {
            let _ = std::fs::remove_file(file);
        }
    }

    /// What a study left that is complete: `None` where there is none, and its identity otherwise.
    pub fn complete(&self) -> Option<(Table, String)> {
        let table = Table::read(&self.table).ok()?;
        let study = table.fact(STUDY)?.to_owned();
        Some((table, study))
    }
}

/// The table of all outcomes, in the order of the variants.
pub fn table(outcomes: &[Outcome], varied: &[Varied], variants: &[Vec<f64>], study: &str) -> Table {
    let mut sorted: Vec<&Outcome> = outcomes.iter().collect();
    sorted.sort_by_key(|outcome| outcome.variant);
    let text = |of: &dyn Fn(&Outcome) -> String| Values::Text(sorted.iter().map(|it| of(it)).collect());
    let real = |of: &dyn Fn(&Outcome) -> f64| Values::Real(sorted.iter().map(|it| of(it)).collect());
    let value = |outcome: &Outcome, name: &str| {
        outcome.values.iter().find(|(known, _)| known == name).map_or(f64::NAN, |(_, value)| *value)
    };
    let mut columns =
        vec![("variant".to_owned(), Values::Integer(sorted.iter().map(|it| it.variant as i64).collect()))];
    for (k, it) in varied.iter().enumerate() {
        let values = match it.texts {
            Some(_) => text(&|outcome| it.text(variants[outcome.variant - 1][k])),
            None => real(&|outcome| value(outcome, &it.name)),
        };
        columns.push((it.name.clone(), values));
    }
    columns.push(("status".to_owned(), text(&|outcome| outcome.status.name().to_owned())));
    columns.push(("message".to_owned(), text(&|outcome| outcome.message.clone())));
    columns.push(("end_time".to_owned(), real(&|outcome| outcome.end_time)));
    columns.push(("seconds".to_owned(), real(&|outcome| outcome.seconds)));
    // Variants of different structure have different variables; a map finds values of many columns fast.
    let mut names: Vec<&str> = Vec::new();
    let mut places = std::collections::HashMap::new();
    let mut data: Vec<Vec<f64>> = Vec::new();
    for (row, outcome) in sorted.iter().enumerate() {
        for (name, value) in &outcome.values {
            if varied.iter().any(|it| it.name == *name) {
                continue;
            }
            let place = *places.entry(name.as_str()).or_insert_with(|| {
                names.push(name);
                data.push(vec![f64::NAN; sorted.len()]);
                names.len() - 1
            });
            data[place][row] = *value;
        }
    }
    columns.extend(names.into_iter().map(str::to_owned).zip(data.into_iter().map(Values::Real)));
    let units = varied.iter().filter(|it| !it.unit.is_empty()).map(|it| (format!("unit:{}", it.name), it.unit.clone()));
    let facts = std::iter::once((STUDY.to_owned(), study.to_owned())).chain(units).collect();
    Table { columns, facts }
}

/// How many variants failed.
pub fn failures(table: &Table) -> usize {
    match table.get("status") {
        Some(Values::Text(status)) => status.iter().filter(|status| *status == Status::Failed.name()).count(),
        _ => 0,
    }
}
