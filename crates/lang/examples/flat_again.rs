//! Prints flat models as Modelica text, reads the text and prints it once more:
//! `cargo run --release --example flat_again -- LIBRARY-FOLDER < names`, or with names as further arguments; `--keep FOLDER` writes both texts
//! of the models that differ. Counts what differs by the first message or line.

use std::collections::BTreeMap;
use std::path::Path;

use lang::{Libraries, Overrides, flatten, last_model};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let keep = arguments.iter().position(|argument| argument == "--keep").map(|at| {
        arguments.remove(at);
        arguments.remove(at)
    });
    let folder = if arguments.is_empty() { String::new() } else { arguments.remove(0) };
    let names: Vec<String> = if arguments.is_empty() {
        std::io::stdin().lines().map_while(Result::ok).filter(|line| !line.is_empty()).collect()
    } else {
        arguments
    };
    let mut libraries = Libraries::default();
    libraries.add_search_path(&folder);
    let mut causes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut flat, mut same) = (0, 0);
    for name in names {
        let Some(model) = flatten(&mut libraries, &name, &Overrides::default()).model else {
            println!("fail {name}");
            continue;
        };
        flat += 1;
        let first = dae::modelica_text(&model, Some(&libraries.sources));
        let (second, cause) = match again(&first) {
            Ok(second) if second == first => {
                same += 1;
                println!("same {name}");
                continue;
            }
            Ok(second) => {
                let cause = difference(&first, &second);
                (second, cause)
            }
            Err(cause) => (String::new(), cause),
        };
        println!("odd  {name}: {cause}");
        if let Some(keep) = &keep {
            let write =
                |ending: &str, text: &str| std::fs::write(Path::new(keep).join(format!("{name}.{ending}")), text);
            if let Err(error) = write("1.mo", &first).and_then(|()| write("2.mo", &second)) {
                println!("     cannot be kept: {error}");
            }
        }
        causes.entry(cause.lines().next().unwrap_or_default().to_owned()).or_default().push(name);
    }
    println!("{same} of {flat} are the same");
    let mut causes: Vec<(String, Vec<String>)> = causes.into_iter().collect();
    causes.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    for (cause, names) in causes {
        println!("{:4} {cause}   [{}]", names.len(), names[0]);
    }
}

/// The flat text of a flat text, or why there is none.
fn again(text: &str) -> Result<String, String> {
    let mut libraries = Libraries::default();
    let names = libraries.add_text("flat.mo", text);
    let name = last_model(&mut libraries, &names).ok_or("no model in the text")?;
    let result = flatten(&mut libraries, name.as_str(), &Overrides::default());
    match result.model {
        Some(model) => Ok(dae::modelica_text(&model, Some(&libraries.sources))),
        None => {
            let error = result.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
            Err(error.map_or_else(|| "no model".to_owned(), |error| error.render(&libraries.sources)))
        }
    }
}

/// The first lines that differ.
fn difference(first: &str, second: &str) -> String {
    for (a, b) in first.lines().zip(second.lines()) {
        if a != b {
            return format!("lines differ\n  {a}\n  {b}");
        }
    }
    "one text is longer".to_owned()
}
