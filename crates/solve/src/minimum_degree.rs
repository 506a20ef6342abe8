//! Approximate minimum degree order of a symmetric pattern, so that elimination in this order fills in little.
//!
//! Amestoy, Davis and Duff, *An approximate minimum degree ordering algorithm*, SIAM J. Matrix Anal. Appl. 17 (1996):
//! the elimination graph is kept as a quotient graph of variables and elements; degrees are bounded instead of counted;
//! indistinguishable variables are merged; elements covered by a new one are absorbed.

use crate::sparse::Pattern;

const NONE: u32 = u32::MAX;

/// The order of elimination for `pattern + patternᵀ` (square; the diagonal is ignored).
pub fn minimum_degree(pattern: &Pattern) -> Vec<u32> {
    let n = pattern.columns;
    let neighbours = symmetric_neighbours(pattern);
    let mut graph = QuotientGraph::new(n, neighbours);
    graph.eliminate_all();
    graph.order
}

fn symmetric_neighbours(pattern: &Pattern) -> Vec<Vec<u32>> {
    let transposed = pattern.transposed();
    (0..pattern.columns)
        .map(|j| {
            let (a, b) = (pattern.column(j), transposed.column(j));
            let mut merged = Vec::with_capacity(a.len() + b.len());
            let (mut p, mut q) = (0, 0);
            while p < a.len() || q < b.len() {
                let left = a.get(p).copied().unwrap_or(NONE);
                let right = b.get(q).copied().unwrap_or(NONE);
                let next = left.min(right);
                p += usize::from(left == next);
                q += usize::from(right == next);
                if next as usize != j {
                    merged.push(next);
                }
            }
            merged
        })
        .collect()
}

struct QuotientGraph {
    n: usize,
    /// For a live variable, its neighbours that are variables.
    variables: Vec<Vec<u32>>,
    /// For a live variable, the elements it belongs to.
    elements: Vec<Vec<u32>>,
    /// For a live element (named by its pivot), its variables.
    members: Vec<Vec<u32>>,
    /// Number of original variables merged into this one; 0 when eliminated or merged away.
    weight: Vec<u32>,
    degree: Vec<u32>,
    /// Chain of the variables merged into one.
    next_merged: Vec<u32>,
    last_merged: Vec<u32>,
    alive_element: Vec<bool>,
    /// Doubly linked lists of variables by degree. The one that has waited longest is taken first: a chain is then
    /// eliminated from both ends in turn, and in a solve neither half waits for the other.
    head: Vec<u32>,
    tail: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    lowest: usize,
    mark: Vec<u32>,
    stamp: u32,
    outside: Vec<u32>,
    outside_stamp: Vec<u32>,
    eliminated: usize,
    order: Vec<u32>,
}

impl QuotientGraph {
    fn new(n: usize, variables: Vec<Vec<u32>>) -> Self {
        let degree: Vec<u32> = variables.iter().map(|list| list.len() as u32).collect();
        let mut graph = QuotientGraph {
            n,
            variables,
            elements: vec![Vec::new(); n],
            members: vec![Vec::new(); n],
            weight: vec![1; n],
            degree,
            next_merged: vec![NONE; n],
            last_merged: (0..n as u32).collect(),
            alive_element: vec![false; n],
            head: vec![NONE; n + 1],
            tail: vec![NONE; n + 1],
            next: vec![NONE; n],
            previous: vec![NONE; n],
            lowest: 0,
            mark: vec![0; n],
            stamp: 0,
            outside: vec![0; n],
            outside_stamp: vec![0; n],
            eliminated: 0,
            order: Vec::with_capacity(n),
        };
        graph.set_dense_variables_aside();
        for i in 0..n as u32 {
            if graph.weight[i as usize] > 0 {
                graph.insert(i);
            }
        }
        graph
    }

    /// Variables joined with very many others are ordered last: they would be last anyway, at great cost.
    fn set_dense_variables_aside(&mut self) {
        let limit = (10.0 * (self.n as f64).sqrt()).max(16.0) as usize;
        let dense: Vec<u32> = (0..self.n as u32).filter(|i| self.variables[*i as usize].len() > limit).collect();
        for i in &dense {
            self.weight[*i as usize] = 0;
            self.variables[*i as usize].clear();
        }
        if !dense.is_empty() {
            for list in &mut self.variables {
                list.retain(|j| self.weight[*j as usize] > 0);
            }
            for i in 0..self.n {
                self.degree[i] = self.variables[i].len() as u32;
            }
        }
        // `order` is completed with these at the end.
        self.eliminated = dense.len();
    }

    fn insert(&mut self, i: u32) {
        let degree = (self.degree[i as usize] as usize).min(self.n);
        let last = std::mem::replace(&mut self.tail[degree], i);
        self.previous[i as usize] = last;
        self.next[i as usize] = NONE;
        if last == NONE {
            self.head[degree] = i;
        } else {
            self.next[last as usize] = i;
        }
        self.lowest = self.lowest.min(degree);
    }

    fn remove(&mut self, i: u32) {
        let degree = (self.degree[i as usize] as usize).min(self.n);
        let (before, after) = (self.previous[i as usize], self.next[i as usize]);
        if before == NONE {
            self.head[degree] = after;
        } else {
            self.next[before as usize] = after;
        }
        if after == NONE {
            self.tail[degree] = before;
        } else {
            self.previous[after as usize] = before;
        }
    }

    fn eliminate_all(&mut self) {
        while self.eliminated < self.n {
            while self.lowest < self.n && self.head[self.lowest] == NONE {
                self.lowest += 1;
            }
            let pivot = self.head[self.lowest];
            if pivot == NONE {
                break;
            }
            self.eliminate(pivot);
        }
        let mut seen = vec![false; self.n];
        self.order.iter().for_each(|i| seen[*i as usize] = true);
        let dense: Vec<u32> = (0..self.n as u32).filter(|i| !seen[*i as usize]).collect();
        self.order.extend(dense);
    }

    fn emit(&mut self, variable: u32) {
        let mut i = variable;
        while i != NONE {
            self.order.push(i);
            i = self.next_merged[i as usize];
        }
    }

    fn eliminate(&mut self, pivot: u32) {
        let p = pivot as usize;
        self.remove(pivot);
        let pivot_weight = std::mem::replace(&mut self.weight[p], 0);
        self.eliminated += pivot_weight as usize;
        self.emit(pivot);
        let members = self.form_element(pivot);
        let member_weight: u32 = members.iter().map(|i| self.weight[*i as usize]).sum();
        self.count_outside(&members);
        let mut live = Vec::with_capacity(members.len());
        for i in &members {
            if self.update_variable(*i, pivot, member_weight) {
                live.push(*i);
            }
        }
        self.merge_indistinguishable(&mut live);
        // The element lists what is left of its variables; an empty one is never met again.
        live.retain(|i| self.weight[*i as usize] > 0);
        for i in &live {
            self.insert(*i);
        }
        self.alive_element[p] = !live.is_empty();
        self.members[p] = live;
    }

    /// The variables of the new element; the elements it absorbs die.
    fn form_element(&mut self, pivot: u32) -> Vec<u32> {
        let p = pivot as usize;
        self.stamp += 1;
        let mut members = Vec::new();
        let own = std::mem::take(&mut self.variables[p]);
        let absorbed = std::mem::take(&mut self.elements[p]);
        for i in own {
            if self.weight[i as usize] > 0 && self.mark[i as usize] != self.stamp {
                self.mark[i as usize] = self.stamp;
                members.push(i);
            }
        }
        for e in absorbed {
            self.alive_element[e as usize] = false;
            for i in std::mem::take(&mut self.members[e as usize]) {
                if self.weight[i as usize] > 0 && self.mark[i as usize] != self.stamp {
                    self.mark[i as usize] = self.stamp;
                    members.push(i);
                }
            }
        }
        for i in &members {
            self.remove(*i);
        }
        members
    }

    /// For each element met by the members: how much of it lies outside the new element.
    fn count_outside(&mut self, members: &[u32]) {
        let stamp = self.stamp;
        for i in members {
            let weight = self.weight[*i as usize];
            for e in &self.elements[*i as usize] {
                let e = *e as usize;
                if !self.alive_element[e] {
                    continue;
                }
                if self.outside_stamp[e] != stamp {
                    self.outside_stamp[e] = stamp;
                    self.outside[e] = self.members[e].iter().map(|m| self.weight[*m as usize]).sum();
                }
                self.outside[e] -= weight.min(self.outside[e]);
            }
        }
    }

    /// New adjacency and degree bound of a member. False when it was eliminated together with the pivot.
    fn update_variable(&mut self, variable: u32, pivot: u32, member_weight: u32) -> bool {
        let i = variable as usize;
        let stamp = self.stamp;
        let mut elements = std::mem::take(&mut self.elements[i]);
        let mut beyond = 0;
        elements.retain(|e| {
            let e = *e as usize;
            // An element inside the new one says nothing more (aggressive absorption).
            let keep = self.alive_element[e] && self.outside[e] > 0;
            if self.alive_element[e] && !keep {
                self.alive_element[e] = false;
                self.members[e] = Vec::new();
            }
            if keep {
                beyond += self.outside[e];
            }
            keep
        });
        let mut variables = std::mem::take(&mut self.variables[i]);
        variables.retain(|j| self.weight[*j as usize] > 0 && self.mark[*j as usize] != stamp);
        let own = self.weight[i];
        if elements.is_empty() && variables.is_empty() {
            self.weight[i] = 0;
            self.eliminated += own as usize;
            self.emit(variable);
            return false;
        }
        let direct: u32 = variables.iter().map(|j| self.weight[*j as usize]).sum();
        let rest = member_weight - own;
        let left = (self.n - self.eliminated) as u32;
        self.degree[i] = (self.degree[i] + rest).min(direct + rest + beyond).min(left.saturating_sub(own));
        elements.push(pivot);
        self.elements[i] = elements;
        self.variables[i] = variables;
        true
    }

    /// Members with equal neighbourhoods become one variable.
    fn merge_indistinguishable(&mut self, live: &mut [u32]) {
        let hash = |graph: &Self, i: u32| -> u64 {
            let sum = |list: &[u32]| {
                list.iter().map(|v| u64::from(*v).wrapping_mul(0x9e37_79b9_7f4a_7c15)).fold(0, u64::wrapping_add)
            };
            sum(&graph.variables[i as usize]).wrapping_add(sum(&graph.elements[i as usize]).rotate_left(17))
        };
        let mut keyed: Vec<(u64, u32)> = live.iter().map(|i| (hash(self, *i), *i)).collect();
        keyed.sort_unstable();
        let mut start = 0;
        while start < keyed.len() {
            let mut end = start + 1;
            while end < keyed.len() && keyed[end].0 == keyed[start].0 {
                end += 1;
            }
            for a in start..end {
                let i = keyed[a].1;
                if self.weight[i as usize] == 0 || end - a < 2 {
                    continue;
                }
                self.mark_neighbourhood(i);
                for (_, j) in &keyed[a + 1..end] {
                    if self.weight[*j as usize] > 0 && self.same_neighbourhood(i, *j) {
                        self.merge(i, *j);
                    }
                }
            }
            start = end;
        }
    }

    fn mark_neighbourhood(&mut self, i: u32) {
        self.stamp += 1;
        for v in self.variables[i as usize].iter().chain(&self.elements[i as usize]) {
            self.mark[*v as usize] = self.stamp;
        }
    }

    fn same_neighbourhood(&self, i: u32, j: u32) -> bool {
        let (i, j) = (i as usize, j as usize);
        self.variables[i].len() == self.variables[j].len()
            && self.elements[i].len() == self.elements[j].len()
            && self.variables[j].iter().chain(&self.elements[j]).all(|v| self.mark[*v as usize] == self.stamp)
    }

    fn merge(&mut self, into: u32, from: u32) {
        let (i, j) = (into as usize, from as usize);
        self.degree[i] = self.degree[i].saturating_sub(self.weight[j]);
        self.weight[i] += self.weight[j];
        self.weight[j] = 0;
        self.variables[j] = Vec::new();
        self.elements[j] = Vec::new();
        let last = self.last_merged[i] as usize;
        self.next_merged[last] = from;
        self.last_merged[i] = self.last_merged[j];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Entries of the Cholesky factor for an order, by plain symbolic elimination.
    fn fill(pattern: &Pattern, order: &[u32]) -> usize {
        let n = pattern.columns;
        let mut adjacency: Vec<std::collections::BTreeSet<u32>> =
            symmetric_neighbours(pattern).into_iter().map(|list| list.into_iter().collect()).collect();
        let mut total = 0;
        for p in order {
            let neighbours: Vec<u32> = adjacency[*p as usize].iter().copied().collect();
            total += neighbours.len();
            for a in &neighbours {
                adjacency[*a as usize].remove(p);
                adjacency[*a as usize].extend(neighbours.iter().copied().filter(|b| b != a));
            }
            adjacency[*p as usize].clear();
        }
        total + n
    }

    #[test]
    fn arrow_and_grid() {
        let n = 40;
        let arrow = Pattern::from_entries(n, n, (1..n).flat_map(|j| [(0, j), (j, 0), (j, j)]));
        let order = minimum_degree(&arrow);
        assert_eq!(fill(&arrow, &order), 2 * n - 1);
        let side = 20;
        let grid = (0..side * side).flat_map(|k| {
            let right = if k % side + 1 < side { k + 1 } else { k };
            let below = if k + side < side * side { k + side } else { k };
            [(k, right), (k, below)]
        });
        let grid = Pattern::from_entries(side * side, side * side, grid);
        let natural: Vec<u32> = (0..(side * side) as u32).collect();
        let (ordered, plain) = (fill(&grid, &minimum_degree(&grid)), fill(&grid, &natural));
        assert!(ordered < 3800 && plain > 7600, "{ordered} {plain}");
    }

    proptest! {
        #[test]
        fn is_a_permutation(entries in proptest::collection::vec((0usize..30, 0usize..30), 0..150)) {
            let pattern = Pattern::from_entries(30, 30, entries);
            let mut order = minimum_degree(&pattern);
            order.sort_unstable();
            prop_assert_eq!(order, (0..30).collect::<Vec<u32>>());
        }
    }
}
