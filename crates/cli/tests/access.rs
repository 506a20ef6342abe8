//! What a model may touch: it reads its own files, others with a warning, and changes nothing on the disk unless it is allowed to.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::os::unix::fs::symlink;

use common::{Folder, Run, gyrator};
use expect_test::expect;

/// `Lib` has the functions of Modelica.Utilities under their external names.
const LIBRARY: &str = r#"package Lib
  function countLines
    input String file;
    output Integer n;
  external "C" n = ModelicaInternal_countLines(file);
  end countLines;
  impure function countNow
    input String file;
    output Integer n;
  external "C" n = ModelicaInternal_countLines(file);
  end countNow;
  impure function print
    input String text;
    input String file;
  external "C" ModelicaInternal_print(text, file);
  end print;
  impure function remove
    input String file;
  external "C" ModelicaInternal_removeFile(file);
  end remove;
  impure function make
    input String folder;
  external "C" ModelicaInternal_mkdir(folder);
  end make;
  impure function enter
    input String folder;
  external "C" ModelicaInternal_chdir(folder);
  end enter;
  impure function variable
    input String name;
    output String content;
    output Boolean exists;
  external "C" ModelicaInternal_getenv(name, false, content, exists);
  end variable;
  impure function command
    input String text;
    output Integer result;
  external "C" result = system(text);
  end command;
  class Table
    extends ExternalObject;
    function constructor
      input String file;
      output Table table;
    external "C" table = ModelicaStandardTables_CombiTable1D_init2(file, "t", {{0.0}}, 1, 1, {2}, 1, 1, 1, true);
    end constructor;
    function destructor
      input Table table;
    external "C" ModelicaStandardTables_CombiTable1D_close(table);
    end destructor;
  end Table;
  function value
    input Table table;
    input Real u;
    output Real y;
  external "C" y = ModelicaStandardTables_CombiTable1D_getValue(table, 1, u);
  end value;
  impure function write
    input String file;
    input Real matrix[:, :];
    output Boolean done;
  external "C" done = ModelicaIO_writeRealMatrix(file, "a", matrix, size(matrix, 1), size(matrix, 2), false, "4");
  end write;
end Lib;
"#;

/// A folder with `Lib/`, `work/model.mo` and `secret/file.txt`, and the links `work/link` and `Lib/link` to the secret.
fn folder(name: &str, model: &str) -> Folder {
    let folder = Folder::new(name);
    for part in ["Lib", "work", "secret"] {
        std::fs::create_dir_all(folder.path(part)).unwrap();
    }
    folder.write("Lib/package.mo", LIBRARY);
    folder.write("Lib/lines.txt", "1\n2\n3\n");
    folder.write("work/lines.txt", "1\n2\n");
    folder.write("work/model.mo", &format!("model M\n  {model}\nend M;\n"));
    folder.write("secret/file.txt", "1\n");
    for place in ["work/link", "Lib/link"] {
        let _ = std::fs::remove_file(folder.path(place));
        symlink(folder.path("secret"), folder.path(place)).unwrap();
    }
    folder
}

/// Runs the model in `work/`; paths of the machine are shortened in the messages.
fn run(folder: &Folder, options: &[&str]) -> Run {
    let work = Folder::within(folder, "work");
    let mut run = gyrator(&work, &[&["simulate", "model.mo", "-L", "../Lib"], options].concat());
    let root = folder.path("").canonicalize().unwrap();
    run.stderr = run.stderr.replace(&root.display().to_string(), "ROOT");
    run
}

fn count(file: &str) -> String {
    format!("parameter Integer n = Lib.countLines(\"{file}\");")
}

#[test]
fn own_files_are_read_without_a_word() {
    for (file, lines) in [("lines.txt", 2), ("../work/./lines.txt", 2), ("modelica://Lib/lines.txt", 3)] {
        let folder = folder("own", &count(file));
        let run = run(&folder, &["--strict"]);
        assert_eq!((run.status, run.stderr.as_str()), (0, "M.csv: 501 rows\n"), "{file}");
        let result = folder.read("work/M.csv");
        assert!(result.ends_with(&format!("1,{lines}\n")), "{file}: {result}");
    }
}

#[test]
fn a_file_elsewhere_is_read_with_a_warning() {
    for (name, file) in
        [("dots", "../secret/file.txt"), ("link", "link/file.txt"), ("address", "file://ROOT/secret/file.txt")]
    {
        let folder = folder(name, "");
        let file = file.replace("ROOT", &folder.path("").canonicalize().unwrap().display().to_string());
        folder.write("work/model.mo", &format!("model M\n  {}\nend M;\n", count(&file)));
        let run_with = |options: &[&str]| {
            let run = run(&folder, options);
            (run.status, run.stderr)
        };
        let (status, said) = run_with(&[]);
        expect![[r#"
            warning[file-outside]: the model reads `ROOT/secret/file.txt`, which is outside of its libraries, its folder and the working directory
               = help: `--allow-read ROOT/secret` allows it without this warning; `--strict` refuses it
            M.csv: 501 rows
        "#]]
        .assert_eq(&said);
        assert_eq!(status, 0);
        let (status, said) = run_with(&["--strict"]);
        assert!(said.contains("the model may not read `ROOT/secret/file.txt`"), "{said}");
        assert_eq!(status, 1, "{said}");
        assert_eq!(run_with(&["--strict", "--allow-read", "../secret"]), (0, "M.csv: 501 rows\n".to_owned()));
    }
}

#[test]
fn tables_are_files_too() {
    let model = "parameter Lib.Table table = Lib.Table(\"../secret/table.txt\"); Real y = Lib.value(table, time);";
    let folder = folder("table", model);
    folder.write("secret/table.txt", "#1\ndouble t(2,2)\n0 0\n1 2\n");
    let warned = run(&folder, &[]);
    assert_eq!(warned.status, 0, "{}", warned.stderr);
    assert!(warned.stderr.contains("the model reads `ROOT/secret/table.txt`"), "{}", warned.stderr);
    assert!(folder.read("work/M.csv").ends_with("\n1,2\n"));
    let refused = run(&folder, &["--strict"]);
    assert_eq!(refused.status, 1);
    assert!(refused.stderr.contains("the model may not read `ROOT/secret/table.txt`"), "{}", refused.stderr);
}

#[test]
fn an_address_does_not_leave_its_library() {
    for address in ["modelica://Lib/../secret/file.txt", "modelica://Lib/link/file.txt"] {
        let folder = folder("leaves", &count(address));
        let run = run(&folder, &[]);
        let expected = format!("the address `{address}` leaves its library: it leads to `ROOT/secret/file.txt`");
        assert!(run.stderr.contains(&expected), "{}", run.stderr);
        assert_eq!(run.status, 1);
    }
}

/// With `--strict` refused before the run where the call names the file, otherwise during the run.
/// Otherwise done in memory, with a warning, in the folders of the model, and refused elsewhere.
#[test]
fn nothing_is_changed_unless_it_is_allowed() {
    let when = |call: &str| format!("algorithm when time > 0.5 then {call}; end when;");
    let calls = [
        (when("Lib.print(\"x\", \"new.txt\")"), "", "write `ROOT/work/new.txt`; `--allow-write ROOT/work` allows it"),
        (
            when("Lib.print(\"x\", \"link/new.txt\")"),
            "",
            "write `ROOT/secret/new.txt`; `--allow-write ROOT/secret` allows it",
        ),
        (
            when("Lib.remove(\"../secret/file.txt\")"),
            "`Lib.remove(\"../secret/file.txt\")` removes files",
            "remove `ROOT/secret/file.txt`; `--allow-write ROOT/secret` allows it",
        ),
        (
            when("Lib.make(\"new\")"),
            "`Lib.make(\"new\")` makes folders",
            "make `ROOT/work/new`; `--allow-write ROOT/work` allows it",
        ),
        (
            when("Lib.enter(\"..\")"),
            "`Lib.enter(\"..\")` changes the folder",
            "work in `ROOT`; `--allow-write ROOT` allows it",
        ),
        (
            "parameter Boolean done = Lib.write(\"new.mat\", [1, 2]);".to_owned(),
            "`Lib.write(\"new.mat\", {{1, 2}})` writes files",
            "write `ROOT/work/new.mat`; `--allow-write ROOT/work` allows it",
        ),
        (
            "parameter String home = Lib.variable(\"HOME\");".to_owned(),
            "`Lib.variable(\"HOME\")` reads environment variables",
            "",
        ),
    ];
    for (model, before, during) in calls {
        let folder = folder("refused", &model);
        std::fs::create_dir_all(folder.path("elsewhere")).unwrap();
        for options in [&["--strict"][..], &["--strict", "--allow-write", "../elsewhere"][..]] {
            let run = run(&folder, options);
            // What a call names is known before the run.
            let expected = match before {
                "" => format!("the model may not {during}"),
                before => format!("{before}, which the model may not do"),
            };
            assert!(run.stderr.contains(&expected), "{model}: {}", run.stderr);
            assert!([1, 3].contains(&run.status), "{model}");
        }
        if let Some((what, _)) = during.split_once(';') {
            let run = run(&folder, &[]);
            let is_own = what.contains("ROOT/work");
            let expected = match is_own {
                true => format!(
                    "warning[file-in-memory]: the model may not {what}: it did so in memory alone, and the disk is as it was\n"
                ),
                false if before.is_empty() => format!("the model may not {what}"),
                false => format!("{before}, which the model may not do"),
            };
            assert!(run.stderr.contains(&expected), "{model}: {}", run.stderr);
            assert_eq!(run.status == 0, is_own, "{model}");
        }
        for made in ["work/new.txt", "secret/new.txt", "work/new", "work/new.mat"] {
            assert!(!folder.path(made).exists(), "{model}");
        }
        assert!(folder.path("secret/file.txt").exists());
    }
}

/// A model reads what it wrote, also where it may not write.
#[test]
fn what_is_written_in_memory_is_read_again() {
    let model = "discrete Integer n(start = 0, fixed = true);
  algorithm
    when time > 0.5 then Lib.print(\"x\", \"lines.txt\"); end when;
    when time > 0.7 then n := Lib.countNow(\"lines.txt\"); end when;";
    let folder = folder("memory", model);
    let run = run(&folder, &[]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(folder.read("work/M.csv").ends_with("\n1,3\n"));
    assert_eq!(folder.read("work/lines.txt"), "1\n2\n");
}

#[test]
fn a_model_starts_no_program() {
    let folder =
        folder("command", "Integer i; algorithm when time > 0.5 then i := Lib.command(\"touch new.txt\"); end when;");
    let run = run(&folder, &[]);
    assert!(run.stderr.contains("`Lib.command` starts a program, which a model may not do"), "{}", run.stderr);
    assert_eq!(run.status, 1);
}

#[test]
fn what_is_allowed_is_done() {
    let folder = folder(
        "allowed",
        "parameter String home = Lib.variable(\"HOME\");
  algorithm when time > 0.5 then Lib.print(\"x\", \"new.txt\"); Lib.remove(\"lines.txt\"); end when;",
    );
    let run = run(&folder, &["--allow-write", ".", "--allow-env"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(folder.read("work/new.txt"), "x\n");
    assert!(!folder.path("work/lines.txt").exists());
}

#[test]
fn a_folder_that_is_not_there_cannot_be_allowed() {
    let folder = folder("missing", "Real x = time;");
    for option in ["--allow-read", "--allow-write"] {
        let run = run(&folder, &[option, "../nowhere"]);
        assert_eq!(run.stderr, "error: there is no folder `../nowhere` that the model could be allowed\n");
        assert_eq!(run.status, 2);
    }
}

/// The name of a model is no path.
#[test]
fn the_result_stays_in_the_working_directory() {
    let folder = folder("name", "Real x = time;");
    folder.write("work/model.mo", "model 'a/../../x' Real x = time; end 'a/../../x';");
    let run = run(&folder, &[]);
    assert_eq!((run.status, run.stderr.as_str()), (0, "'a_.._.._x'.csv: 501 rows\n"));
}
