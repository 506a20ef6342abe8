//! What every stage speaks: typed ids, interned names, places in source text, and diagnostics.

mod chained;
mod decimal;
mod diagnostic;
pub mod folders;
mod ids;
mod name;
mod reserved;
mod source;
mod translated;

pub use chained::ChainedIndex;
pub use decimal::Decimal;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use ids::{Id, IdVec};
pub use name::Name;
pub use reserved::is_reserved;
pub use source::{FileId, Position, SourceFile, SourceMap, Span};
pub use translated::Translated;
