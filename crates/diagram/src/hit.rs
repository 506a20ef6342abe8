//! What lies under a point, for a pointer in an editor.

use crate::geometry::{Point, Transform};
use crate::outline;
use crate::picture::{Component, Kind, Picture};

/// Something of a picture, by its position there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hit {
    /// A connector: the component, and the positions of the connectors inside of it that lead there. The list is empty for a
    /// connector of the class itself.
    Connector(usize, Vec<usize>),
    /// A connection.
    Connection(usize),
    /// A component.
    Component(usize),
    /// A primitive of the layer itself.
    Graphic(usize),
}

impl Picture {
    /// All that lies under a point or nearer to it than `tolerance`, what is seen first. The order is that of drawing,
    /// backwards: connectors, connections, components, primitives.
    pub fn under(&self, point: Point, tolerance: f64) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (position, component) in self.components.iter().enumerate().rev() {
            let mut found = Vec::new();
            connectors_under(component, &Transform::IDENTITY, point, tolerance, &mut Vec::new(), &mut found);
            hits.extend(found.into_iter().map(|path| Hit::Connector(position, path)));
        }
        for (position, connection) in self.connections.iter().enumerate().rev() {
            let shape = crate::shape::Shape::Line(connection.line.clone());
            if outline::is_under(&shape, &Transform::IDENTITY, point, tolerance) {
                hits.push(Hit::Connection(position));
            }
        }
        let components =
            self.components.iter().enumerate().rev().filter(|(_, component)| component.kind == Kind::Component);
        hits.extend(
            components
                .filter(|(_, component)| is_on(component, point, tolerance))
                .map(|(position, _)| Hit::Component(position)),
        );
        let graphics = self.graphics.iter().enumerate().rev();
        let graphics = graphics.filter(|(_, item)| outline::is_under(&item.shape, &item.transform, point, tolerance));
        hits.extend(graphics.map(|(position, _)| Hit::Graphic(position)));
        hits
    }
}

/// A component is hit anywhere in its area, whatever is drawn there.
fn is_on(component: &Component, point: Point, tolerance: f64) -> bool {
    let inside = component.transform.inverse().map(|back| back.apply(point));
    let reach = tolerance / component.transform.scale();
    inside.is_some_and(|inside| component.extent.grown(reach).contains(inside))
}

/// Inner connectors come before those around them.
fn connectors_under(
    component: &Component,
    outer: &Transform,
    point: Point,
    tolerance: f64,
    path: &mut Vec<usize>,
    found: &mut Vec<Vec<usize>>,
) {
    let transform = component.transform.then(outer);
    for (position, connector) in component.connectors.iter().enumerate().rev() {
        path.push(position);
        connectors_under(connector, &transform, point, tolerance, path, found);
        path.pop();
    }
    let placed = Component { transform, extent: component.extent, ..Component::default() };
    if component.kind == Kind::Connector && is_on(&placed, point, tolerance) {
        found.push(path.clone());
    }
}
