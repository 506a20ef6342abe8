//! `gyrator completions`: what shells and `man` know about the command line.

use std::path::Path;

use clap::CommandFactory as _;

use crate::arguments::{Arguments, Completions};
use crate::exit::Failure;
use crate::style::print;

pub fn run(arguments: &Completions) -> Result<(), Failure> {
    let mut command = Arguments::command();
    if let Some(folder) = &arguments.man {
        return write_manual(command, folder);
    }
    let Some(shell) = arguments.shell else { return Ok(()) };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "gyrator", &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// One page for the program and one for each command.
fn write_manual(command: clap::Command, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command, folder))
        .map_err(|error| Failure::call(format!("cannot write manual pages into `{}`: {error}", folder.display())))
}
