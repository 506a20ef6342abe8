//! The drawing of a graph: half arrows, causal strokes, elements as `R : d`, junctions with their names, active bonds and
//! signals as full arrows. Strokes are drawn where causality is given.

use std::fmt::Write as _;

use base::Id;

use crate::causality::Causality;
use crate::graph::*;
use crate::kind::Kind;
use crate::layout::{Cell, places};

const WIDTH: f64 = 104.0;
const HEIGHT: f64 = 84.0;
const MARGIN: f64 = 60.0;
const CHARACTER: f64 = 8.6;
/// Bonds of larger graphs are straight.
const LARGEST_WITH_WAYS: usize = 2000;

/// An SVG file as text.
pub fn svg(graph: &Graph, causality: Option<&Causality>) -> String {
    let cells = places(graph);
    let drawing = Drawing { graph, causality, grid: Grid::new(graph, &cells), cells };
    drawing.draw()
}

struct Drawing<'a> {
    graph: &'a Graph,
    causality: Option<&'a Causality>,
    cells: Vec<Cell>,
    grid: Grid,
}

/// From one point to another.
type Line = ((f64, f64), (f64, f64));

/// What a text covers.
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    /// How much of a line lies in it, roughly.
    fn covered(&self, (from, to): &Line) -> f64 {
        // Far away, as most are.
        let is_beside = from.0.max(to.0) < self.left
            || from.0.min(to.0) > self.right
            || from.1.max(to.1) < self.top
            || from.1.min(to.1) > self.bottom;
        if is_beside {
            return 0.0;
        }
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let count = (length / 2.0).ceil().max(1.0);
        let inside = (0..=count as usize).filter(|&place| {
            let share = place as f64 / count;
            let (x, y) = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
        });
        inside.count() as f64 * length / (count + 1.0)
    }
}

/// Columns are as wide as their texts need.
struct Grid {
    x: Vec<f64>,
    width: f64,
    height: f64,
}

impl Grid {
    fn new(graph: &Graph, cells: &[Cell]) -> Self {
        let columns = cells.iter().map(|(x, _)| x + 1).max().unwrap_or(1) as usize;
        let rows = cells.iter().map(|(_, y)| y + 1).max().unwrap_or(1);
        let mut widest = vec![30.0_f64; columns];
        for (id, element) in graph.elements.iter() {
            let (column, _) = cells[id.index()];
            widest[column as usize] = widest[column as usize].max(text_width(element));
        }
        let mut x = Vec::with_capacity(columns);
        let mut next = MARGIN.max(widest[0] / 2.0 + 16.0);
        for column in 0..columns {
            x.push(next);
            let wider = widest.get(column + 1).copied().unwrap_or(30.0);
            next += WIDTH.max((widest[column] + wider) / 2.0 + 52.0);
        }
        let width = x.last().copied().unwrap_or(MARGIN) + MARGIN.max(widest[columns - 1] / 2.0 + 16.0);
        Self { x, width, height: f64::from(rows - 1) * HEIGHT + 2.0 * MARGIN }
    }

    fn centre(&self, (column, row): Cell) -> (f64, f64) {
        (self.x[column as usize], MARGIN + f64::from(row) * HEIGHT)
    }
}

fn label(element: &Element) -> String {
    let kind = format!("{}{}", if element.modulated { "M" } else { "" }, element.kind.symbol());
    match element.kind {
        Kind::Zero | Kind::One => kind,
        Kind::Component => element.name.clone(),
        _ => format!("{kind} : {}", element.name),
    }
}

fn text_width(element: &Element) -> f64 {
    let own = label(element).chars().count() as f64 * CHARACTER;
    // Names of junctions are small and stand beside them, so that two neighbours share the space between.
    if element.kind.is_junction() { own.max(element.name.chars().count() as f64 * 10.0) } else { own }
}

impl Drawing<'_> {
    fn draw(&self) -> String {
        let (width, height) = (self.grid.width, self.grid.height);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             font-family=\"Helvetica, Arial, sans-serif\" font-size=\"16\">\n<title>{}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            escaped(&self.graph.name)
        );
        self.signals(&mut out);
        for id in self.graph.bonds.ids() {
            self.bond(&mut out, id);
        }
        for (id, element) in self.graph.elements.iter() {
            self.element(&mut out, id, element);
        }
        out += "</svg>\n";
        out
    }

    fn centre(&self, element: ElementId) -> (f64, f64) {
        self.grid.centre(self.cells[element.index()])
    }

    fn element(&self, out: &mut String, id: ElementId, element: &Element) {
        let (x, y) = self.centre(id);
        let text = escaped(&label(element));
        let off = self.causality.is_some_and(|causality| causality.mode.is_off(id));
        let colour = if off { "#999" } else { "#000" };
        // A bond that passes behind an element leaves its text readable.
        let half = if element.kind.is_junction() { 7.0 } else { text_width(element) / 2.0 };
        let (left, top) = (x - half, y - 9.0);
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"18\" fill=\"white\"/>",
            2.0 * half
        );
        let weight = if element.kind.is_junction() { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{colour}\"{weight}>{text}</text>",
            y + 5.5
        );
        if element.kind.is_junction() {
            let (dx, dy, anchor) = self.name_place(id, element);
            let name = escaped(&element.name);
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-size=\"11\" fill=\"#555\">{name}</text>",
                x + dx,
                y + dy
            );
            if element.condition.is_some() {
                let _ = writeln!(
                    out,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"12\" fill=\"none\" stroke=\"{colour}\" stroke-dasharray=\"3 2\"/>"
                );
            }
        }
    }

    /// Where the name of a junction lies on no bond and on no stroke, as far as there is such a place.
    fn name_place(&self, id: ElementId, element: &Element) -> (f64, f64, &'static str) {
        let (x, y) = self.centre(id);
        let width = element.name.chars().count() as f64 * 6.2;
        let places = [
            (12.0, -12.0, "start"),
            (-12.0, -12.0, "end"),
            (12.0, 20.0, "start"),
            (-12.0, 20.0, "end"),
            (0.0, -22.0, "middle"),
            (0.0, 31.0, "middle"),
            (20.0, -16.0, "start"),
            (-20.0, -16.0, "end"),
            (20.0, 24.0, "start"),
            (-20.0, 24.0, "end"),
        ];
        let lines: Vec<Line> = element.ports.iter().flat_map(|port| self.lines(port.bond)).collect();
        let crowded = |(dx, dy, anchor): &(f64, f64, &str)| {
            let left = match *anchor {
                "start" => x + dx,
                "end" => x + dx - width,
                _ => x + dx - width / 2.0,
            };
            let text = Area { left: left - 2.0, right: left + width + 2.0, top: y + dy - 10.0, bottom: y + dy + 4.0 };
            lines.iter().map(|line| text.covered(line)).sum::<f64>()
        };
        let mut best = (places[0], f64::INFINITY);
        for place in places {
            let covered = crowded(&place);
            if covered < best.1 {
                best = (place, covered);
            }
        }
        best.0
    }

    /// What is drawn of a bond: its line, or lines around another element, and its stroke.
    fn lines(&self, id: BondId) -> Vec<Line> {
        let way = self.way(id);
        let mut lines: Vec<Line> = way.windows(2).map(|pair| (pair[0], pair[1])).collect();
        lines.extend(self.stroke(id, &way));
        lines
    }

    /// The corners of a bond. It goes around elements that it would pass through.
    fn way(&self, id: BondId) -> Vec<(f64, f64)> {
        let bond = &self.graph.bonds[id];
        let (tail, head) = (self.centre(bond.tail), self.centre(bond.head));
        let straight = || {
            let (start, end) = self.spread(id, self.border(bond.tail, head), self.border(bond.head, tail));
            vec![start, end]
        };
        let is_free = |points: &[(f64, f64)]| self.is_free([bond.tail, bond.head], points);
        // Nobody follows single bonds in graphs that are larger.
        if self.graph.elements.len() > LARGEST_WITH_WAYS || is_free(&[tail, head]) {
            return straight();
        }
        let (dx, dy) = (head.0 - tail.0, head.1 - tail.1);
        let length = dx.hypot(dy).max(1e-9);
        let middle = ((tail.0 + head.0) / 2.0, (tail.1 + head.1) / 2.0);
        for distance in [28.0, -28.0, 42.0, -42.0, 56.0, -56.0, 80.0, -80.0] {
            let via = (middle.0 - dy / length * distance, middle.1 + dx / length * distance);
            let inside =
                (8.0..self.grid.width - 8.0).contains(&via.0) && (8.0..self.grid.height - 8.0).contains(&via.1);
            if inside && is_free(&[tail, via, head]) {
                return vec![self.border(bond.tail, via), via, self.border(bond.head, via)];
            }
        }
        straight()
    }

    fn stroke(&self, id: BondId, way: &[(f64, f64)]) -> Option<Line> {
        let causality = self.causality.filter(|_| !self.graph.bonds[id].active)?;
        let (at, before) = match causality.strokes[id] {
            Stroke::Head => (way[way.len() - 1], way[way.len() - 2]),
            Stroke::Tail => (way[0], way[1]),
        };
        let (dx, dy) = (at.0 - before.0, at.1 - before.1);
        let scale = 7.5 / dx.hypot(dy).max(1e-9);
        let (nx, ny) = (-dy * scale, dx * scale);
        Some(((at.0 + nx, at.1 + ny), (at.0 - nx, at.1 - ny)))
    }

    /// Which port of a field or component a bond is at.
    fn port_numbers(&self, out: &mut String, id: BondId, way: &[(f64, f64)]) {
        let bond = &self.graph.bonds[id];
        let last = way.len() - 1;
        for (end, at, before) in [(bond.tail, way[0], way[1]), (bond.head, way[last], way[last - 1])] {
            let element = &self.graph.elements[end];
            let has_numbers = element.ports.len() > 1 && (element.kind.is_passive() || element.kind == Kind::Component);
            let Some(port) = element.ports.iter().position(|port| port.bond == id).filter(|_| has_numbers) else {
                continue;
            };
            let (dx, dy) = (before.0 - at.0, before.1 - at.1);
            let scale = 1.0 / dx.hypot(dy).max(1e-9);
            // Beside the bond, on the other side than its barb.
            let (mut nx, mut ny) = (-dy * scale, dx * scale);
            if ny > 1e-9 || (ny.abs() <= 1e-9 && nx > 0.0) {
                (nx, ny) = (-nx, -ny);
            }
            let (x, y) = (at.0 + 15.0 * dx * scale + 8.0 * nx, at.1 + 15.0 * dy * scale + 8.0 * ny + 3.5);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"10\" fill=\"#555\">{}</text>",
                port + 1
            );
        }
    }

    /// The point at which a line from the centre leaves the element's text.
    fn border(&self, id: ElementId, towards: (f64, f64)) -> (f64, f64) {
        let (x, y) = self.centre(id);
        let element = &self.graph.elements[id];
        let half_width = if element.kind.is_junction() { 13.0 } else { text_width(element) / 2.0 + 7.0 };
        let half_height = if element.condition.is_some() { 16.0 } else { 14.0 };
        let (dx, dy) = (towards.0 - x, towards.1 - y);
        let scale = (half_width / dx.abs().max(1e-9)).min(half_height / dy.abs().max(1e-9)).min(0.45);
        (x + dx * scale, y + dy * scale)
    }

    fn bond(&self, out: &mut String, id: BondId) {
        let bond = &self.graph.bonds[id];
        let way = self.way(id);
        let (start, end) = (way[way.len() - 2], way[way.len() - 1]);
        let (dx, dy) = (end.0 - start.0, end.1 - start.1);
        let length = dx.hypot(dy).max(1e-9);
        let (ux, uy) = (dx / length, dy / length);
        // The barb is below horizontal bonds and right of vertical ones, on the side of the flow.
        let (mut nx, mut ny) = (-uy, ux);
        if ny < -1e-9 || (ny.abs() <= 1e-9 && nx < 0.0) {
            (nx, ny) = (-nx, -ny);
        }
        let line = |out: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64), width: f64| {
            let _ = writeln!(
                out,
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#000\" stroke-width=\"{width}\" stroke-linecap=\"round\"/>"
            );
        };
        let _ = writeln!(out, "<g><title>{}</title>", escaped(&self.graph.bond_text(id)));
        way.windows(2).for_each(|pair| line(out, pair[0], pair[1], 1.4));
        if bond.active {
            let back = (end.0 - 9.0 * ux, end.1 - 9.0 * uy);
            let _ = writeln!(
                out,
                "<polygon points=\"{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}\"/>",
                end.0,
                end.1,
                back.0 + 4.0 * nx,
                back.1 + 4.0 * ny,
                back.0 - 4.0 * nx,
                back.1 - 4.0 * ny
            );
        } else {
            line(out, end, (end.0 - 9.0 * ux + 6.0 * nx, end.1 - 9.0 * uy + 6.0 * ny), 1.4);
            if let Some((one, other)) = self.stroke(id, &way) {
                line(out, one, other, 1.8);
            }
        }
        if let Some(name) = &bond.name {
            let (x, y) = ((start.0 + end.0) / 2.0 - 9.0 * nx, (start.1 + end.1) / 2.0 - 9.0 * ny + 3.5);
            let name = escaped(name);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#555\">{name}</text>"
            );
        }
        self.port_numbers(out, id, &way);
        out.push_str("</g>\n");
    }

    /// Several bonds between the same two elements lie beside each other.
    fn spread(&self, id: BondId, start: (f64, f64), end: (f64, f64)) -> ((f64, f64), (f64, f64)) {
        let bond = &self.graph.bonds[id];
        let ends = |bond: &Bond| (bond.tail.min(bond.head), bond.tail.max(bond.head));
        let ports = &self.graph.elements[bond.tail].ports;
        let twins: Vec<BondId> =
            ports.iter().map(|port| port.bond).filter(|other| ends(&self.graph.bonds[*other]) == ends(bond)).collect();
        if twins.len() < 2 {
            return (start, end);
        }
        let place = twins.iter().position(|other| *other == id).unwrap_or(0) as f64 - (twins.len() - 1) as f64 / 2.0;
        let (first, last) = (self.centre(ends(bond).0), self.centre(ends(bond).1));
        let (dx, dy) = (last.0 - first.0, last.1 - first.1);
        let length = dx.hypot(dy).max(1e-9);
        let shift = (-dy / length * place * 18.0, dx / length * place * 18.0);
        ((start.0 + shift.0, start.1 + shift.1), (end.0 + shift.0, end.1 + shift.1))
    }

    /// Whether a line between two elements does not go through others.
    fn is_free(&self, ends: [ElementId; 2], points: &[(f64, f64)]) -> bool {
        self.graph.elements.iter().filter(|(other, _)| !ends.contains(other)).all(|(other, element)| {
            let (x, y) = self.centre(other);
            let half = if element.kind.is_junction() { 9.0 } else { text_width(element) / 2.0 };
            let area = Area { left: x - half, right: x + half, top: y - 10.0, bottom: y + 10.0 };
            points.windows(2).all(|pair| area.covered(&(pair[0], pair[1])) == 0.0)
        })
    }

    /// Signals that modulate elements: thin arrows from where they are measured.
    fn signals(&self, out: &mut String) {
        for (id, element) in self.graph.elements.iter() {
            let mut from: Vec<ElementId> = Vec::new();
            let mut note = |leaf: &Leaf| {
                let source = match leaf {
                    Leaf::Effort(bond) | Leaf::Flow(bond) => {
                        let ends = [self.graph.bonds[*bond].tail, self.graph.bonds[*bond].head];
                        // A junction with one effort, or one flow, is where that is measured.
                        let common = if matches!(leaf, Leaf::Effort(_)) { Kind::Zero } else { Kind::One };
                        let is = |end: &&ElementId, test: &dyn Fn(Kind) -> bool| test(self.graph.elements[**end].kind);
                        let at = ends.iter().find(|end| is(end, &|kind| kind == common));
                        let at = at.or_else(|| ends.iter().find(|end| is(end, &|kind| !kind.is_junction())));
                        (!ends.contains(&id)).then(|| at.copied().unwrap_or(ends[0]))
                    }
                    Leaf::State(other, _) if *other != id => Some(*other),
                    _ => None,
                };
                if let Some(source) = source
                    && !from.contains(&source)
                {
                    from.push(source);
                }
            };
            element.condition.iter().for_each(|condition| self.leaves(condition, &mut note));
            match &element.law {
                Law::Scalar(value) => self.leaves(value, &mut note),
                Law::Matrix(rows) => rows.iter().flatten().for_each(|value| self.leaves(value, &mut note)),
                Law::Equations(laws) => laws.iter().for_each(|law| self.leaves(&law.right, &mut note)),
                Law::Residuals(residuals) => residuals.iter().for_each(|value| self.leaves(value, &mut note)),
                Law::None => {}
            }
            for source in from {
                self.signal(out, source, id);
            }
        }
    }

    /// The variables an expression names, also by way of named signals.
    fn leaves(&self, expression: &Expression, note: &mut impl FnMut(&Leaf)) {
        let mut open = vec![expression];
        let mut seen: Vec<SignalId> = Vec::new();
        while let Some(expression) = open.pop() {
            expression.leaves(&mut |leaf| match leaf {
                Leaf::Signal(signal) if !seen.contains(signal) => {
                    seen.push(*signal);
                    open.push(&self.graph.signals[*signal].value);
                }
                other => note(other),
            });
        }
    }

    fn signal(&self, out: &mut String, from: ElementId, to: ElementId) {
        let (one, other) = (self.centre(from), self.centre(to));
        let (dx, dy) = (other.0 - one.0, other.1 - one.1);
        let length = dx.hypot(dy).max(1e-9);
        // Bent to the side, so that it does not lie on bonds, and around elements.
        let bent = |bend: f64| {
            let middle = ((one.0 + other.0) / 2.0 + dy / length * bend, (one.1 + other.1) / 2.0 - dx / length * bend);
            (self.border(from, middle), middle, self.border(to, middle))
        };
        let is_free = |&bend: &f64| {
            let (start, middle, end) = bent(bend);
            let points: Vec<(f64, f64)> = (0..=12)
                .map(|k| {
                    let t = f64::from(k) / 12.0;
                    let mixed =
                        |a: f64, b: f64, c: f64| (1.0 - t) * ((1.0 - t) * a + t * b) + t * ((1.0 - t) * b + t * c);
                    (mixed(start.0, middle.0, end.0), mixed(start.1, middle.1, end.1))
                })
                .collect();
            let is_inside = |&(x, y): &(f64, f64)| x > 0.0 && y > 0.0 && x < self.grid.width && y < self.grid.height;
            points.iter().all(is_inside) && self.is_free([from, to], &points)
        };
        let usual = (0.22 * length).min(60.0);
        let bends = [1.0, -1.0, 2.0, -2.0, 3.0, -3.0].map(|factor| factor * usual);
        let free = bends.iter().find(|bend| self.graph.elements.len() <= LARGEST_WITH_WAYS && is_free(bend));
        let (start, middle, end) = bent(free.copied().unwrap_or(usual));
        let (bx, by) = (end.0 - middle.0, end.1 - middle.1);
        let scale = 8.0 / bx.hypot(by).max(1e-9);
        let (bx, by) = (bx * scale, by * scale);
        let _ = writeln!(
            out,
            "<path d=\"M {:.1} {:.1} Q {:.1} {:.1} {:.1} {:.1}\" fill=\"none\" stroke=\"#36c\" stroke-width=\"1\" stroke-dasharray=\"5 3\"/>\
             <polygon points=\"{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}\" fill=\"#36c\"/>",
            start.0,
            start.1,
            middle.0,
            middle.1,
            end.0,
            end.1,
            end.0,
            end.1,
            end.0 - bx - 0.45 * by,
            end.1 - by + 0.45 * bx,
            end.0 - bx + 0.45 * by,
            end.1 - by - 0.45 * bx
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
