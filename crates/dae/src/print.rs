//! Expressions as Modelica text, for people (`R1.u = R1.R*R1.i`) or for a parser (`'R1.u' = 'R1.R'*'R1.i'`).
//!
//! Written with an explicit stack: neither depth nor sharing of an expression grows the call stack. What would be
//! longer than the limit is cut off with `…`, because a shared expression can be exponentially long when written out.

use crate::expr::{Builtin, CallSiteId, CompareOp, ExprId, Node, Shape};
use crate::function::{
    ArrayFunction, Body, Expr as FunctionExpr, Field, Function, FunctionId, LocalId, RecordType, Statement,
    StatementKind, Type,
};
use crate::model::{EqId, Equation, Model, VarId, VariableType};
use crate::scalar_type::{Expected, ScalarType};

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

    /// An equation as text.
    pub fn equation_in(&self, equation: &Equation, style: Style) -> String {
        let expected = self.equation_type(equation.left, equation.right);
        let side = |expression| self.typed_in(expression, expected, style);
        match self.exprs.node(equation.left) {
            // The left side is no if-expression in the grammar.
            Node::If { .. } => format!("({}) = {}", side(equation.left), side(equation.right)),
            _ => format!("{} = {}", side(equation.left), side(equation.right)),
        }
    }

    /// An expression as text.
    pub fn expression_in(&self, expression: ExprId, style: Style) -> String {
        self.typed_in(expression, Expected::Any, style)
    }

    /// The same for a value whose type the place tells: ordinals become literals of an enumeration, and so on.
    pub fn typed_in(&self, expression: ExprId, expected: Expected<'_>, style: Style) -> String {
        let mut printer = Printer { model: self, style, out: String::new(), stack: Vec::new() };
        printer.stack.push(Item::Expression(expression, Strength::Whole, expected));
        printer.run();
        printer.out
    }

    /// What a variable expects of its value.
    pub fn expected_by(&self, ty: VariableType) -> Expected<'_> {
        match ty {
            VariableType::Integer => Expected::Integer,
            VariableType::Real => Expected::Real,
            VariableType::Enumeration(index) => {
                self.enumerations.get(index as usize).map_or(Expected::Any, Expected::Enumeration)
            }
            _ => Expected::Any,
        }
    }

    /// A class of the model by its name: the name without that of the model, as one identifier.
    pub fn class_identifier(&self, name: &str) -> String {
        let own = name.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
        identifier(own.unwrap_or(name))
    }

    /// The name of a variable as it stands in the text.
    pub fn variable_in(&self, variable: VarId, style: Style) -> String {
        match self.variables[variable].derivative_of {
            Some(of) => format!("der({})", self.variable_in(of, style)),
            None if style.exact => {
                let name = self.variable_name(variable);
                if self.is_path_in_quotes(&name) { quoted(&name) } else { identifier(&name) }
            }
            None => self.variable_name(variable),
        }
    }

    /// Whether a name is that of another variable in quotes: `'a.x'` of the model and the `x` of its component `a` are two
    /// names, and would be one identifier.
    fn is_path_in_quotes(&self, name: &str) -> bool {
        is_quoted(name) && name.contains(['.', '[']) && self.paths.find(name.trim_matches('\'')).is_some()
    }
}

/// A name as one identifier, quoted where it has dots or brackets.
pub fn identifier(name: &str) -> String {
    let mut characters = name.chars();
    let plain = !base::is_reserved(name)
        && characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_');
    if plain || is_quoted(name) { name.to_owned() } else { quoted(name) }
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', "\\'"))
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

/// A text as a Modelica string literal in one line.
pub fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
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

enum Item<'m> {
    /// With the least strength that needs no parentheses, and the type that its place expects.
    Expression(ExprId, Strength, Expected<'m>),
    Text(&'static str),
    Owned(String),
}

struct Printer<'m> {
    model: &'m Model,
    style: Style,
    out: String,
    /// What is still to be written, the next one last.
    stack: Vec<Item<'m>>,
}

impl<'m> Printer<'m> {
    fn run(&mut self) {
        while let Some(item) = self.stack.pop() {
            if self.out.len() > self.style.limit {
                self.out.push('…');
                return;
            }
            match item {
                Item::Text(text) => self.out.push_str(text),
                Item::Owned(text) => self.out.push_str(&text),
                Item::Expression(expression, least, expected) => self.write(expression, least, expected),
            }
        }
    }

    /// Puts the parts of an expression on the stack, the last one first.
    fn write(&mut self, expression: ExprId, least: Strength, expected: Expected<'m>) {
        let node = self.model.exprs.node(expression);
        if let Some(parts) = self.converted(expression, node, expected) {
            self.stack.extend(parts.into_iter().rev());
            return;
        }
        let own = self.strength(node);
        let mut parts = self.parts(node, expected);
        if own < least {
            parts.insert(0, Item::Text("("));
            parts.push(Item::Text(")"));
        }
        self.stack.extend(parts.into_iter().rev());
    }

    /// Between enumerations and their ordinals, which are one thing in the arena but two types in the text.
    fn converted(&self, expression: ExprId, node: Node, expected: Expected<'m>) -> Option<Vec<Item<'m>>> {
        if !self.style.exact {
            return None;
        }
        let around = |name: String, own| {
            let inner = Item::Expression(expression, Strength::Whole, own);
            Some(vec![Item::Owned(name + "("), inner, Item::Text(")")])
        };
        let is_leaf = matches!(node, Node::Var(_) | Node::Pre(_) | Node::Previous(_) | Node::Call { .. });
        match (expected, self.model.scalar_type(expression)) {
            (Expected::Number | Expected::Integer | Expected::Real, ScalarType::Enumeration(own)) if is_leaf => {
                around("Integer".to_owned(), Expected::Enumeration(own))
            }
            (Expected::Enumeration(wanted), ScalarType::Integer | ScalarType::Rounded)
                if !matches!(node, Node::Integer(_) | Node::If { .. }) =>
            {
                around(self.model.class_identifier(wanted.name.as_str()), Expected::Integer)
            }
            _ => None,
        }
    }

    fn strength(&self, node: Node) -> Strength {
        match node {
            Node::Call { site, .. } => match self.text_operation(site) {
                Some(ArrayFunction::Concat) => Strength::Sum,
                _ => Strength::Primary,
            },
            Node::Compare { .. } if self.is_without_event(node) => Strength::Primary,
            _ => strength(node),
        }
    }

    fn parts(&self, node: Node, expected: Expected<'m>) -> Vec<Item<'m>> {
        use Item::Text as T;
        let is_real = || self.style.exact && self.model.node_type(node) == ScalarType::Real;
        let inner = match expected {
            Expected::Integer | Expected::Real => expected,
            _ if is_real() => Expected::Real,
            _ => Expected::Number,
        };
        let part = |expression, least| Item::Expression(expression, least, Expected::Any);
        let binary = |a, left, sign, b, right| vec![part(a, left), T(sign), part(b, right)];
        let number = |expression, least| Item::Expression(expression, least, inner);
        let arithmetic = |a, left, sign, b, right| vec![number(a, left), T(sign), number(b, right)];
        match node {
            Node::Real(value) => vec![Item::Owned(self.number(value))],
            Node::Integer(value) => vec![Item::Owned(self.integer(value, expected))],
            Node::Boolean(value) => vec![T(if value { "true" } else { "false" })],
            Node::String(text) => vec![Item::Owned(string(text.as_str()))],
            Node::Time => vec![T("time")],
            Node::Var(variable) => vec![self.name(variable)],
            Node::Der(variable) => vec![T("der("), self.name(variable), T(")")],
            Node::Pre(variable) => vec![T("pre("), self.name(variable), T(")")],
            Node::Previous(variable) => vec![T("previous("), self.name(variable), T(")")],
            Node::Neg(a) => vec![T("-"), number(a, Strength::Product)],
            Node::Add(a, b) => arithmetic(a, Strength::Sum, " + ", b, Strength::Product),
            Node::Sub(a, b) => arithmetic(a, Strength::Sum, " - ", b, Strength::Product),
            Node::Mul(a, b) => arithmetic(a, Strength::Product, "*", b, Strength::Power),
            Node::Div(a, b) => arithmetic(a, Strength::Product, "/", b, Strength::Power),
            Node::Pow(a, b) => vec![number(a, Strength::Primary), T("^"), part(b, Strength::Primary)],
            Node::Not(a) => vec![T("not "), part(a, Strength::Relation)],
            Node::And(a, b) => binary(a, Strength::And, " and ", b, Strength::Not),
            Node::Or(a, b) => binary(a, Strength::Or, " or ", b, Strength::And),
            Node::Compare { op, left, right, .. } => {
                let of = self.model.common_type(left, right);
                let side = |expression| Item::Expression(expression, Strength::Sum, of);
                let parts = vec![side(left), T(relation(op)), side(right)];
                if self.is_without_event(node) { no_event(parts) } else { parts }
            }
            Node::If { condition, then, otherwise } => vec![
                T("if "),
                part(condition, Strength::Or),
                T(" then "),
                Item::Expression(then, Strength::Or, expected),
                T(" else "),
                Item::Expression(otherwise, Strength::Whole, expected),
            ],
            Node::Builtin(builtin, arguments) => {
                self.builtin(builtin, self.model.exprs.arguments(arguments), inner, node)
            }
            Node::Call { site, args, output } => self.call(site, self.model.exprs.arguments(args), output),
        }
    }

    fn builtin(&self, builtin: Builtin, arguments: &[ExprId], expected: Expected<'m>, node: Node) -> Vec<Item<'m>> {
        if let (Builtin::JustBehind, [time], false) = (builtin, arguments, self.style.exact) {
            return vec![Item::Expression(*time, Strength::Primary, expected)];
        }
        let is_rounding = matches!(builtin, Builtin::Floor | Builtin::FloorEvent);
        let name = match expected {
            Expected::Integer if is_rounding && self.style.exact => "integer",
            _ => name_of(builtin),
        };
        let inner = match builtin {
            Builtin::Min | Builtin::Max | Builtin::Abs | Builtin::Homotopy | Builtin::SemiLinear => expected,
            Builtin::Mod | Builtin::Div | Builtin::Rem | Builtin::ModEvent | Builtin::DivEvent | Builtin::RemEvent
                if matches!(expected, Expected::Integer | Expected::Real) =>
            {
                expected
            }
            _ => Expected::Any,
        };
        let mut parts = vec![Item::Text(name), Item::Text("(")];
        if let (Builtin::SpatialFirst | Builtin::SpatialSecond, Some((head, rest))) =
            (builtin, arguments.split_at_checked(4))
        {
            let (points, values) = rest.split_at(rest.len() / 2);
            parts.extend(self.list(head, inner));
            for vector in [points, values] {
                parts.push(Item::Text(", {"));
                parts.extend(self.list(vector, inner));
                parts.push(Item::Text("}"));
            }
        } else {
            parts.extend(self.list(arguments, inner));
        }
        parts.push(Item::Text(")"));
        if builtin == Builtin::SpatialSecond {
            parts.insert(0, Item::Text("("));
            parts.push(Item::Text(").out1"));
        }
        if self.is_without_event(node) { no_event(parts) } else { parts }
    }

    /// What would make an event if it were written plainly.
    fn is_without_event(&self, node: Node) -> bool {
        let sides;
        let operands: &[ExprId] = match node {
            Node::Compare { event: false, left, right, .. } => {
                sides = [left, right];
                &sides
            }
            Node::Builtin(Builtin::Floor | Builtin::Ceil | Builtin::Div | Builtin::Mod | Builtin::Rem, arguments) => {
                self.model.exprs.arguments(arguments)
            }
            _ => return false,
        };
        let is_real = |operand: &ExprId| self.model.scalar_type(*operand) == ScalarType::Real;
        self.style.exact && operands.iter().any(is_real) && self.model.varies_continuously(operands)
    }

    fn name(&self, variable: VarId) -> Item<'m> {
        Item::Owned(self.model.variable_in(variable, self.style))
    }

    fn integer(&self, value: i64, expected: Expected<'_>) -> String {
        let known = match expected {
            Expected::Enumeration(known) => known,
            Expected::Real if self.style.exact => return real(value as f64),
            _ => return value.to_string(),
        };
        let position = usize::try_from(value).ok().and_then(|value| value.checked_sub(1));
        let name = known.name.as_str();
        match position.and_then(|position| known.literals.get(position)) {
            Some(literal) if self.style.exact => format!("{}.{literal}", self.model.class_identifier(name)),
            Some(literal) => format!("{}.{literal}", name.rsplit('.').next().unwrap_or(name)),
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

    fn list(&self, expressions: &[ExprId], expected: Expected<'m>) -> Vec<Item<'m>> {
        let mut parts = Vec::with_capacity(2 * expressions.len());
        for &expression in expressions {
            if !parts.is_empty() {
                parts.push(Item::Text(", "));
            }
            parts.push(Item::Expression(expression, Strength::Whole, expected));
        }
        parts
    }

    fn class(&self, name: &str) -> String {
        if self.style.exact { self.model.class_identifier(name) } else { name.to_owned() }
    }

    fn call(&self, site: CallSiteId, mut arguments: &[ExprId], output: u32) -> Vec<Item<'m>> {
        if let Some(operation) = self.text_operation(site) {
            return self.text(operation, arguments);
        }
        let site = self.model.exprs.call_site(site);
        let Some(function) = self.model.functions.get(site.function) else { return vec![Item::Text("?")] };
        let mut parts = vec![Item::Owned(format!("{}(", self.class(called_name(function))))];
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
                let local = function.outputs.get(position).and_then(|&local| function.locals.get(local));
                let mut place = String::new();
                // The first result of several is what a call stands for.
                if position > 0 {
                    place =
                        format!(".{}", local.map_or_else(|| "?".to_owned(), |local| identifier(local.name.as_str())));
                }
                place.push_str(&place_in(shape, local.map(|local| &local.ty), rest));
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

    /// The operation on strings that a function of `lang` stands for, because the arena has none.
    fn text_operation(&self, site: CallSiteId) -> Option<ArrayFunction> {
        let function = self.model.functions.get(self.model.exprs.call_site(site).function)?;
        text_operation(function)
    }

    fn text(&self, operation: ArrayFunction, arguments: &[ExprId]) -> Vec<Item<'m>> {
        if operation == ArrayFunction::Concat {
            let side = |at: usize, least| arguments.get(at).map(|&id| Item::Expression(id, least, Expected::Any));
            return [side(0, Strength::Sum), Some(Item::Text(" + ")), side(1, Strength::Product)]
                .into_iter()
                .flatten()
                .collect();
        }
        let mut parts = vec![Item::Text("String(")];
        let options = string_options(operation);
        // Behind the options of an enumeration stand its literals, which the type tells.
        for (position, &argument) in arguments.iter().take(options.len() + 1).enumerate() {
            let expected = match (position, operation) {
                (0, ArrayFunction::StringInteger) => Expected::Integer,
                (0, ArrayFunction::StringReal) => Expected::Real,
                _ => Expected::Any,
            };
            if let Some(name) = position.checked_sub(1).and_then(|position| options.get(position)) {
                parts.extend([Item::Text(", "), Item::Text(name), Item::Text(" = ")]);
            }
            parts.push(Item::Expression(argument, Strength::Whole, expected));
        }
        parts.push(Item::Text(")"));
        parts
    }

    /// Scalars in braces and record constructors, as their shape says.
    fn shaped(&self, shape: &Shape, ty: Option<&'m Type>, scalars: &[ExprId], parts: &mut Vec<Item<'m>>) {
        match shape {
            Shape::Scalar => parts.extend(self.list(scalars, expected_by_type(ty))),
            Shape::Function { function, given } => self.function_value(*function, given, scalars, parts),
            Shape::Record(fields) => {
                let record = record_type(ty);
                parts.push(Item::Owned(format!(
                    "{}(",
                    record.map_or_else(String::new, |r| self.class(r.name.as_str()))
                )));
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

    /// `function f(a = 1)`, or the name alone where nothing is given.
    fn function_value(
        &self,
        function: FunctionId,
        given: &[(u32, Shape)],
        scalars: &[ExprId],
        parts: &mut Vec<Item<'m>>,
    ) {
        let Some(function) = self.model.functions.get(function) else { return parts.push(Item::Text("?")) };
        let name = self.class(function.name.as_str());
        if given.is_empty() {
            return parts.push(Item::Owned(name));
        }
        parts.push(Item::Owned(format!("function {name}(")));
        let mut rest = scalars;
        for (count, (position, shape)) in given.iter().enumerate() {
            let local = function.inputs.get(*position as usize).and_then(|&local| function.locals.get(local));
            let name = local.map_or_else(|| "?".to_owned(), |local| identifier(local.name.as_str()));
            parts.push(Item::Owned(format!("{}{name} = ", if count > 0 { ", " } else { "" })));
            let (own, behind) = rest.split_at(shape.scalars().min(rest.len()));
            rest = behind;
            self.shaped(shape, local.map(|local| &local.ty), own, parts);
        }
        parts.push(Item::Text(")"));
    }

    fn array(
        &self,
        sizes: &[u32],
        element: &Shape,
        ty: Option<&'m Type>,
        scalars: &[ExprId],
        parts: &mut Vec<Item<'m>>,
    ) {
        let Some((&first, rest)) = sizes.split_first() else { return self.shaped(element, ty, scalars, parts) };
        if first == 0 || rest.contains(&0) {
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            parts.push(Item::Owned(format!("fill({}, {})", some_value(self.model, ty), sizes.join(", "))));
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
}

fn no_event(parts: Vec<Item<'_>>) -> Vec<Item<'_>> {
    std::iter::once(Item::Text("noEvent(")).chain(parts).chain([Item::Text(")")]).collect()
}

fn expected_by_type(ty: Option<&Type>) -> Expected<'_> {
    match ty {
        Some(Type::Enumeration(known)) => Expected::Enumeration(known),
        Some(Type::Integer) => Expected::Integer,
        Some(Type::Real) => Expected::Real,
        _ => Expected::Any,
    }
}

/// Any value of a type, for arrays without elements.
fn some_value(model: &Model, ty: Option<&Type>) -> String {
    match ty {
        Some(Type::Boolean) => "false".to_owned(),
        Some(Type::String) => "\"\"".to_owned(),
        Some(Type::Integer) => "0".to_owned(),
        Some(Type::Enumeration(known)) => match known.literals.first() {
            Some(first) => format!("{}.{first}", model.class_identifier(known.name.as_str())),
            None => "0".to_owned(),
        },
        Some(Type::Record(record)) => {
            let value = |field: &Field| match field.sizes.is_empty() {
                true => some_value(model, Some(&field.ty)),
                false => {
                    let sizes: Vec<String> = field.sizes.iter().map(|size| size.unwrap_or(0).to_string()).collect();
                    format!("fill({}, {})", some_value(model, Some(&field.ty)), sizes.join(", "))
                }
            };
            let fields: Vec<String> = record.fields.iter().map(value).collect();
            format!("{}({})", model.class_identifier(record.name.as_str()), fields.join(", "))
        }
        _ => "0.0".to_owned(),
    }
}

/// The name that a call writes: of an external object its class, not the constructor in it.
fn called_name(function: &Function) -> &str {
    let output = function.outputs.first().and_then(|&output| function.locals.get(output));
    match output.map(|output| &output.ty) {
        Some(Type::Object(class)) if function.name.as_str().strip_suffix(".constructor") == Some(class.as_str()) => {
            class.as_str()
        }
        _ => function.name.as_str(),
    }
}

/// The operation on strings that is all that a function does with its inputs.
pub(crate) fn text_operation(function: &Function) -> Option<ArrayFunction> {
    let Body::Algorithm(statements) = &function.body else { return None };
    let [Statement { kind: StatementKind::Assign(target, FunctionExpr::Whole(operation, arguments)), .. }] =
        statements.as_slice()
    else {
        return None;
    };
    let is_text = *operation == ArrayFunction::Concat || !string_options(*operation).is_empty();
    let is_plain = target.steps.is_empty() && function.outputs == [target.local];
    let are_inputs = arguments.len() == function.inputs.len()
        && arguments.iter().zip(&function.inputs).all(|(a, b)| matches!(a, FunctionExpr::Local(local) if local == b));
    (is_text && is_plain && are_inputs).then_some(*operation)
}

/// The names of the arguments behind the value that becomes a text (3.7.2).
pub(crate) fn string_options(operation: ArrayFunction) -> &'static [&'static str] {
    match operation {
        ArrayFunction::StringReal => &["significantDigits", "minimumLength", "leftJustified"],
        ArrayFunction::StringFormat => &["format"],
        ArrayFunction::StringInteger | ArrayFunction::StringBoolean | ArrayFunction::StringEnumeration => {
            &["minimumLength", "leftJustified"]
        }
        _ => &[],
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
                out.push_str(&known.map_or_else(|| "?".to_owned(), |field| identifier(field.name.as_str())));
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
    if let Some(known) = builtin.elementary() {
        return known.name;
    }
    match builtin {
        Sample | SampleClocked => "sample",
        Initial => "initial",
        Terminal => "terminal",
        JustBehind => crate::modelica::BEHIND,
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
        _ => "",
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
            y = if on and x > 0.5 then 1.0 else sin(x)
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
