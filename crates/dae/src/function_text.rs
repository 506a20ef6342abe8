//! Functions of the flat model as Modelica text. Record types and enumerations are written by their full names.
//!
//! Recursion follows the nesting of the written text; `stacker` moves on to a fresh stack where that is deep.

use std::fmt::Write as _;

use crate::expr::CompareOp;
use crate::function::{
    ArithmeticOp, ArrayFunction, Body, Expr, Function, Functions, Local, LocalId, ReductionOp, Statement,
    StatementKind, Step, Subscript, Target, Type,
};
use crate::print::{identifier, name_of, real, string};

const RED_ZONE: usize = 64 * 1024;
const STACK_CHUNK: usize = 1024 * 1024;

/// One function, indented by two blanks.
pub fn function_text(functions: &Functions, function: &Function) -> String {
    let mut text = Text { functions, function, out: String::new() };
    text.write();
    text.out
}

struct Text<'f> {
    functions: &'f Functions,
    function: &'f Function,
    out: String,
}

impl Text<'_> {
    fn write(&mut self) {
        let function = self.function;
        let name = identifier(function.name.as_str());
        let impure = if function.pure { "" } else { "impure " };
        let _ = writeln!(self.out, "  {impure}function {name}");
        let iterators = match &function.body {
            Body::Algorithm(statements) => iterators(statements),
            _ => Vec::new(),
        };
        for (id, local) in function.locals.iter() {
            if iterators.contains(&id) {
                continue;
            }
            if function.inputs.contains(&id) {
                self.local("input ", local);
            } else if function.outputs.contains(&id) {
                self.local("output ", local);
            } else {
                self.local("protected ", local);
            }
        }
        match &function.body {
            Body::Algorithm(statements) => {
                self.out.push_str("  algorithm\n");
                self.statements(statements, 4);
            }
            Body::External(external) => {
                let arguments = self.list(&external.arguments);
                let result = external.result.as_ref().map(|target| format!("{} = ", self.target(target)));
                let language = string(external.language.as_str());
                let call = format!("{}{}({arguments})", result.unwrap_or_default(), external.symbol);
                let _ = writeln!(self.out, "  external {language} {call};");
            }
            Body::RecordConstructor => {}
        }
        let _ = writeln!(self.out, "  end {name};");
    }

    fn local(&mut self, prefix: &str, local: &Local) {
        let sizes: Vec<String> =
            local.sizes.iter().map(|size| size.as_ref().map_or(":".to_owned(), |size| self.expr(size))).collect();
        let sizes = if sizes.is_empty() { String::new() } else { format!("[{}]", sizes.join(", ")) };
        let default = local.default.as_ref().map(|value| format!(" := {}", self.expr(value))).unwrap_or_default();
        let name = identifier(local.name.as_str());
        let _ = writeln!(self.out, "    {prefix}{} {name}{sizes}{default};", type_name(&local.ty));
    }

    fn statements(&mut self, statements: &[Statement], indent: usize) {
        for statement in statements {
            stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || self.statement(&statement.kind, indent));
        }
    }

    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    fn statement(&mut self, statement: &StatementKind, indent: usize) {
        match statement {
            StatementKind::Assign(target, value) => {
                let line = format!("{} := {};", self.target(target), self.expr(value));
                self.line(indent, &line);
            }
            StatementKind::AssignSeveral(targets, value) => {
                let targets: Vec<String> = targets
                    .iter()
                    .map(|target| target.as_ref().map(|target| self.target(target)).unwrap_or_default())
                    .collect();
                let line = format!("({}) := {};", targets.join(", "), self.expr(value));
                self.line(indent, &line);
            }
            StatementKind::If { branches, otherwise } => {
                for (position, (condition, body)) in branches.iter().enumerate() {
                    let keyword = if position == 0 { "if" } else { "elseif" };
                    let line = format!("{keyword} {} then", self.expr(condition));
                    self.line(indent, &line);
                    self.statements(body, indent + 2);
                }
                if !otherwise.is_empty() {
                    self.line(indent, "else");
                    self.statements(otherwise, indent + 2);
                }
                self.line(indent, "end if;");
            }
            StatementKind::For { iterator, range, body } => {
                let line = format!("for {} in {} loop", self.name(*iterator), self.expr(range));
                self.line(indent, &line);
                self.statements(body, indent + 2);
                self.line(indent, "end for;");
            }
            StatementKind::While { condition, body } => {
                let line = format!("while {} loop", self.expr(condition));
                self.line(indent, &line);
                self.statements(body, indent + 2);
                self.line(indent, "end while;");
            }
            StatementKind::Break => self.line(indent, "break;"),
            StatementKind::Return => self.line(indent, "return;"),
            StatementKind::Assert { condition, message, warning } => {
                let level = if *warning { ", AssertionLevel.warning" } else { "" };
                let line = format!("assert({}, {}{level});", self.expr(condition), self.expr(message));
                self.line(indent, &line);
            }
            StatementKind::Call(call) => {
                let line = format!("{};", self.expr(call));
                self.line(indent, &line);
            }
        }
    }

    fn name(&self, local: LocalId) -> String {
        self.function.locals.get(local).map_or_else(|| "?".to_owned(), |local| identifier(local.name.as_str()))
    }

    fn target(&self, target: &Target) -> String {
        let mut out = self.name(target.local);
        let mut ty = self.function.locals.get(target.local).map(|local| &local.ty);
        for step in &target.steps {
            match step {
                Step::Index(subscripts) => out.push_str(&self.subscripts(subscripts)),
                Step::Field(field) => {
                    out.push('.');
                    out.push_str(&field_name(ty, *field));
                    ty = field_type(ty, *field);
                }
            }
        }
        out
    }

    fn subscripts(&self, subscripts: &[Subscript]) -> String {
        let each = subscripts.iter().map(|subscript| match subscript {
            Subscript::All => ":".to_owned(),
            Subscript::Expr(expr) => self.expr(expr),
        });
        format!("[{}]", each.collect::<Vec<_>>().join(", "))
    }

    fn list(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(", ")
    }

    fn function_name(&self, function: crate::function::FunctionId) -> String {
        self.functions.get(function).map_or_else(|| "?".to_owned(), |function| identifier(function.name.as_str()))
    }

    fn expr(&self, expr: &Expr) -> String {
        stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || self.operation(expr))
    }

    /// An operand: in parentheses unless it holds together by itself.
    fn operand(&self, expr: &Expr) -> String {
        let alone = !matches!(
            expr,
            Expr::Neg(_)
                | Expr::Not(_)
                | Expr::Arithmetic(..)
                | Expr::Elementwise(..)
                | Expr::And(..)
                | Expr::Or(..)
                | Expr::Compare(..)
                | Expr::If(..)
                | Expr::Range(..)
        ) && !matches!(expr, Expr::Real(value) if *value < 0.0)
            && !matches!(expr, Expr::Integer(value) if *value < 0);
        if alone { self.expr(expr) } else { format!("({})", self.expr(expr)) }
    }

    fn operation(&self, expr: &Expr) -> String {
        let binary = |a: &Expr, sign: &str, b: &Expr| format!("{}{sign}{}", self.operand(a), self.operand(b));
        match expr {
            Expr::Real(value) => real(*value),
            Expr::Integer(value) | Expr::Enumeration(value) => value.to_string(),
            Expr::Boolean(value) => value.to_string(),
            Expr::String(text) => string(text),
            Expr::Local(local) => self.name(*local),
            Expr::Index(of, subscripts) => format!("{}{}", self.operand(of), self.subscripts(subscripts)),
            Expr::Field(of, field) => {
                let ty = self.type_of(of);
                format!("{}.{}", self.operand(of), field_name(ty, *field))
            }
            Expr::Neg(a) => format!("-{}", self.operand(a)),
            Expr::Not(a) => format!("not {}", self.operand(a)),
            Expr::Arithmetic(op, a, b) => binary(a, arithmetic(*op), b),
            Expr::Elementwise(op, a, b) => binary(a, &format!(" .{}", arithmetic(*op).trim_start()), b),
            Expr::And(a, b) => binary(a, " and ", b),
            Expr::Or(a, b) => binary(a, " or ", b),
            Expr::Compare(op, a, b) => binary(a, comparison(*op), b),
            Expr::If(condition, then, otherwise) => {
                format!("if {} then {} else {}", self.operand(condition), self.operand(then), self.operand(otherwise))
            }
            Expr::Array(items) => format!("{{{}}}", self.list(items)),
            Expr::Range(from, None, to) => binary(from, ":", to),
            Expr::Range(from, Some(step), to) => {
                format!("{}:{}:{}", self.operand(from), self.operand(step), self.operand(to))
            }
            Expr::ArrayFor { element, iterators } => format!("{{{}}}", self.comprehension(element, iterators)),
            Expr::Reduction { op, element, iterators } => {
                let name = match op {
                    ReductionOp::Sum => "sum",
                    ReductionOp::Product => "product",
                    ReductionOp::Min => "min",
                    ReductionOp::Max => "max",
                };
                format!("{name}({})", self.comprehension(element, iterators))
            }
            Expr::Record(record, fields) => format!("{}({})", identifier(record.name.as_str()), self.list(fields)),
            Expr::Builtin(builtin, arguments) => format!("{}({})", name_of(*builtin), self.list(arguments)),
            Expr::Whole(ArrayFunction::Concat, arguments) => {
                arguments.iter().map(|argument| self.operand(argument)).collect::<Vec<_>>().join(" + ")
            }
            Expr::Whole(function, arguments) => format!("{}({})", whole(*function), self.list(arguments)),
            Expr::Call(function, arguments) => format!("{}({})", self.function_name(*function), self.list(arguments)),
            Expr::CallLocal(local, arguments) => format!("{}({})", self.name(*local), self.list(arguments)),
            Expr::FunctionValue(function, given) => {
                let given: Vec<String> = given.iter().map(|(_, value)| self.expr(value)).collect();
                format!("function {}({})", self.function_name(*function), given.join(", "))
            }
            Expr::Vectorized { function, arguments, .. } => {
                format!("{}({})", self.function_name(*function), self.list(arguments))
            }
        }
    }

    fn comprehension(&self, element: &Expr, iterators: &[(LocalId, Expr)]) -> String {
        let ranges = iterators.iter().map(|(local, range)| format!("{} in {}", self.name(*local), self.expr(range)));
        format!("{} for {}", self.expr(element), ranges.collect::<Vec<_>>().join(", "))
    }

    /// The type of a value whose field is taken.
    fn type_of(&self, expr: &Expr) -> Option<&Type> {
        let mut fields = Vec::new();
        let mut current = expr;
        let ty = loop {
            match current {
                Expr::Local(local) => break self.function.locals.get(*local).map(|local| &local.ty),
                Expr::Index(of, _) => current = of,
                Expr::Field(of, field) => {
                    fields.push(*field);
                    current = of;
                }
                Expr::Call(function, _) | Expr::Vectorized { function, .. } => {
                    let function = self.functions.get(*function)?;
                    break function.locals.get(*function.outputs.first()?).map(|local| &local.ty);
                }
                _ => break None,
            }
        };
        fields.iter().rev().fold(ty, |ty, &field| field_type(ty, field))
    }
}

fn field_name(ty: Option<&Type>, field: u32) -> String {
    match ty {
        Some(Type::Record(record)) => {
            record.fields.get(field as usize).map_or_else(|| "?".to_owned(), |field| identifier(field.name.as_str()))
        }
        _ => format!("field{}", field + 1),
    }
}

fn field_type(ty: Option<&Type>, field: u32) -> Option<&Type> {
    match ty {
        Some(Type::Record(record)) => record.fields.get(field as usize).map(|field| &field.ty),
        _ => None,
    }
}

fn type_name(ty: &Type) -> String {
    match ty {
        Type::Real => "Real".to_owned(),
        Type::Integer | Type::Enumeration => "Integer".to_owned(),
        Type::Boolean => "Boolean".to_owned(),
        Type::String => "String".to_owned(),
        Type::Record(record) => identifier(record.name.as_str()),
        Type::Object => "ExternalObject".to_owned(),
        Type::Function => "function".to_owned(),
    }
}

/// Iterators are locals too, but declared by their loops.
fn iterators(statements: &[Statement]) -> Vec<LocalId> {
    let mut found = Vec::new();
    let mut stack: Vec<&Statement> = statements.iter().collect();
    while let Some(statement) = stack.pop() {
        match &statement.kind {
            StatementKind::For { iterator, body, .. } => {
                found.push(*iterator);
                stack.extend(body);
            }
            StatementKind::While { body, .. } => stack.extend(body),
            StatementKind::If { branches, otherwise } => {
                stack.extend(branches.iter().flat_map(|(_, body)| body));
                stack.extend(otherwise);
            }
            _ => {}
        }
    }
    found
}

fn arithmetic(op: ArithmeticOp) -> &'static str {
    match op {
        ArithmeticOp::Add => " + ",
        ArithmeticOp::Sub => " - ",
        ArithmeticOp::Mul => "*",
        ArithmeticOp::Div => "/",
        ArithmeticOp::Pow => "^",
    }
}

fn comparison(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Less => " < ",
        CompareOp::LessEqual => " <= ",
        CompareOp::Greater => " > ",
        CompareOp::GreaterEqual => " >= ",
        CompareOp::Equal => " == ",
        CompareOp::NotEqual => " <> ",
    }
}

fn whole(function: ArrayFunction) -> &'static str {
    use ArrayFunction::*;
    match function {
        Size => "size",
        Ndims => "ndims",
        Scalar => "scalar",
        Vector => "vector",
        Matrix => "matrix",
        Identity => "identity",
        Diagonal => "diagonal",
        Zeros => "zeros",
        Ones => "ones",
        Fill => "fill",
        Linspace => "linspace",
        Min => "min",
        Max => "max",
        Sum => "sum",
        Product => "product",
        Transpose => "transpose",
        OuterProduct => "outerProduct",
        Symmetric => "symmetric",
        Cross => "cross",
        Skew => "skew",
        Cat => "cat",
        Promote => "promote",
        Integer | Enumeration => "Integer",
        StringReal | StringFormat | StringInteger | StringBoolean | StringEnumeration => "String",
        Concat => "String",
    }
}

#[cfg(test)]
mod tests {
    use base::{FileId, Id, IdVec, Name, Span};
    use expect_test::expect;

    use super::*;
    use crate::function::Inline;

    #[test]
    fn a_function_with_a_loop() {
        let span = Span::new(FileId::from_index(0), 0, 0);
        let mut locals = IdVec::new();
        let mut local = |name: &str, ty: Type, sizes: Vec<Option<Expr>>, default: Option<Expr>| {
            locals.push(Local { name: Name::new(name), ty, sizes, default, span })
        };
        let u = local("u", Type::Real, vec![None], None);
        let y = local("y", Type::Real, vec![], Some(Expr::Real(0.0)));
        let i = local("i", Type::Integer, vec![], None);
        let element = Expr::Index(Box::new(Expr::Local(u)), vec![Subscript::Expr(Expr::Local(i))]);
        let square = Expr::Arithmetic(ArithmeticOp::Pow, Box::new(element), Box::new(Expr::Integer(2)));
        let sum = Expr::Arithmetic(ArithmeticOp::Add, Box::new(Expr::Local(y)), Box::new(square));
        let assign = StatementKind::Assign(Target { local: y, steps: vec![] }, sum);
        let size = Expr::Whole(ArrayFunction::Size, vec![Expr::Local(u), Expr::Integer(1)]);
        let body = vec![Statement {
            kind: StatementKind::For {
                iterator: i,
                range: Expr::Range(Box::new(Expr::Integer(1)), None, Box::new(size)),
                body: vec![Statement { kind: assign, span }],
            },
            span,
        }];
        let function = Function {
            name: Name::new("P.squares"),
            inputs: vec![u],
            outputs: vec![y],
            locals,
            body: Body::Algorithm(body),
            pure: true,
            inline: Inline::Unstated,
            derivatives: vec![],
            inverses: vec![],
            span,
        };
        let text = format!("package P\n{}end P;\n", function_text(&IdVec::new(), &function));
        expect![[r#"
            package P
              function 'P.squares'
                input Real u[:];
                output Real y := 0.0;
              algorithm
                for i in 1:size(u, 1) loop
                  y := y + (u[i]^2);
                end for;
              end 'P.squares';
            end P;
        "#]]
        .assert_eq(&text);
    }
}
