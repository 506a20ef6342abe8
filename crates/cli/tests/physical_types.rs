//! Physical types: equations speak `unit`; plots, messages and the command line speak `displayUnit`; `min` and `max` are
//! watched.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};
use expect_test::expect;

/// A pendulum without gravity, that turns at a constant speed, and a tank that runs empty.
const MODEL: &str = "model Turntable
  type Angle = Real(final quantity = \"Angle\", final unit = \"rad\", displayUnit = \"deg\");
  type Height = Real(final quantity = \"Length\", final unit = \"m\", displayUnit = \"cm\", min = 0);
  model Tank
    parameter Height start = 0.1;
    Height h(start = start, fixed = true, max = 1);
  equation
    der(h) = -0.2;
  end Tank;
  parameter Angle phi0 = 0;
  Angle phi(start = phi0, fixed = true);
  Real w(unit = \"rad/s\", displayUnit = \"rev/min\") = 1;
  Tank tank;
equation
  der(phi) = w;
end Turntable;
";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("turntable.mo", MODEL);
    folder
}

#[test]
fn limits_are_watched() {
    let folder = folder("limits");
    let run = gyrator(&folder, &["simulate", "turntable.mo", "--interval", "0.1", "--set", "tank.start=120 cm"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    expect![[r#"
        warning[outside-limits]: `tank.h` is 120 cm at time 0, above its max 100 cm
          --> turntable.mo:6:12 (in component `tank`)
           |
         6 |     Height h(start = start, fixed = true, max = 1);
           |            ^ declared here
           = see: Modelica specification, section 4.9.1
        Turntable.csv: 11 rows
    "#]]
    .assert_eq(&run.stderr);
    let run = gyrator(&folder, &["simulate", "turntable.mo", "--interval", "0.1"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    expect![[r#"
        warning[outside-limits]: `tank.h` is -2 cm at time 0.6, below its min 0 cm
          --> turntable.mo:6:12 (in component `tank`)
           |
         6 |     Height h(start = start, fixed = true, max = 1);
           |            ^ declared here
           = see: Modelica specification, section 4.9.1
        Turntable.csv: 11 rows
    "#]]
    .assert_eq(&run.stderr);
    let run = gyrator(&folder, &["simulate", "-q", "turntable.mo", "--set", "tank.start=-1"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}

#[test]
fn a_limit_that_is_kept_is_not_told() {
    let folder = folder("kept");
    let run = gyrator(&folder, &["simulate", "turntable.mo", "--set", "tank.start=0.2", "--stop-time", "1"]);
    expect![[r#"
        Turntable.csv: 501 rows
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn a_value_with_a_unit() {
    let folder = folder("value");
    let run = gyrator(&folder, &["simulate", "-q", "turntable.mo", "--set", "phi0=90 deg", "--set", "tank.start=5 dm"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let text = folder.read("Turntable.csv");
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let first: Vec<f64> = text.lines().nth(1).unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    let value = |name: &str| first[header.iter().position(|known| *known == name).unwrap()];
    assert!((value("phi") - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    assert_eq!(value("tank.h"), 0.5);
}

#[test]
fn a_unit_that_does_not_fit() {
    let folder = folder("fit");
    let run = gyrator(&folder, &["check", "turntable.mo", "--set", "phi0=90 m"]);
    assert_eq!(run.status, 1);
    expect![[r#"
        error[wrong-value]: `phi0` has the unit `rad`, to which `m` cannot be converted
           = help: give the value as a number alone
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn plots_speak_the_display_unit() {
    let folder = folder("plots");
    let arguments = ["simulate", "turntable.mo", "--color", "never", "--set", "tank.start=1", "--plot", "phi,w,tank.h"];
    let run = gyrator(&folder, &[&arguments[..], &["--output", "r.mat", "--stop-time", "3.141592653589793"]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let units: Vec<&str> = ["deg", "rev/min", "cm"].into_iter().filter(|unit| run.stdout.contains(unit)).collect();
    assert_eq!(units, ["deg", "rev/min", "cm"], "{}", run.stdout);
    assert!(run.stdout.contains("150"), "{}", run.stdout);
    let run = gyrator(&folder, &["plot", "r.mat", "phi", "--output", "phi.svg"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let picture = folder.read("phi.svg");
    assert!(picture.contains("deg") && picture.contains("150"), "{picture}");
}
