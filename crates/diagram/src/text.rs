//! Where the lines of a text stand and how large they are (specification 18.6.5.5).
//!
//! Texts follow the place, the size and the direction of their area, but they are never mirrored and never upside down.

use crate::geometry::{Extent, Point, Transform};
use crate::shape::{Alignment, Text};

/// A text as it is drawn, in the coordinates of the picture.
#[derive(Clone, PartialEq, Debug)]
pub struct Fitted {
    /// The size of the font.
    pub size: f64,
    /// The direction of reading in degrees, above -90 and up to 90.
    pub angle: f64,
    /// To which side of their points the lines stand.
    pub alignment: Alignment,
    /// Each line with the point of its baseline that the alignment means, and its length.
    pub lines: Vec<(String, Point, f64)>,
}

/// Millimetres of a typographic point.
const POINT: f64 = 25.4 / 72.0;
/// The distance of baselines, by the size of the font.
const SPACING: f64 = 1.25;

/// `None` for a text that nobody sees.
pub fn fit(text: &Text, transform: &Transform) -> Option<Fitted> {
    let lines: Vec<&str> = text.text.lines().map(str::trim_end).collect();
    if lines.iter().all(|line| line.is_empty()) {
        return None;
    }
    let lengths: Vec<f64> = lines.iter().map(|line| vector::length(line, text.bold)).collect();
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    let (along, across) = (transform.apply_vector(Point::new(1.0, 0.0)), transform.apply_vector(Point::new(0.0, 1.0)));
    let width = text.extent.width() * along.length();
    let height = text.extent.height() * across.length();
    let rows = vector::LINE + SPACING * (lines.len() - 1) as f64;
    let by_height = if height > 0.0 { height / rows } else { f64::INFINITY };
    let by_width = if width > 0.0 && longest > 0.0 { width / longest } else { f64::INFINITY };
    let size = if text.size > 0.0 { text.size * POINT } else { by_height.min(by_width) };
    if !size.is_finite() || size <= 0.0 {
        return None;
    }
    let raw = along.y.atan2(along.x).to_degrees();
    let is_reversed = !(-90.0 + 1e-9..=90.0 + 1e-9).contains(&raw);
    let direction = if is_reversed { along.times(-1.0) } else { along };
    let direction = direction.times(1.0 / direction.length());
    let up = Point::new(-direction.y, direction.x);
    let alignment = match text.alignment {
        Alignment::Left if is_reversed => Alignment::Right,
        Alignment::Right if is_reversed => Alignment::Left,
        other => other,
    };
    let shift = match alignment {
        Alignment::Left => -width / 2.0,
        Alignment::Center => 0.0,
        Alignment::Right => width / 2.0,
    };
    let centre = transform.apply(text.extent.centre()).plus(direction.times(shift));
    let first = SPACING * size * (lines.len() - 1) as f64 / 2.0 - vector::CAPITAL / 2.0 * size;
    let lines = lines.iter().zip(lengths).enumerate().filter(|(_, (line, _))| !line.is_empty());
    let lines = lines.map(|(row, (line, length))| {
        let at = centre.plus(up.times(first - SPACING * size * row as f64));
        ((*line).to_owned(), at, length * size)
    });
    let angle = direction.y.atan2(direction.x).to_degrees();
    Some(Fitted { size, angle, alignment, lines: lines.collect() })
}

impl Fitted {
    /// The area that the letters take.
    pub fn bounds(&self) -> Extent {
        let turn = Transform::rotation(self.angle);
        let corners = self.lines.iter().flat_map(|(_, at, length)| {
            let (left, right) = match self.alignment {
                Alignment::Left => (0.0, *length),
                Alignment::Center => (-length / 2.0, length / 2.0),
                Alignment::Right => (-length, 0.0),
            };
            let (bottom, top) = (-0.24 * self.size, 0.78 * self.size);
            Extent::new(left, bottom, right, top).corners().map(|corner| turn.apply(corner).plus(*at))
        });
        Extent::around(corners).unwrap_or(Extent::new(0.0, 0.0, 0.0, 0.0))
    }
}
