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
    /// Check a model up to its sorted equations, without running it
    Check(Check),
    /// Print the flat model: all variables and equations, without classes
    Flatten(Flatten),
    /// Print what the transformations made of the equations: their order, blocks, states
    Equations(Equations),
    /// Run a model
    Simulate(Box<Simulate>),
    /// Linearise a model: state space, poles, zeros, transfer functions and their diagrams
    Linearize(Box<Linearize>),
    /// Report about a bond graph: causality, simplification, state space
    Bond(Bond),
    /// Draw the diagram, the icon or the bond graph of a class
    Diagram(Drawing),
    /// Write a model of another language as Modelica text
    Translate(Translate),
    /// Draw variables of result files
    Plot(Plot),
    /// Compare two results within a tolerance
    Compare(Compare),
    /// Run many variants of a model: parameter studies, samples, sensitivities
    Sweep(Box<Sweep>),
    /// Install a library into the library folder of the user, or remove one
    Install(Install),
    /// List the libraries in the library folder of the user
    Libraries(LibraryList),
    /// Rewrite models for another version of a library that they use
    Convert(Convert),
    /// List the embedded examples, or write one into the current folder
    Examples(Examples),
    /// List the classes of the library that comes with the program, or the parameters and connectors of one
    Library(LibraryClasses),
    /// Explain the code of a message, or list all codes
    Explain(Explain),
    /// Print completions of the command line for a shell, or write the manual pages
    Completions(Completions),
}

#[derive(Args, Debug)]
pub struct Linearize {
    #[command(flatten)]
    pub subject: Subject,

    /// Linearise at these times of a run, separated by commas; without it, at the start
    #[arg(
        long,
        value_name = "TIMES",
        value_delimiter = ',',
        conflicts_with = "steady_state",
        allow_negative_numbers = true
    )]
    pub at: Vec<f64>,

    /// Linearise at the stationary state that is found from the initial state
    #[arg(long)]
    pub steady_state: bool,

    /// The inputs, separated by commas; without it, those of the top level. A variable that equations determine opens the model
    /// there
    #[arg(long, value_name = "NAMES")]
    pub inputs: Option<String>,

    /// The outputs, separated by commas; without it, those of the top level
    #[arg(long, value_name = "NAMES")]
    pub outputs: Option<String>,

    /// Matrices as formulas of the parameters
    #[arg(long)]
    pub symbolic: bool,

    /// Leave out states that inputs do not reach or outputs do not show
    #[arg(long)]
    pub minimal: bool,

    #[arg(long, value_enum, default_value_t = LinearFormat::Text)]
    pub format: LinearFormat,

    /// Draw a diagram instead
    #[arg(long, value_enum)]
    pub plot: Option<Diagram>,

    /// The file to write: of a diagram .svg, .png, .pdf or .html; without it, the terminal
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// The time the run begins at
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub start_time: Option<f64>,

    /// The accuracy of the run
    #[arg(long)]
    pub tolerance: Option<f64>,

    /// The method of the run, as for simulate
    #[arg(long)]
    pub solver: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LinearFormat {
    Text,
    Json,
    Latex,
    Matlab,
    Python,
    Modelica,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Diagram {
    Bode,
    Nyquist,
    Nichols,
    PoleZero,
    RootLocus,
    Step,
    Impulse,
}

#[derive(Args, Debug)]
pub struct Bond {
    #[command(flatten)]
    pub subject: Subject,

    /// What to report, separated by commas; without it, all of it
    #[arg(long, value_enum, value_name = "PARTS", value_delimiter = ',')]
    pub show: Vec<BondPart>,

    /// The time of the run at which switched junctions of a graph are looked at; without it, the start
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub at: Option<f64>,

    /// Draw the graph as it is and after each step of its simplification into this folder
    #[arg(long, value_name = "DIR")]
    pub drawings: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum BondPart {
    /// Strokes, states, dependent storages, algebraic loops
    Causality,
    /// The steps that lead to a simpler graph
    Simplification,
    /// Matrices with symbols
    StateSpace,
    /// Derivatives and outputs as formulas, also of nonlinear graphs
    Equations,
}

#[derive(Args, Debug)]
pub struct Drawing {
    #[command(flatten)]
    pub subject: Subject,

    /// What to draw; without it the diagram of a class that has components, the icon of any other, and the graph of a file .bond
    #[arg(long, value_enum)]
    pub layer: Option<Layer>,

    /// Draw the simplified bond graph
    #[arg(long)]
    pub simplify: bool,

    /// Write the values of a result beside the connectors, those at its end or at a time in it
    #[arg(long, value_name = "RESULT[@TIME]")]
    pub values: Option<String>,

    /// How large a PNG picture is: 1 is four pixels a millimetre
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub scale: f64,

    /// The file to write, .svg or .png; without it, SVG on standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Layer {
    /// The diagram layer of a class
    Diagram,
    /// The icon layer of a class
    Icon,
    /// The bond graph with its causal strokes
    Bondgraph,
}

#[derive(Args, Debug)]
pub struct Translate {
    /// The file
    pub target: String,

    /// Further files whose classes it uses
    pub files: Vec<PathBuf>,

    /// The language to write
    #[arg(long, value_enum, default_value_t = Language::Modelica)]
    pub to: Language,

    /// The file to write; without it, standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Language {
    Modelica,
}

#[derive(Args, Debug)]
pub struct Plot {
    /// Result files (.csv, .mat, .parquet) and what to draw of them, in any order; without names, the first few that change
    ///
    /// Names may be expressions (`a.v - b.v`, `abs(R.i)`) and have ranges of subscripts (`T[1:5]`, `T[:]`). Of several files every
    /// name is drawn from each that has it.
    #[arg(value_name = "FILE-OR-NAME", required = true, verbatim_doc_comment, allow_hyphen_values = false)]
    pub what: Vec<String>,

    /// Draw the variables whose whole name matches
    #[arg(long, value_name = "REGEX")]
    pub variables: Option<String>,

    /// Draw over this variable or expression instead of time
    #[arg(long, value_name = "NAME")]
    pub x: Option<String>,

    /// The part of the horizontal axis to draw, in its unit
    #[arg(long, value_name = "A..B", value_parser = range, allow_hyphen_values = true)]
    pub range: Option<(f64, f64)>,

    /// The part of the vertical axes to draw, in their unit
    #[arg(long, value_name = "A..B", value_parser = range, allow_hyphen_values = true)]
    pub y_range: Option<(f64, f64)>,

    /// A logarithmic horizontal axis
    #[arg(long)]
    pub log_x: bool,

    /// Logarithmic vertical axes
    #[arg(long)]
    pub log_y: bool,

    /// The picture: .svg, .png, .pdf or .html; without it, the terminal
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// A headline; without it, the names of the result files
    #[arg(long)]
    pub title: Option<String>,

    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct Compare {
    /// The result that the other one is measured by: .csv, .mat or .parquet
    pub reference: PathBuf,

    /// The result that is compared with it
    pub result: PathBuf,

    /// How far values may be away, relative to the range of the variable
    #[arg(long, value_name = "NUMBER", default_value_t = 2e-3)]
    pub tolerance: f64,

    /// How much earlier or later values may come, relative to the duration
    #[arg(long, value_name = "NUMBER", default_value_t = 2e-3)]
    pub time_tolerance: f64,

    /// Variables that vary less than this count as if they varied so much
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-3)]
    pub nominal: f64,

    /// Compare only the variables whose whole name matches
    #[arg(long, value_name = "REGEX")]
    pub variables: Option<String>,

    /// Compare only the variables that both results have
    #[arg(long)]
    pub common: bool,

    /// Draw the variable that is furthest away, with the tube around it: .svg, .png, .pdf or .html
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print the machine-readable summary
    #[arg(long)]
    pub json: bool,

    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct Install {
    /// Libraries of the index as `Name` or `Name@1.2.3`, or folders, checkouts and .zip archives
    #[arg(value_name = "LIBRARY", required = true)]
    pub libraries: Vec<String>,

    /// The folder, checkout or .zip archive that holds the library
    #[arg(long, value_name = "PATH", conflicts_with = "remove")]
    pub from: Option<PathBuf>,

    /// The index of libraries, a file or an address; without it, the one that GYRATOR_INDEX names
    #[arg(long, value_name = "FILE-OR-ADDRESS")]
    pub index: Option<String>,

    /// Remove the libraries instead
    #[arg(long)]
    pub remove: bool,

    /// Replace a version that is there
    #[arg(long)]
    pub replace: bool,

    /// Leave out the libraries that they use
    #[arg(long)]
    pub no_dependencies: bool,

    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,

    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Args, Clone, Debug)]
pub struct Sweep {
    #[command(flatten)]
    pub subject: Subject,

    #[command(flatten)]
    pub run: RunArguments,

    /// Vary a parameter (repeatable; all combinations are run)
    ///
    /// R=10..100:20         twenty values from 10 to 100, evenly
    /// C=log(1e-9..1e-6):10 ten values, evenly on a logarithmic scale
    /// K=1,2,5              these values
    /// T=normal(25,2) degC  a normal distribution, for samples
    /// Units stand behind: `T=20..80 degC:7`, `T=25 degC,80 degC`. Of samples the number of values does not count.
    #[arg(long, value_name = "NAME=VALUES", required = true, verbatim_doc_comment)]
    pub vary: Vec<String>,

    /// Draw this many samples instead of running all combinations
    #[arg(long, value_name = "NUMBER", value_parser = count)]
    pub samples: Option<usize>,

    /// How samples are drawn; without it, lhs
    #[arg(long, value_enum, value_name = "HOW")]
    pub sampling: Option<Sampling>,

    /// Other random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,

    /// The data set: a folder, or a .parquet file; without it, the name of the model with .study
    #[arg(short, long, value_name = "FOLDER-OR-.parquet")]
    pub output: Option<PathBuf>,

    /// Variables whose trajectories and statistics are kept, separated by commas; without it, the final values of all variables
    #[arg(long, value_name = "NAMES")]
    pub keep: Option<String>,

    /// How many variants run at the same time; without it, one on each processor
    #[arg(short, long, value_name = "NUMBER", value_parser = count)]
    pub jobs: Option<usize>,

    /// Replace a data set that belongs to another call
    #[arg(long)]
    pub overwrite: bool,

    /// Draw when all variants are there (repeatable): fan, heatmap or tornado, into a .svg, .png, .pdf or .html file
    #[arg(long, value_name = "KIND=FILE", value_parser = study_picture)]
    pub plot: Vec<(StudyPicture, PathBuf)>,

    /// What pictures and sensitivities are about, separated by commas: `x`, `max(x)`, `mean(x)`; without it, what is kept
    #[arg(long, value_name = "QUANTITIES")]
    pub of: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Sampling {
    /// Independent random numbers
    Random,
    /// A Latin hypercube: each of N equal parts of every parameter is met once
    Lhs,
    /// A Sobol' sequence, scrambled
    Sobol,
    /// For Sobol' sensitivity indices: N·(parameters + 2) runs
    Saltelli,
    /// The model as it is, then each parameter moved by itself
    OneAtATime,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StudyPicture {
    /// Quantiles of a variable over time
    Fan,
    /// A quantity over two parameters
    Heatmap,
    /// What each parameter changes by itself
    Tornado,
}

#[derive(Args, Debug)]
pub struct LibraryList {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct Convert {
    /// Files and folders of packages to rewrite
    #[arg(value_name = "FILE-OR-DIR", required = true)]
    pub targets: Vec<PathBuf>,

    /// The library and the version to convert to, such as `Modelica@4.1.0`
    #[arg(long, value_name = "LIBRARY@VERSION")]
    pub to: String,

    /// The version to convert from, where the annotation `uses` does not say it
    #[arg(long, value_name = "VERSION")]
    pub from: Option<String>,

    /// A folder with libraries (repeatable); the folders of MODELICAPATH and installed libraries count too
    #[arg(short = 'L', long = "library", value_name = "DIR")]
    pub libraries: Vec<PathBuf>,

    /// Print what would change as a unified diff and write nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct Examples {
    /// The example to write
    pub name: Option<String>,
}

#[derive(Args, Debug)]
pub struct LibraryClasses {
    /// A class, a package, or a word that is looked for in names and descriptions; without it all classes
    #[arg(value_name = "NAME-OR-WORD")]
    pub name: Option<String>,

    /// A folder with libraries (repeatable), for classes of other libraries; the folders of MODELICAPATH count too
    #[arg(short = 'L', long = "library", value_name = "DIR")]
    pub libraries: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub struct Explain {
    /// The code, such as `unknown-name`
    pub code: Option<String>,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("made").required(true).args(["shell", "man"]))]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Option<clap_complete::Shell>,

    /// Write the manual pages into this folder instead
    #[arg(long, value_name = "DIR")]
    pub man: Option<PathBuf>,
}

/// What every command says that works on a model.
#[derive(Args, Clone, Debug)]
pub struct Subject {
    /// A file, a package folder, the name of a class in the libraries, or - for a model from standard input
    pub target: Option<String>,

    /// Further files and folders that the model needs
    #[arg(value_name = "FILE-OR-DIR")]
    pub more: Vec<PathBuf>,

    /// Which class of the file; without it the last one that can be simulated
    #[arg(short, long, value_name = "NAME")]
    pub model: Option<String>,

    /// A folder with libraries (repeatable); the folders of MODELICAPATH count too
    #[arg(short = 'L', long = "library", value_name = "DIR")]
    pub libraries: Vec<PathBuf>,

    /// Change a parameter (repeatable); a number may have a unit, as in `phi=90 deg`
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,

    /// Which of them come from a file, and its name.
    #[arg(skip)]
    pub set_in_files: Vec<(String, String)>,

    /// What becomes of constraints between states
    #[arg(long, value_enum, default_value_t = IndexReduction::Dummy)]
    pub index_reduction: IndexReduction,

    /// Sort the equations as they were written: variables that are equal to others stay
    #[arg(long)]
    pub keep_aliases: bool,

    /// Do not check the units of equations
    #[arg(long)]
    pub no_unit_check: bool,

    /// A shared library whose functions the model may call (repeatable), or `build`: the C code of its libraries is compiled
    #[arg(long, value_name = "LIBRARY|build")]
    pub allow_external: Vec<PathBuf>,

    /// A folder in which the model may read files without a warning (repeatable)
    #[arg(long, value_name = "DIR")]
    pub allow_read: Vec<PathBuf>,

    /// A folder in which the model may write, remove and read files (repeatable)
    #[arg(long, value_name = "DIR")]
    pub allow_write: Vec<PathBuf>,

    /// Let the model read environment variables
    #[arg(long)]
    pub allow_env: bool,

    /// Refuse what would be decided with a warning, such as how redundant ideal switches share a current
    #[arg(long)]
    pub strict: bool,

    /// Print the machine-readable summary; messages go to standard error
    #[arg(long)]
    pub json: bool,

    /// Say more: the time of each stage, notes
    #[arg(short, long)]
    pub verbose: bool,

    /// Say nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum IndexReduction {
    /// Dummy derivatives: constraints hold exactly, states are chosen, where necessary during the run
    Dummy,
    /// Everything differentiated is integrated and moved back to the constraints after each step
    Projection,
}

#[derive(Args, Debug)]
pub struct Check {
    #[command(flatten)]
    pub subject: Subject,
}

#[derive(Args, Debug)]
pub struct Flatten {
    #[command(flatten)]
    pub subject: Subject,

    #[arg(long, value_enum, default_value_t = FlattenFormat::Text)]
    pub format: FlattenFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FlattenFormat {
    /// Modelica text
    Text,
    Json,
}

#[derive(Args, Debug)]
pub struct Equations {
    #[command(flatten)]
    pub subject: Subject,

    #[arg(long, value_enum, default_value_t = EquationsFormat::Text)]
    pub format: EquationsFormat,

    /// Show also what an inline method with this step evaluates
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub inline: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EquationsFormat {
    Text,
    Json,
    /// A page with matrices, blocks and sources
    Html,
    /// A document
    Latex,
    /// Sorted and solved equations as the language of 1993 listed them; linear systems are solved by formulas
    Dymola,
    /// For reading: a program of the simulation language ACSL with schedule statements
    Acsl,
    /// For reading: a Fortran subroutine in the manner of DSblock, with crossing functions
    Dsblock,
}

/// How a run goes, for `simulate` and `sweep`.
#[derive(Args, Clone, Debug)]
pub struct RunArguments {
    /// Where time begins; without it the experiment annotation, else 0
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = seconds)]
    pub start_time: Option<f64>,

    /// Where time ends; without it the experiment annotation, else 1. Times are seconds, or have a unit, as in `1 h`
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = seconds)]
    pub stop_time: Option<f64>,

    /// The distance of output points
    #[arg(long, value_name = "TIME", value_parser = seconds, conflicts_with = "intervals", allow_negative_numbers = true)]
    pub interval: Option<f64>,

    /// The number of output intervals; 500 when nothing else is said
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = intervals)]
    pub intervals: Option<usize>,

    /// The relative tolerance; without it the experiment annotation, else 1e-6
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub tolerance: Option<f64>,

    /// The integration method
    ///
    /// auto: chosen by stiffness, events and size, also during the run (the default);
    /// tsit5, dop853: explicit;
    /// bdf, esdirk, rosenbrock: for stiff models;
    /// dae: like bdf, with the unknowns of simultaneous equations among those of the method;
    /// euler, rk4, implicit-euler, linearly-implicit-euler: with the fixed step of `--step`;
    /// inline-euler, inline-trapezoid, inline-bdf2: likewise, the formula being sorted together with the equations
    #[arg(long, value_name = "NAME", verbatim_doc_comment)]
    pub solver: Option<String>,

    /// Values of parameters from a file, .json or .toml; those of --set come before them
    ///
    /// Names are full (`"R1.R" = 10`) or nested (`[R1]`, `R = 10`). A text is the value of a String, a literal of an
    /// enumeration, or a number with its unit, `"25 degC"`, or else an expression as with --set.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub param_file: Option<PathBuf>,

    /// Drive inputs of the top level by the columns of this file that have their names: .csv, .mat or .parquet
    ///
    /// Real inputs are linear between rows, all others are held until the next row. Two rows of equal time are a jump, which is
    /// an event. Before the first and after the last row the values there hold.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub input: Option<PathBuf>,

    /// Begin where a run was whose result this is, at its end or at a time in it
    ///
    /// States and discrete variables have the values of the file; start values and initial equations do not count. The run
    /// begins at that time unless `--start-time` says another one.
    #[arg(long, value_name = "RESULT[@TIME]", verbatim_doc_comment)]
    pub start_from: Option<String>,

    /// Begin at the stationary state that is found from the initial state, where all derivatives of states vanish
    #[arg(long)]
    pub steady_state: bool,

    /// How a structure that changes during the run is dealt with; `difference` goes with `--solver implicit-euler`
    #[arg(long, value_enum, default_value_t = Switching::Modes)]
    pub switching: Switching,

    /// The step of fixed-step methods; without it the output interval
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_negative_numbers = true)]
    pub step: Option<f64>,

    /// The longest step of the other methods, which choose their steps by the tolerance
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_negative_numbers = true)]
    pub max_step: Option<f64>,
}

#[derive(Args, Clone, Debug)]
pub struct Simulate {
    #[command(flatten)]
    pub subject: Subject,

    #[command(flatten)]
    pub run: RunArguments,

    /// The result file: .csv, .mat or .parquet, or - for CSV on standard output; without it the name of the model with .csv
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Keep only the variables whose whole name matches
    #[arg(long, value_name = "REGEX")]
    pub variables: Option<String>,

    /// Write what happened at each event, to a file (as JSON lines if it ends in .jsonl) or to the terminal
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "")]
    pub event_log: Option<String>,

    /// Draw the states, or the variables named, when the run is over
    #[arg(long, value_name = "NAMES", num_args = 0..=1, default_missing_value = "")]
    pub plot: Option<String>,

    /// Let time pass as on the wall, and count the steps that are late
    #[arg(long)]
    pub realtime: bool,

    /// Print the effort of the run: counts, times of its parts, the worst step, the slowest systems
    #[arg(long)]
    pub stats: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Switching {
    /// Each mode has a structure of its own
    Modes,
    /// Derivatives become difference formulas, so that one structure serves all modes
    Difference,
}

fn intervals(text: &str) -> Result<usize, String> {
    let number: Option<usize> = text.trim().parse().ok();
    number.filter(|&number| number > 0).ok_or_else(|| "write a whole number greater than zero".to_owned())
}

fn count(text: &str) -> Result<usize, String> {
    intervals(text)
}

/// A time in seconds, or with a unit.
fn seconds(text: &str) -> Result<f64, String> {
    let text = text.trim();
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let wrong = || "write seconds, or a time with its unit, as in `1 h`, `20 ms` or `3 d`".to_owned();
    let at =
        text.find(|c: char| c.is_whitespace()).or_else(|| text.rfind(|c: char| c.is_ascii_digit()).map(|at| at + 1));
    let (number, unit) = text.split_at(at.ok_or_else(wrong)?);
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let conversion = units::Conversion::between(unit.trim(), "s").ok_or_else(wrong)?;
    Ok(conversion.apply(number))
}

/// `0..10`.
fn range(text: &str) -> Result<(f64, f64), String> {
    let ends =
        text.split_once("..").and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
    let ends = ends.filter(|(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low < high);
    ends.ok_or_else(|| "write it as A..B with A less than B, for example `0..10`".to_owned())
}

fn study_picture(text: &str) -> Result<(StudyPicture, PathBuf), String> {
    let wrong = || "write it as KIND=FILE, for example `fan=fan.svg`; kinds are fan, heatmap and tornado".to_owned();
    let (kind, file) = text.split_once('=').ok_or_else(wrong)?;
    let kind = StudyPicture::from_str(kind.trim(), true).map_err(|_| wrong())?;
    Ok((kind, PathBuf::from(file.trim())))
}

/// Splits `R1.R=10`.
fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write it as NAME=VALUE, for example `R1.R=10`".to_owned()),
    }
}
