//! Drawings as SVG text to files that are the same on every computer: PNG and PDF with the font that comes with the program, and the
//! lengths of texts in that font. Nothing here knows what is drawn.

mod font;
mod pdf;
mod png;
mod tree;

pub use font::{CAPITAL, FAMILY, LINE, length};
pub use pdf::pdf;
pub use png::png;
pub use tree::DrawingError;
