//! The examples of the repository, through the command line: counts of the transformations and numbers of the runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn gyrator(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_gyrator")).args(arguments).output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// The JSON summary of a command on an example.
fn summary(command: &str, name: &str, more: &[&str]) -> Value {
    let path = example(name);
    let mut arguments = vec![command, "--json", path.to_str().expect("a path")];
    arguments.extend(more);
    let (status, stdout, stderr) = gyrator(&arguments);
    assert_eq!(status, 0, "{stderr}");
    serde_json::from_str(&stdout).expect("JSON")
}

fn counts(summary: &Value) -> (u64, u64, usize) {
    let flat = &summary["flat"];
    let number = |key: &str| flat[key].as_u64().expect("a count");
    (number("equations"), number("unknowns"), summary["states"].as_array().expect("states").len())
}

fn block_sizes(summary: &Value) -> Vec<(u64, u64)> {
    let blocks = summary["blocks"].as_array().expect("blocks");
    let size = |block: &Value| (block["size"].as_u64().unwrap_or(1), block["torn"].as_u64().unwrap_or(0));
    blocks.iter().map(size).filter(|&(size, _)| size > 1).collect()
}

/// Simulates and returns the columns by name.
struct Result {
    header: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Result {
    fn of(name: &str, more: &[&str]) -> Self {
        let file = std::env::temp_dir().join(format!("gyrator-{}-{}-{}.csv", name, more.len(), std::process::id()));
        let path = example(name);
        let mut arguments =
            vec!["simulate", path.to_str().expect("a path"), "--output", file.to_str().expect("a path")];
        arguments.extend(more);
        let (status, _, stderr) = gyrator(&arguments);
        assert_eq!(status, 0, "{stderr}");
        let text = std::fs::read_to_string(&file).expect("a result");
        let _ = std::fs::remove_file(&file);
        let mut lines = text.lines();
        let header = lines.next().expect("a header").split(',').map(str::to_owned).collect();
        let rows = lines.map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect()).collect();
        Self { header, rows }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let index = self.header.iter().position(|found| found == name).unwrap_or_else(|| panic!("no column {name}"));
        self.rows.iter().map(|row| row[index]).collect()
    }

    fn end(&self, name: &str) -> f64 {
        *self.column(name).last().expect("rows")
    }

    /// Times that stand twice: the events.
    fn events(&self) -> Vec<f64> {
        let time = self.column("time");
        time.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
    }
}

#[track_caller]
fn assert_close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance * expected.abs().max(1.0), "{value} is not {expected}");
}

#[test]
fn circuit_is_27_equations_and_no_loop() {
    let summary = summary("check", "circuit.mo", &[]);
    assert_eq!(counts(&summary), (27, 27, 2));
    assert_eq!(block_sizes(&summary), []);
}

#[test]
fn circuit_matches_the_closed_form() {
    let result = Result::of("circuit.mo", &["--tolerance", "1e-9"]);
    // R1 and C: τ = 0.1 s, driven by 220 sin(314 t); the exact solution of C·u' = (U − u)/R.
    let (tau, omega, amplitude) = (0.1, 314.0, 220.0);
    let gain = amplitude / (1.0 + (omega * tau) * (omega * tau));
    for (t, u) in result.column("time").iter().zip(result.column("C.u")) {
        let exact = gain * ((omega * t).sin() - omega * tau * (omega * t).cos() + omega * tau * (-t / tau).exp());
        assert_close(u, exact, 1e-6);
    }
}

#[test]
fn mass_and_spring_are_11_assignments() {
    let summary = summary("check", "mass_spring.mo", &[]);
    assert_eq!(counts(&summary), (11, 11, 2));
    assert_eq!(block_sizes(&summary), []);
    let result = Result::of("mass_spring.mo", &[]);
    for (t, s) in result.column("time").iter().zip(result.column("mass.b.s")) {
        assert_close(s, (2.0 * t).cos(), 1e-5);
    }
}

#[test]
fn two_springs_have_one_loop_torn_to_one() {
    let summary = summary("check", "two_springs.mo", &[]);
    assert_eq!(counts(&summary), (15, 15, 2));
    let blocks = block_sizes(&summary);
    assert!(blocks.len() <= 1, "{blocks:?}");
    assert!(blocks.iter().all(|&(size, torn)| size <= 5 && torn == 1), "{blocks:?}");
    let result = Result::of("two_springs.mo", &[]);
    for (t, s) in result.column("time").iter().zip(result.column("mass.b.s")) {
        assert_close(s, (2.0f64.sqrt() * t).cos(), 1e-5);
    }
}

#[test]
fn sorting_finds_the_order_of_the_textbook() {
    let summary = summary("check", "sorting.mo", &[]);
    assert_eq!(counts(&summary), (5, 5, 0));
    assert_eq!(block_sizes(&summary).len(), 1);
    assert_eq!(block_sizes(&summary)[0].0, 2);
    let unknowns: Vec<Vec<&str>> = summary["blocks"]
        .as_array()
        .expect("blocks")
        .iter()
        .map(|block| {
            let names = block["unknowns"].as_array().expect("unknowns");
            let mut names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.sort();
            names
        })
        .collect();
    assert_eq!(unknowns, [vec!["z2"], vec!["z1"], vec!["z3", "z5"], vec!["z4"]]);
    let result = Result::of("sorting.mo", &[]);
    let values = ["z1", "z2", "z3", "z4", "z5"].map(|name| result.end(name));
    for (value, expected) in values.into_iter().zip([1.0, 2.0, 3.0, 4.0, 5.0]) {
        assert_close(value, expected, 1e-12);
    }
}

#[test]
fn tearing_needs_one_variable() {
    let summary = summary("check", "tearing.mo", &[]);
    assert_eq!(block_sizes(&summary), [(5, 1)]);
    let result = Result::of("tearing.mo", &[]);
    let column = |name: &str| result.column(name);
    let (z1, z2, z3, z4, z5) = (column("z1"), column("z2"), column("z3"), column("z4"), column("z5"));
    for (k, t) in result.column("time").into_iter().enumerate() {
        assert_close(z1[k], 0.5 * z5[k].cos() + 0.1 * t, 1e-9);
        assert_close(z2[k], z1[k].sin(), 1e-9);
        assert_close(z3[k], z1[k] + z2[k] * z2[k], 1e-9);
        assert_close(z4[k], z2[k] * z3[k], 1e-9);
        assert_close(z5[k], (-z4[k]).exp() + z1[k], 1e-9);
    }
}

#[test]
fn safe_tearing_passes_the_zero_of_the_factor() {
    let result = Result::of("safe_tearing.mo", &["--stop-time", "4"]);
    for ((z1, z2), z3) in result.column("z1").iter().zip(result.column("z2")).zip(result.column("z3")) {
        assert_close(z1 * z2, z3.sin(), 1e-7);
        assert_close(z2 * z2, z3, 1e-7);
    }
}

#[test]
fn limiter_has_an_event_at_each_crossing() {
    let result = Result::of("limiter.mo", &[]);
    let pi = std::f64::consts::PI;
    for expected in [pi / 6.0, 5.0 * pi / 6.0, pi, 7.0 * pi / 6.0, 11.0 * pi / 6.0] {
        assert!(result.events().iter().any(|t| (t - expected).abs() < 1e-9), "no event at {expected}");
    }
    assert_close(result.end("x"), 0.0, 1e-6);
    // ∫ of the limited sine up to π: 2·(2 − √3) + 2π/3
    let half = result.column("x").into_iter().fold(0.0, f64::max);
    assert_close(half, 2.0 * (2.0 - 3.0f64.sqrt()) + 2.0 * pi / 3.0, 1e-6);
}

#[test]
fn bouncing_ball_bounces_on_time() {
    let result = Result::of("bouncing_ball.mo", &[]);
    let mut fall = (2.0f64 / 9.81).sqrt();
    let mut bounce = fall;
    while bounce < 2.0 {
        assert!(result.events().iter().any(|t| (t - bounce).abs() < 1e-8 * bounce), "no bounce at {bounce}");
        fall *= 0.7;
        bounce += 2.0 * fall;
    }
}

#[test]
fn bouncing_ball_reports_where_its_events_accumulate() {
    let path = example("bouncing_ball.mo");
    let file = std::env::temp_dir().join(format!("gyrator-rest-{}.csv", std::process::id()));
    let (status, _, stderr) = gyrator(&[
        "simulate",
        path.to_str().expect("a path"),
        "--stop-time",
        "3",
        "--output",
        file.to_str().expect("a path"),
    ]);
    let _ = std::fs::remove_file(&file);
    assert_eq!(status, 3, "{stderr}");
    assert!(stderr.contains("events accumulate at time 2.55"), "{stderr}");
}

#[test]
fn rectifier_commutates_on_time() {
    let result = Result::of("rectifier.mo", &[]);
    for expected in [8.7081397e-3, 2.0999157e-2, 2.8265191e-2, 4.1307834e-2] {
        assert!(result.events().iter().any(|t| (t - expected).abs() < 1e-7), "no commutation at {expected}");
    }
    assert_close(result.end("C.u"), 0.456011, 1e-6);
}
