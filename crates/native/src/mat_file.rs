//! MATLAB MAT-files of versions 4, 6 and 7: reading matrices of numbers, and writing versions 4 and 6 (*MAT-File Format*,
//! The MathWorks). Version 7 is version 6 with compressed elements.

use crate::tables::Matrix;

const INT8: u32 = 1;
const UINT8: u32 = 2;
const INT16: u32 = 3;
const UINT16: u32 = 4;
const INT32: u32 = 5;
const UINT32: u32 = 6;
const SINGLE: u32 = 7;
const DOUBLE: u32 = 9;
const INT64: u32 = 12;
const UINT64: u32 = 13;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

const HEADER: usize = 128;
/// What a compressed element may grow to.
const MAX_BYTES: usize = 1 << 30;

/// A named matrix of a file. Complex values keep their real part.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    pub name: String,
    pub matrix: Matrix,
}

/// The matrix with a certain name; `record.field` names a field of a structure.
pub fn read(bytes: &[u8], name: &str) -> Result<Matrix, String> {
    let variables = variables(bytes)?;
    let names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
    let missing = format!("there is no matrix `{name}` in the file; it holds {}", names.join(", "));
    variables.into_iter().find(|variable| variable.name == name).map(|variable| variable.matrix).ok_or(missing)
}

/// All matrices of numbers in a file.
pub fn variables(bytes: &[u8]) -> Result<Vec<Variable>, String> {
    match version_5_order(bytes) {
        Some(big_endian) => level_5(&bytes[HEADER..], big_endian),
        None => level_4(bytes),
    }
}

pub fn is_version_5(bytes: &[u8]) -> bool {
    version_5_order(bytes).is_some()
}

/// Whether the file is of version 5 or later, and its byte order.
fn version_5_order(bytes: &[u8]) -> Option<bool> {
    // Version 4 begins with a number below 5000, whose bytes have a zero among them.
    if bytes.len() < HEADER || bytes[..4].contains(&0) {
        return None;
    }
    match &bytes[126..128] {
        b"IM" => Some(false),
        b"MI" => Some(true),
        _ => None,
    }
}

/// Bytes that are taken from the front.
struct Reader<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        if count > self.bytes.len() {
            return Err("the MAT-file ends too early".into());
        }
        let (taken, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        Ok(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// One element of version 5: its type and its bytes, without the padding.
    fn element(&mut self) -> Result<(u32, &'a [u8]), String> {
        let tag = self.u32()?;
        if tag >> 16 != 0 {
            // Small elements keep size and type in one word.
            let (size, kind) = ((tag >> 16) as usize, tag & 0xffff);
            let data = self.take(4)?;
            return data.get(..size).map(|data| (kind, data)).ok_or_else(|| "a small element is too large".into());
        }
        let size = self.u32()? as usize;
        let data = self.take(size)?;
        if tag != COMPRESSED {
            let padding = (8 - size % 8) % 8;
            self.take(padding.min(self.bytes.len()))?;
        }
        Ok((tag, data))
    }

    fn numbers(&self, kind: u32, data: &[u8]) -> Result<Vec<f64>, String> {
        macro_rules! read {
            ($ty:ty) => {
                data.chunks_exact(size_of::<$ty>())
                    .map(|chunk| {
                        let mut bytes = [0; size_of::<$ty>()];
                        bytes.copy_from_slice(chunk);
                        (if self.big_endian { <$ty>::from_be_bytes(bytes) } else { <$ty>::from_le_bytes(bytes) }) as f64
                    })
                    .collect()
            };
        }
        Ok(match kind {
            INT8 => read!(i8),
            UINT8 => read!(u8),
            INT16 => read!(i16),
            UINT16 => read!(u16),
            INT32 => read!(i32),
            UINT32 => read!(u32),
            SINGLE => read!(f32),
            DOUBLE => read!(f64),
            INT64 => read!(i64),
            UINT64 => read!(u64),
            other => return Err(format!("the MAT-file holds data of type {other}, which is not supported")),
        })
    }
}

/// Column by column, as MATLAB stores it, to row by row.
fn matrix(rows: usize, columns: usize, values: &[f64]) -> Result<Matrix, String> {
    if rows.checked_mul(columns).is_none_or(|count| count > values.len()) {
        return Err("the MAT-file holds fewer numbers than the size of a matrix says".into());
    }
    let stored = Matrix { rows: columns, columns: rows, values: values[..rows * columns].to_vec() };
    Ok(stored.transposed())
}

fn level_4(bytes: &[u8]) -> Result<Vec<Variable>, String> {
    let mut found = Vec::new();
    let mut reader = Reader { bytes, big_endian: false };
    while !reader.bytes.is_empty() {
        let kind = reader.u32()?;
        // The thousands tell the byte order: 0 little, 1 big.
        reader.big_endian = kind > 5000;
        let kind = if reader.big_endian { kind.swap_bytes() } else { kind };
        let (rows, columns) = (reader.u32()? as usize, reader.u32()? as usize);
        let imaginary = reader.u32()? != 0;
        let name_length = reader.u32()? as usize;
        let name = reader.take(name_length)?;
        let name = String::from_utf8_lossy(name.split(|&byte| byte == 0).next().unwrap_or(&[])).into_owned();
        let data_kind = match kind / 10 % 10 {
            0 => DOUBLE,
            1 => SINGLE,
            2 => INT32,
            3 => INT16,
            4 => UINT16,
            5 => UINT8,
            other => return Err(format!("the MAT-file of version 4 holds data of type {other}")),
        };
        let size = match data_kind {
            DOUBLE => 8,
            SINGLE | INT32 => 4,
            UINT8 => 1,
            _ => 2,
        };
        let count = rows.checked_mul(columns).and_then(|count| count.checked_mul(size));
        let count = count.ok_or("a matrix of the MAT-file is too large")?;
        let data = reader.take(count)?;
        if imaginary {
            reader.take(count)?;
        }
        // Texts and sparse matrices are no tables.
        if kind % 10 == 0 {
            let values = reader.numbers(data_kind, data)?;
            found.push(Variable { name, matrix: matrix(rows, columns, &values)? });
        }
        reader.big_endian = false;
    }
    Ok(found)
}

fn level_5(bytes: &[u8], big_endian: bool) -> Result<Vec<Variable>, String> {
    let mut found = Vec::new();
    let mut reader = Reader { bytes, big_endian };
    while reader.bytes.len() >= 8 {
        let (kind, data) = reader.element()?;
        match kind {
            COMPRESSED => {
                let bytes = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(data, MAX_BYTES)
                    .map_err(|error| format!("the MAT-file is damaged: {error}"))?;
                let mut inner = Reader { bytes: &bytes, big_endian };
                if let (MATRIX, data) = inner.element()? {
                    array(data, big_endian, "", &mut found, 0)?;
                }
            }
            MATRIX => array(data, big_endian, "", &mut found, 0)?,
            _ => {}
        }
    }
    Ok(found)
}

/// One array: a matrix of numbers, or a structure whose fields are arrays again.
fn array(data: &[u8], big_endian: bool, prefix: &str, found: &mut Vec<Variable>, depth: usize) -> Result<(), String> {
    const STRUCTURE: u32 = 2;
    const MAX_DEPTH: usize = 20;
    if data.is_empty() || depth > MAX_DEPTH {
        return Ok(());
    }
    let mut reader = Reader { bytes: data, big_endian };
    let (kind, flags) = reader.element()?;
    let class = reader.numbers(kind, flags)?.first().map_or(0, |&flags| flags as u32 & 0xff);
    let (kind, sizes) = reader.element()?;
    let sizes: Vec<usize> = reader.numbers(kind, sizes)?.into_iter().map(|size| size as usize).collect();
    let (_, name) = reader.element()?;
    let own = String::from_utf8_lossy(name);
    let name = if prefix.is_empty() { own.into_owned() } else { prefix.to_owned() };
    match class {
        STRUCTURE => {
            let (kind, length) = reader.element()?;
            let length = reader.numbers(kind, length)?.first().map_or(0, |&length| length as usize);
            let (_, names) = reader.element()?;
            if length == 0 {
                return Ok(());
            }
            for field in names.chunks(length) {
                let field = String::from_utf8_lossy(field.split(|&byte| byte == 0).next().unwrap_or(&[])).into_owned();
                let (_, data) = reader.element()?;
                array(data, big_endian, &format!("{name}.{field}"), found, depth + 1)?;
            }
            Ok(())
        }
        6..=15 if sizes.len() == 2 => {
            let (kind, data) = reader.element()?;
            let values = reader.numbers(kind, data)?;
            found.push(Variable { name, matrix: matrix(sizes[0], sizes[1], &values)? });
            Ok(())
        }
        // Texts, cells, sparse and higher arrays are no tables.
        _ => Ok(()),
    }
}

/// A variable in the form of version 4, to be appended to a file.
pub fn write_4(name: &str, matrix: &Matrix) -> Vec<u8> {
    let mut out = Vec::with_capacity(24 + name.len() + matrix.values.len() * 8);
    for word in [0, matrix.rows as u32, matrix.columns as u32, 0, name.len() as u32 + 1] {
        out.extend(word.to_le_bytes());
    }
    out.extend(name.as_bytes());
    out.push(0);
    matrix.transposed().values.iter().for_each(|value| out.extend(value.to_le_bytes()));
    out
}

/// The beginning of a file of version 6 or 7.
pub fn header_5() -> Vec<u8> {
    let mut out = b"MATLAB 5.0 MAT-file".to_vec();
    out.resize(124, b' ');
    out.extend([0x00, 0x01, b'I', b'M']);
    out
}

/// A variable in the form of version 6, or 7 if it is to be compressed.
pub fn write_5(name: &str, matrix: &Matrix, compressed: bool) -> Vec<u8> {
    fn element(out: &mut Vec<u8>, kind: u32, data: &[u8]) {
        out.extend(kind.to_le_bytes());
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(data);
        out.resize(out.len().next_multiple_of(8), 0);
    }
    const DOUBLE_CLASS: u32 = 6;
    let mut body = Vec::new();
    let flags: Vec<u8> = [DOUBLE_CLASS, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    element(&mut body, UINT32, &flags);
    let sizes: Vec<u8> =
        [matrix.rows as u32, matrix.columns as u32].iter().flat_map(|word| word.to_le_bytes()).collect();
    element(&mut body, INT32, &sizes);
    element(&mut body, INT8, name.as_bytes());
    let values: Vec<u8> = matrix.transposed().values.iter().flat_map(|value| value.to_le_bytes()).collect();
    element(&mut body, DOUBLE, &values);
    let mut out = Vec::new();
    element(&mut out, MATRIX, &body);
    if !compressed {
        return out;
    }
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&out, 6);
    let mut out = Vec::with_capacity(packed.len() + 8);
    out.extend(COMPRESSED.to_le_bytes());
    out.extend((packed.len() as u32).to_le_bytes());
    out.extend(packed);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Matrix {
        Matrix { rows: 2, columns: 3, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.5] }
    }

    #[test]
    fn what_is_written_reads_back() {
        let two = Matrix { rows: 1, columns: 1, values: vec![7.0] };
        let four = [write_4("a", &example()), write_4("bb", &two)].concat();
        let six = [header_5(), write_5("a", &example(), false), write_5("bb", &two, false)].concat();
        let seven = [header_5(), write_5("a", &example(), true), write_5("bb", &two, true)].concat();
        for file in [four, six, seven] {
            assert_eq!(read(&file, "a"), Ok(example()));
            assert_eq!(read(&file, "bb"), Ok(two.clone()));
            assert_eq!(read(&file, "c").unwrap_err(), "there is no matrix `c` in the file; it holds a, bb");
        }
    }

    #[test]
    fn damaged_files_are_errors() {
        let whole = [header_5(), write_5("a", &example(), false)].concat();
        for length in 0..whole.len() {
            assert!(read(&whole[..length], "a").is_err());
        }
        let whole = write_4("a", &example());
        for length in 0..whole.len() {
            assert!(read(&whole[..length], "a").is_err());
        }
    }
}
