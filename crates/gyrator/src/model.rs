//! Translated models.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Diagnostic, SourceMap, Span};
use compile::{Misfit, Program};
use dae::{Causality, VarId, Variability};
use results::{MemorySink, Trajectories};
use rustc_hash::FxHashMap;
use simulate::{Ending, EventLog};

use crate::place::{self, Place};
use crate::{Error, Experiment, Simulation, System};

/// A translated model. Copies share everything, and simulations of it may run on many threads.
#[derive(Clone)]
pub struct Model {
    inner: Arc<Inner>,
    /// Values in place of those that parameters have in the text.
    parameters: Arc<[(VarId, f64)]>,
}

pub(crate) struct Inner {
    /// No other translation has this number.
    translation: u64,
    pub program: Arc<Program>,
    /// What the program was made from, for values of parameters that change its structure.
    flat: Arc<dae::Model>,
    experiment: Experiment,
    warnings: Vec<Diagnostic>,
    pub sources: SourceMap,
    variables: Vec<Variable>,
    by_name: FxHashMap<String, usize>,
}

/// A variable of a model. With it values are read without looking anything up.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    /// The full name, such as `motor.R1.v`.
    pub name: String,
    /// The unit as declared; may be empty.
    pub unit: String,
    /// The comment of the declaration; may be empty.
    pub description: String,
    /// What its values are.
    pub ty: VariableType,
    /// What it is for the simulation.
    pub role: Role,
    /// Whether it is a parameter that [`Model::with`] can give other values. Some values may still need a new translation.
    pub tunable: bool,
    id: VarId,
    /// The translation that it belongs to.
    translation: u64,
}

/// A variable and what it depends on.
pub type Dependency<'a> = (&'a Variable, Option<Vec<&'a Variable>>);

/// What came of a run: its trajectories, which are read from it directly, and what there is to say about it.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Rows of all variables that were wanted.
    pub trajectories: Trajectories,
    /// What the run had to decide, or what looks wrong although the run went on: equations that leave something open, assertions
    /// of level warning, what a result that it began from does not hold.
    pub warnings: Vec<Diagnostic>,
    /// The message of a model that ended the run.
    pub terminated: Option<String>,
    /// When the run was interrupted by who watches it.
    pub interrupted: Option<f64>,
    /// What the run took.
    pub statistics: simulate::RunStatistics,
}

impl std::ops::Deref for Run {
    type Target = Trajectories;

    fn deref(&self) -> &Trajectories {
        &self.trajectories
    }
}

/// What the values of a variable are. All are given as numbers: `true` as 1, enumeration literals by their position from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableType {
    /// Floating-point numbers.
    Real,
    /// Whole numbers.
    Integer,
    /// Truth values.
    Boolean,
    /// Ordinals of literals, from 1.
    Enumeration,
}

/// What a variable is for the simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Never changes.
    Constant,
    /// Fixed during a simulation.
    Parameter,
    /// Determined from outside.
    Input,
    /// A top-level output.
    Output,
    /// Everything else.
    Local,
}

impl Model {
    pub(crate) fn new(
        program: Arc<Program>,
        flat: Arc<dae::Model>,
        experiment: Experiment,
        warnings: Vec<Diagnostic>,
        sources: SourceMap,
    ) -> Self {
        static TRANSLATIONS: AtomicU64 = AtomicU64::new(0);
        let translation = TRANSLATIONS.fetch_add(1, Ordering::Relaxed);
        let variables = variables(&program, translation);
        let by_name = variables.iter().enumerate().map(|(k, variable)| (variable.name.clone(), k)).collect();
        let inner = Arc::new(Inner { translation, program, flat, experiment, warnings, sources, variables, by_name });
        Self { inner, parameters: Arc::default() }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// A run of this model with its values of parameters, and what there is to say about its beginning.
    pub(crate) fn options(&self, experiment: &Experiment) -> Result<(simulate::Options, Vec<Diagnostic>), Error> {
        let (options, warnings) = experiment.resolve(&self.inner.program)?;
        Ok((simulate::Options { parameters: self.parameters.clone(), ..options }, warnings))
    }

    /// The same model with another value of a parameter: what depends on the parameter, start values and tables included,
    /// follows when a simulation begins. As a rule nothing is translated. Where the value decides which unknowns equations have,
    /// which of them constrain each other, or another part of their structure, the equations are sorted and compiled once more;
    /// [`is_same_translation`](Self::is_same_translation) tells. The error of a parameter that decides a size or another choice of
    /// the language says so; [`Session::model_with`](crate::Session::model_with) translates the model with such a value.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text(
    ///     "m.mo",
    ///     "model M
    ///        parameter Integer n = 2;
    ///        parameter Real k = 1;
    ///        Real x[n](each start = 2*k, each fixed = true);
    ///      equation
    ///        der(x) = -k*x;
    ///      end M;",
    /// );
    /// let model = session.model("m.mo")?;
    /// let run = model.with("k", 3.0)?.simulate(&model.experiment())?;
    /// assert!((run.last("x[1]").unwrap() - 6.0 * (-3.0f64).exp()).abs() < 1e-4);
    /// assert!(model.with("n", 3.0).is_err());
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn with(&self, name: &str, value: f64) -> Result<Self, Error> {
        self.with_all(&[(name, value)])
    }

    /// The same with several values at once.
    pub fn with_all(&self, values: &[(&str, f64)]) -> Result<Self, Error> {
        let mut parameters = self.parameters.to_vec();
        for &(name, value) in values {
            let Some(variable) = self.variable(name) else {
                return Err(Error::of_call(self.why_not_a_number(name)));
            };
            parameters.retain(|&(known, _)| known != variable.id);
            parameters.push((variable.id, value));
        }
        match self.inner.program.fit(&parameters) {
            Ok(()) => Ok(Self { inner: self.inner.clone(), parameters: parameters.into() }),
            Err(Misfit::Refused(said)) => Err(Error::of_model(vec![*said], &self.inner.sources)),
            Err(Misfit::Structure(_)) => self.sorted_anew(&parameters),
        }
    }

    /// The model with values of parameters for which its equations have another structure.
    fn sorted_anew(&self, parameters: &[(VarId, f64)]) -> Result<Self, Error> {
        let Inner { flat, experiment, warnings, sources, .. } = &*self.inner;
        let made = ::session::retranslated(flat, parameters, &Default::default());
        let (program, notices) = made.map_err(|said| Error::of_model(said, sources))?;
        let front_end = warnings.iter().filter(|said| !self.inner.program.schedule.summary.notices.contains(said));
        let warnings = front_end.cloned().chain(notices).collect();
        let model = Self::new(program, flat.clone(), experiment.clone(), warnings, sources.clone());
        // They are in its text already, and are kept for the next call.
        Ok(Self { parameters: parameters.into(), ..model })
    }

    /// The number of a variable in the program. One of another translation, such as that with another value of a parameter, stands
    /// for the variable of the same name.
    pub(crate) fn id(&self, variable: &Variable) -> Result<VarId, Error> {
        if variable.translation == self.inner.translation {
            return Ok(variable.id);
        }
        let own = self.variable(&variable.name);
        own.map(|own| own.id)
            .ok_or_else(|| Error::of_call(format!("`{}` is a variable of another model", variable.name)))
    }

    pub(crate) fn ids(&self, variables: &[&Variable]) -> Result<Vec<VarId>, Error> {
        variables.iter().map(|variable| self.id(variable)).collect()
    }

    /// The number of an input that may have this value.
    pub(crate) fn input_id(&self, input: &Variable, value: f64) -> Result<VarId, Error> {
        let id = self.id(input)?;
        if self.inner.program.model().variables[id].causality != Causality::Input {
            return Err(Error::of_call(why_no_input(&self.inner.program, &input.name)));
        }
        match ::session::value_problem(&self.inner.program, id, value) {
            Some(wrong) => Err(Error::of_call(format!("the value {value} of `{}` {wrong}", input.name))),
            None => Ok(id),
        }
    }

    /// Whether both are the same translation, whatever values parameters have. Then they share their code, and a snapshot of a
    /// simulation of one can be restored in one of the other.
    pub fn is_same_translation(&self, other: &Model) -> bool {
        self.inner.translation == other.inner.translation
    }

    /// Why a name is none of a variable with numbers.
    fn why_not_a_number(&self, name: &str) -> String {
        let model = self.inner.program.model();
        match model.variables.ids().find(|&id| model.variable_name(id) == name) {
            Some(id) if model.variables[id].ty == dae::VariableType::String => {
                format!("`{name}` is a String: translate the model anew with `Session::model_with`")
            }
            Some(_) => format!("`{name}` is no number"),
            None => format!("there is no parameter `{name}`"),
        }
    }

    /// The name of the class.
    pub fn name(&self) -> &str {
        &self.inner.program.model().name
    }

    /// The run that the model itself asks for by its annotation `experiment`; without one from 0 to 1 s.
    pub fn experiment(&self) -> Experiment {
        self.inner.experiment.clone()
    }

    /// Where the place of a diagnostic is: of the translation, of a run or of a simulation of this model.
    pub fn place(&self, span: Span) -> Option<Place> {
        place::place(&self.inner.sources, span)
    }

    /// What the translation had to say.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.inner.warnings
    }

    /// All variables, in the order of the flat model.
    pub fn variables(&self) -> &[Variable] {
        &self.inner.variables
    }

    /// The variable of a name such as `R1.v` or `der(x)`.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.inner.by_name.get(name).map(|&k| &self.inner.variables[k])
    }

    /// The values of all parameters and constants that are known before a run; those that initial equations determine are not.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text("m.mo", "model M parameter Real a = 2; parameter Real b = 3*a; Real x = b*time; end M;");
    /// let model = session.model("m.mo")?.with("a", 5.0)?;
    /// let values: Vec<(&str, f64)> = model.parameter_values()?.iter().map(|(known, value)| (&*known.name, *value)).collect();
    /// assert_eq!(values, [("a", 5.0), ("b", 15.0)]);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn parameter_values(&self) -> Result<Vec<(&Variable, f64)>, Error> {
        let program = &self.inner.program;
        let mut memory = program.memory();
        let computed = program.run_parameters(&self.parameters, &mut memory);
        computed.map_err(|failure| Error::of_model(vec![failure.diagnostic(program.model())], &self.inner.sources))?;
        let is_known = |variable: &&Variable| {
            let is_free = program.schedule.free.get(variable.id) == Some(&true);
            matches!(variable.role, Role::Parameter | Role::Constant) && !is_free
        };
        let known = self.variables().iter().filter(is_known);
        Ok(known.map(|variable| (variable, program.value(&memory, variable.id))).collect())
    }

    /// The name of the enumeration that a variable is of, and its literals in their order; a value is the position from 1.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text("m.mo", "model M type E = enumeration(low, high); parameter E e = E.high; Real x = time; end M;");
    /// let model = session.model("m.mo")?;
    /// assert_eq!(model.literals(model.variable("e").unwrap()), Some(("M.E", vec!["low", "high"])));
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn literals(&self, variable: &Variable) -> Option<(&str, Vec<&str>)> {
        let model = self.inner.program.model();
        let dae::VariableType::Enumeration(index) = model.variables[self.id(variable).ok()?].ty else { return None };
        let known = model.enumerations.get(index as usize)?;
        Some((known.name.as_str(), known.literals.iter().map(|literal| literal.as_str()).collect()))
    }

    /// The parameters that are texts: name, value where the model has it as a literal, and description. Another value needs a
    /// translation, [`Session::model_with`](crate::Session::model_with).
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text("m.mo", "model M parameter String s = \"a\" \"Where\"; Real x = if s == \"a\" then 1 else 2; end M;");
    /// assert_eq!(session.model("m.mo")?.texts(), [("s".to_owned(), Some("a".to_owned()), "Where".to_owned())]);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn texts(&self) -> Vec<(String, Option<String>, String)> {
        let flat = &self.inner.flat;
        let is_text = |declared: &dae::Variable| {
            declared.ty == dae::VariableType::String
                && declared.variability == Variability::Parameter
                && !declared.hidden
        };
        let known = flat.variables.iter().filter(|(_, declared)| is_text(declared));
        let described = known.map(|(id, declared)| {
            let value = declared.binding.and_then(|binding| flat.exprs.as_string(binding).map(str::to_owned));
            let description = declared.attributes.description.as_deref().unwrap_or("").to_owned();
            (flat.variable_name(id), value, description)
        });
        described.collect()
    }

    /// The texts that the model was translated from, with the paths that they were read from. A session that is given them as
    /// texts makes the same model, wherever it runs.
    pub fn sources(&self) -> impl Iterator<Item = (&std::path::Path, &str)> {
        let sources = &self.inner.sources;
        sources.ids().map(|file| sources.file(file)).map(|file| (&*file.path, &*file.text))
    }

    /// A run from start to stop, with all variables. A model that calls `terminate` ends it sooner.
    pub fn simulate(&self, experiment: &Experiment) -> Result<Run, Error> {
        self.simulate_only(experiment, &|_| true)
    }

    /// The same with those variables only whose names are wanted.
    pub fn simulate_only(&self, experiment: &Experiment, wanted: &dyn Fn(&str) -> bool) -> Result<Run, Error> {
        self.simulate_while(experiment, wanted, &mut |_| true)
    }

    /// The same as long as `go_on` agrees, which is asked before each step with the time that was reached. The error of a run that
    /// fails on its way holds what it came to ([`Error::partial`]).
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text("m.mo", "model M Real x(start = 0, fixed = true); equation der(x) = 1/(0.5 - time); end M;");
    /// let model = session.model("m.mo")?;
    /// let part = model.simulate_while(&model.experiment(), &|_| true, &mut |time| time < 0.25)?;
    /// assert!(part.interrupted.is_some_and(|time| time >= 0.25) && part.last("x").unwrap() > 0.4);
    /// let failed = model.simulate(&model.experiment()).err().unwrap();
    /// assert!(failed.partial.unwrap().time.last().unwrap() > &0.4);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn simulate_while(
        &self,
        experiment: &Experiment,
        wanted: &dyn Fn(&str) -> bool,
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Run, Error> {
        let (options, warnings) = self.options(experiment)?;
        Ok(self.run(&options, warnings, wanted, go_on)?.0)
    }

    /// A run with options that fit the program.
    pub(crate) fn run(
        &self,
        options: &simulate::Options,
        mut warnings: Vec<Diagnostic>,
        wanted: &dyn Fn(&str) -> bool,
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(Run, Option<simulate::SensitivityRows>), Error> {
        let mut sink = MemorySink::default();
        let (program, log) = (&self.inner.program, &mut EventLog::none());
        let mut watcher = |time: f64| go_on(time);
        let outcome = simulate::simulate(program, options, wanted, &mut sink, log, &mut watcher);
        let outcome = outcome.map_err(|error| Error::of_call(error.to_string()))?;
        warnings.extend(outcome.warnings);
        let (trajectories, statistics) = (sink.trajectories, outcome.statistics);
        let mut run = Run { trajectories, warnings, terminated: None, interrupted: None, statistics };
        match outcome.ending {
            Ending::Complete => {}
            Ending::Terminated { message, .. } => run.terminated = Some(message),
            Ending::Interrupted { time } => run.interrupted = Some(time),
            Ending::NotInitialised(diagnostic) => {
                return Err(Error::of_model(vec![*diagnostic], &self.inner.sources));
            }
            Ending::Failed { diagnostic, .. } | Ending::Refused { diagnostic, .. } => {
                return Err(Error::of_model(vec![*diagnostic], &self.inner.sources).with(run));
            }
        }
        Ok((run, outcome.sensitivities))
    }

    /// Which states and inputs the derivatives of states and the outputs of the model depend on, by its equations: in whatever
    /// branch, directly or through what events and clocks assign. Nothing that acts is missing, while some of what is listed may
    /// never act. For each of them the variable and what it depends on; `None` in place of what it depends on stands for
    /// everything: where the structure changes during the run, or too much depends on too much to say. Of states that are
    /// exchanged during the run, all candidates are listed.
    ///
    /// ```
    /// let mut session = gyrator::Session::new();
    /// session.replace_text(
    ///     "m.mo",
    ///     "model M
    ///        input Real u, w;
    ///        Real x(start = 0, fixed = true), z(start = 0, fixed = true);
    ///        output Real y = z + 2*u;
    ///      equation
    ///        der(x) = w - x;
    ///        der(z) = x*z;
    ///      end M;",
    /// );
    /// let model = session.model("m.mo")?;
    /// let found: Vec<String> = (model.dependencies().iter())
    ///     .map(|(variable, on)| {
    ///         let mut names: Vec<&str> = on.as_ref().unwrap().iter().map(|known| known.name.as_str()).collect();
    ///         names.sort();
    ///         format!("{}: {}", variable.name, names.join(", "))
    ///     })
    ///     .collect();
    /// assert_eq!(found, ["der(x): w, x", "der(z): x, z", "y: u, z"]);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn dependencies(&self) -> Vec<Dependency<'_>> {
        let program = &self.inner.program;
        let schedule = &program.schedule;
        let acting = schedule.acting();
        let model = program.model();
        let known = |id: VarId| self.variable(&model.variable_name(id));
        let derivatives = schedule.states.iter().filter_map(|state| known(state.derivative));
        let outputs = self.variables().iter().filter(|variable| variable.role == Role::Output);
        let on = |variable: &Variable| {
            let mut found: Vec<VarId> = Vec::new();
            for id in acting.as_ref()?.on(variable.id) {
                match schedule.state_sets.iter().find(|set| set.states.contains(&id)) {
                    Some(set) => found.extend(&set.candidates),
                    None => found.push(id),
                }
            }
            found.sort_unstable();
            found.dedup();
            Some(found.into_iter().filter_map(known).collect())
        };
        derivatives.chain(outputs).map(|variable| (variable, on(variable))).collect()
    }

    /// The model for another program's solver, before its initialisation. Of the experiment the method is not used.
    pub fn system(&self, experiment: &Experiment) -> Result<System, Error> {
        Ok(System::new(self, &self.options(experiment)?.0))
    }

    /// A run to be stepped, initialised.
    pub fn start(&self, experiment: &Experiment) -> Result<Simulation, Error> {
        let (options, warnings) = self.options(experiment)?;
        Simulation::new(self, &options, warnings)
    }
}

/// Why a variable cannot be given from outside.
pub(crate) fn why_no_input(program: &Program, name: &str) -> String {
    let model = program.model();
    let found = model.variables.iter().find(|(id, _)| model.variable_name(*id) == name);
    match found {
        None => format!("there is no input `{name}`"),
        Some((_, declared)) if declared.prefix != Causality::Input => format!("`{name}` is no input"),
        Some(_) if name.contains('.') => format!("`{name}` is an input of a component, and the model determines it"),
        Some((_, declared)) if declared.protected => format!("the input `{name}` is protected"),
        Some(_) => format!(
            "the input `{name}` has a value in the model; to give it from outside, translate the model with              `Session::model_with_inputs`"
        ),
    }
}

fn variables(program: &Program, translation: u64) -> Vec<Variable> {
    let model = program.model();
    let text = |name: Option<base::Name>| name.map_or(String::new(), |name| name.as_str().to_owned());
    let mut variables = Vec::new();
    for (id, declared) in model.variables.iter() {
        let ty = match declared.ty {
            dae::VariableType::Real => VariableType::Real,
            dae::VariableType::Integer => VariableType::Integer,
            dae::VariableType::Boolean => VariableType::Boolean,
            dae::VariableType::Enumeration(_) => VariableType::Enumeration,
            dae::VariableType::String | dae::VariableType::Object | dae::VariableType::Clock => continue,
        };
        if declared.hidden {
            continue;
        }
        let role = match (declared.variability, declared.causality) {
            (Variability::Constant, _) => Role::Constant,
            (Variability::Parameter, _) => Role::Parameter,
            (_, Causality::Input) => Role::Input,
            (_, Causality::Output) => Role::Output,
            (_, Causality::Local) => Role::Local,
        };
        variables.push(Variable {
            name: model.variable_name(id),
            unit: text(declared.attributes.unit),
            description: declared.attributes.description.as_deref().unwrap_or("").to_owned(),
            ty,
            role,
            tunable: role == Role::Parameter && program.is_tunable(id),
            id,
            translation,
        });
    }
    variables
}
