//! Automatic layout for components without a place: columns from left to right along the connections, sources at the left, ground
//! below, in the manner of Sugiyama, Tagawa and Toda (1981). Pins say the direction: what leaves one component at its
//! right side and enters another at its left side goes to the right.
//!
//! In a picture in which some components have a place the others stand below it.

use crate::geometry::{Extent, Point, Transform};
use crate::picture::{Kind, Picture, Role, Side};
use crate::{route, transitions};

/// Between the columns, where connections and texts need room.
const COLUMN_GAP: f64 = 30.0;
/// Between components of a column.
const ROW_GAP: f64 = 20.0;
/// Positions are multiples of this.
const STEP: f64 = 10.0;
/// How often columns are sorted by their neighbours.
const SWEEPS: usize = 8;

impl Picture {
    /// Gives a place to every component that has none, and a line to every connection between drawn connectors that has none.
    pub fn arrange(&mut self) {
        let open: Vec<usize> =
            self.components.iter().enumerate().filter(|(_, it)| !it.placed).map(|(position, _)| position).collect();
        if !open.is_empty() {
            let is_all = open.len() == self.components.len();
            place(self, &open);
            if is_all && let Some(area) = Extent::around(self.components.iter().flat_map(|it| it.area().corners())) {
                self.coordinates.extent = area.grown(STEP);
            }
        }
        for position in 0..self.connections.len() {
            let pins = self.connections[position].ends.each_ref().map(|end| self.pin(end));
            let points = &mut self.connections[position].line.points;
            if let [Some(from), _] = pins {
                route::lead_to(points, &from);
            }
            if let [_, Some(to)] = pins {
                points.reverse();
                route::lead_to(points, &to);
                points.reverse();
            }
        }
        route::route_all(self);
        transitions::write_captions(self);
    }
}

/// A connection between two components that are to be placed, by their numbers there.
#[derive(Clone, Copy)]
struct Edge {
    from: usize,
    to: usize,
    /// Whether the pins say that it goes from left to right.
    is_directed: bool,
}

struct Graph {
    edges: Vec<Edge>,
    neighbours: Vec<Vec<usize>>,
}

fn place(picture: &mut Picture, open: &[usize]) {
    let sizes: Vec<(f64, f64)> = open.iter().map(|&at| size(picture, at)).collect();
    // Somewhere, so that the sides of pins are known.
    for (&at, &(width, height)) in open.iter().zip(&sizes) {
        move_to(picture, at, Point::default(), width, height);
    }
    let graph = graph(picture, open);
    let roles: Vec<Role> = open.iter().enumerate().map(|(number, &at)| role(picture, &graph, number, at)).collect();
    let mut columns = columns(&graph, &roles);
    // What the class gives to the outside stands at the right.
    let last = columns.iter().flatten().max().copied().unwrap_or(0);
    for (number, &at) in open.iter().enumerate() {
        let is_given = graph.edges.iter().any(|edge| edge.to == number) && roles[number] == Role::Other;
        if picture.components[at].kind == Kind::Connector && is_given {
            columns[number] = Some(last.max(1));
        }
    }
    let orders = orders(&graph, columns);
    let mut centres = coordinates(&graph, &orders, &sizes);
    place_grounds(&graph, &roles, &sizes, &mut centres);
    let shift = offset(picture, open, &centres, &sizes);
    for ((&at, centre), &(width, height)) in open.iter().zip(&centres).zip(&sizes) {
        move_to(picture, at, centre.plus(shift), width, height);
    }
}

/// A tenth of the icon's area, as editors place new components.
fn size(picture: &Picture, at: usize) -> (f64, f64) {
    let component = &picture.components[at];
    if component.kind == Kind::Connector {
        return (STEP, STEP);
    }
    let side = |length: f64| (length * 0.1).clamp(10.0, 80.0);
    (side(component.extent.width()), side(component.extent.height()))
}

fn move_to(picture: &mut Picture, at: usize, centre: Point, width: f64, height: f64) {
    let (x, y) = (width / 2.0, height / 2.0);
    let target = Extent::new(centre.x - x, centre.y - y, centre.x + x, centre.y + y);
    let component = &mut picture.components[at];
    component.transform = Transform::between(component.extent, target);
}

fn graph(picture: &Picture, open: &[usize]) -> Graph {
    let mut number = vec![None; picture.components.len()];
    for (position, &at) in open.iter().enumerate() {
        number[at] = Some(position);
    }
    let mut graph = Graph { edges: Vec::new(), neighbours: vec![Vec::new(); open.len()] };
    for connection in &picture.connections {
        if let Some((Some(from), to)) = transitions::components(picture, connection)
            && let (Some(from), Some(to)) = (number[from], number[to])
            && from != to
        {
            graph.neighbours[from].push(to);
            graph.neighbours[to].push(from);
            graph.edges.push(Edge { from, to, is_directed: true });
        }
        let [Some(a), Some(b)] = connection.ends.each_ref().map(|end| picture.pin(end)) else { continue };
        let (Some(from), Some(to)) = (number[a.component], number[b.component]) else { continue };
        if from == to {
            continue;
        }
        graph.neighbours[from].push(to);
        graph.neighbours[to].push(from);
        let is_own = |pin: &crate::picture::Pin| picture.components[pin.component].kind == Kind::Connector;
        let forward = |is_directed| Edge { from, to, is_directed };
        let backward = |is_directed| Edge { from: to, to: from, is_directed };
        // Where a connector of the class itself will stand is not known yet; its partner says what leads to what.
        graph.edges.push(match (is_own(&a), is_own(&b), a.side, b.side) {
            (true, _, _, Side::Left) | (false, false, Side::Right, Side::Left) => forward(true),
            (true, _, _, Side::Right) => backward(true),
            (false, true, Side::Left, _) | (false, false, Side::Left, Side::Right) => backward(true),
            (false, true, Side::Right, _) => forward(true),
            _ => forward(false),
        });
    }
    graph
}

fn role(picture: &Picture, graph: &Graph, number: usize, at: usize) -> Role {
    let component = &picture.components[at];
    let mut own = graph.edges.iter().filter(|edge| edge.from == number || edge.to == number).peekable();
    if component.kind == Kind::Connector && own.peek().is_some() {
        let is_source = own.all(|edge| edge.from == number && edge.is_directed);
        return if is_source { Role::Source } else { Role::Other };
    }
    component.role
}

/// The column of each component; `None` for ground.
fn columns(graph: &Graph, roles: &[Role]) -> Vec<Option<usize>> {
    let count = roles.len();
    let distances = distances(graph, roles);
    // What the pins leave open goes away from the sources.
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    for edge in &graph.edges {
        let (mut from, mut to) = (edge.from, edge.to);
        if roles[from] == Role::Ground || roles[to] == Role::Ground {
            continue;
        }
        let is_backward = roles[to] == Role::Source && roles[from] != Role::Source;
        if is_backward || !edge.is_directed && (distances[from], from) > (distances[to], to) {
            std::mem::swap(&mut from, &mut to);
        }
        next[from].push(to);
    }
    let order = forward_order(&next, &distances);
    let mut rank = vec![0; count];
    order.iter().enumerate().for_each(|(position, &node)| rank[node] = position);
    let mut column = vec![0; count];
    for &node in &order {
        // Edges against the order close a loop and do not count.
        for &target in next[node].iter().filter(|&&target| rank[target] > rank[node]) {
            column[target] = column[target].max(column[node] + 1);
        }
    }
    (0..count).map(|node| (roles[node] != Role::Ground).then_some(column[node])).collect()
}

/// Steps from the nearest source, along all connections that do not lead to ground.
fn distances(graph: &Graph, roles: &[Role]) -> Vec<usize> {
    let count = roles.len();
    let mut distances = vec![usize::MAX; count];
    let has_incoming: Vec<bool> =
        (0..count).map(|node| graph.edges.iter().any(|edge| edge.to == node && edge.is_directed)).collect();
    // Sources first; parts without one begin with what nothing leads to, or else with anything.
    let seeds = |wanted: &dyn Fn(usize) -> bool| (0..count).filter(|&node| wanted(node)).collect::<Vec<_>>();
    let groups = [
        seeds(&|node| roles[node] == Role::Source),
        seeds(&|node| roles[node] == Role::Other && !has_incoming[node]),
        seeds(&|node| roles[node] != Role::Ground),
    ];
    for (group, seeds) in groups.into_iter().enumerate() {
        for seed in seeds {
            if distances[seed] != usize::MAX {
                continue;
            }
            distances[seed] = 0;
            let mut queue = std::collections::VecDeque::from([seed]);
            // All sources begin together.
            if group == 0 {
                let others = (0..count).filter(|&node| roles[node] == Role::Source && node != seed);
                for other in others.collect::<Vec<_>>() {
                    distances[other] = 0;
                    queue.push_back(other);
                }
            }
            while let Some(node) = queue.pop_front() {
                for &neighbour in &graph.neighbours[node] {
                    if distances[neighbour] == usize::MAX && roles[neighbour] != Role::Ground {
                        distances[neighbour] = distances[node] + 1;
                        queue.push_back(neighbour);
                    }
                }
            }
        }
    }
    distances
}

/// An order in which as many edges as possible point forwards: depth first from what is nearest to the sources.
fn forward_order(next: &[Vec<usize>], distances: &[usize]) -> Vec<usize> {
    let count = next.len();
    let mut starts: Vec<usize> = (0..count).collect();
    starts.sort_by_key(|&node| (distances[node], node));
    let mut seen = vec![false; count];
    let mut finished = Vec::with_capacity(count);
    for start in starts {
        let mut stack = vec![(start, 0)];
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        while let Some((node, position)) = stack.pop() {
            match next[node].get(position) {
                Some(&target) => {
                    stack.push((node, position + 1));
                    if !std::mem::replace(&mut seen[target], true) {
                        stack.push((target, 0));
                    }
                }
                None => finished.push(node),
            }
        }
    }
    finished.reverse();
    finished
}

/// The components of each column from top to bottom, sorted so that connections cross little.
fn orders(graph: &Graph, columns: Vec<Option<usize>>) -> Vec<Vec<usize>> {
    let count = columns.iter().flatten().max().map_or(0, |last| last + 1);
    let mut orders = vec![Vec::new(); count];
    for (node, column) in columns.iter().enumerate() {
        if let Some(column) = column {
            orders[*column].push(node);
        }
    }
    let mut place = vec![0.0; columns.len()];
    let update = |order: &[usize], place: &mut [f64]| {
        let middle = (order.len() as f64 - 1.0) / 2.0;
        order.iter().enumerate().for_each(|(at, &node)| place[node] = at as f64 - middle);
    };
    orders.iter().for_each(|order| update(order, &mut place));
    for sweep in 0..SWEEPS {
        let range: Vec<usize> = if sweep % 2 == 0 { (0..count).collect() } else { (0..count).rev().collect() };
        for column in range {
            let mean = |node: usize| {
                let others =
                    graph.neighbours[node].iter().filter(|&&other| columns[other].is_some_and(|it| it != column));
                let (sum, count) = others.fold((0.0, 0), |(sum, count), &other| (sum + place[other], count + 1));
                if count == 0 { place[node] } else { sum / f64::from(count) }
            };
            let mut keyed: Vec<(f64, usize)> = orders[column].iter().map(|&node| (mean(node), node)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            orders[column] = keyed.into_iter().map(|(_, node)| node).collect();
            update(&orders[column], &mut place);
        }
    }
    orders
}

/// The middle of each component: columns beside each other, components near their neighbours without overlap.
fn coordinates(graph: &Graph, orders: &[Vec<usize>], sizes: &[(f64, f64)]) -> Vec<Point> {
    let mut centres = vec![Point::default(); sizes.len()];
    let mut x = 0.0;
    for order in orders {
        let width = order.iter().map(|&node| sizes[node].0).fold(0.0, f64::max);
        x += width / 2.0;
        order.iter().for_each(|&node| centres[node].x = snapped(x));
        x += width / 2.0 + COLUMN_GAP;
        let mut y = 0.0;
        for &node in order {
            centres[node].y = y - sizes[node].1 / 2.0;
            y -= sizes[node].1 + ROW_GAP;
        }
        let middle = (y + ROW_GAP) / 2.0;
        order.iter().for_each(|&node| centres[node].y -= middle);
    }
    for sweep in 0..SWEEPS {
        let range: Vec<&Vec<usize>> =
            if sweep % 2 == 0 { orders.iter().collect() } else { orders.iter().rev().collect() };
        for order in range {
            settle(graph, order, sizes, &mut centres);
        }
    }
    for order in orders {
        // Rounding keeps the order, and distances are multiples of the step after it.
        let mut limit = f64::INFINITY;
        for &node in order {
            let half = sizes[node].1 / 2.0;
            let y = snapped(centres[node].y).min(((limit - half) / STEP).floor() * STEP);
            centres[node].y = y;
            limit = y - half - ROW_GAP;
        }
    }
    centres
}

/// Moves the components of a column to the mean of their neighbours, as far as they leave each other room.
fn settle(graph: &Graph, order: &[usize], sizes: &[(f64, f64)], centres: &mut [Point]) {
    let wanted: Vec<f64> = order
        .iter()
        .map(|&node| {
            let own = &graph.neighbours[node];
            let others: Vec<f64> = own
                .iter()
                .filter(|&&other| centres[other].x != centres[node].x)
                .map(|&other| centres[other].y)
                .collect();
            if others.is_empty() { centres[node].y } else { others.iter().sum::<f64>() / others.len() as f64 }
        })
        .collect();
    // Groups that touch move together: the mean of what they want, with their offsets.
    let mut groups: Vec<(Vec<usize>, f64, f64)> = Vec::new();
    let distance = |a: usize, b: usize| (sizes[order[a]].1 + sizes[order[b]].1) / 2.0 + ROW_GAP;
    for (at, &wish) in wanted.iter().enumerate() {
        let mut group = (vec![at], wish, 0.0);
        while let Some((members, top, length)) = groups.last() {
            let last = members[members.len() - 1];
            let gap = distance(last, group.0[0]);
            if top - length - gap >= group.1 {
                break;
            }
            let (count, more) = (members.len() as f64, group.0.len() as f64);
            let shift = length + gap;
            let merged_top = (top * count + (group.1 + shift) * more) / (count + more);
            let mut all = members.clone();
            all.append(&mut group.0);
            group = (all, merged_top, shift + group.2);
            groups.pop();
        }
        groups.push(group);
    }
    for (members, top, _) in groups {
        let mut y = top;
        for (position, &at) in members.iter().enumerate() {
            if position > 0 {
                y -= distance(members[position - 1], at);
            }
            centres[order[at]].y = y;
        }
    }
}

/// Below everything else, each under what it is connected with.
fn place_grounds(graph: &Graph, roles: &[Role], sizes: &[(f64, f64)], centres: &mut [Point]) {
    let placed = (0..roles.len()).filter(|&node| roles[node] != Role::Ground);
    let bottom = placed.map(|node| centres[node].y - sizes[node].1 / 2.0).fold(f64::INFINITY, f64::min);
    let bottom = if bottom.is_finite() { bottom } else { 0.0 };
    let mut grounds: Vec<(f64, usize)> = (0..roles.len())
        .filter(|&node| roles[node] == Role::Ground)
        .map(|node| {
            let own = &graph.neighbours[node];
            let sum: f64 = own.iter().map(|&other| centres[other].x).sum();
            (if own.is_empty() { 0.0 } else { sum / own.len() as f64 }, node)
        })
        .collect();
    grounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = f64::NEG_INFINITY;
    for (wanted, node) in grounds {
        let half = sizes[node].0 / 2.0;
        let x = ((wanted.max(free + half)) / STEP).ceil() * STEP;
        centres[node] = Point::new(x, snapped(bottom - ROW_GAP - sizes[node].1 / 2.0 - STEP / 2.0));
        free = x + half + STEP;
    }
}

fn snapped(value: f64) -> f64 {
    (value / STEP).round() * STEP
}

/// Below what has a place; around the origin where nothing has one.
fn offset(picture: &Picture, open: &[usize], centres: &[Point], sizes: &[(f64, f64)]) -> Point {
    let corners = centres.iter().zip(sizes).flat_map(|(centre, &(width, height))| {
        [
            Point::new(centre.x - width / 2.0, centre.y - height / 2.0),
            Point::new(centre.x + width / 2.0, centre.y + height / 2.0),
        ]
    });
    let Some(area) = Extent::around(corners) else { return Point::default() };
    let placed = picture.components.iter().enumerate().filter(|(at, _)| !open.contains(at));
    let placed = Extent::around(placed.flat_map(|(_, component)| component.area().corners()));
    let move_by = match placed {
        None => area.centre().times(-1.0),
        Some(placed) => Point::new(placed.left() - area.left(), placed.bottom() - 2.0 * ROW_GAP - area.top()),
    };
    Point::new(snapped(move_by.x), snapped(move_by.y))
}
