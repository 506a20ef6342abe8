//! What each parameter of a study changes: pairs of its value and of the quantity.

/// Into as many parts of equal size samples are sorted by the value of a parameter.
const PARTS: usize = 3;

/// Of a study in which one parameter moves at a time: the variants in which the parameter `k` does.
pub fn moved(variants: &[Vec<f64>], values: &[f64], k: usize) -> Vec<(f64, f64)> {
    let is_moved = |point: &Vec<f64>| point.iter().position(|value| !value.is_nan()) == Some(k);
    let found = variants.iter().zip(values).filter(|(point, value)| is_moved(point) && value.is_finite());
    found.map(|(point, &value)| (point[k], value)).collect()
}

/// Of a study in which all parameters move: the mean over all others at each level of the parameter `k`. Samples have few equal
/// values, so theirs are the means of the lower, the middle and the upper third of the values.
pub fn by_itself(variants: &[Vec<f64>], values: &[f64], k: usize, are_spread: bool) -> Vec<(f64, f64)> {
    let known = variants.iter().zip(values).filter(|(_, value)| value.is_finite());
    let mut pairs: Vec<(f64, f64)> = known.map(|(point, &value)| (point[k], value)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let levels: Vec<&[(f64, f64)]> = pairs.chunk_by(|a, b| a.0 == b.0).collect();
    let parts: Vec<&[(f64, f64)]> = match are_spread && levels.len() > PARTS && pairs.len() > PARTS {
        true => (0..PARTS).map(|part| &pairs[part * pairs.len() / PARTS..(part + 1) * pairs.len() / PARTS]).collect(),
        false => levels,
    };
    let middle =
        |part: &[(f64, f64)]| Some((mean(part.iter().map(|pair| pair.0))?, mean(part.iter().map(|pair| pair.1))?));
    parts.into_iter().filter_map(middle).collect()
}

/// The pairs with the lowest and with the highest quantity.
pub fn ends(pairs: &[(f64, f64)]) -> Option<((f64, f64), (f64, f64))> {
    let low = pairs.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let high = pairs.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((low, high))
}

/// The mean of the numbers that are finite.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0usize);
    for value in values.filter(|value| value.is_finite()) {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_over_the_others_of_a_grid() {
        let levels = [vec![1.0, 2.0, 3.0], vec![0.0, 10.0]];
        let variants = study::grid(&levels);
        let values: Vec<f64> = variants.iter().map(|point| point[0] * point[0] + point[1]).collect();
        assert_eq!(by_itself(&variants, &values, 0, false), [(1.0, 6.0), (2.0, 9.0), (3.0, 14.0)]);
        assert_eq!(ends(&by_itself(&variants, &values, 1, false)), Some(((0.0, 14.0 / 3.0), (10.0, 44.0 / 3.0))));
    }

    #[test]
    fn thirds_of_samples() {
        let variants: Vec<Vec<f64>> = (0..9).map(|k| vec![f64::from(k)]).collect();
        let mut values: Vec<f64> = (0..9).map(|k| f64::from(k) * 2.0).collect();
        assert_eq!(by_itself(&variants, &values, 0, true), [(1.0, 2.0), (4.0, 8.0), (7.0, 14.0)]);
        // What failed does not count.
        values[0] = f64::NAN;
        assert_eq!(mean(values.iter().copied()), Some(9.0));
        assert_eq!(moved(&[vec![f64::NAN], vec![5.0]], &[1.0, 2.0], 0), [(5.0, 2.0)]);
    }
}
