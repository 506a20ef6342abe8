//! Where everything of a picture goes: frames, ticks, legends and curves in pixels, the same for SVG and PNG.

use super::axis::{Range, Tick, ticks};
use super::clip::clipped;
use super::{Curve, Figure, Panel, Shape, Style, colour, thinned};

pub const TEXT_SIZE: f64 = 13.0;
/// A wide guess of what a character takes, in parts of the text size: enough room for names of mixed letters.
const CHARACTER: f64 = 0.68;
const LEGEND_LINE: f64 = 20.0;

#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Frame {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

pub struct LegendEntry {
    /// The left end of its dash.
    pub x: f64,
    pub y: f64,
    pub name: String,
    pub colour: [u8; 3],
    /// A dash where it has none.
    pub shape: Option<Shape>,
}

pub struct PlacedMarks {
    pub colour: [u8; 3],
    pub shape: Shape,
    /// As parts of the frame, from its lower left corner.
    pub points: Vec<(f64, f64)>,
}

pub struct PlacedNote {
    pub at: (f64, f64),
    pub text: String,
}

pub struct PlacedCurve {
    pub colour: [u8; 3],
    pub thin: bool,
    /// Runs of points in pixels from the upper left corner of the frame.
    pub runs: Vec<Vec<(f64, f64)>>,
}

pub struct PlacedPanel {
    pub frame: Frame,
    pub x: Range,
    pub y: Range,
    pub x_ticks: Vec<Tick>,
    pub y_ticks: Vec<Tick>,
    pub label: String,
    pub legend: Vec<LegendEntry>,
    pub curves: Vec<PlacedCurve>,
    pub marks: Vec<PlacedMarks>,
    pub notes: Vec<PlacedNote>,
    /// Only the lowest panel carries the labels of the horizontal axis.
    pub lowest: bool,
}

impl PlacedPanel {
    pub fn x_of(&self, value: f64) -> f64 {
        self.frame.left + self.x.fraction(value) * self.frame.width
    }

    pub fn y_of(&self, value: f64) -> f64 {
        self.frame.bottom() - self.y.fraction(value) * self.frame.height
    }
}

pub struct Layout {
    pub width: f64,
    pub height: f64,
    pub title: String,
    /// Of the horizontal axis.
    pub label: String,
    pub panels: Vec<PlacedPanel>,
}

/// `detail` times more points than pixels are kept, for pictures that can be zoomed.
pub fn layout(figure: &Figure, detail: usize) -> Layout {
    let width = 800.0;
    let mut x = figure.x_range();
    let mut y_ranges: Vec<Range> = figure.panels.iter().map(|panel| panel.y_range().padded()).collect();
    let height = match (figure.panels.len(), figure.equal) {
        (1, true) => 520.0,
        (1, false) => 340.0,
        _ => 220.0,
    };
    let most_y = if figure.panels.len() == 1 { 7 } else { 5 };
    let longest_label = |ranges: &[Range]| {
        let labels = ranges.iter().flat_map(|&range| ticks(range, most_y));
        labels.map(|tick| tick.label.chars().count()).max().unwrap_or(1)
    };
    let left_of = |y: &[Range]| 34.0 + longest_label(y) as f64 * TEXT_SIZE * CHARACTER;
    if figure.equal {
        // Labels of the stretched range may need another width, which changes the range by next to nothing.
        let shape = |y: &[Range]| (width - left_of(y) - 24.0) / height;
        x = x.padded();
        for _ in 0..2 {
            let ratio = shape(&y_ranges);
            (x, y_ranges) = equalled(x, y_ranges, ratio);
        }
    }
    let left = left_of(&y_ranges);
    let plot_width = width - left - 24.0;
    let mut top = if figure.title.is_empty() { 10.0 } else { 34.0 };
    let mut panels = Vec::new();
    for (index, (panel, y)) in figure.panels.iter().zip(y_ranges).enumerate() {
        let (legend, legend_height) = legend(panel, left, top, plot_width);
        let frame = Frame { left, top: top + legend_height + 4.0, width: plot_width, height };
        let fractions = |point: &(f64, f64)| (x.fraction(point.0), y.fraction(point.1));
        let marks = panel.marks.iter().enumerate().map(|(number, marks)| PlacedMarks {
            colour: mark_colour(panel, number),
            shape: marks.shape,
            points: marks.points.iter().map(fractions).collect(),
        });
        let notes = panel.notes.iter().map(|note| PlacedNote { at: fractions(&note.at), text: note.text.clone() });
        panels.push(PlacedPanel {
            curves: place_curves(panel, x, y, frame, detail),
            marks: marks.collect(),
            notes: notes.collect(),
            frame,
            x,
            y,
            x_ticks: ticks(x, 10),
            y_ticks: ticks(y, most_y),
            label: panel.y.label(),
            legend,
            lowest: index + 1 == figure.panels.len(),
        });
        top = frame.bottom() + 14.0;
    }
    Layout { width, height: top + 36.0, title: figure.title.clone(), label: figure.x.label(), panels }
}

/// Stretches ranges until a unit is equally long in both directions of frames that are `shape` times as wide as high.
pub(super) fn equalled(x: Range, y: Vec<Range>, shape: f64) -> (Range, Vec<Range>) {
    let tallest = y.iter().map(|range| range.length()).fold(0.0, f64::max);
    let wide = x.length().max(tallest * shape);
    let stretch = |range: Range| range.stretched(wide / shape / range.length());
    (x.stretched(wide / x.length()), y.into_iter().map(stretch).collect())
}

fn place_curves(panel: &Panel, x: Range, y: Range, frame: Frame, detail: usize) -> Vec<PlacedCurve> {
    let buckets = frame.width as usize * detail;
    let place = |(curve, number): (&Curve, Option<usize>)| {
        let mut runs = thinned(&curve.x, &curve.y, x, buckets);
        for point in runs.iter_mut().flatten() {
            *point = (x.fraction(point.0), y.fraction(point.1));
        }
        // A page that zooms may also show what is around the panel.
        let mut runs = clipped(runs, if detail > 1 { 10.0 } else { 0.0 });
        for point in runs.iter_mut().flatten() {
            *point = (point.0 * frame.width, (1.0 - point.1) * frame.height);
        }
        PlacedCurve { colour: colour(number), thin: curve.style != Style::Solid, runs }
    };
    panel.curves.iter().zip(panel.colours()).map(place).collect()
}

/// Marks go on with the colours after the curves that have a name.
pub(super) fn mark_colour(panel: &Panel, number: usize) -> [u8; 3] {
    let named = panel.curves.iter().filter(|curve| curve.style == Style::Solid && !curve.name.is_empty()).count();
    colour(Some(named + number))
}

/// Entries in as many lines as they need above the frame, and the height of that.
fn legend(panel: &Panel, left: f64, top: f64, width: f64) -> (Vec<LegendEntry>, f64) {
    let curves = panel.curves.iter().zip(panel.colours()).filter(|(curve, _)| !curve.name.is_empty());
    let curves = curves.map(|(curve, number)| (&curve.name, colour(number), None));
    let marks = panel.marks.iter().enumerate().filter(|(_, marks)| !marks.name.is_empty());
    let marks = marks.map(|(number, marks)| (&marks.name, mark_colour(panel, number), Some(marks.shape)));
    let (mut x, mut y) = (left, top + LEGEND_LINE / 2.0);
    let mut entries = Vec::new();
    for (name, colour, shape) in curves.chain(marks) {
        let wide = 26.0 + name.chars().count() as f64 * TEXT_SIZE * CHARACTER + 18.0;
        if x > left && x + wide > left + width {
            x = left;
            y += LEGEND_LINE;
        }
        entries.push(LegendEntry { x, y, name: name.clone(), colour, shape });
        x += wide;
    }
    if entries.is_empty() {
        return (entries, 0.0);
    }
    (entries, y - top + LEGEND_LINE / 2.0)
}
