//! Connections. Pairs of across and through variables are in connectors, which `connect` joins; across variables without a
//! partner are equal by equations, through variables without one are summed up.

use rustc_hash::FxHashMap;

use super::*;
use crate::connections::{Join, Point};

/// A cut of a submodel or of the model itself.
type Place = (Option<Name>, CutId);

/// Which points are connected so far.
#[derive(Default)]
pub struct Sets {
    ids: FxHashMap<Key, usize>,
    parents: Vec<usize>,
    /// Of every root: the cuts that are connected.
    places: Vec<Vec<Place>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Cut(Option<Name>, CutId),
    Node(Name, usize),
}

impl Sets {
    fn root(&mut self, point: &Point) -> Option<usize> {
        let key = match point {
            Point::Cut { owner, cut } => Key::Cut(*owner, *cut),
            Point::Node { node, part } => Key::Node(*node, *part),
            Point::Foreign(_) => return None,
        };
        let next = self.parents.len();
        let mut id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.parents.push(id);
            let place = match key {
                Key::Cut(owner, cut) => vec![(owner, cut)],
                Key::Node(..) => Vec::new(),
            };
            self.places.push(place);
        }
        while self.parents[id] != id {
            self.parents[id] = self.parents[self.parents[id]];
            id = self.parents[id];
        }
        Some(id)
    }

    /// One cut of each of both sets, if they were not connected.
    fn unite(&mut self, left_point: &Point, right_point: &Point) -> Option<(Place, Place)> {
        let (left, right) = (self.root(left_point)?, self.root(right_point)?);
        if left == right {
            return None;
        }
        let place = |point: &Point, known: Option<&Place>| match point {
            Point::Cut { owner, cut } => Some((*owner, *cut)),
            _ => known.copied(),
        };
        let left_place = place(left_point, self.places[left].last());
        let right_place = place(right_point, self.places[right].first());
        let pair = left_place.zip(right_place);
        let moved = std::mem::take(&mut self.places[right]);
        self.places[left].extend(moved);
        self.parents[right] = left;
        pair
    }

    fn has(&self, place: Place) -> bool {
        self.ids.contains_key(&Key::Cut(place.0, place.1))
    }
}

impl<'a> Writer<'a, '_> {
    /// Nodes are connectors of the model; a node of a cut of cuts has one for each.
    pub(super) fn nodes(&mut self, nodes: &[Ident]) {
        let (joined, connectors) = (self.joined, self.connectors);
        let mut before: Option<&Connector> = None;
        for node in nodes {
            if self.classes.classes[self.class].nodes.get(&node.name) != Some(&node.span) {
                continue;
            }
            let Some(cuts) = joined[self.class].nodes.get(&node.name) else {
                let message = format!("the node `{}` is connected with nothing", node.name);
                self.diagnostics.push(
                    Diagnostic::warning("unused-node", message)
                        .at(node.span, "")
                        .hint("remove it, or connect something: `connect a at n`")
                        .note(language::see("Nodes")),
                );
                continue;
            };
            for (part, cut) in cuts.iter().enumerate() {
                if let Some(connector) = connectors.of(*cut) {
                    let name = self.node_name(node.name, part);
                    self.component(&mut before, connector, node.span, &name);
                }
            }
        }
        if before.is_some() {
            self.end_line();
        }
    }

    fn node_name(&self, node: Name, part: usize) -> String {
        let cuts = self.joined[self.class].nodes.get(&node).map_or(&[][..], |cuts| cuts);
        match cuts {
            [_] | [] => modelica_name(node.as_str()),
            _ => {
                let cut = cuts.get(part).map_or("", |&cut| self.classes.cuts[cut].name.name.as_str());
                modelica_name(&format!("{node}_{cut}"))
            }
        }
    }

    /// The connector that stands for a point.
    fn point(&self, point: &Point) -> Option<String> {
        match point {
            Point::Cut { owner, cut } => {
                self.connectors.of(*cut)?;
                let name = self.cut_name(*cut);
                Some(match owner {
                    Some(owner) => format!("{}.{name}", modelica_name(owner.as_str())),
                    None => name,
                })
            }
            Point::Node { node, part } => {
                let cut = *self.joined[self.class].nodes.get(node)?.get(*part)?;
                self.connectors.of(cut)?;
                Some(self.node_name(*node, *part))
            }
            Point::Foreign(reference) => {
                let parts: Vec<String> = reference.parts.iter().map(|part| modelica_name(part.name.as_str())).collect();
                Some(parts.join("."))
            }
        }
    }

    pub(super) fn join(&mut self, join: &Join, sets: &mut Sets) {
        if let (Some(left), Some(right)) = (self.point(&join.left), self.point(&join.right)) {
            self.begin_line();
            self.write_for(join.span, &format!("connect({left}, {right})"));
            self.end_line();
        }
        let Some((left, right)) = sets.unite(&join.left, &join.right) else { return };
        let (left_slots, right_slots) = (self.classes.slots(left.1), self.classes.slots(right.1));
        let pairs = left_slots.across.iter().zip(&right_slots.across).skip(left_slots.pairs());
        for (left_slot, right_slot) in pairs {
            let (left, right) = (self.slot_text(left.0, *left_slot), self.slot_text(right.0, *right_slot));
            self.begin_line();
            self.write_for(join.span, &format!("{left} = {right}"));
            self.end_line();
        }
    }

    fn slot_text(&self, owner: Option<Name>, slot: SlotOf) -> String {
        let variable = modelica_name(self.classes.variables[slot.variable].name.name.as_str());
        let sign = if slot.negative { "-" } else { "" };
        match owner {
            Some(owner) => format!("{sign}{}.{variable}", modelica_name(owner.as_str())),
            None => format!("{sign}{variable}"),
        }
    }

    /// Through variables without an across variable: their sum over a connection is zero, also where nothing is connected.
    pub(super) fn balance_through(&mut self, sets: &Sets) {
        let mut all: Vec<Vec<Place>> = sets.places.clone();
        let class = &self.classes.classes[self.class];
        for item in &class.model.items {
            let ItemKind::Submodels { submodels, .. } = &item.kind else { continue };
            for submodel in submodels {
                let Some(Some(of)) = class.submodels.get(&submodel.name.name).copied() else { continue };
                let mut cuts: Vec<CutId> = self
                    .classes
                    .lineage(of)
                    .iter()
                    .flat_map(|&above| self.classes.classes[above].cuts.values())
                    .copied()
                    .collect();
                cuts.sort_unstable();
                let places = cuts.into_iter().map(|cut| (Some(submodel.name.name), cut));
                all.extend(places.filter(|place| !sets.has(*place)).map(|place| vec![place]));
            }
        }
        for places in all {
            let Some(first) = places.first() else { continue };
            let slots = self.classes.slots(first.1);
            for index in slots.pairs()..slots.through.len() {
                let mut text = String::new();
                for (owner, cut) in &places {
                    let Some(slot) = self.classes.slots(*cut).through.get(index).copied() else { continue };
                    // What flows into the model comes from outside.
                    let negative = slot.negative != owner.is_none();
                    let sign = match (text.is_empty(), negative) {
                        (true, false) => "",
                        (true, true) => "-",
                        (false, false) => " + ",
                        (false, true) => " - ",
                    };
                    text.push_str(sign);
                    text.push_str(&self.slot_text(*owner, SlotOf { negative: false, ..slot }));
                }
                self.begin_line();
                self.write_for(slots.through[index].span, &format!("{text} = 0"));
                self.end_line();
            }
        }
    }
}
