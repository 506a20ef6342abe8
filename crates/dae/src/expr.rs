//! The arena of scalar expressions. Equal expressions are one node (hash-consing), children stand before their parents,
//! so a pass over ids in ascending order sees every child first.
//!
//! All values are scalars: Real, Integer, Boolean, enumeration (as its ordinal), String (a constant) or a handle of an
//! external object. Arrays and records are taken apart by `lang`; only calls of functions see them again (`CallSite`).
//! Code must not recurse over expressions: use `Exprs::postorder` and `Exprs::rewrite`.

use base::{ChainedIndex, Id, IdVec, Name};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::{BuildHasher, Hash};

use crate::function::FunctionId;
use crate::model::VarId;

base::id_type!(
    /// An expression.
    pub ExprId, "e"
);
base::id_type!(
    /// A list of arguments, shared like expressions.
    pub ArgsId, "args"
);
base::id_type!(
    /// A function together with the shapes it is called with.
    pub CallSiteId, "call"
);

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of Modelica")]
pub enum CompareOp {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// Operators on scalars that are neither arithmetic nor logic: mathematical functions and the operators of Modelica
/// that need the simulator (specification 3.7 and 16).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of Modelica")]
pub enum Builtin {
    // One argument.
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Log10,
    Sqrt,
    /// −1, 0 or 1; never an event.
    Sign,
    /// Never an event.
    Abs,
    /// Without event; `FloorEvent` and the like freeze their value between events.
    Floor,
    Ceil,
    // Two arguments.
    Atan2,
    Min,
    Max,
    /// Algebraic quotient with the fraction cut off, and the remainders that belong to it (3.7.2); without event.
    Div,
    Mod,
    Rem,
    // The same, event-generating.
    FloorEvent,
    CeilEvent,
    DivEvent,
    ModEvent,
    RemEvent,
    /// Integer from Boolean or enumeration and back are no-ops on ordinals; Boolean is 0 or 1.
    /// `sample(start, interval)`: true at its instants.
    Sample,
    /// `initial()`, `terminal()`.
    Initial,
    Terminal,
    /// Its argument just behind the instant of an event, as relations on time see it. Written nowhere; `lang` moves it down to
    /// `time`.
    JustBehind,
    /// `delay(expr, time, maximum)`. With a fourth argument, zero, the past before the start is zero: it is the derivative of
    /// one that was constant.
    Delay,
    /// `homotopy(actual, simplified)`.
    Homotopy,
    /// `semiLinear(x, positive, negative)`.
    SemiLinear,
    /// `spatialDistribution(in0, in1, x, positiveVelocity, points…, values…)`, first and second result.
    SpatialFirst,
    SpatialSecond,
    // Clocked operators (chapter 16). The clock constructors give a value of type Clock.
    ClockInferred,
    /// `Clock(intervalCounter, resolution)`
    ClockRational,
    /// `Clock(interval)`
    ClockReal,
    /// `Clock(condition, startInterval)`
    ClockEvent,
    /// `Clock(c, solverMethod)`: the second argument is a String constant.
    ClockSolver,
    /// `sample(u, clock)`; with a third argument, the value `u` of an equation inside `when clock then`, itself on that
    /// clock. The argument is the number of the clause: equations of one clause have one clock, even an inferred one.
    SampleClocked,
    /// `hold(u)`
    Hold,
    SubSample,
    SuperSample,
    ShiftSample,
    BackSample,
    NoClock,
    /// `interval(u)`, `firstTick(u)`
    Interval,
    FirstTick,
    /// State machines (chapter 17).
    ActiveState,
    TicksInState,
    TimeInState,
}

impl Builtin {
    /// Whether it gives a value of another clock.
    pub fn is_clock_conversion(self) -> bool {
        use Builtin::*;
        matches!(self, SubSample | SuperSample | ShiftSample | BackSample | NoClock)
    }

    /// Whether it makes a clock.
    pub fn is_clock_constructor(self) -> bool {
        use Builtin::*;
        matches!(self, ClockInferred | ClockRational | ClockReal | ClockEvent | ClockSolver)
    }
}

/// One expression. Sixteen bytes.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names are those of Modelica")]
pub enum Node {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    /// A text; only as an argument of functions, in assertions and as the value of String variables.
    String(Name),
    Time,
    Var(VarId),
    /// The time derivative of a variable.
    Der(VarId),
    /// `pre(v)`, the left limit at an event.
    Pre(VarId),
    /// `previous(v)` in a clocked partition.
    Previous(VarId),
    Neg(ExprId),
    Add(ExprId, ExprId),
    Sub(ExprId, ExprId),
    Mul(ExprId, ExprId),
    Div(ExprId, ExprId),
    Pow(ExprId, ExprId),
    Not(ExprId),
    And(ExprId, ExprId),
    Or(ExprId, ExprId),
    /// `event`: the relation makes a state or time event when it changes and is frozen between events. False inside
    /// `noEvent` and `smooth`, for non-Real operands, and where the specification says so.
    Compare {
        op: CompareOp,
        event: bool,
        left: ExprId,
        right: ExprId,
    },
    If {
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
    },
    Builtin(Builtin, ArgsId),
    /// One scalar of the results of a function call. All nodes with the same site and arguments are one evaluation.
    Call {
        site: CallSiteId,
        args: ArgsId,
        output: u32,
    },
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        use Node::*;
        match (self, other) {
            (Real(a), Real(b)) => a.to_bits() == b.to_bits(),
            (Integer(a), Integer(b)) => a == b,
            (Boolean(a), Boolean(b)) => a == b,
            (String(a), String(b)) => a == b,
            (Time, Time) => true,
            (Var(a), Var(b)) | (Der(a), Der(b)) | (Pre(a), Pre(b)) | (Previous(a), Previous(b)) => a == b,
            (Neg(a), Neg(b)) | (Not(a), Not(b)) => a == b,
            (Add(a, b), Add(c, d))
            | (Sub(a, b), Sub(c, d))
            | (Mul(a, b), Mul(c, d))
            | (Div(a, b), Div(c, d))
            | (Pow(a, b), Pow(c, d))
            | (And(a, b), And(c, d))
            | (Or(a, b), Or(c, d)) => a == c && b == d,
            (
                Compare { op: o1, event: e1, left: l1, right: r1 },
                Compare { op: o2, event: e2, left: l2, right: r2 },
            ) => o1 == o2 && e1 == e2 && l1 == l2 && r1 == r2,
            (If { condition: c1, then: t1, otherwise: o1 }, If { condition: c2, then: t2, otherwise: o2 }) => {
                c1 == c2 && t1 == t2 && o1 == o2
            }
            (Builtin(a, x), Builtin(b, y)) => a == b && x == y,
            (Call { site: s1, args: a1, output: o1 }, Call { site: s2, args: a2, output: o2 }) => {
                s1 == s2 && a1 == a2 && o1 == o2
            }
            _ => false,
        }
    }
}

impl Eq for Node {}

impl Hash for Node {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        use Node::*;
        std::mem::discriminant(self).hash(state);
        match *self {
            Real(value) => value.to_bits().hash(state),
            Integer(value) => value.hash(state),
            Boolean(value) => value.hash(state),
            String(name) => name.hash(state),
            Time => {}
            Var(v) | Der(v) | Pre(v) | Previous(v) => v.hash(state),
            Neg(a) | Not(a) => a.hash(state),
            Add(a, b) | Sub(a, b) | Mul(a, b) | Div(a, b) | Pow(a, b) | And(a, b) | Or(a, b) => (a, b).hash(state),
            Compare { op, event, left, right } => (op, event, left, right).hash(state),
            If { condition, then, otherwise } => (condition, then, otherwise).hash(state),
            Builtin(op, args) => (op, args).hash(state),
            Call { site, args, output } => (site, args, output).hash(state),
        }
    }
}

impl Node {
    /// What the node is near to in the index of nodes: its newest operand, its variable or its list of arguments.
    fn place(self) -> Option<usize> {
        use Node::*;
        let operand = |id: ExprId| Some(2 * id.index());
        match self {
            Real(_) | Integer(_) | Boolean(_) | String(_) | Time => None,
            Var(v) | Der(v) | Pre(v) | Previous(v) => Some(2 * v.index() + 1),
            Neg(a) | Not(a) => operand(a),
            Add(a, b) | Sub(a, b) | Mul(a, b) | Div(a, b) | Pow(a, b) | And(a, b) | Or(a, b) => operand(a.max(b)),
            Compare { left, right, .. } => operand(left.max(right)),
            If { condition, then, otherwise } => operand(condition.max(then).max(otherwise)),
            Builtin(_, args) | Call { args, .. } => Some(2 * args.index() + 1),
        }
    }
}

/// A function and the shapes of one way to call it. The scalar arguments of a call are the inputs in order, each array
/// in row-major order and each record field by field; the outputs are numbered likewise.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CallSite {
    /// The function.
    pub function: FunctionId,
    /// One for each input of the function.
    pub inputs: Vec<Shape>,
    /// One for each output.
    pub outputs: Vec<Shape>,
}

/// The scalars of one value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// One number or text.
    Scalar,
    /// Sizes and the shape of an element.
    Array(Vec<u32>, Box<Shape>),
    /// The fields of a record.
    Record(Vec<Shape>),
    /// A function passed as an argument, with the shapes of the inputs that are already given; their scalars stand in
    /// the argument list.
    Function {
        /// The function.
        function: FunctionId,
        /// Inputs that have values already.
        given: Vec<(u32, Shape)>,
    },
}

impl Shape {
    /// How many scalars it has.
    pub fn scalars(&self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Array(sizes, element) => sizes.iter().map(|&n| n as usize).product::<usize>() * element.scalars(),
            Shape::Record(fields) => fields.iter().map(Shape::scalars).sum(),
            Shape::Function { given, .. } => given.iter().map(|(_, shape)| shape.scalars()).sum(),
        }
    }
}

/// The arena.
#[derive(Clone, Default)]
pub struct Exprs {
    nodes: IdVec<ExprId, Node>,
    /// Which of them may be undefined although all variables are finite; see `domain`.
    partial: IdVec<ExprId, bool>,
    node_index: ChainedIndex,
    arguments: Vec<ExprId>,
    lists: IdVec<ArgsId, (u32, u32)>,
    list_index: HashTable<ArgsId>,
    sites: IdVec<CallSiteId, CallSite>,
    site_index: FxHashMap<CallSite, CallSiteId>,
    operands: Operands,
}

/// What the folding constructors do with operands that do not matter for the value: `x` in `0*x` and in `x - x`.
///
/// They matter for clocks: all that an equation mentions ticks together (specification 16.7).
#[derive(Clone, Copy, Default)]
struct Operands {
    are_kept: bool,
    /// Some were left out.
    are_missing: bool,
}

impl Exprs {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the constructors keep operands that do not matter for the value from now on.
    pub fn keep_operands(&mut self, keep: bool) {
        self.operands.are_kept = keep;
    }

    /// Whether an operand that the value does not depend on must stay; where not, it counts as left out.
    pub fn must_keep_operands(&mut self) -> bool {
        self.operands.are_missing |= !self.operands.are_kept;
        self.operands.are_kept
    }

    /// Whether an operand was left out that may have a variable in it.
    pub fn lacks_operands(&self) -> bool {
        self.operands.are_missing
    }

    /// The id of a node, without any simplification; see `simplify` for the constructors that fold.
    pub fn intern(&mut self, node: Node) -> ExprId {
        if let Some(known) = self.find(node) {
            return known;
        }
        let partial = self.may_be_undefined(node);
        let id = self.nodes.push(node);
        self.partial.push(partial);
        let nodes = &self.nodes;
        self.node_index.push(node.place(), |number| FxBuildHasher.hash_one(nodes[ExprId::from_index(number)]));
        id
    }

    /// The id of a node that exists already.
    pub fn find(&self, node: Node) -> Option<ExprId> {
        let same = |number| self.nodes[ExprId::from_index(number)] == node;
        self.node_index.find(node.place(), || FxBuildHasher.hash_one(node), same).map(ExprId::from_index)
    }

    /// The node of an expression.
    pub fn node(&self, id: ExprId) -> Node {
        self.nodes[id]
    }

    /// Whether the expression may have no finite value although all variables in it have one: it divides by what may be
    /// zero, takes the root or the logarithm of what may be negative, or calls a function.
    pub fn is_partial(&self, id: ExprId) -> bool {
        self.partial[id]
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no expressions.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Interns a list of arguments.
    pub fn args(&mut self, items: &[ExprId]) -> ArgsId {
        let hash = FxBuildHasher.hash_one(items);
        let (arguments, lists) = (&self.arguments, &self.lists);
        let slice = |id: ArgsId| {
            let (start, end) = lists[id];
            &arguments[start as usize..end as usize]
        };
        if let Some(&known) = self.list_index.find(hash, |&id| slice(id) == items) {
            return known;
        }
        let start = self.arguments.len() as u32;
        self.arguments.extend_from_slice(items);
        let id = self.lists.push((start, self.arguments.len() as u32));
        let (arguments, lists) = (&self.arguments, &self.lists);
        self.list_index.insert_unique(hash, id, |&id| {
            let (start, end) = lists[id];
            FxBuildHasher.hash_one(&arguments[start as usize..end as usize])
        });
        id
    }

    /// A list of arguments.
    pub fn arguments(&self, id: ArgsId) -> &[ExprId] {
        let (start, end) = self.lists[id];
        &self.arguments[start as usize..end as usize]
    }

    /// Interns a call site.
    pub fn site(&mut self, site: CallSite) -> CallSiteId {
        if let Some(&known) = self.site_index.get(&site) {
            return known;
        }
        let id = self.sites.push(site.clone());
        self.site_index.insert(site, id);
        id
    }

    /// A call site.
    pub fn call_site(&self, id: CallSiteId) -> &CallSite {
        &self.sites[id]
    }

    /// All call sites.
    pub fn call_sites(&self) -> &IdVec<CallSiteId, CallSite> {
        &self.sites
    }

    /// Calls `visit` for each direct operand.
    pub fn for_each_child(&self, id: ExprId, mut visit: impl FnMut(ExprId)) {
        use Node::*;
        match self.nodes[id] {
            Real(_) | Integer(_) | Boolean(_) | String(_) | Time | Var(_) | Der(_) | Pre(_) | Previous(_) => {}
            Neg(a) | Not(a) => visit(a),
            Add(a, b) | Sub(a, b) | Mul(a, b) | Div(a, b) | Pow(a, b) | And(a, b) | Or(a, b) => {
                visit(a);
                visit(b);
            }
            Compare { left, right, .. } => {
                visit(left);
                visit(right);
            }
            If { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
            Builtin(_, args) | Call { args, .. } => self.arguments(args).iter().copied().for_each(visit),
        }
    }

    /// Every expression below `roots`, themselves included, children before parents, each once.
    pub fn postorder(&self, roots: &[ExprId]) -> Vec<ExprId> {
        /// As many expressions for each root as are looked at in a table rather than in a set.
        const FEW: usize = 64;
        if roots.len() * FEW < self.len() {
            let mut seen = rustc_hash::FxHashSet::default();
            return self.order_below(roots, |id| seen.insert(id));
        }
        let mut seen = vec![false; self.len()];
        self.order_below(roots, |id| !std::mem::replace(&mut seen[base::Id::index(id)], true))
    }

    fn order_below(&self, roots: &[ExprId], mut is_new: impl FnMut(ExprId) -> bool) -> Vec<ExprId> {
        let mut order = Vec::new();
        let mut stack: Vec<(ExprId, bool)> = roots.iter().rev().map(|&root| (root, false)).collect();
        while let Some((id, done)) = stack.pop() {
            if done {
                order.push(id);
            } else if is_new(id) {
                stack.push((id, true));
                let start = stack.len();
                self.for_each_child(id, |child| stack.push((child, false)));
                stack[start..].reverse();
            }
        }
        order
    }

    /// The same node over other operands: `map` gives the new operand for an old one.
    pub fn with_children(&mut self, node: Node, mut map: impl FnMut(ExprId) -> ExprId) -> Node {
        use Node::*;
        match node {
            Real(_) | Integer(_) | Boolean(_) | String(_) | Time | Var(_) | Der(_) | Pre(_) | Previous(_) => node,
            Neg(a) => Neg(map(a)),
            Not(a) => Not(map(a)),
            Add(a, b) => Add(map(a), map(b)),
            Sub(a, b) => Sub(map(a), map(b)),
            Mul(a, b) => Mul(map(a), map(b)),
            Div(a, b) => Div(map(a), map(b)),
            Pow(a, b) => Pow(map(a), map(b)),
            And(a, b) => And(map(a), map(b)),
            Or(a, b) => Or(map(a), map(b)),
            Compare { op, event, left, right } => Compare { op, event, left: map(left), right: map(right) },
            If { condition, then, otherwise } => {
                If { condition: map(condition), then: map(then), otherwise: map(otherwise) }
            }
            Builtin(op, args) => {
                let items: Vec<ExprId> = self.arguments(args).iter().map(|&item| map(item)).collect();
                Builtin(op, self.args(&items))
            }
            Call { site, args, output } => {
                let items: Vec<ExprId> = self.arguments(args).iter().map(|&item| map(item)).collect();
                Call { site, args: self.args(&items), output }
            }
        }
    }

    /// All expressions, operands before what they are in.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> + use<> {
        (0..self.nodes.len()).map(ExprId::from_index)
    }
}
