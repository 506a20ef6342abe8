//! What one parameter of a study may be.

/// The values that a parameter may have, with their distribution.
#[derive(Clone, PartialEq, Debug)]
pub enum Factor {
    /// Every value between two ends, evenly.
    Linear {
        /// One end.
        low: f64,
        /// The other end.
        high: f64,
    },
    /// Every value between two positive ends, the logarithms evenly.
    Logarithmic {
        /// One end.
        low: f64,
        /// The other end.
        high: f64,
    },
    /// The normal distribution.
    Normal {
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
    /// Every whole number between two whole ends, all equally likely.
    Whole {
        /// One end.
        low: f64,
        /// The other end.
        high: f64,
    },
    /// One of these, all equally likely.
    List(Vec<f64>),
}

impl Factor {
    /// What is wrong with it.
    pub fn problem(&self) -> Option<&'static str> {
        match self {
            Self::Linear { low, high } if !(low.is_finite() && high.is_finite()) => {
                Some("its ends have to be finite numbers")
            }
            Self::Logarithmic { low, high } if !(low.is_finite() && high.is_finite() && *low > 0.0 && *high > 0.0) => {
                Some("the ends of a logarithmic range have to be greater than zero")
            }
            Self::Whole { low, high }
                if !(low.is_finite() && high.is_finite() && low.fract() == 0.0 && high.fract() == 0.0) =>
            {
                Some("its ends have to be whole numbers")
            }
            Self::Normal { mean, deviation } if !(mean.is_finite() && deviation.is_finite() && *deviation > 0.0) => {
                Some("a normal distribution needs a finite mean and a deviation greater than zero")
            }
            Self::List(values) if values.is_empty() => Some("its list is empty"),
            _ => None,
        }
    }

    /// The value below which a share of the distribution lies; the share is between 0 and 1.
    pub fn quantile(&self, share: f64) -> f64 {
        match self {
            Self::Linear { low, high } => between(*low, *high, share),
            Self::Logarithmic { low, high } => between(low.ln(), high.ln(), share).exp(),
            Self::Normal { mean, deviation } => mean + deviation * standard_normal_quantile(share),
            Self::Whole { low, high } => {
                let (least, count) = (low.min(*high), (high - low).abs() + 1.0);
                let place = (share * count).floor().min(count - 1.0);
                if low <= high { least + place } else { least + count - 1.0 - place }
            }
            Self::List(values) => {
                let index = (share * values.len() as f64) as usize;
                values.get(index).or(values.last()).copied().unwrap_or(f64::NAN)
            }
        }
    }

    /// Values from one end to the other, both included; of a normal distribution the middles of equally likely parts; a list as
    /// it is.
    pub fn levels(&self, count: usize) -> Vec<f64> {
        let ends = |place: fn(f64) -> f64, back: fn(f64) -> f64, low: f64, high: f64| {
            let level = |k: usize| match k {
                0 => low,
                _ if k + 1 == count => high,
                // In this order round ends have round levels.
                _ => back(place(low) + (place(high) - place(low)) * k as f64 / (count - 1) as f64),
            };
            (0..count).map(level).collect()
        };
        match self {
            Self::Linear { low, high } | Self::Whole { low, high } => ends(|x| x, |x| x, *low, *high),
            Self::Logarithmic { low, high } => ends(f64::ln, f64::exp, *low, *high),
            Self::Normal { .. } => (0..count).map(|k| self.quantile((k as f64 + 0.5) / count as f64)).collect(),
            Self::List(values) => values.clone(),
        }
    }
}

/// Exact at both ends.
fn between(low: f64, high: f64, share: f64) -> f64 {
    low * (1.0 - share) + high * share
}

/// The inverse of the standard normal distribution: the rational approximation of Acklam, made exact to rounding by one step of
/// Halley's method.
fn standard_normal_quantile(share: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] =
        [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416];
    let polynomial = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    // The last value before infinity, for the ends of a sample.
    let share = share.clamp(1e-16, 1.0 - 1e-16);
    let tail = |q: f64| polynomial(&C, q) / (polynomial(&D, q) * q + 1.0);
    let x = if share < 0.024_25 {
        tail((-2.0 * share.ln()).sqrt())
    } else if share > 1.0 - 0.024_25 {
        -tail((-2.0 * (1.0 - share).ln()).sqrt())
    } else {
        let q = share - 0.5;
        let r = q * q;
        polynomial(&A, r) * q / (polynomial(&B, r) * r + 1.0)
    };
    let error = normal_share(x) - share;
    let step = error * (2.0 * std::f64::consts::PI).sqrt() * (0.5 * x * x).exp();
    x - step / (1.0 + 0.5 * x * step)
}

/// The share of the standard normal distribution below a value, by the continued fraction of Mills' ratio in the tails and a series
/// in the middle (Abramowitz and Stegun 26.2.10, 26.2.14).
fn normal_share(x: f64) -> f64 {
    let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x.abs() > 4.0 {
        let ratio = (1..60).rev().fold(0.0, |rest, k| f64::from(k) / (x.abs() + rest));
        let tail = density / (x.abs() + ratio);
        return if x < 0.0 { tail } else { 1.0 - tail };
    }
    let (mut term, mut sum) = (x, x);
    for k in 1..120 {
        term *= x * x / f64::from(2 * k + 1);
        sum += term;
    }
    0.5 + density * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_reach_both_ends() {
        assert_eq!(Factor::Linear { low: 10.0, high: 100.0 }.levels(4), [10.0, 40.0, 70.0, 100.0]);
        let decades = Factor::Logarithmic { low: 1e-9, high: 1e-6 }.levels(4);
        for (found, expected) in decades.iter().zip([1e-9, 1e-8, 1e-7, 1e-6]) {
            assert!((found / expected - 1.0).abs() < 1e-13, "{found}");
        }
        assert_eq!((decades[0], decades[3]), (1e-9, 1e-6));
        assert_eq!(Factor::Linear { low: 3.0, high: 1.0 }.levels(3), [3.0, 2.0, 1.0]);
        assert_eq!(Factor::Linear { low: 3.0, high: 1.0 }.levels(1), [3.0]);
        assert_eq!(Factor::List(vec![1.0, 2.0, 5.0]).levels(9), [1.0, 2.0, 5.0]);
    }

    #[test]
    fn shares_become_values() {
        assert_eq!(Factor::Linear { low: 2.0, high: 6.0 }.quantile(0.25), 3.0);
        assert!((Factor::Logarithmic { low: 1.0, high: 100.0 }.quantile(0.5) - 10.0).abs() < 1e-12);
        let list = Factor::List(vec![7.0, 8.0]);
        assert_eq!([0.0, 0.49, 0.5, 1.0].map(|share| list.quantile(share)), [7.0, 7.0, 8.0, 8.0]);
    }

    #[test]
    fn whole_numbers_are_equally_likely() {
        let dice = Factor::Whole { low: 1.0, high: 6.0 };
        let mut counts = [0; 7];
        (0..600).for_each(|k| counts[dice.quantile((k as f64 + 0.5) / 600.0) as usize] += 1);
        assert_eq!(counts, [0, 100, 100, 100, 100, 100, 100]);
        assert_eq!((dice.quantile(0.0), dice.quantile(1.0)), (1.0, 6.0));
        assert_eq!(Factor::Whole { low: 3.0, high: -1.0 }.quantile(0.0), 3.0);
        assert_eq!(Factor::Whole { low: 3.0, high: -1.0 }.quantile(1.0), -1.0);
        assert!(Factor::Whole { low: 0.5, high: 2.0 }.problem().is_some());
    }

    #[test]
    fn quantiles_of_the_normal_distribution() {
        // Published tables.
        let known = [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.999, 3.090_232_306_167_813_5),
            (1e-6, -4.753_424_308_822_899),
        ];
        let normal = Factor::Normal { mean: 10.0, deviation: 2.0 };
        for (share, value) in known {
            let found = (normal.quantile(share) - 10.0) / 2.0;
            assert!((found - value).abs() < 1e-9, "{share}: {found} instead of {value}");
        }
        assert!(normal.quantile(0.0).is_finite() && normal.quantile(1.0).is_finite());
    }

    #[test]
    fn impossible_ranges_are_told() {
        assert!(Factor::Logarithmic { low: 0.0, high: 1.0 }.problem().is_some());
        assert!(Factor::Linear { low: f64::NAN, high: 1.0 }.problem().is_some());
        assert!(Factor::List(Vec::new()).problem().is_some());
        assert!(Factor::Normal { mean: 0.0, deviation: 0.0 }.problem().is_some());
        assert!(Factor::Linear { low: 1.0, high: 0.0 }.problem().is_none());
    }
}
