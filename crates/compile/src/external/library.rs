//! Shared libraries that are loaded, and which functions are theirs.

#![allow(unsafe_code)]

use std::path::{Path, PathBuf};

use libloading::Library;

/// Who finds the functions of a library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Those who ask for it.
    Local,
    /// All that are loaded after it.
    Global,
}

/// Loads a library. All that it needs has to be there now: what is missing would end the process when it is called.
#[cfg(unix)]
pub fn open(path: &Path, visibility: Visibility) -> Result<Library, String> {
    use libloading::os::unix;
    let visible = if visibility == Visibility::Global { unix::RTLD_GLOBAL } else { unix::RTLD_LOCAL };
    // SAFETY: the user allowed the library, and with it what it does when it is loaded.
    let library = unsafe { unix::Library::open(Some(path), unix::RTLD_NOW | visible) };
    library.map(Library::from).map_err(|error| format!("`{}` cannot be loaded: {error}", path.display()))
}

#[cfg(not(unix))]
pub fn open(path: &Path, _: Visibility) -> Result<Library, String> {
    // SAFETY: the user allowed the library, and with it what it does when it is loaded.
    let library = unsafe { Library::new(path) };
    library.map_err(|error| format!("`{}` cannot be loaded: {error}", path.display()))
}

/// The function of the library itself. The linker also finds those of the libraries that it uses, such as `system` of the
/// C library, which the user did not allow.
pub fn find(path: &Path, library: &Library, symbol: &str) -> Option<*const ()> {
    // SAFETY: only the address is taken.
    let found = unsafe { library.get::<*const ()>(symbol.as_bytes()) };
    found.ok().map(|found| *found).filter(|&function| is_of(path, function))
}

#[cfg(unix)]
fn is_of(library: &Path, function: *const ()) -> bool {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for; the structure is filled where the answer is not zero.
    let name = unsafe {
        match libc::dladdr(function.cast(), found.as_mut_ptr()) {
            0 => return false,
            _ => found.assume_init().dli_fname,
        }
    };
    if name.is_null() {
        return false;
    }
    // SAFETY: a text of the linker, which lives as long as the library.
    let file = PathBuf::from(unsafe { std::ffi::CStr::from_ptr(name) }.to_string_lossy().into_owned());
    match library.parent().is_some_and(|folder| !folder.as_os_str().is_empty()) {
        true => {
            library.canonicalize().ok().is_some_and(|library| file.canonicalize().is_ok_and(|file| file == library))
        }
        // Found by the linker under its name alone.
        false => file.file_name() == library.file_name(),
    }
}

#[cfg(not(unix))]
fn is_of(_library: &Path, _function: *const ()) -> bool {
    true
}
