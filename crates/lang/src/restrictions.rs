//! What the specialised classes may contain and inherit (specification 4.7 and 7.1.3), and what may be said about elements.

use base::{Diagnostic, Span};
use syntax::ast::{self, ClassKind};

use crate::instance::{Builtin, ClassId, ClassMemberId, CompId, ComponentType, Constraint, Instances, Member, Outcome};

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
        OperatorRecord => matches!(base, OperatorRecord | Record),
        ExpandableConnector => base == ExpandableConnector,
        Connector => matches!(base, Type | Record | Connector | OperatorRecord),
        Block => matches!(base, Record | Block),
        Model => matches!(base, Record | Block | Model),
    }
}

/// The words of the language for a kind of class.
pub fn kind_text(kind: ClassKind) -> &'static str {
    match kind {
        ClassKind::Class => "class",
        ClassKind::Model => "model",
        ClassKind::Record => "record",
        ClassKind::OperatorRecord => "operator record",
        ClassKind::Block => "block",
        ClassKind::Connector => "connector",
        ClassKind::ExpandableConnector => "expandable connector",
        ClassKind::Type => "type",
        ClassKind::Package => "package",
        ClassKind::Function => "function",
        ClassKind::OperatorFunction => "operator function",
        ClassKind::Operator => "operator",
    }
}

/// Reports what a class, together with its base classes, contains against the rules for its kind.
pub fn check_class(instances: &mut Instances, class: ClassId) {
    for part in instances.with_bases(class) {
        let definition = instances.definition(part).clone();
        if let ast::ClassBody::Long(composition) = &definition.body {
            check_content(instances, &definition, composition);
            check_simple(instances, part, &definition, composition);
        }
    }
}

fn check_content(instances: &mut Instances, class: &ast::ClassDef, composition: &ast::Composition) {
    use ClassKind::*;
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
            ast::Element::Component(component) => check_component(instances, class, component),
            ast::Element::Class(inner) => {
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

fn check_component(instances: &mut Instances, class: &ast::ClassDef, component: &ast::Component) {
    use ClassKind::*;
    let span = component.name.span;
    let prefixes = component.type_prefixes;
    let is_record = matches!(class.kind, Record | OperatorRecord);
    let is_connector = matches!(class.kind, Connector | ExpandableConnector);
    if (is_record || is_connector) && component.prefixes.protected {
        report(instances, class, span, "has a protected element", "make it public");
    }
    if (is_record || is_connector) && (component.prefixes.inner || component.prefixes.outer) {
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
        report(instances, class, span, "has a variable that is no constant", "declare it `constant`");
    }
    if class.kind == Operator {
        report(instances, class, span, "has a variable", "an operator holds functions only");
    }
    if component.prefixes.outer && !component.prefixes.inner && component.modification.is_some() {
        instances.report(Box::new(
            Diagnostic::error("outer-modified", format!("the outer element `{}` is modified", component.name.name))
                .at(span, "declared here")
                .hint("modify the inner element instead")
                .specification("5.4"),
        ));
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
    let text = format!("the {} `{}` {what}", kind_text(class.kind), class.name.name);
    let diagnostic =
        Diagnostic::error("restricted-class", text).at(span, "not allowed here").hint(hint).specification("4.7");
    instances.report(Box::new(diagnostic));
}

/// Reports a component of a model whose class is partial or not one of components.
pub fn check_type(instances: &mut Instances, component: CompId) {
    let Ok(ComponentType::Class(class)) = instances.component_type(component) else { return };
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
    let wrong = matches!(
        definition.kind,
        ClassKind::Package | ClassKind::Function | ClassKind::OperatorFunction | ClassKind::Operator
    );
    if wrong {
        let kind = kind_text(definition.kind);
        let diagnostic = Diagnostic::error(
            "component-kind",
            format!("`{path}` is declared with the {kind} `{}`", definition.name.name),
        )
        .at(span, "no class of components")
        .specification("4.4.2");
        instances.report(Box::new(diagnostic));
    }
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

/// Reports redeclared classes and components whose class cannot stand for the constraining class (7.3.2).
pub fn check_redeclarations(instances: &mut Instances, components: &[CompId]) {
    for redeclared in std::mem::take(&mut instances.redeclarations) {
        let Constraint::Class(member) = redeclared.constraint;
        let Ok(constraint) = constraining_class(instances, member) else { continue };
        if let Some(missing) = missing_for(instances, redeclared.class, constraint) {
            report_redeclared(instances, redeclared.class, constraint, redeclared.span, &missing);
        }
    }
    for &component in components {
        let node = instances.component(component);
        let Some((original, span)) = node.original.clone() else { continue };
        let (declared_in, type_scope) = (node.declared_in, node.type_scope);
        let declared = node.declaration.clone();
        let wanted = match &original.constraint {
            Some(constraint) => instances.lookup_type(declared_in, &constraint.base),
            None => instances.lookup_type(declared_in, &original.type_name),
        };
        let (Ok(class), Ok(constraint)) = (instances.lookup_type(type_scope, &declared.type_name), wanted) else {
            continue;
        };
        if let Some(missing) = missing_for(instances, class, constraint) {
            report_redeclared(instances, class, constraint, span, &missing);
        }
    }
}

fn constraining_class(instances: &mut Instances, member: ClassMemberId) -> Outcome<ClassId> {
    let declared = instances.class_member(member);
    let scope = declared.declared_in;
    match declared.declaration.as_ref().and_then(|class| class.constraint.clone()) {
        Some(constraint) => instances.lookup_type(scope, &constraint.base),
        None => instances.class_of(member),
    }
}

fn report_redeclared(instances: &mut Instances, class: ClassId, constraint: ClassId, span: Span, missing: &str) {
    let (name, wanted) = (instances.class_name(class), instances.class_name(constraint));
    let diagnostic =
        Diagnostic::error("redeclare-type", format!("`{name}` cannot be used in place of `{wanted}`: {missing}"))
            .at(span, "redeclared here")
            .at(instances.definition(constraint).name.span, "this is what it must provide")
            .specification("7.3.2");
    instances.report(Box::new(diagnostic));
}

/// What a class lacks to be used in place of another (6.4): the name of the first element and why.
pub fn missing_for(instances: &mut Instances, class: ClassId, constraint: ClassId) -> Option<String> {
    if instances.class(class).def == instances.class(constraint).def {
        return None;
    }
    let simple = (instances.simple_type(class), instances.simple_type(constraint));
    match simple {
        (Some(own), Some(wanted)) => {
            return (!same_builtin(own.builtin, wanted.builtin)).then(|| "its type is another one".to_owned());
        }
        (Some(_), None) | (None, Some(_)) => {
            let empty = instances.members(constraint).is_empty();
            return (!empty).then(|| "only one of them is a predefined type".to_owned());
        }
        (None, None) => {}
    }
    for (name, member) in instances.members(constraint) {
        let is_protected = match member {
            Member::Component(component) => instances.component(component).prefixes.protected,
            Member::Class(inner) => instances.class_member(inner).protected,
        };
        if is_protected {
            continue;
        }
        match (member, instances.member(class, name)) {
            (_, None) => {
                if let Member::Component(component) = member
                    && instances.component(component).condition.is_some()
                {
                    continue;
                }
                return Some(format!("it has no element `{name}`"));
            }
            (Member::Component(wanted), Some(Member::Component(own))) => {
                let (Ok(own), Ok(wanted)) = (instances.component_type(own), instances.component_type(wanted)) else {
                    continue;
                };
                let same = match (own, wanted) {
                    (ComponentType::Builtin { builtin: a, .. }, ComponentType::Builtin { builtin: b, .. }) => {
                        same_builtin(Some(a), Some(b))
                    }
                    (ComponentType::Builtin { .. }, _) | (_, ComponentType::Builtin { .. }) => false,
                    _ => true,
                };
                if !same {
                    return Some(format!("its element `{name}` has another type"));
                }
            }
            (Member::Class(_), Some(Member::Class(_))) => {}
            _ => return Some(format!("`{name}` is a class in one and a component in the other")),
        }
    }
    None
}

fn same_builtin(a: Option<Builtin>, b: Option<Builtin>) -> bool {
    match (a, b) {
        (Some(Builtin::Enumeration(_)), Some(Builtin::Enumeration(_))) => true,
        _ => a == b,
    }
}
