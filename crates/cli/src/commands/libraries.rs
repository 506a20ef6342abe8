//! `gyrator libraries`: what is in the library folder of the user.

use packages::{Installed, LibraryFolder};
use serde_json::json;

use crate::arguments::LibraryList;
use crate::exit::Failure;
use crate::style::print;

pub fn run(list: &LibraryList) -> Result<(), Failure> {
    let folder = LibraryFolder::of_user()
        .ok_or_else(|| Failure::call("there is no folder for libraries: set GYRATOR_LIBRARIES to one"))?;
    let libraries = folder.list();
    if list.json {
        return print(&format!("{:#}\n", json!({ "folder": folder.path(), "libraries": libraries })));
    }
    if libraries.is_empty() {
        return print(&format!("no libraries are installed in {}\n", folder.path().display()));
    }
    let width = |of: fn(&Installed) -> &str| libraries.iter().map(|known| of(known).len()).max().unwrap_or(0);
    let (name, version) = (width(|known| &known.name), width(|known| &known.version));
    let lines = libraries.iter().map(|known| {
        let from = known.from.as_deref().unwrap_or("put there by hand");
        format!("{:name$}  {:version$}  {from}\n", known.name, known.version)
    });
    print(&lines.collect::<String>())
}
