//! The explicit Runge–Kutta pair 5(4) of Tsitouras with its free fourth-order dense output, for problems that are not
//! stiff.
//!
//! Ch. Tsitouras, *Runge–Kutta pairs of order 5(4) satisfying only the first column simplifying assumption*, Computers
//! and Mathematics with Applications 62 (2011).

use crate::runge_kutta::{Formula, MAX_STAGES, RungeKutta};
use crate::vector::add_combination;
use crate::weights::norm;

/// The method of Tsitouras of order 5.
pub type Tsit5 = RungeKutta<Tsitouras>;

/// Its coefficients.
#[derive(Clone)]
pub struct Tsitouras;

/// Weights of the fifth-order solution less those of the fourth-order one.
const ERROR: [f64; 7] = [
    0.00178001105222577714,
    0.0008164344596567469,
    -0.007880878010261995,
    0.1447110071732629,
    -0.5823571654525552,
    0.45808210592918697,
    -1.0 / 66.0,
];

impl Formula for Tsitouras {
    const NAME: &'static str = "tsit5";
    const ORDER: usize = 5;
    const NODES: &'static [f64] = &[0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0];
    const ROWS: &'static [&'static [f64]] = &[
        &[],
        &[0.161],
        &[-0.008480655492356989, 0.335480655492357],
        &[2.8971530571054935, -6.359448489975075, 4.3622954328695815],
        &[5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525],
        &[5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383],
        &[0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774],
    ];
    const LAST: usize = 6;

    fn error(slopes: &[Vec<f64>], h: f64, weights: &[f64], scratch: &mut [f64]) -> f64 {
        scratch.fill(0.0);
        add_combination(scratch, h, &ERROR, slopes);
        norm(scratch, weights)
    }

    /// Steps at loose tolerances are long, and what they leave adds up the most.
    fn strictness(tolerance: f64) -> f64 {
        (tolerance / 1e-6).max(1.0).powf(0.16)
    }

    const DENSE_DEGREE: usize = 4;

    fn dense(s: f64, weights: &mut [f64; MAX_STAGES]) {
        let square = s * s;
        let values = [
            -1.0530884977290216 * s * (s - 1.3299890189751412) * (square - 1.4364028541716351 * s + 0.7139816917074209),
            0.1017 * square * (square - 2.1966568338249754 * s + 1.2949852507374631),
            2.490627285651252793 * square * (square - 2.38535645472061657 * s + 1.57803468208092486),
            -16.54810288924490272 * (s - 1.21712927295533244) * (s - 0.61620406037800089) * square,
            47.37952196281928122 * (s - 1.203071208372362603) * (s - 0.658047292653547382) * square,
            -34.87065786149660974 * (s - 1.2) * (s - 0.666666666666666667) * square,
            2.5 * (s - 1.0) * (s - 0.6) * square,
        ];
        weights[..7].copy_from_slice(&values);
    }
}
