//! Places of elements on a grid, for the drawing. Elements are first placed beside their neighbours, from the middle of the
//! longest chain outwards; then single elements and pairs are moved as long as the picture gets better: short and
//! straight bonds, no crossings, no bond behind an element. There is no randomness: equal graphs are drawn alike.

use base::Id;

use crate::graph::{ElementId, Graph};

pub type Cell = (i32, i32);

/// The cell of each element, from (0, 0).
pub fn places(graph: &Graph) -> Vec<Cell> {
    let count = graph.elements.len();
    let edges: Vec<(usize, usize)> = graph.bonds.values().map(|bond| (bond.tail.index(), bond.head.index())).collect();
    let mut neighbours = vec![Vec::new(); count];
    for (tail, head) in &edges {
        neighbours[*tail].push(*head);
        neighbours[*head].push(*tail);
    }
    let mut layout = Layout { cells: vec![None; count], edges, neighbours };
    layout.place_all(graph);
    layout.improve();
    layout.normalized()
}

struct Layout {
    cells: Vec<Option<Cell>>,
    edges: Vec<(usize, usize)>,
    neighbours: Vec<Vec<usize>>,
}

/// Right first: power goes from left to right.
const DIRECTIONS: [Cell; 8] = [(1, 0), (0, 1), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)];

impl Layout {
    fn place_all(&mut self, graph: &Graph) {
        for (start, chain) in self.chains() {
            let bottom = self.cells.iter().flatten().map(|(_, y)| *y).max().map_or(0, |lowest| lowest + 3);
            for (index, element) in chain.iter().enumerate() {
                self.cells[*element] = Some((index as i32, bottom));
            }
            let mut queue: std::collections::VecDeque<usize> = chain.into();
            if queue.is_empty() {
                queue.push_back(start);
            }
            while let Some(element) = queue.pop_front() {
                let mut open: Vec<usize> =
                    self.neighbours[element].iter().copied().filter(|next| self.cells[*next].is_none()).collect();
                open.dedup();
                // Elements with many bonds first: they need the straight ways.
                open.sort_by_key(|next| std::cmp::Reverse(graph.elements[ElementId::from_index(*next)].ports.len()));
                for next in open {
                    if self.cells[next].is_none() {
                        self.place(next, element);
                        queue.push_back(next);
                    }
                }
            }
        }
    }

    /// For each connected part a longest shortest way through it, as the backbone.
    fn chains(&self) -> Vec<(usize, Vec<usize>)> {
        let mut seen = vec![false; self.cells.len()];
        let mut chains = Vec::new();
        for start in 0..self.cells.len() {
            if seen[start] {
                continue;
            }
            let (far, _) = self.farthest(start, &mut seen);
            let mut again = vec![false; self.cells.len()];
            let (_, mut chain) = self.farthest(far, &mut again);
            // Sources stand on the left.
            if chain.first() > chain.last() {
                chain.reverse();
            }
            chains.push((start, chain));
        }
        chains
    }

    fn farthest(&self, start: usize, seen: &mut [bool]) -> (usize, Vec<usize>) {
        let mut before = vec![usize::MAX; self.cells.len()];
        let mut queue = std::collections::VecDeque::from([start]);
        seen[start] = true;
        let mut last = start;
        while let Some(element) = queue.pop_front() {
            last = element;
            for next in &self.neighbours[element] {
                if !seen[*next] {
                    seen[*next] = true;
                    before[*next] = element;
                    queue.push_back(*next);
                }
            }
        }
        let mut chain = vec![last];
        while let Some(previous) = chain.last().map(|element| before[*element]).filter(|before| *before != usize::MAX) {
            chain.push(previous);
        }
        chain.reverse();
        (last, chain)
    }

    fn place(&mut self, element: usize, beside: usize) {
        let Some((x, y)) = self.cells[beside] else { return };
        let mut best: Option<(f64, Cell)> = None;
        for distance in 1..=12 {
            for (dx, dy) in DIRECTIONS {
                let cell = (x + dx * distance, y + dy * distance);
                if self.cells.contains(&Some(cell)) {
                    continue;
                }
                let cost = self.cost_at(element, cell);
                if best.is_none_or(|(lowest, _)| cost < lowest) {
                    best = Some((cost, cell));
                }
            }
            if best.is_some() && distance >= 3 {
                break;
            }
        }
        let beyond = self.cells.iter().flatten().map(|(x, _)| *x).max().unwrap_or(0) + 1;
        self.cells[element] = Some(best.map_or((beyond, y), |(_, cell)| cell));
    }

    /// What the element costs at a cell, with everything placed so far.
    fn cost_at(&self, element: usize, cell: Cell) -> f64 {
        let mut cost = 0.0;
        for neighbour in &self.neighbours[element] {
            let Some(other) = self.cells[*neighbour] else { continue };
            cost += edge_cost(cell, other);
            for (index, place) in self.cells.iter().enumerate() {
                if let Some(place) = place
                    && index != element
                    && index != *neighbour
                    && on_segment(cell, other, *place)
                {
                    cost += 60.0;
                }
            }
            for (tail, head) in &self.edges {
                if [*tail, *head].iter().any(|end| *end == element || end == neighbour) {
                    continue;
                }
                if let (Some(one), Some(two)) = (self.cells[*tail], self.cells[*head])
                    && cross(cell, other, one, two)
                {
                    cost += 15.0;
                }
            }
        }
        for (tail, head) in &self.edges {
            if *tail != element
                && *head != element
                && let (Some(one), Some(two)) = (self.cells[*tail], self.cells[*head])
                && on_segment(one, two, cell)
            {
                cost += 60.0;
            }
        }
        cost
    }

    fn improve(&mut self) {
        let count = self.cells.len();
        // Large graphs are not drawn to be read at once.
        let rounds = if count > 400 { 0 } else { 30 };
        for _ in 0..rounds {
            let mut better = false;
            for element in 0..count {
                let Some((x, y)) = self.cells[element] else { continue };
                let mut best = (self.cost_at(element, (x, y)), (x, y));
                for dx in -3..=3 {
                    for dy in -3..=3 {
                        let cell = (x + dx, y + dy);
                        if self.cells.contains(&Some(cell)) {
                            continue;
                        }
                        let cost = self.cost_at(element, cell);
                        if cost + 1e-9 < best.0 {
                            best = (cost, cell);
                        }
                    }
                }
                if best.1 != (x, y) {
                    self.cells[element] = Some(best.1);
                    better = true;
                }
            }
            better |= self.swap_pairs();
            if !better {
                break;
            }
        }
    }

    fn swap_pairs(&mut self) -> bool {
        let mut better = false;
        for one in 0..self.cells.len() {
            for other in one + 1..self.cells.len() {
                let (Some(first), Some(second)) = (self.cells[one], self.cells[other]) else { continue };
                if (first.0 - second.0).abs().max((first.1 - second.1).abs()) > 3 {
                    continue;
                }
                let before = self.cost_at(one, first) + self.cost_at(other, second);
                self.cells[one] = Some(second);
                self.cells[other] = Some(first);
                let after = self.cost_at(one, second) + self.cost_at(other, first);
                if after + 1e-9 < before {
                    better = true;
                } else {
                    self.cells[one] = Some(first);
                    self.cells[other] = Some(second);
                }
            }
        }
        better
    }

    fn normalized(&self) -> Vec<Cell> {
        let placed = || self.cells.iter().flatten();
        let left = placed().map(|(x, _)| *x).min().unwrap_or(0);
        let top = placed().map(|(_, y)| *y).min().unwrap_or(0);
        self.cells.iter().map(|cell| cell.map_or((0, 0), |(x, y)| (x - left, y - top))).collect()
    }
}

/// Short and straight is best; a slope costs more than a step further.
fn edge_cost(one: Cell, other: Cell) -> f64 {
    let (dx, dy) = (f64::from((one.0 - other.0).abs()), f64::from((one.1 - other.1).abs()));
    let slope = if dx > 0.0 && dy > 0.0 { 2.5 } else { 0.0 };
    dx * dx + dy * dy + slope
}

fn side(one: Cell, two: Cell, point: Cell) -> i64 {
    let cross =
        i64::from(two.0 - one.0) * i64::from(point.1 - one.1) - i64::from(two.1 - one.1) * i64::from(point.0 - one.0);
    cross.signum()
}

/// A point strictly between, on the line or so near that its text would touch it.
fn on_segment(one: Cell, two: Cell, point: Cell) -> bool {
    let (dx, dy) = (f64::from(two.0 - one.0), f64::from(two.1 - one.1));
    let length = dx.hypot(dy);
    if length == 0.0 {
        return false;
    }
    let (px, py) = (f64::from(point.0 - one.0), f64::from(point.1 - one.1));
    let along = (px * dx + py * dy) / length;
    let away = (px * dy - py * dx).abs() / length;
    along > 0.2 && along < length - 0.2 && away < 0.45
}

fn cross(one: Cell, two: Cell, three: Cell, four: Cell) -> bool {
    side(one, two, three) * side(one, two, four) < 0 && side(three, four, one) * side(three, four, two) < 0
}
