//! `gyrator translate`: a model of another language as Modelica text.

use session::{Disk, Failed, Session};

use crate::arguments::{Language, Translate};
use crate::exit::{Exit, Failure};
use crate::style::{Style, print, tell};

pub fn run(arguments: &Translate, style: Style) -> Result<(), Failure> {
    let Language::Modelica = arguments.to;
    let mut session = Session::new(Box::new(Disk));
    let translated = session.translate_among(&arguments.target, &arguments.files);
    for said in &session.diagnostics {
        tell(&style.message(&said.render(session.sources())));
    }
    let text = match translated {
        Ok(text) => text,
        Err(Failed::Call(message)) => return Err(Failure::call(message)),
        Err(Failed::Model) => return Err(Failure { exit: Exit::Model, message: String::new() }),
        Err(Failed::Result(error)) => return Err(Failure { exit: Exit::Stopped, message: error.to_string() }),
    };
    match &arguments.output {
        None => print(&text),
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Failure::call(format!("cannot write `{}`: {error}", path.display()))),
    }
}
