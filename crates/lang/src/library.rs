//! Libraries: the tree of class definitions, read from files when a name is first looked up (specification 13).
//!
//! A library costs the reading of its `package.mo` and a listing of its folder. Every class of the text is a `Definition`
//! with an id; a class that stands in a file of its own is an entry with a path until somebody asks for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Diagnostic, FileId, Id, IdVec, Name, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::ast;

use crate::annotation;
use crate::front_end::FrontEnd;
use crate::unsaved::Unsaved;

base::id_type!(
    /// A class definition in the text.
    pub DefId, "def"
);

/// Full names may be this long. Each class holds its own, so that deep nesting would take memory by the square of its depth.
const LONGEST_NAME: usize = 30_000;

/// Access to files, so that tests and other programs can bring their own.
pub trait Files: Send {
    /// The text of a file.
    fn read(&self, path: &Path) -> std::io::Result<String>;
    /// The names in a folder with whether each is a folder; empty when there is none.
    fn list(&self, path: &Path) -> Vec<(String, bool)>;
    /// Whether there is such a file or folder.
    fn exists(&self, path: &Path) -> bool;
    /// The content of a file that need not be a text.
    fn bytes(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        self.read(path).map(String::into_bytes)
    }
}

/// The files of the computer.
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> std::io::Result<String> {
        let bytes = std::fs::read(path)?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn list(&self, path: &Path) -> Vec<(String, bool)> {
        let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
        let mut names: Vec<(String, bool)> = entries
            .flatten()
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path().is_dir()))
            .collect();
        names.sort();
        names
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn bytes(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}

/// Texts in memory, by their paths.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles(BTreeMap<PathBuf, String>);

impl MemoryFiles {
    /// One text alone.
    pub fn one(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        [(path, text)].into_iter().collect()
    }
}

impl<P: Into<PathBuf>, T: Into<String>> FromIterator<(P, T)> for MemoryFiles {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(files: I) -> Self {
        Self(files.into_iter().map(|(path, text)| (path.into(), text.into())).collect())
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &Path) -> std::io::Result<String> {
        self.0.get(path).cloned().ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    fn list(&self, path: &Path) -> Vec<(String, bool)> {
        let below = self.0.keys().filter_map(|file| file.strip_prefix(path).ok());
        let mut names: Vec<(String, bool)> = below
            .filter_map(|rest| {
                let mut parts = rest.iter();
                let first = parts.next()?.to_string_lossy().into_owned();
                Some((first, parts.next().is_some()))
            })
            .collect();
        names.dedup();
        names
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.keys().any(|file| file.starts_with(path))
    }
}

/// A class of the text.
#[derive(Debug)]
pub struct Definition {
    pub class: Arc<ast::ClassDef>,
    /// The class around it; `None` for the root, which holds the top-level classes.
    pub parent: Option<DefId>,
    /// The full name, `Modelica.Blocks.Sources.Sine`.
    pub name: Name,
    /// The folder of a package that is one.
    pub directory: Option<PathBuf>,
    /// The classes declared in it.
    classes: FxHashMap<Name, ClassSource>,
    /// The positions of the import clauses among its elements.
    pub(crate) imports: Vec<u32>,
    /// The names of `classes` in their order.
    pub class_names: Vec<Name>,
}

#[derive(Clone, Debug)]
enum ClassSource {
    Text(Arc<ast::ClassDef>),
    /// A file or a folder with `package.mo`, not read yet.
    Path(PathBuf),
    Known(DefId),
    /// Its file could not be read or does not hold the class.
    Broken,
}

impl Definition {
    pub fn composition(&self) -> Option<&ast::Composition> {
        match &self.class.body {
            ast::ClassBody::Long(composition) => Some(composition),
            _ => None,
        }
    }

    pub fn has_class(&self, name: Name) -> bool {
        self.classes.contains_key(&name)
    }
}

/// Everything that was read, and where to look for more.
pub struct Libraries {
    /// Where files are read.
    pub files: Box<dyn Files>,
    /// Languages other than Modelica.
    front_ends: Vec<Box<dyn FrontEnd>>,
    /// All texts that were read.
    pub sources: SourceMap,
    definitions: IdVec<DefId, Definition>,
    /// By the address of the syntax node, which the definition keeps alive.
    by_address: FxHashMap<usize, DefId>,
    search_path: Vec<PathBuf>,
    /// The versions that annotations `uses` ask for, each once. The first one decides which is loaded.
    used_versions: FxHashMap<Name, Vec<Used>>,
    used_without_version: FxHashMap<Name, base::Span>,
    /// Names that are not found in the search path, so that its folders are not listed for them again.
    absent: FxHashSet<Name>,
    /// Of reading and parsing.
    pub diagnostics: Vec<Diagnostic>,
    /// Texts that count instead of those of the files.
    unsaved: Unsaved,
    /// Syntax trees by file, kept from one reading to the next.
    parsed: FxHashMap<PathBuf, Parsed>,
    /// How often everything was forgotten.
    generation: u32,
    /// Which file each class of a file of the user comes from.
    owners: FxHashMap<Name, PathBuf>,
    /// The files of the user, which front ends may look at together.
    together: Vec<PathBuf>,
    /// Those of them that a front end has seen and that are not read on their own yet.
    seen: FxHashMap<PathBuf, (FileId, Arc<str>)>,
}

/// A text and its syntax tree.
struct Parsed {
    file: FileId,
    text: Arc<str>,
    stored: ast::StoredDefinition,
    diagnostics: Vec<Diagnostic>,
    /// Classes that nobody wrote, with their texts: those that the translation from another language added.
    common: Vec<(Name, Arc<str>)>,
    /// The files that its front end looked at together with it.
    among: Among,
    /// When it was used last.
    generation: u32,
}

/// Files of one language in the order of the user, with their texts.
type Among = Vec<(PathBuf, FileId, Arc<str>)>;

impl Default for Libraries {
    fn default() -> Self {
        Self::new(Box::new(Disk))
    }
}

impl Libraries {
    /// Nothing at all, to stand in for libraries that are in use.
    pub(crate) fn empty() -> Self {
        Self {
            files: Box::new(Disk),
            front_ends: Vec::new(),
            sources: SourceMap::default(),
            definitions: IdVec::new(),
            by_address: FxHashMap::default(),
            search_path: Vec::new(),
            used_versions: FxHashMap::default(),
            used_without_version: FxHashMap::default(),
            absent: FxHashSet::default(),
            diagnostics: Vec::new(),
            unsaved: Unsaved::default(),
            parsed: FxHashMap::default(),
            generation: 0,
            owners: FxHashMap::default(),
            together: Vec::new(),
            seen: FxHashMap::default(),
        }
    }

    /// No definitions yet.
    pub fn new(files: Box<dyn Files>) -> Self {
        let mut libraries = Self { files, ..Self::empty() };
        libraries.add_predefined();
        libraries
    }

    /// Files of another language are read from now on.
    pub fn add_front_end(&mut self, front_end: Box<dyn FrontEnd>) {
        self.front_ends.push(front_end);
    }

    /// How the names of files end that can be read.
    pub fn endings(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once("mo").chain(self.front_ends.iter().map(|front_end| front_end.ending()))
    }

    fn front_end_of(&self, path: &Path) -> Option<&dyn FrontEnd> {
        let ending = path.extension()?;
        self.front_ends.iter().map(Box::as_ref).find(|front_end| ending == front_end.ending())
    }

    /// The Modelica text of a file in another language, as far as it can be made; `None`: the file is of none that is known,
    /// or cannot be read. What is wrong is in `diagnostics`.
    pub fn translation(&mut self, path: &Path) -> Option<String> {
        self.front_end_of(path)?;
        let (file, text) = self.text_of(path)?;
        let among = self.among(path, file, &text);
        let (translated, diagnostics) = self.front_end_of(path)?.translate_among(file, path, &texts(&among));
        self.diagnostics.extend(diagnostics);
        Some(translated.text().to_owned())
    }

    /// The files that the user gives in one call. Where their language says so, they are understood together.
    pub fn read_together(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.together = paths.into_iter().collect();
    }

    /// The files that a front end looks at together with this one, which is among them.
    fn among(&mut self, path: &Path, file: FileId, text: &Arc<str>) -> Among {
        let alone = vec![(path.to_owned(), file, text.clone())];
        if !self.together.iter().any(|other| other == path) {
            return alone;
        }
        let is_alike = |other: &&PathBuf| other.extension() == path.extension();
        let paths: Vec<PathBuf> = self.together.iter().filter(is_alike).cloned().collect();
        let mut among: Among = Vec::new();
        for other in paths {
            if among.iter().any(|(known, ..)| *known == other) {
                continue;
            }
            match other == path {
                true => among.extend(alone.iter().cloned()),
                false => among.extend(self.seen(&other).map(|(file, text)| (other, file, text))),
            }
        }
        among
    }

    /// A file that another one is understood with. What cannot be read is reported where it is read on its own.
    fn seen(&mut self, path: &Path) -> Option<(FileId, Arc<str>)> {
        let text: Arc<str> = match self.unsaved.get(path) {
            Some(text) => text.clone(),
            None => self.files.read(path).ok()?.into(),
        };
        let known = self.parsed.get(path).map(|known| (known.file, &known.text));
        let known = known.or(self.seen.get(path).map(|(file, text)| (*file, text)));
        if let Some((file, _)) = known.filter(|(_, known)| **known == text) {
            return Some((file, text));
        }
        let file = self.sources.add(path, text.clone());
        self.seen.insert(path.to_owned(), (file, text.clone()));
        Some((file, text))
    }

    /// The text of a file, as one of the sources; `None`: it cannot be read, and `diagnostics` say why.
    pub fn text_of(&mut self, path: &Path) -> Option<(FileId, Arc<str>)> {
        let text = self.read(path, None)?;
        let file = self.sources.add(path, text.clone());
        Some((file, text))
    }

    fn add_predefined(&mut self) {
        let stored = self.parse(Path::new("predefined.mo"), crate::predefined::TEXT.into());
        let file = stored.classes.first().map_or(FileId::from_index(0), |class| class.span.file);
        let span = Span::new(file, 0, 0);
        self.define(Arc::new(empty_class("", ast::ClassKind::Package, span)), None, None);
        for class in stored.classes {
            self.insert_class(Self::ROOT, class);
        }
    }

    /// Forgets all classes, files and search paths, so that what has changed since is read anew. Syntax trees of texts that
    /// are still the same are used again.
    pub fn forget(&mut self) {
        self.definitions = IdVec::new();
        self.by_address.clear();
        self.search_path.clear();
        self.used_versions.clear();
        self.used_without_version.clear();
        self.absent.clear();
        self.diagnostics.clear();
        self.generation += 1;
        self.owners.clear();
        self.together.clear();
        self.seen.clear();
        self.add_predefined();
    }

    /// From now on this text counts as that of the file, which need not exist; `None`: that on disk again.
    pub fn replace_text(&mut self, path: impl AsRef<Path>, text: Option<Arc<str>>) {
        self.unsaved.replace(path.as_ref(), text);
    }

    /// Whether there is a file or folder, or an unsaved text.
    pub fn exists(&self, path: &Path) -> bool {
        let is_text = path.extension().is_some_and(|ending| self.endings().any(|known| ending == known));
        self.unsaved.get(path).is_some() || self.files.exists(path) || !is_text && self.unsaved.has_folder(path)
    }

    /// The names in a folder with whether each is a folder, unsaved files among them.
    fn list(&self, folder: &Path) -> Vec<(String, bool)> {
        let mut list = self.files.list(folder);
        self.unsaved.add_to_list(folder, &mut list);
        list
    }

    /// The content of a file that need not be a text, such as a picture.
    pub fn bytes(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        self.files.bytes(path)
    }

    /// A folder in which top-level classes are looked for when a name is not known: `Modelica/package.mo`,
    /// `Modelica 4.1.0/package.mo`, `Complex.mo`. A folder that is itself a package stands for its parent; a file is read.
    pub fn add_search_path(&mut self, folder: impl AsRef<Path>) {
        let folder = folder.as_ref();
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if self.class_of_entry(&name, false).is_some() && self.files.list(folder).is_empty() {
            self.add_file(folder);
            return;
        }
        let is_package = self.exists(&folder.join("package.mo"));
        if is_package {
            let name = Name::new(class_of_folder(&name));
            self.insert_source(Self::ROOT, name, ClassSource::Path(folder.to_owned()));
        }
        self.search_path.push(folder.to_owned());
        self.absent.clear();
    }

    /// Reads a file of the user (or the folder of a package) and returns the names of its top-level classes in order.
    pub fn add_file(&mut self, path: impl AsRef<Path>) -> Vec<Name> {
        let path = path.as_ref();
        if self.exists(&path.join("package.mo")) {
            let folder = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let name = Name::new(class_of_folder(&folder));
            self.insert_source(Self::ROOT, name, ClassSource::Path(path.to_owned()));
            return vec![name];
        }
        match self.read(path, None) {
            Some(text) => self.add_text(path, text),
            None => Vec::new(),
        }
    }

    /// The text of a file; returns the full names of its classes in order. A `within` clause is obeyed.
    pub fn add_text(&mut self, path: impl AsRef<Path>, text: impl Into<Arc<str>>) -> Vec<Name> {
        let definition = self.parse(path.as_ref(), text.into());
        let mut parent = Self::ROOT;
        if let Some(within) = &definition.within {
            for part in &within.parts {
                match self.class(parent, part.name) {
                    Some(next) => parent = next,
                    None => {
                        self.diagnostics.push(
                            Diagnostic::error("unknown-within", format!("there is no package `{}`", part.name))
                                .at(within.span, "the classes of this file are to be within it")
                                .hint("load the library that has it, or remove the within clause")
                                .specification("13.3"),
                        );
                        break;
                    }
                }
            }
        }
        let mut names = Vec::new();
        let mut declared: FxHashMap<Name, Span> = FxHashMap::default();
        for class in definition.classes {
            let name = class.name.name;
            if let Some(first) = declared.insert(name, class.name.span) {
                self.diagnostics.push(
                    Diagnostic::error("duplicate-class", format!("the class `{name}` stands twice in one file"))
                        .at(class.name.span, "declared once more here")
                        .at(first, "declared here")
                        .hint("remove or rename one of them")
                        .specification("13.4"),
                );
            }
            let prefix = self.definitions[parent].name;
            let full = if parent == Self::ROOT { name } else { Name::new(&format!("{prefix}.{name}")) };
            if !self.is_known_alike(full, &class, path.as_ref()) {
                self.insert_class(parent, class);
            }
            names.push(full);
        }
        names
    }

    /// Whether another file has made the same class. A class that stands in two files is an error, unless both are copies.
    fn is_known_alike(&mut self, name: Name, class: &ast::ClassDef, path: &Path) -> bool {
        let Some(first) = self.owners.get(&name).filter(|first| *first != path) else {
            self.owners.insert(name, path.to_owned());
            return false;
        };
        let (Some(one), Some(other)) = (self.parsed.get(first), self.parsed.get(path)) else { return false };
        let made =
            |parsed: &Parsed| parsed.common.iter().find(|(known, _)| *known == name).map(|(_, text)| text.clone());
        let (made_first, made_now) = (made(one), made(other));
        if one.text == other.text || made_first.is_some() && made_first == made_now {
            return true;
        }
        let place = one.stored.classes.iter().find(|known| known.name.name == class.name.name);
        let said = |made: bool| if made { "a connector of this name is made from this" } else { "declared here" };
        let mut diagnostic = Diagnostic::error("duplicate-class", format!("the class `{name}` stands in two files"))
            .at(class.name.span, said(made_now.is_some()));
        if let Some(known) = place {
            diagnostic = diagnostic.at(known.name.span, said(made_first.is_some()));
        }
        let hint = match made_first.is_some() || made_now.is_some() {
            true => "rename the class that you wrote: the name of a connector that is made follows from its variables",
            false => "rename one of them, put one into a package, or leave out one of the files",
        };
        self.diagnostics.push(diagnostic.hint(hint).specification("13.4"));
        false
    }

    /// The root of all names, which has no text.
    pub const ROOT: DefId = DefId::ROOT;

    /// A definition.
    pub fn get(&self, id: DefId) -> &Definition {
        &self.definitions[id]
    }

    /// The class `name` that is declared in the text or folder of `parent`; read now if it was not yet.
    pub fn class(&mut self, parent: DefId, name: Name) -> Option<DefId> {
        let source = match self.definitions[parent].classes.get(&name) {
            Some(source) => source.clone(),
            None if parent == Self::ROOT => self.find_library(name)?,
            None => return None,
        };
        let known = match source {
            ClassSource::Known(id) => return Some(id),
            ClassSource::Broken => None,
            ClassSource::Text(class) if self.definitions[parent].name.as_str().len() > LONGEST_NAME => {
                self.diagnostics.push(
                    Diagnostic::error(
                        "nesting-too-deep",
                        "classes nest too deep: the full name of this one is too long",
                    )
                    .at(class.name.span, format!("its name would have more than {LONGEST_NAME} letters"))
                    .hint("declare it further outside"),
                );
                None
            }
            ClassSource::Text(class) => {
                if parent == Self::ROOT {
                    self.check_version(&class);
                }
                Some(self.define(class, Some(parent), None))
            }
            ClassSource::Path(path) => self.load(&path, parent, name),
        };
        self.insert_source(parent, name, known.map_or(ClassSource::Broken, ClassSource::Known));
        known
    }

    /// The definition of a class that stands in a modification (`redeclare model M = …`) in the text of `parent`.
    pub fn definition_of(&mut self, class: &Arc<ast::ClassDef>, parent: DefId) -> DefId {
        match self.by_address.get(&(Arc::as_ptr(class) as usize)) {
            Some(&known) => known,
            None => self.define(class.clone(), Some(parent), None),
        }
    }

    /// A predefined type, which has no text.
    pub(crate) fn predefined(&mut self, name: Name) -> DefId {
        let span = self.definitions[Self::ROOT].class.span;
        self.define(Arc::new(empty_class(name.as_str(), ast::ClassKind::Type, span)), Some(Self::ROOT), None)
    }

    /// An expandable connector without elements, for those that only connections name.
    pub(crate) fn empty_expandable(&mut self, name: ast::Ident) -> DefId {
        let class = empty_class(name.name.as_str(), ast::ClassKind::ExpandableConnector, name.span);
        self.define(Arc::new(class), Some(Self::ROOT), None)
    }

    /// The names of the top-level classes that are known or can be found.
    pub fn top_level_names(&self) -> Vec<Name> {
        let mut names = self.definitions[Self::ROOT].class_names.clone();
        for folder in &self.search_path {
            for (entry, is_folder) in self.list(folder) {
                if let Some(name) = self.class_of_entry(&entry, is_folder) {
                    names.push(Name::new(name));
                }
            }
        }
        names.sort();
        names.dedup();
        names
    }

    /// The folders of the top-level packages that are known or can be found; known ones first.
    pub fn package_folders(&self) -> Vec<(Name, PathBuf)> {
        let known = self.definitions.values().filter(|definition| definition.parent == Some(Self::ROOT));
        let mut folders: Vec<(Name, PathBuf)> =
            known.filter_map(|definition| Some((definition.name, definition.directory.clone()?))).collect();
        // Packages that the call names and that nobody has asked for yet.
        for (name, source) in &self.definitions[Self::ROOT].classes {
            if let ClassSource::Path(path) = source
                && self.exists(&path.join("package.mo"))
            {
                folders.push((*name, path.clone()));
            }
        }
        for folder in &self.search_path {
            for (entry, is_folder) in self.list(folder) {
                let path = folder.join(&entry);
                if is_folder
                    && self.exists(&path.join("package.mo"))
                    && let Some(name) = self.class_of_entry(&entry, is_folder)
                {
                    folders.push((Name::new(name), path));
                }
            }
        }
        folders
    }

    /// `modelica://Modelica/Resources/x.txt` as a path; none where it leaves the library.
    pub fn resource(&mut self, uri: &str) -> Option<PathBuf> {
        let rest = match uri.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("modelica") => rest,
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => return Some(PathBuf::from(rest)),
            _ => return Some(PathBuf::from(uri)),
        };
        let (class, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut definition = Self::ROOT;
        let (mut directory, mut library) = (None, None);
        for part in class.split('.') {
            definition = self.class(definition, Name::new(part))?;
            directory = self.definitions[definition].directory.clone().or(directory);
            library = library.or_else(|| directory.clone());
        }
        let path = directory?.join(path.trim_start_matches('/'));
        let library = dae::access::resolve(&library?).ok()?;
        dae::access::is_below(&dae::access::resolve(&path).ok()?, &[library]).then_some(path)
    }

    fn define(&mut self, class: Arc<ast::ClassDef>, parent: Option<DefId>, directory: Option<PathBuf>) -> DefId {
        let own = class.name.name;
        let name = match parent {
            Some(parent) if parent != Self::ROOT => Name::new(&format!("{}.{own}", self.definitions[parent].name)),
            _ => own,
        };
        let mut classes = FxHashMap::default();
        let mut class_names = Vec::new();
        let mut imports = Vec::new();
        if let ast::ClassBody::Long(composition) = &class.body {
            for (position, element) in composition.elements.iter().enumerate() {
                if let ast::Element::Import(_) = element {
                    imports.push(position as u32);
                }
                if let ast::Element::Class(inner) = element
                    && classes.insert(inner.name.name, ClassSource::Text(inner.clone())).is_none()
                {
                    class_names.push(inner.name.name);
                }
            }
        }
        let address = Arc::as_ptr(&class) as usize;
        let id =
            self.definitions.push(Definition { class, parent, name, directory: None, classes, imports, class_names });
        self.by_address.insert(address, id);
        if let Some(directory) = directory {
            self.add_folder(id, directory);
        }
        id
    }

    /// The classes of a package's folder that stand in files of their own, in the order of `package.order`.
    fn add_folder(&mut self, package: DefId, directory: PathBuf) {
        let mut entries: Vec<(Name, PathBuf)> = Vec::new();
        for (entry, is_folder) in self.list(&directory) {
            if let Some(name) = self.class_of_entry(&entry, is_folder)
                && name != "package"
                && (!is_folder || self.exists(&directory.join(&entry).join("package.mo")))
            {
                entries.push((Name::new(name), directory.join(&entry)));
            }
        }
        let order = directory.join("package.order");
        let order = match self.unsaved.get(&order) {
            Some(text) => text.to_string(),
            None => self.files.read(&order).unwrap_or_default(),
        };
        let position = |name: Name| order.lines().position(|line| name == line.trim()).unwrap_or(usize::MAX);
        entries.sort_by_key(|(name, _)| position(*name));
        for (name, path) in entries {
            match self.definitions[package].classes.get(&name) {
                None => self.insert_source(package, name, ClassSource::Path(path)),
                Some(ClassSource::Text(class)) => {
                    let (span, path) = (class.name.span, path.display());
                    let message = format!("the class `{name}` stands in `package.mo` and in `{path}`");
                    self.diagnostics.push(
                        Diagnostic::error("duplicate-class", message)
                            .at(span, "here and there")
                            .hint("remove one of them")
                            .specification("13.4.1"),
                    );
                }
                Some(ClassSource::Path(other)) => {
                    let message = format!("the class `{name}` stands in two places of one folder");
                    self.diagnostics.push(
                        Diagnostic::error("duplicate-class", message)
                            .note(format!("one is `{}`", other.display()))
                            .note(format!("the other is `{}`", path.display()))
                            .hint("remove one of them")
                            .specification("13.4.1"),
                    );
                }
                Some(_) => {}
            }
        }
        self.definitions[package].directory = Some(directory);
    }

    fn insert_class(&mut self, parent: DefId, class: Arc<ast::ClassDef>) {
        self.insert_source(parent, class.name.name, ClassSource::Text(class));
    }

    fn insert_source(&mut self, parent: DefId, name: Name, source: ClassSource) {
        let parent = &mut self.definitions[parent];
        if parent.classes.insert(name, source).is_none() {
            parent.class_names.push(name);
        }
    }

    /// Looks for a top-level class in the folders given. Where there are several versions, the one that is used counts, in whichever
    /// folder it is, then one that stands for it, then the first folder.
    fn find_library(&mut self, name: Name) -> Option<ClassSource> {
        if self.absent.contains(&name) {
            return None;
        }
        let found = self.places_of(name);
        let Some((folder, ..)) = found.first() else {
            self.absent.insert(name);
            return None;
        };
        if let Some(used) = self.first_used(name).map(|used| used.version.clone())
            && found.len() > 1
        {
            let by_name = found.iter().find(|(_, entry, _)| version_of_entry(entry) == Some(&*used));
            if let Some((.., path)) = by_name {
                return Some(ClassSource::Path(path.clone()));
            }
            if let Some(path) = self.version_in_text(name, &found, &used) {
                return Some(ClassSource::Path(path));
            }
        }
        let in_first = found.iter().filter(|(other, ..)| other == folder);
        let best = in_first.reduce(|best, next| if self.is_better(name, &next.1, &best.1) { next } else { best });
        best.map(|(.., path)| ClassSource::Path(path.clone()))
    }

    /// All places of a top-level class: the position of the search path, the name there, the file or folder.
    /// Some file systems do not tell capital letters from small ones. So where no name fits, one counts that differs in them
    /// only, if its text holds the class.
    fn places_of(&mut self, name: Name) -> Vec<(usize, String, PathBuf)> {
        let exact = self.places_where(|class| class == name.as_str());
        if !exact.is_empty() {
            return exact;
        }
        let mut alike = self.places_where(|class| class.eq_ignore_ascii_case(name.as_str()));
        alike.retain(|(.., path)| self.peek(path, name).is_some());
        alike
    }

    fn places_where(&self, fits: impl Fn(&str) -> bool) -> Vec<(usize, String, PathBuf)> {
        let mut found = Vec::new();
        for (position, folder) in self.search_path.iter().enumerate() {
            for (entry, is_folder) in self.list(folder) {
                if !self.class_of_entry(&entry, is_folder).is_some_and(&fits) {
                    continue;
                }
                let mut path = folder.join(&entry);
                if is_folder && !self.exists(&path.join("package.mo")) {
                    path.push("package.moc");
                    if !self.exists(&path) {
                        continue;
                    }
                }
                found.push((position, entry, path));
            }
        }
        found
    }

    /// The place whose text says that it is the version, or that it stands for it.
    fn version_in_text(&mut self, name: Name, places: &[(usize, String, PathBuf)], used: &str) -> Option<PathBuf> {
        let mut stands_for = None;
        for (.., path) in places {
            let Some(class) = self.peek(path, name) else { continue };
            if annotation::text(&class, "version").is_some_and(|version| *version == *used) {
                return Some(path.clone());
            }
            let fits = annotation::texts(&class, "conversion", "noneFromVersion");
            if stands_for.is_none() && fits.iter().any(|version| **version == *used) {
                stands_for = Some(path.clone());
            }
        }
        stands_for
    }

    /// The class of a library that is only looked at.
    fn peek(&mut self, path: &Path, name: Name) -> Option<Arc<ast::ClassDef>> {
        let package = path.join("package.mo");
        let file = if self.exists(&package) { package } else { path.to_owned() };
        let said = self.diagnostics.len();
        let text = self.read(&file, Some(name));
        let stored = text.map(|text| self.stored(&file, text));
        self.diagnostics.truncate(said);
        stored?.classes.into_iter().find(|class| class.name.name == name)
    }

    /// Whether one folder or file of a library is to be taken before another: the version that is used first, then one
    /// without a version in its name, then the newest (13.4.4); one that is not released yet only where no other is there.
    fn is_better(&self, name: Name, entry: &str, known: &str) -> bool {
        let used = self.first_used(name).map(|used| &*used.version);
        let rank = |entry: &str| {
            let version = version_of_entry(entry);
            (version.is_some() && version == used, version.is_none(), version.map(version_rank))
        };
        rank(entry) > rank(known)
    }

    /// Where an annotation `uses` names the library.
    pub(crate) fn use_of(&self, name: Name) -> Option<base::Span> {
        self.first_used(name).map(|used| used.span).or_else(|| self.used_without_version.get(&name).copied())
    }

    fn first_used(&self, name: Name) -> Option<&Used> {
        self.used_versions.get(&name).and_then(|used| used.first())
    }

    /// Says so when a library is of another version than those that are used and does not stand for them.
    fn check_version(&mut self, class: &ast::ClassDef) {
        let used = self.used_versions.get(&class.name.name).into_iter().flatten();
        let said: Vec<Diagnostic> = used.filter_map(|used| other_version(class, used)).collect();
        self.diagnostics.extend(said);
    }

    /// Notes which version of a library a text asks for. One that is loaded already may be another one.
    fn note_use(&mut self, library: Name, used: Used) {
        let known = self.used_versions.entry(library).or_default();
        if known.iter().any(|known| known.version == used.version) {
            return;
        }
        if let Some(ClassSource::Known(loaded)) =
            self.definitions.get(Self::ROOT).and_then(|root| root.classes.get(&library))
        {
            let said = other_version(&self.definitions[*loaded].class, &used);
            self.diagnostics.extend(said);
        }
        known.push(used);
    }

    fn load(&mut self, path: &Path, parent: DefId, name: Name) -> Option<DefId> {
        let is_encrypted = path.extension().is_some_and(|ending| ending == "moc" || ending == "mol");
        if is_encrypted {
            self.diagnostics.push(
                Diagnostic::error("encrypted", format!("`{}` is encrypted and cannot be read", path.display()))
                    .hint("ask for the library in source form"),
            );
            return None;
        }
        let package = path.join("package.mo");
        let (file, directory) =
            if self.exists(&package) { (package, Some(path.to_owned())) } else { (path.to_owned(), None) };
        let text = self.read(&file, Some(name))?;
        let stored = self.parse(&file, text);
        let mut others = stored.classes;
        let own = others.iter().position(|class| class.name.name == name).map(|at| others.remove(at));
        let Some(class) = own else {
            self.diagnostics.push(
                Diagnostic::error("wrong-file", format!("`{}` does not hold the class `{name}`", file.display()))
                    .hint("a file is named after the one class that it holds")
                    .specification("13.4.2"),
            );
            return None;
        };
        for other in others {
            self.diagnostics.push(
                Diagnostic::breach("wrong-file", format!("the class `{}` is not read", other.name.name))
                    .at(other.name.span, format!("this file holds the class `{name}`"))
                    .hint("a file is named after the one class that it holds; give this one a file of its own")
                    .specification("13.4.2"),
            );
        }
        let within: Vec<&str> =
            stored.within.iter().flat_map(|name| &name.parts).map(|part| part.name.as_str()).collect();
        let (within, package) = (within.join("."), self.definitions[parent].name);
        if package != *within {
            let right = if parent == Self::ROOT { "within;".to_owned() } else { format!("within {package};") };
            self.diagnostics.push(
                Diagnostic::warning("wrong-within", format!("`{}` does not begin with `{right}`", file.display()))
                    .at(stored.within.map_or(class.name.span, |name| name.span), "")
                    .specification("13.4.3"),
            );
        }
        if parent == Self::ROOT {
            self.check_version(&class);
        }
        Some(self.define(class, Some(parent), directory))
    }

    /// The class that a file or folder holds by its name.
    fn class_of_entry<'e>(&self, entry: &'e str, is_folder: bool) -> Option<&'e str> {
        if is_folder {
            return Some(class_of_folder(entry));
        }
        let (stem, ending) = entry.rsplit_once('.')?;
        let is_read = matches!(ending, "moc" | "mol") || self.endings().any(|known| known == ending);
        is_read.then(|| class_of_folder(stem))
    }

    fn read(&mut self, path: &Path, class: Option<Name>) -> Option<Arc<str>> {
        if let Some(text) = self.unsaved.get(path) {
            return Some(text.clone());
        }
        match self.files.read(path) {
            Ok(text) => Some(text.into()),
            Err(error) => {
                let what = class.map(|name| format!(", which holds the class `{name}`")).unwrap_or_default();
                self.diagnostics.push(Diagnostic::error(
                    "unreadable-file",
                    format!("cannot read `{}`{what}: {error}", path.display()),
                ));
                None
            }
        }
    }

    fn parse(&mut self, path: &Path, text: Arc<str>) -> ast::StoredDefinition {
        let stored = self.stored(path, text);
        for class in &stored.classes {
            for (library, span) in annotation::uses_without_version(class) {
                self.used_without_version.entry(library).or_insert(span);
            }
            for (library, version, span) in annotation::uses(class) {
                self.note_use(library, Used { version, span });
            }
        }
        stored
    }

    /// The syntax of a file; what it says about versions does not count yet.
    fn stored(&mut self, path: &Path, text: Arc<str>) -> ast::StoredDefinition {
        let generation = self.generation;
        let known = self.parsed.get(path).filter(|known| known.text == text).map(|known| known.file);
        let is_same = match (known, self.front_end_of(path).is_some()) {
            (Some(file), true) => {
                let among = self.among(path, file, &text);
                self.parsed.get(path).is_some_and(|known| known.among == among)
            }
            (known, _) => known.is_some(),
        };
        match self.parsed.get_mut(path) {
            Some(known) if is_same => {
                known.generation = generation;
                self.diagnostics.extend(known.diagnostics.iter().cloned());
                known.stored.clone()
            }
            known => {
                // What refers to the text before is forgotten, unless it was read just now.
                let seen = self.seen.remove(path).filter(|(_, seen)| *seen == text).map(|(file, _)| file);
                let file = match (seen, known.filter(|known| known.generation != generation)) {
                    (Some(file), _) => file,
                    (None, Some(known)) => self.sources.replace(known.file, text.clone()),
                    (None, None) => self.sources.add(path, text.clone()),
                };
                let among = match self.front_end_of(path) {
                    Some(_) => self.among(path, file, &text),
                    None => Among::new(),
                };
                let Syntax { stored, diagnostics, common } = self.syntax_of(path, file, text.clone(), &among);
                self.diagnostics.extend(diagnostics.iter().cloned());
                let parsed = Parsed { file, text, stored: stored.clone(), diagnostics, common, among, generation };
                self.parsed.insert(path.to_owned(), parsed);
                stored
            }
        }
    }

    /// The abstract syntax of a file, whatever its language.
    fn syntax_of(&self, path: &Path, file: FileId, text: Arc<str>, among: &Among) -> Syntax {
        let Some(front_end) = self.front_end_of(path) else {
            let parse = syntax::parse_shared(file, text);
            return Syntax { stored: parse.ast(), diagnostics: parse.diagnostics, common: Vec::new() };
        };
        let (translated, mut diagnostics) = front_end.translate_among(file, path, &texts(among));
        let common = translated.common().iter().map(|(name, text)| (Name::new(name), text.as_str().into())).collect();
        let parse = syntax::parse_translated(file, translated);
        diagnostics.extend(parse.diagnostics.iter().cloned());
        Syntax { stored: parse.ast(), diagnostics, common }
    }
}

fn texts(among: &Among) -> Vec<(FileId, &str)> {
    among.iter().map(|(_, file, text)| (*file, &**text)).collect()
}

/// What a file says.
struct Syntax {
    stored: ast::StoredDefinition,
    diagnostics: Vec<Diagnostic>,
    common: Vec<(Name, Arc<str>)>,
}

fn empty_class(name: &str, kind: ast::ClassKind, span: Span) -> ast::ClassDef {
    ast::ClassDef {
        name: ast::Ident { name: Name::new(name), span },
        kind,
        purity: ast::Purity::Unstated,
        encapsulated: false,
        partial: false,
        prefixes: ast::ElementPrefixes::default(),
        body: ast::ClassBody::Long(ast::Composition::default()),
        constraint: None,
        description: None,
        annotation: None,
        span,
    }
}

impl DefId {
    const ROOT: DefId = DefId(0);
}

/// A version that the text asks for, and where.
struct Used {
    version: Arc<str>,
    span: Span,
}

/// What to say where a library is of another version than the one that is used and does not stand for it.
fn other_version(class: &ast::ClassDef, used: &Used) -> Option<Diagnostic> {
    let found = annotation::text(class, "version").filter(|found| **found != *used.version)?;
    if annotation::texts(class, "conversion", "noneFromVersion").iter().any(|fits| **fits == *used.version) {
        return None;
    }
    let name = class.name.name;
    Some(
        Diagnostic::warning("library-version", format!("`{name}` {} is used, but {found} is loaded", used.version))
            .at(used.span, "this version")
            .hint(format!(
                "`gyrator convert` with `--to {name}@{found}` rewrites the text for it, or give a folder with `{name} {}` by -L",
                used.version
            ))
            .specification("18.8.2")
            .decides(),
    )
}

/// `Modelica 4.1.0` → `4.1.0`.
fn version_of_entry(entry: &str) -> Option<&str> {
    let (_, version) = entry.split_once(' ')?;
    Some(version.strip_suffix(".mo").unwrap_or(version))
}

/// Releases come before what is not released yet, as 4.0.0-beta.1. Numbers compare as numbers: 1.10.0 is newer than 1.2.0.
fn version_rank(version: &str) -> (bool, Vec<u64>) {
    let is_released = !version.split('+').next().unwrap_or(version).contains('-');
    let parts = version.split(|c: char| !c.is_ascii_digit());
    (is_released, parts.filter_map(|part| part.parse().ok()).collect())
}

/// The class that the folder of a package holds: `Modelica 4.1.0` is `Modelica`.
pub fn class_of_folder(folder: &str) -> &str {
    folder.split(' ').next().unwrap_or(folder)
}

/// The parts of a full class name, `P.'a.b'.M`: points in quotes belong to a name.
pub fn name_parts(name: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (offset, character) in name.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '\'' => quoted = !quoted,
            '.' if !quoted => {
                parts.push(&name[begin..offset]);
                begin = offset + 1;
            }
            _ => {}
        }
    }
    parts.push(&name[begin..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A package in a folder, one in it, and a library in one file.
    const FILES: [(&str, &str); 3] = [
        ("lib/Lib 2.0.0/package.mo", "package Lib end Lib;"),
        ("lib/Lib 2.0.0/Inner/package.mo", "within Lib; package Inner model M end M; end Inner;"),
        ("lib/Single.mo", "package Single end Single;"),
    ];

    #[test]
    fn addresses_of_resources() {
        let mut libraries = Libraries::new(Box::new(MemoryFiles::from_iter(FILES)));
        libraries.add_search_path("lib");
        let mut path = |uri: &str| libraries.resource(uri).map(|path| path.display().to_string());
        let inside = "lib/Lib 2.0.0/Resources/x.txt";
        assert_eq!(path("modelica://Lib/Resources/x.txt").as_deref(), Some(inside));
        assert_eq!(path("Modelica://Lib/Resources/x.txt").as_deref(), Some(inside));
        assert_eq!(path("modelica://Lib.Inner/x.txt").as_deref(), Some("lib/Lib 2.0.0/Inner/x.txt"));
        assert_eq!(path("modelica://Lib.Inner.M/x.txt").as_deref(), Some("lib/Lib 2.0.0/Inner/x.txt"));
        assert_eq!(path("file:///tmp/x.txt").as_deref(), Some("/tmp/x.txt"));
        assert_eq!(path("x.txt").as_deref(), Some("x.txt"));
        assert_eq!(path("modelica://Nowhere/x.txt"), None);
        assert_eq!(path("modelica://Single/x.txt"), None);
        assert_eq!(path("modelica://Lib/../x.txt"), None);
        assert_eq!(path("modelica://Lib.Inner/../x.txt").as_deref(), Some("lib/Lib 2.0.0/Inner/../x.txt"));
    }

    #[test]
    fn a_file_is_a_library() {
        let mut libraries = Libraries::new(Box::new(MemoryFiles::from_iter(FILES)));
        libraries.add_search_path("lib/Single.mo");
        assert!(libraries.class(Libraries::ROOT, Name::new("Single")).is_some());
        assert!(libraries.class(Libraries::ROOT, Name::new("Lib")).is_none());
    }

    #[test]
    fn versions_compare_as_numbers() {
        assert!(version_rank("1.10.0") > version_rank("1.2.0"));
        assert!(version_rank("4.0") > version_rank("3.2.3"));
        assert!(version_rank("4.0.0") > version_rank("4.1.0-beta"));
        assert!(version_rank("4.1.0-beta.2") > version_rank("4.1.0-beta.1"));
        assert!(version_rank("4.0.1+maint-2") > version_rank("4.0.0"));
        assert_eq!(version_of_entry("Modelica 4.1.0"), Some("4.1.0"));
        assert_eq!(version_of_entry("Modelica"), None);
    }
}
