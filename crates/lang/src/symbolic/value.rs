//! Symbolic values: arrays of known sizes and records whose scalars are expressions of the flat model.

use std::rc::Rc;

use dae::ExprId;
use smallvec::SmallVec;

use crate::typed::FunctionKey;

pub type Sizes = SmallVec<[usize; 2]>;

#[derive(Clone, PartialEq, Debug)]
pub enum Symbolic {
    Scalar(ExprId),
    Array(Rc<SymbolicArray>),
    /// The fields in the order of the class; also the results of a call with several.
    Record(Rc<Vec<Symbolic>>),
    Function(Rc<SymbolicFunction>),
}

/// Elements in row-major order, none of them an array.
#[derive(Clone, PartialEq, Debug)]
pub struct SymbolicArray {
    pub sizes: Sizes,
    pub elements: Vec<Symbolic>,
}

/// A function as a value, with the inputs that are already given, by position.
#[derive(Clone, PartialEq, Debug)]
pub struct SymbolicFunction {
    pub function: FunctionKey,
    pub given: Vec<(u32, Symbolic)>,
}

impl Symbolic {
    /// An array, or the only element where there are no sizes.
    pub fn array(sizes: impl Into<Sizes>, mut elements: Vec<Symbolic>) -> Self {
        let sizes = sizes.into();
        if sizes.is_empty()
            && let Some(only) = elements.pop()
        {
            return only;
        }
        Symbolic::Array(Rc::new(SymbolicArray { sizes, elements }))
    }

    pub fn vector(elements: Vec<Symbolic>) -> Self {
        let length = elements.len();
        Symbolic::Array(Rc::new(SymbolicArray { sizes: Sizes::from_slice(&[length]), elements }))
    }

    pub fn record(fields: Vec<Symbolic>) -> Self {
        Symbolic::Record(Rc::new(fields))
    }

    pub fn scalar(&self) -> Option<ExprId> {
        match self {
            Symbolic::Scalar(id) => Some(*id),
            _ => None,
        }
    }

    pub fn sizes(&self) -> &[usize] {
        match self {
            Symbolic::Array(array) => &array.sizes,
            _ => &[],
        }
    }

    /// The elements of an array, or the value itself.
    pub fn elements(&self) -> &[Symbolic] {
        match self {
            Symbolic::Array(array) => &array.elements,
            other => std::slice::from_ref(other),
        }
    }

    /// The field of a record, or of every record of an array: the sizes of the array stand in front of the field's.
    pub fn field(&self, position: usize) -> Option<Symbolic> {
        match self {
            Symbolic::Record(fields) => fields.get(position).cloned(),
            Symbolic::Array(array) => {
                let fields: Option<Vec<Symbolic>> =
                    array.elements.iter().map(|element| element.field(position)).collect();
                Some(stack(&array.sizes, fields?))
            }
            _ => None,
        }
    }

    /// Calls `visit` for every scalar expression, in the order of call arguments.
    pub fn for_each_scalar(&self, visit: &mut impl FnMut(ExprId)) {
        match self {
            Symbolic::Scalar(id) => visit(*id),
            Symbolic::Array(array) => array.elements.iter().for_each(|element| element.for_each_scalar(visit)),
            Symbolic::Record(fields) => fields.iter().for_each(|field| field.for_each_scalar(visit)),
            Symbolic::Function(function) => {
                function.given.iter().for_each(|(_, value)| value.for_each_scalar(visit));
            }
        }
    }

    pub fn scalars(&self) -> Vec<ExprId> {
        let mut out = Vec::new();
        self.for_each_scalar(&mut |id| out.push(id));
        out
    }

    /// The same structure with every scalar replaced.
    pub fn map(&self, change: &mut impl FnMut(ExprId) -> ExprId) -> Symbolic {
        match self {
            Symbolic::Scalar(id) => Symbolic::Scalar(change(*id)),
            Symbolic::Array(array) => Symbolic::Array(Rc::new(SymbolicArray {
                sizes: array.sizes.clone(),
                elements: array.elements.iter().map(|element| element.map(change)).collect(),
            })),
            Symbolic::Record(fields) => Symbolic::record(fields.iter().map(|field| field.map(change)).collect()),
            Symbolic::Function(function) => Symbolic::Function(Rc::new(SymbolicFunction {
                function: function.function,
                given: function.given.iter().map(|(at, value)| (*at, value.map(change))).collect(),
            })),
        }
    }

    /// Two values of one structure joined scalar by scalar; `None` where the structures differ.
    pub fn zip(&self, other: &Symbolic, join: &mut impl FnMut(ExprId, ExprId) -> ExprId) -> Option<Symbolic> {
        match (self, other) {
            (Symbolic::Scalar(a), Symbolic::Scalar(b)) => Some(Symbolic::Scalar(join(*a, *b))),
            (Symbolic::Array(a), Symbolic::Array(b)) if a.sizes == b.sizes => {
                let elements: Option<Vec<Symbolic>> =
                    a.elements.iter().zip(&b.elements).map(|(x, y)| x.zip(y, join)).collect();
                Some(Symbolic::array(a.sizes.clone(), elements?))
            }
            (Symbolic::Record(a), Symbolic::Record(b)) if a.len() == b.len() => {
                let fields: Option<Vec<Symbolic>> = a.iter().zip(b.iter()).map(|(x, y)| x.zip(y, join)).collect();
                Some(Symbolic::record(fields?))
            }
            (Symbolic::Function(a), Symbolic::Function(b)) if a == b => Some(self.clone()),
            _ => None,
        }
    }

    /// The element or slice at the given positions (from 0) of each dimension. A single position drops the dimension.
    pub fn index(&self, positions: &[Positions]) -> Option<Symbolic> {
        let Symbolic::Array(array) = self else {
            return if positions.is_empty() { Some(self.clone()) } else { None };
        };
        if positions.len() > array.sizes.len() {
            return None;
        }
        let mut sizes = Sizes::new();
        let mut offsets = vec![0usize];
        for (dimension, &size) in array.sizes.iter().enumerate() {
            let all = Positions::All;
            let chosen = positions.get(dimension).unwrap_or(&all);
            let list: Vec<usize> = match chosen {
                Positions::All => (0..size).collect(),
                Positions::One(at) => vec![*at],
                Positions::Several(list) => list.clone(),
            };
            if list.iter().any(|&at| at >= size) {
                return None;
            }
            if !matches!(chosen, Positions::One(_)) {
                sizes.push(list.len());
            }
            offsets = offsets.iter().flat_map(|&offset| list.iter().map(move |&at| offset * size + at)).collect();
        }
        let elements = offsets.iter().map(|&offset| array.elements[offset].clone()).collect();
        Some(Symbolic::array(sizes, elements))
    }
}

/// What one subscript chooses, from 0.
#[derive(Clone, PartialEq, Debug)]
pub enum Positions {
    All,
    One(usize),
    Several(Vec<usize>),
}

/// Values of equal sizes as the elements of a larger array: `sizes` stand in front.
pub fn stack(sizes: &[usize], values: Vec<Symbolic>) -> Symbolic {
    let Some(Symbolic::Array(first)) = values.first() else {
        return Symbolic::array(Sizes::from_slice(sizes), values);
    };
    let mut all = Sizes::from_slice(sizes);
    all.extend_from_slice(&first.sizes);
    let elements = values.iter().flat_map(|value| value.elements().iter().cloned()).collect();
    Symbolic::array(all, elements)
}

/// `[2, 3]` as text for messages.
pub fn sizes_text(sizes: &[usize]) -> String {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    format!("[{}]", sizes.join(", "))
}
