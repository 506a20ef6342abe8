//! Draws a result file in every way: `cargo run --example pictures -- FILE FOLDER [NAMES]`.

use results::plot::{Figure, Terminal, html, png, svg, terminal};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, folder, names @ ..] = arguments.as_slice() else { return Err("FILE FOLDER [NAMES]".into()) };
    let result = results::read(file.as_ref())?;
    let wanted = |name: &String| names.is_empty() || names.contains(name);
    let chosen: Vec<_> = result.variables.iter().filter(|variable| wanted(&variable.column.name)).collect();
    let figure = Figure::new(file.as_str(), &result, &chosen);
    std::fs::write(format!("{folder}/figure.svg"), svg(&figure))?;
    std::fs::write(format!("{folder}/figure.html"), html(&figure))?;
    std::fs::write(format!("{folder}/figure.png"), png(&figure)?)?;
    print!("{}", terminal(&figure, Terminal { colour: true, ..Terminal::default() }));
    print!("{}", terminal(&figure, Terminal::default()));
    Ok(())
}
