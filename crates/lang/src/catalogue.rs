//! What a library offers: its classes with their descriptions, and the parameters and connectors of a class, as its user sees
//! them.

use base::{Name, Span};
use rustc_hash::FxHashMap;
use syntax::ast;

use crate::instance::{ClassId, Instances};
use crate::library::{DefId, Libraries, name_parts};

/// A class of a library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The full name.
    pub name: String,
    /// `model`, `partial block` and so on.
    pub kind: String,
    /// What its text says that it is; empty if nothing.
    pub description: String,
}

/// A parameter or connector of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Element {
    /// The name, with the sizes of an array.
    pub name: String,
    /// The class, as it is written.
    pub class: String,
    /// The default, as it is written; `None` if a value has to be given.
    pub default: Option<String>,
    /// What it is for; empty if nothing is said.
    pub description: String,
}

/// What the user of a class gives values to and connects.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Interface {
    /// Parameters that can be changed.
    pub parameters: Vec<Element>,
    /// Connectors; the inputs and outputs of a function.
    pub connectors: Vec<Element>,
}

/// The class itself, and all classes inside of it that can be named from outside, in the order of the text.
pub fn classes(libraries: &mut Libraries, name: &str) -> Option<Vec<Entry>> {
    let find = |libraries: &mut Libraries| {
        name_parts(name).into_iter().try_fold(Libraries::ROOT, |parent, part| libraries.class(parent, Name::new(part)))
    };
    let mut stack = vec![find(libraries)?];
    let mut found = Vec::new();
    while let Some(class) = stack.pop() {
        found.push(entry(libraries, class));
        if libraries.get(class).class.kind != ast::ClassKind::Package {
            continue;
        }
        for name in libraries.get(class).class_names.clone().into_iter().rev() {
            let inner = libraries.class(class, name);
            stack.extend(inner.filter(|&inner| !libraries.get(inner).class.prefixes.protected));
        }
    }
    Some(found)
}

fn entry(libraries: &Libraries, class: DefId) -> Entry {
    let definition = libraries.get(class);
    let partial = if definition.class.partial { "partial " } else { "" };
    Entry {
        name: definition.name.to_string(),
        kind: format!("{partial}{}", definition.class.kind),
        description: definition.class.description.as_deref().unwrap_or_default().to_owned(),
    }
}

/// The parameters and connectors of a class, inherited ones first.
pub fn interface(libraries: &mut Libraries, name: &str) -> Option<Interface> {
    let mut instances = Instances::new(std::mem::replace(libraries, Libraries::empty()));
    let found = instances.class_by_name(name).ok().map(|class| of_class(&mut instances, class));
    *libraries = instances.libraries;
    found
}

fn of_class(instances: &mut Instances, class: ClassId) -> Interface {
    let parts = instances.with_bases(class);
    let changed = changes(instances, &parts);
    let mut interface = Interface::default();
    for part in parts {
        let definition = instances.definition(part).clone();
        let ast::ClassBody::Long(composition) = &definition.body else { continue };
        for element in &composition.elements {
            let ast::Element::Component(component) = element else { continue };
            let (prefixes, types) = (component.prefixes, component.type_prefixes);
            if prefixes.protected || prefixes.is_final {
                continue;
            }
            let change = changed.get(&component.name.name);
            if types.variability == ast::Variability::Parameter {
                if !change.is_some_and(|change| change.is_final) {
                    interface.parameters.push(element_of(instances, component, change));
                }
            } else if types.direction != ast::Direction::None || is_connector(instances, part, component) {
                interface.connectors.push(element_of(instances, component, change));
            }
        }
    }
    interface
}

/// What an extends clause or a short definition makes of an inherited component.
struct Change {
    is_final: bool,
    value: Option<Span>,
}

/// By the name of the component; what stands further out counts.
fn changes(instances: &Instances, parts: &[ClassId]) -> FxHashMap<Name, Change> {
    let mut found = FxHashMap::default();
    for &part in parts {
        let definition = instances.definition(part);
        let modifications: Vec<_> = match &definition.body {
            ast::ClassBody::Long(composition) => {
                let of = |element: &ast::Element| match element {
                    ast::Element::Extends(extends) => extends.modification.clone(),
                    _ => None,
                };
                composition.elements.iter().filter_map(of).collect()
            }
            ast::ClassBody::Short { modification, .. } => modification.iter().cloned().collect(),
            _ => Vec::new(),
        };
        for argument in modifications.iter().flat_map(|modification| &modification.arguments) {
            let ast::Argument::Element(element) = argument else { continue };
            let [only] = element.path.as_slice() else { continue };
            let value = element.modification.as_ref().and_then(|modification| value_span(modification));
            found.insert(only.name, Change { is_final: element.is_final, value });
        }
    }
    found
}

fn value_span(modification: &ast::Modification) -> Option<Span> {
    match modification.value.as_ref()? {
        ast::ModificationValue::Expr(value) => Some(value.span),
        ast::ModificationValue::Break(_) => None,
    }
}

fn element_of(instances: &Instances, component: &ast::Component, change: Option<&Change>) -> Element {
    let sources = &instances.libraries.sources;
    let subscripts: Vec<&str> = component.subscripts.iter().map(|subscript| sources.text(span_of(subscript))).collect();
    let sizes = if subscripts.is_empty() { String::new() } else { format!("[{}]", subscripts.join(", ")) };
    let own = component.modification.as_ref().and_then(|modification| value_span(modification));
    let default = change.and_then(|change| change.value).or(own);
    Element {
        name: format!("{}{sizes}", component.name.name),
        class: sources.text(component.type_name.span).to_owned(),
        default: default.map(|span| on_one_line(sources.text(span))),
        description: component.description.as_deref().unwrap_or_default().to_owned(),
    }
}

fn span_of(subscript: &ast::Subscript) -> Span {
    match subscript {
        ast::Subscript::All(span) => *span,
        ast::Subscript::Expr(expr) => expr.span,
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_connector(instances: &mut Instances, class: ClassId, component: &ast::Component) -> bool {
    let found = instances.lookup_type(class, &component.type_name);
    let is = |kind| matches!(kind, ast::ClassKind::Connector | ast::ClassKind::ExpandableConnector);
    found.is_ok_and(|class| is(instances.kind(class)))
}
