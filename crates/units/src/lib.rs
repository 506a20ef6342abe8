//! Units of measure: from text such as `N.m/rad` to exponents of the seven base units of the SI, and conversions between
//! units of the same dimension (Modelica specification, chapter 19; the SI brochure of the BIPM, 9th edition).

mod convert;
mod dimension;
mod parse;
mod suggest;
mod symbols;
mod typeset;
mod unit;

pub use convert::{Conversion, display};
pub use dimension::Dimension;
pub use parse::UnitError;
pub use suggest::suggestion;
pub use typeset::{behind_number, number, typeset};
pub use unit::Unit;
