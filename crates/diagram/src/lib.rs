//! Object diagrams as typed graphics: shapes, transformations, components with their connectors, connections, what lies under a
//! point, automatic layout, and drawings as SVG and PNG.
//!
//! Nothing here knows a language. Who has classes makes a `Picture` of them; who shows pictures reads one. Coordinates are
//! those of the Modelica specification, chapter 18: millimetres, the y axis points upwards, angles are counted counter-clockwise.

mod geometry;
mod hit;
mod junctions;
mod labels;
mod layout;
mod outline;
mod picture;
mod png;
mod route;
mod shape;
mod svg;
mod text;
mod transitions;

pub use geometry::{Extent, Point, Transform};
pub use hit::Hit;
pub use picture::{Component, Connection, CoordinateSystem, Kind, Layer, Picture, Pin, Role, Side};
pub use png::png;
pub use shape::{
    Alignment, Arrow, Bitmap, Border, Closure, Colour, Ellipse, Fill, FillPattern, Image, Item, Line, LinePattern,
    Polygon, Rectangle, Shape, Smooth, Stroke, Text,
};
pub use svg::svg;
pub use vector::DrawingError;
