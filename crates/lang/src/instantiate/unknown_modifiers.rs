//! Modifiers of elements that a class does not have (specification 7.2).

use base::{Diagnostic, Name, Span};
use syntax::ast;

use crate::instance::{ClassId, Expansion, Instances};

impl Instances {
    /// Reports what the modification of an extends clause or of a short class definition names and its base class does not have.
    /// Modifiers from further outside are checked where they are written.
    pub(super) fn check_clause(&mut self, base: ClassId, modification: &ast::ClassModification) {
        // A class that failed to expand may lack more than it should; predefined types have attributes.
        if self.classes[base].expansion != Expansion::Done || self.is_predefined(base) {
            return;
        }
        for argument in &modification.arguments {
            let (name, span) = match argument {
                ast::Argument::Element(element) => match element.path.first() {
                    Some(first) => (first.name, element.span),
                    None => continue,
                },
                ast::Argument::RedeclareClass { class, .. } => (class.name.name, class.name.span),
                ast::Argument::RedeclareComponent { component, .. } => (component.name.name, component.name.span),
                ast::Argument::BreakElement(_) | ast::Argument::BreakConnect(..) => continue,
            };
            if !self.classes[base].members.contains_key(&name) {
                let diagnostic = self.unknown_modifier(base, name, Some(span));
                self.report(Box::new(diagnostic));
            }
        }
    }

    /// The message that a modifier names an element that the class does not have.
    pub(crate) fn unknown_modifier(&mut self, class: ClassId, name: Name, span: Option<Span>) -> Diagnostic {
        let class_name = self.class_name(class);
        let mut diagnostic =
            Diagnostic::error("unknown-modifier", format!("the class `{class_name}` has no element `{name}`"))
                .specification("7.2");
        if let Some(span) = span {
            diagnostic = diagnostic.at(span, "modified here");
        }
        if let Some(component) = self.owner_path(class) {
            diagnostic = diagnostic.in_component(component);
        }
        if let Some(import) = self.import_of(class, name) {
            diagnostic = diagnostic
                .at(import, format!("`{name}` is imported here, and imports cannot be modified"))
                .hint("declare a class of that name in place of the import")
                .specification("13.2.2");
        } else if let Some(near) = self.nearest_member(class, name) {
            diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
        }
        diagnostic
    }

    /// Whether the class is a predefined type, or extends one.
    fn is_predefined(&self, class: ClassId) -> bool {
        let node = &self.classes[class];
        node.builtin.is_some() || node.bases.iter().any(|&base| self.is_predefined(base))
    }
}
