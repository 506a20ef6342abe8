//! An index of libraries, in the format of the package manager of OpenModelica: `libs` → name → `versions` → where the archive is and what
//! the version uses and stands for.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::fetch::relative_to;
use crate::version::Version;

#[derive(Deserialize)]
struct File {
    libs: BTreeMap<String, Library>,
    #[serde(default)]
    mirrors: Vec<String>,
}

#[derive(Deserialize)]
struct Library {
    versions: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    zipfile: String,
    path: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    uses: BTreeMap<String, String>,
    #[serde(default)]
    provides: Vec<String>,
    #[serde(default)]
    sha: Option<String>,
    #[serde(default)]
    sha256: Option<String>,
}

/// The libraries that can be had.
pub struct Index {
    origin: String,
    file: File,
}

/// One version of a library in an index.
#[derive(Clone, Debug)]
pub struct Release {
    /// The name of the library.
    pub name: String,
    /// The version.
    pub version: Version,
    /// Where the archive is; further addresses are mirrors.
    pub archives: Vec<String>,
    /// The package in the archive, below its one folder.
    pub path: String,
    /// What it uses.
    pub uses: Vec<(String, Version)>,
    /// Earlier versions that it stands for.
    pub provides: Vec<Version>,
    /// The commit it was made from.
    pub commit: Option<String>,
    /// The hash of the archive.
    pub sha256: Option<String>,
}

impl Index {
    /// Of its text, which was read at `origin`.
    pub fn parse(origin: &str, text: &[u8]) -> Result<Self, String> {
        let file =
            serde_json::from_slice(text).map_err(|error| format!("`{origin}` is no index of libraries: {error}"))?;
        Ok(Self { origin: origin.to_owned(), file })
    }

    /// The names of all libraries.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.file.libs.keys().map(String::as_str)
    }

    /// The versions of a library, the newest last.
    pub fn versions(&self, name: &str) -> Vec<Version> {
        let mut versions: Vec<Version> = self.releases(name).map(|release| release.version).collect();
        versions.sort();
        versions
    }

    fn releases<'i>(&'i self, name: &'i str) -> impl Iterator<Item = Release> + 'i {
        let versions = self.file.libs.get(name).into_iter().flat_map(|library| &library.versions);
        versions.map(|(key, entry)| {
            let archive = relative_to(&self.origin, &entry.zipfile);
            let tail = archive.split_once("://").map(|(_, rest)| rest.to_owned());
            let mirrors = self.file.mirrors.iter().filter_map(|mirror| Some(format!("{mirror}{}", tail.as_ref()?)));
            Release {
                name: name.to_owned(),
                version: Version::new(entry.version.as_ref().unwrap_or(key)),
                archives: [archive.clone()].into_iter().chain(mirrors).collect(),
                path: entry.path.clone(),
                uses: entry.uses.iter().map(|(name, version)| (name.clone(), Version::new(version))).collect(),
                provides: entry.provides.iter().map(Version::new).collect(),
                commit: entry.sha.clone(),
                sha256: entry.sha256.clone(),
            }
        })
    }

    /// The newest version that is released; the one asked for; else the newest whose numbers begin like it; else the newest
    /// that stands for it.
    pub fn find(&self, name: &str, asked: Option<&Version>) -> Result<Release, String> {
        let mut releases: Vec<Release> = self.releases(name).collect();
        if releases.is_empty() {
            return Err(format!("the index has no library `{name}`"));
        }
        releases.sort_by(|a, b| b.version.cmp(&a.version));
        let found = match asked {
            None => releases.iter().find(|release| !release.version.is_early()).or(releases.first()),
            Some(asked) => {
                let exact = releases.iter().find(|release| release.version.as_str() == asked.as_str());
                let same = || releases.iter().find(|release| release.version.is(asked));
                let close = || {
                    releases.iter().find(|release| release.version.begins_with(asked) && !release.version.is_early())
                };
                let provided = || releases.iter().find(|release| release.provides.iter().any(|known| known.is(asked)));
                exact.or_else(same).or_else(close).or_else(provided)
            }
        };
        found.cloned().ok_or_else(|| {
            let asked = asked.map(Version::to_string).unwrap_or_default();
            let known: Vec<String> = releases.iter().rev().map(|release| release.version.to_string()).collect();
            format!("the index has no version {asked} of `{name}`; it has {}", known.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"libs": {"Lib": {"versions": {
        "1.9.0": {"path": "Lib", "zipfile": "a.zip"},
        "1.10.0": {"path": "Lib", "zipfile": "https://host/b.zip", "uses": {"Base": "2.0"}, "provides": ["1.8.0"]},
        "2.0.0-beta": {"path": "Lib", "zipfile": "c.zip", "version": "2.0.0-beta"}}}},
        "mirrors": ["https://mirror/cache/"]}"#;

    #[test]
    fn the_version_that_is_asked_for() {
        let index = Index::parse("http://here/x/index.json", TEXT.as_bytes()).unwrap();
        let version =
            |asked: &str| index.find("Lib", Some(&Version::new(asked))).map(|release| release.version.to_string());
        assert_eq!(index.find("Lib", None).unwrap().version.as_str(), "1.10.0");
        assert_eq!(version("1.9").as_deref(), Ok("1.9.0"));
        assert_eq!(version("1").as_deref(), Ok("1.10.0"));
        assert_eq!(version("1.8.0").as_deref(), Ok("1.10.0"));
        assert_eq!(version("2.0.0-beta").as_deref(), Ok("2.0.0-beta"));
        assert_eq!(
            version("3.0").unwrap_err(),
            "the index has no version 3.0 of `Lib`; it has 1.9.0, 1.10.0, 2.0.0-beta"
        );
        assert!(index.find("Other", None).is_err());
        let release = index.find("Lib", None).unwrap();
        assert_eq!(release.archives, ["https://host/b.zip", "https://mirror/cache/host/b.zip"]);
        let first = index.find("Lib", Some(&Version::new("1.9.0"))).unwrap();
        assert_eq!(first.archives[0], "http://here/x/a.zip");
    }
}
