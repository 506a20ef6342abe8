//! Pulses of any width that enter at both ends and leave again: what left in the whole is known exactly, since all is constant
//! between the instants at which an edge leaves.

use fastrand::Rng;

use super::turning::Velocity;
use crate::case::Case;
use crate::signal::{between, magnitude, settings};

/// A height from one time to another.
struct Pulse {
    begin: f64,
    end: f64,
    height: f64,
}

/// How the position is computed.
enum Motion {
    Formula,
    State,
}

struct Pipe {
    pulses: [Vec<Pulse>; 2],
    velocity: Velocity,
    /// The content at the start.
    content: f64,
    /// The start, the times at which the flow turns, and the stop.
    turns: Vec<f64>,
}

impl Pipe {
    fn new(pulses: [Vec<Pulse>; 2], velocity: Velocity, content: f64, stop: f64) -> Self {
        const POINTS: u32 = 4000;
        let mut turns = vec![0.0];
        let time = |k: u32| stop * f64::from(k) / f64::from(POINTS);
        for k in 0..POINTS {
            let forward = velocity.at(time(k)) >= 0.0;
            if (velocity.at(time(k + 1)) >= 0.0) != forward {
                turns.push(bisect(time(k), time(k + 1), |t| (velocity.at(t) >= 0.0) != forward));
            }
        }
        turns.push(stop);
        Self { pulses, velocity, content, turns }
    }

    fn inflow(&self, end: usize, t: f64) -> f64 {
        let active = self.pulses[end].iter().filter(|pulse| t >= pulse.begin && t < pulse.end);
        active.map(|pulse| pulse.height).sum()
    }

    /// The time between two turns at which the position has a value.
    fn time_at(&self, x: f64, from: f64, to: f64) -> Option<f64> {
        let before = self.velocity.position(from) < x;
        ((self.velocity.position(to) < x) != before)
            .then(|| bisect(from, to, |t| (self.velocity.position(t) < x) != before))
    }

    /// What is at the end `y` (0 or 1) at time `t`, where all has moved `shift` too far.
    fn at_end(&self, y: usize, t: f64, shift: f64) -> f64 {
        if (self.velocity.at(t) >= 0.0) == (y == 0) {
            return self.inflow(y, t);
        }
        let material = y as f64 - self.velocity.position(t) - shift;
        for piece in self.turns.windows(2).rev().filter(|piece| piece[0] < t) {
            let (from, to) = (piece[0], piece[1].min(t));
            let entered_at = usize::from(self.velocity.at(0.5 * (from + to)) < 0.0);
            if let Some(time) = self.time_at(entered_at as f64 - material, from, to) {
                return self.inflow(entered_at, time);
            }
        }
        self.content
    }

    /// The integral of what is at the end `y`.
    fn integral(&self, y: usize, shift: f64) -> f64 {
        let edges = |end: usize| self.pulses[end].iter().flat_map(|pulse| [pulse.begin, pulse.end]);
        let mut breaks: Vec<f64> = self.turns.clone();
        breaks.extend(edges(y));
        for end in [0, 1] {
            for edge in edges(end).chain(self.turns.iter().copied()) {
                let material = end as f64 - self.velocity.position(edge);
                let leaves = |piece: &[f64]| self.time_at(y as f64 - material - shift, piece[0], piece[1]);
                breaks.extend(self.turns.windows(2).filter_map(leaves));
            }
        }
        let stop = self.turns.last().copied().unwrap_or_default();
        breaks.retain(|&time| time <= stop);
        breaks.sort_by(f64::total_cmp);
        breaks.windows(2).map(|piece| (piece[1] - piece[0]) * self.at_end(y, 0.5 * (piece[0] + piece[1]), shift)).sum()
    }
}

/// The first time at which something holds, from one at which it does not to one at which it does.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}

pub fn case(random: &mut Rng) -> Case {
    let stop = between(random, 0.5, 4.0);
    let pulses = [(); 2].map(|()| {
        let pulse = |_| {
            let begin = between(random, 0.0, 0.9 * stop);
            Pulse { begin, end: begin + magnitude(random, 1e-5, 0.5), height: between(random, -2.0, 2.0) }
        };
        (0..3).map(pulse).collect::<Vec<_>>()
    });
    let velocity = match random.u32(0..3) {
        0 => Velocity::steady([-1.0, 1.0][random.usize(0..2)] * magnitude(random, 0.2, 5.0)),
        _ => Velocity::random(random),
    };
    let motion = if random.bool() { Motion::Formula } else { Motion::State };
    let content = between(random, -1.0, 1.0);
    let text_of = |pulses: &[Pulse]| {
        let one = |Pulse { begin, end, height }: &Pulse| {
            format!("(if time >= {begin:e} and time < {end:e} then {height:e} else 0)")
        };
        pulses.iter().map(one).collect::<Vec<_>>().join(" + ")
    };
    let (declared, moves) = match motion {
        Motion::Formula => ("Real x", format!("x = {}", velocity.position_text())),
        Motion::State => ("Real x(start = 0, fixed = true)", "der(x) = v".to_owned()),
    };
    let text = format!(
        "model M
  {declared};
  Real v, a, b;
  Real first(start = 0, fixed = true), second(start = 0, fixed = true);
equation
  v = {};
  {moves};
  (a, b) = spatialDistribution({}, {}, x, v >= 0, {{0.0, 1.0}}, {{{content:e}, {content:e}}});
  der(first) = a;
  der(second) = b;
end M;
",
        velocity.text(),
        text_of(&pulses[0]),
        text_of(&pulses[1]),
    );
    let (mut settings, tolerance) = settings(random, stop);
    settings.intervals = Some([1, 2, 10, 50, 500][random.usize(0..5)]);
    let pipe = Pipe::new(pulses, velocity, content, stop);
    let travel = (0..1000).map(|k| pipe.velocity.position(stop * f64::from(k) * 1e-3).abs()).fold(1.0, f64::max);
    let moved = match motion {
        Motion::Formula => 1e-11 * travel,
        Motion::State => 100.0 * tolerance * travel,
    };
    let allowed = 50.0 * tolerance * stop + 1e-9;
    Case::complete(text, settings, move |run| {
        for (name, end) in [("first", 0), ("second", 1)] {
            let value = run.end(name)?;
            let expected = pipe.integral(end, 0.0);
            let shifts = [0.01, 0.03, 0.1, 0.3, 1.0].into_iter().flat_map(|part| [-part * moved, part * moved]);
            let slack = shifts.map(|shift| (pipe.integral(end, shift) - expected).abs()).fold(allowed, f64::max);
            let is_near = (value - expected).abs() <= allowed + slack;
            if !is_near {
                return Err(format!("{name} is {value} instead of {expected}, slack {slack:e}"));
            }
        }
        Ok(())
    })
}
