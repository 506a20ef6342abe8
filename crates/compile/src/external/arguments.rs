//! Arguments and results in the form that C and FORTRAN 77 see (specification 12.9.1): arrays by rows, in FORTRAN by columns, where
//! everything is passed by reference.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int};

use dae::Value;
use dae::function::{ArgumentType, Type};
use dae::value::Array;

use super::record::Structs;
use super::trampoline::Passing;

/// Which calling convention counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    C,
    Fortran,
}

impl Language {
    pub fn of(name: &str) -> Result<Self, String> {
        match name {
            "C" => Ok(Language::C),
            "FORTRAN 77" => Ok(Language::Fortran),
            _ => Err(format!("it is a function in {name}; only those in C and FORTRAN 77 can be called")),
        }
    }

    /// The name that the linker knows.
    pub fn symbol(self, name: &str) -> String {
        match self {
            Language::C => name.to_owned(),
            Language::Fortran => format!("{}_", name.to_lowercase()),
        }
    }
}

/// An argument in memory.
pub enum CArgument {
    Real(f64),
    Word(u64),
    Text(CString),
    Reals(Vec<f64>),
    Integers(Vec<c_int>),
    /// The texts, which live as long as this, and the pointers to them.
    Texts(#[expect(dead_code, reason = "the pointers lead there")] Vec<CString>, Vec<*const c_char>),
    /// Objects as outputs.
    Words(Vec<u64>),
    Structs(Structs, usize),
}

impl CArgument {
    pub fn new(value: &Value, ty: Option<&ArgumentType>, is_output: bool, language: Language) -> Result<Self, String> {
        if language == Language::Fortran {
            return Self::for_fortran(value, ty);
        }
        if let Some(Type::Record(record)) = ty.map(|ty| &ty.ty) {
            let values = match value {
                Value::Array(array) => &array.elements[..],
                one => std::slice::from_ref(one),
            };
            return Ok(CArgument::Structs(Structs::new(record, values)?, values.len()));
        }
        if let Value::Array(array) = value {
            return Self::array(&array.elements, ty);
        }
        if is_output {
            return Self::array(std::slice::from_ref(value), ty);
        }
        Ok(match value {
            Value::Real(value) => CArgument::Real(*value),
            Value::Integer(value) if ty.is_some_and(|ty| ty.ty == Type::Real) => CArgument::Real(*value as f64),
            Value::Integer(value) if ty.is_some_and(|ty| ty.is_size) => CArgument::Word(*value as u64),
            Value::Integer(_) | Value::Enumeration(_) | Value::Boolean(_) => {
                CArgument::Word(i64::from(c_int_of(value).ok_or(TOO_LARGE)?) as u64)
            }
            Value::Object(handle) => CArgument::Word(*handle),
            Value::String(value) => CArgument::Text(c_string(value)?),
            _ => return Err("functions as arguments are not supported".to_owned()),
        })
    }

    fn for_fortran(value: &Value, ty: Option<&ArgumentType>) -> Result<Self, String> {
        let by_columns;
        let elements = match value {
            Value::Array(array) => {
                by_columns = transposed(&array.sizes, &array.elements);
                &by_columns[..]
            }
            scalar => std::slice::from_ref(scalar),
        };
        match elements.first() {
            Some(Value::String(_) | Value::Object(_) | Value::Record(_) | Value::Function { .. }) => {
                Err("only numbers and Booleans can be given to FORTRAN 77".to_owned())
            }
            _ => Self::array(elements, ty),
        }
    }

    fn array(elements: &[Value], ty: Option<&ArgumentType>) -> Result<Self, String> {
        match elements.first() {
            Some(Value::String(_)) => {
                let texts: Vec<CString> =
                    elements.iter().map(|value| c_string(value.as_str().unwrap_or(""))).collect::<Result<_, _>>()?;
                let pointers = texts.iter().map(|text| text.as_ptr()).collect();
                Ok(CArgument::Texts(texts, pointers))
            }
            Some(Value::Object(_)) => Ok(CArgument::Words(
                elements.iter().map(|value| if let Value::Object(handle) = value { *handle } else { 0 }).collect(),
            )),
            Some(Value::Integer(_) | Value::Boolean(_) | Value::Enumeration(_))
                if !matches!(ty.map(|ty| &ty.ty), Some(Type::Real)) =>
            {
                let numbers: Option<Vec<c_int>> = elements.iter().map(c_int_of).collect();
                numbers.map(CArgument::Integers).ok_or_else(|| TOO_LARGE.to_owned())
            }
            Some(Value::Record(_) | Value::Function { .. }) => Err("a record has no type here".to_owned()),
            _ => {
                let reals: Option<Vec<f64>> = elements.iter().map(Value::as_real).collect();
                reals.map(CArgument::Reals).ok_or_else(|| "an array has elements of several types".to_owned())
            }
        }
    }

    pub fn passing(&self) -> Passing {
        if matches!(self, CArgument::Real(_)) { Passing::Real } else { Passing::Word }
    }

    /// The 64 bits that are passed.
    pub fn word(&mut self) -> u64 {
        match self {
            CArgument::Real(value) => value.to_bits(),
            CArgument::Word(value) => *value,
            CArgument::Text(text) => text.as_ptr() as u64,
            CArgument::Reals(values) => values.as_mut_ptr() as u64,
            CArgument::Integers(values) => values.as_mut_ptr() as u64,
            CArgument::Texts(_, pointers) => pointers.as_mut_ptr() as u64,
            CArgument::Words(values) => values.as_mut_ptr() as u64,
            CArgument::Structs(structs, _) => structs.pointer() as u64,
        }
    }

    /// The value behind a reference after the call, of the kind that `before` has.
    pub fn read(&self, before: &Value, ty: Option<&ArgumentType>, language: Language) -> Result<Value, String> {
        let kind = match before {
            Value::Array(array) => array.elements.first(),
            scalar => Some(scalar),
        };
        let elements: Vec<Value> = match self {
            CArgument::Reals(values) => values.iter().map(|&number| Value::Real(number)).collect(),
            CArgument::Integers(values) => {
                let value = |&number: &c_int| match (kind, ty.map(|ty| &ty.ty)) {
                    (Some(Value::Enumeration(_)), Some(ty)) => enumerated(ty, number),
                    (Some(Value::Boolean(_)), _) => Ok(Value::Boolean(number != 0)),
                    _ => Ok(Value::Integer(i64::from(number))),
                };
                values.iter().map(value).collect::<Result<_, _>>()?
            }
            CArgument::Texts(_, pointers) => {
                pointers.iter().map(|&pointer| text(pointer).map(Value::string)).collect::<Result<_, _>>()?
            }
            CArgument::Words(values) => values.iter().map(|&word| Value::Object(word)).collect(),
            CArgument::Structs(structs, count) => {
                (0..*count).map(|position| structs.read(position)).collect::<Result<_, _>>()?
            }
            CArgument::Real(_) | CArgument::Word(_) | CArgument::Text(_) => return Ok(before.clone()),
        };
        Ok(match before {
            Value::Array(array) if language == Language::Fortran => {
                let backwards: Vec<usize> = array.sizes.iter().rev().copied().collect();
                Value::Array(Array { sizes: array.sizes.clone(), elements: transposed(&backwards, &elements) })
            }
            Value::Array(array) => Value::Array(Array { sizes: array.sizes.clone(), elements }),
            _ => elements.into_iter().next().unwrap_or_else(|| before.clone()),
        })
    }
}

const TOO_LARGE: &str = "a number is too large for the type `int` of C";

/// The elements of an array with its dimensions in the opposite order.
fn transposed(sizes: &[usize], elements: &[Value]) -> Vec<Value> {
    let mut made = Vec::with_capacity(elements.len());
    // The position of each new element among the old ones counts as a number whose first digit moves fastest.
    let mut index = vec![0; sizes.len()];
    let mut steps = vec![1; sizes.len()];
    for dimension in (0..sizes.len().saturating_sub(1)).rev() {
        steps[dimension] = steps[dimension + 1] * sizes[dimension + 1];
    }
    for _ in 0..elements.len() {
        let position: usize = index.iter().zip(&steps).map(|(index, step)| index * step).sum();
        made.extend(elements.get(position).cloned());
        for (digit, &size) in index.iter_mut().zip(sizes) {
            *digit += 1;
            if *digit < size {
                break;
            }
            *digit = 0;
        }
    }
    made
}

/// How a result travels that is no record.
pub fn returned(ty: &Type) -> Result<Passing, String> {
    match ty {
        Type::Real => Ok(Passing::Real),
        Type::Integer | Type::Boolean | Type::Enumeration(_) | Type::String | Type::Object(_) => Ok(Passing::Word),
        Type::Record(_) | Type::Function(_) => {
            Err("it returns a record, which only a function that is compiled here can".to_owned())
        }
    }
}

/// The result of a call.
pub fn result_value(ty: &Type, answer: u64) -> Result<Value, String> {
    Ok(match ty {
        Type::Real => Value::Real(f64::from_bits(answer)),
        Type::Boolean => Value::Boolean(answer as c_int != 0),
        Type::Enumeration(_) => enumerated(ty, answer as c_int)?,
        Type::String => Value::string(text(answer as *const c_char)?),
        Type::Object(_) => Value::Object(answer),
        _ => Value::Integer(i64::from(answer as c_int)),
    })
}

/// The literal of an enumeration that a number of C stands for; another number is an error (specification 12.9.1.1).
pub fn enumerated(ty: &Type, number: c_int) -> Result<Value, String> {
    let Type::Enumeration(enumeration) = ty else { return Ok(Value::Integer(i64::from(number))) };
    let count = enumeration.literals.len();
    if usize::try_from(number).is_ok_and(|number| (1..=count).contains(&number)) {
        return Ok(Value::Enumeration(i64::from(number)));
    }
    Err(format!("it gave {number} for the enumeration `{}`, whose literals are 1 to {count}", enumeration.name))
}

pub fn text(pointer: *const c_char) -> Result<String, String> {
    if pointer.is_null() {
        return Err("a text is missing that an external function should give".to_owned());
    }
    // SAFETY: the declaration promises a text that ends with a zero.
    let text = unsafe { CStr::from_ptr(pointer) };
    Ok(text.to_string_lossy().into_owned())
}

pub fn c_string(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| "a text has a zero in it".to_owned())
}

pub fn c_int_of(value: &Value) -> Option<c_int> {
    match value {
        Value::Integer(value) | Value::Enumeration(value) => c_int::try_from(*value).ok(),
        Value::Boolean(value) => Some(c_int::from(*value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_matrix_and_back() {
        // [1, 2, 3; 4, 5, 6] by columns, as FORTRAN stores it.
        let value = Value::matrix(2, 3, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let argument = CArgument::new(&value, None, true, Language::Fortran).unwrap();
        assert!(matches!(&argument, CArgument::Reals(numbers) if numbers == &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
        assert_eq!(argument.read(&value, None, Language::Fortran), Ok(value));
    }

    #[test]
    fn an_integer_that_is_no_int_is_refused() {
        let large = Value::Integer(1 << 40);
        assert!(CArgument::new(&large, None, false, Language::C).is_err());
        let size = ArgumentType { ty: Type::Integer, rank: 0, is_size: true };
        assert!(CArgument::new(&large, Some(&size), false, Language::C).is_ok());
    }
}
