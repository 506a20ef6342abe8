//! Translated models.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Diagnostic, SourceMap};
use compile::Program;
use dae::{Causality, VarId, Variability};
use results::{MemorySink, Trajectories};
use rustc_hash::FxHashMap;
use simulate::{Ending, EventLog};

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
        experiment: Experiment,
        warnings: Vec<Diagnostic>,
        sources: SourceMap,
    ) -> Self {
        static TRANSLATIONS: AtomicU64 = AtomicU64::new(0);
        let translation = TRANSLATIONS.fetch_add(1, Ordering::Relaxed);
        let variables = variables(&program, translation);
        let by_name = variables.iter().enumerate().map(|(k, variable)| (variable.name.clone(), k)).collect();
        let inner = Arc::new(Inner { translation, program, experiment, warnings, sources, variables, by_name });
        Self { inner, parameters: Arc::default() }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// A run of this model with its values of parameters, and what there is to say about its beginning.
    fn options(&self, experiment: &Experiment) -> Result<(simulate::Options, Vec<Diagnostic>), Error> {
        let (options, warnings) = experiment.resolve(&self.inner.program)?;
        Ok((simulate::Options { parameters: self.parameters.clone(), ..options }, warnings))
    }

    /// The same model with another value of a parameter. Nothing is translated: what depends on the parameter, start values and
    /// tables included, follows when a simulation begins. The error of a parameter whose value decides about the structure of the
    /// model says what it decides; [`Session::model_with`](crate::Session::model_with) translates the model with such a value.
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
        let checked = self.inner.program.check_parameters(&parameters);
        checked.map_err(|said| Error::of_model(vec![said], &self.inner.sources))?;
        Ok(Self { inner: self.inner.clone(), parameters: parameters.into() })
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
            return Err(Error::of_call(format!("`{}` is no input", input.name)));
        }
        match ::session::value_problem(&self.inner.program, id, value) {
            Some(wrong) => Err(Error::of_call(format!("the value {value} of `{}` {wrong}", input.name))),
            None => Ok(id),
        }
    }

    /// Whether both are the same translation, whatever values parameters have.
    pub(crate) fn is_same_translation(&self, other: &Model) -> bool {
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

    /// A run from start to stop, with all variables. A model that calls `terminate` ends it sooner.
    pub fn simulate(&self, experiment: &Experiment) -> Result<Run, Error> {
        self.simulate_only(experiment, &|_| true)
    }

    /// The same with those variables only whose names are wanted.
    pub fn simulate_only(&self, experiment: &Experiment, wanted: &dyn Fn(&str) -> bool) -> Result<Run, Error> {
        let (options, mut warnings) = self.options(experiment)?;
        let mut sink = MemorySink::default();
        let (program, log) = (&self.inner.program, &mut EventLog::none());
        let outcome = simulate::simulate(program, &options, wanted, &mut sink, log, &mut |_: f64| true);
        let outcome = outcome.map_err(|error| Error::of_call(error.to_string()))?;
        warnings.extend(outcome.warnings);
        let terminated = match outcome.ending {
            Ending::NotInitialised(diagnostic)
            | Ending::Failed { diagnostic, .. }
            | Ending::Refused { diagnostic, .. } => {
                return Err(Error::of_model(vec![*diagnostic], &self.inner.sources));
            }
            Ending::Terminated { message, .. } => Some(message),
            Ending::Complete | Ending::Interrupted { .. } => None,
        };
        Ok(Run { trajectories: sink.trajectories, warnings, terminated, statistics: outcome.statistics })
    }

    /// Which states and inputs the derivatives of states and the outputs of the model depend on, by its equations: the numbers of
    /// parameters do not matter. For each of them the variable and what it depends on; `None` in place of what it depends on where
    /// too much depends on too much to say, which means everything.
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
    /// let found: Vec<String> = (model.dependencies()?.iter())
    ///     .map(|(variable, on)| {
    ///         let mut names: Vec<&str> = on.as_ref().unwrap().iter().map(|known| known.name.as_str()).collect();
    ///         names.sort();
    ///         format!("{}: {}", variable.name, names.join(", "))
    ///     })
    ///     .collect();
    /// assert_eq!(found, ["der(x): w, x", "der(z): x, z", "y: u, z"]);
    /// # Ok::<(), gyrator::Error>(())
    /// ```
    pub fn dependencies(&self) -> Result<Vec<Dependency<'_>>, Error> {
        let program = &self.inner.program;
        let form = program.linear_form().map_err(|said| Error::of_model(vec![said], &self.inner.sources))?;
        let model = program.model();
        let known = |id: VarId| self.variable(&model.variable_name(id));
        let derivatives = program.schedule.states.iter().filter_map(|state| known(state.derivative));
        let outputs = self.variables().iter().filter(|variable| variable.role == Role::Output);
        let mut found = Vec::new();
        for variable in derivatives.chain(outputs) {
            let on = form.dependencies(variable.id);
            found.push((variable, on.map(|on| on.into_iter().filter_map(known).collect())));
        }
        Ok(found)
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
