//! The folders of the user in which the program keeps what is its own, as each system has them (on Linux the XDG base
//! directories).

use std::path::PathBuf;

/// What can be made again, such as compiled C code.
pub fn cache() -> Option<PathBuf> {
    own("XDG_CACHE_HOME", if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" })
}

/// What the user installed.
pub fn data() -> Option<PathBuf> {
    own("XDG_DATA_HOME", if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" })
}

fn own(variable: &str, below_home: &str) -> Option<PathBuf> {
    // A relative path in one of these variables does not count, as their specification says.
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = match cfg!(windows) {
        true => set("LOCALAPPDATA"),
        false => set(variable).or_else(|| set("HOME").map(|home| home.join(below_home))),
    };
    folder.map(|folder| folder.join("gyrator"))
}
