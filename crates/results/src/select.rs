//! Keeps some variables of a run and leaves the others out before they reach the file.

use crate::column::{Expansion, Source};
use crate::{Alias, Column, ResultError, ResultSink};

/// Hands on the columns for which the predicate holds. An alias whose variable is left out becomes a column of its own.
pub struct SelectSink<S, P> {
    inner: S,
    wanted: P,
    width: Expansion,
    /// Where the values of the inner row come from.
    sources: Vec<Source>,
    row: Vec<f64>,
}

impl<S: ResultSink, P: Fn(&Column) -> bool> SelectSink<S, P> {
    /// Hands on the columns that `wanted` names.
    pub fn new(inner: S, wanted: P) -> Self {
        Self { inner, wanted, width: Expansion::default(), sources: Vec::new(), row: Vec::new() }
    }

    /// The sink behind it.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: ResultSink, P: Fn(&Column) -> bool> ResultSink for SelectSink<S, P> {
    fn begin(&mut self, columns: &[Column]) -> Result<(), ResultError> {
        self.width = Expansion::new(columns)?;
        self.sources.clear();
        // The column that carries a value in the inner result, and whether with the opposite sign.
        let mut carriers: Vec<Option<(usize, bool)>> = vec![None; self.width.width];
        let mut kept: Vec<Column> = Vec::new();
        // Columns with values of their own come first in line to carry them.
        for (column, source) in columns.iter().zip(&self.width.sources) {
            if column.alias.is_none() && (self.wanted)(column) {
                carriers[source.value] = Some((usize::MAX, false));
            }
        }
        for (column, source) in columns.iter().zip(&self.width.sources) {
            if !(self.wanted)(column) {
                continue;
            }
            let own = column.alias.is_none() || carriers[source.value].is_none();
            if own {
                carriers[source.value] = Some((kept.len(), source.negated));
                self.sources.push(*source);
            }
            kept.push(Column {
                alias: (!own).then_some(Alias { of: source.value, negated: source.negated }),
                ..column.clone()
            });
        }
        for column in &mut kept {
            if let Some(alias) = &mut column.alias
                && let Some((of, negated)) = carriers[alias.of]
            {
                *alias = Alias { of, negated: alias.negated != negated };
            }
        }
        self.inner.begin(&kept)
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        self.width.check(values)?;
        self.row.clear();
        self.row.extend(self.sources.iter().map(|source| source.of(values)));
        self.inner.row(time, &self.row)
    }

    fn finish(&mut self) -> Result<(), ResultError> {
        self.inner.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySink;

    #[test]
    fn aliases_of_what_is_left_out_keep_their_values() {
        let columns = [
            Column::new("early").alias(1, true),
            Column::new("hidden"),
            Column::new("late").alias(1, false),
            Column::new("x"),
            Column::new("minus_x").alias(3, true),
        ];
        let mut sink = SelectSink::new(MemorySink::default(), |column: &Column| column.name != "hidden");
        sink.begin(&columns).unwrap();
        sink.row(0.0, &[7.0, 3.0]).unwrap();
        let result = sink.into_inner().trajectories;
        let values: Vec<_> = result.variables.iter().map(|v| (v.column.name.as_str(), v.values[0])).collect();
        assert_eq!(values, [("early", -7.0), ("late", 7.0), ("x", 3.0), ("minus_x", -3.0)]);
    }
}
