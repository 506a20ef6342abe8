//! A variable is continuous in one use of a class and a discrete state in another, and the same text means the same in one file
//! and in several.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use fastrand::Rng;
use results::{MemorySink, Trajectories};
use session::{Disk, Ending, EventLog, Failed, Request, Session, Settings};

/// Simulates the last model of the first file.
fn run(files: &[(&str, &str)], stop_time: f64) -> Trajectories {
    let mut session = Session::new(Box::new(Disk));
    for (path, text) in files {
        session.replace_text(path, Some((*text).into()));
    }
    let more: Vec<PathBuf> = files[1..].iter().map(|(path, _)| path.into()).collect();
    let request = Request { target: files[0].0.to_owned(), more, ..Request::default() };
    let settings = Settings { stop_time: Some(stop_time), tolerance: Some(1e-9), ..Settings::default() };
    let mut sink = MemorySink::default();
    let outcome = session.flatten(&request).and_then(|model| {
        let options = settings.resolve(&model.experiment).unwrap();
        let program = session.structure(model).and_then(|schedule| session.compile(schedule))?;
        session.simulate(&program, &options, &|_| true, &mut sink, &mut EventLog::none(), &mut |_: f64| true)
    });
    let said: String = session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect();
    let outcome = outcome.unwrap_or_else(|failed| panic!("{failed:?}\n{said}\n{files:?}"));
    assert_eq!(outcome.ending, Ending::Complete, "{said}");
    sink.trajectories
}

fn ends(files: &[(&str, &str)], stop_time: f64, expected: &[(&str, f64)]) {
    let found = run(files, stop_time);
    for &(name, expected) in expected {
        let value = found.last(name).unwrap_or_else(|| panic!("there is no {name}"));
        assert!(
            (value - expected).abs() < 1e-6 * expected.abs().max(1.0),
            "{name} is {value} instead of {expected}\n{files:?}"
        );
    }
}

fn refused(files: &[(&str, &str)]) -> String {
    let mut session = Session::new(Box::new(Disk));
    for (path, text) in files {
        session.replace_text(path, Some((*text).into()));
    }
    let more: Vec<PathBuf> = files[1..].iter().map(|(path, _)| path.into()).collect();
    let request = Request { target: files[0].0.to_owned(), more, ..Request::default() };
    assert!(matches!(session.flatten(&request), Err(Failed::Model)), "{files:?}");
    session.diagnostics.iter().map(|diagnostic| diagnostic.render(session.sources())).collect()
}

/// A class below gives new values to what another object of the class above gets from a connection.
#[test]
fn new_values_in_a_class_below() {
    let text = "model class A
  main cut c (s)
  local y
  y = 2 * s
end
model class (A) B
  local next = 0.1
  when Time >= next then
    new(s) = s + 1
    new(next) = next + 0.1
  endwhen
end
model class G
  main cut c (s)
  s = sin(Time)
end
model M
  submodel (A) a
  submodel (G) g
  submodel (B) b
  connect a at g
end
";
    let sine = 0.55f64.sin();
    ends(&[("m.dym", text)], 0.55, &[("g.s", sine), ("a.y", 2.0 * sine), ("b.s", 5.0), ("b.y", 10.0)]);
}

/// One object gets new values, the other one a value at every instant.
#[test]
fn new_values_of_one_of_two_objects() {
    let text = "model class A
  terminal open
  local y
  y = if open then Time else 0
end
model M
  submodel (A) a, b
  new(a.open) = Time > 0.3 or a.open
  b.open = Time > 0.7
end
";
    ends(&[("m.dym", text)], 0.55, &[("a.y", 0.55), ("b.y", 0.0)]);
}

const CIRCUIT: &str = "model class TwoPort
  cut A (Va / i), B (Vb / -i)
  main path P < A - B >
  local u
  u = Va - Vb
end
model class (TwoPort) Resistor
  parameter R
  R * i = u
end
model class (TwoPort) Inductor
  parameter L
  L * der(i) = u
end
model class (TwoPort) VSource
  terminal u0
  u = -u0
end
model class Common
  main cut A (V / i)
  V = 0
end
model class (TwoPort) Switch
  terminal OpenSwitch
  0 = if OpenSwitch then i else u
end
model class (Switch) Diode
  new(OpenSwitch) = u <= 0 and not i > 0
end
";
const CONVERTER: &str = "model Converter
  submodel (VSource) U
  submodel (Switch) S
  submodel (Diode) D
  submodel (Inductor) L(L = 1)
  submodel (Resistor) R(R = 2)
  submodel Common
  node g, a, b
  connect Common at g, U from g to a, S from a to b, D from g to b, (L - R) from b to g
  U.u0 = 10
  S.OpenSwitch = Time >= 0.5
end
";

/// A switch that is moved from outside and a diode that extends it: while the switch is closed the diode is not.
#[test]
fn a_switch_and_a_diode_that_extends_it() {
    let current = 5.0 * (1.0 - (-0.8f64).exp());
    let expected = [("L.i", current), ("S.i", current), ("D.i", 0.0), ("D.u", -10.0)];
    ends(&[("m.dym", &format!("{CIRCUIT}{CONVERTER}"))], 0.4, &expected);
    // Main cuts, paths, and what is discrete are known from the other file.
    ends(&[("m.dym", CONVERTER), ("elements.dym", CIRCUIT)], 0.4, &expected);
    // The switch opens at 0.5, and the diode takes over the current of the coil.
    let decayed = 5.0 * (1.0 - (-1.0f64).exp()) * (-1.0f64).exp();
    let expected = [("L.i", decayed), ("S.i", 0.0), ("D.i", decayed), ("D.u", 0.0)];
    ends(&[("m.dym", &format!("{CIRCUIT}{CONVERTER}"))], 1.0, &expected);
}

#[test]
fn states_of_another_file_begin_and_are_read_as_in_one() {
    let counter = "model class Counter
  local n = 0
  terminal tick
  when tick then
    new(n) = n + 1
  endwhen
end
";
    let main = "model M
  submodel (Counter) c(n = 5)
  local z = 0, w
  c.tick = Time > 0.35
  when c.tick then
    new(z) = c.n
    w = new(c.n)
  endwhen
end
";
    let expected = [("c.n", 6.0), ("z", 5.0), ("w", 6.0)];
    ends(&[("m.dym", &format!("{counter}{main}"))], 1.0, &expected);
    ends(&[("m.dym", main), ("counter.dym", counter)], 1.0, &expected);
}

#[test]
fn a_model_in_two_files() {
    let said =
        refused(&[("m.dym", "model M\n  local x\n  x = 1\nend\n"), ("n.dym", "model M\n  local x\n  x = 2\nend\n")]);
    assert!(
        said.contains("there are two models `M`") && said.contains("m.dym:1") && said.contains("n.dym:1"),
        "{said}"
    );
    // A copy is no other model.
    let text = "model M\n  local x\n  x = 1\nend\n";
    ends(&[("m.dym", text), ("n.dym", text)], 1.0, &[("x", 1.0)]);
}

/// A hierarchy of classes, in which variables of a class above are counted by `new` in some classes below it, and given from
/// outside in others.
struct Hierarchy {
    /// For each class: the one above it.
    above: Vec<Option<usize>>,
    /// For each class: the variables of its lineage that it counts, by the class that declares them.
    counted: Vec<Vec<usize>>,
    /// The classes of the objects.
    objects: Vec<usize>,
}

impl Hierarchy {
    fn random(rng: &mut Rng) -> Self {
        let count = rng.usize(1..5);
        let mut made = Self { above: Vec::new(), counted: Vec::new(), objects: Vec::new() };
        for class in 0..count {
            made.above.push((class > 0 && rng.usize(0..4) > 0).then(|| rng.usize(0..class)));
            made.counted.push(Vec::new());
            let known: Vec<usize> = made.lineage(class);
            let is_counted = |made: &Self, variable| known.iter().any(|&above| made.counted[above].contains(&variable));
            for &variable in &known {
                if rng.usize(0..3) == 0 && !is_counted(&made, variable) {
                    made.counted[class].push(variable);
                }
            }
        }
        made.objects = (0..rng.usize(1..5)).map(|_| rng.usize(0..count)).collect();
        made
    }

    fn lineage(&self, class: usize) -> Vec<usize> {
        std::iter::successors(Some(class), |&class| self.above[class]).collect()
    }

    fn is_counted(&self, class: usize, variable: usize) -> bool {
        self.lineage(class).into_iter().any(|above| self.counted[above].contains(&variable))
    }

    fn classes(&self) -> Vec<String> {
        let class = |index: usize| {
            let above = self.above[index].map_or(String::new(), |above| format!("(C{above}) "));
            let mut text = format!("model class {above}C{index}\n  terminal x{index}\n  local y{index}\n");
            text += &format!("  y{index} = 2 * x{index}\n");
            if !self.counted[index].is_empty() {
                text += &format!("  local next{index} = 0.1\n  when Time >= next{index} then\n");
                text += &format!("    new(next{index}) = next{index} + 0.1\n");
                for variable in &self.counted[index] {
                    text += &format!("    new(x{variable}) = x{variable} + 1\n");
                }
                text += "  endwhen\n";
            }
            text + "end\n"
        };
        (0..self.above.len()).map(class).collect()
    }

    fn main(&self) -> String {
        let mut text = "model M\n".to_owned();
        for (object, class) in self.objects.iter().enumerate() {
            text += &format!("  submodel (C{class}) o{object}\n");
        }
        for (object, &class) in self.objects.iter().enumerate() {
            for variable in self.lineage(class) {
                if !self.is_counted(class, variable) {
                    text += &format!("  o{object}.x{variable} = Time + {variable}\n");
                }
            }
        }
        text + "  local now\n  now = Time\nend\n"
    }

    fn expected(&self, now: f64, steps: f64) -> Vec<(String, f64)> {
        let mut found = Vec::new();
        for (object, &class) in self.objects.iter().enumerate() {
            for variable in self.lineage(class) {
                let x = if self.is_counted(class, variable) { steps } else { now + variable as f64 };
                found.push((format!("o{object}.y{variable}"), 2.0 * x));
            }
        }
        found
    }
}

#[test]
fn hierarchies_in_one_file_and_in_several() {
    let mut rng = Rng::with_seed(17);
    for _ in 0..25 {
        let hierarchy = Hierarchy::random(&mut rng);
        let expected = hierarchy.expected(0.55, 5.0);
        let expected: Vec<(&str, f64)> = expected.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let (main, classes) = (hierarchy.main(), hierarchy.classes());
        ends(&[("m.dym", &format!("{}{main}", classes.concat()))], 0.55, &expected);
        let names: Vec<String> = (0..classes.len()).map(|index| format!("c{index}.dym")).collect();
        let mut files = vec![("m.dym", main.as_str())];
        files.extend(names.iter().map(String::as_str).zip(classes.iter().map(String::as_str)));
        let others = &mut files[1..];
        rng.shuffle(others);
        ends(&files, 0.55, &expected);
    }
}
