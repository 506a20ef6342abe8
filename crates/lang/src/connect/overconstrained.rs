//! Overconstrained connection graphs (specification 9.4): a spanning tree is kept, the other connections of overdetermined
//! records become `equalityConstraint` equations.

use base::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::collect::{GraphKind, GraphStatement};
use crate::flat::Indices;
use crate::instance::CompId;

/// An overdetermined record: the component and its element numbers.
pub type Record = (CompId, Indices);

/// What became of the graph.
#[derive(Default)]
pub struct Graph {
    /// For `Connections.isRoot`.
    pub roots: FxHashSet<Record>,
    /// The number of edges to the root.
    depths: FxHashMap<Record, u32>,
    branches: Vec<(Record, Record)>,
}

/// A connection between two overdetermined records that may be broken.
#[derive(Clone, Debug)]
pub struct Edge {
    pub left: Record,
    pub right: Record,
}

struct Nodes {
    numbers: FxHashMap<Record, usize>,
    parents: Vec<usize>,
}

impl Nodes {
    fn number(&mut self, record: &Record) -> usize {
        if let Some(&known) = self.numbers.get(record) {
            return known;
        }
        let next = self.parents.len();
        self.parents.push(next);
        self.numbers.insert(record.clone(), next);
        next
    }

    fn set(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.set(a), self.set(b));
        self.parents[a.max(b)] = a.min(b);
        a != b
    }
}

impl Graph {
    /// Chooses the roots and the connections to break; `broken[k]` belongs to `edges[k]`.
    pub fn solve(
        statements: &[GraphStatement],
        edges: &[Edge],
        name: &mut dyn FnMut(&Record) -> String,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> (Graph, Vec<bool>) {
        let mut graph = Graph::default();
        // Node 0 stands for all roots together.
        let mut nodes = Nodes { numbers: FxHashMap::default(), parents: vec![0] };
        for statement in statements.iter().filter(|statement| statement.kind == GraphKind::Branch) {
            if let [a, b] = statement.nodes.as_slice() {
                let (left, right) = (nodes.number(a), nodes.number(b));
                nodes.join(left, right);
                graph.branches.push((a.clone(), b.clone()));
            }
        }
        let mut first_root: FxHashMap<usize, Span> = FxHashMap::default();
        for statement in statements.iter().filter(|s| matches!(s.kind, GraphKind::Root | GraphKind::UniqueRoot)) {
            let Some(record) = statement.nodes.first() else { continue };
            let node = nodes.number(record);
            let set = nodes.set(node);
            if let Some(&other) = first_root.get(&set) {
                diagnostics.push(
                    Diagnostic::error("two-roots", format!("`{}` is the second root of its graph", name(record)))
                        .at(statement.span, "root here")
                        .at(other, "and here")
                        .specification("9.4.1"),
                );
            }
            first_root.insert(set, statement.span);
            graph.roots.insert(record.clone());
        }
        for record in &graph.roots {
            let node = nodes.number(record);
            nodes.join(0, node);
        }
        let mut broken = Vec::with_capacity(edges.len());
        for edge in edges {
            let (a, b) = (nodes.number(&edge.left), nodes.number(&edge.right));
            broken.push(!nodes.join(a, b));
        }
        graph.choose_potential_roots(statements, &mut nodes);
        graph.measure(edges, &broken);
        (graph, broken)
    }

    fn choose_potential_roots(&mut self, statements: &[GraphStatement], nodes: &mut Nodes) {
        let mut potential: Vec<&GraphStatement> =
            statements.iter().filter(|statement| statement.kind == GraphKind::PotentialRoot).collect();
        potential.sort_by_key(|statement| statement.priority);
        for statement in potential {
            let Some(record) = statement.nodes.first() else { continue };
            let node = nodes.number(record);
            if nodes.set(node) != 0 {
                nodes.join(0, node);
                self.roots.insert(record.clone());
            }
        }
    }

    fn measure(&mut self, edges: &[Edge], broken: &[bool]) {
        let mut neighbours: FxHashMap<&Record, Vec<&Record>> = FxHashMap::default();
        let kept = edges.iter().zip(broken).filter(|(_, broken)| !**broken).map(|(edge, _)| (&edge.left, &edge.right));
        for (a, b) in self.branches.iter().map(|(a, b)| (a, b)).chain(kept) {
            neighbours.entry(a).or_default().push(b);
            neighbours.entry(b).or_default().push(a);
        }
        let mut queue: std::collections::VecDeque<(&Record, u32)> = self.roots.iter().map(|root| (root, 0)).collect();
        let mut depths = FxHashMap::default();
        while let Some((record, depth)) = queue.pop_front() {
            if depths.contains_key(record) {
                continue;
            }
            depths.insert(record.clone(), depth);
            for &next in neighbours.get(record).into_iter().flatten() {
                queue.push_back((next, depth + 1));
            }
        }
        self.depths = depths;
    }

    /// The records for which `Connections.rooted` holds: of their branch, the end nearer to the root.
    pub fn rooted(&self) -> FxHashSet<Record> {
        let depth = |record: &Record| self.depths.get(record).copied().unwrap_or(u32::MAX);
        self.branches.iter().map(|(a, b)| if depth(b) < depth(a) { b } else { a }).cloned().collect()
    }
}
