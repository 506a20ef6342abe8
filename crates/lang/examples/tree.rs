//! Prints the instance tree of classes: `cargo run --example tree -- LIBRARY-FOLDER CLASS…`, or `-` to read names from
//! standard input and print only what went wrong.

use lang::{ComponentType, Instances, Libraries};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_default();
    let mut names: Vec<String> = arguments.collect();
    let quiet = names.first().is_some_and(|name| name == "-");
    if quiet {
        names = std::io::stdin().lines().map_while(Result::ok).collect();
    }
    let mut libraries = Libraries::default();
    libraries.add_search_path(&folder);
    let mut instances = Instances::new(libraries);
    for name in names {
        let start = std::time::Instant::now();
        let class = match instances.class_by_name(&name) {
            Ok(class) => class,
            Err(diagnostic) => {
                println!("{name}: {}", diagnostic.render(&instances.libraries.sources));
                continue;
            }
        };
        let mut count = 0;
        let mut stack = vec![(class, 0)];
        while let Some((class, depth)) = stack.pop() {
            for component in instances.components_of(class) {
                count += 1;
                if instances.component(component).prefixes.outer {
                    continue;
                }
                match instances.component_type(component) {
                    Ok(ty) => {
                        if !quiet {
                            println!("{} {ty:?}", instances.path(component));
                        }
                        if let ComponentType::Class(class) = ty {
                            stack.push((class, depth + 1));
                        }
                    }
                    Err(diagnostic) => instances.diagnostics.push(*diagnostic),
                }
            }
        }
        println!("{name}: {count} components, {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
        for diagnostic in std::mem::take(&mut instances.diagnostics) {
            println!("{}", diagnostic.render(&instances.libraries.sources));
        }
    }
    println!("{} files", instances.libraries.sources.len());
}
