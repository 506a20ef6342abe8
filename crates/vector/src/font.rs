//! The sizes of letters in the font that comes with the program, Noto Sans. Browsers that have another one stretch their texts to
//! the lengths that are found here.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider as _};

/// What names the font in a drawing, with similar ones behind it.
pub const FAMILY: &str = "'Noto Sans','Open Sans','Segoe UI',Arial,Helvetica,sans-serif";

/// The files of the font.
pub(crate) const FILES: [&[u8]; 4] =
    [ttf_noto_sans::REGULAR, ttf_noto_sans::BOLD, ttf_noto_sans::ITALIC, ttf_noto_sans::BOLD_ITALIC];

/// The height of capital letters, by the size of the font.
pub const CAPITAL: f64 = 0.714;
/// From the lowest to the highest letter that texts of diagrams have.
pub const LINE: f64 = 1.2;

/// The widths of letters in parts of the size of the font.
struct Widths(FxHashMap<char, f64>);

/// Letters that are looked up once; all others are as wide as `n`.
const KNOWN: [std::ops::RangeInclusive<u32>; 3] = [0x20..=0x17f, 0x370..=0x3ff, 0x2010..=0x22ff];

impl Widths {
    fn read(file: &[u8]) -> Self {
        let Ok(font) = FontRef::new(file) else { return Self(FxHashMap::default()) };
        let (letters, metrics) = (font.charmap(), font.glyph_metrics(Size::new(1.0), LocationRef::default()));
        let known = KNOWN.into_iter().flatten().filter_map(char::from_u32);
        Self(
            known
                .filter_map(|letter| Some((letter, f64::from(metrics.advance_width(letters.map(letter)?)?))))
                .collect(),
        )
    }
}

/// The length of a text in a font of size 1.
pub fn length(text: &str, bold: bool) -> f64 {
    static WIDTHS: OnceLock<[Widths; 2]> = OnceLock::new();
    let widths = WIDTHS.get_or_init(|| [Widths::read(FILES[0]), Widths::read(FILES[1])]);
    let widths = &widths[usize::from(bold)].0;
    text.chars().map(|letter| widths.get(&letter).copied().unwrap_or(0.618)).sum()
}
