//! Walks over a text of the user and notes what the rules change in it.

use std::ops::Range;
use std::sync::Arc;

use base::Span;
use syntax::ast::{self, Ident};

use super::edits::Edits;
use super::names::{Begin, Class, Found, World, full_name};
use super::references::Local;
use super::rules::{Rules, parts};
use super::uses::Use;

/// The changes of one text.
pub struct Rewrite<'a> {
    pub world: &'a World<'a>,
    pub rules: &'a Rules,
    pub text: &'a str,
    pub edits: Edits,
    /// The iterators that are in scope, the innermost last.
    pub locals: Vec<Local>,
    /// What cannot be converted: the place and the reason.
    pub messages: Vec<(usize, String)>,
}

impl Rewrite<'_> {
    pub fn stored(&mut self, stored: &ast::StoredDefinition) {
        let within: Vec<&str> =
            stored.within.iter().flat_map(|within| &within.parts).map(|part| part.name.as_str()).collect();
        let within = (!within.is_empty()).then(|| within.join("."));
        for class in &stored.classes {
            self.class(within.as_deref(), class);
        }
    }

    fn class(&mut self, parent: Option<&str>, class: &Arc<ast::ClassDef>) {
        let name = full_name(parent, class);
        let outside = parent.unwrap_or("");
        match &class.body {
            ast::ClassBody::Long(composition) => syntax::deep(|| self.composition(&name, composition)),
            ast::ClassBody::Short { base, subscripts, modification, .. } => {
                self.subscripts(outside, subscripts);
                let behind = end_of_subscripts(self.text, base.span.end as usize);
                let modification = modification.as_deref();
                let is_array = !subscripts.is_empty();
                self.used(&Use { modification, behind, is_array, ..Use::of(outside, base) }, base);
            }
            ast::ClassBody::PartialDerivative { function, .. } => self.type_name(outside, function),
            ast::ClassBody::Enumeration(_) => {}
        }
        if let Some(constraint) = &class.constraint {
            self.constraint(outside, constraint);
        }
        self.annotation(&name, class.annotation.as_deref());
    }

    fn composition(&mut self, class: &str, composition: &ast::Composition) {
        let mut clause: Vec<&ast::Component> = Vec::new();
        for element in &composition.elements {
            if let ast::Element::Component(component) = element {
                // Components that share the type stand in one clause.
                if clause.last().is_some_and(|last| !Arc::ptr_eq(&last.type_name, &component.type_name)) {
                    self.clause(class, &std::mem::take(&mut clause));
                }
                clause.push(component);
                continue;
            }
            self.clause(class, &std::mem::take(&mut clause));
            match element {
                ast::Element::Import(import) => self.import(import),
                ast::Element::Extends(extends) => {
                    let used = Use { modification: extends.modification.as_deref(), ..Use::of(class, &extends.base) };
                    self.used(&used, &extends.base);
                    self.annotation(class, extends.annotation.as_deref());
                }
                ast::Element::Class(inner) => {
                    self.redeclared(class, inner.prefixes, inner.name, false);
                    self.class(Some(class), inner);
                }
                ast::Element::Component(_) => {}
            }
        }
        self.clause(class, &clause);
        for section in &composition.equations {
            section.equations.iter().for_each(|equation| self.equation(class, equation));
        }
        for section in &composition.algorithms {
            section.statements.iter().for_each(|statement| self.statement(class, statement));
        }
        if let Some(external) = &composition.external {
            external.arguments.iter().for_each(|argument| self.expr(class, argument));
            self.annotation(class, external.annotation.as_deref());
        }
        if let Some(Some(modification)) = &composition.extension {
            self.arguments(class, None, modification);
        }
    }

    /// The components of one clause. Where `convertClassIf` gives them several classes, each gets a clause of its own.
    fn clause(&mut self, scope: &str, components: &[&ast::Component]) {
        let Some((first, others)) = components.split_first() else { return };
        let name = &*first.type_name;
        components.iter().for_each(|component| self.redeclared(scope, component.prefixes, component.name, true));
        let decided: Vec<Option<String>> = components
            .iter()
            .map(|component| self.decided(&component_use(self.text, scope, component), name))
            .collect();
        let is_split = decided.windows(2).any(|pair| pair[0] != pair[1]);
        if is_split && first.constraint.is_some() {
            let message =
                "the components of this declaration become components of several classes; declare each by itself";
            return self.messages.push((range(name.span).start, message.to_owned()));
        }
        // The name of the type as components have it that no rule decides; those that are decided write over it.
        self.type_name(scope, name);
        let plain = self.edits.applied(self.text, range(name.span));
        components.iter().for_each(|component| self.component(scope, component));
        if !is_split {
            return;
        }
        match &decided[0] {
            Some(new) => self.replace_names(&name.parts, new),
            None => self.edits.replace(range(name.span), plain.clone()),
        }
        let between = self.edits.applied(self.text, range(name.span).end..range(first.name.span).start);
        let mut end = range(first.span).end;
        for (component, decided) in others.iter().zip(&decided[1..]) {
            let class = match decided {
                Some(new) => format!("{}{new}", if name.global { "." } else { "" }),
                None => plain.clone(),
            };
            let gap = end..range(component.name.span).start;
            let comma = gap.start + comma_in(&self.text[gap.clone()]);
            let blank = &self.text[(comma + 1).min(gap.end)..gap.end];
            let blank = if blank.is_empty() { " " } else { blank };
            let head = format!("{}{}{class}{between}", component.prefixes, component.type_prefixes);
            self.edits.replace(comma..gap.end, format!(";{blank}{head}"));
            end = range(component.span).end;
        }
    }

    fn component(&mut self, scope: &str, component: &ast::Component) {
        self.subscripts(scope, &component.subscripts);
        let modification = component.modification.as_deref();
        if let Some(ast::ModificationValue::Expr(value)) = modification.and_then(|given| given.value.as_ref()) {
            self.expr(scope, value);
        }
        if let Some(condition) = &component.condition {
            self.expr(scope, condition);
        }
        let used = component_use(self.text, scope, component);
        self.used(&used, &component.type_name);
        if let Some(constraint) = &component.constraint {
            self.constraint(scope, constraint);
        }
        self.annotation(scope, component.annotation.as_deref());
    }

    fn constraint(&mut self, scope: &str, constraint: &ast::Constraint) {
        let used = Use { modification: constraint.modification.as_deref(), ..Use::of(scope, &constraint.base) };
        self.used(&used, &constraint.base);
    }

    fn import(&mut self, import: &ast::Import) {
        let old = names_of(&import.path.parts);
        if old.first().is_none_or(|first| first != self.world.library) {
            return;
        }
        let ast::ImportKind::Several(names) = &import.kind else {
            let new = self.rules.path(&old);
            self.complain(&old, import.path.span);
            // Where the last part changes, it changes wherever it is used; see `written`.
            self.replace_names(&import.path.parts, &new.join("."));
            return;
        };
        let new: Vec<Vec<String>> = names
            .iter()
            .map(|name| self.rules.path(&[old.clone(), vec![name.name.as_str().to_owned()]].concat()))
            .collect();
        let packages: Vec<&[String]> = new.iter().map(|path| &path[..path.len().saturating_sub(1)]).collect();
        if packages.windows(2).all(|pair| pair[0] == pair[1]) {
            if let Some(package) = packages.first() {
                self.replace_names(&import.path.parts, &package.join("."));
            }
            for (name, path) in names.iter().zip(&new) {
                self.replace(range(name.span), path.last().cloned().unwrap_or_default());
            }
        } else {
            let clauses: Vec<String> = new.iter().map(|path| format!("import {}", path.join("."))).collect();
            let end = range(import.span).end;
            let end = if self.text[..end].ends_with(';') { end - 1 } else { end };
            self.replace(range(import.span).start..end, clauses.join("; "));
        }
    }

    /// Modifiers of an element of a class.
    pub fn arguments(&mut self, scope: &str, class: Option<&Class>, modification: &ast::ClassModification) {
        for argument in &modification.arguments {
            match argument {
                ast::Argument::Element(element) => syntax::deep(|| self.argument(scope, class, element)),
                ast::Argument::RedeclareClass { class: inner, .. } => self.redeclared_class(scope, class, inner),
                ast::Argument::RedeclareComponent { component, .. } => {
                    self.element_name(class, std::slice::from_ref(&component.name));
                    self.component(scope, component);
                }
                ast::Argument::BreakElement(name) => drop(self.element_name(class, std::slice::from_ref(name))),
                ast::Argument::BreakConnect(a, b, _) => {
                    self.reference(scope, a);
                    self.reference(scope, b);
                }
            }
        }
    }

    fn redeclared_class(&mut self, scope: &str, class: Option<&Class>, inner: &Arc<ast::ClassDef>) {
        self.element_name(class, std::slice::from_ref(&inner.name));
        if let ast::ClassBody::Short { base, subscripts, modification, .. } = &inner.body {
            self.subscripts(scope, subscripts);
            let behind = end_of_subscripts(self.text, base.span.end as usize);
            let modification = modification.as_deref();
            let is_array = !subscripts.is_empty();
            self.used(&Use { modification, behind, is_array, ..Use::of(scope, base) }, base);
        }
        if let Some(constraint) = &inner.constraint {
            self.constraint(scope, constraint);
        }
    }

    fn argument(&mut self, scope: &str, class: Option<&Class>, element: &ast::ElementModification) {
        let inner = self.element_name(class, &element.path);
        let Some(modification) = &element.modification else { return };
        self.with_points(class, element);
        if let Some(arguments) = &modification.arguments {
            self.nested_names(class, element, arguments);
            self.arguments(scope, inner.as_ref(), arguments);
            if let Some(inner) = &inner {
                self.used_elsewhere(scope, inner, element, arguments);
            }
        }
        if let Some(ast::ModificationValue::Expr(value)) = &modification.value {
            self.expr(scope, value);
        }
    }

    /// Names with several parts that are written one in the other: `a(b = 1)` is `a.b`.
    fn nested_names(
        &mut self,
        class: Option<&Class>,
        outer: &ast::ElementModification,
        inner: &ast::ClassModification,
    ) {
        let begin = names_of(&outer.path);
        for base in class.map(|class| self.world.library_bases(class)).unwrap_or_default() {
            let base = base.join(".");
            for argument in &inner.arguments {
                let ast::Argument::Element(element) = argument else { continue };
                let path = [begin.clone(), names_of(&element.path)].concat();
                let found = self.rules.element(&base, &path).filter(|(taken, _)| *taken > begin.len());
                if let Some((taken, new)) = found {
                    match parts(&new).strip_prefix(begin.as_slice()).filter(|rest| !rest.is_empty()) {
                        Some(rest) => self.replace_names(&element.path[..taken - begin.len()], &rest.join(".")),
                        None => self.write_flat(element, &path),
                    }
                }
                let rules = self.rules.modifiers.get(&base).into_iter().flatten();
                if rules.flat_map(|rule| &rule.old).any(|(old, _)| *old == path.join(".")) {
                    self.write_flat(element, &path);
                }
            }
        }
    }

    /// A modifier of an element of the library that is written with points, `a.b = 1` for `a(b = 1)`: rules for modifiers
    /// look at all modifiers of one element.
    fn with_points(&mut self, class: Option<&Class>, element: &ast::ElementModification) {
        for length in 1..element.path.len() {
            let Some(inner) = self.element_name(class, &element.path[..length]) else { return };
            let name = names_of(&element.path[length..]).join(".");
            let is_changed = self.world.library_bases(&inner).iter().any(|base| {
                let rules = self.rules.modifiers.get(&base.join(".")).into_iter().flatten();
                rules.flat_map(|rule| &rule.old).any(|(old, _)| *old == name)
            });
            if is_changed {
                let message =
                    format!("`{name}` is not converted where it is written with points; write it in parentheses");
                self.messages.push((range(element.span).start, message));
            }
        }
    }

    /// A nested name that has no nested form afterwards.
    fn write_flat(&mut self, element: &ast::ElementModification, path: &[String]) {
        let message =
            format!("`{}` is not converted where it is written in parentheses; write it with points", path.join("."));
        self.messages.push((range(element.span).start, message));
    }

    /// Renames an element of a class that a path names; the class of what the path leads to, as far as it is known.
    pub fn element_name(&mut self, class: Option<&Class>, path: &[Ident]) -> Option<Class> {
        let mut class = class?.clone();
        for (position, name) in path.iter().enumerate() {
            let member = match &class {
                Class::User(user) => self.world.member(user, name.name.as_str()),
                Class::Library(_) => None,
            };
            match member {
                Some(Found::Component { class: declared, component }) => {
                    self.redeclared(&declared, component.prefixes, *name, true);
                    class = self.world.class(&declared, &component.type_name)?;
                }
                Some(Found::Class(inner)) => class = inner,
                _ => {
                    let rest = names_of(&path[position..]);
                    for base in self.world.library_bases(&class) {
                        self.renamed_element(&base.join("."), &rest, &path[position..]);
                    }
                    return None;
                }
            }
        }
        Some(class)
    }

    /// The name of a class in the text.
    pub fn type_name(&mut self, scope: &str, name: &ast::TypeName) {
        self.path(scope, name.global, &name.parts, name.span);
    }

    /// A name that may lead into the library, written anew; whether it does.
    pub fn path(&mut self, scope: &str, global: bool, names: &[Ident], span: Span) -> bool {
        let texts: Vec<&str> = names.iter().map(|name| name.name.as_str()).collect();
        let Some(Found::Library(old, begin)) = self.world.find(scope, global, &texts) else { return false };
        self.complain(&old, span);
        let new = self.rules.path(&old);
        if let Some(other) = new.first().filter(|first| *first != self.world.library && !self.is_user(first)) {
            let message = format!("the library `{other}` is used from here on; add it to the annotation `uses`");
            if self.messages.iter().all(|(_, known)| *known != message) {
                self.messages.push((range(span).start, message));
            }
        }
        let text = self.written(&texts, &begin, &new);
        if text != texts.join(".") {
            self.replace_names(names, &text);
        }
        true
    }

    fn is_user(&self, name: &str) -> bool {
        self.world.classes.contains_key(name)
    }

    /// A new path in the style of the old text.
    fn written(&self, texts: &[&str], begin: &Begin, new: &[String]) -> String {
        let whole = new.join(".");
        match begin {
            Begin::Whole => whole,
            Begin::Import { path, renamed } => {
                let import = self.rules.path(path);
                let own = if *renamed { texts.first().map(|own| (*own).to_owned()) } else { import.last().cloned() };
                match (new.strip_prefix(import.as_slice()), own) {
                    (Some(rest), Some(own)) => [&[own], rest].concat().join("."),
                    _ => whole,
                }
            }
            Begin::All { package } => match new.strip_prefix(self.rules.path(package).as_slice()) {
                Some(rest) if !rest.is_empty() => rest.join("."),
                _ => whole,
            },
            Begin::Alias { taken, path } => match new.strip_prefix(self.rules.path(path).as_slice()) {
                Some(rest) => {
                    let kept = texts.iter().take(*taken).map(|text| (*text).to_owned());
                    kept.chain(rest.iter().cloned()).collect::<Vec<_>>().join(".")
                }
                None => whole,
            },
        }
    }

    /// Says why a class of a path cannot be converted.
    fn complain(&mut self, path: &[String], span: Span) {
        for length in 1..=path.len() {
            let (class, rest) = (path[..length].join("."), &path[length..]);
            let message = self
                .rules
                .message(&class, None)
                .or_else(|| self.rules.message(&class, rest.first().map(String::as_str)));
            if let Some(message) = message {
                self.messages.push((range(span).start, message.to_owned()));
            }
        }
    }

    fn equation(&mut self, scope: &str, equation: &ast::Equation) {
        syntax::deep(|| match &equation.kind {
            ast::EquationKind::Equal(a, b) => {
                self.expr(scope, a);
                self.expr(scope, b);
            }
            ast::EquationKind::Connect(a, b) => {
                self.reference(scope, a);
                self.reference(scope, b);
            }
            ast::EquationKind::If { branches, otherwise } => {
                for (condition, inner) in branches {
                    self.expr(scope, condition);
                    inner.iter().for_each(|equation| self.equation(scope, equation));
                }
                otherwise.iter().for_each(|equation| self.equation(scope, equation));
            }
            ast::EquationKind::For { iterators, body } => {
                self.with_iterators(scope, iterators, |rewrite| {
                    body.iter().for_each(|equation| rewrite.equation(scope, equation));
                });
            }
            ast::EquationKind::When { branches } => {
                for (condition, inner) in branches {
                    self.expr(scope, condition);
                    inner.iter().for_each(|equation| self.equation(scope, equation));
                }
            }
            ast::EquationKind::Call(call) => self.expr(scope, call),
        });
        self.annotation(scope, equation.annotation.as_deref());
    }

    fn statement(&mut self, scope: &str, statement: &ast::Statement) {
        let blocks =
            |rewrite: &mut Self, branches: &[(ast::Expr, Vec<ast::Statement>)], otherwise: &[ast::Statement]| {
                for (condition, inner) in branches {
                    rewrite.expr(scope, condition);
                    inner.iter().for_each(|statement| rewrite.statement(scope, statement));
                }
                otherwise.iter().for_each(|statement| rewrite.statement(scope, statement));
            };
        syntax::deep(|| match &statement.kind {
            ast::StatementKind::Assign(target, value) => {
                self.reference(scope, target);
                self.expr(scope, value);
            }
            ast::StatementKind::AssignSeveral(targets, value) => {
                targets.iter().flatten().for_each(|target| self.reference(scope, target));
                self.expr(scope, value);
            }
            ast::StatementKind::If { branches, otherwise } => blocks(self, branches, otherwise),
            ast::StatementKind::When { branches } => blocks(self, branches, &[]),
            ast::StatementKind::For { iterators, body } => {
                self.with_iterators(scope, iterators, |rewrite| blocks(rewrite, &[], body));
            }
            ast::StatementKind::While { condition, body } => {
                self.expr(scope, condition);
                blocks(self, &[], body);
            }
            ast::StatementKind::Call(call) => self.expr(scope, call),
            ast::StatementKind::Break | ast::StatementKind::Return => {}
        });
    }

    pub fn subscripts(&mut self, scope: &str, subscripts: &[ast::Subscript]) {
        for subscript in subscripts {
            if let ast::Subscript::Expr(value) = subscript {
                self.expr(scope, value);
            }
        }
    }

    pub fn expr(&mut self, scope: &str, expr: &ast::Expr) {
        syntax::deep(|| match &expr.kind {
            ast::ExprKind::Ref(name) => self.reference(scope, name),
            ast::ExprKind::Call { function, arguments } => self.call(scope, function, arguments),
            ast::ExprKind::Unary(_, a) => self.expr(scope, a),
            ast::ExprKind::Binary(_, a, b) => {
                self.expr(scope, a);
                self.expr(scope, b);
            }
            ast::ExprKind::If { branches, otherwise } => {
                for (condition, value) in branches {
                    self.expr(scope, condition);
                    self.expr(scope, value);
                }
                self.expr(scope, otherwise);
            }
            ast::ExprKind::Range { start, step, stop } => {
                self.expr(scope, start);
                step.iter().for_each(|step| self.expr(scope, step));
                self.expr(scope, stop);
            }
            ast::ExprKind::Array(items) => items.iter().for_each(|item| self.expr(scope, item)),
            ast::ExprKind::ArrayFor { element, iterators } => {
                // `{e for i in a, j in b}` is `{{e for i in a} for j in b}`.
                self.with_iterators(scope, iterators.iter().rev(), |rewrite| rewrite.expr(scope, element));
            }
            ast::ExprKind::Matrix(rows) => rows.iter().flatten().for_each(|item| self.expr(scope, item)),
            ast::ExprKind::Tuple(items) => items.iter().flatten().for_each(|item| self.expr(scope, item)),
            ast::ExprKind::Subscripted(inner, subscripts) => {
                self.expr(scope, inner);
                self.subscripts(scope, subscripts);
            }
            ast::ExprKind::Field(inner, name) => {
                self.expr(scope, inner);
                let class = self.class_of(scope, inner);
                self.element_name(class.as_ref(), std::slice::from_ref(name));
            }
            ast::ExprKind::String(_) => self.addresses(range(expr.span)),
            ast::ExprKind::Real(_)
            | ast::ExprKind::Integer(_)
            | ast::ExprKind::Boolean(_)
            | ast::ExprKind::End
            | ast::ExprKind::Error => {}
        });
    }

    fn call(&mut self, scope: &str, function: &ast::ComponentRef, arguments: &ast::Arguments) {
        let names: Vec<&str> = function.parts.iter().map(|part| part.ident.name.as_str()).collect();
        let class = match self.world.find(scope, function.global, &names) {
            _ if self.local(function).is_some() => None,
            Some(Found::Library(path, _)) => Some(Class::Library(path)),
            Some(Found::Class(class)) => Some(class),
            _ => None,
        };
        self.reference(scope, function);
        self.with_iterators(scope, arguments.iterators.iter().rev(), |rewrite| {
            rewrite.function_arguments(scope, class.as_ref(), &arguments.named);
            for argument in &arguments.positional {
                rewrite.function_argument(scope, argument);
            }
        });
    }

    fn function_arguments(&mut self, scope: &str, class: Option<&Class>, named: &[(Ident, ast::FunctionArgument)]) {
        for (name, argument) in named {
            self.element_name(class, std::slice::from_ref(name));
            self.function_argument(scope, argument);
        }
    }

    fn function_argument(&mut self, scope: &str, argument: &ast::FunctionArgument) {
        match argument {
            ast::FunctionArgument::Expr(value) => self.expr(scope, value),
            ast::FunctionArgument::PartialApplication { function, named, .. } => {
                let class = self.world.class(scope, function);
                self.type_name(scope, function);
                self.function_arguments(scope, class.as_ref(), named);
            }
        }
    }

    /// Names and addresses in an annotation. What an annotation is about has names of its own.
    fn annotation(&mut self, scope: &str, annotation: Option<&ast::ClassModification>) {
        if let Some(annotation) = annotation {
            self.arguments(scope, None, annotation);
        }
    }

    /// Addresses of the library in a text: `modelica://Library.Class`.
    fn addresses(&mut self, place: Range<usize>) {
        const SCHEME: &str = "modelica://";
        let mut from = place.start;
        while let Some(at) = self.text[from..place.end].find(SCHEME) {
            let begin = from + at + SCHEME.len();
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let rest = &self.text[begin..place.end];
            let end = begin + rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
            let name = self.text[begin..end].trim_end_matches('.');
            let old = parts(name);
            if old.first().is_some_and(|first| first == self.world.library) {
                let new = self.rules.path(&old).join(".");
                self.replace(begin..begin + name.len(), new);
            }
            from = end;
        }
    }

    pub fn replace_names(&mut self, names: &[Ident], new: &str) {
        if let (Some(first), Some(last)) = (names.first(), names.last()) {
            self.replace(range(first.span).start..range(last.span).end, new.to_owned());
        }
    }

    fn replace(&mut self, place: Range<usize>, new: String) {
        if self.text.get(place.clone()).is_some_and(|old| old != new) {
            self.edits.replace(place, new);
        }
    }
}

pub fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

pub fn names_of(path: &[Ident]) -> Vec<String> {
    path.iter().map(|part| part.name.as_str().to_owned()).collect()
}

/// The use of a class by a component.
fn component_use<'a>(text: &str, scope: &'a str, component: &'a ast::Component) -> Use<'a> {
    Use {
        modification: component.modification.as_ref().and_then(|given| given.arguments.as_deref()),
        behind: end_of_subscripts(text, component.name.span.end as usize),
        component: Some(component.name.name.as_str()),
        is_array: !component.subscripts.is_empty(),
        ..Use::of(scope, &component.type_name)
    }
}

/// Where the comma is between two components; there may be comments around it.
fn comma_in(gap: &str) -> usize {
    let mut at = 0;
    while let Some(rest) = gap.get(at..).filter(|rest| !rest.is_empty() && !rest.starts_with(',')) {
        let comment = match rest.get(..2) {
            Some("//") => rest.find('\n').unwrap_or(rest.len()),
            Some("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => 0,
        };
        at += comment.max(rest.chars().next().map_or(1, char::len_utf8));
    }
    at
}

/// The end of the subscripts that begin at a place, if some do.
fn end_of_subscripts(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let blank = rest.len() - rest.trim_start().len();
    if !rest[blank..].starts_with('[') {
        return at;
    }
    let mut depth = 0;
    for (offset, character) in rest.char_indices().skip_while(|(offset, _)| *offset < blank) {
        match character {
            '[' => depth += 1,
            ']' if depth == 1 => return at + offset + 1,
            ']' => depth -= 1,
            _ => {}
        }
    }
    at
}
