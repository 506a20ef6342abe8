//! ZIP archives, unpacked with care: no entry leaves the folder, links are refused, and there is a limit on what comes out.

use std::io::{Cursor, Read as _};
use std::path::Path;

use zip::ZipArchive;

/// An archive may hold this much, and this many times its own size: texts shrink to a twentieth, tables to a fiftieth. A small
/// archive may be all of one table.
const MOST_BYTES: u64 = 8 << 30;
const MOST_TIMES: u64 = 100;
const ALWAYS: u64 = 64 << 20;
const MOST_ENTRIES: usize = 500_000;

/// Unpacks an archive into a folder that exists. Returns its comment, in which some servers write the commit.
pub fn unpack(bytes: &[u8], folder: &Path, shown: &str) -> Result<String, String> {
    let fault = |error: &dyn std::fmt::Display| format!("`{shown}` cannot be unpacked: {error}");
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| fault(&error))?;
    if archive.len() > MOST_ENTRIES {
        return Err(fault(&"it has too many entries"));
    }
    let most = (MOST_TIMES * bytes.len() as u64).clamp(ALWAYS, MOST_BYTES);
    let too_large = || fault(&format!("its content is too large: an archive of this size may hold {} MB", most >> 20));
    if archive.decompressed_size().is_some_and(|size| size > u128::from(most)) {
        return Err(too_large());
    }
    let mut room = most;
    for position in 0..archive.len() {
        let entry = archive.by_index(position).map_err(|error| fault(&error))?;
        let name = entry.name().to_owned();
        let is_absolute = name.starts_with(['/', '\\']);
        let Some(inside) = entry.enclosed_name().filter(|inside| !is_absolute && is_plain(inside)) else {
            return Err(fault(&format!("the entry `{name}` leads out of its folder")));
        };
        if entry.is_symlink() {
            return Err(fault(&format!("the entry `{name}` is a link")));
        }
        let path = folder.join(inside);
        if entry.is_dir() {
            std::fs::create_dir_all(&path).map_err(|error| fault(&error))?;
            continue;
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| fault(&error))?;
        }
        // What an entry says about its size need not be true.
        let mut file = std::fs::File::create_new(&path).map_err(|error| fault(&format!("`{name}`: {error}")))?;
        let written = std::io::copy(&mut entry.take(room + 1), &mut file).map_err(|error| fault(&error))?;
        room = room.checked_sub(written).ok_or_else(too_large)?;
    }
    Ok(String::from_utf8_lossy(archive.comment()).into_owned())
}

/// Names alone: no `..`, no root.
fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
}
