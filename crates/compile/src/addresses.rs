//! Gives out the addresses of all that has a fixed place in memory.

use dae::{ArgsId, ExprId};
use rustc_hash::FxHashMap;

use crate::code::Address;

/// What an address is given to, besides variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlotOwner {
    Pre(Address),
    Previous(Address),
    /// The kind and the operands.
    Relation(u8, ExprId, ExprId),
    Sample(ExprId),
    Delay(ExprId),
    Transport(ArgsId),
    Action(usize),
    InitialAction(usize),
}

/// The addresses of variables and of what else has a fixed place.
#[derive(Default)]
pub struct Addresses {
    known: FxHashMap<SlotOwner, Address>,
    /// Where variables end, with room to spare, and others begin.
    variables: Address,
    next: Address,
    /// Where others end, with room to spare.
    others: Address,
    /// Programs to come will need more room.
    pub common: bool,
}

impl Addresses {
    /// For more than one program.
    pub fn common() -> Self {
        Self { common: true, ..Self::default() }
    }

    /// Begins the layout of a program whose variables end here; whether all is where it was before.
    pub fn begin(&mut self, variables: Address) -> bool {
        let fits = variables <= self.variables;
        if !fits {
            self.known.clear();
            self.variables = self.enlarged(variables);
            (self.next, self.others) = (self.variables, self.variables);
        }
        fits
    }

    pub fn of(&mut self, owner: SlotOwner, count: u32) -> Address {
        let next = &mut self.next;
        *self.known.entry(owner).or_insert_with(|| {
            let start = *next;
            *next += count;
            start
        })
    }

    /// Where the tangents begin and end.
    pub fn tangents(&mut self) -> (Address, Address) {
        if self.next > self.others {
            self.others = self.enlarged(self.next);
        }
        (self.others, self.others + self.variables)
    }

    pub fn enlarged(&self, needed: u32) -> u32 {
        if self.common { needed + needed / 8 + 16 } else { needed }
    }
}
