//! Results as comma-separated values: `time`, then one column a variable under its full name.
//!
//! Numbers have the shortest form that reads back to the same value. A name is quoted when it holds a comma or a quote
//! (`"x[1,2]"`). Most columns of a large model do not change from row to row, so the text of each value is kept and
//! only formatted anew when the value is another.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crate::column::Expansion;
use crate::output::OutputFile;
use crate::trajectories::time_column;
use crate::{Column, ResultError, ResultSink, Trajectories, Trajectory, units_file};

/// Complete rows are handed to the system in pieces of about this size.
const PIECE: usize = 1 << 18;

/// The text of one value; the longest `f64` takes 24 bytes.
#[derive(Clone, Copy)]
struct Cell {
    bits: u64,
    length: u8,
    text: [u8; 24],
}

impl Cell {
    const EMPTY: Self = Self { bits: 0, length: 1, text: [b'0'; 24] };

    fn set(&mut self, value: f64) {
        self.bits = value.to_bits();
        let mut buffer = zmij::Buffer::new();
        // Adding zero takes the sign from a negative zero, which means nothing in a result.
        let text = buffer.format(value + 0.0);
        let text = text.strip_suffix(".0").unwrap_or(text).as_bytes();
        let length = text.len().min(self.text.len());
        self.text[..length].copy_from_slice(&text[..length]);
        self.length = length as u8;
    }

    fn text(&self) -> &[u8] {
        &self.text[..self.length as usize]
    }
}

/// Writes a CSV file, with the units of the variables in a file beside it.
pub struct CsvSink {
    target: Target,
    expansion: Expansion,
    cells: Vec<Cell>,
    time: Cell,
    pending: Vec<u8>,
}

enum Target {
    File(OutputFile),
    /// Such as standard output, with its name and when it was last written.
    Stream(Box<dyn Write + Send>, &'static str, Instant),
}

impl CsvSink {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<Self, ResultError> {
        Ok(Self::new(Target::File(OutputFile::create(path)?)))
    }

    /// Writes to a stream; `name` is for messages.
    pub fn stream(stream: impl Write + Send + 'static, name: &'static str) -> Self {
        Self::new(Target::Stream(Box::new(stream), name, Instant::now()))
    }

    fn new(target: Target) -> Self {
        Self { target, expansion: Expansion::default(), cells: Vec::new(), time: Cell::EMPTY, pending: Vec::new() }
    }

    fn flush(&mut self) -> Result<(), ResultError> {
        let written = match &mut self.target {
            Target::File(output) => output.append(&self.pending),
            Target::Stream(stream, name, last) => {
                *last = Instant::now();
                let written = stream.write_all(&self.pending).and_then(|()| stream.flush());
                written.map_err(|error| ResultError::io(Path::new(name), "write", error))
            }
        };
        self.pending.clear();
        written
    }

    fn is_stale(&self) -> bool {
        match &self.target {
            Target::File(output) => output.is_stale(),
            Target::Stream(_, _, last) => last.elapsed() > crate::output::PATIENCE,
        }
    }
}

impl ResultSink for CsvSink {
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError> {
        self.expansion = Expansion::new(columns)?;
        self.cells = vec![Cell::EMPTY; self.expansion.width];
        // A piece and the row that completes it: nothing has to grow during the run.
        self.pending.reserve(PIECE + (self.expansion.sources.len() + 1) * (size_of::<Cell>() + 2));
        self.pending.extend_from_slice(b"time");
        for column in columns {
            self.pending.push(b',');
            push_name(&mut self.pending, &column.name);
        }
        self.pending.push(b'\n');
        self.flush()?;
        if let Target::File(output) = &self.target
            && output.is_replaceable()
        {
            units_file::write(output.path(), columns);
        }
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        self.expansion.check(values)?;
        for (cell, &value) in self.cells.iter_mut().zip(values) {
            if cell.bits != value.to_bits() {
                cell.set(value);
            }
        }
        self.time.set(time);
        self.pending.extend_from_slice(self.time.text());
        for source in &self.expansion.sources {
            self.pending.push(b',');
            push_value(&mut self.pending, self.cells[source.value].text(), source.negated);
        }
        self.pending.push(b'\n');
        if self.pending.len() >= PIECE || self.is_stale() {
            self.flush()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        self.flush()
    }
}

impl Drop for CsvSink {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

fn push_value(out: &mut Vec<u8>, text: &[u8], negated: bool) {
    match text {
        _ if !negated => out.extend_from_slice(text),
        b"0" | b"NaN" => out.extend_from_slice(text),
        [b'-', rest @ ..] => out.extend_from_slice(rest),
        _ => {
            out.push(b'-');
            out.extend_from_slice(text);
        }
    }
}

fn push_name(out: &mut Vec<u8>, name: &str) {
    if !name.contains([',', '"', '\n', '\r']) {
        out.extend_from_slice(name.as_bytes());
        return;
    }
    out.push(b'"');
    out.extend_from_slice(name.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

/// Reads what [`CsvSink`] and the usual simulators write; a row that was cut off at the end of the file is left out.
pub(crate) fn read(path: &Path, bytes: &[u8], wanted: &dyn Fn(&str) -> bool) -> Result<Trajectories, ResultError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ResultError::format(path, "the file is not UTF-8 text"))?;
    let text = text.trim_start_matches('\u{feff}');
    let (header, mut rest) = split_record(text);
    let names = split_fields(header.trim_end_matches(['\n', '\r']));
    if names.is_empty() {
        return Err(ResultError::format(path, "the file is empty"));
    }
    let time = time_column(&names);
    let keep: Vec<bool> = names.iter().enumerate().map(|(i, name)| i == time || wanted(name)).collect();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    let mut line = 1;
    while !rest.is_empty() {
        let end = rest.find('\n');
        let record = &rest[..end.unwrap_or(rest.len())];
        rest = end.map_or("", |end| &rest[end + 1..]);
        line += 1;
        let record = record.trim_end_matches('\r');
        let complete = end.is_some() || record.split(',').count() == names.len();
        if record.trim().is_empty() || !complete {
            continue;
        }
        read_row(record, &keep, &mut columns)
            .map_err(|message| ResultError::format(path, format!("line {line}: {message}")))?;
    }
    let (time_name, time_values) = (names[time].clone(), std::mem::take(&mut columns[time]));
    let others = names.into_iter().zip(columns).zip(keep).enumerate();
    let kept = others.filter(|(index, (_, keep))| *index != time && *keep).map(|(_, (pair, _))| pair);
    let variables = kept.map(|(name, values)| Trajectory { column: Column::new(name), values }).collect();
    Ok(Trajectories { time: time_values, time_name, variables })
}

fn read_row(record: &str, keep: &[bool], columns: &mut [Vec<f64>]) -> Result<(), String> {
    let mut fields = record.split(',');
    for (index, keep) in keep.iter().enumerate() {
        let Some(field) = fields.next() else {
            return Err(format!("{index} values instead of {}", columns.len()));
        };
        if *keep {
            columns[index].push(number(field)?);
        }
    }
    match fields.next() {
        Some(rest) if !rest.trim().is_empty() => Err(format!("more than {} values", columns.len())),
        _ => Ok(()),
    }
}

fn number(field: &str) -> Result<f64, String> {
    let field = field.trim().trim_matches('"');
    match field {
        "true" | "True" => Ok(1.0),
        "false" | "False" => Ok(0.0),
        _ => field.parse().map_err(|_| format!("`{field}` is not a number")),
    }
}

/// The first record with its line break, which quotes may span, and the rest.
fn split_record(text: &str) -> (&str, &str) {
    let mut quoted = false;
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => return text.split_at(offset + 1),
            _ => {}
        }
    }
    (text, "")
}

fn split_fields(record: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = record.chars().peekable();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                fields[last].push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields[last].push(character),
        }
    }
    fields.iter().map(|field| field.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::output::tests::TemporaryPath;

    fn columns() -> Vec<Column> {
        vec![
            Column::new("x[1,2]"),
            Column::new("y").alias(0, true),
            Column::new("say \"hi\""),
            Column::new("p").parameter(),
        ]
    }

    #[test]
    fn time_has_its_name_or_comes_first() {
        let times = |text: &str| {
            let table = read(Path::new("r.csv"), text.as_bytes(), &|_| true).unwrap();
            let names = table.names().collect::<Vec<_>>().join(" ");
            format!("{} {:?} {names}", table.time_name, table.time)
        };
        assert_eq!(times("a,time,b\n1,2,3\n"), "time [2.0] a b");
        assert_eq!(times("a,Time (s)\n1,2\n"), "Time (s) [2.0] a");
        assert_eq!(times("t,timeout\n1,2\n"), "t [1.0] timeout");
        let table = read(Path::new("r.csv"), b"a,time,b\n1,2,3\n", &|name| name == "b").unwrap();
        assert_eq!((table.names().collect::<Vec<_>>(), &table.time[..]), (vec!["b"], &[2.0][..]));
    }

    #[test]
    fn header_numbers_and_double_rows() {
        let path = TemporaryPath::new("plain.csv");
        let mut sink = CsvSink::create(&path.0).unwrap();
        sink.begin(&columns()).unwrap();
        sink.row(0.0, &[1.0, 0.1, 3e-20]).unwrap();
        sink.row(0.5, &[-2.5, 0.1, 3e-20]).unwrap();
        sink.row(0.5, &[0.0, f64::NAN, 3e-20]).unwrap();
        sink.finish().unwrap();
        expect![[r#"
            time,"x[1,2]",y,"say ""hi""",p
            0,1,-1,0.1,3e-20
            0.5,-2.5,2.5,0.1,3e-20
            0.5,0,0,NaN,3e-20
        "#]]
        .assert_eq(&std::fs::read_to_string(&path.0).unwrap());

        let back = crate::read(&path.0).unwrap();
        assert_eq!(back.time, [0.0, 0.5, 0.5]);
        assert_eq!(back.get("x[1,2]").unwrap().values, [1.0, -2.5, 0.0]);
        assert_eq!(back.get("say \"hi\"").unwrap().values[1], 0.1);
    }

    #[test]
    fn rows_are_on_disk_when_the_run_is_dropped_without_finish() {
        let path = TemporaryPath::new("dropped.csv");
        let mut sink = CsvSink::create(&path.0).unwrap();
        sink.begin(&[Column::new("x")]).unwrap();
        sink.row(0.0, &[1.0]).unwrap();
        drop(sink);
        assert_eq!(std::fs::read_to_string(&path.0).unwrap(), "time,x\n0,1\n");
    }

    #[test]
    fn a_cut_off_last_row_is_left_out() {
        let table = read(Path::new("cut.csv"), b"time,x,y\n0,1,2\n1,2", &|_| true).unwrap();
        assert_eq!(table.time, [0.0]);
    }

    #[test]
    fn a_wrong_file_names_the_line() {
        let read = |text: &str| read(Path::new("r.csv"), text.as_bytes(), &|_| true).unwrap_err().to_string();
        expect!["`r.csv`: line 3: `abc` is not a number"].assert_eq(&read("time,x\n0,1\n1,abc\n"));
        expect!["`r.csv`: line 2: 1 values instead of 2"].assert_eq(&read("time,x\n0\n1,2\n"));
    }

    #[test]
    fn files_of_other_tools() {
        let text = "\u{feff}\"time\",\"x\",\"b\"\r\n0,1e3,true\r\n1,-2,false\r\n";
        let table = read(Path::new("r.csv"), text.as_bytes(), &|name| name != "x").unwrap();
        assert_eq!(table.names().collect::<Vec<_>>(), ["b"]);
        assert_eq!(table.get("b").unwrap().values, [1.0, 0.0]);
    }

    proptest::proptest! {
        #[test]
        fn every_value_reads_back(bits: u64) {
            let value = f64::from_bits(bits);
            let mut cell = Cell::EMPTY;
            cell.set(value);
            let back = number(std::str::from_utf8(cell.text()).unwrap()).unwrap();
            proptest::prop_assert!(back == value || (back.is_nan() && value.is_nan()));
        }
    }
}
