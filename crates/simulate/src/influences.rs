//! What states make of each other, by the Jacobian of their slopes: which act on which, how fast, and what grows.

use solve::{LinearSolver, Pattern};

/// Powers of e by which a motion has to grow during a run to be looked at.
const LEAST_GROWTH: f64 = 3.0;
/// Growth by a power of the Cayley transform that is no transient.
const CERTAIN: f64 = 0.05;
/// The part of a state in a direction that counts.
const PART: f64 = 1e-9;

/// What states make of each other, by the Jacobian of their slopes.
pub struct Influences<'a> {
    pub pattern: &'a Pattern,
    pub values: &'a [f64],
}

impl Influences<'_> {
    /// Calls back for each influence with row, column and its value.
    pub fn each(&self, mut call: impl FnMut(usize, usize, f64)) {
        for column in 0..self.pattern.columns {
            let values = &self.values[self.pattern.starts[column]..];
            for (&row, &value) in self.pattern.column(column).iter().zip(values) {
                call(row as usize, column, value);
            }
        }
    }

    /// The states on which no other one acts and which decay by themselves: nothing grows in them.
    pub fn decaying(&self) -> Vec<bool> {
        let mut decaying = vec![false; self.pattern.rows];
        let mut driven = vec![false; self.pattern.rows];
        self.each(|row, column, value| {
            decaying[row] |= row == column && value < 0.0;
            driven[row] |= row != column && value != 0.0;
        });
        decaying.iter().zip(&driven).map(|(decays, driven)| *decays && !driven).collect()
    }

    /// How fast each state decays by itself.
    pub fn damping(&self) -> Vec<f64> {
        let mut damping: Vec<f64> = vec![0.0; self.pattern.rows];
        self.each(|row, column, value| {
            if row == column {
                damping[row] = (-value).max(0.0);
            }
        });
        damping
    }

    /// How far the states move in one implicit step of Euler's method.
    pub fn displacement(&self, slopes: &[f64], step: f64) -> Option<Vec<f64>> {
        let mut factors = self.implicit_step(step)?;
        let mut moved: Vec<f64> = slopes.iter().map(|slope| step * slope).collect();
        factors.solve(&mut moved);
        Some(moved)
    }

    /// The factors of I − hJ.
    fn implicit_step(&self, time: f64) -> Option<LinearSolver> {
        let pattern = self.pattern.with_diagonal();
        let mut matrix = vec![0.0; pattern.entries()];
        let at = |row, column| pattern.position(row, column);
        self.each(|row, column, value| at(row, column).into_iter().for_each(|at| matrix[at] -= time * value));
        (0..pattern.rows).filter_map(|row| at(row, row)).for_each(|at| matrix[at] += 1.0);
        let mut factors = LinearSolver::new(pattern.rows, Some(&pattern)).ok()?;
        factors.factor(&matrix).ok()?;
        Some(factors)
    }

    /// The states that act on those given, by way of others too, and these themselves.
    pub fn acting_on(&self, given: &[bool]) -> Vec<bool> {
        let mut near = given.to_vec();
        let mut pending: Vec<usize> = (0..given.len()).filter(|&place| given[place]).collect();
        let mut causes = vec![Vec::new(); given.len()];
        self.each(|row, column, _| causes[row].push(column));
        while let Some(place) = pending.pop() {
            for &cause in &causes[place] {
                if !std::mem::replace(&mut near[cause], true) {
                    pending.push(cause);
                }
            }
        }
        near
    }

    /// The sizes of what the states given make of the slopes.
    pub fn multiply(&self, vector: &[f64], product: &mut [f64]) {
        product.fill(0.0);
        self.each(|row, column, value| product[row] += value.abs() * vector[column]);
    }

    /// A bound for the rate at which some states change by each other, whatever their units.
    pub fn fastest_rate(&self, of: &[bool]) -> f64 {
        const ITERATIONS: i32 = 40;
        let mut vector: Vec<f64> = of.iter().map(|&of| if of { 1.0 } else { 0.0 }).collect();
        let mut product = vec![0.0; of.len()];
        let mut growth = 0.0;
        for _ in 0..ITERATIONS {
            self.multiply(&vector, &mut product);
            product.iter_mut().zip(of).filter(|(_, of)| !**of).for_each(|(product, _)| *product = 0.0);
            let length = product.iter().copied().fold(0.0, f64::max);
            if !(length > 0.0 && length.is_finite()) {
                return 0.0;
            }
            growth += length.ln();
            vector.iter_mut().zip(&product).for_each(|(v, p)| *v = p / length);
        }
        (growth / f64::from(ITERATIONS)).exp()
    }

    /// Each state is as large as what any other one makes of it in the time given.
    pub fn spread(&self, mut sizes: Vec<f64>, time: f64) -> Vec<f64> {
        // What has not changed makes nothing new of the others.
        let mut changed: Vec<(usize, f64)> = sizes.iter().copied().enumerate().collect();
        let mut is_changed = vec![false; sizes.len()];
        for _ in 0..sizes.len() {
            for (column, size) in changed.drain(..) {
                let values = &self.values[self.pattern.starts[column]..];
                for (&row, value) in self.pattern.column(column).iter().zip(values) {
                    let (row, made) = (row as usize, (time * value.abs() * size).min(1.0));
                    if made > 1.01 * sizes[row] {
                        sizes[row] = made;
                        is_changed[row] = true;
                    }
                }
            }
            for (place, is_changed) in is_changed.iter_mut().enumerate() {
                if std::mem::take(is_changed) {
                    changed.push((place, sizes[place]));
                }
            }
            if changed.is_empty() {
                break;
            }
        }
        sizes
    }

    /// The states of a small group on which nothing else acts: their slopes are what they make of each other, so that
    /// they vanish with them. `sure` says how exact that has to be for each.
    pub fn closed_group(
        &self,
        x: &[f64],
        slopes: &[f64],
        mut group: Vec<bool>,
        sure: impl Fn(usize) -> f64,
    ) -> Vec<bool> {
        let (mut sums, mut terms) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        loop {
            sums.fill(0.0);
            terms.fill(0.0);
            self.each(|row, column, value| {
                if group[column] {
                    sums[row] += value * x[column];
                    terms[row] += (value * x[column]).abs();
                }
            });
            let is_driven = |place: usize| (slopes[place] - sums[place]).abs() > sure(place) * terms[place];
            let driven: Vec<usize> = (0..x.len()).filter(|&place| group[place] && is_driven(place)).collect();
            if driven.is_empty() {
                return group;
            }
            driven.into_iter().for_each(|place| group[place] = false);
        }
    }

    /// The states that take part in motions that grow by themselves, by a factor that counts during `span`; the fastest
    /// motion changes at `rate`.
    ///
    /// The Cayley transform (I − hJ)⁻¹(I + hJ) is larger than 1 in just those directions that grow, most of all where
    /// h is the time in which they do. Powers of it show them.
    pub fn growing(&self, span: f64, rate: f64) -> Vec<bool> {
        /// Between the times h that are tried.
        const APART: f64 = 8.0;
        let mut growing = vec![false; self.pattern.rows];
        // For 1/h itself the transform has no value.
        let mut time = 0.7 / rate;
        while time < span / LEAST_GROWTH {
            if let Some(found) = self.growing_direction(time, span) {
                growing.iter_mut().zip(found).for_each(|(growing, found)| *growing |= found);
            }
            time *= APART;
        }
        // What only adds up, as a meter of energy does, grows by others: nothing comes of where it begins.
        let loops = self.on_loops(&growing);
        growing.iter_mut().zip(loops).for_each(|(growing, loops)| *growing &= loops);
        growing
    }

    /// Which of the states given act on themselves, if only by way of others.
    fn on_loops(&self, of: &[bool]) -> Vec<bool> {
        let mut effects = vec![Vec::new(); of.len()];
        self.each(|row, column, value| {
            if value != 0.0 {
                effects[column].push(row);
            }
        });
        let returns = |start: usize| {
            let mut seen = vec![false; of.len()];
            let mut pending = vec![start];
            while let Some(place) = pending.pop() {
                for &effect in &effects[place] {
                    if !std::mem::replace(&mut seen[effect], true) {
                        pending.push(effect);
                    }
                }
            }
            seen[start]
        };
        (0..of.len()).map(|place| of[place] && returns(place)).collect()
    }

    /// The states in the direction that grows most by powers of the Cayley transform, where it grows enough. What is left of the start
    /// in states that only decay slowly is large, too, but does not grow.
    fn growing_direction(&self, time: f64, span: f64) -> Option<Vec<bool>> {
        /// Enough for a direction to stand out; what others do at first does not count. Two halves show what grows, also where
        /// it oscillates.
        const ITERATIONS: u32 = 60;
        const SETTLED: u32 = 20;
        const HALF: u32 = (ITERATIONS - SETTLED) / 2;
        let mut factors = self.implicit_step(time)?;
        // A start without symmetry, so that no direction is missing.
        let mut direction: Vec<f64> = (0..self.pattern.rows).map(|row| 1.0 + (1.7 * row as f64).sin() / 2.0).collect();
        let mut next = direction.clone();
        let mut growth = 0.0;
        let mut largest = [vec![0.0_f64; direction.len()], vec![0.0; direction.len()]];
        for iteration in 0..ITERATIONS {
            next.copy_from_slice(&direction);
            self.each(|row, column, value| next[row] += time * value * direction[column]);
            factors.solve(&mut next);
            let length = next.iter().fold(0.0, |length: f64, part| length.max(part.abs()));
            if !(length > 0.0 && length.is_finite()) {
                return None;
            }
            direction.iter_mut().zip(&next).for_each(|(to, from)| *to = from / length);
            if iteration >= SETTLED {
                growth += length.ln();
                let half = usize::from(iteration >= SETTLED + HALF);
                largest[half].iter_mut().zip(&direction).for_each(|(largest, part)| *largest = largest.max(part.abs()));
            }
        }
        growth /= f64::from(ITERATIONS - SETTLED);
        if growth <= CERTAIN || growth * span <= 2.0 * time * LEAST_GROWTH {
            return None;
        }
        // Beside the direction as a whole, which grew all the time. A part that grows more slowly than others grows, too.
        let least = ((0.5 * CERTAIN - growth) * f64::from(HALF)).exp();
        let takes_part = |(before, after): (&f64, &f64)| *after > PART && *after > least * before;
        Some(largest[0].iter().zip(&largest[1]).map(takes_part).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x' = y, y' = x, and z' = −z/1000 + 1e-14·x, which is as good as alone.
    #[test]
    fn what_decays_slowly_takes_no_part_in_what_grows() {
        let pattern = Pattern::from_entries(3, 3, [(0, 1), (1, 0), (0, 2), (2, 0), (2, 2)]);
        let value = |i: u32, j: usize| match (i, j) {
            (0, 1) | (1, 0) => 1.0,
            (2, 2) => -1e-3,
            _ => 1e-14,
        };
        let values: Vec<f64> = (0..3).flat_map(|j| pattern.column(j).iter().map(move |&i| value(i, j))).collect();
        let influences = Influences { pattern: &pattern, values: &values };
        assert_eq!(influences.growing(100.0, 1.0), [true, true, false]);
    }

    /// x[k+1]' = 2·x[k], and back from the end to the beginning: from 1e-6 on each state is twice as large as the one before.
    #[test]
    fn sizes_spread_along_a_ring_up_to_one() {
        let count = 30;
        let pattern = Pattern::from_entries(count, count, (0..count).map(|k| ((k + 1) % count, k)));
        let values = vec![2.0; count];
        let influences = Influences { pattern: &pattern, values: &values };
        let mut begin = vec![0.0; count];
        begin[0] = 1e-6;
        let sizes = influences.spread(begin, 1.0);
        // The last one is as large as one, and so is what it makes of the first. Then it has gone once round.
        assert_eq!(sizes[0], 1.0);
        assert!((1..count).all(|k| sizes[k] == (1e-6 * 2.0f64.powi(k as i32)).min(1.0)), "{sizes:?}");
        let mut begin = vec![0.0; count];
        begin[0] = 1e-12;
        let sizes = influences.spread(begin, 0.5);
        assert!(sizes.iter().all(|size| *size == 1e-12), "{sizes:?}");
        let mut begin = vec![0.0; count];
        begin[29] = 1.0;
        let sizes = influences.spread(begin, 0.25);
        assert!((0..29).all(|k| sizes[k] == 0.5f64.powi(k as i32 + 1)), "{sizes:?}");
    }

    #[test]
    fn a_meter_of_what_grows_takes_no_part_in_it() {
        // x' = y, y' = x; e' = x + y; z' = −z.
        let entries = [(0, 1), (1, 0), (2, 0), (2, 1), (3, 3)];
        let pattern = Pattern::from_entries(4, 4, entries);
        let values: Vec<f64> = (0..4)
            .flat_map(|j| pattern.column(j).iter().map(move |&i| if (i, j) == (3, 3) { -1.0 } else { 1.0 }))
            .collect();
        let influences = Influences { pattern: &pattern, values: &values };
        assert_eq!(influences.growing(100.0, 1.0), [true, true, false, false]);
        assert_eq!(influences.growing(2.0, 1.0), [false; 4]);
    }
}
