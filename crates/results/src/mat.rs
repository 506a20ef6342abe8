//! Results as a MATLAB level 4 file in the layout that Dymola and OpenModelica write.
//!
//! The matrices, in this order: `Aclass` (the kind of file), `name`, `description`, `dataInfo` (where the values of a
//! variable stand, negative for the opposite sign), `data_1` (what is constant over the run: two columns, start and
//! end) and `data_2` (the trajectories). In the transposed variant (`binTrans`) a row of the run is a contiguous
//! column of `data_2`, the last matrix, so rows are appended and the number of columns in its header is overwritten.
//! Level 4 format: MATLAB MAT-File Format, chapter 2.
//!
//! So that the file can be read at every moment of the run, also by those who take their time, the whole file is replaced by
//! a longer one now and then: a small one by its content, a large one by a hidden copy that grows. Where there is no room for
//! a copy, the file grows in place, and what is there when the run is killed can be read: readers take what follows `data_2`
//! for a further matrix, and there is one: `spare`, bytes without meaning. New rows are written into it, and at their end the
//! head of the next `spare`; then the number of columns makes them part of `data_2`, and what the old head of `spare` still
//! covers of them is put in its place. The end of the run cuts `spare` off.

use std::path::Path;

use crate::column::Expansion;
use crate::output::OutputFile;
use crate::{Column, Kind, ResultError, ResultSink, Trajectories, Trajectory};

const PIECE: usize = 1 << 18;

/// Files up to this size are replaced.
const SMALL: usize = 1 << 24;

/// Zeros that readers take for heads of empty matrices come in this size.
const HEAD: u64 = 20;
const SPARE: &str = "spare";
/// The size of the head of `spare`.
const SPARE_HEAD: usize = HEAD as usize + SPARE.len() + 1;

const DOUBLE: i32 = 0;
const BYTE: i32 = 50;
const INTEGER: i32 = 20;
const TEXT: i32 = 51;

/// Writes a MATLAB file.
pub struct MatSink {
    output: OutputFile,
    columns: Vec<Column>,
    expansion: Expansion,
    /// For each value of a row: whether it is constant and stands in `data_1`.
    constant: Vec<bool>,
    /// Where the number of columns of `data_2` and the end column of `data_1` stand in the file.
    offsets: Option<Offsets>,
    rows: i32,
    last_time: f64,
    pending: Vec<u8>,
    pending_rows: i32,
    /// What the file is to hold, as long as it is replaced as a whole.
    content: Option<Vec<u8>>,
    /// How much of it the file holds, and how many rows.
    held: (usize, i32),
    /// The file is complete, or took no more.
    is_over: bool,
}

struct Offsets {
    row_count: u64,
    end_time: u64,
    /// The end of `data_2`, where `spare` begins.
    end: u64,
}

impl MatSink {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<Self, ResultError> {
        Ok(Self {
            output: OutputFile::create(path)?,
            columns: Vec::new(),
            expansion: Expansion::default(),
            constant: Vec::new(),
            offsets: None,
            rows: 0,
            last_time: 0.0,
            pending: Vec::new(),
            pending_rows: 0,
            content: Some(Vec::new()),
            held: (0, 0),
            is_over: false,
        })
    }

    /// Everything up to the first row of `data_2`; parameters get their values from the first row of the run.
    fn write_head(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        let mut head = Vec::new();
        push_header(&mut head, "Aclass", TEXT, 4, 11);
        let class = ["Atrajectory", "1.1", "", "binTrans"].map(|line| format!("{line:11}").into_bytes());
        head.extend((0..11).flat_map(|column| class.each_ref().map(|line| line[column])));
        let columns = &self.columns;
        let names = std::iter::once("time").chain(columns.iter().map(|column| column.name.as_str()));
        push_texts(&mut head, "name", &names.map(str::to_owned).collect::<Vec<_>>());
        let time_text = "Simulation time [s]".to_owned();
        let descriptions = std::iter::once(time_text).chain(columns.iter().map(describe));
        push_texts(&mut head, "description", &descriptions.collect::<Vec<_>>());

        let (mut constants, mut variables) = (vec![time], 1);
        let mut index_of = Vec::with_capacity(values.len());
        for (&constant, &value) in self.constant.iter().zip(values) {
            if constant {
                constants.push(value);
                index_of.push(constants.len() as i32);
            } else {
                variables += 1;
                index_of.push(variables);
            }
        }
        push_header(&mut head, "dataInfo", INTEGER, 4, columns.len() + 1);
        let mut information = vec![0, 1, 0, -1];
        for source in &self.expansion.sources {
            let index = index_of[source.value];
            let constant = self.constant[source.value];
            let outside = if constant { 0 } else { -1 };
            information.extend([2 - i32::from(constant), if source.negated { -index } else { index }, 0, outside]);
        }
        head.extend(information.iter().flat_map(|number: &i32| number.to_le_bytes()));
        push_header(&mut head, "data_1", DOUBLE, constants.len(), 2);
        push_doubles(&mut head, &constants);
        let end_time = head.len() as u64;
        push_doubles(&mut head, &constants);
        let row_count = head.len() as u64 + 8;
        push_header(&mut head, "data_2", DOUBLE, variables as usize, 0);
        let end = head.len() as u64;
        if self.output.is_replaceable() {
            self.output.replace(&head)?;
            self.held = (head.len(), 0);
        }
        self.content = Some(head);
        self.offsets = Some(Offsets { row_count, end_time, end });
        Ok(())
    }

    /// Adds the rows that were kept back to the content of a small file.
    fn take_pending(&mut self) {
        let (Some(content), Some(offsets)) = (&mut self.content, &mut self.offsets) else { return };
        content.append(&mut self.pending);
        self.rows = self.rows.saturating_add(std::mem::take(&mut self.pending_rows));
        offsets.end = content.len() as u64;
        let (rows, time) = (self.rows.to_le_bytes(), self.last_time.to_le_bytes());
        for (at, bytes) in [(offsets.row_count, &rows[..]), (offsets.end_time, &time[..])] {
            if let Some(place) = content.get_mut(at as usize..at as usize + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        }
    }

    /// Replaces a small file by one with all rows; where there is no room for both, it gets what fits.
    fn replace(&mut self, spare: bool) -> Result<(), ResultError> {
        self.take_pending();
        let Some(content) = &mut self.content else { return Ok(()) };
        let length = content.len();
        if spare {
            push_header(content, SPARE, BYTE, 0, 1);
        }
        let replaced = self.output.replace(content);
        content.truncate(length);
        match replaced {
            Ok(()) => self.held = (length, self.rows),
            Err(_) => self.save_what_fits(),
        }
        replaced
    }

    fn save_what_fits(&mut self) {
        self.is_over = true;
        let (Some(content), Some(offsets)) = (self.content.take(), self.offsets.take()) else { return };
        let (begin, rows) = self.held;
        let new_rows = self.rows.saturating_sub(rows).max(1) as usize;
        let width = (content.len() - begin) / new_rows;
        if begin == 0 || width == 0 {
            return;
        }
        let piece = width * (PIECE / 64 / width).max(1);
        let fits = |bytes: &&[u8]| self.output.append(bytes).is_ok();
        let saved: usize = content[begin..].chunks(piece).take_while(fits).map(<[u8]>::len).sum();
        if saved == 0 {
            return;
        }
        let time = &content[begin + saved - width..][..8];
        let rows = rows + (saved / width) as i32;
        // The error that led here is reported.
        let _ = self.output.patch(offsets.row_count, &rows.to_le_bytes());
        let _ = self.output.patch(offsets.end_time, time);
    }

    /// From now on the file grows by a copy, or in place where there is none.
    fn grow(&mut self) -> Result<(), ResultError> {
        if !self.output.is_replaceable() {
            return self.grow_in_place();
        }
        self.replace(false)?;
        if !self.output.grow_in_copy() {
            return self.grow_in_place();
        }
        self.content = None;
        Ok(())
    }

    /// Adds the rows that were kept back to the copy, which takes the place of the file when that is due.
    fn extend_copy(&mut self) -> Result<(), ResultError> {
        let Some(offsets) = &mut self.offsets else { return Ok(()) };
        let appended = self.output.append(&self.pending);
        self.pending.clear();
        let rows = std::mem::take(&mut self.pending_rows);
        if appended.is_ok() {
            self.rows = self.rows.saturating_add(rows);
            offsets.end = self.output.length();
        } else {
            // The file gets what did fit; the error that led here is reported.
            self.is_over = true;
            let _ = self.publish();
        }
        appended
    }

    /// The file gets all rows of the copy.
    fn publish(&mut self) -> Result<(), ResultError> {
        let Some(offsets) = &self.offsets else { return Ok(()) };
        self.output.patch(offsets.row_count, &self.rows.to_le_bytes())?;
        self.output.patch(offsets.end_time, &self.last_time.to_le_bytes())?;
        self.output.publish_copy()
    }

    /// The file gets all rows so far, and a new copy goes on to grow.
    fn checkpoint(&mut self) -> Result<(), ResultError> {
        self.publish()?;
        if self.output.grow_in_copy() {
            return Ok(());
        }
        let mut head = Vec::with_capacity(SPARE_HEAD);
        push_header(&mut head, SPARE, BYTE, 0, 1);
        self.output.append(&head)
    }

    /// From now on the file grows in place.
    fn grow_in_place(&mut self) -> Result<(), ResultError> {
        self.replace(true)?;
        self.content = None;
        Ok(())
    }

    /// Writes the rows that were kept back. Those that the head of `spare` would not fit into stay until there are more.
    fn flush(&mut self) -> Result<(), ResultError> {
        if self.content.is_some() {
            self.take_pending();
            return if self.output.is_replaceable() { self.replace(false) } else { Ok(()) };
        }
        if self.output.grows_in_copy() {
            self.extend_copy()?;
            return if self.output.is_copy_due() { self.checkpoint() } else { Ok(()) };
        }
        let Some(offsets) = self.offsets.as_mut().filter(|_| self.pending.len() >= SPARE_HEAD) else { return Ok(()) };
        let rows = self.rows.saturating_add(self.pending_rows);
        let written = insert(&mut self.output, offsets, rows, &self.pending);
        if written.is_ok() {
            offsets.end += self.pending.len() as u64;
            self.rows = rows;
        } else {
            let _ = self.output.set_length(offsets.end);
        }
        self.pending.clear();
        self.pending_rows = 0;
        written?;
        self.output.patch(offsets.end_time, &self.last_time.to_le_bytes())
    }

    /// The file without `spare`, with all rows.
    fn complete(&mut self) -> Result<(), ResultError> {
        if self.is_over {
            return Ok(());
        }
        if self.content.is_some() {
            if self.offsets.is_some() {
                self.replace(false)?;
                self.is_over = true;
            }
            return Ok(());
        }
        if self.output.grows_in_copy() {
            self.extend_copy()?;
            self.is_over = true;
            return self.publish();
        }
        self.flush()?;
        let Some(offsets) = &mut self.offsets else { return Ok(()) };
        self.output.set_length(offsets.end)?;
        if self.pending_rows > 0 {
            // Less than the head of `spare`: a row or two of a small model.
            self.output.append(&self.pending)?;
            offsets.end = self.output.length();
            self.pending.clear();
            self.rows = self.rows.saturating_add(std::mem::take(&mut self.pending_rows));
            self.output.patch(offsets.row_count, &self.rows.to_le_bytes())?;
            self.output.patch(offsets.end_time, &self.last_time.to_le_bytes())?;
        }
        Ok(())
    }
}

impl ResultSink for MatSink {
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError> {
        self.columns = columns.to_vec();
        self.expansion = Expansion::new(columns)?;
        self.constant = columns.iter().filter(|column| column.alias.is_none()).map(|column| column.parameter).collect();
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        self.expansion.check(values)?;
        if self.offsets.is_none() {
            self.write_head(time, values)?;
        }
        self.last_time = time;
        self.pending.extend_from_slice(&time.to_le_bytes());
        for (&value, &constant) in values.iter().zip(&self.constant) {
            if !constant {
                self.pending.extend_from_slice(&value.to_le_bytes());
            }
        }
        self.pending_rows += 1;
        match &self.content {
            Some(content) if content.len() + self.pending.len() > SMALL => self.grow(),
            Some(_) if self.output.is_stale() => self.flush(),
            None if self.pending.len() >= PIECE || self.output.is_stale() => self.flush(),
            _ => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        if self.offsets.is_none() && !self.is_over {
            let unknown = vec![f64::NAN; self.expansion.width];
            self.write_head(0.0, &unknown)?;
        }
        self.complete()
    }
}

impl Drop for MatSink {
    fn drop(&mut self) {
        let _ = self.complete();
    }
}

/// Puts rows between `data_2` and `spare`. Each write leaves a file that can be read.
fn insert(output: &mut OutputFile, offsets: &Offsets, rows: i32, bytes: &[u8]) -> Result<(), ResultError> {
    let spare = |length: u64| {
        let mut head = Vec::with_capacity(SPARE_HEAD);
        push_header(&mut head, SPARE, BYTE, length as usize, 1);
        head
    };
    let (begin, end) = (offsets.end, offsets.end + bytes.len() as u64);
    let missing = (end + SPARE_HEAD as u64).saturating_sub(output.length());
    let length = output.length() + missing.next_multiple_of(HEAD);
    output.set_length(length)?;
    output.patch(begin, &spare(length - begin - SPARE_HEAD as u64))?;
    let (covered, free) = bytes.split_at(SPARE_HEAD);
    output.patch(begin + SPARE_HEAD as u64, free)?;
    output.patch(end, &spare(length - end - SPARE_HEAD as u64))?;
    output.patch(offsets.row_count, &rows.to_le_bytes())?;
    output.patch(begin, covered)
}

fn push_header(out: &mut Vec<u8>, name: &str, kind: i32, rows: usize, columns: usize) {
    for number in [kind, rows as i32, columns as i32, 0, name.len() as i32 + 1] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(name.as_bytes());
    out.push(0);
}

fn push_texts(out: &mut Vec<u8>, name: &str, texts: &[String]) {
    let width = texts.iter().map(String::len).max().unwrap_or(0).max(1);
    push_header(out, name, TEXT, width, texts.len());
    for text in texts {
        out.extend_from_slice(text.as_bytes());
        out.resize(out.len() + width - text.len(), 0);
    }
}

fn push_doubles(out: &mut Vec<u8>, numbers: &[f64]) {
    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

/// `text [unit|displayUnit]`, as both tools write it. Booleans carry the mark `:#(type=Boolean)` of Dymola.
fn describe(column: &Column) -> String {
    let mut text = column.description.replace(['\n', '\r', '\0'], " ");
    let mut inside = column.unit.clone();
    if !column.unit.is_empty() && !column.display_unit.is_empty() && column.display_unit != column.unit {
        inside = format!("{}|{}", column.unit, column.display_unit);
    }
    inside += match column.kind {
        Kind::Boolean => ":#(type=Boolean)",
        Kind::Integer => ":#(type=Integer)",
        Kind::Real | Kind::Enumeration => "",
    };
    // A description that ends in brackets of its own needs the unit's brackets after it, even when they are empty.
    if inside.is_empty() && !text.ends_with(']') {
        return text;
    }
    if !text.is_empty() {
        text.push(' ');
    }
    text + "[" + &inside + "]"
}

/// The reverse of [`describe`], tolerant of what other tools add after a colon inside the brackets.
fn understand(name: String, text: &str) -> Column {
    let mut column = Column::new(name);
    let mut description = text.trim_end();
    if let Some((before, inside)) = description.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        let (units, mark) = inside.split_once(':').unwrap_or((inside, ""));
        if mark.contains("type=Boolean") {
            column.kind = Kind::Boolean;
        } else if mark.contains("type=Integer") {
            column.kind = Kind::Integer;
        }
        if !units.is_empty() {
            let (unit, display) = units.split_once('|').unwrap_or((units, ""));
            column.unit = unit.to_owned();
            column.display_unit = display.to_owned();
        }
        description = before.trim_end();
    }
    column.description = description.to_owned();
    column
}

/// A matrix of the file, not yet decoded. Element (row, column) stands at `row + column * rows`.
struct Matrix<'a> {
    precision: i32,
    rows: usize,
    columns: usize,
    data: &'a [u8],
}

impl Matrix<'_> {
    fn width(precision: i32) -> Option<usize> {
        Some(match precision {
            0 => 8,
            1 | 2 => 4,
            3 | 4 => 2,
            5 => 1,
            _ => return None,
        })
    }

    fn number(&self, row: usize, column: usize) -> Option<f64> {
        if row >= self.rows || column >= self.columns {
            return None;
        }
        let width = Self::width(self.precision)?;
        let offset = (row + column * self.rows) * width;
        let bytes = self.data.get(offset..offset + width)?;
        Some(match self.precision {
            0 => f64::from_le_bytes(bytes.try_into().ok()?),
            1 => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
            2 => f64::from(i32::from_le_bytes(bytes.try_into().ok()?)),
            3 => f64::from(i16::from_le_bytes(bytes.try_into().ok()?)),
            4 => f64::from(u16::from_le_bytes(bytes.try_into().ok()?)),
            _ => f64::from(bytes[0]),
        })
    }

    fn text(&self, line: usize, transposed: bool) -> String {
        let length = if transposed { self.rows } else { self.columns };
        let byte = |position| {
            let (row, column) = if transposed { (position, line) } else { (line, position) };
            self.number(row, column).map_or(0, |number| number as u8)
        };
        let bytes: Vec<u8> = (0..length).map(byte).take_while(|&byte| byte != 0).collect();
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    }
}

/// The matrices by name. A matrix whose data end early (a run that was killed) keeps its complete columns.
fn matrices<'a>(path: &Path, mut bytes: &'a [u8]) -> Result<Vec<(String, Matrix<'a>)>, ResultError> {
    let wrong = |message: &str| ResultError::format(path, message);
    let mut found = Vec::new();
    while bytes.len() >= 20 {
        let mut header = [0i32; 5];
        for (number, bytes) in header.iter_mut().zip(bytes.chunks_exact(4)) {
            *number = i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        let [kind, rows, columns, imaginary, name_length] = header;
        let precision = (kind / 10) % 10;
        let width = Matrix::width(precision).filter(|_| (0..1000).contains(&kind) && imaginary == 0);
        let (Some(width), Ok(rows), Ok(columns), Ok(name_length)) =
            (width, usize::try_from(rows), usize::try_from(columns), usize::try_from(name_length))
        else {
            return Err(wrong("this is no MATLAB level 4 file of real little-endian matrices"));
        };
        let name = bytes.get(20..20 + name_length).ok_or_else(|| wrong("the name of a matrix is cut off"))?;
        let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
        let data = &bytes[20 + name_length..];
        let size = rows.checked_mul(columns).and_then(|n| n.checked_mul(width));
        let size = size.ok_or_else(|| wrong("a matrix is larger than the memory"))?;
        let available = size.min(data.len());
        let columns = if available < size { available / (rows * width).max(1) } else { columns };
        found.push((name, Matrix { precision, rows, columns, data: &data[..available] }));
        bytes = &data[available..];
    }
    Ok(found)
}

pub(crate) fn read(path: &Path, bytes: &[u8], wanted: &dyn Fn(&str) -> bool) -> Result<Trajectories, ResultError> {
    let matrices = matrices(path, bytes)?;
    let matrix = |name: &str| {
        let found = matrices.iter().find(|(found, _)| found == name).map(|(_, matrix)| matrix);
        found.ok_or_else(|| ResultError::format(path, format!("the matrix `{name}` of a simulation result is missing")))
    };
    let (names, descriptions, information) = (matrix("name")?, matrix("description")?, matrix("dataInfo")?);
    let transposed = match matrix("Aclass")?.text(3, false).as_str() {
        "binTrans" => true,
        "binNormal" => false,
        other => return Err(ResultError::format(path, format!("unknown kind of result `{other}`"))),
    };
    let cell = |matrix: &Matrix, variable: usize, row: usize| {
        if transposed { matrix.number(variable, row) } else { matrix.number(row, variable) }
    };
    let trajectories = matrix("data_2")?;
    let count = if transposed { names.columns } else { names.rows };
    let rows = if transposed { trajectories.columns } else { trajectories.rows };
    let time: Vec<f64> = (0..rows).map(|row| cell(trajectories, 0, row).unwrap_or(f64::NAN)).collect();
    let mut variables = Vec::new();
    for index in 1..count {
        let name = names.text(index, transposed);
        if !wanted(&name) {
            continue;
        }
        let table = cell(information, 0, index).filter(|_| transposed).or_else(|| information.number(index, 0));
        let place = cell(information, 1, index).filter(|_| transposed).or_else(|| information.number(index, 1));
        let (Some(table), Some(place)) = (table, place) else {
            return Err(ResultError::format(path, format!("`dataInfo` says nothing of `{name}`")));
        };
        let position = (place.abs() as usize).wrapping_sub(1);
        let sign = if place < 0.0 { -1.0 } else { 1.0 };
        let parameter = table == 1.0;
        let source = if parameter { matrix("data_1")? } else { trajectories };
        let value = |row| {
            let value = cell(source, position, if parameter { 0 } else { row });
            value.map(|value| if value == 0.0 { value } else { sign * value })
        };
        let values: Option<Vec<f64>> = (0..rows).map(value).collect();
        let Some(values) = values else {
            return Err(ResultError::format(path, format!("the values of `{name}` are missing")));
        };
        let mut column = understand(name, &descriptions.text(index, transposed));
        column.parameter = parameter;
        variables.push(Trajectory { column, values });
    }
    Ok(Trajectories { time, variables, time_name: names.text(0, transposed) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::TemporaryPath;

    fn columns() -> Vec<Column> {
        vec![
            Column::new("R.i").unit("A").description("current"),
            Column::new("R.p.i").unit("A").alias(0, false),
            Column::new("R.n.i").unit("A").alias(0, true),
            Column::new("phi").unit("rad").display_unit("deg"),
            Column::new("R.R").unit("Ohm").description("Resistance [nominal]").parameter(),
            Column::new("on").kind(Kind::Boolean),
        ]
    }

    fn written(path: &TemporaryPath) -> MatSink {
        let mut sink = MatSink::create(&path.0).unwrap();
        sink.begin(&columns()).unwrap();
        sink.row(0.0, &[1.0, 0.0, 10.0, 0.0]).unwrap();
        sink.row(0.5, &[2.0, 0.25, 10.0, 0.0]).unwrap();
        sink.row(0.5, &[3.0, 0.5, 10.0, 1.0]).unwrap();
        sink
    }

    fn check(result: &Trajectories) {
        assert_eq!(result.time, [0.0, 0.5, 0.5]);
        let values = |name: &str| result.get(name).unwrap().values.clone();
        assert_eq!(values("R.p.i"), [1.0, 2.0, 3.0]);
        assert_eq!(values("R.n.i"), [-1.0, -2.0, -3.0]);
        assert_eq!(values("phi"), [0.0, 0.25, 0.5]);
        assert_eq!(values("R.R"), [10.0, 10.0, 10.0]);
        assert_eq!(values("on"), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn reads_back_with_units_aliases_and_parameters() {
        let path = TemporaryPath::new("plain.mat");
        written(&path).finish().unwrap();
        let result = crate::read(&path.0).unwrap();
        check(&result);
        for (column, read) in columns().iter().zip(&result.variables) {
            assert_eq!(read.column, Column { alias: None, ..column.clone() });
        }
    }

    #[test]
    fn a_file_that_was_cut_off_keeps_its_complete_rows() {
        let path = TemporaryPath::new("cut.mat");
        written(&path).finish().unwrap();
        let bytes = std::fs::read(&path.0).unwrap();
        let result = read(&path.0, &bytes[..bytes.len() - 4], &|_| true).unwrap();
        assert_eq!(result.time, [0.0, 0.5]);
    }

    #[test]
    fn no_prefix_of_a_file_panics() {
        let path = TemporaryPath::new("prefix.mat");
        written(&path).finish().unwrap();
        let bytes = std::fs::read(&path.0).unwrap();
        for length in 0..bytes.len() {
            let _ = read(&path.0, &bytes[..length], &|_| true);
        }
    }

    #[test]
    fn a_run_without_rows_is_a_file() {
        let path = TemporaryPath::new("empty.mat");
        let mut sink = MatSink::create(&path.0).unwrap();
        sink.begin(&columns()).unwrap();
        sink.finish().unwrap();
        assert!(crate::read(&path.0).unwrap().time.is_empty());
    }
    #[test]
    fn every_state_of_a_growing_file_is_readable() {
        let path = TemporaryPath::new("growing.mat");
        let mut sink = written(&path);
        let names = || -> Vec<String> {
            let bytes = std::fs::read(&path.0).unwrap();
            matrices(&path.0, &bytes).unwrap().into_iter().map(|(name, _)| name).collect()
        };
        let all = ["Aclass", "name", "description", "dataInfo", "data_1", "data_2", "spare"];
        sink.flush().unwrap();
        assert_eq!(names(), all[..6]);
        check(&crate::read(&path.0).unwrap());
        sink.grow_in_place().unwrap();
        for _ in 0..3 {
            sink.flush().unwrap();
            assert_eq!(names(), all);
            check(&crate::read(&path.0).unwrap());
        }
        sink.finish().unwrap();
        let bytes = std::fs::read(&path.0).unwrap();
        assert_eq!(matrices(&path.0, &bytes).unwrap().last().unwrap().0, "data_2");
    }

    #[test]
    fn a_row_that_is_shorter_than_the_head_of_spare() {
        let path = TemporaryPath::new("short.mat");
        let mut sink = MatSink::create(&path.0).unwrap();
        sink.begin(&[Column::new("x")]).unwrap();
        for row in 0..7 {
            sink.row(f64::from(row), &[f64::from(-row)]).unwrap();
            sink.grow_in_place().unwrap();
            sink.flush().unwrap();
            let result = crate::read(&path.0).unwrap();
            assert!(result.time.iter().zip(0..).all(|(&time, row)| time == f64::from(row)));
            assert!(result.time.len() as i32 >= row);
        }
        sink.finish().unwrap();
        let result = crate::read(&path.0).unwrap();
        assert_eq!(result.get("x").unwrap().values, [0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0]);
    }

    /// The bytes are those of a file that was opened before and is read while the run goes on.
    #[cfg(unix)]
    #[test]
    fn a_small_file_can_be_read_slowly() {
        use std::io::Read;
        let path = TemporaryPath::new("slow.mat");
        let mut sink = MatSink::create(&path.0).unwrap();
        sink.begin(&[Column::new("x")]).unwrap();
        for row in 0..50 {
            sink.row(f64::from(row), &[f64::from(-row)]).unwrap();
            sink.flush().unwrap();
            let mut file = std::fs::File::open(&path.0).unwrap();
            let mut bytes = vec![0; 20];
            file.read_exact(&mut bytes).unwrap();
            sink.row(f64::from(row) + 0.5, &[f64::from(-row) - 0.5]).unwrap();
            sink.flush().unwrap();
            file.read_to_end(&mut bytes).unwrap();
            let result = read(&path.0, &bytes, &|_| true).unwrap();
            assert_eq!(result.time.len(), 2 * row as usize + 1);
            assert_eq!(result.last("x"), Some(f64::from(-row)));
        }
        sink.finish().unwrap();
        assert_eq!(crate::read(&path.0).unwrap().time.len(), 100);
    }

    /// A large file, too, is one thing for those who opened it.
    #[cfg(unix)]
    #[test]
    fn a_large_file_can_be_read_slowly() {
        use std::io::Read;
        let path = TemporaryPath::new("slow-large.mat");
        let mut sink = MatSink::create(&path.0).unwrap();
        sink.begin(&[Column::new("x")]).unwrap();
        sink.row(0.0, &[0.0]).unwrap();
        sink.grow().unwrap();
        assert!(sink.output.grows_in_copy());
        for row in 1..50 {
            let before = crate::read(&path.0).unwrap().time.len();
            let mut file = std::fs::File::open(&path.0).unwrap();
            let mut bytes = vec![0; 20];
            file.read_exact(&mut bytes).unwrap();
            sink.row(f64::from(row), &[f64::from(-row)]).unwrap();
            sink.flush().unwrap();
            assert_eq!(crate::read(&path.0).unwrap().time.len(), before);
            sink.checkpoint().unwrap();
            file.read_to_end(&mut bytes).unwrap();
            assert_eq!(read(&path.0, &bytes, &|_| true).unwrap().time.len(), before);
            let result = crate::read(&path.0).unwrap();
            assert_eq!((result.time.len(), result.last("x")), (before + 1, Some(f64::from(-row))));
        }
        sink.row(50.0, &[-50.0]).unwrap();
        sink.finish().unwrap();
        drop(sink);
        assert_eq!(crate::read(&path.0).unwrap().time.len(), 51);
        let left = std::fs::read_dir(path.0.parent().unwrap()).unwrap().flatten();
        assert_eq!(left.filter(|e| e.file_name().to_string_lossy().contains("slow-large.mat.")).count(), 0);
    }

    #[test]
    fn a_file_that_gets_large_keeps_all_rows() {
        let path = TemporaryPath::new("large.mat");
        let count = 60_000;
        let names: Vec<Column> = (0..50).map(|k| Column::new(format!("x{k}"))).collect();
        let mut sink = MatSink::create(&path.0).unwrap();
        sink.begin(&names).unwrap();
        for row in 0..count {
            sink.row(f64::from(row), &[f64::from(row); 50]).unwrap();
        }
        sink.finish().unwrap();
        let result = crate::read(&path.0).unwrap();
        let expected: Vec<f64> = (0..count).map(f64::from).collect();
        assert_eq!(result.time, expected);
        assert_eq!(result.get("x49").unwrap().values, expected);
    }
}
