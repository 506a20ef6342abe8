//! What a model may touch outside of itself: the files it may read and write, and the environment.
//!
//! The user decides in the call of the program; the functions of the outside library ask. Paths are compared after `..`
//! and symbolic links are resolved, also those of files that do not exist yet, and what was compared is what is opened.

use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base::Diagnostic;

/// As many symbolic links are followed on the way to one file; more of them are a circle.
const MAX_LINKS: usize = 64;

/// The folders that the user names in the call.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// `--allow-read`: without a warning.
    pub read: Vec<PathBuf>,
    /// `--allow-write`: what is below may be written, removed and read.
    pub write: Vec<PathBuf>,
    /// `--allow-env`
    pub environment: bool,
    /// `--strict`: what would be read, or changed in memory, with a warning is refused.
    pub strict: bool,
}

/// What one model may touch.
#[derive(Debug, Default)]
pub struct Access {
    allowed: Allowed,
    /// The folder of the model, and the working directory.
    own: Vec<PathBuf>,
    /// Files elsewhere that were read, each once.
    outside: Mutex<Outside>,
}

#[derive(Debug, Default)]
struct Outside {
    files: Vec<PathBuf>,
    /// How many of them have been reported.
    reported: usize,
    /// What was changed in memory in place of the disk: of each folder the first path, with what was done to it.
    shadowed: Vec<(PathBuf, String)>,
    shadows_reported: usize,
}

/// Where a change of a file or folder goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// The user allows it.
    Disk(PathBuf),
    /// The user does not, and it is in a folder of the model: the disk stays as it is, and the model alone sees the change.
    Shadow(PathBuf),
}

impl Change {
    /// The resolved path.
    pub fn path(&self) -> &Path {
        match self {
            Change::Disk(path) | Change::Shadow(path) => path,
        }
    }
}

/// What is there is not stored but tells about the machine and what runs on it.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

impl Access {
    /// `own` are the folders that belong to the model.
    pub fn new(allowed: Allowed, own: Vec<PathBuf>) -> Self {
        let resolved = |folders: Vec<PathBuf>| folders.iter().filter_map(|folder| resolve(folder).ok()).collect();
        let Allowed { read, write, environment, strict } = allowed;
        let allowed = Allowed { read: resolved(read), write: resolved(write), environment, strict };
        Self { allowed, own: resolved(own), outside: Mutex::default() }
    }

    /// The file or folder to read. `libraries` are the folders of the model's libraries, resolved.
    pub fn read(&self, path: &Path, libraries: &[PathBuf]) -> Result<PathBuf, String> {
        let path = resolve(path)?;
        if self.allows_reading(&path) || is_below(&path, &self.own) || is_below(&path, libraries) {
            return Ok(path);
        }
        // The folders of the system show its processes, with their environment, and its devices.
        if SYSTEM.iter().any(|folder| path.starts_with(folder)) {
            let shown = path.display();
            return Err(format!("the model may not read `{shown}` of the system; {}", option("--allow-read", &path)));
        }
        if self.allowed.strict {
            return Err(format!("{}; {}", elsewhere("may not read", &path), option("--allow-read", &path)));
        }
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        if !outside.files.contains(&path) {
            outside.files.push(path.clone());
        }
        Ok(path)
    }

    /// Whether the user named a folder that a resolved path is in.
    pub fn allows_reading(&self, path: &Path) -> bool {
        is_below(path, &self.allowed.read) || is_below(path, &self.allowed.write)
    }

    /// The file to write; `verb` tells what is done to it. Symbolic links are followed.
    pub fn write(&self, path: &Path, verb: &str) -> Result<Change, String> {
        self.writable(resolve(path)?, verb)
    }

    /// The entry of a folder to remove or rename, which may be a symbolic link itself.
    pub fn change_entry(&self, path: &Path, verb: &str) -> Result<Change, String> {
        let entry = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => resolve(folder)?.join(name),
            _ => resolve(path)?,
        };
        self.writable(entry, verb)
    }

    fn writable(&self, path: PathBuf, verb: &str) -> Result<Change, String> {
        if is_below(&path, &self.allowed.write) {
            return Ok(Change::Disk(path));
        }
        // What lies elsewhere is not the model's, not even in a copy.
        if self.allowed.strict || !is_below(&path, &self.own) {
            let shown = path.display();
            return Err(format!("the model may not {verb} `{shown}`; {}", option("--allow-write", &path)));
        }
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        if !outside.shadowed.iter().any(|(other, _)| other.parent() == path.parent()) {
            outside.shadowed.push((path.clone(), verb.to_owned()));
        }
        Ok(Change::Shadow(path))
    }

    /// Whether a file may be changed, on the disk or in memory. Nothing is recorded.
    pub fn may_change(&self, path: &Path) -> bool {
        let is_own = |path: &PathBuf| !self.allowed.strict && is_below(path, &self.own);
        resolve(path).is_ok_and(|path| is_below(&path, &self.allowed.write) || is_own(&path))
    }

    /// Whether every change of a file is refused.
    pub fn refuses_all_writing(&self) -> bool {
        self.allowed.strict && self.allowed.write.is_empty()
    }

    /// Whether the environment of the process may be read and changed.
    pub fn allows_environment(&self) -> bool {
        self.allowed.environment
    }

    /// Whether a variable of the environment may be used; the error says what to do.
    pub fn environment(&self, verb: &str, name: &str) -> Result<(), String> {
        match self.allowed.environment {
            true => Ok(()),
            false => {
                Err(format!("the model may not {verb} the environment variable `{name}`; `--allow-env` allows it"))
            }
        }
    }

    /// Warnings about the files elsewhere that were read, and those that were changed in memory, since the last call.
    pub fn take_warnings(&self) -> Vec<Diagnostic> {
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        let new = outside.files[outside.reported..].iter().map(|path| {
            Diagnostic::warning("file-outside", elsewhere("reads", path))
                .hint(format!("{} without this warning; `--strict` refuses it", option("--allow-read", path)))
        });
        let shadowed = outside.shadowed[outside.shadows_reported..].iter().map(|(path, verb)| {
            let shown = path.display();
            let message =
                format!("the model may not {verb} `{shown}`: it did so in memory alone, and the disk is as it was");
            Diagnostic::warning("file-in-memory", message)
                .hint(format!("{}; `--strict` refuses it", option("--allow-write", path)))
        });
        let warnings = new.chain(shadowed).collect();
        outside.reported = outside.files.len();
        outside.shadows_reported = outside.shadowed.len();
        warnings
    }
}

fn elsewhere(verb: &str, path: &Path) -> String {
    let shown = path.display();
    format!("the model {verb} `{shown}`, which is outside of its libraries, its folder and the working directory")
}

/// The option with the folder that would have to be named.
fn option(name: &str, path: &Path) -> String {
    let folder = path.parent().filter(|_| !path.is_dir()).unwrap_or(path);
    format!("`{name} {}` allows it", folder.display())
}

/// Whether a resolved path is one of the resolved folders or in one.
pub fn is_below(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// The absolute path without symbolic links, `.` and `..`. What does not exist stays as it is named.
pub fn resolve(path: &Path) -> Result<PathBuf, String> {
    let failed = |error: std::io::Error| format!("`{}`: {error}", path.display());
    // Made absolute by hand: `std::path::absolute` keeps `..`, which has to be applied after links are followed.
    let absolute = match path.is_absolute() {
        true => path.to_owned(),
        false => std::env::current_dir().map_err(failed)?.join(path),
    };
    let mut resolved = PathBuf::new();
    // What is left to walk, the next part last.
    let mut parts: Vec<PathBuf> = parts_reversed(&absolute);
    let mut links = 0;
    while let Some(part) = parts.pop() {
        match part.components().next() {
            None | Some(Component::CurDir) => {}
            Some(Component::ParentDir) => {
                resolved.pop();
            }
            Some(Component::Prefix(_) | Component::RootDir) => resolved.push(&part),
            Some(Component::Normal(name)) => {
                let next = resolved.join(name);
                match std::fs::read_link(&next) {
                    Ok(target) => {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(format!("`{}` leads through too many symbolic links", path.display()));
                        }
                        parts.extend(parts_reversed(&target));
                    }
                    Err(_) => resolved = next,
                }
            }
        }
    }
    Ok(resolved)
}

fn parts_reversed(path: &Path) -> Vec<PathBuf> {
    let mut parts: Vec<PathBuf> = path.components().map(|part| PathBuf::from(part.as_os_str())).collect();
    parts.reverse();
    parts
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder for one test, with `own/`, `given/` and `secret/` in it.
    fn folders(name: &str) -> PathBuf {
        let root =
            resolve(&std::env::temp_dir()).unwrap().join(format!("gyrator-access-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for folder in ["own", "given", "secret"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("secret/file"), "x").unwrap();
        root
    }

    fn access(root: &Path, strict: bool) -> Access {
        let write = vec![root.join("given")];
        Access::new(Allowed { write, strict, ..Allowed::default() }, vec![root.join("own")])
    }

    #[test]
    fn links_and_dots_are_resolved_before_comparison() {
        let root = folders("links");
        symlink(root.join("secret"), root.join("own/link")).unwrap();
        symlink("../secret/new", root.join("given/dangling")).unwrap();
        symlink("circle", root.join("given/circle")).unwrap();
        let access = access(&root, true);
        let read = |path: &str| access.read(&root.join(path), &[]);
        assert_eq!(read("own/file"), Ok(root.join("own/file")));
        assert_eq!(read("secret/../own/./file"), Ok(root.join("own/file")));
        for path in ["own/../secret/file", "own/link/file", "own/missing/../../secret/file", "ownership"] {
            assert!(read(path).is_err(), "{path}");
        }
        let write = |path: &str| access.write(&root.join(path), "write");
        assert_eq!(write("given/a/b"), Ok(Change::Disk(root.join("given/a/b"))));
        for path in ["own/file", "given/dangling", "given/../own/file", "given/circle"] {
            assert!(write(path).is_err(), "{path}");
        }
        // The link is in the folder, whatever it leads to.
        let entry = access.change_entry(&root.join("given/dangling"), "remove");
        assert_eq!(entry, Ok(Change::Disk(root.join("given/dangling"))));
        assert!(access.change_entry(&root.join("own/link"), "remove").is_err());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_environment_is_not_read_through_a_file() {
        let root = folders("system");
        for path in ["/proc/self/environ", "/proc/1/environ", "/dev/zero", "/sys/kernel"] {
            let refused = access(&root, false).read(Path::new(path), &[]);
            assert!(refused.is_err_and(|message| message.contains("--allow-read")), "{path}");
        }
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_file_elsewhere_is_reported_once() {
        let root = folders("once");
        let access = access(&root, false);
        for _ in 0..2 {
            assert_eq!(access.read(&root.join("secret/file"), &[]), Ok(root.join("secret/file")));
        }
        let warnings = access.take_warnings();
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.message.contains("secret/file"), "{}", warning.message);
        assert!(warning.hint.as_ref().unwrap().contains("--allow-read"));
        assert_eq!(access.take_warnings(), []);
        assert!(access.read(&root.join("given/file"), &[]).is_ok() && access.take_warnings().is_empty());
        assert!(access.read(&root.join("secret/file"), &[root.join("secret")]).is_ok());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_folder_that_is_changed_in_memory_is_reported_once() {
        let root = folders("shadow");
        let access = access(&root, false);
        for name in ["own/a", "own/b", "given/a"] {
            let change = access.write(&root.join(name), "write").unwrap();
            assert_eq!(change, if name == "given/a" { Change::Disk } else { Change::Shadow }(root.join(name)));
        }
        assert!(access.write(&root.join("secret/new"), "write").is_err());
        let warnings = access.take_warnings();
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.message.contains("may not write") && warning.message.contains("own/a"), "{}", warning.message);
        assert_eq!(access.take_warnings(), []);
        fs::remove_dir_all(root).unwrap();
    }
}
