//! Random modifiers of arrays of components in arrays of components, against the rule of specification 7.2.5: a value has
//! the dimensions of the arrays between its text and what it modifies, without those above the last `each`.
//!
//! `CASES=100000 cargo test --release -p gyrator-lang --test spread` runs more of them, `GYRATOR_SEED=17 CASES=1` one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dae::{ExprId, Model, Node};
use fastrand::Rng;
use lang::{Libraries, Overrides, flatten};

/// A class with the parameter `x` and, but for the innermost one, the component `c` of the class before it.
struct Level {
    is_record: bool,
    /// The dimensions of `x`.
    own: Vec<usize>,
    /// The dimensions at the name of `c`.
    at_name: Vec<usize>,
    /// The dimensions that the type of `c` has.
    of_type: Vec<usize>,
    /// The component is declared in a base class.
    inherited: bool,
}

/// Where a modifier stands.
#[derive(Clone, Copy, PartialEq)]
enum ModifierSite {
    /// At the declaration of `c` in the class of that number.
    Component(usize),
    /// In the short class definition that is the type of `c` in that class.
    Type(usize),
    /// In the extends clause of that class.
    Extends(usize),
}

/// A value for the parameter `x` of the class `target`.
struct Modifier {
    place: ModifierSite,
    target: usize,
    attribute: bool,
    /// For each name on the way, whether `each` stands before it.
    each: Vec<bool>,
    /// Names that are joined with a point to the next one.
    joined: Vec<bool>,
    value: Array,
}

#[derive(Clone)]
struct Array {
    sizes: Vec<usize>,
    elements: Vec<i64>,
}

impl Array {
    fn random(rng: &mut Rng, sizes: Vec<usize>) -> Self {
        let count = sizes.iter().product();
        Self { sizes, elements: (0..count).map(|_| rng.i64(1..1000)).collect() }
    }

    fn text(&self) -> String {
        let Some((&first, rest)) = self.sizes.split_first() else { return self.elements[0].to_string() };
        let part = self.elements.len() / first;
        let parts: Vec<String> = self
            .elements
            .chunks(part)
            .map(|elements| Array { sizes: rest.to_vec(), elements: elements.to_vec() }.text())
            .collect();
        format!("{{{}}}", parts.join(", "))
    }

    fn at(&self, indices: &[usize]) -> i64 {
        let position = indices.iter().zip(&self.sizes).fold(0, |position, (at, size)| position * size + at);
        self.elements[position]
    }
}

struct Case {
    /// From the innermost class to the model.
    levels: Vec<Level>,
    /// The first of those with the same target wins.
    modifiers: Vec<Modifier>,
}

fn some_sizes(rng: &mut Rng, most: usize) -> Vec<usize> {
    let rank = [0, 0, 1, 1, 1, 2][rng.usize(0..6)].min(most);
    (0..rank).map(|_| rng.usize(1..4)).collect()
}

impl Case {
    fn random(rng: &mut Rng) -> Self {
        let count = rng.usize(2..5);
        let records = rng.usize(0..3);
        let levels = (0..count)
            .map(|number| Level {
                is_record: number < records && number + 1 < count,
                own: some_sizes(rng, 1),
                at_name: some_sizes(rng, 2),
                of_type: if rng.usize(0..3) == 0 { some_sizes(rng, 1) } else { Vec::new() },
                inherited: rng.usize(0..3) == 0,
            })
            .collect();
        let mut case = Self { levels, modifiers: Vec::new() };
        // From the outside in, which is the order of their strength.
        for number in (1..count).rev() {
            for place in [ModifierSite::Component(number), ModifierSite::Type(number), ModifierSite::Extends(number)] {
                let exists = match place {
                    ModifierSite::Component(_) => true,
                    ModifierSite::Type(_) => case.has_type(number),
                    ModifierSite::Extends(_) => case.levels[number].inherited,
                };
                if exists && rng.usize(0..3) > 0 {
                    let modifier = case.modifier(rng, place);
                    let is_first = case.modifiers.iter().all(|known| known.place != place);
                    if is_first {
                        case.modifiers.push(modifier);
                    }
                }
            }
        }
        case
    }

    fn has_type(&self, number: usize) -> bool {
        !self.levels[number].of_type.is_empty()
    }

    /// The dimensions of the component `c` in the class `number`.
    fn component(&self, number: usize) -> Vec<usize> {
        [&self.levels[number].at_name[..], &self.levels[number].of_type].concat()
    }

    /// The names from the place to the parameter: each with the dimensions of what lies directly above it.
    fn way(&self, place: ModifierSite, target: usize) -> Vec<Vec<usize>> {
        let (top, mut way) = match place {
            ModifierSite::Component(number) => (number - 1, vec![self.component(number)]),
            ModifierSite::Type(number) => (number - 1, vec![self.levels[number].of_type.clone()]),
            // The first name is `c` itself.
            ModifierSite::Extends(number) => (number, vec![Vec::new()]),
        };
        for number in (target + 1..=top).rev() {
            way.push(self.component(number));
        }
        way
    }

    fn modifier(&self, rng: &mut Rng, place: ModifierSite) -> Modifier {
        let most = match place {
            ModifierSite::Component(number) | ModifierSite::Type(number) | ModifierSite::Extends(number) => number,
        };
        let target = rng.usize(0..most);
        let attribute = !self.levels[..=target].iter().any(|level| level.is_record) && rng.usize(0..4) == 0;
        let mut way = self.way(place, target);
        if attribute {
            way.push(self.levels[target].own.clone());
        }
        let each: Vec<bool> =
            (0..way.len()).map(|at| way[..=at].iter().any(|sizes| !sizes.is_empty()) && rng.usize(0..3) == 0).collect();
        // `each` before a path belongs to its last name.
        let joined = (0..way.len()).map(|at| at + 1 < way.len() && !each[at] && rng.usize(0..3) == 0).collect();
        let first = each.iter().rposition(|&each| each).map_or(0, |at| at + 1);
        let mut sizes = way[first..].concat();
        if !attribute {
            sizes.extend(&self.levels[target].own);
        }
        Modifier { place, target, attribute, each, joined, value: Array::random(rng, sizes) }
    }

    fn text_of(&self, modifier: &Modifier) -> String {
        let count = modifier.each.len();
        let names = count - usize::from(modifier.attribute);
        let mut out = String::new();
        let mut open = 0;
        let mut pending = 0;
        for at in 0..count {
            // A joined path is written behind the `each` of its last name.
            if pending == 0 {
                let last = (at..count).find(|&at| !modifier.joined[at]).unwrap_or(count - 1);
                if modifier.each[last] {
                    out.push_str("each ");
                }
                pending = last - at + 1;
            }
            pending -= 1;
            let name = if at >= names {
                "start"
            } else if at + 1 == names {
                "x"
            } else {
                "c"
            };
            out.push_str(name);
            if at + 1 == count {
                break;
            }
            if modifier.joined[at] {
                out.push('.');
            } else {
                out.push('(');
                open += 1;
            }
        }
        let _ = write!(out, " = {}", modifier.value.text());
        format!("({out}{})", ")".repeat(open))
    }

    fn modification(&self, place: ModifierSite) -> String {
        self.modifiers.iter().find(|modifier| modifier.place == place).map_or(String::new(), |one| self.text_of(one))
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for (number, level) in self.levels.iter().enumerate() {
            let kind = if level.is_record { "record" } else { "model" };
            let subscripts = |sizes: &[usize]| match sizes.is_empty() {
                true => String::new(),
                false => format!("[{}]", sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
            };
            let own = format!(
                "  parameter Real x{}({});\n",
                subscripts(&level.own),
                match level.own.is_empty() {
                    true => "start = -1",
                    false => "each start = -1",
                }
            );
            let mut component = String::new();
            if number > 0 {
                let below = if self.levels[number - 1].is_record { "record" } else { "model" };
                let mut class = format!("C{}", number - 1);
                if self.has_type(number) {
                    let modification = self.modification(ModifierSite::Type(number));
                    let _ = writeln!(out, "{below} T{number} = {class}{}{modification};", subscripts(&level.of_type));
                    class = format!("T{number}");
                }
                let modification = self.modification(ModifierSite::Component(number));
                component = format!("  {class} c{}{modification};\n", subscripts(&level.at_name));
            }
            if level.inherited && number > 0 {
                let _ = write!(out, "{kind} B{number}\n{component}end B{number};\n");
                component = format!("  extends B{number}{};\n", self.modification(ModifierSite::Extends(number)));
            }
            let _ = write!(out, "{kind} C{number}\n{own}{component}end C{number};\n");
        }
        out
    }

    /// The values and start values of all parameters by the rule.
    fn expected(&self) -> BTreeMap<String, (Option<i64>, i64)> {
        let mut all = BTreeMap::new();
        let top = self.levels.len() - 1;
        self.visit(top, String::new(), &mut Vec::new(), &mut all);
        all
    }

    fn visit(
        &self,
        number: usize,
        path: String,
        above: &mut Vec<Vec<usize>>,
        all: &mut BTreeMap<String, (Option<i64>, i64)>,
    ) {
        for own in positions(&self.levels[number].own) {
            let name = format!("{path}x{}", subscript(&own));
            let value = self.strongest(number, false).map(|modifier| self.element(modifier, above, &own));
            let start = self.strongest(number, true).map_or(-1, |modifier| self.element(modifier, above, &own));
            all.insert(name, (value, start));
        }
        if number > 0 {
            for at in positions(&self.component(number)) {
                let path = format!("{path}c{}.", subscript(&at));
                above.push(at);
                self.visit(number - 1, path, above, all);
                above.pop();
            }
        }
    }

    /// Outer texts come first; in one class the declaration wins over its type, and the extends clause over both.
    fn strongest(&self, target: usize, attribute: bool) -> Option<&Modifier> {
        let strength = |modifier: &Modifier| match modifier.place {
            ModifierSite::Extends(number) => (number, 2),
            ModifierSite::Component(number) => (number, 1),
            ModifierSite::Type(number) => (number, 0),
        };
        let all = self.modifiers.iter().filter(|one| one.target == target && one.attribute == attribute);
        all.max_by_key(|modifier| strength(modifier))
    }

    /// What a modifier gives to the element `own` of the parameter at the element numbers `above`, outermost first.
    fn element(&self, modifier: &Modifier, above: &[Vec<usize>], own: &[usize]) -> i64 {
        let top = self.levels.len() - 1;
        // `above[k]` are the element numbers of the component of the class `top - k`.
        let of = |number: usize| above[top - number].clone();
        let (first, mut way) = match modifier.place {
            ModifierSite::Component(number) => (number - 1, vec![of(number)]),
            ModifierSite::Type(number) => (number - 1, vec![of(number)[self.levels[number].at_name.len()..].to_vec()]),
            ModifierSite::Extends(number) => (number, vec![Vec::new()]),
        };
        way.extend((modifier.target + 1..=first).rev().map(of));
        if modifier.attribute {
            way.push(own.to_vec());
        }
        let start = modifier.each.iter().rposition(|&each| each).map_or(0, |at| at + 1);
        let mut indices = way[start..].concat();
        if !modifier.attribute {
            indices.extend(own);
        }
        modifier.value.at(&indices)
    }
}

/// All element numbers, from 0.
fn positions(sizes: &[usize]) -> Vec<Vec<usize>> {
    sizes.iter().fold(vec![Vec::new()], |all, &size| {
        all.iter().flat_map(|known| (0..size).map(move |at| [&known[..], &[at]].concat())).collect()
    })
}

fn subscript(at: &[usize]) -> String {
    match at.is_empty() {
        true => String::new(),
        false => format!("[{}]", at.iter().map(|at| (at + 1).to_string()).collect::<Vec<_>>().join(",")),
    }
}

#[test]
fn values_go_to_the_elements_that_the_rule_gives_them() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (first, cases) = (number("GYRATOR_SEED", 0), number("CASES", 500));
    let mut failures = 0;
    for seed in first..first + cases {
        let case = Case::random(&mut Rng::with_seed(seed));
        let text = case.text();
        let wrong = match found(&text, &format!("C{}", case.levels.len() - 1)) {
            Ok(found) => {
                let expected = case.expected();
                let names = expected.keys().chain(found.keys());
                let wrong = names.clone().find(|name| expected.get(*name) != found.get(*name));
                wrong.map(|name| format!("{name} is {:?}, not {:?}", found.get(name), expected.get(name)))
            }
            Err(message) => Some(message),
        };
        if let Some(wrong) = wrong {
            failures += 1;
            println!("seed {seed}:\n{text}{wrong}\n");
        }
    }
    assert_eq!(failures, 0, "of {cases} cases");
}

/// A value of the wrong size is never taken.
#[test]
fn values_of_other_sizes_are_refused() {
    let mut refused = 0;
    for seed in 0..300 {
        let rng = &mut Rng::with_seed(seed);
        let mut case = Case::random(rng);
        if case.modifiers.is_empty() {
            continue;
        }
        let changed = rng.usize(0..case.modifiers.len());
        let modifier = &case.modifiers[changed];
        let is_used =
            case.strongest(modifier.target, modifier.attribute).is_some_and(|one| std::ptr::eq(one, modifier));
        let mut sizes = modifier.value.sizes.clone();
        if !is_used || sizes.is_empty() {
            continue;
        }
        let at = rng.usize(0..sizes.len());
        match rng.usize(0..3) {
            0 => sizes[at] += 1,
            1 => sizes.insert(at, 2),
            // A scalar without `each` is taken, with a warning.
            _ if sizes.len() > 1 => drop(sizes.remove(at)),
            _ => continue,
        }
        case.modifiers[changed].value = Array::random(rng, sizes);
        let text = case.text();
        let result = found(&text, &format!("C{}", case.levels.len() - 1));
        assert!(result.is_err(), "seed {seed}: taken\n{text}");
        refused += 1;
    }
    assert!(refused > 50, "only {refused} cases");
}

/// The values and start values of all parameters.
fn found(text: &str, class: &str) -> Result<BTreeMap<String, (Option<i64>, i64)>, String> {
    let mut libraries = Libraries::default();
    libraries.add_text("case.mo", text);
    let result = flatten(&mut libraries, class, &Overrides::default());
    let warned = result.diagnostics.iter().any(|one| one.code == "missing-each");
    let messages = || result.diagnostics.iter().map(|one| one.render(&libraries.sources)).collect();
    let Some(model) = result.model.as_ref().filter(|_| !warned) else { return Err(messages()) };
    let number = |expr: Option<ExprId>| expr.and_then(|expr| evaluate(model, expr));
    let all = model.variables.iter().map(|(id, variable)| {
        (model.variable_name(id), (number(variable.binding), number(variable.attributes.start).unwrap_or(0)))
    });
    Ok(all.collect())
}

fn evaluate(model: &Model, expr: ExprId) -> Option<i64> {
    match model.exprs.node(expr) {
        Node::Real(value) => Some(value as i64),
        Node::Integer(value) => Some(value),
        Node::Neg(a) => Some(-evaluate(model, a)?),
        Node::Var(variable) => evaluate(model, model.variables[variable].binding?),
        _ => None,
    }
}
