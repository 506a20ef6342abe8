//! Rational functions written with common subexpressions: `Q106 = R1.R*Q105`, `R1.u = (Q106*C.Va + Q108*i)/Q107`.
//!
//! A numerator is a sum over the symbols that no denominator holds; its coefficients are factored. Sums and products that
//! occur several times have names.

use std::collections::HashMap;

use algebra::factor::factor;
use algebra::polynomial::Monomial;
use algebra::{BigInt, Polynomial, Rational, Variable};
use rustc_hash::FxHashSet;

/// How numbers and powers are written.
pub struct Writing<'w> {
    pub symbol: &'w dyn Fn(Variable) -> String,
    pub power: &'static str,
    /// Whole numbers are written with a point.
    pub has_points: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Part {
    Symbol(Variable),
    /// A sum, by its place in the list of sums.
    Sum(usize),
}

/// Powers of parts, sorted.
type Product = Vec<(Part, u32)>;

struct Term {
    /// Exact, with a sign: the text of a number, none for one.
    is_negative: bool,
    number: Option<String>,
    product: Product,
    source: Product,
}

struct Quotient {
    numerator: Vec<Term>,
    denominator: Product,
}

struct Writer<'w> {
    writing: &'w Writing<'w>,
    sums: Vec<Polynomial>,
    sum_names: HashMap<usize, String>,
    product_names: HashMap<Product, String>,
    definitions: Vec<(String, String)>,
}

/// The definitions of common subexpressions in their order, and a text for each function.
pub fn write(
    functions: &[Rational],
    writing: &Writing<'_>,
    fresh: &mut dyn FnMut() -> String,
) -> (Vec<(String, String)>, Vec<String>) {
    let below: FxHashSet<Variable> = functions.iter().flat_map(|value| value.denominator.variables()).collect();
    let mut writer = Writer {
        writing,
        sums: Vec::new(),
        sum_names: HashMap::new(),
        product_names: HashMap::new(),
        definitions: Vec::new(),
    };
    let quotients: Vec<Quotient> = functions.iter().map(|value| writer.quotient(value, &below)).collect();
    writer.define(&quotients, fresh);
    let texts = quotients.iter().map(|quotient| writer.text(quotient)).collect();
    (writer.definitions, texts)
}

impl Writer<'_> {
    fn quotient(&mut self, value: &Rational, below: &FxHashSet<Variable>) -> Quotient {
        let bottom = factor(&value.denominator);
        let denominator = self.product(&bottom.monomial, &bottom.factors);
        let mut numerator = Vec::new();
        for (source, coefficient) in grouped(&value.numerator, below) {
            let factored = factor(&coefficient);
            let (is_negative, number) = number(&factored.integer, &bottom.integer, self.writing.has_points);
            let product = self.product(&factored.monomial, &factored.factors);
            let source = source.0.iter().map(|&(variable, power)| (Part::Symbol(variable), power)).collect();
            numerator.push(Term { is_negative, number, product, source });
        }
        Quotient { numerator, denominator }
    }

    fn product(&mut self, monomial: &Monomial, factors: &[(Polynomial, u32)]) -> Product {
        let mut product: Product =
            monomial.0.iter().map(|&(variable, power)| (Part::Symbol(variable), power)).collect();
        for (sum, power) in factors {
            let place = self.sums.iter().position(|known| known == sum).unwrap_or_else(|| {
                self.sums.push(sum.clone());
                self.sums.len() - 1
            });
            product.push((Part::Sum(place), *power));
        }
        product.sort();
        product
    }

    /// Names for what occurs several times: short sums first, so that longer ones can be written with them.
    fn define(&mut self, quotients: &[Quotient], fresh: &mut dyn FnMut() -> String) {
        let mut uses: HashMap<Product, usize> = HashMap::new();
        for quotient in quotients {
            let products = quotient.numerator.iter().map(|term| &term.product).chain([&quotient.denominator]);
            for product in products.filter(|product| !product.is_empty()) {
                *uses.entry(product.clone()).or_default() += 1;
            }
        }
        let mut sum_uses = vec![0; self.sums.len()];
        for (product, count) in &uses {
            for (part, _) in product {
                if let Part::Sum(sum) = part {
                    sum_uses[*sum] += count;
                }
            }
        }
        let is_named =
            |product: &Product, count: usize| count > 1 && (product.len() > 1 || product.iter().any(|it| it.1 > 1));
        let mut products: Vec<Product> = uses
            .iter()
            .filter(|(product, count)| is_named(product, **count))
            .map(|(product, _)| product.clone())
            .collect();
        products.sort();
        let mut order: Vec<usize> = (0..self.sums.len()).filter(|&sum| sum_uses[sum] > 1).collect();
        order.sort_by_key(|&sum| (self.sums[sum].terms.len(), sum));
        self.define_products(&mut products, &order, fresh);
        while !order.is_empty() {
            let sum = order.remove(0);
            let text = self.sum_with_products(sum);
            let name = fresh();
            self.definitions.push((name.clone(), text));
            self.sum_names.insert(sum, name);
            self.define_products(&mut products, &order, fresh);
        }
    }

    /// Products that need none of the sums that are still to be defined.
    fn define_products(&mut self, products: &mut Vec<Product>, open: &[usize], fresh: &mut dyn FnMut() -> String) {
        let is_open =
            |product: &Product| product.iter().any(|(part, _)| matches!(part, Part::Sum(it) if open.contains(it)));
        let (later, now): (Vec<Product>, Vec<Product>) = std::mem::take(products).into_iter().partition(is_open);
        *products = later;
        for product in now {
            let text = self.factors(&product).join("*");
            let name = fresh();
            self.definitions.push((name.clone(), text));
            self.product_names.insert(product, name);
        }
    }

    /// A sum, its part that is a product with a name written by that name.
    fn sum_with_products(&self, sum: usize) -> String {
        let polynomial = &self.sums[sum];
        let mut best: Option<(&String, Polynomial)> = None;
        for (product, name) in &self.product_names {
            let expanded = self.expanded(product);
            let is_part = expanded.terms.len() > 1 && expanded.terms.iter().all(|term| polynomial.terms.contains(term));
            let is_better =
                best.as_ref().is_none_or(|(other, known)| (known.terms.len(), *other) < (expanded.terms.len(), name));
            if is_part && is_better {
                best = Some((name, expanded));
            }
        }
        let Some((name, known)) = best else { return self.sum(polynomial) };
        let rest = polynomial - &known;
        if rest.is_zero() {
            return name.clone();
        }
        let rest = self.sum(&rest);
        match rest.strip_prefix('-') {
            Some(rest) => format!("{name} - {rest}"),
            None => format!("{name} + {rest}"),
        }
    }

    fn expanded(&self, product: &Product) -> Polynomial {
        let mut result = Polynomial::one();
        for (part, power) in product {
            let factor = match part {
                Part::Symbol(variable) => Polynomial::variable(*variable),
                Part::Sum(sum) => self.sums[*sum].clone(),
            };
            result = &result * &factor.power(*power);
        }
        result
    }

    fn factors(&self, product: &Product) -> Vec<String> {
        let powered = |text: String, power: u32| match power {
            1 => text,
            _ => format!("{text}{}{power}", self.writing.power),
        };
        let text = |(part, power): &(Part, u32)| match part {
            Part::Symbol(variable) => powered((self.writing.symbol)(*variable), *power),
            Part::Sum(sum) => match self.sum_names.get(sum) {
                Some(name) => powered(name.clone(), *power),
                None => powered(format!("({})", self.sum(&self.sums[*sum])), *power),
            },
        };
        product.iter().map(text).collect()
    }

    fn named_factors(&self, product: &Product) -> Vec<String> {
        match self.product_names.get(product) {
            Some(name) => vec![name.clone()],
            None => self.factors(product),
        }
    }

    fn sum(&self, polynomial: &Polynomial) -> String {
        let one = BigInt::from(1);
        let terms = polynomial.terms.iter().map(|(monomial, value)| {
            let (is_negative, number) = number(value, &one, self.writing.has_points);
            let product = monomial.0.iter().map(|&(variable, power)| (Part::Symbol(variable), power)).collect();
            Term { is_negative, number, product, source: Vec::new() }
        });
        self.terms(&terms.collect::<Vec<_>>())
    }

    /// Positive terms first, so that no sum begins with a sign where it need not.
    fn terms(&self, terms: &[Term]) -> String {
        let mut text = String::new();
        let (negative, positive): (Vec<&Term>, Vec<&Term>) = terms.iter().partition(|term| term.is_negative);
        for term in positive.into_iter().chain(negative) {
            text += match (text.is_empty(), term.is_negative) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let mut factors: Vec<String> = term.number.iter().cloned().collect();
            factors.extend(self.named_factors(&term.product));
            factors.extend(self.factors(&term.source));
            text += &match factors.is_empty() {
                true if self.writing.has_points => "1.0".to_owned(),
                true => "1".to_owned(),
                false => factors.join("*"),
            };
        }
        if text.is_empty() { if self.writing.has_points { "0.0" } else { "0" }.to_owned() } else { text }
    }

    fn text(&self, quotient: &Quotient) -> String {
        let above = self.terms(&quotient.numerator);
        if quotient.denominator.is_empty() {
            return above;
        }
        let above = if quotient.numerator.len() > 1 { format!("({above})") } else { above };
        let below = self.named_factors(&quotient.denominator);
        match below.as_slice() {
            [one] => format!("{above}/{one}"),
            several => format!("{above}/({})", several.join("*")),
        }
    }
}

/// The coefficients of the products of symbols that are in no denominator, in the order of the terms.
fn grouped(polynomial: &Polynomial, below: &FxHashSet<Variable>) -> Vec<(Monomial, Polynomial)> {
    let mut groups: Vec<(Monomial, Polynomial)> = Vec::new();
    let mut places: HashMap<Monomial, usize> = HashMap::new();
    for (monomial, value) in &polynomial.terms {
        let part = |is_below: bool| {
            Monomial(monomial.0.iter().copied().filter(|(variable, _)| below.contains(variable) == is_below).collect())
        };
        let (source, rest) = (part(false), Polynomial::term(part(true), value.clone()));
        let place = *places.entry(source.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, sum)) => *sum = &*sum + &rest,
            None => groups.push((source, rest)),
        }
    }
    groups
}

/// The sign and the exact text of a quotient of whole numbers; no text for one.
fn number(above: &BigInt, below: &BigInt, has_points: bool) -> (bool, Option<String>) {
    let text = algebra::rational::decimal_text(above, below);
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.to_owned()),
        None => (false, text),
    };
    if text == "1" {
        return (is_negative, None);
    }
    let with_point = |number: &str| match number.split_once('E') {
        _ if !has_points || number.contains('.') => number.to_owned(),
        Some((digits, exponent)) => format!("{digits}.0E{exponent}"),
        None => format!("{number}.0"),
    };
    (is_negative, Some(text.split('/').map(with_point).collect::<Vec<_>>().join("/")))
}
