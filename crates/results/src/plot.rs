//! Pictures of curves: in the terminal, as SVG, as PNG, as PDF, as an HTML page that can be zoomed.
//!
//! A [`Figure`] holds what is to be drawn: panels above each other that share the horizontal axis. [`Figure::new`] makes one
//! of trajectories, in displayUnit: variables of one unit share a panel. `layout` places everything for the pictures; the
//! terminal has its own, coarser geometry. PNG and PDF are made of the SVG.

mod axis;
mod clip;
mod colours;
mod elide;
mod embedded;
mod html;
mod layout;
mod svg;
mod terminal;

pub use axis::Scale;
pub use colours::shade;
pub use html::html;
pub use svg::svg;
pub use terminal::{Terminal, terminal};
pub use vector::DrawingError;

use std::sync::Arc;

use axis::{Range, Tick, ticks};

use crate::{Trajectories, Trajectory};

/// The figure as a PNG file, at twice the size of the SVG.
pub fn png(figure: &Figure) -> Result<Vec<u8>, DrawingError> {
    vector::png(&svg(figure), 2.0)
}

/// The figure as a PDF file.
pub fn pdf(figure: &Figure) -> Result<Vec<u8>, DrawingError> {
    vector::pdf(&svg(figure))
}

/// Panels above each other with one horizontal axis.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// What stands above it.
    pub title: String,
    /// The horizontal axis of all panels.
    pub x: Axis,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// One unit is equally long on both axes, as in the complex plane.
    pub equal: bool,
}

/// What an axis shows, and how.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// What it shows; empty where the curves say so.
    pub quantity: String,
    /// As displayed.
    pub unit: String,
    /// How values become places.
    pub scale: Scale,
    /// The part to show; all where it is absent.
    pub limits: Option<(f64, f64)>,
    /// What stands at 0, 1, 2 … in place of numbers.
    pub names: Vec<String>,
}

impl Axis {
    /// A linear axis that shows all values.
    pub fn new(quantity: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { quantity: quantity.into(), unit: unit.into(), ..Self::default() }
    }

    /// The same with another scale.
    pub fn scale(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    pub(crate) fn label(&self) -> String {
        match (self.quantity.as_str(), shown_unit(&self.unit).as_str()) {
            ("", unit) => unit.to_owned(),
            (quantity, "") => quantity.to_owned(),
            (quantity, unit) => format!("{quantity} ({unit})"),
        }
    }

    /// Round numbers on a part of the axis, or its names.
    pub(crate) fn ticks(&self, range: Range, most: usize) -> Vec<Tick> {
        if self.names.is_empty() {
            return ticks(range, most);
        }
        let named = |(place, name): (usize, &String)| Tick { value: place as f64, label: name.clone() };
        self.names.iter().enumerate().map(named).collect()
    }
}

/// A unit as pictures have it: typeset, but for the sign of degrees, which is easily missed where it stands alone.
pub(crate) fn shown_unit(unit: &str) -> String {
    if unit == "deg" { unit.to_owned() } else { units::typeset(unit) }
}

/// Curves with one vertical axis.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// The vertical axis of all its curves.
    pub y: Axis,
    /// Lines.
    pub curves: Vec<Curve>,
    /// Points.
    pub marks: Vec<Marks>,
    /// Texts.
    pub notes: Vec<Note>,
    /// Areas behind the curves.
    pub bands: Vec<Band>,
    /// Rectangles behind the curves.
    pub blocks: Vec<Block>,
    /// What the colours of the blocks mean.
    pub key: Option<Key>,
}

/// The area between two lines.
#[derive(Clone, Debug)]
pub struct Band {
    /// Without a name it is not in the legend.
    pub name: String,
    /// Where both lines have their points.
    pub x: Arc<[f64]>,
    /// The lower line.
    pub lower: Vec<f64>,
    /// The upper line.
    pub upper: Vec<f64>,
    /// It has the colour of the curve with this number, thinned by this factor.
    pub colour: (usize, f64),
}

/// A filled rectangle.
#[derive(Clone, Debug)]
pub struct Block {
    /// From left to right.
    pub x: (f64, f64),
    /// From bottom to top.
    pub y: (f64, f64),
    /// Red, green and blue.
    pub colour: [u8; 3],
    /// What it says where the picture can be pointed at.
    pub hint: String,
}

/// What the colours of blocks mean, as a bar beside the panel; [`shade`] gives the colours.
#[derive(Clone, Debug)]
pub struct Key {
    /// What the colours show.
    pub axis: Axis,
    /// The value of the darkest colour.
    pub low: f64,
    /// The value of the brightest colour.
    pub high: f64,
}

/// A line through points.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// Without a name it is not in the legend.
    pub name: String,
    /// Curves over the same instants share them.
    pub x: Arc<[f64]>,
    /// Values that are not finite make gaps.
    pub y: Vec<f64>,
    /// How it looks.
    pub style: Style,
}

/// How a curve looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Style {
    /// A line in a colour of its own.
    #[default]
    Solid,
    /// Thin and grey, for orientation; does not count for the range of the axes.
    Guide,
    /// The same colour as the curve before, thin: the mirror image or the asymptote of it.
    Companion,
}

/// Points without a line.
#[derive(Clone, Debug)]
pub struct Marks {
    /// Without a name they are not in the legend.
    pub name: String,
    /// How each point looks.
    pub shape: Shape,
    /// Horizontal and vertical values.
    pub points: Vec<(f64, f64)>,
}

/// How a mark looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// `×`, as poles have it.
    Cross,
    /// `+`.
    Plus,
    /// `o`, as zeros have it.
    Circle,
    /// `□`.
    Square,
}

impl Shape {
    /// Lines around the origin.
    pub(crate) fn lines(self) -> Vec<Vec<(f64, f64)>> {
        match self {
            Self::Cross => vec![vec![(-4.5, -4.5), (4.5, 4.5)], vec![(-4.5, 4.5), (4.5, -4.5)]],
            Self::Plus => vec![vec![(-6.0, 0.0), (6.0, 0.0)], vec![(0.0, -6.0), (0.0, 6.0)]],
            Self::Square => vec![vec![(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0), (-4.0, -4.0)]],
            Self::Circle => {
                let corner = |k: i32| {
                    let (sine, cosine) = (f64::from(k) * std::f64::consts::TAU / 16.0).sin_cos();
                    (5.0 * cosine, 5.0 * sine)
                };
                vec![(0..=16).map(corner).collect()]
            }
        }
    }

    /// In a terminal.
    pub(crate) fn character(self) -> char {
        match self {
            Self::Cross => '×',
            Self::Plus => '+',
            Self::Circle => 'o',
            Self::Square => '□',
        }
    }
}

/// A text at a point.
#[derive(Clone, Debug)]
pub struct Note {
    /// The point.
    pub at: (f64, f64),
    /// What stands there.
    pub text: String,
    /// Where it stands.
    pub side: Side,
}

impl Note {
    /// A text above a point.
    pub fn new(at: (f64, f64), text: impl Into<String>) -> Self {
        Self { at, text: text.into(), side: Side::Above }
    }
}

/// Where a note stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Side {
    /// Above the point, on the side that has more room.
    #[default]
    Above,
    /// To its left, at the same height.
    Left,
    /// To its right, at the same height.
    Right,
}

impl Figure {
    /// The variables in their displayUnit, grouped by it in order of first appearance.
    pub fn new(title: impl Into<String>, trajectories: &Trajectories, variables: &[&Trajectory]) -> Self {
        let time: Arc<[f64]> = trajectories.time.as_slice().into();
        let curve = |variable: &&Trajectory| {
            let (unit, convert) = units::display(&variable.column.unit, &variable.column.display_unit);
            let y = variable.values.iter().map(|&value| convert.apply(value)).collect();
            (unit.to_owned(), Curve::new(variable.column.name.clone(), time.clone(), y))
        };
        Self::grouped(title, Axis::new("time", "s"), variables.iter().map(curve))
    }

    /// Curves with the units of their values: those of one unit share a panel, in order of first appearance.
    pub fn grouped(title: impl Into<String>, x: Axis, curves: impl IntoIterator<Item = (String, Curve)>) -> Self {
        let mut panels: Vec<Panel> = Vec::new();
        for (unit, curve) in curves {
            match panels.iter_mut().find(|panel| panel.y.unit == unit) {
                Some(panel) => panel.curves.push(curve),
                None => panels.push(Panel { y: Axis::new("", unit), curves: vec![curve], ..Panel::default() }),
            }
        }
        Self { title: title.into(), x, panels, equal: false }
    }

    /// The same with each curve in a panel of its own: where colours cannot tell curves apart. Panels with marks stay, as
    /// they show one thing.
    pub(crate) fn one_curve_a_panel(&self) -> Self {
        let alone = |panel: &Panel| {
            let named = panel.curves.iter().filter(|curve| curve.style == Style::Solid).count();
            if named <= 1 || !panel.marks.is_empty() || self.equal {
                return vec![panel.clone()];
            }
            let single = |curve: &Curve| Panel { curves: vec![curve.clone()], ..panel.clone() };
            panel.curves.iter().filter(|curve| curve.style == Style::Solid).map(single).collect()
        };
        Self { panels: self.panels.iter().flat_map(alone).collect(), ..self.clone() }
    }

    /// The range of the horizontal axis.
    pub(crate) fn x_range(&self) -> Range {
        let curves = self.panels.iter().flat_map(|panel| &panel.curves).filter(|curve| curve.style != Style::Guide);
        let marks = self.panels.iter().flat_map(|panel| &panel.marks).flat_map(|marks| &marks.points);
        let marked = self.panels.iter().any(|panel| !panel.marks.is_empty());
        let bands = self.panels.iter().flat_map(|panel| &panel.bands).flat_map(|band| band.x.iter().copied());
        let blocks = self.panels.iter().flat_map(|panel| &panel.blocks).flat_map(|block| [block.x.0, block.x.1]);
        let values = curves.flat_map(|curve| curve.x.iter().copied()).chain(marks.map(|point| point.0));
        let range = self.x.range(values.chain(bands).chain(blocks));
        // Marks would stand on the frame.
        if marked && self.x.limits.is_none() && self.x.scale != Scale::Logarithmic { range.padded() } else { range }
    }
}

impl Axis {
    fn range(&self, values: impl Iterator<Item = f64>) -> Range {
        match self.limits {
            Some((low, high)) => Range::of([low, high].into_iter(), self.scale),
            None => Range::of(values, self.scale),
        }
    }
}

impl Panel {
    /// Of what is drawn in this part of the horizontal axis.
    pub(crate) fn y_range(&self, x: Range) -> Range {
        let shown = |at: f64| (-1e-9..=1.0 + 1e-9).contains(&x.fraction(at));
        let points = |x: &Arc<[f64]>, y: &[f64]| -> Vec<f64> {
            x.iter().zip(y).filter(|(x, _)| shown(**x)).map(|(_, y)| *y).collect()
        };
        let curves = self.curves.iter().filter(|curve| curve.style != Style::Guide);
        let curves = curves.flat_map(|curve| points(&curve.x, &curve.y));
        let marks = self.marks.iter().flat_map(|marks| &marks.points).filter(|point| shown(point.0));
        let bands = self.bands.iter().flat_map(|band| [points(&band.x, &band.lower), points(&band.x, &band.upper)]);
        let blocks = self.blocks.iter().flat_map(|block| [block.y.0, block.y.1]);
        self.y.range(curves.chain(marks.map(|point| point.1)).chain(bands.flatten()).chain(blocks))
    }

    /// The range with air around curves. Blocks fill their panel, and limits are meant as they are given.
    pub(crate) fn padded_y_range(&self, x: Range) -> Range {
        let range = self.y_range(x);
        if self.blocks.is_empty() && self.y.limits.is_none() { range.padded() } else { range }
    }

    /// The number of the colour of each curve; guides have none.
    pub(crate) fn colours(&self) -> Vec<Option<usize>> {
        let mut next = 0;
        let colour = |curve: &Curve| match curve.style {
            Style::Solid => {
                next += 1;
                Some(next - 1)
            }
            Style::Companion => Some(usize::max(next, 1) - 1),
            Style::Guide => None,
        };
        self.curves.iter().map(colour).collect()
    }
}

impl Curve {
    /// A solid line.
    pub fn new(name: impl Into<String>, x: Arc<[f64]>, y: Vec<f64>) -> Self {
        Self { name: name.into(), x, y, style: Style::Solid }
    }

    /// The same in another style.
    pub fn style(self, style: Style) -> Self {
        Self { style, ..self }
    }
}

/// The points of a curve that have a place on both axes, as runs without gaps of fractions of the ranges, for a picture of
/// `buckets` columns, cut at the edges.
pub(crate) fn placed(curve: &Curve, x: Range, y: Range, buckets: usize) -> Vec<Vec<(f64, f64)>> {
    let mut runs = thinned(&curve.x, &curve.y, x, y.scale, buckets);
    for point in runs.iter_mut().flatten() {
        *point = (x.fraction(point.0), y.fraction(point.1));
    }
    clip::clipped(runs)
}

/// The points of a curve that have a place as runs without gaps, thinned out so that a picture of `buckets` columns looks the
/// same: of each column the first, lowest, highest and last point stay.
fn thinned(time: &[f64], values: &[f64], range: Range, scale: Scale, buckets: usize) -> Vec<Vec<(f64, f64)>> {
    let mut runs = Vec::new();
    let mut run: Vec<(f64, f64)> = Vec::new();
    let mut bucket: Vec<(f64, f64)> = Vec::new();
    let mut current = i64::MIN;
    let place = |t: f64| (range.fraction(t) * buckets as f64).floor() as i64;
    for (&t, &value) in time.iter().zip(values) {
        let finite = range.scale.place(t).is_finite() && scale.place(value).is_finite();
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
        let trajectories = Trajectories { time, variables, ..Trajectories::default() };
        Figure::new("Demo", &trajectories, &trajectories.variables.iter().collect::<Vec<_>>())
    }

    #[test]
    fn curves_are_grouped_by_displayed_unit() {
        let figure = figure();
        let panels: Vec<_> = figure
            .panels
            .iter()
            .map(|p| (p.y.unit.as_str(), p.curves.iter().map(|c| c.name.as_str()).collect::<Vec<_>>()))
            .collect();
        assert_eq!(panels, [("V", vec!["source.v", "step.y"]), ("deg", vec!["arm.phi"])]);
        assert!((figure.panels[1].curves[0].y[200] - 85.73).abs() < 0.1);
    }

    #[test]
    fn what_has_no_place_on_a_logarithmic_axis_is_a_gap() {
        let scale = Scale::Logarithmic;
        let (x, y) = (Range { low: 0.0, high: 2.0, scale }, Range { low: 0.0, high: 1.0, scale });
        let curve =
            Curve::new("a", vec![0.0, 1.0, 10.0, 30.0, 50.0, 100.0].into(), vec![1.0, 1.0, 10.0, 0.0, -2.0, 10.0]);
        let runs = placed(&curve, x, y, 100);
        assert_eq!(runs, [vec![(0.0, 0.0), (0.5, 1.0)], vec![(1.0, 1.0)]]);
    }

    #[test]
    fn thinning_keeps_spikes_and_gaps() {
        let time: Vec<f64> = (0..1000).map(f64::from).collect();
        let mut values = vec![0.0; 1000];
        values[503] = 9.0;
        values[700] = f64::NAN;
        let runs = thinned(&time, &values, Range { low: 0.0, high: 999.0, scale: Scale::Linear }, Scale::Linear, 10);
        assert_eq!(runs.len(), 2);
        assert!(runs[0].contains(&(503.0, 9.0)));
        assert!(runs.iter().map(Vec::len).sum::<usize>() < 50);
    }
}
