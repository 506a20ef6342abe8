//! The Modelica library that comes with the program: the files of the folder `Gyrator`, embedded.

use std::path::Path;

use include_dir::{Dir, DirEntry, include_dir};

static FILES: Dir = include_dir!("$CARGO_MANIFEST_DIR/Gyrator");

/// The name of the folder in messages. It is no folder of the computer.
pub const FOLDER: &str = "<embedded>";

/// The text of a file such as `<embedded>/Gyrator/package.mo`.
pub fn read(path: &Path) -> Option<&'static str> {
    FILES.get_file(inside(path)?)?.contents_utf8()
}

/// The names in a folder with whether each is a folder.
pub fn list(path: &Path) -> Vec<(String, bool)> {
    if path == Path::new(FOLDER) {
        return vec![("Gyrator".to_owned(), true)];
    }
    let Some(folder) = inside(path) else { return Vec::new() };
    let folder = if folder.as_os_str().is_empty() { Some(&FILES) } else { FILES.get_dir(folder) };
    let entries = folder.map(Dir::entries).unwrap_or_default();
    let mut names: Vec<(String, bool)> = entries.iter().filter_map(name).collect();
    names.sort();
    names
}

/// Whether there is a file or folder.
pub fn exists(path: &Path) -> bool {
    path == Path::new(FOLDER)
        || inside(path).is_some_and(|inside| inside.as_os_str().is_empty() || FILES.contains(inside))
}

/// The path below the folder `Gyrator`.
fn inside(path: &Path) -> Option<&Path> {
    path.strip_prefix(FOLDER).ok()?.strip_prefix("Gyrator").ok()
}

fn name(entry: &DirEntry) -> Option<(String, bool)> {
    let name = entry.path().file_name()?.to_str()?.to_owned();
    Some((name, entry.as_dir().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_paths() {
        assert_eq!(list(Path::new(FOLDER)), [("Gyrator".to_owned(), true)]);
        let package = Path::new(FOLDER).join("Gyrator");
        assert!(list(&package).contains(&("package.mo".to_owned(), false)));
        assert!(exists(&package) && exists(&package.join("package.mo")));
        assert!(read(&package.join("package.mo")).is_some_and(|text| text.contains("package Gyrator")));
        assert!(!exists(&package.join("absent.mo")) && !exists(Path::new("Gyrator/package.mo")));
    }
}
