//! A layer of a class as it is shown: primitives, components with their icons and connectors, connections.

use crate::geometry::{Extent, Point, Transform};
use crate::outline;
use crate::shape::{Item, Line};

/// Which view of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Layer {
    /// How it is made of components.
    #[default]
    Diagram,
    /// How it looks as a component.
    Icon,
}

/// The area of a layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CoordinateSystem {
    /// Its corners.
    pub extent: Extent,
    /// A component of the class should keep its proportions when it is resized.
    pub preserve_aspect_ratio: bool,
    /// The size of a new component relative to the area.
    pub initial_scale: f64,
}

impl Default for CoordinateSystem {
    fn default() -> Self {
        Self { extent: Extent::DEFAULT, preserve_aspect_ratio: true, initial_scale: 0.1 }
    }
}

/// What a component is to its surroundings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// It can be connected.
    Connector,
    /// A component with connectors.
    #[default]
    Component,
}

/// Where a component belongs in an automatic layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Role {
    /// At the left.
    Source,
    /// Anywhere.
    #[default]
    Other,
    /// At the bottom.
    Ground,
}

/// The side of a component at which something lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Side {
    Left,
    Right,
    Bottom,
    Top,
}

impl Side {
    /// One step away from the component.
    pub fn outward(self) -> Point {
        match self {
            Side::Left => Point::new(-1.0, 0.0),
            Side::Right => Point::new(1.0, 0.0),
            Side::Bottom => Point::new(0.0, -1.0),
            Side::Top => Point::new(0.0, 1.0),
        }
    }
}

/// A component, or a connector of one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Component {
    /// Its name in the class around it.
    pub name: String,
    /// The full name of its class.
    pub class: String,
    /// Whether it can be connected.
    pub kind: Kind,
    /// From the coordinates of its icon to those of the layer around it.
    pub transform: Transform,
    /// The area of its icon, in the coordinates of the icon.
    pub extent: Extent,
    /// The primitives of its icon, back to front.
    pub graphics: Vec<Item>,
    /// The connectors of its icon.
    pub connectors: Vec<Component>,
    /// The sizes of an array.
    pub sizes: Vec<usize>,
    /// `false` where its condition is false: it is drawn pale.
    pub present: bool,
    /// `false` where nothing says where it is: the layout decides.
    pub placed: bool,
    /// Where the layout puts it.
    pub role: Role,
    /// Lines that are written beside a connector.
    pub labels: Vec<String>,
}

impl Default for Extent {
    fn default() -> Self {
        Extent::DEFAULT
    }
}

impl Component {
    /// The area that it takes in the layer around it.
    pub fn area(&self) -> Extent {
        self.transform.apply_extent(&self.extent)
    }

    /// Its middle in the layer around it.
    pub fn centre(&self) -> Point {
        self.transform.apply(self.extent.centre())
    }
}

/// A connection between two connectors.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Connection {
    /// The names that lead to the connectors: `["R1", "p"]`; subscripts stand at the name. A name alone is a component as a
    /// whole, such as a state; a transition from nowhere has no first name.
    pub ends: [Vec<String>; 2],
    /// Its corners and how it is drawn. Without points it is routed.
    pub line: Line,
    /// What is written at it.
    pub texts: Vec<Item>,
    /// What `Picture::arrange` writes beside the line.
    pub caption: String,
    /// `false` where one of its ends does not exist: it is drawn pale.
    pub present: bool,
}

/// A connector as the end of connections.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pin {
    /// Its middle.
    pub at: Point,
    /// The area that it takes.
    pub area: Extent,
    /// Where its component can be left.
    pub side: Side,
    /// The component, by its position in the picture.
    pub component: usize,
}

/// A layer of a class.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Picture {
    /// The full name of the class.
    pub class: String,
    /// Which layer it is.
    pub layer: Layer,
    /// Its coordinates.
    pub coordinates: CoordinateSystem,
    /// The primitives of the layer itself, back to front.
    pub graphics: Vec<Item>,
    /// The components, back to front.
    pub components: Vec<Component>,
    /// The connections between them.
    pub connections: Vec<Connection>,
}

/// A name without its subscripts.
fn plain(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

impl Picture {
    /// The connector at which a connection ends: of a connector inside of another one the innermost that is drawn.
    pub fn pin(&self, end: &[String]) -> Option<Pin> {
        let (first, rest) = end.split_first()?;
        let position = self.components.iter().position(|component| component.name == plain(first))?;
        let component = &self.components[position];
        let (mut transform, mut inner) = (component.transform, component);
        for name in rest {
            let Some(next) = inner.connectors.iter().find(|next| next.name == plain(name)) else {
                // A component has no place at which something that is not drawn could be connected.
                if inner.kind == Kind::Component {
                    return None;
                }
                break;
            };
            transform = next.transform.then(&transform);
            inner = next;
        }
        if inner.kind == Kind::Component {
            return None;
        }
        let at = transform.apply(inner.extent.centre());
        let area = transform.apply_extent(&inner.extent);
        Some(Pin { at, area, side: self.side(component, at), component: position })
    }

    /// The side at which a pin leaves its component. A connector of the class itself leads inwards.
    fn side(&self, component: &Component, at: Point) -> Side {
        let is_own = component.kind == Kind::Connector;
        let area = if is_own { self.coordinates.extent } else { component.area() };
        let distances = [
            (at.x - area.left(), Side::Left),
            (area.right() - at.x, Side::Right),
            (at.y - area.bottom(), Side::Bottom),
            (area.top() - at.y, Side::Top),
        ];
        let nearest = distances.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        match (nearest.map_or(Side::Left, |(_, side)| side), is_own) {
            (side, false) => side,
            (Side::Left, true) => Side::Right,
            (Side::Right, true) => Side::Left,
            (Side::Bottom, true) => Side::Top,
            (Side::Top, true) => Side::Bottom,
        }
    }

    /// The area that has to be shown: everything that is drawn, for an icon the whole area of the layer.
    pub fn bounds(&self) -> Extent {
        let mut areas: Vec<Extent> =
            self.graphics.iter().filter_map(|item| item_bounds(item, &Transform::IDENTITY)).collect();
        for component in &self.components {
            component_bounds(component, &Transform::IDENTITY, &mut areas);
        }
        for connection in &self.connections {
            areas.extend(Extent::around(connection.line.points.iter().copied()));
            areas.extend(connection.texts.iter().filter_map(|item| item_bounds(item, &Transform::IDENTITY)));
        }
        if self.layer == Layer::Icon || areas.is_empty() {
            areas.push(self.coordinates.extent);
        }
        areas.iter().skip(1).fold(areas[0], |all, area| all.union(area))
    }
}

fn component_bounds(component: &Component, outer: &Transform, areas: &mut Vec<Extent>) {
    let transform = component.transform.then(outer);
    areas.extend(component.graphics.iter().filter_map(|item| item_bounds(item, &transform)));
    if component.graphics.is_empty() {
        areas.push(transform.apply_extent(&component.extent));
    }
    component.connectors.iter().for_each(|connector| component_bounds(connector, &transform, areas));
}

fn item_bounds(item: &Item, outer: &Transform) -> Option<Extent> {
    outline::bounds(&item.shape, &item.transform.then(outer))
}
