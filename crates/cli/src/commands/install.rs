//! `gyrator install`: puts libraries into the library folder of the user, or removes them.

use std::path::Path;

use packages::{Done, Index, Installed, Installer, LibraryFolder, Wanted};
use serde_json::json;

use crate::arguments::Install;
use crate::exit::{Exit, Failure};
use crate::style::{print, tell};

pub fn run(install: &Install) -> Result<(), Failure> {
    let folder = LibraryFolder::of_user()
        .ok_or_else(|| Failure::call("there is no folder for libraries: set GYRATOR_LIBRARIES to one"))?;
    match install.remove {
        true => remove(install, &folder),
        false => add(install, &folder),
    }
}

fn remove(install: &Install, folder: &LibraryFolder) -> Result<(), Failure> {
    let mut removed = Vec::new();
    for text in &install.libraries {
        let wanted = Wanted::parse(text).map_err(Failure::call)?;
        removed.push(folder.remove(&wanted.name, wanted.version.as_ref()).map_err(failed)?);
    }
    if install.json {
        return print(&format!("{:#}\n", json!({ "removed": removed })));
    }
    let lines = removed.iter().map(|gone| format!("removed {} {}\n", gone.name, gone.version));
    if install.quiet { Ok(()) } else { print(&lines.collect::<String>()) }
}

fn add(install: &Install, folder: &LibraryFolder) -> Result<(), Failure> {
    let address = install.index.clone().or_else(|| std::env::var("GYRATOR_INDEX").ok().filter(|set| !set.is_empty()));
    let index = match &address {
        Some(address) => {
            let text = packages::fetch(address).map_err(failed)?;
            Some(Index::parse(address, &text).map_err(failed)?)
        }
        None => None,
    };
    let mut installer = Installer::new(folder, index.as_ref());
    installer.replace = install.replace;
    installer.dependencies = !install.no_dependencies;
    let outcome = install.libraries.iter().try_for_each(|text| one(&mut installer, install, text));
    // What was installed before something failed is there.
    report(install, &installer)?;
    outcome
}

fn one(installer: &mut Installer<'_>, install: &Install, text: &str) -> Result<(), Failure> {
    let path = Path::new(text);
    if let Some(from) = &install.from {
        let wanted = Wanted::parse(text).map_err(Failure::call)?;
        if !from.exists() {
            return Err(Failure::call(format!("there is no file or folder `{}`", from.display())));
        }
        return installer.from_path(from, Some(&wanted)).map_err(failed);
    }
    // A folder of the name of a library is meant only where it is written as a path.
    let is_path =
        text.contains(['/', '\\']) || path.extension().is_some_and(|ending| ending == "zip" || ending == "mo");
    if is_path {
        if !path.exists() {
            return Err(Failure::call(format!("there is no file or folder `{text}`")));
        }
        return installer.from_path(path, None).map_err(failed);
    }
    let wanted = Wanted::parse(text).map_err(Failure::call)?;
    installer.from_index(&wanted).map_err(|reason| {
        let hint =
            if path.exists() { format!("; the folder or file of this name is `./{text}`") } else { String::new() };
        failed(reason + &hint)
    })
}

fn report(install: &Install, installer: &Installer<'_>) -> Result<(), Failure> {
    for missing in &installer.missing {
        tell(&format!("warning: a library that is used was not installed: {missing}\n"));
    }
    if install.json {
        let installed: Vec<&Installed> = installer
            .done()
            .iter()
            .filter_map(|done| match done {
                Done::Installed(known) => Some(known),
                Done::Present(_) => None,
            })
            .collect();
        let present: Vec<&Installed> = installer
            .done()
            .iter()
            .filter_map(|done| match done {
                Done::Present(known) => Some(known),
                Done::Installed(_) => None,
            })
            .collect();
        let summary = json!({ "installed": installed, "present": present, "missing": installer.missing });
        return print(&format!("{summary:#}\n"));
    }
    if install.quiet {
        return Ok(());
    }
    let lines = installer.done().iter().map(|done| match done {
        Done::Installed(known) => format!("installed {} {}\n", known.name, known.version),
        Done::Present(known) => format!("{} {} is installed already\n", known.name, known.version),
    });
    print(&lines.collect::<String>())
}

fn failed(message: String) -> Failure {
    Failure { exit: Exit::Model, message }
}
