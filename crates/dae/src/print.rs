//! Expressions as Modelica text, for people (`R1.u = R1.R*R1.i`) or for a parser (`'R1.u' = 'R1.R'*'R1.i'`).
//!
//! Written with an explicit stack: neither depth nor sharing of an expression grows the call stack. What would be
//! longer than the limit is cut off with `…`, because a shared expression can be exponentially long when written out.

use crate::expr::{Builtin, CallSiteId, CompareOp, ExprId, Node, Shape};
use crate::function::{LocalId, RecordType, Type};
use crate::model::{EqId, Equation, Model, VarId, VariableType};

/// How the text is to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// For a parser: full names as quoted identifiers, and `noEvent` where a relation makes no event.
    pub exact: bool,
    /// Longer text is cut off.
    pub limit: usize,
}

impl Style {
    /// For messages and listings.
    pub const READABLE: Self = Self { exact: false, limit: 4000 };
    /// For flat Modelica text.
    pub const EXACT: Self = Self { exact: true, limit: usize::MAX };
}

impl Model {
    /// An expression for people.
    pub fn expression_text(&self, expression: ExprId) -> String {
        self.expression_in(expression, Style::READABLE)
    }

    /// An equation for people.
    pub fn equation_text(&self, equation: EqId) -> String {
        self.equations.get(equation).map(|equation| self.equation_in(equation, Style::READABLE)).unwrap_or_default()
    }

    pub fn equation_in(&self, equation: &Equation, style: Style) -> String {
        let enumeration = self.enumeration_of(equation.left).or_else(|| self.enumeration_of(equation.right));
        let side = |expression| self.typed_in(expression, enumeration, style);
        format!("{} = {}", side(equation.left), side(equation.right))
    }

    pub fn expression_in(&self, expression: ExprId, style: Style) -> String {
        self.typed_in(expression, None, style)
    }

    /// The same for a value that is known to be of an enumeration: ordinals become literals.
    pub fn typed_in(&self, expression: ExprId, enumeration: Option<u32>, style: Style) -> String {
        let mut printer = Printer { model: self, style, out: String::new(), stack: Vec::new() };
        printer.stack.push(Item::Expression(expression, Strength::Whole, enumeration));
        printer.run();
        printer.out
    }

    /// The enumeration whose values an expression has, as far as its variables tell.
    pub fn enumeration_of(&self, expression: ExprId) -> Option<u32> {
        let mut current = expression;
        loop {
            match self.exprs.node(current) {
                Node::Var(variable) | Node::Pre(variable) | Node::Previous(variable) => {
                    return match self.variables.get(variable)?.ty {
                        VariableType::Enumeration(index) => Some(index),
                        _ => None,
                    };
                }
                Node::If { then, otherwise, .. } => {
                    let is_literal = matches!(self.exprs.node(then), Node::Integer(_));
                    current = if is_literal { otherwise } else { then };
                }
                _ => return None,
            }
        }
    }

    /// The name of a variable as it stands in the text.
    pub fn variable_in(&self, variable: VarId, style: Style) -> String {
        match self.variables[variable].derivative_of {
            Some(of) => format!("der({})", self.variable_in(of, style)),
            None if style.exact => identifier(&self.variable_name(variable)),
            None => self.variable_name(variable),
        }
    }
}

/// A name as one identifier, quoted where it has dots or brackets.
pub fn identifier(name: &str) -> String {
    let mut characters = name.chars();
    let plain = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_');
    if plain || is_quoted(name) { name.to_owned() } else { format!("'{}'", name.replace('\'', "\\'")) }
}

/// Whether the whole name is one quoted identifier already.
fn is_quoted(name: &str) -> bool {
    let inside = name.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    inside.is_some_and(|inside| !inside.is_empty() && !inside.replace("\\'", "").contains('\''))
}

/// A number as it is written in Modelica: a Real always has a point or an exponent.
pub fn real(value: f64) -> String {
    let text = format!("{value:?}");
    match text.as_str() {
        "inf" => "1e400".to_owned(),
        "-inf" => "-1e400".to_owned(),
        _ => text,
    }
}

/// A text as a Modelica string literal.
pub fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

/// How strongly an expression holds together (specification 3.2); what is weaker than its place gets parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Whole,
    Or,
    And,
    Not,
    Relation,
    Sum,
    Product,
    Power,
    Primary,
}

enum Item {
    /// With the least strength that needs no parentheses, and the enumeration it is a value of.
    Expression(ExprId, Strength, Option<u32>),
    Text(&'static str),
    Owned(String),
}

struct Printer<'m> {
    model: &'m Model,
    style: Style,
    out: String,
    /// What is still to be written, the next one last.
    stack: Vec<Item>,
}

impl Printer<'_> {
    fn run(&mut self) {
        while let Some(item) = self.stack.pop() {
            if self.out.len() > self.style.limit {
                self.out.push('…');
                return;
            }
            match item {
                Item::Text(text) => self.out.push_str(text),
                Item::Owned(text) => self.out.push_str(&text),
                Item::Expression(expression, least, enumeration) => self.write(expression, least, enumeration),
            }
        }
    }

    /// Puts the parts of an expression on the stack, the last one first.
    fn write(&mut self, expression: ExprId, least: Strength, enumeration: Option<u32>) {
        let node = self.model.exprs.node(expression);
        let own = strength(node);
        let mut parts = self.parts(node, enumeration);
        if own < least {
            parts.insert(0, Item::Text("("));
            parts.push(Item::Text(")"));
        }
        self.stack.extend(parts.into_iter().rev());
    }

    fn parts(&self, node: Node, enumeration: Option<u32>) -> Vec<Item> {
        use Item::Text as T;
        let part = |expression, least| Item::Expression(expression, least, None);
        let binary = |a, left, sign, b, right| vec![part(a, left), T(sign), part(b, right)];
        match node {
            Node::Real(value) => vec![Item::Owned(self.number(value))],
            Node::Integer(value) => vec![Item::Owned(self.integer(value, enumeration))],
            Node::Boolean(value) => vec![T(if value { "true" } else { "false" })],
            Node::String(text) => vec![Item::Owned(string(text.as_str()))],
            Node::Time => vec![T("time")],
            Node::Var(variable) => vec![self.name(variable)],
            Node::Der(variable) => vec![T("der("), self.name(variable), T(")")],
            Node::Pre(variable) => vec![T("pre("), self.name(variable), T(")")],
            Node::Previous(variable) => vec![T("previous("), self.name(variable), T(")")],
            Node::Neg(a) => vec![T("-"), part(a, Strength::Product)],
            Node::Add(a, b) => binary(a, Strength::Sum, " + ", b, Strength::Product),
            Node::Sub(a, b) => binary(a, Strength::Sum, " - ", b, Strength::Product),
            Node::Mul(a, b) => binary(a, Strength::Product, "*", b, Strength::Power),
            Node::Div(a, b) => binary(a, Strength::Product, "/", b, Strength::Power),
            Node::Pow(a, b) => binary(a, Strength::Primary, "^", b, Strength::Primary),
            Node::Not(a) => vec![T("not "), part(a, Strength::Relation)],
            Node::And(a, b) => binary(a, Strength::And, " and ", b, Strength::Not),
            Node::Or(a, b) => binary(a, Strength::Or, " or ", b, Strength::And),
            Node::Compare { op, event, left, right } => {
                let of = self.model.enumeration_of(left).or_else(|| self.model.enumeration_of(right));
                let side = |expression| Item::Expression(expression, Strength::Sum, of);
                let parts = vec![side(left), T(relation(op)), side(right)];
                if self.style.exact && !event && (self.is_real(left) || self.is_real(right)) {
                    return std::iter::once(T("noEvent(")).chain(parts).chain([T(")")]).collect();
                }
                parts
            }
            Node::If { condition, then, otherwise } => vec![
                T("if "),
                part(condition, Strength::Or),
                T(" then "),
                Item::Expression(then, Strength::Or, enumeration),
                T(" else "),
                Item::Expression(otherwise, Strength::Whole, enumeration),
            ],
            Node::Builtin(builtin, arguments) => {
                let mut parts = vec![T(name_of(builtin)), T("(")];
                parts.extend(self.list(self.model.exprs.arguments(arguments)));
                parts.push(T(")"));
                parts
            }
            Node::Call { site, args, output } => self.call(site, self.model.exprs.arguments(args), output),
        }
    }

    fn name(&self, variable: VarId) -> Item {
        Item::Owned(self.model.variable_in(variable, self.style))
    }

    fn integer(&self, value: i64, enumeration: Option<u32>) -> String {
        let known = enumeration.and_then(|index| self.model.enumerations.get(index as usize));
        let literal = known.and_then(|known| {
            let position = usize::try_from(value).ok()?.checked_sub(1)?;
            Some((known.name.as_str(), known.literals.get(position)?))
        });
        match literal {
            Some((name, literal)) if self.style.exact => format!("{}.{literal}", identifier(name)),
            Some((name, literal)) => format!("{}.{literal}", name.rsplit('.').next().unwrap_or(name)),
            None => value.to_string(),
        }
    }

    fn number(&self, value: f64) -> String {
        if self.style.exact {
            return real(value);
        }
        // Adding zero takes the sign from a negative zero.
        let text = format!("{:?}", value + 0.0);
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    }

    fn list(&self, expressions: &[ExprId]) -> Vec<Item> {
        let mut parts = Vec::with_capacity(2 * expressions.len());
        for &expression in expressions {
            if !parts.is_empty() {
                parts.push(Item::Text(", "));
            }
            parts.push(Item::Expression(expression, Strength::Whole, None));
        }
        parts
    }

    fn call(&self, site: CallSiteId, mut arguments: &[ExprId], output: u32) -> Vec<Item> {
        let site = self.model.exprs.call_site(site);
        let Some(function) = self.model.functions.get(site.function) else { return vec![Item::Text("?")] };
        let name = function.name.as_str();
        let name = if self.style.exact { identifier(name) } else { name.to_owned() };
        let mut parts = vec![Item::Owned(format!("{name}("))];
        for (position, shape) in site.inputs.iter().enumerate() {
            if position > 0 {
                parts.push(Item::Text(", "));
            }
            let (own, rest) = arguments.split_at(shape.scalars().min(arguments.len()));
            arguments = rest;
            let local = |local: &LocalId| function.locals.get(*local).map(|local| &local.ty);
            self.shaped(shape, function.inputs.get(position).and_then(local), own, &mut parts);
        }
        parts.push(Item::Text(")"));
        let mut rest = output as usize;
        for (position, shape) in site.outputs.iter().enumerate() {
            let scalars = shape.scalars();
            if rest < scalars {
                if site.outputs.len() > 1 {
                    let name = function.outputs.get(position).and_then(|&local| function.locals.get(local));
                    parts.push(Item::Owned(format!(".{}", name.map_or("?", |local| local.name.as_str()))));
                }
                let ty = function.outputs.get(position).and_then(|&l| function.locals.get(l)).map(|local| &local.ty);
                let place = place_in(shape, ty, rest);
                if !place.is_empty() {
                    parts.insert(0, Item::Text("("));
                    parts.push(Item::Owned(format!("){place}")));
                }
                break;
            }
            rest -= scalars;
        }
        parts
    }

    /// Scalars in braces and record constructors, as their shape says.
    fn shaped(&self, shape: &Shape, ty: Option<&Type>, scalars: &[ExprId], parts: &mut Vec<Item>) {
        match shape {
            Shape::Scalar => parts.extend(self.list(scalars)),
            Shape::Function { function, .. } => {
                let name = self.model.functions.get(*function).map_or("?", |function| function.name.as_str());
                parts.push(Item::Owned(format!("function {name}(")));
                parts.extend(self.list(scalars));
                parts.push(Item::Text(")"));
            }
            Shape::Record(fields) => {
                let record = record_type(ty);
                parts.push(Item::Owned(format!("{}(", record.map_or("", |record| record.name.as_str()))));
                let mut start = 0;
                for (position, field) in fields.iter().enumerate() {
                    if position > 0 {
                        parts.push(Item::Text(", "));
                    }
                    let end = (start + field.scalars()).min(scalars.len());
                    let ty = record.and_then(|record| record.fields.get(position)).map(|field| &field.ty);
                    self.shaped(field, ty, &scalars[start..end], parts);
                    start = end;
                }
                parts.push(Item::Text(")"));
            }
            Shape::Array(sizes, element) => self.array(sizes, element, ty, scalars, parts),
        }
    }

    fn array(&self, sizes: &[u32], element: &Shape, ty: Option<&Type>, scalars: &[ExprId], parts: &mut Vec<Item>) {
        let Some((&first, rest)) = sizes.split_first() else { return self.shaped(element, ty, scalars, parts) };
        if first == 0 {
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            parts.push(Item::Owned(format!("fill(0, {})", sizes.join(", "))));
            return;
        }
        parts.push(Item::Text("{"));
        for (position, part) in scalars.chunks((scalars.len() / first as usize).max(1)).enumerate() {
            if position > 0 {
                parts.push(Item::Text(", "));
            }
            self.array(rest, element, ty, part, parts);
        }
        parts.push(Item::Text("}"));
    }

    /// Whether the value is Real; only relations of Reals make events.
    fn is_real(&self, expression: ExprId) -> bool {
        let mut current = expression;
        loop {
            current = match self.model.exprs.node(current) {
                Node::Real(_) | Node::Time | Node::Der(_) | Node::Div(..) | Node::Pow(..) => return true,
                Node::Var(variable) | Node::Pre(variable) | Node::Previous(variable) => {
                    return self.model.variables[variable].ty == VariableType::Real;
                }
                Node::Neg(a) => a,
                Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) => {
                    if matches!(self.model.exprs.node(a), Node::Integer(_)) { b } else { a }
                }
                Node::If { then, .. } => then,
                Node::Builtin(..) | Node::Call { .. } => return true,
                _ => return false,
            }
        }
    }
}

/// `[2,1]`, `.re`: where a scalar stands in a value.
fn place_in(shape: &Shape, ty: Option<&Type>, mut scalar: usize) -> String {
    let (mut shape, mut ty) = (shape, ty);
    let mut out = String::new();
    loop {
        match shape {
            Shape::Scalar | Shape::Function { .. } => return out,
            Shape::Array(sizes, element) => {
                let each = element.scalars().max(1);
                let mut position = scalar / each;
                scalar %= each;
                let mut subscripts = Vec::new();
                for &size in sizes.iter().rev() {
                    subscripts.push((position % size.max(1) as usize + 1).to_string());
                    position /= size.max(1) as usize;
                }
                subscripts.reverse();
                out.push_str(&format!("[{}]", subscripts.join(",")));
                shape = element;
            }
            Shape::Record(fields) => {
                let record = record_type(ty);
                let mut found = None;
                for (position, field) in fields.iter().enumerate() {
                    if scalar < field.scalars() {
                        found = Some((position, field));
                        break;
                    }
                    scalar -= field.scalars();
                }
                let Some((position, field)) = found else { return out };
                let known = record.and_then(|record| record.fields.get(position));
                out.push('.');
                out.push_str(known.map_or("?", |field| field.name.as_str()));
                ty = known.map(|field| &field.ty);
                shape = field;
            }
        }
    }
}

fn record_type(ty: Option<&Type>) -> Option<&RecordType> {
    match ty {
        Some(Type::Record(record)) => Some(record),
        _ => None,
    }
}

fn strength(node: Node) -> Strength {
    match node {
        Node::If { .. } => Strength::Whole,
        Node::Or(..) => Strength::Or,
        Node::And(..) => Strength::And,
        Node::Not(_) => Strength::Not,
        Node::Compare { .. } => Strength::Relation,
        Node::Add(..) | Node::Sub(..) | Node::Neg(_) => Strength::Sum,
        Node::Real(value) if value.is_sign_negative() => Strength::Sum,
        Node::Integer(value) if value < 0 => Strength::Sum,
        Node::Mul(..) | Node::Div(..) => Strength::Product,
        Node::Pow(..) => Strength::Power,
        _ => Strength::Primary,
    }
}

fn relation(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Less => " < ",
        CompareOp::LessEqual => " <= ",
        CompareOp::Greater => " > ",
        CompareOp::GreaterEqual => " >= ",
        CompareOp::Equal => " == ",
        CompareOp::NotEqual => " <> ",
    }
}

/// The name in Modelica. Those without an event and those with one have the same.
pub fn name_of(builtin: Builtin) -> &'static str {
    use Builtin::*;
    match builtin {
        Sin => "sin",
        Cos => "cos",
        Tan => "tan",
        Asin => "asin",
        Acos => "acos",
        Atan => "atan",
        Sinh => "sinh",
        Cosh => "cosh",
        Tanh => "tanh",
        Exp => "exp",
        Log => "log",
        Log10 => "log10",
        Sqrt => "sqrt",
        Sign => "sign",
        Abs => "abs",
        Floor | FloorEvent => "floor",
        Ceil | CeilEvent => "ceil",
        Atan2 => "atan2",
        Min => "min",
        Max => "max",
        Div | DivEvent => "div",
        Mod | ModEvent => "mod",
        Rem | RemEvent => "rem",
        Sample | SampleClocked => "sample",
        Initial => "initial",
        Terminal => "terminal",
        Delay => "delay",
        Homotopy => "homotopy",
        SemiLinear => "semiLinear",
        SpatialFirst | SpatialSecond => "spatialDistribution",
        ClockInferred | ClockRational | ClockReal | ClockEvent | ClockSolver => "Clock",
        Hold => "hold",
        SubSample => "subSample",
        SuperSample => "superSample",
        ShiftSample => "shiftSample",
        BackSample => "backSample",
        NoClock => "noClock",
        Interval => "interval",
        FirstTick => "firstTick",
        ActiveState => "activeState",
        TicksInState => "ticksInState",
        TimeInState => "timeInState",
    }
}

#[cfg(test)]
mod tests {
    use base::Id;
    use expect_test::expect;

    use super::*;
    use crate::testing;

    fn printed(text: &str, style: Style) -> String {
        let model = testing::model(text).unwrap();
        model.equations.values().map(|equation| model.equation_in(equation, style) + "\n").collect()
    }

    #[test]
    fn parentheses_only_where_needed() {
        let text = "a = b - (c - d)\ne = (b + c)*d/(a*f)\ng = -(a + b)*c\nh = (-a)^2\nk = a*(b*c)\nm = a - b - c\nn = 2*(-3)^b";
        expect![[r#"
            a = b - (c - d)
            e = (b + c)*d/(a*f)
            g = -(a + b)*c
            h = (-a)^2
            k = a*(b*c)
            m = a - b - c
            n = 2*(-3)^b
        "#]]
        .assert_eq(&printed(text, Style::READABLE));
    }

    #[test]
    fn text_for_a_parser() {
        let text = "Boolean on\ny = if on and x > 0.5 then 1 else sin(x)\nder(x) = 2.0*y";
        expect![[r#"
            y = if on and x > 0.5 then 1 else sin(x)
            der(x) = 2.0*y
        "#]]
        .assert_eq(&printed(text, Style::EXACT));
        assert_eq!(identifier("R1.p.v"), "'R1.p.v'");
        assert_eq!(identifier("x_1"), "x_1");
        assert_eq!(string("a \"b\""), "\"a \\\"b\\\"\"");
    }

    #[test]
    fn what_is_shared_a_thousand_times_is_cut_off() {
        let mut model = testing::model("x = y").unwrap();
        let mut sum = model.equations[EqId::from_index(0)].left;
        for _ in 0..1000 {
            sum = model.exprs.intern(Node::Mul(sum, sum));
        }
        let text = model.expression_text(sum);
        assert!(text.ends_with('…') && text.len() < 5000);
    }
}
