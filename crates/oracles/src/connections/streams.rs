//! Streams in random hierarchies, against the mixing of the specification (15.2), solved for all connectors at once.

use fastrand::Rng;
use session::Settings;

use super::hierarchy::{Element, Hierarchy, Set};
use super::{Equations, compare, connected, number, solved};
use crate::case::Case;

/// Flows that are smaller leave open what is mixed.
const SMALLEST: f64 = 1e-2;

/// Reservoirs, and pipes that add to what flows through them beside a reservoir.
struct Elements {
    text: String,
    elements: Vec<Element>,
    /// Conductance, pressure and enthalpy.
    numbers: Vec<(f64, f64, f64)>,
}

fn elements(rng: &mut Rng) -> Elements {
    let mut text = "  connector Port Real p; flow Real m; stream Real h; end Port;\n".to_owned();
    let (mut elements, mut numbers) = (Vec::new(), Vec::new());
    for k in 0..5 {
        let (g, p, h) = (number(rng), f64::from(rng.i32(-16..=16)) / 2.0, f64::from(rng.i32(-8..=8)));
        numbers.push((g, p, h));
        if k < 3 {
            text += &format!(
                "  model S{k}
    Port p; Real in_p = inStream(p.h); Real actual_p = actualStream(p.h);
  equation
    p.m = {g}*(p.p - ({p})); p.h = {h};
  end S{k};\n"
            );
            elements.push(Element { name: format!("S{k}"), connectors: &["p"] });
        } else {
            text += &format!(
                "  model R{k}
    Port p; Port q[2]; Real in_p = inStream(p.h); Real in_q[2] = inStream(q.h); Real actual_q = actualStream(q[1].h);
  equation
    p.m = {g}*(p.p - q[1].p); q[1].m = -p.m; q[2].m = {g}*(q[2].p - ({p}));
    p.h = inStream(q[1].h) + ({h}); q[1].h = inStream(p.h) + ({h}); q[2].h = {h};
  end R{k};\n"
            );
            elements.push(Element { name: format!("R{k}"), connectors: &["p", "q[1]", "q[2]"] });
        }
    }
    Elements { text, elements, numbers }
}

/// Pressures and flows.
fn flows(hierarchy: &Hierarchy, numbers: &[(f64, f64, f64)]) -> Option<Vec<f64>> {
    let mut equations = Equations::new();
    for (path, element) in &hierarchy.elements {
        let (g, pressure, _) = numbers[*element];
        let p = |name: &str| 2 * hierarchy.index(&format!("{path}.{name}"));
        let m = |name: &str| p(name) + 1;
        if *element < 3 {
            equations.push((vec![(m("p"), 1.0), (p("p"), -g)], -g * pressure));
        } else {
            equations.push((vec![(m("p"), 1.0), (p("p"), -g), (p("q[1]"), g)], 0.0));
            equations.push((vec![(m("p"), 1.0), (m("q[1]"), 1.0)], 0.0));
            equations.push((vec![(m("q[2]"), 1.0), (p("q[2]"), -g)], -g * pressure));
        }
    }
    connected(hierarchy, &mut equations);
    solved(&equations, 2 * hierarchy.connectors.len())
}

/// What goes out of each connector (at twice its number) and what would come in (behind it).
fn streams(hierarchy: &Hierarchy, numbers: &[(f64, f64, f64)], flows: &[f64]) -> Option<Vec<f64>> {
    let mut equations = Equations::new();
    for (path, element) in &hierarchy.elements {
        let (.., h) = numbers[*element];
        let out = |name: &str| 2 * hierarchy.index(&format!("{path}.{name}"));
        if *element < 3 {
            equations.push((vec![(out("p"), 1.0)], h));
        } else {
            equations.push((vec![(out("p"), 1.0), (out("q[1]") + 1, -1.0)], h));
            equations.push((vec![(out("q[1]"), 1.0), (out("p") + 1, -1.0)], h));
            equations.push((vec![(out("q[2]"), 1.0)], h));
        }
    }
    for set in &hierarchy.sets {
        mix(hierarchy, set, flows, &mut equations)?;
    }
    solved(&equations, 2 * hierarchy.connectors.len())
}

/// What comes out of a set at each of its ends is the mixture of what goes into it at the others.
fn mix(hierarchy: &Hierarchy, set: &Set, flows: &[f64], equations: &mut Equations) -> Option<()> {
    for (k, (name, is_outside)) in set.iter().enumerate() {
        // Out of the set: into a component, or out of the class.
        let result = 2 * hierarchy.index(name) + usize::from(!is_outside);
        if set.len() == 1 {
            if *is_outside {
                return None;
            }
            equations.push((vec![(result, 1.0), (2 * hierarchy.index(name), -1.0)], 0.0));
            continue;
        }
        let mut terms = Vec::new();
        let mut sum = 0.0;
        for (_, (other, other_is_outside)) in set.iter().enumerate().filter(|(at, _)| *at != k) {
            let index = hierarchy.index(other);
            let flow = flows[2 * index + 1];
            let into_set = if *other_is_outside { flow } else { -flow };
            // Two ends always see each other.
            let weight = if set.len() == 2 { 1.0 } else { into_set.max(0.0) };
            if set.len() > 2 && into_set.abs() < SMALLEST {
                return None;
            }
            terms.push((2 * index + usize::from(*other_is_outside), -weight));
            sum += weight;
        }
        if sum < SMALLEST {
            return None;
        }
        terms.push((result, sum));
        equations.push((terms, 0.0));
    }
    Some(())
}

pub fn case(rng: &mut Rng) -> Case {
    loop {
        let Elements { text, elements, numbers } = elements(rng);
        let hierarchy = Hierarchy::random(rng, &text, &elements, "Port");
        if !(6..=60).contains(&hierarchy.connectors.len()) {
            continue;
        }
        let Some(flow) = flows(&hierarchy, &numbers) else { continue };
        let Some(stream) = streams(&hierarchy, &numbers, &flow) else { continue };
        if stream.iter().chain(&flow).any(|value| value.abs() > 1e3) {
            continue;
        }
        let settings = Settings { stop_time: Some(0.1), ..Settings::default() };
        let text = hierarchy.text.clone();
        return Case::complete(text, settings, move |run| {
            for (k, name) in hierarchy.connectors.iter().enumerate() {
                compare(run, &format!("{name}.p"), flow[2 * k])?;
                compare(run, &format!("{name}.m"), flow[2 * k + 1])?;
                compare(run, &format!("{name}.h"), stream[2 * k])?;
            }
            for (path, element) in &hierarchy.elements {
                let at = |name: &str| hierarchy.index(&format!("{path}.{name}"));
                compare(run, &format!("{path}.in_p"), stream[2 * at("p") + 1])?;
                let (name, end) = if *element < 3 { ("actual_p", at("p")) } else { ("actual_q", at("q[1]")) };
                let flow = flow[2 * end + 1];
                // Without flow it is either, by a rounding error.
                if flow.abs() > 1e-9 {
                    let actual = if flow > 0.0 { stream[2 * end + 1] } else { stream[2 * end] };
                    compare(run, &format!("{path}.{name}"), actual)?;
                }
                if *element >= 3 {
                    compare(run, &format!("{path}.in_q[1]"), stream[2 * at("q[1]") + 1])?;
                    compare(run, &format!("{path}.in_q[2]"), stream[2 * at("q[2]") + 1])?;
                }
            }
            Ok(())
        });
    }
}
