//! The symbols of units and prefixes: those of the SI, those accepted for use with it, and the few others that models of
//! technical systems show.

use std::f64::consts::PI;

use crate::dimension::Dimension;
use crate::unit::Unit;

const fn si(exponents: [i8; 7]) -> Unit {
    sized(exponents, 1.0)
}

const fn sized(exponents: [i8; 7], factor: f64) -> Unit {
    Unit { dimension: Dimension::of(exponents), factor, offset: 0.0 }
}

const fn temperature(factor: f64, offset: f64) -> Unit {
    Unit { dimension: Dimension::of([0, 0, 0, 0, 1, 0, 0]), factor, offset }
}

const ONE: [i8; 7] = [0; 7];
const LENGTH: [i8; 7] = [0, 1, 0, 0, 0, 0, 0];
const VOLUME: [i8; 7] = [0, 3, 0, 0, 0, 0, 0];
const MASS: [i8; 7] = [1, 0, 0, 0, 0, 0, 0];
const TIME: [i8; 7] = [0, 0, 1, 0, 0, 0, 0];
const FREQUENCY: [i8; 7] = [0, 0, -1, 0, 0, 0, 0];
const PRESSURE: [i8; 7] = [1, -1, -2, 0, 0, 0, 0];
const ENERGY: [i8; 7] = [1, 2, -2, 0, 0, 0, 0];
const POWER: [i8; 7] = [1, 2, -3, 0, 0, 0, 0];
const DOSE: [i8; 7] = [0, 2, -2, 0, 0, 0, 0];
const LIGHT: [i8; 7] = [0, 0, 0, 0, 0, 0, 1];

/// The unit with a symbol, without prefix.
pub fn symbol(text: &str) -> Option<Unit> {
    Some(match text {
        // Base units; prefixes of the mass are those of the gram.
        "m" => si(LENGTH),
        "kg" => si(MASS),
        "g" => sized(MASS, 1e-3),
        "s" => si(TIME),
        "A" => si([0, 0, 0, 1, 0, 0, 0]),
        "K" => temperature(1.0, 0.0),
        "mol" => si([0, 0, 0, 0, 0, 1, 0]),
        "cd" => si(LIGHT),
        // Derived units with names.
        "rad" | "sr" => si(ONE),
        "Hz" | "Bq" => si(FREQUENCY),
        "N" => si([1, 1, -2, 0, 0, 0, 0]),
        "Pa" => si(PRESSURE),
        "J" => si(ENERGY),
        "W" | "var" | "VA" => si(POWER),
        "C" => si([0, 0, 1, 1, 0, 0, 0]),
        "V" => si([1, 2, -3, -1, 0, 0, 0]),
        "F" => si([-1, -2, 4, 2, 0, 0, 0]),
        "Ohm" => si([1, 2, -3, -2, 0, 0, 0]),
        "S" => si([-1, -2, 3, 2, 0, 0, 0]),
        "Wb" => si([1, 2, -2, -1, 0, 0, 0]),
        "T" => si([1, 0, -2, -1, 0, 0, 0]),
        "H" => si([1, 2, -2, -2, 0, 0, 0]),
        "lm" => si(LIGHT),
        "lx" => si([0, -2, 0, 0, 0, 0, 1]),
        "Gy" | "Sv" => si(DOSE),
        "kat" => si([0, 0, -1, 0, 0, 1, 0]),
        // Temperatures with an own zero.
        "degC" => temperature(1.0, 273.15),
        "degF" => temperature(5.0 / 9.0, 459.67 * 5.0 / 9.0),
        "degRk" => temperature(5.0 / 9.0, 0.0),
        // Accepted for use with the SI.
        "min" => sized(TIME, 60.0),
        "h" => sized(TIME, 3600.0),
        "d" => sized(TIME, 86400.0),
        "deg" => sized(ONE, PI / 180.0),
        "l" | "L" => sized(VOLUME, 1e-3),
        "t" => sized(MASS, 1e3),
        "eV" => sized(ENERGY, 1.602_176_634e-19),
        "u" => sized(MASS, 1.660_539_066_6e-27),
        "ha" => sized([0, 2, 0, 0, 0, 0, 0], 1e4),
        "bar" => sized(PRESSURE, 1e5),
        // Common in technology.
        "%" => sized(ONE, 1e-2),
        "ppm" => sized(ONE, 1e-6),
        "rev" => sized(ONE, 2.0 * PI),
        "rpm" => sized(FREQUENCY, 2.0 * PI / 60.0),
        "atm" => sized(PRESSURE, 101_325.0),
        "mmHg" => sized(PRESSURE, 133.322_387_415),
        "psi" => sized(PRESSURE, 6_894.757_293_168),
        "cal" => sized(ENERGY, 4.184),
        "Wh" => sized(ENERGY, 3600.0),
        "kn" => sized([0, 1, -1, 0, 0, 0, 0], 1852.0 / 3600.0),
        "ft" => sized(LENGTH, 0.3048),
        "mi" => sized(LENGTH, 1609.344),
        "lb" => sized(MASS, 0.453_592_37),
        "debye" => sized([0, 1, 1, 1, 0, 0, 0], 3.335_640_951_98e-30),
        _ => return None,
    })
}

/// Ratios on a logarithmic scale and perceived loudness: known, but no size is left when they are put into SI units.
pub fn is_level(text: &str) -> bool {
    matches!(text, "dB" | "B" | "Np" | "phon" | "sone")
}

pub const PREFIXES: &[(&str, f64)] = &[
    ("da", 1e1),
    ("Y", 1e24),
    ("Z", 1e21),
    ("E", 1e18),
    ("P", 1e15),
    ("T", 1e12),
    ("G", 1e9),
    ("M", 1e6),
    ("k", 1e3),
    ("h", 1e2),
    ("d", 1e-1),
    ("c", 1e-2),
    ("m", 1e-3),
    ("u", 1e-6),
    ("n", 1e-9),
    ("p", 1e-12),
    ("f", 1e-15),
    ("a", 1e-18),
    ("z", 1e-21),
    ("y", 1e-24),
];
