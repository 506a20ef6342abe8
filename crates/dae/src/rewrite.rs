//! Rewriting of expressions from the leaves up, without recursion, each shared part once; and what an expression depends
//! on.

use std::num::NonZeroU32;

use base::Id;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::{ExprId, Exprs, Node};
use crate::model::VarId;

/// Old expression to new; keep it from call to call as long as the rule is the same.
///
/// Neighbours share a page, so that passes over large models stay in the cache.
#[derive(Clone, Default)]
pub struct Memo {
    /// Where the page of expressions begins in `entries`.
    pages: FxHashMap<u32, u32>,
    entries: Vec<Option<NonZeroU32>>,
}

const PAGE: usize = 64;

impl Memo {
    /// What an expression was replaced by.
    pub fn get(&self, id: ExprId) -> Option<ExprId> {
        let &start = self.pages.get(&((id.index() / PAGE) as u32))?;
        let entry = self.entries[start as usize + id.index() % PAGE]?;
        Some(ExprId::from_index(entry.get() as usize - 1))
    }

    /// An expression is replaced by another one.
    pub fn insert(&mut self, id: ExprId, new: ExprId) {
        let start = *self.pages.entry((id.index() / PAGE) as u32).or_insert_with(|| {
            let start = self.entries.len();
            self.entries.resize(start + PAGE, None);
            start as u32
        });
        self.entries[start as usize + id.index() % PAGE] = NonZeroU32::new(new.index() as u32 + 1);
    }

    /// Forgets all replacements.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.entries.clear();
    }
}

/// What the value of expressions depends on; each list in the order of first occurrence.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Dependencies {
    /// Variables that are read.
    pub variables: Vec<VarId>,
    /// Variables whose derivatives are read.
    pub derivatives: Vec<VarId>,
    /// Variables whose left limits are read.
    pub pre: Vec<VarId>,
    /// Clocked variables whose previous values are read.
    pub previous: Vec<VarId>,
    /// Whether time is read.
    pub time: bool,
    /// There is a call of a function in it.
    pub calls: bool,
}

impl Exprs {
    /// Rewrites `roots` bottom-up. `rule` gets the old id and its node over the new operands; `Exprs::make` of that node
    /// is what to return where nothing is to change.
    pub fn rewrite(
        &mut self,
        roots: &[ExprId],
        memo: &mut Memo,
        mut rule: impl FnMut(&mut Exprs, ExprId, Node) -> ExprId,
    ) -> Vec<ExprId> {
        let mut stack: Vec<(ExprId, bool)> = Vec::new();
        for &root in roots {
            stack.push((root, false));
            while let Some((id, operands_done)) = stack.pop() {
                if memo.get(id).is_some() {
                    continue;
                }
                if !operands_done {
                    let position = stack.len();
                    stack.push((id, true));
                    self.for_each_child(id, |child| {
                        if memo.get(child).is_none() {
                            stack.push((child, false));
                        }
                    });
                    if stack.len() > position + 1 {
                        continue;
                    }
                    stack.pop();
                }
                let old = self.node(id);
                let node = self.with_children(old, |child| memo.get(child).unwrap_or(child));
                let new = rule(self, id, node);
                memo.insert(id, new);
            }
        }
        roots.iter().map(|root| memo.get(*root).unwrap_or(*root)).collect()
    }

    /// Replaces variables by expressions (and not again inside those). `Der`, `Pre` and `Previous` stay.
    pub fn substitute(
        &mut self,
        roots: &[ExprId],
        memo: &mut Memo,
        replacement: impl Fn(VarId) -> Option<ExprId>,
    ) -> Vec<ExprId> {
        self.rewrite(roots, memo, |exprs, id, node| match node {
            Node::Var(variable) => replacement(variable).unwrap_or(id),
            node => exprs.make(node),
        })
    }

    /// What expressions depend on.
    pub fn dependencies(&self, roots: &[ExprId]) -> Dependencies {
        let mut found = Dependencies::default();
        for id in self.postorder(roots) {
            match self.node(id) {
                Node::Var(variable) => found.variables.push(variable),
                Node::Der(variable) => found.derivatives.push(variable),
                Node::Pre(variable) => found.pre.push(variable),
                Node::Previous(variable) => found.previous.push(variable),
                Node::Time => found.time = true,
                Node::Call { .. } => found.calls = true,
                _ => {}
            }
        }
        found
    }

    /// Whether `part` (usually a leaf) occurs in `expr`.
    pub fn contains(&self, expr: ExprId, part: ExprId) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack = vec![expr];
        while let Some(id) = stack.pop() {
            if id == part {
                return true;
            }
            // Operands are older than what they are in.
            if id > part && seen.insert(id) {
                self.for_each_child(id, |child| stack.push(child));
            }
        }
        false
    }

    /// Whether any node of `expr` satisfies `test`.
    pub fn any(&self, expr: ExprId, test: impl Fn(Node) -> bool) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack = vec![expr];
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            if test(self.node(id)) {
                return true;
            }
            self.for_each_child(id, |child| stack.push(child));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use base::Id;

    use super::*;

    #[test]
    fn substitution_simplifies_on_the_way() {
        let mut e = Exprs::new();
        let (x, y) = (VarId::from_index(0), VarId::from_index(1));
        let (ex, ey, two) = (e.var(x), e.var(y), e.int(2));
        let product = e.mul(ex, ey);
        let sum = e.add(product, two);
        let new = e.substitute(&[sum], &mut Memo::default(), |v| (v == y).then_some(two));
        let doubled = e.mul(two, ex);
        assert_eq!(new, vec![e.add(doubled, two)]);
    }

    #[test]
    fn deep_expressions_need_no_stack() {
        let mut e = Exprs::new();
        let x = e.var(VarId::from_index(0));
        let mut root = x;
        for _ in 0..200_000 {
            let sine = e.builtin(crate::Builtin::Sin, &[root]);
            root = e.add(sine, x);
        }
        let one = e.real(1.0);
        let new = e.substitute(&[root], &mut Memo::default(), |_| Some(one));
        assert!(e.as_real(new[0]).is_some());
        assert_eq!(e.dependencies(&[root]).variables, vec![VarId::from_index(0)]);
        assert!(e.contains(root, x));
    }
}
