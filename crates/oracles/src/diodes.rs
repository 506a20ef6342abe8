//! Ideal diodes with and without `pre`: each conducts or blocks by conditions on its own voltage and current, which follow from a linear
//! system of all of them. `u = e - R·i` with a positive definite R, `u ≤ 0`, `i ≥ 0`, `u·i = 0` has one solution, which is
//! found here among the combinations of diodes that conduct; every row is compared with it. Some diodes charge capacitors, or
//! have a coil in series, so that the structure changes when they block.

use std::fmt::Write as _;

use fastrand::Rng;
use session::Settings;

use crate::case::{Case, SOLVERS};
use crate::linear::pick;

const STOP: f64 = 2.0;
const STEPS: usize = 8000;

/// What is in series with a diode.
#[derive(Clone, Copy, PartialEq)]
enum Series {
    Nothing,
    /// A capacitor with a resistor beside it.
    Capacitor {
        capacitance: f64,
        load: f64,
    },
    Coil(f64),
}

#[derive(Clone, Copy)]
enum Source {
    Sine {
        offset: f64,
        amplitude: f64,
        rate: f64,
        phase: f64,
    },
    /// Another value from an instant on.
    Step {
        before: f64,
        after: f64,
        instant: f64,
    },
}

impl Source {
    fn at(self, time: f64) -> f64 {
        match self {
            Source::Sine { offset, amplitude, rate, phase } => offset + amplitude * (rate * time + phase).sin(),
            Source::Step { before, after, instant } => {
                if time < instant {
                    before
                } else {
                    after
                }
            }
        }
    }

    fn text(self) -> String {
        match self {
            Source::Sine { offset, amplitude, rate, phase } => {
                format!("({offset}) + {amplitude}*sin({rate}*time + {phase})")
            }
            Source::Step { before, after, instant } => format!("if time < {instant} then {before} else {after}"),
        }
    }
}

struct Circuit {
    resistance: Vec<Vec<f64>>,
    series: Vec<Series>,
    sources: Vec<Source>,
}

pub fn case(random: &mut Rng) -> Case {
    let circuit = circuit(random);
    let count = circuit.sources.len();
    let solver = pick(random, &SOLVERS).to_string();
    let tolerance = 1e-7;
    let text = format!("// solver {solver}\n{}", text(random, &circuit));
    let settings = Settings {
        stop_time: Some(STOP),
        intervals: Some(*pick(random, &[7, 50, 500])),
        tolerance: Some(tolerance),
        solver: Some(solver),
        ..Settings::default()
    };
    Case::complete(text, settings, move |run| {
        let columns =
            |name: &str| (1..=count).map(|k| run.column(&format!("{name}[{k}]"))).collect::<Result<Vec<_>, String>>();
        let (u, i, x) = (columns("u")?, columns("i")?, columns("x")?);
        for (row, &time) in run.result.time.iter().enumerate() {
            let at = |values: &[&[f64]]| -> Vec<f64> { values.iter().map(|column| column[row]).collect() };
            circuit.judge_row(time, &at(&u), &at(&i), &at(&x))?;
        }
        let expected = circuit.states_at_end();
        for (k, expected) in expected.iter().enumerate() {
            let found = run.end(&format!("x[{}]", k + 1))?;
            let is_near = (found - expected).abs() <= 2e-3 * (1.0 + expected.abs());
            if !is_near {
                return Err(format!("x[{}] ends at {found} instead of {expected}", k + 1));
            }
        }
        Ok(())
    })
}

fn circuit(random: &mut Rng) -> Circuit {
    let count = random.usize(1..4);
    // A product of a matrix with its transpose, and something on the diagonal.
    let half: Vec<Vec<f64>> = (0..count).map(|_| (0..count).map(|_| 2.0 * random.f64() - 1.0).collect()).collect();
    let mut resistance = vec![vec![0.0; count]; count];
    for (a, row) in resistance.iter_mut().enumerate() {
        for (b, entry) in row.iter_mut().enumerate() {
            *entry = (0..count).map(|k| half[a][k] * half[b][k]).sum::<f64>();
            *entry += if a == b { 0.2 + random.f64() } else { 0.0 };
        }
    }
    let has_coils = random.u32(0..3) == 0;
    let mut series = Vec::new();
    for _ in 0..count {
        series.push(match random.u32(0..3) {
            0 => Series::Nothing,
            1 if has_coils => Series::Coil(0.1 + random.f64()),
            _ => Series::Capacitor { capacitance: 0.05 + random.f64(), load: 0.5 + 5.0 * random.f64() },
        });
    }
    let sources = (0..count).map(|_| match random.u32(0..4) {
        0 => Source::Step {
            before: 4.0 * random.f64() - 2.0,
            after: 4.0 * random.f64() - 2.0,
            instant: STOP * (0.1 + 0.8 * random.f64()),
        },
        _ => Source::Sine {
            // Often nothing drives a current at the start.
            offset: if random.u32(0..3) == 0 { 0.0 } else { 0.6 * random.f64() - 0.3 },
            amplitude: 0.5 + 2.0 * random.f64(),
            rate: 2.0 + 20.0 * random.f64(),
            phase: *pick(random, &[0.0, 1.3, 2.7, 4.1]),
        },
    });
    Circuit { series, sources: sources.collect(), resistance }
}

/// How a diode may be written.
fn diode(random: &mut Rng, k: usize) -> (String, String) {
    let (u, i, b) = (format!("u[{k}]"), format!("i[{k}]"), format!("b{k}"));
    let variable = |equations: String| (format!("  Boolean {b};\n"), equations);
    let branches = format!("  0 = if {b} then {i} else {u};\n");
    match random.u32(0..11) {
        0 => variable(format!("equation\n{branches}  {b} = {u} <= 0 and not {i} > 0;\n")),
        1 => variable(format!("equation\n{branches}  {b} = {u} < 0 or {i} < 0;\n")),
        2 => variable(format!("equation\n  0 = if {b} then {u} else {i};\n  {b} = {u} > 0 or {i} > 0;\n")),
        3 => (
            String::new(),
            format!("equation\n  if {u} <= 0 and {i} <= 0 then\n    {i} = 0;\n  else\n    {u} = 0;\n  end if;\n"),
        ),
        4 => (String::new(), format!("equation\n  0 = if {u} > 0 or {i} > 0 then {u} else {i};\n")),
        5 => variable(format!("algorithm\n  {b} := {u} <= 0 and {i} <= 0;\nequation\n{branches}")),
        6 => variable(format!(
            "algorithm\n  if {u} > 0 or {i} > 0 then\n    {b} := false;\n  else\n    {b} := true;\n  end if;\nequation\n{branches}"
        )),
        7 => (
            format!("  Integer {b};\n"),
            format!(
                "equation\n  0 = if {b} == 1 then {i} else {u};\n  {b} = if {u} <= 0 and {i} <= 0 then 1 else 2;\n"
            ),
        ),
        8 | 9 => (
            format!("  Boolean {b}(start = {}, fixed = true);\n", random.bool()),
            format!("equation\n  0 = if pre({b}) then {i} else {u};\n  {b} = {u} <= 0 and not {i} > 0;\n"),
        ),
        _ => (
            format!("  Real s{k};\n"),
            format!("equation\n  {u} = if s{k} > 0 then 0 else s{k};\n  {i} = if s{k} > 0 then s{k} else 0;\n"),
        ),
    }
}

fn text(random: &mut Rng, circuit: &Circuit) -> String {
    let count = circuit.sources.len();
    let (mut declared, mut equations) = (String::new(), String::new());
    for k in 1..=count {
        let (more, law) = diode(random, k);
        declared += &more;
        equations += &law;
    }
    equations += "equation\n";
    for (k, row) in circuit.resistance.iter().enumerate() {
        let n = k + 1;
        let _ = writeln!(declared, "  Real e{n} = {};", circuit.sources[k].text());
        let _ = write!(equations, "  u[{n}] = e{n}");
        for (j, r) in row.iter().enumerate() {
            let _ = write!(equations, " - ({r})*i[{}]", j + 1);
        }
        match circuit.series[k] {
            Series::Nothing => {
                let _ = writeln!(equations, ";\n  der(x[{n}]) = i[{n}];");
            }
            Series::Capacitor { capacitance, load } => {
                let _ = writeln!(equations, " - x[{n}];\n  {capacitance}*der(x[{n}]) = i[{n}] - x[{n}]/{load};");
            }
            Series::Coil(inductance) => {
                let _ = writeln!(equations, " - {inductance}*der(x[{n}]);\n  x[{n}] = i[{n}];");
            }
        }
    }
    format!(
        "model M\n  Real u[{count}], i[{count}];\n  Real x[{count}](each start = 0, each fixed = true);\n{declared}{equations}end M;\n"
    )
}

impl Circuit {
    /// Whether current flows through something that keeps it.
    fn has_coils(&self) -> bool {
        self.series.iter().any(|series| matches!(series, Series::Coil(_)))
    }

    /// What drives current through the diodes, without the voltage of coils.
    fn drives(&self, time: f64, x: &[f64]) -> Vec<f64> {
        let drive = |k: usize| match self.series[k] {
            Series::Capacitor { .. } => self.sources[k].at(time) - x[k],
            _ => self.sources[k].at(time),
        };
        (0..x.len()).map(drive).collect()
    }

    /// A row agrees with the laws of the diodes, and without coils its currents are the only ones that do.
    fn judge_row(&self, time: f64, u: &[f64], i: &[f64], x: &[f64]) -> Result<(), String> {
        const SMALL: f64 = 1e-6;
        let is_instant =
            |source: &Source| matches!(source, Source::Step { instant, .. } if (time - instant).abs() < 1e-9);
        if self.sources.iter().any(is_instant) {
            return Ok(());
        }
        for k in 0..u.len() {
            let conducts = u[k].abs() <= SMALL && i[k] >= -SMALL;
            let blocks = i[k].abs() <= SMALL && u[k] <= SMALL;
            if !conducts && !blocks {
                return Err(format!("diode {}: u = {}, i = {} at {time}", k + 1, u[k], i[k]));
            }
        }
        if self.has_coils() {
            return Ok(());
        }
        let expected = self.currents(&self.drives(time, x)).ok_or("the oracle has no solution")?;
        for (k, (found, expected)) in i.iter().zip(&expected).enumerate() {
            let is_near = (found - expected).abs() <= 1e-5 * (1.0 + expected.abs());
            if !is_near {
                return Err(format!("i[{}] is {found} instead of {expected} at {time}", k + 1));
            }
        }
        Ok(())
    }

    /// The currents of diodes without coils: of all combinations the one that agrees with itself.
    fn currents(&self, drives: &[f64]) -> Option<Vec<f64>> {
        let count = drives.len();
        (0..1u32 << count).find_map(|combination| {
            let conducting: Vec<usize> = (0..count).filter(|k| combination >> k & 1 == 1).collect();
            let matrix = conducting.iter().flat_map(|&a| conducting.iter().map(move |&b| self.resistance[a][b]));
            let right = conducting.iter().map(|&a| drives[a]).collect();
            let solved = crate::dense::solve(matrix.collect(), right)?;
            let mut i = vec![0.0; count];
            conducting.iter().zip(&solved).for_each(|(&k, &current)| i[k] = current);
            let u = |k: usize| drives[k] - (0..count).map(|j| self.resistance[k][j] * i[j]).sum::<f64>();
            let rounding = 1e-11 * drives.iter().fold(1.0f64, |most, drive| most.max(drive.abs()));
            let holds = (0..count).all(|k| i[k] >= -rounding && u(k) <= rounding);
            holds.then_some(i)
        })
    }

    /// The same over a step of Euler's implicit rule, in which a coil is a resistance and a capacitor too.
    fn step(&self, time: f64, step: f64, x: &mut [f64]) {
        let count = x.len();
        let mut implicit = Circuit {
            resistance: self.resistance.clone(),
            series: vec![Series::Nothing; count],
            sources: self.sources.clone(),
        };
        let mut drives: Vec<f64> = self.sources.iter().map(|source| source.at(time + step)).collect();
        for k in 0..count {
            match self.series[k] {
                Series::Nothing => {}
                Series::Capacitor { capacitance, load } => {
                    let weight = capacitance / step + 1.0 / load;
                    implicit.resistance[k][k] += 1.0 / weight;
                    drives[k] -= capacitance / step * x[k] / weight;
                }
                Series::Coil(inductance) => {
                    implicit.resistance[k][k] += inductance / step;
                    drives[k] += inductance / step * x[k];
                }
            }
        }
        let Some(i) = implicit.currents(&drives) else { return };
        for k in 0..count {
            x[k] = match self.series[k] {
                Series::Nothing => x[k] + step * i[k],
                Series::Capacitor { capacitance, load } => {
                    (capacitance / step * x[k] + i[k]) / (capacitance / step + 1.0 / load)
                }
                Series::Coil(_) => i[k],
            };
        }
    }

    /// Two runs of first order, the second with half the step, and what they extrapolate to.
    fn states_at_end(&self) -> Vec<f64> {
        let run = |steps: usize| {
            let step = STOP / steps as f64;
            let mut x = vec![0.0; self.sources.len()];
            (0..steps).for_each(|k| self.step(k as f64 * step, step, &mut x));
            x
        };
        let (coarse, fine) = (run(STEPS), run(2 * STEPS));
        coarse.iter().zip(&fine).map(|(coarse, fine)| 2.0 * fine - coarse).collect()
    }
}
