//! One class, several forms. A variable is continuous in one use of a class and a discrete state in another: `new(x)` may stand in
//! a class below it, or be said of one of its objects only. Modelica wants this to be decided in the class that declares the
//! variable, so each use whose variables have other forms gets a class of its own: `Switch_new_OpenSwitch`.
//!
//! A class whose uses agree keeps its name, whatever their form is.

use std::collections::BTreeMap;

use base::{Diagnostic, Name};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::*;
use crate::classes::{ClassId, Classes, VariableId};
use crate::language;

/// A variable as it is seen from a class: `x`, or `R1.x`.
type Path = Vec<Name>;

/// What equations say about a variable.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Marks {
    differentiated: bool,
    new_in_when: bool,
    new_outside: bool,
    set_in_when: bool,
}

impl Marks {
    fn and(self, other: Marks) -> Marks {
        Marks {
            differentiated: self.differentiated | other.differentiated,
            new_in_when: self.new_in_when | other.new_in_when,
            new_outside: self.new_outside | other.new_outside,
            set_in_when: self.set_in_when | other.set_in_when,
        }
    }
}

/// What the class that declares a variable has to know of it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Form {
    is_state: bool,
    is_discrete: bool,
    /// Its declared value is more than a guess.
    is_fixed: bool,
}

type Said = BTreeMap<Path, Marks>;
/// The variables whose form a class does not have by itself.
type Key = BTreeMap<Path, Form>;

/// Bounds the work for classes that use each other in very many ways.
const MOST_FORMS: usize = 20_000;

/// The models with a class for each form that is needed; `None`: all keep their classes.
pub fn separate(models: &[Model], classes: &Classes, diagnostics: &mut Vec<Diagnostic>) -> Option<Vec<Model>> {
    let mut forms = Forms::new(classes);
    if forms.said.iter().all(BTreeMap::is_empty) {
        return None;
    }
    forms.visit_all();
    if forms.is_too_many {
        if let Some(class) = classes.classes.first() {
            let message = "the classes of this file are used in too many ways";
            let hint = "say `new(x)` in the class that declares `x`";
            let (span, section) = (class.model.name.span, "Instantaneous equations");
            diagnostics.push(language::error("too-many-forms", message, span, "", hint, section));
        }
        return None;
    }
    let names = forms.names();
    (!names.is_empty()).then(|| forms.rewrite(models, &names))
}

struct Forms<'a, 'c> {
    classes: &'c Classes<'a>,
    /// For every class, what it and the classes above it say.
    said: Vec<Said>,
    /// Variables with a declared value that is no binding.
    has_start: FxHashSet<VariableId>,
    /// For every class: its forms, with what is said from outside in a use that needs it.
    live: Vec<Vec<(Key, Said)>>,
    is_too_many: bool,
}

impl<'a, 'c> Forms<'a, 'c> {
    fn new(classes: &'c Classes<'a>) -> Self {
        let own: Vec<Said> = classes.classes.iter().map(|class| said_by(class.model)).collect();
        let all = |class: ClassId| {
            let mut said = Said::new();
            classes.lineage(class).into_iter().for_each(|above| add(&mut said, &own[above]));
            said
        };
        let mut has_start = FxHashSet::default();
        for class in &classes.classes {
            for item in &class.model.items {
                let ItemKind::Variables { role: Role::Local | Role::Terminal | Role::Output, variables } = &item.kind
                else {
                    continue;
                };
                let with_value = variables.iter().filter(|declared| declared.value.is_some());
                has_start.extend(with_value.filter_map(|declared| class.variables.get(&declared.name.name)));
            }
        }
        let count = classes.classes.len();
        let said = (0..count).map(all).collect();
        Self { classes, said, has_start, live: vec![Vec::new(); count], is_too_many: false }
    }

    /// All uses that begin with an object, or with a class that nothing in the file uses.
    fn visit_all(&mut self) {
        let count = self.classes.classes.len();
        let used: FxHashSet<ClassId> = self
            .classes
            .classes
            .iter()
            .flat_map(|class| class.submodels.values().flatten().chain(&class.supers))
            .copied()
            .collect();
        for class in 0..count {
            if !used.contains(&class) || !self.classes.classes[class].model.is_class {
                self.visit(class, Said::new());
            }
        }
        for class in 0..count {
            if self.live[class].is_empty() {
                self.visit(class, Said::new());
            }
        }
    }

    fn visit(&mut self, class: ClassId, outside: Said) {
        let mut open = vec![(class, outside)];
        let mut count = 0;
        while let Some((class, outside)) = open.pop() {
            let key = self.key(class, &outside);
            if self.live[class].iter().any(|(known, _)| *known == key) {
                continue;
            }
            open.extend(self.uses(class, &outside));
            self.live[class].push((key, outside));
            count += 1;
            if count > MOST_FORMS {
                self.is_too_many = true;
                return;
            }
        }
    }

    fn all_said(&self, class: ClassId, outside: &Said) -> Said {
        let mut all = self.said[class].clone();
        add(&mut all, outside);
        all
    }

    /// The classes that this one extends and has objects of, with what is said of them.
    fn uses(&self, class: ClassId, outside: &Said) -> Vec<(ClassId, Said)> {
        let all = self.all_said(class, outside);
        let described = &self.classes.classes[class];
        let mut found: Vec<(ClassId, Said)> =
            described.supers.iter().map(|&above| (above, self.above(above, &all))).collect();
        let mut submodels: Vec<(Name, ClassId)> =
            described.submodels.iter().filter_map(|(&name, &of)| Some((name, of?))).collect();
        submodels.sort_unstable_by_key(|(name, _)| name.as_str());
        found.extend(submodels.into_iter().map(|(name, of)| (of, inside(name, &all))));
        found
    }

    /// What is said of names that a class above knows.
    fn above(&self, above: ClassId, all: &Said) -> Said {
        let is_known = |path: &Path| match &path[..] {
            [] => false,
            [only] => self.classes.variable(above, *only).is_some(),
            [first, ..] => self.classes.submodel(above, *first).is_some(),
        };
        all.iter().filter(|(path, _)| is_known(path)).map(|(path, marks)| (path.clone(), *marks)).collect()
    }

    fn key(&self, class: ClassId, outside: &Said) -> Key {
        let mut key = Key::new();
        for (path, marks) in self.all_said(class, outside) {
            let Some((variable, inner)) = self.variable(class, &path) else { continue };
            let form = self.form(variable, marks.and(inner));
            if form != self.form(variable, inner) {
                key.insert(path, form);
            }
        }
        key
    }

    /// The variable of a path, with what the classes on the way to it say themselves.
    fn variable(&self, class: ClassId, path: &[Name]) -> Option<(VariableId, Marks)> {
        let (mut at, mut marks) = (class, Marks::default());
        for (index, part) in path.iter().enumerate() {
            if index > 0 {
                marks = marks.and(self.said[at].get(&path[index..]).copied().unwrap_or_default());
            }
            if index + 1 == path.len() {
                return Some((self.classes.variable(at, *part)?, marks));
            }
            at = self.classes.submodel(at, *part)??;
        }
        None
    }

    fn form(&self, variable: VariableId, marks: Marks) -> Form {
        let is_held = !marks.differentiated;
        let is_state = is_held && (marks.new_in_when || marks.new_outside);
        let is_discrete = is_held && (marks.new_in_when || marks.set_in_when);
        let changes = is_state || is_discrete || marks.differentiated;
        Form { is_state, is_discrete, is_fixed: changes && self.has_start.contains(&variable) }
    }

    /// The names of the further classes.
    fn names(&self) -> FxHashMap<(ClassId, Key), Name> {
        let mut taken: FxHashSet<Name> = self.classes.classes.iter().map(|class| class.model.name.name).collect();
        let mut names = FxHashMap::default();
        for (class, live) in self.live.iter().enumerate().filter(|(_, live)| live.len() > 1) {
            let plain = self.key(class, &Said::new());
            for (key, _) in live.iter().filter(|(key, _)| *key != plain) {
                let mut name = format!("{}{}", self.classes.classes[class].model.name.name, differences(&plain, key));
                while !taken.insert(Name::new(&name)) {
                    name.push('_');
                }
                names.insert((class, key.clone()), Name::new(&name));
            }
        }
        names
    }

    fn rewrite(&self, models: &[Model], names: &FxHashMap<(ClassId, Key), Name>) -> Vec<Model> {
        let mut made = Vec::new();
        for model in models {
            let class = self.classes.classes.iter().position(|class| std::ptr::eq(class.model, model));
            let Some(class) = class else {
                made.push(model.clone());
                continue;
            };
            let plain = Said::new();
            let keeps = match &self.live[class][..] {
                [(_, outside)] => outside,
                _ => &plain,
            };
            made.push(self.in_form(model, class, keeps, names));
            for (key, outside) in &self.live[class] {
                let Some(&name) = names.get(&(class, key.clone())) else { continue };
                let mut further = self.in_form(model, class, outside, names);
                further.name.name = name;
                further.is_class = true;
                made.push(further);
            }
        }
        made
    }

    /// The model with the classes that it uses in this form.
    fn in_form(&self, model: &Model, class: ClassId, outside: &Said, names: &FxHashMap<(ClassId, Key), Name>) -> Model {
        let all = self.all_said(class, outside);
        let renamed = |of: ClassId, said: &Said| names.get(&(of, self.key(of, said))).copied();
        let mut made = model.clone();
        for above in &mut made.supers {
            if let Some(of) = self.classes.class_of(above)
                && let Some(name) = renamed(of, &self.above(of, &all))
            {
                above.parts[0].name = name;
            }
        }
        let items = std::mem::take(&mut made.items);
        for item in items {
            let ItemKind::Submodels { class: of, submodels } = item.kind else {
                made.items.push(item);
                continue;
            };
            let name_of = |submodel: &Submodel| {
                let of = self.classes.submodel(class, submodel.name.name)??;
                renamed(of, &inside(submodel.name.name, &all))
            };
            made.items.extend(split(of, submodels, item.span, &name_of));
        }
        made
    }
}

/// One declaration for each class that the submodels of a declaration have now.
fn split(
    of: Option<Reference>,
    submodels: Vec<Submodel>,
    span: base::Span,
    name_of: &dyn Fn(&Submodel) -> Option<Name>,
) -> Vec<Item> {
    let mut groups: Vec<(Option<Name>, Vec<Submodel>)> = Vec::new();
    for submodel in submodels {
        let name = name_of(&submodel);
        match groups.last_mut() {
            // Without a class each submodel has its own.
            Some((known, group)) if *known == name && (of.is_some() || name.is_none()) => group.push(submodel),
            _ => groups.push((name, vec![submodel])),
        }
    }
    let count = groups.len();
    let mut begin = span;
    let mut made = Vec::new();
    for (index, (name, submodels)) in groups.into_iter().enumerate() {
        let class = match (name, &of, submodels.first()) {
            (Some(name), Some(of), _) => Some(Reference { parts: vec![Ident { name, span: of.span }], span: of.span }),
            (Some(name), None, Some(first)) => {
                let place = first.name.span;
                Some(Reference { parts: vec![Ident { name, span: place }], span: place })
            }
            _ => of.clone(),
        };
        // Comments belong to the last of them.
        let end = match (index + 1 == count, submodels.last()) {
            (false, Some(last)) => base::Span { end: last.name.span.end, ..begin },
            _ => base::Span { end: span.end, ..begin },
        };
        begin = base::Span { start: end.end, ..span };
        made.push(Item { kind: ItemKind::Submodels { class, submodels }, span: end });
    }
    made
}

fn add(said: &mut Said, more: &Said) {
    for (path, marks) in more {
        let known = said.entry(path.clone()).or_default();
        *known = known.and(*marks);
    }
}

/// What is said of the variables of a submodel.
fn inside(submodel: Name, all: &Said) -> Said {
    let inner = all.iter().filter(|(path, _)| path.len() > 1 && path[0] == submodel);
    inner.map(|(path, marks)| (path[1..].to_vec(), *marks)).collect()
}

fn said_by(model: &Model) -> Said {
    let mut said = Said::new();
    for item in &model.items {
        match &item.kind {
            ItemKind::Equation(equation) => said_by_equation(&mut said, equation, false),
            ItemKind::When(when) => {
                said_by_expression(&mut said, &when.condition, false);
                when.equations.iter().for_each(|equation| said_by_equation(&mut said, equation, true));
            }
            _ => {}
        }
    }
    said
}

fn said_by_equation(said: &mut Said, equation: &Equation, in_when: bool) {
    said_by_expression(said, &equation.left, in_when);
    said_by_expression(said, &equation.right, in_when);
    if in_when && let ExprKind::Reference(reference) = &equation.left.kind {
        said.entry(path(reference)).or_default().set_in_when = true;
    }
}

fn said_by_expression(said: &mut Said, expression: &Expr, in_when: bool) {
    expression.walk(&mut |part| match &part.kind {
        ExprKind::New(reference) => {
            let marks = said.entry(path(reference)).or_default();
            marks.new_in_when |= in_when;
            marks.new_outside |= !in_when;
        }
        ExprKind::Derivative(inner, _) => {
            if let ExprKind::Reference(reference) = &inner.kind {
                said.entry(path(reference)).or_default().differentiated = true;
            }
        }
        _ => {}
    });
}

fn path(reference: &Reference) -> Path {
    reference.parts.iter().map(|part| part.name).collect()
}

/// How a form is told from that which the class has by itself.
fn differences(plain: &Key, key: &Key) -> String {
    let mut words = Vec::new();
    for path in plain.keys().chain(key.keys().filter(|path| !plain.contains_key(*path))) {
        let (before, now) = (plain.get(path), key.get(path));
        if before == now {
            continue;
        }
        let word = match now {
            Some(Form { is_state: true, .. }) => "new",
            Some(Form { is_discrete: true, .. }) => "when",
            Some(_) => "der",
            None => "continuous",
        };
        let parts: Vec<&str> = path.iter().map(|part| part.as_str()).collect();
        words.push(format!("_{word}_{}", parts.join("_")));
    }
    words.sort_unstable();
    words.concat()
}
