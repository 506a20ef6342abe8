//! How a program is to be run.

use std::sync::Arc;

use compile::Signals;
use dae::VarId;
use solve::Method;

use crate::sensitivities::SensitivityRequest;
use crate::start_point::StartPoint;

/// How to run.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// When the run starts.
    pub start_time: f64,
    /// When the run ends.
    pub stop_time: f64,
    /// Distance of output points.
    pub interval: f64,
    /// The output points where they are given, ascending, in place of equal distances.
    pub points: Option<Arc<[f64]>>,
    /// The relative error that a step may make.
    pub tolerance: f64,
    /// The method of integration.
    pub solver: Method,
    /// The step of fixed-step methods; `None`: the output interval.
    pub step: Option<f64>,
    /// The longest step of methods with error control; `None`: the length of the run.
    pub max_step: Option<f64>,
    /// Measure where the time goes.
    pub measure: bool,
    /// Let time pass as on the wall.
    pub real_time: bool,
    /// Inputs that are given as functions of time.
    pub inputs: Arc<Signals>,
    /// Where another run was: begin there, not at start values.
    pub start_point: Option<Arc<StartPoint>>,
    /// Begin at the stationary state that is found from the initial state.
    pub steady_state: bool,
    /// Values in place of those that the program has for its parameters; [`compile::Program::check_parameters`] tells whether it holds
    /// for them.
    pub parameters: Arc<[(VarId, f64)]>,
    /// Differentiate the trajectories.
    pub sensitivities: Option<Arc<SensitivityRequest>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            start_time: 0.0,
            stop_time: 1.0,
            interval: 0.002,
            points: None,
            tolerance: 1e-6,
            solver: Method::Auto,
            step: None,
            max_step: None,
            measure: false,
            real_time: false,
            inputs: Arc::default(),
            start_point: None,
            steady_state: false,
            parameters: Arc::default(),
            sensitivities: None,
        }
    }
}

impl Options {
    /// The step that the transformations have to know of: that of methods whose formula is sorted with the equations.
    pub fn inline_step(&self) -> Option<f64> {
        self.solver.is_inline().then(|| self.step.unwrap_or(self.interval))
    }
}
