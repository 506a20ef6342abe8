//! Where connections of one net branch. A dot there tells a branch from a crossing of nets that have nothing to do with each other.
//!
//! A net is what is connected with each other by the names of its connectors. A branch is a point in which straight pieces of
//! its lines leave in three directions or more; at a connector there is no doubt, and no dot.

use rustc_hash::FxHashMap;

use crate::geometry::{Extent, Point};
use crate::picture::{Connection, Picture};
use crate::shape::{Colour, Smooth};

/// Coordinates that differ less are equal.
const NEAR: f64 = 1e-6;

/// The branches of all nets, each with the colour of its line.
pub fn junctions(picture: &Picture) -> Vec<(Point, Colour)> {
    let is_drawn = |it: &&Connection| it.present && it.line.smooth == Smooth::None && it.line.points.len() >= 2;
    let drawn: Vec<&Connection> = picture.connections.iter().filter(is_drawn).collect();
    let mut found = Vec::new();
    for net in nets(&drawn) {
        if net.len() < 2 {
            continue;
        }
        let pins: Vec<Extent> = net
            .iter()
            .flat_map(|&at| drawn[at].ends.iter().filter_map(|end| picture.pin(end)).map(|pin| pin.area))
            .collect();
        let pieces: Vec<[Point; 2]> =
            net.iter().flat_map(|&at| drawn[at].line.points.windows(2).map(|two| [two[0], two[1]])).collect();
        let mut known: Vec<Point> = Vec::new();
        for &at in &net {
            for &corner in &drawn[at].line.points {
                let is_clear = !pins.iter().any(|pin| pin.contains(corner))
                    && !known.iter().any(|point| point.minus(corner).length() < NEAR);
                if is_clear && directions(corner, &pieces) >= 3 {
                    known.push(corner);
                    found.push((corner, drawn[at].line.stroke.colour));
                }
            }
        }
    }
    found
}

/// The positions of connections that hang together.
fn nets(connections: &[&Connection]) -> Vec<Vec<usize>> {
    let mut number: FxHashMap<&[String], usize> = FxHashMap::default();
    let mut nets: Vec<Vec<usize>> = Vec::new();
    let mut of_net: Vec<Vec<&[String]>> = Vec::new();
    for (position, connection) in connections.iter().enumerate() {
        // A component as a whole is no connector: what leaves it goes its own way.
        let [a, b] = connection.ends.each_ref().map(Vec::as_slice);
        if a.len() + b.len() < 3 {
            continue;
        }
        let (first, second) = (number.get(a).copied(), number.get(b).copied());
        let net = match (first, second) {
            (Some(net), None) | (None, Some(net)) => net,
            (Some(net), Some(other)) if net == other => net,
            (Some(net), Some(other)) => {
                let (moved, names) = (std::mem::take(&mut nets[other]), std::mem::take(&mut of_net[other]));
                number.extend(names.iter().map(|&name| (name, net)));
                nets[net].extend(moved);
                of_net[net].extend(names);
                net
            }
            (None, None) => {
                nets.push(Vec::new());
                of_net.push(Vec::new());
                nets.len() - 1
            }
        };
        for name in [a, b] {
            if number.insert(name, net).is_none() {
                of_net[net].push(name);
            }
        }
        nets[net].push(position);
    }
    nets
}

/// In how many of the four directions pieces leave a point.
fn directions(point: Point, pieces: &[[Point; 2]]) -> usize {
    let mut seen = [false; 4];
    for [a, b] in pieces {
        let along = if (a.y - b.y).abs() < NEAR && (a.y - point.y).abs() < NEAR {
            (0, a.x.min(b.x), a.x.max(b.x), point.x)
        } else if (a.x - b.x).abs() < NEAR && (a.x - point.x).abs() < NEAR {
            (2, a.y.min(b.y), a.y.max(b.y), point.y)
        } else {
            continue;
        };
        let (first, low, high, at) = along;
        if low > at + NEAR || high < at - NEAR {
            continue;
        }
        seen[first] |= high > at + NEAR;
        seen[first + 1] |= low < at - NEAR;
    }
    seen.iter().filter(|&&it| it).count()
}
