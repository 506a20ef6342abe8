//! Embeds the examples: every file of the folder `examples` becomes an entry of a table, and every model of the library that
//! can be run one of another.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let manifest = std::env::var("CARGO_MANIFEST_DIR")?;
    let examples = Path::new(&manifest).join("../../examples").canonicalize()?;
    let mut files = files_in(&examples, &["mo", "bond"])?;
    files.extend(files_in(&examples.join("dymola-1993"), &["dym"])?);
    let mut table = "&[\n".to_owned();
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string())?;
    }
    table.push(']');
    let out = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&out).join("examples.rs"), table)?;

    let library = Path::new(&manifest).join("../library/Gyrator/Examples").canonicalize()?;
    let mut models = Vec::new();
    for folder in ["", "Drive", "DriveTrains"] {
        for path in files_in(&library.join(folder), &["mo"])? {
            models.extend(models_of(&std::fs::read_to_string(path)?));
        }
    }
    models.sort();
    std::fs::write(Path::new(&out).join("library_examples.rs"), format!("&{models:?}"))?;
    Ok(())
}

/// The files of a folder with one of the endings, sorted.
fn files_in(folder: &Path, endings: &[&str]) -> std::io::Result<Vec<PathBuf>> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)));
    files.sort();
    for path in &files {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    Ok(files)
}

/// Full names and descriptions of the models of a library file that have an experiment.
fn models_of(text: &str) -> Vec<(String, String)> {
    let mut prefix = String::new();
    let mut found = Vec::new();
    let mut open: Option<(&str, &str)> = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(within) = line.strip_prefix("within ") {
            prefix = format!("{}.", within.trim_end_matches(';'));
        } else if let Some(rest) = line.strip_prefix("package ") {
            prefix.push_str(rest.split_whitespace().next().unwrap_or(""));
            prefix.push('.');
        } else if let Some(rest) = line.strip_prefix("model ") {
            let name = rest.split_whitespace().next().unwrap_or("");
            open = Some((name, rest.split('"').nth(1).unwrap_or("")));
        } else if line.contains("experiment(")
            && let Some((name, description)) = open.take()
        {
            found.push((format!("{prefix}{name}"), description.to_owned()));
        }
    }
    found
}
