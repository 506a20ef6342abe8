//! The grammar of Modelica 3.6 (specification, section A.2) with the forms of 3.7 that libraries use already.
//!
//! One function a production, named after it; each leaves the parser behind what it recognised and never fails.

mod classes;
mod elements;
mod equations;
mod expressions;
mod modifications;

pub(crate) use classes::stored_definition;
pub(crate) use expressions::{component_reference, expression, type_specifier};
