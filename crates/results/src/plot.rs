//! Pictures of trajectories: in the terminal, as SVG, as PNG, as an HTML page that can be zoomed.
//!
//! A [`Figure`] holds what is to be drawn, in displayUnit: variables of one unit share a panel, panels share the time
//! axis. `layout` places everything for the pictures; the terminal has its own, coarser geometry.

mod axis;
mod font;
mod html;
mod layout;
mod png;
mod raster;
mod svg;
mod terminal;

pub use html::html;
pub use png::png;
pub use svg::svg;
pub use terminal::{Terminal, terminal};

use crate::{Trajectories, Trajectory};

/// A colour for each curve of a panel, told apart also by the colour-blind (Okabe and Ito).
pub(crate) const COLOURS: [[u8; 3]; 7] =
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233], [64, 64, 64]];

/// Curves over time.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    pub title: String,
    pub time: Vec<f64>,
    pub panels: Vec<Panel>,
}

#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// The unit of all its curves, as displayed.
    pub unit: String,
    pub curves: Vec<Curve>,
}

#[derive(Clone, Debug, Default)]
pub struct Curve {
    pub name: String,
    pub values: Vec<f64>,
}

impl Figure {
    /// The variables in their displayUnit, grouped by it in order of first appearance.
    pub fn new(title: impl Into<String>, trajectories: &Trajectories, variables: &[&Trajectory]) -> Self {
        let mut panels: Vec<Panel> = Vec::new();
        for variable in variables {
            let (unit, convert) = units::display(&variable.column.unit, &variable.column.display_unit);
            let values = variable.values.iter().map(|&value| convert.apply(value)).collect();
            let curve = Curve { name: variable.column.name.clone(), values };
            match panels.iter_mut().find(|panel| panel.unit == unit) {
                Some(panel) => panel.curves.push(curve),
                None => panels.push(Panel { unit: unit.to_owned(), curves: vec![curve] }),
            }
        }
        Self { title: title.into(), time: trajectories.time.clone(), panels }
    }

    /// The same with each curve in a panel of its own: where colours cannot tell curves apart.
    pub(crate) fn one_curve_a_panel(&self) -> Self {
        let alone = |panel: &Panel| {
            let unit = panel.unit.clone();
            panel.curves.clone().into_iter().map(move |curve| Panel { unit: unit.clone(), curves: vec![curve] })
        };
        Self { panels: self.panels.iter().flat_map(alone).collect(), ..self.clone() }
    }
}

/// The finite points of a curve as runs without gaps, thinned out so that a picture of `buckets` columns looks the
/// same: of each column the first, lowest, highest and last point stay.
pub(crate) fn thinned(time: &[f64], values: &[f64], range: axis::Range, buckets: usize) -> Vec<Vec<(f64, f64)>> {
    let mut runs = Vec::new();
    let mut run: Vec<(f64, f64)> = Vec::new();
    let mut bucket: Vec<(f64, f64)> = Vec::new();
    let mut current = i64::MIN;
    let place = |t: f64| ((t - range.low) / range.length() * buckets as f64).floor() as i64;
    for (&t, &value) in time.iter().zip(values) {
        let finite = t.is_finite() && value.is_finite();
        if !finite || place(t) != current {
            empty_bucket(&mut bucket, &mut run);
        }
        if finite {
            current = place(t);
            bucket.push((t, value));
        } else if !run.is_empty() {
            runs.push(std::mem::take(&mut run));
        }
    }
    empty_bucket(&mut bucket, &mut run);
    if !run.is_empty() {
        runs.push(run);
    }
    runs
}

fn empty_bucket(bucket: &mut Vec<(f64, f64)>, run: &mut Vec<(f64, f64)>) {
    if bucket.len() > 4 {
        let extreme = |better: fn(f64, f64) -> bool| {
            let pick = |best: usize, at: usize| if better(bucket[at].1, bucket[best].1) { at } else { best };
            (0..bucket.len()).fold(0, pick)
        };
        let mut kept = [0, extreme(|a, b| a < b), extreme(|a, b| a > b), bucket.len() - 1];
        kept.sort_unstable();
        let mut last = None;
        for at in kept {
            if last != Some(at) {
                run.push(bucket[at]);
            }
            last = Some(at);
        }
        bucket.clear();
    } else {
        run.append(bucket);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Column;

    /// A step, a sine and an angle: three units, one of them with a displayUnit, and an event.
    pub fn figure() -> Figure {
        let mut time: Vec<f64> = (0..=200).map(|i| f64::from(i) * 0.01).collect();
        time.insert(100, 1.0);
        let after = |i: usize| i > 100;
        let variable = |name: &str, unit: &str, display: &str, f: &dyn Fn(usize, f64) -> f64| Trajectory {
            column: Column::new(name).unit(unit).display_unit(display),
            values: time.iter().enumerate().map(|(i, &t)| f(i, t)).collect(),
        };
        let variables = vec![
            variable("source.v", "V", "", &|_, t| 10.0 * (6.0 * t).sin()),
            variable("step.y", "V", "", &|i, _| if after(i) { 8.0 } else { -2.0 }),
            variable("arm.phi", "rad", "deg", &|_, t| 1.5 * (1.0 - (-3.0 * t).exp())),
        ];
        let trajectories = Trajectories { time, variables };
        Figure::new("Demo", &trajectories, &trajectories.variables.iter().collect::<Vec<_>>())
    }

    #[test]
    fn curves_are_grouped_by_displayed_unit() {
        let figure = figure();
        let panels: Vec<_> = figure
            .panels
            .iter()
            .map(|p| (p.unit.as_str(), p.curves.iter().map(|c| c.name.as_str()).collect::<Vec<_>>()))
            .collect();
        assert_eq!(panels, [("V", vec!["source.v", "step.y"]), ("deg", vec!["arm.phi"])]);
        assert!((figure.panels[1].curves[0].values[200] - 85.73).abs() < 0.1);
    }

    #[test]
    fn thinning_keeps_spikes_and_gaps() {
        let time: Vec<f64> = (0..1000).map(f64::from).collect();
        let mut values = vec![0.0; 1000];
        values[503] = 9.0;
        values[700] = f64::NAN;
        let runs = thinned(&time, &values, axis::Range { low: 0.0, high: 999.0 }, 10);
        assert_eq!(runs.len(), 2);
        assert!(runs[0].contains(&(503.0, 9.0)));
        assert!(runs.iter().map(Vec::len).sum::<usize>() < 50);
    }
}
