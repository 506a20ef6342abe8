//! Which strokes the law of an element with several ports allows: those with which the law can be solved for what the element gives.

use base::IdVec;

use crate::calculus::derivative;
use crate::coefficients::Numbers;
use crate::equations::residuals;
use crate::expr::Expr;
use crate::graph::*;
use crate::kind::Kind;

/// More ports have too many patterns.
const MOST_PORTS: usize = 6;
/// Pivots that are smaller beside the largest entry are rounding.
const SMALLEST_PIVOT: f64 = 1e-9;

/// For each port whether the element gives the effort.
pub type Pattern = Vec<bool>;

/// The patterns of every element; none where all are possible, or where the law is not known in numbers.
pub fn patterns(graph: &Graph) -> IdVec<ElementId, Vec<Pattern>> {
    let mut numbers = None;
    let mut all = IdVec::with_capacity(graph.elements.len());
    for (id, element) in graph.elements.iter() {
        let has_law = match element.law {
            Law::Residuals(_) => true,
            Law::Matrix(_) => element.kind == Kind::Resistor,
            _ => false,
        };
        let found = match has_law && (2..=MOST_PORTS).contains(&element.ports.len()) {
            true => {
                let numbers = numbers.get_or_insert_with(|| Numbers::new(graph, &[]).ok());
                numbers.as_ref().and_then(|numbers| of_element(graph, id, numbers)).unwrap_or_default()
            }
            false => Vec::new(),
        };
        all.push(found);
    }
    all
}

fn of_element(graph: &Graph, id: ElementId, numbers: &Numbers) -> Option<Vec<Pattern>> {
    let residuals = residuals(graph, id)?;
    let ports = &graph.elements[id].ports;
    let coefficients = |leaf: Leaf| -> Option<Vec<f64>> {
        residuals
            .iter()
            .map(|residual| match derivative(residual, leaf) {
                Expr::Number(value, _) => Some(value),
                other => numbers.of(&other),
            })
            .collect()
    };
    let efforts: Vec<Vec<f64>> =
        ports.iter().map(|port| coefficients(Leaf::Effort(port.bond))).collect::<Option<_>>()?;
    let flows: Vec<Vec<f64>> = ports.iter().map(|port| coefficients(Leaf::Flow(port.bond))).collect::<Option<_>>()?;
    let all = (0..1_u32 << ports.len()).map(|bits| (0..ports.len()).map(|port| bits >> port & 1 == 1).collect());
    let is_regular = |pattern: &Pattern| {
        let columns = pattern.iter().enumerate().map(|(port, effort)| {
            let column = if *effort { &efforts[port] } else { &flows[port] };
            column.clone()
        });
        regular(columns.collect())
    };
    Some(all.filter(is_regular).collect())
}

/// Elimination of columns, with the largest entry of each row as its pivot.
fn regular(mut columns: Vec<Vec<f64>>) -> bool {
    let count = columns.len();
    for place in 0..count {
        let largest = columns.iter().flatten().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let Some(pivot) =
            (place..count).max_by(|one, other| columns[*one][place].abs().total_cmp(&columns[*other][place].abs()))
        else {
            return false;
        };
        if columns[pivot][place].abs() <= SMALLEST_PIVOT * largest {
            return false;
        }
        columns.swap(place, pivot);
        let pivot = columns[place].clone();
        for column in &mut columns[place + 1..] {
            let factor = column[place] / pivot[place];
            column.iter_mut().zip(&pivot).for_each(|(entry, pivot)| *entry -= factor * pivot);
        }
    }
    true
}
