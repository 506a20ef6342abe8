//! Which mode comes next: candidates are tried until one confirms itself.
//!
//! The first candidate is what the relations say that made the event. Each trial solves the restart from the values on the
//! left and evaluates all relations as right limits; these make the next candidate. After a cycle or a mode that has no
//! solution the conditions involved are gone through systematically. None or several modes that confirm themselves are
//! errors that list them.

use rustc_hash::FxHashMap;
use transform::modes::Key;

/// Modes tried at one instant before it is given up.
const MOST_TRIALS: usize = 3000;
/// The same at the start of a run, where there is another way to go on.
const MOST_AT_START: usize = 150;
/// Conditions that are combined in all ways.
const MOST_COMBINED: usize = 10;

/// What came of a candidate.
#[derive(Clone, PartialEq, Debug)]
pub enum Trial {
    /// The mode calls for itself; whether values jump on entering it.
    Confirmed { jumps: bool },
    /// It calls for another one.
    Calls(Key),
    /// It has no solution, for this reason.
    Fails(String),
}

/// Why no mode was found.
#[derive(Clone, PartialEq, Debug)]
pub enum NoMode {
    /// All that were tried, with what came of each.
    None(Vec<(Key, Trial)>),
    Several(Vec<Key>),
}

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preference {
    /// The first mode that confirms itself.
    First,
    /// One in which nothing jumps, if there is one: a run begins without a jump.
    Continuous,
}

/// Goes through candidates, `first` first. `same` tells whether two confirmed modes give the same values.
pub fn search<E>(
    first: Key,
    preference: Preference,
    attempt: impl FnMut(&Key) -> Result<Trial, E>,
    mut same: impl FnMut(&Key, &Key) -> Result<bool, E>,
) -> Result<Result<Key, NoMode>, E> {
    let count = first.len();
    let mut search = Search { attempt, tried: Vec::new(), known: FxHashMap::default(), confirmed: Vec::new() };
    let seeds = match preference {
        Preference::First => vec![first.clone()],
        Preference::Continuous => vec![first.clone(), vec![true; count], vec![false; count]],
    };
    for seed in seeds {
        search.follow(seed)?;
        if let Some(found) = search.good_enough(preference) {
            return Ok(Ok(found));
        }
    }
    let combined = if search.confirmed.is_empty() { involved(&search.tried, count) } else { Vec::new() };
    for conditions in [combined, (0..count).collect()] {
        for key in neighbours(&first, &conditions) {
            let most = if preference == Preference::First { MOST_TRIALS } else { MOST_AT_START };
            if search.tried.len() >= most {
                break;
            }
            search.examine(key)?;
            if preference == Preference::Continuous
                && let Some(found) = search.good_enough(preference)
            {
                return Ok(Ok(found));
            }
        }
        if !search.confirmed.is_empty() {
            break;
        }
    }
    let Search { tried, mut confirmed, .. } = search;
    // What goes on without a jump is what happens.
    if confirmed.iter().any(|(_, jumps)| !jumps) {
        confirmed.retain(|(_, jumps)| !jumps);
    }
    let Some((best, _)) = confirmed.first().cloned() else { return Ok(Err(NoMode::None(tried))) };
    let mut different = vec![best.clone()];
    for (other, _) in &confirmed[1..] {
        if !same(&best, other)? {
            different.push(other.clone());
        }
    }
    Ok(if different.len() > 1 { Err(NoMode::Several(different)) } else { Ok(best) })
}

struct Search<F> {
    attempt: F,
    tried: Vec<(Key, Trial)>,
    known: FxHashMap<Key, usize>,
    /// Modes that confirm themselves, and whether they are entered with a jump.
    confirmed: Vec<(Key, bool)>,
}

impl<F, E> Search<F>
where
    F: FnMut(&Key) -> Result<Trial, E>,
{
    /// Tries a mode unless that was done before; the one it calls for, if any.
    fn examine(&mut self, key: Key) -> Result<Option<Key>, E> {
        if self.known.contains_key(&key) {
            return Ok(None);
        }
        let trial = (self.attempt)(&key)?;
        self.known.insert(key.clone(), self.tried.len());
        self.tried.push((key.clone(), trial.clone()));
        match trial {
            Trial::Confirmed { jumps } => {
                self.confirmed.push((key, jumps));
                Ok(None)
            }
            Trial::Calls(next) => Ok(Some(next)),
            Trial::Fails(_) => Ok(None),
        }
    }

    /// Tries a mode, the one it calls for, and so on.
    fn follow(&mut self, key: Key) -> Result<(), E> {
        let mut next = Some(key);
        while let Some(key) = next {
            next = self.examine(key)?;
        }
        Ok(())
    }

    fn good_enough(&self, preference: Preference) -> Option<Key> {
        let good = |(_, jumps): &&(Key, bool)| preference == Preference::First || !jumps;
        self.confirmed.iter().find(good).map(|(key, _)| key.clone())
    }
}

/// The conditions in which the trials differ; all of them where a mode had no solution at once.
fn involved(tried: &[(Key, Trial)], count: usize) -> Vec<usize> {
    let keys: Vec<&Key> = tried
        .iter()
        .flat_map(|(key, trial)| {
            let next = if let Trial::Calls(next) = trial { Some(next) } else { None };
            std::iter::once(key).chain(next)
        })
        .collect();
    let differs = |&k: &usize| keys.windows(2).any(|pair| pair[0].get(k) != pair[1].get(k));
    (0..count).filter(differs).collect()
}

/// Modes that differ from `first` in some of the conditions, those with few differences first.
fn neighbours(first: &Key, conditions: &[usize]) -> Vec<Key> {
    let flipped = |places: &[usize]| {
        let mut key = first.clone();
        places.iter().for_each(|&k| key[k] = !key[k]);
        key
    };
    if conditions.len() <= MOST_COMBINED {
        let mut subsets: Vec<usize> = (1..1usize << conditions.len()).collect();
        subsets.sort_by_key(|subset| subset.count_ones());
        let places = |subset: usize| -> Vec<usize> {
            (0..conditions.len()).filter(|k| subset >> k & 1 == 1).map(|k| conditions[k]).collect()
        };
        return subsets.into_iter().map(|subset| flipped(&places(subset))).collect();
    }
    let mut keys: Vec<Key> = conditions.iter().map(|&k| flipped(&[k])).collect();
    for (place, &a) in conditions.iter().enumerate() {
        keys.extend(conditions[place + 1..].iter().map(|&b| flipped(&[a, b])));
    }
    for (place, &a) in conditions.iter().enumerate() {
        for (next, &b) in conditions.iter().enumerate().skip(place + 1) {
            keys.extend(conditions[next + 1..].iter().map(|&c| flipped(&[a, b, c])));
            if keys.len() > MOST_TRIALS {
                return keys;
            }
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    type Outcome = Result<Key, NoMode>;

    fn run(first: &[bool], rule: impl Fn(&Key) -> Trial) -> (Outcome, usize) {
        let mut count = 0;
        let found: Result<Outcome, ()> = search(
            first.to_vec(),
            Preference::First,
            |key| {
                count += 1;
                Ok(rule(key))
            },
            |_, _| Ok(false),
        );
        (found.unwrap_or(Err(NoMode::None(Vec::new()))), count)
    }

    #[test]
    fn candidates_lead_to_the_mode_that_confirms_itself() {
        let goal = vec![true, true, false];
        let rule = |key: &Key| match key == &goal {
            true => Trial::Confirmed { jumps: true },
            false => Trial::Calls(goal.clone()),
        };
        assert_eq!(run(&[false, false, false], rule), (Ok(goal.clone()), 2));
    }

    #[test]
    fn a_cycle_is_left_by_trying_what_is_involved() {
        let rule = |key: &Key| match key[..] {
            [true, false, false] => Trial::Calls(vec![false, true, false]),
            [false, true, false] => Trial::Calls(vec![true, false, false]),
            [true, true, false] => Trial::Confirmed { jumps: false },
            _ => Trial::Fails("no solution".into()),
        };
        assert_eq!(run(&[true, false, false], rule), (Ok(vec![true, true, false]), 4));
    }

    #[test]
    fn several_modes_and_none_are_errors() {
        let several = |key: &Key| match key[..] {
            [false, false] => Trial::Fails("no solution".into()),
            [true, true] => Trial::Fails("no solution".into()),
            _ => Trial::Confirmed { jumps: true },
        };
        let expected = NoMode::Several(vec![vec![true, false], vec![false, true]]);
        assert_eq!(run(&[false, false], several).0, Err(expected));
        let none = |_: &Key| Trial::Fails("no solution".into());
        assert!(matches!(run(&[false, false], none).0, Err(NoMode::None(tried)) if tried.len() == 4));
    }
}
