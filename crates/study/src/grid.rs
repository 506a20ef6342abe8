//! Designs made of levels: all combinations, and one factor moved at a time.

/// How many points a grid has; `None` where the number is too large to count.
pub fn grid_size(levels: &[Vec<f64>]) -> Option<usize> {
    levels.iter().try_fold(1usize, |size, levels| size.checked_mul(levels.len()))
}

/// All combinations of levels; the last factor changes from one point to the next.
pub fn grid(levels: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut points = vec![Vec::new()];
    for levels in levels {
        let extended = |point: &Vec<f64>| {
            let point = point.clone();
            levels.iter().map(move |&level| [point.as_slice(), &[level]].concat())
        };
        points = points.iter().flat_map(extended).collect();
    }
    points
}

/// First the base, then for each factor in turn a point for each of its levels, the others being those of the base.
pub fn one_at_a_time(base: &[f64], levels: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let moved = levels.iter().enumerate().flat_map(|(factor, levels)| {
        levels.iter().map(move |&level| {
            let mut point = base.to_vec();
            point[factor] = level;
            point
        })
    });
    std::iter::once(base.to_vec()).chain(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_in_order() {
        let levels = [vec![1.0, 2.0], vec![5.0], vec![7.0, 8.0]];
        assert_eq!(grid(&levels), [[1.0, 5.0, 7.0], [1.0, 5.0, 8.0], [2.0, 5.0, 7.0], [2.0, 5.0, 8.0]]);
        assert_eq!(grid_size(&levels), Some(4));
        assert_eq!(grid_size(&vec![vec![0.0; 1000]; 40]), None);
    }

    #[test]
    fn one_factor_moves() {
        let points = one_at_a_time(&[0.0, 0.0], &[vec![1.0, 2.0], vec![3.0]]);
        assert_eq!(points, [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 3.0]]);
    }
}
