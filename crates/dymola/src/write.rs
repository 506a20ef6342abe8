//! Models to Modelica text that a person would write: names, comments and order are kept, and every piece knows its origin.
//!
//! Modelica separates declarations from equations, so each of both keeps its order. Models that are no classes and that no other
//! one uses come last, where Modelica tools look for what is to be simulated.

use base::{Diagnostic, Name, Span, Translated};
use rustc_hash::FxHashSet;

use crate::ast::*;
use crate::classes::{ClassId, Classes, CutId, SlotOf, VariableId};
use crate::connections::Joined;
use crate::connectors::{Connector, Connectors};
use crate::instants::{Instant, Solved};
use crate::kinds::{Facts, Kind, Kinds};
use crate::language;
use crate::lexer::Comment;

mod connect;
mod expressions;
mod modelica_names;

use connect::Sets;
use modelica_names::modelica_name;

pub struct Source<'a> {
    pub text: &'a str,
    pub whole: Span,
    pub models: &'a [Model],
    pub comments: &'a [Comment<'a>],
}

/// What is known about the file.
pub struct Meaning<'a> {
    pub classes: &'a Classes<'a>,
    pub joined: &'a [Joined],
    pub kinds: &'a Kinds,
    pub connectors: &'a Connectors,
    /// For each class, its `when`s with what their equations determine.
    pub instants: &'a [Vec<Solved<'a>>],
}

pub fn write(source: &Source, meaning: &Meaning, diagnostics: &mut Vec<Diagnostic>) -> Translated {
    let mut writer = Writer {
        source,
        classes: meaning.classes,
        kinds: meaning.kinds,
        connectors: meaning.connectors,
        joined: meaning.joined,
        instants: meaning.instants,
        made: Translated::new(source.whole),
        class: 0,
        reads_before: true,
        restarted: Vec::new(),
        in_when: false,
        last: None,
        indent: 1,
        headline: None,
        trailing: Vec::new(),
        diagnostics,
    };
    writer.indent = 0;
    writer.headline_comments();
    writer.connector_classes();
    let is_here = |class: &ClassId| meaning.classes.classes[*class].model.span.file == source.whole.file;
    for class in order(meaning.classes).into_iter().filter(is_here) {
        writer.model(class);
    }
    writer.indent = 0;
    let end = source.models.iter().map(|model| model.span.end).max();
    let end = end.map_or(source.whole.start, |end| writer.after_line_comments(end, source.whole.end));
    writer.comments_between(end, source.whole.end);
    writer.made
}

/// Objects that no other model uses come last.
fn order(classes: &Classes) -> Vec<ClassId> {
    let used: FxHashSet<ClassId> = classes
        .classes
        .iter()
        .flat_map(|class| class.submodels.values().flatten().chain(&class.supers))
        .copied()
        .collect();
    let is_main = |class: &ClassId| !classes.classes[*class].model.is_class && !used.contains(class);
    let (main, others): (Vec<ClassId>, Vec<ClassId>) = (0..classes.classes.len()).partition(is_main);
    [others, main].concat()
}

struct Writer<'a, 'd> {
    source: &'d Source<'a>,
    classes: &'d Classes<'a>,
    kinds: &'d Kinds,
    connectors: &'d Connectors,
    joined: &'d [Joined],
    instants: &'d [Vec<Solved<'a>>],
    made: Translated,
    class: ClassId,
    /// A discrete state by itself stands for its value before the event.
    reads_before: bool,
    /// Continuous states that the present `when` gives new values.
    restarted: Vec<VariableId>,
    in_when: bool,
    /// Where the text ends that was written last, if what follows may stand as the user wrote it.
    last: Option<u32>,
    indent: usize,
    /// `equation` is to be written before the next line.
    headline: Option<Span>,
    /// Comments that belong behind the next line.
    trailing: Vec<Comment<'a>>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// A variable with what stands behind its name.
struct Declaration<'e> {
    variable: VariableId,
    start: Option<Start<'e>>,
    binding: Option<Binding<'e>>,
}

#[derive(Clone, Copy)]
enum Start<'e> {
    Value {
        value: &'e Expr,
        fixed: bool,
    },
    /// Zero or false.
    Default,
}

enum Binding<'e> {
    Value(&'e Expr),
    Text(Span, String),
}

impl<'a> Writer<'a, '_> {
    fn write(&mut self, text: &str) {
        self.made.write(text);
        self.last = None;
    }

    fn write_for(&mut self, origin: Span, text: &str) {
        self.made.write_for(origin, text);
        self.last = None;
    }

    fn begin_line(&mut self) {
        if let Some(model) = self.headline.take() {
            self.write_for(model, "equation\n");
        }
        let indent = "  ".repeat(self.indent);
        self.write(&indent);
    }

    fn end_line(&mut self) {
        self.write(";");
        for comment in std::mem::take(&mut self.trailing) {
            let text = comment_text(comment.text);
            self.write_for(comment.span, &format!(" {text}"));
        }
        self.write("\n");
    }

    fn ident(&mut self, ident: Ident) {
        let text = ident.name.as_str();
        match modelica_name(text) {
            quoted if quoted == text && self.text_of(ident.span) == text => self.made.copy(ident.span, text),
            quoted => self.made.write_for(ident.span, &quoted),
        }
        self.last = Some(ident.span.end);
    }

    fn text_of(&self, span: Span) -> &'a str {
        if span.file != self.source.whole.file {
            return "";
        }
        self.source.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    fn comments_between(&mut self, start: u32, end: u32) {
        let comments = self.source.comments;
        for comment in comments.iter().filter(|comment| start <= comment.span.start && comment.span.end <= end) {
            self.begin_line();
            let text = comment_text(comment.text);
            self.write_for(comment.span, &text);
            self.write("\n");
        }
    }

    /// A class begins after an empty line.
    fn begin_class(&mut self) {
        if !self.made.text().is_empty() {
            self.write("\n");
        }
    }

    /// Where the comments end that speak about the whole file: an empty line follows them.
    fn end_of_headline(&self) -> u32 {
        let Some(first) = self.source.models.first() else { return self.source.whole.start };
        let before = self.source.comments.iter().filter(|comment| comment.span.end <= first.span.start);
        let ends: Vec<u32> = before.map(|comment| comment.span.end).collect();
        let is_apart = |end: u32| {
            let text = self.source.text.get(end as usize..).unwrap_or("");
            let space = &text[..text.len() - text.trim_start().len()];
            space.matches('\n').count() > 1
        };
        ends.into_iter().rev().find(|&end| is_apart(end)).unwrap_or(self.source.whole.start)
    }

    fn headline_comments(&mut self) {
        let end = self.end_of_headline();
        self.comments_between(self.source.whole.start, end);
    }

    /// The connectors of the cuts and nodes of this file.
    fn needed_connectors(&self) -> FxHashSet<String> {
        let mut cuts: Vec<CutId> = Vec::new();
        for (class, joined) in self.classes.classes.iter().zip(self.joined) {
            if class.model.span.file == self.source.whole.file {
                cuts.extend(class.cuts.values().copied().chain(joined.nodes.values().flatten().copied()));
            }
        }
        cuts.into_iter().filter_map(|cut| self.connectors.of(cut)).map(|connector| connector.name.clone()).collect()
    }

    fn connector_classes(&mut self) {
        let connectors = self.connectors;
        let needed = self.needed_connectors();
        for connector in connectors.connectors.iter().filter(|connector| needed.contains(&connector.name)) {
            let cut = &self.classes.cuts[connector.cut];
            self.begin_class();
            let start = self.made.text().len();
            self.write_for(cut.name.span, &format!("connector {}\n", modelica_name(&connector.name)));
            let slots = self.classes.slots(connector.cut);
            for ((name, kind), slot) in connector.across.iter().zip(&slots.across) {
                self.write_for(slot.span, &format!("  {} {};\n", type_name(*kind), modelica_name(name)));
            }
            for (name, slot) in connector.through.iter().zip(&slots.through) {
                self.write_for(slot.span, &format!("  flow Real {};\n", modelica_name(name)));
            }
            self.write_for(cut.name.span, &format!("end {};\n", modelica_name(&connector.name)));
            self.made.is_common(&connector.name, start);
        }
    }

    fn model(&mut self, class: ClassId) {
        self.class = class;
        let model = self.classes.classes[class].model;
        let before = self.source.models.iter().map(|other| other.span.end).filter(|&end| end <= model.span.start);
        let before = match before.max() {
            Some(end) => self.after_line_comments(end, model.span.start),
            None => self.end_of_headline(),
        };
        self.begin_class();
        self.indent = 0;
        self.comments_between(before, model.span.start);
        self.indent = 1;
        let keyword = if self.is_partial(class) { "partial model " } else { "model " };
        self.write_for(model.name.span, keyword);
        self.ident(model.name);
        self.write("\n");
        for above in &model.supers {
            self.begin_line();
            self.write_for(above.span, "extends ");
            self.class_name(above);
            self.end_line();
        }
        let mut sets = Sets::default();
        let mut statement = 0;
        for (index, item) in model.items.iter().enumerate().filter(|(_, item)| !is_equation(item)) {
            self.comments_of(model, index);
            self.declarations(item);
            self.late_comments();
        }
        self.second_derivatives(model);
        self.headline = Some(model.name.span);
        self.slot_equations(model);
        for (index, item) in model.items.iter().enumerate().filter(|(_, item)| is_equation(item)) {
            self.comments_of(model, index);
            self.equations(item, &mut sets, &mut statement);
            self.late_comments();
        }
        self.balance_through(&sets);
        let last = model.items.last().map_or(model.name.span.end, |item| item.span.end);
        let last = self.after_line_comments(last, model.span.end);
        self.comments_between(last, model.span.end);
        let behind = self.after_line_comments(model.span.end, self.source.whole.end);
        self.comments_between(model.span.end, behind);
        self.headline = None;
        self.write_for(model.name.span, "end ");
        self.ident(model.name);
        self.write(";\n");
    }

    /// Comments before an item and inside of it stand before its line; those behind it in its line stay there.
    fn comments_of(&mut self, model: &Model, index: usize) {
        let before = index.checked_sub(1).map_or(model.name.span.end, |before| model.items[before].span.end);
        let item = &model.items[index];
        let next = model.items.get(index + 1).map_or(model.span.end, |next| next.span.start);
        let before = match index {
            0 => before,
            _ => self.after_line_comments(before, item.span.start),
        };
        self.comments_between(before, item.span.end);
        let end = self.after_line_comments(item.span.end, next);
        let comments = self.source.comments;
        let behind = comments.iter().filter(|comment| item.span.end <= comment.span.start && comment.span.end <= end);
        self.trailing = behind.copied().collect();
    }

    /// Where the comments end that follow in the same line.
    fn after_line_comments(&self, start: u32, end: u32) -> u32 {
        let mut at = start;
        for comment in
            self.source.comments.iter().filter(|comment| start <= comment.span.start && comment.span.end <= end)
        {
            let between = self.source.text.get(at as usize..comment.span.start as usize).unwrap_or("\n");
            if between.contains('\n') {
                break;
            }
            at = comment.span.end;
        }
        at
    }

    /// Comments behind an item that has no line in Modelica.
    fn late_comments(&mut self) {
        for comment in std::mem::take(&mut self.trailing) {
            self.comments_between(comment.span.start, comment.span.end);
        }
    }

    fn class_name(&mut self, reference: &Reference) {
        if let [only] = reference.parts[..]
            && self.classes.is_component(self.class, only.name)
        {
            self.write(".");
        }
        self.dotted(&reference.parts);
    }

    fn dotted(&mut self, parts: &[Ident]) {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                self.write(".");
            }
            self.ident(*part);
        }
    }

    fn declarations(&mut self, item: &'a Item) {
        match &item.kind {
            ItemKind::Variables { role, variables } => self.variables(*role, variables),
            ItemKind::Submodels { class, submodels } => self.submodels(class.as_ref(), submodels),
            ItemKind::Cuts { cuts, .. } => self.cuts(cuts),
            ItemKind::Nodes(nodes) => self.nodes(nodes),
            ItemKind::Paths { .. } | ItemKind::Connect(_) | ItemKind::Equation(_) | ItemKind::When(_) => {}
        }
    }

    fn own_variable(&self, name: Name) -> Option<VariableId> {
        self.classes.classes[self.class].variables.get(&name).copied()
    }

    fn variables(&mut self, role: Role, variables: &'a [Declared]) {
        let mut declarations = Vec::new();
        for declared in variables {
            let Some(variable) = self.own_variable(declared.name.name) else { continue };
            if self.classes.variables[variable].name.span != declared.name.span {
                continue;
            }
            let value = declared.value.as_ref();
            let is_bound = matches!(role, Role::Parameter | Role::Constant | Role::Input);
            let (start, binding) = match is_bound {
                true => (None, value.map(Binding::Value)),
                false => (self.start_of(variable, value), None),
            };
            declarations.push(Declaration { variable, start, binding });
        }
        let prefix = match role {
            Role::Parameter => "parameter ",
            Role::Constant => "constant ",
            Role::Input => "input ",
            Role::Output => "output ",
            Role::Local | Role::Terminal | Role::Cut => "",
        };
        self.declare(prefix, declarations);
    }

    fn facts(&self, variable: VariableId) -> Facts {
        self.kinds.facts[variable]
    }

    /// What a variable is when time begins.
    fn start_of<'e>(&self, variable: VariableId, value: Option<&'e Expr>) -> Option<Start<'e>> {
        let facts = self.facts(variable);
        let remembers = facts.is_state() || facts.is_discrete();
        match value {
            Some(value) => Some(Start::Value { value, fixed: remembers || facts.differentiated || facts.is_rate }),
            None if remembers => Some(Start::Default),
            None => None,
        }
    }

    /// What a variable of an object of a class is when time begins: another class may differentiate what both inherit.
    fn start_in<'e>(&self, class: ClassId, variable: VariableId, value: &'e Expr) -> Start<'e> {
        let facts = self.facts(variable);
        let remembers = facts.is_state() || facts.is_discrete();
        let fixed = remembers || self.kinds.is_differentiated(self.classes, class, variable);
        Start::Value { value, fixed }
    }

    /// Variables of one type share a line.
    fn declare(&mut self, prefix: &str, declarations: Vec<Declaration<'a>>) {
        let kinds = self.kinds;
        let form = |declaration: &Declaration| {
            let kind = kinds.kinds[declaration.variable];
            let discrete = kinds.facts[declaration.variable].is_discrete()
                && kind == Kind::Real
                && matches!(prefix, "" | "output ")
                && !matches!(declaration.binding, Some(Binding::Text(..)));
            (kind, discrete)
        };
        let mut before = None;
        for declaration in declarations {
            let form = form(&declaration);
            let name = self.classes.variables[declaration.variable].name;
            if before == Some(form) {
                self.separator();
            } else {
                if before.is_some() {
                    self.end_line();
                }
                self.begin_line();
                let discrete = if form.1 { "discrete " } else { "" };
                self.write_for(name.span, &format!("{discrete}{prefix}{} ", type_name(form.0)));
            }
            before = Some(form);
            self.ident(name);
            if let Some(start) = declaration.start {
                self.start(declaration.variable, start);
            }
            match declaration.binding {
                Some(Binding::Value(value)) => {
                    self.write(" = ");
                    self.constant_expression(value);
                }
                Some(Binding::Text(origin, text)) => self.write_for(origin, &format!(" = {text}")),
                None => {}
            }
        }
        if before.is_some() {
            self.end_line();
        }
    }

    /// Between elements of a list: long lists are broken.
    fn separator(&mut self) {
        let text = self.made.text();
        let line = text.len() - text.rfind('\n').map_or(0, |at| at + 1);
        match line > 88 {
            true => {
                let indent = "  ".repeat(self.indent + 2);
                self.write(&format!(",\n{indent}"));
            }
            false => self.write(", "),
        }
    }

    fn start(&mut self, variable: VariableId, start: Start) {
        self.write("(start = ");
        match start {
            Start::Value { value, fixed } => {
                self.constant_expression(value);
                self.write(if fixed { ", fixed = true)" } else { ")" });
            }
            Start::Default => {
                let zero = if self.kinds.kinds[variable] == Kind::Boolean { "false" } else { "0" };
                self.write(&format!("{zero}, fixed = true)"));
            }
        }
    }

    fn submodels(&mut self, class: Option<&Reference>, submodels: &'a [Submodel]) {
        for (index, submodel) in submodels.iter().enumerate() {
            // Without a class each one has its own.
            if index == 0 || class.is_none() {
                self.begin_line();
                let same = Reference { parts: vec![submodel.name], span: submodel.name.span };
                self.class_name(class.unwrap_or(&same));
                self.write(" ");
            }
            self.ident(submodel.name);
            self.values(submodel);
            match class.is_some() && index + 1 < submodels.len() {
                true => self.separator(),
                false => self.end_line(),
            }
        }
    }

    fn values(&mut self, submodel: &'a Submodel) {
        let of = self.classes.submodel(self.class, submodel.name.name).flatten();
        for (index, (name, value)) in submodel.values.iter().enumerate() {
            self.write(if index == 0 { "(" } else { ", " });
            self.ident(*name);
            let variable = of.and_then(|of| Some((of, self.classes.variable(of, name.name)?)));
            let is_bound = |variable: VariableId| {
                matches!(self.classes.variables[variable].role, Role::Parameter | Role::Constant | Role::Input)
            };
            match variable.filter(|&(_, variable)| !is_bound(variable)) {
                Some((of, variable)) => self.start(variable, self.start_in(of, variable, value)),
                None => {
                    self.write(" = ");
                    self.constant_expression(value);
                }
            }
        }
        if !submodel.values.is_empty() {
            self.write(")");
        }
    }

    /// The name of a cut as a component: variables of the same name keep theirs.
    fn cut_name(&self, cut: CutId) -> String {
        let of = &self.classes.cuts[cut];
        let name = of.name.name;
        let below = (0..self.classes.classes.len()).filter(|&class| self.classes.extends(class, of.class));
        let is_taken = below.into_iter().any(|class| self.classes.is_component(class, name));
        modelica_name(&if is_taken { format!("{name}_cut") } else { name.to_string() })
    }

    fn cuts(&mut self, cuts: &'a [Cut]) {
        let own = |writer: &Self, cut: &Cut| {
            let id = writer.classes.classes[writer.class].cuts.get(&cut.name.name).copied()?;
            (writer.classes.cuts[id].name.span == cut.name.span).then_some(id)
        };
        let connectors = self.connectors;
        let mut before: Option<&Connector> = None;
        let mut declarations: Vec<Declaration<'a>> = Vec::new();
        for cut in cuts {
            let Some(id) = own(self, cut) else { continue };
            if let Some(connector) = connectors.of(id) {
                let name = self.cut_name(id);
                self.component(&mut before, connector, cut.name.span, &name);
            }
            declarations.extend(self.slot_declarations(id));
        }
        if before.is_some() {
            self.end_line();
        }
        self.declare("", declarations);
    }

    /// Components of one connector share a line.
    fn component<'c>(
        &mut self,
        before: &mut Option<&'c Connector>,
        connector: &'c Connector,
        origin: Span,
        name: &str,
    ) {
        if before.is_some_and(|before| before.name == connector.name) {
            self.write(", ");
        } else {
            if before.is_some() {
                self.end_line();
            }
            self.begin_line();
            let dot = if self.classes.is_component(self.class, Name::new(&connector.name)) { "." } else { "" };
            self.write_for(origin, &format!("{dot}{} ", modelica_name(&connector.name)));
        }
        *before = Some(connector);
        self.write_for(origin, name);
    }

    /// The pairs of a cut with the names that they have in its connector, across and through.
    fn paired(&self, cut: CutId) -> Vec<(SlotOf, String)> {
        let Some(connector) = self.connectors.of(cut) else { return Vec::new() };
        let slots = self.classes.slots(cut);
        let name = self.cut_name(cut);
        let member = |member: &str| format!("{name}.{}", modelica_name(member));
        let across = slots.across.iter().zip(&connector.across).map(|(slot, (name, _))| (*slot, member(name)));
        let through = slots.through.iter().zip(&connector.through).map(|(slot, name)| (*slot, member(name)));
        across.chain(through).collect()
    }

    fn slot_declarations(&self, cut: CutId) -> Vec<Declaration<'a>> {
        let slots = self.classes.slots(cut);
        let paired = self.paired(cut);
        let all = slots.across.iter().chain(&slots.through).filter(|slot| slot.declares);
        all.map(|slot| {
            let member = paired.iter().find(|(other, _)| other.span == slot.span);
            let sign = if slot.negative { "-" } else { "" };
            let binding = member.map(|(_, member)| Binding::Text(slot.span, format!("{sign}{member}")));
            Declaration { variable: slot.variable, start: self.start_of(slot.variable, None), binding }
        })
        .collect()
    }

    /// Variables that are in several cuts, or declared elsewhere.
    fn slot_equations(&mut self, model: &Model) {
        for item in &model.items {
            let ItemKind::Cuts { cuts, .. } = &item.kind else { continue };
            for cut in cuts {
                let Some(&id) = self.classes.classes[self.class].cuts.get(&cut.name.name) else { continue };
                if self.classes.cuts[id].name.span != cut.name.span {
                    continue;
                }
                for (slot, member) in self.paired(id).into_iter().filter(|(slot, _)| !slot.declares) {
                    let sign = if slot.negative { "-" } else { "" };
                    let variable = modelica_name(self.classes.variables[slot.variable].name.name.as_str());
                    self.begin_line();
                    self.write_for(slot.span, &format!("{member} = {sign}{variable}"));
                    self.end_line();
                }
            }
        }
    }

    /// Modelica differentiates once: the first derivative becomes a variable.
    fn second_derivatives(&mut self, model: &'a Model) {
        let mut found: Vec<&'a Reference> = Vec::new();
        let mut visit = |part: &'a Expr| {
            if let ExprKind::Derivative(inner, 2) = &part.kind
                && let ExprKind::Reference(reference) = &inner.kind
            {
                found.push(reference);
            }
        };
        for item in &model.items {
            let equations = match &item.kind {
                ItemKind::Equation(equation) => std::slice::from_ref(equation),
                ItemKind::When(when) => {
                    when.condition.walk(&mut visit);
                    &when.equations[..]
                }
                _ => &[],
            };
            for equation in equations {
                equation.left.walk(&mut visit);
                equation.right.walk(&mut visit);
            }
        }
        let mut seen = FxHashSet::default();
        for reference in found {
            let name = self.derivative_name(reference);
            if seen.insert(name.clone()) {
                self.begin_line();
                self.write_for(reference.span, &format!("Real {name} = der("));
                self.dotted(&reference.parts);
                self.write(")");
                self.end_line();
            }
        }
    }

    /// A class that others extend, that has too few equations for itself, and of which this file has no object.
    fn is_partial(&self, class: ClassId) -> bool {
        let classes = self.classes;
        let is_used = classes.classes.iter().any(|other| other.submodels.values().any(|of| *of == Some(class)));
        let is_extended = classes.classes.iter().any(|other| other.supers.contains(&class));
        if is_used || !is_extended || !classes.classes[class].model.is_class || classes.is_open(class) {
            return false;
        }
        let (mut unknowns, mut given) = (0, 0);
        for above in classes.lineage(class) {
            for &variable in classes.classes[above].variables.values() {
                match classes.variables[variable].role {
                    Role::Parameter | Role::Constant | Role::Input => {}
                    Role::Terminal => {}
                    Role::Local | Role::Output | Role::Cut => unknowns += 1,
                }
            }
            given += classes.classes[above].cuts.values().map(|&cut| classes.slots(cut).through.len()).sum::<usize>();
            for item in &classes.classes[above].model.items {
                match &item.kind {
                    ItemKind::Equation(_) => given += 1,
                    ItemKind::When(when) => given += when.equations.len(),
                    ItemKind::Submodels { .. } => return false,
                    _ => {}
                }
            }
        }
        unknowns > given
    }

    fn equations(&mut self, item: &'a Item, sets: &mut Sets, statement: &mut usize) {
        match &item.kind {
            ItemKind::Connect(_) => {
                let joined = self.joined;
                if let Some(joins) = joined[self.class].statements.get(*statement) {
                    joins.iter().for_each(|join| self.join(join, sets));
                }
                *statement += 1;
            }
            ItemKind::Equation(equation) => {
                self.begin_line();
                // An equation that begins with `if` is another thing in Modelica.
                let begins_with_if = matches!(equation.left.kind, ExprKind::If(..));
                if begins_with_if {
                    self.write_for(equation.left.span, "(");
                }
                self.expression(&equation.left);
                if begins_with_if {
                    self.write(")");
                }
                self.write_for(equation.equals, " = ");
                self.expression(&equation.right);
                self.end_line();
            }
            ItemKind::When(when) => self.when(when, item.span),
            _ => {}
        }
    }

    fn when(&mut self, when: &'a When, span: Span) {
        let known = self.instants[self.class].iter().find(|solved| std::ptr::eq(solved.when, when));
        let instants: &[Instant] = known.map_or(&[], |solved| &solved.instants);
        self.diagnostics.extend(known.iter().flat_map(|solved| solved.diagnostics(self.classes, self.class)));
        self.begin_line();
        self.write_for(span, "when ");
        self.expression(&when.condition);
        self.write(" then\n");
        self.indent += 1;
        let is_continuous = |writer: &Self, variable| writer.facts(variable).differentiated;
        let restarted = instants.iter().filter(|instant| instant.is_new && is_continuous(self, instant.variable));
        self.restarted = restarted.map(|instant| instant.variable).collect();
        self.in_when = true;
        for instant in instants {
            self.begin_line();
            let differentiated = is_continuous(self, instant.variable);
            if differentiated && !instant.is_new {
                let name = self.classes.variables[instant.variable].name.name;
                let message = format!("`{name}` has a derivative, so that it cannot be held between events");
                let hint = format!("its value after the event is `new({name})`");
                let section = "Instantaneous equations";
                self.diagnostics.push(language::error("no-new", message, instant.reference.span, "", hint, section));
            }
            match differentiated {
                true => {
                    self.write_for(instant.equation.span, "reinit(");
                    self.dotted(&instant.reference.parts);
                    self.write(", ");
                    self.expression(&instant.value);
                    self.write(")");
                }
                false => {
                    self.dotted(&instant.reference.parts);
                    self.write_for(instant.equation.equals, " = ");
                    self.expression(&instant.value);
                }
            }
            self.end_line();
        }
        self.restarted.clear();
        self.in_when = false;
        self.indent -= 1;
        self.begin_line();
        self.write_for(span, "end when");
        self.end_line();
    }
}

fn is_equation(item: &Item) -> bool {
    matches!(item.kind, ItemKind::Connect(_) | ItemKind::Equation(_) | ItemKind::When(_))
}

fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Real => "Real",
        Kind::Boolean => "Boolean",
        Kind::Integer => "Integer",
    }
}

fn comment_text(text: &str) -> String {
    match text.contains('\n') {
        true => format!("/* {} */", text.replace("*/", "* /")),
        false => format!("// {text}").trim_end().to_owned(),
    }
}
