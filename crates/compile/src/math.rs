//! The scalar functions of the lowered code. The interpreter calls them, and compiled code calls the very same ones, so
//! that both agree bit for bit.

use dae::CompareOp;

/// Functions of one argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    Neg,
    /// Of a Boolean: 0 becomes 1, all else 0.
    Not,
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
    Sign,
    Abs,
    Floor,
    Ceil,
    Truncate,
}

/// Functions of two arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Atan2,
    Min,
    Max,
    And,
    Or,
    Less,
    LessEqual,
    Equal,
    NotEqual,
}

impl Unary {
    #[inline]
    pub fn apply(self, x: f64) -> f64 {
        match self {
            Unary::Neg => -x,
            Unary::Not => truth(x == 0.0),
            Unary::Sin => x.sin(),
            Unary::Cos => x.cos(),
            Unary::Tan => x.tan(),
            Unary::Asin => x.asin(),
            Unary::Acos => x.acos(),
            Unary::Atan => x.atan(),
            Unary::Sinh => x.sinh(),
            Unary::Cosh => x.cosh(),
            Unary::Tanh => x.tanh(),
            Unary::Exp => x.exp(),
            Unary::Log => x.ln(),
            Unary::Log10 => x.log10(),
            Unary::Sqrt => x.sqrt(),
            Unary::Sign => truth(x > 0.0) - truth(x < 0.0),
            Unary::Abs => x.abs(),
            Unary::Floor => x.floor(),
            Unary::Ceil => x.ceil(),
            Unary::Truncate => x.trunc(),
        }
    }

    /// What it costs beside an addition.
    pub fn cost(self) -> u32 {
        match self {
            Unary::Neg | Unary::Not | Unary::Abs | Unary::Floor | Unary::Ceil | Unary::Truncate | Unary::Sign => 1,
            Unary::Sqrt => 8,
            _ => 20,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Unary::Neg => "neg",
            Unary::Not => "not",
            Unary::Sin => "sin",
            Unary::Cos => "cos",
            Unary::Tan => "tan",
            Unary::Asin => "asin",
            Unary::Acos => "acos",
            Unary::Atan => "atan",
            Unary::Sinh => "sinh",
            Unary::Cosh => "cosh",
            Unary::Tanh => "tanh",
            Unary::Exp => "exp",
            Unary::Log => "log",
            Unary::Log10 => "log10",
            Unary::Sqrt => "sqrt",
            Unary::Sign => "sign",
            Unary::Abs => "abs",
            Unary::Floor => "floor",
            Unary::Ceil => "ceil",
            Unary::Truncate => "truncate",
        }
    }
}

impl Binary {
    #[inline]
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Pow => a.powf(b),
            Binary::Atan2 => a.atan2(b),
            // Comparisons and a choice: what machine code does in two instructions, unlike the rules of IEEE minNum.
            Binary::Min => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            Binary::Max => {
                if a > b {
                    a
                } else {
                    b
                }
            }
            Binary::And => truth(a != 0.0 && b != 0.0),
            Binary::Or => truth(a != 0.0 || b != 0.0),
            Binary::Less => truth(a < b),
            Binary::LessEqual => truth(a <= b),
            Binary::Equal => truth(a == b),
            Binary::NotEqual => truth(a != b),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Binary::Add => "add",
            Binary::Sub => "sub",
            Binary::Mul => "mul",
            Binary::Div => "div",
            Binary::Pow => "pow",
            Binary::Atan2 => "atan2",
            Binary::Min => "min",
            Binary::Max => "max",
            Binary::And => "and",
            Binary::Or => "or",
            Binary::Less => "less",
            Binary::LessEqual => "less_equal",
            Binary::Equal => "equal",
            Binary::NotEqual => "not_equal",
        }
    }
}

/// The lowered comparison and whether its operands change places.
pub fn comparison(op: CompareOp) -> (Binary, bool) {
    match op {
        CompareOp::Less => (Binary::Less, false),
        CompareOp::LessEqual => (Binary::LessEqual, false),
        CompareOp::Greater => (Binary::Less, true),
        CompareOp::GreaterEqual => (Binary::LessEqual, true),
        CompareOp::Equal => (Binary::Equal, false),
        CompareOp::NotEqual => (Binary::NotEqual, false),
    }
}

#[inline]
pub fn truth(value: bool) -> f64 {
    if value { 1.0 } else { 0.0 }
}

/// The state of a relation `a ? b`: the sign of `a − b`; `None` where there is no order (NaN).
#[inline]
pub fn order(a: f64, b: f64) -> Option<f64> {
    a.partial_cmp(&b).map(|order| order as i8 as f64)
}
