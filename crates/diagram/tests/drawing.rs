//! Drawings: what SVG says about shapes, and what lies under a point.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use diagram::{
    Alignment, Arrow, Bitmap, Border, Closure, Colour, Component, Connection, Ellipse, Extent, Fill, FillPattern, Hit,
    Image, Item, Kind, Layer, Line, LinePattern, Picture, Point, Polygon, Rectangle, Shape, Smooth, Stroke, Text,
    Transform, png, svg,
};
use expect_test::expect;

fn drawn(shapes: Vec<Shape>) -> String {
    let graphics = shapes.into_iter().map(Item::new).collect();
    let text = svg(&Picture { class: "A<B>".to_owned(), layer: Layer::Icon, graphics, ..Picture::default() });
    // Everything behind the white background.
    let body = text.split_once("fill=\"#fff\"/>\n").unwrap().1;
    let definitions = text.split_once("<defs>").map_or("", |(_, rest)| rest.split_once("</defs>").unwrap().0);
    format!("{}{}", definitions.trim_start(), body.strip_suffix("</svg>\n").unwrap())
}

fn rectangle(pattern: FillPattern) -> Rectangle {
    Rectangle {
        extent: Extent::new(-10.0, -20.0, 30.0, 20.0),
        stroke: Stroke { colour: Colour(0, 0, 255), ..Stroke::default() },
        fill: Fill { colour: Colour::WHITE, pattern },
        border: Border::None,
        radius: 0.0,
    }
}

fn text(text: &str) -> Text {
    Text {
        extent: Extent::new(-100.0, 20.0, 100.0, 60.0),
        text: text.to_owned(),
        size: 0.0,
        font: String::new(),
        bold: false,
        italic: false,
        underlined: false,
        colour: Colour::BLACK,
        alignment: Alignment::Center,
    }
}

#[test]
fn lines_and_areas() {
    let line = Line {
        points: vec![Point::new(0.0, 0.0), Point::new(10.0, 10.0), Point::new(20.0, 0.0)],
        stroke: Stroke { pattern: LinePattern::Dash, thickness: 0.5, ..Stroke::default() },
        arrows: [Arrow::None, Arrow::Filled],
        arrow_size: 3.0,
        smooth: Smooth::Bezier,
    };
    let polygon = Polygon {
        points: vec![Point::new(0.0, 0.0), Point::new(5.0, 0.0), Point::new(0.0, 5.0)],
        ..Polygon::default()
    };
    let shapes = vec![Shape::Line(line), Shape::Polygon(polygon), Shape::Rectangle(rectangle(FillPattern::Solid))];
    expect![[r##"
        <path d="M0 0L5 -5Q10 -10 15 -5L20 0" stroke="#000000" stroke-width="0.5" stroke-dasharray="2.5 1.5"/>
        <path d="M18.586 -2.828L20 0L17.172 -1.414Z" stroke="#000000" stroke-width="0.5" fill="#000000"/>
        <path d="M0 0L5 0L0 -5L0 0Z" stroke="#000000" stroke-width="0.25"/>
        <path d="M-10 20L30 20L30 -20L-10 -20Z" fill="#ffffff" stroke="#0000ff" stroke-width="0.25"/>
    "##]]
    .assert_eq(&drawn(shapes));
}

#[test]
fn gradients_are_those_of_the_shape_before_it_is_turned() {
    let shapes = vec![
        Shape::Rectangle(rectangle(FillPattern::HorizontalCylinder)),
        Shape::Rectangle(rectangle(FillPattern::Sphere)),
    ];
    expect![[r##"
        <linearGradient id="p0" gradientUnits="userSpaceOnUse" x1="0" y1="-20" x2="0" y2="20" gradientTransform="matrix(1 0 0 -1 0 0)"><stop offset="0" stop-color="#0000ff"/><stop offset=".5" stop-color="#ffffff"/><stop offset="1" stop-color="#0000ff"/></linearGradient>
        <radialGradient id="p1" gradientUnits="userSpaceOnUse" cx="0" cy="0" r="1" gradientTransform="matrix(28.284271 0 0 -28.284271 10 0)"><stop offset="0" stop-color="#ffffff"/><stop offset="1" stop-color="#0000ff"/></radialGradient>
        <path d="M-10 20L30 20L30 -20L-10 -20Z" fill="url(#p0)" stroke="#0000ff" stroke-width="0.25"/>
        <path d="M-10 20L30 20L30 -20L-10 -20Z" fill="url(#p1)" stroke="#0000ff" stroke-width="0.25"/>
    "##]]
    .assert_eq(&drawn(shapes));
}

#[test]
fn arcs_end_where_their_angles_say() {
    let ellipse = |closure| {
        Shape::Ellipse(Ellipse {
            extent: Extent::new(-10.0, -10.0, 10.0, 10.0),
            stroke: Stroke::default(),
            fill: Fill { colour: Colour::WHITE, pattern: FillPattern::Solid },
            start: 0.0,
            end: 90.0,
            closure,
        })
    };
    let shapes = [Closure::None, Closure::Chord, Closure::Automatic].map(ellipse).to_vec();
    expect![[r##"
        <path d="M10 0C10 -5.523 5.523 -10 0 -10" stroke="#000000" stroke-width="0.25"/>
        <path d="M10 0C10 -5.523 5.523 -10 0 -10Z" fill="#ffffff" stroke="#000000" stroke-width="0.25"/>
        <path d="M10 0C10 -5.523 5.523 -10 0 -10L0 0Z" fill="#ffffff" stroke="#000000" stroke-width="0.25"/>
    "##]]
    .assert_eq(&drawn(shapes));
}

/// The attribute of the only text.
fn attribute(drawing: &str, name: &str) -> f64 {
    let rest = drawing.split_once(&format!(" {name}=\"")).unwrap().1;
    rest.split_once('"').unwrap().0.parse().unwrap()
}

#[test]
fn texts_fit_their_areas() {
    let short = drawn(vec![Shape::Text(text("R"))]);
    assert!((attribute(&short, "font-size") - 40.0 / 1.2).abs() < 1e-3, "{short}");
    let long = drawn(vec![Shape::Text(text("a very long name of a component"))]);
    assert!((attribute(&long, "textLength") - 200.0).abs() < 0.1, "{long}");
    let fixed = drawn(vec![Shape::Text(Text { size: 72.0, ..text("R") })]);
    assert_eq!(attribute(&fixed, "font-size"), 25.4);
    let marked = drawn(vec![Shape::Text(text("a < b & c"))]);
    assert!(marked.contains(">a &lt; b &amp; c</text>"), "{marked}");
}

#[test]
fn texts_are_neither_mirrored_nor_upside_down() {
    let show = |transform: Transform, alignment: Alignment| {
        let item = Item { transform, shape: Shape::Text(Text { alignment, ..text("left") }) };
        let picture = Picture { graphics: vec![item], ..Picture::default() };
        let drawing = svg(&picture);
        let turn = drawing.split_once("rotate(").map_or("0", |(_, rest)| rest.split_once(' ').unwrap().0).to_owned();
        let anchor = drawing.split_once("text-anchor=\"").map_or("start", |(_, rest)| rest.split_once('"').unwrap().0);
        (turn, anchor.to_owned())
    };
    let (left, right) = ("start".to_owned(), "end".to_owned());
    assert_eq!(show(Transform::IDENTITY, Alignment::Left), ("0".to_owned(), left.clone()));
    assert_eq!(show(Transform::rotation(180.0), Alignment::Left), ("0".to_owned(), right.clone()));
    assert_eq!(show(Transform::scaling(-1.0, 1.0), Alignment::Left), ("0".to_owned(), right.clone()));
    assert_eq!(show(Transform::scaling(1.0, -1.0), Alignment::Left), ("0".to_owned(), left.clone()));
    assert_eq!(show(Transform::rotation(90.0), Alignment::Left), ("-90".to_owned(), left));
    assert_eq!(show(Transform::rotation(-90.0), Alignment::Left), ("-90".to_owned(), right));
}

#[test]
fn pictures_keep_their_bytes() {
    let image = Image::new(b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec()).unwrap();
    assert_eq!(image.media_type, "image/svg+xml");
    assert_eq!(Image::new(b"text".to_vec()), None);
    let bitmap = Bitmap { extent: Extent::new(10.0, -10.0, -10.0, 10.0), image: Arc::new(image) };
    let drawing = drawn(vec![Shape::Bitmap(bitmap)]);
    assert!(drawing.contains(r#"transform="matrix(-1 0 0 1 0 0)""#), "{drawing}");
    assert!(drawing.contains("data:image/svg+xml;base64,PHN2"), "{drawing}");
}

/// A component with a connector at its right, a connector of the class, and a connection between them.
fn small() -> Picture {
    let at = |extent: Extent| Transform::between(Extent::DEFAULT, extent);
    let pin = Component {
        name: "n".to_owned(),
        kind: Kind::Connector,
        transform: at(Extent::new(90.0, -10.0, 110.0, 10.0)),
        graphics: vec![Item::new(Shape::Rectangle(Rectangle {
            extent: Extent::DEFAULT,
            ..rectangle(FillPattern::Solid)
        }))],
        present: true,
        placed: true,
        ..Component::default()
    };
    let resistor = Component {
        name: "R".to_owned(),
        class: "Resistor".to_owned(),
        transform: at(Extent::new(-50.0, -10.0, -30.0, 10.0)),
        connectors: vec![pin.clone()],
        present: true,
        placed: true,
        ..Component::default()
    };
    let own = Component { name: "p".to_owned(), transform: at(Extent::new(90.0, -10.0, 110.0, 10.0)), ..pin };
    let mut picture = Picture {
        components: vec![resistor, own],
        connections: vec![Connection {
            ends: [vec!["R".to_owned(), "n".to_owned()], vec!["p".to_owned()]],
            present: true,
            ..Connection::default()
        }],
        graphics: vec![Item::new(Shape::Text(text("above")))],
        ..Picture::default()
    };
    picture.arrange();
    picture
}

#[test]
fn what_lies_under_a_point() {
    let picture = small();
    assert_eq!(picture.connections[0].line.points, [Point::new(-30.0, 0.0), Point::new(100.0, 0.0)]);
    assert_eq!(picture.under(Point::new(-40.0, 5.0), 0.5), [Hit::Component(0)]);
    let pin = [Hit::Connector(0, vec![0]), Hit::Connection(0), Hit::Component(0)];
    assert_eq!(picture.under(Point::new(-30.0, 0.0), 0.5), pin);
    assert_eq!(picture.under(Point::new(0.0, 0.3), 0.5), [Hit::Connection(0)]);
    assert_eq!(picture.under(Point::new(0.0, 3.0), 0.5), []);
    assert_eq!(picture.under(Point::new(95.0, 5.0), 0.5), [Hit::Connector(1, vec![])]);
    assert_eq!(picture.under(Point::new(0.0, 40.0), 0.5), [Hit::Graphic(0)]);
}

#[test]
fn lines_that_end_beside_their_pins_are_led_to_them() {
    let mut picture = small();
    let mut led = |points: &[(f64, f64)]| {
        picture.connections[0].line.points = points.iter().map(|&(x, y)| Point::new(x, y)).collect();
        picture.arrange();
        picture.connections[0].line.points.iter().map(|point| (point.x, point.y)).collect::<Vec<_>>()
    };
    assert_eq!(led(&[(-29.5, 0.0), (95.0, 0.0)]), [(-29.5, 0.0), (95.0, 0.0)]);
    assert_eq!(
        led(&[(-28.0, 5.0), (20.0, 5.0), (20.0, 0.0), (100.0, 0.0)]),
        [(-30.0, 0.0), (20.0, 0.0), (20.0, 0.0), (100.0, 0.0)]
    );
    assert_eq!(led(&[(-30.0, 30.0), (100.0, 30.0)]), [(-30.0, 0.0), (35.0, 0.0), (35.0, 0.0), (100.0, 0.0)]);
    assert_eq!(led(&[(-40.0, 30.0), (0.0, 20.0), (100.0, 0.0)]), [(-30.0, 0.0), (0.0, 20.0), (100.0, 0.0)]);
}

#[test]
fn thick_lines_of_small_icons_are_thinner() {
    let stroke = |thickness: f64| Stroke { thickness, ..Stroke::default() };
    let drawn: Vec<f64> = [0.25, 0.5, 1.0, 5.0, 10.0].map(|it| stroke(it).drawn(0.1)).to_vec();
    assert_eq!(drawn, [0.25, 0.5, 0.5, 0.5, 1.0]);
    assert_eq!(stroke(5.0).drawn(1.0), 5.0);
    assert_eq!(stroke(5.0).drawn(3.0), 5.0);
}

#[test]
fn a_picture_is_well_formed_and_can_be_rasterised() {
    let mut picture = small();
    picture.components[0].present = false;
    picture.components[0].connectors[0].labels = vec!["v = 5 V".to_owned()];
    for hatch in [FillPattern::Forward, FillPattern::Cross, FillPattern::Backward] {
        picture.graphics.push(Item::new(Shape::Rectangle(Rectangle { border: Border::Engraved, ..rectangle(hatch) })));
    }
    let drawing = svg(&picture);
    assert!(drawing.contains("opacity=\"0.3\""), "{drawing}");
    let file = png(&picture, 0.5).expect("the drawing is well formed");
    assert!(file.starts_with(b"\x89PNG"));
}

#[test]
fn numbers_that_are_none_do_no_harm() {
    let line = Line { points: vec![Point::new(f64::NAN, 0.0), Point::new(f64::INFINITY, 1.0)], ..Line::default() };
    let drawing = drawn(vec![Shape::Line(line)]);
    assert!(!drawing.contains("NaN") && !drawing.contains("inf"), "{drawing}");
}
