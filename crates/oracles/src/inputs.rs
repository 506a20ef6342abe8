//! Inputs that follow rows, with lines, jumps and held values, into linear systems: the closed form on every piece, a count of
//! the crossings of the lines, and the delayed line.

use fastrand::Rng;

use crate::case::Case;
use crate::run::Run;
use crate::signal::{between, follows, magnitude, settings};

const STOP: f64 = 1.0;

/// Rows of an input.
#[derive(Clone)]
struct Rows {
    rows: Vec<(f64, f64)>,
    held: bool,
}

impl Rows {
    fn random(random: &mut Rng, held: bool, mut value: impl FnMut(&mut Rng) -> f64) -> Self {
        let mut time = between(random, -0.3, 0.3);
        let mut rows = Vec::new();
        for _ in 0..random.usize(1..30) {
            let next = value(random);
            rows.push((time, next));
            match random.u32(0..6) {
                // A jump, or a row that says nothing new.
                0 | 1 => rows.push((time, value(random))),
                2 => rows.push((time, next)),
                _ => {}
            }
            time += match random.u32(0..8) {
                0 => magnitude(random, 1e-7, 1e-3),
                _ => between(random, 0.01, 0.3),
            };
        }
        Self { rows, held }
    }

    /// The limits at a time.
    fn at(&self, time: f64) -> (f64, f64) {
        let before = self.rows.partition_point(|row| row.0 < time);
        let after = self.rows.partition_point(|row| row.0 <= time);
        let held = |count: usize| self.rows[count.max(1) - 1].1;
        if self.held {
            return (held(before), held(after));
        }
        if before < after {
            return (self.rows[before].1, self.rows[after - 1].1);
        }
        let (Some(&next), true) = (self.rows.get(before), before > 0) else {
            let end = held(before.min(self.rows.len()));
            return (end, end);
        };
        let last = self.rows[before - 1];
        let value = last.1 + (next.1 - last.1) * ((time - last.0) / (next.0 - last.0));
        (value, value)
    }

    /// How often it rises above a level, from the start on.
    fn rises(&self, level: f64) -> u32 {
        // Of held rows at one time only the last one shows.
        let shows =
            |place: usize| !self.held || self.rows.get(place + 1).is_none_or(|next| next.0 > self.rows[place].0);
        let rows = self.rows.iter().enumerate().filter(|(place, _)| shows(*place)).map(|(_, row)| row);
        let inside = rows.filter(|row| row.0 > 0.0 && row.0 <= STOP).map(|row| row.1);
        let values = [self.at(0.0).1].into_iter().chain(inside).chain([self.at(STOP).1]);
        let above: Vec<bool> = values.map(|value| value > level).collect();
        above.windows(2).filter(|pair| !pair[0] && pair[1]).count() as u32
    }

    fn size(&self) -> f64 {
        self.rows.iter().map(|row| row.1.abs()).fold(0.0, f64::max)
    }
}

/// `x' = rate·x + Σ factor·input` from `start` on: the values at the breaks, and between them in closed form.
struct Course {
    rate: f64,
    breaks: Vec<f64>,
    values: Vec<f64>,
    terms: Vec<(f64, Rows)>,
}

impl Course {
    fn new(rate: f64, start: f64, terms: Vec<(f64, Rows)>) -> Self {
        let rows = terms.iter().flat_map(|(_, rows)| rows.rows.iter().map(|row| row.0));
        let mut breaks: Vec<f64> = rows.filter(|&time| time > 0.0 && time < STOP).chain([0.0, STOP]).collect();
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        let mut course = Self { rate, breaks, values: vec![start], terms };
        for piece in 1..course.breaks.len() {
            let next = course.within(piece - 1, course.breaks[piece]);
            course.values.push(next);
        }
        course
    }

    fn within(&self, piece: usize, time: f64) -> f64 {
        let (t0, t1) = (self.breaks[piece], self.breaks[piece + 1]);
        let sum =
            |limit: &dyn Fn(&Rows) -> f64| self.terms.iter().map(|(factor, rows)| factor * limit(rows)).sum::<f64>();
        let (first, last) = (sum(&|rows| rows.at(t0).1), sum(&|rows| rows.at(t1).0));
        let (slope, a, t) = ((last - first) / (t1 - t0), self.rate, time - t0);
        // ∫ exp(a·s) ds and ∫∫ of it, from series where they cancel.
        let z = a * t;
        let one = if z.abs() < 1e-3 { t * (1.0 + z / 2.0 + z * z / 6.0 + z * z * z / 24.0) } else { z.exp_m1() / a };
        let two = match z.abs() < 0.03 {
            true => t * t * (0.5 + z / 6.0 + z * z / 24.0 + z.powi(3) / 120.0 + z.powi(4) / 720.0 + z.powi(5) / 5040.0),
            false => (one - t) / a,
        };
        self.values[piece] * z.exp() + first * one + slope * two
    }

    fn at(&self, time: f64) -> f64 {
        let piece = self.breaks.partition_point(|&known| known <= time).clamp(1, self.breaks.len() - 1) - 1;
        self.within(piece, time)
    }

    fn size(&self) -> f64 {
        self.values.iter().map(|value| value.abs()).fold(1.0, f64::max)
    }
}

/// Whether every row has one of the limits; what is delayed may be a rounding error late.
fn has_limits(run: &Run, name: &str, rows: &Rows, tolerance: f64) -> Result<(), String> {
    for (&time, &value) in run.result.time.iter().zip(run.column(name)?) {
        let near = [0.0, -1e-15, 1e-15].map(|shift| rows.at(time + shift));
        if !near.iter().any(|&(left, right)| (value - left).abs() <= tolerance || (value - right).abs() <= tolerance) {
            return Err(format!("{name} is {value} instead of {:?} at {time}", near[0]));
        }
    }
    Ok(())
}

pub fn case(random: &mut Rng) -> Case {
    let few = [-1.0, 0.0, 0.0, 0.5, 1.0, 2.0];
    let line = |random: &mut Rng| match random.bool() {
        true => few[random.usize(0..few.len())],
        false => between(random, -2.0, 2.0),
    };
    let u = Rows::random(random, false, line);
    let v = Rows::random(random, false, |random| between(random, -3.0, 3.0));
    let d = Rows::random(random, true, |random| between(random, -2.0, 2.0));
    let n = Rows::random(random, true, |random| f64::from(random.i32(-2..3)));
    let b = Rows::random(random, true, |random| f64::from(random.u32(0..2)));
    let level = between(random, -0.9, 1.9);
    let delay = magnitude(random, 1e-3, 0.6);
    let (rates, starts) = ([0, 1].map(|_| between(random, -8.0, 1.0)), [0, 1].map(|_| between(random, -1.0, 1.0)));
    let factors: Vec<f64> = (0..6).map(|_| between(random, -2.0, 2.0)).collect();
    let has_delay = random.u32(0..3) == 0;
    let [delayed, stored] = match has_delay {
        true => [format!("  Real w = delay(u, {delay:e});\n"), "w".to_owned()],
        false => [String::new(), "u".to_owned()],
    };
    let [a0, a1] = rates;
    let [x0, x1] = starts;
    let [f0, f1, f2, f3, f4, f5] = [0, 1, 2, 3, 4, 5].map(|k| factors[k]);
    let text = format!(
        "model M
  input Real u;
  input Real v;
  discrete input Real d;
  input Integer n;
  input Boolean b;
  Real x(start = {x0:e}, fixed = true);
  Real y(start = {x1:e}, fixed = true);
  // Sum and difference, so that equations have to be solved.
  Real sum;
  Real difference;
{delayed}  discrete Integer rises(start = 0, fixed = true);
  discrete Integer turns(start = 0, fixed = true);
equation
  der(x) = ({a0:e})*x + ({f0:e})*u + ({f1:e})*v + ({f2:e})*d;
  der(y) = ({a1:e})*y + ({f3:e})*{stored} + ({f4:e})*n + (if b then {f5:e} else 0);
  sum + difference = 2*x;
  sum - difference = 2*y;
  when u > {level:e} then
    rises = pre(rises) + 1;
  end when;
  when b then
    turns = pre(turns) + 1;
  end when;
end M;
"
    );
    let later = |rows: &Rows| {
        let start = rows.at(0.0).1;
        let inside = rows.rows.iter().filter(|row| row.0 > 0.0).map(|&(time, value)| (time + delay, value));
        Rows { rows: [(0.0, start), (delay, start)].into_iter().chain(inside).collect(), held: false }
    };
    let x = Course::new(a0, x0, vec![(f0, u.clone()), (f1, v.clone()), (f2, d.clone())]);
    let stored = if has_delay { later(&u) } else { u.clone() };
    let y = Course::new(a1, x1, vec![(f3, stored.clone()), (f4, n.clone()), (f5, b.clone())]);
    let inputs: Vec<(String, Vec<(f64, f64)>)> = [("u", &u), ("v", &v), ("d", &d), ("n", &n), ("b", &b)]
        .map(|(name, rows)| (name.to_owned(), rows.rows.clone()))
        .to_vec();
    let (settings, tolerance) = settings(random, STOP);
    let allowed = 300.0 * tolerance * (1.0 + x.size() + y.size()) + 1e-10;
    let judge = move |run: &Run| {
        follows(run, "sum", |t| x.at(t) + y.at(t), allowed)?;
        follows(run, "x", |t| x.at(t), allowed)?;
        has_limits(run, "u", &u, 1e-7)?;
        has_limits(run, "n", &n, 0.0)?;
        has_limits(run, "d", &d, 0.0)?;
        if has_delay {
            has_limits(run, "w", &stored, 20.0 * tolerance * (1.0 + u.size()) + 1e-7)?;
        }
        // Rows at the end itself: whether the run still sees them is a matter of rounding.
        let expected = [f64::from(u.rises(level)), f64::from(b.rises(0.5))];
        let found = [run.end("rises")?, run.end("turns")?];
        if found != expected {
            return Err(format!("{found:?} rises instead of {expected:?}"));
        }
        Ok(())
    };
    Case::complete(text, settings, judge).with_inputs(inputs)
}
