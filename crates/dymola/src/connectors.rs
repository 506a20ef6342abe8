//! Cuts to Modelica connectors.
//!
//! Cuts of one form whose variables have names of the same stem (`Va`, `Vb`: `V`) share a connector, and so do cuts that are
//! connected. A Modelica connector has as many potentials as flow variables: only pairs are in it. Across variables without a
//! partner become equations of the model that connects.
//!
//! The name of a connector tells its variables, so that connectors of one name in several files are equal.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::classes::{Classes, Content, CutId};
use crate::connections::{Joined, Point};
use crate::kinds::{Kind, Kinds};

pub struct Connector {
    pub name: String,
    pub across: Vec<(String, Kind)>,
    pub through: Vec<String>,
    /// The first cut that has it.
    pub cut: CutId,
}

pub struct Connectors {
    pub connectors: Vec<Connector>,
    /// For every cut: its connector, if it has pairs.
    of: Vec<Option<usize>>,
}

/// Names that people know, for one pair of variables.
const KNOWN: [(&str, &str, &str); 6] = [
    ("V", "i", "Pin"),
    ("p", "f", "Flange"),
    ("phi", "tau", "Shaft"),
    ("T", "Q", "HeatPort"),
    ("p", "q", "FluidPort"),
    ("e", "f", "BondPort"),
];

impl Connectors {
    pub fn new(classes: &Classes, joined: &[Joined], kinds: &Kinds) -> Self {
        let mut groups = Groups { parents: (0..classes.cuts.len()).collect() };
        let mut by_stems: FxHashMap<(Vec<String>, usize, usize), CutId> = FxHashMap::default();
        for cut in 0..classes.cuts.len() {
            if let Content::Variables(slots) = &classes.cuts[cut].content {
                let names = stems(classes, cut);
                let key = (names, slots.across.len(), slots.through.len());
                let first = *by_stems.entry(key).or_insert(cut);
                groups.unite(first, cut);
            }
        }
        for joined in joined {
            for join in joined.statements.iter().flatten() {
                let cut = |point: &Point| match point {
                    Point::Cut { cut, .. } => Some(*cut),
                    Point::Node { node, part } => joined.nodes.get(node)?.get(*part).copied(),
                    Point::Foreign(_) => None,
                };
                if let (Some(left), Some(right)) = (cut(&join.left), cut(&join.right)) {
                    groups.unite(left, right);
                }
            }
        }
        let mut made = Self { connectors: Vec::new(), of: vec![None; classes.cuts.len()] };
        let taken: FxHashSet<&str> = classes.classes.iter().map(|class| class.model.name.name.as_str()).collect();
        for cut in 0..classes.cuts.len() {
            let first = groups.root(cut);
            made.of[cut] = match first == cut {
                true => made.make(classes, kinds, cut, &taken),
                false => made.of[first],
            };
        }
        made
    }

    pub fn of(&self, cut: CutId) -> Option<&Connector> {
        self.of[cut].map(|index| &self.connectors[index])
    }

    fn make(&mut self, classes: &Classes, kinds: &Kinds, cut: CutId, taken: &FxHashSet<&str>) -> Option<usize> {
        let slots = classes.slots(cut);
        let pairs = slots.pairs();
        if pairs == 0 {
            return None;
        }
        let mut names = stems(classes, cut);
        let through_names = names.split_off(slots.across.len());
        let across: Vec<(String, Kind)> = names
            .into_iter()
            .zip(&slots.across)
            .take(pairs)
            .map(|(name, slot)| (name, kinds.kinds[slot.variable]))
            .collect();
        let through: Vec<String> = through_names.into_iter().take(pairs).collect();
        let same = |other: &Connector| other.across == across && other.through == through;
        if let Some(known) = self.connectors.iter().position(same) {
            return Some(known);
        }
        let mut name = connector_name(&across, &through);
        if taken.contains(name.as_str()) {
            name = long_name(&across, &through);
        }
        while taken.contains(name.as_str()) {
            name.push('_');
        }
        self.connectors.push(Connector { name, across, through, cut });
        Some(self.connectors.len() - 1)
    }
}

fn connector_name(across: &[(String, Kind)], through: &[String]) -> String {
    if let ([(across, Kind::Real)], [through]) = (across, through)
        && let Some((.., name)) = KNOWN.iter().find(|(one, other, _)| one == across && other == through)
    {
        return (*name).to_owned();
    }
    long_name(across, through)
}

fn long_name(across: &[(String, Kind)], through: &[String]) -> String {
    let across = across.iter().map(|(name, kind)| match kind {
        Kind::Real => name.clone(),
        Kind::Boolean => format!("{name}_Boolean"),
        Kind::Integer => format!("{name}_Integer"),
    });
    let names: Vec<String> = across.chain(through.iter().cloned()).collect();
    format!("Cut_{}", names.join("_"))
}

/// The names of the variables of a cut in its connector: across, then through.
fn stems(classes: &Classes, cut: CutId) -> Vec<String> {
    let slots = classes.slots(cut);
    let variables = slots.across.iter().chain(&slots.through).map(|slot| classes.variables[slot.variable].name.name);
    let full: Vec<&str> = variables.map(|name| name.as_str()).collect();
    let stems: Vec<String> = full.iter().map(|name| stem(name).to_owned()).collect();
    let distinct: FxHashSet<&String> = stems.iter().collect();
    match distinct.len() == stems.len() {
        true => stems,
        false => full
            .iter()
            .enumerate()
            .map(|(index, name)| match full[..index].contains(name) {
                // One variable twice in a cut.
                true => format!("{name}_{}", index + 1),
                false => (*name).to_owned(),
            })
            .collect(),
    }
}

/// The name without what tells the ends of an object apart: `Va`, `v2`, `p_b`.
fn stem(name: &str) -> &str {
    let shorter = name.trim_end_matches(|last: char| last.is_ascii_digit());
    let shorter = match shorter.strip_suffix(['a', 'b']) {
        Some(rest) if shorter.len() == name.len() && (rest.chars().count() == 1 || rest.ends_with('_')) => rest,
        _ => shorter,
    };
    let shorter = shorter.trim_end_matches('_');
    if shorter.is_empty() { name } else { shorter }
}

/// Disjoint sets; the least member stands for its set.
struct Groups {
    parents: Vec<CutId>,
}

impl Groups {
    fn root(&mut self, mut cut: CutId) -> CutId {
        while self.parents[cut] != cut {
            self.parents[cut] = self.parents[self.parents[cut]];
            cut = self.parents[cut];
        }
        cut
    }

    fn unite(&mut self, one: CutId, other: CutId) {
        let (one, other) = (self.root(one), self.root(other));
        self.parents[one.max(other)] = one.min(other);
    }
}
