//! Array expressions wherever they stand, against an evaluation of their own on sizes and elements: slices, ranges, comprehensions,
//! reductions, products, concatenation, the functions of chapter 10, empty arrays.

mod expression;
mod tensor;

use fastrand::Rng;
use session::Settings;

use self::expression::{Environment, Expression, ExpressionGenerator, LEAVES};
use self::tensor::{Tensor, positions};
use crate::case::Case;

/// Expressions in one model.
const COUNT: usize = 5;

/// The variables: declarations with a prefix, and their values at a time.
struct Variables {
    base: Vec<Tensor>,
    slope: Vec<Tensor>,
}

impl Variables {
    fn random(rng: &mut Rng) -> Self {
        let mut numbers = || {
            let one = |(_, sizes): &(&str, &[usize])| Tensor::from_fn(sizes, |_| rng.i32(-8..=8) as f64 / 4.0);
            LEAVES.iter().map(one).collect::<Vec<_>>()
        };
        Self { base: numbers(), slope: numbers() }
    }

    fn at(&self, time: f64) -> Environment {
        let value = |k: usize| self.base[k].zip(&self.slope[k], |base, slope| base + slope * time);
        LEAVES.iter().enumerate().map(|(k, (name, _))| ((*name).to_owned(), value(k))).collect()
    }

    fn declarations(&self) -> String {
        let mut text = String::new();
        for (k, (name, sizes)) in LEAVES.iter().enumerate() {
            let value = |moves: bool| {
                let one = |at: usize| match moves {
                    true => format!("{} + ({})*time", self.base[k].elements[at], self.slope[k].elements[at]),
                    false => self.base[k].elements[at].to_string(),
                };
                constructor(sizes, &one)
            };
            let sizes = in_brackets(sizes);
            text += &format!("  parameter Real p{name}{sizes} = {};\n", value(false));
            text += &format!("  Real x{name}{sizes} = {};\n", value(true));
        }
        text
    }
}

fn in_brackets(sizes: &[usize]) -> String {
    match sizes {
        [] => String::new(),
        sizes => format!("[{}]", sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The elements in braces.
fn constructor(sizes: &[usize], element: &dyn Fn(usize) -> String) -> String {
    match sizes {
        [] => element(0),
        sizes if sizes.contains(&0) => {
            format!("zeros({})", sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
        }
        [size, rest @ ..] => {
            let inner: usize = rest.iter().product();
            let part = |k: usize| constructor(rest, &|at| element(k * inner + at));
            format!("{{{}}}", (0..*size).map(part).collect::<Vec<_>>().join(", "))
        }
    }
}

fn shape(rng: &mut Rng) -> Vec<usize> {
    let dimensions = [0, 1, 1, 1, 2, 2, 2, 3][rng.usize(0..8)];
    (0..dimensions).map(|_| if rng.u8(0..8) == 0 { 0 } else { rng.usize(1..=3) }).collect()
}

/// An expression whose values stay small at the times at which it is looked at.
fn random(rng: &mut Rng, environments: &[&Environment]) -> (Vec<usize>, Expression) {
    loop {
        let sizes = shape(rng);
        let depth = rng.usize(1..=4);
        let made = ExpressionGenerator::new(rng).of(&sizes, depth);
        let is_small = |e: &&Environment| (made.1)(e).elements.iter().all(|x| x.abs() < 1e4);
        if made.0.len() < 600 && environments.iter().all(is_small) {
            return (sizes, made);
        }
    }
}

pub fn case(rng: &mut Rng) -> Case {
    let variables = Variables::random(rng);
    let (start, middle, end) = (variables.at(0.0), variables.at(0.5), variables.at(1.0));
    let (mut functions, mut declarations, mut sections) = (String::new(), String::new(), String::new());
    let mut expected: Vec<(String, Tensor)> = Vec::new();
    let inputs: String =
        LEAVES.iter().map(|(name, sizes)| format!(" input Real {name}{};", in_brackets(sizes))).collect();
    let arguments = LEAVES.iter().map(|(name, _)| format!("x{name}")).collect::<Vec<_>>().join(", ");
    for k in 0..COUNT {
        let (sizes, (text, value)) = random(rng, &[&start, &middle, &end]);
        let brackets = in_brackets(&sizes);
        let (constant, moving, local) = (text.replace('@', "p"), text.replace('@', "x"), text.replace('@', ""));
        declarations += &format!("  parameter Real p{k}{brackets} = {constant};\n");
        declarations += &format!("  Real e{k}{brackets} = {moving};\n");
        declarations += &format!("  Real a{k}{brackets};\n");
        sections += &format!("algorithm\n  a{k} := {moving};\n");
        functions += &format!("  function f{k}{inputs} output Real y{brackets}; algorithm y := {local}; end f{k};\n");
        declarations += &format!("  Real f{k}y{brackets} = f{k}({arguments});\n");
        expected.extend([(format!("p{k}"), value(&start))]);
        expected.extend([format!("e{k}"), format!("a{k}"), format!("f{k}y")].map(|name| (name, value(&end))));
        if !sizes.contains(&0) {
            let each = if sizes.is_empty() { "" } else { "each " };
            declarations += &format!("  discrete Real w{k}{brackets}({each}start = 0, {each}fixed = true);\n");
            sections += &format!("equation\n  when time >= 0.5 then w{k} = {moving}; end when;\n");
            expected.push((format!("w{k}"), value(&middle)));
        }
    }
    let bend = "  function bend input Real u; output Real y; algorithm y := u/(1 + u^2); end bend;
  function mixed input Real u; input Real v; output Real y; algorithm y := 0.5*u - tanh(v); end mixed;\n";
    let text = format!("model Case\n{bend}{functions}{}{declarations}{sections}end Case;\n", variables.declarations());
    let settings = Settings { stop_time: Some(1.0), ..Settings::default() };
    Case::complete(text, settings, move |run| {
        for (name, tensor) in &expected {
            for (at, &value) in positions(&tensor.sizes).iter().zip(&tensor.elements) {
                let subscripts: Vec<usize> = at.iter().map(|k| k + 1).collect();
                let name = match subscripts.as_slice() {
                    [] => name.clone(),
                    all => format!("{name}[{}]", all.iter().map(usize::to_string).collect::<Vec<_>>().join(",")),
                };
                let found = run.end(&name)?;
                let is_near = (found - value).abs() <= 1e-8 * value.abs().max(1.0);
                if !is_near {
                    return Err(format!("{name} is {found} instead of {value}"));
                }
            }
        }
        Ok(())
    })
}
