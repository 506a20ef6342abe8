//! Pictures are readable: no text is cut off at the edge or stands on another one, whatever the names, units and values are.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use results::plot::{Axis, Block, Curve, Figure, Key, Note, Panel, Scale, Side, pdf, png, shade, svg};

/// A text of a drawing with the rectangle that it takes: left, top, right, bottom.
#[derive(Debug)]
struct Text {
    text: String,
    area: [f64; 4],
}

fn attribute(element: &str, name: &str) -> Option<String> {
    let rest = element.split(&format!(" {name}=\"")).nth(1)?;
    Some(rest.split('"').next()?.to_owned())
}

/// All texts that are not turned.
fn texts(svg: &str) -> Vec<Text> {
    let mut found = Vec::new();
    for part in svg.split("<text").skip(1) {
        let (element, rest) = part.split_once('>').unwrap();
        let text = rest.split("</text>").next().unwrap();
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        let number = |name: &str| attribute(element, name).and_then(|value| value.parse::<f64>().ok());
        let (mut x, mut y) = (number("x").unwrap(), number("y").unwrap());
        let size = number("font-size").unwrap_or(13.0);
        match attribute(element, "transform") {
            Some(transform) if transform.starts_with("rotate") => continue,
            Some(transform) => {
                let inside = transform.trim_start_matches("translate(").trim_end_matches(')').to_owned();
                let (dx, dy) = inside.split_once(' ').unwrap();
                x += dx.parse::<f64>().unwrap();
                y += dy.parse::<f64>().unwrap();
            }
            None => {}
        }
        let length = vector::length(&text, attribute(element, "font-weight").is_some()) * size;
        let left = match attribute(element, "text-anchor").as_deref() {
            Some("middle") => x - length / 2.0,
            Some("end") => x - length,
            _ => x,
        };
        found.push(Text { text, area: [left, y - 0.72 * size, left + length, y] });
    }
    found
}

fn check(figure: &Figure) {
    let drawn = svg(figure);
    let height: f64 = attribute(drawn.lines().next().unwrap(), "height").unwrap().parse().unwrap();
    let texts = texts(&drawn);
    assert!(texts.len() > 4);
    for (k, one) in texts.iter().enumerate() {
        let [left, top, right, bottom] = one.area;
        assert!(left >= 0.0 && right <= 800.0 && top >= 0.0 && bottom <= height, "`{}` is cut off: {one:?}", one.text);
        for other in &texts[k + 1..] {
            let apart =
                right <= other.area[0] || other.area[2] <= left || bottom <= other.area[1] || other.area[3] <= top;
            assert!(apart, "{one:?} stands on {other:?}");
        }
    }
    // What can be drawn at all can be drawn in every format.
    assert!(png(figure).unwrap().starts_with(b"\x89PNG"));
    assert!(pdf(figure).unwrap().starts_with(b"%PDF-1.4"));
}

fn curves(count: usize, name: impl Fn(usize) -> String, f: impl Fn(usize, f64) -> f64) -> Vec<Curve> {
    let x: Arc<[f64]> = (0..=200).map(|k| f64::from(k) * 0.05).collect();
    let curve = |k: usize| Curve::new(name(k), x.clone(), x.iter().map(|&t| f(k, t)).collect());
    (0..count).map(curve).collect()
}

fn figure(unit: &str, curves: Vec<Curve>) -> Figure {
    let curves = curves.into_iter().map(|curve| (unit.to_owned(), curve));
    Figure::grouped("A headline with <angles> & \"quotes\"", Axis::new("time", "s"), curves)
}

#[test]
fn twenty_curves_with_long_names_and_umlauts() {
    let name =
        |k: usize| format!("fahrzeug.getriebe.planetensatz[{k}].träger.flansch_b.winkel_relativ_zum_hohlrad_°C_{k}");
    check(&figure("degC", curves(20, name, |k, t| (t + k as f64).sin() * k as f64)));
    let endless = |k: usize| format!("{}{k}", "component.".repeat(40));
    check(&figure("N.m", curves(3, endless, |_, t| t)));
}

#[test]
fn short_names_share_lines() {
    let drawn = figure("V", curves(12, |k| format!("R{k}.v"), |k, t| t * k as f64));
    check(&drawn);
    let lines: std::collections::BTreeSet<String> = svg(&drawn)
        .split("class=\"entry\"")
        .skip(1)
        .map(|entry| attribute(entry.split("<text").nth(1).unwrap(), "y").unwrap())
        .collect();
    assert!(lines.len() <= 2, "{lines:?}");
}

#[test]
fn negative_tiny_huge_and_constant_values() {
    for (scale, offset) in [(1e-12, 0.0), (1e12, 0.0), (-3.5, 0.0), (1e-6, 1e5), (0.0, -7.25), (1.0, 123_456.789)] {
        check(&figure("Pa", curves(2, |k| format!("p{k}"), |_, t| offset + scale * t.sin())));
    }
}

#[test]
fn logarithmic_axes() {
    for (low, high) in [(-12, 6), (-3, 3), (0, 1), (5, 40)] {
        let mut drawn = figure(
            "Hz",
            curves(1, |_| "f".to_owned(), |_, t| 10f64.powf(f64::from(low) + t / 10.0 * f64::from(high - low))),
        );
        drawn.panels[0].y.scale = Scale::Logarithmic;
        drawn.x.scale = Scale::Logarithmic;
        check(&drawn);
    }
}

#[test]
fn long_times_and_large_numbers_on_the_horizontal_axis() {
    for (start, span) in [(0.0, 1e7), (1_700_000_000.0, 60.0), (-1e-9, 2e-9), (2.5e6, 1.0)] {
        let x: Arc<[f64]> = (0..=100).map(|k| start + span * f64::from(k) / 100.0).collect();
        let y = x.iter().map(|t| (t - start) / span).collect();
        check(&figure("1", vec![Curve::new("x", x, y)]));
    }
}

#[test]
fn a_heat_map_with_its_key_and_bars_with_names() {
    let block = |k: usize| {
        let (x, y) = ((k % 10) as f64, (k / 10) as f64);
        Block { x: (x, x + 1.0), y: (y, y + 1.0), colour: shade(k as f64 / 100.0), hint: format!("{k}") }
    };
    let key = Key { axis: Axis::new("mean(behälter.temperatur)", "degC"), low: -12_345.678, high: 99_999.9 };
    let panel = Panel {
        y: Axis::new("second", "Ohm"),
        blocks: (0..100).map(block).collect(),
        key: Some(key),
        ..Panel::default()
    };
    check(&Figure { title: "map".to_owned(), x: Axis::new("first", "kg.m2"), panels: vec![panel], equal: false });
    let names: Vec<String> =
        (0..6).map(|k| format!("wärmetauscher.rohr[{k}].wand.wärmeleitfähigkeit_längs_{k}")).collect();
    let notes = (0..6).flat_map(|k| {
        let at = |x: f64| (x, f64::from(k));
        [
            Note { at: at(-1.0), text: "12.345 W/(m·K)".to_owned(), side: Side::Left },
            Note { at: at(1.0), text: "99.999 W/(m·K)".to_owned(), side: Side::Right },
        ]
    });
    let bar = |k: usize| Block {
        x: (-1.0, 1.0),
        y: (k as f64 - 0.3, k as f64 + 0.3),
        colour: [0, 114, 178],
        hint: String::new(),
    };
    let panel = Panel {
        y: Axis { names, limits: Some((-0.6, 5.6)), ..Axis::default() },
        blocks: (0..6).map(bar).collect(),
        notes: notes.collect(),
        ..Panel::default()
    };
    let x = Axis { limits: Some((-2.0, 2.0)), ..Axis::new("T", "K") };
    check(&Figure { title: "bars".to_owned(), x, panels: vec![panel], equal: false });
}

#[test]
fn a_million_rows_are_drawn_quickly_and_small() {
    let x: Arc<[f64]> = (0..1_000_000).map(|k| f64::from(k) * 1e-6).collect();
    let y = x.iter().map(|t| (t * 3e5).sin()).collect();
    let drawn = svg(&figure("V", vec![Curve::new("u", x, y)]));
    assert!(drawn.len() < 100_000, "{}", drawn.len());
}
