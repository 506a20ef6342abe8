//! A figure as a page that needs nothing else: the SVG, its numbers, and a script that zooms it and tells values.

use super::Figure;
use super::embedded::numbers;
use super::layout::layout;
use super::svg::{draw, escape};

const SCRIPT: &str = include_str!("zoom.js");
const STYLE: &str = include_str!("page.css");

/// The figure as a page of its own.
pub fn html(figure: &Figure) -> String {
    let picture = draw(&layout(figure));
    let (title, numbers) = (escape(&figure.title), numbers(figure));
    format!(
        r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>{STYLE}</style></head>
<body>
<main>
{picture}<div id="values" hidden></div>
<p>Wheel: zoom the horizontal axis. Shift and wheel: zoom values. Drag: move. Double click: all. Click a name: hide or show it.</p>
</main>
<script id="numbers" type="application/json">{numbers}</script>
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
        assert!(page.contains("<svg") && page.contains("addEventListener") && page.contains("prefers-color-scheme"));
        assert!(!page.replace("http://www.w3.org/2000/svg", "").contains("http"));
    }
}
