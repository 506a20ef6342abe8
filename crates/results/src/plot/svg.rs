//! A figure as SVG.
//!
//! The page that zooms finds what it moves by classes, and its style sheet gives the same elements other colours in the dark.

use std::fmt::Write as _;

use super::colours::hexadecimal;
use super::layout::{
    Frame, Layout, LegendEntry, PlacedBand, PlacedCurve, PlacedKey, PlacedPanel, SHADES, Sign, Subject, TEXT_SIZE,
    TITLE_SIZE, layout,
};
use super::{Figure, Shape, Side};

/// A picture of its own.
pub fn svg(figure: &Figure) -> String {
    draw(&layout(figure))
}

pub(super) fn draw(layout: &Layout) -> String {
    let (width, height) = (layout.width, layout.height);
    let family = vector::FAMILY;
    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="{family}" font-size="{TEXT_SIZE}" fill="#333">
<rect class="paper" width="100%" height="100%" fill="#fff"/>
"##
    );
    if !layout.title.is_empty() {
        let title = escape(&layout.title);
        let _ = writeln!(
            out,
            r##"<text x="{}" y="22" font-size="{TITLE_SIZE}" font-weight="700" text-anchor="middle">{title}</text>"##,
            width / 2.0
        );
    }
    for panel in &layout.panels {
        draw_panel(&mut out, panel);
    }
    if let Some(panel) = layout.panels.last() {
        let middle = panel.frame.left + panel.frame.width / 2.0;
        let _ = writeln!(
            out,
            r##"<text x="{middle:.1}" y="{:.1}" text-anchor="middle">{}</text>"##,
            panel.frame.bottom() + 38.0,
            escape(&layout.label)
        );
    }
    out.push_str("</svg>\n");
    out
}

fn draw_panel(out: &mut String, panel: &PlacedPanel) {
    let frame = &panel.frame;
    let _ = writeln!(
        out,
        r##"<g class="panel" data-x="{} {}" data-y="{} {}" data-frame="{:.1} {:.1} {:.1} {:.1}" data-lowest="{}">"##,
        panel.x.low,
        panel.x.high,
        panel.y.low,
        panel.y.high,
        frame.left,
        frame.top,
        frame.width,
        frame.height,
        panel.lowest
    );
    draw_ticks(out, panel);
    let _ = writeln!(
        out,
        r##"<svg class="curves" x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" viewBox="0 0 {:.1} {:.1}" fill="none" stroke-width="1.6" stroke-linejoin="round">"##,
        frame.left, frame.top, frame.width, frame.height, frame.width, frame.height
    );
    for block in &panel.blocks {
        let Frame { left, top, width, height } = block.frame;
        let (left, top, width, height) = (shortest(left), shortest(top), shortest(width), shortest(height));
        // The stroke of the same colour closes the seams that rasterising leaves between neighbours.
        let colour = hexadecimal(block.colour);
        let _ = writeln!(
            out,
            r##"<rect class="block" x="{left}" y="{top}" width="{width}" height="{height}" fill="{colour}" stroke="{colour}" stroke-width="0.4"><title>{}</title></rect>"##,
            escape(&block.hint)
        );
    }
    panel.bands.iter().for_each(|band| draw_band(out, band));
    panel.curves.iter().for_each(|curve| draw_curve(out, curve));
    let _ = writeln!(
        out,
        r##"</svg>
<rect class="frame" x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" fill="none" stroke="#888"/>"##,
        frame.left, frame.top, frame.width, frame.height
    );
    draw_marks(out, panel);
    panel.legend.iter().for_each(|entry| draw_entry(out, entry));
    panel.key.iter().for_each(|key| draw_key(out, key));
    if !panel.label.is_empty() {
        let (x, y) = (16.0, frame.top + frame.height / 2.0);
        let _ = writeln!(
            out,
            r##"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" transform="rotate(-90 {x:.1} {y:.1})">{}</text>"##,
            escape(&panel.label)
        );
    }
    out.push_str("</g>\n");
}

fn draw_entry(out: &mut String, entry: &LegendEntry) {
    let colour = hexadecimal(entry.colour);
    let of = match entry.of {
        Some(Subject::Curve(number)) => format!(r#" data-curve="{number}""#),
        Some(Subject::Band(number)) => format!(r#" data-band="{number}""#),
        None => String::new(),
    };
    let (left, middle) = (entry.x, entry.y);
    let _ = write!(out, r##"<g class="entry"{of}><title>{}</title>"##, escape(&entry.name));
    let _ = match entry.sign {
        Sign::Line(dashes) => write!(
            out,
            r##"<path d="M{left:.1} {middle:.1}h20" stroke="{colour}" stroke-width="2.4"{}/>"##,
            dashed(dashes)
        ),
        Sign::Area => write!(
            out,
            r##"<rect class="band" x="{left:.1}" y="{:.1}" width="20" height="10" fill="{colour}"/>"##,
            middle - 5.0
        ),
        Sign::Mark(shape) => write!(
            out,
            r##"<path transform="translate({:.1} {middle:.1})" d="{}" stroke="{colour}" stroke-width="1.8" fill="none"/>"##,
            left + 12.0,
            shape_path(shape)
        ),
    };
    let (x, y) = (left + 26.0, middle + 4.5);
    let _ = writeln!(out, r##"<text x="{x:.1}" y="{y:.1}">{}</text></g>"##, escape(&entry.shown));
}

/// A bar of colours with numbers to its right.
fn draw_key(out: &mut String, key: &PlacedKey) {
    let frame = &key.frame;
    let step = frame.height / SHADES as f64;
    for (number, colour) in key.colours().enumerate() {
        let top = frame.bottom() - (number + 1) as f64 * step;
        let colour = hexadecimal(colour);
        let _ = writeln!(
            out,
            r##"<rect x="{:.1}" y="{top:.2}" width="{:.1}" height="{:.2}" fill="{colour}"/>"##,
            frame.left,
            frame.width,
            step + 0.3
        );
    }
    let _ = writeln!(
        out,
        r##"<rect class="frame" x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" fill="none" stroke="#888"/>"##,
        frame.left, frame.top, frame.width, frame.height
    );
    let mut widest = 0.0f64;
    for tick in key.ticks.iter().filter(|tick| (-1e-6..=1.0 + 1e-6).contains(&key.range.fraction(tick.value))) {
        let y = frame.bottom() - key.range.fraction(tick.value) * frame.height;
        let _ = writeln!(
            out,
            r##"<path class="frame" d="M{:.1} {y:.1}h4" stroke="#888"/><text x="{:.1}" y="{:.1}">{}</text>"##,
            frame.right(),
            frame.right() + 7.0,
            y + 4.5,
            tick.label
        );
        widest = widest.max(vector::length(&tick.label, false) * TEXT_SIZE);
    }
    let (x, y) = (frame.right() + 7.0 + widest + 16.0, frame.top + frame.height / 2.0);
    let _ = writeln!(
        out,
        r##"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" transform="rotate(-90 {x:.1} {y:.1})">{}</text>"##,
        escape(&key.label)
    );
}

fn draw_band(out: &mut String, band: &PlacedBand) {
    let mut path = String::new();
    for [upper, lower] in &band.parts {
        for (index, (x, y)) in upper.iter().chain(lower.iter().rev()).enumerate() {
            let _ = write!(path, "{}{} {}", if index == 0 { 'M' } else { 'L' }, shortest(*x), shortest(*y));
        }
        path.push('Z');
    }
    let _ = writeln!(out, r##"<path class="band" fill="{}" d="{path}"/>"##, hexadecimal(band.colour));
}

fn dashed(dashes: &str) -> String {
    if dashes.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dashes}""#) }
}

/// Marks and notes keep their size when the page zooms, which moves them by `data-at`.
fn draw_marks(out: &mut String, panel: &PlacedPanel) {
    let frame = &panel.frame;
    let place = |at: (f64, f64)| (frame.left + at.0 * frame.width, frame.bottom() - at.1 * frame.height);
    let inside = |at: (f64, f64)| (0.0..=1.0).contains(&at.0) && (0.0..=1.0).contains(&at.1);
    for marks in &panel.marks {
        let (colour, path) = (hexadecimal(marks.colour), shape_path(marks.shape));
        for &at in marks.points.iter().filter(|at| inside(**at)) {
            let (x, y) = place(at);
            let _ = writeln!(
                out,
                r##"<path class="mark" data-at="{} {}" transform="translate({x:.1} {y:.1})" d="{path}" stroke="{colour}" stroke-width="1.8" fill="none"/>"##,
                at.0, at.1
            );
        }
    }
    for note in panel.notes.iter().filter(|note| inside(note.at)) {
        let (x, y) = place(note.at);
        let (offset, above, anchor) = match note.side {
            Side::Above if note.at.0 > 0.7 => (-7, -6.0, "end"),
            Side::Above => (7, -6.0, "start"),
            Side::Left => (-7, 4.5, "end"),
            Side::Right => (7, 4.5, "start"),
        };
        let _ = writeln!(
            out,
            r##"<text class="mark note" data-at="{} {}" transform="translate({x:.1} {y:.1})" x="{offset}" y="{above}" text-anchor="{anchor}" font-size="12" fill="#555">{}</text>"##,
            note.at.0,
            note.at.1,
            escape(&note.text)
        );
    }
}

fn shape_path(shape: Shape) -> String {
    let mut path = String::new();
    for line in shape.lines() {
        for (index, (x, y)) in line.iter().enumerate() {
            let _ = write!(path, "{}{} {}", if index == 0 { 'M' } else { 'L' }, shortest(*x), shortest(*y));
        }
    }
    path
}

fn draw_ticks(out: &mut String, panel: &PlacedPanel) {
    let frame = &panel.frame;
    out.push_str("<g class=\"ticks\">\n");
    for tick in &panel.x_ticks {
        let x = panel.x_of(tick.value);
        let grey = grid_colour(&tick.label);
        let _ = writeln!(
            out,
            r##"<path class="{}" d="M{x:.1} {:.1}v{:.1}" stroke="{grey}"/>"##,
            grid_class(&tick.label),
            frame.top,
            frame.height
        );
        if panel.lowest && !tick.label.is_empty() {
            let y = frame.bottom() + 18.0;
            let label = escape(&tick.label);
            let _ = writeln!(out, r##"<text x="{x:.1}" y="{y:.1}" text-anchor="middle">{label}</text>"##);
        }
    }
    for tick in &panel.y_ticks {
        let y = panel.y_of(tick.value);
        let _ = writeln!(
            out,
            r##"<path class="{}" d="M{:.1} {y:.1}h{:.1}" stroke="{}"/><text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"##,
            grid_class(&tick.label),
            frame.left,
            frame.width,
            grid_colour(&tick.label),
            frame.left - 7.0,
            y + 4.5,
            escape(&tick.label)
        );
    }
    out.push_str("</g>\n");
}

fn grid_class(label: &str) -> &'static str {
    if label.is_empty() { "fine" } else { "grid" }
}

fn grid_colour(label: &str) -> &'static str {
    if label.is_empty() { "#f3f3f3" } else { "#e4e4e4" }
}

fn draw_curve(out: &mut String, curve: &PlacedCurve) {
    let colour = hexadecimal(curve.colour);
    let thin = if curve.thin { r#" stroke-width="1" stroke-dasharray="5 4""#.to_owned() } else { dashed(curve.dashes) };
    // Only the ends of lines show a point.
    let is_point = |run: &Vec<(f64, f64)>| run.len() == 1;
    let round = if curve.runs.iter().any(is_point) { r#" stroke-linecap="round""# } else { "" };
    let _ = write!(out, r##"<path class="curve" stroke="{colour}"{thin}{round} d=""##);
    for run in &curve.runs {
        for (index, (x, y)) in run.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(out, "{command}{} {}", shortest(*x), shortest(*y));
        }
        // A single point is drawn as a dot.
        if run.len() == 1 {
            out.push_str("h0.01");
        }
    }
    out.push_str("\"/>\n");
}

/// Two decimals, without trailing zeros.
fn shortest(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Curve, Marks, Note, Panel};

    #[test]
    fn marks_notes_and_equal_scales() {
        let circle = |k: i32| f64::from(k) * 0.1;
        let x: Vec<f64> = (0..63).map(|k| circle(k).cos()).collect();
        let curve = Curve::new("circle", x.into(), (0..63).map(|k| circle(k).sin()).collect());
        let panel = Panel {
            curves: vec![curve],
            marks: vec![Marks { name: "-1".to_owned(), shape: Shape::Plus, points: vec![(-1.0, 0.0), (9.0, 0.0)] }],
            notes: vec![Note { at: (-1.0, 0.0), text: "a < b".to_owned(), side: Side::Above }],
            ..Panel::default()
        };
        let mut figure = Figure { panels: vec![panel], equal: true, ..Figure::default() };
        figure.x.limits = Some((-2.0, 2.0));
        let placed = &layout(&figure).panels[0];
        let (x, y) = (placed.frame.width / placed.x.length(), placed.frame.height / placed.y.length());
        assert!((x / y - 1.0).abs() < 1e-9, "{x} {y}");
        let picture = svg(&figure);
        // The mark outside of the frame is left out.
        assert_eq!(picture.matches("class=\"mark").count(), 2);
        assert!(picture.contains("a &lt; b</text>"));
    }

    #[test]
    fn a_jump_is_a_vertical_line() {
        let figure = Figure {
            title: "a < b".to_owned(),
            x: Axis::new("time", "s"),
            panels: vec![Panel {
                y: Axis::new("", "V"),
                curves: vec![Curve::new("u", vec![0.0, 1.0, 1.0, 2.0].into(), vec![0.0, 0.0, 1.0, 1.0])],
                ..Panel::default()
            }],
            equal: false,
        };
        let picture = svg(&figure);
        let path = picture.lines().find(|line| line.contains("class=\"curve\"")).unwrap();
        let width = layout(&figure).panels[0].frame.width;
        let (half, full) = (shortest(width / 2.0), shortest(width));
        let (low, high) = (327.41, 12.59);
        let expected = format!("d=\"M0 {low}L{half} {low}L{half} {high}L{full} {high}\"/>");
        assert!(path.ends_with(&expected), "{path}\n{expected}");
        assert!(picture.contains("a &lt; b"));
    }
}
