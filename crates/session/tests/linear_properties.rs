//! Linearisation by two ways: random bond graphs against the same system with its equations written by hand, and random nonlinear
//! models against central differences of their right-hand sides.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use session::{LinearRequest, MemoryFiles, Request, Session, Settings};

fn linearized(file: &str, text: &str, wanted: &LinearRequest) -> Result<linear::StateSpace, String> {
    let mut session = Session::new(Box::new(MemoryFiles::one(file, text)));
    let request = Request { target: file.to_owned(), ..Request::default() };
    let found = session.linearize(&request, wanted, |experiment| Settings::default().resolve(experiment));
    let said: String = session.diagnostics.iter().map(|said| said.render(session.sources())).collect();
    found.map(|mut points| points.remove(0).system).map_err(|_| said)
}

/// A tree of junctions with elements: text of the notation, and the equations of each junction and element written by hand.
struct Pair {
    bond: String,
    modelica: String,
}

fn pair(random: &mut fastrand::Rng) -> Pair {
    let junctions = 1 + random.usize(..5);
    let (mut bond, mut bonds) = (String::new(), String::new());
    let (mut declarations, mut equations) = (String::new(), String::new());
    // Bonds at each junction: number, and whether it points to the junction.
    let mut at: Vec<(bool, Vec<(usize, bool)>)> = Vec::new();
    let mut count = 0;
    let mut outputs = Vec::new();
    let mut new_bond = |declarations: &mut String| {
        count += 1;
        let _ = writeln!(declarations, "  Real e{count}, f{count};");
        count
    };
    for index in 0..junctions {
        let is_zero = random.bool();
        let _ = writeln!(bond, "{} j{index}", if is_zero { 0 } else { 1 });
        at.push((is_zero, Vec::new()));
        if index == 0 {
            // An effort adds up at a 1-junction, a flow at a 0-junction: no source sets what a storage holds.
            let kind = if is_zero { "Sf" } else { "Se" };
            let _ = writeln!(bond, "{kind} u = 1");
            let _ = writeln!(bonds, "u -> j0");
            let number = new_bond(&mut declarations);
            at[0].1.push((number, true));
            let _ = writeln!(equations, "  {}{number} = u;", if is_zero { 'f' } else { 'e' });
        } else {
            let to = random.usize(..index);
            let value = (1 + random.u32(..300)) as f64 / 100.0;
            let (one, other) = (new_bond(&mut declarations), new_bond(&mut declarations));
            at[to].1.push((one, false));
            at[index].1.push((other, true));
            let kind = random.usize(..3);
            match kind {
                0 => {
                    let _ = writeln!(bonds, "j{to} -> j{index}");
                    let _ = writeln!(equations, "  e{one} = e{other};\n  f{one} = f{other};");
                }
                1 => {
                    let _ = writeln!(bond, "TF t{index} = {value}");
                    let _ = writeln!(bonds, "j{to} -> t{index} -> j{index}");
                    let _ = writeln!(equations, "  e{one} = {value}*e{other};\n  f{other} = {value}*f{one};");
                }
                _ => {
                    let _ = writeln!(bond, "GY t{index} = {value}");
                    let _ = writeln!(bonds, "j{to} -> t{index} -> j{index}");
                    let _ = writeln!(equations, "  e{one} = {value}*f{other};\n  e{other} = {value}*f{one};");
                }
            }
        }
        for part in 0..1 + random.usize(..3) {
            let value = (1 + random.u32(..300)) as f64 / 100.0;
            let number = new_bond(&mut declarations);
            at[index].1.push((number, false));
            let kind = ["R", "C", "I"][random.usize(..3)];
            let name = format!("{kind}{index}_{part}");
            let _ = writeln!(bond, "{kind} {name} = {value}");
            let _ = writeln!(bonds, "j{index} -> {name}");
            let _ = match kind {
                "R" => writeln!(equations, "  e{number} = {value}*f{number};"),
                "C" => {
                    let _ = writeln!(declarations, "  Real {name}(start = 0);");
                    writeln!(equations, "  {name} = {value}*e{number};\n  der({name}) = f{number};")
                }
                _ => {
                    let _ = writeln!(declarations, "  Real {name}(start = 0);");
                    writeln!(equations, "  {name} = {value}*f{number};\n  der({name}) = e{number};")
                }
            };
            outputs.push((name, number));
        }
    }
    for (is_zero, bonds) in &at {
        let (common, balanced) = if *is_zero { ('e', 'f') } else { ('f', 'e') };
        for pair in bonds.windows(2) {
            let _ = writeln!(equations, "  {common}{} = {common}{};", pair[0].0, pair[1].0);
        }
        let sum =
            bonds.iter().map(|(number, enters)| format!("{} {balanced}{number}", if *enters { "+" } else { "-" }));
        let _ = writeln!(equations, "  0 = {};", sum.collect::<Vec<_>>().join(" "));
    }
    let (name, number) = outputs[random.usize(..outputs.len())].clone();
    let variable = if random.bool() { 'e' } else { 'f' };
    let _ = writeln!(bonds, "output y = {name}.{variable}");
    let modelica = format!(
        "model Written\n  input Real u;\n  output Real y = {variable}{number};\n{declarations}equation\n{equations}end Written;\n"
    );
    Pair { bond: format!("{bond}{bonds}"), modelica }
}

/// Two state spaces are the same system where their transfer functions agree; states may be chosen otherwise.
fn response(system: &linear::StateSpace, frequency: f64) -> (f64, f64) {
    let n = system.order();
    // (i·ω − A)·x = B by Gauss with complex numbers.
    let mut rows: Vec<Vec<(f64, f64)>> = (0..n)
        .map(|i| {
            let mut row: Vec<(f64, f64)> =
                (0..n).map(|j| (-system.a[(i, j)], if i == j { frequency } else { 0.0 })).collect();
            row.push((system.b[(i, 0)], 0.0));
            row
        })
        .collect();
    let times = |a: (f64, f64), b: (f64, f64)| (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0);
    for column in 0..n {
        let best = (column..n)
            .max_by(|&a, &b| {
                rows[a][column].0.hypot(rows[a][column].1).total_cmp(&rows[b][column].0.hypot(rows[b][column].1))
            })
            .unwrap();
        rows.swap(column, best);
        let pivot = rows[column].clone();
        let size = pivot[column].0.powi(2) + pivot[column].1.powi(2);
        let inverse = (pivot[column].0 / size, -pivot[column].1 / size);
        for (index, row) in rows.iter_mut().enumerate() {
            let factor = if index == column { continue } else { times(row[column], inverse) };
            for (entry, of_pivot) in row.iter_mut().zip(&pivot) {
                let part = times(factor, *of_pivot);
                *entry = (entry.0 - part.0, entry.1 - part.1);
            }
        }
        rows[column].iter_mut().for_each(|entry| *entry = times(*entry, inverse));
    }
    rows.iter().enumerate().fold((system.d[(0, 0)], 0.0), |sum, (k, row)| {
        (sum.0 + system.c[(0, k)] * row[n].0, sum.1 + system.c[(0, k)] * row[n].1)
    })
}

#[test]
fn random_bond_graphs_agree_with_their_equations_written_by_hand() {
    let mut random = fastrand::Rng::with_seed(16);
    let (mut agreed, mut same_states) = (0, 0);
    for _ in 0..80 {
        let Pair { bond, modelica } = pair(&mut random);
        let wanted = LinearRequest::default();
        let (graph, written) = (linearized("graph.bond", &bond, &wanted), linearized("case.mo", &modelica, &wanted));
        let (graph, written) = match (graph, written) {
            (Ok(graph), Ok(written)) => (graph, written),
            // The derivative of an input is needed: neither way has a state space.
            (Err(_), Err(_)) => continue,
            (Ok(_), Err(said)) | (Err(said), Ok(_)) => panic!("{said}\n{bond}\n{modelica}"),
        };
        assert_eq!(graph.order(), written.order(), "{bond}\n{modelica}");
        for frequency in [0.13, 1.1, 7.3] {
            let (one, other) = (response(&graph, frequency), response(&written, frequency));
            let size = 1e-3 + other.0.hypot(other.1);
            assert!((one.0 - other.0).hypot(one.1 - other.1) <= 1e-7 * size, "{one:?} {other:?}\n{bond}\n{modelica}");
        }
        agreed += 1;
        // States with the same names have the same matrices, whatever their order.
        let name = |name: &str| name.rsplit_once('.').map_or(name.to_owned(), |(element, _)| element.to_owned());
        let order: Option<Vec<usize>> = graph
            .states
            .iter()
            .map(|state| written.states.iter().position(|other| other.name == name(&state.name)))
            .collect();
        let Some(order) = order else { continue };
        same_states += 1;
        let close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * (1.0 + one.abs());
        for (i, &k) in order.iter().enumerate() {
            assert!(close(graph.b[(i, 0)], written.b[(k, 0)]) && close(graph.c[(0, i)], written.c[(0, k)]), "{bond}");
            assert!(
                order.iter().enumerate().all(|(j, &l)| close(graph.a[(i, j)], written.a[(k, l)])),
                "{bond}\n{modelica}"
            );
        }
        assert!(close(graph.d[(0, 0)], written.d[(0, 0)]), "{bond}\n{modelica}");
    }
    assert!(agreed >= 50 && same_states >= 30, "{agreed} {same_states}");
}

/// `ẋ = f(x, u)` of random terms, and the same function in Rust.
#[test]
fn random_nonlinear_models_agree_with_central_differences() {
    let mut random = fastrand::Rng::with_seed(17);
    for _ in 0..40 {
        let n = 1 + random.usize(..4);
        // Kind of term, its factor, two variables; variable n is the input.
        let terms: Vec<Vec<(usize, f64, usize, usize)>> = (0..n)
            .map(|_| {
                let term = |random: &mut fastrand::Rng| {
                    let factor = random.i32(-200..=200) as f64 / 100.0;
                    (random.usize(..5), factor, random.usize(..=n), random.usize(..=n))
                };
                (0..1 + random.usize(..4)).map(|_| term(&mut random)).collect()
            })
            .collect();
        let point: Vec<f64> = (0..=n).map(|_| random.i32(-100..=100) as f64 / 100.0).collect();
        let value = |terms: &[(usize, f64, usize, usize)], x: &[f64]| -> f64 {
            terms
                .iter()
                .map(|&(kind, factor, a, b)| {
                    factor
                        * match kind {
                            0 => x[a],
                            1 => x[a] * x[b],
                            2 => x[a].sin() * x[b],
                            3 => (0.5 * x[a]).exp(),
                            _ => x[a] / (2.0 + x[b].cos()),
                        }
                })
                .sum()
        };
        let name = |index: usize| if index == n { "u".to_owned() } else { format!("x{index}") };
        let mut text = format!("model Case\n  input Real u(start = {});\n  output Real y = z;\n  Real z;\n", point[n]);
        (0..n).for_each(|index| {
            let _ = writeln!(text, "  Real x{index}(start = {}, fixed = true);", point[index]);
        });
        text += "equation\n";
        let sum = |terms: &[(usize, f64, usize, usize)]| -> String {
            let term = |&(kind, factor, a, b): &(usize, f64, usize, usize)| {
                let (a, b) = (name(a), name(b));
                let product = match kind {
                    0 => a,
                    1 => format!("{a}*{b}"),
                    2 => format!("sin({a})*{b}"),
                    3 => format!("exp(0.5*{a})"),
                    _ => format!("{a}/(2 + cos({b}))"),
                };
                format!("({factor})*{product}")
            };
            terms.iter().map(term).collect::<Vec<_>>().join(" + ")
        };
        for (index, terms) in terms.iter().enumerate() {
            let _ = writeln!(text, "  der(x{index}) = {};", sum(terms));
        }
        // A loop: the output is only known implicitly.
        let _ = writeln!(text, "  z + 0.1*sin(z) = {};\nend Case;", sum(&terms[0]));
        let system = linearized("case.mo", &text, &LinearRequest::default()).unwrap();
        let implicit = |right: f64| {
            let mut z: f64 = right;
            (0..100).for_each(|_| z -= (z + 0.1 * z.sin() - right) / (1.0 + 0.1 * z.cos()));
            z
        };
        let step = 1e-5;
        let at = |column: usize, sign: f64| {
            let mut x = point.clone();
            x[column] += sign * step;
            x
        };
        for column in 0..=n {
            let (above, below) = (at(column, 1.0), at(column, -1.0));
            let found = |row: usize| match (row == n, column == n) {
                (false, false) => system.a[(row, column)],
                (false, true) => system.b[(row, 0)],
                (true, false) => system.c[(0, column)],
                (true, true) => system.d[(0, 0)],
            };
            for row in 0..=n {
                let function = |x: &[f64]| if row == n { implicit(value(&terms[0], x)) } else { value(&terms[row], x) };
                let expected = (function(&above) - function(&below)) / (2.0 * step);
                let found = found(row);
                assert!(
                    (found - expected).abs() <= 1e-7 * (1.0 + expected.abs()),
                    "{found} {expected} at {row}, {column}\n{text}"
                );
            }
        }
    }
}
