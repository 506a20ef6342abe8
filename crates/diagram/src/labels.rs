//! Where what is written beside connectors stands: away from the middle of the component, and not over another label as far as
//! there is room. Labels are placed one after the other; each takes the first of its places that is free.

use crate::geometry::{Extent, Point, Transform};
use crate::picture::{Component, Picture};
use crate::shape::{Alignment, Colour, Text};

/// The size of the letters.
const SIZE: f64 = 2.2;
const COLOUR: Colour = Colour(170, 30, 0);
/// How many heights of a label it may be moved away from its connector.
const FARTHEST: usize = 3;

/// All labels of a picture.
pub fn labels(picture: &Picture) -> Vec<Text> {
    let mut placed: Vec<Text> = Vec::new();
    for component in &picture.components {
        collect(component, &Transform::IDENTITY, None, &mut placed);
    }
    placed
}

fn collect(component: &Component, outer: &Transform, middle: Option<Point>, placed: &mut Vec<Text>) {
    let transform = component.transform.then(outer);
    let centre = transform.apply(component.extent.centre());
    if !component.labels.is_empty() {
        let away = middle.map_or(Point::new(0.0, 1.0), |middle| centre.minus(middle));
        let label = label(&component.labels, &transform.apply_extent(&component.extent), away, placed);
        placed.push(label);
    }
    for connector in &component.connectors {
        collect(connector, &transform, Some(middle.unwrap_or(centre)), placed);
    }
}

/// `away`: from the middle of the component to the connector, whose area is given.
fn label(lines: &[String], area: &Extent, away: Point, placed: &[Text]) -> Text {
    let width = lines.iter().map(|line| vector::length(line, false)).fold(0.0, f64::max) * SIZE;
    let height = SIZE * vector::LINE * lines.len() as f64;
    let (left, alignment) = match away.x {
        x if x < -1e-9 => (area.right() - width, Alignment::Right),
        x if x > 1e-9 => (area.left(), Alignment::Left),
        _ => (area.right(), Alignment::Left),
    };
    let extent = |bottom: f64| Extent::new(left, bottom, left + width, bottom + height);
    let is_below = away.y < -away.x.abs();
    let places = (0..FARTHEST).flat_map(|far| {
        let far = far as f64 * height;
        let (above, below) = (extent(area.top() + far), extent(area.bottom() - height - far));
        if is_below { [below, above] } else { [above, below] }
    });
    let covered = |place: &Extent| placed.iter().map(|other| common(place, &other.extent)).sum::<f64>();
    // The first of equals, so that a label stands near its connector.
    let mut best: Option<(Extent, f64)> = None;
    for place in places {
        let area = covered(&place);
        if best.as_ref().is_none_or(|(_, least)| area < *least) {
            best = Some((place, area));
        }
    }
    let extent = best.map_or_else(|| extent(area.top()), |(place, _)| place);
    Text {
        extent,
        text: lines.join("\n"),
        size: 0.0,
        font: String::new(),
        bold: false,
        italic: false,
        underlined: false,
        colour: COLOUR,
        alignment,
    }
}

/// The area that two extents have in common.
fn common(a: &Extent, b: &Extent) -> f64 {
    let width = a.right().min(b.right()) - a.left().max(b.left());
    let height = a.top().min(b.top()) - a.bottom().max(b.bottom());
    width.max(0.0) * height.max(0.0)
}
