//! The notation `.bond`: text → tree. Parsing never fails; it returns a tree and what is wrong with the text.

pub mod lexer;
pub mod parser;
pub mod tree;
