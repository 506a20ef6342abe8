//! The scalars of specialised functions: known, or addresses at which they are at run time. What is done with addresses becomes
//! operations.
//!
//! A value is computed once and keeps its address (static single assignment); only variables of loops, and arrays that are
//! assigned with subscripts known at run time, have places that are written again. Reading such a variable as a whole copies it
//! (`detach`).
//!
//! What is undefined must not decide: as in `defined.rs`, a condition with a side that is no finite number is NaN. Where such a
//! condition chooses a branch or ends a loop, or where an assertion or the range of a subscript is violated, the results of the
//! function are NaN, and the interpreter then tells why. Variables of functions are not checked when they are assigned, so every
//! comparison of numbers counts.

use dae::execute::{Domain, Selection};
use dae::function::{ArithmeticOp, ArrayFunction};
use dae::inline::{builtin_kind, joined_kind, result_kind};
use dae::known::Outcome;
use dae::value::{Array, Kind};
use dae::{Builtin, CompareOp, FunctionId, Functions};
use rustc_hash::FxHashSet;

use super::{MAX_OPERATIONS, Scalars, Specializer, UNROLLED, replace_scalars};
use crate::code::{Address, Code, Op, REGION_MASK, TEMPORARY};
use crate::lower::{LARGEST_INTEGER, unary};
use crate::math::{Binary, Unary, comparison};

/// A branch whose other side is not written yet.
struct OpenBranch {
    condition: Address,
    /// The operations before it, then those of its first side.
    before: Vec<Op>,
    then: Vec<Op>,
}

pub(super) struct Addresses<'s, 'a> {
    pub special: &'s mut Specializer<'a>,
    pub code: Code,
    operations: usize,
    branches: Vec<OpenBranch>,
    /// Addresses that are written again when variables are assigned.
    places: FxHashSet<Address>,
    /// NaN once the function has failed, zero before; added to the results. Made when it can fail.
    pub doubt: Option<Address>,
}

impl<'s, 'a> Addresses<'s, 'a> {
    pub fn new(special: &'s mut Specializer<'a>) -> Self {
        Self {
            special,
            code: Code::default(),
            operations: 0,
            branches: Vec::new(),
            places: FxHashSet::default(),
            doubt: None,
        }
    }

    pub fn push(&mut self, op: Op) -> Outcome<()> {
        if self.operations >= MAX_OPERATIONS {
            return Err("it is too long".into());
        }
        self.operations += 1;
        self.code.ops.push(op);
        Ok(())
    }

    pub fn temporaries(&mut self, count: u32) -> Address {
        let first = TEMPORARY | self.code.temporaries;
        self.code.temporaries += count;
        first
    }

    fn constant(&mut self, number: f64) -> Address {
        self.special.pool.constants.address(number)
    }

    /// Where a scalar is; known ones are constants, and what has no value is NaN.
    pub fn address(&mut self, scalar: &Scalars) -> Outcome<Address> {
        match scalar {
            Scalars::Open(address, _) => Ok(*address),
            Scalars::Unset(_) => Ok(self.constant(f64::NAN)),
            Scalars::String(text) => {
                let number = self.special.pool.strings.intern(text);
                Ok(self.constant(number))
            }
            Scalars::Integer(number) if number.unsigned_abs() > LARGEST_INTEGER as u64 => {
                Err(format!("the Integer {number} is not exact at run time"))
            }
            other => {
                let number = other.as_real().ok_or("a scalar is expected")?;
                Ok(self.constant(number))
            }
        }
    }

    fn unary(&mut self, function: Unary, a: Address) -> Outcome<Address> {
        let to = self.temporaries(1);
        self.push(Op::Unary { function, to, a })?;
        Ok(to)
    }

    fn binary(&mut self, function: Binary, a: Address, b: Address) -> Outcome<Address> {
        let to = self.temporaries(1);
        self.push(Op::Binary { function, to, a, b })?;
        Ok(to)
    }

    fn select(&mut self, condition: Address, a: Address, b: Address) -> Outcome<Address> {
        let to = self.temporaries(1);
        self.push(Op::Select { to, condition, a, b })?;
        Ok(to)
    }

    fn combine(&mut self, function: Binary, a: &Scalars, b: &Scalars, kind: Kind) -> Outcome<Scalars> {
        let (a, b) = (self.address(a)?, self.address(b)?);
        Ok(Scalars::Open(self.binary(function, a, b)?, kind))
    }

    /// Copies a scalar to an address.
    pub fn write(&mut self, to: Address, scalar: &Scalars) -> Outcome<()> {
        let a = self.address(scalar)?;
        if a == to { Ok(()) } else { self.push(Op::Move { to, a }) }
    }

    /// An Integer that is computed: NaN where it is not exact.
    fn exact(&mut self, integer: Scalars) -> Outcome<Scalars> {
        let a = self.address(&integer)?;
        let size = self.unary(Unary::Abs, a)?;
        let (largest, nan) = (self.constant(LARGEST_INTEGER), self.constant(f64::NAN));
        let beyond = self.binary(Binary::Less, largest, size)?;
        Ok(Scalars::Open(self.select(beyond, nan, a)?, Kind::Integer))
    }

    fn doubt(&mut self) -> Address {
        let doubt = match self.doubt {
            Some(doubt) => doubt,
            None => self.temporaries(1),
        };
        self.doubt = Some(doubt);
        doubt
    }

    /// Adds to the doubt what is NaN where something failed.
    pub fn add_doubt(&mut self, b: Address) -> Outcome<()> {
        let doubt = self.doubt();
        self.push(Op::Binary { function: Binary::Add, to: doubt, a: doubt, b })
    }

    /// A condition decides something.
    fn decide(&mut self, condition: Address) -> Outcome<()> {
        let zero = self.constant(0.0);
        let nothing = self.binary(Binary::Mul, zero, condition)?;
        self.add_doubt(nothing)
    }

    /// A value, NaN where what decides it is not finite.
    fn defined(&mut self, mut value: Address, sides: &[&Scalars]) -> Outcome<Address> {
        let zero = self.constant(0.0);
        for side in sides.iter().filter(|side| !side.is_known()) {
            let side = self.address(side)?;
            let nothing = self.binary(Binary::Mul, zero, side)?;
            value = self.binary(Binary::Add, value, nothing)?;
        }
        Ok(value)
    }

    fn defined_and(&mut self, a: Address, b: Address) -> Outcome<Address> {
        let open = self.binary(Binary::And, a, b)?;
        let product = self.binary(Binary::Mul, a, b)?;
        let zero = self.constant(0.0);
        self.select(open, product, zero)
    }

    fn opposite(&mut self, a: Address) -> Outcome<Address> {
        let one = self.constant(1.0);
        self.binary(Binary::Sub, one, a)
    }

    fn quotient(&mut self, op: Builtin, x: &Scalars, y: &Scalars, kind: Kind) -> Outcome<Scalars> {
        let (x, y) = (self.address(x)?, self.address(y)?);
        let quotient = self.binary(Binary::Div, x, y)?;
        let rounding = if op == Builtin::Mod { Unary::Floor } else { Unary::Truncate };
        let rounded = self.unary(rounding, quotient)?;
        if op == Builtin::Div {
            return Ok(Scalars::Open(rounded, kind));
        }
        let product = self.binary(Binary::Mul, rounded, y)?;
        Ok(Scalars::Open(self.binary(Binary::Sub, x, product)?, kind))
    }

    /// The array with its scalars at consecutive addresses, and the first of them.
    fn consecutive(&mut self, array: &Array<Address>) -> Outcome<(Array<Address>, Address)> {
        let value = Scalars::Array(array.clone());
        if let Some(first) = first_of_row(&value) {
            return Ok((array.clone(), first));
        }
        match self.at_cells(&value)? {
            (Scalars::Array(array), first) => Ok((array, first)),
            _ => Err("an array is expected".into()),
        }
    }

    /// A copy at consecutive addresses of its own.
    fn at_cells(&mut self, value: &Scalars) -> Outcome<(Scalars, Address)> {
        let mut scalars = Vec::new();
        value.clone().flatten_into(&mut scalars);
        let first = self.special.cells(scalars.len() as u32);
        for (to, scalar) in (first..).zip(&scalars) {
            self.write(to, scalar)?;
        }
        let mut next = first;
        let copy = replace_scalars(value, &mut |kind| {
            next += 1;
            Scalars::Open(next - 1, kind)
        })?;
        Ok((copy, first))
    }

    /// What the subscripts that are known select, and how many addresses further the others lead.
    fn offset(&mut self, array: &Array<Address>, selections: &[Selection<Address>]) -> Outcome<(Scalars, Address)> {
        if array.elements.is_empty() {
            return Err("an element of an empty array".into());
        }
        let mut scalars = 0usize;
        Scalars::Array(array.clone()).for_each_scalar(&mut |_| scalars += 1);
        let (mut fixed, mut sum): (Vec<Selection<Address>>, Option<Address>) = (Vec::new(), None);
        for (dimension, selection) in selections.iter().enumerate() {
            let Selection::Open(index) = selection else {
                fixed.push(selection.clone());
                continue;
            };
            fixed.push(Selection::One(0));
            let (index, one) = (self.address(index)?, self.constant(1.0));
            self.check_index(index, array.sizes[dimension])?;
            let behind: usize = array.sizes.get(dimension + 1..).unwrap_or(&[]).iter().product();
            let stride = (behind * scalars / array.elements.len()) as f64;
            let mut term = self.binary(Binary::Sub, index, one)?;
            if stride != 1.0 {
                let stride = self.constant(stride);
                term = self.binary(Binary::Mul, term, stride)?;
            }
            sum = Some(match sum {
                Some(sum) => self.binary(Binary::Add, sum, term)?,
                None => term,
            });
        }
        let sum = sum.ok_or("no subscript")?;
        let selected = dae::arrays::select(self, &Scalars::Array(array.clone()), &fixed)?.into_owned();
        Ok((selected, sum))
    }

    fn check_index(&mut self, index: Address, size: usize) -> Outcome<()> {
        let (one, size) = (self.constant(1.0), self.constant(size as f64));
        let below = self.binary(Binary::Less, index, one)?;
        let above = self.binary(Binary::Less, size, index)?;
        let outside = self.binary(Binary::Or, below, above)?;
        let (nan, zero) = (self.constant(f64::NAN), self.constant(0.0));
        let nothing = self.select(outside, nan, zero)?;
        self.add_doubt(nothing)
    }

    /// The results, with the doubt added.
    pub fn doubtful(&mut self, outputs: Vec<Scalars>) -> Outcome<Vec<Scalars>> {
        let Some(doubt) = self.doubt else { return Ok(outputs) };
        let mut results = Vec::with_capacity(outputs.len());
        for output in outputs {
            results.push(output.try_map(&mut |scalar| -> Outcome<Scalars> {
                let kind = scalar.scalar_kind().unwrap_or(Kind::Real);
                let scalar = self.address(scalar)?;
                Ok(Scalars::Open(self.binary(Binary::Add, scalar, doubt)?, kind))
            })?);
        }
        // At the beginning there is none.
        let a = self.constant(0.0);
        self.code.ops.insert(0, Op::Move { to: doubt, a });
        Ok(results)
    }
}

/// The first address, if the scalars are at consecutive addresses of memory.
fn first_of_row(value: &Scalars) -> Option<Address> {
    let (mut first, mut count, mut is_row) = (None, 0, true);
    value.for_each_scalar(&mut |scalar| match scalar {
        Scalars::Open(address, _) if address & REGION_MASK == 0 => {
            is_row &= *address == *first.get_or_insert(*address) + count;
            count += 1;
        }
        _ => is_row = false,
    });
    first.filter(|_| is_row)
}

impl Domain for Addresses<'_, '_> {
    type Open = Address;

    fn arithmetic(&mut self, op: ArithmeticOp, a: &Scalars, b: &Scalars) -> Outcome<Scalars> {
        let kind = result_kind(op, a, b);
        if kind == Kind::String {
            return Err("texts that are put together at run time".into());
        }
        let function = match op {
            ArithmeticOp::Add => Binary::Add,
            ArithmeticOp::Sub => Binary::Sub,
            ArithmeticOp::Mul => Binary::Mul,
            ArithmeticOp::Div => Binary::Div,
            ArithmeticOp::Pow => match b.as_integer() {
                Some(1) => return Ok(a.clone().coerce(&dae::function::Type::Real)),
                Some(2) => return self.combine(Binary::Mul, a, a, kind),
                Some(3) => {
                    let square = self.combine(Binary::Mul, a, a, kind)?;
                    return self.combine(Binary::Mul, &square, a, kind);
                }
                Some(4) => {
                    let square = self.combine(Binary::Mul, a, a, kind)?;
                    return self.combine(Binary::Mul, &square, &square, kind);
                }
                _ => Binary::Pow,
            },
        };
        let value = self.combine(function, a, b, kind)?;
        if kind == Kind::Integer { self.exact(value) } else { Ok(value) }
    }

    fn negate(&mut self, a: &Scalars) -> Outcome<Scalars> {
        let kind = a.scalar_kind().unwrap_or(Kind::Real);
        let a = self.address(a)?;
        Ok(Scalars::Open(self.unary(Unary::Neg, a)?, kind))
    }

    fn not(&mut self, a: &Scalars) -> Outcome<Scalars> {
        let a = self.address(a)?;
        Ok(Scalars::Open(self.opposite(a)?, Kind::Boolean))
    }

    fn and(&mut self, a: &Scalars, b: &Scalars) -> Outcome<Scalars> {
        let (a, b) = (self.address(a)?, self.address(b)?);
        Ok(Scalars::Open(self.defined_and(a, b)?, Kind::Boolean))
    }

    fn or(&mut self, a: &Scalars, b: &Scalars) -> Outcome<Scalars> {
        let (a, b) = (self.address(a)?, self.address(b)?);
        let (a, b) = (self.opposite(a)?, self.opposite(b)?);
        let neither = self.defined_and(a, b)?;
        Ok(Scalars::Open(self.opposite(neither)?, Kind::Boolean))
    }

    fn compare(&mut self, op: CompareOp, a: &Scalars, b: &Scalars) -> Outcome<Scalars> {
        let is_text = |value: &Scalars| value.scalar_kind() == Some(Kind::String);
        if (is_text(a) || is_text(b)) && !matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            return Err("an order of texts".into());
        }
        let (function, swapped) = comparison(op);
        let (first, second) = if swapped { (b, a) } else { (a, b) };
        let (first, second) = (self.address(first)?, self.address(second)?);
        let holds = self.binary(function, first, second)?;
        Ok(Scalars::Open(self.defined(holds, &[a, b])?, Kind::Boolean))
    }

    fn builtin(&mut self, op: Builtin, arguments: &[Scalars]) -> Outcome<Scalars> {
        // Functions do not make events.
        let op = match op {
            Builtin::FloorEvent => Builtin::Floor,
            Builtin::CeilEvent => Builtin::Ceil,
            Builtin::DivEvent => Builtin::Div,
            Builtin::ModEvent => Builtin::Mod,
            Builtin::RemEvent => Builtin::Rem,
            other => other,
        };
        let kind = builtin_kind(op, arguments);
        match (op, arguments) {
            (Builtin::Homotopy, [actual, _]) => Ok(actual.clone()),
            (Builtin::Atan2, [x, y]) => self.combine(Binary::Atan2, x, y, kind),
            (Builtin::Min | Builtin::Max, [x, y]) => {
                let function = if op == Builtin::Min { Binary::Min } else { Binary::Max };
                let (a, b) = (self.address(x)?, self.address(y)?);
                let value = self.binary(function, a, b)?;
                Ok(Scalars::Open(self.defined(value, &[x, y])?, kind))
            }
            (Builtin::Div | Builtin::Mod | Builtin::Rem, [x, y]) => self.quotient(op, x, y, kind),
            (_, [x]) => {
                let function = unary(op).ok_or_else(|| format!("{op:?} in a function"))?;
                let a = self.address(x)?;
                let mut value = self.unary(function, a)?;
                if function == Unary::Sign {
                    // The sign of what is undefined is not zero.
                    value = self.defined(value, &[x])?;
                }
                Ok(Scalars::Open(value, kind))
            }
            _ => Err(format!("{op:?} in a function")),
        }
    }

    fn convert(&mut self, function: ArrayFunction, arguments: &[Scalars]) -> Outcome<Scalars> {
        match (function, arguments) {
            (ArrayFunction::Integer, [x]) if x.scalar_kind() == Some(Kind::Real) => {
                let a = self.address(x)?;
                let floor = Scalars::Open(self.unary(Unary::Floor, a)?, Kind::Integer);
                self.exact(floor)
            }
            (ArrayFunction::Integer, [x]) => Ok(Scalars::Open(self.address(x)?, Kind::Integer)),
            (ArrayFunction::Enumeration, [x, Scalars::Integer(literals)]) => {
                let ordinal = self.address(x)?;
                self.check_index(ordinal, usize::try_from(*literals).unwrap_or(0))?;
                Ok(Scalars::Open(ordinal, Kind::Enumeration))
            }
            _ => Err(format!("{function:?} on what is known only at run time")),
        }
    }

    fn begin_branch(&mut self, condition: &Scalars) -> Outcome<()> {
        let condition = self.address(condition)?;
        self.decide(condition)?;
        let before = std::mem::take(&mut self.code.ops);
        self.branches.push(OpenBranch { condition, before, then: Vec::new() });
        Ok(())
    }

    fn begin_otherwise(&mut self) -> Outcome<()> {
        let branch = self.branches.last_mut().ok_or("there is no branch")?;
        branch.then = std::mem::take(&mut self.code.ops);
        Ok(())
    }

    fn join(&mut self, then: &Scalars, otherwise: &Scalars) -> Outcome<Scalars> {
        let kind = joined_kind(then, otherwise);
        let to = self.temporaries(1);
        let a = self.address(then)?;
        self.operations += 1;
        self.branches.last_mut().ok_or("there is no branch")?.then.push(Op::Move { to, a });
        self.write(to, otherwise)?;
        Ok(Scalars::Open(to, kind))
    }

    fn end_branch(&mut self) -> Outcome<()> {
        let OpenBranch { condition, before, then } = self.branches.pop().ok_or("there is no branch")?;
        let otherwise = std::mem::replace(&mut self.code.ops, before);
        if then.is_empty() && otherwise.is_empty() {
            return Ok(());
        }
        self.push(Op::If { condition, otherwise: 0 })?;
        self.code.ops.extend(then);
        self.push(Op::Else { end: 0 })?;
        self.code.ops.extend(otherwise);
        self.push(Op::EndIf)
    }

    fn keeps_loop(&self, turns: Option<usize>, weight: usize) -> bool {
        turns.is_none_or(|turns| turns > 2 && turns.saturating_mul(weight) > UNROLLED)
    }

    fn carry(&mut self, value: &Scalars) -> Outcome<Scalars> {
        let place = match value {
            Scalars::Array(_) | Scalars::Record(_) => self.at_cells(value)?.0,
            scalar => {
                let kind = scalar.scalar_kind().ok_or("a function as a variable")?;
                let to = self.temporaries(1);
                self.write(to, scalar)?;
                Scalars::Open(to, kind)
            }
        };
        place.for_each_scalar(&mut |scalar| {
            if let Scalars::Open(address, _) = scalar {
                self.places.insert(*address);
            }
        });
        Ok(place)
    }

    fn settle(&mut self, value: &Scalars) -> Outcome<Scalars> {
        match first_of_row(value) {
            Some(_) => Ok(value.clone()),
            None => Ok(self.at_cells(value)?.0),
        }
    }

    fn begin_loop(&mut self) -> Outcome<()> {
        self.push(Op::Loop)
    }

    fn leave_unless(&mut self, condition: &Scalars) -> Outcome<()> {
        match condition {
            Scalars::Boolean(false) => return self.push(Op::Exit { levels: 1, target: 0 }),
            Scalars::Boolean(true) => {}
            open => {
                let condition = self.address(open)?;
                self.decide(condition)?;
            }
        }
        // What is undefined, and a failure, ends the loop.
        let (doubt, one) = (self.doubt(), self.constant(1.0));
        let condition = self.address(condition)?;
        let condition = self.binary(Binary::Add, condition, doubt)?;
        let condition = self.binary(Binary::Equal, condition, one)?;
        self.push(Op::If { condition, otherwise: 0 })?;
        self.push(Op::Else { end: 0 })?;
        self.push(Op::Exit { levels: 1, target: 0 })?;
        self.push(Op::EndIf)
    }

    fn update(&mut self, place: &Scalars, value: &Scalars) -> Outcome<()> {
        if place == value {
            return Ok(());
        }
        if place.shape() != value.shape() {
            return Err("a variable changes its size in a loop".into());
        }
        let (mut places, mut scalars) = (Vec::new(), Vec::new());
        place.clone().flatten_into(&mut places);
        value.clone().flatten_into(&mut scalars);
        for (place, scalar) in places.iter().zip(&scalars) {
            let to = self.address(place)?;
            self.write(to, scalar)?;
        }
        Ok(())
    }

    fn end_loop(&mut self) -> Outcome<()> {
        let failed = self.doubt();
        self.push(Op::EndLoop { start: 0, failed })
    }

    fn detach(&mut self, value: Scalars) -> Outcome<Scalars> {
        value.try_map(&mut |scalar| match scalar {
            Scalars::Open(a, kind) if self.places.contains(a) => {
                let to = self.temporaries(1);
                self.push(Op::Move { to, a: *a })?;
                Ok(Scalars::Open(to, *kind))
            }
            other => Ok(other.clone()),
        })
    }

    fn set(&mut self, place: &mut Scalars, value: Scalars) -> Outcome<()> {
        match place {
            Scalars::Open(to, _) if self.places.contains(to) => {
                let to = *to;
                self.write(to, &value)
            }
            place => {
                *place = self.detach(value)?;
                Ok(())
            }
        }
    }

    fn load(&mut self, array: &Array<Address>, selections: &[Selection<Address>]) -> Outcome<Scalars> {
        let (array, first) = self.consecutive(array)?;
        let (selected, index) = self.offset(&array, selections)?;
        let mut count = 0;
        Scalars::Array(array).for_each_scalar(&mut |_| count += 1);
        selected.try_map(&mut |scalar| match scalar {
            Scalars::Open(base, kind) => {
                let to = self.temporaries(1);
                self.push(Op::LoadAt { to, base: *base, index, length: first + count - base })?;
                Ok(Scalars::Open(to, *kind))
            }
            _ => Err("an address is expected".into()),
        })
    }

    fn store(&mut self, array: &mut Array<Address>, selections: &[Selection<Address>], value: Scalars) -> Outcome<()> {
        let whole = Scalars::Array(array.clone());
        let mut owned = true;
        whole.for_each_scalar(&mut |scalar| owned &= matches!(scalar, Scalars::Open(a, _) if self.places.contains(a)));
        if first_of_row(&whole).is_none() || !owned {
            let Scalars::Array(place) = self.carry(&whole)? else { return Err("an array is expected".into()) };
            *array = place;
        }
        let (selected, index) = self.offset(array, selections)?;
        if selected.shape() != value.shape() {
            return Err("a value of another size is assigned".into());
        }
        let (mut places, mut scalars, mut all) = (Vec::new(), Vec::new(), Vec::new());
        selected.flatten_into(&mut places);
        // What is read from the array is read before it is written.
        self.detach(value)?.flatten_into(&mut scalars);
        Scalars::Array(array.clone()).flatten_into(&mut all);
        let end = match all.last() {
            Some(Scalars::Open(last, _)) => last + 1,
            _ => return Err("an address is expected".into()),
        };
        for (place, scalar) in places.iter().zip(&scalars) {
            let (base, a) = (self.address(place)?, self.address(scalar)?);
            self.push(Op::StoreAt { base, index, length: end - base, a })?;
        }
        Ok(())
    }

    fn require(&mut self, holds: &Scalars) -> Outcome<()> {
        let nan = self.constant(f64::NAN);
        match holds {
            Scalars::Boolean(true) => Ok(()),
            Scalars::Boolean(false) => self.add_doubt(nan),
            open => {
                let (condition, zero) = (self.address(open)?, self.constant(0.0));
                self.decide(condition)?;
                let nothing = self.select(condition, zero, nan)?;
                self.add_doubt(nothing)
            }
        }
    }

    fn call(&mut self, functions: &Functions, id: FunctionId, arguments: &[Scalars]) -> Outcome<Option<Vec<Scalars>>> {
        self.called(functions, id, arguments)
    }
}
