//! A model that a solver of its own drives here, against the simulation of the same model.
#![allow(clippy::unwrap_used)]

use gyrator::{Error, Model, Session, System};

/// Dormand and Prince's method of order five, with steps controlled by the error and bisection for events.
struct Driver {
    system: System,
    tolerance: f64,
    step: f64,
    next: f64,
    /// Events that were passed.
    events: u32,
}

const NODES: [f64; 6] = [0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
const WEIGHTS: [&[f64]; 6] = [
    &[0.2],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
const ERRORS: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

impl Driver {
    fn new(model: &Model, tolerance: f64, step: f64) -> Result<Self, Error> {
        let mut system = model.system(&model.experiment().tolerance(tolerance))?;
        let next = system.initialise()?.next_time_event.unwrap_or(f64::INFINITY);
        Ok(Self { system, tolerance, step, next, events: 0 })
    }

    /// The states after a step of a length, and the error in units of the tolerance.
    fn attempt(&mut self, from: f64, x: &[f64], length: f64) -> Result<(Vec<f64>, f64), Error> {
        let mut slopes = vec![self.slope(from, x)?];
        let mut end = x.to_vec();
        for (node, weights) in NODES.iter().zip(WEIGHTS) {
            end = (0..x.len())
                .map(|k| x[k] + length * weights.iter().zip(&slopes).map(|(w, slope)| w * slope[k]).sum::<f64>())
                .collect();
            let slope = self.slope(from + node * length, &end)?;
            slopes.push(slope);
        }
        let nominals = self.system.nominals();
        let error = (0..x.len()).map(|k| {
            let error: f64 = length * ERRORS.iter().zip(&slopes).map(|(w, slope)| w * slope[k]).sum::<f64>();
            error.abs() / (self.tolerance * (nominals[k] + x[k].abs().max(end[k].abs())))
        });
        let error = error.fold(0.0, f64::max);
        Ok((end, error))
    }

    fn slope(&mut self, time: f64, x: &[f64]) -> Result<Vec<f64>, Error> {
        self.system.set_time(time);
        self.system.set_states(x)?;
        self.system.derivatives()
    }

    fn indicators(&mut self, time: f64, x: &[f64]) -> Result<Vec<f64>, Error> {
        self.system.set_time(time);
        self.system.set_states(x)?;
        let mut found = vec![0.0; self.system.event_indicator_count()];
        self.system.event_indicators(&mut found)?;
        Ok(found)
    }

    fn run_to(&mut self, stop: f64) -> Result<(), Error> {
        let mut time = self.system.time();
        while time < stop {
            if self.next <= time {
                time = self.pass_event()?;
                continue;
            }
            let x = self.system.states().to_vec();
            let limit = (stop.min(self.next) - time).min(self.system.longest_step());
            let (mut length, mut end);
            loop {
                length = self.step.min(limit);
                let error;
                (end, error) = self.attempt(time, &x, length)?;
                self.step =
                    length * (0.9 * error.max(1e-6).powf(-0.2)).clamp(0.2, if length < limit { 5.0 } else { 1.0 });
                if error <= 1.0 {
                    self.step = self.step.max(length);
                    break;
                }
            }
            let before = self.indicators(time, &x)?;
            let changes = |now: &[f64]| before.iter().zip(now).any(|(before, now)| before * now <= 0.0);
            let mut crossed = changes(&self.indicators(time + length, &end)?);
            if crossed {
                let (mut low, mut high) = (0.0, length);
                while high - low > 4e-16 * (time + high) && high - low > 1e-15 {
                    let middle = 0.5 * (low + high);
                    if middle <= low || middle >= high {
                        break;
                    }
                    let (point, _) = self.attempt(time, &x, middle)?;
                    if changes(&self.indicators(time + middle, &point)?) { high = middle } else { low = middle }
                }
                (end, _) = self.attempt(time, &x, high)?;
                length = high;
            }
            // Sums of times do not miss the limit by rounding.
            time = if length == limit {
                (time + length).max(stop.min(self.next).min(time + limit))
            } else {
                time + length
            };
            self.system.set_time(time);
            self.system.set_states(&end)?;
            let accepted = self.system.accepted_step()?;
            crossed |= accepted.event;
            if crossed {
                time = self.pass_event()?;
            }
        }
        Ok(())
    }

    fn pass_event(&mut self) -> Result<f64, Error> {
        self.events += 1;
        self.system.enter_event()?;
        let update = self.system.update_discrete()?;
        assert_eq!(update.terminated, None);
        self.next = update.next_time_event.unwrap_or(f64::INFINITY);
        self.step = self.step.min(1e-3);
        Ok(self.system.time())
    }
}

/// Drives the model and compares variables with its simulation at some times.
fn compare(text: &str, stop: f64, watched: &[&str], within: f64) -> Result<Driver, Error> {
    let mut session = Session::new();
    session.replace_text("case.mo", text);
    let model = session.model("case.mo")?;
    let mut simulation = model.start(&model.experiment().stop(stop).tolerance(1e-9))?;
    let mut driver = Driver::new(&model, 1e-9, 1e-3 * stop)?;
    const POINTS: u32 = 7;
    for point in 1..=POINTS {
        // Not at round times, at which samples are due.
        let time = stop * (f64::from(point) - 0.137) / f64::from(POINTS);
        simulation.step_to(time)?;
        driver.run_to(time)?;
        driver.system.outputs()?;
        for name in watched {
            let variable = model.variable(name).unwrap();
            let (found, expected) = (driver.system.get(variable), simulation.get(variable));
            let off = (found - expected).abs() / (1.0 + expected.abs());
            assert!(off <= within, "{name} is {found} in place of {expected} at {time}");
        }
    }
    Ok(driver)
}

#[test]
fn a_bouncing_ball() -> Result<(), Error> {
    let driver = compare(
        "model Ball
           Real h(start = 1, fixed = true), v(start = 0, fixed = true);
           Integer bounces(start = 0, fixed = true);
         equation
           der(h) = v;
           der(v) = -9.81;
           when h <= 0 then
             reinit(v, -0.8*pre(v));
             bounces = pre(bounces) + 1;
           end when;
         end Ball;",
        2.5,
        &["h", "v", "bounces"],
        1e-6,
    )?;
    assert!(driver.events >= 5);
    Ok(())
}

#[test]
fn a_diode_rectifier() -> Result<(), Error> {
    let driver = compare(
        "model Rectifier
           parameter Real C = 1e-3, R = 50, Ri = 2;
           Real source = 10*sin(314.159265358979*time), v(start = 0, fixed = true), i, u, s;
           Boolean off;
         equation
           source = Ri*i + u + v;
           off = s < 0;
           u = if off then s else 1e-5*s;
           i = if off then 1e-5*s else s;
           C*der(v) = i - v/R;
         end Rectifier;",
        0.06,
        &["v", "i", "u"],
        1e-5,
    )?;
    assert!(driver.events >= 5);
    Ok(())
}

#[test]
fn a_buck_converter() -> Result<(), Error> {
    let driver = compare(
        "model Buck
           parameter Real L = 1e-3, C = 1e-4, R = 5, E = 12, T = 1e-4, duty = 0.4;
           Real i(start = 0, fixed = true), v(start = 0, fixed = true), u, id, s;
           Boolean on = mod(time, T) < duty*T;
         equation
           L*der(i) = u - v;
           C*der(v) = i - v/R;
           // The diode to ground carries the current while the switch is open.
           -u = if s > 0 then 1e-3*s else s;
           id = if s > 0 then s else 1e-7*s;
           (if on then (E - u)/1e-2 else (E - u)*1e-7) + id = i;
         end Buck;",
        2e-3,
        &["i", "v"],
        1e-5,
    )?;
    assert!(driver.events >= 20);
    Ok(())
}

#[test]
fn a_sampled_controller() -> Result<(), Error> {
    let driver = compare(
        "model Controlled
           parameter Real k = 3, Ti = 0.4, Ts = 0.05;
           Real x(start = 0, fixed = true), y(start = 0, fixed = true);
           discrete Real e(start = 0, fixed = true), sum(start = 0, fixed = true), u(start = 0, fixed = true);
           Boolean limited(start = false, fixed = true);
         equation
           der(x) = (u - x)/0.2;
           der(y) = x - y;
           when sample(0, Ts) then
             e = (if time < 1.01 then 1 else 0.3) - y;
             sum = pre(sum) + Ts/Ti*e;
             u = min(2, max(-2, k*(e + sum)));
             limited = abs(u) >= 2;
           end when;
         end Controlled;",
        3.0,
        &["x", "y", "e", "sum", "u", "limited"],
        1e-6,
    )?;
    assert!(driver.events >= 50);
    Ok(())
}

/// The pendulum turns over, so that no Cartesian coordinate is a state all the time.
#[test]
fn a_pendulum_with_index_reduction() -> Result<(), Error> {
    let mut driver = compare(
        "model Pendulum
           parameter Real L = 1, g = 9.81;
           Real x(start = 0.6, fixed = true), y(start = -0.8), vx(start = 4.5, fixed = true), vy, f;
         equation
           der(x) = vx;
           der(y) = vy;
           der(vx) = -f*x;
           der(vy) = -f*y - g;
           x^2 + y^2 = L^2;
         end Pendulum;",
        2.0,
        &["x", "y", "vx", "vy", "f"],
        1e-5,
    )?;
    assert_eq!(driver.system.states().len(), 2);
    let x = driver.system.model().variable("x").unwrap().clone();
    assert!(driver.system.get(&x).abs() <= 1.0);
    assert!(driver.system.mode().is_none());
    Ok(())
}

/// Capacitors that a switch joins: charge is conserved, one state is left.
#[test]
fn a_model_with_modes() -> Result<(), Error> {
    let mut driver = compare(
        "model Charge
           parameter Real C1 = 1, C2 = 3, R = 2;
           Real v1(start = 1, fixed = true), v2(start = 0, fixed = true), i;
           Boolean closed = v1 < 0.8 and time < 2.05;
         equation
           C1*der(v1) = -i - v1/R;
           C2*der(v2) = i;
           if closed then v1 = v2; else i = 0; end if;
         end Charge;",
        3.0,
        &["v1", "v2", "i", "der(v1)"],
        1e-6,
    )?;
    assert!(driver.events >= 2);
    assert_eq!(driver.system.states().len(), 2);
    assert!(driver.system.mode().unwrap().contains("false"));
    Ok(())
}

#[test]
fn inputs_and_snapshots() -> Result<(), Error> {
    let mut session = Session::new();
    session.replace_text(
        "case.mo",
        "model M
           input Real u;
           input Boolean b;
           parameter Real k = 2;
           Real x(start = 1, fixed = true), y = k*x + u;
           Integer n(start = 0, fixed = true);
         equation
           der(x) = if b then u else -u;
           when b then
             n = pre(n) + 1;
           end when;
         end M;",
    );
    let model = session.model("case.mo")?;
    let variable = |name: &str| model.variable(name).unwrap();
    let mut system = model.system(&model.experiment())?;
    assert!(system.enter_event().is_err(), "not initialised");
    system.set(variable("u"), 3.0)?;
    system.initialise()?;
    assert_eq!((system.get(variable("y")), system.derivatives()?), (5.0, vec![-3.0]));
    assert!(system.set(variable("b"), 1.0).is_err() && system.set(variable("x"), 1.0).is_err());
    system.set(variable("u"), 4.0)?;
    assert_eq!(system.derivatives()?, [-4.0]);
    let kept = system.clone();
    system.set_time(0.5);
    system.set_states(&[-1.0])?;
    system.accepted_step()?;
    system.enter_event()?;
    system.set(variable("b"), 1.0)?;
    system.set_parameter(variable("k"), 10.0)?;
    let update = system.update_discrete()?;
    assert!(update.values_changed && !update.states_changed && update.terminated.is_none());
    assert_eq!(system.derivatives()?, [4.0]);
    assert_eq!((system.get(variable("n")), system.get(variable("y"))), (1.0, -6.0));
    system = kept;
    assert_eq!((system.time(), system.states()), (0.0, &[1.0][..]));
    assert_eq!(system.derivatives()?, [-4.0]);
    assert!(system.set_states(&[1.0, 2.0]).is_err());
    Ok(())
}

/// A state that stands for different variables in turn has the name of the one it stands for.
#[test]
fn exchanged_states_have_names() {
    let mut session = Session::new();
    session.replace_text(
        "pendulum.mo",
        "model Pendulum
           Real x(start = 0.6), y(start = 0.8), vx(start = 0), vy, T;
         equation
           der(x) = vx;
           der(y) = vy;
           der(vx) = T*x;
           der(vy) = T*y - 9.81;
           x^2 + y^2 = 1;
         end Pendulum;",
    );
    let model = session.model("pendulum.mo").unwrap();
    let mut system = model.system(&model.experiment()).unwrap();
    system.initialise().unwrap();
    let names = |variables: Vec<Option<&gyrator::Variable>>| -> Vec<String> {
        variables.iter().map(|known| known.map_or("?", |known| known.name.as_str()).to_owned()).collect()
    };
    let states = names(system.state_variables());
    assert!(states.iter().all(|name| ["x", "y", "vx", "vy"].contains(&name.as_str())), "{states:?}");
    let derivatives = names(system.derivative_variables());
    let (of, by) = (system.derivative_variables(), system.state_variables());
    let [of, by] = [of, by].map(|list| list.into_iter().flatten().cloned().collect::<Vec<_>>());
    assert_eq!((of.len(), by.len()), (2, 2), "{derivatives:?}");
    let matrix = system.jacobian(&of.iter().collect::<Vec<_>>(), &by.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!((matrix.rows, matrix.columns), (2, 2));
}
