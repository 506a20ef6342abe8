//! Values beside connectors: readable where connectors stand close together, and inside of the picture.
#![allow(clippy::unwrap_used)]

use diagram::{Component, Extent, Kind, Picture, Transform};

fn connector(name: &str, x: f64, label: &str) -> Component {
    Component {
        name: name.to_owned(),
        kind: Kind::Connector,
        transform: Transform::between(Extent::DEFAULT, Extent::new(x - 10.0, -10.0, x + 10.0, 10.0)),
        labels: vec![label.to_owned()],
        present: true,
        placed: true,
        ..Component::default()
    }
}

fn component(name: &str, x: f64, labels: [&str; 2]) -> Component {
    Component {
        name: name.to_owned(),
        transform: Transform::between(Extent::DEFAULT, Extent::new(x - 10.0, -10.0, x + 10.0, 10.0)),
        connectors: vec![connector("p", -100.0, labels[0]), connector("n", 100.0, labels[1])],
        present: true,
        placed: true,
        ..Component::default()
    }
}

/// Of the attribute of an element, such as `x="12.5"`.
fn number(element: &str, name: &str) -> f64 {
    let rest = element.split(&format!(r#" {name}=""#)).nth(1).unwrap();
    rest.split('"').next().unwrap().parse().unwrap()
}

/// Left, right and baseline of the texts of a drawing that begin with `v = `.
fn values(svg: &str) -> Vec<(f64, f64, f64)> {
    let texts = svg.lines().filter(|line| line.starts_with("<text") && line.contains(">v = "));
    let place = |line: &str| {
        let (x, y, length) = (number(line, "x"), number(line, "y"), number(line, "textLength"));
        if line.contains(r#"text-anchor="end""#) { (x - length, x, y) } else { (x, x + length, y) }
    };
    texts.map(place).collect()
}

#[test]
fn labels_of_neighbours_do_not_cover_each_other_and_none_is_cut_off() {
    let picture = Picture {
        components: vec![
            component("a", 0.0, ["v = 1.23456e-7 V", "v = 2.34567e-7 V"]),
            component("b", 25.0, ["v = 3.45678e-7 V", "v = 4.56789e-7 V"]),
        ],
        ..Picture::default()
    };
    let svg = diagram::svg(&picture);
    let values = values(&svg);
    assert_eq!(values.len(), 4);
    for (number, a) in values.iter().enumerate() {
        for b in &values[number + 1..] {
            let is_apart = a.1 <= b.0 || b.1 <= a.0 || (a.2 - b.2).abs() > 2.2;
            assert!(is_apart, "{a:?} and {b:?}");
        }
    }
    let frame = svg.split(r#"viewBox=""#).nth(1).unwrap().split('"').next().unwrap();
    let frame: Vec<f64> = frame.split(' ').map(|word| word.parse().unwrap()).collect();
    for (left, right, _) in values {
        assert!(left >= frame[0] && right <= frame[0] + frame[2], "{left} to {right} in {frame:?}");
    }
}
