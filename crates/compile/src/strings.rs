//! Texts at run time: numbers stand for them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Texts, which the code knows by their number.
#[derive(Clone, Default, Debug)]
pub struct Strings {
    texts: Vec<Arc<str>>,
    index: FxHashMap<Arc<str>, u32>,
}

impl Strings {
    /// The number that stands for a text.
    pub fn intern(&mut self, text: &str) -> f64 {
        if let Some(&known) = self.index.get(text) {
            return known as f64;
        }
        let id = self.texts.len() as u32;
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        self.index.insert(text, id);
        id as f64
    }

    /// The text that a number stands for.
    pub fn get(&self, value: f64) -> Option<&Arc<str>> {
        (value >= 0.0).then(|| self.texts.get(value as usize))?
    }
}
