//! Where a run puts its rows, and which file format belongs to which ending.

use std::path::Path;

use crate::{Column, CsvSink, MatSink, ParquetSink, ResultError, Trajectories, csv, mat, parquet};

/// Receives a run row by row: `begin` once, `row` for every output point, `finish` once.
///
/// At an event two rows have the same time, the left and the right limit.
pub trait ResultSink {
    /// The columns in the order in which they shall appear.
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError>;

    /// One value for each column that is no alias, in their order; parameters included.
    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError>;

    /// Writes out what is still held back. Also to be called when the run stops early.
    fn finish(&mut self) -> Result<(), ResultError>;
}

impl<S: ResultSink + ?Sized> ResultSink for Box<S> {
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError> {
        (**self).begin(columns)
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        (**self).row(time, values)
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        (**self).finish()
    }
}

impl<S: ResultSink + ?Sized> ResultSink for &mut S {
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError> {
        (**self).begin(columns)
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        (**self).row(time, values)
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        (**self).finish()
    }
}

/// Forgets everything: for runs whose time alone matters.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullSink;

impl ResultSink for NullSink {
    fn begin(&mut self, _: &[Column]) -> Result<(), ResultError> {
        Ok(())
    }

    fn row(&mut self, _: f64, _: &[f64]) -> Result<(), ResultError> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        Ok(())
    }
}

/// Writes to several sinks at once. All are finished, even when one fails.
#[derive(Default)]
pub struct Fanout<'a> {
    /// Where to write.
    pub sinks: Vec<Box<dyn ResultSink + 'a>>,
}

impl ResultSink for Fanout<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError> {
        self.sinks.iter_mut().try_for_each(|sink| sink.begin(columns))
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        self.sinks.iter_mut().try_for_each(|sink| sink.row(time, values))
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        let all: Vec<_> = self.sinks.iter_mut().map(|sink| sink.finish()).collect();
        all.into_iter().collect()
    }
}

/// The sink for a result file, by its ending.
pub fn sink_for(path: &Path) -> Result<Box<dyn ResultSink>, ResultError> {
    Ok(match ending(path)? {
        Ending::Csv => Box::new(CsvSink::create(path)?),
        Ending::Mat => Box::new(MatSink::create(path)?),
        Ending::Parquet => Box::new(ParquetSink::create(path)?),
    })
}

/// Reads a result file, by its ending.
pub fn read(path: &Path) -> Result<Trajectories, ResultError> {
    read_selected(path, &|_| true)
}

/// Reads those variables of a result file whose name is wanted.
pub fn read_selected(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Trajectories, ResultError> {
    let ending = ending(path)?;
    let bytes = std::fs::read(path).map_err(|error| ResultError::io(path, "read", error))?;
    match ending {
        Ending::Csv => csv::read(path, &bytes, wanted),
        Ending::Mat => mat::read(path, &bytes, wanted),
        Ending::Parquet => parquet::read(path, &bytes, wanted),
    }
}

enum Ending {
    Csv,
    Mat,
    Parquet,
}

fn ending(path: &Path) -> Result<Ending, ResultError> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    match ending.to_ascii_lowercase().as_str() {
        "csv" => Ok(Ending::Csv),
        "mat" => Ok(Ending::Mat),
        "parquet" => Ok(Ending::Parquet),
        _ => Err(ResultError::format(path, "a result file ends in `.csv`, `.mat` or `.parquet`")),
    }
}
