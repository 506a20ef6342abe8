//! What the libraries of a session offer, without a model: their classes, and the parameters and connectors of one.

use std::path::PathBuf;

use lang::catalogue::{self, Entry, Interface};

use crate::pipeline::Session;

impl Session {
    /// Looks for classes in these folders, and last in the library that comes with the program.
    pub fn search(&mut self, folders: &[PathBuf]) {
        for folder in folders {
            self.libraries.add_search_path(folder);
        }
        self.libraries.add_search_path(library::FOLDER);
    }

    /// A class and all classes inside of it; nothing if there is no such class.
    pub fn classes(&mut self, name: &str) -> Vec<Entry> {
        catalogue::classes(&mut self.libraries, name).unwrap_or_default()
    }

    /// What the user of a class gives values to and connects.
    pub fn interface(&mut self, name: &str) -> Option<Interface> {
        catalogue::interface(&mut self.libraries, name)
    }
}
