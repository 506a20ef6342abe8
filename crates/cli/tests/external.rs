//! External functions in a shared library: refused, and allowed with `--allow-external`. The library is made here with
//! the compiler that every machine has which runs these tests.

mod common;

use std::process::Command;

use common::{Folder, gyrator};
use expect_test::expect;

const LIBRARY: &str = r#"
use std::ffi::{CStr, CString, c_char, c_int};

#[unsafe(no_mangle)]
pub extern "C" fn scale(x: f64, factor: c_int) -> f64 { x * factor as f64 }

#[unsafe(no_mangle)]
pub unsafe extern "C" fn statistics(x: *const f64, n: usize, mean: *mut f64, above: *mut c_int, sorted: *mut f64) {
    let x = unsafe { std::slice::from_raw_parts(x, n) };
    let sorted = unsafe { std::slice::from_raw_parts_mut(sorted, n) };
    let m = x.iter().sum::<f64>() / n as f64;
    sorted.copy_from_slice(x);
    sorted.sort_by(|a, b| a.total_cmp(b));
    unsafe { *mean = m; *above = x.iter().filter(|v| **v > m).count() as c_int; }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn letters(text: *const c_char) -> c_int {
    unsafe { CStr::from_ptr(text) }.to_bytes().len() as c_int
}

#[unsafe(no_mangle)]
pub extern "C" fn greeting(n: c_int) -> *const c_char { CString::new("x".repeat(n as usize)).unwrap().into_raw() }

// More arguments than registers.
#[unsafe(no_mangle)]
pub extern "C" fn many(a: f64, i: c_int, b: f64, j: c_int, c: f64, k: c_int, d: f64, l: c_int, e: f64, m: c_int, f: f64,
    n: c_int, g: f64, o: c_int, h: f64, p: c_int, q: f64, r: f64) -> f64 {
    [a, b, c, d, e, f, g, h, q, r].iter().zip(1..).map(|(x, n)| x * n as f64).sum::<f64>()
        + [i, j, k, l, m, n, o, p].iter().zip(1..).map(|(x, n)| (*x * n) as f64).sum::<f64>() * 1000.0
}

#[unsafe(no_mangle)]
pub extern "C" fn line_open(slope: f64, high: c_int) -> *mut f64 { Box::into_raw(Box::new(if high != 0 { slope + 100.0 } else { slope })) }

#[unsafe(no_mangle)]
pub unsafe extern "C" fn line_value(line: *mut f64, x: f64) -> f64 { unsafe { *line * x } }

#[unsafe(no_mangle)]
pub unsafe extern "C" fn line_close(line: *mut f64) { drop(unsafe { Box::from_raw(line) }) }
"#;

const MODEL: &str = r#"
model Outside
  function scale
    input Real x;
    input Integer factor;
    output Real y;
  external "C" y = scale(x, factor);
  end scale;
  function statistics
    input Real x[:];
    output Real mean;
    output Integer above;
    output Real sorted[size(x, 1)];
  external "C" statistics(x, size(x, 1), mean, above, sorted);
  end statistics;
  function letters
    input String text;
    output Integer n;
  external "C" n = letters(text);
  end letters;
  function greeting
    input Integer n;
    output String text;
  external "C" text = greeting(n);
  end greeting;
  function many
    input Real x[10];
    input Integer n[8];
    output Real y;
  external "C" y = many(x[1], n[1], x[2], n[2], x[3], n[3], x[4], n[4], x[5], n[5], x[6], n[6], x[7], n[7], x[8], n[8], x[9], x[10]);
  end many;
  class Line
    extends ExternalObject;
    function constructor
      input Real slope;
      input Boolean high;
      output Line line;
    external "C" line = line_open(slope, high);
    end constructor;
    function destructor
      input Line line;
    external "C" line_close(line);
    end destructor;
  end Line;
  function value
    input Line line;
    input Real x;
    output Real y;
  external "C" y = line_value(line, x);
  end value;
  // Known at translation, because it is a size.
  parameter Integer n = letters(greeting(3));
  Real v[n] = {scale(time, 3), -time, 1.0};
  Real mean;
  Integer above;
  Real sorted[3];
  Real lots = many({time, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {1, 2, 3, 4, 5, 6, 7, 8});
  parameter Line line = Line(2, true);
  Real y = value(line, time);
  Real x(start = 1, fixed = true);
equation
  (mean, above, sorted) = statistics(v);
  der(x) = -scale(x, 2);
end Outside;
"#;

#[test]
fn a_shared_library_is_called_only_when_it_is_allowed() {
    let folder = Folder::new("external");
    folder.write("library.rs", LIBRARY);
    folder.write("outside.mo", MODEL);
    let refused = gyrator(&folder, &["check", "outside.mo"]);
    assert_eq!(refused.status, 1);
    assert!(
        refused.stderr.contains("external function `greeting`") || refused.stderr.contains("`letters`"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("--allow-external") && refused.stderr.contains("outside.mo:"),
        "{}",
        refused.stderr
    );
    folder.write(
        "late.mo",
        "model Late\n  function f\n    input Real u;\n    output Real y;\n  external \"C\" y = scale(u, 2);\n  end f;\n  Real y = f(time);\nend Late;\n",
    );
    let late = gyrator(&folder, &["check", "late.mo"]);
    assert_eq!(late.status, 1);
    expect![[r#"
        error[external-function]: `Late.f` calls the external function `scale`, which is not built in
          --> late.mo:2:12
           |
         2 |   function f
           |            ^ declared here
           = help: `--allow-external LIBRARY` lets the model call functions of a shared library, `--allow-external build` those that its own C code defines, which is compiled then
           = see: Modelica specification, section 12.9
    "#]]
    .assert_eq(&late.stderr);
    let missing = gyrator(&folder, &["check", "outside.mo", "--allow-external", "nowhere.so"]);
    assert_eq!(missing.status, 2, "{}", missing.stderr);
    assert!(missing.stderr.contains("nowhere.so"), "{}", missing.stderr);

    let library = if cfg!(windows) { "library.dll" } else { "liblibrary.so" };
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let made = Command::new(rustc)
        .args(["--edition", "2024", "--crate-type", "cdylib", "-o", library, "library.rs"])
        .current_dir(folder.path(""))
        .status();
    assert!(made.expect("rustc runs").success());
    let path = folder.path(library).display().to_string();
    let call = ["simulate", "outside.mo", "--allow-external", &path, "--stop-time", "2", "-o", "out.csv"];
    let run = gyrator(&folder, &call);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let text = folder.read("out.csv");
    let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    let last: Vec<f64> =
        text.lines().last().unwrap_or_default().split(',').filter_map(|cell| cell.parse().ok()).collect();
    let value = |name: &str| last[header.iter().position(|&known| known == name).expect("the variable")];
    assert_eq!(value("v[1]"), 6.0);
    assert!((value("mean") - 5.0 / 3.0).abs() < 1e-15);
    assert_eq!((value("above"), value("sorted[1]"), value("sorted[3]")), (1.0, -2.0, 6.0));
    let reals = 2.0 + (2..=10).map(|k| f64::from(k * k)).sum::<f64>();
    assert_eq!(value("lots"), reals + 1000.0 * (1..=8).map(|k| f64::from(k * k)).sum::<f64>());
    assert_eq!(value("y"), 204.0);
    assert!((value("x") - (-4f64).exp()).abs() < 1e-4, "{}", value("x"));

    // The library uses the C library, which is not allowed with it.
    folder.write(
        "system.mo",
        "model System\n  function run\n    input String text;\n    output Integer result;\n  external \"C\" result = system(text);\n  end run;\n  parameter Integer n = run(\"echo > made.txt\");\nend System;\n",
    );
    let run = gyrator(&folder, &["simulate", "system.mo", "--allow-external", &path]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(run.stderr.contains("`System.run` starts a program, which a model may not do"), "{}", run.stderr);
    assert!(!folder.path("made.txt").exists());
}
