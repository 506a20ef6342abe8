//! Random numbers that depend on their seed alone, on every computer and in every version: SplitMix64 (Steele, Lea and Flood 2014).

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Generator {
    state: u64,
}

impl Generator {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// All 64-bit numbers are equally likely.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// From 0 to below 1.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number below `count`, each equally likely (Lemire 2019, without the rejection that matters beyond 2³² numbers).
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.next_u64()) * count as u128) >> 64) as usize
    }
}

/// The mixing function of the generator: a bijection that changes half of the bits for each bit of its argument.
pub(crate) fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_that_of_the_paper() {
        // The first numbers of seed 1234567, as published with the reference implementation.
        let mut generator = Generator::new(1_234_567);
        let first = [generator.next_u64(), generator.next_u64(), generator.next_u64()];
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn moments_of_uniform_numbers() {
        let mut generator = Generator::new(5);
        let numbers: Vec<f64> = (0..100_000).map(|_| generator.uniform()).collect();
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let variance = numbers.iter().map(|x| (x - 0.5).powi(2)).sum::<f64>() / 1e5;
        // Five standard errors.
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0f64 / 1e5).sqrt(), "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 5.0 * (1.0 / 180.0f64 / 1e5).sqrt(), "{variance}");
        assert!((0..1000).all(|_| generator.below(3) < 3));
    }
}
