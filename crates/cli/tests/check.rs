//! `check` of packages, components, partial classes and functions.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};

const PACKAGE: &str = r#"package P
  model Misspelled
    Real z = ;
  end Misspelled;
  model Unknown
    Real x = w;
  end Unknown;
  function f
    input Real u;
    output Real y;
  algorithm
    y := u + v;
  end f;
  partial model Part
    Real x;
    Real y = xx;
  end Part;
  model Good
    Real x(start = 1, fixed = true);
  equation
    der(x) = -x;
  end Good;
end P;
"#;

#[test]
fn every_class_of_a_package_is_checked() {
    let folder = Folder::new("check-package");
    folder.write("p.mo", PACKAGE);
    let run = gyrator(&folder, &["check", "p.mo"]);
    assert_eq!(run.status, 1);
    let errors: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("error")).collect();
    assert_eq!(
        errors,
        [
            "error[expected-expression]: expected an expression, found `;`",
            "error[unknown-name]: there is no name `w` in scope",
            "error[unknown-name]: there is no name `v` in scope",
            "error[unknown-name]: there is no name `xx` in scope",
        ]
    );
    assert_eq!(
        run.stdout,
        "P: 6 classes, 1 of them that can be simulated, 4 wrong\n  \
         wrong: P.Misspelled (model)\n  wrong: P.Unknown (model)\n  wrong: P.f (function)\n  wrong: P.Part (partial model)\n"
    );
}

#[test]
fn all_diagnostics_are_listed_for_programs() {
    let folder = Folder::new("check-json");
    folder.write("p.mo", PACKAGE);
    let run = gyrator(&folder, &["check", "p.mo", "--json"]);
    let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let said: Vec<String> = summary["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|said| format!("{}:{}:{} {}", said["file"], said["line"], said["column"], said["code"]))
        .collect();
    let expected = [("3:14", "expected-expression"), ("6:14", "unknown-name"), ("12:14", "unknown-name")];
    for (place, code) in expected {
        assert!(said.contains(&format!("\"p.mo\":{place} \"{code}\"")), "{said:?}");
    }
    assert_eq!(summary["classes"][5]["verdict"], "complete");
}

/// A mistake elsewhere in the file does not hide the class that is asked for.
#[test]
fn one_class_of_a_file_with_a_syntax_error() {
    let folder = Folder::new("check-one");
    folder.write("p.mo", PACKAGE);
    let run = gyrator(&folder, &["check", "p.mo", "-m", "P.f"]);
    assert!(run.stderr.contains("there is no name `v` in scope"), "{}", run.stderr);
}

/// A mistake in another file of the call is a mistake of the call.
#[test]
fn a_mistake_in_another_file() {
    let folder = Folder::new("check-other");
    folder.write("good.mo", "model Good\n  Real x = 1;\nend Good;\n");
    folder.write("bad.mo", "model Bad\n  Real z = ;\nend Bad;\n");
    folder.write("again.mo", "model Good\n  Real y = 2;\nend Good;\n");
    for (other, said) in [("bad.mo", "bad.mo:2:12"), ("again.mo", "the class `Good` stands in two files")] {
        let run = gyrator(&folder, &["check", "good.mo", other]);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{}", run.stderr);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn what_only_the_use_gives_is_no_mistake_of_a_component() {
    let folder = Folder::new("check-components");
    folder.write(
        "lib.mo",
        "package Lib
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  partial model OnePort
    Pin p, n;
    Real v = p.v - n.v;
  equation
    p.i + n.i = 0;
  end OnePort;
  model Resistor
    extends OnePort;
    parameter Real R = 1;
  equation
    v = R*p.i;
  end Resistor;
  model Wrong
    extends OnePort;
  equation
    v = p.i;
    v = 2;
  end Wrong;
  block Slope
    input Real u;
    output Real y = der(u);
  end Slope;
end Lib;
",
    );
    for class in ["Lib.Resistor", "Lib.OnePort", "Lib.Pin", "Lib.Slope"] {
        let run = gyrator(&folder, &["check", "lib.mo", "-m", class]);
        assert_eq!(run.status, 0, "{class}: {}", run.stderr);
        assert!(run.stdout.contains("nothing wrong as far as it can be checked alone"), "{class}: {}", run.stdout);
    }
    let run = gyrator(&folder, &["check", "lib.mo", "-m", "Lib"]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("1 wrong\n  wrong: Lib.Wrong (model)"), "{}", run.stdout);
}

#[test]
fn a_mistake_anywhere_in_a_file_is_a_failure() {
    let folder = Folder::new("check-file");
    folder.write("m.mo", "model A Real x = ; end A; model B Real y = time; end B;");
    assert_eq!(gyrator(&folder, &["check", "m.mo"]).status, 1);
    let run = gyrator(&folder, &["check", "m.mo", "--json"]);
    assert_eq!(run.status, 1);
    let text = run.stdout.replace(": ", ":");
    assert!(text.contains("\"status\":\"failed\""), "{text}");
}
