//! Streams that meet (specification 15.2): mixtures by what flows in, defined also when nothing flows.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};

/// Three vessels at one point; `a` takes what `b` and `c` deliver.
const MODEL: &str = "model Junction
  connector Port
    Real p;
    flow Real m;
    stream Real h;
  end Port;
  model Boundary
    parameter Real m = 0;
    parameter Real h = 0;
    Port port;
    Real inside = inStream(port.h);
    Real actual = actualStream(port.h);
  equation
    port.m = m;
    port.h = h;
  end Boundary;
  model Vessel
    Port port;
    Real inside = inStream(port.h);
    Real actual = actualStream(port.h);
  equation
    port.p = 1;
    port.h = 5;
  end Vessel;
  Vessel a;
  Boundary b(h = 10), c(h = 40);
equation
  connect(a.port, b.port);
  connect(a.port, c.port);
end Junction;
";

/// The last values of some variables.
fn values<const N: usize>(name: &str, set: &[&str], names: [&str; N]) -> [f64; N] {
    let folder = Folder::new(name);
    folder.write("junction.mo", MODEL);
    let set: Vec<&str> = set.iter().flat_map(|set| ["--set", *set]).collect();
    let run = gyrator(&folder, &[&["simulate", "-q", "junction.mo"], &set[..]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let text = folder.read("Junction.csv");
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let last: Vec<f64> = text.lines().last().unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    names.map(|name| last[header.iter().position(|known| *known == name).unwrap()])
}

#[test]
fn flows_mix() {
    // b delivers 1 and c delivers 2: (1*10 + 2*40)/3.
    let [inside, actual, back] = values("mix", &["b.m=-1", "c.m=-2"], ["a.inside", "a.actual", "b.actual"]);
    assert!((inside - 30.0).abs() < 1e-9 && (actual - 30.0).abs() < 1e-9, "{inside} {actual}");
    assert_eq!(back, 10.0);
}

#[test]
fn what_flows_out_has_the_own_value() {
    // a delivers 3 to both.
    let [a, b, c] = values("out", &["b.m=1", "c.m=2"], ["a.actual", "b.actual", "c.inside"]);
    assert_eq!(a, 5.0);
    assert!((b - 5.0).abs() < 1e-9 && (c - 5.0).abs() < 1e-9, "{b} {c}");
}

#[test]
fn nothing_flows() {
    // The mixture is the mean of the others, not 0/0.
    let [a, b, c] = values("zero", &[], ["a.inside", "b.inside", "c.inside"]);
    assert!((a - 25.0).abs() < 1e-9 && (b - 22.5).abs() < 1e-9 && (c - 7.5).abs() < 1e-9, "{a} {b} {c}");
}
