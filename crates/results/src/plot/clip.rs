//! Cuts curves at the edges of a panel (Liang and Barsky 1984): a curve that runs to infinity must not be drawn there.

/// Runs of points between 0 and 1 in both directions, from runs of any points.
pub fn clipped(runs: Vec<Vec<(f64, f64)>>) -> Vec<Vec<(f64, f64)>> {
    let inside = |point: &(f64, f64)| (0.0..=1.0).contains(&point.0) && (0.0..=1.0).contains(&point.1);
    if runs.iter().flatten().all(inside) {
        return runs;
    }
    let mut result: Vec<Vec<(f64, f64)>> = Vec::new();
    for run in runs {
        if let [only] = run.as_slice() {
            if inside(only) {
                result.push(run);
            }
            continue;
        }
        let mut part: Vec<(f64, f64)> = Vec::new();
        for pair in run.windows(2) {
            let Some((from, to)) = segment(pair[0], pair[1]) else { continue };
            if part.last() != Some(&from) {
                if !part.is_empty() {
                    result.push(std::mem::take(&mut part));
                }
                part.push(from);
            }
            part.push(to);
        }
        if !part.is_empty() {
            result.push(part);
        }
    }
    result
}

/// The part of a segment in the unit square.
fn segment(from: (f64, f64), to: (f64, f64)) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for (step, room) in [(-dx, from.0), (dx, 1.0 - from.0), (-dy, from.1), (dy, 1.0 - from.1)] {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if step < 0.0 {
            enter = enter.max(room / step);
        } else {
            leave = leave.min(room / step);
        }
    }
    let at = |t: f64| match t {
        0.0 => from,
        1.0 => to,
        _ => (from.0 + t * dx, from.1 + t * dy),
    };
    (enter <= leave).then(|| (at(enter), at(leave)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_leaves_and_comes_back() {
        let run = vec![(0.5, 0.5), (0.5, 1.5), (0.75, 1.5), (0.75, 0.5)];
        assert_eq!(clipped(vec![run]), [[(0.5, 0.5), (0.5, 1.0)], [(0.75, 1.0), (0.75, 0.5)]]);
        assert_eq!(clipped(vec![vec![(-1.0, -1.0), (2.0, 2.0)]]).len(), 1);
        assert!(clipped(vec![vec![(-1.0, 0.5), (-0.1, 3.0)], vec![(2.0, 0.0)]]).is_empty());
    }
}
