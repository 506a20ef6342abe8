//! The library folder of the user: what is installed, and how libraries get there from folders, archives and an index of
//! libraries on the net or on the disk.
//!
//! A library lies in `Name 1.2.3/`, versions side by side. What is installed is complete: it is put together in a hidden folder beside
//! and appears by one renaming.

mod archive;
pub mod conversion;
mod fetch;
mod index;
mod install;
mod installed;
mod material;
mod version;

pub use fetch::fetch;
pub use index::{Index, Release};
pub use install::{Done, Installer, Wanted, remove_unfinished};
pub use installed::{Installed, LibraryFolder};
pub use version::Version;
