//! The units of expressions: what operators and functions ask of their operands and give.

use dae::Variability;
use dae::expr::Builtin;
use dae::function::{ArithmeticOp, ArrayFunction, ReductionOp};
use units::{Dimension, Unit};

use super::measure::{Measure, Term};
use super::solver::Side;
use super::{Checker, Declared};
use crate::instance::CompId;
use crate::typed::{Base, Expr, FunctionKey, Kind, Operator};

impl<'e> Checker<'_, 'e> {
    pub(super) fn measure(&mut self, expr: &'e Expr) -> Measure {
        let measure = stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.find(expr));
        match (&expr.ty.base, &expr.kind) {
            (Base::Real, _) => measure,
            (Base::Integer, Kind::Integer(value)) => self.literal(*value as f64),
            (Base::Integer, _) => Measure::Number,
            _ => Measure::Opaque,
        }
    }

    fn find(&mut self, expr: &'e Expr) -> Measure {
        match &expr.kind {
            Kind::Real(value) => self.literal(*value),
            Kind::Time => Measure::Time,
            Kind::Component(reference) => {
                reference.steps.last().map_or(Measure::Opaque, |step| self.component(step.component))
            }
            Kind::Index(operand, _) | Kind::ToReal(operand) | Kind::Neg(operand) => self.measure(operand),
            Kind::Field(operand, field) => {
                self.measure(operand);
                self.field(operand, *field)
            }
            Kind::Arithmetic(op, left, right) | Kind::Elementwise(op, left, right) => self.arithmetic(*op, left, right),
            Kind::And(left, right) | Kind::Or(left, right) => {
                self.measure(left);
                self.measure(right)
            }
            Kind::Compare(_, left, right) => self.compared(left, right),
            Kind::Not(operand) => self.measure(operand),
            Kind::If(condition, then, otherwise) => {
                self.measure(condition);
                // Which scale of temperature is meant is what a condition may decide.
                let (a, b) = (self.measure(then).shifted(), self.measure(otherwise).shifted());
                match self.constrain(a.clone(), b.clone(), Side::Expr(then), Side::Expr(otherwise)) {
                    true => a.better(b),
                    false => Measure::Opaque,
                }
            }
            Kind::Array(items) => self.elements(items.iter()),
            Kind::Matrix(rows) => self.elements(rows.iter().flatten()),
            Kind::ArrayFor { element, .. } => self.measure(element),
            Kind::Reduction { op, element, .. } => {
                let element = self.measure(element);
                if *op == ReductionOp::Product { Measure::Opaque } else { element }
            }
            Kind::Builtin(builtin, arguments) => self.builtin(*builtin, arguments),
            Kind::Operator(operator, arguments) => self.operator(*operator, arguments),
            Kind::Whole(function, arguments) => self.whole(*function, arguments),
            Kind::Call(..) | Kind::Vectorized { .. } => {
                self.outputs(expr).into_iter().next().unwrap_or(Measure::Opaque)
            }
            Kind::Output(call, number) => {
                self.outputs(call).into_iter().nth(*number as usize).unwrap_or(Measure::Opaque)
            }
            Kind::Record(_, items) => self.visit(items),
            Kind::CallLocal(_, arguments) => self.visit(arguments),
            _ => Measure::Opaque,
        }
    }

    fn literal(&self, value: f64) -> Measure {
        if self.value_of_parameter { Measure::Quantity } else { Measure::literal(value) }
    }

    fn visit(&mut self, operands: &'e [Expr]) -> Measure {
        for operand in operands {
            self.measure(operand);
        }
        Measure::Opaque
    }

    /// The unit that the field of a record is declared with.
    fn field(&mut self, operand: &Expr, field: u32) -> Measure {
        let Base::Record(record) = &operand.ty.base else { return Measure::Opaque };
        let components = self.elaborator.instances.components_of(record.class);
        components.get(field as usize).map_or(Measure::Opaque, |&component| self.declared(component))
    }

    /// The unit of a variable of a function or of a field: nothing is inferred for it, since every call may use another.
    fn declared(&mut self, component: CompId) -> Measure {
        match self.declared_unit(component) {
            Declared::Unit(_) => self.component(component),
            _ => Measure::Opaque,
        }
    }

    fn arithmetic(&mut self, op: ArithmeticOp, left: &'e Expr, right: &'e Expr) -> Measure {
        match op {
            ArithmeticOp::Add | ArithmeticOp::Sub => {
                let sum = self.equal_operands(left, right);
                sum.shifted()
            }
            ArithmeticOp::Mul => self.measure(left).times(&self.measure(right)),
            ArithmeticOp::Div => self.measure(left).over(&self.measure(right)),
            ArithmeticOp::Pow => {
                let base = self.measure(left);
                self.measure(right);
                match (base, literal(right)) {
                    (base, Some(exponent)) => base.power(exponent),
                    (Measure::Number | Measure::Quantity, None) => Measure::Quantity,
                    (Measure::Term(term), None) if term.unknowns.is_empty() && term.dimension.is_one() => {
                        Measure::Term(term.scaled())
                    }
                    _ => Measure::Opaque,
                }
            }
        }
    }

    /// Both operands must have one unit, which is the result's.
    fn equal_operands(&mut self, left: &'e Expr, right: &'e Expr) -> Measure {
        let (a, b) = (self.measure(left), self.measure(right));
        let is_known = |measure: &Measure| matches!(measure, Measure::Term(term) if term.unknowns.is_empty());
        if matches!(a, Measure::Time) && !is_known(&b) || matches!(b, Measure::Time) && !is_known(&a) {
            return Measure::Opaque;
        }
        let (a, b) = (a.in_seconds(), b.in_seconds());
        match self.constrain(a.clone(), b.clone(), Side::Expr(left), Side::Expr(right)) {
            true => a.better(b),
            false => Measure::Opaque,
        }
    }

    /// A limit without unit, such as a tolerance, may be compared with many things.
    fn compared(&mut self, left: &'e Expr, right: &'e Expr) -> Measure {
        for (limit, other) in [(left, right), (right, left)] {
            if matches!(limit.kind, Kind::Component(_))
                && limit.variability <= Variability::Parameter
                && matches!(self.measure(limit), Measure::Term(term) if !term.unknowns.is_empty())
            {
                return self.measure(other);
            }
        }
        self.equal_operands(left, right)
    }

    /// The elements of an array may have different units; then nothing can be said about the whole.
    fn elements(&mut self, items: impl Iterator<Item = &'e Expr>) -> Measure {
        let mut all = Measure::Number;
        let mut differ = false;
        for item in items {
            let item = self.measure(item);
            match (&all, &item) {
                (Measure::Term(one), Measure::Term(other)) => {
                    let quotient = one.over(other);
                    differ |= !quotient.unknowns.is_empty() || !quotient.dimension.is_one();
                }
                (_, Measure::Opaque) => differ = true,
                (Measure::Number | Measure::Quantity, _) => all = item,
                _ => {}
            }
        }
        match (differ, all) {
            (true, _) => Measure::Opaque,
            (false, Measure::Term(term)) => Measure::Term(term.scaled()),
            (false, all) => all,
        }
    }

    fn wanted(&mut self, argument: &'e Expr, dimension: Dimension, why: &'static str) {
        let measure = self.measure(argument);
        self.require(measure, Term::of(dimension), argument, why);
    }

    /// The unknown units of the argument are not inferred from it: `log(p)` is written of many a quantity.
    fn require(&mut self, given: Measure, wanted: Term, argument: &'e Expr, why: &'static str) {
        if matches!(&given, Measure::Term(term) if term.unknowns.is_empty()) {
            self.constrain(given, Measure::Term(wanted), Side::Expr(argument), Side::Wanted(why));
        }
    }

    fn builtin(&mut self, builtin: Builtin, arguments: &'e [Expr]) -> Measure {
        // No unit is inferred from it: `x + sin(x)` stands in many a model that does without units.
        let one = Measure::Number;
        match (builtin, arguments) {
            (Builtin::Sin | Builtin::Cos | Builtin::Tan, [x]) => {
                let angle = self.measure(x);
                let radian = Term::known(Unit::ONE).shifted();
                self.require(angle, radian, x, "an angle in `rad`");
                one
            }
            (Builtin::Asin | Builtin::Acos | Builtin::Atan, [x])
            | (Builtin::Sinh | Builtin::Cosh | Builtin::Tanh, [x])
            | (Builtin::Exp | Builtin::Log | Builtin::Log10, [x]) => {
                self.wanted(x, Dimension::ONE, "a number without unit");
                one
            }
            (Builtin::Sqrt, [x]) => self.measure(x).power(0.5),
            (Builtin::Abs | Builtin::Floor | Builtin::Ceil | Builtin::FloorEvent | Builtin::CeilEvent, [x]) => {
                self.measure(x)
            }
            (Builtin::Sign, [x]) => {
                self.measure(x);
                one
            }
            (Builtin::Atan2, [y, x]) => {
                self.equal_operands(y, x);
                one
            }
            (Builtin::Min | Builtin::Max, [x, y]) => self.compared(x, y),
            (Builtin::Homotopy, [x, y])
            | (Builtin::Mod | Builtin::Rem | Builtin::ModEvent | Builtin::RemEvent, [x, y]) => {
                self.equal_operands(x, y)
            }
            (Builtin::Div | Builtin::DivEvent, [x, y]) => self.measure(x).over(&self.measure(y)),
            (Builtin::Delay, [x, rest @ ..]) => {
                for time in rest {
                    self.wanted(time, Dimension::SECOND, "a time");
                }
                self.measure(x)
            }
            (Builtin::SemiLinear, [x, positive, negative]) => {
                let slope = self.equal_operands(positive, negative);
                self.measure(x).times(&slope)
            }
            _ => self.visit(arguments),
        }
    }

    fn operator(&mut self, operator: Operator, arguments: &'e [Expr]) -> Measure {
        let second = Measure::Term(Term::second());
        match (operator, arguments) {
            (Operator::Der, [x]) => self.measure(x).over(&second),
            (Operator::Pre | Operator::Previous | Operator::NoEvent, [x, ..])
            | (Operator::InStream | Operator::ActualStream, [x])
            | (Operator::Smooth, [_, x]) => self.measure(x),
            (Operator::Sample, [start, interval]) => {
                self.wanted(start, Dimension::SECOND, "a time");
                self.wanted(interval, Dimension::SECOND, "a time");
                Measure::Opaque
            }
            (Operator::Clocked(Builtin::Interval), _) => second,
            (
                Operator::Clocked(
                    Builtin::SampleClocked
                    | Builtin::Hold
                    | Builtin::SubSample
                    | Builtin::SuperSample
                    | Builtin::ShiftSample
                    | Builtin::BackSample
                    | Builtin::NoClock,
                ),
                [x, ..],
            ) => self.measure(x),
            (Operator::Pre | Operator::Edge | Operator::Change, _) => Measure::Opaque,
            _ => self.visit(arguments),
        }
    }

    fn whole(&mut self, function: ArrayFunction, arguments: &'e [Expr]) -> Measure {
        match (function, arguments) {
            (ArrayFunction::Identity | ArrayFunction::Zeros | ArrayFunction::Ones, _) => Measure::Number,
            (ArrayFunction::Cross | ArrayFunction::OuterProduct, [x, y]) => self.measure(x).times(&self.measure(y)),
            (ArrayFunction::Min | ArrayFunction::Max, [x, y]) => self.compared(x, y),
            (ArrayFunction::Linspace, [from, to, _]) => self.equal_operands(from, to),
            (ArrayFunction::Cat, [_, parts @ ..]) => self.elements(parts.iter()),
            (
                ArrayFunction::Scalar
                | ArrayFunction::Vector
                | ArrayFunction::Matrix
                | ArrayFunction::Diagonal
                | ArrayFunction::Fill
                | ArrayFunction::Min
                | ArrayFunction::Max
                | ArrayFunction::Sum
                | ArrayFunction::Transpose
                | ArrayFunction::Symmetric
                | ArrayFunction::Skew
                | ArrayFunction::Promote,
                [x, ..],
            ) => self.measure(x),
            _ => self.visit(arguments),
        }
    }

    /// The units of the results of a call. Arguments must have the units that the inputs are declared with.
    pub(super) fn outputs(&mut self, call: &'e Expr) -> Vec<Measure> {
        let (Kind::Call(function, arguments) | Kind::Vectorized { function, arguments, .. }) = &call.kind else {
            return vec![self.measure(call)];
        };
        let variables = self.function_variables(*function);
        let given: Vec<Measure> = arguments.iter().map(|argument| self.measure(argument)).collect();
        for ((argument, given), input) in arguments.iter().zip(given).zip(variables.inputs) {
            if let Some(input) = input {
                let wanted = self.declared(input);
                self.constrain(given, wanted, Side::Expr(argument), Side::Component(input));
            }
        }
        let outputs = variables.outputs.into_iter();
        outputs.map(|output| output.map_or(Measure::Opaque, |output| self.declared(output))).collect()
    }

    fn function_variables(&mut self, function: FunctionKey) -> Variables {
        let signature = self.elaborator.function(function).signature.clone();
        let component = |local| {
            let mut found = signature.components.iter().filter(|(_, known)| **known == local);
            found.next().map(|(component, _)| *component)
        };
        Variables {
            inputs: signature.inputs.iter().map(|input| component(input.local)).collect(),
            outputs: signature.output_locals.iter().map(|&local| component(local)).collect(),
        }
    }
}

/// The inputs and outputs of a function as components of its class.
struct Variables {
    inputs: Vec<Option<CompId>>,
    outputs: Vec<Option<CompId>>,
}

/// The value of an exponent that is written as a number.
fn literal(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        Kind::Real(value) => Some(*value),
        Kind::Integer(value) => Some(*value as f64),
        Kind::ToReal(operand) => literal(operand),
        Kind::Neg(operand) => Some(-literal(operand)?),
        Kind::Arithmetic(ArithmeticOp::Div, left, right) => {
            Some(literal(left)? / literal(right)?).filter(|value| value.is_finite())
        }
        _ => None,
    }
}
