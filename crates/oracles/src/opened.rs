//! Block diagrams that are opened at random signals and linearised there. The oracle knows the diagram as a list of signals, each
//! of which follows from others: an opened signal follows from nothing, and the rest is linear algebra at the point of the closed
//! diagram.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fastrand::Rng;
use nalgebra::DMatrix;
use session::{Failed, LinearRequest, MemoryFiles, Request, Session, Settings};

use crate::case::{Case, Verdict};
use crate::linear::text;

const CLASSES: &str = "  connector RI = input Real;
  connector RO = output Real;
  block Gain parameter Real k; RI u; RO y; equation y = k*u; end Gain;
  block Cubic parameter Real k; RI u; RO y; equation y = k*u + 0.3*u^3; end Cubic;
  block Sum parameter Real k; parameter Real l; RI u; RI v; RO y; equation y = k*u + l*v; end Sum;
  block Lag parameter Real k; parameter Real l; parameter Real x0; RI u; RO y(start = x0, fixed = true);
    equation der(y) = l*y + k*u; end Lag;
  block Store parameter Real k; parameter Real l; parameter Real x0; RI u; RO y; Real x(start = x0, fixed = true);
    equation der(x) = u; y = k*u + l*x; end Store;
";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Gain,
    Cubic,
    Sum,
    Lag,
    Store,
}

struct Block {
    kind: Kind,
    k: f64,
    l: f64,
    start: f64,
    is_wrapped: bool,
    /// The signals that come in.
    sources: Vec<usize>,
}

impl Block {
    /// What comes in acts on what goes out at once.
    fn is_direct(&self) -> bool {
        self.kind != Kind::Lag
    }
}

/// What a signal is equal to.
enum Rule {
    /// Nothing: the input of the model, with its value.
    Given(f64),
    /// Another signal.
    Equal(usize),
    /// What a block makes of its inputs.
    Made { block: usize, inputs: Vec<usize> },
}

struct Signal {
    name: String,
    rule: Rule,
}

struct Diagram {
    blocks: Vec<Block>,
    signals: Vec<Signal>,
    /// Where each block has its state.
    states: Vec<Option<usize>>,
}

pub fn case(random: &mut Rng) -> Case {
    let diagram = diagram(random);
    let mut places: Vec<usize> = (0..diagram.signals.len()).collect();
    random.shuffle(&mut places);
    let opened: Vec<usize> = places.iter().copied().take(random.usize(1..3)).collect();
    random.shuffle(&mut places);
    let seen: Vec<usize> = places.iter().copied().take(random.usize(1..4)).collect();
    let names = |list: &[usize]| list.iter().map(|&it| diagram.signals[it].name.clone()).collect::<Vec<_>>();
    let wanted = LinearRequest { inputs: Some(names(&opened)), outputs: Some(names(&seen)), times: Vec::new() };
    let model =
        format!("// inputs {}, outputs {}\n{}", names(&opened).join(","), names(&seen).join(","), diagram.modelica());
    let expected = diagram.linearized(&opened, &seen);
    let is_linear = diagram.blocks.iter().all(|block| block.kind != Kind::Cubic);
    let own = model.clone();
    let judge = move |_: &_| {
        let judged = || {
            let expected = expected.as_ref().ok_or("the oracle found no point")?;
            agrees(&own, &wanted, expected, false)?;
            if is_linear { agrees(&own, &wanted, expected, true) } else { Ok(()) }
        };
        catch_unwind(AssertUnwindSafe(judged)).unwrap_or_else(|_| Err("panic".into()))
    };
    // The run itself says nothing here.
    let settings = Settings { stop_time: Some(0.0), ..Settings::default() };
    Case { text: model, settings, inputs: Vec::new(), judge: Box::new(judge) }
}

fn diagram(random: &mut Rng) -> Diagram {
    let number = |random: &mut Rng| {
        let size = 0.2 + 1.6 * random.f64();
        if random.bool() { size } else { -size }
    };
    let kinds = [Kind::Gain, Kind::Cubic, Kind::Sum, Kind::Sum, Kind::Lag, Kind::Lag, Kind::Store];
    let mut blocks: Vec<Block> = (0..random.usize(2..9))
        .map(|_| Block {
            kind: kinds[random.usize(0..kinds.len())],
            k: number(random),
            l: number(random),
            start: number(random),
            is_wrapped: random.u32(0..3) == 0,
            sources: Vec::new(),
        })
        .collect();
    let mut signals = vec![Signal { name: "r".to_owned(), rule: Rule::Given(number(random)) }];
    let mut outputs = Vec::new();
    let mut inputs: Vec<Vec<usize>> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let mut push = |name: String, rule: Rule| {
            signals.push(Signal { name, rule });
            signals.len() - 1
        };
        let ports: &[&str] = if block.kind == Kind::Sum { &["u", "v"] } else { &["u"] };
        // What they are equal to is known when all blocks are.
        let outer: Vec<usize> = ports.iter().map(|port| push(format!("b{at}.{port}"), Rule::Given(0.0))).collect();
        let inner: Vec<usize> = match block.is_wrapped {
            false => outer.clone(),
            true => {
                ports.iter().zip(&outer).map(|(port, &it)| push(format!("b{at}.b.{port}"), Rule::Equal(it))).collect()
            }
        };
        let made = Rule::Made { block: at, inputs: inner };
        let output = match block.is_wrapped {
            false => push(format!("b{at}.y"), made),
            true => {
                let within = push(format!("b{at}.b.y"), made);
                push(format!("b{at}.y"), Rule::Equal(within))
            }
        };
        outputs.push(output);
        inputs.push(outer);
    }
    for at in 0..blocks.len() {
        // Without loops of direct blocks: from blocks before, or from those whose output is a state.
        let usable: Vec<usize> = (0..blocks.len())
            .filter(|&other| other < at || !blocks[other].is_direct())
            .filter(|&other| !blocks[at].is_direct() || other != at)
            .map(|other| outputs[other])
            .collect();
        for place in 0..inputs[at].len() {
            let source = match usable.is_empty() || random.u32(0..5) == 0 {
                true => 0,
                false => usable[random.usize(0..usable.len())],
            };
            blocks[at].sources.push(source);
            signals[inputs[at][place]].rule = Rule::Equal(source);
        }
    }
    let states = blocks.iter().scan(0, |count, block| {
        let has_state = matches!(block.kind, Kind::Lag | Kind::Store);
        *count += usize::from(has_state);
        Some(has_state.then(|| *count - 1))
    });
    let states = states.collect();
    Diagram { blocks, signals, states }
}

impl Diagram {
    fn modelica(&self) -> String {
        let mut model = format!("model Diagram\n{CLASSES}");
        for (at, block) in self.blocks.iter().enumerate() {
            let kind = format!("{:?}", block.kind);
            let more = match block.kind {
                Kind::Gain | Kind::Cubic => String::new(),
                Kind::Sum => format!(", l = {}", text(block.l)),
                Kind::Lag | Kind::Store => format!(", l = {}, x0 = {}", text(block.l), text(block.start)),
            };
            let values = format!("k = {}{more}", text(block.k));
            let ports: &[&str] = if block.kind == Kind::Sum { &["u", "v"] } else { &["u"] };
            match block.is_wrapped {
                false => drop(writeln!(model, "  {kind} b{at}({values});")),
                true => {
                    let declared: String = ports.iter().map(|port| format!("RI {port}; ")).collect();
                    let joined: String = ports.iter().map(|port| format!("connect({port}, b.{port}); ")).collect();
                    let _ = writeln!(
                        model,
                        "  block Wrapped{at} {declared}RO y; {kind} b({values}); equation {joined}connect(b.y, y); end Wrapped{at};\n  Wrapped{at} b{at};"
                    );
                }
            }
        }
        let Rule::Given(value) = self.signals[0].rule else { return model };
        let _ = writeln!(model, "  RI r(start = {});\nequation", text(value));
        for (at, block) in self.blocks.iter().enumerate() {
            for (port, &source) in ["u", "v"].iter().zip(&block.sources) {
                let _ = writeln!(model, "  connect({}, b{at}.{port});", self.signals[source].name);
            }
        }
        model + "end Diagram;\n"
    }

    /// The values of all signals of the closed diagram at the start, by repeated substitution.
    fn values(&self) -> Option<Vec<f64>> {
        let mut values: Vec<Option<f64>> = vec![None; self.signals.len()];
        for _ in 0..=self.signals.len() {
            for (at, signal) in self.signals.iter().enumerate() {
                values[at] = match &signal.rule {
                    Rule::Given(value) => Some(*value),
                    Rule::Equal(other) => values[*other],
                    Rule::Made { block, inputs } => {
                        let Block { kind, k, l, start, .. } = &self.blocks[*block];
                        let input = |place: usize| values[inputs[place]];
                        match kind {
                            Kind::Gain => input(0).map(|u| k * u),
                            Kind::Cubic => input(0).map(|u| k * u + 0.3 * u.powi(3)),
                            Kind::Sum => input(0).zip(input(1)).map(|(u, v)| k * u + l * v),
                            Kind::Lag => Some(*start),
                            Kind::Store => input(0).map(|u| k * u + l * start),
                        }
                    }
                };
            }
        }
        values.into_iter().collect()
    }

    /// A, B, C and D of the diagram with these signals as inputs.
    fn linearized(&self, opened: &[usize], seen: &[usize]) -> Option<[DMatrix<f64>; 4]> {
        let values = self.values()?;
        let (signals, inputs) = (self.signals.len(), opened.len());
        let all_states = self.states.iter().flatten().count();
        // s = M·s + P·x + Q·u
        let mut among = DMatrix::<f64>::identity(signals, signals);
        let mut by_state = DMatrix::<f64>::zeros(signals, all_states);
        let mut by_input = DMatrix::<f64>::zeros(signals, inputs);
        let mut rates = DMatrix::<f64>::zeros(all_states, signals);
        let mut decay = DMatrix::<f64>::zeros(all_states, all_states);
        let mut is_state = vec![true; all_states];
        for (at, signal) in self.signals.iter().enumerate() {
            let place = opened.iter().position(|&it| it == at);
            if let Some(place) = place {
                by_input[(at, place)] = 1.0;
            }
            match &signal.rule {
                Rule::Given(_) => {}
                Rule::Equal(other) if place.is_none() => among[(at, *other)] -= 1.0,
                Rule::Equal(_) => {}
                Rule::Made { block, inputs } => {
                    let Block { kind, k, l, .. } = &self.blocks[*block];
                    let state = self.states[*block].unwrap_or(0);
                    match kind {
                        // The output is the state: where it is given, there is none.
                        Kind::Lag if place.is_some() => is_state[state] = false,
                        Kind::Lag => {
                            by_state[(at, state)] = 1.0;
                            decay[(state, state)] = *l;
                            rates[(state, inputs[0])] += k;
                        }
                        Kind::Store => rates[(state, inputs[0])] += 1.0,
                        _ => {}
                    }
                    if place.is_none() {
                        match kind {
                            Kind::Gain => among[(at, inputs[0])] -= k,
                            Kind::Cubic => among[(at, inputs[0])] -= k + 0.9 * values[inputs[0]].powi(2),
                            Kind::Sum => {
                                among[(at, inputs[0])] -= k;
                                among[(at, inputs[1])] -= l;
                            }
                            Kind::Store => {
                                among[(at, inputs[0])] -= k;
                                by_state[(at, state)] = *l;
                            }
                            Kind::Lag => {}
                        }
                    }
                }
            }
        }
        let factors = among.lu();
        let (from_state, from_input) = (factors.solve(&by_state)?, factors.solve(&by_input)?);
        let kept: Vec<usize> = (0..all_states).filter(|&state| is_state[state]).collect();
        let a = (&rates * &from_state + decay).select_rows(&kept).select_columns(&kept);
        let b = (&rates * &from_input).select_rows(&kept);
        let c = from_state.select_columns(&kept).select_rows(seen);
        Some([a, b, c, from_input.select_rows(seen)])
    }
}

/// Compares determinants and transfer functions: names and signs of states are free.
fn agrees(model: &str, wanted: &LinearRequest, expected: &[DMatrix<f64>; 4], symbolic: bool) -> Verdict {
    let found = linearized(model, wanted, symbolic)?;
    let way = if symbolic { "with symbols" } else { "with numbers" };
    if found[0].nrows() != expected[0].nrows() {
        return Err(format!("{} states instead of {}, {way}", found[0].nrows(), expected[0].nrows()));
    }
    for s in [0.37, 2.9, -6.1] {
        let [(one, transfer), (other, meant)] = [response(&found, s)?, response(expected, s)?];
        if (one - other).abs() > 1e-9 * (1.0 + other.abs()) {
            return Err(format!("det({s} - A) is {one} instead of {other}, {way}"));
        }
        let size = 1.0 + meant.iter().fold(0.0f64, |size, entry| size.max(entry.abs()));
        if (&transfer - &meant).iter().any(|error| error.is_nan() || error.abs() > 1e-8 * size) {
            return Err(format!("G({s}) is {transfer} instead of {meant}, {way}"));
        }
    }
    Ok(())
}

fn response([a, b, c, d]: &[DMatrix<f64>; 4], s: f64) -> Result<(f64, DMatrix<f64>), String> {
    if a.nrows() == 0 {
        return Ok((1.0, d.clone()));
    }
    let shifted = DMatrix::<f64>::identity(a.nrows(), a.nrows()) * s - a;
    let determinant = shifted.determinant();
    let solved = shifted.lu().solve(b).ok_or("a pole at a point of comparison")?;
    Ok((determinant, c * solved + d))
}

fn linearized(model: &str, wanted: &LinearRequest, symbolic: bool) -> Result<[DMatrix<f64>; 4], String> {
    let mut session = Session::new(Box::new(MemoryFiles::one("case.mo", model)));
    let request = Request { target: "case.mo".to_owned(), ..Request::default() };
    let options = |experiment: &dae::Experiment| Settings::default().resolve(experiment);
    let found = match symbolic {
        true => session.linearize_symbolic(&request, wanted, options).map(|space| space.numbers()),
        false => {
            session.linearize(&request, wanted, options).map(|points| points.into_iter().next().map(|it| it.system))
        }
    };
    let system = found.map_err(|failed| match failed {
        Failed::Call(message) => message,
        _ => session.diagnostics.iter().map(|said| said.message.clone()).collect::<Vec<_>>().join(" / "),
    })?;
    let system = system.ok_or("no numbers")?;
    let dense = |matrix: &linear::Matrix| DMatrix::from_row_slice(matrix.rows(), matrix.columns(), matrix.entries());
    Ok([dense(&system.a), dense(&system.b), dense(&system.c), dense(&system.d)])
}
