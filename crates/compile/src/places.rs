//! Addresses of many numbers that mostly lie beside each other, such as those of states: they are copied and looked at in runs,
//! not one by one.

use crate::code::Address;

/// The addresses of numbers in their order.
#[derive(Clone, Debug, Default)]
pub struct Places {
    addresses: Vec<Address>,
    /// The same as runs of neighbours: the first address and how many. Empty where they are too short to gain anything.
    runs: Vec<(Address, u32)>,
}

/// Numbers in a run, on average, from which on a run is quicker than its numbers one by one.
const WORTH_A_RUN: usize = 4;

impl Places {
    pub fn new(addresses: Vec<Address>) -> Self {
        let mut runs: Vec<(Address, u32)> = Vec::new();
        for &address in &addresses {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == address => *count += 1,
                _ => runs.push((address, 1)),
            }
        }
        if runs.len() * WORTH_A_RUN > addresses.len() {
            runs = Vec::new();
        }
        Self { addresses, runs }
    }

    /// Copies the numbers from memory.
    pub fn read(&self, values: &[f64], out: &mut [f64]) {
        if self.runs.is_empty() || out.len() < self.addresses.len() {
            self.addresses.iter().zip(out).for_each(|(&address, out)| *out = values[address as usize]);
            return;
        }
        let mut rest = out;
        for &(first, count) in &self.runs {
            let (first, count) = (first as usize, count as usize);
            let (here, behind) = rest.split_at_mut(count);
            here.copy_from_slice(&values[first..first + count]);
            rest = behind;
        }
    }

    /// Copies numbers to memory.
    pub fn write(&self, values: &mut [f64], given: &[f64]) {
        if self.runs.is_empty() || given.len() < self.addresses.len() {
            self.addresses.iter().zip(given).for_each(|(&address, given)| values[address as usize] = *given);
            return;
        }
        let mut rest = given;
        for &(first, count) in &self.runs {
            let (first, count) = (first as usize, count as usize);
            let (here, behind) = rest.split_at(count);
            values[first..first + count].copy_from_slice(here);
            rest = behind;
        }
    }

    /// Whether all numbers in memory are finite.
    pub fn are_finite(&self, values: &[f64]) -> bool {
        if self.runs.is_empty() {
            // Zero times what is not finite is not zero; without an early end the loop has no branches.
            return self.addresses.iter().fold(0.0, |sum, &address| sum + 0.0 * values[address as usize]) == 0.0;
        }
        self.runs.iter().all(|&(first, count)| all_finite(&values[first as usize..(first + count) as usize]))
    }
}

/// Sums that do not wait for each other.
fn all_finite(values: &[f64]) -> bool {
    let mut sums = [0.0; 8];
    let parts = values.chunks_exact(8);
    let rest = parts.remainder().iter().fold(0.0, |sum, value| sum + 0.0 * value);
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += 0.0 * value);
    }
    rest == 0.0 && sums.iter().all(|&sum| sum == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_their_numbers() {
        let cases: [Vec<Address>; 5] = [
            vec![],
            vec![3, 9, 4],
            (5..30).collect(),
            (40..60).chain(2..22).chain([70]).collect(),
            (0..32).map(|k| 2 * k).collect(),
        ];
        for addresses in cases {
            let places = Places::new(addresses.clone());
            let values: Vec<f64> = (0..80).map(f64::from).collect();
            let expected: Vec<f64> = addresses.iter().map(|&address| f64::from(address)).collect();
            let mut read = vec![-1.0; addresses.len()];
            places.read(&values, &mut read);
            assert_eq!(read, expected);
            // A shorter place takes the first ones.
            let mut part = vec![-1.0; addresses.len() / 2];
            places.read(&values, &mut part);
            assert_eq!(part, expected[..part.len()]);
            let mut written = vec![0.0; 80];
            places.write(&mut written, &expected);
            let is_there = |k: usize| addresses.contains(&(k as Address));
            assert!((0..80).all(|k| written[k] == if is_there(k) { k as f64 } else { 0.0 }));
            for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                for k in 0..80 {
                    let mut values = values.clone();
                    values[k] = wrong;
                    assert_eq!(places.are_finite(&values), !is_there(k), "{k} of {addresses:?}");
                }
            }
        }
    }
}
