//! Installed libraries are found by every command, in the version that is used; conversion to another version.

mod common;

use common::{Folder, gyrator};
use expect_test::expect;

fn version(number: &str, value: &str, more: &str) -> String {
    format!("package Lib\n  constant Real value = {value};\n  annotation(version = \"{number}\"{more});\nend Lib;\n")
}

/// The value that a model with this annotation `uses` sees.
fn value(folder: &Folder, uses: &str, options: &[&str]) -> (f64, String) {
    folder.write("m.mo", &format!("model M\n  parameter Real v = Lib.value;\n  Real x = v;\n  {uses}\nend M;\n"));
    let call = [&["simulate", "m.mo", "-o", "m.csv", "--stop-time", "1"], options].concat();
    let run = gyrator(folder, &call);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let text = folder.read("m.csv");
    let column = text.lines().next().unwrap_or_default().split(',').position(|name| name == "x").expect("x");
    let cell = text.lines().last().unwrap_or_default().split(',').nth(column).expect("a value").to_owned();
    (cell.parse().expect("a number"), run.stderr.replace("m.csv: 501 rows\n", ""))
}

#[test]
fn installed_libraries_are_found_in_the_version_that_is_used() {
    let folder = Folder::new("libraries");
    folder.write("one/Lib/package.mo", &version("1.0.0", "1", ""));
    folder.write("two/Lib/package.mo", &version("2.0.0", "2", ""));
    let run = gyrator(&folder, &["libraries"]);
    assert!(run.status == 0 && run.stdout.starts_with("no libraries are installed in "), "{}", run.stdout);
    let run = gyrator(&folder, &["install", "./one/Lib", "./two"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "installed Lib 1.0.0\ninstalled Lib 2.0.0\n"), "{}", run.stderr);
    assert_eq!(value(&folder, "", &[]).0, 2.0);
    assert_eq!(value(&folder, "annotation(uses(Lib(version = \"1.0.0\")));", &[]), (1.0, String::new()));
    assert_eq!(value(&folder, "annotation(uses(Lib(version = \"2.0.0\")));", &[]), (2.0, String::new()));
    let listed = gyrator(&folder, &["libraries"]).stdout;
    let first: Vec<&str> = listed.lines().next().unwrap_or_default().split_whitespace().take(2).collect();
    assert_eq!((first, listed.lines().count()), (vec!["Lib", "1.0.0"], 2));
    let json = gyrator(&folder, &["libraries", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["libraries"][1]["version"], "2.0.0");
    let run = gyrator(&folder, &["install", "--remove", "Lib"]);
    assert!(run.status == 1 && run.stderr.contains("1.0.0, 2.0.0: name one"), "{}", run.stderr);
    let run = gyrator(&folder, &["install", "--remove", "Lib@1.0.0"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "removed Lib 1.0.0\n"));
    let (found, said) = value(&folder, "annotation(uses(Lib(version = \"1.0.0\")));", &[]);
    assert_eq!(found, 2.0);
    expect![[r#"
        warning[library-version]: `Lib` 1.0.0 is used, but 2.0.0 is loaded
          --> m.mo:4:19
           |
         4 |   annotation(uses(Lib(version = "1.0.0")));
           |                   ^^^ this version
           = help: `gyrator convert` with `--to Lib@2.0.0` rewrites the text for it, or give a folder with `Lib 1.0.0` by -L
           = see: Modelica specification, section 18.8.2
    "#]]
    .assert_eq(&said);
}

#[test]
fn the_used_version_counts_in_whichever_folder_it_is() {
    let folder = Folder::new("versions");
    // Neither folder has a version in its name.
    folder.write("new/Lib/package.mo", &version("2.0.0", "2", ""));
    folder.write("old/Lib/package.mo", &version("1.0.0", "1", ""));
    folder.write("newer/Lib/package.mo", &version("1.5.0", "1.5", ", conversion(noneFromVersion = \"1.4.0\")"));
    let all = ["-L", "new", "-L", "old", "-L", "newer"];
    assert_eq!(value(&folder, "", &all).0, 2.0);
    assert_eq!(value(&folder, "annotation(uses(Lib(version = \"1.0.0\")));", &all), (1.0, String::new()));
    assert_eq!(value(&folder, "annotation(uses(Lib(version = \"1.4.0\")));", &all), (1.5, String::new()));
    let (found, said) = value(&folder, "annotation(uses(Lib(version = \"9.0.0\")));", &all);
    assert!(found == 2.0 && said.contains("library-version"), "{said}");
    // A library that is in use may ask as well.
    folder.write(
        "user/User/package.mo",
        "package User\n  model Base\n    parameter Real v = Lib.value;\n    Real x = v;\n  end Base;\n  annotation(uses(Lib(version = \"1.0.0\")));\nend User;\n",
    );
    folder.write("u.mo", "model U\n  extends User.Base;\nend U;\n");
    let call = [&["simulate", "u.mo", "-o", "u.csv", "-L", "user"], &all[..]].concat();
    let run = gyrator(&folder, &call);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(folder.read("u.csv").lines().last().is_some_and(|line| line.ends_with(",1")), "{}", folder.read("u.csv"));
}

/// Which version stands for another is a decision, unless the library itself says so.
#[test]
fn strict_refuses_another_version() {
    let folder = Folder::new("versions-strict");
    folder.write("lib/Lib 2.0.0/package.mo", &version("2.0.0", "2", ", conversion(noneFromVersion = \"1.5.0\")"));
    let call = ["simulate", "m.mo", "-o", "m.csv", "--stop-time", "1", "-L", "lib", "--strict"];
    for (uses, status) in [("2.0.0", 0), ("1.5.0", 0), ("1.0.0", 1)] {
        folder.write(
            "m.mo",
            &format!("model M\n  Real x = Lib.value;\n  annotation(uses(Lib(version = \"{uses}\")));\nend M;\n"),
        );
        let run = gyrator(&folder, &call);
        assert_eq!(run.status, status, "{}", run.stderr);
        assert_eq!(
            run.stderr.contains("error[library-version]: `Lib` 1.0.0 is used, but 2.0.0 is loaded"),
            status == 1
        );
    }
}

#[test]
fn releases_come_before_what_is_not_released() {
    let folder = Folder::new("versions-early");
    folder.write("lib/Lib 1.9.0/package.mo", &version("1.9.0", "9", ""));
    folder.write("lib/Lib 1.10.0/package.mo", &version("1.10.0", "10", ""));
    folder.write("lib/Lib 2.0.0-beta/package.mo", &version("2.0.0-beta", "2", ""));
    assert_eq!(value(&folder, "", &["-L", "lib"]).0, 10.0);
    let beta = "annotation(uses(Lib(version = \"2.0.0-beta\")));";
    assert_eq!(value(&folder, beta, &["-L", "lib"]), (2.0, String::new()));
}

#[test]
fn a_version_that_a_library_uses_and_does_not_get_is_told() {
    let folder = Folder::new("versions-two");
    folder.write("lib/Lib 1.0.0/package.mo", &version("1.0.0", "1", ""));
    folder.write("lib/Lib 2.0.0/package.mo", &version("2.0.0", "2", ""));
    let user =
        "package User\n  constant Real value = Lib.value;\n  annotation(uses(Lib(version = \"1.0.0\")));\nend User;\n";
    folder.write("lib/User/package.mo", user);
    // Whichever of the two libraries is met first.
    for sum in ["Lib.value + 10*User.value", "10*User.value + Lib.value"] {
        let text = format!("model U\n  Real x = {sum};\n  annotation(uses(Lib(version = \"2.0.0\"), User));\nend U;\n");
        folder.write("u.mo", &text);
        let run = gyrator(&folder, &["simulate", "u.mo", "-o", "u.csv", "-L", "lib"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let said = "warning[library-version]: `Lib` 1.0.0 is used, but 2.0.0 is loaded";
        assert_eq!(run.stderr.matches(said).count(), 1, "{}", run.stderr);
        assert_eq!(run.stderr.matches("library-version").count(), 1, "{}", run.stderr);
    }
}

#[test]
fn a_model_is_converted_by_the_script_of_the_library() {
    let folder = Folder::new("convert");
    let conversion = ", conversion(from(version = {\"1.0.0\", \"1.1.0\"}, to = \"1.9\", script = \"modelica://Lib/Resources/c1.mos\"), \
        from(version = \"1.9\", change = {convertClass(\"Lib.Middle\", \"Lib.New\")}))";
    folder.write("lib/Lib/package.mo", &format!("package Lib\n  model New\n    parameter Real q = 1;\n    Real x = q;\n  end New;\n  annotation(version = \"2.0.0\"{conversion});\nend Lib;\n"));
    folder.write(
        "lib/Lib/Resources/c1.mos",
        "convertClass(\"Lib.Old\", \"Lib.Middle\");\nconvertElement(\"Lib.Old\", \"p\", \"q\");\n",
    );
    let before =
        "model M\n  Lib.Old a(p = 3);\n  Real y = a.p;\n  annotation(uses(Lib(version = \"1.1.0\")));\nend M;\n";
    folder.write("m.mo", before);
    let run = gyrator(&folder, &["convert", "m.mo", "--to", "Lib@2.0.0", "-L", "lib", "--dry-run"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    expect![[r#"
        --- m.mo
        +++ m.mo
        @@ -1,5 +1,5 @@
         model M
        -  Lib.Old a(p = 3);
        -  Real y = a.p;
        -  annotation(uses(Lib(version = "1.1.0")));
        +  Lib.New a(q = 3);
        +  Real y = a.q;
        +  annotation(uses(Lib(version = "2.0.0")));
         end M;
    "#]]
    .assert_eq(&run.stdout);
    assert_eq!(folder.read("m.mo"), before);
    let run = gyrator(&folder, &["convert", "m.mo", "--to", "Lib@2.0.0", "-L", "lib"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "1 of 1 files changed\n"), "{}", run.stderr);
    let run = gyrator(&folder, &["check", "m.mo", "-L", "lib"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    // Once more there is nothing to do; other versions are not there.
    let run = gyrator(&folder, &["convert", "m.mo", "--to", "Lib@2.0.0", "-L", "lib"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "0 of 1 files changed\n"), "{}", run.stderr);
    let run = gyrator(&folder, &["convert", "m.mo", "--to", "Lib@3.0.0", "-L", "lib"]);
    assert!(run.status == 1 && run.stderr.contains("`Lib` 3.0.0 is not there, but 2.0.0"), "{}", run.stderr);
    let run = gyrator(&folder, &["convert", "m.mo", "--to", "Lib", "-L", "lib"]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    folder.write("n.mo", "model N\n  Lib.Old a;\nend N;\n");
    let run = gyrator(&folder, &["convert", "n.mo", "--to", "Lib@2.0.0", "-L", "lib"]);
    assert!(run.status == 2 && run.stderr.contains("--from"), "{}", run.stderr);
    let run = gyrator(&folder, &["convert", "n.mo", "--to", "Lib@2.0.0", "-L", "lib", "--from", "0.5"]);
    assert!(run.status == 1 && run.stderr.contains("no conversion from version 0.5"), "{}", run.stderr);
    let run = gyrator(&folder, &["convert", "n.mo", "--to", "Lib@2.0.0", "-L", "lib", "--from", "1.0.0"]);
    assert_eq!((run.status, folder.read("n.mo").as_str()), (0, "model N\n  Lib.New a;\nend N;\n"), "{}", run.stderr);
}

/// The classes of a package are converted together.
#[test]
fn a_file_of_a_package_is_not_converted_without_it() {
    let folder = Folder::new("convert-file");
    folder.write("User/package.mo", "package User\n  annotation(uses(Lib(version = \"1.1.0\")));\nend User;\n");
    let text = "within User;\nmodel M\n  extends Lib.Old;\nend M;\n";
    folder.write("User/M.mo", text);
    let run = gyrator(&folder, &["convert", "User/M.mo", "--to", "Lib@2.0.0"]);
    assert!(run.status != 0 && run.stderr.contains("`User/package.mo` names 1.1.0"), "{}", run.stderr);
    assert_eq!(folder.read("User/M.mo"), text);
}
