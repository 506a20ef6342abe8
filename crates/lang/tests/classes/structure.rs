//! Class structures as data: what both the text and the resolver are made from.

use std::fmt::Write as _;

/// A value in a declaration or modifier. Names are those of the class in whose text it stands.
#[derive(Clone, Debug)]
pub enum Value {
    Literal(i64),
    /// A Real of the class, plus a number.
    Plus(String, i64),
    /// A record of the class, as a whole.
    Record(String),
    /// One number for each element of an array of components.
    List(Vec<i64>),
}

/// What is said about one element.
#[derive(Clone, Debug, Default)]
pub struct Item {
    pub name: String,
    pub each: bool,
    pub value: Option<Value>,
    pub inner: Vec<Item>,
    /// The class that takes the place of the declared one.
    pub redeclared: Option<usize>,
    /// `redeclare model X = …`, not a component.
    pub is_class: bool,
}

#[derive(Clone, Debug)]
pub enum Type {
    Real,
    Class(usize),
    /// A replaceable class of the same text.
    Local(String),
}

#[derive(Clone, Debug)]
pub struct Component {
    pub name: String,
    pub ty: Type,
    pub size: Option<usize>,
    pub items: Vec<Item>,
    pub value: Option<Value>,
    pub replaceable: bool,
    /// The modifiers behind `constrainedby`, of the declared class.
    pub constraint: Option<Vec<Item>>,
    pub condition: Option<bool>,
}

/// `replaceable model X = C(…) constrainedby C(…)`.
#[derive(Clone, Debug)]
pub struct LocalClass {
    pub name: String,
    pub of: usize,
    pub items: Vec<Item>,
    pub constraint: Option<Vec<Item>>,
}

#[derive(Clone, Debug)]
pub struct Class {
    pub is_record: bool,
    /// `class C = B(…)`.
    pub is_short: bool,
    pub base: Option<(usize, Vec<Item>)>,
    pub locals: Vec<LocalClass>,
    pub components: Vec<Component>,
}

#[derive(Clone, Debug)]
pub struct Structure {
    pub classes: Vec<Class>,
}

impl Structure {
    /// Whether `derived` is `base` or inherits it.
    pub fn inherits(&self, derived: usize, base: usize) -> bool {
        let mut current = Some(derived);
        while let Some(class) = current {
            if class == base {
                return true;
            }
            current = self.classes[class].base.as_ref().map(|(base, _)| *base);
        }
        false
    }

    /// The class and what it inherits, the innermost first.
    pub fn lineage(&self, class: usize) -> Vec<usize> {
        let mut all = vec![class];
        while let Some((base, _)) = &self.classes[all[all.len() - 1]].base {
            all.push(*base);
        }
        all.reverse();
        all
    }

    pub fn components(&self, class: usize) -> Vec<&Component> {
        self.lineage(class).into_iter().flat_map(|class| &self.classes[class].components).collect()
    }

    pub fn locals(&self, class: usize) -> Vec<&LocalClass> {
        self.lineage(class).into_iter().flat_map(|class| &self.classes[class].locals).collect()
    }

    /// The class of a component as it is declared.
    pub fn class_of(&self, component: &Component, scope: usize) -> Option<usize> {
        match &component.ty {
            Type::Real => None,
            Type::Class(class) => Some(*class),
            Type::Local(name) => self.locals(scope).into_iter().find(|local| local.name == *name).map(|local| local.of),
        }
    }

    /// Modelica text; the model is the last class.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (number, class) in self.classes.iter().enumerate() {
            let kind = if class.is_record { "record" } else { "model" };
            if let (true, Some((base, items))) = (class.is_short, &class.base) {
                let _ = writeln!(out, "{kind} C{number} = C{base}{};", self.items(items));
                continue;
            }
            let _ = writeln!(out, "{kind} C{number}");
            if let Some((base, items)) = &class.base {
                let _ = writeln!(out, "  extends C{base}{};", self.items(items));
            }
            for local in &class.locals {
                let _ = write!(out, "  replaceable model {} = C{}{}", local.name, local.of, self.items(&local.items));
                if let Some(items) = &local.constraint {
                    let _ = write!(out, " constrainedby C{}{}", local.of, self.items(items));
                }
                let _ = writeln!(out, ";");
            }
            for component in &class.components {
                let _ = writeln!(out, "  {};", self.component(component));
            }
            let _ = writeln!(out, "end C{number};");
        }
        out
    }

    fn component(&self, component: &Component) -> String {
        let mut out = String::new();
        if component.replaceable {
            out.push_str("replaceable ");
        }
        if matches!(component.ty, Type::Real) || self.is_record(&component.ty) {
            out.push_str("parameter ");
        }
        match &component.ty {
            Type::Real => out.push_str("Real"),
            Type::Class(class) => out.push_str(&format!("C{class}")),
            Type::Local(name) => out.push_str(name),
        }
        out.push(' ');
        out.push_str(&component.name);
        if let Some(size) = component.size {
            out.push_str(&format!("[{size}]"));
        }
        out.push_str(&self.items(&component.items));
        if let Some(value) = &component.value {
            out.push_str(&format!(" = {}", text(value)));
        }
        if let Some(condition) = component.condition {
            out.push_str(&format!(" if {condition}"));
        }
        if let (Some(items), Type::Class(class)) = (&component.constraint, &component.ty) {
            out.push_str(&format!(" constrainedby C{class}{}", self.items(items)));
        }
        out
    }

    fn is_record(&self, ty: &Type) -> bool {
        matches!(ty, Type::Class(class) if self.classes[*class].is_record)
    }

    fn items(&self, items: &[Item]) -> String {
        if items.is_empty() {
            return String::new();
        }
        let each = |item: &Item| {
            let prefix = if item.each { "each " } else { "" };
            let value = item.value.as_ref().map(|value| format!(" = {}", text(value))).unwrap_or_default();
            match item.redeclared {
                Some(class) if item.is_class => {
                    format!("{prefix}redeclare replaceable model {} = C{class}{}", item.name, self.items(&item.inner))
                }
                Some(class) => {
                    let variability = if self.classes[class].is_record { "parameter " } else { "" };
                    format!(
                        "{prefix}redeclare replaceable {variability}C{class} {}{}{value}",
                        item.name,
                        self.items(&item.inner)
                    )
                }
                None => format!("{prefix}{}{}{value}", item.name, self.items(&item.inner)),
            }
        };
        format!("({})", items.iter().map(each).collect::<Vec<_>>().join(", "))
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Literal(number) => number.to_string(),
        Value::Plus(name, number) => format!("{name} + {number}"),
        Value::Record(name) => name.clone(),
        Value::List(numbers) => {
            format!("{{{}}}", numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
        }
    }
}
