//! What a result file says about a variable, and how the values of a row spread over the columns.

use crate::ResultError;

/// What the values of a column are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// Floating-point numbers.
    #[default]
    Real,
    /// Whole numbers.
    Integer,
    /// Written as 0 and 1.
    Boolean,
    /// Written as its ordinal, from 1.
    Enumeration,
}

/// The column has the values of another one, or their negatives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alias {
    /// Index among all columns of one that is no alias itself.
    pub of: usize,
    /// The values have the other sign.
    pub negated: bool,
}

/// One variable of a result.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Column {
    /// The full name: `R1.p.v`, `x[2]`, `der(x)`.
    pub name: String,
    /// The unit; may be empty.
    pub unit: String,
    /// The unit to show values in; may be empty.
    pub display_unit: String,
    /// What the variable means; may be empty.
    pub description: String,
    /// What the values are.
    pub kind: Kind,
    /// The column that it repeats.
    pub alias: Option<Alias>,
    /// Constant over the run; its value is taken from the first row.
    pub parameter: bool,
}

impl Column {
    /// A column of Reals without unit.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Sets the unit.
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = unit.into();
        self
    }

    /// Sets the unit to show values in.
    pub fn display_unit(mut self, display_unit: impl Into<String>) -> Self {
        self.display_unit = display_unit.into();
        self
    }

    /// Says what the variable means.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the kind of the values.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// Makes it an alias of the column with index `of`.
    pub fn alias(mut self, of: usize, negated: bool) -> Self {
        self.alias = Some(Alias { of, negated });
        self
    }

    /// The column has one value for the whole run.
    pub fn parameter(mut self) -> Self {
        self.parameter = true;
        self
    }
}

/// Where the value of a column stands in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Source {
    /// Index into the values of a row.
    pub value: usize,
    pub negated: bool,
}

impl Source {
    pub fn of(self, values: &[f64]) -> f64 {
        let value = values[self.value];
        // No `-0`: it means nothing in a result and looks like a mistake.
        if self.negated && value != 0.0 { -value } else { value }
    }
}

/// The source of every column, and how many values a row has (one for each column that is no alias).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Expansion {
    pub sources: Vec<Source>,
    pub width: usize,
}

impl Expansion {
    pub fn new(columns: &[Column]) -> Result<Self, ResultError> {
        let mut position = Vec::with_capacity(columns.len());
        let mut width = 0;
        for column in columns {
            position.push(column.alias.is_none().then_some(width));
            width += usize::from(column.alias.is_none());
        }
        let source = |(index, column): (usize, &Column)| {
            let (of, negated) = column.alias.map_or((index, false), |alias| (alias.of, alias.negated));
            match position.get(of) {
                Some(&Some(value)) => Ok(Source { value, negated }),
                _ => Err(ResultError::Contract(format!(
                    "result column `{}` is an alias of column {of}, which is no column with values",
                    column.name
                ))),
            }
        };
        Ok(Self { sources: columns.iter().enumerate().map(source).collect::<Result<_, _>>()?, width })
    }

    pub fn check(&self, values: &[f64]) -> Result<(), ResultError> {
        if values.len() == self.width {
            return Ok(());
        }
        Err(ResultError::Contract(format!("a result row has {} values instead of {}", values.len(), self.width)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_take_the_value_of_their_column() {
        let columns = [Column::new("b").alias(1, true), Column::new("a"), Column::new("c")];
        let expansion = Expansion::new(&columns).unwrap();
        let row: Vec<f64> = expansion.sources.iter().map(|source| source.of(&[1.0, 2.0])).collect();
        assert_eq!(row, [-1.0, 1.0, 2.0]);
    }

    #[test]
    fn an_alias_of_an_alias_or_of_nothing_is_refused() {
        let chain = [Column::new("a"), Column::new("b").alias(0, false), Column::new("c").alias(1, false)];
        assert!(Expansion::new(&chain).is_err());
        assert!(Expansion::new(&[Column::new("a").alias(7, false)]).is_err());
    }
}
