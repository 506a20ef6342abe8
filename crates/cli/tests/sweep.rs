//! Parameter studies: designs, data sets, failed variants, studies that go on, sensitivities, pictures.
#![allow(clippy::unwrap_used)]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, gyrator};
use expect_test::expect;
use results::{Table, Values};

/// A capacitor that discharges: v = exp(-t/(R C)).
const DECAY: &str = r#"
model Decay
  parameter Real R(unit = "Ohm") = 10;
  parameter Real C(unit = "F") = 0.1;
  parameter Real T0(unit = "K", displayUnit = "degC") = 293.15;
  parameter Integer n = 2;
  parameter Boolean doubled = false;
  parameter String label = "a";
  Real v(unit = "V", start = 1, fixed = true);
  Real x[n] = {k*v for k in 1:n};
  Real T(unit = "K", displayUnit = "degC") = T0 + 10*v;
  Real w = if doubled then 2*v else v;
equation
  C*der(v) = -v/R;
  assert(R < 95, "R is too large");
end Decay;
"#;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(&format!("sweep-{name}"));
    folder.write("decay.mo", DECAY);
    folder
}

fn table(folder: &Folder, file: &str) -> Table {
    Table::read(&folder.path(file)).unwrap()
}

fn texts(table: &Table, name: &str) -> Vec<String> {
    match table.get(name).unwrap() {
        Values::Text(texts) => texts.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

fn ok(folder: &Folder, arguments: &[&str]) -> common::Run {
    let run = gyrator(folder, arguments);
    assert_eq!(run.status, 0, "{}", run.stderr);
    run
}

#[test]
fn a_grid_has_all_combinations() {
    let folder = folder("grid");
    let run = ok(
        &folder,
        &[
            "sweep",
            "decay.mo",
            "--vary",
            "R=10..40:4",
            "--vary",
            "C=log(0.01..1):3",
            "--keep",
            "v",
            "--tolerance",
            "1e-9",
            "-o",
            "study",
        ],
    );
    assert_eq!(run.stderr, "study/variants.parquet: 12 variants\n");
    let table = table(&folder, "study/variants.parquet");
    assert_eq!(table.numbers("variant").unwrap(), (1..=12).map(f64::from).collect::<Vec<_>>());
    let (r, c, last) = (table.numbers("R").unwrap(), table.numbers("C").unwrap(), table.numbers("final(v)").unwrap());
    let mut k = 0;
    for expected_r in [10.0f64, 20.0, 30.0, 40.0] {
        for expected_c in [0.01, 0.1, 1.0] {
            assert!((r[k] - expected_r).abs() < 1e-12 && (c[k] / expected_c - 1.0).abs() < 1e-12);
            assert!((last[k] - (-1.0 / (expected_r * expected_c)).exp()).abs() < 1e-7);
            k += 1;
        }
    }
    // The mean over time of an exponential, by the rule of trapezoids over 500 intervals.
    let mean = table.numbers("mean(v)").unwrap()[1];
    assert!((mean - (1.0 - (-1.0f64).exp())).abs() < 1e-6, "{mean}");
    assert_eq!(table.numbers("max(v)").unwrap(), [1.0; 12]);
    assert_eq!(table.numbers("min(v)").unwrap(), last);
    // The trajectory of a variant is a result like any other.
    let run = results::read(&folder.path("study/trajectories/000002.parquet")).unwrap();
    assert!((run.at("v", 0.5).unwrap() - (-0.5f64).exp()).abs() < 1e-6);
    assert_eq!(run.last("variant"), Some(2.0));
}

#[test]
fn structural_values_units_texts_and_truth_values() {
    let folder = folder("kinds");
    let vary = [
        "--vary",
        "n=1,3",
        "--vary",
        "T0=20..80 degC:2",
        "--vary",
        "doubled=false,true",
        "--vary",
        "label=\"a\",\"b\"",
    ];
    ok(&folder, &[&["sweep", "decay.mo"], vary.as_slice(), &["-o", "kinds.parquet"]].concat());
    let table = table(&folder, "kinds.parquet");
    assert_eq!(table.rows(), 16);
    assert_eq!(table.numbers("T0").unwrap()[..8], [293.15, 293.15, 293.15, 293.15, 353.15, 353.15, 353.15, 353.15]);
    assert_eq!(texts(&table, "label")[..4], ["\"a\"", "\"b\"", "\"a\"", "\"b\""]);
    let (n, third) = (table.numbers("n").unwrap(), table.numbers("final(x[3])").unwrap());
    let (v, w, doubled) =
        (table.numbers("final(v)").unwrap(), table.numbers("final(w)").unwrap(), table.numbers("doubled").unwrap());
    for k in 0..16 {
        // Arrays of another size have other elements.
        assert!(if n[k] == 1.0 { third[k].is_nan() } else { (third[k] - 3.0 * v[k]).abs() < 1e-12 });
        assert!((w[k] - (1.0 + doubled[k]) * v[k]).abs() < 1e-12);
    }
}

#[test]
fn failed_variants_are_rows_with_their_message() {
    let folder = folder("failed");
    let run = ok(&folder, &["sweep", "decay.mo", "--vary", "R=10,90,100", "--keep", "v", "-o", "f.parquet"]);
    assert_eq!(run.stderr, "f.parquet: 3 variants, 1 of them failed; the column `message` says why\n");
    let table = table(&folder, "f.parquet");
    assert_eq!(texts(&table, "status"), ["ok", "ok", "failed"]);
    assert_eq!(texts(&table, "message")[2], "R is too large (an assertion fails at time 0)");
    assert!(table.numbers("final(v)").unwrap()[2].is_nan());
    assert_eq!(table.numbers("R").unwrap(), [10.0, 90.0, 100.0]);
    // A study without any result is none.
    let run = gyrator(&folder, &["sweep", "decay.mo", "--vary", "R=100,110", "-o", "g.parquet"]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("all variants failed; the first: R is too large"), "{}", run.stderr);
}

#[test]
fn samples_depend_on_their_seed_alone() {
    let folder = folder("samples");
    let sample = |file: &str, sampling: &str, seed: &str, jobs: &str| {
        let call = ["sweep", "decay.mo", "--vary", "R=10..20", "--vary", "C=log(0.1..1)", "--samples", "16"];
        ok(&folder, &[&call[..], &["--sampling", sampling, "--seed", seed, "--jobs", jobs, "-o", file]].concat());
        let table = table(&folder, file);
        (table.numbers("R").unwrap(), table.numbers("C").unwrap(), table.numbers("final(v)").unwrap())
    };
    for sampling in ["random", "lhs", "sobol"] {
        let first = sample(&format!("{sampling}1.parquet"), sampling, "1", "1");
        assert_eq!(first, sample(&format!("{sampling}2.parquet"), sampling, "1", "3"));
        assert_ne!(first.0, sample(&format!("{sampling}3.parquet"), sampling, "2", "2").0);
        assert!(first.0.iter().all(|r| (10.0..20.0).contains(r)) && first.1.iter().all(|c| (0.1..1.0).contains(c)));
        if sampling != "random" {
            let mut parts: Vec<usize> = first.0.iter().map(|r| ((r - 10.0) * 1.6) as usize).collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..16).collect::<Vec<_>>(), "{sampling}");
        }
    }
}

#[test]
fn a_study_that_is_killed_goes_on_and_runs_nothing_twice() {
    let folder = Folder::new("sweep-killed");
    // A thousand events each take a moment.
    folder.write(
        "slow.mo",
        "model Slow parameter Real k = 1; Real x(start = 0, fixed = true); discrete Real n(start = 0, fixed = true);
         equation der(x) = k; when sample(0, 2e-4) then n = pre(n) + k; end when; end Slow;",
    );
    let call = ["sweep", "slow.mo", "--vary", "k=1..40:40", "--keep", "x", "--jobs", "2", "-o", "killed"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_gyrator"))
        .args(call)
        .current_dir(folder.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let journal = folder.path("killed/journal");
    let begin = Instant::now();
    let lines = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    while lines() < 6 && begin.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(journal.exists(), "the study was over before it could be killed");
    let before: Vec<String> = std::fs::read_to_string(&journal).unwrap().lines().skip(2).map(str::to_owned).collect();
    // Another call does not touch it.
    let other = gyrator(&folder, &["sweep", "slow.mo", "--vary", "k=1..40:41", "--keep", "x", "-o", "killed"]);
    assert_eq!(other.status, 2);
    assert!(other.stderr.contains("belongs to another study"), "{}", other.stderr);
    let run = ok(&folder, &call);
    assert!(run.stderr.contains("going on: "), "{}", run.stderr);
    let table = table(&folder, "killed/variants.parquet");
    assert_eq!(table.numbers("variant").unwrap(), (1..=40).map(f64::from).collect::<Vec<_>>());
    for (k, x) in table.numbers("k").unwrap().iter().zip(table.numbers("final(x)").unwrap()) {
        assert!((k - x).abs() < 1e-6);
    }
    // What was there is there as it was: the time that a variant took would not be the same again.
    let seconds = table.numbers("seconds").unwrap();
    for line in before.iter().filter(|line| line.contains("\"seconds\"")) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let took: f64 = line["seconds"].as_str().unwrap().parse().unwrap();
        assert_eq!(seconds[line["variant"].as_u64().unwrap() as usize - 1], took);
    }
    assert!(!journal.exists());
    let again = ok(&folder, &call);
    assert!(again.stderr.starts_with("all variants are there already\n"), "{}", again.stderr);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_in_order() {
    let folder = Folder::new("sweep-interrupt");
    folder.write(
        "slow.mo",
        "model Slow parameter Real k = 1; discrete Real n(start = 0, fixed = true);
         equation when sample(0, 1e-4) then n = pre(n) + k; end when; end Slow;",
    );
    let call = ["sweep", "slow.mo", "--vary", "k=1..500:500", "-o", "s.parquet"];
    let child = Command::new(env!("CARGO_BIN_EXE_gyrator"))
        .args(call)
        .current_dir(folder.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while std::fs::read_to_string(folder.path("s.journal")).map_or(0, |text| text.lines().count()) < 4 {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("interrupted"), "{said}");
    assert!(folder.path("s.journal").exists() && !folder.path("s.parquet").exists());
}

#[test]
fn sensitivities_of_the_function_of_ishigami() {
    let folder = Folder::new("sweep-ishigami");
    folder.write(
        "ishigami.mo",
        "model Ishigami
           parameter Real x1 = 0, x2 = 0, x3 = 0;
           Real y = sin(x1) + 7*sin(x2)^2 + 0.1*x3^4*sin(x1);
         end Ishigami;",
    );
    let pi = std::f64::consts::PI;
    let vary = |name: &str| format!("{name}=-{pi:?}..{pi:?}");
    let (x1, x2, x3) = (vary("x1"), vary("x2"), vary("x3"));
    let run = ok(
        &folder,
        &[
            "sweep",
            "ishigami.mo",
            "--vary",
            &x1,
            "--vary",
            &x2,
            "--vary",
            &x3,
            "--sampling",
            "saltelli",
            "--samples",
            "1024",
            "--keep",
            "y",
            "--stop-time",
            "0",
            "--json",
            "--quiet",
        ],
    );
    let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(summary["variants"], 5 * 1024);
    let found = &summary["sensitivities"][0];
    assert_eq!(found["of"], "final(y)");
    // Closed form with a = 7 and b = 0.1 (Ishigami and Homma 1990).
    let joint = 0.01 * pi.powi(8) * 8.0 / 225.0;
    let first = [0.5 * (1.0 + 0.1 * pi.powi(4) / 5.0).powi(2), 49.0 / 8.0, 0.0];
    let variance = first.iter().sum::<f64>() + joint;
    let total = [first[0] + joint, first[1], joint];
    for k in 0..3 {
        let of = |key: &str| found["parameters"][k][key].as_f64().unwrap();
        assert!((of("first") - first[k] / variance).abs() < 0.03, "x{}: {found}", k + 1);
        assert!((of("total") - total[k] / variance).abs() < 0.03, "x{}: {found}", k + 1);
    }
}

#[test]
fn pictures_are_drawn_from_a_study_that_is_there() {
    let folder = folder("pictures");
    let grid =
        ["sweep", "decay.mo", "--vary", "R=10..80:8", "--vary", "C=log(0.01..1):5", "--keep", "v,T", "-o", "grid"];
    ok(&folder, &grid);
    for (picture, said) in [("fan=fan.svg", "T (°C)"), ("heatmap=map.svg", "final(v) (V)"), ("fan=fan.html", "median")]
    {
        let run = ok(&folder, &[&grid[..], &["--plot", picture]].concat());
        assert!(run.stderr.contains("already"), "{}", run.stderr);
        let drawn = folder.read(picture.split('=').nth(1).unwrap());
        assert!(drawn.contains(said), "{picture}");
    }
    assert_eq!(folder.read("map.svg").matches("class=\"block\"").count(), 40);
    assert!(folder.read("map.svg").contains("R = 10\u{a0}Ω, C = 0.01\u{a0}F"), "hints");
    let tornado = [
        "sweep",
        "decay.mo",
        "--vary",
        "R=5..20",
        "--vary",
        "T0=0..100 degC:3",
        "--sampling",
        "one-at-a-time",
        "--of",
        "mean(T)",
        "--keep",
        "T",
        "--plot",
        "tornado=tornado.svg",
        "-o",
        "one",
    ];
    ok(&folder, &tornado);
    let table = table(&folder, "one/variants.parquet");
    // The model as it is, two values of R and three of T0.
    assert_eq!(table.numbers("R").unwrap(), [10.0, 5.0, 20.0, 10.0, 10.0, 10.0]);
    assert_eq!(table.numbers("T0").unwrap(), [293.15, 293.15, 293.15, 273.15, 323.15, 373.15]);
    let drawn = folder.read("tornado.svg");
    assert!(drawn.contains("mean(T) (°C)") && drawn.contains(">100\u{a0}°C</text>"), "{drawn}");
}

#[test]
fn whole_numbers_are_sampled_as_such() {
    let folder = folder("whole");
    ok(&folder, &["sweep", "decay.mo", "--vary", "n=1..3", "--samples", "9", "--keep", "v", "-o", "whole"]);
    let mut counts = [0; 4];
    table(&folder, "whole/variants.parquet").numbers("n").unwrap().iter().for_each(|&n| counts[n as usize] += 1);
    // A Latin hypercube meets each third as often.
    assert_eq!(counts, [0, 3, 3, 3]);
    let levels = ["sweep", "decay.mo", "--vary", "n=log(1..4):3", "--keep", "v", "-o", "levels"];
    ok(&folder, &levels);
    assert_eq!(table(&folder, "levels/variants.parquet").numbers("n").unwrap(), [1.0, 2.0, 4.0]);
    assert!(ok(&folder, &["sweep", "decay.mo", "--vary", "n=2", "-o", "one"]).stderr.contains(": 1 variant\n"));
}

#[test]
fn tornados_of_grids_and_samples() {
    let folder = folder("tornados");
    let picture = ["--keep", "w", "--plot", "tornado=t.svg", "-o", "study", "--overwrite"];
    let vary = ["--vary", "R=10,20", "--vary", "doubled=false,true", "--vary", "C=0.1"];
    for samples in [[].as_slice(), &["--samples", "40"]] {
        ok(&folder, &[&["sweep", "decay.mo"], vary.as_slice(), samples, picture.as_slice()].concat());
        let drawn = folder.read("t.svg");
        assert!(
            drawn.contains("on average") && drawn.contains("doubled = true") && drawn.contains("C = 0.1"),
            "{drawn}"
        );
    }
    // exp(-1/(R C)) on average over both, once and twice as large.
    ok(&folder, &[&["sweep", "decay.mo"], vary.as_slice(), picture.as_slice()].concat());
    let average = 0.5 * ((-1.0f64).exp() + (-0.5f64).exp());
    let hint = format!("doubled = true: {:.3}", 2.0 * average);
    assert!(folder.read("t.svg").contains(&hint), "{hint}");
}

#[test]
fn wrong_calls() {
    let folder = folder("wrong");
    let said = |arguments: &[&str]| {
        let run = gyrator(&folder, &[&["sweep", "decay.mo"], arguments].concat());
        assert_eq!(run.status, 2, "{}", run.stderr);
        run.stderr
    };
    expect![[r#"
        error: there is no parameter `RR`; did you mean `R`?
    "#]]
    .assert_eq(&said(&["--vary", "RR=1..2:3"]));
    expect![[r#"
        error: how many values of `R`? Write `R=…:N`, or draw samples with `--samples N`
    "#]]
    .assert_eq(&said(&["--vary", "R=1..2"]));
    expect![[r#"
        error: `v` is no parameter; to vary where it begins, vary `v.start`
    "#]]
    .assert_eq(&said(&["--vary", "v=1..2:3"]));
    expect![[r#"
        error: `R` has the unit `Ohm`, to which `degC` cannot be converted
    "#]]
    .assert_eq(&said(&["--vary", "R=1..2 degC:3"]));
    expect![[r#"
        error: `R`: the ends of a logarithmic range have to be greater than zero
    "#]]
    .assert_eq(&said(&["--vary", "R=log(0..2):3"]));
    expect![[r#"
        error: there is no variable `vv` in the model; did you mean `v`?
    "#]]
    .assert_eq(&said(&["--vary", "R=1..2:3", "--keep", "vv"]));
    expect![[r#"
        error: name the quantity of the picture with --of, such as `max(x)`
    "#]]
    .assert_eq(&said(&["--vary", "R=1..2:3", "--plot", "tornado=t.svg"]));
    expect![[r#"
        error: `n` is an Integer, and 1.5 is not whole; choose other ends or another number of values
    "#]]
    .assert_eq(&said(&["--vary", "n=1..2:3"]));
    expect![[r#"
        error: `doubled` is no number, so it has no range: list its values, `doubled=true,false`
    "#]]
    .assert_eq(&said(&["--vary", "doubled=0..1:2"]));
    assert!(said(&["--vary", "n=0.5..2", "--samples", "3"]).contains("`n`: its ends have to be whole numbers"));
    expect![[r#"
        error: these are more than 10000000 variants
    "#]]
    .assert_eq(&said(&["--vary", "R=1..2:30000", "--vary", "C=1..2:30000"]));
    expect![[r#"
        error: `max(v)` will not be in the data set: name the variable with `--keep v`
    "#]]
    .assert_eq(&said(&["--vary", "R=1..2:3", "--of", "max(v)"]));
    expect![[r#"
        error: name the quantities whose sensitivities you want, with --of or --keep
    "#]]
    .assert_eq(&said(&["--vary", "R=1..2", "--sampling", "saltelli", "--samples", "4"]));
    assert!(said(&["--vary", "R=1..2:3", "--of", "vv"]).contains("did you mean `v`?"));
    assert!(said(&["--vary", "R=1..2:3", "--vary", "R=1,2"]).contains("`R` varies twice"));
    assert!(said(&["--vary", "R=1..2:3", "--plot", "fan=t.gif"]).contains("`t.gif`: a picture ends in"));
}

#[test]
fn start_values_vary_by_translation() {
    let folder = folder("start");
    ok(&folder, &["sweep", "decay.mo", "--vary", "v.start=1,2,4", "--keep", "v", "-o", "s.parquet"]);
    let table = table(&folder, "s.parquet");
    let last = table.numbers("final(v)").unwrap();
    for (k, factor) in [1.0, 2.0, 4.0].iter().enumerate() {
        assert!((last[k] / factor - (-1.0f64).exp()).abs() < 1e-5, "{last:?}");
    }
    assert_eq!(table.numbers("v.start").unwrap(), [1.0, 2.0, 4.0]);
}

#[test]
fn arrays_vary_and_what_follows_from_parameters_alone_is_a_variable() {
    let folder = Folder::new("sweep-arrays");
    folder.write(
        "arrays.mo",
        "model Arrays parameter Real p[:] = {1, 2}; parameter Real r[2] = {1, 2}; Real q = sum(p); Real w = r[1] + 10*r[2]*time;
         end Arrays;",
    );
    ok(&folder, &["sweep", "arrays.mo", "--vary", "p={1,2},{3,4,5}", "--vary", "r={1,2},{3,4}", "-o", "a.parquet"]);
    let table = table(&folder, "a.parquet");
    assert_eq!(texts(&table, "p"), ["{1,2}", "{1,2}", "{3,4,5}", "{3,4,5}"]);
    assert_eq!(table.numbers("final(q)").unwrap(), [3.0, 3.0, 12.0, 12.0]);
    assert_eq!(table.numbers("final(w)").unwrap(), [21.0, 43.0, 21.0, 43.0]);
    assert!(table.get("final(p[1])").is_none());
}

#[test]
fn what_stands_still_has_its_value() {
    let folder = folder("still");
    let call = ["sweep", "decay.mo", "--sampling", "one-at-a-time", "-o", "s.parquet"];
    let vary = ["--vary", "R=20,99", "--vary", "v.start=2", "--vary", "label=\"b\",\"c\"", "--vary", "doubled=true"];
    ok(&folder, &[&call[..], &vary].concat());
    let found = table(&folder, "s.parquet");
    // The second value of R fails; its row has the values of the others all the same.
    assert_eq!(texts(&found, "status"), ["ok", "ok", "failed", "ok", "ok", "ok", "ok"]);
    assert_eq!(found.numbers("R").unwrap(), [10.0, 20.0, 99.0, 10.0, 10.0, 10.0, 10.0]);
    assert_eq!(found.numbers("v.start").unwrap(), [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
    assert_eq!(found.numbers("doubled").unwrap(), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let label = ["a", "a", "a", "a", "b", "c", "a"].map(|text| format!("\"{text}\""));
    assert_eq!(texts(&found, "label"), label);
    folder.write(
        "kinds.mo",
        "model Kinds type E = enumeration(one, two); parameter E e = E.two; parameter Real a = 3;
           parameter Real p[2, 2] = {{1, a}, {2, 5}}; Real x = a*time; end Kinds;",
    );
    let vary = ["--vary", "a=4", "--vary", "e=E.one", "--vary", "p={{1,2},{3,4}}"];
    ok(&folder, &[&["sweep", "kinds.mo", "--sampling", "one-at-a-time", "-o", "k.parquet"][..], &vary].concat());
    let found = table(&folder, "k.parquet");
    assert_eq!(found.numbers("a").unwrap(), [3.0, 4.0, 3.0, 3.0]);
    assert_eq!(texts(&found, "e"), ["two", "two", "E.one", "two"]);
    let own = "{{1, a}, {2, 5}}";
    assert_eq!(texts(&found, "p"), [own, own, own, "{{1,2},{3,4}}"]);
}
