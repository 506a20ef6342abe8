//! Pictures from annotations: small classes and what is drawn of them.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use diagram::{Component, Item, Layer, Picture, Point, Shape, Transform};
use expect_test::{Expect, expect};
use lang::{Drawing, Libraries, MemoryFiles, Overrides, draw};

/// Connectors, a resistor with an icon, a source.
const LIBRARY: &str = r#"
connector Pin
  Real v(unit = "V");
  flow Real i(unit = "A");
  annotation(
    Icon(graphics = {Rectangle(extent = {{-100, -100}, {100, 100}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255},
      fillPattern = FillPattern.Solid)}),
    Diagram(graphics = {Ellipse(extent = {{-40, -40}, {40, 40}}), Text(extent = {{-100, 40}, {100, 80}}, textString = "%name")}));
end Pin;

connector RealInput = input Real annotation(Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}})}));

partial model TwoPin
  Pin p annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Pin n annotation(Placement(transformation(extent = {{110, -10}, {90, 10}})));
protected
  Pin hidden annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
  annotation(Icon(graphics = {Line(points = {{-90, 0}, {90, 0}})}));
end TwoPin;

model Resistor
  extends TwoPin;
  parameter Real R(unit = "Ohm", displayUnit = "kOhm");
  parameter Boolean useHeatPort = false;
  Pin heatPort if useHeatPort annotation(Placement(transformation(extent = {{-10, -110}, {10, -90}})));
  annotation(Icon(graphics = {
    Rectangle(extent = {{-70, 30}, {70, -30}}),
    Line(visible = useHeatPort, points = {{0, -30}, {0, -90}}),
    Text(extent = {{-100, 40}, {100, 80}}, textString = "%name: R=%R, %class 100%%")}));
end Resistor;
"#;

fn drawing(text: &str, class: &str, layer: Option<Layer>) -> Drawing {
    let files = [("library.mo", LIBRARY), ("model.mo", text)];
    let mut libraries = Libraries::new(Box::new(MemoryFiles::from_iter(files)));
    libraries.add_file("library.mo");
    libraries.add_file("model.mo");
    draw(&mut libraries, class, &Overrides::default(), layer, false)
}

/// The only layer that a class has something in, without any message.
fn picture(text: &str, class: &str, layer: Option<Layer>) -> Picture {
    let drawing = drawing(text, class, layer);
    assert_eq!(drawing.diagnostics, [], "{class}");
    drawing.picture.unwrap()
}

/// One line a shape with its points in the coordinates of the picture, indented by components.
fn check(picture: &Picture, expected: Expect) {
    let mut text = format!("{:?} of {}\n", picture.layer, picture.class);
    picture.graphics.iter().for_each(|item| show_item(item, &Transform::IDENTITY, 1, &mut text));
    picture.components.iter().for_each(|it| show_component(it, &Transform::IDENTITY, 1, &mut text));
    for connection in &picture.connections {
        let [a, b] = connection.ends.each_ref().map(|end| end.join("."));
        let faint = if connection.present { "" } else { " absent" };
        let _ = writeln!(text, "  {a} - {b}{faint}:{}", points(&connection.line.points, &Transform::IDENTITY));
        connection.texts.iter().for_each(|item| show_item(item, &Transform::IDENTITY, 2, &mut text));
    }
    expected.assert_eq(&text);
}

fn points(points: &[Point], transform: &Transform) -> String {
    points.iter().fold(String::new(), |mut text, point| {
        let Point { x, y } = transform.apply(*point);
        let _ = write!(text, " ({},{})", (x * 1e3).round() / 1e3 + 0.0, (y * 1e3).round() / 1e3 + 0.0);
        text
    })
}

fn show_component(component: &Component, outer: &Transform, level: usize, text: &mut String) {
    let transform = component.transform.then(outer);
    let blanks = "  ".repeat(level);
    let faint = if component.present { "" } else { " absent" };
    let (kind, class) = (component.kind, &component.class);
    let centre = points(&[component.extent.centre()], &transform);
    let _ = writeln!(text, "{blanks}{kind:?} {}: {class}{faint} at{centre}", component.name);
    component.graphics.iter().for_each(|item| show_item(item, &transform, level + 1, text));
    component.connectors.iter().for_each(|it| show_component(it, &transform, level + 1, text));
}

fn show_item(item: &Item, outer: &Transform, level: usize, text: &mut String) {
    let transform = item.transform.then(outer);
    let extent = |extent: &diagram::Extent| points(&[extent.first, extent.second], &transform);
    let blanks = "  ".repeat(level);
    let _ = match &item.shape {
        Shape::Line(line) => writeln!(text, "{blanks}line{}", points(&line.points, &transform)),
        Shape::Polygon(polygon) => writeln!(text, "{blanks}polygon{}", points(&polygon.points, &transform)),
        Shape::Rectangle(it) => writeln!(text, "{blanks}rectangle{} {:?}", extent(&it.extent), it.fill.colour),
        Shape::Ellipse(ellipse) => writeln!(text, "{blanks}ellipse{}", extent(&ellipse.extent)),
        Shape::Text(it) => writeln!(text, "{blanks}text{} {:?}", extent(&it.extent), it.text),
        Shape::Bitmap(bitmap) => writeln!(text, "{blanks}bitmap{}", extent(&bitmap.extent)),
    };
}

#[test]
fn a_component_has_its_icon_and_connectors_where_it_is_placed() {
    let model = r#"
model M
  Resistor R1(R = 2200) annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}}, rotation = 90, origin = {40, 0})));
  Pin own annotation(Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
equation
  connect(own, R1.n) annotation(Line(points = {{-100, 0}, {40, 10}}, color = {0, 0, 255}));
end M;"#;
    check(
        &picture(model, "M", None),
        expect![[r#"
            Diagram of M
              Component R1: Resistor at (40,0)
                line (40,-9) (40,9)
                rectangle (37,-7) (43,7) Colour(0, 0, 0)
                text (36,-10) (32,10) "R1: R=2.2\u{a0}kΩ, Resistor 100%"
                Connector p: Pin at (40,-10)
                  rectangle (41,-11) (39,-9) Colour(0, 0, 255)
                Connector n: Pin at (40,10)
                  rectangle (41,11) (39,9) Colour(0, 0, 255)
              Connector own: Pin at (-100,0)
                ellipse (-104,-4) (-96,4)
                text (-110,4) (-90,8) "own"
              own - R1.n: (-100,0) (40,10)
        "#]],
    );
}

#[test]
fn the_icon_of_a_component_class_has_its_public_connectors() {
    check(
        &picture("", "Resistor", None),
        expect![[r#"
            Icon of Resistor
              line (-90,0) (90,0)
              rectangle (-70,30) (70,-30) Colour(0, 0, 0)
              text (-100,40) (100,80) "Resistor: R=R, Resistor 100%"
              Connector p: Pin at (-100,0)
                rectangle (-110,-10) (-90,10) Colour(0, 0, 255)
              Connector n: Pin at (100,0)
                rectangle (110,-10) (90,10) Colour(0, 0, 255)
        "#]],
    );
}

#[test]
fn conditions_and_visibility_follow_the_parameters_of_the_instance() {
    let model = r#"
model M
  parameter Boolean on = false;
  Resistor R1(R = 1, useHeatPort = true) annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
  Resistor R2(R = 1) if on annotation(Placement(transformation(extent = {{30, -10}, {50, 10}})));
equation
  connect(R1.n, R2.p) annotation(Line(points = {{10, 0}, {30, 0}}));
  connect(R1.heatPort, R2.heatPort) annotation(Line(points = {{0, -10}, {40, -10}}));
end M;"#;
    check(
        &picture(model, "M", None),
        expect![[r#"
            Diagram of M
              Component R1: Resistor at (0,0)
                line (-9,0) (9,0)
                rectangle (-7,3) (7,-3) Colour(0, 0, 0)
                line (0,-3) (0,-9)
                text (-10,4) (10,8) "R1: R=0.001\u{a0}kΩ, Resistor 100%"
                Connector p: Pin at (-10,0)
                  rectangle (-11,-1) (-9,1) Colour(0, 0, 255)
                Connector n: Pin at (10,0)
                  rectangle (11,-1) (9,1) Colour(0, 0, 255)
                Connector heatPort: Pin at (0,-10)
                  rectangle (-1,-11) (1,-9) Colour(0, 0, 255)
              Component R2: Resistor absent at (40,0)
                line (31,0) (49,0)
                rectangle (33,3) (47,-3) Colour(0, 0, 0)
                text (30,4) (50,8) "R2: R=0.001\u{a0}kΩ, Resistor 100%"
                Connector p: Pin at (30,0)
                  rectangle (29,-1) (31,1) Colour(0, 0, 255)
                Connector n: Pin at (50,0)
                  rectangle (51,-1) (49,1) Colour(0, 0, 255)
              R1.n - R2.p absent: (10,0) (30,0)
              R1.heatPort - R2.heatPort absent: (0,-10) (40,-10)
        "#]],
    );
}

#[test]
fn base_classes_are_mapped_and_hidden() {
    let model = r#"
model Base
  annotation(Icon(coordinateSystem(extent = {{-50, -50}, {50, 50}}, preserveAspectRatio = false),
    graphics = {Line(points = {{-50, 0}, {50, 50}})}));
end Base;
model Same extends Base; annotation(Icon(graphics = {Ellipse(extent = {{-1, -1}, {1, 1}})})); end Same;
model Mapped extends Base annotation(IconMap(extent = {{0, 0}, {-100, 20}})); end Mapped;
model Hidden extends Base annotation(IconMap(primitivesVisible = false)); end Hidden;"#;
    let same = picture(model, "Same", None);
    assert_eq!(same.coordinates.extent, diagram::Extent::new(-50.0, -50.0, 50.0, 50.0));
    check(
        &same,
        expect![[r#"
            Icon of Same
              line (-50,0) (50,50)
              ellipse (-1,-1) (1,1)
        "#]],
    );
    let mapped = picture(model, "Mapped", None);
    assert_eq!(mapped.coordinates.extent, diagram::Extent::DEFAULT);
    check(
        &mapped,
        expect![[r#"
            Icon of Mapped
              line (0,10) (-100,20)
        "#]],
    );
    check(
        &picture(model, "Hidden", None),
        expect![[r#"
            Icon of Hidden
        "#]],
    );
}

#[test]
fn values_of_annotations_are_evaluated() {
    let model = r#"
model M
  parameter Boolean wide = true;
  parameter Integer n = 3;
  type Kind = enumeration(first, second);
  parameter Kind kind = Kind.second;
  parameter Real T(unit = "K", displayUnit = "degC") = 293.15;
  parameter Real[2] k = {1, 2.5};
  parameter Real phi(unit = "rad", displayUnit = "deg") = 0.5 * 3.141592653589793;
  Real y = T * time;
  annotation(Icon(graphics = {
    Rectangle(extent = if wide then {{-10 * n, -5}, {10 * n, 5}} else {{0, 0}, {1, 1}},
      fillColor = DynamicSelect({1, 2, 3}, if y > 1 then {255, 0, 0} else {0, 255, 0}),
      fillPattern = if kind == Kind.second then FillPattern.Solid else FillPattern.None),
    Text(extent = {{0, 0}, {1, 1}}, textString = "%n %kind %T %{k} %phi %y %{wide}x%% 5%")}));
end M;"#;
    check(
        &picture(model, "M", None),
        expect![[r#"
            Icon of M
              rectangle (-30,-5) (30,5) Colour(1, 2, 3)
              text (0,0) (1,1) "3 second 20\u{a0}°C {1,2.5} 90° T*time truex% 5%"
        "#]],
    );
}

#[test]
fn arrays_redeclarations_and_connections_with_text() {
    let model = r#"
model Other extends TwoPin; annotation(Icon(graphics = {Ellipse(extent = {{-50, -50}, {50, 50}})})); end Other;
model Template
  replaceable Resistor part constrainedby TwoPin annotation(Placement(transformation(extent = {{-10, -10}, {10, 10}})));
end Template;
model M
  extends Template(redeclare Other part);
  parameter Integer n = 2;
  Pin pins[n, 3] annotation(Placement(transformation(extent = {{-60, -10}, {-40, 10}})));
equation
  for i in 1:n loop
    connect(pins[i, 1], part.p) annotation(Line(points = {{-50, 0}, {-10, 0}}),
      Text(string = "%second", index = -1, extent = {{-6, 3}, {-6, 3}}));
  end for;
end M;"#;
    check(
        &picture(model, "M", None),
        expect![[r#"
            Diagram of M
              Component part: Other at (0,0)
                line (-9,0) (9,0)
                ellipse (-5,-5) (5,5)
                Connector p: Pin at (-10,0)
                  rectangle (-11,-1) (-9,1) Colour(0, 0, 255)
                Connector n: Pin at (10,0)
                  rectangle (11,-1) (9,1) Colour(0, 0, 255)
              Connector pins: Pin at (-50,0)
                ellipse (-54,-4) (-46,4)
                text (-60,4) (-40,8) "pins[2,3]"
              pins[i, 1] - part.p: (-50,0) (-10,0)
                text (-16,3) (-16,7) "p"
        "#]],
    );
}

#[test]
fn a_model_without_annotations_is_laid_out() {
    let model = r#"
connector Plain Real v; flow Real i; end Plain;
connector Output = output Real;
model VoltageSource Plain p; Plain n; end VoltageSource;
model Load Plain p; Plain n; input Real u; RealInput control; end Load;
model Ground Plain p; end Ground;
model M
  Load load;
  VoltageSource source;
  Ground ground;
equation
  connect(source.p, load.p);
  connect(load.n, source.n);
  connect(ground.p, source.n);
end M;"#;
    let picture = picture(model, "M", None);
    let at = |name: &str| picture.components.iter().find(|it| it.name == name).map(Component::centre).unwrap();
    assert!(at("source").x < at("load").x);
    assert!(at("ground").y < at("source").y && at("ground").y < at("load").y);
    assert_eq!(picture.connections.len(), 3);
    for connection in &picture.connections {
        let ends = connection.ends.each_ref().map(|end| picture.pin(end).unwrap().at);
        assert_eq!(connection.line.points.first(), Some(&ends[0]));
        assert_eq!(connection.line.points.last(), Some(&ends[1]));
    }
}

#[test]
fn wrong_annotations_are_warnings_and_the_rest_is_drawn() {
    let model = r#"
model M
  Resistor R1(R = 1) annotation(Placement(transformation(extent = {{-10, -10}, {10}})));
  Missing other annotation(Placement(transformation(extent = {{-50, -10}, {-30, 10}})));
  annotation(Diagram(graphics = {
    Line(points = {{0, 0}, {1, 1}}, color = "red"), Circle(radius = 1), Rectangle(),
    Bitmap(extent = {{0, 0}, {1, 1}}, fileName = "modelica://Nowhere/x.png")}));
end M;"#;
    let drawing = drawing(model, "M", None);
    let mut said: Vec<String> = drawing.diagnostics.iter().map(|it| format!("{}: {}", it.code, it.message)).collect();
    assert!(drawing.diagnostics.iter().all(|diagnostic| !diagnostic.is_error() && !diagnostic.labels.is_empty()));
    said.sort();
    expect![[r#"
        unknown-name: there is no class `Missing` in scope
        wrong-annotation: the annotation `color` needs a colour {red, green, blue}
        wrong-annotation: the annotation `extent` is missing
        wrong-annotation: the annotation `extent` needs an area {{x1, y1}, {x2, y2}}
        wrong-annotation: the picture `modelica://Nowhere/x.png` cannot be shown: there is no such file in its library
        wrong-annotation: the placement has no `extent`
        wrong-annotation: there is no primitive `Circle`"#]]
    .assert_eq(&said.join("\n"));
    let picture = drawing.picture.unwrap();
    assert_eq!(picture.graphics.len(), 1);
    assert_eq!(picture.components.len(), 2);
}

#[test]
fn pictures_of_state_machines_have_their_transitions() {
    let model = r#"
block State annotation(Icon(graphics = {Rectangle(extent = {{-100, -100}, {100, 100}}, radius = 10)})); end State;
model M
  State a annotation(Placement(transformation(extent = {{-60, -10}, {-40, 10}})));
  State b annotation(Placement(transformation(extent = {{40, -10}, {60, 10}})));
equation
  initialState(a) annotation(Line(points = {{-50, 10}, {-50, 30}}));
  transition(a, b, time > 1) annotation(Line(points = {{-40, 0}, {40, 0}}),
    Text(string = "%condition", extent = {{4, 4}, {4, 8}}));
end M;"#;
    let picture = picture(model, "M", None);
    let shown: Vec<_> = picture.connections.iter().map(|it| (it.ends.clone(), it.line.arrows)).collect();
    let name = |name: &str| vec![name.to_owned()];
    use diagram::Arrow;
    assert_eq!(
        shown,
        [([vec![], name("a")], [Arrow::Filled, Arrow::None]), ([name("a"), name("b")], [Arrow::None, Arrow::Filled]),]
    );
    let Shape::Text(text) = &picture.connections[1].texts[0].shape else { panic!("a text is written at the line") };
    assert_eq!(text.text, "time > 1");
}

#[test]
fn transitions_without_a_line_are_drawn_with_their_conditions() {
    let model = r#"
block State annotation(Icon(graphics = {Rectangle(extent = {{-100, -100}, {100, 100}}, radius = 10)})); end State;
model M
  State a annotation(Placement(transformation(extent = {{-60, -10}, {-40, 10}})));
  State b;
equation
  initialState(a);
  transition(a, b, time > 1, immediate = false);
end M;"#;
    let picture = picture(model, "M", None);
    use diagram::Arrow;
    for connection in &picture.connections {
        assert_eq!(connection.line.arrows, [Arrow::None, Arrow::Filled]);
        let last = *connection.line.points.last().unwrap();
        let to = picture.components.iter().find(|it| it.name == connection.ends[1][0]).unwrap();
        assert!(to.area().grown(1e-9).contains(last), "{connection:?}");
    }
    let Shape::Text(text) = &picture.connections[1].texts[0].shape else { panic!("a text is written at the line") };
    assert_eq!(text.text, "time > 1");
}

#[test]
fn an_unknown_class_is_an_error() {
    let drawing = drawing("model M end M;", "N", None);
    assert!(drawing.picture.is_none());
    assert_eq!(drawing.diagnostics.iter().map(|it| it.code).collect::<Vec<_>>(), ["unknown-class"]);
}
