//! Functions of the flat model as Modelica text. Record types and enumerations are written by their full names.
//!
//! Recursion follows the nesting of the written text; `stacker` moves on to a fresh stack where that is deep.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::expr::CompareOp;
use crate::function::{
    Accessor, ArithmeticOp, ArrayFunction, Body, Expr, External, Function, FunctionType, Inline, Local, LocalId,
    ReductionOp, Statement, StatementKind, Subscript, Target, Type, for_each_statement,
};
use crate::model::Model;
use crate::print::{identifier, name_of, real, string, string_options};

const RED_ZONE: usize = 64 * 1024;
const STACK_CHUNK: usize = 1024 * 1024;

/// One function under its own name, indented by two blanks.
pub fn function_text(model: &Model, function: &Function) -> String {
    function_under_name(model, function, &model.class_identifier(function.name.as_str()), 2)
}

/// One function under another name.
pub(crate) fn function_under_name(model: &Model, function: &Function, name: &str, indent: usize) -> String {
    let mut text = Text { model, function, out: String::new(), indent };
    text.write(name);
    text.out
}

/// The name of a type in the text.
pub(crate) fn type_name(model: &Model, ty: &Type) -> String {
    match ty {
        Type::Real => "Real".to_owned(),
        Type::Integer => "Integer".to_owned(),
        Type::Boolean => "Boolean".to_owned(),
        Type::String => "String".to_owned(),
        Type::Enumeration(known) => model.class_identifier(known.name.as_str()),
        Type::Record(record) => model.class_identifier(record.name.as_str()),
        Type::Object(class) => model.class_identifier(class.as_str()),
        Type::Function(function) => function_type_name(model, function),
    }
}

/// Functions as arguments are of a class that is named after what it takes and gives.
pub(crate) fn function_type_name(model: &Model, ty: &FunctionType) -> String {
    let list = |fields: &[crate::function::Field]| {
        let each = fields.iter().map(|field| {
            let ty = type_name(model, &field.ty);
            format!("{} {}{}", ty.trim_matches('\''), field.name, "[:]".repeat(field.sizes.len()))
        });
        each.collect::<Vec<_>>().join(", ")
    };
    identifier(&format!("function({}) -> ({})", list(&ty.inputs), list(&ty.outputs)).replace('\'', ""))
}

struct Text<'f> {
    model: &'f Model,
    function: &'f Function,
    out: String,
    indent: usize,
}

impl<'f> Text<'f> {
    fn write(&mut self, name: &str) {
        let function = self.function;
        let impure = if function.pure { "" } else { "impure " };
        let outer = self.indent;
        self.line(outer, &format!("{impure}function {name}"));
        self.locals();
        match &function.body {
            Body::Algorithm(statements) => {
                self.line(outer, "algorithm");
                self.statements(statements, outer + 2);
            }
            Body::External(external) => {
                let arguments = self.list(&external.arguments);
                let result = external.result.as_ref().map(|target| format!("{} = ", self.target(target)));
                let language = string(external.language.as_str());
                let call = format!("{}{}({arguments})", result.unwrap_or_default(), external.symbol);
                let annotation = code_annotation(external);
                self.line(outer, &format!("external {language} {call}{annotation};"));
            }
            Body::RecordConstructor => {}
        }
        let annotations = self.annotations();
        if !annotations.is_empty() {
            self.line(outer + 2, &format!("annotation({});", annotations.join(", ")));
        }
        self.line(outer, &format!("end {name};"));
    }

    /// In their order, because sizes and first values may use what stands before; but inputs and outputs come in the order in
    /// which calls have them.
    fn locals(&mut self) {
        let function = self.function;
        let iterators = iterators(function);
        let mut protected = false;
        let mut order: Vec<LocalId> = function.locals.ids().collect();
        if !function.inputs.is_sorted() || !function.outputs.is_sorted() {
            let rank = |id: &LocalId| {
                let place = |list: &[LocalId]| list.iter().position(|other| other == id);
                match (place(&function.inputs), place(&function.outputs)) {
                    (Some(input), _) => (0, input),
                    (_, Some(output)) => (2, output),
                    _ => (1, 0),
                }
            };
            order.sort_by_key(rank);
        }
        for id in order {
            let local = &function.locals[id];
            if iterators.contains(&id) {
                continue;
            }
            let prefix = if function.inputs.contains(&id) {
                "input "
            } else if function.outputs.contains(&id) {
                "output "
            } else {
                ""
            };
            if protected != prefix.is_empty() {
                protected = prefix.is_empty();
                let outer = self.indent;
                self.line(outer, if protected { "protected" } else { "public" });
            }
            self.local(prefix, local);
        }
    }

    fn local(&mut self, prefix: &str, local: &Local) {
        let sizes: Vec<String> =
            local.sizes.iter().map(|size| size.as_ref().map_or(":".to_owned(), |size| self.expr(size))).collect();
        let sizes = if sizes.is_empty() { String::new() } else { format!("[{}]", sizes.join(", ")) };
        let default = match &local.default {
            None => String::new(),
            Some(value) if is_unset_in_part(value) => self.modification(value, "", &|value| value),
            Some(value) => format!(" := {}", self.expr(value)),
        };
        let name = identifier(local.name.as_str());
        let indent = self.indent + 2;
        self.line(indent, &format!("{prefix}{} {name}{sizes}{default};", type_name(self.model, &local.ty)));
    }

    /// The first values of a record as a modification, without the fields that have none. `of_all` makes of the value of one
    /// element that of the array around it; `each` stands before it where all elements have the same.
    fn modification(&self, value: &Expr, each: &str, of_all: &dyn Fn(String) -> String) -> String {
        match value {
            Expr::Whole(ArrayFunction::Fill, arguments) => {
                arguments.first().map_or_else(String::new, |element| self.modification(element, "each ", of_all))
            }
            Expr::ArrayFor { element, iterators } => {
                let of_all = |value| of_all(format!("{{{}}}", self.for_each_of(value, iterators)));
                self.modification(element, each, &of_all)
            }
            Expr::Record(record, values) => {
                let mut given = Vec::new();
                for (field, value) in record.fields.iter().zip(values) {
                    let name = identifier(field.name.as_str());
                    match is_unset_in_part(value) {
                        true => {
                            let inner =
                                stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || self.modification(value, each, of_all));
                            given.extend((!inner.is_empty()).then(|| format!("{name}{inner}")));
                        }
                        false => given.push(format!("{each}{name} = {}", of_all(self.expr(value)))),
                    }
                }
                if given.is_empty() { String::new() } else { format!("({})", given.join(", ")) }
            }
            _ => String::new(),
        }
    }

    fn annotations(&self) -> Vec<String> {
        let function = self.function;
        let mut found = Vec::new();
        match function.inline {
            Inline::Unstated => {}
            Inline::Never => found.push("Inline = false".to_owned()),
            Inline::Early => found.push("Inline = true".to_owned()),
            Inline::Late => found.push("LateInline = true".to_owned()),
        }
        let input = |position: &u32| {
            function.inputs.get(*position as usize).map_or_else(|| "?".to_owned(), |&local| self.name(local))
        };
        for derivative in &function.derivatives {
            let mut options = Vec::new();
            if derivative.order > 1 {
                options.push(format!("order = {}", derivative.order));
            }
            options.extend(derivative.zero_derivative.iter().map(|at| format!("zeroDerivative = {}", input(at))));
            options.extend(derivative.no_derivative.iter().map(|at| format!("noDerivative = {}", input(at))));
            let options = if options.is_empty() { String::new() } else { format!("({})", options.join(", ")) };
            found.push(format!("derivative{options} = {}", self.function_name(derivative.function)));
        }
        for (position, inverse, arguments) in &function.inverses {
            let output = function.outputs.first().map_or_else(|| "?".to_owned(), |&local| self.name(local));
            let arguments: Vec<String> =
                arguments.iter().map(|argument| argument.as_ref().map_or_else(|| output.clone(), &input)).collect();
            let call = format!("{}({})", self.function_name(*inverse), arguments.join(", "));
            found.push(format!("inverse({} = {call})", input(position)));
        }
        found
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
                Accessor::Index(subscripts) => out.push_str(&self.subscripts(subscripts)),
                Accessor::Field(field) => {
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
            // Booleans and enumerations count as well; the sizes in this text are numbers.
            Subscript::Expr(expr) => match self.type_of(expr) {
                Some(Type::Enumeration(_)) => format!("Integer({})", self.expr(expr)),
                Some(Type::Boolean) => format!("if {} then 2 else 1", self.expr(expr)),
                _ => self.expr(expr),
            },
        });
        format!("[{}]", each.collect::<Vec<_>>().join(", "))
    }

    fn list(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(", ")
    }

    fn function_name(&self, function: crate::function::FunctionId) -> String {
        let function = self.model.functions.get(function);
        function.map_or_else(|| "?".to_owned(), |function| self.model.class_identifier(function.name.as_str()))
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
        ) && !matches!(expr, Expr::Whole(ArrayFunction::Concat, _))
            && !matches!(expr, Expr::Real(value) if value.is_sign_negative() || value.is_nan())
            && !matches!(expr, Expr::Integer(value) if *value < 0);
        if alone { self.expr(expr) } else { format!("({})", self.expr(expr)) }
    }

    /// What subscripts or the name of a field may follow.
    fn base(&self, expr: &Expr) -> String {
        match expr {
            Expr::Local(_) | Expr::Index(..) | Expr::Field(..) => self.expr(expr),
            _ => format!("({})", self.expr(expr)),
        }
    }

    fn enumeration_literal(&self, known: &crate::model::Enumeration, ordinal: i64) -> String {
        let position = usize::try_from(ordinal).ok().and_then(|ordinal| ordinal.checked_sub(1));
        match position.and_then(|position| known.literals.get(position)) {
            Some(literal) => format!("{}.{literal}", self.model.class_identifier(known.name.as_str())),
            None => ordinal.to_string(),
        }
    }

    fn operation(&self, expr: &Expr) -> String {
        let binary = |a: &Expr, sign: &str, b: &Expr| format!("{}{sign}{}", self.operand(a), self.operand(b));
        match expr {
            // There is no literal for what has no value yet.
            Expr::Real(value) if value.is_nan() => {
                binary(&Expr::Real(0.0), arithmetic(ArithmeticOp::Div), &Expr::Real(0.0))
            }
            Expr::Real(value) => real(*value),
            Expr::Integer(value) => value.to_string(),
            Expr::Enumeration(known, ordinal) => self.enumeration_literal(known, *ordinal),
            Expr::Boolean(value) => value.to_string(),
            Expr::String(text) => string(text),
            // Written as a modification without it (`local`).
            Expr::Unset(_) => "?".to_owned(),
            Expr::Local(local) => self.name(*local),
            Expr::Index(of, subscripts) => format!("{}{}", self.base(of), self.subscripts(subscripts)),
            Expr::Field(of, field) => {
                let ty = self.type_of(of);
                format!("{}.{}", self.base(of), field_name(ty.as_ref(), *field))
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
            Expr::Array(items) if items.is_empty() => "fill(0.0, 0)".to_owned(),
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
            Expr::Record(record, fields) => {
                format!("{}({})", self.model.class_identifier(record.name.as_str()), self.list(fields))
            }
            Expr::Builtin(builtin, arguments) => format!("{}({})", name_of(*builtin), self.list(arguments)),
            Expr::Whole(ArrayFunction::Concat, arguments) => {
                arguments.iter().map(|argument| self.operand(argument)).collect::<Vec<_>>().join(" + ")
            }
            Expr::Whole(function, arguments) => self.whole(*function, arguments),
            Expr::Call(function, arguments) => format!("{}({})", self.function_name(*function), self.list(arguments)),
            Expr::CallLocal(local, arguments) => format!("{}({})", self.name(*local), self.list(arguments)),
            Expr::FunctionValue(function, given) if given.is_empty() => self.function_name(*function),
            Expr::FunctionValue(function, given) => {
                let inputs = self.model.functions.get(*function);
                let name = |at: u32| {
                    let local = inputs.and_then(|f| f.locals.get(*f.inputs.get(at as usize)?));
                    local.map_or_else(|| "?".to_owned(), |local| identifier(local.name.as_str()))
                };
                let given: Vec<String> =
                    given.iter().map(|(at, value)| format!("{} = {}", name(*at), self.expr(value))).collect();
                format!("function {}({})", self.function_name(*function), given.join(", "))
            }
            Expr::LocalValue(local, given) => {
                let inputs = match self.function.locals.get(*local).map(|local| &local.ty) {
                    Some(Type::Function(function)) => function.inputs.as_slice(),
                    _ => &[],
                };
                let name = |at: u32| {
                    inputs.get(at as usize).map_or_else(|| "?".to_owned(), |input| identifier(input.name.as_str()))
                };
                let given: Vec<String> =
                    given.iter().map(|(at, value)| format!("{} = {}", name(*at), self.expr(value))).collect();
                format!("function {}({})", self.name(*local), given.join(", "))
            }
            Expr::Vectorized { function, arguments, .. } => {
                format!("{}({})", self.function_name(*function), self.list(arguments))
            }
        }
    }

    fn comprehension(&self, element: &Expr, iterators: &[(LocalId, Expr)]) -> String {
        self.for_each_of(self.expr(element), iterators)
    }

    fn for_each_of(&self, element: String, iterators: &[(LocalId, Expr)]) -> String {
        let ranges = iterators.iter().map(|(local, range)| format!("{} in {}", self.name(*local), self.expr(range)));
        format!("{element} for {}", ranges.collect::<Vec<_>>().join(", "))
    }

    fn whole(&self, function: ArrayFunction, arguments: &[Expr]) -> String {
        let options = string_options(function);
        match (function, arguments) {
            (ArrayFunction::Integer, [Expr::Builtin(crate::Builtin::Floor, inner)]) => {
                format!("integer({})", self.list(inner))
            }
            (ArrayFunction::Enumeration, [value, Expr::Enumeration(known, _)]) => {
                format!("{}({})", self.model.class_identifier(known.name.as_str()), self.expr(value))
            }
            (_, [value, rest @ ..]) if !options.is_empty() => {
                let options: Vec<String> = options
                    .iter()
                    .zip(rest)
                    .map(|(name, option)| format!(", {name} = {}", self.expr(option)))
                    .collect();
                format!("String({}{})", self.expr(value), options.concat())
            }
            _ => format!("{}({})", whole(function), self.list(arguments)),
        }
    }

    /// The type of a value, as far as its text needs it.
    fn type_of(&self, expr: &Expr) -> Option<Type> {
        let mut fields = Vec::new();
        let mut current = expr;
        let ty = loop {
            match current {
                Expr::Local(local) => break self.function.locals.get(*local).map(|local| local.ty.clone()),
                Expr::Boolean(_) | Expr::Not(_) | Expr::And(..) | Expr::Or(..) | Expr::Compare(..) => {
                    break Some(Type::Boolean);
                }
                Expr::Enumeration(known, _) => break Some(Type::Enumeration(known.clone())),
                Expr::Record(record, _) => break Some(Type::Record(record.clone())),
                Expr::Index(of, _) | Expr::If(_, of, _) => current = of,
                Expr::Array(items) => current = items.first()?,
                Expr::ArrayFor { element, .. } => current = element,
                Expr::Whole(ArrayFunction::Fill | ArrayFunction::Transpose | ArrayFunction::Vector, items) => {
                    current = items.first()?;
                }
                Expr::Whole(ArrayFunction::Cat, items) => current = items.get(1)?,
                Expr::Field(of, field) => {
                    fields.push(*field);
                    current = of;
                }
                Expr::Call(function, _) | Expr::Vectorized { function, .. } => {
                    let function = self.model.functions.get(*function)?;
                    break function.locals.get(*function.outputs.first()?).map(|local| local.ty.clone());
                }
                Expr::CallLocal(local, _) => match &self.function.locals.get(*local)?.ty {
                    Type::Function(function) => break function.outputs.first().map(|output| output.ty.clone()),
                    _ => break None,
                },
                _ => break None,
            }
        };
        fields.iter().rev().fold(ty, |ty, &field| field_type(ty.as_ref(), field).cloned())
    }
}

/// Whether a field of a record in it has no value.
fn is_unset_in_part(value: &Expr) -> bool {
    stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || match value {
        Expr::Unset(_) => true,
        Expr::Record(_, parts) => parts.iter().any(is_unset_in_part),
        Expr::Whole(ArrayFunction::Fill, arguments) => arguments.first().is_some_and(is_unset_in_part),
        Expr::ArrayFor { element, .. } => is_unset_in_part(element),
        _ => false,
    })
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

/// Iterators are locals too, but declared by their loops.
fn iterators(function: &Function) -> Vec<LocalId> {
    let mut found = Vec::new();
    let Body::Algorithm(statements) = &function.body else { return found };
    let mut exprs: Vec<&Expr> = Vec::new();
    for local in function.locals.values() {
        exprs.extend(local.sizes.iter().flatten().chain(&local.default));
    }
    for_each_statement(statements, &mut |statement| {
        if let StatementKind::For { iterator, .. } = &statement.kind {
            found.push(*iterator);
        }
        statement.for_each_expression(&mut |expr| exprs.push(expr));
    });
    while let Some(expr) = exprs.pop() {
        if let Expr::ArrayFor { iterators, .. } | Expr::Reduction { iterators, .. } = expr {
            found.extend(iterators.iter().map(|(local, _)| *local));
        }
        expr.for_each_operand(&mut |operand| exprs.push(operand));
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

/// Which code an outside function needs, as an annotation. Where its folders are on this computer is no matter of the model.
fn code_annotation(external: &External) -> String {
    let texts = |texts: &[Arc<str>]| -> Vec<String> { texts.iter().map(|text| string(text)).collect() };
    let parts = [("Library", texts(&external.libraries)), ("Include", texts(&external.source.includes))];
    let parts = parts.into_iter().filter(|(_, texts)| !texts.is_empty());
    let parts: Vec<String> = parts.map(|(name, texts)| format!("{name} = {{{}}}", texts.join(", "))).collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(" annotation({})", parts.join(", ")),
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
        let model = Model { name: "P".to_owned(), ..Model::default() };
        let text = format!("model P\n{}end P;\n", function_text(&model, &function));
        expect![[r#"
            model P
              function squares
                input Real u[:];
                output Real y := 0.0;
              algorithm
                for i in 1:size(u, 1) loop
                  y := y + (u[i]^2);
                end for;
              end squares;
            end P;
        "#]]
        .assert_eq(&text);
    }
}
