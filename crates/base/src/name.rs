//! Interned strings: a `Name` is a `u32`, equal exactly when the texts are equal.
//!
//! One table for the whole process; texts live as long as it does. A Modelica library has some ten thousand distinct
//! identifiers, so nothing is ever removed.

use std::fmt;
use std::sync::{LazyLock, RwLock};

use rustc_hash::FxHashMap;

/// An interned identifier or text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

#[derive(Default)]
struct Table {
    ids: FxHashMap<&'static str, u32>,
    texts: Vec<&'static str>,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);

impl Name {
    /// Interns a text.
    pub fn new(text: &str) -> Self {
        if let Some(&id) = read().ids.get(text) {
            return Self(id);
        }
        let mut table = TABLE.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&id) = table.ids.get(text) {
            return Self(id);
        }
        let id = table.texts.len() as u32;
        let text: &'static str = Box::leak(text.into());
        table.texts.push(text);
        table.ids.insert(text, id);
        Self(id)
    }

    /// The text.
    pub fn as_str(self) -> &'static str {
        read().texts[self.0 as usize]
    }
}

fn read() -> std::sync::RwLockReadGuard<'static, Table> {
    TABLE.read().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_name() {
        assert_eq!(Name::new("R1"), Name::new("R1"));
        assert_ne!(Name::new("R1"), Name::new("R2"));
        assert_eq!(Name::new("R1").as_str(), "R1");
    }
}
