//! Random difference equations of the Dymola language of 1993, several of them at one instant, against a little simulator: `x` is the
//! value before the event, `new(x)` the value after it.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use fastrand::Rng;
use results::MemorySink;
use session::{Disk, Ending, EventLog, Request, Session, Settings};

/// `Σ coefficient·variable + constant`; variables before and after the event.
struct Sum {
    before: Vec<(usize, f64)>,
    after: Vec<(usize, f64)>,
    constant: f64,
}

impl Sum {
    /// New values are those of variables with lower numbers, so that there is no loop.
    fn random(rng: &mut Rng, variables: usize, known: usize) -> Self {
        let coefficient = |rng: &mut Rng| [-1.0, -0.5, 0.25, 0.5, 1.0][rng.usize(..5)];
        let before = (0..rng.usize(..3)).map(|_| (rng.usize(..variables), coefficient(rng))).collect();
        let after = match known {
            0 => Vec::new(),
            _ => (0..rng.usize(..3)).map(|_| (rng.usize(..known), coefficient(rng))).collect(),
        };
        Self { before, after, constant: f64::from(rng.i32(-3..4)) }
    }

    fn text(&self) -> String {
        let mut text = format!("{}", self.constant);
        for (variable, factor) in &self.before {
            let _ = write!(text, " + ({factor}) * v{variable}");
        }
        for (variable, factor) in &self.after {
            let _ = write!(text, " + ({factor}) * new(v{variable})");
        }
        text
    }

    fn value(&self, before: &[f64], after: &[f64]) -> f64 {
        let sum = |terms: &[(usize, f64)], values: &[f64]| {
            terms.iter().map(|(variable, factor)| factor * values[*variable]).sum::<f64>()
        };
        self.constant + sum(&self.before, before) + sum(&self.after, after)
    }
}

struct Variable {
    /// The `when` that gives it new values.
    when: usize,
    start: f64,
    /// `factor·new(v) = sum`, or `new(v) = sum` for one.
    factor: f64,
    sum: Sum,
}

struct System {
    /// Eighths of a second.
    periods: Vec<u32>,
    variables: Vec<Variable>,
    output: Sum,
}

impl System {
    fn random(rng: &mut Rng) -> Self {
        let periods: Vec<u32> = (0..rng.usize(1..4)).map(|_| rng.u32(1..5)).collect();
        let count = rng.usize(1..6);
        let variable = |number: usize, rng: &mut Rng| Variable {
            when: rng.usize(..periods.len()),
            start: f64::from(rng.i32(-2..3)),
            factor: [1.0, 1.0, 2.0, -4.0][rng.usize(..4)],
            sum: Sum::random(rng, count, number),
        };
        let variables = (0..count).map(|number| variable(number, rng)).collect();
        let output = Sum::random(rng, count, count);
        Self { periods, variables, output }
    }

    /// The equations of a `when` in any order: they are sorted.
    fn text(&self, rng: &mut Rng) -> String {
        let mut text = "model M\n  local y, z\n".to_owned();
        for (number, period) in self.periods.iter().enumerate() {
            let _ = writeln!(text, "  local next{number} = {}", f64::from(*period) / 8.0);
        }
        for (number, variable) in self.variables.iter().enumerate() {
            let _ = writeln!(text, "  local v{number} = {}", variable.start);
        }
        for (when, period) in self.periods.iter().enumerate() {
            let mut lines = vec![format!("new(next{when}) = next{when} + {}", f64::from(*period) / 8.0)];
            for (number, variable) in self.variables.iter().enumerate().filter(|(_, it)| it.when == when) {
                let sum = variable.sum.text();
                lines.push(match variable.factor {
                    1.0 => format!("new(v{number}) = {sum}"),
                    factor => format!("({factor}) * new(v{number}) = {sum}"),
                });
            }
            rng.shuffle(&mut lines);
            let _ = writeln!(text, "  when Time >= next{when} then\n    {}\n  endwhen", lines.join("\n    "));
        }
        let _ = writeln!(text, "  y = {}\n  der(z) = y\nend", self.output.text());
        text
    }

    /// The values of all variables, and the integral of the output, after so many eighths of a second and a sixteenth.
    fn expected(&self, eighths: u32) -> (Vec<f64>, f64) {
        let mut values: Vec<f64> = self.variables.iter().map(|variable| variable.start).collect();
        let mut integral = self.output.value(&values, &values) / 8.0;
        for instant in 1..=eighths {
            let before = values.clone();
            for (number, variable) in self.variables.iter().enumerate() {
                if instant % self.periods[variable.when] == 0 {
                    values[number] = variable.sum.value(&before, &values) / variable.factor;
                }
            }
            let length = if instant == eighths { 16.0 } else { 8.0 };
            integral += self.output.value(&values, &values) / length;
        }
        (values, integral)
    }
}

fn run(text: &str, stop_time: f64) -> MemorySink {
    let mut session = Session::new(Box::new(Disk));
    session.replace_text("model.dym", Some(text.into()));
    let request = Request { target: "model.dym".to_owned(), ..Request::default() };
    let settings = Settings { stop_time: Some(stop_time), tolerance: Some(1e-8), ..Settings::default() };
    let mut sink = MemorySink::default();
    let outcome = session.flatten(&request).and_then(|model| {
        let options = settings.resolve(&model.experiment).unwrap();
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut |_: f64| true)
    });
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    let outcome = outcome.unwrap_or_else(|failed| panic!("{failed:?}\n{said}\n{text}"));
    assert_eq!(outcome.ending, Ending::Complete, "{said}\n{text}");
    sink
}

#[test]
fn difference_equations_at_common_instants() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, cases) = (number("GYRATOR_SEED", 0), number("CASES", 40));
    for seed in first..first + cases {
        let mut rng = Rng::with_seed(seed);
        let system = System::random(&mut rng);
        let text = system.text(&mut rng);
        let eighths = 12;
        let sink = run(&text, f64::from(eighths) / 8.0 + 1.0 / 16.0);
        let (values, integral) = system.expected(eighths);
        let near = |name: &str, expected: f64| {
            let value = sink.trajectories.last(name).unwrap();
            let is_near = (value - expected).abs() < 1e-6 * expected.abs().max(1.0);
            assert!(is_near, "seed {seed}: {name} is {value} instead of {expected}\n{text}");
        };
        for (variable, value) in values.iter().enumerate() {
            near(&format!("v{variable}"), *value);
        }
        near("z", integral);
    }
}
