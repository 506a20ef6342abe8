//! References: what the first name of one means where it stands, and the class of what it leads to. The nearest meaning counts: an
//! iterator, an element of a class around it, or one that a class around it inherits from the library.

use syntax::ast::{self, Ident};

use super::names::{Class, Found};
use super::rewrite::{Rewrite, names_of, range};
use super::rules::parts;

/// An iterator that is in scope, and the class of the elements that it runs over.
pub struct Local {
    name: base::Name,
    class: Option<Class>,
}

impl Rewrite<'_> {
    pub fn reference(&mut self, scope: &str, name: &ast::ComponentRef) {
        for part in &name.parts {
            self.subscripts(scope, &part.subscripts);
        }
        let idents: Vec<Ident> = name.parts.iter().map(|part| part.ident).collect();
        if idents.is_empty() {
            return;
        }
        if let Some(class) = self.local(name) {
            self.element_name(class.as_ref(), &idents[1..]);
            return;
        }
        // What stands behind a subscript is an element of a component.
        let plain =
            name.parts.iter().position(|part| !part.subscripts.is_empty()).map_or(name.parts.len(), |at| at + 1);
        if !name.global && self.inherited(scope, &idents, plain) {
            return;
        }
        if self.path(scope, name.global, &idents[..plain], name.span) {
            return;
        }
        if let Some((class, taken)) = self.component_of(scope, name.global, &idents) {
            self.element_name(class.as_ref(), &idents[taken..]);
        }
    }

    /// Whether a name begins with an iterator, and the class of that.
    pub fn local(&self, name: &ast::ComponentRef) -> Option<Option<Class>> {
        let first = name.parts.first().filter(|_| !name.global)?.ident.name;
        let local = self.locals.iter().rev().find(|local| local.name == first)?;
        Some(local.class.clone())
    }

    /// Walks over what iterators are in scope of. The range of each is in the scope of those before it.
    pub fn with_iterators<'i>(
        &mut self,
        scope: &str,
        iterators: impl IntoIterator<Item = &'i ast::Iterator>,
        inner: impl FnOnce(&mut Self),
    ) {
        let outside = self.locals.len();
        for iterator in iterators {
            if let Some(range) = &iterator.range {
                self.expr(scope, range);
            }
            self.begin_iterator(scope, iterator);
        }
        inner(self);
        self.locals.truncate(outside);
    }

    fn begin_iterator(&mut self, scope: &str, iterator: &ast::Iterator) {
        let class = iterator.range.as_ref().and_then(|range| self.class_of(scope, range));
        self.locals.push(Local { name: iterator.name.name, class });
    }

    /// A name that the nearest class which has it inherits from the library, if a rule renames it.
    fn inherited(&mut self, scope: &str, idents: &[Ident], plain: usize) -> bool {
        let rest = names_of(&idents[..plain]);
        let mut around = Some(scope.to_owned());
        while let Some(class) = around {
            let own = self.world.member(&class, &rest[0]);
            let redeclared = match &own {
                Some(Found::Component { class, component }) if component.prefixes.redeclare => {
                    Some((class.clone(), component.clone()))
                }
                _ => None,
            };
            if redeclared.is_none() && (own.is_some() || self.world.imports(&class, &rest[0])) {
                return false;
            }
            for base in self.world.library_bases(&Class::User(class.clone())) {
                let base = base.join(".");
                if let Some(new) = self.captured(scope, &class, &base, &rest) {
                    let message = format!("`{}` is `{new}` now, but that name means something else here", rest[0]);
                    self.messages.push((range(idents[0].span).start, message));
                    return true;
                }
                if self.renamed_element(&base, &rest, idents) {
                    if let Some((class, component)) = redeclared {
                        let class = self.world.class(&class, &component.type_name);
                        self.element_name(class.as_ref(), &idents[1..]);
                    }
                    return true;
                }
            }
            if redeclared.is_some() {
                return false;
            }
            let known = self.world.classes.get(&class);
            around = known.filter(|known| !known.definition.encapsulated).and_then(|known| known.parent.clone());
        }
        false
    }

    /// The new name of an inherited element where something nearer than the class that inherits it has that name already.
    fn captured(&self, scope: &str, heir: &str, base: &str, rest: &[String]) -> Option<String> {
        let (_, new) = self.rules.element(base, rest)?;
        let first = parts(&new).into_iter().next().filter(|first| *first != rest[0])?;
        if self.locals.iter().any(|local| local.name == first.as_str()) {
            return Some(new);
        }
        let mut nearer = scope.to_owned();
        while nearer != heir {
            if self.world.member(&nearer, &first).is_some() || self.world.imports(&nearer, &first) {
                return Some(new);
            }
            nearer = self.world.classes.get(&nearer)?.parent.clone()?;
        }
        None
    }

    /// The name of an element that redeclares one which the class around it inherits. That of a class stands in more places, so
    /// that it is told.
    pub fn redeclared(&mut self, scope: &str, prefixes: ast::ElementPrefixes, name: Ident, is_component: bool) {
        if !prefixes.redeclare {
            return;
        }
        let path = [name.name.as_str().to_owned()];
        for base in self.world.library_bases(&Class::User(scope.to_owned())) {
            let base = base.join(".");
            let Some((_, new)) = self.rules.element(&base, &path) else { continue };
            if is_component && parts(&new).len() == 1 {
                self.renamed_element(&base, &path, &[name]);
            } else {
                let message = format!("`{}` is not converted where it is redeclared; it is `{new}` now", path[0]);
                self.messages.push((range(name.span).start, message));
            }
        }
    }

    /// The first component that a name leads to: its class, and how many parts of the name lead to it.
    fn component_of(&self, scope: &str, global: bool, idents: &[Ident]) -> Option<(Option<Class>, usize)> {
        let names: Vec<&str> = idents.iter().map(|ident| ident.name.as_str()).collect();
        for taken in 1..=names.len() {
            match self.world.find(scope, global, &names[..taken])? {
                Found::Component { class, component } => {
                    return Some((self.world.class(&class, &component.type_name), taken));
                }
                Found::Class(_) => {}
                Found::Library(..) => return None,
            }
        }
        None
    }

    /// The class of a value, or of the elements of an array, as far as the texts of the user tell it.
    pub fn class_of(&mut self, scope: &str, value: &ast::Expr) -> Option<Class> {
        syntax::deep(|| match &value.kind {
            ast::ExprKind::Ref(name) => self.class_of_reference(scope, name),
            ast::ExprKind::Subscripted(inner, _) => self.class_of(scope, inner),
            ast::ExprKind::Field(inner, name) => {
                let class = self.class_of(scope, inner)?;
                self.member_class(class, std::slice::from_ref(name))
            }
            ast::ExprKind::Array(items) => self.class_of(scope, items.first()?),
            ast::ExprKind::Matrix(rows) => self.class_of(scope, rows.first()?.first()?),
            ast::ExprKind::If { otherwise, .. } => self.class_of(scope, otherwise),
            ast::ExprKind::ArrayFor { element, iterators } => {
                let outside = self.locals.len();
                iterators.iter().rev().for_each(|iterator| self.begin_iterator(scope, iterator));
                let class = self.class_of(scope, element);
                self.locals.truncate(outside);
                class
            }
            ast::ExprKind::Call { function, arguments } => self.class_of_call(scope, function, arguments),
            _ => None,
        })
    }

    fn class_of_reference(&self, scope: &str, name: &ast::ComponentRef) -> Option<Class> {
        let idents: Vec<Ident> = name.parts.iter().map(|part| part.ident).collect();
        let (class, taken) = match self.local(name) {
            Some(class) => (class, 1),
            None => self.component_of(scope, name.global, &idents)?,
        };
        self.member_class(class?, &idents[taken..])
    }

    fn class_of_call(
        &mut self,
        scope: &str,
        function: &ast::ComponentRef,
        arguments: &ast::Arguments,
    ) -> Option<Class> {
        let names: Vec<&str> = function.parts.iter().map(|part| part.ident.name.as_str()).collect();
        match self.world.find(scope, function.global, &names) {
            // A constructor: what a function of the library returns is not known.
            Some(Found::Library(path, _)) => Some(Class::Library(path)),
            Some(Found::Class(Class::User(class))) => self.class_of_result(class),
            Some(_) => None,
            None => match (names.as_slice(), arguments.positional.first()?) {
                (
                    ["fill" | "vector" | "matrix" | "scalar" | "array" | "pre" | "noEvent"],
                    ast::FunctionArgument::Expr(value),
                ) => self.class_of(scope, value),
                _ => None,
            },
        }
    }

    /// What a call of a class of the user is: a record, or the first output of a function.
    fn class_of_result(&self, class: String) -> Option<Class> {
        let definition = &self.world.classes.get(&class)?.definition;
        let ast::ClassBody::Long(composition) = &definition.body else { return Some(Class::User(class)) };
        let output = composition.elements.iter().find_map(|element| match element {
            ast::Element::Component(component) if component.type_prefixes.direction == ast::Direction::Output => {
                Some(component)
            }
            _ => None,
        });
        match output {
            Some(output) => self.world.class(&class, &output.type_name),
            None => Some(Class::User(class)),
        }
    }

    fn member_class(&self, mut class: Class, path: &[Ident]) -> Option<Class> {
        for name in path {
            let Class::User(user) = &class else { return None };
            class = match self.world.member(user, name.name.as_str())? {
                Found::Component { class: declared, component } => self.world.class(&declared, &component.type_name)?,
                Found::Class(inner) => inner,
                Found::Library(..) => return None,
            };
        }
        Some(class)
    }

    /// Whether a rule has another name for an element of a class of the library.
    pub fn renamed_element(&mut self, base: &str, rest: &[String], path: &[Ident]) -> bool {
        if let Some(message) = rest.first().and_then(|first| self.rules.message(base, Some(first))) {
            self.messages.push((range(path[0].span).start, message.to_owned()));
        }
        let Some((taken, new)) = self.rules.element(base, rest) else { return false };
        let has_subscripts = path[..taken].windows(2).any(|pair| {
            let between = range(pair[0].span).end..range(pair[1].span).start;
            self.text.get(between).is_some_and(|between| between.contains('['))
        });
        if has_subscripts {
            let message = format!("`{}` is not converted, since it has subscripts inside", rest[..taken].join("."));
            self.messages.push((range(path[0].span).start, message));
        } else {
            self.replace_names(&path[..taken], &new);
        }
        true
    }
}
