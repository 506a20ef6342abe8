//! Inline integration as the user meets it: what is evaluated in a step, and what a run says.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};
use expect_test::expect;
use serde_json::Value;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write(
        "circuit.mo",
        "model Circuit
  parameter Real R = 10, C = 0.01, L = 0.1;
  Real u, i, uC(start = 0, fixed = true), iL(start = 0, fixed = true);
equation
  R*i = u - uC;
  C*der(uC) = i - iL;
  L*der(iL) = uC;
  u = sin(time);
end Circuit;
",
    );
    folder.write(
        "ropes.mo",
        "model Switched \"an inductor behind an ideal switch\"
  Real u, i(start = 0, fixed = true), uS, s;
  Boolean open;
equation
  open = time > 0.5;
  u = 1;
  0.1*der(i) = u - uS;
  uS = if open then s else 0;
  i = if open then 0 else s;
end Switched;
",
    );
    folder
}

#[test]
fn the_equations_of_a_step() {
    let run = gyrator(&folder("inline-equations"), &["equations", "--inline", "0.01", "circuit.mo"]);
    let begin = run.stdout.find("one step of inline integration").unwrap();
    expect![[r#"
        one step of inline integration
          u := sin(time)                                            // circuit.mo:8:3
          linear system of 5, iterating uC, matrix constant
            i := (u - uC)/R                                         // circuit.mo:5:3
            der(iL) := uC/L                                         // circuit.mo:7:3
            iL := base[2] + step*der(iL)                            // circuit.mo:3:43
            der(uC) := (i - iL)/C                                   // circuit.mo:6:3
            0 = uC - (base[1] + step*der(uC))                       // circuit.mo:3:14
    "#]]
    .assert_eq(&run.stdout[begin..]);
}

#[test]
fn the_summary_counts_them() {
    let folder = folder("inline-summary");
    let run = gyrator(&folder, &["simulate", "--json", "--solver", "inline-trapezoid", "--step", "0.01", "circuit.mo"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    let blocks: Vec<String> = summary["step_blocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| format!("{} {} by {}", block["kind"].as_str().unwrap(), block["size"], block["torn"]))
        .collect();
    assert_eq!(blocks, ["explicit 1 by 0", "linear 5 by 1"]);
    assert_eq!(summary["statistics"]["block_factorisations"], 1);
    assert_eq!(summary["statistics"]["steps"], 100);
}

#[test]
fn a_structure_that_changes_is_told() {
    let run = gyrator(&folder("inline-modes"), &["simulate", "-q", "--solver", "inline-euler", "ropes.mo"]);
    expect![[r#"
        error[no-inline-integration]: inline integration needs one structure for the whole run, and this one changes at time 0.5
           = help: choose a method that is not inline, such as --solver implicit-euler
        error: the run stopped at time 0.5; `Switched.csv` holds what was computed until then
    "#]].assert_eq(&run.stderr);
    assert_eq!(run.status, 3);
}
