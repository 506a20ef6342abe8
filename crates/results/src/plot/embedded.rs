//! The numbers of a figure inside of the page that shows them, all of them: detail comes back where the page is zoomed.
//!
//! Each array is the bytes of its 64-bit numbers, first bytes of all numbers first, so that compression (zlib, RFC 1950) finds
//! something to do, and then base 64. The same array of instants is written once for all curves that share it.

use std::fmt::Write as _;
use std::sync::Arc;

use super::axis::Scale;
use super::{Axis, Figure, Panel};

/// The numbers as JSON.
pub(super) fn numbers(figure: &Figure) -> String {
    let mut arrays = Arrays::default();
    let panels: Vec<String> = figure.panels.iter().map(|panel| of_panel(panel, &mut arrays)).collect();
    let arrays: Vec<String> = arrays.encoded.iter().map(|text| format!("\"{text}\"")).collect();
    format!(r#"{{"x":{},"panels":[{}],"arrays":[{}]}}"#, of_axis(&figure.x), panels.join(","), arrays.join(","))
}

fn of_panel(panel: &Panel, arrays: &mut Arrays) -> String {
    let curves: Vec<String> = (panel.curves.iter())
        .map(|curve| {
            let rising = curve.x.is_sorted();
            let (x, y) = (arrays.shared(&curve.x), arrays.add(&curve.y));
            format!(r#"{{"name":{},"x":{x},"y":{y},"rising":{rising}}}"#, text(&curve.name))
        })
        .collect();
    let bands: Vec<String> = (panel.bands.iter())
        .map(|band| {
            let (x, lower, upper) = (arrays.shared(&band.x), arrays.add(&band.lower), arrays.add(&band.upper));
            format!(r#"{{"x":{x},"lower":{lower},"upper":{upper}}}"#)
        })
        .collect();
    let blocks: Vec<String> = (panel.blocks.iter())
        .map(|block| format!("[{:?},{:?},{:?},{:?}]", block.x.0, block.x.1, block.y.0, block.y.1))
        .collect();
    let axis = of_axis(&panel.y);
    format!(
        r#"{{"y":{axis},"curves":[{}],"bands":[{}],"blocks":[{}]}}"#,
        curves.join(","),
        bands.join(","),
        blocks.join(",")
    )
}

fn of_axis(axis: &Axis) -> String {
    let scale = match axis.scale {
        Scale::Linear => "linear",
        Scale::Logarithmic => "logarithmic",
        Scale::Degrees => "degrees",
    };
    let names: Vec<String> = axis.names.iter().map(|name| text(name)).collect();
    let (quantity, unit) = (text(&axis.quantity), text(&units::typeset(&axis.unit)));
    format!(r#"{{"scale":"{scale}","quantity":{quantity},"unit":{unit},"names":[{}]}}"#, names.join(","))
}

/// A text of JSON that does not end the script around it.
fn text(plain: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in plain.chars() {
        match letter {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(letter);
            }
            '<' | '>' | '&' | '\0'..='\x1f' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[derive(Default)]
struct Arrays {
    encoded: Vec<String>,
    /// Arrays that several curves have, with their places.
    known: Vec<(Arc<[f64]>, usize)>,
}

impl Arrays {
    fn shared(&mut self, values: &Arc<[f64]>) -> usize {
        if let Some((_, place)) = self.known.iter().find(|(known, _)| Arc::ptr_eq(known, values)) {
            return *place;
        }
        let place = self.add(values);
        self.known.push((values.clone(), place));
        place
    }

    fn add(&mut self, values: &[f64]) -> usize {
        self.encoded.push(base64(&miniz_oxide::deflate::compress_to_vec_zlib(&transposed(values), 5)));
        self.encoded.len() - 1
    }
}

/// The first bytes of all numbers, then the second ones …
fn transposed(values: &[f64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.len() * 8);
    for byte in 0..8 {
        bytes.extend(values.iter().map(|value| value.to_le_bytes()[byte]));
    }
    bytes
}

/// RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let word = part.iter().enumerate().fold(0u32, |word, (k, &byte)| word | u32::from(byte) << (16 - 8 * k));
        for letter in 0..4 {
            let used = letter <= part.len();
            text.push(if used { char::from(LETTERS[(word >> (18 - 6 * letter) & 63) as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_standard() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn instants_are_written_once_and_a_million_rows_stay_small() {
        let time: Arc<[f64]> = (0..1_000_000).map(|k| f64::from(k) * 1e-3).collect();
        let mut arrays = Arrays::default();
        assert_eq!((arrays.shared(&time), arrays.shared(&time.clone())), (0, 0));
        assert!(arrays.encoded[0].len() < 4_000_000, "{}", arrays.encoded[0].len());
        assert_eq!(transposed(&[1.0, -2.0]), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0, 0x3f, 0xc0]);
    }

    #[test]
    fn names_do_not_end_the_script() {
        assert_eq!(text("</script>\"\n"), r#""\u003c/script\u003e\"\u000a""#);
    }
}
