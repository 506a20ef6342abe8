//! Embeds the examples: every file of the folder `examples` becomes an entry of a table.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../../examples").canonicalize()?;
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = std::fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|path| {
        path.extension().is_some_and(|ending| ["mo", "dym", "bond"].iter().any(|known| ending == *known))
    });
    files.sort();
    let mut table = "&[\n".to_owned();
    for path in &files {
        println!("cargo:rerun-if-changed={}", path.display());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string())?;
    }
    table.push(']');
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("examples.rs"), table)?;
    Ok(())
}
