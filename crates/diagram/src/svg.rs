//! A picture as SVG. All coordinates are those of the drawing: transformations are applied to points, so that lines keep their
//! thickness and letters stay upright.
//!
//! Back to front: the primitives of the layer, components, connections, connectors, labels. Connections lie over components, so
//! that they are seen up to connectors inside of an icon, and below connectors, which cover their ends.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use crate::geometry::{Extent, Point, Transform};
use crate::junctions::junctions;
use crate::labels::labels;
use crate::outline::{self, Segment};
use crate::picture::{Component, Connection, Kind, Picture};
use crate::shape::{
    Alignment, Bitmap, Border, Closure, Colour, Fill, FillPattern, Item, Line, LinePattern, Rectangle, Shape, Stroke,
    Text,
};
use crate::text;

/// Pixels of a millimetre where nothing else says how large a drawing is shown.
const PIXELS: f64 = 4.0;
/// White around what is drawn.
const MARGIN: f64 = 3.0;
/// Lines that are thinner are hardly seen.
const THINNEST: f64 = 0.1;
/// What does not exist is drawn this faintly.
const PALE: f64 = 0.3;
/// The radius of the dot at which lines of one net branch.
const JUNCTION: f64 = 0.8;

/// The drawing as a file.
pub fn svg(picture: &Picture) -> String {
    let labels = labels(picture);
    let area = labels.iter().fold(picture.bounds(), |area, label| area.union(&label.extent)).grown(MARGIN);
    let mut drawing = Drawing::default();
    for item in &picture.graphics {
        drawing.item(item, &Transform::IDENTITY);
    }
    for component in picture.components.iter().filter(|component| component.kind == Kind::Component) {
        drawing.body(component);
    }
    for connection in &picture.connections {
        drawing.connection(connection);
    }
    for (at, colour) in junctions(picture) {
        let (x, y, radius, colour) = (Number(at.x), Number(-at.y), Number(JUNCTION), Hexadecimal(colour));
        let _ = writeln!(drawing.body, r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="{colour}"/>"#);
    }
    for component in &picture.components {
        drawing.connectors(component);
    }
    for label in &labels {
        drawing.text(label, &Transform::IDENTITY);
    }
    let (left, top) = (Number(area.left()), Number(-area.top()));
    let (width, height) = (Number(area.width()), Number(area.height()));
    let (shown_width, shown_height) = (Number(area.width() * PIXELS), Number(area.height() * PIXELS));
    let Drawing { definitions, body, .. } = drawing;
    let definitions = if definitions.is_empty() { definitions } else { format!("<defs>\n{definitions}</defs>\n") };
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{shown_width}" height="{shown_height}" viewBox="{left} {top} {width} {height}" font-family="{}" stroke-linejoin="round" fill="none">
<title>{}</title>
{definitions}<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="#fff"/>
{body}</svg>
"##,
        vector::FAMILY,
        Escaped(&picture.class),
    )
}

/// What was drawn so far.
#[derive(Default)]
struct Drawing {
    definitions: String,
    /// The names of gradients and hatches by their content.
    known: FxHashMap<String, usize>,
    body: String,
}

/// At most three digits behind the point, and no more than are needed.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rounded = (self.0 * 1000.0).round() / 1000.0;
        // No sign in front of zero; nothing that is not a number gets into a file.
        let shown = if rounded == 0.0 || !rounded.is_finite() { 0.0 } else { rounded };
        write!(formatter, "{shown}")
    }
}

struct Hexadecimal(Colour);

impl std::fmt::Display for Hexadecimal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Colour(red, green, blue) = self.0;
        write!(formatter, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// Text that is no markup. Characters that XML does not have are left out.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for character in self.0.chars() {
            match character {
                '<' => formatter.write_str("&lt;")?,
                '>' => formatter.write_str("&gt;")?,
                '&' => formatter.write_str("&amp;")?,
                '"' => formatter.write_str("&quot;")?,
                '\t' | '\n' => formatter.write_str(" ")?,
                '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {}
                other => formatter.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// The data of a path; the y axis of drawings points downwards.
fn data(path: &[Segment], transform: &Transform) -> String {
    let mut text = String::new();
    let number = |point: Point| format!("{} {}", Number(point.x), Number(-point.y));
    for segment in path {
        let _ = match segment.transformed(transform) {
            Segment::Move(to) => write!(text, "M{}", number(to)),
            Segment::Line(to) => write!(text, "L{}", number(to)),
            Segment::Quadratic(a, to) => write!(text, "Q{} {}", number(a), number(to)),
            Segment::Cubic(a, b, to) => write!(text, "C{} {} {}", number(a), number(b), number(to)),
            Segment::Close => write!(text, "Z"),
        };
    }
    text
}

/// ` stroke="…"` with all that belongs to it; empty for no line.
fn stroke_attributes(stroke: &Stroke, transform: &Transform) -> String {
    let width = stroke.drawn(transform.scale()).max(THINNEST);
    // Dashes in widths of the line, as drawing programs have them.
    let dashes: &[f64] = match stroke.pattern {
        LinePattern::None => return String::new(),
        LinePattern::Solid => &[],
        LinePattern::Dash => &[5.0, 3.0],
        LinePattern::Dot => &[1.2, 2.5],
        LinePattern::DashDot => &[5.0, 2.5, 1.2, 2.5],
        LinePattern::DashDotDot => &[5.0, 2.5, 1.2, 2.5, 1.2, 2.5],
    };
    let mut text = format!(r#" stroke="{}" stroke-width="{}""#, Hexadecimal(stroke.colour), Number(width));
    if !dashes.is_empty() {
        let lengths: Vec<String> = dashes.iter().map(|part| Number(part * width).to_string()).collect();
        let _ = write!(text, r#" stroke-dasharray="{}""#, lengths.join(" "));
    }
    text
}

/// `matrix(…)` from the coordinates of a shape to those of the drawing.
fn matrix(transform: &Transform) -> String {
    let Transform { xx, yx, xy, yy, x0, y0 } = *transform;
    // Gradients of small icons need more digits than points.
    let digits = |value: f64| {
        let rounded = (value * 1e6).round() / 1e6;
        if rounded == 0.0 || !rounded.is_finite() { 0.0 } else { rounded }
    };
    format!("matrix({} {} {} {} {} {})", digits(xx), digits(-yx), digits(xy), digits(-yy), Number(x0), Number(-y0))
}

impl Drawing {
    /// Writes what exists plainly and what does not faintly.
    fn group(&mut self, title: &str, present: bool, inside: impl FnOnce(&mut Self)) {
        let opacity = if present { String::new() } else { format!(r#" opacity="{PALE}""#) };
        let before = self.body.len();
        let _ = writeln!(self.body, "<g{opacity}><title>{}</title>", Escaped(title));
        let begin = self.body.len();
        inside(self);
        if self.body.len() == begin {
            self.body.truncate(before);
        } else {
            self.body.push_str("</g>\n");
        }
    }

    fn item(&mut self, item: &Item, outer: &Transform) {
        let transform = item.transform.then(outer);
        match &item.shape {
            Shape::Text(text) => self.text(text, &transform),
            Shape::Bitmap(bitmap) => self.bitmap(bitmap, &transform),
            Shape::Line(line) => self.line(line, &transform),
            Shape::Polygon(polygon) => self.area(&item.shape, &polygon.stroke, &polygon.fill, &transform),
            Shape::Ellipse(ellipse) => {
                let open = Fill::default();
                let fill = if outline::closure(ellipse) == Closure::None { &open } else { &ellipse.fill };
                self.area(&item.shape, &ellipse.stroke, fill, &transform);
            }
            Shape::Rectangle(rectangle) => {
                self.area(&item.shape, &rectangle.stroke, &rectangle.fill, &transform);
                self.border(rectangle, &transform);
            }
        }
    }

    fn line(&mut self, line: &Line, transform: &Transform) {
        let stroke = stroke_attributes(&line.stroke, transform);
        if stroke.is_empty() || line.points.len() < 2 {
            return;
        }
        let path = outline::of(&Shape::Line(line.clone()));
        let _ = writeln!(self.body, r#"<path d="{}"{stroke}/>"#, data(&path, transform));
        for (path, filled) in outline::arrows(line, line.arrow_size) {
            let colour = Hexadecimal(line.stroke.colour);
            let solid = stroke_attributes(&Stroke { pattern: LinePattern::Solid, ..line.stroke }, transform);
            let fill = if filled { format!(r#" fill="{colour}""#) } else { String::new() };
            let _ = writeln!(self.body, r#"<path d="{}"{solid}{fill}/>"#, data(&path, transform));
        }
    }

    fn area(&mut self, shape: &Shape, stroke: &Stroke, fill: &Fill, transform: &Transform) {
        let path = outline::of(shape);
        if path.is_empty() {
            return;
        }
        let data = data(&path, transform);
        let paint = self.paint(shape, &path, stroke, fill, transform);
        let line = stroke_attributes(stroke, transform);
        // Hatches lie over the fill colour.
        if is_hatched(fill.pattern) {
            let _ = writeln!(self.body, r#"<path d="{data}" fill="{}"/>"#, Hexadecimal(fill.colour));
        }
        if paint.is_none() && line.is_empty() {
            return;
        }
        let paint = paint.map_or(String::new(), |paint| format!(r#" fill="{paint}""#));
        let _ = writeln!(self.body, r#"<path d="{data}"{paint}{line}/>"#);
    }

    /// What fills an area; `None` for nothing.
    fn paint(
        &mut self,
        shape: &Shape,
        path: &[Segment],
        stroke: &Stroke,
        fill: &Fill,
        transform: &Transform,
    ) -> Option<String> {
        let (line, main) = (Hexadecimal(stroke.colour), Hexadecimal(fill.colour));
        // Gradients are those of the whole ellipse and of the rectangle without its round corners.
        let frame = match shape {
            Shape::Rectangle(rectangle) => rectangle.extent,
            Shape::Ellipse(ellipse) => ellipse.extent,
            _ => Extent::around(outline::flattened(path).into_iter().flatten())?,
        };
        match fill.pattern {
            FillPattern::None => None,
            FillPattern::Solid => Some(main.to_string()),
            FillPattern::HorizontalCylinder | FillPattern::VerticalCylinder => {
                let (from, to) = match fill.pattern {
                    FillPattern::HorizontalCylinder => ((0.0, frame.bottom()), (0.0, frame.top())),
                    _ => ((frame.left(), 0.0), (frame.right(), 0.0)),
                };
                let (x1, y1, x2, y2) = (Number(from.0), Number(from.1), Number(to.0), Number(to.1));
                let matrix = matrix(transform);
                Some(self.defined(&format!(
                    r#"<linearGradient id="@" gradientUnits="userSpaceOnUse" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" gradientTransform="{matrix}"><stop offset="0" stop-color="{line}"/><stop offset=".5" stop-color="{main}"/><stop offset="1" stop-color="{line}"/></linearGradient>"#
                )))
            }
            FillPattern::Sphere => {
                let ellipse = match shape {
                    Shape::Ellipse(_) => around(&frame, 1.0),
                    Shape::Polygon(polygon) => smallest_ellipse(&polygon.points).unwrap_or(around(&frame, 1.0)),
                    _ => around(&frame, std::f64::consts::SQRT_2),
                };
                let matrix = matrix(&ellipse.then(transform));
                Some(self.defined(&format!(
                    r#"<radialGradient id="@" gradientUnits="userSpaceOnUse" cx="0" cy="0" r="1" gradientTransform="{matrix}"><stop offset="0" stop-color="{main}"/><stop offset="1" stop-color="{line}"/></radialGradient>"#
                )))
            }
            hatch => Some(self.hatch(hatch, stroke, transform)),
        }
    }

    fn hatch(&mut self, hatch: FillPattern, stroke: &Stroke, transform: &Transform) -> String {
        let side = (12.0 * transform.scale()).clamp(2.0, 6.0);
        let (half, side) = (Number(side / 2.0), Number(side));
        let straight = [format!("M0 {half}H{side}"), format!("M{half} 0V{side}")];
        // Diagonals go on in the neighbours of a tile.
        let third = Number(side.0 * 1.5);
        let back = Number(-side.0 / 2.0);
        let rising = format!("M{back} {half}L{half} {back}M0 {side}L{side} 0M{half} {third}L{third} {half}");
        let falling = format!("M{back} {half}L{half} {third}M0 0L{side} {side}M{half} {back}L{third} {half}");
        let lines = match hatch {
            FillPattern::Horizontal => straight[0].clone(),
            FillPattern::Vertical => straight[1].clone(),
            FillPattern::Cross => straight.concat(),
            FillPattern::Forward => rising,
            FillPattern::Backward => falling,
            _ => rising + &falling,
        };
        let (colour, width) =
            (Hexadecimal(stroke.colour), Number(stroke.drawn(transform.scale()).clamp(THINNEST, side.0 / 4.0)));
        self.defined(&format!(
            r#"<pattern id="@" patternUnits="userSpaceOnUse" width="{side}" height="{side}"><path d="{lines}" stroke="{colour}" stroke-width="{width}"/></pattern>"#
        ))
    }

    /// `url(#…)` of a definition in which `@` stands for its name.
    fn defined(&mut self, definition: &str) -> String {
        let next = self.known.len();
        let number = *self.known.entry(definition.to_owned()).or_insert(next);
        if number == next {
            let named = definition.replacen("id=\"@\"", &format!("id=\"p{number}\""), 1);
            let _ = writeln!(self.definitions, "{named}");
        }
        format!("url(#p{number})")
    }

    /// A frame inside of a rectangle, lit from the upper left.
    fn border(&mut self, rectangle: &Rectangle, transform: &Transform) {
        let extent = &rectangle.extent;
        let scale = transform.scale();
        let width = 2.5_f64.min(extent.width().min(extent.height()) / 8.0);
        let (light, dark) = (tinted(rectangle.fill.colour, 0.6), tinted(rectangle.fill.colour, -0.45));
        let parts: &[(Colour, Colour, f64)] = match rectangle.border {
            Border::None => return,
            Border::Raised => &[(light, dark, 0.0)],
            Border::Sunken => &[(dark, light, 0.0)],
            Border::Engraved => &[(dark, light, 0.0), (light, dark, 0.5)],
        };
        if width * scale <= 0.0 {
            return;
        }
        let width = if parts.len() > 1 { width / 2.0 } else { width };
        for &(upper, lower, inset) in parts {
            let outer = extent.grown(-inset * 2.0 * width);
            let inner = outer.grown(-width);
            let ([a, b, c, d], [e, f, g, h]) = (outer.corners(), inner.corners());
            for (points, colour) in [([a, d, c, g, h, e], upper), ([a, b, c, g, f, e], lower)] {
                let mut path: Vec<Segment> = points.iter().map(|&point| Segment::Line(point)).collect();
                path[0] = Segment::Move(points[0]);
                path.push(Segment::Close);
                let _ = writeln!(self.body, r#"<path d="{}" fill="{}"/>"#, data(&path, transform), Hexadecimal(colour));
            }
        }
        let line = stroke_attributes(&rectangle.stroke, transform);
        if !line.is_empty() {
            let path = outline::of(&Shape::Rectangle(rectangle.clone()));
            let _ = writeln!(self.body, r#"<path d="{}"{line}/>"#, data(&path, transform));
        }
    }

    fn text(&mut self, text: &Text, transform: &Transform) {
        let Some(fitted) = text::fit(text, transform) else { return };
        let anchor = match fitted.alignment {
            Alignment::Left => "",
            Alignment::Center => r#" text-anchor="middle""#,
            Alignment::Right => r#" text-anchor="end""#,
        };
        let mut style = String::new();
        if text.bold {
            style.push_str(r#" font-weight="bold""#);
        }
        if text.italic {
            style.push_str(r#" font-style="italic""#);
        }
        if text.underlined {
            style.push_str(r#" text-decoration="underline""#);
        }
        if !text.font.is_empty() && text.font != "sans-serif" {
            let _ = write!(style, r#" font-family="{}""#, Escaped(&text.font.replace(['\'', ';'], "")));
        }
        for (line, at, length) in &fitted.lines {
            let (x, y) = (Number(at.x), Number(-at.y));
            let turn = match fitted.angle {
                0.0 => String::new(),
                angle => format!(r#" transform="rotate({} {x} {y})""#, Number(-angle)),
            };
            let (size, length, colour) = (Number(fitted.size), Number(*length), Hexadecimal(text.colour));
            let _ = writeln!(
                self.body,
                r#"<text x="{x}" y="{y}" font-size="{size}" textLength="{length}" lengthAdjust="spacingAndGlyphs" fill="{colour}"{anchor}{style}{turn}>{}</text>"#,
                Escaped(line)
            );
        }
    }

    fn bitmap(&mut self, bitmap: &Bitmap, transform: &Transform) {
        let Bitmap { extent, image } = bitmap;
        if extent.is_empty() {
            return;
        }
        // Pictures have their first row at the top; reversed corners mirror them.
        let flip = |reversed: bool| if reversed { -1.0 } else { 1.0 };
        let (mirrored, upturned) = (extent.second.x < extent.first.x, extent.second.y < extent.first.y);
        let placed = Transform::scaling(flip(mirrored), -flip(upturned))
            .then(&Transform::translation(extent.centre()))
            .then(transform);
        let (width, height) = (extent.width(), extent.height());
        let _ = writeln!(
            self.body,
            r#"<image x="{}" y="{}" width="{}" height="{}" transform="{}" href="data:{};base64,{}"/>"#,
            Number(-width / 2.0),
            Number(-height / 2.0),
            Number(width),
            Number(height),
            matrix(&placed),
            image.media_type,
            base64(&image.bytes)
        );
    }

    /// The icon of a component, without its connectors.
    fn body(&mut self, component: &Component) {
        self.group(&titled(component), component.present, |drawing| {
            for item in &component.graphics {
                drawing.item(item, &component.transform);
            }
        });
    }

    /// The connectors of a component, or a connector of the class itself.
    fn connectors(&mut self, component: &Component) {
        let Component { transform, .. } = component;
        self.group(&titled(component), component.present, |drawing| {
            if component.kind == Kind::Connector {
                drawing.connector(component, &Transform::IDENTITY);
                return;
            }
            for connector in &component.connectors {
                let title = format!("{}.{}", component.name, titled(connector));
                drawing.group(&title, connector.present, |drawing| drawing.connector(connector, transform));
            }
        });
    }

    fn connector(&mut self, connector: &Component, outer: &Transform) {
        let transform = connector.transform.then(outer);
        for item in &connector.graphics {
            self.item(item, &transform);
        }
        for inner in &connector.connectors {
            self.connector(inner, &transform);
        }
    }

    fn connection(&mut self, connection: &Connection) {
        let title = format!("{} – {}", connection.ends[0].join("."), connection.ends[1].join("."));
        self.group(&title, connection.present, |drawing| {
            drawing.line(&connection.line, &Transform::IDENTITY);
            for text in &connection.texts {
                drawing.item(text, &Transform::IDENTITY);
            }
        });
    }
}

fn titled(component: &Component) -> String {
    format!("{}: {}", component.name, component.class)
}

fn is_hatched(pattern: FillPattern) -> bool {
    use FillPattern::{Backward, Cross, CrossDiag, Forward, Horizontal, Vertical};
    matches!(pattern, Horizontal | Vertical | Cross | Forward | Backward | CrossDiag)
}

/// Lighter by a positive share, darker by a negative one.
fn tinted(Colour(red, green, blue): Colour, share: f64) -> Colour {
    let goal = if share > 0.0 { 255.0 } else { 0.0 };
    let mixed = |part: u8| (f64::from(part) + (goal - f64::from(part)) * share.abs()).round() as u8;
    Colour(mixed(red), mixed(green), mixed(blue))
}

/// From the unit circle to the ellipse that touches the sides of an area, times a factor.
fn around(area: &Extent, factor: f64) -> Transform {
    let scale = Transform::scaling(area.width() / 2.0 * factor, area.height() / 2.0 * factor);
    scale.then(&Transform::translation(area.centre()))
}

/// From the unit circle to the ellipse of least area around points, by the method of Khachiyan.
fn smallest_ellipse(points: &[Point]) -> Option<Transform> {
    let count = points.len();
    if count < 3 {
        return None;
    }
    let mut weights = vec![1.0 / count as f64; count];
    for _ in 0..200 {
        // The matrix of the points with a third coordinate 1, as a mean and a covariance.
        let (mean, inverse) = moments(points, &weights)?;
        let reach = |point: &Point| {
            let to = point.minus(mean);
            let [a, b, c] = inverse;
            a * to.x * to.x + 2.0 * b * to.x * to.y + c * to.y * to.y + 1.0
        };
        let (farthest, most) = points
            .iter()
            .map(reach)
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .filter(|(_, most)| most.is_finite())?;
        if most < 3.0 + 1e-3 {
            break;
        }
        let step = (most - 3.0) / (3.0 * (most - 1.0));
        weights.iter_mut().for_each(|weight| *weight *= 1.0 - step);
        weights[farthest] += step;
    }
    let (mean, [a, b, c]) = moments(points, &weights)?;
    // All points satisfy d' inverse d <= 2: the root of twice the covariance maps the unit circle to the ellipse.
    let determinant = a * c - b * b;
    let (p, q, r) = (2.0 * c / determinant, -2.0 * b / determinant, 2.0 * a / determinant);
    let lower = p.sqrt();
    let shape =
        Transform { xx: lower, yx: q / lower, xy: 0.0, yy: (r - q * q / p).max(0.0).sqrt(), x0: mean.x, y0: mean.y };
    (shape.xx.is_finite() && shape.yy.is_finite() && shape.yy > 0.0).then_some(shape)
}

/// The weighted mean of points and the inverse of their covariance, as `[a, b, c]` of the symmetric matrix.
fn moments(points: &[Point], weights: &[f64]) -> Option<(Point, [f64; 3])> {
    let mean = points.iter().zip(weights).fold(Point::default(), |sum, (point, &weight)| sum.plus(point.times(weight)));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (point, weight) in points.iter().zip(weights) {
        let to = point.minus(mean);
        xx += weight * to.x * to.x;
        xy += weight * to.x * to.y;
        yy += weight * to.y * to.y;
    }
    let determinant = xx * yy - xy * xy;
    (determinant > 1e-12 * xx.max(yy).powi(2)).then(|| (mean, [yy / determinant, -xy / determinant, xx / determinant]))
}

/// The bytes as text (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_as_text() {
        let shown: Vec<String> = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes())).into();
        assert_eq!(shown, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }

    #[test]
    fn the_smallest_ellipse_touches_the_corners_of_a_triangle() {
        let points = [Point::new(0.0, 0.0), Point::new(4.0, 0.0), Point::new(1.0, 3.0)];
        let ellipse = smallest_ellipse(&points).expect("a triangle has an area");
        let back = ellipse.inverse().expect("it has an area");
        for point in points {
            assert!((back.apply(point).length() - 1.0).abs() < 1e-2, "{point:?}");
        }
        assert_eq!(smallest_ellipse(&[Point::default(); 4]), None);
    }
}
