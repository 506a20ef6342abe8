//! What all targets do with a text. `cargo +nightly fuzz run text_to_run`; `examples/` is a good corpus.

use std::time::{Duration, Instant};

use results::MemorySink;
use session::{EventLog, MemoryFiles, Request, Session, Settings};

/// Any text ends in a diagnostic or a run, never in a panic. The ending of the file's name decides about its language.
pub fn run(file: &str, text: String) {
    let limit = Instant::now() + Duration::from_secs(2);
    let mut session = Session::new(Box::new(MemoryFiles::one(file, text)));
    let request = Request { target: file.to_owned(), ..Request::default() };
    let _ = session.flatten(&request).and_then(|model| {
        let Ok(options) = Settings::default().resolve(&model.experiment) else { return Ok(()) };
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        let mut sink = MemorySink::default();
        let mut watcher = |_: f64| Instant::now() < limit;
        session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut watcher)?;
        Ok(())
    });
}
