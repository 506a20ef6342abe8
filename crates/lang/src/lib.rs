//! The Modelica language: libraries, lookup, instantiation, modifiers, types, arrays, functions, connections → `dae::Model`.

pub mod flat;
mod inner_outer;
pub mod instance;
pub mod instantiate;
pub mod library;
pub mod lookup;
pub mod modifier;
mod predefined;
pub mod restrictions;

pub use instance::{
    BindingSource, Builtin, ClassId, CompId, ComponentType, Dimension, Frame, Instances, Member, Outcome,
};
pub use library::{DefId, Disk, Files, Libraries};
pub use lookup::{Found, Resolved};
pub use modifier::{Binding, Modifier};
