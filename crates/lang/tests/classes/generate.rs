//! Random class structures that are right. Names of Reals and of components are numbered through, and a value reads only
//! names with lower numbers, so that nothing depends on itself.

use fastrand::Rng;

use crate::structure::{Class, Component, Item, LocalClass, Structure, Type, Value};

pub fn structure(rng: &mut Rng) -> Structure {
    let mut generator = StructureGenerator { structure: Structure { classes: Vec::new() }, names: 0, rng };
    let count = generator.rng.usize(4..12);
    for number in 0..count {
        let is_record = number < 2 || (number + 1 < count && generator.rng.usize(0..3) == 0);
        let class = generator.class(is_record);
        generator.structure.classes.push(class);
    }
    generator.structure
}

struct StructureGenerator<'r> {
    structure: Structure,
    names: usize,
    rng: &'r mut Rng,
}

/// The number in a name such as `v12`.
fn number_of(name: &str) -> usize {
    name[1..].parse().unwrap_or(0)
}

/// A constraining clause that redeclares elements would ask more of what it constrains than the declaration may give.
fn without_redeclarations(items: Vec<Item>) -> Vec<Item> {
    let kept = items.into_iter().filter(|item| item.redeclared.is_none());
    kept.map(|item| Item { inner: without_redeclarations(item.inner.clone()), ..item }).collect()
}

impl StructureGenerator<'_> {
    fn chance(&mut self, of: usize) -> bool {
        self.rng.usize(0..of) == 0
    }

    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn literal(&mut self) -> i64 {
        self.rng.i64(1..1000)
    }

    fn some_class(&mut self, fits: impl Fn(&Structure, usize) -> bool) -> Option<usize> {
        let all: Vec<usize> = (0..self.structure.classes.len()).filter(|&class| fits(&self.structure, class)).collect();
        (!all.is_empty()).then(|| all[self.rng.usize(0..all.len())])
    }

    fn class(&mut self, is_record: bool) -> Class {
        let mut class = Class { is_record, is_short: false, base: None, locals: Vec::new(), components: Vec::new() };
        let may_have_base = self.chance(2);
        if may_have_base && let Some(base) = self.some_class(|all, class| all.classes[class].is_record == is_record) {
            let is_short = self.chance(4);
            let items = self.items(base, None, false, 2);
            class.base = Some((base, items));
            class.is_short = is_short;
            if is_short {
                return class;
            }
        }
        // The names that its text may read, as they become known.
        self.structure.classes.push(class);
        let own = self.structure.classes.len() - 1;
        for _ in 0..self.rng.usize(1..4) {
            let component = self.real(own);
            self.structure.classes[own].components.push(component);
        }
        if !is_record && self.chance(2) {
            let local = self.local_class(own);
            self.structure.classes[own].locals.extend(local);
        }
        for _ in 0..self.rng.usize(0..4) {
            let component = self.component(own, is_record);
            self.structure.classes[own].components.extend(component);
        }
        self.structure.classes.pop().unwrap_or_else(|| unreachable!("it was pushed above"))
    }

    fn real(&mut self, own: usize) -> Component {
        let name = self.name('v');
        let value = Some(self.value(Some(own), &name));
        Component {
            name,
            ty: Type::Real,
            size: None,
            items: Vec::new(),
            value,
            replaceable: false,
            constraint: None,
            condition: None,
        }
    }

    /// A number, or a Real of the class plus a number; of those with lower numbers than `target`.
    fn value(&mut self, scope: Option<usize>, target: &str) -> Value {
        let literal = self.literal();
        let Some(scope) = scope.filter(|_| self.chance(2)) else { return Value::Literal(literal) };
        let reals: Vec<String> = self
            .structure
            .components(scope)
            .iter()
            .filter(|component| matches!(component.ty, Type::Real) && number_of(&component.name) < number_of(target))
            .map(|component| component.name.clone())
            .collect();
        match reals.is_empty() {
            true => Value::Literal(literal),
            false => Value::Plus(reals[self.rng.usize(0..reals.len())].clone(), literal),
        }
    }

    /// A record of the class that can be the value of `target`, which is of class `of`.
    fn record(&mut self, scope: Option<usize>, target: &str, of: usize) -> Option<Value> {
        let scope = scope?;
        let records: Vec<String> = self
            .structure
            .components(scope)
            .iter()
            .filter(|component| {
                let class = self.structure.class_of(component, scope);
                !component.replaceable
                    && component.size.is_none()
                    && component.condition.is_none()
                    && number_of(&component.name) < number_of(target)
                    && class.is_some_and(|class| {
                        self.structure.classes[class].is_record && self.structure.inherits(class, of)
                    })
            })
            .map(|component| component.name.clone())
            .collect();
        (!records.is_empty()).then(|| Value::Record(records[self.rng.usize(0..records.len())].clone()))
    }

    fn local_class(&mut self, own: usize) -> Option<LocalClass> {
        let of = self.some_class(|all, class| class != own && !all.classes[class].is_record)?;
        let name = self.name('X');
        let items = self.items(of, Some(own), false, 2);
        let constraint = self.chance(2).then(|| without_redeclarations(self.items(of, Some(own), false, 2)));
        Some(LocalClass { name, of, items, constraint })
    }

    fn has_arrays(&self, class: usize) -> bool {
        self.structure.components(class).iter().any(|component| {
            component.size.is_some()
                || self.structure.class_of(component, class).is_some_and(|class| self.has_arrays(class))
        })
    }

    fn component(&mut self, own: usize, in_record: bool) -> Option<Component> {
        let name = self.name('c');
        let local = self.structure.locals(own).last().map(|local| local.name.clone()).filter(|_| self.chance(2));
        let (ty, of) = match local {
            Some(local) if !in_record => {
                let of = self.structure.locals(own).iter().find(|known| known.name == local).map(|known| known.of)?;
                (Type::Local(local), of)
            }
            _ => {
                let of = self.some_class(|all, class| class != own && (!in_record || all.classes[class].is_record))?;
                (Type::Class(of), of)
            }
        };
        let is_record = self.structure.classes[of].is_record;
        let replaceable = !is_record && matches!(ty, Type::Class(_)) && self.chance(3);
        // What takes the place of a replaceable class may have arrays.
        let is_plain = matches!(ty, Type::Class(_)) && !replaceable && !self.has_locals(of) && !self.has_arrays(of);
        let size = (is_plain && self.chance(3)).then(|| self.rng.usize(1..4));
        let value = match is_record && size.is_none() && self.chance(3) {
            true => self.record(Some(own), &name, of),
            false => None,
        };
        let items = match size {
            Some(size) => self.array_items(of, own, size),
            None => self.items(of, Some(own), value.is_some(), 2),
        };
        let constraint = (replaceable && self.chance(2)).then(|| self.items(of, Some(own), false, 1));
        let constraint = constraint.map(without_redeclarations);
        let condition = (!is_record && value.is_none() && self.chance(6)).then(|| self.rng.bool());
        Some(Component { name, ty, size, items, value, replaceable, constraint, condition })
    }

    fn has_locals(&self, class: usize) -> bool {
        !self.structure.locals(class).is_empty()
            || self.structure.components(class).iter().any(|component| {
                component.replaceable
                    || self.structure.class_of(component, class).is_some_and(|class| self.has_locals(class))
            })
    }

    /// Modifiers of a class that stand in the text of `scope`, or outside of all classes.
    fn items(&mut self, of: usize, scope: Option<usize>, few: bool, depth: usize) -> Vec<Item> {
        let mut items = Vec::new();
        let components: Vec<Component> = self.structure.components(of).into_iter().cloned().collect();
        for component in components {
            if !self.chance(if few { 5 } else { 3 }) {
                continue;
            }
            let Some(class) = self.structure.class_of(&component, of) else {
                let value = Some(self.value(scope, &component.name));
                items.push(Item { name: component.name, value, ..Item::default() });
                continue;
            };
            if depth == 0 {
                continue;
            }
            if let Some(size) = component.size {
                let inner = self.array_items_in(class, scope, size);
                if !inner.is_empty() {
                    items.push(Item { name: component.name, inner, ..Item::default() });
                }
                continue;
            }
            if component.replaceable && self.chance(2) {
                items.extend(self.redeclaration(&component.name, class, scope, depth, false));
                continue;
            }
            let is_record = self.structure.classes[class].is_record;
            let value = match is_record && self.chance(2) {
                true => self.record(scope, &component.name, class),
                false => None,
            };
            let inner = self.items(class, scope, value.is_some(), depth - 1);
            if !inner.is_empty() || value.is_some() {
                items.push(Item { name: component.name, inner, value, ..Item::default() });
            }
        }
        let locals: Vec<LocalClass> = self.structure.locals(of).into_iter().cloned().collect();
        for local in locals {
            if depth > 0 && self.chance(3) {
                items.extend(self.redeclaration(&local.name, local.of, scope, depth, true));
            }
        }
        items
    }

    fn redeclaration(
        &mut self,
        name: &str,
        of: usize,
        scope: Option<usize>,
        depth: usize,
        is_class: bool,
    ) -> Option<Item> {
        // Not of a class that is only now made.
        let last = scope.unwrap_or(usize::MAX);
        let new = self.some_class(|all, class| class != last && all.inherits(class, of))?;
        let inner = self.items(new, scope, false, depth - 1);
        Some(Item { name: name.to_owned(), inner, redeclared: Some(new), is_class, ..Item::default() })
    }

    fn array_items(&mut self, of: usize, scope: usize, size: usize) -> Vec<Item> {
        self.array_items_in(of, Some(scope), size)
    }

    /// Modifiers of an array of components: for each element the same, or one number for each.
    fn array_items_in(&mut self, of: usize, scope: Option<usize>, size: usize) -> Vec<Item> {
        let mut items = Vec::new();
        let components: Vec<Component> = self.structure.components(of).into_iter().cloned().collect();
        for component in components {
            if !self.chance(2) {
                continue;
            }
            match self.structure.class_of(&component, of) {
                None => {
                    let each = self.rng.bool();
                    let value = match each {
                        true => self.value(scope, &component.name),
                        false => Value::List((0..size).map(|_| self.literal()).collect()),
                    };
                    items.push(Item { name: component.name, each, value: Some(value), ..Item::default() });
                }
                Some(class) => {
                    let value = match self.structure.classes[class].is_record && self.chance(3) {
                        true => self.record(scope, &component.name, class),
                        false => None,
                    };
                    let inner = match value.is_some() {
                        true => Vec::new(),
                        false => self.array_items_in(class, scope, size),
                    };
                    if !inner.is_empty() || value.is_some() {
                        let each = value.is_some();
                        items.push(Item { name: component.name, each, inner, value, ..Item::default() });
                    }
                }
            }
        }
        items
    }
}
