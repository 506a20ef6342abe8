//! Conversion of texts of the user to another version of a library that they use, by the scripts of that library (specification
//! 18.8.2). Only what the rules change is written anew; the rest of the text stays byte for byte.

mod edits;
mod names;
mod references;
mod rewrite;
mod rules;
mod simplify;
mod uses;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use base::{FileId, Id as _};
use syntax::ast;

use names::World;
use rewrite::Rewrite;
pub use rules::Rules;

/// One step from a version to another: the rules, and the version that they lead to.
#[derive(Clone, Debug)]
pub struct Step {
    /// What changes.
    pub rules: Rules,
    /// The version afterwards.
    pub to: String,
}

/// A text of the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// Its file.
    pub path: PathBuf,
    /// Its content.
    pub content: String,
}

/// What a rule says about a place that it cannot convert.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Remark {
    /// The file.
    pub path: PathBuf,
    /// The line in the text before the conversion.
    pub line: usize,
    /// What it is about.
    pub message: String,
}

/// The steps that lead from a version of a library to the one of this text; `script` reads the text of an address.
pub fn steps(
    library: &ast::ClassDef,
    from: &str,
    script: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Vec<Step>, String> {
    let name = library.name.name;
    let current = lang::annotation::text(library, "version").unwrap_or_default();
    let mut version = from.to_owned();
    let mut steps: Vec<Step> = Vec::new();
    while version != *current {
        let unchanged = lang::annotation::texts(library, "conversion", "noneFromVersion");
        if unchanged.iter().any(|known| **known == *version) {
            steps.push(Step { rules: Rules::default(), to: current.to_string() });
            break;
        }
        let found = sources(library).into_iter().find(|source| source.from.contains(&version));
        let Some(source) = found.filter(|source| steps.iter().all(|step| Some(&step.to) != source.to.as_ref())) else {
            return Err(format!("`{name}` {current} has no conversion from version {version}"));
        };
        let rules = match &source.script {
            Some(address) => Rules::parse(address, &script(address)?)?,
            None if source.changes.is_empty() => {
                return Err(format!("`{name}` {current} has no rules for the conversion from version {version}"));
            }
            None => Rules::of_calls(&source.changes)?,
        };
        version = source.to.clone().unwrap_or_else(|| current.to_string());
        steps.push(Step { rules, to: version.clone() });
    }
    Ok(steps)
}

/// `from(version = …, to = …, script = …)` in the annotation `conversion`.
struct Source<'a> {
    from: Vec<String>,
    to: Option<String>,
    script: Option<String>,
    changes: Vec<&'a ast::Expr>,
}

fn sources(library: &ast::ClassDef) -> Vec<Source<'_>> {
    let Some(annotation) = &library.annotation else { return Vec::new() };
    let conversions = inner(annotation, "conversion").filter_map(|given| given.arguments.as_deref());
    let given =
        conversions.flat_map(|conversion| inner(conversion, "from")).filter_map(|given| given.arguments.as_deref());
    given
        .map(|given| {
            let texts = |name: &str| -> Vec<String> { inner(given, name).flat_map(texts_of).collect() };
            let changes =
                inner(given, "change").filter_map(|given| given.value.as_ref()).flat_map(|value| match value {
                    ast::ModificationValue::Expr(value) => match &value.kind {
                        ast::ExprKind::Array(items) => items.iter().collect(),
                        _ => vec![&**value],
                    },
                    ast::ModificationValue::Break(_) => Vec::new(),
                });
            Source {
                from: texts("version"),
                to: texts("to").into_iter().next(),
                script: texts("script").into_iter().next(),
                changes: changes.collect(),
            }
        })
        .collect()
}

/// The modifications of an element in an annotation.
fn inner<'a>(given: &'a ast::ClassModification, name: &'a str) -> impl Iterator<Item = &'a ast::Modification> {
    given.arguments.iter().filter_map(move |argument| match argument {
        ast::Argument::Element(element) if matches!(element.path.as_slice(), [only] if only.name == name) => {
            element.modification.as_deref()
        }
        _ => None,
    })
}

fn texts_of(given: &ast::Modification) -> Vec<String> {
    let text = |value: &ast::Expr| match &value.kind {
        ast::ExprKind::String(text) => Some(text.to_string()),
        _ => None,
    };
    match &given.value {
        Some(ast::ModificationValue::Expr(value)) => match &value.kind {
            ast::ExprKind::Array(items) => items.iter().filter_map(text).collect(),
            _ => text(value).into_iter().collect(),
        },
        _ => Vec::new(),
    }
}

/// Texts that cannot be read are not converted.
fn parsed(texts: &[Text]) -> Result<Vec<ast::StoredDefinition>, String> {
    let mut all = Vec::with_capacity(texts.len());
    for text in texts {
        let parse = syntax::parse(FileId::from_index(0), &text.content);
        if let Some(error) = parse.diagnostics.iter().find(|said| said.is_error()) {
            return Err(format!(
                "`{}` is not converted, since it cannot be read: {}",
                text.path.display(),
                error.message
            ));
        }
        all.push(parse.ast());
    }
    Ok(all)
}

/// The version of a library that texts say they use.
pub fn used_version(texts: &[Text], library: &str) -> Result<Option<String>, String> {
    let stored = parsed(texts)?;
    let uses = stored.iter().flat_map(|stored| &stored.classes).flat_map(|class| lang::annotation::uses(class));
    Ok(uses.into_iter().find(|(name, ..)| *name == library).map(|(_, version, _)| version.to_string()))
}

/// Applies one step to texts that belong together. `has` tells whether the new version of the library has a class.
pub fn convert(
    texts: &mut [Text],
    library: &str,
    step: &Step,
    has: &dyn Fn(&str) -> bool,
    remarks: &mut Vec<Remark>,
) -> Result<(), String> {
    let stored = parsed(texts)?;
    let known = |class: &str| step.rules.mentions(class) || has(class);
    let mut world = World { classes: BTreeMap::new(), library, has: &known, known_bases: RefCell::default() };
    stored.iter().for_each(|stored| world.add(stored));
    for (text, stored) in texts.iter_mut().zip(&stored) {
        let mut rewrite = Rewrite {
            world: &world,
            rules: &step.rules,
            text: &text.content,
            edits: edits::Edits::default(),
            locals: Vec::new(),
            messages: Vec::new(),
        };
        rewrite.stored(stored);
        for class in &stored.classes {
            new_version(class, library, &step.to, &mut rewrite.edits);
        }
        for (place, message) in std::mem::take(&mut rewrite.messages) {
            let line = text.content[..place].matches('\n').count() + 1;
            let remark = Remark { path: text.path.clone(), line, message };
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        if !rewrite.edits.is_empty() {
            let whole = rewrite.edits.applied(&text.content, 0..text.content.len());
            text.content = whole;
        }
    }
    Ok(())
}

/// The version in `annotation(uses(Library(version = "…")))`.
fn new_version(class: &Arc<ast::ClassDef>, library: &str, to: &str, edits: &mut edits::Edits) {
    let Some(annotation) = &class.annotation else { return };
    let libraries = inner(annotation, "uses").filter_map(|given| given.arguments.as_deref());
    let given =
        libraries.flat_map(|libraries| inner(libraries, library)).filter_map(|given| given.arguments.as_deref());
    for version in given.flat_map(|given| inner(given, "version")) {
        if let Some(ast::ModificationValue::Expr(value)) = &version.value {
            edits.replace(value.span.start as usize..value.span.end as usize, format!("\"{to}\""));
        }
    }
}
