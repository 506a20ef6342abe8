//! Linear state spaces of a model at points of its run: exact derivatives of the generated code, with names and units.
//!
//! The run is that of the model as it is. Where an input is asked for that equations determine, the model is opened there
//! (`transform::open_at`) and set to the point that the closed one came to: the loop is cut, its operating point stays.

use std::sync::Arc;

use base::{Decimal, Diagnostic};
use compile::Program;
use dae::{Causality, Model, VarId, Variability, VariableType};
use linear::{Matrix, Rates, Signal, State, StateSpace};
use simulate::{Past, Reached, Simulation, StartPoint};

use crate::bond_graphs::is_bond_graph;
use crate::elimination::state_space;
use crate::input_rates::{IntegratedInput, Places, Sorted};
use crate::names::{list, nearest};
use crate::pipeline::{Failed, Request, Session};
use crate::stage::Stage;
use crate::symbolic::{FORMULAS_FAIL, SymbolicSpace};

/// What is to be linearised, and where.
#[derive(Clone, Debug, Default)]
pub struct LinearRequest {
    /// `None`: the inputs of the top level.
    pub inputs: Option<Vec<String>>,
    /// `None`: the outputs of the top level.
    pub outputs: Option<Vec<String>>,
    /// Empty: the start.
    pub times: Vec<f64>,
}

/// The model near a point.
#[derive(Clone, Debug)]
pub struct Linearization {
    /// The instant of the point.
    pub time: f64,
    /// The structural conditions that hold, in a model whose structure changes.
    pub mode: Option<String>,
    /// Functions without a derivative that the model calls: entries that depend on them are differences.
    pub differenced: Vec<String>,
    /// The matrices, with the names of states, inputs and outputs.
    pub system: StateSpace,
    /// The coefficients of derivatives of inputs, where they are needed.
    pub rates: Option<Rates>,
    /// All derivatives vanish there.
    pub is_steady: bool,
    /// The values of the states.
    pub state_values: Vec<f64>,
    /// The values of the inputs.
    pub input_values: Vec<f64>,
    /// What the matrices do not show of the model: delays, and what changes at events only.
    pub notes: Vec<String>,
}

impl Session {
    /// Linearises a model at points of its run. Given options say where the run begins and how it is computed.
    pub fn linearize(
        &mut self,
        request: &Request,
        wanted: &LinearRequest,
        options: impl FnOnce(&dae::Experiment) -> Result<simulate::Options, String>,
    ) -> Result<Vec<Linearization>, Failed> {
        let (wanted, labels) = self.signals_of_graph(request, wanted)?;
        let model = self.flatten(request)?;
        let options = options(&model.experiment).map_err(Failed::Call)?;
        let signals = Signals::of(&model, &wanted).map_err(Failed::Call)?;
        let opened = self.opened(&model, &signals)?;
        let notes = crate::frozen::notes(&model);
        let closed = self.sorted(model).and_then(|sorted| self.compiled(sorted))?;
        let opened = match opened {
            Some(model) => Some(self.sorted(model).and_then(|sorted| self.compiled(sorted))?),
            None => None,
        };
        self.stage = Stage::Initialise;
        let mut run = Run { notes, options, signals, opened, closed };
        let found = run.linearize(&wanted.times, &mut self.stage);
        match found {
            Ok((mut points, warnings)) => {
                points.iter_mut().for_each(|point| labels.rename(&mut point.system));
                if self.keep(warnings) {
                    return Err(Failed::Model);
                }
                self.stage = Stage::Done;
                Ok(points)
            }
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                Err(Failed::Model)
            }
        }
    }

    /// The state space of a linear model with symbols for its parameters.
    pub fn linearize_symbolic(
        &mut self,
        request: &Request,
        wanted: &LinearRequest,
        options: impl FnOnce(&dae::Experiment) -> Result<simulate::Options, String>,
    ) -> Result<SymbolicSpace, Failed> {
        if is_bond_graph(&request.target) && wanted.inputs.is_none() && wanted.outputs.is_none() {
            if wanted.times.len() > 1 {
                let message = "formulas describe one mode of the graph; give `--at` a single time";
                return Err(Failed::Call(message.to_owned()));
            }
            let found = self.bond_graph_at(request, wanted.times.first().copied(), options)?;
            let space = self.symbolic_graph(&found)?;
            self.stage = Stage::Done;
            return Ok(space);
        }
        let (wanted, labels) = self.signals_of_graph(request, wanted)?;
        let model = self.flatten(request)?;
        let options = options(&model.experiment).map_err(Failed::Call)?;
        let signals = Signals::of(&model, &wanted).map_err(Failed::Call)?;
        let opened = self.opened(&model, &signals)?;
        let mut notes = crate::frozen::notes(&model);
        let mut sorted = self.sorted(model)?;
        let closed = self.compiled(sorted.clone())?;
        let opened = match opened {
            Some(model) => {
                sorted = self.sorted(model)?;
                Some(self.compiled(sorted.clone())?)
            }
            None => None,
        };
        self.stage = Stage::Initialise;
        let mut simulation = Simulation::of(&closed.program, &options);
        let found = simulation.initialise().and_then(|_| symbolic(&sorted, &closed.program, &simulation, &signals));
        let mut run = Run { notes: Vec::new(), options, signals, opened, closed };
        match found {
            Ok(mut space) => {
                labels.rename(&mut space.system);
                notes.extend(run.is_singular().then(|| FORMULAS_FAIL.to_owned()));
                space.notes = notes;
                self.stage = Stage::Done;
                Ok(space)
            }
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                Err(Failed::Model)
            }
        }
    }

    /// The inputs and outputs of a bond graph, all of them where none are named: variables of its model, and what they are called.
    fn signals_of_graph(
        &mut self,
        request: &Request,
        wanted: &LinearRequest,
    ) -> Result<(LinearRequest, Labels), Failed> {
        let mut labels = Labels::default();
        let mut wanted = wanted.clone();
        if !is_bond_graph(&request.target) {
            return Ok((wanted, labels));
        }
        let graph = self.graph_of_file(request)?;
        let modelica = bond::to_modelica(&graph, &graph.name);
        let variables = |names: &[String]| names.iter().map(|name| modelica.variable(&graph, name)).collect();
        labels.inputs = match &wanted.inputs {
            Some(names) => names.clone(),
            None => graph.inputs.values().map(|input| input.name.clone()).collect(),
        };
        labels.outputs = match &wanted.outputs {
            Some(names) => names.clone(),
            None => graph.outputs.iter().map(|output| output.name.clone()).collect(),
        };
        wanted.inputs = Some(wanted.inputs.as_deref().map_or_else(|| modelica.inputs.clone(), variables));
        wanted.outputs = Some(wanted.outputs.as_deref().map_or_else(|| modelica.outputs.clone(), variables));
        Ok((wanted, labels))
    }

    fn compiled(&mut self, Sorted { schedule, integrated }: Sorted) -> Result<Compiled, Failed> {
        Ok(Compiled { program: self.compile(schedule)?, integrated })
    }

    /// The model with inputs where equations determine what is asked for as an input.
    fn opened(&mut self, model: &Model, signals: &Signals) -> Result<Option<Model>, Failed> {
        if signals.cut.is_empty() {
            return Ok(None);
        }
        let mut opened = model.clone();
        match transform::open_at(&mut opened, &signals.cut) {
            Ok(()) => Ok(Some(opened)),
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                Err(Failed::Model)
            }
        }
    }
}

/// What the inputs and outputs of a bond graph are called there; empty where they keep their names.
#[derive(Default)]
struct Labels {
    inputs: Vec<String>,
    outputs: Vec<String>,
}

impl Labels {
    fn rename<T>(&self, system: &mut StateSpace<T>) {
        let named = |signals: &mut Vec<Signal>, labels: &[String]| {
            signals.iter_mut().zip(labels).for_each(|(signal, label)| signal.name.clone_from(label));
        };
        named(&mut system.inputs, &self.inputs);
        named(&mut system.outputs, &self.outputs);
    }
}

/// Parameters have the values that they have in the run.
fn symbolic(
    Sorted { schedule, integrated }: &Sorted,
    program: &Program,
    simulation: &Simulation,
    signals: &Signals,
) -> Found<SymbolicSpace> {
    let (model, run) = (&schedule.model, program.model());
    let by_name: rustc_hash::FxHashMap<String, VarId> =
        run.variables.ids().map(|id| (run.variable_name(id), id)).collect();
    let value = |id: VarId| Some(simulation.value(*by_name.get(&model.variable_name(id))?));
    let own: rustc_hash::FxHashMap<String, VarId> =
        model.variables.ids().map(|id| (model.variable_name(id), id)).collect();
    let ids = |names: &[String]| -> Vec<VarId> { names.iter().filter_map(|name| own.get(name).copied()).collect() };
    let directions = directions(&signals.inputs, integrated);
    let mut space = state_space(schedule, &ids(&directions), &ids(&signals.outputs), &value)?;
    if !integrated.is_empty() {
        let states: Vec<VarId> = schedule.states.iter().map(|state| state.variable).collect();
        let places = Places::new(schedule, &states, integrated, &signals.inputs).ok_or_else(no_rates)?;
        let (system, rates) = places.separated(space.system, algebra::Field::negate);
        let named = signals.inputs.iter().zip(ids(&signals.inputs));
        let inputs = named.map(|(name, id)| Signal::new(name, unit(model, id))).collect();
        space.system = StateSpace { inputs, ..system };
        space.rates = Some(rates);
    }
    Ok(space)
}

/// What a model is differentiated along: inputs, or the derivatives of inputs that had to become states.
fn directions(inputs: &[String], integrated: &[IntegratedInput]) -> Vec<String> {
    let rate = |name: &String| integrated.iter().find(|it| it.input == *name).map(|it| it.rate.clone());
    inputs.iter().map(|name| rate(name).unwrap_or_else(|| name.clone())).collect()
}

fn no_rates() -> Box<Diagnostic> {
    let message = "the model needs derivatives of inputs that other equations determine";
    Box::new(Diagnostic::error("no-linearisation", message).hint("take other inputs"))
}

/// The inputs and outputs by their names.
struct Signals {
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// Inputs that equations determine.
    cut: Vec<VarId>,
}

impl Signals {
    fn of(model: &Model, wanted: &LinearRequest) -> Result<Self, String> {
        let of_top_level = |causality: Causality| -> Vec<VarId> {
            let is_wanted = |&id: &VarId| {
                let variable = &model.variables[id];
                variable.causality == causality && is_signal(variable)
            };
            model.variables.ids().filter(is_wanted).collect()
        };
        let find = |names: &Option<Vec<String>>, causality: Causality| match names {
            None => Ok(of_top_level(causality)),
            Some(names) => names.iter().map(|name| find(model, name)).collect(),
        };
        let inputs = find(&wanted.inputs, Causality::Input)?;
        let outputs = find(&wanted.outputs, Causality::Output)?;
        let is_cut = |id: &VarId| model.variables[*id].causality != Causality::Input;
        let names = |ids: &[VarId]| ids.iter().map(|&id| model.variable_name(id)).collect();
        Ok(Self {
            cut: inputs.iter().copied().filter(is_cut).collect(),
            inputs: names(&inputs),
            outputs: names(&outputs),
        })
    }
}

fn is_signal(variable: &dae::Variable) -> bool {
    variable.ty == VariableType::Real && variable.variability == Variability::Continuous
}

fn find(model: &Model, name: &str) -> Result<VarId, String> {
    let found = model.variables.ids().find(|&id| model.variable_name(id) == name);
    let Some(id) = found else {
        let known: Vec<String> = model.variables.ids().map(|id| model.variable_name(id)).collect();
        let near = nearest(name, known.iter().map(String::as_str));
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        return Err(format!("the model has no variable `{name}`{near}"));
    };
    match is_signal(&model.variables[id]) {
        true => Ok(id),
        false => {
            Err(format!("`{name}` is no continuous Real variable, so nothing can be linearised with respect to it"))
        }
    }
}

/// A model ready to be run.
struct Compiled {
    program: Arc<Program>,
    integrated: Vec<IntegratedInput>,
}

struct Run {
    notes: Vec<String>,
    options: simulate::Options,
    signals: Signals,
    closed: Compiled,
    opened: Option<Compiled>,
}

type Found<T> = Result<T, Box<Diagnostic>>;

impl Run {
    fn linearize(&mut self, times: &[f64], stage: &mut Stage) -> Found<(Vec<Linearization>, Vec<Diagnostic>)> {
        let mut simulation = Simulation::of(&self.closed.program, &self.options);
        simulation.initialise()?;
        *stage = Stage::Integrate;
        let mut warnings = Vec::new();
        let start = [self.options.start_time];
        let times = if times.is_empty() { &start } else { times };
        let mut points = Vec::new();
        for &time in times {
            if time > simulation.time()
                && let Reached::Terminated(message) = simulation.step_to(time, false)?
            {
                let at = Decimal(simulation.time());
                let message = format!("the model ended its run at time {at}, before time {}: {message}", Decimal(time));
                return Err(Box::new(Diagnostic::error("terminated", message)));
            }
            let (of, mut at) = match &self.opened {
                // The run goes on from where it was.
                None => (&self.closed, simulation.clone()),
                Some(opened) => (opened, self.set_to(&opened.program, &simulation, &mut warnings)?),
            };
            points.push(self.point(of, &mut at, &mut warnings)?);
        }
        Ok((points, warnings))
    }

    /// Whether the equations have no unique solution at the start.
    fn is_singular(&mut self) -> bool {
        let mut stage = Stage::Initialise;
        let found = self.linearize(&[], &mut stage);
        matches!(found, Err(said) if said.code == "singular-system")
    }

    /// The opened model at the point that the closed one came to.
    fn set_to(&self, opened: &Arc<Program>, closed: &Simulation, warnings: &mut Vec<Diagnostic>) -> Found<Simulation> {
        let (model, whole) = (opened.model(), self.closed.program.model());
        let by_name: rustc_hash::FxHashMap<String, VarId> =
            whole.variables.ids().map(|id| (whole.variable_name(id), id)).collect();
        let value = |id: VarId| Some(closed.value(*by_name.get(&model.variable_name(id))?));
        let past = Past { times: vec![closed.time()], value: &|_, id| value(id) };
        let (point, said) =
            StartPoint::new(opened, value, Some(self.options.start_time), &past).map_err(|lacking| {
                let names: Vec<String> = lacking.variables.iter().map(|&id| model.variable_name(id)).collect();
                let names = list(names.iter().map(String::as_str));
                let message = format!("the opened model has states that the closed one does not have: {names}");
                Box::new(Diagnostic::error("cannot-open", message).hint("open it elsewhere"))
            })?;
        for diagnostic in said {
            if !warnings.contains(&diagnostic) {
                warnings.push(diagnostic);
            }
        }
        let options = simulate::Options {
            start_time: closed.time(),
            stop_time: closed.time() + (self.options.stop_time - self.options.start_time),
            start_point: Some(Arc::new(point)),
            steady_state: false,
            ..self.options.clone()
        };
        let mut simulation = Simulation::of(opened, &options);
        let inputs: Vec<VarId> = model.variables.ids().filter(|&id| simulation.is_input(id)).collect();
        for id in inputs {
            if let Some(value) = value(id) {
                simulation.set_input(id, value);
            }
        }
        simulation.initialise()?;
        Ok(simulation)
    }

    fn point(
        &self,
        of: &Compiled,
        simulation: &mut Simulation,
        warnings: &mut Vec<Diagnostic>,
    ) -> Found<Linearization> {
        let whole = &of.program;
        let named = |names: &[String]| -> Vec<VarId> {
            let find =
                |name: &String| whole.model().variables.ids().find(|&id| whole.model().variable_name(id) == *name);
            names.iter().filter_map(find).collect()
        };
        let (inputs, outputs) = (named(&self.signals.inputs), named(&self.signals.outputs));
        let directions = named(&directions(&self.signals.inputs, &of.integrated));
        let (states, jacobian) = simulation.linear_form(&directions, &outputs)?;
        crate::slopes::check(simulation, &directions, &outputs, &jacobian)?;
        warnings.extend(crate::kinks::warning(simulation, &directions, &outputs));
        let (n, m, p) = (states.len(), inputs.len(), outputs.len());
        let part = |row: usize, column: usize, rows: usize, columns: usize| {
            // Zeros have no sign.
            Matrix::from_fn(rows, columns, |i, j| jacobian.at(row + i, column + j) + 0.0)
        };
        let matrices = [part(0, 0, n, n), part(0, n, n, m), part(n, 0, p, n), part(n, n, p, m)];
        let of_mode = simulation.program().model();
        let state = |&id: &VarId| {
            let name = of_mode.variable_name(simulation.state_now(id));
            let component = name.rsplit_once('.').map_or(String::new(), |(component, _)| component.to_owned());
            State::new(name, unit(of_mode, id), component)
        };
        let signal = |&id: &VarId| Signal::new(whole.model().variable_name(id), unit(whole.model(), id));
        let mut state_values: Vec<f64> = states.iter().map(|&id| simulation.value_in_use(id)).collect();
        let input_values = inputs.iter().map(|&id| simulation.value(id)).collect();
        let named_states = states.iter().map(state).collect();
        let (inputs, outputs) = (inputs.iter().map(signal).collect(), outputs.iter().map(signal).collect());
        let mut system = StateSpace::new(matrices, named_states, inputs, outputs)
            .map_err(|error| Box::new(Diagnostic::error("no-linearisation", error.to_string())))?;
        let mut rates = None;
        if !of.integrated.is_empty() {
            let schedule = &simulation.program().schedule;
            let places = Places::new(schedule, &states, &of.integrated, &self.signals.inputs).ok_or_else(no_rates)?;
            state_values = places.kept(&state_values);
            let (separated, found) = places.separated(system, |entry| -entry + 0.0);
            (system, rates) = (separated, Some(found));
        }
        Ok(Linearization {
            time: simulation.time(),
            mode: jacobian.mode,
            differenced: jacobian.differenced,
            system,
            rates,
            is_steady: self.options.steady_state && simulation.time() == self.options.start_time,
            state_values,
            input_values,
            notes: self.notes.clone(),
        })
    }
}

fn unit(model: &Model, variable: VarId) -> String {
    model.variables[variable].attributes.unit.map_or(String::new(), |unit| unit.as_str().to_owned())
}
