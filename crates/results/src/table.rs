//! A table of numbers, whole numbers and texts in one Parquet file: what a study knows of its variants, a row each.
//!
//! Columns are required, plain and not compressed, so that every reader of Parquet takes them. Layout: Apache Parquet format 2.9.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::ResultError;
use crate::parquet::thrift::{Reader, Value, Writer};
use crate::parquet::{MAGIC, code, footer_of};

/// The values of a column.
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    /// Floating-point numbers.
    Real(Vec<f64>),
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Texts.
    Text(Vec<String>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Real(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    fn physical_type(&self) -> i32 {
        match self {
            Self::Real(_) => code::DOUBLE,
            Self::Integer(_) => code::INT64,
            Self::Text(_) => code::BYTE_ARRAY,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Real(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::Integer(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::Text(values) => {
                let mut bytes = Vec::new();
                for value in values {
                    bytes.extend_from_slice(&(value.len() as u32).to_le_bytes());
                    bytes.extend_from_slice(value.as_bytes());
                }
                bytes
            }
        }
    }

    /// `None` where the bytes are no such values.
    fn read(physical_type: i64, bytes: &[u8], rows: usize) -> Option<Self> {
        let words = || bytes.as_chunks::<8>().0.iter().take(rows);
        let values = if physical_type == i64::from(code::DOUBLE) {
            Self::Real(words().map(|word| f64::from_le_bytes(*word)).collect())
        } else if physical_type == i64::from(code::INT64) {
            Self::Integer(words().map(|word| i64::from_le_bytes(*word)).collect())
        } else if physical_type == i64::from(code::BYTE_ARRAY) {
            let mut rest = bytes;
            let mut texts = Vec::new();
            for _ in 0..rows {
                let (length, behind) = rest.split_first_chunk::<4>()?;
                let text = behind.get(..u32::from_le_bytes(*length) as usize)?;
                texts.push(String::from_utf8_lossy(text).into_owned());
                rest = &behind[text.len()..];
            }
            Self::Text(texts)
        } else {
            return None;
        };
        (values.len() == rows).then_some(values)
    }
}

/// Columns of equal length under their names, and facts about the whole.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table {
    /// Names and values.
    pub columns: Vec<(String, Values)>,
    /// Pairs that the file carries along.
    pub facts: Vec<(String, String)>,
}

impl Table {
    /// The column of a name.
    pub fn get(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|(known, _)| known == name).map(|(_, values)| values)
    }

    /// The column of a name as numbers; `None` for texts.
    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        match self.get(name)? {
            Values::Real(values) => Some(values.clone()),
            Values::Integer(values) => Some(values.iter().map(|&value| value as f64).collect()),
            Values::Text(_) => None,
        }
    }

    /// A fact about the whole.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    /// Writes a Parquet file. It appears as a whole: an older one stays until then.
    pub fn write(&self, path: &Path) -> Result<(), ResultError> {
        if self.columns.iter().any(|(_, values)| values.len() != self.rows()) {
            return Err(ResultError::Contract("the columns of a table have different lengths".to_owned()));
        }
        let failed = |error| ResultError::io(path, "write", error);
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}.new", std::process::id()));
        let beside = PathBuf::from(beside);
        let written = std::fs::File::create(&beside)
            .and_then(|mut file| file.write_all(&self.bytes()).and_then(|()| file.sync_data()))
            .and_then(|()| std::fs::rename(&beside, path));
        written.map_err(|error| {
            let _ = std::fs::remove_file(&beside);
            failed(error)
        })
    }

    fn bytes(&self) -> Vec<u8> {
        let rows = self.rows();
        let mut bytes = MAGIC.to_vec();
        let mut chunks = Vec::new();
        for (_, values) in &self.columns {
            let content = values.bytes();
            let start = bytes.len();
            bytes.extend_from_slice(&page_header(rows, content.len()));
            bytes.extend_from_slice(&content);
            chunks.push((start, bytes.len() - start));
        }
        let footer = self.footer(&chunks);
        bytes.extend_from_slice(&footer);
        bytes.extend_from_slice(&(footer.len() as u32).to_le_bytes());
        bytes.extend_from_slice(MAGIC);
        bytes
    }

    /// Of one group of rows, whose columns are at these places with these sizes.
    fn footer(&self, chunks: &[(usize, usize)]) -> Vec<u8> {
        let rows = self.rows() as i64;
        let mut writer = Writer::default();
        writer.i32(1, 1);
        writer.structs(2, self.columns.len() + 1);
        writer.text(4, "schema").i32(5, self.columns.len() as i32).end();
        for (name, values) in &self.columns {
            writer.i32(1, values.physical_type()).i32(3, code::REQUIRED).text(4, name);
            if matches!(values, Values::Text(_)) {
                writer.i32(6, code::UTF8);
            }
            writer.end();
        }
        writer.leave();
        writer.i64(3, rows);
        writer.structs(4, 1);
        writer.structs(1, chunks.len());
        for ((name, values), &(start, size)) in self.columns.iter().zip(chunks) {
            let (start, size) = (start as i64, size as i64);
            writer.i64(2, start).enter(3);
            writer.i32(1, values.physical_type()).i32s(2, &[code::PLAIN]).texts(3, &[name]).i32(4, code::UNCOMPRESSED);
            writer.i64(5, rows).i64(6, size).i64(7, size).i64(9, start).end();
            writer.leave();
            writer.end();
        }
        writer.leave();
        writer.i64(2, chunks.iter().map(|&(_, size)| size as i64).sum()).i64(3, rows).end();
        writer.leave();
        writer.structs(5, self.facts.len());
        for (key, value) in &self.facts {
            writer.text(1, key).text(2, value).end();
        }
        writer.leave();
        writer.text(6, concat!("gyrator ", env!("CARGO_PKG_VERSION"))).end();
        writer.bytes
    }

    /// Reads what [`write`](Self::write) wrote.
    pub fn read(path: &Path) -> Result<Self, ResultError> {
        let bytes = std::fs::read(path).map_err(|error| ResultError::io(path, "read", error))?;
        Self::of_bytes(&bytes)
            .ok_or_else(|| ResultError::format(path, "this is no table of a study, or one that was cut off"))
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let footer = footer_of(bytes)?;
        let names: Vec<String> = footer.list(2).iter().skip(1).map(|column| column.text(4)).collect::<Option<_>>()?;
        let facts = footer.list(5).iter().filter_map(|pair| Some((pair.text(1)?, pair.text(2)?))).collect();
        let [group] = footer.list(4) else { return None };
        if group.list(1).len() != names.len() {
            return None;
        }
        let columns =
            names.into_iter().zip(group.list(1)).map(|(name, chunk)| Some((name, chunk_values(bytes, chunk)?)));
        Some(Self { columns: columns.collect::<Option<_>>()?, facts })
    }
}

fn chunk_values(bytes: &[u8], chunk: &Value) -> Option<Values> {
    let facts = chunk.field(3)?;
    if facts.integer(4)? != i64::from(code::UNCOMPRESSED) {
        return None;
    }
    let (rows, offset, size) = (facts.size(5)?, facts.size(9)?, facts.size(7)?);
    let chunk = bytes.get(offset..offset.checked_add(size)?)?;
    let mut reader = Reader::new(chunk);
    let header = reader.structure()?;
    if header.field(5)?.size(1)? != rows || header.field(5)?.integer(2)? != i64::from(code::PLAIN) {
        return None;
    }
    Values::read(facts.integer(1)?, chunk.get(reader.position()..)?, rows)
}

fn page_header(rows: usize, size: usize) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.i32(1, code::DATA_PAGE).i32(2, size as i32).i32(3, size as i32).enter(5);
    writer.i32(1, rows as i32).i32(2, code::PLAIN).i32(3, code::RLE).i32(4, code::RLE).end();
    writer.leave();
    writer.end();
    writer.bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::TemporaryPath;

    fn table() -> Table {
        Table {
            columns: vec![
                ("variant".to_owned(), Values::Integer(vec![1, 2, -3])),
                ("R.R".to_owned(), Values::Real(vec![10.0, f64::INFINITY, 1e-300])),
                ("message".to_owned(), Values::Text(vec![String::new(), "über °".to_owned(), "a\nb".to_owned()])),
            ],
            facts: vec![("study".to_owned(), "{}".to_owned())],
        }
    }

    #[test]
    fn reads_back() {
        let path = TemporaryPath::new("table.parquet");
        table().write(&path.0).unwrap();
        let read = Table::read(&path.0).unwrap();
        assert_eq!(read, table());
        assert_eq!((read.rows(), read.fact("study")), (3, Some("{}")));
        assert_eq!(read.numbers("variant"), Some(vec![1.0, 2.0, -3.0]));
        let empty = Table { columns: vec![("x".to_owned(), Values::Real(Vec::new()))], facts: Vec::new() };
        empty.write(&path.0).unwrap();
        assert_eq!(Table::read(&path.0).unwrap(), empty);
    }

    #[test]
    fn no_damaged_file_panics() {
        let bytes = table().bytes();
        for index in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[index] ^= flip;
                let _ = Table::of_bytes(&damaged);
            }
            assert_eq!(Table::of_bytes(&bytes[..index]), None);
        }
    }
}
