//! Derivatives of trajectories with respect to parameters, through events and changes of structure, against central differences
//! of runs. The models are those of other families, with numbers of their text moved into parameters, and such whose conditions
//! stand on their edges (`crate::resting`). What is refused says nothing, nor do differences that are no limit: where two of them
//! disagree. Where the differences to both sides have limits that differ, there is no derivative, and an answer is wrong.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use dae::{Node, VarId, VariableType};
use fastrand::Rng;
use results::MemorySink;
use session::{Ending, EventLog, Failed, MemoryFiles, Request, RunOptions, Session, Settings};
use simulate::SensitivityRequest;

use crate::case::{Case, Verdict};
use crate::family::FAMILIES;
use crate::run::LIMIT;
use crate::tuned::with_parameters;

/// Relative to the size of a derivative.
const TOLERANCE: f64 = 1e-4;
/// The tolerance of the runs.
const OF_RUNS: f64 = 1e-10;
/// Families whose models have events that depend on parameters.
const SOURCES: [&str; 8] = ["switching", "switching", "charge", "diodes", "friction", "gears", "reinit", "mechanics"];
/// Parameters that are tried.
const TRIED: usize = 3;

pub fn case(rng: &mut Rng) -> Case {
    if rng.u8(..3) == 0 {
        let settings = Settings { stop_time: Some(1.0), ..Settings::default() };
        return judged(crate::resting::text(rng), settings, rng.u64(..));
    }
    let name = SOURCES[rng.usize(..SOURCES.len())];
    let family = FAMILIES.iter().find(|family| family.name == name).unwrap_or(&FAMILIES[0]);
    let Case { text, settings, .. } = (family.case)(rng);
    let text = with_parameters(&text, rng);
    judged(text, settings, rng.u64(..))
}

fn judged(text: String, settings: Settings, seed: u64) -> Case {
    let (own, given) = (text.clone(), settings.clone());
    let judge = Box::new(move |_: &_| guarded(&own, &given, seed));
    // The run itself says nothing here.
    let settings = Settings { stop_time: settings.start_time.or(Some(0.0)), ..Settings::default() };
    Case { text, settings, inputs: Vec::new(), judge }
}

fn guarded(text: &str, settings: &Settings, seed: u64) -> Verdict {
    catch_unwind(AssertUnwindSafe(|| agrees(text, settings, seed))).unwrap_or_else(|_| Err("panic".into()))
}

fn agrees(text: &str, settings: &Settings, seed: u64) -> Verdict {
    let mut rng = Rng::with_seed(seed);
    let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", text)));
    let request = Request { target: "case.mo".into(), ..Request::default() };
    let translated = session.flatten(&request).and_then(|model| {
        let options = settings.resolve(&model.experiment).map_err(Failed::Call)?;
        let schedule = session.structure(model)?;
        Ok((session.compile(schedule)?, options))
    });
    let Ok((program, options)) = translated else { return Ok(()) };
    let model = program.model();
    let is_differentiated = |&variable: &VarId| {
        let declared = &model.variables[variable];
        declared.ty == VariableType::Real && !declared.hidden && model.exprs.find(Node::Der(variable)).is_some()
    };
    let of: Vec<VarId> = model.variables.ids().filter(is_differentiated).collect();
    let mut parameters: Vec<VarId> = model.variables.ids().filter(|&id| program.has_parameter_tangent(id)).collect();
    let mut memory = program.memory();
    if of.is_empty() || program.run_parameters(&[], &mut memory).is_err() {
        return Ok(());
    }
    rng.shuffle(&mut parameters);
    let options = RunOptions { tolerance: OF_RUNS, ..options };
    let mut end = |parameter: VarId, value: f64| -> Option<Vec<f64>> {
        let options = RunOptions { parameters: vec![(parameter, value)].into(), ..options.clone() };
        let (ends, _) = last(&mut session, &program, &options, &of)?;
        Some(ends)
    };
    for &parameter in parameters.iter().take(TRIED) {
        let value = program.value(&memory, parameter);
        let step = if value == 0.0 { 1e-4 } else { 1e-4 * value.abs() };
        let Some(here) = end(parameter, value) else { continue };
        let mut around = |step: f64| -> Option<Differences> {
            let (up, down) = (end(parameter, value + step)?, end(parameter, value - step)?);
            Some(Differences::new(&up, &here, &down, step))
        };
        let (Some(coarse), Some(fine)) = (around(step), around(0.5 * step)) else { continue };
        let asked = SensitivityRequest { of: of.clone(), parameters: vec![parameter] };
        let own = RunOptions { sensitivities: Some(Arc::new(asked)), ..options.clone() };
        let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", text)));
        let Some((ends, exact)) = last(&mut session, &program, &own, &of) else { continue };
        for (k, &variable) in of.iter().enumerate() {
            let noise = 1e3 * OF_RUNS * ends[k].abs().max(1.0) / step;
            let (name, by) = (model.variable_name(variable), model.variable_name(parameter));
            if fine.has_corner(&coarse, k, noise)
                && around(0.02 * step).is_some_and(|close| close.has_corner(&fine, k, 50.0 * noise))
            {
                let [below, above] = fine.sides[k];
                return Err(format!(
                    "d {name} / d {by} is {} although it is {below} to one side and {above} to the other",
                    exact[k]
                ));
            }
            let (coarse, fine) = (coarse.central[k], fine.central[k]);
            let error = (coarse - fine).abs();
            let size = exact[k].abs().max(fine.abs());
            // Differences that have no limit are those of a kink.
            if error > 1e-3 * size + 1e-6 {
                continue;
            }
            let is_near = (exact[k] - fine).abs() <= TOLERANCE * size + 4.0 * error + noise;
            if !is_near {
                return Err(format!("d {name} / d {by} is {} instead of {fine} ± {error}", exact[k]));
            }
        }
    }
    Ok(())
}

/// Differences of runs, by variable.
struct Differences {
    central: Vec<f64>,
    /// To below and to above.
    sides: Vec<[f64; 2]>,
}

impl Differences {
    fn new(up: &[f64], here: &[f64], down: &[f64], step: f64) -> Self {
        let values = || up.iter().zip(here).zip(down);
        Self {
            central: values().map(|((up, _), down)| (up - down) / (2.0 * step)).collect(),
            sides: values().map(|((up, here), down)| [(here - down) / step, (up - here) / step]).collect(),
        }
    }

    /// Whether both sides differ, and do not come nearer to each other than they were farther away.
    fn has_corner(&self, farther: &Self, k: usize, noise: f64) -> bool {
        let gap = |sides: [f64; 2]| (sides[1] - sides[0]).abs();
        let [below, above] = self.sides[k];
        let own = gap(self.sides[k]);
        own > 0.05 * below.abs().max(above.abs()) + 10.0 * noise && own > 0.8 * gap(farther.sides[k])
    }
}

/// The values of variables at the end of a run, and their derivatives; `None` where it is not complete.
fn last(
    session: &mut Session,
    program: &Arc<compile::Program>,
    options: &RunOptions,
    of: &[VarId],
) -> Option<(Vec<f64>, Vec<f64>)> {
    let started = Instant::now();
    let mut sink = MemorySink::default();
    let mut watcher = |_: f64| started.elapsed() < LIMIT;
    let outcome = session.simulate(program, options, &|_| true, &mut sink, &mut EventLog::none(), &mut watcher).ok()?;
    matches!(outcome.ending, Ending::Complete).then_some(())?;
    let value = |&variable: &VarId| sink.trajectories.last(&program.model().variable_name(variable));
    let ends = of.iter().map(value).collect::<Option<Vec<f64>>>()?;
    let rows = outcome.sensitivities.map(|rows| rows.values).unwrap_or_default();
    let first = rows.len().saturating_sub(of.len());
    Some((ends, rows[first..].to_vec()))
}
