//! `gyrator simulate --input`: files that drive inputs, and what is said about wrong ones.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, Run, gyrator};

const MODEL: &str = "
    model M
      input Real speed(unit = \"rad/s\");
      input Integer gear(start = 1);
      input Boolean on(start = true);
      Real x(start = 0, fixed = true);
      output Real y = x;
    equation
      der(x) = if on then gear*speed else 0;
    end M;";

fn run(folder: &Folder, table: &str, more: &[&str]) -> Run {
    folder.write("m.mo", MODEL);
    folder.write("in.csv", table);
    gyrator(folder, &[&["simulate", "m.mo", "--stop-time", "2", "--input", "in.csv"], more].concat())
}

fn last(folder: &Folder, file: &str, column: &str) -> f64 {
    let table = results::read(&folder.path(file)).unwrap();
    table.last(column).unwrap()
}

#[test]
fn columns_drive_inputs() {
    let folder = Folder::new("inputs");
    let run = run(&folder, "time,speed,gear,on\n0,0,1,true\n1,2,1,true\n1,2,3,true\n1.5,2,3,false\n2,2,3,false\n", &[]);
    assert_eq!((run.status, run.stderr.as_str()), (0, "M.csv: 503 rows\n"));
    assert!((last(&folder, "M.csv", "y") - 4.0).abs() < 1e-6);
}

/// What a run wrote drives another one, whatever the format; units are converted.
#[test]
fn results_drive_inputs_in_every_format() {
    let folder = Folder::new("inputs-formats");
    folder.write(
        "source.mo",
        "model Source
           Real speed(unit = \"rpm\") = if time < 1 then 60*time else 30;
           Integer gear = if time < 1 then 1 else 2;
         end Source;",
    );
    folder.write("m.mo", MODEL);
    for file in ["s.csv", "s.mat", "s.parquet"] {
        let source = gyrator(&folder, &["simulate", "source.mo", "--stop-time", "2", "-o", file]);
        assert_eq!(source.status, 0, "{}", source.stderr);
        let run = gyrator(&folder, &["simulate", "m.mo", "--stop-time", "2", "--input", file, "-o", "out.csv"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let factor = if file == "s.csv" { 1.0 } else { std::f64::consts::TAU / 60.0 };
        assert!((last(&folder, "out.csv", "y") - 90.0 * factor).abs() < 1e-4, "{file}");
    }
}

#[test]
fn wrong_files_are_explained() {
    let folder = Folder::new("inputs-wrong");
    for (table, status, said) in [
        (
            "time,sped,x\n0,1,2\n",
            2,
            "error: no column of `in.csv` is an input: the inputs of the model are `speed`, `gear`, `on`\n",
        ),
        ("time,speed\n0,1\n1,nan\n", 2, "error: `in.csv`: row 2, column `speed`: NaN is not finite\n"),
        ("time,speed\n0,1\n2,1\n1,1\n", 2, "error: `in.csv`: row 3: the time 1 is before 2 in the row above\n"),
        ("time,gear\n0,1\n1,0.5\n", 2, "error: `in.csv`: row 2, column `gear`: 0.5 is no Integer\n"),
        ("time,on\n0,1\n1,2\n", 2, "error: `in.csv`: row 2, column `on`: 2 is no Boolean: 0 is false, 1 is true\n"),
        ("time,speed\n", 2, "error: `in.csv`: `speed` has no rows\n"),
        ("time,speed\n0,a\n", 2, "error: `in.csv`: line 2: `a` is not a number\n"),
        (
            "time,speed,gaer,x\n0,1,2,3\n",
            0,
            "warning[unused-column]: `gaer`, `x` of `in.csv` are no inputs of the model and not used\n   \
             = help: does `gaer` mean the input `gear`?\nM.csv: 501 rows\n",
        ),
    ] {
        let run = run(&folder, table, &[]);
        assert_eq!(run.status, status, "{}", run.stderr);
        assert_eq!(run.stderr, said);
    }
    let missing = gyrator(&folder, &["simulate", "m.mo", "--input", "none.csv"]);
    assert_eq!(missing.status, 2);
    assert!(missing.stderr.contains("cannot read `none.csv`"), "{}", missing.stderr);
}

#[test]
fn a_unit_of_another_dimension_is_refused() {
    let folder = Folder::new("inputs-units");
    folder.write("source.mo", "model Source Real speed(unit = \"m/s\") = 1; end Source;");
    folder.write("m.mo", MODEL);
    gyrator(&folder, &["simulate", "source.mo", "-o", "s.parquet"]);
    let run = gyrator(&folder, &["simulate", "m.mo", "--input", "s.parquet"]);
    assert_eq!(run.status, 2);
    let said = "error: `s.parquet`: the column `speed` has the unit `m/s`, and the input the unit `rad/s`, to which there \
                is no way\n";
    assert_eq!(run.stderr, said);
}

/// The value that an input has in the model counts as long as no column gives another one; a final one always does.
#[test]
fn columns_win_over_defaults() {
    let folder = Folder::new("inputs-defaults");
    folder.write(
        "d.mo",
        "model D
           input Real u = 3;
           input Real w[2] = {10, 20};
           final input Real f = 100;
           Real y = u + w[1] + w[2] + f;
         end D;",
    );
    folder.write("in.csv", "time,u,w[2],f\n0,1,2,5\n");
    assert_eq!(gyrator(&folder, &["simulate", "d.mo"]).status, 0);
    assert_eq!(last(&folder, "D.csv", "y"), 133.0);
    let run = gyrator(&folder, &["simulate", "d.mo", "--input", "in.csv"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("`f` of `in.csv` is no input of the model and not used"), "{}", run.stderr);
    assert_eq!(last(&folder, "D.csv", "y"), 113.0);
}

#[test]
fn time_is_found_by_its_name() {
    let folder = Folder::new("inputs-time");
    let table = "gear,speed,Time [s]\n1,0,0\n1,2,1\n1,2,2\n";
    let moved = run(&folder, table, &[]);
    assert_eq!((moved.status, moved.stderr.as_str()), (0, "M.csv: 501 rows\n"));
    assert!((last(&folder, "M.csv", "y") - 3.0).abs() < 1e-6);
    let missing = run(&folder, "gear,speed\n0,0\n1,2\n", &[]);
    let expected = "error: `in.csv` has no column `time`, and its first column, `gear`, is an input of the model\n";
    assert_eq!((missing.status, missing.stderr.as_str()), (2, expected));
    let twice = run(&folder, "time,speed,speed\n0,0,1\n2,2,1\n", &[]);
    assert_eq!((twice.status, twice.stderr.as_str()), (2, "error: `in.csv` has more than one column `speed`\n"));
}
