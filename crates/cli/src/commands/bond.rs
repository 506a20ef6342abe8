//! `gyrator bond`: what can be said about a bond graph.

use std::fmt::Write as _;
use std::path::Path;

use base::Severity;
use bond::{Equations, Graph, Simplification};
use serde_json::{Map, Value, json};
use session::{BondGraph, SymbolicSpace};

use crate::arguments::{Bond, BondPart};
use crate::commands::linearize::Lacking;
use crate::commands::{diagram, symbolic};
use crate::exit::Failure;
use crate::style::{Style, print};
use crate::subject::Call;

pub fn run(arguments: &Bond, style: Style) -> Result<(), Failure> {
    let mut call = Call::new(&arguments.subject, style);
    let found = call.request().and_then(|request| call.session.bond_graph(&request, arguments.at));
    let found = match found {
        Ok(found) => found,
        Err(failed) => return Err(call.failed(failed)),
    };
    call.tell();
    let steps = Simplification::new(&found.graph);
    if let Some(folder) = &arguments.drawings {
        draw(folder, &found, &steps)?;
    }
    let report = Report { call: &call, found: &found, steps: &steps };
    if arguments.subject.json {
        return print(&format!("{:#}\n", report.json()));
    }
    let all = [BondPart::Causality, BondPart::Simplification, BondPart::StateSpace, BondPart::Equations];
    let parts = if arguments.show.is_empty() { &all[..3] } else { &arguments.show };
    let mut text = format!("{}\n", report.headline());
    for part in parts {
        let _ = write!(text, "\n{}", report.part(*part));
    }
    print(&text)
}

struct Report<'a> {
    call: &'a Call<'a>,
    found: &'a BondGraph,
    steps: &'a Simplification,
}

impl Report<'_> {
    fn headline(&self) -> String {
        let graph = &self.found.graph;
        let description =
            if graph.description.is_empty() { String::new() } else { format!(" – {}", graph.description) };
        format!("{}{description}: {}", graph.name, counts(graph))
    }

    fn part(&self, part: BondPart) -> String {
        let BondGraph { graph, mode, .. } = self.found;
        match part {
            BondPart::Causality => {
                let mode = mode.as_ref().map_or(String::new(), |mode| format!("mode: {mode}\n"));
                let report = match &self.found.causality {
                    Some(causality) => causality.report(graph),
                    None => "no causality\n".to_owned(),
                };
                format!("{mode}{report}{}", self.notes())
            }
            BondPart::Simplification if self.steps.steps.is_empty() => "nothing to simplify\n".to_owned(),
            BondPart::Simplification => format!("simplification\n{}", indented(&self.steps.print())),
            BondPart::StateSpace => match SymbolicSpace::of_graph(self.found) {
                Ok(space) => symbolic::text("state space", &space),
                // What is not linear has equations.
                Err(obstacle) if obstacle.code == "not-linear" => {
                    format!("{}\n\n{}", obstacle.message, self.part(BondPart::Equations))
                }
                Err(obstacle) => obstacle.render(self.call.session.sources()),
            },
            BondPart::Equations => match self.found.assigned().and_then(|it| Equations::new(graph, it)) {
                Ok(equations) => format!("equations\n{}", indented(&format!("{}\n", equations.print(graph)))),
                Err(obstacle) => obstacle.render(self.call.session.sources()),
            },
        }
    }

    /// Why storages are dependent, and what else there is to say.
    fn notes(&self) -> String {
        let notes = self.call.session.diagnostics.iter().filter(|said| said.severity == Severity::Note);
        notes.map(|said| format!("\n{}", said.render(self.call.session.sources()))).collect()
    }

    /// The matrices, or why there are none.
    fn space_json(&self) -> Value {
        let none = |reason: &str| json!({ "none": reason });
        match SymbolicSpace::of_graph(self.found) {
            Ok(space) => symbolic::json_of(&self.found.graph.name, &space, &mut Lacking::default()),
            Err(obstacle) => none(&obstacle.message),
        }
    }

    fn json(&self) -> Value {
        let BondGraph { graph, causality, mode } = self.found;
        let names = |storages: &[(bond::ElementId, u32)]| -> Vec<String> {
            storages.iter().map(|(element, port)| graph.state_name(*element, *port)).collect()
        };
        let name = |element: bond::ElementId| graph.elements[element].name.as_str();
        let elements: Vec<Value> = graph
            .elements
            .values()
            .map(|element| {
                let kind = format!("{}{}", if element.modulated { "M" } else { "" }, element.kind.symbol());
                json!({ "name": element.name, "kind": kind })
            })
            .collect();
        let bonds: Vec<Value> = graph
            .bonds
            .iter()
            .map(|(id, bond)| {
                let setters = causality.as_ref().map(|causality| causality.setters(graph, id));
                let (effort, flow) = (setters.map(|(effort, _)| name(effort)), setters.map(|(_, flow)| name(flow)));
                let (tail, head) = (name(bond.tail), name(bond.head));
                json!({ "from": tail, "to": head, "effort_from": effort, "flow_from": flow })
            })
            .collect();
        let loops: Vec<Value> = causality
            .iter()
            .flat_map(|causality| &causality.loops)
            .map(|found| json!(found.path.iter().map(|element| name(*element)).collect::<Vec<_>>()))
            .collect();
        let steps: Vec<&str> = self.steps.steps.iter().map(|step| step.text.as_str()).collect();
        let mut object = Map::new();
        for (key, value) in [
            ("model", json!(graph.name)),
            ("elements", json!(elements)),
            ("bonds", json!(bonds)),
            ("states", json!(causality.as_ref().map(|causality| names(&causality.states)))),
            ("dependent", json!(causality.as_ref().map(|causality| names(&causality.dependent)))),
            ("loops", json!(loops)),
            ("mode", json!(mode)),
            ("simplification", json!(steps)),
            ("state_space", self.space_json()),
        ] {
            object.insert(key.to_owned(), value);
        }
        Value::Object(object)
    }
}

fn counts(graph: &Graph) -> String {
    format!("{} elements, {} bonds", graph.elements.len(), graph.bonds.len())
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// `0.svg` is the graph as it is, `1.svg` the one after the first step.
fn draw(folder: &Path, found: &BondGraph, steps: &Simplification) -> Result<(), Failure> {
    let failed =
        |path: &Path, error: std::io::Error| Failure::call(format!("cannot write `{}`: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let pictures = std::iter::once(bond::svg(&found.graph, found.causality.as_ref()));
    let pictures = pictures.chain(steps.steps.iter().map(|step| diagram::drawing(&step.graph)));
    for (number, picture) in pictures.enumerate() {
        let path = folder.join(format!("{number}.svg"));
        std::fs::write(&path, picture).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}
