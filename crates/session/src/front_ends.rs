//! The languages besides Modelica that the program reads, by the endings of their files.

use std::path::Path;

use base::{Diagnostic, FileId, Span, Translated};
use bond::{Causality, Mode};
use dymola::Dymola;
use lang::FrontEnd;

use crate::bond_graphs;

pub(crate) fn all() -> Vec<Box<dyn FrontEnd>> {
    vec![Box::new(BondGraphs), Box::new(DymolaModels)]
}

/// The Dymola language of 1993 (`.dym`).
struct DymolaModels;

impl FrontEnd for DymolaModels {
    fn ending(&self) -> &'static str {
        Dymola::ENDING
    }

    fn translate(&self, file: FileId, _: &Path, text: &str) -> (Translated, Vec<Diagnostic>) {
        Dymola.translate(file, text)
    }

    fn translate_among(&self, file: FileId, _: &Path, files: &[(FileId, &str)]) -> (Translated, Vec<Diagnostic>) {
        Dymola.translate_among(file, files)
    }
}

/// Bond graphs (`.bond`).
struct BondGraphs;

impl FrontEnd for BondGraphs {
    fn ending(&self) -> &'static str {
        "bond"
    }

    fn translate(&self, file: FileId, path: &Path, text: &str) -> (Translated, Vec<Diagnostic>) {
        let whole = Span::new(file, 0, u32::try_from(text.len()).unwrap_or(u32::MAX));
        let mut made = Translated::new(whole);
        let (graph, mut diagnostics) = bond_graphs::read(file, text);
        let Some(graph) = graph else { return (made, diagnostics) };
        // Contradictions are errors here, with the path through the graph, and not singular equations later.
        diagnostics.extend(Causality::assign(&graph, &Mode::default()).1);
        let modelica = bond::to_modelica(&graph, &class_name(path));
        for (line, origin) in modelica.text.split_inclusive('\n').zip(&modelica.origins) {
            made.write_for(origin.unwrap_or(whole), line);
        }
        (made, diagnostics)
    }
}

/// A name for the class of a file: `two-tanks.bond` holds `two_tanks`.
pub(crate) fn class_name(path: &Path) -> String {
    let stem = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => name,
        false => format!("Graph{name}"),
    }
}
