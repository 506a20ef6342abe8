//! Residues that cross zero many times within a step: chirps, products of sines and pairs of crossings near an extreme.
//! Changes of the relation are counted by a when clause, and by a dense evaluation of the closed form here.

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, SOLVERS};

type Function = Box<dyn Fn(f64) -> f64>;

/// The equations of the state `y`, the residue as text and as a function of time.
fn residue(random: &mut Rng) -> (String, String, Function, f64) {
    let phase = 0.1 + random.f64();
    match random.u32(0..4) {
        0 => {
            let rate = 0.5 + 2.5 * random.f64();
            let power = random.u32(2..4);
            let equation = format!("der(y) = {rate}*{power}*time^{}", power - 1);
            let function = move |t: f64| (rate * t.powi(power as i32) + phase).sin();
            (equation, format!("sin(y + {phase})"), Box::new(function), 6.0)
        }
        1 => {
            let rate = 0.5 + 0.5 * random.f64();
            let function = move |t: f64| (((rate * t).exp() - 1.0) + phase).sin();
            (format!("der(y) = {rate}*(y + 1)"), format!("sin(y + {phase})"), Box::new(function), 6.0)
        }
        2 => {
            let (slow, fast) = (1.0 + 2.0 * random.f64(), 5.0 + 20.0 * random.f64());
            let function = move |t: f64| (slow * t + phase).sin() * (fast * t + 2.0 * phase).sin();
            let text = format!("sin({slow}*y + {phase})*sin({fast}*y + {})", 2.0 * phase);
            ("der(y) = 1".to_owned(), text, Box::new(function), 8.0)
        }
        _ => {
            let rate = 1.0 + 4.0 * random.f64();
            let level = 1.0 - 10f64.powf(-1.0 - 2.0 * random.f64());
            let function = move |t: f64| (rate * t + phase).sin() - level;
            ("der(y) = 1".to_owned(), format!("sin({rate}*y + {phase}) - {level}"), Box::new(function), 15.0)
        }
    }
}

/// How often the sign changes, by evaluation far denser than the fastest part.
fn changes(function: &dyn Fn(f64) -> f64, stop: f64) -> u64 {
    const POINTS: u32 = 400_000;
    let signs = (0..=POINTS).map(|k| function(stop * f64::from(k) / f64::from(POINTS)) > 0.0);
    let mut last = None;
    let mut count = 0;
    for sign in signs {
        count += u64::from(last.is_some_and(|last| last != sign));
        last = Some(sign);
    }
    count
}

pub fn case(random: &mut Rng) -> Case {
    let (equation, residue, function, stop) = residue(random);
    let behind = random.bool();
    let (declared, residue) =
        if behind { (format!("  Real r = {residue};\n"), "r".to_owned()) } else { (String::new(), residue) };
    let text = format!(
        "model M
  Real y(start = 0, fixed = true);
{declared}  Boolean b = {residue} > 0;
  Integer n(start = 0, fixed = true);
equation
  {equation};
  when change(b) then
    n = pre(n) + 1;
  end when;
end M;
"
    );
    let mut stop = stop * (0.5 + 0.5 * random.f64());
    // A crossing at the end may lie on either side of it.
    while function(stop).abs() < 1e-2 {
        stop *= 0.99;
    }
    let expected = changes(&function, stop);
    let settings = Settings {
        stop_time: Some(stop),
        intervals: Some(5 + random.usize(0..500)),
        tolerance: Some(1e-7),
        solver: Some(SOLVERS[random.usize(0..SOLVERS.len())].to_owned()),
        ..Settings::default()
    };
    Case::complete(text, settings, move |run| {
        let found = run.end("n")?;
        if found == expected as f64 { Ok(()) } else { Err(format!("{found} changes were seen, there are {expected}")) }
    })
}
