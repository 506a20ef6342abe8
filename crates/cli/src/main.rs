//! The command line: `gyrator <command> [options] TARGET [FILE-OR-DIR ...]`.

mod arguments;
mod commands;
mod exit;
mod names;
mod style;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};
use crate::style::Style;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let style = Style::new(arguments.color);
    let done = match &arguments.command {
        Command::Plot(plot) => commands::plot::run(plot, style),
        Command::Examples(examples) => commands::examples::run(examples),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                eprintln!("{}", style.error_line(&failure.message));
            }
            failure.exit.into()
        }
    }
}
