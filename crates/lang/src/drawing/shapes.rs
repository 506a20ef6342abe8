//! Primitives from their annotations, with the defaults of the specification (18.6.5).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Span;
use diagram::{
    Alignment, Arrow, Bitmap, Border, Closure, Colour, Ellipse, Extent, Fill, FillPattern, Image, Item, Layer, Line,
    LinePattern, Point, Polygon, Rectangle, Shape, Smooth, Stroke, Text, Transform,
};
use syntax::ast;

use super::Painter;
use super::fields::Fields;
use super::macros::Subject;
use crate::instance::Frame;

impl Painter {
    /// The primitives of an array of graphics, and whether there are any, seen or not.
    pub(super) fn graphics(&mut self, frame: &Frame, text: &ast::Expr, subject: &Subject) -> (Vec<Item>, bool) {
        let ast::ExprKind::Array(elements) = &text.kind else {
            self.warn(frame.class, text.span, "the annotation `graphics` needs a list of primitives");
            return (Vec::new(), false);
        };
        let mut items = Vec::new();
        for element in elements {
            let ast::ExprKind::Call { function, arguments } = &element.kind else {
                self.warn(frame.class, element.span, "a primitive such as `Line(…)` is needed here");
                continue;
            };
            let fields = Fields::of_call(arguments, frame, element.span);
            let kind = function.parts.last().map_or("", |part| part.ident.name.as_str());
            items.extend(self.item(kind, &fields, subject));
        }
        (items, !elements.is_empty())
    }

    fn item(&mut self, kind: &str, fields: &Fields<'_>, subject: &Subject) -> Option<Item> {
        if self.boolean(fields, "visible") == Some(false) {
            return None;
        }
        let shape = match kind {
            "Line" => Shape::Line(self.line(fields)?),
            "Polygon" => Shape::Polygon(Polygon {
                points: self.points(fields, "points")?,
                stroke: self.stroke(fields),
                fill: self.fill(fields),
                smooth: self.smooth(fields),
            }),
            "Rectangle" => Shape::Rectangle(Rectangle {
                extent: self.needed_extent(fields)?,
                stroke: self.stroke(fields),
                fill: self.fill(fields),
                border: self.border(fields),
                radius: self.number(fields, "radius").unwrap_or(0.0),
            }),
            "Ellipse" => Shape::Ellipse(Ellipse {
                extent: self.needed_extent(fields)?,
                stroke: self.stroke(fields),
                fill: self.fill(fields),
                start: self.number(fields, "startAngle").unwrap_or(0.0),
                end: self.number(fields, "endAngle").unwrap_or(360.0),
                closure: self.closure(fields),
            }),
            "Text" => {
                let text = self.string(fields, "textString").or_else(|| self.string(fields, "string"))?;
                let text = self.with_macros(&text, subject);
                Shape::Text(self.text(fields, text)?)
            }
            "Bitmap" => Shape::Bitmap(self.bitmap(fields)?),
            other => {
                self.warn(fields.frame.class, fields.span, format!("there is no primitive `{other}`"));
                return None;
            }
        };
        Some(Item { transform: self.item_transform(fields), shape })
    }

    /// Turned around its origin and moved there.
    pub(super) fn item_transform(&mut self, fields: &Fields<'_>) -> Transform {
        let rotation = self.number(fields, "rotation").unwrap_or(0.0);
        let origin = self.point(fields, "origin").unwrap_or_default();
        Transform::rotation(rotation).then(&Transform::translation(origin))
    }

    fn needed_extent(&mut self, fields: &Fields<'_>) -> Option<Extent> {
        if !fields.has("extent") {
            self.warn(fields.frame.class, fields.span, "the annotation `extent` is missing");
        }
        self.extent(fields, "extent")
    }

    /// A line, also that of a connection; `None` without points.
    pub(super) fn line(&mut self, fields: &Fields<'_>) -> Option<Line> {
        let points = self.points(fields, "points")?;
        Some(Line { points, ..self.line_style(fields) })
    }

    pub(super) fn line_style(&mut self, fields: &Fields<'_>) -> Line {
        let arrows = self.literals(fields, "arrow").unwrap_or_default();
        let arrow = |at: usize| match arrows.get(at).map_or("", |name| name.as_str()) {
            "Open" => Arrow::Open,
            "Filled" => Arrow::Filled,
            "Half" => Arrow::Half,
            _ => Arrow::None,
        };
        Line {
            points: Vec::new(),
            stroke: Stroke {
                colour: self.colour(fields, "color").unwrap_or_default(),
                pattern: self.line_pattern(fields),
                thickness: self.number(fields, "thickness").unwrap_or(0.25),
            },
            arrows: [arrow(0), arrow(1)],
            arrow_size: self.number(fields, "arrowSize").unwrap_or(3.0),
            smooth: self.smooth(fields),
        }
    }

    fn stroke(&mut self, fields: &Fields<'_>) -> Stroke {
        Stroke {
            colour: self.colour(fields, "lineColor").unwrap_or_default(),
            pattern: self.line_pattern(fields),
            thickness: self.number(fields, "lineThickness").unwrap_or(0.25),
        }
    }

    fn line_pattern(&mut self, fields: &Fields<'_>) -> LinePattern {
        match self.literal(fields, "pattern").map_or("", |name| name.as_str()) {
            "None" => LinePattern::None,
            "Dash" => LinePattern::Dash,
            "Dot" => LinePattern::Dot,
            "DashDot" => LinePattern::DashDot,
            "DashDotDot" => LinePattern::DashDotDot,
            _ => LinePattern::Solid,
        }
    }

    fn fill(&mut self, fields: &Fields<'_>) -> Fill {
        let pattern = match self.literal(fields, "fillPattern").map_or("", |name| name.as_str()) {
            "Solid" => FillPattern::Solid,
            "Horizontal" => FillPattern::Horizontal,
            "Vertical" => FillPattern::Vertical,
            "Cross" => FillPattern::Cross,
            "Forward" => FillPattern::Forward,
            "Backward" => FillPattern::Backward,
            "CrossDiag" => FillPattern::CrossDiag,
            "HorizontalCylinder" => FillPattern::HorizontalCylinder,
            "VerticalCylinder" => FillPattern::VerticalCylinder,
            "Sphere" => FillPattern::Sphere,
            _ => FillPattern::None,
        };
        Fill { colour: self.colour(fields, "fillColor").unwrap_or_default(), pattern }
    }

    fn border(&mut self, fields: &Fields<'_>) -> Border {
        match self.literal(fields, "borderPattern").map_or("", |name| name.as_str()) {
            "Raised" => Border::Raised,
            "Sunken" => Border::Sunken,
            "Engraved" => Border::Engraved,
            _ => Border::None,
        }
    }

    fn closure(&mut self, fields: &Fields<'_>) -> Closure {
        match self.literal(fields, "closure").map_or("", |name| name.as_str()) {
            "None" => Closure::None,
            "Chord" => Closure::Chord,
            "Radial" => Closure::Radial,
            _ => Closure::Automatic,
        }
    }

    fn smooth(&mut self, fields: &Fields<'_>) -> Smooth {
        match self.literal(fields, "smooth").map_or("", |name| name.as_str()) {
            "Bezier" => Smooth::Bezier,
            _ => Smooth::None,
        }
    }

    /// A text whose macros are already replaced.
    pub(super) fn text(&mut self, fields: &Fields<'_>, text: String) -> Option<Text> {
        let styles = self.literals(fields, "textStyle").unwrap_or_default();
        let has = |style: &str| styles.iter().any(|name| *name == *style);
        // Texts had a `lineColor` before Modelica 3.4.
        let colour = self.colour(fields, "textColor").or_else(|| self.colour(fields, "lineColor"));
        let alignment = match self.literal(fields, "horizontalAlignment").map_or("", |name| name.as_str()) {
            "Left" => Alignment::Left,
            "Right" => Alignment::Right,
            _ => Alignment::Center,
        };
        Some(Text {
            extent: self.needed_extent(fields)?,
            text,
            size: self.number(fields, "fontSize").unwrap_or(0.0),
            font: self.string(fields, "fontName").map_or(String::new(), |name| name.to_string()),
            bold: has("Bold"),
            italic: has("Italic"),
            underlined: has("UnderLine") || has("Underline"),
            colour: colour.unwrap_or(Colour::BLACK),
            alignment,
        })
    }

    fn bitmap(&mut self, fields: &Fields<'_>) -> Option<Bitmap> {
        let extent = self.needed_extent(fields)?;
        let span = fields.span;
        if let Some(source) = self.string(fields, "imageSource").filter(|source| !source.is_empty()) {
            let image = from_base64(&source).and_then(Image::new);
            if image.is_none() {
                self.warn(fields.frame.class, span, "the annotation `imageSource` holds no picture");
            }
            return Some(Bitmap { extent, image: Arc::new(image?) });
        }
        let name = self.string(fields, "fileName").filter(|name| !name.is_empty())?;
        match self.image(&name, span) {
            Ok(image) => Some(Bitmap { extent, image }),
            Err(why) => {
                self.warn(fields.frame.class, span, format!("the picture `{name}` cannot be shown: {why}"));
                None
            }
        }
    }

    /// The picture in a file. A name without scheme is relative to the file in which it is written.
    fn image(&mut self, name: &str, span: Span) -> Result<Arc<Image>, String> {
        let libraries = &mut self.elaborator.instances.libraries;
        let path = match name.contains("://") || Path::new(name).is_absolute() {
            true => libraries.resource(name).ok_or("there is no such file in its library")?,
            false => {
                let folder = libraries.sources.file(span.file).path.parent().map(Path::to_owned);
                folder.unwrap_or_default().join(name)
            }
        };
        if let Some(known) = self.images.get(&path) {
            return known.clone().ok_or_else(|| "it is no picture".to_owned());
        }
        let model = &self.elaborator.flat.model;
        let resolved = |folder: &PathBuf| dae::access::resolve(folder).ok();
        let folders: Vec<PathBuf> = model.package_folders.iter().filter_map(|(_, folder)| resolved(folder)).collect();
        let is_shipped = !path.exists() && self.elaborator.instances.libraries.exists(&path);
        let allowed = if is_shipped { path.clone() } else { model.access.read(&path, &folders)? };
        let bytes = self.elaborator.instances.libraries.bytes(&allowed).map_err(|error| error.to_string())?;
        let image = Image::new(bytes).map(Arc::new);
        self.images.insert(path, image.clone());
        image.ok_or_else(|| "it is neither PNG, JPEG, GIF, BMP nor SVG".to_owned())
    }
}

/// The bytes that a text stands for (RFC 4648); `None` for another text.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::with_capacity(text.len() / 4 * 3));
    for letter in text.bytes().filter(|letter| !letter.is_ascii_whitespace()) {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// What stands for a component without an icon: an outline with its name and class.
pub(super) fn outline(extent: Extent, name: &str, class: &str) -> Vec<Item> {
    vec![
        frame(extent),
        label(&extent, name, (0.08, 0.92), (0.5, 0.78)),
        label(&extent, class, (0.08, 0.92), (0.24, 0.44)),
    ]
}

/// What stands for a connector without an icon: an outline, in diagrams with its name above.
pub(super) fn connector_outline(extent: Extent, name: &str, layer: Layer) -> Vec<Item> {
    let mut items = vec![frame(extent)];
    if layer == Layer::Diagram {
        items.push(label(&extent, name, (-1.0, 2.0), (1.05, 1.5)));
    }
    items
}

fn frame(extent: Extent) -> Item {
    let stroke = Stroke { colour: Colour(0, 0, 127), ..Stroke::default() };
    let fill = Fill { colour: Colour::WHITE, pattern: FillPattern::Solid };
    Item::new(Shape::Rectangle(Rectangle { extent, stroke, fill, border: Border::None, radius: 0.0 }))
}

/// A text in a part of an area, from and to these shares of its width and height.
fn label(extent: &Extent, text: &str, across: (f64, f64), upwards: (f64, f64)) -> Item {
    let at = |x: f64, y: f64| Point::new(extent.left() + x * extent.width(), extent.bottom() + y * extent.height());
    Item::new(Shape::Text(Text {
        extent: Extent { first: at(across.0, upwards.0), second: at(across.1, upwards.1) },
        text: text.to_owned(),
        size: 0.0,
        font: String::new(),
        bold: false,
        italic: false,
        underlined: false,
        colour: Colour(0, 0, 127),
        alignment: Alignment::Center,
    }))
}

#[cfg(test)]
mod tests {
    use super::from_base64;

    #[test]
    fn texts_as_bytes() {
        assert_eq!(from_base64("Zm9v\nYg==").as_deref(), Some(b"foob".as_slice()));
        assert_eq!(from_base64("Zm8="), Some(b"fo".to_vec()));
        assert_eq!(from_base64("?"), None);
    }
}
