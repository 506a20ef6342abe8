//! Arrays of any number of dimensions, by their sizes and their elements in the order in which subscripts count.

#[derive(Clone, PartialEq, Debug)]
pub struct Tensor {
    pub sizes: Vec<usize>,
    pub elements: Vec<f64>,
}

impl Tensor {
    pub fn scalar(value: f64) -> Self {
        Self { sizes: Vec::new(), elements: vec![value] }
    }

    pub fn vector(elements: Vec<f64>) -> Self {
        Self { sizes: vec![elements.len()], elements }
    }

    /// An element for each combination of subscripts, which count from 0.
    pub fn from_fn(sizes: &[usize], mut element: impl FnMut(&[usize]) -> f64) -> Self {
        let elements = positions(sizes).iter().map(|at| element(at)).collect();
        Self { sizes: sizes.to_vec(), elements }
    }

    pub fn at(&self, subscripts: &[usize]) -> f64 {
        let place = subscripts.iter().zip(&self.sizes).fold(0, |place, (at, size)| place * size + at);
        self.elements[place]
    }

    pub fn value(&self) -> f64 {
        self.elements[0]
    }

    pub fn map(&self, function: impl Fn(f64) -> f64) -> Self {
        Self { sizes: self.sizes.clone(), elements: self.elements.iter().map(|&x| function(x)).collect() }
    }

    /// Element by element; a scalar goes with every element.
    pub fn zip(&self, other: &Self, function: impl Fn(f64, f64) -> f64) -> Self {
        match (self.sizes.is_empty(), other.sizes.is_empty()) {
            (true, _) => other.map(|y| function(self.value(), y)),
            (false, true) => self.map(|x| function(x, other.value())),
            _ => {
                let pairs = self.elements.iter().zip(&other.elements);
                Self { sizes: self.sizes.clone(), elements: pairs.map(|(&x, &y)| function(x, y)).collect() }
            }
        }
    }

    /// The product of vectors and matrices.
    pub fn times(&self, other: &Self) -> Self {
        match (self.sizes.len(), other.sizes.len()) {
            (0, _) | (_, 0) => self.zip(other, |x, y| x * y),
            (rows, columns) => {
                let inner = other.sizes[0];
                let left: Vec<usize> = self.sizes[..rows - 1].to_vec();
                let right: Vec<usize> = other.sizes[1..columns].to_vec();
                let sizes: Vec<usize> = left.iter().chain(&right).copied().collect();
                Self::from_fn(&sizes, |at| {
                    let (i, j) = at.split_at(left.len());
                    (0..inner).map(|k| self.at(&[i, &[k]].concat()) * other.at(&[&[k], j].concat())).sum()
                })
            }
        }
    }

    pub fn transposed(&self) -> Self {
        Self::from_fn(&[self.sizes[1], self.sizes[0]], |at| self.at(&[at[1], at[0]]))
    }

    /// Several arrays in a row along a dimension, which counts from 0.
    pub fn concatenated(parts: &[Self], dimension: usize) -> Self {
        let mut sizes = parts[0].sizes.clone();
        sizes[dimension] = parts.iter().map(|part| part.sizes[dimension]).sum();
        Self::from_fn(&sizes, |at| {
            let mut at = at.to_vec();
            for part in parts {
                if at[dimension] < part.sizes[dimension] {
                    return part.at(&at);
                }
                at[dimension] -= part.sizes[dimension];
            }
            f64::NAN
        })
    }

    /// Several arrays of one shape as an array of arrays.
    pub fn stacked(parts: &[Self]) -> Self {
        let sizes = [&[parts.len()], parts[0].sizes.as_slice()].concat();
        Self { sizes, elements: parts.iter().flat_map(|part| part.elements.clone()).collect() }
    }

    /// With dimensions of size 1 behind, up to a number of dimensions.
    pub fn promoted(&self, dimensions: usize) -> Self {
        let mut sizes = self.sizes.clone();
        sizes.resize(dimensions.max(sizes.len()), 1);
        Self { sizes, elements: self.elements.clone() }
    }
}

/// All combinations of subscripts in their order.
pub fn positions(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &size in sizes {
        all = all.iter().flat_map(|at| (0..size).map(|k| [at.as_slice(), &[k]].concat())).collect();
    }
    all
}
