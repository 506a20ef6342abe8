//! What is said about a trajectory, gathered row by row, and about many numbers.

/// Smallest, largest, mean and last value of a line through points of non-decreasing time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The last value.
    pub last: f64,
    /// Where the line began, and where it is.
    first_time: f64,
    last_time: f64,
    integral: f64,
    points: usize,
}

impl Default for Summary {
    fn default() -> Self {
        let none = f64::NAN;
        Self { min: none, max: none, last: none, first_time: none, last_time: none, integral: 0.0, points: 0 }
    }
}

impl Summary {
    /// The next point; at a jump two have the same time.
    pub fn add(&mut self, time: f64, value: f64) {
        if self.points == 0 {
            (self.min, self.max, self.first_time) = (value, value, time);
        } else {
            self.integral += 0.5 * (self.last + value) * (time - self.last_time);
        }
        // A value that is not finite must show.
        self.min = if value < self.min || value.is_nan() { value } else { self.min };
        self.max = if value > self.max || value.is_nan() { value } else { self.max };
        (self.last, self.last_time) = (value, time);
        self.points += 1;
    }

    /// The mean over time; of a single instant the last value.
    pub fn mean(&self) -> f64 {
        let span = self.last_time - self.first_time;
        if span > 0.0 { self.integral / span } else { self.last }
    }
}

/// The value below which a share of the values lies, linear between them (Hyndman and Fan 1996, type 7); those that are not finite do
/// not count. Not a number where there are none.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    sorted[below] * (1.0 - part) + sorted[(below + 1).min(last)] * part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_with_a_jump() {
        let mut summary = Summary::default();
        for (time, value) in [(1.0, 0.0), (2.0, 2.0), (2.0, -4.0), (4.0, -4.0)] {
            summary.add(time, value);
        }
        assert_eq!((summary.min, summary.max, summary.last), (-4.0, 2.0, -4.0));
        // (1·2/2 - 2·4)/3.
        assert!((summary.mean() + 7.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn one_point_and_none() {
        let mut summary = Summary::default();
        assert!(summary.mean().is_nan() && summary.max.is_nan());
        summary.add(0.0, 3.0);
        assert_eq!((summary.min, summary.max, summary.mean(), summary.last), (3.0, 3.0, 3.0, 3.0));
        summary.add(1.0, f64::NAN);
        assert!(summary.mean().is_nan() && summary.max.is_nan() && summary.min.is_nan());
    }

    #[test]
    fn quantiles_between_values() {
        let values = [4.0, 1.0, 3.0, f64::NAN, 2.0];
        assert_eq!([0.0, 0.5, 1.0].map(|share| quantile(&values, share)), [1.0, 2.5, 4.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
