//! Runs that end before their time leave a readable file up to the last complete row, whatever ends them and whatever the
//! format; and a run needs no more memory the longer it goes on.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, gyrator};
use expect_test::expect;

const FORMATS: [&str; 3] = ["out.csv", "out.mat", "out.parquet"];

/// y = sin(time), so that every row can be checked.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write(
        "circle.mo",
        "model Circle
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = -y;
  der(y) = x;
end Circle;
",
    );
    folder
}

const ENDLESS: [&str; 9] =
    ["simulate", "-q", "circle.mo", "--stop-time", "1e9", "--interval", "0.001", "--solver", "dop853"];

fn start(folder: &Folder, output: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_gyrator"))
        .args(ENDLESS)
        .args(["--output", output])
        .current_dir(folder.path(""))
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the file is so long, at most half a minute.
fn wait_for(folder: &Folder, output: &str, bytes: u64) {
    let begin = Instant::now();
    let length = || std::fs::metadata(folder.path(output)).map_or(0, |file| file.len());
    while length() < bytes && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(length() >= bytes, "{output} grows too slowly");
}

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Every row is there and right.
fn assert_readable(folder: &Folder, output: &str, least_rows: usize) {
    let result = results::read(&folder.path(output)).unwrap_or_else(|error| panic!("{output}: {error}"));
    let y = &result.get("y").unwrap().values;
    assert!(result.time.len() >= least_rows, "{output} has {} rows", result.time.len());
    assert_eq!(y.len(), result.time.len());
    for (row, (&time, &y)) in result.time.iter().zip(y.iter()).enumerate() {
        assert!((time - 1e-3 * row as f64).abs() < 1e-9 * (1.0 + time), "{output}: row {row} has time {time}");
        assert!((y - time.sin()).abs() < 1e-3 * (1.0 + time), "{output}: y({time}) = {y}");
    }
}

#[test]
fn ended_by_the_user() {
    for output in FORMATS {
        let folder = folder(&format!("interrupt-{output}"));
        let mut child = start(&folder, output);
        wait_for(&folder, output, 300_000);
        send("-INT", &child);
        assert_eq!(child.wait().unwrap().code(), Some(3));
        assert_readable(&folder, output, 3_000);
    }
}

/// Also what terminates a program ends the run in order.
#[test]
fn terminated() {
    let folder = folder("terminate");
    let mut child = start(&folder, "out.mat");
    wait_for(&folder, "out.mat", 300_000);
    send("-TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_readable(&folder, "out.mat", 3_000);
}

/// Outside of a run nothing is left to be done.
#[test]
fn translation_ends_at_once() {
    let folder = Folder::new("translation");
    folder.write("large.mo", "model Large\n  Real x[200000](each start = 1);\nequation\n  der(x) = -x;\nend Large;\n");
    for signal in ["-INT", "-TERM"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gyrator"))
            .args(["check", "-q", "large.mo"])
            .current_dir(folder.path(""))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(300));
        send(signal, &child);
        let begin = Instant::now();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(begin.elapsed() < Duration::from_millis(500), "{:?}", begin.elapsed());
    }
}

/// Steps behind 0.5 take longer than anybody waits.
const BUSY: &str = "model Busy
  function work
    input Real u;
    output Real y;
  algorithm
    y := u;
    for i in 1:2000000000 loop
      y := y + sin(y);
    end for;
  end work;
  Real x(start = 0, fixed = true);
equation
  der(x) = if time > 0.5 then work(x) else 1;
end Busy;
";

/// A single step that takes long is not waited for.
#[test]
fn a_run_that_does_not_look_up_is_ended() {
    let folder = Folder::new("busy");
    folder.write("busy.mo", BUSY);
    let mut child = Command::new(env!("CARGO_BIN_EXE_gyrator"))
        .args(["simulate", "-q", "busy.mo"])
        .current_dir(folder.path(""))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&folder, "Busy.csv", 1);
    std::thread::sleep(Duration::from_millis(300));
    send("-INT", &child);
    let begin = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(begin.elapsed() < Duration::from_millis(500), "{:?}", begin.elapsed());
}

#[test]
fn two_runs_do_not_write_one_file() {
    for output in FORMATS {
        let folder = folder(&format!("two-{output}"));
        let mut child = start(&folder, output);
        wait_for(&folder, output, 1);
        let second = gyrator(&folder, &["simulate", "circle.mo", "--output", output]);
        assert_eq!(second.stderr, format!("error: cannot create `{output}`: another run is writing it\n"));
        assert_eq!(second.status, 2);
        send("-KILL", &child);
        child.wait().unwrap();
        // The lock ends with the process, however that ended.
        let third = gyrator(&folder, &["simulate", "-q", "circle.mo", "--output", output]);
        assert_eq!(third.status, 0, "{}", third.stderr);
    }
}

#[test]
fn killed() {
    for output in FORMATS {
        let folder = folder(&format!("kill-{output}"));
        let mut child = start(&folder, output);
        wait_for(&folder, output, 500_000);
        // Rows are kept back for a while.
        std::thread::sleep(Duration::from_secs(1));
        send("-KILL", &child);
        child.wait().unwrap();
        assert_readable(&folder, output, 3_000);
    }
}

#[test]
fn a_full_disk_is_told() {
    for output in FORMATS {
        let folder = folder(&format!("full-{output}"));
        if std::os::unix::fs::symlink("/dev/full", folder.path(output)).is_err() {
            return;
        }
        let run = gyrator(&folder, &["simulate", "circle.mo", "--output", output]);
        assert_eq!(run.status, 3);
        assert_eq!(run.stderr, format!("error: cannot write `{output}`: the disk is full\n"));
    }
}

/// A limit on the size of files stands for a disk that becomes full during the run.
#[test]
fn what_fits_on_the_disk_is_readable() {
    for output in FORMATS {
        let folder = folder(&format!("filling-{output}"));
        let call = format!("ulimit -f 1000; trap '' XFSZ; exec \"$0\" {} --output {output}", ENDLESS.join(" "));
        let run = Command::new("sh")
            .args(["-c", &call, env!("CARGO_BIN_EXE_gyrator")])
            .current_dir(folder.path(""))
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(3), "{output}");
        expect![[r#"
            error: cannot write `OUTPUT`: File too large (os error 27)
        "#]]
        .assert_eq(&String::from_utf8_lossy(&run.stderr).replace(output, "OUTPUT"));
        assert_readable(&folder, output, 3_000);
    }
}

/// The resident memory of a process in kilobytes, where the system tells it.
fn memory(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
}

#[test]
fn memory_does_not_grow_with_the_length_of_the_run() {
    for output in FORMATS {
        let folder = folder(&format!("memory-{output}"));
        let mut child = start(&folder, output);
        // Small files may be held in memory as a whole.
        wait_for(&folder, output, 20_000_000);
        let early = memory(&child);
        wait_for(&folder, output, 25_000_000);
        let late = memory(&child);
        send("-KILL", &child);
        child.wait().unwrap();
        if let (Some(early), Some(late)) = (early, late) {
            assert!(late < early + 3_000, "{output}: {early} kB, later {late} kB");
        }
    }
}
