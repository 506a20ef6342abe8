//! Changes from outside, as on the command line: modifiers of the model, also with a value in another unit
//! (`phi = 90 deg`).

use std::sync::Arc;

use base::{Diagnostic, Name};
use syntax::ast;
use units::Conversion;

use crate::instance::{Builtin, ClassId, ComponentType, Instances, Member, Outcome};
use crate::library::name_parts;
use crate::modifier::{Binding, Modifier, Spread};

/// How the names begin under which texts from the command line are kept.
pub const SET: &str = "--set ";

/// What is given from outside when a class is flattened.
#[derive(Clone, Default)]
pub struct Overrides {
    /// `motor.R` and the text of an expression.
    pub set: Vec<(String, String)>,
    /// Which of them come from a file: `motor.R` and the name of the file.
    pub files: Vec<(String, String)>,
    /// Top-level inputs that are given from outside, also where they have a value of their own.
    pub inputs: Vec<String>,
    /// Leave the units of equations unchecked.
    pub no_unit_check: bool,
    /// What is under `der` gets a name unless it is linear, so that what was written is differenced.
    pub name_differentiated: bool,
    /// What may be called in shared libraries.
    pub outside: Option<Arc<dyn dae::OutsideFunctions>>,
    /// What functions may touch.
    pub access: Arc<dae::Access>,
    /// What the class is flattened for.
    pub purpose: Purpose,
}

/// What a class is flattened for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Purpose {
    /// To run it: it has to be complete.
    #[default]
    Simulation,
    /// To find its mistakes: any class will do, also partial ones and functions.
    Inspection,
}

impl Overrides {
    /// What they say about a class.
    pub(crate) fn modifier(&self, instances: &mut Instances, class: ClassId) -> Outcome<Modifier> {
        let mut modifier = Modifier::default();
        let mut unchanged = None;
        for (position, (path, text)) in self.set.iter().enumerate() {
            if self.set[position + 1..].iter().any(|(later, _)| later == path) {
                let message = format!("`{path}` is set more than once; the last value counts");
                instances.report(Box::new(Diagnostic::warning("set-twice", message)));
                continue;
            }
            // Modifiers reach arrays as a whole (7.2.5); elements are set in the flat model.
            if is_element(path) {
                continue;
            }
            let top = *unchanged.get_or_insert_with(|| instances.top_instance(class, Arc::default()));
            self.add(instances, (class, top), &mut modifier, path, text)
                .map_err(|wrong| self.with_file(path, wrong))?;
        }
        Ok(modifier)
    }

    fn add(
        &self,
        instances: &mut Instances,
        (class, top): (ClassId, ClassId),
        modifier: &mut Modifier,
        path: &str,
        text: &str,
    ) -> Outcome<()> {
        check_path(instances, top, path)?;
        let text = without_quotes(instances, top, path, text)?;
        match with_unit(&text) {
            None => add(instances, class, modifier, (path, &self.label(path)), &text),
            Some((value, unit)) => {
                let value = converted(instances, top, path, value, unit)?;
                add(instances, class, modifier, (path, &self.label(path)), &value)
            }
        }
    }

    /// What stands for a file in messages about a value.
    fn label(&self, path: &str) -> String {
        match self.files.iter().find(|(known, _)| known == path) {
            Some((_, file)) => format!("{file}: {path}"),
            None => format!("{SET}{path}"),
        }
    }

    /// Says which file a wrong value is from, where the message does not show it.
    pub(crate) fn with_file(&self, path: &str, diagnostic: Box<Diagnostic>) -> Box<Diagnostic> {
        match self.files.iter().find(|(known, _)| known == path) {
            Some((_, file)) => Box::new(diagnostic.note(format!("`{path}` is set in `{file}`"))),
            None => diagnostic,
        }
    }
}

/// The text of a value, in which what is no String stands without quotes: `"25 degC"` is a number with a unit, `"E.one"` an
/// enumeration literal, and so are the elements of an array. Files of parameters have nothing but texts for such values.
pub(crate) fn without_quotes(instances: &mut Instances, class: ClassId, path: &str, text: &str) -> Outcome<String> {
    if !text.contains('"') || is_text(instances, class, path)? {
        return Ok(text.to_owned());
    }
    let file = instances.libraries.sources.add(format!("{SET}{path}"), text);
    let Ok(expr) = syntax::parse_expression(file, text) else { return Ok(text.to_owned()) };
    Ok(spelled(instances, class, path, text, &expr)?.unwrap_or_else(|| text.to_owned()))
}

/// The text of an expression whose texts are values; `None` where it has none.
fn spelled(
    instances: &mut Instances,
    class: ClassId,
    path: &str,
    text: &str,
    expr: &ast::Expr,
) -> Outcome<Option<String>> {
    match &expr.kind {
        ast::ExprKind::String(inner) if inner.trim().is_empty() => {
            let message = format!("an empty text is no value of `{path}`");
            Err(Box::new(Diagnostic::error("wrong-value", message)))
        }
        ast::ExprKind::String(inner) => match with_unit(inner) {
            Some((value, unit)) => Ok(Some(converted(instances, class, path, value, unit)?)),
            None => Ok(Some(inner.to_string())),
        },
        ast::ExprKind::Array(elements) => {
            let (mut parts, mut any) = (Vec::new(), false);
            for element in elements {
                let found = spelled(instances, class, path, text, element)?;
                any |= found.is_some();
                let own = text.get(element.span.start as usize..element.span.end as usize);
                parts.push(found.unwrap_or_else(|| own.unwrap_or_default().to_owned()));
            }
            Ok(any.then(|| format!("{{{}}}", parts.join(", "))))
        }
        _ => Ok(None),
    }
}

/// Whether a value is a text: that of a String, or an attribute that is one.
fn is_text(instances: &mut Instances, mut class: ClassId, path: &str) -> Outcome<bool> {
    let mut parts = name_parts(path).into_iter();
    while let Some(part) = parts.next() {
        let name = part.split('[').next().unwrap_or(part).trim();
        let Some(Member::Component(component)) = instances.member(class, Name::new(name)) else { return Ok(true) };
        match instances.component_type(component)? {
            ComponentType::Class(next) => class = next,
            ComponentType::Object(_) => return Ok(true),
            ComponentType::Builtin { builtin, .. } => {
                let is_name =
                    parts.next().is_some_and(|part| ["unit", "displayUnit", "quantity"].contains(&part.trim()));
                return Ok(is_name || matches!(builtin, Builtin::String));
            }
        }
    }
    // A record as a whole.
    Ok(true)
}

/// A number and a unit behind it.
pub(crate) fn with_unit(text: &str) -> Option<(f64, &str)> {
    let (value, unit) = text.trim().split_once(char::is_whitespace)?;
    let unit = unit.trim();
    unit.starts_with(|c: char| c.is_alphabetic() || c == '%').then_some(())?;
    Some((value.parse().ok()?, unit))
}

/// The value in the unit of the parameter, as text.
pub(crate) fn converted(
    instances: &mut Instances,
    class: ClassId,
    path: &str,
    value: f64,
    unit: &str,
) -> Outcome<String> {
    let (declared, is_difference) = declared_unit(instances, class, path)?;
    let conversion = declared.and_then(|declared| Conversion::between(unit, declared.as_str()));
    match conversion {
        Some(conversion) if is_difference => Ok(format!("{:?}", value * conversion.factor)),
        Some(conversion) => Ok(format!("{:?}", conversion.apply(value))),
        None => {
            let message = match declared {
                Some(declared) => format!("`{path}` has the unit `{declared}`, to which `{unit}` cannot be converted"),
                None => format!("`{path}` has no unit, so `{unit}` cannot be converted to it"),
            };
            Err(Box::new(Diagnostic::error("wrong-value", message).hint("give the value as a number alone")))
        }
    }
}

impl Instances {
    /// The component of that name, where all of it are components.
    fn component_at(&mut self, mut class: ClassId, names: &[&str]) -> Outcome<Option<crate::instance::CompId>> {
        let mut found = None;
        for name in names {
            let Some(Member::Component(component)) = self.member(class, Name::new(name)) else { return Ok(None) };
            found = Some(component);
            match self.component_type(component)? {
                ComponentType::Class(next) => class = next,
                _ => break,
            }
        }
        Ok(found)
    }
}

/// The unit of a parameter, and whether its values are differences.
fn declared_unit(instances: &mut Instances, mut class: ClassId, path: &str) -> Outcome<(Option<Name>, bool)> {
    for part in name_parts(path) {
        let name = part.split('[').next().unwrap_or(part);
        let Some(Member::Component(component)) = instances.member(class, Name::new(name)) else { break };
        match instances.component_type(component)? {
            ComponentType::Class(next) => class = next,
            ComponentType::Object(_) => break,
            ComponentType::Builtin { attributes, .. } => {
                let unit = attributes.child(Name::new("unit")).and_then(|unit| unit.binding.as_ref()?.expr.clone());
                let unit = unit.and_then(|unit| match &unit.kind {
                    ast::ExprKind::String(text) => Some(Name::new(text)),
                    _ => None,
                });
                return Ok((unit, instances.is_difference(component)));
            }
        }
    }
    Ok((None, false))
}

/// Whether a path leads to elements of arrays.
pub(crate) fn is_element(path: &str) -> bool {
    name_parts(path).iter().any(|part| part.trim_end().ends_with(']'))
}

/// Constants are not set from outside.
fn check_path(instances: &mut Instances, class: ClassId, path: &str) -> Outcome<()> {
    let parts = name_parts(path);
    let Ok(component) = instances.component_at(class, &parts) else { return Ok(()) };
    if component.is_some_and(|component| instances.variability(component) == ast::Variability::Constant) {
        let message = format!("`{path}` is a constant, which cannot be set");
        return Err(Box::new(Diagnostic::error("wrong-value", message).specification("3.8")));
    }
    // Where the element itself is final, merging the modifiers reports it.
    let chain = component.map(|component| instances.chain(component)).unwrap_or_default();
    if let Some(around) = chain.iter().rev().skip(1).find(|&&around| instances.component(around).is_final()) {
        let around = instances.component(*around);
        let message = format!("`{path}` cannot be set: `{}` is final", around.name);
        return Err(Box::new(
            Diagnostic::error("final-modified", message)
                .at(around.declaration.name.span, "declared here")
                .specification("7.2.6"),
        ));
    }
    Ok(())
}

/// The classes of the model can be named in a value, such as its enumerations: `E.two`, also behind the name of the model.
/// A literal of the enumeration that is set needs no more than its own name.
fn scoped(instances: &mut Instances, class: ClassId, path: &str, mut expr: ast::Expr) -> (ClassId, ast::Expr) {
    if !matches!(expr.kind, ast::ExprKind::Array(_)) {
        return scoped_element(instances, class, path, expr);
    }
    // The elements of an array are looked up in one place.
    let written = expr.clone();
    let (mut scope, mut elements) = (None, Vec::new());
    collect_elements(&mut expr, &mut elements);
    for element in elements.into_iter().filter(|element| matches!(element.kind, ast::ExprKind::Ref(_))) {
        let (own, found) = scoped_element(instances, class, path, element.clone());
        if own == instances.root() {
            continue;
        }
        if *scope.get_or_insert(own) != own {
            return (instances.root(), written);
        }
        *element = found;
    }
    (scope.unwrap_or_else(|| instances.root()), expr)
}

fn collect_elements<'a>(expr: &'a mut ast::Expr, found: &mut Vec<&'a mut ast::Expr>) {
    if !matches!(expr.kind, ast::ExprKind::Array(_)) {
        found.push(expr);
    } else if let ast::ExprKind::Array(elements) = &mut expr.kind {
        elements.iter_mut().for_each(|element| collect_elements(element, found));
    }
}

fn scoped_element(instances: &mut Instances, class: ClassId, path: &str, mut expr: ast::Expr) -> (ClassId, ast::Expr) {
    let root = instances.root();
    let ast::ExprKind::Ref(reference) = &mut expr.kind else { return (root, expr) };
    let own = instances.class_name(class);
    let own: Vec<&str> = name_parts(own.as_str());
    let names: Vec<Name> = reference.parts.iter().map(|part| part.ident.name).collect();
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let model = [own.as_slice(), &own[own.len() - 1..]].into_iter().find(|own| names.starts_with(own));
    if let Some(model) = model.filter(|model| model.len() < names.len())
        && matches!(instances.member(class, Name::new(names[model.len()])), Some(Member::Class(_)))
    {
        reference.parts.drain(..model.len());
        return (class, expr);
    }
    if let [_, _, ..] = names[..]
        && matches!(instances.member(class, Name::new(names[0])), Some(Member::Class(_)))
    {
        return (class, expr);
    }
    if let [literal] = names[..]
        && let Some((scope, mut parts)) = enumeration(instances, class, path, literal)
    {
        parts.append(&mut reference.parts);
        reference.parts = parts;
        return (scope, expr);
    }
    (root, expr)
}

/// The name of the type of a variable, and where it is written, if that is an enumeration with such a literal.
fn enumeration(
    instances: &mut Instances,
    class: ClassId,
    path: &str,
    literal: &str,
) -> Option<(ClassId, Vec<ast::RefPart>)> {
    let component = instances.component_at(class, &name_parts(path)).ok()??;
    let ComponentType::Builtin { builtin: Builtin::Enumeration(definition), .. } =
        instances.component_type(component).ok()?
    else {
        return None;
    };
    instances.enumeration_literals(definition).contains(&Name::new(literal)).then_some(())?;
    let node = instances.component(component);
    let part = |ident: &ast::Ident| ast::RefPart { ident: *ident, subscripts: Vec::new() };
    Some((node.type_scope, node.declaration.type_name.parts.iter().map(part).collect()))
}

/// Adds a value at a path; `label` stands for its file.
fn add(
    instances: &mut Instances,
    class: ClassId,
    modifier: &mut Modifier,
    (path, label): (&str, &str),
    text: &str,
) -> Outcome<()> {
    let file = instances.libraries.sources.add(label, text);
    let expr = syntax::parse_expression(file, text).map_err(|diagnostics| {
        let fallback = Diagnostic::error("wrong-value", format!("`{text}` is not an expression"));
        Box::new(diagnostics.into_iter().next().unwrap_or(fallback))
    })?;
    let (scope, expr) = scoped(instances, class, path, expr);
    let span = expr.span;
    let mut names = name_parts(path);
    let levels = u16::try_from(names.len().saturating_sub(1)).unwrap_or(u16::MAX);
    let spread = Spread { levels, or_each: true, ..Spread::NONE };
    let binding = Binding { expr: Some(Arc::new(expr)), scope, spread, declared: false, span };
    let mut child = Modifier { binding: Some(binding), span: Some(span), ..Modifier::default() };
    let Some(first) = (!names.is_empty()).then(|| names.remove(0)) else { return Ok(()) };
    for name in names.into_iter().rev() {
        let children = vec![(Name::new(name), Arc::new(child))];
        child = Modifier { children, span: Some(span), ..Modifier::default() };
    }
    modifier.add_below(Name::new(first), &Arc::new(child), &mut instances.diagnostics);
    Ok(())
}
