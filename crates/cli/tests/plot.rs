//! The commands that need no model: `plot` and `examples`.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};
use expect_test::expect;

const RESULT: &str = "time,C.v,\"x[1,2]\",p\n0,0,1,5\n1,1,1,5\n1,2,0,5\n2,2,0,5\n";

#[test]
fn draws_in_the_terminal() {
    let folder = Folder::new("terminal");
    folder.write("out.csv", RESULT);
    let run = gyrator(&folder, &["plot", "out.csv", "C.v"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    expect![[r#"
        out
              C.v
          2 ┤                                     ⡏⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
            │                                     ⡇
            │                                     ⡇
        1.5 ┤                                     ⡇
            │                                     ⡇
            │                                     ⡇
            │                                     ⡇
          1 ┤                                ⢀⣀⠤⠒⠊⠁
            │                           ⣀⡠⠔⠒⠉⠁
            │                     ⢀⣀⠤⠒⠊⠉
        0.5 ┤                ⣀⡠⠔⠒⠉⠁
            │          ⢀⣀⠤⠔⠊⠉
            │     ⣀⡠⠤⠒⠉⠁
          0 ┤⣀⠤⠔⠊⠉
            └┬─────────────────┬──────────────────┬─────────────────┬─────────────────┬
             0                0.5                 1                1.5                2
                                              time (s)
    "#]]
    .assert_eq(&run.stdout);
}

#[test]
fn draws_files_by_their_ending() {
    let folder = Folder::new("files");
    folder.write("out.csv", RESULT);
    for (file, start) in
        [("a.svg", "<svg"), ("a.html", "<!doctype html>"), ("a.png", "\u{fffd}PNG"), ("a.pdf", "%PDF-1.4")]
    {
        let run = gyrator(&folder, &["plot", "out.csv", "C.v,x[1,2]", "--output", file]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(folder.read(file).starts_with(start));
    }
}

#[test]
fn files_names_expressions_and_ranges_in_any_order() {
    let folder = Folder::new("mixed");
    folder.write("one.csv", "time,x,\"T[1]\",\"T[2]\"\n0,0,1,2\n1,2,3,4\n");
    folder.write("two.csv", "time,x\n0,5\n1,6\n");
    let drawn = |arguments: &[&str]| {
        let run = gyrator(&folder, &[&["plot"], arguments, &["-o", "p.svg"]].concat());
        assert_eq!(run.status, 0, "{}", run.stderr);
        let text = folder.read("p.svg");
        let names = text.split("<g class=\"entry\"").skip(1).filter_map(|entry| entry.split("<title>").nth(1));
        names.map(|name| name.split('<').next().unwrap().to_owned()).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(drawn(&["x", "one.csv", "two.csv"]), "x (one); x (two)");
    // What only one file has is drawn from that.
    assert_eq!(drawn(&["one.csv", "two.csv", "T[1:2]", "x - 1"]), "T[1] (one); T[2] (one); x - 1 (one); x - 1 (two)");
    assert_eq!(drawn(&["one.csv", "T[:]", "--x", "x"]), "T[1]; T[2]");
    assert!(folder.read("p.svg").contains(">x</text>"));
    assert_eq!(drawn(&["one.csv", "x*T[2]", "--range", "0.2..0.8", "--log-y"]), "x*T[2]");
}

#[test]
fn wrong_calls_are_told_apart_from_wrong_models() {
    let folder = Folder::new("wrong");
    folder.write("out.csv", RESULT);
    let said = |arguments: &[&str]| {
        let run = gyrator(&folder, arguments);
        assert_eq!(run.status, 2);
        run.stderr
    };
    expect![[r#"
        error: there is no variable `C.w` in `out.csv`; did you mean `C.v`?
    "#]]
    .assert_eq(&said(&["plot", "out.csv", "C.w"]));
    expect![[r#"
        error: cannot read `nothing.csv`: No such file or directory (os error 2)
    "#]]
    .assert_eq(&said(&["plot", "nothing.csv"]));
    expect![[r#"
        error: `a.gif`: a picture ends in `.svg`, `.png`, `.pdf` or `.html`
    "#]]
    .assert_eq(&said(&["plot", "out.csv", "--output", "a.gif"]));
    expect![[r#"
        error: `(` is no regular expression: found open group without closing ')'
    "#]]
    .assert_eq(&said(&["plot", "out.csv", "--variables", "("]));
    expect![[r#"
        error: `out.txt`: a result file ends in `.csv`, `.mat` or `.parquet`
    "#]]
    .assert_eq(&said(&["plot", "out.txt"]));
    expect![[r#"
        error: there is no file `C.v`; name a result file to draw from: .csv, .mat or .parquet
    "#]]
    .assert_eq(&said(&["plot", "C.v", "p"]));
    expect![[r#"
        error: `C.v +` ends too early
    "#]]
    .assert_eq(&said(&["plot", "out.csv", "C.v +"]));
    expect![[r#"
        error: `--log-y`: no value is greater than zero
    "#]]
    .assert_eq(&said(&["plot", "out.csv", "0 - p", "--log-y"]));
    expect![[r#"
        error: there is no example `circuits`; did you mean `circuit`?
    "#]]
    .assert_eq(&said(&["examples", "circuits"]));
}

#[test]
fn examples_are_listed_and_written_once() {
    let folder = Folder::new("examples");
    let list = gyrator(&folder, &["examples"]).stdout;
    assert!(list.lines().any(|line| line.starts_with("circuit ")), "{list}");
    assert_eq!(gyrator(&folder, &["examples", "circuit"]).stdout, "circuit.mo\n");
    assert!(folder.read("circuit.mo").contains("model Circuit"));
    assert_eq!(gyrator(&folder, &["examples", "circuit"]).status, 2);
    // Of the language of 1993, bond graphs, and of the library.
    let vehicle = "Gyrator.Examples.DriveTrains.FourSpeedVehicle";
    for name in ["rectifier.dym", "rlc", vehicle] {
        let line = list.lines().find(|line| line.starts_with(&format!("{name} ")));
        assert!(line.is_some_and(|line| line.len() > 60), "{name}: {line:?}");
    }
    assert_eq!(gyrator(&folder, &["examples", "rectifier.dym"]).stdout, "rectifier.dym\n");
    let refused = gyrator(&folder, &["examples", vehicle]);
    assert!(refused.stderr.contains(&format!("`gyrator simulate {vehicle}` runs it")), "{}", refused.stderr);
}
