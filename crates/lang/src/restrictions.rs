//! What the specialised classes may contain and inherit (specification 4.7 and 7.1.3), and what may be said about elements.

use base::{Diagnostic, Span};
use syntax::ast::{self, ClassKind};

use crate::instance::{Builtin, ClassId, CompId, ComponentType, Instances, Member};

/// Whether a class of one kind may extend a class of another (7.1.3).
pub fn may_extend(kind: ClassKind, base: ClassKind) -> bool {
    use ClassKind::*;
    match kind {
        // A plain class is restricted by what it contains only.
        Class => true,
        _ if base == Class => true,
        Package => base == Package,
        Operator => base == Operator,
        Function | OperatorFunction => matches!(base, Function | OperatorFunction),
        Type => base == Type,
        Record => base == Record,
        // Only a short class may be made from an operator record (14.2).
        OperatorRecord => base == Record,
        ExpandableConnector => base == ExpandableConnector,
        Connector => matches!(base, Type | Record | Connector | OperatorRecord),
        Block => matches!(base, Record | Block),
        Model => matches!(base, Record | Block | Model),
    }
}

/// Reports what a class, together with its base classes, contains against the rules for its kind.
pub fn check_class(instances: &mut Instances, class: ClassId) {
    let definition = instances.definition(class).clone();
    check_name(instances, definition.name);
    match &definition.body {
        ast::ClassBody::Long(composition) => {
            check_content(instances, &definition, composition);
            if instances.is_external_object(class) {
                check_external_object(instances, &definition, composition);
            }
            check_simple(instances, class, &definition, composition);
            check_lone_base(instances, class, &definition, composition);
        }
        ast::ClassBody::Enumeration(Some(literals)) => check_literals(instances, literals),
        _ => {}
    }
}

/// Names of predefined types (4.9) and of the time (3.7.3) cannot be declared again.
pub(crate) fn check_name(instances: &mut Instances, name: ast::Ident) {
    let (what, section) = match name.name.as_str() {
        "Real" | "Integer" | "Boolean" | "String" => ("the name of a predefined type", "4.9"),
        "time" => ("the time of the simulation", "3.7.3"),
        _ => return,
    };
    let diagnostic = Diagnostic::error("reserved-name", format!("`{}` is {what}", name.name))
        .at(name.span, "declared here")
        .hint("choose another name")
        .specification(section);
    instances.report(Box::new(diagnostic));
}

fn check_literals(instances: &mut Instances, literals: &[ast::EnumerationLiteral]) {
    for (position, literal) in literals.iter().enumerate() {
        let name = literal.name.name;
        if literals[..position].iter().any(|other| other.name.name == name) {
            let diagnostic = Diagnostic::error("duplicate-literal", format!("the literal `{name}` is listed twice"))
                .at(literal.name.span, "the second time here")
                .specification("4.9.5");
            instances.report(Box::new(diagnostic));
        }
        if matches!(name.as_str(), "quantity" | "min" | "max" | "start" | "fixed") {
            let diagnostic =
                Diagnostic::error("reserved-name", format!("`{name}` is an attribute and cannot be a literal"))
                    .at(literal.name.span, "listed here")
                    .specification("4.9.5");
            instances.report(Box::new(diagnostic));
        }
    }
}

/// A base class with array dimensions or with prefixes stands alone (7.1.3).
fn check_lone_base(
    instances: &mut Instances,
    class: ClassId,
    definition: &ast::ClassDef,
    composition: &ast::Composition,
) {
    let bases = instances.class(class).bases.clone();
    let has_components = composition.elements.iter().any(|element| matches!(element, ast::Element::Component(_)));
    if bases.len() < 2 && !has_components {
        return;
    }
    for base in bases {
        if instances.has_dimensions_or_prefixes(base) {
            let what = "extends a class with dimensions or prefixes and has more";
            report(instances, definition, definition.name.span, what, "make it a component instead");
        }
    }
}

/// Reports prefixes that the class of a component does not allow (4.4.2).
pub fn check_prefixes(instances: &mut Instances, component: CompId) {
    use ClassKind::*;
    let node = instances.component(component);
    let prefixes = node.declaration.type_prefixes;
    let all = node.type_prefixes;
    let span = node.declaration.name.span;
    match instances.component_type(component) {
        Ok(ComponentType::Class(class)) => {
            let kind = instances.kind(class);
            let no_variability = matches!(kind, Model | Block | Connector | ExpandableConnector);
            let is_discrete = prefixes.variability == ast::Variability::Discrete && !matches!(kind, Model | Block);
            if no_variability && !is_discrete && prefixes.variability != ast::Variability::Unstated {
                let diagnostic = wrong_prefix(instances, component, span, "a variability prefix", kind);
                // It is that of all elements, as with a record. Connectors have equations for their flows.
                let is_plain = matches!(kind, Model | Block);
                instances.report(Box::new(if is_plain { diagnostic.tolerated() } else { diagnostic }));
            }
            let no_direction = matches!(kind, Model | Block);
            if no_direction && (prefixes.direction != ast::Direction::None || prefixes.flow != ast::Flow::None) {
                let diagnostic = wrong_prefix(instances, component, span, "input, output, flow or stream", kind);
                instances.report(Box::new(diagnostic));
            }
            if all.flow == ast::Flow::Flow {
                check_flow_record(instances, component, class);
            }
            if all.direction != ast::Direction::None || all.flow != ast::Flow::None {
                check_conflict(instances, component, class, all);
            }
        }
        Ok(ComponentType::Builtin { builtin: Builtin::Enumeration(def), .. }) if instances.has_no_literals(def) => {
            let name = instances.libraries.get(def).name;
            let message =
                format!("`{}` is of the enumeration `{name}`, which has no literals", instances.path(component));
            let diagnostic = Diagnostic::error("unspecified-enumeration", message)
                .at(span, "declared here")
                .hint("redeclare the enumeration with one that lists its literals")
                .specification("4.9.5");
            instances.report(Box::new(diagnostic));
        }
        Ok(ComponentType::Builtin { builtin, .. }) if all.flow != ast::Flow::None && builtin != Builtin::Real => {
            let path = instances.path(component);
            let message = format!("the flow or stream variable `{path}` is not Real");
            let diagnostic = Diagnostic::error("flow-type", message).at(span, "declared here").specification("4.4.2.2");
            instances.report(Box::new(diagnostic));
        }
        _ => {}
    }
}

/// Flows that are operator records are summed with the operators of the record (9.2, 14.4).
fn check_flow_record(instances: &mut Instances, component: CompId, class: ClassId) {
    let parts = instances.with_bases(class);
    if !parts.iter().any(|&part| instances.kind(part) == ClassKind::OperatorRecord) {
        return;
    }
    for operator in ["'+'", "'-'", "'0'"] {
        if instances.member(class, base::Name::new(operator)).is_none() {
            let (path, name) = (instances.path(component), instances.class_name(class));
            let text = format!("the flow variable `{path}` needs the operator {operator} of `{name}`");
            let diagnostic = Diagnostic::error("flow-operator", text)
                .at(instances.span(component), "a flow of this operator record")
                .hint(format!("define {operator} in the operator record"))
                .specification("14.4");
            instances.report(Box::new(diagnostic));
        }
    }
}

fn wrong_prefix(instances: &Instances, component: CompId, span: Span, what: &str, kind: ClassKind) -> Diagnostic {
    let path = instances.path(component);
    Diagnostic::error("wrong-prefix", format!("`{path}` has {what}, and its class is a {kind}"))
        .at(span, "declared here")
        .specification("4.4.2.2")
}

/// A prefix of a component must not meet one of its elements.
fn check_conflict(instances: &mut Instances, component: CompId, class: ClassId, outer: ast::TypePrefixes) {
    let mut stack = vec![class];
    while let Some(class) = stack.pop() {
        for element in instances.components_of(class) {
            let Ok(ty) = instances.component_type(element) else { continue };
            let own = instances.component(element).type_prefixes;
            let directions = outer.direction != ast::Direction::None && own.direction != ast::Direction::None;
            let flows = outer.flow != ast::Flow::None && own.flow != ast::Flow::None;
            if directions || flows {
                let (path, element) = (instances.path(component), instances.span(element));
                let diagnostic =
                    Diagnostic::error("prefix-conflict", format!("a prefix of `{path}` meets one of its elements"))
                        .at(instances.span(component), "declared here")
                        .at(element, "this element has such a prefix too")
                        .specification("4.4.2.2");
                instances.report(Box::new(diagnostic));
                return;
            }
            if let ComponentType::Class(class) = ty {
                stack.push(class);
            }
        }
    }
}

/// Reports modifiers of protected elements (4.1): only a class that inherits them may modify them.
pub fn check_protected(instances: &mut Instances, component: CompId) {
    let Ok(ComponentType::Class(class)) = instances.component_type(component) else { return };
    let modifier = instances.component(component).modifier.clone();
    for (name, child) in &modifier.children {
        let is_protected = match instances.member(class, *name) {
            Some(Member::Component(element)) => instances.component(element).prefixes.protected,
            Some(Member::Class(inner)) => instances.class_member(inner).protected,
            None => false,
        };
        if is_protected {
            let path = instances.path(component);
            let mut diagnostic =
                Diagnostic::breach("protected", format!("the protected element `{name}` of `{path}` is modified"))
                    .specification("4.1");
            if let Some(span) = child.span {
                diagnostic = diagnostic.at(span, "modified here");
            }
            instances.report(Box::new(diagnostic));
        }
    }
}

/// An external object has a constructor and a destructor, and nothing else (12.9.7).
fn check_external_object(instances: &mut Instances, class: &ast::ClassDef, composition: &ast::Composition) {
    for element in &composition.elements {
        let name = match element {
            ast::Element::Component(component) => component.name,
            ast::Element::Class(inner) => inner.name,
            ast::Element::Import(_) | ast::Element::Extends(_) => continue,
        };
        if !matches!(name.name.as_str(), "constructor" | "destructor") {
            let what = "extends ExternalObject and has another element than its constructor and its destructor";
            report(instances, class, name.span, what, "move it outside");
        }
    }
    for name in ["constructor", "destructor"] {
        check_of_external_object(instances, class, composition, name);
    }
}

/// The constructor and the destructor are functions that nothing replaces.
fn check_of_external_object(
    instances: &mut Instances,
    class: &ast::ClassDef,
    composition: &ast::Composition,
    name: &str,
) {
    let found = composition.elements.iter().find_map(|element| match element {
        ast::Element::Class(inner) if inner.name.name == name => Some(inner),
        _ => None,
    });
    let (what, span, hint) = match found {
        None => (format!("extends ExternalObject and has no {name}"), class.name.span, "declare it"),
        Some(inner) if !matches!(inner.kind, ClassKind::Function) => {
            (format!("has a {name} that is no function"), inner.name.span, "declare it as a function")
        }
        Some(inner) if inner.prefixes.replaceable => {
            (format!("has a {name} that is replaceable"), inner.name.span, "remove `replaceable`")
        }
        Some(_) => return,
    };
    let diagnostic = restricted(class, span, &what, hint).specification("12.9.7");
    instances.report(Box::new(diagnostic.tolerated()));
}

fn check_content(instances: &mut Instances, class: &ast::ClassDef, composition: &ast::Composition) {
    use ClassKind::*;
    if matches!(class.kind, Function | OperatorFunction) {
        check_function_sections(instances, class, composition);
    } else if let Some(external) = &composition.external {
        let (what, hint) = ("has an external clause", "only a function can be external");
        let diagnostic = restricted(class, external.span, what, hint).specification("12.9");
        instances.report(Box::new(diagnostic.tolerated()));
    }
    let no_behaviour =
        matches!(class.kind, Record | OperatorRecord | Connector | ExpandableConnector | Package | Type | Operator);
    if no_behaviour {
        let first = composition.equations.iter().find_map(|section| section.equations.first().map(|one| one.span));
        let first = first.or_else(|| composition.algorithms.first().map(|section| section.span));
        if let Some(span) = first {
            report(instances, class, span, "has equations or algorithms", "they belong in a model or block");
        }
    }
    for element in &composition.elements {
        match element {
            ast::Element::Component(component) => {
                check_component(instances, class, component);
            }
            ast::Element::Class(inner) => {
                if matches!(inner.kind, Operator | OperatorFunction) {
                    check_operator(instances, class, inner);
                }
                check_outer_class(instances, inner);
                if class.kind == Operator && !matches!(inner.kind, Function | OperatorFunction) {
                    report(instances, class, inner.name.span, "holds a class that is no function", "move it outside");
                }
                let no_protected = matches!(class.kind, Record | OperatorRecord | Connector | ExpandableConnector);
                if no_protected && inner.prefixes.protected {
                    report(instances, class, inner.name.span, "has a protected element", "make it public");
                }
            }
            _ => {}
        }
    }
}

/// An outer class stands for the inner one, so what is said about it has no effect (5.4).
fn check_outer_class(instances: &mut Instances, class: &ast::ClassDef) {
    let ast::ClassBody::Short { modification: Some(modification), .. } = &class.body else { return };
    if !class.prefixes.outer || class.prefixes.inner || modification.arguments.is_empty() {
        return;
    }
    instances.report(Box::new(outer_modified(class.name.name.as_str(), modification.span)));
}

/// What is said about an outer element has no effect (5.4).
pub(crate) fn outer_modified(name: &str, place: Span) -> Diagnostic {
    Diagnostic::breach("outer-modified", format!("the outer element `{name}` is modified, which has no effect"))
        .at(place, "modified here")
        .hint("modify the inner element instead")
        .specification("5.4")
}

/// The operators that a record may have (14.1).
const OPERATORS: [&str; 17] = [
    "'constructor'",
    "'0'",
    "'String'",
    "'+'",
    "'-'",
    "'*'",
    "'/'",
    "'^'",
    "'=='",
    "'<>'",
    "'>'",
    "'<'",
    "'>='",
    "'<='",
    "'and'",
    "'or'",
    "'not'",
];

/// An operator stands in an operator record, has the name of one and is encapsulated (14.1). One that is not still means
/// what its text says.
fn check_operator(instances: &mut Instances, class: &ast::ClassDef, operator: &ast::ClassDef) {
    let name = operator.name.name;
    let mut report = |what: String, hint: &str| {
        let diagnostic = Diagnostic::breach("operator-declaration", what)
            .at(operator.name.span, "declared here")
            .hint(hint)
            .specification("14.1");
        instances.report(Box::new(diagnostic));
    };
    if class.kind != ClassKind::OperatorRecord && class.kind != ClassKind::Operator {
        report(format!("the operator `{name}` stands in no operator record"), "declare a function, or move it");
    } else if !OPERATORS.contains(&name.as_str()) && class.kind == ClassKind::OperatorRecord {
        report(format!("`{name}` is not the name of an operator, and no operator calls it"), "declare a function");
    }
    if !operator.encapsulated && class.kind == ClassKind::OperatorRecord {
        report(format!("the operator `{name}` is not encapsulated"), "write `encapsulated` before `operator`");
    }
}

/// The languages of external functions (12.9).
pub(crate) const LANGUAGES: [&str; 6] = ["C", "C89", "C99", "C11", "FORTRAN 77", "builtin"];

/// A function has at most one algorithm and no equations; what an external one does stands elsewhere (12.2, 12.9).
fn check_function_sections(instances: &mut Instances, class: &ast::ClassDef, composition: &ast::Composition) {
    let (algorithm, hint) = ("has an initial algorithm", "use `algorithm`");
    if let Some(section) = composition.equations.iter().find(|section| !section.equations.is_empty()) {
        let span = section.equations[0].span;
        function_restriction(instances, class, span, "has equations", "compute the outputs in an algorithm");
    }
    if let Some(section) = composition.algorithms.iter().find(|section| section.initial) {
        function_restriction(instances, class, section.span, algorithm, hint);
    }
    let Some(external) = &composition.external else { return };
    if let Some(section) = composition.algorithms.first() {
        let what = "is external and has an algorithm as well";
        let diagnostic = restricted(class, section.span, what, "keep one of them").specification("12.9");
        instances.report(Box::new(diagnostic));
    }
    let language = external.language.as_deref().unwrap_or("C");
    if !LANGUAGES.contains(&language) {
        let what = format!("is external in the unknown language \"{language}\"");
        let hint = "use \"C\", \"FORTRAN 77\" or \"builtin\"";
        let diagnostic = restricted(class, external.span, &what, hint).specification("12.9");
        // Another spelling of one of them.
        let is_plain = LANGUAGES.iter().any(|known| known.eq_ignore_ascii_case(language));
        instances.report(Box::new(if is_plain { diagnostic.tolerated() } else { diagnostic }));
    }
}

fn function_restriction(instances: &mut Instances, class: &ast::ClassDef, span: Span, what: &str, hint: &str) {
    let diagnostic = restricted(class, span, what, hint).specification("12.2");
    instances.report(Box::new(diagnostic));
}

/// Reports variables of a function whose class is none of those that functions compute with (12.2).
pub fn check_function_variables(instances: &mut Instances, class: ClassId) {
    for component in instances.components_of(class) {
        let node = instances.component(component);
        let (span, prefixes) = (instances.span(component), node.prefixes);
        let definition = instances.definition(class).clone();
        if prefixes.inner || prefixes.outer {
            let hint = "hand the value over as an input";
            function_restriction(instances, &definition, span, "has an inner or outer variable", hint);
        }
        let Ok(ComponentType::Class(of)) = instances.component_type(component) else { continue };
        let kind = instances.kind(of);
        if matches!(kind, ClassKind::Model | ClassKind::Block | ClassKind::Connector | ClassKind::ExpandableConnector) {
            let what = format!("has a variable of a {}", kind);
            let hint = "a function computes with types, records, functions and external objects";
            function_restriction(instances, &definition, span, &what, hint);
        }
    }
}

fn check_component(instances: &mut Instances, class: &ast::ClassDef, component: &ast::Component) {
    use ClassKind::*;
    let span = component.name.span;
    let prefixes = component.type_prefixes;
    let is_record = matches!(class.kind, Record | OperatorRecord);
    let is_connector = matches!(class.kind, Connector | ExpandableConnector);
    if (is_record || is_connector) && component.prefixes.protected {
        tolerate(instances, class, span, "has a protected element", "make it public");
    }
    if (is_record || is_connector) && component.prefixes.outer && !component.prefixes.inner {
        tolerate(instances, class, span, "has an outer element", "declare it in the model that uses it");
    } else if (is_record || is_connector) && component.prefixes.inner {
        report(instances, class, span, "has an inner or outer element", "declare it in the model that uses it");
    }
    let has_direction = prefixes.direction != ast::Direction::None || prefixes.flow != ast::Flow::None;
    if is_record && has_direction {
        report(instances, class, span, "has an element with input, output, flow or stream", "use a connector");
    }
    if class.kind == ExpandableConnector && prefixes.flow == ast::Flow::Flow {
        report(instances, class, span, "has a flow variable", "put it in a connector that is an element of this one");
    }
    if class.kind == Package && prefixes.variability != ast::Variability::Constant {
        // It matters to nobody as long as it is not used, and a use of it is an error.
        instances.report(Box::new(variable_in_package(class, span).tolerated()));
    }
    if prefixes.flow == ast::Flow::Stream && !is_connector && !is_record {
        let (what, hint) = ("has a stream variable", "stream variables belong in a connector");
        let diagnostic = restricted(class, span, what, hint);
        // No connection reaches a variable of a function.
        let is_function = matches!(class.kind, Function | OperatorFunction);
        instances.report(Box::new(if is_function { diagnostic.tolerated() } else { diagnostic }));
    }
    if class.kind == Operator {
        report(instances, class, span, "has a variable", "an operator holds functions only");
    }
    if component.prefixes.outer && !component.prefixes.inner && component.modification.is_some() {
        instances.report(Box::new(outer_modified(component.name.name.as_str(), span)));
    }
}

/// A class that extends a predefined type has nothing else (4.9).
fn check_simple(instances: &mut Instances, part: ClassId, class: &ast::ClassDef, composition: &ast::Composition) {
    let bases = instances.class(part).bases.clone();
    let extends_simple = bases.iter().any(|&base| instances.simple_type(base).is_some());
    if !extends_simple {
        return;
    }
    let component = composition.elements.iter().find_map(|element| match element {
        ast::Element::Component(component) => Some(component.name.span),
        _ => None,
    });
    if let Some(span) = component {
        report(instances, class, span, "extends a predefined type and has elements", "remove the elements");
    } else if bases.len() > 1 {
        report(
            instances,
            class,
            class.name.span,
            "extends a predefined type and another class",
            "keep only one of them",
        );
    }
}

fn report(instances: &mut Instances, class: &ast::ClassDef, span: Span, what: &str, hint: &str) {
    instances.report(Box::new(restricted(class, span, what, hint)));
}

/// The same where what is meant is plain.
fn tolerate(instances: &mut Instances, class: &ast::ClassDef, span: Span, what: &str, hint: &str) {
    let text = format!("the {} `{}` {what}", class.kind, class.name.name);
    let diagnostic = Diagnostic::breach("restricted-class", text).at(span, "not allowed here").hint(hint);
    instances.report(Box::new(diagnostic.specification("4.7")));
}

fn restricted(class: &ast::ClassDef, span: Span, what: &str, hint: &str) -> Diagnostic {
    let text = format!("the {} `{}` {what}", class.kind, class.name.name);
    Diagnostic::error("restricted-class", text).at(span, "not allowed here").hint(hint).specification("4.7")
}

/// A package holds classes and constants.
pub(crate) fn variable_in_package(package: &ast::ClassDef, variable: Span) -> Diagnostic {
    restricted(package, variable, "has a variable that is no constant", "declare it `constant`")
}

/// The public connectors of a block have a direction (4.7).
pub fn check_block(instances: &mut Instances, class: ClassId) {
    if instances.kind(class) != ClassKind::Block {
        return;
    }
    for component in instances.components_of(class) {
        let Ok(ComponentType::Class(connector)) = instances.component_type(component) else { continue };
        let node = instances.component(component);
        if node.prefixes.protected
            || node.type_prefixes.direction != ast::Direction::None
            || instances.kind(connector) != ClassKind::Connector
        {
            continue;
        }
        if has_undirected(instances, connector) {
            let definition = instances.definition(class).clone();
            let span = instances.span(component);
            report(instances, &definition, span, "has a connector without direction", "declare it as a model");
        }
    }
}

/// Whether a connector has a variable that is neither input nor output.
fn has_undirected(instances: &mut Instances, connector: ClassId) -> bool {
    for element in instances.components_of(connector) {
        let Ok(ty) = instances.component_type(element) else { continue };
        let prefixes = instances.component(element).type_prefixes;
        if prefixes.direction != ast::Direction::None
            || matches!(prefixes.variability, ast::Variability::Parameter | ast::Variability::Constant)
        {
            continue;
        }
        match ty {
            ComponentType::Class(class) if !has_undirected(instances, class) => {}
            _ => return true,
        }
    }
    false
}

/// Reports a component of a model whose class is partial or not one of components.
pub fn check_type(instances: &mut Instances, component: CompId) {
    let class = match instances.component_type(component) {
        Ok(ComponentType::Class(class)) => class,
        Ok(ComponentType::Object(class)) => return check_object_modifiers(instances, component, class),
        _ => return,
    };
    let definition = instances.definition(class).clone();
    let node = instances.component(component);
    let (path, span) = (instances.path(component), node.declaration.type_name.span);
    if definition.partial {
        let diagnostic =
            Diagnostic::error("partial-class", format!("`{path}` is of the partial class `{}`", definition.name.name))
                .at(span, "used here")
                .at(definition.name.span, "partial here")
                .hint("use a class that extends it, or redeclare the component")
                .specification("4.4.2");
        instances.report(Box::new(diagnostic));
    }
    check_type_class(instances, &path, &definition, span);
    let wrong = matches!(
        definition.kind,
        ClassKind::Package | ClassKind::Function | ClassKind::OperatorFunction | ClassKind::Operator
    );
    if wrong {
        let kind = definition.kind;
        let diagnostic = Diagnostic::error(
            "component-kind",
            format!("`{path}` is declared with the {kind} `{}`", definition.name.name),
        )
        .at(span, "no class of components")
        .specification("4.4.2");
        instances.report(Box::new(diagnostic));
    }
}

/// An external object has no elements that could be modified.
fn check_object_modifiers(instances: &mut Instances, component: CompId, class: ClassId) {
    let modifier = instances.component(component).modifier.clone();
    for (name, child) in &modifier.children {
        let diagnostic = instances.unknown_modifier(class, *name, child.span);
        instances.report(Box::new(diagnostic));
    }
}

/// A type is made from a predefined type, an enumeration or another type (4.7).
fn check_type_class(instances: &mut Instances, path: &str, class: &ast::ClassDef, span: Span) {
    if class.kind != ClassKind::Type {
        return;
    }
    let diagnostic =
        restricted(class, class.name.span, "is not made from a predefined type", "declare a record or model")
            .at(span, format!("`{path}` is declared with it"));
    instances.report(Box::new(diagnostic.tolerated()));
}

/// Whether names may be looked up in a class through its name alone: it holds nothing but classes and constants.
pub fn is_like_a_package(instances: &mut Instances, class: ClassId) -> bool {
    if matches!(instances.kind(class), ClassKind::Package | ClassKind::Function | ClassKind::Operator) {
        return true;
    }
    for part in instances.with_bases(class) {
        let definition = instances.definition(part).clone();
        if let ast::ClassBody::Long(composition) = &definition.body
            && (composition.equations.iter().any(|section| !section.equations.is_empty())
                || !composition.algorithms.is_empty())
        {
            return false;
        }
    }
    let components = instances.components_of(class);
    components
        .into_iter()
        .all(|component| instances.component(component).type_prefixes.variability == ast::Variability::Constant)
}
