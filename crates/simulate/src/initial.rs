//! The first point: parameters, start values, then the initial problem; homotopy where the direct way fails
//! (specification 8.6 and 3.7.4.4).

use compile::Program;
use dae::{Builtin, Node};

use crate::clockwork::{Clockwork, check_samples};
use crate::conditions;
use crate::event_log::{Entry, Journal};
use crate::events::{self, Aftermath, Names};
use crate::machine::{Machine, Phase, Trouble};
use crate::places::not_finite;
use crate::{resting, sensitivities};

/// Leaves memory at the start of the simulation, events at the first instant done. Returns the clockwork for the rest.
pub fn initialise(
    machine: &mut Machine,
    names: &Names,
    span: (f64, f64),
    log: &mut Journal,
) -> Result<(Clockwork, Aftermath), Trouble> {
    // Parameters that an assertion forbids are the reason for whatever else goes wrong.
    first_point(machine, names, span, log).map_err(|trouble| events::forbidden_parameters(machine).unwrap_or(trouble))
}

fn first_point(
    machine: &mut Machine,
    names: &Names,
    (time, stop): (f64, f64),
    log: &mut Journal,
) -> Result<(Clockwork, Aftermath), Trouble> {
    let program = &machine.program.clone();
    machine.memory.set_time(time);
    machine.run_parameters()?;
    machine.run(|sections| &sections.starts, Phase::Live)?;
    forget_undefined_guesses(machine);
    machine.memory.write_inputs();
    machine.systems.reset();
    program.pass_event(&mut machine.memory);
    machine.memory.set_initial(true);
    let span = (stop - time).abs();
    machine.resting.begin(time, span, 1e-4 * span);
    solve(machine)?;
    conditions::check(machine)?;
    sensitivities::follow_initial(machine);
    // The initial problem may have determined the parameters of samples.
    machine.run(|sections| &sections.samples, Phase::Live)?;
    check_samples(program, &machine.memory)?;
    check_attributes(machine)?;
    let mut clockwork = Clockwork::new(program, &machine.memory, time, stop);
    let first = events::perform_initial(machine, log)?;
    machine.run(|sections| &sections.actions, Phase::Live)?;
    machine.memory.set_initial(false);
    program.save_pre(&mut machine.memory);
    log.write(&Entry::Initialised { time });
    machine.systems.forget_factors(program);
    machine.resting.begin(time, span, 1e-4 * span);
    let mut aftermath = events::pass(machine, names, log, &mut clockwork, time, &mut events::Unwatched)?;
    aftermath.terminated = first.terminated.or(aftermath.terminated);
    program.take_arguments(&mut machine.memory);
    program.record_delays(&mut machine.memory);
    clockwork.begin_delays(machine);
    Ok((clockwork, aftermath))
}

/// A start value over parameters that the initial problem determines may be undefined before it is solved, as in
/// `x(start = a/b)`. It is no guess then.
fn forget_undefined_guesses(machine: &mut Machine) {
    let program = &machine.program.clone();
    let model = program.model();
    for (variable, declared) in model.variables.iter() {
        let is_partial = declared.attributes.start.is_some_and(|start| model.exprs.is_partial(start));
        if is_partial && !program.value(&machine.memory, variable).is_finite() {
            program.set_value(&mut machine.memory, variable, 0.0);
        }
    }
}

/// Limits and nominal values that may be undefined have to be numbers, once parameters are known.
fn check_attributes(machine: &mut Machine) -> Result<(), Trouble> {
    let (program, model) = (&machine.program, machine.program.model());
    for (variable, declared) in model.variables.iter() {
        let attributes = &declared.attributes;
        for (name, value) in [("min", attributes.min), ("max", attributes.max), ("nominal", attributes.nominal)] {
            let Some(value) = value.filter(|&value| model.exprs.is_partial(value)) else { continue };
            let found = program.evaluate(&[value], &mut machine.memory).map_err(|d| Trouble::Model(Box::new(d)))?;
            if found.iter().any(|value| !value.is_finite()) {
                let what = format!("the attribute {name}, {},", model.expression_text(value));
                return Err(not_finite(program, variable, &what));
            }
        }
    }
    Ok(())
}

/// The initial problem: along the path from the simplified to the actual one where the model has one, so that the solution
/// is that which the simplified problem leads to (specification 3.7.4.4), else directly.
fn solve(machine: &mut Machine) -> Result<(), Trouble> {
    let program = &machine.program.clone();
    let before = machine.memory.clone();
    let exprs = &program.model().exprs;
    if exprs.ids().any(|id| matches!(exprs.node(id), Node::Builtin(Builtin::Homotopy, _))) {
        if follow_homotopy(machine, program).is_ok() {
            return Ok(());
        }
        machine.memory = before;
        machine.systems.reset();
    }
    settle(machine)
}

/// The initial section until its discrete variables agree with their left limits' consequences.
fn settle(machine: &mut Machine) -> Result<(), Trouble> {
    machine.run(|sections| &sections.initial, Phase::Live)?;
    while resting::decide(machine)? {
        machine.run(|sections| &sections.initial, Phase::Live)?;
    }
    Ok(())
}

fn follow_homotopy(machine: &mut Machine, program: &Program) -> Result<(), Trouble> {
    const SMALLEST: f64 = 1e-4;
    machine.memory.set_lambda(0.0);
    machine.systems.reset();
    let mut outcome = settle(machine);
    let (mut lambda, mut step) = (0.0, 0.25);
    while outcome.is_ok() && lambda < 1.0 {
        let good = machine.memory.clone();
        let next = f64::min(lambda + step, 1.0);
        machine.memory.set_lambda(next);
        machine.systems.forget_factors(program);
        outcome = settle(machine);
        if outcome.is_ok() {
            (lambda, step) = (next, 2.0 * step);
        } else if step > SMALLEST {
            machine.memory = good;
            machine.systems.forget_factors(program);
            step *= 0.25;
            outcome = Ok(());
        }
    }
    machine.memory.set_lambda(1.0);
    outcome
}
