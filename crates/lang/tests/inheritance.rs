//! Random multiple inheritance against a resolver of its own: extends clauses with modifiers and deselections, `final` at every
//! level, elements of one name from several bases, connections. What breaks a rule of chapter 7 must be refused, and everything
//! else must come out with the values and connections that the rules give.
//!
//! `CASES=100000 cargo test --release -p gyrator-lang --test inheritance` runs more of them, `GYRATOR_SEED=17 CASES=1` one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use dae::{Model, Node};
use fastrand::Rng;
use lang::{Libraries, Overrides, flatten};

const PART: &str = "connector C Real v; flow Real i; end C;
model Part parameter Real p = 1; parameter Real q = 2; C c; equation c.i = p*c.v; end Part;
";

/// What an argument of a modification says about an element, or about an element of a part.
#[derive(Clone, Debug)]
struct Argument {
    path: Vec<&'static str>,
    value: i64,
    is_final: bool,
}

#[derive(Clone, Debug)]
enum Element {
    Parameter { value: i64 },
    Part { arguments: Vec<Argument> },
}

type Ends = (&'static str, &'static str);

#[derive(Clone, Debug, Default)]
struct Extends {
    base: usize,
    arguments: Vec<Argument>,
    components: Vec<&'static str>,
    connections: Vec<Ends>,
}

#[derive(Clone, Debug, Default)]
struct Class {
    bases: Vec<Extends>,
    elements: Vec<(&'static str, bool, Element)>,
    connections: Vec<Ends>,
}

const PARAMETERS: [&str; 3] = ["x", "y", "z"];
const PARTS: [&str; 4] = ["a", "b", "d", "e"];

fn text(classes: &[Class], top: &[Argument]) -> String {
    let mut out = PART.to_owned();
    for (number, class) in classes.iter().enumerate() {
        let _ = writeln!(out, "model K{number}");
        for extends in &class.bases {
            let mut list: Vec<String> = extends.arguments.iter().map(argument_text).collect();
            list.extend(extends.components.iter().map(|name| format!("break {name}")));
            list.extend(extends.connections.iter().map(|(a, b)| format!("break connect({b}.c, {a}.c)")));
            let _ = writeln!(out, "  extends K{}({});", extends.base, list.join(", "));
        }
        for (name, is_final, element) in &class.elements {
            let prefix = if *is_final { "final " } else { "" };
            let _ = match element {
                Element::Parameter { value } => writeln!(out, "  {prefix}parameter Real {name} = {value};"),
                Element::Part { arguments } => {
                    let list: Vec<String> = arguments.iter().map(argument_text).collect();
                    writeln!(out, "  {prefix}Part {name}({});", list.join(", "))
                }
            };
        }
        let _ = writeln!(out, "equation");
        for (a, b) in &class.connections {
            let _ = writeln!(out, "  connect({a}.c, {b}.c);");
        }
        let _ = writeln!(out, "end K{number};");
    }
    let list: Vec<String> = top.iter().map(argument_text).collect();
    let _ = writeln!(out, "model M K{} k({}); end M;", classes.len() - 1, list.join(", "));
    out
}

fn argument_text(argument: &Argument) -> String {
    let prefix = if argument.is_final { "final " } else { "" };
    match argument.path.as_slice() {
        [part, element] => format!("{part}({prefix}{element} = {})", argument.value),
        path => format!("{prefix}{} = {}", path.join("."), argument.value),
    }
}

/// The value of each parameter, by its path, and whether it can be modified no more.
type Values = BTreeMap<Vec<&'static str>, (i64, bool)>;

#[derive(Clone, Default, Debug)]
struct Flat {
    values: Values,
    connections: BTreeSet<Ends>,
}

fn said(arguments: &[Argument]) -> Values {
    arguments.iter().map(|argument| (argument.path.clone(), (argument.value, argument.is_final))).collect()
}

/// `outer` over `inner`.
fn over(outer: &Values, inner: &Values) -> Result<Values, String> {
    let mut result = inner.clone();
    for (path, &(value, is_final)) in outer {
        if inner.get(path).is_some_and(|(_, is_final)| *is_final) {
            return Err(format!("{path:?} is final"));
        }
        result.insert(path.clone(), (value, is_final));
    }
    Ok(result)
}

/// Left open: which of two elements of one name counts for modifiers if only one of them is final, and whether modifiers may
/// make a class right that is wrong by itself.
const UNCLEAR: &str = "unclear";

fn ordered((a, b): Ends) -> Ends {
    if a < b { (a, b) } else { (b, a) }
}

/// The elements of a class in its surroundings.
fn resolve(classes: &[Class], class: usize, outer: &Values) -> Result<Flat, String> {
    let alone = elements(classes, class, &Values::default());
    match (alone, elements(classes, class, outer)) {
        (Err(why), _) if why == UNCLEAR => Err(why),
        (Err(_), Ok(_)) => Err(UNCLEAR.to_owned()),
        (_, found) => found,
    }
}

fn elements(classes: &[Class], class: usize, outer: &Values) -> Result<Flat, String> {
    let mut flat = Flat::default();
    for (name, is_final, element) in &classes[class].elements {
        let own: Values = match element {
            Element::Parameter { value } => [(vec![*name], (*value, *is_final))].into(),
            Element::Part { arguments } => {
                let declared = [(vec!["p"], (1, false)), (vec!["q"], (2, false))].into();
                let own = over(&said(arguments), &declared)?;
                own.into_iter()
                    .map(|(path, (value, fixed))| (vec![*name, path[0]], (value, fixed || *is_final)))
                    .collect()
            }
        };
        let outer = outer.iter().filter(|(path, _)| path[0] == *name).map(|(path, said)| (path.clone(), *said));
        flat.values.extend(over(&outer.collect(), &own)?);
    }
    for extends in &classes[class].bases {
        let is_kept = |path: &[&'static str]| !extends.components.contains(&path[0]);
        if extends.arguments.iter().any(|argument| !is_kept(&argument.path)) {
            return Err("a deselected component is modified".to_owned());
        }
        let reaching = outer.iter().filter(|(path, _)| is_kept(path)).map(|(path, said)| (path.clone(), *said));
        let base = resolve(classes, extends.base, &over(&reaching.collect(), &said(&extends.arguments))?)?;
        if let Some(name) = extends.components.iter().find(|name| !base.values.keys().any(|path| path[0] == **name)) {
            return Err(format!("{name} is not there"));
        }
        let connected = |(a, b): &Ends| is_kept(&[a]) && is_kept(&[b]);
        let mut connections: BTreeSet<Ends> = base.connections.into_iter().filter(connected).collect();
        if let Some(ends) = extends.connections.iter().find(|ends| !connections.contains(&ordered(**ends))) {
            return Err(format!("{ends:?} is not there"));
        }
        connections.retain(|ends| !extends.connections.iter().any(|broken| ordered(*broken) == *ends));
        flat.connections.extend(connections);
        for (path, (value, is_final)) in base.values.into_iter().filter(|(path, _)| is_kept(path)) {
            let known = flat.values.entry(path.clone()).or_insert((value, is_final));
            if known.1 != is_final {
                return Err(UNCLEAR.to_owned());
            }
            if known.0 != value {
                return Err(format!("{path:?} is {} and {value}", known.0));
            }
        }
    }
    flat.connections.extend(classes[class].connections.iter().copied().map(ordered));
    Ok(flat)
}

/// The names that a class has, deselected ones aside.
fn names(classes: &[Class], class: usize) -> BTreeSet<&'static str> {
    let mut all: BTreeSet<&'static str> = classes[class].elements.iter().map(|(name, ..)| *name).collect();
    for extends in &classes[class].bases {
        all.extend(names(classes, extends.base).into_iter().filter(|name| !extends.components.contains(name)));
    }
    all
}

fn connections(classes: &[Class], class: usize) -> Vec<Ends> {
    let mut all = classes[class].connections.clone();
    classes[class].bases.iter().for_each(|extends| all.extend(connections(classes, extends.base)));
    all
}

fn arguments(rng: &mut Rng, names: &BTreeSet<&'static str>, chance: usize) -> Vec<Argument> {
    let mut found = Vec::new();
    for name in names.iter().filter(|_| rng.usize(0..chance) == 0).copied().collect::<Vec<_>>() {
        let mut path = vec![name];
        if PARTS.contains(&name) {
            path.push(if rng.bool() { "p" } else { "q" });
        }
        found.push(Argument { path, value: rng.i64(3..6), is_final: rng.usize(0..6) == 0 });
    }
    found
}

fn generate(rng: &mut Rng) -> (Vec<Class>, Vec<Argument>) {
    let mut classes: Vec<Class> = Vec::new();
    for number in 0..rng.usize(2..7) {
        let mut class = Class::default();
        for _ in 0..if number == 0 { 0 } else { rng.usize(0..3) } {
            let base = rng.usize(0..number);
            let inherited = names(&classes, base);
            let mut extends = Extends { base, arguments: arguments(rng, &inherited, 4), ..Extends::default() };
            let parts: Vec<&'static str> = inherited.iter().copied().filter(|name| PARTS.contains(name)).collect();
            if rng.usize(0..3) == 0 && !parts.is_empty() {
                let name = parts[rng.usize(0..parts.len())];
                extends.components.push(name);
                if rng.usize(0..4) != 0 {
                    extends.arguments.retain(|argument| argument.path[0] != name);
                }
            }
            let known = connections(&classes, base);
            if rng.usize(0..4) == 0 && !known.is_empty() {
                extends.connections.push(known[rng.usize(0..known.len())]);
            }
            class.bases.push(extends);
        }
        for name in PARAMETERS.iter().chain(&PARTS).filter(|_| rng.usize(0..4) == 0).copied().collect::<Vec<_>>() {
            let element = match PARTS.contains(&name) {
                true => Element::Part { arguments: arguments(rng, &["p", "q"].into(), 3) },
                false => Element::Parameter { value: rng.i64(3..5) },
            };
            class.elements.push((name, rng.usize(0..8) == 0, element));
        }
        classes.push(class);
        let own: Vec<&'static str> = names(&classes, number).into_iter().filter(|name| PARTS.contains(name)).collect();
        for _ in 0..rng.usize(0..3) {
            if own.len() > 1 {
                let (a, b) = (own[rng.usize(0..own.len())], own[rng.usize(0..own.len())]);
                if a != b {
                    classes[number].connections.push((a, b));
                }
            }
        }
    }
    let top = arguments(rng, &names(&classes, classes.len() - 1), 4);
    (classes, top)
}

/// Which connectors are joined: each with the first one of its set.
fn sets(pairs: impl Iterator<Item = (String, String)>) -> BTreeSet<BTreeSet<String>> {
    let mut sets: Vec<BTreeSet<String>> = Vec::new();
    for (a, b) in pairs {
        let mut joined = BTreeSet::from([a, b]);
        sets.retain(|set| match set.is_disjoint(&joined) {
            true => true,
            false => {
                joined.extend(set.iter().cloned());
                false
            }
        });
        sets.push(joined);
    }
    sets.into_iter().collect()
}

fn joined_connectors(model: &Model) -> BTreeSet<BTreeSet<String>> {
    let name = |id| match model.exprs.node(id) {
        Node::Var(variable) => Some(model.variable_name(variable)).filter(|name| name.ends_with(".c.v")),
        _ => None,
    };
    sets(model.equations.values().filter_map(|equation| Some((name(equation.left)?, name(equation.right)?))))
}

fn difference(expected: &Flat, model: &Model) -> Option<String> {
    let mut found = BTreeMap::new();
    for (id, variable) in model.variables.iter() {
        if let Some(value) = variable.binding.and_then(|binding| model.exprs.as_real(binding)) {
            found.insert(model.variable_name(id), value);
        }
    }
    let wanted: BTreeMap<String, f64> =
        expected.values.iter().map(|(path, (value, _))| (format!("k.{}", path.join(".")), *value as f64)).collect();
    if wanted != found {
        return Some(format!("expected {wanted:?}\nfound {found:?}"));
    }
    let end = |name: &str| format!("k.{name}.c.v");
    let (wanted, found) = (sets(expected.connections.iter().map(|(a, b)| (end(a), end(b)))), joined_connectors(model));
    (wanted != found).then(|| format!("expected {wanted:?}\nfound {found:?}"))
}

#[test]
fn classes_are_what_their_bases_make_them() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, cases) = (number("GYRATOR_SEED", 0), number("CASES", 600));
    let rules = ["different-duplicates", "final-modified", "deselect-nothing", "deselected-modified"];
    let (mut failures, mut right) = (0, 0);
    for seed in first..first + cases {
        let (classes, top) = generate(&mut Rng::with_seed(seed));
        let text = text(&classes, &top);
        let expected = resolve(&classes, classes.len() - 1, &said(&top));
        let mut libraries = Libraries::default();
        libraries.add_text("case.mo", text.as_str());
        let result = flatten(&mut libraries, "M", &Overrides::default());
        let messages: String = result.diagnostics.iter().map(|one| one.render(&libraries.sources)).collect();
        let errors = || result.diagnostics.iter().filter(|one| one.is_error());
        let wrong = match (&expected, &result.model) {
            (Ok(flat), Some(model)) => {
                right += 1;
                difference(flat, model)
            }
            (Ok(_), None) => Some(messages),
            (Err(why), _) if why == UNCLEAR => None,
            (Err(why), Some(_)) => Some(format!("not refused: {why}")),
            (Err(why), None) => errors()
                .any(|one| !rules.contains(&one.code))
                .then(|| format!("refused for another reason than that {why}:\n{messages}")),
        };
        if let Some(wrong) = wrong {
            failures += 1;
            println!("seed {seed}:\n{text}{wrong}\n");
        }
    }
    assert_eq!(failures, 0, "of {cases} cases");
    assert!(cases < 100 || right * 5 > cases, "only {right} of {cases} cases are right");
}
