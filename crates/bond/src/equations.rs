//! The linear equations of a graph with causality: every element gives one for each of its bonds.

use base::{Diagnostic, Id};

use crate::causality::{Causality, effort_index, flow_index};
use crate::coefficients::Coefficients;
use crate::expr::{Expr, Operator};
use crate::graph::*;
use crate::kind::Kind;
use algebra::sparse::{Field, Row, row};

/// The columns: unknowns (efforts and flows, signals, dependent stored quantities), then what they are functions of
/// (states, inputs, rates of the dependent quantities, 1).
pub struct Columns {
    pub bonds: usize,
    pub signals: usize,
    pub states: Vec<(ElementId, u32)>,
    pub dependent: Vec<(ElementId, u32)>,
    pub inputs: usize,
    storage: rustc_hash::FxHashMap<(ElementId, u32), u32>,
}

impl Columns {
    pub fn new(graph: &Graph, states: Vec<(ElementId, u32)>, dependent: Vec<(ElementId, u32)>) -> Self {
        let mut columns = Self {
            bonds: graph.bonds.len(),
            signals: graph.signals.len(),
            states,
            dependent,
            inputs: graph.inputs.len(),
            storage: rustc_hash::FxHashMap::default(),
        };
        for (index, storage) in columns.dependent.iter().enumerate() {
            columns.storage.insert(*storage, (2 * columns.bonds + columns.signals + index) as u32);
        }
        let first = columns.unknowns();
        for (index, storage) in columns.states.iter().enumerate() {
            columns.storage.insert(*storage, (first + index) as u32);
        }
        columns
    }

    pub fn unknowns(&self) -> usize {
        2 * self.bonds + self.signals + self.dependent.len()
    }

    pub fn state(&self, index: usize) -> u32 {
        (self.unknowns() + index) as u32
    }

    pub fn input(&self, index: usize) -> u32 {
        (self.unknowns() + self.states.len() + index) as u32
    }

    pub fn rate(&self, index: usize) -> u32 {
        (self.unknowns() + self.states.len() + self.inputs + index) as u32
    }

    pub fn one(&self) -> u32 {
        self.rate(self.dependent.len())
    }

    pub fn leaf(&self, leaf: Leaf) -> Option<u32> {
        match leaf {
            Leaf::Effort(bond) => Some(effort_index(bond) as u32),
            Leaf::Flow(bond) => Some(flow_index(bond) as u32),
            Leaf::Signal(signal) => Some((2 * self.bonds + signal.index()) as u32),
            Leaf::State(element, port) => self.storage.get(&(element, port)).copied(),
            Leaf::Input(input) => Some(self.input(input.index())),
            Leaf::Parameter(_) | Leaf::Time | Leaf::Rate(..) | Leaf::InputRate(_) => None,
        }
    }
}

/// What is not linear, or has no value.
#[derive(Clone, Debug)]
pub enum NotLinear {
    Law(ElementId),
    Signal(SignalId),
    Output(usize),
}

/// An equation and the element it is of; none for signals.
pub struct Equation<F> {
    pub row: Row<F>,
    pub element: Option<ElementId>,
}

/// Why there are no equations: laws that the graph does not have, or parts of the model that it leaves out.
pub fn incomplete(graph: &Graph) -> Option<Diagnostic> {
    let hint = "`gyrator linearize` has the numbers, `gyrator equations` the equations of the model";
    if let Some(omitted) = graph.omitted.first() {
        let what = format!("the graph is a drawing without equations: {omitted}");
        return Some(Diagnostic::error("incomplete-graph", what).hint(hint));
    }
    let lacks_law = |id: &ElementId| !graph.elements[*id].kind.is_junction() && residuals(graph, *id).is_none();
    let element = &graph.elements[graph.elements.ids().find(lacks_law)?];
    let what = format!(
        "the graph has no equations: it does not hold the law of `{}`, which is no linear law of an element",
        element.name
    );
    Some(Diagnostic::error("incomplete-graph", what).at(element.span, "drawn by its name").hint(hint))
}

pub fn equations<F: Field>(
    graph: &Graph,
    causality: &Causality,
    columns: &Columns,
    coefficients: &mut impl Coefficients<F>,
) -> Result<Vec<Equation<F>>, NotLinear> {
    let mut all = Vec::with_capacity(columns.unknowns());
    for (id, element) in graph.elements.iter() {
        let rows = element_rows(graph, causality, columns, coefficients, id, element).ok_or(NotLinear::Law(id))?;
        all.extend(rows.into_iter().map(|row| Equation { row, element: Some(id) }));
    }
    for (index, (element, port)) in columns.dependent.iter().enumerate() {
        let rate = crate::equations::rate(graph, *element, *port);
        let mut entries = linear(&rate, columns, coefficients).ok_or(NotLinear::Law(*element))?;
        entries.push((columns.rate(index), F::one().negate()));
        all.push(Equation { row: row(entries), element: Some(*element) });
    }
    for (id, signal) in graph.signals.iter() {
        let mut entries = linear(&signal.value, columns, coefficients).ok_or(NotLinear::Signal(id))?;
        entries.push(((2 * columns.bonds + id.index()) as u32, F::one().negate()));
        all.push(Equation { row: row(entries), element: None });
    }
    Ok(all)
}

/// What the stored quantity changes by: the flow into a capacitor, the effort at an inertia.
pub fn rate(graph: &Graph, element: ElementId, port: u32) -> Expression {
    match graph.elements[element].kind {
        Kind::Capacitor => graph.flow(element, port as usize),
        _ => graph.effort(element, port as usize),
    }
}

fn element_rows<F: Field>(
    graph: &Graph,
    causality: &Causality,
    columns: &Columns,
    coefficients: &mut impl Coefficients<F>,
    id: ElementId,
    element: &Element,
) -> Option<Vec<Row<F>>> {
    if element.kind.is_junction() {
        return Some(junction_rows(graph, element, causality.mode.is_off(id)));
    }
    let residuals = residuals(graph, id)?;
    residuals.iter().map(|residual| Some(row(linear(residual, columns, coefficients)?))).collect()
}

/// What is zero at an element that is no junction, one expression for each port.
pub fn residuals(graph: &Graph, id: ElementId) -> Option<Vec<Expression>> {
    let element = &graph.elements[id];
    let minus = |left, right| Expr::binary(Operator::Subtract, left, right);
    let times = |left: &Expression, right| Expr::binary(Operator::Multiply, left.clone(), right);
    let (effort, flow) = (|port| graph.effort(id, port), |port| graph.flow(id, port));
    let state = |port: usize| Expr::Leaf(Leaf::State(id, port as u32));
    Some(match (element.kind, &element.law) {
        (Kind::Zero | Kind::One, _) => return None,
        (Kind::EffortSensor, _) => vec![flow(0)],
        (Kind::FlowSensor, _) => vec![effort(0)],
        (Kind::EffortSource, Law::Scalar(value)) => vec![minus(effort(0), value.clone())],
        (Kind::FlowSource, Law::Scalar(value)) => vec![minus(flow(0), value.clone())],
        (Kind::Transformer, Law::Scalar(ratio)) => {
            vec![minus(effort(0), times(ratio, effort(1))), minus(flow(1), times(ratio, flow(0)))]
        }
        (Kind::Gyrator, Law::Scalar(ratio)) => {
            vec![minus(effort(0), times(ratio, flow(1))), minus(effort(1), times(ratio, flow(0)))]
        }
        (Kind::Resistor, Law::Scalar(value)) => vec![minus(effort(0), times(value, flow(0)))],
        (Kind::Capacitor, Law::Scalar(value)) => vec![minus(state(0), times(value, effort(0)))],
        (Kind::Inertia, Law::Scalar(value)) => vec![minus(state(0), times(value, flow(0)))],
        (kind, Law::Matrix(rows)) => {
            let product = |row: &[Expression]| {
                let with = |port: usize| if kind == Kind::Capacitor { effort(port) } else { flow(port) };
                let mut terms = row.iter().enumerate().map(|(port, entry)| times(entry, with(port)));
                let first = terms.next().unwrap_or_else(|| Expr::number(0.0));
                terms.fold(first, |sum, term| Expr::binary(Operator::Add, sum, term))
            };
            let left = |port| if kind == Kind::Resistor { effort(port) } else { state(port) };
            rows.iter().enumerate().map(|(port, row)| minus(left(port), product(row))).collect()
        }
        (_, Law::Residuals(residuals)) => residuals.clone(),
        (_, Law::Equations(laws)) => laws.iter().map(|law| minus(law.left.clone(), law.right.clone())).collect(),
        _ => return None,
    })
}

/// Equal common variables and the balance of the others; of a junction that is off, common variables of zero.
fn junction_rows<F: Field>(graph: &Graph, element: &Element, off: bool) -> Vec<Row<F>> {
    let zero = element.kind == Kind::Zero;
    let common = |port: &Port| if zero { effort_index(port.bond) } else { flow_index(port.bond) } as u32;
    let balanced = |port: &Port| if zero { flow_index(port.bond) } else { effort_index(port.bond) } as u32;
    let is_tail = |port: &&Port| !port.head && graph.bonds[port.bond].active;
    if off {
        return element.ports.iter().map(|port| vec![(common(port), F::one())]).collect();
    }
    let Some(first) = element.ports.iter().find(|port| !is_tail(port)) else { return Vec::new() };
    let mut rows = Vec::with_capacity(element.ports.len());
    for port in element.ports.iter().filter(|port| port.bond != first.bond) {
        rows.push(row(vec![(common(port), F::one()), (common(first), F::one().negate())]));
    }
    let signed = |port: &Port| (balanced(port), if port.head { F::one() } else { F::one().negate() });
    rows.push(row(element.ports.iter().filter(|port| !is_tail(port)).map(signed).collect()));
    rows
}

/// The expression as a sum of columns; none where it is not linear.
pub fn linear<F: Field>(
    expression: &Expression,
    columns: &Columns,
    coefficients: &mut impl Coefficients<F>,
) -> Option<Vec<(u32, F)>> {
    if !expression.any_leaf(|leaf| leaf.is_signal()) {
        let value = coefficients.constant(expression)?;
        return Some(if value.is_zero() { Vec::new() } else { vec![(columns.one(), value)] });
    }
    crate::expr::deep(|| match expression {
        Expr::Leaf(leaf) => Some(vec![(columns.leaf(*leaf)?, F::one())]),
        Expr::Negate(inner) => Some(scaled(linear(inner, columns, coefficients)?, &F::one().negate())),
        Expr::Binary(Operator::Add | Operator::Subtract, left, right) => {
            let mut sum = linear(left, columns, coefficients)?;
            let right = linear(right, columns, coefficients)?;
            let subtract = matches!(expression, Expr::Binary(Operator::Subtract, ..));
            sum.extend(if subtract { scaled(right, &F::one().negate()) } else { right });
            Some(sum)
        }
        Expr::Binary(Operator::Multiply, left, right) => {
            let (constant, other) = if left.any_leaf(|leaf| leaf.is_signal()) { (right, left) } else { (left, right) };
            if constant.any_leaf(|leaf| leaf.is_signal()) {
                return None;
            }
            let factor = coefficients.constant(constant)?;
            Some(scaled(linear(other, columns, coefficients)?, &factor))
        }
        Expr::Binary(Operator::Divide, left, right) if !right.any_leaf(|leaf| leaf.is_signal()) => {
            let factor = coefficients.constant(right)?.invert()?;
            Some(scaled(linear(left, columns, coefficients)?, &factor))
        }
        _ => None,
    })
}

fn scaled<F: Field>(entries: Vec<(u32, F)>, factor: &F) -> Vec<(u32, F)> {
    entries.into_iter().map(|(column, value)| (column, value.multiply(factor))).collect()
}
