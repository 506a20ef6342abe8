//! The linear state space ẋ = A x + B u, y = C x + D u, with names and units.

use crate::{Error, Matrix};

/// An input or an output.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signal {
    /// The name of the variable.
    pub name: String,
    /// Empty where it has none.
    pub unit: String,
}

impl Signal {
    /// A signal with its unit.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into() }
    }
}

/// A state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// The name of the variable.
    pub name: String,
    /// Empty where it has none.
    pub unit: String,
    /// The component that the state belongs to; empty for the model itself.
    pub component: String,
}

impl State {
    /// A state with its unit and component.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, component: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into(), component: component.into() }
    }
}

/// A name that symbolic entries use.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// As the entries write it.
    pub name: String,
    /// `None` where it has none.
    pub value: Option<f64>,
}

/// Entries are numbers for every analysis; exports also take texts ([`crate::Entry`]).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StateSpace<T = f64> {
    /// States in ẋ.
    pub a: Matrix<T>,
    /// Inputs in ẋ.
    pub b: Matrix<T>,
    /// States in y.
    pub c: Matrix<T>,
    /// Inputs in y.
    pub d: Matrix<T>,
    /// The states, in the order of the rows of A.
    pub states: Vec<State>,
    /// The inputs, in the order of the columns of B.
    pub inputs: Vec<Signal>,
    /// The outputs, in the order of the rows of C.
    pub outputs: Vec<Signal>,
    /// Of symbolic entries.
    pub parameters: Vec<Parameter>,
}

impl<T> StateSpace<T> {
    /// Checks that the matrices fit the names.
    pub fn new(
        [a, b, c, d]: [Matrix<T>; 4],
        states: Vec<State>,
        inputs: Vec<Signal>,
        outputs: Vec<Signal>,
    ) -> Result<Self, Error> {
        let (n, m, p) = (states.len(), inputs.len(), outputs.len());
        for (matrix, name, expected) in [(&a, "A", (n, n)), (&b, "B", (n, m)), (&c, "C", (p, n)), (&d, "D", (p, m))] {
            let found = (matrix.rows(), matrix.columns());
            if found != expected {
                return Err(Error::Shape { matrix: name, expected, found });
            }
        }
        Ok(Self { a, b, c, d, states, inputs, outputs, parameters: Vec::new() })
    }

    /// The number of states.
    pub fn order(&self) -> usize {
        self.a.rows()
    }

    /// The same with other entries.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> StateSpace<U> {
        StateSpace {
            a: self.a.map(&mut f),
            b: self.b.map(&mut f),
            c: self.c.map(&mut f),
            d: self.d.map(&mut f),
            states: self.states.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            parameters: self.parameters.clone(),
        }
    }
}

impl StateSpace {
    /// With names `x1`, `u1`, `y1` and so on.
    pub fn unnamed(matrices: [Matrix; 4]) -> Result<Self, Error> {
        let (n, m, p) = (matrices[0].rows(), matrices[1].columns(), matrices[2].rows());
        let signals =
            |letter: &str, count: usize| (1..=count).map(|i| Signal::new(format!("{letter}{i}"), "")).collect();
        let states = (1..=n).map(|i| State::new(format!("x{i}"), "", "")).collect();
        Self::new(matrices, states, signals("u", m), signals("y", p))
    }

    /// One input and one output; the states stay.
    pub fn pair(&self, output: usize, input: usize) -> Result<Self, Error> {
        let (outputs, inputs) = (self.outputs.len(), self.inputs.len());
        if output >= outputs {
            return Err(Error::NoSuchSignal { kind: "output", index: output, count: outputs });
        }
        if input >= inputs {
            return Err(Error::NoSuchSignal { kind: "input", index: input, count: inputs });
        }
        let n = self.order();
        Ok(Self {
            a: self.a.clone(),
            b: Matrix::from_fn(n, 1, |i, _| self.b[(i, input)]),
            c: Matrix::from_fn(1, n, |_, j| self.c[(output, j)]),
            d: Matrix::from_fn(1, 1, |_, _| self.d[(output, input)]),
            states: self.states.clone(),
            inputs: vec![self.inputs[input].clone()],
            outputs: vec![self.outputs[output].clone()],
            parameters: Vec::new(),
        })
    }

    /// Every analysis starts here: NaN would come out as a wrong answer, or not at all.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let names = |signals: &[Signal]| signals.iter().map(|signal| signal.name.clone()).collect::<Vec<_>>();
        let states: Vec<_> = self.states.iter().map(|state| state.name.clone()).collect();
        let (inputs, outputs) = (names(&self.inputs), names(&self.outputs));
        let parts = [
            (&self.a, "A", &states, &states),
            (&self.b, "B", &states, &inputs),
            (&self.c, "C", &outputs, &states),
            (&self.d, "D", &outputs, &inputs),
        ];
        for (matrix, name, rows, columns) in parts {
            let (expected, found) = ((rows.len(), columns.len()), (matrix.rows(), matrix.columns()));
            if expected != found {
                return Err(Error::Shape { matrix: name, expected, found });
            }
            if let Some(at) = matrix.entries().iter().position(|value| !value.is_finite()) {
                let (row, column) = (rows[at / columns.len()].clone(), columns[at % columns.len()].clone());
                return Err(Error::NotFinite { matrix: name, row, column });
            }
        }
        Ok(())
    }
}
