//! Modelica text ⇄ lossless tree → abstract syntax.

pub mod ast;
