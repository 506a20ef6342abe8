//! A figure as SVG.
//!
//! The curves of a panel stand in a nested `svg` element with a view box of its own, so that the HTML page zooms by
//! changing that view box alone; the strokes keep their width.

use std::fmt::Write as _;

use super::Figure;
use super::layout::{Layout, PlacedCurve, PlacedPanel, TEXT_SIZE, layout};

/// A picture of its own.
pub fn svg(figure: &Figure) -> String {
    draw(&layout(figure, 1))
}

pub(super) fn draw(layout: &Layout) -> String {
    let (width, height) = (layout.width, layout.height);
    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="{TEXT_SIZE}" fill="#333">
<rect width="100%" height="100%" fill="#fff"/>
"##
    );
    if !layout.title.is_empty() {
        let title = escape(&layout.title);
        let _ = writeln!(
            out,
            r##"<text x="{}" y="22" font-size="15" font-weight="600" text-anchor="middle">{title}</text>"##,
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
            r##"<text x="{middle:.1}" y="{:.1}" text-anchor="middle">time (s)</text>"##,
            panel.frame.bottom() + 38.0
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
        r##"<svg class="curves" x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" viewBox="0 0 {:.1} {:.1}" preserveAspectRatio="none" fill="none" stroke-width="1.6" stroke-linejoin="round">"##,
        frame.left, frame.top, frame.width, frame.height, frame.width, frame.height
    );
    panel.curves.iter().for_each(|curve| draw_curve(out, curve));
    let _ = writeln!(
        out,
        r##"</svg>
<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" fill="none" stroke="#888"/>"##,
        frame.left, frame.top, frame.width, frame.height
    );
    for entry in &panel.legend {
        let _ = writeln!(
            out,
            r##"<path d="M{:.1} {:.1}h20" stroke="{}" stroke-width="2.4"/><text x="{:.1}" y="{:.1}">{}</text>"##,
            entry.x,
            entry.y,
            hexadecimal(entry.colour),
            entry.x + 26.0,
            entry.y + 4.5,
            escape(&entry.name)
        );
    }
    if !panel.unit.is_empty() {
        let (x, y) = (16.0, frame.top + frame.height / 2.0);
        let _ = writeln!(
            out,
            r##"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" transform="rotate(-90 {x:.1} {y:.1})">{}</text>"##,
            escape(&panel.unit)
        );
    }
    out.push_str("</g>\n");
}

fn draw_ticks(out: &mut String, panel: &PlacedPanel) {
    let frame = &panel.frame;
    out.push_str("<g class=\"ticks\">\n");
    for tick in &panel.x_ticks {
        let x = panel.x_of(tick.value);
        let _ = writeln!(out, r##"<path d="M{x:.1} {:.1}v{:.1}" stroke="#e4e4e4"/>"##, frame.top, frame.height);
        if panel.lowest {
            let y = frame.bottom() + 18.0;
            let _ = writeln!(out, r##"<text x="{x:.1}" y="{y:.1}" text-anchor="middle">{}</text>"##, tick.label);
        }
    }
    for tick in &panel.y_ticks {
        let y = panel.y_of(tick.value);
        let _ = writeln!(
            out,
            r##"<path d="M{:.1} {y:.1}h{:.1}" stroke="#e4e4e4"/><text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"##,
            frame.left,
            frame.width,
            frame.left - 7.0,
            y + 4.5,
            tick.label
        );
    }
    out.push_str("</g>\n");
}

fn draw_curve(out: &mut String, curve: &PlacedCurve) {
    let _ = write!(out, r##"<path stroke="{}" vector-effect="non-scaling-stroke" d=""##, hexadecimal(curve.colour));
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

fn hexadecimal([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Curve, Panel};

    #[test]
    fn a_jump_is_a_vertical_line() {
        let figure = Figure {
            title: "a < b".to_owned(),
            time: vec![0.0, 1.0, 1.0, 2.0],
            panels: vec![Panel {
                unit: "V".to_owned(),
                curves: vec![Curve { name: "u".to_owned(), values: vec![0.0, 0.0, 1.0, 1.0] }],
            }],
        };
        let picture = svg(&figure);
        let path = picture.lines().find(|line| line.contains("non-scaling-stroke")).unwrap();
        let width = layout(&figure, 1).panels[0].frame.width;
        let (half, full) = (shortest(width / 2.0), shortest(width));
        let (low, high) = (327.41, 12.59);
        let expected = format!("d=\"M0 {low}L{half} {low}L{half} {high}L{full} {high}\"/>");
        assert!(path.ends_with(&expected), "{path}\n{expected}");
        assert!(picture.contains("a &lt; b"));
    }
}
