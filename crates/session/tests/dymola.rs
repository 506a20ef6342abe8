//! The Dymola language of 1993: its listings run as printed and agree with Modelica twins that are written by hand.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use compile::Signals;
use expect_test::expect;
use results::{MemorySink, Trajectories};
use session::{Checked, Disk, Document, Ending, EventLog, EventLogFormat, Request, Session, Settings, Verdict};

fn example(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/dymola-1993").join(file).display().to_string()
}

/// A signal of the top level over time, linear between rows.
type Rows = (&'static str, Vec<(f64, f64)>);

struct Run {
    result: Trajectories,
    log: String,
}

fn said(session: &Session) -> String {
    session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect()
}

fn run(target: &str, stop_time: f64, inputs: &[Rows]) -> Run {
    let mut session = Session::new(Box::new(Disk));
    let request = Request { target: target.to_owned(), ..Request::default() };
    let settings =
        Settings { stop_time: Some(stop_time), tolerance: Some(1e-9), intervals: Some(200), ..Settings::default() };
    let (mut sink, mut bytes) = (MemorySink::default(), Vec::new());
    let mut log = EventLog::new(&mut bytes, EventLogFormat::Text);
    let outcome = session.flatten(&request).and_then(|model| {
        let mut options = settings.resolve(&model.experiment).unwrap();
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        let known = session::inputs_of(&program);
        let signal = |(name, rows): &Rows| {
            let (_, variable) = known.iter().find(|(known, _)| known == name).unwrap();
            let (time, values): (Vec<f64>, Vec<f64>) = rows.iter().copied().unzip();
            session::signal(&program, *variable, &time, &values).unwrap()
        };
        options.inputs = Arc::new(Signals::new(inputs.iter().map(signal).collect()));
        session.simulate(&program, &options, &|_| true, &mut sink, &mut log, &mut |_: f64| true)
    });
    drop(log);
    let said = said(&session);
    let outcome = outcome.unwrap_or_else(|failed| panic!("{target}: {failed:?}\n{said}"));
    assert_eq!(outcome.ending, Ending::Complete, "{target}: {said}");
    Run { result: sink.trajectories, log: String::from_utf8(bytes).unwrap() }
}

/// Runs a listing and its twin and compares variables at many times; the number is the sign.
fn agrees(name: &str, stop_time: f64, inputs: &[Rows], pairs: &[(&str, &str, f64)]) -> Run {
    let listing = run(&example(&format!("{name}.dym")), stop_time, inputs);
    let twin = run(&example(&format!("{name}.mo")), stop_time, inputs);
    for &(variable, other, sign) in pairs {
        let scale = twin.result.get(other).unwrap().values.iter().fold(1e-12, |most: f64, value| most.max(value.abs()));
        for step in 0..=200 {
            let time = stop_time * f64::from(step) / 200.0;
            let of = |run: &Run, variable: &str| run.result.at(variable, time).unwrap();
            let (value, expected) = (of(&listing, variable), sign * of(&twin, other));
            let error = (value - expected).abs() / scale;
            assert!(error < 1e-6, "{name}: {variable} is {value} instead of {expected} at {time}");
        }
    }
    listing
}

fn wave(amplitude: f64, frequency: f64, stop_time: f64) -> Vec<(f64, f64)> {
    let times = (0..=300).map(|step| stop_time * f64::from(step) / 300.0);
    times.map(|time| (time, amplitude * (frequency * time).sin())).collect()
}

#[test]
fn elements() {
    agrees("elements", 2.0, &[], &[("C1.u", "u", 1.0), ("L1.i", "i", 1.0)]);
}

#[test]
fn resistor() {
    agrees("resistor", 1.0, &[], &[("R1.i", "i1", 1.0), ("R2.i", "i2", 1.0)]);
}

#[test]
fn limiter() {
    let run = agrees("limiter", 10.0, &[], &[("L.y", "y", 1.0)]);
    // One event at each corner, four of them in a period.
    assert_eq!(run.log.matches("restart after").count(), 7, "{}", run.log);
}

#[test]
fn hysteresis() {
    agrees("hysteresis", 20.0, &[], &[("N.y", "y", 1.0), ("x", "x", 1.0)]);
}

#[test]
fn sampled() {
    agrees("sampled", 2.97, &[], &[("S.x", "x", 1.0)]);
}

#[test]
fn bouncing_ball() {
    agrees("bouncing_ball", 2.0, &[], &[("Height", "h", 1.0), ("Velocity", "v", 1.0)]);
}

#[test]
fn propagation() {
    agrees("propagation", 10.0, &[], &[("First.a", "first", 1.0), ("Second.a", "second", 1.0), ("n", "second", 1.0)]);
}

#[test]
fn switch_circuits() {
    let current: Rows = ("i", vec![(0.0, 0.001), (4e-6, 0.002), (12e-6, -0.001)]);
    for name in ["switch_circuit", "boolean_switch"] {
        agrees(name, 12e-6, std::slice::from_ref(&current), &[("y", "y", 1.0), ("Sw.i", "through", 1.0)]);
    }
}

#[test]
fn diode_as_equation() {
    agrees("diode_as_equation", 0.1, &[], &[("C.u", "v", -1.0), ("U0.i", "i", 1.0)]);
}

/// The times are those of the exact solution; the log of the listing's authors shows the first one as 8.708E-03.
#[test]
fn rectifier_with_its_event_log() {
    let run = agrees("rectifier", 0.1, &[], &[("C.u", "v", -1.0), ("U0.i", "i", 1.0)]);
    let events: Vec<(f64, bool)> = events_of(&run.log, "Diode.OpenSwitch changed from ");
    let expected = [(8.7081397e-3, true), (2.0999157e-2, false), (2.8265191e-2, true), (4.1307834e-2, false)];
    assert!(events[0].0 < 1e-6 && !events[0].1, "closes as soon as the source rises: {events:?}");
    for ((time, opens), (expected, opens_too)) in events[1..].iter().zip(expected) {
        assert!((time - expected).abs() < 1e-8 && *opens == opens_too, "{time} instead of {expected}");
    }
}

/// The sequence of the log that the listing's authors print: both expressions are zero at first and the switch is open; as soon as
/// the source rises, the voltage opens the way for the current, which ends at 8.708E-03.
#[test]
fn the_event_log_of_the_rectifier() {
    let run = run(&example("rectifier.dym"), 0.01, &[]);
    expect![[r#"
        0.000e0    initialised
                   expression Diode.u <= 0 is initially zero (0)
                   expression U0.i > 0 is initially zero (0)
                   Diode.OpenSwitch is initially true
        0.000e0    expression Diode.u <= 0 became positive
                   iteration 1: Diode.OpenSwitch changed from true to false
                   iteration 2: expression Diode.u <= 0 became zero
                   iteration 2: expression U0.i > 0 became positive
                   restart after 2 iterations
        8.708e-3   expression U0.i > 0 became negative
                   iteration 1: Diode.OpenSwitch changed from false to true
                   iteration 2: expression Diode.u <= 0 became negative
                   iteration 2: expression U0.i > 0 became zero
                   restart after 2 iterations
    "#]]
    .assert_eq(&without_roundings(&run.log));
}

/// Times with four digits, without residues, which are what rounding leaves.
fn without_roundings(log: &str) -> String {
    let mut out = String::new();
    for line in log.lines() {
        let (time, rest) = line.split_at(23.min(line.len()));
        let time: Option<f64> = time.trim().parse().ok();
        let time = time.map_or(String::new(), |time| format!("{:.3e}", if time < 1e-9 { 0.0 } else { time }));
        let rest = match (rest.find(" became "), rest.rfind(" (")) {
            (Some(_), Some(residue)) => &rest[..residue],
            _ => rest,
        };
        out.push_str(format!("{time:<10} {rest}").trim_end());
        out.push('\n');
    }
    out
}

/// When a Boolean changed, and to what.
fn events_of(log: &str, change: &str) -> Vec<(f64, bool)> {
    let mut time = 0.0;
    let mut events = Vec::new();
    for line in log.lines() {
        if let Some(found) = line.split_whitespace().next().and_then(|first| first.parse().ok()) {
            time = found;
        }
        if line.contains(change) {
            events.push((time, line.ends_with("to true")));
        }
    }
    events
}

#[test]
fn two_blocks_reach_all_regimes() {
    let stop_time = 30.0;
    let forces = [("u1", wave(1.5, 1.3, stop_time)), ("u2", wave(1.2, 2.6, stop_time))];
    let pairs = [("f1.v", "v1", 1.0), ("f2.v", "v2", 1.0), ("f1.p", "p1", 1.0), ("f2.p", "p2", 1.0)];
    let run = agrees("two_blocks", stop_time, &forces, &pairs);
    let column = |name: &str| &run.result.get(name).unwrap().values;
    let mut seen = std::collections::BTreeSet::new();
    for row in 0..run.result.time.len() {
        let regime = |element: &str| {
            let is = |state: &str| column(&format!("{element}.{state}"))[row] != 0.0;
            i32::from(is("Forward")) - i32::from(is("Backward"))
        };
        seen.insert((regime("f1"), regime("f2")));
    }
    assert_eq!(seen.len(), 9, "{seen:?}");
}

fn session_of(files: &[(&str, &str)]) -> Session {
    let mut session = Session::new(Box::new(Disk));
    for (path, text) in files {
        session.replace_text(path, Some((*text).into()));
    }
    session
}

fn flat(session: &mut Session, target: &str, more: &[&str]) -> String {
    let more = more.iter().map(|path| path.into()).collect();
    let request = Request { target: target.to_owned(), more, ..Request::default() };
    match session.flatten(&request) {
        Ok(model) => dae::modelica_text(&model, None),
        Err(_) => said(session),
    }
}

#[test]
fn the_translation_is_the_same_model() {
    let folder = example("");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let listings: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "dym")).collect();
    assert!(listings.len() >= 12);
    for listing in listings {
        let name = listing.file_stem().unwrap().to_string_lossy().into_owned();
        let mut session = Session::new(Box::new(Disk));
        let path = example(&format!("{name}.dym"));
        let text = session.translate(&path).unwrap_or_else(|failed| panic!("{failed:?}"));
        let from_listing = flat(&mut session, &path, &[]);
        session.replace_text("translated.mo", Some(text.into()));
        let from_modelica = flat(&mut session, "translated.mo", &[]);
        assert!(!from_listing.contains("error"), "{from_listing}");
        assert_eq!(from_listing, from_modelica, "{name}");
    }
}

#[test]
fn modelica_models_use_its_classes() {
    let tank = "model class Tank
  main cut A (h / q)
  parameter Area = 2
  Area * der(h) = q
end
";
    let both = "model Both
  Tank one(Area = 3), other;
equation
  connect(one.A, other.A);
end Both;
";
    let mut session = session_of(&[("tank.dym", tank), ("both.mo", both)]);
    let text = flat(&mut session, "both.mo", &["tank.dym"]);
    assert!(text.contains("'one.Area'*der('one.h') = 'one.q'"), "{text}");
    assert!(text.contains("'one.A.q' + 'other.A.q' = 0") || text.contains("'other.A.q' + 'one.A.q' = 0"), "{text}");
}

#[test]
fn it_uses_classes_of_modelica_models() {
    let modelica = "connector Port Real h; flow Real q; end Port;
model Valve
  Port p, n;
  parameter Real k = 1;
equation
  p.q = k*(p.h - n.h);
  p.q + n.q = 0;
end Valve;
";
    let tanks = "model class Tank
  main cut A (h / q)
  parameter Area = 2
  Area * der(h) = q
end
model Tanks
  submodel (Tank) one(h = 1), other
  submodel (Valve) v(k = 4)
  connect v.p at one, v.n at other
end
";
    let mut session = session_of(&[("tanks.dym", tanks), ("valve.mo", modelica)]);
    let text = flat(&mut session, "tanks.dym", &["valve.mo"]);
    assert!(text.contains("'v.k' = 4") && text.contains("'one.h'(start = 1.0, fixed = true)"), "{text}");
}

#[test]
fn mistakes_that_only_show_later_are_reported_in_the_file_that_was_written() {
    let text = "model Loop
  local x, y
  submodel (Nowhere) n
  der(x) = y
end
";
    let mut session = session_of(&[("loop.dym", text)]);
    let said = flat(&mut session, "loop.dym", &[]);
    assert!(said.contains("loop.dym:3:13") && said.contains("`Nowhere`"), "{said}");
    assert!(!said.contains("Modelica specification"), "{said}");
}

const PLUG: &str = "model class Plug
  main cut A (V / i)
  parameter G = 2
  G * V = i
end
model class Feed
  main cut A (V / i)
  i = -1
end
";

#[test]
fn a_class_with_the_name_of_a_connector_that_is_made() {
    // Here `Pin` would have replaced the connector of the cuts.
    let pins = "connector Pin Real V; flow Real i; Real extra; end Pin;
model Board
  Plug one;
  Feed other;
equation
  connect(one.A, other.A);
end Board;
";
    let mut session = session_of(&[("plug.dym", PLUG), ("board.mo", pins)]);
    let said = flat(&mut session, "board.mo", &["plug.dym"]);
    expect![[r#"
        error[duplicate-class]: the class `Pin` stands in two files
          --> board.mo:1:11
           |
         1 | connector Pin Real V; flow Real i; Real extra; end Pin;
           |           ^^^ declared here
          ::: plug.dym:2:12
           |
         2 |   main cut A (V / i)
           |            - a connector of this name is made from this
           = help: rename the class that you wrote: the name of a connector that is made follows from its variables
           = see: Modelica specification, section 13.4
    "#]]
    .assert_eq(&said);
}

#[test]
fn two_files_that_make_the_same_connector() {
    let socket = "model class Socket
  main cut S (V / i)
  V = 3
end
";
    let both = "model Both
  Plug one;
  Socket other;
equation
  connect(one.A, other.S);
end Both;
";
    let mut session = session_of(&[("plug.dym", PLUG), ("socket.dym", socket), ("both.mo", both)]);
    let text = flat(&mut session, "both.mo", &["plug.dym", "socket.dym"]);
    assert!(text.contains("'one.A.V' = 'other.S.V'") || text.contains("'other.S.V' = 'one.A.V'"), "{text}");
    // A model uses classes of other files of its language too, by the names of their cuts.
    let third = "model Third
  submodel (Plug) p
  submodel (Socket) s
  connect p.A at s.S
end
";
    let mut session = session_of(&[("plug.dym", PLUG), ("socket.dym", socket), ("third.dym", third)]);
    let text = flat(&mut session, "third.dym", &["plug.dym", "socket.dym"]);
    assert!(text.contains("'p.A.i' + 's.S.i' = 0") && text.contains("'p.G'*'p.V' = 'p.i'"), "{text}");
    // Main cuts are known from the other files.
    session.replace_text("third.dym", Some(third.replace("p.A at s.S", "p at s").into()));
    assert_eq!(flat(&mut session, "third.dym", &["plug.dym", "socket.dym"]), text);
}

/// A class whose terminals are determined by its use is not wrong on its own.
#[test]
fn every_listing_is_sound() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/dymola-1993");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "dym") {
            continue;
        }
        let mut session = Session::new(Box::new(Disk));
        let request = Request { target: path.display().to_string(), ..Request::default() };
        let checked = session.check(&request).unwrap_or_else(|failed| panic!("{failed:?}\n{}", said(&session)));
        if let Checked::Classes(classes) = checked {
            let wrong = classes.iter().find(|class| class.verdict == Verdict::Wrong);
            assert!(wrong.is_none(), "{} in {}\n{}", wrong.unwrap().class, path.display(), said(&session));
        }
        count += 1;
    }
    assert_eq!(count, 12);
}

/// Two diodes in series have no equations that hold in all positions: the listings say which are written.
#[test]
fn listings_name_the_mode() {
    let text = "model class TwoPort
  cut A (Va / i), B (Vb / -i)
  main path P < A - B >
  local u
  u = Va - Vb
end
model class (TwoPort) Diode
  terminal OpenSwitch
  0 = if OpenSwitch then i else u
  new(OpenSwitch) = u <= 0 and not i > 0
end
model class (TwoPort) Capacitor
  parameter C
  C * der(u) = i
end
model class (TwoPort) Source
  u = -sin(Time)
end
model Common
  main cut A (V / i)
  V = 0
end
model M
  submodel (Source) U
  submodel (Diode) D1, D2, D3, D4
  submodel (Capacitor) C(C = 1)
  submodel Common
  node a, b, p, n
  connect Common at n, U from a to b, D1 from a to p, D2 from b to p, D3 from n to a, D4 from n to b, C from p to n
end
";
    let mut session = session_of(&[("m.dym", text)]);
    let request = Request { target: "m.dym".to_owned(), ..Request::default() };
    let schedule = session.flatten(&request).and_then(|model| session.structure(model)).unwrap();
    assert!(schedule.mode.is_some());
    for document in [Document::Dymola, Document::Acsl, Document::Dsblock] {
        let text = document.of(&schedule);
        let head: Vec<&str> = text.lines().take(3).collect();
        assert!(head[0].contains("one of its modes"), "{text}");
        assert!(head[1].contains("D1.OpenSwitch") && head[1].contains("D4.OpenSwitch"), "{text}");
    }
}
