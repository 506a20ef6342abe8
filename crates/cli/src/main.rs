//! The command line: `gyrator <command> [options] TARGET [FILE-OR-DIR ...]`.

mod arguments;
mod commands;
mod diff;
mod exit;
mod interrupt;
mod names;
mod parameters;
mod progress;
mod standard_output;
mod style;
mod subject;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use crate::style::{Style, tell};

/// The status of a program that ended by a panic, as the language defines it.
const PANICKED: u8 = 101;

fn main() -> ExitCode {
    interrupt::install();
    with_large_stack(run)
}

fn run() -> ExitCode {
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
        Command::Linearize(linearize) => commands::linearize::run(linearize, style),
        Command::Bond(bond) => commands::bond::run(bond, style),
        Command::Diagram(diagram) => commands::diagram::run(diagram, style),
        Command::Translate(translate) => commands::translate::run(translate, style),
        Command::Plot(plot) => commands::plot::run(plot, style),
        Command::Compare(compare) => commands::compare::run(compare, style),
        Command::Sweep(sweep) => commands::sweep::run(sweep, style),
        Command::Install(install) => commands::install::run(install),
        Command::Libraries(list) => commands::libraries::run(list),
        Command::Convert(convert) => commands::convert::run(convert, style),
        Command::Examples(examples) => commands::examples::run(examples),
        Command::Library(library) => commands::library::run(library),
        Command::Explain(explain) => commands::explain::run(explain),
        Command::Completions(completions) => commands::completions::run(completions),
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

/// Runs the program on a thread with a stack for texts that nest as deep as the parser lets them; on a smaller one where
/// the system does not give as much. Only what is used of it takes memory.
fn with_large_stack(run: fn() -> ExitCode) -> ExitCode {
    for size in [1 << 30, 1 << 28, 1 << 26] {
        if let Ok(thread) = std::thread::Builder::new().name("main".to_owned()).stack_size(size).spawn(run) {
            return thread.join().unwrap_or(ExitCode::from(PANICKED));
        }
    }
    run()
}
