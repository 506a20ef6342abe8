//! Places of elements on a grid, for the drawing. Each connected part is laid out by itself, and the parts are put beside and
//! below each other. Elements are first placed beside their neighbours, from the longest chain outwards; then
//! elements, junctions together with the elements that hang on them, and pairs are moved as long as the picture gets
//! better: short and straight bonds, no crossings, no bond behind an element. There is no randomness: equal graphs are
//! drawn alike.

use base::Id;

use crate::graph::Graph;

pub type Cell = (i32, i32);

/// Larger graphs are not drawn to be read at once, so they are only placed.
const LARGEST_IMPROVED: usize = 150;

/// The cell of each element, from (0, 0).
pub fn places(graph: &Graph) -> Vec<Cell> {
    let count = graph.elements.len();
    let mut neighbours = vec![Vec::new(); count];
    for bond in graph.bonds.values() {
        neighbours[bond.tail.index()].push(bond.head.index());
        neighbours[bond.head.index()].push(bond.tail.index());
    }
    let mut parts = Vec::new();
    let mut seen = vec![false; count];
    for start in 0..count {
        if !seen[start] {
            let members = reached(&neighbours, start, &mut seen);
            parts.push(members);
        }
    }
    let laid_out: Vec<(Vec<usize>, Vec<Cell>)> = parts
        .into_iter()
        .map(|members| {
            let cells = Layout::new(&members, &neighbours).run();
            (members, cells)
        })
        .collect();
    packed(count, &laid_out)
}

fn reached(neighbours: &[Vec<usize>], start: usize, seen: &mut [bool]) -> Vec<usize> {
    let mut members = vec![start];
    seen[start] = true;
    let mut next = 0;
    while next < members.len() {
        for other in &neighbours[members[next]] {
            if !seen[*other] {
                seen[*other] = true;
                members.push(*other);
            }
        }
        next += 1;
    }
    members.sort_unstable();
    members
}

/// Parts in rows, largest first, each row as wide as the widest part.
fn packed(count: usize, parts: &[(Vec<usize>, Vec<Cell>)]) -> Vec<Cell> {
    let size = |cells: &[Cell]| {
        let across = |of: fn(&Cell) -> i32| cells.iter().map(of).max().unwrap_or(0) + 1;
        (across(|cell| cell.0), across(|cell| cell.1))
    };
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|part| (std::cmp::Reverse(parts[*part].0.len()), *part));
    let widest = parts.iter().map(|(_, cells)| size(cells).0).max().unwrap_or(1).max(8);
    let mut places = vec![(0, 0); count];
    let (mut x, mut y, mut row_height) = (0, 0, 0);
    for part in order {
        let (members, cells) = &parts[part];
        let (width, height) = size(cells);
        if x > 0 && x + width > widest {
            x = 0;
            y += row_height + 1;
            row_height = 0;
        }
        for (member, cell) in members.iter().zip(cells) {
            places[*member] = (x + cell.0, y + cell.1);
        }
        x += width + 1;
        row_height = row_height.max(height);
    }
    places
}

/// One connected part; its elements are numbered by themselves.
struct Layout {
    cells: Vec<Option<Cell>>,
    edges: Vec<(usize, usize)>,
    neighbours: Vec<Vec<usize>>,
}

/// Right first: power goes from left to right.
const DIRECTIONS: [Cell; 8] = [(1, 0), (0, 1), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)];

impl Layout {
    fn new(members: &[usize], all: &[Vec<usize>]) -> Self {
        let number = |element: &usize| members.binary_search(element).unwrap_or(0);
        let neighbours: Vec<Vec<usize>> =
            members.iter().map(|member| all[*member].iter().map(number).collect()).collect();
        let mut edges = Vec::new();
        for (one, others) in neighbours.iter().enumerate() {
            edges.extend(others.iter().filter(|other| **other > one).map(|other| (one, *other)));
        }
        Self { cells: vec![None; members.len()], edges, neighbours }
    }

    fn run(mut self) -> Vec<Cell> {
        self.place_all();
        if self.cells.len() <= LARGEST_IMPROVED {
            self.improve();
        }
        self.normalized()
    }

    fn place_all(&mut self) {
        let (far, _) = self.farthest(0);
        let (_, mut chain) = self.farthest(far);
        // Sources are mostly declared first and stand on the left.
        if chain.first() > chain.last() {
            chain.reverse();
        }
        for (index, element) in chain.iter().enumerate() {
            self.cells[*element] = Some((index as i32, 0));
        }
        let mut queue: std::collections::VecDeque<usize> = chain.into();
        while let Some(element) = queue.pop_front() {
            let mut open: Vec<usize> =
                self.neighbours[element].iter().copied().filter(|next| self.cells[*next].is_none()).collect();
            // Elements with many bonds first: they need the straight ways.
            open.sort_by_key(|next| (std::cmp::Reverse(self.neighbours[*next].len()), *next));
            open.dedup();
            for next in open {
                self.place(next, element);
                queue.push_back(next);
            }
        }
    }

    fn farthest(&self, start: usize) -> (usize, Vec<usize>) {
        let mut before = vec![usize::MAX; self.cells.len()];
        let mut queue = std::collections::VecDeque::from([start]);
        before[start] = start;
        let mut last = start;
        while let Some(element) = queue.pop_front() {
            last = element;
            for next in &self.neighbours[element] {
                if before[*next] == usize::MAX {
                    before[*next] = element;
                    queue.push_back(*next);
                }
            }
        }
        let mut chain = vec![last];
        while let Some(previous) = chain.last().map(|element| before[*element]).filter(|_| chain.last() != Some(&start))
        {
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
                    cost += BEHIND;
                }
            }
            for (tail, head) in &self.edges {
                let shares = |end: &usize| *end == element || end == neighbour;
                if !shares(tail)
                    && !shares(head)
                    && let (Some(one), Some(two)) = (self.cells[*tail], self.cells[*head])
                    && cross(cell, other, one, two)
                {
                    cost += CROSSING;
                }
            }
        }
        for (tail, head) in &self.edges {
            if *tail != element
                && *head != element
                && let (Some(one), Some(two)) = (self.cells[*tail], self.cells[*head])
                && on_segment(one, two, cell)
            {
                cost += BEHIND;
            }
        }
        cost
    }

    fn improve(&mut self) {
        for _ in 0..40 {
            let mut better = false;
            for element in 0..self.cells.len() {
                better |= self.move_group(&[element], 4);
                let mut group: Vec<usize> =
                    self.neighbours[element].iter().copied().filter(|next| self.neighbours[*next].len() == 1).collect();
                if !group.is_empty() {
                    group.push(element);
                    better |= self.move_group(&group, 5);
                }
            }
            better |= self.swap_pairs();
            if !better {
                break;
            }
        }
    }

    /// Moves elements together to where they cost least, up to a distance.
    fn move_group(&mut self, group: &[usize], reach: i32) -> bool {
        let from: Vec<Cell> = group.iter().filter_map(|member| self.cells[*member]).collect();
        if from.len() != group.len() {
            return false;
        }
        let mut best = (self.cost_of(group) - 1e-9, (0, 0));
        for dx in -reach..=reach {
            for dy in -reach..=reach {
                let to = |cell: &Cell| (cell.0 + dx, cell.1 + dy);
                let taken = |cell: &Cell| {
                    self.cells
                        .iter()
                        .enumerate()
                        .any(|(index, place)| *place == Some(to(cell)) && !group.contains(&index))
                };
                if (dx, dy) == (0, 0) || from.iter().any(taken) {
                    continue;
                }
                group.iter().zip(&from).for_each(|(member, cell)| self.cells[*member] = Some(to(cell)));
                let cost = self.cost_of(group);
                if cost < best.0 {
                    best = (cost, (dx, dy));
                }
                group.iter().zip(&from).for_each(|(member, cell)| self.cells[*member] = Some(*cell));
            }
        }
        let (dx, dy) = best.1;
        group.iter().zip(&from).for_each(|(member, cell)| self.cells[*member] = Some((cell.0 + dx, cell.1 + dy)));
        best.1 != (0, 0)
    }

    fn cost_of(&self, group: &[usize]) -> f64 {
        group.iter().filter_map(|member| Some(self.cost_at(*member, self.cells[*member]?))).sum()
    }

    fn swap_pairs(&mut self) -> bool {
        let mut better = false;
        for one in 0..self.cells.len() {
            for other in one + 1..self.cells.len() {
                let (Some(first), Some(second)) = (self.cells[one], self.cells[other]) else { continue };
                if (first.0 - second.0).abs().max((first.1 - second.1).abs()) > 4 {
                    continue;
                }
                let before = self.cost_of(&[one, other]);
                self.cells[one] = Some(second);
                self.cells[other] = Some(first);
                if self.cost_of(&[one, other]) + 1e-9 < before {
                    better = true;
                } else {
                    self.cells[one] = Some(first);
                    self.cells[other] = Some(second);
                }
            }
        }
        better
    }

    /// From (0, 0), without empty rows and columns.
    fn normalized(&self) -> Vec<Cell> {
        let used = |of: fn(&Cell) -> i32| {
            let mut used: Vec<i32> = self.cells.iter().flatten().map(of).collect();
            used.sort_unstable();
            used.dedup();
            used
        };
        let (columns, rows) = (used(|cell| cell.0), used(|cell| cell.1));
        let place = |used: &[i32], value: i32| used.binary_search(&value).unwrap_or(0) as i32;
        let cell = |cell: &Option<Cell>| cell.map_or((0, 0), |(x, y)| (place(&columns, x), place(&rows, y)));
        self.cells.iter().map(cell).collect()
    }
}

const CROSSING: f64 = 14.0;
const BEHIND: f64 = 90.0;

/// Short and straight is best; a slope costs more than a step further.
fn edge_cost(one: Cell, other: Cell) -> f64 {
    let (dx, dy) = (f64::from((one.0 - other.0).abs()), f64::from((one.1 - other.1).abs()));
    let slope = if dx > 0.0 && dy > 0.0 { 3.0 } else { 0.0 };
    let length = dx + dy;
    3.0 * length + 0.3 * length * length + slope
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
    along > 0.2 && along < length - 0.2 && away < 0.5
}

fn cross(one: Cell, two: Cell, three: Cell, four: Cell) -> bool {
    side(one, two, three) * side(one, two, four) < 0 && side(three, four, one) * side(three, four, two) < 0
}
