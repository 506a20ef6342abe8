//! The equations of any graph in explicit form, `ẋ = f(x, u)` and `y = g(x, u)`, as expressions, and their linearisation at a
//! point.
//!
//! Causality says which element computes which variable; the laws are solved for those and put into each other in the
//! order of their dependence. Loops whose equations are linear in their variables are solved; in others a variable
//! stays as an implicit unknown with the equation that determines it.

use base::{Diagnostic, Id};

use crate::calculus::{derivative, difference, product, size, solve_linear, substitute, sum, zero};
use crate::causality::{Causality, effort_index, flow_index};
use crate::coefficients::Numbers;
use crate::equations::{incomplete, rate, residuals};
use crate::expr::{Expr, negated};
use crate::graph::*;
use crate::kind::Kind;
use crate::loops::components;
use crate::state_space::{Matrix, StateSpace};

/// Larger expressions help nobody.
const LARGEST: usize = 200_000;

/// Explicit state equations of a graph, also of one that is not linear.
#[derive(Clone, Debug)]
pub struct Equations {
    /// State, its name and the expression of its derivative.
    pub derivatives: Vec<(Leaf, Expression)>,
    /// Outputs by name.
    pub outputs: Vec<(String, Expression)>,
    /// Dependent stored quantities.
    pub dependent: Vec<(Leaf, Expression)>,
    /// Unknowns that only these residuals determine.
    pub implicit: Vec<(Leaf, Expression)>,
}

/// A linearisation: the matrices, and the derivatives and outputs at the point itself.
#[derive(Clone, Debug)]
pub struct Linearisation {
    /// The matrices.
    pub space: StateSpace<f64>,
    /// Derivatives of the states at the point.
    pub derivatives: Vec<f64>,
    /// Outputs at the point.
    pub outputs: Vec<f64>,
}

impl Equations {
    /// Derives the equations; an error names what cannot be solved for.
    pub fn new(graph: &Graph, causality: &Causality) -> Result<Self, Diagnostic> {
        match incomplete(graph) {
            Some(diagnostic) => Err(diagnostic),
            None => Derivation::new(graph, causality).run(),
        }
    }

    /// One equation a line, in the names of the user.
    pub fn print(&self, graph: &Graph) -> String {
        let mut lines = Vec::new();
        for (state, value) in &self.derivatives {
            lines.push(format!("der({}) = {}", graph.leaf_name(*state), graph.print(value)));
        }
        for (name, value) in &self.outputs {
            lines.push(format!("{name} = {}", graph.print(value)));
        }
        for (state, value) in &self.dependent {
            lines.push(format!("{} = {}", graph.leaf_name(*state), graph.print(value)));
        }
        for (unknown, residual) in &self.implicit {
            lines.push(format!("0 = {}   (for {})", graph.print(residual), graph.leaf_name(*unknown)));
        }
        lines.join("\n")
    }

    /// The linear system at a point: values of the states and inputs in their order, and the time.
    pub fn linearise(
        &self,
        graph: &Graph,
        numbers: &Numbers,
        states: &[f64],
        inputs: &[f64],
        time: f64,
    ) -> Result<Linearisation, Diagnostic> {
        let mut unknowns = vec![0.0; self.implicit.len()];
        let value = |expression: &Expression, unknowns: &[f64]| {
            expression.evaluate(&|leaf| match leaf {
                Leaf::Parameter(parameter) => numbers.value(*parameter),
                Leaf::Input(input) => inputs.get(input.index()).copied().unwrap_or(f64::NAN),
                Leaf::Time => time,
                Leaf::InputRate(_) => 0.0,
                other => {
                    let state = self.derivatives.iter().position(|(state, _)| state == other);
                    let implicit = self.implicit.iter().position(|(unknown, _)| unknown == other);
                    match (state, implicit) {
                        (Some(state), _) => states.get(state).copied().unwrap_or(f64::NAN),
                        (_, Some(implicit)) => unknowns[implicit],
                        _ => f64::NAN,
                    }
                }
            })
        };
        let by_unknown: Vec<Leaf> = self.implicit.iter().map(|(unknown, _)| *unknown).collect();
        let jacobian = |expressions: &[&Expression], by: &[Leaf], unknowns: &[f64]| -> Matrix<f64> {
            let row =
                |of: &&Expression| by.iter().map(|leaf| value(&derivative(of, *leaf), unknowns)).collect::<Vec<f64>>();
            expressions.iter().map(row).collect()
        };
        let implicit: Vec<&Expression> = self.implicit.iter().map(|(_, residual)| residual).collect();
        let mut converged = implicit.is_empty();
        for _ in 0..100 {
            if converged {
                break;
            }
            let residual: Vec<f64> = implicit.iter().map(|residual| value(residual, &unknowns)).collect();
            let matrix = jacobian(&implicit, &by_unknown, &unknowns);
            let Some(step) = dense_solve(matrix, vec![residual.clone()]).and_then(|mut columns| columns.pop()) else {
                // A slope of zero at the guess: try beside it.
                unknowns.iter_mut().for_each(|unknown| *unknown += 0.1 + unknown.abs() * 0.1);
                continue;
            };
            let length = step.iter().zip(&unknowns).map(|(step, at)| step.abs() / (1.0 + at.abs())).fold(0.0, f64::max);
            unknowns.iter_mut().zip(&step).for_each(|(unknown, step)| *unknown -= step);
            converged = length < 1e-12;
        }
        let by_state: Vec<Leaf> = self.derivatives.iter().map(|(state, _)| *state).collect();
        let by_input: Vec<Leaf> = graph.inputs.ids().map(Leaf::Input).collect();
        let derivatives: Vec<&Expression> = self.derivatives.iter().map(|(_, value)| value).collect();
        let outputs: Vec<&Expression> = self.outputs.iter().map(|(_, value)| value).collect();
        // What the implicit unknowns change by: -(∂r/∂z)⁻¹·∂r/∂x.
        let total = |of: &[&Expression], by: &[Leaf]| -> Option<Matrix<f64>> {
            let mut direct = jacobian(of, by, &unknowns);
            if implicit.is_empty() {
                return Some(direct);
            }
            let through = jacobian(of, &by_unknown, &unknowns);
            let columns = transposed(&jacobian(&implicit, by, &unknowns), by.len());
            let moved = dense_solve(jacobian(&implicit, &by_unknown, &unknowns), columns)?;
            for (row, through) in direct.iter_mut().zip(&through) {
                for (entry, column) in row.iter_mut().zip(&moved) {
                    *entry -= through.iter().zip(column).map(|(slope, moved)| slope * moved).sum::<f64>();
                }
            }
            Some(direct)
        };
        let singular = || Diagnostic::error("no-linearisation", "the equations cannot be linearised at this point");
        let made = (|| {
            Some((
                total(&derivatives, &by_state)?,
                total(&derivatives, &by_input)?,
                total(&outputs, &by_state)?,
                total(&outputs, &by_input)?,
            ))
        })();
        let (a, b, c, d) = made.filter(|_| converged).ok_or_else(singular)?;
        let at_point = |of: &[&Expression]| of.iter().map(|of| value(of, &unknowns)).collect::<Vec<f64>>();
        let (at_states, at_outputs) = (at_point(&derivatives), at_point(&outputs));
        let finite = [&a, &b, &c, &d].iter().all(|matrix| matrix.iter().flatten().all(|entry| entry.is_finite()));
        if !finite || at_states.iter().chain(&at_outputs).any(|value| !value.is_finite()) {
            return Err(singular().hint("a law is not defined or has no derivative there"));
        }
        let zeros = |rows: usize| vec![vec![0.0; by_input.len()]; rows];
        let space = StateSpace {
            states: by_state.iter().map(|leaf| graph.leaf_name(*leaf)).collect(),
            inputs: by_input.iter().map(|leaf| graph.leaf_name(*leaf)).collect(),
            outputs: self.outputs.iter().map(|(name, _)| name.clone()).collect(),
            b_rate: zeros(a.len()),
            d_rate: zeros(c.len()),
            a,
            b,
            c,
            d,
            state_offset: vec![0.0; by_state.len()],
            output_offset: vec![0.0; self.outputs.len()],
            dependent: Vec::new(),
            symbols: Vec::new(),
            definitions: Vec::new(),
        };
        Ok(Linearisation { space, derivatives: at_states, outputs: at_outputs })
    }
}

struct Derivation<'a> {
    graph: &'a Graph,
    causality: &'a Causality,
    /// For each effort, flow and signal what computes it, and later its value in states and inputs.
    definitions: Vec<Option<Expression>>,
    dependent: Vec<(Leaf, Expression)>,
    implicit: Vec<(Leaf, Expression)>,
}

impl<'a> Derivation<'a> {
    fn new(graph: &'a Graph, causality: &'a Causality) -> Self {
        let count = 2 * graph.bonds.len() + graph.signals.len();
        Self { graph, causality, definitions: vec![None; count], dependent: Vec::new(), implicit: Vec::new() }
    }

    fn index(&self, leaf: &Leaf) -> Option<usize> {
        match leaf {
            Leaf::Effort(bond) => Some(effort_index(*bond)),
            Leaf::Flow(bond) => Some(flow_index(*bond)),
            Leaf::Signal(signal) => Some(2 * self.graph.bonds.len() + signal.index()),
            _ => None,
        }
    }

    fn leaf(&self, index: usize) -> Leaf {
        let bonds = 2 * self.graph.bonds.len();
        match index {
            _ if index >= bonds => Leaf::Signal(SignalId::from_index(index - bonds)),
            _ if index.is_multiple_of(2) => Leaf::Effort(BondId::from_index(index / 2)),
            _ => Leaf::Flow(BondId::from_index(index / 2)),
        }
    }

    fn define(&mut self, leaf: Leaf, value: Expression) {
        if let Some(index) = self.index(&leaf) {
            self.definitions[index] = Some(value);
        }
    }

    fn run(mut self) -> Result<Equations, Diagnostic> {
        for id in self.graph.elements.ids() {
            if self.graph.elements[id].kind.is_junction() {
                self.junction(id);
            } else {
                self.element(id);
            }
        }
        for (id, signal) in self.graph.signals.iter() {
            self.define(Leaf::Signal(id), signal.value.clone());
        }
        let all: Vec<usize> = (0..self.definitions.len()).collect();
        let mut values: Vec<Option<Expression>> = vec![None; self.definitions.len()];
        let torn: Vec<Leaf> = self.implicit.iter().map(|(leaf, _)| *leaf).collect();
        for leaf in torn {
            if let Some(index) = self.index(&leaf) {
                values[index] = Some(Expr::Leaf(leaf));
            }
        }
        self.order(&all, &mut values)?;
        let solved = |expression: &Expression| self.resolved(expression, &values);
        let implicit: Vec<(Leaf, Expression)> =
            self.implicit.iter().map(|(leaf, residual)| (*leaf, solved(residual))).collect();
        let dependent: Vec<(Leaf, Expression)> =
            self.dependent.iter().map(|(leaf, value)| (*leaf, solved(value))).collect();
        // Dependent quantities may be named in laws and outputs.
        let with_dependent = |expression: Expression| {
            substitute(&expression, &mut |leaf| {
                let found = dependent.iter().find(|(state, _)| state == leaf);
                found.map_or(Expr::Leaf(*leaf), |(_, value)| value.clone())
            })
        };
        let mut derivatives = Vec::new();
        for (element, port) in &self.causality.states {
            let value = with_dependent(solved(&rate(self.graph, *element, *port)));
            derivatives.push((Leaf::State(*element, *port), value));
        }
        let outputs: Vec<(String, Expression)> = self
            .graph
            .outputs
            .iter()
            .map(|output| (output.name.clone(), with_dependent(solved(&output.value))))
            .collect();
        let implicit = implicit.into_iter().map(|(leaf, residual)| (leaf, with_dependent(residual))).collect();
        self.close(Equations { derivatives, outputs, dependent, implicit })
    }

    fn resolved(&self, expression: &Expression, values: &[Option<Expression>]) -> Expression {
        substitute(expression, &mut |leaf| {
            let known = self.index(leaf).and_then(|index| values[index].clone());
            known.unwrap_or(Expr::Leaf(*leaf))
        })
    }

    fn junction(&mut self, id: ElementId) {
        let graph = self.graph;
        let element = &graph.elements[id];
        let zero_junction = element.kind == Kind::Zero;
        let of = |port: &Port| {
            let (effort, flow) = (Leaf::Effort(port.bond), Leaf::Flow(port.bond));
            if zero_junction { (effort, flow) } else { (flow, effort) }
        };
        if self.causality.mode.is_off(id) {
            element.ports.iter().for_each(|port| self.define(of(port).0, zero()));
            return;
        }
        let is_tail = |port: &Port| graph.bonds[port.bond].active && !port.head;
        let causality = self.causality;
        let supplies = |port: &&Port| !is_tail(port) && causality.gives_effort(**port) != zero_junction;
        let Some(supplier) = element.ports.iter().find(supplies) else { return };
        let mut balance = zero();
        for port in element.ports.iter().filter(|port| port.bond != supplier.bond) {
            self.define(of(port).0, Expr::Leaf(of(supplier).0));
            if !is_tail(port) {
                let term = Expr::Leaf(of(port).1);
                balance = if port.head == supplier.head { difference(balance, term) } else { sum(balance, term) };
            }
        }
        self.define(of(supplier).1, balance);
    }

    fn element(&mut self, id: ElementId) {
        let graph = self.graph;
        let element = &graph.elements[id];
        let mut unknowns = Vec::with_capacity(element.ports.len());
        for (index, port) in element.ports.iter().enumerate() {
            let gives_effort = self.causality.gives_effort(*port);
            let given = if gives_effort { Leaf::Effort(port.bond) } else { Leaf::Flow(port.bond) };
            if element.kind.is_storage() && !self.causality.integral(graph, id, index as u32) {
                let state = Leaf::State(id, index as u32);
                let rate = Expr::Leaf(Leaf::Rate(id, index as u32));
                let against = !gives_effort && !port.head;
                self.define(given, if against { negated(rate) } else { rate });
                unknowns.push(state);
            } else {
                unknowns.push(given);
            }
        }
        let Some(residuals) = residuals(graph, id) else { return };
        match solve_linear(&residuals, &unknowns) {
            Some(values) => {
                for (unknown, value) in unknowns.iter().zip(values) {
                    if matches!(unknown, Leaf::State(..)) {
                        self.dependent.push((*unknown, value));
                    } else {
                        self.define(*unknown, value);
                    }
                }
            }
            None => self.implicit.extend(unknowns.into_iter().zip(residuals)),
        }
    }

    /// Values of variables in the order of their dependence; loops are solved or torn.
    fn order(&mut self, variables: &[usize], values: &mut Vec<Option<Expression>>) -> Result<(), Diagnostic> {
        let open: Vec<usize> = variables.iter().copied().filter(|index| values[*index].is_none()).collect();
        let mut place = vec![u32::MAX; self.definitions.len()];
        open.iter().enumerate().for_each(|(position, index)| place[*index] = position as u32);
        let mut on = vec![Vec::new(); open.len()];
        for (position, index) in open.iter().enumerate() {
            if let Some(definition) = &self.definitions[*index] {
                definition.leaves(&mut |leaf| {
                    if let Some(other) = self.index(leaf)
                        && place[other] != u32::MAX
                    {
                        on[position].push(place[other]);
                    }
                });
            }
        }
        for component in components(&on) {
            let members: Vec<usize> = component.iter().map(|position| open[*position]).collect();
            let alone = members.len() == 1 && !on[component[0]].contains(&(component[0] as u32));
            let definition = |derivation: &Self, index: usize, values: &[Option<Expression>]| {
                derivation.definitions[index]
                    .as_ref()
                    .map_or_else(zero, |definition| derivation.resolved(definition, values))
            };
            if alone {
                let value = definition(self, members[0], values);
                if size(&value) > LARGEST {
                    let what = "the explicit equations are too long to be written down";
                    return Err(Diagnostic::error("too-large", what).hint("simulate the graph, or take numbers"));
                }
                values[members[0]] = Some(value);
                continue;
            }
            let unknowns: Vec<Leaf> = members.iter().map(|index| self.leaf(*index)).collect();
            let residuals: Vec<Expression> = members
                .iter()
                .map(|index| difference(Expr::Leaf(self.leaf(*index)), definition(self, *index, values)))
                .collect();
            let solved = if members.len() <= 60 { solve_linear(&residuals, &unknowns) } else { None };
            match solved {
                Some(solution) => {
                    for (index, value) in members.iter().zip(solution) {
                        values[*index] = Some(value);
                    }
                }
                None => {
                    let first = members[0];
                    let leaf = self.leaf(first);
                    let definition = self.definitions[first].clone().unwrap_or_else(zero);
                    self.implicit.push((leaf, difference(Expr::Leaf(leaf), definition)));
                    values[first] = Some(Expr::Leaf(leaf));
                    crate::expr::deep(|| self.order(&members[1..], values))?;
                }
            }
        }
        Ok(())
    }

    /// Rates of dependent quantities: the chain rule over what they depend on.
    fn close(&self, mut equations: Equations) -> Result<Equations, Diagnostic> {
        if equations.dependent.is_empty() {
            return Ok(equations);
        }
        let is_open = |leaf: &Leaf| equations.implicit.iter().any(|(unknown, _)| unknown == leaf);
        let mut residuals = Vec::new();
        let mut unknowns = Vec::new();
        for (state, value) in &equations.dependent {
            let Leaf::State(element, port) = *state else { continue };
            if value.any_leaf(|leaf| matches!(leaf, Leaf::Rate(..)) || is_open(leaf)) || is_open(state) {
                return Err(self.implicit_storage(element, port));
            }
            let mut total = zero();
            for (leaf, of_state) in &equations.derivatives {
                total = sum(total, product(derivative(value, *leaf), of_state.clone()));
            }
            for input in self.graph.inputs.ids() {
                let rate = Expr::Leaf(Leaf::InputRate(input));
                total = sum(total, product(derivative(value, Leaf::Input(input)), rate));
            }
            total = sum(total, derivative(value, Leaf::Time));
            unknowns.push(Leaf::Rate(element, port));
            residuals.push(difference(Expr::Leaf(Leaf::Rate(element, port)), total));
        }
        let Some(rates) = solve_linear(&residuals, &unknowns) else {
            let (element, port) = self.causality.dependent[0];
            return Err(self.implicit_storage(element, port));
        };
        let filled = |expression: &Expression| {
            substitute(expression, &mut |leaf| {
                let found = unknowns.iter().position(|unknown| unknown == leaf);
                found.map_or(Expr::Leaf(*leaf), |index| rates[index].clone())
            })
        };
        for (_, value) in equations.derivatives.iter_mut().chain(&mut equations.implicit) {
            *value = filled(value);
        }
        for (_, value) in &mut equations.outputs {
            *value = filled(value);
        }
        Ok(equations)
    }

    fn implicit_storage(&self, element: ElementId, port: u32) -> Diagnostic {
        let state = self.graph.state_name(element, port);
        Diagnostic::error("implicit-storage", format!("`{state}` is not an explicit function of the states"))
            .at(self.graph.elements[element].span, "")
            .hint("the simulation (`gyrator simulate`) solves such systems")
    }
}

fn transposed(matrix: &Matrix<f64>, columns: usize) -> Matrix<f64> {
    (0..columns).map(|column| matrix.iter().map(|row| row[column]).collect()).collect()
}

/// Solutions for several right-hand sides, by elimination with row pivoting.
fn dense_solve(mut matrix: Matrix<f64>, mut right: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let count = matrix.len();
    for column in 0..count {
        let pivot =
            (column..count).max_by(|one, other| matrix[*one][column].abs().total_cmp(&matrix[*other][column].abs()))?;
        if matrix[pivot][column] == 0.0 || !matrix[pivot][column].is_finite() {
            return None;
        }
        matrix.swap(column, pivot);
        right.iter_mut().for_each(|side| side.swap(column, pivot));
        let pivot_row = matrix[column].clone();
        for (row, entries) in matrix.iter_mut().enumerate() {
            if row == column {
                continue;
            }
            let factor = entries[column] / pivot_row[column];
            if factor != 0.0 {
                entries.iter_mut().zip(&pivot_row).for_each(|(entry, pivot)| *entry -= factor * pivot);
                right.iter_mut().for_each(|side| side[row] -= factor * side[column]);
            }
        }
    }
    for side in &mut right {
        (0..count).for_each(|row| side[row] /= matrix[row][row]);
    }
    Some(right)
}
