//! Results as Apache Parquet: one required `DOUBLE` column a variable, plain encoding, no compression.
//!
//! Rows are gathered into groups of bounded size. The file ends in a footer at every moment, so that it can be read while
//! the run goes on and whatever ends it: a group is put before the footer, which then is replaced by one that knows the
//! group. Units and the like are key-value pairs of the file (`unit:R1.v` …). Layout: Apache Parquet format 2.9,
//! `parquet.thrift`.

mod reader;
pub(crate) mod thrift;

use std::path::Path;

pub(crate) use reader::{footer as footer_of, read};
use thrift::Writer;

use crate::column::Expansion;
use crate::output::OutputFile;
use crate::{Column, Kind, ResultError, ResultSink};

pub(crate) const MAGIC: &[u8; 4] = b"PAR1";
/// A row group is written when its pages reach about this size.
const GROUP_BYTES: usize = 4 << 20;
/// Each group costs a place in the footer: the more of them were written early so that the file can be watched, the longer
/// rows are kept back.
const GROUPS_OF_PATIENCE: usize = 64;

/// The enumerations of `parquet.thrift` that are used here.
pub(crate) mod code {
    pub const INT64: i32 = 2;
    pub const DOUBLE: i32 = 5;
    pub const BYTE_ARRAY: i32 = 6;
    pub const UTF8: i32 = 0;
    pub const REQUIRED: i32 = 0;
    pub const PLAIN: i32 = 0;
    pub const RLE: i32 = 3;
    pub const UNCOMPRESSED: i32 = 0;
    pub const DATA_PAGE: i32 = 0;
}

#[derive(Clone, Copy)]
struct Group {
    start: u64,
    rows: usize,
}

/// Writes a Parquet file.
pub struct ParquetSink {
    output: OutputFile,
    columns: Vec<Column>,
    expansion: Expansion,
    groups: Vec<Group>,
    end_of_groups: u64,
    rows_per_group: usize,
    footer: Vec<u8>,
    /// The rows that are kept back: their times, and their values row after row.
    times: Vec<f64>,
    values: Vec<f64>,
}

impl ParquetSink {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<Self, ResultError> {
        Ok(Self {
            output: OutputFile::create(path)?,
            columns: Vec::new(),
            expansion: Expansion::default(),
            groups: Vec::new(),
            end_of_groups: MAGIC.len() as u64,
            rows_per_group: 1,
            footer: Vec::new(),
            times: Vec::new(),
            values: Vec::new(),
        })
    }

    /// Writes the rows that were kept back as a group. Where they do not fit on the disk, as many as do.
    fn write(&mut self) -> Result<(), ResultError> {
        let rows = self.times.len();
        let written = self.write_group(0, rows);
        if written.is_err() {
            let (mut from, mut count) = (0, rows / 2);
            while count > 0 && from < rows {
                match self.write_group(from, (from + count).min(rows)) {
                    Ok(()) => from += count,
                    Err(_) => count /= 2,
                }
            }
        }
        self.times.clear();
        self.values.clear();
        written
    }

    fn write_group(&mut self, from: usize, to: usize) -> Result<(), ResultError> {
        let rows = to.saturating_sub(from);
        if rows == 0 {
            return Ok(());
        }
        self.groups.push(Group { start: self.end_of_groups, rows });
        let footer = self.footer(&self.groups);
        let size = (chunk_size(rows) * (self.columns.len() + 1)) as u64;
        let width = self.expansion.width;
        let (times, values) = (&self.times[from..to], &self.values[from * width..to * width]);
        let columns = self.expansion.sources.iter().map(|source| {
            let column = values.chunks_exact(width.max(1)).map(|row| source.of(row));
            page(column, rows)
        });
        let pages = std::iter::once_with(|| page(times.iter().copied(), rows)).chain(columns);
        match self.output.insert(self.end_of_groups, size, pages, &self.footer, &footer) {
            Ok(()) => {
                self.end_of_groups += size;
                self.footer = footer;
                Ok(())
            }
            Err(error) => {
                self.groups.pop();
                Err(error)
            }
        }
    }

    fn footer(&self, groups: &[Group]) -> Vec<u8> {
        let mut writer = Writer::default();
        let names = || std::iter::once("time").chain(self.columns.iter().map(|column| column.name.as_str()));
        let count = self.columns.len() + 1;
        writer.i32(1, 1);
        writer.structs(2, count + 1);
        writer.text(4, "schema").i32(5, count as i32).end();
        for name in names() {
            writer.i32(1, code::DOUBLE).i32(3, code::REQUIRED).text(4, name).end();
        }
        writer.leave();
        writer.i64(3, groups.iter().map(|group| group.rows as i64).sum());
        writer.structs(4, groups.len());
        for group in groups {
            let size = chunk_size(group.rows);
            writer.structs(1, count);
            for (index, name) in names().enumerate() {
                let offset = group.start as i64 + (index * size) as i64;
                writer.i64(2, offset).enter(3);
                writer.i32(1, code::DOUBLE).i32s(2, &[code::PLAIN]).texts(3, &[name]).i32(4, code::UNCOMPRESSED);
                writer.i64(5, group.rows as i64).i64(6, size as i64).i64(7, size as i64).i64(9, offset).end();
                writer.leave();
                writer.end();
            }
            writer.leave();
            writer.i64(2, (count * size) as i64).i64(3, group.rows as i64).end();
        }
        writer.leave();
        let pairs: Vec<_> = self.columns.iter().flat_map(facts).collect();
        writer.structs(5, pairs.len());
        for (key, value) in &pairs {
            writer.text(1, key).text(2, value).end();
        }
        writer.leave();
        writer.text(6, concat!("gyrator ", env!("CARGO_PKG_VERSION"))).end();
        let mut bytes = writer.bytes;
        bytes.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        bytes.extend_from_slice(MAGIC);
        bytes
    }
}

impl ResultSink for ParquetSink {
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError> {
        self.columns = columns.to_vec();
        self.expansion = Expansion::new(columns)?;
        self.rows_per_group = (GROUP_BYTES / 8 / (columns.len() + 1)).max(1);
        self.footer = self.footer(&[]);
        self.output.append(&[MAGIC.as_slice(), &self.footer].concat())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        self.expansion.check(values)?;
        self.times.push(time);
        self.values.extend_from_slice(values);
        let patience = 1 + self.groups.len() / GROUPS_OF_PATIENCE;
        if self.times.len() >= self.rows_per_group || self.output.is_stale_by(patience as u32) {
            self.write()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        self.write()
    }
}

impl Drop for ParquetSink {
    fn drop(&mut self) {
        let _ = self.write();
    }
}

/// What a file says about a variable, as pairs of the form `unit:NAME`.
fn facts(column: &Column) -> Vec<(String, String)> {
    let kind = match column.kind {
        Kind::Real => "",
        Kind::Integer => "Integer",
        Kind::Boolean => "Boolean",
        Kind::Enumeration => "enumeration",
    };
    let parameter = if column.parameter { "parameter" } else { "" };
    let facts = [
        ("unit", column.unit.as_str()),
        ("displayUnit", &column.display_unit),
        ("description", &column.description),
        ("type", kind),
        ("variability", parameter),
    ];
    let said = facts.iter().filter(|(_, value)| !value.is_empty());
    said.map(|(key, value)| (format!("{key}:{}", column.name), value.to_string())).collect()
}

/// A column chunk is one data page: its header, then the values.
fn page(values: impl Iterator<Item = f64>, rows: usize) -> Vec<u8> {
    let mut bytes = page_header(rows);
    bytes.reserve(rows * 8);
    values.for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    bytes
}

fn page_header(rows: usize) -> Vec<u8> {
    let size = (rows * 8) as i32;
    let mut writer = Writer::default();
    writer.i32(1, code::DATA_PAGE).i32(2, size).i32(3, size).enter(5);
    writer.i32(1, rows as i32).i32(2, code::PLAIN).i32(3, code::RLE).i32(4, code::RLE).end();
    writer.leave();
    writer.end();
    writer.bytes
}

fn chunk_size(rows: usize) -> usize {
    page_header(rows).len() + rows * 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::TemporaryPath;

    fn columns() -> Vec<Column> {
        vec![
            Column::new("x[1,2]").unit("rad").display_unit("deg").description("angle"),
            Column::new("y").alias(0, true),
            Column::new("on").kind(Kind::Boolean),
            Column::new("p").parameter(),
        ]
    }

    fn run(path: &TemporaryPath, rows_per_group: usize, rows: usize) -> ParquetSink {
        let mut sink = ParquetSink::create(&path.0).unwrap();
        sink.begin(&columns()).unwrap();
        sink.rows_per_group = rows_per_group;
        for row in 0..rows {
            sink.row(row as f64, &[row as f64 * 0.5, (row % 2) as f64, 7.0]).unwrap();
        }
        sink
    }

    #[test]
    fn reads_back_over_several_groups() {
        for (rows_per_group, rows) in [(1000, 10), (3, 10), (5, 10), (3, 0)] {
            let path = TemporaryPath::new(&format!("groups{rows_per_group}-{rows}.parquet"));
            run(&path, rows_per_group, rows).finish().unwrap();
            let result = crate::read(&path.0).unwrap();
            assert_eq!(result.time, (0..rows).map(|row| row as f64).collect::<Vec<_>>());
            let values = |name: &str| result.get(name).unwrap().values.clone();
            assert_eq!(values("y"), (0..rows).map(|row| 0.0 - row as f64 * 0.5).collect::<Vec<_>>());
            assert_eq!(values("on"), (0..rows).map(|row| (row % 2) as f64).collect::<Vec<_>>());
            for (column, read) in columns().iter().zip(&result.variables) {
                assert_eq!(read.column, Column { alias: None, ..column.clone() });
            }
        }
    }

    #[test]
    fn the_file_is_readable_at_any_time() {
        let path = TemporaryPath::new("open.parquet");
        let sink = run(&path, 4, 10);
        assert_eq!(crate::read(&path.0).unwrap().time.len(), 8);
        drop(sink);
        assert_eq!(crate::read(&path.0).unwrap().time.len(), 10);
    }

    #[test]
    fn no_damaged_file_panics() {
        let path = TemporaryPath::new("damaged.parquet");
        run(&path, 3, 10).finish().unwrap();
        let bytes = std::fs::read(&path.0).unwrap();
        for index in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[index] ^= flip;
                let _ = read(&path.0, &damaged, &|_| true);
            }
            let _ = read(&path.0, &bytes[..index], &|_| true);
        }
    }
}
