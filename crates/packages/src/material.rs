//! What is to be installed, as a folder: found in an archive or a checkout, copied, read and hashed.

use std::path::{Path, PathBuf};

use base::{FileId, Id as _};
use lang::annotation;
use sha2::{Digest, Sha256};

use crate::version::Version;

/// What a package says about itself.
#[derive(Clone, Debug)]
pub struct Described {
    /// The name of its class.
    pub name: String,
    /// The annotation `version`.
    pub version: Option<Version>,
    /// The annotation `uses`.
    pub uses: Vec<(String, Version)>,
}

/// The package below a folder: the one that is named or the only one, at the top or one folder below it, and a further
/// one below where these have files `Name.mo` only, which are packages too. Messages speak of `shown`, the folder or the archive that it was unpacked from.
pub fn find_package(folder: &Path, name: Option<&str>, shown: &str) -> Result<PathBuf, String> {
    if folder.join("package.mo").is_file()
        && name.is_none_or(|name| describe(folder).is_ok_and(|known| known.name == name))
    {
        return Ok(folder.to_owned());
    }
    let mut found = packages_in(folder);
    let mut level = vec![folder.to_owned()];
    if found.is_empty() {
        level = folders_in(&level);
        found = level.iter().flat_map(|inner| packages_in(inner)).collect();
    }
    // A file beside the folders of the sources may be an example: what it comes with is not passed over.
    if found.iter().all(|path| path.is_file()) {
        let deeper = folders_in(&level);
        found.extend(deeper.iter().flat_map(|inner| packages_in(inner)).filter(|path| path.is_dir()));
    }
    if let Some(name) = name {
        found.retain(|path| lang_name(path).as_deref() == Some(name));
    }
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(match name {
            Some(name) => format!("there is no package `{name}` in `{shown}`"),
            None => format!("there is no package in `{shown}`"),
        }),
        several => {
            let names: Vec<String> = several.iter().filter_map(|path| lang_name(path)).collect();
            Err(format!("`{shown}` has several packages, name one of them: {}", names.join(", ")))
        }
    }
}

fn folders_in(folders: &[PathBuf]) -> Vec<PathBuf> {
    folders.iter().flat_map(|folder| entries(folder)).filter(|path| path.is_dir()).collect()
}

/// Folders with `package.mo` and files with a class.
fn packages_in(folder: &Path) -> Vec<PathBuf> {
    let is_package = |path: &PathBuf| match path.is_dir() {
        true => path.join("package.mo").is_file(),
        false => path.extension().is_some_and(|ending| ending == "mo"),
    };
    entries(folder).into_iter().filter(is_package).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.retain(|path| path.file_name().is_some_and(|name| !is_left_behind(&name.to_string_lossy())));
    entries.sort();
    entries
}

/// Whether version control, an operating system or an editor keeps something there that is no part of a library.
fn is_left_behind(name: &str) -> bool {
    const KNOWN: [&str; 4] = ["__MACOSX", "Thumbs.db", "ehthumbs.db", "desktop.ini"];
    name.starts_with('.') || name.ends_with('~') || KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The class that a file or folder holds by its name.
fn lang_name(path: &Path) -> Option<String> {
    let stem = if path.is_dir() { path.file_name()? } else { path.file_stem()? };
    Some(lang::class_of_folder(&stem.to_string_lossy()).to_owned())
}

/// Reads what a package, a folder or a file, says about itself.
pub fn describe(package: &Path) -> Result<Described, String> {
    let file = if package.is_dir() { package.join("package.mo") } else { package.to_owned() };
    let bytes = std::fs::read(&file).map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
    let stored = syntax::parse(FileId::from_index(0), &String::from_utf8_lossy(&bytes)).ast();
    let [class] = stored.classes.as_slice() else {
        return Err(format!("`{}` does not hold one class", file.display()));
    };
    let uses = annotation::uses(class).into_iter();
    Ok(Described {
        name: class.name.name.as_str().to_owned(),
        version: annotation::text(class, "version").map(|version| Version::new(&*version)),
        uses: uses.map(|(name, version, _)| (name.as_str().to_owned(), Version::new(&*version))).collect(),
    })
}

/// Copies a package into a folder that does not exist yet, without what version control and operating systems keep there.
pub fn copy(package: &Path, to: &Path) -> Result<(), String> {
    let fault = |path: &Path, error: std::io::Error| format!("cannot copy `{}`: {error}", path.display());
    if package.is_file() {
        std::fs::create_dir(to).map_err(|error| fault(to, error))?;
        // The one file of a library becomes the file of its package.
        return std::fs::copy(package, to.join("package.mo")).map(drop).map_err(|error| fault(package, error));
    }
    let root = package.canonicalize().map_err(|error| fault(package, error))?;
    let mut open = vec![(package.to_owned(), to.to_owned())];
    let mut count = 0usize;
    while let Some((from, to)) = open.pop() {
        std::fs::create_dir(&to).map_err(|error| fault(&to, error))?;
        for path in entries(&from) {
            let resolved = path.canonicalize().map_err(|error| fault(&path, error))?;
            if !resolved.starts_with(&root) {
                return Err(format!("`{}` is a link that leaves the package", path.display()));
            }
            count += 1;
            if count > 1_000_000 {
                return Err(format!("`{}` has too many files", package.display()));
            }
            let target = to.join(path.file_name().unwrap_or_default());
            // A link to a folder around it would have no end.
            match path.is_dir() {
                true if path.is_symlink() => return Err(format!("`{}` is a link to a folder", path.display())),
                true => open.push((path, target)),
                false => std::fs::copy(&path, &target).map(drop).map_err(|error| fault(&path, error))?,
            }
        }
    }
    Ok(())
}

/// The hash of all files with their names, in a fixed order.
pub fn hash(folder: &Path) -> Result<String, String> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(inner) = open.pop() {
        for path in entries(&inner) {
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let bytes = std::fs::read(&file).map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
        for part in [name.as_bytes(), &bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    Ok(hexadecimal(&hash.finalize()))
}

/// The hash of an archive.
pub fn hash_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
