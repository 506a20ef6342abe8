//! Parameters that are zero and change the structure: a resistance that makes two nodes one, a capacitance that leaves a
//! node without memory, also where a function computes it from the state.
#![allow(clippy::unwrap_used)]

use results::MemorySink;
use session::{Disk, Ending, EventLog, Request, Session, Settings, Structure};

const CELL: &str = "
model Cell
  record Card
    Real R;
    Real C;
  end Card;
  record Junction
    Real i;
    Real C;
  end Junction;
  function card
    input Real R;
    input Real C;
    output Card c;
  algorithm
    c.R := if R < -1e39 then 0 else R;
    c.C := if C < -1e39 then 0 else C;
  end card;
  function junction
    input Card c;
    input Real v;
    output Junction j;
  algorithm
    j.i := 0.5*v;
    if v > 0 then
      j.C := c.C*(1 + v);
    else
      j.C := c.C;
    end if;
  end junction;
  parameter Real R = -1e40 \"Resistance into the inner node, zero if not given\";
  parameter Real C = -1e40 \"Capacitance of the inner node, zero if not given\";
  final parameter Card c = card(R, C);
  Junction j;
  Real u(start = 0, fixed = true) \"Voltage of the load\";
  Real inner_u;
  Real i;
equation
  j = junction(c, inner_u);
  i*c.R = u - inner_u;
  i = j.i + j.C*der(inner_u);
  der(u) = (1 - u) - i;
end Cell;
";

fn run(set: &[(&str, &str)]) -> (Vec<String>, f64) {
    let folder = std::env::temp_dir().join(format!("gyrator-vanishing-{}-{}", std::process::id(), set.len()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("Cell.mo");
    std::fs::write(&file, CELL).unwrap();
    let set = set.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut session = Session::new(Box::new(Disk));
    let model = session.flatten(&Request { target: file.display().to_string(), set, ..Request::default() }).unwrap();
    let options = Settings { tolerance: Some(1e-9), ..Settings::default() }.resolve(&model.experiment).unwrap();
    let schedule = session.structure(model).unwrap();
    let states = Structure::of(&schedule).states;
    let program = session.compile(schedule).unwrap();
    let mut sink = MemorySink::default();
    let mut watcher = |_: f64| true;
    let outcome = session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut watcher);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(outcome.unwrap().ending, Ending::Complete);
    (states, sink.trajectories.at("u", 1.0).unwrap())
}

#[test]
fn without_resistance_and_capacitance_the_inner_node_is_the_outer_one() {
    let (states, u) = run(&[]);
    assert_eq!(states, ["u"]);
    // u' = 1 - 1.5 u
    assert!((u - (1.0 - (-1.5f64).exp()) / 1.5).abs() < 1e-7, "{u}");
}

#[test]
fn with_a_resistance_alone_the_inner_node_has_no_memory() {
    let (states, u) = run(&[("R", "2")]);
    assert_eq!(states, ["u"]);
    // The resistance of 2 in series with the junction's 2: u' = 1 - 1.25 u
    assert!((u - (1.0 - (-1.25f64).exp()) / 1.25).abs() < 1e-7, "{u}");
}

#[test]
fn with_both_the_inner_node_is_a_state() {
    let (states, _) = run(&[("R", "2"), ("C", "0.1")]);
    assert_eq!(states, ["u", "inner_u"]);
}
