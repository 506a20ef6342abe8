//! Versions of libraries: numbers with points, then perhaps `-beta.1` for one that is not released yet, or `+maint` for one that was
//! changed afterwards (semantic versions, but with any count of numbers).

use std::cmp::Ordering;

/// A version as it was written, which compares by its numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Version {
    text: String,
}

impl Version {
    /// Of its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Without what stands behind `+`.
    fn core(&self) -> &str {
        self.text.split('+').next().unwrap_or(&self.text)
    }

    /// The numbers, without zeros at the end: 4.0 and 4.0.0 are the same.
    fn numbers(&self) -> Vec<u64> {
        let released = self.core().split('-').next().unwrap_or("");
        let mut numbers: Vec<u64> = released.split('.').map_while(|part| part.trim().parse().ok()).collect();
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        numbers
    }

    /// Whether it is not released yet.
    pub fn is_early(&self) -> bool {
        self.core().contains('-')
    }

    /// Whether it is the version asked for: 4.0 is 4.0.0 and 4.0.0+maint.
    pub fn is(&self, asked: &Version) -> bool {
        self.text == asked.text || self.numbers() == asked.numbers() && self.is_early() == asked.is_early()
    }

    /// Whether its numbers begin with those asked for: 3.1.2 for 3.1.
    pub fn begins_with(&self, asked: &Version) -> bool {
        let asked: Vec<&str> = asked.core().split('.').collect();
        let own: Vec<&str> = self.core().split(['.', '-']).collect();
        !asked.iter().any(|part| part.is_empty()) && own.starts_with(&asked)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_numbers = self.numbers().cmp(&other.numbers());
        by_numbers.then(other.is_early().cmp(&self.is_early())).then_with(|| self.text.cmp(&other.text))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_their_numbers() {
        let version = Version::new;
        assert!(version("1.10.0") > version("1.9"));
        assert!(version("4.0.0") > version("4.0.0-beta.1"));
        assert!(version("4.0.0-beta.1") > version("3.2.3"));
        assert!(version("4.0").is(&version("4.0.0+maint.om")));
        assert!(!version("4.0.0-beta").is(&version("4.0.0")));
        assert!(version("3.1.2").begins_with(&version("3.1")));
        assert!(!version("3.10.2").begins_with(&version("3.1")));
        assert!(!version("3.1.2").begins_with(&version("")));
    }
}
