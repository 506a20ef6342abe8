//! What names in the texts of the user mean, without the old version of the library: classes and components of the user, and paths into
//! the library. Inheritance counts among classes of the user only, as the specification has it (18.8.2.1).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use syntax::ast;

/// A class of the user.
pub struct UserClass {
    pub definition: Arc<ast::ClassDef>,
    /// The full name of the class around it.
    pub parent: Option<String>,
}

/// All classes of the user by their full names.
pub struct World<'a> {
    pub classes: BTreeMap<String, UserClass>,
    /// The name of the library that is converted to.
    pub library: &'a str,
    /// Whether a class may be in a package of the library, for `import Package.*`.
    pub has: &'a dyn Fn(&str) -> bool,
    /// The classes that classes of the user inherit from, as far as they are known.
    pub known_bases: RefCell<BTreeMap<String, Vec<Class>>>,
}

/// A class: one of the user, or a path in the library as the old version has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Class {
    User(String),
    Library(Vec<String>),
}

/// How a path into the library is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Begin {
    /// From the top.
    Whole,
    /// The first part is that of an import; under a name of its own if `renamed`.
    Import { path: Vec<String>, renamed: bool },
    /// The first part is in a package that is imported as a whole.
    All { package: Vec<String> },
    /// The first parts are a class of the user that stands for a class of the library.
    Alias { taken: usize, path: Vec<String> },
}

/// A name that is found.
pub enum Found {
    Class(Class),
    /// A path into the library and how it is written.
    Library(Vec<String>, Begin),
    /// A component of a class of the user.
    Component {
        class: String,
        component: Arc<ast::Component>,
    },
}

impl World<'_> {
    /// Adds the classes of a text.
    pub fn add(&mut self, stored: &ast::StoredDefinition) {
        let within: Vec<&str> =
            stored.within.iter().flat_map(|within| &within.parts).map(|part| part.name.as_str()).collect();
        let within = if within.is_empty() { None } else { Some(within.join(".")) };
        let mut open: Vec<(Option<String>, Arc<ast::ClassDef>)> =
            stored.classes.iter().map(|class| (within.clone(), class.clone())).collect();
        while let Some((parent, definition)) = open.pop() {
            let name = full_name(parent.as_deref(), &definition);
            if let ast::ClassBody::Long(composition) = &definition.body {
                open.extend(composition.elements.iter().filter_map(|element| match element {
                    ast::Element::Class(inner) => Some((Some(name.clone()), inner.clone())),
                    _ => None,
                }));
            }
            self.classes.insert(name, UserClass { definition, parent });
        }
    }

    fn elements(&self, class: &str) -> &[ast::Element] {
        match self.classes.get(class).map(|class| &class.definition.body) {
            Some(ast::ClassBody::Long(composition)) => &composition.elements,
            _ => &[],
        }
    }

    /// The classes that a class of the user inherits from.
    pub fn bases(&self, class: &str) -> Vec<Class> {
        if let Some(known) = self.known_bases.borrow().get(class) {
            return known.clone();
        }
        // Classes that inherit from each other in a circle have no bases on the way around.
        self.known_bases.borrow_mut().insert(class.to_owned(), Vec::new());
        let bases = self.find_bases(class);
        self.known_bases.borrow_mut().insert(class.to_owned(), bases.clone());
        bases
    }

    fn find_bases(&self, class: &str) -> Vec<Class> {
        let Some(known) = self.classes.get(class) else { return Vec::new() };
        match &known.definition.body {
            ast::ClassBody::Long(composition) => {
                let bases = composition.elements.iter().filter_map(|element| match element {
                    // A base is looked up outside of what is inherited.
                    ast::Element::Extends(extends) => self.class_among(class, &extends.base, Inherited::No),
                    _ => None,
                });
                bases.collect()
            }
            ast::ClassBody::Short { base, .. } => {
                let scope = known.parent.as_deref().unwrap_or("");
                self.class_among(scope, base, Inherited::Yes).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The classes of the library that a class inherits from, also by way of other classes of the user.
    pub fn library_bases(&self, class: &Class) -> Vec<Vec<String>> {
        let (mut found, mut open, mut turns) = (Vec::new(), vec![class.clone()], 0);
        while let Some(next) = open.pop() {
            turns += 1;
            match next {
                Class::Library(path) if !found.contains(&path) => found.push(path),
                Class::User(name) if turns < 1000 => open.extend(self.bases(&name)),
                _ => {}
            }
        }
        found
    }

    /// An element of a class of the user, also an inherited one.
    pub fn member(&self, class: &str, name: &str) -> Option<Found> {
        let (mut open, mut seen) = (vec![class.to_owned()], Vec::new());
        while let Some(class) = open.pop() {
            if let Some(found) = self.own_member(&class, name) {
                return Some(found);
            }
            let bases = self.bases(&class).into_iter().filter_map(|base| match base {
                Class::User(base) => Some(base),
                Class::Library(_) => None,
            });
            open.extend(bases.filter(|base| !seen.contains(base)));
            seen.push(class);
        }
        None
    }

    fn own_member(&self, class: &str, name: &str) -> Option<Found> {
        let inner = format!("{class}.{name}");
        if self.classes.contains_key(&inner) {
            return Some(Found::Class(Class::User(inner)));
        }
        self.elements(class).iter().find_map(|element| match element {
            ast::Element::Component(component) if component.name.name == name => {
                Some(Found::Component { class: class.to_owned(), component: component.clone() })
            }
            _ => None,
        })
    }

    /// Whether an import of a class of the user has a name.
    pub fn imports(&self, class: &str, name: &str) -> bool {
        self.imported(class, name).is_some()
    }

    fn imported(&self, class: &str, name: &str) -> Option<Found> {
        for element in self.elements(class) {
            let ast::Element::Import(import) = element else { continue };
            let mut path: Vec<String> = import.path.parts.iter().map(|part| part.name.as_str().to_owned()).collect();
            let begin = match &import.kind {
                ast::ImportKind::Qualified if path.last().is_some_and(|last| last == name) => {
                    Begin::Import { path: path.clone(), renamed: false }
                }
                ast::ImportKind::Renamed(own) if own.name == name => {
                    Begin::Import { path: path.clone(), renamed: true }
                }
                ast::ImportKind::Several(names) if names.iter().any(|one| one.name == name) => {
                    path.push(name.to_owned());
                    Begin::Import { path: path.clone(), renamed: false }
                }
                ast::ImportKind::All => {
                    let package = path.clone();
                    path.push(name.to_owned());
                    if !self.classes.contains_key(&path.join(".")) && !(self.has)(&path.join(".")) {
                        continue;
                    }
                    Begin::All { package }
                }
                _ => continue,
            };
            let whole = path.join(".");
            if self.classes.contains_key(&whole) {
                return Some(Found::Class(Class::User(whole)));
            }
            return (path.first().is_some_and(|first| first == self.library)).then_some(Found::Library(path, begin));
        }
        None
    }

    /// What the first part of a name means in a class.
    fn first(&self, scope: &str, name: &str, mut inherited: Inherited) -> Option<Found> {
        let mut scope = Some(scope.to_owned()).filter(|scope| !scope.is_empty());
        while let Some(class) = scope {
            let member = match inherited {
                Inherited::Yes => self.member(&class, name),
                Inherited::No => self.own_member(&class, name),
            };
            inherited = Inherited::Yes;
            let found = member.or_else(|| self.imported(&class, name));
            if found.is_some() {
                return found;
            }
            let known = self.classes.get(&class)?;
            if known.definition.encapsulated {
                break;
            }
            scope = known.parent.clone();
        }
        if self.classes.contains_key(name) {
            return Some(Found::Class(Class::User(name.to_owned())));
        }
        (name == self.library).then(|| Found::Library(vec![name.to_owned()], Begin::Whole))
    }

    /// What a name means in a class: as far as it is one of the user, then the path into the library.
    pub fn find(&self, scope: &str, global: bool, names: &[&str]) -> Option<Found> {
        self.find_among(scope, global, names, Inherited::Yes)
    }

    fn find_among(&self, scope: &str, global: bool, names: &[&str], inherited: Inherited) -> Option<Found> {
        let (first, rest) = names.split_first()?;
        let mut found = self.first(if global { "" } else { scope }, first, inherited)?;
        for (position, name) in rest.iter().enumerate() {
            found = match found {
                Found::Class(Class::User(class)) => match self.member(&class, name) {
                    Some(member) => member,
                    None => {
                        let base = self.library_bases(&Class::User(class)).into_iter().next()?;
                        let path = [base.clone(), vec![(*name).to_owned()]].concat();
                        Found::Library(path, Begin::Alias { taken: position + 1, path: base })
                    }
                },
                Found::Library(path, begin) => Found::Library([path, vec![(*name).to_owned()]].concat(), begin),
                Found::Class(Class::Library(_)) | Found::Component { .. } => return Some(found),
            };
        }
        Some(found)
    }

    /// The class that a type is.
    pub fn class(&self, scope: &str, name: &ast::TypeName) -> Option<Class> {
        self.class_among(scope, name, Inherited::Yes)
    }

    fn class_among(&self, scope: &str, name: &ast::TypeName, inherited: Inherited) -> Option<Class> {
        let names: Vec<&str> = name.parts.iter().map(|part| part.name.as_str()).collect();
        match self.find_among(scope, name.global, &names, inherited)? {
            Found::Class(class) => Some(class),
            Found::Library(path, _) => Some(Class::Library(path)),
            Found::Component { .. } => None,
        }
    }
}

/// Whether what a class inherits counts for a lookup in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inherited {
    Yes,
    No,
}

/// The full name of a class.
pub fn full_name(parent: Option<&str>, definition: &ast::ClassDef) -> String {
    match parent {
        Some(parent) => format!("{parent}.{}", definition.name.name),
        None => definition.name.name.as_str().to_owned(),
    }
}
