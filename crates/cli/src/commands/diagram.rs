//! `gyrator diagram`: a drawing of a layer as SVG or PNG.

use std::path::Path;

use bond::Simplification;
use session::{BondGraph, Failed};

use crate::arguments::{Drawing, Layer};
use crate::exit::Failure;
use crate::style::{Style, print};
use crate::subject::Call;

pub fn run(arguments: &Drawing, style: Style) -> Result<(), Failure> {
    let is_bond_graph = arguments.subject.target.as_ref().is_some_and(|target| target.ends_with(".bond"));
    let layer = match arguments.layer {
        Some(Layer::Bondgraph) => return draw_bond_graph(arguments, is_bond_graph, style),
        None if is_bond_graph => return draw_bond_graph(arguments, is_bond_graph, style),
        Some(_) if is_bond_graph => {
            return Err(Failure::call("a bond graph has one layer; write `--layer bondgraph`".to_owned()));
        }
        Some(Layer::Diagram) => Some(diagram::Layer::Diagram),
        Some(Layer::Icon) => Some(diagram::Layer::Icon),
        None => None,
    };
    if arguments.simplify {
        return Err(Failure::call("`--simplify` goes with `--layer bondgraph`".to_owned()));
    }
    let is_png = ending(arguments.output.as_deref(), &["svg", "png"])? == "png";
    if !(arguments.scale > 0.0 && arguments.scale.is_finite()) {
        return Err(Failure::call("`--scale` needs a number greater than zero".to_owned()));
    }
    let mut call = Call::new(&arguments.subject, style);
    let picture = match picture(&mut call, layer, arguments.values.as_deref()) {
        Ok(picture) => picture,
        Err(failed) => return Err(call.failed(failed)),
    };
    call.tell();
    let bytes = match is_png {
        true => diagram::png(&picture, arguments.scale).map_err(|error| Failure::call(error.to_string()))?,
        false => diagram::svg(&picture).into_bytes(),
    };
    write(arguments.output.as_deref(), &bytes)
}

fn picture(
    call: &mut Call<'_>,
    layer: Option<diagram::Layer>,
    values: Option<&str>,
) -> Result<diagram::Picture, Failed> {
    let table = match values {
        None => None,
        Some(text) => {
            let (path, at) = session::split_start_from(text, Path::exists).map_err(Failed::Call)?;
            let table = results::read(&path).map_err(|error| Failed::Call(error.to_string()))?;
            let time = session::start_from_time(&table, &format!("`{}`", path.display()), at).map_err(Failed::Call)?;
            Some((table, time))
        }
    };
    let request = call.request()?;
    call.session.draw(&request, layer, table.as_ref().map(|(table, time)| (table, *time)))
}

fn draw_bond_graph(arguments: &Drawing, is_bond_graph: bool, style: Style) -> Result<(), Failure> {
    ending(arguments.output.as_deref(), &["svg"])?;
    if arguments.values.is_some() {
        return Err(Failure::call("`--values` goes with the layers diagram and icon".to_owned()));
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
    write(arguments.output.as_deref(), picture.as_bytes())
}

/// The ending of the file to write, which has to be one of these; the first where there is no file.
fn ending<'a>(path: Option<&Path>, known: &[&'a str]) -> Result<&'a str, Failure> {
    let Some(path) = path else { return Ok(known[0]) };
    let found = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    known.iter().find(|ending| **ending == found).copied().ok_or_else(|| {
        let known: Vec<String> = known.iter().map(|ending| format!(".{ending}")).collect();
        Failure::call(format!("`{}` has to end in {}", path.display(), known.join(" or ")))
    })
}

fn write(path: Option<&Path>, content: &[u8]) -> Result<(), Failure> {
    match path {
        None => print(&String::from_utf8_lossy(content)),
        Some(path) => std::fs::write(path, content)
            .map_err(|error| Failure::call(format!("cannot write `{}`: {error}", path.display()))),
    }
}

/// A graph with the strokes that it has by itself.
pub fn drawing(graph: &bond::Graph) -> String {
    let (causality, _) = bond::Causality::assign(graph, &bond::Mode::default());
    bond::svg(graph, causality.as_ref())
}
