//! Records as C structs (specification 12.9.1.3): members in the order of the declaration, each aligned to its size, as on all
//! machines with 64 bits.

#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int};

use dae::Value;
use dae::function::{RecordType, Type};

use super::arguments::{c_int_of, c_string, enumerated, text};

/// Structs in memory, with the texts that they point to.
pub struct Structs {
    /// Words, so that every member is aligned.
    words: Vec<u64>,
    texts: Vec<CString>,
    stride: usize,
    record: std::sync::Arc<RecordType>,
}

impl Structs {
    /// Room for so many structs.
    pub fn room(record: &std::sync::Arc<RecordType>, count: usize) -> Result<Self, String> {
        let (stride, _) = extent(record)?;
        let words = vec![0; (stride * count).div_ceil(8).max(1)];
        Ok(Self { words, texts: Vec::new(), stride, record: record.clone() })
    }

    /// The structs of records.
    pub fn new(record: &std::sync::Arc<RecordType>, values: &[Value]) -> Result<Self, String> {
        let mut made = Self::room(record, values.len())?;
        for (position, value) in values.iter().enumerate() {
            made.write_record(position * made.stride, &record.clone(), value)?;
        }
        Ok(made)
    }

    pub fn pointer(&mut self) -> *mut u64 {
        self.words.as_mut_ptr()
    }

    /// The bytes of one struct.
    pub fn stride(&self) -> usize {
        self.stride
    }

    fn write_record(&mut self, at: usize, record: &RecordType, value: &Value) -> Result<(), String> {
        let Value::Record(fields) = value else { return Err("a record is expected".to_owned()) };
        let mut offset = 0;
        for (field, value) in record.fields.iter().zip(fields) {
            let (size, align) = member(&field.ty, field.sizes.len(), field.name.as_str())?;
            offset = aligned(offset, align);
            match (&field.ty, value) {
                (Type::Record(inner), value) => self.write_record(at + offset, inner, value)?,
                (Type::String, value) => {
                    let text = c_string(value.as_str().unwrap_or(""))?;
                    self.put(at + offset, &(text.as_ptr() as usize).to_ne_bytes());
                    self.texts.push(text);
                }
                (Type::Real, value) => {
                    let number = value.as_real().ok_or("a number is expected in a record")?;
                    self.put(at + offset, &number.to_ne_bytes());
                }
                (_, value) => {
                    let number = c_int_of(value).ok_or("a member of a record is no `int` of C")?;
                    self.put(at + offset, &number.to_ne_bytes());
                }
            }
            offset += size;
        }
        Ok(())
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        // SAFETY: room was made for all members.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.words.as_mut_ptr().cast::<u8>().add(at), bytes.len())
        }
    }

    fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(self.words.as_ptr().cast::<u8>().add(at), bytes.as_mut_ptr(), N) }
        bytes
    }

    /// The record at a position after the call.
    pub fn read(&self, position: usize) -> Result<Value, String> {
        self.read_record(position * self.stride, &self.record)
    }

    fn read_record(&self, at: usize, record: &RecordType) -> Result<Value, String> {
        let mut offset = 0;
        let mut values = Vec::with_capacity(record.fields.len());
        for field in &record.fields {
            let (size, align) = member(&field.ty, field.sizes.len(), field.name.as_str())?;
            offset = aligned(offset, align);
            let place = at + offset;
            let number = || c_int::from_ne_bytes(self.get(place));
            values.push(match &field.ty {
                Type::Record(inner) => self.read_record(place, inner)?,
                Type::Real => Value::Real(f64::from_ne_bytes(self.get(place))),
                Type::String => Value::string(text(usize::from_ne_bytes(self.get(place)) as *const c_char)?),
                Type::Boolean => Value::Boolean(number() != 0),
                ty => enumerated(ty, number())?,
            });
            offset += size;
        }
        Ok(Value::Record(values))
    }
}

/// The size and the alignment of a struct.
fn extent(record: &RecordType) -> Result<(usize, usize), String> {
    let (mut size, mut most) = (0, 1);
    for field in &record.fields {
        let (length, align) = member(&field.ty, field.sizes.len(), field.name.as_str())?;
        size = aligned(size, align) + length;
        most = most.max(align);
    }
    if size == 0 {
        return Err(format!("the record `{}` has no members", record.name));
    }
    Ok((aligned(size, most), most))
}

fn member(ty: &Type, rank: usize, name: &str) -> Result<(usize, usize), String> {
    if rank > 0 {
        return Err(format!("records that contain arrays have no form in C, and `{name}` is one"));
    }
    match ty {
        Type::Real => Ok((8, 8)),
        Type::Integer | Type::Boolean | Type::Enumeration(_) => Ok((size_of::<c_int>(), align_of::<c_int>())),
        Type::String => Ok((size_of::<usize>(), align_of::<usize>())),
        Type::Record(record) => extent(record),
        Type::Object(_) | Type::Function(_) => Err(format!("`{name}` has no form in a struct of C")),
    }
}

fn aligned(offset: usize, align: usize) -> usize {
    offset.next_multiple_of(align)
}
