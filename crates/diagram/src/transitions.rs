//! Lines between components as a whole, such as transitions of state machines (specification 17.1), where nothing says how they go.
//!
//! A line leaves a component at the side that faces the other one. What leaves a side stands to the left of its middle, in the
//! direction of travel, and so does what arrives there: lines of opposite directions never share a place.

use rustc_hash::FxHashMap;

use crate::geometry::{Extent, Point, Transform};
use crate::picture::{Connection, Kind, Picture, Pin, Side};
use crate::shape::{Alignment, Item, Shape, Text};

/// The length of the line that points to the first component.
const ENTRY: f64 = 15.0;
/// The height of what is written at a line.
const HEIGHT: f64 = 4.0;
/// Between a line and what is written at it.
const GAP: f64 = 1.0;

/// The components at the ends of a connection between components as a whole; the first is absent at an entry.
pub fn components(picture: &Picture, connection: &Connection) -> Option<(Option<usize>, usize)> {
    let whole = |end: &[String]| {
        let [name] = end else { return None };
        picture.components.iter().position(|it| it.name == *name && it.kind == Kind::Component)
    };
    let to = whole(&connection.ends[1])?;
    match connection.ends[0].as_slice() {
        [] => Some((None, to)),
        from => Some((Some(whole(from)?), to)),
    }
}

/// The places at which the open connections between whole components leave and arrive, by the positions of the connections.
/// Entries, and loops at one component, get their lines at once.
pub fn pins(picture: &mut Picture) -> Vec<(usize, [Pin; 2])> {
    let mut open: Vec<(usize, [(usize, Side); 2])> = Vec::new();
    for position in 0..picture.connections.len() {
        let connection = &picture.connections[position];
        if connection.line.points.len() >= 2 {
            continue;
        }
        match components(picture, connection) {
            Some((Some(from), to)) if from != to => open.push((position, facing(picture, from, to))),
            Some((from, to)) => {
                let area = picture.components[to].area();
                picture.connections[position].line.points = if from.is_some() { around(&area) } else { entry(&area) };
            }
            None => {}
        }
    }
    let mut counts: FxHashMap<(usize, Side, bool), usize> = FxHashMap::default();
    for (_, [from, to]) in &open {
        *counts.entry((from.0, from.1, true)).or_default() += 1;
        *counts.entry((to.0, to.1, false)).or_default() += 1;
    }
    let mut used = counts.clone();
    let mut pin = |(component, side): (usize, Side), leaves: bool| {
        let key = (component, side, leaves);
        let left = used.get_mut(&key).map_or(1, |left| std::mem::replace(left, left.saturating_sub(1)));
        let share = left as f64 / (counts.get(&key).copied().unwrap_or(1) + 1) as f64;
        at_side(picture, component, side, if leaves { share } else { -share })
    };
    open.iter().map(|&(position, [from, to])| (position, [pin(from, true), pin(to, false)])).collect()
}

/// The sides of two components that see each other.
fn facing(picture: &Picture, from: usize, to: usize) -> [(usize, Side); 2] {
    let (a, b) = (picture.components[from].area(), picture.components[to].area());
    let way = b.centre().minus(a.centre());
    // How much room there is between them in each direction.
    let across = way.x.abs() - (a.width() + b.width()) / 2.0;
    let along = way.y.abs() - (a.height() + b.height()) / 2.0;
    let sides = match (across >= along, way.x >= 0.0, way.y >= 0.0) {
        (true, true, _) => [Side::Right, Side::Left],
        (true, false, _) => [Side::Left, Side::Right],
        (false, _, true) => [Side::Top, Side::Bottom],
        (false, _, false) => [Side::Bottom, Side::Top],
    };
    [(from, sides[0]), (to, sides[1])]
}

/// `share`: how far from the middle of the side, by half of its length, to the left as seen from the component.
fn at_side(picture: &Picture, component: usize, side: Side, share: f64) -> Pin {
    let area = picture.components[component].area();
    let (centre, x, y) = (area.centre(), share * area.width() / 2.0, share * area.height() / 2.0);
    let at = match side {
        Side::Right => Point::new(area.right(), centre.y + y),
        Side::Left => Point::new(area.left(), centre.y - y),
        Side::Top => Point::new(centre.x - x, area.top()),
        Side::Bottom => Point::new(centre.x + x, area.bottom()),
    };
    Pin { at, area: Extent::new(at.x, at.y, at.x, at.y), side, component }
}

/// From nowhere to the left side.
fn entry(area: &Extent) -> Vec<Point> {
    let y = area.centre().y;
    vec![Point::new(area.left() - ENTRY, y), Point::new(area.left(), y)]
}

/// From a component back to itself, around its upper right corner.
fn around(area: &Extent) -> Vec<Point> {
    let (x, y) = (area.right() - area.width() / 4.0, area.top() - area.height() / 4.0);
    let (right, top) = (area.right() + ENTRY / 2.0, area.top() + ENTRY / 2.0);
    vec![
        Point::new(x, area.top()),
        Point::new(x, top),
        Point::new(right, top),
        Point::new(right, y),
        Point::new(area.right(), y),
    ]
}

/// Writes captions beside the longest pieces of their lines.
pub fn write_captions(picture: &mut Picture) {
    for connection in &mut picture.connections {
        let points = &connection.line.points;
        if connection.caption.is_empty() || points.len() < 2 {
            continue;
        }
        let text = std::mem::take(&mut connection.caption);
        let longest = points.windows(2).max_by(|a, b| {
            let length = |piece: &[Point]| piece[1].minus(piece[0]).length();
            length(a).total_cmp(&length(b))
        });
        let Some(&[a, b]) = longest else { continue };
        let middle = a.middle(b);
        // Without width the height alone decides about the size.
        let (extent, alignment) = if (a.x - b.x).abs() >= (a.y - b.y).abs() {
            // Lines that part upwards and downwards keep their texts apart.
            let (first, last) = (points[0], points[points.len() - 1]);
            let bottom = if last.y < first.y { middle.y - GAP - HEIGHT } else { middle.y + GAP };
            (Extent::new(middle.x, bottom, middle.x, bottom + HEIGHT), Alignment::Center)
        } else {
            let x = middle.x + GAP;
            (Extent::new(x, middle.y - HEIGHT / 2.0, x, middle.y + HEIGHT / 2.0), Alignment::Left)
        };
        let text = Text {
            extent,
            text,
            size: 0.0,
            font: String::new(),
            bold: false,
            italic: false,
            underlined: false,
            colour: connection.line.stroke.colour,
            alignment,
        };
        connection.texts.push(Item { transform: Transform::IDENTITY, shape: Shape::Text(text) });
    }
}
