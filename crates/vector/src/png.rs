//! A drawing as PNG, rasterised by `resvg`.

use resvg::tiny_skia::{Pixmap, Transform};

use crate::tree::{DrawingError, tree};

/// Pictures are not made wider or higher than this.
const MOST_PIXELS: f32 = 12_000.0;

/// The file. `scale` is relative to the size that the drawing asks for.
pub fn png(svg: &str, scale: f64) -> Result<Vec<u8>, DrawingError> {
    let tree = tree(svg)?;
    let size = tree.size();
    let most = MOST_PIXELS / size.width().max(size.height());
    let scale = (scale as f32).min(most);
    let pixels = |length: f32| (length * scale).ceil().max(1.0) as u32;
    let too_large = || DrawingError("the picture is too large".to_owned());
    let mut pixmap = Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or_else(too_large)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| DrawingError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use resvg::tiny_skia::Pixmap;

    #[test]
    fn letters_of_other_alphabets_are_drawn() {
        let picture = |text: &str| {
            let svg = format!(
                r#"<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30"><text x="5" y="22" font-size="20">{text}</text></svg>"#
            );
            Pixmap::decode_png(&super::png(&svg, 2.0).unwrap()).unwrap()
        };
        let empty = picture("");
        assert_eq!((empty.width(), empty.height()), (120, 60));
        let ink = |text: &str| picture(text).pixels().iter().filter(|pixel| pixel.alpha() > 128).count();
        assert_eq!(ink(""), 0);
        for letter in ["°", "Ü", "ß", "Ω", "µ", "²", "·", "−", "φ"] {
            assert!(ink(letter) > 10, "{letter}");
            assert_ne!(picture(letter).data(), picture("\u{e000}").data(), "{letter} is the sign of a missing letter");
        }
    }
}
