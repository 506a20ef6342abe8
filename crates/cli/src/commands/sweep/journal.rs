//! What is known of the variants while a study runs: a line of JSON each, written when the variant ends. A study that is killed goes on
//! from there.
//!
//! The first line says which study it is. Numbers are texts, since JSON knows no infinity, and the shortest text of a number reads back
//! to the same number. A last line that was cut off does not count. The lock on the file ends with the process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::variant::{Outcome, Status};
use crate::exit::Failure;

pub struct Journal {
    path: PathBuf,
    file: File,
    /// Lists of the names of columns that lines refer to.
    names: Vec<Vec<String>>,
}

/// What a journal holds that exists.
pub enum Found {
    Nothing,
    /// Of the same study.
    Same(Vec<Outcome>),
    /// Of another study.
    Other,
}

impl Journal {
    /// Opens the journal, or begins one.
    pub fn open(path: &Path, study: &str) -> Result<(Self, Found), Failure> {
        let failed = |error| Failure::call(format!("cannot open `{}`: {error}", path.display()));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::call(format!("another call is working on `{}`", path.display())));
            }
            // Where there are no locks, there are none.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut journal = Self { path: path.to_owned(), file, names: Vec::new() };
        let mut text = Vec::new();
        journal.file.read_to_end(&mut text).map_err(failed)?;
        // Whatever cuts a line off leaves the lines before it whole.
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let lines = String::from_utf8_lossy(&text[..whole]).into_owned();
        let mut lines = lines.lines();
        let found = match lines.next() {
            None => Found::Nothing,
            Some(first) if first == study_line(study) => {
                Found::Same(lines.filter_map(|line| journal.read(line)).collect())
            }
            Some(_) => Found::Other,
        };
        match found {
            Found::Nothing => journal.begin(study)?,
            Found::Same(_) => {
                journal.file.set_len(whole as u64).map_err(failed)?;
                journal.file.seek(SeekFrom::End(0)).map_err(failed)?;
            }
            Found::Other => {}
        }
        Ok((journal, found))
    }

    /// Forgets what there is and begins a study.
    pub fn begin(&mut self, study: &str) -> Result<(), Failure> {
        self.names.clear();
        let emptied = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)).map(|_| ()));
        emptied.map_err(|error| self.unwritable(error))?;
        self.line(&study_line(study))
    }

    fn read(&mut self, line: &str) -> Option<Outcome> {
        let value: Value = serde_json::from_str(line).ok()?;
        if let Some(names) = value.get("names") {
            let names = names.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?;
            self.names.push(names);
            return None;
        }
        let text = |key: &str| value.get(key)?.as_str();
        let number = |key: &str| text(key)?.parse::<f64>().ok();
        let names = self.names.get(usize::try_from(value.get("columns")?.as_u64()?).ok()?)?;
        let values = value.get("values")?.as_array()?.iter().map(|it| it.as_str()?.parse::<f64>().ok());
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        (values.len() == names.len()).then_some(())?;
        Some(Outcome {
            variant: usize::try_from(value.get("variant")?.as_u64()?).ok()?,
            status: Status::ALL.into_iter().find(|status| Some(status.name()) == text("status"))?,
            message: text("message")?.to_owned(),
            end_time: number("end")?,
            seconds: number("seconds")?,
            values: names.iter().cloned().zip(values).collect(),
        })
    }

    pub fn add(&mut self, outcome: &Outcome) -> Result<(), Failure> {
        let names: Vec<String> = outcome.values.iter().map(|(name, _)| name.clone()).collect();
        let columns = match self.names.iter().position(|known| *known == names) {
            Some(known) => known,
            None => {
                self.line(&json!({ "names": names }).to_string())?;
                self.names.push(names);
                self.names.len() - 1
            }
        };
        let text = |value: f64| format!("{value:?}");
        let values: Vec<String> = outcome.values.iter().map(|(_, value)| text(*value)).collect();
        let line = json!({
            "variant": outcome.variant, "status": outcome.status.name(), "message": outcome.message,
            "end": text(outcome.end_time), "seconds": text(outcome.seconds), "columns": columns, "values": values,
        });
        self.line(&line.to_string())
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        // In one call, so that a line is there as a whole or not at all.
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| self.unwritable(error))
    }

    fn unwritable(&self, error: std::io::Error) -> Failure {
        Failure::call(format!("cannot write `{}`: {error}", self.path.display()))
    }

    /// When everything stands elsewhere.
    pub fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn study_line(study: &str) -> String {
    json!({ "study": study }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(variant: usize, value: f64) -> Outcome {
        Outcome {
            variant,
            status: Status::Terminated,
            message: "a \"b\"\nc".to_owned(),
            end_time: 0.1 + 0.2,
            seconds: 1e-9,
            values: vec![("R".to_owned(), value), ("final(x)".to_owned(), f64::NEG_INFINITY)],
        }
    }

    #[test]
    fn a_journal_goes_on_after_any_cut() {
        let path = std::env::temp_dir().join(format!("gyrator-journal-{}", std::process::id()));
        let (mut journal, found) = Journal::open(&path, "s").unwrap();
        assert!(matches!(found, Found::Nothing));
        let written = [outcome(3, 1.0 / 3.0), outcome(1, f64::NAN), outcome(2, 5e-324)];
        written.iter().for_each(|it| journal.add(it).unwrap());
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let (mut journal, found) = Journal::open(&path, "s").unwrap();
            let read = match found {
                Found::Same(read) => read,
                _ => Vec::new(),
            };
            let same = |a: &Outcome, b: &Outcome| format!("{a:?}") == format!("{b:?}");
            assert!(read.iter().zip(&written).all(|(a, b)| same(a, b)) && read.len() <= 3);
            // What is added now is read again.
            journal.add(&outcome(9, 9.0)).unwrap();
            drop(journal);
            let Found::Same(again) = Journal::open(&path, "s").unwrap().1 else { panic!("at {length}") };
            assert_eq!(again.len(), read.len() + 1, "at {length}");
        }
        assert!(matches!(Journal::open(&path, "t").unwrap().1, Found::Other));
        std::fs::remove_file(&path).unwrap();
    }
}
