//! What the parameters of a class structure must be, by the rules of chapter 7: outer modifiers win over inner ones, leaf by
//! leaf; the modifiers of a declaration win over those of its constraining clause; the value of a record as a whole wins
//! over everything that is said further inside about its elements.

use std::collections::BTreeMap;

use crate::structure::{Component, Item, Structure, Type, Value};

/// A component of the instance tree by the names and element numbers on the way.
type Path = Vec<String>;

/// What is said about an element, with the instance in whose text it was said.
#[derive(Clone, Default)]
struct Modifier {
    value: Option<(Value, Path)>,
    inner: BTreeMap<String, Modifier>,
    redeclared: Option<Box<Redeclared>>,
}

#[derive(Clone)]
struct Redeclared {
    class: usize,
    /// The modifiers of the redeclaration itself.
    text: Modifier,
    /// What was said before it, without redeclarations.
    below: Modifier,
}

impl Modifier {
    fn over(&self, below: &Modifier) -> Modifier {
        let mut result = self.clone();
        if let Some(redeclared) = &mut result.redeclared {
            redeclared.below = redeclared.below.over(&below.plain());
            if let Some(replaced) = &below.redeclared {
                redeclared.below = redeclared.below.over(&replaced.below);
            }
            return result;
        }
        if self.value.is_none() {
            result.value = below.value.clone();
        }
        // What lies under the value of a whole counts no more.
        if self.value.is_none() {
            for (name, below) in &below.inner {
                let merged = result.inner.get(name).map_or_else(|| below.clone(), |own| own.over(below));
                result.inner.insert(name.clone(), merged);
            }
        }
        if result.redeclared.is_none() {
            result.redeclared = below.redeclared.clone();
        }
        result
    }

    /// Without the redeclaration.
    fn plain(&self) -> Modifier {
        Modifier { redeclared: None, ..self.clone() }
    }

    /// What holds for a redeclared element: what came after the redeclaration, its own modifiers, what came before it, and
    /// what the original declaration leaves.
    fn with_redeclared(&self, redeclared: &Redeclared, original: &Modifier) -> Modifier {
        self.plain().over(&redeclared.text.over(&redeclared.below.over(original)))
    }

    fn element(&self, name: &str) -> Modifier {
        self.inner.get(name).cloned().unwrap_or_default()
    }
}

fn read(items: &[Item], scope: &Path) -> Modifier {
    let mut result = Modifier::default();
    for item in items {
        let inner = read(&item.inner, scope);
        let value = item.value.clone().map(|value| (value, scope.clone()));
        let modifier = match item.redeclared {
            Some(class) => {
                let own = Modifier { value, ..inner };
                let redeclared = Redeclared { class, text: own, below: Modifier::default() };
                Modifier { redeclared: Some(Box::new(redeclared)), ..Modifier::default() }
            }
            None => Modifier { value, ..inner },
        };
        result.inner.insert(item.name.clone(), modifier);
    }
    result
}

enum Leaf {
    Value(Value, Path, Option<usize>),
    /// The same element of another record.
    Of(Path),
}

#[derive(Default)]
pub struct Resolver {
    leaves: BTreeMap<Path, Leaf>,
}

/// The values of all parameters of the last class, by their names.
pub fn resolve(structure: &Structure) -> BTreeMap<String, i64> {
    let mut resolver = Resolver::default();
    let top = structure.classes.len() - 1;
    resolver.instance(structure, top, &Modifier::default(), &Vec::new(), None);
    let names: Vec<Path> = resolver.leaves.keys().cloned().collect();
    names.into_iter().map(|path| (path.join("."), resolver.value(&path))).collect()
}

impl Resolver {
    fn value(&self, path: &Path) -> i64 {
        match &self.leaves[path] {
            Leaf::Of(other) => self.value(other),
            Leaf::Value(value, scope, element) => match value {
                Value::Literal(number) => *number,
                Value::Plus(name, number) => self.value(&join(scope, name)) + number,
                Value::List(numbers) => numbers[element.unwrap_or(0)],
                Value::Record(_) => unreachable!("a Real has no record as its value"),
            },
        }
    }

    /// The elements of a class and of what it inherits.
    fn instance(
        &mut self,
        structure: &Structure,
        class: usize,
        modifier: &Modifier,
        path: &Path,
        element: Option<usize>,
    ) {
        let mut modifier = modifier.clone();
        // From the class itself to the innermost base; each extends clause is below what comes from outside.
        for class in structure.lineage(class).into_iter().rev() {
            let text = &structure.classes[class];
            for component in &text.components {
                let said = modifier.element(&component.name);
                self.component(structure, class, component, &modifier, &said, path, element);
            }
            if let Some((_, items)) = &text.base {
                modifier = modifier.over(&read(items, path));
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn component(
        &mut self,
        structure: &Structure,
        class: usize,
        component: &Component,
        around: &Modifier,
        outer: &Modifier,
        path: &Path,
        element: Option<usize>,
    ) {
        if component.condition == Some(false) {
            return;
        }
        let mut own = read(&component.items, path);
        own.value = component.value.clone().map(|value| (value, path.clone()));
        let constraint = component.constraint.as_ref().map(|items| read(items, path));
        let (class, said) = match (&component.ty, &outer.redeclared) {
            (Type::Real, _) => {
                let said = outer.over(&own);
                if let Some((value, scope)) = said.value {
                    self.leaves.insert(join(path, &component.name), Leaf::Value(value, scope, element));
                }
                return;
            }
            (Type::Class(_), Some(new)) => (new.class, outer.with_redeclared(new, &constraint.unwrap_or(own))),
            (Type::Class(class), None) => (*class, outer.over(&own.over(&constraint.unwrap_or_default()))),
            (Type::Local(name), _) => {
                let (class, of_class) = local(structure, class, name, around, path);
                (class, outer.over(&own).over(&of_class))
            }
        };
        match component.size {
            None => self.part(structure, class, &said, &join(path, &component.name), element),
            Some(size) => {
                for at in 0..size {
                    let path = join(path, &format!("{}[{}]", component.name, at + 1));
                    self.part(structure, class, &said, &path, Some(at));
                }
            }
        }
    }

    /// One element of a component with elements.
    fn part(&mut self, structure: &Structure, class: usize, said: &Modifier, path: &Path, element: Option<usize>) {
        match &said.value {
            Some((Value::Record(source), scope)) => {
                self.whole(structure, class, said, path, &join(scope, source), element);
            }
            _ => self.instance(structure, class, said, path, element),
        }
    }

    /// A record with a value as a whole: its elements are those of the source, unless the same modifier says more.
    fn whole(
        &mut self,
        structure: &Structure,
        class: usize,
        said: &Modifier,
        path: &Path,
        source: &Path,
        element: Option<usize>,
    ) {
        for component in structure.components(class) {
            let (own, other) = (join(path, &component.name), join(source, &component.name));
            let said = said.element(&component.name);
            let Some(class) = structure.class_of(component, class) else {
                let leaf = match said.value {
                    Some((value, scope)) => Leaf::Value(value, scope, element),
                    None => Leaf::Of(other),
                };
                self.leaves.insert(own, leaf);
                continue;
            };
            let elements: Vec<(Path, Path)> = match component.size {
                None => vec![(own, other)],
                Some(size) => (1..=size)
                    .map(|at| {
                        let name = format!("{}[{at}]", component.name);
                        (join(path, &name), join(source, &name))
                    })
                    .collect(),
            };
            for (at, (own, other)) in elements.into_iter().enumerate() {
                let element = component.size.map(|_| at).or(element);
                match &said.value {
                    Some((Value::Record(name), scope)) => {
                        self.whole(structure, class, &said, &own, &join(scope, name), element);
                    }
                    _ => self.whole(structure, class, &said, &own, &other, element),
                }
            }
        }
    }
}

/// The class that a replaceable class of a text stands for, and its modifiers.
fn local(structure: &Structure, class: usize, name: &str, around: &Modifier, path: &Path) -> (usize, Modifier) {
    let Some(local) = structure.locals(class).into_iter().find(|local| local.name == name) else {
        unreachable!("the generator names what is there")
    };
    let own = read(&local.items, path);
    let constraint = local.constraint.as_ref().map(|items| read(items, path));
    // The class may be declared in a base of the class that uses it: the extends clauses between count too.
    let mut outer = around.element(name);
    for class in structure.lineage(class).into_iter().rev() {
        if structure.classes[class].locals.iter().any(|known| known.name == name) {
            break;
        }
        if let Some((_, items)) = &structure.classes[class].base {
            outer = outer.over(&read(items, path).element(name));
        }
    }
    match outer.redeclared.clone() {
        Some(new) => (new.class, outer.with_redeclared(&new, &constraint.unwrap_or(own))),
        None => (local.of, outer.over(&own.over(&constraint.unwrap_or_default()))),
    }
}

fn join(path: &Path, name: &str) -> Path {
    let mut path = path.clone();
    path.push(name.to_owned());
    path
}
