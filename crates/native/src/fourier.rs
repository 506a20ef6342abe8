//! The discrete Fourier transform of real signals (ModelicaFFT_*): J. W. Cooley, J. W. Tukey, *An Algorithm for the Machine
//! Calculation of Complex Fourier Series*, 1965, by the smallest factors of any length.

use std::f64::consts::TAU;

use dae::Value;

use crate::arguments::Arguments;

type Complex = (f64, f64);

fn multiply(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// `None` if the symbol is none of them.
pub fn call(arguments: &mut Arguments<'_>) -> Option<Result<Option<Value>, String>> {
    (arguments.symbol == "ModelicaFFT_kiss_fftr").then(|| real_transform(arguments))
}

/// Amplitudes and phases (with respect to the cosine) of the signal; the answer is 1 for a signal of odd length.
fn real_transform(arguments: &mut Arguments<'_>) -> Result<Option<Value>, String> {
    let signal = arguments.reals(0)?;
    if signal.is_empty() || signal.len() % 2 != 0 {
        return Ok(Some(Value::Integer(1)));
    }
    let spectrum = transform(&signal.iter().map(|&u| (u, 0.0)).collect::<Vec<_>>());
    let half = signal.len() / 2;
    // The function of the library divides by the number of frequencies, one more than half of the points; what it documents
    // as amplitudes is smaller than those of the signal by that much, in every tool.
    let frequencies = (half + 1) as f64;
    let amplitudes = spectrum[..=half].iter().map(|(re, im)| re.hypot(*im) / frequencies).collect();
    let phases = spectrum[..=half].iter().map(|(re, im)| im.atan2(*re)).collect();
    arguments.set_reals(4, amplitudes)?;
    arguments.set_reals(5, phases)?;
    Ok(Some(Value::Integer(0)))
}

/// The transform of a signal of any length.
fn transform(signal: &[Complex]) -> Vec<Complex> {
    let n = signal.len();
    let roots: Vec<Complex> = (0..n).map(|k| (-TAU * k as f64 / n as f64).sin_cos()).map(|(s, c)| (c, s)).collect();
    let mut out = vec![(0.0, 0.0); n];
    recurse(signal, 1, n, &roots, &mut out);
    out
}

/// The transform of every `stride`-th point. The depth is the number of prime factors.
fn recurse(signal: &[Complex], stride: usize, n: usize, roots: &[Complex], out: &mut [Complex]) {
    if n == 1 {
        out[0] = signal[0];
        return;
    }
    let factor = (2..).take_while(|f| f * f <= n).find(|f| n.is_multiple_of(*f)).unwrap_or(n);
    let part = n / factor;
    let mut parts = vec![(0.0, 0.0); n];
    for r in 0..factor {
        recurse(&signal[r * stride..], stride * factor, part, roots, &mut parts[r * part..(r + 1) * part]);
    }
    for (k, value) in out.iter_mut().enumerate().take(n) {
        *value = (0..factor).fold((0.0, 0.0), |sum, r| {
            let root = roots[(r * k * stride) % roots.len()];
            let term = multiply(parts[r * part + k % part], root);
            (sum.0 + term.0, sum.1 + term.1)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amplitudes_and_phases() {
        // 1.5·cos(2·2πt + 0.3) over one second with 60 points.
        let signal: Vec<f64> = (0..60).map(|k| 1.5 * (2.0 * TAU * f64::from(k) / 60.0 + 0.3).cos()).collect();
        let mut values = vec![
            Value::reals(signal),
            Value::Integer(60),
            Value::reals([]),
            Value::Integer(0),
            Value::reals(vec![0.0; 31]),
            Value::reals(vec![0.0; 31]),
        ];
        let symbol = "ModelicaFFT_kiss_fftr";
        let result = call(&mut Arguments { symbol, values: &mut values }).unwrap();
        assert_eq!(result, Ok(Some(Value::Integer(0))));
        let (amplitudes, phases) = (values[4].to_reals().unwrap(), values[5].to_reals().unwrap());
        for (k, amplitude) in amplitudes.iter().enumerate() {
            // 60 points have 31 frequencies.
            let expected = if k == 2 { 1.5 * 30.0 / 31.0 } else { 0.0 };
            assert!((amplitude - expected).abs() < 1e-12, "{k}: {amplitude}");
        }
        assert!((phases[2] - 0.3).abs() < 1e-12);
    }

    #[test]
    fn every_length_is_the_definition() {
        for n in [1usize, 2, 3, 7, 12, 30, 49, 64] {
            let signal: Vec<Complex> = (0..n).map(|k| ((k * k % 7) as f64, (k % 3) as f64)).collect();
            let fast = transform(&signal);
            for (k, value) in fast.iter().enumerate() {
                let slow = (0..n).fold((0.0, 0.0), |sum, j| {
                    let (s, c) = (-TAU * (j * k) as f64 / n as f64).sin_cos();
                    let term = multiply(signal[j], (c, s));
                    (sum.0 + term.0, sum.1 + term.1)
                });
                assert!((value.0 - slow.0).hypot(value.1 - slow.1) < 1e-10, "{n} {k}");
            }
        }
    }
}
