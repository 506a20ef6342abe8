//! The classes that a flat model uses, as Modelica text: enumerations, records, what functions as arguments take and
//! give, external objects and functions. Each kind is sorted by name, so that the text does not depend on the order in
//! which they were met.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::expr::{ExprId, Node, Shape};
use crate::function::{Body, Expr, Field, Function, FunctionId, FunctionType, RecordType, Type, for_each_statement};
use crate::function_text::{function_text, function_type_name, function_under_name, type_name};
use crate::model::{ActionKind, Enumeration, Model, VariableType};
use crate::print::text_operation;

/// The classes by the identifiers under which they are written.
#[derive(Default)]
struct Classes<'m> {
    enumerations: BTreeMap<String, &'m Enumeration>,
    records: BTreeMap<String, &'m RecordType>,
    function_types: BTreeMap<String, &'m FunctionType>,
    objects: BTreeMap<String, Vec<(&'static str, &'m Function)>>,
    functions: BTreeMap<String, &'m Function>,
}

/// All classes that the model uses.
pub(crate) fn class_text(model: &Model) -> String {
    let mut classes = Classes::default();
    for variable in model.variables.values() {
        if let VariableType::Enumeration(index) = variable.ty
            && let Some(known) = model.enumerations.get(index as usize)
        {
            classes.enumeration(model, known);
        }
    }
    for id in used_functions(model) {
        if let Some(function) = model.functions.get(id) {
            classes.function(model, function);
        }
    }
    classes.write(model)
}

/// The functions that the model calls, and those that these use.
pub fn used_functions(model: &Model) -> Vec<FunctionId> {
    reachable_functions(model, called_functions(model))
}

/// These functions, and those that they use.
pub fn reachable_functions(model: &Model, mut open: Vec<FunctionId>) -> Vec<FunctionId> {
    let mut seen: FxHashSet<FunctionId> = open.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(id) = open.pop() {
        found.push(id);
        let Some(function) = model.functions.get(id) else { continue };
        open.extend(functions_of(model, function).into_iter().filter(|&other| seen.insert(other)));
    }
    found
}

/// The calls in equations, actions and declarations.
pub fn calls(model: &Model) -> Vec<ExprId> {
    let nodes = model.exprs.postorder(&roots(model));
    nodes.into_iter().filter(|&id| matches!(model.exprs.node(id), Node::Call { .. })).collect()
}

/// The functions that equations and variables call themselves.
fn called_functions(model: &Model) -> Vec<FunctionId> {
    let mut found = Vec::new();
    for id in model.exprs.postorder(&roots(model)) {
        let Node::Call { site, .. } = model.exprs.node(id) else { continue };
        let site = model.exprs.call_site(site);
        found.extend(site.inputs.iter().filter_map(function_argument));
        // Operations on strings are written as such.
        if model.functions.get(site.function).is_some_and(|function| text_operation(function).is_none()) {
            found.push(site.function);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn function_argument(shape: &Shape) -> Option<FunctionId> {
    match shape {
        Shape::Function { function, .. } => Some(*function),
        _ => None,
    }
}

pub(crate) fn roots(model: &Model) -> Vec<ExprId> {
    let mut roots = Vec::new();
    for variable in model.variables.values() {
        let attributes = &variable.attributes;
        let all = [attributes.start, attributes.fixed, attributes.nominal, attributes.min, attributes.max];
        roots.extend(all.into_iter().chain([variable.binding]).flatten());
    }
    for equation in model.equations.values().chain(&model.initial_equations) {
        roots.extend([equation.left, equation.right]);
    }
    for action in model.actions.iter().chain(&model.initial_actions) {
        roots.extend(action.condition);
        match action.kind {
            ActionKind::Reinit { value, .. } => roots.push(value),
            ActionKind::Assert { holds, message, .. } => roots.extend([holds, message]),
            ActionKind::Terminate { message } => roots.push(message),
            ActionKind::Call(call) => roots.push(call),
        }
    }
    roots
}

/// The functions that a function uses: those it calls, its derivatives and inverses, and the destructor of an object.
fn functions_of(model: &Model, function: &Function) -> Vec<FunctionId> {
    let mut found: Vec<FunctionId> = function.derivatives.iter().map(|derivative| derivative.function).collect();
    found.extend(function.inverses.iter().map(|(_, inverse, _)| *inverse));
    for_each_expression(function, &mut |expr| {
        if let Expr::Call(id, _) | Expr::FunctionValue(id, _) | Expr::Vectorized { function: id, .. } = expr {
            found.push(*id);
        }
    });
    if let Some((class, "constructor")) = object_function(function) {
        let destructor = |other: &Arc<Function>| object_function(other) == Some((class, "destructor"));
        found.extend(model.functions.iter().filter(|(_, other)| destructor(other)).map(|(id, _)| id));
    }
    found
}

fn for_each_expression<'f>(function: &'f Function, visit: &mut dyn FnMut(&'f Expr)) {
    let mut open: Vec<&Expr> = Vec::new();
    for local in function.locals.values() {
        open.extend(local.sizes.iter().flatten().chain(&local.default));
    }
    match &function.body {
        Body::Algorithm(statements) => for_each_statement(statements, &mut |statement| {
            statement.for_each_expression(&mut |expr| open.push(expr));
        }),
        Body::External(external) => open.extend(&external.arguments),
        Body::RecordConstructor => {}
    }
    while let Some(expr) = open.pop() {
        visit(expr);
        expr.for_each_operand(&mut |operand| open.push(operand));
    }
}

/// The class of an external object whose constructor or destructor a function is.
fn object_function(function: &Function) -> Option<(&str, &'static str)> {
    let (locals, name) = match () {
        () if function.name.as_str().ends_with(".constructor") => (&function.outputs, "constructor"),
        () if function.name.as_str().ends_with(".destructor") => (&function.inputs, "destructor"),
        () => return None,
    };
    let Type::Object(class) = &function.locals.get(*locals.first()?)?.ty else { return None };
    let own = function.name.as_str().strip_suffix(name)?.strip_suffix('.')?;
    (own == class.as_str()).then_some((class.as_str(), name))
}

impl<'m> Classes<'m> {
    fn enumeration(&mut self, model: &Model, known: &'m Enumeration) {
        // Those of the language are declared already.
        if !["StateSelect", "AssertionLevel"].contains(&known.name.as_str()) {
            self.enumerations.insert(model.class_identifier(known.name.as_str()), known);
        }
    }

    fn types(&mut self, model: &Model, ty: &'m Type) {
        match ty {
            Type::Enumeration(known) => self.enumeration(model, known),
            Type::Record(record) => self.record(model, record),
            Type::Function(function) => {
                let name = function_type_name(model, function);
                if self.function_types.insert(name, function).is_none() {
                    function.inputs.iter().chain(&function.outputs).for_each(|field| self.types(model, &field.ty));
                }
            }
            _ => {}
        }
    }

    fn record(&mut self, model: &Model, record: &'m RecordType) {
        if self.records.insert(model.class_identifier(record.name.as_str()), record).is_none() {
            record.fields.iter().for_each(|field| self.types(model, &field.ty));
        }
    }

    fn function(&mut self, model: &Model, function: &'m Function) {
        function.locals.values().for_each(|local| self.types(model, &local.ty));
        for_each_expression(function, &mut |expr| match expr {
            Expr::Enumeration(known, _) => self.enumeration(model, known),
            Expr::Record(record, _) => self.record(model, record),
            _ => {}
        });
        match object_function(function) {
            Some((class, name)) => {
                self.objects.entry(model.class_identifier(class)).or_default().push((name, function));
            }
            None => {
                self.functions.insert(model.class_identifier(function.name.as_str()), function);
            }
        }
    }

    fn write(mut self, model: &Model) -> String {
        let mut out = String::new();
        for (name, known) in &self.enumerations {
            let literals: Vec<String> = known.literals.iter().map(|literal| literal.to_string()).collect();
            let _ = writeln!(out, "  type {name} = enumeration({});", literals.join(", "));
        }
        for (name, record) in &self.records {
            let _ = writeln!(out, "  record {name}");
            record.fields.iter().for_each(|field| out.push_str(&declaration(model, "", field)));
            let _ = writeln!(out, "  end {name};");
        }
        for (name, function) in &self.function_types {
            let _ = writeln!(out, "  partial function {name}");
            function.inputs.iter().for_each(|field| out.push_str(&declaration(model, "input ", field)));
            function.outputs.iter().for_each(|field| out.push_str(&declaration(model, "output ", field)));
            let _ = writeln!(out, "  end {name};");
        }
        for (name, functions) in &mut self.objects {
            functions.sort_by_key(|(name, _)| *name);
            let _ = writeln!(out, "  class {name}\n    extends ExternalObject;");
            for (name, function) in functions {
                out.push_str(&function_under_name(model, function, name, 4));
            }
            let _ = writeln!(out, "  end {name};");
        }
        self.functions.values().for_each(|function| out.push_str(&function_text(model, function)));
        out
    }
}

fn declaration(model: &Model, prefix: &str, field: &Field) -> String {
    let sizes: Vec<String> =
        field.sizes.iter().map(|size| size.map_or_else(|| ":".to_owned(), |size| size.to_string())).collect();
    let sizes = if sizes.is_empty() { String::new() } else { format!("[{}]", sizes.join(", ")) };
    let name = crate::print::identifier(field.name.as_str());
    format!("    {prefix}{} {name}{sizes};\n", type_name(model, &field.ty))
}
