//! Events that come faster and faster, as those of a ball that comes to rest, or that chatter.

use base::{Decimal, Diagnostic, IdVec};
use dae::{ExprId, Model, Origin};
use rustc_hash::FxHashMap;
use solve::roots::Crossing;

use crate::machine::Trouble;

/// Watches for crossings that come faster and faster, as those of a ball that comes to rest, or that chatter.
#[derive(Clone, Default)]
pub struct RecentEvents {
    /// By crossing function and direction.
    rhythms: FxHashMap<(usize, i8), Rhythm>,
}

/// Events in a row each of which came sooner after its predecessor than that one, from which an accumulation shows.
const SHRINKING: usize = 8;

/// A gap of less than this part of the one before shrinks quickly, and so many of them are enough.
const QUICK: f64 = 0.7;
const QUICKLY: usize = 5;
/// Gaps that shrink, where excursions become too small for modes to see: what is less than this part of the largest is zero there.
const UNSEEN: usize = 2;
const LOST: f64 = 2e-9;
/// By which factor at most two ratios of neighbouring gaps differ there: those of one body are the same, but for what bands add.
const ALIKE: f64 = 4.0;
/// What bounces with less restitution than this is lost before there are three gaps.
const LEAST_RATIO: f64 = 0.03;

/// Excursions between events, relative to the largest ever, that are soon below rounding. As long as they are larger, the
/// model may have a condition that ends them.
const FAINT: f64 = 1e-12;
/// The same of gaps, relative to the time.
const SHORT: f64 = 16.0 * f64::EPSILON;

#[derive(Clone, Copy)]
struct Rhythm {
    last: f64,
    gap: f64,
    /// Events in a row each of which came clearly sooner after its predecessor than that one.
    shrinking: usize,
    /// Gaps in a row, of any size, that shrank quickly.
    quick: usize,
    /// Gaps in a row that shrank before the last one: one that ends at the far edge of a band is too long.
    shrinking_before: usize,
    /// How far the function went since the last of these events.
    excursion: f64,
    /// The same between the two events before.
    excursion_before: f64,
    /// All gaps so far.
    gaps: usize,
    /// By which part of themselves the last gaps shrank, in a ring.
    parts: [f64; SHRINKING],
    /// Events in a row that the time can hardly tell apart, and those of which a run would have tens of millions.
    chattering: u32,
    crowding: u32,
}

impl Rhythm {
    const FIRST: Self = Self {
        last: f64::NEG_INFINITY,
        gap: f64::INFINITY,
        shrinking: 0,
        quick: 0,
        shrinking_before: 0,
        excursion: f64::INFINITY,
        excursion_before: f64::INFINITY,
        gaps: 0,
        parts: [0.0; SHRINKING],
        chattering: 0,
        crowding: 0,
    };

    /// Whether the gaps go to zero in a time that is finite. Those of a ball that comes to rest shrink by the same part each
    /// time. Those of bodies that collide very often, but not for ever, shrink by less and less before they grow again.
    fn accumulates(&self, excursion: f64, is_in_modes: bool) -> bool {
        const STEADY: f64 = 0.97;
        let part = |back: usize| self.parts[(self.gaps + SHRINKING - back) % SHRINKING];
        let is_steady = |count: usize| part(0) > STEADY * part(count - 1);
        if self.gap < SHORT * self.last.abs() && self.shrinking >= SHRINKING {
            return true;
        }
        let shrinks =
            self.quick >= QUICKLY && is_steady(QUICKLY) || self.shrinking >= SHRINKING && is_steady(SHRINKING);
        // What comes nearer by squares, as a lag that is set back to its limit while its input falls to it, is over after a few
        // more: each gap is a smaller part of the one before. The first gap has none before it to be compared with.
        let is_over_soon = 1.0 - part(0) < 0.1 * (1.0 - part(QUICKLY - 2));
        let is_unseen = is_in_modes
            && (self.shrinking >= UNSEEN && self.next_is_lost(excursion, part(0), part(1))
                || self.shrinking_before >= UNSEEN && self.next_is_lost(excursion, part(1), part(2)));
        (shrinks && excursion < FAINT || is_unseen) && !is_over_soon
    }

    /// Whether the excursion after the next one is too small to be seen, given by which parts two gaps in a row shrank. A body that
    /// bounces shortens both alike, and heights fall with the squares of gaps. A diode that opens twice at the end of a period leaves
    /// short gaps too, but those shrink by chance.
    fn next_is_lost(&self, excursion: f64, part: f64, part_before: f64) -> bool {
        let (ratio, before) = (1.0 - part, 1.0 - part_before);
        excursion * ratio.powi(4) < LOST
            && ratio > LEAST_RATIO
            && ratio < ALIKE * before
            && before < ALIKE * ratio
            && excursion < ALIKE * ALIKE * ratio * ratio * self.excursion_before
    }
}

impl RecentEvents {
    /// Takes note of how far functions went since the last event, relative to how far they ever went. Each event counts,
    /// whatever triggers it: what returns crosses in both directions, and what is set at an event of another function does not
    /// cross at all on its way back.
    pub fn note_excursions(&mut self, excursion: impl Fn(usize) -> f64) {
        for (&(function, _), rhythm) in &mut self.rhythms {
            rhythm.excursion = rhythm.excursion.max(excursion(function));
        }
    }

    /// Takes note of a crossing, after `note_excursions`; an accumulation point or chattering is trouble.
    pub fn note(&mut self, crossing: &Crossing, time: f64, span: f64, is_in_modes: bool) -> Option<RestlessEvents> {
        let rhythm = self.rhythms.entry((crossing.function, crossing.to)).or_insert(Rhythm::FIRST);
        let excursion = std::mem::take(&mut rhythm.excursion);
        let gap = time - rhythm.last;
        let shrinks = gap < 0.98 * rhythm.gap;
        rhythm.shrinking_before = rhythm.shrinking;
        rhythm.quick = if gap < QUICK * rhythm.gap { rhythm.quick + 1 } else { 0 };
        rhythm.gaps += 1;
        let chatters = gap < 1e-9 * span;
        rhythm.shrinking = if shrinks { rhythm.shrinking + 1 } else { 0 };
        rhythm.parts[rhythm.gaps % SHRINKING] = 1.0 - gap / rhythm.gap;
        rhythm.chattering = if chatters { rhythm.chattering + 1 } else { 0 };
        rhythm.crowding = if gap < 1e-7 * span { rhythm.crowding + 1 } else { 0 };
        (rhythm.last, rhythm.gap) = (time, gap);
        let accumulates = rhythm.accumulates(excursion, is_in_modes);
        rhythm.excursion_before = excursion;
        if accumulates {
            Some(RestlessEvents::Accumulate { gap })
        } else if rhythm.chattering >= 500 || rhythm.crowding >= 5000 {
            Some(RestlessEvents::Chatter { gap })
        } else {
            None
        }
    }
}

pub enum RestlessEvents {
    Accumulate {
        gap: f64,
    },
    Chatter {
        gap: f64,
    },
    /// A rounding of time changes about as often as there are times.
    Crowd {
        gap: f64,
    },
}

impl RestlessEvents {
    pub fn trouble(&self, time: f64, model: &Model, relation: ExprId) -> Trouble {
        let time = Decimal(time);
        let expression = model.expression_text(relation);
        let rate = |gap: f64| format!("every {gap:.1e} s, {:.1e} times a second", 1.0 / gap);
        let diagnostic = match self {
            RestlessEvents::Accumulate { gap } => Diagnostic::error(
                "event-accumulation",
                format!("events accumulate at time {time}: {expression} changes ever faster, now {}", rate(*gap)),
            )
            .hint("the model comes to rest through infinitely many events; add a condition that ends it"),
            RestlessEvents::Chatter { gap } => Diagnostic::error(
                "chattering",
                format!("{expression} chatters at time {time}: it changes {}", rate(*gap)),
            )
            .hint("each branch drives the condition back to the other; add hysteresis, or noEvent where the value is continuous"),
            RestlessEvents::Crowd { gap } => Diagnostic::error(
                "event-accumulation",
                format!("at time {time} {expression} changes {}, so that the run would never end", rate(*gap)),
            )
            .hint("each change is an event; round a smaller number, or write noEvent around it"),
        };
        Trouble::Model(Box::new(placed(diagnostic.names_time(), model, relation)))
    }
}

/// The diagnostic with the place of the first equation or action that an expression is part of.
pub fn placed(mut diagnostic: Diagnostic, model: &Model, expression: ExprId) -> Diagnostic {
    if let Some(origin) = origin(model, expression) {
        if let Some(span) = origin.span {
            diagnostic = diagnostic.at(span, "in this equation");
        }
        let component = model.paths.text(origin.component);
        if !component.is_empty() {
            diagnostic = diagnostic.in_component(component);
        }
    }
    diagnostic
}

/// Where the first equation or action stands that the relation is part of.
fn origin(model: &Model, relation: ExprId) -> Option<&Origin> {
    let mut holds: IdVec<ExprId, bool> = IdVec::with_capacity(model.exprs.len());
    for id in model.exprs.ids() {
        let mut found = id == relation;
        model.exprs.for_each_child(id, |child| found |= holds.get(child).copied().unwrap_or(false));
        holds.push(found);
    }
    let is_part = |expression: ExprId| holds.get(expression).copied().unwrap_or(false);
    let equations = model.equations.values().filter(|equation| is_part(equation.left) || is_part(equation.right));
    let actions = model.actions.iter().filter(|action| action.condition.is_some_and(is_part));
    equations.map(|equation| &equation.origin).chain(actions.map(|action| &action.origin)).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of the event at which gaps count as an accumulation. What flies is as high as the square of the gap.
    fn accumulation(gaps: impl Iterator<Item = f64>) -> Option<usize> {
        let mut recent = RecentEvents::default();
        let (mut time, mut largest) = (0.0, 0.0_f64);
        gaps.enumerate().find_map(|(number, gap)| {
            time += gap;
            largest = largest.max(gap * gap);
            let crossing = Crossing { function: 0, from: 1, to: -1 };
            recent.note_excursions(|_| gap * gap / largest);
            recent.note(&crossing, time, 20.0, false).map(|_| number)
        })
    }

    /// Gaps that shrink by squares are those of an end.
    #[test]
    fn what_comes_nearer_by_squares_ends() {
        let gaps = std::iter::successors(Some(0.5_f64), |gap| Some(0.9 * gap * gap));
        assert_eq!(accumulation(gaps.take_while(|gap| *gap > 1e-15)), None);
    }

    /// A function goes far and is set back by events of another one; it then leaves zero at once.
    #[test]
    fn what_is_set_back_from_afar_does_not_accumulate() {
        let mut recent = RecentEvents::default();
        let (mut time, mut gap) = (0.0, 1.0);
        for _ in 0..100 {
            recent.note_excursions(|_| gap);
            recent.note_excursions(|_| 1e-14);
            let crossing = Crossing { function: 0, from: 0, to: 1 };
            assert!(recent.note(&crossing, time, 1e6, false).is_none());
            time += gap;
            gap *= 0.9;
        }
    }

    /// Gaps of a diode: half a period, then what rounding adds where it begins to conduct.
    #[test]
    fn a_second_thought_at_the_end_of_a_period_is_no_accumulation() {
        let mut recent = RecentEvents::default();
        let mut time = 0.0;
        for (gap, excursion) in [(3e-3, 1.0), (3e-3, 1.0), (3e-3, 1.0), (1.6e-6, 1e-8), (5e-7, 1e-8), (3e-3, 1.0)] {
            time += gap;
            recent.note_excursions(|_| excursion);
            let crossing = Crossing { function: 0, from: -1, to: 1 };
            assert!(recent.note(&crossing, time, 1.0, true).is_none(), "at {time}");
        }
    }

    #[test]
    fn a_ball_comes_to_rest_and_collisions_that_are_many_go_on() {
        for restitution in [0.1f64, 0.5, 0.8, 0.95] {
            let ball = (0..2000).map(|k| restitution.powi(k));
            // Not as long as a condition may end it, nor below the rounding of the height.
            let seen = accumulation(ball).map(|number| restitution.powi(2 * number as i32));
            assert!(seen.is_some_and(|height| height < FAINT && height > 1e-15), "{restitution}: {seen:?}");
        }
        // The course of a billiard ball in a wedge of the angle 0.001, straightened: collisions are equal angles apart.
        let angle = |k: i32| (f64::from(k) * 0.001 - 1.5696).tan();
        let wedge = (0..3138).map(|k| 1e-3 * (angle(k + 1) - angle(k)));
        assert_eq!(accumulation(wedge), None);
    }
}
