//! The types of scalar expressions, as far as their text needs them. The arena does not tell Integer from Real or from the
//! ordinals of enumerations; what an expression is made of does.

use crate::expr::{Builtin, ExprId, Node, Shape};
use crate::function::Type;
use crate::model::{Enumeration, Model, Variability, VariableType};

/// What an expression evidently is.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs, reason = "the names are those of Modelica")]
pub enum ScalarType<'m> {
    Real,
    Integer,
    Enumeration(&'m Enumeration),
    /// `floor` or `integer`: of either type.
    Rounded,
    Other,
}

/// What the place of an expression wants.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs, reason = "the names are those of Modelica")]
pub enum Expected<'m> {
    Any,
    /// Real or Integer.
    Number,
    /// Literals of whole numbers become Reals, as they do when the text is read.
    Real,
    Integer,
    Enumeration(&'m Enumeration),
}

/// Operands looked at before the answer is what was found so far.
const LIMIT: usize = 1000;

impl Model {
    /// The type of a scalar expression: Real if any of its operands is.
    pub fn scalar_type(&self, expression: ExprId) -> ScalarType<'_> {
        self.node_type(self.exprs.node(expression))
    }

    pub(crate) fn node_type(&self, node: Node) -> ScalarType<'_> {
        let mut found = None;
        let mut ordinals = Ordinals::default();
        // With each operand, whether it is one of a sum, product or quotient: ordinals are numbers there.
        let mut stack: Vec<(ExprId, bool)> = Vec::new();
        let mut next = Some((node, false));
        let mut looked_at = 0;
        while let Some((current, in_sum)) =
            next.take().or_else(|| stack.pop().map(|(id, in_sum)| (self.exprs.node(id), in_sum)))
        {
            looked_at += 1;
            let own = match current {
                Node::Neg(a) => {
                    stack.push((a, true));
                    continue;
                }
                Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) => {
                    stack.extend([(b, true), (a, true)]);
                    continue;
                }
                Node::If { then, otherwise, .. } => {
                    stack.extend([(otherwise, in_sum), (then, in_sum)]);
                    continue;
                }
                Node::Builtin(builtin, arguments) => match self.builtin_type(builtin) {
                    Some(known) => known,
                    None => {
                        let in_sum = in_sum || crate::scalar::is_quotient(builtin) || builtin == Builtin::Abs;
                        let operands = self.exprs.arguments(arguments).iter().take(2).rev();
                        stack.extend(operands.map(|&operand| (operand, in_sum)));
                        continue;
                    }
                },
                node => match self.leaf_type(node) {
                    ScalarType::Enumeration(_) if in_sum => ScalarType::Integer,
                    other => other,
                },
            };
            ordinals.add(current, own, in_sum);
            match (own, found) {
                (ScalarType::Real, _) => return ScalarType::Real,
                // A literal may be the ordinal of an enumeration that another operand names.
                (ScalarType::Enumeration(_), Some(ScalarType::Integer)) if !in_sum => found = Some(own),
                (_, None) | (ScalarType::Integer, Some(ScalarType::Rounded)) => found = Some(own),
                _ => {}
            }
            if looked_at > LIMIT {
                break;
            }
        }
        match found {
            Some(ScalarType::Enumeration(known)) if !ordinals.may_be_of(known) => ScalarType::Integer,
            found => found.unwrap_or(ScalarType::Other),
        }
    }

    fn leaf_type(&self, node: Node) -> ScalarType<'_> {
        match node {
            Node::Real(_) | Node::Time | Node::Der(_) | Node::Div(..) | Node::Pow(..) => ScalarType::Real,
            Node::Integer(_) => ScalarType::Integer,
            Node::Var(variable) | Node::Pre(variable) | Node::Previous(variable) => {
                match self.variables.get(variable).map(|variable| variable.ty) {
                    Some(VariableType::Real) => ScalarType::Real,
                    Some(VariableType::Integer) => ScalarType::Integer,
                    Some(VariableType::Enumeration(index)) => {
                        self.enumerations.get(index as usize).map_or(ScalarType::Integer, ScalarType::Enumeration)
                    }
                    _ => ScalarType::Other,
                }
            }
            Node::Call { site, output, .. } => {
                let site = self.exprs.call_site(site);
                let Some(function) = self.functions.get(site.function) else { return ScalarType::Other };
                let mut rest = output as usize;
                for (shape, &local) in site.outputs.iter().zip(&function.outputs) {
                    if rest < shape.scalars() {
                        return function
                            .locals
                            .get(local)
                            .map_or(ScalarType::Other, |local| part_type(shape, &local.ty, rest));
                    }
                    rest -= shape.scalars();
                }
                ScalarType::Other
            }
            _ => ScalarType::Other,
        }
    }

    /// `None`: that of its arguments.
    fn builtin_type(&self, builtin: Builtin) -> Option<ScalarType<'_>> {
        use Builtin::*;
        Some(match builtin {
            Min | Max | Div | Mod | Rem | DivEvent | ModEvent | RemEvent | Abs => return None,
            SampleClocked | Hold | SubSample | SuperSample | ShiftSample | BackSample | NoClock | JustBehind => {
                return None;
            }
            Floor | FloorEvent => ScalarType::Rounded,
            Sign | TicksInState => ScalarType::Integer,
            Sample | Initial | Terminal | FirstTick | ActiveState => ScalarType::Other,
            ClockInferred | ClockRational | ClockReal | ClockEvent | ClockSolver => ScalarType::Other,
            _ => ScalarType::Real,
        })
    }

    /// What both sides of a relation are. Ordinals and Integers are compared as Integers, unless these are literals that
    /// stand for values of the enumeration.
    pub fn common_type(&self, left: ExprId, right: ExprId) -> Expected<'_> {
        match (self.scalar_type(left), self.scalar_type(right)) {
            (ScalarType::Real, _) | (_, ScalarType::Real) => Expected::Real,
            (ScalarType::Enumeration(known), ScalarType::Integer | ScalarType::Rounded)
                if !self.is_value_of(right, known) =>
            {
                Expected::Integer
            }
            (ScalarType::Integer | ScalarType::Rounded, ScalarType::Enumeration(known))
                if !self.is_value_of(left, known) =>
            {
                Expected::Integer
            }
            (ScalarType::Enumeration(known), _) | (_, ScalarType::Enumeration(known)) => Expected::Enumeration(known),
            (ScalarType::Integer | ScalarType::Rounded, ScalarType::Integer)
            | (ScalarType::Integer, ScalarType::Rounded) => Expected::Integer,
            _ => Expected::Any,
        }
    }

    /// What both sides of an equation are: a variable on one side tells.
    pub fn equation_type(&self, left: ExprId, right: ExprId) -> Expected<'_> {
        let common = self.common_type(left, right);
        let is_discrete = matches!(common, Expected::Integer | Expected::Enumeration(_));
        for side in [left, right].into_iter().filter(|_| is_discrete) {
            match (self.exprs.node(side), self.scalar_type(side)) {
                (Node::Var(_), ScalarType::Enumeration(known)) => return Expected::Enumeration(known),
                (Node::Var(_), ScalarType::Integer) => return Expected::Integer,
                _ => {}
            }
        }
        common
    }

    /// Whether literals alone are chosen from, each the ordinal of a value of an enumeration.
    fn is_value_of(&self, expression: ExprId, known: &Enumeration) -> bool {
        let mut stack = vec![expression];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(current) = stack.pop() {
            match self.exprs.node(current) {
                Node::Integer(value) if is_ordinal_of(value, known) => {}
                Node::If { then, otherwise, .. } => {
                    stack.extend([then, otherwise].into_iter().filter(|&branch| seen.insert(branch)));
                }
                _ => return false,
            }
        }
        true
    }

    /// Whether something that varies continuously occurs in one of the expressions. What a relation chooses changes at events
    /// alone.
    pub fn varies_continuously(&self, expressions: &[ExprId]) -> bool {
        self.has_variability(expressions, Variability::Continuous)
    }

    /// Whether something that is not fixed during a simulation occurs in one of the expressions.
    pub fn varies(&self, expressions: &[ExprId]) -> bool {
        self.has_variability(expressions, Variability::Discrete)
    }

    /// Whether something of at least that variability occurs in one of the expressions.
    fn has_variability(&self, expressions: &[ExprId], least: Variability) -> bool {
        let mut stack = expressions.to_vec();
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(current) = stack.pop() {
            match self.exprs.node(current) {
                Node::Time | Node::Der(_) => return true,
                Node::Var(variable) => {
                    let known = self.variables.get(variable);
                    if known.is_some_and(|known| known.variability >= least) {
                        return true;
                    }
                }
                Node::Compare { .. } | Node::Not(_) | Node::And(..) | Node::Or(..)
                    if least == Variability::Continuous => {}
                Node::Builtin(Builtin::FloorEvent | Builtin::CeilEvent | Builtin::DivEvent, _)
                    if least == Variability::Continuous => {}
                _ => self.exprs.for_each_child(current, |child| {
                    if seen.insert(child) {
                        stack.push(child);
                    }
                }),
            }
        }
        false
    }
}

fn is_ordinal_of(value: i64, known: &Enumeration) -> bool {
    usize::try_from(value).is_ok_and(|value| (1..=known.literals.len()).contains(&value))
}

/// The Integers among the operands of an expression that might be an enumeration.
#[derive(Default)]
struct Ordinals {
    /// Some are no literals, or are operands of a sum.
    are_numbers: bool,
    /// The smallest and the largest literal.
    literals: Option<(i64, i64)>,
}

impl Ordinals {
    fn add(&mut self, node: Node, own: ScalarType<'_>, in_sum: bool) {
        match (own, node) {
            (ScalarType::Integer, Node::Integer(value)) if !in_sum => {
                let (least, most) = self.literals.unwrap_or((value, value));
                self.literals = Some((least.min(value), most.max(value)));
            }
            (ScalarType::Integer | ScalarType::Rounded, _) => self.are_numbers = true,
            _ => {}
        }
    }

    fn may_be_of(&self, known: &Enumeration) -> bool {
        let fits = |(least, most)| is_ordinal_of(least, known) && is_ordinal_of(most, known);
        !self.are_numbers && self.literals.is_none_or(fits)
    }
}

/// The type of one scalar of a value.
fn part_type<'m>(shape: &Shape, ty: &'m Type, mut scalar: usize) -> ScalarType<'m> {
    let (mut shape, mut ty) = (shape, ty);
    loop {
        match (shape, ty) {
            (Shape::Array(_, element), _) => {
                scalar %= element.scalars().max(1);
                shape = element;
            }
            (Shape::Record(fields), Type::Record(record)) => {
                let mut found = None;
                for (field, known) in fields.iter().zip(&record.fields) {
                    if scalar < field.scalars() {
                        found = Some((field, &known.ty));
                        break;
                    }
                    scalar -= field.scalars();
                }
                let Some((field, known)) = found else { return ScalarType::Other };
                (shape, ty) = (field, known);
            }
            (_, Type::Real) => return ScalarType::Real,
            (_, Type::Integer) => return ScalarType::Integer,
            (_, Type::Enumeration(known)) => return ScalarType::Enumeration(known),
            _ => return ScalarType::Other,
        }
    }
}
