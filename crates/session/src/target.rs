//! Which class is meant: a file, a package folder, or the name of a class in the libraries.

use std::path::{Component, Path, PathBuf};

use base::{Diagnostic, Name};
use lang::{DefId, Libraries, name_parts};
use syntax::ast::ClassKind;

/// A class to work on, by its full name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The full name of the class.
    pub class: String,
    /// All classes at the top of the file that the call names; empty where it names a class.
    pub in_file: Vec<String>,
}

/// Which class of a file is meant where the call names none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The last one that can be simulated, at the top or else inside of packages.
    Model,
    /// As before, or else the last one at the top; that one as well where something is wrong with the text.
    ModelFirst,
    /// The last one at the top that can be simulated, or else the last one at the top.
    Whole,
}

/// Why there is nothing to work on.
#[derive(Clone, PartialEq, Debug)]
pub enum TargetError {
    /// The call names something that does not exist or that the program cannot read.
    Call(String),
    /// The text has no such class, or none that can be simulated.
    Model(Box<Diagnostic>),
}

impl Target {
    /// Loads what the call names and picks the class: `model` if given, else as `choice` says.
    pub fn find(
        libraries: &mut Libraries,
        target: &str,
        model: Option<&str>,
        choice: Choice,
    ) -> Result<Self, TargetError> {
        let path = Path::new(target);
        if libraries.exists(path) {
            let is_text = path.extension().is_some_and(|ending| libraries.endings().any(|known| ending == known));
            if !is_text && !libraries.exists(&path.join("package.mo")) {
                let endings: Vec<String> = libraries.endings().map(|ending| format!("`.{ending}`")).collect();
                let endings = endings.join(" or ");
                let message =
                    format!("`{target}` is neither a file that ends in {endings} nor a folder with `package.mo`");
                return Err(TargetError::Call(message));
            }
            if let Some((package, class)) = package_of(libraries, path) {
                libraries.add_file(&package);
                let said = libraries.diagnostics.len();
                if lookup(libraries, &class).is_some() {
                    return Self::among(libraries, &[Name::new(&class)], target, model, choice);
                }
                // A file that only lies there speaks for itself.
                libraries.diagnostics.truncate(said);
            }
            let names = libraries.add_file(path);
            return Self::among(libraries, &names, target, model, choice);
        }
        if !is_class_name(target) {
            return Err(TargetError::Call(format!("there is no file `{target}`")));
        }
        let name = Name::new(name_parts(target)[0]);
        if libraries.class(Libraries::ROOT, name).is_none() && target.ends_with(".mo") {
            return Err(TargetError::Call(format!("there is no file `{target}`")));
        }
        let class = match model {
            Some(model) => format!("{target}.{model}"),
            None => target.to_owned(),
        };
        Ok(Self { class, in_file: Vec::new() })
    }

    /// Picks from the top-level classes of a file.
    fn among(
        libraries: &mut Libraries,
        names: &[Name],
        file: &str,
        model: Option<&str>,
        choice: Choice,
    ) -> Result<Self, TargetError> {
        if let Some(model) = model {
            let inside = names.iter().map(|name| format!("{name}.{model}"));
            let mut candidates = std::iter::once(model.to_owned()).chain(inside);
            return match candidates.find(|candidate| lookup(libraries, candidate).is_some()) {
                Some(class) => Ok(Self { class, in_file: Vec::new() }),
                None => Err(TargetError::Model(Box::new(unknown_model(libraries, names, file, model)))),
            };
        }
        let top: Vec<DefId> = names.iter().rev().filter_map(|name| lookup(libraries, name.as_str())).collect();
        let direct = top.iter().copied().find(|&class| can_be_simulated(libraries, class));
        // What is wrong with the text concerns all of its classes.
        let is_misspelled = libraries.diagnostics.iter().any(Diagnostic::is_error);
        let goes_inside = match choice {
            Choice::Model => true,
            Choice::ModelFirst => !is_misspelled,
            Choice::Whole => false,
        };
        let inside = |libraries: &mut Libraries| top.iter().find_map(|&package| last_inside(libraries, package));
        let mut class = direct.or_else(|| goes_inside.then(|| inside(libraries)).flatten());
        if choice != Choice::Model {
            class = class.or(top.first().copied());
        }
        let in_file = top.iter().rev().map(|&class| libraries.get(class).name.to_string()).collect();
        match class {
            Some(class) => Ok(Self { class: libraries.get(class).name.to_string(), in_file }),
            // Errors of the text come first: they may be the reason.
            None if libraries.diagnostics.iter().any(Diagnostic::is_error) => {
                Ok(Self { class: file.to_owned(), in_file })
            }
            None => Err(TargetError::Model(Box::new(
                Diagnostic::error("no-model", format!("there is no model in `{file}` that can be simulated"))
                    .hint("a model begins with `model NAME` and is not `partial`; or name a class of the file"),
            ))),
        }
    }
}

/// `Modelica.Blocks.Examples.PID_Controller`, also with quoted names: `Tests.'a + b'`.
fn is_class_name(text: &str) -> bool {
    let identifier = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    let quoted = |part: &str| part.len() > 2 && part.starts_with('\'') && part.ends_with('\'');
    name_parts(text).into_iter().all(|part| identifier(part) || quoted(part))
}

/// The outermost package in whose folder a file is, and the class that the file holds there by its name. The folder of a
/// package stands for its `package.mo`.
fn package_of(libraries: &Libraries, path: &Path) -> Option<(PathBuf, String)> {
    let is_package = |folder: &Path| libraries.exists(&folder.join("package.mo"));
    let mut path = match path.components().any(|part| part == Component::ParentDir) {
        true => dae::access::resolve(path).ok()?,
        false => path.to_owned(),
    };
    if is_package(&path) {
        path.push("package.mo");
    }
    if path.extension().is_none() || !is_package(path.parent()?) {
        return None;
    }
    // The names of folders above a relative path are known from the absolute one.
    if path.ancestors().skip(1).last().is_some_and(is_package) {
        path = std::path::absolute(&path).ok()?;
    }
    let top = path.ancestors().skip(1).take_while(|folder| is_package(folder)).last()?.to_owned();
    let mut parts = vec![lang::class_of_folder(top.file_name()?.to_str()?).to_owned()];
    let inside = path.strip_prefix(&top).ok()?.with_extension("");
    parts.extend(inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned()));
    if parts.last().is_some_and(|last| last == "package") {
        parts.pop();
    }
    Some((top, parts.join(".")))
}

pub(crate) fn lookup(libraries: &mut Libraries, name: &str) -> Option<DefId> {
    name_parts(name).into_iter().try_fold(Libraries::ROOT, |parent, part| libraries.class(parent, Name::new(part)))
}

pub(crate) fn can_be_simulated(libraries: &Libraries, class: DefId) -> bool {
    let class = &libraries.get(class).class;
    matches!(class.kind, ClassKind::Model | ClassKind::Block | ClassKind::Class) && !class.partial
}

/// The last class inside a package, at any depth, that can be simulated; nearer ones first.
fn last_inside(libraries: &mut Libraries, package: DefId) -> Option<DefId> {
    let mut level = vec![package];
    while !level.is_empty() {
        let mut next = Vec::new();
        for package in level {
            for name in libraries.get(package).class_names.clone().into_iter().rev() {
                let Some(class) = libraries.class(package, name) else { continue };
                if can_be_simulated(libraries, class) {
                    return Some(class);
                }
                if libraries.get(class).class.kind == ClassKind::Package {
                    next.push(class);
                }
            }
        }
        level = next;
    }
    None
}

fn unknown_model(libraries: &mut Libraries, names: &[Name], file: &str, model: &str) -> Diagnostic {
    let mut known: Vec<String> = Vec::new();
    for name in names {
        known.push(name.to_string());
        if let Some(class) = lookup(libraries, name.as_str()) {
            known.extend(libraries.get(class).class_names.iter().map(|inner| format!("{name}.{inner}")));
        }
    }
    let message = format!("there is no class `{model}` in `{file}`");
    match known.is_empty() {
        true => Diagnostic::error("unknown-class", message),
        false => Diagnostic::error("unknown-class", message).hint(format!("the file has {}", known.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::is_class_name;

    #[test]
    fn names_of_classes() {
        assert!(is_class_name("Modelica.Blocks.Examples.PID_Controller"));
        assert!(is_class_name("Tests.'a + b\\n'"));
        assert!(is_class_name("Tests.'a.b'"));
        assert!(!is_class_name("folder/circuit.txt"));
        assert!(!is_class_name("a..b"));
        assert!(!is_class_name("''"));
    }
}
