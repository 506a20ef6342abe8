//! Components (specification 4.4): what a declaration with its modifiers makes, the type of a component, and what it is by
//! the components above it: variability, direction, flow, where its value comes from. Conditions are evaluated in
//! `conditional`.

use std::sync::Arc;

use base::Diagnostic;
use syntax::ast;

use crate::instance::{
    BindingSource, ClassId, CompId, ComponentNode, ComponentType, Dimension, Instances, Member, Outcome, SizeState,
    TypeState,
};
use crate::modifier::{self, Modifier, Spread, merge};

/// Models with more class instances than this are refused: each of them takes about a kilobyte.
const MOST_CLASSES: usize = 500_000;

impl Instances {
    pub(super) fn add_component(&mut self, id: ClassId, declared: &Arc<ast::Component>) {
        let name = declared.name.name;
        if let Some(known @ Member::Component(own)) = self.inherited_twice(id, name) {
            self.note_duplicate(id, own, declared);
            self.insert(id, name, known);
            return;
        }
        if self.check_duplicate(id, declared.name) {
            return;
        }
        let outer = self.classes[id].modifier.child(name).cloned().unwrap_or_default();
        let node = self.component_node(id, declared, &outer);
        let component = self.components.push(node);
        self.insert(id, name, Member::Component(component));
    }

    pub(super) fn component_node(
        &mut self,
        id: ClassId,
        declared: &Arc<ast::Component>,
        outer: &Arc<Modifier>,
    ) -> ComponentNode {
        let diagnostics = &mut self.diagnostics;
        let mut own = match &declared.modification {
            Some(modification) => {
                let mut own = modifier::from_modification(modification, id, Spread::NONE, true, diagnostics);
                own.span = Some(declared.name.span);
                own
            }
            None => Modifier { span: Some(declared.name.span), ..Modifier::default() },
        };
        own.is_final = declared.prefixes.is_final;
        let mut own = Arc::new(own);
        if let Some(constraint) = declared.constraint.as_ref().and_then(|constraint| constraint.modification.as_ref()) {
            let below = modifier::from_class_modification(constraint, id, Spread::COMPONENT, diagnostics);
            own = merge(&own, &Arc::new(below), diagnostics);
        }
        let mut node = ComponentNode {
            name: declared.name.name,
            parent: self.classes[id].instance,
            declared_in: id,
            declaration: declared.clone(),
            type_scope: id,
            modifier: own.clone(),
            type_prefixes: declared.type_prefixes,
            prefixes: declared.prefixes,
            condition: declared.condition.clone(),
            dimensions: dimensions(&declared.subscripts, id),
            own_dimensions: declared.subscripts.len(),
            original: None,
            added: false,
            removed: false,
            ty: TypeState::Unknown,
            sizes: SizeState::Unknown,
        };
        match &outer.redeclare {
            Some(redeclare) => self.redeclare_component(&mut node, redeclare, outer, &own),
            None => node.modifier = merge(outer, &own, &mut self.diagnostics),
        }
        node
    }

    /// Whether a component is a record.
    pub(crate) fn is_record_component(&mut self, id: CompId) -> bool {
        match self.component_type(id) {
            Ok(ComponentType::Class(class)) => {
                matches!(self.kind(class), ast::ClassKind::Record | ast::ClassKind::OperatorRecord)
            }
            _ => false,
        }
    }

    /// The type of a component. For a class it is an instance of its own with the component's modifiers.
    pub fn component_type(&mut self, id: CompId) -> Outcome<ComponentType> {
        match &self.components[id].ty {
            TypeState::Known(ty) => return Ok(ty.clone()),
            TypeState::Failed(diagnostic) => return Err(diagnostic.clone()),
            TypeState::Busy => {
                let diagnostic =
                    Diagnostic::error("cyclic-type", format!("the type of `{}` depends on itself", self.path(id)));
                return Err(Box::new(diagnostic.at(self.span(id), "declared here")));
            }
            TypeState::Unknown => {}
        }
        self.components[id].ty = TypeState::Busy;
        let found = self.find_component_type(id);
        self.components[id].ty = match &found {
            Ok(ty) => TypeState::Known(ty.clone()),
            Err(diagnostic) => TypeState::Failed(diagnostic.clone()),
        };
        found
    }

    fn find_component_type(&mut self, id: CompId) -> Outcome<ComponentType> {
        let node = &self.components[id];
        let (scope, type_name) = (node.type_scope, node.declaration.type_name.clone());
        let class = match self.lookup_type(scope, &type_name) {
            Ok(class) => class,
            Err(diagnostic) => return Err(self.in_component(diagnostic, id)),
        };
        let modifier = self.components[id].modifier.clone();
        if let Some(simple) = self.simple_type(class)
            && let Some(builtin) = simple.builtin
        {
            let component = &mut self.components[id];
            component.dimensions.extend(simple.dimensions.iter().cloned());
            add_prefixes(&mut component.type_prefixes, simple.prefixes);
            let own = Arc::new(modifier.without_binding());
            let attributes = merge(&own, &simple.attributes, &mut self.diagnostics);
            return Ok(ComponentType::Builtin { builtin, attributes });
        }
        if self.classes.len() > MOST_CLASSES {
            let message = format!("the model has more than {MOST_CLASSES} components with elements");
            let diagnostic = Diagnostic::error("too-large", message).at(self.span(id), "the first one beyond");
            return Err(self.in_component(Box::new(diagnostic), id));
        }
        let own = Arc::new(modifier.without_binding());
        let instance = self.copy_class(class, Some(id), own);
        self.check_recursion(id, instance, type_name.span)?;
        let (dimensions, prefixes) = self.type_dimensions(instance);
        let component = &mut self.components[id];
        component.dimensions.extend(dimensions);
        add_prefixes(&mut component.type_prefixes, prefixes);
        if self.is_external_object(instance) {
            Ok(ComponentType::Object(instance))
        } else {
            Ok(ComponentType::Class(instance))
        }
    }

    pub(crate) fn in_component(&self, mut diagnostic: Box<Diagnostic>, id: CompId) -> Box<Diagnostic> {
        if diagnostic.component.is_none() {
            diagnostic.component = self.owner_path(self.components[id].parent);
        }
        diagnostic
    }

    /// The dimensions of a component, those of its type included.
    pub fn dimensions(&mut self, id: CompId) -> Outcome<Vec<Dimension>> {
        self.component_type(id)?;
        Ok(self.components[id].dimensions.clone())
    }

    /// How many element numbers lead to the elements of a class instance: the ranks of the components above it.
    pub fn rank_above(&mut self, class: ClassId) -> usize {
        match self.classes[class].owner {
            None => 0,
            Some(owner) => {
                let chain = self.chain(owner);
                chain.iter().map(|&id| self.components[id].dimensions.len()).sum()
            }
        }
    }

    /// Where the value of a component comes from; `None` if it has no binding.
    pub fn binding(&self, id: CompId) -> Option<BindingSource> {
        let chain = self.chain(id);
        let own = |id: CompId| self.components[id].modifier.binding.as_ref();
        // From the outermost component down: the position of the one whose binding gives the value, if any does.
        let mut whole: Option<usize> = None;
        for (at, &id) in chain.iter().enumerate() {
            let is_field = whole.is_some_and(|whole| own(id).is_none() || !self.is_said_outside(&chain[whole..=at]));
            if !is_field {
                whole = own(id).is_some_and(|binding| binding.expr.is_some()).then_some(at);
            }
        }
        match (whole?, chain.len() - 1) {
            (whole, last) if whole == last => own(id).cloned().map(BindingSource::Expression),
            (_, last) => Some(BindingSource::Field(chain[last - 1])),
        }
    }

    /// Whether the binding of an element comes from a modifier of the record above it that has a value as a whole, so that
    /// it wins over that value; the way leads from the record to the element. What the class of the record says, at whatever
    /// depth, is part of the default that the value replaces (7.2.3).
    fn is_said_outside(&self, way: &[CompId]) -> bool {
        let Some((&whole, below)) = way.split_first() else { return false };
        let mut modifier = &self.components[whole].modifier;
        for &id in below {
            let name = self.components[id].name;
            if modifier.covered.contains(&name) {
                return false;
            }
            match modifier.child(name) {
                Some(child) => modifier = child,
                None => return false,
            }
        }
        modifier.binding.is_some()
    }

    /// An element of a record with a value as a whole cannot have a value of its own from the same modification (7.2.4).
    /// Final ones are noted: the value as a whole must leave them as they are (7.2.6).
    pub(crate) fn check_record_element(&mut self, id: CompId) {
        if self.components[id].modifier.binding.is_none() {
            return;
        }
        let Some(mut whole) = self.record_above(id) else { return };
        let mut path = vec![self.components[id].name];
        while let Some(BindingSource::Field(above)) = self.binding(whole) {
            path.push(self.components[whole].name);
            whole = above;
        }
        let mut modifier = &self.components[whole].modifier;
        let value = modifier.binding.as_ref().map(|binding| binding.span);
        let (mut is_covered, mut is_doubled, mut is_final) = (false, false, false);
        for &name in path.iter().rev() {
            is_covered |= modifier.covered.contains(&name);
            is_doubled |= modifier.doubled.contains(&name);
            match modifier.child(name) {
                Some(child) => modifier = child,
                None => return,
            }
            is_final |= modifier.is_final;
        }
        let Some(own) = modifier.binding.as_ref().filter(|binding| binding.expr.is_some()) else { return };
        if is_covered && is_final {
            self.final_elements.push((id, whole));
        }
        if !is_doubled {
            return;
        }
        let message = format!("`{}` is modified twice, by itself and by the value of its record", self.path(id));
        let whole_value = self.components[whole].modifier.binding.as_ref().and_then(|binding| binding.expr.as_ref());
        let element: String = path.iter().rev().map(|name| format!(".{name}")).collect();
        // `r.x = s.x, r = s` says the same thing twice.
        let is_same = whole_value.zip(own.expr.as_ref()).is_some_and(|(whole, own)| {
            matches!(whole.kind, ast::ExprKind::Ref(_)) && own.to_string() == format!("{whole}{element}")
        });
        let mut diagnostic = Diagnostic::breach("duplicate-modifier", message).at(own.span, "its own value");
        if !is_same {
            diagnostic = diagnostic.refused();
        }
        if let Some(span) = value {
            diagnostic = diagnostic.at(span, "the value of the record as a whole");
        }
        self.report(Box::new(diagnostic.specification("7.2.4")));
    }

    /// The component of which this one is an element, if it has a value as a whole.
    fn record_above(&self, id: CompId) -> Option<CompId> {
        let owner = self.classes[self.components[id].parent].owner?;
        self.binding(owner).map(|_| owner)
    }

    /// The variability with that of the components above it.
    pub fn variability(&self, id: CompId) -> ast::Variability {
        let mut result = ast::Variability::Unstated;
        for id in self.chain(id) {
            result = stronger(result, self.components[id].type_prefixes.variability);
        }
        result
    }

    /// `flow` or `stream`, also of a component above it.
    pub fn flow(&self, id: CompId) -> ast::Flow {
        let chain = self.chain(id);
        chain
            .iter()
            .map(|&id| self.components[id].type_prefixes.flow)
            .find(|&flow| flow != ast::Flow::None)
            .unwrap_or_default()
    }

    /// `input` or `output`, also of a component above it.
    pub fn direction(&self, id: CompId) -> ast::Direction {
        let chain = self.chain(id);
        chain
            .iter()
            .map(|&id| self.components[id].type_prefixes.direction)
            .find(|&direction| direction != ast::Direction::None)
            .unwrap_or_default()
    }
}

fn stronger(a: ast::Variability, b: ast::Variability) -> ast::Variability {
    let rank = |variability| match variability {
        ast::Variability::Unstated => 0,
        ast::Variability::Discrete => 1,
        ast::Variability::Parameter => 2,
        ast::Variability::Constant => 3,
    };
    if rank(b) > rank(a) { b } else { a }
}

pub(super) fn add_prefixes(own: &mut ast::TypePrefixes, of_type: ast::TypePrefixes) {
    if own.flow == ast::Flow::None {
        own.flow = of_type.flow;
    }
    if own.direction == ast::Direction::None {
        own.direction = of_type.direction;
    }
    own.variability = stronger(own.variability, of_type.variability);
}

pub(super) fn dimensions(subscripts: &[ast::Subscript], scope: ClassId) -> Vec<Dimension> {
    subscripts.iter().map(|subscript| Dimension { subscript: subscript.clone(), scope }).collect()
}
