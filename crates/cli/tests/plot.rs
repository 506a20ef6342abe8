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
    for (file, start) in [("a.svg", "<svg"), ("a.html", "<!doctype html>"), ("a.png", "\u{fffd}PNG")] {
        let run = gyrator(&folder, &["plot", "out.csv", "C.v,x[1,2]", "--output", file]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(folder.read(file).starts_with(start));
    }
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
        error: `a.gif`: a picture ends in `.svg`, `.png` or `.html`
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
