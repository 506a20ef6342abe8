//! What the tests share: from a text to its graph, and random graphs as text.

#![allow(dead_code)]

use std::fmt::Write as _;

use base::{Diagnostic, SourceMap};
use bond::{Causality, Graph, Mode, Rational, StateSpace, parse};

pub fn analysed(text: &str) -> (SourceMap, Option<Graph>, Option<Causality>, Vec<Diagnostic>) {
    let mut sources = SourceMap::default();
    let file = sources.add("graph.bond", text);
    let (tree, mut diagnostics) = parse(text, file);
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    let (graph, more) = Graph::new(&tree);
    diagnostics.extend(more);
    let graph = graph.filter(|_| !failed);
    let mut causality = None;
    if let Some(graph) = &graph {
        let (found, more) = Causality::assign(graph, &Mode::default());
        diagnostics.extend(more);
        causality = found;
    }
    (sources, graph, causality, diagnostics)
}

/// All messages as a user sees them.
pub fn messages(text: &str) -> String {
    let (sources, _, _, diagnostics) = analysed(text);
    diagnostics.iter().map(|diagnostic| diagnostic.render(&sources)).collect::<Vec<_>>().join("\n")
}

pub fn good(text: &str) -> (Graph, Causality) {
    let (sources, graph, causality, diagnostics) = analysed(text);
    match (graph, causality) {
        (Some(graph), Some(causality)) => (graph, causality),
        _ => panic!("{}", diagnostics.iter().map(|it| it.render(&sources)).collect::<String>()),
    }
}

pub fn symbolic(text: &str) -> StateSpace<Rational> {
    let (graph, causality) = good(text);
    StateSpace::symbolic(&graph, &causality).expect("a linear graph")
}

pub fn numeric(text: &str) -> StateSpace<f64> {
    let (graph, causality) = good(text);
    StateSpace::numeric(&graph, &causality).expect("a linear graph with values")
}

/// The matrices as texts, rows separated by `;`.
pub fn texts(space: &StateSpace<Rational>, matrix: &[Vec<Rational>]) -> String {
    let row = |row: &Vec<Rational>| row.iter().map(|entry| space.entry_text(entry)).collect::<Vec<_>>().join(", ");
    matrix.iter().map(row).collect::<Vec<_>>().join("; ")
}

/// A random graph: a tree of junctions with elements at them, some transformers and gyrators between, some bonds
/// that close rings, some strokes where `strokes` asks for them.
pub fn random_graph(random: &mut fastrand::Rng, junctions: usize, strokes: Option<&mut fastrand::Rng>) -> String {
    // Many sources contradict each other in large graphs.
    let kinds_of_elements = if junctions > 50 { 9 } else { 12 };
    let mut text = String::new();
    let mut strokes = strokes;
    let mut arrow = || match &mut strokes {
        Some(random) => ["->", "->|", "|->"][random.usize(..3)],
        None => "->",
    };
    let value = |random: &mut fastrand::Rng| (1 + random.u32(..400)) as f64 / 100.0;
    let mut kinds = Vec::new();
    for index in 0..junctions {
        let kind = random.usize(..2);
        kinds.push(kind);
        let _ = writeln!(text, "{kind} j{index}");
        for part in 0..1 + random.usize(..3) {
            let name = format!("{index}_{part}");
            match random.usize(..kinds_of_elements) {
                0..3 => {
                    let _ = writeln!(text, "R R{name} = {}\nj{index} {} R{name}", value(random), arrow());
                }
                3..6 => {
                    let _ = writeln!(text, "C C{name} = {}\nj{index} {} C{name}", value(random), arrow());
                }
                6..9 => {
                    let _ = writeln!(text, "I I{name} = {}\nj{index} {} I{name}", value(random), arrow());
                }
                9 => {
                    let _ = writeln!(text, "Se U{name} = {}\nU{name} {} j{index}", value(random), arrow());
                }
                10 => {
                    let _ = writeln!(text, "Sf F{name} = {}\nF{name} {} j{index}", value(random), arrow());
                }
                _ => {
                    let _ = writeln!(
                        text,
                        "Sf Z{name} = 0\nSe Y{name} = 0\n{} -> j{index}",
                        if kind == 0 { format!("Z{name}") } else { format!("Y{name}") }
                    );
                    // The other one keeps a junction of its own busy.
                    let other = if kind == 0 { format!("Y{name}") } else { format!("Z{name}") };
                    let _ = writeln!(text, "R T{name} = 1\n{other} -> T{name}");
                }
            }
        }
        if junctions > 50 && index % 60 == 0 {
            let _ = writeln!(
                text,
                "Se U{index} = 1\n1 u{index}\nR u{index}_ = 1\nU{index} -> u{index} -> u{index}_\nu{index} -> j{index}"
            );
        }
        if index > 0 {
            let to = random.usize(..index);
            match random.usize(..5) {
                0 => {
                    let _ = writeln!(
                        text,
                        "TF T{index} = {}\nj{to} {} T{index}\nT{index} {} j{index}",
                        value(random),
                        arrow(),
                        arrow()
                    );
                }
                1 => {
                    let _ = writeln!(
                        text,
                        "GY G{index} = {}\nj{to} {} G{index}\nG{index} {} j{index}",
                        value(random),
                        arrow(),
                        arrow()
                    );
                }
                _ => {
                    let _ = writeln!(text, "j{to} {} j{index}", arrow());
                }
            }
        }
        if index > 2 && random.usize(..6) == 0 {
            let (one, other) = (random.usize(..index), index);
            if one != other {
                let _ = writeln!(
                    text,
                    "R X{index} = {}\n{} x{index}\nj{one} -> x{index} -> j{other}\nx{index} -> X{index}",
                    value(random),
                    1 - kinds[one]
                );
            }
        }
    }
    for (index, kind) in kinds.iter().enumerate() {
        let _ = writeln!(text, "output j{index}.{}", if *kind == 0 { "e" } else { "f" });
    }
    text
}
