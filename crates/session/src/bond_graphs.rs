//! Bond graphs of files `.bond` and of Modelica models, with their causality.

use std::path::Path;

use base::{Diagnostic, FileId};
use bond::{Causality, Graph, Mode};
use dae::{Model, VarId};
use rustc_hash::FxHashMap;
use simulate::Simulation;

use crate::bond_view::view;
use crate::experiment::Settings;
use crate::front_ends::class_name;
use crate::pipeline::{Failed, Request, Session};

/// A graph in which causality is assigned.
#[derive(Clone, Debug)]
pub struct BondGraph {
    /// The elements and bonds.
    pub graph: Graph,
    /// The strokes, states, dependent storages and algebraic loops.
    pub causality: Causality,
}

impl Session {
    /// The bond graph that a call means: that of a file `.bond`, else the view of a Modelica model.
    pub fn bond_graph(&mut self, request: &Request) -> Result<BondGraph, Failed> {
        if !is_bond_graph(&request.target) {
            return self.bond_view(request);
        }
        self.diagnostics.clear();
        self.libraries.forget();
        let path = Path::new(&request.target);
        if !self.libraries.exists(path) {
            return Err(Failed::Call(format!("there is no file `{}`", request.target)));
        }
        let text = self.libraries.text_of(path);
        self.diagnostics.append(&mut self.libraries.diagnostics);
        let Some((file, text)) = text else { return Err(Failed::Model) };
        let (graph, diagnostics) = read(file, &text);
        self.assigned(path, graph, diagnostics)
    }

    fn bond_view(&mut self, request: &Request) -> Result<BondGraph, Failed> {
        let model = self.flatten(request)?;
        let values = self.parameter_values(&model);
        let found = view(&model, &|id| values.get(&id).copied());
        match found {
            Ok((graph, notes)) => self.assigned(Path::new(&request.target), Some(graph), notes),
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                Err(Failed::Model)
            }
        }
    }

    /// Values at the start of a run; none where the model cannot be run, which a drawing need not mind.
    fn parameter_values(&mut self, model: &Model) -> FxHashMap<VarId, f64> {
        let said = self.diagnostics.len();
        let program = self.structure(model.clone()).and_then(|schedule| self.compile(schedule));
        self.diagnostics.truncate(said);
        let Ok(program) = program else { return FxHashMap::default() };
        let Ok(options) = Settings::default().resolve(&model.experiment) else { return FxHashMap::default() };
        let mut simulation = Simulation::of(&program, &options);
        if simulation.initialise().is_err() {
            return FxHashMap::default();
        }
        let run = program.model();
        let by_name: FxHashMap<String, VarId> = run.variables.ids().map(|id| (run.variable_name(id), id)).collect();
        let value = |id: VarId| Some((id, simulation.value(*by_name.get(&model.variable_name(id))?)));
        model.variables.ids().filter_map(value).collect()
    }

    fn assigned(
        &mut self,
        path: &Path,
        graph: Option<Graph>,
        diagnostics: Vec<Diagnostic>,
    ) -> Result<BondGraph, Failed> {
        let failed = diagnostics.iter().any(Diagnostic::is_error);
        self.diagnostics.extend(diagnostics);
        let Some(mut graph) = graph.filter(|_| !failed) else { return Err(Failed::Model) };
        if graph.name.is_empty() {
            graph.name = class_name(path);
        }
        self.class = graph.name.clone();
        let (causality, said) = Causality::assign(&graph, &Mode::default());
        self.diagnostics.extend(said);
        match causality {
            Some(causality) => Ok(BondGraph { graph, causality }),
            None => Err(Failed::Model),
        }
    }
}

/// Whether a call means a file with a bond graph.
pub(crate) fn is_bond_graph(target: &str) -> bool {
    Path::new(target).extension().is_some_and(|ending| ending == "bond")
}

/// The graph of a text, and what is wrong with it.
pub(crate) fn read(file: FileId, text: &str) -> (Option<Graph>, Vec<Diagnostic>) {
    let (tree, mut diagnostics) = bond::parse(text, file);
    let (graph, said) = Graph::new(&tree);
    diagnostics.extend(said);
    (graph, diagnostics)
}
