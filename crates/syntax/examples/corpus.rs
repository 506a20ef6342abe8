//! Parses every `.mo` file below the given folders: prints the diagnostics, checks that the tree is lossless and gives the speed.
//!
//! `cargo run --release -p gyrator-syntax --example corpus -- FOLDER …`

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base::SourceMap;
use syntax::SyntaxKind;

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let Ok(entries) = std::fs::read_dir(path) else { return };
        let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| collect(entry, files));
    } else if path.extension().is_some_and(|extension| extension == "mo") {
        files.push(path.to_owned());
    }
}

/// Formatting must keep every token and comment, and change nothing the second time.
fn format_problem(parse: &syntax::Parse) -> Option<String> {
    let Some(formatted) = parse.format() else { return Some("not formatted".to_owned()) };
    let again = syntax::parse(parse.tree.file(), &formatted);
    let texts = |tree: &syntax::tree::Tree| {
        let kept = tree.tokens().filter(|&token| tree.token_kind(token) != SyntaxKind::Whitespace);
        kept.map(|token| tree.token_text(token).trim_end().to_owned()).collect::<Vec<_>>()
    };
    if texts(&again.tree) != texts(&parse.tree) {
        return Some("the formatter changed a token".to_owned());
    }
    (again.format().as_ref() != Some(&formatted)).then(|| "formatting twice gives something else".to_owned())
}

fn main() {
    let mut files = Vec::new();
    std::env::args().skip(1).for_each(|argument| collect(Path::new(&argument), &mut files));
    let mut sources = SourceMap::default();
    let (mut bytes, mut broken, mut tokens, mut nodes) = (0, 0, 0, 0);
    let (mut parsing, mut lowering) = (Duration::ZERO, Duration::ZERO);
    for path in &files {
        let Ok(content) = std::fs::read(path) else { continue };
        let text = String::from_utf8_lossy(&content).into_owned();
        let file = sources.add(path, text.clone());
        let start = Instant::now();
        let parse = syntax::parse(file, &text);
        parsing += start.elapsed();
        let start = Instant::now();
        let ast = parse.ast();
        lowering += start.elapsed();
        drop(ast);
        bytes += text.len();
        tokens += parse.tree.token_count();
        nodes += parse.tree.node_count();
        let mut problems: Vec<String> =
            parse.diagnostics.iter().map(|diagnostic| diagnostic.render(&sources)).collect();
        problems.extend(parse.tree.verify().err());
        if parse.tree.print() != text {
            problems.push(format!("{}: the tree lost something", path.display()));
        }
        problems.extend(format_problem(&parse).map(|problem| format!("{}: {problem}\n", path.display())));
        broken += usize::from(!problems.is_empty());
        problems.iter().for_each(|problem| print!("{problem}"));
    }
    let speed = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    println!(
        "{} files, {broken} with problems, {:.1} MB, {tokens} tokens, {nodes} nodes: parsed at {:.0} MB/s, lowered at {:.0} MB/s",
        files.len(),
        bytes as f64 / 1e6,
        speed(parsing),
        speed(lowering)
    );
}
