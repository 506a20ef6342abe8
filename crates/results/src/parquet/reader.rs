//! Reads the Parquet files that this program writes: flat, required, plain and uncompressed `DOUBLE` columns.

use std::collections::HashMap;
use std::path::Path;

use super::thrift::{Reader, Value};
use super::{MAGIC, code};
use crate::trajectories::time_column;
use crate::{Column, Kind, ResultError, Trajectories, Trajectory};

pub(crate) fn read(path: &Path, bytes: &[u8], wanted: &dyn Fn(&str) -> bool) -> Result<Trajectories, ResultError> {
    let wrong = |message: &str| ResultError::format(path, message.to_owned());
    let footer = footer(bytes).ok_or_else(|| wrong("this is no Parquet file, or one that was cut off"))?;
    let names: Vec<String> = footer.list(2).iter().skip(1).map(|column| column.text(4).unwrap_or_default()).collect();
    let facts: HashMap<String, String> =
        footer.list(5).iter().filter_map(|pair| Some((pair.text(1)?, pair.text(2)?))).collect();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    if names.is_empty() {
        return Err(wrong("there are no columns"));
    }
    let time = time_column(&names);
    let keep: Vec<bool> = names.iter().enumerate().map(|(index, name)| index == time || wanted(name)).collect();
    for group in footer.list(4) {
        let chunks = group.list(1);
        for ((chunk, column), keep) in chunks.iter().zip(&mut columns).zip(&keep) {
            if *keep {
                read_chunk(bytes, chunk, column)
                    .ok_or_else(|| wrong("only plain, uncompressed columns of doubles can be read"))?;
            }
        }
    }
    let (time_name, time_values) = (names[time].clone(), std::mem::take(&mut columns[time]));
    let others = names.into_iter().zip(columns).zip(keep).enumerate();
    let kept = others.filter(|(index, (_, keep))| *index != time && *keep).map(|(_, (pair, _))| pair);
    let variables: Vec<_> = kept.map(|(name, values)| Trajectory { column: describe(name, &facts), values }).collect();
    if variables.iter().any(|variable| variable.values.len() != time_values.len()) {
        return Err(wrong("the columns have different lengths"));
    }
    Ok(Trajectories { time: time_values, time_name, variables })
}

pub(crate) fn footer(bytes: &[u8]) -> Option<Value<'_>> {
    let rest = bytes.strip_suffix(MAGIC)?;
    let (rest, length) = rest.split_last_chunk::<4>()?;
    let start = rest.len().checked_sub(u32::from_le_bytes(*length) as usize)?;
    Reader::new(&rest[start..]).structure()
}

fn read_chunk(bytes: &[u8], chunk: &Value, column: &mut Vec<f64>) -> Option<()> {
    let facts = chunk.field(3)?;
    if facts.integer(1)? != i64::from(code::DOUBLE) || facts.integer(4)? != i64::from(code::UNCOMPRESSED) {
        return None;
    }
    let mut missing = facts.size(5)?;
    let mut offset = facts.size(9)?;
    while missing > 0 {
        let mut reader = Reader::new(bytes.get(offset..)?);
        let header = reader.structure()?;
        let page = header.field(5)?;
        let count = page.size(1)?;
        if page.integer(2)? != i64::from(code::PLAIN) || count == 0 || count > missing {
            return None;
        }
        let start = offset.checked_add(reader.position())?;
        let end = start.checked_add(count.checked_mul(8)?)?;
        let values = bytes.get(start..end)?.as_chunks::<8>().0;
        column.extend(values.iter().map(|value| f64::from_le_bytes(*value)));
        missing -= count;
        offset = end;
    }
    Some(())
}

fn describe(name: String, facts: &HashMap<String, String>) -> Column {
    let fact = |key: &str| facts.get(&format!("{key}:{name}")).cloned().unwrap_or_default();
    Column {
        unit: fact("unit"),
        display_unit: fact("displayUnit"),
        description: fact("description"),
        kind: match fact("type").as_str() {
            "Integer" => Kind::Integer,
            "Boolean" => Kind::Boolean,
            "enumeration" => Kind::Enumeration,
            _ => Kind::Real,
        },
        parameter: fact("variability") == "parameter",
        alias: None,
        name,
    }
}
