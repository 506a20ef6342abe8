//! Connections of a diagram (specification 18.6.4), and the transitions of state machines, which are drawn alike.

use diagram::{
    Alignment, Arrow, Colour, Component, Connection, Extent, Item, Kind, Line, Picture, Shape, Stroke, Text, Transform,
};
use rustc_hash::FxHashMap;
use syntax::ast::{self, EquationKind, ExprKind};

use super::Painter;
use super::fields::Fields;
use crate::instance::{ClassId, Frame};

/// The height of a text at a connection that says nothing about it.
const HEIGHT: f64 = 4.0;
/// The colour of a transition that says nothing about it.
const TRANSITION: Colour = Colour(100, 100, 100);

impl Painter {
    /// Adds the connections of a class and its base classes.
    pub(super) fn connections(&mut self, class: ClassId, maps: &FxHashMap<ClassId, Transform>, picture: &mut Picture) {
        for base in self.instances().with_bases(class) {
            let definition = self.instances().definition(base).clone();
            let ast::ClassBody::Long(composition) = &definition.body else { continue };
            let first = picture.connections.len();
            let frame = self.frame(base);
            for section in composition.equations.iter().filter(|section| !section.initial) {
                self.equations(&frame, &section.equations, true, picture);
            }
            let mut own = picture.connections.split_off(first);
            if let Some(map) = maps.get(&base) {
                for connection in &mut own {
                    connection.line.points.iter_mut().for_each(|point| *point = map.apply(*point));
                    connection.texts.iter_mut().for_each(|text| text.transform = text.transform.then(map));
                }
            }
            picture.connections.append(&mut own);
        }
    }

    /// `present`: whether the conditions around the equations are true.
    fn equations(&mut self, frame: &Frame, equations: &[ast::Equation], present: bool, picture: &mut Picture) {
        for equation in equations {
            let annotation = equation.annotation.as_deref();
            match &equation.kind {
                EquationKind::Connect(a, b) if self.instances().is_deselected(frame.class, a, b) => {}
                EquationKind::Connect(a, b) => {
                    let ends = [names(a), names(b)];
                    self.connection(frame, ends, annotation, present, picture);
                }
                EquationKind::Call(call) => self.transition(frame, call, annotation, present, picture),
                EquationKind::If { branches, otherwise } => {
                    let mut open = present;
                    for (condition, body) in branches {
                        let holds = self.quietly(|elaborator| elaborator.evaluate_condition(frame, condition).ok());
                        self.equations(frame, body, open && holds.unwrap_or(true), picture);
                        open &= !holds.unwrap_or(false);
                    }
                    self.equations(frame, otherwise, open, picture);
                }
                EquationKind::For { body, .. } => self.equations(frame, body, present, picture),
                EquationKind::Equal(..) | EquationKind::When { .. } => {}
            }
        }
    }

    fn connection(
        &mut self,
        frame: &Frame,
        ends: [Vec<String>; 2],
        annotation: Option<&ast::ClassModification>,
        present: bool,
        picture: &mut Picture,
    ) {
        let fields = annotation.map(|annotation| Fields::of_modification(annotation, frame));
        let line = fields.as_ref().and_then(|fields| fields.parts("Line"));
        let pins = [picture.pin(&ends[0]), picture.pin(&ends[1])];
        let line = match line {
            Some(fields) => {
                let mut line = self.line_style(&fields);
                line.points = self.points(&fields, "points").unwrap_or_default();
                line
            }
            None => Line {
                stroke: Stroke { colour: colour_of(picture, &ends[0]).unwrap_or_default(), ..Stroke::default() },
                arrow_size: 3.0,
                ..Line::default()
            },
        };
        // Without a line it is routed, from one connector that is shown to another.
        if line.points.len() < 2 && pins.iter().any(Option::is_none) {
            return;
        }
        let text = fields.as_ref().and_then(|fields| fields.parts("Text"));
        let macros = [("%first", last(&ends[0])), ("%second", last(&ends[1]))];
        let texts = text.and_then(|fields| self.line_text(&fields, &line, &macros)).into_iter().collect();
        let present = present && ends.iter().all(|end| self.end_exists(picture, end));
        picture.connections.push(Connection { ends, line, texts, caption: String::new(), present });
    }

    /// `transition(a, b, condition)` and `initialState(a)` (17.1). Without a line they are routed, with the condition beside them.
    fn transition(
        &mut self,
        frame: &Frame,
        call: &ast::Expr,
        annotation: Option<&ast::ClassModification>,
        present: bool,
        picture: &mut Picture,
    ) {
        let ExprKind::Call { function, arguments } = &call.kind else { return };
        let name = function.parts.last().map_or("", |part| part.ident.name.as_str());
        if function.parts.len() != 1 || !matches!(name, "transition" | "initialState") {
            return;
        }
        let fields = annotation.map(|annotation| Fields::of_modification(annotation, frame));
        let written = fields.as_ref().and_then(|fields| fields.parts("Line")).and_then(|fields| self.line(&fields));
        let is_open = written.is_none();
        let mut line = written.unwrap_or_else(|| Line {
            stroke: Stroke { colour: TRANSITION, ..Stroke::default() },
            arrow_size: 3.0,
            ..Line::default()
        });
        if line.arrows == [Arrow::None; 2] {
            line.arrows[usize::from(is_open || name == "transition")] = Arrow::Filled;
        }
        let argument = |at: usize| match arguments.positional.get(at) {
            Some(ast::FunctionArgument::Expr(argument)) => Some(argument),
            _ => None,
        };
        let end = |at: usize| match argument(at).map(|argument| &argument.kind) {
            Some(ExprKind::Ref(reference)) => names(reference),
            _ => Vec::new(),
        };
        let condition = argument(2).map_or(String::new(), |condition| condition.to_string());
        let text = fields.as_ref().filter(|_| !is_open).and_then(|fields| fields.parts("Text"));
        let texts = text.and_then(|text| self.line_text(&text, &line, &[("%condition", &condition)]));
        let caption = if is_open { condition } else { String::new() };
        let ends = if name == "transition" { [end(0), end(1)] } else { [Vec::new(), end(0)] };
        picture.connections.push(Connection { ends, line, texts: texts.into_iter().collect(), caption, present });
    }

    /// The text at a line: relative to one of its points.
    fn line_text(&mut self, fields: &Fields<'_>, line: &Line, macros: &[(&str, &str)]) -> Option<Item> {
        let written = self.string(fields, "string").or_else(|| self.string(fields, "textString"))?;
        let written = macros.iter().fold(written.to_string(), |text, (from, to)| text.replace(from, to));
        let index = self.number(fields, "index").unwrap_or(1.0) as i64;
        let count = line.points.len() as i64;
        let position = if index < 0 { count + index } else { index - 1 };
        let at =
            *usize::try_from(position).ok().and_then(|position| line.points.get(position)).or(line.points.first())?;
        let mut text: Text = self.text(fields, written)?;
        let extent = &mut text.extent;
        if extent.height() == 0.0 && text.size == 0.0 {
            // The text stands on the point.
            *extent = Extent::new(extent.left(), extent.bottom(), extent.right(), extent.bottom() + HEIGHT);
        }
        if !fields.has("horizontalAlignment") {
            text.alignment = if extent.centre().x < 0.0 { Alignment::Right } else { Alignment::Left };
        }
        let transform = self.item_transform(fields).then(&Transform::translation(at));
        Some(Item { transform, shape: Shape::Text(text) })
    }

    /// Whether what a connection ends at exists.
    fn end_exists(&self, picture: &Picture, end: &[String]) -> bool {
        let plain = |name: &String| name.split('[').next().unwrap_or(name).to_owned();
        let Some(first) = end.first().map(plain) else { return true };
        let exists = picture.components.iter().find(|component| component.name == first).is_none_or(|it| it.present);
        exists && !end.get(1).is_some_and(|second| self.absent.contains(&(first, plain(second))))
    }
}

/// The parts of a reference, each with its subscripts.
fn names(reference: &ast::ComponentRef) -> Vec<String> {
    let part = |part: &ast::RefPart| {
        if part.subscripts.is_empty() {
            return part.ident.name.to_string();
        }
        let subscripts: Vec<String> = part.subscripts.iter().map(ToString::to_string).collect();
        format!("{}[{}]", part.ident.name, subscripts.join(", "))
    };
    reference.parts.iter().map(part).collect()
}

fn last(end: &[String]) -> &str {
    end.last().map_or("", String::as_str)
}

/// The colour of the connector at the end of a connection: that of the line around the first of its shapes.
fn colour_of(picture: &Picture, end: &[String]) -> Option<diagram::Colour> {
    let plain = |name: &String| name.split('[').next().unwrap_or(name).to_owned();
    let first = plain(end.first()?);
    let mut found: &Component = picture.components.iter().find(|component| component.name == first)?;
    for name in &end[1..] {
        let Some(next) = found.connectors.iter().find(|connector| connector.name == plain(name)) else { break };
        found = next;
    }
    if found.kind != Kind::Connector {
        return None;
    }
    found.graphics.iter().find_map(|item| match &item.shape {
        Shape::Line(line) => Some(line.stroke.colour),
        Shape::Polygon(polygon) => Some(polygon.stroke.colour),
        Shape::Rectangle(rectangle) => Some(rectangle.stroke.colour),
        Shape::Ellipse(ellipse) => Some(ellipse.stroke.colour),
        Shape::Text(_) | Shape::Bitmap(_) => None,
    })
}
