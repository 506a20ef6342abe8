//! Results that are known in closed form.
#![allow(clippy::unwrap_used)]

mod common;

use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

use common::{companion, complex, distance, evaluate};
use linear::{
    Complex, Error, Excitation, Matrix, RANK_TOLERANCE, Signal, State, StateSpace, controllability,
    controllability_gramian, dc_gain, frequency_response, hankel_singular_values, margins, minimal, modes,
    observability, pbh, poles, root_locus, time_response, transfer_function, zeros,
};

/// n equal masses between walls; unit masses and springs, dampers proportional to the springs.
fn chain(n: usize, damping: f64) -> StateSpace {
    let stiffness = |i: usize, j: usize| match i.abs_diff(j) {
        0 => 2.0,
        1 => -1.0,
        _ => 0.0,
    };
    let a = Matrix::from_fn(2 * n, 2 * n, |i, j| match (i < n, j < n) {
        (true, _) => f64::from(u8::from(j == n + i)),
        (false, true) => -stiffness(i - n, j),
        (false, false) => -damping * stiffness(i - n, j - n),
    });
    let b = Matrix::from_fn(2 * n, 1, |i, _| f64::from(u8::from(i == n)));
    let c = Matrix::from_fn(1, 2 * n, |_, j| f64::from(u8::from(j == n - 1)));
    let states = (0..2 * n).map(|i| {
        let (letter, unit) = if i < n { ("s", "m") } else { ("v", "m/s") };
        State::new(format!("mass{}.{letter}", i % n + 1), unit, format!("mass{}", i % n + 1))
    });
    let (inputs, outputs) = (vec![Signal::new("force", "N")], vec![Signal::new("position", "m")]);
    StateSpace::new([a, b, c, Matrix::zeros(1, 1)], states.collect(), inputs, outputs).unwrap()
}

/// A ladder of n resistors and capacitors of 1: the voltage at one end drives, that of the last capacitor is read.
fn ladder(n: usize) -> StateSpace {
    let a = Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
        0 if i + 1 == n => -1.0,
        0 => -2.0,
        1 => 1.0,
        _ => 0.0,
    });
    let b = Matrix::from_fn(n, 1, |i, _| f64::from(u8::from(i == 0)));
    let c = Matrix::from_fn(1, n, |_, j| f64::from(u8::from(j + 1 == n)));
    StateSpace::unnamed([a, b, c, Matrix::zeros(1, 1)]).unwrap()
}

fn butterworth(n: usize, cutoff: f64) -> StateSpace {
    let pole = |k: usize| Complex::from_polar(cutoff, PI * (0.5 + (2 * k + 1) as f64 / (2 * n) as f64));
    let mut poles: Vec<Complex> = (0..n).map(pole).collect();
    poles.iter_mut().filter(|pole| pole.im.abs() < 1e-9 * cutoff).for_each(|pole| pole.im = 0.0);
    companion(&[], &poles, cutoff.powi(n as i32))
}

#[test]
fn a_chain_of_masses() {
    let (n, damping) = (12, 0.01);
    let mut expected = Vec::new();
    for k in 1..=n {
        let frequency = 2.0 * (k as f64 * PI / (2 * (n + 1)) as f64).sin();
        let ratio = damping * frequency / 2.0;
        let root = frequency * (1.0 - ratio * ratio).sqrt();
        expected.extend([complex(-ratio * frequency, root), complex(-ratio * frequency, -root)]);
    }
    let system = chain(n, damping);
    assert!(distance(&poles(&system).unwrap(), &expected) < 1e-12);
    let modes = modes(&system).unwrap();
    assert_eq!(modes.len(), n);
    for mode in &modes {
        let total: f64 = mode.components(&system).iter().map(|(_, share)| share).sum();
        assert!((total - 1.0).abs() < 1e-6);
        let ratio = mode.damping().unwrap();
        assert!((ratio - damping * mode.natural_frequency() / 2.0).abs() < 1e-9);
    }
    // The middle masses move most in the fundamental mode.
    let slowest = modes.iter().min_by(|x, y| x.natural_frequency().total_cmp(&y.natural_frequency())).unwrap();
    let named: Vec<&str> = slowest.components(&system).iter().take(2).map(|(name, _)| *name).collect();
    assert!(named.contains(&"mass6") && named.contains(&"mass7"), "{named:?}");
}

/// From the first mass to the last only springs and dampers carry the force: their zeros k + d s = 0 are all there are.
#[test]
fn zeros_of_a_chain_of_masses() {
    let found = zeros(&chain(4, 0.5), RANK_TOLERANCE).unwrap();
    assert!(distance(&found, &[complex(-2.0, 0.0); 3]) < 1e-9, "{found:?}");
    assert!(zeros(&chain(12, 0.0), RANK_TOLERANCE).unwrap().is_empty());
}

#[test]
fn a_ladder_of_resistors_and_capacitors() {
    let n = 30;
    let expected: Vec<Complex> =
        (1..=n).map(|k| complex(-4.0 * ((2 * k - 1) as f64 * PI / (4 * n + 2) as f64).sin().powi(2), 0.0)).collect();
    let system = ladder(n);
    assert!(distance(&poles(&system).unwrap(), &expected) < 1e-12);
    assert!(zeros(&system, RANK_TOLERANCE).unwrap().is_empty());
    assert!((dc_gain(&system).unwrap()[(0, 0)] - 1.0).abs() < 1e-12);
    let function = transfer_function(&ladder(8), 0, 0, RANK_TOLERANCE).unwrap();
    assert!((function.gain - 1.0).abs() < 1e-10);
    // Numerator 1; the coefficients of the denominator are binomial: C(n+k, n-k).
    let mut binomial: Vec<f64> = Vec::new();
    for k in (0..=8usize).rev() {
        binomial.push((1..=8 - k).fold(1.0, |value, i| value * (8 + k + 1 - i) as f64 / i as f64));
    }
    for (found, expected) in function.denominator().iter().zip(&binomial) {
        assert!((found / expected - 1.0).abs() < 1e-10, "{:?} {binomial:?}", function.denominator());
    }
}

#[test]
fn butterworth_filters() {
    for n in 1..=8 {
        let filter = butterworth(n, 50.0);
        let response = frequency_response(&filter, None).unwrap();
        for (&frequency, value) in response.frequencies.iter().zip(response.curve(0, 0)) {
            let expected = 1.0 / (1.0 + (frequency / 50.0).powi(2 * n as i32)).sqrt();
            assert!((value.norm() / expected - 1.0).abs() < 1e-9, "{n} {frequency}");
        }
        let (first, last) = (response.frequencies[0], response.frequencies[response.frequencies.len() - 1]);
        assert!((first - 1.0).abs() < 1e-9 && (last - 1000.0).abs() < 1e-6, "{first} {last}");
        let phase = response.phase(0, 0);
        let expected = -90.0 * n as f64;
        assert!((phase[phase.len() - 1] - expected).abs() < 16.0, "{n} {}", phase[phase.len() - 1]);
    }
}

#[test]
fn roots_of_companion_matrices() {
    let roots: Vec<Complex> = (1..=10).map(|k| complex(-f64::from(k), 0.0)).collect();
    assert!(distance(&poles(&companion(&[], &roots, 1.0)).unwrap(), &roots) < 1e-6);
    let pair = [complex(-1.0, 3.0), complex(-1.0, -3.0), complex(2.0, 0.0)];
    let wanted = [complex(-4.0, 0.0), complex(0.0, 1.0), complex(0.0, -1.0)];
    let system = companion(&wanted, &pair, 5.0);
    let found = zeros(&system, RANK_TOLERANCE).unwrap();
    assert!(distance(&found, &wanted) < 1e-12, "{found:?}");
    let function = transfer_function(&system, 0, 0, RANK_TOLERANCE).unwrap();
    assert!((function.gain - 5.0).abs() < 1e-12);
    let coefficients = function.numerator();
    for (found, expected) in coefficients.iter().zip([5.0, 20.0, 5.0, 20.0]) {
        assert!((found - expected).abs() < 1e-11, "{coefficients:?}");
    }
}

#[test]
fn multiple_poles_are_one_mode() {
    let triple = companion(&[], &[complex(-2.0, 0.0); 3], 1.0);
    let found = modes(&triple).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].multiplicity, 3);
    assert!((found[0].pole + 2.0).norm() < 1e-9, "{found:?}");
    let double: Vec<Complex> = [complex(-1.0, 5.0), complex(-1.0, -5.0)].repeat(2);
    let found = modes(&companion(&[], &double, 1.0)).unwrap();
    assert_eq!((found.len(), found[0].multiplicity), (1, 2), "{found:?}");
    assert!((found[0].pole - complex(-1.0, 5.0)).norm() < 1e-9);
    assert_eq!(poles(&triple).unwrap().len(), 3);
}

#[test]
fn exactly_defective_poles_have_participations() {
    // Two free masses: four poles at the origin in two Jordan blocks.
    let a = Matrix::from([[0.0, 1.0, 0.0, 0.0], [0.0; 4], [0.0, 0.0, 0.0, 1.0], [0.0; 4]]);
    let matrices = [a, Matrix::zeros(4, 1), Matrix::zeros(1, 4), Matrix::zeros(1, 1)];
    let found = modes(&StateSpace::unnamed(matrices).unwrap()).unwrap();
    assert_eq!((found.len(), found[0].multiplicity, found[0].pole), (1, 4, Complex::ZERO), "{found:?}");
    for participation in &found[0].participations {
        assert!((participation.share - 0.25).abs() < 1e-9);
    }
    assert_eq!(found[0].damping(), None);
    assert_eq!(found[0].time_constant(), None);
    // Beside another pole.
    let a = Matrix::from([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, -3.0]]);
    let matrices = [a, Matrix::zeros(3, 1), Matrix::zeros(1, 3), Matrix::zeros(1, 1)];
    let found = modes(&StateSpace::unnamed(matrices).unwrap()).unwrap();
    assert_eq!(found.len(), 2);
    let shares: Vec<(usize, f64)> = found[1].participations.iter().map(|p| (p.state, p.share)).collect();
    assert_eq!(shares.len(), 2, "{shares:?}");
    assert!(shares.iter().all(|(state, share)| *state < 2 && (share - 0.5).abs() < 1e-9), "{shares:?}");
}

#[test]
fn a_mode_without_input_is_named() {
    // The second mass hangs on nothing.
    let a = Matrix::from([[0.0, 1.0, 0.0, 0.0], [-4.0, -0.4, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, -9.0, 0.0]]);
    let b = Matrix::from([[0.0], [1.0], [0.0], [0.0]]);
    let c = Matrix::from([[1.0, 0.0, 1.0, 0.0]]);
    let names = ["driven.s", "driven.v", "free.s", "free.v"];
    let states = names.map(|name| State::new(name, "", name.split('.').next().unwrap_or(""))).to_vec();
    let (inputs, outputs) = (vec![Signal::new("f", "N")], vec![Signal::new("y", "m")]);
    let system = StateSpace::new([a, b, c, Matrix::zeros(1, 1)], states, inputs, outputs).unwrap();
    let reach = controllability(&system, RANK_TOLERANCE).unwrap();
    assert_eq!((reach.rank, reach.steps.as_slice()), (2, [1, 1].as_slice()));
    assert_eq!(reach.hidden.len(), 1);
    let hidden = &reach.hidden[0];
    assert!((hidden.pole - complex(0.0, 3.0)).norm() < 1e-12 && hidden.distance < 1e-14);
    assert!(hidden.participations.iter().all(|p| system.states[p.state].component == "free"));
    assert!(observability(&system, RANK_TOLERANCE).unwrap().is_complete());
    assert!(pbh(&system, complex(0.0, 3.0)).unwrap() < 1e-14);
    assert!(pbh(&system, poles(&system).unwrap()[0]).unwrap() > 1e-2);
    let small = minimal(&system, RANK_TOLERANCE).unwrap();
    assert_eq!(small.order(), 2);
    assert!(
        distance(&poles(&small).unwrap(), &[complex(-0.2, 3.96f64.sqrt()), complex(-0.2, -(3.96f64.sqrt()))]) < 1e-12
    );
}

#[test]
fn units_do_not_decide_about_ranks() {
    // A hydraulic cylinder in SI units: pressures of 10⁷ Pa beside positions of millimetres.
    let a = Matrix::from([[0.0, 1.0, 0.0], [0.0, -20.0, 1e-5], [0.0, -1e11, -1.0]]);
    let b = Matrix::from([[0.0], [0.0], [1e13]]);
    let c = Matrix::from([[1.0, 0.0, 0.0]]);
    let system = StateSpace::unnamed([a, b, c, Matrix::zeros(1, 1)]).unwrap();
    assert_eq!(controllability(&system, RANK_TOLERANCE).unwrap().rank, 3);
    assert_eq!(observability(&system, RANK_TOLERANCE).unwrap().rank, 3);
    assert_eq!(minimal(&system, RANK_TOLERANCE).unwrap(), system);
    assert_eq!(dc_gain(&system).unwrap()[(0, 0)], f64::INFINITY);
    let function = transfer_function(&system, 0, 0, RANK_TOLERANCE).unwrap();
    assert!((function.gain / 1e8 - 1.0).abs() < 1e-9, "{function:?}");
    assert!(function.zeros.is_empty());
}

/// [a, k; ±1/k, b]: the unit of a state, k, decides nothing about the poles, whatever the diagonal is.
#[test]
fn units_do_not_decide_about_poles() {
    for exponent in -12..=12 {
        let k = 10f64.powi(exponent);
        for (a, b) in [(1.0, 1.0), (2.0, 2.5), (100.0, 100.0), (-0.001, -0.001), (-900.0, -1000.0), (0.0, 1.0)] {
            for (sign, size) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, 1.5e6)] {
                let matrix = Matrix::from([[a, size * k], [sign / k, b]]);
                let [input, output] = [Matrix::from([[0.0], [1.0]]), Matrix::from([[1.0, 0.0]])];
                let system = StateSpace::unnamed([matrix, input, output, Matrix::zeros(1, 1)]).unwrap();
                let (middle, half) = (0.5 * (a + b), 0.5 * (a - b));
                let root = complex(half * half + sign * size, 0.0).sqrt();
                let largest = root.norm() + middle.abs();
                for (found, expected) in poles(&system).unwrap().iter().zip([middle - root, middle + root]) {
                    let off = (found - expected).norm().min((found - expected.conj()).norm());
                    assert!(off < 1e-13 * largest, "{found} instead of {expected}: {a} {b} {k} {sign}");
                }
            }
        }
    }
}

/// Two slow pairs of poles, coupled to fast parts by entries of their size: what is lost beside the fast ones is not averaged.
#[test]
fn slow_poles_stay_apart_beside_fast_ones() {
    for fast in [1e3, 1e6, 1e8] {
        let a = Matrix::from([
            [-fast, 1.0, 0.5, 0.25, 0.125],
            [1e-3 / fast, -3e-4, 1e-4, 0.0, 0.0],
            [0.0, -2e-4, -3e-4, 0.0, 0.0],
            [0.0, 0.0, 0.0, -1e-5, 2e-5],
            [0.0, 0.0, 1e-6, -1e-5, -1e-5],
        ]);
        let [b, c] = [Matrix::from([[1.0], [0.0], [0.0], [0.0], [0.0]]), Matrix::from([[0.0, 1.0, 0.0, 1.0, 0.0]])];
        let system = StateSpace::unnamed([a, b, c, Matrix::zeros(1, 1)]).unwrap();
        let found = poles(&system).unwrap();
        // The coupling over the fast part is of the order of 1e-3/fast².
        let slow = [complex(-3e-4, 2f64.sqrt() * 1e-4), complex(-1e-5, 2f64.sqrt() * 1e-5)];
        for expected in slow {
            let nearest = found.iter().map(|pole| (pole - expected).norm()).fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-2 * expected.norm() * 1e3 / fast + 1e-9 * expected.norm(), "{fast}: {found:?}");
        }
    }
}

#[test]
fn zeros_of_systems_with_several_inputs_and_outputs() {
    // G = [1/(s+1), 2/(s+3); 1/(s+1), 1/(s+1)]: det G = (1 - s) / ((s+1)² (s+3)), a textbook zero at +1.
    let a = Matrix::from([[-1.0, 0.0, 0.0], [0.0, -3.0, 0.0], [0.0, 0.0, -1.0]]);
    let b = Matrix::from([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]);
    let c = Matrix::from([[1.0, 2.0, 0.0], [1.0, 0.0, 1.0]]);
    let system = StateSpace::unnamed([a.clone(), b.clone(), c.clone(), Matrix::zeros(2, 2)]).unwrap();
    assert!(distance(&zeros(&system, RANK_TOLERANCE).unwrap(), &[complex(1.0, 0.0)]) < 1e-12);
    // An output more: rank is lost nowhere.
    let c = Matrix::from([[1.0, 2.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]);
    let tall = StateSpace::unnamed([a.clone(), b.clone(), c, Matrix::zeros(3, 2)]).unwrap();
    assert!(zeros(&tall, RANK_TOLERANCE).unwrap().is_empty());
    // The same output twice changes nothing.
    let c = Matrix::from([[1.0, 2.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]);
    let twice = StateSpace::unnamed([a.clone(), b.clone(), c, Matrix::zeros(3, 2)]).unwrap();
    assert!(distance(&zeros(&twice, RANK_TOLERANCE).unwrap(), &[complex(1.0, 0.0)]) < 1e-12);
    // An output of zero leaves the states without influence: all are decoupled.
    let nothing = StateSpace::unnamed([a.clone(), b, Matrix::zeros(1, 3), Matrix::zeros(1, 2)]).unwrap();
    assert!(zeros(&nothing, RANK_TOLERANCE).unwrap().len() <= 3);
    let nothing = StateSpace::unnamed([a, Matrix::zeros(3, 0), Matrix::zeros(0, 3), Matrix::zeros(0, 0)]).unwrap();
    assert_eq!(zeros(&nothing, RANK_TOLERANCE).unwrap().len(), 3);
    let empty =
        StateSpace::unnamed([Matrix::zeros(0, 0), Matrix::zeros(0, 1), Matrix::zeros(1, 0), Matrix::from([[2.0]])]);
    let empty = empty.unwrap();
    assert!(zeros(&empty, RANK_TOLERANCE).unwrap().is_empty() && poles(&empty).unwrap().is_empty());
    assert_eq!(transfer_function(&empty, 0, 0, RANK_TOLERANCE).unwrap().numerator(), [2.0]);
    assert_eq!(dc_gain(&empty).unwrap()[(0, 0)], 2.0);
}

#[test]
fn margins_of_a_textbook_loop() {
    // L = 4 / (s (s+1) (s+2)): phase crossover at √2 with gain 6/4.
    let system = companion(&[], &[complex(0.0, 0.0), complex(-1.0, 0.0), complex(-2.0, 0.0)], 4.0);
    let found = margins(&system, 0, 0).unwrap();
    let gain = found.smallest_gain().unwrap();
    assert!((gain.frequency - 2f64.sqrt()).abs() < 1e-9 && (gain.factor - 1.5).abs() < 1e-9, "{found:?}");
    let phase = found.smallest_phase().unwrap();
    let value = evaluate(&system, complex(0.0, phase.frequency))[(0, 0)];
    assert!((value.norm() - 1.0).abs() < 1e-9);
    assert!((phase.degrees - (180.0 + value.arg().to_degrees())).abs() < 1e-7);
    assert!(found.stable);
    assert!((phase.delay() * phase.frequency - phase.degrees.to_radians()).abs() < 1e-12);
    // The gain crossover of a loop of high gain is far from its pole.
    let found = margins(&companion(&[], &[complex(-1.0, 0.0)], 1e6), 0, 0).unwrap();
    assert!((found.phase[0].frequency / 1e6 - 1.0).abs() < 1e-9 && (found.phase[0].degrees - 90.0).abs() < 1e-3);
    assert!(found.gain.is_empty());
    // A gain just above one crosses far below the pole.
    let found = margins(&companion(&[], &[complex(-1.0, 0.0)], 1.000_001), 0, 0).unwrap();
    assert!((found.phase[0].frequency / (1.000_001f64.powi(2) - 1.0).sqrt() - 1.0).abs() < 1e-6, "{found:?}");
}

#[test]
fn step_and_impulse_of_an_oscillator() {
    let (frequency, ratio) = (3.0f64, 0.2f64);
    let root = frequency * (1.0 - ratio * ratio).sqrt();
    let system = companion(&[], &[complex(-ratio * frequency, root), complex(-ratio * frequency, -root)], 9.0);
    let response = time_response(&system, Excitation::Step, None).unwrap();
    for (&t, y) in response.time.iter().zip(response.curve(0, 0)) {
        let decay = (-ratio * frequency * t).exp();
        let expected = 1.0 - decay * ((root * t).cos() + ratio * frequency / root * (root * t).sin());
        assert!((y - expected).abs() < 1e-12);
    }
    let end = response.time[response.time.len() - 1];
    assert!((8.0..25.0).contains(&end), "{end}");
    let response = time_response(&system, Excitation::Impulse, Some(2.0)).unwrap();
    for (&t, y) in response.time.iter().zip(response.curve(0, 0)) {
        let expected = 9.0 / root * (-ratio * frequency * t).exp() * (root * t).sin();
        assert!((y - expected).abs() < 1e-11);
    }
    let undamped = companion(&[], &[complex(0.0, TAU), complex(0.0, -TAU)], TAU * TAU);
    let response = time_response(&undamped, Excitation::Step, None).unwrap();
    assert!((response.time[response.time.len() - 1] - 30.0).abs() < 1.0);
}

#[test]
fn a_locus_with_a_breakaway_point_and_a_crossing() {
    // 1/(s (s+1) (s+2)): breakaway at -1 + 1/√3, crossing at ±i√2 with gain 6.
    let system = companion(&[], &[complex(0.0, 0.0), complex(-1.0, 0.0), complex(-2.0, 0.0)], 1.0);
    let locus = root_locus(&system, 0, 0, None).unwrap();
    assert_eq!(locus.breakaways.len(), 1);
    let expected = -1.0 + 1.0 / 3f64.sqrt();
    assert!((locus.breakaways[0].point - expected).norm() < 1e-9, "{:?}", locus.breakaways);
    assert!((locus.breakaways[0].gain - 2.0 / (3.0 * 3f64.sqrt())).abs() < 1e-9);
    assert_eq!(locus.crossings.len(), 1, "{:?}", locus.crossings);
    assert!((locus.crossings[0].point - complex(0.0, 2f64.sqrt())).norm() < 1e-6);
    assert!((locus.crossings[0].gain - 6.0).abs() < 1e-6);
    assert_eq!(locus.branches.len(), 3);
    // Each pole of each branch lies on the locus: 1 + k L = 0.
    for (k, &gain) in locus.gains.iter().enumerate().filter(|(_, gain)| **gain > 0.0) {
        for branch in &locus.branches {
            let s = branch[k];
            let value = s * (s + 1.0) * (s + 2.0) + gain;
            assert!(value.norm() < 1e-9 * gain.max(1.0), "{s} {gain}");
        }
    }
    // No branch jumps inside the picture.
    for branch in &locus.branches {
        let step = |pair: &[Complex]| (pair[1] - pair[0]).norm() / pair[1].norm().max(4.0);
        assert!(branch.windows(2).map(step).fold(0.0, f64::max) < 0.15);
    }
}

#[test]
fn gramians_of_a_first_order_system() {
    // P = b²/(2a), Q = c²/(2a), Hankel singular value |bc|/(2a).
    let matrices = [Matrix::from([[-4.0]]), Matrix::from([[3.0]]), Matrix::from([[2.0]]), Matrix::zeros(1, 1)];
    let system = StateSpace::unnamed(matrices).unwrap();
    assert!((controllability_gramian(&system).unwrap()[(0, 0)] - 9.0 / 8.0).abs() < 1e-14);
    assert!((hankel_singular_values(&system).unwrap()[0] - 0.75).abs() < 1e-14);
    let integrator = companion(&[], &[complex(0.0, 0.0)], 1.0);
    assert_eq!(controllability_gramian(&integrator).unwrap_err(), Error::Unstable { pole: Complex::ZERO });
}

#[test]
fn what_is_refused_is_named() {
    let matrices = [Matrix::from([[f64::NAN]]), Matrix::zeros(1, 1), Matrix::zeros(1, 1), Matrix::zeros(1, 1)];
    let system = StateSpace::unnamed(matrices).unwrap();
    let expected = "the entry of matrix A in the row of `x1` and the column of `x1` is not finite";
    assert_eq!(poles(&system).unwrap_err().to_string(), expected);
    let matrices = [Matrix::zeros(2, 2), Matrix::zeros(1, 1), Matrix::zeros(1, 2), Matrix::zeros(1, 1)];
    let error = StateSpace::unnamed(matrices).unwrap_err().to_string();
    assert_eq!(error, "matrix B has 1 rows and 1 columns instead of 2 and 1");
    let gain =
        StateSpace::unnamed([Matrix::zeros(0, 0), Matrix::zeros(0, 1), Matrix::zeros(1, 0), Matrix::from([[-1.0]])]);
    assert_eq!(margins(&gain.unwrap(), 0, 0).unwrap_err(), Error::AlgebraicLoop);
    assert!(butterworth(2, FRAC_1_SQRT_2).pair(1, 0).is_err());
}

#[test]
fn diagrams_hold_what_they_should() {
    use linear::plot;
    use results::plot::{Terminal, html, png, svg, terminal};
    // Three integrators: a phase of -270°, a curve that comes from infinity.
    let system = companion(&[complex(-1.0, 0.0)], &[complex(0.0, 0.0); 3], 2.0);
    let response = frequency_response(&system, None).unwrap();
    let bode = plot::bode_with_margins(&system, &response, &margins(&system, 0, 0).unwrap());
    let phase = &bode.panels[1].curves[0].y;
    assert!((phase[0] + 264.0).abs() < 1.0 && (phase[phase.len() - 1] + 180.0).abs() < 7.0, "{phase:?}");
    let nyquist = plot::nyquist(&system, &response);
    assert!(nyquist.x.limits.is_some() && nyquist.equal);
    let locus = root_locus(&system, 0, 0, None).unwrap();
    let found = (poles(&system).unwrap(), zeros(&system, RANK_TOLERANCE).unwrap());
    let step = time_response(&system, Excitation::Step, None).unwrap();
    let figures = [
        bode,
        nyquist,
        plot::nichols(&system, &response),
        plot::pole_zero(&system, &found.0, &found.1),
        plot::locus(&system, &locus),
        plot::time(&system, &step, "Step response"),
    ];
    assert_eq!(figures[3].panels[0].notes[0].text, "3 poles");
    for figure in &figures {
        assert!(
            svg(figure).len() > 2000 && png(figure).is_ok_and(|file| file.len() > 5000) && html(figure).len() > 5000
        );
        let text = terminal(figure, Terminal::default());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

/// Two hundred masses of which every second one hangs on nothing.
#[test]
fn hidden_modes_of_a_large_system() {
    let n = 240;
    let a = Matrix::from_fn(n, n, |i, j| match (i % 2, i.abs_diff(j)) {
        (0, 0) => -3.0,
        (0, 2) => 1.0,
        (1, 0) => -1.0 - i as f64 / n as f64,
        _ => 0.0,
    });
    let b = Matrix::from_fn(n, 1, |i, _| f64::from(u8::from(i == 0)));
    let system = StateSpace::unnamed([a, b, Matrix::zeros(1, n), Matrix::zeros(1, 1)]).unwrap();
    let reach = controllability(&system, RANK_TOLERANCE).unwrap();
    assert_eq!((reach.rank, reach.hidden.len()), (n / 2, n / 2));
    for mode in &reach.hidden {
        assert!(mode.distance < 1e-12);
        let state = mode.participations[0].state;
        assert!(state % 2 == 1 && (mode.pole.re + 1.0 + state as f64 / n as f64).abs() < 1e-12);
    }
}

/// A = 0 has no size that ranks could be measured by.
#[test]
fn integrators_alone_are_within_reach() {
    let one = Matrix::from([[1.0]]);
    let integrator = StateSpace::unnamed([Matrix::zeros(1, 1), one.clone(), one, Matrix::zeros(1, 1)]).unwrap();
    assert!(linear::controllability(&integrator, RANK_TOLERANCE).unwrap().is_complete());
    assert!(linear::observability(&integrator, RANK_TOLERANCE).unwrap().is_complete());
    assert_eq!(minimal(&integrator, RANK_TOLERANCE).unwrap().order(), 1);
}

/// A filter with a time constant of a nanosecond heats a wall and a house: 13 orders of magnitude between the poles.
#[test]
fn slow_parts_do_not_drown_beside_fast_ones() {
    for fast in [1e-12, 1e-9, 1e-7, 1.0] {
        let (r, wall, house, g, loss) = (1e3, 1e5, 1e7, 10.0, 5.0);
        let a = Matrix::from([
            [-1.0 / (r * fast), 0.0, 0.0],
            [1.0 / (r * wall), -g / wall, g / wall],
            [0.0, g / house, -(g + loss) / house],
        ]);
        let b = Matrix::from([[1.0 / (r * fast)], [0.0], [0.0]]);
        let system = StateSpace::unnamed([a, b, Matrix::from([[0.0, 0.0, 1.0]]), Matrix::zeros(1, 1)]).unwrap();
        assert!(linear::controllability(&system, RANK_TOLERANCE).unwrap().is_complete(), "{fast}");
        assert!(linear::observability(&system, RANK_TOLERANCE).unwrap().is_complete(), "{fast}");
        assert_eq!(minimal(&system, RANK_TOLERANCE).unwrap().order(), 3);
        assert!(zeros(&system, RANK_TOLERANCE).unwrap().is_empty());
        let gain = linear::dc_gain(&system).unwrap()[(0, 0)];
        assert!((gain / 2e-4 - 1.0).abs() < 1e-9, "{fast}: {gain}");
        let function = transfer_function(&system, 0, 0, RANK_TOLERANCE).unwrap();
        let gain = function.evaluate(Complex::ZERO).re;
        assert!((gain / 2e-4 - 1.0).abs() < 1e-6, "{fast}: {gain}");
    }
}

/// Poles nine orders of magnitude apart: the picture shows the slow one.
#[test]
fn ranges_reach_all_poles() {
    let a = Matrix::from([[-1e6, 0.0], [1e-3, -1e-3]]);
    let b = Matrix::from([[1e6], [0.0]]);
    let system = StateSpace::unnamed([a, b, Matrix::from([[0.0, 1.0]]), Matrix::zeros(1, 1)]).unwrap();
    let step = linear::time_response(&system, linear::Excitation::Step, None).unwrap();
    let last = step.curve(0, 0).last().copied().unwrap();
    assert!(last > 0.98 && last < 1.001, "{last}");
    let response = linear::frequency_response(&system, None).unwrap();
    assert!(response.frequencies[0] < 1e-3 && *response.frequencies.last().unwrap() > 1e6);
}

/// 1/(s² + 1) is real at all frequencies, so that nothing crosses and no gain is at the limit of stability.
#[test]
fn a_real_response_has_no_gain_margin_between() {
    let a = Matrix::from([[0.0, 1.0], [-1.0, 0.0]]);
    let b = Matrix::from([[0.0], [1.0]]);
    let system = StateSpace::unnamed([a, b, Matrix::from([[1.0, 0.0]]), Matrix::zeros(1, 1)]).unwrap();
    assert_eq!(linear::margins(&system, 0, 0).unwrap().gain, []);
}

/// (1 - 0.3 s)/(s (s + 1)) begins at -90°, whatever the signs of its roots and factors are.
#[test]
fn phases_begin_at_those_of_the_integrators() {
    let function = linear::TransferFunction {
        zeros: vec![Complex::new(1.0 / 0.3, 0.0)],
        poles: vec![Complex::ZERO, Complex::new(-1.0, 0.0)],
        gain: -0.3,
    };
    assert!((function.natural_phase(1e-6) + 90.0).abs() < 1e-3);
    assert!((function.natural_phase(1e6) + 270.0).abs() < 1e-3);
}

/// The zero at the origin of a high pass is no rounding error beside it.
#[test]
fn a_zero_at_the_origin_is_zero() {
    for k in [0.1, 0.3, 0.7, 1.0 / 3.0] {
        let a = Matrix::from([[-0.1 - k, 0.1], [0.3, -0.3 - k]]);
        let b = Matrix::from([[k], [k]]);
        let high_pass = StateSpace::unnamed([a, b, Matrix::from([[-1.0, 0.0]]), Matrix::from([[1.0]])]).unwrap();
        let found = zeros(&high_pass, RANK_TOLERANCE).unwrap();
        assert!(found.contains(&Complex::ZERO) && found.len() == 2, "{found:?}");
    }
}

/// A voltage at a capacitor C beside R and L in series: i = u̇·C + u/(R + s·L), which is (C·L·s² + C·R·s + 1)/(L·s + R).
#[test]
fn derivatives_of_inputs_belong_to_zeros_and_transfer_functions() {
    let (c, r, l) = (2.0, 3.0, 0.5);
    let matrices = [Matrix::from([[-r / l]]), Matrix::from([[1.0]]), Matrix::from([[1.0 / l]]), Matrix::from([[0.0]])];
    let system = StateSpace::unnamed(matrices).unwrap();
    let rates = linear::Rates { b: Matrix::from([[0.0]]), d: Matrix::from([[c]]) };
    let found = zeros(&rates.integrated(&system), RANK_TOLERANCE).unwrap();
    let root = ((r / l).powi(2) / 4.0 - 1.0 / (c * l)).sqrt();
    let expected = [-r / l / 2.0 - root, -r / l / 2.0 + root];
    assert!(found.iter().zip(expected).all(|(zero, meant)| (zero - meant).norm() < 1e-12), "{found:?}");
    let function = rates.transfer_function(&system, 0, 0, RANK_TOLERANCE).unwrap();
    for s in [complex(0.3, 1.0), complex(-2.0, 5.0)] {
        let expected = (s * s * c * l + s * c * r + 1.0) / (s * l + r);
        assert!((function.evaluate(s) - expected).norm() < 1e-10 * expected.norm());
    }
    assert!(!rates.is_proper());
}

/// ẋ = -x + u̇ is u - 1/(s + 1)·u: with the state x - u no derivative of the input is left.
#[test]
fn a_proper_system_has_a_form_without_derivatives_of_inputs() {
    let matrices = [Matrix::from([[-1.0]]), Matrix::from([[0.0]]), Matrix::from([[1.0]]), Matrix::from([[0.0]])];
    let system = StateSpace::unnamed(matrices).unwrap();
    let rates = linear::Rates { b: Matrix::from([[1.0]]), d: Matrix::from([[0.0]]) };
    assert!(rates.is_proper());
    let shifted = rates.shifted(&system);
    let s = complex(0.7, 0.4);
    let value = transfer_function(&shifted, 0, 0, RANK_TOLERANCE).unwrap().evaluate(s);
    assert!((value - s / (s + 1.0)).norm() < 1e-12);
    let function = rates.transfer_function(&system, 0, 0, RANK_TOLERANCE).unwrap();
    assert!((function.evaluate(s) - s / (s + 1.0)).norm() < 1e-12);
    assert_eq!(function.zeros, [Complex::ZERO]);
}

/// -1 is marked at every odd multiple of 180° that the curve comes to: with an unstable pole and a double integrator on both sides.
#[test]
fn critical_points_of_a_nichols_diagram() {
    let marked = |system: &StateSpace| {
        let response = frequency_response(system, None).unwrap();
        let figure = linear::plot::nichols(system, &response);
        let points = figure.panels[0].marks[0].points.clone();
        (points.iter().map(|point| point.0).collect::<Vec<_>>(), figure.panels[0].curves[0].x.to_vec())
    };
    // -90° to -270°.
    let (marks, phases) = marked(&companion(&[], &[complex(0.0, 0.0), complex(-1.0, 0.0), complex(-1.0, 0.0)], 1.0));
    assert_eq!(marks, [-180.0]);
    assert!(phases.iter().all(|phase| (-271.0..-89.0).contains(phase)));
    // Five lags and an integrator: -90° to -540°.
    let mut many = vec![complex(-1.0, 0.0); 5];
    many.push(complex(0.0, 0.0));
    let (marks, phases) = marked(&companion(&[], &many, 1.0));
    assert_eq!(marks, [-540.0, -180.0]);
    assert!((phases[0] + 90.0).abs() < 40.0 && phases[phases.len() - 1] < -480.0, "{phases:?}");
    // Magnitudes are those of the transfer function at the phases.
    let lag = companion(&[], &[complex(-2.0, 0.0)], 6.0);
    let response = frequency_response(&lag, None).unwrap();
    let curve = &linear::plot::nichols(&lag, &response).panels[0].curves[0];
    for (phase, magnitude) in curve.x.iter().zip(&curve.y) {
        let meant = 20.0 * (3.0 * phase.to_radians().cos()).log10();
        assert!((magnitude - meant).abs() < 1e-6, "{phase}° {magnitude} dB instead of {meant} dB");
    }
}

/// Roots at the origin alone: s + k = 0, s² + k = 0 and s³ + k = 0 are seen at a size of their own.
#[test]
fn loci_of_integrators() {
    for order in 1..=3usize {
        let system = companion(&[], &vec![complex(0.0, 0.0); order], 1.0);
        let locus = root_locus(&system, 0, 0, None).unwrap();
        assert_eq!(locus.branches.len(), order);
        for branch in &locus.branches {
            for (pole, gain) in branch.iter().zip(&locus.gains) {
                let size = gain.powf(1.0 / order as f64);
                assert!((pole.norm() - size).abs() <= 1e-6 * (size + 1e-3), "k = {gain}: {pole}");
            }
        }
        let figure = linear::plot::locus(&system, &locus);
        let (low, high) = figure.x.limits.unwrap();
        assert!((-3.0..-0.5).contains(&low) && (0.5..3.0).contains(&high), "{low} to {high}");
        let reach = locus.branches[0].iter().map(|pole| pole.norm()).fold(0.0, f64::max);
        assert!(reach >= high, "the branches end at {reach} within the picture");
    }
}

/// A chain of integrators with one zero: the reduction takes away one state after the other.
#[test]
fn zeros_behind_a_long_chain() {
    let n = 120;
    let a = Matrix::from_fn(n, n, |i, j| match i {
        _ if j == i + 1 => 1.0,
        _ if i + 1 == n => -0.5,
        _ => 0.0,
    });
    let b = Matrix::from_fn(n, 1, |i, _| if i + 1 == n { 2.0 } else { 0.0 });
    let c = Matrix::from_fn(1, n, |_, j| [3.0, 1.0].get(j).copied().unwrap_or(0.0));
    let system = StateSpace::unnamed([a, b, c, Matrix::zeros(1, 1)]).unwrap();
    let found = zeros(&system, RANK_TOLERANCE).unwrap();
    assert!(found.len() == 1 && (found[0] + 3.0).norm() < 1e-9, "{found:?}");
}

/// A circuit of two parallel coils behind a transformer, with a hidden mode: the zeros s²(s + r/l)(s² + 1/(l c)) are those of the
/// elements, also where slow ones lie close together beside poles of 140 rad/s.
#[test]
fn slow_zeros_of_a_pair_with_a_hidden_mode_stay_apart() {
    let (i3, c5, i7, i8) = (1.96e-3, 2.44, 27.6, 24.6);
    let (r6, r, i11, c12, i13) = (2440.0, 0.0572, 0.6, 1.96, 1.74);
    let (gyration, ratio) = (1000.0, 1000.0);
    let mut a = Matrix::zeros(7, 7);
    let entries = [
        (0, 1, 1.0 / c5),
        (1, 0, -1.0 / i3),
        (1, 2, 1.0 / i7),
        (2, 1, -1.0 / c5),
        (2, 2, -r6 / i7),
        (2, 3, gyration / i8),
        (2, 5, -ratio / c12),
        (3, 2, -gyration / i7),
        (3, 3, -r / i8),
        (4, 5, 1.0 / c12),
        (5, 2, ratio / i7),
        (5, 4, -1.0 / i11),
        (5, 6, -1.0 / i13),
        (6, 5, 1.0 / c12),
    ];
    entries.iter().for_each(|&(i, j, value)| a[(i, j)] = value);
    let b = Matrix::from_fn(7, 1, |i, _| f64::from(u8::from(i == 1)));
    let c = Matrix::from_fn(1, 7, |_, j| a[(2, j)]);
    let states = (0..7).map(|k| State::new(format!("x{k}"), "1", "x")).collect();
    let (inputs, outputs) = (vec![Signal::new("u", "1")], vec![Signal::new("y", "1")]);
    let system = StateSpace::new([a, b, c, Matrix::zeros(1, 1)], states, inputs, outputs).unwrap();
    let found = transfer_function(&system, 0, 0, RANK_TOLERANCE).unwrap();
    let oscillation = ((1.0 / i11 + 1.0 / i13) / c12).sqrt();
    let expected = [
        complex(0.0, 0.0),
        complex(0.0, 0.0),
        complex(-r / i8, 0.0),
        complex(0.0, oscillation),
        complex(0.0, -oscillation),
    ];
    assert!(distance(&found.zeros, &expected) < 1e-9, "{:?}", found.zeros);
}
