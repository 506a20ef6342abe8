//! The arguments of every command, as promised to scripts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Turns object-oriented, acausal models of physical systems into simulations.
#[derive(Parser, Debug)]
#[command(name = "gyrator", version, propagate_version = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,

    /// Colour in messages and plots
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Draw variables of a result file
    Plot(Plot),
    /// List the embedded examples, or write one into the current folder
    Examples(Examples),
}

#[derive(Args, Debug)]
pub struct Plot {
    /// The result file: .csv, .mat or .parquet
    pub result: PathBuf,

    /// The variables to draw; without any, the first few that change
    pub names: Vec<String>,

    /// Draw the variables whose whole name matches
    #[arg(long, value_name = "REGEX")]
    pub variables: Option<String>,

    /// The picture: .svg, .png or .html; without it, the terminal
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// A headline; without it, the name of the result file
    #[arg(long)]
    pub title: Option<String>,
}

#[derive(Args, Debug)]
pub struct Examples {
    /// The example to write
    pub name: Option<String>,
}
