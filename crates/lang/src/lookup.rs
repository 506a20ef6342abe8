//! Lookup of names (specification 5.3): from the innermost class outwards, through inherited elements and imports.

use base::{Diagnostic, Name, Span};
use syntax::ast;

use crate::instance::{Builtin, ClassId, ClassMemberId, CompId, ComponentType, Instances, Member, Outcome};
use crate::library::{DefId, Libraries};

/// What a reference in an expression means.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// A component or an element of one. `steps[k]` is the component of the k-th of the last `steps.len()` parts of the
    /// reference; parts before it name classes. The element numbers of the components above `steps[0]` are those of the
    /// frame in which the reference stands (none for a constant of a package).
    Component {
        steps: Vec<CompId>,
    },
    Class(ClassId),
    /// The number from 1 of a literal of the enumeration that `definition` lists.
    EnumerationLiteral {
        definition: DefId,
        index: u32,
    },
    /// The predefined variable.
    Time,
    /// `Connections.branch`, `Subtask.decouple`, `der` …: not declared anywhere, so perhaps an operator.
    Unknown(Box<Diagnostic>),
}

/// What a name passes on its way from a component to a class.
#[derive(Clone, Copy, Default)]
struct WayToFunction {
    /// How often it goes from components to a class.
    components: usize,
    is_array: bool,
    is_conditional: bool,
    is_operator: bool,
}

/// A name found by lookup through enclosing classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    Member(Member),
    Class(ClassId),
    /// The number from 1 of a literal of the enumeration that `definition` lists, which is imported.
    Literal {
        definition: DefId,
        index: u32,
    },
}

impl Instances {
    /// The element `name` of a class, own or inherited; not through imports or enclosing classes.
    pub fn member(&mut self, class: ClassId, name: Name) -> Option<Member> {
        self.expand(class);
        if let Some(&member) = self.class(class).members.get(&name) {
            return Some(member);
        }
        if class == self.root() && self.libraries.class(Libraries::ROOT, name).is_some() {
            return self.add_unread_class(class, name).map(Member::Class);
        }
        None
    }

    /// A single name, looked for in the class instance and then outwards.
    pub fn find(&mut self, scope: ClassId, name: Name) -> Outcome<Option<Found>> {
        let mut current = Some(scope);
        while let Some(class) = current {
            if let Some(member) = self.member(class, name) {
                return Ok(Some(Found::Member(member)));
            }
            if let Some(diagnostic) = self.deselected_name(class, name) {
                return Err(diagnostic);
            }
            if let Some(found) = self.find_import(class, name)? {
                return Ok(Some(found));
            }
            let encapsulated = self.definition(class).encapsulated;
            current = self.class(class).scope;
            if encapsulated {
                break;
            }
        }
        if let Some(&class) = self.predefined.get(&name) {
            return Ok(Some(Found::Class(class)));
        }
        let is_predefined = matches!(name.as_str(), "StateSelect" | "AssertionLevel");
        let root = self.root();
        Ok(if is_predefined { self.member(root, name).map(Found::Member) } else { None })
    }

    /// A name behind a leading dot: of the top, where the predefined types are, too.
    fn find_at_top(&mut self, name: Name) -> Option<Found> {
        let root = self.root();
        let declared = self.member(root, name).map(Found::Member);
        declared.or_else(|| self.predefined.get(&name).map(|&class| Found::Class(class)))
    }

    /// What a class imports, reached through the name of the class. An import is for the text of its own class (13.2.1), but
    /// there is only one thing that can be meant.
    fn find_import_from_outside(&mut self, class: ClassId, name: ast::Ident, prefix: &str) -> Outcome<Option<Found>> {
        if class == self.root() {
            return Ok(None);
        }
        let Some(found) = self.find_import(class, name.name)? else { return Ok(None) };
        let message = format!("`{}` is not an element of `{prefix}`, which only imports it", name.name);
        let diagnostic = Diagnostic::breach("import-from-outside", message)
            .at(name.span, "used here")
            .hint("use the full name of what is imported")
            .specification("13.2.1");
        self.report(Box::new(diagnostic));
        Ok(Some(found))
    }

    /// Where a class imports a name by itself.
    pub(crate) fn import_of(&self, class: ClassId, name: Name) -> Option<Span> {
        let ast::ClassBody::Long(composition) = &self.definition(class).body else { return None };
        composition.elements.iter().find_map(|element| match element {
            ast::Element::Import(import) => imports_name(import, name).map(|_| import.span),
            _ => None,
        })
    }

    fn find_import(&mut self, class: ClassId, name: Name) -> Outcome<Option<Found>> {
        let known = self.libraries.get(self.class(class).def);
        if known.imports.is_empty() {
            return Ok(None);
        }
        let (definition, positions) = (known.class.clone(), known.imports.clone());
        let ast::ClassBody::Long(composition) = &definition.body else { return Ok(None) };
        let imports = || {
            positions.iter().filter_map(|&position| match composition.elements.get(position as usize) {
                Some(ast::Element::Import(import)) => Some(import),
                _ => None,
            })
        };
        let mut named: Option<(&ast::Import, Option<&ast::Ident>)> = None;
        for import in imports() {
            let Some(last) = imports_name(import, name) else { continue };
            if let Some((first, _)) = named {
                return Err(imported_twice(name, first.span, import.span));
            }
            named = Some((import, last));
        }
        if let Some((import, last)) = named {
            return self.import(&import.path, last).map(Some);
        }
        let mut several: Option<(Member, Span)> = None;
        for import in imports() {
            if !matches!(import.kind, ast::ImportKind::All) {
                continue;
            }
            let package = self.import_path(&import.path, None, false)?;
            let Found::Class(package) = self.as_class(package)? else { continue };
            if package == class {
                continue;
            }
            let Some(member) = self.member(package, name) else { continue };
            if self.kind(package) != ast::ClassKind::Package {
                return Err(import_from_no_package(import.span));
            }
            if self.is_protected(member) {
                continue;
            }
            match several {
                Some((other, first)) if other != member => return Err(imported_twice(name, first, import.span)),
                _ => several = Some((member, import.span)),
            }
        }
        Ok(several.map(|(member, _)| Found::Member(member)))
    }

    /// Reports import clauses of a class that lead nowhere, used or not (13.2.1).
    pub(crate) fn check_imports(&mut self, class: ClassId) {
        let known = self.libraries.get(self.class(class).def);
        let (definition, positions) = (known.class.clone(), known.imports.clone());
        let ast::ClassBody::Long(composition) = &definition.body else { return };
        for &position in &positions {
            let Some(ast::Element::Import(import)) = composition.elements.get(position as usize) else { continue };
            let found = match &import.kind {
                ast::ImportKind::Qualified | ast::ImportKind::Renamed(_) => self.import(&import.path, None).map(|_| ()),
                ast::ImportKind::All => self.import_path(&import.path, None, false).map(|_| ()),
                ast::ImportKind::Several(names) => {
                    names.iter().try_for_each(|name| self.import(&import.path, Some(name)).map(|_| ()))
                }
            };
            if let Err(diagnostic) = found
                && !self.diagnostics.contains(&diagnostic)
            {
                self.report(diagnostic);
            }
        }
    }

    fn is_protected(&self, member: Member) -> bool {
        match member {
            Member::Component(component) => self.component(component).prefixes.protected,
            Member::Class(class) => self.class_member(class).protected,
        }
    }

    /// An imported name, always from the top.
    fn import(&mut self, path: &ast::TypeName, last: Option<&ast::Ident>) -> Outcome<Found> {
        self.import_path(path, last, true)
    }

    /// `from_package`: the last name must be an element of a package.
    fn import_path(&mut self, path: &ast::TypeName, last: Option<&ast::Ident>, from_package: bool) -> Outcome<Found> {
        let mut current = Found::Class(self.root());
        let mut prefix = String::new();
        for part in path.parts.iter().chain(last) {
            let Found::Class(class) = self.as_class(current)? else {
                return Err(not_a_class(part.span, &prefix));
            };
            let is_last = last.map_or(path.parts.last(), Some).is_some_and(|last| last.span == part.span);
            if is_last && let Some(Builtin::Enumeration(definition)) = self.enumeration(class) {
                return self.import_literal(definition, *part, &prefix);
            }
            let Some(member) = self.member(class, part.name) else {
                return Err(self.unknown_member(class, *part, &prefix));
            };
            if from_package && is_last && class != self.root() && !crate::restrictions::is_like_a_package(self, class) {
                return Err(import_from_no_package(path.span));
            }
            if self.is_protected(member) {
                let diagnostic =
                    Diagnostic::breach("protected", format!("`{}` is a protected element of `{prefix}`", part.name))
                        .at(part.span, "cannot be imported")
                        .specification("13.2.1");
                self.report(Box::new(diagnostic));
            }
            if !prefix.is_empty() {
                prefix.push('.');
            }
            prefix.push_str(part.name.as_str());
            current = Found::Member(member);
        }
        Ok(current)
    }

    /// A literal of an enumeration, which is no package, but there is only one thing that can be meant.
    fn import_literal(&mut self, definition: DefId, literal: ast::Ident, prefix: &str) -> Outcome<Found> {
        let index = self.literal_number(definition, literal, prefix)?;
        let message = format!("`{prefix}` is an enumeration, and names can be imported from packages only");
        let diagnostic = Diagnostic::breach("import-no-package", message)
            .at(literal.span, "this literal is imported")
            .hint("import the enumeration, and write its name before the literal")
            .specification("13.2.1");
        self.report(Box::new(diagnostic));
        Ok(Found::Literal { definition, index })
    }

    /// A declared class as a class instance; components stay what they are.
    fn as_class(&mut self, found: Found) -> Outcome<Found> {
        match found {
            Found::Member(Member::Class(member)) => self.class_of(member).map(Found::Class),
            _ => Ok(found),
        }
    }

    /// The class of a type name, as in declarations and extends clauses.
    pub fn lookup_type(&mut self, scope: ClassId, name: &ast::TypeName) -> Outcome<ClassId> {
        let Some((first, rest)) = name.parts.split_first() else {
            return Err(Box::new(Diagnostic::error("missing-name", "a class name is missing").at(name.span, "here")));
        };
        let mut found = if name.global { self.find_at_top(first.name) } else { self.find(scope, first.name)? };
        let mut prefix = first.name.as_str().to_owned();
        for part in rest {
            let Some(step) = found else { return Err(self.unknown_name(scope, *first, "class")) };
            let class = match self.as_class(step)? {
                Found::Class(class) => class,
                Found::Member(_) | Found::Literal { .. } => return Err(not_a_class(part.span, &prefix)),
            };
            found = match self.member(class, part.name) {
                Some(member) => {
                    self.check_access(class, member, *part, &prefix, true)?;
                    Some(Found::Member(member))
                }
                None => match self.find_import_from_outside(class, *part, &prefix)? {
                    Some(imported) => Some(imported),
                    None => return Err(self.unknown_member(class, *part, &prefix)),
                },
            };
            prefix.push('.');
            prefix.push_str(part.name.as_str());
        }
        let Some(found) = found else { return Err(self.unknown_name(scope, *first, "class")) };
        match self.as_class(found)? {
            Found::Class(class) => Ok(class),
            Found::Member(member) => Err(self.component_as_class(member, name, &prefix)),
            Found::Literal { .. } => Err(not_a_class(name.span, &prefix)),
        }
    }

    /// A component hides the class of its name: `x x` and, elsewhere in the class, `Real x` (5.3.2).
    fn component_as_class(&self, member: Member, name: &ast::TypeName, text: &str) -> Box<Diagnostic> {
        let mut diagnostic = Diagnostic::error("not-a-class", format!("`{text}` is a component, not a class"))
            .at(name.span, "a class is needed here")
            .specification("5.3.2");
        if let Member::Component(component) = member {
            diagnostic = diagnostic
                .at(self.span(component), "this component hides a class of the same name")
                .hint("rename the component: a component and its class cannot have one name");
        }
        Box::new(diagnostic)
    }

    /// A base class; its name must not depend on what is inherited, which is not seen while the class is expanded.
    pub(crate) fn lookup_base(&mut self, scope: ClassId, name: &ast::TypeName) -> Outcome<ClassId> {
        self.lookup_type(scope, name)
    }

    /// What a reference in an expression that stands in the text of `scope` means. Iterators of loops are the caller's.
    pub fn lookup_reference(&mut self, scope: ClassId, reference: &ast::ComponentRef) -> Outcome<Resolved> {
        let Some((first, rest)) = reference.parts.split_first() else {
            return Err(Box::new(Diagnostic::error("missing-name", "a name is missing").at(reference.span, "here")));
        };
        let found = if reference.global {
            self.find_at_top(first.ident.name)
        } else {
            self.find(scope, first.ident.name).map_err(|mut diagnostic| {
                if diagnostic.code == "deselected-used" {
                    *diagnostic = diagnostic.at(first.ident.span, "used here");
                }
                diagnostic
            })?
        };
        let Some(mut found) = found else {
            if rest.is_empty() && first.ident.name == "time" {
                let kind = self.kind(scope);
                if matches!(kind, ast::ClassKind::Record | ast::ClassKind::Connector | ast::ClassKind::Package) {
                    return Err(Box::new(
                        Diagnostic::error("misplaced-time", format!("`time` cannot be used in a {kind}"))
                            .at(first.ident.span, "used here")
                            .hint("only models and blocks see it")
                            .specification("3.6.7"),
                    ));
                }
                return Ok(Resolved::Time);
            }
            return Ok(Resolved::Unknown(self.unknown_name(scope, first.ident, "name")));
        };
        let mut prefix = first.ident.name.as_str().to_owned();
        let mut steps: Vec<CompId> = Vec::new();
        let mut way = WayToFunction::default();
        let mut of_enclosing = None;
        if let Found::Member(Member::Component(component)) = found
            && !reference.global
        {
            of_enclosing = self.check_enclosing(scope, component, first.ident).err();
        }
        for part in rest {
            let mut through_class = false;
            let class = match self.as_class(found)? {
                Found::Class(class) => {
                    through_class = true;
                    self.expand(class);
                    if let Some(Builtin::Enumeration(definition)) = self.enumeration(class) {
                        return self.enumeration_literal(definition, part.ident, &prefix);
                    }
                    class
                }
                Found::Member(Member::Component(component)) => {
                    let outer = component;
                    let component = self.resolve_outer(outer)?;
                    if outer != component {
                        self.check_outer_element(outer, component, part.ident)?;
                    }
                    steps.push(component);
                    match self.component_type(component)? {
                        ComponentType::Class(class) | ComponentType::Object(class) => class,
                        ComponentType::Builtin { .. } => {
                            return Err(Box::new(
                                Diagnostic::error("no-elements", format!("`{prefix}` has no elements"))
                                    .at(part.ident.span, "it is of a predefined type"),
                            ));
                        }
                    }
                }
                Found::Member(Member::Class(_)) | Found::Literal { .. } => {
                    return Err(not_a_class(part.ident.span, &prefix));
                }
            };
            found = match self.member(class, part.ident.name) {
                Some(member) => {
                    self.check_access(class, member, part.ident, &prefix, through_class)?;
                    Found::Member(member)
                }
                None if !through_class => return Err(self.unknown_member(class, part.ident, &prefix)),
                None => match self.find_import_from_outside(class, part.ident, &prefix)? {
                    Some(imported) => imported,
                    None => return Err(self.unknown_member(class, part.ident, &prefix)),
                },
            };
            if matches!(found, Found::Member(Member::Class(_))) && !steps.is_empty() {
                way.is_array |= steps.iter().any(|&component| !self.component(component).dimensions.is_empty());
                way.is_conditional |= steps.iter().any(|&component| self.component(component).condition.is_some());
                way.components += 1;
                steps.clear();
            }
            if let (Found::Member(Member::Class(_)), true) = (found, way.components > 0)
                && self.kind(class) == ast::ClassKind::Operator
            {
                way.is_operator = true;
            }
            prefix.push('.');
            prefix.push_str(part.ident.name.as_str());
        }
        Ok(match self.as_class(found)? {
            Found::Class(class) => {
                if let Some(diagnostic) = of_enclosing {
                    return Err(diagnostic);
                }
                if way.components > 0 {
                    self.check_function_of_component(class, way, reference.span)?;
                }
                Resolved::Class(class)
            }
            Found::Member(Member::Component(component)) => {
                steps.push(self.resolve_outer(component)?);
                if let Some(diagnostic) = of_enclosing {
                    self.constant_of_enclosing(&steps, *diagnostic)?;
                }
                if way.components > 0 && !self.ignore_protection {
                    self.report(Box::new(element_of_class_of_component(reference.span, &prefix)));
                }
                Resolved::Component { steps }
            }
            Found::Literal { definition, index } => Resolved::EnumerationLiteral { definition, index },
            Found::Member(Member::Class(_)) => return Err(not_a_class(reference.span, &prefix)),
        })
    }

    /// An outer element shows what its own class has; further elements of the inner one are not seen through it (5.4).
    fn check_outer_element(&mut self, outer: CompId, inner: CompId, name: ast::Ident) -> Outcome<()> {
        let node = self.component(outer);
        let (scope, type_name) = (node.type_scope, node.declaration.type_name.clone());
        let ComponentType::Class(inner_class) = self.component_type(inner)? else { return Ok(()) };
        let class = self.lookup_type(scope, &type_name)?;
        let expandable = self.kind(class) == ast::ClassKind::ExpandableConnector;
        if expandable
            || self.ignore_protection
            || self.class(class).def == self.class(inner_class).def
            || self.member(class, name.name).is_some()
            || self.member(inner_class, name.name).is_none()
        {
            return Ok(());
        }
        let (path, class_name) = (self.path(outer), self.class_name(class));
        Err(Box::new(
            Diagnostic::error("unknown-name", format!("the outer `{path}` has no element `{}`", name.name))
                .at(name.span, format!("`{class_name}` has no such element"))
                .at(self.span(outer), "the outer element is declared here")
                .at(
                    self.span(inner),
                    format!("only its inner one, of class `{}`, has it", self.class_name(inner_class)),
                )
                .hint("declare the outer element with the class of the inner one")
                .specification("5.4"),
        ))
    }

    /// Through a component only functions are found, and only through one that is no array and has no condition (5.3.2).
    fn check_function_of_component(&self, class: ClassId, way: WayToFunction, span: Span) -> Outcome<()> {
        let kind = self.kind(class);
        let is_function = kind == ast::ClassKind::Function;
        let why = match () {
            () if self.ignore_protection => return Ok(()),
            () if way.is_conditional => "the component is conditional and may only be connected",
            () if way.is_array => "the component is an array",
            () if way.is_operator || kind == ast::ClassKind::OperatorFunction => "it belongs to an operator",
            () if !is_function => "it is not a function",
            () if way.components > 1 => "there is a component between classes",
            () => return Ok(()),
        };
        let name = self.class_name(class);
        Err(Box::new(
            Diagnostic::error("class-of-component", format!("`{name}` cannot be used through a component: {why}"))
                .at(span, "used here")
                .hint("use the class through the name of the class that declares it")
                .specification("5.3.2"),
        ))
    }

    /// A constant of a component of an enclosing class has its value wherever it is used.
    fn constant_of_enclosing(&mut self, steps: &[CompId], diagnostic: Diagnostic) -> Outcome<()> {
        let is_constant =
            steps.iter().any(|&step| self.component(step).type_prefixes.variability == ast::Variability::Constant);
        if !is_constant {
            return Err(Box::new(diagnostic));
        }
        self.report(Box::new(diagnostic.tolerated()));
        Ok(())
    }

    /// A component of an enclosing class must be a constant (5.3.1).
    fn check_enclosing(&mut self, scope: ClassId, component: CompId, name: ast::Ident) -> Outcome<()> {
        let node = self.component(component);
        let own = node.parent == self.class(scope).instance;
        if own || node.type_prefixes.variability == ast::Variability::Constant || node.prefixes.outer {
            return Ok(());
        }
        // Through an import, or in an instance whose class is declared in the class that has the component.
        let mut current = Some(scope);
        while let Some(class) = current {
            if class == scope && self.class(class).instance == node.parent {
                return Ok(());
            }
            current = self.class(class).derived;
        }
        self.component_type(component)?;
        if self.component(component).type_prefixes.variability == ast::Variability::Constant {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::error("not-a-constant", format!("`{}` of an enclosing class is not a constant", name.name))
                .at(name.span, "used here")
                .at(self.span(component), "declared here")
                .hint("hand it over with a modifier, or declare it `constant`")
                .specification("5.3.1"),
        ))
    }

    /// An element reached with a dot must be public, and in a class that is no package encapsulated.
    fn check_access(
        &mut self,
        class: ClassId,
        member: Member,
        name: ast::Ident,
        prefix: &str,
        through_class: bool,
    ) -> Outcome<()> {
        if self.ignore_protection {
            return Ok(());
        }
        let is_protected = match member {
            Member::Component(component) => self.component(component).prefixes.protected,
            Member::Class(inner) => self.class_member(inner).protected,
        };
        if is_protected {
            let diagnostic =
                Diagnostic::breach("protected", format!("`{}` is a protected element of `{prefix}`", name.name))
                    .at(name.span, "not accessible here")
                    .specification("4.1");
            self.report(Box::new(diagnostic));
        }
        if through_class
            && self.definition(class).partial
            && self.kind(class) == ast::ClassKind::Package
            && matches!(member, Member::Component(_))
        {
            return Err(Box::new(
                Diagnostic::error("partial-class", format!("`{prefix}` is a partial package"))
                    .at(name.span, "its constants cannot be used")
                    .hint("use a package that extends it, or redeclare it")
                    .specification("5.3.2"),
            ));
        }
        if let (true, ast::ClassKind::Package, Member::Component(component)) = (through_class, self.kind(class), member)
            && self.component(component).type_prefixes.variability != ast::Variability::Constant
        {
            let (definition, span) = (self.definition(class).clone(), self.span(component));
            return Err(Box::new(crate::restrictions::variable_in_package(&definition, span)));
        }
        if through_class && class != self.root() && !crate::restrictions::is_like_a_package(self, class) {
            let encapsulated = match member {
                Member::Component(_) => false,
                Member::Class(inner) => {
                    self.class_member(inner).declaration.as_ref().is_some_and(|class| class.encapsulated)
                }
            };
            if !encapsulated {
                self.report_no_package(member, name, prefix)?;
            }
        }
        Ok(())
    }

    /// An element is used through the name of a class that is no package. A class or a constant means the same there as
    /// anywhere; a variable has no meaning without an instance.
    fn report_no_package(&mut self, member: Member, name: ast::Ident, prefix: &str) -> Outcome<()> {
        let is_plain = match member {
            Member::Class(_) => true,
            Member::Component(component) => {
                self.component(component).type_prefixes.variability == ast::Variability::Constant
            }
        };
        let diagnostic = Diagnostic::breach("not-a-package", format!("`{prefix}` is not a package"))
            .at(name.span, "only encapsulated elements can be used through its name")
            .specification("5.3.2");
        if !is_plain {
            return Err(Box::new(diagnostic.refused()));
        }
        self.report(Box::new(diagnostic));
        Ok(())
    }

    /// The enumeration that a class stands for.
    fn enumeration(&mut self, class: ClassId) -> Option<Builtin> {
        match self.simple_type(class)?.builtin? {
            enumeration @ Builtin::Enumeration(_) => Some(enumeration),
            _ => None,
        }
    }

    fn enumeration_literal(&mut self, definition: DefId, literal: ast::Ident, prefix: &str) -> Outcome<Resolved> {
        let index = self.literal_number(definition, literal, prefix)?;
        Ok(Resolved::EnumerationLiteral { definition, index })
    }

    /// The number of a literal, from 1.
    fn literal_number(&mut self, definition: DefId, literal: ast::Ident, prefix: &str) -> Outcome<u32> {
        let names = self.enumeration_literals(definition);
        match names.iter().position(|&name| name == literal.name) {
            Some(index) => Ok(index as u32 + 1),
            None => {
                let mut diagnostic = Diagnostic::error(
                    "unknown-literal",
                    format!("the enumeration `{prefix}` has no literal `{}`", literal.name),
                )
                .at(literal.span, "not found");
                if let Some(near) = nearest(literal.name.as_str(), names.iter().map(|name| name.as_str())) {
                    diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
                }
                Err(Box::new(diagnostic))
            }
        }
    }

    /// The literals of an enumeration in order.
    pub fn enumeration_literals(&self, definition: DefId) -> Vec<Name> {
        match &self.libraries.get(definition).class.body {
            ast::ClassBody::Enumeration(Some(literals)) => literals.iter().map(|literal| literal.name.name).collect(),
            _ => Vec::new(),
        }
    }

    /// The inner component that an outer one stands for; any other component is itself.
    pub fn resolve_outer(&mut self, component: CompId) -> Outcome<CompId> {
        if !self.component(component).prefixes.outer {
            return Ok(component);
        }
        crate::inner_outer::inner_of(self, component)
    }

    fn unknown_name(&mut self, scope: ClassId, name: ast::Ident, what: &str) -> Box<Diagnostic> {
        if let Some(used) = self.libraries.use_of(name.name) {
            let message = format!("the library `{}` is missing", name.name);
            let diagnostic = Diagnostic::error("unknown-library", message)
                .at(name.span, "needed here")
                .at(used, "said to be used here")
                .hint("give the folder that holds it with --library, or in MODELICAPATH");
            return Box::new(diagnostic);
        }
        let mut diagnostic = Diagnostic::error("unknown-name", format!("there is no {what} `{}` in scope", name.name))
            .at(name.span, "not found")
            .specification("5.3");
        if let Some(component) = self.owner_path(scope) {
            diagnostic = diagnostic.in_component(component);
        }
        if let Some(here) = crate::typing::name_here(name.name.as_str()).filter(|_| what == "name") {
            diagnostic = diagnostic.hint(format!("it is called `{here}` in Modelica"));
        } else if let Some(near) = self.nearest_in_scope(scope, name.name) {
            diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
        } else if self.class(scope).scope.is_some() && what == "class" && name.name == "Modelica" {
            diagnostic = diagnostic.hint("load the Modelica Standard Library with --library or MODELICAPATH");
        }
        Box::new(diagnostic)
    }

    fn unknown_member(&mut self, class: ClassId, name: ast::Ident, prefix: &str) -> Box<Diagnostic> {
        if class == self.root() {
            return Box::new(
                Diagnostic::error("unknown-library", format!("there is no library or class `{}`", name.name))
                    .at(name.span, "not found")
                    .hint("give the folder that holds it with --library, or in MODELICAPATH"),
            );
        }
        let mut diagnostic = Diagnostic::error("unknown-name", format!("`{prefix}` has no element `{}`", name.name))
            .at(name.span, "not found")
            .specification("5.3.2");
        if let Some(near) = self.nearest_member(class, name.name) {
            diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
        }
        Box::new(diagnostic)
    }

    /// The element of a class whose name is most like this one.
    pub fn nearest_member(&mut self, class: ClassId, name: Name) -> Option<Name> {
        let names: Vec<Name> = self.members(class).into_iter().map(|(name, _)| name).collect();
        nearest(name.as_str(), names.iter().map(|name| name.as_str())).map(Name::new)
    }

    fn nearest_in_scope(&mut self, scope: ClassId, name: Name) -> Option<Name> {
        let mut names: Vec<Name> = self.predefined.keys().copied().collect();
        let mut current = Some(scope);
        while let Some(class) = current {
            names.extend(self.members(class).into_iter().map(|(name, _)| name));
            current = self.class(class).scope;
        }
        names.sort();
        nearest(name.as_str(), names.iter().map(|name| name.as_str())).map(Name::new)
    }

    /// A class by its full name, from the top.
    pub fn class_by_name(&mut self, name: &str) -> Outcome<ClassId> {
        let mut class = self.root();
        let mut prefix = String::new();
        for part in crate::library::name_parts(name) {
            let member = self.member(class, Name::new(part));
            let Some(Member::Class(member)) = member else {
                let what =
                    if prefix.is_empty() { "there is no class".to_owned() } else { format!("`{prefix}` has no class") };
                let mut diagnostic = Diagnostic::error("unknown-class", format!("{what} `{part}`"));
                if let Some(near) = self.nearest_member(class, Name::new(part)) {
                    diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
                } else if prefix.is_empty() {
                    diagnostic = diagnostic.hint("give the folder that holds it with --library, or in MODELICAPATH");
                }
                return Err(Box::new(diagnostic));
            };
            class = self.class_of(member)?;
            if !prefix.is_empty() {
                prefix.push('.');
            }
            prefix.push_str(part);
        }
        Ok(class)
    }

    /// The class instance of a declared class; components give nothing.
    pub fn member_class(&mut self, member: ClassMemberId) -> Option<ClassId> {
        self.class_of(member).ok()
    }
}

/// Whether an import clause brings the name, and which of the names in braces it is then.
fn imports_name(import: &ast::Import, name: Name) -> Option<Option<&ast::Ident>> {
    match &import.kind {
        ast::ImportKind::Qualified => import.path.parts.last().is_some_and(|last| last.name == name).then_some(None),
        ast::ImportKind::Renamed(alias) => (alias.name == name).then_some(None),
        ast::ImportKind::Several(names) => names.iter().find(|ident| ident.name == name).map(Some),
        ast::ImportKind::All => None,
    }
}

fn imported_twice(name: Name, first: Span, second: Span) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error("imported-twice", format!("`{name}` is imported twice"))
            .at(second, "the second time here")
            .at(first, "the first time here")
            .hint("give one of them another name: `import Other = …`")
            .specification("13.2.1"),
    )
}

/// A class that is reached through a component is that of a call; a constant in it has one value all the same.
fn element_of_class_of_component(span: Span, name: &str) -> Diagnostic {
    let message = format!("`{name}` is an element of a class that is reached through a component");
    Diagnostic::breach("class-of-component", message)
        .at(span, "used here")
        .hint("use the class through the name of the class that declares it")
        .specification("5.3.2")
}

fn import_from_no_package(span: Span) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error("import-no-package", "names can be imported from packages only")
            .at(span, "imported here")
            .specification("13.2.1"),
    )
}

fn not_a_class(span: Span, prefix: &str) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error("not-a-class", format!("`{prefix}` is not a class in which names can be looked up"))
            .at(span, "looked up here")
            .specification("5.3.2"),
    )
}

/// The candidate that differs least from `name`, if it differs little.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|&(distance, candidate)| distance > 0 && distance <= limit && distance < candidate.chars().count())
        .min_by_key(|&(distance, candidate)| (distance, candidate.len()))
        .map(|(_, candidate)| candidate)
}

/// The number of letters to insert, remove, exchange or swap with the next (Damerau, restricted).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 4 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(!a[i - 1].eq_ignore_ascii_case(&b[j - 1])) * 2
                + usize::from(a[i - 1] != b[j - 1] && a[i - 1].eq_ignore_ascii_case(&b[j - 1]));
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change.min(1));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
