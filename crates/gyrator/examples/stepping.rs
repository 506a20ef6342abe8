//! A thermostat in Rust around a house in Modelica: `cargo run --example stepping -p gyrator`.

use gyrator::{Error, Session};

const HOUSE: &str = "
model House
  input Real heating(unit = \"W\", start = 0);
  Real T(unit = \"K\", start = 288.15, fixed = true) \"Temperature inside\";
  parameter Real C = 5e6, G = 150, outside = 273.15;
equation
  C*der(T) = heating - G*(T - outside);
end House;";

fn main() -> Result<(), Error> {
    let mut session = Session::new();
    session.replace_text("house.mo", HOUSE);
    let model = session.model("house.mo")?;
    let handle = |name: &str| model.variable(name).ok_or_else(|| panic!("no `{name}`"));
    let (heating, temperature) = (handle("heating")?, handle("T")?);
    let mut simulation = model.start(&model.experiment().stop(86400.0))?;
    let mut on = false;
    for hour in 1..=24 {
        for minute in 0..60 {
            on = simulation.get(temperature) < if on { 294.15 } else { 292.15 };
            simulation.set(heating, if on { 6000.0 } else { 0.0 })?;
            simulation.step_to(f64::from(3600 * (hour - 1) + 60 * (minute + 1)))?;
        }
        println!("{hour:2} h  {:.2} °C  {}", simulation.get(temperature) - 273.15, if on { "on" } else { "off" });
    }
    Ok(())
}
