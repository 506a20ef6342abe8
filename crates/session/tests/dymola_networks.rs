//! Random networks of truth values in the Dymola language of 1993, `new(b) = …` outside of `when`, against a little simulator: at an
//! event all equations are evaluated again and again until no value changes any more.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use fastrand::Rng;
use results::MemorySink;
use session::{Disk, Ending, EventLog, Request, Session, Settings};

enum Formula {
    /// The value before the event, of a state.
    State(usize),
    /// `Time > …`, in eighths of a second.
    Late(u32),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    If(Box<Formula>, Box<Formula>, Box<Formula>),
}

impl Formula {
    fn random(rng: &mut Rng, states: usize, depth: u32) -> Self {
        let part = |rng: &mut Rng| Box::new(Self::random(rng, states, depth - 1));
        match if depth == 0 { rng.u8(..2) } else { rng.u8(..7) } {
            0 => Formula::State(rng.usize(..states)),
            1 => Formula::Late(rng.u32(1..12)),
            2 => Formula::Not(part(rng)),
            3 | 4 => Formula::And(part(rng), part(rng)),
            5 => Formula::Or(part(rng), part(rng)),
            _ => Formula::If(part(rng), part(rng), part(rng)),
        }
    }

    fn text(&self) -> String {
        match self {
            Formula::State(state) => format!("b{state}"),
            Formula::Late(eighths) => format!("Time > {}", f64::from(*eighths) / 8.0),
            Formula::Not(a) => format!("not ({})", a.text()),
            Formula::And(a, b) => format!("({}) and ({})", a.text(), b.text()),
            Formula::Or(a, b) => format!("({}) or ({})", a.text(), b.text()),
            Formula::If(c, a, b) => format!("(if {} then {} else {})", c.text(), a.text(), b.text()),
        }
    }

    /// At the time just behind so many eighths of a second.
    fn value(&self, states: &[bool], now: u32) -> bool {
        let of = |part: &Formula| part.value(states, now);
        match self {
            Formula::State(state) => states[*state],
            Formula::Late(eighths) => now >= *eighths,
            Formula::Not(a) => !of(a),
            Formula::And(a, b) => of(a) && of(b),
            Formula::Or(a, b) => of(a) || of(b),
            Formula::If(c, a, b) => of(if of(c) { a } else { b }),
        }
    }
}

struct Network {
    start: Vec<bool>,
    next: Vec<Formula>,
}

impl Network {
    fn random(rng: &mut Rng) -> Self {
        let count = rng.usize(1..5);
        let start = (0..count).map(|_| rng.bool()).collect();
        let next = (0..count).map(|_| Formula::random(rng, count, 3)).collect();
        Self { start, next }
    }

    fn text(&self) -> String {
        let mut text = "model M\n  local t\n  der(t) = 1\n".to_owned();
        for (number, (start, next)) in self.start.iter().zip(&self.next).enumerate() {
            let start = if *start { "True" } else { "False" };
            let _ = writeln!(text, "  local b{number} = {start}\n  new(b{number}) = {}", next.text());
        }
        text + "end\n"
    }

    /// The values behind each instant; `None` where they never come to rest.
    fn expected(&self) -> Vec<Option<Vec<bool>>> {
        let mut states = self.start.clone();
        let mut all = Vec::new();
        for now in 0..12 {
            let mut rest = None;
            for _ in 0..=1 << states.len() {
                let next: Vec<bool> = self.next.iter().map(|formula| formula.value(&states, now)).collect();
                if next == states {
                    rest = Some(next);
                    break;
                }
                states = next;
            }
            let ends = rest.is_none();
            all.push(rest);
            if ends {
                break;
            }
        }
        all
    }
}

#[test]
fn networks_come_to_rest_or_are_refused() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, cases) = (number("GYRATOR_SEED", 0), number("CASES", 60));
    for seed in first..first + cases {
        let network = Network::random(&mut Rng::with_seed(seed));
        let text = network.text();
        let mut session = Session::new(Box::new(Disk));
        session.replace_text("model.dym", Some(text.as_str().into()));
        let request = Request { target: "model.dym".to_owned(), ..Request::default() };
        let settings = Settings { stop_time: Some(1.5), intervals: Some(24), ..Settings::default() };
        let mut sink = MemorySink::default();
        let outcome = session.flatten(&request).and_then(|model| {
            let options = settings.resolve(&model.experiment).unwrap();
            let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
            session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut |_: f64| true)
        });
        let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
        let expected = network.expected();
        let is_complete = outcome.is_ok_and(|outcome| outcome.ending == Ending::Complete);
        let rests = expected.iter().all(Option::is_some);
        assert_eq!(is_complete, rests, "seed {seed}: {said}\n{text}");
        for (eighths, values) in expected.iter().enumerate().filter_map(|(at, values)| Some((at, values.as_ref()?))) {
            let time = eighths as f64 / 8.0 + 1.0 / 16.0;
            for (number, value) in values.iter().enumerate() {
                let Some(found) = sink.trajectories.at(&format!("b{number}"), time) else { continue };
                assert_eq!(found != 0.0, *value, "seed {seed}: b{number} at {time}\n{said}\n{text}");
            }
        }
    }
}
