//! A result in memory: one time axis, one column of values a variable. Event instants appear twice.

use crate::Column;

/// A variable over time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trajectory {
    /// Aliases are expanded: `column.alias` is `None`.
    pub column: Column,
    /// One value for each row.
    pub values: Vec<f64>,
}

/// Which column of a file holds the time: the one that is called so, else the first.
pub(crate) fn time_column(names: &[String]) -> usize {
    let exact = names.iter().position(|name| name == "time");
    // `Time`, `time [s]`.
    let is_time = |name: &String| {
        let word = name.split([' ', '[', '(', '/']).next().unwrap_or_default();
        word.eq_ignore_ascii_case("time")
    };
    exact.or_else(|| names.iter().position(is_time)).unwrap_or(0)
}

/// A result as a whole.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trajectories {
    /// The time of each row.
    pub time: Vec<f64>,
    /// What time is called: `time`, or what a file that was read calls it.
    pub time_name: String,
    /// The variables.
    pub variables: Vec<Trajectory>,
}

impl Trajectories {
    /// The names of all variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|variable| variable.column.name.as_str())
    }

    /// The trajectory of a variable.
    pub fn get(&self, name: &str) -> Option<&Trajectory> {
        self.variables.iter().find(|variable| variable.column.name == name)
    }

    /// The value of a variable at a time, linear between rows; at an event the right limit. `None` outside the run.
    pub fn at(&self, name: &str, time: f64) -> Option<f64> {
        Some(interpolate(&self.time, &self.get(name)?.values, time)?.1)
    }

    /// The last value of a variable.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.get(name)?.values.last().copied()
    }
}

/// Left and right limit at a time; `None` outside of the rows.
pub(crate) fn interpolate(time: &[f64], values: &[f64], at: f64) -> Option<(f64, f64)> {
    let before = time.partition_point(|&t| t < at);
    let after = time.partition_point(|&t| t <= at);
    if before < after {
        return Some((*values.get(before)?, *values.get(after - 1)?));
    }
    let (left, right) = (before.checked_sub(1)?, before);
    let (t0, t1) = (*time.get(left)?, *time.get(right)?);
    let (y0, y1) = (*values.get(left)?, *values.get(right)?);
    let value = y0 + (y1 - y0) * ((at - t0) / (t1 - t0));
    Some((value, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_limits_at_an_event() {
        let (time, values) = ([0.0, 1.0, 1.0, 2.0], [0.0, 2.0, 5.0, 6.0]);
        assert_eq!(interpolate(&time, &values, 0.5), Some((1.0, 1.0)));
        assert_eq!(interpolate(&time, &values, 1.0), Some((2.0, 5.0)));
        assert_eq!(interpolate(&time, &values, 2.0), Some((6.0, 6.0)));
        assert_eq!(interpolate(&time, &values, 2.5), None);
        assert_eq!(interpolate(&time, &values, -0.5), None);
        assert_eq!(interpolate(&[], &[], 0.0), None);
    }
}
