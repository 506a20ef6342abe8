//! The compact protocol of Apache Thrift, as much of it as a Parquet footer needs.

/// Field types on the wire.
mod wire {
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const I16: u8 = 4;
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const STRUCT: u8 = 12;
}

/// Writes fields in ascending order of their numbers.
///
/// `enter` and `structs` open a nested struct or a list of them; each struct is closed by `end`, and `leave` returns to
/// the struct around.
#[derive(Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
    last: i16,
    outer: Vec<i16>,
}

impl Writer {
    pub fn i32(&mut self, field: i16, value: i32) -> &mut Self {
        self.field(field, wire::I32);
        self.zigzag(i64::from(value));
        self
    }

    pub fn i64(&mut self, field: i16, value: i64) -> &mut Self {
        self.field(field, wire::I64);
        self.zigzag(value);
        self
    }

    pub fn text(&mut self, field: i16, value: &str) -> &mut Self {
        self.field(field, wire::BINARY);
        self.binary(value);
        self
    }

    pub fn i32s(&mut self, field: i16, values: &[i32]) -> &mut Self {
        self.list(field, wire::I32, values.len());
        values.iter().for_each(|&value| self.zigzag(i64::from(value)));
        self
    }

    pub fn texts(&mut self, field: i16, values: &[&str]) -> &mut Self {
        self.list(field, wire::BINARY, values.len());
        values.iter().for_each(|value| self.binary(value));
        self
    }

    /// Opens a list of structs.
    pub fn structs(&mut self, field: i16, count: usize) {
        self.list(field, wire::STRUCT, count);
        self.outer.push(std::mem::take(&mut self.last));
    }

    /// Opens a nested struct.
    pub fn enter(&mut self, field: i16) {
        self.field(field, wire::STRUCT);
        self.outer.push(std::mem::take(&mut self.last));
    }

    /// Ends a struct; the next one of a list may follow.
    pub fn end(&mut self) {
        self.bytes.push(0);
        self.last = 0;
    }

    pub fn leave(&mut self) {
        self.last = self.outer.pop().unwrap_or(0);
    }

    fn field(&mut self, field: i16, kind: u8) {
        let delta = field - self.last;
        self.last = field;
        self.bytes.push((delta as u8) << 4 | kind);
    }

    fn list(&mut self, field: i16, kind: u8, count: usize) {
        self.field(field, wire::LIST);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            self.varint(count as u64);
        }
    }

    fn binary(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn zigzag(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

/// A decoded value. Maps do not occur in what is read here.
#[derive(Debug)]
pub enum Value<'a> {
    Integer(i64),
    Other,
    Binary(&'a [u8]),
    List(Vec<Value<'a>>),
    Struct(Vec<(i16, Value<'a>)>),
}

impl<'a> Value<'a> {
    pub fn field(&self, number: i16) -> Option<&Value<'a>> {
        let Self::Struct(fields) = self else { return None };
        fields.iter().find(|(field, _)| *field == number).map(|(_, value)| value)
    }

    pub fn integer(&self, number: i16) -> Option<i64> {
        match self.field(number)? {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    pub fn size(&self, number: i16) -> Option<usize> {
        usize::try_from(self.integer(number)?).ok()
    }

    pub fn text(&self, number: i16) -> Option<String> {
        match self.field(number)? {
            Self::Binary(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    pub fn list(&self, number: i16) -> &[Value<'a>] {
        match self.field(number) {
            Some(Self::List(items)) => items,
            _ => &[],
        }
    }
}

pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// Structs in the format nest a handful of levels; what nests deeper is damaged.
    const DEEPEST: usize = 16;

    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, depth: 0 }
    }

    pub fn position(&self) -> usize {
        self.position
    }

    pub fn structure(&mut self) -> Option<Value<'a>> {
        self.depth += 1;
        if self.depth > Self::DEEPEST {
            return None;
        }
        let mut fields = Vec::new();
        let mut last = 0i16;
        loop {
            let header = self.byte()?;
            if header == 0 {
                break;
            }
            let delta = i16::from(header >> 4);
            last = if delta == 0 { i16::try_from(self.zigzag()?).ok()? } else { last.checked_add(delta)? };
            fields.push((last, self.value(header & 15, false)?));
        }
        self.depth -= 1;
        Some(Value::Struct(fields))
    }

    fn value(&mut self, kind: u8, in_list: bool) -> Option<Value<'a>> {
        Some(match kind {
            wire::TRUE | wire::FALSE => {
                if in_list {
                    self.byte()?;
                }
                Value::Other
            }
            wire::BYTE => Value::Integer(i64::from(self.byte()? as i8)),
            wire::I16 | wire::I32 | wire::I64 => Value::Integer(self.zigzag()?),
            wire::DOUBLE => {
                self.take(8)?;
                Value::Other
            }
            wire::BINARY => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Binary(self.take(length)?)
            }
            wire::LIST | wire::SET => self.items()?,
            wire::STRUCT => self.structure()?,
            _ => return None,
        })
    }

    fn items(&mut self) -> Option<Value<'a>> {
        self.depth += 1;
        if self.depth > Self::DEEPEST {
            return None;
        }
        let header = self.byte()?;
        let short = u64::from(header >> 4);
        let count = if short == 15 { self.varint()? } else { short };
        // Every item takes at least a byte, which bounds what a damaged count can ask for.
        if count > (self.bytes.len() - self.position) as u64 {
            return None;
        }
        let items = (0..count).map(|_| self.value(header & 15, true)).collect::<Option<_>>()?;
        self.depth -= 1;
        Some(Value::List(items))
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.position)?;
        self.position += 1;
        Some(byte)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.position.checked_add(length)?;
        let taken = self.bytes.get(self.position..end)?;
        self.position = end;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}
