//! A picture as PNG: the SVG drawing, rasterised with the font that comes with the program.

use vector::DrawingError;

use crate::picture::Picture;
use crate::svg::svg;

/// The file. `scale` is relative to the size that the SVG drawing asks for, which has four pixels a millimetre.
pub fn png(picture: &Picture, scale: f64) -> Result<Vec<u8>, DrawingError> {
    vector::png(&svg(picture), scale)
}
