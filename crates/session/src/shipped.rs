//! The library that comes with the program, as a folder beside those of the computer.

use std::io;
use std::path::Path;

use lang::Files;

/// The files of somebody else and those of the library.
pub(crate) struct WithLibrary(pub Box<dyn Files>);

impl Files for WithLibrary {
    fn read(&self, path: &Path) -> io::Result<String> {
        match library::read(path) {
            Some(text) => Ok(text.to_owned()),
            None => self.0.read(path),
        }
    }

    fn list(&self, path: &Path) -> Vec<(String, bool)> {
        if path.starts_with(library::FOLDER) { library::list(path) } else { self.0.list(path) }
    }

    fn bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        match library::read(path) {
            Some(text) => Ok(text.to_owned().into_bytes()),
            None => self.0.bytes(path),
        }
    }

    fn exists(&self, path: &Path) -> bool {
        library::exists(path) || self.0.exists(path)
    }
}
