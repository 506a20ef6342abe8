//! Expressions of functions as code: what is known is computed, the rest becomes operations.

use dae::arrays::{self, Selection};
use dae::function::{ArithmeticOp, ArrayFunction, Expr, LocalId, ReductionOp, Subscript, Type};
use dae::value::Array;
use dae::{Builtin, CompareOp, Value};

use super::values::{is_known, known_integer, leaves, map_leaves, parts, position, replace_scalars};
use super::{INDEXED, Indexed, Made, Maker};
use crate::code::{Address, Op, REGION_MASK};
use crate::lower::unary;
use crate::math::{Binary, Unary, comparison};

impl Maker<'_, '_> {
    pub(super) fn eval_all(&mut self, exprs: &[Expr]) -> Made<Vec<Value>> {
        exprs.iter().map(|expr| self.eval(expr)).collect()
    }

    pub(super) fn eval(&mut self, expr: &Expr) -> Made {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.eval_inner(expr))
    }

    fn eval_inner(&mut self, expr: &Expr) -> Made {
        match expr {
            Expr::Real(value) => Ok(Value::Real(*value)),
            Expr::Integer(value) => Ok(Value::Integer(*value)),
            Expr::Boolean(value) => Ok(Value::Boolean(*value)),
            Expr::String(text) => Ok(Value::String(text.clone())),
            Expr::Enumeration(_, ordinal) => Ok(Value::Enumeration(*ordinal)),
            Expr::Local(local) => self.local(*local),
            Expr::Index(array, subscripts) => {
                let array = self.eval(array)?;
                let selected = self.select(&array, subscripts, false)?;
                self.load(selected)
            }
            Expr::Field(record, index) => {
                let record = self.eval(record)?;
                Ok(arrays::field(&record, *index)?.into_owned())
            }
            Expr::Neg(a) => {
                let a = self.eval(a)?;
                self.map(a, &mut |this, x| match is_known(x) {
                    true => Ok(arrays::negate(x.clone())?),
                    false => this.unary(Unary::Neg, x),
                })
            }
            Expr::Not(a) => {
                let a = self.eval(a)?;
                self.map(a, &mut |this, x| match is_known(x) {
                    true => Ok(arrays::not(x.clone())?),
                    false => this.defined_not(x),
                })
            }
            Expr::Arithmetic(op, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                self.arithmetic(*op, a, b)
            }
            Expr::Elementwise(op, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                self.elementwise(a, b, &mut |this, x, y| this.scalar(*op, x, y))
            }
            Expr::And(a, b) => self.logic(Binary::And, a, b),
            Expr::Or(a, b) => self.logic(Binary::Or, a, b),
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                self.compare(*op, a, b)
            }
            Expr::If(condition, then, otherwise) => self.choice(condition, then, otherwise),
            Expr::Array(items) => {
                let items = self.eval_all(items)?;
                Value::from_parts(items).ok_or_else(|| "elements of different sizes".into())
            }
            Expr::Range(start, step, stop) => {
                let start = self.eval(start)?;
                let step = step.as_ref().map(|step| self.eval(step)).transpose()?;
                let stop = self.eval(stop)?;
                if !is_known(&start) || !is_known(&stop) || step.as_ref().is_some_and(|step| !is_known(step)) {
                    return Err("a range has bounds known only at run time".into());
                }
                Ok(arrays::range(&start, step.as_ref(), &stop)?)
            }
            Expr::ArrayFor { element, iterators } => {
                let mut values = Vec::new();
                let counts = self.iterate(element, iterators, &mut values)?;
                Value::from_rounds(values, counts).ok_or_else(|| "elements of different sizes".into())
            }
            Expr::Reduction { op, element, iterators } => {
                let mut values = Vec::new();
                self.iterate(element, iterators, &mut values)?;
                self.reduce(*op, values)
            }
            Expr::Record(record, fields) => {
                Ok(Value::Record(self.eval_all(fields)?).coerce(&Type::Record(record.clone())))
            }
            Expr::Builtin(op, arguments) => {
                let arguments = self.eval_all(arguments)?;
                self.builtin(*op, arguments)
            }
            Expr::Whole(function, arguments) => {
                let arguments = self.eval_all(arguments)?;
                self.whole(*function, arguments)
            }
            Expr::Call(..) | Expr::CallLocal(..) => {
                let outputs = self.eval_several(expr)?;
                outputs.into_iter().next().ok_or_else(|| "a function without output is a value".into())
            }
            Expr::FunctionValue(function, given) => {
                let mut values = Vec::with_capacity(given.len());
                for (position, expr) in given {
                    values.push((*position, self.eval(expr)?));
                }
                Ok(Value::Function { function: *function, given: values })
            }
            Expr::LocalValue(local, given) => {
                let mut more = Vec::with_capacity(given.len());
                for (position, expr) in given {
                    more.push((*position, self.eval(expr)?));
                }
                let Value::Function { function, given } = self.local(*local)? else {
                    return Err("inputs are given to what is no function".into());
                };
                let inputs = self.special.functions.get(function).map_or(0, |function| function.inputs.len());
                Ok(Value::Function { function, given: dae::function::give(inputs, given, more) })
            }
            Expr::Vectorized { function, arguments, over } => {
                let arguments = self.eval_all(arguments)?;
                self.vectorized(*function, &arguments, over)
            }
        }
    }

    pub(super) fn eval_several(&mut self, expr: &Expr) -> Made<Vec<Value>> {
        match expr {
            Expr::Call(function, arguments) => {
                let arguments = self.eval_all(arguments)?;
                self.call(*function, arguments)
            }
            Expr::CallLocal(local, arguments) => {
                let free = self.eval_all(arguments)?;
                let Value::Function { function, given } = self.local(*local)? else {
                    return Err("what is called is no function".into());
                };
                let inputs = self.special.functions.get(function).map_or(0, |function| function.inputs.len());
                let mut free = free.into_iter();
                let mut all = Vec::new();
                for position in 0..inputs {
                    match given.iter().find(|(k, _)| *k as usize == position) {
                        Some((_, value)) => all.push(value.clone()),
                        None => all.extend(free.next()),
                    }
                }
                self.call(function, all)
            }
            other => Ok(vec![self.eval(other)?]),
        }
    }

    /// Selected elements; with `place` those of a variable, to be written.
    pub(super) fn select(&mut self, value: &Value, subscripts: &[Subscript], place: bool) -> Made {
        let Value::Array(array) = value else { return Err("a subscript of what is no array".into()) };
        let mut selections = Vec::with_capacity(subscripts.len());
        let mut computed: Vec<(usize, Address)> = Vec::new();
        for (dimension, subscript) in subscripts.iter().enumerate() {
            selections.push(match subscript {
                Subscript::All => Selection::All,
                Subscript::Expr(expr) => match self.eval(expr)? {
                    Value::Array(indices) => {
                        Selection::Many(indices.elements.iter().map(position).collect::<Made<_>>()?)
                    }
                    index if is_known(&index) => Selection::One(position(&index)?),
                    index => {
                        computed.push((dimension, self.address(&index)?));
                        Selection::One(0)
                    }
                },
            });
        }
        if computed.is_empty() {
            return Ok(arrays::select(value, &selections)?.into_owned());
        }
        if array.elements.is_empty() || array.sizes.contains(&0) {
            return Err("an element of an empty array".into());
        }
        let (array, first, count) = self.consecutive(array, place)?;
        let mut sum: Option<Address> = None;
        for (dimension, index) in computed {
            let behind: usize = array.sizes.get(dimension + 1..).unwrap_or(&[]).iter().product();
            let stride = (behind * count / array.elements.len()) as f64;
            let one = self.special.pool.constants.address(1.0);
            let mut term = self.binary(Binary::Sub, index, one)?;
            if stride != 1.0 {
                let stride = self.special.pool.constants.address(stride);
                term = self.binary(Binary::Mul, term, stride)?;
            }
            sum = Some(match sum {
                Some(sum) => self.binary(Binary::Add, sum, term)?,
                None => term,
            });
        }
        let Some(index) = sum else { return Err("no subscript".into()) };
        let selected = arrays::select(&Value::Array(array), &selections)?.into_owned();
        let end = first + count as u32;
        Ok(map_leaves(selected, &mut |leaf| {
            let base = leaf as Address;
            self.indexed.push(Indexed { base, index, length: end - base });
            INDEXED | (self.indexed.len() as u64 - 1)
        }))
    }

    /// The array with its scalars at consecutive addresses, their start and number.
    pub(super) fn consecutive(&mut self, array: &Array, place: bool) -> Made<(Array, Address, usize)> {
        let mut scalars = Vec::new();
        Value::Array(array.clone()).flatten_into(&mut scalars);
        let count = scalars.len();
        if let Some(Value::Object(first)) = scalars.first() {
            let first = *first;
            let is_row = first & INDEXED == 0
                && (first as Address) & REGION_MASK == 0
                && scalars.iter().enumerate().all(|(k, scalar)| *scalar == Value::Object(first + k as u64));
            if is_row {
                return Ok((array.clone(), first as Address, count));
            }
        }
        if place {
            return Err("a computed subscript into a part of a variable".into());
        }
        let first = self.special.cells(count as u32);
        for (to, scalar) in (first..).zip(&scalars) {
            let a = self.address(scalar)?;
            self.push(Op::Move { to, a })?;
        }
        let mut next = u64::from(first);
        let copy = replace_scalars(&Value::Array(array.clone()), &mut || {
            next += 1;
            Value::Object(next - 1)
        })?;
        match copy {
            Value::Array(array) => Ok((array, first, count)),
            _ => Err("an array is expected".into()),
        }
    }

    /// Reads what computed subscripts select.
    fn load(&mut self, value: Value) -> Made {
        let mut found = Vec::new();
        leaves(&value, &mut found);
        let mut loaded = Vec::with_capacity(found.len());
        for leaf in found {
            loaded.push(match leaf & INDEXED {
                0 => leaf,
                _ => u64::from(self.address(&Value::Object(leaf))?),
            });
        }
        let mut loaded = loaded.into_iter();
        Ok(map_leaves(value, &mut |leaf| loaded.next().unwrap_or(leaf)))
    }

    pub(super) fn map(&mut self, value: Value, f: &mut dyn FnMut(&mut Self, &Value) -> Made) -> Made {
        match value {
            Value::Array(array) => {
                let elements = array.elements.iter().map(|element| f(self, element)).collect::<Made<Vec<_>>>()?;
                Ok(Value::array(array.sizes, elements))
            }
            scalar => f(self, &scalar),
        }
    }

    fn elementwise(&mut self, a: Value, b: Value, f: &mut dyn FnMut(&mut Self, &Value, &Value) -> Made) -> Made {
        match (a, b) {
            (Value::Array(a), Value::Array(b)) => {
                if a.sizes != b.sizes {
                    return Err("sizes do not agree".into());
                }
                let pairs = a.elements.iter().zip(&b.elements);
                let elements = pairs.map(|(x, y)| f(self, x, y)).collect::<Made<Vec<_>>>()?;
                Ok(Value::array(a.sizes, elements))
            }
            (Value::Array(a), b) => {
                let elements = a.elements.iter().map(|x| f(self, x, &b)).collect::<Made<Vec<_>>>()?;
                Ok(Value::array(a.sizes, elements))
            }
            (a, Value::Array(b)) => {
                let elements = b.elements.iter().map(|y| f(self, &a, y)).collect::<Made<Vec<_>>>()?;
                Ok(Value::array(b.sizes, elements))
            }
            (a, b) => f(self, &a, &b),
        }
    }

    pub(super) fn scalar(&mut self, op: ArithmeticOp, a: &Value, b: &Value) -> Made {
        if is_known(a) && is_known(b) {
            return Ok(arrays::scalar_arithmetic(op, a, b).unwrap_or(Value::Real(f64::NAN)));
        }
        let function = match op {
            ArithmeticOp::Add => Binary::Add,
            ArithmeticOp::Sub => Binary::Sub,
            ArithmeticOp::Mul => Binary::Mul,
            ArithmeticOp::Div => Binary::Div,
            ArithmeticOp::Pow => match b.as_integer().filter(|_| is_known(b)) {
                Some(1) => return Ok(a.clone()),
                Some(2) => return self.combine(Binary::Mul, a, a),
                Some(3) => {
                    let square = self.combine(Binary::Mul, a, a)?;
                    return self.combine(Binary::Mul, &square, a);
                }
                Some(4) => {
                    let square = self.combine(Binary::Mul, a, a)?;
                    return self.combine(Binary::Mul, &square, &square);
                }
                _ => Binary::Pow,
            },
        };
        self.combine(function, a, b)
    }

    pub(super) fn arithmetic(&mut self, op: ArithmeticOp, a: Value, b: Value) -> Made {
        match (op, &a, &b) {
            (ArithmeticOp::Mul, Value::Array(x), Value::Array(y)) => self.product(x, y),
            (ArithmeticOp::Pow, Value::Array(_), _) => Err("a power of a matrix".into()),
            _ => self.elementwise(a, b, &mut |this, x, y| this.scalar(op, x, y)),
        }
    }

    fn dot<'v>(&mut self, pairs: impl Iterator<Item = (&'v Value, &'v Value)>) -> Made {
        let mut sum: Option<Value> = None;
        for (x, y) in pairs {
            let term = self.scalar(ArithmeticOp::Mul, x, y)?;
            sum = Some(match sum {
                Some(sum) => self.scalar(ArithmeticOp::Add, &sum, &term)?,
                None => term,
            });
        }
        Ok(sum.unwrap_or(Value::Real(0.0)))
    }

    pub(super) fn product(&mut self, a: &Array, b: &Array) -> Made {
        let (rows, inner) = match *a.sizes.as_slice() {
            [n] => (1, n),
            [rows, n] => (rows, n),
            _ => return Err("a product of arrays with more than two dimensions".into()),
        };
        let (other, columns) = match *b.sizes.as_slice() {
            [m] => (m, 1),
            [m, columns] => (m, columns),
            _ => return Err("a product of arrays with more than two dimensions".into()),
        };
        if inner != other {
            return Err("sizes do not agree".into());
        }
        let mut elements = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let left = a.elements[row * inner..(row + 1) * inner].iter();
                elements.push(self.dot(left.zip(b.elements.iter().skip(column).step_by(columns.max(1))))?);
            }
        }
        let sizes = match (a.sizes.len(), b.sizes.len()) {
            (1, 1) => return elements.pop().ok_or_else(|| "nothing".into()),
            (1, _) => vec![columns],
            (_, 1) => vec![rows],
            _ => vec![rows, columns],
        };
        Ok(Value::array(sizes, elements))
    }

    fn logic(&mut self, function: Binary, a: &Expr, b: &Expr) -> Made {
        let a = self.eval(a)?;
        let decides = function == Binary::Or;
        match a {
            Value::Boolean(value) if value == decides => return Ok(Value::Boolean(decides)),
            Value::Boolean(_) => return self.eval(b),
            _ => {}
        }
        let b = self.eval(b)?;
        self.elementwise(a, b, &mut |this, x, y| match decides {
            true => this.defined_or(x, y),
            false => this.defined_and(x, y),
        })
    }

    fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Made {
        if is_known(&a) && is_known(&b) {
            return arrays::compare(op, &a, &b);
        }
        let is_text = |value: &Value| matches!(value, Value::String(_));
        if (is_text(&a) || is_text(&b)) && !matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            return Err("an order of texts".into());
        }
        let (function, swapped) = comparison(op);
        let holds = if swapped { self.combine(function, &b, &a)? } else { self.combine(function, &a, &b)? };
        self.defined(holds, &[&a, &b])
    }

    fn choice(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Made {
        let condition = match self.eval(condition)? {
            Value::Boolean(true) => return self.eval(then),
            Value::Boolean(false) => return self.eval(otherwise),
            condition => self.address(&condition)?,
        };
        self.decide(condition)?;
        self.push(Op::If { condition, otherwise: 0 })?;
        let first = self.eval(then)?;
        let mut scalars = Vec::new();
        first.clone().flatten_into(&mut scalars);
        let results = self.temporaries(scalars.len() as u32);
        for (to, scalar) in (results..).zip(&scalars) {
            let a = self.address(scalar)?;
            self.push(Op::Move { to, a })?;
        }
        self.push(Op::Else { end: 0 })?;
        let second = self.eval(otherwise)?;
        if first.shape() != second.shape() {
            return Err("branches of different sizes".into());
        }
        let mut scalars = Vec::new();
        second.flatten_into(&mut scalars);
        for (to, scalar) in (results..).zip(&scalars) {
            let a = self.address(scalar)?;
            self.push(Op::Move { to, a })?;
        }
        self.push(Op::EndIf)?;
        let mut next = u64::from(results);
        replace_scalars(&first, &mut || {
            next += 1;
            Value::Object(next - 1)
        })
    }

    fn iterate(&mut self, element: &Expr, iterators: &[(LocalId, Expr)], values: &mut Vec<Value>) -> Made<Vec<usize>> {
        let Some(((iterator, range), faster)) = iterators.split_last() else {
            values.push(self.eval(element)?);
            return Ok(Vec::new());
        };
        let items = parts(self.eval(range)?);
        let count = items.len();
        let mut inner = vec![0; faster.len()];
        for item in items {
            self.locals[*iterator] = Some(item);
            inner = self.iterate(element, faster, values)?;
        }
        inner.push(count);
        Ok(inner)
    }

    fn reduce(&mut self, op: ReductionOp, values: Vec<Value>) -> Made {
        if values.iter().all(is_known) {
            return arrays::reduce(op, values.into_iter());
        }
        let mut result: Option<Value> = None;
        for value in values {
            result = Some(match (result, op) {
                (None, _) => value,
                (Some(left), ReductionOp::Product) => self.arithmetic(ArithmeticOp::Mul, left, value)?,
                (Some(left), ReductionOp::Sum) => {
                    self.elementwise(left, value, &mut |this, x, y| this.scalar(ArithmeticOp::Add, x, y))?
                }
                (Some(left), ReductionOp::Min) => {
                    self.elementwise(left, value, &mut |this, x, y| this.extreme(Binary::Min, x, y))?
                }
                (Some(left), ReductionOp::Max) => {
                    self.elementwise(left, value, &mut |this, x, y| this.extreme(Binary::Max, x, y))?
                }
            });
        }
        result.ok_or_else(|| "nothing to reduce".into())
    }

    pub(super) fn builtin(&mut self, op: Builtin, arguments: Vec<Value>) -> Made {
        if arguments.iter().all(is_known) {
            return arrays::builtin(op, arguments);
        }
        // Functions do not make events.
        let op = match op {
            Builtin::FloorEvent => Builtin::Floor,
            Builtin::CeilEvent => Builtin::Ceil,
            Builtin::DivEvent => Builtin::Div,
            Builtin::ModEvent => Builtin::Mod,
            Builtin::RemEvent => Builtin::Rem,
            other => other,
        };
        let mut arguments = arguments.into_iter();
        match (unary(op), arguments.next(), arguments.next(), arguments.next()) {
            (Some(function), Some(a), None, None) => self.map(a, &mut |this, x| match is_known(x) {
                true => Ok(arrays::builtin(op, vec![x.clone()])?),
                // The sign of what is undefined is not zero.
                false if function == Unary::Sign => {
                    let sign = this.unary(function, x)?;
                    this.defined(sign, &[x])
                }
                false => this.unary(function, x),
            }),
            (None, Some(a), Some(b), None) => self.elementwise(a, b, &mut |this, x, y| this.pair(op, x, y)),
            (None, Some(actual), ..) if op == Builtin::Homotopy => Ok(actual),
            _ => Err(format!("{op:?} in a function")),
        }
    }

    fn pair(&mut self, op: Builtin, x: &Value, y: &Value) -> Made {
        if is_known(x) && is_known(y) {
            return arrays::builtin(op, vec![x.clone(), y.clone()]);
        }
        let rounding = match op {
            Builtin::Atan2 => return self.combine(Binary::Atan2, x, y),
            Builtin::Min => return self.extreme(Binary::Min, x, y),
            Builtin::Max => return self.extreme(Binary::Max, x, y),
            Builtin::Homotopy => return Ok(x.clone()),
            Builtin::Div | Builtin::Rem => Unary::Truncate,
            Builtin::Mod => Unary::Floor,
            _ => return Err(format!("{op:?} in a function")),
        };
        let quotient = self.combine(Binary::Div, x, y)?;
        let rounded = self.unary(rounding, &quotient)?;
        if op == Builtin::Div {
            return Ok(rounded);
        }
        let product = self.combine(Binary::Mul, &rounded, y)?;
        self.combine(Binary::Sub, x, &product)
    }

    pub(super) fn whole(&mut self, function: ArrayFunction, arguments: Vec<Value>) -> Made {
        use ArrayFunction as F;
        let moves_only = matches!(
            function,
            F::Size
                | F::Ndims
                | F::Scalar
                | F::Vector
                | F::Matrix
                | F::Diagonal
                | F::Fill
                | F::Transpose
                | F::Symmetric
                | F::Cat
                | F::Promote
        );
        if arguments.iter().all(is_known) {
            return arrays::whole(function, arguments);
        }
        if moves_only {
            // Sizes and dimensions must be known; only elements may be addresses.
            let structural: &[Value] = match function {
                F::Fill => arguments.get(1..).unwrap_or(&[]),
                F::Cat => arguments.get(..1).unwrap_or(&[]),
                F::Promote | F::Size => arguments.get(1..).unwrap_or(&[]),
                _ => &[],
            };
            return match structural.iter().all(is_known) {
                true => Ok(arrays::whole(function, arguments)?),
                false => Err("a size known only at run time".into()),
            };
        }
        match (function, arguments.as_slice()) {
            (F::Min | F::Max, [a, b]) => {
                let op = if function == F::Min { Binary::Min } else { Binary::Max };
                self.extreme(op, a, b)
            }
            (F::Min | F::Max | F::Sum | F::Product, [Value::Array(array)]) => {
                let op = match function {
                    F::Min => ReductionOp::Min,
                    F::Max => ReductionOp::Max,
                    F::Sum => ReductionOp::Sum,
                    _ => ReductionOp::Product,
                };
                self.reduce(op, array.elements.clone())
            }
            (F::OuterProduct, [Value::Array(a), Value::Array(b)]) => {
                let mut elements = Vec::with_capacity(a.elements.len() * b.elements.len());
                for x in &a.elements {
                    for y in &b.elements {
                        elements.push(self.scalar(ArithmeticOp::Mul, x, y)?);
                    }
                }
                Ok(Value::array(vec![a.elements.len(), b.elements.len()], elements))
            }
            (F::Cross, [Value::Array(a), Value::Array(b)]) if a.sizes == [3] && b.sizes == [3] => {
                let (x, y) = (&a.elements, &b.elements);
                let mut elements = Vec::with_capacity(3);
                for (i, j) in [(1, 2), (2, 0), (0, 1)] {
                    let left = self.scalar(ArithmeticOp::Mul, &x[i], &y[j])?;
                    let right = self.scalar(ArithmeticOp::Mul, &x[j], &y[i])?;
                    elements.push(self.scalar(ArithmeticOp::Sub, &left, &right)?);
                }
                Ok(Value::array(vec![3], elements))
            }
            (F::Skew, [Value::Array(a)]) if a.sizes == [3] => {
                let minus = a.elements.iter().map(|x| match is_known(x) {
                    true => Ok(arrays::negate(x.clone())?),
                    false => self.unary(Unary::Neg, x),
                });
                let minus = minus.collect::<Made<Vec<_>>>()?;
                let (x, zero) = (&a.elements, Value::Real(0.0));
                let rows = [[&zero, &minus[2], &x[1]], [&x[2], &zero, &minus[0]], [&minus[1], &x[0], &zero]];
                Ok(Value::array(vec![3, 3], rows.into_iter().flatten().cloned().collect()))
            }
            (F::Linspace, [first, last, count]) if is_known(count) => {
                let count = known_integer(count)?.max(2) as usize;
                let width = self.scalar(ArithmeticOp::Sub, last, first)?;
                let mut elements = Vec::with_capacity(count);
                for k in 0..count {
                    let part = self.scalar(ArithmeticOp::Mul, &width, &Value::Real(k as f64))?;
                    let part = self.scalar(ArithmeticOp::Div, &part, &Value::Real((count - 1) as f64))?;
                    elements.push(self.scalar(ArithmeticOp::Add, first, &part)?);
                }
                elements[count - 1] = last.clone();
                Ok(Value::array(vec![count], elements))
            }
            (F::Integer, [a]) => self.map(a.clone(), &mut |this, x| match is_known(x) {
                true => Ok(arrays::whole(F::Integer, vec![x.clone()])?),
                false => this.unary(Unary::Floor, x),
            }),
            (F::Enumeration, [a]) => Ok(a.clone()),
            _ => Err(format!("{function:?} on what is known only at run time")),
        }
    }
}
