//! Draws every kind of diagram of a loop: `diagrams FOLDER`, or in the terminal without a folder.

use std::path::Path;

use linear::{
    Excitation, Matrix, RANK_TOLERANCE, Signal, State, StateSpace, frequency_response, margins, plot, poles,
    root_locus, time_response, zeros,
};
use results::plot::{Figure, Terminal, html, png, svg, terminal};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let system = drive()?;
    let response = frequency_response(&system, None)?;
    let figures = [
        ("bode", plot::bode_with_margins(&system, &response, &margins(&system, 0, 0)?)),
        ("nyquist", plot::nyquist(&system, &response)),
        ("nichols", plot::nichols(&system, &response)),
        ("poles", plot::pole_zero(&system, &poles(&system)?, &zeros(&system, RANK_TOLERANCE)?)),
        ("locus", plot::locus(&system, &root_locus(&system, 0, 0, None)?)),
        ("step", plot::time(&system, &time_response(&system, Excitation::Step, None)?, "Step response")),
    ];
    for (name, figure) in figures {
        draw(name, &figure)?;
    }
    Ok(())
}

fn draw(name: &str, figure: &Figure) -> std::io::Result<()> {
    let Some(folder) = std::env::args().nth(1) else {
        println!("{}", terminal(figure, Terminal::default()));
        return Ok(());
    };
    let folder = Path::new(&folder);
    std::fs::write(folder.join(format!("{name}.png")), png(figure).map_err(std::io::Error::other)?)?;
    std::fs::write(folder.join(format!("{name}.svg")), svg(figure))?;
    std::fs::write(folder.join(format!("{name}.html")), html(figure))
}

/// A motor with an integrating angle, an elastic shaft and a load.
fn drive() -> Result<StateSpace, linear::Error> {
    let (motor, load, stiffness, damping, friction) = (1.0, 2.0, 50.0, 0.2, 1.0);
    let a = Matrix::from([
        [-(damping + friction) / motor, -stiffness / motor, damping / motor],
        [1.0, 0.0, -1.0],
        [damping / load, stiffness / load, -damping / load],
    ]);
    let b = Matrix::from([[5.0 / motor], [0.0], [0.0]]);
    let integrated =
        Matrix::from_fn(4, 4, |i, j| if i < 3 && j < 3 { a[(i, j)] } else { f64::from(u8::from(i == 3 && j == 0)) });
    let b = Matrix::from_fn(4, 1, |i, _| if i < 3 { b[(i, 0)] } else { 0.0 });
    let c = Matrix::from([[0.0, 0.0, 0.0, 1.0]]);
    let states = vec![
        State::new("motor.w", "rad/s", "motor"),
        State::new("shaft.phi_rel", "rad", "shaft"),
        State::new("load.w", "rad/s", "load"),
        State::new("motor.phi", "rad", "motor"),
    ];
    let (inputs, outputs) = (vec![Signal::new("torque", "N.m")], vec![Signal::new("motor.phi", "rad")]);
    StateSpace::new([integrated, b, c, Matrix::zeros(1, 1)], states, inputs, outputs)
}
