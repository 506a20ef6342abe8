//! Time and memory from text to schedule for models of growing size: an electrical transmission line, a string of masses,
//! a thermal plate, and the chain of bodies.
//!
//! `cargo bench -p gyrator-session --bench scale -- [LARGEST]` prints a table; each size runs in a process of its own, whose
//! CPU time and peak memory are read from `/proc`. With `RUMOCA_PYTHON` set to a Python that has the package `rumoca`, the
//! same files are given to it in the same run, up to the size at which it takes longer than a minute.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use session::{Disk, Request, Session};

const LINE: &str = include_str!("scale/line.mo");
const STRING: &str = include_str!("scale/string.mo");
const PLATE: &str = include_str!("scale/plate.mo");
const CHAIN: &str = include_str!("../../../examples/body_chain.mo");

struct Case {
    name: &'static str,
    text: &'static str,
    class: &'static str,
    /// The parameter that sets the size, and its value for about so many equations.
    parameter: &'static str,
    size: fn(usize) -> usize,
    equations: &'static [usize],
}

const SIZES: &[usize] = &[1_000, 10_000, 100_000, 1_000_000];

const CASES: [Case; 4] = [
    Case { name: "line", text: LINE, class: "Line", parameter: "n = 10", size: |n| n / 14, equations: SIZES },
    Case { name: "string", text: STRING, class: "MassString", parameter: "n = 10", size: |n| n / 14, equations: SIZES },
    Case {
        name: "plate",
        text: PLATE,
        class: "Plate",
        parameter: "n = 10",
        size: |n| (n as f64 / 14.0).sqrt() as usize,
        equations: SIZES,
    },
    Case {
        name: "chain",
        text: CHAIN,
        class: "BodyChain.Chain",
        parameter: "bodies = 30",
        size: |n| n / 124,
        equations: &[3_720, 37_200],
    },
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [mode, file, class] if mode == "one" => one(Path::new(file), class),
        [mode, ..] if mode == "one" => eprintln!("one FILE CLASS"),
        rest => table(rest.first().and_then(|largest| largest.parse().ok()).unwrap_or(1_000_000)),
    }
}

/// Text to schedule in this process; prints what it took.
fn one(file: &Path, class: &str) {
    let request = Request { target: file.display().to_string(), model: Some(class.to_owned()), ..Request::default() };
    let mut session = Session::new(Box::new(Disk));
    let mut flat = 0.0;
    let schedule = session.flatten(&request).and_then(|model| {
        flat = cpu_seconds();
        session.structure(model)
    });
    let Ok(schedule) = schedule else {
        for diagnostic in &session.diagnostics {
            eprint!("{}", diagnostic.render(session.sources()));
        }
        std::process::exit(1);
    };
    let (cpu, memory) = (cpu_seconds(), peak_memory());
    println!("{} {} {flat} {cpu} {memory}", schedule.summary.equations, schedule.entries());
}

/// The time all threads of this process have been running; finer than the clock ticks of `/proc/self/stat`.
fn cpu_seconds() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let nanoseconds = threads.flatten().filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() * 1e-9
}

/// In MiB.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: f64 = line.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0.0);
    kib / 1024.0
}

fn table(largest: usize) {
    let folder = std::env::temp_dir().join(format!("gyrator-scale-{}", std::process::id()));
    let rumoca = std::env::var_os("RUMOCA_PYTHON").map(PathBuf::from);
    println!(
        "| model | equations | entries | flat after CPU s | sorted after | MiB | exponent | rumoca CPU s | MiB | factor |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for case in CASES {
        let mut before: Option<(f64, f64)> = None;
        let mut other = rumoca.clone();
        for &wanted in case.equations.iter().filter(|&&wanted| wanted <= largest) {
            let file = write(&case, wanted, &folder.join(format!("{}{wanted}", case.name)));
            let Some([equations, entries, flat, cpu, memory]) = child(&file, case.class) else { continue };
            let exponent = before.map(|(size, time)| (cpu / time).ln() / (equations / size).ln());
            let exponent = exponent.map_or_else(String::new, |exponent| format!("{exponent:.2}"));
            let name = case.name;
            let mut row =
                format!("| {name} | {equations} | {entries} | {flat:.3} | {cpu:.3} | {memory:.0} | {exponent} |");
            match other.as_deref().and_then(|python| rumoca_takes(python, &file, case.class)) {
                Some((theirs, memory)) => {
                    let _ = write!(row, " {theirs:.2} | {memory:.0} | {:.0} |", theirs / cpu);
                    if theirs > 60.0 {
                        other = None;
                    }
                }
                None => {
                    other = None;
                    row.push_str(" | | |");
                }
            }
            println!("{row}");
            before = Some((equations, cpu));
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

fn write(case: &Case, wanted: usize, folder: &Path) -> PathBuf {
    let name = case.parameter.split(' ').next().unwrap_or("n");
    let text = case.text.replace(case.parameter, &format!("{name} = {}", (case.size)(wanted)));
    let file = folder.join("model.mo");
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, text));
    if let Err(error) = written {
        eprintln!("{}: {error}", file.display());
    }
    file
}

fn child(file: &Path, class: &str) -> Option<[f64; 5]> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program).arg("one").arg(file).arg(class).output().ok()?;
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    numbers.try_into().ok()
}

const RUMOCA: &str = "import sys, time, resource, rumoca
rumoca.Session().load(sys.argv[1], model=sys.argv[2])
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)";

/// CPU seconds and MiB; `None` if it fails or does not come to an end.
fn rumoca_takes(python: &Path, file: &Path, class: &str) -> Option<(f64, f64)> {
    let mut command = Command::new("timeout");
    command.arg("100").arg(python).args(["-c", RUMOCA]).arg(file).arg(class);
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.split_whitespace().filter_map(|number| number.parse().ok());
    let (cpu, memory) = (numbers.next()?, numbers.next()?);
    Some((cpu, memory))
}
