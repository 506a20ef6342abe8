//! `gyrator convert`: rewrites models for another version of a library that they use, by the library's own scripts.

use std::path::{Path, PathBuf};

use base::Name;
use lang::{Disk, Libraries};
use packages::conversion::{self, Text};
use packages::{Version, Wanted};

use crate::arguments::Convert;
use crate::diff::unified;
use crate::exit::{Exit, Failure};
use crate::style::{Style, print, tell};
use crate::subject::library_folders;

pub fn run(convert: &Convert, style: Style) -> Result<(), Failure> {
    let wanted = Wanted::parse(&convert.to).map_err(Failure::call)?;
    let to = wanted.version.as_ref().ok_or_else(|| {
        Failure::call(format!("to which version of `{0}`? Write it as `--to {0}@1.2.3`", wanted.name))
    })?;
    let mut files = Vec::new();
    for target in &convert.targets {
        collect(target, &mut files)?;
    }
    let before: Vec<Text> = files.into_iter().map(read).collect::<Result<_, _>>()?;
    let used = conversion::used_version(&before, &wanted.name).map_err(failed)?;
    let from = convert.from.clone().or(used).ok_or_else(|| no_version(&before, &wanted.name))?;
    let mut after = before.clone();
    let mut remarks = Vec::new();
    if !Version::new(&*from).is(to) {
        let (mut libraries, library) = library(convert, &wanted.name, to)?;
        let definition = libraries.get(library).class.clone();
        let mut script = |address: &str| {
            let path = match address.contains("://") {
                true => libraries.resource(address),
                false => libraries.get(library).directory.as_ref().map(|folder| folder.join(address)),
            };
            let path = path.ok_or_else(|| format!("the script `{address}` is not in the library"))?;
            std::fs::read_to_string(&path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))
        };
        let steps = conversion::steps(&definition, &from, &mut script).map_err(failed)?;
        let libraries = std::cell::RefCell::new(libraries);
        let has = |class: &str| has_class(&mut libraries.borrow_mut(), class);
        for step in &steps {
            conversion::convert(&mut after, &wanted.name, step, &has, &mut remarks).map_err(failed)?;
        }
    }
    for remark in &remarks {
        let message = format!("{}:{}: {}", remark.path.display(), remark.line, remark.message);
        tell(&style.message(&format!("warning: {message}\n")));
    }
    finish(convert, &before, &after)
}

/// Files of a package are not converted without it: what their names mean may stand in another file, and the package would
/// still say that it uses the old version.
fn no_version(texts: &[Text], library: &str) -> Failure {
    let around = texts.first().and_then(|text| used_around(&text.path, library));
    let advice = match around {
        Some((package, version)) => {
            format!("`{}` names {version}: convert its whole folder, or give it by --from {version}", package.display())
        }
        None => "give it by --from".to_owned(),
    };
    Failure::call(format!("no annotation says which version of `{library}` is used; {advice}"))
}

/// The `package.mo` around a file which says what version it uses.
fn used_around(file: &Path, library: &str) -> Option<(PathBuf, String)> {
    let folders = file.ancestors().skip(1).map(|folder| if folder == Path::new("") { Path::new(".") } else { folder });
    let mut packages = folders.map(|folder| folder.join("package.mo")).take_while(|package| package.is_file());
    packages.find_map(|package| {
        let content = std::fs::read_to_string(&package).ok()?;
        let used = conversion::used_version(&[Text { path: package.clone(), content }], library).ok()??;
        Some((package, used))
    })
}

/// Shows or writes what changed.
fn finish(convert: &Convert, before: &[Text], after: &[Text]) -> Result<(), Failure> {
    let changed: Vec<(&Text, &Text)> =
        before.iter().zip(after).filter(|(old, new)| old.content != new.content).collect();
    if convert.dry_run {
        let diffs = changed.iter().map(|(old, new)| unified(&old.path, &old.content, &new.content));
        return print(&diffs.collect::<String>());
    }
    for (_, new) in &changed {
        write(&new.path, &new.content).map_err(|error| Failure {
            exit: Exit::Model,
            message: format!("cannot write `{}`: {error}", new.path.display()),
        })?;
    }
    match convert.quiet {
        true => Ok(()),
        false => print(&format!("{} of {} files changed\n", changed.len(), before.len())),
    }
}

/// A file is replaced as a whole, so that a full disk leaves the old one.
fn write(path: &Path, content: &str) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    std::fs::write(&beside, content)?;
    if let Ok(data) = path.metadata() {
        std::fs::set_permissions(&beside, data.permissions())?;
    }
    std::fs::rename(&beside, path)
}

/// The version of the library that is converted to.
fn library(convert: &Convert, name: &str, to: &Version) -> Result<(Libraries, lang::DefId), Failure> {
    let folders = library_folders(&convert.libraries);
    let mut libraries = Libraries::new(Box::new(Disk));
    folders.iter().for_each(|folder| libraries.add_search_path(folder));
    // The annotation `uses` of a text that nobody wrote says which of several versions is meant.
    let asking = format!("package Conversion annotation(uses({name}(version = \"{to}\"))); end Conversion;");
    libraries.add_text("conversion.mo", asking);
    let Some(found) = libraries.class(Libraries::ROOT, Name::new(name)) else {
        return Err(failed(format!("there is no library `{name}`; give its folder by -L, or install it")));
    };
    let known = lang::annotation::text(&libraries.get(found).class, "version").unwrap_or_default();
    match Version::new(&*known).is(to) {
        true => Ok((libraries, found)),
        false => Err(failed(format!("`{name}` {to} is not there, but {known}; give its folder by -L, or install it"))),
    }
}

fn has_class(libraries: &mut Libraries, class: &str) -> bool {
    let parts = lang::name_parts(class);
    parts.iter().try_fold(Libraries::ROOT, |class, part| libraries.class(class, Name::new(part))).is_some()
}

/// The Modelica files of a target: itself, or all in the folder of a package.
fn collect(target: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if target.is_file() {
        files.push(target.to_owned());
        return Ok(());
    }
    let entries = std::fs::read_dir(target)
        .map_err(|error| Failure::call(format!("cannot read `{}`: {error}", target.display())))?;
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() && !path.is_symlink() && !name.starts_with('.') {
            collect(&path, files)?;
        } else if path.is_file() && name.ends_with(".mo") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: PathBuf) -> Result<Text, Failure> {
    match std::fs::read_to_string(&path) {
        Ok(content) => Ok(Text { path, content }),
        Err(error) => Err(failed(format!("cannot read `{}`: {error}", path.display()))),
    }
}

fn failed(message: String) -> Failure {
    Failure { exit: Exit::Model, message }
}
