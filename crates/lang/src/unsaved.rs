//! Texts that count instead of those of files, such as what an editor has not saved yet. A text belongs to its file however the
//! path is spelled, and a file that does not exist yet lies in its folder like any other.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Default)]
pub(crate) struct Unsaved {
    /// By resolved path.
    texts: FxHashMap<PathBuf, Arc<str>>,
    /// The names of these files: most paths that are asked for have another one and need not be resolved.
    names: FxHashSet<OsString>,
}

impl Unsaved {
    /// Sets the text of a file; `None`: that on disk counts again.
    pub fn replace(&mut self, path: &Path, text: Option<Arc<str>>) {
        match text {
            Some(text) => drop(self.texts.insert(resolved(path), text)),
            None => drop(self.texts.remove(&resolved(path))),
        }
        self.names = self.texts.keys().filter_map(|path| path.file_name()).map(OsString::from).collect();
    }

    pub fn get(&self, path: &Path) -> Option<&Arc<str>> {
        // A link may have another name than the file.
        let may_be = self.names.contains(path.file_name()?) || !self.names.is_empty() && path.is_symlink();
        if may_be { self.texts.get(&resolved(path)) } else { None }
    }

    /// Whether there are texts in a folder, at any depth.
    pub fn has_folder(&self, folder: &Path) -> bool {
        if self.texts.is_empty() {
            return false;
        }
        let folder = resolved(folder);
        self.texts.keys().any(|path| *path != folder && path.starts_with(&folder))
    }

    /// Adds what stands in a folder to its list of names, each with whether it is a folder.
    pub fn add_to_list(&self, folder: &Path, list: &mut Vec<(String, bool)>) {
        if self.texts.is_empty() {
            return;
        }
        let folder = resolved(folder);
        let before = list.len();
        for rest in self.texts.keys().filter_map(|path| path.strip_prefix(&folder).ok()) {
            let mut parts = rest.iter();
            let Some(first) = parts.next() else { continue };
            let name = first.to_string_lossy().into_owned();
            if !list.iter().any(|(known, _)| *known == name) {
                list.push((name, parts.next().is_some()));
            }
        }
        if list.len() > before {
            list.sort();
        }
    }
}

/// The path without links, `.` and `..`.
fn resolved(path: &Path) -> PathBuf {
    dae::access::resolve(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_many_spellings() {
        let mut unsaved = Unsaved::default();
        let here = std::env::current_dir().unwrap();
        unsaved.replace(Path::new("d/a.mo"), Some("one".into()));
        let text = |unsaved: &Unsaved, path: &Path| unsaved.get(path).map(|text| text.to_string());
        for path in [Path::new("./d/a.mo"), Path::new("d/../d/a.mo"), &here.join("d/a.mo")] {
            assert_eq!(text(&unsaved, path).as_deref(), Some("one"), "{path:?}");
        }
        assert_eq!(text(&unsaved, Path::new("a.mo")), None);
        unsaved.replace(&here.join("d/./a.mo"), Some("two".into()));
        assert_eq!(text(&unsaved, Path::new("d/a.mo")).as_deref(), Some("two"));
        unsaved.replace(Path::new("d/e/../a.mo"), None);
        assert_eq!(text(&unsaved, Path::new("d/a.mo")), None);
    }

    #[test]
    fn texts_lie_in_folders() {
        let mut unsaved = Unsaved::default();
        unsaved.replace(Path::new("p/New.mo"), Some("".into()));
        unsaved.replace(Path::new("p/Inner/package.mo"), Some("".into()));
        let mut list = vec![("New.mo".to_owned(), false), ("Old.mo".to_owned(), false)];
        unsaved.add_to_list(Path::new("./p"), &mut list);
        let expected = [("Inner", true), ("New.mo", false), ("Old.mo", false)];
        assert_eq!(list, expected.map(|(name, is_folder)| (name.to_owned(), is_folder)));
        assert!(unsaved.has_folder(Path::new("p/Inner")) && !unsaved.has_folder(Path::new("p/New.mo")));
    }
}
