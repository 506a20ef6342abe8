//! Random systems with known properties.
#![allow(clippy::unwrap_used)]

mod common;

use common::{companion, complex, distance, evaluate, modal, multiply, random, transformed};
use linear::{
    Complex, Excitation, Matrix, RANK_TOLERANCE, StateSpace, controllability, controllability_gramian, dual,
    frequency_response, frequency_response_at, hankel_singular_values, margins, minimal, modes, observability,
    observability_gramian, poles, root_locus, time_response, transfer_function, zeros,
};
use proptest::prelude::*;

/// Stable poles well apart from each other, of each pair the upper one.
fn separate_poles(count: usize, rng: &mut fastrand::Rng) -> Vec<Complex> {
    (0..count)
        .map(|k| {
            let size = (1.0 + k as f64) * (1.0 + 0.3 * rng.f64());
            if rng.bool() { complex(-size, 0.0) } else { Complex::from_polar(size, 1.7 + 1.2 * rng.f64()) }
        })
        .collect()
}

fn with_conjugates(upper: &[Complex]) -> Vec<Complex> {
    upper.iter().flat_map(|&root| if root.im == 0.0 { vec![root] } else { vec![root, root.conj()] }).collect()
}

fn random_system(poles: &[Complex], inputs: usize, outputs: usize, rng: &mut fastrand::Rng) -> StateSpace {
    let a = modal(poles);
    let n = a.rows();
    let matrices = [a, random(n, inputs, rng), random(outputs, n, rng), random(outputs, inputs, rng)];
    StateSpace::unnamed(matrices).unwrap()
}

fn close(left: &Matrix<Complex>, right: &Matrix<Complex>) -> f64 {
    let size = right.entries().iter().map(|value| value.norm()).fold(1e-3, f64::max);
    let errors = left.entries().iter().zip(right.entries()).map(|(x, y)| (x - y).norm());
    errors.fold(0.0, f64::max) / size
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn prescribed_poles_and_zeros_come_out(seed: u64, count in 1usize..5) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let upper = separate_poles(count, &mut rng);
        let wanted_poles = with_conjugates(&upper);
        let other: Vec<Complex> = separate_poles(count, &mut rng).iter().map(|zero| zero * 0.83 + 0.05).collect();
        let mut wanted_zeros = with_conjugates(&other);
        while wanted_zeros.len() > wanted_poles.len() {
            let last = wanted_zeros.pop();
            if last.is_some_and(|zero| zero.im != 0.0) {
                wanted_zeros.pop();
            }
        }
        let gain = 0.1 + 5.0 * rng.f64();
        let system = transformed(&companion(&wanted_zeros, &wanted_poles, gain), &mut rng);
        prop_assert!(distance(&poles(&system).unwrap(), &wanted_poles) < 1e-6);
        prop_assert!(distance(&zeros(&system, RANK_TOLERANCE).unwrap(), &wanted_zeros) < 1e-5);
        let function = transfer_function(&system, 0, 0, RANK_TOLERANCE).unwrap();
        prop_assert!((function.gain / gain - 1.0).abs() < 1e-6);
    }

    /// Entries of the direct feedthrough next to zero make zeros next to infinity.
    #[test]
    fn zeros_next_to_infinity_spoil_no_other(seed: u64, exponent in 3i32..11) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let far = complex(-10f64.powi(exponent), 0.0);
        let wanted = [complex(-1.0, 2.0), complex(-1.0, -2.0), far];
        let poles = [complex(-3.0, 0.0), complex(-2.0, 1.0), complex(-2.0, -1.0)];
        let system = transformed(&companion(&wanted, &poles, 1.0 / far.norm()), &mut rng);
        let found = zeros(&system, 1e-15).unwrap();
        prop_assert_eq!(found.len(), 3);
        for value in &wanted[..2] {
            prop_assert!(found.iter().any(|zero| (zero - value).norm() < 1e-8), "{found:?}");
        }
        prop_assert!((found[0] / far - 1.0).norm() < 1e-3, "{found:?}");
    }

    #[test]
    fn transfer_functions_equal_the_definition(seed: u64, count in 1usize..5, inputs in 1usize..3, outputs in 1usize..3) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let upper = separate_poles(count, &mut rng);
        let system = transformed(&random_system(&upper, inputs, outputs, &mut rng), &mut rng);
        let mut evaluator = linear::Evaluator::new(&system).unwrap();
        for _ in 0..3 {
            let s = complex(3.0 * rng.f64(), 6.0 * rng.f64());
            let expected = evaluate(&system, s);
            prop_assert!(close(&evaluator.at(s), &expected) < 1e-10);
            for output in 0..outputs {
                for input in 0..inputs {
                    let function = transfer_function(&system, output, input, RANK_TOLERANCE).unwrap();
                    let value = expected[(output, input)];
                    prop_assert!((function.evaluate(s) - value).norm() < 1e-6 * value.norm().max(0.01));
                    let horner = |list: &[f64]| list.iter().fold(Complex::ZERO, |sum, x| sum * s + *x);
                    let ratio = horner(&function.numerator()) / horner(&function.denominator());
                    prop_assert!((ratio - value).norm() < 1e-6 * value.norm().max(0.01));
                }
            }
        }
    }

    #[test]
    fn minimal_realisations_have_the_right_order(
        seed: u64, both in 1usize..4, no_input in 0usize..3, no_output in 0usize..3, inputs in 1usize..3,
    ) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let upper = separate_poles(both + no_input + no_output, &mut rng);
        let mut system = random_system(&upper, inputs, 2, &mut rng);
        let orders: Vec<usize> = upper.iter().map(|pole| if pole.im == 0.0 { 1 } else { 2 }).collect();
        let first = orders[..both].iter().sum::<usize>();
        let second = orders[both..both + no_input].iter().sum::<usize>();
        let n = system.order();
        for i in first..n {
            for j in 0..inputs {
                if i < first + second { system.b[(i, j)] = 0.0 }
            }
            for j in 0..2 {
                if i >= first + second { system.c[(j, i)] = 0.0 }
            }
        }
        let system = transformed(&system, &mut rng);
        let reach = controllability(&system, 1e-9).unwrap();
        prop_assert_eq!(reach.rank, n - second);
        let hidden: Vec<Complex> = reach.hidden.iter().map(|mode| mode.pole).collect();
        prop_assert!(distance(&with_conjugates(&hidden), &with_conjugates(&upper[both..both + no_input])) < 1e-6);
        prop_assert!(reach.hidden.iter().all(|mode| mode.distance < 1e-9));
        prop_assert_eq!(observability(&system, 1e-9).unwrap().rank, first + second);
        let small = minimal(&system, 1e-9).unwrap();
        prop_assert_eq!(small.order(), first);
        for _ in 0..3 {
            let s = complex(2.0 * rng.f64(), 5.0 * rng.f64());
            prop_assert!(close(&evaluate(&small, s), &evaluate(&system, s)) < 1e-7);
        }
        // Hidden modes of a square system are zeros as well.
        if inputs != 2 {
            return Ok(());
        }
        let decoupled = zeros(&system, 1e-9).unwrap();
        for pole in &upper[both..] {
            prop_assert!(decoupled.iter().any(|zero| (zero - pole).norm() < 1e-4 * pole.norm()), "{pole} {decoupled:?}");
        }
    }

    #[test]
    fn similarity_transforms_change_nothing(seed: u64, count in 1usize..5) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let upper = separate_poles(count, &mut rng);
        let system = random_system(&upper, 2, 2, &mut rng);
        let other = transformed(&system, &mut rng);
        prop_assert!(distance(&poles(&system).unwrap(), &poles(&other).unwrap()) < 1e-8);
        prop_assert!(distance(&zeros(&system, RANK_TOLERANCE).unwrap(), &zeros(&other, RANK_TOLERANCE).unwrap()) < 1e-5);
        let (left, right) = (hankel_singular_values(&system).unwrap(), hankel_singular_values(&other).unwrap());
        for (x, y) in left.iter().zip(&right) {
            prop_assert!((x - y).abs() < 1e-7 * left[0], "{left:?} {right:?}");
        }
        let frequencies = [0.1, 1.0, 10.0];
        let left = frequency_response_at(&system, &frequencies).unwrap();
        let right = frequency_response_at(&other, &frequencies).unwrap();
        for (x, y) in left.values.iter().zip(&right.values) {
            prop_assert!(close(x, y) < 1e-9);
        }
        let left = time_response(&system, Excitation::Step, Some(3.0)).unwrap();
        let right = time_response(&other, Excitation::Step, Some(3.0)).unwrap();
        for (x, y) in left.curve(1, 1).iter().zip(right.curve(1, 1)) {
            prop_assert!((x - y).abs() < 1e-8);
        }
    }

    #[test]
    fn units_of_states_change_no_participation(seed: u64, count in 1usize..5) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let upper = separate_poles(count, &mut rng);
        let system = transformed(&random_system(&upper, 1, 1, &mut rng), &mut rng);
        let factors: Vec<f64> = (0..system.order()).map(|_| 10f64.powf(8.0 * rng.f64() - 4.0)).collect();
        let mut other = system.clone();
        other.a = Matrix::from_fn(system.order(), system.order(), |i, j| system.a[(i, j)] * factors[j] / factors[i]);
        for (left, right) in modes(&system).unwrap().iter().zip(modes(&other).unwrap()) {
            prop_assert!((left.pole - right.pole).norm() < 1e-8 * left.pole.norm());
            for participation in &left.participations {
                let same = right.participations.iter().find(|p| p.state == participation.state);
                prop_assert!((same.map_or(0.0, |p| p.share) - participation.share).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn gramians_solve_their_equations(seed: u64, count in 1usize..9) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let upper = separate_poles(count, &mut rng);
        let system = transformed(&random_system(&upper, 2, 2, &mut rng), &mut rng);
        for (system, gramian) in [
            (system.clone(), controllability_gramian(&system).unwrap()),
            (dual(&system), observability_gramian(&system).unwrap()),
        ] {
            let left = multiply(&system.a, &gramian);
            let energy = multiply(&system.b, &dual(&system).c);
            let size = left.entries().iter().fold(0.0f64, |most, value| most.max(value.abs()));
            for i in 0..system.order() {
                for j in 0..system.order() {
                    let residual = left[(i, j)] + left[(j, i)] + energy[(i, j)];
                    prop_assert!(residual.abs() < 1e-9 * size, "{residual}");
                }
            }
        }
    }

    #[test]
    fn margins_agree_with_a_dense_sweep(seed: u64, count in 1usize..4) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let upper = separate_poles(count, &mut rng);
        let gain = 10f64.powf(3.0 * rng.f64());
        let system = companion(&[], &with_conjugates(&upper), gain);
        let found = margins(&system, 0, 0).unwrap();
        let frequencies: Vec<f64> = (0..=40_000).map(|k| 10f64.powf(-3.0 + 8.0 * f64::from(k) / 40_000.0)).collect();
        let curve = frequency_response_at(&system, &frequencies).unwrap().curve(0, 0);
        let mut gains = Vec::new();
        let mut phases = Vec::new();
        for (k, pair) in curve.windows(2).enumerate() {
            if pair[0].im * pair[1].im < 0.0 && pair[0].re < 0.0 { gains.push((frequencies[k], -1.0 / pair[0].re)) }
            if (pair[0].norm() - 1.0) * (pair[1].norm() - 1.0) < 0.0 { phases.push((frequencies[k], (-pair[0]).arg().to_degrees())) }
        }
        let finite: Vec<_> = found.gain.iter().filter(|margin| margin.frequency > 0.0 && margin.frequency.is_finite()).collect();
        prop_assert_eq!(finite.len(), gains.len(), "{:?} {:?}", found, gains);
        for (margin, (frequency, factor)) in finite.iter().zip(&gains) {
            prop_assert!((margin.frequency / frequency - 1.0).abs() < 1e-3 && (margin.factor / factor - 1.0).abs() < 1e-2);
        }
        prop_assert_eq!(found.phase.len(), phases.len(), "{:?} {:?}", found, phases);
        for (margin, (frequency, degrees)) in found.phase.iter().zip(&phases) {
            prop_assert!((margin.frequency / frequency - 1.0).abs() < 1e-3 && (margin.degrees - degrees).abs() < 1.0);
        }
    }

    #[test]
    fn loci_stay_on_the_closed_loop(seed: u64, count in 1usize..4) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let upper = separate_poles(count, &mut rng);
        let system = companion(&[complex(-0.7, 0.0)], &with_conjugates(&upper), 1.0);
        let locus = root_locus(&system, 0, 0, None).unwrap();
        for branch in &locus.branches {
            prop_assert_eq!(branch.len(), locus.gains.len());
        }
        for breakaway in &locus.breakaways {
            // The slope of L vanishes there.
            let h = 1e-4 * breakaway.point.norm().max(0.1);
            let at = |s: Complex| evaluate(&system, s)[(0, 0)];
            let value = at(breakaway.point);
            let slope = (at(breakaway.point + h) - at(breakaway.point - h)) / (2.0 * h);
            prop_assert!((slope * h / value).norm() < 1e-5, "{breakaway:?}");
            prop_assert!((value + 1.0 / breakaway.gain).norm() < 1e-5 * value.norm());
        }
    }

    #[test]
    fn straight_lines_between_the_points_are_enough(seed: u64, count in 1usize..5) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut upper = separate_poles(count, &mut rng);
        upper.push(complex(-1e-4, 7.77));
        let system = random_system(&upper, 1, 1, &mut rng);
        let response = frequency_response(&system, None).unwrap();
        let curve = response.curve(0, 0);
        for _ in 0..50 {
            let k = rng.usize(..curve.len() - 1);
            let part = rng.f64();
            let frequency = response.frequencies[k].powf(1.0 - part) * response.frequencies[k + 1].powf(part);
            let value = evaluate(&system, complex(0.0, frequency))[(0, 0)].norm().ln();
            let line = (1.0 - part) * curve[k].norm().ln() + part * curve[k + 1].norm().ln();
            prop_assert!((value - line).abs() < 0.06, "{frequency} {value} {line}");
        }
    }
}
