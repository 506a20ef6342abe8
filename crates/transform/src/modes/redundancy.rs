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
use crate::decisions::Subject;
use crate::derivatives::{at_order, offsets_of_rows, residual};
use crate::parts::Role;
use crate::structure::Matching;
use crate::structure::dulmage::{circuit, decompose};
use crate::structure::matching::Search;
use crate::system::{System, is_discrete_equation};
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
    if work.modes.touched.is_none() {
        return Ok(false);
    }
    let Some(spare) = spare_rows(work, system).filter(|spare| !spare.is_empty()) else { return Ok(false) };
    let Some(mut open) = directions(work, system, &spare) else { return Ok(false) };
    let (mut moving, mut others) = left_open(work, &open);
    if !moving.is_empty()
        && let Some(lasting) = lasting_directions(work, system, &spare)
    {
        open = lasting;
        (moving, others) = left_open(work, &open);
    }
    if !moving.is_empty() {
        return Err(vec![missing_law(work, system, &spare, &moving, &others)]);
    }
    let Some(conditions) = sharing(work, &open) else { return Ok(false) };
    let notice = notice(work, system, &spare, &open);
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

/// Rows of switches that follow from others, as many as the system has too many; none where others contradict each other.
fn spare_rows(work: &mut Work, system: &System) -> Option<Vec<u32>> {
    let mut spare: Vec<u32> = Vec::new();
    loop {
        let matching = with_switches_last(work, system, &spare);
        let Some(row) = matching.unmatched_rows().find(|row| !spare.contains(row)) else { return Some(spare) };
        spare.push(redundant(work, system, &matching, row)?);
    }
}

/// A maximum matching of the rows that are not left out. Equations that every mode has come first, so that those of
/// switches are left over.
fn with_switches_last(work: &Work, system: &System, left_out: &[u32]) -> Matching {
    let mut matching = Matching::empty(system.rows.len(), system.columns.len());
    let mut search = Search::new(&system.matchable);
    let (steady, switched): (Vec<u32>, Vec<u32>) = (0..system.rows.len() as u32)
        .filter(|row| !left_out.contains(row))
        .partition(|&row| work.is_steady(system.rows[row as usize]));
    for rows in [steady, switched] {
        matching.extend_rows(&mut search, rows);
    }
    matching
}

/// Of the rows that together are one too many, the given unmatched one among them, one of a switch that follows from the
/// others: with some of them it adds up to 0 = 0 whatever the values are. The matching knows the pattern only, so the
/// row that it leaves over need not be such a one; without any row of this set the others can be matched.
fn redundant(work: &mut Work, system: &System, matching: &Matching, row: u32) -> Option<u32> {
    let rows = circuit(&system.matchable, matching, row);
    if rows.len() > LARGEST {
        return None;
    }
    let residuals = residuals(work, system, &rows);
    work.note_values(&residuals, Subject::Sharing, None);
    let mut columns: Vec<VarId> = work.model.exprs.dependencies(&residuals).variables;
    columns.retain(|&v| work.is_unknown(v) || work.model.variables[v].derivative_of.is_some());
    let matrix = slopes(work, &residuals, &columns)?;
    let weights = null_space(transpose(&matrix, columns.len()), rows.len());
    let order = work.model.exprs.postorder(&residuals);
    let values = numbers(work, &order);
    let vanishes = |weights: &&Vec<f64>| {
        let value = |residual: &ExprId| values.get(residual).copied().unwrap_or(f64::NAN);
        let sum: f64 = residuals.iter().zip(*weights).map(|(residual, weight)| weight * value(residual)).sum();
        let scale: f64 =
            residuals.iter().zip(*weights).map(|(residual, weight)| (weight * value(residual)).abs()).sum();
        sum.abs() <= ROUNDING * (1.0 + scale)
    };
    let follow: Vec<u32> = (0..rows.len())
        .filter(|&place| weights.iter().filter(vanishes).any(|weights| weights[place].abs() > ROUNDING))
        .map(|place| rows[place])
        .collect();
    if follow.contains(&row) {
        return Some(row);
    }
    follow.into_iter().rev().find(|&other| !work.is_steady(system.rows[other as usize]))
}

/// What equations leave open.
struct Open {
    /// The variables of the undetermined part.
    variables: Vec<VarId>,
    /// The order of the highest derivative of each.
    orders: Vec<u32>,
    /// The directions in which the highest derivatives can move.
    directions: Vec<Vec<f64>>,
}

impl Open {
    fn feels(&self, place: usize) -> bool {
        self.directions.iter().any(|direction| direction[place].abs() > ROUNDING)
    }

    /// Whether each direction moves one of these places.
    fn is_felt_at(&self, places: &[usize]) -> bool {
        let own: Vec<Vec<f64>> =
            self.directions.iter().map(|direction| places.iter().map(|&place| direction[place]).collect()).collect();
        null_space(transpose(&own, places.len()), own.len()).is_empty()
    }
}

/// What is left open by the rows that are not spare. They are differentiated as often as they constrain states, since it
/// is highest derivatives that they determine: a capacitor beside closed switches has the current that keeps its voltage.
fn directions(work: &mut Work, system: &System, spare: &[u32]) -> Option<Open> {
    let kept: Vec<u32> = (0..system.rows.len() as u32).filter(|row| !spare.contains(row)).collect();
    let system = system.with_rows(&kept);
    let (chains, offsets) = offsets_of_rows(work, &system)?;
    let parts = decompose(&offsets.tight, &offsets.matching);
    let (rows, columns) = (&parts.under_rows, &parts.under_columns);
    let smooth = |&column: &u32| {
        let variable = system.columns[column as usize];
        work.model.variables[variable].ty == VariableType::Real && !work.is_discrete(variable)
    };
    if columns.len() > LARGEST || columns.len() != rows.len() + spare.len() || !columns.iter().all(smooth) {
        return None;
    }
    let variables: Vec<VarId> = columns.iter().map(|&column| system.columns[column as usize]).collect();
    let orders: Vec<u32> = columns.iter().map(|&column| offsets.variables[column as usize]).collect();
    let unknowns: Vec<VarId> = variables
        .iter()
        .zip(&orders)
        .map(|(&variable, &order)| at_order(work, variable, order))
        .collect::<Option<_>>()?;
    let differentiated = rows.iter().map(|&row| chains[row as usize][offsets.equations[row as usize] as usize]);
    let mut residuals = Vec::with_capacity(rows.len());
    for eq in differentiated {
        let sides = work.inlined(work.dynamic[eq]);
        residuals.push(residual(work, sides));
    }
    let matrix = slopes(work, &residuals, &unknowns)?;
    let mut directions = null_space(matrix, unknowns.len());
    if directions.len() > spare.len() {
        // The pattern does not show everything that is said twice; the rest is seen when this is decided. Until then
        // a direction may be closed by what is not seen yet, but not one that nothing but switches feels.
        let switches = switch_unknowns(work);
        let is_of_switch = |place: usize| orders[place] == 0 && switches.contains(&variables[place]);
        directions.retain(|direction: &Vec<f64>| {
            direction.iter().enumerate().all(|(place, part)| part.abs() <= ROUNDING || is_of_switch(place))
        });
        directions.truncate(spare.len());
    }
    (directions.len() == spare.len()).then_some(Open { variables, orders, directions })
}

/// The same by numbers alone, for small systems. The pattern may take equations between potentials for ones that determine
/// all of these although only differences are in them, and so overlook that they constrain states. Here all rows are
/// differentiated some times, as with constant coefficients: a direction is open if it can be continued.
fn lasting_directions(work: &mut Work, system: &System, spare: &[u32]) -> Option<Open> {
    const TIMES: usize = 2;
    const MOST: usize = 80;
    let smooth = |work: &Work, variable: VarId| {
        work.model.variables[variable].ty == VariableType::Real && !work.is_discrete(variable)
    };
    let variables: Vec<VarId> = system.columns.iter().copied().filter(|&variable| smooth(work, variable)).collect();
    if variables.len() > MOST {
        return None;
    }
    let place: FxHashMap<VarId, usize> = variables.iter().enumerate().map(|(k, &v)| (v, k)).collect();
    let is_spare = |row: usize| spare.contains(&(row as u32));
    let rows: Vec<usize> = (0..system.rows.len()).filter(|&row| !is_spare(row)).collect();
    let is_smooth_row = |work: &Work, row: usize| {
        let (left, right) = system.sides[row];
        !is_discrete_equation(work, left, right)
    };
    let rows: Vec<u32> = rows.into_iter().filter(|&row| is_smooth_row(work, row)).map(|row| row as u32).collect();
    let residuals = residuals(work, system, &rows);
    let order_of = |work: &Work, mut variable: VarId| {
        let mut order = 0;
        while let Some(of) = work.model.variables[variable].derivative_of {
            (variable, order) = (of, order + 1);
        }
        place.get(&variable).map(|&column| (column, order))
    };
    let inside = work.model.exprs.dependencies(&residuals).variables;
    let found: Vec<(VarId, (usize, usize))> =
        inside.into_iter().filter_map(|variable| Some((variable, order_of(work, variable)?))).collect();
    let mut orders = vec![0; variables.len()];
    found.iter().for_each(|&(_, (column, order))| orders[column] = order.max(orders[column]));
    let unknowns: Vec<VarId> = found.iter().map(|(variable, _)| *variable).collect();
    let slopes = slopes(work, &residuals, &unknowns)?;
    let (count, width) = (variables.len(), variables.len() * (TIMES + 1));
    let mut matrix = Vec::new();
    for times in 0..=TIMES {
        for row in &slopes {
            let mut wide = vec![0.0; width];
            for (&(_, (column, order)), slope) in found.iter().zip(row) {
                // States are what they are; what lies above them is open.
                if let Some(above) = (order + times).checked_sub(orders[column]) {
                    wide[above * count + column] += slope;
                }
            }
            matrix.push(wide);
        }
    }
    let first: Vec<Vec<f64>> = null_space(matrix, width).into_iter().map(|vector| vector[..count].to_vec()).collect();
    let directions = row_space(first);
    let orders = orders.into_iter().map(|order| order as u32).collect();
    (directions.len() == spare.len()).then_some(Open { variables, orders, directions })
}

/// What the equations leave open: variables that the model differentiates, whose motion it is, and others.
fn left_open(work: &Work, open: &Open) -> (Vec<VarId>, Vec<VarId>) {
    let felt = (0..open.variables.len()).filter(|&place| open.feels(place));
    let variables = felt.map(|place| (open.variables[place], open.orders[place]));
    let is_differentiated = |variable: VarId| work.model.exprs.find(dae::Node::Der(variable)).is_some();
    let (moving, others): (Vec<_>, Vec<_>) =
        variables.partition(|&(variable, order)| order > 0 && is_differentiated(variable));
    let algebraic = others.into_iter().filter(|&(variable, _)| !is_differentiated(variable));
    (moving.into_iter().map(|(variable, _)| variable).collect(), algebraic.map(|(variable, _)| variable).collect())
}

/// For each direction in which the unknowns can move, that the unknowns of switches do not move along it.
fn sharing(work: &mut Work, open: &Open) -> Option<Vec<ExprId>> {
    let switches = switch_unknowns(work);
    let all: Vec<usize> = (0..open.variables.len()).collect();
    let of_switches: Vec<usize> = all.iter().copied().filter(|&k| switches.contains(&open.variables[k])).collect();
    let undifferentiated: Vec<usize> = of_switches.iter().copied().filter(|&k| open.orders[k] == 0).collect();
    let all_undifferentiated = all.iter().all(|&k| open.orders[k] == 0 || !open.feels(k));
    // Where the switches do not feel a direction, everything counts.
    let places = [undifferentiated, of_switches].into_iter().find(|places| open.is_felt_at(places));
    let places = places.or_else(|| all_undifferentiated.then_some(all))?;
    let condition = |direction: &Vec<f64>| {
        let exprs = &mut work.model.exprs;
        let terms: Vec<ExprId> = places
            .iter()
            .filter(|&&k| direction[k].abs() > ROUNDING)
            .map(|&k| {
                let (factor, variable) = (exprs.real(direction[k]), exprs.var(open.variables[k]));
                exprs.mul(factor, variable)
            })
            .collect();
        exprs.sum(&terms)
    };
    Some(open.directions.iter().map(condition).collect())
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
    work.modes.switched.iter().map(|&variable| stands_for(variable)).collect()
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
    work.note_values(&roots, Subject::Sharing, None);
    let values = numbers(work, &work.model.exprs.postorder(&roots));
    let mut matrix = vec![vec![0.0; variables.len()]; residuals.len()];
    for (row, column, entry) in entries {
        matrix[row][column] += values.get(&entry).copied()?;
    }
    Some(matrix)
}

/// Vectors that span what a matrix with so many columns maps to zero.
fn null_space(mut matrix: Vec<Vec<f64>>, columns: usize) -> Vec<Vec<f64>> {
    let pivots = eliminate(&mut matrix, columns);
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

/// Independent vectors that span the same as these.
fn row_space(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let columns = matrix.first().map_or(0, Vec::len);
    let rank = eliminate(&mut matrix, columns).len();
    matrix.truncate(rank);
    matrix
}

/// Gauss-Jordan elimination; the columns of the pivots of the first rows.
fn eliminate(matrix: &mut [Vec<f64>], columns: usize) -> Vec<usize> {
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
    pivots
}

fn notice(work: &Work, system: &System, spare: &[u32], open: &Open) -> Diagnostic {
    let switches = switch_unknowns(work);
    let shared: Vec<String> = (0..open.variables.len())
        .filter(|&place| open.feels(place) && switches.contains(&open.variables[place]))
        .map(|place| work.model.variable_name(open.variables[place]))
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
