//! Rounding errors that turned out to be what corrections were made of, so that the same ones end later solves at once.
//!
//! A correction is the inverse of the Jacobian times rounding errors of residuals, so what was noise at one point is none at
//! another where the unknowns are smaller or the residuals larger: 1e-4 is noise beside 1e5 where a function is flat, and an
//! error beside 1e-2 where it is steep.

/// After so many solves noise says nothing any more.
const OLD: u32 = 50;
/// Rounding errors of a residual, relative to its terms.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// How much larger than those that were seen rounding errors may be.
const MARGIN: f64 = 4.0;

#[derive(Clone)]
pub(super) struct Noise {
    /// Corrections of an unknown up to this size were noise.
    pub floor: Vec<f64>,
    /// With residuals up to this size.
    residuals: Vec<f64>,
    /// And unknowns of these sizes.
    sizes: Vec<f64>,
    is_known: bool,
    /// In solves.
    age: u32,
}

impl Noise {
    pub fn new(size: usize) -> Self {
        let zeros = || vec![0.0; size];
        Noise { floor: zeros(), residuals: zeros(), sizes: zeros(), is_known: false, age: 0 }
    }

    pub fn forget(&mut self) {
        if std::mem::take(&mut self.is_known) {
            self.floor.fill(0.0);
            self.residuals.fill(0.0);
            self.sizes.fill(0.0);
        }
    }

    /// Counts a solve; whether what is known was forgotten.
    pub fn grow_old(&mut self) -> bool {
        self.age += 1;
        let is_old = self.age > OLD;
        if is_old {
            self.age = 0;
            self.forget();
        }
        is_old
    }

    /// Takes note of corrections that are noise, at a point with these residuals and terms in them.
    pub fn note(&mut self, x: &[f64], r: &[f64], terms: &[f64], corrections: impl Iterator<Item = (usize, f64)>) {
        self.is_known = true;
        for (j, correction) in corrections {
            self.floor[j] = self.floor[j].max(MARGIN * correction.abs());
        }
        for ((seen, r), terms) in self.residuals.iter_mut().zip(r).zip(terms) {
            *seen = seen.max(MARGIN * r.abs()).max(ROUNDING * terms);
        }
        self.sizes.iter_mut().zip(x).for_each(|(size, x)| *size = size.max(x.abs()));
    }

    /// What fraction of the noise there is at a point: it shrinks with the unknowns, and with residuals that are larger there
    /// is none.
    pub fn share(&self, x: &[f64], r: &[f64]) -> f64 {
        if !self.is_known {
            return 0.0;
        }
        let sizes = x.iter().zip(&self.sizes).filter(|(_, size)| **size > 0.0);
        let share = sizes.fold(0.0f64, |most, (x, size)| most.max(x.abs() / size)).min(1.0);
        let is_noise = r.iter().zip(&self.residuals).all(|(r, seen)| r.abs() <= share * seen);
        if is_noise { share } else { 0.0 }
    }
}
