//! Expressions of a flat model as sums of variables with rational functions of the parameters as coefficients.
//!
//! What only time and discrete variables move is kept apart as `moving`: it adds nothing to the matrices of a linear system, but
//! must not be a factor in them. Constant expressions that are no rational functions, such as `sqrt(k)`, are symbols of their own.
//! A condition on parameters is decided at their values, and noted.

use algebra::sparse::{Row, combined, row};
use algebra::{Field, Rational};
use dae::{Builtin, CompareOp, ExprId, Model, Node, VarId, Variability, VariableType};
use rustc_hash::FxHashMap;

use crate::symbolic::Symbol;

/// The column of the constant part.
pub(crate) const ONE: u32 = u32::MAX;

/// `Σ coefficient·column`, and whether something is added that changes with time.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Affine {
    pub row: Row<Rational>,
    pub moving: bool,
}

/// Why an expression is no such sum.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Obstacle {
    /// A product, quotient or power of what changes.
    Product(ExprId),
    /// A function of what changes.
    Function(ExprId),
    /// Which branch holds changes.
    Condition(ExprId),
    /// A coefficient changes with time or at events.
    Varying(ExprId),
    /// A quotient by zero, or a number that is none.
    Undefined(ExprId),
}

#[derive(Clone, Debug)]
enum Value {
    Number(Affine),
    Truth(bool),
    /// A Boolean or text that changes: with time and at events only, or with states and inputs too.
    Changing {
        continuous: bool,
    },
}

type Found = Result<Value, Obstacle>;

impl Affine {
    pub fn column(column: u32) -> Self {
        Self { row: vec![(column, Rational::integer(1))], moving: false }
    }

    pub fn constant(value: Rational) -> Self {
        Self { row: if value.is_zero() { Vec::new() } else { vec![(ONE, value)] }, moving: false }
    }

    pub fn moving() -> Self {
        Self { row: Vec::new(), moving: true }
    }

    /// Depends on columns.
    fn is_continuous(&self) -> bool {
        self.row.iter().any(|(column, _)| *column != ONE)
    }

    /// The value, where nothing but parameters decides it.
    pub fn as_constant(&self) -> Option<Rational> {
        match self.row.as_slice() {
            _ if self.moving => None,
            [] => Some(Rational::integer(0)),
            [(ONE, value)] => Some(value.clone()),
            _ => None,
        }
    }

    pub fn plus(&self, factor: &Rational, other: &Affine) -> Affine {
        Affine { row: combined(&self.row, factor, &other.row), moving: self.moving || other.moving }
    }

    pub fn scaled(&self, factor: &Rational) -> Affine {
        if factor.is_zero() {
            return Affine::default();
        }
        let scaled = self.row.iter().map(|(column, value)| (*column, value.multiply(factor)));
        Affine { row: row(scaled.collect()), moving: self.moving }
    }

    /// With sums in place of columns.
    pub fn substituted(&self, value: impl Fn(u32) -> Option<Affine>) -> Affine {
        let mut result = Affine { row: Vec::new(), moving: self.moving };
        for (column, factor) in &self.row {
            let part = value(*column).unwrap_or_else(|| Affine::column(*column));
            result = result.plus(factor, &part);
        }
        result
    }
}

/// The names that coefficients are written in, and what they mean.
pub(crate) struct Symbols<'a> {
    pub model: &'a Model,
    /// Values of parameters, where they are known.
    value: &'a dyn Fn(VarId) -> Option<f64>,
    pub list: Vec<Symbol>,
    index: FxHashMap<String, u32>,
    parameters: FxHashMap<VarId, Affine>,
    /// Conditions on parameters that were decided.
    pub conditions: Vec<String>,
    /// Parameters that are zero are no symbols.
    drops_zeros: bool,
}

impl<'a> Symbols<'a> {
    pub fn new(model: &'a Model, value: &'a dyn Fn(VarId) -> Option<f64>) -> Self {
        Self {
            model,
            value,
            list: Vec::new(),
            index: FxHashMap::default(),
            parameters: FxHashMap::default(),
            conditions: Vec::new(),
            drops_zeros: false,
        }
    }

    /// What is zero at the values of the parameters is left out: for a view of the model as it is.
    pub fn at_values(self) -> Self {
        Self { drops_zeros: true, ..self }
    }

    /// Names the parameters in the order of their declaration, so that results do.
    pub fn in_order(mut self) -> Self {
        let is_parameter = |id: &VarId| {
            let declared = &self.model.variables[*id];
            declared.variability == Variability::Parameter && declared.ty == VariableType::Real
        };
        let all: Vec<VarId> = self.model.variables.ids().filter(is_parameter).collect();
        for id in all {
            self.parameter(id);
        }
        self
    }

    /// The number of a rational function at the values of the parameters.
    pub fn number(&self, value: &Rational) -> Option<f64> {
        let values: Vec<f64> = self.list.iter().map(|symbol| symbol.value.unwrap_or(f64::NAN)).collect();
        Some(value.evaluate(&values)).filter(|value| value.is_finite())
    }

    pub fn symbol(&mut self, name: String, value: Option<f64>) -> Rational {
        let next = self.list.len() as u32;
        let variable = *self.index.entry(name.clone()).or_insert(next);
        if variable == next {
            self.list.push(Symbol { name, value });
        }
        Rational::variable(variable)
    }

    /// A constant expression that is no rational function of the parameters.
    fn opaque(&mut self, id: ExprId) -> Rational {
        let mut externals = dae::NoExternals;
        let mut evaluator = dae::Evaluator::new(&self.model.functions, &mut externals);
        let value = self.value;
        let mut lookup = |node: Node| match node {
            Node::Var(variable) => value(variable).map(|value| number_of(self.model, variable, value)),
            _ => None,
        };
        let found = evaluator.expression(&self.model.exprs, id, &mut lookup);
        let number = found.ok().and_then(|value| value.as_real()).filter(|value| value.is_finite());
        self.symbol(self.model.expression_text(id), number)
    }

    /// The value of a parameter: a function of those that it is computed from, else a symbol.
    fn parameter(&mut self, variable: VarId) -> Affine {
        if let Some(known) = self.parameters.get(&variable) {
            return known.clone();
        }
        // Bindings first that others are computed from.
        let mut stack = vec![(variable, false)];
        while let Some((variable, ready)) = stack.pop() {
            if self.parameters.contains_key(&variable) {
                continue;
            }
            let binding = self.model.variables[variable].binding;
            if !ready && let Some(binding) = binding {
                // A parameter that depends on itself is a symbol.
                stack.push((variable, true));
                let needed = self.model.exprs.dependencies(&[binding]).variables;
                let open = |id: &VarId| !self.parameters.contains_key(id) && !stack.contains(&(*id, true));
                let open: Vec<VarId> = needed.into_iter().filter(open).collect();
                stack.extend(open.into_iter().map(|id| (id, false)));
                continue;
            }
            let found = self.parameter_value(variable);
            self.parameters.insert(variable, found);
        }
        self.parameters.get(&variable).cloned().unwrap_or_default()
    }

    fn parameter_value(&mut self, variable: VarId) -> Affine {
        let declared = &self.model.variables[variable];
        let is_fixed = |fixed: ExprId| matches!(self.model.exprs.node(fixed), Node::Boolean(true));
        let is_free = declared.attributes.fixed.is_some_and(|fixed| !is_fixed(fixed));
        if let (Some(binding), false) = (declared.binding, is_free) {
            let has_parts = !self.model.exprs.dependencies(&[binding]).variables.is_empty();
            if has_parts || declared.variability == Variability::Constant {
                let found = self.expression(binding, &mut |symbols, node| match node {
                    Node::Var(id) => symbols.parameters.get(&id).cloned(),
                    _ => None,
                });
                if let Ok(Affine { row, moving: false }) = found
                    && row.iter().all(|(column, _)| *column == ONE)
                {
                    return Affine { row, moving: false };
                }
            }
        }
        let name = self.model.variable_name(variable);
        let value = (self.value)(variable);
        if self.drops_zeros && value == Some(0.0) {
            return Affine::default();
        }
        Affine::constant(self.symbol(name, value))
    }

    /// An expression as a sum. `leaf` gives variables and derivatives; what it does not know is a parameter, or moves.
    pub fn expression(
        &mut self,
        root: ExprId,
        leaf: &mut dyn FnMut(&mut Self, Node) -> Option<Affine>,
    ) -> Result<Affine, Obstacle> {
        let mut found: FxHashMap<ExprId, Found> = FxHashMap::default();
        for id in self.model.exprs.postorder(&[root]) {
            let value = self.node(id, &found, leaf);
            found.insert(id, value);
        }
        match found.remove(&root) {
            Some(Ok(Value::Number(value))) => Ok(value),
            Some(Ok(Value::Truth(value))) => Ok(Affine::constant(Rational::integer(i64::from(value)))),
            Some(Ok(Value::Changing { continuous: false })) => Ok(Affine::moving()),
            Some(Ok(Value::Changing { continuous: true })) | None => Err(Obstacle::Condition(root)),
            Some(Err(obstacle)) => Err(obstacle),
        }
    }

    fn node(
        &mut self,
        id: ExprId,
        found: &FxHashMap<ExprId, Found>,
        leaf: &mut dyn FnMut(&mut Self, Node) -> Option<Affine>,
    ) -> Found {
        let get = |id: ExprId| found.get(&id).cloned().unwrap_or(Err(Obstacle::Undefined(id)));
        let number = |id: ExprId| match get(id)? {
            Value::Number(value) => Ok(value),
            Value::Truth(value) => Ok(Affine::constant(Rational::integer(i64::from(value)))),
            Value::Changing { continuous: false } => Ok(Affine::moving()),
            Value::Changing { continuous: true } => Err(Obstacle::Condition(id)),
        };
        let (plus, minus) = (Rational::integer(1), Rational::integer(-1));
        Ok(Value::Number(match self.model.exprs.node(id) {
            Node::Real(value) => {
                let exact = Rational::decimal(&format!("{value:?}")).filter(|_| value.is_finite());
                Affine::constant(exact.ok_or(Obstacle::Undefined(id))?)
            }
            Node::Integer(value) => Affine::constant(Rational::integer(value)),
            Node::Boolean(value) => return Ok(Value::Truth(value)),
            Node::String(_) => return Ok(Value::Changing { continuous: false }),
            Node::Time => Affine::moving(),
            node @ (Node::Var(_) | Node::Der(_) | Node::Pre(_) | Node::Previous(_)) => return self.leaf(node, leaf),
            Node::Neg(a) => number(a)?.scaled(&minus),
            Node::Add(a, b) => number(a)?.plus(&plus, &number(b)?),
            Node::Sub(a, b) => number(a)?.plus(&minus, &number(b)?),
            Node::Mul(a, b) => product(id, &number(a)?, &number(b)?)?,
            Node::Div(a, b) => {
                let (above, below) = (number(a)?, number(b)?);
                match below.as_constant() {
                    Some(below) => above.scaled(&below.invert().ok_or(Obstacle::Undefined(id))?),
                    None if below.is_continuous() => return Err(Obstacle::Product(id)),
                    None if above.is_continuous() => return Err(Obstacle::Varying(id)),
                    None => Affine::moving(),
                }
            }
            Node::Pow(a, b) => {
                let (base, exponent) = (number(a)?, number(b)?);
                let whole = exponent.as_constant().and_then(|exponent| self.number(&exponent));
                let whole = whole.filter(|it| it.fract() == 0.0 && it.abs() <= 20.0).map(|it| it as i32);
                match (base.as_constant(), whole) {
                    (Some(base), Some(whole)) if exponent_is_number(&exponent) => {
                        Affine::constant(base.power(whole).ok_or(Obstacle::Undefined(id))?)
                    }
                    (None, Some(1)) if exponent_is_number(&exponent) => base,
                    _ => return self.function(id, &[Value::Number(base), Value::Number(exponent)]),
                }
            }
            Node::Not(a) => {
                return Ok(match get(a)? {
                    Value::Truth(value) => Value::Truth(!value),
                    other => other,
                });
            }
            Node::And(a, b) => return Ok(joined(get(a)?, get(b)?, false)),
            Node::Or(a, b) => return Ok(joined(get(a)?, get(b)?, true)),
            Node::Compare { op, left, right, .. } => return self.comparison(id, op, number(left)?, number(right)?),
            Node::If { condition, then, otherwise } => match get(condition)? {
                Value::Truth(true) => return get(then),
                Value::Truth(false) => return get(otherwise),
                Value::Number(_) => return Err(Obstacle::Condition(id)),
                Value::Changing { continuous } => match (get(then)?, get(otherwise)?) {
                    (Value::Number(one), Value::Number(other)) if one == other && !one.moving => one,
                    (Value::Number(one), Value::Number(other)) => {
                        if continuous || one.is_continuous() || other.is_continuous() {
                            return Err(Obstacle::Condition(id));
                        }
                        Affine::moving()
                    }
                    (one, other) => {
                        let is_continuous = |value: &Value| matches!(value, Value::Changing { continuous: true });
                        let continuous = continuous || is_continuous(&one) || is_continuous(&other);
                        return Ok(Value::Changing { continuous });
                    }
                },
            },
            Node::Builtin(Builtin::Homotopy, args) => number(self.model.exprs.arguments(args)[0])?,
            Node::Builtin(Builtin::Initial | Builtin::Terminal | Builtin::Sample, _) => {
                return Ok(Value::Changing { continuous: false });
            }
            Node::Builtin(_, args) | Node::Call { args, .. } => {
                let values: Result<Vec<Value>, Obstacle> =
                    self.model.exprs.arguments(args).iter().map(|&argument| get(argument)).collect();
                return self.function(id, &values?);
            }
        }))
    }

    fn leaf(&mut self, node: Node, leaf: &mut dyn FnMut(&mut Self, Node) -> Option<Affine>) -> Found {
        if let Some(value) = leaf(self, node) {
            return Ok(Value::Number(value));
        }
        let (Node::Var(variable) | Node::Der(variable) | Node::Pre(variable) | Node::Previous(variable)) = node else {
            return Ok(Value::Number(Affine::moving()));
        };
        let declared = &self.model.variables[variable];
        let is_fixed = declared.variability <= Variability::Parameter;
        let is_number = matches!(declared.ty, VariableType::Real | VariableType::Integer);
        Ok(match (is_fixed, is_number) {
            (true, true) => Value::Number(self.parameter(variable)),
            (true, false) if declared.ty == VariableType::Boolean => match (self.value)(variable) {
                Some(value) => {
                    let name = self.model.variable_name(variable);
                    self.hold(if value != 0.0 { name } else { format!("not {name}") });
                    Value::Truth(value != 0.0)
                }
                None => Value::Changing { continuous: false },
            },
            (true, false) => {
                match (self.value)(variable).filter(|_| matches!(declared.ty, VariableType::Enumeration(_))) {
                    Some(value) => Value::Number(Affine::constant(Rational::integer(value as i64))),
                    None => Value::Changing { continuous: false },
                }
            }
            (false, true) => Value::Number(Affine::moving()),
            (false, false) => Value::Changing { continuous: false },
        })
    }

    fn comparison(&mut self, id: ExprId, op: CompareOp, left: Affine, right: Affine) -> Found {
        if left.is_continuous() || right.is_continuous() {
            return Ok(Value::Changing { continuous: true });
        }
        let (Some(one), Some(other)) = (left.as_constant(), right.as_constant()) else {
            return Ok(Value::Changing { continuous: false });
        };
        let (Some(a), Some(b)) = (self.number(&one), self.number(&other)) else {
            return Ok(Value::Changing { continuous: false });
        };
        let holds = match op {
            CompareOp::Less => a < b,
            CompareOp::LessEqual => a <= b,
            CompareOp::Greater => a > b,
            CompareOp::GreaterEqual => a >= b,
            CompareOp::Equal => a == b,
            CompareOp::NotEqual => a != b,
        };
        let difference = one.add(&other.negate());
        if difference.as_number().is_none() {
            let text = self.model.expression_text(id);
            let text = if holds { text } else { format!("not ({text})") };
            self.hold(text);
        }
        Ok(Value::Truth(holds))
    }

    /// Notes a condition that was decided at the values of the parameters.
    fn hold(&mut self, text: String) {
        if !self.conditions.contains(&text) {
            self.conditions.push(text);
        }
    }

    /// A function that is not rational: a symbol where its arguments are constant.
    fn function(&mut self, id: ExprId, arguments: &[Value]) -> Found {
        let is_continuous = |value: &Value| match value {
            Value::Number(value) => value.is_continuous(),
            Value::Truth(_) => false,
            Value::Changing { continuous } => *continuous,
        };
        let is_moving = |value: &Value| match value {
            Value::Number(value) => value.moving,
            Value::Truth(_) => false,
            Value::Changing { .. } => true,
        };
        if arguments.iter().any(is_continuous) {
            return Err(Obstacle::Function(id));
        }
        if arguments.iter().any(is_moving) {
            return Ok(Value::Number(Affine::moving()));
        }
        Ok(Value::Number(Affine::constant(self.opaque(id))))
    }
}

fn exponent_is_number(exponent: &Affine) -> bool {
    exponent.as_constant().is_some_and(|value| value.as_number().is_some())
}

fn product(id: ExprId, one: &Affine, other: &Affine) -> Result<Affine, Obstacle> {
    if let Some(factor) = one.as_constant() {
        return Ok(other.scaled(&factor));
    }
    if let Some(factor) = other.as_constant() {
        return Ok(one.scaled(&factor));
    }
    match (one.is_continuous(), other.is_continuous()) {
        (true, true) => Err(Obstacle::Product(id)),
        (false, false) => Ok(Affine::moving()),
        _ => Err(Obstacle::Varying(id)),
    }
}

/// `and`, or `or` where `absorbing` is true.
fn joined(one: Value, other: Value, absorbing: bool) -> Value {
    match (one, other) {
        (Value::Truth(value), _) | (_, Value::Truth(value)) if value == absorbing => Value::Truth(absorbing),
        (Value::Truth(_), rest) | (rest, Value::Truth(_)) => rest,
        (Value::Changing { continuous: a }, Value::Changing { continuous: b }) => {
            Value::Changing { continuous: a || b }
        }
        _ => Value::Changing { continuous: true },
    }
}

/// The value of a variable in its type.
pub(crate) fn number_of(model: &Model, variable: VarId, value: f64) -> dae::Value {
    match model.variables[variable].ty {
        VariableType::Boolean => dae::Value::Boolean(value != 0.0),
        VariableType::Integer => dae::Value::Integer(value as i64),
        VariableType::Enumeration(_) => dae::Value::Enumeration(value as i64),
        _ => dae::Value::Real(value),
    }
}
