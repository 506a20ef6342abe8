//! Exact derivatives against central differences, and against their own transposes. The models are those of the other families,
//! with numbers of their text moved into parameters, at points that Euler's method leads to over events of all kinds.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dae::{VarId, Variability, VariableType};
use fastrand::Rng;
use session::{Failed, MemoryFiles, Request, Session, Settings};
use simulate::{Diagnostic, System};

use crate::case::{Case, Verdict};
use crate::family::FAMILIES;
use crate::tuned::with_parameters;

/// Relative to the size of the derivative and of what differences lose.
const TOLERANCE: f64 = 1e-5;

pub fn case(rng: &mut Rng) -> Case {
    // Both sides of the equations of `scales` are equal by construction: derivatives by their parameters are rounding alone.
    let left_out = ["tuned", "jacobians", "trajectories", "scales"];
    let others: Vec<_> = FAMILIES.iter().filter(|family| !left_out.contains(&family.name)).collect();
    let Case { text, settings, .. } = (others[rng.usize(..others.len())].case)(rng);
    let text = with_parameters(&text, rng);
    let seed = rng.u64(..);
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
    let mut translate = || {
        let model = session.flatten(&request)?;
        let options = settings.resolve(&model.experiment).map_err(Failed::Call)?;
        let schedule = session.structure(model)?;
        Ok::<_, Failed>((session.compile(schedule)?, options))
    };
    // What is refused has no derivatives.
    let Ok((program, options)) = translate() else { return Ok(()) };
    let mut system = System::of(&program, &options);
    let mut random = rng.fork();
    // A point that cannot be reached by such coarse steps says nothing.
    if !walk(&mut system, &mut random, options.stop_time - options.start_time).unwrap_or(false) {
        return Ok(());
    }
    // A parameter may go through many roundings without a trace.
    let rounds = ["rem(", "mod(", "div(", "floor(", "ceil(", "integer("].iter().any(|name| text.contains(name));
    compare(&mut system, &mut rng, !rounds)
}

/// Goes some way in Euler's steps; false where the model ends itself.
fn walk(system: &mut System, rng: &mut Rng, span: f64) -> Result<bool, Box<Diagnostic>> {
    let mut update = system.initialise()?;
    let step = span / 500.0;
    for _ in 0..rng.usize(..30) {
        if update.terminated.is_some() {
            return Ok(false);
        }
        let begin = system.time();
        let due = update.next_time_event.unwrap_or(f64::INFINITY);
        let end = (begin + step.min(system.longest_step())).min(due);
        let mut before = vec![0.0; system.event_indicator_count()];
        system.event_indicators(&mut before)?;
        let mut x = system.states().to_vec();
        let mut slopes = vec![0.0; x.len()];
        system.derivatives(&mut slopes)?;
        x.iter_mut().zip(&slopes).for_each(|(x, slope)| *x += (end - begin) * slope);
        system.set_time(end);
        system.set_states(&x)?;
        let mut after = before.clone();
        system.event_indicators(&mut after)?;
        let accepted = system.accepted_step()?;
        let has_changed = before.iter().zip(&after).any(|(before, after)| before * after <= 0.0);
        if has_changed || accepted.event || end >= due {
            system.enter_event()?;
            update = system.update_discrete()?;
        }
    }
    Ok(update.terminated.is_none())
}

fn compare(system: &mut System, rng: &mut Rng, moves_parameters: bool) -> Verdict {
    let program = system.program().clone();
    let model = program.model();
    let is_smooth = |&variable: &VarId| {
        let declared = &model.variables[variable];
        declared.ty == VariableType::Real && declared.variability == Variability::Continuous && !declared.hidden
    };
    // Modes have other variables than the program at the beginning.
    if program.schedule.mode.is_some() || system.outputs().is_err() {
        return Ok(());
    }
    let of: Vec<VarId> = model.variables.ids().filter(is_smooth).collect();
    let states: Vec<VarId> = system.state_variables().map(|(state, _)| state).collect();
    let parameters: Vec<VarId> =
        model.variables.ids().filter(|&variable| program.has_parameter_tangent(variable)).collect();
    let by: Vec<VarId> = states.iter().chain(&parameters).copied().collect();
    if of.is_empty() || by.is_empty() {
        return Ok(());
    }
    let weights: Vec<f64> = by.iter().map(|_| rng.f64() - 0.5).collect();
    let Ok(along) = system.directional(&of, &by, &weights) else { return Ok(()) };
    let others: Vec<f64> = of.iter().map(|_| rng.f64() - 0.5).collect();
    let across = system.adjoint(&of, &by, &others).map_err(|said| said.message)?;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let size = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum::<f64>();
    let (left, right) = (dot(&others, &along), dot(&across, &weights));
    let rounding = 1e-7 * (size(&others, &along) + size(&across, &weights));
    if (left - right).abs() > rounding + 1e-12 {
        return Err(format!("{left} along, {right} across"));
    }
    let moved = if moves_parameters { by.len() } else { states.len() };
    for (place, &variable) in by.iter().enumerate().take(moved) {
        let Some(differences) = differences(system, &of, variable, place, states.len()) else { continue };
        let unit = [1.0];
        let exact = system.directional(&of, &[variable], &unit).map_err(|said| said.message)?;
        for ((&of, exact), (difference, error)) in of.iter().zip(exact).zip(differences) {
            if (exact - difference).abs() > TOLERANCE * (exact.abs() + difference.abs()) + 10.0 * error + 1e-30 {
                let names = (model.variable_name(of), model.variable_name(variable));
                return Err(format!("d {} / d {} is {exact} instead of {difference} ± {error}", names.0, names.1));
            }
        }
    }
    Ok(())
}

/// The differences of variables along one direction, each with how well it is known. `None` where something discrete changes.
fn differences(
    system: &mut System,
    of: &[VarId],
    variable: VarId,
    place: usize,
    states: usize,
) -> Option<Vec<(f64, f64)>> {
    let at = |distance: f64| moved(system, variable, place, states, distance, of);
    let own = at(0.0)?;
    let value = system.value(variable);
    let step = if value == 0.0 { 1e-6 } else { 1e-4 * value.abs() };
    let largest = own.0.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let central = |step: f64| {
        let (up, down) = (at(step)?, at(-step)?);
        // A discrete variable that changes is not smooth.
        if up.1 != own.1 || down.1 != own.1 {
            return None;
        }
        Some(up.0.iter().zip(&down.0).map(|(up, down)| (up - down) / (2.0 * step)).collect::<Vec<f64>>())
    };
    let (coarse, fine) = (central(step)?, central(0.5 * step)?);
    let known = |k: usize| {
        let (coarse, fine) = (coarse[k], fine[k]);
        // Rounding and errors of iterations weigh more in short differences.
        let noise = (1e-10 * own.0[k].abs() + 1e-14 * largest) / step;
        ((4.0 * fine - coarse) / 3.0, (coarse - fine).abs() + noise)
    };
    Some((0..of.len()).map(known).collect())
}

/// The variables at a point where one state or parameter is different, and all discrete variables there.
fn moved(
    system: &System,
    variable: VarId,
    place: usize,
    states: usize,
    distance: f64,
    of: &[VarId],
) -> Option<(Vec<f64>, Vec<u64>)> {
    let mut moved = system.clone();
    if place < states {
        let mut x = moved.states().to_vec();
        x[place] += distance;
        moved.set_states(&x).ok()?;
    } else {
        moved.enter_event().ok()?;
        moved.set_parameters(&[(variable, moved.value(variable) + distance)]).ok()?;
        moved.update_discrete().ok()?;
        // What the parameter decides about states is no part of the derivative.
        moved.set_states(system.states()).ok()?;
    }
    moved.outputs().ok()?;
    // Other structures have other variables.
    if !std::sync::Arc::ptr_eq(moved.program(), system.program()) {
        return None;
    }
    let model = moved.program().model();
    let is_discrete = |variable: &VarId| {
        let declared = &model.variables[*variable];
        let is_event = declared.ty != VariableType::Real || declared.variability == Variability::Discrete;
        is_event && declared.variability > Variability::Parameter
    };
    let discrete = model.variables.ids().filter(is_discrete).map(|variable| moved.value(variable).to_bits()).collect();
    Some((of.iter().map(|&variable| moved.value(variable)).collect(), discrete))
}
