//! SVG text as a tree of shapes, with letters as outlines of the font that comes with the program.

use std::sync::{Arc, OnceLock};

use resvg::usvg::{Options, Tree, fontdb};

use crate::font;

/// Why there is no picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrawingError(pub String);

impl std::fmt::Display for DrawingError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for DrawingError {}

pub(crate) fn tree(svg: &str) -> Result<Tree, DrawingError> {
    let options = Options { fontdb: fonts(), font_family: "Noto Sans".to_owned(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| DrawingError(error.to_string()))
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
