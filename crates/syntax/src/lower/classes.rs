//! Files, classes and their elements of the tree as abstract syntax.

use std::sync::Arc;

use crate::ast::{
    ClassBody, ClassDef, ClassKind, ClassModification, Component, Composition, Constraint, Direction, Element,
    EnumerationLiteral, Expr, Extends, External, Flow, Import, ImportKind, Purity, StoredDefinition, Subscript,
    TypeName, TypePrefixes, Variability,
};
use crate::deep::deep;
use crate::kind::SyntaxKind as K;
use crate::literal::shared_string;
use crate::tree::{Child, NodeId, TokenId};

use super::Lowering;

/// What is at the end of many constructs.
#[derive(Default)]
struct Tail {
    description: Option<Arc<str>>,
    annotation: Option<Arc<ClassModification>>,
}

impl Lowering<'_> {
    pub(super) fn stored_definition(&mut self) -> StoredDefinition {
        let tree = self.tree;
        let mut file = StoredDefinition { within: None, classes: Vec::new() };
        for child in tree.child_nodes(tree.root()) {
            match tree.kind(child) {
                K::Within => {
                    let span = tree.span(child);
                    let name = tree.child(child, K::TypeName).map(|name| self.type_name(name));
                    file.within = Some(name.unwrap_or(TypeName { global: false, parts: Vec::new(), span }));
                }
                K::ClassDef => file.classes.extend(self.class_def(child, false)),
                _ => {}
            }
        }
        file
    }

    /// A class; none when its name is missing.
    pub(super) fn class_def(&mut self, node: NodeId, protected: bool) -> Option<Arc<ClassDef>> {
        deep(|| self.class_def_inner(node, protected))
    }

    fn class_def_inner(&mut self, node: NodeId, protected: bool) -> Option<Arc<ClassDef>> {
        let tree = self.tree;
        let mut header = Header::default();
        let mut children = tree.children(node);
        let name = loop {
            match children.next()? {
                Child::Token(token) => {
                    let kind = tree.token_kind(token);
                    // A misspelled keyword is a name in front of the name.
                    let next_is_name =
                        matches!(children.clone().next(), Some(Child::Token(next)) if self.is_name(next));
                    if self.is_name(token) && !next_is_name {
                        break self.ident(token);
                    }
                    header.take(kind);
                }
                Child::Node(_) => return None,
            }
        };
        let mut class = ClassDef {
            name,
            kind: header.class_kind(),
            purity: header.purity,
            encapsulated: header.encapsulated,
            partial: header.partial,
            prefixes: self.element_prefixes(node, protected),
            body: ClassBody::Enumeration(None),
            constraint: None,
            description: None,
            annotation: None,
            span: tree.span(node),
        };
        match children.clone().next() {
            Some(Child::Token(token)) if tree.token_kind(token) == K::Equals => self.short_class(node, &mut class),
            _ => {
                class.body = ClassBody::Long(Composition {
                    extension: header.extends.then_some(None),
                    ..Composition::default()
                });
                self.long_class(node, &mut class);
            }
        }
        Some(Arc::new(class))
    }

    fn short_class(&mut self, node: NodeId, class: &mut ClassDef) {
        let tree = self.tree;
        let mut prefixes = TypePrefixes::default();
        let mut base = None;
        let mut subscripts = Vec::new();
        let mut modification = None;
        let mut literals = Vec::new();
        let (mut enumeration, mut unspecified, mut derivative) = (false, false, false);
        let mut variables = Vec::new();
        for child in tree.children(node) {
            match child {
                Child::Token(token) => match tree.token_kind(token) {
                    K::EnumerationKw => enumeration = true,
                    K::DerKw => derivative = true,
                    K::Colon => unspecified = true,
                    K::Ident | K::QuotedIdent if derivative => variables.push(self.ident(token)),
                    kind => take_type_prefix(&mut prefixes, kind),
                },
                Child::Node(child) => match tree.kind(child) {
                    K::TypeName => base = Some(self.type_name(child)),
                    K::Subscripts => subscripts = self.subscripts(child),
                    K::ClassModification => modification = Some(Arc::new(self.class_modification(child))),
                    K::EnumerationLiteral => literals.extend(self.enumeration_literal(child)),
                    K::ConstrainingClause => class.constraint = Some(self.constraint(child)),
                    K::Description => class.description = Some(self.description(child)),
                    K::Annotation => class.annotation = self.annotation(child),
                    _ => {}
                },
            }
        }
        let span = class.span;
        let base = base.unwrap_or(TypeName { global: false, parts: Vec::new(), span });
        class.body = if enumeration {
            ClassBody::Enumeration((!unspecified).then_some(literals))
        } else if derivative {
            ClassBody::PartialDerivative { function: base, variables }
        } else {
            ClassBody::Short { base: Arc::new(base), prefixes, subscripts, modification }
        };
    }

    fn enumeration_literal(&mut self, node: NodeId) -> Option<EnumerationLiteral> {
        let name = self.name_token(node)?;
        let name = self.ident(name);
        let tail = self.tail(node);
        Some(EnumerationLiteral { name, description: tail.description, annotation: tail.annotation })
    }

    fn name_token(&self, node: NodeId) -> Option<TokenId> {
        self.tree.children(node).find_map(|child| match child {
            Child::Token(token) if self.is_name(token) => Some(token),
            _ => None,
        })
    }

    fn tail(&mut self, node: NodeId) -> Tail {
        let tree = self.tree;
        let mut tail = Tail::default();
        for child in tree.child_nodes(node) {
            match tree.kind(child) {
                K::Description => tail.description = Some(self.description(child)),
                K::Annotation => tail.annotation = self.annotation(child),
                _ => {}
            }
        }
        tail
    }

    fn long_class(&mut self, node: NodeId, class: &mut ClassDef) {
        let tree = self.tree;
        let mut composition = Composition::default();
        if let ClassBody::Long(started) = &class.body {
            composition.extension = started.extension.clone();
        }
        let mut protected = false;
        for child in tree.children(node) {
            match child {
                Child::Token(token) => match tree.token_kind(token) {
                    K::ProtectedKw => protected = true,
                    K::PublicKw => protected = false,
                    _ => {}
                },
                Child::Node(child) => match tree.kind(child) {
                    K::ClassModification => {
                        composition.extension = Some(Some(Arc::new(self.class_modification(child))));
                    }
                    K::EquationSection => {
                        composition.equations.push(self.equation_section(child));
                        self.misplaced_elements(child, protected, &mut composition.elements);
                    }
                    K::AlgorithmSection => {
                        composition.algorithms.push(self.algorithm_section(child));
                        self.misplaced_elements(child, protected, &mut composition.elements);
                    }
                    K::External => composition.external = Some(self.external(child)),
                    K::ConstrainingClause => class.constraint = Some(self.constraint(child)),
                    K::Description => class.description = Some(self.description(child)),
                    K::Annotation => class.annotation = self.annotation(child),
                    _ => self.element(child, protected, &mut composition.elements),
                },
            }
        }
        class.body = ClassBody::Long(composition);
    }

    /// Declarations in a section of equations were reported; they still declare what the equations speak of.
    fn misplaced_elements(&mut self, section: NodeId, protected: bool, elements: &mut Vec<Element>) {
        let tree = self.tree;
        for child in tree.child_nodes(section) {
            self.element(child, protected, elements);
        }
    }

    fn element(&mut self, node: NodeId, protected: bool, elements: &mut Vec<Element>) {
        match self.kind(node) {
            K::ImportClause => elements.extend(self.import(node).map(Element::Import)),
            K::ExtendsClause => elements.extend(self.extends(node, protected).map(|e| Element::Extends(Arc::new(e)))),
            K::ClassDef => elements.extend(self.class_def(node, protected).map(Element::Class)),
            K::ComponentClause => {
                elements.extend(self.components(node, protected).into_iter().map(Element::Component));
            }
            _ => {}
        }
    }

    fn import(&mut self, node: NodeId) -> Option<Import> {
        let tree = self.tree;
        let mut path = None;
        let mut kind = ImportKind::Qualified;
        for child in tree.children(node) {
            match child {
                Child::Node(child) if tree.kind(child) == K::TypeName => path = Some(self.type_name(child)),
                Child::Node(_) => {}
                Child::Token(token) => match tree.token_kind(token) {
                    K::DotStar | K::Star => kind = ImportKind::All,
                    K::LeftBrace => kind = ImportKind::Several(Vec::new()),
                    K::Ident | K::QuotedIdent => {
                        let name = self.ident(token);
                        match &mut kind {
                            ImportKind::Several(names) => names.push(name),
                            kind => *kind = ImportKind::Renamed(name),
                        }
                    }
                    _ => {}
                },
            }
        }
        let path = path.filter(|path| !path.parts.is_empty())?;
        Some(Import { path, kind, span: tree.span(node) })
    }

    fn extends(&mut self, node: NodeId, protected: bool) -> Option<Extends> {
        let tree = self.tree;
        let base = self.type_name(tree.child(node, K::TypeName)?);
        if base.parts.is_empty() {
            return None;
        }
        let modification = tree.child(node, K::ClassModification).map(|child| Arc::new(self.class_modification(child)));
        let annotation = tree.child(node, K::Annotation).and_then(|child| self.annotation(child));
        Some(Extends { base: Arc::new(base), protected, modification, annotation, span: tree.span(node) })
    }

    fn constraint(&mut self, node: NodeId) -> Arc<Constraint> {
        let tree = self.tree;
        let span = tree.span(node);
        let base = match tree.child(node, K::TypeName) {
            Some(child) => self.type_name(child),
            None => TypeName { global: false, parts: Vec::new(), span },
        };
        let modification = tree.child(node, K::ClassModification).map(|child| Arc::new(self.class_modification(child)));
        Arc::new(Constraint { base: Arc::new(base), modification, span })
    }

    /// The components of a clause; they share the type.
    pub(super) fn components(&mut self, node: NodeId, protected: bool) -> Vec<Arc<Component>> {
        let tree = self.tree;
        let prefixes = self.element_prefixes(node, protected);
        let mut type_prefixes = TypePrefixes::default();
        let mut type_name = None;
        let mut type_subscripts = Vec::new();
        let mut constraint = None;
        let mut tail = Tail::default();
        let mut components: Vec<Component> = Vec::with_capacity(1);
        for child in tree.children(node) {
            match child {
                Child::Token(token) => take_type_prefix(&mut type_prefixes, tree.token_kind(token)),
                Child::Node(child) => match tree.kind(child) {
                    K::TypeName => type_name = Some(Arc::new(self.type_name(child))),
                    K::Subscripts => type_subscripts = self.subscripts(child),
                    K::Declaration => {
                        let Some(type_name) = &type_name else { continue };
                        let declared = Declared { type_name, type_subscripts: &type_subscripts };
                        if let Some(mut component) = self.declaration(child, declared) {
                            component.prefixes = prefixes;
                            component.type_prefixes = type_prefixes;
                            components.push(component);
                        }
                    }
                    K::ConstrainingClause => constraint = Some(self.constraint(child)),
                    K::Description => tail.description = Some(self.description(child)),
                    K::Annotation => tail.annotation = self.annotation(child),
                    _ => {}
                },
            }
        }
        let finish = |mut component: Component| {
            component.constraint = constraint.clone();
            component.description = component.description.take().or_else(|| tail.description.clone());
            component.annotation = component.annotation.take().or_else(|| tail.annotation.clone());
            Arc::new(component)
        };
        components.into_iter().map(finish).collect()
    }

    fn declaration(&mut self, node: NodeId, declared: Declared<'_>) -> Option<Component> {
        let tree = self.tree;
        let name = self.name_token(node)?;
        let mut component = Component {
            name: self.ident(name),
            prefixes: Default::default(),
            type_prefixes: Default::default(),
            type_name: declared.type_name.clone(),
            subscripts: Vec::new(),
            modification: None,
            condition: None,
            constraint: None,
            description: None,
            annotation: None,
            span: tree.span(node),
        };
        for child in tree.child_nodes(node) {
            match tree.kind(child) {
                K::Subscripts => component.subscripts = self.subscripts(child),
                K::Modification => component.modification = Some(Arc::new(self.modification(child))),
                K::Condition => {
                    let condition = tree.child_nodes(child).next();
                    component.condition = condition.map(|condition| Arc::new(self.expr(condition)));
                }
                K::Description => component.description = Some(self.description(child)),
                K::Annotation => component.annotation = self.annotation(child),
                _ => {}
            }
        }
        component.subscripts.extend_from_slice(declared.type_subscripts);
        Some(component)
    }

    fn external(&mut self, node: NodeId) -> External {
        let tree = self.tree;
        let mut external = External {
            language: None,
            output: None,
            function: None,
            arguments: Vec::new(),
            annotation: None,
            span: tree.span(node),
        };
        let mut references = Vec::new();
        let mut inside = false;
        for child in tree.children(node) {
            match child {
                Child::Token(token) => match tree.token_kind(token) {
                    K::String => external.language = Some(shared_string(tree.token_text(token))),
                    K::LeftParen => inside = true,
                    _ => {}
                },
                Child::Node(child) => match tree.kind(child) {
                    K::Annotation => external.annotation = self.annotation(child),
                    K::Skipped => {}
                    K::Reference if !inside => references.push(self.component_ref(child)),
                    _ => {
                        let argument: Expr = self.expr(child);
                        external.arguments.push(argument);
                    }
                },
            }
        }
        external.function = references.pop().and_then(|function| function.parts.last().map(|part| part.ident));
        external.output = references.pop();
        external
    }
}

/// What the declarations of one clause share.
struct Declared<'a> {
    type_name: &'a Arc<TypeName>,
    type_subscripts: &'a [Subscript],
}

/// The prefixes of a class.
#[derive(Default)]
struct Header {
    kind: Option<K>,
    purity: Purity,
    encapsulated: bool,
    partial: bool,
    operator: bool,
    expandable: bool,
    extends: bool,
}

impl Header {
    fn take(&mut self, kind: K) {
        match kind {
            K::PureKw => self.purity = Purity::Pure,
            K::ImpureKw => self.purity = Purity::Impure,
            K::EncapsulatedKw => self.encapsulated = true,
            K::PartialKw => self.partial = true,
            K::OperatorKw => self.operator = true,
            K::ExpandableKw => self.expandable = true,
            K::ExtendsKw => self.extends = true,
            kind if kind.starts_class() => self.kind = Some(kind),
            _ => {}
        }
    }

    fn class_kind(&self) -> ClassKind {
        match self.kind {
            Some(K::ModelKw) => ClassKind::Model,
            Some(K::RecordKw) if self.operator => ClassKind::OperatorRecord,
            Some(K::RecordKw) => ClassKind::Record,
            Some(K::BlockKw) => ClassKind::Block,
            Some(K::ConnectorKw) if self.expandable => ClassKind::ExpandableConnector,
            Some(K::ConnectorKw) => ClassKind::Connector,
            Some(K::TypeKw) => ClassKind::Type,
            Some(K::PackageKw) => ClassKind::Package,
            Some(K::FunctionKw) if self.operator => ClassKind::OperatorFunction,
            Some(K::FunctionKw) => ClassKind::Function,
            None if self.operator => ClassKind::Operator,
            _ => ClassKind::Class,
        }
    }
}

fn take_type_prefix(prefixes: &mut TypePrefixes, kind: K) {
    match kind {
        K::FlowKw => prefixes.flow = Flow::Flow,
        K::StreamKw => prefixes.flow = Flow::Stream,
        K::DiscreteKw => prefixes.variability = Variability::Discrete,
        K::ParameterKw => prefixes.variability = Variability::Parameter,
        K::ConstantKw => prefixes.variability = Variability::Constant,
        K::InputKw => prefixes.direction = Direction::Input,
        K::OutputKw => prefixes.direction = Direction::Output,
        _ => {}
    }
}
