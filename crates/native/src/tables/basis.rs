//! How a point in a grid of one dimension is made from values and slopes at the two ends of its interval: the cubic
//! Hermite basis, linear and constant segments, and what stands for them outside of the grid.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Smoothness {
    Linear,
    Akima,
    Constant,
    FritschButland,
    Steffen,
    ModifiedAkima,
}

impl Smoothness {
    /// From the ordinal of Modelica.Blocks.Types.Smoothness.
    pub fn from_ordinal(ordinal: i64) -> Option<Self> {
        Some(match ordinal {
            1 => Smoothness::Linear,
            2 => Smoothness::Akima,
            3 => Smoothness::Constant,
            4 => Smoothness::FritschButland,
            5 => Smoothness::Steffen,
            6 => Smoothness::ModifiedAkima,
            _ => return None,
        })
    }

    pub fn is_cubic(self) -> bool {
        !matches!(self, Smoothness::Linear | Smoothness::Constant)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extrapolation {
    Hold,
    /// By the derivative at the end, or through the last two points.
    Linear,
    Periodic,
    Never,
}

impl Extrapolation {
    /// From the ordinal of Modelica.Blocks.Types.Extrapolation.
    pub fn from_ordinal(ordinal: i64) -> Option<Self> {
        Some(match ordinal {
            1 => Extrapolation::Hold,
            2 => Extrapolation::Linear,
            3 => Extrapolation::Periodic,
            4 => Extrapolation::Never,
            _ => return None,
        })
    }
}

/// A number with its first and second derivative.
pub type Jet = [f64; 3];

/// The point is the sum over both ends of `value·(value there) + slope·(slope there)`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Basis {
    pub nodes: [usize; 2],
    pub value: [Jet; 2],
    pub slope: [Jet; 2],
}

const ZERO: Jet = [0.0; 3];
const ONE: Jet = [1.0, 0.0, 0.0];

impl Basis {
    /// Exactly the value at one node.
    pub fn node(node: usize) -> Self {
        Self { nodes: [node, node], value: [ONE, ZERO], slope: [ZERO; 2] }
    }

    /// The straight line through the ends of an interval, also beyond them.
    pub fn line(grid: &[f64], interval: usize, at: f64) -> Self {
        let (a, b) = (grid[interval], grid[interval + 1]);
        let width = b - a;
        if width <= 0.0 {
            return Self::node(interval + 1);
        }
        let t = (at - a) / width;
        Self {
            nodes: [interval, interval + 1],
            value: [[1.0 - t, -1.0 / width, 0.0], [t, 1.0 / width, 0.0]],
            slope: [ZERO; 2],
        }
    }

    fn cubic(grid: &[f64], interval: usize, at: f64) -> Self {
        let (a, b) = (grid[interval], grid[interval + 1]);
        let h = b - a;
        let t = (at - a) / h;
        let rising = [t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t) / h, (6.0 - 12.0 * t) / (h * h)];
        let left = [h * t * (1.0 - t) * (1.0 - t), (1.0 - t) * (1.0 - 3.0 * t), (6.0 * t - 4.0) / h];
        let right = [h * t * t * (t - 1.0), t * (3.0 * t - 2.0), (6.0 * t - 2.0) / h];
        Self {
            nodes: [interval, interval + 1],
            value: [[1.0 - rising[0], -rising[1], -rising[2]], rising],
            slope: [left, right],
        }
    }

    /// The tangent at a node.
    fn tangent(grid: &[f64], node: usize, at: f64) -> Self {
        Self { nodes: [node, node], value: [ONE, ZERO], slope: [[at - grid[node], 1.0, 0.0], ZERO] }
    }

    /// The basis inside of an interval.
    pub fn inside(grid: &[f64], interval: usize, at: f64, smoothness: Smoothness) -> Self {
        match smoothness {
            Smoothness::Constant => Self::node(interval),
            Smoothness::Linear => Self::line(grid, interval, at),
            _ => Self::cubic(grid, interval, at),
        }
    }

    /// The basis at any point of a grid that does not decrease; `None` if it is outside and that is not allowed.
    pub fn find(grid: &[f64], at: f64, smoothness: Smoothness, extrapolation: Extrapolation) -> Option<Self> {
        let last = grid.len().checked_sub(1)?;
        if last == 0 {
            return Some(Self::node(0));
        }
        let at = match extrapolation {
            Extrapolation::Periodic => wrapped(grid, at),
            _ => at,
        };
        let left = at < grid[0];
        if left || at > grid[last] {
            let (node, interval) = if left { (0, 0) } else { (last, last - 1) };
            return match extrapolation {
                Extrapolation::Hold => Some(Self::node(node)),
                Extrapolation::Never => None,
                _ if smoothness.is_cubic() => Some(Self::tangent(grid, node, at)),
                // Two points at one place have no line through them.
                _ if grid[interval] == grid[interval + 1] => Some(Self::node(node)),
                _ => Some(Self::line(grid, interval, at)),
            };
        }
        if at == grid[last] && smoothness == Smoothness::Constant {
            return Some(Self::node(last));
        }
        Some(Self::inside(grid, interval_of(grid, at), at, smoothness))
    }
}

/// The interval to the right of a point that is not outside of the grid.
pub fn interval_of(grid: &[f64], at: f64) -> usize {
    grid.partition_point(|&x| x <= at).saturating_sub(1).min(grid.len() - 2)
}

/// The point of the grid's first period with the same value.
pub fn wrapped(grid: &[f64], at: f64) -> f64 {
    let (first, last) = (grid[0], grid[grid.len() - 1]);
    let period = last - first;
    if period <= 0.0 || (first..=last).contains(&at) {
        return at;
    }
    (first + (at - first).rem_euclid(period)).clamp(first, last)
}
