//! Values of the Modelica language as constant evaluation and called functions see them.

use std::sync::Arc;

use crate::function::FunctionId;

#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    String(Arc<str>),
    /// The ordinal, from 1.
    Enumeration(i64),
    Array(Array),
    /// The fields in the order of the declaration.
    Record(Vec<Value>),
    /// An external object, a number that the outside library gave.
    Object(u64),
    /// A function as an argument, with inputs that are already given, by position.
    Function {
        function: FunctionId,
        given: Vec<(u32, Value)>,
    },
}

/// Elements in row-major order. An empty array keeps its sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Array {
    pub sizes: Vec<usize>,
    pub elements: Vec<Value>,
}
