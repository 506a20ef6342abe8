//! Flattens many classes and counts what fails by its message:
//! `cargo run --release --example flatten_all -- LIBRARY-FOLDER < names`, or with names as further arguments; `--text` prints the flat models;
//! `--reference FOLDER` compares with the signals and the number of unknowns in a folder of reference results.

use std::collections::BTreeMap;

use dae::{Causality, Variability};
use lang::{Libraries, Overrides, flatten};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = arguments.iter().position(|argument| argument == "--text").map(|at| arguments.remove(at)).is_some();
    let reference = arguments.iter().position(|argument| argument == "--reference").map(|at| {
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
    let (mut done, mut balanced) = (0, 0);
    let total = names.len();
    for name in names {
        let start = std::time::Instant::now();
        let result = flatten(&mut libraries, &name, &Overrides::default());
        let seconds = start.elapsed().as_secs_f64();
        match result.model {
            Some(model) => {
                done += 1;
                let unknowns = model
                    .variables
                    .values()
                    .filter(|variable| {
                        variable.variability > Variability::Parameter && variable.causality != Causality::Input
                    })
                    .count();
                let equations = model.equations.len();
                balanced += usize::from(unknowns == equations);
                let mark = if unknowns == equations { "ok  " } else { "odd " };
                println!("{mark} {name}: {equations} equations, {unknowns} unknowns, {seconds:.3} s");
                if unknowns != equations {
                    causes.entry("unbalanced".to_owned()).or_default().push(name.clone());
                }
                if let Some(reference) = &reference {
                    compare(reference, &name, &model, unknowns);
                }
                if text {
                    println!("{}", dae::modelica_text(&model, None));
                }
            }
            None => {
                let error = result.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
                let Some(error) = error else { continue };
                println!("fail {name}: {:?} {seconds:.3} s\n{}", result.stage, error.render(&libraries.sources));
                causes.entry(format!("{}: {}", error.code, error.message)).or_default().push(name.clone());
            }
        }
    }
    println!("{done} of {total} flattened, {balanced} balanced");
    let mut causes: Vec<(String, Vec<String>)> = causes.into_iter().collect();
    causes.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    for (cause, names) in causes {
        println!("{:4} {cause}   [{}]", names.len(), names[0]);
    }
}

/// Prints the signals that the model lacks, and the number of unknowns where it is another one.
fn compare(folder: &str, name: &str, model: &dae::Model, unknowns: usize) {
    let folder = std::path::Path::new(folder).join(name.replace('.', "/"));
    let names: std::collections::HashSet<String> =
        model.variables.ids().map(|variable| model.variable_name(variable).replace(' ', "")).collect();
    let signals = std::fs::read_to_string(folder.join("comparisonSignals.txt")).unwrap_or_default();
    for signal in signals.lines().map(|line| line.trim().trim_start_matches('\u{feff}').replace(' ', "")) {
        let inner = signal.strip_prefix("der(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(&signal);
        if !inner.is_empty() && !inner.starts_with('/') && inner != "time" && !names.contains(inner) {
            println!("lacks {name}: {signal}");
        }
    }
    let log = std::fs::read_to_string(folder.join("translate_passed.log")).unwrap_or_default();
    let count = log.split("The DAE has ").nth(1).and_then(|rest| rest.split(' ').next()).and_then(|n| n.parse().ok());
    // What the flat model adds for when clauses is not part of the text.
    let unknowns = unknowns - names.iter().filter(|name| name.contains('$')).count();
    if let Some(count) = count
        && unknowns != count
    {
        println!("count {name}: {unknowns} unknowns, reference {count}");
    }
}
