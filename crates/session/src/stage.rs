//! The stages of the way from text to trajectory, and the time each took.

use std::time::Instant;

use serde::ser::{Serialize, SerializeMap, Serializer};

/// In the order in which they are gone through; a run that fails names the one in which it stopped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// Reading and parsing texts.
    Parse,
    /// Making the instances of classes and components.
    Instantiate,
    /// Making equations.
    Flatten,
    /// Sorting equations.
    Structure,
    /// Making code.
    Codegen,
    /// Solving the initial problem.
    Initialise,
    /// Going on in time.
    Integrate,
    /// Writing results; no run stops in it, its failures belong to `Integrate`.
    Write,
    /// All of it.
    Done,
}

impl Stage {
    /// The name in summaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Instantiate => "instantiate",
            Self::Flatten => "flatten",
            Self::Structure => "structure",
            Self::Codegen => "codegen",
            Self::Initialise => "initialise",
            Self::Integrate => "integrate",
            Self::Write => "write",
            Self::Done => "done",
        }
    }
}

impl Serialize for Stage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Wall-clock seconds by stage, in the order in which the stages first took time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Seconds(Vec<(Stage, f64)>);

impl Seconds {
    /// Adds time spent in a stage.
    pub fn add(&mut self, stage: Stage, seconds: f64) {
        match self.0.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, sum)) => *sum += seconds,
            None => self.0.push((stage, seconds)),
        }
    }

    /// Does something and counts its time.
    pub fn time<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let done = work();
        self.add(stage, begin.elapsed().as_secs_f64());
        done
    }

    /// The stages that took time.
    pub fn iter(&self) -> impl Iterator<Item = (Stage, f64)> + '_ {
        self.0.iter().copied()
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (stage, seconds) in &self.0 {
            // Microseconds are as fine as it gets meaningful.
            map.serialize_entry(stage.name(), &((seconds * 1e6).round() / 1e6))?;
        }
        map.end()
    }
}
