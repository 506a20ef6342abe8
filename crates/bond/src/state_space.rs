//! The state space of a linear graph, `ẋ = A·x + B·u`, `y = C·x + D·u`: with rational functions of the parameters as
//! entries, or with numbers, which are computed directly and never by way of the symbols.
//!
//! All efforts and flows are solved for as functions of the states, the inputs and the rates of the dependent stored
//! quantities; algebraic loops are systems that the elimination solves on its way. The dependent quantities are then
//! functions of states and inputs, so their rates are the same functions of the rates of those, which closes the
//! system. Where an input sets a dependent quantity, its derivative appears: `B'` and `D'` hold those coefficients.

use base::Diagnostic;

use crate::causality::Causality;
use crate::coefficients::{Coefficients, Numbers, Symbols};
use crate::equations::{Columns, Equation, NotLinear, equations, incomplete, linear, rate};
use crate::graph::*;
use algebra::rational::Rational;
use algebra::sparse::{Field, Row, Singular, System, combined, row};

/// Rows of entries.
pub type Matrix<F> = Vec<Vec<F>>;

/// Products of terms, some seconds of work.
const BUDGET: u64 = 1_000_000;

/// `ẋ = A·x + B·u`, `y = C·x + D·u` with numbers or rational functions as entries.
#[derive(Clone, Debug)]
pub struct StateSpace<F> {
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// States in `ẋ`.
    pub a: Matrix<F>,
    /// Inputs in `ẋ`.
    pub b: Matrix<F>,
    /// States in `y`.
    pub c: Matrix<F>,
    /// Inputs in `y`.
    pub d: Matrix<F>,
    /// Derivatives of the inputs in `ẋ`; all zero unless an input sets what is stored somewhere.
    pub b_rate: Matrix<F>,
    /// The same in `y`.
    pub d_rate: Matrix<F>,
    /// What is left of `ẋ` where states and inputs are zero; zero unless a law has an offset.
    pub state_offset: Vec<F>,
    /// The same of `y`.
    pub output_offset: Vec<F>,
    /// Dependent stored quantities: name, coefficients of the states, of the inputs.
    pub dependent: Vec<Dependent<F>>,
    /// The names in rational functions, by variable; empty for numbers.
    pub symbols: Vec<String>,
    /// What these names stand for.
    pub definitions: Vec<Expression>,
}

/// A stored quantity that follows from states and inputs.
#[derive(Clone, Debug)]
pub struct Dependent<F> {
    /// Its name.
    pub name: String,
    /// Coefficients of the states.
    pub of_states: Vec<F>,
    /// Coefficients of the inputs.
    pub of_inputs: Vec<F>,
}

impl StateSpace<Rational> {
    /// With the parameters as symbols.
    pub fn symbolic(graph: &Graph, causality: &Causality) -> Result<Self, Diagnostic> {
        let mut symbols = Symbols::new(graph);
        let made = algebra::budget::within(BUDGET, || build(graph, causality, &mut symbols));
        let mut made = made.unwrap_or_else(|| {
            let what = "the symbolic state space has too many terms to be of use";
            Err(Diagnostic::error("too-large", what).hint("take numbers, or give the graph fewer loops of resistors"))
        })?;
        made.symbols = symbols.names;
        made.definitions = symbols.definitions;
        Ok(made)
    }

    /// The numbers at the parameters' values.
    pub fn at(&self, numbers: &mut Numbers) -> StateSpace<f64> {
        let values: Vec<f64> =
            self.definitions.iter().map(|definition| numbers.constant(definition).unwrap_or(f64::NAN)).collect();
        self.evaluated(&values)
    }

    /// The numbers at values of the symbols.
    pub fn evaluated(&self, values: &[f64]) -> StateSpace<f64> {
        self.map(|entry| entry.evaluate(values))
    }

    /// An entry as text, in the names of the user.
    pub fn entry_text(&self, entry: &Rational) -> String {
        entry.print(&|variable| self.symbols[variable as usize].clone())
    }
}

impl StateSpace<f64> {
    /// With the values of the parameters.
    pub fn numeric(graph: &Graph, causality: &Causality) -> Result<Self, Diagnostic> {
        let mut numbers = Numbers::new(graph, &[])?;
        build(graph, causality, &mut numbers)
    }
}

impl<F: Field> StateSpace<F> {
    pub(crate) fn map<G>(&self, entry: impl Fn(&F) -> G) -> StateSpace<G> {
        let vector = |values: &Vec<F>| values.iter().map(&entry).collect::<Vec<G>>();
        let matrix = |rows: &Matrix<F>| rows.iter().map(&vector).collect::<Vec<_>>();
        StateSpace {
            states: self.states.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            a: matrix(&self.a),
            b: matrix(&self.b),
            c: matrix(&self.c),
            d: matrix(&self.d),
            b_rate: matrix(&self.b_rate),
            d_rate: matrix(&self.d_rate),
            state_offset: vector(&self.state_offset),
            output_offset: vector(&self.output_offset),
            dependent: self
                .dependent
                .iter()
                .map(|dependent| Dependent {
                    name: dependent.name.clone(),
                    of_states: vector(&dependent.of_states),
                    of_inputs: vector(&dependent.of_inputs),
                })
                .collect(),
            symbols: self.symbols.clone(),
            definitions: self.definitions.clone(),
        }
    }

    /// Whether derivatives of inputs are needed.
    pub fn needs_input_rates(&self) -> bool {
        self.b_rate.iter().chain(&self.d_rate).flatten().any(|entry| !entry.is_zero())
    }
}

/// Why there is no state space with these states.
enum Obstacle {
    /// The equations tie this state to others, which the structure of the graph does not show.
    Tied(usize),
    /// A dependent quantity follows from its own rate, so it is a state.
    Free(usize),
    Failed(Diagnostic),
}

impl From<Diagnostic> for Obstacle {
    fn from(diagnostic: Diagnostic) -> Self {
        Obstacle::Failed(diagnostic)
    }
}

/// Causality says which storages are states. Where gains cancel (two ways between the same junctions), the equations
/// know better: states that they tie to others become dependent, and the other way round.
fn build<F: Field>(
    graph: &Graph,
    causality: &Causality,
    coefficients: &mut impl Coefficients<F>,
) -> Result<StateSpace<F>, Diagnostic> {
    if let Some(diagnostic) = incomplete(graph) {
        return Err(diagnostic);
    }
    let (mut states, mut dependent) = (causality.states.clone(), causality.dependent.clone());
    let mut freed: Vec<(ElementId, u32)> = Vec::new();
    let implicit = |(element, port)| implicit(graph, (element, port));
    for _ in 0..=2 * (states.len() + dependent.len()) {
        let columns = Columns::new(graph, states.clone(), dependent.clone());
        match attempt(graph, causality, coefficients, columns) {
            Ok(space) => return Ok(space),
            Err(Obstacle::Failed(diagnostic)) => return Err(diagnostic),
            Err(Obstacle::Tied(state)) => {
                let storage = states.remove(state);
                if freed.contains(&storage) {
                    return Err(implicit(storage));
                }
                dependent.push(storage);
            }
            Err(Obstacle::Free(index)) => {
                let storage = dependent.remove(index);
                if freed.contains(&storage) {
                    return Err(implicit(storage));
                }
                freed.push(storage);
                states.push(storage);
                states.sort();
            }
        }
    }
    Err(Diagnostic::error("singular-graph", "no choice of states determines the graph"))
}

fn attempt<F: Field>(
    graph: &Graph,
    causality: &Causality,
    coefficients: &mut impl Coefficients<F>,
    columns: Columns,
) -> Result<StateSpace<F>, Obstacle> {
    let all = equations(graph, causality, &columns, coefficients).map_err(|reason| not_linear(graph, &reason))?;
    let elements: Vec<Option<ElementId>> = all.iter().map(|equation| equation.element).collect();
    let rows = all.into_iter().map(|Equation { row, .. }| row).collect();
    let solution = System { unknowns: columns.unknowns(), rows }.solve().map_err(|singular| {
        tied(&columns, &singular)
            .map_or_else(|| singular_diagnostic(graph, &columns, &elements, &singular).into(), Obstacle::Tied)
    })?;
    let value = |expression: &Expression, coefficients: &mut _| -> Option<Row<F>> {
        Some(substituted(&row(linear(expression, &columns, coefficients)?), &solution, columns.unknowns()))
    };
    let mut rates = Vec::with_capacity(columns.states.len());
    for (element, port) in &columns.states {
        let expression = rate(graph, *element, *port);
        rates.push(value(&expression, coefficients).ok_or_else(|| not_linear(graph, &NotLinear::Law(*element)))?);
    }
    let mut outputs = Vec::with_capacity(graph.outputs.len());
    for (index, output) in graph.outputs.iter().enumerate() {
        let found = value(&output.value, coefficients);
        outputs.push(found.ok_or_else(|| not_linear(graph, &NotLinear::Output(index)))?);
    }
    let first = 2 * columns.bonds + columns.signals;
    let mut dependent: Vec<Row<F>> = (0..columns.dependent.len()).map(|i| solution[first + i].clone()).collect();
    drop_resting(&columns, &mut dependent, &mut rates, &mut outputs);
    let dependent: Vec<&Row<F>> = dependent.iter().collect();
    let closed = close(graph, &columns, rates, &dependent)?;
    Ok(assemble(graph, &columns, closed, outputs, &dependent))
}

/// Stored quantities that are constant, such as that of a capacitor in a short circuit, have no rate.
fn drop_resting<F: Field>(columns: &Columns, dependent: &mut [Row<F>], rates: &mut [Row<F>], outputs: &mut [Row<F>]) {
    let mut resting = vec![false; dependent.len()];
    let is_constant = |sum: &Row<F>| sum.iter().all(|(column, _)| *column == columns.one());
    while let Some(index) = (0..resting.len()).find(|index| !resting[*index] && is_constant(&dependent[*index])) {
        resting[index] = true;
        let rate = columns.rate(index);
        for sum in dependent.iter_mut().chain(rates.iter_mut()).chain(outputs.iter_mut()) {
            sum.retain(|(column, _)| *column != rate);
        }
    }
}

/// The last state that an equation without unknowns names.
fn tied<F: Field>(columns: &Columns, singular: &Singular<F>) -> Option<usize> {
    let (first, last) = (columns.state(0), columns.input(0));
    let states = singular.constraints.iter().flatten().map(|(column, _)| *column);
    states.filter(|column| (first..last).contains(column)).max().map(|column| (column - first) as usize)
}

/// A sum of unknowns and knowns as a sum of knowns.
fn substituted<F: Field>(sum: &[(u32, F)], solution: &[Row<F>], unknowns: usize) -> Row<F> {
    let known = sum.partition_point(|(column, _)| (*column as usize) < unknowns);
    let mut result: Row<F> = sum[known..].to_vec();
    for (column, value) in &sum[..known] {
        result = combined(&result, value, &solution[*column as usize]);
    }
    result
}

/// Rates of the states and of the dependent quantities as sums of states, inputs, 1 and derivatives of inputs. The
/// columns of the result are those of `columns`, with derivatives of inputs behind the last one.
fn close<F: Field>(
    graph: &Graph,
    columns: &Columns,
    rates: Vec<Row<F>>,
    dependent: &[&Row<F>],
) -> Result<Vec<Row<F>>, Obstacle> {
    if dependent.is_empty() {
        return Ok(rates);
    }
    // Columns of this system: rates of states, rates of dependent quantities, then everything known.
    let (states, count) = (columns.states.len(), columns.dependent.len());
    let unknowns = states + count;
    let shift = |column: u32| -> u32 {
        match (column as usize).checked_sub(columns.rate(0) as usize) {
            Some(rate) if rate < count => (states + rate) as u32,
            _ => column - columns.unknowns() as u32 + unknowns as u32,
        }
    };
    let mut rows = Vec::with_capacity(unknowns);
    for (index, rate) in rates.iter().enumerate() {
        let mut entries: Vec<(u32, F)> = rate.iter().map(|(column, value)| (shift(*column), value.negate())).collect();
        entries.push((index as u32, F::one()));
        rows.push(row(entries));
    }
    let input_rate = |input: usize| shift(columns.one()) + 1 + input as u32;
    for (index, sum) in dependent.iter().enumerate() {
        let mut entries = vec![((states + index) as u32, F::one())];
        for (column, value) in sum.iter() {
            let place = *column as usize - columns.unknowns();
            if place < states {
                entries.push((place as u32, value.negate()));
            } else if place < states + columns.inputs {
                entries.push((input_rate(place - states), value.negate()));
            } else if *column != columns.one() {
                return Err(Obstacle::Free(index));
            }
        }
        rows.push(row(entries));
    }
    let solved = System { unknowns, rows }.solve().map_err(|singular| {
        let names: Vec<String> = singular
            .unknowns
            .iter()
            .filter_map(|unknown| columns.states.iter().chain(&columns.dependent).nth(*unknown))
            .map(|(element, port)| graph.state_name(*element, *port))
            .collect();
        let what = format!("the rates of {} are not determined", names.join(", "));
        Diagnostic::error("singular-graph", what)
    })?;
    let unshift = |column: u32| column - unknowns as u32 + columns.unknowns() as u32;
    let back = |sum: &Row<F>| sum.iter().map(|(column, value)| (unshift(*column), value.clone())).collect::<Row<F>>();
    Ok(solved.iter().map(back).collect())
}

fn implicit(graph: &Graph, (element, port): (ElementId, u32)) -> Diagnostic {
    let state = graph.state_name(element, port);
    let what = format!("`{state}` depends on its own rate and on no state");
    Diagnostic::error("implicit-storage", what)
        .at(graph.elements[element].span, "")
        .hint("the simulation (`gyrator simulate`) reduces the index of such systems")
}

fn assemble<F: Field>(
    graph: &Graph,
    columns: &Columns,
    closed: Vec<Row<F>>,
    outputs: Vec<Row<F>>,
    dependent: &[&Row<F>],
) -> StateSpace<F> {
    let (states, inputs, count) = (columns.states.len(), columns.inputs, columns.dependent.len());
    let first_rate = columns.rate(0) as usize;
    let outputs: Vec<Row<F>> = outputs
        .iter()
        .map(|sum| {
            let is_rate = |column: u32| (first_rate..first_rate + count).contains(&(column as usize));
            let mut result: Row<F> = sum.iter().filter(|(column, _)| !is_rate(*column)).cloned().collect();
            for (column, value) in sum.iter().filter(|(column, _)| is_rate(*column)) {
                result = combined(&result, value, &closed[states + *column as usize - first_rate]);
            }
            result
        })
        .collect();
    let dense = |rows: &[Row<F>], first: usize, length: usize| -> Matrix<F> {
        rows.iter()
            .map(|sum| {
                let mut values = vec![F::zero(); length];
                for (column, value) in sum {
                    if let Some(place) = (*column as usize).checked_sub(first).filter(|place| *place < length) {
                        values[place] = value.clone();
                    }
                }
                values
            })
            .collect()
    };
    let (state, input, one) = (columns.state(0) as usize, columns.input(0) as usize, columns.one() as usize);
    let only = |matrix: Matrix<F>| matrix.into_iter().filter_map(|row| row.into_iter().next()).collect::<Vec<F>>();
    let derivatives = &closed[..states];
    let dependent: Vec<Row<F>> = dependent.iter().map(|sum| (*sum).clone()).collect();
    let of_states = dense(&dependent, state, states);
    let of_inputs = dense(&dependent, input, inputs);
    StateSpace {
        states: columns.states.iter().map(|(element, port)| graph.state_name(*element, *port)).collect(),
        inputs: graph.inputs.values().map(|input| input.name.clone()).collect(),
        outputs: graph.outputs.iter().map(|output| output.name.clone()).collect(),
        a: dense(derivatives, state, states),
        b: dense(derivatives, input, inputs),
        c: dense(&outputs, state, states),
        d: dense(&outputs, input, inputs),
        b_rate: dense(derivatives, one + 1, inputs),
        d_rate: dense(&outputs, one + 1, inputs),
        state_offset: only(dense(derivatives, one, 1)),
        output_offset: only(dense(&outputs, one, 1)),
        dependent: columns
            .dependent
            .iter()
            .zip(of_states.into_iter().zip(of_inputs))
            .map(|((element, port), (of_states, of_inputs))| Dependent {
                name: graph.state_name(*element, *port),
                of_states,
                of_inputs,
            })
            .collect(),
        symbols: Vec::new(),
        definitions: Vec::new(),
    }
}

fn not_linear(graph: &Graph, reason: &NotLinear) -> Diagnostic {
    let (what, span) = match reason {
        NotLinear::Law(element) => {
            let element = &graph.elements[*element];
            (format!("the law of `{}` is not linear with constant coefficients", element.name), element.span)
        }
        NotLinear::Signal(signal) => {
            let signal = &graph.signals[*signal];
            (format!("the signal `{}` is not linear", signal.name), signal.span)
        }
        NotLinear::Output(output) => {
            let output = &graph.outputs[*output];
            (format!("the output `{}` is not linear", output.name), output.span)
        }
    };
    Diagnostic::error("not-linear", what)
        .at(span, "not linear")
        .hint("linearise at a point, or take the equations `ẋ = f(x, u)`, `y = g(x, u)`")
}

fn singular_diagnostic(
    graph: &Graph,
    columns: &Columns,
    elements: &[Option<ElementId>],
    singular: &Singular<impl Field>,
) -> Diagnostic {
    let name = |unknown: usize| {
        let bonds = 2 * columns.bonds;
        match unknown {
            _ if unknown < bonds => {
                let bond = base::Id::from_index(unknown / 2);
                graph.leaf_name(if unknown.is_multiple_of(2) { Leaf::Effort(bond) } else { Leaf::Flow(bond) })
            }
            _ if unknown < bonds + columns.signals => graph.signals[base::Id::from_index(unknown - bonds)].name.clone(),
            _ => {
                let (element, port) = columns.dependent[unknown - bonds - columns.signals];
                graph.state_name(element, port)
            }
        }
    };
    let names: Vec<String> = singular.unknowns.iter().take(6).map(|unknown| format!("`{}`", name(*unknown))).collect();
    let what = format!("the graph does not determine {}", names.join(", "));
    let mut diagnostic = Diagnostic::error("singular-graph", what);
    let mut seen = Vec::new();
    for element in singular.rows.iter().filter_map(|row| elements[*row]) {
        if !seen.contains(&element) && seen.len() < 4 {
            seen.push(element);
            diagnostic = diagnostic.at(graph.elements[element].span, "its equations say nothing new");
        }
    }
    diagnostic
        .hint("an algebraic loop with a gain of exactly one, or a junction without anything that sets its variable")
}
