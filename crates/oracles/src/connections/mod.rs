//! Connections in random hierarchies, against all equations of their sets at once.

mod hierarchy;
mod streams;

use fastrand::Rng;
use session::Settings;

use self::hierarchy::{Element, Hierarchy};
pub use self::streams::case as stream_case;
use crate::case::Case;
use crate::dense;

fn number(rng: &mut Rng) -> f64 {
    rng.i32(1..=12) as f64 / 4.0
}

/// Linear equations, each a sum of terms and its value.
type Equations = Vec<(Vec<(usize, f64)>, f64)>;

/// The solution; `None` if there is none, or many.
fn solved(equations: &Equations, count: usize) -> Option<Vec<f64>> {
    if equations.len() != count {
        return None;
    }
    let (mut matrix, mut right) = (vec![0.0; count * count], vec![0.0; count]);
    for (row, (terms, value)) in equations.iter().enumerate() {
        terms.iter().for_each(|(column, factor)| matrix[row * count + column] += factor);
        right[row] = *value;
    }
    dense::solve(matrix, right)
}

/// Potentials are equal and flows balanced in each set. A connector has its potential at twice its number, then its flow.
fn connected(hierarchy: &Hierarchy, equations: &mut Equations) {
    for set in &hierarchy.sets {
        let place = |name: &str| 2 * hierarchy.index(name);
        for (other, _) in &set[1..] {
            equations.push((vec![(place(&set[0].0), 1.0), (place(other), -1.0)], 0.0));
        }
        // Into a connector of the class itself flows what the class takes out of the set.
        let flows = set.iter().map(|(name, is_outside)| (place(name) + 1, if *is_outside { -1.0 } else { 1.0 }));
        equations.push((flows.collect(), 0.0));
    }
}

/// Sources with a resistance, and pairs of resistors.
pub fn case(rng: &mut Rng) -> Case {
    loop {
        let mut text = "  connector Pin Real v; flow Real i; end Pin;\n".to_owned();
        let (mut elements, mut numbers) = (Vec::new(), Vec::new());
        for k in 0..5 {
            let (g, e) = (number(rng), f64::from(rng.i32(-8..=8)));
            numbers.push((g, e));
            if k < 3 {
                text += &format!("  model S{k} Pin p; equation p.i = {g}*(p.v - ({e})); end S{k};\n");
                elements.push(Element { name: format!("S{k}"), connectors: &["p"] });
            } else {
                text += &format!(
                    "  model R{k} Pin p; Pin q[2]; equation
    p.i = {g}*(p.v - q[1].v) + 0.5*p.v; q[1].i = {g}*(q[1].v - p.v); q[2].i = {g}*q[2].v;
  end R{k};\n"
                );
                elements.push(Element { name: format!("R{k}"), connectors: &["p", "q[1]", "q[2]"] });
            }
        }
        let hierarchy = Hierarchy::random(rng, &text, &elements, "Pin");
        let count = 2 * hierarchy.connectors.len();
        if !(16..=160).contains(&count) {
            continue;
        }
        let mut equations = Equations::new();
        for (path, element) in &hierarchy.elements {
            let (g, e) = numbers[*element];
            let v = |name: &str| 2 * hierarchy.index(&format!("{path}.{name}"));
            let i = |name: &str| v(name) + 1;
            if *element < 3 {
                equations.push((vec![(i("p"), 1.0), (v("p"), -g)], -g * e));
            } else {
                equations.push((vec![(i("p"), 1.0), (v("p"), -g - 0.5), (v("q[1]"), g)], 0.0));
                equations.push((vec![(i("q[1]"), 1.0), (v("q[1]"), -g), (v("p"), g)], 0.0));
                equations.push((vec![(i("q[2]"), 1.0), (v("q[2]"), -g)], 0.0));
            }
        }
        connected(&hierarchy, &mut equations);
        let Some(solution) = solved(&equations, count) else { continue };
        let Hierarchy { text, connectors, .. } = hierarchy;
        let settings = Settings { stop_time: Some(0.1), ..Settings::default() };
        return Case::complete(text, settings, move |run| {
            for (k, name) in connectors.iter().enumerate() {
                compare(run, &format!("{name}.v"), solution[2 * k])?;
                compare(run, &format!("{name}.i"), solution[2 * k + 1])?;
            }
            Ok(())
        });
    }
}

fn compare(run: &crate::run::Run, name: &str, expected: f64) -> Result<(), String> {
    let found = run.end(name)?;
    let is_near = (found - expected).abs() <= 1e-6 * expected.abs().max(1.0);
    if is_near { Ok(()) } else { Err(format!("{name} is {found} instead of {expected}")) }
}
