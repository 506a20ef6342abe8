//! Forward automatic differentiation of the lowered code (Griewank & Walther, Evaluating Derivatives, chapter 3).
//!
//! The result computes tangents along one or several directions. Which directions an operand depends on is known when
//! the code is made, so only structurally non-zero tangents are computed, and constants are folded: the Jacobian of a
//! linear system with constant coefficients becomes a list of numbers.
//!
//! The made code presumes that the given code ran before at the same point: what it left at fixed addresses is read
//! instead of computed again. It writes nothing but tangents and temporaries.

use dae::expr::Shape;
use dae::function::Type;
use dae::{CallSiteId, ExprId, Exprs, Functions};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::code::{Address, Code, OUTPUT, Op, REGION_MASK, TEMPORARY};
use crate::eliminate::eliminate;
use crate::lower::Pool;
use crate::math::{Binary, Unary};

/// The non-zero tangents of one value: direction and address, in ascending order of directions.
pub type Gradient = SmallVec<[(u32, Address); 2]>;

/// What the fixed addresses depend on.
pub enum Seeds<'a> {
    /// The gradients of some addresses; what is assigned is added.
    Given(FxHashMap<Address, Gradient>),
    /// One direction; the tangent of an active address is in memory at `tangents` + address. Assignments write the
    /// tangent there and mark their target. Where tangents need not be exact, what comes from the past and what an external
    /// object gives count as constant.
    Memory { active: &'a mut [bool], tangents: Address, exact: Option<Exact<'a>> },
}

/// Tangents are exact, or not a number where there is none: along a direction that changes how far a delay looks back, or that
/// changes an external object such as a table.
#[derive(Clone, Copy)]
pub struct Exact<'a> {
    /// How many delays come before transports.
    pub delays: u32,
    pub functions: &'a Functions,
}

pub struct Differentiated {
    pub code: Code,
    /// The gradients of what the given code wrote to the output area.
    pub outputs: FxHashMap<Address, Gradient>,
}

/// `None` when the made code would have more than `limit` operations.
pub fn differentiate(
    code: &Code,
    pool: &mut Pool,
    exprs: &Exprs,
    seeds: Seeds<'_>,
    limit: usize,
) -> Option<Differentiated> {
    let mut work = Differentiation {
        pool,
        exprs,
        seeds,
        temporaries: code.temporaries,
        gradients: vec![Gradient::new(); code.temporaries as usize],
        outputs: FxHashMap::default(),
        renamed: FxHashMap::default(),
        buffers: vec![Buffer::default()],
        origin: None,
        made: 0,
    };
    for (op, &origin) in code.ops.iter().zip(&code.origins) {
        work.origin = Some(origin);
        work.operation(*op);
        if work.made > limit {
            return None;
        }
    }
    let Buffer { ops, origins, .. } = work.buffers.pop().unwrap_or_default();
    let code = Code { ops, origins, temporaries: work.temporaries, ..Code::default() };
    Some(Differentiated { code, outputs: work.outputs })
}

impl Differentiated {
    /// Lets the code write an address to the output area; nothing stands for zero.
    pub fn output(&mut self, pool: &mut Pool, index: u32, tangent: Option<Address>, origin: ExprId) {
        let a = tangent.unwrap_or_else(|| pool.constants.address(0.0));
        self.code.ops.push(Op::Move { to: OUTPUT | index, a });
        self.code.origins.push(origin);
    }

    pub fn finish(self, pool: &Pool) -> Code {
        eliminate(self.code, &pool.calls)
    }
}

#[derive(Default)]
struct Buffer {
    ops: Vec<Op>,
    origins: Vec<ExprId>,
    /// The condition, for the first branch of an `If`.
    condition: Address,
    /// What was assigned in this branch.
    writes: Vec<(Address, Gradient)>,
}

#[derive(Clone, Copy)]
enum Factor {
    One,
    MinusOne,
    At(Address),
}

struct Differentiation<'a, 's> {
    pool: &'a mut Pool,
    exprs: &'a Exprs,
    seeds: Seeds<'s>,
    temporaries: u32,
    gradients: Vec<Gradient>,
    outputs: FxHashMap<Address, Gradient>,
    /// Temporaries that stand for addresses of the output area.
    renamed: FxHashMap<Address, Address>,
    /// Two for each open `If`, below them the code itself.
    buffers: Vec<Buffer>,
    origin: Option<ExprId>,
    made: usize,
}

impl Differentiation<'_, '_> {
    fn operation(&mut self, op: Op) {
        let op = op.map(|address| self.renamed.get(&address).copied().unwrap_or(address));
        match op {
            Op::If { condition, .. } => self.buffers.push(Buffer { condition, ..Buffer::default() }),
            Op::Else { .. } => self.buffers.push(Buffer::default()),
            Op::EndIf => self.join(),
            Op::Call { call, arguments, results } => {
                self.push(op);
                self.call(call, arguments, results);
            }
            // Frozen code has none, and where there are some they have no tangent.
            Op::Relate { .. } | Op::Round { .. } => {}
            _ => {
                let Some(target) = op.target() else { return };
                let op = self.keep(op, target);
                let gradient = self.tangents(op);
                self.assign(target, gradient);
            }
        }
    }

    /// Repeats the operation itself where its value is not in memory.
    fn keep(&mut self, op: Op, target: Address) -> Op {
        match target & REGION_MASK {
            TEMPORARY => {
                self.push(op);
                op
            }
            OUTPUT => {
                let temporary = self.temporary();
                self.renamed.insert(target, temporary);
                let op = op.map(|address| if address == target { temporary } else { address });
                self.push(op);
                op
            }
            _ => op,
        }
    }

    fn assign(&mut self, target: Address, gradient: Gradient) {
        let depth = self.buffers.len();
        if depth > 1
            && let Some(buffer) = self.buffers.last_mut()
        {
            buffer.writes.push((target, gradient.clone()));
        }
        match target & REGION_MASK {
            TEMPORARY => self.set_temporary(target, gradient),
            OUTPUT => {
                if let Some(&temporary) = self.renamed.get(&target) {
                    self.set_temporary(temporary, gradient.clone());
                }
                self.outputs.insert(target, gradient);
            }
            _ => {
                let tangent = gradient.first().map(|first| first.1);
                let mut store = None;
                match &mut self.seeds {
                    Seeds::Given(known) => {
                        known.insert(target, gradient);
                    }
                    Seeds::Memory { active, tangents, .. } => {
                        if let Some(active) = active.get_mut(target as usize) {
                            *active = tangent.is_some();
                            store = tangent.map(|a| Op::Move { to: *tangents + target, a });
                        }
                    }
                }
                if let Some(store) = store {
                    self.push(store);
                }
            }
        }
    }

    fn set_temporary(&mut self, target: Address, gradient: Gradient) {
        let index = (target & !REGION_MASK) as usize;
        if self.gradients.len() <= index {
            self.gradients.resize(index + 1, Gradient::new());
        }
        self.gradients[index] = gradient;
    }

    fn gradient(&self, address: Address) -> Gradient {
        match address & REGION_MASK {
            TEMPORARY => self.gradients.get((address & !REGION_MASK) as usize).cloned().unwrap_or_default(),
            0 => match &self.seeds {
                Seeds::Given(known) => known.get(&address).cloned().unwrap_or_default(),
                Seeds::Memory { active, tangents, .. } => match active.get(address as usize) {
                    Some(true) => smallvec![(0, tangents + address)],
                    _ => Gradient::new(),
                },
            },
            _ => Gradient::new(),
        }
    }

    /// Ends an `If`: what both branches assigned gets one tangent for each direction of either.
    fn join(&mut self) {
        let (Some(mut second), Some(mut first)) = (self.buffers.pop(), self.buffers.pop()) else { return };
        let zero = self.pool.constants.address(0.0);
        let others: FxHashMap<Address, Gradient> = second.writes.drain(..).collect();
        let mut merged = Vec::new();
        let origin = self.origin;
        for (target, gradient) in std::mem::take(&mut first.writes) {
            let Some(other) = others.get(&target) else { continue };
            let mut joint = Gradient::new();
            for direction in directions(&[&gradient, other]) {
                let to = self.temporary();
                for (buffer, gradient) in [(&mut first, &gradient), (&mut second, other)] {
                    buffer.ops.push(Op::Move { to, a: tangent_of(gradient, direction).unwrap_or(zero) });
                    buffer.origins.extend(origin);
                }
                joint.push((direction, to));
            }
            merged.push((target, joint));
        }
        let Some(outer) = self.buffers.last_mut() else { return };
        let Some(origin) = origin else { return };
        outer.ops.push(Op::If { condition: first.condition, otherwise: 0 });
        outer.ops.append(&mut first.ops);
        outer.ops.push(Op::Else { end: 0 });
        outer.ops.append(&mut second.ops);
        outer.ops.push(Op::EndIf);
        outer.origins.push(origin);
        outer.origins.append(&mut first.origins);
        outer.origins.push(origin);
        outer.origins.append(&mut second.origins);
        outer.origins.push(origin);
        for (target, gradient) in merged {
            self.assign(target, gradient);
        }
    }

    fn call(&mut self, call: u32, arguments: Address, results: Address) {
        let entry = self.pool.calls[call as usize].clone();
        let gradients: Vec<Gradient> = (0..entry.arguments).map(|k| self.gradient(arguments + k)).collect();
        let all = directions(&gradients.iter().collect::<Vec<_>>());
        let mut of_results = vec![Gradient::new(); entry.results as usize];
        let zero = self.pool.constants.address(0.0);
        let objects = self.objects(entry.site);
        if objects.is_constructor {
            let undefined = self.constant(f64::NAN);
            for direction in all {
                let tangents: Vec<Address> =
                    gradients.iter().filter_map(|gradient| tangent_of(gradient, direction)).collect();
                let changed = self.where_any(&tangents, undefined);
                of_results.iter_mut().for_each(|gradient| gradient.push((direction, changed)));
            }
            for (k, gradient) in (0..).zip(of_results) {
                self.assign(results + k, gradient);
            }
            return;
        }
        let tangent_call = self.pool.call(self.exprs, entry.site, true, &entry.fixed);
        for direction in all {
            let block = TEMPORARY | self.temporaries;
            self.temporaries += 2 * (entry.arguments + entry.results);
            let outcome = block + 2 * entry.arguments;
            for k in 0..entry.arguments {
                self.push(Op::Move { to: block + k, a: arguments + k });
                let tangent = tangent_of(&gradients[k as usize], direction).filter(|_| !objects.is_argument(k));
                self.push(Op::Move { to: block + entry.arguments + k, a: tangent.unwrap_or(zero) });
            }
            self.push(Op::Call { call: tangent_call, arguments: block, results: outcome });
            let changed: Vec<Address> = (0..entry.arguments)
                .filter(|&k| objects.is_argument(k))
                .filter_map(|k| tangent_of(&gradients[k as usize], direction))
                .collect();
            for (k, gradient) in (0..).zip(&mut of_results) {
                let tangent = outcome + entry.results + k;
                gradient.push((direction, self.sum_of(tangent, &changed)));
            }
        }
        for (k, gradient) in (0..).zip(of_results) {
            self.assign(results + k, gradient);
        }
    }

    /// Emits what the tangents of an operation's result need.
    fn tangents(&mut self, op: Op) -> Gradient {
        match op {
            Op::Move { a, .. } => self.gradient(a),
            Op::Unary { function, to, a } => {
                let gradient = self.gradient(a);
                if gradient.is_empty() {
                    return gradient;
                }
                match self.slope(function, a, to) {
                    Some(factor) if self.exact().is_some() && may_be_vertical(function) => {
                        let product = self.combine(&[(&gradient, factor)]);
                        self.zero_along_zero(&gradient, product)
                    }
                    Some(factor) => self.combine(&[(&gradient, factor)]),
                    None => Gradient::new(),
                }
            }
            Op::Binary { function, to, a, b } => self.binary_tangents(function, to, a, b),
            Op::Select { condition, a, b, .. } => self.choose(condition, a, b),
            Op::Delay { delay, a, b, .. } => match self.exact() {
                Some(Exact { delays, .. }) => self.past(a, b, delay < delays),
                None => Gradient::new(),
            },
            _ => Gradient::new(),
        }
    }

    fn exact(&self) -> Option<Exact<'_>> {
        match &self.seeds {
            Seeds::Memory { exact, .. } => *exact,
            Seeds::Given(_) => None,
        }
    }

    /// Which external objects a call is about; none where tangents need not be exact.
    fn objects(&self, site: CallSiteId) -> Objects {
        let Some(Exact { functions, .. }) = self.exact() else { return Objects::default() };
        let site = self.exprs.call_site(site);
        let Some(function) = functions.get(site.function) else { return Objects::default() };
        let mut arguments = Vec::new();
        for (&local, shape) in function.inputs.iter().zip(&site.inputs) {
            mark_objects(shape, &function.locals[local].ty, &mut arguments);
        }
        let is_object = |&local: &dae::function::LocalId| matches!(function.locals[local].ty, Type::Object(_));
        Objects { arguments, is_constructor: function.outputs.iter().any(is_object) }
    }

    /// `value` where any of the tangents is not zero, else zero.
    fn where_any(&mut self, tangents: &[Address], value: Address) -> Address {
        let zero = self.constant(0.0);
        let mut found = zero;
        for &tangent in tangents {
            let stays = self.binary(Binary::Equal, tangent, zero);
            found = self.select(stays, found, value);
        }
        found
    }

    fn sum_of(&mut self, first: Address, others: &[Address]) -> Address {
        others.iter().fold(first, |sum, &other| self.binary(Binary::Add, sum, other))
    }

    /// A product with a slope that may be infinite: along what does not change it is zero.
    fn zero_along_zero(&mut self, gradient: &Gradient, product: Gradient) -> Gradient {
        let zero = self.constant(0.0);
        let mut result = Gradient::new();
        for (direction, tangent) in product {
            let Some(along) = tangent_of(gradient, direction) else { continue };
            let stays = self.binary(Binary::Equal, along, zero);
            result.push((direction, self.select(stays, zero, tangent)));
        }
        result
    }

    /// What comes from the past: `a` itself where a delay `b` is none, else nothing that changes now. Along directions that change
    /// how far it looks back it is not a number.
    fn past(&mut self, a: Address, b: Address, is_delay: bool) -> Gradient {
        let (zero, undefined) = (self.constant(0.0), self.constant(f64::NAN));
        let (value, back) = (if is_delay { self.gradient(a) } else { Gradient::new() }, self.gradient(b));
        let mut result = Gradient::new();
        for direction in directions(&[&value, &back]) {
            let mut tangent = zero;
            if let Some(of_value) = tangent_of(&value, direction) {
                let is_none = self.binary(Binary::LessEqual, b, zero);
                tangent = self.select(is_none, of_value, zero);
            }
            if let Some(of_delay) = tangent_of(&back, direction) {
                let stays = self.binary(Binary::Equal, of_delay, zero);
                tangent = self.select(stays, tangent, undefined);
            }
            result.push((direction, tangent));
        }
        result
    }

    fn choose(&mut self, condition: Address, a: Address, b: Address) -> Gradient {
        let (first, second) = (self.gradient(a), self.gradient(b));
        let zero = self.pool.constants.address(0.0);
        let mut result = Gradient::new();
        for direction in directions(&[&first, &second]) {
            let a = tangent_of(&first, direction).unwrap_or(zero);
            let b = tangent_of(&second, direction).unwrap_or(zero);
            let to = self.temporary();
            self.push(Op::Select { to, condition, a, b });
            result.push((direction, to));
        }
        result
    }

    fn binary_tangents(&mut self, function: Binary, to: Address, a: Address, b: Address) -> Gradient {
        let (first, second) = (self.gradient(a), self.gradient(b));
        if first.is_empty() && second.is_empty() {
            return first;
        }
        match function {
            Binary::Add => self.combine(&[(&first, Factor::One), (&second, Factor::One)]),
            Binary::Sub => self.combine(&[(&first, Factor::One), (&second, Factor::MinusOne)]),
            Binary::Mul => self.combine(&[(&first, Factor::At(b)), (&second, Factor::At(a))]),
            Binary::Div => {
                let one = self.constant(1.0);
                let inverse = self.binary(Binary::Div, one, b);
                let mut other = Factor::One;
                if !second.is_empty() {
                    let product = self.binary(Binary::Mul, to, inverse);
                    other = Factor::At(self.unary(Unary::Neg, product));
                }
                self.combine(&[(&first, Factor::At(inverse)), (&second, other)])
            }
            Binary::Pow => {
                let (mut of_base, mut of_exponent) = (Factor::One, Factor::One);
                if !first.is_empty() {
                    let one = self.constant(1.0);
                    let lower = self.binary(Binary::Sub, b, one);
                    let power = self.binary(Binary::Pow, a, lower);
                    of_base = Factor::At(self.binary(Binary::Mul, b, power));
                }
                if !second.is_empty() {
                    // At a base of zero or below the power does not depend smoothly on its exponent.
                    let zero = self.constant(0.0);
                    let logarithm = self.unary(Unary::Log, a);
                    let product = self.binary(Binary::Mul, to, logarithm);
                    let positive = self.binary(Binary::Less, zero, a);
                    of_exponent = Factor::At(self.select(positive, product, zero));
                }
                self.combine(&[(&first, of_base), (&second, of_exponent)])
            }
            Binary::Atan2 => {
                let square_a = self.binary(Binary::Mul, a, a);
                let square_b = self.binary(Binary::Mul, b, b);
                let sum = self.binary(Binary::Add, square_a, square_b);
                let of_first = self.binary(Binary::Div, b, sum);
                let quotient = self.binary(Binary::Div, a, sum);
                let of_second = self.unary(Unary::Neg, quotient);
                self.combine(&[(&first, Factor::At(of_first)), (&second, Factor::At(of_second))])
            }
            Binary::Min | Binary::Max => {
                let (low, high) = if function == Binary::Min { (a, b) } else { (b, a) };
                let condition = self.binary(Binary::Less, low, high);
                self.choose(condition, a, b)
            }
            Binary::And | Binary::Or | Binary::Less | Binary::LessEqual | Binary::Equal | Binary::NotEqual => {
                Gradient::new()
            }
        }
    }

    /// The derivative of a function at `a`, where its value is at `y`; `None` where it vanishes.
    fn slope(&mut self, function: Unary, a: Address, y: Address) -> Option<Factor> {
        let one = self.constant(1.0);
        let address = match function {
            Unary::Neg => return Some(Factor::MinusOne),
            Unary::Sin => self.unary(Unary::Cos, a),
            Unary::Cos => {
                let sine = self.unary(Unary::Sin, a);
                self.unary(Unary::Neg, sine)
            }
            Unary::Tan => {
                let square = self.binary(Binary::Mul, y, y);
                self.binary(Binary::Add, one, square)
            }
            Unary::Asin | Unary::Acos => {
                let square = self.binary(Binary::Mul, a, a);
                let rest = self.binary(Binary::Sub, one, square);
                let root = self.unary(Unary::Sqrt, rest);
                let signed = if function == Unary::Asin { one } else { self.constant(-1.0) };
                self.binary(Binary::Div, signed, root)
            }
            Unary::Atan => {
                let square = self.binary(Binary::Mul, a, a);
                let sum = self.binary(Binary::Add, one, square);
                self.binary(Binary::Div, one, sum)
            }
            Unary::Sinh => self.unary(Unary::Cosh, a),
            Unary::Cosh => self.unary(Unary::Sinh, a),
            Unary::Tanh => {
                let square = self.binary(Binary::Mul, y, y);
                self.binary(Binary::Sub, one, square)
            }
            Unary::Exp => y,
            Unary::Log => self.binary(Binary::Div, one, a),
            Unary::Log10 => {
                let scaled = self.constant(std::f64::consts::LOG10_E);
                self.binary(Binary::Div, scaled, a)
            }
            Unary::Sqrt => {
                // Finite at zero, so that a zero tangent gives zero there.
                let (half, tiny) = (self.constant(0.5), self.constant(1e-100));
                let positive = self.binary(Binary::Max, y, tiny);
                self.binary(Binary::Div, half, positive)
            }
            Unary::Abs => {
                let (zero, minus) = (self.constant(0.0), self.constant(-1.0));
                let negative = self.binary(Binary::Less, a, zero);
                self.select(negative, minus, one)
            }
            Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Truncate => return None,
        };
        Some(Factor::At(address))
    }

    /// The sum of gradients times factors.
    fn combine(&mut self, parts: &[(&Gradient, Factor)]) -> Gradient {
        let gradients: Vec<&Gradient> = parts.iter().map(|part| part.0).collect();
        let mut result = Gradient::new();
        for direction in directions(&gradients) {
            let mut sum: Option<Address> = None;
            for &(gradient, factor) in parts {
                let Some(tangent) = tangent_of(gradient, direction) else { continue };
                sum = Some(match (sum, factor) {
                    (None, Factor::One) => tangent,
                    (None, Factor::MinusOne) => self.unary(Unary::Neg, tangent),
                    (None, Factor::At(factor)) => self.binary(Binary::Mul, factor, tangent),
                    (Some(sum), Factor::One) => self.binary(Binary::Add, sum, tangent),
                    (Some(sum), Factor::MinusOne) => self.binary(Binary::Sub, sum, tangent),
                    (Some(sum), Factor::At(factor)) => {
                        let product = self.binary(Binary::Mul, factor, tangent);
                        self.binary(Binary::Add, sum, product)
                    }
                });
            }
            if let Some(sum) = sum
                && self.pool.constants.value(sum) != Some(0.0)
            {
                result.push((direction, sum));
            }
        }
        result
    }

    fn constant(&mut self, value: f64) -> Address {
        self.pool.constants.address(value)
    }

    fn temporary(&mut self) -> Address {
        self.temporaries += 1;
        TEMPORARY | (self.temporaries - 1)
    }

    fn push(&mut self, op: Op) {
        self.made += 1;
        if let (Some(buffer), Some(origin)) = (self.buffers.last_mut(), self.origin) {
            buffer.ops.push(op);
            buffer.origins.push(origin);
        }
    }

    fn unary(&mut self, function: Unary, a: Address) -> Address {
        if let Some(value) = self.pool.constants.value(a) {
            return self.constant(function.apply(value));
        }
        let to = self.temporary();
        self.push(Op::Unary { function, to, a });
        to
    }

    fn binary(&mut self, function: Binary, a: Address, b: Address) -> Address {
        match (function, self.pool.constants.value(a), self.pool.constants.value(b)) {
            (_, Some(x), Some(y)) => return self.constant(function.apply(x, y)),
            (Binary::Mul, Some(1.0), _) => return b,
            (Binary::Mul, _, Some(1.0)) => return a,
            _ => {}
        }
        let to = self.temporary();
        self.push(Op::Binary { function, to, a, b });
        to
    }

    fn select(&mut self, condition: Address, a: Address, b: Address) -> Address {
        let to = self.temporary();
        self.push(Op::Select { to, condition, a, b });
        to
    }
}

/// The external objects of a call.
#[derive(Default)]
struct Objects {
    /// By scalar argument.
    arguments: Vec<bool>,
    is_constructor: bool,
}

impl Objects {
    fn is_argument(&self, argument: u32) -> bool {
        self.arguments.get(argument as usize) == Some(&true)
    }
}

/// Adds for each scalar of a value whether it is an external object.
fn mark_objects(shape: &Shape, ty: &Type, marks: &mut Vec<bool>) {
    match (shape, ty) {
        (Shape::Scalar, ty) => marks.push(matches!(ty, Type::Object(_))),
        (Shape::Array(_, element), ty) => {
            let begin = marks.len();
            let count = shape.scalars();
            mark_objects(element, ty, marks);
            let one: Vec<bool> = marks.drain(begin..).collect();
            marks.extend(one.iter().cycle().take(count));
        }
        (Shape::Record(fields), Type::Record(record)) => {
            for (shape, field) in fields.iter().zip(&record.fields) {
                mark_objects(shape, &field.ty, marks);
            }
        }
        (shape, _) => marks.extend(std::iter::repeat_n(false, shape.scalars())),
    }
}

/// Whether the slope of a function is infinite at a point at which the function is defined. That of a root is a huge number.
fn may_be_vertical(function: Unary) -> bool {
    matches!(function, Unary::Asin | Unary::Acos)
}

/// All directions of some gradients, ascending.
fn directions(gradients: &[&Gradient]) -> SmallVec<[u32; 8]> {
    let mut all: SmallVec<[u32; 8]> =
        gradients.iter().flat_map(|gradient| gradient.iter().map(|part| part.0)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn tangent_of(gradient: &Gradient, direction: u32) -> Option<Address> {
    gradient.binary_search_by_key(&direction, |part| part.0).ok().map(|at| gradient[at].1)
}
