//! Well-conditioned systems, linear or cubic, whose unknowns and equations have units from 1e-15 to 1e15, made from a known
//! solution. Dominance makes it unique.

use std::fmt::Write as _;

use fastrand::Rng;
use session::Settings;

use crate::case::Case;

pub fn case(random: &mut Rng) -> Case {
    let count = random.usize(2..7);
    let range = *random.choice(&[3.0, 9.0, 15.0]).unwrap_or(&15.0);
    let mut unit = || 10f64.powf(range * (2.0 * random.f64() - 1.0));
    let unknowns: Vec<f64> = (0..count).map(|_| unit()).collect();
    let equations: Vec<f64> = (0..count).map(|_| unit()).collect();
    let is_cubic = random.bool();
    // Without one the search starts at zero.
    let has_start = random.f64() < 0.7;
    let exact: Vec<(f64, f64)> = (0..count).map(|_| (0.5 + 1.5 * random.f64(), 0.2 * random.f64())).collect();
    let mut text = String::from("model M\n");
    for (index, unit) in unknowns.iter().enumerate() {
        let start = if has_start { format!("(start = {unit:?})") } else { String::new() };
        let _ = writeln!(text, "  Real x{index}{start};");
    }
    text.push_str("  Real s(start = 0, fixed = true);\nequation\n");
    let _ = writeln!(text, "  der(s) = x0/{:?};", unknowns[0]);
    let mut lines = Vec::new();
    for (row, equation) in equations.iter().enumerate() {
        let (mut left, mut right) = (String::from("0"), String::from("0"));
        for (column, unknown) in unknowns.iter().enumerate() {
            let own = row == column;
            let factor = if own { 3.0 } else { 2.0 / count as f64 * (2.0 * random.f64() - 1.0) };
            let value = format!("({:?} + {:?}*sin(time))", exact[column].0, exact[column].1);
            let _ = write!(left, " + ({:?})*x{column}", equation * factor / unknown);
            let _ = write!(right, " + ({factor:?})*{value}");
            if own && is_cubic {
                let _ = write!(left, " + ({:?})*(x{column}/{unknown:?})^3", 0.1 * equation);
                let _ = write!(right, " + 0.1*{value}^3");
            }
        }
        lines.push(format!("  {left} = {equation:?}*({right});\n"));
    }
    random.shuffle(&mut lines);
    lines.iter().for_each(|line| text.push_str(line));
    text.push_str("end M;\n");
    let settings = Settings { stop_time: Some(2.0), intervals: Some(10), ..Settings::default() };
    Case::complete(text, settings, move |run| {
        if run.messages.contains("least norm") {
            return Err(format!("called redundant: {}", run.messages));
        }
        for (index, (unit, (a, b))) in unknowns.iter().zip(&exact).enumerate() {
            run.follows(&format!("x{index}"), |time| unit * (a + b * time.sin()), 1e-8 * unit)?;
        }
        Ok(())
    })
}
