//! The Modelica language: libraries, lookup, instantiation, modifiers, types, arrays, functions, connections → `dae::Model`.

pub mod algorithms;
mod annotation;
mod class_balance;
mod conditional;
mod connect;
mod declaration_order;
mod discrete_equations;
mod effects;
pub mod elaborate;
pub mod equations;
pub mod evaluate;
mod experiment;
pub mod flat;
mod flatten;
mod front_end;
pub mod functions;
mod inner_outer;
pub mod instance;
pub mod instantiate;
pub mod interfaces;
pub mod library;
pub mod lookup;
mod lower;
pub mod modifier;
mod outline;
mod overrides;
mod parts;
mod predefined;
mod record_arithmetic;
mod record_defaults;
pub mod restrictions;
mod set_elements;
mod spread;
mod state_machines;
mod substitute;
pub mod symbolic;
pub mod typed;
pub mod typing;
mod unassigned_members;
mod units;
mod variables;
mod watch;

pub use elaborate::Elaborator;
pub use flatten::{Flattening, OpenEnds, Stage, flatten, last_model};
pub use front_end::FrontEnd;
pub use instance::{
    BindingSource, Builtin, ClassId, CompId, ComponentType, Dimension, Frame, Instances, Member, Outcome,
};
pub use library::{DefId, Disk, Files, Libraries, MemoryFiles, class_of_folder, name_parts};
pub use lookup::{Found, Resolved};
pub use modifier::{Binding, Modifier};
pub use overrides::{Overrides, Purpose, SET};
