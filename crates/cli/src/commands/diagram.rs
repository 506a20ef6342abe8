//! `gyrator diagram`: a drawing of a layer as SVG.

use bond::Simplification;
use session::BondGraph;

use crate::arguments::{Drawing, Layer};
use crate::exit::Failure;
use crate::style::{Style, print};
use crate::subject::Call;

pub fn run(arguments: &Drawing, style: Style) -> Result<(), Failure> {
    let is_bond_graph = arguments.subject.target.as_ref().is_some_and(|target| target.ends_with(".bond"));
    match arguments.layer {
        Some(Layer::Bondgraph) => {}
        None if is_bond_graph => {}
        Some(_) if is_bond_graph => {
            return Err(Failure::call("a bond graph has one layer; write `--layer bondgraph`".to_owned()));
        }
        Some(_) | None => {
            let message = "the layers diagram and icon are not drawn yet; write `--layer bondgraph`";
            return Err(Failure::call(message.to_owned()));
        }
    }
    if let Some(path) = &arguments.output
        && path.extension().is_none_or(|ending| ending != "svg")
    {
        return Err(Failure::call(format!("`{}` has to end in .svg", path.display())));
    }
    let mut call = Call::new(&arguments.subject, style);
    let found = call.request().and_then(|request| call.session.bond_graph(&request, None));
    let BondGraph { graph, causality, .. } = match found {
        Ok(found) => found,
        Err(failed) => return Err(call.failed(failed)),
    };
    call.tell();
    // Connectors and components are many junctions with two bonds.
    let picture = match arguments.simplify || !is_bond_graph {
        true => drawing(&Simplification::new(&graph).graph),
        false => bond::svg(&graph, causality.as_ref()),
    };
    match &arguments.output {
        None => print(&picture),
        Some(path) => std::fs::write(path, picture)
            .map_err(|error| Failure::call(format!("cannot write `{}`: {error}", path.display()))),
    }
}

/// A graph with the strokes that it has by itself.
pub fn drawing(graph: &bond::Graph) -> String {
    let (causality, _) = bond::Causality::assign(graph, &bond::Mode::default());
    bond::svg(graph, causality.as_ref())
}
