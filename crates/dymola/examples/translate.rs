//! `cargo run -p gyrator-dymola --example translate -- x.dym`: the Modelica text, with messages before it.

use std::path::Path;

use base::SourceMap;

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        let mut sources = SourceMap::default();
        let file = sources.add(&path, text.as_str());
        let (made, diagnostics) = dymola::Dymola.translate(file, Path::new(&path), &text);
        for diagnostic in diagnostics {
            eprint!("{}", diagnostic.render(&sources));
        }
        print!("{}", made.text());
    }
    Ok(())
}
