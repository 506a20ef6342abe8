//! Gyrator as a library: object-oriented, acausal models of physical systems, turned into simulations.
//!
//! A [`Session`] reads classes and translates them, a [`Model`] is what comes out, a [`Simulation`] is a run of it at an
//! instant, and a [`Run`] is one from start to stop. A [`System`] is a model that another program's solver drives.
//!
//! ```
//! use gyrator::Session;
//!
//! let mut session = Session::new();
//! session.replace_text(
//!     "cup.mo",
//!     "model Cup
//!        parameter Real k = 0.002;
//!        Real T(start = 363.15, fixed = true);
//!      equation
//!        der(T) = -k*(T - 293.15);
//!      end Cup;",
//! );
//! let model = session.model("cup.mo")?;
//! let run = model.simulate(&model.experiment().stop(1800.0))?;
//! let cooled = 293.15 + 70.0 * (-0.002f64 * 1800.0).exp();
//! assert!((run.last("T").unwrap() - cooled).abs() < 1e-3);
//! # Ok::<(), gyrator::Error>(())
//! ```
//!
//! Models are shared between threads; simulations move between them. Nothing prints, and every failure is an [`Error`] with
//! diagnostics that name the place, the component and the remedy.

mod error;
mod experiment;
mod linearization;
mod model;
mod place;
mod sensitivities;
mod session;
mod simulation;
mod system;

pub use ::session::{Inspected, Verdict};
pub use base::{Diagnostic, FileId, Label, Severity, Span};
pub use error::Error;
pub use experiment::Experiment;
pub use linearization::{LinearPoint, LinearRequest};
pub use model::{Dependency, Model, Role, Run, Variable, VariableType};
pub use place::Place;
pub use results::plot::{Figure, html, svg};
pub use results::{Column, Kind, Trajectories, Trajectory};
pub use sensitivities::Sensitivities;
pub use session::{Report, Session};
pub use simulate::{Accepted, Jacobian, Reached, RunStatistics, Update};
pub use simulation::{Simulation, Snapshot};
pub use solve::Method;
pub use system::System;
