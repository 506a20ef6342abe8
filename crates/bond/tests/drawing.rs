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
