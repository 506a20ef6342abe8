//! Installs libraries, each in one step: either it is there as a whole, or nothing of it is.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::index::{Index, Release};
use crate::installed::{Installed, LibraryFolder, record};
use crate::version::Version;
use crate::{archive, fetch, material};

/// A library that is asked for: `Name`, `Name@1.2`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// The name of the library.
    pub name: String,
    /// The version, if it matters.
    pub version: Option<Version>,
}

impl Wanted {
    /// Of its text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name || version.is_some_and(str::is_empty) {
            return Err(format!("`{text}` is neither a file or folder nor a library as `Name` or `Name@1.2.3`"));
        }
        Ok(Self { name: name.to_owned(), version: version.map(Version::new) })
    }
}

/// What came of one library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Done {
    /// It is there now.
    Installed(Installed),
    /// It was there already.
    Present(Installed),
}

/// Puts libraries into a folder.
pub struct Installer<'a> {
    folder: &'a LibraryFolder,
    index: Option<&'a Index>,
    /// Whether a version that is there is replaced.
    pub replace: bool,
    /// Whether the libraries that one uses are installed too.
    pub dependencies: bool,
    done: Vec<Done>,
    /// What could not be had although a library uses it.
    pub missing: Vec<String>,
}

impl<'a> Installer<'a> {
    /// For a folder, with the index in which names are looked up.
    pub fn new(folder: &'a LibraryFolder, index: Option<&'a Index>) -> Self {
        Self { folder, index, replace: false, dependencies: true, done: Vec::new(), missing: Vec::new() }
    }

    /// What was done so far, in its order.
    pub fn done(&self) -> &[Done] {
        &self.done
    }

    /// Installs a library from the index with what it uses.
    pub fn from_index(&mut self, wanted: &Wanted) -> Result<(), String> {
        let index = self.index.ok_or_else(|| {
            format!("where is `{}`? Give an index with --index, or a folder or archive with --from", wanted.name)
        })?;
        let release = index.find(&wanted.name, wanted.version.as_ref())?;
        self.release(&release)
    }

    fn release(&mut self, release: &Release) -> Result<(), String> {
        if let Some(present) = self.folder.find(&release.name, &release.version).filter(|_| !self.replace) {
            self.note(Done::Present(present));
            return self.used(&release.uses);
        }
        let staging = Staging::new(self.folder)?;
        let mut faults = Vec::new();
        let bytes = release.archives.iter().find_map(|address| match fetch(address) {
            Ok(bytes) => Some((address, bytes)),
            Err(fault) => {
                faults.push(fault);
                None
            }
        });
        let (address, bytes) = bytes.ok_or_else(|| faults.join("; "))?;
        let expected = release.sha256.as_ref().filter(|expected| **expected != material::hash_of(&bytes));
        if let Some(expected) = expected {
            return Err(format!("`{address}` is not the archive of the index: its SHA-256 is not {expected}"));
        }
        let unpacked = staging.folder("unpacked")?;
        let comment = archive::unpack(&bytes, &unpacked, address)?;
        // Servers of repositories write the commit into the archive.
        let is_commit = comment.len() == 40 && comment.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(commit) = release.commit.as_ref().filter(|commit| is_commit && **commit != comment) {
            return Err(format!("`{address}` was made from the commit {comment}, not from {commit} as the index says"));
        }
        let package = inside(&unpacked, &release.path)?;
        self.place(&staging, &package, address, Some(&release.name), Some(&release.version))?;
        self.used(&release.uses)
    }

    /// Installs a library from a folder, a checkout or an archive.
    pub fn from_path(&mut self, path: &Path, wanted: Option<&Wanted>) -> Result<(), String> {
        let staging = Staging::new(self.folder)?;
        let name = wanted.map(|wanted| wanted.name.as_str());
        let shown = path.display().to_string();
        let package = if path.is_dir() || path.extension().is_some_and(|ending| ending == "mo") {
            if path.is_dir() { material::find_package(path, name, &shown)? } else { path.to_owned() }
        } else {
            let bytes = fetch(&shown)?;
            let unpacked = staging.folder("unpacked")?;
            archive::unpack(&bytes, &unpacked, &shown)?;
            material::find_package(&unpacked, name, &shown)?
        };
        let described = material::describe(&package)?;
        let asked = wanted.and_then(|wanted| wanted.version.as_ref());
        if let (Some(asked), Some(found)) = (asked, &described.version)
            && !found.is(asked)
            && !found.begins_with(asked)
        {
            return Err(format!("`{}` is version {found} of `{}`, not {asked}", path.display(), described.name));
        }
        let version = described.version.clone().or_else(|| asked.cloned());
        let from = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.place(&staging, &package, &from.display().to_string(), name, version.as_ref())?;
        self.used(&described.uses)
    }

    /// Copies a package and lets it appear under its name.
    fn place(
        &mut self,
        staging: &Staging,
        package: &Path,
        from: &str,
        name: Option<&str>,
        version: Option<&Version>,
    ) -> Result<(), String> {
        let described = material::describe(package)?;
        let name = name.unwrap_or(&described.name);
        if described.name != name {
            return Err(format!("`{from}` holds the package `{}`, not `{name}`", described.name));
        }
        let version = version.or(described.version.as_ref()).map(Version::as_str).ok_or_else(|| {
            format!("`{name}` does not say which version it is; write it as `{name}@1.2.3` with --from")
        })?;
        if version.contains(['/', '\\', '\0', ' ']) || version.is_empty() || version.starts_with('.') {
            return Err(format!("`{version}` is no version"));
        }
        if name.contains(['/', '\\', '\0']) || name.starts_with('.') {
            return Err(format!("the package of `{from}` is called `{name}`, which cannot be the name of a folder"));
        }
        let place = self.folder.path().join(format!("{name} {version}"));
        let copied = staging.0.join("package");
        material::copy(package, &copied)?;
        let hash = material::hash(&copied)?;
        let made = Installed {
            name: name.to_owned(),
            version: version.to_owned(),
            from: Some(from.to_owned()),
            sha256: Some(hash),
            folder: place.clone(),
        };
        record(&copied, &made)?;
        if let Some(present) = self.folder.find(name, &Version::new(version)) {
            if present.sha256 == made.sha256 && present.sha256.is_some() {
                self.note(Done::Present(present));
                return Ok(());
            }
            if !self.replace {
                let (there, from) = (present.folder.display(), present.from.as_deref().unwrap_or("somewhere else"));
                return Err(format!("`{there}` is there with other content, from {from}; --replace replaces it"));
            }
            let old = staging.0.join("old");
            std::fs::rename(&present.folder, &old)
                .map_err(|error| format!("cannot replace `{}`: {error}", present.folder.display()))?;
        }
        std::fs::rename(&copied, &place).map_err(|error| format!("cannot make `{}`: {error}", place.display()))?;
        self.note(Done::Installed(made));
        Ok(())
    }

    fn note(&mut self, done: Done) {
        if !self.done.contains(&done) {
            self.done.push(done);
        }
    }

    /// Installs what a library uses, as far as the index has it.
    fn used(&mut self, uses: &[(String, Version)]) -> Result<(), String> {
        let (true, Some(index)) = (self.dependencies, self.index) else { return Ok(()) };
        for (name, version) in uses {
            let is_done = self.done.iter().any(|done| {
                let (Done::Installed(known) | Done::Present(known)) = done;
                known.name == *name && Version::new(&known.version).is(version)
            });
            if is_done {
                continue;
            }
            match index.find(name, Some(version)) {
                // What is on the way already is not looked at again.
                Ok(release) if self.is_known(&release) => {}
                Ok(release) => self.release(&release)?,
                Err(reason) => self.missing.push(reason),
            }
        }
        Ok(())
    }

    fn is_known(&self, release: &Release) -> bool {
        self.done.iter().any(|done| {
            let (Done::Installed(known) | Done::Present(known)) = done;
            known.name == release.name && known.version == release.version.as_str()
        })
    }
}

/// The package of an index entry in an unpacked archive, below the one folder that archives of repositories have.
fn inside(unpacked: &Path, path: &str) -> Result<PathBuf, String> {
    let is_plain = Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if !is_plain && path != "." {
        return Err(format!("the index has the path `{path}`, which leaves the archive"));
    }
    let path = if path == "." { "" } else { path };
    let inner = std::fs::read_dir(unpacked).into_iter().flatten().flatten().map(|entry| entry.path());
    let folders: Vec<PathBuf> = inner.filter(|path| path.is_dir()).collect();
    let is_package = |place: &PathBuf| place.is_file() || place.join("package.mo").is_file();
    let places = [unpacked.to_owned()].into_iter().chain(folders).map(|folder| folder.join(path));
    places.into_iter().find(is_package).ok_or_else(|| format!("the archive has no package at `{path}`"))
}

/// A hidden folder in the library folder, on the same disk so that renaming works. It goes when the work is over; one that a
/// killed process left goes with the next.
struct Staging(PathBuf);

/// The folders of all work that is under way.
static UNDER_WAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes what is unfinished, for a process that ends now. What is being written meanwhile may need another turn.
pub fn remove_unfinished() {
    let folders = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    for folder in &*folders {
        for _ in 0..10 {
            if std::fs::remove_dir_all(folder).is_ok() || !folder.exists() {
                break;
            }
        }
    }
}

impl Staging {
    fn new(folder: &LibraryFolder) -> Result<Self, String> {
        let fault = |error: std::io::Error| format!("cannot write in `{}`: {error}", folder.path().display());
        std::fs::create_dir_all(folder.path()).map_err(fault)?;
        remove_old(folder.path());
        let path = folder.hidden("staging");
        std::fs::create_dir(&path).map_err(fault)?;
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        Ok(Self(path))
    }

    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        std::fs::create_dir(&path).map_err(|error| format!("cannot make `{}`: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).retain(|folder| *folder != self.0);
    }
}

/// Removes what was left behind long ago.
fn remove_old(folder: &Path) {
    const LONG: std::time::Duration = std::time::Duration::from_secs(24 * 3600);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_ours = name.starts_with(".staging-") || name.starts_with(".removed-");
        let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
        if is_ours && age.is_some_and(|age| age > LONG) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
