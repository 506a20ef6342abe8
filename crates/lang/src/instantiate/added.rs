//! Components that no text declares: inner ones that outer ones ask for (specification 5.4), and elements that connections
//! add to expandable connectors (9.1.3).

use std::sync::Arc;

use base::Name;
use syntax::ast;

use super::components::dimensions;
use crate::instance::{ClassId, CompId, ComponentNode, ComponentType, Instances, Member, SizeState, TypeState};

impl Instances {
    /// A component of the model's top class that no text declares, with the type of `like`.
    pub(crate) fn add_implicit_component(&mut self, top: ClassId, like: CompId, declaration: ast::Component) -> CompId {
        let type_scope = self.components[like].type_scope;
        let node = ComponentNode {
            name: declaration.name.name,
            parent: top,
            declared_in: top,
            type_scope,
            modifier: Arc::default(),
            type_prefixes: declaration.type_prefixes,
            prefixes: declaration.prefixes,
            condition: None,
            dimensions: Vec::new(),
            own_dimensions: 0,
            original: None,
            added: false,
            removed: false,
            ty: TypeState::Unknown,
            sizes: SizeState::Unknown,
            declaration: Arc::new(declaration),
        };
        let name = node.name;
        let component = self.components.push(node);
        self.classes[top].members.entry(name).or_insert(Member::Component(component));
        component
    }

    /// Adds the element `name`, of the type that `like` has, to an expandable connector.
    pub(crate) fn add_expandable_element(&mut self, class: ClassId, name: Name, like: CompId, sizes: &[usize]) {
        let source = &self.components[like];
        let mut declaration = (*source.declaration).clone();
        declaration.name.name = name;
        declaration.condition = None;
        declaration.modification = None;
        let span = declaration.name.span;
        let number = |&size: &usize| {
            let expr = ast::Expr { kind: ast::ExprKind::Integer(size as i64), span };
            ast::Subscript::Expr(Arc::new(expr))
        };
        // What the type itself has as dimensions comes with it again.
        let of_type = source.dimensions.len() - source.own_dimensions;
        let own = sizes.len().saturating_sub(of_type);
        declaration.subscripts = sizes[..own].iter().map(number).collect();
        let (type_scope, modifier) = (source.type_scope, source.modifier.without_binding());
        let mut type_prefixes = source.declaration.type_prefixes;
        type_prefixes.direction = ast::Direction::None;
        let node = ComponentNode {
            name,
            parent: self.classes[class].instance,
            declared_in: class,
            dimensions: dimensions(&declaration.subscripts, class),
            own_dimensions: own,
            declaration: Arc::new(declaration),
            type_scope,
            modifier: Arc::new(modifier),
            type_prefixes,
            prefixes: ast::ElementPrefixes::default(),
            condition: None,
            ty: TypeState::Unknown,
            sizes: SizeState::Unknown,
            original: None,
            added: true,
            removed: false,
        };
        let component = self.components.push(node);
        // Who writes it is decided by the connections, not by the type it is taken from.
        if self.component_type(component).is_ok() {
            self.components[component].type_prefixes.direction = ast::Direction::None;
        }
        self.insert(class, name, Member::Component(component));
    }

    /// Adds an element that is an expandable connector like the one it is in, without elements.
    pub(crate) fn add_nested_expandable(&mut self, class: ClassId, connector: CompId, name: ast::Ident) {
        let def = self.libraries.empty_expandable(name);
        let top = self.root();
        let mut declaration = (*self.components[connector].declaration).clone();
        declaration.name = name;
        declaration.subscripts.clear();
        declaration.modification = None;
        declaration.condition = None;
        let component = self.components.push(ComponentNode {
            name: name.name,
            parent: self.classes[class].instance,
            declared_in: class,
            declaration: Arc::new(declaration),
            type_scope: class,
            modifier: Arc::default(),
            type_prefixes: ast::TypePrefixes::default(),
            prefixes: ast::ElementPrefixes::default(),
            condition: None,
            dimensions: Vec::new(),
            own_dimensions: 0,
            ty: TypeState::Unknown,
            sizes: SizeState::Unknown,
            original: None,
            added: true,
            removed: false,
        });
        let node = self.new_class(def, Some(top), Some(component), Arc::default());
        self.components[component].ty = TypeState::Known(ComponentType::Class(node));
        self.insert(class, name.name, Member::Component(component));
    }
}
