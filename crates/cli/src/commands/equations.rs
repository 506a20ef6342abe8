//! `gyrator equations`: what the transformations made of the model.

use session::{Document, Failed, Listing, Notation, Stage};
use transform::Schedule;

use crate::arguments::{Equations, EquationsFormat};
use crate::exit::Failure;
use crate::style::{Style, print};
use crate::subject::{Call, print_json};

pub fn run(arguments: &Equations, style: Style) -> Result<(), Failure> {
    let mut call = Call::new(&arguments.subject, style);
    let schedule = match walk(&mut call, arguments.inline) {
        Ok(schedule) => schedule,
        Err(failed) => return Err(call.failed(failed)),
    };
    call.tell();
    if arguments.subject.json {
        print_json(&call.summary())?;
    } else {
        print(&listing(&call, &schedule, arguments.format))?;
    }
    call.tell_times();
    Ok(())
}

fn walk(call: &mut Call, inline_step: Option<f64>) -> Result<Schedule, Failed> {
    let model = call.flatten()?;
    call.session.transform.inline_step = inline_step;
    let schedule = call.structure(model)?;
    call.session.stage = Stage::Done;
    Ok(schedule)
}

fn listing(call: &Call, schedule: &Schedule, format: EquationsFormat) -> String {
    let sources = call.session.sources();
    let listing = |notation| Listing::new(schedule, sources, notation);
    match format {
        EquationsFormat::Text => listing(Notation::Modelica).text(),
        EquationsFormat::Latex => listing(Notation::Latex).latex(),
        EquationsFormat::Html => session::page(schedule, sources),
        EquationsFormat::Json => serde_json::to_string_pretty(&listing(Notation::Modelica)).unwrap_or_default() + "\n",
        EquationsFormat::Dymola => Document::Dymola.of(schedule),
        EquationsFormat::Acsl => Document::Acsl.of(schedule),
        EquationsFormat::Dsblock => Document::Dsblock.of(schedule),
    }
}
