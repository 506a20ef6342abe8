//! What networks mean: tick times in exact fractions, values tick by tick (specification 16.3 to 16.9).

use super::language::{Base, Clock, Expr, Network, Source, function};
use super::ratio::Ratio;

/// The values from each instant on.
pub struct Instant {
    pub time: f64,
    pub values: Vec<f64>,
    pub states: Vec<f64>,
    pub slopes: Vec<f64>,
}

/// More is no better test.
const MOST_INSTANTS: usize = 300;

/// Instants nearer than this are one, or no test.
const APART: f64 = 1e-5;

/// The ticks of a base up to a time, and the intervals that belong to them.
fn base_ticks(base: &Base, stop: f64) -> Vec<(Ratio, f64)> {
    let mut ticks = Vec::new();
    match base {
        Base::Rational(interval) | Base::Decimal(interval) => {
            let mut time = Ratio::ZERO;
            while time.value() < stop {
                ticks.push((time, interval.value()));
                time = time + *interval;
            }
        }
        Base::Event { rises, first } => {
            let mut before: Option<Ratio> = None;
            for &rise in rises.iter().filter(|rise| rise.value() < stop) {
                ticks.push((rise, before.map_or(*first, |before| (rise - before).value())));
                before = Some(rise);
            }
        }
        Base::Varying { start, resolution } => {
            let (mut count, mut time) = (*start, Ratio::ZERO);
            while time.value() < stop {
                ticks.push((time, Ratio::new(count, *resolution).value()));
                count = Base::next_count(count);
                time = time + Ratio::new(count, *resolution);
            }
        }
    }
    ticks
}

fn ticks(base: &Base, clock: Clock, stop: f64) -> Vec<(Ratio, f64)> {
    if let Base::Rational(interval) | Base::Decimal(interval) = base {
        let (step, mut time) = (*interval * clock.factor, *interval * clock.shift);
        let mut ticks = Vec::new();
        while time.value() < stop {
            ticks.push((time, step.value()));
            time = time + step;
        }
        return ticks;
    }
    let all = base_ticks(base, stop);
    let (skip, step) = (clock.shift.numerator as usize, clock.factor.numerator as usize);
    let mut ticks: Vec<(Ratio, f64)> = all.into_iter().skip(skip).step_by(step).collect();
    for number in 1..ticks.len() {
        ticks[number].1 = (ticks[number].0 - ticks[number - 1].0).value();
    }
    ticks
}

struct Interpreter<'n> {
    network: &'n Network,
    time: f64,
    values: Vec<f64>,
    previous: Vec<f64>,
    ticked: Vec<usize>,
    /// Left limits.
    states: Vec<f64>,
    before: Vec<f64>,
}

/// `None` for a network that is no test.
pub fn interpret(network: &Network) -> Option<Vec<Instant>> {
    let all: Vec<Vec<(Ratio, f64)>> = network
        .variables
        .iter()
        .map(|variable| ticks(&network.bases[variable.clock.base], variable.clock, network.stop))
        .collect();
    let mut times: Vec<Ratio> = all.iter().flatten().map(|tick| tick.0).collect();
    times.sort_unstable();
    times.dedup();
    let are_apart = times.windows(2).all(|pair| pair[1].value() - pair[0].value() > APART);
    let events: Vec<Ratio> = network
        .bases
        .iter()
        .flat_map(|base| match base {
            Base::Event { rises, .. } => rises.clone(),
            _ => Vec::new(),
        })
        .collect();
    // At one instant the event clock ticks behind the others: what it samples then is no left limit in time.
    let meets = |(k, ticks): (usize, &Vec<(Ratio, f64)>)| {
        let is_event = matches!(network.bases[network.variables[k].clock.base], Base::Event { .. });
        !is_event && ticks.iter().any(|tick| events.iter().any(|rise| (tick.0.value() - rise.value()).abs() < APART))
    };
    let near_end = times.last().is_none_or(|last| network.stop - last.value() < APART);
    if !are_apart || near_end || times.len() > MOST_INSTANTS || all.iter().enumerate().any(meets) {
        return None;
    }
    let starts: Vec<f64> = network.variables.iter().map(|variable| variable.start).collect();
    let mut run = Interpreter {
        network,
        time: 0.0,
        previous: starts.clone(),
        before: starts.clone(),
        values: starts,
        ticked: vec![0; network.variables.len()],
        states: network.states.iter().map(|state| state.start).collect(),
    };
    let mut course = Vec::new();
    if times.first() != Some(&Ratio::ZERO) {
        course.push(run.instant());
    }
    for &time in &times {
        let slopes = run.slopes();
        for (state, slope) in run.states.iter_mut().zip(slopes) {
            *state += slope * (time.value() - run.time);
        }
        run.time = time.value();
        run.before.clone_from(&run.values);
        for (number, variable) in network.variables.iter().enumerate() {
            let Some(&(_, interval)) = all[number].get(run.ticked[number]).filter(|tick| tick.0 == time) else {
                continue;
            };
            let value = run.value(&variable.value, interval, run.ticked[number] == 0);
            if !value.is_finite() || value.abs() > 1e6 {
                return None;
            }
            run.values[number] = value;
            run.ticked[number] += 1;
        }
        for number in 0..network.variables.len() {
            if run.ticked[number] > 0 {
                run.previous[number] = run.values[number];
            }
        }
        course.push(run.instant());
    }
    Some(course)
}

impl Interpreter<'_> {
    fn instant(&self) -> Instant {
        Instant { time: self.time, values: self.values.clone(), states: self.states.clone(), slopes: self.slopes() }
    }

    fn slopes(&self) -> Vec<f64> {
        self.network.states.iter().map(|state| self.values[state.held] + state.slope).collect()
    }

    fn value(&self, expr: &Expr, interval: f64, first: bool) -> f64 {
        let value = |e: &Expr| self.value(e, interval, first);
        match expr {
            Expr::Number(number) => *number,
            Expr::Var(v) => self.values[*v],
            Expr::Previous(v) => self.previous[*v],
            Expr::Add(a, b) => value(a) + value(b),
            Expr::Scale(factor, a) => factor * value(a),
            Expr::Less(a, b) => f64::from(u8::from(value(a) < value(b))),
            Expr::If(c, a, b) => {
                if value(c) != 0.0 {
                    value(a)
                } else {
                    value(b)
                }
            }
            Expr::Call(u) => function(value(u)),
            Expr::Interval(_) => interval,
            Expr::FirstTick(_) => f64::from(u8::from(first)),
            Expr::Convert { operands, .. } => operands.iter().map(|&v| self.values[v]).sum(),
            Expr::Sample { source, .. } => self.source(source),
        }
    }

    fn source(&self, source: &Source) -> f64 {
        match source {
            Source::Time => self.time,
            Source::State(x) => self.states[*x],
            Source::Hold(v) => self.before[*v],
            Source::Sum(a, b) => self.source(a) + self.source(b),
        }
    }
}

/// The value of an expression before its clock ticks, from start values.
pub fn at_start(network: &Network, expr: &Expr) -> f64 {
    let value = |e: &Expr| at_start(network, e);
    let source = |source: &Source| source_at_start(network, source);
    match expr {
        Expr::Number(number) => *number,
        Expr::Var(v) | Expr::Previous(v) => network.variables[*v].start,
        Expr::Add(a, b) => value(a) + value(b),
        Expr::Scale(factor, a) => factor * value(a),
        Expr::Less(a, b) => f64::from(u8::from(value(a) < value(b))),
        Expr::If(c, a, b) => {
            if value(c) != 0.0 {
                value(a)
            } else {
                value(b)
            }
        }
        Expr::Call(u) => function(value(u)),
        Expr::Interval(_) | Expr::FirstTick(_) => 0.0,
        Expr::Convert { operands, .. } => operands.iter().map(|&v| expression_at_start(network, v)).sum(),
        Expr::Sample { source: sampled, .. } => source(sampled),
    }
}

/// The start value of a variable; an inline one is its expression.
pub fn expression_at_start(network: &Network, variable: usize) -> f64 {
    let variable = &network.variables[variable];
    if variable.is_inline { at_start(network, &variable.value) } else { variable.start }
}

fn source_at_start(network: &Network, source: &Source) -> f64 {
    match source {
        Source::Time => 0.0,
        Source::State(x) => network.states[*x].start,
        Source::Hold(v) => expression_at_start(network, *v),
        Source::Sum(a, b) => source_at_start(network, a) + source_at_start(network, b),
    }
}
