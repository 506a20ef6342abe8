//! `gyrator library`: the classes of the library that comes with the program, and what the user of one gives values to and
//! connects.

use session::catalogue::{Element, Entry, Interface};
use session::{Disk, Session, nearest};

use crate::arguments::LibraryClasses;
use crate::exit::Failure;
use crate::style::print;
use crate::subject::library_folders;

/// The library that comes with the program.
const OWN: &str = "Gyrator";

pub fn run(arguments: &LibraryClasses) -> Result<(), Failure> {
    let mut session = Session::new(Box::new(Disk));
    session.search(&library_folders(&arguments.libraries));
    let Some(name) = &arguments.name else { return list(&within(&mut session, OWN)) };
    let inside = within(&mut session, name);
    match inside.as_slice() {
        [] => {}
        [only] if only.kind != "package" => return show(&mut session, only),
        [_, inside @ ..] => return list(inside),
    }
    let all = within(&mut session, OWN);
    let word = name.to_lowercase();
    let holds =
        |entry: &&Entry| [&entry.name, &entry.description].iter().any(|text| text.to_lowercase().contains(&word));
    let found: Vec<Entry> = all.iter().filter(holds).cloned().collect();
    match found.as_slice() {
        [] => Err(unknown(name, &all)),
        [only] if only.kind != "package" => show(&mut session, only),
        found => list(found),
    }
}

fn unknown(name: &str, all: &[Entry]) -> Failure {
    let names = all.iter().flat_map(|entry| [entry.name.as_str(), last(&entry.name)]);
    let hint = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`gyrator library` lists the classes".to_owned(),
    };
    Failure::call(format!("no class of the library is called or described so: `{name}`; {hint}"))
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// A class and those inside of it, without the types of physical quantities.
fn within(session: &mut Session, name: &str) -> Vec<Entry> {
    let mut found = session.classes(name);
    if found.len() > 1 {
        found.retain(|entry| entry.kind != "type");
    }
    found
}

fn list(entries: &[Entry]) -> Result<(), Failure> {
    print(&table(entries.iter().map(|entry| [entry.name.clone(), entry.description.clone()]), ""))
}

fn show(session: &mut Session, entry: &Entry) -> Result<(), Failure> {
    let Interface { parameters, connectors } = session.interface(&entry.name).unwrap_or_default();
    let mut text = format!("{} {}", entry.kind, entry.name);
    if !entry.description.is_empty() {
        text.push_str(&format!(": {}", entry.description));
    }
    text.push('\n');
    let is_function = entry.kind.ends_with("function");
    let sections =
        [("parameters", parameters), (if is_function { "inputs and outputs" } else { "connectors" }, connectors)];
    for (title, elements) in sections.iter().filter(|(_, elements)| !elements.is_empty()) {
        text.push_str(&format!("\n{title}\n{}", table(elements.iter().map(row), "  ")));
    }
    print(&text)
}

fn row(element: &Element) -> [String; 3] {
    let value = element.default.as_ref().map_or_else(String::new, |value| format!(" = {value}"));
    [format!("{}{value}", element.name), element.class.clone(), element.description.clone()]
}

/// Columns two blanks apart.
fn table<const N: usize>(rows: impl Iterator<Item = [String; N]>, indent: &str) -> String {
    let rows: Vec<[String; N]> = rows.collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        text.push_str(indent);
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
