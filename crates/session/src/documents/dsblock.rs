//! The sorted equations as a Fortran subroutine in the manner of DSblock (Otter 1992): an integrator calls it with time, states and
//! inputs and gets derivatives, outputs and the crossing functions of all relations.

use dae::{Causality, Variability};
use transform::Schedule;

use super::acsl::{constants, inputs, parameters, standing_for, title};
use super::central::{Auxiliaries, Code, declared, laid_out};
use super::names::{Dialect, Names};
use super::steps::Steps;

pub fn write(schedule: &Schedule, names: &Names<'_>, steps: &Steps<'_>) -> String {
    let mut auxiliaries = Auxiliaries::default();
    let body = body(schedule, names, steps, &mut auxiliaries);
    let mut lines = head(schedule, names, steps, &auxiliaries);
    lines.extend(body);
    lines.push((0, "Return".to_owned()));
    lines.push((0, "End".to_owned()));
    laid_out(&lines, Dialect::Fortran)
}

fn head(schedule: &Schedule, names: &Names<'_>, steps: &Steps<'_>, auxiliaries: &Auxiliaries) -> Vec<(usize, String)> {
    let arguments = "Init, Event, PrintEvent, Time, X, DerX, U, Y, QM, Qp, Qn, QZp, QZn, AnyEvent";
    let model = &schedule.model;
    let mut lines = vec![(0, format!("Subroutine {}({arguments})", title(schedule)))];
    let note = |text: String| (0, format!("! {text}"));
    for (place, state) in schedule.states.iter().enumerate() {
        lines.push(note(format!("X({}): {}", place + 1, model.variable_name(state.variable))));
    }
    for (place, variable) in inputs(schedule).into_iter().enumerate() {
        lines.push(note(format!("U({}): {}", place + 1, model.variable_name(variable))));
    }
    for (place, variable) in outputs(schedule).into_iter().enumerate() {
        lines.push(note(format!("Y({}): {}", place + 1, model.variable_name(variable))));
    }
    for (place, &relation) in steps.relations.iter().enumerate() {
        lines.push(note(format!("Relation {}: {}", place + 1, model.expression_text(relation))));
    }
    lines.push((0, "Logical Init, Event, PrintEvent, AnyEvent".to_owned()));
    lines.push((0, "Real Time, X(*), DerX(*), U(*), Y(*), Qp(*), Qn(*), QZp(*), QZn(*)".to_owned()));
    lines.push((0, "Integer QM(*)".to_owned()));
    let count = steps.relations.len();
    if count > 0 {
        lines.push((0, format!("Real QRel({count})")));
        lines.push((0, format!("Logical QL({count})")));
    }
    if auxiliaries.residues > 0 {
        lines.push((0, format!("Real QRes({})", auxiliaries.residues)));
        lines.push((0, "Logical QMore".to_owned()));
    }
    let mut lists = declared(schedule, names, steps);
    lists.entry("Real").or_default().extend(auxiliaries.numbers.iter().cloned());
    lists.entry("Logical").or_default().extend(auxiliaries.truths.iter().cloned());
    let known = schedule.states.iter().map(|state| state.variable).chain(inputs(schedule));
    let known: Vec<String> = known.map(|variable| names.plain(variable).to_owned()).collect();
    lists.entry("Real").or_default().splice(0..0, known);
    let given = schedule.parameters.iter().map(|assignment| assignment.variable);
    for (variable, _) in constants(schedule, names) {
        let list = if names.is_logical(variable) {
            "Logical"
        } else if names.is_whole(variable) {
            "Integer"
        } else {
            "Real"
        };
        lists.entry(list).or_default().push(names.plain(variable).to_owned());
    }
    for variable in given {
        let name = names.plain(variable).to_owned();
        let list = if names.is_logical(variable) {
            "Logical"
        } else if names.is_whole(variable) {
            "Integer"
        } else {
            "Real"
        };
        let list = lists.entry(list).or_default();
        if !list.contains(&name) {
            list.push(name);
        }
    }
    for kind in ["Real", "Integer", "Logical"] {
        if let Some(list) = lists.get(kind).filter(|list| !list.is_empty()) {
            lines.push((0, format!("{kind} {}", list.join(", "))));
        }
    }
    lines.push((0, "Save".to_owned()));
    for (variable, value) in constants(schedule, names) {
        lines.push((0, format!("Data {} /{value}/", names.plain(variable))));
    }
    lines
}

fn outputs(schedule: &Schedule) -> Vec<dae::VarId> {
    let variables = &schedule.model.variables;
    let is_output = |variable: &dae::VarId| {
        variables[*variable].causality == Causality::Output && variables[*variable].variability > Variability::Parameter
    };
    variables.ids().filter(is_output).collect()
}

fn body(
    schedule: &Schedule,
    names: &Names<'_>,
    steps: &Steps<'_>,
    auxiliaries: &mut Auxiliaries,
) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let start = Steps::of_start(schedule);
    let mut code = Code::new(schedule, names, &start, 0, auxiliaries);
    for (place, variable) in inputs(schedule).into_iter().enumerate() {
        code.line(format!("{} = U({})", names.plain(variable), place + 1));
    }
    lines.append(&mut code.lines);
    let mut code = Code::new(schedule, names, &start, 1, auxiliaries);
    parameters(&mut code);
    code.start();
    for (place, state) in schedule.states.iter().enumerate() {
        code.line(format!("X({}) = {}", place + 1, names.plain(state.variable)));
    }
    lines.push((0, "If (Init) Then".to_owned()));
    lines.append(&mut code.lines);
    lines.push((0, "End If".to_owned()));
    let mut code = Code::new(schedule, names, steps, 0, auxiliaries);
    code.line("AnyEvent = .FALSE.");
    for (place, state) in schedule.states.iter().enumerate() {
        code.line(format!("{} = X({})", names.plain(state.variable), place + 1));
    }
    code.steps();
    code.renew();
    for (place, state) in schedule.states.iter().enumerate() {
        let derivative = standing_for(schedule, names, state.derivative);
        code.line(format!("DerX({}) = {derivative}", place + 1));
    }
    let reset = schedule.model.actions.iter().filter_map(|action| match action.kind {
        dae::ActionKind::Reinit { state, .. } => Some(state),
        _ => None,
    });
    let reset: Vec<dae::VarId> = reset.collect();
    for (place, state) in schedule.states.iter().enumerate() {
        if reset.contains(&state.variable) {
            code.line(format!("If (Event) X({}) = {}", place + 1, names.plain(state.variable)));
        }
    }
    for (place, output) in outputs(schedule).into_iter().enumerate() {
        code.line(format!("Y({}) = {}", place + 1, standing_for(schedule, names, output)));
    }
    lines.append(&mut code.lines);
    lines
}
