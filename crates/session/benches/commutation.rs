//! Ten thousand commutations of ideal switches beside the same circuits with near-ideal ones: the three-phase thyristor bridge
//! and the train chopper of the examples.
//!
//! `cargo bench -p gyrator-session --bench commutation` prints for each run CPU time, modes, the part of the time that making
//! them took, and the largest error of motor current and speed over the run, relative to their largest values, against
//! ideal switches at a tolerance of 1e-12. Near-ideal switches have a resistance of ε when on and a conductance of ε when off;
//! for each ε the methods and tolerances are tried that suit them.

use std::path::Path;
use std::process::Command;

struct Circuit {
    example: &'static str,
    /// With this stop time there are ten thousand changes of mode.
    stop: &'static str,
    interval: &'static str,
    /// Current and speed of the motor.
    variables: &'static str,
    /// ε, method and tolerance.
    near_ideal: &'static [(&'static str, &'static str, &'static str)],
}

const CIRCUITS: [Circuit; 2] = [
    Circuit {
        example: "thyristor_bridge.mo",
        stop: "16.7",
        interval: "0.005",
        variables: r"^(motor\.w|choke\.i)$",
        near_ideal: &[
            ("1e-5", "bdf", "1e-6"),
            ("3e-7", "bdf", "1e-8"),
            ("3e-7", "esdirk", "1e-9"),
            ("3e-8", "esdirk", "1e-9"),
        ],
    },
    Circuit {
        example: "train_chopper.mo",
        stop: "4.2",
        interval: "0.0025",
        variables: r"^motor\.(w|i)$",
        near_ideal: &[
            ("1e-5", "bdf", "1e-7"),
            ("1e-7", "bdf", "1e-9"),
            ("3e-8", "esdirk", "1e-9"),
            ("1e-8", "esdirk", "1e-9"),
            ("1e-8", "esdirk", "1e-10"),
        ],
    },
];

/// Rows by their numbers in the grid of the output.
type Rows = Vec<Vec<f64>>;

struct Run {
    cpu: f64,
    rows: Rows,
    modes: f64,
    made: f64,
    making: f64,
}

fn main() {
    let folder = std::env::temp_dir().join(format!("gyrator-commutation-{}", std::process::id()));
    if std::fs::create_dir_all(&folder).is_err() {
        return;
    }
    println!("| circuit | switches | method, tolerance | CPU s | error | modes | made | ms for making |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for circuit in &CIRCUITS {
        let Some(reference) = run(&folder, circuit, "0", "auto", "1e-12") else {
            println!("| {} | build it first: cargo build --release | | | | | | |", circuit.example);
            continue;
        };
        let ideal = ["1e-4", "1e-6", "1e-7", "1e-8"].map(|tolerance| ("0", "auto", tolerance));
        for &(epsilon, method, tolerance) in ideal.iter().chain(circuit.near_ideal) {
            let switches = if epsilon == "0" { "ideal".to_owned() } else { format!("ε = {epsilon}") };
            let Some(run) = run(&folder, circuit, epsilon, method, tolerance) else {
                println!("| {} | {switches} | {method}, {tolerance} | stopped | | | | |", circuit.example);
                continue;
            };
            let Run { cpu, modes, made, making, .. } = &run;
            let error = error(&run.rows, &reference.rows);
            println!(
                "| {} | {switches} | {method}, {tolerance} | {cpu:.2} | {error:.0e} | {modes} | {made} | {:.0} |",
                circuit.example,
                1e3 * making
            );
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// The program that stands beside this benchmark.
fn run(folder: &Path, circuit: &Circuit, epsilon: &str, method: &str, tolerance: &str) -> Option<Run> {
    let program = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.parent()?.join("gyrator")))?;
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(circuit.example);
    let output = folder.join("run.csv");
    let mut command = Command::new(program);
    command.arg("simulate").arg(example).args(["-q", "--json", "--set", &format!("epsilon={epsilon}")]);
    command.args(["--solver", method, "--tolerance", tolerance, "--stop-time", circuit.stop]);
    command.args(["--interval", circuit.interval, "--variables", circuit.variables]).arg("--output").arg(&output);
    let before = children_cpu();
    let done = command.output().ok()?;
    let cpu = children_cpu() - before;
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    let number = |key: &str| {
        let rest = told.split(&format!("\"{key}\":")).nth(1)?;
        rest.split([',', '}', '\n']).next()?.trim().parse::<f64>().ok()
    };
    let interval: f64 = circuit.interval.parse().ok()?;
    let rows = rows(&std::fs::read_to_string(&output).ok()?, interval);
    let (modes, made) = (number("modes")?, number("modes_made").unwrap_or(0.0));
    let making = number("mode_seconds").unwrap_or(0.0);
    done.status.success().then_some(Run { cpu, rows, modes, made, making })
}

/// The last row at each point of the grid.
fn rows(text: &str, interval: f64) -> Rows {
    let mut rows = Rows::new();
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
        let place = cells.first().map_or(f64::NAN, |time| time / interval);
        if (place - place.round()).abs() < 1e-6 {
            let place = place.round() as usize;
            rows.resize(rows.len().max(place + 1), Vec::new());
            rows[place] = cells[1..].to_vec();
        }
    }
    rows
}

fn error(rows: &Rows, reference: &Rows) -> f64 {
    let columns = reference.first().map_or(0, Vec::len);
    let value = |rows: &Rows, row: usize, column: usize| rows.get(row).and_then(|row| row.get(column)).copied();
    let off = |column: usize| {
        let pairs =
            (0..reference.len()).filter_map(|row| Some((value(rows, row, column)?, value(reference, row, column)?)));
        let (off, size) =
            pairs.fold((0.0f64, 0.0f64), |(off, size), (a, b)| (off.max((a - b).abs()), size.max(b.abs())));
        off / size
    };
    (0..columns).map(off).fold(0.0, f64::max)
}

/// CPU seconds of all children that have ended.
fn children_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        text.rsplit(')').next().unwrap_or("").split_whitespace().map(|f| f.parse().unwrap_or(0.0)).collect();
    // Fields 16 and 17 of the file; the first after the name is number 3. A hundred ticks a second.
    (fields.get(13).unwrap_or(&0.0) + fields.get(14).unwrap_or(&0.0)) / 100.0
}
