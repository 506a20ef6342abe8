//! The command line: `gyrator <command> [options] TARGET [FILE-OR-DIR ...]`.

mod arguments;
mod commands;
mod exit;
mod interrupt;
mod names;
mod progress;
mod style;
mod subject;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use crate::style::{Style, tell};

fn main() -> ExitCode {
    interrupt::install();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refused(&error),
    };
    let style = Style::new(arguments.color);
    let done = match &arguments.command {
        Command::Check(check) => commands::check::run(check, style),
        Command::Flatten(flatten) => commands::flatten::run(flatten, style),
        Command::Equations(equations) => commands::equations::run(equations, style),
        Command::Simulate(simulate) => commands::simulate::run(simulate, style),
        Command::Plot(plot) => commands::plot::run(plot, style),
        Command::Examples(examples) => commands::examples::run(examples),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                tell(&format!("{}\n", style.error_line(&failure.message)));
            }
            failure.exit.into()
        }
    }
}

/// Help, the version, or what is wrong with the call.
fn refused(error: &clap::Error) -> ExitCode {
    let printed = style::done(error.print());
    match printed {
        Ok(()) if !error.use_stderr() => ExitCode::SUCCESS,
        _ => Exit::Call.into(),
    }
}
