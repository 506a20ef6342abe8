//! Linear combinations of many vectors, the work between the evaluations of a Runge–Kutta method.

/// More vectors than any method combines.
const MOST: usize = 16;

/// One component of a linear combination of vectors.
pub(crate) fn combined(coefficients: &[f64], vectors: &[Vec<f64>], component: usize) -> f64 {
    coefficients.iter().zip(vectors).map(|(c, v)| c * v[component]).sum()
}

/// `out += factor · Σ coefficients[j] · vectors[j]`, in as few passes over `out` as is quick. Zero coefficients cost nothing.
pub(crate) fn add_combination(out: &mut [f64], factor: f64, coefficients: &[f64], vectors: &[Vec<f64>]) {
    let given = coefficients.iter().zip(vectors).filter(|(c, _)| **c != 0.0).take(MOST);
    let mut terms = given.map(|(c, v)| (factor * c, &v[..]));
    loop {
        let group = (terms.next(), terms.next(), terms.next(), terms.next());
        match group {
            (Some((a, u)), Some((b, v)), Some((c, w)), Some((d, z))) => {
                for ((((o, u), v), w), z) in out.iter_mut().zip(u).zip(v).zip(w).zip(z) {
                    *o += (a * u + b * v) + (c * w + d * z);
                }
            }
            (Some((a, u)), Some((b, v)), Some((c, w)), None) => {
                for (((o, u), v), w) in out.iter_mut().zip(u).zip(v).zip(w) {
                    *o += (a * u + b * v) + c * w;
                }
                return;
            }
            (Some((a, u)), Some((b, v)), None, _) => {
                for ((o, u), v) in out.iter_mut().zip(u).zip(v) {
                    *o += a * u + b * v;
                }
                return;
            }
            (Some((a, u)), None, ..) => {
                for (o, u) in out.iter_mut().zip(u) {
                    *o += a * u;
                }
                return;
            }
            (None, ..) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_terms() {
        let vectors: Vec<Vec<f64>> = (0..9).map(|j| vec![f64::from(j), 1.0]).collect();
        for count in 0..=9 {
            let coefficients: Vec<f64> = (0..count).map(|j| f64::from(j % 3)).collect();
            let mut out = [100.0, 200.0];
            add_combination(&mut out, 2.0, &coefficients, &vectors);
            let sum: f64 = coefficients.iter().zip(0..).map(|(c, j)| c * f64::from(j)).sum();
            assert_eq!(out, [100.0 + 2.0 * sum, 200.0 + 2.0 * coefficients.iter().sum::<f64>()]);
        }
    }
}
