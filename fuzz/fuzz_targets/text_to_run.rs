//! Any text ends in a diagnostic or a run, never in a panic. `cargo +nightly fuzz run text_to_run`; `examples/` is a good corpus.
#![no_main]

use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use results::MemorySink;
use session::{EventLog, MemoryFiles, Request, Session, Settings};

fuzz_target!(|text: String| {
    let limit = Instant::now() + Duration::from_secs(2);
    let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", text)));
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let _ = session.flatten(&request).and_then(|model| {
        let Ok(options) = Settings::default().resolve(&model.experiment) else { return Ok(()) };
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        let mut sink = MemorySink::default();
        let mut watcher = |_: f64| Instant::now() < limit;
        session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut watcher)?;
        Ok(())
    });
});
