//! The symbolic solution of a linear system: its unknowns as rational functions of what is known.
//!
//! What is known and no rational function is a symbol. An alternative between sums of unknowns, `if c then i else u`, is
//! `p*i + q*u` with the symbols `p = if c then 1 else 0` and `q = if c then 0 else 1`, as in the paper of 1993.

use algebra::sparse::{Row, System, combined, row};
use algebra::{Field, Rational, Variable};
use dae::{ExprId, Exprs, Node, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use transform::EquationSystem;

/// The column of the part without unknowns.
const ONE: u32 = u32::MAX;
/// Products of terms; longer solutions nobody reads.
const BUDGET: u64 = 400_000;
/// Terms of the solution.
const MOST_TERMS: usize = 4000;

/// What a variable of the rational functions stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Symbol {
    /// A known expression.
    Expression(ExprId),
    /// 1 where a condition is true, else 0.
    Holds(ExprId),
    /// 0 where a condition is true, else 1.
    Fails(ExprId),
}

pub struct Solved {
    pub symbols: Vec<Symbol>,
    /// In the order of the system: first what it iterates.
    pub unknowns: Vec<(VarId, Rational)>,
}

/// Why there is no symbolic solution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unsolved {
    Nonlinear,
    TooLong,
    /// The matrix has no inverse, whatever the values.
    Singular,
}

pub fn solve(exprs: &Exprs, system: &EquationSystem, named: &FxHashMap<ExprId, VarId>) -> Result<Solved, Unsolved> {
    if !system.discrete.is_empty() {
        return Err(Unsolved::Nonlinear);
    }
    let inner = system.inner.iter().map(|assignment| assignment.variable);
    let variables: Vec<VarId> = system.iteration.iter().copied().chain(inner).collect();
    let columns = variables.iter().enumerate().map(|(column, &variable)| (variable, column as u32)).collect();
    let mut forms = Forms { exprs, named, columns, symbols: Vec::new(), index: FxHashMap::default() };
    let work = || forms.solve(system, &variables);
    let unknowns = algebra::budget::within(BUDGET, work).unwrap_or(Err(Unsolved::TooLong))?;
    let terms = |value: &Rational| value.numerator.terms.len() + value.denominator.terms.len();
    if unknowns.iter().map(|(_, value)| terms(value)).sum::<usize>() > MOST_TERMS {
        return Err(Unsolved::TooLong);
    }
    Ok(Solved { symbols: forms.symbols, unknowns })
}

impl Solved {
    /// Which symbols occur in the solution.
    pub fn used(&self) -> FxHashSet<Variable> {
        self.unknowns.iter().flat_map(|(_, value)| value.variables()).collect()
    }
}

struct Forms<'s> {
    exprs: &'s Exprs,
    named: &'s FxHashMap<ExprId, VarId>,
    columns: FxHashMap<VarId, u32>,
    symbols: Vec<Symbol>,
    index: FxHashMap<Symbol, Variable>,
}

impl Forms<'_> {
    fn solve(&mut self, system: &EquationSystem, variables: &[VarId]) -> Result<Vec<(VarId, Rational)>, Unsolved> {
        let mut rows = Vec::new();
        let minus = Rational::integer(-1);
        for assignment in &system.inner {
            let value = self.form(assignment.value)?;
            let own: Row<Rational> = vec![(self.columns[&assignment.variable], Rational::one())];
            rows.push(combined(&own, &minus, &value));
        }
        for &residual in &system.residuals {
            rows.push(self.form(residual)?);
        }
        let solution = System { unknowns: variables.len(), rows }.solve().map_err(|_| Unsolved::Singular)?;
        let value = |row: &Row<Rational>| row.first().map_or_else(Rational::zero, |(_, value)| value.clone());
        Ok(variables.iter().copied().zip(solution.iter().map(value)).collect())
    }

    fn symbol(&mut self, symbol: Symbol) -> Rational {
        let next = self.symbols.len() as Variable;
        let variable = *self.index.entry(symbol).or_insert(next);
        if variable == next {
            self.symbols.push(symbol);
        }
        Rational::variable(variable)
    }

    /// The sum of unknowns that an expression is.
    fn form(&mut self, root: ExprId) -> Result<Row<Rational>, Unsolved> {
        let mut varying: FxHashSet<ExprId> = FxHashSet::default();
        let mut forms: FxHashMap<ExprId, Row<Rational>> = FxHashMap::default();
        for id in self.exprs.postorder(&[root]) {
            let mut is_varying =
                matches!(self.exprs.node(id), Node::Var(variable) if self.columns.contains_key(&variable));
            self.exprs.for_each_child(id, |child| is_varying |= varying.contains(&child));
            if is_varying {
                varying.insert(id);
            }
            if let Some(form) = self.node(id, is_varying, &varying, &forms)? {
                forms.insert(id, form);
            }
        }
        forms.remove(&root).ok_or(Unsolved::Nonlinear)
    }

    /// None for conditions, which are no numbers.
    fn node(
        &mut self,
        id: ExprId,
        is_varying: bool,
        varying: &FxHashSet<ExprId>,
        forms: &FxHashMap<ExprId, Row<Rational>>,
    ) -> Result<Option<Row<Rational>>, Unsolved> {
        let get = |id: ExprId| forms.get(&id).ok_or(Unsolved::Nonlinear);
        let known = |id: ExprId| match get(id)?.as_slice() {
            [] => Ok(Rational::zero()),
            [(ONE, value)] => Ok(value.clone()),
            _ => Err(Unsolved::Nonlinear),
        };
        let (plus, minus) = (Rational::one(), Rational::integer(-1));
        let form = match self.exprs.node(id) {
            _ if !is_varying && self.named.contains_key(&id) => constant(self.symbol(Symbol::Expression(id))),
            Node::Real(value) => match Rational::decimal(&format!("{value:?}")).filter(|_| value.is_finite()) {
                Some(exact) => constant(exact),
                None => constant(self.symbol(Symbol::Expression(id))),
            },
            Node::Integer(value) => constant(Rational::integer(value)),
            Node::Var(variable) if is_varying => vec![(self.columns[&variable], Rational::one())],
            Node::Neg(a) => scaled(get(a)?, &minus),
            Node::Add(a, b) => combined(get(a)?, &plus, get(b)?),
            Node::Sub(a, b) => combined(get(a)?, &minus, get(b)?),
            Node::Mul(a, b) if varying.contains(&a) => scaled(get(a)?, &known(b)?),
            Node::Mul(a, b) => scaled(get(b)?, &known(a)?),
            Node::Div(a, b) => match known(b)?.invert() {
                Some(inverse) => scaled(get(a)?, &inverse),
                None => return Err(Unsolved::Singular),
            },
            Node::Pow(a, b) if !is_varying => match (known(a), self.whole_number(b)) {
                (Ok(base), Some(exponent)) => constant(base.power(exponent).ok_or(Unsolved::Singular)?),
                _ => constant(self.symbol(Symbol::Expression(id))),
            },
            Node::If { condition, then, otherwise } if is_varying && !varying.contains(&condition) => {
                let (holds, fails) = (self.symbol(Symbol::Holds(condition)), self.symbol(Symbol::Fails(condition)));
                combined(&scaled(get(then)?, &holds), &fails, get(otherwise)?)
            }
            Node::Boolean(_) | Node::Not(_) | Node::And(..) | Node::Or(..) | Node::Compare { .. } | Node::String(_) => {
                return Ok(None);
            }
            _ if is_varying => return Err(Unsolved::Nonlinear),
            _ => constant(self.symbol(Symbol::Expression(id))),
        };
        Ok(Some(form))
    }

    fn whole_number(&self, id: ExprId) -> Option<i32> {
        match self.exprs.node(id) {
            Node::Integer(value) if value.abs() <= 8 => Some(value as i32),
            Node::Real(value) if value.fract() == 0.0 && value.abs() <= 8.0 => Some(value as i32),
            _ => None,
        }
    }
}

fn constant(value: Rational) -> Row<Rational> {
    row(vec![(ONE, value)])
}

fn scaled(form: &Row<Rational>, factor: &Rational) -> Row<Rational> {
    row(form.iter().map(|(column, value)| (*column, value.multiply(factor))).collect())
}
