//! Where the code of an external function is: the annotations `Include`, `IncludeDirectory`, `LibraryDirectory` and
//! `SourceDirectory` of its external clause (specification 12.9.4), with their addresses resolved.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dae::function::ExternalSource;
use syntax::ast;

use crate::instance::ClassId;
use crate::library::Libraries;
use crate::typing::Typer;

impl Typer<'_> {
    /// What the clause in the text of `part` says.
    pub(crate) fn external_source(&mut self, text: &ast::External, part: ClassId) -> ExternalSource {
        let home = self.home(part);
        let mut folders = |name: &str, defaults: &[&str]| -> Vec<PathBuf> {
            let given = self.annotation_texts(text, name);
            let libraries = &mut self.elaborator.instances.libraries;
            match given.is_empty() {
                true => defaults.iter().map(|folder| home.folder.join(folder)).collect(),
                false => given.iter().filter_map(|address| located(libraries, &home.folder, address)).collect(),
            }
        };
        // The specification has `Source`; `C-Sources` is what libraries have.
        let source_directories = folders("SourceDirectory", &["Resources/Source", "Resources/C-Sources"]);
        let library_directories = folders("LibraryDirectory", &["Resources/Library"]);
        let mut include_directories = folders("IncludeDirectory", &["Resources/Include"]);
        // A model in a single file has its headers beside it.
        if home.is_file {
            include_directories.push(home.folder);
        }
        ExternalSource {
            package: home.package,
            includes: self.annotation_texts(text, "Include"),
            include_directories,
            library_directories,
            source_directories,
        }
    }

    /// The top-level class around a class and the folder in which its resources are.
    fn home(&self, class: ClassId) -> Home {
        let libraries = &self.elaborator.instances.libraries;
        let mut definition = self.elaborator.instances.class(class).def;
        while let Some(parent) = libraries.get(definition).parent.filter(|&parent| parent != Libraries::ROOT) {
            definition = parent;
        }
        let top = libraries.get(definition);
        let file = &libraries.sources.file(top.class.span.file).path;
        let folder = top.directory.as_deref().or(file.parent()).filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        // The compiler works in another folder.
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Home { package: top.name.as_str().into(), folder, is_file: top.directory.is_none() }
    }
}

struct Home {
    package: Arc<str>,
    folder: PathBuf,
    /// Whether the class stands in a single file.
    is_file: bool,
}

/// The folder of an address; one that is none is relative to the folder of the library.
fn located(libraries: &mut Libraries, home: &Path, address: &str) -> Option<PathBuf> {
    // Both forms of addresses are in use.
    let address = match address.strip_prefix("modelica:/").filter(|rest| !rest.starts_with('/')) {
        Some(rest) => format!("modelica://{rest}"),
        None => address.to_owned(),
    };
    let path = match address.contains("://") {
        true => libraries.resource(&address)?,
        false => home.join(&address),
    };
    std::path::absolute(path).ok()
}
