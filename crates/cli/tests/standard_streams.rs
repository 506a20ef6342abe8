//! Standard output and error that are full or closed, and the event log that goes there or into a file.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::process::Command;

use common::{Folder, gyrator};

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("ramp.mo", "model Ramp\n  Real x(start = 0, fixed = true);\nequation\n  der(x) = 1;\nend Ramp;\n");
    folder
}

/// The exit status of a call with redirections.
fn status(folder: &Folder, call: &str) -> Option<i32> {
    let call = format!("\"$0\" {call}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &call, env!("CARGO_BIN_EXE_gyrator")]).current_dir(folder.path(""));
    shell.status().unwrap().code()
}

const CALLS: [&str; 8] = [
    "check ramp.mo",
    "check --json ramp.mo",
    "flatten ramp.mo",
    "equations ramp.mo",
    "simulate --json ramp.mo",
    "simulate --stats ramp.mo",
    "simulate --plot x ramp.mo",
    "simulate --event-log - ramp.mo",
];

#[test]
fn a_full_standard_output_is_an_error() {
    let folder = folder("full-out");
    for call in CALLS.into_iter().chain(["examples", "--help", "--version"]) {
        assert_eq!(status(&folder, &format!("{call} >/dev/full 2>/dev/null")), Some(2), "{call}");
    }
}

#[test]
fn nobody_has_to_listen() {
    let folder = folder("closed");
    for call in CALLS {
        for to in [">&-", "2>&-", "2>/dev/full", ">&- 2>&-"] {
            let other = if to.starts_with('2') { ">/dev/null" } else { "" };
            assert_eq!(status(&folder, &format!("{call} {other} {to}")), Some(0), "{call} {to}");
        }
        // A reader that is gone.
        let gone = format!("{call} 2>/dev/null | true");
        assert_eq!(status(&folder, &gone), Some(0), "{call}");
        assert_eq!(status(&folder, &format!("{call} 2>&1 >/dev/null | true")), Some(0), "{call}");
    }
    assert_eq!(status(&folder, "check nowhere.mo 2>/dev/full"), Some(2));
}

#[test]
fn an_event_log_overwrites_event_logs() {
    let folder = folder("log");
    let log = |file: &str| gyrator(&folder, &["simulate", "-q", "ramp.mo", "--event-log", file]);
    for file in ["events", "events.json", "a.log", "a.txt", "a.jsonl"] {
        for _ in 0..2 {
            let run = log(file);
            assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{file}");
        }
    }
    for file in ["notes.md", "ramp.mo", "Ramp.csv"] {
        if file == "notes.md" {
            folder.write(file, "remember\n");
        }
        let before = folder.read(file);
        let run = log(file);
        assert_eq!(run.status, 2, "{file}");
        let expected = format!(
            "error: `{file}` exists and is no event log; `--event-log` overwrites other files only if they end in .log, .txt or .jsonl\n"
        );
        assert_eq!(run.stderr, expected);
        assert_eq!(folder.read(file), before);
    }
    folder.write("b.log", "anything\n");
    assert_eq!(log("b.log").status, 0);
    let run = log("-");
    assert!(run.stdout.starts_with("0 ") && run.stdout.contains("initialised"), "{}", run.stdout);
    assert!(!folder.path("-").exists());
}
