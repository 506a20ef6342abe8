//! Random array expressions of a given shape, each as text and as a function of its leaves.

use std::collections::BTreeMap;
use std::rc::Rc;

use fastrand::Rng;

use super::tensor::Tensor;

/// Variables and iterators by name.
pub type Environment = BTreeMap<String, Tensor>;

/// `@` stands before each variable in the text.
pub type Expression = (String, Rc<dyn Fn(&Environment) -> Tensor>);

/// The variables of an expression and their sizes.
pub const LEAVES: &[(&str, &[usize])] = &[
    ("s", &[]),
    ("e", &[0]),
    ("v", &[2]),
    ("u", &[3]),
    ("A", &[2, 3]),
    ("B", &[3, 2]),
    ("C", &[2, 2]),
    ("D", &[3, 3]),
    ("F", &[0, 3]),
    ("G", &[2, 2, 3]),
];

/// The name of an iterator, and its largest value if it counts from 1.
type Counter = (String, Option<usize>);

pub struct ExpressionGenerator<'r> {
    pub rng: &'r mut Rng,
    /// Iterators around, with the largest value of those that count from 1.
    iterators: Vec<Counter>,
    names: usize,
}

impl<'r> ExpressionGenerator<'r> {
    pub fn new(rng: &'r mut Rng) -> Self {
        Self { rng, iterators: Vec::new(), names: 0 }
    }

    pub fn of(&mut self, sizes: &[usize], depth: usize) -> Expression {
        if depth == 0 {
            return self.plain(sizes);
        }
        match sizes.len() {
            0 => self.scalar(depth - 1),
            1 => self.vector(sizes[0], depth - 1),
            2 => self.matrix(sizes[0], sizes[1], depth - 1),
            _ => self.cube(sizes, depth - 1),
        }
    }

    /// A leaf, or what is filled with one number.
    fn plain(&mut self, sizes: &[usize]) -> Expression {
        let fitting: Vec<&str> = LEAVES.iter().filter(|(_, found)| *found == sizes).map(|(name, _)| *name).collect();
        if sizes.is_empty() && !self.iterators.is_empty() && self.rng.bool() {
            let name = self.iterators[self.rng.usize(0..self.iterators.len())].0.clone();
            return (name.clone(), Rc::new(move |e| e[&name].clone()));
        }
        if let (Some(&name), true) = (fitting.first(), self.rng.u8(0..4) > 0) {
            return (format!("@{name}"), Rc::new(move |e| e[name].clone()));
        }
        let number = self.rng.i32(-6..=6) as f64 / 2.0;
        let sizes = sizes.to_vec();
        let text = match sizes.is_empty() {
            true => format!("({number})"),
            false => format!("fill({number}, {})", list(&sizes)),
        };
        (text, Rc::new(move |_| Tensor::from_fn(&sizes, |_| number)))
    }

    fn any_sizes(&mut self, smallest: usize) -> Vec<usize> {
        let dimensions = self.rng.usize(1..=3);
        (0..dimensions).map(|_| self.rng.usize(smallest..=3)).collect()
    }

    fn condition(&mut self, depth: usize) -> (String, Rc<dyn Fn(&Environment) -> bool>) {
        let a = self.of(&[], depth);
        (format!("{} > 0.37", a.0), Rc::new(move |e| (a.1)(e).value() > 0.37))
    }

    fn scalar(&mut self, depth: usize) -> Expression {
        match self.rng.u8(0..14) {
            0 => self.element(),
            1 => {
                let sizes = self.any_sizes(0);
                let a = self.of(&sizes, depth);
                match self.rng.bool() {
                    true => apply("sum", a, |a| Tensor::scalar(a.elements.iter().sum())),
                    false => apply("product", a, |a| Tensor::scalar(a.elements.iter().product())),
                }
            }
            2 => {
                let sizes = self.any_sizes(1);
                let a = self.of(&sizes, depth);
                match self.rng.bool() {
                    true => apply("min", a, |a| Tensor::scalar(a.elements.iter().copied().fold(f64::MAX, f64::min))),
                    false => apply("max", a, |a| Tensor::scalar(a.elements.iter().copied().fold(f64::MIN, f64::max))),
                }
            }
            3 => {
                let n = self.rng.usize(1..=3);
                let (a, b) = (self.of(&[n], depth), self.of(&[n], depth));
                infix("*", a, b, Tensor::times)
            }
            4 | 5 => self.elementwise(&[], depth),
            6 => {
                let (name, range) = self.range(0);
                let a = self.inside(&name, |generator| generator.of(&[], depth));
                self.reduction(a, name, range)
            }
            7 => {
                let sizes = self.any_sizes(0);
                let (k, a) = (self.rng.usize(0..sizes.len()), self.of(&sizes, depth));
                let text = format!("size({}, {})", a.0, k + 1);
                (text, Rc::new(move |e| Tensor::scalar((a.1)(e).sizes[k] as f64)))
            }
            8 => {
                let sizes = vec![1; self.rng.usize(1..=3)];
                let a = self.of(&sizes, depth);
                apply("scalar", a, |a| Tensor::scalar(a.value()))
            }
            9 => self.choice(&[], depth),
            10 => {
                let (a, b) = (self.of(&[], depth), self.of(&[], depth));
                let text = format!("max({}, {})", a.0, b.0);
                (text, Rc::new(move |e| (a.1)(e).zip(&(b.1)(e), f64::max)))
            }
            11 => self.of_function(&[], depth),
            12 => {
                let sizes = self.any_sizes(0);
                let a = self.of(&sizes, depth);
                apply("ndims", a, |a| Tensor::scalar(a.sizes.len() as f64))
            }
            _ => self.plain(&[]),
        }
    }

    /// One element of a variable; iterators may be subscripts.
    fn element(&mut self) -> Expression {
        let &(name, sizes) = &LEAVES[[2, 3, 4, 5, 6, 7, 9][self.rng.usize(0..7)]];
        let (mut texts, mut ways) = (Vec::new(), Vec::new());
        for &size in sizes {
            let fits = |(_, largest): &&Counter| largest.is_some_and(|largest| largest <= size);
            let fitting: Vec<String> = self.iterators.iter().filter(fits).map(|(name, _)| name.clone()).collect();
            if !fitting.is_empty() && self.rng.u8(0..3) > 0 {
                let iterator = fitting[self.rng.usize(0..fitting.len())].clone();
                let is_mirrored = self.rng.u8(0..3) == 0;
                texts.push(if is_mirrored { format!("end + 1 - {iterator}") } else { iterator.clone() });
                ways.push((0, Some((iterator, is_mirrored.then_some(size)))));
            } else {
                let at = self.rng.usize(0..size);
                texts.push(self.position(at, size));
                ways.push((at, None));
            }
        }
        let value = move |e: &Environment| {
            let at = |(at, iterator): &(usize, Option<Counter>)| match iterator {
                None => *at,
                Some((name, None)) => e[name].value() as usize - 1,
                Some((name, Some(size))) => size - e[name].value() as usize,
            };
            Tensor::scalar(e[name].at(&ways.iter().map(at).collect::<Vec<_>>()))
        };
        (format!("@{name}[{}]", texts.join(", ")), Rc::new(value))
    }

    fn position(&mut self, at: usize, size: usize) -> String {
        match self.rng.u8(0..3) {
            0 if at + 1 == size => "end".into(),
            0 => format!("end - {}", size - 1 - at),
            _ => (at + 1).to_string(),
        }
    }

    /// A subscript that takes so many elements of a dimension.
    fn subscript(&mut self, count: usize, size: usize) -> (String, Vec<usize>) {
        if count == size && self.rng.bool() {
            return (":".into(), (0..size).collect());
        }
        if count <= size && self.rng.bool() {
            let first = self.rng.usize(0..=size - count);
            // An empty range ends before it begins.
            return match self.rng.bool() || count == 0 {
                true => (format!("{}:{}", first + 1, first + count), (first..first + count).collect()),
                false => (format!("{}:-1:{}", first + count, first + 1), (first..first + count).rev().collect()),
            };
        }
        if count == 0 {
            return ("1:0".into(), Vec::new());
        }
        let taken: Vec<usize> = (0..count).map(|_| self.rng.usize(0..size)).collect();
        let text: Vec<String> = taken.iter().map(|&at| self.position(at, size)).collect();
        (format!("{{{}}}", text.join(", ")), taken)
    }

    /// A part of a variable: single subscripts for the dimensions that go.
    fn slice(&mut self, sizes: &[usize]) -> Option<Expression> {
        let fitting: Vec<_> =
            LEAVES.iter().filter(|(name, found)| found.len() >= sizes.len() && *name != "e" && *name != "F").collect();
        let &&(name, all) = fitting.get(self.rng.usize(0..fitting.len().max(1)))?;
        let mut single = all.len() - sizes.len();
        let mut wanted = sizes.iter();
        let (mut texts, mut ways) = (Vec::new(), Vec::new());
        for (k, &size) in all.iter().enumerate() {
            let must = single == all.len() - k;
            if single > 0 && (must || self.rng.bool()) {
                single -= 1;
                let at = self.rng.usize(0..size);
                texts.push(self.position(at, size));
                ways.push((vec![at], true));
            } else {
                let (text, taken) = self.subscript(*wanted.next()?, size);
                texts.push(text);
                ways.push((taken, false));
            }
        }
        let result = sizes.to_vec();
        let value = move |e: &Environment| {
            Tensor::from_fn(&result, |at| {
                let mut at = at.iter();
                let full: Vec<usize> = ways
                    .iter()
                    .map(
                        |(taken, is_single)| if *is_single { taken[0] } else { taken[at.next().copied().unwrap_or(0)] },
                    )
                    .collect();
                e[name].at(&full)
            })
        };
        Some((format!("@{name}[{}]", texts.join(", ")), Rc::new(value)))
    }

    /// An iterator and the values that it takes.
    fn range(&mut self, least: usize) -> (Counter, Expression) {
        let count = self.rng.usize(least..=3);
        self.range_of(count)
    }

    fn range_of(&mut self, count: usize) -> (Counter, Expression) {
        self.names += 1;
        let name = format!("i{}", self.names);
        let (range, counts) = self.numbers(count);
        ((name, counts.then_some(count)), range)
    }

    /// A vector of numbers that are known, and whether they count from 1.
    fn numbers(&mut self, count: usize) -> (Expression, bool) {
        let n = count as i32;
        let kind = self.rng.u8(0..4);
        let (text, values): (String, Vec<f64>) = match kind {
            0 => (format!("(1:{n})"), (1..=n).map(f64::from).collect()),
            1 => (format!("({n}:-1:1)"), (1..=n).rev().map(f64::from).collect()),
            2 => (
                format!("(0.5:0.75:{})", 0.5 + 0.75 * f64::from(n - 1) + 0.1),
                (0..n).map(|k| 0.5 + 0.75 * f64::from(k)).collect(),
            ),
            _ => (format!("(2:3:{})", 3 * n), (0..n).map(|k| f64::from(2 + 3 * k)).collect()),
        };
        ((text, Rc::new(move |_| Tensor::vector(values.clone()))), kind < 2)
    }

    fn inside<T>(&mut self, iterator: &Counter, make: impl FnOnce(&mut Self) -> T) -> T {
        self.iterators.push(iterator.clone());
        let made = make(self);
        self.iterators.pop();
        made
    }

    fn reduction(&mut self, a: Expression, (name, _): Counter, range: Expression) -> Expression {
        let is_sum = self.rng.bool();
        let text = format!("{}({} for {name} in {})", if is_sum { "sum" } else { "product" }, a.0, range.0);
        let value = move |e: &Environment| {
            let values = each(&a, &name, &range, e);
            let values = values.iter().map(Tensor::value);
            Tensor::scalar(if is_sum { values.sum() } else { values.product() })
        };
        (text, Rc::new(value))
    }

    fn comprehension(&mut self, sizes: &[usize], depth: usize) -> Expression {
        // The last iterator counts the first dimension.
        let inner = if sizes.len() > 1 && self.rng.bool() { 2 } else { 1 };
        let (outer_iterator, outer) = self.range_of(sizes[0]);
        let outer_name = outer_iterator.0.clone();
        let rest = sizes[inner..].to_vec();
        let result = sizes.to_vec();
        if inner == 1 {
            let a = self.inside(&outer_iterator, |generator| generator.of(&rest, depth));
            let text = format!("{{{} for {outer_name} in {}}}", a.0, outer.0);
            let value = move |e: &Environment| Tensor {
                sizes: result.clone(),
                elements: each(&a, &outer_name, &outer, e).into_iter().flat_map(|part| part.elements).collect(),
            };
            return (text, Rc::new(value));
        }
        let (inner_iterator, range) = self.range_of(sizes[1]);
        let inner_name = inner_iterator.0.clone();
        let a = self.inside(&outer_iterator, |generator| {
            generator.inside(&inner_iterator, |generator| generator.of(&rest, depth))
        });
        let text = format!("{{{} for {inner_name} in {}, {outer_name} in {}}}", a.0, range.0, outer.0);
        let row: Expression = {
            let row_sizes = result[1..].to_vec();
            let value = move |e: &Environment| Tensor {
                sizes: row_sizes.clone(),
                elements: each(&a, &inner_name, &range, e).into_iter().flat_map(|part| part.elements).collect(),
            };
            (String::new(), Rc::new(value))
        };
        let value = move |e: &Environment| Tensor {
            sizes: result.clone(),
            elements: each(&row, &outer_name, &outer, e).into_iter().flat_map(|part| part.elements).collect(),
        };
        (text, Rc::new(value))
    }

    /// Operators and functions by element, with scalars where the rules let them.
    fn elementwise(&mut self, sizes: &[usize], depth: usize) -> Expression {
        let a = self.of(sizes, depth);
        let other = self.rng.u8(0..11);
        let sizes_of_b: &[usize] = if matches!(other, 3..=7) { &[] } else { sizes };
        let b = self.of(sizes_of_b, depth);
        let above_one = |b: Expression| -> Expression {
            (format!("(1.5 .+ abs({}))", b.0), Rc::new(move |e| (b.1)(e).map(|x| 1.5 + x.abs())))
        };
        match other {
            0 => infix("+", a, b, |a, b| a.zip(b, |x, y| x + y)),
            1 => infix("-", a, b, |a, b| a.zip(b, |x, y| x - y)),
            2 => infix(".*", a, b, |a, b| a.zip(b, |x, y| x * y)),
            3 => infix("*", b, a, |a, b| a.zip(b, |x, y| x * y)),
            4 => infix("*", a, b, |a, b| a.zip(b, |x, y| x * y)),
            5 => infix("/", a, above_one(b), |a, b| a.zip(b, |x, y| x / y)),
            6 => infix(".+", b, a, |a, b| a.zip(b, |x, y| x + y)),
            7 => infix(".-", a, b, |a, b| a.zip(b, |x, y| x - y)),
            8 => infix("./", a, above_one(b), |a, b| a.zip(b, |x, y| x / y)),
            9 => {
                let power = self.rng.i32(0..=3);
                (format!("({} .^ {power})", a.0), Rc::new(move |e| (a.1)(e).map(|x| x.powi(power))))
            }
            _ => (format!("(-{})", a.0), Rc::new(move |e| (a.1)(e).map(|x| -x))),
        }
    }

    fn choice(&mut self, sizes: &[usize], depth: usize) -> Expression {
        let (c, a, b) = (self.condition(depth), self.of(sizes, depth), self.of(sizes, depth));
        let text = format!("(if {} then {} else {})", c.0, a.0, b.0);
        (text, Rc::new(move |e| if (c.1)(e) { (a.1)(e) } else { (b.1)(e) }))
    }

    fn of_function(&mut self, sizes: &[usize], depth: usize) -> Expression {
        let a = self.of(sizes, depth);
        if self.rng.u8(0..4) == 0 {
            // A scalar goes with every element.
            let other: &[usize] = if self.rng.bool() { sizes } else { &[] };
            let b = self.of(other, depth);
            let text = format!("mixed({}, {})", b.0, a.0);
            return (text, Rc::new(move |e| (b.1)(e).zip(&(a.1)(e), |x, y| 0.5 * x - y.tanh())));
        }
        match self.rng.u8(0..4) {
            0 => apply("sin", a, |a| a.map(f64::sin)),
            1 => apply("abs", a, |a| a.map(f64::abs)),
            2 => apply("tanh", a, |a| a.map(f64::tanh)),
            _ => apply("bend", a, |a| a.map(|x| x / (1.0 + x * x))),
        }
    }

    /// What arrays of all shapes can be.
    fn general(&mut self, sizes: &[usize], depth: usize) -> Option<Expression> {
        let is_empty = sizes.contains(&0);
        Some(match self.rng.u8(0..10) {
            0 | 1 => self.elementwise(sizes, depth),
            2 => self.choice(sizes, depth),
            3 => self.of_function(sizes, depth),
            4 => self.slice(sizes)?,
            5 => self.comprehension(sizes, depth),
            6 if sizes[0] > 0 => {
                let parts: Vec<Expression> = (0..sizes[0]).map(|_| self.of(&sizes[1..], depth)).collect();
                let text: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
                let text = format!("{{{}}}", text.join(", "));
                (text, Rc::new(move |e| Tensor::stacked(&parts.iter().map(|part| (part.1)(e)).collect::<Vec<_>>())))
            }
            7 => {
                let k = self.rng.usize(0..sizes.len());
                let cut = self.rng.usize(0..=sizes[k]);
                let (mut first, mut second) = (sizes.to_vec(), sizes.to_vec());
                (first[k], second[k]) = (cut, sizes[k] - cut);
                let (a, b) = (self.of(&first, depth), self.of(&second, depth));
                let text = format!("cat({}, {}, {})", k + 1, a.0, b.0);
                (text, Rc::new(move |e| Tensor::concatenated(&[(a.1)(e), (b.1)(e)], k)))
            }
            8 => {
                let (text, number) = if self.rng.bool() { ("zeros", 0.0) } else { ("ones", 1.0) };
                let sizes = sizes.to_vec();
                (format!("{text}({})", list(&sizes)), Rc::new(move |_| Tensor::from_fn(&sizes, |_| number)))
            }
            9 if !is_empty => {
                let a = self.of(&[], depth);
                let sizes = sizes.to_vec();
                let text = format!("fill({}, {})", a.0, list(&sizes));
                let value = move |e: &Environment| {
                    let number = (a.1)(e).value();
                    Tensor::from_fn(&sizes, |_| number)
                };
                (text, Rc::new(value))
            }
            _ => self.plain(sizes),
        })
    }

    fn vector(&mut self, n: usize, depth: usize) -> Expression {
        let made = match self.rng.u8(0..14) {
            0 => Some(self.numbers(n).0),
            1 if n >= 2 => {
                let (a, b) = (self.of(&[], depth), self.of(&[], depth));
                let text = format!("linspace({}, {}, {n})", a.0, b.0);
                let value = move |e: &Environment| {
                    let (a, b) = ((a.1)(e).value(), (b.1)(e).value());
                    Tensor::from_fn(&[n], |at| a + (b - a) * at[0] as f64 / (n - 1) as f64)
                };
                Some((text, Rc::new(value) as Rc<dyn Fn(&Environment) -> Tensor>))
            }
            2 | 3 => {
                let k = self.rng.usize(0..=3);
                Some(match self.rng.bool() {
                    true => {
                        let (a, b) = (self.of(&[n, k], depth), self.of(&[k], depth));
                        infix("*", a, b, Tensor::times)
                    }
                    false => {
                        let (a, b) = (self.of(&[k], depth), self.of(&[k, n], depth));
                        infix("*", a, b, Tensor::times)
                    }
                })
            }
            4 => {
                let sizes = if self.rng.bool() { [n, 1] } else { [1, n] };
                let a = self.of(&sizes, depth);
                Some(apply("vector", a, |a| Tensor::vector(a.elements)))
            }
            5 | 6 if n == 3 => {
                let (a, b) = (self.of(&[3], depth), self.of(&[3], depth));
                let text = format!("cross({}, {})", a.0, b.0);
                let value = move |e: &Environment| {
                    let (a, b) = ((a.1)(e).elements, (b.1)(e).elements);
                    let part = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
                    Tensor::vector(vec![part(1, 2), part(2, 0), part(0, 1)])
                };
                Some((text, Rc::new(value) as Rc<dyn Fn(&Environment) -> Tensor>))
            }
            _ => self.general(&[n], depth),
        };
        made.unwrap_or_else(|| self.plain(&[n]))
    }

    fn matrix(&mut self, m: usize, n: usize, depth: usize) -> Expression {
        let made = match self.rng.u8(0..20) {
            0 => {
                let a = self.of(&[n, m], depth);
                Some(apply("transpose", a, |a| a.transposed()))
            }
            1 | 2 => {
                let k = self.rng.usize(0..=3);
                let (a, b) = (self.of(&[m, k], depth), self.of(&[k, n], depth));
                Some(infix("*", a, b, Tensor::times))
            }
            3 => {
                let (a, b) = (self.of(&[m], depth), self.of(&[n], depth));
                let text = format!("outerProduct({}, {})", a.0, b.0);
                let value = move |e: &Environment| {
                    let (a, b) = ((a.1)(e), (b.1)(e));
                    Tensor::from_fn(&[m, n], |at| a.elements[at[0]] * b.elements[at[1]])
                };
                Some((text, Rc::new(value) as Rc<dyn Fn(&Environment) -> Tensor>))
            }
            4..=7 if m == n && m > 0 => Some(self.square(m, depth)),
            8 if n == 1 => {
                let a = self.of(&[m], depth);
                Some(apply("matrix", a, |a| a.promoted(2)))
            }
            9 | 10 if m > 0 && n > 0 => Some(self.brackets(m, n, depth)),
            _ => self.general(&[m, n], depth),
        };
        made.unwrap_or_else(|| self.plain(&[m, n]))
    }

    fn square(&mut self, n: usize, depth: usize) -> Expression {
        let identity = move || Tensor::from_fn(&[n, n], |at| f64::from(at[0] == at[1]));
        match self.rng.u8(0..5) {
            0 => (format!("identity({n})"), Rc::new(move |_| identity())),
            1 => {
                let a = self.of(&[n], depth);
                apply("diagonal", a, |a| {
                    let n = a.elements.len();
                    Tensor::from_fn(&[n, n], |at| if at[0] == at[1] { a.elements[at[0]] } else { 0.0 })
                })
            }
            2 if n == 3 => {
                let a = self.of(&[3], depth);
                apply("skew", a, |a| {
                    let x = &a.elements;
                    Tensor { sizes: vec![3, 3], elements: vec![0.0, -x[2], x[1], x[2], 0.0, -x[0], -x[1], x[0], 0.0] }
                })
            }
            3 => {
                let (a, power) = (self.of(&[n, n], depth), self.rng.usize(0..=3));
                let text = format!("({}^{power})", a.0);
                let value = move |e: &Environment| {
                    let a = (a.1)(e);
                    (0..power).fold(identity(), |product, _| product.times(&a))
                };
                (text, Rc::new(value))
            }
            _ => {
                let a = self.of(&[n, n], depth);
                apply("symmetric", a, |a| Tensor::from_fn(&a.sizes, |at| a.at(&[at[0].min(at[1]), at[0].max(at[1])])))
            }
        }
    }

    /// `[a, b; c]`: vectors are columns, scalars are matrices of one element.
    fn brackets(&mut self, m: usize, n: usize, depth: usize) -> Expression {
        let part = |generator: &mut Self, m: usize, n: usize| -> Expression {
            let a = match (m, n) {
                (1, 1) if generator.rng.bool() => generator.of(&[], depth),
                (m, 1) if generator.rng.bool() => generator.of(&[m], depth),
                _ => generator.of(&[m, n], depth),
            };
            (a.0, Rc::new(move |e| (a.1)(e).promoted(2)))
        };
        let upper = self.rng.usize(1..=m);
        let mut rows = Vec::new();
        for height in [upper, m - upper].into_iter().filter(|&height| height > 0) {
            let left = self.rng.usize(1..=n);
            let widths = [left, n - left].into_iter().filter(|&width| width > 0);
            rows.push(widths.map(|width| part(self, height, width)).collect::<Vec<_>>());
        }
        let text = |row: &Vec<Expression>| row.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", ");
        let text = format!("[{}]", rows.iter().map(text).collect::<Vec<_>>().join("; "));
        let value = move |e: &Environment| {
            let row = |row: &Vec<Expression>| {
                Tensor::concatenated(&row.iter().map(|part| (part.1)(e)).collect::<Vec<_>>(), 1)
            };
            Tensor::concatenated(&rows.iter().map(row).collect::<Vec<_>>(), 0)
        };
        (text, Rc::new(value))
    }

    fn cube(&mut self, sizes: &[usize], depth: usize) -> Expression {
        self.general(sizes, depth).unwrap_or_else(|| self.plain(sizes))
    }
}

/// The values of an expression for each value of an iterator.
fn each(a: &Expression, name: &str, range: &Expression, e: &Environment) -> Vec<Tensor> {
    let mut inner = e.clone();
    let values = (range.1)(e).elements.into_iter().map(|value| {
        inner.insert(name.to_owned(), Tensor::scalar(value));
        (a.1)(&inner)
    });
    values.collect()
}

fn list(sizes: &[usize]) -> String {
    sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn apply(name: &str, a: Expression, function: impl Fn(Tensor) -> Tensor + 'static) -> Expression {
    (format!("{name}({})", a.0), Rc::new(move |e| function((a.1)(e))))
}

fn infix(
    operator: &str,
    a: Expression,
    b: Expression,
    function: impl Fn(&Tensor, &Tensor) -> Tensor + 'static,
) -> Expression {
    (format!("({} {operator} {})", a.0, b.0), Rc::new(move |e| function(&(a.1)(e), &(b.1)(e))))
}
