//! The flat model while it is made: which scalar variable stands for which element of which component.

use std::sync::Arc;

use base::Name;
use dae::VarId;
use dae::model::Enumeration;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::instance::CompId;

/// Element numbers from 1 along a path, outermost component first; the last ones are those of the component itself.
pub type Indices = SmallVec<[u32; 4]>;

/// The scalars of one component of a predefined type.
#[derive(Clone, Debug)]
pub struct Scalars {
    /// The sizes of the components above it and its own, outermost first.
    pub sizes: Arc<[usize]>,
    /// In row-major order over `sizes`; `None` where a conditional component above it is absent.
    pub variables: Vec<Option<VarId>>,
}

/// The flat model under construction.
#[derive(Default)]
pub struct Flat {
    pub model: dae::Model,
    pub scalars: FxHashMap<CompId, Scalars>,
}

impl Scalars {
    /// The position in `variables` of the element with these numbers.
    pub fn position(&self, indices: &[u32]) -> Option<usize> {
        position(&self.sizes, indices)
    }
}

/// Arrays with more elements than this are refused: each of them costs memory and time in every step of the translation.
pub const MOST_ELEMENTS: usize = 5_000_000;

/// The number of elements of an array; `None` where there are too many.
pub fn element_count(sizes: &[usize]) -> Option<usize> {
    if sizes.contains(&0) {
        return Some(0);
    }
    let count = sizes.iter().try_fold(1usize, |count, &size| count.checked_mul(size))?;
    (count <= MOST_ELEMENTS).then_some(count)
}

/// `1000 × 1000`, for messages about arrays that are too large.
pub fn sizes_product(sizes: &[usize]) -> String {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    sizes.join(" × ")
}

/// The position in row-major order of the element with these numbers.
pub fn position(sizes: &[usize], indices: &[u32]) -> Option<usize> {
    if indices.len() != sizes.len() {
        return None;
    }
    let mut position = 0;
    for (&index, &size) in indices.iter().zip(sizes) {
        let index = index as usize;
        if index == 0 || index > size {
            return None;
        }
        position = position * size + index - 1;
    }
    Some(position)
}

impl Flat {
    /// The number of an enumeration in the flat model.
    pub fn enumeration(&mut self, name: Name, literals: Vec<Name>) -> u32 {
        let known = self.model.enumerations.iter().position(|known| known.name == name && known.literals == literals);
        let number = known.unwrap_or_else(|| {
            self.model.enumerations.push(Enumeration { name, literals });
            self.model.enumerations.len() - 1
        });
        number as u32
    }

    /// The variable of one scalar; `None` when it is not part of the model (absent, or out of bounds).
    pub fn variable(&self, component: CompId, indices: &[u32]) -> Option<VarId> {
        let scalars = self.scalars.get(&component)?;
        scalars.variables.get(scalars.position(indices)?).copied().flatten()
    }
}

/// Calls `visit` for all element numbers of an array of these sizes in row-major order; once, with none, for a scalar.
pub fn for_each_index(sizes: &[usize], mut visit: impl FnMut(&[u32])) {
    if sizes.contains(&0) {
        return;
    }
    let mut indices: Indices = SmallVec::from_elem(1, sizes.len());
    loop {
        visit(&indices);
        let mut dimension = sizes.len();
        loop {
            if dimension == 0 {
                return;
            }
            dimension -= 1;
            if (indices[dimension] as usize) < sizes[dimension] {
                indices[dimension] += 1;
                break;
            }
            indices[dimension] = 1;
        }
    }
}
