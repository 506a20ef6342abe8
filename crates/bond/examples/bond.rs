//! Shows what the crate makes of a `.bond` file: `cargo run -p gyrator-bond --example bond -- FILE [OPTION]`, where the option
//! is `--modelica`, `--svg`, `--simplify`, `--equations` or `--numbers`; without one, the symbolic state space.

use base::SourceMap;
use bond::{Causality, Equations, Graph, Mode, Simplification, StateSpace, parse, svg, to_modelica};

fn main() {
    let Some(path) = std::env::args().nth(1) else { return eprintln!("bond FILE") };
    let Ok(text) = std::fs::read_to_string(&path) else { return eprintln!("cannot read {path}") };
    let mut sources = SourceMap::default();
    let file = sources.add(&path, text.as_str());
    let (tree, mut diagnostics) = parse(&text, file);
    let (graph, more) = Graph::new(&tree);
    diagnostics.extend(more);
    let mut causality = None;
    if let Some(graph) = &graph {
        let (found, more) = Causality::assign(graph, &Mode::default());
        diagnostics.extend(more);
        causality = found;
    }
    diagnostics.iter().for_each(|diagnostic| eprintln!("{}", diagnostic.render(&sources)));
    let (Some(graph), Some(causality)) = (graph, causality) else { return };
    match std::env::args().nth(2).as_deref() {
        Some("--modelica") => return print!("{}", to_modelica(&graph, "Model").text),
        Some("--svg") => return print!("{}", svg(&graph, Some(&causality))),
        Some("--simplify") => return print!("{}", Simplification::new(&graph).print()),
        Some("--numbers") => match StateSpace::numeric(&graph, &causality) {
            Ok(space) => {
                let (a, b, c, d) = (&space.a, &space.b, &space.c, &space.d);
                return println!("{{\"A\": {a:?}, \"B\": {b:?}, \"C\": {c:?}, \"D\": {d:?}}}");
            }
            Err(diagnostic) => return println!("{}", diagnostic.render(&sources)),
        },
        Some("--equations") => match Equations::new(&graph, &causality) {
            Ok(equations) => return println!("{}", equations.print(&graph)),
            Err(diagnostic) => return println!("{}", diagnostic.render(&sources)),
        },
        _ => {}
    }
    match StateSpace::symbolic(&graph, &causality) {
        Ok(space) => {
            println!("x = {:?}\nu = {:?}\ny = {:?}", space.states, space.inputs, space.outputs);
            for (name, matrix) in [("A", &space.a), ("B", &space.b), ("C", &space.c), ("D", &space.d)] {
                for row in matrix {
                    let row: Vec<String> = row.iter().map(|entry| space.entry_text(entry)).collect();
                    println!("{name} | {}", row.join("   "));
                }
            }
        }
        Err(diagnostic) => println!("{}", diagnostic.render(&sources)),
    }
}
