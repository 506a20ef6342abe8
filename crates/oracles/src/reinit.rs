//! Stores of charge that ideal switches join, with `reinit` of what is across them. What is stored is a piecewise monotone
//! function of what is across, so that a value that is set changes the branch. The oracle knows three rules: what is stored
//! in joined stores grows with the sum of their sources; a switch that closes shares it; and `reinit` sets what is across
//! all stores that are joined, after the switches of the same instant, and changes nothing else.

use std::fmt::Write as _;

use fastrand::Rng;
use session::Settings;

use crate::case::Case;

const STOP: f64 = 2.0;
/// Values and instants that are nearer to each other leave open what comes first.
const APART: f64 = 2e-3;
const SOLVERS: &[&str] = &["auto", "auto", "auto", "bdf", "esdirk", "dae", "rosenbrock", "tsit5"];

/// What is stored: pieces that meet at an edge.
#[derive(Clone, Copy)]
struct Law {
    edge: f64,
    below: f64,
    above: f64,
    square: f64,
}

impl Law {
    fn random(random: &mut Rng) -> Self {
        let mut slope = || f64::from(random.u8(1..13)) / 4.0;
        let (below, above) = (slope(), slope());
        let square = if random.bool() { f64::from(random.u8(1..9)) / 8.0 } else { 0.0 };
        Self { edge: f64::from(random.u8(0..9)) / 4.0 - 1.07, below, above, square }
    }

    fn stored(self, u: f64) -> f64 {
        let d = u - self.edge;
        if d > 0.0 { self.above * d + self.square * d * d } else { self.below * d }
    }

    fn text(self, condition: &str, u: &str) -> String {
        let Self { edge, below, above, square } = self;
        let d = format!("({u} - ({edge}))");
        format!("if {condition} then {above}*{d} + {square}*{d}^2 else {below}*{d}")
    }
}

/// What sets a value, and to which: a multiple of what was there before, and a constant.
#[derive(Clone, Copy)]
struct Setting {
    at: f64,
    factor: f64,
    constant: f64,
}

struct Store {
    law: Law,
    source: f64,
    start: f64,
    settings: Vec<Setting>,
    /// Whenever it rises above the first, it is set to the second.
    overflow: Option<(f64, f64)>,
    observed: f64,
}

/// Joins two stores: while on, or always.
struct Link {
    a: usize,
    b: usize,
    times: Option<Vec<f64>>,
    first: bool,
}

impl Link {
    fn is_on(&self, after: f64) -> bool {
        let Some(times) = &self.times else { return true };
        self.first ^ (times.iter().filter(|&&time| time <= after).count() % 2 == 1)
    }
}

struct System {
    stores: Vec<Store>,
    links: Vec<Link>,
}

/// What the oracle follows.
#[derive(Clone)]
struct Point {
    time: f64,
    across: Vec<f64>,
    /// What the observers have seen come.
    seen: Vec<f64>,
}

impl System {
    fn random(random: &mut Rng) -> Self {
        let count = random.usize(1..5);
        let grid = |random: &mut Rng| f64::from(random.u8(1..16)) / 8.0;
        let value = |random: &mut Rng| f64::from(random.u8(0..25)) / 8.0 - 1.5;
        let mut links: Vec<Link> = Vec::new();
        for b in 1..count {
            if random.u8(0..3) > 0 {
                let mut times: Vec<f64> = (0..random.usize(1..4)).map(|_| grid(random)).collect();
                times.sort_by(f64::total_cmp);
                times.dedup();
                let times = (random.u8(0..4) > 0).then_some(times);
                links.push(Link { a: random.usize(0..b), b, times, first: random.bool() });
            }
        }
        let stores = (0..count)
            .map(|k| {
                // Of stores that are always joined one is a state.
                let is_tied = links.iter().any(|link| link.times.is_none() && link.b == k);
                let count = if is_tied { 0 } else { random.usize(0..3) };
                let mut settings: Vec<Setting> = (0..count)
                    .map(|_| Setting {
                        at: grid(random),
                        factor: *random.choice(&[0.0, 0.0, -0.5, 0.75]).unwrap_or(&0.0),
                        constant: value(random),
                    })
                    .collect();
                settings.sort_by(|a, b| a.at.total_cmp(&b.at));
                settings.dedup_by(|a, b| a.at == b.at);
                let overflows = settings.is_empty() && !is_tied && random.u8(0..3) == 0;
                let above = value(random) + 0.013;
                Store {
                    law: Law::random(random),
                    source: f64::from(random.u8(0..17)) / 4.0 - 2.0,
                    start: value(random) + 0.003,
                    settings,
                    overflow: overflows.then(|| (above, above - 0.3 - 2.0 * random.f64())),
                    observed: f64::from(random.u8(1..9)) / 8.0,
                }
            })
            .collect();
        Self { stores, links }
    }

    /// The stores that are joined with one just after a time.
    fn group(&self, of: usize, after: f64) -> Vec<usize> {
        let mut found = vec![of];
        loop {
            let size = found.len();
            for link in self.links.iter().filter(|link| link.is_on(after)) {
                match (found.contains(&link.a), found.contains(&link.b)) {
                    (true, false) => found.push(link.b),
                    (false, true) => found.push(link.a),
                    _ => {}
                }
            }
            if found.len() == size {
                found.sort_unstable();
                return found;
            }
        }
    }

    fn groups(&self, after: f64) -> Vec<Vec<usize>> {
        let all = (0..self.stores.len()).map(|k| self.group(k, after));
        let mut groups: Vec<Vec<usize>> = all.collect();
        groups.sort();
        groups.dedup();
        groups
    }

    fn stored(&self, group: &[usize], across: f64) -> f64 {
        group.iter().map(|&k| self.stores[k].law.stored(across)).sum()
    }

    /// What is across a group that stores so much.
    fn across(&self, group: &[usize], stored: f64) -> f64 {
        let (mut low, mut high) = (-1e3, 1e3);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if self.stored(group, middle) < stored { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// What comes in moves what is across; the observers see it.
    fn take(&self, point: &mut Point, group: &[usize], stored: f64) {
        let across = self.across(group, stored);
        for &k in group {
            let law = self.stores[k].law;
            point.seen[k] += self.stores[k].observed * (law.stored(across) - law.stored(point.across[k]));
            point.across[k] = across;
        }
    }

    fn flow(&self, point: &mut Point, until: f64, after: f64) {
        for group in self.groups(after) {
            let stored = self.stored(&group, point.across[group[0]]);
            let source: f64 = group.iter().map(|&k| self.stores[k].source).sum();
            self.take(point, &group, stored + source * (until - point.time));
        }
        point.time = until;
    }

    /// The next time at which a store overflows.
    fn next_overflow(&self, point: &Point) -> Option<(usize, f64)> {
        let mut next: Option<(usize, f64)> = None;
        for group in self.groups(point.time) {
            let source: f64 = group.iter().map(|&k| self.stores[k].source).sum();
            for &k in &group {
                let Some((above, _)) = self.stores[k].overflow else { continue };
                if point.across[k] > above || source <= 0.0 {
                    continue;
                }
                let missing = self.stored(&group, above) - self.stored(&group, point.across[k]);
                let time = point.time + missing / source;
                if next.is_none_or(|(_, known)| time < known) {
                    next = Some((k, time));
                }
            }
        }
        next
    }

    /// Sets stores and what they are joined with. Of one group only one can be set at a time.
    fn set(&self, point: &mut Point, values: &[(usize, f64)]) -> Option<()> {
        let mut known: Vec<usize> = Vec::new();
        for &(k, value) in values {
            let group = self.group(k, point.time);
            if group.iter().any(|other| known.contains(other)) {
                return None;
            }
            group.iter().for_each(|&other| point.across[other] = value);
            known.extend(group);
        }
        Some(())
    }

    /// Stores that rose above their limits in a jump overflow, then others for their sake.
    fn cascade(&self, point: &mut Point, mut before: Vec<f64>) -> Option<()> {
        for _ in 0..20 {
            let mut values = Vec::new();
            for (k, store) in self.stores.iter().enumerate() {
                let Some((above, to)) = store.overflow else { continue };
                if (point.across[k] - above).abs() < APART {
                    return None;
                }
                if point.across[k] > above && before[k] <= above {
                    values.push((k, to));
                }
            }
            if values.is_empty() {
                return Some(());
            }
            before.clone_from(&point.across);
            self.set(point, &values)?;
        }
        None
    }

    /// The points between all events; `None` where something is too close to call.
    fn run(&self) -> Option<Vec<Point>> {
        let mut point = Point {
            time: 0.0,
            across: self.stores.iter().map(|store| store.start).collect(),
            seen: vec![0.0; self.stores.len()],
        };
        for group in self.groups(0.0) {
            let start = point.across[group[0]];
            group.iter().for_each(|&k| point.across[k] = start);
        }
        let above = |(store, across): (&Store, &f64)| store.overflow.is_some_and(|(above, _)| *across > above - APART);
        if self.stores.iter().zip(&point.across).any(above) {
            return None;
        }
        let mut instants: Vec<f64> = self.links.iter().flat_map(|link| link.times.iter().flatten().copied()).collect();
        instants.extend(self.stores.iter().flat_map(|store| store.settings.iter().map(|setting| setting.at)));
        instants.push(STOP);
        instants.sort_by(f64::total_cmp);
        instants.dedup();
        let mut points = Vec::new();
        for &instant in &instants {
            for _ in 0..40 {
                let overflow = self.next_overflow(&point).filter(|&(_, time)| time < instant + APART);
                let end = overflow.map_or(instant, |(_, time)| time);
                if end - point.time < APART || overflow.is_some() && (instant - end).abs() < APART {
                    return None;
                }
                let (middle, after) = (0.5 * (point.time + end), point.time);
                self.flow(&mut point, middle, after);
                points.push(point.clone());
                self.flow(&mut point, end, after);
                let Some((k, _)) = overflow else { break };
                let (_, to) = self.stores[k].overflow?;
                let before = point.across.clone();
                let others = self.stores.iter().zip(&before).enumerate().filter(|(other, _)| *other != k);
                if others.into_iter().any(|(_, (s, v))| s.overflow.is_some_and(|(above, _)| (v - above).abs() < APART))
                {
                    return None;
                }
                self.set(&mut point, &[(k, to)])?;
                self.cascade(&mut point, before)?;
            }
            if (point.time - instant).abs() > 1e-12 {
                return None;
            }
            self.pass(&mut point)?;
        }
        Some(points)
    }

    /// What is due at the time of the point: switches, then values that are set.
    fn pass(&self, point: &mut Point) -> Option<()> {
        let left = point.across.clone();
        for group in self.groups(point.time) {
            let stored = group.iter().map(|&k| self.stores[k].law.stored(point.across[k])).sum();
            self.take(point, &group, stored);
        }
        let values: Vec<(usize, f64)> = (self.stores.iter().enumerate())
            .filter_map(|(k, store)| {
                let setting = store.settings.iter().find(|setting| setting.at == point.time)?;
                Some((k, setting.factor * left[k] + setting.constant))
            })
            .collect();
        // What overflows at once with what is set would leave open which value holds.
        let shared = point.across.clone();
        for (store, (&before, &now)) in self.stores.iter().zip(left.iter().zip(&shared)) {
            let rises = store.overflow.is_some_and(|(above, _)| before <= above && now > above - APART);
            if rises && !values.is_empty() {
                return None;
            }
        }
        self.set(point, &values)?;
        self.cascade(point, if values.is_empty() { left } else { shared })
    }

    fn text(&self, random: &mut Rng) -> String {
        let count = self.stores.len();
        let mut declarations = String::new();
        let mut equations = String::new();
        let tied = |k: usize| self.links.iter().any(|link| link.is_on(0.0) && link.b == k);
        let is_array = random.bool();
        let name = |k: usize| if is_array { format!("v[{}]", k + 1) } else { format!("v{}", k + 1) };
        if is_array {
            let starts: Vec<String> = self.stores.iter().map(|store| store.start.to_string()).collect();
            let fixed: Vec<String> = (0..count).map(|k| (!tied(k)).to_string()).collect();
            let _ = writeln!(
                declarations,
                "  Real v[{count}](start = {{{}}}, fixed = {{{}}});",
                starts.join(", "),
                fixed.join(", ")
            );
        }
        let mut flows = vec![String::new(); count];
        for (n, link) in self.links.iter().enumerate() {
            flows[link.a] += &format!(" - i{n}");
            flows[link.b] += &format!(" + i{n}");
            let _ = writeln!(declarations, "  Real i{n};");
            let (a, b) = (name(link.a), name(link.b));
            let Some(times) = &link.times else {
                let _ = writeln!(equations, "  {a} = {b};");
                continue;
            };
            let start = (0..times.len()).fold(link.first.to_string(), |text, k| {
                let on = link.first ^ (k % 2 == 0);
                format!("if time >= {} then {on} else {text}", times[k])
            });
            let _ = writeln!(declarations, "  Boolean on{n} = {start};");
            let _ = match random.bool() {
                true => writeln!(equations, "  if on{n} then {a} = {b}; else i{n} = 0; end if;"),
                false => writeln!(equations, "  0 = if on{n} then {a} - {b} else i{n};"),
            };
        }
        for (k, store) in self.stores.iter().enumerate() {
            let v = name(k);
            if !is_array {
                let _ = writeln!(declarations, "  Real {v}(start = {}, fixed = {});", store.start, !tied(k));
            }
            let _ = writeln!(declarations, "  Real q{k}, w{k}(start = 0, fixed = true);");
            let relation = format!("{v} > {}", store.law.edge);
            let condition = match random.bool() {
                true => relation,
                false => {
                    let _ = writeln!(declarations, "  Boolean high{k} = {relation};");
                    format!("high{k}")
                }
            };
            let law = store.law.text(&condition, &v);
            let (source, flow) = (store.source, &flows[k]);
            let _ = match random.u8(0..3) {
                0 => writeln!(equations, "  q{k} = {law};\n  der(q{k}) = {source}{flow};"),
                1 => writeln!(equations, "  q{k} + 0.5*{v} = {law};\n  der(q{k} + 0.5*{v}) = {source}{flow};"),
                _ => writeln!(equations, "  q{k} + 0.5*{v} = {law};\n  der(q{k}) + 0.5*der({v}) = {source}{flow};"),
            };
            let _ = writeln!(equations, "  der(w{k}) = {}*({source}{flow});", store.observed);
            if let Some((above, to)) = store.overflow {
                let _ = writeln!(equations, "  when {v} > {above} then reinit({v}, {to}); end when;");
            }
            for (n, setting) in store.settings.iter().rev().enumerate() {
                let when = if n == 0 { "when" } else { "elsewhen" };
                let Setting { at, factor, constant } = setting;
                let value =
                    if *factor == 0.0 { constant.to_string() } else { format!("{factor}*pre({v}) + ({constant})") };
                let _ = writeln!(equations, "  {when} time >= {at} then reinit({v}, {value});");
            }
            if !store.settings.is_empty() {
                equations += "  end when;\n";
            }
        }
        format!("model M\n{declarations}equation\n{equations}end M;\n")
    }
}

pub fn case(random: &mut Rng) -> Case {
    loop {
        let system = System::random(random);
        let is_set = |store: &Store| !store.settings.is_empty() || store.overflow.is_some();
        if !system.stores.iter().any(is_set) {
            continue;
        }
        let Some(points) = system.run() else { continue };
        let text = system.text(random);
        let solver = *random.choice(SOLVERS).unwrap_or(&"auto");
        let is_array = text.contains("v[");
        let settings = Settings {
            stop_time: Some(STOP),
            interval: Some(0.0125),
            tolerance: Some(1e-8),
            solver: Some(solver.to_owned()),
            ..Settings::default()
        };
        return Case::complete(format!("// solver {solver}\n{text}"), settings, move |run| {
            for point in &points {
                for k in 0..point.across.len() {
                    let v = if is_array { format!("v[{}]", k + 1) } else { format!("v{}", k + 1) };
                    for (name, expected) in [(v, point.across[k]), (format!("w{k}"), point.seen[k])] {
                        let value = run.at(&name, point.time)?;
                        if (value - expected).abs() > 1e-4 * (1.0 + expected.abs()) {
                            return Err(format!("{name} is {value} instead of {expected} at {}", point.time));
                        }
                    }
                }
            }
            Ok(())
        });
    }
}
