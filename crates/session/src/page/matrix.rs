//! Incidence matrices as pictures.

use std::fmt::Write as _;

use super::escape;

const CELL: usize = 6;

/// Which row depends on which column.
pub struct Matrix {
    pub rows: Vec<(String, Vec<usize>)>,
    pub columns: Vec<String>,
    /// Rows from and to of systems on the diagonal.
    pub frames: Vec<(usize, usize)>,
}

impl Matrix {
    pub fn svg(&self) -> String {
        let (width, height) = (self.columns.len() * CELL, self.rows.len() * CELL);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\
             <rect width=\"100%\" height=\"100%\" fill=\"#f5f5f5\"/>"
        );
        for (row, (text, columns)) in self.rows.iter().enumerate() {
            let _ = write!(out, "<g fill=\"#0072b2\"><title>{}</title>", escape(text));
            for column in columns {
                let (x, y, side) = (column * CELL, row * CELL, CELL - 1);
                let _ = write!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\"/>");
            }
            out.push_str("</g>");
        }
        for &(from, to) in &self.frames {
            let (at, side) = (from * CELL, (to - from) * CELL);
            let _ = write!(
                out,
                "<rect x=\"{at}\" y=\"{at}\" width=\"{side}\" height=\"{side}\" fill=\"none\" stroke=\"#d55e00\"/>"
            );
        }
        out.push_str("</svg>");
        out
    }
}
