//! Bond graphs of files `.bond` and of Modelica models, with their causality.

use std::path::Path;
use std::sync::Arc;

use base::{Diagnostic, FileId, Severity};
use bond::{Causality, ElementId, Expr, Graph, Leaf, Mode};
use compile::Program;
use dae::{Model, VarId};
use rustc_hash::FxHashMap;
use simulate::Simulation;

use crate::bond_view::view;
use crate::experiment::Settings;
use crate::front_ends::class_name;
use crate::parameter_values::bound_values;
use crate::pipeline::{Failed, Request, Session};

/// A graph in which causality is assigned.
#[derive(Clone, Debug)]
pub struct BondGraph {
    /// The elements and bonds.
    pub graph: Graph,
    /// The strokes, states, dependent storages and algebraic loops. The view of a model may have none, such as one with ideal
    /// operational amplifiers.
    pub causality: Option<Causality>,
    /// Which switched junctions are on, in a graph that has some.
    pub mode: Option<String>,
}

impl BondGraph {
    /// The causality, or that there is none.
    pub fn assigned(&self) -> Result<&Causality, Diagnostic> {
        let message = "the graph has no causality, so it has no equations";
        let hint = "`gyrator linearize` has the numbers, `gyrator equations` the equations of the model";
        self.causality.as_ref().ok_or_else(|| Diagnostic::error("no-causality", message).hint(hint))
    }
}

/// The mode of a graph, and its text.
#[derive(Default)]
struct GraphMode {
    mode: Mode,
    text: Option<String>,
}

impl Session {
    /// The bond graph that a call means: that of a file `.bond`, else the view of a Modelica model. Junctions that are switched
    /// are as they are at a time of the run, or at its start.
    pub fn bond_graph(&mut self, request: &Request, time: Option<f64>) -> Result<BondGraph, Failed> {
        let settings = Settings { stop_time: time, ..Settings::default() };
        self.bond_graph_at(request, time, |experiment| {
            let start = experiment.start_time.unwrap_or(0.0);
            let stop_time = settings.stop_time.filter(|&time| time > start);
            Settings { stop_time, ..settings.clone() }.resolve(experiment)
        })
    }

    pub(crate) fn bond_graph_at(
        &mut self,
        request: &Request,
        time: Option<f64>,
        options: impl FnOnce(&dae::Experiment) -> Result<simulate::Options, String>,
    ) -> Result<BondGraph, Failed> {
        if !is_bond_graph(&request.target) {
            return self.bond_view(request);
        }
        self.diagnostics.clear();
        self.libraries.forget();
        let path = Path::new(&request.target);
        if !self.libraries.exists(path) {
            return Err(Failed::Call(format!("there is no file `{}`", request.target)));
        }
        let Some((mut graph, diagnostics)) = self.read_graph(path) else { return Err(Failed::Model) };
        if let Some(graph) = &mut graph {
            for (name, value) in &request.set {
                graph.set(name, value).map_err(Failed::Call)?;
            }
        }
        let mode = match &graph {
            Some(graph) if !diagnostics.iter().any(Diagnostic::is_error) => {
                self.mode_at(request, graph, time, options)?
            }
            _ => GraphMode::default(),
        };
        self.assigned(path, graph, diagnostics, mode)
    }

    /// The graph of a file, as far as it can be read.
    fn read_graph(&mut self, path: &Path) -> Option<(Option<Graph>, Vec<Diagnostic>)> {
        let text = self.libraries.text_of(path);
        self.diagnostics.append(&mut self.libraries.diagnostics);
        text.map(|(file, text)| read(file, &text))
    }

    /// The graph of a file without its causality; what is wrong with it is reported.
    pub(crate) fn graph_of_file(&mut self, request: &Request) -> Result<Graph, Failed> {
        self.diagnostics.clear();
        self.libraries.forget();
        let path = Path::new(&request.target);
        if !self.libraries.exists(path) {
            return Err(Failed::Call(format!("there is no file `{}`", request.target)));
        }
        let Some((graph, diagnostics)) = self.read_graph(path) else { return Err(Failed::Model) };
        let failed = diagnostics.iter().any(Diagnostic::is_error);
        self.diagnostics.extend(diagnostics);
        let Some(mut graph) = graph.filter(|_| !failed) else { return Err(Failed::Model) };
        if graph.name.is_empty() {
            graph.name = class_name(path);
        }
        Ok(graph)
    }

    /// What the settings of a call mean in the Modelica model of a graph.
    pub(crate) fn settings_of_graph(&mut self, request: &Request) -> Vec<(String, String)> {
        let graph = match request.set.is_empty() || !is_bond_graph(&request.target) {
            true => None,
            false => self.libraries.text_of(Path::new(&request.target)).and_then(|(file, text)| read(file, &text).0),
        };
        let Some(graph) = graph else { return request.set.clone() };
        request.set.iter().map(|(name, value)| (graph.settable(name), value.clone())).collect()
    }

    /// Which switched junctions are on at a time. Where the model cannot be run that far, all are, unless a time was asked for.
    fn mode_at(
        &mut self,
        request: &Request,
        graph: &Graph,
        time: Option<f64>,
        options: impl FnOnce(&dae::Experiment) -> Result<simulate::Options, String>,
    ) -> Result<GraphMode, Failed> {
        let switches: Vec<(ElementId, &bond::Expression)> = graph
            .elements
            .iter()
            .filter_map(|(id, element)| Some((id, element.condition.as_ref()?)))
            .filter(|(_, condition)| !matches!(condition, Expr::Boolean(_)))
            .collect();
        if switches.is_empty() {
            return Ok(GraphMode::default());
        }
        let found = self.values_at(request, graph, time, options);
        self.diagnostics.retain(|said| time.is_some() && said.is_error());
        let (time, value) = match found {
            Ok(found) => found,
            Err(failed) if time.is_some() => return Err(failed),
            Err(_) => {
                let text = "all switched junctions are on (the model cannot be run, so its start is not known)";
                return Ok(GraphMode { mode: Mode::default(), text: Some(text.to_owned()) });
            }
        };
        let is_off = |(_, condition): &&(ElementId, &bond::Expression)| {
            let unknown = |leaf: &Leaf| value.get(leaf).copied().unwrap_or(f64::NAN);
            condition.evaluate(&unknown) == 0.0
        };
        let off: Vec<ElementId> = switches.iter().filter(is_off).map(|(id, _)| *id).collect();
        let states = switches.iter().map(|(id, _)| {
            let name = &graph.elements[*id].name;
            format!("{name} is {}", if off.contains(id) { "off" } else { "on" })
        });
        let text = format!("{} (as at time {})", states.collect::<Vec<_>>().join(", "), base::Decimal(time));
        Ok(GraphMode { mode: Mode { off }, text: Some(text) })
    }

    /// The time that was reached, and the values there of all that conditions of junctions name.
    fn values_at(
        &mut self,
        request: &Request,
        graph: &Graph,
        time: Option<f64>,
        options: impl FnOnce(&dae::Experiment) -> Result<simulate::Options, String>,
    ) -> Result<(f64, FxHashMap<Leaf, f64>), Failed> {
        let model = self.flatten(request)?;
        let options = options(&model.experiment).map_err(Failed::Call)?;
        let program = self.structure(model).and_then(|schedule| self.compile(schedule))?;
        let mut simulation = Simulation::of(&program, &options);
        let mut reached = simulation.initialise().map(|_| ());
        if let (Ok(()), Some(time)) = (&reached, time.filter(|&time| time > simulation.time())) {
            reached = simulation.step_to(time, false).map(|_| ());
        }
        if let Err(diagnostic) = reached {
            self.diagnostics.push(*diagnostic);
            return Err(Failed::Model);
        }
        let run = program.model();
        let by_name: FxHashMap<String, VarId> = run.variables.ids().map(|id| (run.variable_name(id), id)).collect();
        let modelica = bond::to_modelica(graph, &graph.name);
        let mut values = FxHashMap::default();
        for condition in graph.elements.values().filter_map(|element| element.condition.as_ref()) {
            condition.leaves(&mut |leaf| {
                let name = |leaf: &Leaf| modelica.leaf(graph, *leaf);
                let value = name(leaf).evaluate(&|name| match name.as_str() {
                    "time" => simulation.time(),
                    name => by_name.get(name).map_or(f64::NAN, |&id| simulation.value(id)),
                });
                values.insert(*leaf, value);
            });
        }
        Ok((simulation.time(), values))
    }

    fn bond_view(&mut self, request: &Request) -> Result<BondGraph, Failed> {
        let model = self.flatten(request)?;
        let values = self.parameter_values(&model);
        let found = view(&model, &|id| values.get(&id).copied());
        match found {
            Ok((graph, notes)) => self.assigned(Path::new(&request.target), Some(graph), notes, GraphMode::default()),
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                Err(Failed::Model)
            }
        }
    }

    /// Values at the start of a run. Where the model cannot be run, which a drawing need not mind, those of its bindings.
    fn parameter_values(&mut self, model: &Model) -> FxHashMap<VarId, f64> {
        let said = self.diagnostics.len();
        let program = self.sorted(model.clone()).and_then(|sorted| self.compile(sorted.schedule));
        self.diagnostics.truncate(said);
        program.ok().and_then(|program| values_at_start(model, &program)).unwrap_or_else(|| bound_values(model))
    }

    fn assigned(
        &mut self,
        path: &Path,
        graph: Option<Graph>,
        diagnostics: Vec<Diagnostic>,
        GraphMode { mode, text }: GraphMode,
    ) -> Result<BondGraph, Failed> {
        let failed = diagnostics.iter().any(Diagnostic::is_error);
        self.diagnostics.extend(diagnostics);
        let Some(mut graph) = graph.filter(|_| !failed) else { return Err(Failed::Model) };
        if graph.name.is_empty() {
            graph.name = class_name(path);
        }
        self.class = graph.name.clone();
        let (causality, said) = Causality::assign(&graph, &mode);
        let is_view = !is_bond_graph(&path.to_string_lossy());
        self.diagnostics.extend(said.into_iter().map(|said| match is_view && said.is_error() {
            // The model may be right all the same.
            true => Diagnostic { severity: Severity::Warning, ..said },
            false => said,
        }));
        match causality {
            None if !is_view => Err(Failed::Model),
            causality => Ok(BondGraph { graph, causality, mode: text }),
        }
    }
}

/// The values of all variables at the start of a run; `None` where there is none.
fn values_at_start(model: &Model, program: &Arc<Program>) -> Option<FxHashMap<VarId, f64>> {
    let options = Settings::default().resolve(&model.experiment).ok()?;
    let mut simulation = Simulation::of(program, &options);
    simulation.initialise().ok()?;
    let run = program.model();
    let by_name: FxHashMap<String, VarId> = run.variables.ids().map(|id| (run.variable_name(id), id)).collect();
    let value = |id: VarId| Some((id, simulation.value(*by_name.get(&model.variable_name(id))?)));
    Some(model.variables.ids().filter_map(value).collect())
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
