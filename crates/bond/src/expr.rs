//! Expressions: of laws, values, signals and conditions. The tree holds them with names as written, the graph with names
//! resolved; `L` is what stands for a name.

use std::fmt;

/// An expression over leaves `L`.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr<L> {
    /// The value and the text that the user wrote, which is exact.
    Number(f64, String),
    /// A truth value.
    Boolean(bool),
    /// A name.
    Leaf(L),
    /// `-x`.
    Negate(Box<Expr<L>>),
    /// `not x`.
    Not(Box<Expr<L>>),
    /// Two operands.
    Binary(Operator, Box<Expr<L>>, Box<Expr<L>>),
    /// An elementary function with its arguments.
    Call(Function, Vec<Expr<L>>),
    /// Condition, value where it holds, value elsewhere.
    If(Box<Expr<L>>, Box<Expr<L>>, Box<Expr<L>>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

impl Operator {
    pub fn text(self) -> &'static str {
        match self {
            Operator::Add => " + ",
            Operator::Subtract => " - ",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Power => "^",
            Operator::Less => " < ",
            Operator::LessEqual => " <= ",
            Operator::Greater => " > ",
            Operator::GreaterEqual => " >= ",
            Operator::Equal => " == ",
            Operator::NotEqual => " <> ",
            Operator::And => " and ",
            Operator::Or => " or ",
        }
    }

    fn binding(self) -> u8 {
        match self {
            Operator::Or => 1,
            Operator::And => 2,
            Operator::Add | Operator::Subtract => 5,
            Operator::Multiply | Operator::Divide => 6,
            Operator::Power => 8,
            _ => 4,
        }
    }

    pub fn is_condition(self) -> bool {
        self.binding() < 5
    }
}

macro_rules! functions {
    ($($name:ident $text:literal $arguments:literal,)*) => {
        /// The functions that Modelica has too, so that expressions go there as they are.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Function { $($name,)* }

        impl Function {
            pub const ALL: &'static [Function] = &[$(Function::$name,)*];

            pub fn name(self) -> &'static str {
                match self { $(Function::$name => $text,)* }
            }

            pub fn arguments(self) -> usize {
                match self { $(Function::$name => $arguments,)* }
            }
        }
    };
}

functions! {
    Sin "sin" 1, Cos "cos" 1, Tan "tan" 1, Asin "asin" 1, Acos "acos" 1, Atan "atan" 1, Atan2 "atan2" 2,
    Sinh "sinh" 1, Cosh "cosh" 1, Tanh "tanh" 1, Exp "exp" 1, Log "log" 1, Log10 "log10" 1, Sqrt "sqrt" 1,
    Abs "abs" 1, Sign "sign" 1, Min "min" 2, Max "max" 2,
}

impl<L> Expr<L> {
    pub(crate) fn number(value: f64) -> Self {
        Expr::Number(value, base::Decimal(value).to_string())
    }

    pub(crate) fn binary(operator: Operator, left: Self, right: Self) -> Self {
        Expr::Binary(operator, Box::new(left), Box::new(right))
    }

    pub(crate) fn is_number(&self, value: f64) -> bool {
        matches!(self, Expr::Number(number, _) if *number == value)
    }

    /// Calls `visit` for every name.
    pub fn leaves<'a>(&'a self, visit: &mut impl FnMut(&'a L)) {
        deep(|| match self {
            Expr::Number(..) | Expr::Boolean(_) => {}
            Expr::Leaf(leaf) => visit(leaf),
            Expr::Negate(inner) | Expr::Not(inner) => inner.leaves(visit),
            Expr::Binary(_, left, right) => {
                left.leaves(visit);
                right.leaves(visit);
            }
            Expr::Call(_, arguments) => arguments.iter().for_each(|argument| argument.leaves(visit)),
            Expr::If(condition, yes, no) => {
                condition.leaves(visit);
                yes.leaves(visit);
                no.leaves(visit);
            }
        });
    }

    pub(crate) fn any_leaf(&self, is: impl Fn(&L) -> bool) -> bool {
        let mut found = false;
        self.leaves(&mut |leaf| found |= is(leaf));
        found
    }

    /// The same with other leaves; what stands for a leaf may be an expression.
    pub fn replace<M>(&self, leaf: &mut impl FnMut(&L) -> Expr<M>) -> Expr<M> {
        deep(|| match self {
            Expr::Number(value, text) => Expr::Number(*value, text.clone()),
            Expr::Boolean(value) => Expr::Boolean(*value),
            Expr::Leaf(name) => leaf(name),
            Expr::Negate(inner) => negated(inner.replace(leaf)),
            Expr::Not(inner) => Expr::Not(Box::new(inner.replace(leaf))),
            Expr::Binary(operator, left, right) => Expr::binary(*operator, left.replace(leaf), right.replace(leaf)),
            Expr::Call(function, arguments) => {
                Expr::Call(*function, arguments.iter().map(|argument| argument.replace(leaf)).collect())
            }
            Expr::If(condition, yes, no) => {
                Expr::If(Box::new(condition.replace(leaf)), Box::new(yes.replace(leaf)), Box::new(no.replace(leaf)))
            }
        })
    }

    /// The value at a point; conditions are 1 and 0.
    pub fn evaluate(&self, leaf: &impl Fn(&L) -> f64) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        deep(|| match self {
            Expr::Number(value, _) => *value,
            Expr::Boolean(value) => truth(*value),
            Expr::Leaf(name) => leaf(name),
            Expr::Negate(inner) => -inner.evaluate(leaf),
            Expr::Not(inner) => truth(inner.evaluate(leaf) == 0.0),
            Expr::Binary(operator, left, right) => {
                let (left, right) = (left.evaluate(leaf), right.evaluate(leaf));
                match operator {
                    Operator::Add => left + right,
                    Operator::Subtract => left - right,
                    Operator::Multiply => left * right,
                    Operator::Divide => left / right,
                    Operator::Power => left.powf(right),
                    Operator::Less => truth(left < right),
                    Operator::LessEqual => truth(left <= right),
                    Operator::Greater => truth(left > right),
                    Operator::GreaterEqual => truth(left >= right),
                    Operator::Equal => truth(left == right),
                    Operator::NotEqual => truth(left != right),
                    Operator::And => truth(left != 0.0 && right != 0.0),
                    Operator::Or => truth(left != 0.0 || right != 0.0),
                }
            }
            Expr::Call(function, arguments) => {
                let of = |index: usize| arguments.get(index).map_or(f64::NAN, |argument| argument.evaluate(leaf));
                function.value(of(0), || of(1))
            }
            Expr::If(condition, yes, no) => {
                if condition.evaluate(leaf) != 0.0 {
                    yes.evaluate(leaf)
                } else {
                    no.evaluate(leaf)
                }
            }
        })
    }

    fn binding(&self) -> u8 {
        match self {
            Expr::If(..) => 0,
            Expr::Not(_) => 3,
            Expr::Negate(_) => 5,
            Expr::Binary(operator, ..) => operator.binding(),
            Expr::Number(value, _) if *value < 0.0 => 5,
            _ => 9,
        }
    }

    /// As text that Modelica reads as well, with names as `leaf` writes them.
    pub fn print(&self, leaf: &impl Fn(&L) -> String) -> String {
        let nested = |inner: &Self, least: u8| {
            let text = inner.print(leaf);
            if inner.binding() < least { format!("({text})") } else { text }
        };
        deep(|| match self {
            Expr::Number(_, text) => text.clone(),
            Expr::Boolean(value) => value.to_string(),
            Expr::Leaf(name) => leaf(name),
            Expr::Negate(inner) => format!("-{}", nested(inner, 6)),
            Expr::Not(inner) => format!("not {}", nested(inner, 4)),
            Expr::Binary(operator, left, right) => {
                let binding = operator.binding();
                // Powers and relations do not chain; differences and quotients group to the left.
                let chains = !matches!(binding, 4 | 8);
                let grouping = matches!(operator, Operator::Subtract | Operator::Divide);
                let left = nested(left, binding + u8::from(!chains));
                let right_needs = if *operator == Operator::Add { 6 } else { binding + u8::from(!chains || grouping) };
                let mut right_text = nested(right, right_needs);
                if *operator == Operator::Add && matches!(**right, Expr::Binary(Operator::Add | Operator::Subtract, ..))
                {
                    right_text = right.print(leaf);
                }
                format!("{left}{}{right_text}", operator.text())
            }
            Expr::Call(function, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(|argument| argument.print(leaf)).collect();
                format!("{}({})", function.name(), arguments.join(", "))
            }
            Expr::If(condition, yes, no) => {
                format!("if {} then {} else {}", nested(condition, 1), nested(yes, 1), nested(no, 0))
            }
        })
    }
}

impl Function {
    pub fn named(name: &str) -> Option<Function> {
        Function::ALL.iter().copied().find(|function| function.name() == name)
    }

    pub fn value(self, x: f64, second: impl Fn() -> f64) -> f64 {
        match self {
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Tan => x.tan(),
            Function::Asin => x.asin(),
            Function::Acos => x.acos(),
            Function::Atan => x.atan(),
            Function::Atan2 => x.atan2(second()),
            Function::Sinh => x.sinh(),
            Function::Cosh => x.cosh(),
            Function::Tanh => x.tanh(),
            Function::Exp => x.exp(),
            Function::Log => x.ln(),
            Function::Log10 => x.log10(),
            Function::Sqrt => x.sqrt(),
            Function::Abs => x.abs(),
            Function::Sign => {
                if x == 0.0 {
                    0.0
                } else {
                    x.signum()
                }
            }
            Function::Min => x.min(second()),
            Function::Max => x.max(second()),
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The negative, without two signs in a row.
pub fn negated<L>(expr: Expr<L>) -> Expr<L> {
    match expr {
        Expr::Negate(inner) => *inner,
        Expr::Number(0.0, _) => expr,
        other => Expr::Negate(Box::new(other)),
    }
}

/// Nested text must not overflow the stack.
pub fn deep<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, work)
}
