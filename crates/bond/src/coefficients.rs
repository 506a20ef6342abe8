//! Values of constant expressions: as numbers at the parameters' values, or as rational functions of the parameters.

use base::{Diagnostic, Id};
use rustc_hash::FxHashMap;

use crate::expr::{Expr, Operator};
use crate::graph::{Expression, Graph, Leaf, ParameterId};
use algebra::rational::Rational;
use algebra::sparse::Field;

pub trait Coefficients<F: Field> {
    /// The value of an expression without signals; none where there is none, such as a quotient by zero.
    fn constant(&mut self, expression: &Expression) -> Option<F>;
}

/// Numbers at the values of the parameters.
pub struct Numbers {
    values: Vec<f64>,
}

impl Numbers {
    /// The parameters' values, with those given in place of the graph's own.
    pub fn new(graph: &Graph, given: &[(ParameterId, f64)]) -> Result<Self, Diagnostic> {
        let mut values = vec![f64::NAN; graph.parameters.len()];
        let mut known = vec![false; graph.parameters.len()];
        for (parameter, value) in given {
            values[parameter.index()] = *value;
            known[parameter.index()] = true;
        }
        for start in graph.parameters.ids() {
            let mut stack = vec![start];
            while let Some(&id) = stack.last() {
                if known[id.index()] {
                    stack.pop();
                    continue;
                }
                let parameter = &graph.parameters[id];
                let Some(value) = &parameter.value else {
                    let what = format!("the parameter `{}` has no value", parameter.name);
                    let diagnostic = Diagnostic::error("no-value", what).at(parameter.span, "declared without a value");
                    return Err(diagnostic.hint("give one: `R d = 3`; symbolic results need none"));
                };
                let before = stack.len();
                value.leaves(&mut |leaf| {
                    if let Leaf::Parameter(other) = leaf
                        && !known[other.index()]
                    {
                        stack.push(*other);
                    }
                });
                if stack.len() == before {
                    values[id.index()] = evaluate(value, &values);
                    known[id.index()] = true;
                }
            }
        }
        for (id, parameter) in graph.parameters.iter() {
            if !values[id.index()].is_finite() {
                let what = format!("the value of `{}` is not a finite number", parameter.name);
                return Err(Diagnostic::error("no-number", what).at(parameter.span, ""));
            }
        }
        Ok(Self { values })
    }

    /// The value of a constant expression.
    pub fn of(&self, expression: &Expression) -> Option<f64> {
        Some(evaluate(expression, &self.values)).filter(|value| value.is_finite())
    }

    /// The value of a parameter.
    pub fn value(&self, parameter: ParameterId) -> f64 {
        self.values[parameter.index()]
    }
}

fn evaluate(expression: &Expression, values: &[f64]) -> f64 {
    expression.evaluate(&|leaf| match leaf {
        Leaf::Parameter(parameter) => values[parameter.index()],
        _ => f64::NAN,
    })
}

impl Coefficients<f64> for Numbers {
    fn constant(&mut self, expression: &Expression) -> Option<f64> {
        self.of(expression)
    }
}

/// The names that rational functions are written in: parameters whose values are numbers, and constant expressions that
/// are no rational functions, such as `sqrt(k)`.
pub struct Symbols<'a> {
    graph: &'a Graph,
    pub names: Vec<String>,
    pub definitions: Vec<Expression>,
    index: FxHashMap<String, u32>,
    converted: FxHashMap<ParameterId, Rational>,
}

impl<'a> Symbols<'a> {
    pub fn new(graph: &'a Graph) -> Self {
        let mut symbols = Self {
            graph,
            names: Vec::new(),
            definitions: Vec::new(),
            index: FxHashMap::default(),
            converted: FxHashMap::default(),
        };
        // Parameters first, so that results name them in the order of declaration.
        for (id, parameter) in graph.parameters.iter() {
            symbols.symbol(parameter.name.clone(), Expr::Leaf(Leaf::Parameter(id)));
        }
        symbols
    }

    fn symbol(&mut self, name: String, definition: Expression) -> Rational {
        let next = self.names.len() as u32;
        let variable = *self.index.entry(name.clone()).or_insert(next);
        if variable == next {
            self.names.push(name);
            self.definitions.push(definition);
        }
        Rational::variable(variable)
    }

    fn parameter(&mut self, id: ParameterId) -> Rational {
        if let Some(known) = self.converted.get(&id) {
            return known.clone();
        }
        let parameter = &self.graph.parameters[id];
        // What follows from other parameters is written in those.
        let follows = parameter.value.as_ref().filter(|value| value.any_leaf(|_| true));
        let converted = follows.and_then(|value| crate::expr::deep(|| self.rational(value)));
        let value = converted
            .unwrap_or_else(|| self.symbol(self.graph.parameters[id].name.clone(), Expr::Leaf(Leaf::Parameter(id))));
        self.converted.insert(id, value.clone());
        value
    }

    /// None where it is undefined; what is no rational function becomes a symbol of its own.
    fn rational(&mut self, expression: &Expression) -> Option<Rational> {
        match expression {
            Expr::Number(_, text) => Rational::decimal(text).or_else(|| self.opaque(expression)),
            Expr::Leaf(Leaf::Parameter(id)) => Some(self.parameter(*id)),
            Expr::Negate(inner) => Some(self.rational(inner)?.negate()),
            Expr::Binary(operator, left, right) => match operator {
                Operator::Add => Some(self.rational(left)?.add(&self.rational(right)?)),
                Operator::Subtract => Some(self.rational(left)?.add(&self.rational(right)?.negate())),
                Operator::Multiply => Some(self.rational(left)?.multiply(&self.rational(right)?)),
                Operator::Divide => Some(self.rational(left)?.multiply(&self.rational(right)?.inverse()?)),
                Operator::Power => match whole(right) {
                    Some(exponent) => self.rational(left)?.power(exponent),
                    None => self.opaque(expression),
                },
                _ => self.opaque(expression),
            },
            _ => self.opaque(expression),
        }
    }

    fn opaque(&mut self, expression: &Expression) -> Option<Rational> {
        Some(self.symbol(self.graph.print(expression), expression.clone()))
    }
}

/// A small whole number as an exponent.
fn whole(expression: &Expression) -> Option<i32> {
    match expression {
        Expr::Number(value, _) if value.fract() == 0.0 && value.abs() <= 20.0 => Some(*value as i32),
        Expr::Negate(inner) => whole(inner).map(|exponent| -exponent),
        _ => None,
    }
}

impl Coefficients<Rational> for Symbols<'_> {
    fn constant(&mut self, expression: &Expression) -> Option<Rational> {
        crate::expr::deep(|| self.rational(expression))
    }
}
