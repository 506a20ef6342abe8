//! Colours of curves and of values.

/// A colour for each curve of a panel, told apart also by the colour-blind (Okabe and Ito).
const COLOURS: [[u8; 3]; 7] =
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233], [64, 64, 64]];

/// Curves beyond the colours are dashed.
const DASHES: [&str; 4] = ["", "8 3", "2 3", "9 3 2 3"];

/// The colour of curves that are there for orientation.
const FAINT: [u8; 3] = [150; 3];

/// The colour of a curve by its number.
pub(super) fn colour(number: Option<usize>) -> [u8; 3] {
    number.map_or(FAINT, |number| COLOURS[number % COLOURS.len()])
}

/// The dashes of a curve by its number; empty for a solid line.
pub(super) fn dashes(number: Option<usize>) -> &'static str {
    number.map_or("", |number| DASHES[number / COLOURS.len() % DASHES.len()])
}

/// A colour on white, with a part of its strength.
pub(super) fn faded(colour: [u8; 3], strength: f64) -> [u8; 3] {
    colour.map(|part| (255.0 - (255.0 - f64::from(part)) * strength.clamp(0.0, 1.0)).round() as u8)
}

pub(super) fn hexadecimal([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The colour of a value between 0 and 1, from dark blue over green to yellow: evenly brighter, also in black and white and for the
/// colour-blind (after viridis of van der Walt and Smith 2015). What is not a number is grey.
pub fn shade(share: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 9] = [
        [68.0, 1.0, 84.0],
        [71.0, 45.0, 123.0],
        [59.0, 82.0, 139.0],
        [44.0, 114.0, 142.0],
        [33.0, 145.0, 140.0],
        [40.0, 174.0, 128.0],
        [94.0, 201.0, 98.0],
        [173.0, 220.0, 48.0],
        [253.0, 231.0, 37.0],
    ];
    if share.is_nan() {
        return [204; 3];
    }
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let below = (place.floor() as usize).min(STOPS.len() - 2);
    let part = place - below as f64;
    std::array::from_fn(|k| (STOPS[below][k] * (1.0 - part) + STOPS[below + 1][k] * part).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_curves_look_different() {
        let looks: std::collections::HashSet<_> = (0..28).map(|k| (colour(Some(k)), dashes(Some(k)))).collect();
        assert_eq!(looks.len(), 28);
    }

    #[test]
    fn larger_values_are_brighter() {
        let brightness = |share: f64| {
            let [red, green, blue] = shade(share).map(f64::from);
            0.299 * red + 0.587 * green + 0.114 * blue
        };
        let levels: Vec<f64> = (0..=40).map(|k| brightness(f64::from(k) / 40.0)).collect();
        assert!(levels.windows(2).all(|pair| pair[1] > pair[0]), "{levels:?}");
        assert_eq!((shade(-3.0), shade(9.0), shade(f64::NAN)), (shade(0.0), shade(1.0), [204; 3]));
    }
}
