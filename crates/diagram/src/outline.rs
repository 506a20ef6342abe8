//! The outlines of shapes as straight lines and curves, in the coordinates of the shape, and what follows from them: the area
//! that a shape takes, and whether a point is on or in it.

use crate::geometry::{Extent, Point, Transform};
use crate::shape::{Arrow, Closure, Ellipse, FillPattern, Line, LinePattern, Rectangle, Shape, Smooth};
use crate::text;

/// A piece of a path that begins where the last one ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Segment {
    Move(Point),
    Line(Point),
    Quadratic(Point, Point),
    Cubic(Point, Point, Point),
    Close,
}

impl Segment {
    pub fn transformed(self, transform: &Transform) -> Self {
        let to = |point| transform.apply(point);
        match self {
            Segment::Move(a) => Segment::Move(to(a)),
            Segment::Line(a) => Segment::Line(to(a)),
            Segment::Quadratic(a, b) => Segment::Quadratic(to(a), to(b)),
            Segment::Cubic(a, b, c) => Segment::Cubic(to(a), to(b), to(c)),
            Segment::Close => Segment::Close,
        }
    }
}

/// The outline of a shape; nothing for texts and bitmaps.
pub fn of(shape: &Shape) -> Vec<Segment> {
    match shape {
        Shape::Line(line) => through(&line.points, line.smooth),
        Shape::Polygon(polygon) => closed(&polygon.points, polygon.smooth),
        Shape::Rectangle(rectangle) => of_rectangle(rectangle),
        Shape::Ellipse(ellipse) => of_ellipse(ellipse),
        Shape::Text(_) | Shape::Bitmap(_) => Vec::new(),
    }
}

fn through(points: &[Point], smooth: Smooth) -> Vec<Segment> {
    let Some((&first, rest)) = points.split_first() else { return Vec::new() };
    let mut path = vec![Segment::Move(first)];
    if smooth == Smooth::None || points.len() < 3 {
        path.extend(rest.iter().map(|&point| Segment::Line(point)));
        return path;
    }
    path.push(Segment::Line(first.middle(points[1])));
    for three in points.windows(3) {
        path.push(Segment::Quadratic(three[1], three[1].middle(three[2])));
    }
    path.extend(points.last().map(|&last| Segment::Line(last)));
    path
}

fn closed(points: &[Point], smooth: Smooth) -> Vec<Segment> {
    let mut all = points.to_vec();
    if points.first() != points.last() {
        all.extend(points.first());
    }
    let mut path = through(&all, smooth);
    if !path.is_empty() {
        path.push(Segment::Close);
    }
    path
}

/// How far the control points of a quarter of a circle are from its ends, by the radius.
const QUARTER: f64 = 0.552_284_749_830_793_4;

fn of_rectangle(rectangle: &Rectangle) -> Vec<Segment> {
    let extent = &rectangle.extent;
    let radius = rectangle.radius.clamp(0.0, extent.width().min(extent.height()) / 2.0);
    let [a, b, c, d] = extent.corners();
    if radius == 0.0 {
        return vec![Segment::Move(a), Segment::Line(b), Segment::Line(c), Segment::Line(d), Segment::Close];
    }
    let mut path = vec![Segment::Move(Point::new(a.x + radius, a.y))];
    // Each corner with the directions from which and to which the outline goes.
    for (corner, from, to) in [
        (b, Point::new(1.0, 0.0), Point::new(0.0, 1.0)),
        (c, Point::new(0.0, 1.0), Point::new(-1.0, 0.0)),
        (d, Point::new(-1.0, 0.0), Point::new(0.0, -1.0)),
        (a, Point::new(0.0, -1.0), Point::new(1.0, 0.0)),
    ] {
        let begin = corner.minus(from.times(radius));
        let end = corner.plus(to.times(radius));
        path.push(Segment::Line(begin));
        let pull = radius * QUARTER;
        path.push(Segment::Cubic(begin.plus(from.times(pull)), end.minus(to.times(pull)), end));
    }
    path.push(Segment::Close);
    path
}

fn of_ellipse(ellipse: &Ellipse) -> Vec<Segment> {
    let (centre, extent) = (ellipse.extent.centre(), &ellipse.extent);
    let (a, b) = (extent.width() / 2.0, extent.height() / 2.0);
    let span = ellipse.end - ellipse.start;
    if !span.is_finite() || !ellipse.start.is_finite() {
        return Vec::new();
    }
    let is_whole = span.abs() >= 360.0;
    let span = if is_whole { 360.0_f64.copysign(span) } else { span };
    let at = |angle: f64| Transform::rotation(angle).apply(Point::new(1.0, 0.0));
    let place = |unit: Point| Point::new(centre.x + a * unit.x, centre.y + b * unit.y);
    let count = (span.abs() / 90.0).ceil().max(1.0);
    let step = span / count;
    let pull = 4.0 / 3.0 * (step.to_radians() / 4.0).tan();
    let mut path = vec![Segment::Move(place(at(ellipse.start)))];
    for piece in 0..count as usize {
        let (from, to) = (at(ellipse.start + step * piece as f64), at(ellipse.start + step * (piece + 1) as f64));
        let leave = Point::new(from.x - pull * from.y, from.y + pull * from.x);
        let arrive = Point::new(to.x + pull * to.y, to.y - pull * to.x);
        path.push(Segment::Cubic(place(leave), place(arrive), place(to)));
    }
    match closure(ellipse) {
        Closure::Radial => path.extend([Segment::Line(centre), Segment::Close]),
        Closure::None => {}
        _ => path.push(Segment::Close),
    }
    path
}

/// How the ends of an arc are joined, after all.
pub fn closure(ellipse: &Ellipse) -> Closure {
    match ellipse.closure {
        Closure::Automatic if (ellipse.end - ellipse.start).abs() >= 360.0 => Closure::Chord,
        Closure::Automatic => Closure::Radial,
        // What is closed has no radius to show.
        Closure::Radial if (ellipse.end - ellipse.start).abs() >= 360.0 => Closure::Chord,
        other => other,
    }
}

/// The arrows at the ends of a line: their outlines and whether they are filled. `size` is that of the drawing where it
/// differs from that of the line.
pub fn arrows(line: &Line, size: f64) -> Vec<(Vec<Segment>, bool)> {
    let points = &line.points;
    let [first, second, ..] = points.as_slice() else { return Vec::new() };
    let (last, before) = (points[points.len() - 1], points[points.len() - 2]);
    let ends = [(line.arrows[0], *first, *second), (line.arrows[1], last, before)];
    ends.into_iter().filter_map(|(arrow, tip, from)| arrow_head(arrow, tip, from, size)).collect()
}

/// The head is `size` long, and each half of it a third as wide.
fn arrow_head(arrow: Arrow, tip: Point, from: Point, size: f64) -> Option<(Vec<Segment>, bool)> {
    let along = tip.minus(from);
    let length = along.length();
    if arrow == Arrow::None || length == 0.0 {
        return None;
    }
    let unit = along.times(1.0 / length);
    let base = tip.minus(unit.times(size));
    let across = Point::new(-unit.y, unit.x).times(size / 3.0);
    let (left, right) = (base.plus(across), base.minus(across));
    Some(match arrow {
        Arrow::Filled => (vec![Segment::Move(left), Segment::Line(tip), Segment::Line(right), Segment::Close], true),
        Arrow::Half => (vec![Segment::Move(left), Segment::Line(tip)], false),
        _ => (vec![Segment::Move(left), Segment::Line(tip), Segment::Line(right)], false),
    })
}

/// The outline as straight lines, one list for each part.
pub fn flattened(path: &[Segment]) -> Vec<Vec<Point>> {
    const PIECES: usize = 8;
    let mut all: Vec<Vec<Point>> = Vec::new();
    for &segment in path {
        let Some(&from) = all.last().and_then(|part| part.last()) else {
            if let Segment::Move(to) = segment {
                all.push(vec![to]);
            }
            continue;
        };
        let Some(part) = all.last_mut() else { continue };
        let shares = (1..=PIECES).map(|piece| piece as f64 / PIECES as f64);
        match segment {
            Segment::Move(to) => all.push(vec![to]),
            Segment::Line(to) => part.push(to),
            Segment::Quadratic(control, to) => part.extend(shares.map(|t| quadratic(from, control, to, t))),
            Segment::Cubic(a, b, to) => part.extend(shares.map(|t| {
                let (left, right) = (quadratic(from, a, b, t), quadratic(a, b, to, t));
                left.times(1.0 - t).plus(right.times(t))
            })),
            Segment::Close => part.extend(part.first().copied()),
        }
    }
    all
}

fn quadratic(from: Point, control: Point, to: Point, t: f64) -> Point {
    let rest = 1.0 - t;
    from.times(rest * rest).plus(control.times(2.0 * rest * t)).plus(to.times(t * t))
}

/// The area that a shape takes; `None` where nothing is seen of it.
pub fn bounds(shape: &Shape, transform: &Transform) -> Option<Extent> {
    let (area, thickness) = match shape {
        Shape::Text(shape) => return text::fit(shape, transform).map(|fitted| fitted.bounds()),
        Shape::Bitmap(bitmap) => return Some(transform.apply_extent(&bitmap.extent)),
        _ => {
            let path = of(shape).into_iter().map(|segment| segment.transformed(transform)).collect::<Vec<_>>();
            let area = Extent::around(flattened(&path).into_iter().flatten());
            let (stroke, fill) = style(shape);
            let is_stroked = stroke.is_some_and(|stroke| stroke.pattern != LinePattern::None);
            if !is_stroked && !fill {
                return None;
            }
            (area?, stroke.filter(|_| is_stroked).map_or(0.0, |stroke| stroke.drawn(transform.scale())))
        }
    };
    Some(area.grown(thickness / 2.0))
}

/// The line of a shape, and whether it is filled.
fn style(shape: &Shape) -> (Option<crate::shape::Stroke>, bool) {
    match shape {
        Shape::Line(line) => (Some(line.stroke), false),
        Shape::Polygon(polygon) => (Some(polygon.stroke), polygon.fill.pattern != FillPattern::None),
        Shape::Rectangle(rectangle) => (Some(rectangle.stroke), rectangle.fill.pattern != FillPattern::None),
        Shape::Ellipse(ellipse) => {
            let fill = ellipse.fill.pattern != FillPattern::None && closure(ellipse) != Closure::None;
            (Some(ellipse.stroke), fill)
        }
        Shape::Text(_) | Shape::Bitmap(_) => (None, true),
    }
}

/// Whether a point is on a shape, or nearer to its line than `tolerance`.
pub fn is_under(shape: &Shape, transform: &Transform, point: Point, tolerance: f64) -> bool {
    let (stroke, filled) = style(shape);
    if matches!(shape, Shape::Text(_) | Shape::Bitmap(_)) {
        return bounds(shape, transform).is_some_and(|area| area.contains(point));
    }
    let path: Vec<Segment> = of(shape).into_iter().map(|segment| segment.transformed(transform)).collect();
    let parts = flattened(&path);
    let reach = stroke.map_or(0.0, |stroke| stroke.drawn(transform.scale()) / 2.0) + tolerance;
    let is_near = |part: &Vec<Point>| part.windows(2).any(|two| point.distance_from_segment(two[0], two[1]) <= reach);
    parts.iter().any(is_near) || filled && parts.iter().filter(|part| winds_around(part, point)).count() % 2 == 1
}

/// Whether a ray to the right crosses the closed line an odd number of times.
fn winds_around(part: &[Point], point: Point) -> bool {
    let crossings = part.windows(2).filter(|two| {
        let (a, b) = (two[0], two[1]);
        (a.y > point.y) != (b.y > point.y) && point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x)
    });
    crossings.count() % 2 == 1
}
