//! A random function as text and as closures.

use std::collections::BTreeMap;
use std::rc::Rc;

use fastrand::Rng;

/// The variables of a call. Fields of the record are variables with a dot in their names.
#[derive(Clone, Default)]
pub struct Environment {
    reals: BTreeMap<&'static str, f64>,
    integers: BTreeMap<&'static str, i64>,
    arrays: BTreeMap<&'static str, Vec<f64>>,
    /// Statements that may still be executed.
    fuel: u32,
    /// Something happened that is an error in the model: such a call is not asked for.
    failed: bool,
}

impl Environment {
    pub fn set_inputs(&mut self, x: f64, n: i64, v: Vec<f64>, (a, k, w): (f64, i64, Vec<f64>)) {
        self.reals.insert("x", x);
        self.integers.insert("n", n);
        self.arrays.insert("v", v);
        self.reals.insert("r.a", a);
        self.integers.insert("r.k", k);
        self.arrays.insert("r.w", w);
        self.fuel = 2000;
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Flow {
    Next,
    Break,
    Return,
}

type Real = (String, Rc<dyn Fn(&Environment) -> f64>);
type Integer = (String, Rc<dyn Fn(&Environment) -> i64>);
type Condition = (String, Rc<dyn Fn(&Environment) -> bool>);
type Vector = (String, Rc<dyn Fn(&Environment) -> Vec<f64>>);
type Statement = (String, Rc<dyn Fn(&mut Environment) -> Flow>);

/// What may end a loop.
#[derive(Clone, Copy, PartialEq)]
pub enum Exits {
    Any,
    /// Inputs and counts, but nothing that the loop computes: what iterates has no derivative.
    Given,
}

pub struct Program {
    pub text: String,
    body: Statement,
}

/// Functions that every program may call.
const LIBRARY: &str = "  record R
    Real a;
    Integer k;
    Real w[2];
  end R;
  partial function Shape
    input Real u;
    output Real y;
  end Shape;
  function bend
    extends Shape;
    input Real c = 0.5;
  algorithm
    y := u/(1 + c*u^2);
  end bend;
  function apply
    input Shape g;
    input Real u;
    output Real y;
  algorithm
    y := g(u) + g(-0.5*u + 1);
  end apply;
  partial function Family
    input Real u;
    input Real c;
    output Real y;
  end Family;
  function relay
    input Family g;
    input Real u;
    input Real c;
    output Real y;
  algorithm
    y := apply(function g(c = c), u) - g(u, 0.5*c);
  end relay;
  function down
    input Integer n;
    input Real u;
    output Real y;
  algorithm
    if n <= 0 then
      y := u;
    else
      y := 0.5*down(n - 1, u + n) - u;
    end if;
  end down;
  function two
    input Real u[:];
    output Real s;
    output Real p;
  algorithm
    s := sum(u);
    p := product(u);
  end two;
";

fn bend(u: f64, c: f64) -> f64 {
    u / (1.0 + c * u * u)
}

fn down(n: i64, u: f64) -> f64 {
    if n <= 0 { u } else { 0.5 * down(n - 1, u + n as f64) - u }
}

impl Program {
    pub fn random(rng: &mut Rng, exits: Exits) -> Self {
        let mut generator = ProgramGenerator { rng, exits, loops: 0, branches: 0, iterators: Vec::new() };
        let count = generator.rng.usize(3..=7);
        let body = generator.block(count, 0);
        let text = format!(
            "{LIBRARY}  function f
    input Real x;
    input Integer n;
    input Real v[3];
    input R r;
    output Real y = 0.25*x;
  protected
    Real s = y + 1;
    Real t = if n > 1 then 2*s else s;
    Real b[3] = {{x, v[1], 1.5}};
    Integer m = n + r.k;
    R q = r;
    Integer c1;
    Integer c2;
    Integer c3;
    Integer c4;
    Real p;
  algorithm
    p := 0;
{}    y := y + 0.125*s + 0.0625*t + 0.03125*sum(b) + 0.1*m + 0.2*q.a + 0.3*q.w[1]*q.w[2] + 0.01*q.k + 0.05*p;
  end f;
",
            body.0
        );
        Self { text, body }
    }

    /// The value of the function; `None` where the call is an error.
    pub fn call(&self, mut environment: Environment) -> Option<f64> {
        let e = &mut environment;
        let (x, n) = (e.reals["x"], e.integers["n"]);
        let y = 0.25 * x;
        let s = y + 1.0;
        e.reals.extend([("y", y), ("s", s), ("t", if n > 1 { 2.0 * s } else { s }), ("p", 0.0)]);
        e.arrays.insert("b", vec![x, e.arrays["v"][0], 1.5]);
        e.integers.insert("m", n + e.integers["r.k"]);
        e.reals.insert("q.a", e.reals["r.a"]);
        e.integers.insert("q.k", e.integers["r.k"]);
        e.arrays.insert("q.w", e.arrays["r.w"].clone());
        if (self.body.1)(e) != Flow::Return {
            let w = &e.arrays["q.w"];
            let y = e.reals["y"]
                + 0.125 * e.reals["s"]
                + 0.0625 * e.reals["t"]
                + 0.03125 * e.arrays["b"].iter().sum::<f64>()
                + 0.1 * e.integers["m"] as f64
                + 0.2 * e.reals["q.a"]
                + 0.3 * w[0] * w[1]
                + 0.01 * e.integers["q.k"] as f64
                + 0.05 * e.reals["p"];
            e.reals.insert("y", y);
        }
        let y = e.reals["y"];
        (!e.failed && e.fuel > 0 && y.is_finite() && y.abs() < 1e6).then_some(y)
    }
}

struct ProgramGenerator<'r> {
    rng: &'r mut Rng,
    exits: Exits,
    /// Loops around the statement.
    loops: usize,
    /// Branches around it inside of the innermost loop.
    branches: usize,
    iterators: Vec<&'static str>,
}

const REALS: [&str; 4] = ["y", "s", "t", "q.a"];
const INTEGERS: [&str; 2] = ["m", "q.k"];

impl ProgramGenerator<'_> {
    fn real(&mut self, depth: usize) -> Real {
        if depth == 0 {
            return self.leaf();
        }
        let (a, b) = (self.real(depth - 1), self.real(depth - 1));
        match self.rng.u8(0..16) {
            0 | 1 => (format!("({} + {})", a.0, b.0), Rc::new(move |e| (a.1)(e) + (b.1)(e))),
            2 => (format!("({} - {})", a.0, b.0), Rc::new(move |e| (a.1)(e) - (b.1)(e))),
            3 => (format!("0.5*{}*tanh({})", a.0, b.0), Rc::new(move |e| 0.5 * (a.1)(e) * (b.1)(e).tanh())),
            4 => (format!("{}/(1 + abs({}))", a.0, b.0), Rc::new(move |e| (a.1)(e) / (1.0 + (b.1)(e).abs()))),
            5 => (format!("sin({})", a.0), Rc::new(move |e| (a.1)(e).sin())),
            6 => (format!("max({}, {})", a.0, b.0), Rc::new(move |e| (a.1)(e).max((b.1)(e)))),
            7 => {
                let c = self.condition();
                let text = format!("(if {} then {} else {})", c.0, a.0, b.0);
                (text, Rc::new(move |e| if (c.1)(e) { (a.1)(e) } else { (b.1)(e) }))
            }
            8 => {
                let c = *[0.25, 0.75].get(self.rng.usize(0..2)).unwrap_or(&0.25);
                let value = move |e: &Environment| {
                    let u = (a.1)(e);
                    bend(u, c) + bend(-0.5 * u + 1.0, c)
                };
                (format!("apply(function bend(c = {c}), {})", a.0), Rc::new(value))
            }
            9 => {
                let n = self.integer();
                let text = format!("down(min({}, 4), tanh({}))", n.0, a.0);
                (text, Rc::new(move |e| down((n.1)(e).min(4), (a.1)(e).tanh())))
            }
            10 => {
                let v = self.vector();
                let (text, what) = match self.rng.u8(0..3) {
                    0 => ("sum", 0),
                    1 => ("max", 1),
                    _ => ("min", 2),
                };
                let value = move |e: &Environment| {
                    let v = (v.1)(e);
                    match what {
                        0 => v.iter().sum(),
                        1 => v.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                        _ => v.iter().copied().fold(f64::INFINITY, f64::min),
                    }
                };
                (format!("{text}({})", v.0), Rc::new(value))
            }
            11 => {
                let text = format!("apply(function bend(c = tanh({})^2), {})", b.0, a.0);
                let value = move |e: &Environment| {
                    let (u, c) = ((a.1)(e), (b.1)(e).tanh().powi(2));
                    bend(u, c) + bend(-0.5 * u + 1.0, c)
                };
                (text, Rc::new(value))
            }
            12 => {
                let text = format!("relay(bend, {}, abs({}))", a.0, b.0);
                let value = move |e: &Environment| {
                    let (u, c) = ((a.1)(e), (b.1)(e).abs());
                    bend(u, c) + bend(-0.5 * u + 1.0, c) - bend(u, 0.5 * c)
                };
                (text, Rc::new(value))
            }
            13 => {
                let (v, op) = (self.vector(), self.rng.usize(0..4));
                let name = ["sum", "product", "min", "max"][op];
                let text = format!("{name}(tanh({})*z - 0.25*z*i for z in {}, i in 1:2)", a.0, v.0);
                let value = move |e: &Environment| {
                    let (v, a) = ((v.1)(e), (a.1)(e).tanh());
                    let all = [1.0, 2.0].into_iter().flat_map(|i| v.iter().map(move |z| a * z - 0.25 * z * i));
                    match op {
                        0 => all.sum(),
                        1 => all.product(),
                        2 => all.fold(f64::INFINITY, f64::min),
                        _ => all.fold(f64::NEG_INFINITY, f64::max),
                    }
                };
                (text, Rc::new(value))
            }
            14 => {
                let n = self.integer();
                let text = format!("tanh({})^min({}, 3)", a.0, n.0);
                (text, Rc::new(move |e| (a.1)(e).tanh().powi((n.1)(e).min(3) as i32)))
            }
            _ => {
                let n = self.integer();
                let text = format!("sum(0.5*j + {} for j in 1:min({}, 5))", a.0, n.0);
                let value = move |e: &Environment| {
                    let a = (a.1)(e);
                    (1..=(n.1)(e).min(5)).map(|j| 0.5 * j as f64 + a).sum()
                };
                (text, Rc::new(value))
            }
        }
    }

    fn leaf(&mut self) -> Real {
        match self.rng.u8(0..8) {
            0 => ("x".into(), Rc::new(|e| e.reals["x"])),
            1 => {
                let number = self.rng.i32(-8..=8) as f64 / 4.0;
                let text = if number < 0.0 { format!("({number})") } else { number.to_string() };
                (text, Rc::new(move |_| number))
            }
            2 | 3 => {
                let name = REALS[self.rng.usize(0..REALS.len())];
                (name.into(), Rc::new(move |e| e.reals[name]))
            }
            4 => {
                let k = self.position();
                let name = if self.rng.bool() { "v" } else { "b" };
                (format!("{name}[{}]", k.0), Rc::new(move |e| e.arrays[name][(k.1)(e) as usize - 1]))
            }
            5 => {
                let n = self.integer();
                (format!("0.5*{}", n.0), Rc::new(move |e| 0.5 * (n.1)(e) as f64))
            }
            6 => {
                let name = if self.rng.bool() { "r.w" } else { "q.w" };
                let k = self.rng.usize(0..2);
                (format!("{name}[{}]", k + 1), Rc::new(move |e| e.arrays[name][k]))
            }
            _ => ("r.a".into(), Rc::new(|e| e.reals["r.a"])),
        }
    }

    /// A subscript of a vector of three.
    fn position(&mut self) -> Integer {
        if self.rng.bool() {
            let k = self.rng.i64(1..=3);
            return (k.to_string(), Rc::new(move |_| k));
        }
        let n = self.integer();
        (format!("mod({}, 3) + 1", n.0), Rc::new(move |e| (n.1)(e).rem_euclid(3) + 1))
    }

    fn integer(&mut self) -> Integer {
        match self.rng.u8(0..6) {
            0 => ("n".into(), Rc::new(|e| e.integers["n"])),
            1 => ("r.k".into(), Rc::new(|e| e.integers["r.k"])),
            2 | 3 if !self.iterators.is_empty() => {
                let name = self.iterators[self.rng.usize(0..self.iterators.len())];
                (name.into(), Rc::new(move |e| e.integers[name]))
            }
            4 => {
                let name = INTEGERS[self.rng.usize(0..INTEGERS.len())];
                (format!("div({name}, 2)"), Rc::new(move |e| e.integers[name] / 2))
            }
            _ => {
                let name = INTEGERS[self.rng.usize(0..INTEGERS.len())];
                (name.into(), Rc::new(move |e| e.integers[name]))
            }
        }
    }

    /// A condition that ends a loop.
    fn exit(&mut self) -> Condition {
        if self.exits == Exits::Any {
            return self.condition();
        }
        let iterator = self.iterators.last().copied().unwrap_or("n");
        match self.rng.u8(0..3) {
            0 => ("x > v[2] + 0.015".into(), Rc::new(|e| e.reals["x"] > e.arrays["v"][1] + 0.015)),
            1 => {
                let value = move |e: &Environment| e.reals["r.a"] > 0.25 * e.integers[iterator] as f64 - 0.51;
                (format!("r.a > 0.25*{iterator} - 0.51"), Rc::new(value))
            }
            _ => (format!("{iterator} > r.k"), Rc::new(move |e| e.integers[iterator] > e.integers["r.k"])),
        }
    }

    fn condition(&mut self) -> Condition {
        match self.rng.u8(0..4) {
            0 => {
                let (a, b) = (self.integer(), self.integer());
                (format!("{} <= {}", a.0, b.0), Rc::new(move |e| (a.1)(e) <= (b.1)(e)))
            }
            1 => {
                let (a, b) = (self.leaf(), self.leaf());
                (format!("{} > {} + 0.01", a.0, b.0), Rc::new(move |e| (a.1)(e) > (b.1)(e) + 0.01))
            }
            2 => {
                let (a, b) = (self.leaf(), self.integer());
                let value = move |e: &Environment| (a.1)(e) > 0.015 && (b.1)(e) > 1;
                (format!("({} > 0.015 and {} > 1)", a.0, b.0), Rc::new(value))
            }
            _ => {
                let (a, b) = (self.leaf(), self.integer());
                let value = move |e: &Environment| !(a.1)(e).lt(&0.33) || (b.1)(e) == 2;
                (format!("(not {} < 0.33 or {} == 2)", a.0, b.0), Rc::new(value))
            }
        }
    }

    /// Three Reals.
    fn vector(&mut self) -> Vector {
        match self.rng.u8(0..5) {
            0 => ("v".into(), Rc::new(|e| e.arrays["v"].clone())),
            1 => ("b".into(), Rc::new(|e| e.arrays["b"].clone())),
            2 => {
                let a = self.leaf();
                let value = move |e: &Environment| {
                    let a = (a.1)(e);
                    e.arrays["b"].iter().zip(&e.arrays["v"]).map(|(b, v)| 0.5 * b + a * v).collect()
                };
                (format!("(0.5*b + {}*v)", a.0), Rc::new(value))
            }
            3 => {
                let (a, b) = (self.leaf(), self.leaf());
                let value = move |e: &Environment| vec![(a.1)(e), (b.1)(e), e.arrays["b"][2]];
                (format!("{{{}, {}, b[3]}}", a.0, b.0), Rc::new(value))
            }
            _ => ("b[{3, 1, 2}]".into(), Rc::new(|e| [2, 0, 1].iter().map(|&k| e.arrays["b"][k]).collect())),
        }
    }

    fn block(&mut self, count: usize, depth: usize) -> Statement {
        let statements: Vec<Statement> = (0..count).map(|_| self.statement(depth)).collect();
        let indent = "  ".repeat(depth + 2);
        let text = statements.iter().map(|(text, _)| format!("{indent}{text}\n")).collect();
        let run = move |e: &mut Environment| {
            for (_, statement) in &statements {
                e.fuel = e.fuel.saturating_sub(1);
                if e.fuel == 0 {
                    return Flow::Return;
                }
                let flow = statement(e);
                if flow != Flow::Next {
                    return flow;
                }
            }
            Flow::Next
        };
        (text, Rc::new(run))
    }

    fn statement(&mut self, depth: usize) -> Statement {
        let deepest = if depth >= 3 { 9 } else { 15 };
        match self.rng.u8(0..deepest) {
            0 => {
                let v = self.vector();
                (
                    format!("for z in {} loop s := tanh(s) + 0.5*z; b[2] := z*s; end for;", v.0),
                    Rc::new(move |e| {
                        for z in (v.1)(e) {
                            let s = e.reals["s"].tanh() + 0.5 * z;
                            e.reals.insert("s", s);
                            if let Some(b) = e.arrays.get_mut("b") {
                                b[1] = z * s;
                            }
                        }
                        Flow::Next
                    }),
                )
            }
            1..=3 => {
                let (name, a) = (REALS[self.rng.usize(0..REALS.len())], self.real(2));
                (
                    format!("{name} := 0.5*{};", a.0),
                    Rc::new(move |e| {
                        let value = 0.5 * (a.1)(e);
                        e.reals.insert(name, value);
                        Flow::Next
                    }),
                )
            }
            4 => {
                let (k, a) = (self.position(), self.real(1));
                (
                    format!("b[{}] := {};", k.0, a.0),
                    Rc::new(move |e| {
                        let (k, value) = ((k.1)(e) as usize, (a.1)(e));
                        if let Some(b) = e.arrays.get_mut("b") {
                            b[k - 1] = value.clamp(-1e3, 1e3);
                            e.failed |= value.abs() > 1e3;
                        }
                        Flow::Next
                    }),
                )
            }
            5 => {
                let v = self.vector();
                (
                    format!("b := {};", v.0),
                    Rc::new(move |e| {
                        let value = (v.1)(e);
                        e.arrays.insert("b", value);
                        Flow::Next
                    }),
                )
            }
            6 => {
                let n = self.integer();
                let name = INTEGERS[self.rng.usize(0..INTEGERS.len())];
                (
                    format!("{name} := mod({} + 1, 7);", n.0),
                    Rc::new(move |e| {
                        let value = ((n.1)(e) + 1).rem_euclid(7);
                        e.integers.insert(name, value);
                        Flow::Next
                    }),
                )
            }
            7 => {
                let v = self.vector();
                (
                    format!("(s, p) := two({});", v.0),
                    Rc::new(move |e| {
                        let v = (v.1)(e);
                        e.reals.insert("s", v.iter().sum());
                        e.reals.insert("p", v.iter().product());
                        Flow::Next
                    }),
                )
            }
            8 if self.loops > 0 && (self.exits == Exits::Any || self.branches == 0) => {
                let c = self.exit();
                (
                    format!("if {} then break; end if;", c.0),
                    Rc::new(move |e| if (c.1)(e) { Flow::Break } else { Flow::Next }),
                )
            }
            8 if self.loops == 0 => {
                let c = self.condition();
                (
                    format!("if {} and x > 1.01 then return; end if;", c.0),
                    Rc::new(move |e| if (c.1)(e) && e.reals["x"] > 1.01 { Flow::Return } else { Flow::Next }),
                )
            }
            9 | 10 => self.branch(depth),
            11 | 12 => self.for_loop(depth),
            13 => self.while_loop(depth),
            _ => (
                "q := R(a = q.w[2], k = q.k, w = {q.a, r.a});".into(),
                Rc::new(|e| {
                    let (a, w) = (e.arrays["q.w"][1], vec![e.reals["q.a"], e.reals["r.a"]]);
                    e.reals.insert("q.a", a);
                    e.arrays.insert("q.w", w);
                    Flow::Next
                }),
            ),
        }
    }

    fn branch(&mut self, depth: usize) -> Statement {
        let (c, d) = (self.condition(), self.condition());
        self.branches += 1;
        let (a, b, o) = (self.block(2, depth + 1), self.block(1, depth + 1), self.block(1, depth + 1));
        self.branches -= 1;
        let indent = "  ".repeat(depth + 2);
        let text =
            format!("if {} then\n{}{indent}elseif {} then\n{}{indent}else\n{}{indent}end if;", c.0, a.0, d.0, b.0, o.0);
        let run = move |e: &mut Environment| {
            if (c.1)(e) {
                (a.1)(e)
            } else if (d.1)(e) {
                (b.1)(e)
            } else {
                (o.1)(e)
            }
        };
        (text, Rc::new(run))
    }

    /// The body of a loop.
    fn turn(&mut self, depth: usize) -> Statement {
        let around = std::mem::take(&mut self.branches);
        self.loops += 1;
        let body = self.block(2, depth + 1);
        self.loops -= 1;
        self.branches = around;
        body
    }

    fn for_loop(&mut self, depth: usize) -> Statement {
        let name = ["i1", "i2", "i3", "i4"][self.iterators.len().min(3)];
        let (first, last): (Integer, Integer) = match self.rng.u8(0..3) {
            0 => (("1".into(), Rc::new(|_| 1)), ("3".into(), Rc::new(|_| 3))),
            1 => {
                let n = self.integer();
                (("1".into(), Rc::new(|_| 1)), n)
            }
            _ => {
                let long = self.rng.i64(30..=50);
                ((format!("{}", long - 2), Rc::new(move |_| long - 2)), (long.to_string(), Rc::new(move |_| long)))
            }
        };
        self.iterators.push(name);
        let body = self.turn(depth);
        self.iterators.pop();
        let indent = "  ".repeat(depth + 2);
        let text = format!("for {name} in {}:{} loop\n{}{indent}end for;", first.0, last.0, body.0);
        let run = move |e: &mut Environment| {
            let (first, last) = ((first.1)(e), (last.1)(e));
            let outer = e.integers.get(name).copied();
            let mut result = Flow::Next;
            for i in first..=last {
                e.integers.insert(name, i);
                match (body.1)(e) {
                    Flow::Next => {}
                    Flow::Break => break,
                    Flow::Return => {
                        result = Flow::Return;
                        break;
                    }
                }
            }
            if let Some(outer) = outer {
                e.integers.insert(name, outer);
            }
            result
        };
        (text, Rc::new(run))
    }

    /// A loop that counts, and whose other condition may end it earlier.
    fn while_loop(&mut self, depth: usize) -> Statement {
        // Each level has its own: a loop inside must not count for the one around it.
        let counter = ["c1", "c2", "c3", "c4"][depth.min(3)];
        let c = self.exit();
        let body = self.turn(depth);
        let indent = "  ".repeat(depth + 2);
        let text = format!(
            "{counter} := 0;\n{indent}while {counter} < 4 and not {} loop\n{indent}  {counter} := {counter} + 1;\n{}{indent}end while;",
            c.0, body.0
        );
        let run = move |e: &mut Environment| {
            e.integers.insert(counter, 0);
            while e.integers[counter] < 4 && !(c.1)(e) {
                let next = e.integers[counter] + 1;
                e.integers.insert(counter, next);
                match (body.1)(e) {
                    Flow::Next => {}
                    Flow::Break => break,
                    Flow::Return => return Flow::Return,
                }
            }
            Flow::Next
        };
        (text, Rc::new(run))
    }
}
