//! Differentiated variables keep their left limits at an event: charge, flux and momentum do not change in no time. A
//! structure that computes such a variable from constraints knows nothing of that, so the values are compared.

use compile::Address;
use dae::VarId;

use crate::machine::Machine;

/// A difference that is larger, relative to the magnitudes that a variable has had, is none of rounding or of iterations
/// that ended early.
const SAME: f64 = 1e-7;
/// The part of the error that the integrator may make, the tolerance times the nominal value, that iterations may leave.
const NOISE: f64 = 1e-3;
/// Rounding errors relative to the largest value of the model, in units of that difference.
const ROUNDING: f64 = 1e-6;

/// Some variables and their values at the left of an instant.
#[derive(Clone, Default)]
pub struct Continuity {
    variables: Vec<VarId>,
    addresses: Vec<Address>,
    /// The largest magnitudes so far.
    sizes: Vec<f64>,
    /// Differences that are smaller are none, whatever the magnitudes.
    least: Vec<f64>,
    left: Vec<f64>,
}

/// A variable that is not what it was.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Broken {
    pub variable: VarId,
    pub from: f64,
    pub to: f64,
}

impl Continuity {
    pub fn new(machine: &Machine, variables: Vec<VarId>, tolerance: f64) -> Self {
        let layout = &machine.program.layout;
        let addresses: Vec<Address> = variables.iter().map(|&variable| layout.slot(variable)).collect();
        let least = variables.iter().map(|&variable| NOISE * tolerance * machine.nominal(variable)).collect();
        let (sizes, left) = (vec![0.0; variables.len()], vec![0.0; variables.len()]);
        Self { variables, addresses, sizes, least, left }
    }

    pub fn variables(&self) -> &[VarId] {
        &self.variables
    }

    /// Whether there is nothing to compare.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// Takes note of how large the values in memory are.
    pub fn note_sizes(&mut self, values: &[f64]) {
        for (&address, size) in self.addresses.iter().zip(&mut self.sizes) {
            *size = size.max(values[address as usize].abs());
        }
    }

    /// Takes note of the values in memory as those at the left.
    pub fn remember(&mut self, values: &[f64]) {
        for ((&address, left), size) in self.addresses.iter().zip(&mut self.left).zip(&mut self.sizes) {
            *left = values[address as usize];
            *size = size.max(left.abs());
        }
    }

    /// Whether the values at the left are the same as in another place.
    pub fn is_same(&self, other: &[f64]) -> bool {
        self.left.iter().zip(other).zip(&self.sizes).all(|((one, other), size)| (one - other).abs() <= SAME * size)
    }

    /// The values at the left.
    pub fn left(&self) -> &[f64] {
        &self.left
    }

    /// The variable whose value in memory is furthest from that at the left, where that is a jump. Of what is largest in the
    /// model rounding errors may be in everything.
    pub fn broken(&self, values: &[f64], largest: impl Fn(VarId) -> f64) -> Option<Broken> {
        let mut worst = (SAME, None);
        for (k, &address) in self.addresses.iter().enumerate() {
            let (from, to) = (self.left[k], values[address as usize]);
            if (from - to).abs() <= self.least[k] {
                continue;
            }
            let distance = (to - from).abs() / self.sizes[k].max(to.abs()).max(ROUNDING * largest(self.variables[k]));
            // What is not a number has no place to jump to; others say what is wrong with it.
            if distance > worst.0 {
                worst = (distance, Some(Broken { variable: self.variables[k], from, to }));
            }
        }
        worst.1
    }
}
