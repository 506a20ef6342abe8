//! `gyrator equations`: what the transformations made of the model.

use session::{Failed, Listing, Notation, Stage};
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
    let notation = if format == EquationsFormat::Latex { Notation::Latex } else { Notation::Modelica };
    let listing = Listing::new(schedule, call.session.sources(), notation);
    match format {
        EquationsFormat::Text => listing.text(),
        EquationsFormat::Dymola => listing.dymola(),
        EquationsFormat::Latex => listing.latex(),
        EquationsFormat::Html => session::page(schedule, call.session.sources()),
        EquationsFormat::Json => serde_json::to_string_pretty(&listing).unwrap_or_default() + "\n",
    }
}
