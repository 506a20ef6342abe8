//! From unit to displayUnit, as far as a plot needs it.

/// `displayed = value * factor + offset`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Conversion {
    factor: f64,
    offset: f64,
}

impl Conversion {
    const NONE: Self = Self { factor: 1.0, offset: 0.0 };

    pub fn apply(self, value: f64) -> f64 {
        value * self.factor + self.offset
    }
}

/// unit, displayUnit, factor, offset.
const KNOWN: &[(&str, &str, f64, f64)] = &[
    ("rad", "deg", 180.0 / std::f64::consts::PI, 0.0),
    ("rad/s", "deg/s", 180.0 / std::f64::consts::PI, 0.0),
    ("rad/s", "rpm", 30.0 / std::f64::consts::PI, 0.0),
    ("rad/s", "rev/min", 30.0 / std::f64::consts::PI, 0.0),
    ("rad/s", "1/min", 30.0 / std::f64::consts::PI, 0.0),
    ("rad/s2", "deg/s2", 180.0 / std::f64::consts::PI, 0.0),
    ("K", "degC", 1.0, -273.15),
    ("K", "degF", 1.8, -459.67),
    ("K", "degRk", 1.8, 0.0),
    ("Pa", "bar", 1e-5, 0.0),
    ("Pa", "mbar", 1e-2, 0.0),
    ("m/s", "km/h", 3.6, 0.0),
    ("s", "min", 1.0 / 60.0, 0.0),
    ("s", "h", 1.0 / 3600.0, 0.0),
    ("s", "d", 1.0 / 86400.0, 0.0),
    ("J", "kW.h", 1.0 / 3.6e6, 0.0),
    ("J", "kWh", 1.0 / 3.6e6, 0.0),
    ("J", "W.h", 1.0 / 3600.0, 0.0),
    ("C", "A.h", 1.0 / 3600.0, 0.0),
    ("m3", "l", 1e3, 0.0),
    ("m3", "ml", 1e6, 0.0),
    ("m3/s", "l/min", 6e4, 0.0),
    ("m3/s", "m3/h", 3600.0, 0.0),
    ("m2", "cm2", 1e4, 0.0),
    ("m2", "mm2", 1e6, 0.0),
    ("kg", "g", 1e3, 0.0),
    ("kg", "t", 1e-3, 0.0),
    ("kg/m3", "g/cm3", 1e-3, 0.0),
    ("kg/s", "g/s", 1e3, 0.0),
    ("kg/s", "t/h", 3.6, 0.0),
    ("1", "%", 100.0, 0.0),
    ("Hz", "1/min", 60.0, 0.0),
];

const PREFIXES: &[(&str, f64)] =
    &[("p", 1e-12), ("n", 1e-9), ("u", 1e-6), ("m", 1e-3), ("c", 1e-2), ("k", 1e3), ("M", 1e6), ("G", 1e9)];

/// The unit to print and how to get to it; the unit itself when the displayUnit is unknown.
pub fn display<'a>(unit: &'a str, display_unit: &'a str) -> (&'a str, Conversion) {
    if display_unit.is_empty() || display_unit == unit {
        return (unit, Conversion::NONE);
    }
    if let Some(&(.., factor, offset)) = KNOWN.iter().find(|known| known.0 == unit && known.1 == display_unit) {
        return (display_unit, Conversion { factor, offset });
    }
    let prefix = display_unit.strip_suffix(unit).filter(|_| !unit.is_empty());
    match PREFIXES.iter().find(|known| Some(known.0) == prefix) {
        Some((_, size)) => (display_unit, Conversion { factor: 1.0 / size, offset: 0.0 }),
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
        assert_eq!(shown("A", "mA", 0.5), "500.000000 mA");
        assert_eq!(shown("Pa", "MPa", 2e6), "2.000000 MPa");
        assert_eq!(shown("V", "furlong", 1.0), "1.000000 V");
        assert_eq!(shown("", "m", 1.0), "1.000000 ");
    }
}
