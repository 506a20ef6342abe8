//! Where models, parameters and times come from, and where results go: files of parameters, times with units, standard streams.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write as _;
use std::process::{Command, Stdio};

use common::{Folder, gyrator};

const MODEL: &str = r#"
model M
  parameter Real a = 1;
  parameter Real T(unit = "K") = 300;
  parameter Real p[2] = {1, 2};
  parameter Boolean on = false;
  Sub sub;
  Real x(start = 0, fixed = true);
  model Sub
    parameter Real k = 1;
  end Sub;
equation
  der(x) = a;
end M;
"#;

fn values(folder: &Folder, arguments: &[&str], names: &[&str]) -> Vec<f64> {
    let run = gyrator(folder, &[&["simulate", "m.mo", "-o", "m.csv"], arguments].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let result = results::read(&folder.path("m.csv")).unwrap();
    names.iter().map(|name| result.last(name).unwrap()).collect()
}

#[test]
fn parameters_from_a_file() {
    let folder = Folder::new("parameters");
    folder.write("m.mo", MODEL);
    folder.write("p.json", r#"{ "a": 2.5, "sub": { "k": 7 }, "T": "25 degC", "p": [3, 4], "on": true }"#);
    folder.write("p.toml", "a = 2.5\nT = \"25 degC\"\np = [3, 4]\non = true\n[sub]\nk = 7\n");
    let names = ["a", "T", "p[1]", "p[2]", "on", "sub.k"];
    for file in ["p.json", "p.toml"] {
        assert_eq!(values(&folder, &["--param-file", file], &names), [2.5, 298.15, 3.0, 4.0, 1.0, 7.0]);
    }
    // With the mark that some editors write at the beginning.
    folder.write("marked.json", "\u{feff}{\"a\": 4.5}");
    assert_eq!(values(&folder, &["--param-file", "marked.json"], &["a"]), [4.5]);
    // What the call says comes first, and nothing is set twice.
    let run = gyrator(&folder, &["simulate", "m.mo", "--param-file", "p.toml", "--set", "a=9", "-o", "m.csv"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, "m.csv: 501 rows\n"));
    assert_eq!(results::read(&folder.path("m.csv")).unwrap().last("a"), Some(9.0));
    folder.write("wrong.toml", "a = \n");
    folder.write("list.json", "[1]");
    folder.write("date.toml", "a = 2020-01-01\n");
    folder.write("twice.json", r#"{"a": 1, "a": 2}"#);
    for (file, said) in [
        ("date.toml", "`date.toml`: `a` is a date or a time, which no parameter can be"),
        ("twice.json", "`twice.json`: `a` has two values"),
        ("wrong.toml", "`wrong.toml`: "),
        ("list.json", "`list.json` holds no names with values"),
        ("p.yaml", "cannot read `p.yaml`"),
        ("m.mo", "a file of parameters ends in `.json` or `.toml`"),
    ] {
        let run = gyrator(&folder, &["simulate", "m.mo", "--param-file", file]);
        assert_eq!(run.status, 2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

const KINDS: &str = r#"
model Kinds
  type E = enumeration(one, two, three);
  parameter String s = "a", t[2] = {"b", "c"};
  parameter E e = E.one, f[2] = {E.one, E.one};
  parameter Real T(unit = "K") = 300, U[2](each unit = "K") = {1, 2};
  parameter Integer n = 1;
  parameter Boolean on = false, flags[2] = {false, false};
  Real same = if s == "x\"y\\z" and t[1] == "p q" and t[2] == "25 degC" then 1 else 0;
  Real ordinals = 100*Integer(e) + 10*Integer(f[1]) + Integer(f[2]);
  Real sum = T + U[1] + U[2];
  Real rest = n + (if on then 10 else 0) + (if flags[2] then 100 else 0);
end Kinds;
"#;

#[test]
fn a_file_has_values_of_all_types() {
    let folder = Folder::new("kinds");
    folder.write("m.mo", KINDS);
    folder.write(
        "p.json",
        r#"{"s": "x\"y\\z", "t": ["p q", "25 degC"], "e": "two", "f": ["Kinds.E.three", "E.two"], "T": "25 degC",
            "U": ["0 degC", 1.5], "n": 7, "on": true, "flags": [false, true]}"#,
    );
    folder.write(
        "p.toml",
        "s = 'x\"y\\z'\nt = ['p q', '25 degC']\ne = 'E.two'\nf = ['three', 'two']\nT = '25 degC'\nU = ['0 degC', 1.5]\nn = 7\n\
         on = true\nflags = [false, true]\n",
    );
    folder.write(
        "elements.json",
        r#"{"s": "x\"y\\z", "t": ["p q", "25 degC"], "e": "two", "f[1]": "three", "f[2]": "E.two", "T": 298.15,
            "U[1]": "0 degC", "U[2]": 1.5, "n": "7", "on": "true", "flags": [false, "true"]}"#,
    );
    let wanted = [1.0, 232.0, 298.15 + 273.15 + 1.5, 117.0];
    for file in ["p.json", "p.toml", "elements.json"] {
        let found = values(&folder, &["--param-file", file], &["same", "ordinals", "sum", "rest"]);
        assert!(found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-9), "{file}: {found:?}");
    }
    // What --set says in the same words means the same.
    let set = ["--set", "e=two", "--set", "f={three, two}", "--set", "n=7"];
    assert_eq!(values(&folder, &set, &["ordinals"]), [232.0]);
    for (text, said) in [
        (r#"{"T": "25 V"}"#, "`T` has the unit `K`, to which `V` cannot be converted"),
        (r#"{"e": "four"}"#, "four"),
        (r#"{"n": ""}"#, "an empty text is no value of `n`"),
        (r#"{"s": 5}"#, "String"),
        (r#"{"f[1]": "four"}"#, "`four` is no value of `f[1]`"),
        (r#"{"f": ["one", "four"]}"#, "four"),
        (r#"{"missing": 5}"#, "missing"),
    ] {
        folder.write("wrong.json", text);
        let run = gyrator(&folder, &["simulate", "m.mo", "--param-file", "wrong.json"]);
        assert_eq!(run.status, 1, "{text}: {}", run.stderr);
        assert!(run.stderr.contains(said) && run.stderr.contains("wrong.json"), "{text}: {}", run.stderr);
    }
}

#[test]
fn times_with_units() {
    let folder = Folder::new("times");
    folder.write("m.mo", MODEL);
    for (time, seconds) in
        [("1 h", 3600.0), ("90 s", 90.0), ("20ms", 0.02), ("2 d", 172_800.0), ("1e2", 100.0), ("3 min", 180.0)]
    {
        let x = values(&folder, &["--stop-time", time], &["x"])[0];
        assert!((x / seconds - 1.0).abs() < 1e-9, "{time}: {x}");
    }
    for wrong in ["1 V", "an hour", "1 parsec"] {
        let run = gyrator(&folder, &["simulate", "m.mo", "--stop-time", wrong]);
        assert_eq!(run.status, 2);
        assert!(run.stderr.contains("a time with its unit"), "{}", run.stderr);
    }
}

#[test]
fn a_model_from_standard_input_to_standard_output() {
    let folder = Folder::new("standard");
    let mut child = Command::new(env!("CARGO_BIN_EXE_gyrator"))
        .args(["simulate", "-", "-o", "-", "--intervals", "2", "--variables", "x"])
        .current_dir(folder.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"model P Real x = 3*time; end P;").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "time,x\n0,0\n0.5,1.5\n1,3\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "standard output: 3 rows\n");
    // Nothing is left behind.
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 0);
    folder.write("m.mo", MODEL);
    let run = gyrator(&folder, &["simulate", "m.mo", "-o", "-", "--json"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("`--output -` and `--json` both write to standard output"), "{}", run.stderr);
}

#[test]
fn units_stand_beside_a_table() {
    let folder = Folder::new("units-beside");
    folder.write(
        "u.mo",
        "model U Real T(unit = \"K\", displayUnit = \"degC\") = 300 + time; Real tau(unit = \"N.m\") = time; end U;",
    );
    let run = gyrator(&folder, &["simulate", "u.mo", "--intervals", "2"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(folder.read("U.csv"), "time,T,tau\n0,300,0\n0.5,300.5,0.5\n1,301,1\n");
    assert_eq!(
        folder.read("U.csv.units.json"),
        "{\n\"T\": {\"unit\":\"K\",\"displayUnit\":\"degC\"},\n\"tau\": {\"unit\":\"N.m\"}\n}\n"
    );
    let run = gyrator(&folder, &["plot", "U.csv", "T", "tau"]);
    assert!(run.stdout.contains("T (°C)") && run.stdout.contains("tau (N·m)"), "{}", run.stdout);
}
