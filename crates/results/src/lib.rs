//! Trajectories: writing them while the simulation runs, reading them back, comparing them, drawing them.
//!
//! A run writes through a [`ResultSink`]; which one is chosen by the ending of the file name ([`sink_for`]). Memory does
//! not grow with the length of the run, and whatever stops it leaves a readable file up to the last complete row.

mod column;
pub mod compare;
mod csv;
mod error;
pub mod expression;
mod mat;
mod memory;
mod output;
mod parquet;
pub mod plot;
mod select;
mod sink;
mod table;
mod trajectories;
mod units_file;

pub use column::{Alias, Column, Kind};
pub use csv::CsvSink;
pub use error::ResultError;
pub use mat::MatSink;
pub use memory::MemorySink;
pub use output::remove_hidden;
pub use parquet::ParquetSink;
pub use select::SelectSink;
pub use sink::{Fanout, NullSink, ResultSink, read, read_selected, sink_for};
pub use table::{Table, Values};
pub use trajectories::{Trajectories, Trajectory};
pub use units_file::read_described;
