//! From one unit to another of the same dimension.

use crate::symbols::symbol;
use crate::unit::Unit;

/// `value * factor + offset`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Conversion {
    /// The factor of the value.
    pub factor: f64,
    /// What is added then.
    pub offset: f64,
}

impl Conversion {
    /// Values stay as they are.
    pub const NONE: Conversion = Conversion { factor: 1.0, offset: 0.0 };

    /// `None` when the units are not known or differ in dimension.
    pub fn between(from: &str, to: &str) -> Option<Conversion> {
        if from == to {
            return Some(Conversion::NONE);
        }
        let (source, mut target) = (from.parse::<Unit>().ok()?, to.parse::<Unit>().ok()?);
        // Angular velocities have been shown in turns a minute under this name for long.
        if to == "1/min" && from == "rad/s" {
            target = symbol("rpm")?;
        }
        (source.dimension == target.dimension).then(|| Conversion {
            factor: source.factor / target.factor,
            offset: (source.offset - target.offset) / target.factor,
        })
    }

    /// The converted value.
    pub fn apply(self, value: f64) -> f64 {
        value * self.factor + self.offset
    }
}

/// The unit to print for a variable and how to get to it: its displayUnit; the unit itself when there is none or it does not
/// fit.
pub fn display<'a>(unit: &'a str, display_unit: &'a str) -> (&'a str, Conversion) {
    if display_unit.is_empty() || unit.is_empty() {
        return (unit, Conversion::NONE);
    }
    match Conversion::between(unit, display_unit) {
        Some(conversion) => (display_unit, conversion),
        None => (unit, Conversion::NONE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_values() {
        let shown = |unit, display_unit, value| {
            let (unit, conversion) = display(unit, display_unit);
            format!("{:.6} {unit}", conversion.apply(value))
        };
        assert_eq!(shown("rad", "deg", std::f64::consts::PI), "180.000000 deg");
        assert_eq!(shown("K", "degC", 293.15), "20.000000 degC");
        assert_eq!(shown("K", "degF", 273.15), "32.000000 degF");
        assert_eq!(shown("degC", "K", 20.0), "293.150000 K");
        assert_eq!(shown("A", "mA", 0.5), "500.000000 mA");
        assert_eq!(shown("Pa", "MPa", 2e6), "2.000000 MPa");
        assert_eq!(shown("rad/s", "rev/min", std::f64::consts::TAU), "60.000000 rev/min");
        assert_eq!(shown("rad/s", "1/min", std::f64::consts::TAU), "60.000000 1/min");
        assert_eq!(shown("m/s", "km/h", 10.0), "36.000000 km/h");
        assert_eq!(shown("V", "furlong", 1.0), "1.000000 V");
        assert_eq!(shown("V", "A", 1.0), "1.000000 V");
        assert_eq!(shown("", "m", 1.0), "1.000000 ");
    }
}
