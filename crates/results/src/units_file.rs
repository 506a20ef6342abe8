//! Units beside a CSV file, which has no place for them: `run.csv.units.json` holds for each variable with a unit its `unit` and, where
//! it has one, its `displayUnit`. The table stays as it is, and who does not know the file misses nothing but the units.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::{Column, ResultError, Trajectories};

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".units.json");
    PathBuf::from(name)
}

/// Writes the file where there are units, and removes that of an older result where there are none. Units are worth less than the
/// result, so that a failure is none of the run.
pub(crate) fn write(path: &Path, columns: &[Column]) {
    let mut known = Map::new();
    for column in columns.iter().filter(|column| !column.unit.is_empty()) {
        let mut facts = Map::new();
        facts.insert("unit".to_owned(), Value::from(column.unit.as_str()));
        if !column.display_unit.is_empty() {
            facts.insert("displayUnit".to_owned(), Value::from(column.display_unit.as_str()));
        }
        known.insert(column.name.clone(), Value::from(facts));
    }
    let _ = if known.is_empty() {
        std::fs::remove_file(beside(path))
    } else {
        let lines: Vec<String> =
            known.iter().map(|(name, facts)| format!("{}: {facts}", Value::from(name.as_str()))).collect();
        std::fs::write(beside(path), format!("{{\n{}\n}}\n", lines.join(",\n")))
    };
}

/// Reads those variables of a result file whose name is wanted, for showing them: with units from beside a CSV file. Who computes with
/// values reads them as the table has them ([`crate::read_selected`]).
pub fn read_described(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Trajectories, ResultError> {
    let mut result = crate::read_selected(path, wanted)?;
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) {
        let mut units = read(path);
        for variable in &mut result.variables {
            if let Some(Column { unit, display_unit, .. }) = units.remove(&variable.column.name) {
                (variable.column.unit, variable.column.display_unit) = (unit, display_unit);
            }
        }
    }
    Ok(result)
}

/// Columns with the units that stand beside a file, by their names; none where there is no such file, or where it is something else.
fn read(path: &Path) -> HashMap<String, Column> {
    let text = std::fs::read_to_string(beside(path)).unwrap_or_default();
    let Ok(Value::Object(known)) = serde_json::from_str(&text) else { return HashMap::new() };
    let column = |facts: &Value| {
        let fact = |key: &str| facts.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Column { unit: fact("unit"), display_unit: fact("displayUnit"), ..Column::default() }
    };
    known.iter().map(|(name, facts)| (name.clone(), column(facts))).collect()
}

#[cfg(test)]
mod tests {
    use crate::output::tests::TemporaryPath;
    use crate::{Column, CsvSink, ResultSink as _};

    fn run(path: &TemporaryPath, columns: &[Column]) {
        let mut sink = CsvSink::create(&path.0).unwrap();
        sink.begin(columns).unwrap();
        sink.row(0.0, &vec![1.0; columns.len()]).unwrap();
        sink.finish().unwrap();
    }

    #[test]
    fn units_come_back_and_the_table_is_the_same() {
        let path = TemporaryPath::new("units.csv");
        let sidecar = TemporaryPath(super::beside(&path.0));
        let columns =
            [Column::new("x[1,2]").unit("rad").display_unit("deg"), Column::new("\"q\"").unit("V"), Column::new("n")];
        run(&path, &columns);
        assert_eq!(std::fs::read_to_string(&path.0).unwrap(), "time,\"x[1,2]\",\"\"\"q\"\"\",n\n0,1,1,1\n");
        let read = super::read_described(&path.0, &|_| true).unwrap();
        let found: Vec<_> = read.variables.iter().map(|variable| variable.column.clone()).collect();
        assert_eq!(found, columns);
        // Those of an older run do not stay.
        run(&path, &columns[2..]);
        assert!(!sidecar.0.exists());
        std::fs::write(&sidecar.0, "[1, {").unwrap();
        let read = super::read_described(&path.0, &|_| true).unwrap();
        assert_eq!(read.variables[0].column, Column::new("n"));
    }
}
