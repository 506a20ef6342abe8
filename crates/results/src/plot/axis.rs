//! Axes: a range that holds the data, and round numbers on it.

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// Exactly the finite values; never empty.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            return Self { low: 0.0, high: 1.0 };
        }
        // A range below the resolution of numbers cannot be divided into ticks.
        if high - low > 1e-12 * low.abs().max(high.abs()) && (high - low).is_finite() {
            return Self { low, high };
        }
        let half = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
        Self { low: (low - half).max(f64::MIN / 4.0), high: (high + half).min(f64::MAX / 4.0) }
    }

    /// With some air around the curves.
    pub fn padded(self) -> Self {
        let air = 0.04 * self.length();
        Self { low: self.low - air, high: self.high + air }
    }

    pub fn length(self) -> f64 {
        self.high - self.low
    }

    /// 0 at the low end, 1 at the high end.
    pub fn fraction(self, value: f64) -> f64 {
        (value - self.low) / self.length()
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Tick {
    pub value: f64,
    pub label: String,
}

/// Multiples of 1, 2 or 5 times a power of ten, at most `most` of them.
pub fn ticks(range: Range, most: usize) -> Vec<Tick> {
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
        ticks(Range { low, high }, most).iter().map(|tick| tick.label.as_str()).collect::<Vec<_>>().join(" ")
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
        assert_eq!(Range::of([].into_iter()), Range { low: 0.0, high: 1.0 });
        assert_eq!(Range::of([0.0].into_iter()), Range { low: -1.0, high: 1.0 });
        assert_eq!(Range::of([5.0, f64::NAN].into_iter()), Range { low: 4.5, high: 5.5 });
        for values in [vec![f64::MAX, f64::MIN], vec![f64::INFINITY], vec![5e-324, 0.0]] {
            let range = Range::of(values.into_iter());
            assert!(range.length() > 0.0 && ticks(range, 5).len() <= 101);
        }
    }
}
