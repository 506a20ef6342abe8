//! The rules for the uses of a class: `convertClassIf` and `convertModifiers`, which look at the modifiers that a use has.

use std::ops::Range;

use syntax::ast;

use super::names::Class;
use super::rewrite::{Rewrite, names_of, range};
use super::rules::ModifierRule;

/// One use of a class: where its name is, and the modifiers of it.
pub struct Use<'a> {
    pub scope: &'a str,
    pub name: &'a ast::TypeName,
    pub modification: Option<&'a ast::ClassModification>,
    /// Where modifiers would begin.
    pub behind: usize,
    pub component: Option<&'a str>,
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
    pub fn used(&mut self, used: &Use<'_>) {
        let class = self.world.class(used.scope, used.name);
        if let Some(modification) = used.modification {
            self.arguments(used.scope, class.as_ref(), modification);
        }
        let bases = class.as_ref().map(|class| self.world.library_bases(class)).unwrap_or_default();
        let is_direct = matches!(class, Some(Class::Library(_)));
        let (mut renamed, mut change) = (None, Change::default());
        for base in bases {
            let base = base.join(".");
            if is_direct {
                renamed = self.conditional(used, &base, &mut change);
            }
            for rule in self.rules.modifiers.get(&base).into_iter().flatten() {
                // What is added to every use is added where the class of the library is used.
                if is_direct || rule.old.iter().any(|(name, _)| !name.starts_with("cardinality(")) {
                    self.modifiers(used, rule, &mut change);
                }
            }
        }
        self.rebuild(used, &change);
        match renamed {
            Some(new) => self.replace_names(&used.name.parts, &new),
            None => self.type_name(used.scope, used.name),
        }
    }

    /// `convertClassIf`: the class that a modifier decides.
    fn conditional(&self, used: &Use<'_>, base: &str, change: &mut Change) -> Option<String> {
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
            change.replaced.push((position, Vec::new()));
            return Some(rule.class.clone());
        }
        None
    }

    /// `convertModifiers`.
    fn modifiers(&mut self, used: &Use<'_>, rule: &ModifierRule, change: &mut Change) {
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
        let mut found: Vec<(usize, &str, String, bool)> = Vec::new();
        for (position, argument) in given.iter().enumerate() {
            let ast::Argument::Element(element) = argument else { continue };
            let path = path_of(element);
            if let Some((name, _)) = old.iter().find(|(name, _)| *name == path) {
                let Some(value) = value_of(element) else { continue };
                let text = self.edits.applied(self.text, range(value.span));
                found.push((position, name, text, is_simple(value)));
            }
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
            let mut value = template.clone();
            for (old, default) in &old {
                let hole = format!("%{old}%");
                let known =
                    found.iter().find(|(_, name, ..)| name == old).map(|(.., text, simple)| (text.clone(), *simple));
                let known = known.or_else(|| default.clone().map(|text| (text, false)));
                if !value.contains(&hole) {
                    continue;
                }
                let Some((text, simple)) = known else {
                    let place = range(used.name.span).start;
                    self.messages.push((place, format!("`{old}` has no value from which `{name}` could be converted")));
                    return;
                };
                let text = if simple || value.trim() == hole || is_word(&text) { text } else { format!("({text})") };
                value = value.replace(&hole, &text);
            }
            new.push(format!("{name} = {value}"));
        }
        let mut new = Some(new);
        for (position, ..) in found {
            change.replaced.push((position, new.take().unwrap_or_default()));
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
