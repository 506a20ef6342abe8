//! State spaces whose entries are rational functions of the parameters: what is common to bond graphs and Modelica models, in the
//! notations of other programs, and their transfer functions.

use std::collections::HashSet;

use algebra::collected::Notation;
use algebra::sparse::{System, row};
use algebra::{Field, Rational, Variable};
use bond::Numbers;
use linear::export::{self, Entry};
use linear::{Matrix, Parameter, Rates, Signal, State, StateSpace};

use crate::bond_graphs::BondGraph;
use crate::pipeline::{Failed, Session};

/// What holds for almost all values of the parameters does not hold for theirs.
pub(crate) const FORMULAS_FAIL: &str =
    "the equations have no unique solution at the values of the parameters: the formulas hold for others";

/// The same, where constraints between storages depend on the values.
const OTHER_STATES: &str = "at the values of the parameters the graph has other states: the formulas hold for others";

/// A state space with symbols in its entries.
#[derive(Clone, Debug)]
pub struct SymbolicSpace {
    /// The matrices and names.
    pub system: StateSpace<Rational>,
    /// Coefficients of the derivatives of inputs in `ẋ` and `y`, where they are needed.
    pub rates: Option<Rates<Rational>>,
    /// What the variables of the entries are.
    pub symbols: Vec<Symbol>,
    /// Conditions on parameters that hold at their values, and that the matrices rest on; the mode of a graph with switched junctions.
    pub conditions: Vec<String>,
    /// What the matrices do not show of the model: delays, and what changes at events only.
    pub notes: Vec<String>,
}

/// A parameter, or a constant expression that is no rational function of parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Symbol {
    /// As in the model.
    pub name: String,
    /// `None` where it has none.
    pub value: Option<f64>,
}

/// How entries are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryNotation {
    /// Names as in the model.
    Plain,
    /// Names are identifiers of MATLAB and Octave.
    Matlab,
    /// Names are identifiers of Python, powers are `**`.
    Python,
    /// Names are identifiers of Modelica.
    Modelica,
}

/// Transfer functions are made for systems up to this order.
const LARGEST_ORDER: usize = 8;
/// More pairs of inputs and outputs have none.
const MOST_PAIRS: usize = 9;
/// Products of terms for the transfer functions.
const BUDGET: u64 = 300_000;

impl SymbolicSpace {
    /// The symbolic state space of a bond graph.
    pub fn of_graph(found: &BondGraph) -> Result<Self, base::Diagnostic> {
        let (graph, mode) = (&found.graph, &found.mode);
        let space = bond::StateSpace::symbolic(graph, found.assigned()?)?;
        let matrix = |rows: &bond::Matrix<Rational>, columns: usize| {
            Matrix::from_fn(rows.len(), columns, |i, j| rows[i][j].clone())
        };
        let (n, m) = (space.states.len(), space.inputs.len());
        let element = |name: &str| name.rsplit_once('.').map_or(String::new(), |(element, _)| element.to_owned());
        let system = StateSpace {
            a: matrix(&space.a, n),
            b: matrix(&space.b, m),
            c: matrix(&space.c, n),
            d: matrix(&space.d, m),
            states: space.states.iter().map(|name| State::new(name, "", element(name))).collect(),
            inputs: graph
                .inputs
                .values()
                .map(|input| Signal::new(&input.name, input.unit.clone().unwrap_or_default()))
                .collect(),
            outputs: space.outputs.iter().map(|name| Signal::new(name, "")).collect(),
            parameters: Vec::new(),
        };
        let rates =
            space.needs_input_rates().then(|| Rates { b: matrix(&space.b_rate, m), d: matrix(&space.d_rate, m) });
        // Parameters without values are symbols all the same.
        let mut numbers = Numbers::new(graph, &[]).ok();
        let symbols = space.symbols.iter().zip(&space.definitions).map(|(name, definition)| Symbol {
            name: name.clone(),
            value: numbers.as_mut().and_then(|numbers| numbers.of(definition)),
        });
        let symbols = symbols.collect();
        let mut conditions: Vec<String> = mode.iter().cloned().collect();
        // A view does not hold the signals of its model.
        let is_open = |element: &&bond::Element| element.modulated && element.input.is_some();
        let modulated = graph.elements.values().filter(is_open);
        conditions.extend(modulated.map(|element| format!("the signal of `{}` is an input", element.name)));
        // What holds for almost all values may not hold for those of the parameters.
        let at_values = bond::StateSpace::numeric(graph, found.assigned()?);
        let note = match &at_values {
            Err(said) if ["singular-graph", "implicit-storage"].contains(&said.code) => Some(FORMULAS_FAIL),
            Ok(numbers) if numbers.states != space.states => Some(OTHER_STATES),
            _ => None,
        };
        let notes = note.map(str::to_owned).into_iter().collect();
        Ok(Self { system, rates, symbols, conditions, notes })
    }

    /// The matrices at the values of the parameters; `None` where one that occurs has no value.
    pub fn numbers(&self) -> Option<StateSpace> {
        let values: Vec<f64> = self.symbols.iter().map(|symbol| symbol.value.unwrap_or(f64::NAN)).collect();
        let system = StateSpace { parameters: Vec::new(), ..self.system.map(|entry| entry.evaluate(&values)) };
        let is_finite = |matrix: &Matrix| matrix.entries().iter().all(|value| value.is_finite());
        let has_values = [&system.a, &system.b, &system.c, &system.d].into_iter().all(is_finite);
        has_values.then_some(system)
    }

    /// A system with the same zeros in which no derivatives of inputs occur: where the system needs them, inputs are states whose
    /// derivatives are the inputs. `None` where a parameter that occurs has no value.
    pub fn numbers_for_zeros(&self) -> Option<StateSpace> {
        let system = self.numbers()?;
        let Some(rates) = &self.rates else { return Some(system) };
        let values: Vec<f64> = self.symbols.iter().map(|symbol| symbol.value.unwrap_or(f64::NAN)).collect();
        let number = |matrix: &Matrix<Rational>| matrix.map(|it| it.evaluate(&values));
        let rates = Rates { b: number(&rates.b), d: number(&rates.d) };
        let mut entries = rates.b.entries().iter().chain(rates.d.entries());
        entries.all(|value| value.is_finite()).then(|| rates.integrated(&system))
    }

    /// The symbols that occur in the entries, by their numbers.
    fn used(&self) -> Vec<usize> {
        let mut used = vec![false; self.symbols.len()];
        let system = &self.system;
        let rates = self.rates.iter().flat_map(|rates| [&rates.b, &rates.d]);
        for entry in [&system.a, &system.b, &system.c, &system.d].into_iter().chain(rates).flat_map(|it| it.entries()) {
            for variable in entry.variables() {
                used[variable as usize] = true;
            }
        }
        (0..used.len()).filter(|&symbol| used[symbol]).collect()
    }

    fn names(&self, notation: EntryNotation) -> Vec<String> {
        let mut taken: HashSet<String> = reserved(notation).iter().map(|&name| name.to_owned()).collect();
        let mut name = |symbol: &Symbol| match notation {
            EntryNotation::Plain if is_atom(&symbol.name) => symbol.name.clone(),
            EntryNotation::Plain => format!("({})", symbol.name),
            EntryNotation::Modelica => export::modelica_identifier(&symbol.name, &mut taken),
            EntryNotation::Matlab | EntryNotation::Python => {
                let plain: String =
                    symbol.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
                let is_letter = plain.starts_with(|c: char| c.is_ascii_alphabetic());
                let mut name = if is_letter { plain } else { format!("p{plain}") };
                while !taken.insert(name.clone()) {
                    name.push_str("_p");
                }
                name
            }
        };
        self.symbols.iter().map(&mut name).collect()
    }

    /// The state space with texts as entries, and the parameters that they name.
    pub fn entries(&self, notation: EntryNotation) -> StateSpace<Entry> {
        let names = self.names(notation);
        let mut system = self.system.map(|value| entry(value, notation, &names));
        let parameters = self.used().into_iter();
        system.parameters = parameters
            .map(|symbol| Parameter { name: names[symbol].clone(), value: self.symbols[symbol].value })
            .collect();
        system
    }

    /// The coefficients of the derivatives of inputs as texts.
    pub fn rate_entries(&self) -> Option<Rates<Entry>> {
        let names = self.names(EntryNotation::Plain);
        let texts = |matrix: &Matrix<Rational>| matrix.map(|value| entry(value, EntryNotation::Plain, &names));
        self.rates.as_ref().map(|rates| Rates { b: texts(&rates.b), d: texts(&rates.d) })
    }

    /// The transfer functions of small systems, with the row of the output and the column of the input: as text and as LaTeX.
    /// Large systems have none, for the reason given.
    pub fn transfer_functions(&self) -> Result<Vec<(usize, usize, Entry)>, String> {
        let (n, inputs, outputs) = (self.system.order(), self.system.inputs.len(), self.system.outputs.len());
        if n > LARGEST_ORDER {
            return Err(format!("the system has {n} states, more than {LARGEST_ORDER}"));
        }
        if inputs * outputs > MOST_PAIRS {
            return Err(format!("there are {} pairs of inputs and outputs, more than {MOST_PAIRS}", inputs * outputs));
        }
        let s = self.symbols.len() as Variable;
        let found = algebra::budget::within(BUDGET, || self.transfer_matrix(s)).flatten();
        let Some(found) = found else { return Err("they have too many terms to be of use".to_owned()) };
        let names = self.names(EntryNotation::Plain);
        let latex_names: Vec<String> = names.iter().map(|name| export::latex_name(name)).collect();
        let laplace = self.laplace();
        let functions = found.into_iter().enumerate().map(|(place, value)| {
            let printed = |names: &[String], notation| {
                value.print_collected(s, &laplace, &|variable| names[variable as usize].clone(), notation)
            };
            let (text, latex) = (printed(&names, Notation::Plain), printed(&latex_names, Notation::Latex));
            (place / inputs, place % inputs, Entry::Text { text, latex })
        });
        Ok(functions.collect())
    }

    /// The name of the Laplace variable: `s`, or another letter where the model has a parameter `s`.
    pub fn laplace(&self) -> String {
        let is_free = |name: &str| !self.symbols.iter().any(|symbol| symbol.name == name);
        let mut name = ["s", "p", "z"].into_iter().find(|name| is_free(name)).unwrap_or("s").to_owned();
        while !is_free(&name) {
            name.push('s');
        }
        name
    }

    /// `C·(s·1 − A)⁻¹·(B + s·B') + D + s·D'` with the coefficients `B'` and `D'` of derivatives of inputs, row by row.
    fn transfer_matrix(&self, s: Variable) -> Option<Vec<Rational>> {
        let StateSpace { a, b, c, d, .. } = &self.system;
        let (n, inputs) = (a.rows(), b.columns());
        let with_rate = |value: &Rational, rates: Option<&Matrix<Rational>>, place: (usize, usize)| match rates {
            Some(rates) => value.add(&rates[place].multiply(&Rational::variable(s))),
            None => value.clone(),
        };
        let (b_rate, d_rate) = (self.rates.as_ref().map(|rates| &rates.b), self.rates.as_ref().map(|rates| &rates.d));
        let rows = (0..n).map(|i| {
            let mut entries: Vec<(u32, Rational)> = (0..n).map(|j| (j as u32, a[(i, j)].negate())).collect();
            entries.push((i as u32, Rational::variable(s)));
            entries.extend((0..inputs).map(|j| ((n + j) as u32, with_rate(&b[(i, j)], b_rate, (i, j)).negate())));
            row(entries)
        });
        let solution = System { unknowns: n, rows: rows.collect() }.solve().ok()?;
        let mut found = Vec::with_capacity(c.rows() * inputs);
        for i in 0..c.rows() {
            for j in 0..inputs {
                let mut sum = with_rate(&d[(i, j)], d_rate, (i, j));
                for (k, state) in solution.iter().enumerate() {
                    if let Ok(place) = state.binary_search_by_key(&((n + j) as u32), |(column, _)| *column) {
                        sum = sum.add(&c[(i, k)].multiply(&state[place].1));
                    }
                }
                found.push(sum);
            }
        }
        Some(found)
    }
}

impl Session {
    /// The symbolic state space of a bond graph.
    pub fn symbolic_graph(&mut self, found: &BondGraph) -> Result<SymbolicSpace, Failed> {
        SymbolicSpace::of_graph(found).map_err(|diagnostic| {
            self.diagnostics.push(diagnostic);
            Failed::Model
        })
    }
}

fn entry(value: &Rational, notation: EntryNotation, names: &[String]) -> Entry {
    if let Some(number) = value.as_number().filter(|_| notation != EntryNotation::Plain) {
        return Entry::Number(number);
    }
    let text = value.print(&|variable| names[variable as usize].clone());
    let text = if notation == EntryNotation::Python { text.replace('^', "**") } else { text };
    let latex = value.latex(&|variable| export::latex_name(&names[variable as usize]));
    Entry::Text { text, latex }
}

/// Whether a text is a name or a call, which need no brackets as factors and under powers.
fn is_atom(text: &str) -> bool {
    let (mut depth, mut quoted) = (0, false);
    text.chars().all(|character| {
        match character {
            '\'' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth -= 1,
            _ => {}
        }
        quoted || depth > 0 || !" +-*/^<>=".contains(character)
    })
}

/// Names that the scripts use themselves, or that their languages keep.
fn reserved(notation: EntryNotation) -> &'static [&'static str] {
    match notation {
        EntryNotation::Plain | EntryNotation::Modelica => &[],
        EntryNotation::Matlab => &[
            "A",
            "B",
            "C",
            "D",
            "sys",
            "names",
            "ss",
            "set",
            "exist",
            "zeros",
            "pkg",
            "load",
            "control",
            "break",
            "case",
            "catch",
            "continue",
            "else",
            "elseif",
            "end",
            "for",
            "function",
            "global",
            "if",
            "otherwise",
            "parfor",
            "persistent",
            "return",
            "switch",
            "try",
            "while",
        ],
        EntryNotation::Python => &[
            "A", "B", "C", "D", "sys", "np", "control", "False", "None", "True", "and", "as", "assert", "async",
            "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
            "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
            "while", "with", "yield", "float",
        ],
    }
}
