//! The sorted equations as a program of the simulation language ACSL: sections `initial`, `derivative` and `discrete`, two schedule
//! statements for each relation.

use dae::{ExprId, Node, VarId};
use transform::{Role, Schedule};

use super::central::{Auxiliaries, Code, declared, laid_out};
use super::formula::Formula;
use super::names::{Dialect, Names};
use super::steps::Steps;

pub fn write(schedule: &Schedule, names: &Names<'_>, steps: &Steps<'_>) -> String {
    let mut auxiliaries = Auxiliaries::default();
    let start = initial(schedule, names, &mut auxiliaries);
    let derivative = derivative(schedule, names, steps, &mut auxiliaries);
    let mut lines = head(schedule, names, steps, &auxiliaries);
    lines.extend(start);
    lines.push((1, "dynamic".to_owned()));
    lines.extend(derivative);
    for (place, &relation) in steps.relations.iter().enumerate() {
        let title = schedule.model.expression_text(relation);
        let number = place + 1;
        lines.push((2, format!("! {title}")));
        lines.push((2, format!("discrete QEvent{number}")));
        lines.push((3, "Event = .TRUE.".to_owned()));
        lines.push((2, format!("end ! of discrete QEvent{number}")));
    }
    let stop_time = schedule.model.experiment.stop_time.unwrap_or(1.0);
    lines.push((2, format!("termt (t .GE. {stop_time:?})")));
    lines.push((1, "end ! of dynamic".to_owned()));
    lines.push((0, "end ! of program".to_owned()));
    laid_out(&lines, Dialect::Acsl)
}

/// The name of the program: the last part of that of the model.
pub fn title(schedule: &Schedule) -> String {
    let name = schedule.model.name.rsplit('.').next().unwrap_or_default();
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("M{plain}") }
}

fn head(schedule: &Schedule, names: &Names<'_>, steps: &Steps<'_>, auxiliaries: &Auxiliaries) -> Vec<(usize, String)> {
    let mut lines = vec![(0, format!("program {}", title(schedule)))];
    for (variable, value) in constants(schedule, names) {
        lines.push((1, format!("constant {} = {value}", names.plain(variable))));
    }
    for variable in inputs(schedule) {
        lines.push((1, format!("constant {} = 0.0 ! an input", names.plain(variable))));
    }
    let mut declared = declared(schedule, names, steps);
    let mut truths = vec!["Init".to_owned(), "Event".to_owned(), "AnyEvent".to_owned(), "PrintEvent".to_owned()];
    truths.extend(declared.remove("Logical").unwrap_or_default());
    truths.extend(auxiliaries.truths.iter().cloned());
    let count = steps.relations.len();
    if count > 0 {
        truths.push(format!("QL({count})"));
        lines.push((
            1,
            format!("array QRel({count}), QM({count}), Qp({count}), Qn({count}), QZp({count}), QZn({count})"),
        ));
    }
    if auxiliaries.residues > 0 {
        lines.push((1, format!("array QRes({})", auxiliaries.residues)));
        truths.push("QMore".to_owned());
    }
    let whole = declared.remove("Integer").unwrap_or_default();
    if !whole.is_empty() {
        lines.push((1, format!("integer {}", whole.join(", "))));
    }
    lines.push((1, format!("logical {}", truths.join(", "))));
    lines
}

/// Parameters with literal values.
pub fn constants(schedule: &Schedule, names: &Names<'_>) -> Vec<(VarId, String)> {
    let model = &schedule.model;
    let mut found = Vec::new();
    for (variable, role) in schedule.roles.iter() {
        let declared = &model.variables[variable];
        let is_literal =
            |id: ExprId| matches!(model.exprs.node(id), Node::Real(_) | Node::Integer(_) | Node::Boolean(_));
        let binding = declared.binding.filter(|&binding| is_literal(binding));
        if matches!(role, Role::Parameter)
            && let Some(binding) = binding
        {
            let formula = Formula { is_whole: names.is_whole(variable), ..Formula::new(names, model.paths.root()) };
            found.push((variable, formula.text(binding)));
        }
    }
    found
}

pub fn inputs(schedule: &Schedule) -> Vec<VarId> {
    schedule.roles.iter().filter(|(_, role)| matches!(role, Role::Input)).map(|(variable, _)| variable).collect()
}

/// Computed parameters, then the initial problem.
fn initial(schedule: &Schedule, names: &Names<'_>, auxiliaries: &mut Auxiliaries) -> Vec<(usize, String)> {
    let steps = Steps::of_start(schedule);
    let mut code = Code::new(schedule, names, &steps, 2, auxiliaries);
    parameters(&mut code);
    code.start();
    for state in &schedule.states {
        let name = names.plain(state.variable);
        code.line(format!("{name}_0 = {name}"));
    }
    code.line("Init = .TRUE.");
    code.line("Event = .FALSE.");
    let mut lines = vec![(1, "initial".to_owned())];
    lines.append(&mut code.lines);
    lines.push((1, "end ! of initial".to_owned()));
    lines
}

/// Parameters that are computed once, in order.
pub fn parameters(code: &mut Code<'_>) {
    let schedule = code.schedule;
    for assignment in &schedule.parameters {
        let node = schedule.model.exprs.node(assignment.value);
        let is_literal = matches!(node, Node::Real(_) | Node::Integer(_) | Node::Boolean(_) | Node::String(_));
        if !is_literal || !matches!(schedule.roles[assignment.variable], Role::Parameter) {
            code.assign(assignment);
        }
    }
}

fn derivative(
    schedule: &Schedule,
    names: &Names<'_>,
    steps: &Steps<'_>,
    auxiliaries: &mut Auxiliaries,
) -> Vec<(usize, String)> {
    let mut code = Code::new(schedule, names, steps, 3, auxiliaries);
    let has_events = !steps.relations.is_empty();
    if has_events {
        code.label(10);
        code.line("AnyEvent = .FALSE.");
    }
    code.steps();
    code.renew();
    if has_events {
        code.comment("Iterating to find consistent restart conditions");
        code.go_to("AnyEvent", 10);
        code.line("Init = .FALSE.");
        code.line("Event = .FALSE.");
    }
    for state in &schedule.states {
        let name = names.plain(state.variable);
        let derivative = standing_for(schedule, names, state.derivative);
        code.line(format!("{name} = integ({derivative}, {name}_0)"));
    }
    for number in 1..=steps.relations.len() {
        code.line(format!("schedule QEvent{number} .xp. QZp({number})"));
        code.line(format!("schedule QEvent{number} .xn. QZn({number})"));
    }
    let mut lines = vec![(2, "derivative".to_owned())];
    lines.append(&mut code.lines);
    lines.push((2, "end ! of derivative".to_owned()));
    lines
}

/// What a variable is written as where it may have been eliminated.
pub fn standing_for(schedule: &Schedule, names: &Names<'_>, variable: VarId) -> String {
    let root = schedule.model.paths.root();
    match schedule.roles[variable] {
        Role::Alias { of, negated: false } => names.now(of, root),
        Role::Alias { of, negated: true } if names.is_logical(of) => format!(".NOT.{}", names.now(of, root)),
        Role::Alias { of, negated: true } => format!("-{}", names.now(of, root)),
        Role::Constant => match schedule.model.variables[variable].binding {
            Some(binding) => Formula::new(names, root).text(binding),
            None => names.now(variable, root),
        },
        _ => names.now(variable, root),
    }
}
