//! Systems that follow the derivatives of their inputs: ẋ = A x + B u + B' u̇, y = C x + D u + D' u̇.
//!
//! They come from sources that set a stored quantity directly. Two equal descriptions without derivatives of inputs serve the
//! analyses: with x̃ = x - B' u as states, and with the inputs as further states whose derivatives are the inputs.

use crate::{Error, Matrix, State, StateSpace, TransferFunction, transfer_function};

/// The coefficients of the derivatives of inputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Rates<T = f64> {
    /// In ẋ.
    pub b: Matrix<T>,
    /// In y.
    pub d: Matrix<T>,
}

impl Rates {
    /// The outputs follow the inputs themselves, not their derivatives: the system is proper.
    pub fn is_proper(&self) -> bool {
        self.d.entries().iter().all(|&entry| entry == 0.0)
    }

    /// The system with the states x - B' u. What outputs follow of the derivatives of inputs is left out.
    pub fn shifted(&self, system: &StateSpace) -> StateSpace {
        let product = |left: &Matrix, right: &Matrix, i: usize, j: usize| {
            (0..right.rows()).map(|k| left[(i, k)] * right[(k, j)]).sum::<f64>()
        };
        let (a, c) = (&system.a, &system.c);
        let sum = |given: &Matrix, left: &Matrix| {
            Matrix::from_fn(given.rows(), given.columns(), |i, j| given[(i, j)] + product(left, &self.b, i, j))
        };
        StateSpace { b: sum(&system.b, a), d: sum(&system.d, c), ..system.clone() }
    }

    /// The system with the inputs as further states and their derivatives as inputs. It has the same finite zeros.
    pub fn integrated(&self, system: &StateSpace) -> StateSpace {
        let (n, m) = (system.order(), system.inputs.len());
        let mut states = system.states.clone();
        states.extend(system.inputs.iter().map(|input| State::new(&input.name, &input.unit, String::new())));
        let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        StateSpace {
            a: Matrix::from_fn(n + m, n + m, |i, j| match (i < n, j < n) {
                (true, true) => system.a[(i, j)],
                (true, false) => system.b[(i, j - n)],
                (false, _) => 0.0,
            }),
            b: Matrix::from_fn(n + m, m, |i, j| if i < n { self.b[(i, j)] } else { unit(i - n, j) }),
            c: Matrix::from_fn(system.outputs.len(), n + m, |i, j| match j < n {
                true => system.c[(i, j)],
                false => system.d[(i, j - n)],
            }),
            d: self.d.clone(),
            states,
            ..system.clone()
        }
    }

    /// From one input to one output, without hidden modes.
    pub fn transfer_function(
        &self,
        system: &StateSpace,
        output: usize,
        input: usize,
        tolerance: f64,
    ) -> Result<TransferFunction, Error> {
        let mut found = transfer_function(&self.integrated(system), output, input, tolerance)?;
        // The derivative of the input is s times the input.
        let noise = 1e-13 * found.poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
        match found.poles.iter().position(|pole| pole.norm() <= noise) {
            Some(integrator) => drop(found.poles.remove(integrator)),
            None => found.zeros.push(crate::Complex::ZERO),
        }
        Ok(found)
    }
}
