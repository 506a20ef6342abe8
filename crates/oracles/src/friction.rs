//! A motor with dry friction that drives a load through a gear and a spring, and sticks and slides. Its velocity is none of
//! the states, so that while it sticks it is zero but for the errors of integration. The oracle integrates the velocity of
//! the motor itself with steps of its own, by the classical method of order four, and finds where it stops and breaks away.

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, SOLVERS, near};

/// Errors of single steps, in units of the tolerance.
const ERRORS: f64 = 300.0;
/// Steps of the oracle.
const STEPS: usize = 20_000;

#[derive(Clone)]
struct Drive {
    ratio: f64,
    motor: f64,
    load: f64,
    stiffness: f64,
    damping: f64,
    bearing: f64,
    amplitude: f64,
    frequency: f64,
    /// Friction at velocity zero, its growth with the velocity, and what holds in relation to what slides.
    friction: f64,
    viscous: f64,
    peak: f64,
    stop: f64,
}

/// Angle and velocity of the motor, angle and velocity of the load.
type State = [f64; 4];

/// What the friction does.
#[derive(Clone, Copy, PartialEq)]
enum Regime {
    Stuck,
    Sliding(f64),
}

pub fn case(random: &mut Rng) -> Case {
    let frequency = 1.0 + 9.0 * random.f64();
    let amplitude = 1.0 + random.f64();
    let motor = 10f64.powf(-2.0 + random.f64());
    let ratio = 10f64.powf(2.0 * random.f64());
    let load = motor * ratio * ratio * (0.3 + 2.0 * random.f64());
    let own = frequency * (2.0 + 6.0 * random.f64());
    let stiffness = load * own * own;
    let drive = Drive {
        ratio,
        motor,
        load,
        stiffness,
        damping: 2.0 * (0.02 + 0.3 * random.f64()) * (stiffness * load).sqrt(),
        bearing: load * frequency * random.f64(),
        amplitude,
        frequency,
        friction: amplitude * (0.1 + 0.7 * random.f64()),
        viscous: 0.1 * random.f64(),
        peak: if random.bool() { 1.0 } else { 1.0 + 0.3 * random.f64() },
        stop: (2.0 + 3.0 * random.f64()) * std::f64::consts::TAU / frequency,
    };
    let tolerance = 10f64.powf(-4.0 - 4.0 * random.f64());
    let settings = Settings {
        stop_time: Some(drive.stop),
        tolerance: Some(tolerance),
        intervals: Some([50, 100, 500][random.usize(0..3)]),
        solver: Some(SOLVERS[random.usize(0..SOLVERS.len())].to_owned()),
        ..Settings::default()
    };
    let end = drive.angle_of_load();
    let changed = |factor: f64| Drive { friction: factor * drive.friction, ..drive.clone() }.angle_of_load();
    // Where a little more friction changes the end, so do other errors.
    const CHANGE: f64 = 1e-4;
    let sensitivity = (changed(1.0 + CHANGE) - end).abs().max((changed(1.0 - CHANGE) - end).abs()) / CHANGE;
    let scale = amplitude / (motor * frequency * frequency * ratio);
    let allowed = ERRORS * tolerance * (1.0 + sensitivity + scale) + 1e-7 * (sensitivity + scale);
    Case::complete(drive.text(), settings, move |run| near(run.end("phi")?, end, allowed))
}

impl Drive {
    /// The state machine of dry friction with an arc length that is the torque while it holds, and an acceleration while it
    /// slides.
    fn text(&self) -> String {
        let Self { ratio, motor, load, stiffness, damping, bearing, .. } = self;
        let Self { amplitude, frequency, friction, viscous, peak, .. } = self;
        format!(
            "model M
  Real phi(start = 0, fixed = true, stateSelect = StateSelect.prefer);
  Real v(start = 0, fixed = true, stateSelect = StateSelect.prefer);
  Real twist(start = 0, fixed = true, stateSelect = StateSelect.prefer);
  Real rate(start = 0, fixed = true, stateSelect = StateSelect.prefer);
  Real angle, w, a, s, torque, held;
  parameter Real slides = {friction}, holds = {friction}*{peak};
  Boolean forward(start = false, fixed = true), backward(start = false, fixed = true), stuck;
  Integer mode(start = 0, fixed = true);
equation
  angle = {ratio}*(phi + twist);
  der(phi) = v;
  der(twist) = rate;
  w = der(angle);
  a = der(w);
  torque = {stiffness}*twist + {damping}*rate;
  {motor}*a = {amplitude}*sin({frequency}*time) - held - torque/{ratio};
  {load}*der(v) = torque - {bearing}*v;
  forward = pre(mode) == 0 and (s > holds or pre(forward) and s > slides);
  backward = pre(mode) == 0 and (s < -holds or pre(backward) and s < -slides);
  stuck = not (pre(mode) == 1 or forward or pre(mode) == -1 or backward);
  a = if stuck then 0 else if pre(mode) == 1 or forward then s - holds else s + holds;
  held = if stuck then s else if pre(mode) == 1 or forward then slides + {viscous}*w else -slides + {viscous}*w;
  mode = if (pre(mode) == 1 or forward) and w > 0 then 1 else if (pre(mode) == -1 or backward) and w < 0 then -1 else 0;
end M;
"
        )
    }

    fn angle_of_load(&self) -> f64 {
        let h = self.stop / STEPS as f64;
        let (mut x, mut regime) = ([0.0; 4], Regime::Stuck);
        for step in 0..STEPS {
            let (mut t, end) = (step as f64 * h, (step + 1) as f64 * h);
            while t < end {
                (t, x, regime) = self.advance(t, end, x, regime);
            }
        }
        x[2]
    }

    /// Goes on to `end`, or to where the friction changes before.
    fn advance(&self, t: f64, end: f64, x: State, regime: Regime) -> (f64, State, Regime) {
        let regime = match regime {
            Regime::Stuck if self.drives(t, &x).abs() > self.peak * self.friction => {
                Regime::Sliding(self.drives(t, &x).signum())
            }
            other => other,
        };
        let is_over = |part: f64| {
            let (t, x) = (t + part * (end - t), self.step(t, part * (end - t), x, regime));
            match regime {
                Regime::Stuck => self.drives(t, &x).abs() > self.peak * self.friction,
                // It begins at zero, where rounding decides the sign.
                Regime::Sliding(sign) => sign * x[1] < -1e-13 * self.amplitude / (self.motor * self.frequency),
            }
        };
        if !is_over(1.0) {
            return (end, self.step(t, end - t, x, regime), regime);
        }
        let (mut before, mut after) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (before + after);
            if is_over(middle) { after = middle } else { before = middle }
        }
        let (time, mut x) = (t + after * (end - t), self.step(t, after * (end - t), x, regime));
        if let Regime::Sliding(_) = regime {
            x[1] = 0.0;
        }
        (time, x, Regime::Stuck)
    }

    /// The torque on the friction while the motor rests.
    fn drives(&self, t: f64, x: &State) -> f64 {
        self.amplitude * (self.frequency * t).sin() - self.torque(&[x[0], 0.0, x[2], x[3]]) / self.ratio
    }

    fn torque(&self, x: &State) -> f64 {
        self.stiffness * (x[0] / self.ratio - x[2]) + self.damping * (x[1] / self.ratio - x[3])
    }

    fn slopes(&self, t: f64, x: &State, regime: Regime) -> State {
        let torque = self.torque(x);
        let driven = self.amplitude * (self.frequency * t).sin() - torque / self.ratio;
        let acceleration = match regime {
            Regime::Stuck => 0.0,
            Regime::Sliding(sign) => (driven - sign * self.friction - self.viscous * x[1]) / self.motor,
        };
        [x[1], acceleration, x[3], (torque - self.bearing * x[3]) / self.load]
    }

    fn step(&self, t: f64, h: f64, x: State, regime: Regime) -> State {
        let ahead = |k: &State, part: f64| -> State { std::array::from_fn(|i| x[i] + part * h * k[i]) };
        let k1 = self.slopes(t, &x, regime);
        let k2 = self.slopes(t + 0.5 * h, &ahead(&k1, 0.5), regime);
        let k3 = self.slopes(t + 0.5 * h, &ahead(&k2, 0.5), regime);
        let k4 = self.slopes(t + h, &ahead(&k3, 1.0), regime);
        std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
    }
}
