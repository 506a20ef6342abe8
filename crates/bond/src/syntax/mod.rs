//! The notation `.bond`: text → tree. Parsing never fails; it returns a tree and what is wrong with the text.

pub(crate) mod lexer;
pub(crate) mod parser;
pub(crate) mod tree;
