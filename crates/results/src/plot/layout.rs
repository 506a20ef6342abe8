//! Where everything of a picture goes: frames, ticks, legends and curves in pixels, the same for SVG and PNG.

use super::axis::{Range, Tick, ticks};
use super::{COLOURS, Figure, Panel, thinned};

pub const TEXT_SIZE: f64 = 13.0;
/// A wide guess of what a character takes, in parts of the text size: enough room for names of mixed letters.
const CHARACTER: f64 = 0.62;
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
}

pub struct PlacedCurve {
    pub colour: [u8; 3],
    /// Runs of points in pixels from the upper left corner of the frame.
    pub runs: Vec<Vec<(f64, f64)>>,
}

pub struct PlacedPanel {
    pub frame: Frame,
    pub x: Range,
    pub y: Range,
    pub x_ticks: Vec<Tick>,
    pub y_ticks: Vec<Tick>,
    pub unit: String,
    pub legend: Vec<LegendEntry>,
    pub curves: Vec<PlacedCurve>,
    /// Only the lowest panel carries the labels of the time axis.
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
    pub panels: Vec<PlacedPanel>,
}

/// `detail` times more points than pixels are kept, for pictures that can be zoomed.
pub fn layout(figure: &Figure, detail: usize) -> Layout {
    let width = 800.0;
    let time = Range::of(figure.time.iter().copied());
    let y_ranges: Vec<Range> = figure.panels.iter().map(panel_range).collect();
    let height = if figure.panels.len() == 1 { 340.0 } else { 220.0 };
    let most_y = if figure.panels.len() == 1 { 7 } else { 5 };
    let y_ticks: Vec<Vec<Tick>> = y_ranges.iter().map(|&range| ticks(range, most_y)).collect();
    let longest = y_ticks.iter().flatten().map(|tick| tick.label.chars().count()).max().unwrap_or(1);
    let left = 34.0 + longest as f64 * TEXT_SIZE * CHARACTER;
    let plot_width = width - left - 24.0;
    let mut top = if figure.title.is_empty() { 10.0 } else { 34.0 };
    let mut panels = Vec::new();
    for (index, (panel, (y, y_ticks))) in figure.panels.iter().zip(y_ranges.into_iter().zip(y_ticks)).enumerate() {
        let (legend, legend_height) = legend(panel, left, top, plot_width);
        let frame = Frame { left, top: top + legend_height + 4.0, width: plot_width, height };
        let curves = panel.curves.iter().enumerate().map(|(number, curve)| {
            let buckets = plot_width as usize * detail;
            let mut runs = thinned(&figure.time, &curve.values, time, buckets);
            for point in runs.iter_mut().flatten() {
                *point = (time.fraction(point.0) * frame.width, (1.0 - y.fraction(point.1)) * frame.height);
            }
            PlacedCurve { colour: COLOURS[number % COLOURS.len()], runs }
        });
        panels.push(PlacedPanel {
            curves: curves.collect(),
            frame,
            x: time,
            y,
            x_ticks: ticks(time, 10),
            y_ticks,
            unit: panel.unit.clone(),
            legend,
            lowest: index + 1 == figure.panels.len(),
        });
        top = frame.bottom() + 14.0;
    }
    Layout { width, height: top + 36.0, title: figure.title.clone(), panels }
}

fn panel_range(panel: &Panel) -> Range {
    Range::of(panel.curves.iter().flat_map(|curve| curve.values.iter().copied())).padded()
}

/// Entries in as many lines as they need above the frame, and the height of that.
fn legend(panel: &Panel, left: f64, top: f64, width: f64) -> (Vec<LegendEntry>, f64) {
    let (mut x, mut y) = (left, top + LEGEND_LINE / 2.0);
    let mut entries = Vec::new();
    for (number, curve) in panel.curves.iter().enumerate() {
        let wide = 26.0 + curve.name.chars().count() as f64 * TEXT_SIZE * CHARACTER + 18.0;
        if x > left && x + wide > left + width {
            x = left;
            y += LEGEND_LINE;
        }
        entries.push(LegendEntry { x, y, name: curve.name.clone(), colour: COLOURS[number % COLOURS.len()] });
        x += wide;
    }
    (entries, y - top + LEGEND_LINE / 2.0)
}
