//! Connection sets (specification 9.2): a union-find structure over the two sides of every variable of a connector.
//!
//! A set of potentials of size n gives n − 1 equalities, a set of flows one sum; a flow variable that nothing connects is
//! zero. The elements of a set are kept in the order in which they were connected.

use base::Id;
use dae::VarId;

use super::Side;

/// A variable as seen from one side.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Face {
    pub variable: VarId,
    pub side: Side,
}

/// The sets of faces that are connected with each other.
#[derive(Default)]
pub struct Sets {
    parents: Vec<u32>,
    /// The node of `parents` for every face: two for each variable, one more than the node, 0 where there is none.
    nodes: Vec<u32>,
    faces: Vec<Face>,
}

impl Sets {
    fn node(&mut self, face: Face) -> u32 {
        let place = 2 * face.variable.index() + face.side as usize;
        if self.nodes.len() <= place {
            self.nodes.resize(place + 1, 0);
        }
        if self.nodes[place] == 0 {
            self.parents.push(self.parents.len() as u32);
            self.faces.push(face);
            self.nodes[place] = self.parents.len() as u32;
        }
        self.nodes[place] - 1
    }

    fn root(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let above = self.parents[self.parents[node as usize] as usize];
            self.parents[node as usize] = above;
            node = above;
        }
        node
    }

    /// Makes the face known: alone in its set until it is connected.
    pub fn add(&mut self, face: Face) {
        self.node(face);
    }

    pub fn connect(&mut self, a: Face, b: Face) {
        let (a, b) = (self.node(a), self.node(b));
        let (a, b) = (self.root(a), self.root(b));
        // The earlier one stands for the set, which keeps the order stable.
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// All sets, in the order of their first elements, the elements in the order in which they were added.
    pub fn all(&mut self) -> Vec<Vec<Face>> {
        let mut positions: Vec<usize> = vec![usize::MAX; self.parents.len()];
        let mut sets: Vec<Vec<Face>> = Vec::new();
        for node in 0..self.parents.len() as u32 {
            let root = self.root(node) as usize;
            // The root is the earliest of its set and comes first.
            if root == node as usize {
                positions[root] = sets.len();
                sets.push(Vec::new());
            }
            sets[positions[root]].push(self.faces[node as usize]);
        }
        for set in &mut sets {
            set.sort_by_key(|face| (face.variable.index(), face.side));
        }
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn face(variable: usize, side: Side) -> Face {
        Face { variable: VarId::from_index(variable), side }
    }

    #[test]
    fn sets_join() {
        let mut sets = Sets::default();
        sets.add(face(5, Side::Inside));
        sets.connect(face(1, Side::Inside), face(2, Side::Outside));
        sets.connect(face(3, Side::Inside), face(4, Side::Inside));
        sets.connect(face(2, Side::Outside), face(3, Side::Inside));
        let sizes: Vec<usize> = sets.all().iter().map(Vec::len).collect();
        assert_eq!(sizes, [1, 4]);
    }

    #[test]
    fn two_sides_are_two_elements() {
        let mut sets = Sets::default();
        sets.connect(face(1, Side::Inside), face(2, Side::Inside));
        sets.connect(face(1, Side::Outside), face(3, Side::Inside));
        assert_eq!(sets.all().len(), 2);
    }
}
