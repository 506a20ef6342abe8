//! How fast the fastest part of a solution dies away, from the Jacobian at one point: a power iteration for the eigenvalue
//! farthest from zero, judged by its Rayleigh quotient. Fast oscillation does not count: it has to be followed anyway.

use crate::ode::OdeProblem;

const ITERATIONS: usize = 10;

/// The rate of decay, zero where nothing fast decays; `None` without a sparse Jacobian.
pub fn fastest_decay(problem: &mut dyn OdeProblem, t: f64, x: &[f64]) -> Option<f64> {
    let pattern = problem.jacobian_pattern()?.clone();
    let mut values = vec![0.0; pattern.entries()];
    if !problem.jacobian(t, x, &mut values).ok()? {
        return None;
    }
    // Neighbours of opposite sign: diffusion takes such a pattern away first.
    let mut vector: Vec<f64> = (0..x.len()).map(|i| if i % 2 == 0 { 1.0 } else { -0.9 }).collect();
    let mut image = vec![0.0; x.len()];
    let mut rate = 0.0;
    for _ in 0..ITERATIONS {
        image.fill(0.0);
        let mut entries = values.iter();
        for (column, &factor) in vector.iter().enumerate() {
            for (&row, &entry) in pattern.column(column).iter().zip(&mut entries) {
                image[row as usize] += entry * factor;
            }
        }
        let square: f64 = vector.iter().map(|v| v * v).sum();
        let product: f64 = vector.iter().zip(&image).map(|(v, w)| v * w).sum();
        rate = -product / square;
        let length = image.iter().map(|w| w * w).sum::<f64>().sqrt();
        if !(length > 0.0 && length.is_finite()) {
            break;
        }
        vector.iter_mut().zip(&image).for_each(|(v, w)| *v = w / length);
    }
    Some(if rate.is_finite() { rate.max(0.0) } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EvalError;
    use crate::sparse::Pattern;

    /// `x' = J x` with a band of three diagonals.
    struct Band {
        pattern: Pattern,
        entry: fn(usize, usize) -> f64,
    }

    impl Band {
        fn new(n: usize, entry: fn(usize, usize) -> f64) -> Self {
            let near = |j: usize| (j.saturating_sub(1)..(j + 2).min(n)).map(move |i| (i, j));
            Band { pattern: Pattern::from_entries(n, n, (0..n).flat_map(near)), entry }
        }
    }

    impl OdeProblem for Band {
        fn size(&self) -> usize {
            self.pattern.columns
        }
        fn rhs(&mut self, _: f64, _: &[f64], _: &mut [f64]) -> Result<(), EvalError> {
            Ok(())
        }
        fn jacobian_pattern(&self) -> Option<&Pattern> {
            Some(&self.pattern)
        }
        fn jacobian(&mut self, _: f64, _: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
            let places = (0..self.pattern.columns).flat_map(|j| self.pattern.column(j).iter().map(move |&i| (i, j)));
            values.iter_mut().zip(places).for_each(|(value, (i, j))| *value = (self.entry)(i as usize, j));
            Ok(true)
        }
    }

    #[test]
    fn diffusion_decays_and_waves_do_not() {
        // The largest eigenvalue of the second difference is just below 4.
        let mut heat = Band::new(200, |i, j| if i == j { -2.0 } else { 1.0 });
        let rate = fastest_decay(&mut heat, 0.0, &[0.0; 200]).unwrap();
        assert!((3.5..4.0).contains(&rate), "{rate}");
        let mut wave = Band::new(200, |i, j| {
            if i == j {
                0.0
            } else if i > j {
                1.0
            } else {
                -1.0
            }
        });
        let rate = fastest_decay(&mut wave, 0.0, &[0.0; 200]).unwrap();
        assert!(rate < 0.1, "{rate}");
    }
}
