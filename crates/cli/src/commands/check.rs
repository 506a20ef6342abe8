//! `gyrator check`: everything up to the sorted equations.

use session::{BlockSummary, Inspected, Structure, Verdict};

use crate::arguments::Check;
use crate::exit::{Exit, Failure};
use crate::style::{Style, print};
use crate::subject::{Call, print_json};

pub fn run(arguments: &Check, style: Style) -> Result<(), Failure> {
    let mut call = Call::new(&arguments.subject, style);
    if let Err(failed) = call.check() {
        return Err(call.failed(failed));
    }
    call.tell();
    if arguments.subject.json {
        print_json(&call.summary())?;
    } else if !arguments.subject.quiet {
        print(&if call.classes.is_empty() { report(&call) } else { listed(&call) })?;
    }
    call.tell_times();
    let is_wrong = call.classes.iter().any(|class| class.verdict == Verdict::Wrong);
    match is_wrong || call.session.diagnostics.iter().any(base::Diagnostic::is_error) {
        true => Err(Failure { exit: Exit::Model, message: String::new() }),
        false => Ok(()),
    }
}

/// What was found of classes that are no models by themselves.
fn listed(call: &Call) -> String {
    let classes = call.classes.as_slice();
    if let [one] = classes {
        let has_errors = call.session.diagnostics.iter().any(base::Diagnostic::is_error);
        return match one.verdict {
            _ if has_errors => String::new(),
            Verdict::Wrong => String::new(),
            _ => format!("{}: {}, nothing wrong as far as it can be checked alone\n", one.class, one.kind),
        };
    }
    let wrong: Vec<&Inspected> = classes.iter().filter(|class| class.verdict == Verdict::Wrong).collect();
    let complete = classes.iter().filter(|class| class.verdict == Verdict::Complete).count();
    let mut lines = vec![format!(
        "{}: {}, {} of them that can be simulated, {} wrong",
        call.session.class,
        count_of(classes.len(), "class", "classes"),
        complete,
        wrong.len()
    )];
    lines.extend(wrong.iter().map(|class| format!("  wrong: {} ({})", class.class, class.kind)));
    lines.join("\n") + "\n"
}

fn report(call: &Call) -> String {
    let (Some(flat), Some(structure)) = (call.flat, &call.structure) else { return String::new() };
    let mut lines = vec![format!(
        "{}: {}, {}, {}",
        call.session.class,
        count(flat.equations, "equation"),
        count(flat.unknowns, "unknown"),
        count(flat.parameters, "parameter")
    )];
    lines.push(match structure.states.as_slice() {
        [] => "  no states".to_owned(),
        states => format!("  {}: {}", count(states.len(), "state"), shortened(states)),
    });
    lines.extend(structure.state_sets.iter().map(|set| format!("  chosen during the run: {set}")));
    if !structure.dummy_states.is_empty() {
        lines.push(format!("  no longer states: {}", shortened(&structure.dummy_states)));
    }
    for line in &structure.differentiated {
        lines.push(format!("  differentiated: {}", line.equation));
    }
    lines.push(format!("  {}, {}", count_of(structure.aliases, "alias", "aliases"), blocks(structure)));
    if !structure.structural_conditions.is_empty() {
        let conditions = shortened(&structure.structural_conditions);
        lines.push(format!("  the structure changes with {conditions}; this is the one at the start"));
    }
    let events = structure.events;
    if events.relations + events.whens + events.samples > 0 {
        let parts =
            [count(events.relations, "relation"), count(events.whens, "when clause"), count(events.samples, "sample")];
        lines.push(format!("  {}", parts.join(", ")));
    }
    lines.join("\n") + "\n"
}

fn blocks(structure: &Structure) -> String {
    let systems: Vec<&BlockSummary> = structure.blocks.iter().filter(|block| block.kind != "explicit").collect();
    let assignments = count(structure.blocks.len() - systems.len(), "assignment");
    if systems.is_empty() {
        return assignments;
    }
    let each = systems.iter().take(6).map(|block| format!("{} of {} torn to {}", block.kind, block.size, block.torn));
    let more = if systems.len() > 6 { ", …" } else { "" };
    format!("{assignments}, {}: {}{more}", count(systems.len(), "system"), each.collect::<Vec<_>>().join(", "))
}

/// `1 state`, `2 states`.
pub fn count(number: usize, what: &str) -> String {
    count_of(number, what, &format!("{what}s"))
}

fn count_of(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn shortened(names: &[String]) -> String {
    match names.len() {
        0..=12 => names.join(", "),
        length => format!("{}, … ({} more)", names[..10].join(", "), length - 10),
    }
}
