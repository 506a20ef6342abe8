//! The rules for the uses of a class: `convertClassIf` and `convertModifiers`, which look at the modifiers that a use has.

use std::ops::Range;

use syntax::ast;

use super::names::Class;
use super::rewrite::{Rewrite, names_of, range};
use super::rules::ModifierRule;
use super::simplify::simplified;

/// One use of a class: where it is, and the modifiers of it.
pub struct Use<'a> {
    pub scope: &'a str,
    pub place: usize,
    pub modification: Option<&'a ast::ClassModification>,
    /// Where modifiers would begin.
    pub behind: usize,
    pub component: Option<&'a str>,
    /// Whether it has dimensions, so that a modifier with one value needs `each`.
    pub is_array: bool,
}

impl<'a> Use<'a> {
    /// One without modifiers.
    pub fn of(scope: &'a str, name: &ast::TypeName) -> Self {
        let place = range(name.span);
        Self { scope, place: place.start, modification: None, behind: place.end, component: None, is_array: false }
    }
}

/// An old modifier that a use has.
struct Given<'a> {
    position: usize,
    name: &'a str,
    value: String,
    /// Whether the value needs no parentheses as an operand.
    is_simple: bool,
    each: bool,
    is_final: bool,
}

/// What becomes of the modifiers of a use.
#[derive(Default)]
struct Change {
    /// Positions with the texts that stand there afterwards.
    replaced: Vec<(usize, Vec<String>)>,
    /// What comes behind the others.
    added: Vec<String>,
}

impl Rewrite<'_> {
    /// A name with the class that it means, its modifiers, and the rules for both.
    pub fn used(&mut self, used: &Use<'_>, name: &ast::TypeName) {
        let class = self.world.class(used.scope, name);
        if let Some(modification) = used.modification {
            self.arguments(used.scope, class.as_ref(), modification);
        }
        let mut change = Change::default();
        let renamed = class.and_then(|class| {
            let is_direct = matches!(class, Class::Library(_));
            self.rules_of(used, &class, is_direct, &mut change)
        });
        self.rebuild(used, &change);
        match renamed {
            Some(new) => self.replace_names(&name.parts, &new),
            None => self.type_name(used.scope, name),
        }
    }

    /// Modifiers of an element that is declared elsewhere, as in `extends A(a(b = 1))`.
    pub fn used_elsewhere(
        &mut self,
        scope: &str,
        class: &Class,
        element: &ast::ElementModification,
        modification: &ast::ClassModification,
    ) {
        let (place, behind) = (range(element.span).start, range(modification.span).start);
        let used = Use { scope, place, modification: Some(modification), behind, component: None, is_array: false };
        let mut change = Change::default();
        self.rules_of(&used, class, false, &mut change);
        self.rebuild(&used, &change);
    }

    /// What the rules do with the modifiers of a use, and the class that they decide. A use is direct where it names the class of
    /// the library: what it does not give has its default.
    fn rules_of(&mut self, used: &Use<'_>, class: &Class, is_direct: bool, change: &mut Change) -> Option<String> {
        let mut renamed = None;
        for base in self.world.library_bases(class) {
            let base = base.join(".");
            let decided = self.conditional(used, &base);
            let deciding = decided.as_ref().map(|(position, _)| *position);
            if let Some((position, new)) = decided {
                if is_direct {
                    change.replaced.push((position, Vec::new()));
                    renamed = Some(new);
                } else {
                    let message = format!("a modifier decides that this is a `{new}`, but it is declared elsewhere");
                    self.messages.push((used.place, message));
                }
            }
            for rule in self.rules.modifiers.get(&base).into_iter().flatten() {
                // What is added to every use is added where the class of the library is used.
                if is_direct || rule.old.iter().any(|(name, _)| !name.starts_with("cardinality(")) {
                    self.modifiers(used, rule, is_direct, deciding, change);
                }
            }
        }
        renamed
    }

    /// The class that the modifiers of a use decide.
    pub fn decided(&self, used: &Use<'_>, name: &ast::TypeName) -> Option<String> {
        match self.world.class(used.scope, name)? {
            Class::Library(path) => self.conditional(used, &path.join(".")).map(|(_, new)| new),
            Class::User(_) => None,
        }
    }

    /// `convertClassIf`: the position of the modifier that decides, and the class that is meant then.
    fn conditional(&self, used: &Use<'_>, base: &str) -> Option<(usize, String)> {
        for rule in self.rules.conditional.get(base).into_iter().flatten() {
            let modification = used.modification?;
            let decides = |argument: &ast::Argument| match argument {
                ast::Argument::Element(element) if path_of(element) == rule.element => {
                    value_of(element).is_some_and(|value| {
                        let text = &self.text[range(value.span)];
                        // Of an enumeration only the literal matters.
                        let literal = matches!(value.kind, ast::ExprKind::Ref(_));
                        text == rule.value || literal && text.rsplit('.').next() == rule.value.rsplit('.').next()
                    })
                }
                _ => false,
            };
            let Some(position) = modification.arguments.iter().position(decides) else { continue };
            return Some((position, rule.class.clone()));
        }
        None
    }

    /// `convertModifiers`. The modifier that decides about the class is used up by that.
    fn modifiers(
        &mut self,
        used: &Use<'_>,
        rule: &ModifierRule,
        is_direct: bool,
        deciding: Option<usize>,
        change: &mut Change,
    ) {
        for (name, expected) in &rule.old {
            let Some(connector) = name.strip_prefix("cardinality(").and_then(|rest| rest.strip_suffix(')')) else {
                continue;
            };
            let Some(component) = used.component else { return };
            let is_connected = self.is_connected(used.scope, component, connector.trim());
            if is_connected != (expected.as_deref() == Some("1")) {
                return;
            }
        }
        let given = used.modification.map(|given| given.arguments.as_slice()).unwrap_or_default();
        let old: Vec<&(String, Option<String>)> =
            rule.old.iter().filter(|(name, _)| !name.starts_with("cardinality(")).collect();
        let mut found: Vec<Given<'_>> = Vec::new();
        for (position, argument) in given.iter().enumerate() {
            let ast::Argument::Element(element) = argument else { continue };
            let path = path_of(element);
            let Some((name, _)) = old.iter().find(|(name, _)| *name == path) else { continue };
            let Some(value) = value_of(element) else { continue };
            if element.modification.as_ref().is_some_and(|given| given.arguments.is_some()) {
                let message = format!("`{name}` is not converted, since it has modifiers of its own");
                return self.messages.push((range(element.span).start, message));
            }
            found.push(Given {
                position,
                name,
                value: self.edits.applied(self.text, range(value.span)),
                is_simple: is_simple(value),
                each: element.each,
                is_final: element.is_final,
            });
        }
        if let Some(used_up) = found.iter().find(|given| Some(given.position) == deciding) {
            if let Some(other) = found.iter().find(|given| Some(given.position) != deciding) {
                let message =
                    format!("`{}` is not converted, since `{}` decides about the class", other.name, used_up.name);
                self.messages.push((used.place, message));
            }
            return;
        }
        if found.is_empty() && !old.is_empty() {
            return;
        }
        let is_given = |name: &str| {
            given.iter().any(|argument| match argument {
                ast::Argument::Element(element) => {
                    path_of(element) == name && !old.iter().any(|(known, _)| known == name)
                }
                _ => false,
            })
        };
        let mut new = Vec::new();
        for (name, template) in rule.new.iter().filter(|(name, _)| !is_given(name)) {
            let needed: Vec<&&(String, Option<String>)> =
                old.iter().filter(|(old, _)| template.contains(&format!("%{old}%"))).collect();
            let values: Vec<&Given<'_>> =
                found.iter().filter(|given| needed.iter().any(|(old, _)| old == given.name)).collect();
            // What is declared elsewhere has its value there.
            if !is_direct && values.is_empty() && !needed.is_empty() {
                continue;
            }
            let mut value = template.clone();
            for (old, default) in needed {
                let hole = format!("%{old}%");
                let known = values.iter().find(|given| given.name == old).map(|given| (&given.value, given.is_simple));
                let known = known.or_else(|| default.as_ref().filter(|_| is_direct).map(|text| (text, false)));
                let Some((text, is_simple)) = known else {
                    let message = format!("`{old}` has no value from which `{name}` could be converted");
                    let message = if is_direct { message } else { message + ", since it is declared elsewhere" };
                    return self.messages.push((used.place, message));
                };
                let is_operand = !is_simple && value.trim() != hole && !is_word(text);
                value = value.replace(&hole, &if is_operand { format!("({text})") } else { text.clone() });
            }
            if rule.simplify {
                value = simplified(&value);
            }
            let each = match values.as_slice() {
                [] => used.is_array || found.iter().any(|given| given.each),
                values => values.iter().all(|given| given.each),
            };
            let is_final = found.iter().any(|given| given.is_final);
            let prefixes = format!("{}{}", if each { "each " } else { "" }, if is_final { "final " } else { "" });
            new.push(format!("{prefixes}{name} = {value}"));
        }
        let mut new = Some(new);
        for given in found {
            change.replaced.push((given.position, new.take().unwrap_or_default()));
        }
        change.added.extend(new.into_iter().flatten());
    }

    /// Writes the modifiers of a use anew.
    fn rebuild(&mut self, used: &Use<'_>, change: &Change) {
        if change.replaced.is_empty() && change.added.is_empty() {
            return;
        }
        let added = change.added.join(", ");
        let Some(modification) = used.modification else {
            return self.edits.replace(used.behind..used.behind, format!("({added})"));
        };
        let whole = range(modification.span);
        let places: Vec<Range<usize>> = modification.arguments.iter().map(place_of).collect();
        let (Some(first), Some(last)) = (places.first(), places.last()) else {
            return self.edits.replace(whole, format!("({added})"));
        };
        let mut made = self.text[whole.start..first.start].to_owned();
        let mut count = 0;
        for (position, place) in places.iter().enumerate() {
            let new: Option<Vec<&str>> = change.replaced.iter().any(|(at, _)| *at == position).then(|| {
                let texts = change.replaced.iter().filter(|(at, _)| *at == position).flat_map(|(_, texts)| texts);
                texts.map(String::as_str).collect()
            });
            let text = match new {
                Some(new) if new.is_empty() => continue,
                Some(new) => new.join(", "),
                None => self.edits.applied(self.text, place.clone()),
            };
            if position > 0 {
                // What stands before a redeclaration belongs to it.
                let between = &self.text[places[position - 1].end..place.start];
                made.push_str(if count > 0 {
                    between
                } else {
                    between.trim_start_matches([',', ' ', '\n', '\r', '\t'])
                });
            }
            made.push_str(&text);
            count += 1;
        }
        if !added.is_empty() {
            made.push_str(if count > 0 { ", " } else { "" });
            made.push_str(&added);
            count += 1;
        }
        made.push_str(&self.text[last.end..whole.end]);
        self.edits.replace(whole, if count == 0 { String::new() } else { made });
    }

    /// Whether a class connects something to a connector of one of its components.
    fn is_connected(&self, class: &str, component: &str, connector: &str) -> bool {
        let wanted = format!("{component}.{connector}");
        let Some(known) = self.world.classes.get(class) else { return false };
        let ast::ClassBody::Long(composition) = &known.definition.body else { return false };
        let mut open: Vec<&ast::Equation> =
            composition.equations.iter().flat_map(|section| &section.equations).collect();
        while let Some(equation) = open.pop() {
            match &equation.kind {
                ast::EquationKind::Connect(a, b) => {
                    let text = |name: &ast::ComponentRef| -> String {
                        let names: Vec<&str> = name.parts.iter().map(|part| part.ident.name.as_str()).collect();
                        names.join(".")
                    };
                    if [a, b]
                        .into_iter()
                        .map(text)
                        .any(|name| name == wanted || name.starts_with(&format!("{wanted}.")))
                    {
                        return true;
                    }
                }
                ast::EquationKind::If { branches, otherwise } => {
                    open.extend(branches.iter().flat_map(|(_, inner)| inner).chain(otherwise));
                }
                ast::EquationKind::For { body, .. } => open.extend(body),
                _ => {}
            }
        }
        false
    }
}

fn path_of(element: &ast::ElementModification) -> String {
    names_of(&element.path).join(".")
}

fn value_of(element: &ast::ElementModification) -> Option<&ast::Expr> {
    match element.modification.as_ref()?.value.as_ref()? {
        ast::ModificationValue::Expr(value) => Some(value),
        ast::ModificationValue::Break(_) => None,
    }
}

/// Whether a value needs no parentheses as an operand.
fn is_simple(value: &ast::Expr) -> bool {
    matches!(
        value.kind,
        ast::ExprKind::Real(_)
            | ast::ExprKind::Integer(_)
            | ast::ExprKind::String(_)
            | ast::ExprKind::Boolean(_)
            | ast::ExprKind::Ref(_)
            | ast::ExprKind::Call { .. }
            | ast::ExprKind::Array(_)
    )
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}

/// Where an argument stands.
fn place_of(argument: &ast::Argument) -> Range<usize> {
    match argument {
        ast::Argument::Element(element) => range(element.span),
        ast::Argument::RedeclareClass { class, .. } => range(class.span),
        ast::Argument::RedeclareComponent { component, .. } => range(component.span),
        ast::Argument::BreakElement(name) => range(name.span),
        ast::Argument::BreakConnect(.., span) => range(*span),
    }
}
