//! Drawings: all elements are there, none on another, strokes and arrows for all bonds, the same picture every time.

mod common;

use bond::svg;
use common::{analysed, good, random_graph};

/// The places of the elements' texts.
fn places(picture: &str) -> Vec<(String, String)> {
    let value = |line: &str, name: &str| {
        let rest = line.split(&format!(" {name}=\"")).nth(1).unwrap_or("");
        rest.split('"').next().unwrap_or("").to_owned()
    };
    let texts = picture.lines().filter(|line| line.starts_with("<text") && !line.contains("font-size"));
    texts.map(|line| (value(line, "x"), value(line, "y"))).collect()
}

#[test]
fn elements_and_bonds() {
    let (graph, causality) = good("Se F -> 1 v -> C k, I m, R d");
    let picture = svg(&graph, Some(&causality));
    for label in ["Se : F", "C : k", "I : m", "R : d", ">1<"] {
        assert!(picture.contains(label), "{label}");
    }
    // A line, half an arrow and a stroke for each of four bonds.
    assert_eq!(picture.matches("<line").count(), 12);
    assert_eq!(svg(&graph, None).matches("<line").count(), 8);
    assert_eq!(picture, svg(&graph, Some(&causality)));
}

#[test]
fn active_bonds_and_signals_have_full_arrows() {
    let (graph, causality) = good("Se U -> 0 n -> R r\nn => 1 a -> R s\nMSe g = 2*r.f\ng -> R t");
    let picture = svg(&graph, Some(&causality));
    assert_eq!(picture.matches("<polygon").count(), 2);
}

#[test]
fn no_element_lies_on_another() {
    for seed in 0..25 {
        let text = random_graph(&mut fastrand::Rng::with_seed(seed), 2 + seed as usize % 12, None);
        let (_, Some(graph), causality, _) = analysed(&text) else { continue };
        let picture = svg(&graph, causality.as_ref());
        let mut places = places(&picture);
        assert_eq!(places.len(), graph.elements.len(), "seed {seed}");
        places.sort();
        places.dedup();
        assert_eq!(places.len(), graph.elements.len(), "seed {seed}");
    }
}

#[test]
fn ports_of_fields_have_their_numbers() {
    let (graph, causality) =
        good("I T[2] = [2, 1; 1, 3]\nSe U = 1\n1 a\n1 b\nR r = 1\nU -> a -> T[1]\nb -> T[2]\nb -> r");
    let picture = svg(&graph, Some(&causality));
    let numbers: Vec<&str> = picture
        .lines()
        .filter(|line| line.contains("font-size=\"10\""))
        .filter_map(|line| line.split('>').nth(1))
        .collect();
    assert_eq!(numbers, ["1</text", "2</text"]);
}

/// Numbers of an attribute in all lines of a kind.
fn lines_of(picture: &str) -> Vec<[f64; 4]> {
    let value = |line: &str, name: &str| -> f64 {
        let rest = line.split(&format!(" {name}=\"")).nth(1).unwrap_or("");
        rest.split('"').next().unwrap_or("").parse().unwrap_or(f64::NAN)
    };
    let lines = picture.lines().filter(|line| line.starts_with("<line"));
    lines.map(|line| ["x1", "y1", "x2", "y2"].map(|name| value(line, name))).collect()
}

#[test]
fn few_bonds_pass_through_elements() {
    let (mut bonds, mut through) = (0, 0);
    for seed in 0..25 {
        let text = random_graph(&mut fastrand::Rng::with_seed(seed), 2 + seed as usize % 8, None);
        let (_, Some(graph), causality, _) = analysed(&text) else { continue };
        let picture = svg(&graph, causality.as_ref());
        let centres: Vec<(f64, f64)> = places(&picture)
            .iter()
            .map(|(x, y)| (x.parse().unwrap_or(f64::NAN), y.parse::<f64>().unwrap_or(f64::NAN) - 5.5))
            .collect();
        for [x1, y1, x2, y2] in lines_of(&picture) {
            bonds += 1;
            // The middle third of a line is far from its own ends.
            let is_near = |(x, y): &(f64, f64)| {
                (34..=66).any(|place| {
                    let share = f64::from(place) / 100.0;
                    (x1 + share * (x2 - x1) - x).hypot(y1 + share * (y2 - y1) - y) < 6.0
                })
            };
            through += usize::from(centres.iter().any(is_near));
        }
    }
    assert!(through * 100 <= bonds, "{through} of {bonds} lines pass through an element");
}
