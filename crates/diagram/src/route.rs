//! Orthogonal routes for connections that have no line: shortest ways on a grid around components, with few bends and crossings.
//!
//! The lines of the grid go through all pins, along the sides of components and through the space between them. A route
//! leaves a pin away from its component. Bends, crossings of other nets and running along them cost extra length, so that a way
//! is found wherever there is one; pins that are connected with each other are one net, whose routes may share a way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::geometry::{Extent, Point};
use crate::picture::{Picture, Pin, Side};
use crate::transitions;

/// How far a route goes straight away from its component.
const STUB: f64 = 5.0;
/// The distance of grid lines where nothing else asks for one.
const LANE: f64 = 5.0;
/// Grids with more points are not searched.
const MOST_POINTS: usize = 400_000;
const BEND: f64 = 8.0;
const CROSSING: f64 = 6.0;
/// For each millimetre along another net.
const ALONG: f64 = 20.0;
/// For each millimetre through a component.
const THROUGH: f64 = 50.0;

/// Routes the connections without a line, short ones first.
pub fn route_all(picture: &mut Picture) {
    let mut open: Vec<(usize, [Pin; 2])> = Vec::new();
    for (position, connection) in picture.connections.iter().enumerate() {
        if connection.line.points.len() < 2
            && let (Some(from), Some(to)) = (picture.pin(&connection.ends[0]), picture.pin(&connection.ends[1]))
        {
            open.push((position, [from, to]));
        }
    }
    open.append(&mut transitions::pins(picture));
    if open.is_empty() {
        return;
    }
    let areas: Vec<Extent> = picture.components.iter().map(|component| component.area()).collect();
    let distance = |pins: &[Pin; 2]| pins[0].at.minus(pins[1].at).length();
    open.sort_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)));
    let stubs: Vec<[Point; 2]> =
        open.iter().map(|(_, pins)| pins.each_ref().map(|pin| stub(pin, &areas[pin.component]))).collect();
    let nets = nets(&open);
    let mut grid = Grid::new(&areas, &open, &stubs);
    for (((position, pins), stubs), net) in open.iter().zip(&stubs).zip(nets) {
        let points = match &mut grid {
            Some(grid) => grid.route(pins, stubs, net),
            None => None,
        };
        let points = points.unwrap_or_else(|| plain(pins, stubs));
        picture.connections[*position].line.points = points;
    }
}

/// Moves the first point of a line to a pin that it does not meet; what was straight and upright or level stays so.
pub fn lead_to(points: &mut Vec<Point>, pin: &Pin) {
    let &[first, second, ..] = points.as_slice() else { return };
    if pin.area.grown(1.0).contains(first) {
        return;
    }
    let (level, upright) = (first.y == second.y, first.x == second.x);
    points[0] = pin.at;
    if !level && !upright {
        return;
    }
    if points.len() > 2 {
        // The second point slides along the next piece.
        let second = &mut points[1];
        if level {
            second.y = pin.at.y;
        } else {
            second.x = pin.at.x;
        }
        return;
    }
    let middle = pin.at.middle(second);
    let corners = match level {
        true => [Point::new(middle.x, pin.at.y), Point::new(middle.x, second.y)],
        false => [Point::new(pin.at.x, middle.y), Point::new(second.x, middle.y)],
    };
    points.splice(1..1, corners);
}

/// Where a route has left its component.
fn stub(pin: &Pin, area: &Extent) -> Point {
    let Point { x, y } = pin.at;
    match pin.side {
        Side::Left => Point::new(x.min(area.left()) - STUB, y),
        Side::Right => Point::new(x.max(area.right()) + STUB, y),
        Side::Bottom => Point::new(x, y.min(area.bottom()) - STUB),
        Side::Top => Point::new(x, y.max(area.top()) + STUB),
    }
}

/// A number for each route: equal for those that share pins, directly or by others.
fn nets(open: &[(usize, [Pin; 2])]) -> Vec<usize> {
    let key = |pin: &Pin| (pin.at.x.to_bits(), pin.at.y.to_bits());
    let mut first: FxHashMap<(u64, u64), usize> = FxHashMap::default();
    let mut parent: Vec<usize> = (0..open.len()).collect();
    fn root(parent: &mut [usize], mut at: usize) -> usize {
        while parent[at] != at {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        at
    }
    for (number, (_, pins)) in open.iter().enumerate() {
        for pin in pins {
            let known = *first.entry(key(pin)).or_insert(number);
            let (a, b) = (root(&mut parent, known), root(&mut parent, number));
            parent[b] = a;
        }
    }
    (0..open.len()).map(|number| root(&mut parent, number)).collect()
}

/// A way without a search: three straight pieces between the stubs.
fn plain(pins: &[Pin; 2], stubs: &[Point; 2]) -> Vec<Point> {
    let middle = (stubs[0].x + stubs[1].x) / 2.0;
    let way =
        [pins[0].at, stubs[0], Point::new(middle, stubs[0].y), Point::new(middle, stubs[1].y), stubs[1], pins[1].at];
    simplified(&way)
}

/// Without points that are on the way between their neighbours.
fn simplified(points: &[Point]) -> Vec<Point> {
    let mut result: Vec<Point> = Vec::with_capacity(points.len());
    for &point in points {
        if result.last() == Some(&point) {
            continue;
        }
        if let [.., before, last] = result.as_slice() {
            let (a, b) = (last.minus(*before), point.minus(*last));
            if a.x * b.y - a.y * b.x == 0.0 && a.x * b.x + a.y * b.y > 0.0 {
                result.pop();
            }
        }
        result.push(point);
    }
    if let &[only] = result.as_slice() {
        result.push(only);
    }
    result
}

/// Steps to the right, to the left, up and down.
const STEPS: [(i32, i32); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];

struct Grid {
    xs: Vec<f64>,
    ys: Vec<f64>,
    /// Whether the edge to the right of, and above, a point goes through a component.
    blocked: [Vec<bool>; 2],
    /// The nets that use the edge to the right of, and above, a point; 0 for none.
    used: [Vec<u32>; 2],
    /// What the search knows: costs and where they come from, valid for `round` only.
    best: Vec<(u32, f64, u32)>,
    round: u32,
}

impl Grid {
    fn new(obstacles: &[Extent], open: &[(usize, [Pin; 2])], stubs: &[[Point; 2]]) -> Option<Self> {
        let pins =
            open.iter().flat_map(|(_, pins)| pins.iter().map(|pin| pin.at)).chain(stubs.iter().flatten().copied());
        let sides = obstacles.iter().flat_map(|area| {
            let around = area.grown(STUB);
            [around.first, around.second]
        });
        let points: Vec<Point> = pins.chain(sides).collect();
        let area = Extent::around(points.iter().copied())?.grown(2.0 * LANE);
        let xs = lines(points.iter().map(|point| point.x), area.left(), area.right());
        let ys = lines(points.iter().map(|point| point.y), area.bottom(), area.top());
        let count = xs.len() * ys.len();
        if count > MOST_POINTS {
            return None;
        }
        let mut grid = Self {
            blocked: [vec![false; count], vec![false; count]],
            used: [vec![0; count], vec![0; count]],
            best: vec![(0, 0.0, 0); count * 4],
            round: 0,
            xs,
            ys,
        };
        for obstacle in obstacles {
            grid.block(&obstacle.grown(1.0));
        }
        Some(grid)
    }

    fn block(&mut self, area: &Extent) {
        let range = |lines: &[f64], low: f64, high: f64| {
            (lines.partition_point(|&line| line <= low).saturating_sub(1), lines.partition_point(|&line| line < high))
        };
        let (left, right) = range(&self.xs, area.left(), area.right());
        let (bottom, top) = range(&self.ys, area.bottom(), area.top());
        for y in bottom..=top.min(self.ys.len() - 1) {
            for x in left..=right.min(self.xs.len() - 1) {
                let at = y * self.xs.len() + x;
                let inside_x = self.xs[x] > area.left() && self.xs[x] < area.right();
                let inside_y = self.ys[y] > area.bottom() && self.ys[y] < area.top();
                let meets_x = x + 1 < self.xs.len() && self.xs[x] < area.right() && self.xs[x + 1] > area.left();
                let meets_y = y + 1 < self.ys.len() && self.ys[y] < area.top() && self.ys[y + 1] > area.bottom();
                self.blocked[0][at] |= inside_y && meets_x;
                self.blocked[1][at] |= inside_x && meets_y;
            }
        }
    }

    fn index(&self, point: Point) -> Option<(usize, usize)> {
        let find = |lines: &[f64], value: f64| lines.iter().position(|&line| line == value);
        Some((find(&self.xs, point.x)?, find(&self.ys, point.y)?))
    }

    fn route(&mut self, pins: &[Pin; 2], stubs: &[Point; 2], net: usize) -> Option<Vec<Point>> {
        let net = net as u32 + 1;
        let (start, goal) = (self.index(stubs[0])?, self.index(stubs[1])?);
        let leave = direction(pins[0].side);
        let arrive = direction(pins[1].side) ^ 1;
        let way = self.search(start, leave, goal, arrive, net)?;
        for two in way.windows(2) {
            let low = two[0].min(two[1]);
            self.used[usize::from(two[0] % self.xs.len() == two[1] % self.xs.len())][low] = net;
        }
        let width = self.xs.len();
        let inside = way.into_iter().map(|at| Point::new(self.xs[at % width], self.ys[at / width]));
        let points: Vec<Point> = [pins[0].at].into_iter().chain(inside).chain([pins[1].at]).collect();
        Some(simplified(&points))
    }

    /// A* over points and directions.
    fn search(
        &mut self,
        start: (usize, usize),
        leave: usize,
        goal: (usize, usize),
        arrive: usize,
        net: u32,
    ) -> Option<Vec<usize>> {
        let width = self.xs.len();
        self.round += 1;
        let at = |(x, y): (usize, usize)| y * width + x;
        let end = Point::new(self.xs[goal.0], self.ys[goal.1]);
        let mut heap: BinaryHeap<(Reverse<Cost>, usize)> = BinaryHeap::new();
        let first = at(start) * 4 + leave;
        self.best[first] = (self.round, 0.0, u32::MAX);
        heap.push((Reverse(Cost(0.0)), first));
        while let Some((Reverse(Cost(estimate)), state)) = heap.pop() {
            let (point, facing) = (state / 4, state % 4);
            let (x, y) = (point % width, point / width);
            let cost = self.best[state].1;
            let rest = |x: usize, y: usize| (self.xs[x] - end.x).abs() + (self.ys[y] - end.y).abs();
            if estimate > cost + rest(x, y) + 1e-9 {
                continue;
            }
            if point == at(goal) && facing == arrive {
                return Some(self.way_back(state));
            }
            for (turn, step) in STEPS.into_iter().enumerate() {
                // At the goal it may turn where it stands; nowhere does it turn back.
                if turn == facing ^ 1 {
                    continue;
                }
                if point == at(goal) && turn == arrive {
                    self.offer(state, point * 4 + turn, cost + BEND, 0.0, &mut heap);
                }
                let (Some(nx), Some(ny)) =
                    (x.checked_add_signed(step.0 as isize), y.checked_add_signed(step.1 as isize))
                else {
                    continue;
                };
                if nx >= width || ny >= self.ys.len() {
                    continue;
                }
                let next = at((nx, ny));
                let upright = usize::from(step.0 == 0);
                let edge = point.min(next);
                let length = (self.xs[x] - self.xs[nx]).abs() + (self.ys[y] - self.ys[ny]).abs();
                let mut total = cost + length;
                if turn != facing {
                    total += BEND;
                }
                if self.blocked[upright][edge] {
                    total += THROUGH * length;
                }
                let other = self.used[upright][edge];
                if other != 0 && other != net {
                    total += ALONG * length;
                }
                if self.is_crossed(next, 1 - upright, net) {
                    total += CROSSING;
                }
                let rest = (self.xs[nx] - end.x).abs() + (self.ys[ny] - end.y).abs();
                self.offer(state, next * 4 + turn, total, rest, &mut heap);
            }
        }
        None
    }

    fn offer(&mut self, from: usize, to: usize, cost: f64, rest: f64, heap: &mut BinaryHeap<(Reverse<Cost>, usize)>) {
        let (round, known, _) = self.best[to];
        if round == self.round && known <= cost {
            return;
        }
        self.best[to] = (self.round, cost, from as u32);
        heap.push((Reverse(Cost(cost + rest)), to));
    }

    /// Whether a line of another net goes through a point, along the other axis.
    fn is_crossed(&self, point: usize, upright: usize, net: u32) -> bool {
        let before = point.checked_sub(if upright == 1 { self.xs.len() } else { 1 });
        let is_other = |edge: usize| self.used[upright][edge] != 0 && self.used[upright][edge] != net;
        is_other(point) || before.is_some_and(is_other)
    }

    fn way_back(&self, mut state: usize) -> Vec<usize> {
        let mut way = vec![state / 4];
        while let Some((_, _, from)) = self.best.get(state).filter(|(_, _, from)| *from != u32::MAX) {
            state = *from as usize;
            if way.last() != Some(&(state / 4)) {
                way.push(state / 4);
            }
        }
        way.reverse();
        way
    }
}

/// The number in `STEPS` of the way out.
fn direction(side: Side) -> usize {
    match side {
        Side::Right => 0,
        Side::Left => 1,
        Side::Top => 2,
        Side::Bottom => 3,
    }
}

/// The coordinates that are asked for and others between them.
fn lines(needed: impl Iterator<Item = f64>, low: f64, high: f64) -> Vec<f64> {
    let mut needed: Vec<f64> = needed.chain([low, high]).filter(|value| value.is_finite()).collect();
    needed.sort_by(f64::total_cmp);
    needed.dedup();
    let mut all: Vec<f64> = Vec::with_capacity(needed.len() * 2);
    for value in needed {
        if let Some(&last) = all.last() {
            let pieces = ((value - last) / LANE).floor().min(1000.0) as usize;
            all.extend((1..pieces).map(|piece| last + LANE * piece as f64));
        }
        all.push(value);
    }
    all
}

/// Costs in order.
#[derive(Clone, Copy, PartialEq)]
struct Cost(f64);

impl Eq for Cost {}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cost {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
