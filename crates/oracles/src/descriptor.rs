//! An oracle for linear systems whose constraints change: `M·x' + D·x = f + Aᵀ·λ` with `A·x = e`, where A, e and f are
//! constant from one switching time to the next. At such a time M times the jump of x is what the constraints pass on,
//! `M·Δx = Aᵀ·Λ`, and the new constraints hold: charge and momentum are conserved. Dense algebra, small systems.

/// Rows of a matrix.
pub type Matrix = Vec<Vec<f64>>;

pub struct Descriptor {
    pub mass: Matrix,
    pub damping: Matrix,
}

/// What holds until a time.
#[derive(Clone)]
pub struct Phase {
    pub until: f64,
    pub rows: Matrix,
    pub right: Vec<f64>,
    pub force: Vec<f64>,
}

/// The solution at a time.
pub struct Point {
    pub time: f64,
    pub x: Vec<f64>,
}

/// How one-sided constraints share a jump: `A·x = e`, `B·x ≤ g`.
pub struct OneSided {
    pub rows: Matrix,
    pub right: Vec<f64>,
}

impl Descriptor {
    /// The values after a jump into constraints.
    pub fn jump(&self, x: &[f64], rows: &[Vec<f64>], right: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let wanted: Vec<f64> = rows.iter().zip(right).map(|(row, right)| right - dot(row, x)).collect();
        let (change, impulses) = self.saddle(&vec![0.0; x.len()], rows, &wanted)?;
        Some((x.iter().zip(&change).map(|(x, change)| x + change).collect(), impulses))
    }

    /// The same with one-sided constraints, of which any may take part: the one way in which none of them pulls and all hold.
    pub fn jump_one_sided(&self, x: &[f64], phase: &Phase, bounds: &OneSided) -> Option<Vec<f64>> {
        let count = bounds.rows.len();
        for subset in 0..1usize << count {
            let active: Vec<usize> = (0..count).filter(|k| subset >> k & 1 == 1).collect();
            let rows: Matrix =
                phase.rows.iter().cloned().chain(active.iter().map(|&k| bounds.rows[k].clone())).collect();
            let right: Vec<f64> = phase.right.iter().copied().chain(active.iter().map(|&k| bounds.right[k])).collect();
            let Some((after, impulses)) = self.jump(x, &rows, &right) else { continue };
            let pushes = impulses[phase.rows.len()..].iter().all(|&impulse| impulse <= 1e-12);
            let holds = bounds.rows.iter().zip(&bounds.right).all(|(row, right)| dot(row, &after) <= right + 1e-9);
            if pushes && holds {
                return Some(after);
            }
        }
        None
    }

    /// Goes through the phases: the middle and the end of each, and what the constraints of each phase passed on up to its
    /// end.
    pub fn run(&self, start: &[f64], phases: &[Phase]) -> Option<(Vec<Point>, Vec<Vec<f64>>)> {
        let (mut x, mut time) = (start.to_vec(), 0.0);
        let (mut points, mut passed) = (Vec::new(), Vec::new());
        for phase in phases {
            let (after, mut sums) = self.jump(&x, &phase.rows, &phase.right)?;
            x = after;
            for _ in 0..2 {
                let length = 0.5 * (phase.until - time).max(0.0);
                self.flow(&mut x, &mut sums, phase, length)?;
                points.push(Point {
                    time: if points.len() % 2 == 0 { time + length } else { phase.until },
                    x: x.clone(),
                });
            }
            time = phase.until;
            passed.push(sums);
        }
        Some((points, passed))
    }

    /// Follows the constrained motion (classical Runge-Kutta method, fine steps).
    fn flow(&self, x: &mut [f64], sums: &mut [f64], phase: &Phase, length: f64) -> Option<()> {
        const STEPS: usize = 400;
        let step = length / STEPS as f64;
        let still = vec![0.0; phase.rows.len()];
        let rate = |x: &[f64]| {
            let force: Vec<f64> =
                self.damping.iter().zip(&phase.force).map(|(row, force)| force - dot(row, x)).collect();
            self.saddle(&force, &phase.rows, &still)
        };
        let moved = |x: &[f64], slope: &[f64], step: f64| -> Vec<f64> {
            x.iter().zip(slope).map(|(x, slope)| x + step * slope).collect()
        };
        for _ in 0..STEPS {
            let (a, la) = rate(x)?;
            let (b, lb) = rate(&moved(x, &a, 0.5 * step))?;
            let (c, lc) = rate(&moved(x, &b, 0.5 * step))?;
            let (d, ld) = rate(&moved(x, &c, step))?;
            let add = |k: usize, [a, b, c, d]: [&Vec<f64>; 4]| step / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]);
            (0..x.len()).for_each(|k| x[k] += add(k, [&a, &b, &c, &d]));
            (0..sums.len()).for_each(|k| sums[k] += add(k, [&la, &lb, &lc, &ld]));
        }
        Some(())
    }

    /// Solves `M·z = f + Aᵀ·λ`, `A·z = g`.
    pub fn saddle(&self, force: &[f64], rows: &[Vec<f64>], right: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let (size, count) = (force.len(), rows.len());
        let mut matrix = vec![vec![0.0; size + count + 1]; size + count];
        for (k, row) in self.mass.iter().enumerate() {
            matrix[k][..size].copy_from_slice(row);
            matrix[k][size + count] = force[k];
        }
        for (k, row) in rows.iter().enumerate() {
            matrix[size + k][..size].copy_from_slice(row);
            matrix[size + k][size + count] = right[k];
            (0..size).for_each(|i| matrix[i][size + k] = -row[i]);
        }
        let mut solution = solve(matrix)?;
        let multipliers = solution.split_off(size);
        Some((solution, multipliers))
    }
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Gaussian elimination with pivoting; the last column is the right side.
fn solve(mut matrix: Matrix) -> Option<Vec<f64>> {
    let size = matrix.len();
    for column in 0..size {
        let pivot = (column..size).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-10 {
            return None;
        }
        matrix.swap(column, pivot);
        let own = matrix[column].clone();
        for (row, values) in matrix.iter_mut().enumerate().filter(|(row, _)| *row != column) {
            let factor = values[column] / own[column];
            if factor != 0.0 && row != column {
                values.iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    Some((0..size).map(|k| matrix[k][size] / matrix[k][k]).collect())
}
