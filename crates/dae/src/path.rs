//! Component paths such as `motor.R[2].p.v`, kept as a tree: a path is its parent, a name and subscripts.
//!
//! A model of a million scalars shares its prefixes instead of holding a million long strings.

use std::fmt::Write as _;
use std::hash::BuildHasher;

use base::{ChainedIndex, Id, IdVec, Name};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

base::id_type!(
    /// A component path. `Paths::ROOT` is the model itself.
    pub PathId, "path"
);

type Subscripts = SmallVec<[u32; 2]>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Segment {
    parent: Option<PathId>,
    name: Name,
    subscripts: Subscripts,
}

/// All paths of a model, each once.
#[derive(Clone, Debug)]
pub struct Paths {
    segments: IdVec<PathId, Segment>,
    /// Of all but the root; near to the parent.
    index: ChainedIndex,
}

impl Default for Paths {
    fn default() -> Self {
        let root = Segment { parent: None, name: Name::new(""), subscripts: Subscripts::new() };
        Self { segments: IdVec::from(vec![root]), index: ChainedIndex::default() }
    }
}

impl Paths {
    /// The model itself.
    pub fn root(&self) -> PathId {
        base::Id::from_index(0)
    }

    /// `parent.name[subscripts]`; subscripts count from 1.
    pub fn child(&mut self, parent: PathId, name: Name, subscripts: &[u32]) -> PathId {
        if let Some(known) = self.find_child(parent, name, subscripts) {
            return known;
        }
        let id = self.segments.push(Segment { parent: Some(parent), name, subscripts: subscripts.into() });
        let segments = &self.segments;
        self.index
            .push(Some(parent.index()), |number| FxBuildHasher.hash_one(&segments[PathId::from_index(number + 1)]));
        id
    }

    /// The path if it exists already.
    pub fn find_child(&self, parent: PathId, name: Name, subscripts: &[u32]) -> Option<PathId> {
        let segment = Segment { parent: Some(parent), name, subscripts: subscripts.into() };
        let same = |number| self.segments[PathId::from_index(number + 1)] == segment;
        let found = self.index.find(Some(parent.index()), || FxBuildHasher.hash_one(&segment), same)?;
        Some(PathId::from_index(found + 1))
    }

    /// The path that is written so, as `a.x` or `a[2,1].x`, of names without quotes.
    pub fn find(&self, text: &str) -> Option<PathId> {
        text.split('.').try_fold(self.root(), |parent, part| {
            let (name, subscripts) = match part.split_once('[') {
                None => (part, Vec::new()),
                Some((name, rest)) => {
                    let numbers = rest.strip_suffix(']')?.split(',').map(|number| number.trim().parse().ok());
                    (name, numbers.collect::<Option<Vec<u32>>>()?)
                }
            };
            self.find_child(parent, Name::new(name), &subscripts)
        })
    }

    /// `None` for the root.
    pub fn parent(&self, path: PathId) -> Option<PathId> {
        self.segments[path].parent
    }

    /// The last name of a path.
    pub fn name(&self, path: PathId) -> Name {
        self.segments[path].name
    }

    /// The subscripts of the last name.
    pub fn subscripts(&self, path: PathId) -> &[u32] {
        &self.segments[path].subscripts
    }

    /// How many paths there are.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there are no paths.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The full dotted text, as in result files: `R1.p.v`, `x[2]`, `A[1,2].p.i`.
    pub fn text(&self, path: PathId) -> String {
        let mut chain: SmallVec<[PathId; 8]> = SmallVec::new();
        let mut current = Some(path);
        while let Some(id) = current {
            current = self.segments[id].parent;
            if current.is_some() {
                chain.push(id);
            }
        }
        let mut out = String::new();
        for (position, &id) in chain.iter().rev().enumerate() {
            let segment = &self.segments[id];
            if position > 0 {
                out.push('.');
            }
            out.push_str(segment.name.as_str());
            for (k, subscript) in segment.subscripts.iter().enumerate() {
                let _ = write!(out, "{}{subscript}", if k == 0 { '[' } else { ',' });
            }
            if !segment.subscripts.is_empty() {
                out.push(']');
            }
        }
        out
    }
}
