//! Events whose time is known in advance: the instants of `sample` and the crossings of relations that depend on
//! time alone, the jumps of inputs, and the arrival of jumps that `delay` held back.
//!
//! The n-th instant of a sample is start + n·interval, never a sum of intervals, so that nothing accumulates. Start and
//! interval are meant as the fractions that they are rounded from: the third instant of `sample(0, 0.1)` is 0.3, and not
//! the next larger number. Instants that rounding alone separates are one event.

use std::collections::VecDeque;

use base::{Decimal, Diagnostic};
use compile::{Memory, Program, RelationId};

use crate::machine::{Machine, Trouble};
use crate::places::with_place;

/// Every sample needs a start and a positive interval, once these are computed.
pub fn check_samples(program: &Program, memory: &Memory) -> Result<(), Trouble> {
    for sample in &program.layout.samples {
        let start = memory.values[sample.start_value as usize];
        let interval = memory.values[sample.interval_value as usize];
        if start.is_finite() && interval.is_finite() && interval > 0.0 {
            continue;
        }
        let model = program.model();
        let (text, what) = match start.is_finite() {
            true => (sample.interval, format!("the interval {}, which must be positive", Decimal(interval))),
            false => (sample.start, format!("the start {}", Decimal(start))),
        };
        let message = format!("`{}` has {what}", model.expression_text(sample.expression));
        let hint = format!("give `{}` another value", model.expression_text(text));
        let diagnostic = Diagnostic::error("sample-interval", message).hint(hint).specification("3.7.5");
        let diagnostic = with_place(model, sample.expression, "sampled here", diagnostic);
        return Err(Trouble::Model(Box::new(diagnostic)));
    }
    Ok(())
}

/// Two times this close to each other, relative to their size, are one instant.
const SAME_INSTANT: f64 = 10.0 * f64::EPSILON;

/// Whether rounding alone separates two times.
pub fn same_instant(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= SAME_INSTANT * a.abs().min(b.abs()) + 10.0 * f64::MIN_POSITIVE
}

/// Times up to this one belong to the instant or lie before it.
pub fn end_of_instant(time: f64) -> f64 {
    time + SAME_INSTANT * time.abs() / (1.0 + SAME_INSTANT) + 10.0 * f64::MIN_POSITIVE
}

#[derive(Clone, Copy, Debug)]
struct Ticker {
    start: f64,
    interval: f64,
    /// Start, interval and denominator in whole numbers.
    fractions: Option<[f64; 3]>,
    /// The number of the next instant.
    next: u64,
}

impl Ticker {
    fn new(start: f64, interval: f64) -> Self {
        let fractions = match (fraction(start), fraction(interval)) {
            (Some((first, parts)), Some((step, others))) => Some([first * others, step * parts, parts * others]),
            _ => None,
        };
        Self { start, interval, fractions, next: 0 }
    }

    fn time(&self) -> f64 {
        /// Whole numbers up to this one are exact.
        const EXACT: f64 = 9e15;
        if let Some([start, interval, denominator]) = self.fractions {
            let instant = start + self.next as f64 * interval;
            if instant.abs() <= EXACT && start.abs() <= EXACT {
                return instant / denominator;
            }
        }
        self.start + self.next as f64 * self.interval
    }
}

/// The fraction of small whole numbers that a number is rounded from. Below this size of the denominator no two have the
/// same rounding, and hardly any number is one by chance.
fn fraction(value: f64) -> Option<(f64, f64)> {
    const LARGEST_NUMERATOR: f64 = 1e9;
    const LARGEST_DENOMINATOR: f64 = 1e6;
    let size = value.abs();
    let (mut before, mut last, mut rest) = ((0.0, 1.0), (1.0, 0.0), size);
    loop {
        // The next convergent of the continued fraction.
        let whole = rest.floor();
        let next = (whole * last.0 + before.0, whole * last.1 + before.1);
        let is_small = next.0 <= LARGEST_NUMERATOR && next.1 <= LARGEST_DENOMINATOR;
        if !is_small {
            return None;
        }
        if next.0 / next.1 == size {
            return Some((next.0.copysign(value), next.1));
        }
        (before, last, rest) = (last, next, 1.0 / (rest - whole));
    }
}

/// A jump or a kink of a delayed expression that will have passed its delay.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    time: f64,
    /// The value jumps, not only its slope.
    jumps: bool,
    /// How often it came back through a delay already.
    times: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Clockwork {
    tickers: Vec<Option<Ticker>>,
    /// What `next` found; it changes at events only.
    known: Option<Known>,
    instants: Vec<f64>,
    /// The instant at which relations that were zero have been left behind, and how often that was tried.
    left: Option<(f64, u32)>,
    /// What arrives through delays, in order.
    arrivals: VecDeque<Arrival>,
    /// What arrived at the instant at hand.
    arrived: Option<u32>,
    delayed: Vec<f64>,
    /// The length of the run, which says what is short near time zero.
    span: f64,
    /// The end of the run: nothing comes after it.
    stop: f64,
    crowd: FrequentRoundings,
}

/// The next instants that are known in advance: of what ticks, jumps or arrives, and of relations.
#[derive(Clone, Copy, Debug)]
struct Known {
    sample: f64,
    relation: Crossing,
}

/// When relations on time alone change next.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    first: f64,
    /// The last change that rounding alone separates from the first. The event is there: at any earlier time `time >= t` would count
    /// as true while `time` is less than `t`, and what computes its next instant from `time` would wait for the same one for ever.
    last: f64,
}

impl Crossing {
    const NONE: Self = Self { first: f64::INFINITY, last: f64::INFINITY };

    /// The instant of the event in a run that ends at `stop`.
    fn before(self, stop: f64) -> f64 {
        if self.first > stop { f64::INFINITY } else { self.last.min(stop) }
    }
}

/// Roundings of time that change about as often as there are times.
#[derive(Clone, Copy, Debug, Default)]
struct FrequentRoundings {
    /// When one changed last, and how many did in a row.
    last: f64,
    count: u32,
    relation: Option<RelationId>,
    gap: f64,
}

impl Clockwork {
    /// Reads start and interval of every sample from memory; instants before `time` are over.
    pub fn new(program: &Program, memory: &Memory, time: f64, stop: f64) -> Self {
        let ticker = |sample: &compile::Sample| {
            let start = memory.values[sample.start_value as usize];
            let interval = memory.values[sample.interval_value as usize];
            if !start.is_finite() || !interval.is_finite() || interval <= 0.0 {
                return None;
            }
            let mut ticker = Ticker::new(start, interval);
            if start < time {
                ticker.next = ((time - start) / interval).floor().max(0.0) as u64;
                while ticker.time() < time && !same_instant(ticker.time(), time) {
                    ticker.next += 1;
                }
            }
            Some(ticker)
        };
        Self {
            tickers: program.layout.samples.iter().map(ticker).collect(),
            known: None,
            instants: vec![f64::INFINITY; program.time_relations.len()],
            left: None,
            arrivals: VecDeque::new(),
            arrived: None,
            delayed: Vec::new(),
            span: stop - time,
            stop,
            crowd: FrequentRoundings::default(),
        }
    }

    /// The instants of samples up to this time are over.
    pub fn skip(&mut self, time: f64) {
        for ticker in self.tickers.iter_mut().flatten() {
            while ticker.time() <= time || same_instant(ticker.time(), time) {
                ticker.next += 1;
            }
        }
    }

    /// The same clockwork for another structure of the model, whose samples may stand in another order.
    pub fn in_program(&self, program: &Program, memory: &Memory) -> Self {
        let ticker = |sample: &compile::Sample| {
            let start = memory.values[sample.start_value as usize];
            let interval = memory.values[sample.interval_value as usize];
            let same = |known: &&Ticker| same_instant(known.start, start) && same_instant(known.interval, interval);
            self.tickers.iter().flatten().find(same).copied()
        };
        Self {
            tickers: program.layout.samples.iter().map(ticker).collect(),
            known: None,
            instants: vec![f64::INFINITY; program.time_relations.len()],
            left: self.left,
            span: self.span,
            stop: self.stop,
            crowd: FrequentRoundings::default(),
            arrivals: self.arrivals.clone(),
            arrived: self.arrived,
            delayed: self.delayed.clone(),
        }
    }

    /// An event may have changed what relations on time depend on.
    pub fn forget(&mut self) {
        self.known = None;
    }

    /// The next instant after `now` that is known in advance: the time, and whether a relation changes there. None is behind
    /// `stop`: what samples there by no more than a rounding error comes at it, and relations are as they are at it.
    pub fn next(&mut self, program: &Program, memory: &mut Memory, now: f64, stop: f64) -> (f64, bool) {
        let known = self.known.unwrap_or_else(|| {
            let arrival = self.arrivals.front().map_or(f64::INFINITY, |arrival| arrival.time);
            let jump = arrival.min(memory.driven.next_event());
            let sample = self.tickers.iter().flatten().map(Ticker::time).fold(jump, f64::min);
            Known { sample, relation: self.next_crossing(program, memory, now) }
        });
        self.known = Some(known);
        // The next call may have a later end.
        let sample = if same_instant(known.sample, stop) { known.sample.min(stop) } else { known.sample };
        let relation = known.relation.before(stop);
        if same_instant(sample, relation) {
            (sample.max(relation), true)
        } else {
            (sample.min(relation), relation < sample)
        }
    }

    /// The next time at which a relation on time alone changes: after now, or now for one that is zero and about to
    /// leave, or that crosses within the same instant. That is tried a few times an instant, each time a little later:
    /// a relation in a branch that is not evaluated never leaves.
    fn next_crossing(&mut self, program: &Program, memory: &mut Memory, now: f64) -> Crossing {
        const MOST_TRIES: u32 = 3;
        if self.instants.is_empty() {
            return Crossing::NONE;
        }
        // The integrator may have tried a later time, such as for the length of its first step.
        memory.set_time(now);
        program.time_events(memory, &mut self.instants);
        let at_zero = program.time_relations.iter().any(|&id| {
            let relation = &program.layout.relations[id];
            let compares = matches!(relation.kind, compile::RelationKind::Compare { .. });
            compares && memory.values[relation.state as usize] == 0.0
        });
        let tries = match self.left {
            Some((instant, tries)) if instant == now => tries,
            _ => 0,
        };
        let here = self.instants.iter().copied().filter(|&instant| same_instant(instant, now)).reduce(f64::max);
        if (here.is_some() && tries < MOST_TRIES) || (at_zero && tries == 0) {
            let last = here.map_or(now, |instant| instant.max(now));
            self.left = Some((last, tries + 1));
            return Crossing { first: now, last };
        }
        // The argument of a rounding may be too coarse to change within the instant; it does at the time that was found.
        let later = self.instants.iter().zip(&program.time_relations).filter(|&(&instant, &id)| {
            let rounds = matches!(program.layout.relations[id].kind, compile::RelationKind::Round { .. });
            if rounds { instant > now } else { !same_instant(instant, now) }
        });
        let first = later.clone().min_by(|a, b| a.0.total_cmp(b.0)).map(|(&instant, &id)| (instant, id));
        let next = first.map_or(Crossing::NONE, |(first, _)| {
            let together = later.map(|(&instant, _)| instant).filter(|&instant| same_instant(instant, first));
            Crossing { first, last: together.fold(first, f64::max) }
        });
        self.watch_crowd(program, now, first);
        next
    }

    fn watch_crowd(&mut self, program: &Program, now: f64, next: Option<(f64, RelationId)>) {
        /// Of the length of the run. In such steps no run comes to its end.
        const SHORT: f64 = 1e-13;
        let rounds = |id: RelationId| matches!(program.layout.relations[id].kind, compile::RelationKind::Round { .. });
        match next.filter(|&(_, id)| rounds(id)) {
            Some((instant, id)) if instant - now < SHORT * now.abs().max(self.span) => {
                let count = self.crowd.count + u32::from(now > self.crowd.last);
                self.crowd = FrequentRoundings { last: now, count, relation: Some(id), gap: instant - now };
            }
            _ => self.crowd = FrequentRoundings { last: now, ..FrequentRoundings::default() },
        }
    }

    /// A rounding that changes so often that the run would never end, and after how long.
    pub fn crowded(&self) -> Option<(RelationId, f64)> {
        const MOST: u32 = 2000;
        self.crowd.relation.filter(|_| self.crowd.count > MOST).map(|relation| (relation, self.crowd.gap))
    }

    /// A time within the instant at which relations that are zero at `time` have left zero; later with every try. The run
    /// does not go beyond its end.
    pub fn just_after(&self, time: f64) -> f64 {
        if same_instant(time, self.stop) {
            return time.max(self.stop);
        }
        let tries = self.left.filter(|&(instant, _)| instant == time).map_or(0, |(_, tries)| tries);
        let ulps = f64::from(1u32 << tries.min(3));
        time + ulps * f64::EPSILON * time.abs().max(self.span)
    }

    /// Raises the flags of the samples that are due at `time`; whether there are any.
    pub fn raise(&mut self, program: &Program, memory: &mut Memory, time: f64) -> bool {
        let mut due = false;
        self.known = None;
        self.arrived = None;
        // A jump that comes a rounding error later is not here yet: integration would go over it.
        let is_here = |arrival: &Arrival| arrival.time <= time || (!arrival.jumps && same_instant(arrival.time, time));
        while let Some(arrival) = self.arrivals.front().copied().filter(is_here) {
            self.arrivals.pop_front();
            self.arrived = Some(self.arrived.map_or(arrival.times, |other| other.min(arrival.times)));
        }
        for (ticker, sample) in self.tickers.iter_mut().zip(&program.layout.samples) {
            let Some(ticker) = ticker else { continue };
            if ticker.time() <= time || same_instant(ticker.time(), time) {
                memory.values[sample.flag as usize] = 1.0;
                ticker.next += 1;
                due = true;
            }
        }
        due
    }

    /// The values of delayed expressions just before an event.
    pub fn remember_delayed(&mut self, machine: &mut Machine) {
        let delays = &machine.program.layout.delays;
        self.delayed.clear();
        self.delayed.extend(delays.iter().map(|delay| machine.memory.values[delay.value as usize]));
        machine.program.pass_event(&mut machine.memory);
    }

    /// A delayed expression that jumped makes an event when the jump arrives. In a loop it comes back as a kink, then as one
    /// of the slope, and so on, which a few times are events too: no method steps over them accurately.
    pub fn note_jumps(&mut self, machine: &Machine) {
        const MOST_TIMES: u32 = 4;
        /// With more delays than this the arrivals multiply.
        const FEW_DELAYS: usize = 3;
        let delays = &machine.program.layout.delays;
        // An input that jumps or bends does so again behind the delay, however short a spike it is.
        let bends = machine.memory.driven.has_bent(machine.memory.time());
        let again = self.arrived.take().map(|times| times + 1);
        let again = again.filter(|&times| times <= MOST_TIMES && delays.len() <= FEW_DELAYS);
        for (k, delay) in delays.iter().enumerate() {
            let before = self.delayed.get(k).copied().unwrap_or(f64::NAN);
            let after = machine.memory.values[delay.value as usize];
            if (after - before).abs() > 1e-9 * (after.abs() + before.abs()) {
                self.expect(machine, k, true, 0);
            } else if bends {
                self.expect(machine, k, false, 0);
            } else if let Some(times) = again {
                self.expect(machine, k, false, times);
            }
        }
    }

    /// Delayed signals begin to move when the first delay is over.
    pub fn begin_delays(&mut self, machine: &Machine) {
        let delays = machine.program.layout.delays.iter().enumerate();
        delays.for_each(|(k, delay)| self.expect(machine, k, delay.rests, 0));
    }

    /// What rounding alone separates is expected once, but for jumps, which arrive exactly when they do.
    fn expect(&mut self, machine: &Machine, delay: usize, jumps: bool, times: u32) {
        let now = machine.memory.time();
        let time = now + machine.memory.values[machine.program.layout.delays[delay].time as usize];
        self.known = None;
        if time <= now || same_instant(time, now) {
            return;
        }
        let others = |other: &Arrival| same_instant(other.time, time);
        let mut place = self.arrivals.partition_point(|other| other.time < time);
        let neighbours = [place.checked_sub(1), Some(place)];
        let has_others = neighbours.into_iter().flatten().any(|near| self.arrivals.get(near).is_some_and(others));
        if has_others && !jumps {
            return;
        }
        if has_others {
            self.arrivals.retain(|other| other.jumps || !others(other));
            place = self.arrivals.partition_point(|other| other.time < time);
        }
        if self.arrivals.get(place).is_none_or(|other| other.time != time) {
            self.arrivals.insert(place, Arrival { time, jumps, times });
        }
    }

    pub fn lower(program: &Program, memory: &mut Memory) {
        for sample in &program.layout.samples {
            memory.values[sample.flag as usize] = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_those_of_the_fractions() {
        for (start, interval, numerator, denominator) in [
            (0.0, 0.1, 1, 10),
            (0.0, 0.3, 3, 10),
            (0.0, 1.0 / 3.0, 1, 3),
            (0.0, 0.007, 7, 1000),
            (0.0, 1e-6, 1, 1_000_000),
        ] {
            let mut ticker = Ticker::new(start, interval);
            for number in 0..10_000_u32 {
                ticker.next = u64::from(number);
                assert_eq!(ticker.time(), f64::from(number * numerator) / f64::from(denominator));
            }
        }
        let shifted = Ticker { next: 2, ..Ticker::new(-0.1, 0.2) };
        assert_eq!(shifted.time(), 0.3);
    }

    #[test]
    fn other_numbers_are_no_fractions() {
        for value in [std::f64::consts::PI, 1e-7, 1e12, f64::MIN_POSITIVE, f64::MAX] {
            assert_eq!(fraction(value), None);
        }
        let ticker = Ticker { next: 3, ..Ticker::new(0.5, std::f64::consts::PI) };
        assert_eq!(ticker.time(), 0.5 + 3.0 * std::f64::consts::PI);
    }
}
