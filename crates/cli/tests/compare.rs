//! `gyrator compare`: results inside and outside of a tube.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, gyrator};
use expect_test::expect;

/// Rows of x = sin(t) + offset and y = t.
fn result(offset: f64) -> String {
    let row = |k: i32| {
        let t = f64::from(k) * 0.05;
        format!("{t},{},{t}\n", t.sin() + offset)
    };
    format!("time,x,y\n{}", (0..=100).map(row).collect::<String>())
}

#[test]
fn inside_and_outside() {
    let folder = Folder::new("compare");
    folder.write("a.csv", &result(0.0));
    folder.write("near.csv", &result(1e-3));
    folder.write("far.csv", &result(0.1));
    let run = gyrator(&folder, &["compare", "a.csv", "near.csv"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "2 variables agree\n"), "{}", run.stderr);
    let one = |other: &str| gyrator(&folder, &["compare", "a.csv", other, "--variables", "x"]).stdout;
    assert_eq!(one("near.csv"), "1 variable agrees\n");
    assert!(one("far.csv").starts_with("the variable differs\n  x: "), "{}", one("far.csv"));
    let run = gyrator(&folder, &["compare", "a.csv", "far.csv", "--output", "worst.svg"]);
    assert_eq!(run.status, 1);
    // 0.1 of the range, which is 1.9997, less 0.002.
    expect![[r#"
        1 of 2 variables differ
          x: 4.8 % outside of the tube at time 1.55
    "#]]
    .assert_eq(&run.stdout);
    let picture = folder.read("worst.svg");
    assert!(picture.contains("tube") && picture.contains("far.csv") && picture.contains(">x</text>"));
    assert_eq!(gyrator(&folder, &["compare", "a.csv", "far.csv", "--tolerance", "0.06"]).status, 0);
    assert_eq!(gyrator(&folder, &["compare", "a.csv", "far.csv", "--variables", "y"]).status, 0);
}

#[test]
fn the_picture_shows_what_moves() {
    let folder = Folder::new("compare-moving");
    folder.write("a.csv", "time,k,x\n0,1,0\n1,1,1\n");
    folder.write("b.csv", "time,k,x\n0,2,0\n1,2,1.5\n");
    let drawn = |variables: &str| {
        let run = gyrator(&folder, &["compare", "a.csv", "b.csv", "--variables", variables, "--output", "worst.svg"]);
        assert_eq!(run.status, 1, "{}", run.stderr);
        // The parameter is further away all the same.
        assert!(run.stdout.contains("k: "), "{}", run.stdout);
        folder.read("worst.svg")
    };
    assert!(drawn("k|x").contains(">x</text>"));
    assert!(drawn("k").contains(">k</text>"));
}

#[test]
fn what_is_missing_differs_unless_it_is_left_out() {
    let folder = Folder::new("compare-missing");
    folder.write("a.csv", &result(0.0));
    folder.write("b.csv", "time,y\n0,0\n5,5\n");
    let run = gyrator(&folder, &["compare", "a.csv", "b.csv"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, "1 of 2 variables differ\n  x: not in `b.csv`\n"));
    assert_eq!(gyrator(&folder, &["compare", "a.csv", "b.csv", "--common"]).status, 0);
    let run = gyrator(&folder, &["compare", "a.csv", "b.csv", "--common", "--json"]);
    assert!(run.stdout.contains("\"inside\": true") && run.stdout.contains("\"compared\": 1"), "{}", run.stdout);
    // A result that ends early does not agree.
    folder.write("short.csv", "time,x,y\n0,0,0\n1,0.8414709848078965,1\n");
    let run = gyrator(&folder, &["compare", "a.csv", "short.csv", "--variables", "y"]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("y: ends or is not finite at time 1"), "{}", run.stdout);
    assert_eq!(gyrator(&folder, &["compare", "a.csv", "nothing.csv"]).status, 2);
}

/// What no tube is defined for is refused, not compared.
#[test]
fn results_without_order_or_with_two_names_are_refused() {
    let folder = Folder::new("compare-order");
    folder.write("falls.csv", "time,a\n1,5\n0,4\n");
    folder.write("empty.csv", "time,a\n");
    folder.write("twice.csv", "time,a,a\n0,1,2\n1,1,2\n");
    for (file, said) in [
        ("falls.csv", "its times fall at row 2 of values, from 1 to 0"),
        ("empty.csv", "it has no rows"),
        ("twice.csv", "it has two columns `a`"),
    ] {
        let run = gyrator(&folder, &["compare", file, file]);
        assert!(run.status == 2 && run.stderr.contains(said), "{file}: {} {}", run.status, run.stderr);
    }
}
