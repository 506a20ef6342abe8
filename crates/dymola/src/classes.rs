//! What the names of a file mean: its classes with their variables, submodels, nodes, cuts and paths.
//!
//! Variables, submodels and nodes share one space of names; cuts and paths have spaces of their own, since listings give a path
//! the name of a variable.

use base::{Diagnostic, Name, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::*;
use crate::language;

/// An index into [`Classes::classes`].
pub type ClassId = usize;
/// An index into [`Classes::variables`].
pub type VariableId = usize;
/// An index into [`Classes::cuts`].
pub type CutId = usize;

#[derive(Default)]
pub struct Classes<'a> {
    pub classes: Vec<Class<'a>>,
    pub variables: Vec<Variable>,
    pub cuts: Vec<CutOf>,
    by_name: FxHashMap<Name, ClassId>,
}

pub struct Class<'a> {
    pub model: &'a Model,
    /// Those of this file.
    pub supers: Vec<ClassId>,
    /// One of the classes above it is not in this file, so that names may be unknown.
    pub is_open: bool,
    pub variables: FxHashMap<Name, VariableId>,
    /// With their classes, if these are in this file.
    pub submodels: FxHashMap<Name, Option<ClassId>>,
    pub nodes: FxHashMap<Name, Span>,
    pub cuts: FxHashMap<Name, CutId>,
    pub paths: FxHashMap<Name, (CutId, CutId)>,
    pub main_cut: Option<CutId>,
    pub main_path: Option<(CutId, CutId)>,
    main_path_place: Option<Span>,
    places: FxHashMap<Name, Span>,
}

pub struct Variable {
    pub name: Ident,
    pub role: Role,
}

pub struct CutOf {
    pub class: ClassId,
    pub name: Ident,
    pub content: Content,
}

pub enum Content {
    Variables(Slots),
    /// Cuts that are known before this one, so that there is no circle.
    Cuts(Vec<CutId>),
}

#[derive(Clone, Default)]
pub struct Slots {
    pub across: Vec<SlotOf>,
    pub through: Vec<SlotOf>,
}

#[derive(Clone, Copy)]
pub struct SlotOf {
    pub negative: bool,
    pub variable: VariableId,
    /// The variable is declared by this slot.
    pub declares: bool,
    pub span: Span,
}

impl Slots {
    /// How many across and through variables make pairs; only these are in a Modelica connector.
    pub fn pairs(&self) -> usize {
        self.across.len().min(self.through.len())
    }
}

impl<'a> Classes<'a> {
    pub fn new(models: &'a [Model], diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut classes = Self::default();
        classes.declare_models(models, diagnostics);
        let mut done = vec![false; classes.classes.len()];
        for class in 0..classes.classes.len() {
            classes.declare_after_supers(class, &mut done, diagnostics);
        }
        classes
    }

    fn declare_models(&mut self, models: &'a [Model], diagnostics: &mut Vec<Diagnostic>) {
        for model in models {
            if let Some(&other) = self.by_name.get(&model.name.name) {
                let message = format!("there are two models `{}`", model.called);
                let other = self.classes[other].model.name.span;
                diagnostics.push(
                    language::error("duplicate-name", message, model.name.span, "", "rename one of them", "Models")
                        .at(other, "the other one"),
                );
                continue;
            }
            self.by_name.insert(model.name.name, self.classes.len());
            self.classes.push(Class {
                model,
                supers: Vec::new(),
                is_open: false,
                variables: FxHashMap::default(),
                submodels: FxHashMap::default(),
                nodes: FxHashMap::default(),
                cuts: FxHashMap::default(),
                paths: FxHashMap::default(),
                main_cut: None,
                main_path: None,
                main_path_place: None,
                places: FxHashMap::default(),
            });
        }
        for class in 0..self.classes.len() {
            for reference in &self.classes[class].model.supers {
                match self.class_named(reference, diagnostics) {
                    Some(found) if self.extends(found, class) => {
                        let message = format!("`{}` extends itself", self.classes[class].model.called);
                        let hint = "a class may not be below itself";
                        diagnostics.push(language::error(
                            "extends-itself",
                            message,
                            reference.span,
                            "",
                            hint,
                            "Models",
                        ));
                    }
                    Some(found) => self.classes[class].supers.push(found),
                    None => self.classes[class].is_open = true,
                }
            }
        }
    }

    /// The class that is meant, if it is one of these.
    pub fn class_of(&self, reference: &Reference) -> Option<ClassId> {
        let [only] = &reference.parts[..] else { return None };
        self.by_name.get(&only.name).copied()
    }

    /// A class of this file. A name that is almost one of them is reported, others are left to the libraries.
    fn class_named(&self, reference: &Reference, diagnostics: &mut Vec<Diagnostic>) -> Option<ClassId> {
        let [only] = &reference.parts[..] else { return None };
        if let Some(&class) = self.by_name.get(&only.name) {
            return Some(class);
        }
        let known = self.by_name.keys().map(|name| name.as_str());
        if let Some(near) = language::near(only.name.as_str(), known) {
            diagnostics.push(language::error(
                "unknown-class",
                format!("there is no class `{}`", only.name),
                only.span,
                "not found",
                format!("did you mean `{near}`?"),
                "Models",
            ));
        }
        None
    }

    /// Whether a class is another one or below it.
    pub fn extends(&self, class: ClassId, other: ClassId) -> bool {
        self.lineage(class).contains(&other)
    }

    /// The class and all above it, nearest first.
    pub fn lineage(&self, class: ClassId) -> Vec<ClassId> {
        let mut found = vec![class];
        let mut seen: FxHashSet<ClassId> = found.iter().copied().collect();
        let mut at = 0;
        while let Some(&next) = found.get(at) {
            at += 1;
            found.extend(self.classes[next].supers.iter().copied().filter(|&above| seen.insert(above)));
        }
        found
    }

    /// Whether names may come from a class of another file.
    pub fn is_open(&self, class: ClassId) -> bool {
        self.lineage(class).into_iter().any(|above| self.classes[above].is_open)
    }

    fn find<T: Copy>(&self, class: ClassId, of: impl Fn(&Class<'a>) -> Option<T>) -> Option<T> {
        self.lineage(class).into_iter().find_map(|above| of(&self.classes[above]))
    }

    pub fn variable(&self, class: ClassId, name: Name) -> Option<VariableId> {
        self.find(class, |class| class.variables.get(&name).copied())
    }

    pub fn submodel(&self, class: ClassId, name: Name) -> Option<Option<ClassId>> {
        self.find(class, |class| class.submodels.get(&name).copied())
    }

    pub fn has_node(&self, class: ClassId, name: Name) -> bool {
        self.find(class, |class| class.nodes.get(&name).copied()).is_some()
    }

    pub fn cut(&self, class: ClassId, name: Name) -> Option<CutId> {
        self.find(class, |class| class.cuts.get(&name).copied())
    }

    pub fn path(&self, class: ClassId, name: Name) -> Option<(CutId, CutId)> {
        self.find(class, |class| class.paths.get(&name).copied())
    }

    pub fn main_cut(&self, class: ClassId) -> Option<CutId> {
        self.find(class, |class| class.main_cut)
    }

    pub fn main_path(&self, class: ClassId) -> Option<(CutId, CutId)> {
        self.find(class, |class| class.main_path)
    }

    /// Whether a variable, submodel or node has this name, so that a class of the same name is hidden.
    pub fn is_component(&self, class: ClassId, name: Name) -> bool {
        self.find(class, |class| class.places.get(&name).copied()).is_some()
    }

    /// The cuts of variables that a cut consists of.
    pub fn parts(&self, cut: CutId) -> Vec<CutId> {
        match &self.cuts[cut].content {
            Content::Variables(_) => vec![cut],
            Content::Cuts(cuts) => cuts.iter().flat_map(|&cut| self.parts(cut)).collect(),
        }
    }

    pub fn slots(&self, cut: CutId) -> Slots {
        match &self.cuts[cut].content {
            Content::Variables(slots) => slots.clone(),
            Content::Cuts(_) => Slots::default(),
        }
    }

    /// Names that can stand where a variable is expected.
    pub fn known_names(&self, class: ClassId) -> Vec<&'static str> {
        let lineage = self.lineage(class).into_iter();
        lineage.flat_map(|above| self.classes[above].places.keys()).map(|name| name.as_str()).collect()
    }

    fn declare_after_supers(&mut self, class: ClassId, done: &mut [bool], diagnostics: &mut Vec<Diagnostic>) {
        let mut stack = vec![class];
        while let Some(&class) = stack.last() {
            let above = self.classes[class].supers.iter().copied().find(|&above| !done[above]);
            if let Some(above) = above {
                stack.push(above);
                continue;
            }
            stack.pop();
            if !std::mem::replace(&mut done[class], true) {
                self.declare_items(class, diagnostics);
            }
        }
    }

    /// Items may have any order: what a cut of cuts or a path names may stand behind it.
    fn declare_items(&mut self, class: ClassId, diagnostics: &mut Vec<Diagnostic>) {
        let model = self.classes[class].model;
        for item in &model.items {
            self.declare(class, item, diagnostics);
        }
        let mut later: Vec<(bool, &'a Cut)> = Vec::new();
        for item in &model.items {
            let ItemKind::Cuts { main, cuts } = &item.kind else { continue };
            for cut in cuts {
                match self.has_parts(class, cut) {
                    true => self.declare_cut(class, *main, cut, diagnostics),
                    false => later.push((*main, cut)),
                }
            }
        }
        // What is left at last has parts that are unknown, or is a part of itself.
        loop {
            let next = later.iter().position(|(_, cut)| self.has_parts(class, cut));
            let Some(next) = next.or((!later.is_empty()).then_some(0)) else { break };
            let (main, cut) = later.remove(next);
            self.declare_cut(class, main, cut, diagnostics);
        }
        for item in &model.items {
            if let ItemKind::Paths { main, paths } = &item.kind {
                for path in paths {
                    self.declare_path(class, *main, path, diagnostics);
                }
            }
        }
    }

    /// Whether all cuts that it consists of are declared.
    fn has_parts(&self, class: ClassId, cut: &Cut) -> bool {
        match &cut.content {
            CutContent::Variables { .. } => true,
            CutContent::Cuts(parts) => parts.iter().all(|part| self.cut(class, part.name).is_some()),
        }
    }

    fn declare(&mut self, class: ClassId, item: &'a Item, diagnostics: &mut Vec<Diagnostic>) {
        match &item.kind {
            ItemKind::Variables { role, variables } => {
                for variable in variables {
                    if self.place(class, variable.name, diagnostics) {
                        self.add_variable(class, variable.name, *role);
                    }
                }
            }
            ItemKind::Submodels { class: of, submodels } => {
                for submodel in submodels {
                    let same = Reference { parts: vec![submodel.name], span: submodel.name.span };
                    let found = self.class_named(of.as_ref().unwrap_or(&same), diagnostics);
                    if self.place(class, submodel.name, diagnostics) {
                        self.classes[class].submodels.insert(submodel.name.name, found);
                    }
                }
            }
            ItemKind::Nodes(nodes) => {
                for node in nodes {
                    if self.place(class, *node, diagnostics) {
                        self.classes[class].nodes.insert(node.name, node.span);
                    }
                }
            }
            ItemKind::Cuts { .. } | ItemKind::Paths { .. } => {}
            ItemKind::Connect(_) | ItemKind::Equation(_) | ItemKind::When(_) => {}
        }
    }

    /// Whether the name is free.
    fn place(&mut self, class: ClassId, name: Ident, diagnostics: &mut Vec<Diagnostic>) -> bool {
        if name.name == "Time" {
            let message = "`Time` is the time of the simulation and cannot be declared";
            let hint = "give the variable another name";
            diagnostics.push(language::error("reserved-word", message, name.span, "", hint, "Words and comments"));
            return false;
        }
        match self.find(class, |class| class.places.get(&name.name).copied()) {
            Some(other) => {
                let message = format!("the name `{}` is declared twice", name.name);
                diagnostics.push(
                    language::error("duplicate-name", message, name.span, "", "rename one of them", "Variables")
                        .at(other, "declared here first"),
                );
                false
            }
            None => {
                self.classes[class].places.insert(name.name, name.span);
                true
            }
        }
    }

    fn add_variable(&mut self, class: ClassId, name: Ident, role: Role) -> VariableId {
        let id = self.variables.len();
        self.variables.push(Variable { name, role });
        self.classes[class].variables.insert(name.name, id);
        id
    }

    fn declare_cut(&mut self, class: ClassId, main: bool, cut: &'a Cut, diagnostics: &mut Vec<Diagnostic>) {
        if let Some(other) = self.cut(class, cut.name.name) {
            let message = format!("the cut `{}` is declared twice", cut.name.name);
            let other = self.cuts[other].name.span;
            diagnostics.push(
                language::error("duplicate-name", message, cut.name.span, "", "rename one of them", "Cuts")
                    .at(other, "declared here first"),
            );
            return;
        }
        let content = match &cut.content {
            CutContent::Variables { across, through } => {
                let mut slots = |list: &'a [Slot]| -> Vec<SlotOf> {
                    list.iter().filter_map(|slot| self.slot(class, slot, diagnostics)).collect()
                };
                Content::Variables(Slots { across: slots(across), through: slots(through) })
            }
            CutContent::Cuts(parts) => {
                let mut found: Vec<CutId> = Vec::new();
                for part in parts {
                    let Some(known) = self.known_cut(class, *part, diagnostics) else { continue };
                    // Without this the number of parts could grow without limit.
                    let inside: FxHashSet<CutId> = found.iter().flat_map(|&cut| self.parts(cut)).collect();
                    if self.parts(known).into_iter().any(|cut| inside.contains(&cut)) {
                        let message = format!("`{}` is already in this cut", part.name);
                        let hint = "each cut is once in a cut of cuts";
                        diagnostics.push(language::error("duplicate-name", message, part.span, "", hint, "Cuts"));
                    } else {
                        found.push(known);
                    }
                }
                Content::Cuts(found)
            }
        };
        let id = self.cuts.len();
        self.cuts.push(CutOf { class, name: cut.name, content });
        self.classes[class].cuts.insert(cut.name.name, id);
        if main {
            if let Some(other) = self.classes[class].main_cut {
                let message = "a model has only one main cut";
                let hint = "declare the further ones by `cut`";
                let other = self.cuts[other].name.span;
                diagnostics.push(
                    language::error("two-main", message, cut.name.span, "", hint, "Cuts").at(other, "the first one"),
                );
            }
            self.classes[class].main_cut = Some(id);
        }
    }

    /// Several slots may hold one variable, as `A (Va / i), B (Vb / -i)` do.
    fn slot(&mut self, class: ClassId, slot: &Slot, diagnostics: &mut Vec<Diagnostic>) -> Option<SlotOf> {
        let (negative, span) = (slot.negative, slot.name.span);
        if let Some(variable) = self.variable(class, slot.name.name) {
            return Some(SlotOf { negative, variable, declares: false, span });
        }
        if !self.place(class, slot.name, diagnostics) {
            return None;
        }
        let variable = self.add_variable(class, slot.name, Role::Cut);
        Some(SlotOf { negative, variable, declares: true, span })
    }

    fn known_cut(&self, class: ClassId, name: Ident, diagnostics: &mut Vec<Diagnostic>) -> Option<CutId> {
        let found = self.cut(class, name.name);
        if found.is_none() {
            diagnostics.push(self.unknown_cut(class, name));
        }
        found
    }

    pub fn unknown_cut(&self, class: ClassId, name: Ident) -> Diagnostic {
        let lineage = self.lineage(class).into_iter();
        let known: Vec<&str> = lineage
            .flat_map(|above| self.classes[above].cuts.keys().chain(self.classes[above].paths.keys()))
            .map(|name| name.as_str())
            .collect();
        let hint = match language::near(name.name.as_str(), known.into_iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "a cut is declared by `cut A (v / i)`".to_owned(),
        };
        let message = format!("`{}` has no cut `{}`", self.classes[class].model.called, name.name);
        language::error("unknown-cut", message, name.span, "not found", hint, "Cuts")
    }

    fn declare_path(&mut self, class: ClassId, main: bool, path: &Path, diagnostics: &mut Vec<Diagnostic>) {
        let ends = [path.from, path.to].map(|name| self.known_cut(class, name, diagnostics));
        let [Some(from), Some(to)] = ends else { return };
        self.classes[class].paths.insert(path.name.name, (from, to));
        if main {
            if let Some(other) = self.classes[class].main_path_place {
                let message = "a model has only one main path";
                let hint = "declare the further ones by `path`";
                diagnostics.push(
                    language::error("two-main", message, path.name.span, "", hint, "Paths").at(other, "the first one"),
                );
            }
            self.classes[class].main_path = Some((from, to));
            self.classes[class].main_path_place = Some(path.name.span);
        }
    }

    /// The variable that is meant; `None` where another file knows it.
    pub fn resolve(&self, class: ClassId, reference: &Reference) -> Result<Option<VariableId>, Box<Diagnostic>> {
        Ok(self.resolve_with_owner(class, reference)?.map(|(_, variable)| variable))
    }

    /// The variable that is meant, with the class of the object that has it.
    pub fn resolve_with_owner(
        &self,
        class: ClassId,
        reference: &Reference,
    ) -> Result<Option<(ClassId, VariableId)>, Box<Diagnostic>> {
        let Some((last, path)) = reference.parts.split_last() else { return Ok(None) };
        let mut at = class;
        for part in path {
            match self.submodel(at, part.name) {
                Some(Some(next)) => at = next,
                Some(None) => return Ok(None),
                None if self.is_open(at) => return Ok(None),
                None => return Err(Box::new(self.unknown_name(at, *part, class, true))),
            }
        }
        match self.variable(at, last.name) {
            Some(variable) => Ok(Some((at, variable))),
            None if self.is_open(at) => Ok(None),
            None => Err(Box::new(self.unknown_name(at, *last, class, false))),
        }
    }

    fn unknown_name(&self, class: ClassId, name: Ident, from: ClassId, wants_submodel: bool) -> Diagnostic {
        let model = self.classes[class].model.called;
        let text = name.name.as_str();
        let report = |message: String, hint: String| {
            language::error("unknown-name", message, name.span, "not found", hint, "Variables")
        };
        let no_variable =
            |message: String, hint: String| language::error("no-variable", message, name.span, "", hint, "Variables");
        if self.submodel(class, name.name).is_some() {
            return no_variable(
                format!("`{text}` is a submodel, not a variable"),
                format!("name one of its variables: `{text}.u`"),
            );
        }
        if self.cut(class, name.name).is_some() || self.has_node(class, name.name) {
            return no_variable(
                format!("`{text}` is for connections, it has no value"),
                "the variables of a cut are known by their own names".to_owned(),
            );
        }
        let message = match class == from {
            true => format!("there is no variable `{text}` in `{model}`"),
            false => format!("the class `{model}` has no variable `{text}`"),
        };
        let message = if wants_submodel { format!("there is no submodel `{text}` in `{model}`") } else { message };
        if text == "Time" {
            return no_variable(
                "`Time` is the time of the simulation; it gets no value".to_owned(),
                "declare a variable of your own".to_owned(),
            );
        }
        if text == "time" || text == "t" {
            return report(message, "the time of the simulation is `Time`".to_owned());
        }
        match language::near(text, self.known_names(class).into_iter()) {
            Some(near) => report(message, format!("did you mean `{near}`?")),
            None if wants_submodel => report(message, format!("declare it: `submodel (Class) {text}`")),
            None => report(message, format!("declare it: `local {text}`")),
        }
    }
}
