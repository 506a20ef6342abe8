//! New values of variables with derivatives that depend on each other. Modelica's `reinit` gives such values and cannot read
//! them, so that they are replaced by their formulas; linear equations that belong together are solved by Cramer's rule.

use super::*;

/// A system has so many equations at most: its formulas grow with the factorial.
const MOST_TOGETHER: usize = 3;

/// Puts formulas in place of `new(v)`, where this is possible.
pub(super) fn resolve(instants: &mut [Instant], kinds: &Kinds) {
    let is_restart = |instant: &Instant| instant.is_new && kinds.facts[instant.variable].differentiated;
    if !instants.iter().any(is_restart) {
        return;
    }
    let count = instants.len();
    let reads = |from: &Instant, to: &Instant| to.is_new && holds(&from.value, to.reference);
    let reads: Vec<Vec<usize>> =
        (0..count).map(|from| (0..count).filter(|&to| reads(&instants[from], &instants[to])).collect()).collect();
    let reach: Vec<FxHashSet<usize>> = (0..count).map(|from| reachable(from, &reads)).collect();
    for first in 0..count {
        let group: Vec<usize> =
            (first..count).filter(|&other| reach[first].contains(&other) && reach[other].contains(&first)).collect();
        let is_known = (0..first).any(|other| reach[first].contains(&other) && reach[other].contains(&first));
        if is_known || group.is_empty() || !group.iter().any(|&member| is_restart(&instants[member])) {
            continue;
        }
        let equations: Vec<&Equation> = group.iter().map(|&member| instants[member].equation).collect();
        let unknowns: Vec<&Reference> = group.iter().map(|&member| instants[member].reference).collect();
        let Some(values) = together(&equations, &unknowns) else { continue };
        for (&member, value) in group.iter().zip(values) {
            instants[member].value = value;
        }
    }
    // Each round puts in the formulas of one level; circles that are left are reported where they are read.
    for _ in 0..count {
        let formulas: Vec<(&Reference, Expr)> = instants
            .iter()
            .filter(|instant| {
                is_restart(instant)
                    && !instants.iter().any(|other| is_restart(other) && holds(&instant.value, other.reference))
            })
            .map(|instant| (instant.reference, instant.value.clone()))
            .collect();
        let mut is_done = true;
        for instant in instants.iter_mut() {
            for (reference, formula) in &formulas {
                if holds(&instant.value, reference) {
                    replace(&mut instant.value, reference, formula);
                    is_done = false;
                }
            }
        }
        if is_done {
            break;
        }
    }
}

fn reachable(from: usize, reads: &[Vec<usize>]) -> FxHashSet<usize> {
    let mut found = FxHashSet::default();
    let mut open = reads[from].clone();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(&reads[next]);
        }
    }
    found
}

fn replace(expression: &mut Expr, reference: &Reference, formula: &Expr) {
    let span = expression.span;
    match &mut expression.kind {
        ExprKind::New(other) => {
            if key(other) == key(reference) {
                *expression = Expr { span, kind: ExprKind::Parentheses(Box::new(formula.clone())) };
            }
        }
        ExprKind::Number(_) | ExprKind::One | ExprKind::Truth(_) | ExprKind::Time | ExprKind::Missing => {}
        ExprKind::Reference(_) => {}
        ExprKind::Derivative(inner, _)
        | ExprKind::Parentheses(inner)
        | ExprKind::Negative(inner)
        | ExprKind::Not(inner) => replace(inner, reference, formula),
        ExprKind::Call(_, arguments) => {
            arguments.iter_mut().for_each(|argument| replace(argument, reference, formula));
        }
        ExprKind::Operators(first, rest) => {
            replace(first, reference, formula);
            rest.iter_mut().for_each(|(_, _, operand)| replace(operand, reference, formula));
        }
        ExprKind::If(branches, last) => {
            for (condition, value) in branches {
                replace(condition, reference, formula);
                replace(value, reference, formula);
            }
            replace(last, reference, formula);
        }
    }
}

/// The value of the only unknown of a linear equation, where it stands several times.
pub(super) fn alone(equation: &Equation, unknown: &Reference) -> Option<Expr> {
    together(&[equation], &[unknown])?.pop()
}

/// Terms of a sum, each perhaps with a minus.
type Sum = Vec<(bool, Expr)>;

/// The values of linear equations that belong together, by Cramer's rule.
fn together(equations: &[&Equation], unknowns: &[&Reference]) -> Option<Vec<Expr>> {
    if equations.len() > MOST_TOGETHER {
        return None;
    }
    let mut matrix: Vec<Vec<Sum>> = Vec::new();
    let mut right_sides: Vec<Sum> = Vec::new();
    for equation in equations {
        let left = Linear::of(&equation.left, unknowns)?;
        let right = Linear::of(&equation.right, unknowns)?;
        let Linear { coefficients, rest } = left.minus(right);
        matrix.push(coefficients);
        right_sides.push(negated(rest));
    }
    let span = equations.first()?.span;
    let whole = determinant(&matrix);
    if whole.is_empty() {
        return None;
    }
    let value = |unknown: usize| {
        let mut replaced = matrix.clone();
        for (row, right_side) in replaced.iter_mut().zip(&right_sides) {
            row[unknown] = right_side.clone();
        }
        let (above, below_it) = (sum(determinant(&replaced), span)?, sum(whole.clone(), span)?);
        let quotient = (Operator::Over, span, below(below_it, IN_PRODUCT));
        Some(chain(below(above, FIRST_IN_PRODUCT), vec![quotient]))
    };
    (0..unknowns.len()).map(value).collect()
}

/// `coefficients * unknowns + rest`.
#[derive(Clone)]
struct Linear {
    coefficients: Vec<Sum>,
    rest: Sum,
}

impl Linear {
    fn of(expression: &Expr, unknowns: &[&Reference]) -> Option<Self> {
        let nothing = Self { coefficients: vec![Sum::new(); unknowns.len()], rest: Sum::new() };
        if !unknowns.iter().any(|unknown| holds(expression, unknown)) {
            return Some(Self { rest: vec![(false, expression.clone())], ..nothing });
        }
        match &expression.kind {
            ExprKind::New(reference) => {
                let index = unknowns.iter().position(|unknown| key(unknown) == key(reference))?;
                let mut found = nothing;
                found.coefficients[index].push((false, Expr { kind: ExprKind::One, span: expression.span }));
                Some(found)
            }
            ExprKind::Parentheses(inner) => Self::of(inner, unknowns),
            ExprKind::Negative(inner) => Some(nothing.minus(Self::of(inner, unknowns)?)),
            ExprKind::Operators(first, rest) => match rest.first()?.0 {
                Operator::Plus | Operator::Minus => {
                    let mut found = Self::of(first, unknowns)?;
                    for (operator, _, operand) in rest {
                        let operand = Self::of(operand, unknowns)?;
                        found = match operator {
                            Operator::Minus => found.minus(operand),
                            _ => found.minus(nothing.clone().minus(operand)),
                        };
                    }
                    Some(found)
                }
                Operator::Times | Operator::Over => Self::of_product(first, rest, unknowns),
                _ => None,
            },
            _ => None,
        }
    }

    fn of_product(first: &Expr, rest: &[(Operator, base::Span, Expr)], unknowns: &[&Reference]) -> Option<Self> {
        let has_unknown = |operand: &Expr| unknowns.iter().any(|unknown| holds(operand, unknown));
        let operands =
            std::iter::once((Operator::Times, first)).chain(rest.iter().map(|(mark, _, operand)| (*mark, operand)));
        let mut inner = None;
        let mut factors = Vec::new();
        for (operator, operand) in operands {
            match (has_unknown(operand), operator, &inner) {
                (false, ..) => factors.push((operator, operand.span, below(operand.clone(), IN_PRODUCT))),
                (true, Operator::Times, None) => inner = Some(Self::of(operand, unknowns)?),
                _ => return None,
            }
        }
        let scaled =
            |sum: Sum| -> Sum { sum.into_iter().map(|(negative, term)| (negative, times(term, &factors))).collect() };
        let Self { coefficients, rest } = inner?;
        Some(Self { coefficients: coefficients.into_iter().map(scaled).collect(), rest: scaled(rest) })
    }

    fn minus(mut self, other: Self) -> Self {
        for (sum, more) in self.coefficients.iter_mut().zip(other.coefficients) {
            sum.extend(negated(more));
        }
        self.rest.extend(negated(other.rest));
        self
    }
}

fn times(term: Expr, factors: &[(Operator, base::Span, Expr)]) -> Expr {
    match (&term.kind, factors) {
        (_, []) => term,
        (ExprKind::One, [(Operator::Times, _, first)]) => first.clone(),
        (ExprKind::One, [(Operator::Times, _, first), rest @ ..]) => chain(first.clone(), rest.to_vec()),
        _ => chain(below(term, FIRST_IN_PRODUCT), factors.to_vec()),
    }
}

fn negated(sum: Sum) -> Sum {
    sum.into_iter().map(|(negative, term)| (!negative, term)).collect()
}

/// The determinant, developed by its first row; empty where it is zero.
fn determinant(matrix: &[Vec<Sum>]) -> Sum {
    let [first, below_it @ ..] = matrix else { return Sum::new() };
    if below_it.is_empty() {
        return first.first().cloned().unwrap_or_default();
    }
    let mut found = Sum::new();
    for (column, entry) in first.iter().enumerate() {
        let minor: Vec<Vec<Sum>> = below_it
            .iter()
            .map(|row| {
                row.iter().enumerate().filter(|(other, _)| *other != column).map(|(_, sum)| sum.clone()).collect()
            })
            .collect();
        let minor = determinant(&minor);
        for (entry_negative, term) in entry {
            for (minor_negative, factor) in &minor {
                let negative = (*entry_negative != *minor_negative) != (column % 2 == 1);
                let factor = match &factor.kind {
                    ExprKind::One => Vec::new(),
                    _ => vec![(Operator::Times, factor.span, below(factor.clone(), IN_PRODUCT))],
                };
                found.push((negative, times(term.clone(), &factor)));
            }
        }
    }
    found
}

fn sum(terms: Sum, span: base::Span) -> Option<Expr> {
    let mut terms = terms.into_iter();
    let Some((negative_first, first)) = terms.next() else {
        // Nothing is left: one minus one.
        let one = || Expr { kind: ExprKind::One, span };
        return Some(chain(one(), vec![(Operator::Minus, span, one())]));
    };
    let first = match negative_first {
        true => negative(first),
        false => below(first, FIRST_IN_SUM),
    };
    let rest: Vec<(Operator, base::Span, Expr)> = terms
        .map(|(is_negative, term)| {
            let operator = if is_negative { Operator::Minus } else { Operator::Plus };
            (operator, span, below(term, IN_SUM))
        })
        .collect();
    Some(if rest.is_empty() { first } else { chain(first, rest) })
}
