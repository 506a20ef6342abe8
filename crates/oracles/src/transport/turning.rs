//! Velocities that are sums of sines and turn by themselves, where what enters slows down, stands and leaves again.

use fastrand::Rng;

use crate::case::Case;
use crate::run::Run;
use crate::signal::{Signal, between, company, settings};

/// A constant and sines of a cosine's rate: v(t) = c + Σ a·cos(w·t + p), with its integral from the start.
#[derive(Clone)]
pub(super) struct Velocity {
    constant: f64,
    swings: Vec<[f64; 3]>,
}

impl Velocity {
    pub(super) fn random(random: &mut Rng) -> Self {
        let swings = (0..random.usize(1..4))
            .map(|_| [between(random, 0.3, 4.0), between(random, 2.0, 15.0), between(random, 0.0, 6.0)]);
        let swings = swings.collect();
        Self { constant: between(random, -1.5, 2.5), swings }
    }

    pub(super) fn steady(constant: f64) -> Self {
        Self { constant, swings: Vec::new() }
    }

    pub(super) fn at(&self, t: f64) -> f64 {
        self.constant + self.swings.iter().map(|[a, w, p]| a * (w * t + p).cos()).sum::<f64>()
    }

    pub(super) fn position(&self, t: f64) -> f64 {
        self.constant * t + self.swings.iter().map(|[a, w, p]| a / w * ((w * t + p).sin() - p.sin())).sum::<f64>()
    }

    pub(super) fn text(&self) -> String {
        let swings = self.swings.iter().map(|[a, w, p]| format!(" + {a:e}*cos({w:e}*time + {p:e})"));
        format!("({:e}){}", self.constant, swings.collect::<String>())
    }

    pub(super) fn position_text(&self) -> String {
        let swings =
            self.swings.iter().map(|[a, w, p]| format!(" + {:e}*(sin({w:e}*time + {p:e}) - ({:e}))", a / w, p.sin()));
        format!("({:e})*time{}", self.constant, swings.collect::<String>())
    }
}

struct Pipe {
    inflows: [Signal; 2],
    velocity: Velocity,
    /// Places and values of the content at the start, linear in between.
    profile: Vec<(f64, f64)>,
    /// Positions on a grid of times, for the search.
    grid: Vec<f64>,
    stop: f64,
}

impl Pipe {
    const POINTS: usize = 8000;

    fn new(inflows: [Signal; 2], velocity: Velocity, profile: Vec<(f64, f64)>, stop: f64) -> Self {
        let grid = (0..=Self::POINTS).map(|k| velocity.position(stop * k as f64 / Self::POINTS as f64)).collect();
        Self { inflows, velocity, profile, grid, stop }
    }

    /// What leaves at the end `y` (0 or 1) at time `t`, or enters there, in a pipe that stands `shift` further on.
    fn at_end(&self, y: usize, t: f64, shift: f64) -> f64 {
        let enters = (self.velocity.at(t) >= 0.0) == (y == 0);
        if enters {
            return self.inflows[y].at(t);
        }
        let material = y as f64 - self.velocity.position(t) - shift;
        self.came_from(material, t)
    }

    /// Where a piece of the content entered last before `t`.
    fn came_from(&self, material: f64, t: f64) -> f64 {
        let time = |k: usize| self.stop * k as f64 / Self::POINTS as f64;
        let latest = ((t / self.stop * Self::POINTS as f64).ceil() as usize).min(Self::POINTS);
        for k in (1..=latest).rev() {
            let (before, after) = (self.grid[k - 1] + material, self.grid[k] + material);
            let (before, mut after, mut high) = (before, after, time(k));
            if high > t {
                (high, after) = (t, self.velocity.position(t) + material);
            }
            let end = match () {
                () if before < 0.0 && after >= 0.0 => 0,
                () if before > 1.0 && after <= 1.0 => 1,
                () => continue,
            };
            let (mut low, place) = (time(k - 1), end as f64);
            for _ in 0..50 {
                let middle = 0.5 * (low + high);
                let outside = (self.velocity.position(middle) + material - place) * (before - place) > 0.0;
                if outside { low = middle } else { high = middle }
            }
            return self.inflows[end].at(high);
        }
        let place = material.clamp(0.0, 1.0);
        let after = self.profile.iter().position(|point| point.0 > place).unwrap_or(self.profile.len() - 1).max(1);
        let (a, b) = (self.profile[after - 1], self.profile[after]);
        a.1 + (b.1 - a.1) * (place - a.0) / (b.0 - a.0)
    }

    /// Every row lies among the values within an error of the position, and a rounding error of time.
    fn judge(&self, run: &Run, name: &str, y: usize, moved: f64, allowed: f64) -> Result<(), String> {
        for (&t, &value) in run.result.time.iter().zip(run.column(name)?) {
            let expected = self.at_end(y, t, 0.0);
            if (value - expected).abs() <= allowed {
                continue;
            }
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for shift in [0.0, 1e-3, 3e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0].into_iter().flat_map(|s| [-s, s]) {
                // The grid does not see what enters just before the flow turns.
                for later in [-1e-6, -1e-8, 0.0, 1e-8, 1e-6] {
                    let expected = self.at_end(y, (t + later).clamp(0.0, self.stop), moved * shift);
                    (low, high) = (low.min(expected), high.max(expected));
                }
            }
            let slack = allowed + (high - low);
            if !(value >= low - slack && value <= high + slack) {
                return Err(format!(
                    "{name} is {value} instead of {expected} ({low} to {high}) at {t}, slack {slack:e}"
                ));
            }
        }
        Ok(())
    }
}

pub fn case(random: &mut Rng) -> Case {
    let jumps = random.u32(0..4) == 0;
    let inflows = [(); 2].map(|()| Signal::random(random, 30.0, jumps));
    let velocity = Velocity::random(random);
    let mut places: Vec<f64> = (0..random.usize(0..3)).map(|_| between(random, 0.1, 0.9)).collect();
    places.extend([0.0, 1.0]);
    places.sort_by(f64::total_cmp);
    let profile: Vec<(f64, f64)> = places.into_iter().map(|place| (place, between(random, -2.0, 2.0))).collect();
    let stop = between(random, 0.5, 3.0);
    let list = |of: fn(&(f64, f64)) -> f64| {
        let numbers: Vec<String> = profile.iter().map(|point| format!("{:e}", of(point))).collect();
        format!("{{{}}}", numbers.join(", "))
    };
    let (position, moves) = match random.u32(0..3) {
        0 => ("  Real x;\n", format!("  x = {};\n", velocity.position_text())),
        _ => ("  Real x(start = 0, fixed = true);\n", "  der(x) = v;\n".to_owned()),
    };
    let direction = ["v >= 0", "v > 0", "not v < 0", "forward"][random.usize(0..4)];
    let (flag, decides) = match direction {
        "forward" => ("  Boolean forward;\n", "  forward = v >= 0;\n"),
        _ => ("", ""),
    };
    let (declared, equations) = company(random);
    let text = format!(
        "model M
{declared}{position}{flag}  Real v, a, b;
equation
{equations}  v = {};
{moves}{decides}  (a, b) = spatialDistribution({}, {}, x, {direction}, {}, {});
end M;
",
        velocity.text(),
        inflows[0].text,
        inflows[1].text,
        list(|point| point.0),
        list(|point| point.1),
    );
    let (settings, tolerance) = settings(random, stop);
    let size = inflows.iter().map(Signal::size).fold(2.0, f64::max);
    let pipe = Pipe::new(inflows, velocity, profile, stop);
    let travel = pipe.grid.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    let (moved, allowed) = (100.0 * tolerance * travel, 50.0 * tolerance * size + 1e-8 * size);
    Case::complete(text, settings, move |run| {
        pipe.judge(run, "a", 0, moved, allowed)?;
        pipe.judge(run, "b", 1, moved, allowed)
    })
}
