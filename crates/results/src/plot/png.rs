//! A figure as PNG, drawn with straight strokes at twice the size of the SVG. Format: PNG specification, third edition.

use super::font;
use super::layout::{Layout, PlacedPanel, TEXT_SIZE, layout};
use super::raster::Picture;
use super::{Figure, Shape};

const SCALE: f64 = 2.0;
const DARK: [u8; 3] = [51; 3];
const GRID: [u8; 3] = [228; 3];
const FINE_GRID: [u8; 3] = [243; 3];
const FRAME: [u8; 3] = [136; 3];
const NOTE: [u8; 3] = [85; 3];
const EVERYWHERE: [f64; 4] = [0.0, 0.0, f64::MAX, f64::MAX];

/// The figure as a PNG file.
pub fn png(figure: &Figure) -> Vec<u8> {
    let layout = layout(figure, 1);
    encode(&draw(&layout))
}

#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

fn draw(layout: &Layout) -> Picture {
    let mut picture = Picture::new((layout.width * SCALE) as usize, (layout.height * SCALE) as usize);
    let out = &mut picture;
    for panel in &layout.panels {
        draw_grid(out, panel);
        draw_curves(out, panel);
        draw_marks(out, panel);
    }
    text(out, &layout.title, (layout.width / 2.0, 22.0), Anchor::Middle, false);
    for panel in &layout.panels {
        draw_texts(out, panel, &layout.label);
    }
    out.paint(DARK);
    picture
}

fn line(out: &mut Picture, from: (f64, f64), to: (f64, f64), width: f64) {
    let scaled = |(x, y): (f64, f64)| (x * SCALE, y * SCALE);
    out.segment(scaled(from), scaled(to), width * SCALE, EVERYWHERE);
}

fn draw_grid(out: &mut Picture, panel: &PlacedPanel) {
    let frame = panel.frame;
    for (labelled, colour) in [(false, FINE_GRID), (true, GRID)] {
        for tick in panel.x_ticks.iter().filter(|tick| tick.label.is_empty() != labelled) {
            let x = panel.x_of(tick.value);
            line(out, (x, frame.top), (x, frame.bottom()), 1.0);
        }
        for tick in panel.y_ticks.iter().filter(|tick| tick.label.is_empty() != labelled) {
            let y = panel.y_of(tick.value);
            line(out, (frame.left, y), (frame.right(), y), 1.0);
        }
        out.paint(colour);
    }
}

fn draw_curves(out: &mut Picture, panel: &PlacedPanel) {
    let frame = panel.frame;
    let clip = [frame.left, frame.top, frame.right(), frame.bottom()].map(|edge| edge * SCALE);
    for curve in &panel.curves {
        for run in &curve.runs {
            let place = |(x, y): (f64, f64)| ((x + frame.left) * SCALE, (y + frame.top) * SCALE);
            let next = run.iter().skip(1).chain(run.last());
            for (&from, &to) in run.iter().zip(next) {
                out.segment(place(from), place(to), if curve.thin { 0.8 } else { 1.6 } * SCALE, clip);
            }
        }
        out.paint(curve.colour);
    }
    let corners = [
        (frame.left, frame.top),
        (frame.right(), frame.top),
        (frame.right(), frame.bottom()),
        (frame.left, frame.bottom()),
    ];
    for (index, &corner) in corners.iter().enumerate() {
        line(out, corner, corners[(index + 1) % 4], 1.0);
    }
    out.paint(FRAME);
    for entry in &panel.legend {
        match entry.shape {
            Some(shape) => draw_shape(out, shape, (entry.x + 12.0, entry.y)),
            None => line(out, (entry.x, entry.y), (entry.x + 20.0, entry.y), 2.4),
        }
        out.paint(entry.colour);
    }
}

fn draw_marks(out: &mut Picture, panel: &PlacedPanel) {
    let frame = panel.frame;
    let inside = |at: (f64, f64)| (0.0..=1.0).contains(&at.0) && (0.0..=1.0).contains(&at.1);
    for marks in &panel.marks {
        for at in marks.points.iter().filter(|at| inside(**at)) {
            draw_shape(out, marks.shape, (frame.left + at.0 * frame.width, frame.bottom() - at.1 * frame.height));
        }
        out.paint(marks.colour);
    }
    for note in panel.notes.iter().filter(|note| inside(note.at)) {
        let (x, y) = (frame.left + note.at.0 * frame.width, frame.bottom() - note.at.1 * frame.height);
        let (offset, anchor) = if note.at.0 > 0.7 { (-7.0, Anchor::End) } else { (7.0, Anchor::Start) };
        text(out, &note.text, (x + offset, y - 6.0), anchor, false);
    }
    out.paint(NOTE);
}

fn draw_shape(out: &mut Picture, shape: Shape, (x, y): (f64, f64)) {
    for points in shape.lines() {
        points
            .windows(2)
            .for_each(|pair| line(out, (x + pair[0].0, y + pair[0].1), (x + pair[1].0, y + pair[1].1), 1.8));
    }
}

fn draw_texts(out: &mut Picture, panel: &PlacedPanel, label: &str) {
    let frame = panel.frame;
    for entry in &panel.legend {
        text(out, &entry.name, (entry.x + 26.0, entry.y + 4.5), Anchor::Start, false);
    }
    for tick in &panel.y_ticks {
        text(out, &tick.label, (frame.left - 7.0, panel.y_of(tick.value) + 4.5), Anchor::End, false);
    }
    text(out, &panel.label, (20.0, frame.top + frame.height / 2.0), Anchor::Middle, true);
    if panel.lowest {
        for tick in &panel.x_ticks {
            text(out, &tick.label, (panel.x_of(tick.value), frame.bottom() + 18.0), Anchor::Middle, false);
        }
        let middle = frame.left + frame.width / 2.0;
        text(out, label, (middle, frame.bottom() + 38.0), Anchor::Middle, false);
    }
}

/// `upward`: turned by 90°, reading from below.
fn text(out: &mut Picture, text: &str, at: (f64, f64), anchor: Anchor, upward: bool) {
    let unit = TEXT_SIZE * 0.72 / font::CAPITAL;
    let length = text.chars().count() as f64 * font::ADVANCE * unit;
    let mut pen = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -length / 2.0,
        Anchor::End => -length,
    };
    for character in text.chars() {
        for stroke in font::strokes(character) {
            let place = |(x, y): (f64, f64)| {
                let (along, above) = (pen + x * unit, y * unit);
                if upward { (at.0 - above, at.1 - along) } else { (at.0 + along, at.1 - above) }
            };
            let points: Vec<_> = stroke.map(place).collect();
            points.windows(2).for_each(|pair| line(out, pair[0], pair[1], 1.15));
        }
        pen += font::ADVANCE * unit;
    }
}

fn encode(picture: &Picture) -> Vec<u8> {
    let mut rows = Vec::with_capacity(picture.height * (picture.width * 3 + 1));
    for row in picture.pixels.chunks(picture.width.max(1)) {
        rows.push(0);
        rows.extend(row.iter().flatten());
    }
    let mut header = Vec::new();
    header.extend_from_slice(&(picture.width as u32).to_be_bytes());
    header.extend_from_slice(&(picture.height as u32).to_be_bytes());
    // Eight bits a channel, RGB, the only methods of compression and filter, not interlaced.
    header.extend_from_slice(&[8, 2, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    push_chunk(&mut out, b"IHDR", &header);
    push_chunk(&mut out, b"IDAT", &miniz_oxide::deflate::compress_to_vec_zlib(&rows, 6));
    push_chunk(&mut out, b"IEND", &[]);
    out
}

fn push_chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend_from_slice(kind);
    out.extend_from_slice(data);
    let checksum = crc32(&out[start..]);
    out.extend_from_slice(&checksum.to_be_bytes());
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |mut sum: u32, byte: &u8| {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        }
        sum
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_the_standard_text() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn curves_letters_and_frame_are_there() {
        let layout = layout(&crate::plot::tests::figure(), 1);
        let picture = draw(&layout);
        let count = |colour: [u8; 3]| picture.pixels.iter().filter(|&&pixel| pixel == colour).count();
        for colour in [DARK, GRID, FRAME, layout.panels[0].curves[0].colour, layout.panels[0].curves[1].colour] {
            assert!(count(colour) > 300, "{colour:?}: {}", count(colour));
        }
        assert!(encode(&picture).starts_with(b"\x89PNG"));
    }
}
