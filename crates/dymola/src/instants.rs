//! Instantaneous equations: which variable each equation of a `when` determines, solved for it as Modelica wants it.

use base::{Diagnostic, Name};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::*;
use crate::classes::{ClassId, Classes, VariableId};
use crate::kinds::Kinds;
use crate::language;

mod restarts;

/// `variable = value` at the event.
pub struct Instant<'e> {
    pub variable: VariableId,
    pub reference: &'e Reference,
    /// The variable stands as `new(x)`.
    pub is_new: bool,
    pub value: Expr,
    pub equation: &'e Equation,
}

/// A `when` with what its equations determine.
pub struct Solved<'e> {
    pub when: &'e When,
    pub instants: Vec<Instant<'e>>,
    /// What determines no new value, or it is not clear which.
    unsolved: Vec<&'e Equation>,
}

impl Solved<'_> {
    /// What is wrong with the equations.
    pub fn diagnostics(&self, classes: &Classes, class: ClassId) -> Vec<Diagnostic> {
        let is_known = |equation: &&&Equation| !has_unknown_names(classes, class, equation);
        self.unsolved.iter().filter(is_known).map(|equation| unsolvable(equation)).collect()
    }
}

/// Variables by the names of their references: those of two submodels of one class are different ones.
type Key = Vec<Name>;

fn key(reference: &Reference) -> Key {
    reference.parts.iter().map(|part| part.name).collect()
}

/// The `when`s of a class. All of them and those above the class are looked at together: a new value that one determines
/// is known to the others.
pub fn solve<'e>(classes: &Classes<'e>, class: ClassId, kinds: &Kinds) -> Vec<Solved<'e>> {
    let mut determined: FxHashSet<Key> = FxHashSet::default();
    let mut open: Vec<(usize, usize, &'e Equation)> = Vec::new();
    let mut whens: Vec<(&'e When, Vec<Option<Instant<'e>>>)> = Vec::new();
    let resolve = |reference: &Reference| classes.resolve(class, reference).ok().flatten();
    for above in classes.lineage(class) {
        for item in &classes.classes[above].model.items {
            match &item.kind {
                ItemKind::When(when) => {
                    open.extend(
                        when.equations.iter().enumerate().map(|(place, equation)| (whens.len(), place, equation)),
                    );
                    whens.push((when, when.equations.iter().map(|_| None).collect()));
                }
                ItemKind::Equation(equation) => determined.extend(direct_new(equation).map(key)),
                _ => {}
            }
        }
    }
    for (.., equation) in &open {
        let foreign = news(equation).into_iter().filter(|reference| is_determined_inside(classes, class, reference));
        determined.extend(foreign.map(key));
    }
    // `new(x) = …` says what it determines, first of all where it needs no other new value. Another equation for the same variable
    // may determine a further new value in it.
    for needs_others in [false, true] {
        open.retain(|&(when, place, equation)| {
            let Some(instant) = given(equation, &resolve) else { return true };
            if !needs_others && !news_of(&instant.value).is_empty() {
                return true;
            }
            let is_first = determined.insert(key(instant.reference));
            if is_first {
                whens[when].1[place] = Some(instant);
            }
            !is_first
        });
    }
    // An equation is solved for the only new value in it that no other one determines; that may leave only one in others.
    loop {
        let before = open.len();
        open.retain(|&(when, place, equation)| {
            let candidates = news(equation).into_iter().filter(|reference| !determined.contains(&key(reference)));
            let mut seen = FxHashSet::default();
            let candidates: Vec<&'e Reference> = candidates.filter(|reference| seen.insert(key(reference))).collect();
            let formula = |reference| isolate(equation, reference).or_else(|| restarts::alone(equation, reference));
            let instant = match candidates[..] {
                [reference] => match (resolve(reference), formula(reference)) {
                    (Some(variable), Some(value)) => {
                        determined.insert(key(reference));
                        Some(Instant { variable, reference, is_new: true, value, equation })
                    }
                    _ => None,
                },
                [] => held(equation, &determined, &resolve),
                _ => None,
            };
            let is_open = instant.is_none();
            if !is_open {
                whens[when].1[place] = instant;
            }
            is_open
        });
        if open.len() == before {
            break;
        }
    }
    for (index, (_, found)) in whens.iter_mut().enumerate() {
        let equations: Vec<&'e Equation> =
            open.iter().filter(|(when, ..)| *when == index).map(|(_, _, equation)| *equation).collect();
        let Some(chosen) = simultaneous(&equations, &determined) else { continue };
        for (equation, reference) in equations.iter().zip(chosen) {
            let (Some(variable), Some(value)) = (resolve(reference), isolate(equation, reference)) else { continue };
            determined.insert(key(reference));
            open.retain(|(_, place, other)| {
                let is_it = std::ptr::eq(*other, *equation);
                if is_it {
                    let value = value.clone();
                    found[*place] = Some(Instant { variable, reference, is_new: true, value, equation });
                }
                !is_it
            });
        }
    }
    // What is given once more is in conflict with the first, and is reported as such.
    open.retain(|&(when, place, equation)| {
        whens[when].1[place] = given(equation, &resolve);
        whens[when].1[place].is_none()
    });
    let own = whens.into_iter().enumerate().filter(|(_, (when, _))| {
        let items = &classes.classes[class].model.items;
        items.iter().any(|item| matches!(&item.kind, ItemKind::When(own) if std::ptr::eq(own, *when)))
    });
    own.map(|(index, (when, found))| {
        let mut instants: Vec<Instant<'e>> = found.into_iter().flatten().collect();
        restarts::resolve(&mut instants, kinds);
        let unsolved = open.iter().filter(|(other, ..)| *other == index).map(|(_, _, equation)| *equation).collect();
        Solved { when, instants, unsolved }
    })
    .collect()
}

/// Whether the submodel that has a variable gives it new values itself.
fn is_determined_inside(classes: &Classes, class: ClassId, reference: &Reference) -> bool {
    let (mut at, mut rest) = (class, &reference.parts[..]);
    while let [first, inner @ ..] = rest
        && !inner.is_empty()
    {
        let Some(Some(next)) = classes.submodel(at, first.name) else { return false };
        (at, rest) = (next, inner);
        let is_it = |other: &&Reference| {
            other.parts.len() == rest.len() && other.parts.iter().zip(rest).all(|(one, other)| one.name == other.name)
        };
        let gives = |equation: &Equation| {
            let reads = matches!(equation.left.kind, ExprKind::Reference(_));
            !reads && news(equation).iter().any(is_it)
        };
        let items = classes.lineage(at).into_iter().flat_map(|above| &classes.classes[above].model.items);
        let mut items = items.filter(|item| match &item.kind {
            ItemKind::When(when) => when.equations.iter().any(gives),
            ItemKind::Equation(equation) => gives(equation),
            _ => false,
        });
        if items.next().is_some() {
            return true;
        }
    }
    false
}

/// A new value for each of the equations, where they hold as many as they are: a matching by augmenting paths.
fn simultaneous<'e>(equations: &[&'e Equation], determined: &FxHashSet<Key>) -> Option<Vec<&'e Reference>> {
    let candidates: Vec<Vec<&'e Reference>> = equations
        .iter()
        .map(|equation| news(equation).into_iter().filter(|reference| !determined.contains(&key(reference))).collect())
        .collect();
    let all: FxHashSet<Key> = candidates.iter().flatten().map(|reference| key(reference)).collect();
    if all.len() != equations.len() || equations.len() > MOST_SIMULTANEOUS {
        return None;
    }
    let mut owners: FxHashMap<Key, (usize, &'e Reference)> = FxHashMap::default();
    for equation in 0..equations.len() {
        if !augment(equation, equations, &candidates, &mut owners, &mut FxHashSet::default()) {
            return None;
        }
    }
    let mut chosen: Vec<(usize, &'e Reference)> = owners.into_values().collect();
    chosen.sort_by_key(|(equation, _)| *equation);
    Some(chosen.into_iter().map(|(_, reference)| reference).collect())
}

/// Bounds the depth of the search for a matching.
const MOST_SIMULTANEOUS: usize = 200;

fn augment<'e>(
    equation: usize,
    equations: &[&'e Equation],
    candidates: &[Vec<&'e Reference>],
    owners: &mut FxHashMap<Key, (usize, &'e Reference)>,
    seen: &mut FxHashSet<Key>,
) -> bool {
    for &reference in &candidates[equation] {
        if !seen.insert(key(reference)) || isolate(equations[equation], reference).is_none() {
            continue;
        }
        let owner = owners.get(&key(reference)).map(|(owner, _)| *owner);
        if owner.is_none_or(|owner| augment(owner, equations, candidates, owners, seen)) {
            owners.insert(key(reference), (equation, reference));
            return true;
        }
    }
    false
}

/// `new(x) = …` outside of `when`; `y = new(x)` reads it.
fn direct_new(equation: &Equation) -> Option<&Reference> {
    let sides = [(&equation.left, &equation.right), (&equation.right, &equation.left)];
    sides.into_iter().find_map(|(side, value)| match &side.kind {
        ExprKind::New(reference) if !holds(value, reference) && !matches!(value.kind, ExprKind::Reference(_)) => {
            Some(reference)
        }
        ExprKind::New(reference) if std::ptr::eq(side, &equation.left) && !holds(value, reference) => Some(reference),
        _ => None,
    })
}

fn has_unknown_names(classes: &Classes, class: ClassId, equation: &Equation) -> bool {
    let mut unknown = false;
    for side in [&equation.left, &equation.right] {
        side.walk(&mut |part| {
            if let ExprKind::Reference(reference) | ExprKind::New(reference) = &part.kind {
                unknown |= !matches!(classes.resolve(class, reference), Ok(Some(_)));
            }
        });
    }
    unknown
}

fn unsolvable(equation: &Equation) -> Diagnostic {
    language::error(
        "unsolved-instant",
        "this equation cannot be solved for one new value",
        equation.span,
        "",
        "write it as `new(x) = …`, or as `y = …` for a variable that only changes here",
        "Instantaneous equations",
    )
}

/// `new(x) = …`.
fn given<'e>(equation: &'e Equation, resolve: &dyn Fn(&Reference) -> Option<VariableId>) -> Option<Instant<'e>> {
    match &equation.left.kind {
        ExprKind::New(reference) if !holds(&equation.right, reference) => {
            let (variable, value) = (resolve(reference)?, equation.right.clone());
            Some(Instant { variable, reference, is_new: true, value, equation })
        }
        _ => None,
    }
}

/// `y = …`, where all new values are known. A variable that gets new values elsewhere is not held here.
fn held<'e>(
    equation: &'e Equation,
    determined: &FxHashSet<Key>,
    resolve: &dyn Fn(&Reference) -> Option<VariableId>,
) -> Option<Instant<'e>> {
    match &equation.left.kind {
        ExprKind::Reference(reference) if !determined.contains(&key(reference)) => {
            let (variable, value) = (resolve(reference)?, equation.right.clone());
            Some(Instant { variable, reference, is_new: false, value, equation })
        }
        _ => None,
    }
}

fn news(equation: &Equation) -> Vec<&Reference> {
    [news_of(&equation.left), news_of(&equation.right)].concat()
}

fn news_of(expression: &Expr) -> Vec<&Reference> {
    let mut found = Vec::new();
    expression.walk(&mut |part| {
        if let ExprKind::New(reference) = &part.kind {
            found.push(reference);
        }
    });
    found
}

fn holds(expression: &Expr, reference: &Reference) -> bool {
    let same = |other: &&Reference| {
        other.parts.len() == reference.parts.len()
            && other.parts.iter().zip(&reference.parts).all(|(one, other)| one.name == other.name)
    };
    news_of(expression).iter().any(same)
}

/// The value of `new(reference)` where it stands once and below operators that can be undone.
fn isolate(equation: &Equation, reference: &Reference) -> Option<Expr> {
    let (mut side, mut value) = match (holds(&equation.left, reference), holds(&equation.right, reference)) {
        (true, false) => (&equation.left, equation.right.clone()),
        (false, true) => (&equation.right, equation.left.clone()),
        _ => return None,
    };
    loop {
        match &side.kind {
            ExprKind::New(_) => return Some(value),
            ExprKind::Parentheses(inner) => side = inner,
            ExprKind::Negative(inner) => {
                value = negative(value);
                side = inner;
            }
            ExprKind::Operators(first, rest) => {
                let operands = std::iter::once(&**first).chain(rest.iter().map(|(_, _, operand)| operand));
                let mut holding = operands.enumerate().filter(|(_, operand)| holds(operand, reference));
                let (index, inner) = holding.next()?;
                if holding.next().is_some() {
                    return None;
                }
                value = undo(value, first, rest, index)?;
                side = inner;
            }
            _ => return None,
        }
    }
}

/// The operand with this index, where the whole chain has the value.
fn undo(value: Expr, first: &Expr, rest: &[(Operator, base::Span, Expr)], index: usize) -> Option<Expr> {
    let operator = rest.first()?.0;
    let operators = std::iter::once(None).chain(rest.iter().map(|(operator, ..)| Some(*operator)));
    let operands = std::iter::once(first).chain(rest.iter().map(|(_, _, operand)| operand));
    let own = index.checked_sub(1).map(|index| rest[index].0);
    let span = value.span;
    let others = operators.zip(operands).enumerate().filter(|(other, _)| *other != index).map(|(_, pair)| pair);
    match operator {
        Operator::Plus | Operator::Minus => {
            let moved = others.map(|(operator, operand)| {
                let operator = if operator == Some(Operator::Minus) { Operator::Plus } else { Operator::Minus };
                (operator, span, below(operand.clone(), IN_SUM))
            });
            let difference = chain(below(value, FIRST_IN_SUM), moved.collect());
            Some(if own == Some(Operator::Minus) { negative(difference) } else { difference })
        }
        Operator::Times | Operator::Over if own != Some(Operator::Over) => {
            let moved = others.map(|(operator, operand)| {
                let operator = if operator == Some(Operator::Over) { Operator::Times } else { Operator::Over };
                (operator, span, below(operand.clone(), IN_PRODUCT))
            });
            Some(chain(below(value, FIRST_IN_PRODUCT), moved.collect()))
        }
        _ => None,
    }
}

fn chain(first: Expr, rest: Vec<(Operator, base::Span, Expr)>) -> Expr {
    Expr { span: first.span, kind: ExprKind::Operators(Box::new(first), rest) }
}

fn negative(value: Expr) -> Expr {
    let value = below(value, FIRST_IN_PRODUCT);
    Expr { span: value.span, kind: ExprKind::Negative(Box::new(value)) }
}

/// How tightly an operand has to hold together, by its place.
const FIRST_IN_SUM: u32 = 1;
const IN_SUM: u32 = 2;
const FIRST_IN_PRODUCT: u32 = 3;
const IN_PRODUCT: u32 = 4;

/// In brackets where it needs them.
fn below(value: Expr, place: u32) -> Expr {
    let strength = match &value.kind {
        ExprKind::Operators(_, rest) => match rest.first().map(|(operator, ..)| *operator) {
            Some(Operator::Power) => IN_PRODUCT,
            Some(Operator::Times | Operator::Over) => FIRST_IN_PRODUCT,
            Some(Operator::Plus | Operator::Minus) => FIRST_IN_SUM,
            _ => 0,
        },
        ExprKind::If(..) | ExprKind::Not(_) => 0,
        ExprKind::Negative(_) => FIRST_IN_SUM,
        _ => IN_PRODUCT,
    };
    match strength >= place {
        true => value,
        false => Expr { span: value.span, kind: ExprKind::Parentheses(Box::new(value)) },
    }
}
