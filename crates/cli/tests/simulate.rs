//! The commands on a model, as scripts call them.
#![allow(clippy::unwrap_used)]

mod common;

use std::process::Command;

use common::{Folder, gyrator};
use expect_test::expect;
use serde_json::Value;

const DECAY: &str = "model Decay
  parameter Real k(unit = \"1/s\") = 1;
  Real x(start = 1, fixed = true);
  Real y;
equation
  der(x) = -k*x;
  y = 2*x;
end Decay;
";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("decay.mo", DECAY);
    folder
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The last row of a CSV file as (header, numbers).
fn last_row(text: &str) -> (Vec<&str>, Vec<f64>) {
    let header = text.lines().next().unwrap().split(',').collect();
    let last = text.lines().last().unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    (header, last)
}

#[test]
fn check_prints_counts() {
    let folder = folder("counts");
    let run = gyrator(&folder, &["check", "decay.mo"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    expect![[r#"
        Decay: 2 equations, 2 unknowns, 1 parameter
          1 state: x
          0 aliases, 2 assignments
    "#]]
    .assert_eq(&run.stdout);
}

#[test]
fn check_as_json() {
    let folder = folder("check-json");
    let run = gyrator(&folder, &["check", "--json", "decay.mo"]);
    let summary = json(&run.stdout);
    let expected = [
        "model",
        "status",
        "stage",
        "flat",
        "aliases",
        "states",
        "dummy_states",
        "differentiated",
        "blocks",
        "entries",
        "events",
        "seconds",
    ];
    assert_eq!(keys(&summary), expected);
    assert_eq!(summary["model"], "Decay");
    assert_eq!(summary["status"], "ok");
    assert_eq!(summary["stage"], "done");
    assert_eq!(summary["flat"], json(r#"{"equations": 2, "unknowns": 2, "parameters": 1, "discrete": 0}"#));
    assert_eq!(summary["states"], json(r#"["x"]"#));
}

#[test]
fn index_reduction_by_projection() {
    let folder = Folder::new("projection");
    folder.write(
        "pendulum.mo",
        "model Pendulum
           Real x(start = 1, fixed = true), y(start = 0), vx, vy(start = 0, fixed = true), f;
         equation
           der(x) = vx; der(y) = vy; der(vx) = -f*x; der(vy) = -f*y - 9.81; x^2 + y^2 = 1;
           annotation(experiment(StopTime = 2));
         end Pendulum;",
    );
    let run = gyrator(&folder, &["simulate", "--json", "--index-reduction", "projection", "pendulum.mo"]);
    let summary = json(&run.stdout);
    assert_eq!((run.status, &summary["status"]), (0, &json("\"ok\"")));
    assert_eq!(summary["states"], json(r#"["x", "der(x)", "y", "der(y)", "vx", "vy"]"#));
}

#[test]
fn a_wrong_model_as_json() {
    let folder = Folder::new("wrong-json");
    folder.write("m.mo", "model M Real x; equation x = ; end M;");
    let run = gyrator(&folder, &["check", "--json", "m.mo"]);
    assert_eq!(run.status, 1);
    let summary = json(&run.stdout);
    assert_eq!(summary["status"], "failed");
    assert_eq!(summary["stage"], "parse");
    assert!(summary["message"].as_str().is_some_and(|message| !message.contains('\n')));
}

#[test]
fn flat_model_and_equations_as_text() {
    let folder = folder("text");
    expect![[r#"
        model Decay
          parameter Real k(unit = "1/s") = 1.0;
          Real x(start = 1.0, fixed = true);
          Real y;
        equation
          der(x) = -k*x; // decay.mo:6:3
          y = 2.0*x; // decay.mo:7:3
          annotation(__Gyrator(flat = true));
        end Decay;
    "#]]
    .assert_eq(&gyrator(&folder, &["flatten", "decay.mo"]).stdout);
    expect![[r#"
        Decay

        states: x

        at the start
          x := 1                                                    // decay.mo:3:8
          der(x) := -k*x                                            // decay.mo:6:3
          y := 2*x                                                  // decay.mo:7:3

        sorted equations
          der(x) := -k*x                                            // decay.mo:6:3
          y := 2*x  [for output]                                    // decay.mo:7:3
    "#]]
    .assert_eq(&gyrator(&folder, &["equations", "decay.mo"]).stdout);
    expect![[r#"
        SORTED AND SOLVED EQUATIONS
          Decay.   der(x) = -k*x
                   y = 2*x
        END OF SORTED AND SOLVED EQUATIONS
    "#]]
    .assert_eq(&gyrator(&folder, &["equations", "decay.mo", "--format", "dymola"]).stdout);
    let page = gyrator(&folder, &["equations", "decay.mo", "--format", "html"]).stdout;
    assert!(page.contains("<svg") && page.contains("decay.mo:6:3"));
    let latex = gyrator(&folder, &["equations", "decay.mo", "--format", "latex"]).stdout;
    assert!(latex.contains(r"\dot{x} := "), "{latex}");
}

#[test]
fn the_flat_text_flattens_to_itself() {
    let folder = folder("again");
    for line in gyrator(&folder, &["examples"]).stdout.lines() {
        let name = line.split(' ').next().unwrap();
        let written = gyrator(&folder, &["examples", name]).stdout;
        let Some(file) = written.lines().next().filter(|file| file.ends_with(".mo")) else { continue };
        let first = gyrator(&folder, &["flatten", file]).stdout;
        assert!(first.starts_with("model "), "{first}");
        folder.write("flat.mo", &first);
        assert_eq!(gyrator(&folder, &["flatten", "flat.mo"]).stdout, first, "{name}");
    }
}

#[test]
fn a_run_writes_every_variable() {
    let folder = folder("run");
    let run = gyrator(&folder, &["simulate", "decay.mo", "--output", "out.csv", "--json"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let summary = json(&run.stdout);
    assert_eq!(summary["result"], "out.csv");
    assert_eq!(summary["stage"], "done");
    assert_eq!(
        keys(&summary["seconds"]),
        ["parse", "instantiate", "flatten", "structure", "codegen", "initialise", "integrate", "write"]
    );
    assert!(summary["statistics"]["steps"].as_u64().unwrap() > 0);
    let text = folder.read("out.csv");
    let (header, last) = last_row(&text);
    assert_eq!(header[0], "time");
    assert_eq!(text.lines().count(), 502);
    let x = header.iter().position(|&name| name == "x").unwrap();
    assert_eq!(last[0], 1.0);
    assert!((last[x] - (-1f64).exp()).abs() < 1e-5);
    assert!(header.contains(&"der(x)") && header.contains(&"y"), "{header:?}");
}

#[test]
fn parameters_can_be_set_and_variables_chosen() {
    let folder = folder("set");
    let call = ["simulate", "decay.mo", "--set", "k=2", "--stop-time", "2", "--intervals", "4", "--variables", "x|y"];
    let run = gyrator(&folder, &[&call[..], &["-o", "out.csv"]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let text = folder.read("out.csv");
    let (header, last) = last_row(&text);
    assert_eq!(header, ["time", "x", "y"]);
    assert_eq!(text.lines().count(), 6);
    assert!((last[1] - (-4f64).exp()).abs() < 1e-5);
}

#[test]
fn other_formats_hold_the_same() {
    let folder = folder("formats");
    for file in ["a.mat", "a.parquet"] {
        let run = gyrator(&folder, &["simulate", "-q", "decay.mo", "--output", file]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let result = results::read(&folder.path(file)).unwrap();
        assert!((result.last("y").unwrap() - 2.0 * (-1f64).exp()).abs() < 1e-5);
    }
}

#[test]
fn plots_after_the_run() {
    let folder = folder("plot");
    for call in [&["decay.mo", "--plot"][..], &["--plot", "x", "decay.mo"], &["--plot", "decay.mo"]] {
        let run = gyrator(&folder, &[&["simulate"], call].concat());
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(run.stdout.contains("time (s)"), "{}", run.stdout);
    }
    let run = gyrator(&folder, &["simulate", "decay.mo", "--plot", "z"]);
    assert_eq!(run.status, 2);
    expect![[r#"
        error: there is no variable `z` in the model
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn events_are_logged() {
    let folder = Folder::new("events");
    folder.write(
        "m.mo",
        "model M\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = if x > 0.5 then -1 else 0;\nend M;\n",
    );
    let run = gyrator(&folder, &["simulate", "m.mo", "-q", "--event-log"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("x > 0.5") || run.stdout.contains("x - 0.5"), "{}", run.stdout);
    gyrator(&folder, &["simulate", "m.mo", "-q", "--event-log", "log.jsonl"]);
    folder.read("log.jsonl").lines().for_each(|line| drop(json(line)));
}

#[test]
fn wrong_calls() {
    let folder = folder("calls");
    let said = |arguments: &[&str]| {
        let run = gyrator(&folder, arguments);
        assert_eq!(run.status, 2, "{}", run.stderr);
        run.stderr
    };
    expect![[r#"
        error: which model? Name a file, such as `circuit.mo`, or a class
    "#]]
    .assert_eq(&said(&["simulate"]));
    expect![[r#"
        error: the stop time -1 must not be before the start time 0
    "#]]
    .assert_eq(&said(&["simulate", "decay.mo", "--stop-time", "-1"]));
    expect![[r#"
        error: `out.xls`: a result file ends in `.csv`, `.mat` or `.parquet`
    "#]]
    .assert_eq(&said(&["simulate", "decay.mo", "--output", "out.xls"]));
    expect![[r#"
        error: cannot create `nowhere/out.csv`: No such file or directory (os error 2)
    "#]]
    .assert_eq(&said(&["simulate", "decay.mo", "--output", "nowhere/out.csv"]));
    let solvers = said(&["simulate", "decay.mo", "--solver", "magic"]);
    assert!(solvers.starts_with("error: there is no solver `magic`; choose one of auto, "), "{solvers}");
    expect![[r#"
        error: there is no library folder `nowhere`
    "#]]
    .assert_eq(&said(&["check", "decay.mo", "-L", "nowhere"]));
    expect![[r#"
        error: invalid value 'k' for '--set <NAME=VALUE>': write it as NAME=VALUE, for example `R1.R=10`

        For more information, try '--help'.
    "#]]
    .assert_eq(&said(&["check", "decay.mo", "--set", "k"]));
}

#[test]
fn functions_are_called_for_their_effect_once_and_when_due() {
    let folder = Folder::new("effects");
    folder.write(
        "effects.mo",
        "model Effects
  function print
    input String text;
    input String file = \"\";
    external \"C\" ModelicaInternal_print(text, file);
  end print;
  function limited
    input Real y;
  algorithm
    assert(y < 0.9, \"too large\");
    print(\"tick \" + String(y));
  end limited;
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when sample(0.25, 0.25) then
    limited(x);
  end when;
initial algorithm
  print(\"begin\");
algorithm
  when x > 0.6 then
    print(\"passed\");
  end when;
end Effects;
",
    );
    let run = gyrator(&folder, &["simulate", "effects.mo", "--output", "effects.csv"]);
    assert_eq!(run.status, 3);
    let lines: Vec<&str> = run.stdout.lines().chain(run.stderr.lines()).collect();
    expect![[r#"
        begin
        tick 0.25
        tick 0.5
        passed
        tick 0.75
        error[evaluation-failed]: too large (in Effects.limited) at time 1"#]]
    .assert_eq(&lines[..6].join("\n"));
}

#[test]
fn a_state_machine_runs_and_its_active_states_are_results() {
    let folder = Folder::new("machine");
    folder.write(
        "lamp.mo",
        "model Lamp
  inner Integer brightness(start = 0);
  block On
    outer output Integer brightness;
  equation
    brightness = previous(brightness) + 10;
  end On;
  block Off
    outer output Integer brightness;
  equation
    brightness = 0;
  end Off;
  Off off;
  On on;
  Real clock = sample(time, Clock(1, 4));
equation
  initialState(off);
  transition(off, on, clock >= 0.5);
  transition(on, off, ticksInState() >= 3, immediate = false);
end Lamp;
",
    );
    let call =
        ["simulate", "lamp.mo", "--stop-time", "1.1", "--output", "lamp.csv", "--variables", "brightness|.*active"];
    let run = gyrator(&folder, &call);
    assert_eq!((run.status, run.stderr.as_str()), (0, "lamp.csv: 509 rows\n"));
    let text = folder.read("lamp.csv");
    // On from 0.5 s for three ticks of a quarter of a second; at 1.25 s it would be off.
    assert_eq!(last_row(&text), (vec!["time", "brightness", "off.active", "on.active"], vec![1.1, 30.0, 0.0, 1.0]));
}

/// The columns of a result by name.
fn columns(text: &str, names: &[&str]) -> Vec<Vec<f64>> {
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let places: Vec<usize> = names.iter().map(|name| header.iter().position(|cell| cell == name).unwrap()).collect();
    let row = |line: &str| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        places.iter().map(|&place| cells[place]).collect()
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn what_was_a_while_ago() {
    let folder = Folder::new("delay");
    folder.write(
        "past.mo",
        "model Past
  Real x(start = 0, fixed = true);
  Real late = delay(x, 1);
  Real position(start = 0, fixed = true);
  Real speed = if time < 2.5 then 1 else -1;
  Real first, second;
equation
  der(x) = cos(time);
  der(position) = speed;
  (first, second) = spatialDistribution(sin(time), 5, position, speed >= 0, {0.0, 1.0}, {1.0, 2.0});
  annotation(experiment(StopTime = 4, Tolerance = 1e-8));
end Past;
",
    );
    let run = gyrator(&folder, &["simulate", "past.mo", "-q", "--output", "past.csv"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    for row in columns(&folder.read("past.csv"), &["time", "late", "first", "second"]) {
        let [time, late, first, second] = row[..] else { panic!("four columns") };
        let before = (time - 1.0).max(0.0).sin();
        assert!((late - before).abs() < 1e-5, "{time}: {late} instead of {before}");
        if [1.0, 2.5, 3.5].contains(&time) {
            continue;
        }
        // The pipe holds a slope from 1 to 2, then what entered at its first end; from 2.5 it comes back, and 5 follows.
        let (first_expected, second_expected) = match time {
            ..1.0 => (time.sin(), 2.0 - time),
            ..2.5 => (time.sin(), (time - 1.0).sin()),
            ..3.5 => ((5.0 - time).sin(), 5.0),
            _ => (5.0, 5.0),
        };
        assert!((first - first_expected).abs() < 1e-4, "{time}: {first} instead of {first_expected}");
        assert!((second - second_expected).abs() < 1e-4, "{time}: {second} instead of {second_expected}");
    }
}

#[test]
fn hidden_variables_are_not_in_the_result() {
    let folder = Folder::new("hidden");
    folder.write(
        "hidden.mo",
        "model Hidden
  Real shown = time;
  Real hidden = 2*time annotation (HideResult = true);
end Hidden;
",
    );
    let run = gyrator(&folder, &["simulate", "-q", "hidden.mo"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(folder.read("Hidden.csv").lines().next(), Some("time,shown"));
}

#[test]
fn libraries_of_the_environment() {
    let folder = Folder::new("environment");
    std::fs::create_dir_all(folder.path("shelf/Lib 1.0.0")).unwrap();
    folder.write("shelf/Lib 1.0.0/package.mo", "package Lib\n  constant Real c = 3;\nend Lib;\n");
    folder.write("m.mo", "model M\n  Real x = Lib.c;\nend M;\n");
    let status = |path: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gyrator"));
        command.args(["check", "-q", "m.mo"]).current_dir(folder.path("")).env_remove("MODELICAPATH");
        command.envs(path.map(|path| ("MODELICAPATH", path))).output().unwrap().status.code()
    };
    assert_eq!(status(None), Some(1));
    assert_eq!(status(Some("shelf")), Some(0));
    assert_eq!(status(Some("nowhere:shelf")), Some(0));
}

#[test]
fn the_help_text_names_every_method() {
    let folder = Folder::new("help");
    let help = gyrator(&folder, &["simulate", "--help"]).stdout;
    folder.write("m.mo", "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;");
    let told = gyrator(&folder, &["simulate", "--solver", "dassl", "m.mo"]).stderr;
    let names = told.split("choose one of ").nth(1).unwrap().lines().next().unwrap();
    for name in names.split(", ") {
        assert!(help.contains(name), "{name}");
    }
}

#[test]
fn the_summary_of_an_assertion_with_several_lines_is_its_first_line_with_the_time() {
    let folder = folder("assertion_lines");
    folder.write(
        "a.mo",
        "model A\nequation\n  assert(time < 0.5, \"\nThe loop is singular.\nTry another joint.\n\");\nend A;\n",
    );
    let run = gyrator(&folder, &["simulate", "a.mo", "--json"]);
    assert_eq!(run.status, 3);
    assert_eq!(json(&run.stdout)["message"], "The loop is singular. (an assertion fails at time 0.5)");
    assert!(
        run.stderr.contains("The loop is singular. (an assertion fails at time 0.5)\nTry another joint.\n"),
        "{}",
        run.stderr
    );
}
