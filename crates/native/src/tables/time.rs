//! Tables over time: they start at an instant, may be shifted, and announce the instants at which they have corners or
//! jumps.
//!
//! A caller holds the next such instant, and its value before the event that is being handled. As long as both are equal
//! and the time has come, the event is not handled yet: then the table is continued from the left, so that the
//! integrator sees a smooth function up to the event.

use super::Matrix;
use super::basis::{Basis, Extrapolation, Jet, Smoothness, interval_of};
use super::univariate::{Table1, outside};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeEvents {
    Always,
    AtDiscontinuities,
    Never,
}

impl TimeEvents {
    /// From the ordinal of Modelica.Blocks.Types.TimeEvents.
    pub fn from_ordinal(ordinal: i64) -> Option<Self> {
        Some(match ordinal {
            1 => TimeEvents::Always,
            2 => TimeEvents::AtDiscontinuities,
            3 => TimeEvents::Never,
            _ => return None,
        })
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct TimeTable {
    table: Table1,
    start: f64,
    shift: f64,
    /// Abscissae that make events, without the shift, increasing.
    events: Vec<f64>,
    /// Instants closer than this are the same.
    tolerance: f64,
}

impl TimeTable {
    pub fn new(
        matrix: &Matrix,
        columns: &[i64],
        smoothness: Smoothness,
        extrapolation: Extrapolation,
        start: f64,
        shift: f64,
        events: TimeEvents,
    ) -> Result<Self, String> {
        let table = Table1::new(matrix, columns, smoothness, extrapolation)?;
        let events = match events {
            _ if smoothness.is_cubic() => Vec::new(),
            TimeEvents::Never => Vec::new(),
            TimeEvents::Always => {
                let mut points = table.abscissa.clone();
                points.dedup();
                points
            }
            TimeEvents::AtDiscontinuities => jumps(&table),
        };
        let size = table.minimum().abs().max(table.maximum().abs()).max(shift.abs());
        Ok(Self { table, start, shift, events, tolerance: 16.0 * f64::EPSILON * size })
    }

    pub fn minimum(&self) -> f64 {
        self.table.minimum()
    }

    pub fn maximum(&self) -> f64 {
        self.table.maximum()
    }

    /// The value and its first two derivatives at a time.
    pub fn at(&self, output: i64, time: f64, next_event: f64, previous_event: f64) -> Result<Jet, String> {
        let pending = next_event == previous_event && time >= next_event;
        if time < self.start || (pending && next_event == self.start && self.start > 0.0) {
            return Ok([0.0; 3]);
        }
        let column = self.table.column(output)?;
        let at = time - self.shift;
        if pending && let Some(basis) = self.before(next_event - self.shift, at) {
            return Ok(column.at(&basis));
        }
        let basis =
            Basis::find(&self.table.abscissa, self.snapped(at), self.table.smoothness, self.table.extrapolation);
        let basis = basis.ok_or_else(|| outside(at, self.minimum(), self.maximum()))?;
        Ok(column.at(&basis))
    }

    /// The interval that ends at an event, continued.
    fn before(&self, event: f64, at: f64) -> Option<Basis> {
        let grid = &self.table.abscissa;
        let (first, last) = (self.minimum(), self.maximum());
        if self.table.smoothness.is_cubic() || grid.len() < 2 {
            return None;
        }
        let offset = self.period_before(event);
        let (event, at) = (event - offset, at - offset);
        if event > last + self.tolerance {
            return None;
        }
        if event <= first {
            // The table begins there: what comes before it goes on.
            let Table1 { smoothness, extrapolation, .. } = self.table;
            let before = Basis::find(grid, first.next_down(), smoothness, extrapolation)?;
            let is_line = before.nodes[0] != before.nodes[1];
            return Some(if is_line { Basis::line(grid, 0, at) } else { before });
        }
        let end = grid.partition_point(|&x| x < event - self.tolerance);
        let interval = end.checked_sub(1)?.min(grid.len() - 2);
        Some(Basis::inside(grid, interval, at, self.table.smoothness))
    }

    /// The start of the period to which an instant is the end rather than the beginning.
    fn period_before(&self, at: f64) -> f64 {
        let (first, last) = (self.minimum(), self.maximum());
        let period = last - first;
        if self.table.extrapolation != Extrapolation::Periodic || period <= 0.0 {
            return 0.0;
        }
        (((at - first - self.tolerance) / period).ceil() - 1.0) * period
    }

    /// A time that rounding has put just before a point belongs to that point.
    fn snapped(&self, at: f64) -> f64 {
        let grid = &self.table.abscissa;
        if self.events.is_empty() || grid.len() < 2 {
            return at;
        }
        let (first, last) = (self.minimum(), self.maximum());
        let period = last - first;
        let offset = match self.table.extrapolation {
            Extrapolation::Periodic if period > 0.0 => ((at - first + self.tolerance) / period).floor() * period,
            _ => 0.0,
        };
        let inside = at - offset;
        if inside < first - self.tolerance || inside > last {
            return at;
        }
        let inside = inside.max(first);
        let next = grid[interval_of(grid, inside) + 1];
        if inside < next && next - inside <= self.tolerance { next } else { inside }
    }

    /// The first instant after `time` that makes an event; the largest number if there is none.
    pub fn next_event(&self, time: f64) -> f64 {
        if time < self.start {
            return self.start;
        }
        let at = time - self.shift + self.tolerance.max(16.0 * f64::EPSILON * time.abs());
        let (first, last) = (self.minimum(), self.maximum());
        let period = last - first;
        let offset = match self.table.extrapolation {
            Extrapolation::Periodic if period > 0.0 => ((at - first) / period).floor() * period,
            _ => 0.0,
        };
        let coming = self.events.iter().find(|&&event| event + offset > at).map(|&event| event + offset);
        let again = match self.table.extrapolation {
            // The first of the next period, which starts where this one ends.
            Extrapolation::Periodic if period > 0.0 => self.events.first().map(|&event| event + offset + period),
            _ => None,
        };
        coming.or(again).map_or(f64::MAX, |event| event + self.shift)
    }
}

/// Points that stand twice in the table, and the seam of a period whose ends differ.
fn jumps(table: &Table1) -> Vec<f64> {
    let grid = &table.abscissa;
    let mut points: Vec<f64> = grid.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    let differs = table.columns.iter().any(|column| column.values.first() != column.values.last());
    if table.extrapolation == Extrapolation::Periodic && differs {
        points.extend([table.minimum(), table.maximum()]);
        points.sort_by(f64::total_cmp);
    }
    points.dedup();
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in the documentation of CombiTimeTable.
    fn example(extrapolation: Extrapolation, events: TimeEvents) -> TimeTable {
        let values = vec![0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 2.0, 4.0, 3.0, 9.0, 4.0, 16.0];
        let matrix = Matrix { rows: 6, columns: 2, values };
        TimeTable::new(&matrix, &[2], Smoothness::Linear, extrapolation, 0.0, 0.0, events).unwrap()
    }

    fn value(table: &TimeTable, time: f64) -> f64 {
        table.at(1, time, table.next_event(time), -1.0).unwrap()[0]
    }

    #[test]
    fn the_documented_example() {
        let table = example(Extrapolation::Linear, TimeEvents::AtDiscontinuities);
        assert_eq!(table.at(1, 1.0, 1.0, 1.0).unwrap()[0], 0.0);
        assert_eq!(value(&table, 1.0), 1.0);
        assert_eq!(value(&table, 1.5), 2.5);
        assert_eq!(value(&table, 2.0), 4.0);
        assert_eq!(value(&table, 5.0), 23.0);
        assert_eq!(table.next_event(0.0), 1.0);
        assert_eq!(table.next_event(1.0), f64::MAX);
        let table = example(Extrapolation::Linear, TimeEvents::Always);
        let mut time = 0.0;
        let mut events = Vec::new();
        while time < 10.0 {
            time = table.next_event(time);
            events.push(time);
        }
        assert_eq!(events, [1.0, 2.0, 3.0, 4.0, f64::MAX]);
    }

    #[test]
    fn a_table_that_begins_with_a_step_is_continued_from_before_it() {
        let matrix = Matrix { rows: 3, columns: 2, values: vec![1.0, 0.0, 1.0, 5.0, 2.0, 7.0] };
        for extrapolation in [Extrapolation::Hold, Extrapolation::Linear] {
            let events = TimeEvents::AtDiscontinuities;
            let table = TimeTable::new(&matrix, &[2], Smoothness::Linear, extrapolation, 0.0, 0.0, events).unwrap();
            assert_eq!(table.at(1, 1.0, 1.0, 1.0).unwrap()[0], 0.0);
            assert_eq!(value(&table, 0.5), 0.0);
            assert_eq!(value(&table, 1.0), 5.0);
        }
    }

    #[test]
    fn an_event_that_is_pending_continues_the_left_side() {
        let table = example(Extrapolation::Linear, TimeEvents::Always);
        assert_eq!(table.at(1, 2.0, 2.0, 2.0).unwrap(), [4.0, 3.0, 0.0]);
        assert_eq!(table.at(1, 2.1, 2.0, 2.0).unwrap()[1], 3.0);
        assert_eq!(table.at(1, 2.0, 3.0, 2.0).unwrap(), [4.0, 5.0, 0.0]);
    }

    #[test]
    fn periods_repeat() {
        let table = example(Extrapolation::Periodic, TimeEvents::Always);
        assert_eq!(value(&table, 5.5), 2.5);
        assert_eq!(table.next_event(4.0), 5.0);
        assert_eq!(table.next_event(7.5), 8.0);
        assert_eq!(table.at(1, 8.0, 8.0, 8.0).unwrap()[0], 16.0);
        assert_eq!(value(&table, 8.0), 0.0);
        let table = example(Extrapolation::Periodic, TimeEvents::AtDiscontinuities);
        assert_eq!(table.next_event(1.0), 4.0);
        assert_eq!(table.next_event(4.0), 5.0);
    }

    #[test]
    fn start_and_shift() {
        let matrix = Matrix { rows: 2, columns: 2, values: vec![0.0, 1.0, 1.0, 2.0] };
        let table =
            TimeTable::new(&matrix, &[2], Smoothness::Linear, Extrapolation::Hold, 3.0, 3.0, TimeEvents::Always)
                .unwrap();
        assert_eq!(table.next_event(0.0), 3.0);
        assert_eq!(value(&table, 2.9), 0.0);
        assert_eq!(table.at(1, 3.0, 3.0, 3.0).unwrap()[0], 0.0);
        assert_eq!(value(&table, 3.0), 1.0);
        assert_eq!(value(&table, 3.5), 1.5);
        assert_eq!(table.next_event(3.0), 4.0);
    }

    #[test]
    fn rounding_does_not_repeat_an_event() {
        let values = (0..100).flat_map(|k| [f64::from(k) * 0.1, f64::from(k % 2)]).collect();
        let matrix = Matrix { rows: 100, columns: 2, values };
        let table =
            TimeTable::new(&matrix, &[2], Smoothness::Constant, Extrapolation::Hold, 0.0, 0.3, TimeEvents::Always)
                .unwrap();
        let scale = 3600.0;
        let (mut time, mut count) = (0.0, 0);
        while count < 1000 {
            let next = table.next_event(time / scale);
            if next > 1e9 {
                break;
            }
            time = next * scale;
            count += 1;
        }
        assert_eq!(count, 100);
    }
}
