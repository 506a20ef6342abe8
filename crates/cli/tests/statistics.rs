//! `--stats`: the effort of a run, as text and as JSON.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};
use expect_test::expect;
use serde_json::Value;

/// A motor that is switched to half of its torque, with an elastic shaft and a nonlinear load; a counter.
const DRIVE: &str = "model Drive
  model Load
    Real w, tau;
  equation
    tau + 0.3*tau^3 = 0.2*w;
  end Load;
  model Shaft
    parameter Real c = 1e4, d = 2;
    Real phi1(start = 0, fixed = true), w1, phi2(start = 0, fixed = true), w2, tau;
  equation
    der(phi1) = w1;
    der(phi2) = w2;
    tau = c*(phi1 - phi2) + d*(w1 - w2);
  end Shaft;
  Shaft shaft;
  Load load;
  Real w1(start = 0, fixed = true), w2(start = 0, fixed = true), motor;
  Integer count(start = 0, fixed = true);
equation
  motor = if w2 < 1 then 5 else 2.5;
  shaft.w1 = w1;
  shaft.w2 = w2;
  load.w = w2;
  0.1*der(w1) = motor - shaft.tau;
  0.2*der(w2) = shaft.tau - load.tau;
  when sample(0.25, 0.25) then
    count = pre(count) + 1;
  end when;
end Drive;
";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("drive.mo", DRIVE);
    folder
}

/// Numbers with a unit of time become `…`. So do those that tell how often systems are solved at events, which is not what
/// is tested here.
fn masked(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let has_unit = |at: usize| matches!(words.get(at + 1), Some(&("s" | "ms" | "µs")));
        let systems =
            words.len() == 5 || line.contains("systems of the model") || line.contains("factorisations there");
        let masked = words.iter().enumerate().map(|(at, &word)| match word {
            "ms" | "µs" => "s",
            _ if has_unit(at) || systems && word.parse::<u64>().is_ok() || line.starts_with("  up to") && at == 3 => {
                "…"
            }
            word => word,
        });
        let indent = line.len() - line.trim_start().len();
        out += &format!("{}{}\n", " ".repeat(indent.min(4)), masked.collect::<Vec<_>>().join(" "));
    }
    out
}

#[test]
fn as_text() {
    let folder = folder("stats-text");
    let run = gyrator(&folder, &["simulate", "--stats", "--solver", "rk4", "--step", "0.001", "drive.mo"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    expect![[r#"
        steps 1001
          rejected 0
        evaluations of the right-hand side 4010
        Jacobians 0
        factorisations 0
        Newton iterations 0
          in systems of the model …
          factorisations there …
        state events 1
        time events 4
        rows 508
        warnings of assertions 0
        modes 1

        parse … s
        instantiate … s
        flatten … s
        structure … s
        codegen … s
        initialise … s
        integrate … s
          right-hand side … s
          Jacobian … s
          linear algebra … s
          events … s
          output … s
        write … s

        a step, on average … s
        a step, at worst … s
          up to time …

        slowest systems time calls iterations factorisations
            … s … … …
            in `load`, drive.mo:5: 1 unknowns by 1: load.tau
            … s … … …
            in `load`, drive.mo:5: 1 unknowns by 1: load.tau
    "#]]
    .assert_eq(&masked(&run.stdout));
}

#[test]
fn as_json() {
    let folder = folder("stats-json");
    let run = gyrator(&folder, &["simulate", "--stats", "--json", "--solver", "bdf", "drive.mo"]);
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    let statistics = summary["statistics"].as_object().unwrap();
    let keys: Vec<&str> = statistics.keys().map(String::as_str).collect();
    expect!["steps rejected rhs jacobians factorisations newton_iterations block_iterations block_factorisations state_events time_events rows assertion_warnings modes mean_step_seconds worst_step_seconds worst_step_time integrate blocks"].assert_eq(&keys.join(" "));
    let number = |value: &Value| value.as_f64().unwrap();
    let (mean, worst) = (number(&statistics["mean_step_seconds"]), number(&statistics["worst_step_seconds"]));
    assert!(0.0 < mean && mean <= worst && worst < 60.0, "{mean} {worst}");
    assert!((0.0..=1.0).contains(&number(&statistics["worst_step_time"])));
    let parts = statistics["integrate"].as_object().unwrap();
    let sum: f64 = parts.values().map(number).sum();
    let whole = number(&summary["seconds"]["integrate"]);
    assert!(sum <= whole + 1e-5, "the parts {parts:?} are more than the whole {whole}");
    let block = &statistics["blocks"][0];
    let at = (block["component"].as_str(), block["file"].as_str(), block["line"].as_u64());
    assert_eq!(at, (Some("load"), Some("drive.mo"), Some(5)));
    assert!(block["iterations"].as_u64().unwrap() > block["factorisations"].as_u64().unwrap());
}

#[test]
fn nothing_is_measured_without_being_asked_for() {
    let folder = folder("stats-none");
    let run = gyrator(&folder, &["simulate", "--json", "drive.mo"]);
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(summary["statistics"]["steps"].as_u64().unwrap() > 0);
    assert_eq!(summary["statistics"].get("worst_step_seconds"), None);
}

/// Half a second takes half a second. On a busy machine steps may be late, which is told.
#[test]
fn in_real_time() {
    let folder = folder("stats-real-time");
    let begun = std::time::Instant::now();
    let run = gyrator(
        &folder,
        &[
            "simulate",
            "--realtime",
            "--json",
            "--solver",
            "inline-euler",
            "--step",
            "0.01",
            "--stop-time",
            "0.5",
            "drive.mo",
        ],
    );
    assert!(begun.elapsed().as_secs_f64() >= 0.5);
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    let (late, steps) = (&summary["statistics"]["overruns"], &summary["statistics"]["steps"]);
    assert!(late.as_u64().unwrap() <= steps.as_u64().unwrap());
    let told = run.stderr.contains("late steps: ");
    assert_eq!(told, late.as_u64().unwrap() > 0, "{}", run.stderr);
}
