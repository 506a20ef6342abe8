//! Sobol' indices of a study with Saltelli's sample, as a table and as JSON.

use std::fmt::Write as _;

use results::Table;
use serde_json::{Value, json};
use study::{Sensitivity, sensitivities};

use super::variant::Plan;
use crate::arguments::Sweep;

/// For each quantity the indices of all parameters.
pub struct Report {
    parameters: Vec<String>,
    quantities: Vec<(String, Option<Vec<Sensitivity>>)>,
}

/// `None` for a study of another kind.
pub fn report(arguments: &Sweep, plan: &Plan, table: &Table) -> Result<Option<Report>, String> {
    if !super::is_saltelli(arguments) {
        return Ok(None);
    }
    let columns = super::quantities(arguments, plan, table)?;
    let succeeded = super::succeeded(table);
    let indices = |column: &String| {
        let mut values = table.numbers(column).unwrap_or_default();
        values.iter_mut().zip(&succeeded).filter(|(_, ok)| !**ok).for_each(|(value, _)| *value = f64::NAN);
        (column.clone(), sensitivities(&values, plan.varied.len()))
    };
    let parameters = plan.varied.iter().map(|it| it.name.clone()).collect();
    Ok(Some(Report { parameters, quantities: columns.iter().map(indices).collect() }))
}

impl Report {
    pub fn text(&self) -> String {
        let width = self.parameters.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(9);
        let mut text = String::new();
        for (quantity, indices) in &self.quantities {
            let _ = writeln!(text, "sensitivity of {quantity}");
            let Some(indices) = indices else {
                text.push_str("  it does not vary, or too few variants succeeded\n");
                continue;
            };
            let _ = writeln!(text, "  {:width$}  {:>17}  {:>17}", "parameter", "first order", "total");
            for (name, it) in self.parameters.iter().zip(indices) {
                let first = format!("{:.4} ± {:.4}", it.first, it.first_error);
                let total = format!("{:.4} ± {:.4}", it.total, it.total_error);
                let _ = writeln!(text, "  {name:width$}  {first:>17}  {total:>17}");
            }
        }
        text
    }

    pub fn json(&self) -> Value {
        let of = |(quantity, indices): &(String, Option<Vec<Sensitivity>>)| {
            let parameters: Vec<Value> = (self.parameters.iter())
                .zip(indices.iter().flatten())
                .map(|(name, it)| {
                    json!({
                        "name": name, "first": it.first, "total": it.total,
                        "first_error": it.first_error, "total_error": it.total_error,
                    })
                })
                .collect();
            json!({ "of": quantity, "parameters": parameters })
        };
        self.quantities.iter().map(of).collect()
    }
}
