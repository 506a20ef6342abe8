//! What delays and transports remember of a step.
//!
//! The values between remembered points are interpolated, so the points must be as dense as the signal needs at the
//! tolerance, whatever the steps of the integrator are: a signal may depend on time alone. Points are taken one after the
//! other along the dense output of the step. A point is accepted when the polynomials of two degrees agree in the gap before
//! it; else a nearer one is tried. Gaps are no longer than the output interval, and a step that needs values of its own
//! inside is not much longer than the gaps.

use super::*;
use compile::History;
use solve::Step;

use super::retake::{RESOLUTION, SHORTEST};

/// How densely the histories are kept.
#[derive(Clone, Default)]
pub(super) struct Remembering {
    /// The time up to which everything is remembered.
    until: f64,
    /// The next gap to try.
    gap: f64,
    /// The smooth piece has no gap yet that is known to be short enough.
    fresh: bool,
    /// The beginning of a gap that was accepted unseen, as the first one of a smooth piece.
    unseen: Option<f64>,
    /// Gap and freshness at the beginning of the step.
    before: (f64, bool),
    /// The time just before a jump that a step took in: the next ones end there.
    arrival: Option<f64>,
    /// The times that delays asked for at the last point, and the positions of transports there: what jumps up to there has
    /// arrived.
    asked: Vec<f64>,
    passed: Vec<f64>,
    /// Positions of transports at the last point, and how far they moved in a second.
    positions: Vec<f64>,
    speed: f64,
}

/// Parts of the tolerance that a gap may add.
const SHARE: f64 = 0.5;
/// So many jumps without events are remembered of one step.
const MOST_JUMPS: u32 = 10_000;
/// A smooth piece has at least so many gaps.
const FIRST_GAPS: f64 = 3.0;
/// The first gap of a smooth piece, relative to the last one of the piece before.
const FIRST_GAP: f64 = 0.125;

impl Remembering {
    pub fn new(start: f64) -> Self {
        Self { until: start, fresh: true, ..Self::default() }
    }

    /// Steps from `time` end there.
    pub fn limit(&mut self, time: f64) -> f64 {
        self.arrival = self.arrival.filter(|&arrival| arrival > time);
        self.arrival.unwrap_or(f64::INFINITY)
    }

    /// A smooth piece begins.
    fn begin_piece(&mut self, time: f64) {
        (self.until, self.unseen, self.fresh) = (time, None, true);
        self.gap *= FIRST_GAP;
    }
}

/// The attempts to find one point.
struct Search {
    error: f64,
    gap: f64,
    /// How often a shorter gap was no better.
    in_vain: u32,
}

impl Search {
    const NONE: Search = Search { error: f64::INFINITY, gap: f64::INFINITY, in_vain: 0 };
}

impl Simulation {
    fn remembers_nothing(&self) -> bool {
        self.runtime.machine.memory.delays.is_empty()
    }

    /// At the first point.
    pub(super) fn begin_remembering(&mut self) -> Result<(), Stop> {
        self.note_asked();
        self.check_delays()
    }

    /// An event ends all smooth pieces.
    pub(super) fn remember_event(&mut self, time: f64) -> Result<(), Stop> {
        if self.remembers_nothing() {
            return Ok(());
        }
        self.program.record_delays(&mut self.runtime.machine.memory);
        self.program.end_pieces(&mut self.runtime.machine.memory);
        self.program.settle_histories(&mut self.runtime.machine.memory);
        self.remembering.begin_piece(time);
        self.note_asked();
        self.check_delays()
    }

    /// The longest step from `time` whose inside is known well enough to those who look a short time back.
    pub(super) fn reach(&mut self, time: f64) -> f64 {
        /// Gaps that one polynomial may span.
        const GAPS: f64 = 2.0;
        if self.remembers_nothing() {
            return f64::INFINITY;
        }
        let Machine { memory, program, .. } = &self.runtime.machine;
        let delays = program.layout.delays.iter().map(|delay| memory.values[delay.time as usize]);
        let passage = if self.remembering.speed > 0.0 { 1.0 / self.remembering.speed } else { f64::INFINITY };
        let shortest = delays.filter(|&delay| delay > 0.0).fold(passage, f64::min);
        if !shortest.is_finite() {
            return f64::INFINITY;
        }
        let gap = if self.remembering.gap > 0.0 { self.remembering.gap } else { self.options.interval };
        time + shortest.max(GAPS * gap)
    }

    /// Remembers the step from `from` to `to`; returns the time at which a jump arrives through a delay that varies, or leaves
    /// a transport, which ends it.
    pub(super) fn remember_step(&mut self, from: f64, to: f64) -> Result<Option<f64>, Stop> {
        if self.remembers_nothing() {
            return Ok(None);
        }
        self.remembering.before = (self.remembering.gap, self.remembering.fresh);
        self.remember_until(from, to)
    }

    /// Whether the step felt the jump that arrives inside of it: what it computed before the jump is wrong then. Taken again,
    /// it ends just before the jump; at its end it would feel it already.
    pub(super) fn takes_in(&mut self, step: &Step, arrival: f64) -> bool {
        /// The distance to the jump, relative to the step: the solution before the jump may move its arrival.
        const BEFORE: f64 = 1e-9;
        let distance = (BEFORE * (step.t_new - step.t_old)).max(RESOLUTION * arrival.abs());
        let is_long = arrival - step.t_old > (SHORTEST * self.options.interval).max(4.0 * distance);
        let fixed = self.options.solver.is_fixed_step();
        if fixed || !is_long {
            return false;
        }
        self.remembering.arrival = Some(arrival - distance);
        true
    }

    /// The last step is taken to `to` only: remembers that part of it anew, so that its last gap is known as well as others.
    /// Returns the time of an arrival as for a whole step: one that lies just before the flow of a transport turns shows only
    /// here.
    pub(super) fn remember_part(&mut self, from: f64, to: f64) -> Result<Option<f64>, Stop> {
        if self.remembers_nothing() {
            return Ok(None);
        }
        self.evaluate_on_step(from)?;
        self.program.settle_histories(&mut self.runtime.machine.memory);
        (self.remembering.gap, self.remembering.fresh) = self.remembering.before;
        self.remembering.unseen = None;
        self.note_asked();
        self.remember_until(from, to)
    }

    fn remember_until(&mut self, from: f64, to: f64) -> Result<Option<f64>, Stop> {
        let step = to - from;
        let shortest = (1e-7 * step).max(64.0 * f64::EPSILON * to.abs());
        let longest = self.options.interval.min(step);
        self.remembering.until = from;
        if self.remembering.gap <= 0.0 {
            self.remembering.gap = FIRST_GAP * longest;
        }
        let mut search = Search::NONE;
        let mut jumps = 0;
        while self.remembering.until < to {
            let base = self.remembering.until;
            // A step between two events may be no longer than rounding.
            let gap = self.remembering.gap.min(longest).max(shortest);
            // An event may end the piece with the step: so much of it must be seen.
            let fewest = if self.remembering.fresh { FIRST_GAPS } else { 1.0 };
            let parts = ((to - base) / gap * (1.0 - 1e-9)).ceil().max(fewest);
            let (gap, inside) =
                if parts <= 1.0 { (to - base, to) } else { ((to - base) / parts, base + (to - base) / parts) };
            if inside <= base {
                break;
            }
            self.evaluate_on_step(inside)?;
            self.check_remembered()?;
            if let Some(arrival) = self.arrival(base, inside)? {
                self.record_point(arrival)?;
                return Ok(Some(arrival));
            }
            match self.judge(gap, shortest, &mut search) {
                Verdict::Accepted => {
                    self.record_point(inside)?;
                    search = Search::NONE;
                }
                Verdict::Jump => {
                    let machine = &mut self.runtime.machine;
                    self.program.end_pieces(&mut machine.memory);
                    self.record_point(inside)?;
                    self.program.end_pieces(&mut self.runtime.machine.memory);
                    search = Search::NONE;
                    jumps += 1;
                    if jumps > MOST_JUMPS {
                        return Err(self.restless(from).into());
                    }
                }
                Verdict::Rejected => {}
            }
        }
        Ok(None)
    }

    /// What jumps again and again without events cannot be remembered.
    fn restless(&self, from: f64) -> Trouble {
        let Machine { program, memory, .. } = &self.runtime.machine;
        let (begin, now) = (Decimal(from), Decimal(memory.time()));
        let model = program.model();
        let delays = program.layout.delays.iter().map(|delay| delay.expression);
        let message = format!(
            "what is delayed or transported changes too fast to be remembered: it jumps more than {MOST_JUMPS} times \
             between time {begin} and {now}"
        );
        let hint = "a signal that no time resolves, such as a sine of a huge argument, cannot be delayed";
        let diagnostic = Diagnostic::error("restless-delay", message).names_time().hint(hint);
        // Which of several it is, the points do not tell.
        let diagnostic = match delays.collect::<Vec<_>>()[..] {
            [only] => crate::rhythm::placed(diagnostic, model, only),
            _ => diagnostic,
        };
        Trouble::Model(Box::new(diagnostic))
    }

    /// What is remembered has to be a number, now and not when it arrives.
    fn check_remembered(&mut self) -> Result<(), Stop> {
        let (program, machine) = (&self.program, &mut self.runtime.machine);
        let delays = program.layout.delays.iter().map(|delay| delay.value);
        let transports = &program.layout.transports;
        let transported =
            transports.iter().flat_map(|transport| transport.arguments..transport.arguments + transport.count);
        let undefined = delays.chain(transported).find(|&address| !machine.memory.values[address as usize].is_finite());
        let Some(address) = undefined else { return Ok(()) };
        let steps = [&program.sections.dynamics.steps[..], &program.sections.outputs.steps].concat();
        Err(Trouble::from(program.explain(&steps, address, &mut machine.memory)).into())
    }

    /// Whether the point at hand, which ends a gap, is near enough to the last one; plans the next gap.
    fn judge(&mut self, gap: f64, shortest: f64, search: &mut Search) -> Verdict {
        /// The power of the gap with which its error falls.
        const ORDER: f64 = 5.0;
        /// Errors above tolerance that may be noise.
        const NOISE: f64 = 100.0;
        let memory = &mut self.runtime.machine.memory;
        let remembering = &mut self.remembering;
        let Some(error) = self.program.largest_gap(memory, SHARE * self.options.tolerance) else {
            remembering.unseen.get_or_insert_with(|| {
                self.program.mark_histories(memory);
                remembering.until
            });
            remembering.gap = gap;
            return Verdict::Accepted;
        };
        if error <= 1.0 {
            (remembering.unseen, remembering.fresh) = (None, false);
            // Irregular gaps do not take a fast oscillation for a slow one.
            let growth = (0.8 * error.max(1e-6).powf(-1.0 / ORDER)).clamp(0.5, 1.9);
            remembering.gap = gap * growth;
            return Verdict::Accepted;
        }
        let base = remembering.until;
        let shrinking = (0.8 * error.powf(-1.0 / ORDER)).clamp(0.15, 0.6);
        remembering.gap = gap * shrinking;
        if gap <= shortest * (1.0 + 1e-6) {
            remembering.gap = 4.0 * gap;
            (remembering.unseen, remembering.fresh) = (None, true);
            return Verdict::Jump;
        }
        if let Some(unseen) = remembering.unseen.take() {
            self.program.roll_histories_back(memory, unseen);
            remembering.until = unseen;
            // Several gaps may have been accepted unseen: each of them is to be shorter now.
            remembering.gap = ((base - unseen).min(gap) * shrinking).max(shortest);
            return Verdict::Rejected;
        }
        // At a kink the error falls with the gap, in noise not at all.
        let shrunk = gap / search.gap;
        search.in_vain += u32::from(error > 0.5 * (1.0 + shrunk) * search.error);
        (search.error, search.gap) = (error, gap);
        if search.in_vain >= 2 && error < NOISE {
            remembering.gap = gap;
            return Verdict::Accepted;
        }
        Verdict::Rejected
    }

    /// The step is taken again from the point at hand.
    pub(super) fn forget_rest_of_step(&mut self) {
        if !self.remembers_nothing() {
            self.program.settle_histories(&mut self.runtime.machine.memory);
            self.remembering.unseen = None;
            self.note_asked();
        }
    }

    fn evaluate_on_step(&mut self, time: f64) -> Result<(), Stop> {
        self.runtime.integrator.interpolate(time, &mut self.x);
        self.runtime.machine.evaluate_inside(time, &self.x)?;
        // Delayed expressions may be needed for output alone.
        self.runtime.machine.evaluate_outputs()?;
        Ok(())
    }

    fn record_point(&mut self, time: f64) -> Result<(), Stop> {
        self.check_delays()?;
        self.program.record_delays(&mut self.runtime.machine.memory);
        let passed = time - self.remembering.until;
        self.note_positions(passed);
        self.remembering.until = time;
        self.note_asked();
        Ok(())
    }

    fn note_positions(&mut self, passed: f64) {
        let Remembering { positions, speed, .. } = &mut self.remembering;
        let new = self.program.positions(&self.runtime.machine.memory);
        if positions.len() != self.program.layout.transports.len() {
            positions.clear();
            positions.extend(new);
            return;
        }
        *speed = 0.0;
        for (old, new) in positions.iter_mut().zip(new) {
            *speed = speed.max((new - *old).abs() / passed.max(f64::MIN_POSITIVE));
            *old = new;
        }
    }

    /// Takes note of what has arrived at the point at hand. At an event that includes what only rounding separates from it.
    fn note_asked(&mut self) {
        let memory = &self.runtime.machine.memory;
        let time = memory.time();
        let is_event = time == self.instant.0 || time == self.options.start_time;
        let Remembering { asked, passed, .. } = &mut self.remembering;
        asked.clear();
        asked.extend(self.program.layout.delays.iter().map(|delay| {
            let delay = memory.values[delay.time as usize];
            let rounding = rounding_of_delay(time, delay);
            time - delay + if is_event { rounding } else { -rounding }
        }));
        passed.clear();
        let transports = 0..self.program.layout.transports.len();
        passed.extend(transports.map(|k| self.program.position_passed(memory, k, is_event)));
    }

    /// The first time between the last point and the one at hand at which a delay asks for a jump of the past, or a jump leaves
    /// a transport. What constant delays ask for is known in advance, so steps end there.
    fn arrival(&mut self, base: f64, inside: f64) -> Result<Option<f64>, Stop> {
        let mut first: Option<f64> = None;
        for k in 0..self.remembering.asked.len() {
            let slot = self.program.layout.delays[k].time as usize;
            let memory = &self.runtime.machine.memory;
            let (time, delay) = (memory.time(), memory.values[slot]);
            let after = time - delay - rounding_of_delay(time, delay);
            let History::Past(buffer) = &memory.delays[k] else { continue };
            let Some(jump) = buffer.jump_between(self.remembering.asked[k], after) else { continue };
            let has_arrived = |memory: &compile::Memory| memory.time() - memory.values[slot] >= jump;
            first = Some(self.first_time(base, first.unwrap_or(inside), has_arrived)?);
        }
        for k in 0..self.remembering.passed.len() {
            let memory = &self.runtime.machine.memory;
            let Some(jump) = self.program.jump_leaving(memory, k, self.remembering.passed[k]) else { continue };
            let arguments = self.program.layout.transports[k].arguments as usize;
            let has_left = |memory: &compile::Memory| {
                let (x, positive) = (memory.values[arguments + 2], memory.values[arguments + 3] != 0.0);
                if positive { x >= jump } else { x <= jump }
            };
            first = Some(self.first_time(base, first.unwrap_or(inside), has_left)?);
        }
        if let Some(time) = first {
            self.evaluate_on_step(time)?;
        }
        Ok(first)
    }

    /// The first time of the last step at which something holds, between one at which it does not and one at which it does. The
    /// point at hand is the latter.
    fn first_time(
        &mut self,
        mut low: f64,
        mut high: f64,
        holds: impl Fn(&compile::Memory) -> bool,
    ) -> Result<f64, Stop> {
        while high - low > f64::EPSILON * high.abs() {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            self.evaluate_on_step(middle)?;
            if holds(&self.runtime.machine.memory) { high = middle } else { low = middle }
        }
        self.evaluate_on_step(high)?;
        Ok(high)
    }

    /// A delay must be between zero and the longest one, within the tolerance of what it is computed from.
    fn check_delays(&self) -> Result<(), Stop> {
        let Machine { program, memory, .. } = &self.runtime.machine;
        let Some((delay, time, maximum)) = program.delay_out_of_range(memory, self.options.tolerance) else {
            return Ok(());
        };
        let model = program.model();
        let message = format!(
            "the delay time {} of {} is not between 0 and {} at time {}",
            Decimal(time),
            model.expression_text(delay.expression),
            Decimal(maximum),
            Decimal(memory.time())
        );
        let hint = "limit the delay time, or give a larger third argument of `delay`";
        let diagnostic = Diagnostic::error("delay-out-of-range", message).names_time().hint(hint);
        Err(Trouble::Model(Box::new(crate::rhythm::placed(diagnostic, model, delay.expression))).into())
    }
}

/// How far rounding reaches in the time that a delay asks for.
fn rounding_of_delay(time: f64, delay: f64) -> f64 {
    16.0 * f64::EPSILON * (time.abs() + delay.abs())
}

enum Verdict {
    Accepted,
    Rejected,
    /// The signal jumps without event; its place is known well enough.
    Jump,
}
