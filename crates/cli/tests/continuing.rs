//! `gyrator simulate --start-from` and `--steady-state`.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};

const MODEL: &str = "
    model M
      Real x(start = 1, fixed = true);
      discrete Integer n(start = 0, fixed = true);
    equation
      der(x) = 2 - x;
      when sample(0.25, 0.25) then
        n = pre(n) + 1;
      end when;
    end M;";

fn last(folder: &Folder, file: &str, column: &str) -> f64 {
    results::read(&folder.path(file)).unwrap().last(column).unwrap()
}

#[test]
fn a_run_goes_on_where_another_one_was() {
    let folder = Folder::new("start-from");
    folder.write("m.mo", MODEL);
    for (file, from, begin) in
        [("a.csv", "a.csv", 1.0), ("a.mat", "a.mat@0.6", 0.6), ("a.parquet", "a.parquet@0.613", 0.613)]
    {
        assert_eq!(gyrator(&folder, &["simulate", "m.mo", "-o", file]).status, 0);
        let run = gyrator(&folder, &["simulate", "m.mo", "--start-from", from, "--stop-time", "2", "-o", "b.csv"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let result = results::read(&folder.path("b.csv")).unwrap();
        assert!((result.time[0] - begin).abs() < 1e-12);
        assert!((result.last("x").unwrap() - (2.0 - (-2f64).exp())).abs() < 1e-5);
        assert_eq!(result.last("n"), Some(8.0));
    }
    let shifted = ["simulate", "m.mo", "--start-from", "a.csv", "--start-time", "10", "--stop-time", "10.1"];
    assert_eq!(gyrator(&folder, &shifted).status, 0);
    assert!((last(&folder, "M.csv", "x") - (2.0 - (-1.1f64).exp())).abs() < 1e-5);
}

#[test]
fn wrong_results_are_explained() {
    let folder = Folder::new("start-from-wrong");
    folder.write("m.mo", MODEL);
    gyrator(&folder, &["simulate", "m.mo", "-o", "a.csv"]);
    gyrator(&folder, &["simulate", "m.mo", "--variables", "x", "-o", "less.csv"]);
    for (from, said) in [
        ("a.csv@7", "error: `a.csv` goes from 0 to 1, and there is nothing in it at 7\n"),
        ("a.csv@now", "error: `now` in `a.csv@now` is no time; write RESULT or RESULT@TIME, for example `M.csv@0.5`\n"),
        (
            "less.csv",
            "error: `less.csv` lacks `n`, without which the model cannot begin there; write a result with all variables\n",
        ),
    ] {
        let run = gyrator(&folder, &["simulate", "m.mo", "--start-from", from, "--stop-time", "9"]);
        assert_eq!((run.status, run.stderr.as_str()), (2, said));
    }
    let endless = gyrator(&folder, &["simulate", "m.mo", "--start-from", "a.csv"]);
    assert_eq!(
        (endless.status, endless.stderr.as_str()),
        (2, "error: the run begins at 1; say with --stop-time where it ends\n")
    );
}

#[test]
fn a_run_begins_at_rest() {
    let folder = Folder::new("steady-state");
    folder.write("m.mo", MODEL);
    let run = gyrator(&folder, &["simulate", "m.mo", "--steady-state"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let result = results::read(&folder.path("M.csv")).unwrap();
    assert!((result.get("x").unwrap().values[0] - 2.0).abs() < 1e-9);
    folder.write("turning.mo", "model Turning Real phi(start = 0, fixed = true); equation der(phi) = 3; end Turning;");
    let run = gyrator(&folder, &["simulate", "turning.mo", "--steady-state"]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("there is no stationary state: der(phi) = 3 does not vanish"), "{}", run.stderr);
}
