//! A picture as PNG: the SVG drawing, rasterised by `resvg` with the font that comes with the program.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::font;
use crate::picture::Picture;
use crate::svg::svg;

/// Pictures are not made wider or higher than this.
const MOST_PIXELS: f32 = 12_000.0;

/// Why there is no picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PngError(pub String);

impl std::fmt::Display for PngError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for PngError {}

/// The file. `scale` is relative to the size that the SVG drawing asks for, which has four pixels a millimetre.
pub fn png(picture: &Picture, scale: f64) -> Result<Vec<u8>, PngError> {
    let options = Options { fontdb: fonts(), font_family: "Noto Sans".to_owned(), ..Options::default() };
    let tree = Tree::from_str(&svg(picture), &options).map_err(|error| PngError(error.to_string()))?;
    let size = tree.size();
    let most = MOST_PIXELS / size.width().max(size.height());
    let scale = (scale as f32).min(most);
    let pixels = |length: f32| (length * scale).ceil().max(1.0) as u32;
    let too_large = || PngError("the picture is too large".to_owned());
    let mut pixmap = Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or_else(too_large)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| PngError(error.to_string()))
}

fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let made = FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        for file in font::FILES {
            fonts.load_font_data(file.to_vec());
        }
        for set in [
            fontdb::Database::set_sans_serif_family,
            fontdb::Database::set_serif_family,
            fontdb::Database::set_monospace_family,
        ] {
            set(&mut fonts, "Noto Sans");
        }
        Arc::new(fonts)
    });
    made.clone()
}
