//! Random models with an oracle: each family writes a model as Modelica text and knows, by closed form, conservation law or an
//! independent computation, what a correct run shows. The strongest test of the whole way from text to curve.
//!
//! `tests/families.rs` runs some hundred cases of each family; the example `oracles` runs as many as asked for:
//!
//! ```sh
//! cargo run --release -p gyrator-oracles --example oracles -- all --cases 100000 --seed 1
//! cargo run --release -p gyrator-oracles --example oracles -- boolean --case 17 --seed 1 --show
//! ```

mod case;
mod family;
mod run;

mod arrays;
mod boolean;
mod branches;
mod charge;
mod circuits;
mod clocks;
mod connections;
mod crossings;
mod delays;
mod dense;
mod descriptor;
mod diodes;
mod discrete;
mod friction;
mod functions;
mod gears;
mod growth;
mod initial;
mod inputs;
mod jacobians;
mod linear;
mod loop_pulses;
mod loops;
mod mechanics;
mod monotone;
mod opened;
mod pencil;
mod pendulums;
mod pulses;
mod reinit;
mod resting;
mod roots;
mod roundings;
mod scales;
mod schedules;
mod set_pendulums;
mod signal;
mod smooth;
mod starts;
mod storage;
mod strings;
mod switching;
mod trajectories;
mod transport;
mod troughs;
mod tuned;
mod undefined;
mod weak;
mod windows;

pub use case::{Case, Verdict};
pub use family::{FAMILIES, Family};
pub use run::Run;
