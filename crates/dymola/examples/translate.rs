//! `cargo run -p gyrator-dymola --example translate -- x.dym y.dym`: the Modelica text of files that are read together, with
//! messages before it.

use base::{FileId, SourceMap};

fn main() -> std::io::Result<()> {
    let mut sources = SourceMap::default();
    let mut texts: Vec<(FileId, String)> = Vec::new();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        texts.push((sources.add(&path, text.as_str()), text));
    }
    let files: Vec<(FileId, &str)> = texts.iter().map(|(file, text)| (*file, text.as_str())).collect();
    for (file, _) in &files {
        let (made, diagnostics) = dymola::Dymola.translate_among(*file, &files);
        for diagnostic in diagnostics {
            eprint!("{}", diagnostic.render(&sources));
        }
        print!("{}", made.text());
    }
    Ok(())
}
