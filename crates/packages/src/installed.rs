//! The library folder of the user and what is in it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::material;
use crate::version::Version;

/// The file in an installed library that tells where it is from.
const RECORD: &str = ".gyrator.json";

/// The folder.
#[derive(Clone, Debug)]
pub struct LibraryFolder {
    path: PathBuf,
}

/// What is told about an installed library.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Installed {
    /// The name of the library.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where it was installed from; nothing where somebody put it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The hash of its files when it was installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Where it is.
    #[serde(default, skip_deserializing)]
    pub folder: PathBuf,
}

impl LibraryFolder {
    /// `GYRATOR_LIBRARIES`, or `gyrator/libraries` in the folder of the user for data.
    pub fn of_user() -> Option<Self> {
        let set = std::env::var_os("GYRATOR_LIBRARIES").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let path = set.or_else(|| base::folders::data().map(|data| data.join("libraries")))?;
        Some(Self { path })
    }

    /// A folder that need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is there, by name and version.
    pub fn list(&self) -> Vec<Installed> {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut found: Vec<Installed> = entries.filter_map(|entry| installed(&entry.path())).collect();
        let key = |one: &Installed| (one.name.clone(), Version::new(&one.version));
        found.sort_by_key(key);
        found
    }

    /// The installed library of a name and version.
    pub fn find(&self, name: &str, version: &Version) -> Option<Installed> {
        self.list().into_iter().find(|known| known.name == name && Version::new(&known.version).is(version))
    }

    /// Removes one version, or the only one there is.
    pub fn remove(&self, name: &str, version: Option<&Version>) -> Result<Installed, String> {
        let known: Vec<Installed> = self.list().into_iter().filter(|known| known.name == name).collect();
        let versions: Vec<&str> = known.iter().map(|known| known.version.as_str()).collect();
        let found = match (version, known.as_slice()) {
            (_, []) => return Err(format!("`{name}` is not installed")),
            (None, [only]) => only,
            (None, _) => {
                return Err(format!("`{name}` is installed in the versions {}: name one", versions.join(", ")));
            }
            (Some(version), _) => known
                .iter()
                .find(|known| Version::new(&known.version).is(version))
                .ok_or_else(|| format!("`{name}` {version} is not installed; there is {}", versions.join(", ")))?,
        };
        // Out of sight first, so that nobody finds the half of it.
        let hidden = self.hidden("removed");
        std::fs::rename(&found.folder, &hidden)
            .and_then(|()| std::fs::remove_dir_all(&hidden))
            .map_err(|error| format!("cannot remove `{}`: {error}", found.folder.display()))?;
        Ok(found.clone())
    }

    /// A name in the folder that nobody else has, and that no search looks at.
    pub(crate) fn hidden(&self, what: &str) -> PathBuf {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        self.path.join(format!(".{what}-{}-{number}", std::process::id()))
    }
}

/// The library in a folder `Name 1.2.3`.
fn installed(folder: &Path) -> Option<Installed> {
    let entry = folder.file_name()?.to_string_lossy().into_owned();
    if entry.starts_with('.') || !folder.join("package.mo").is_file() {
        return None;
    }
    let recorded = std::fs::read(folder.join(RECORD)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    if let Some(recorded) = recorded {
        return Some(Installed { folder: folder.to_owned(), ..recorded });
    }
    let name = lang::class_of_folder(&entry).to_owned();
    let version = match entry.split_once(' ') {
        Some((_, version)) => version.to_owned(),
        None => material::describe(folder).ok()?.version.map(|version| version.to_string()).unwrap_or_default(),
    };
    Some(Installed { name, version, from: None, sha256: None, folder: folder.to_owned() })
}

/// Writes down where a library is from.
pub(crate) fn record(folder: &Path, what: &Installed) -> Result<(), String> {
    let path = folder.join(RECORD);
    let text = serde_json::to_string_pretty(&serde_json::json!({
        "name": what.name, "version": what.version, "from": what.from, "sha256": what.sha256,
    }));
    let text = text.map_err(|error| error.to_string())?;
    std::fs::write(&path, text + "\n").map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}
