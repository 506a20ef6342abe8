//! A rational function as a quotient of polynomials in one variable, highest power first: `(b*s + a)/(s^2 + c)`.

use crate::polynomial::{Polynomial, Variable};
use crate::rational::Rational;

/// How formulas are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notation {
    /// `2*a*s^2/(b + s)`
    Plain,
    /// `\\frac{2 a s^{2}}{b + s}`
    Latex,
}

/// The text of a polynomial.
struct Printed {
    text: String,
    /// Adds terms outside of brackets.
    is_sum: bool,
}

impl Rational {
    /// The quotient in powers of `main`, whose name is `main_name`. Names have to be texts that need no brackets.
    pub fn print_collected(
        &self,
        main: Variable,
        main_name: &str,
        name: &impl Fn(Variable) -> String,
        notation: Notation,
    ) -> String {
        let above = collected(&self.numerator, main, main_name, name, notation);
        let below = collected(&self.denominator, main, main_name, name, notation);
        match notation {
            _ if below.text == "1" => above.text,
            Notation::Latex => format!("\\frac{{{}}}{{{}}}", above.text, below.text),
            Notation::Plain if above.is_sum => format!("({})/({})", above.text, below.text),
            Notation::Plain => format!("{}/({})", above.text, below.text),
        }
    }
}

fn collected(
    value: &Polynomial,
    main: Variable,
    main_name: &str,
    name: &impl Fn(Variable) -> String,
    notation: Notation,
) -> Printed {
    let coefficients = value.coefficients(main).into_iter().enumerate().rev();
    let mut terms = coefficients
        .filter(|(_, coefficient)| !coefficient.is_zero())
        .map(|(power, coefficient)| term(coefficient, power, main_name, name, notation));
    let Some(mut all) = terms.next() else { return Printed { text: "0".to_owned(), is_sum: false } };
    for next in terms {
        all.is_sum = true;
        match next.text.strip_prefix('-') {
            Some(rest) => all.text.push_str(&format!(" - {rest}")),
            None => all.text.push_str(&format!(" + {}", next.text)),
        }
    }
    all
}

/// A coefficient before a power of the main variable.
fn term(
    coefficient: Polynomial,
    power: usize,
    main_name: &str,
    name: &impl Fn(Variable) -> String,
    notation: Notation,
) -> Printed {
    let factor = Rational { numerator: coefficient, denominator: Polynomial::one() };
    let is_sum = factor.prints_as_sum();
    let text = match notation {
        Notation::Plain => factor.print(name),
        Notation::Latex => factor.latex(name),
    };
    let powered = match (power, notation) {
        (0, _) => return Printed { text, is_sum },
        (1, _) => main_name.to_owned(),
        (_, Notation::Latex) => format!("{main_name}^{{{power}}}"),
        (_, Notation::Plain) => format!("{main_name}^{power}"),
    };
    let times = if notation == Notation::Latex { " " } else { "*" };
    let text = match text.as_str() {
        "1" => powered,
        "-1" => format!("-{powered}"),
        _ if is_sum => format!("({text}){times}{powered}"),
        _ => format!("{text}{times}{powered}"),
    };
    Printed { text, is_sum: false }
}
