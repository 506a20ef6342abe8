//! The arguments of an outside function, taken with their types.

use dae::Value;

use crate::tables::Matrix;

/// The arguments of one call; outputs are written in place.
pub struct Arguments<'a> {
    pub symbol: &'a str,
    pub values: &'a mut [Value],
}

impl Arguments<'_> {
    fn value(&self, position: usize) -> Result<&Value, String> {
        self.values.get(position).ok_or_else(|| format!("`{}` lacks argument {}", self.symbol, position + 1))
    }

    fn wrong(&self, position: usize, expected: &str) -> String {
        format!("argument {} of `{}` must be {expected}", position + 1, self.symbol)
    }

    pub fn real(&self, position: usize) -> Result<f64, String> {
        self.value(position)?.as_real().ok_or_else(|| self.wrong(position, "a number"))
    }

    pub fn integer(&self, position: usize) -> Result<i64, String> {
        self.value(position)?.as_integer().ok_or_else(|| self.wrong(position, "an Integer"))
    }

    pub fn size(&self, position: usize) -> Result<usize, String> {
        usize::try_from(self.integer(position)?).map_err(|_| self.wrong(position, "a size"))
    }

    pub fn boolean(&self, position: usize) -> Result<bool, String> {
        self.value(position)?.as_boolean().ok_or_else(|| self.wrong(position, "a Boolean"))
    }

    pub fn text(&self, position: usize) -> Result<&str, String> {
        self.value(position)?.as_str().ok_or_else(|| self.wrong(position, "a String"))
    }

    pub fn object(&self, position: usize) -> Result<u64, String> {
        match self.value(position)? {
            Value::Object(handle) => Ok(*handle),
            other => other.as_integer().map(|handle| handle as u64).ok_or_else(|| self.wrong(position, "an object")),
        }
    }

    pub fn reals(&self, position: usize) -> Result<Vec<f64>, String> {
        self.value(position)?.to_reals().ok_or_else(|| self.wrong(position, "an array of numbers"))
    }

    pub fn integers(&self, position: usize) -> Result<Vec<i64>, String> {
        let values = match self.value(position)? {
            Value::Array(array) => array.elements.iter().map(Value::as_integer).collect(),
            scalar => scalar.as_integer().map(|value| vec![value]),
        };
        values.ok_or_else(|| self.wrong(position, "an array of Integers"))
    }

    /// A matrix; a vector is one column.
    pub fn matrix(&self, position: usize) -> Result<Matrix, String> {
        let values = self.reals(position)?;
        let (rows, columns) = match self.value(position)?.sizes() {
            [] => (1, 1),
            [rows] => (*rows, 1),
            [rows, columns] => (*rows, *columns),
            _ => return Err(self.wrong(position, "a matrix")),
        };
        Ok(Matrix { rows, columns, values })
    }

    /// A value of the same type that says nothing.
    pub fn empty_like(&self, position: usize) -> Value {
        match self.values.get(position) {
            Some(Value::String(_)) => Value::string(""),
            Some(Value::Real(_)) => Value::Real(0.0),
            _ => Value::Integer(0),
        }
    }

    pub fn set(&mut self, position: usize, value: Value) -> Result<(), String> {
        let symbol = self.symbol;
        let place = self.values.get_mut(position);
        *place.ok_or_else(|| format!("`{symbol}` lacks argument {}", position + 1))? = value;
        Ok(())
    }

    /// Writes numbers into an output, which keeps its sizes if they hold as many.
    pub fn set_reals(&mut self, position: usize, values: Vec<f64>) -> Result<(), String> {
        let sizes = self.value(position)?.sizes().to_vec();
        let value = match sizes.iter().product::<usize>() == values.len() && !sizes.is_empty() {
            true => Value::array(sizes, values.into_iter().map(Value::Real).collect()),
            false => Value::reals(values),
        };
        self.set(position, value)
    }

    pub fn set_integers(&mut self, position: usize, values: Vec<i64>) -> Result<(), String> {
        self.set(position, Value::integers(values))
    }

    pub fn set_matrix(&mut self, position: usize, matrix: Matrix) -> Result<(), String> {
        // An output declared as a vector stays one.
        let value = match self.value(position)?.sizes().len() {
            1 => Value::reals(matrix.values),
            _ => Value::matrix(matrix.rows, matrix.columns, matrix.values),
        };
        self.set(position, value)
    }
}
