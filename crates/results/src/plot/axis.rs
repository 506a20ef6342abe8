//! Axes: a range that holds the data, and round numbers on it.

/// How values become places on an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scale {
    /// Even.
    #[default]
    Linear,
    /// Even distances for even ratios; values that are not positive have no place.
    Logarithmic,
    /// Even, with the ticks of angles in degrees.
    Degrees,
}

impl Scale {
    pub(crate) fn place(self, value: f64) -> f64 {
        if self == Self::Logarithmic { value.log10() } else { value }
    }
}

/// The ends are places: logarithms on a logarithmic axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    pub low: f64,
    pub high: f64,
    pub scale: Scale,
}

impl Range {
    /// Exactly the values that have a place; never empty.
    pub fn of(values: impl Iterator<Item = f64>, scale: Scale) -> Self {
        let finite = values.map(|value| scale.place(value)).filter(|place| place.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            return Self { low: 0.0, high: 1.0, scale };
        }
        // A range below the resolution of numbers cannot be divided into ticks.
        if high - low > 1e-12 * low.abs().max(high.abs()) && (high - low).is_finite() {
            return Self { low, high, scale };
        }
        let half = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
        Self { low: (low - half).max(f64::MIN / 4.0), high: (high + half).min(f64::MAX / 4.0), scale }
    }

    /// With some air around the curves.
    pub fn padded(self) -> Self {
        let air = 0.04 * self.length();
        Self { low: self.low - air, high: self.high + air, ..self }
    }

    /// Around the same middle.
    pub fn stretched(self, factor: f64) -> Self {
        let more = 0.5 * (factor - 1.0) * self.length();
        Self { low: self.low - more, high: self.high + more, ..self }
    }

    pub fn length(self) -> f64 {
        self.high - self.low
    }

    /// 0 at the low end, 1 at the high end.
    pub fn fraction(self, value: f64) -> f64 {
        (self.scale.place(value) - self.low) / self.length()
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Tick {
    pub value: f64,
    /// Empty for a line that only divides.
    pub label: String,
}

/// Round numbers, at most `most` of them with a label.
pub fn ticks(range: Range, most: usize) -> Vec<Tick> {
    match range.scale {
        Scale::Linear => even_ticks(range, most),
        Scale::Logarithmic => decades(range, most),
        Scale::Degrees => angles(range, most),
    }
}

/// Powers of ten, with the numbers between them where there is room.
fn decades(range: Range, most: usize) -> Vec<Tick> {
    if range.length() < 1.2 {
        let values = Range { low: 10f64.powf(range.low), high: 10f64.powf(range.high), scale: Scale::Linear };
        return even_ticks(values, most);
    }
    let step = (range.length() / most.max(1) as f64).ceil().max(1.0);
    let divided = step == 1.0 && range.length() <= 8.0;
    let mut found = Vec::new();
    let first = (range.low - 1e-6).floor();
    let count = (range.length() + 2.0).min(700.0) as usize;
    for k in 0..=count {
        let exponent = first + k as f64;
        let power = 10f64.powf(exponent);
        if exponent.rem_euclid(step) == 0.0 {
            found.push(Tick { value: power, label: label(power, power, power) });
        }
        if divided {
            found.extend((2..10).map(|factor| Tick { value: f64::from(factor) * power, label: String::new() }));
        }
    }
    found.retain(|tick| (-1e-6..=1.0 + 1e-6).contains(&range.fraction(tick.value)));
    found
}

/// Parts of a full turn.
fn angles(range: Range, most: usize) -> Vec<Tick> {
    let rough = range.length() / most.max(1) as f64;
    let Some(step) = [15.0, 30.0, 45.0, 90.0, 180.0, 360.0, 720.0].into_iter().find(|&step| step >= rough) else {
        return even_ticks(range, most);
    };
    if rough < 6.0 {
        return even_ticks(range, most);
    }
    let (first, last) = ((range.low / step - 1e-6).ceil() as i64, (range.high / step + 1e-6).floor() as i64);
    (first..=last).map(|k| k as f64 * step).map(|value| Tick { value, label: format!("{value}") }).collect()
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn even_ticks(range: Range, most: usize) -> Vec<Tick> {
    let rough = range.length() / most.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    if !(power.is_finite() && power > 0.0) {
        return Vec::new();
    }
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|&step| step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    // The end of a range counts as a tick although division rounds.
    let (first, last) = ((range.low / step - 1e-6).ceil(), (range.high / step + 1e-6).floor());
    let count = ((last - first) as usize).min(100);
    let largest = range.low.abs().max(range.high.abs());
    (0..=count)
        .map(|i| {
            let value = (first + i as f64) * step;
            Tick { value, label: label(value, step, largest) }
        })
        .collect()
}

/// Just as many digits as the step needs; an exponent for the very large and the very small.
fn label(value: f64, step: f64, largest: f64) -> String {
    let digits = -step.log10().floor();
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-4..1e6).contains(&largest) {
        let text = format!("{value:.*}", digits.clamp(0.0, 12.0) as usize);
        return text.strip_suffix(".0").map(str::to_owned).unwrap_or(text);
    }
    let exponent = value.abs().log10().floor();
    let text = format!("{value:.*e}", (exponent + digits).clamp(0.0, 12.0) as usize);
    match text.split_once('e') {
        Some((mantissa, exponent)) if mantissa.contains('.') => {
            format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, most: usize) -> String {
        ticks(Range { low, high, scale: Scale::Linear }, most)
            .iter()
            .map(|tick| tick.label.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn round_numbers() {
        assert_eq!(labels(0.0, 1.0, 5), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(labels(-10.3, 10.2, 6), "-10 -5 0 5 10");
        assert_eq!(labels(0.0, 2.4e-6, 5), "0 5e-7 1e-6 1.5e-6 2e-6");
        assert_eq!(labels(0.0, 3e7, 3), "0 1e7 2e7 3e7");
        assert_eq!(labels(273.1, 273.4, 4), "273.1 273.2 273.3 273.4");
    }

    #[test]
    fn odd_ranges() {
        let of = |values: &[f64]| {
            let range = Range::of(values.iter().copied(), Scale::Linear);
            (range.low, range.high)
        };
        assert_eq!(of(&[]), (0.0, 1.0));
        assert_eq!(of(&[0.0]), (-1.0, 1.0));
        assert_eq!(of(&[5.0, f64::NAN]), (4.5, 5.5));
        for values in [vec![f64::MAX, f64::MIN], vec![f64::INFINITY], vec![5e-324, 0.0]] {
            let range = Range::of(values.into_iter(), Scale::Linear);
            assert!(range.length() > 0.0 && ticks(range, 5).len() <= 101);
        }
    }

    #[test]
    fn decades_and_angles() {
        let labels = |low: f64, high: f64, scale: Scale, most: usize| {
            let range = Range::of([low, high].into_iter(), scale);
            let found: Vec<String> = ticks(range, most).into_iter().map(|tick| tick.label).collect();
            found.into_iter().filter(|label| !label.is_empty()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(0.01, 1e3, Scale::Logarithmic, 10), "0.01 0.1 1 10 100 1000");
        assert_eq!(labels(1e-6, 1e8, Scale::Logarithmic, 5), "1e-6 0.001 1 1000 1e6");
        assert_eq!(labels(2.0, 5.0, Scale::Logarithmic, 5), "2 3 4 5");
        assert_eq!(labels(-270.0, 0.0, Scale::Degrees, 7), "-270 -225 -180 -135 -90 -45 0");
        assert_eq!(labels(-20.0, 20.0, Scale::Degrees, 7), "-20 -10 0 10 20");
        let range = Range::of([-1.0, 0.0, 1.0, 100.0].into_iter(), Scale::Logarithmic);
        assert_eq!((range.low, range.high), (0.0, 2.0));
        assert_eq!(ticks(range, 5).len(), 19);
    }
}
