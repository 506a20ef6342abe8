//! How expressions depend on the unknowns of a block: whether linearly, and how often the factors change.

use base::IdVec;
use dae::{Builtin, ExprId, Exprs, Node, VarId};
use rustc_hash::FxHashMap;

/// When a value can change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Never during a run.
    Parameter,
    /// At events.
    Discrete,
    Continuous,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Degree {
    Independent,
    Linear,
    Nonlinear,
}

/// Of an expression, with relations that make events held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dependence {
    pub degree: Degree,
    /// When what does not depend on the unknowns changes.
    pub value: Level,
    /// When the factors of the unknowns change.
    pub factor: Level,
}

const NOTHING: Dependence =
    Dependence { degree: Degree::Independent, value: Level::Parameter, factor: Level::Parameter };

impl Dependence {
    fn join(self, other: Self) -> Self {
        Self {
            degree: self.degree.max(other.degree),
            value: self.value.max(other.value),
            factor: self.factor.max(other.factor),
        }
    }

    fn times(self, other: Self) -> Self {
        let joined = self.join(other);
        match (self.degree, other.degree) {
            (Degree::Independent, Degree::Independent) => joined,
            (Degree::Independent, _) => Self { factor: self.value.max(other.factor), ..joined },
            (_, Degree::Independent) => Self { factor: other.value.max(self.factor), ..joined },
            _ => Self { degree: Degree::Nonlinear, ..joined },
        }
    }
}

/// The dependence of all `roots` together. `unknown` tells the unknowns, `levels` when everything else changes.
pub fn dependence(
    exprs: &Exprs,
    roots: &[ExprId],
    unknown: impl Fn(VarId) -> bool,
    levels: &IdVec<VarId, Level>,
) -> Dependence {
    let mut known: FxHashMap<ExprId, Dependence> = FxHashMap::default();
    for id in exprs.postorder(roots) {
        let of = |id: ExprId| known.get(&id).copied().unwrap_or(NOTHING);
        let result = match exprs.node(id) {
            Node::Real(_) | Node::Integer(_) | Node::Boolean(_) | Node::String(_) => NOTHING,
            Node::Time => Dependence { value: Level::Continuous, ..NOTHING },
            Node::Pre(_) | Node::Previous(_) => Dependence { value: Level::Discrete, ..NOTHING },
            Node::Var(v) | Node::Der(v) if unknown(v) => Dependence { degree: Degree::Linear, ..NOTHING },
            Node::Var(v) | Node::Der(v) => Dependence { value: levels[v], ..NOTHING },
            Node::Neg(a) => of(a),
            Node::Add(a, b) | Node::Sub(a, b) => of(a).join(of(b)),
            Node::Mul(a, b) => of(a).times(of(b)),
            Node::Div(a, b) if of(b).degree == Degree::Independent => of(a).times(of(b)),
            Node::Compare { event: true, left, right, .. } => frozen(of(left).join(of(right))),
            Node::If { condition, then, otherwise } if of(condition).degree == Degree::Independent => {
                let chosen = of(then).join(of(otherwise));
                let value = of(condition).value;
                Dependence { value: chosen.value.max(value), factor: chosen.factor.max(value), ..chosen }
            }
            Node::Builtin(Builtin::Homotopy, args) => {
                let joined = exprs.arguments(args).iter().map(|&item| of(item)).fold(NOTHING, Dependence::join);
                Dependence { factor: Level::Continuous, ..joined }
            }
            // x times one of two values, chosen by the sign of x.
            Node::Builtin(Builtin::SemiLinear, args) if let [x, positive, negative] = exprs.arguments(args) => {
                of(*x).times(of(*positive).join(of(*negative)))
            }
            Node::Builtin(Builtin::FloorEvent | Builtin::CeilEvent | Builtin::DivEvent, args) => {
                frozen(exprs.arguments(args).iter().map(|&item| of(item)).fold(NOTHING, Dependence::join))
            }
            node => {
                let mut joined = NOTHING;
                exprs.for_each_child(id, |child| joined = joined.join(of(child)));
                if joined.degree > Degree::Independent {
                    joined.degree = Degree::Nonlinear;
                }
                match node {
                    Node::Builtin(Builtin::Delay | Builtin::SpatialFirst | Builtin::SpatialSecond, _) => {
                        joined.value = Level::Continuous;
                    }
                    Node::Builtin(Builtin::Sample | Builtin::Terminal | Builtin::Initial, _) => {
                        joined.value = Level::Discrete;
                    }
                    _ => {}
                }
                joined
            }
        };
        known.insert(id, result);
    }
    roots.iter().filter_map(|root| known.get(root)).copied().fold(NOTHING, Dependence::join)
}

/// A relation keeps its value until the next event, and may then change with the unknowns too.
fn frozen(inside: Dependence) -> Dependence {
    let value = match inside.degree {
        Degree::Independent => inside.value.min(Level::Discrete),
        _ => Level::Discrete,
    };
    Dependence { value, ..NOTHING }
}
