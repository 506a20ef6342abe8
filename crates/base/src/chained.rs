//! An index of things made in turn, each near to something made before it: a node near to its newest operand, a
//! component near to what it is in.
//!
//! A hash table sends each lookup to another page of memory, and in a model of a million equations waiting for memory is
//! most of its cost. But what is looked up belongs mostly to what was made last. So things are chained to what they are
//! near to, in tables that are in the order of making. Things that are near to nothing, and those that do not fit a short
//! chain (the thousands of nodes over one operand), are hashed.

use hashbrown::HashTable;

const END: u32 = u32::MAX;
/// Longer chains cost more than a lookup in a hash table.
const LONGEST: usize = 8;

/// Numbers of things; the things themselves are the caller's, who says which are equal.
#[derive(Clone, Debug, Default)]
pub struct ChainedIndex {
    /// The first of the chain of each place.
    first: Vec<u32>,
    /// The next in its chain, for each thing.
    next: Vec<u32>,
    hashed: HashTable<u32>,
}

impl ChainedIndex {
    /// The thing near to `place` that is the `same`.
    pub fn find(
        &self,
        place: Option<usize>,
        hash: impl FnOnce() -> u64,
        same: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        match self.walk(place, &same) {
            Walk::Found(thing) => Some(thing),
            Walk::Room => None,
            Walk::Full => self.hashed.find(hash(), |&thing| same(thing as usize)).map(|&thing| thing as usize),
        }
    }

    /// Takes up the next thing, which `find` does not know; things are numbered from zero.
    pub fn push(&mut self, place: Option<usize>, hash: impl Fn(usize) -> u64) {
        let thing = self.next.len() as u32;
        self.next.push(END);
        match place {
            Some(place) if !matches!(self.walk(Some(place), &|_| false), Walk::Full) => {
                if self.first.len() <= place {
                    self.first.resize(place + 1, END);
                }
                self.next[thing as usize] = std::mem::replace(&mut self.first[place], thing);
            }
            _ => {
                self.hashed.insert_unique(hash(thing as usize), thing, |&thing| hash(thing as usize));
            }
        }
    }

    fn walk(&self, place: Option<usize>, same: &impl Fn(usize) -> bool) -> Walk {
        let Some(place) = place else { return Walk::Full };
        let mut thing = self.first.get(place).copied().unwrap_or(END);
        for _ in 0..LONGEST {
            if thing == END {
                return Walk::Room;
            }
            if same(thing as usize) {
                return Walk::Found(thing as usize);
            }
            thing = self.next[thing as usize];
        }
        Walk::Full
    }
}

enum Walk {
    Found(usize),
    /// Not in the chain, which has room.
    Room,
    /// Not in the chain, which is full: perhaps in the hash table.
    Full,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a list that is searched through; few places, so that chains overflow.
        #[test]
        fn finds_what_was_pushed(things in prop::collection::vec((prop::option::of(0_usize..6), 0_u64..40), 0..300)) {
            let mut index = ChainedIndex::default();
            let mut known: Vec<(Option<usize>, u64)> = Vec::new();
            for thing in things {
                let same = |number: usize| known[number] == thing;
                let found = index.find(thing.0, || thing.1, same);
                prop_assert_eq!(found, known.iter().position(|&other| other == thing));
                if found.is_none() {
                    known.push(thing);
                    index.push(thing.0, |number| known[number].1);
                }
            }
        }
    }
}
