//! The rules of conversion scripts (specification 18.8.2.1): calls of `convertClass`, `convertClassIf`, `convertElement`,
//! `convertModifiers` and `convertMessage`, read as Modelica text.

use std::collections::BTreeMap;

use base::{FileId, Id as _};
use syntax::ast;

/// `convertModifiers`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModifierRule {
    /// Old modifiers with their defaults.
    pub old: Vec<(String, Option<String>)>,
    /// New modifiers with their values, in which `%old%` stands for the old value.
    pub new: Vec<(String, String)>,
    /// Whether the new values are to be simplified.
    pub simplify: bool,
}

/// `convertClassIf`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConditionalRule {
    /// The modifier that decides.
    pub element: String,
    /// Its value.
    pub value: String,
    /// The class that is meant then.
    pub class: String,
}

/// The rules of one script. Classes have their old names.
#[derive(Clone, Default, Debug)]
pub struct Rules {
    classes: BTreeMap<String, String>,
    pub(crate) conditional: BTreeMap<String, Vec<ConditionalRule>>,
    elements: BTreeMap<String, BTreeMap<String, String>>,
    pub(crate) modifiers: BTreeMap<String, Vec<ModifierRule>>,
    messages: BTreeMap<String, Vec<(Option<String>, String)>>,
}

impl Rules {
    /// Reads a script; `shown` is its name in messages.
    pub fn parse(shown: &str, script: &str) -> Result<Self, String> {
        // Calls need not end with a semicolon, and may end with several.
        let calls = calls(script).or_else(|| calls(&with_semicolons(script)));
        let calls = calls.ok_or_else(|| format!("the conversion script `{shown}` cannot be read"))?;
        let mut rules = Self::default();
        for (function, arguments) in calls {
            rules.add(&function, &arguments).map_err(|reason| format!("`{shown}`: `{function}` {reason}"))?;
        }
        Ok(rules)
    }

    /// The rules of calls in an annotation `change(…)`.
    pub fn of_calls(calls: &[&ast::Expr]) -> Result<Self, String> {
        let mut rules = Self::default();
        for call in calls {
            if let Some((function, arguments)) = call_of(call) {
                rules.add(&function, &arguments).map_err(|reason| format!("`{function}` {reason}"))?;
            }
        }
        Ok(rules)
    }

    fn add(&mut self, function: &str, arguments: &[Texts]) -> Result<(), String> {
        let most = arguments.iter().map(Texts::count).max().unwrap_or(1);
        let missing = || "has too few arguments".to_owned();
        match function {
            "convertClass" | "convertElement" | "convertClassIf" | "convertMessage" => {
                for position in 0..most {
                    let text = |at: usize| arguments.get(at).and_then(|given| given.at(position)).ok_or_else(missing);
                    match function {
                        "convertClass" => self.add_class(text(0)?, text(1)?)?,
                        "convertElement" => self.add_element(text(0)?, text(1)?, text(2)?)?,
                        "convertClassIf" => {
                            let rule = ConditionalRule { element: text(1)?, value: text(2)?, class: text(3)? };
                            self.conditional.entry(text(0)?).or_default().push(rule);
                        }
                        _ => {
                            let message = (text(2).ok(), text(1)?);
                            self.messages.entry(text(0)?).or_default().push(message);
                        }
                    }
                }
            }
            "convertModifiers" => {
                let [classes, old, new, ..] = arguments else { return Err(missing()) };
                let split = |text: &String| match text.split_once('=') {
                    // `cardinality(a)=0` too.
                    Some((name, value)) => (name.trim().to_owned(), Some(value.trim().to_owned())),
                    None => (text.trim().to_owned(), None),
                };
                let rule = ModifierRule {
                    old: old.list().iter().map(split).collect(),
                    new: new.list().iter().map(split).map(|(name, value)| (name, value.unwrap_or_default())).collect(),
                    simplify: matches!(arguments.get(3), Some(Texts::One(truth)) if truth == "true"),
                };
                for class in classes.list() {
                    self.modifiers.entry(class).or_default().push(rule.clone());
                }
            }
            // Scripts may begin with it; nothing is kept between them.
            "convertClear" => {}
            _ => return Err("is no rule of conversion".to_owned()),
        }
        Ok(())
    }

    fn add_class(&mut self, old: String, new: String) -> Result<(), String> {
        match self.classes.insert(old.clone(), new.clone()) {
            Some(other) if other != new => Err(format!("makes `{old}` both `{other}` and `{new}`")),
            _ => Ok(()),
        }
    }

    fn add_element(&mut self, class: String, old: String, new: String) -> Result<(), String> {
        if new.is_empty() {
            // A form that is not valid any more: the modifier goes.
            let rule = ModifierRule { old: vec![(old, None)], new: Vec::new(), simplify: false };
            self.modifiers.entry(class).or_default().push(rule);
            return Ok(());
        }
        match self.elements.entry(class.clone()).or_default().insert(old.clone(), new.clone()) {
            Some(other) if other != new => Err(format!("makes `{class}.{old}` both `{other}` and `{new}`")),
            _ => Ok(()),
        }
    }

    /// The new name of a full class name, or of an element in a class: the longest path that has a rule counts.
    pub fn path(&self, old: &[String]) -> Vec<String> {
        for length in (1..=old.len()).rev() {
            let (begin, rest) = old.split_at(length);
            let begin = begin.join(".");
            let new_begin = self.classes.get(&begin);
            let element = self.element(&begin, rest);
            if new_begin.is_none() && element.is_none() {
                continue;
            }
            let mut new = match new_begin {
                Some(class) => parts(class),
                None => self.path(&old[..length]),
            };
            match element {
                Some((taken, name)) => {
                    new.extend(parts(&name));
                    new.extend_from_slice(&rest[taken..]);
                }
                None => new.extend_from_slice(rest),
            }
            return new;
        }
        old.to_vec()
    }

    /// The new name of an element that a path in a class begins with, and how many parts of the path it replaces.
    pub fn element(&self, class: &str, path: &[String]) -> Option<(usize, String)> {
        let rules = self.elements.get(class)?;
        (1..=path.len()).rev().find_map(|length| Some((length, rules.get(&path[..length].join("."))?.clone())))
    }

    /// Why a class or an element of it cannot be converted.
    pub fn message(&self, class: &str, element: Option<&str>) -> Option<&str> {
        if element.is_none() && self.classes.contains_key(class) {
            return None;
        }
        let known = self.messages.get(class)?;
        known.iter().find(|(of, _)| of.as_deref() == element).map(|(_, message)| message.as_str())
    }

    /// Whether a rule is about a class or something in it.
    pub fn mentions(&self, path: &str) -> bool {
        let about =
            |class: &String| class == path || class.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        let names = self.classes.keys().chain(self.elements.keys()).chain(self.modifiers.keys());
        names.chain(self.messages.keys()).chain(self.conditional.keys()).any(about)
    }
}

/// The parts of a dotted name.
pub fn parts(name: &str) -> Vec<String> {
    lang::name_parts(name).into_iter().map(str::to_owned).collect()
}

/// An argument: a text or a list of texts.
enum Texts {
    One(String),
    Several(Vec<String>),
}

impl Texts {
    fn count(&self) -> usize {
        match self {
            Texts::One(_) => 1,
            Texts::Several(texts) => texts.len(),
        }
    }

    /// A text stands for all positions.
    fn at(&self, position: usize) -> Option<String> {
        match self {
            Texts::One(text) => Some(text.clone()),
            Texts::Several(texts) => texts.get(position).cloned(),
        }
    }

    fn list(&self) -> Vec<String> {
        match self {
            Texts::One(text) => vec![text.clone()],
            Texts::Several(texts) => texts.clone(),
        }
    }
}

/// The calls of a script with their arguments.
fn calls(script: &str) -> Option<Vec<(String, Vec<Texts>)>> {
    let text = format!("function script\nalgorithm\n{script}\nend script;");
    let parse = syntax::parse(FileId::from_index(0), &text);
    if parse.has_errors() {
        return None;
    }
    let stored = parse.ast();
    let ast::ClassBody::Long(composition) = &stored.classes.first()?.body else { return None };
    let statements = composition.algorithms.iter().flat_map(|section| &section.statements);
    let calls = statements.filter_map(|statement| match &statement.kind {
        ast::StatementKind::Call(call) => call_of(call),
        _ => None,
    });
    Some(calls.collect())
}

/// One semicolon behind each call, whose end is a parenthesis that closes the outermost one.
fn with_semicolons(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let (mut depth, mut in_text, mut escaped, mut comment) = (0i32, false, false, false);
    let mut waiting = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if comment {
            comment = character != '\n';
            made.push(character);
            continue;
        }
        if !in_text && character == '/' && characters.peek() == Some(&'/') {
            comment = true;
        }
        if in_text {
            in_text = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else {
            match character {
                '"' => in_text = true,
                '(' => depth += 1,
                ')' => depth -= 1,
                ';' if depth == 0 && !waiting => continue,
                _ => {}
            }
            if waiting && !character.is_whitespace() && !comment {
                if character != ';' {
                    made.push(';');
                }
                waiting = false;
            }
            waiting |= character == ')' && depth == 0;
        }
        made.push(character);
    }
    made.push_str(if waiting { ";" } else { "" });
    made
}

fn call_of(call: &ast::Expr) -> Option<(String, Vec<Texts>)> {
    let ast::ExprKind::Call { function, arguments } = &call.kind else { return None };
    let name = function.parts.last()?.ident.name.as_str().to_owned();
    let given = arguments.positional.iter().filter_map(|argument| match argument {
        ast::FunctionArgument::Expr(value) => texts_of(value),
        ast::FunctionArgument::PartialApplication { .. } => None,
    });
    let mut given: Vec<Texts> = given.collect();
    let simplify = arguments.named.iter().find(|(name, _)| name.name == "simplify");
    if let Some((_, ast::FunctionArgument::Expr(value))) = simplify {
        given.extend(texts_of(value));
    }
    Some((name, given))
}

fn texts_of(value: &ast::Expr) -> Option<Texts> {
    let text = |value: &ast::Expr| match &value.kind {
        ast::ExprKind::String(text) => Some(text.to_string()),
        _ => None,
    };
    match &value.kind {
        ast::ExprKind::String(text) => Some(Texts::One(text.to_string())),
        ast::ExprKind::Boolean(truth) => Some(Texts::One(truth.to_string())),
        ast::ExprKind::Array(items) => Some(Texts::Several(items.iter().filter_map(text).collect())),
        // `fill("", 0)`.
        ast::ExprKind::Call { .. } => Some(Texts::Several(Vec::new())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(rules: &Rules, old: &str) -> String {
        rules.path(&parts(old)).join(".")
    }

    #[test]
    fn longer_paths_count_first() {
        let script = "// A comment.\nconvertClass(\"Lib.A\", \"Lib.C\");\nconvertClass({\"Lib.A.B\", \"Lib.X\"}, {\"Lib.D\", \"Lib.Y\"})\n\
            convertElement(\"Lib.P\", \"old\", \"new\");convertElement(\"Lib.A.T\", \"s\", \"t\");;";
        let rules = Rules::parse("s.mos", script).unwrap();
        assert_eq!(path(&rules, "Lib.A.F"), "Lib.C.F");
        assert_eq!(path(&rules, "Lib.A.B.E"), "Lib.D.E");
        assert_eq!(path(&rules, "Lib.X"), "Lib.Y");
        assert_eq!(path(&rules, "Lib.P.old"), "Lib.P.new");
        // The element has its rule under the old name of the class.
        assert_eq!(path(&rules, "Lib.A.T.s"), "Lib.C.T.t");
        assert_eq!(path(&rules, "Lib.AB"), "Lib.AB");
        assert!(rules.mentions("Lib.A"));
        assert!(!rules.mentions("Lib.Q"));
    }

    #[test]
    fn ambiguous_and_unknown_rules_are_errors() {
        let twice = "convertClass(\"A.B\", \"A.C\"); convertClass(\"A.B\", \"A.D\");";
        assert!(Rules::parse("s.mos", twice).unwrap_err().contains("both `A.C` and `A.D`"));
        assert!(Rules::parse("s.mos", "convertAll(\"A\");").unwrap_err().contains("no rule"));
    }
}
