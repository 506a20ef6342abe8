//! The graphical primitives (specification 18.6.5) with all their attributes.

use std::sync::Arc;

use crate::geometry::{Extent, Point, Transform};

/// Red, green and blue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// No light.
    pub const BLACK: Colour = Colour(0, 0, 0);
    /// All of it.
    pub const WHITE: Colour = Colour(255, 255, 255);
}

/// How a line is interrupted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub enum LinePattern {
    /// No line.
    None,
    #[default]
    Solid,
    Dash,
    Dot,
    DashDot,
    DashDotDot,
}

/// How an area is filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FillPattern {
    /// Not at all.
    #[default]
    None,
    /// With the fill colour.
    Solid,
    /// Lines of the line colour over the fill colour, as all that follow up to `CrossDiag`.
    Horizontal,
    /// Upright lines.
    Vertical,
    /// Horizontal and upright lines.
    Cross,
    /// Lines that rise to the right.
    Forward,
    /// Lines that fall to the right.
    Backward,
    /// Both of them.
    CrossDiag,
    /// From the line colour at the lower and upper side to the fill colour in the middle.
    HorizontalCylinder,
    /// From the line colour at the left and right side to the fill colour in the middle.
    VerticalCylinder,
    /// From the line colour on the enclosing ellipse to the fill colour at its centre.
    Sphere,
}

/// The frame of a rectangle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub enum Border {
    #[default]
    None,
    Raised,
    Sunken,
    Engraved,
}

/// What becomes of the corners of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Smooth {
    /// They stay.
    #[default]
    None,
    /// They are control points of quadratic curves between the middles of the segments.
    Bezier,
}

/// How the ends of an elliptical arc are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Closure {
    /// Not at all; nothing is filled.
    None,
    /// By a straight line.
    Chord,
    /// By lines to the centre.
    Radial,
    /// `Chord` for a whole ellipse, otherwise `Radial`.
    #[default]
    Automatic,
}

/// The end of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Arrow {
    /// No arrow.
    #[default]
    None,
    /// Two lines.
    Open,
    /// A filled triangle.
    Filled,
    /// One line.
    Half,
}

/// Where a text stands in its area.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub enum Alignment {
    Left,
    #[default]
    Center,
    Right,
}

/// The line around a shape, or a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stroke {
    /// Also the second colour of gradients and hatches.
    pub colour: Colour,
    /// How it is interrupted.
    pub pattern: LinePattern,
    /// In millimetres. Lines of small icons are thinner only as far as they are thick: see `drawn`.
    pub thickness: f64,
}

impl Stroke {
    /// The lines of icons are seen at every size: they are scaled, but not below half a millimetre, or what they are.
    pub fn drawn(&self, scale: f64) -> f64 {
        const ALWAYS: f64 = 0.5;
        (self.thickness * scale.min(1.0)).max(self.thickness.min(ALWAYS))
    }
}

impl Default for Stroke {
    fn default() -> Self {
        Self { colour: Colour::BLACK, pattern: LinePattern::Solid, thickness: 0.25 }
    }
}

/// The inside of a shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fill {
    /// The main colour.
    pub colour: Colour,
    /// What is done with it.
    pub pattern: FillPattern,
}

/// A line through points.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Line {
    /// The corners.
    pub points: Vec<Point>,
    /// How it is drawn.
    pub stroke: Stroke,
    /// At its first and last point.
    pub arrows: [Arrow; 2],
    /// The length of arrows.
    pub arrow_size: f64,
    /// What becomes of its corners.
    pub smooth: Smooth,
}

/// An area between points.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Polygon {
    /// The corners; the last one is joined with the first.
    pub points: Vec<Point>,
    /// Its border.
    pub stroke: Stroke,
    /// Its inside.
    pub fill: Fill,
    /// What becomes of its corners.
    pub smooth: Smooth,
}

/// A rectangle, perhaps with round corners.
#[derive(Clone, PartialEq, Debug)]
pub struct Rectangle {
    /// Its corners.
    pub extent: Extent,
    /// Its border.
    pub stroke: Stroke,
    /// Its inside.
    pub fill: Fill,
    /// The frame inside of its border.
    pub border: Border,
    /// The radius of its corners.
    pub radius: f64,
}

/// An ellipse or a part of one.
#[derive(Clone, PartialEq, Debug)]
pub struct Ellipse {
    /// The area that the whole ellipse touches.
    pub extent: Extent,
    /// Its border.
    pub stroke: Stroke,
    /// Its inside.
    pub fill: Fill,
    /// Where the arc begins, in degrees from the right, counter-clockwise, before the circle is stretched to an ellipse.
    pub start: f64,
    /// Where the arc ends.
    pub end: f64,
    /// How the ends of the arc are joined.
    pub closure: Closure,
}

/// A text in an area, on as many lines as it has.
#[derive(Clone, PartialEq, Debug)]
pub struct Text {
    /// The area that it fits into; without width, its height alone counts.
    pub extent: Extent,
    /// What is written.
    pub text: String,
    /// In points; 0: as large as the area permits.
    pub size: f64,
    /// `serif`, `monospace` or the name of a font; empty: without serifs.
    pub font: String,
    /// Heavy.
    pub bold: bool,
    /// Slanted.
    pub italic: bool,
    /// With a line below.
    pub underlined: bool,
    /// The colour of the letters.
    pub colour: Colour,
    /// Where it stands.
    pub alignment: Alignment,
}

/// A picture that stands in a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: &'static str,
    /// The content of the file.
    pub bytes: Vec<u8>,
}

impl Image {
    /// The format is known by the first bytes; `None` for another one than PNG, JPEG, GIF, BMP and SVG.
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        let begin = &bytes[..bytes.len().min(1024)];
        let media_type = match begin {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xff, 0xd8, ..] => "image/jpeg",
            [b'G', b'I', b'F', b'8', ..] => "image/gif",
            [b'B', b'M', ..] => "image/bmp",
            _ if String::from_utf8_lossy(begin).contains("<svg") => "image/svg+xml",
            _ => return None,
        };
        Some(Self { media_type, bytes })
    }
}

/// A picture in an area, as large as possible with its own proportions.
#[derive(Clone, PartialEq, Debug)]
pub struct Bitmap {
    /// The area; reversed corners mirror the picture.
    pub extent: Extent,
    /// What is shown.
    pub image: Arc<Image>,
}

/// A primitive.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Shape {
    Line(Line),
    Polygon(Polygon),
    Rectangle(Rectangle),
    Ellipse(Ellipse),
    Text(Text),
    Bitmap(Bitmap),
}

/// A primitive at its place in a layer.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// From the coordinates of the shape to those of the layer: its rotation, its origin, and the map of the base class that it
    /// comes from.
    pub transform: Transform,
    /// What is drawn.
    pub shape: Shape,
}

impl Item {
    /// A shape in the coordinates of the layer.
    pub fn new(shape: Shape) -> Self {
        Self { transform: Transform::IDENTITY, shape }
    }
}
