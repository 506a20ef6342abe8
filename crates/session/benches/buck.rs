//! The buck converter of the examples for 0.1 s, 20 000 switching events, beside ngspice with near-ideal switches.
//!
//! `cargo bench -p gyrator-session --bench buck` prints CPU time and the error of the ripple of the output against the
//! periodic solution in closed form. ngspice takes part where it is installed; its step decides about both.

use std::path::Path;
use std::process::Command;

/// Largest minus smallest voltage over a period in the periodic state: from the exponential of the circuit's matrix.
const RIPPLE: f64 = 0.072_155_844_9;

const NETLIST: &str = "buck converter
V1 in 0 24
S1 in x ctl 0 ideal
.model ideal sw vt=0.5 vh=0 ron=1m roff=1meg
Vc ctl 0 pulse(1 0 4u 1n 1n 5.998u 10u)
D1 0 x steep
.model steep d is=1e-12 n=0.01 rs=1m
L1 x out 100u ic=0
C1 out 0 10u ic=0
R1 out 0 5
.tran STEP 0.1 0.0998 uic
.control
run
meas tran high max v(out) from=0.0999 to=0.1
meas tran low min v(out) from=0.0999 to=0.1
.endc
.end
";

fn main() {
    let folder = std::env::temp_dir().join(format!("gyrator-buck-{}", std::process::id()));
    if std::fs::create_dir_all(&folder).is_err() {
        return;
    }
    println!("| program | CPU s | error of the ripple |\n| --- | --- | --- |");
    gyrator(&folder);
    for step in ["0.1u", "0.3u", "1u"] {
        ngspice(&folder, step);
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// The program that stands beside this benchmark.
fn gyrator(folder: &Path) {
    let Some(program) = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.parent()?.join("gyrator")))
    else {
        return;
    };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/buck.mo");
    let call = |stop: &str, interval: &str| {
        let output = folder.join("buck.csv");
        let mut command = Command::new(&program);
        command.arg("simulate").arg(&example).args(["-q", "--stop-time", stop, "--interval", interval]);
        command.args(["--variables", "store.v"]).arg("--output").arg(&output);
        let before = children_cpu();
        let done = command.status().is_ok_and(|status| status.success());
        let seconds = children_cpu() - before;
        done.then(|| (seconds, std::fs::read_to_string(output).unwrap_or_default()))
    };
    // The run that counts writes as many rows as there are events; the ripple is read from a short one with a fine grid.
    let (Some((seconds, _)), Some((_, fine))) = (call("0.1", "1e-4"), call("0.002", "1e-8")) else {
        println!("| gyrator | build it first: cargo build --release | |");
        return;
    };
    let number = |cell: Option<&str>| cell.and_then(|cell| cell.parse::<f64>().ok()).unwrap_or(f64::NAN);
    let rows = fine.lines().skip(1).map(|line| {
        let mut cells = line.split(',');
        (number(cells.next()), number(cells.next()))
    });
    let last: Vec<f64> = rows.filter(|row| row.0 > 0.00198).map(|row| row.1).collect();
    let high = last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let low = last.iter().copied().fold(f64::INFINITY, f64::min);
    println!("| gyrator | {seconds:.2} | {:.0e} |", ((high - low) / RIPPLE - 1.0).abs());
}

fn ngspice(folder: &Path, step: &str) {
    let file = folder.join("buck.cir");
    if std::fs::write(&file, NETLIST.replace("STEP", step)).is_err() {
        return;
    }
    let before = children_cpu();
    let Ok(output) = Command::new("ngspice").arg("-b").arg(&file).output() else { return };
    let seconds = children_cpu() - before;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let measured = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name) && line.contains('='))?;
        line.split('=').nth(1)?.split_whitespace().next()?.parse::<f64>().ok()
    };
    if let (Some(high), Some(low)) = (measured("high"), measured("low")) {
        println!("| ngspice, step {step} | {seconds:.2} | {:.0e} |", ((high - low) / RIPPLE - 1.0).abs());
    }
}

/// CPU seconds of all children that have ended.
fn children_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        text.rsplit(')').next().unwrap_or("").split_whitespace().map(|f| f.parse().unwrap_or(0.0)).collect();
    // Fields 16 and 17 of the file; the first after the name is number 3. A hundred ticks a second.
    (fields.get(13).unwrap_or(&0.0) + fields.get(14).unwrap_or(&0.0)) / 100.0
}
