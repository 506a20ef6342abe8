//! Where everything of a picture goes: frames, ticks, legends and curves in pixels, the same for all formats.

use super::axis::{Range, Tick, ticks};
use super::colours::{colour, dashes, faded, shade};
use super::elide::elided;
use super::{Band, Block, Curve, Figure, Key, Panel, Shape, Side, Style, placed};

pub const TEXT_SIZE: f64 = 13.0;
pub const TITLE_SIZE: f64 = 15.0;
const LEGEND_LINE: f64 = 20.0;
const WIDTH: f64 = 800.0;
/// The bar that says what colours mean, with the room before and behind it.
const KEY: (f64, f64) = (16.0, 16.0);
/// Names on an axis take no more than this.
const LONGEST_NAME: f64 = 240.0;

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
    /// As much of the name as fits.
    pub shown: String,
    pub name: String,
    pub colour: [u8; 3],
    pub sign: Sign,
    /// The number of the curve or of the band that it stands for.
    pub of: Option<Subject>,
}

/// What stands before a name.
pub enum Sign {
    /// A line with these dashes.
    Line(&'static str),
    Area,
    Mark(Shape),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    Curve(usize),
    Band(usize),
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
    pub side: Side,
}

pub struct PlacedCurve {
    pub colour: [u8; 3],
    pub thin: bool,
    pub dashes: &'static str,
    /// Runs of points in pixels from the upper left corner of the frame.
    pub runs: Vec<Vec<(f64, f64)>>,
}

pub struct PlacedBand {
    pub colour: [u8; 3],
    /// The upper line and the lower one in pixels from the upper left corner of the frame, for each part without gaps.
    pub parts: Vec<[Vec<(f64, f64)>; 2]>,
}

pub struct PlacedBlock {
    /// In pixels from the upper left corner of the frame.
    pub frame: Frame,
    pub colour: [u8; 3],
    pub hint: String,
}

/// A bar of colours.
pub struct PlacedKey {
    pub frame: Frame,
    pub range: Range,
    pub ticks: Vec<Tick>,
    pub label: String,
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
    pub bands: Vec<PlacedBand>,
    pub blocks: Vec<PlacedBlock>,
    pub key: Option<PlacedKey>,
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

pub fn layout(figure: &Figure) -> Layout {
    let mut x = figure.x_range();
    let mut y_ranges: Vec<Range> = figure.panels.iter().map(|panel| panel.padded_y_range(x)).collect();
    let most_y = if figure.panels.len() == 1 { 7 } else { 5 };
    let height = |panel: &Panel| match (figure.panels.len(), figure.equal) {
        _ if !panel.y.names.is_empty() => 60.0 + 34.0 * panel.y.names.len() as f64,
        (1, true) => 520.0,
        (1, false) => 340.0,
        _ => 220.0,
    };
    let left_of = |ranges: &[Range]| {
        let labels = figure.panels.iter().zip(ranges).flat_map(|(panel, &range)| y_ticks(panel, range, most_y));
        34.0 + labels.map(|tick| vector::length(&tick.label, false) * TEXT_SIZE).fold(8.0, f64::max)
    };
    let keys = figure.panels.iter().filter_map(|panel| panel.key.as_ref()).map(key_width).fold(24.0, f64::max);
    // The last label of the horizontal axis may stand below the corner.
    let half_label = |tick: &Tick| 0.5 * vector::length(&tick.label, false) * TEXT_SIZE + 4.0;
    let right = figure.x.ticks(x, 6).iter().map(half_label).fold(keys, f64::max);
    if figure.equal {
        // Labels of the stretched range may need another width, which changes the range by next to nothing.
        let shape = |y: &[Range]| (WIDTH - left_of(y) - right) / figure.panels.first().map_or(1.0, height);
        x = x.padded();
        for _ in 0..2 {
            let ratio = shape(&y_ranges);
            (x, y_ranges) = equalled(x, y_ranges, ratio);
        }
    }
    let left = left_of(&y_ranges);
    let plot_width = WIDTH - left - right;
    let mut top = if figure.title.is_empty() { 10.0 } else { 34.0 };
    let mut panels = Vec::new();
    for (index, (panel, y)) in figure.panels.iter().zip(y_ranges).enumerate() {
        let (legend, legend_height) = legend(panel, left, top, plot_width);
        let frame = Frame { left, top: top + legend_height + 4.0, width: plot_width, height: height(panel) };
        let fractions = |point: &(f64, f64)| (x.fraction(point.0), y.fraction(point.1));
        let marks = panel.marks.iter().enumerate().map(|(number, marks)| PlacedMarks {
            colour: mark_colour(panel, number),
            shape: marks.shape,
            points: marks.points.iter().map(fractions).collect(),
        });
        let notes = panel.notes.iter().map(|note| PlacedNote {
            at: fractions(&note.at),
            text: note.text.clone(),
            side: note.side,
        });
        panels.push(PlacedPanel {
            curves: place_curves(panel, x, y, frame),
            marks: marks.collect(),
            notes: notes.collect(),
            bands: panel.bands.iter().map(|band| place_band(band, x, y, frame)).collect(),
            blocks: panel.blocks.iter().map(|block| place_block(block, x, y, frame)).collect(),
            key: panel.key.as_ref().map(|key| place_key(key, frame)),
            frame,
            x,
            y,
            x_ticks: x_ticks(figure, x, plot_width),
            y_ticks: y_ticks(panel, y, most_y),
            label: elided(&panel.y.label(), TEXT_SIZE, false, frame.height + 40.0),
            legend,
            lowest: index + 1 == figure.panels.len(),
        });
        top = frame.bottom() + 14.0;
    }
    let title = elided(&figure.title, TITLE_SIZE, true, WIDTH - 40.0);
    let label = elided(&figure.x.label(), TEXT_SIZE, false, plot_width);
    Layout { width: WIDTH, height: top + 36.0, title, label, panels }
}

/// As many ticks as their labels leave room for.
fn x_ticks(figure: &Figure, range: Range, width: f64) -> Vec<Tick> {
    let room = |ticks: &[Tick]| {
        let labels: Vec<(f64, f64)> = ticks
            .iter()
            .filter(|tick| !tick.label.is_empty())
            .map(|tick| (range.fraction(tick.value) * width, vector::length(&tick.label, false) * TEXT_SIZE))
            .collect();
        labels.windows(2).all(|pair| pair[1].0 - pair[0].0 > 0.5 * (pair[0].1 + pair[1].1) + 8.0)
    };
    let tried = [10, 8, 6, 5, 4, 3].map(|most| figure.x.ticks(range, most));
    tried.iter().find(|ticks| room(ticks)).unwrap_or(&tried[5]).clone()
}

fn y_ticks(panel: &Panel, range: Range, most: usize) -> Vec<Tick> {
    let mut ticks = panel.y.ticks(range, most);
    if !panel.y.names.is_empty() {
        ticks.iter_mut().for_each(|tick| tick.label = elided(&tick.label, TEXT_SIZE, false, LONGEST_NAME));
    }
    ticks
}

fn key_ticks(key: &Key) -> (Range, Vec<Tick>) {
    let range = Range::of([key.low, key.high].into_iter(), key.axis.scale);
    (range, ticks(range, 6))
}

fn key_width(key: &Key) -> f64 {
    let labels = key_ticks(key).1.into_iter().map(|tick| vector::length(&tick.label, false) * TEXT_SIZE);
    KEY.0 + KEY.1 + 6.0 + labels.fold(8.0, f64::max) + 34.0
}

fn place_key(key: &Key, beside: Frame) -> PlacedKey {
    let frame = Frame { left: beside.right() + KEY.0, width: KEY.1, ..beside };
    let (range, ticks) = key_ticks(key);
    PlacedKey { frame, range, ticks, label: elided(&key.axis.label(), TEXT_SIZE, false, frame.height) }
}

/// The colours of a key from bottom to top.
pub const SHADES: usize = 64;

impl PlacedKey {
    pub fn colours(&self) -> impl Iterator<Item = [u8; 3]> {
        (0..SHADES).map(|k| shade((k as f64 + 0.5) / SHADES as f64))
    }
}

fn place_block(block: &Block, x: Range, y: Range, frame: Frame) -> PlacedBlock {
    let sorted = |one: f64, other: f64| (one.min(other).clamp(0.0, 1.0), one.max(other).clamp(0.0, 1.0));
    let (left, right) = sorted(x.fraction(block.x.0), x.fraction(block.x.1));
    let (bottom, top) = sorted(y.fraction(block.y.0), y.fraction(block.y.1));
    let frame = Frame {
        left: left * frame.width,
        top: (1.0 - top) * frame.height,
        width: (right - left) * frame.width,
        height: (top - bottom) * frame.height,
    };
    PlacedBlock { frame, colour: block.colour, hint: block.hint.clone() }
}

fn place_band(band: &Band, x: Range, y: Range, frame: Frame) -> PlacedBand {
    let place = |at: f64, value: f64| {
        // Far outside of the frame is as good as further away.
        let height = (1.0 - y.fraction(value)).clamp(-10.0, 10.0);
        (x.fraction(at).clamp(-10.0, 10.0) * frame.width, height * frame.height)
    };
    let mut parts: Vec<[Vec<(f64, f64)>; 2]> = Vec::new();
    let mut open = false;
    for ((&at, &lower), &upper) in band.x.iter().zip(&band.lower).zip(&band.upper) {
        let finite = [x.scale.place(at), y.scale.place(lower), y.scale.place(upper)].iter().all(|it| it.is_finite());
        if finite {
            if !open {
                parts.push([Vec::new(), Vec::new()]);
            }
            if let Some([high, low]) = parts.last_mut() {
                high.push(place(at, upper));
                low.push(place(at, lower));
            }
        }
        open = finite;
    }
    PlacedBand { colour: faded(colour(Some(band.colour.0)), band.colour.1), parts }
}

/// Stretches ranges until a unit is equally long in both directions of frames that are `shape` times as wide as high.
pub(super) fn equalled(x: Range, y: Vec<Range>, shape: f64) -> (Range, Vec<Range>) {
    let tallest = y.iter().map(|range| range.length()).fold(0.0, f64::max);
    let wide = x.length().max(tallest * shape);
    let stretch = |range: Range| range.stretched(wide / shape / range.length());
    (x.stretched(wide / x.length()), y.into_iter().map(stretch).collect())
}

fn place_curves(panel: &Panel, x: Range, y: Range, frame: Frame) -> Vec<PlacedCurve> {
    // Pictures of points have two for each unit of length, and a curve that fills its area must leave no gap between them.
    let buckets = 2 * frame.width as usize;
    let place = |(curve, number): (&Curve, Option<usize>)| {
        let mut runs = placed(curve, x, y, buckets);
        for point in runs.iter_mut().flatten() {
            *point = (point.0 * frame.width, (1.0 - point.1) * frame.height);
        }
        PlacedCurve { colour: colour(number), thin: curve.style != Style::Solid, dashes: dashes(number), runs }
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
    let curves = panel.curves.iter().zip(panel.colours()).enumerate().filter(|(_, (curve, _))| !curve.name.is_empty());
    let curves = curves.map(|(index, (curve, number))| {
        (&curve.name, colour(number), Sign::Line(dashes(number)), Some(Subject::Curve(index)))
    });
    let bands = panel.bands.iter().enumerate().filter(|(_, band)| !band.name.is_empty()).map(|(index, band)| {
        (&band.name, faded(colour(Some(band.colour.0)), band.colour.1), Sign::Area, Some(Subject::Band(index)))
    });
    let marks = panel.marks.iter().enumerate().filter(|(_, marks)| !marks.name.is_empty());
    let marks = marks.map(|(number, marks)| (&marks.name, mark_colour(panel, number), Sign::Mark(marks.shape), None));
    let (mut x, mut y) = (left, top + LEGEND_LINE / 2.0);
    let mut entries = Vec::new();
    for (name, colour, sign, of) in curves.chain(bands).chain(marks) {
        let shown = elided(name, TEXT_SIZE, false, width - 30.0);
        // Where another font takes the place of this one, letters may be wider.
        let wide = 26.0 + vector::length(&shown, false) * TEXT_SIZE * 1.06 + 18.0;
        if x > left && x + wide - 18.0 > left + width {
            x = left;
            y += LEGEND_LINE;
        }
        entries.push(LegendEntry { x, y, shown, name: name.clone(), colour, sign, of });
        x += wide;
    }
    if entries.is_empty() {
        return (entries, 0.0);
    }
    (entries, y - top + LEGEND_LINE / 2.0)
}
