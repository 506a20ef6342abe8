//! Pictures of classes, with values of a result beside their connectors.

use diagram::{Layer, Picture};
use lang::Signal;
use results::Trajectories;

use crate::pipeline::{Failed, Request, Session};
use crate::target::Choice;

/// Digits of the values beside connectors.
const DIGITS: usize = 4;

impl Session {
    /// Draws a layer of a class; without one the diagram of a class that has components and the icon of any other. With a result
    /// and a time, the values of all connectors stand beside them.
    pub fn draw(
        &mut self,
        request: &Request,
        layer: Option<Layer>,
        values: Option<(&Trajectories, f64)>,
    ) -> Result<Picture, Failed> {
        let overrides = self.open(request, Choice::ModelFirst)?;
        let drawing = lang::draw(&mut self.libraries, &self.class, &overrides, layer, values.is_some());
        let refused = self.keep(drawing.diagnostics);
        let mut picture = drawing.picture.filter(|_| !refused).ok_or(Failed::Model)?;
        if let Some((table, time)) = values {
            let found = write_values(&mut picture, &drawing.signals, table, time);
            if found == 0 && !drawing.signals.is_empty() {
                let message = format!("the result has no variable of a connector of `{}`", self.class);
                return Err(Failed::Call(message));
            }
        }
        self.stage = crate::stage::Stage::Done;
        Ok(picture)
    }
}

/// Writes the values beside connectors; how many there are.
fn write_values(picture: &mut Picture, signals: &[Signal], table: &Trajectories, time: f64) -> usize {
    let mut found = 0;
    for signal in signals {
        let Some(value) = table.at(&signal.variable, time) else { continue };
        let component = &mut picture.components[signal.component];
        let labels = match signal.connector {
            None => &mut component.labels,
            Some(connector) => &mut component.connectors[connector].labels,
        };
        let (number, unit) =
            (units::number(signal.conversion.apply(value), DIGITS), units::behind_number(&signal.unit));
        labels.push(match signal.symbol.as_str() {
            "" => format!("{number}{unit}"),
            symbol => format!("{symbol} = {number}{unit}"),
        });
        found += 1;
    }
    found
}
