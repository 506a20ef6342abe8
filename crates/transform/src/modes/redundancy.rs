//! Ideal elements that say the same thing twice: two closed switches in parallel, two open ones in series.
//!
//! One of their equations follows from the others, and something is left open instead: how the current divides, where the
//! potential between them lies. Of all solutions the one of least norm in the unknowns of the switches is taken: the
//! current is shared evenly. A warning names the switches. Where it is the motion that is left open, as in an impact without a
//! law, nothing can be shared: that is an error. Equations that do not follow from the others but contradict
//! them are left as they are, for the message about it.

use base::Diagnostic;
use dae::{EqId, ExprId, Origin, VarId, VariableType};
use rustc_hash::{FxHashMap, FxHashSet};

use super::numbers::numbers;
use crate::derivatives::at_order;
use crate::schedule::Role;
use crate::structure::Matching;
use crate::structure::dulmage::{circuit, decompose};
use crate::structure::matching::Search;
use crate::system::System;
use crate::work::Work;

/// The code of the warning.
pub const CODE: &str = "redundant-switches";

/// The code of the error that something moves as it likes.
pub const MISSING_LAW: &str = "missing-law";

/// Larger undetermined parts are left alone.
const LARGEST: usize = 300;
/// Relative size below which numbers are rounding errors.
const ROUNDING: f64 = 1e-9;

/// Replaces equations of switches that follow from others by ones that share evenly; false if there are none.
pub fn share(work: &mut Work, system: &System) -> Result<bool, Vec<Diagnostic>> {
    if work.touched.is_none() {
        return Ok(false);
    }
    let matching = with_switches_last(work, system);
    let spare: Vec<u32> = matching.unmatched_rows().collect();
    let parts = decompose(&system.matchable, &matching);
    let smooth = |&column: &u32| {
        let variable = system.columns[column as usize];
        work.model.variables[variable].ty == VariableType::Real && !work.is_discrete(variable)
    };
    let open = parts.under_columns.len().saturating_sub(parts.under_rows.len());
    if spare.is_empty()
        || open != spare.len()
        || parts.under_columns.len() > LARGEST
        || !parts.under_columns.iter().all(smooth)
        || !spare.iter().all(|&row| follows(work, system, &matching, row))
    {
        return Ok(false);
    }
    let Some(open) = directions(work, system, &parts.under_rows, &parts.under_columns) else { return Ok(false) };
    let (moving, others) = left_open(work, system, &parts.under_columns, &open);
    if !moving.is_empty() {
        return Err(vec![missing_law(work, system, &spare, &moving, &others)]);
    }
    let Some(conditions) = sharing(work, system, &parts.under_columns, &open) else { return Ok(false) };
    let notice = notice(work, system, &spare, &parts.under_columns);
    if work.strict {
        return Err(vec![Diagnostic { severity: base::Severity::Error, ..notice }]);
    }
    work.summary.notices.push(notice);
    let zero = work.model.exprs.real(0.0);
    for (&row, condition) in spare.iter().zip(conditions) {
        let eq = system.rows[row as usize];
        work.dynamic[eq] = (zero, condition);
        let equation = &mut work.model.equations[eq];
        (equation.left, equation.right) = (zero, condition);
    }
    Ok(true)
}

/// A maximum matching in which equations that every mode has come first, so that those of switches are left over.
fn with_switches_last(work: &Work, system: &System) -> Matching {
    let mut matching = Matching::empty(system.rows.len(), system.columns.len());
    let mut search = Search::new(&system.matchable);
    let (steady, switched): (Vec<u32>, Vec<u32>) =
        (0..system.rows.len() as u32).partition(|&row| work.is_steady(system.rows[row as usize]));
    for rows in [steady, switched] {
        matching.extend_rows(&mut search, rows);
    }
    matching
}

/// Whether a combination of equations, the given one among them, is 0 = 0 whatever the values are.
fn follows(work: &mut Work, system: &System, matching: &Matching, row: u32) -> bool {
    let rows = circuit(&system.matchable, matching, row);
    if rows.len() > LARGEST {
        return false;
    }
    let residuals = residuals(work, system, &rows);
    let mut columns: Vec<VarId> = work.model.exprs.dependencies(&residuals).variables;
    columns.retain(|&v| work.is_unknown(v) || work.model.variables[v].derivative_of.is_some());
    let Some(matrix) = slopes(work, &residuals, &columns) else { return false };
    let transposed: Vec<Vec<f64>> =
        (0..columns.len()).map(|column| matrix.iter().map(|row| row[column]).collect()).collect();
    let weights = null_space(transposed, rows.len());
    let order = work.model.exprs.postorder(&residuals);
    let values = numbers(work, &order);
    let own = rows.iter().position(|&other| other == row);
    weights.iter().any(|weights| {
        let involved = own.is_some_and(|own| weights[own].abs() > ROUNDING);
        let value = |residual: &ExprId| values.get(residual).copied().unwrap_or(f64::NAN);
        let sum: f64 = residuals.iter().zip(weights).map(|(residual, weight)| weight * value(residual)).sum();
        let scale: f64 = residuals.iter().zip(weights).map(|(residual, weight)| (weight * value(residual)).abs()).sum();
        involved && sum.abs() <= ROUNDING * (1.0 + scale)
    })
}

/// The unknowns of an undetermined part, and the directions in which they can move.
struct Open {
    unknowns: Vec<VarId>,
    directions: Vec<Vec<f64>>,
}

fn directions(work: &mut Work, system: &System, rows: &[u32], columns: &[u32]) -> Option<Open> {
    let residuals = residuals(work, system, rows);
    let highest = |&column: &u32| at_order(work, system.columns[column as usize], system.highest[column as usize]);
    let unknowns: Vec<VarId> = columns.iter().map(highest).collect::<Option<_>>()?;
    let matrix = slopes(work, &residuals, &unknowns)?;
    let directions = null_space(matrix, unknowns.len());
    (directions.len() == columns.len() - rows.len()).then_some(Open { unknowns, directions })
}

/// What the equations leave open: variables that the model differentiates, whose motion it is, and others.
fn left_open(work: &Work, system: &System, columns: &[u32], open: &Open) -> (Vec<VarId>, Vec<VarId>) {
    let feels = |place: usize| open.directions.iter().any(|direction| direction[place].abs() > ROUNDING);
    let felt = columns.iter().enumerate().filter(|(place, _)| feels(*place));
    let variables = felt.map(|(_, &column)| (system.columns[column as usize], system.highest[column as usize]));
    let is_differentiated = |variable: VarId| work.model.exprs.find(dae::Node::Der(variable)).is_some();
    let (moving, others): (Vec<_>, Vec<_>) =
        variables.partition(|&(variable, order)| order > 0 && is_differentiated(variable));
    let algebraic = others.into_iter().filter(|&(variable, _)| !is_differentiated(variable));
    (moving.into_iter().map(|(variable, _)| variable).collect(), algebraic.map(|(variable, _)| variable).collect())
}

/// For each direction in which the unknowns can move, that the unknowns of switches do not move along it.
fn sharing(work: &mut Work, system: &System, columns: &[u32], open: &Open) -> Option<Vec<ExprId>> {
    let Open { unknowns, directions } = open;
    let switches = switch_unknowns(work);
    let of_switches: Vec<usize> = (0..unknowns.len()).filter(|&k| switches.contains(&unknowns[k])).collect();
    let own: Vec<Vec<f64>> =
        directions.iter().map(|direction| of_switches.iter().map(|&k| direction[k]).collect()).collect();
    // Where the switches do not feel a direction, everything counts.
    let determined = null_space(transpose(&own, of_switches.len()), own.len()).is_empty();
    if !determined && columns.iter().any(|&column| system.highest[column as usize] > 0) {
        return None;
    }
    let places: Vec<usize> = if determined { of_switches } else { (0..unknowns.len()).collect() };
    let condition = |direction: &Vec<f64>| {
        let exprs = &mut work.model.exprs;
        let terms: Vec<ExprId> = places
            .iter()
            .filter(|&&k| direction[k].abs() > ROUNDING)
            .map(|&k| {
                let (factor, variable) = (exprs.real(direction[k]), exprs.var(unknowns[k]));
                exprs.mul(factor, variable)
            })
            .collect();
        exprs.sum(&terms)
    };
    Some(directions.iter().map(condition).collect())
}

fn transpose(rows: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
    (0..columns).map(|column| rows.iter().map(|row| row[column]).collect()).collect()
}

/// The unknowns in the equations that conditions decide about, whatever they decide.
fn switch_unknowns(work: &Work) -> FxHashSet<VarId> {
    let stands_for = |mut variable: VarId| {
        for _ in 0..work.roles.len() {
            let Role::Alias { of, .. } = work.roles[variable] else { break };
            variable = of;
        }
        variable
    };
    work.switched.iter().map(|&variable| stands_for(variable)).collect()
}

fn residuals(work: &mut Work, system: &System, rows: &[u32]) -> Vec<ExprId> {
    rows.iter()
        .map(|&row| {
            let (left, right) = system.sides[row as usize];
            work.model.exprs.sub(left, right)
        })
        .collect()
}

/// The derivatives of residuals by variables, as numbers.
fn slopes(work: &mut Work, residuals: &[ExprId], variables: &[VarId]) -> Option<Vec<Vec<f64>>> {
    let place: FxHashMap<VarId, usize> = variables.iter().enumerate().map(|(k, &v)| (v, k)).collect();
    let mut entries = Vec::new();
    for (row, &residual) in residuals.iter().enumerate() {
        for variable in work.model.exprs.dependencies(&[residual]).variables {
            if let Some(&column) = place.get(&variable) {
                entries.push((row, column, work.partial_derivative(residual, variable)?));
            }
        }
    }
    let roots: Vec<ExprId> = entries.iter().map(|&(.., entry)| entry).collect();
    let values = numbers(work, &work.model.exprs.postorder(&roots));
    let mut matrix = vec![vec![0.0; variables.len()]; residuals.len()];
    for (row, column, entry) in entries {
        matrix[row][column] += values.get(&entry).copied()?;
    }
    Some(matrix)
}

/// Vectors that span what a matrix with so many columns maps to zero.
fn null_space(mut matrix: Vec<Vec<f64>>, columns: usize) -> Vec<Vec<f64>> {
    let largest = matrix.iter().flatten().fold(0.0f64, |most, x| most.max(x.abs()));
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..columns {
        let row = pivots.len();
        let best = (row..matrix.len()).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()));
        let Some(best) = best.filter(|&best| matrix[best][column].abs() > ROUNDING * largest) else { continue };
        matrix.swap(row, best);
        let pivot = matrix[row][column];
        matrix[row].iter_mut().for_each(|x| *x /= pivot);
        let own = matrix[row].clone();
        for (_, values) in matrix.iter_mut().enumerate().filter(|(other, _)| *other != row) {
            let factor = values[column];
            if factor != 0.0 {
                values.iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
            }
        }
        pivots.push(column);
    }
    let free = (0..columns).filter(|column| !pivots.contains(column));
    free.map(|column| {
        let mut vector = vec![0.0; columns];
        vector[column] = 1.0;
        for (row, &pivot) in pivots.iter().enumerate() {
            vector[pivot] = -matrix[row][column];
        }
        vector
    })
    .collect()
}

fn notice(work: &Work, system: &System, spare: &[u32], columns: &[u32]) -> Diagnostic {
    let switches = switch_unknowns(work);
    let shared: Vec<String> = columns
        .iter()
        .map(|&column| system.columns[column as usize])
        .filter(|variable| switches.contains(variable))
        .map(|variable| work.model.variable_name(variable))
        .collect();
    let diagnostic = Diagnostic::warning(
        CODE,
        format!(
            "ideal elements say the same thing twice; {} are shared evenly (solution of least norm)",
            shared.join(", ")
        ),
    )
    .hint("give one of them a resistance, or leave it out; --strict refuses such models")
    .decides();
    with_equations(work, system, spare, diagnostic)
}

fn missing_law(work: &Work, system: &System, spare: &[u32], moving: &[VarId], others: &[VarId]) -> Diagnostic {
    let names = |variables: &[VarId]| {
        variables.iter().map(|&variable| work.model.variable_name(variable)).collect::<Vec<_>>().join(", ")
    };
    let message = match others {
        [] => format!("nothing determines how {} changes", names(moving)),
        _ => format!("nothing determines {}, and so not how {} changes", names(others), names(moving)),
    };
    with_equations(work, system, spare, Diagnostic::error(MISSING_LAW, message))
}

/// Names the equations that follow from others.
fn with_equations(work: &Work, system: &System, spare: &[u32], mut diagnostic: Diagnostic) -> Diagnostic {
    let equations: Vec<EqId> = spare.iter().map(|&row| system.rows[row as usize]).collect();
    for eq in equations {
        let Origin { component, span, .. } = &work.model.equations[eq].origin;
        let component = work.model.paths.text(*component);
        let text = if component.is_empty() {
            "this follows from other equations in this mode".to_string()
        } else {
            format!("this follows from other equations in this mode, in component `{component}`")
        };
        diagnostic = match span {
            Some(span) => diagnostic.at(*span, text),
            None => diagnostic.note(text),
        };
    }
    diagnostic
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_space_of_a_sum() {
        assert_eq!(null_space(vec![vec![1.0, 1.0]], 2), vec![vec![-1.0, 1.0]]);
        assert_eq!(null_space(vec![vec![1.0, 0.0], vec![0.0, 2.0]], 2), Vec::<Vec<f64>>::new());
        let found = null_space(vec![vec![1.0, -1.0, 0.0], vec![0.0, 1.0, -1.0], vec![1.0, 0.0, -1.0]], 3);
        assert_eq!(found, vec![vec![1.0, 1.0, 1.0]]);
    }
}
