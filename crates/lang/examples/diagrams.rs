//! Draws classes of a library into a folder: how long it takes, and what there is to say. The classes are arguments or lines of
//! standard input.
//!
//! `cargo run --release -p gyrator-lang --example diagrams -- LIBRARY-FOLDER OUTPUT-FOLDER svg|png [CLASS[:icon] …]`

use std::path::Path;
use std::time::Instant;

use lang::{Disk, Libraries, Overrides};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, output, format, classes @ ..] = arguments.as_slice() else {
        eprintln!("diagrams LIBRARY-FOLDER OUTPUT-FOLDER svg|png [CLASS[:icon] …]");
        std::process::exit(2);
    };
    let _ = std::fs::create_dir_all(output);
    let mut libraries = Libraries::new(Box::new(Disk));
    libraries.add_search_path(folder);
    let list: Vec<String> = match classes {
        [] => std::io::stdin().lines().map_while(Result::ok).filter(|line| !line.is_empty()).collect(),
        some => some.to_vec(),
    };
    let (begin, mut failed, mut slowest) = (Instant::now(), 0, (0.0, String::new()));
    for entry in &list {
        let start = Instant::now();
        let (class, layer) = match entry.split_once(':') {
            Some((class, "icon")) => (class, Some(diagram::Layer::Icon)),
            Some((class, _)) => (class, Some(diagram::Layer::Diagram)),
            None => (entry.as_str(), None),
        };
        let drawing = lang::draw(&mut libraries, class, &Overrides::default(), layer, false);
        for said in &drawing.diagnostics {
            print!("{class}: {}", said.render(&libraries.sources));
        }
        let Some(picture) = drawing.picture else {
            println!("{class}: FAILED");
            failed += 1;
            continue;
        };
        let unplaced: Vec<&str> =
            picture.components.iter().filter(|component| !component.placed).map(|it| it.name.as_str()).collect();
        if !unplaced.is_empty() {
            println!("{class}: without place {}", unplaced.join(" "));
        }
        let path = Path::new(output).join(format!("{entry}.{format}").replace(':', "_"));
        let written = match format.as_str() {
            "png" => diagram::png(&picture, 1.0).map_err(|error| error.to_string()),
            _ => Ok(diagram::svg(&picture).into_bytes()),
        };
        if let Err(error) = written.and_then(|bytes| std::fs::write(path, bytes).map_err(|error| error.to_string())) {
            println!("{class}: {error}");
            failed += 1;
        }
        let seconds = start.elapsed().as_secs_f64();
        if seconds > slowest.0 {
            slowest = (seconds, entry.clone());
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("{} classes, {failed} failed, {seconds:.2} s, slowest {} {:.3} s", list.len(), slowest.1, slowest.0);
}
