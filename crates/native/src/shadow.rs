//! What a model changes without permission: files and folders that are in memory alone, for as long as the model runs. The model
//! sees its own changes and computes what it would have computed; the disk stays as it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A model fills the disk only as far as the user lets it, and memory only so far.
const MOST_BYTES: usize = 256 << 20;

/// What a model sees in place of what is on the disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    File(Vec<u8>),
    Folder,
    /// It was removed.
    Absent,
}

/// The changes of one model, by resolved path.
#[derive(Clone, Default)]
pub struct Shadow {
    entries: BTreeMap<PathBuf, Entry>,
    bytes: usize,
}

impl Shadow {
    /// What a path is by the changes; `None` where none of them concerns it.
    pub fn entry(&self, path: &Path) -> Option<&Entry> {
        if self.entries.is_empty() {
            return None;
        }
        let own = self.entries.get(path);
        // Nothing is left of what was in a folder that was removed.
        let is_gone = || path.ancestors().skip(1).find_map(|folder| self.entries.get(folder)) == Some(&Entry::Absent);
        own.or_else(|| is_gone().then_some(&Entry::Absent))
    }

    /// Changes what a path is.
    pub fn set(&mut self, path: PathBuf, entry: Entry) -> Result<(), String> {
        let length = |entry: &Entry| if let Entry::File(content) = entry { content.len() } else { 0 };
        let before = self.entries.get(&path).map_or(0, length);
        let bytes = self.bytes - before + length(&entry);
        if bytes > MOST_BYTES {
            let shown = path.display();
            return Err(format!(
                "`{shown}`: what the model writes without `--allow-write` is kept in memory, up to 256 MB"
            ));
        }
        self.bytes = bytes;
        self.entries.insert(path, entry);
        Ok(())
    }

    /// What the changes say about the entries of a folder: names, and whether they are there.
    pub fn children<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = (String, bool)> + 'a {
        let inside = self.entries.iter().filter(move |(path, _)| path.parent() == Some(folder));
        inside.filter_map(|(path, entry)| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some((name, *entry != Entry::Absent))
        })
    }
}
