//! Transport by `spatialDistribution`, against its characteristics: velocities that change at instants, and smooth ones that turn
//! by themselves, and pulses of any width.

use fastrand::Rng;

use crate::case::Case;
use crate::run::Run;
use crate::signal::{Signal, between, company, settings};

mod pulses;
mod turning;

pub fn case(random: &mut Rng) -> Case {
    match random.u32(0..6) {
        0 | 1 => steps(random),
        2 | 3 => turning::case(random),
        _ => pulses::case(random),
    }
}

/// Two ends with signals of their own, a velocity that changes at two times, and the profile at the start.
struct Pipe {
    inflows: [Signal; 2],
    /// Times from which on there is a velocity.
    velocities: [(f64, f64); 3],
    profile: [f64; 2],
}

impl Pipe {
    fn velocity(&self, t: f64) -> f64 {
        self.velocities.iter().rev().find(|(from, _)| t >= *from).map_or(self.velocities[0].1, |found| found.1)
    }

    fn position(&self, t: f64) -> f64 {
        let end = |k: usize| self.velocities.get(k + 1).map_or(f64::INFINITY, |next| next.0);
        (0..3).map(|k| self.velocities[k].1 * (t.min(end(k)) - self.velocities[k].0).max(0.0)).sum()
    }

    /// What leaves at the end `y` (0 or 1): where it came in last.
    fn outflow(&self, y: f64, t: f64) -> f64 {
        let inward = |end: f64| if end == 0.0 { 1.0 } else { -1.0 };
        if self.velocity(t) * inward(y) > 0.0 {
            return self.inflows[y as usize].at(t);
        }
        let material = y - self.position(t);
        for k in (0..3).rev() {
            let (from, velocity) = self.velocities[k];
            let to = self.velocities.get(k + 1).map_or(t, |next| next.0.min(t));
            if from >= to || velocity == 0.0 {
                continue;
            }
            let end: f64 = if velocity > 0.0 { 0.0 } else { 1.0 };
            // The time at which this piece of the content was at that end.
            let entered = from + (end - material - self.position(from)) / velocity;
            if entered >= from && entered < to {
                return self.inflows[end as usize].at(entered);
            }
        }
        self.profile[0] + (self.profile[1] - self.profile[0]) * material
    }

    /// Every row has a value that leaves within `late` of its time: rows lie where a jump leaves, too.
    fn judge(&self, run: &Run, name: &str, y: f64, late: f64, allowed: f64) -> Result<(), String> {
        for (&time, &value) in run.result.time.iter().zip(run.column(name)?) {
            let shifts = [0.0, 1e-9, 1e-12, 0.01 * late, 0.1 * late, late].into_iter().flat_map(|late| [-late, late]);
            let near = |shift: f64| (value - self.outflow(y, time + shift)).abs() <= allowed;
            if !shifts.into_iter().any(near) {
                let expected = self.outflow(y, time);
                return Err(format!("{name} is {value} instead of {expected} at {time}, tolerance {allowed:e}"));
            }
        }
        Ok(())
    }
}

/// The velocity is constant in pieces.
fn steps(random: &mut Rng) -> Case {
    let jumps = random.bool();
    let inflows = [(); 2].map(|()| Signal::random(random, 60.0, jumps));
    let (second, third) = (between(random, 0.1, 0.5), between(random, 0.5, 0.95));
    let velocities =
        [(0.0, between(random, 0.5, 6.0)), (second, between(random, -5.0, 5.0)), (third, between(random, -5.0, 5.0))];
    let pipe = Pipe { inflows, velocities, profile: [between(random, -1.0, 1.0), between(random, -1.0, 1.0)] };
    let (declared, equations) = company(random);
    let text = format!(
        "model M
{declared}  Real x(start = 0, fixed = true), v, a, b;
equation
{equations}  v = if time < {second:e} then {:e} else if time < {third:e} then {:e} else {:e};
  der(x) = v;
  (a, b) = spatialDistribution({}, {}, x, v >= 0, {{0.0, 1.0}}, {{{:e}, {:e}}});
end M;
",
        velocities[0].1,
        velocities[1].1,
        velocities[2].1,
        pipe.inflows[0].text,
        pipe.inflows[1].text,
        pipe.profile[0],
        pipe.profile[1]
    );
    let (settings, tolerance) = settings(random, 1.0);
    let size = pipe.inflows.iter().map(Signal::size).fold(1.0, f64::max);
    let allowed = 20.0 * tolerance * size + 1e-9 * size;
    Case::complete(text, settings, move |run| {
        pipe.judge(run, "a", 0.0, 20.0 * tolerance, allowed)?;
        pipe.judge(run, "b", 1.0, 20.0 * tolerance, allowed)
    })
}
