//! A drawing as a PDF page of its size, all of it as vectors: paths, and texts as outlines of their letters. Format: ISO 32000-1.

use std::fmt::Write as _;

use resvg::tiny_skia::{Path, PathSegment, Transform};
use resvg::usvg::{Fill, FillRule, Group, LineCap, LineJoin, Node, Paint, Stroke};

use crate::tree::{DrawingError, tree};

/// The file. A unit of the drawing, which is a pixel of CSS, is three quarters of a point. Gradients, patterns and embedded pictures
/// are refused.
pub fn pdf(svg: &str) -> Result<Vec<u8>, DrawingError> {
    let tree = tree(svg)?;
    let (width, height) = (tree.size().width() * 0.75, tree.size().height() * 0.75);
    // The origin of a page is its lower left corner.
    let mut page = Page { content: format!("0.75 0 0 -0.75 0 {height} cm\n"), opacities: Vec::new() };
    page.group(tree.root())?;
    Ok(page.file(width, height))
}

struct Page {
    content: String,
    /// Of filled areas and of lines, in thousandths: each pair that is used has a name.
    opacities: Vec<(u16, u16)>,
}

impl Page {
    fn group(&mut self, group: &Group) -> Result<(), DrawingError> {
        let clip = group.clip_path();
        if let Some(clip) = clip {
            self.content.push_str("q\n");
            for node in clip.root().children() {
                if let Node::Path(path) = node {
                    self.outline(path.data(), path.abs_transform());
                }
            }
            self.content.push_str("W n\n");
        }
        for node in group.children() {
            match node {
                Node::Group(inner) => self.group(inner)?,
                Node::Text(text) => self.group(text.flattened())?,
                Node::Path(path) if path.is_visible() => {
                    self.path(path.data(), path.abs_transform(), path.fill(), path.stroke(), group.opacity().get())?;
                }
                Node::Path(_) => {}
                Node::Image(_) => return Err(DrawingError("pictures cannot be embedded into PDF".to_owned())),
            }
        }
        if clip.is_some() {
            self.content.push_str("Q\n");
        }
        Ok(())
    }

    fn path(
        &mut self,
        path: &Path,
        transform: Transform,
        fill: Option<&Fill>,
        stroke: Option<&Stroke>,
        opacity: f32,
    ) -> Result<(), DrawingError> {
        let share = |own: f32| (own * opacity * 1000.0).round() as u16;
        let opacities = (
            fill.map_or(1000, |fill| share(fill.opacity().get())),
            stroke.map_or(1000, |it| share(it.opacity().get())),
        );
        let known = self.opacities.iter().position(|&known| known == opacities);
        let name = known.unwrap_or_else(|| {
            self.opacities.push(opacities);
            self.opacities.len() - 1
        });
        let _ = writeln!(self.content, "q /G{name} gs");
        if let Some(fill) = fill {
            let [red, green, blue] = colour(fill.paint())?;
            let _ = writeln!(self.content, "{red} {green} {blue} rg");
        }
        if let Some(stroke) = stroke {
            self.pen(stroke, transform)?;
        }
        self.outline(path, transform);
        let rule = match fill.map(Fill::rule) {
            Some(FillRule::EvenOdd) => "*",
            _ => "",
        };
        let _ = match (fill, stroke) {
            (Some(_), Some(_)) => writeln!(self.content, "B{rule}"),
            (Some(_), None) => writeln!(self.content, "f{rule}"),
            (None, Some(_)) => writeln!(self.content, "S"),
            (None, None) => writeln!(self.content, "n"),
        };
        self.content.push_str("Q\n");
        Ok(())
    }

    fn pen(&mut self, stroke: &Stroke, transform: Transform) -> Result<(), DrawingError> {
        let [red, green, blue] = colour(stroke.paint())?;
        // Outlines are transformed already, so lines are as well.
        let (x, y) = transform.get_scale();
        let scale = (x * y).abs().sqrt();
        let cap = match stroke.linecap() {
            LineCap::Butt => 0,
            LineCap::Round => 1,
            LineCap::Square => 2,
        };
        let join = match stroke.linejoin() {
            LineJoin::Round => 1,
            LineJoin::Bevel => 2,
            _ => 0,
        };
        let width = stroke.width().get() * scale;
        let _ = writeln!(self.content, "{red} {green} {blue} RG {width} w {cap} J {join} j");
        if let Some(dashes) = stroke.dasharray() {
            let dashes: Vec<String> = dashes.iter().map(|dash| (dash * scale).to_string()).collect();
            let _ = writeln!(self.content, "[{}] {} d", dashes.join(" "), stroke.dashoffset() * scale);
        }
        Ok(())
    }

    fn outline(&mut self, path: &Path, transform: Transform) {
        let Some(path) = path.clone().transform(transform) else { return };
        let mut at = (0.0, 0.0);
        for segment in path.segments() {
            let _ = match segment {
                PathSegment::MoveTo(to) => writeln!(self.content, "{} {} m", to.x, to.y),
                PathSegment::LineTo(to) => writeln!(self.content, "{} {} l", to.x, to.y),
                PathSegment::QuadTo(control, to) => {
                    // The same curve of third degree.
                    let near = |end: (f32, f32)| {
                        (end.0 + 2.0 / 3.0 * (control.x - end.0), end.1 + 2.0 / 3.0 * (control.y - end.1))
                    };
                    let (first, second) = (near(at), near((to.x, to.y)));
                    let (x, y) = (to.x, to.y);
                    writeln!(self.content, "{} {} {} {} {x} {y} c", first.0, first.1, second.0, second.1)
                }
                PathSegment::CubicTo(first, second, to) => {
                    writeln!(self.content, "{} {} {} {} {} {} c", first.x, first.y, second.x, second.y, to.x, to.y)
                }
                PathSegment::Close => writeln!(self.content, "h"),
            };
            match segment {
                PathSegment::MoveTo(to)
                | PathSegment::LineTo(to)
                | PathSegment::QuadTo(_, to)
                | PathSegment::CubicTo(_, _, to) => at = (to.x, to.y),
                PathSegment::Close => {}
            }
        }
    }

    fn file(self, width: f32, height: f32) -> Vec<u8> {
        let states: Vec<String> = (self.opacities.iter().enumerate())
            .map(|(name, &(fill, stroke))| {
                format!("/G{name} << /ca {} /CA {} >>", f32::from(fill) / 1000.0, f32::from(stroke) / 1000.0)
            })
            .collect();
        let content = miniz_oxide::deflate::compress_to_vec_zlib(self.content.as_bytes(), 6);
        let objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R /Resources << /ExtGState << {} >> >> >>",
                states.join(" ")
            )
            .into_bytes(),
            [
                format!("<< /Length {} /Filter /FlateDecode >>\nstream\n", content.len()).as_bytes(),
                &content,
                b"\nendstream",
            ]
            .concat(),
        ];
        let mut file = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
        let mut places = Vec::new();
        for (number, object) in objects.iter().enumerate() {
            places.push(file.len());
            file.extend_from_slice(format!("{} 0 obj\n", number + 1).as_bytes());
            file.extend_from_slice(object);
            file.extend_from_slice(b"\nendobj\n");
        }
        let start = file.len();
        let count = objects.len() + 1;
        file.extend_from_slice(format!("xref\n0 {count}\n0000000000 65535 f \n").as_bytes());
        places.iter().for_each(|place| file.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes()));
        let trailer = format!("trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
        file.extend_from_slice(trailer.as_bytes());
        file
    }
}

/// Red, green and blue, each from 0 to 1.
fn colour(paint: &Paint) -> Result<[f32; 3], DrawingError> {
    match paint {
        Paint::Color(colour) => Ok([colour.red, colour.green, colour.blue].map(|part| f32::from(part) / 255.0)),
        _ => Err(DrawingError("gradients and patterns cannot be drawn as PDF".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(svg: &str) -> (Vec<u8>, String) {
        let file = pdf(svg).unwrap();
        let find = |what: &[u8]| file.windows(what.len()).position(|at| at == what).unwrap();
        let (from, to) = (find(b"stream\n") + 7, find(b"\nendstream"));
        let text = miniz_oxide::inflate::decompress_to_vec_zlib(&file[from..to]).unwrap();
        (file, String::from_utf8(text).unwrap())
    }

    #[test]
    fn a_page_with_a_line_an_area_and_a_letter() {
        let (file, text) = content(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="100" height="40"><g transform="translate(10 0)">
<path d="M0 0L20 10" fill="none" stroke="#ff0000" stroke-width="2" stroke-dasharray="4 2"/>
<rect x="5" y="5" width="10" height="10" fill="#00ff00" fill-opacity="0.5"/></g><text x="1" y="30">i</text></svg>"##,
        );
        assert!(text.contains("1 0 0 RG 2 w 0 J 0 j\n[4 2] 0 d\n10 0 m\n30 10 l\nS\n"), "{text}");
        assert!(text.contains("0 1 0 rg\n15 5 m\n25 5 l\n25 15 l\n15 15 l\nh\nf\n"), "{text}");
        // The letter is an area with two closed outlines.
        assert!(text.ends_with("f\nQ\n") && text.matches("h\n").count() == 3, "{text}");
        let shown = String::from_utf8_lossy(&file).into_owned();
        assert!(shown.contains("/MediaBox [0 0 75 30]") && shown.contains("/ca 0.5"));
        // Each entry of the table of places is where its object begins.
        let table = shown.rsplit("startxref\n").next().unwrap().lines().next().unwrap().parse::<usize>().unwrap();
        assert!(file[table..].starts_with(b"xref\n0 5\n"));
        for (number, entry) in file[table..].split(|&byte| byte == b'\n').skip(3).take(4).enumerate() {
            let place: usize = std::str::from_utf8(&entry[..10]).unwrap().parse().unwrap();
            assert!(file[place..].starts_with(format!("{} 0 obj", number + 1).as_bytes()));
        }
    }

    #[test]
    fn what_is_cut_off_stays_cut_off() {
        let (_, text) = content(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="100" height="40"><svg x="10" y="10" width="20" height="20"
viewBox="0 0 20 20"><path d="M-50 5L50 5" stroke="#000"/></svg></svg>"##,
        );
        let clip = text.find("W n").unwrap();
        assert!(text[..clip].contains("10 10 m") && text[clip..].contains("-40 15 m"), "{text}");
    }

    #[test]
    fn gradients_are_refused() {
        let svg = r##"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><linearGradient id="g"><stop offset="0"
stop-color="red"/><stop offset="1" stop-color="blue"/></linearGradient><rect width="9" height="9" fill="url(#g)"/></svg>"##;
        assert!(pdf(svg).is_err());
        assert!(pdf("<svg").is_err());
    }
}
