//! A figure as a page that needs nothing else: the SVG, and a script that zooms it.

use super::Figure;
use super::layout::layout;
use super::svg::{draw, escape};

const SCRIPT: &str = include_str!("zoom.js");

/// The figure as a page of its own.
pub fn html(figure: &Figure) -> String {
    // Ten points a pixel leave something to zoom into.
    let picture = draw(&layout(figure, 10));
    let title = escape(&figure.title);
    format!(
        r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font-family:system-ui,sans-serif;margin:1rem auto;max-width:1100px;color:#333}}
svg{{max-width:100%;height:auto;user-select:none}}.curves{{cursor:grab}}p{{color:#777;font-size:.85rem}}</style></head>
<body>
{picture}<p>Wheel: zoom the horizontal axis. Shift and wheel: zoom values. Drag: move. Double click: all.</p>
<script>
{SCRIPT}</script>
</body></html>
"#
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_stands_alone() {
        let page = super::html(&crate::plot::tests::figure());
        assert!(page.contains("<svg") && page.contains("addEventListener"));
        assert!(!page.replace("http://www.w3.org/2000/svg", "").contains("http"));
    }
}
